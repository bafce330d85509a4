//! Documents and variables: values put in, fragments resolved.

use std::collections::HashMap;

use apollo_compiler::Node;
use apollo_compiler::ast::{self, Definition};
use serde_json::Value;
use soml_core::schema::ObjectId;

use super::model::{Model, Ty};

/// An argument value without variables.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Val {
    Null,
    Boolean(bool),
    Number(String),
    /// The text of a string or the name of an enum value.
    Text(String),
    List(Vec<Val>),
    Object(Vec<(String, Val)>),
}

impl Val {
    fn of_json(json: &Value) -> Val {
        match json {
            Value::Null => Val::Null,
            Value::Bool(b) => Val::Boolean(*b),
            Value::Number(n) => Val::Number(n.to_string()),
            Value::String(s) => Val::Text(s.clone()),
            Value::Array(items) => Val::List(items.iter().map(Val::of_json).collect()),
            Value::Object(map) => Val::Object(
                map.iter()
                    .map(|(key, value)| (key.clone(), Val::of_json(value)))
                    .collect(),
            ),
        }
    }

    /// The elements of a list; a single value counts as a list of one.
    pub(crate) fn items(&self) -> &[Val] {
        match self {
            Val::List(items) => items,
            single => std::slice::from_ref(single),
        }
    }

    pub(crate) fn keys(&self) -> &[(String, Val)] {
        match self {
            Val::Object(keys) => keys,
            other => panic!("expected an input object, not {other:?}"),
        }
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Val::Text(text) | Val::Number(text) => text,
            other => panic!("expected a text, not {other:?}"),
        }
    }

    /// Returns whether an input object has a key without a value, at any depth.
    pub(crate) fn has_null_key(&self) -> bool {
        match self {
            Val::List(items) => items.iter().any(Val::has_null_key),
            Val::Object(keys) => keys
                .iter()
                .any(|(_, value)| *value == Val::Null || value.has_null_key()),
            _ => false,
        }
    }
}

pub(super) type Selections<'d> = Vec<&'d ast::Selection>;

/// A document with one operation, and the values of its variables.
pub(crate) struct Document<'d> {
    pub(crate) operation: &'d ast::OperationDefinition,
    fragments: HashMap<&'d str, &'d ast::FragmentDefinition>,
    variables: HashMap<String, Val>,
}

/// The selections under one response key, all with the same arguments.
pub(crate) struct Field<'d> {
    pub(crate) key: String,
    pub(crate) nodes: Vec<&'d Node<ast::Field>>,
    /// How many classes above the object the type of the fragment is that each is in.
    distances: Vec<usize>,
}

