//! Requests to the service over an engine that answers what a test says.

use std::pin::pin;
use std::sync::{Arc, Mutex, mpsc};

use async_trait::async_trait;
use bytes::Bytes;
use futures::poll;
use graph_store::value::ExactKey;
use search_index::dsl::{Search, Value};
use search_index::engine::{
    AggregationAnswer, AggregationContent, Answer, Binding, Bucket, BulkOperation, EngineError,
    EngineHealth, EngineInfo, Hit, IndexState, PhysicalName, Rejected, SearchEngine, Switch, Total,
};
use search_index::graph_store::call_context::{CallContext, CallError};
use search_index::graphql_service::{
    Limits, Request, RequestContext, Service, Slot, Slots, Weight,
};
use search_index::mapping::{Analyzers, Owner};
use search_index::sdl::SearchApi;
use search_index::service::{SearchService, SearchServiceOptions, SearchTarget};
use serde_json::{Value as Json, json};

use crate::searches::SKY;
use crate::{indexes, schema};

type Answering = dyn Fn(&str, &Search) -> Result<Answer, EngineError> + Send + Sync;

/// An engine that only searches.
pub(crate) struct Scripted {
    answer: Box<Answering>,
    /// The indexes that were searched.
    asked: Mutex<Vec<String>>,
}

impl Scripted {
    pub(crate) fn new(
        answer: impl Fn(&str, &Search) -> Result<Answer, EngineError> + Send + Sync + 'static,
    ) -> Self {
        Scripted {
            answer: Box::new(answer),
            asked: Mutex::default(),
        }
    }
}

fn only_searches<T>() -> Result<T, EngineError> {
    Err(EngineError::Unsupported(
        "only searches are scripted".to_owned(),
    ))
}

#[async_trait]
impl SearchEngine for Scripted {
    async fn info(&self, _: &CallContext) -> Result<EngineInfo, EngineError> {
        Ok(EngineInfo::new("scripted", "1", Analyzers::distribution()))
    }

    async fn health(
        &self,
        of: &[PhysicalName],
        _: &CallContext,
    ) -> Result<EngineHealth, EngineError> {
        Ok(EngineHealth::good(of))
    }

    async fn indexes(&self, _: &CallContext) -> Result<Vec<IndexState>, EngineError> {
        only_searches()
    }

    async fn create(&self, _: Binding<'_>, _: &Owner, _: &CallContext) -> Result<(), EngineError> {
        only_searches()
    }

    async fn delete(&self, _: &PhysicalName, _: &CallContext) -> Result<(), EngineError> {
        only_searches()
    }

    async fn bulk(
        &self,
        _: Binding<'_>,
        _: &[BulkOperation],
        _: u64,
        _: &CallContext,
    ) -> Result<Vec<Rejected>, EngineError> {
        only_searches()
    }

    async fn refresh(&self, _: &PhysicalName, _: &CallContext) -> Result<(), EngineError> {
        only_searches()
    }

    async fn switch(&self, _: &[Switch], _: &CallContext) -> Result<(), EngineError> {
        only_searches()
    }

    async fn search(
        &self,
        index: Binding<'_>,
        search: &Search,
        _: &CallContext,
    ) -> Result<Answer, EngineError> {
        let name = index.name.to_string();
        let answer = (self.answer)(&name, search);
        self.asked.lock().expect("no panic").push(name);
        answer
    }

    async fn count(&self, _: &PhysicalName, _: &CallContext) -> Result<u64, EngineError> {
        only_searches()
    }

    async fn ids(
        &self,
        _: &PhysicalName,
        _: Option<&str>,
        _: usize,
        _: &CallContext,
    ) -> Result<Vec<String>, EngineError> {
        only_searches()
    }
}

struct Bound {
    service: SearchService,
    engine: Arc<Scripted>,
}

/// Serves [`SKY`], whose three indexes are all ready.
fn serve(
    answer: impl Fn(&str, &Search) -> Result<Answer, EngineError> + Send + Sync + 'static,
) -> Bound {
    serve_with(SearchServiceOptions::default(), answer)
}

fn serve_with(
    options: SearchServiceOptions,
    answer: impl Fn(&str, &Search) -> Result<Answer, EngineError> + Send + Sync + 'static,
) -> Bound {
    let indexes = indexes(SKY).expect("the schema can be searched");
    let targets = indexes.indexes.iter();
    let targets = targets
        .map(|index| SearchTarget::Ready(PhysicalName::new(index, 7)))
        .collect();
    let api = SearchApi::new(Arc::new(schema(SKY)), indexes).expect("the API is valid");
    let engine = Arc::new(Scripted::new(answer));
    Bound {
        service: SearchService::new(api, engine.clone(), targets, options),
        engine,
    }
}

