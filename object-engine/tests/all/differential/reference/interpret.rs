//! Operations over triples: objects, their fields, and what goes wrong on the way.

use std::collections::HashSet;

use apollo_compiler::ast;
use oxrdf::{NamedNode, Term};
use serde_json::{Value, json};
use soml_core::schema::{ObjectId, Property, Range, Schema};

use super::cast::cast;
use super::document::{Document, Field, Val};
use super::fields::{Kind, single_scalar};
use super::filter::Filter;
use super::graph::{Graph, Triples, iri_of};
use super::lang::Spec;
use super::model::{FieldMeaning, Model, Ty};
use super::order::{Order, OrderKey, compare, configured};

/// A part of an answer; a list knows whether its order is settled.
#[derive(Clone, Debug)]
pub(crate) enum Out {
    Leaf(Value),
    List { items: Vec<Out>, ordered: bool },
    Object(Vec<(String, Out)>),
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Segment {
    Key(String),
    Index(usize),
}

/// An error of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Fault {
    pub(crate) code: String,
    pub(crate) path: Vec<Segment>,
}

/// What a request is answered with.
pub(crate) enum Answer {
    /// The request is refused with this code.
    Refused(&'static str),
    Data(Out, Vec<Fault>),
}

/// Answers a valid document.
pub(crate) fn interpret(
    schema: &Schema,
    graph: &Graph<'_>,
    query: &str,
    variables: &serde_json::Map<String, Value>,
    accepted: &[String],
) -> Answer {
    let parsed = ast::Document::parse(query, "query.graphql").expect("a document");
    let document = Document::new(&parsed, variables);
    let model = Model { schema };
    let mut interpreter = Interpreter {
        document: &document,
        model: &model,
        graph,
        accepted,
        path: Vec::new(),
        faults: Vec::new(),
        warnings: Vec::new(),
        null_operand: false,
    };
    let data = interpreter.query();
    if interpreter.null_operand {
        return Answer::Refused("NULL_OPERAND");
    }
    let mut warned = HashSet::new();
    for (field, warning) in interpreter.warnings {
        // Nobody is warned of a value that is not returned; of others once per field.
        if !data.is_null_above(&warning.path) && warned.insert(field) {
            interpreter.faults.push(warning);
        }
    }
    Answer::Data(data, interpreter.faults)
}

impl Out {
    /// Tells whether something on the way to a place is null.
    fn is_null_above(&self, path: &[Segment]) -> bool {
        match (self, path) {
            (Out::Leaf(value), [_, ..]) => value.is_null(),
            (Out::Object(members), [Segment::Key(key), rest @ ..]) => members
                .iter()
                .any(|(member, out)| member == key && out.is_null_above(rest)),
            (Out::List { items, .. }, [Segment::Index(index), rest @ ..]) => items
                .get(*index)
                .is_some_and(|item| item.is_null_above(rest)),
            _ => false,
        }
    }
}

pub(super) struct Interpreter<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) model: &'d Model<'d>,
    graph: &'d Graph<'d>,
    pub(super) accepted: &'d [String],
    pub(super) path: Vec<Segment>,
    faults: Vec<Fault>,
    /// Fields of the document with several values where one is shown.
    warnings: Vec<(*const ast::Field, Fault)>,
    null_operand: bool,
}

/// What fields take over from those around them.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) triples: &'s Triples,
    pub(super) lang: Option<&'s Spec>,
}

/// A null where none may be.
pub(super) struct Bubble;

