//! Changes of properties.

use std::collections::HashMap;

use soml_core::schema::{Max, Path, Property};

use super::causes::{Causes, Draft, Key, Spans};
use super::change::Consequence;
use super::code::ChangeCode as Code;
use super::detail::{
    Difference, bounds, direction, inverse, language, nullability, quoted, range, search, values,
};
use super::settings::{self, Namespaces};
use super::side::{Side, Sides};

/// Adds the changes of the properties of all objects that both schemas have.
pub(super) fn add<'a>(sides: &Sides<'a>, namespaces: &Namespaces<'a>, causes: &mut Causes<'a>) {
    let mut comparison = Comparison {
        sides,
        namespaces,
        causes,
        same: HashMap::new(),
    };
    let objects = sides.common_objects();
    for (gone, side, other) in [
        (true, &sides.old, &sides.new),
        (false, &sides.new, &sides.old),
    ] {
        for &object in &objects {
            for property in properties(side, object) {
                let name = property.name.graphql.as_str();
                if other.property(object, name).is_none() {
                    comparison.one_sided(gone, object, property);
                }
            }
        }
    }
    // An alias follows the property that it is the inverse of, so that comes first.
    for aliases in [false, true] {
        for &object in &objects {
            for new in properties(&sides.new, object) {
                let name = new.name.graphql.as_str();
                if let Some(old) = sides.old.property(object, name)
                    && matches!(new.path, Path::Inverse { .. }) == aliases
                {
                    comparison.pair(object, old, new);
                }
            }
        }
    }
}

fn properties<'a>(side: &Side<'a>, object: &str) -> impl Iterator<Item = &'a Property> {
    let soml = side.soml;
    let props = side.object(object).map(|o| o.props.as_slice());
    props.unwrap_or_default().iter().map(|&id| &soml[id])
}

struct Comparison<'s, 'a> {
    sides: &'s Sides<'a>,
    namespaces: &'s Namespaces<'a>,
    causes: &'s mut Causes<'a>,
    /// The first object with a change.
    same: HashMap<SameChange<'a>, &'a str>,
}

/// What makes the changes of two objects' properties one.
#[derive(PartialEq, Eq, Hash)]
struct SameChange<'a> {
    code: Code,
    property: Option<&'a str>,
    became: String,
}

impl<'a> Comparison<'_, 'a> {
    /// Adds a property that only one schema has, or finds the superclass behind it.
    fn one_sided(&mut self, gone: bool, object: &'a str, property: &'a Property) {
        let (side, code, tail) = if gone {
            (&self.sides.old, Code::PropertyRemoved, " was removed")
        } else {
            (&self.sides.new, Code::PropertyAdded, " was added")
        };
        let name = property.name.graphql.as_str();
        let key = Key::of_property(code, object, name);
        let inherited = side.parent(object).and_then(|parent| {
            let above = side.property(parent, name)?;
            (above.span == property.span).then_some(parent)
        });
        if let Some(parent) = inherited {
            for cause in [
                Key::of_property(code, parent, name),
                Key::new(Code::ObjectSuperclassChanged, object),
            ] {
                if self.causes.has(cause) {
                    self.causes.join(key, cause);
                    return;
                }
            }
        }
        let spans = Spans {
            old: gone.then_some(property.span),
            new: (!gone).then_some(property.span),
        };
        self.causes.add(key, draft(key, "", tail.to_owned(), spans));
    }

    fn pair(&mut self, object: &'a str, old: &'a Property, new: &'a Property) {
        let sides = self.sides;
        for difference in visible(sides, old, new).into_iter().flatten() {
            self.report(object, old, new, &difference);
        }
        for difference in hidden(sides, old, new).into_iter().flatten() {
            if !self.explained(object, old, new, &difference) {
                self.report(object, old, new, &difference);
            }
        }
        if (&old.label, &old.descr) != (&new.label, &new.descr) {
            let code = Code::PropertyDescriptionChanged;
            let key = Key::of_property(code, object, &new.name.graphql);
            let words = |p: &Property| format!("{:?}", (&p.label, &p.descr));
            let tail = " has a different description".to_owned();
            let group = format!("{}{}", words(old), words(new));
            self.grouped(key, group, spans(old, new), || {
                draft(key, "", tail, spans(old, new))
            });
        }
    }

    /// Adds a change, or joins it to the same change of a property of the same name.
    fn report(
        &mut self,
        object: &'a str,
        old: &'a Property,
        new: &'a Property,
        difference: &Difference,
    ) {
        let key = Key::of_property(difference.code, object, &new.name.graphql);
        let spans = spans(old, new);
        let tail = difference.tail();
        let make = || draft(key, difference.what, difference.tail(), spans);
        // What clients see comes with the differences of the GraphQL schemas.
        if !self.grouped(key, tail, spans, make) && !is_visible(difference.code) {
            self.causes.attach(key, consequence(key, difference));
        }
    }

    /// Returns whether the change is the first of its kind.
    fn grouped(
        &mut self,
        key: Key<'a>,
        became: String,
        spans: Spans,
        make: impl FnOnce() -> Draft,
    ) -> bool {
        let same = SameChange {
            code: key.code,
            property: key.property,
            became,
        };
        let first = *self.same.entry(same).or_insert(key.subject);
        if first == key.subject {
            self.causes.add(key, make());
            return true;
        }
        let cause = Key {
            subject: first,
            ..key
        };
        self.causes.join(key, cause);
        self.causes.also_at(key, spans);
        false
    }

    /// Puts what no client sees under a cause elsewhere: a prefix, the partner, search settings.
    fn explained(
        &mut self,
        object: &'a str,
        old: &'a Property,
        new: &'a Property,
        difference: &Difference,
    ) -> bool {
        let key = Key::of_property(difference.code, object, &new.name.graphql);
        let consequence = || consequence(key, difference);
        if difference.code == Code::PropertySearchChanged {
            let above = [
                Key::new(Code::ObjectSearchChanged, object),
                Key::new(Code::SettingChanged, settings::SEARCH),
            ];
            return above
                .into_iter()
                .any(|cause| self.causes.attach(cause, consequence()));
        }
        if difference.code != Code::PropertyIriChanged {
            return false;
        }
        let iris = (old.path.iri(), new.path.iri());
        if self
            .namespaces
            .attach(self.causes, [iris.0], [iris.1], consequence)
        {
            return true;
        }
        let Path::Inverse { of, .. } = &new.path else {
            return false;
        };
        let side = &self.sides.new;
        let partner = &side.soml[*of];
        let cause = Key::of_property(
            Code::PropertyIriChanged,
            side.name(partner.owner),
            &partner.name.graphql,
        );
        let same = self.causes.tail(cause) == Some(&difference.tail());
        same && self.causes.attach(cause, consequence())
    }
}

