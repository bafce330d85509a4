//! Aggregates: a field beside each list that counts, compares and adds up what the list holds.
//!
//! `T_Aggregate` belongs to a list of objects of type `T`; its groups have a key, and conditions and
//! an order of their own. `S_Aggregate` belongs to the values of a scalar or an enumeration, and
//! `_Counts` to values that have no order.

use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::schema::{Component, FieldDefinition as Definition, Type};
use apollo_compiler::{Name, name};
use soml_core::datatype::Scalar;
use soml_core::schema::{ObjectId, Property, Range, Schema};

use super::api::Field;
use super::error::{Problem, ProblemKind};
use super::fields::{ObjectShape, field_description};
use super::nodes::{
    Argument, Fields, Text, enum_type, field, fields, input, input_type, list_of_required, named,
    object_type, required, text,
};
use super::table::{Origin, TypeTable};
use super::targets::{Arguments, Target, Targets};

/// The arguments of a list that an aggregate does without.
const LIST_ARGUMENTS: [&str; 3] = ["orderBy", "limit", "offset"];

/// Fields of aggregates and groups beside those of properties.
const OWN_FIELDS: [&str; 3] = ["count", "groups", "key"];

/// Names that no value of an enumeration can have.
const NO_ENUM_VALUES: [&str; 3] = ["true", "false", "null"];

/// The measures of values, with what each is.
const MEASURES: [(&str, &str); 6] = [
    ("count", "Number of values, equal ones of one object once"),
    ("countDistinct", "Number of different values"),
    ("min", "The smallest value"),
    ("max", "The greatest value"),
    ("sum", "The sum of the values"),
    ("avg", "The average of the values"),
];

/// Returns `<list>_aggregate` beside a root field.
pub(super) fn root_field(list: &FieldDefinition, target: &Target) -> Component<Definition> {
    let arguments = list.arguments.iter();
    let arguments = arguments.filter(|a| !LIST_ARGUMENTS.contains(&a.name.as_str()));
    let name = Name::new_unchecked(&format!("{}_aggregate", list.name));
    let description = text(&format!(
        "Counts, extremes, sums and groups of {}",
        list.name
    ));
    let ty = named(&aggregate_name(&target.ty));
    field(&name, description, arguments.cloned().collect(), ty)
}

/// Returns `<property>_aggregate` beside the list field of a property.
pub(super) fn list_field(
    property: &Property,
    name: &Name,
    targets: &Targets,
) -> Component<Definition> {
    let target = targets.range(property.range);
    let description = text(&format!(
        "Counts, extremes and sums of {}",
        property.name.graphql
    ));
    let ty = match property.range {
        Range::Object(_) => aggregate_name(&target.ty),
        range => Leaf::of(range).names(targets).aggregate,
    };
    field(
        name,
        description,
        arguments(target, &targets.args),
        named(&ty),
    )
}

/// Returns what decides which values are aggregated, and which variants of texts.
fn arguments(target: &Target, args: &Arguments) -> Vec<Argument> {
    let mut arguments = target.count_args(args);
    let is_object = arguments.iter().any(|a| a.name == "ID");
    if is_object && target.list_args.iter().any(|a| a.name == "lang") {
        arguments.push(args.lang.clone());
    }
    arguments
}

/// Reports a property whose field in aggregates has another meaning.
pub(super) fn check(property: &Property) -> Option<Problem> {
    let name = property.name.graphql.as_str();
    let problem = if OWN_FIELDS.contains(&name) {
        let message = format!(
            "property `{}` gives the field `{name}` of aggregates, which they have themselves",
            property.name
        );
        Problem::new(ProblemKind::FieldNameTaken, message, Some(property.span))
    } else if NO_ENUM_VALUES.contains(&name) {
        let message = format!("`{}` cannot be a value of `GroupField`", property.name);
        Problem::new(ProblemKind::NameInvalid, message, Some(property.span))
    } else {
        return None;
    };
    Some(
        problem.help(
            "rename it and give its old IRI with `rdfProp`, or switch `enableAggregates` off",
        ),
    )
}

/// Values whose aggregates have the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Leaf {
    /// What has no order: objects, ids and literals.
    Counted,
    Scalar(Scalar),
    Enum(usize),
}

/// The names of the types of a [`Leaf`].
struct LeafNames {
    aggregate: Name,
    having: Name,
    order: Name,
}

