//! What a document must satisfy beyond its form.
//!
//! One file per group of rules. Rules about what is written look at every entry once; rules about what
//! it means look at each object's own properties, so that nothing is reported again for subclasses.

mod inheritance;
mod inverses;
mod iris;
mod names;
mod objects;
mod properties;
mod rbac;
mod types;

use std::collections::HashSet;

use crate::codes::Code;
use crate::diagnostic::{Findings, Found, shorten};
use crate::raw::{RawSchema, Text};
use crate::resolve::{Resolved, Scope, Slot};
use crate::schema::{LiteralRange, ObjectId, Property, PropertyId, Range, Schema};
use crate::span::Span;

/// Reports everything that is wrong with a resolved document.
pub(crate) fn check(raw: &RawSchema<'_>, resolved: &Resolved<'_>, findings: &mut Findings) {
    let mut cx = Cx {
        raw,
        resolved,
        globals: raw
            .properties
            .iter()
            .map(|p| resolved.scope.names.key(p.name.value))
            .collect(),
        findings,
    };
    iris::check(&mut cx);
    types::check(&mut cx);
    names::check(&mut cx);
    objects::check(&mut cx);
    properties::check(&mut cx);
    inverses::check(&mut cx);
    inheritance::check(&mut cx);
    rbac::check(&mut cx);
}

/// What every rule works with.
struct Cx<'c, 'd> {
    raw: &'c RawSchema<'d>,
    resolved: &'c Resolved<'d>,
    /// Keys of the global properties.
    globals: HashSet<&'d str>,
    findings: &'c mut Findings,
}

impl<'c, 'd> Cx<'c, 'd> {
    fn add(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Found {
        self.findings.add(code, span, message)
    }

    fn scope(&self) -> &'c Scope {
        &self.resolved.scope
    }

    fn schema(&self) -> &'c Schema {
        &self.resolved.schema
    }

    /// Returns the properties for which the objects themselves have entries.
    fn own_properties(&self) -> Vec<Own<'c, 'd>> {
        let schema = self.schema();
        let mut all = Vec::new();
        for (object, slots) in self.resolved.slots.iter().enumerate() {
            let object = ObjectId::at(object);
            for (at, (key, slot)) in slots.iter().enumerate() {
                // What an object only inherits is reported once, where it is written.
                if slot.own {
                    let id = schema[object].props[at];
                    all.push(Own {
                        object,
                        key,
                        slot,
                        id,
                        property: &schema[id],
                    });
                }
            }
        }
        all
    }

    /// Returns how users know a range.
    fn range_name(&self, range: Range) -> &'c str {
        let schema = self.schema();
        match range {
            Range::Scalar(scalar) => scalar.soml_name(),
            Range::Enum(id) => &schema[id].name.written,
            Range::Object(id) => &schema[id].name.written,
            Range::Literal(LiteralRange::Union(id)) => &schema[id].name.written,
            Range::Literal(literal) => crate::resolve::LITERALS
                .iter()
                .find(|(_, known)| *known == literal)
                .map_or("literal", |(name, _)| name),
        }
    }

    /// Returns `Object.property`.
    fn full_name(&self, property: PropertyId) -> String {
        let property = &self.schema()[property];
        format!("{}.{}", self.schema()[property.owner].name, property.name)
    }

    fn is_check_on(&self, check: &str) -> bool {
        !self.raw.config.disabled_checks.iter().any(|c| c == check)
    }
}

/// A property for which an object has an entry itself.
#[derive(Clone, Copy)]
struct Own<'c, 'd> {
    object: ObjectId,
    key: &'c str,
    slot: &'c Slot<'d>,
    id: PropertyId,
    property: &'c Property,
}

/// Returns a text for a message, cut when it is long.
fn quoted(text: Text<'_>) -> String {
    format!("`{}`", shorten(text.value))
}
