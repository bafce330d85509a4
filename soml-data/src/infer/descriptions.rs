//! How the data describe their classes and properties: labels and definitions.

use std::collections::BTreeMap;

use oxrdf::Literal;

/// Properties that hold labels and definitions, of each the best first.
pub(super) const LABEL: &str = "http://www.w3.org/2000/01/rdf-schema#label";
const DEFINITIONS: [&str; 2] = [
    "http://www.w3.org/2004/02/skos/core#definition",
    "http://www.w3.org/2000/01/rdf-schema#comment",
];

/// Maximum number of characters of a label, and of a description.
const MAX_LABEL: usize = 100;
const MAX_DESCRIPTION: usize = 500;

/// The descriptions of classes and properties, by IRI.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Descriptions(BTreeMap<String, Description>);

/// How one class or property is described.
#[derive(Debug, Default, PartialEq, Eq)]
struct Description {
    label: Option<Ranked>,
    description: Option<Ranked>,
}

/// A string with its rank: the least is taken.
type Ranked = ((usize, u8, String), String);

impl Descriptions {
    /// Returns the properties that are read.
    pub(super) fn properties() -> impl Iterator<Item = &'static str> {
        std::iter::once(LABEL).chain(DEFINITIONS)
    }

    /// Takes a statement about a class or property in; other properties are ignored.
    pub(super) fn add(&mut self, of: &str, property: &str, value: &Literal) {
        let definition = DEFINITIONS.iter().position(|known| *known == property);
        let (rank, most) = match definition {
            Some(rank) => (rank, MAX_DESCRIPTION),
            None if property == LABEL => (0, MAX_LABEL),
            None => return,
        };
        let text = one_line(value.value(), most);
        if text.is_empty() {
            return;
        }
        let described = self.0.entry(of.to_owned()).or_default();
        let slot = match definition {
            Some(_) => &mut described.description,
            None => &mut described.label,
        };
        let tag = value.language().unwrap_or_default().to_ascii_lowercase();
        let ranked = ((rank, preference(&tag), tag), text);
        if slot.as_ref().is_none_or(|best| ranked < *best) {
            *slot = Some(ranked);
        }
    }

    /// Returns the label of a class or property.
    pub(super) fn label(&self, of: &str) -> Option<&str> {
        let ranked = self.0.get(of)?.label.as_ref()?;
        Some(&ranked.1)
    }

    /// Returns the definition of a class or property.
    pub(super) fn description(&self, of: &str) -> Option<&str> {
        let ranked = self.0.get(of)?.description.as_ref()?;
        Some(&ranked.1)
    }
}

/// Ranks a language: none, English, a dialect of it, any other.
fn preference(tag: &str) -> u8 {
    match tag {
        "" => 0,
        "en" => 1,
        _ if tag.starts_with("en-") => 2,
        _ => 3,
    }
}

/// Makes white space single spaces, and cuts what is longer than `most` characters.
fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 4 * most {
            break;
        }
    }
    if let Some((end, _)) = line.char_indices().nth(most) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_win_over_comments_and_english_over_other_languages() {
        let mut descriptions = Descriptions::default();
        let tagged = |text: &str, tag: &str| {
            Literal::new_language_tagged_literal(text, tag).expect("a language tag")
        };
        let comment = DEFINITIONS[1];
        descriptions.add("a", comment, &Literal::new_simple_literal("comment"));
        descriptions.add("a", DEFINITIONS[0], &tagged("Begriff", "de"));
        descriptions.add("a", LABEL, &tagged("Buch", "de"));
        descriptions.add("a", LABEL, &tagged("A\n  book", "en"));
        assert_eq!(descriptions.description("a"), Some("Begriff"));
        assert_eq!(descriptions.label("a"), Some("A book"));
        descriptions.add("a", LABEL, &Literal::new_simple_literal("x".repeat(200)));
        let label = descriptions.label("a").expect("a label");
        assert_eq!(label.chars().count(), MAX_LABEL + 1);
    }
}
