//! Equal requests in flight: which share, which never do, and what becomes of joiners when the leader goes away or fails.
//! Nothing here depends on time: a subgraph answers when the test lets it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use federation::compose::{ComposeOptions, SubgraphSource, compose};
use federation::exec::{Note, Notes};
use federation::supergraph::Subgraph;
use federation::transport::{SubgraphEvents, SubgraphSubscription};
use federation::{
    Gateway, GatewayOptions, Savings, SubgraphRequest, SubgraphTransport, Supergraph,
    TransportError,
};
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::channel::oneshot;
use futures::executor::block_on;
use futures::future::{join_all, poll_immediate};
use futures::{FutureExt, StreamExt, stream};
use graphql_service::{
    CallContext, Caller, Event, Forwarded, Introspection, MemoryBudget, Replies, Request,
    RequestContext, Response, Service,
};
use serde_json::{Map, Value as Json, json};

use crate::http::runtime;

const SHOP: &str = r#"
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])
    type Query { item(id: ID, first: Json): Item other: Item }
    type Mutation { buy: Item }
    type Subscription { sold: Item }
    scalar Json
    type Item @key(fields: "id") { id: ID! name: String }
"#;

const STOCK: &str = r#"
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])
    type Query { counted: Int }
    type Item @key(fields: "id") { id: ID! left: Int }
"#;

/// A request that a subgraph was sent, and waits for its answer.
struct Sent {
    subgraph: String,
    body: Json,
    context: RequestContext,
    answer: oneshot::Sender<Result<Bytes, TransportError>>,
}

impl Sent {
    fn answer(self, answer: Json) {
        // Nobody may wait for it any more.
        let _ = self.answer.send(Ok(answer.to_string().into()));
    }

    fn fail(self, error: TransportError) {
        let _ = self.answer.send(Err(error));
    }

    fn is_awaited(&self) -> bool {
        !self.answer.is_canceled()
    }
}

/// Subgraphs that answer when the test does.
struct Manual(UnboundedSender<Sent>);

#[async_trait]
impl SubgraphTransport for Manual {
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        context: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let (answer, answered) = oneshot::channel();
        let sent = Sent {
            subgraph: subgraph.name.clone(),
            body: serde_json::from_slice(&request.body).unwrap(),
            context: context.clone(),
            answer,
        };
        self.0.unbounded_send(sent).unwrap();
        answered.await.expect("a test that wants a panic")
    }

    async fn subscribe(
        &self,
        _subgraph: &Subgraph,
        subscription: SubgraphSubscription,
        _context: &RequestContext,
    ) -> Result<SubgraphEvents, TransportError> {
        let event = json!({ "data": { "sold": { "__typename": "Item", "id": "1" } } });
        let event = subscription.allowances.event(event.to_string().into());
        Ok(stream::iter([event]).boxed())
    }
}

#[derive(Debug, Default)]
struct Joined {
    subgraph_requests: AtomicUsize,
    client_requests: AtomicUsize,
}

impl Savings for Joined {
    fn subgraph_request(&self, _subgraph: &str) {
        self.subgraph_requests.fetch_add(1, Ordering::SeqCst);
    }

    fn entities(&self, _: &str, _: usize) {}

    fn client_request(&self) {
        self.client_requests.fetch_add(1, Ordering::SeqCst);
    }
}

/// What is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Nothing,
    SubgraphRequests,
    ClientRequests,
}

const LEVELS: [Level; 2] = [Level::SubgraphRequests, Level::ClientRequests];

/// A gateway with the requests that its subgraphs were sent.
struct World {
    gateway: Gateway,
    sent: UnboundedReceiver<Sent>,
    joined: Arc<Joined>,
    level: Level,
}

type Responding = Pin<Box<dyn Future<Output = Response> + Send>>;

impl World {
    fn new(level: Level) -> Self {
        let sources = [("shop", SHOP), ("stock", STOCK)].map(|(name, sdl)| SubgraphSource {
            name: name.to_owned(),
            url: String::new(),
            sdl: sdl.to_owned(),
        });
        let composed = compose(&sources, &ComposeOptions::default()).unwrap();
        let supergraph = Supergraph::parse(&composed.supergraph_sdl, "supergraph.graphql").unwrap();
        let (into, sent) = unbounded();
        let joined = Arc::new(Joined::default());
        let mut options = GatewayOptions::default();
        options.sharing.subgraph_requests = level == Level::SubgraphRequests;
        options.sharing.client_requests = level == Level::ClientRequests;
        options.savings = Some(Arc::clone(&joined) as _);
        let gateway = Gateway::new(Arc::new(supergraph), Arc::new(Manual(into)), options).unwrap();
        World {
            gateway,
            sent,
            joined,
            level,
        }
    }

