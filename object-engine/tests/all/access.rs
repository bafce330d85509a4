//! What each role sees, by every way that leads to a property.

use std::sync::Arc;

use graphql_gen::typesystem::FederationMode;
use graphql_service::{Caller, Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use serde_json::{Value, json};

use crate::fixture::{answer, json, service};
use crate::images;

const SCHEMA: &str = "
id: /soml/access
specialPrefixes: {vocab_iri: 'http://v/', vocab_prefix: v}
prefixes: {rdfs: 'http://www.w3.org/2000/01/rdf-schema#'}
config: {enableCollectionCount: true, enableTypeCount: true, enableAggregates: true, enableConnections: true}
objects:
  Character:
    kind: abstract
    name: rdfs:label
    props:
      rdfs:label: {}
      mass: {range: int}
      film: {range: Film, max: inf}
  Human:
    inherits: Character
    props:
      height: {range: int}
      friend: {range: Character, max: inf}
  Droid:
    inherits: Character
    props:
      function: {}
  Film:
    name: title
    props:
      title: {}
      secret: {}
      year: {range: int}
      cast: {range: Character, inverseAlias: film, max: inf}
rbac:
  roles:
    All: {actions: ['*/*/read']}
    NoSecret: {actions: ['*/*/read'], notActions: ['Film/secret/*']}
    NoDroid: {actions: ['*/*/read'], notActions: ['Droid/*/*']}
    NoMass: {actions: ['*/*/read'], notActions: ['Droid/mass/read']}
    NoId: {actions: ['*/*/read'], notActions: ['Film/id/read']}
    NoTitle: {actions: ['*/*/read'], notActions: ['Film/title/*']}
    Characters: {actions: ['Character/*/read']}
    Humans: {actions: ['Human/*/read']}
    FullSdl: {actions: ['_Service/full_sdl/read']}
    Secret: {actions: ['Film/secret/read']}
";

const DATA: &str = "
@prefix v: <http://v/> . @prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:luke a v:Human ; rdfs:label 'Luke' ; v:mass 77 ; v:height 172 ; v:film :hope ; v:friend :leia, :r2 .
:leia a v:Human ; rdfs:label 'Leia' ; v:mass 49 ; v:height 150 ; v:film :hope .
:r2 a v:Droid ; rdfs:label 'R2-D2' ; v:mass 32 ; v:function 'repair' ; v:film :hope .
:hope a v:Film ; v:title 'A New Hope' ; v:secret 'Vader' ; v:year 1977 .
:back a v:Film ; v:title 'Strikes Back' ; v:secret 'Father' ; v:year 1980 .
";

fn fixture() -> ObjectService {
    let store = images::from_turtle(DATA);
    let options = ServiceOptions::default().with_roles_enforced(true);
    service(SCHEMA, Arc::new(store), options)
}

fn ask_as(caller: Option<Caller>, query: &str) -> Value {
    let context = match caller {
        Some(caller) => RequestContext::new().with_caller(Arc::new(caller)),
        None => RequestContext::new(),
    };
    json(&answer(&fixture(), Request::new(query), context))
}

fn ask(roles: &[&str], query: &str) -> Value {
    ask_as(Some(Caller::with_roles(roles.iter().copied())), query)
}

/// The data of an answer without errors.
fn data(roles: &[&str], query: &str) -> Value {
    let answer = ask(roles, query);
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"].clone()
}

/// The data of an answer that leaves fields out, and what it says of them: field and type.
fn left_out(roles: &[&str], query: &str) -> (Value, Vec<String>) {
    let answer = ask(roles, query);
    let mut fields = Vec::new();
    for error in answer["errors"].as_array().into_iter().flatten() {
        assert_eq!(
            error["extensions"]["code"], "ACCESS_FIELD_REMOVED",
            "{answer}"
        );
        assert!(error["locations"][0]["line"].is_u64(), "{answer}");
        let message = error["message"].as_str().expect("a message");
        let (field, rest) = message
            .strip_prefix("WARN: Field '")
            .and_then(|rest| rest.split_once("' from type '"))
            .expect("the field and its type");
        let (ty, rest) = rest.split_once('\'').expect("the type");
        let claimed = roles.join(", ");
        let said = format!(
            " is removed as selection due to being queried without permissions, roles=[{claimed}]"
        );
        assert_eq!(rest, said);
        fields.push(format!("{ty}.{field}"));
    }
    (answer["data"].clone(), fields)
}

#[track_caller]
fn assert_denied(roles: &[&str], query: &str) {
    let answer = ask(roles, query);
    assert_eq!(
        answer["errors"][0]["extensions"]["code"], "ACCESS_DENIED",
        "{answer}"
    );
    assert!(answer["data"].is_null(), "{answer}");
}

#[test]
fn a_denied_field_is_left_out_and_said_so() {
    let (data, fields) = left_out(&["NoSecret"], "{ film { title secret year } }");
    assert_eq!(
        data,
        json!({"film": [
            {"title": "Strikes Back", "year": 1980},
            {"title": "A New Hope", "year": 1977},
        ]})
    );
    assert_eq!(fields, ["Film.secret"]);
    let answer = ask(&["NoSecret"], "{ a: film { s: secret title } }");
    assert_eq!(answer["errors"][0]["path"], json!(["a", "s"]));
    assert_eq!(
        answer["errors"][0]["locations"],
        json!([{"line": 1, "column": 16}])
    );
}

#[test]
fn whoever_has_no_role_sees_nothing() {
    for caller in [
        None,
        Some(Caller::default()),
        Some(Caller::with_roles(["Unknown"])),
    ] {
        let answer = ask_as(
            caller,
            "{ film { title } human { __typename } _service { sdl } }",
        );
        assert_eq!(answer["data"], json!({}));
        assert_eq!(answer["errors"].as_array().unwrap().len(), 3);
        let message = answer["errors"][0]["message"].as_str().unwrap();
        assert!(message.ends_with("roles=[Default]"), "{message}");
    }
}

#[test]
fn a_superuser_and_a_role_with_all_rights_see_what_there_is() {
    let query = "{ film { title secret cast { name mass } } }";
    let all = data(&["All"], query);
    assert_eq!(all["film"][1]["secret"], "Vader");
    assert_eq!(ask_as(Some(Caller::superuser()), query)["data"], all);
    assert_eq!(data(&["NoSecret", "Secret"], query), all, "roles add up");
}

#[test]
fn an_emptied_selection_is_left_out_with_its_parents() {
    let query = "{ human { name film { __typename secret } } }";
    let (data, fields) = left_out(&["NoSecret"], query);
    assert_eq!(data, json!({"human": [{"name": "Leia"}, {"name": "Luke"}]}));
    assert_eq!(fields, ["Film.secret"]);
    let (data, _) = left_out(
        &["NoSecret"],
        "{ human { film { secret } } film { title } }",
    );
    assert_eq!(data["film"].as_array().unwrap().len(), 2);
    assert_eq!(data.get("human"), None);
}

#[test]
fn a_condition_or_an_order_by_a_denied_field_is_refused_wherever_it_stands() {
    for query in [
        "{ film(where: {secret: {EQ: \"Vader\"}}) { title } }",
        "{ film(where: {NOT: {secret: {}}}) { title } }",
        "{ film(where: {AND: [{year: {GT: 1}}, {OR: [{secret: {RE: \"V\"}}]}]}) { title } }",
        "{ human(where: {film: {secret: {EQ: \"Vader\"}}}) { name } }",
        "{ human(where: {film: {ALL: {secret: {EQ: \"Vader\"}}}}) { name } }",
        "{ human(where: {film: {ALL_EXISTS: {secret: {EQ: \"Vader\"}}}}) { name } }",
        "{ film(where: {cast: {film: {secret: {EQ: \"Vader\"}}}}) { title } }",
        "{ human { film(where: {secret: {EQ: \"Vader\"}}) { title } } }",
        "{ human { film_count(where: {secret: {EQ: \"Vader\"}}) } }",
        "{ film_count(where: {secret: {EQ: \"Vader\"}}) }",
        "{ filmConnection(where: {secret: {EQ: \"Vader\"}}) { totalCount } }",
        "{ film(orderBy: {secret: ASC}) { title } }",
        "{ human { film(orderBy: {secret: ASC}) { title } } }",
        "{ filmConnection(orderBy: {secret: ASC}) { nodes { title } } }",
        "{ film_aggregate { groups(by: [secret]) { count } } }",
        "{ film_aggregate { groups(by: [year], having: {secret: {count: {GT: 0}}}) { count } } }",
        "{ film_aggregate { groups(by: [year], orderBy: {secret: {max: ASC}}) { count } } }",
    ] {
        assert_denied(&["NoSecret"], query);
        let allowed = ask(&["All"], query);
        assert_eq!(allowed.get("errors"), None, "{query} {allowed}");
    }
}

#[test]
fn objects_of_a_denied_type_are_in_no_list_no_count_and_behind_no_property() {
    let role = &["NoDroid"];
    let names = data(role, "{ character { name } character_count }");
    assert_eq!(
        names,
        json!({"character": [{"name": "Leia"}, {"name": "Luke"}], "character_count": 2})
    );
    let query = "{ film(where: {title: {EQ: \"A New Hope\"}}) { cast { name } cast_count } }";
    assert_eq!(
        data(role, query),
        json!({"film": [{"cast": [{"name": "Leia"}, {"name": "Luke"}], "cast_count": 2}]})
    );
    let query = "{ human(where: {friend: {mass: {EQ: 32}}}) { name } }";
    assert_eq!(data(role, query), json!({"human": []}));
    assert_eq!(data(&["All"], query), json!({"human": [{"name": "Luke"}]}));
    let query = "{ character_aggregate { count mass { sum } } }";
    assert_eq!(
        data(role, query),
        json!({"character_aggregate": {"count": 2, "mass": {"sum": "126"}}})
    );
    assert_eq!(
        left_out(role, "{ droid { name } }"),
        (json!({}), vec!["Query.droid".to_owned()])
    );
    assert_denied(
        role,
        "{ character(where: {_ifDroid: {name: {EQ: \"R2-D2\"}}}) { name } }",
    );
    assert_eq!(
        data(role, "{ object(ID: \"http://e/r2\") { id } }"),
        json!({"object": []})
    );
    let connection = "{ characterConnection { totalCount nodes { name } } }";
    assert_eq!(
        data(role, connection)["characterConnection"]["totalCount"],
        2
    );
}

#[test]
fn a_property_denied_of_one_type_is_left_out_for_that_type_alone() {
    let role = &["NoMass"];
    let (data_, fields) = left_out(role, "{ character(orderBy: {id: ASC}) { name mass } }");
    assert_eq!(
        data_,
        json!({"character": [
            {"name": "Leia", "mass": 49},
            {"name": "Luke", "mass": 77},
            {"name": "R2-D2"},
        ]})
    );
    assert_eq!(fields, ["Droid.mass"]);
    let light = "{ character(where: {mass: {LT: 50}}) { name } }";
    assert_eq!(data(role, light), json!({"character": [{"name": "Leia"}]}));
    let not = "{ character(where: {NOT: {mass: {}}}) { name } }";
    assert_eq!(data(role, not), json!({"character": [{"name": "R2-D2"}]}));
    let order = "{ character(orderBy: {mass: ASC}) { name } }";
    let names = data(role, order);
    let sorted: Vec<_> = names["character"].as_array().unwrap().iter().collect();
    assert_eq!(
        sorted.iter().filter(|one| one["name"] != "R2-D2").count(),
        2
    );
    let sum = "{ character_aggregate { count mass { count sum min } } }";
    assert_eq!(
        data(role, sum),
        json!({"character_aggregate": {
            "count": 3,
            "mass": {"count": 2, "sum": "126", "min": 49},
        }})
    );
    let groups = "{ character_aggregate { groups(by: [mass]) { key { mass } count } } }";
    let groups = data(role, groups);
    let keys = groups["character_aggregate"]["groups"].as_array().unwrap();
    assert!(
        !keys.iter().any(|group| group["key"]["mass"] == 32),
        "{groups}"
    );
}

#[test]
fn rights_on_a_class_give_no_right_to_what_its_subclasses_declare() {
    let query = "{ character(orderBy: {name: ASC}) { name ... on Human { height } } }";
    let (data, fields) = left_out(&["Characters"], query);
    assert_eq!(data["character"].as_array().unwrap().len(), 3);
    assert_eq!(data["character"][0], json!({"name": "Leia"}));
    assert_eq!(fields, ["Human.height"]);
}

#[test]
fn a_query_for_a_class_is_narrowed_to_the_subclasses_that_may_be_read() {
    let query = "{ character { __typename name } }";
    assert_eq!(
        data(&["Humans"], query),
        json!({"character": [
            {"__typename": "Human", "name": "Leia"},
            {"__typename": "Human", "name": "Luke"},
        ]})
    );
}

#[test]
fn a_name_made_of_a_denied_property_is_denied() {
    let (data, fields) = left_out(&["NoTitle"], "{ film { name year } }");
    assert_eq!(data["film"][0], json!({"year": 1980}));
    assert_eq!(fields, ["Film.name"]);
    assert_denied(
        &["NoTitle"],
        "{ film(where: {name: {RE: \"H\"}}) { year } }",
    );
    assert_denied(&["NoTitle"], "{ film(orderBy: {name: ASC}) { year } }");
}

#[test]
fn without_the_right_to_ids_there_are_no_cursors_and_no_look_up_by_id() {
    let query = "{ filmConnection(orderBy: {title: ASC}) {
        edges { cursor node { title } } pageInfo { hasNextPage startCursor endCursor } } }";
    let (data, fields) = left_out(&["NoId"], query);
    assert_eq!(
        data,
        json!({"filmConnection": {
            "edges": [{"node": {"title": "A New Hope"}}, {"node": {"title": "Strikes Back"}}],
            "pageInfo": {"hasNextPage": false},
        }})
    );
    assert_eq!(
        fields,
        [
            "FilmEdge.cursor",
            "PageInfo.startCursor",
            "PageInfo.endCursor"
        ]
    );
    for query in [
        "{ film(ID: \"http://e/hope\") { title } }",
        "{ film(where: {ID: \"http://e/hope\"}) { title } }",
        "{ film(where: {id: {EQ: \"http://e/hope\"}}) { title } }",
        "{ film(orderBy: {id: ASC}) { title } }",
        "{ human(where: {film: {ID: \"http://e/hope\"}}) { name } }",
        "{ human { film(ID: \"http://e/hope\") { title } } }",
        "{ filmConnection(after: \"x\") { nodes { title } } }",
    ] {
        assert_denied(&["NoId"], query);
    }
}