fn spans(old: &Property, new: &Property) -> Spans {
    Spans {
        old: Some(old.span),
        new: Some(new.span),
    }
}

fn draft(key: Key<'_>, what: &str, tail: String, spans: Spans) -> Draft {
    Draft {
        code: key.code,
        coordinate: key.coordinate(),
        head: format!("{what}{}", words(key)),
        tail,
        spans,
    }
}

fn consequence(key: Key<'_>, difference: &Difference) -> Consequence {
    let message = format!("{}{}{}", difference.what, words(key), difference.tail());
    Consequence::new(key.code, key.coordinate(), message)
}

/// Names a property in messages.
fn words(key: Key<'_>) -> String {
    let property = key.property.unwrap_or_default();
    format!("property `{property}` of `{}`", key.subject)
}

/// Compares what decides the type of the field.
fn visible(sides: &Sides<'_>, old: &Property, new: &Property) -> [Option<Difference>; 2] {
    let null = |p: &Property| {
        (
            p.non_nullable,
            p.non_nullable_elements && p.max.is_multiple(),
        )
    };
    let ((was_outer, was_inner), (is_outer, is_inner)) = (null(old), null(new));
    let loses = (was_outer && !is_outer) || (was_inner && !is_inner && new.max.is_multiple());
    let nullability = if null(old) == null(new) {
        None
    } else {
        let code = if loses {
            Code::PropertyMadeNullable
        } else {
            Code::PropertyMadeNonNull
        };
        Difference::new(
            code,
            "the nullability of ",
            nullability(old),
            nullability(new),
        )
    };
    [
        Difference::new(
            Code::PropertyRangeChanged,
            "the range of ",
            range(&sides.old, old.range),
            range(&sides.new, new.range),
        ),
        nullability,
    ]
}

/// Compares how data is reached and which values it may have.
fn hidden(sides: &Sides<'_>, old: &Property, new: &Property) -> Vec<Option<Difference>> {
    vec![
        number(old, new),
        way(sides, old, new),
        Difference::new(
            Code::PropertyInverseChanged,
            "the inverse of ",
            inverse(&sides.old, old),
            inverse(&sides.new, new),
        ),
        Difference::new(
            Code::PropertyRangeCheckChanged,
            "the range check of ",
            quoted(Some(old.range_check)),
            quoted(Some(new.range_check)),
        ),
        Difference::new(
            Code::PropertyTypeCastChanged,
            "the type cast of ",
            quoted(Some(old.type_cast)),
            quoted(Some(new.type_cast)),
        ),
        Difference::new(
            Code::PropertyLanguageChanged,
            "the languages of ",
            language(old),
            language(new),
        ),
        Difference::new(
            Code::PropertyValuesChanged,
            "the constraint on the values of ",
            values(old),
            values(new),
        ),
        Difference::new(
            Code::PropertyServiceChanged,
            "the SPARQL service of ",
            quoted(old.sparql_federated_service.as_ref()),
            quoted(new.sparql_federated_service.as_ref()),
        ),
        Difference::new(
            Code::PropertySearchChanged,
            "the search settings of ",
            search(old.search.as_ref()),
            search(new.search.as_ref()),
        ),
    ]
}

/// Compares over which RDF property values are reached, and in which direction.
fn way(sides: &Sides<'_>, old: &Property, new: &Property) -> Option<Difference> {
    let same_way = matches!(
        (&old.path, &new.path),
        (Path::Forward(_), Path::Forward(_)) | (Path::Inverse { .. }, Path::Inverse { .. })
    );
    if same_way {
        Difference::new(
            Code::PropertyIriChanged,
            "the RDF property of ",
            quoted(Some(old.path.iri())),
            quoted(Some(new.path.iri())),
        )
    } else {
        Difference::new(
            Code::PropertyDirectionChanged,
            "the direction of ",
            direction(&sides.old, old),
            direction(&sides.new, new),
        )
    }
}

fn is_visible(code: Code) -> bool {
    matches!(
        code,
        Code::PropertyRangeChanged
            | Code::PropertyMultiplicityChanged
            | Code::PropertyMadeNonNull
            | Code::PropertyMadeNullable
    )
}

/// Compares how many values there may be.
fn number(old: &Property, new: &Property) -> Option<Difference> {
    let max = |p: &Property| match p.max {
        Max::Count(max) => u64::from(max),
        Max::Unbounded => u64::MAX,
    };
    let code = if old.max.is_multiple() != new.max.is_multiple() {
        Code::PropertyMultiplicityChanged
    } else if new.min > old.min || max(new) < max(old) {
        Code::PropertyBoundsNarrowed
    } else {
        Code::PropertyBoundsWidened
    };
    Difference::new(code, "the number of values of ", bounds(old), bounds(new))
}
