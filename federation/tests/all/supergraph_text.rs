//! A gateway of the text of a supergraph: served where the text says, or refused with a code, a place and what helps.

use std::sync::Arc;

use federation::compose::{ComposeOptions, SubgraphSource, compose};
use federation::transport::http::{HttpOptionsError, HttpTransport};
use federation::{Gateway, GatewayOptions, Supergraph, SupergraphError, code};
use graphql_service::{Request, RequestContext, Service};

use crate::http::{options, runtime};
use crate::sockets::{Behaviour, Server, answer};

fn subgraph(name: &str, url: String, sdl: &str) -> SubgraphSource {
    SubgraphSource {
        name: name.to_owned(),
        url,
        sdl: sdl.to_owned(),
    }
}

#[test]
fn subgraphs_are_asked_at_the_addresses_that_the_text_has() {
    let served = |body: &str| {
        Server::start(Behaviour::Answers(answer(
            "200 OK",
            "application/json",
            body,
        )))
    };
    let users = served(r#"{"data":{"me":{"__typename":"User","id":"1","name":"Ada"}}}"#);
    let posts = served(r#"{"data":{"_entities":[{"posts":["One"]}]}}"#);
    let subgraphs = [
        subgraph(
            "users",
            users.url(),
            r#"type Query { me: User } type User @key(fields: "id") { id: ID! name: String }"#,
        ),
        subgraph(
            "posts",
            posts.url(),
            r#"extend type User @key(fields: "id") { id: ID! @external posts: [String!] }"#,
        ),
    ];
    let text = compose(&subgraphs, &ComposeOptions::default()).unwrap();
    let supergraph = Supergraph::parse(&text.supergraph_sdl, "supergraph.graphql").unwrap();
    let transport = HttpTransport::of(&supergraph, options()).unwrap();
    let gateway = Gateway::new(
        Arc::new(supergraph),
        Arc::new(transport),
        GatewayOptions::default(),
    );
    let request = Request::new("{ me { name posts } }");
    let response = gateway.unwrap();
    let response = runtime().block_on(response.respond(request, RequestContext::new()));
    assert_eq!(
        response.body.to_bytes(),
        r#"{"data":{"me":{"name":"Ada","posts":["One"]}}}"#
    );
}

/// Composition does without addresses; who asks over HTTP needs them, and is told which one is missing.
#[test]
fn a_subgraph_without_an_address_is_named() {
    let subgraphs = [
        subgraph("a", "http://a".to_owned(), "type Query { a: Int }"),
        subgraph("b", String::new(), "type Query { b: Int }"),
    ];
    let text = compose(&subgraphs, &ComposeOptions::default()).unwrap();
    let supergraph = Supergraph::parse(&text.supergraph_sdl, "supergraph.graphql").unwrap();
    let error = HttpTransport::of(&supergraph, options()).err();
    assert!(matches!(error, Some(HttpOptionsError::Address(name)) if name == "b"));
}

fn refused(sdl: &str) -> SupergraphError {
    let errors = Supergraph::parse(sdl, "supergraph.graphql");
    errors.expect_err("an error").remove(0)
}

const CORE: &str = r#"
schema
  @core(feature: "https://specs.apollo.dev/core/v0.1")
  @core(feature: "https://specs.apollo.dev/join/v0.1")
{ query: Query }
directive @core(feature: String!) repeatable on SCHEMA
directive @join__field(graph: join__Graph) on FIELD_DEFINITION
directive @join__graph(name: String!, url: String!) on ENUM_VALUE
enum join__Graph { A @join__graph(name: "a", url: "http://a") }
type Query { a: Int @join__field(graph: A) }
"#;

#[test]
fn a_text_that_is_no_supergraph_of_today_is_refused_with_a_place_and_what_helps() {
    let old = refused(CORE);
    assert_eq!(old.code, code::UNSUPPORTED_FEATURE);
    assert!(old.message.contains("join v0.1"), "{old}");
    assert_eq!(old.location.map(|at| at.line), Some(4));
    assert!(old.help.is_some_and(|help| help.contains("federation 2")));
    let newer = refused(&CORE.replace("join/v0.1", "join/v9.0"));
    assert!(newer.message.contains("v9.0") && newer.help.is_some());
    let subgraph = refused("schema { query: Query }\ntype Query { a: Int }");
    assert_eq!(subgraph.code, code::INVALID_FEDERATION_SUPERGRAPH);
    assert_eq!(subgraph.location.map(|at| at.line), Some(1));
    assert!(subgraph.help.is_some_and(|help| help.contains("compose")));
    let broken = refused("type Query {\n  a: Nothing\n}");
    assert_eq!(broken.location.map(|at| at.line), Some(2), "{broken}");
}

/// Reading a type has a call for each list, and what is provided below an interface is the same for each of its types.
#[test]
fn a_hostile_text_neither_fills_the_stack_nor_takes_long() {
    let lists = |count: usize| format!("{}Int{}", "[".repeat(count), "]".repeat(count));
    let sdl = |types: &str| {
        format!(
            r#"schema @link(url: "https://specs.apollo.dev/join/v0.3", for: EXECUTION) {{ query: Query }}
            directive @link(url: String, for: link__Purpose) repeatable on SCHEMA
            directive @join__graph(name: String!, url: String!) on ENUM_VALUE
            directive @join__type(graph: join__Graph!, key: String) repeatable on OBJECT | INTERFACE
            directive @join__field(graph: join__Graph, type: String, provides: String) repeatable on FIELD_DEFINITION
            enum link__Purpose {{ SECURITY EXECUTION }}
            enum join__Graph {{ A @join__graph(name: "a", url: "http://a") }}
            {types}"#
        )
    };
    let nested = format!(
        "type Query @join__type(graph: A) {{\n a: Int @join__field(graph: A, type: \"{}\")\n}}",
        lists(1_000_000)
    );
    let error = refused(&sdl(&nested));
    assert_eq!(error.location.map(|at| at.line), Some(9));
    let depth = 40;
    let provided = format!("{}x{}", "i { ".repeat(depth), " }".repeat(depth));
    let mut types = format!(
        "type Query @join__type(graph: A) {{ i: I @join__field(graph: A, provides: \"{provided}\") }}
        interface I @join__type(graph: A) {{ x: Int i: I }}"
    );
    for number in 0..20 {
        types.push_str(&format!(
            "\ntype T{number} implements I @join__type(graph: A) {{ x: Int i: I }}"
        ));
    }
    assert!(Supergraph::parse(&sdl(&types), "supergraph.graphql").is_ok());
}

#[test]
fn nothing_is_composed_of_no_subgraphs() {
    let errors = compose(&[], &ComposeOptions::default()).expect_err("an error");
    assert_eq!(errors[0].code.as_str(), "NO_QUERIES");
}
