//! All names that a program can be configured by.

use crate::names::normalized;
use crate::property::{Alias, Named, Numbered, Part, Planned, Property};

/// All configuration of a program, and its suggestions for unknown names.
pub struct Catalogue<S: 'static> {
    /// The properties, in the order of the documentation.
    pub properties: Vec<Property<S>>,
    /// Properties that each of many things has, by family.
    pub numbered: &'static [Numbered<S>],
    /// Properties whose names end in the name of something else.
    pub named: Option<Named<S>>,
    /// Other names of properties.
    pub aliases: &'static [Alias],
    /// Properties that are accepted but have no effect.
    pub planned: &'static [Planned<S>],
    /// Environment variables that commands read in addition to properties.
    pub variables: &'static [&'static str],
    /// First segments of names that can only be meant for this program.
    pub families: &'static [&'static str],
    /// Variables of the environment that someone else has given a meaning.
    pub standard: Option<Standard<S>>,
}

/// Variables that someone else has given a meaning, such as `OTEL_…`.
pub struct Standard<S> {
    /// What all their names begin with.
    pub prefix: &'static str,
    /// Takes the value of one.
    pub set: fn(&mut S, &str, &str),
}

/// One property of a numbered thing.
pub(crate) struct Found<'c, S: 'static> {
    pub(crate) numbered: &'c Numbered<S>,
    pub(crate) number: u32,
    pub(crate) part: &'c Part<S>,
}

impl<S> Found<'_, S> {
    /// Returns the name as it is documented.
    pub(crate) fn key(&self) -> String {
        format!("{}{}{}", self.numbered.family, self.number, self.part.end)
    }
}

impl<S> Catalogue<S> {
    /// Finds the property called `name`, ignoring case and punctuation.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Property<S>> {
        let wanted = normalized(name);
        let mut properties = self.properties.iter();
        properties.find(|property| normalized(property.key) == wanted)
    }

    /// Finds the property that has `name` as its own or as another name.
    #[must_use]
    pub fn find_by_any_name(&self, name: &str) -> Option<&Property<S>> {
        self.find(self.alias(name).map_or(name, |alias| alias.key))
    }

    /// Finds the other name `name` of a property.
    pub(crate) fn alias(&self, name: &str) -> Option<&'static Alias> {
        let wanted = normalized(name);
        let mut aliases = self.aliases.iter();
        aliases.find(|alias| normalized(alias.name) == wanted)
    }

    /// Finds the property that is known and has no effect, ignoring case and punctuation.
    #[must_use]
    pub fn planned(&self, name: &str) -> Option<&'static Planned<S>> {
        let wanted = normalized(name);
        let path = dotted(name);
        let mut planned = self.planned.iter();
        let exact = planned.find(|planned| normalized(planned.name) == wanted);
        exact.or_else(|| {
            self.planned.iter().find(|planned| {
                let parent = planned.name.strip_suffix('*');
                parent.is_some_and(|parent| path.starts_with(&dotted(parent)))
            })
        })
    }

    /// Finds the property of a numbered thing.
    pub(crate) fn numbered(&self, name: &str) -> Option<Found<'_, S>> {
        let wanted = normalized(name);
        let mut families = self.numbered.iter();
        let (numbered, rest) = families.find_map(|numbered| {
            let rest = wanted.strip_prefix(&normalized(numbered.family))?;
            Some((numbered, rest))
        })?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[..digits].parse().ok()?;
        let end = &rest[digits..];
        let part = numbered.parts.iter().find(|part| {
            let is = |of: &str| normalized(of) == end;
            is(part.end) || part.other_end.is_some_and(is)
        });
        Some(Found {
            numbered,
            number,
            part: part?,
        })
    }

    /// Finds the family of a name that ends in the name of something else, and that name as it is given.
    pub(crate) fn named<'n>(&self, name: &'n str) -> Option<(&Named<S>, &'n str)> {
        let named = self.named.as_ref()?;
        let is_below = dotted(name).starts_with(&dotted(named.family));
        let (start, _) = name.char_indices().nth(named.family.len())?;
        is_below.then(|| (named, &name[start..]))
    }
}

/// Returns a name in lower case with one kind of punctuation, to compare the parts of names.
fn dotted(name: &str) -> String {
    let dotted = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '.',
    };
    name.chars().map(dotted).collect()
}
