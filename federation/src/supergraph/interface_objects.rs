//! Interface objects: what is an interface elsewhere is one object type in their subgraph, which adds fields
//! to all implementing types without knowing them.

use super::join;
use super::model::{SubgraphId, TypeId, TypeJoin, TypeKind};
use super::read::Reader;
use crate::code;

impl Reader<'_> {
    /// Lets the implementing types have what interface objects say of their interface.
    pub(super) fn interface_objects(&mut self) {
        for interface in (0..self.types.len()).map(TypeId::new) {
            let mut is_object = false;
            for position in 0..self.types[interface.index()].joins.len() {
                if self.types[interface.index()].joins[position].is_interface_object {
                    self.implemented(interface, position);
                    self.interface_object(interface, position);
                    is_object = true;
                }
            }
            if is_object {
                self.stand_for_itself(interface);
            }
        }
    }

    /// Lets an interface be one of its own possible types where clients may see no other: what is known of its
    /// objects without their types is shown all the same.
    fn stand_for_itself(&mut self, interface: TypeId) {
        let mut objects = self.types[interface.index()].possible.iter();
        if objects.any(|object| self.types[object.index()].is_accessible) {
            return;
        }
        let ty = &mut self.types[interface.index()];
        let joins = ty.joins.iter_mut().map(|join| &mut join.possible);
        for possible in joins.chain([&mut ty.possible]) {
            possible.push(interface);
            possible.sort_unstable();
        }
    }

    /// Refuses an interface object that is met as an object of another interface: its subgraph would answer a type
    /// that is none.
    fn implemented(&mut self, interface: TypeId, position: usize) {
        let ty = &self.types[interface.index()];
        let subgraph = ty.joins[position].subgraph;
        let mut met = Vec::new();
        for directive in self.schema.types[&ty.name]
            .directives()
            .get_all("join__implements")
        {
            let graph = join::graph(directive).and_then(|graph| self.graphs.get(graph));
            let other = join::text(directive, "interface").and_then(|name| self.by_name.get(name));
            if let (Some(other), true) = (other, graph == Some(&subgraph))
                && let Some(where_met) = self.met(*other, subgraph)
            {
                met.push((*other, where_met, directive.location()));
            }
        }
        for (other, where_met, span) in met {
            let (name, other) = (
                &self.types[interface.index()].name,
                &self.types[other.index()].name,
            );
            let message = format!(
                "the interface object `{name}` implements `{other}` in the subgraph `{}`, where {where_met}; this is not supported",
                self.subgraphs[subgraph.index()].name
            );
            self.refuse(code::UNSUPPORTED_FEATURE, message, span);
        }
    }

    /// Returns where a subgraph answers objects of an interface, if it does.
    fn met(&self, interface: TypeId, subgraph: SubgraphId) -> Option<String> {
        let ty = &self.types[interface.index()];
        if ty.join(subgraph).is_some_and(|join| !join.keys.is_empty()) {
            return Some(format!("`{}` has a key", ty.name));
        }
        let mut fields = self.fields.iter();
        let leads = fields.find(|field| {
            let join = field.join(subgraph);
            join.is_some_and(|join| *join.ty.inner_named_type() == ty.name)
        })?;
        let parent = &self.types[leads.parent.index()].name;
        Some(format!("`{parent}.{}` leads to it", leads.name))
    }

    fn interface_object(&mut self, interface: TypeId, position: usize) {
        let ty = &self.types[interface.index()];
        let span = self.schema.types[&ty.name].location();
        if ty.kind != TypeKind::Interface {
            let message = format!("`{}` is an interface object, but not an interface", ty.name);
            return self.wrong(message, span);
        }
        let (possible, join) = (ty.possible.clone(), &ty.joins[position]);
        let (subgraph, keys) = (join.subgraph, join.keys.clone());
        for object in &possible {
            let known = &mut self.types[object.index()];
            if known.join(subgraph).is_some() {
                let message = format!(
                    "the subgraph `{}` has the interface object `{}`, but also its implementation `{}`",
                    self.subgraphs[subgraph.index()].name,
                    self.types[interface.index()].name,
                    self.types[object.index()].name
                );
                return self.wrong(message, span);
            }
            known.joins.push(TypeJoin {
                subgraph,
                keys: keys.clone(),
                possible: vec![*object],
                is_interface_object: false,
                interface: Some(interface),
            });
            known.joins.sort_by_key(|join| join.subgraph);
            self.lend_fields(interface, *object, position);
        }
        self.types[interface.index()].joins[position].possible = possible;
    }

    /// Adds what an interface object resolves to the fields of an implementing type.
    fn lend_fields(&mut self, interface: TypeId, object: TypeId, position: usize) {
        let interface = &self.types[interface.index()];
        let subgraph = interface.joins[position].subgraph;
        for (name, field) in &interface.fields {
            let lent = self.fields[field.index()].join(subgraph).cloned();
            let own = self.types[object.index()].fields.get(name);
            if let (Some(lent), Some(own)) = (lent, own) {
                let own = &mut self.fields[own.index()];
                if own.join(subgraph).is_none() {
                    own.joins.push(lent);
                    own.joins.sort_by_key(|join| join.subgraph);
                }
            }
        }
    }
}
