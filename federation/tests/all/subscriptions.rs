//! Subscriptions through the gateway: each event is answered by the plan, and every end of the stream says why.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use federation::compose::{ComposeOptions, SubgraphSource, compose};
use federation::supergraph::Subgraph;
use federation::transport::{
    Allowances, SubgraphEvents, SubgraphRequest, SubgraphSubscription, SubgraphTransport,
    TransportError,
};
use federation::{CallerClaims, Ending, Gateway, GatewayLimits, GatewayOptions, Supergraph};
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::stream::BoxStream;
use graphql_service::{
    CallContext, Event, MemoryBudget, Outcome, Replies, Reply, Request, RequestContext, Service,
};
use serde_json::{Value, json};

use crate::http::{LONG, runtime};
use crate::sockets::PATIENCE;

const CLOCK: &str = r#"
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@authenticated"])
    type Query { hour: Int }
    type Subscription { risen(over: String): Planet secret: Int @authenticated }
    type Planet @key(fields: "id") { id: ID! hour: Int! }
"#;

const ATLAS: &str = r#"
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])
    type Query { planets: [Planet] }
    type Planet @key(fields: "id") { id: ID! name: String }
"#;

pub(crate) fn supergraph() -> Arc<Supergraph> {
    let source = |name: &str, sdl: &str| SubgraphSource {
        name: name.to_owned(),
        url: String::new(),
        sdl: sdl.to_owned(),
    };
    let sources = [source("clock", CLOCK), source("atlas", ATLAS)];
    let composed = compose(&sources, &ComposeOptions::default()).unwrap();
    let supergraph = Supergraph::parse(&composed.supergraph_sdl, "supergraph.graphql");
    Arc::new(supergraph.unwrap())
}

/// Events as the test sends them, and names of planets.
struct Planets {
    events: Mutex<Option<UnboundedReceiver<Result<Bytes, TransportError>>>>,
    sent: Mutex<Vec<Value>>,
    /// The deadlines of requests for names.
    deadlines: Mutex<Vec<Option<Instant>>>,
    /// Subscriptions that were given up.
    ended: Arc<AtomicUsize>,
}

struct Ended(Arc<AtomicUsize>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl SubgraphTransport for Planets {
    async fn send(
        &self,
        _subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        self.deadlines.lock().unwrap().push(context.call.deadline);
        let request: Value = serde_json::from_slice(&request.body).unwrap();
        let id = request["variables"]["representations"][0]["id"].clone();
        self.sent.lock().unwrap().push(request);
        match id.as_str().unwrap() {
            "down" => Err(TransportError::Status(503)),
            "slow" => futures::future::pending().await,
            id => Ok(
                json!({"data": {"_entities": [{"name": format!("planet {id}")}]}})
                    .to_string()
                    .into(),
            ),
        }
    }

    async fn subscribe(
        &self,
        _subgraph: &Subgraph,
        subscription: SubgraphSubscription,
        _context: &RequestContext,
    ) -> Result<SubgraphEvents, TransportError> {
        let body = serde_json::from_slice(&subscription.body).unwrap();
        self.sent.lock().unwrap().push(body);
        let events = self.events.lock().unwrap().take();
        let events = events.ok_or(TransportError::NotConnected)?;
        let ended = Ended(Arc::clone(&self.ended));
        let allowances: Allowances = subscription.allowances;
        let events = events.map(move |event| {
            let _ended = &ended;
            event.and_then(|body| allowances.event(body))
        });
        Ok(events.boxed())
    }
}

struct Scene {
    gateway: Gateway,
    transport: Arc<Planets>,
    events: UnboundedSender<Result<Bytes, TransportError>>,
}

const QUERY: &str = "subscription($over: String) { up: risen(over: $over) { id name hour } }";

fn scene(limits: GatewayLimits) -> Scene {
    let (events, receiver) = unbounded();
    let transport = Arc::new(Planets {
        events: Mutex::new(Some(receiver)),
        sent: Mutex::default(),
        deadlines: Mutex::default(),
        ended: Arc::default(),
    });
    let mut options = GatewayOptions::default();
    options.gateway_limits = limits;
    options.authorizer = Some(Arc::new(CallerClaims::default()));
    let gateway = Gateway::new(supergraph(), transport.clone(), options).unwrap();
    Scene {
        gateway,
        transport,
        events,
    }
}

impl Scene {
    fn risen(&self, id: &str) {
        let event = json!({"data": {"risen": {"__typename": "Planet", "id": id, "hour": 7}}});
        self.send(event);
    }

    fn send(&self, event: Value) {
        self.events
            .unbounded_send(Ok(event.to_string().into()))
            .unwrap();
    }

    async fn replies(&self, query: &str, context: RequestContext) -> Replies {
        let variables = json!({"over": "Theed"}).as_object().unwrap().clone();
        let request = Request::new(query).with_variables(variables);
        self.gateway.stream(request, context).await
    }

    async fn stream(&self) -> BoxStream<'static, Event> {
        match self.replies(QUERY, RequestContext::new()).await {
            Replies::Several(events) => events,
            Replies::One(reply) => panic!("{reply:?}"),
        }
    }

    fn open(&self) -> usize {
        self.transport.ended.load(Ordering::SeqCst)
    }
}

