//! Aggregates: a field beside each list that counts, compares and adds up what the list holds.
//!
//! `T_Aggregate` belongs to a list of objects of type `T`; its groups have a key, and conditions and
//! an order of their own. `S_Aggregate` belongs to the values of a scalar or an enumeration, and
//! `_Counts` to values that have no order.

use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::schema::Type;
use apollo_compiler::{Name, name};
use soml_core::Finding;
use soml_core::datatype::Scalar;
use soml_core::schema::{EnumId, ObjectId, Property, PropertyId, Range, Schema};

use super::api::Field;
use super::arguments::{Arguments, described};
use super::error::ProblemKind;
use super::fields::{ObjectShape, field_description};
use super::nodes::{
    Argument, FieldNode, Member, Text, enum_type, enum_value, field, input, input_type,
    list_of_required, named, object_type, required, text,
};
use super::origin::{Origin, Source};
use super::setting::Setting;
use super::table::TypeTable;
use super::targets::{Target, Targets};

/// The arguments of a list that an aggregate does without.
const LIST_ARGUMENTS: [&str; 3] = ["orderBy", "limit", "offset"];

/// Fields of aggregates and groups beside those of properties (docs/schema.md, "The API").
const OWN_FIELDS: [&str; 3] = ["count", "groups", "key"];

/// Names that no value of an enumeration can have
/// (<https://spec.graphql.org/September2025/#EnumValue>).
const NO_ENUM_VALUES: [&str; 3] = ["true", "false", "null"];

/// The measures of values, with what each is (docs/queries.md, "Aggregates").
const MEASURES: [(&str, &str); 6] = [
    (
        "count",
        "Number of values; equal values of one object count once",
    ),
    ("countDistinct", "Number of distinct values"),
    ("min", "The smallest value"),
    ("max", "The greatest value"),
    ("sum", "The sum of the values"),
    ("avg", "The average of the values"),
];

/// Returns `<list>_aggregate` beside a root field.
pub(super) fn root_field(list: &FieldDefinition, target: &Target) -> FieldNode {
    let arguments = list
        .arguments
        .iter()
        .filter(|a| !LIST_ARGUMENTS.contains(&a.name.as_str()));
    let name = Name::new_unchecked(&format!("{}_aggregate", list.name));
    let description = text(&format!(
        "Counts, extremes, sums and groups of {}",
        list.name
    ));
    let ty = named(&aggregate_name(&target.ty));
    field(&name, description, arguments.map(described).collect(), ty)
}

/// Returns `<property>_aggregate` beside the list field of a property.
pub(super) fn list_field(property: &Property, name: &Name, targets: &Targets) -> FieldNode {
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
        arguments.push(described(&args.lang));
    }
    arguments
}

/// Reports a property whose field in aggregates has another meaning.
pub(super) fn check(property: &Property) -> Option<Finding> {
    let name = property.name.graphql.as_str();
    let problem = if OWN_FIELDS.contains(&name) {
        let message = format!(
            "property `{}` gives the field `{name}` of aggregates, which they have themselves",
            property.name
        );
        ProblemKind::FieldNameTaken.at(Some(property.span), message)
    } else if NO_ENUM_VALUES.contains(&name) {
        let message = format!("`{}` cannot be a value of `GroupField`", property.name);
        ProblemKind::NameInvalid.at(Some(property.span), message)
    } else {
        return None;
    };
    Some(problem.with_help(
        "rename it and give its old IRI with `rdfProp`, or switch `enableAggregates` off",
    ))
}

