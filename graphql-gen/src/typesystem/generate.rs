//! Generates all types of an API and puts them together.

use apollo_compiler::collections::{HashMap, HashSet, IndexMap};
use apollo_compiler::schema::ComponentName;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema, name};
use soml_core::Finding;
use soml_core::config::Config;
use soml_core::schema::ObjectKind;

use super::aggregate::AggregateTypes;
use super::annotate::Annotator;
use super::api::{Field, ObjectTypes, RootField, TypeRef};
use super::builtin::{self, CommonFields};
use super::error::{ApiError, ProblemKind};
use super::fields::{ObjectShape, ShapeBuilder};
use super::hierarchy::{Hierarchy, index};
use super::inputs::CommonKeys;
use super::mutation::{MutationField, Mutations};
use super::objects::TypeBuilder;
use super::options::ApiOptions;
use super::origin::{Origin, Origins};
use super::query::{Beside, QueryType};
use super::reserved::{self, FilterKeys};
use super::table::TypeTable;
use super::targets::Targets;
use super::{connection, federation, leaf, prune, subscription};

/// Everything that [`super::Api`] keeps.
pub(super) struct Generated {
    pub(super) schema: Valid<Schema>,
    pub(super) origins: Origins,
    pub(super) roots: IndexMap<Name, RootField>,
    pub(super) type_refs: HashMap<Name, TypeRef>,
    pub(super) fields: Vec<IndexMap<Name, Field>>,
    pub(super) types: ObjectTypes,
    /// What the fields of `Mutation` do.
    pub(super) mutations: IndexMap<Name, MutationField>,
    /// Types that are only about writing.
    pub(super) mutation_types: HashSet<Name>,
}

/// The parts that both the options and the document ask for.
#[derive(Clone, Copy)]
struct Parts {
    mutations: bool,
    /// Counts beside list fields.
    counts: bool,
    aggregates: bool,
    /// What is beside root fields.
    beside: Beside,
}

impl Parts {
    fn new(config: &Config, options: &ApiOptions) -> Self {
        let aggregates = options.aggregates && config.enable_aggregates;
        Parts {
            mutations: options.mutations && config.enable_mutations,
            counts: options.counts && config.enable_collection_count,
            aggregates,
            beside: Beside {
                counts: options.counts && config.enable_type_count,
                connections: options.connections && config.enable_connections,
                aggregates,
            },
        }
    }
}

/// What all types are made from.
struct Generator<'a> {
    soml: &'a soml_core::schema::Schema,
    parts: Parts,
    hierarchy: Hierarchy,
    targets: Targets,
    common: CommonFields,
    shapes: Vec<ObjectShape>,
}

impl Generated {
    pub(super) fn new(
        soml: &soml_core::schema::Schema,
        options: &ApiOptions,
    ) -> Result<Self, ApiError> {
        let mut table = TypeTable::new(soml);
        let generator = Generator::new(soml, options, &mut table.problems);
        let Generator {
            hierarchy, targets, ..
        } = &generator;
        let mut query = QueryType::new(soml, hierarchy, targets, generator.parts.beside);
        table.problems.append(&mut query.problems);
        let types = ObjectTypes::new(soml, hierarchy, targets);
        generator.add_types(&mut table, &types);
        federation::add(&mut table, &mut query, targets, options);
        let (query, roots) = query.into_type();
        table.add(Origin::BUILT_IN, query);
        // What is added from here on is only about writing, and not in the schema for gateways.
        let read_only = table.len();
        let mutations = generator.add_mutations(&mut table);
        let mutation_types = table.names_from(read_only).cloned().collect();

        let mut type_refs = type_refs(soml, targets);
        let shapes = generator.shapes.into_iter();
        let fields: Vec<_> = shapes.map(|shape| shape.meaning).collect();
        let exposed = Exposed {
            soml: soml.config.expose_soml_in_graphql,
            roles: options.expose_roles,
            annotator: Annotator {
                soml,
                type_refs: &type_refs,
                fields: &fields,
            },
        };
        let form = Form {
            writable: !mutations.is_empty(),
            prune: options.prune,
            exposed: &exposed,
        };
        let (schema, origins) = assemble(table, &form)?;
        type_refs.retain(|name, _| schema.types.contains_key(name));
        Ok(Generated {
            schema,
            origins,
            roots,
            type_refs,
            fields,
            types,
            mutations,
            mutation_types,
        })
    }
}

