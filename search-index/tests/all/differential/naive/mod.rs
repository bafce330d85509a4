//! The naive judge: an engine without an index, which looks at every document for every clause.
//!
//! It knows every clause, sort key and aggregation but `fuzziness`, which it refuses. What it does where
//! the rules of the query language leave something open, it does because OpenSearch does it; comments
//! name what surprises.

pub(crate) mod buckets;
pub(crate) mod fields;
mod matching;
mod order;
mod similarity;
mod tree;
mod words;

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use buckets::Whole;
use bytes::Bytes;
use fields::{Fields, fields};
use matching::{Matcher, not_judged};
use order::{Key, after, compare, keys, shown};
use search_index::document::Document;
use search_index::dsl::{Search, Sort, TotalHits, Value};
use search_index::engine::{
    Answer, Binding, BulkOperation, EngineError, EngineHealth, EngineInfo, Hit, IndexState,
    PhysicalName, Rejected, SearchEngine, Switch, Total,
};
use search_index::graph_store::CallContext;
use search_index::mapping::{Analyzers, IndexDefinition, Owner};
use similarity::{Statistics, statistics};
use tree::Node;

/// The naive judge.
#[derive(Default)]
pub(crate) struct NaiveEngine {
    indexes: Mutex<BTreeMap<PhysicalName, Index>>,
}

/// The documents of an index.
struct Index {
    fields: Fields,
    sources: BTreeMap<String, Bytes>,
    nodes: Vec<Node>,
    statistics: Statistics,
}

/// A document that matches.
struct Found<'i> {
    node: &'i Node,
    score: f32,
    keys: Vec<Key>,
}

impl Index {
    fn search(&self, search: &Search) -> Answer {
        let matcher = Matcher {
            fields: &self.fields,
            statistics: &self.statistics,
        };
        let mut found = Vec::new();
        for node in &self.nodes {
            let score = match &search.query {
                Some(query) => matcher.score(node, query),
                None => Some(1.0),
            };
            // What is below the least score is not aggregated either.
            let least = search.min_score.unwrap_or(0.0) as f32;
            if let Some(score) = score.filter(|score| *score >= least) {
                let keys = keys(node, score, &search.sort, &self.fields);
                found.push(Found { node, score, keys });
            }
        }
        let matched: Vec<&Node> = found.iter().map(|found| found.node).collect();
        let whole = Whole {
            nodes: &self.nodes,
            fields: &self.fields,
        };
        let aggregations = whole.aggregate(&search.aggregations, &matched);
        if let Some(filter) = &search.post_filter {
            found.retain(|found| matcher.score(found.node, filter).is_some());
        }
        let (value, best) = (found.len() as u64, found.iter().map(|found| found.score));
        let max_score = best
            .reduce(f32::max)
            .filter(|_| is_scored(search) && search.size > 0);
        found.sort_by(|a, b| compare(&a.keys, &b.keys, &search.sort));
        if let Some(values) = &search.search_after {
            let after = after(values, &search.sort, &self.fields);
            found.retain(|found| compare(&found.keys, &after, &search.sort).is_gt());
        }
        let (from, size) = (search.from as usize, search.size as usize);
        let page = found.into_iter().skip(from).take(size);
        Answer {
            took: 0,
            total: (search.total_hits == TotalHits::Exact).then_some(Total {
                value,
                is_lower_bound: false,
            }),
            max_score: max_score.map(f64::from),
            hits: page.map(|found| self.hit(found, search)).collect(),
            aggregations,
        }
    }

    fn hit(&self, found: Found<'_>, search: &Search) -> Hit {
        Hit {
            id: found.node.id.clone(),
            score: is_scored(search).then_some(found.score.into()),
            sort: found.keys.into_iter().map(shown).collect(),
            source: self.sources[&found.node.id].clone(),
        }
    }
}

/// Returns whether answers have scores: a sort key among many that is the score is enough.
fn is_scored(search: &Search) -> bool {
    let is_score = |sort: &Sort| matches!(sort, Sort::Score { .. });
    search.track_scores || search.sort.iter().any(is_score)
}

