//! Finds the change of the document behind each difference of the generated API.
//!
//! Generated types are named after objects and enumerations, their members after properties and
//! objects, so a coordinate leads back to the document. Each sort of place has a list of changes that
//! may be behind it, the nearest first; the first one that there is takes the difference.

use std::iter::once;

use soml_core::schema::{Property, Range};

use super::causes::{Causes, Key, Spans};
use super::code::ChangeCode as Code;
use super::compare::Raw;
use super::place::Place;
use super::settings;
use super::side::{Side, Sides};
use crate::typesystem::{Field, RootKind, TypeRef};

/// Endings of the types that are generated beside that of an object or an enumeration.
const SUFFIXES: [&str; 21] = [
    "_Where",
    "_Where_Multi",
    "_OrderBy",
    "_Subscription",
    "_Mutation",
    "_Create_Input",
    "_Update_Input",
    "_Ref_Input",
    "_Ref_Update_Input",
    "_Multi_Value_Input",
    "_Aggregate",
    "_AggregateHaving",
    "_AggregateOrderBy",
    "_Group",
    "_GroupKey",
    "_GroupField",
    "_GroupHaving",
    "_GroupOrderBy",
    "_GroupKeyOrderBy",
    "Connection",
    "Edge",
];

/// Puts a difference under its cause, or makes it a change of its own.
pub(super) fn attribute<'a>(sides: &Sides<'a>, causes: &mut Causes<'a>, found: &Raw<'a>) {
    let finder = Finder {
        sides,
        text: found.code == Code::DescriptionChanged,
    };
    let mut spans = Spans::default();
    let candidates = finder.candidates(found.place, &mut spans);
    let consequence = found.consequence();
    match candidates.into_iter().find(|&key| causes.has(key)) {
        Some(key) => {
            causes.attach(key, consequence);
        }
        None => causes.add_standalone(spans, &consequence),
    }
}

/// What a generated type belongs to, by GraphQL name.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Object(&'a str),
    Enum(&'a str),
    /// A type of every API.
    BuiltIn,
}

struct Finder<'s, 'a> {
    sides: &'s Sides<'a>,
    text: bool,
}

