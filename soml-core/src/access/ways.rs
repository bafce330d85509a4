//! Other ways on which a role reads what it is denied.

use std::sync::Arc;

use super::{Access, Part, Rights};
use crate::diagnostic::{Finding, Severity};
use crate::schema::{ObjectId, ObjectKind, Path, PropertyId, Range, Schema};

/// The code of a [finding](other_ways) that a role can read a property on another way.
pub const READS_OTHERWISE: &str = "ROLE_READS_OTHERWISE";

/// What that code means.
pub const READS_OTHERWISE_MEANING: &str = "A role may not read a property, but can read the same values through another property or in inverse direction.";

/// Ways that a finding lists.
const MAX_WAYS: usize = 3;

/// Returns a warning for each property that a role may not read although it reads the same statements on another way: as
/// another property with the same RDF property, of the same type or of one with a class in common, or backwards.
///
/// ```
/// let text = "
/// id: /soml/films
/// objects:
///   Film: {props: {director: {range: Person}}}
///   Person: {props: {films: {range: Film, max: inf, inverseAlias: director}}}
/// rbac: {roles: {Guest: {actions: ['*/*/read'], notActions: ['Film/director/read']}}}
/// ";
/// let schema = soml_core::load(text).schema.ok_or("the schema has errors")?;
/// let found = soml_core::access::other_ways(&schema);
/// assert_eq!(found.len(), 1);
/// assert!(found[0].message.contains("backwards as `Person/films`"));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn other_ways(schema: &Schema) -> Vec<Finding> {
    let rights = Arc::new(Rights::new(schema));
    let objects = schema.objects();
    let concrete = objects.filter(|(_, object)| object.kind == ObjectKind::Concrete);
    let all: Vec<(ObjectId, PropertyId)> = concrete
        .flat_map(|(id, object)| object.props.iter().map(move |property| (id, *property)))
        .collect();
    let mut findings = Vec::new();
    for role in &schema.rbac.roles {
        let access = rights.of([role.name.as_str()]);
        let reads = |(object, property)| access.reads(object, Part::Property(property));
        let (read, denied): (Vec<_>, Vec<_>) = all.iter().copied().partition(|one| reads(*one));
        for (object, property) in denied {
            let ways = ways_to(schema, &access, object, property, &read);
            if ways.is_empty() {
                continue;
            }
            let more = match ways.len().saturating_sub(MAX_WAYS) {
                0 => String::new(),
                more => format!(", and in {more} more ways"),
            };
            let shown: Vec<&str> = ways.iter().take(MAX_WAYS).map(String::as_str).collect();
            let message = format!(
                "role `{}` may not read `{}`, but reads the same values {}{more}",
                role.name,
                named(schema, object, property),
                shown.join(", "),
            );
            let finding =
                Finding::new(READS_OTHERWISE, Severity::Warning, Some(role.span), message);
            findings.push(finding.with_help("exclude the other way by `notActions` too"));
        }
    }
    findings
}

/// Lists the ways on which a role reads the statements of a property that it is denied.
fn ways_to(
    schema: &Schema,
    access: &Access,
    object: ObjectId,
    property: PropertyId,
    read: &[(ObjectId, PropertyId)],
) -> Vec<String> {
    let path = &schema[property].path;
    let is_inverse = |path: &Path| matches!(path, Path::Inverse { .. });
    let ways = read.iter().filter_map(|&(other, way)| {
        let other_path = &schema[way].path;
        if other_path.iri() != path.iri() {
            return None;
        }
        let name = named(schema, other, way);
        if is_inverse(other_path) == is_inverse(path) {
            return shares_classes(schema, object, other).then(|| format!("as `{name}`"));
        }
        // The other end is seen as what the property leads to, and leads back to the object.
        let leads_there = leads_to(schema, property, other);
        let leads_back = leads_to(schema, way, object) && access.sees(object);
        (leads_there && leads_back).then(|| format!("backwards as `{name}`"))
    });
    ways.collect()
}

/// Returns whether a property leads to objects of a type.
fn leads_to(schema: &Schema, property: PropertyId, object: ObjectId) -> bool {
    match schema[property].range {
        Range::Object(range) => schema
            .concrete(range)
            .into_iter()
            .any(|end| shares_classes(schema, end, object)),
        _ => false,
    }
}

/// Returns whether an object may be of two types at once, as far as their classes say.
fn shares_classes(schema: &Schema, one: ObjectId, other: ObjectId) -> bool {
    let (one_types, other_types) = (&schema[one].types, &schema[other].types);
    one == other || one_types.iter().any(|class| other_types.contains(class))
}

fn named(schema: &Schema, object: ObjectId, property: PropertyId) -> String {
    let (object, property) = (&schema[object].name, &schema[property].name);
    format!("{}/{}", object.graphql, property.graphql)
}

#[cfg(test)]
mod tests {
    use super::other_ways;

    fn found(roles: &str) -> Vec<String> {
        let text = format!(
            "
id: /soml/films
specialPrefixes: {{vocab_iri: 'http://e/', vocab_prefix: v}}
objects:
  Film: {{type: v:Film, props: {{budget: {{}}, cost: {{rdfProp: v:budget}}, director: {{range: Person}}}}}}
  Movie: {{type: v:Film, props: {{spent: {{rdfProp: v:budget}}}}}}
  Book: {{props: {{budget: {{}}}}}}
  Person: {{props: {{films: {{range: Film, max: inf, inverseAlias: director}}}}}}
rbac:
  roles:
{roles}"
        );
        let loaded = soml_core_load(&text);
        let findings = other_ways(&loaded);
        findings
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    fn soml_core_load(text: &str) -> crate::schema::Schema {
        let loaded = crate::load(text);
        let said = format!("{:#?}", loaded.diagnostics);
        loaded
            .schema
            .unwrap_or_else(|| panic!("{said}"))
            .into_inner()
    }

    #[test]
    fn another_property_of_the_same_or_an_overlapping_type_and_the_way_back_are_found() {
        let role = "    R: {actions: ['*/*/read'], notActions: ['Film/budget/read', 'Film/director/read']}\n";
        assert_eq!(
            found(role),
            [
                "role `R` may not read `Film/budget`, but reads the same values as `Film/cost`, as \
                 `Movie/spent`",
                "role `R` may not read `Film/director`, but reads the same values backwards as \
                 `Person/films`",
            ]
        );
        let back = "    R: {actions: ['*/*/read'], notActions: ['Person/films/read']}\n";
        assert_eq!(
            found(back),
            [
                "role `R` may not read `Person/films`, but reads the same values backwards as \
                 `Film/director`"
            ]
        );
    }

    #[test]
    fn what_is_denied_on_every_way_or_of_other_objects_is_not() {
        let all =
            "    R: {actions: ['*/*/read'], notActions: ['*/budget/*', '*/cost/*', '*/spent/*']}\n";
        assert_eq!(found(all), [] as [&str; 0]);
        let unseen = "    R: {actions: ['Person/*/read', 'Book/*/read']}\n";
        assert_eq!(found(unseen), [] as [&str; 0]);
    }
}