impl NaiveEngine {
    fn with<T>(
        &self,
        name: &PhysicalName,
        act: impl FnOnce(&mut Index) -> T,
    ) -> Result<T, EngineError> {
        let mut indexes = self.indexes.lock().expect("no thread panicked");
        let index = indexes.get_mut(name).ok_or_else(|| EngineError::NotFound {
            name: name.to_string(),
        })?;
        Ok(act(index))
    }
}

#[async_trait]
impl SearchEngine for NaiveEngine {
    async fn info(&self, _context: &CallContext) -> Result<EngineInfo, EngineError> {
        let analyzers: Analyzers = ["standard", "simple", "whitespace", "keyword"]
            .into_iter()
            .collect();
        Ok(EngineInfo::new("naive", "1", analyzers))
    }

    async fn health(
        &self,
        of: &[PhysicalName],
        _context: &CallContext,
    ) -> Result<EngineHealth, EngineError> {
        Ok(EngineHealth::good(of))
    }

    async fn indexes(&self, _context: &CallContext) -> Result<Vec<IndexState>, EngineError> {
        Err(unsupported("listing indexes"))
    }

    async fn create(
        &self,
        index: Binding<'_>,
        _owner: &Owner,
        _context: &CallContext,
    ) -> Result<(), EngineError> {
        let empty = Index {
            fields: fields(index.definition),
            sources: BTreeMap::new(),
            nodes: Vec::new(),
            statistics: Statistics::new(),
        };
        let mut indexes = self.indexes.lock().expect("no thread panicked");
        indexes.insert(index.name.clone(), empty);
        Ok(())
    }

    async fn delete(&self, name: &PhysicalName, _context: &CallContext) -> Result<(), EngineError> {
        let mut indexes = self.indexes.lock().expect("no thread panicked");
        indexes.remove(name);
        Ok(())
    }

    async fn bulk(
        &self,
        index: Binding<'_>,
        writes: &[BulkOperation],
        _version: u64,
        _context: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        self.with(index.name, |held| {
            for write in writes {
                match write {
                    BulkOperation::Index(document) => held
                        .sources
                        .insert(document.id.clone(), document.source.clone()),
                    BulkOperation::Delete(id) => held.sources.remove(id),
                };
            }
            let node = |(id, source): (&String, &Bytes)| {
                let source = serde_json::from_slice(source).expect("JSON");
                Node::new(id, &index.definition.fields, &source)
            };
            held.nodes = held.sources.iter().map(node).collect();
            held.statistics = statistics(&held.nodes, &held.fields);
            Vec::new()
        })
    }

    async fn refresh(
        &self,
        name: &PhysicalName,
        _context: &CallContext,
    ) -> Result<(), EngineError> {
        self.with(name, |_| ())
    }

    async fn switch(
        &self,
        _switches: &[Switch],
        _context: &CallContext,
    ) -> Result<(), EngineError> {
        Err(unsupported("aliases"))
    }

    async fn search(
        &self,
        index: Binding<'_>,
        search: &Search,
        _context: &CallContext,
    ) -> Result<Answer, EngineError> {
        let mut clauses = search.query.iter().chain(&search.post_filter);
        if let Some(why) = clauses.find_map(not_judged) {
            return Err(EngineError::Unsupported(why));
        }
        self.with(index.name, |held| held.search(search))
    }

    async fn count(&self, name: &PhysicalName, _context: &CallContext) -> Result<u64, EngineError> {
        self.with(name, |index| index.sources.len() as u64)
    }

    async fn ids(
        &self,
        _name: &PhysicalName,
        _after: Option<&str>,
        _size: usize,
        _context: &CallContext,
    ) -> Result<Vec<String>, EngineError> {
        Err(unsupported("listing ids"))
    }
}

fn unsupported(what: &str) -> EngineError {
    EngineError::Unsupported(format!("the naive judge does not know {what}"))
}

/// Lists the values of each field of some documents; words of text.
pub(crate) fn values(
    definition: &IndexDefinition,
    documents: &[Document],
) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for document in documents {
        let source = serde_json::from_slice(&document.source).expect("JSON");
        let node = Node::new(&document.id, &definition.fields, &source);
        node.for_each(&mut |node| {
            for (field, cells) in &node.values {
                // Long texts have the same words again and again.
                let cells = cells.iter().take(8).map(tree::Cell::value);
                all.entry(field.clone()).or_default().extend(cells);
            }
        });
    }
    all.retain(|_, values| !values.is_empty());
    all
}