    /// Begins to answer a request, as far as that goes without an answer of a subgraph.
    fn begin(&self, request: Request, context: RequestContext) -> Responding {
        // Only known documents are shared by clients.
        let _ = self.gateway.plan(&request, &context);
        let gateway = self.gateway.clone();
        let mut responding: Responding =
            Box::pin(async move { gateway.respond(request, context).await });
        assert!(block_on(poll_immediate(&mut responding)).is_none());
        responding
    }

    fn begin_query(&self, context: RequestContext) -> Responding {
        self.begin(Request::new(QUERY), context)
    }

    /// Returns the requests that subgraphs were sent since the last call.
    fn sent(&mut self) -> Vec<Sent> {
        std::iter::from_fn(|| self.sent.try_recv().ok()).collect()
    }

    fn only_sent(&mut self) -> Sent {
        let mut sent = self.sent();
        assert_eq!(sent.len(), 1);
        sent.remove(0)
    }

    /// Returns how many requests were answered by joining others.
    fn joined(&self) -> usize {
        match self.level {
            Level::ClientRequests => self.joined.client_requests.load(Ordering::SeqCst),
            _ => self.joined.subgraph_requests.load(Ordering::SeqCst),
        }
    }
}

const QUERY: &str = "{ item { name } }";

fn item(name: &str) -> Json {
    json!({ "data": { "item": { "name": name } } })
}

fn text(response: &Response) -> String {
    String::from_utf8(response.body.to_vec()).unwrap()
}

fn named(id: &str) -> RequestContext {
    RequestContext::from(CallContext::new().with_request_id(id))
}

fn connection() -> TransportError {
    TransportError::Connection("reset".into())
}