impl Bound {
    async fn text(&self, query: &str) -> String {
        let response = self
            .service
            .respond(Request::new(query), RequestContext::new());
        let bytes = response.await.body.to_bytes();
        String::from_utf8(bytes.to_vec()).expect("UTF-8")
    }

    async fn json(&self, query: &str) -> Json {
        serde_json::from_str(&self.text(query).await).expect("JSON")
    }
}

fn hit(source: &'static str) -> Hit {
    Hit {
        id: "an id".to_owned(),
        score: Some(f64::from(0.1_f32)),
        sort: vec![
            Some(Value::Double(0.5)),
            None,
            Some(Value::Text("x".to_owned())),
        ],
        source: Bytes::from_static(source.as_bytes()),
    }
}

fn hits(sources: &[&'static str]) -> Answer {
    Answer {
        took: 3,
        total: Some(Total {
            value: sources.len() as u64,
            is_lower_bound: false,
        }),
        max_score: Some(1.0),
        hits: sources.iter().map(|source| hit(source)).collect(),
        aggregations: Vec::new(),
    }
}

const TATOOINE: &str = r#"{"id":"https://x/1","type":["https://x/Planet"],"title":"Tatooine",
    "diameter":10465,"mass":1.5,"mass$exact":"20000115","moon":true,"tiny":1,
    "people":[{"id":"https://x/2","alias":"Lü\"ke","height":1.72}],
    "ruler":{"id":"https://x/3"},
    "$shown":{"mass":"1.50","seen":"1977-05-25T00:00:00.000Z",
      "label":[{"value":"Tatooine","lang":"en"},{"value":"x","type":"http://t"}]}}"#;

#[tokio::test]
async fn an_answer_has_what_is_selected_in_that_order() {
    let bound = serve(|_, _| Ok(hits(&[TATOOINE])));
    let query = "{ all: planet_search { max_score took total { relation value }
        hits { sort id p: planet { title __typename people { height alias id } seen mass tiny
            label { lang value } heat type ruler { alias id } moon: moon } score } } __typename }";
    assert_eq!(
        bound.text(query).await,
        concat!(
            r#"{"data":{"all":{"max_score":1.0,"took":3,"total":{"relation":"eq","value":1},"hits":["#,
            r#"{"sort":["0.5",null,"x"],"id":"https://x/1","p":{"title":"Tatooine","__typename":"Planet","#,
            r#""people":[{"height":1.72,"alias":"Lü\"ke","id":"https://x/2"}],"#,
            r#""seen":"1977-05-25T00:00:00.000Z","mass":"1.50","tiny":1,"#,
            r#""label":[{"lang":"en","value":"Tatooine"},{"lang":null,"value":"x"}],"heat":null,"#,
            r#""type":["https://x/Planet"],"ruler":{"alias":null,"id":"https://x/3"},"moon":true},"#,
            r#""score":0.1}]},"__typename":"Query"}}"#,
        )
    );
}

#[tokio::test]
async fn fields_of_one_key_are_merged_and_skipped_ones_are_not_there() {
    let bound = serve(|_, _| Ok(hits(&[TATOOINE])));
    let query = "{ planet_search { hits { planet { people { id } } score @skip(if: true) }
          hits { planet { ...P people { alias } } } } }
        fragment P on Planet { people { id height @include(if: false) } title }";
    assert_eq!(
        bound.json(query).await,
        json!({"data": {"planet_search": {"hits": [{"planet": {
            "people": [{"id": "https://x/2", "alias": "Lü\"ke"}], "title": "Tatooine"}}]}}})
    );
}

