//! The terms of words by language: lower case, no stop words, and stems.

use frostem::{Algorithm, Stemmer};

use super::filters::{
    before_apostrophe, lower_case, turkish_lower_case, without_article, without_possessive,
};
use super::light::Light;
use super::nordic::Nordic;
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
    French,
    German,
    Spanish,
    Italian,
    Portuguese,
}

/// What makes the stems of a language.
enum Stems {
    None,
    Snowball(Algorithm),
    Nordic(Nordic),
    Light(Light),
}

/// Articles and other words that French words are written together with.
const FRENCH_ARTICLES: &[&str] = &[
    "l", "m", "t", "qu", "n", "s", "j", "d", "c", "jusqu", "quoiqu", "lorsqu", "puisqu",
];

/// Articles and other words that Italian words are written together with.
const ITALIAN_ARTICLES: &[&str] = &[
    "c", "l", "all", "dall", "dell", "nell", "sull", "coll", "pell", "gl", "agl", "dagl", "degl",
    "negl", "sugl", "un", "m", "t", "s", "v", "d",
];

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
            Language::French => lower_case(without_article(word, FRENCH_ARTICLES)),
            Language::Italian => lower_case(without_article(word, ITALIAN_ARTICLES)),
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
        let word = match self {
            Language::English => match english_root(word) {
                Ok(root) => root,
                Err(short) => return Some(short),
            },
            _ => word,
        };
        Some(match stems {
            Stems::Nordic(nordic) => nordic.stem(word),
            Stems::Light(light) => light.stem(&word),
            Stems::Snowball(algorithm) => Stemmer::new(algorithm).stem(&word).into_owned(),
            Stems::None => word,
        })
    }

    fn tables(self) -> (&'static StopWords, Stems) {
        use Stems::Snowball;
        match self {
            Language::StopWords => (&stop_words::ENGLISH, Stems::None),
            Language::English => (&stop_words::ENGLISH, Snowball(Algorithm::Porter)),
            Language::Russian => (&stop_words::RUSSIAN, Snowball(Algorithm::Russian)),
            Language::Danish => (&stop_words::DANISH, Stems::Nordic(Nordic::Danish)),
            Language::Norwegian => (&stop_words::NORWEGIAN, Stems::Nordic(Nordic::Norwegian)),
            Language::Romanian => (&stop_words::ROMANIAN, Snowball(Algorithm::Romanian)),
            Language::Hungarian => (&stop_words::HUNGARIAN, Snowball(Algorithm::Hungarian)),
            Language::Turkish => (&stop_words::TURKISH, Snowball(Algorithm::Turkish)),
            Language::Dutch => (&stop_words::DUTCH, Snowball(Algorithm::DutchPorter)),
            Language::French => (&stop_words::FRENCH, Stems::Light(Light::French)),
            Language::German => (&stop_words::GERMAN, Stems::Light(Light::German)),
            Language::Spanish => (&stop_words::SPANISH, Stems::Light(Light::Spanish)),
            Language::Italian => (&stop_words::ITALIAN, Stems::Light(Light::Italian)),
            Language::Portuguese => (&stop_words::PORTUGUESE, Stems::Light(Light::Portuguese)),
        }
    }
}

/// Returns a word whose stem by the published algorithm of Porter is the stem of `word` by his own
/// program, which leaves short words alone and has two more rules; `Err` for a short word.
fn english_root(word: String) -> Result<String, String> {
    if word.chars().nth(2).is_none() {
        return Err(word);
    }
    const RULES: &[(&str, &str)] = &[
        ("bly", "ble"),
        ("bli", "ble"),
        ("blies", "ble"),
        ("logy", "log"),
        ("logi", "log"),
        ("logies", "log"),
    ];
    let replaced = RULES.iter().find_map(|(suffix, new)| {
        let stem = word.strip_suffix(suffix)?;
        has_vowel_before_consonant(stem).then(|| format!("{stem}{new}"))
    });
    Ok(replaced.unwrap_or(word))
}

/// Returns whether a vowel is somewhere followed by a consonant; a `y` is a vowel behind a consonant.
fn has_vowel_before_consonant(stem: &str) -> bool {
    let mut after_vowel = false;
    let mut is_first = true;
    for letter in stem.chars() {
        let is_vowel = match letter {
            'y' => !is_first && !after_vowel,
            letter => "aeiou".contains(letter),
        };
        if after_vowel && !is_vowel {
            return true;
        }
        (after_vowel, is_first) = (is_vowel, false);
    }
    false
}
