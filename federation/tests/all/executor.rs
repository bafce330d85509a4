//! GraphQL execution as the specification describes it, over whatever resolves fields.

use std::fmt::Write;

use apollo_compiler::ast::{self, Type};
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet};
use apollo_compiler::schema::{ExtendedType, FieldDefinition};
use apollo_compiler::{ExecutableDocument, Name, Node, Schema};
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

/// A value that a resolver returns.
pub(crate) enum Resolved<O> {
    Leaf(Json),
    List(Vec<Resolved<O>>),
    Object(O),
    Error(String),
}

/// Resolves fields.
pub(crate) trait Resolver {
    type Object: Clone;

    fn type_name(&self, object: &Self::Object) -> String;

    /// `arguments` are those that are given or have defaults, sorted, as text and as JSON.
    fn resolve(
        &self,
        object: &Self::Object,
        field: &Field,
        arguments: &str,
        json: &Map<String, Json>,
    ) -> Resolved<Self::Object>;
}

pub(crate) struct Executor<'e, R> {
    pub(crate) schema: &'e Schema,
    pub(crate) document: &'e ExecutableDocument,
    pub(crate) variables: &'e Map<String, Json>,
    pub(crate) resolver: &'e R,
    /// Whether the siblings of a null that propagates are still executed. The specification leaves that
    /// open: they only add errors below a null.
    pub(crate) completes_siblings: bool,
    pub(crate) errors: Vec<(Vec<Json>, String)>,
}

/// A null in a non-null position.
pub(crate) struct Propagate;

impl<R: Resolver> Executor<'_, R> {
    pub(crate) fn run(&mut self, operation: &Operation, root: R::Object) -> Json {
        let mut path = Vec::new();
        let sets = [&operation.selection_set];
        self.object(&root, &sets, &mut path).unwrap_or(Json::Null)
    }

    fn object(
        &mut self,
        object: &R::Object,
        sets: &[&SelectionSet],
        path: &mut Vec<Json>,
    ) -> Result<Json, Propagate> {
        let name = self.resolver.type_name(object);
        let mut groups: IndexMap<String, Vec<Node<Field>>> = IndexMap::new();
        for set in sets {
            self.collect(&name, &set.selections, &mut groups);
        }
        let mut members = Map::new();
        let mut is_null = false;
        for (key, fields) in groups {
            if fields[0].name == "__typename" {
                members.insert(key, json!(name));
                continue;
            }
            if matches!(fields[0].name.as_str(), "__schema" | "__type") {
                // Filled in by whoever asks.
                members.insert(key, Json::Null);
                continue;
            }
            let (text, json) = self.arguments(&name, &fields[0]);
            path.push(json!(key));
            let resolved = self.resolver.resolve(object, &fields[0], &text, &json);
            let ty = self.field_type(&name, &fields[0].name);
            match self.complete(resolved, &ty, &fields, path) {
                Ok(value) => _ = members.insert(key, value),
                Err(Propagate) if self.completes_siblings => is_null = true,
                Err(Propagate) => return Err(Propagate),
            }
            path.pop();
        }
        if is_null {
            Err(Propagate)
        } else {
            Ok(Json::Object(members))
        }
    }

    fn field_type(&self, ty: &str, field: &Name) -> Type {
        self.schema.type_field(ty, field).unwrap().ty.clone()
    }

    fn complete(
        &mut self,
        resolved: Resolved<R::Object>,
        ty: &Type,
        fields: &[Node<Field>],
        path: &mut Vec<Json>,
    ) -> Result<Json, Propagate> {
        let depth = path.len();
        let completed = match resolved {
            Resolved::Leaf(Json::Null) => {
                if ty.is_non_null() {
                    self.errors.push((path.clone(), "null".to_owned()));
                }
                Err(Propagate)
            }
            Resolved::Error(message) => {
                self.errors.push((path.clone(), message));
                Err(Propagate)
            }
            Resolved::Leaf(value) => Ok(value),
            Resolved::List(items) => self.list(items, ty, fields, path),
            Resolved::Object(object) => {
                let sets: Vec<&SelectionSet> =
                    fields.iter().map(|field| &field.selection_set).collect();
                self.object(&object, &sets, path)
            }
        };
        path.truncate(depth);
        match completed {
            Err(Propagate) if !ty.is_non_null() => Ok(Json::Null),
            other => other,
        }
    }

    fn list(
        &mut self,
        items: Vec<Resolved<R::Object>>,
        ty: &Type,
        fields: &[Node<Field>],
        path: &mut Vec<Json>,
    ) -> Result<Json, Propagate> {
        let mut list = Vec::new();
        let mut is_null = false;
        for (index, item) in items.into_iter().enumerate() {
            path.push(json!(index));
            match self.complete(item, ty.item_type(), fields, path) {
                Ok(item) => list.push(item),
                Err(Propagate) if self.completes_siblings => is_null = true,
                Err(Propagate) => return Err(Propagate),
            }
            path.pop();
        }
        if is_null {
            Err(Propagate)
        } else {
            Ok(Json::Array(list))
        }
    }

    fn collect(
        &self,
        ty: &str,
        selections: &[Selection],
        groups: &mut IndexMap<String, Vec<Node<Field>>>,
    ) {
        for selection in selections {
            let holds = |name: &str| {
                let condition = selection
                    .directives()
                    .get(name)?
                    .specified_argument_by_name("if")?;
                value_of(condition, self.variables)?.as_bool()
            };
            if holds("skip") == Some(true) || holds("include") == Some(false) {
                continue;
            }
            match selection {
                Selection::Field(field) => {
                    let key = field.response_key().to_string();
                    groups.entry(key).or_default().push(field.clone());
                }
                Selection::InlineFragment(inline) => {
                    if inline
                        .type_condition
                        .as_ref()
                        .is_none_or(|name| self.applies(name, ty))
                    {
                        self.collect(ty, &inline.selection_set.selections, groups);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = &self.document.fragments[&spread.fragment_name];
                    if self.applies(fragment.type_condition(), ty) {
                        self.collect(ty, &fragment.selection_set.selections, groups);
                    }
                }
            }
        }
    }

    fn applies(&self, condition: &str, ty: &str) -> bool {
        condition == ty
            || matches!(
                self.schema.types.get(condition),
                Some(ExtendedType::Interface(_) | ExtendedType::Union(_))
            ) && self.schema.is_subtype(condition, ty)
    }

    fn arguments(&self, ty: &str, field: &Field) -> (String, Map<String, Json>) {
        let mut all = Map::new();
        let definition = self.schema.type_field(ty, &field.name);
        for argument in &definition.unwrap().arguments {
            let given = field
                .arguments
                .iter()
                .find(|given| given.name == argument.name);
            let value = match given {
                Some(given) => value_of(&given.value, self.variables),
                None => None,
            };
            let default = argument.default_value.as_ref();
            let value = value.or_else(|| value_of(default?, self.variables));
            if let Some(value) = value {
                all.insert(argument.name.to_string(), value);
            }
        }
        (text_of(&all), all)
    }
}

