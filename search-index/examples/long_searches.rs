//! Measures how long searches of one term take, alone and beside long ones, over the embedded engine.
//!
//! `long_searches [DOCUMENTS [NAME]]` prints, for each kind of long search whose name begins so, how long it takes, and
//! the median and the 99th percentile of the searches of one term that run beside it.

#![expect(clippy::print_stdout, reason = "the figures are for people to read")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use levenshtein_automata::LevenshteinAutomatonBuilder;
use oxrdf::{Literal, Term};
use search_index::document::{Document, FieldValues, ObjectValues};
use search_index::embedded::EmbeddedEngine;
use search_index::engine::{Binding, BulkOperation, Engine, PhysicalName};
use search_index::graph_store::CallContext;
use search_index::graphql_service::{Request, RequestContext, Service};
use search_index::limits::SearchLimits;
use search_index::mapping::{Indexes, MappingOptions, Owner};
use search_index::sdl::SearchApi;
use search_index::service::{SearchService, SearchServiceOptions, SearchTarget};
use serde_json::{Value, json};

const SOML: &str = "
id: /soml/articles
objects:
  Article: {search: {index: yes}, props: {title: {}, body: {}, year: {range: integer}}}
";

/// Words of an article.
const WORDS: usize = 40;

/// How long searches run beside each other.
const TIME: Duration = Duration::from_secs(8);

fn main() -> Result<(), Box<dyn Error>> {
    let documents = std::env::args().nth(1).map_or(Ok(60_000), |n| n.parse())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let name = std::env::args().nth(2).unwrap_or_default();
    runtime.block_on(run(documents, &name))
}

async fn run(documents: usize, wanted: &str) -> Result<(), Box<dyn Error>> {
    let builder = LevenshteinAutomatonBuilder::new(2, true);
    let begun = Instant::now();
    let table = builder.build_dfa(&"abcdefghij".repeat(50));
    println!(
        "table of all states of a term of 500 letters: {} states in {:?}",
        table.num_states(),
        begun.elapsed()
    );
    let service = Arc::new(service(documents).await?);
    let alone = beside(&service, None, TIME).await;
    println!("one term, alone: {alone}");
    for (name, query) in long() {
        if !name.starts_with(wanted) {
            continue;
        }
        let begun = Instant::now();
        let answer = ask(&service, &query).await;
        let shown: String = answer.chars().take(120).collect();
        println!(
            "\n{name}, {} kB: {:?}; {shown}",
            query.to_string().len() / 1_000,
            begun.elapsed()
        );
        println!(
            "  one term beside: {}",
            beside(&service, Some(&query), TIME).await
        );
    }
    Ok(())
}

/// Searches that take long, as the values of variables.
fn long() -> Vec<(&'static str, Value)> {
    let fuzzy = |number: usize, text: &dyn Fn(usize) -> String| {
        let clause = |at| json!({"match": {"body": {"query": text(at), "fuzziness": "2"}}});
        json!({"bool": {"should": (0..number).map(clause).collect::<Vec<_>>()}})
    };
    let word = |at: usize| word(at * 7 + 1);
    let values: Vec<_> = (0..9_900).map(word).collect();
    let ranges = |at: usize| json!({"range": {"year": {"gte": at, "lt": 2_000 + at}}});
    vec![
        (
            "150 fuzzy clauses of one long word",
            fuzzy(150, &|at| format!("{at:03}").repeat(166)),
        ),
        (
            "998 fuzzy clauses of one long word",
            fuzzy(998, &|at| format!("{at:03}").repeat(166)),
        ),
        ("400 fuzzy clauses of one word", fuzzy(400, &word)),
        (
            "60 fuzzy clauses of six words",
            fuzzy(60, &|at| {
                (0..6)
                    .map(|n| word(at * 6 + n))
                    .collect::<Vec<_>>()
                    .join(" ")
            }),
        ),
        (
            "150 fuzzy clauses of 80 words",
            fuzzy(150, &|at| {
                (0..80)
                    .map(|n| word(at * 80 + n))
                    .collect::<Vec<_>>()
                    .join(" ")
            }),
        ),
        (
            "998 clauses of one word",
            json!({"bool": {"should": (0..998).map(|at| json!({"match": {"body": {"query": word(at)}}})).collect::<Vec<_>>()}}),
        ),
        (
            "400 prefixes",
            json!({"bool": {"should": (0..400).map(|at| json!({"prefix": {"body": {"value": word(at)[..1]}}})).collect::<Vec<_>>()}}),
        ),
        (
            "998 ranges",
            json!({"bool": {"should": (0..998).map(ranges).collect::<Vec<_>>()}}),
        ),
        (
            "2 lists of 9,900 values",
            json!({"bool": {"should": vec![json!({"terms": {"body": {"values": values}}}); 2]}}),
        ),
    ]
}

/// What searches of one term took.
struct Times {
    all: Vec<Duration>,
    long: usize,
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = |share: f64| self.all[((self.all.len() - 1) as f64 * share) as usize];
        write!(
            f,
            "{} searches, p50 {:?}, p99 {:?}, max {:?}; {} long ones",
            self.all.len(),
            at(0.5),
            at(0.99),
            at(1.0),
            self.long
        )
    }
}

