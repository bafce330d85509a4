//! Reads supergraph SDL.

use apollo_compiler::ast;
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::{Component, ExtendedType, FieldDefinition};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Node, Schema, name};
use graphql_service::ErrorCode;
use indexmap::IndexSet;

use super::api::{self, SupergraphOptions};
use super::authorization::Requirements;
use super::contexts::{Contexts, Sources};
use super::error::SupergraphError;
use super::field_set::FieldSet;
use super::join;
use super::model::{
    Field, FieldId, FieldJoin, Key, LabelId, Override, RequirementId, Subgraph, SubgraphId,
    Supergraph, Type, TypeId, TypeJoin, TypeKind,
};
use super::provided::provided;
use crate::code;
use crate::hash::{HashMap, HashSet};

/// The tag of what may say another thing each time.
const VOLATILE: &str = "volatile";

impl Supergraph {
    /// Reads standard supergraph SDL: join 0.2 to 0.5. `path` names the text in messages.
    ///
    /// The text may be that of [`Composed::supergraph_sdl`](crate::compose::Composed::supergraph_sdl), or of another
    /// composer. Where its subgraphs are served is in [`Subgraph::url`].
    ///
    /// # Errors
    /// With everything that is wrong: the text is not GraphQL, its join directives contradict it, or it uses
    /// a feature that is not supported.
    pub fn parse(sdl: &str, path: &str) -> Result<Supergraph, Vec<SupergraphError>> {
        Supergraph::parse_with(sdl, path, &SupergraphOptions::default())
    }

    /// Reads standard supergraph SDL like [`Supergraph::parse`], with options.
    ///
    /// # Errors
    /// As [`Supergraph::parse`].
    pub fn parse_with(
        sdl: &str,
        path: &str,
        options: &SupergraphOptions,
    ) -> Result<Supergraph, Vec<SupergraphError>> {
        let schema = Schema::parse_and_validate(sdl, path).map_err(|invalid| {
            let errors = invalid.errors.iter().map(|finding| {
                let message = finding.error.to_string();
                SupergraphError::new(code::INVALID_FEDERATION_SUPERGRAPH, message).of(&finding)
            });
            errors.collect::<Vec<_>>()
        })?;
        super::features::check(&schema)?;
        let mut reader = Reader::new(&schema);
        reader.subgraphs();
        reader.types();
        reader.possible_types();
        reader.contexts();
        reader.fields();
        reader.lends();
        reader.overrides();
        reader.requirements();
        reader.interface_objects();
        reader.shapes();
        let Reader {
            errors,
            subgraphs,
            types,
            fields,
            by_name,
            labels,
            requirements,
            ..
        } = reader;
        if !errors.is_empty() {
            return Err(errors);
        }
        let api = api::schema(&schema, options)?;
        let mut supergraph = Supergraph {
            schema,
            api,
            subgraphs,
            types,
            by_name,
            labels: labels.into_iter().collect(),
            required_by_name: required_by_name(&fields),
            given_arguments: given_arguments(&fields),
            fields,
            requirements: requirements.into_list(),
            provided: HashSet::default(),
        };
        supergraph.provided = provided(&supergraph);
        Ok(supergraph)
    }
}

pub(super) struct Reader<'s> {
    pub(super) schema: &'s Valid<Schema>,
    errors: Vec<SupergraphError>,
    pub(super) subgraphs: Vec<Subgraph>,
    pub(super) graphs: HashMap<&'s Name, SubgraphId>,
    /// The subgraphs by their names.
    by_subgraph: HashMap<String, SubgraphId>,
    pub(super) types: Vec<Type>,
    pub(super) fields: Vec<Field>,
    pub(super) by_name: HashMap<Name, TypeId>,
    pub(super) contexts: Contexts,
    pub(super) sources: Sources,
    labels: IndexSet<String>,
    requirements: Requirements,
    /// Fields that `@override` takes over: by whom, from whom, under which label.
    moved: Vec<(FieldId, SubgraphId, String, Option<LabelId>)>,
}

