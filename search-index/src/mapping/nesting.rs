//! Checks how many levels of objects a document asks to embed, also where none is embedded.

use soml_core::Finding;
use soml_core::schema::{ObjectId, Property, Schema};
use soml_core::search::SearchSettings;
use soml_core::span::Span;

use super::finding::FindingKind;

/// Reports each level above the maximum where it is written, and not where it is taken over.
pub(super) fn check(schema: &Schema, max: u32) -> Vec<Finding> {
    let too_high = |settings: Option<&SearchSettings>| {
        let settings = settings.filter(|settings| settings.index)?;
        settings.nesting_level.filter(|level| *level > max)
    };
    let mut findings = Vec::new();
    let mut report = |level: u32, of: &str, span: Option<Span>| {
        let message = format!("nesting level {level} of {of} is above {max}");
        let finding = FindingKind::NestingLevel.at(span, message);
        findings.push(finding.with_help("lower it, or raise `search.maxNestingLevel`"));
    };
    let of_config = too_high(schema.config.search.as_ref());
    if let Some(level) = of_config {
        report(level, "`config`", None);
    }
    for (id, object) in schema.objects() {
        let above = object
            .inherits
            .map(|parent| too_high(schema[parent].search.as_ref()));
        let of_object = too_high(object.search.as_ref());
        let is_own = of_object != of_config && above != Some(of_object);
        if let Some(level) = of_object.filter(|_| is_own) {
            report(
                level,
                &format!("object `{}`", object.name),
                Some(object.span),
            );
        }
        for property in declared(schema, id) {
            let of_property = too_high(property.search.as_ref());
            let is_own = of_property != of_object && of_property != of_config;
            if let Some(level) = of_property.filter(|_| is_own) {
                report(
                    level,
                    &format!("property `{}`", property.name),
                    Some(property.span),
                );
            }
        }
    }
    findings
}

/// Returns the properties that an object declares itself.
fn declared(schema: &Schema, object: ObjectId) -> impl Iterator<Item = &Property> {
    let properties = schema[object].props.iter().map(|id| &schema[*id]);
    properties.filter(move |property| property.declared_by == object)
}
