//! Plans operations.

use std::sync::Arc;

use apollo_compiler::executable::{self, Operation, SelectionSet};
use apollo_compiler::{ExecutableDocument, Node};
use foldhash::HashMap;
use graph_store::StoreFeatures;
use graph_store::query::{
    Dataset, NodeCondition, Selection, Slot, SlotPage, Step, TermCondition, TypeIndex,
    ValueCondition, Window,
};
use graph_store::value::LiteralTypes;
use graphql_gen::typesystem::{Api, Field, RootField as ApiRoot, RootKind, TypeRef};
use graphql_service::code as shared;
use graphql_service::error::{GraphqlError, Location};
use graphql_service::writer::opening;
use oxrdf::NamedNode;
use soml_core::access::{Part, ServicePart as ServiceRight};
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;
use soml_core::schema::{ObjectId, Property, PropertyId, Range, Schema};

use super::arguments::FieldArguments;
use super::collect::{Fields, Parent, collect, literal_fields};
use super::cursor::CursorCodec;
use super::denied_fields::{DeniedFields, DeniedFieldsOfLevel};
use super::input::{Arguments, Variables};
use super::level_tree::annotate_levels;
use super::levels::{LevelBuilder, LevelKey, order_levels};
use super::order::{for_single, name_spec};
use super::parameters::{Parameter, RootParameter, SlotParameter};
use super::regexes::SchemaRegexes;
use super::{
    Aggregation, Edge, Level, LevelId, ListOutput, LiteralOutput, Output, Plan, ResponseField,
    RootField, RootObjects, RootValue, ScalarKind, ScalarOutput, ServicePart, Typing,
};
use crate::access::{Permit, View};
use crate::code;
use crate::limits::EngineLimits;
use crate::rdf::{Types, takes_any};

pub(super) type Result<T> = std::result::Result<T, GraphqlError>;

/// The input of planning.
pub(crate) struct PlanInput<'a> {
    pub(crate) api: &'a Api,
    /// What the sender may do; `None` for everything.
    pub(crate) access: Option<&'a Permit>,
    pub(crate) limits: &'a EngineLimits,
    /// Whether lists without values are null where the schema does not say it.
    pub(crate) null_arrays: bool,
    /// What is written must match them.
    pub(crate) regexes: &'a SchemaRegexes,
    pub(crate) types: &'a Types,
    /// What a request can choose of the store.
    pub(crate) features: &'a StoreFeatures,
    pub(crate) document: &'a ExecutableDocument,
    pub(crate) operation: &'a Operation,
    pub(crate) variables: &'a Variables<'a>,
}

impl<'a> PlanInput<'a> {
    pub(super) fn view(&self) -> View<'a> {
        View::new(self.api, self.access, self.types)
    }
}

/// Plans a validated query. Returns too which parts of the plan variables decide; others are the same for all requests if
/// nothing else has read a variable.
///
/// # Errors
/// When an argument has a value that validation cannot check or that is not allowed, or a limit is
/// exceeded.
pub(super) fn build(input: &PlanInput<'_>) -> Result<(Plan, Vec<Parameter>)> {
    let mut planner = Planner::new(input);
    let mut roots = Vec::new();
    let mut fields = Fields::default();
    collect(
        input,
        &Parent::Root,
        &[&input.operation.selection_set],
        &mut fields,
    );
    for (key, nodes) in fields.entries {
        let field = nodes[0];
        planner.left_out.path.push(field.response_key());
        let first = planner.parameters.len();
        // Only fields that select objects have a meaning in SOML; the others belong to federation
        // and GraphQL.
        let root = match input.api.root_field(&field.name) {
            None if field.name == "_service" => planner.service(&nodes),
            None if field.name == "_entities" => planner.entities(field, &nodes)?,
            None => Some(RootValue::Introspection),
            Some(root) => planner.root(&key, &nodes, root)?,
        };
        planner.left_out.path.pop();
        planner.place_root(first, root.as_ref().map(|_| roots.len()));
        roots.extend(root.map(|value| RootField { key, value }));
    }
    Ok(planner.finish(roots))
}