impl<'s> Reader<'s> {
    fn new(schema: &'s Valid<Schema>) -> Self {
        Reader {
            schema,
            errors: Vec::new(),
            subgraphs: Vec::new(),
            graphs: HashMap::default(),
            by_subgraph: HashMap::default(),
            types: Vec::new(),
            fields: Vec::new(),
            by_name: HashMap::default(),
            contexts: Contexts::new(),
            sources: Sources::new(),
            labels: IndexSet::new(),
            requirements: Requirements::default(),
            moved: Vec::new(),
        }
    }

    pub(super) fn wrong(&mut self, message: impl Into<String>, span: Option<SourceSpan>) {
        self.refuse(code::INVALID_FEDERATION_SUPERGRAPH, message, span);
    }

    pub(super) fn refuse(
        &mut self,
        code: ErrorCode,
        message: impl Into<String>,
        span: Option<SourceSpan>,
    ) {
        let error = SupergraphError::new(code, message);
        self.errors.push(error.at(span, self.schema));
    }

    fn subgraphs(&mut self) {
        let Some(graphs) = self.schema.get_enum("join__Graph") else {
            let message = "the enum `join__Graph` is missing: this is not a supergraph";
            let error = SupergraphError::new(code::INVALID_FEDERATION_SUPERGRAPH, message)
                .at(self.schema.schema_definition.location(), self.schema)
                .help("compose the schemas of the subgraphs and use the resulting supergraph");
            return self.errors.push(error);
        };
        for value in graphs.values.values() {
            let Some(directive) = value.directives.get("join__graph") else {
                let message = format!("`{}` has no `@join__graph`", value.value);
                self.wrong(message, value.location());
                continue;
            };
            let id = SubgraphId::new(self.subgraphs.len());
            self.graphs.insert(&value.value, id);
            let name = join::text(directive, "name").unwrap_or(value.value.as_str());
            if self.by_subgraph.insert(name.to_owned(), id).is_some() {
                let message = format!("two subgraphs have the name `{name}`");
                self.wrong(message, value.location());
            }
            self.subgraphs.push(Subgraph {
                graph: value.value.clone(),
                name: name.to_owned(),
                url: join::text(directive, "url").unwrap_or_default().to_owned(),
            });
        }
    }

    /// Returns the subgraph that a directive names.
    fn graph(
        &mut self,
        directive: &ast::Directive,
        span: Option<SourceSpan>,
    ) -> Option<SubgraphId> {
        let graph = join::graph(directive)?;
        let known = self.graphs.get(graph).copied();
        if known.is_none() {
            self.wrong(format!("`{graph}` is not declared by `@join__graph`"), span);
        }
        known
    }

    fn types(&mut self) {
        let schema = self.schema;
        for (name, ty) in &schema.types {
            if api::is_machinery(name) || name.starts_with("__") {
                continue;
            }
            let id = TypeId::new(self.types.len());
            self.by_name.insert(name.clone(), id);
            self.types.push(Type {
                name: name.clone(),
                kind: kind(ty),
                joins: Vec::new(),
                fields: HashMap::default(),
                possible: Vec::new(),
                is_accessible: !ty.directives().has("inaccessible"),
                is_interface_object: false,
                shape: 0,
                lends: Vec::new(),
            });
        }
        for id in (0..self.types.len()).map(TypeId::new) {
            self.type_joins(id);
        }
    }

    fn type_joins(&mut self, id: TypeId) {
        let schema = self.schema;
        let name = self.types[id.index()].name.clone();
        let ty = &schema.types[&name];
        let mut joins: Vec<TypeJoin> = Vec::new();
        let mut places: HashMap<SubgraphId, usize> = HashMap::default();
        for directive in ty.directives().get_all("join__type") {
            let span = directive.location();
            let Some(subgraph) = self.graph(directive, span) else {
                continue;
            };
            let position = *places.entry(subgraph).or_insert(joins.len());
            if position == joins.len() {
                joins.push(TypeJoin {
                    subgraph,
                    keys: Vec::new(),
                    possible: Vec::new(),
                    is_interface_object: false,
                    interface: None,
                });
            }
            joins[position].is_interface_object |= join::is_set(directive, "isInterfaceObject");
            if let Some(text) = join::text(directive, "key")
                && let Some(fields) = self.field_set(&name, text, span)
            {
                joins[position].keys.push(Key {
                    fields,
                    is_resolvable: !join::is_unset(directive, "resolvable"),
                });
            }
        }
        joins.sort_by_key(|join| join.subgraph);
        self.types[id.index()].joins = joins;
    }

