//! How many terms of a dictionary the clauses of a search stand for (docs/search.md, "Cost
//! limits").
//!
//! An engine looks each of them up and reads the documents that have it, so this is about what a search costs
//! beside what it finds. It is known before the search runs, and the same for all engines.

use super::options::Fuzziness;
use super::query::{Match, Query, Range};
use super::search::Search;
use super::value::Value;

/// Default number of similar terms that a term of a fuzzy clause expands to: OpenSearch's
/// default of `max_expansions`.
pub const EXPANSIONS: u32 = 50;

impl Search {
    /// Returns the maximum number of terms that the clauses expand to. See [`Query::expanded_terms`].
    #[must_use]
    pub fn expanded_terms(&self) -> u64 {
        let queries = self.query.iter().chain(&self.post_filter);
        queries.map(of_all).fold(0, u64::saturating_add)
    }
}

impl Query {
    /// Returns how many terms the clause itself expands to, without nested clauses: each word of a
    /// text and each value is one. With typing errors, a word is as many as `max_expansions` says, or
    /// [`EXPANSIONS`]; so many are also what begins with a text, is between two texts, or has any case.
    #[must_use]
    pub fn expanded_terms(&self) -> u64 {
        match self {
            Query::Match(clause) => clause.expanded_terms(),
            Query::Term(term) if term.case_insensitive => EXPANSIONS.into(),
            Query::Term(_) | Query::Exists(_) => 1,
            Query::Terms(terms) => terms.values.len() as u64,
            Query::Ids(ids) => ids.values.len() as u64,
            Query::Prefix(_) => EXPANSIONS.into(),
            Query::Range(range) => range.expanded_terms(),
            Query::MatchAll { .. }
            | Query::MatchNone
            | Query::Bool(_)
            | Query::ConstantScore { .. }
            | Query::DisMax(_)
            | Query::Nested(_) => 0,
        }
    }
}

impl Match {
    fn expanded_terms(&self) -> u64 {
        let words = match &self.query {
            Value::Text(text) => words(text),
            _ => 1,
        };
        let each = match self.fuzziness {
            None | Some(Fuzziness::Edits(0)) => 1,
            Some(_) => self.max_expansions.unwrap_or(EXPANSIONS),
        };
        words.saturating_mul(each.into())
    }
}

impl Range {
    fn expanded_terms(&self) -> u64 {
        let mut bounds = self.lower.iter().chain(&self.upper);
        // Numbers and instants are found by their order, without a look-up for each term.
        if bounds.any(|bound| matches!(bound.value, Value::Text(_))) {
            EXPANSIONS.into()
        } else {
            1
        }
    }
}

fn of_all(query: &Query) -> u64 {
    let mut all = query.expanded_terms();
    query.for_each_inner(|inner| all = all.saturating_add(of_all(inner)));
    all
}

/// What a character is for whoever counts words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    /// A mark between words, which is a word where spaces are around it.
    Mark,
    Letter,
    Digit,
    /// A word of its own, as in scripts without spaces.
    Word,
}

/// Returns about how many words a text has, rather too many than too few: what an analyzer makes of it depends
/// on the analyzer.
fn words(text: &str) -> u64 {
    let (mut words, mut last) = (0, Kind::Space);
    for character in text.chars().filter(|character| !is_part(*character)) {
        let kind = kind(character);
        words += u64::from(match kind {
            Kind::Space => false,
            Kind::Mark => last == Kind::Space,
            // Some analyzers leave digits out, and none divides words before them.
            Kind::Letter => last != Kind::Letter,
            Kind::Digit => !matches!(last, Kind::Letter | Kind::Digit),
            Kind::Word => true,
        });
        last = kind;
    }
    words.max(1)
}

/// Returns whether a character is a part of the one before it, such as an accent.
fn is_part(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}')
}

fn kind(character: char) -> Kind {
    match character {
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'.. => Kind::Word,
        _ if character.is_whitespace() => Kind::Space,
        _ if character.is_numeric() => Kind::Digit,
        _ if character.is_alphabetic() => Kind::Letter,
        _ if character.is_ascii() => Kind::Mark,
        _ => Kind::Word,
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_counted_rather_too_many_than_too_few() {
        let cases = [
            ("", 1),
            ("Jupiter", 1),
            ("  two words. ", 2),
            ("a-b", 2),
            ("a - b", 3),
            ("x1y2", 2),
            ("w00001 7", 2),
            ("naïve cafe\u{301}", 2),
            ("日本語", 3),
            ("🙂🙂", 2),
            ("한국어 사전", 2),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
