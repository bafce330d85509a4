//! Translates selection sets of aggregates to aggregations.

use std::sync::Arc;

use apollo_compiler::{Node, executable};
use graph_store::query::{NodeCondition, Selection, Step, TermCondition, ValueCondition};
use graph_store::value::LiteralTypes;
use graphql_gen::typesystem::{Field, TypeRef};
use graphql_service::code as shared;
use graphql_service::error::{GraphqlError, Location};
use oxrdf::NamedNode;
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;
use soml_core::schema::{ObjectId, Property, PropertyId, Range};

use super::having::HavingBuilder;
use super::{
    AggregateField, AggregatePart, AggregatedKind, AggregatedValues, Aggregation, GroupField,
    GroupOrder, GroupOrderBy, GroupPart, Grouping, Having, KeyPart, Measure, MeasurePart, Measured,
    MeasuredValues, RootAggregate, ValueAggregate,
};
use crate::access::{property_readings, show_alike, type_readings};
use crate::code;
use crate::plan::build::{Planner, Scope, terms};
use crate::plan::connection::type_of;
use crate::plan::input::Input;
use crate::plan::levels::{LevelBuilder, LevelKey};
use crate::plan::order::{descending, for_single};
use crate::plan::{Edge, LevelId, Output, RootObjects, RootValue, ScalarKind};
use crate::rdf::takes_any;

type Result<T> = std::result::Result<T, GraphqlError>;
type Nodes<'n, 'a> = &'n [&'a Node<executable::Field>];

impl<'a> Planner<'_, 'a> {
    /// Plans the aggregate of the objects of `selection`.
    pub(in crate::plan) fn root_aggregate(
        &mut self,
        nodes: Nodes<'_, 'a>,
        target: TypeRef,
        selection: Selection,
        scope: Scope,
    ) -> Result<Option<RootValue>> {
        let mut builder = AggregationBuilder::new(self, target, &scope);
        let aggregation = builder.aggregation(nodes)?;
        let (slots, typed, left_out) = (builder.slots, builder.typed, builder.left_out);
        self.leave_out_all(left_out);
        let Some(aggregation) = aggregation else {
            return Ok(None);
        };
        let level = self.aggregate_level(target, &scope, slots, typed)?;
        Ok(Some(RootValue::Aggregate(Box::new(RootAggregate {
            objects: RootObjects { selection, level },
            aggregation: Arc::new(aggregation),
        }))))
    }

    /// Plans the aggregate beside the list field of a property.
    pub(in crate::plan) fn list_aggregate(
        &mut self,
        property: &'a Property,
        nodes: Nodes<'_, 'a>,
        scope: &Scope,
        builder: &mut LevelBuilder,
    ) -> Result<Option<Output>> {
        let arguments = self.arguments(nodes[0]);
        let scope = Scope {
            lang: arguments.lang()?.or_else(|| scope.lang.clone()),
            dataset: Arc::clone(&scope.dataset),
        };
        if !matches!(property.range, Range::Object(_)) {
            return self
                .value_aggregate(property, nodes, &scope, builder)
                .map(Some);
        }
        // A field that narrows its range keeps the type declared by its interface.
        let ty = type_of(nodes[0]);
        let target = ty
            .strip_suffix("_Aggregate")
            .and_then(|ty| self.input.api.type_ref(ty))
            .expect("aggregates are named after the type of their objects");
        let Some((level, aggregation)) = self.aggregation_of(target, nodes, &scope)? else {
            return Ok(None);
        };
        let slot = self.counted_objects(property, target, &arguments, builder)?;
        let edge = builder.edge(Edge { slot, level });
        Ok(Some(Output::Aggregate { edge, aggregation }))
    }

    /// Returns the aggregation of a selection set, shared by all object types that have it.
    fn aggregation_of(
        &mut self,
        target: TypeRef,
        nodes: Nodes<'_, 'a>,
        scope: &Scope,
    ) -> Result<Option<(LevelId, Arc<Aggregation>)>> {
        let sets: Vec<_> = nodes.iter().map(|node| &node.selection_set).collect();
        let key = LevelKey::new(target, &sets, scope);
        if let Some((level, aggregation)) = self.aggregations.get(&key) {
            return Ok(Some((*level, Arc::clone(aggregation))));
        }
        let mut inner = AggregationBuilder::new(self, target, scope);
        let aggregation = inner.aggregation(nodes)?;
        let (slots, typed, left_out) = (inner.slots, inner.typed, inner.left_out);
        self.leave_out_all(left_out);
        let Some(aggregation) = aggregation.map(Arc::new) else {
            return Ok(None);
        };
        let level = self.aggregate_level(target, scope, slots, typed)?;
        let known = (level, Arc::clone(&aggregation));
        self.aggregations.insert(key, known);
        Ok(Some((level, aggregation)))
    }

    /// Warns of the fields of an aggregation that are left out.
    fn leave_out_all(&mut self, fields: Vec<FieldLeftOut<'a>>) {
        for FieldLeftOut { path, node } in fields {
            let depth = self.left_out.path.len();
            let (key, above) = path.split_last().expect("a path ends with the field");
            self.left_out.path.extend_from_slice(above);
            self.left_out.field(self.input, key, node);
            self.left_out.path.truncate(depth);
        }
    }

    fn value_aggregate(
        &mut self,
        property: &'a Property,
        nodes: Nodes<'_, 'a>,
        scope: &Scope,
        builder: &mut LevelBuilder,
    ) -> Result<Output> {
        let arguments = self.arguments(nodes[0]);
        let condition = match property.range {
            Range::Literal(_) => terms(arguments.literal_condition()?),
            Range::Scalar(scalar) => {
                let kind = ScalarKind::Scalar(scalar);
                terms(arguments.scalar_condition(kind, property.type_cast)?)
            }
            Range::Enum(id) => {
                let kind = ScalarKind::Enum(id);
                terms(arguments.scalar_condition(kind, property.type_cast)?)
            }
            Range::Object(_) => unreachable!("lists of objects have aggregates of objects"),
        };
        let slot = builder.slot(Step::from(&property.path), condition, None);
        let config = self.input.api.soml().config.lang.fetch.as_ref();
        let values = AggregatedValues {
            name: property.name.graphql.clone(),
            slot,
            ..shape_of(property, scope.lang.as_ref(), config, |range| {
                LiteralTypes::new(self.input.api.soml(), range)
            })
        };
        let fields = measures(self, nodes);
        Ok(Output::ValueAggregate(Box::new(ValueAggregate {
            values,
            fields,
        })))
    }
}