impl<'d> Interpreter<'d> {
    fn query(&mut self) -> Out {
        let selections = self.document.operation.selection_set.iter().collect();
        let mut members = Vec::new();
        for field in self.document.collect(self.model, None, &selections) {
            if field.name() == "__typename" {
                members.push((field.key, Out::Leaf(json!("Query"))));
                continue;
            }
            let roots = self.model.roots();
            let listed = field.name().strip_suffix("_count");
            let name = listed.unwrap_or(field.name());
            let root = roots.iter().find(|(root, _)| root == name);
            let (_, ty) = root.expect("a root field");
            self.path.push(Segment::Key(field.key.clone()));
            let mut list = self.root(&field, *ty);
            self.path.pop();
            if let (Some(_), Ok(Out::List { items, .. })) = (listed, &list) {
                list = Ok(Out::Leaf(json!(items.len())));
            }
            match list {
                Ok(list) => members.push((field.key, list)),
                Err(Bubble) => return Out::Leaf(Value::Null),
            }
        }
        Out::Object(members)
    }

    fn root(&mut self, field: &Field<'d>, ty: Ty) -> Result<Out, Bubble> {
        let of_graphs;
        let triples = match self.document.argument(field, "from") {
            None => self.graph.union(),
            Some(names) => {
                let names: Vec<String> = names
                    .items()
                    .iter()
                    .map(|name| name.text().to_owned())
                    .collect();
                of_graphs = self.graph.of_graphs(&names);
                &of_graphs
            }
        };
        let lang = self.lang_argument(field);
        let scope = Scope {
            triples,
            lang: lang.as_ref(),
        };
        let instances = triples.nodes().into_iter().filter(|node| {
            self.model.is_instance(triples, node, ty)
                && self.model.concrete(triples, node, ty).is_some()
        });
        let terms: Vec<Term> = instances
            .map(|node| NamedNode::new_unchecked(node).into())
            .collect();
        self.objects(field, ty, false, terms, false, scope)
    }

    pub(super) fn lang_argument(&self, field: &Field<'_>) -> Option<Spec> {
        let spec = self.document.argument(field, "lang")?;
        Some(Spec::parse(spec.text()))
    }

    /// An argument that filters, which must not hold a null.
    pub(super) fn filter_argument(&mut self, field: &Field<'_>, name: &str) -> Option<Val> {
        let filter = self.document.argument(field, name)?;
        if filter.has_null_key() {
            self.null_operand = true;
            return None;
        }
        Some(filter)
    }

    /// A list of objects: those that pass the arguments, in their order, cut to the page.
    fn objects(
        &mut self,
        field: &Field<'d>,
        ty: Ty,
        checked: bool,
        mut values: Vec<Term>,
        non_null_elements: bool,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        let (model, triples) = (self.model, scope.triples);
        let filter = Filter { model, triples };
        if checked {
            values.retain(|value| filter.is_object(value, ty, true));
        }
        if let Some(ids) = self.document.argument(field, "ID") {
            values.retain(|value| {
                let known = |id: &Val| iri_of(value) == Some(id.text());
                ids.items().iter().any(known)
            });
        }
        if let Some(condition) = self.filter_argument(field, "where")
            && !says_nothing(&condition)
        {
            values.retain(|value| {
                iri_of(value).is_some_and(|node| filter.object(ty, node, &condition))
            });
        }
        values.retain(|value| match iri_of(value) {
            Some(node) => model.concrete(triples, node, ty).is_some(),
            None => true,
        });
        let order = Order {
            filter: &filter,
            lang: scope.lang,
            accepted: self.accepted,
        };
        // An order without keys is as if there were none.
        let given = |name| self.document.argument(field, name).is_some();
        let by = self.document.argument(field, "orderBy");
        let has_keys = by
            .as_ref()
            .is_some_and(|by| !order.keys(ty, None, by).is_empty());
        let ordered = has_keys || given("limit") || given("offset");
        if ordered {
            sort_objects(&order, ty, by.as_ref(), &mut values);
        }
        let values = self.page(field, values);
        let mut items = Vec::new();
        for (index, value) in values.iter().enumerate() {
            self.path.push(Segment::Index(index));
            let item = match iri_of(value) {
                Some(node) => self.object(&field.selections(), ty, node, scope),
                None => {
                    self.fault("VALUE_ILL_TYPED");
                    Err(Bubble)
                }
            };
            self.path.pop();
            items.push(or_null(item, non_null_elements)?);
        }
        Ok(Out::List { items, ordered })
    }