/// The planner of one operation.
pub(super) struct Planner<'p, 'a> {
    pub(super) input: &'p PlanInput<'a>,
    levels: Vec<Option<Level>>,
    known: HashMap<LevelKey, LevelId>,
    /// Aggregations of lists, with the level of their values.
    pub(super) aggregations: HashMap<LevelKey, (LevelId, Arc<Aggregation>)>,
    pub(super) left_out: DeniedFields<'a>,
    /// Parts of the plan that variables decide, in the order in which they were planned.
    parameters: Vec<Parameter>,
}

/// What the arguments of a root field choose.
pub(super) struct Choice {
    pub(super) selection: Selection,
    /// The window of a connection.
    pub(super) window: Option<CursorWindow>,
}

/// The window of a connection, and what reads and writes its cursors.
pub(super) struct CursorWindow {
    pub(super) window: Window,
    pub(super) codec: CursorCodec,
}

/// What a level inherits from the fields that lead to it.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) lang: Option<LangSpec>,
    pub(super) dataset: Arc<Dataset>,
}

impl<'p, 'a> Planner<'p, 'a> {
    pub(super) fn new(input: &'p PlanInput<'a>) -> Self {
        Planner {
            input,
            levels: Vec::new(),
            known: HashMap::default(),
            aggregations: HashMap::default(),
            left_out: DeniedFields::default(),
            parameters: Vec::new(),
        }
    }

