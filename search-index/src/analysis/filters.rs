//! Changes of single words.

/// Returns a word in lower case, each character by itself.
pub(super) fn lower_case(word: &str) -> String {
    word.chars().map(lower).collect()
}

/// Returns the simple lower case of a character.
fn lower(letter: char) -> char {
    // The only letter whose lower case is longer; its simple one is the letter without the second dot.
    if letter == '\u{130}' {
        return 'i';
    }
    let mut lower = letter.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => letter,
    }
}

/// Returns a word in lower case as Turkish has it: with and without a dot are two letters.
pub(super) fn turkish_lower_case(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    let mut after_i = false;
    while let Some(letter) = letters.next() {
        after_i = letter == 'I' || (after_i && is_mark(letter));
        match letter {
            'I' => {
                let mut marks = letters.clone().take_while(|letter| is_mark(*letter));
                let has_dot = marks.any(|mark| mark == DOT_ABOVE);
                out.push(if has_dot { 'i' } else { 'ı' });
            }
            DOT_ABOVE if after_i => {}
            letter => out.push(lower(letter)),
        }
    }
    out
}

const DOT_ABOVE: char = '\u{307}';

fn is_mark(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter)
}

/// Cuts off what follows the first apostrophe, and the apostrophe.
pub(super) fn before_apostrophe(word: &str) -> &str {
    word.split(['\'', '\u{2019}']).next().unwrap_or(word)
}

/// Cuts off one of some articles with the apostrophe behind it.
pub(super) fn without_article<'w>(word: &'w str, articles: &[&str]) -> &'w str {
    match word.split_once(['\'', '\u{2019}']) {
        Some((article, rest)) if articles.contains(&lower_case(article).as_str()) => rest,
        _ => word,
    }
}

/// Cuts off the `'s` of an English word.
pub(super) fn without_possessive(word: &str) -> &str {
    let stem = word.strip_suffix(['s', 'S']);
    let stem = stem.and_then(|stem| stem.strip_suffix(['\'', '\u{2019}', '\u{ff07}']));
    stem.unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::{
        before_apostrophe, lower_case, turkish_lower_case, without_article, without_possessive,
    };

    #[test]
    fn letters_have_their_simple_lower_case() {
        assert_eq!(lower_case("ÀẞΣ İI"), "àßσ ii");
    }

    #[test]
    fn turkish_has_two_letters_i() {
        assert_eq!(turkish_lower_case("IĞDIR İzmir"), "ığdır izmir");
        assert_eq!(turkish_lower_case("I\u{307}stanbul"), "istanbul");
        assert_eq!(turkish_lower_case("I\u{316}\u{307}"), "i\u{316}");
        assert_eq!(turkish_lower_case("a\u{307}"), "a\u{307}");
    }

    #[test]
    fn what_belongs_to_a_word_is_cut_off() {
        assert_eq!(before_apostrophe("Ankara'nın"), "Ankara");
        assert_eq!(before_apostrophe("\u{2019}a"), "");
        assert_eq!(without_possessive("dog\u{2019}s"), "dog");
        assert_eq!(without_possessive("DOG'S"), "DOG");
        assert_eq!(without_possessive("dogs'"), "dogs'");
        let articles = ["l", "qu"];
        assert_eq!(without_article("L\u{2019}avion", &articles), "avion");
        assert_eq!(without_article("qu'il", &articles), "il");
        assert_eq!(without_article("d'un", &articles), "d'un");
        assert_eq!(without_article("lui", &articles), "lui");
    }
}