    pub(super) fn is_ordered(&self, field: &Field<'_>) -> bool {
        let given = |name| self.document.argument(field, name).is_some();
        given("orderBy") || given("limit") || given("offset")
    }

    pub(super) fn page<T>(&self, field: &Field<'_>, values: Vec<T>) -> Vec<T> {
        let number = |name| {
            let value = self.document.argument(field, name)?;
            value.text().parse::<usize>().ok()
        };
        let rest = values.into_iter().skip(number("offset").unwrap_or(0));
        rest.take(number("limit").unwrap_or(usize::MAX)).collect()
    }

    fn object(
        &mut self,
        selections: &Vec<&'d ast::Selection>,
        ty: Ty,
        node: &str,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        let concrete = self.model.concrete(scope.triples, node, ty);
        let concrete = concrete.expect("objects of no known type are not shown");
        let mut members = Vec::new();
        for field in self
            .document
            .collect(self.model, Some(concrete), selections)
        {
            self.path.push(Segment::Key(field.key.clone()));
            let value = self.field(&field, concrete, node, scope);
            self.path.pop();
            members.push((field.key, value?));
        }
        Ok(Out::Object(members))
    }

    /// A field with what it may be; a null that it may not be goes up to the object.
    fn field(
        &mut self,
        field: &Field<'d>,
        object: ObjectId,
        node: &str,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        let leaf = |text: &str| Ok(Out::Leaf(json!(text)));
        if field.name() == "__typename" {
            return leaf(&self.model.object(object).name.graphql);
        }
        let meaning = self.model.field(Ty::Concrete(object), field.name());
        match meaning.expect("a known field") {
            FieldMeaning::Id => leaf(node),
            FieldMeaning::Type => self.types(field, object, node, scope),
            FieldMeaning::Name => Ok(self.name(field, object, node, scope)),
            FieldMeaning::Count(id) => {
                let property = &self.model.schema[id];
                Ok(Out::Leaf(json!(self.count(field, property, node, scope))))
            }
            FieldMeaning::Property(id) => {
                let property = &self.model.schema[id];
                let faults = self.faults.len();
                let value = self.property(field, property, node, scope);
                let is_null = matches!(value, Ok(Out::Leaf(Value::Null)));
                if !property.non_nullable {
                    return or_null(value, false);
                }
                if is_null && self.faults.len() == faults {
                    self.fault("NON_NULL_VIOLATED");
                }
                if is_null { Err(Bubble) } else { value }
            }
        }
    }

    /// The number of values, or of objects, that the list of a property would give.
    fn count(
        &mut self,
        field: &Field<'d>,
        property: &Property,
        node: &str,
        scope: Scope<'_>,
    ) -> usize {
        let open = Property {
            non_nullable_elements: false,
            ..property.clone()
        };
        let (faults, warnings) = (self.faults.clone(), self.warnings.clone());
        let list = self.property(field, &open, node, scope);
        (self.faults, self.warnings) = (faults, warnings);
        let Ok(Out::List { items, .. }) = list else {
            return 0;
        };
        let is_object = matches!(property.range, Range::Object(_));
        let counts = |item: &&Out| !is_object || !matches!(item, Out::Leaf(Value::Null));
        items.iter().filter(counts).count()
    }

    fn property(
        &mut self,
        field: &Field<'d>,
        property: &Property,
        node: &str,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        let values = scope.triples.values(node, &property.path);
        let values = cast(property, values);
        let given = self.lang_argument(field);
        let inner = Scope {
            lang: given.as_ref().or(scope.lang),
            ..scope
        };
        match property.range {
            Range::Object(object) => self.objects_of(field, property, object, values, inner),
            Range::Literal(range) => self.literals_of(field, property, range, values, inner),
            scalar => {
                let kind = Kind::of(scalar).expect("a scalar");
                let schema = self.model.schema;
                let fetch = property
                    .lang
                    .fetch
                    .as_ref()
                    .or(schema.config.lang.fetch.as_ref());
                let fetch = configured(fetch);
                let lang = inner.lang.or(fetch.as_ref());
                let inner = Scope { lang, ..inner };
                if property.max.is_multiple() {
                    let non_null = property.non_nullable_elements;
                    return self.scalars(field, kind, values, non_null, inner);
                }
                let chosen = single_scalar(schema, kind, &values, lang, self.accepted);
                self.report(field, chosen.several, chosen.ill_typed);
                Ok(Out::Leaf(
                    chosen.value.map_or(Value::Null, |shown| shown.json),
                ))
            }
        }
    }