impl<'a> Finder<'_, 'a> {
    /// Returns the changes that may be behind a difference, and the places of what it is about.
    fn candidates(&self, place: Place<'a>, spans: &mut Spans) -> Vec<Key<'a>> {
        match place {
            Place::Type(ty) => self.of_type(ty, spans),
            Place::Member("Query", field) | Place::Argument("Query", field, _) => {
                self.of_root_field(field, spans)
            }
            Place::Member("Mutation", field) | Place::Argument("Mutation", field, _) => {
                self.of_mutation(field, spans)
            }
            Place::Member(ty, member) | Place::Argument(ty, member, _) => {
                self.of_member(ty, member, spans)
            }
            Place::Related(ty, other) => self.of_related(ty, other, spans),
            Place::Directive(_) | Place::DirectiveArgument(..) => {
                vec![setting(settings::EXPOSE_SOML)]
            }
            Place::Schema => vec![setting(settings::MUTATIONS)],
        }
    }

    fn of_type(&self, ty: &'a str, spans: &mut Spans) -> Vec<Key<'a>> {
        match self.subject(ty) {
            Subject::Object(object) => {
                *spans = self.object_spans(object);
                let mut keys = self.of_object(object);
                keys.push(setting(type_setting(ty)));
                keys
            }
            Subject::Enum(name) => {
                *spans = self.enum_spans(name);
                let enums = [
                    Code::EnumDescriptionChanged,
                    Code::EnumRemoved,
                    Code::EnumAdded,
                ];
                let keys = enums.map(|code| (code, name, "")).into_iter();
                keys.chain(once(setting(type_setting(ty)))).collect()
            }
            Subject::BuiltIn => {
                let settings = [type_setting(ty), settings::FEDERATION, settings::SERVICE];
                settings.map(setting).to_vec()
            }
        }
    }

    /// Returns what may be behind a difference of the types of an object as such.
    fn of_object(&self, object: &'a str) -> Vec<Key<'a>> {
        let mut keys = Vec::new();
        if self.text {
            keys.push((Code::ObjectDescriptionChanged, object, ""));
        }
        keys.extend([
            (Code::ObjectRemoved, object, ""),
            (Code::ObjectAdded, object, ""),
            (Code::ObjectKindChanged, object, ""),
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
                    (Code::ObjectAdded, subclass, ""),
                    (Code::ObjectRemoved, subclass, ""),
                    (Code::ObjectSuperclassChanged, subclass, ""),
                ]
            })
            .collect()
    }

    /// Returns what may be behind an object being among those of another one.
    fn of_descent(&self, object: &'a str) -> Vec<Key<'a>> {
        let mut keys = vec![
            (Code::ObjectRemoved, object, ""),
            (Code::ObjectAdded, object, ""),
            (Code::ObjectKindChanged, object, ""),
        ];
        keys.extend(self.of_lineage(object));
        keys.extend(self.of_name(object));
        keys
    }

    fn of_lineage(&self, object: &str) -> impl Iterator<Item = Key<'a>> + use<'a> {
        let lineages = self.sides.lineages(object).into_iter();
        lineages.map(|object| (Code::ObjectSuperclassChanged, object, ""))
    }

    fn of_name(&self, object: &'a str) -> Vec<Key<'a>> {
        let codes = [
            Code::ObjectNameAdded,
            Code::ObjectNameRemoved,
            Code::ObjectNameChanged,
        ];
        let mut keys = codes.map(|code| (code, object, "")).to_vec();
        keys.extend(self.of_lineage(object));
        keys.push(setting(settings::NAME_LANGUAGE));
        keys
    }

    fn of_root_field(&self, field: &'a str, spans: &mut Spans) -> Vec<Key<'a>> {
        let root = |side: &Side<'a>| {
            let root = side.api.root_field(field)?;
            Some((root.kind, root.target.object().map(|id| side.name(id))))
        };
        let Some((kind, object)) = root(&self.sides.old).or_else(|| root(&self.sides.new)) else {
            return [settings::FEDERATION, settings::SERVICE]
                .map(setting)
                .to_vec();
        };
        let mut keys = Vec::new();
        if let Some(object) = object {
            *spans = self.object_spans(object);
            keys = self.of_object(object);
        }
        // A prefix renames all fields; what else changed of a field is not seen then.
        keys.push(setting(settings::QUERY_PREFIX));
        match kind {
            RootKind::Count => keys.push(setting(settings::TYPE_COUNT)),
            RootKind::Aggregate => keys.push(setting(settings::AGGREGATES)),
            RootKind::Connection => keys.push(setting(settings::CONNECTIONS)),
            RootKind::Objects => {}
        }
        keys
    }

    fn of_mutation(&self, field: &'a str, spans: &mut Spans) -> Vec<Key<'a>> {
        let object = |side: &Side<'a>| {
            let field = field.strip_prefix(side.soml.config.mutation_pfx.as_str())?;
            let verbs = ["create_", "update_", "delete_"].into_iter();
            let object = verbs
                .into_iter()
                .find_map(|verb| field.strip_prefix(verb))?;
            side.object(object).map(|_| object)
        };
        let mut keys = Vec::new();
        if let Some(object) = object(&self.sides.old).or_else(|| object(&self.sides.new)) {
            *spans = self.object_spans(object);
            keys = self.of_object(object);
        }
        keys.push(setting(settings::MUTATION_PREFIX));
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

    fn of_member(&self, ty: &'a str, member: &'a str, spans: &mut Spans) -> Vec<Key<'a>> {
        let object = match self.subject(ty) {
            Subject::Object(object) => object,
            Subject::Enum(name) => {
                *spans = self.enum_spans(name);
                return vec![(Code::EnumDescriptionChanged, name, "")];
            }
            Subject::BuiltIn if member == "name" => return vec![setting(settings::NAME_LANGUAGE)],
            // The filters of `Object` and `Nameable` have a key for each object.
            Subject::BuiltIn => return self.of_narrowing(member, spans),
        };
        *spans = self.object_spans(object);
        let (old, new) = (&self.sides.old, &self.sides.new);
        match field(old, object, member).or_else(|| field(new, object, member)) {
            Some(Field::Name) => {
                let text = self
                    .text
                    .then_some((Code::ObjectDescriptionChanged, object, ""));
                text.into_iter().chain(self.of_name(object)).collect()
            }
            Some(Field::Property(_) | Field::Count(_) | Field::Aggregate(_)) => {
                self.of_property(object, member, spans)
            }
            _ => {
                let mut keys = self.of_narrowing(member, spans);
                keys.extend(self.of_object(object));
                keys
            }
        }
    }

    /// Returns what may be behind a key that is there for a concrete object: `_ifX` of filters, `X`
    /// of references.
    fn of_narrowing(&self, member: &'a str, spans: &mut Spans) -> Vec<Key<'a>> {
        let object = member.strip_prefix("_if").unwrap_or(member);
        let found = self.object_spans(object);
        if found == Spans::default() {
            return Vec::new();
        }
        *spans = found;
        self.of_descent(object)
    }

    fn of_property(&self, object: &'a str, member: &'a str, spans: &mut Spans) -> Vec<Key<'a>> {
        let (old, new) = (&self.sides.old, &self.sides.new);
        let beside = ["_count", "_aggregate"];
        let mut beside = beside
            .iter()
            .filter_map(|suffix| member.strip_suffix(suffix));
        let known = |name: &&str| {
            old.property(object, name).is_some() || new.property(object, name).is_some()
        };
        let Some(name) = once(member).chain(beside.next()).find(known) else {
            return Vec::new();
        };
        let (before, after) = (old.property(object, name), new.property(object, name));
        *spans = Spans {
            old: before.map(|p| p.span),
            new: after.map(|p| p.span),
        };
        let mut keys = Vec::new();
        if self.text {
            keys.push((Code::PropertyDescriptionChanged, object, name));
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
            keys.extend(codes.map(|code| (code, object, name)));
        }
        if member != name {
            let aggregates = member.ends_with("_aggregate");
            keys.push(setting(if aggregates {
                settings::AGGREGATES
            } else {
                settings::COLLECTION_COUNT
            }));
        }
        for (side, property) in [(old, before), (new, after)] {
            if let Some(range) = property.and_then(|p| range_object(side, p)) {
                keys.extend(self.of_object(range));
            }
        }
        keys.extend(self.of_name(object));
        keys
    }

    /// Returns what a type is generated for.
    fn subject(&self, ty: &'a str) -> Subject<'a> {
        let bases = SUFFIXES.iter().filter_map(|suffix| ty.strip_suffix(suffix));
        for base in once(ty).chain(bases) {
            for side in [&self.sides.old, &self.sides.new] {
                if let Some(id) = side.api.type_ref(base).and_then(TypeRef::object) {
                    return Subject::Object(side.name(id));
                }
                if side.enumeration(base).is_some() {
                    return Subject::Enum(base);
                }
            }
        }
        Subject::BuiltIn
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

/// Returns the setting that may have generated a type, which its name tells.
fn type_setting(ty: &str) -> &'static str {
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| ty.ends_with(suffix));
    if ty == "PageInfo" || ends(&["Connection", "Edge"]) {
        settings::CONNECTIONS
    } else if ty.starts_with("_Counts")
        || ends(&[
            "_Compare",
            "Having",
            "_Aggregate",
            "_AggregateOrderBy",
            "_Group",
        ])
        || ends(&[
            "_GroupKey",
            "_GroupField",
            "_GroupOrderBy",
            "_GroupKeyOrderBy",
        ])
    {
        settings::AGGREGATES
    } else {
        settings::MUTATIONS
    }
}

fn field(side: &Side<'_>, object: &str, member: &str) -> Option<Field> {
    let id = side.object_id(object)?;
    side.api.field(TypeRef::Concrete(id), member)
}

fn range_object<'a>(side: &Side<'a>, property: &Property) -> Option<&'a str> {
    match property.range {
        Range::Object(id) => Some(side.name(id)),
        _ => None,
    }
}

fn setting<'a>(path: &'static str) -> Key<'a> {
    let code = match path {
        settings::NAME_LANGUAGE => Code::SettingChanged,
        _ => Code::ApiSettingChanged,
    };
    (code, path, "")
}