#[test]
fn aggregates_of_denied_properties_are_left_out() {
    let query =
        "{ film_aggregate { count secret { max } groups(by: [year]) { secret { min } count } } }";
    let (data, fields) = left_out(&["NoSecret"], query);
    assert_eq!(data["film_aggregate"]["count"], 2);
    assert_eq!(data["film_aggregate"].get("secret"), None);
    assert_eq!(data["film_aggregate"]["groups"][0], json!({"count": 1}));
    assert_eq!(fields, ["Film_Aggregate.secret", "Film_Group.secret"]);
    let (data, _) = left_out(
        &["NoSecret"],
        "{ film_aggregate { secret { max } } film_count }",
    );
    assert_eq!(data, json!({"film_count": 2}));
}

#[test]
fn the_schemas_of_the_service_need_a_right_each() {
    let (data, fields) = left_out(&["FullSdl"], "{ _service { sdl full_sdl } }");
    assert!(data["_service"]["full_sdl"].is_string(), "{data}");
    assert_eq!(data["_service"].get("sdl"), None);
    assert_eq!(fields, ["_Service.sdl"]);
    let (data, _) = left_out(&["Humans"], "{ _service { __typename sdl } }");
    assert_eq!(data, json!({}));
}

/// The fields that are left out of entities, by their paths.
fn left_out_of_entities(
    roles: &[&str],
    representations: &str,
    fields: &str,
) -> (Value, Vec<Value>) {
    let store = images::from_turtle(DATA);
    let mut options = ServiceOptions::default().with_roles_enforced(true);
    options.api = options.api.with_federation(FederationMode::V1);
    let service = service(SCHEMA, Arc::new(store), options);
    let query = format!("{{ x: _entities(representations: [{representations}]) {{ {fields} }} }}");
    let caller = Arc::new(Caller::with_roles(roles.iter().copied()));
    let context = RequestContext::new().with_caller(caller);
    let answer = json(&answer(&service, Request::new(query), context));
    let errors = answer["errors"].as_array().into_iter().flatten();
    let paths = errors.map(|error| {
        let (code, message) = (&error["extensions"]["code"], error["message"].to_string());
        assert_eq!(code, "ACCESS_FIELD_REMOVED", "{answer}");
        assert!(
            !message.contains("_entities") && !message.contains("'Query'"),
            "{answer}"
        );
        error["path"].clone()
    });
    let paths = paths.collect();
    (answer["data"].clone(), paths)
}

