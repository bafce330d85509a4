//! What the keys of clauses, sort keys and aggregations address.

use crate::mapping::{Content, Embedded, Field, Leaf, ObjectFields, ScalarIndex};

/// What a key addresses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target<'i> {
    /// `id` or `type`, by its name.
    BuiltIn(&'i ObjectFields, &'static str),
    /// The values of a property, analysed if they are text.
    Values(&'i Field, &'i Leaf),
    /// Whole values of text.
    Whole(&'i Field),
}

/// Which clauses fit a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Analysed text.
    Text,
    /// Analysed text in languages.
    Language,
    /// Whole strings.
    Keyword,
    /// Booleans, which have no order to speak of.
    Boolean,
    /// Numbers, dates and times.
    Number,
}

impl<'i> Target<'i> {
    pub(super) fn kind(self) -> Kind {
        match self {
            Target::BuiltIn(..) | Target::Whole(_) => Kind::Keyword,
            Target::Values(_, Leaf::Language { .. }) => Kind::Language,
            Target::Values(_, Leaf::Scalar { index, .. }) => match index {
                ScalarIndex::Text => Kind::Text,
                ScalarIndex::Keyword => Kind::Keyword,
                ScalarIndex::Boolean => Kind::Boolean,
                ScalarIndex::Integer(_)
                | ScalarIndex::Double
                | ScalarIndex::Exact
                | ScalarIndex::Instant
                | ScalarIndex::Time => Kind::Number,
            },
        }
    }

    /// Returns how the values are indexed; text is addressed whole or not at all.
    pub(super) fn index(self) -> ScalarIndex {
        match self {
            Target::Values(_, Leaf::Scalar { index, .. }) => *index,
            Target::Values(_, Leaf::Language { .. }) => ScalarIndex::Text,
            Target::BuiltIn(..) | Target::Whole(_) => ScalarIndex::Keyword,
        }
    }

    /// Returns the full names of the fields that clauses are about: several for text in languages.
    pub(super) fn paths(self) -> Vec<String> {
        match self {
            Target::Values(field, Leaf::Language { languages, .. }) => {
                let named = languages
                    .iter()
                    .map(|language| field.language_path(language));
                std::iter::once(field.path.clone()).chain(named).collect()
            }
            Target::Values(
                field,
                Leaf::Scalar {
                    index: ScalarIndex::Text,
                    ..
                },
            ) => {
                vec![field.path.clone()]
            }
            other => vec![other.whole_path()],
        }
    }

    /// Returns the full name of the field that holds whole values.
    pub(super) fn whole_path(self) -> String {
        match self {
            Target::BuiltIn(object, name) => object.path_of(name),
            Target::Values(field, _) | Target::Whole(field) => field.whole_path(),
        }
    }
}

/// What is behind the key of an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Member<'i> {
    Target(Target<'i>),
    Object(&'i Embedded),
}

/// Lists the keys of an object with what they address.
pub(super) fn members(object: &ObjectFields) -> Vec<(String, Member<'_>)> {
    let mut all = vec![(
        "id".to_owned(),
        Member::Target(Target::BuiltIn(object, "id")),
    )];
    if !object.id_only {
        all.push((
            "type".to_owned(),
            Member::Target(Target::BuiltIn(object, "type")),
        ));
    }
    for (name, field) in &object.fields {
        match &field.content {
            Content::Object(embedded) => all.push((name.clone(), Member::Object(embedded))),
            Content::Leaf(leaf) => {
                all.push((name.clone(), Member::Target(Target::Values(field, leaf))));
                // The whole value of analysed text, for clauses that compare it as one.
                if leaf.is_text() {
                    all.push((
                        format!("{name}_keyword"),
                        Member::Target(Target::Whole(field)),
                    ));
                }
            }
        }
    }
    all
}

/// Finds what a key of an object addresses.
pub(super) fn member<'i>(object: &'i ObjectFields, key: &str) -> Option<Member<'i>> {
    match key {
        "id" => return Some(Member::Target(Target::BuiltIn(object, "id"))),
        "type" if !object.id_only => return Some(Member::Target(Target::BuiltIn(object, "type"))),
        _ => {}
    }
    if let Some(field) = object.fields.get(key) {
        return Some(match &field.content {
            Content::Object(embedded) => Member::Object(embedded),
            Content::Leaf(leaf) => Member::Target(Target::Values(field, leaf)),
        });
    }
    let field = object.fields.get(key.strip_suffix("_keyword")?)?;
    field
        .leaf()?
        .is_text()
        .then_some(Member::Target(Target::Whole(field)))
}

/// A target, and the embedded objects that it is in.
#[derive(Clone, Debug)]
pub(super) struct Found<'i> {
    pub(super) target: Target<'i>,
    /// The full name of the nearest nested object that has the target.
    pub(super) nested: Option<String>,
    /// From where the way begins to the target.
    pub(super) way: Vec<WayStep<'i>>,
}

/// A step on the way to a target.
#[derive(Clone, Debug)]
pub(super) struct WayStep<'i> {
    /// The object that has the field.
    pub(super) object: &'i ObjectFields,
    /// `id`, `type`, or a field of the object.
    pub(super) field: String,
    /// The object is a nested one; never said of where the way begins.
    pub(super) is_nested: bool,
}

/// Separates the steps of a way through embedded objects.
const STEP: &str = "__";

/// Lists the ways to all targets of an object, through embedded ones.
pub(super) fn ways(object: &ObjectFields) -> Vec<String> {
    let mut all = Vec::new();
    add_ways(object, "", &mut all);
    all
}

fn add_ways(object: &ObjectFields, above: &str, all: &mut Vec<String>) {
    for (name, member) in members(object) {
        let way = format!("{above}{name}");
        match member {
            Member::Target(_) => all.push(way),
            Member::Object(embedded) => add_ways(&embedded.fields, &format!("{way}{STEP}"), all),
        }
    }
}

/// Finds the target at the end of a way.
pub(super) fn follow<'i>(object: &'i ObjectFields, way: &str) -> Option<Found<'i>> {
    if let Some(Member::Target(target)) = member(object, way) {
        return Some(Found::new(object, way, target));
    }
    // A name may have the separator in it, so every way to cut is tried.
    way.match_indices(STEP).find_map(|(at, _)| {
        let name = &way[..at];
        let Some(Member::Object(embedded)) = member(object, name) else {
            return None;
        };
        let found = follow(&embedded.fields, &way[at + STEP.len()..])?;
        Some(found.under(object, name, embedded))
    })
}

impl<'i> Found<'i> {
    /// Creates what a key of an object addresses.
    pub(super) fn new(object: &'i ObjectFields, key: &str, target: Target<'i>) -> Self {
        let field = match target {
            Target::BuiltIn(_, name) => name,
            Target::Values(..) => key,
            Target::Whole(_) => key.strip_suffix("_keyword").unwrap_or(key),
        };
        let step = WayStep {
            object,
            field: field.to_owned(),
            is_nested: false,
        };
        Found {
            target,
            nested: None,
            way: vec![step],
        }
    }

    /// Returns the same, seen from the object that has it embedded in a field.
    pub(super) fn under(
        mut self,
        object: &'i ObjectFields,
        name: &str,
        embedded: &'i Embedded,
    ) -> Self {
        if self.nested.is_none() && embedded.nested {
            self.nested = Some(embedded.fields.path.clone());
        }
        if let Some(first) = self.way.first_mut() {
            first.is_nested = embedded.nested;
        }
        let step = WayStep {
            object,
            field: name.to_owned(),
            is_nested: false,
        };
        self.way.insert(0, step);
        self
    }
}
