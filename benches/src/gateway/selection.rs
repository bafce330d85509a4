//! What an operation selects, resolved once: each field knows where its values are.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::ast::{DirectiveList, Value as Literal};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::executable::{Field as FieldNode, Operation, Selection, SelectionSet};
use apollo_compiler::response::{JsonMap, JsonValue};

use super::objects::{Objects, Part};

/// Fields of an object, in the order of the answer.
pub(super) type Fields = Vec<Field>;

/// A field of the answer.
pub(super) struct Field {
    /// `"key":`
    pub(super) key: Box<str>,
    pub(super) source: Source,
}

/// Where the value of a field comes from.
pub(super) enum Source {
    /// The name of the type, as JSON.
    Typename(Box<str>),
    /// The value at a position.
    Leaf(usize),
    /// The object at a position.
    One(usize, Fields),
    /// The objects at a position, at most as many as an argument says.
    Many(usize, Option<Argument>, Fields),
    /// The object of a type with a key.
    ByKey(&'static str, Argument, Fields),
    /// The objects that representations stand for, by their types.
    Entities(Argument, Vec<(&'static str, Fields)>),
    /// Follows from the price and the weight in the representation.
    ShippingEstimate,
}

/// An argument, with its default.
pub(super) struct Argument {
    given: Option<Literal>,
    default: Option<Literal>,
}

impl Argument {
    fn of(field: &FieldNode, name: &str) -> Self {
        let given = field.specified_argument_by_name(name);
        let default = field.definition.argument_by_name(name);
        let default = default.and_then(|it| it.default_value.as_ref());
        Argument {
            given: given.map(|it| it.as_ref().clone()),
            default: default.map(|it| it.as_ref().clone()),
        }
    }

    /// Returns the value, given coerced variables; `None` where there is none.
    pub(super) fn value(&self, variables: &JsonMap) -> Option<JsonValue> {
        let given = self.given.as_ref();
        given
            .and_then(|given| json(given, variables))
            .or_else(|| json(self.default.as_ref()?, variables))
    }

    /// Returns the list that a variable holds, if a variable is given.
    pub(super) fn list<'v>(&self, variables: &'v JsonMap) -> Option<&'v [JsonValue]> {
        match &self.given {
            Some(Literal::Variable(name)) => {
                Some(variables.get(name.as_str())?.as_array()?.as_slice())
            }
            _ => None,
        }
    }
}

/// Returns a value as JSON; `None` for a variable without a value.
fn json(value: &Literal, variables: &JsonMap) -> Option<JsonValue> {
    Some(match value {
        Literal::Variable(name) => variables.get(name.as_str())?.clone(),
        Literal::Null => JsonValue::Null,
        Literal::Boolean(value) => (*value).into(),
        Literal::Enum(name) => name.as_str().into(),
        Literal::String(text) => text.as_str().into(),
        Literal::Int(number) => match number.as_str().parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => number.as_str().parse::<f64>().ok()?.into(),
        },
        Literal::Float(number) => number.try_to_f64().ok()?.into(),
        Literal::List(items) => {
            let items = items.iter();
            // In a list, a variable without a value is null.
            let items = items.map(|item| json(item, variables).unwrap_or(JsonValue::Null));
            JsonValue::Array(items.collect())
        }
        Literal::Object(fields) => {
            let fields = fields.iter();
            let fields =
                fields.filter_map(|(name, it)| Some((name.as_str().into(), json(it, variables)?)));
            JsonValue::Object(fields.collect())
        }
    })
}

/// Resolves the selections of one operation.
pub(super) struct Resolver<'r> {
    pub(super) part: Part,
    pub(super) objects: &'r Objects,
    pub(super) document: &'r ExecutableDocument,
    /// Coerced variables: those of `@skip` and `@include` are read here.
    pub(super) variables: &'r JsonMap,
}

impl<'r> Resolver<'r> {
    /// Resolves an operation.
    ///
    /// # Errors
    /// When it is not a query, or asks for something that only the schema has.
    pub(super) fn operation(&self, operation: &'r Operation) -> Result<Fields, String> {
        if operation.is_query() {
            self.fields("Query", &[&operation.selection_set])
        } else {
            Err("there are queries only".to_owned())
        }
    }

    fn fields(&self, ty: &str, sets: &[&'r SelectionSet]) -> Result<Fields, String> {
        let mut collected = IndexMap::default();
        for set in sets {
            self.collect(ty, set, &mut collected);
        }
        let fields = collected.into_iter().map(|(key, nodes)| {
            let key = serde_json::to_string(key).expect("a string is JSON");
            Ok(Field {
                key: format!("{key}:").into(),
                source: self.source(ty, &nodes)?,
            })
        });
        fields.collect()
    }

    /// Adds the fields of a set that apply to a type, by their keys.
    fn collect(
        &self,
        ty: &str,
        set: &'r SelectionSet,
        collected: &mut IndexMap<&'r str, Vec<&'r FieldNode>>,
    ) {
        for selection in &set.selections {
            if !self.is_included(selection.directives()) {
                continue;
            }
            let (condition, set) = match selection {
                Selection::Field(field) => {
                    let nodes = collected.entry(field.response_key().as_str());
                    nodes.or_default().push(field);
                    continue;
                }
                Selection::InlineFragment(inline) => {
                    (inline.type_condition.as_ref(), &inline.selection_set)
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = &self.document.fragments[&spread.fragment_name];
                    (Some(&fragment.selection_set.ty), &fragment.selection_set)
                }
            };
            // The only abstract type has all types with keys.
            if condition.is_none_or(|condition| condition == ty || condition == "_Entity") {
                self.collect(ty, set, collected);
            }
        }
    }

    fn is_included(&self, directives: &DirectiveList) -> bool {
        let is = |directive: &str| {
            let directive = directives.get(directive)?;
            let condition = directive.specified_argument_by_name("if")?;
            json(condition, self.variables)?.as_bool()
        };
        is("skip") != Some(true) && is("include") != Some(false)
    }

    fn source(&self, ty: &str, nodes: &[&'r FieldNode]) -> Result<Source, String> {
        let node = nodes[0];
        let sets: Vec<&SelectionSet> = nodes.iter().map(|node| &node.selection_set).collect();
        match (ty, node.name.as_str()) {
            (_, "__typename") => {
                let name = serde_json::to_string(ty).expect("a string is JSON");
                return Ok(Source::Typename(name.into()));
            }
            ("Product", "shippingEstimate") => return Ok(Source::ShippingEstimate),
            ("Query", "_entities") => {
                let keys = self.part.keys().iter();
                let entities = keys.map(|(ty, _)| Ok((*ty, self.fields(ty, &sets)?)));
                let entities = entities.collect::<Result<_, String>>()?;
                return Ok(Source::Entities(
                    Argument::of(node, "representations"),
                    entities,
                ));
            }
            ("Query", "user") => {
                let fields = self.fields("User", &sets)?;
                return Ok(Source::ByKey("User", Argument::of(node, "id"), fields));
            }
            _ => {}
        }
        let slot = self.objects.slot(ty, &node.name);
        let slot = slot.ok_or_else(|| format!("`{ty}.{}` is not answered here", node.name))?;
        if node.selection_set.selections.is_empty() {
            return Ok(Source::Leaf(slot));
        }
        let fields = self.fields(node.ty().inner_named_type(), &sets)?;
        let has_bound = node.definition.argument_by_name("first").is_some();
        Ok(if node.ty().is_list() {
            let bound = has_bound.then(|| Argument::of(node, "first"));
            Source::Many(slot, bound, fields)
        } else {
            Source::One(slot, fields)
        })
    }
}