const HOPE: &str = "{__typename: \"Film\", id: \"http://e/hope\"}";
const R2: &str = "{__typename: \"Droid\", id: \"http://e/r2\"}";
const LUKE: &str = "{__typename: \"Human\", id: \"http://e/luke\"}";

#[test]
fn fields_of_entities_that_are_denied_are_named_and_not_the_entities() {
    let film = "... on Film { t: title s: secret }";
    let (data, paths) = left_out_of_entities(&["NoSecret"], HOPE, film);
    assert_eq!(data, json!({"x": [{"t": "A New Hope"}]}));
    assert_eq!(paths, [json!(["x", "s"])]);
    // Of a type that is not shown, each field that was asked of it.
    let both = format!("{R2}, {LUKE}, {R2}");
    let fields = "... on Droid { __typename name m: mass } ... on Human { name height }";
    let (data, paths) = left_out_of_entities(&["NoDroid"], &both, fields);
    let luke = json!({"name": "Luke", "height": 172});
    assert_eq!(data, json!({"x": [null, luke, null]}));
    assert_eq!(paths, [json!(["x", "name"]), json!(["x", "m"])]);
    let (data, paths) = left_out_of_entities(&["NoDroid"], R2, "... on Droid { __typename }");
    assert_eq!((data, paths), (json!({}), vec![json!(["x", "__typename"])]));
}

