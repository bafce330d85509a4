//! Type `Mutation`: creating, updating and deleting the instances of each concrete object.
//!
//! An object `T` has `create_T`, `update_T` and `delete_T`, each answering a `T_Mutation`. References
//! to other objects are given by `R_Ref_Input`, which links existing objects by `ids` and creates new
//! ones under the name of each concrete type of the range `R`.

use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::schema::{Type, Value};
use apollo_compiler::{Name, Node, name};
use soml_core::datatype::Scalar;
use soml_core::schema::{ObjectId, Property, Range, Schema};

use super::fields::field_description;
use super::hierarchy::{Hierarchy, index};
use super::leaf::{describe, multi_value_input, multi_value_name};
use super::nodes::{
    Argument, FieldNode, Member, NewType, field, input, input_type, input_with_default,
    list_of_required, named, object_type, required, required_list, text,
};
use super::origin::{Origin, Source};
use super::query::lower_first;
use super::setting::Setting;
use super::table::TypeTable;
use super::targets::{Target, Targets};

/// Generates everything about writing.
pub(super) struct Mutations<'a> {
    pub(super) soml: &'a Schema,
    pub(super) hierarchy: &'a Hierarchy,
    pub(super) targets: &'a Targets,
}

/// A field of `Mutation`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct MutationField {
    /// The concrete object whose instances are written.
    pub object: ObjectId,
    /// The operation on them.
    pub verb: Verb,
}

/// What a field of `Mutation` does to objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verb {
    /// Creates them.
    Create,
    /// Changes values of existing ones.
    Update,
    /// Deletes them.
    Delete,
}

impl Verb {
    /// All verbs, in the order of the fields.
    pub const ALL: [Verb; 3] = [Verb::Create, Verb::Update, Verb::Delete];

    /// Returns the start of the names of fields.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Delete => "delete",
        }
    }
}

/// The types of a property's values in the two inputs of an object.
struct ValueTypes {
    on_create: Type,
    on_update: Type,
}

/// The fields of payloads for what was changed.
struct Affected {
    count: FieldNode,
    objects: FieldNode,
}

/// Returns the origin of a type about writing an object.
fn of_object(id: ObjectId) -> Origin {
    Origin::of(Source::Object(id)).under(Setting::Mutations)
}

/// Arguments that all mutation fields share.
struct MutationArguments {
    dry_run: Argument,
    allow_all: Argument,
}

