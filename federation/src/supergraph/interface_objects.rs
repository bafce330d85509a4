//! Interface objects: what is an interface elsewhere is one object type in their subgraph, which adds fields
//! to all implementing types without knowing them.

use super::model::{TypeId, TypeJoin, TypeKind};
use super::read::Reader;

impl Reader<'_> {
    /// Lets the implementing types have what interface objects say of their interface.
    pub(super) fn interface_objects(&mut self) {
        for interface in (0..self.types.len()).map(TypeId::new) {
            for position in 0..self.types[interface.index()].joins.len() {
                if self.types[interface.index()].joins[position].is_interface_object {
                    self.interface_object(interface, position);
                }
            }
        }
    }

    fn interface_object(&mut self, interface: TypeId, position: usize) {
        let ty = &self.types[interface.index()];
        let span = self.schema.types[&ty.name].location();
        if ty.kind != TypeKind::Interface {
            let message = format!("`{}` is an interface object, and no interface", ty.name);
            return self.wrong(message, span);
        }
        let (possible, join) = (ty.possible.clone(), &ty.joins[position]);
        let (subgraph, keys) = (join.subgraph, join.keys.clone());
        for object in &possible {
            let known = &mut self.types[object.index()];
            if known.join(subgraph).is_some() {
                let message = format!(
                    "the subgraph `{}` has `{}` as an object of the interface `{}`, and knows `{}` beside it",
                    self.subgraphs[subgraph.index()].name,
                    self.types[interface.index()].name,
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
