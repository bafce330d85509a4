//! Every part of an API has an origin, and it is the right one.
//!
//! Names are what the origins are checked by here, since nothing in the API goes by them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::schema::ExtendedType;
use graphql_gen::typesystem::{Api, ApiOptions, FederationMode, Setting, Source};
use soml_core::schema::{ObjectId, PropertyId};

/// Documents that were made for use, relative to the crate.
const DOCUMENTS: [&str; 10] = [
    "../soml-core/tests/data/graphdb-workbench/swapi-schema.yaml",
    "../soml-core/tests/data/graphdb-workbench/swapi-schema-planets.yaml",
    "../soml-core/tests/data/graphdb-workbench/swapi-schema-species.yaml",
    "../soml-core/tests/data/graphdb-workbench/swapi-schema-film-restricted.yaml",
    "../soml-core/tests/data/bsdd/bsdd-graphql-soml-orig.yaml",
    "../soml-core/tests/data/bsdd/bsdd-graphql-soml-refact.yaml",
    "../soml-core/tests/data/bsdd/bsdd-graphql-soml-template.yaml",
    "../soml-core/tests/data/bsdd/bsdd-graphql-soml-withDiagram-noLabel.yaml",
    "../soml-core/tests/data/talk2powersystem/cim-subset-pretty-ontology.yaml",
    "../servers/demo/star-wars/schema.yaml",
];

/// Generates everything that a document asks for.
fn api(text: &str) -> Api {
    let mut soml = soml_core::load(text);
    assert_eq!(soml.errors().count(), 0);
    let schema = soml.schema.take().expect("a document without errors");
    let options = ApiOptions::default()
        .with_federation(FederationMode::V2)
        .with_mutations(true);
    Api::new(Arc::new(schema), &options).expect("the document has an API")
}

/// Makes a document ask for everything that is optional.
fn with_everything(text: &str) -> String {
    let text = text.replace("\nconfig: {}\n", "\n");
    format!(
        "{text}\nconfig: {{enable_mutations: true, enableCollectionCount: true, \
         enableTypeCount: true, enableAggregates: true, enableConnections: true}}\n"
    )
}

/// Calls `each` with the name of every member of a type, and with the field if it is one.
fn members<'a>(ty: &'a ExtendedType, mut each: impl FnMut(&'a str, Option<&'a FieldDefinition>)) {
    match ty {
        ExtendedType::Object(ty) => ty.fields.iter().for_each(|(n, f)| each(n, Some(f))),
        ExtendedType::Interface(ty) => ty.fields.iter().for_each(|(n, f)| each(n, Some(f))),
        ExtendedType::InputObject(ty) => ty.fields.keys().for_each(|name| each(name, None)),
        ExtendedType::Enum(ty) => ty.values.keys().for_each(|name| each(name, None)),
        ExtendedType::Scalar(_) | ExtendedType::Union(_) => {}
    }
}

/// The names that parts of the API with a source begin with.
fn name(api: &Api, source: Source) -> Option<&str> {
    let soml = api.soml();
    match source {
        Source::Object(id) => Some(&soml[id].name.graphql),
        Source::Property(id) => Some(&soml[id].name.graphql),
        Source::Enum(id) => Some(&soml[id].name.graphql),
        Source::Name(_) => Some("name"),
        _ => None,
    }
}

#[test]
fn every_type_field_and_argument_has_an_origin() {
    for document in DOCUMENTS {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
        let text = std::fs::read_to_string(&file).expect("the document is there");
        let api = api(&with_everything(&text));
        let mut seen: HashMap<PropertyId, usize> = HashMap::new();
        for (ty, definition) in &api.schema().types {
            let own = api
                .type_origin(ty)
                .unwrap_or_else(|| panic!("{document}: {ty}"));
            if let Some(of) = name(&api, own.source()) {
                assert!(ty.starts_with(of), "{document}: {ty} stems from {of}");
            }
            members(definition, |member, field| {
                let at = format!("{document}: {ty}.{member}");
                let origin = api
                    .member_origin(ty, member)
                    .unwrap_or_else(|| panic!("{at}"));
                check_name(&api, &at, ty, member, origin.source());
                if let Source::Property(id) = origin.source() {
                    *seen.entry(id).or_default() += 1;
                    check_owner(&api, &at, own.source(), id);
                }
                for argument in field.map_or(&[][..], |field| &field.arguments) {
                    let found = api.argument_origin(ty, member, &argument.name);
                    assert_eq!(found, Some(origin), "{at}({}:)", argument.name);
                }
            });
        }
        for (id, object) in api.soml().objects() {
            let types = [
                api.type_name(id).as_str(),
                &format!("{}_Where", object.name.graphql),
            ]
            .map(|ty| api.type_origin(ty).map(|origin| origin.source()));
            assert_eq!(types, [Some(Source::Object(id)); 2], "{document}");
            // A field, keys of two filters, and fields of the two aggregates at least.
            for property in &object.props {
                let times = seen.get(property).copied().unwrap_or_default();
                assert!(times >= 5, "{document}: {times} {property:?}");
            }
        }
    }
}

/// Checks that a member bears the name of what it stems from.
fn check_name(api: &Api, at: &str, ty: &str, member: &str, source: Source) {
    let Some(of) = name(api, source) else {
        return;
    };
    let plain = |of: &str| member.strip_prefix(of);
    match source {
        Source::Object(_) if api.type_origin(ty).map(|o| o.source()) == Some(source) => {}
        Source::Object(_) if ["Query", "Mutation"].contains(&ty) => {
            let (member, of) = (member.to_lowercase(), of.to_lowercase());
            assert!(member.contains(&of), "{at} stems from {of}");
        }
        Source::Object(_) => {
            let key = member.strip_prefix("_if").unwrap_or(member);
            assert_eq!(key, of, "{at}");
        }
        Source::Enum(_) => assert!(ty.starts_with(of), "{at} stems from {of}"),
        _ => {
            let rest = plain(of).unwrap_or_else(|| panic!("{at} stems from {of}"));
            let allowed = ["", "_count", "_aggregate"];
            assert!(allowed.contains(&rest), "{at} stems from {of}");
        }
    }
}

