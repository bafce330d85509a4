//! Analyzers: how the embedded engine makes terms of text, as those of Lucene do that have the same names.
//!
//! `standard`, `simple`, `whitespace`, `keyword` and `stop`, and those of languages whose stemmers are the
//! same: `english`, `russian`, `danish`, `norwegian`, `romanian`, `hungarian`, `turkish`, `dutch`, `french`,
//! `german`, `spanish`, `italian` and `portuguese`. There is no other, and no settings that define one.

mod filters;
mod language;
mod light;
mod nordic;
mod standard;
mod stop_words;
mod tokenizer;

use crate::mapping::Analyzers;

use language::Language;
use tokenizer::Tokenizer;

/// Distance between the last term of a value and the first one of the next value, less one.
pub const POSITION_GAP: u32 = 100;

/// A term of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The term.
    pub text: String,
    /// Its position among the words of the text; words that are left out count.
    pub position: u32,
}

/// The terms of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The terms, in ascending order of their positions.
    pub tokens: Vec<Token>,
    /// The number of words, those that were left out included.
    pub words: u32,
}

/// Makes terms of text.
///
/// ```
/// use search_index::analysis::Analyzer;
///
/// let english = Analyzer::named("english").expect("it is built in");
/// let terms = english.analyze("The planets' suns");
/// let terms: Vec<_> = terms.tokens.iter().map(|token| (token.text.as_str(), token.position)).collect();
/// assert_eq!(terms, [("planet", 1), ("sun", 2)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Analyzer {
    tokenizer: Tokenizer,
    lower_case: bool,
    language: Option<Language>,
}

/// The analyzers by name.
const ANALYZERS: &[(&str, Analyzer)] = &[
    ("standard", plain(Tokenizer::Standard, true)),
    ("simple", plain(Tokenizer::Letters, true)),
    ("whitespace", plain(Tokenizer::Whitespace, false)),
    ("keyword", plain(Tokenizer::Keyword, false)),
    (
        "stop",
        Analyzer {
            language: Some(Language::StopWords),
            ..plain(Tokenizer::Letters, true)
        },
    ),
    ("english", of(Language::English)),
    ("russian", of(Language::Russian)),
    ("danish", of(Language::Danish)),
    ("norwegian", of(Language::Norwegian)),
    ("romanian", of(Language::Romanian)),
    ("hungarian", of(Language::Hungarian)),
    ("turkish", of(Language::Turkish)),
    ("dutch", of(Language::Dutch)),
    ("french", of(Language::French)),
    ("german", of(Language::German)),
    ("spanish", of(Language::Spanish)),
    ("italian", of(Language::Italian)),
    ("portuguese", of(Language::Portuguese)),
];

const fn plain(tokenizer: Tokenizer, lower_case: bool) -> Analyzer {
    Analyzer {
        tokenizer,
        lower_case,
        language: None,
    }
}

const fn of(language: Language) -> Analyzer {
    Analyzer {
        language: Some(language),
        ..plain(Tokenizer::Standard, true)
    }
}

impl Analyzer {
    /// Finds an analyzer by name.
    #[must_use]
    pub fn named(name: &str) -> Option<Analyzer> {
        let named = ANALYZERS.iter().find(|(known, _)| *known == name);
        named.map(|(_, analyzer)| *analyzer)
    }

    /// Returns the names of all analyzers.
    #[must_use]
    pub fn names() -> Analyzers {
        ANALYZERS.iter().map(|(name, _)| *name).collect()
    }

    /// Returns the terms of a text.
    #[must_use]
    pub fn analyze(self, text: &str) -> Terms {
        let mut terms = Terms::default();
        self.tokenizer.words(text, |word| {
            let position = terms.words;
            terms.words += 1;
            if let Some(text) = self.term(word) {
                terms.tokens.push(Token { text, position });
            }
        });
        terms
    }

    /// Returns the term of a word; `None` if it is left out.
    fn term(self, word: &str) -> Option<String> {
        match self.language {
            Some(language) => language.term(word),
            None if self.lower_case => Some(filters::lower_case(word)),
            None => Some(word.to_owned()),
        }
    }
}
