//! Selection sets of aggregates to aggregations.

use std::sync::Arc;

use apollo_compiler::{Node, executable};
use graph_store::query::{NodeCondition, Selection, Step, ValueCondition};
use graph_store::value::LiteralTypes;
use graphql_gen::typesystem::{Field, TypeRef};
use graphql_service::code as shared;
use graphql_service::error::{GraphqlError, Location};
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;
use soml_core::schema::{Property, Range};

use super::having::HavingBuilder;
use super::{
    AggregateField, AggregatePart, AggregatedKind, AggregatedValues, Aggregation, GroupField,
    GroupOrder, GroupOrderBy, GroupPart, Grouping, Having, KeyPart, Measure, MeasurePart, Measured,
    MeasuredValues, RootAggregate, ValueAggregate,
};
use crate::code;
use crate::plan::build::{Planner, Scope, terms};
use crate::plan::connection::type_of;
use crate::plan::input::Input;
use crate::plan::levels::{LevelBuilder, LevelKey};
use crate::plan::order::{descending, for_single};
use crate::plan::rdf::{type_property, type_test};
use crate::plan::{Edge, LevelId, Output, RootObjects, RootValue, ScalarKind};

type Result<T> = std::result::Result<T, GraphqlError>;
type Nodes<'n, 'a> = &'n [&'a Node<executable::Field>];

impl<'a> Planner<'_, 'a> {
    /// Plans the aggregate of the objects of `selection`.
    pub(in crate::plan) fn root_aggregate(
        &mut self,
        nodes: Nodes<'_, 'a>,
        (target, selection, scope): (TypeRef, Selection, Scope),
    ) -> Result<RootValue> {
        let mut builder = AggregationBuilder::new(self, target, &scope);
        let aggregation = builder.aggregation(nodes)?;
        let slots = builder.slots;
        let level = self.aggregate_level(target, &scope, slots)?;
        Ok(RootValue::Aggregate(Box::new(RootAggregate {
            objects: RootObjects { selection, level },
            aggregation,
        })))
    }

    /// Plans the aggregate beside the list field of a property.
    pub(in crate::plan) fn list_aggregate(
        &mut self,
        property: &'a Property,
        nodes: Nodes<'_, 'a>,
        scope: &Scope,
        builder: &mut LevelBuilder,
    ) -> Result<Output> {
        let arguments = self.arguments(nodes[0]);
        let scope = Scope {
            lang: arguments.lang()?.or_else(|| scope.lang.clone()),
            dataset: Arc::clone(&scope.dataset),
        };
        if !matches!(property.range, Range::Object(_)) {
            return self.value_aggregate(property, nodes, &scope, builder);
        }
        // A field that narrows its range keeps the type that its interface promises.
        let ty = type_of(nodes[0]);
        let target = ty.strip_suffix("_Aggregate");
        let target = target.and_then(|ty| self.input.api.type_ref(ty));
        let target = target.expect("aggregates are named after the type of their objects");
        let slot = self.counted_objects(property, target, &arguments, builder)?;
        let (level, aggregation) = self.aggregation_of(target, nodes, &scope)?;
        let edge = builder.edge(Edge { slot, level });
        Ok(Output::Aggregate { edge, aggregation })
    }

    /// Returns the aggregation of a selection set, the same for all types of object that have it.
    fn aggregation_of(
        &mut self,
        target: TypeRef,
        nodes: Nodes<'_, 'a>,
        scope: &Scope,
    ) -> Result<(LevelId, Arc<Aggregation>)> {
        let sets: Vec<_> = nodes.iter().map(|node| &node.selection_set).collect();
        let key = LevelKey::new(target, &sets, scope);
        if let Some((level, aggregation)) = self.aggregations.get(&key) {
            return Ok((*level, Arc::clone(aggregation)));
        }
        let mut inner = AggregationBuilder::new(self, target, scope);
        let aggregation = Arc::new(inner.aggregation(nodes)?);
        let slots = inner.slots;
        let level = self.aggregate_level(target, scope, slots)?;
        let known = (level, Arc::clone(&aggregation));
        self.aggregations.insert(key, known);
        Ok((level, aggregation))
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

/// Returns what the values of a property are; their slot is still to be filled in.
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
    let lang = lang.filter(|_| is_text).cloned();
    AggregatedValues {
        name: property.name.graphql.clone(),
        slot: 0,
        kind,
        cast,
        lang: if single { lang.map(for_single) } else { lang },
        single,
    }
}