/// Returns the arguments of a field in a field set as text, with defaults.
pub(crate) fn constant(definition: &FieldDefinition, given: &[Node<ast::Argument>]) -> String {
    let none = Map::new();
    let mut all = Map::new();
    for argument in &definition.arguments {
        let given = given.iter().find(|given| given.name == argument.name);
        let value = given
            .map(|given| &given.value)
            .or(argument.default_value.as_ref());
        if let Some(value) = value.and_then(|value| value_of(value, &none)) {
            all.insert(argument.name.to_string(), value);
        }
    }
    text_of(&all)
}

/// Returns arguments as text.
pub(crate) fn text_of(arguments: &Map<String, Json>) -> String {
    let mut names: Vec<&String> = arguments.keys().collect();
    names.sort();
    let mut text = String::new();
    for name in names.into_iter().filter(|name| *name != "representations") {
        let _ = write!(text, "{name}={},", arguments[name]);
    }
    text
}

/// Returns the JSON of a literal; `None` for a variable without value.
fn value_of(value: &ast::Value, variables: &Map<String, Json>) -> Option<Json> {
    Some(match value {
        ast::Value::Null => Json::Null,
        ast::Value::Enum(name) => json!(name.as_str()),
        ast::Value::Variable(name) => variables.get(name.as_str())?.clone(),
        ast::Value::String(text) => json!(text),
        ast::Value::Int(number) => serde_json::from_str(number.as_str()).ok()?,
        ast::Value::Float(number) => serde_json::from_str(number.as_str()).ok()?,
        ast::Value::Boolean(value) => json!(value),
        ast::Value::List(items) => items
            .iter()
            .filter_map(|item| value_of(item, variables))
            .collect(),
        ast::Value::Object(members) => {
            let members = members.iter();
            let members = members
                .filter_map(|(name, value)| Some((name.to_string(), value_of(value, variables)?)));
            Json::Object(members.collect())
        }
    })
}