/// Checks that the property behind a member belongs to the object behind the type.
fn check_owner(api: &Api, at: &str, ty: Source, property: PropertyId) {
    let Source::Object(object) = ty else {
        panic!("{at} stems from a property, its type from {ty:?}");
    };
    assert_eq!(api.soml()[property].owner, object, "{at}");
}

const SETTINGS: &str = "
id: /soml/settings
config: {queryPfx: get_, mutationPfx: do_, enable_mutations: true, enableCollectionCount: true,
  enableTypeCount: true, enableAggregates: true, enableConnections: true}
types: {Color: {values: [{name: RED}]}}
objects:
  Ball:
    name: title
    props: {title: {}, colors: {range: Color, max: inf}, balls: {range: Ball, max: inf}}
";

#[test]
fn settings_are_part_of_the_origin() {
    use Setting::{
        Aggregates, CollectionCount, Connections, Federation, MutationPrefix, Mutations,
        NameLanguage, QueryPrefix, Service, TypeCount,
    };
    let api = api(SETTINGS);
    let ball = Source::Object(ObjectId(0));
    let property = |name: &str| {
        let mut props = api.soml()[ObjectId(0)].props.iter();
        let id = props.find(|&&id| api.soml()[id].name.graphql == name);
        Source::Property(*id.expect("the property exists"))
    };
    let color = api.type_origin("Color").expect("the type exists").source();
    assert!(matches!(color, Source::Enum(_)));
    let types: &[(&str, Source, &[Setting])] = &[
        ("Ball", ball, &[]),
        ("Ball_Where_Multi", ball, &[]),
        ("Ball_Aggregate", ball, &[Aggregates]),
        ("Ball_GroupKeyOrderBy", ball, &[Aggregates]),
        ("BallConnection", ball, &[Connections]),
        ("BallEdge", ball, &[Connections]),
        ("Ball_Create_Input", ball, &[Mutations]),
        ("Ball_Ref_Update_Input", ball, &[Mutations]),
        ("Ball_Subscription", ball, &[]),
        ("Color_Where", color, &[]),
        ("Color_AggregateHaving", color, &[Aggregates]),
        ("Color_Compare", color, &[Aggregates]),
        ("Int_Compare", Source::BuiltIn, &[Aggregates]),
        ("_Counts", Source::BuiltIn, &[Aggregates]),
        ("PageInfo", Source::BuiltIn, &[Connections]),
        ("Mutation", Source::BuiltIn, &[Mutations]),
        ("Affected_Count", Source::BuiltIn, &[Mutations]),
        ("_Entity", Source::BuiltIn, &[Federation]),
        ("_Service", Source::BuiltIn, &[Federation, Service]),
        ("String", Source::BuiltIn, &[]),
    ];
    for &(ty, source, settings) in types {
        let origin = api.type_origin(ty).unwrap_or_else(|| panic!("{ty}"));
        assert_eq!(origin.source(), source, "{ty}");
        assert_eq!(origin.settings().collect::<Vec<_>>(), settings, "{ty}");
    }
    let named = Source::Name(ObjectId(0));
    let members: &[(&str, &str, Source, &[Setting])] = &[
        ("Query", "get_ball", ball, &[QueryPrefix]),
        ("Query", "get_ball_count", ball, &[QueryPrefix, TypeCount]),
        (
            "Query",
            "get_ballConnection",
            ball,
            &[QueryPrefix, Connections],
        ),
        (
            "Query",
            "get_ball_aggregate",
            ball,
            &[QueryPrefix, Aggregates],
        ),
        ("Query", "get_object", Source::BuiltIn, &[QueryPrefix]),
        ("Query", "_service", Source::BuiltIn, &[Federation, Service]),
        ("Mutation", "do_create_Ball", ball, &[MutationPrefix]),
        ("Ball", "id", ball, &[]),
        ("Ball", "name", named, &[NameLanguage]),
        ("Ball", "colors", property("colors"), &[]),
        (
            "Ball",
            "colors_count",
            property("colors"),
            &[CollectionCount],
        ),
        ("Ball", "balls_aggregate", property("balls"), &[Aggregates]),
        ("Ball_Where", "name", named, &[]),
        ("Ball_Where", "colors", property("colors"), &[]),
        ("Ball_OrderBy", "name", named, &[]),
        ("Ball_OrderBy", "title", property("title"), &[]),
        ("Ball_GroupField", "title", property("title"), &[]),
        ("Ball_GroupField", "type", ball, &[]),
        ("Ball_Create_Input", "balls", property("balls"), &[]),
        ("Ball_Ref_Input", "Ball", ball, &[]),
        ("Object_Where", "_ifBall", ball, &[]),
        ("Nameable", "name", Source::BuiltIn, &[NameLanguage]),
        ("Color", "RED", color, &[]),
    ];
    for &(ty, member, source, settings) in members {
        let origin = api.member_origin(ty, member);
        let origin = origin.unwrap_or_else(|| panic!("{ty}.{member}"));
        assert_eq!(origin.source(), source, "{ty}.{member}");
        assert_eq!(
            origin.settings().collect::<Vec<_>>(),
            settings,
            "{ty}.{member}"
        );
    }
    assert_eq!(api.type_origin("Bell"), None);
    assert_eq!(api.member_origin("Ball", "colour"), None);
    assert_eq!(api.argument_origin("Ball", "name", "language"), None);
}
