//! What requests may see under `@authenticated`, `@requiresScopes` and `@policy`.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use federation::{
    Authorizer, CallerClaims, Gateway, GatewayOptions, Grants, InProcess, Supergraph, code,
};
use graphql_service::{CallContext, Caller, Request, RequestContext, Service};
use serde_json::{Value as Json, json};

pub(crate) const SDL: &str = r#"schema
  @link(url: "https://specs.apollo.dev/link/v1.0")
  @link(url: "https://specs.apollo.dev/join/v0.5", for: EXECUTION)
  @link(url: "https://specs.apollo.dev/authenticated/v0.1", for: SECURITY)
  @link(url: "https://specs.apollo.dev/requiresScopes/v0.1", for: SECURITY)
  @link(url: "https://specs.apollo.dev/policy/v0.1", for: SECURITY)
{ query: Query mutation: Mutation }
directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
directive @authenticated on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM
directive @requiresScopes(scopes: [[requiresScopes__Scope!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM
directive @policy(policies: [[policy__Policy!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM
directive @join__graph(name: String!, url: String!) on ENUM_VALUE
directive @join__type(graph: join__Graph!, key: String) repeatable on OBJECT | INTERFACE | UNION | SCALAR
directive @join__field(graph: join__Graph, requires: String, external: Boolean) repeatable on FIELD_DEFINITION
directive @join__implements(graph: join__Graph!, interface: String!) repeatable on OBJECT
directive @join__unionMember(graph: join__Graph!, member: String!) repeatable on UNION
scalar link__Import
scalar requiresScopes__Scope
scalar policy__Policy
enum link__Purpose { SECURITY EXECUTION }
enum join__Graph { A @join__graph(name: "a", url: "") B @join__graph(name: "b", url: "") }
type Query @join__type(graph: A) @join__type(graph: B) {
  me: User @join__field(graph: A)
  users: [User!]! @join__field(graph: A)
  nodes: [Node] @join__field(graph: A)
  hits: [Hit] @join__field(graph: A)
  report: Report @join__field(graph: A)
  nobody: Int @join__field(graph: A) @requiresScopes(scopes: [])
  everybody: Int @join__field(graph: A) @requiresScopes(scopes: [[]])
  never: Int @join__field(graph: A) @policy(policies: [])
}
type Mutation @join__type(graph: A) {
  drop: Int @join__field(graph: A) @requiresScopes(scopes: [["admin"]])
  ping: Int @join__field(graph: A)
}
interface Node @join__type(graph: A) {
  id: ID!
  label: String @authenticated
}
union Hit @join__type(graph: A) @join__unionMember(graph: A, member: "User") @join__unionMember(graph: A, member: "Secret") = User | Secret
type User implements Node @join__implements(graph: A, interface: "Node")
  @join__type(graph: A, key: "id") @join__type(graph: B, key: "id") {
  id: ID!
  label: String @join__field(graph: A)
  email: String @join__field(graph: B) @requiresScopes(scopes: [["read:email", "read:user"], ["admin"]])
  age: Int! @join__field(graph: B) @authenticated
  salary: Money @join__field(graph: B)
  tax: Int @join__field(graph: A, requires: "grade")
  grade: Int @join__field(graph: A, external: true) @join__field(graph: B) @policy(policies: [["hr"]])
}
type Secret implements Node @join__implements(graph: A, interface: "Node") @join__type(graph: A) @requiresScopes(scopes: [["secret"]]) {
  id: ID!
  label: String
}
type Report @join__type(graph: A) @policy(policies: [["hr", "boss"], ["audit"]]) { text: String }
scalar Money @join__type(graph: A) @join__type(graph: B) @policy(policies: [["hr"]])
"#;

/// Grants what it is told to.
#[derive(Debug)]
struct Fixed(Grants);

#[async_trait]
impl Authorizer for Fixed {
    async fn grants(&self, _: &RequestContext, policies: &[&str]) -> Grants {
        assert_eq!(policies, ["audit", "boss", "hr"]);
        self.0.clone()
    }
}

/// Answers of the gateway, and what the subgraphs were asked.
struct Outcome {
    data: Json,
    /// Paths and messages.
    errors: Vec<(Json, String)>,
    asked: Vec<String>,
}

fn subgraphs(log: &Arc<Mutex<Vec<String>>>) -> InProcess {
    let a = json!({ "data": {
        "me": { "__typename": "User", "id": "1", "label": "Ada", "tax": 5 },
        "users": [{ "__typename": "User", "id": "1", "label": "Ada" }, { "__typename": "User", "id": "2", "label": "Bo" }],
        "nodes": [{ "__typename": "User", "id": "1", "label": "Ada" }, { "__typename": "Secret", "id": "s", "label": "S" }],
        "hits": [{ "__typename": "Secret", "id": "s", "label": "S" }],
        "report": { "text": "all" }, "nobody": 1, "everybody": 2, "never": 3, "drop": 4, "ping": 5,
        "_entities": [{ "tax": 5 }],
    } });
    let one = json!({ "email": "e@example.org", "age": 36, "salary": 9, "grade": 3 });
    let (first, second) = (Arc::clone(log), Arc::clone(log));
    InProcess::new()
        .with_function("a", move |request| {
            first.lock().unwrap().push(format!("a {}", request.query));
            a.clone()
        })
        .with_function("b", move |request| {
            second.lock().unwrap().push(format!("b {}", request.query));
            let variables = serde_json::to_value(&request.variables).unwrap();
            let count = variables["representations"].as_array().unwrap().len();
            json!({ "data": { "_entities": vec![one.clone(); count] } })
        })
}

fn gateway(log: &Arc<Mutex<Vec<String>>>, authorizer: Arc<dyn Authorizer>) -> Gateway {
    let supergraph = Supergraph::parse(SDL, "supergraph.graphql").unwrap();
    let mut options = GatewayOptions::default();
    options.authorizer = Some(authorizer);
    Gateway::new(Arc::new(supergraph), Arc::new(subgraphs(log)), options).unwrap()
}

fn respond(gateway: &Gateway, context: RequestContext, query: &str) -> Json {
    let response = futures::executor::block_on(gateway.respond(Request::new(query), context));
    serde_json::from_slice(&response.body.to_bytes()).unwrap()
}

fn ask(grants: Grants, query: &str) -> Outcome {
    let log = Arc::default();
    let gateway = gateway(&log, Arc::new(Fixed(grants)));
    let answer = respond(&gateway, RequestContext::new(), query);
    let errors = answer["errors"].as_array().into_iter().flatten();
    let errors = errors.map(|error| {
        assert_eq!(error["extensions"]["code"], "UNAUTHORIZED_FIELD_OR_TYPE");
        let message = error["message"].as_str().unwrap().to_owned();
        (error["path"].clone(), message)
    });
    Outcome {
        errors: errors.collect(),
        asked: log.lock().unwrap().clone(),
        data: answer["data"].clone(),
    }
}

fn paths(outcome: &Outcome) -> Vec<String> {
    let paths = outcome.errors.iter();
    paths.map(|(path, _)| path.to_string()).collect()
}

#[test]
fn a_field_that_is_not_allowed_is_null_with_an_error_and_is_not_fetched() {
    let denied = ask(Grants::nothing(), "{ me { id mail: email } }");
    assert_eq!(denied.data, json!({ "me": { "id": "1", "mail": null } }));
    assert_eq!(
        denied.errors,
        [(
            json!(["me", "mail"]),
            "the request may not see `User.email`".to_owned()
        )]
    );
    assert_eq!(denied.asked, ["a query { me { id } }"]);
}

#[test]
fn of_scopes_one_list_is_enough_and_all_of_a_list_are_needed() {
    let query = "{ me { email } }";
    let sees = |scopes: &[&str]| {
        let scopes = scopes.iter().copied();
        let outcome = ask(Grants::nothing().with_scopes(scopes), query);
        assert_eq!(outcome.errors.is_empty(), outcome.asked.len() == 2);
        outcome.errors.is_empty()
    };
    assert!(sees(&["admin"]));
    assert!(sees(&["read:user", "read:email", "other"]));
    assert!(!sees(&["read:email"]));
    assert!(!sees(&["read:email read:user"]));
    assert!(!sees(&[]));
}

#[test]
fn an_empty_inner_list_allows_everybody_and_an_empty_outer_list_nobody() {
    let outcome = ask(
        Grants::nothing().authenticated(),
        "{ everybody nobody never }",
    );
    let expected = json!({ "everybody": 2, "nobody": null, "never": null });
    assert_eq!(outcome.data, expected);
    assert_eq!(paths(&outcome), [r#"["nobody"]"#, r#"["never"]"#]);
    let all = ask(Grants::everything(), "{ nobody never }");
    assert_eq!(all.data, json!({ "nobody": 1, "never": 3 }));
}

/// Answers a field of which the given directives are said, and one of whose type they are; tells whether the request
/// may see each.
fn sees(directives: &str, grants: &Grants) -> (bool, bool) {
    let from = SDL.find("type Query").unwrap();
    let types = format!(
        "type Query @join__type(graph: A) {{ field: Int {directives} typed: Typed }}
        type Typed @join__type(graph: A) {directives} {{ x: Int }}"
    );
    let sdl = SDL[..from].replace(" mutation: Mutation", "") + &types;
    let supergraph = Supergraph::parse(&sdl, "supergraph.graphql").unwrap();
    let answer = json!({ "data": { "field": 1, "typed": { "x": 1 } } });
    let transport = InProcess::new().with_function("a", move |_| answer.clone());
    let mut options = GatewayOptions::default();
    options.authorizer = Some(Arc::new(Any(grants.clone())));
    let gateway = Gateway::new(Arc::new(supergraph), Arc::new(transport), options).unwrap();
    let answer = respond(&gateway, RequestContext::new(), "{ field typed { x } }");
    let (field, typed) = (&answer["data"]["field"], &answer["data"]["typed"]);
    let errors = answer["errors"].as_array().map_or(0, Vec::len);
    assert_eq!(
        errors,
        usize::from(field.is_null()) + usize::from(typed.is_null())
    );
    (!field.is_null(), !typed.is_null())
}

/// Grants the same, whatever is asked for.
#[derive(Debug)]
struct Any(Grants);

#[async_trait]
impl Authorizer for Any {
    async fn grants(&self, _: &RequestContext, _: &[&str]) -> Grants {
        self.0.clone()
    }
}

#[test]
fn lists_without_lists_and_without_names_mean_what_the_page_says() {
    let nobody = Grants::nothing();
    let known = Grants::nothing().authenticated();
    let has = known.clone().with_scopes(["a"]).with_policies(["a"]);
    let all = Grants::everything();
    for (directive, argument) in [("requiresScopes", "scopes"), ("policy", "policies")] {
        for (lists, expected) in [
            // Nobody who is known, somebody who is, who has it, and who has everything.
            (r#"[["a"]]"#, [false, false, true, true]),
            ("[[]]", [true, true, true, true]),
            (r#"[["a"], []]"#, [true, true, true, true]),
            (r#"[[], ["a"]]"#, [true, true, true, true]),
            (r#"[["a", "b"], ["a"]]"#, [false, false, true, true]),
            (r#"[["a", "b"]]"#, [false, false, false, true]),
            ("[]", [false, false, false, true]),
            // As in GraphQL, one value stands for a list of it.
            (r#"["a"]"#, [false, false, true, true]),
            (r#""a""#, [false, false, true, true]),
        ] {
            let said = format!("@{directive}({argument}: {lists})");
            for (grants, expected) in [&nobody, &known, &has, &all].into_iter().zip(expected) {
                assert_eq!(
                    sees(&said, grants),
                    (expected, expected),
                    "{said} {grants:?}"
                );
            }
        }
    }
}

#[test]
fn a_list_that_asks_for_nothing_takes_nothing_away_from_other_directives() {
    let said = r#"@authenticated @requiresScopes(scopes: [[]]) @policy(policies: [["a"]])"#;
    let known = Grants::nothing().authenticated();
    assert_eq!(
        sees(said, &Grants::nothing().with_policies(["a"])),
        (false, false)
    );
    assert_eq!(sees(said, &known), (false, false));
    assert_eq!(
        sees(said, &known.clone().with_policies(["a"])),
        (true, true)
    );
    let never = r#"@requiresScopes(scopes: [["a"]]) @policy(policies: [])"#;
    assert_eq!(sees(never, &known.with_scopes(["a"])), (false, false));
}

#[test]
fn what_a_type_requires_holds_for_each_field_that_returns_it() {
    let query = "{ report { text } me { salary } }";
    let outcome = ask(Grants::nothing().with_policies(["boss"]), query);
    assert_eq!(
        outcome.data,
        json!({ "report": null, "me": { "salary": null } })
    );
    assert_eq!(paths(&outcome), [r#"["report"]"#, r#"["me","salary"]"#]);
    let hr = ask(Grants::nothing().with_policies(["boss", "hr"]), query);
    assert_eq!(
        hr.data,
        json!({ "report": { "text": "all" }, "me": { "salary": 9 } })
    );
}

#[test]
fn the_null_of_a_non_null_field_propagates_with_one_error() {
    let outcome = ask(Grants::nothing(), "{ users { id age } }");
    assert_eq!(outcome.data, Json::Null);
    assert_eq!(paths(&outcome), [r#"["users",0,"age"]"#]);
    let known = ask(Grants::nothing().authenticated(), "{ users { id age } }");
    assert_eq!(
        known.data,
        json!({ "users": [{ "id": "1", "age": 36 }, { "id": "2", "age": 36 }] })
    );
}

#[test]
fn a_list_keeps_its_length_where_nothing_of_its_objects_may_be_seen() {
    let outcome = ask(Grants::nothing(), "{ users { email } }");
    let expected = json!({ "users": [{ "email": null }, { "email": null }] });
    assert_eq!(outcome.data, expected);
    let expected = [r#"["users",0,"email"]"#, r#"["users",1,"email"]"#];
    assert_eq!(paths(&outcome), expected);
    assert_eq!(outcome.asked, ["a query { users { __typename } }"]);
}

#[test]
fn of_abstract_types_each_object_is_seen_as_its_type_says() {
    let query = "{ nodes { __typename id } hits { ... on Secret { label } } }";
    let outcome = ask(Grants::nothing(), query);
    // `Secret.id` is not nullable, so the object is null; its type may be known.
    let expected = json!({
        "nodes": [{ "__typename": "User", "id": "1" }, null],
        "hits": [{ "label": null }],
    });
    assert_eq!(outcome.data, expected);
    assert_eq!(
        paths(&outcome),
        [r#"["nodes",1,"id"]"#, r#"["hits",0,"label"]"#]
    );
    let allowed = ask(Grants::nothing().with_scopes(["secret"]), query);
    assert_eq!(allowed.errors, []);
}

#[test]
fn what_an_interface_requires_holds_for_what_is_selected_of_it() {
    let of_interface = ask(Grants::nothing(), "{ nodes { ... on User { id } label } }");
    let expected = json!({ "nodes": [{ "id": "1", "label": null }, { "label": null }] });
    assert_eq!(of_interface.data, expected);
    let of_type = ask(
        Grants::nothing(),
        "{ nodes { ...f } me { label } } fragment f on User { label }",
    );
    let expected = json!({ "nodes": [{ "label": "Ada" }, {}], "me": { "label": "Ada" } });
    assert_eq!(of_type.data, expected);
    assert_eq!(of_type.errors, []);
}

#[test]
fn what_only_the_gateway_reads_is_not_asked_of_the_client() {
    // The field that requires `grade` says itself who may see it, as composition checks.
    let outcome = ask(Grants::nothing(), "{ me { tax } }");
    assert_eq!(outcome.data, json!({ "me": { "tax": 5 } }));
    assert_eq!(outcome.errors, []);
    assert!(outcome.asked[1].contains("grade"), "{:?}", outcome.asked);
}

#[test]
fn a_mutation_that_is_not_allowed_is_not_carried_out() {
    let outcome = ask(Grants::nothing(), "mutation { drop ping }");
    assert_eq!(outcome.data, json!({ "drop": null, "ping": 5 }));
    assert_eq!(outcome.asked, ["a mutation { ping }"]);
}

#[test]
fn requests_that_may_see_different_things_have_different_plans() {
    #[derive(Debug)]
    struct ByName;
    #[async_trait]
    impl Authorizer for ByName {
        async fn grants(&self, context: &RequestContext, _: &[&str]) -> Grants {
            match context.call.request_id.as_str() {
                "admin" => Grants::nothing().with_scopes(["admin"]),
                _ => Grants::nothing(),
            }
        }
    }
    let log = Arc::default();
    let gateway = gateway(&log, Arc::new(ByName));
    for (name, email) in [
        ("admin", json!("e@example.org")),
        ("other", Json::Null),
        ("admin", json!("e@example.org")),
        ("other", Json::Null),
    ] {
        let context = RequestContext::from(CallContext::new().with_request_id(name));
        let answer = respond(&gateway, context, "{ me { email } }");
        assert_eq!(answer["data"]["me"]["email"], email, "{name}");
    }
}

#[test]
fn claims_of_the_caller_say_what_a_request_has() {
    let grants = |caller: Option<Caller>| {
        let context = match caller {
            Some(caller) => RequestContext::new().with_caller(Arc::new(caller)),
            None => RequestContext::new(),
        };
        futures::executor::block_on(CallerClaims::default().grants(&context, &[]))
    };
    let claims = |json: Json| {
        let text = json.to_string();
        Caller::with_roles(["hr"]).with_claims(serde_json::from_str(&text).unwrap())
    };
    assert_eq!(grants(None), Grants::nothing());
    assert_eq!(grants(Some(Caller::superuser())), Grants::everything());
    let known = Grants::nothing().authenticated().with_policies(["hr"]);
    assert_eq!(grants(Some(claims(json!({})))), known);
    let both = known.clone().with_scopes(["a", "b"]);
    assert_eq!(grants(Some(claims(json!({ "scope": "a b" })))), both);
    assert_eq!(grants(Some(claims(json!({ "scp": ["a", "b"] })))), both);
    assert_eq!(grants(Some(claims(json!({ "scope": 7 })))), known);
}

#[test]
fn without_an_authorizer_a_supergraph_with_requirements_is_refused() {
    let supergraph = Arc::new(Supergraph::parse(SDL, "supergraph.graphql").unwrap());
    let transport = Arc::new(InProcess::new());
    let refused = Gateway::new(supergraph, transport, GatewayOptions::default());
    let error = refused.err().unwrap();
    assert_eq!(error.code, code::AUTHORIZER_MISSING);
    assert!(error.message.contains("`Query.nobody`"), "{error}");
    assert!(error.location.is_some());
}