/// Values whose aggregates have the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Leaf {
    /// What has no order: objects, ids and literals.
    Counted,
    Scalar(Scalar),
    Enum(EnumId),
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
            Range::Enum(id) => Leaf::Enum(id),
        }
    }

    fn target(self, targets: &Targets) -> Option<&Target> {
        match self {
            Leaf::Counted => None,
            Leaf::Scalar(scalar) => Some(targets.scalar(scalar)),
            Leaf::Enum(id) => Some(targets.range(Range::Enum(id))),
        }
    }

    fn source(self) -> Source {
        match self {
            Leaf::Counted | Leaf::Scalar(_) => Source::BuiltIn,
            Leaf::Enum(id) => Source::Enum(id),
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

/// Returns the scalars of sums and of averages of numbers; `None` for a scalar that is no number.
/// They are those of SPARQL's `SUM` and `AVG`
/// (<https://www.w3.org/TR/sparql11-query/#defn_aggAvg>), wide enough for sums of narrower types
/// (docs/queries.md, "Aggregates").
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
struct Aggregated {
    origin: Origin,
    name: Name,
    description: Text,
    /// The names of the types of its values' aggregates.
    types: LeafNames,
    leaf: Leaf,
    /// Type of the key when objects can be grouped by the property.
    key: Option<Name>,
}

impl Aggregated {
    /// Returns a field of the property.
    fn field(&self, ty: Type) -> Member<FieldNode> {
        let field = field(&self.name, self.description.clone(), Vec::new(), ty);
        Member::of(self.origin, field)
    }

    /// Returns an input field of the property.
    fn input(&self, ty: &Name) -> Member<Argument> {
        let input = input(&self.name, self.description.clone(), named(ty));
        Member::of(self.origin, input)
    }
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
        let any = ObjectAggregate::new(Source::BuiltIn, &self.targets.any_object.ty, Vec::new());
        any.add(table);
        for (position, shape) in (0u32..).zip(self.shapes) {
            let id = ObjectId(position);
            let properties = self.properties(shape);
            leaves.extend(properties.iter().map(|property| property.leaf));
            let ty = &self.targets.object_range(id).ty;
            ObjectAggregate::new(Source::Object(id), ty, properties).add(table);
        }
        let mut compared: IndexMap<Name, Source> = IndexMap::default();
        compared.insert(name!("Int"), Source::BuiltIn);
        for leaf in leaves {
            // `Int` is there already, so what an enumeration adds are comparisons of its values.
            for ty in leaf.measures(self.targets) {
                compared.entry(ty).or_insert(leaf.source());
            }
            add_leaf(table, leaf, self.targets);
        }
        for (ty, source) in compared {
            add_compare(table, source, &ty);
        }
    }

    fn properties(&self, shape: &ObjectShape) -> Vec<Aggregated> {
        let properties = shape
            .meaning
            .iter()
            .filter_map(|(name, field)| match field {
                Field::Property(id) => Some((name, *id)),
                _ => None,
            });
        properties
            .map(|(name, id)| self.property(name, id))
            .collect()
    }

    fn property(&self, name: &Name, id: PropertyId) -> Aggregated {
        let property = &self.soml[id];
        let leaf = Leaf::of(property.range);
        Aggregated {
            origin: Origin::of(Source::Property(id)),
            name: name.clone(),
            description: text(field_description(property)),
            types: leaf.names(self.targets),
            leaf,
            key: self.key(property),
        }
    }

    fn key(&self, property: &Property) -> Option<Name> {
        match property.range {
            Range::Scalar(_) | Range::Enum(_) => {
                Some(self.targets.range(property.range).ty.clone())
            }
            // Groups are by scalars, enumerations and single objects (docs/queries.md,
            // "Aggregates").
            Range::Object(_) if !property.max.is_multiple() => Some(name!("ID")),
            Range::Object(_) | Range::Literal(_) => None,
        }
    }
}

/// The aggregate of a list of objects, and its groups.
struct ObjectAggregate {
    origin: Origin,
    names: GroupNames,
    properties: Vec<Aggregated>,
}

/// What objects can be grouped by.
struct GroupKey {
    origin: Option<Origin>,
    name: Name,
    description: Text,
    ty: Name,
}

impl GroupKey {
    fn member<T>(&self, node: T) -> Member<T> {
        match self.origin {
            Some(origin) => Member::of(origin, node),
            None => Member::from(node),
        }
    }
}

impl ObjectAggregate {
    fn new(source: Source, ty: &Name, properties: Vec<Aggregated>) -> Self {
        ObjectAggregate {
            origin: Origin::of(source).under(Setting::Aggregates),
            names: GroupNames::new(ty),
            properties,
        }
    }

    /// Adds `T_Aggregate` and the types of its groups.
    fn add(&self, table: &mut TypeTable<'_>) {
        self.add_aggregate(table);
        self.add_group(table);
        let keys = self.keys();
        self.add_keys(table, &keys);
        self.add_order(table, &keys);
        self.add_having(table);
    }

    fn add_aggregate(&self, table: &mut TypeTable<'_>) {
        let ty = &self.names.of;
        let own = [counted("objects"), self.names.groups_field()].map(Member::from);
        let [count, groups] = own;
        let fields = std::iter::once(count).chain(self.values()).chain([groups]);
        let description = text(&format!("Counts, extremes, sums and groups of {ty}"));
        let none = IndexSet::default();
        let name = aggregate_name(ty);
        table.add(self.origin, object_type(name, description, none, fields));
    }

    /// Adds `T_Group`.
    fn add_group(&self, table: &mut TypeTable<'_>) {
        let key = field(
            &name!("key"),
            text("What the objects of the group have in common"),
            Vec::new(),
            required(&self.names.key),
        );
        let own = [key, counted("objects in the group")].map(Member::from);
        let fields = own.into_iter().chain(self.values());
        let description = text(&format!("{} with something in common", self.names.of));
        let none = IndexSet::default();
        let name = self.names.group.clone();
        table.add(self.origin, object_type(name, description, none, fields));
    }

    /// Returns the aggregate of each property.
    fn values(&self) -> impl Iterator<Item = Member<FieldNode>> {
        let properties = self.properties.iter();
        properties.map(|property| property.field(required(&property.types.aggregate)))
    }

    /// Returns what objects can be grouped by.
    fn keys(&self) -> Vec<GroupKey> {
        let ty = GroupKey {
            origin: None,
            name: name!("type"),
            description: text("Type"),
            ty: name!("ID"),
        };
        let properties = self.properties.iter().filter_map(|property| {
            Some(GroupKey {
                origin: Some(property.origin),
                name: property.name.clone(),
                description: property.description.clone(),
                ty: property.key.clone()?,
            })
        });
        std::iter::once(ty).chain(properties).collect()
    }

    /// Adds `T_GroupKey` and `T_GroupField`.
    fn add_keys(&self, table: &mut TypeTable<'_>, keys: &[GroupKey]) {
        let ty = &self.names.of;
        let fields = keys.iter().map(|key| {
            let description = key.description.clone();
            key.member(field(&key.name, description, Vec::new(), named(&key.ty)))
        });
        let description = text(&format!("What a group of {ty} has in common"));
        let none = IndexSet::default();
        let name = self.names.key.clone();
        table.add(self.origin, object_type(name, description, none, fields));

        let values = keys
            .iter()
            .map(|key| key.member(enum_value(&key.name, key.description.clone())));
        let description = text(&format!("What {ty} can be grouped by"));
        let name = self.names.field.clone();
        table.add(self.origin, enum_type(name, description, values));
    }

    /// Adds `T_GroupKeyOrderBy` and `T_GroupOrderBy`.
    fn add_order(&self, table: &mut TypeTable<'_>, keys: &[GroupKey]) {
        let ty = &self.names.of;
        let direction =
            |name: &Name, description: Text| input(name, description, named(&name!("_OrderBy")));
        let by_key = keys
            .iter()
            .map(|key| key.member(direction(&key.name, key.description.clone())));
        let description = text(&format!("Order of groups of {ty} by their keys"));
        let name = self.names.key_order.clone();
        table.add(self.origin, input_type(name, description, by_key));

        let own = [
            input(
                &name!("key"),
                text("What the objects of a group have in common"),
                named(&self.names.key_order),
            ),
            direction(&name!("count"), text("Number of objects")),
        ];
        let properties = self.properties.iter();
        let by_values = properties.map(|property| property.input(&property.types.order));
        let by = own.map(Member::from).into_iter().chain(by_values);
        let description = text(&format!("Order of groups of {ty}"));
        let name = self.names.order.clone();
        table.add(self.origin, input_type(name, description, by));
    }

    /// Adds `T_GroupHaving`.
    fn add_having(&self, table: &mut TypeTable<'_>) {
        let having = &self.names.having;
        let own = [
            input(&name!("AND"), text("All hold"), list_of_required(having)),
            input(&name!("OR"), text("Some hold"), list_of_required(having)),
            input(&name!("NOT"), text("Does not hold"), named(having)),
            input(
                &name!("count"),
                text("Number of objects"),
                named(&name!("Int_Compare")),
            ),
        ];
        let properties = self.properties.iter();
        let of_values = properties.map(|property| property.input(&property.types.having));
        let conditions = own.map(Member::from).into_iter().chain(of_values);
        let description = text(&format!("Conditions on groups of {}", self.names.of));
        table.add(
            self.origin,
            input_type(having.clone(), description, conditions),
        );
    }
}

/// Returns field `count`.
fn counted(what: &str) -> FieldNode {
    let description = text(&format!("Number of {what}"));
    let ty = required(&name!("Int"));
    field(&name!("count"), description, Vec::new(), ty)
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

    fn groups_field(&self) -> FieldNode {
        let by = Type::NonNullList(Box::new(required(&self.field)));
        let (limit, offset) = (name!("PositiveInteger"), name!("NonNegativeInteger"));
        let arguments = vec![
            input(&name!("by"), text("What objects are grouped by"), by),
            input(
                &name!("having"),
                text("Only groups that satisfy these conditions"),
                named(&self.having),
            ),
            input(
                &name!("orderBy"),
                text("By key without it"),
                named(&self.order),
            ),
            described(&input(&name!("limit"), None, named(&limit))),
            described(&input(&name!("offset"), None, named(&offset))),
        ];
        let ty = Type::NonNullList(Box::new(required(&self.group)));
        field(
            &name!("groups"),
            text("Objects grouped by common values"),
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
        let name = Name::new_static_unchecked(name);
        field(&name, text(description), Vec::new(), ty)
    });
    let description = text(&format!("Counts, extremes and sums of {of}"));
    let none = IndexSet::default();
    let origin = Origin::of(leaf.source()).under(Setting::Aggregates);
    table.add(
        origin,
        object_type(names.aggregate, description, none, measured),
    );
    let conditions = measures().map(|((name, description), ty)| {
        let compare = named(&Name::new_unchecked(&format!("{ty}_Compare")));
        input(
            &Name::new_static_unchecked(name),
            text(description),
            compare,
        )
    });
    let description = text(&format!("Conditions on aggregates of {of}"));
    table.add(origin, input_type(names.having, description, conditions));
    let order = name!("_OrderBy");
    let directions = measures().map(|((name, description), _)| {
        let name = Name::new_static_unchecked(name);
        input(&name, text(description), named(&order))
    });
    let description = text(&format!("Order by aggregates of {of}"));
    table.add(origin, input_type(names.order, description, directions));
}

/// Adds `S_Compare`.
fn add_compare(table: &mut TypeTable<'_>, source: Source, ty: &Name) {
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
    let origin = Origin::of(source).under(Setting::Aggregates);
    table.add(origin, input_type(name, description, keys));
}
