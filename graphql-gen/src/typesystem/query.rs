//! Type `Query`: one root field per object, and `object` over all of them.

use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::{Name, name};
use soml_core::Finding;
use soml_core::schema::{ObjectId, ObjectKind, Schema};

use super::api::{RootField, RootKind, TypeRef};
use super::arguments::Arguments;
use super::error::ProblemKind;
use super::hierarchy::Hierarchy;
use super::nodes::{
    Argument, FieldNode, Member, NewType, field, input, list_of_required, named, object_type,
    required, required_list, text,
};
use super::origin::{Origin, Source};
use super::setting::Setting;
use super::targets::{Target, Targets};
use super::{aggregate, connection};

/// Fields that are generated beside the list field of each object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    pub(super) counts: bool,
    pub(super) connections: bool,
    pub(super) aggregates: bool,
}

/// A root field that lists objects.
struct ListField<'a> {
    field: FieldNode,
    objects: TypeRef,
    target: &'a Target,
}

/// The fields of `Query` with what they select.
pub(super) struct QueryType {
    fields: IndexMap<Name, Member<FieldNode>>,
    pub(super) roots: IndexMap<Name, RootField>,
    pub(super) problems: Vec<Finding>,
}

/// Returns the name of an object with its first letter lowered, as root fields and read-backs use
/// (docs/queries.md, "Root fields").
pub(super) fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    let mut lowered: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_lowercase)
        .collect();
    lowered.push_str(letters.as_str());
    lowered
}

impl QueryType {
    /// Builds the fields, with what `beside` asks for beside each.
    pub(super) fn new(
        soml: &Schema,
        hierarchy: &Hierarchy,
        targets: &Targets,
        beside: Beside,
    ) -> Self {
        let mut query = QueryType {
            fields: IndexMap::with_capacity_and_hasher(soml.objects.len() + 1, Default::default()),
            roots: IndexMap::with_capacity_and_hasher(soml.objects.len() + 1, Default::default()),
            problems: Vec::new(),
        };
        let tail = tail_arguments(&targets.args);
        let prefix = soml.config.query_pfx.as_str();
        let field = root_field(prefix, "Object", &targets.any_object, targets, &tail);
        let all = ListField {
            field,
            objects: TypeRef::AnyObject,
            target: &targets.any_object,
        };
        // `enableTypeCount` counts the objects of a type, and `object` has none (docs/queries.md,
        // "Counts").
        let beside_all = Beside {
            counts: false,
            ..beside
        };
        query.add_with(soml, all, targets, beside_all);
        for (id, object) in soml.objects() {
            // The root field of a superclass returns instances of its subclasses too
            // (docs/schema.md, "The API").
            let interface = object.kind == ObjectKind::Abstract || hierarchy.is_dual(id);
            let objects = if interface {
                TypeRef::Interface(id)
            } else {
                TypeRef::Concrete(id)
            };
            let name = object.name.graphql.as_str();
            let target = targets.object_range(id);
            let list = ListField {
                field: root_field(prefix, name, target, targets, &tail),
                objects,
                target,
            };
            query.add_with(soml, list, targets, beside);
        }
        query
    }

    /// Adds a list field and the fields beside it.
    fn add_with(&mut self, soml: &Schema, list: ListField<'_>, targets: &Targets, beside: Beside) {
        let ListField {
            field: list,
            objects,
            target,
        } = list;
        let root = |kind| RootField {
            target: objects,
            kind,
        };
        let count = beside.counts.then(|| count_field(&list, target, targets));
        let connection = beside
            .connections
            .then(|| connection::root_field(&list, target));
        let aggregate = beside
            .aggregates
            .then(|| aggregate::root_field(&list, target));
        self.add(soml, list, root(RootKind::Objects));
        if let Some(count) = count {
            self.add(soml, count, root(RootKind::Count));
        }
        if let Some(connection) = connection {
            self.add(soml, connection, root(RootKind::Connection));
        }
        if let Some(aggregate) = aggregate {
            self.add(soml, aggregate, root(RootKind::Aggregate));
        }
    }