    fn field_set(
        &mut self,
        parent: &Name,
        text: &str,
        span: Option<SourceSpan>,
    ) -> Option<FieldSet> {
        let type_id = |name: &str| self.by_name.get(name).copied();
        match FieldSet::parse(self.schema, parent, text, &type_id) {
            Ok(fields) => Some(fields),
            Err(reason) => {
                self.wrong(
                    format!("the fields \"{text}\" of `{parent}`: {reason}"),
                    span,
                );
                None
            }
        }
    }

    /// Fills in which object types a value can have, in the supergraph and in each subgraph.
    fn possible_types(&mut self) {
        let schema = self.schema;
        let implementers = schema.implementers_map();
        let said = self.said();
        for position in 0..self.types.len() {
            let own = TypeId::new(position);
            let name = &self.types[position].name;
            let id = |name: &Name| self.by_name.get(name).copied();
            let mut possible: Vec<TypeId> = match &schema.types[name] {
                ExtendedType::Object(_) => vec![own],
                ExtendedType::Interface(_) => {
                    let objects = implementers.get(name).into_iter();
                    let objects = objects.flat_map(|some| &some.objects);
                    objects.filter_map(id).collect()
                }
                ExtendedType::Union(union) => {
                    let members = union.members.iter();
                    members.filter_map(|member| id(&member.name)).collect()
                }
                _ => Vec::new(),
            };
            possible.sort_unstable();
            for join in 0..self.types[position].joins.len() {
                let subgraph = self.types[position].joins[join].subgraph;
                let there = possible.iter().copied().filter(|member| {
                    let is_known = self.types[member.index()].join(subgraph).is_some();
                    let graphs = said.get(&(own, *member));
                    is_known && graphs.is_none_or(|graphs| graphs.contains(&subgraph))
                });
                self.types[position].joins[join].possible = there.collect();
            }
            self.types[position].possible = possible;
        }
    }

    /// Returns the subgraphs in which an object type is said to be one of an interface or a union. Of those of which
    /// nothing is said, as in join 0.1, it is one in each.
    fn said(&self) -> HashMap<(TypeId, TypeId), HashSet<SubgraphId>> {
        let mut said: HashMap<(TypeId, TypeId), HashSet<SubgraphId>> = HashMap::default();
        for (position, ty) in self.types.iter().enumerate() {
            let own = TypeId::new(position);
            let (name, argument) = match ty.kind {
                TypeKind::Object => ("join__implements", "interface"),
                TypeKind::Union => ("join__unionMember", "member"),
                _ => continue,
            };
            for directive in self.schema.types[&ty.name].directives().get_all(name) {
                let other = join::text(directive, argument);
                let Some(other) = other.and_then(|name| self.by_name.get(name).copied()) else {
                    continue;
                };
                let pair = match ty.kind {
                    TypeKind::Object => (other, own),
                    _ => (own, other),
                };
                let graph = join::graph(directive).and_then(|graph| self.graphs.get(graph));
                said.entry(pair).or_default().extend(graph);
            }
        }
        said
    }

    fn fields(&mut self) {
        let schema = self.schema;
        for position in 0..self.types.len() {
            let name = self.types[position].name.clone();
            let fields = match &schema.types[&name] {
                ExtendedType::Object(object) => &object.fields,
                ExtendedType::Interface(interface) => &interface.fields,
                _ => continue,
            };
            for definition in fields.values() {
                self.field(TypeId::new(position), definition);
            }
        }
    }

