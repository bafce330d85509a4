//! Regular expressions that match every text, as far as their form shows.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::regex::Regex;

/// Characters of the shortest IRI, which is a scheme and a colon.
const MIN_IRI: usize = 2;

/// Texts that a regular expression may all match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// Any texts, the empty one too.
    Any,
    /// IRIs: they have a scheme with a colon, and neither blanks nor control characters.
    Iris,
}

impl Regex {
    /// Returns whether some part of each text matches; `false` where the form does not show it.
    pub(super) fn matches_every(&self, texts: Texts) -> bool {
        let mut parser = ParserBuilder::new()
            .case_insensitive(self.case_insensitive)
            .build();
        let parsed = parser.parse(&self.pattern);
        parsed.is_ok_and(|hir| is_found(&hir, texts))
    }
}

/// Returns whether some part of each text matches.
fn is_found(hir: &Hir, texts: Texts) -> bool {
    if is_everywhere(hir) || (texts == Texts::Iris && is_in_iris(hir)) {
        return true;
    }
    match hir.kind() {
        HirKind::Look(look) => matches!(look, Look::Start | Look::End),
        HirKind::Capture(group) => is_found(&group.sub, texts),
        HirKind::Repetition(of) => of.min == 1 && is_found(&of.sub, texts),
        HirKind::Alternation(parts) => parts.iter().any(|part| is_found(part, texts)),
        HirKind::Concat(parts) => is_sequence_found(parts, texts),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => false,
    }
}

fn is_sequence_found(parts: &[Hir], texts: Texts) -> bool {
    let is = |part: &Hir, look: Look| *part.kind() == HirKind::Look(look);
    let (starts, parts) = match parts {
        [first, rest @ ..] if is(first, Look::Start) => (true, rest),
        _ => (false, parts),
    };
    let (ends, parts) = match parts {
        [rest @ .., last] if is(last, Look::End) => (true, rest),
        _ => (false, parts),
    };
    let others = || parts.iter().filter(|part| !is_everywhere(part));
    match texts {
        // What matches the empty text can be passed over.
        Texts::Any if !(starts && ends) => others().next().is_none(),
        Texts::Any => others().next().is_none() && parts.iter().any(|part| takes_all(part, texts)),
        Texts::Iris => in_iris(parts, starts, ends),
    }
}

/// Returns whether each IRI contains a sequence. An IRI begins with one character or more and a colon; there may be
/// nothing behind it.
fn in_iris(parts: &[Hir], starts: bool, ends: bool) -> bool {
    let colon = parts.iter().position(is_colon);
    let (before, behind) = match colon {
        Some(at) => (&parts[..at], &parts[at + 1..]),
        None => (parts, &[][..]),
    };
    let needed = |parts: &[Hir]| {
        let needed = parts.iter().filter(|part| !is_everywhere(part));
        let fits = needed.clone().all(is_any_character);
        fits.then(|| needed.count())
    };
    let (Some(before_it), Some(behind_it)) = (needed(before), needed(behind)) else {
        return false;
    };
    // One part takes all that the others leave.
    let reaches = |parts: &[Hir]| parts.iter().any(|part| takes_all(part, Texts::Iris));
    match colon {
        Some(_) => {
            before_it <= 1
                && behind_it == 0
                && (!starts || reaches(before))
                && (!ends || reaches(behind))
        }
        None => before_it <= MIN_IRI && (!(starts && ends) || reaches(before)),
    }
}

/// Returns whether the empty text matches, wherever it is.
fn is_everywhere(hir: &Hir) -> bool {
    let properties = hir.properties();
    properties.minimum_len() == Some(0) && properties.look_set().is_empty()
}

/// Returns whether each IRI contains a match: a character of any kind, or the colon behind the scheme.
fn is_in_iris(hir: &Hir) -> bool {
    is_any_character(hir) || is_colon(hir)
}

fn is_colon(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(of) => *of.0 == *b":",
        HirKind::Capture(group) => is_colon(&group.sub),
        _ => false,
    }
}

/// Returns whether each character of an IRI matches.
fn is_any_character(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let mut others = class.clone();
            others.negate();
            others.ranges().iter().all(|range| range.end() <= ' ')
        }
        HirKind::Capture(group) => is_any_character(&group.sub),
        HirKind::Repetition(of) => of.min == 1 && is_any_character(&of.sub),
        _ => false,
    }
}

/// Returns whether each text matches as a whole.
fn takes_all(hir: &Hir, texts: Texts) -> bool {
    match hir.kind() {
        HirKind::Capture(group) => takes_all(&group.sub, texts),
        HirKind::Repetition(of) if of.max.is_none() => match texts {
            Texts::Iris => of.min <= 1 && is_any_character(&of.sub),
            Texts::Any => of.min == 0 && is_whole_class(&of.sub),
        },
        _ => false,
    }
}

/// Returns whether each character matches, line breaks too.
fn is_whole_class(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let mut others = class.clone();
            others.negate();
            others.ranges().is_empty()
        }
        HirKind::Capture(group) => is_whole_class(&group.sub),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Regex, Texts};

    fn matches_every(pattern: &str, texts: Texts) -> bool {
        let regex = Regex::new(pattern, true, 100).expect("a regular expression");
        regex.matches_every(texts)
    }

    #[test]
    fn what_the_empty_text_satisfies_matches_every_text() {
        for pattern in [
            "", "a*", "(a|)", "()", "^", "$", "^a*", "(b?){2}$", "x|^", "(^)+",
        ] {
            assert!(matches_every(pattern, Texts::Any), "{pattern}");
            assert!(matches_every(pattern, Texts::Iris), "{pattern}");
        }
    }

    #[test]
    fn what_any_character_satisfies_matches_every_iri() {
        for pattern in [
            ".",
            ".+",
            "^.",
            "^.*$",
            "^.+$",
            "(.)$",
            "a*.b*",
            r"\S",
            ":",
            "^(.*)$",
            "..",
            "^..",
            "^.+.$",
            ".*:.*",
            "^.*:",
            "^.+:.*$",
            ".:",
            "^.*(:).*$",
            "^.+:",
        ] {
            assert!(matches_every(pattern, Texts::Iris), "{pattern}");
            assert!(!matches_every(pattern, Texts::Any), "{pattern}");
        }
    }

    #[test]
    fn what_some_texts_lack_does_not() {
        for pattern in [
            "a", "^$", "^a*$", "^h", "...", ":.", "^.$", ".a", r"\d", "[^a]", "^.?$", "^:", ":$",
            "^.:", "..:", "::", "^..$",
        ] {
            assert!(!matches_every(pattern, Texts::Any), "{pattern}");
            assert!(!matches_every(pattern, Texts::Iris), "{pattern}");
        }
    }
}
