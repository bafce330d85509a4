//! The terms of words by language: lower case, no stop words, and stems.

use frostem::{Algorithm, Stemmer};

use super::filters::{before_apostrophe, lower_case, turkish_lower_case, without_possessive};
use super::stop_words::{self, StopWords};

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// English stop words without stems.
    StopWords,
    English,
    Russian,
    Danish,
    Norwegian,
    Romanian,
    Hungarian,
    Turkish,
    Dutch,
}

/// Dutch words that stand for themselves, and their terms.
const DUTCH_STEMS: &[(&str, &str)] = &[
    ("fiets", "fiets"),
    ("bromfiets", "bromfiets"),
    ("ei", "eier"),
    ("kind", "kinder"),
];

impl Language {
    /// Returns the term of a word; `None` for a stop word.
    pub(super) fn term(self, word: &str) -> Option<String> {
        let word = match self {
            Language::Turkish => turkish_lower_case(before_apostrophe(word)),
            Language::English => lower_case(without_possessive(word)),
            _ => lower_case(word),
        };
        let (stop_words, stems) = self.tables();
        if stop_words.contains(word.as_str()) {
            return None;
        }
        if self == Language::Dutch
            && let Some((_, term)) = DUTCH_STEMS.iter().find(|(known, _)| *known == word)
        {
            return Some((*term).to_owned());
        }
        Some(match stems {
            Some(algorithm) => Stemmer::new(algorithm).stem(&word).into_owned(),
            None => word,
        })
    }

    fn tables(self) -> (&'static StopWords, Option<Algorithm>) {
        match self {
            Language::StopWords => (&stop_words::ENGLISH, None),
            Language::English => (&stop_words::ENGLISH, Some(Algorithm::Porter)),
            Language::Russian => (&stop_words::RUSSIAN, Some(Algorithm::Russian)),
            Language::Danish => (&stop_words::DANISH, Some(Algorithm::Danish)),
            Language::Norwegian => (&stop_words::NORWEGIAN, Some(Algorithm::Norwegian)),
            Language::Romanian => (&stop_words::ROMANIAN, Some(Algorithm::Romanian)),
            Language::Hungarian => (&stop_words::HUNGARIAN, Some(Algorithm::Hungarian)),
            Language::Turkish => (&stop_words::TURKISH, Some(Algorithm::Turkish)),
            Language::Dutch => (&stop_words::DUTCH, Some(Algorithm::DutchPorter)),
        }
    }
}
