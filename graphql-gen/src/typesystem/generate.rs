//! Generates all types of an API and puts them together.

use apollo_compiler::collections::{HashMap, HashSet, IndexMap};
use apollo_compiler::schema::ComponentName;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema, name};
use soml_core::schema::ObjectKind;

use super::aggregate::AggregateTypes;
use super::annotate::Annotator;
use super::api::{Field, ObjectTypes, RootField, TypeRef};
use super::builtin::{self, CommonFields};
use super::error::{ApiError, Problem, ProblemKind};
use super::fields::{ObjectShape, ShapeBuilder};
use super::hierarchy::{Hierarchy, index};
use super::inputs::CommonKeys;
use super::mutation::Mutations;
use super::objects::TypeBuilder;
use super::options::ApiOptions;
use super::query::{Beside, QueryType};
use super::reserved::{self, FilterKeys};
use super::table::{Origin, TypeTable};
use super::targets::Targets;
use super::{connection, federation, leaf, subscription};

/// Everything that [`super::Api`] keeps.
pub(super) struct Generated {
    pub(super) schema: Valid<Schema>,
    pub(super) roots: IndexMap<Name, RootField>,
    pub(super) type_refs: HashMap<Name, TypeRef>,
    pub(super) fields: Vec<IndexMap<Name, Field>>,
    pub(super) types: ObjectTypes,
    /// Types that are only about writing.
    pub(super) mutation_types: HashSet<Name>,
}

impl Generated {
    pub(super) fn new(
        soml: &soml_core::schema::Schema,
        options: &ApiOptions,
    ) -> Result<Self, ApiError> {
        let config = &soml.config;
        let mutations = options.mutations && config.enable_mutations;
        let hierarchy = Hierarchy::new(soml);
        let mut problems = reserved::check_objects(soml, mutations);
        let targets = Targets::new(soml, &hierarchy, &mut problems);
        let common = CommonFields::new(&targets, &config.lang.default_name_fetch.to_string());
        let mut builder = ShapeBuilder {
            soml,
            targets: &targets,
            common: &common,
            reserved: &FilterKeys::new(soml),
            counts: options.counts && config.enable_collection_count,
            aggregates: options.aggregates && config.enable_aggregates,
            problems,
        };
        let shapes = build_shapes(&mut builder, &hierarchy);
        let beside = Beside {
            counts: options.counts && config.enable_type_count,
            connections: options.connections && config.enable_connections,
            aggregates: options.aggregates && config.enable_aggregates,
        };
        let mut query = QueryType::new(soml, &hierarchy, &targets, beside);

        let mut table = TypeTable::new(soml);
        table.problems.append(&mut builder.problems);
        table.problems.append(&mut query.problems);
        let types = ObjectTypes::new(soml, &hierarchy, &targets);
        leaf::add(&mut table, soml, &targets);
        builtin::add(&mut table, &common);
        let keys = CommonKeys::new(&targets, soml.objects.len());
        let objects = TypeBuilder {
            soml,
            hierarchy: &hierarchy,
            targets: &targets,
            keys: &keys,
            shapes: &shapes,
        };
        objects.add(&mut table, &types.nameable, &types.all);
        subscription::add(&mut table, soml, &targets);
        if beside.aggregates {
            AggregateTypes {
                soml,
                targets: &targets,
                shapes: &shapes,
            }
            .add(&mut table);
        }
        if beside.connections {
            connection::add(&mut table, soml, &targets);
        }
        federation::add(&mut table, &mut query, &targets, options);
        let (query, roots) = query.into_type();
        table.add(Origin::BuiltIn, query);
        let read_only = table.len();
        let writable = mutations
            && Mutations {
                soml,
                hierarchy: &hierarchy,
                targets: &targets,
            }
            .add(&mut table);
        let mutation_types = table.names_from(read_only).cloned().collect();

        let type_refs = type_refs(soml, &targets);
        let fields: Vec<_> = shapes.into_iter().map(|s| s.meaning).collect();
        let annotator = Annotator {
            soml,
            type_refs: &type_refs,
            fields: &fields,
        };
        let schema = assemble(
            table,
            writable,
            config.expose_soml_in_graphql.then_some(&annotator),
        )?;
        Ok(Generated {
            schema,
            roots,
            type_refs,
            fields,
            types,
            mutation_types,
        })
    }
}