/// Returns the measures that a selection set asks for.
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
    values: Vec<AggregatedValues>,
}

impl<'b, 'p, 'a> AggregationBuilder<'b, 'p, 'a> {
    fn new(planner: &'b Planner<'p, 'a>, target: TypeRef, scope: &'b Scope) -> Self {
        AggregationBuilder {
            planner,
            target,
            scope,
            slots: LevelBuilder::default(),
            values: Vec::new(),
        }
    }

    fn aggregation(&mut self, nodes: Nodes<'_, 'a>) -> Result<Aggregation> {
        let of = type_of(nodes[0]);
        let mut fields = Vec::new();
        for (key, nodes) in self.planner.sub_fields(nodes) {
            let part = match nodes[0].name.as_str() {
                "__typename" => AggregatePart::TypeName(of.clone()),
                "count" => AggregatePart::Count,
                "groups" => AggregatePart::Groups(Box::new(self.grouping(&nodes)?)),
                _ => AggregatePart::Values(self.measured(&nodes)?),
            };
            fields.push(AggregateField {
                key,
                location: self.planner.location(nodes[0]),
                part,
            });
        }
        Ok(Aggregation {
            values: std::mem::take(&mut self.values),
            fields,
        })
    }

    fn measured(&mut self, nodes: Nodes<'_, 'a>) -> Result<MeasuredValues> {
        Ok(MeasuredValues {
            values: self.values_named(&nodes[0].name)?,
            fields: measures(self.planner, nodes),
        })
    }

    fn grouping(&mut self, nodes: Nodes<'_, 'a>) -> Result<Grouping> {
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
        if names.is_empty() {
            let message = "`by` must name what the objects of a group have in common";
            return Err(GraphqlError::new(code::ARGUMENT_INVALID, message).at(location));
        }
        let mut by = Vec::with_capacity(names.len());
        for name in &names {
            by.push(self.values_named(name)?);
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
        for (key, nodes) in self.planner.sub_fields(nodes) {
            let part = match nodes[0].name.as_str() {
                "__typename" => GroupPart::TypeName(of.clone()),
                "count" => GroupPart::Count,
                "key" => GroupPart::Key(self.key(&nodes, &names)?),
                _ => GroupPart::Values(self.measured(&nodes)?),
            };
            fields.push(GroupField { key, part });
        }
        Ok(Grouping {
            by,
            having,
            order,
            page: arguments.page()?,
            fields,
        })
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
                    let values = self.values_named(name)?;
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

    /// Returns the position of the values of a field, adding them when they are new.
    pub(super) fn values_named(&mut self, name: &str) -> Result<usize> {
        let field = self.planner.input.api.field(self.target, name);
        let values = match field {
            Some(Field::Type) => self.types(),
            Some(Field::Property(id)) => {
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

    fn types(&mut self) -> AggregatedValues {
        let property = type_property(self.planner.input.api, self.target);
        AggregatedValues {
            name: "type".to_owned(),
            slot: self.slots.slot(Step::forward(property), None, None),
            kind: AggregatedKind::Scalar(Scalar::Iri),
            cast: false,
            lang: None,
            single: false,
        }
    }

    fn slot(&mut self, property: &Property) -> usize {
        let mut condition = None;
        if let Range::Object(object) = property.range {
            let api = self.planner.input.api;
            let target = api.range_type(object);
            let mut tests = Vec::new();
            if property.range_check {
                tests.push(NodeCondition::Instance(type_test(api, target)));
            }
            if !matches!(target, TypeRef::Concrete(_)) {
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

/// Finds a part of the key among those that groups have.
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
    // A null direction is as if the key were absent.
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
