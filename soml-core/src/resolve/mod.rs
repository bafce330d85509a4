//! From what is written to what it means: names to IRIs, inheritance and defaults applied.
//!
//! Resolution never stops at a mistake; it takes a default and goes on, and [`crate::check`] says
//! what is wrong. Only what would make resolution itself impossible is reported here.

mod budget;
mod hierarchy;
pub(crate) mod iri;
pub(crate) mod namespaces;
mod objects;
mod properties;
mod search;
mod slots;
pub(crate) mod types;

use std::collections::HashMap;

pub(crate) use iri::{bracketed, is_absolute, is_local};
pub(crate) use namespaces::{Namespaces, Unresolved};
pub(crate) use slots::{Slot, Slots};

use crate::codes::Code;
use crate::datatype::Scalar;
use crate::diagnostic::Findings;
use crate::options::LoadOptions;
use crate::raw::{Named, RawSchema};
use crate::rbac::{Action, Operation, Preset, Rbac, Role, RowFilter};
use crate::schema::{LiteralRange, Metadata, ObjectId, PropertyId, Range, Schema};
use crate::value::Value;

/// A schema together with what checks want to know about its making.
#[derive(Debug)]
pub(crate) struct Resolved<'d> {
    pub(crate) schema: Schema,
    pub(crate) scope: Scope,
    /// The properties of each object before defaults.
    pub(crate) slots: Vec<Slots<'d>>,
}

impl Resolved<'_> {
    /// Finds the effective property of an object by its written name.
    pub(crate) fn property(&self, object: ObjectId, written: &str) -> Option<PropertyId> {
        let at = self.slots[object.index()].index(self.scope.names.key(written))?;
        self.schema[object].props.get(at).copied()
    }
}

/// What names can refer to.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) names: Namespaces,
    ranges: HashMap<String, Range>,
}

impl Scope {
    /// Finds what a range refers to.
    pub(crate) fn range(&self, written: &str) -> Option<Range> {
        // Built-in names come first: no type or object can take one (`RESERVED_NAME`).
        if let Some(scalar) = Scalar::from_soml_name(written) {
            return Some(Range::Scalar(scalar));
        }
        literal(written)
            .map(Range::Literal)
            .or_else(|| self.ranges.get(self.names.key(written)).copied())
    }

    /// Finds an object by its written name.
    pub(crate) fn object(&self, written: &str) -> Option<ObjectId> {
        match self.ranges.get(self.names.key(written)) {
            Some(Range::Object(id)) => Some(*id),
            _ => None,
        }
    }
}

/// Finds a built-in literal family by its name.
pub(crate) fn literal(name: &str) -> Option<LiteralRange> {
    LITERALS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, range)| *range)
}

/// The built-in literal families: ranges whose values may have a language tag, or one of several
/// datatypes (RDF 1.1, <https://www.w3.org/TR/rdf11-concepts/#section-Graph-Literal>).
pub(crate) const LITERALS: [(&str, LiteralRange); 4] = [
    ("langString", LiteralRange::LangString),
    ("stringOrLangString", LiteralRange::StringOrLangString),
    ("literal", LiteralRange::Any),
    ("dateOrYearOrMonth", LiteralRange::DateOrYearOrMonth),
];