impl Leaf {
    fn of(range: Range) -> Leaf {
        match range {
            Range::Object(_) | Range::Literal(_) | Range::Scalar(Scalar::Iri) => Leaf::Counted,
            Range::Scalar(scalar) => Leaf::Scalar(scalar),
            Range::Enum(id) => Leaf::Enum(id.0 as usize),
        }
    }

    fn target(self, targets: &Targets) -> Option<&Target> {
        match self {
            Leaf::Counted => None,
            Leaf::Scalar(scalar) => Some(targets.scalar(scalar)),
            Leaf::Enum(position) => Some(targets.enum_at(position)),
        }
    }

    fn names(self, targets: &Targets) -> LeafNames {
        let Some(target) = self.target(targets) else {
            return LeafNames {
                aggregate: name!("_Counts"),
                having: name!("_CountsHaving"),
                order: name!("_CountsOrderBy"),
            };
        };
        let named = |suffix: &str| Name::new_unchecked(&format!("{}_{suffix}", target.ty));
        LeafNames {
            aggregate: aggregate_name(&target.ty),
            having: named("AggregateHaving"),
            order: named("AggregateOrderBy"),
        }
    }

    /// Returns the type of each measure, in the order of [`MEASURES`].
    fn measures(self, targets: &Targets) -> Vec<Name> {
        let mut types = vec![name!("Int"), name!("Int")];
        if let Some(target) = self.target(targets) {
            types.extend([target.ty.clone(), target.ty.clone()]);
        }
        if let Leaf::Scalar(scalar) = self
            && let Some((sum, average)) = sum_and_average(scalar)
        {
            types.extend([sum, average].map(|s| Name::new_static_unchecked(s.graphql_name())));
        }
        types
    }
}

/// Returns the scalars of sums and averages of numbers.
#[must_use]
pub fn sum_and_average(scalar: Scalar) -> Option<(Scalar, Scalar)> {
    if scalar.is_float() {
        Some((Scalar::Double, Scalar::Double))
    } else if scalar.is_integer() {
        Some((Scalar::Integer, Scalar::Decimal))
    } else {
        (scalar == Scalar::Decimal).then_some((Scalar::Decimal, Scalar::Decimal))
    }
}

fn aggregate_name(ty: &Name) -> Name {
    Name::new_unchecked(&format!("{ty}_Aggregate"))
}

/// What the aggregates of an object know of a property.
struct Member {
    name: Name,
    description: Text,
    leaf: Leaf,
    /// Type of the key when objects can be grouped by the property.
    key: Option<Name>,
}

/// What the types of aggregates are made from.
pub(super) struct AggregateTypes<'a> {
    pub(super) soml: &'a Schema,
    pub(super) targets: &'a Targets,
    pub(super) shapes: &'a [ObjectShape],
}

impl AggregateTypes<'_> {
    /// Adds the types of all aggregates.
    pub(super) fn add(&self, table: &mut TypeTable<'_>) {
        let mut leaves: IndexSet<Leaf> = IndexSet::default();
        leaves.insert(Leaf::Counted);
        add_object(
            table,
            Origin::BuiltIn,
            &self.targets.any_object.ty,
            &[],
            self.targets,
        );
        for (position, shape) in (0u32..).zip(self.shapes) {
            let id = ObjectId(position);
            let members = self.members(shape);
            leaves.extend(members.iter().map(|member| member.leaf));
            let ty = &self.targets.object_range(id).ty;
            add_object(table, Origin::Object(id), ty, &members, self.targets);
        }
        let mut compared: IndexSet<Name> = IndexSet::default();
        compared.insert(name!("Int"));
        for leaf in leaves {
            compared.extend(leaf.measures(self.targets));
            add_leaf(table, leaf, self.targets);
        }
        for ty in compared {
            add_compare(table, &ty);
        }
    }

    fn members(&self, shape: &ObjectShape) -> Vec<Member> {
        let properties = shape
            .meaning
            .iter()
            .filter_map(|(name, field)| match field {
                Field::Property(id) => Some((name, &self.soml[*id])),
                _ => None,
            });
        let members = properties.map(|(name, property)| Member {
            name: name.clone(),
            description: text(field_description(property)),
            leaf: Leaf::of(property.range),
            key: self.key(property),
        });
        members.collect()
    }

    fn key(&self, property: &Property) -> Option<Name> {
        match property.range {
            Range::Scalar(_) | Range::Enum(_) => {
                Some(self.targets.range(property.range).ty.clone())
            }
            Range::Object(_) if !property.max.is_multiple() => Some(name!("ID")),
            Range::Object(_) | Range::Literal(_) => None,
        }
    }
}

