//! Bare texts where an input object is expected whose other fields may be left out.
//!
//! `label: "Tatooine"` then stands for `label: {value: "Tatooine"}`, in documents and in variables.

use apollo_compiler::ast::{Type, Value};
use apollo_compiler::collections::{HashMap, HashSet};
use apollo_compiler::executable::{Operation, Selection, SelectionSet};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{ExecutableDocument, Name, Node, Schema};

/// Input objects for which a string can be used as a shorthand.
#[derive(Clone, Debug, Default)]
pub struct Shorthands {
    /// The field that takes the text, by the name of the input object.
    fields: HashMap<Name, Name>,
    /// The input objects that have such input objects in them, at any depth.
    around: HashSet<Name>,
}

impl Shorthands {
    /// Takes a text for the input object `name` that has it as its `field`. What `schema` does not have is
    /// ignored.
    #[must_use]
    pub fn new(schema: &Schema, name: &str, field: &str) -> Self {
        let mut shorthands = Shorthands::default();
        let found = schema.types.get_key_value(name);
        let Some((name, ExtendedType::InputObject(of))) = found else {
            return shorthands;
        };
        if let Some((field, _)) = of.fields.get_key_value(field) {
            shorthands.fields.insert(name.clone(), field.clone());
            shorthands.find_around(schema);
        }
        shorthands
    }

    fn find_around(&mut self, schema: &Schema) {
        let inputs = || {
            schema.types.iter().filter_map(|(name, ty)| match ty {
                ExtendedType::InputObject(of) => Some((name, of)),
                _ => None,
            })
        };
        loop {
            let known = self.around.len();
            for (name, of) in inputs() {
                let mut types = of.fields.values().map(|field| field.ty.inner_named_type());
                if types.any(|ty| self.concerns(ty)) {
                    self.around.insert(name.clone());
                }
            }
            if self.around.len() == known {
                return;
            }
        }
    }

    fn concerns(&self, ty: &Name) -> bool {
        self.fields.contains_key(ty) || self.around.contains(ty)
    }

    /// Writes out the texts of a document.
    pub(crate) fn write_out(&self, schema: &Schema, document: &mut ExecutableDocument) {
        if self.fields.is_empty() {
            return;
        }
        let operations = document.operations.anonymous.iter_mut();
        for operation in operations.chain(document.operations.named.values_mut()) {
            let operation = operation.make_mut();
            for variable in &mut operation.variables {
                let variable = variable.make_mut();
                if let Some(value) = &mut variable.default_value {
                    self.in_value(schema, &variable.ty, value);
                }
            }
            self.in_selections(schema, &mut operation.selection_set);
        }
        for fragment in document.fragments.values_mut() {
            self.in_selections(schema, &mut fragment.make_mut().selection_set);
        }
    }

