//! The generated API: its schema, and the way back from GraphQL names to SOML.

use std::sync::Arc;

use apollo_compiler::collections::{HashMap, IndexMap};
use apollo_compiler::schema::ComponentName;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema, name};
use soml_core::schema::{ObjectId, ObjectKind, PropertyId};

use super::builtin::{self, CommonFields};
use super::error::{ApiError, Problem, ProblemKind};
use super::fields::{ObjectShape, ShapeBuilder};
use super::hierarchy::{Hierarchy, index};
use super::inputs::CommonKeys;
use super::objects::ObjectTypes;
use super::options::ApiOptions;
use super::query::QueryType;
use super::table::{Origin, TypeTable};
use super::targets::Targets;
use super::{leaf, subscription};

/// The GraphQL API of a SOML schema.
///
/// ```ignore
/// let api = Api::new(soml, &ApiOptions::default())?;
/// let planet = api.root_field("planet").expect("the schema has an object `Planet`");
/// ```
pub struct Api {
    soml: Arc<soml_core::Valid<soml_core::schema::Schema>>,
    options: ApiOptions,
    schema: Valid<Schema>,
    roots: IndexMap<Name, RootField>,
    type_refs: HashMap<Name, TypeRef>,
    fields: Vec<IndexMap<Name, Field>>,
    types: ObjectTypeNames,
    possible: PossibleTypes,
}

/// The names of the concrete type and the interface of each object.
struct ObjectTypeNames {
    type_names: Vec<Name>,
    dual: Vec<bool>,
}

/// Concrete objects of each type.
struct PossibleTypes {
    all: Vec<ObjectId>,
    nameable: Vec<ObjectId>,
    below: Vec<Vec<ObjectId>>,
    ids: Vec<ObjectId>,
}

/// A GraphQL type that stands for objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypeRef {
    /// Interface `Object`.
    AnyObject,
    /// Interface `Nameable`.
    Nameable,
    /// The type of a concrete object.
    Concrete(ObjectId),
    /// The interface of an abstract object, or of a concrete one that has subclasses.
    Interface(ObjectId),
}

impl TypeRef {
    /// Returns the object of the document that the type belongs to.
    #[must_use]
    pub fn object(self) -> Option<ObjectId> {
        match self {
            TypeRef::AnyObject | TypeRef::Nameable => None,
            TypeRef::Concrete(id) | TypeRef::Interface(id) => Some(id),
        }
    }
}

/// What a field of an object reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Field {
    /// The IRI.
    Id,
    /// The IRIs of the RDF types.
    Type,
    /// One value of the name property, chosen by language.
    Name,
    /// The values of a property.
    Property(PropertyId),
}

/// What a root field of `Query` selects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RootField {
    /// The objects that the field lists.
    pub target: TypeRef,
}

impl Api {
    /// Generates the API of a schema.
    ///
    /// # Errors
    /// All reasons why there is none, with their places in the document: names that clash or that
    /// GraphQL does not allow, and properties that a subclass redefines against its superclass.
    pub fn new(
        soml: Arc<soml_core::Valid<soml_core::schema::Schema>>,
        options: &ApiOptions,
    ) -> Result<Api, ApiError> {
        let document: &soml_core::schema::Schema = &soml;
        let hierarchy = Hierarchy::new(document);
        let mut problems = Vec::new();
        let targets = Targets::new(document, &hierarchy, &mut problems);
        let name_lang = document.config.lang.default_name_fetch.to_string();
        let common = CommonFields::new(&targets, &name_lang);
        let mut builder = ShapeBuilder {
            soml: document,
            targets: &targets,
            common: &common,
            problems,
        };
        let shapes = build_shapes(&mut builder, &hierarchy);
        let query = QueryType::new(document, &hierarchy, &targets);

        let mut table = TypeTable::new(document);
        table.problems.append(&mut builder.problems);
        table.problems.extend(query.problems.iter().cloned());
        let possible = PossibleTypes::new(document, &hierarchy);
        leaf::add(&mut table, document, &targets);
        builtin::add(&mut table, &common);
        let keys = CommonKeys::new(&targets, document.objects.len());
        let objects = ObjectTypes {
            soml: document,
            hierarchy: &hierarchy,
            targets: &targets,
            keys: &keys,
            shapes: &shapes,
        };
        objects.add(&mut table, &possible.nameable, &possible.all);
        subscription::add(&mut table, document, &targets);
        let (query, roots) = query.into_type();
        table.add(Origin::BuiltIn, query);

        let schema = assemble(table)?;
        let type_refs = type_refs(document, &targets);
        let types = ObjectTypeNames::new(document, &targets, &hierarchy);
        let fields = shapes.into_iter().map(|s| s.meaning).collect();
        let options = options.clone();
        Ok(Api {
            soml,
            options,
            schema,
            roots,
            type_refs,
            fields,
            types,
            possible,
        })
    }