    fn field(&mut self, parent: TypeId, definition: &Component<FieldDefinition>) {
        let id = FieldId::new(self.fields.len());
        let ty = definition.ty.inner_named_type();
        let Some(inner) = self.by_name.get(ty).copied() else {
            let message =
                format!("`{ty}` is not a type of the graph, and cannot be that of a field");
            return self.wrong(message, definition.name.location());
        };
        let mut joins = Vec::new();
        let is_silent = !definition.directives.has("join__field");
        for directive in definition.directives.get_all("join__field") {
            joins.extend(self.field_join(parent, id, definition, directive));
        }
        if is_silent {
            let known = self.types[parent.index()].joins.iter();
            joins.extend(known.map(|join| FieldJoin {
                subgraph: join.subgraph,
                ty: definition.ty.clone(),
                inner,
                requires: None,
                provides: None,
                contexts: Vec::new(),
                is_external: false,
                overridden: Override::Never,
            }));
        }
        joins.sort_by_key(|join| join.subgraph);
        let of_type = &self.schema.types[&self.types[parent.index()].name];
        let is_volatile = is_volatile(definition.directives.iter().map(|it| &**it))
            || is_volatile(of_type.directives().iter().map(|it| &***it));
        self.fields.push(Field {
            parent,
            is_volatile,
            name: definition.name.clone(),
            ty: definition.ty.clone(),
            inner,
            joins,
            is_accessible: !definition.directives.has("inaccessible"),
            requirements: self
                .requirements
                .of(definition.directives.iter().map(|it| &**it)),
            shape: 0,
            value_shape: 0,
        });
        let parent = &mut self.types[parent.index()];
        parent.fields.insert(definition.name.clone(), id);
    }

    fn field_join(
        &mut self,
        parent: TypeId,
        id: FieldId,
        definition: &FieldDefinition,
        directive: &Node<ast::Directive>,
    ) -> Option<FieldJoin> {
        let subgraph = self.graph(directive, directive.location())?;
        let span = definition.name.location();
        let ty = match join::text(directive, "type") {
            None => definition.ty.clone(),
            Some(text) => match join::field_type(text) {
                Some(ty) if self.by_name.contains_key(ty.inner_named_type()) => ty,
                _ => {
                    self.wrong(format!("`{text}` is not a type of the supergraph"), span);
                    return None;
                }
            },
        };
        let label = join::text(directive, "overrideLabel").map(|label| self.label(label));
        let from = join::text(directive, "override");
        if let Some(from) = from {
            self.moved.push((id, subgraph, from.to_owned(), label));
        }
        let overridden = match (label, from) {
            (Some(label), Some(_)) => Override::If(label),
            (Some(label), None) => Override::Unless(label),
            (None, _) if join::is_set(directive, "usedOverridden") => Override::Always,
            (None, _) => Override::Never,
        };
        let contexts = self.context_arguments(parent, definition, directive, subgraph);
        let parent = self.types[parent.index()].name.clone();
        let name = ty.inner_named_type().clone();
        let inner = self.by_name.get(&name).copied()?;
        let mut set = |argument: &str, on: &Name| {
            let text = join::text(directive, argument)?;
            self.field_set(on, text, span)
        };
        Some(FieldJoin {
            subgraph,
            requires: set("requires", &parent),
            provides: set("provides", &name),
            ty,
            inner,
            contexts,
            is_external: join::is_set(directive, "external"),
            overridden,
        })
    }

    fn label(&mut self, label: &str) -> LabelId {
        LabelId::new(self.labels.insert_full(label.to_owned()).0)
    }

    /// Takes fields away from the subgraphs that `@override` names.
    fn overrides(&mut self) {
        for (field, by, from, label) in std::mem::take(&mut self.moved) {
            let from = self.by_subgraph.get(&from).copied();
            // A subgraph that is not there has nothing to lose.
            let Some(from) = from.filter(|from| *from != by) else {
                continue;
            };
            let joins = self.fields[field.index()].joins.iter_mut();
            for join in joins.filter(|join| join.subgraph == from) {
                join.overridden = label.map_or(Override::Always, Override::Unless);
            }
        }
    }