    fn in_selections(&self, schema: &Schema, set: &mut SelectionSet) {
        for selection in &mut set.selections {
            match selection {
                Selection::Field(field) => {
                    let field = field.make_mut();
                    for argument in &mut field.arguments {
                        let definition = field.definition.argument_by_name(&argument.name);
                        if let Some(definition) = definition
                            && self.concerns(definition.ty.inner_named_type())
                        {
                            let value = &mut argument.make_mut().value;
                            self.in_value(schema, &definition.ty, value);
                        }
                    }
                    self.in_selections(schema, &mut field.selection_set);
                }
                Selection::InlineFragment(inline) => {
                    self.in_selections(schema, &mut inline.make_mut().selection_set);
                }
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    fn in_value(&self, schema: &Schema, ty: &Type, value: &mut Node<Value>) {
        let name = ty.inner_named_type();
        if !self.concerns(name) {
            return;
        }
        if matches!(**value, Value::String(_)) {
            if let Some(field) = self.fields.get(name) {
                *value = value.same_location(Value::Object(vec![(field.clone(), value.clone())]));
            }
            return;
        }
        match value.make_mut() {
            Value::List(items) => {
                for item in items {
                    self.in_value(schema, ty.item_type(), item);
                }
            }
            Value::Object(members) => {
                let Some(of) = schema.get_input_object(name) else {
                    return;
                };
                for (member, value) in members {
                    if let Some(field) = of.fields.get(member) {
                        self.in_value(schema, &field.ty, value);
                    }
                }
            }
            _ => {}
        }
    }

    /// Writes out the texts of the variables of an operation; `None` if there are none.
    pub(crate) fn written_out(
        &self,
        schema: &Schema,
        operation: &Operation,
        variables: &JsonMap,
    ) -> Option<JsonMap> {
        let concerned = |ty: &Type| self.concerns(ty.inner_named_type());
        let mut definitions = operation.variables.iter();
        if self.fields.is_empty() || !definitions.any(|of| concerned(&of.ty)) {
            return None;
        }
        let mut variables = variables.clone();
        for definition in operation.variables.iter().filter(|of| concerned(&of.ty)) {
            if let Some(value) = variables.get_mut(definition.name.as_str()) {
                self.in_json(schema, definition.ty.inner_named_type(), value);
            }
        }
        Some(variables)
    }

    fn in_json(&self, schema: &Schema, ty: &Name, value: &mut JsonValue) {
        match value {
            JsonValue::String(_) => {
                if let Some(field) = self.fields.get(ty) {
                    let mut object = JsonMap::new();
                    object.insert(field.as_str(), value.take());
                    *value = JsonValue::Object(object);
                }
            }
            JsonValue::Array(items) => {
                for item in items {
                    self.in_json(schema, ty, item);
                }
            }
            JsonValue::Object(members) => {
                let Some(of) = schema.get_input_object(ty) else {
                    return;
                };
                for (member, value) in members.iter_mut() {
                    let field = of.fields.get(member.as_str());
                    let ty = field.map(|field| field.ty.inner_named_type());
                    if let Some(ty) = ty.filter(|ty| self.concerns(ty)) {
                        self.in_json(schema, ty, value);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use apollo_compiler::Schema;
    use serde_json::{Value, json};

    use super::Shorthands;
    use crate::document::Documents;
    use crate::limits::Limits;
    use crate::request::{Request, RequestContext};

    const SCHEMA: &str = "
        input Text { value: String! lang: String }
        input Change { add: [Text!] old: Text }
        input Entry { name: Text names: Change plain: String }
        type Query { echo(entries: [Entry!], text: Text): String nested: Query }";

    /// Returns the values of the arguments of a request, or its errors.
    fn read(query: &str, variables: Value) -> Result<String, String> {
        let schema = Schema::parse_and_validate(SCHEMA, "schema.graphql").expect("a schema");
        let shorthands = Shorthands::new(&schema, "Text", "value");
        let documents = Documents::new(&schema, Limits::default(), 0).with_shorthands(shorthands);
        let errors = |errors: Vec<crate::GraphqlError>| -> String {
            errors.iter().map(|error| error.message.as_str()).collect()
        };
        let document = documents
            .get(query, |_| Ok::<_, crate::Refusal>(()))
            .map_err(errors)?;
        let variables = variables.as_object().expect("an object").clone();
        let request = Request::new(query).with_variables(variables);
        let prepared = documents
            .prepare(document, &request, &RequestContext::new())
            .map_err(errors)?;
        let variables = serde_json::to_string(&*prepared.variables).expect("JSON");
        let operation = prepared.operation.serialize().no_indent().to_string();
        Ok(format!("{operation} {variables}"))
    }

    #[test]
    fn texts_in_documents_stand_for_objects() {
        let read = |query| read(query, json!({})).expect("a valid request");
        assert_eq!(
            read(r#"{ echo(text: "a") }"#),
            r#"{ echo(text: {value: "a"}) } {}"#
        );
        assert_eq!(
            read(
                r#"{ nested { echo(entries: {name: "a", plain: "b", names: {add: ["c", {value: "d"}], old: "e"}}) } }"#
            ),
            r#"{ nested { echo(entries: {name: {value: "a"}, plain: "b", names: {add: [{value: "c"}, {value: "d"}], old: {value: "e"}}}) } } {}"#
        );
    }

    #[test]
    fn texts_in_variables_and_their_defaults_stand_for_objects() {
        let query =
            "query ($all: [Entry!], $one: Text = \"x\") { echo(entries: $all, text: $one) }";
        let variables =
            json!({"all": [{"name": "a", "plain": "b", "names": {"add": "c", "old": null}}]});
        let read = read(query, variables).expect("a valid request");
        let end = r#"{"all":[{"name":{"value":"a"},"plain":"b","names":{"add":[{"value":"c"}],"old":null}}],"one":{"value":"x"}}"#;
        assert!(read.ends_with(end), "{read}");
    }

    #[test]
    fn other_values_are_refused_as_before() {
        for query in [
            "{ echo(text: 5) }",
            r#"{ echo(entries: "a") }"#,
            r#"{ echo(entries: [{names: "a"}]) }"#,
        ] {
            assert!(read(query, json!({})).is_err(), "{query}");
        }
        let query = "query ($one: Text) { echo(text: $one) }";
        assert!(read(query, json!({"one": 5})).is_err());
    }
}