    /// Returns the GraphQL schema that operations are validated against.
    #[must_use]
    pub fn schema(&self) -> &Valid<Schema> {
        &self.schema
    }

    /// Returns the SOML schema that the API was generated from.
    #[must_use]
    pub fn soml(&self) -> &Arc<soml_core::Valid<soml_core::schema::Schema>> {
        &self.soml
    }

    /// Returns the options that the API was generated with.
    #[must_use]
    pub fn options(&self) -> &ApiOptions {
        &self.options
    }

    /// Finds a field of `Query` that lists objects.
    #[must_use]
    pub fn root_field(&self, name: &str) -> Option<RootField> {
        self.roots.get(name).copied()
    }

    /// Finds the objects that an object or interface type stands for.
    #[must_use]
    pub fn type_ref(&self, graphql_type: &str) -> Option<TypeRef> {
        self.type_refs.get(graphql_type).copied()
    }

    /// Finds what a field of a type reads; the properties of [`TypeRef::Interface`] are those of
    /// the object that the interface belongs to.
    #[must_use]
    pub fn field(&self, ty: TypeRef, graphql_field: &str) -> Option<Field> {
        match (ty, graphql_field) {
            (TypeRef::AnyObject, "id") => Some(Field::Id),
            (TypeRef::AnyObject, "type") => Some(Field::Type),
            (TypeRef::Nameable, "name") => Some(Field::Name),
            (TypeRef::AnyObject | TypeRef::Nameable, _) => None,
            (TypeRef::Concrete(id) | TypeRef::Interface(id), _) => {
                self.fields[index(id)].get(graphql_field).copied()
            }
        }
    }

    /// Returns the GraphQL type named after an object: its concrete type, or the interface of an
    /// abstract object.
    #[must_use]
    pub fn type_name(&self, object: ObjectId) -> &Name {
        &self.types.type_names[index(object)]
    }

    /// Returns the concrete objects that values of a type can be, in document order.
    #[must_use]
    pub fn possible_types(&self, ty: TypeRef) -> &[ObjectId] {
        match ty {
            TypeRef::AnyObject => &self.possible.all,
            TypeRef::Nameable => &self.possible.nameable,
            TypeRef::Concrete(id) => std::slice::from_ref(&self.possible.ids[index(id)]),
            TypeRef::Interface(id) => &self.possible.below[index(id)],
        }
    }

    /// Returns the type of a field whose range is `object`.
    #[must_use]
    pub fn range_type(&self, object: ObjectId) -> TypeRef {
        let is_abstract = self.soml[object].kind == ObjectKind::Abstract;
        if is_abstract || self.types.dual[index(object)] {
            TypeRef::Interface(object)
        } else {
            TypeRef::Concrete(object)
        }
    }

    /// Prints the API in the GraphQL schema definition language.
    #[must_use]
    pub fn sdl(&self) -> String {
        self.schema.to_string()
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

fn assemble(mut table: TypeTable<'_>) -> Result<Valid<Schema>, ApiError> {
    if !table.problems.is_empty() {
        let mut problems = std::mem::take(&mut table.problems);
        problems.sort_by_key(|p| p.span);
        return Err(ApiError { problems });
    }
    let mut schema = Schema::new();
    builtin::prepare(&mut schema);
    schema.types = table.finish(std::mem::take(&mut schema.types));
    schema.schema_definition.make_mut().query = Some(ComponentName::from(name!("Query")));
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

impl ObjectTypeNames {
    fn new(soml: &soml_core::schema::Schema, targets: &Targets, hierarchy: &Hierarchy) -> Self {
        let name = |id| {
            let forms = targets.object(id);
            let target = forms.concrete.as_ref().or(forms.interface.as_ref());
            target
                .expect("an object is an interface, a type or both")
                .ty
                .clone()
        };
        ObjectTypeNames {
            type_names: soml.objects().map(|(id, _)| name(id)).collect(),
            dual: soml
                .objects()
                .map(|(id, _)| hierarchy.is_dual(id))
                .collect(),
        }
    }
}

impl PossibleTypes {
    fn new(soml: &soml_core::schema::Schema, hierarchy: &Hierarchy) -> Self {
        let concrete =
            |(_, o): &(ObjectId, &soml_core::schema::Object)| o.kind == ObjectKind::Concrete;
        let all: Vec<_> = soml.objects().filter(concrete).map(|(id, _)| id).collect();
        PossibleTypes {
            nameable: all
                .iter()
                .copied()
                .filter(|&id| soml.is_nameable(id))
                .collect(),
            all,
            below: hierarchy.concrete.clone(),
            ids: soml.objects().map(|(id, _)| id).collect(),
        }
    }
}
