//! A sample query for a schema, shown in GraphiQL.

use graphql_gen::typesystem::{Api, TypeRef};
use soml_core::schema::{ObjectKind, Property, Range};

const FIELDS: usize = 4;
const OBJECTS: usize = 10;

/// Returns a query for some objects of the concrete type with the most properties, with a few of
/// their values.
#[must_use]
pub fn first_query(api: &Api) -> String {
    let soml = api.soml();
    let query = api.schema().schema_definition.query.as_ref();
    let fields = query
        .and_then(|name| api.schema().get_object(name.as_str()))
        .map(|t| &t.fields);
    let roots = fields.into_iter().flatten().filter_map(|(name, _)| {
        let object = api.root_field(name)?.target.object()?;
        (soml[object].kind == ObjectKind::Concrete).then_some((name, object))
    });
    // Objects with many properties say more about the data than lookup tables do.
    let Some((root, object)) = roots.max_by_key(|(_, object)| soml[*object].props.len()) else {
        return format!("{{\n  object(limit: {OBJECTS}) {{\n    id\n    __typename\n  }}\n}}\n");
    };
    let mut text = format!("{{\n  {root}(limit: {OBJECTS}) {{\n    id\n");
    if soml[object].name_property.is_some() {
        text.push_str("    name\n");
    }
    let named = soml[object].name_property;
    let scalars = soml[object]
        .props
        .iter()
        .filter(|id| Some(**id) != named)
        .map(|id| &soml[*id]);
    for property in scalars
        .filter(|p| is_leaf(p) && has_field(api, object, p))
        .take(FIELDS)
    {
        text.push_str(&format!("    {}\n", property.name.graphql));
    }
    text.push_str("  }\n}\n");
    text
}

fn is_leaf(property: &Property) -> bool {
    matches!(property.range, Range::Scalar(_) | Range::Enum(_))
}

fn has_field(api: &Api, object: soml_core::schema::ObjectId, property: &Property) -> bool {
    api.field(TypeRef::Concrete(object), &property.name.graphql)
        .is_some()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use graphql_gen::typesystem::ApiOptions;

    use super::*;

    #[test]
    fn the_query_is_valid_for_its_schema() {
        for text in [
            crate::demo::STAR_WARS.schema,
            "id: /soml/a\nobjects:\n  Film: {type: \"http://e/F\", props: {title: {}}}\n",
        ] {
            let soml = Arc::new(soml_core::load(text).schema.unwrap());
            let api = Api::new(soml, &ApiOptions::default()).unwrap();
            let query = first_query(&api);
            let checked = apollo_compiler::ExecutableDocument::parse_and_validate(
                api.schema(),
                query.as_str(),
                "query.graphql",
            );
            assert!(checked.is_ok(), "{query}\n{}", checked.unwrap_err());
        }
    }
}