    fn api(&self) -> &'a Api {
        self.input.api
    }

    fn schema(&self) -> &'a Schema {
        self.input.api.soml()
    }

    pub(super) fn location(&self, field: &executable::Field) -> Option<Location> {
        Location::of(field.name.location(), &self.input.document.sources)
    }

    pub(super) fn arguments<'f>(&self, field: &'f executable::Field) -> FieldArguments<'f>
    where
        'a: 'f,
    {
        let (variables, document) = (self.input.variables, self.input.document);
        FieldArguments {
            view: self.input.view(),
            limits: self.input.limits,
            features: self.input.features,
            values: Arguments::new(&field.arguments, variables, &document.sources),
        }
    }

    fn root(
        &mut self,
        key: &str,
        nodes: &[&'a Node<executable::Field>],
        root: ApiRoot,
    ) -> Result<Option<RootValue>> {
        let target = root.target;
        if root.kind == RootKind::Objects {
            return self.objects_root(key, nodes, target);
        }
        if self.input.view().shown(target).is_nothing() {
            self.leave_out(key, nodes[0]);
            return Ok(None);
        }
        let (choice, scope) = self.choice_of_request(nodes[0], target, root.kind)?;
        let selection = choice.selection;
        match (root.kind, choice.window) {
            (_, Some(window)) => self.connection(nodes, target, selection, window, scope),
            (RootKind::Aggregate, None) => self.root_aggregate(nodes, target, selection, scope),
            _ => Ok(Some(RootValue::Count(Box::new(selection)))),
        }
    }

    /// Plans a list of objects; `None` where nothing of it is left.
    pub(super) fn objects_root(
        &mut self,
        key: &str,
        nodes: &[&'a Node<executable::Field>],
        target: TypeRef,
    ) -> Result<Option<RootValue>> {
        if self.input.view().shown(target).is_nothing() {
            self.leave_out(key, nodes[0]);
            return Ok(None);
        }
        let (choice, scope) = self.choice_of_request(nodes[0], target, RootKind::Objects)?;
        let sets: Vec<_> = nodes.iter().map(|node| &node.selection_set).collect();
        let level = self.level(target, &sets, &scope)?;
        let root = RootValue::Objects(Box::new(RootObjects {
            selection: choice.selection,
            level,
        }));
        Ok((!self.left_out.is_empty(level)).then_some(root))
    }

    /// Returns what the arguments of a root field choose, and what its levels inherit. Notes it when variables decide what
    /// is chosen.
    fn choice_of_request(
        &mut self,
        field: &'a Node<executable::Field>,
        target: TypeRef,
        kind: RootKind,
    ) -> Result<(Choice, Scope)> {
        let scope = self.scope(field)?;
        let choose = || self.choice(field, target, kind, &scope);
        let (choice, variables_decide) = self.input.variables.apart(choose);
        let choice = choice?;
        if variables_decide {
            self.parameters.push(Parameter::Root(RootParameter {
                root: None,
                field: field.clone(),
                target,
                kind,
            }));
        }
        Ok((choice, scope))
    }

    /// Notes the position in [`Plan::roots`] of the field whose parameters begin with the one at `first`.
    fn place_root(&mut self, first: usize, position: Option<usize>) {
        for parameter in &mut self.parameters[first..] {
            if let Parameter::Root(root) = parameter {
                root.root = position;
            }
        }
    }

    /// Returns what the levels below a root field inherit from its arguments.
    pub(super) fn scope(&self, field: &executable::Field) -> Result<Scope> {
        let arguments = self.arguments(field);
        Ok(Scope {
            dataset: Arc::new(arguments.dataset()?),
            lang: arguments.lang()?,
        })
    }

    /// Returns what the arguments of a root field choose.
    pub(super) fn choice(
        &self,
        field: &executable::Field,
        target: TypeRef,
        kind: RootKind,
        scope: &Scope,
    ) -> Result<Choice> {
        let arguments = self.arguments(field);
        let mut conditions = vec![NodeCondition::Instance(self.input.view().test(target))];
        conditions.extend(self.input.view().shown(target).condition());
        // Lists skip objects of no known concrete type (docs/queries.md, "Root fields"), so pages
        // and counts do too.
        if self.is_open(target) {
            conditions.push(self.known_type(target));
        }
        conditions.extend(arguments.object_conditions(target)?);
        let selection = Selection {
            condition: NodeCondition::all(conditions),
            order: arguments.object_order(target, scope.lang.as_ref())?,
            page: arguments.page()?,
            dataset: (*scope.dataset).clone(),
        };
        let window = match kind {
            RootKind::Connection => Some(self.window(field, target, &selection.order)?),
            _ => None,
        };
        Ok(Choice { selection, window })
    }

    /// Warns that a field at the end of the current path is left out.
    pub(super) fn leave_out(&mut self, key: &str, node: &'a Node<executable::Field>) {
        let at = self.left_out.path.pop();
        self.left_out.field(self.input, key, node);
        self.left_out.path.extend(at);
    }

    /// Plans `_service`: the parts that can be read.
    fn service(&mut self, nodes: &[&'a Node<executable::Field>]) -> Option<RootValue> {
        let view = self.input.view();
        let mut parts = Vec::new();
        let mut left_out = false;
        for (key, nodes) in self.sub_fields(nodes) {
            let (part, right) = match nodes[0].name.as_str() {
                "sdl" => (ServicePart::Sdl, Some(ServiceRight::Sdl)),
                "full_sdl" => (ServicePart::FullSdl, Some(ServiceRight::FullSdl)),
                _ => (ServicePart::TypeName, None),
            };
            if right.is_some_and(|right| !view.reads_service(right)) {
                left_out = true;
                self.left_out.field(self.input, &key, nodes[0]);
            } else {
                parts.push((key, part));
            }
        }
        let is_left = !left_out || parts.iter().any(|(_, part)| *part != ServicePart::TypeName);
        is_left.then_some(RootValue::Service(parts))
    }

    /// Returns the condition that the concrete type of an object is known.
    pub(super) fn known_type(&self, target: TypeRef) -> NodeCondition {
        NodeCondition::Instance(self.input.view().test_of_known(target))
    }

    /// Returns whether the type's own test accepts objects of no known concrete type: an abstract
    /// type with classes of its own selects by these, whatever subtypes there are.
    fn is_open(&self, target: TypeRef) -> bool {
        matches!(target, TypeRef::Interface(object)
            if !self.api().possible_types(target).contains(&object)
                && !self.schema()[object].types.is_empty())
    }

    pub(super) fn level(
        &mut self,
        target: TypeRef,
        sets: &[&'a SelectionSet],
        scope: &Scope,
    ) -> Result<LevelId> {
        let key = LevelKey::new(target, sets, scope);
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let id = self.new_level()?;
        self.known.insert(key, id);

        let mut builder = LevelBuilder::default();
        let mut left_out = DeniedFieldsOfLevel::new(matches!(target, TypeRef::Concrete(_)));
        let typing = match target {
            TypeRef::Concrete(object) => {
                let fields = self.variant(object, sets, scope, &mut builder, &mut left_out)?;
                builder.variants.push(fields);
                Typing::Static {
                    name: self.api().type_name(object).to_string(),
                }
            }
            TypeRef::Interface(_) | TypeRef::AnyObject | TypeRef::Nameable => {
                self.stored_types(target, sets, scope, &mut builder, &mut left_out)?
            }
        };
        let (input, api) = (self.input, self.input.api);
        self.left_out
            .level(input, &left_out, |object| api.type_name(object).to_string());
        let mut fields = builder.variants.iter().flatten();
        if left_out.leaves_any_out() && fields.all(|field| field.value == Output::TypeName) {
            self.left_out.empty(id);
        }
        let parameters = builder
            .parameters
            .into_iter()
            .map(|(slot, parameter)| Parameter::Slot(id, slot, parameter));
        self.parameters.extend(parameters);
        self.levels[id.0 as usize] = Some(Level {
            dataset: Arc::clone(&scope.dataset),
            slots: builder.slots,
            typing,
            variants: builder.variants.into(),
            edges: builder.edges,
            depth: 0,
            single: Vec::new(),
            ways: 0,
        });
        Ok(id)
    }

    /// Adds a level to be built later.
    fn new_level(&mut self) -> Result<LevelId> {
        // Levels are shared, but fields that differ in languages or graphs have levels of their
        // own.
        let limit = self.input.limits.plan_levels;
        if self.levels.len() >= limit {
            let message = "the operation needs too many steps";
            return Err(GraphqlError::new(code::LIMIT_PLAN, message).with("limit", limit));
        }
        self.levels.push(None);
        let id = u32::try_from(self.levels.len() - 1).expect("the limit is below 2^32");
        Ok(LevelId(id))
    }

    /// Adds a level whose objects are not displayed; only some of their values are fetched.
    pub(super) fn aggregate_level(
        &mut self,
        target: TypeRef,
        scope: &Scope,
        mut slots: LevelBuilder,
        typed: bool,
    ) -> Result<LevelId> {
        let id = self.new_level()?;
        let name = match target {
            TypeRef::Concrete(object) | TypeRef::Interface(object) => {
                self.api().type_name(object).to_string()
            }
            TypeRef::AnyObject => "Object".to_owned(),
            TypeRef::Nameable => "Nameable".to_owned(),
        };
        let typing = if typed {
            let index = Arc::clone(&self.input.view().of_type(target).index);
            let possible = self.api().possible_types(target).iter();
            Typing::Stored {
                slots: type_slots(&index, &mut slots),
                index,
                variants: possible.map(|object| (*object, 0)).collect(),
            }
        } else {
            Typing::Static { name }
        };
        self.levels[id.0 as usize] = Some(Level {
            dataset: Arc::clone(&scope.dataset),
            slots: slots.slots,
            typing,
            variants: Arc::new([Vec::new()]),
            edges: Vec::new(),
            depth: 0,
            single: Vec::new(),
            ways: 0,
        });
        Ok(id)
    }

    fn stored_types(
        &mut self,
        target: TypeRef,
        sets: &[&'a SelectionSet],
        scope: &Scope,
        builder: &mut LevelBuilder,
        left_out: &mut DeniedFieldsOfLevel<'a>,
    ) -> Result<Typing> {
        let index = Arc::clone(&self.input.view().of_type(target).index);
        let slots = type_slots(&index, builder);
        let mut variants = HashMap::default();
        let view = self.input.view();
        let shown = self.api().possible_types(target).iter();
        for &object in shown.filter(|object| view.sees(**object)) {
            let fields = self.variant(object, sets, scope, builder, left_out)?;
            let position = builder
                .variants
                .iter()
                .position(|known| *known == fields)
                .unwrap_or_else(|| {
                    builder.variants.push(fields);
                    builder.variants.len() - 1
                });
            variants.insert(object, position);
        }
        Ok(Typing::Stored {
            slots,
            index,
            variants,
        })
    }

    fn variant(
        &mut self,
        object: ObjectId,
        sets: &[&'a SelectionSet],
        scope: &Scope,
        builder: &mut LevelBuilder,
        left_out: &mut DeniedFieldsOfLevel<'a>,
    ) -> Result<Vec<ResponseField>> {
        let mut fields = Fields::default();
        collect(self.input, &Parent::Object(object), sets, &mut fields);
        let mut out = Vec::with_capacity(fields.entries.len());
        for (key, nodes) in fields.entries {
            let field = nodes[0];
            let view = self.input.view();
            // What may not be read is left out, and never fetched (docs/access.md, "What a caller
            // sees").
            if view.is_limited() {
                let readable = view.reads_field(object, &field.name);
                left_out.note(object, field, !readable);
                if !readable {
                    continue;
                }
            }
            let location = Location::of(field.name.location(), &self.input.document.sources);
            let rows = view.readable_rows(object, self.part(object, &field.name));
            self.left_out.path.push(field.response_key());
            builder.of.clone_from(&rows);
            let value = self.output(object, field, &nodes, scope, builder);
            builder.of = None;
            let value = value?;
            self.left_out.path.pop();
            let Some(value) = value else {
                left_out.emptied();
                continue;
            };
            // What has no values where it cannot be read is left out there by itself.
            let rows = rows.filter(|_| matches!(value, Output::Id | Output::TypeName));
            let non_null = field.definition.ty.is_non_null();
            out.push(ResponseField {
                opening: opening(&key),
                key,
                name: field.name.to_string(),
                location,
                non_null,
                only: rows.map(|rows| self.types_of(object, rows, builder)),
                value,
            });
        }
        Ok(out)
    }

    /// Returns the part of an object that a field shows.
    fn part(&self, object: ObjectId, name: &str) -> Part {
        let field = self.api().field(TypeRef::Concrete(object), name);
        field.map_or(Part::TypeName, Field::part)
    }

    /// Returns a slot that has values of the objects of a type that satisfy a condition: their types.
    fn types_of(&self, object: ObjectId, rows: NodeCondition, builder: &mut LevelBuilder) -> usize {
        let property = NamedNode::new_unchecked(self.schema()[object].type_prop.as_str());
        builder.of = Some(rows);
        let slot = builder.slot(Step::forward(property), None, None);
        builder.of = None;
        slot
    }

    fn output(
        &mut self,
        object: ObjectId,
        field: &'a Node<executable::Field>,
        nodes: &[&'a Node<executable::Field>],
        scope: &Scope,
        builder: &mut LevelBuilder,
    ) -> Result<Option<Output>> {
        if field.name == "__typename" {
            return Ok(Some(Output::TypeName));
        }
        let arguments = self.arguments(field);
        match self.api().field(TypeRef::Concrete(object), &field.name) {
            Some(Field::Id) => Ok(Some(Output::Id)),
            Some(Field::Type) => self.types(object, &arguments, builder).map(Some),
            Some(Field::Name) => self.name(object, &arguments, scope, builder).map(Some),
            Some(Field::Property(id) | Field::Count(id) | Field::Aggregate(id))
                if self.leads_nowhere(id) =>
            {
                self.leave_out(field.response_key(), field);
                Ok(None)
            }
            Some(Field::Property(property)) => {
                let property = &self.schema()[property];
                self.property(property, field, nodes, scope, builder)
            }
            Some(Field::Count(property)) => {
                let property = &self.schema()[property];
                self.count(property, field, nodes, scope, builder)
            }
            Some(Field::Aggregate(property)) => {
                let property = &self.schema()[property];
                self.list_aggregate(property, nodes, scope, builder)
            }
            None => Err(GraphqlError::new(
                shared::INTERNAL,
                format!("the field `{}` has no meaning", field.name),
            )),
        }
    }

    /// Returns whether a property leads to objects none of which is shown.
    pub(super) fn leads_nowhere(&self, property: PropertyId) -> bool {
        match self.schema()[property].range {
            Range::Object(object) => {
                let target = self.api().range_type(object);
                self.input.view().shown(target).is_nothing()
            }
            _ => false,
        }
    }

    fn types(
        &mut self,
        object: ObjectId,
        arguments: &FieldArguments<'_>,
        builder: &mut LevelBuilder,
    ) -> Result<Output> {
        let property = NamedNode::new_unchecked(self.schema()[object].type_prop.as_str());
        let conditions = arguments.class_conditions()?;
        let kind = ScalarKind::Scalar(Scalar::Iri);
        let slot = builder.slot(Step::forward(property), terms(conditions), None);
        let list = Some(arguments.scalar_list(false)?);
        Ok(Output::Scalar(ScalarOutput {
            slot,
            kind,
            cast: false,
            lang: None,
            list,
        }))
    }

    fn name(
        &mut self,
        object: ObjectId,
        arguments: &FieldArguments<'_>,
        scope: &Scope,
        builder: &mut LevelBuilder,
    ) -> Result<Output> {
        let schema = self.schema();
        let config = &schema.config.lang;
        let property = schema[object]
            .name_property
            .expect("only nameable objects have `name`");
        let given = arguments.lang()?.or_else(|| scope.lang.clone());
        // The nearest specification, followed by the default one (docs/queries.md, "Language").
        let spec = for_single(name_spec(config, given.as_ref()));
        let slot = builder.slot(Step::from(&schema[property].path), None, None);
        let kind = ScalarKind::Scalar(Scalar::String);
        Ok(Output::Scalar(ScalarOutput {
            slot,
            kind,
            cast: schema[property].type_cast,
            lang: Some(spec),
            list: None,
        }))
    }

    fn property(
        &mut self,
        property: &'a Property,
        field: &'a Node<executable::Field>,
        nodes: &[&'a Node<executable::Field>],
        scope: &Scope,
        builder: &mut LevelBuilder,
    ) -> Result<Option<Output>> {
        let arguments = self.arguments(field);
        let non_null_elements = property.non_nullable_elements;
        let multiple = property.max.is_multiple();
        let step = Step::from(&property.path);
        let given = arguments.lang()?.or_else(|| scope.lang.clone());
        let lang = || {
            // From the nearest to the farthest (docs/queries.md, "Language").
            let spec = given
                .clone()
                .or_else(|| property.lang.fetch.clone())
                .or_else(|| self.schema().config.lang.fetch.clone());
            if multiple { spec } else { spec.map(for_single) }
        };
        let kind = match property.range {
            Range::Scalar(scalar) => ScalarKind::Scalar(scalar),
            Range::Enum(id) => ScalarKind::Enum(id),
            Range::Literal(range) => {
                let condition = arguments.literal_condition()?;
                let slot = builder.slot(step, terms(condition), None);
                let list = multiple.then(|| arguments.literal_list(non_null_elements));
                let fields = literal_fields(self.input, nodes);
                let list = list.transpose()?;
                return Ok(Some(Output::Literal(LiteralOutput {
                    slot,
                    types: LiteralTypes::new(self.schema(), range),
                    lang: lang(),
                    list,
                    fields,
                })));
            }
            Range::Object(object) => {
                let target = self.api().range_type(object);
                let scope = Scope {
                    lang: given,
                    dataset: Arc::clone(&scope.dataset),
                };
                let sets: Vec<_> = nodes.iter().map(|node| &node.selection_set).collect();
                let level = self.level(target, &sets, &scope)?;
                if self.left_out.is_empty(level) {
                    return Ok(None);
                }
                let slot = self.objects_slot(property, target, field, scope.lang, builder)?;
                let edge = builder.edge(Edge { slot, level });
                let list = multiple.then(|| ListOutput {
                    non_null_elements,
                    ..ListOutput::default()
                });
                return Ok(Some(Output::Objects { edge, list }));
            }
        };
        let cast = property.type_cast;
        let condition = arguments.scalar_condition(kind, cast)?;
        let slot = builder.slot(step, terms(condition), None);
        // A specification chooses among strings only (docs/queries.md, "Language").
        let is_text = kind == ScalarKind::Scalar(Scalar::String);
        let lang = if is_text { lang() } else { None };
        let list = multiple.then(|| arguments.scalar_list(non_null_elements));
        Ok(Some(Output::Scalar(ScalarOutput {
            slot,
            kind,
            cast,
            lang,
            list: list.transpose()?,
        })))
    }

    fn count(
        &mut self,
        property: &'a Property,
        field: &'a Node<executable::Field>,
        nodes: &[&'a Node<executable::Field>],
        scope: &Scope,
        builder: &mut LevelBuilder,
    ) -> Result<Option<Output>> {
        let Range::Object(object) = property.range else {
            let values = self.property(property, field, nodes, scope, builder)?;
            return Ok(values.map(|values| Output::ValueCount(Box::new(values))));
        };
        let target = self.api().range_type(object);
        let slot = self.counted_objects(property, target, &self.arguments(field), builder)?;
        Ok(Some(Output::ObjectCount { slot }))
    }

    /// Returns the slot of the objects that a list displays, whatever its page: counts are taken
    /// before `limit` and `offset` (docs/queries.md, "Counts").
    pub(super) fn counted_objects(
        &self,
        property: &Property,
        target: TypeRef,
        arguments: &FieldArguments<'_>,
        builder: &mut LevelBuilder,
    ) -> Result<usize> {
        let mut conditions = self.target_conditions(property.range_check, target, arguments)?;
        if !takes_any(self.api(), target) {
            conditions.push(self.known_type(target));
        }
        let condition = Some(ValueCondition::Node(NodeCondition::all(conditions)));
        Ok(builder.slot(Step::from(&property.path), condition, None))
    }

    /// Returns the conditions on the objects that a property leads to.
    fn target_conditions(
        &self,
        range_check: bool,
        target: TypeRef,
        arguments: &FieldArguments<'_>,
    ) -> Result<Vec<NodeCondition>> {
        let mut conditions = Vec::new();
        // Without `rangeCheck`, objects of any type are returned as objects of the range
        // (docs/queries.md, "Root fields").
        if range_check {
            conditions.push(NodeCondition::Instance(self.input.view().test(target)));
        }
        conditions.extend(self.input.view().shown(target).condition());
        conditions.extend(arguments.object_conditions(target)?);
        Ok(conditions)
    }

    /// Returns the slot of the objects that a field leads to.
    fn objects_slot(
        &self,
        property: &Property,
        target: TypeRef,
        field: &Node<executable::Field>,
        lang: Option<LangSpec>,
        builder: &mut LevelBuilder,
    ) -> Result<usize> {
        let parameter = SlotParameter {
            field: field.clone(),
            target,
            range_check: property.range_check,
            lang,
        };
        let variables = self.input.variables;
        let (objects, variables_decide) = variables.apart(|| self.objects_of_slot(&parameter));
        let (condition, page) = objects?;
        let step = Step::from(&property.path);
        Ok(if variables_decide {
            let slot = Slot {
                step,
                of: builder.of.clone(),
                condition,
                page,
            };
            builder.slot_of_request(slot, parameter)
        } else {
            builder.slot(step, condition, page)
        })
    }

    /// Returns which of the objects that a field leads to its arguments select.
    pub(super) fn objects_of_slot(
        &self,
        of: &SlotParameter,
    ) -> Result<(Option<ValueCondition>, Option<SlotPage>)> {
        let (target, arguments) = (of.target, self.arguments(&of.field));
        let conditions = self.target_conditions(of.range_check, target, &arguments)?;
        let page = SlotPage {
            order: arguments.object_order(target, of.lang.as_ref())?,
            page: arguments.page()?,
            members: None,
        };
        let paged = !page.page.is_whole();
        // Objects of no known type are left out of lists, so pages must not count them.
        let open = paged && !takes_any(self.api(), target);
        let members = open.then(|| self.input.view().test_of_known(target));
        let condition = NodeCondition::all(conditions);
        // Even a trivially true condition excludes values that are not objects.
        let filters = !condition.is_true() || arguments.filters();
        let condition = filters.then_some(ValueCondition::Node(condition));
        let page = (paged || !page.order.is_empty()).then_some(SlotPage { members, ..page });
        Ok((condition, page))
    }

    pub(super) fn finish(mut self, mut roots: Vec<RootField>) -> (Plan, Vec<Parameter>) {
        let levels = self.levels.into_iter();
        let mut levels: Vec<Level> = levels
            .map(|level| level.expect("every level is built before its parent is"))
            .collect();
        order_levels(&mut levels, &mut roots, &mut self.parameters);
        annotate_levels(&mut levels, &mut roots);
        let written = self.input.api.soml().config.null_json_arrays;
        // The schema is nearer than the service (docs/queries.md, "Values").
        let null_empty_lists = written.unwrap_or(self.input.null_arrays);
        let plan = Plan {
            roots,
            levels: levels.into_iter().map(Arc::new).collect(),
            null_empty_lists,
            warnings: self.left_out.warnings(),
        };
        (plan, self.parameters)
    }
}

/// Adds the slots of the type properties of an index, in its order.
fn type_slots(index: &TypeIndex, builder: &mut LevelBuilder) -> Vec<usize> {
    let properties = index.properties();
    properties
        .map(|property| builder.slot(Step::forward(property.clone()), None, None))
        .collect()
}

/// Joins conditions on values into that of a slot.
pub(super) fn terms(conditions: impl IntoIterator<Item = TermCondition>) -> Option<ValueCondition> {
    let condition = TermCondition::all(conditions);
    (!condition.is_true()).then_some(ValueCondition::Term(condition))
}
