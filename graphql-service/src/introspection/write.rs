//! Writes what a document asks of the schema, as JSON text and without a tree of values, which for
//! large schemas would be larger than the text. What is written is that of
//! [the specification](https://spec.graphql.org/September2025/#sec-Schema-Introspection).

use apollo_compiler::ast::Value;
use apollo_compiler::collections::HashMap;
use apollo_compiler::schema::{
    Directive, DirectiveDefinition, EnumValueDefinition, ExtendedType, FieldDefinition,
    Implementers, InputValueDefinition, Type,
};
use apollo_compiler::{Name, Node, Schema};

use super::selection::{self, Asked, Selected, SelectedField};
use crate::writer::{AnswerWriter, PropagateNull, WriteResult, write_string};

/// Writes the value of the introspection field that is answered under `key` at the root.
///
/// # Errors
/// When the answer was given up, or exceeds its bounds.
pub(crate) fn write_root(
    schema: &Schema,
    implementers: &HashMap<Name, Implementers>,
    asked: Asked<'_>,
    key: &str,
    answer: &mut AnswerWriter<'_>,
) -> WriteResult {
    let field = selection::root(schema, asked, key);
    let Some(field) = field else {
        return Err(PropagateNull);
    };
    let mut writer = Writer {
        schema,
        implementers,
        answer,
    };
    match field.name {
        "__typename" => {
            write_string(&mut answer.out, asked.operation.object_type());
            Ok(())
        }
        "__schema" => writer.object(Object::Schema, &field.selected),
        _ => {
            // `__type` is null for a name that no type has.
            let named = field.type_name.and_then(|name| schema.types.get(name));
            writer.optional(named.map(Object::Definition), &field.selected)
        }
    }
}

struct Writer<'w, 'a> {
    schema: &'w Schema,
    implementers: &'w HashMap<Name, Implementers>,
    answer: &'w mut AnswerWriter<'a>,
}

