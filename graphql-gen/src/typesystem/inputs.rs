//! The filter and order inputs of objects.

use apollo_compiler::{Name, Node, name};
use soml_core::datatype::Scalar;
use soml_core::schema::ObjectId;

use super::hierarchy::index;
use super::leaf::{describe, quantifiers};
use super::nodes::{Argument, Member, Text, input, input_type, list_of_required, text};
use super::origin::{Origin, Source};
use super::table::TypeTable;
use super::targets::{Target, Targets};

/// Keys that the filters of all objects share.
pub(super) struct CommonKeys {
    id: Argument,
    ty: Argument,
    name: Argument,
    ids: Argument,
    order: [Argument; 3],
    /// `_ifX` for the filters of each concrete object.
    narrow: Vec<Option<Narrowing>>,
}

/// The key of a filter that holds for the instances of one object alone.
struct Narrowing {
    single: Argument,
    multi: Argument,
}

/// What the filters of a type are made from.
pub(super) struct Filter<'a> {
    pub(super) origin: Origin,
    pub(super) target: &'a Target,
    pub(super) built_in: BuiltInKeys,
    /// A key for each property.
    pub(super) properties: &'a [Member<Argument>],
    /// The objects with an `_ifX` key.
    pub(super) narrowed: &'a [ObjectId],
}

/// The two filters of a type: that of one value and that of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Single,
    Multi,
}

/// Which of the built-in keys a filter has.
#[derive(Clone, Copy)]
pub(super) struct BuiltInKeys {
    pub(super) object: bool,
    pub(super) name: bool,
}

impl CommonKeys {
    pub(super) fn new(targets: &Targets, objects: usize) -> Self {
        let iri = targets.scalar(Scalar::Iri);
        let string = targets.scalar(Scalar::String);
        let order = |key| input(key, None, targets.scalar(Scalar::String).order_by.clone());
        // `_if<Type>` (docs/queries.md, "Filters").
        let narrow = (0u32..)
            .map(ObjectId)
            .take(objects)
            .map(|id| {
                let target = targets.object(id).concrete.as_ref()?;
                let key = Name::new_unchecked(&format!("_if{}", target.ty));
                Some(Narrowing {
                    single: input(&key, None, target.where_single.clone()),
                    multi: input(&key, None, target.where_multi.clone()),
                })
            })
            .collect();
        CommonKeys {
            id: input(
                &name!("id"),
                text("id comparisons"),
                iri.where_single.clone(),
            ),
            ty: input(
                &name!("type"),
                text("type comparisons"),
                iri.where_multi.clone(),
            ),
            name: input(
                &name!("name"),
                text("name comparisons"),
                string.where_single.clone(),
            ),
            ids: input(&name!("ID"), text("Check by id"), list_of_required(&iri.ty)),
            order: [
                order(&name!("_typename")),
                order(&name!("id")),
                order(&name!("name")),
            ],
            narrow,
        }
    }

    /// Adds `T_Where` and `T_Where_Multi`.
    pub(super) fn add_where(&self, table: &mut TypeTable<'_>, filter: &Filter<'_>) {
        let operators = Operators::new(&filter.target.ty);
        for number in [Number::Single, Number::Multi] {
            self.add_filter(table, filter, &operators, number);
        }
    }

    fn add_filter(
        &self,
        table: &mut TypeTable<'_>,
        filter: &Filter<'_>,
        operators: &Operators,
        number: Number,
    ) {
        let ty = &filter.target.ty;
        let (own, word) = match number {
            Number::Single => (&filter.target.where_single, "single"),
            Number::Multi => (&filter.target.where_multi, "multi"),
        };
        let each = Node::new(list_of_required(own.inner_named_type()));
        let expected = filter.properties.len() + filter.narrowed.len() + 9;
        let mut keys: Vec<Member<Argument>> = Vec::with_capacity(expected);
        keys.extend([
            input(&name!("AND"), operators.and.clone(), each.clone()).into(),
            input(&name!("OR"), operators.or.clone(), each).into(),
            // Filters of scalars have no `NOT`: their operators are negated one by one, as in
            // `NEQ`.
            input(&name!("NOT"), operators.not.clone(), own.clone()).into(),
        ]);
        if filter.built_in.object {
            keys.extend([self.id.clone().into(), self.ty.clone().into()]);
        }
        if filter.built_in.name {
            keys.push(Member::of(filter.origin.of_name(), self.name.clone()));
        }
        keys.extend_from_slice(filter.properties);
        keys.push(self.ids.clone().into());
        // A single value is itself all values (docs/queries.md, "Filters").
        if number == Number::Multi {
            keys.extend(quantifiers(ty, own).map(Member::from));
        }
        for &id in filter.narrowed {
            if let Some(key) = &self.narrow[index(id)] {
                let key = match number {
                    Number::Single => &key.single,
                    Number::Multi => &key.multi,
                };
                keys.push(Member::of(Origin::of(Source::Object(id)), key.clone()));
            }
        }
        let description = text(&format!("{ty} comparisons for {word}-value fields"));
        let name = own.inner_named_type().clone();
        table.add(filter.origin, input_type(name, description, keys));
    }

    /// Adds `T_OrderBy`.
    pub(super) fn add_order(
        &self,
        table: &mut TypeTable<'_>,
        origin: Origin,
        target: &Target,
        nameable: bool,
        properties: &[Member<Argument>],
    ) {
        let [typename, id, name] = self.order.clone();
        let name = nameable.then(|| Member::of(origin.of_name(), name));
        let built_in = [typename, id].map(Member::from);
        let properties = properties.iter().cloned();
        let keys = built_in.into_iter().chain(name).chain(properties);
        let description = describe_order(target);
        table.add(
            origin,
            input_type(target.order_name().clone(), description, keys),
        );
    }
}

/// What the operators of the filters of a type say about themselves.
struct Operators {
    and: Text,
    or: Text,
    not: Text,
}

impl Operators {
    fn new(ty: &Name) -> Self {
        let describe = |operator| describe(operator, ty, " comparisons");
        Operators {
            and: describe("Conjunction of"),
            or: describe("Disjunction of"),
            not: describe("Negation of"),
        }
    }
}

fn describe_order(target: &Target) -> Text {
    text(&format!("{} ordering fields", target.ty))
}