#[tokio::test]
async fn buckets_have_keys_as_values_are_written() {
    let bucket = |key: Value| Bucket {
        key,
        count: 2,
        aggregations: Vec::new(),
    };
    let bound = serve(move |_, search| {
        let answer = search.aggregations.iter().map(|aggregation| {
            let key = match aggregation.name.as_str() {
                "mass" => Value::Text(ExactKey::parse("1.1250").expect("a number").to_string()),
                "seen" => Value::Integer(0),
                "moon" => Value::Integer(1),
                _ => Value::Text("Luke".to_owned()),
            };
            let buckets = AggregationContent::Buckets {
                buckets: vec![bucket(key)],
                other: 5,
                error: 0,
            };
            let one = |content| AggregationAnswer {
                name: aggregation.name.clone(),
                content,
            };
            match aggregation.name.as_str() {
                "alias" => one(AggregationContent::Nested {
                    count: 9,
                    aggregations: vec![one(buckets)],
                }),
                _ => one(buckets),
            }
        });
        Ok(Answer {
            aggregations: answer.collect(),
            ..Answer::default()
        })
    });
    let query = r#"{ planet_search(size: 0, aggregations: [
        {name: "mass", terms: {field: mass}}, {name: "seen", terms: {field: seen}},
        {name: "moon", terms: {field: moon}}, {name: "alias", terms: {field: people__alias}}])
        { total { value } max_score hits { id }
          aggregations { name type sum_other_doc_count doc_count_error_upper_bound
            buckets { key doc_count } } } }"#;
    let aggregation = |name: &str, key: &str| {
        json!({"name": name, "type": "terms", "sum_other_doc_count": 5,
            "doc_count_error_upper_bound": 0, "buckets": [{"key": key, "doc_count": 2}]})
    };
    assert_eq!(
        bound.json(query).await["data"]["planet_search"],
        json!({"total": null, "max_score": null, "hits": [], "aggregations": [
            aggregation("mass", "1.125"), aggregation("seen", "1970-01-01T00:00:00.000Z"),
            aggregation("moon", "true"), aggregation("alias", "Luke")]})
    );
}

#[tokio::test]
async fn a_search_that_fails_is_null_and_others_are_not() {
    let bound = serve(|name, _| match name {
        "svc-person-7" => Err(EngineError::Unavailable("at 10.0.0.1".into())),
        _ => Ok(hits(&[TATOOINE])),
    });
    let query = "{\n  who: person_search { hits { id } }\n  planet_search { hits { id } } }";
    let answer = bound.json(query).await;
    assert_eq!(
        answer,
        json!({"data": {"who": null, "planet_search": {"hits": [{"id": "https://x/1"}]}},
            "errors": [{"message": "the search engine cannot be reached", "path": ["who"],
                "locations": [{"line": 2, "column": 8}],
                "extensions": {"code": "ENGINE_UNAVAILABLE"}}]})
    );
    assert_eq!(bound.engine.asked.lock().expect("no panic").len(), 2);
}

#[tokio::test]
async fn each_failure_of_an_engine_has_its_code() {
    type Failing = fn() -> EngineError;
    let cases: [(Failing, &str); 9] = [
        (|| EngineError::Overloaded("x".into()), "ENGINE_OVERLOADED"),
        (|| EngineError::Denied("x".into()), "ENGINE_DENIED"),
        (
            || EngineError::NotFound {
                name: "n".to_owned(),
            },
            "INDEX_MISSING",
        ),
        (
            || EngineError::Unsupported("no".to_owned()),
            "ENGINE_UNSUPPORTED",
        ),
        (
            || EngineError::AnswerTooLarge { limit: 3 },
            "LIMIT_ENGINE_ANSWER",
        ),
        (|| EngineError::Failed("secret".into()), "ENGINE_FAILED"),
        (|| CallError::Deadline.into(), "DEADLINE_EXCEEDED"),
        (|| CallError::Cancelled.into(), "CANCELLED"),
        (|| CallError::OutOfMemory.into(), "OVERLOADED"),
    ];
    for (error, code) in cases {
        let answer = serve(move |_, _| Err(error()))
            .text("{ planet_search { took } }")
            .await;
        assert!(
            answer.contains(&format!("\"code\":\"{code}\"")),
            "{code}: {answer}"
        );
        assert!(!answer.contains("secret"), "{answer}");
    }
}

#[tokio::test]
async fn an_index_that_is_not_there_says_why() {
    let bound = serve(|_, _| Ok(hits(&[])));
    let building = SearchTarget::Building {
        done: 3,
        of: Some(60),
    };
    bound
        .service
        .set_targets(vec![building, SearchTarget::Missing, SearchTarget::Missing]);
    let answer = bound
        .json("{ planet_search { took } person_search { took } }")
        .await;
    assert_eq!(
        answer["data"],
        json!({"planet_search": null, "person_search": null})
    );
    let errors = &answer["errors"];
    assert_eq!(errors[0]["extensions"]["code"], "INDEX_BUILDING");
    assert_eq!(
        errors[0]["message"],
        "the index of Planet is being built: 3 of 60 documents are written"
    );
    assert_eq!(errors[1]["extensions"]["code"], "INDEX_MISSING");
    assert!(bound.engine.asked.lock().expect("no panic").is_empty());
}