/// An object of the introspection schema.
#[derive(Clone, Copy)]
enum Object<'s> {
    Schema,
    /// A type with a name.
    Definition(&'s ExtendedType),
    /// A list or non-null type, named ones excepted.
    Wrapper(&'s Type),
    /// The list within a non-null list.
    List(&'s Type),
    Field(&'s FieldDefinition),
    Input(&'s InputValueDefinition),
    EnumValue(&'s EnumValueDefinition),
    Directive(&'s DirectiveDefinition),
}

impl Object<'_> {
    fn type_name(self) -> &'static str {
        match self {
            Object::Schema => "__Schema",
            Object::Definition(_) | Object::Wrapper(_) | Object::List(_) => "__Type",
            Object::Field(_) => "__Field",
            Object::Input(_) => "__InputValue",
            Object::EnumValue(_) => "__EnumValue",
            Object::Directive(_) => "__Directive",
        }
    }
}

impl<'w> Writer<'w, '_> {
    fn object(&mut self, object: Object<'w>, selected: &Selected<'_>) -> WriteResult {
        self.answer.out.push(b'{');
        for (position, field) in selected.fields.iter().enumerate() {
            self.answer.check_size()?;
            self.answer.key(position, field.key);
            match (object, field.name) {
                (object, "__typename") => write_string(&mut self.answer.out, object.type_name()),
                (Object::Schema, _) => self.schema_field(field)?,
                (Object::Definition(definition), _) => self.type_field(definition, field)?,
                (Object::Wrapper(ty), _) => self.wrapper_field(ty, field)?,
                (Object::List(inner), "kind" | "ofType") => self.list_field(inner, field)?,
                (Object::List(_), _) => self.answer.null(),
                (Object::Field(definition), _) => self.field_field(definition, field)?,
                (Object::Input(definition), _) => self.input_field(definition, field)?,
                (Object::EnumValue(value), "name") => self.text(Some(&value.value)),
                (Object::EnumValue(value), name) => {
                    let deprecated = value.directives.get("deprecated");
                    self.described(value.description.as_ref(), deprecated, name);
                }
                (Object::Directive(definition), _) => self.directive_field(definition, field)?,
            }
        }
        self.answer.out.push(b'}');
        Ok(())
    }

    fn optional(&mut self, object: Option<Object<'w>>, selected: &Selected<'_>) -> WriteResult {
        match object {
            Some(object) => self.object(object, selected),
            None => {
                self.answer.null();
                Ok(())
            }
        }
    }

    fn list(
        &mut self,
        objects: impl Iterator<Item = Object<'w>>,
        selected: &Selected<'_>,
    ) -> WriteResult {
        self.answer.out.push(b'[');
        for (position, object) in objects.enumerate() {
            if position > 0 {
                self.answer.out.push(b',');
            }
            self.object(object, selected)?;
        }
        self.answer.out.push(b']');
        Ok(())
    }

    fn text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => write_string(&mut self.answer.out, text),
            None => self.answer.null(),
        }
    }

    fn boolean(&mut self, value: bool) {
        let text = if value { "true" } else { "false" };
        self.answer.out.extend_from_slice(text.as_bytes());
    }

    fn named(&self, name: &str) -> Option<Object<'w>> {
        self.schema.types.get(name).map(Object::Definition)
    }

    fn of_type(&self, ty: &'w Type) -> Option<Object<'w>> {
        match ty {
            Type::Named(name) => self.named(name),
            wrapper => Some(Object::Wrapper(wrapper)),
        }
    }

    fn schema_field(&mut self, field: &SelectedField<'_>) -> WriteResult {
        let (schema, selected) = (self.schema, &field.selected);
        let definition = &schema.schema_definition;
        let root = match field.name {
            "description" => {
                self.text(definition.description.as_deref());
                return Ok(());
            }
            "types" => {
                return self.list(schema.types.values().map(Object::Definition), selected);
            }
            "directives" => {
                let directives = schema.directive_definitions.values();
                return self.list(directives.map(|d| Object::Directive(d)), selected);
            }
            "queryType" => &definition.query,
            "mutationType" => &definition.mutation,
            _ => &definition.subscription,
        };
        let root = root.as_ref().and_then(|name| self.named(name));
        self.optional(root, selected)
    }

    fn type_field(&mut self, ty: &'w ExtendedType, field: &SelectedField<'_>) -> WriteResult {
        let (schema, selected) = (self.schema, &field.selected);
        let types = |names: &mut dyn Iterator<Item = &Name>| -> Vec<Object<'w>> {
            names
                .filter_map(|name| schema.types.get(name).map(Object::Definition))
                .collect()
        };
        // `includeDeprecated` is false by default
        // (<https://spec.graphql.org/September2025/#sec-Schema-Introspection>).
        let shown =
            |deprecated: Option<&Node<Directive>>| field.include_deprecated || deprecated.is_none();
        match (field.name, ty) {
            ("kind", ty) => self.text(Some(kind(ty))),
            ("name", ty) => self.text(Some(ty.name())),
            ("description", ty) => self.text(ty.description().map(|text| text.as_str())),
            ("specifiedByURL", ExtendedType::Scalar(ty)) => {
                let directive = ty.directives.get("specifiedBy");
                let url = directive.and_then(|d| d.specified_argument_by_name("url"));
                self.text(url.and_then(|url| url.as_str()));
            }
            ("fields", ExtendedType::Object(_) | ExtendedType::Interface(_)) => {
                let fields = match ty {
                    ExtendedType::Object(ty) => &ty.fields,
                    ExtendedType::Interface(ty) => &ty.fields,
                    _ => unreachable!("matched above"),
                };
                let fields = fields
                    .values()
                    .filter(|f| shown(f.directives.get("deprecated")));
                return self.list(fields.map(|f| Object::Field(f)), selected);
            }
            ("interfaces", ExtendedType::Object(ty)) => {
                let mut names = ty.implements_interfaces.iter().map(|name| &name.name);
                return self.list(types(&mut names).into_iter(), selected);
            }
            ("interfaces", ExtendedType::Interface(ty)) => {
                let mut names = ty.implements_interfaces.iter().map(|name| &name.name);
                return self.list(types(&mut names).into_iter(), selected);
            }
            ("possibleTypes", ExtendedType::Interface(ty)) => {
                let implementers = self.implementers.get(&ty.name);
                let mut names = implementers.into_iter().flat_map(|found| &found.objects);
                return self.list(types(&mut names).into_iter(), selected);
            }
            ("possibleTypes", ExtendedType::Union(ty)) => {
                let mut names = ty.members.iter().map(|name| &name.name);
                return self.list(types(&mut names).into_iter(), selected);
            }
            ("enumValues", ExtendedType::Enum(ty)) => {
                let values = ty
                    .values
                    .values()
                    .filter(|v| shown(v.directives.get("deprecated")));
                return self.list(values.map(|value| Object::EnumValue(value)), selected);
            }
            ("inputFields", ExtendedType::InputObject(ty)) => {
                let fields = ty
                    .fields
                    .values()
                    .filter(|f| shown(f.directives.get("deprecated")));
                return self.list(fields.map(|f| Object::Input(f)), selected);
            }
            // Null for types that are no input objects, as every field that does not apply to a
            // kind.
            ("isOneOf", ExtendedType::InputObject(ty)) => self.boolean(ty.directives.has("oneOf")),
            _ => self.answer.null(),
        }
        Ok(())
    }

    fn wrapper_field(&mut self, ty: &'w Type, field: &SelectedField<'_>) -> WriteResult {
        match (field.name, ty) {
            ("kind", Type::List(_)) => self.text(Some("LIST")),
            ("kind", _) => self.text(Some("NON_NULL")),
            ("ofType", Type::List(inner)) => {
                return self.optional(self.of_type(inner), &field.selected);
            }
            ("ofType", Type::NonNullNamed(name)) => {
                return self.optional(self.named(name), &field.selected);
            }
            ("ofType", Type::NonNullList(inner)) => {
                return self.object(Object::List(inner), &field.selected);
            }
            _ => self.answer.null(),
        }
        Ok(())
    }

    fn list_field(&mut self, inner: &'w Type, field: &SelectedField<'_>) -> WriteResult {
        if field.name == "ofType" {
            return self.optional(self.of_type(inner), &field.selected);
        }
        self.text(Some("LIST"));
        Ok(())
    }

    fn arguments(
        &mut self,
        arguments: &'w [Node<InputValueDefinition>],
        field: &SelectedField<'_>,
    ) -> WriteResult {
        let shown = arguments.iter().filter(|argument| {
            field.include_deprecated || argument.directives.get("deprecated").is_none()
        });
        self.list(
            shown.map(|argument| Object::Input(argument)),
            &field.selected,
        )
    }

    fn field_field(
        &mut self,
        definition: &'w FieldDefinition,
        field: &SelectedField<'_>,
    ) -> WriteResult {
        match field.name {
            "name" => self.text(Some(&definition.name)),
            "args" => return self.arguments(&definition.arguments, field),
            "type" => return self.optional(self.of_type(&definition.ty), &field.selected),
            name => {
                let deprecated = definition.directives.get("deprecated");
                self.described(definition.description.as_ref(), deprecated, name);
            }
        }
        Ok(())
    }

    fn input_field(
        &mut self,
        definition: &'w InputValueDefinition,
        field: &SelectedField<'_>,
    ) -> WriteResult {
        match field.name {
            "name" => self.text(Some(&definition.name)),
            "type" => return self.optional(self.of_type(&definition.ty), &field.selected),
            "defaultValue" => {
                let value = definition.default_value.as_ref();
                // A default value is text in the syntax of the language, even if it is a string
                // itself.
                let value = value.map(|value| value.serialize().no_indent().to_string());
                self.text(value.as_deref());
            }
            name => {
                let deprecated = definition.directives.get("deprecated");
                self.described(definition.description.as_ref(), deprecated, name);
            }
        }
        Ok(())
    }

    fn directive_field(
        &mut self,
        definition: &'w DirectiveDefinition,
        field: &SelectedField<'_>,
    ) -> WriteResult {
        match field.name {
            "name" => self.text(Some(&definition.name)),
            "args" => return self.arguments(&definition.arguments, field),
            "isRepeatable" => self.boolean(definition.repeatable),
            "locations" => {
                self.answer.out.push(b'[');
                for (position, location) in definition.locations.iter().enumerate() {
                    if position > 0 {
                        self.answer.out.push(b',');
                    }
                    self.text(Some(location.name()));
                }
                self.answer.out.push(b']');
            }
            _ => self.text(definition.description.as_deref()),
        }
        Ok(())
    }

    /// Writes what fields, arguments and values of enums have in common.
    fn described(
        &mut self,
        description: Option<&Node<str>>,
        deprecated: Option<&Node<Directive>>,
        name: &str,
    ) {
        match name {
            "isDeprecated" => self.boolean(deprecated.is_some()),
            "deprecationReason" => {
                let schema = self.schema;
                // With the default of the argument where none is written
                // (<https://spec.graphql.org/September2025/#sec--deprecated>).
                let reason = deprecated.and_then(|d| d.argument_by_name("reason", schema).ok());
                self.text(reason.and_then(|reason: &Node<Value>| reason.as_str()));
            }
            _ => self.text(description.map(|text| &**text)),
        }
    }
}

