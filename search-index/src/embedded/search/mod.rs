//! Searches over the segments of an index.
//!
//! A search is compiled once, with statistics of all segments, and run over one segment after the other.
//! Scores are those of Lucene's BM25 in the form that keeps the factor k1 + 1; everything that has no
//! frequencies scores its boost.

mod aggregate;
mod alike;
mod collect;
mod compile;
mod ids;
mod joined;
mod matching;
mod node;
mod operand;
mod pattern;
mod scorer;
mod similarity;
mod sort;
mod source;
mod watch;

use std::time::Instant;

use bytes::Bytes;
use tantivy::schema::Value as _;
use tantivy::{DocAddress, TantivyDocument};

use super::error::{failed, problem};
use super::layout::{Layout, ROOT};
use super::snapshot::Snapshot;
use crate::dsl::{Query, Search, TotalHits};
use crate::engine::{Answer, EngineError, Hit, Total};

use aggregate::Aggregator;
use collect::{Collected, Found, Plan};
use compile::{Compiler, Result};
use sort::{Key, shown};

pub(super) use ids::ids;
pub(super) use watch::Watch;

/// Steps that it takes to read a hit, from compressed blocks.
pub(super) const HIT_STEPS: usize = 32;

/// Searches an index.
pub(super) fn run(
    snapshot: &Snapshot,
    layout: &Layout,
    search: &Search,
    watch: &Watch,
) -> Result<Answer> {
    let start = Instant::now();
    watch.check()?;
    let plan = plan(snapshot, layout, search, watch)?;
    let collected = plan.collect(snapshot, watch)?;
    let aggregator = Aggregator::new(snapshot, layout, watch);
    let aggregations = aggregator.run(&search.aggregations, &collected.matches, ROOT)?;
    let shows_scores =
        plan.with_scores && (search.track_scores || plan.keys.iter().any(Key::is_score));
    let has_sort = !search.sort.is_empty();
    let Collected {
        hits,
        total,
        max_score,
        ..
    } = collected;
    let from = usize::try_from(search.from).unwrap_or(usize::MAX);
    let fetch = |found| hit(snapshot, layout, search, watch, found);
    let mut hits = hits
        .into_iter()
        .skip(from)
        .map(fetch)
        .collect::<Result<Vec<_>>>()?;
    for hit in &mut hits {
        hit.score = hit.score.filter(|_| shows_scores);
        if !has_sort {
            hit.sort.clear();
        }
    }
    Ok(Answer {
        took: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        total: (search.total_hits == TotalHits::Exact).then_some(Total {
            value: total,
            is_lower_bound: false,
        }),
        max_score: max_score
            .filter(|_| shows_scores && plan.window > 0)
            .map(shown),
        hits,
        aggregations,
    })
}

/// Returns how many hits are found for a page: those before it too.
pub(super) fn window(search: &Search) -> u64 {
    match search.size {
        0 => 0,
        size => search.from.saturating_add(size),
    }
}

fn plan<'p>(
    snapshot: &Snapshot,
    layout: &Layout,
    search: &'p Search,
    watch: &Watch,
) -> Result<Plan<'p>> {
    let compiler = Compiler::new(layout, snapshot, watch);
    let all = Query::MatchAll { boost: None };
    let query = search.query.as_ref().unwrap_or(&all);
    let keys = Key::all(&search.sort, layout)?;
    if let Some(after) = &search.search_after
        && after.len() != search.sort.len()
    {
        let message = "`search_after` has a value for each sort key";
        return Err(EngineError::Unsupported(message.to_owned()));
    }
    let post_filter = search.post_filter.as_ref();
    Ok(Plan {
        query: compiler.compile(query, 1.0, ROOT)?,
        post_filter: post_filter
            .map(|query| compiler.compile(query, 1.0, ROOT))
            .transpose()?,
        with_scores: search.track_scores
            || search.min_score.is_some()
            || keys.iter().any(Key::is_score),
        keys,
        after: search.search_after.as_deref(),
        min_score: search.min_score.map(|least| least as f32),
        window: usize::try_from(window(search)).unwrap_or(usize::MAX),
        keep_matches: !search.aggregations.is_empty(),
    })
}

/// Reads a hit.
fn hit(
    snapshot: &Snapshot,
    layout: &Layout,
    search: &Search,
    watch: &Watch,
    found: Found,
) -> Result<Hit> {
    watch.steps(HIT_STEPS)?;
    let address = DocAddress::new(found.segment as u32, found.doc);
    let document: TantivyDocument = snapshot.searcher.doc(address).map_err(failed)?;
    let id = document
        .get_first(layout.own.key)
        .and_then(|value| value.as_str());
    let id = id.ok_or_else(|| problem("a document has no id"))?;
    let source = if search.source.is_empty() {
        Bytes::from_static(b"{}")
    } else {
        let source = document
            .get_first(layout.own.source)
            .and_then(|value| value.as_bytes());
        let source = source.ok_or_else(|| problem("a document has no source"))?;
        watch.hold(source.len())?;
        Bytes::copy_from_slice(source)
    };
    Ok(Hit {
        id: id.to_owned(),
        score: Some(shown(found.score)),
        sort: found
            .sort
            .into_iter()
            .map(sort::SortValue::into_value)
            .collect(),
        source,
    })
}
