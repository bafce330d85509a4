//! Two worlds: over data that look the same to a caller of the object service, searches are answered alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use soml_core::{Schema, Valid};
use test_support::random::Random;
use test_support::random_tests::{count, setting};

use search_index::engine::Engine;

use super::generate::{ALL, Data, MODEL, asker, changed, data, section, turtle};
use super::places::search;
use super::queries::query;
use super::{Asker, Served, embedded, schema};

/// Searches over each pair of worlds.
const SEARCHES: usize = 20;

/// How often something is tried to be changed that a caller does not see.
const CHANGES: usize = 12;

#[derive(Default)]
struct Tally {
    pairs: usize,
    /// The data differ.
    varied: usize,
    /// The answer has hits, and there are others.
    answered: usize,
    codes: BTreeMap<String, usize>,
}

impl Tally {
    fn count(&mut self, answer: &Value, varied: bool) {
        self.pairs += 1;
        self.varied += usize::from(varied);
        let roots = answer["data"].as_object().into_iter().flatten();
        let mut found = roots.filter_map(|(_, root)| match root["hits"].as_array() {
            Some(hits) => Some(!hits.is_empty()),
            None => root.as_array().map(|objects| !objects.is_empty()),
        });
        self.answered += usize::from(found.any(|is_some| is_some));
        for error in answer["errors"].as_array().into_iter().flatten() {
            let code = error["extensions"]["code"].as_str().unwrap_or("none");
            *self.codes.entry(code.to_owned()).or_default() += 1;
        }
    }

    #[expect(clippy::print_stdout, reason = "the counts are for people to read")]
    fn check(&self) {
        let Tally {
            pairs,
            varied,
            answered,
            codes,
        } = self;
        println!("{pairs} pairs: {varied} of different data, {answered} with hits, {codes:?}");
        assert!(
            !codes.contains_key("GRAPHQL_VALIDATION_FAILED"),
            "a search is not valid"
        );
        assert!(varied * 100 >= pairs * 40, "too few worlds differ");
        assert!(
            answered * 100 >= pairs * 15,
            "too few searches find something"
        );
    }
}

fn without_took(mut answer: Value) -> Value {
    for root in answer["data"].as_object_mut().into_iter().flatten() {
        if let Some(root) = root.1.as_object_mut() {
            root.remove("took");
        }
    }
    answer
}

async fn check(engine: &Engine, full: u64) {
    let first = setting("ACCESS_SEED", 1);
    let worlds = count("ACCESS_CASES", full).div_ceil(SEARCHES as u64);
    let (mut tally, mut gateway) = (Tally::default(), Tally::default());
    for seed in first..first + worlds {
        let mut random = Random::new(seed);
        let soml = schema(&format!("{MODEL}{}", section(&mut random)));
        let asker = asker(&mut random);
        let data = data(&mut random);
        let here = Served::new(&soml, &turtle(&data), engine).await;
        let seen = here.object(&asker, ALL).await;
        let there = unseen(&soml, &asker, (&data, &seen), &mut random).await;
        let varied = there != data;
        let other = Served::new(&soml, &turtle(&there), engine).await;
        for number in 0..SEARCHES {
            let query = search(&mut random);
            let answers = [&here, &other].map(|world| world.search(&asker, &query));
            let [one, two] = answers;
            let (one, two) = (without_took(one.await), without_took(two.await));
            assert_eq!(
                one,
                two,
                "ACCESS_SEED={seed}, search {number}: {query}\n{asker:?}\n{}\n{}\n{}",
                section(&mut Random::new(seed)),
                turtle(&data),
                turtle(&there)
            );
            tally.count(&one, varied);
            if number % 4 == 0 {
                let answers = [&here, &other].map(|world| world.through_gateway(&asker, &query));
                let [one, two] = answers;
                let (one, two) = (without_took(one.await), without_took(two.await));
                assert_eq!(
                    one,
                    two,
                    "ACCESS_SEED={seed}, through the gateway: {query}\n{asker:?}\n{}",
                    section(&mut Random::new(seed))
                );
                gateway.count(&one, varied);
            }
        }
        // The object service does not show the ids of objects without a type that only some roles show.
        if !leads_to_nothing(&data) {
            complete(&here, &asker, seed).await;
        }
        here.end().await;
        other.end().await;
    }
    tally.check();
    gateway.check();
}

