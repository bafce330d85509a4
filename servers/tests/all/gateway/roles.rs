//! What callers with roles see through the gateway is what the object service shows them, and they are told the
//! same of what is missing.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::process::Gateway;
use super::soml::{Soml, log_in, send};
use super::subgraph::{Said, Subgraph};

const SCHEMA: &str = r#"
id: /soml/films
prefixes: {ex: "https://example.org/"}
config: {enableCollectionCount: true, enableTypeCount: true, enableAggregates: true, enableConnections: true}
objects:
  Character:
    kind: abstract
    name: ex:name
    props:
      mass: {rdfProp: ex:mass, range: int, nonNullable: true}
      film: {rdfProp: ex:film, range: Film, max: inf, nonNullable: true, nonNullableElements: true}
  Human: {inherits: Character, type: ex:Human, props: {height: {rdfProp: ex:height, range: int, nonNullable: true}}}
  Droid: {inherits: Character, type: ex:Droid}
  Film:
    type: ex:Film
    name: ex:name
    props:
      secret: {rdfProp: ex:secret, range: string, nonNullable: true}
      year: {rdfProp: ex:year, range: int, nonNullable: true}
      cast: {range: Character, inverseAlias: film, max: inf, nonNullable: true, nonNullableElements: true}
      ship: {rdfProp: ex:ship, range: Ship, nonNullable: true}
  Ship: {type: ex:Ship, name: ex:name}
rbac:
  roles:
    Federation: {actions: ['_Service/sdl/read']}
    All: {actions: ['*/*/read']}
    Some: {actions: ['*/*/read'], notActions: ['Ship/*/*', 'Film/secret/read', 'Droid/mass/read']}
    None: {actions: ['*/*/write']}
    Anonymous: {actions: ['*/*/read'], notActions: ['Film/id/read']}
"#;

const DATA: &str = r#"
@prefix ex: <https://example.org/> .
ex:luke a ex:Human ; ex:name "Luke" ; ex:mass 77 ; ex:height 172 ; ex:film ex:hope .
ex:r2 a ex:Droid ; ex:name "R2" ; ex:mass 32 ; ex:film ex:hope, ex:back .
ex:hope a ex:Film ; ex:name "Hope" ; ex:secret "Vader" ; ex:year 1977 ; ex:ship ex:falcon .
ex:back a ex:Film ; ex:name "Back" ; ex:secret "Father" ; ex:year 1980 ; ex:ship ex:falcon .
ex:falcon a ex:Ship ; ex:name "Falcon" .
"#;

/// Users, each with a role of the same name; the schema does not declare `Ghost`.
const USERS: [&str; 6] = ["All", "Some", "None", "Ghost", "Anonymous", "Federation"];

/// The callers whose answers are compared.
const COMPARED: [&str; 4] = ["All", "Some", "None", "Ghost"];

const PASSWORD: &str = "correct horse";

/// The application of the development provider.
const APPLICATION: &str = "8a1f6c2e-5b0d-4e37-9c64-d7f03b52a918";

/// Refers to films and ships by their ids, and adds to films.
const PICKS: &str = "type Query { picks: [Pick!]! }
    type Pick { why: String film: Film! ship: Ship }
    extend type Film @key(fields: \"id\") {
        id: ID! @external
        year: Int @external
        stars: Int
        century: Int @requires(fields: \"year\")
    }
    extend type Ship @key(fields: \"id\") { id: ID! @external }";

/// Queries that only the object service is needed for.
const QUERIES: [&str; 13] = [
    "{ film(orderBy: {year: ASC}) { id name year } }",
    "{ film(orderBy: {year: ASC}) { name secret ship { name } } ship { name } }",
    "{ character(orderBy: {id: ASC}) { __typename name mass ... on Human { height } } }",
    "{ f: film(orderBy: {year: ASC}) { s: secret t: name } x: ship { y: name } }",
    "{ film { ship { name } } n: film_count ship_count }",
    "{ filmConnection(orderBy: {year: ASC}) { totalCount nodes { name secret } edges { cursor node { ship { name } } }
       pageInfo { hasNextPage startCursor } } shipConnection { totalCount } }",
    "{ film_aggregate { count secret { max } year { max } groups(by: [year]) { key { year } count secret { min } } }
       ship_aggregate { count } }",
    "{ film(orderBy: {year: ASC}) { name cast(orderBy: {id: ASC}) { name mass film(orderBy: {year: ASC}) { secret } }
       cast_count } }",
    "{ human { film(orderBy: {year: ASC}) { secret } } droid { mass } }",
    "{ film(where: {secret: {EQ: \"Vader\"}}) { name } ship { name } }",
    "query ($after: Int!) { film(where: {year: {GT: $after}}) { ...F } } fragment F on Film { name secret }",
    "{ object(orderBy: {id: ASC}) { __typename id ... on Ship { name } } }",
    "{ film(orderBy: {year: ASC}) { cast(where: {name: {EQ: \"R2\"}}) { ... on Droid { mass name } } } }",
];

