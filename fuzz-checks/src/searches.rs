//! Operations of the search API: whatever is asked for is answered by the embedded engine, or refused with
//! the error of the request, and never with a failure of the service or the engine.
//!
//! Compiled by its target alone and by the tests of `search-index`: `servers` knows no searches.

use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use search_index::document::{Document, FieldValues, ObjectValues};
use search_index::embedded::EmbeddedEngine;
use search_index::engine::{Binding, BulkOperation, PhysicalName, SearchEngine};
use search_index::graph_store::CallContext;
use search_index::graphql_service::{Request, RequestContext, Service};
use search_index::mapping::{Content, Indexes, MappingOptions, ObjectFields, Owner};
use search_index::sdl::SearchApi;
use search_index::service::{SearchService, SearchServiceOptions, SearchTarget};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

const SCHEMA: &str = "
id: /soml/fuzz
objects:
  Thing:
    search: {index: yes, analysis: {lang: {en: {analyzer: english}}}}
    props:
      text: {}
      label: {range: langString, max: inf}
      small: {range: int}
      exact: {range: decimal}
      heat: {range: double}
      flag: {range: boolean}
      seen: {range: dateTime}
      huge: {range: unsignedLong}
      one: {range: Part}
      near: {range: Part, max: inf}
  Part: {search: yes, props: {name: {}, size: {range: long}}}
";

/// Errors that are none of whoever asks.
const FAILURES: &[&str] = &[
    "ENGINE_FAILED",
    "ENGINE_DENIED",
    "ENGINE_UNAVAILABLE",
    "INDEX_BROKEN",
    "INDEX_MISSING",
    "INTERNAL",
];

/// Sends an operation: the input itself if its first byte is even, and else one that it stands for.
pub fn run(input: &[u8]) {
    is_answered(input);
}

/// Does the same, and tells whether the operation was answered without an error.
pub fn is_answered(input: &[u8]) -> bool {
    static SERVED: LazyLock<Served> = LazyLock::new(Served::new);
    let Some((first, rest)) = input.split_first() else {
        return false;
    };
    if first % 2 == 0 {
        return SERVED.send(&String::from_utf8_lossy(rest));
    }
    let mut made = Made {
        bytes: rest.iter(),
        depth: 0,
    };
    SERVED.send(&made.operation())
}

/// A service with a few documents.
struct Served {
    runtime: Runtime,
    service: SearchService,
}

impl Served {
    fn new() -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let runtime = runtime.expect("a runtime");
        let service = runtime.block_on(serve());
        Served { runtime, service }
    }

    /// Sends an operation; tells whether it was answered without an error.
    fn send(&self, operation: &str) -> bool {
        let request = Request::new(operation.to_owned());
        let answer = async {
            let response = self.service.respond(request, RequestContext::new());
            response.await.body.to_bytes()
        };
        let bytes = self.runtime.block_on(answer);
        let answer: Value = serde_json::from_slice(&bytes).expect("answers are JSON");
        let errors = answer["errors"].as_array().map(Vec::as_slice);
        let errors = errors.unwrap_or_default();
        assert!(!errors.is_empty() || answer["data"].is_object(), "{answer}");
        let code = |error: &Value| {
            let code = error["extensions"]["code"].as_str();
            code.unwrap_or_else(|| panic!("{error}")).to_owned()
        };
        let codes: Vec<String> = errors.iter().map(code).collect();
        assert!(
            !codes.iter().any(|code| FAILURES.contains(&code.as_str())),
            "{answer}: {operation}"
        );
        codes.is_empty()
    }
}

async fn serve() -> SearchService {
    let schema = search_index::soml_core::load(SCHEMA).schema;
    let schema = Arc::new(schema.expect("the schema is valid"));
    let indexes = Indexes::new(&schema, &MappingOptions::default()).expect("it can be searched");
    let engine = EmbeddedEngine::in_memory().expect("threads start");
    let context = CallContext::new();
    let mut targets = Vec::new();
    for definition in &indexes.indexes {
        let name = PhysicalName::new(definition, 1);
        let index = Binding {
            definition,
            name: &name,
        };
        let created = engine.create(index, &Owner::new("fuzz"), &context).await;
        created.expect("created");
        let documents: Vec<Document> = (0..20)
            .map(|number| {
                let iri = format!("http://e/{number}");
                let object = object(&definition.fields, &iri);
                Document::of(&schema, definition, &object)
            })
            .collect();
        let rejected = engine
            .bulk(index, &BulkOperation::all(documents), 0, &context)
            .await;
        assert_eq!(rejected.expect("written"), []);
        engine.refresh(&name, &context).await.expect("refreshed");
        targets.push(SearchTarget::Ready(name));
    }
    let api = SearchApi::new(schema, indexes).expect("the API is valid");
    SearchService::new(
        api,
        Arc::new(engine),
        targets,
        SearchServiceOptions::default(),
    )
}

/// Returns an object without values but those of the objects that it embeds.
fn object<'i>(fields: &ObjectFields, iri: &'i str) -> ObjectValues<'i> {
    let values = fields.fields.values().map(|field| match &field.content {
        Content::Leaf(_) => FieldValues::Terms(&[]),
        Content::Object(inner) => {
            let one = || object(&inner.fields, iri);
            FieldValues::objects(vec![one(), one()])
        }
    });
    ObjectValues {
        iri,
        types: vec!["http://e/Thing"],
        fields: values.collect(),
        facts: None,
    }
}

/// An operation that bytes stand for: each chooses one of some ways to go on, 0 where none is left.
struct Made<'b> {
    bytes: std::slice::Iter<'b, u8>,
    depth: usize,
}

const FIELDS: &[&str] = &[
    "id",
    "type",
    "text",
    "text_keyword",
    "label",
    "label_keyword",
    "small",
    "exact",
    "heat",
    "flag",
    "seen",
    "huge",
];