fn value(reply: Reply) -> Value {
    serde_json::from_slice(&reply.into_response().body.to_bytes()).unwrap()
}

async fn next(events: &mut BoxStream<'static, Event>) -> Value {
    match events.next().await.expect("there is an event") {
        Event::Next(reply) => value(reply),
        Event::Error(errors) => panic!("{errors:?}"),
    }
}

/// Returns the code and the path of the error that a subscription ends with.
async fn end(events: &mut BoxStream<'static, Event>) -> (String, Value) {
    let Some(Event::Error(errors)) = events.next().await else {
        panic!("there should be an error");
    };
    assert!(events.next().await.is_none());
    let error = serde_json::to_value(&errors[0]).unwrap();
    let code = error["extensions"]["code"].as_str().unwrap().to_owned();
    (code, error["path"].clone())
}

/// Waits until the subscription at the subgraph is given up.
async fn given_up(scene: &Scene) {
    let begun = Instant::now();
    while scene.open() == 0 {
        assert!(
            begun.elapsed() < PATIENCE,
            "the subgraph is still subscribed to"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(scene.open(), 1);
}

fn risen(id: &str) -> Value {
    json!({"data": {"up": {"id": id, "name": format!("planet {id}"), "hour": 7}}})
}

#[test]
fn each_event_is_answered_by_the_plan_in_order() {
    runtime().block_on(async {
        let scene = scene(GatewayLimits::default());
        let mut events = scene.stream().await;
        for id in ["1", "2", "3"] {
            scene.risen(id);
        }
        for id in ["1", "2", "3"] {
            assert_eq!(next(&mut events).await, risen(id));
        }
        let Scene {
            events: source,
            transport,
            ..
        } = scene;
        drop(source);
        assert!(events.next().await.is_none(), "the source has ended");
        let sent = transport.sent.lock().unwrap().clone();
        let subscription = json!({
            "query": "subscription($over: String) { risen(over: $over) { id hour } }",
            "variables": {"over": "Theed"},
        });
        assert_eq!(sent[0], subscription);
        let entity = json!({
            "query": "query($representations: [_Any!]!) { _entities(representations: $representations) { ... on Planet { name } } }",
            "variables": {"representations": [{"__typename": "Planet", "id": "1"}]},
        });
        assert_eq!(sent[1], entity);
        assert_eq!(sent.len(), 4);
    });
}

#[test]
fn what_fails_for_one_event_is_in_that_event() {
    runtime().block_on(async {
        let scene = scene(GatewayLimits::default());
        let mut events = scene.stream().await;
        scene.risen("down");
        scene.send(json!({"data": null, "errors": [{"message": "no sky", "path": ["risen"]}]}));
        scene.send(json!({"data": {"risen": {"__typename": "Planet", "id": "4", "hour": null}}}));
        scene.events.unbounded_send(Ok("sunrise".into())).unwrap();
        scene.risen("5");
        let down = next(&mut events).await;
        assert_eq!(
            down["data"],
            json!({"up": {"id": "down", "name": null, "hour": 7}})
        );
        assert_eq!(down["errors"][0]["path"], json!(["up"]));
        assert_eq!(down["errors"][0]["extensions"]["serviceName"], "atlas");
        let no_sky = next(&mut events).await;
        assert_eq!(no_sky["data"], json!({"up": null}));
        assert_eq!(no_sky["errors"][0]["message"], "no sky");
        assert_eq!(no_sky["errors"][0]["path"], json!(["up"]));
        let no_hour = next(&mut events).await;
        assert_eq!(no_hour["data"], json!({"up": null}));
        assert_eq!(no_hour["errors"][0]["path"], json!(["up", "hour"]));
        let not_json = next(&mut events).await;
        assert_eq!(not_json["data"], json!({"up": null}));
        let code = &not_json["errors"][0]["extensions"]["code"];
        assert_eq!(code, "DOWNSTREAM_SERVICE_ERROR");
        assert_eq!(next(&mut events).await, risen("5"));
    });
}

#[test]
fn each_event_has_the_time_of_a_request() {
    runtime().block_on(async {
        let scene = scene(GatewayLimits::default());
        let context = RequestContext::from(CallContext::new().with_timeout(LONG));
        let first = context.call.deadline.unwrap();
        let Replies::Several(mut events) = scene.replies(QUERY, context).await else {
            panic!("it is a subscription");
        };
        for id in ["1", "2"] {
            scene.risen(id);
            assert_eq!(next(&mut events).await, risen(id));
        }
        let deadlines = scene.transport.deadlines.lock().unwrap().clone();
        let [Some(second), Some(third)] = deadlines[..] else {
            panic!("{deadlines:?}");
        };
        assert!(first < second && second < third);
    });
}

#[test]
fn an_event_that_takes_too_long_has_an_error_and_the_subscription_goes_on() {
    runtime().block_on(async {
        let mut time = Duration::from_millis(100);
        let (scene, mut events) = loop {
            let scene = scene(GatewayLimits::default());
            let context = RequestContext::from(CallContext::new().with_timeout(time));
            if let Replies::Several(events) = scene.replies(QUERY, context).await {
                break (scene, events);
            }
            // On a busy machine the time may be over before the subscription begins.
            assert!(time < PATIENCE, "it is a subscription");
            time *= 2;
        };
        let code = "DEADLINE_EXCEEDED";
        scene.risen("slow");
        let slow = next(&mut events).await;
        assert_eq!(slow["errors"][0]["extensions"]["code"], code);
        let begun = Instant::now();
        loop {
            scene.risen("6");
            let six = next(&mut events).await;
            if six == risen("6") {
                break;
            }
            // So may that of an event whose name is there at once.
            assert_eq!(six["errors"][0]["extensions"]["code"], code);
            assert!(begun.elapsed() < PATIENCE, "{six}");
        }
    });
}

#[test]
fn a_source_that_fails_ends_the_subscription_after_the_events_before() {
    runtime().block_on(async {
        let scene = scene(GatewayLimits::default());
        let mut events = scene.stream().await;
        scene.risen("1");
        let lost = TransportError::Protocol("it is lost");
        scene.events.unbounded_send(Err(lost)).unwrap();
        assert_eq!(next(&mut events).await, risen("1"));
        let expected = ("DOWNSTREAM_SERVICE_ERROR".to_owned(), json!(["up"]));
        assert_eq!(end(&mut events).await, expected);
        given_up(&scene).await;
    });
}

#[test]
fn a_client_that_does_not_keep_up_is_told_and_the_source_is_left() {
    runtime().block_on(async {
        let scene = scene(GatewayLimits::default().events(3));
        let mut events = scene.stream().await;
        for id in ["1", "2", "3", "4", "5"] {
            scene.risen(id);
        }
        given_up(&scene).await;
        for id in ["1", "2", "3"] {
            assert_eq!(next(&mut events).await, risen(id));
        }
        let expected = ("SUBSCRIPTION_OVERFLOW".to_owned(), json!(["up"]));
        assert_eq!(end(&mut events).await, expected);
    });
}

#[test]
fn an_event_that_is_too_large_ends_the_subscription_and_all_memory_is_given_back() {
    runtime().block_on(async {
        let budget = MemoryBudget::new(10 << 20);
        let scene = scene(GatewayLimits::default().event_bytes(200_000));
        let context = RequestContext::new().with_memory(Arc::new(budget.account()));
        let Replies::Several(mut events) = scene.replies(QUERY, context).await else {
            panic!("it is a subscription");
        };
        let long = |length| json!({"data": {"risen": null}, "extensions": "x".repeat(length)});
        for _ in 0..3 {
            scene.send(long(190_000));
        }
        scene.send(long(200_000));
        given_up(&scene).await;
        assert!(budget.held() > 3 * 150_000, "{}", budget.held());
        for _ in 0..3 {
            assert_eq!(next(&mut events).await, json!({"data": {"up": null}}));
        }
        let (code, _) = end(&mut events).await;
        assert_eq!(code, "DOWNSTREAM_SERVICE_ERROR");
        drop(events);
        assert_eq!(budget.held(), 0);
    });
}

#[test]
fn all_subscriptions_end_with_the_gateway_and_say_why() {
    for (ending, code) in [
        (Ending::SchemaReload, "SUBSCRIPTION_SCHEMA_RELOAD"),
        (Ending::Shutdown, "SUBSCRIPTION_SHUTDOWN"),
    ] {
        runtime().block_on(async {
            let scene = scene(GatewayLimits::default());
            let mut events = scene.stream().await;
            scene.gateway.end_subscriptions(ending);
            assert_eq!(end(&mut events).await, (code.to_owned(), Value::Null));
            given_up(&scene).await;
            let Replies::One(refused) = scene.replies(QUERY, RequestContext::new()).await else {
                panic!("no subscription may begin");
            };
            assert_eq!(value(refused)["errors"][0]["extensions"]["code"], code);
        });
    }
}

#[test]
fn a_subscription_ends_when_nobody_wants_its_events() {
    runtime().block_on(async {
        let first = scene(GatewayLimits::default());
        drop(first.stream().await);
        given_up(&first).await;
        let second = scene(GatewayLimits::default());
        let context = RequestContext::new();
        let cancellation = context.call.cancellation.clone();
        let replies = second.replies(QUERY, context).await;
        cancellation.cancel();
        given_up(&second).await;
        drop(replies);
    });
}

#[test]
fn the_number_of_open_subscriptions_is_bounded() {
    runtime().block_on(async {
        let scene = scene(GatewayLimits::default().subscriptions(1));
        let events = scene.stream().await;
        let Replies::One(refused) = scene.replies(QUERY, RequestContext::new()).await else {
            panic!("there is one already");
        };
        let refused = refused.into_response();
        assert_eq!(
            (refused.outcome, refused.status),
            (Outcome::Overloaded, 503)
        );
        assert!(format!("{:?}", refused.body).contains("SUBSCRIPTION_LIMIT"));
        drop(events);
        given_up(&scene).await;
        let Replies::One(reply) = scene.replies(QUERY, RequestContext::new()).await else {
            panic!("the source gives its events once");
        };
        let reply = value(reply);
        assert_eq!(
            reply["errors"][0]["extensions"]["code"],
            "DOWNSTREAM_SERVICE_ERROR"
        );
        assert_eq!(reply["errors"][0]["path"], json!(["up"]));
        assert_eq!(reply.get("data"), None);
    });
}

#[test]
fn one_reply_is_enough_where_there_can_be_no_events() {
    runtime().block_on(async {
        let scene = scene(GatewayLimits::default());
        let one = async |query: &str| match scene.replies(query, RequestContext::new()).await {
            Replies::One(reply) => value(reply),
            Replies::Several(_) => panic!("{query}"),
        };
        assert_eq!(
            one("{ __typename }").await,
            json!({"data": {"__typename": "Query"}})
        );
        let denied = one("subscription { secret }").await;
        assert_eq!(
            denied["errors"][0]["extensions"]["code"],
            "UNAUTHORIZED_FIELD_OR_TYPE"
        );
        let unknown = one("subscription { set }").await;
        assert_eq!(
            unknown["errors"][0]["extensions"]["code"],
            "GRAPHQL_VALIDATION_FAILED"
        );
        assert!(scene.transport.sent.lock().unwrap().is_empty());
        let reply = scene
            .gateway
            .reply(Request::new(QUERY), RequestContext::new());
        let refused = value(reply.await);
        assert_eq!(
            refused["errors"][0]["extensions"]["code"],
            "SUBSCRIPTION_NEEDS_STREAM"
        );
    });
}