/// Returns the kind of a property's values; their slot is not set yet.
fn shape_of(
    property: &Property,
    given: Option<&LangSpec>,
    config: Option<&LangSpec>,
    types: impl Fn(soml_core::schema::LiteralRange) -> LiteralTypes,
) -> AggregatedValues {
    let single = !property.max.is_multiple();
    let (kind, cast) = match property.range {
        Range::Scalar(scalar) => (AggregatedKind::Scalar(scalar), property.type_cast),
        Range::Enum(id) => (AggregatedKind::Enum(id), property.type_cast),
        Range::Literal(range) => (AggregatedKind::Literal(types(range)), false),
        Range::Object(_) => (AggregatedKind::Object, false),
    };
    let is_text = matches!(
        kind,
        AggregatedKind::Scalar(Scalar::String) | AggregatedKind::Literal(_)
    );
    let lang = given.or(property.lang.fetch.as_ref()).or(config);
    // The values are those that the field returns (docs/queries.md, "Aggregates").
    let lang = lang.filter(|_| is_text).cloned();
    AggregatedValues {
        name: property.name.graphql.clone(),
        slot: 0,
        kind,
        cast,
        lang: if single { lang.map(for_single) } else { lang },
        single,
        otherwise: Vec::new(),
    }
}

/// Returns the measures in a selection set.
fn measures<'a>(planner: &Planner<'_, 'a>, nodes: Nodes<'_, 'a>) -> Vec<(String, MeasurePart)> {
    let of = type_of(nodes[0]);
    let fields = planner.sub_fields(nodes).into_iter();
    fields
        .map(|(key, nodes)| {
            let measure = Measure::from_name(&nodes[0].name);
            let part =
                measure.map_or_else(|| MeasurePart::TypeName(of.clone()), MeasurePart::Measure);
            (key, part)
        })
        .collect()
}

/// Plans one aggregation.
pub(super) struct AggregationBuilder<'b, 'p, 'a> {
    planner: &'b Planner<'p, 'a>,
    target: TypeRef,
    scope: &'b Scope,
    slots: LevelBuilder,
    /// The types of the objects decide which values are theirs.
    typed: bool,
    values: Vec<AggregatedValues>,
    left_out: Vec<FieldLeftOut<'a>>,
}

/// A field of an aggregation that cannot be read.
struct FieldLeftOut<'a> {
    /// Response keys from the field of the aggregation.
    path: Vec<&'a str>,
    node: &'a Node<executable::Field>,
}

