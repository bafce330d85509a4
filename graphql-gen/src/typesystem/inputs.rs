//! The filter and order inputs of objects.

use apollo_compiler::{Name, Node, name};
use soml_core::datatype::Scalar;
use soml_core::schema::ObjectId;

use super::leaf::{describe, quantifiers};
use super::nodes::{Argument, Text, input, input_type, list_of_required, text};
use super::table::{Origin, TypeTable};
use super::targets::{Target, Targets};

/// Keys that the filters of all objects share.
pub(super) struct CommonKeys {
    id: Argument,
    ty: Argument,
    name: Argument,
    ids: Argument,
    order: [Argument; 3],
    /// `_ifX` for the two filters of each concrete object.
    narrow: Vec<Option<[Argument; 2]>>,
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
        let narrow = (0u32..)
            .map(ObjectId)
            .take(objects)
            .map(|id| {
                let target = targets.object(id).concrete.as_ref()?;
                let key = Name::new_unchecked(&format!("_if{}", target.ty));
                Some([
                    input(&key, None, target.where_single.clone()),
                    input(&key, None, target.where_multi.clone()),
                ])
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

    /// Adds `T_Where` and `T_Where_Multi`; `narrowed` are the objects with an `_ifX` key.
    pub(super) fn add_where(
        &self,
        table: &mut TypeTable<'_>,
        origin: Origin,
        target: &Target,
        built_in: BuiltInKeys,
        properties: &[Argument],
        narrowed: &[ObjectId],
    ) {
        let ty = &target.ty;
        let operators: [Text; 3] = ["Conjunction of", "Disjunction of", "Negation of"]
            .map(|op| describe(op, ty, " comparisons"));
        for (which, own) in [&target.where_single, &target.where_multi]
            .into_iter()
            .enumerate()
        {
            let [and, or, not] = operators.clone();
            let each = Node::new(list_of_required(own.inner_named_type()));
            let mut keys = Vec::with_capacity(properties.len() + narrowed.len() + 9);
            keys.push(input(&name!("AND"), and, each.clone()));
            keys.push(input(&name!("OR"), or, each));
            keys.push(input(&name!("NOT"), not, own.clone()));
            if built_in.object {
                keys.push(self.id.clone());
                keys.push(self.ty.clone());
            }
            if built_in.name {
                keys.push(self.name.clone());
            }
            keys.extend(properties.iter().cloned());
            keys.push(self.ids.clone());
            if which == 1 {
                keys.extend(quantifiers(ty, own));
            }
            keys.extend(narrowed.iter().filter_map(|id| {
                self.narrow[id.0 as usize]
                    .as_ref()
                    .map(|forms| forms[which].clone())
            }));
            let number = ["single", "multi"][which];
            let description = text(&format!("{ty} comparisons for {number}-value fields"));
            table.add(
                origin,
                input_type(own.inner_named_type().clone(), description, keys),
            );
        }
    }

    /// Adds `T_OrderBy`.
    pub(super) fn add_order(
        &self,
        table: &mut TypeTable<'_>,
        origin: Origin,
        target: &Target,
        nameable: bool,
        properties: &[Argument],
    ) {
        let built_in = if nameable { 3 } else { 2 };
        let keys = self.order[..built_in].iter().chain(properties).cloned();
        let description = describe_order(target);
        table.add(
            origin,
            input_type(target.order_name().clone(), description, keys),
        );
    }
}

fn describe_order(target: &Target) -> Text {
    text(&format!("{} ordering fields", target.ty))
}