/// Adds `T_Aggregate` and the types of its groups.
fn add_object(
    table: &mut TypeTable<'_>,
    origin: Origin,
    ty: &Name,
    members: &[Member],
    targets: &Targets,
) {
    let names = GroupNames::new(ty);
    let counted = |what: &str| {
        let description = text(&format!("Number of {what}"));
        field(
            &name!("count"),
            description,
            Vec::new(),
            required(&name!("Int")),
        )
    };
    let values = |member: &Member| {
        let ty = required(&member.leaf.names(targets).aggregate);
        field(&member.name, member.description.clone(), Vec::new(), ty)
    };
    let of_all = std::iter::once(counted("objects"))
        .chain(members.iter().map(values))
        .chain([names.groups_field()]);
    let key = field(
        &name!("key"),
        text("What the objects of the group have in common"),
        Vec::new(),
        required(&names.key),
    );
    let of_group = [key, counted("objects in the group")];
    let of_group = of_group.into_iter().chain(members.iter().map(values));
    let mut add = |name: Name, description: String, fields: Fields| {
        let none = IndexSet::default();
        table.add(origin, object_type(name, text(&description), none, fields));
    };
    add(
        aggregate_name(ty),
        format!("Counts, extremes, sums and groups of {ty}"),
        fields(of_all),
    );
    add(
        names.group.clone(),
        format!("{ty} with something in common"),
        fields(of_group),
    );
    let keys = group_keys(members);
    let key_fields = keys
        .iter()
        .map(|(name, (ty, description))| field(name, description.clone(), Vec::new(), named(ty)));
    add(
        names.key.clone(),
        format!("What a group of {ty} has in common"),
        fields(key_fields),
    );
    add_group_inputs(table, origin, &names, (&keys, members), targets);
}

/// Returns the properties that objects can be grouped by, with the type of each key.
fn group_keys(members: &[Member]) -> IndexMap<Name, (Name, Text)> {
    let ty = (name!("type"), (name!("ID"), text("Type")));
    let members = members.iter().filter_map(|member| {
        let key = (member.key.clone()?, member.description.clone());
        Some((member.name.clone(), key))
    });
    std::iter::once(ty).chain(members).collect()
}

/// Adds `T_GroupField`, `T_GroupKeyOrderBy`, `T_GroupOrderBy` and `T_GroupHaving`.
fn add_group_inputs(
    table: &mut TypeTable<'_>,
    origin: Origin,
    names: &GroupNames,
    (keys, members): (&IndexMap<Name, (Name, Text)>, &[Member]),
    targets: &Targets,
) {
    let ty = &names.of;
    let values = keys
        .iter()
        .map(|(name, (_, text))| (name.clone(), text.clone()));
    let description = text(&format!("What {ty} can be grouped by"));
    table.add(origin, enum_type(names.field.clone(), description, values));

    let order = name!("_OrderBy");
    let direction = |name: &Name| input(name, None, named(&order));
    let description = text(&format!("Order of groups of {ty} by their keys"));
    let by_key = keys.keys().map(direction);
    table.add(
        origin,
        input_type(names.key_order.clone(), description, by_key),
    );

    let by_values =
        |member: &Member| input(&member.name, None, named(&member.leaf.names(targets).order));
    let by = [
        input(&name!("key"), None, named(&names.key_order)),
        direction(&name!("count")),
    ];
    let description = text(&format!("Order of groups of {ty}"));
    let by = by.into_iter().chain(members.iter().map(by_values));
    table.add(origin, input_type(names.order.clone(), description, by));
    add_having(table, origin, names, members, targets);
}

/// Adds `T_GroupHaving`.
fn add_having(
    table: &mut TypeTable<'_>,
    origin: Origin,
    names: &GroupNames,
    members: &[Member],
    targets: &Targets,
) {
    let having = &names.having;
    let conditions = [
        input(&name!("AND"), text("All hold"), list_of_required(having)),
        input(&name!("OR"), text("Some hold"), list_of_required(having)),
        input(&name!("NOT"), text("Does not hold"), named(having)),
        input(
            &name!("count"),
            text("Number of objects"),
            named(&name!("Int_Compare")),
        ),
    ];
    let of_values = |member: &Member| {
        input(
            &member.name,
            None,
            named(&member.leaf.names(targets).having),
        )
    };
    let conditions = conditions.into_iter().chain(members.iter().map(of_values));
    let description = text(&format!("Conditions on groups of {}", names.of));
    table.add(origin, input_type(having.clone(), description, conditions));
}