/// Answers the body of a request with the token of a user.
type Answering<'a> = dyn Fn(&str, &Value) -> Value + 'a;

/// A place where operations are sent to.
struct Endpoint<'a>(Box<Answering<'a>>);

impl Endpoint<'_> {
    fn answer(&self, token: &str, query: &str) -> Value {
        let body = json!({ "query": query, "variables": {"after": 1977} });
        (self.0)(token, &body)
    }
}

/// An object service with roles, and the other subgraph.
struct Films {
    objects: Soml,
    picks: Subgraph,
    _folder: tempfile::TempDir,
}

impl Films {
    /// Starts the object service, as the all-in-one with a gateway or alone.
    fn start(is_gateway: bool) -> Films {
        let folder = tempfile::tempdir().unwrap();
        let written = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let roles: Vec<_> = USERS
            .iter()
            .map(|user| format!("{{name: {user}}}"))
            .collect();
        let users = USERS.iter().map(|user| {
            format!("  - {{username: {user}, password: {PASSWORD}, roles: [{user}]}}\n")
        });
        let users = format!(
            "security:\n  roles: [{}]\n  users:\n{}",
            roles.join(", "),
            users.collect::<String>()
        );
        let (schema, data) = (written("films.yaml", SCHEMA), written("films.ttl", DATA));
        let users = format!(
            "security.provisioning.file={}",
            written("users.yaml", &users)
        );
        let mut arguments = vec!["--schema", &schema, "--data", &data];
        for property in ["graphql.federation.enabled=true", &users] {
            arguments.extend(["--set", property]);
        }
        let picks = Subgraph::start(PICKS, |asked| {
            let id = |name: &str| format!("https://example.org/{name}");
            let pick = |why: &str, film: &str| {
                let film = json!({"__typename": "Film", "id": id(film), "stars": 5});
                json!({"why": why, "film": film, "ship": {"__typename": "Ship", "id": id("falcon")}})
            };
            let data = if asked.query.contains("_entities") {
                let given = asked.variables["representations"].as_array().unwrap();
                let made = given.iter().map(|film| {
                    let century = film["year"].as_u64().map(|year| year / 100 + 1);
                    json!({"__typename": "Film", "stars": 5, "century": century})
                });
                json!({"_entities": made.collect::<Vec<_>>()})
            } else {
                json!({"picks": [pick("first", "hope"), pick("best", "back")]})
            };
            Said::from(json!({ "data": data }))
        });
        let url = picks.url("/graphql");
        let variables = [
            ("GRAPHQL_SERVICE_0", url.as_str()),
            ("GRAPHQL_SERVICE_0_NAME", "picks"),
        ];
        let objects = if is_gateway {
            Soml::start(&arguments, &variables, "Composed:")
        } else {
            Soml::start(&arguments, &[], "Writing:")
        };
        Films {
            objects,
            picks,
            _folder: folder,
        }
    }

    /// Starts a gateway of its own over both.
    fn gateway(&self) -> Gateway {
        let (objects, picks) = (self.objects.endpoint(), self.picks.url("/graphql"));
        let port = self.objects.base("GraphQL:").rsplit(':').next().unwrap();
        let mut gateway = Gateway::start(&[
            ("GRAPHQL_SERVICE_0", objects.as_str()),
            ("GRAPHQL_SERVICE_1", picks.as_str()),
            ("SECURITY_ENABLED", "true"),
            ("IDP_APPLICATION_ID", APPLICATION),
            ("IDP_PROTOCOL", "http"),
            ("IDP_HOST", "127.0.0.1"),
            ("IDP_PORT", port),
            ("IDP_USERNAME", "Federation"),
            ("IDP_PASSWORD", PASSWORD),
        ]);
        gateway.composed();
        gateway
    }

