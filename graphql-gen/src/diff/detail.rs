//! What changed about an object or a property, as words.

use std::fmt::Display;

use soml_core::schema::{LiteralMember, LiteralRange, Max, Object, Path, Property, Range};
use soml_core::search::SearchSettings;
use soml_core::value::{Value, ValueKind};

use super::code::ChangeCode as Code;
use super::side::Side;

/// One characteristic that is another one now.
pub(super) struct Difference {
    pub(super) code: Code,
    /// What changed: `the range`.
    pub(super) what: &'static str,
    was: String,
    is: String,
}

impl Difference {
    /// Compares the words for a characteristic.
    pub(super) fn new(code: Code, what: &'static str, was: String, is: String) -> Option<Self> {
        (was != is).then_some(Difference {
            code,
            what,
            was,
            is,
        })
    }

    /// ` was A and is B`
    pub(super) fn tail(&self) -> String {
        format!(" was {} and is {}", self.was, self.is)
    }
}

/// Returns the text in backquotes, or `nothing`.
pub(super) fn quoted<T: Display>(value: Option<T>) -> String {
    match value {
        Some(value) => format!("`{value}`"),
        None => "nothing".to_owned(),
    }
}

/// Returns all texts in backquotes, or `nothing`.
pub(super) fn list<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    let values: Vec<_> = values.into_iter().map(|v| format!("`{v}`")).collect();
    if values.is_empty() {
        "nothing".to_owned()
    } else {
        values.join(", ")
    }
}

fn keyed(pairs: &[(&str, Option<&str>)]) -> String {
    let given = pairs.iter().filter_map(|(key, value)| {
        let value = value.as_ref()?;
        Some(format!("{key} `{value}`"))
    });
    let given: Vec<_> = given.collect();
    if given.is_empty() {
        "nothing".to_owned()
    } else {
        given.join(", ")
    }
}

pub(super) fn range(side: &Side<'_>, range: Range) -> String {
    let name = match range {
        Range::Scalar(scalar) => scalar.soml_name(),
        Range::Enum(id) => &side.soml[id].name.written,
        Range::Object(id) => &side.soml[id].name.written,
        Range::Literal(LiteralRange::LangString) => "langString",
        Range::Literal(LiteralRange::StringOrLangString) => "stringOrLangString",
        Range::Literal(LiteralRange::Any) => "literal",
        Range::Literal(LiteralRange::DateOrYearOrMonth) => "dateOrYearOrMonth",
        Range::Literal(LiteralRange::Union(id)) => &side.soml[id].name.written,
    };
    format!("`{name}`")
}

pub(super) fn member(member: LiteralMember) -> &'static str {
    match member {
        LiteralMember::Scalar(scalar) => scalar.soml_name(),
        LiteralMember::LangString => "langString",
    }
}

pub(super) fn bounds(property: &Property) -> String {
    match property.max {
        Max::Count(max) => format!("{} to {max}", property.min),
        Max::Unbounded => format!("{} or more", property.min),
    }
}

/// Returns the shape of the field's type: `T`, `[T!]`.
pub(super) fn nullability(property: &Property) -> String {
    let mark = |non_null: bool| if non_null { "!" } else { "" };
    let outer = mark(property.non_nullable);
    if property.max.is_multiple() {
        format!("`[T{}]{outer}`", mark(property.non_nullable_elements))
    } else {
        format!("`T{outer}`")
    }
}

/// Returns which way a property is read, and over what.
pub(super) fn direction(side: &Side<'_>, property: &Property) -> String {
    match &property.path {
        Path::Forward(iri) => format!("forward over `{iri}`"),
        Path::Inverse { of, .. } => format!("the inverse of `{}`", partner(side, &side.soml[*of])),
    }
}

/// Returns what is stored with a property: `Owner.property`, `itself` or `nothing`.
pub(super) fn inverse(side: &Side<'_>, property: &Property) -> String {
    match property.inverse_of {
        Some(of) => format!("`{}`", partner(side, &side.soml[of])),
        None if property.symmetric => "itself".to_owned(),
        None => "nothing".to_owned(),
    }
}

fn partner(side: &Side<'_>, property: &Property) -> String {
    format!("{}.{}", side.name(property.owner), property.name.graphql)
}

pub(super) fn language(property: &Property) -> String {
    let lang = &property.lang;
    let fetch = lang.fetch.as_ref().map(ToString::to_string);
    let validate = lang.validate.as_ref().map(ToString::to_string);
    keyed(&[
        ("fetch", fetch.as_deref()),
        ("validate", validate.as_deref()),
        ("implicit", lang.implicit.as_deref()),
    ])
}

pub(super) fn values(property: &Property) -> String {
    let values_in = property.values_in.join(", ");
    keyed(&[
        ("regex", property.regex.as_deref()),
        ("prefix", property.prefix.as_deref()),
        ("pattern", property.pattern.as_deref()),
        (
            "valuesIn",
            (!values_in.is_empty()).then_some(values_in.as_str()),
        ),
        ("immutable", property.immutable.then_some("true")),
    ])
}

pub(super) fn ids(object: &Object) -> String {
    keyed(&[
        ("prefix", object.id_prefix.as_deref()),
        ("regex", object.id_regex.as_deref()),
        ("pattern", object.id_pattern.as_deref()),
    ])
}

pub(super) fn search(settings: Option<&SearchSettings>) -> String {
    let Some(settings) = settings else {
        return "nothing".to_owned();
    };
    let level = settings.nesting_level.map(|level| level.to_string());
    let languages: Vec<_> = settings
        .lang_analyzers
        .iter()
        .map(|(tag, analyzer)| format!("{tag} {analyzer}"))
        .collect();
    let languages = languages.join(", ");
    keyed(&[
        ("index", Some(if settings.index { "true" } else { "false" })),
        ("analyzer", settings.analyzer.as_deref()),
        (
            "lang",
            (!languages.is_empty()).then_some(languages.as_str()),
        ),
        ("nested", settings.nested.then_some("true")),
        ("nestingLevel", level.as_deref()),
        ("type", settings.field_type.as_deref()),
    ])
}

/// Returns a plain value as text, whatever its coordinate.
pub(super) fn value(value: &Value) -> String {
    match &value.kind {
        ValueKind::Null => "null".to_owned(),
        ValueKind::Text { text, quoted } => match quoted {
            true => format!("{text:?}"),
            false => text.clone(),
        },
        ValueKind::List(values) => {
            let values: Vec<_> = values.iter().map(self::value).collect();
            format!("[{}]", values.join(", "))
        }
        ValueKind::Map(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| format!("{key:?}: {}", self::value(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