    fn objects_of(
        &mut self,
        field: &Field<'d>,
        property: &Property,
        object: ObjectId,
        mut values: Vec<Term>,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        let ty = self.model.range(object);
        let checked = property.range_check;
        if property.max.is_multiple() {
            let non_null = property.non_nullable_elements;
            let list = self.objects(field, ty, checked, values, non_null, scope)?;
            return Ok(self.without_empty(list));
        }
        let (model, triples) = (self.model, scope.triples);
        let filter = Filter { model, triples };
        values.retain(|value| !checked || filter.is_object(value, ty, true));
        let several = values.len() > 1;
        if let Some(node) = super::order::shown_object(&filter, ty, checked, &values) {
            self.report(field, several, false);
            let shown = self.object(&field.selections(), ty, &node, scope);
            return or_null(shown, property.non_nullable);
        }
        self.report(field, several, false);
        if values.iter().any(|value| iri_of(value).is_none()) {
            self.fault("VALUE_ILL_TYPED");
        } else if !values.is_empty() {
            self.fault("TYPE_UNKNOWN");
        }
        Ok(Out::Leaf(Value::Null))
    }

    pub(super) fn report(&mut self, field: &Field<'_>, several: bool, ill_typed: bool) {
        if several {
            let warning = Fault {
                code: "MULTIPLE_VALUES".to_owned(),
                path: self.path.clone(),
            };
            let field = std::ptr::from_ref(&**field.nodes[0]);
            self.warnings.push((field, warning));
        }
        if ill_typed {
            self.fault("VALUE_ILL_TYPED");
        }
    }

    pub(super) fn fault(&mut self, code: &str) {
        self.faults.push(Fault {
            code: code.to_owned(),
            path: self.path.clone(),
        });
    }
}

/// Sorts by the keys, then by id; what is no object comes last.
fn sort_objects(order: &Order<'_>, ty: Ty, by: Option<&Val>, values: &mut [Term]) {
    values.sort_by_cached_key(|value| Sorted {
        is_literal: iri_of(value).is_none(),
        keys: match (by, iri_of(value)) {
            (Some(by), Some(node)) => order.keys(ty, Some(node), by),
            _ => Vec::new(),
        },
        id: iri_of(value).map_or_else(|| value.to_string(), str::to_owned),
    });
}

/// A value with what it is sorted by.
struct Sorted {
    is_literal: bool,
    keys: Vec<OrderKey>,
    id: String,
}

impl Ord for Sorted {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.is_literal
            .cmp(&other.is_literal)
            .then_with(|| compare(&self.keys, &other.keys))
            .then_with(|| self.id.cmp(&other.id))
    }
}

impl PartialOrd for Sorted {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sorted {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Sorted {}

pub(super) fn or_null(value: Result<Out, Bubble>, non_null: bool) -> Result<Out, Bubble> {
    match value {
        Err(Bubble) if !non_null => Ok(Out::Leaf(Value::Null)),
        other => other,
    }
}

/// Tells whether a filter lets everything through by its form alone.
pub(super) fn says_nothing(filter: &Val) -> bool {
    filter
        .keys()
        .iter()
        .all(|(key, operand)| match key.as_str() {
            "AND" => operand.items().iter().all(says_nothing),
            "ALL" | "ALL_EXISTS" => says_nothing(operand),
            _ => false,
        })
}
