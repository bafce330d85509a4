//! How much text a schema holds once inheritance and prefixes have multiplied it.
//!
//! A text that is written once can be inherited by every object, and a namespace is repeated in every
//! IRI, so a small document could fill any memory. The sum is bounded before anything is copied.

use super::hierarchy::Hierarchy;
use super::{Scope, Slots};
use crate::codes::Code;
use crate::diagnostic::Findings;
use crate::options::LoadOptions;
use crate::raw::{RawObject, RawProperty, RawSchema, RawSearch, Text};
use crate::schema::ObjectId;

/// Adds up the text of all objects. `None` when there is too much.
pub(super) fn check(
    raw: &RawSchema<'_>,
    scope: &Scope,
    hierarchy: &Hierarchy,
    slots: &[Slots<'_>],
    searches: &[RawSearch<'_>],
    options: &LoadOptions,
    findings: &mut Findings,
) -> Option<()> {
    let mut total = 0_usize;
    for (at, object) in raw.objects.iter().enumerate() {
        let search = of_search(&searches[at]);
        let props = slots[at].iter().map(|(_, slot)| slot.bytes + search);
        let lineage = hierarchy.lineage(ObjectId::at(at)).skip(1);
        let inherited = lineage.map(|id| of_inheritable(&raw.objects[id.index()].body, scope));
        let own =
            of_object(object.name.value, &object.body, scope) + search + inherited.sum::<usize>();
        total = props.fold(total.saturating_add(own), usize::saturating_add);
        if total > options.max_text {
            let message = format!(
                "the objects have more than {} bytes of text, including inherited text",
                options.max_text
            );
            findings.add(Code::LimitExceeded, object.name.span, message);
            return None;
        }
    }
    Some(())
}

/// Bytes of text that an effective property holds, search settings of its object left out.
pub(super) fn of_property(written: &str, raw: &RawProperty<'_>, scope: &Scope) -> usize {
    let values = raw
        .values_in
        .iter()
        .flat_map(|list| &list.value)
        // A `String` takes 24 bytes in addition to its text.
        .map(|text| text.value.len() + 24);
    let texts = [
        raw.label,
        raw.descr,
        raw.regex,
        raw.pattern,
        raw.meta,
        raw.sparql_federated_service,
    ];
    of_name(written, scope)
        + texts.into_iter().map(len).sum::<usize>()
        + raw
            .rdf_prop
            .map_or(0, |text| scope.names.expand_or_default(text.value).len())
        + raw.prefix.map_or(0, |text| relative(text, scope))
        + values.sum::<usize>()
        + of_search(&raw.search)
}

fn of_object(written: &str, raw: &RawObject<'_>, scope: &Scope) -> usize {
    let texts = [raw.label, raw.descr, raw.meta];
    let types = raw
        .types
        .iter()
        .flat_map(|types| &types.value)
        .map(|text| relative(*text, scope) + 24);
    of_name(written, scope)
        + texts.into_iter().map(len).sum::<usize>()
        + of_inheritable(raw, scope)
        + types.sum::<usize>()
}

/// What subclasses take over from an object besides its properties.
fn of_inheritable(raw: &RawObject<'_>, scope: &Scope) -> usize {
    let texts = [raw.regex, raw.pattern, raw.sparql_federated_service];
    texts.into_iter().map(len).sum::<usize>()
        + raw.prefix.map_or(0, |text| relative(text, scope))
        + raw
            .type_prop
            .map_or(0, |text| scope.names.expand_or_default(text.value).len())
}

/// A name is kept as written, for GraphQL and as an IRI, and the IRI may be the path as well.
fn of_name(written: &str, scope: &Scope) -> usize {
    2 * (written.len() + scope.names.expand_or_default(written).len())
}

fn of_search(search: &RawSearch<'_>) -> usize {
    let analyzers = search
        .lang_analyzers
        .iter()
        .flat_map(|list| &list.value)
        .map(|(tag, name)| tag.value.len() + name.value.len() + 48);
    len(search.analyzer) + len(search.field_type) + analyzers.sum::<usize>()
}

fn relative(text: Text<'_>, scope: &Scope) -> usize {
    scope
        .names
        .expand_relative(text.value)
        .map_or(text.value.len(), |iri| iri.len())
}

fn len(text: Option<Text<'_>>) -> usize {
    text.map_or(0, |text| text.value.len())
}
