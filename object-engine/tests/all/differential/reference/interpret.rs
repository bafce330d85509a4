//! Operations over triples: objects, their fields, and what goes wrong on the way.

use std::collections::HashSet;

use apollo_compiler::ast;
use oxrdf::{NamedNode, Term};
use serde_json::{Value, json};
use soml_core::schema::{ObjectId, Property, Range};

use super::cast::cast;
use super::document::{Document, Field, Val};
use super::fields::{Kind, single_scalar};
use super::filter::Filter;
use super::graph::{Graph, Triples, iri_of};
use super::lang::Spec;
use super::model::{FieldMeaning, Model, RootKind, Ty};
use super::order::{Order, OrderKey, compare, configured};
use super::removal::{Removal, Remover};

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
#[derive(Debug)]
pub(crate) enum Answer {
    /// The request is refused with one of these codes.
    Refused(Vec<&'static str>),
    /// Data, and what went wrong or was left out.
    Data(Out, Vec<Fault>, Vec<Removal>),
}

/// What stands for the content of a cursor.
pub(crate) const CURSOR: &str = "a cursor";

/// Answers a valid document.
pub(crate) fn interpret(
    model: &Model<'_>,
    graph: &Graph<'_>,
    query: &str,
    variables: &serde_json::Map<String, Value>,
    accepted: &[String],
) -> Answer {
    let parsed = ast::Document::parse(query, "query.graphql").expect("a document");
    let document = Document::new(&parsed, variables);
    let mut remover = Remover::new(&document, model);
    remover.query();
    if !remover.refusals.is_empty() {
        return Answer::Refused(remover.refusals);
    }
    let removals = remover.removals;
    let mut interpreter = Interpreter {
        document: &document,
        model,
        graph,
        accepted,
        path: Vec::new(),
        faults: Vec::new(),
        warnings: Vec::new(),
        null_operand: false,
    };
    let data = interpreter.query();
    if interpreter.null_operand {
        return Answer::Refused(vec!["NULL_OPERAND"]);
    }
    let mut warned = HashSet::new();
    for (field, warning) in interpreter.warnings {
        // Nobody is warned of a value that is not returned; of others once per field.
        if !data.is_null_above(&warning.path) && warned.insert(field) {
            interpreter.faults.push(warning);
        }
    }
    Answer::Data(data, interpreter.faults, removals)
}

impl Out {
    /// Returns whether something on the way to a place is null.
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
            if field.name() == "_entities" {
                members.extend(self.entities(&field));
                continue;
            }
            let (ty, kind) = self.model.root(field.name()).expect("a root field");
            if self.omits(|remover| remover.omits_root(&field)) {
                continue;
            }
            self.path.push(Segment::Key(field.key.clone()));
            let root = self.root(&field, ty, kind);
            self.path.pop();
            match root {
                Ok(list) => members.push((field.key, list)),
                Err(Bubble) => return Out::Leaf(Value::Null),
            }
        }
        Out::Object(members)
    }

    /// Returns whether a field is left out, since it may not be read.
    fn omits(&self, omits: impl FnOnce(&mut Remover<'d>) -> bool) -> bool {
        let rights = &self.model.rights;
        !rights.is_everything() && omits(&mut Remover::new(self.document, self.model))
    }

    fn root(&mut self, field: &Field<'d>, ty: Ty, kind: RootKind) -> Result<Out, Bubble> {
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
        match kind {
            RootKind::Objects => self.objects(field, ty, false, terms, false, scope),
            RootKind::Count => {
                let selected = self.select(field, ty, false, terms, scope);
                Ok(Out::Leaf(json!(selected.values.len())))
            }
            RootKind::Connection => {
                let connection = self.connection(field, ty, terms, scope);
                or_null(connection, false)
            }
            RootKind::Aggregate => Ok(self.aggregate(field, ty, terms, scope)),
        }
    }

    /// A window over objects, which are in order in any case.
    fn connection(
        &mut self,
        field: &Field<'d>,
        ty: Ty,
        terms: Vec<Term>,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        let mut selected = self.select(field, ty, false, terms, scope);
        if !selected.ordered {
            let id = |value: &Term| iri_of(value).map(str::to_owned);
            selected.values.sort_by_key(id);
        }
        let count = selected.values.len();
        let length = |name| {
            let length = self.document.argument(field, name)?;
            length.text().parse::<usize>().ok()
        };
        let mut values = selected.values;
        match (length("first"), length("last")) {
            (Some(first), _) => values.truncate(first),
            (_, Some(last)) => drop(values.drain(..count.saturating_sub(last))),
            _ => {}
        }
        let mut members = Vec::new();
        for part in self.document.collect(self.model, None, &field.selections()) {
            if self.omits(|remover| remover.omits_part(ty, &part)) {
                continue;
            }
            let out = if part.name() == "totalCount" {
                Out::Leaf(json!(count))
            } else if part.name() == "pageInfo" {
                let more = length("first").is_some_and(|first| first < count);
                self.page_info(&part, ty, more, values.is_empty())
            } else if part.name() == "edges" {
                self.path.push(Segment::Key(part.key.clone()));
                let edges = self.edges(&part, ty, &values, scope);
                self.path.pop();
                edges
            } else {
                self.path.push(Segment::Key(part.key.clone()));
                let items = self.shown(&part, ty, &values, true, scope);
                self.path.pop();
                Out::List {
                    items: items?,
                    ordered: true,
                }
            };
            members.push((part.key, out));
        }
        Ok(Out::Object(members))
    }

    /// Objects with their cursors, whose content is not compared.
    fn edges(&mut self, edges: &Field<'d>, ty: Ty, values: &[Term], scope: Scope<'_>) -> Out {
        let mut items = Vec::new();
        for (index, value) in values.iter().enumerate() {
            let node = iri_of(value).expect("lists at the root hold objects");
            self.path.push(Segment::Index(index));
            let mut members = Vec::new();
            for part in self.document.collect(self.model, None, &edges.selections()) {
                let is_cursor = part.name() == "cursor";
                if self.omits(|remover| remover.omits_part(ty, &part)) {
                    continue;
                }
                self.path.push(Segment::Key(part.key.clone()));
                let out = if is_cursor {
                    Out::Leaf(json!(CURSOR))
                } else {
                    let object = self.object(&part.selections(), ty, node, scope);
                    or_null(object, false).unwrap_or(Out::Leaf(Value::Null))
                };
                self.path.pop();
                members.push((part.key, out));
            }
            self.path.pop();
            items.push(Out::Object(members));
        }
        let ordered = true;
        Out::List { items, ordered }
    }

    /// What a connection says of its window.
    fn page_info(&mut self, info: &Field<'d>, ty: Ty, more: bool, is_empty: bool) -> Out {
        let mut members = Vec::new();
        for part in self.document.collect(self.model, None, &info.selections()) {
            if self.omits(|remover| remover.omits_part(ty, &part)) {
                continue;
            }
            let value = match part.name() {
                "hasNextPage" => json!(more),
                _ if is_empty => Value::Null,
                _ => json!(CURSOR),
            };
            members.push((part.key, Out::Leaf(value)));
        }
        Out::Object(members)
    }

    /// Objects by type and id, each null that there is not; `None` when the field is left out.
    fn entities(&mut self, field: &Field<'d>) -> Option<(String, Out)> {
        if self.omits(|remover| remover.omits_entities(field)) {
            return None;
        }
        let triples = self.graph.union();
        let scope = Scope {
            triples,
            lang: None,
        };
        let mut items = Vec::new();
        self.path.push(Segment::Key(field.key.clone()));
        for (index, (ty, id)) in self
            .document
            .representations(self.model, field)
            .into_iter()
            .enumerate()
        {
            self.path.push(Segment::Index(index));
            let term = NamedNode::new_unchecked(&id).into();
            let is_shown = self.model.is_instance(triples, &id, ty)
                && self.model.concrete(triples, &id, ty).is_some()
                && !self.model.is_hidden(triples, &term, ty)
                && self.model.reads_of(triples, &id, ty, "id");
            let object = is_shown.then(|| self.object(&field.selections(), ty, &id, scope));
            let item = object.unwrap_or(Ok(Out::Leaf(Value::Null)));
            items.push(or_null(item, false).unwrap_or(Out::Leaf(Value::Null)));
            self.path.pop();
        }
        self.path.pop();
        let ordered = true;
        Some((field.key.clone(), Out::List { items, ordered }))
    }

    /// How many values the objects have; what does not fit, and what a single-valued field does not
    /// show, takes no part.
    fn aggregate(&mut self, field: &Field<'d>, ty: Ty, terms: Vec<Term>, scope: Scope<'_>) -> Out {
        let selected = self.select(field, ty, false, terms, scope);
        let mut members = Vec::new();
        for part in self.document.collect(self.model, None, &field.selections()) {
            if self.omits(|remover| remover.omits_measures(ty, &part)) {
                continue;
            }
            if part.name() == "count" {
                members.push((part.key, Out::Leaf(json!(selected.values.len()))));
                continue;
            }
            let (mut count, mut distinct) = (0, std::collections::BTreeSet::new());
            for node in selected.values.iter().filter_map(iri_of) {
                if !self.model.reads_of(scope.triples, node, ty, part.name()) {
                    continue;
                }
                let property = self.model.property_of(scope.triples, node, ty, part.name());
                let property = property.expect("all objects of a type have its fields");
                let values = self.texts_of(property, node, scope);
                count += values.len();
                distinct.extend(values);
            }
            let measures = self.document.collect(self.model, None, &part.selections());
            let measures = measures.into_iter().map(|measure| {
                let number = match measure.name() {
                    "count" => count,
                    _ => distinct.len(),
                };
                (measure.key, Out::Leaf(json!(number)))
            });
            members.push((part.key, Out::Object(measures.collect())));
        }
        Out::Object(members)
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
        values: Vec<Term>,
        non_null_elements: bool,
        scope: Scope<'_>,
    ) -> Result<Out, Bubble> {
        let selected = self.select(field, ty, checked, values, scope);
        let values = self.page(field, selected.values);
        let items = self.shown(field, ty, &values, non_null_elements, scope)?;
        Ok(Out::List {
            items,
            ordered: selected.ordered,
        })
    }

    /// The objects that pass the arguments, in their order.
    fn select(
        &mut self,
        field: &Field<'d>,
        ty: Ty,
        checked: bool,
        mut values: Vec<Term>,
        scope: Scope<'_>,
    ) -> Selected {
        let (model, triples) = (self.model, scope.triples);
        let filter = Filter { model, triples };
        if checked {
            values.retain(|value| filter.is_object(value, ty, true));
        }
        if let Some(ids) = self.document.argument(field, "ID") {
            values.retain(|value| {
                let known = |id: &Val| iri_of(value) == Some(id.text());
                let reads = |node| model.reads_of(triples, node, ty, "id");
                ids.items().iter().any(known) && iri_of(value).is_some_and(reads)
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
            Some(node) => {
                let known = model.concrete(triples, node, ty).is_some();
                known && !model.is_hidden(triples, value, ty)
            }
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
        Selected { values, ordered }
    }

    /// The objects of a list.
    fn shown(
        &mut self,
        field: &Field<'d>,
        ty: Ty,
        values: &[Term],
        non_null_elements: bool,
        scope: Scope<'_>,
    ) -> Result<Vec<Out>, Bubble> {
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
        Ok(items)
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
            if self.omits(|remover| remover.omits(concrete, &field)) {
                continue;
            }
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
        let mut open = property.clone();
        open.non_nullable_elements = false;
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
        values.retain(|value| !model.is_hidden(triples, value, ty));
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

/// Objects that passed their arguments.
struct Selected {
    values: Vec<Term>,
    /// Their order is settled.
    ordered: bool,
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

/// Returns whether a filter lets everything through by its form alone.
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
