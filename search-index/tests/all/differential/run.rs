//! Runs random searches on two engines.

use std::future::Future;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use search_index::document::Document;
use search_index::dsl::{Search, Sort};
use search_index::engine::{
    Answer, Binding, BulkOperation, EngineError, Hit, PhysicalName, SearchEngine,
};
use search_index::graph_store::CallContext;
use search_index::mapping::{IndexDefinition, Owner};
use test_support::random::Random;

use super::compare::difference;
use super::coverage::Coverage;
use super::generate::Searches;
use super::naive::NaiveEngine;
use super::shrink::{fewest_documents, smallest_search};
use super::world::{World, source};

/// Searches on one schema with one set of data.
const SEARCHES_PER_SCHEMA: u64 = 50;

/// Whose indexes these are.
pub(crate) const APPLICATION: &str = "differential";

/// Waits for an engine, which may need a runtime for its connections.
fn block_on<T>(asked: impl Future<Output = T>) -> T {
    static RUNTIME: LazyLock<tokio::runtime::Runtime> =
        LazyLock::new(|| tokio::runtime::Runtime::new().expect("threads start"));
    RUNTIME.block_on(asked)
}

/// Two engines that have to answer alike.
pub(crate) struct Pair<'e> {
    pub(crate) engines: [&'e dyn SearchEngine; 2],
    /// How many of a hundred `match` clauses are fuzzy.
    pub(crate) fuzzy: usize,
    /// Whether OpenSearch is one of them.
    pub(crate) with_server: bool,
}

/// Documents that both engines hold.
struct Held<'e> {
    engines: [&'e dyn SearchEngine; 2],
    definition: &'e IndexDefinition,
    name: PhysicalName,
}

impl<'e> Held<'e> {
    fn new(
        engines: [&'e dyn SearchEngine; 2],
        definition: &'e IndexDefinition,
        documents: &[Document],
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1_000);
        let name = PhysicalName::new(definition, NEXT.fetch_add(1, Ordering::Relaxed));
        let held = Held {
            engines,
            definition,
            name,
        };
        let context = CallContext::new();
        for engine in engines {
            let done = block_on(async {
                // A run that was broken off may have left one.
                engine.delete(&held.name, &context).await?;
                engine
                    .create(held.binding(), &Owner::new(APPLICATION), &context)
                    .await?;
                let rejected = engine
                    .bulk(
                        held.binding(),
                        &BulkOperation::all(documents.to_vec()),
                        0,
                        &context,
                    )
                    .await?;
                assert_eq!(rejected, [], "all documents are taken");
                engine.refresh(&held.name, &context).await
            });
            done.unwrap_or_else(|error| panic!("{}", chain(&error)));
        }
        held
    }

    fn binding(&self) -> Binding<'_> {
        Binding {
            definition: self.definition,
            name: &self.name,
        }
    }

    fn ask(&self, engine: usize, search: &Search) -> Result<Answer, EngineError> {
        let context = CallContext::new();
        block_on(self.engines[engine].search(self.binding(), search, &context))
    }

    /// Asks both engines, and returns how their answers differ.
    fn compare(&self, case: &Case) -> Outcome {
        let answers = [0, 1].map(|engine| {
            let search = case.for_engine(|search| self.ask(engine, search))?;
            self.ask(engine, &search)
        });
        let answers = answers.map(|answer| {
            answer.map(|answer| Answer {
                // The greatest score of all, or of those behind a hit: OpenSearch has it either way.
                max_score: answer.max_score.filter(|_| case.after.is_none()),
                ..answer
            })
        });
        match answers {
            [Err(error), _] | [_, Err(error)] if is_refusal(&error) => Outcome::Refused,
            [Ok(one), Ok(other)] => match difference(&case.search, &one, &other) {
                None => Outcome::Same(one),
                Some(why) => Outcome::Differs(format!(
                    "{why}\none: {}\nother: {}",
                    shown(&one),
                    shown(&other)
                )),
            },
            answers => {
                let shown = answers.map(|answer| match answer {
                    Ok(answer) => format!("{} hits", answer.hits.len()),
                    Err(error) => chain(&error),
                });
                Outcome::Differs(shown.join("\nand "))
            }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        for engine in self.engines {
            let context = CallContext::new();
            let _ = block_on(engine.delete(&self.name, &context));
        }
    }
}

enum Outcome {
    Same(Answer),
    Refused,
    Differs(String),
}

/// A search, and behind which of all its hits it begins.
#[derive(Clone, Debug)]
struct Case {
    search: Search,
    after: Option<u64>,
}

impl Case {
    /// Returns the search with the values of `search_after` that an engine itself gave.
    fn for_engine(
        &self,
        mut ask: impl FnMut(&Search) -> Result<Answer, EngineError>,
    ) -> Result<Search, EngineError> {
        let mut search = self.search.clone();
        if let Some(after) = self.after {
            let before = Search {
                from: after,
                size: 1,
                ..search.clone()
            };
            let hit = ask(&before)?.hits.pop();
            search.search_after = hit.map(|hit| hit.sort);
            search.from = 0;
        }
        Ok(search)
    }
}

/// Returns whether an engine cannot do what a search asks for.
fn is_refusal(error: &EngineError) -> bool {
    // OpenSearch 3.7 fails to score some hits of `term` on unsigned integers again, once it has sorted them
    // by something else.
    matches!(error, EngineError::Unsupported(_))
        || chain(error).contains("Can't compute score on document")
}