#[tokio::test]
async fn a_document_of_another_form_is_an_error_and_no_half_answer() {
    for source in [
        "",
        "[]",
        "{}",
        r#"{"id":"i","title":["a","b"]}"#,
        r#"{"id":"i","ruler":3}"#,
    ] {
        let query = "{ planet_search { hits { id planet { title ruler { id } } } } }";
        let answer = serve(move |_, _| Ok(hits(&[TATOOINE, source])))
            .json(query)
            .await;
        assert_eq!(answer["data"], json!({"planet_search": null}), "{source}");
        let error = &answer["errors"][0];
        assert_eq!(error["extensions"]["code"], "INDEX_BROKEN", "{source}");
        assert_eq!(error["path"][2], 1, "{source}");
    }
}

#[tokio::test]
async fn the_schema_is_introspected_beside_a_search() {
    let bound = serve(|_, _| Ok(hits(&[])));
    let query = r#"{ __schema { queryType { name } } planet_search { took }
        t: __type(name: "Planet") { kind } }"#;
    assert_eq!(
        bound.json(query).await,
        json!({"data": {"__schema": {"queryType": {"name": "Query"}}, "planet_search": {"took": 3},
            "t": {"kind": "OBJECT"}}})
    );
}

#[tokio::test]
async fn long_answers_are_bounded() {
    let text = format!(
        r#"{{"id":"https://x/1","title":"{}"}}"#,
        "a".repeat(100_000)
    );
    let text: &'static str = text.leak();
    let mut limits = Limits::default();
    limits.response_bytes = 10_000_000;
    let options = SearchServiceOptions::default().with_limits(limits);
    let bound = serve_with(options, move |_, _| Ok(hits(&[text; 400])));
    let answer = bound
        .json("{ planet_search { hits { planet { title } } } }")
        .await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "LIMIT_RESPONSE");
    assert_eq!(answer["data"], Json::Null);
}

#[tokio::test]
async fn a_request_has_a_bounded_number_of_searches() {
    let bound = serve(|_, _| Ok(hits(&[])));
    let searches = |number: usize| {
        let searches = (0..number).map(|n| format!("s{n}: planet_search {{ took }}"));
        format!(
            "{{ {} __typename }}",
            searches.collect::<Vec<_>>().join(" ")
        )
    };
    let answer = bound.json(&searches(20)).await;
    assert_eq!(answer["data"]["s19"]["took"], 3);
    let answer = bound.json(&searches(21)).await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "LIMIT_SEARCHES");
    assert_eq!(bound.engine.asked.lock().expect("no panic").len(), 20);
}

/// Occupies the only slot of a weight until the returned sender is dropped.
async fn occupied(slots: &Arc<Slots>, weight: Weight) -> mpsc::Sender<()> {
    let (end, ended) = mpsc::channel::<()>();
    let (start, started) = tokio::sync::oneshot::channel();
    let slots = Arc::clone(slots);
    tokio::spawn(async move {
        let job = move |slot: Slot| {
            let _slot = slot;
            let _ = start.send(());
            let _ = ended.recv();
        };
        slots.run(weight, None, job).await
    });
    started.await.expect("a slot is free");
    end
}

/// Asks for planets by as many ids.
fn by_ids(number: usize) -> Request {
    let ids: Vec<_> = (0..number)
        .map(|at| format!("https://example.org/things/{at}"))
        .collect();
    let variables = json!({ "ids": ids });
    let variables = variables.as_object().expect("an object").clone();
    Request::new("query($ids: [ID!]!) { planet_search(query: {ids: {values: $ids}}) { took } }")
        .with_variables(variables)
}

#[tokio::test]
async fn a_search_is_read_in_a_slot_by_its_size() {
    for (number, weight) in [(300, Weight::Medium), (9_000, Weight::Long)] {
        let slots = Arc::new(Slots::new(Some(1), 10));
        let options = SearchServiceOptions::default().with_slots(Arc::clone(&slots));
        let bound = serve_with(options, |_, _| Ok(hits(&[])));
        let end = occupied(&slots, weight).await;
        let mut large = pin!(bound.service.respond(by_ids(number), RequestContext::new()));
        assert!(poll!(&mut large).is_pending(), "{number}");
        assert_eq!(slots.waiting(weight), 1, "{number}");
        // A short one waits for nothing.
        let short = bound.service.respond(by_ids(1), RequestContext::new());
        let short = short.await.body.to_bytes();
        assert!(short.starts_with(b"{\"data\""), "{short:?}");
        drop(end);
        let large = large.await.body.to_bytes();
        assert!(large.starts_with(b"{\"data\""), "{large:?}");
    }
}