#[test]
fn entities_are_found_by_an_id_that_may_be_read_and_tell_nothing_of_others() {
    let film = "... on Film { title }";
    let (data, paths) = left_out_of_entities(&["NoId"], HOPE, film);
    assert_eq!((data, paths), (json!({}), vec![json!(["x", "title"])]));
    // Whether a hidden object is there makes no difference.
    let fields = "__typename ... on Character { name }";
    let as_character = R2.replace("Droid", "Character");
    for role in ["NoDroid", "Humans"] {
        let there = left_out_of_entities(&[role], &as_character, fields);
        let nowhere = as_character.replace("r2", "nobody");
        assert_eq!(there, (json!({"x": [null]}), Vec::new()), "{role}");
        assert_eq!(left_out_of_entities(&[role], &nowhere, fields), there);
    }
    let (there, nowhere) = (R2.to_owned(), R2.replace("r2", "nobody"));
    let [there, nowhere] = [there, nowhere]
        .map(|given| left_out_of_entities(&["NoDroid"], &given, "... on Droid { name }"));
    assert_eq!(there, nowhere);
}

#[test]
fn an_entity_whose_key_is_null_is_unknown_and_the_others_are_found() {
    let given = format!("{{__typename: \"Film\", id: null}}, {HOPE}");
    let (data, paths) = left_out_of_entities(&["All"], &given, "... on Film { title }");
    let expected = json!({"x": [null, {"title": "A New Hope"}]});
    assert_eq!((data, paths), (expected, Vec::new()));
}

#[test]
fn without_security_roles_say_nothing() {
    let open = service(SCHEMA, Arc::new(images::empty()), ServiceOptions::default());
    let context = RequestContext::new().with_caller(Arc::new(Caller::default()));
    let answer = json(&answer(&open, Request::new("{ film { secret } }"), context));
    assert_eq!(answer, json!({"data": {"film": []}}));
}