fn build_shapes(builder: &mut ShapeBuilder<'_>, hierarchy: &Hierarchy) -> Vec<ObjectShape> {
    let soml = builder.soml;
    let mut shapes: Vec<Option<ObjectShape>> = Vec::new();
    shapes.resize_with(soml.objects.len(), || None);
    for &id in &hierarchy.superclass_first {
        let parent = soml[id].inherits.and_then(|p| shapes[index(p)].as_ref());
        let shape = builder.build(id, parent);
        shapes[index(id)] = Some(shape);
    }
    shapes
        .into_iter()
        .map(|s| s.expect("every object is built once"))
        .collect()
}

fn assemble(
    mut table: TypeTable<'_>,
    writable: bool,
    exposed: Option<&Annotator<'_>>,
) -> Result<Valid<Schema>, ApiError> {
    if !table.problems.is_empty() {
        let mut problems = std::mem::take(&mut table.problems);
        problems.sort_by_key(|p| p.span);
        return Err(ApiError { problems });
    }
    let mut schema = Schema::new();
    builtin::prepare(&mut schema);
    schema.types = table.finish(std::mem::take(&mut schema.types));
    let roots = schema.schema_definition.make_mut();
    roots.query = Some(ComponentName::from(name!("Query")));
    roots.mutation = writable.then(|| ComponentName::from(name!("Mutation")));
    if let Some(annotator) = exposed {
        annotator.expose_soml(&mut schema);
    }
    schema.validate().map_err(|invalid| {
        let message = format!("the generated schema is not valid: {}", invalid.errors);
        ApiError {
            problems: vec![Problem::new(ProblemKind::SchemaInvalid, message, None)],
        }
    })
}

fn type_refs(soml: &soml_core::schema::Schema, targets: &Targets) -> HashMap<Name, TypeRef> {
    let mut refs = HashMap::default();
    refs.insert(name!("Object"), TypeRef::AnyObject);
    refs.insert(name!("Nameable"), TypeRef::Nameable);
    for (id, _) in soml.objects() {
        let forms = targets.object(id);
        if let Some(target) = &forms.concrete {
            refs.insert(target.ty.clone(), TypeRef::Concrete(id));
        }
        if let Some(target) = &forms.interface {
            refs.insert(target.ty.clone(), TypeRef::Interface(id));
        }
    }
    refs
}

impl ObjectTypes {
    fn new(soml: &soml_core::schema::Schema, hierarchy: &Hierarchy, targets: &Targets) -> Self {
        let mut types = ObjectTypes {
            type_names: Vec::with_capacity(soml.objects.len()),
            range_types: Vec::with_capacity(soml.objects.len()),
            all: Vec::new(),
            nameable: Vec::new(),
            below: hierarchy.concrete.clone(),
            ids: soml.objects().map(|(id, _)| id).collect(),
        };
        for (id, object) in soml.objects() {
            let forms = targets.object(id);
            let named = forms.concrete.as_ref().or(forms.interface.as_ref());
            let named = named.expect("an object is an interface, a type or both");
            types.type_names.push(named.ty.clone());
            let interface = forms.interface.is_some();
            let range = if interface {
                TypeRef::Interface(id)
            } else {
                TypeRef::Concrete(id)
            };
            types.range_types.push(range);
            if object.kind == ObjectKind::Concrete {
                types.all.push(id);
                if soml.is_nameable(id) {
                    types.nameable.push(id);
                }
            }
        }
        types
    }
}