    /// Adds to each field what its type requires, and the type that it belongs to.
    fn requirements(&mut self) {
        let schema = self.schema;
        let types = self.types.iter();
        let of_types: Vec<_> = types
            .map(|ty| self.requirements.of_type(&schema.types[&ty.name]))
            .collect();
        for field in &mut self.fields {
            for ty in [field.parent, field.inner] {
                field.requirements.extend(&of_types[ty.index()]);
            }
            field.requirements.sort_unstable();
            field.requirements.dedup();
        }
    }

    /// Numbers what is said of types and fields, so that equal ones are found quickly.
    fn shapes(&mut self) {
        let mut known = HashMap::default();
        for ty in &mut self.types {
            ty.is_interface_object = ty.joins.iter().any(|join| join.is_interface_object);
            let said = ty
                .joins
                .iter()
                .map(|join| (join.subgraph, join.keys.clone(), join.interface));
            let said = (said.collect::<Vec<_>>(), ty.lends.clone());
            ty.shape = number(&mut known, said);
        }
        let mut known = HashMap::default();
        for field in &mut self.fields {
            let requires = field.requirements.clone();
            let said = (
                field.name.clone(),
                field.ty.clone(),
                field.joins.clone(),
                requires,
            );
            field.shape = number(&mut known, said);
        }
        let mut known = HashMap::default();
        for field in &mut self.fields {
            let is_leaf = !self.types[field.inner.index()].is_composite();
            let own = value_shape(&field.ty, is_leaf);
            let joins = field
                .joins
                .iter()
                .map(|join| (join.subgraph, value_shape(&join.ty, is_leaf)));
            let others: Vec<_> = joins.filter(|(_, there)| *there != own).collect();
            field.value_shape = number(&mut known, (is_leaf, own, others));
        }
    }
}

/// Returns whether directives have the tag of what may say another thing each time.
fn is_volatile<'d>(mut directives: impl Iterator<Item = &'d ast::Directive>) -> bool {
    directives.any(|it| it.name == "tag" && join::text(it, "name") == Some(VOLATILE))
}

/// Returns what fields require, by their names.
fn required_by_name(fields: &[Field]) -> HashMap<Name, Vec<RequirementId>> {
    let mut by_name: HashMap<Name, Vec<RequirementId>> = HashMap::default();
    for field in fields.iter().filter(|it| !it.requirements.is_empty()) {
        let all = by_name.entry(field.name.clone()).or_default();
        all.extend(&field.requirements);
        all.sort_unstable();
        all.dedup();
    }
    by_name
}

/// Returns the names of fields that are required with arguments.
fn given_arguments(fields: &[Field]) -> HashSet<Name> {
    let mut names = HashSet::default();
    for join in fields.iter().flat_map(|field| &field.joins) {
        let sources = join.contexts.iter().flat_map(|context| &*context.sources);
        let sets = sources.map(|(_, set)| set).chain(&join.requires);
        sets.for_each(|set| set.given_arguments(&mut names));
    }
    names
}

/// Returns the type of a field without the names of types of objects.
fn value_shape(ty: &ast::Type, is_leaf: bool) -> ast::Type {
    let mut shape = ty.clone();
    if !is_leaf {
        let mut inner = &mut shape;
        while let ast::Type::List(item) | ast::Type::NonNullList(item) = inner {
            inner = item;
        }
        if let ast::Type::Named(name) | ast::Type::NonNullNamed(name) = inner {
            *name = name!("Object");
        }
    }
    shape
}

/// Returns the number of a value among the different ones.
fn number<T: std::hash::Hash + Eq>(known: &mut HashMap<T, u32>, value: T) -> u32 {
    let next = u32::try_from(known.len()).expect("there are no more shapes than parts");
    *known.entry(value).or_insert(next)
}

fn kind(ty: &ExtendedType) -> TypeKind {
    match ty {
        ExtendedType::Scalar(_) | ExtendedType::Enum(_) => TypeKind::Leaf,
        ExtendedType::Object(_) => TypeKind::Object,
        ExtendedType::Interface(_) => TypeKind::Interface,
        ExtendedType::Union(_) => TypeKind::Union,
        ExtendedType::InputObject(_) => TypeKind::Input,
    }
}