impl<'d> Document<'d> {
    pub(crate) fn new(
        document: &'d ast::Document,
        given: &serde_json::Map<String, Value>,
    ) -> Document<'d> {
        let mut operation = None;
        let mut fragments = HashMap::new();
        for definition in &document.definitions {
            match definition {
                Definition::OperationDefinition(node) => operation = Some(&**node),
                Definition::FragmentDefinition(node) => {
                    fragments.insert(node.name.as_str(), &**node);
                }
                other => panic!("unexpected {other:?}"),
            }
        }
        let mut this = Document {
            operation: operation.expect("an operation"),
            fragments,
            variables: HashMap::new(),
        };
        for variable in &this.operation.variables {
            let value = match (given.get(variable.name.as_str()), &variable.default_value) {
                (Some(value), _) => Some(Val::of_json(value)),
                (None, Some(default)) => this.value(default),
                (None, None) => None,
            };
            if let Some(value) = value {
                this.variables.insert(variable.name.to_string(), value);
            }
        }
        this
    }

    /// Puts variables in; `None` is a variable without a value.
    fn value(&self, value: &ast::Value) -> Option<Val> {
        Some(match value {
            ast::Value::Null => Val::Null,
            ast::Value::Boolean(b) => Val::Boolean(*b),
            ast::Value::Int(n) => Val::Number(n.as_str().to_owned()),
            ast::Value::Float(n) => Val::Number(n.as_str().to_owned()),
            ast::Value::String(s) => Val::Text(s.clone()),
            ast::Value::Enum(name) => Val::Text(name.to_string()),
            ast::Value::Variable(name) => self.variables.get(name.as_str())?.clone(),
            ast::Value::List(items) => Val::List(
                items
                    .iter()
                    .map(|item| self.value(item).unwrap_or(Val::Null))
                    .collect(),
            ),
            ast::Value::Object(fields) => Val::Object(
                fields
                    .iter()
                    .filter_map(|(name, value)| Some((name.to_string(), self.value(value)?)))
                    .collect(),
            ),
        })
    }

    /// An argument of a field; null is as if absent.
    pub(crate) fn argument(&self, field: &Field<'_>, name: &str) -> Option<Val> {
        let argument = field.nodes[0].arguments.iter().find(|a| a.name == name)?;
        self.value(&argument.value)
            .filter(|value| *value != Val::Null)
    }

    pub(super) fn fragment(&self, name: &str) -> &'d ast::FragmentDefinition {
        self.fragments[name]
    }

    /// The types and ids that `_entities` is asked for.
    pub(super) fn representations(
        &self,
        model: &Model<'_>,
        field: &Field<'_>,
    ) -> Vec<(Ty, String)> {
        let list = self.argument(field, "representations");
        let list = list.unwrap_or(Val::List(Vec::new()));
        let representation = |item: &Val| {
            let text = |name: &str| {
                let mut keys = item.keys().iter();
                let found = keys.find(|(key, _)| key == name)?;
                Some(found.1.text().to_owned())
            };
            let ty = match model.type_named(&text("__typename")?)? {
                Ty::Concrete(id) => model.range(id),
                ty => ty,
            };
            Some((ty, text("id")?))
        };
        list.items().iter().filter_map(representation).collect()
    }

    fn is_included(&self, directives: &ast::DirectiveList) -> bool {
        let condition = |name: &str| {
            let argument = directives.get(name)?.specified_argument_by_name("if")?;
            self.value(argument)
        };
        condition("skip") != Some(Val::Boolean(true))
            && condition("include") != Some(Val::Boolean(false))
    }

    /// Collects the fields of an object of a concrete type; `None` stands for a type that no
    /// condition narrows.
    pub(crate) fn collect(
        &self,
        model: &Model<'_>,
        object: Option<ObjectId>,
        selections: &Selections<'d>,
    ) -> Vec<Field<'d>> {
        let mut fields: Vec<Field<'d>> = Vec::new();
        self.collect_into(model, object, selections, 0, &mut fields);
        fields
    }

    fn collect_into(
        &self,
        model: &Model<'_>,
        object: Option<ObjectId>,
        selections: &Selections<'d>,
        distance: usize,
        fields: &mut Vec<Field<'d>>,
    ) {
        for selection in selections {
            let (directives, condition, inner) = match selection {
                ast::Selection::Field(node) => {
                    if self.is_included(&node.directives) {
                        let key = node.response_name().to_string();
                        let known = fields.iter().position(|field| field.key == key);
                        let known = known.unwrap_or_else(|| {
                            let (nodes, distances) = (Vec::new(), Vec::new());
                            fields.push(Field {
                                key,
                                nodes,
                                distances,
                            });
                            fields.len() - 1
                        });
                        // The nearest class comes first.
                        let field = &mut fields[known];
                        let at = field.distances.partition_point(|other| *other <= distance);
                        field.distances.insert(at, distance);
                        field.nodes.insert(at, node);
                    }
                    continue;
                }
                ast::Selection::InlineFragment(inline) => (
                    &inline.directives,
                    inline.type_condition.as_ref(),
                    &inline.selection_set,
                ),
                ast::Selection::FragmentSpread(spread) => {
                    let fragment = self.fragments[spread.fragment_name.as_str()];
                    let condition = Some(&fragment.type_condition);
                    (&spread.directives, condition, &fragment.selection_set)
                }
            };
            let far = match (object, condition) {
                (Some(object), Some(name)) => match model.type_named(name) {
                    Some(Ty::Concrete(class)) => {
                        let mut lineage = model.schema.lineage(object);
                        lineage.position(|id| id == class)
                    }
                    Some(ty) => {
                        let applies = ty == Ty::Any || model.possible(ty).contains(&object);
                        applies.then_some(0)
                    }
                    None => None,
                },
                _ => Some(0),
            };
            if let Some(far) = far
                && self.is_included(directives)
            {
                let inner: Selections<'d> = inner.iter().collect();
                self.collect_into(model, object, &inner, distance.max(far), fields);
            }
        }
    }
}

impl<'d> Field<'d> {
    pub(crate) fn name(&self) -> &'d str {
        self.nodes[0].name.as_str()
    }

    /// The selections of all nodes, one after the other.
    pub(crate) fn selections(&self) -> Selections<'d> {
        self.nodes
            .iter()
            .flat_map(|node| &node.selection_set)
            .collect()
    }
}
