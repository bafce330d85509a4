//! Words that say nothing of a text.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The words of a language.
pub(super) type StopWords = LazyLock<HashSet<&'static str>>;

/// Those of `english` and `stop`.
pub(super) static ENGLISH: StopWords = LazyLock::new(|| {
    let words = "a an and are as at be but by for if in into is it no not of on or such that the their then \
                 there these they this to was will with";
    words.split(' ').collect()
});

macro_rules! lists {
    ($($name:ident $file:literal;)*) => {$(
        pub(super) static $name: StopWords = LazyLock::new(|| list(include_str!(concat!("stop_words/", $file, ".txt"))));
    )*};
}

lists! {
    RUSSIAN "russian";
    DANISH "danish";
    NORWEGIAN "norwegian";
    ROMANIAN "romanian";
    HUNGARIAN "hungarian";
    TURKISH "turkish";
    DUTCH "dutch";
    FRENCH "french";
    GERMAN "german";
    SPANISH "spanish";
    ITALIAN "italian";
    PORTUGUESE "portuguese";
}

/// Reads a list of one word a line; a `#` begins a comment.
fn list(text: &'static str) -> HashSet<&'static str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect()
}
