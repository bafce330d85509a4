//! Which of the stored values of a field its language specification chooses.
//!
//! A specification chooses among texts, and untagged texts stand where it chooses none. Literals of
//! other datatypes do not depend on it. What fits the range of the field is chosen before what does
//! not.

use oxrdf::{Term, TermRef};
use soml_core::lang::{LangHead, LangSpec};

use super::is_text;

/// How a field chooses among the language variants of its values.
#[derive(Clone, Copy, Debug)]
pub struct Languages<'a> {
    /// The specification; without one a list shows all values, and a single-valued field those
    /// without a tag, else those of the smallest tag.
    pub spec: Option<&'a LangSpec>,
    /// The languages that the request accepts, best first.
    pub accepted: &'a [String],
}

/// A term, owned or borrowed.
pub trait AsTerm {
    /// Returns the term.
    fn as_term(&self) -> TermRef<'_>;
}

impl AsTerm for Term {
    fn as_term(&self) -> TermRef<'_> {
        self.as_ref()
    }
}

impl AsTerm for TermRef<'_> {
    fn as_term(&self) -> TermRef<'_> {
        *self
    }
}

/// The values among which a single-valued field decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<'v, T = Term> {
    /// The field shows the smallest of these that fits.
    pub chosen: Vec<&'v T>,
    /// Values that compete with the chosen ones whatever the language, and are shown where none of
    /// those fits.
    pub others: Vec<&'v T>,
}

impl<T> Default for Choice<'_, T> {
    fn default() -> Self {
        Choice {
            chosen: Vec::new(),
            others: Vec::new(),
        }
    }
}

impl<'v, T: AsTerm> Choice<'v, T> {
    /// Returns the choice where languages mean nothing.
    #[must_use]
    pub fn all(values: &'v [T]) -> Self {
        Choice {
            chosen: values.iter().collect(),
            others: Vec::new(),
        }
    }
}

impl Languages<'_> {
    /// Returns the values that a list shows, in the order of the specification.
    #[must_use]
    pub fn list<'v, T: AsTerm>(&self, values: &'v [T], fits: impl Fn(&T) -> bool) -> Vec<&'v T> {
        let Some(spec) = self.spec else {
            return values.iter().collect();
        };
        let (texts, typed): (Vec<&T>, Vec<&T>) = values.iter().partition(|v| is_text_term(*v));
        let mut shown = if spec.head == LangHead::Preference {
            let (fit, unfit): (Vec<&T>, Vec<&T>) = texts.iter().partition(|v| fits(v));
            let chosen = self.listed(spec, &fit);
            if chosen.is_empty() {
                self.listed(spec, &unfit)
            } else {
                chosen
            }
        } else {
            self.listed(spec, &texts)
        };
        shown.extend(typed);
        shown
    }

    /// Returns the values among which a single-valued field decides.
    #[must_use]
    pub fn single<'v, T: AsTerm>(
        &self,
        values: &'v [T],
        fits: impl Fn(&T) -> bool,
    ) -> Choice<'v, T> {
        let (fit, unfit): (Vec<&T>, Vec<&T>) = values.iter().partition(|v| fits(v));
        let Some(spec) = self.spec else {
            return without_spec(&fit, unfit);
        };
        let one = |values: &[&'v T]| {
            let texts: Vec<&T> = values
                .iter()
                .copied()
                .filter(|v| is_text_term(*v))
                .collect();
            let picked = spec.pick_one(texts.iter().map(|text| tag(*text)), self.accepted);
            picked.into_iter().map(|at| texts[at]).collect::<Vec<_>>()
        };
        let typed = |values: &[&'v T]| -> Vec<&'v T> {
            let typed = values.iter().copied();
            typed.filter(|v| !is_text_term(*v)).collect()
        };
        // Where the languages choose none: untagged texts, and what is no text.
        let rest = |values: &[&'v T]| {
            let mut rest = untagged(spec, values);
            rest.extend(typed(values));
            rest
        };
        let mut others = typed(&unfit);
        let chosen = one(&fit);
        if !chosen.is_empty() {
            others.extend(typed(&fit));
            return Choice { chosen, others };
        }
        let chosen = rest(&fit);
        if !chosen.is_empty() {
            return Choice { chosen, others };
        }
        let chosen = one(&unfit);
        if !chosen.is_empty() {
            return Choice { chosen, others };
        }
        Choice {
            chosen: rest(&unfit),
            others: Vec::new(),
        }
    }

    /// Returns the texts that a specification chooses, else the untagged ones.
    fn listed<'v, T: AsTerm>(&self, spec: &LangSpec, texts: &[&'v T]) -> Vec<&'v T> {
        let picked = spec.pick(texts.iter().map(|text| tag(*text)), self.accepted);
        if picked.is_empty() {
            return untagged(spec, texts);
        }
        picked.into_iter().map(|at| texts[at]).collect()
    }
}

