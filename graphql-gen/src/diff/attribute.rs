//! Finds the change of the document behind each difference of the generated API.
//!
//! [`Api`] knows what each type and member is generated for, so a coordinate leads back to the
//! document. Each sort of origin has a list of changes that may be behind a difference, the nearest
//! first; the first one that there is takes the difference.

use soml_core::schema::{Property, Range};

use super::causes::{Causes, Key, Spans};
use super::code::ChangeCode as Code;
use super::compare::Raw;
use super::coordinate::Coordinate;
use super::settings;
use super::side::{Side, Sides};
use crate::typesystem::{Api, Origin, Setting, Source};

/// Puts a difference under its cause, or makes it a change of its own.
pub(super) fn attribute<'a>(sides: &Sides<'a>, causes: &mut Causes<'a>, found: &Raw<'a>) {
    let finder = Finder {
        sides,
        text: found.code == Code::DescriptionChanged,
    };
    let mut spans = Spans::default();
    let candidates = finder.candidates(found.coordinate, &mut spans);
    let consequence = found.consequence();
    match candidates.into_iter().find(|&key| causes.has(key)) {
        Some(key) => {
            causes.attach(key, consequence);
        }
        None => causes.add_standalone(spans, &consequence),
    }
}

/// What a part of the API is generated for, by GraphQL name.
#[derive(Clone, Copy)]
enum Subject<'a> {
    /// Nothing of the document.
    BuiltIn,
    Object(&'a str),
    /// The name of an object.
    Name(&'a str),
    Property(&'a str, &'a str),
    Enum(&'a str),
}

impl<'a> Subject<'a> {
    fn new(side: &Side<'a>, source: Source) -> Self {
        match source {
            Source::BuiltIn => Subject::BuiltIn,
            Source::Object(id) => Subject::Object(side.name(id)),
            Source::Name(id) => Subject::Name(side.name(id)),
            Source::Property(id) => {
                let property = &side.soml[id];
                Subject::Property(side.name(property.owner), &property.name.graphql)
            }
            Source::Enum(id) => Subject::Enum(&side.soml[id].name.graphql),
        }
    }
}

/// The origin of a part of one of the schemas.
struct Found<'s, 'a> {
    side: &'s Side<'a>,
    origin: Origin,
}

impl<'a> Found<'_, 'a> {
    fn subject(&self) -> Subject<'a> {
        Subject::new(self.side, self.origin.source())
    }
}

struct Finder<'s, 'a> {
    sides: &'s Sides<'a>,
    text: bool,
}