fn kind(ty: &ExtendedType) -> &'static str {
    match ty {
        ExtendedType::Scalar(_) => "SCALAR",
        ExtendedType::Object(_) => "OBJECT",
        ExtendedType::Interface(_) => "INTERFACE",
        ExtendedType::Union(_) => "UNION",
        ExtendedType::Enum(_) => "ENUM",
        ExtendedType::InputObject(_) => "INPUT_OBJECT",
    }
}

#[cfg(test)]
mod tests {
    use apollo_compiler::introspection::partial_execute;
    use apollo_compiler::validation::Valid;
    use serde_json::{Value as Json, json};

    use crate::writer::AnswerWriter;
    use crate::{Documents, Limits, Request, RequestContext};

    use super::*;

    const SCHEMA: &str = r#"
        "A schema." schema @about { query: Query mutation: Change }
        directive @about(to: [String!]! = ["all"], old: Int @deprecated) repeatable on SCHEMA | FIELD
        scalar Date @specifiedBy(url: "https://example.org/date")
        interface Named { "Its name." name(short: Boolean = false, old: Int @deprecated): String }
        interface Placed implements Named { name(short: Boolean = false, old: Int): String place: [[Int!]!]! }
        type Planet implements Named & Placed {
          name(short: Boolean = false, old: Int): String
          place: [[Int!]!]!
          mass: Float @deprecated
          size: Float @deprecated(reason: "use mass")
        }
        type Star { kind: Kind! born: Date }
        union Body = Planet | Star
        enum Kind { HOT COLD @deprecated(reason: "all are hot") }
        input Filter { kind: [Kind!] = [HOT], near: Filter, old: Int @deprecated }
        type Query implements Named { name(short: Boolean = false, old: Int): String bodies(where: Filter = {kind: [COLD]}): [Body!] }
        type Change { add(name: String!): Body }
    "#;