    fn add(&mut self, soml: &Schema, field: FieldNode, root: RootField) {
        let name = field.name.clone();
        if let Some(first) = self.roots.get(&name) {
            self.problems
                .push(taken(soml, &name, first.target, root.target));
            return;
        }
        self.roots.insert(name.clone(), root);
        self.fields.insert(name, Member::of(origin(root), field));
    }

    /// Adds a field that selects no objects.
    pub(super) fn add_other(&mut self, origin: Origin, field: FieldNode) {
        self.fields
            .insert(field.name.clone(), Member::of(origin, field));
    }

    pub(super) fn into_type(self) -> (NewType, IndexMap<Name, RootField>) {
        let ty = object_type(
            name!("Query"),
            text("Root queries"),
            IndexSet::default(),
            self.fields.into_values(),
        );
        (ty, self.roots)
    }
}

/// Returns what a root field stems from.
fn origin(root: RootField) -> Origin {
    let source = root.target.object().map_or(Source::BuiltIn, Source::Object);
    let origin = Origin::of(source).under(Setting::QueryPrefix);
    match root.kind {
        RootKind::Objects => origin,
        RootKind::Count => origin.under(Setting::TypeCount),
        RootKind::Connection => origin.under(Setting::Connections),
        RootKind::Aggregate => origin.under(Setting::Aggregates),
    }
}

fn taken(soml: &Schema, name: &Name, first: TypeRef, second: TypeRef) -> Finding {
    let object = |target: TypeRef| -> Option<ObjectId> { target.object() };
    let owner = |target| object(target).map_or("Object", |id| soml[id].name.written.as_str());
    let message = format!(
        "object `{}` gives the root field `{name}`, as does `{}`",
        owner(second),
        owner(first)
    );
    let span = object(second).map(|id| soml[id].span);
    let mut problem = ProblemKind::RootFieldTaken
        .at(span, message)
        .with_help("root fields are object names with the first letter lowered; rename one");
    if let Some(id) = object(first) {
        problem = problem.with_label(soml[id].span, "the other object");
    }
    problem
}

fn root_field(
    prefix: &str,
    object: &str,
    target: &Target,
    targets: &Targets,
    tail: &[Argument],
) -> FieldNode {
    let mut name = String::with_capacity(prefix.len() + object.len());
    name.push_str(prefix);
    name.push_str(&lower_first(object));
    let args = &targets.args;
    let mut arguments = Vec::with_capacity(6 + tail.len());
    arguments.extend([
        args.ids.clone(),
        target.order_arg.clone(),
        target.where_arg.clone(),
        args.limit.clone(),
        args.offset.clone(),
        args.lang.clone(),
    ]);
    arguments.extend(tail.iter().cloned());
    let description = text(&format!("Query for {object}"));
    field(
        &Name::new_unchecked(&name),
        description,
        arguments,
        required_list(&target.ty),
    )
}

/// `<root field>_count` (docs/queries.md, "Counts")
fn count_field(list: &FieldDefinition, target: &Target, targets: &Targets) -> FieldNode {
    let name = Name::new_unchecked(&format!("{}_count", list.name));
    let description = text(&format!("Number of objects in {}", list.name));
    let arguments = target.count_args(&targets.args);
    field(&name, description, arguments, required(&name!("Int")))
}

/// Arguments that say how the store is read (docs/queries.md, "Root fields").
fn tail_arguments(args: &Arguments) -> [Argument; 4] {
    let boolean = name!("Boolean");
    let string = name!("String");
    let inferred = text("Include inferred data in results");
    let same_as = text("Expand results over owl:sameAs");
    [
        input(&name!("includeInferred"), inferred, named(&boolean)),
        input(&name!("expandOwlSameAs"), same_as, named(&boolean)),
        input(
            &name!("repository"),
            text("Overrides the default repository"),
            named(&string),
        ),
        args.shown(input(&name!("from"), None, list_of_required(&string))),
    ]
}
