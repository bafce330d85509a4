//! Random searches over random documents are answered alike by every engine.
//!
//! Three engines take part: OpenSearch, the embedded engine, and a naive judge that looks at every document
//! for every clause. `SEARCH_CASES` sets the number of searches of each test, `SEARCH_SEED` the first of
//! the seeds from which schemas, data and searches follow, 50 searches each. A failure prints the
//! smallest case found and its seed.
//!
//! In a run of 2,000 searches, six of ten find something, four of ten find something but not everything, and
//! each parameter of a clause, sort mode, form of missing values and aggregation occurs at least twenty
//! times; the counts are printed at the end.

mod compare;
mod coverage;
mod generate;
mod naive;
mod run;
mod shrink;
mod world;

use coverage::FULL_RUN;
use naive::NaiveEngine;
use run::Pair;

#[cfg(feature = "embedded")]
use search_index::embedded::EmbeddedEngine;
use search_index::opensearch::{OpenSearch, OpenSearchOptions};

use crate::random_tests::setting;

/// Runs searches on two engines, which have to answer alike.
#[expect(clippy::print_stdout, reason = "the counts are for people to read")]
fn must_agree(pair: &Pair<'_>, default: u64) {
    let searches = setting("SEARCH_CASES", default);
    let failures = usize::try_from(setting("SEARCH_FAILURES", 1)).expect("a number");
    let started = std::time::Instant::now();
    let (coverage, failures) = pair.run(setting("SEARCH_SEED", 1), searches, failures);
    println!("{coverage}{:.1?}", started.elapsed());
    let (count, all) = (failures.len(), failures.join("\n"));
    assert!(count == 0, "{count} searches differ\n{all}");
    assert!(
        coverage.percent(coverage.found) >= 60,
        "too many searches find nothing"
    );
    assert!(
        coverage.percent(coverage.selective) >= 40,
        "too few searches are selective"
    );
    assert!(
        coverage.percent(coverage.refused) <= 10,
        "too many searches are refused"
    );
    if searches >= FULL_RUN {
        let gaps = coverage.gaps(pair.fuzzy > 0);
        assert!(gaps.is_empty(), "too rare:\n{}", gaps.join("\n"));
    }
}

/// Searches of a plain run between engines in the process.
#[cfg(feature = "embedded")]
const PLAIN_RUN: u64 = 400;

#[cfg(feature = "embedded")]
fn embedded() -> EmbeddedEngine {
    EmbeddedEngine::in_memory().expect("threads start")
}

/// The engine of the server that `OPENSEARCH_URL` names.
fn server() -> OpenSearch {
    let address = std::env::var("OPENSEARCH_URL").expect("OPENSEARCH_URL names the server");
    let addresses = address.parse().expect("an address");
    let mut options = OpenSearchOptions::new(addresses, run::APPLICATION);
    // A garbage collection of a small server may take longer than the default.
    options.request_timeout = std::time::Duration::from_secs(300);
    OpenSearch::new(options).expect("an engine")
}

#[cfg(feature = "embedded")]
#[test]
fn the_embedded_engine_answers_as_the_naive_judge_does() {
    let (naive, embedded) = (NaiveEngine::default(), embedded());
    let pair = Pair {
        engines: [&naive, &embedded],
        fuzzy: 0,
        with_server: false,
    };
    must_agree(&pair, PLAIN_RUN);
}

#[cfg(feature = "embedded")]
#[test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
fn the_embedded_engine_answers_as_opensearch_does() {
    let (embedded, server) = (embedded(), server());
    let pair = Pair {
        engines: [&embedded, &server],
        fuzzy: 60,
        with_server: true,
    };
    must_agree(&pair, FULL_RUN);
}

#[test]
#[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
fn opensearch_answers_as_the_naive_judge_does() {
    let (naive, server) = (NaiveEngine::default(), server());
    let pair = Pair {
        engines: [&naive, &server],
        fuzzy: 0,
        with_server: true,
    };
    must_agree(&pair, FULL_RUN);
}