impl Mutations<'_> {
    /// Adds `Mutation` and its inputs and payloads, and returns what its fields do; nothing is added when
    /// there is nothing to write.
    pub(super) fn add(&self, table: &mut TypeTable<'_>) -> IndexMap<Name, MutationField> {
        let arguments = MutationArguments::new();
        let mut meaning = IndexMap::default();
        let mut all: IndexMap<Name, Member<FieldNode>> = IndexMap::default();
        add_shared(table);
        let affected = Affected::new();
        for (id, _) in self.soml.objects() {
            self.add_references(table, id);
            // Nothing is an instance of an abstract object only, so there is nothing to create
            // (docs/writing.md, "The fields").
            let Some(target) = &self.targets.object(id).concrete else {
                continue;
            };
            self.add_inputs(table, id, target);
            let payload = self.payload(id, target, &affected);
            table.add(of_object(id), payload);
            let origin = Origin::of(Source::Object(id)).under(Setting::MutationPrefix);
            let fields = self.root_fields(id, target, &arguments);
            for (verb, field) in Verb::ALL.into_iter().zip(fields) {
                meaning.insert(field.name.clone(), MutationField { object: id, verb });
                all.insert(field.name.clone(), Member::of(origin, field));
            }
        }
        // An object type has at least one field
        // (<https://spec.graphql.org/September2025/#sec-Objects>).
        if all.is_empty() {
            return meaning;
        }
        let description = text("Root mutations");
        let none = IndexSet::default();
        let fields = all.into_values();
        let ty = object_type(name!("Mutation"), description, none, fields);
        table.add(Origin::BUILT_IN.under(Setting::Mutations), ty);
        meaning
    }

    fn root_fields(
        &self,
        id: ObjectId,
        target: &Target,
        arguments: &MutationArguments,
    ) -> [FieldNode; 3] {
        let ty = &target.ty;
        let prefix = &self.soml.config.mutation_pfx;
        let name = |verb: Verb| Name::new_unchecked(&format!("{prefix}{}_{ty}", verb.name()));
        let payload = named(&suffixed(ty, "_Mutation"));
        // Instances of subclasses are instances too, so filters are those of the interface.
        let filter = &self.targets.object_range(id).where_arg;
        let objects = |suffix: &str, description: &str| {
            let each = Type::NonNullList(Box::new(required(&suffixed(ty, suffix))));
            input(&name!("objects"), text(description), each)
        };
        let create = vec![
            objects("_Create_Input", "Objects to create"),
            arguments.dry_run.clone(),
        ];
        let update = vec![
            objects(
                "_Update_Input",
                "Changes, each with the `id` of its object or under `where`",
            ),
            filter.clone(),
            arguments.dry_run.clone(),
        ];
        let required_filter = input(
            &name!("where"),
            text("Which objects to delete"),
            // Required, so that no mistake deletes everything (docs/writing.md, "Deleting").
            required(filter.ty.inner_named_type()),
        );
        let delete = vec![
            required_filter,
            arguments.allow_all.clone(),
            arguments.dry_run.clone(),
        ];
        [
            field(
                &name(Verb::Create),
                describe("Create", ty, " objects"),
                create,
                payload.clone(),
            ),
            field(
                &name(Verb::Update),
                describe("Update", ty, " objects"),
                update,
                payload.clone(),
            ),
            field(
                &name(Verb::Delete),
                describe("Delete", ty, " objects"),
                delete,
                payload,
            ),
        ]
    }

    /// `T_Mutation`, with a field to read back the objects (docs/writing.md, "The fields").
    fn payload(&self, id: ObjectId, target: &Target, affected: &Affected) -> NewType {
        let args = &self.targets.args;
        let range = self.targets.object_range(id);
        let arguments = vec![
            args.ids.clone(),
            range.order_arg.clone(),
            range.where_arg.clone(),
            args.limit.clone(),
            args.offset.clone(),
            args.lang.clone(),
        ];
        let read_back = field(
            &Name::new_unchecked(&lower_first(&target.ty)),
            describe(
                "The",
                &target.ty,
                " objects after the change; deleted ones as they were",
            ),
            arguments,
            required_list(&range.ty),
        );
        let description = describe("Result of a change of", &target.ty, " objects");
        object_type(
            suffixed(&target.ty, "_Mutation"),
            description,
            IndexSet::default(),
            [affected.count.clone(), affected.objects.clone(), read_back],
        )
    }

    /// `T_Create_Input` and `T_Update_Input`.
    fn add_inputs(&self, table: &mut TypeTable<'_>, id: ObjectId, target: &Target) {
        let iri = &self.targets.scalar(Scalar::Iri).ty;
        let props = &self.soml[id].props;
        let mut create: Vec<Member<Argument>> = Vec::with_capacity(props.len() + 1);
        let mut update: Vec<Member<Argument>> = Vec::with_capacity(props.len() + 1);
        let new_id = text("IRI of the new object; generated if absent");
        create.push(input(&name!("id"), new_id, named(iri)).into());
        let known_id = text("IRI of the object to change");
        // Nullable: with `where`, the entry has no id (docs/writing.md, "Changing").
        update.push(input(&name!("id"), known_id, named(iri)).into());
        for &id in props {
            let property = &self.soml[id];
            let name = Name::new_unchecked(&property.name.graphql);
            let description = text(field_description(property));
            let types = self.value_types(property);
            let origin = Origin::of(Source::Property(id));
            let on_create = input(&name, description.clone(), types.on_create);
            create.push(Member::of(origin, on_create));
            let on_update = input(&name, description, types.on_update);
            update.push(Member::of(origin, on_update));
        }
        let origin = of_object(id);
        let description = describe("New object of", &target.ty, "");
        table.add(
            origin,
            input_type(suffixed(&target.ty, "_Create_Input"), description, create),
        );
        let description = describe("Changes to an object of", &target.ty, "");
        table.add(
            origin,
            input_type(suffixed(&target.ty, "_Update_Input"), description, update),
        );
    }

    /// Returns the types of a property's values on create and on update. All are nullable, whatever
    /// `min` and `nonNullable` say: an update names only what it changes, and a create is checked
    /// with the data.
    fn value_types(&self, property: &Property) -> ValueTypes {
        let ty = &self.targets.range(property.range).ty;
        let multiple = property.max.is_multiple();
        let (on_create, on_update) = match property.range {
            // A list also for a single reference: a bare object is coerced to one
            // (<https://spec.graphql.org/September2025/#sec-List.Input-Coercion>).
            Range::Object(_) => (
                list_of_required(&suffixed(ty, "_Ref_Input")),
                list_of_required(&suffixed(ty, "_Ref_Update_Input")),
            ),
            Range::Literal(_) if multiple => (
                list_of_required(&name!("Literal_Input")),
                named(&multi_value_name(ty)),
            ),
            Range::Literal(_) => (
                named(&name!("Literal_Input")),
                named(&name!("Literal_Input")),
            ),
            _ if multiple => (list_of_required(ty), named(&multi_value_name(ty))),
            _ => (named(ty), named(ty)),
        };
        ValueTypes {
            on_create,
            on_update,
        }
    }

    /// `R_Ref_Input` and `R_Ref_Update_Input` for the range that `id` is (docs/writing.md,
    /// "Creating" and "Changing").
    fn add_references(&self, table: &mut TypeTable<'_>, id: ObjectId) {
        let iri = &self.targets.scalar(Scalar::Iri).ty;
        let range = &self.targets.object_range(id).ty;
        let concrete = &self.hierarchy.concrete[index(id)];
        let mut keys: Vec<Member<Argument>> = Vec::with_capacity(concrete.len() + 3);
        let existing = text("Existing objects");
        keys.push(input(&name!("ids"), existing, list_of_required(iri)).into());
        keys.extend(concrete.iter().filter_map(|&id| {
            let ty = &self.targets.object(id).concrete.as_ref()?.ty;
            let new = list_of_required(&suffixed(ty, "_Create_Input"));
            let key = input(ty, describe("New", ty, " objects"), new);
            Some(Member::of(Origin::of(Source::Object(id)), key))
        }));
        let origin = of_object(id);
        let description = describe("References to", range, " objects");
        let on_create = input_type(suffixed(range, "_Ref_Input"), description, keys.clone());
        table.add(origin, on_create);
        let patch = text("Replace the reference to this object. Cannot be combined with replace");
        keys.push(input(&name!("patch"), patch, named(iri)).into());
        let replace = "Overwrite all references. Defaults to false.";
        keys.push(flag(&name!("replace"), replace).into());
        let description = describe("Changes to references to", range, " objects");
        table.add(
            origin,
            input_type(suffixed(range, "_Ref_Update_Input"), description, keys),
        );
    }
}

