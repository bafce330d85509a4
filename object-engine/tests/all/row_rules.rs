//! Which objects a role sees, where it sees some of a type alone.

use std::sync::Arc;

use graphql_service::{Caller, Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use serde_json::{Value, json};

use crate::fixture::{answer, json, service};
use crate::images;

const SCHEMA: &str = "
id: /soml/rows
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
config: {enable_mutations: true, enableCollectionCount: true, enableTypeCount: true, enableAggregates: true, enableConnections: true}
objects:
  Work:
    kind: abstract
    props:
      title: {}
      owner: {range: iri}
      public: {range: boolean}
      pages: {range: int}
      team: {max: inf}
  Book:
    inherits: Work
    props:
      price: {range: int}
      sequel: {range: Book}
      authors: {range: Author, max: inf}
  Letter: {inherits: Work}
  Author:
    props:
      name: {}
      level: {range: int}
      books: {range: Book, inverseAlias: authors, max: inf}
rbac:
  roles:
    Reader:
      actions: ['*/*/read']
      filters: {Work: {read: {public: {EQ: true}}}}
    Owner:
      actions: ['*/*/read']
      filters: {Work: {read: {owner: {EQ: $claims.sub}}}}
    Member:
      actions: ['*/*/read']
      filters: {Work: {read: {team: {IN: $claims.teams}}}}
    Clerk:
      actions: ['Book/title/read', 'Book/id/read', 'Book/price/read', 'Author/*/read']
      filters: {Book: {read: {pages: {LT: $claims.profile.pages}}}}
    Titles: {actions: ['Work/title/read', 'Author/name/read']}
    Juniors:
      actions: ['*/*/read']
      filters: {Author: {read: {level: {LT: 5}}}}
    Editor:
      actions: ['*/*/*']
      filters:
        Work:
          read: {OR: [{public: {EQ: true}}, {owner: {EQ: $claims.sub}}]}
          write: {owner: {EQ: $claims.sub}}
          delete: {owner: {EQ: $claims.sub}, public: {EQ: false}}
    Author:
      actions: ['*/*/*']
      filters: {Work: {write: {owner: {EQ: $claims.sub}}}}
      presets: {Work: {owner: $claims.sub}}
";

const DATA: &str = "
@prefix v: <http://v/> . @prefix : <http://e/> .
:a a v:Book ; v:title 'A' ; v:owner :ann ; v:public true ; v:pages 10 ; v:price 1 ; v:team 'x' ; v:sequel :b ; v:authors :jo, :kim .
:b a v:Book ; v:title 'B' ; v:owner :bob ; v:public false ; v:pages 20 ; v:price 2 ; v:team 'x', 'y' ; v:sequel :c ; v:authors :jo .
:c a v:Book ; v:title 'C' ; v:owner :ann ; v:public false ; v:pages 30 ; v:price 3 ; v:authors :kim .
:l a v:Letter ; v:title 'L' ; v:owner :bob ; v:public true ; v:pages 1 .
:jo a v:Author ; v:name 'Jo' ; v:level 1 .
:kim a v:Author ; v:name 'Kim' ; v:level 9 .
";

fn fixture() -> ObjectService {
    let store = images::from_turtle(DATA);
    let mut options = ServiceOptions::default().with_roles_enforced(true);
    options.api = options.api.with_mutations(true);
    service(SCHEMA, Arc::new(store), options)
}

fn ask(roles: &[&str], claims: Value, query: &str) -> Value {
    let mut caller = Caller::with_roles(roles.iter().copied());
    caller.claims = claims.as_object().expect("claims").clone();
    let context = RequestContext::new().with_caller(Arc::new(caller));
    json(&answer(&fixture(), Request::new(query), context))
}

/// Returns the titles of all works, in the order of their ids.
fn titles(roles: &[&str], claims: Value) -> Value {
    let answer = ask(roles, claims, "{ work { title } }");
    assert!(answer.get("errors").is_none(), "{answer}");
    let works = answer["data"]["work"].as_array().expect("works");
    works.iter().map(|work| work["title"].clone()).collect()
}

#[test]
fn a_role_sees_the_objects_that_its_condition_accepts() {
    assert_eq!(titles(&["Reader"], json!({})), json!(["A", "L"]));
    let ann = json!({"sub": "http://e/ann"});
    assert_eq!(titles(&["Owner"], ann.clone()), json!(["A", "C"]));
    assert_eq!(titles(&["Reader", "Owner"], ann), json!(["A", "C", "L"]));
}

#[test]
fn a_claim_that_is_missing_or_does_not_fit_accepts_nothing() {
    for claims in [
        json!({}),
        json!({"sub": null}),
        json!({"sub": ["http://e/ann"]}),
        json!({"sub": {"a": 1}}),
        json!({"sub": 7}),
        json!({"sub": "no IRI"}),
    ] {
        assert_eq!(titles(&["Owner"], claims.clone()), json!([]), "{claims}");
        assert_eq!(titles(&["Owner", "Reader"], claims), json!(["A", "L"]));
    }
    for teams in [json!([]), json!("z"), json!([["x"]]), json!([1])] {
        let claims = json!({"teams": teams});
        assert_eq!(titles(&["Member"], claims.clone()), json!([]), "{claims}");
    }
    assert_eq!(titles(&["Member"], json!({"teams": "y"})), json!(["B"]));
    assert_eq!(
        titles(&["Member"], json!({"teams": ["x", "z"]})),
        json!(["A", "B"])
    );
}

#[test]
fn every_way_leads_to_the_same_objects() {
    let told = |query: &str| {
        let answer = ask(&["Reader"], json!({}), query);
        assert!(answer.get("errors").is_none(), "{answer}");
        answer["data"].clone()
    };
    for (query, expected) in [
        (
            "{ book { title sequel { title } } }",
            json!({"book": [{"title": "A", "sequel": null}]}),
        ),
        ("{ book(ID: [\"http://e/b\"]) { id } }", json!({"book": []})),
        ("{ book_count }", json!({"book_count": 1})),
        ("{ work_count }", json!({"work_count": 2})),
        (
            "{ work_aggregate { count pages { max sum } groups(by: team) { key { team } count } } }",
            json!({"work_aggregate": {"count": 2, "pages": {"max": 10, "sum": "11"},
            "groups": [{"key": {"team": null}, "count": 1}, {"key": {"team": "x"}, "count": 1}]}}),
        ),
        (
            "{ author(orderBy: {name: ASC}) { name books { title } books_count } }",
            json!({"author": [{"name": "Jo", "books": [{"title": "A"}], "books_count": 1},
            {"name": "Kim", "books": [{"title": "A"}], "books_count": 1}]}),
        ),
        (
            "{ author(where: {books: {title: {EQ: \"C\"}}}) { name } }",
            json!({"author": []}),
        ),
        (
            "{ author(where: {books: {ALL: {title: {EQ: \"A\"}}}}) { name } }",
            json!({"author": [{"name": "Jo"}, {"name": "Kim"}]}),
        ),
        (
            "{ author(where: {NOT: {books: {title: {EQ: \"C\"}}}}) { name } }",
            json!({"author": [{"name": "Jo"}, {"name": "Kim"}]}),
        ),
        (
            "{ bookConnection(first: 5) { totalCount edges { node { title } } pageInfo { hasNextPage } } }",
            json!({"bookConnection": {"totalCount": 1, "edges": [{"node": {"title": "A"}}],
            "pageInfo": {"hasNextPage": false}}}),
        ),
        (
            "{ object(where: {_ifBook: {pages: {GTE: 0}}}) { id } }",
            json!({"object": [{"id": "http://e/a"}]}),
        ),
        (
            "{ book(where: {sequel: {}}) { title } }",
            json!({"book": []}),
        ),
        (
            "{ work(orderBy: {pages: DESC}) { title } }",
            json!({"work": [{"title": "A"}, {"title": "L"}]}),
        ),
    ] {
        assert_eq!(told(query), expected, "{query}");
    }
}

#[test]
fn a_property_shows_its_values_where_a_role_that_allows_it_accepts_the_object() {
    let claims = json!({"profile": {"pages": 15}});
    let told = |query: &str| {
        let answer = ask(&["Titles", "Clerk"], claims.clone(), query);
        assert!(answer.get("errors").is_none(), "{answer}");
        answer["data"].clone()
    };
    assert_eq!(
        told("{ book(orderBy: {title: ASC}) { id title price } }"),
        json!({"book": [
            {"id": "http://e/a", "title": "A", "price": 1},
            {"title": "B", "price": null},
            {"title": "C", "price": null},
        ]})
    );
    assert_eq!(
        told("{ book(where: {price: {GTE: 1}}) { title } }"),
        json!({"book": [{"title": "A"}]})
    );
    assert_eq!(
        told("{ book(ID: [\"http://e/a\", \"http://e/b\"]) { title } }"),
        json!({"book": [{"title": "A"}]})
    );
    assert_eq!(
        told("{ book_aggregate { count price { sum } } }"),
        json!({"book_aggregate": {"count": 3, "price": {"sum": "1"}}})
    );
    let refused = ask(
        &["Titles", "Clerk"],
        claims.clone(),
        "{ book(orderBy: {price: ASC}) { title } }",
    );
    assert_eq!(
        refused["errors"][0]["extensions"]["code"], "ACCESS_DENIED",
        "{refused}"
    );
    let refused = ask(
        &["Reader"],
        json!({}),
        "{ book(orderBy: {sequel: {title: ASC}}) { title } }",
    );
    let code = &refused["errors"][0]["extensions"]["code"];
    assert_eq!(code, "ACCESS_DENIED", "{refused}");
}

/// Answers several requests over the same data.
struct World(ObjectService);

impl World {
    fn new() -> World {
        World(fixture())
    }

    fn ask(&self, role: &str, sub: &str, query: &str) -> Value {
        let mut caller = Caller::with_roles([role]);
        let sub = format!("http://e/{sub}");
        caller.claims.insert("sub".to_owned(), sub.into());
        let context = RequestContext::new().with_caller(Arc::new(caller));
        json(&answer(&self.0, Request::new(query), context))
    }

    /// Asks, and expects no error.
    fn done(&self, role: &str, sub: &str, query: &str) -> Value {
        let answer = self.ask(role, sub, query);
        assert!(answer.get("errors").is_none(), "{query}: {answer}");
        answer["data"].clone()
    }

    /// Asks, and expects nothing but errors of these codes; nothing is changed.
    fn refused(&self, role: &str, sub: &str, query: &str, codes: &[&str]) {
        let before = self.everything();
        let answer = self.ask(role, sub, query);
        let errors = answer["errors"]
            .as_array()
            .unwrap_or_else(|| panic!("{query}: {answer}"));
        let found: Vec<&Value> = errors
            .iter()
            .map(|error| &error["extensions"]["code"])
            .collect();
        assert_eq!(found, codes, "{query}: {answer}");
        assert_eq!(self.everything(), before, "{query}");
    }

    fn everything(&self) -> Value {
        let context = RequestContext::new().with_caller(Arc::new(Caller::superuser()));
        let query =
            "{ work { id title owner public ...on Book { price sequel { id } authors { id } } } }";
        json(&answer(&self.0, Request::new(query), context))
    }
}

#[test]
fn a_role_changes_what_its_condition_accepts_before_and_after() {
    let world = World::new();
    let own =
        "mutation { update_Book(objects: {id: \"http://e/a\", title: \"A2\"}) { book { title } } }";
    assert_eq!(
        world.done("Editor", "ann", own),
        json!({"update_Book": {"book": [{"title": "A2"}]}})
    );
    // Bob sees it, since it is public, and may not change it.
    world.refused("Editor", "bob", own, &["ACCESS_DENIED", "ACCESS_DENIED"]);
    // What he does not see is as if it were not there.
    let hidden = "mutation { update_Book(objects: {id: \"http://e/c\", title: \"C2\"}) { affected_count { count } } }";
    world.refused("Editor", "bob", hidden, &["NOT_FOUND"]);
    let nothing = hidden.replace("http://e/c", "http://e/nothing");
    world.refused("Editor", "bob", &nothing, &["NOT_FOUND"]);
    // Nobody gives an object away.
    let away = "mutation { update_Book(objects: {id: \"http://e/a\", owner: \"http://e/bob\"}) { affected_count { count } } }";
    world.refused("Editor", "ann", away, &["ACCESS_DENIED", "ACCESS_DENIED"]);
    let by_where = "mutation { update_Book(where: {title: {EQ: \"A2\"}}, objects: {price: 9}) { affected_count { count } } }";
    world.refused(
        "Editor",
        "bob",
        by_where,
        &["ACCESS_DENIED", "ACCESS_DENIED"],
    );
    let selects_nothing = by_where.replace("A2", "C");
    assert_eq!(
        world.done("Editor", "bob", &selects_nothing),
        json!({"update_Book": {"affected_count": []}})
    );
}

#[test]
fn a_role_creates_what_its_condition_accepts() {
    let world = World::new();
    let create = |owner: &str| {
        format!(
            "mutation {{ create_Book(objects: {{id: \"http://e/new\", title: \"New\", owner: \"http://e/{owner}\"}}) \
             {{ book {{ title }} }} }}"
        )
    };
    world.refused(
        "Editor",
        "ann",
        &create("bob"),
        &["ACCESS_DENIED", "ACCESS_DENIED", "ACCESS_DENIED"],
    );
    assert_eq!(
        world.done("Editor", "ann", &create("ann")),
        json!({"create_Book": {"book": [{"title": "New"}]}})
    );
    let unowned =
        "mutation { create_Letter(objects: {title: \"New\"}) { affected_count { count } } }";
    world.refused(
        "Editor",
        "ann",
        unowned,
        &["ACCESS_DENIED", "ACCESS_DENIED"],
    );
}

#[test]
fn a_role_deletes_what_its_condition_accepts() {
    let world = World::new();
    let delete = |name: &str| {
        format!(
            "mutation {{ delete_Book(where: {{ID: [\"http://e/{name}\"]}}) {{ affected_count {{ count }} }} }}"
        )
    };
    world.refused("Editor", "ann", &delete("a"), &["ACCESS_DENIED"]);
    world.refused("Editor", "ann", &delete("b"), &["NOT_FOUND"]);
    world.done("Editor", "ann", &delete("c"));
    let all = "mutation { delete_Book(where: {}, allowAll: true) { affected_count { count } } }";
    world.refused("Editor", "ann", all, &["ACCESS_DENIED"]);
}

#[test]
fn a_reference_to_an_object_that_is_hidden_is_one_to_nothing() {
    let world = World::new();
    let refer = |name: &str| {
        format!(
            "mutation {{ update_Book(objects: {{id: \"http://e/c\", sequel: [{{ids: [\"http://e/{name}\"]}}]}}) \
             {{ affected_count {{ count }} }} }}"
        )
    };
    world.refused("Editor", "ann", &refer("b"), &["REFERENCE_NOT_FOUND"]);
    world.refused("Editor", "ann", &refer("nothing"), &["REFERENCE_NOT_FOUND"]);
    world.done("Editor", "ann", &refer("a"));
}

#[test]
fn a_preset_value_is_set_and_cannot_be_chosen() {
    let world = World::new();
    let create = |owner: &str| {
        format!(
            "mutation {{ create_Book(objects: {{title: \"New\"{owner}}}) {{ book {{ owner }} }} }}"
        )
    };
    let of_ann = json!({"create_Book": {"book": [{"owner": "http://e/ann"}]}});
    assert_eq!(world.done("Author", "ann", &create("")), of_ann);
    let same = create(", owner: \"http://e/ann\"");
    assert_eq!(world.done("Author", "ann", &same), of_ann);
    let other = create(", owner: \"http://e/bob\"");
    world.refused("Author", "ann", &other, &["ACCESS_DENIED"]);
    // A preset is set on each update, so what others own stays out of reach by its condition alone.
    let update =
        "mutation { update_Book(objects: {id: \"http://e/b\", title: \"B2\"}) { book { owner } } }";
    world.refused(
        "Author",
        "ann",
        update,
        &["ACCESS_DENIED", "ACCESS_DENIED", "ACCESS_DENIED"],
    );
}

#[test]
fn conditions_and_presets_that_do_not_fit_their_types_are_refused_with_their_places() {
    for (rules, problem) in [
        (
            "filters: {Book: {read: {titel: {EQ: x}}}}",
            "`titel` is not a key of the condition `Book_Where`",
        ),
        (
            "filters: {Book: {read: {title: x}}}",
            "is a mapping, such as `EQ: x`",
        ),
        (
            "filters: {Book: {read: {authors: {name: [{EQ: x}]}}}}",
            "is not a list",
        ),
        (
            "filters: {Book: {read: {title: {EQ: {a: b}}}}}",
            "is a single value",
        ),
        (
            "presets: {Author: {books: $claims.sub}}",
            "`books` is read from the other end",
        ),
        ("presets: {Book: {title: [a, b]}}", "`title` has one value"),
    ] {
        let text = format!("{SCHEMA}    Wrong: {{actions: ['*/*/*'], {rules}}}\n");
        let schema = soml_core::load(&text).schema.expect("a valid document");
        let options = ServiceOptions::default();
        let service = ObjectService::new(Arc::new(schema), Arc::new(images::empty()), options);
        let error = service.err().unwrap_or_else(|| panic!("{rules}"));
        let first = &error.problems[0];
        assert_eq!(first.code, "API_ROW_RULES");
        assert!(
            first.message.contains(problem),
            "{rules}: {}",
            first.message
        );
        assert!(first.span.is_some());
    }
}
