//! A pruned schema: what nothing reaches is gone, and nothing else is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::schema::ExtendedType;
use graphql_gen::typesystem::{Api, ApiOptions, FederationMode};

const STAR_WARS: &str = include_str!("../../../servers/demo/star-wars/schema.yaml");

/// A document with an interface beside each type, and with everything that is optional.
const ALL_PARTS: &str = "
id: /soml/animals
config: {enableConnections: true, enableAggregates: true, enableTypeCount: true,
  enableCollectionCount: true, exposeSomlInGraphQL: true}
types: {Fur: {values: [{name: LONG}, {name: SHORT}]}}
objects:
  Being: {kind: abstract, name: title, props: {title: {}}}
  Animal: {inherits: Being, props: {fur: {range: Fur}, eats: {range: Being, max: inf}}}
  Dog: {inherits: Animal, props: {weight: {range: decimal}}}
  Stone: {props: {note: {range: langString}}}
";

fn api(text: &str, options: &ApiOptions) -> Api {
    let soml = soml_core::load(text).schema.expect("the document is valid");
    Api::new(Arc::new(soml), options).expect("the document has an API")
}

fn all_options() -> [(&'static str, ApiOptions); 4] {
    let served = ApiOptions::default();
    [
        (STAR_WARS, served.clone()),
        (STAR_WARS, served.clone().with_mutations(true)),
        (ALL_PARTS, served.clone()),
        (ALL_PARTS, served.with_federation(FederationMode::V2)),
    ]
}

/// Returns the types that the definition of a type mentions.
fn mentioned(ty: &ExtendedType) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut add = |name: &str| {
        names.insert(name.to_owned());
    };
    let fields = match ty {
        ExtendedType::Object(ty) => {
            ty.implements_interfaces.iter().for_each(|i| add(i));
            &ty.fields
        }
        ExtendedType::Interface(ty) => {
            ty.implements_interfaces.iter().for_each(|i| add(i));
            &ty.fields
        }
        ExtendedType::Union(ty) => {
            ty.members.iter().for_each(|member| add(member));
            return names;
        }
        ExtendedType::InputObject(ty) => {
            let keys = ty.fields.values();
            keys.for_each(|key| add(key.ty.inner_named_type()));
            return names;
        }
        ExtendedType::Scalar(_) | ExtendedType::Enum(_) => return names,
    };
    for field in fields.values() {
        add(field.ty.inner_named_type());
        let arguments = field.arguments.iter();
        arguments.for_each(|argument| add(argument.ty.inner_named_type()));
    }
    names
}

/// Returns the implementers of each interface and the members of each union.
fn possible(schema: &Schema) -> BTreeMap<String, BTreeSet<String>> {
    let mut possible: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, ty) in &schema.types {
        let above = match ty {
            ExtendedType::Object(ty) => ty.implements_interfaces.iter(),
            ExtendedType::Interface(ty) => ty.implements_interfaces.iter(),
            ExtendedType::Union(ty) => {
                let members = ty.members.iter().map(ToString::to_string);
                possible.insert(name.to_string(), members.collect());
                continue;
            }
            _ => continue,
        };
        for interface in above {
            let of = possible.entry(interface.to_string()).or_default();
            of.insert(name.to_string());
        }
    }
    possible
}

#[test]
fn half_of_the_demo_is_left_out() {
    let full = api(STAR_WARS, &ApiOptions::default());
    let pruned = api(STAR_WARS, &ApiOptions::default().with_prune(true));
    let count = |api: &Api| {
        let types = api.schema().types.values();
        types.filter(|ty| !ty.is_built_in()).count()
    };
    assert_eq!((count(&full), count(&pruned)), (397, 195));
    for gone in ["SubscriptionOp", "Planet_Subscription", "Byte_Where"] {
        assert!(full.type_origin(gone).is_some(), "{gone}");
        assert!(pruned.type_origin(gone).is_none(), "{gone}");
        assert!(!pruned.sdl().contains(gone), "{gone}");
    }
}

#[test]
fn the_pruned_schema_validates_and_has_all_that_can_be_returned() {
    for (text, options) in all_options() {
        let full = api(text, &options);
        let pruned = api(text, &options.with_prune(true));
        let sdl = pruned.sdl();
        Schema::parse_and_validate(sdl.as_str(), "pruned.graphql")
            .unwrap_or_else(|invalid| panic!("{}", invalid.errors));

        let (full, pruned) = (full.schema(), pruned.schema());
        assert_eq!(pruned.schema_definition, full.schema_definition);
        assert_eq!(pruned.directive_definitions, full.directive_definitions);
        assert_eq!(possible(pruned), possible(full));
        for (name, ty) in &full.types {
            match pruned.types.get(name) {
                Some(kept) => assert_eq!(kept, ty, "{name}"),
                // No root type has subscriptions, and the demo has no property with a language.
                None if ty.is_object() => {
                    assert!(
                        name.ends_with("_Subscription") || name == "Literal",
                        "{name}"
                    );
                }
                None => assert!(!ty.is_interface() && !ty.is_union(), "{name}"),
            }
        }
    }
}

#[test]
fn nothing_else_could_be_left_out() {
    for (text, options) in all_options() {
        let pruned = api(text, &options.with_prune(true));
        let schema = pruned.schema();
        let types = schema.types.values();
        let mentioned: BTreeSet<String> = types.flat_map(mentioned).collect();
        let possible = possible(schema);
        for (name, ty) in schema.types.iter().filter(|(_, ty)| !ty.is_built_in()) {
            let is_root = schema.schema_definition.iter_root_operations();
            let is_root = is_root.into_iter().any(|(_, root)| root.name == *name);
            let is_possible = possible.values().any(|of| of.contains(name.as_str()));
            let used = is_root || is_possible || mentioned.contains(name.as_str());
            assert!(used, "nothing mentions {name}");
            assert!(pruned.type_origin(ty.name()).is_some(), "{name}");
        }
    }
}

#[test]
fn an_interface_that_nothing_implements_is_no_type_of_the_api() {
    let text = "id: /soml/a\nobjects: {Stone: {props: {note: {}}}}\n";
    let full = api(text, &ApiOptions::default());
    let pruned = api(text, &ApiOptions::default().with_prune(true));
    assert!(full.type_ref("Nameable").is_some());
    assert!(pruned.type_ref("Nameable").is_none());
    assert!(pruned.type_ref("Object").is_some());
}
