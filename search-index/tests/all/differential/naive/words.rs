//! Analyzers, in as few rules as the random texts need.

/// Longest word, in UTF-16 units; what is longer is cut.
const LONGEST: usize = 255;

/// Returns the words of a text.
pub(crate) fn words(analyzer: &str, text: &str) -> Vec<String> {
    match analyzer {
        "keyword" => vec![text.to_owned()],
        "whitespace" => cut(text.split(char::is_whitespace).map(str::to_owned)),
        "simple" => cut(text.split(|c| !is_letter(c)).map(lower)),
        "standard" => cut(standard(text).into_iter().map(|word| lower(&word))),
        other => panic!("the naive judge has no analyzer {other}"),
    }
}

fn cut(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = Vec::new();
    for word in words {
        let letters: Vec<char> = word.chars().collect();
        let pieces = letters.chunks(LONGEST);
        all.extend(pieces.map(|piece| piece.iter().collect::<String>()));
    }
    all
}

/// Lower-cases letter by letter, without regard to where in the word a letter is.
fn lower(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).collect()
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic()
}

/// What Unicode's rules of words say of a character.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Letter,
    Digit,
    /// Joins letters, digits and itself.
    Underscore,
    /// Is inside of a word between two letters.
    BetweenLetters,
    /// Is inside of a word between two digits.
    BetweenDigits,
    /// Is inside of a word between two letters, and between two digits.
    Between,
    /// A word of its own.
    Alone,
    Other,
}

fn class(c: char) -> Class {
    match c {
        '_' => Class::Underscore,
        ':' | '·' => Class::BetweenLetters,
        ',' | ';' => Class::BetweenDigits,
        '.' | '\'' | '’' => Class::Between,
        '\u{3040}'..='\u{309f}' | '\u{4e00}'..='\u{9fff}' | '🚀' => Class::Alone,
        c if c.is_ascii_digit() => Class::Digit,
        c if c.is_alphabetic() => Class::Letter,
        _ => Class::Other,
    }
}

/// Cuts a text into words as Unicode's rules (UAX 29) say for these classes.
fn standard(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &c) in letters.iter().enumerate() {
        let own = class(c);
        let before = at.checked_sub(1).map(|at| class(letters[at]));
        let after = letters.get(at + 1).map(|c| class(*c));
        let is_between = |kind| before == Some(kind) && after == Some(kind);
        let belongs = match own {
            Class::Letter | Class::Digit | Class::Underscore => true,
            Class::BetweenLetters => is_between(Class::Letter),
            Class::BetweenDigits => is_between(Class::Digit),
            Class::Between => is_between(Class::Letter) || is_between(Class::Digit),
            Class::Alone | Class::Other => false,
        };
        if belongs {
            word.push(c);
            continue;
        }
        words.push(std::mem::take(&mut word));
        if own == Class::Alone {
            words.push(c.to_string());
        }
    }
    words.push(word);
    words.retain(|word| word.chars().any(|c| c != '_'));
    words
}