/// Resolves a document. `None` when a bound was passed.
pub(crate) fn resolve<'d>(
    raw: &RawSchema<'d>,
    options: &LoadOptions,
    findings: &mut Findings,
) -> Option<Resolved<'d>> {
    // The limits of docs/schema.md, "Parsing". They are checked before anything is built, since
    // inheritance multiplies what the sections contain.
    bound("objects", &raw.objects, options, findings)?;
    bound("types", &raw.types, options, findings)?;
    let names = Namespaces::new(raw, findings);
    let (enums, unions) = types::resolve(raw, &names);
    let mut ranges = HashMap::new();
    types::add_ranges(&enums, &unions, &names, &mut ranges);
    for (i, object) in raw.objects.iter().enumerate() {
        let key = names.key(object.name.value).to_owned();
        // The first of two equal names is meant; the second is a `NAME_COLLISION`.
        ranges.entry(key).or_insert(Range::Object(ObjectId::at(i)));
    }
    let scope = Scope { names, ranges };
    let hierarchy = hierarchy::link(raw, &scope, options, findings)?;
    let slots = slots::collect(raw, &scope, &hierarchy, options, findings)?;
    let searches = search::collect(raw, &hierarchy);
    budget::check(
        raw, &scope, &hierarchy, &slots, &searches, options, findings,
    )?;
    let mut schema = Schema {
        id: raw
            .id
            // Derived from the text (docs/schema.md, "Parsing").
            .map_or_else(|| raw.fallback_id.clone(), |id| id.value.to_owned()),
        metadata: metadata(raw),
        config: raw.config.clone(),
        prefixes: scope.names.prefixes().clone(),
        enums,
        unions,
        objects: objects::resolve(raw, &scope, &hierarchy, &slots, &searches),
        properties: Vec::new(),
        rbac: rbac(raw),
    };
    schema.config.search = search::settings(&raw.config_search);
    properties::fill(&mut schema, &scope, &slots, &searches);
    // Last, since `typeProp` may name a property, whose IRI is known only now.
    objects::resolve_type_props(raw, &scope, &hierarchy, &slots, &mut schema);
    Some(Resolved {
        schema,
        scope,
        slots,
    })
}

fn bound<T>(
    what: &str,
    section: &[Named<'_, T>],
    options: &LoadOptions,
    findings: &mut Findings,
) -> Option<()> {
    let Some(first_too_many) = section.get(options.max_objects) else {
        return Some(());
    };
    let message = format!("the document has more than {} {what}", options.max_objects);
    findings.add(Code::LimitExceeded, first_too_many.name.span, message);
    None
}

fn metadata(raw: &RawSchema<'_>) -> Metadata {
    let text = |text: Option<crate::raw::Text<'_>>| text.map(|t| t.value.to_owned());
    Metadata {
        label: text(raw.label),
        creator: text(raw.creator),
        created: text(raw.created),
        updated: text(raw.updated),
        version_info: text(raw.version_info),
    }
}

/// Reads `<Object>: {<operation>: <condition>}`; what has another form is reported by the checks.
fn row_filters(filters: &Value) -> Vec<RowFilter> {
    let filters = said_of_objects(filters).filter_map(|(object, name, condition)| {
        Some(RowFilter {
            object: object.to_owned(),
            operation: Operation::named(name)?,
            condition: condition.clone(),
            span: condition.span,
        })
    });
    filters.collect()
}

/// Reads `<Object>: {<property>: <value>}`.
fn presets(presets: &Value) -> Vec<Preset> {
    let presets = said_of_objects(presets).map(|(object, property, value)| Preset {
        object: object.to_owned(),
        property: property.to_owned(),
        value: value.clone(),
        span: value.span,
    });
    presets.collect()
}

/// Returns the values of `<Object>: {<name>: <value>}`, with both names.
fn said_of_objects(section: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let objects = section.entries().unwrap_or_default().iter();
    objects.flat_map(|(object, names)| {
        let names = names.entries().unwrap_or_default().iter();
        names.map(|(name, value)| (object.as_str(), name.as_str(), value))
    })
}

fn rbac(raw: &RawSchema<'_>) -> Rbac {
    // `<Object>/<property>/<operation>` (docs/access.md, "What roles allow"). Anything else permits
    // nothing, and is a `BAD_ACTION`.
    let action = |text: &crate::raw::Text<'_>| {
        let mut parts = text.value.split('/').map(|part| part.trim().to_owned());
        let action = Action {
            object: parts.next()?,
            property: parts.next()?,
            operation: parts.next()?,
            span: text.span,
        };
        parts.next().is_none().then_some(action)
    };
    let roles = raw.roles.iter().map(|role| Role {
        name: role.name.value.to_owned(),
        description: role.body.description.map(|t| t.value.to_owned()),
        actions: role.body.actions.iter().filter_map(action).collect(),
        not_actions: role.body.not_actions.iter().filter_map(action).collect(),
        filters: row_filters(&role.body.filters),
        presets: presets(&role.body.presets),
        span: role.name.span,
    });
    Rbac {
        roles: roles.collect(),
    }
}
