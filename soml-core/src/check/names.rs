//! Names that are taken: by the language, by GraphQL, or by another element.

use std::collections::HashMap;

use super::{Cx, Own, quoted};
use crate::codes::Code;
use crate::config::Config;
use crate::datatype::Scalar;
use crate::raw::{Named, RawProperty, Text};
use crate::resolve::literal;
use crate::resolve::namespaces::{is_reserved, sanitize};
use crate::schema::{ObjectId, Property, PropertyId};
use crate::span::Span;

/// GraphQL types that every generated schema has, besides the scalars.
const BUILT_IN: [&str; 9] = [
    "Object",
    "Nameable",
    "Literal",
    "Query",
    "Mutation",
    "Subscription",
    "_Service",
    "_Entity",
    "_Any",
];
/// Endings of the names of types and query fields that are generated for an object.
const GENERATED: [&str; 4] = ["_Where", "_Where_Multi", "_OrderBy", "_count"];

pub(super) fn check(cx: &mut Cx<'_, '_>) {
    type_names(cx);
    root_fields(cx);
    indexes(cx);
    let raw = cx.raw;
    property_keys(cx, &raw.properties);
    for object in &raw.objects {
        property_keys(cx, &object.body.props);
    }
    fields(cx);
}

/// Names of GraphQL types by which elements are known, and what the elements are.
type Taken<'d> = HashMap<String, (Text<'d>, &'static str)>;

/// Reports types and objects with one GraphQL name: names of types are unique
/// (<https://spec.graphql.org/September2025/#sec-Schema>).
fn type_names(cx: &mut Cx<'_, '_>) {
    let raw = cx.raw;
    let scope = cx.scope();
    let types = raw.types.iter().map(|named| (named.name, "the type"));
    let objects = raw.objects.iter().map(|named| (named.name, "the object"));
    let mut taken = Taken::new();
    for (name, what) in types.chain(objects) {
        let graphql = sanitize(scope.names.key(name.value));
        reserved_type(cx, name, &graphql);
        if let Some((first, of)) = taken.get(&graphql) {
            let message = format!(
                "{} and {} both become `{graphql}` in GraphQL",
                quoted(name),
                quoted(*first)
            );
            cx.add(Code::NameCollision, name.span, message)
                .label(first.span, format!("{of} with the same name"))
                .help("rename one of them");
        } else {
            taken.insert(graphql, (name, what));
        }
    }
    generated_names(cx, &taken);
}

fn reserved_type(cx: &mut Cx<'_, '_>, name: Text<'_>, graphql: &str) {
    let name_of = quoted(name);
    // A range names a datatype or an object without saying which, so objects leave the names of
    // datatypes alone.
    if Scalar::from_soml_name(name.value).is_some() || literal(name.value).is_some() {
        let message = format!("{name_of} is the name of a datatype");
        cx.add(Code::ReservedName, name.span, message)
            .help("choose a different name");
    } else if BUILT_IN.contains(&graphql) || Scalar::from_graphql_name(graphql).is_some() {
        let message = format!("{name_of} is the name of a built-in GraphQL type");
        cx.add(Code::NameCollision, name.span, message)
            .help("choose a different name");
    // <https://spec.graphql.org/September2025/#sec-Names.Reserved-Names>
    } else if graphql.starts_with("__") {
        let message = format!("{name_of} becomes `{graphql}` in GraphQL, where `__` is reserved");
        cx.add(Code::ReservedName, name.span, message);
    }
}

/// Reports objects that are called like something generated for another object. Only what every
/// schema has is checked here; the rest depends on options, and is an `API_TYPE_NAME_TAKEN` of the
/// generator.
fn generated_names(cx: &mut Cx<'_, '_>, taken: &Taken<'_>) {
    let counts = cx.raw.config.enable_type_count;
    let endings = GENERATED
        .into_iter()
        .filter(|ending| *ending != "_count" || counts);
    for ending in endings {
        for (graphql, (name, _)) in taken {
            if let Some((base, _)) = graphql.strip_suffix(ending).and_then(|b| taken.get(b)) {
                let message = format!("`{graphql}` is also generated for {}", quoted(*base));
                cx.add(Code::NameCollision, name.span, message)
                    .label(base.span, "generated for this object");
            }
        }
    }
}

/// Reports objects with one root field, whose name has its first letter in lower case
/// (docs/queries.md, "Root fields").
fn root_fields(cx: &mut Cx<'_, '_>) {
    let schema = cx.schema();
    let mut taken: HashMap<String, (&str, Span)> = HashMap::new();
    for (_, object) in schema.objects() {
        let field = lower_first(&object.name.graphql);
        let name = &object.name.written;
        if field == "object" {
            let message = format!(
                "the query field of `{name}` would be `object`, which is reserved for all objects"
            );
            cx.add(Code::NameCollision, object.span, message)
                .help("choose a different name");
            continue;
        }
        match taken.get(&field) {
            // One GraphQL name for both is reported with the type names.
            Some((graphql, _)) if *graphql == object.name.graphql => {}
            Some((_, first)) => {
                let message =
                    format!("the query field of `{name}` is `{field}`, which is already in use");
                cx.add(Code::NameCollision, object.span, message)
                    .label(*first, "used by this object")
                    .help("object names must differ in more than the case of the first letter");
            }
            None => {
                taken.insert(field, (&object.name.graphql, object.span));
            }
        }
    }
}