/// Values without a tag go first, then those of the smallest tag.
fn without_spec<'v, T: AsTerm>(fit: &[&'v T], unfit: Vec<&'v T>) -> Choice<'v, T> {
    let any = |values: &[&'v T]| -> Vec<&'v T> {
        let picked = LangSpec::any().pick_one(values.iter().map(|value| tag(*value)), &[]);
        picked.into_iter().map(|at| values[at]).collect()
    };
    if fit.is_empty() {
        return Choice {
            chosen: any(&unfit),
            others: Vec::new(),
        };
    }
    let mut others = unfit;
    others.retain(|value| tag(*value).is_none());
    Choice {
        chosen: any(fit),
        others,
    }
}

/// Returns the texts without a tag, where they may stand in for others.
fn untagged<'v, T: AsTerm>(spec: &LangSpec, values: &[&'v T]) -> Vec<&'v T> {
    if !spec.admits_untagged() {
        return Vec::new();
    }
    let values = values.iter().copied();
    values
        .filter(|value| is_text_term(*value) && tag(*value).is_none())
        .collect()
}

fn tag(term: &impl AsTerm) -> Option<&str> {
    match term.as_term() {
        TermRef::Literal(literal) => literal.language(),
        _ => None,
    }
}

/// Returns whether a term is a string, tagged or not.
fn is_text_term(term: &impl AsTerm) -> bool {
    matches!(term.as_term(), TermRef::Literal(literal) if is_text(literal))
}

#[cfg(test)]
mod tests {
    use oxrdf::{Literal, Term};
    use soml_core::lang::LangSpec;

    use super::{Languages, is_text_term, tag};

    /// Values as written: `text@tag`, `text` without a tag, or a whole number.
    fn term(written: &str) -> Term {
        match (written.split_once('@'), written.parse::<i64>()) {
            (Some((text, tag)), _) => {
                Literal::new_language_tagged_literal_unchecked(text, tag).into()
            }
            (None, Ok(number)) => Literal::from(number).into(),
            (None, Err(_)) => Literal::new_simple_literal(written).into(),
        }
    }

    fn shown(terms: &[&Term]) -> String {
        let shown = terms.iter().map(|term| match term {
            Term::Literal(literal) => match literal.language() {
                Some(tag) => format!("{}@{tag}", literal.value()),
                None => literal.value().to_owned(),
            },
            other => other.to_string(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    fn values(written: &str) -> Vec<Term> {
        written.split(' ').map(term).collect()
    }

    fn list(spec: &str, written: &str, fits: fn(&Term) -> bool) -> String {
        let spec = LangSpec::parse(spec).expect(spec);
        let languages = Languages {
            spec: Some(&spec),
            accepted: &[],
        };
        shown(&languages.list(&values(written), fits))
    }

    fn single(spec: Option<&str>, written: &str, fits: fn(&Term) -> bool) -> String {
        let spec = spec.map(|spec| LangSpec::parse(spec).expect(spec));
        let languages = Languages {
            spec: spec.as_ref(),
            accepted: &[],
        };
        let values = values(written);
        let choice = languages.single(&values, fits);
        format!("{} | {}", shown(&choice.chosen), shown(&choice.others))
    }

    fn anything(_: &Term) -> bool {
        true
    }

    fn tagged(term: &Term) -> bool {
        tag(term).is_some()
    }

    #[test]
    fn untagged_texts_stand_where_no_language_is_chosen() {
        assert_eq!(list("en", "a b@de", anything), "a");
        assert_eq!(list("en", "a b@en", anything), "b@en");
        assert_eq!(list("ALL:en,fr", "a b@de", anything), "a");
        assert_eq!(list("en,-NONE", "a b@de", anything), "");
        assert_eq!(single(Some("en"), "a b@de", anything), "a | ");
        assert_eq!(single(Some("en,-NONE"), "a b@de", anything), " | ");
    }

    #[test]
    fn other_literals_do_not_depend_on_languages() {
        assert_eq!(list("en", "5 a b@en", anything), "b@en 5");
        assert_eq!(list("en", "5 a b@de", anything), "a 5");
        assert_eq!(list("ANY", "5 b@de", anything), "b@de 5");
        assert_eq!(list("en,-NONE", "5", anything), "5");
        assert_eq!(single(Some("en"), "5 a b@en", anything), "b@en | 5");
        assert_eq!(single(Some("en"), "5 a b@de", anything), "a 5 | ");
        assert_eq!(single(Some("en"), "5 b@de", anything), "5 | ");
        assert_eq!(single(None, "5 a b@de", anything), "5 a | ");
    }

    #[test]
    fn what_fits_wins() {
        assert_eq!(single(None, "5 b@de", is_text_term), "b@de | 5");
        assert_eq!(single(Some("ANY"), "5 b@de", is_text_term), "b@de | 5");
        assert_eq!(single(None, "a b@de", tagged), "b@de | a");
        assert_eq!(single(Some("ANY"), "a b@de", tagged), "b@de | ");
        assert_eq!(single(Some("en"), "a b@de", tagged), "a | ");
        assert_eq!(list("ANY", "a b@de", tagged), "b@de");
        assert_eq!(list("NONE", "a b@de", tagged), "a");
        assert_eq!(list("ALL", "a b@de 5", tagged), "a b@de 5");
    }

    #[test]
    fn one_value_is_of_one_tag() {
        assert_eq!(
            single(Some("en~"), "a@en-US b@en-GB", anything),
            "b@en-GB | "
        );
        assert_eq!(single(None, "a@en b@de c@de", anything), "b@de c@de | ");
    }
}
