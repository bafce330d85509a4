//! Cuts text into words.

use std::sync::LazyLock;

use regex::Regex;

use super::standard;

/// Longest word, in UTF-16 units; longer ones are cut into several.
const MAX_WORD: usize = 255;

/// How text is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tokenizer {
    /// At the word boundaries of Unicode.
    Standard,
    /// Runs of letters.
    Letters,
    /// What is between white space.
    Whitespace,
    /// Not at all.
    Keyword,
}

/// A run of letters.
static LETTERS: LazyLock<Regex> = LazyLock::new(|| regex(r"\p{L}+"));

fn regex(text: &str) -> Regex {
    Regex::new(text).expect("the expression is valid")
}

impl Tokenizer {
    /// Calls `visit` with each word, in the order of the text.
    pub(super) fn words(self, text: &str, mut visit: impl FnMut(&str)) {
        match self {
            Tokenizer::Keyword => visit(text),
            Tokenizer::Letters => LETTERS
                .find_iter(text)
                .for_each(|word| pieces(word.as_str(), &mut visit)),
            Tokenizer::Whitespace => text
                .split(is_space)
                .filter(|word| !word.is_empty())
                .for_each(|word| pieces(word, &mut visit)),
            Tokenizer::Standard => standard::words(text, |word| pieces(word, &mut visit)),
        }
    }
}

/// Returns whether a character is white space that words may be cut at.
fn is_space(letter: char) -> bool {
    match letter {
        '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}' => false,
        '\u{1c}'..='\u{1f}' => true,
        letter => letter.is_whitespace(),
    }
}

/// Cuts a word that is too long.
fn pieces(word: &str, visit: &mut impl FnMut(&str)) {
    if word.len() <= MAX_WORD {
        return visit(word);
    }
    let (mut start, mut units) = (0, 0);
    for (at, letter) in word.char_indices() {
        if units + letter.len_utf16() > MAX_WORD {
            visit(&word[start..at]);
            (start, units) = (at, 0);
        }
        units += letter.len_utf16();
    }
    visit(&word[start..]);
}