impl<'a> Generator<'a> {
    /// Names everything and builds the fields of all objects.
    fn new(
        soml: &'a soml_core::schema::Schema,
        options: &ApiOptions,
        problems: &mut Vec<Finding>,
    ) -> Self {
        let parts = Parts::new(&soml.config, options);
        let hierarchy = Hierarchy::new(soml);
        problems.extend(reserved::check_objects(soml, parts.mutations));
        let describe = options.argument_descriptions;
        let targets = Targets::new(soml, describe, problems);
        let name_language = soml.config.lang.default_name_fetch.to_string();
        let common = CommonFields::new(&targets, &name_language);
        let mut builder = ShapeBuilder {
            soml,
            targets: &targets,
            common: &common,
            reserved: &FilterKeys::new(soml),
            counts: parts.counts,
            aggregates: parts.aggregates,
            problems: Vec::new(),
        };
        let shapes = build_shapes(&mut builder, &hierarchy);
        problems.append(&mut builder.problems);
        Generator {
            soml,
            parts,
            hierarchy,
            targets,
            common,
            shapes,
        }
    }

    /// Adds all types of reading but `Query` and those of federation.
    fn add_types(&self, table: &mut TypeTable<'_>, types: &ObjectTypes) {
        let (soml, targets) = (self.soml, &self.targets);
        leaf::add(table, soml, targets);
        builtin::add(table, &self.common);
        let objects = TypeBuilder {
            soml,
            hierarchy: &self.hierarchy,
            targets,
            keys: &CommonKeys::new(targets, soml.objects.len()),
            shapes: &self.shapes,
        };
        objects.add(table, &types.nameable, &types.all);
        subscription::add(table, soml, targets);
        if self.parts.aggregates {
            let aggregates = AggregateTypes {
                soml,
                targets,
                shapes: &self.shapes,
            };
            aggregates.add(table);
        }
        if self.parts.beside.connections {
            connection::add(table, soml, targets);
        }
    }

    /// Adds type `Mutation` and what belongs to it, where it is asked for and there is something to write.
    fn add_mutations(&self, table: &mut TypeTable<'_>) -> IndexMap<Name, MutationField> {
        let mutations = Mutations {
            soml: self.soml,
            hierarchy: &self.hierarchy,
            targets: &self.targets,
        };
        if self.parts.mutations {
            mutations.add(table)
        } else {
            IndexMap::default()
        }
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

/// What becomes of the types when they are put together.
struct Form<'a> {
    /// Whether there is a type `Mutation`.
    writable: bool,
    /// Whether types that nothing reaches are left out.
    prune: bool,
    /// Exposes what the document says, as directives.
    exposed: &'a Exposed<'a>,
}

/// What the schema says of the document, as directives.
struct Exposed<'a> {
    soml: bool,
    roles: bool,
    annotator: Annotator<'a>,
}

fn assemble(
    mut table: TypeTable<'_>,
    form: &Form<'_>,
) -> Result<(Valid<Schema>, Origins), ApiError> {
    // All problems are known now. Building a schema from clashing names would hide some of them.
    if !table.problems.is_empty() {
        let mut problems = std::mem::take(&mut table.problems);
        problems.sort_by_key(|p| p.span);
        return Err(ApiError { problems });
    }
    let mut schema = Schema::new();
    builtin::prepare(&mut schema);
    let (types, mut origins) = table.finish(std::mem::take(&mut schema.types));
    schema.types = types;
    let roots = schema.schema_definition.make_mut();
    roots.query = Some(ComponentName::from(name!("Query")));
    roots.mutation = form
        .writable
        .then(|| ComponentName::from(name!("Mutation")));
    if form.exposed.soml {
        form.exposed.annotator.expose_soml(&mut schema);
    }
    if form.exposed.roles {
        form.exposed.annotator.expose_roles(&mut schema);
    }
    if form.prune {
        prune::prune(&mut schema, &mut origins);
    }
    // Each rule has a check of its own that names the place in the document; this finds faults of
    // the generator.
    let schema = schema.validate().map_err(|invalid| {
        let message = format!("the generated schema is not valid: {}", invalid.errors);
        ApiError {
            problems: vec![ProblemKind::SchemaInvalid.at(None, message)],
        }
    })?;
    Ok((schema, origins))
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
            let named = forms
                .concrete
                .as_ref()
                .or(forms.interface.as_ref())
                .expect("an object is an interface, a type or both");
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