impl<'b, 'p, 'a> AggregationBuilder<'b, 'p, 'a> {
    fn new(planner: &'b Planner<'p, 'a>, target: TypeRef, scope: &'b Scope) -> Self {
        AggregationBuilder {
            planner,
            target,
            scope,
            slots: LevelBuilder::default(),
            typed: false,
            values: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Plans an aggregation; `None` when nothing of it can be read.
    fn aggregation(&mut self, nodes: Nodes<'_, 'a>) -> Result<Option<Aggregation>> {
        let of = type_of(nodes[0]);
        let mut fields = Vec::new();
        let mut is_left = false;
        for (key, nodes) in self.planner.sub_fields(nodes) {
            let part = match nodes[0].name.as_str() {
                "__typename" => AggregatePart::TypeName(of.clone()),
                "count" => AggregatePart::Count,
                "groups" => match self.grouping(&nodes)? {
                    Some(grouping) => AggregatePart::Groups(Box::new(grouping)),
                    None => continue,
                },
                name if !self.is_readable(name) => {
                    self.leave_out(vec![nodes[0].response_key()], nodes[0]);
                    continue;
                }
                _ => AggregatePart::Values(self.measured(&nodes)?),
            };
            is_left |= !matches!(part, AggregatePart::TypeName(_));
            fields.push(AggregateField {
                key,
                location: self.planner.location(nodes[0]),
                part,
            });
        }
        let values = std::mem::take(&mut self.values);
        let aggregation = Aggregation { values, fields };
        Ok((is_left || self.left_out.is_empty()).then_some(aggregation))
    }

    /// Returns whether a field can be read of some of the objects that are shown.
    fn is_readable(&self, name: &str) -> bool {
        let view = self.planner.input.view();
        if !view.is_limited() {
            return true;
        }
        let leads_nowhere = |field: Field| match field {
            Field::Property(id) => self.planner.leads_nowhere(id),
            _ => false,
        };
        let possible = view.api.possible_types(self.target).iter();
        let mut of = possible.filter(|object| view.sees(**object));
        of.any(|object| {
            let field = view.api.field(TypeRef::Concrete(*object), name);
            let field = field.filter(|field| !leads_nowhere(*field));
            field.is_some_and(|field| view.reads(*object, field.part()))
        })
    }

    fn leave_out(&mut self, path: Vec<&'a str>, node: &'a Node<executable::Field>) {
        self.left_out.push(FieldLeftOut { path, node });
    }

    fn measured(&mut self, nodes: Nodes<'_, 'a>) -> Result<MeasuredValues> {
        Ok(MeasuredValues {
            values: self.values_named(&nodes[0].name)?,
            fields: measures(self.planner, nodes),
        })
    }

    /// Plans the groups; `None` when nothing of them can be read.
    fn grouping(&mut self, nodes: Nodes<'_, 'a>) -> Result<Option<Grouping>> {
        let at = nodes[0].response_key().as_str();
        let arguments = self.planner.arguments(nodes[0]);
        let (by, location) = arguments
            .values
            .get("by")
            .unwrap_or((Input::List(Vec::new()), None));
        let mut names: Vec<String> = Vec::new();
        for name in by.as_list().iter().filter_map(Input::as_text) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        // `by: []` would be one group of everything, which the aggregate itself is.
        if names.is_empty() {
            let message = "`by` must name what the objects of a group have in common";
            return Err(GraphqlError::new(code::ARGUMENT_INVALID, message).at(location));
        }
        let mut by = Vec::with_capacity(names.len());
        for name in &names {
            let values = self.values_allowed("by", name);
            by.push(values.map_err(|error| error.at(location))?);
        }
        let having = match arguments.values.get("having") {
            None => Having::All(Vec::new()),
            Some((input, location)) => HavingBuilder::new(self, location).having(&input)?,
        };
        let order = match arguments.values.get("orderBy") {
            None => Vec::new(),
            Some((input, location)) => self.order(&input, &names, location)?,
        };
        let mut fields = Vec::new();
        let of = type_of(nodes[0]);
        let (mut is_left, mut leaves_out) = (false, false);
        for (key, nodes) in self.planner.sub_fields(nodes) {
            let part = match nodes[0].name.as_str() {
                "__typename" => GroupPart::TypeName(of.clone()),
                "count" => GroupPart::Count,
                "key" => GroupPart::Key(self.key(&nodes, &names)?),
                name if !self.is_readable(name) => {
                    self.leave_out(vec![at, nodes[0].response_key()], nodes[0]);
                    leaves_out = true;
                    continue;
                }
                _ => GroupPart::Values(self.measured(&nodes)?),
            };
            is_left |= !matches!(part, GroupPart::TypeName(_));
            fields.push(GroupField { key, part });
        }
        let page = arguments.page()?;
        Ok((is_left || !leaves_out).then_some(Grouping {
            by,
            having,
            order,
            page,
            fields,
        }))
    }

    fn key(&self, nodes: Nodes<'_, 'a>, by: &[String]) -> Result<Vec<(String, KeyPart)>> {
        let of = type_of(nodes[0]);
        let mut fields = Vec::new();
        for (key, nodes) in self.planner.sub_fields(nodes) {
            let name = nodes[0].name.as_str();
            let part = if name == "__typename" {
                KeyPart::TypeName(of.clone())
            } else {
                let location = self.planner.location(nodes[0]);
                KeyPart::Of(position(by, name, "selected", location)?)
            };
            fields.push((key, part));
        }
        Ok(fields)
    }

    fn order(
        &mut self,
        input: &Input,
        by: &[String],
        location: Option<Location>,
    ) -> Result<Vec<GroupOrder>> {
        let mut order = Vec::new();
        for (name, value) in entries(input, location)? {
            match (name.as_str(), value) {
                (_, Input::Null) => {}
                ("count", direction) => {
                    let by = GroupOrderBy::Measured(Measured::Objects);
                    order.extend(directed(by, direction, location)?);
                }
                ("key", keys) => {
                    for (name, direction) in entries(keys, location)? {
                        let by = GroupOrderBy::Key(position(by, name, "ordered by", location)?);
                        order.extend(directed(by, direction, location)?);
                    }
                }
                (_, measures) => {
                    let values = self
                        .values_allowed("orderBy", name)
                        .map_err(|error| error.at(location))?;
                    for (name, direction) in entries(measures, location)? {
                        let measure = Measure::from_name(name).ok_or_else(|| invalid(location))?;
                        let by = GroupOrderBy::Measured(Measured::Values(values, measure));
                        order.extend(directed(by, direction, location)?);
                    }
                }
            }
        }
        Ok(order)
    }

    /// Returns the position of the values of a field that an argument names.
    pub(super) fn values_allowed(&mut self, argument: &str, name: &str) -> Result<usize> {
        if !self.is_readable(name) {
            return Err(self.planner.input.view().denied(argument, name));
        }
        self.values_named(name)
    }

    /// Returns the position of the values of a field, adding them if they are new.
    fn values_named(&mut self, name: &str) -> Result<usize> {
        let field = self.planner.input.api.field(self.target, name);
        let values = match field {
            Some(Field::Type) => self.types(),
            Some(Field::Property(id)) => {
                let view = self.planner.input.view();
                let readings = property_readings(view, self.target, name, show_alike).into_iter();
                let read = readings.map(|reading| {
                    let values = self.of(reading.rows, |this| this.property(reading.by));
                    (reading.objects, values)
                });
                let read: Vec<_> = read.collect();
                let values = match read.first() {
                    // What is read of no object itself is read as of the first that it is read of.
                    Some((_, first)) if view.is_limited() => first.clone(),
                    _ => self.property(id),
                };
                self.read_otherwise(values, read)
            }
            _ => {
                let message = format!("`{name}` cannot be aggregated");
                return Err(GraphqlError::new(shared::INTERNAL, message));
            }
        };
        let known = self.values.iter().position(|known| *known == values);
        Ok(known.unwrap_or_else(|| {
            self.values.push(values);
            self.values.len() - 1
        }))
    }

    fn property(&mut self, id: PropertyId) -> AggregatedValues {
        let schema = self.planner.input.api.soml();
        let property = &schema[id];
        let config = schema.config.lang.fetch.as_ref();
        let slot = self.slot(property);
        let lang = self.scope.lang.as_ref();
        AggregatedValues {
            slot,
            ..shape_of(property, lang, config, |range| {
                LiteralTypes::new(schema, range)
            })
        }
    }

    /// Adds to the values of a type those of the objects that are read otherwise.
    fn read_otherwise(
        &mut self,
        mut values: AggregatedValues,
        read: Vec<(Vec<ObjectId>, AggregatedValues)>,
    ) -> AggregatedValues {
        let unread = self.unread(&read);
        if let ([(_, single)], true) = (read.as_slice(), unread.is_empty()) {
            return single.clone();
        }
        let mut otherwise = read;
        if !unread.is_empty() {
            let nothing = self.nothing(&values);
            otherwise.push((unread, nothing));
        }
        otherwise.retain(|(_, other)| *other != values);
        self.typed |= !otherwise.is_empty();
        values.otherwise = otherwise;
        values
    }

    /// Returns the objects that are shown, and that nothing is read of.
    fn unread(&self, read: &[(Vec<ObjectId>, AggregatedValues)]) -> Vec<ObjectId> {
        let view = self.planner.input.view();
        if !view.is_limited() {
            return Vec::new();
        }
        let possible = view.api.possible_types(self.target).iter().copied();
        let is_read = |object: &ObjectId| read.iter().any(|(of, _)| of.contains(object));
        let unread = possible.filter(|object| view.sees(*object) && !is_read(object));
        unread.collect()
    }

    /// Returns values like others, of which there are none.
    fn nothing(&mut self, like: &AggregatedValues) -> AggregatedValues {
        let schema = self.planner.input.api.soml();
        let first = self.planner.input.api.possible_types(self.target)[0];
        let step = Step::forward(NamedNode::new_unchecked(schema[first].type_prop.as_str()));
        let none = ValueCondition::Term(TermCondition::Any(Vec::new()));
        AggregatedValues {
            slot: self.slots.slot(step, Some(none), None),
            otherwise: Vec::new(),
            ..like.clone()
        }
    }

    /// Adds slots for those objects that satisfy a condition.
    fn of<T>(&mut self, rows: Option<NodeCondition>, add: impl FnOnce(&mut Self) -> T) -> T {
        self.slots.of = rows;
        let added = add(self);
        self.slots.of = None;
        added
    }

    fn types(&mut self) -> AggregatedValues {
        let readings = type_readings(self.planner.input.view(), self.target).into_iter();
        let read = readings.map(|reading| {
            let values = self.of(reading.rows, |this| this.types_under(reading.by));
            (reading.objects, values)
        });
        let read: Vec<_> = read.collect();
        let (_, first) = read.first().expect("every type has objects").clone();
        self.read_otherwise(first, read)
    }

    fn types_under(&mut self, property: &str) -> AggregatedValues {
        let step = Step::forward(NamedNode::new_unchecked(property));
        AggregatedValues {
            name: "type".to_owned(),
            slot: self.slots.slot(step, None, None),
            kind: AggregatedKind::Scalar(Scalar::Iri),
            cast: false,
            lang: None,
            single: false,
            otherwise: Vec::new(),
        }
    }

    fn slot(&mut self, property: &Property) -> usize {
        let mut condition = None;
        if let Range::Object(object) = property.range {
            let api = self.planner.input.api;
            let target = api.range_type(object);
            let view = self.planner.input.view();
            let shown = view.shown(target).condition();
            let mut tests: Vec<NodeCondition> = shown.into_iter().collect();
            if property.range_check {
                tests.push(NodeCondition::Instance(view.test(target)));
            }
            if !takes_any(api, target) {
                tests.push(self.planner.known_type(target));
            }
            condition = Some(ValueCondition::Node(NodeCondition::all(tests)));
        }
        self.slots.slot(Step::from(&property.path), condition, None)
    }

    pub(super) fn planner(&self) -> &'b Planner<'p, 'a> {
        self.planner
    }

    /// Returns the values at a position.
    pub(super) fn values_at(&self, position: usize) -> &AggregatedValues {
        &self.values[position]
    }
}

/// Finds a part of the key among those by which objects are grouped. Other properties have no value
/// that all objects of a group share.
fn position(by: &[String], name: &str, used: &str, location: Option<Location>) -> Result<usize> {
    by.iter().position(|known| known == name).ok_or_else(|| {
        let message = format!("`key.{name}` is {used}, and `by` does not name it");
        GraphqlError::new(code::ARGUMENT_INVALID, message).at(location)
    })
}

fn directed(
    by: GroupOrderBy,
    direction: &Input,
    location: Option<Location>,
) -> Result<Option<GroupOrder>> {
    // A null direction means that the key is absent.
    if *direction == Input::Null {
        return Ok(None);
    }
    let descending = descending(direction).ok_or_else(|| invalid(location))?;
    Ok(Some(GroupOrder { by, descending }))
}

fn entries(input: &Input, location: Option<Location>) -> Result<&[(String, Input)]> {
    match input {
        Input::Object(fields) => Ok(fields),
        Input::Null => Ok(&[]),
        _ => Err(invalid(location)),
    }
}

fn invalid(location: Option<Location>) -> GraphqlError {
    let message = "the `orderBy` argument has an unknown key";
    GraphqlError::new(code::ARGUMENT_INVALID, message).at(location)
}