    const FRAGMENTS: &str = "
        fragment Ref on __Type { kind name ofType { kind name ofType { kind name ofType {
          kind name ofType { name } } } } }
        fragment Input on __InputValue { __typename name description type { ...Ref } defaultValue
          isDeprecated deprecationReason }
        fragment All on __Type { __typename kind name description specifiedByURL ofType { name }
          fields(includeDeprecated: true) { __typename name description isDeprecated
            deprecationReason type { ...Ref } args(includeDeprecated: true) { ...Input } }
          current: fields { name args { name } }
          inputFields(includeDeprecated: true) { ...Input } currentInputs: inputFields { name }
          interfaces { name } possibleTypes { name }
          enumValues(includeDeprecated: true) { __typename name description isDeprecated
            deprecationReason }
          currentValues: enumValues { name } }
    ";

    fn answer(schema: &Valid<Schema>, query: &str, variables: Json) -> (Json, Json) {
        let documents = Documents::new(schema, Limits::default().introspection(100), 1 << 20);
        let text = format!("{query} {FRAGMENTS}");
        let document = documents.get::<Vec<_>>(&text, |_| Ok(())).unwrap();
        let variables = variables.as_object().unwrap().clone();
        let request = Request::new(text).with_variables(variables);
        let context = RequestContext::new();
        let prepared = documents.prepare(document, &request, &context).unwrap();
        let schema = documents.schema();
        let expected = partial_execute(
            schema,
            &schema.implementers_map(),
            prepared.document.valid(),
            &prepared.operation,
            &prepared.variables,
        );
        let expected = serde_json::to_value(expected.unwrap().data.unwrap()).unwrap();
        let mut written = serde_json::Map::new();
        for key in expected.as_object().unwrap().keys() {
            let mut answer = AnswerWriter::new();
            documents.introspect(&prepared, key, &mut answer).unwrap();
            let bytes = answer.finish(Ok(())).data.to_bytes();
            written.insert(key.clone(), serde_json::from_slice(&bytes).unwrap());
        }
        (written.into(), expected)
    }

