//! How the objects of a type are read, by those who may.

use graph_store::query::{NodeCondition, Step, TypeGuard};
use graphql_gen::typesystem::{Field, TypeRef};
use graphql_service::error::GraphqlError;
use soml_core::access::Part;
use soml_core::schema::{ObjectId, Property, PropertyId, Schema};

use super::View;
use crate::rdf::takes_any;

/// A way in which some of the objects of a type are read.
#[derive(Clone, Debug)]
pub(crate) struct Reading<T> {
    pub(crate) by: T,
    /// The concrete object types that are read so.
    pub(crate) objects: Vec<ObjectId>,
    /// The objects that are read so; `None` for all.
    pub(crate) of: Option<TypeGuard>,
    /// Of which of these, among those that are shown, it can be read; `None` for all.
    pub(crate) rows: Option<NodeCondition>,
}

impl<T> Reading<T> {
    /// Returns a condition that holds for what is read so, and says no more of other objects than
    /// that they are none of these.
    pub(crate) fn only(&self, condition: NodeCondition) -> NodeCondition {
        if self.of.is_none() && self.rows.is_none() {
            return condition;
        }
        let guard = self.of.as_ref().map(TypeGuard::condition);
        let guards = guard.into_iter().chain(self.rows.clone());
        NodeCondition::all(guards.chain([condition]))
    }
}

/// Returns the condition that each object satisfies what is said of those that are read as it is.
pub(crate) fn each_by_its_own<T>(
    readings: &[Reading<T>],
    mut condition: impl FnMut(&T) -> Result<NodeCondition, GraphqlError>,
) -> Result<NodeCondition, GraphqlError> {
    let mut parts = Vec::with_capacity(readings.len());
    for reading in readings {
        parts.push(reading.only(condition(&reading.by)?));
    }
    Ok(match <[NodeCondition; 1]>::try_from(parts) {
        Ok([single]) => single,
        Err(parts) => NodeCondition::Any(parts),
    })
}

/// Returns how the objects of type `ty` are read, given how those of each object type are, and with what
/// right; none where nothing of them can be read.
///
/// Objects of no known type are read as the object that the type belongs to.
fn readings<T: Copy>(
    view: View<'_>,
    ty: TypeRef,
    of: impl Fn(ObjectId) -> Option<(T, Part)>,
    same: impl Fn(T, T) -> bool,
) -> Vec<Reading<T>> {
    let mut readings: Vec<Reading<T>> = Vec::new();
    let is = |known: &Reading<T>, by: T, rows: &Option<NodeCondition>| {
        same(known.by, by) && known.rows == *rows
    };
    let add = |readings: &mut Vec<Reading<T>>, (by, rows), object: Option<ObjectId>| {
        let known = readings
            .iter()
            .position(|known| is(known, by, &rows))
            .unwrap_or_else(|| {
                let (objects, of) = (Vec::new(), None);
                readings.push(Reading {
                    by,
                    objects,
                    of,
                    rows,
                });
                readings.len() - 1
            });
        readings[known].objects.extend(object);
    };
    let mut excludes = false;
    for &object in view.api.possible_types(ty) {
        match of(object) {
            Some((by, part)) if view.reads(object, part) => {
                let rows = view.readable_rows(object, part);
                add(&mut readings, (by, rows), Some(object));
            }
            Some(_) => excludes = true,
            None => {}
        }
    }
    if readings.len() < 2 && !excludes {
        return readings;
    }
    let own = ty.object().and_then(|object| Some((object, of(object)?)));
    // Objects of no type of the schema are no one's where some may see less than others.
    let own = own
        .filter(|_| !excludes || takes_any(view.api, ty))
        .filter(|(object, (_, part))| view.reads(*object, *part))
        .map(|(object, (by, part))| (by, view.readable_rows(object, part)));
    if let Some(own) = &own {
        add(&mut readings, own.clone(), None);
    }
    let index = &view.of_type(ty).index;
    for reading in &mut readings {
        let own = own.as_ref();
        let is_own = own.is_some_and(|(by, rows)| is(reading, *by, rows));
        let guard = index.guard(is_own, |object| reading.objects.contains(&object));
        reading.of = Some(guard);
    }
    readings
}

/// Returns how a field of objects of type `ty` is read: by which property.
pub(crate) fn property_readings(
    view: View<'_>,
    ty: TypeRef,
    field: &str,
    same: impl Fn(&Property, &Property) -> bool,
) -> Vec<Reading<PropertyId>> {
    let schema: &Schema = view.api.soml();
    let of = |object| match view.api.field(TypeRef::Concrete(object), field) {
        Some(Field::Property(property)) => Some((property, Part::Property(property))),
        _ => None,
    };
    readings(view, ty, of, |a, b| a == b || same(&schema[a], &schema[b]))
}

/// Returns whether conditions on two properties of one name mean the same.
pub(crate) fn filter_alike(a: &Property, b: &Property) -> bool {
    Step::from(&a.path) == Step::from(&b.path)
        && a.range == b.range
        && a.range_check == b.range_check
        && a.type_cast == b.type_cast
}

/// Returns whether two properties of one name show the same of the same values.
pub(crate) fn show_alike(a: &Property, b: &Property) -> bool {
    filter_alike(a, b) && a.lang.fetch == b.lang.fetch
}

/// Returns how the names of objects of type `ty` are read.
pub(crate) fn name_readings(
    view: View<'_>,
    ty: TypeRef,
    same: impl Fn(&Property, &Property) -> bool,
) -> Vec<Reading<PropertyId>> {
    let schema: &Schema = view.api.soml();
    let of = |object: ObjectId| Some((schema[object].name_property?, Part::Name));
    readings(view, ty, of, |a, b| a == b || same(&schema[a], &schema[b]))
}

/// Returns how the types of objects of type `ty` are read: under which property.
pub(crate) fn type_readings<'a>(view: View<'a>, ty: TypeRef) -> Vec<Reading<&'a str>> {
    let schema: &'a Schema = view.api.soml();
    let of = |object: ObjectId| Some((schema[object].type_prop.as_str(), Part::Type));
    readings(view, ty, of, |a, b| a == b)
}
