//! Cuts text into words.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

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

/// A character that is a symbol for itself, or is made one by the selector behind it.
static EMOJI: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:\p{Emoji_Presentation}|\p{Emoji}\x{FE0F})"));

/// Text without spaces between its words, which is taken as one.
static UNSPACED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}&&[\p{L}\p{M}]]"));

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
            Tokenizer::Standard => standard(text, &mut visit),
        }
    }
}

/// Tells whether a character is white space that words may be cut at.
fn is_space(letter: char) -> bool {
    match letter {
        '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}' => false,
        '\u{1c}'..='\u{1f}' => true,
        letter => letter.is_whitespace(),
    }
}

fn standard(text: &str, visit: &mut impl FnMut(&str)) {
    // A run of text without spaces, of which there may be more.
    let mut run: Range<usize> = 0..0;
    for (start, piece) in text.split_word_bound_indices() {
        let end = start + piece.len();
        // Letters of most scripts need no more than a look.
        let is_ascii = piece.is_ascii();
        if !is_ascii && UNSPACED.is_match(piece) {
            run = if run.end == start {
                run.start..end
            } else {
                start..end
            };
            let goes_on = text[end..].chars().next();
            let goes_on =
                goes_on.is_some_and(|letter| UNSPACED.is_match(letter.encode_utf8(&mut [0; 4])));
            if !goes_on {
                pieces(&text[run.clone()], visit);
            }
            continue;
        }
        let is_word = piece.chars().any(char::is_alphanumeric);
        if is_word || (!is_ascii && EMOJI.is_match(piece)) {
            pieces(piece, visit);
        }
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