/// Changes data as a caller does not see them.
async fn unseen(
    soml: &Arc<Valid<Schema>>,
    asker: &Asker,
    (data, seen): (&Data, &Value),
    random: &mut Random,
) -> Data {
    let mut there = data.clone();
    for _ in 0..CHANGES {
        let mut other = there.clone();
        changed(random, &mut other);
        let objects = super::objects(soml, &turtle(&other));
        if super::answer(&objects, asker, ALL).await == *seen {
            there = other;
        }
    }
    there
}

/// Returns whether some value is an object that is not there.
fn leads_to_nothing(data: &Data) -> bool {
    let properties = data.values().flatten();
    let links = properties.filter(|(name, _)| ["v:by", "v:sequel", "v:to"].contains(*name));
    let mut ends = links.flat_map(|(_, values)| values);
    ends.any(|end| !data.contains_key(end.trim_matches(['<', '>'])))
}

/// Checks that a search finds and shows all that the object service shows.
async fn complete(world: &Served, asker: &Asker, seed: u64) {
    for (kind, fields) in [
        ("work", "id title pages team by { id }"),
        ("book", "id price public sequel { id title }"),
        ("author", "id label level works { id title }"),
    ] {
        let shown = world
            .object(asker, &format!("{{ {kind} {{ {fields} }} }}"))
            .await;
        let query =
            format!("{{ {kind}_search(size: 100) {{ hits {{ {kind} {{ {fields} }} }} }} }}");
        let found = world.search(asker, &query).await;
        let shown = shown["data"][kind].as_array().cloned().unwrap_or_default();
        let hits = found["data"][format!("{kind}_search")]["hits"].as_array();
        let hits = hits.into_iter().flatten().map(|hit| hit[kind].clone());
        let (shown, hits): (Vec<Value>, Vec<Value>) = (
            shown.into_iter().map(plain).collect(),
            hits.map(plain).collect(),
        );
        assert_eq!(
            shown,
            hits,
            "ACCESS_SEED={seed}, {kind}: {found:#}\n{asker:?}\n{}",
            section(&mut Random::new(seed))
        );
    }
}

/// What may not be read of some objects is null in hits, and left out by the object service where that depends on the type. Empty
/// lists are null in indexes, and lists have no order.
fn plain(value: Value) -> Value {
    match value {
        Value::Array(items) if items.is_empty() => Value::Null,
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(plain).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(members) => {
            let members = members.into_iter().map(|(key, value)| (key, plain(value)));
            members.filter(|(_, value)| !value.is_null()).collect()
        }
        other => other,
    }
}

/// Asks the object service as well: where all that a caller is shown is alike, every other answer is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conditions_that_read_data_hide_it_from_every_query() {
    let first = setting("ACCESS_SEED", 1);
    let worlds = count("ACCESS_CASES", 10_000).div_ceil(SEARCHES as u64);
    let mut tally = Tally::default();
    for seed in first..first + worlds {
        let mut random = Random::new(seed);
        let soml = schema(&format!("{MODEL}{}", section(&mut random)));
        let asker = asker(&mut random);
        let data = data(&mut random);
        let here = super::objects(&soml, &turtle(&data));
        let seen = super::answer(&here, &asker, ALL).await;
        let there = unseen(&soml, &asker, (&data, &seen), &mut random).await;
        let other = super::objects(&soml, &turtle(&there));
        for number in 0..SEARCHES {
            let query = query(&mut random);
            let one = super::answer(&here, &asker, &query).await;
            let two = super::answer(&other, &asker, &query).await;
            assert_eq!(
                one,
                two,
                "ACCESS_SEED={seed}, query {number}: {query}\n{asker:?}\n{}\n{}\n{}",
                section(&mut Random::new(seed)),
                turtle(&data),
                turtle(&there)
            );
            tally.count(&one, there != data);
        }
    }
    tally.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_caller_may_not_see_changes_no_search() {
    check(&embedded(), 4_000).await;
}

#[cfg(feature = "opensearch")]
mod opensearch {
    use std::sync::Arc;

    use search_index::engine::Engine;
    use search_index::opensearch::{OpenSearch, OpenSearchOptions};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs an OpenSearch server named by OPENSEARCH_URL"]
    async fn what_a_caller_may_not_see_changes_no_search() {
        let address = std::env::var("OPENSEARCH_URL").expect("OPENSEARCH_URL names the server");
        let options = OpenSearchOptions::new(address.parse().unwrap(), "roles");
        let engine: Engine = Arc::new(OpenSearch::new(options).unwrap());
        super::check(&engine, 2_000).await;
    }
}