#[test]
fn equal_queries_are_sent_once_and_get_the_same_bytes() {
    for level in LEVELS {
        let mut world = World::new(level);
        let waiting: Vec<_> = (0..5).map(|_| world.begin_query(named("a"))).collect();
        world.only_sent().answer(item("Chair"));
        let responses = block_on(join_all(waiting));
        for response in responses {
            assert_eq!(text(&response), r#"{"data":{"item":{"name":"Chair"}}}"#);
        }
        assert_eq!(world.joined(), 4, "{level:?}");
        // What is finished is not joined.
        let later = world.begin_query(named("b"));
        world.only_sent().answer(item("Table"));
        assert!(text(&block_on(later)).contains("Table"));
        assert_eq!(world.joined(), 4, "{level:?}");
    }
}

#[test]
fn where_nothing_is_shared_each_is_sent() {
    let mut world = World::new(Level::Nothing);
    let waiting: Vec<_> = (0..3).map(|_| world.begin_query(named("a"))).collect();
    let sent = world.sent();
    assert_eq!(sent.len(), 3);
    sent.into_iter().for_each(|sent| sent.answer(item("Chair")));
    block_on(join_all(waiting));
    assert_eq!(world.joined(), 0);
}

/// A request with its context.
type Asked = (Request, RequestContext);

const WITH_VARIABLES: &str = "query A($id: ID, $first: Json) { item(id: $id, first: $first) { name } } query B { other { name } } \
     query C($id: ID, $first: Json) { item(id: $id, first: $first) { name } }";

const VARIABLES: &str = r#"{"id": "1", "first": {"a": 1, "b": 0.0}}"#;

fn request_with(variables: &str) -> Request {
    let request = Request::new(WITH_VARIABLES).with_operation_name("A");
    let limits = graphql_service::Limits::default();
    request
        .with_variables_from_json(variables, &limits)
        .unwrap()
}

fn ada() -> Caller {
    let claims = json!({ "sub": "ada", "tenant": 1 });
    let claims = claims.as_object().cloned().unwrap();
    Caller::with_roles(["Reader"])
        .with_name("ada")
        .with_claims(claims)
}

const HEADERS: [(&str, &str); 5] = [
    ("authorization", "Bearer a"),
    ("cookie", "c=1"),
    ("accept-language", "en"),
    ("x-tenant", "1"),
    ("baggage", "tenant=1"),
];

fn forwarded(headers: &[(&str, &str)]) -> Forwarded {
    Forwarded::new(headers.iter().copied())
}

fn asked() -> Asked {
    let mut request = request_with(VARIABLES);
    let extensions = json!({ "known": 1 });
    request = request.with_extensions(extensions.as_object().cloned().unwrap());
    let call = CallContext::new()
        .with_request_id("first")
        .with_accept_language(vec!["en".to_owned()]);
    let context = RequestContext::from(call)
        .with_caller(Arc::new(ada()))
        .with_forwarded(forwarded(&HEADERS));
    (request, context)
}

fn with_caller((request, context): Asked, change: impl FnOnce(&mut Caller)) -> Asked {
    let mut caller = ada();
    change(&mut caller);
    (request, context.with_caller(Arc::new(caller)))
}

fn with_header((request, context): Asked, position: usize, value: &'static str) -> Asked {
    let mut headers = HEADERS;
    headers[position].1 = value;
    (request, context.with_forwarded(forwarded(&headers)))
}

fn with_headers((request, context): Asked, more: &[(&'static str, &'static str)]) -> Asked {
    let headers = [&HEADERS[..], more].concat();
    (request, context.with_forwarded(forwarded(&headers)))
}

fn with_variables((request, context): Asked, variables: &str) -> Asked {
    let mut with = request_with(variables);
    with.extensions = request.extensions;
    (with, context)
}

fn with_extensions((request, context): Asked, extensions: &Json) -> Asked {
    let extensions: Map<String, Json> = extensions.as_object().cloned().unwrap();
    (request.with_extensions(extensions), context)
}

type Change = fn(Asked) -> Asked;

/// A difference, and whether a subgraph can see it.
struct Difference {
    what: &'static str,
    change: Change,
    is_sent: bool,
}

fn differences() -> Vec<Difference> {
    let sent: [(&str, Change); 24] = [
        ("nobody", |(request, mut context)| {
            context.caller = None;
            (request, context)
        }),
        ("name", |it| {
            with_caller(it, |caller| caller.name = Some("bob".to_owned()))
        }),
        ("role", |it| {
            with_caller(it, |caller| caller.roles = vec!["Editor".to_owned()])
        }),
        ("one more role", |it| {
            with_caller(it, |caller| caller.roles.push("Editor".to_owned()))
        }),
        ("superuser", |it| {
            with_caller(it, |caller| caller.superuser = true)
        }),
        ("claim", |it| {
            with_caller(it, |caller| caller.claims["tenant"] = json!(2))
        }),
        ("one more claim", |it| {
            with_caller(it, |caller| {
                _ = caller.claims.insert("a".to_owned(), json!(1))
            })
        }),
        ("authorization", |it| with_header(it, 0, "Bearer b")),
        ("cookie", |it| with_header(it, 1, "c=2")),
        ("accept-language", |it| with_header(it, 2, "de")),
        ("another header", |it| with_header(it, 3, "2")),
        ("baggage", |it| with_header(it, 4, "tenant=2")),
        ("one more header", |it| {
            with_headers(it, &[("x-other", "1")])
        }),
        ("a header twice", |it| {
            with_headers(it, &[("x-tenant", "1")])
        }),
        ("no headers", |(request, context)| {
            (request, context.with_forwarded(Forwarded::default()))
        }),
        ("languages", |(request, mut context)| {
            context.call.accept_language = vec!["de".to_owned()];
            (request, context)
        }),
        ("introspection", |(request, context)| {
            (request, context.with_introspection(Introspection::Refused))
        }),
        ("idempotency key", |(request, context)| {
            (request, context.with_idempotency_key("k"))
        }),
        ("what is awaited", |(request, context)| {
            (request, context.with_awaited("7".parse().unwrap()))
        }),
        ("a variable", |it| {
            with_variables(it, r#"{"id": "2", "first": {"a": 1, "b": 0.0}}"#)
        }),
        ("a variable less", |it| {
            with_variables(it, r#"{"first": {"a": 1, "b": 0.0}}"#)
        }),
        ("the order of members", |it| {
            with_variables(it, r#"{"id": "1", "first": {"b": 0.0, "a": 1}}"#)
        }),
        ("the digits of a number", |it| {
            with_variables(it, r#"{"id": "1", "first": {"a": 1, "b": 0.00}}"#)
        }),
        ("operation", |(request, context)| {
            let mut request = request.with_operation_name("B");
            request.variables = None;
            (request, context)
        }),
    ];
    let not_sent: [(&str, Change); 7] = [
        ("operation of another name", |(request, context)| {
            (request.with_operation_name("C"), context)
        }),
        ("text", |(mut request, context)| {
            request.query.push(' ');
            (request, context)
        }),
        ("the order of variables", |it| {
            with_variables(it, r#"{"first": {"a": 1, "b": 0.0}, "id": "1"}"#)
        }),
        ("a variable that nothing uses", |it| {
            with_variables(it, r#"{"id": "1", "first": {"a": 1, "b": 0.0}, "x": 1}"#)
        }),
        ("extensions", |it| {
            with_extensions(it, &json!({ "known": 2 }))
        }),
        ("one more extension", |it| {
            with_extensions(it, &json!({ "known": 1, "a": null }))
        }),
        ("no extensions", |(mut request, context)| {
            request.extensions = None;
            (request, context)
        }),
    ];
    let difference = |is_sent| {
        move |(what, change): &(&'static str, Change)| Difference {
            what,
            change: *change,
            is_sent,
        }
    };
    let sent = sent.iter().map(difference(true));
    let not_sent = not_sent.iter().map(difference(false));
    sent.chain(not_sent).collect()
}

/// Returns how many requests are sent for two that are asked at the same time.
fn sent_for(level: Level, first: Asked, second: Asked) -> usize {
    let mut world = World::new(level);
    let first = world.begin(first.0, first.1);
    let second = world.begin(second.0, second.1);
    let sent = world.sent();
    let count = sent.len();
    for sent in sent {
        let is_item = sent.body["query"].as_str().unwrap().contains("item");
        let answer = json!({ "data": { (if is_item { "item" } else { "other" }): null } });
        sent.answer(answer);
    }
    block_on(futures::future::join(first, second));
    assert_eq!(world.joined(), 2 - count);
    count
}

#[test]
fn requests_that_differ_in_a_single_thing_never_share() {
    for level in LEVELS {
        assert_eq!(sent_for(level, asked(), asked()), 1, "{level:?}");
        for difference in differences() {
            let other = || (difference.change)(asked());
            let matters = difference.is_sent || level == Level::ClientRequests;
            let expected = 1 + usize::from(matters);
            let what = difference.what;
            assert_eq!(
                sent_for(level, asked(), other()),
                expected,
                "{what} {level:?}"
            );
            assert_eq!(
                sent_for(level, other(), asked()),
                expected,
                "{what} {level:?}"
            );
        }
    }
}

#[test]
fn correlation_headers_make_no_difference() {
    let equal: [(&str, Change); 5] = [
        ("identifier", |(request, mut context)| {
            context.call.request_id = "second".to_owned();
            (request, context)
        }),
        ("X-Request-ID", |it| {
            with_headers(it, &[("X-Request-ID", "second")])
        }),
        ("traceparent", |it| {
            with_headers(it, &[("traceparent", "00-1-2-01")])
        }),
        ("tracestate", |it| {
            with_headers(it, &[("tracestate", "a=1")])
        }),
        ("memory", |(request, context)| {
            let budget = MemoryBudget::new(1 << 20);
            (request, context.with_memory(Arc::new(budget.account())))
        }),
    ];
    for level in LEVELS {
        for (what, change) in equal {
            assert_eq!(
                sent_for(level, asked(), change(asked())),
                1,
                "{what} {level:?}"
            );
        }
    }
}

#[test]
fn requests_that_wait_for_changes_of_data_are_not_shared() {
    let awaiting = || {
        let (request, context) = asked();
        (request, context.with_awaited("7".parse().unwrap()))
    };
    for level in LEVELS {
        assert_eq!(sent_for(level, awaiting(), awaiting()), 2, "{level:?}");
    }
}

#[test]
fn equal_texts_for_two_subgraphs_are_two_requests() {
    let mut world = World::new(Level::SubgraphRequests);
    let waiting = [
        world.begin(Request::new("{ __typename item { name } }"), named("a")),
        world.begin(Request::new("{ counted }"), named("a")),
    ];
    let mut subgraphs: Vec<String> = Vec::new();
    for sent in world.sent() {
        subgraphs.push(sent.subgraph.clone());
        sent.answer(json!({ "data": { "item": null, "counted": 3 } }));
    }
    assert_eq!(subgraphs, ["shop", "stock"]);
    block_on(join_all(waiting));
}

#[test]
fn joiners_take_over_from_a_leader_that_goes_away() {
    for level in LEVELS {
        let mut world = World::new(level);
        let leader = world.begin_query(named("leader"));
        let joiner = world.begin_query(named("joiner"));
        drop(leader);
        let third = world.begin_query(named("third"));
        drop(joiner);
        let sent = world.only_sent();
        assert!(sent.is_awaited() && !sent.context.call.cancellation.is_cancelled());
        sent.answer(item("Chair"));
        assert!(text(&block_on(third)).contains("Chair"), "{level:?}");
        assert!(world.sent().is_empty());
    }
}

#[test]
fn a_cancelled_leader_gets_no_answer_and_the_others_do() {
    for level in LEVELS {
        let mut world = World::new(level);
        let context = named("leader");
        let cancellation = context.call.cancellation.clone();
        let leader = world.begin_query(context);
        let joiner = world.begin_query(named("joiner"));
        cancellation.cancel();
        let leader = block_on(leader);
        assert!(text(&leader).contains("CANCELLED"), "{}", text(&leader));
        world.only_sent().answer(item("Chair"));
        assert!(text(&block_on(joiner)).contains("Chair"), "{level:?}");
    }
}

#[test]
fn a_request_that_all_have_left_is_given_up_and_not_joined() {
    for level in LEVELS {
        let mut world = World::new(level);
        drop([world.begin_query(named("a")), world.begin_query(named("b"))]);
        let given_up = world.only_sent();
        assert!(!given_up.is_awaited() && given_up.context.call.cancellation.is_cancelled());
        let later = world.begin_query(named("c"));
        world.only_sent().answer(item("Chair"));
        assert!(text(&block_on(later)).contains("Chair"), "{level:?}");
    }
}

#[test]
fn a_leader_that_is_not_polled_holds_nobody_up() {
    for level in LEVELS {
        let mut world = World::new(level);
        let _leader = world.begin_query(named("leader"));
        let joiners = [world.begin_query(named("a")), world.begin_query(named("b"))];
        world.only_sent().answer(item("Chair"));
        for response in block_on(join_all(joiners)) {
            assert!(text(&response).contains("Chair"), "{level:?}");
        }
    }
}

#[test]
fn each_waits_until_its_own_deadline() {
    for level in LEVELS {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut world = World::new(level);
            let within = |seconds| {
                let call = CallContext::new().with_timeout(Duration::from_secs(seconds));
                RequestContext::from(call)
            };
            world
                .gateway
                .plan(&Request::new(QUERY), &RequestContext::new())
                .unwrap();
            let respond = |context| {
                let gateway = world.gateway.clone();
                let responding = async move { gateway.respond(Request::new(QUERY), context).await };
                let mut responding = responding.boxed();
                assert!((&mut responding).now_or_never().is_none());
                responding
            };
            let (leader, joiner) = (respond(within(1_000)), respond(within(1_500)));
            // It would wait longer than the flight may last.
            let patient = respond(within(3_000));
            let leader = leader.await;
            assert!(
                text(&leader).contains("DEADLINE_EXCEEDED"),
                "{}",
                text(&leader)
            );
            let mut sent = world.sent();
            assert_eq!(sent.len(), 2, "{level:?}");
            let second = sent.pop().unwrap();
            assert!(sent[0].is_awaited());
            sent.pop().unwrap().answer(item("Chair"));
            assert!(text(&joiner.await).contains("Chair"), "{level:?}");
            second.answer(item("Table"));
            assert!(text(&patient.await).contains("Table"), "{level:?}");
            assert_eq!(world.joined(), 1);
        });
    }
}

#[test]
fn limits_of_the_leader_do_not_fail_its_joiners() {
    let errors: [fn() -> TransportError; 3] = [
        || TransportError::OutOfMemory,
        || TransportError::TooLargeTogether { limit: 7 },
        || TransportError::Deadline,
    ];
    for level in LEVELS {
        for error in errors {
            let is_of_gateway = matches!(error(), TransportError::TooLargeTogether { .. });
            if level == Level::ClientRequests && is_of_gateway {
                // The same operation has the same answers.
                continue;
            }
            let mut world = World::new(level);
            let leader = world.begin_query(named("leader"));
            let joiners = [world.begin_query(named("a")), world.begin_query(named("b"))];
            world.only_sent().fail(error());
            assert!(text(&block_on(leader)).contains("errors"));
            let mut joiners = join_all(joiners);
            assert!(block_on(poll_immediate(&mut joiners)).is_none());
            world.only_sent().answer(item("Chair"));
            for response in block_on(joiners) {
                assert_eq!(text(&response), r#"{"data":{"item":{"name":"Chair"}}}"#);
            }
            assert_eq!(world.joined(), 1);
        }
    }
}

#[test]
fn after_two_such_leaders_each_goes_on_by_itself() {
    for level in LEVELS {
        let mut world = World::new(level);
        let waiting: Vec<_> = (0..5).map(|_| world.begin_query(named("a"))).collect();
        let mut waiting = join_all(waiting);
        world.only_sent().fail(TransportError::OutOfMemory);
        assert!(block_on(poll_immediate(&mut waiting)).is_none());
        world.only_sent().fail(TransportError::OutOfMemory);
        assert!(block_on(poll_immediate(&mut waiting)).is_none());
        let rest = world.sent();
        assert_eq!(rest.len(), 3, "{level:?}");
        rest.into_iter().for_each(|sent| sent.answer(item("Chair")));
        let responses = block_on(waiting);
        let answered = responses.iter().filter(|it| text(it).contains("Chair"));
        assert_eq!(answered.count(), 3, "{level:?}");
        assert_eq!(world.joined(), 0);
    }
}

#[test]
fn only_a_joiner_without_memory_for_the_answer_is_refused() {
    for level in LEVELS {
        let mut world = World::new(level);
        let full = MemoryBudget::new(1 << 20);
        let other = full.account();
        other.grow((1 << 20) + (32 << 10)).unwrap();
        let leader = world.begin_query(named("leader"));
        let context = named("joiner").with_memory(Arc::new(full.account()));
        let joiner = world.begin_query(context);
        world.only_sent().answer(item(&"x".repeat(64 << 10)));
        assert!(text(&block_on(leader)).contains("xxx"));
        let refused = text(&block_on(joiner));
        assert!(
            refused.contains("OVERLOADED") && !refused.contains("xxx"),
            "{level:?}"
        );
    }
}

#[test]
fn memory_is_given_back_with_the_last_response() {
    for level in LEVELS {
        let mut world = World::new(level);
        let budget = MemoryBudget::new(64 << 20);
        let counted = || named("a").with_memory(Arc::new(budget.account()));
        let waiting: Vec<_> = (0..10)
            .map(|_| world.begin(Request::new("{ item { name a: name b: name } }"), counted()))
            .collect();
        world.only_sent().answer(item(&"x".repeat(256 << 10)));
        let responses = block_on(join_all(waiting));
        assert!(budget.held() >= 10 * (400 << 10), "{}", budget.held());
        let segments: Vec<*const u8> = responses
            .iter()
            .map(|response| response.body.segments()[1].as_ptr())
            .collect();
        let is_one = segments.iter().all(|segment| *segment == segments[0]);
        assert_eq!(
            is_one,
            level == Level::ClientRequests,
            "the text is not copied"
        );
        drop(responses);
        assert_eq!(budget.held(), 0, "{level:?}");
    }
}

#[test]
fn joiners_ask_once_more_together_where_an_exchange_fails_and_believe_the_second() {
    for level in LEVELS {
        for succeeds in [true, false] {
            let mut world = World::new(level);
            let leader = world.begin_query(named("leader"));
            let joiners: Vec<_> = (0..3).map(|_| world.begin_query(named("a"))).collect();
            world.only_sent().fail(connection());
            assert!(text(&block_on(leader)).contains("the connection failed"));
            let mut joiners = join_all(joiners);
            assert!(block_on(poll_immediate(&mut joiners)).is_none());
            let second = world.only_sent();
            if succeeds {
                second.answer(item("Chair"));
            } else {
                second.fail(TransportError::Status(503));
            }
            let expected = if succeeds {
                "Chair"
            } else {
                "the status is 503"
            };
            for response in block_on(joiners) {
                assert!(text(&response).contains(expected), "{level:?}");
            }
            assert!(world.sent().is_empty());
            assert_eq!(world.joined(), 2, "{level:?}");
        }
    }
}

#[test]
fn errors_of_a_subgraph_in_its_answer_are_those_of_all() {
    let mut world = World::new(Level::SubgraphRequests);
    let waiting = [world.begin_query(named("a")), world.begin_query(named("b"))];
    let errors = json!([{ "message": "sold out", "path": ["item"] }]);
    world
        .only_sent()
        .answer(json!({ "data": { "item": null }, "errors": errors }));
    for response in block_on(join_all(waiting)) {
        assert!(text(&response).contains("sold out"));
    }
    assert!(world.sent().is_empty());
}

#[test]
fn a_panic_is_that_of_the_leader_and_joiners_try_again() {
    for level in LEVELS {
        let mut world = World::new(level);
        let leader = world.begin_query(named("leader"));
        let mut joiner = world.begin_query(named("joiner"));
        drop(world.only_sent());
        let panicked = std::panic::AssertUnwindSafe(leader).catch_unwind();
        assert!(block_on(panicked).is_err());
        assert!(block_on(poll_immediate(&mut joiner)).is_none());
        world.only_sent().answer(item("Chair"));
        assert!(text(&block_on(joiner)).contains("Chair"), "{level:?}");
    }
}

#[test]
fn mutations_are_never_shared_nor_what_they_ask_for_afterwards() {
    for level in LEVELS {
        let mut world = World::new(level);
        let buy = || Request::new("mutation { buy { name left } }");
        let mut waiting = join_all([
            world.begin(buy(), named("a")),
            world.begin(buy(), named("b")),
        ]);
        let sent = world.sent();
        assert_eq!(sent.len(), 2, "{level:?}");
        let bought =
            json!({ "data": { "buy": { "__typename": "Item", "id": "1", "name": "Chair" } } });
        sent.into_iter()
            .for_each(|sent| sent.answer(bought.clone()));
        assert!(block_on(poll_immediate(&mut waiting)).is_none());
        let sent = world.sent();
        assert_eq!(sent.len(), 2, "{level:?}");
        for sent in sent {
            assert_eq!(sent.subgraph, "stock");
            sent.answer(json!({ "data": { "_entities": [{ "left": 3 }] } }));
        }
        for response in block_on(waiting) {
            let expected = r#"{"data":{"buy":{"name":"Chair","left":3}}}"#;
            assert_eq!(text(&response), expected);
        }
        assert_eq!(world.joined(), 0);
    }
}

#[test]
fn a_query_after_a_mutation_joins_no_flight_from_before_it() {
    for level in LEVELS {
        let mut world = World::new(level);
        let before = world.begin_query(named("before"));
        let old = world.only_sent();
        let buying = world.begin(Request::new("mutation { buy { name } }"), named("buys"));
        world
            .only_sent()
            .answer(json!({ "data": { "buy": { "name": "Chair" } } }));
        block_on(buying);
        let after = [
            world.begin_query(named("after")),
            world.begin_query(named("too")),
        ];
        let new = world.only_sent();
        old.answer(item("one left"));
        new.answer(item("none left"));
        assert!(text(&block_on(before)).contains("one left"));
        for after in block_on(join_all(after)) {
            assert!(text(&after).contains("none left"), "{level:?}");
        }
    }
}

#[test]
fn events_of_subscriptions_are_not_shared() {
    let runtime = runtime();
    runtime.block_on(async {
        let mut world = World::new(Level::SubgraphRequests);
        let subscribe = async || {
            let request = Request::new("subscription { sold { left } }");
            let replies = world.gateway.stream(request, named("a")).await;
            let Replies::Several(events) = replies else {
                panic!("{replies:?}");
            };
            events
        };
        let (first, second) = (subscribe().await, subscribe().await);
        let events = futures::future::join(first.into_future(), second.into_future());
        let answered = async {
            for _ in 0..2 {
                let sent = world.sent.next().await.unwrap();
                sent.answer(json!({ "data": { "_entities": [{ "left": 3 }] } }));
            }
        };
        let (((first, _), (second, _)), ()) = futures::future::join(events, answered).await;
        for event in [first, second] {
            assert!(matches!(event, Some(Event::Next(_))));
        }
        assert_eq!(world.joined(), 0);
    });
}

#[test]
fn freshness_and_sequences_reach_all_that_share_an_answer() {
    for level in LEVELS {
        let mut world = World::new(level);
        let contexts = [named("a"), named("b"), named("c")];
        let mut waiting: Vec<_> = contexts
            .iter()
            .map(|context| world.begin_query(context.clone()))
            .collect();
        // The leader need not be there any more.
        drop(waiting.remove(0));
        let sent = world.only_sent();
        sent.context.freshness.note(Some(Duration::from_secs(9)));
        sent.context.freshness.make_private();
        sent.context.sequences.note([17]);
        sent.answer(item("Chair"));
        block_on(join_all(waiting));
        for context in &contexts[1..] {
            let kept = context.freshness.kept_for(Duration::ZERO);
            assert_eq!(kept, Some(Duration::from_secs(9)), "{level:?}");
            assert!(context.freshness.is_private());
            assert_eq!(context.sequences.written().to_string(), "17");
        }
        assert_eq!(contexts[0].freshness.kept_for(Duration::ZERO), None);
    }
}

#[test]
fn a_thousand_joiners_cost_one_request() {
    for level in LEVELS {
        let mut world = World::new(level);
        let waiting: Vec<_> = (0..1_001)
            .map(|number| world.begin_query(named(&number.to_string())))
            .collect();
        world.only_sent().answer(item("Chair"));
        let responses = block_on(join_all(waiting));
        let expected = r#"{"data":{"item":{"name":"Chair"}}}"#;
        assert!(responses.iter().all(|response| text(response) == expected));
        assert_eq!(world.joined(), 1_000, "{level:?}");
    }
}

#[test]
fn many_callers_with_the_same_query_get_each_their_own_answer() {
    for level in LEVELS {
        let mut world = World::new(level);
        let caller = |number: usize| {
            let token = format!("Bearer {number}");
            named("a").with_forwarded(Forwarded::new([("authorization", token)]))
        };
        let waiting: Vec<_> = (0..300)
            .map(|number| world.begin_query(caller(number % 100)))
            .collect();
        let sent = world.sent();
        assert_eq!(sent.len(), 100, "{level:?}");
        for sent in sent {
            let token = sent.context.forwarded.iter().next().unwrap().1.to_owned();
            sent.answer(item(&token));
        }
        for (number, response) in block_on(join_all(waiting)).iter().enumerate() {
            let expected = item(&format!("Bearer {}", number % 100));
            assert_eq!(text(response), expected.to_string());
        }
    }
}

#[test]
fn an_explained_request_says_which_one_it_has_joined() {
    let mut world = World::new(Level::SubgraphRequests);
    let leader = world.begin_query(named("leader"));
    let notes = Arc::new(Notes::default());
    let gateway = world.gateway.clone();
    let explained = gateway.reply_with_notes(Request::new(QUERY), named("x"), Arc::clone(&notes));
    let mut explained = Box::pin(explained);
    assert!(block_on(poll_immediate(&mut explained)).is_none());
    world.only_sent().answer(item("Chair"));
    block_on(futures::future::join(leader, explained));
    let joined = Note::Joined {
        request: 0,
        leader: "leader".to_owned(),
    };
    assert_eq!(
        joined.to_string(),
        r#"0: joined an equal request in flight, sent for "leader""#
    );
    assert_eq!(notes.all(), [joined]);
}

#[test]
fn an_explained_request_is_executed_for_itself() {
    let mut world = World::new(Level::ClientRequests);
    let leader = world.begin_query(named("leader"));
    let notes = Arc::new(Notes::default());
    let gateway = world.gateway.clone();
    let explained = gateway.reply_with_notes(Request::new(QUERY), named("x"), Arc::clone(&notes));
    let mut explained = Box::pin(explained);
    assert!(block_on(poll_immediate(&mut explained)).is_none());
    let sent = world.sent();
    assert_eq!(sent.len(), 2);
    sent.into_iter().for_each(|sent| sent.answer(item("Chair")));
    block_on(futures::future::join(leader, explained));
    assert_eq!(notes.all(), []);
}

#[test]
fn an_unknown_document_is_executed_before_it_is_shared() {
    let mut world = World::new(Level::ClientRequests);
    let gateway = world.gateway.clone();
    let respond = || {
        let gateway = gateway.clone();
        async move { gateway.respond(Request::new(QUERY), named("a")).await }.boxed()
    };
    let mut waiting = join_all([respond(), respond(), respond()]);
    assert!(block_on(poll_immediate(&mut waiting)).is_none());
    // The second one finds the document of the first, which shares with nobody.
    let sent = world.sent();
    assert_eq!(sent.len(), 2);
    sent.into_iter().for_each(|sent| sent.answer(item("Chair")));
    block_on(waiting);
    assert_eq!(world.joined(), 1);
}