impl<'a> Finder<'_, 'a> {
    /// Returns the changes that may be behind a difference, and the coordinates of what it is about.
    fn candidates(&self, coordinate: Coordinate<'a>, spans: &mut Spans) -> Vec<Key<'a>> {
        match coordinate {
            Coordinate::Type(ty) => match self.origin(|api| api.type_origin(ty)) {
                Some(found) => self.of_type(found.subject(), found.origin, spans),
                None => Vec::new(),
            },
            Coordinate::Member(ty, member) => {
                let found = self.origin(|api| api.member_origin(ty, member));
                found.map_or_else(Vec::new, |found| self.of_member(ty, &found, spans))
            }
            Coordinate::Argument(ty, field, argument) => {
                let found = self.origin(|api| api.argument_origin(ty, field, argument));
                found.map_or_else(Vec::new, |found| self.of_member(ty, &found, spans))
            }
            Coordinate::Related(ty, other) => self.of_related(ty, other, spans),
            Coordinate::Directive(_) | Coordinate::DirectiveArgument(..) => {
                vec![settings::key(Setting::ExposeSoml)]
            }
            Coordinate::Schema => vec![settings::key(Setting::Mutations)],
        }
    }

    /// Finds an origin in the old schema, else in the new one.
    fn origin(&self, find: impl Fn(&Api) -> Option<Origin>) -> Option<Found<'_, 'a>> {
        let mut sides = [&self.sides.old, &self.sides.new].into_iter();
        sides.find_map(|side| {
            let origin = find(side.api)?;
            Some(Found { side, origin })
        })
    }

    /// Returns what a type is generated for.
    fn subject(&self, ty: &str) -> Subject<'a> {
        let found = self.origin(|api| api.type_origin(ty));
        found.map_or(Subject::BuiltIn, |found| found.subject())
    }

    /// Returns what may be behind a difference of a type as such, or of a root field.
    fn of_type(&self, subject: Subject<'a>, origin: Origin, spans: &mut Spans) -> Vec<Key<'a>> {
        let mut keys = match subject {
            Subject::Object(object) => {
                *spans = self.object_spans(object);
                self.of_object(object)
            }
            Subject::Enum(name) => {
                *spans = self.enum_spans(name);
                let codes = [
                    Code::EnumDescriptionChanged,
                    Code::EnumRemoved,
                    Code::EnumAdded,
                ];
                codes.map(|code| Key::new(code, name)).to_vec()
            }
            // No type stems from a property or a name.
            Subject::BuiltIn | Subject::Name(_) | Subject::Property(..) => Vec::new(),
        };
        keys.extend(origin.settings().map(settings::key));
        keys
    }

    /// Returns what may be behind a difference of a member of the type `ty`.
    fn of_member(&self, ty: &str, found: &Found<'_, 'a>, spans: &mut Spans) -> Vec<Key<'a>> {
        let (side, origin) = (found.side, found.origin);
        if side.is_root_operation(ty) {
            // A prefix renames all fields; what else changed of a field is not seen then.
            return self.of_type(found.subject(), origin, spans);
        }
        match found.subject() {
            Subject::BuiltIn => origin.settings().map(settings::key).collect(),
            Subject::Enum(name) => {
                *spans = self.enum_spans(name);
                vec![Key::new(Code::EnumDescriptionChanged, name)]
            }
            Subject::Name(object) => {
                *spans = self.object_spans(object);
                let text = Key::new(Code::ObjectDescriptionChanged, object);
                let text = self.text.then_some(text).into_iter();
                let settings = origin.settings().map(settings::key);
                text.chain(self.of_name(object)).chain(settings).collect()
            }
            Subject::Property(object, name) => self.of_property(object, name, origin, spans),
            Subject::Object(object) => {
                *spans = self.object_spans(object);
                let owner = side.api.type_origin(ty).map(Origin::source);
                let mut keys = Vec::new();
                // A key that is there for a concrete object: `_ifX` of filters, `X` of references.
                if owner != Some(origin.source()) {
                    keys = self.of_descent(object);
                }
                if let Some(Source::Object(owner)) = owner {
                    keys.extend(self.of_object(side.name(owner)));
                }
                keys
            }
        }
    }

    /// Returns what may be behind a difference of the types of an object as such.
    fn of_object(&self, object: &'a str) -> Vec<Key<'a>> {
        let mut keys = Vec::new();
        if self.text {
            keys.push(Key::new(Code::ObjectDescriptionChanged, object));
        }
        keys.extend([
            Key::new(Code::ObjectRemoved, object),
            Key::new(Code::ObjectAdded, object),
            Key::new(Code::ObjectKindChanged, object),
        ]);
        keys.extend(self.of_interface(object));
        keys
    }

    /// Returns what may be behind a concrete object having an interface in one schema only: its
    /// first subclass, or its last.
    fn of_interface(&self, object: &'a str) -> Vec<Key<'a>> {
        let (old, new) = (&self.sides.old, &self.sides.new);
        let (side, other) = match (old.is_dual(object), new.is_dual(object)) {
            (false, true) => (new, old),
            (true, false) => (old, new),
            _ => return Vec::new(),
        };
        let before = other.subclasses(object);
        let subclasses = side.subclasses(object).into_iter();
        subclasses
            .filter(|subclass| !before.contains(subclass))
            .flat_map(|subclass| {
                [
                    Key::new(Code::ObjectAdded, subclass),
                    Key::new(Code::ObjectRemoved, subclass),
                    Key::new(Code::ObjectSuperclassChanged, subclass),
                ]
            })
            .collect()
    }

    /// Returns what may be behind an object being among those of another one.
    fn of_descent(&self, object: &'a str) -> Vec<Key<'a>> {
        let mut keys = vec![
            Key::new(Code::ObjectRemoved, object),
            Key::new(Code::ObjectAdded, object),
            Key::new(Code::ObjectKindChanged, object),
        ];
        keys.extend(self.of_lineage(object));
        keys.extend(self.of_name(object));
        keys
    }

    fn of_lineage(&self, object: &str) -> impl Iterator<Item = Key<'a>> + use<'a> {
        let lineages = self.sides.lineages(object).into_iter();
        lineages.map(|object| Key::new(Code::ObjectSuperclassChanged, object))
    }

    fn of_name(&self, object: &'a str) -> Vec<Key<'a>> {
        let codes = [
            Code::ObjectNameAdded,
            Code::ObjectNameRemoved,
            Code::ObjectNameChanged,
        ];
        let mut keys = codes.map(|code| Key::new(code, object)).to_vec();
        keys.extend(self.of_lineage(object));
        keys
    }

    /// Returns what may be behind an interface of a type, or a member of a union.
    fn of_related(&self, ty: &'a str, other: &'a str, spans: &mut Spans) -> Vec<Key<'a>> {
        let related = self.subject(other);
        let Subject::Object(object) = self.subject(ty) else {
            let Subject::Object(member) = related else {
                return Vec::new();
            };
            *spans = self.object_spans(member);
            return self.of_object(member);
        };
        *spans = self.object_spans(object);
        match related {
            Subject::Object(interface) => {
                let lineage = self.of_lineage(object);
                lineage.chain(self.of_object(interface)).collect()
            }
            _ => self.of_name(object),
        }
    }

    fn of_property(
        &self,
        object: &'a str,
        name: &'a str,
        origin: Origin,
        spans: &mut Spans,
    ) -> Vec<Key<'a>> {
        let (old, new) = (&self.sides.old, &self.sides.new);
        let (before, after) = (old.property(object, name), new.property(object, name));
        *spans = Spans {
            old: before.map(|p| p.span),
            new: after.map(|p| p.span),
        };
        let mut keys = Vec::new();
        if self.text {
            keys.push(Key::of_property(
                Code::PropertyDescriptionChanged,
                object,
                name,
            ));
        }
        // Arguments are those of the superclass that declares the field first.
        for object in self.sides.lineages(object) {
            let codes = [
                Code::PropertyRemoved,
                Code::PropertyAdded,
                Code::PropertyMultiplicityChanged,
                Code::PropertyRangeChanged,
                Code::PropertyMadeNullable,
                Code::PropertyMadeNonNull,
            ];
            keys.extend(codes.map(|code| Key::of_property(code, object, name)));
        }
        keys.extend(origin.settings().map(settings::key));
        for (side, property) in [(old, before), (new, after)] {
            if let Some(range) = property.and_then(|p| range_object(side, p)) {
                keys.extend(self.of_object(range));
            }
        }
        keys.extend(self.of_name(object));
        keys
    }

    fn object_spans(&self, object: &str) -> Spans {
        Spans {
            old: self.sides.old.object(object).map(|o| o.span),
            new: self.sides.new.object(object).map(|o| o.span),
        }
    }

    fn enum_spans(&self, name: &str) -> Spans {
        Spans {
            old: self.sides.old.enumeration(name).map(|e| e.span),
            new: self.sides.new.enumeration(name).map(|e| e.span),
        }
    }
}

fn range_object<'a>(side: &Side<'a>, property: &Property) -> Option<&'a str> {
    match property.range {
        Range::Object(id) => Some(side.name(id)),
        _ => None,
    }
}
