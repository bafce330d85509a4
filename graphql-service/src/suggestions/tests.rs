//! Hints for every kind of unknown name, as a client sees them.

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;

use crate::{Documents, Limits};

const SCHEMA: &str = "
    directive @cached(seconds: Int) on FIELD
    directive @sealed on OBJECT
    type Query {
        planet(id: ID, where: PlanetFilter, climates: [Climate!]): Planet
        planets: [Planet!]
        person: Person
        place: Place
    }
    type Mutation { create(planet: PlanetFilter): Planet }
    interface Named { name: String }
    type Planet implements Named { name: String, climate: Climate, residents: [Person] }
    type Person implements Named { name: String, homeworld: Planet }
    union Place = Planet | Person
    input PlanetFilter { name: String, climate: Climate, and: [PlanetFilter!] }
    enum Climate { ARID, FROZEN }
";

fn schema() -> Valid<Schema> {
    Schema::parse_and_validate(SCHEMA, "schema.graphql").unwrap()
}

/// Returns line, column and message of the errors that refuse a document.
fn refused(text: &str) -> Vec<(usize, usize, String)> {
    let schema = schema();
    let documents = Documents::new(&schema, Limits::default(), 1 << 16);
    let errors = documents.get(text, |_| Ok::<_, Vec<_>>(())).unwrap_err();
    let place = |error: &crate::GraphqlError| error.locations.first().map(|l| (l.line, l.column));
    errors
        .into_iter()
        .map(|error| {
            let (line, column) = place(&error).unwrap_or_default();
            (line, column, error.message)
        })
        .collect()
}

/// Returns the hints in the errors that refuse a document; empty where there is none.
fn hints(text: &str) -> Vec<String> {
    let messages = refused(text).into_iter();
    let hint = |message: String| match message.split_once(" Did you mean ") {
        Some((_, hint)) => hint.to_owned(),
        None => String::new(),
    };
    messages.map(|(_, _, message)| hint(message)).collect()
}

#[test]
fn every_kind_of_unknown_name_gets_a_hint() {
    for (text, hint) in [
        ("{ planit { name } }", r#""planet"?"#),
        ("{ planets { residents { nane } } }", r#""name"?"#),
        ("{ a: planet { b: clinate } }", r#""climate"?"#),
        ("{ place { ... on Planet { nam } } }", r#""name"?"#),
        ("mutation { creat { name } }", r#""create"?"#),
        ("{ __schema { typs { name } } }", r#""types"?"#),
        ("{ planet(idd: 1) { name } }", r#""id"?"#),
        ("{ planets @cached(second: 1) { name } }", r#""seconds"?"#),
        ("{ planets @cachd { name } }", r#""@cached"?"#),
        ("{ planet(where: {nam: 1}) { name } }", r#""name"?"#),
        (
            "{ planet(where: {and: [{and: {nme: \"\"}}]}) { name } }",
            r#""name"?"#,
        ),
        ("{ planet(climates: [FROZN]) { name } }", r#""FROZEN"?"#),
        (
            "{ planet(where: {and: {climate: ARIT}}) { name } }",
            r#""ARID"?"#,
        ),
        ("{ place { ... on Persn { name } } }", r#""Person"?"#),
        (
            "{ place { ...p } } fragment p on Plase { name }",
            r#""Place"?"#,
        ),
        (
            "query ($f: PlanetFiltr) { planet(where: $f) { name } }",
            r#""PlanetFilter"?"#,
        ),
        (
            "query ($c: Climate = ARYD) { planet(climates: [$c]) { name } }",
            r#""ARID"?"#,
        ),
    ] {
        assert_eq!(hints(text)[0], hint, "{text}");
    }
}

#[test]
fn fragments_and_variables_of_the_document_are_known() {
    let spread = "{ person { ...nmes } } fragment names on Person { name }";
    assert_eq!(hints(spread), [r#""names"?"#, ""]);
    let variable = "query ($planet: ID) { planet(id: $plnet) { name } }";
    assert_eq!(hints(variable), ["", r#""$planet"?"#]);
    let in_fragment = "query ($seconds: Int) { planets { ...n } }
        fragment n on Planet { name @cached(seconds: $second) }";
    assert!(hints(in_fragment).contains(&r#""$seconds"?"#.to_owned()));
}

#[test]
fn variables_of_several_operations_are_no_hints_within_fragments() {
    let text = "query A($seconds: Int) { planets @cached(seconds: $seconds) { ...n } }
        query B($sekond: Int) { planets @cached(seconds: $sekond) { ...n } }
        fragment n on Planet { name @cached(seconds: $second) }";
    let hints = hints(text);
    assert_eq!(hints, ["", ""]);
}

#[test]
fn only_names_that_would_fit_are_hints() {
    for text in [
        // Nothing near; a field of another type; a type that has no fields of its own.
        "{ xyz }",
        "{ person { climate } }",
        "{ place { nam } }",
        // An input type as a condition, and an output type of a variable.
        "{ place { ... on PlanetFiltr { name } } }",
        "query ($p: Persn) { planet(id: $p) { name } }",
        // A directive in the wrong location.
        "{ planets @seald { name } }",
    ] {
        assert_eq!(hints(text)[0], "", "{text}");
    }
}

#[test]
fn findings_of_the_same_text_get_the_hint_of_their_own_place() {
    let text = "query A($planet: ID) { planet(id: $plant) { name } person { name } }
query B($plants: ID) { planet(id: $plant) { name } person { name } }";
    let unknown = r#"Variable "$plant" is not defined."#;
    let found = refused(text);
    let found: Vec<_> = found.iter().filter(|f| f.2.starts_with(unknown)).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    for (finding, (line, hint)) in found.iter().zip([(1, "$planet"), (2, "$plants")]) {
        assert_eq!(finding.0, line);
        assert_eq!(finding.2, format!("{unknown} Did you mean \"{hint}\"?"));
    }
    let twice = "{ planet { nam } planets { nam } }";
    let message = r#"Cannot query field "nam" on type "Planet". Did you mean "name"?"#;
    let expected = [12, 28].map(|column| (1, column, message.to_owned()));
    assert_eq!(refused(twice), expected);
}

#[test]
fn quoted_names_within_values_are_no_names() {
    let text = r#"{ planet(where: {name: {planet: "\"planit\" on type \"Query\""}}) { name } }"#;
    assert_eq!(hints(text), [""]);
}

#[test]
fn what_is_not_graphql_gets_no_hint() {
    assert!(hints("{ planit { ").iter().all(String::is_empty));
}

#[test]
fn at_most_a_hundred_findings_are_listed() {
    let fields: String = (0..150).map(|n| format!("a{n}: planit ")).collect();
    let found = hints(&format!("{{ {fields} }}"));
    assert_eq!(found.len(), 101);
    assert!(found[..100].iter().all(|hint| hint == r#""planet"?"#));
    assert_eq!(found[100], "");
}
