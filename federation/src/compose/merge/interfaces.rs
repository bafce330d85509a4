//! Interfaces that subgraphs resolve by a key, or have as objects.

use apollo_compiler::Name;
use apollo_compiler::schema::ExtendedType;

use super::Merge;
use crate::compose::code::CompositionCode;

impl Merge<'_> {
    /// A subgraph that resolves an interface by a key knows all of its implementations; one that has it as an object
    /// knows none.
    pub(super) fn check_interfaces(&mut self) {
        for at in 0..self.subgraphs.len() {
            let types = self.subgraphs[at].schema.types.values();
            for ty in types {
                if ty.is_interface() {
                    self.check_implementations(at, ty);
                } else if ty.directives().has("federation__interfaceObject") {
                    self.check_object(at, ty);
                }
            }
        }
    }

    /// Returns the object types that implement an interface in any subgraph.
    fn implementations(&self, interface: &Name) -> Vec<Name> {
        let known = self.relations.subtypes.get(interface).into_iter().flatten();
        let is_object = |name: &&Name| {
            self.subgraphs
                .iter()
                .any(|subgraph| subgraph.schema.get_object(name).is_some())
        };
        let mut found: Vec<Name> = known.filter(is_object).cloned().collect();
        found.sort();
        found
    }

    /// Reports implementations that a subgraph with a resolvable key of an interface lacks: it is
    /// asked for the type of any object of the interface.
    fn check_implementations(&mut self, at: usize, interface: &ExtendedType) {
        let name = interface.name();
        let Some(key) = self.facts[at]
            .keys(name)
            .iter()
            .find(|key| key.is_resolvable)
        else {
            return;
        };
        let subgraph = &self.subgraphs[at];
        let is_known = |object: &Name| {
            let known = subgraph.schema.get_object(object);
            known.is_some_and(|object| object.implements_interfaces.contains(name.as_str()))
        };
        let missing = self
            .implementations(name)
            .into_iter()
            .filter(|object| !is_known(object));
        let missing: Vec<_> = missing.map(|object| format!("`{object}`")).collect();
        if missing.is_empty() {
            return;
        }
        let message = format!(
            "`{}` resolves the interface `{name}` by the key `{}`, but lacks its implementations {}",
            subgraph.name,
            key.fields,
            missing.join(", ")
        );
        let place = vec![self.place(at, key.directive.location())];
        let code = CompositionCode::INTERFACE_KEY_MISSING_IMPLEMENTATION_TYPE;
        self.report(code, name.as_str(), place, message);
    }

    /// Reports implementations beside an interface object, which stands for all of them.
    fn check_object(&mut self, at: usize, ty: &ExtendedType) {
        let (name, subgraph) = (ty.name(), &self.subgraphs[at]);
        let known = self
            .implementations(name)
            .into_iter()
            .filter(|object| subgraph.schema.types.contains_key(object));
        let known: Vec<_> = known.map(|object| format!("`{object}`")).collect();
        if known.is_empty() {
            return;
        }
        let message = format!(
            "`{}` has the interface `{name}` as an object, but also has its implementations {}",
            subgraph.name,
            known.join(", ")
        );
        let place = vec![self.place(at, ty.location())];
        self.report(
            CompositionCode::INTERFACE_OBJECT_USAGE_ERROR,
            name.as_str(),
            place,
            message,
        );
    }
}