    #[test]
    fn answers_are_those_of_the_library() {
        let schema = Schema::parse_and_validate(SCHEMA, "schema.graphql").unwrap();
        let queries = [
            "{ __schema { __typename description types { ...All } queryType { ...All }
                mutationType { name } subscriptionType { name }
                directives { __typename name description isRepeatable locations
                  args(includeDeprecated: true) { ...Input } now: args { name } } } }",
            r#"{ __typename a: __type(name: "Planet") { ...All ...Ref now: fields { type { name } } }
                none: __type(name: "Nothing") { name } ... on Query { b: __type(name: "Kind") { kind } } }"#,
            "query($name: String!, $old: Boolean = true, $no: Boolean!) {
                __type(name: $name) { old: fields(includeDeprecated: $old) { name type { ...Ref @skip(if: $no) kind } }
                  ...All @include(if: $no) ... @skip(if: $no) { description } }
                __schema @skip(if: $no) { types { name } } }",
        ];
        for query in queries {
            let variables = if query.starts_with("query") {
                json!({ "name": "Star", "no": false })
            } else {
                json!({})
            };
            let (written, expected) = answer(&schema, query, variables);
            assert_eq!(written.to_string(), expected.to_string(), "{query}");
        }
    }

    #[test]
    fn introspection_says_which_input_objects_take_one_field() {
        let sdl = "directive @oneOf on INPUT_OBJECT
            input Key @oneOf { id: ID name: String } input Other { a: Int }
            type Query { find(by: Key, other: Other): Int }";
        for (sdl, is_one_of) in [(sdl, "true"), (&sdl.replace("Key @oneOf", "Key"), "false")] {
            let schema = Schema::parse_and_validate(sdl, "schema.graphql").unwrap();
            let written = introspected(
                &schema,
                r#"{ key: __type(name: "Key") { isOneOf } other: __type(name: "Other") { isOneOf }
                    query: __type(name: "Query") { isOneOf fields { args { type { isOneOf } } } }
                    type: __type(name: "__Type") { fields { name } }
                    __schema { directives { name locations } } }"#,
            );
            assert_eq!(written["key"]["isOneOf"].to_string(), is_one_of);
            assert_eq!(written["other"], json!({ "isOneOf": false }));
            assert_eq!(written["query"]["isOneOf"], json!(null));
            let fields = written["type"]["fields"].as_array().unwrap();
            assert!(fields.contains(&json!({ "name": "isOneOf" })));
            let directives = written["__schema"]["directives"].as_array().unwrap();
            let one_of = json!({ "name": "oneOf", "locations": ["INPUT_OBJECT"] });
            assert_eq!(directives.iter().filter(|it| **it == one_of).count(), 1);
        }
    }

    #[test]
    fn one_of_is_listed_where_no_schema_speaks_of_it() {
        let schema = Schema::parse_and_validate("type Query { a: Int }", "schema.graphql").unwrap();
        let written = introspected(&schema, "{ __schema { directives { name } } }");
        let directives = written["__schema"]["directives"].as_array().unwrap();
        assert!(directives.contains(&json!({ "name": "oneOf" })));
        assert!(!schema.serialize().to_string().contains("oneOf"));
    }

    /// Returns what introspection answers.
    fn introspected(schema: &Valid<Schema>, text: &str) -> Json {
        let documents = Documents::new(schema, Limits::default(), 1 << 20);
        let request = Request::new(text);
        let prepared = documents.read(&request, &RequestContext::new()).unwrap();
        let mut written = serde_json::Map::new();
        for field in prepared.operation.root_fields(prepared.document.valid()) {
            let key = field.response_key().as_str();
            let mut answer = AnswerWriter::new();
            documents.introspect(&prepared, key, &mut answer).unwrap();
            let bytes = answer.finish(Ok(())).data.to_bytes();
            written.insert(key.to_owned(), serde_json::from_slice(&bytes).unwrap());
        }
        written.into()
    }
}