    fn token(&self, user: &str) -> String {
        log_in(self.objects.base("GraphQL:"), user, PASSWORD)
    }

    /// Returns a service of the process by the word before its address.
    fn endpoint(&self, word: &str) -> Endpoint<'_> {
        let base = self.objects.base(word);
        Endpoint(Box::new(move |token, body| {
            let (status, answer) = send(base, "/graphql", Some(token), body);
            assert_eq!(status, 200, "{answer}");
            answer
        }))
    }
}

fn endpoint(gateway: &Gateway) -> Endpoint<'_> {
    Endpoint(Box::new(|token, body| {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("content-type", "application/json"),
            ("authorization", bearer.as_str()),
        ];
        let reply = gateway.send("POST", "/graphql", &headers, &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()
    }))
}

/// The one normalisation of data under which answers are compared: a field that is null is as if it were left out,
/// and data that are null as if everything were.
fn data_of(answer: &Value) -> Value {
    match &answer["data"] {
        Value::Null => json!({}),
        data => without_nulls(data),
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let left = members.iter().filter(|(_, value)| !value.is_null());
            let left = left.map(|(key, value)| (key.clone(), without_nulls(value)));
            Value::Object(left.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// What an answer says of what is missing: codes, those of the subgraph where the gateway says them, with the
/// client's response keys.
fn said_of(answer: &Value) -> BTreeSet<(String, Vec<String>)> {
    let errors = answer["errors"].as_array().into_iter().flatten();
    let said = errors.map(|error| {
        let extensions = &error["extensions"];
        let code = extensions["subgraph"]["code"].as_str();
        let code = code.or_else(|| extensions["code"].as_str()).unwrap();
        let path = error["path"].as_array().into_iter().flatten();
        let keys = path.filter_map(Value::as_str).map(str::to_owned);
        (code.to_owned(), keys.collect())
    });
    said.collect()
}

/// Checks that errors have the client's words, and none of those between the gateway and its subgraphs.
fn check_words(answer: &Value) {
    for error in answer["errors"].as_array().into_iter().flatten() {
        let text = error.to_string();
        for internal in ["_entities", "representation", "_Any"] {
            assert!(!text.contains(internal), "{internal}: {answer:#}");
        }
        if error["extensions"]["subgraph"]["code"] == "ACCESS_FIELD_REMOVED" {
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with("WARN: Field '"), "{message}");
        }
    }
}

/// Asks both for the same as each caller.
fn compare(films: &Films, through: &Endpoint<'_>) {
    let direct = films.endpoint("GraphQL:");
    let mut left_out = 0;
    for user in COMPARED {
        let token = films.token(user);
        for query in QUERIES {
            let (one, other) = (direct.answer(&token, query), through.answer(&token, query));
            let context = || format!("{user}: {query}\n{one:#}\n{other:#}");
            assert_eq!(data_of(&one), data_of(&other), "{}", context());
            assert_eq!(said_of(&one), said_of(&other), "{}", context());
            check_words(&other);
            let errors = said_of(&one);
            assert!(user != "All" || errors.is_empty(), "{}", context());
            left_out += errors.len();
        }
    }
    assert!(left_out > 40, "little was left out: {left_out}");
}

/// Asks for what both subgraphs are needed for.
fn check_entities(films: &Films, through: &Endpoint<'_>) {
    let query =
        "{ picks { why f: film { title: name secret stars century } ship { label: name } } }";
    let ask = |user: &str| {
        let answer = through.answer(&films.token(user), query);
        check_words(&answer);
        let said = said_of(&answer).into_iter();
        let paths = said.map(|(code, path)| {
            assert_eq!(code, "ACCESS_FIELD_REMOVED", "{answer:#}");
            path.join(".")
        });
        (data_of(&answer), paths.collect::<Vec<_>>(), answer)
    };
    let pick = |why: &str, film: Value, ship: Value| json!({"why": why, "f": film, "ship": ship});
    let (data, paths, answer) = ask("All");
    let film = |name: &str, secret: &str| json!({"title": name, "secret": secret, "stars": 5, "century": 20});
    let falcon = json!({"label": "Falcon"});
    let expected = json!({"picks": [
        pick("first", film("Hope", "Vader"), falcon.clone()),
        pick("best", film("Back", "Father"), falcon),
    ]});
    assert_eq!((data, paths), (expected, Vec::new()), "{answer:#}");
    let (data, paths, answer) = ask("Some");
    let film = |name: &str| json!({"title": name, "stars": 5, "century": 20});
    let expected = json!({"picks": [
        pick("first", film("Hope"), json!({})),
        pick("best", film("Back"), json!({})),
    ]});
    assert_eq!(data, expected, "{answer:#}");
    assert_eq!(paths, ["picks.f.secret", "picks.ship.label"], "{answer:#}");
    let messages = answer["errors"].to_string();
    for field in ["'secret' from type 'Film'", "'name' from type 'Ship'"] {
        assert!(messages.contains(field), "{field}: {answer:#}");
    }
    // What may not be read is no input of what other services work out either.
    for user in ["None", "Ghost"] {
        let (data, paths, answer) = ask(user);
        let film = json!({"stars": 5});
        let expected = json!({"picks": [
            pick("first", film.clone(), json!({})),
            pick("best", film, json!({})),
        ]});
        assert_eq!(data, expected, "{answer:#}");
        // The gateway reads the year by itself, so there is no name of the client's for it.
        let of_client: Vec<_> = paths.iter().filter(|path| *path != "picks.f").collect();
        let expected = ["picks.f.secret", "picks.f.title", "picks.ship.label"];
        assert_eq!(of_client, expected, "{answer:#}");
    }
}

#[test]
fn callers_of_the_all_in_one_see_through_the_gateway_what_the_object_service_shows_them() {
    let films = Films::start(true);
    let through = films.endpoint("Gateway:");
    compare(&films, &through);
    check_entities(&films, &through);
}

#[test]
fn callers_see_through_a_gateway_of_its_own_what_the_object_service_shows_them() {
    let films = Films::start(false);
    let gateway = films.gateway();
    let through = endpoint(&gateway);
    compare(&films, &through);
    check_entities(&films, &through);
    ids_that_may_not_be_read(&films, &through);
    // The schema that a gateway reads depends on nobody who reads it.
    let direct = films.endpoint("GraphQL:");
    let [one, other] = ["Federation", "All"].map(|user| {
        let answer = direct.answer(&films.token(user), "{ _service { sdl } }");
        let sdl = answer["data"]["_service"]["sdl"].as_str();
        sdl.unwrap_or_else(|| panic!("{answer}")).to_owned()
    });
    assert_eq!(one, other);
    assert!(one.contains("secret: String\n"), "{one}");
    // Clients of the service itself see what the document says.
    let query = "{ __type(name: \"Film\") { fields { name type { kind } } } }";
    let shown = direct.answer(&films.token("None"), query);
    let shown = shown["data"].to_string();
    let declared = json!({"name": "secret", "type": {"kind": "NON_NULL"}}).to_string();
    assert!(shown.contains(&declared), "{shown}");
}

/// The id of an object is never null. So where a client asks for one that they may not read, the object is null, and
/// the rest arrives.
fn ids_that_may_not_be_read(films: &Films, through: &Endpoint<'_>) {
    let token = films.token("Anonymous");
    let query = "{ film { id name } filmConnection { totalCount nodes { id name } } human { name film { id name } } }";
    let answer = through.answer(&token, query);
    let expected = json!({"film": [null, null], "filmConnection": {"totalCount": 2, "nodes": [null, null]},
        "human": [{"name": "Luke", "film": [null]}]});
    assert_eq!(answer["data"], expected, "{answer:#}");
    let codes: BTreeSet<_> = said_of(&answer).into_iter().map(|(code, _)| code).collect();
    let removed = BTreeSet::from(["ACCESS_FIELD_REMOVED".to_owned()]);
    assert_eq!(codes, removed, "{answer:#}");
    let query = "{ film(orderBy: {year: ASC}) { name } }";
    let direct = films.endpoint("GraphQL:").answer(&token, query);
    assert_eq!(through.answer(&token, query), direct);
}