/// The names of the types of the groups of an object type.
struct GroupNames {
    of: Name,
    group: Name,
    key: Name,
    field: Name,
    having: Name,
    order: Name,
    key_order: Name,
}

impl GroupNames {
    fn new(ty: &Name) -> Self {
        let named = |suffix: &str| Name::new_unchecked(&format!("{ty}_{suffix}"));
        GroupNames {
            of: ty.clone(),
            group: named("Group"),
            key: named("GroupKey"),
            field: named("GroupField"),
            having: named("GroupHaving"),
            order: named("GroupOrderBy"),
            key_order: named("GroupKeyOrderBy"),
        }
    }

    fn groups_field(&self) -> Component<Definition> {
        let by = Type::NonNullList(Box::new(required(&self.field)));
        let arguments = vec![
            input(
                &name!("by"),
                text("What objects of a group have in common"),
                by,
            ),
            input(
                &name!("having"),
                text("Only groups that satisfy it"),
                named(&self.having),
            ),
            input(
                &name!("orderBy"),
                text("By key without it"),
                named(&self.order),
            ),
            input(&name!("limit"), None, named(&name!("PositiveInteger"))),
            input(&name!("offset"), None, named(&name!("NonNegativeInteger"))),
        ];
        let ty = Type::NonNullList(Box::new(required(&self.group)));
        field(
            &name!("groups"),
            text("Objects by what they have in common"),
            arguments,
            ty,
        )
    }
}

/// Adds the aggregate of values, its conditions and its order.
fn add_leaf(table: &mut TypeTable<'_>, leaf: Leaf, targets: &Targets) {
    let names = leaf.names(targets);
    let types = leaf.measures(targets);
    let of = leaf
        .target(targets)
        .map_or("values", |target| target.ty.as_str());
    let measures = || MEASURES.iter().zip(&types);
    let measured = measures().map(|((name, description), ty)| {
        // Counts always have a value.
        let ty = if name.starts_with("count") {
            required(ty)
        } else {
            named(ty)
        };
        field(
            &Name::new_static_unchecked(name),
            text(description),
            Vec::new(),
            ty,
        )
    });
    let description = text(&format!("Counts, extremes and sums of {of}"));
    let none = IndexSet::default();
    let origin = Origin::BuiltIn;
    table.add(
        origin,
        object_type(names.aggregate, description, none, fields(measured)),
    );
    let conditions = measures().map(|((name, _), ty)| {
        let compare = Name::new_unchecked(&format!("{ty}_Compare"));
        input(&Name::new_static_unchecked(name), None, named(&compare))
    });
    let description = text(&format!("Conditions on aggregates of {of}"));
    table.add(origin, input_type(names.having, description, conditions));
    let order = name!("_OrderBy");
    let directions = measures()
        .map(|((name, _), _)| input(&Name::new_static_unchecked(name), None, named(&order)));
    let description = text(&format!("Order by aggregates of {of}"));
    table.add(origin, input_type(names.order, description, directions));
}

/// Adds `S_Compare`.
fn add_compare(table: &mut TypeTable<'_>, ty: &Name) {
    let single = [
        (name!("EQ"), "Equal to"),
        (name!("NEQ"), "Not equal to"),
        (name!("LT"), "Less than"),
        (name!("LTE"), "Less than or equal to"),
        (name!("GT"), "Greater than"),
        (name!("GTE"), "Greater than or equal to"),
    ];
    let single = single.map(|(name, description)| input(&name, text(description), named(ty)));
    let lists = [
        input(&name!("IN"), text("One of"), list_of_required(ty)),
        input(&name!("NIN"), text("None of"), list_of_required(ty)),
    ];
    let name = Name::new_unchecked(&format!("{ty}_Compare"));
    let description = text(&format!("Comparisons of an aggregate of type {ty}"));
    let keys = single.into_iter().chain(lists);
    table.add(Origin::BuiltIn, input_type(name, description, keys));
}