const TEXTS: &[&str] = &[
    "one two",
    "",
    "0",
    "-1",
    "1.5",
    "true",
    "1e400",
    "18446744073709551616",
    "-0001-01-01T00:00:00Z",
    "2026-11-23T01:02:03.004Z",
    "http://e/7",
    "ſtraße \u{130}",
    "\u{0}\u{fffd}",
    "a a a a a a a a",
    "NaN",
    "now-1d",
];

impl Made<'_> {
    fn choose<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.number() % of.len()]
    }

    fn number(&mut self) -> usize {
        self.bytes.next().copied().unwrap_or_default().into()
    }

    fn text(&mut self) -> String {
        let text = self.choose(TEXTS);
        serde_json::to_string(text).expect("a string is JSON")
    }

    fn operation(&mut self) -> String {
        let mut arguments = format!("query: {{{}}}", self.clause());
        for _ in 0..self.number() % 4 {
            let argument = match self.number() % 7 {
                0 => format!(" from: {}, size: {}", self.number() * 90, self.number()),
                1 => format!(" sort: [{}]", self.sort()),
                2 => format!(" min_score: {}.5", self.number()),
                3 => format!(" post_filter: {{{}}}", self.clause()),
                4 => format!(" track_total_hits: {}", self.choose(&["true", "false"])),
                5 => format!(" search_after: [{}, null]", self.text()),
                _ => format!(" aggregations: [{}]", self.aggregation()),
            };
            let name = argument.split(':').next().unwrap_or_default();
            if !arguments.contains(name) {
                arguments += &argument;
            }
        }
        format!(
            "{{ thing_search({arguments}) {{ max_score total {{ value }} hits {{ id score sort thing {{ text near {{ name }} }} }} }} }}"
        )
    }

    fn sort(&mut self) -> String {
        match self.number() % 5 {
            0 => "{_score: {order: ASC}}".to_owned(),
            1 => format!(
                "{{near: {{size: {{mode: {}}}}}}}",
                self.choose(&["MIN", "SUM", "AVG", "MEDIAN"])
            ),
            2 => "{one: {name: {missing: _first}}}".to_owned(),
            3 => format!("{{{}: {{order: DESC}}}}", self.choose(FIELDS)),
            _ => format!(
                "{{heat: {{mode: {}}}}}",
                self.choose(&["MAX", "MEDIAN", "AVG"])
            ),
        }
    }

    fn aggregation(&mut self) -> String {
        let field = self.choose(&[
            "text",
            "small",
            "seen",
            "near__name",
            "one__size",
            "exact",
            "flag",
        ]);
        let size = 1 + self.number() * 100;
        format!("{{name: \"a\", terms: {{field: {field}, size: {size}}}}}")
    }

    fn clause(&mut self) -> String {
        self.depth += 1;
        let kinds = if self.depth > 30 { 8 } else { 13 };
        let clause = match self.number() % kinds {
            0 => "match_all: {boost: 2.0}".to_owned(),
            1 => {
                let (field, text) = (self.choose(FIELDS), self.text());
                let options = self.choose(&[
                    "",
                    "operator: AND",
                    "fuzziness: \"2\"",
                    "fuzziness: \"AUTO\", max_expansions: 999",
                    "minimum_should_match: \"-99%\"",
                    "minimum_should_match: \"2<75%\", lenient: true",
                    "zero_terms_query: ALL",
                    "boost: 0.0",
                    "prefix_length: 2147483647, fuzziness: \"1\"",
                ]);
                format!("match: {{{field}: {{query: {text} {options}}}}}")
            }
            2 => {
                let (field, text) = (self.choose(FIELDS), self.text());
                format!("term: {{{field}: {{value: {text}}}}}")
            }
            3 => {
                let (field, one, other) = (self.choose(FIELDS), self.text(), self.text());
                format!("terms: {{{field}: {{values: [{one} {other}]}}}}")
            }
            4 => {
                let field =
                    self.choose(&["small", "exact", "heat", "seen", "huge", "text_keyword"]);
                let (one, other) = (self.text(), self.text());
                let bound = self.choose(&["gt", "gte"]);
                format!("range: {{{field}: {{{bound}: {one}, lte: {other}}}}}")
            }
            5 => format!(
                "exists: {{field: {}}}",
                self.choose(&["text", "near__size", "one__id", "label"])
            ),
            6 => format!("ids: {{values: [{}]}}", self.text()),
            7 => {
                let (field, text) = (self.choose(&["text", "text_keyword", "id"]), self.text());
                format!("prefix: {{{field}: {{value: {text}}}}}")
            }
            8 => {
                let mut members = String::new();
                for name in ["must", "should", "filter", "must_not"] {
                    let number = self.number() % 3;
                    let _ = write!(members, "{name}: [");
                    for _ in 0..number {
                        let _ = write!(members, "{{{}}}", self.clause());
                    }
                    members += "] ";
                }
                format!("bool: {{{members}}}")
            }
            9 => format!(
                "constant_score: {{filter: {{{}}}, boost: 3.5}}",
                self.clause()
            ),
            10 => format!(
                "dis_max: {{queries: [{{{}}} {{{}}}], tie_breaker: 0.3}}",
                self.clause(),
                self.clause()
            ),
            11 => {
                let mode = self.choose(&["AVG", "MAX", "MIN", "SUM", "NONE"]);
                let text = self.text();
                format!(
                    "nested: {{near: {{score_mode: {mode}, query: {{match: {{name: {{query: {text}}}}}}}}}}}"
                )
            }
            _ => format!("match: {{near: {{name: {{query: {}}}}}}}", self.text()),
        };
        self.depth -= 1;
        clause
    }
}