fn lower_first(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_ascii_lowercase().to_string() + chars.as_str(),
        None => String::new(),
    }
}

/// Reports searchable objects with one index. Search engines only accept names of indexes in lower
/// case (docs/diagnostics.md, "INDEX_COLLISION").
fn indexes(cx: &mut Cx<'_, '_>) {
    let schema = cx.schema();
    let mut taken: HashMap<String, (&str, Span)> = HashMap::new();
    for (_, object) in schema.objects() {
        if !object.search.as_ref().is_some_and(|search| search.index) {
            continue;
        }
        let index = object.name.graphql.to_lowercase();
        match taken.get(&index) {
            Some((graphql, first)) if *graphql != object.name.graphql => {
                let message = format!(
                    "the search index of `{}` is `{index}`, which is already in use",
                    object.name
                );
                cx.add(Code::IndexCollision, object.span, message)
                    .label(*first, "used by this object");
            }
            Some(_) => {}
            None => {
                taken.insert(index, (&object.name.graphql, object.span));
            }
        }
    }
}

/// Rules about the keys of one mapping of properties.
fn property_keys(cx: &mut Cx<'_, '_>, props: &[Named<'_, RawProperty<'_>>]) {
    let scope = cx.scope();
    let vocab = &scope.names.prefixes().vocab_prefix;
    let mut seen: HashMap<&str, Text<'_>> = HashMap::new();
    for Named { name, .. } in props {
        let key = scope.names.key(name.value);
        let has_prefix = key.len() != name.value.len();
        // `name` is allowed: it describes the built-in field, and its values are stored under the
        // vocabulary's `name` (docs/schema.md, "Names").
        if !has_prefix && key != "name" && is_reserved(&sanitize(key)) {
            cx.add(
                Code::ReservedName,
                name.span,
                format!("{} is a reserved name", quoted(*name)),
            )
            .help(format!(
                "write `{vocab}:{key}`; its GraphQL field is `{}`",
                sanitize(&format!("{vocab}:{key}"))
            ));
        }
        match seen.get(key) {
            Some(first) => {
                let message = format!(
                    "{} and {} are the same property",
                    quoted(*name),
                    quoted(*first)
                );
                cx.add(Code::NameCollision, name.span, message)
                    .label(first.span, "first occurrence")
                    .help("keep one of them");
            }
            None => {
                seen.insert(key, *name);
            }
        }
    }
}

/// Reports fields of one GraphQL type that would have one name
/// (<https://spec.graphql.org/September2025/#sec-Objects>).
fn fields(cx: &mut Cx<'_, '_>) {
    let mut of: HashMap<ObjectId, Vec<Own<'_, '_>>> = HashMap::new();
    for own in cx.own_properties() {
        of.entry(own.object).or_default().push(own);
    }
    let schema = cx.schema();
    for (object, own) in of {
        let props = &schema[object].props;
        let mut first_with: HashMap<&str, PropertyId> = HashMap::with_capacity(props.len());
        for id in props {
            first_with.entry(&schema[*id].name.graphql).or_insert(*id);
        }
        for own in own {
            same_field(cx, &own, &first_with);
            companion_field(cx, own.property, &first_with);
        }
    }
}

fn same_field(cx: &mut Cx<'_, '_>, own: &Own<'_, '_>, first_with: &HashMap<&str, PropertyId>) {
    let schema = cx.schema();
    let property = own.property;
    let graphql = property.name.graphql.as_str();
    let Some(other) = first_with.get(graphql).filter(|first| **first != own.id) else {
        return;
    };
    let other = &schema[*other];
    let message = format!(
        "`{}` and `{}` both become `{graphql}` in GraphQL",
        property.name, other.name
    );
    cx.add(Code::NameCollision, property.span, message)
        .label(other.span, "the other property")
        .help("rename one of them; set `rdfProp` to keep the RDF property");
}

fn companion_field(
    cx: &mut Cx<'_, '_>,
    property: &Property,
    first_with: &HashMap<&str, PropertyId>,
) {
    let schema = cx.schema();
    let graphql = &property.name.graphql;
    for ending in companions(&cx.raw.config) {
        let base = graphql
            .strip_suffix(ending)
            .and_then(|base| first_with.get(base));
        // Only lists have companions (docs/queries.md, "Counts" and "Aggregates").
        let Some(base) = base.map(|id| &schema[*id]).filter(|p| p.max.is_multiple()) else {
            continue;
        };
        let message = format!(
            "the field `{graphql}` is also generated for `{}`",
            base.name
        );
        cx.add(Code::NameCollision, property.span, message)
            .label(base.span, "generated for this property")
            .help("rename one of them; set `rdfProp` to keep the RDF property");
    }
}

/// Endings of fields that are generated beside lists.
fn companions(config: &Config) -> impl Iterator<Item = &'static str> + use<> {
    [
        (config.enable_collection_count, "_count"),
        (config.enable_aggregates, "_aggregate"),
    ]
    .into_iter()
    .filter_map(|(on, ending)| on.then_some(ending))
}