/// Asks for one term at a time, beside four clients that ask for something long.
async fn beside(service: &Arc<SearchService>, long: Option<&Value>, time: Duration) -> Times {
    let is_done = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = long
        .iter()
        .flat_map(|query| std::iter::repeat_n((*query).clone(), 4))
        .map(|query| {
            let (service, is_done) = (Arc::clone(service), Arc::clone(&is_done));
            tokio::spawn(async move {
                let mut number = 0;
                while !is_done.load(Ordering::Relaxed) {
                    ask(&service, &query).await;
                    number += 1;
                }
                number
            })
        })
        .collect();
    let mut all = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < time {
        let query = json!({"match": {"body": {"query": word(all.len() * 31)}}});
        let own = Arc::clone(service);
        let asked = Instant::now();
        // As a connection does, in a task of its own.
        let answer = tokio::spawn(async move { ask(&own, &query).await }).await;
        assert!(answer.is_ok_and(|answer| answer.starts_with("{\"data\"")));
        all.push(asked.elapsed());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    is_done.store(true, Ordering::Relaxed);
    let mut number = 0;
    for client in clients {
        number += client.await.unwrap_or(0);
    }
    all.sort_unstable();
    Times { all, long: number }
}

async fn ask(service: &SearchService, query: &Value) -> String {
    let document = "query($q: Article_Search_Query) { article_search(query: $q) { total { value } hits { id score } } }";
    let variables = json!({ "q": query });
    let variables = variables.as_object().cloned().unwrap_or_default();
    let request = Request::new(document).with_variables(variables);
    let context = RequestContext::from(CallContext::new().with_timeout(Duration::from_secs(60)));
    let bytes = service.respond(request, context).await.body.to_bytes();
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn service(documents: usize) -> Result<SearchService, Box<dyn Error>> {
    let loaded = search_index::soml_core::load(SOML);
    let schema = Arc::new(loaded.schema.ok_or("the schema has errors")?);
    let indexes = Indexes::new(&schema, &MappingOptions::default())?;
    let engine: Engine = Arc::new(EmbeddedEngine::in_memory()?);
    let definition = &indexes.indexes[0];
    let name = PhysicalName::new(definition, 1);
    let index = Binding {
        definition,
        name: &name,
    };
    let context = CallContext::new();
    engine
        .create(index, &Owner::new("example"), &context)
        .await?;
    let mut written = Vec::new();
    for at in 0..documents {
        let text = |number: usize, salt: usize| {
            let words = (0..number).map(|n| word(skewed(at * 97 + n * 13 + salt)));
            Literal::new_simple_literal(words.collect::<Vec<_>>().join(" "))
        };
        let (title, body) = (text(5, 3), text(WORDS, 0));
        let year = Literal::from((1_900 + at % 120) as i64);
        let fields = definition
            .fields
            .fields
            .keys()
            .map(|field| match field.as_str() {
                "title" => vec![Term::from(title.clone())],
                "body" => vec![Term::from(body.clone())],
                "year" => vec![Term::from(year.clone())],
                _ => Vec::new(),
            });
        let fields: Vec<_> = fields.collect();
        let values = ObjectValues {
            iri: &format!("http://example.org/{at}"),
            types: vec!["http://example.org/Article"],
            fields: fields
                .iter()
                .map(|terms| FieldValues::Terms(terms))
                .collect(),
            facts: None,
        };
        written.push(Document::of(&schema, definition, &values));
        if written.len() == 5_000 || at + 1 == documents {
            let writes = BulkOperation::all(written.drain(..));
            engine.bulk(index, &writes, 0, &context).await?;
            engine.refresh(&name, &context).await?;
        }
    }
    let api = SearchApi::new(Arc::clone(&schema), indexes.clone())?;
    let options = SearchServiceOptions::default().with_search_limits(SearchLimits::default());
    Ok(SearchService::new(
        api,
        engine,
        vec![SearchTarget::Ready(name)],
        options,
    ))
}

/// Returns the number of a word, of which small ones are frequent.
fn skewed(at: usize) -> usize {
    let mixed = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let share = mixed as f64 / f64::from(u32::MAX);
    (share.powi(4) * 120_000.0) as usize
}

/// Returns a word of a number: 120,000 of them differ.
fn word(number: usize) -> String {
    const PARTS: [&str; 50] = [
        "ba", "be", "bi", "bo", "bu", "da", "de", "di", "do", "du", "fa", "fe", "fi", "fo", "fu",
        "ga", "ge", "gi", "go", "gu", "ka", "ke", "ki", "ko", "ku", "la", "le", "li", "lo", "lu",
        "ma", "me", "mi", "mo", "mu", "na", "ne", "ni", "no", "nu", "ra", "re", "ri", "ro", "ru",
        "sa", "se", "si", "so", "su",
    ];
    let number = number % 120_000;
    let part = |at: usize| PARTS[number / 50_usize.pow(at as u32) % 50];
    format!("{}{}{}", part(0), part(1), part(2)) + if number >= 50_000 { "t" } else { "" }
}
