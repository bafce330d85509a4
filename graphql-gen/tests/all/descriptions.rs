//! Descriptions of arguments: those of our own always have one, the others by an option.

use std::sync::Arc;

use apollo_compiler::ast::InputValueDefinition;
use apollo_compiler::schema::ExtendedType;
use graphql_gen::typesystem::{Api, ApiOptions, FederationMode, Setting};

const DOCUMENT: &str = "
id: /soml/books
config: {enableConnections: true, enableAggregates: true, enableTypeCount: true,
  enableCollectionCount: true}
types: {Genre: {values: [{name: NOVEL}]}}
objects:
  Work: {kind: abstract, name: title, props: {title: {}}}
  Book:
    inherits: Work
    props:
      note: {range: langString, max: inf}
      subtitle: {range: langString}
      genre: {range: Genre, max: inf}
      pages: {range: integer}
      author: {range: Person, max: inf}
  Person: {props: {wrote: {range: Book, inverseAlias: author, max: inf}}}
";

fn api(descriptions: bool) -> Api {
    let soml = soml_core::load(DOCUMENT).schema;
    let options = ApiOptions::default()
        .with_mutations(true)
        .with_federation(FederationMode::V2)
        .with_argument_descriptions(descriptions);
    let soml = Arc::new(soml.expect("the document is valid"));
    Api::new(soml, &options).expect("the document has an API")
}

/// Calls `look` with each argument, its type and its field.
fn each_argument(api: &Api, mut look: impl FnMut(&str, &str, &InputValueDefinition)) {
    for (name, ty) in api.schema().types.iter().filter(|(_, t)| !t.is_built_in()) {
        let fields = match ty {
            ExtendedType::Object(ty) => &ty.fields,
            ExtendedType::Interface(ty) => &ty.fields,
            _ => continue,
        };
        for (field, definition) in fields {
            for argument in &definition.arguments {
                look(name, field, argument);
            }
        }
    }
}

#[test]
fn every_argument_is_described_when_that_is_asked_for() {
    let mut arguments = 0;
    each_argument(&api(true), |ty, field, argument| {
        let described = argument.description.as_ref().is_some_and(|d| !d.is_empty());
        assert!(described, "{ty}.{field}({}:)", argument.name);
        arguments += 1;
    });
    assert!(arguments > 100, "{arguments}");
}

#[test]
fn arguments_of_our_own_features_are_always_described() {
    let api = api(false);
    let ours = [
        Setting::CollectionCount,
        Setting::TypeCount,
        Setting::Aggregates,
        Setting::Connections,
        Setting::Federation,
    ];
    let (mut own, mut plain) = (0, 0);
    each_argument(&api, |ty, field, argument| {
        let origin = api.member_origin(ty, field).expect("it has an origin");
        let of_type = api.type_origin(ty).expect("it has an origin");
        let mut settings = origin.settings().chain(of_type.settings());
        let described = argument.description.is_some();
        if settings.any(|setting| ours.contains(&setting)) {
            assert!(described, "{ty}.{field}({}:)", argument.name);
            own += 1;
        } else if !described {
            plain += 1;
        }
    });
    assert!(own > 50 && plain > 50, "{own} {plain}");
}

#[test]
fn descriptions_are_all_that_the_option_adds() {
    let types = |api: &Api| {
        let mut types = api.schema().types.clone();
        for ty in types.values_mut() {
            let fields = match ty {
                ExtendedType::Object(ty) => &mut ty.make_mut().fields,
                ExtendedType::Interface(ty) => &mut ty.make_mut().fields,
                _ => continue,
            };
            for argument in fields
                .values_mut()
                .flat_map(|f| &mut f.make_mut().arguments)
            {
                argument.make_mut().description = None;
            }
        }
        types
    };
    assert_eq!(types(&api(false)), types(&api(true)));
}
