//! Writes what has been merged as standard supergraph SDL.

use apollo_compiler::ast::{Directive, Value};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::{Component, ComponentName};
use apollo_compiler::{Name, Node, Schema, name};

use super::merge::{ComposedDirective, Merged};
use super::read::{Subgraph, Version};
use crate::supergraph::join::{DirectiveBuilder, argument};
use crate::supergraph::{JoinVersion, definitions, feature_link, machinery_links};

/// A feature whose directives supergraphs have: its name and version, what it is for, and its definitions.
struct Feature {
    directives: &'static [&'static str],
    path: &'static str,
    purpose: Option<&'static str>,
    definitions: &'static str,
}

const FEATURES: [Feature; 9] = [
    Feature {
        directives: &["tag"],
        path: "tag/v0.3",
        purpose: None,
        definitions: "\ndirective @tag(name: String!) repeatable on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION | SCHEMA\n",
    },
    Feature {
        directives: &["inaccessible"],
        path: "inaccessible/v0.2",
        purpose: Some("SECURITY"),
        definitions: "\ndirective @inaccessible on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION\n",
    },
    Feature {
        directives: &["authenticated"],
        path: "authenticated/v0.1",
        purpose: Some("SECURITY"),
        definitions: "\ndirective @authenticated on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM\n",
    },
    Feature {
        directives: &["requiresScopes"],
        path: "requiresScopes/v0.1",
        purpose: Some("SECURITY"),
        definitions: "\nscalar requiresScopes__Scope\n\ndirective @requiresScopes(scopes: [[requiresScopes__Scope!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM\n",
    },
    Feature {
        directives: &["policy"],
        path: "policy/v0.1",
        purpose: Some("SECURITY"),
        definitions: "\nscalar policy__Policy\n\ndirective @policy(policies: [[policy__Policy!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM\n",
    },
    Feature {
        directives: &["context"],
        path: "context/v0.1",
        purpose: Some("SECURITY"),
        definitions: "\nscalar context__ContextFieldValue\n\ndirective @context(name: String!) repeatable on INTERFACE | OBJECT | UNION\n\ndirective @context__fromContext(field: context__ContextFieldValue) on ARGUMENT_DEFINITION\n",
    },
    Feature {
        directives: &["cacheTag"],
        path: "cacheTag/v0.1",
        purpose: Some("EXECUTION"),
        // It is written as `@join__directive`.
        definitions: "",
    },
    Feature {
        directives: &["cost"],
        path: "cost/v0.1",
        purpose: None,
        definitions: "\ndirective @cost(weight: Int!) on ARGUMENT_DEFINITION | ENUM | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT | SCALAR\n",
    },
    Feature {
        directives: &["listSize"],
        path: "cost/v0.1",
        purpose: None,
        definitions: "\ndirective @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true) on FIELD_DEFINITION\n",
    },
];

/// Writes a supergraph.
pub(super) fn write(merged: &Merged, subgraphs: &[Subgraph]) -> String {
    let version = version(subgraphs);
    let features: Vec<&Feature> = FEATURES
        .iter()
        .filter(|it| {
            it.directives
                .iter()
                .any(|name| merged.features.contains(name))
        })
        .collect();
    let mut schema = Schema::new();
    let definition = schema.schema_definition.make_mut();
    let root = |name: Name| {
        let fields = merged
            .types
            .get(&name)
            .and_then(|ty| ty.as_object())
            .map(|object| &object.fields);
        fields
            .is_some_and(|fields| !fields.is_empty())
            .then(|| ComponentName::from(name))
    };
    definition.query = root(name!("Query"));
    definition.mutation = root(name!("Mutation"));
    definition.subscription = root(name!("Subscription"));
    definition.directives.0 = links(&features, version);
    let own = composed_links(merged);
    definition.directives.0.extend(own);
    definition
        .directives
        .0
        .extend(merged.applied.iter().cloned().map(Component::from));
    schema.types.extend(
        merged
            .types
            .iter()
            .map(|(name, ty)| (name.clone(), ty.clone())),
    );
    let directives = merged
        .directives
        .iter()
        .map(|it| (it.name.clone(), it.clone()));
    schema.directive_definitions.extend(directives);
    let composed = merged
        .composed
        .iter()
        .map(|(name, it)| (name.clone(), it.definition.clone()));
    schema.directive_definitions.extend(composed);
    let mut out = schema.to_string();
    let listed = subgraphs
        .iter()
        .map(|it| (&it.graph, it.name.as_str(), it.url.as_str()));
    definitions(listed, version, &mut out);
    for feature in features {
        out.push_str(feature.definitions);
    }
    // Not every reader of supergraphs knows it.
    let mut types = merged.types.values();
    if types.any(|ty| ty.directives().has("oneOf")) {
        out.push_str("\ndirective @oneOf on INPUT_OBJECT\n");
    }
    out
}

/// Returns the version of the join specification that goes with the versions of federation: 0.4 has
/// `overrideLabel`, and 0.5 `contextArguments`. Older gateways read only older ones, so it is
/// no later than needed.
fn version(subgraphs: &[Subgraph]) -> JoinVersion {
    let version = |it: &Subgraph| {
        let upgrade = it.links.upgrade();
        upgrade.map_or(it.links.version, |(_, minor)| Version::Two(minor))
    };
    let latest = subgraphs.iter().map(version).max();
    match latest {
        Some(Version::Two(minor)) if minor >= 8 => JoinVersion::V05,
        Some(Version::Two(7)) => JoinVersion::V04,
        _ => JoinVersion::V03,
    }
}

fn links(features: &[&Feature], version: JoinVersion) -> Vec<Component<Directive>> {
    let mut links = machinery_links(version);
    let mut last = "";
    for feature in features {
        // Two directives may belong to one feature.
        if feature.path == last {
            continue;
        }
        last = feature.path;
        let mut link = feature_link(feature.path, feature.purpose);
        if feature.path.starts_with("cost/") {
            let names = features
                .iter()
                .filter(|it| it.path == feature.path)
                .flat_map(|it| it.directives);
            let names = names.map(|name| Node::new(Value::from(format!("@{name}"))));
            let import = argument(name!("import"), Value::List(names.collect()));
            link.make_mut().arguments.push(import);
        }
        links.push(link);
    }
    links
}

/// Returns the links to the features of directives of the subgraphs' own.
fn composed_links(merged: &Merged) -> Vec<Component<Directive>> {
    let mut by_url: IndexMap<&str, Vec<(&Name, &ComposedDirective)>> = IndexMap::default();
    for (name, directive) in &merged.composed {
        by_url
            .entry(&directive.url)
            .or_default()
            .push((name, directive));
    }
    let links = by_url.into_values().map(|directives| {
        let imports = directives.iter().map(|(name, directive)| {
            let alias = format!("@{name}");
            let element = Node::new(Value::from(directive.element.as_str()));
            Node::new(if directive.element == alias {
                Value::from(alias)
            } else {
                Value::Object(vec![
                    (name!("name"), element),
                    (name!("as"), Node::new(Value::from(alias))),
                ])
            })
        });
        let imports = Value::List(imports.collect());
        // One version of a feature serves all of its directives: the latest.
        let latest = directives.iter().max_by_key(|(_, it)| it.version);
        let url = latest.map_or_else(String::new, |(_, it)| it.versioned());
        DirectiveBuilder::link(&url)
            .with(name!("import"), imports)
            .component()
    });
    links.collect()
}