impl MutationArguments {
    fn new() -> Self {
        MutationArguments {
            dry_run: flag(&name!("dryRun"), "Check and respond, but write nothing"),
            allow_all: flag(
                &name!("allowAll"),
                "Allow an empty `where`, which selects all objects",
            ),
        }
    }
}

/// Adds the types that all mutations share.
fn add_shared(table: &mut TypeTable<'_>) {
    let id = name!("ID");
    let string = name!("String");
    let origin = Origin::BUILT_IN.under(Setting::Mutations);
    let literal = [
        input(&name!("value"), text("Value"), required(&string)),
        input(&name!("lang"), text("Language tag"), named(&string)),
        input(
            &name!("type"),
            text("Datatype, where the range allows several"),
            named(&id),
        ),
    ];
    let description = text("Literal value, with optional datatype or language tag");
    table.add(
        origin,
        input_type(name!("Literal_Input"), description, literal),
    );
    let element = name!("Literal_Input");
    table.add(origin, multi_value_input(&name!("Literal"), &element));

    let kind = field(
        &name!("kind"),
        text("Type of the objects"),
        Vec::new(),
        required(&string),
    );
    let count = [
        field(
            &name!("count"),
            text("Number of objects"),
            Vec::new(),
            required(&name!("Int")),
        ),
        kind.clone(),
    ];
    let none = IndexSet::default;
    let description = text("How many objects of a type were changed");
    table.add(
        origin,
        object_type(name!("Affected_Count"), description, none(), count),
    );
    let ids = Type::NonNullList(Box::new(required(&id)));
    let objects = [
        field(&name!("ids"), text("IRIs of the objects"), Vec::new(), ids),
        kind,
    ];
    let description = text("Which objects of a type were changed");
    table.add(
        origin,
        object_type(name!("Affected_Objects"), description, none(), objects),
    );
}

impl Affected {
    fn new() -> Self {
        let each = |ty: &Name| Type::NonNullList(Box::new(required(ty)));
        Affected {
            count: field(
                &name!("affected_count"),
                text("Numbers of changed objects by type"),
                Vec::new(),
                each(&name!("Affected_Count")),
            ),
            objects: field(
                &name!("affected_objects"),
                text("Changed objects by type"),
                Vec::new(),
                each(&name!("Affected_Objects")),
            ),
        }
    }
}

fn flag(name: &Name, description: &str) -> Argument {
    let ty: Node<Type> = named(&name!("Boolean")).into();
    input_with_default(name, text(description), ty, Some(Value::Boolean(false)))
}

/// Returns a name with a suffix of characters that names may have.
fn suffixed(name: &Name, suffix: &str) -> Name {
    Name::new_unchecked(&format!("{name}{suffix}"))
}