/// Returns an answer in a few lines.
fn shown(answer: &Answer) -> String {
    let hit = |hit: &Hit| format!("\n  {} score {:?} sort {:?}", hit.id, hit.score, hit.sort);
    let hits: String = answer.hits.iter().map(hit).collect();
    let (total, best) = (answer.total.map(|total| total.value), answer.max_score);
    let aggregations = &answer.aggregations;
    format!("total {total:?}, max_score {best:?}{hits}\n  {aggregations:?}")
}

/// Returns an error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

impl Pair<'_> {
    /// Runs random searches from a seed on; returns what was in them, and a report on each difference.
    pub(crate) fn run(
        &self,
        first: u64,
        searches: u64,
        most_failures: usize,
    ) -> (Coverage, Vec<String>) {
        let mut coverage = Coverage::default();
        let mut failures = Vec::new();
        let mut seed = first;
        while coverage.searches < searches && failures.len() < most_failures {
            let number = SEARCHES_PER_SCHEMA.min(searches - coverage.searches);
            self.world(seed, number, &mut coverage, (&mut failures, most_failures));
            seed += 1;
        }
        (coverage, failures)
    }

    fn world(
        &self,
        seed: u64,
        number: u64,
        coverage: &mut Coverage,
        (failures, most_failures): (&mut Vec<String>, usize),
    ) {
        let world = World::new(seed, self.with_server);
        let judge = NaiveEngine::default();
        let own = Held::new([&judge, &judge], &world.definition, &world.documents);
        let held = Held::new(self.engines, &world.definition, &world.documents);
        let pool = world.pool();
        for at in 0..number {
            let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(at));
            let mut searches = Searches {
                random: &mut random,
                pool: &pool,
                fuzzy: self.fuzzy,
            };
            let case = case(&mut searches, &own, world.documents.len());
            coverage.searches += 1;
            coverage.read(&case.search, &world.fields);
            coverage.count_after(case.after);
            match held.compare(&case) {
                Outcome::Same(answer) => coverage.count_hits(&answer, world.documents.len()),
                Outcome::Refused => coverage.refused += 1,
                Outcome::Differs(why) => {
                    let report = self.report(&world, &held, case, &why);
                    failures.push(format!("SEARCH_SEED={seed}, search {at}\n{report}"));
                    if failures.len() >= most_failures {
                        return;
                    }
                }
            }
        }
    }

    /// Describes the smallest case found that differs.
    fn report(&self, world: &World, held: &Held<'_>, case: Case, why: &str) -> String {
        let after = case.after;
        let with = |search: &Search| Case {
            search: search.clone(),
            after,
        };
        let differs = |outcome: Outcome| matches!(outcome, Outcome::Differs(_));
        let search = smallest_search(case.search, |search| differs(held.compare(&with(search))));
        let case = with(&search);
        let outcome = |documents: &[Document]| {
            Held::new(self.engines, &world.definition, documents).compare(&case)
        };
        let documents = fewest_documents(world.documents.clone(), |few| differs(outcome(few)));
        let why = match outcome(&documents) {
            Outcome::Differs(why) => why,
            _ => format!("only of the whole: {why}"),
        };
        let documents: Vec<String> = documents.iter().map(|d| source(d).to_string()).collect();
        format!(
            "{}\ndocuments:\n{}\nsearch, behind {after:?}: {}\n{why}\n",
            world.soml,
            documents.join("\n"),
            search.to_json(),
        )
    }
}

/// Makes a search that finds some documents more often than chance would have it.
fn case(searches: &mut Searches<'_, '_>, own: &Held<'_>, documents: usize) -> Case {
    let mut search = searches.search();
    for _ in 0..6 {
        let total = own
            .ask(0, &plain(&search))
            .ok()
            .and_then(|answer| answer.total);
        let Some(total) = total else {
            break;
        };
        let is_some = total.value > 0 && total.value < documents as u64;
        let chance = if total.value == 0 { 20 } else { 45 };
        if is_some || searches.random.chance(chance) {
            break;
        }
        search = searches.search();
    }
    let random = &mut *searches.random;
    let scored = Search {
        track_scores: true,
        sort: vec![Sort::score(), Sort::field("id")],
        ..plain(&search)
    };
    if let (true, Ok(answer)) = (random.chance(14), own.ask(0, &scored)) {
        let mut scores: Vec<f64> = answer.hits.iter().filter_map(|hit| hit.score).collect();
        scores.dedup_by(|a, b| (*a - *b).abs() <= 1e-2 * b.abs());
        // Between two scores, or below all of them, so that the last digit of none decides.
        scores.push(0.0);
        if let [one, other] = scores
            .windows(2)
            .nth(random.below(scores.len()))
            .unwrap_or(&[])
        {
            search.min_score = Some(f64::midpoint(*one, *other));
        }
    }
    let after = random.chance(18).then(|| random.below(4) as u64);
    if after.is_some() {
        search.from = 0;
    }
    Case { search, after }
}

/// Returns a search for all hits of another, with nothing but them.
fn plain(search: &Search) -> Search {
    Search {
        query: search.query.clone(),
        post_filter: search.post_filter.clone(),
        sort: vec![Sort::field("id")],
        size: 10_000,
        ..Search::default()
    }
}
