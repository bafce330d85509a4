//! Light stems of French, German, Spanish, Italian and Portuguese words, by the rules of Jacques Savoy as
//! Lucene has them: endings of number, gender and a few derivations are cut off, and accents removed.
//!
//! Lengths are those of UTF-16, in which the rules count.

use std::sync::LazyLock;

use regex::Regex;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Light {
    French,
    German,
    Spanish,
    Italian,
    Portuguese,
}

impl Light {
    /// Returns the stem of a word in lower case.
    pub(super) fn stem(self, word: &str) -> String {
        let word = match self {
            Light::German => german_letters(word),
            _ => word.to_owned(),
        };
        let mut word = Word(word.encode_utf16().collect());
        match self {
            Light::French => word.french(),
            Light::German => word.german(),
            Light::Spanish => word.spanish(),
            Light::Italian => word.italian(),
            Light::Portuguese => word.portuguese(),
        }
        String::from_utf16_lossy(&word.0)
    }
}

/// A word in UTF-16.
struct Word(Vec<u16>);

/// A rule: the least length of a word, its ending, how many letters of that are cut off, and what
/// replaces the last ones of what is left.
type Rule = (usize, &'static str, usize, &'static str);

/// Rules of French of which the first that applies is the last.
const FRENCH_FIRST: &[Rule] = &[(10, "issement", 6, "r"), (9, "issant", 4, "r")];

/// Those after words in `-ement`.
const FRENCH_AGENTS: &[Rule] = &[
    (12, "ficatrice", 5, "er"),
    (11, "ficateur", 4, "er"),
    (10, "catrice", 3, "quer"),
    (9, "cateur", 2, "quer"),
    (9, "atrice", 4, "er"),
    (8, "ateur", 3, "er"),
];

/// Those after words in `-trice`.
const FRENCH_MIDDLE: &[Rule] = &[
    (6, "ième", 4, ""),
    (8, "teuse", 2, "r"),
    (7, "teur", 1, "r"),
    (6, "euse", 2, ""),
    (9, "ère", 1, "er"),
    (8, "ive", 1, "f"),
    (5, "folle", 2, "u"),
    (5, "molle", 2, "u"),
    (10, "nnelle", 5, ""),
    (10, "nnel", 3, ""),
];

/// Those at the end, after words in `-isation`.
const FRENCH_LAST: &[Rule] = &[
    (10, "isateur", 7, ""),
    (9, "ation", 5, ""),
    (9, "ition", 5, ""),
];

impl Word {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn ends(&self, suffix: &str) -> bool {
        let mut units = self.0.iter().rev();
        suffix
            .chars()
            .rev()
            .all(|letter| units.next().is_some_and(|unit| is(*unit, letter)))
    }

    /// Returns the letter at a place from the end, the last one at 1; no letter is NUL.
    fn last(&self, place: usize) -> char {
        let unit = self.0.len().checked_sub(place).map(|at| self.0[at]);
        unit.and_then(|unit| char::from_u32(unit.into()))
            .unwrap_or('\0')
    }

    fn cut(&mut self, letters: usize) {
        self.0.truncate(self.len() - letters);
    }

    /// Writes letters over the last ones.
    fn replace(&mut self, letters: &str) {
        self.cut(letters.chars().count());
        self.0.extend(letters.encode_utf16());
    }

    /// Applies the first of some rules that fits; tells whether there was one.
    fn apply(&mut self, rules: &[Rule]) -> bool {
        let fits = |(length, ending, ..): &&Rule| self.len() >= *length && self.ends(ending);
        let Some(&(_, _, cut, replacement)) = rules.iter().find(fits) else {
            return false;
        };
        self.cut(cut);
        self.replace(replacement);
        true
    }

    /// Exchanges letters, each of `from` for that of `to` in the same place.
    fn exchange(&mut self, pairs: &[(&str, char)]) {
        for unit in &mut self.0 {
            let found = pairs
                .iter()
                .find(|(from, _)| from.chars().any(|from| is(*unit, from)));
            if let Some((_, to)) = found {
                *unit = unit_of(*to);
            }
        }
    }

    fn french(&mut self) {
        self.french_suffixes();
        self.french_letters();
    }

    fn french_suffixes(&mut self) {
        if self.len() > 5 && self.last(1) == 'x' {
            if self.last(3) == 'a' && self.last(2) == 'u' && self.last(4) != 'e' {
                self.replace("lx");
            }
            self.cut(1);
        }
        for ending in ['x', 's'] {
            if self.len() > 3 && self.last(1) == ending {
                self.cut(1);
            }
        }
        if self.apply(FRENCH_FIRST) {
            return;
        }
        if self.len() > 6 && self.ends("ement") {
            self.cut(4);
            if self.len() > 3 && self.ends("ive") {
                self.cut(1);
                self.replace("f");
            }
            return;
        }
        if self.apply(FRENCH_AGENTS) {
            return;
        }
        if self.len() > 6 && self.ends("trice") {
            self.cut(1);
            self.replace("eur");
        }
        if self.apply(FRENCH_MIDDLE) {
            return;
        }
        if self.len() > 4 && self.ends("ète") {
            self.cut(1);
            self.replace("et");
        }
        if self.len() > 8 && self.ends("ique") {
            self.cut(4);
        }
        if self.apply(&[(9, "esse", 3, ""), (8, "inage", 3, "")]) {
            return;
        }
        if self.len() > 9 && self.ends("isation") {
            self.cut(7);
            if self.len() > 5 && self.ends("ual") {
                self.replace("el");
            }
            return;
        }
        self.apply(FRENCH_LAST);
    }

    /// Removes accents, the second of equal letters, and endings of verbs.
    fn french_letters(&mut self) {
        if self.len() > 4 {
            let accents = [
                ("àáâ", 'a'),
                ("ô", 'o'),
                ("èéê", 'e'),
                ("ùû", 'u'),
                ("î", 'i'),
                ("ç", 'c'),
            ];
            self.exchange(&accents);
            self.0
                .dedup_by(|next, first| next == first && is_letter(*first));
        }
        if self.len() > 4 && self.ends("ie") {
            self.cut(2);
        }
        if self.len() > 4 {
            for ending in ['r', 'e', 'e'] {
                if self.last(1) == ending {
                    self.cut(1);
                }
            }
            if let [.., first, last] = self.0[..]
                && first == last
                && is_letter(last)
            {
                self.cut(1);
            }
        }
    }

    fn german(&mut self) {
        let accents = [("äàáâ", 'a'), ("öòóô", 'o'), ("ïìíî", 'i'), ("üùúû", 'u')];
        self.exchange(&accents);
        let is_ending = |letter: char| "bdfghklmnt".contains(letter);
        let (len, last) = (self.len(), self.last(1));
        if len > 5 && self.ends("ern") {
            self.cut(3);
        } else if len > 4 && self.last(2) == 'e' && "mnrs".contains(last) {
            self.cut(2);
        } else if len > 3 && (last == 'e' || last == 's' && is_ending(self.last(2))) {
            self.cut(1);
        }
        let len = self.len();
        if len > 5 && self.ends("est") {
            self.cut(3);
        } else if len > 4
            && (self.ends("er") || self.ends("en") || self.ends("st") && is_ending(self.last(3)))
        {
            self.cut(2);
        }
    }

    fn spanish(&mut self) {
        if self.len() < 5 {
            return;
        }
        self.exchange(ROMANCE_ACCENTS);
        match self.last(1) {
            'o' | 'a' | 'e' => self.cut(1),
            's' if self.ends("eses") => self.cut(2),
            's' if self.ends("ces") => {
                self.cut(2);
                self.replace("z");
            }
            's' if "oae".contains(self.last(2)) => self.cut(2),
            _ => {}
        }
    }

    fn italian(&mut self) {
        if self.len() < 6 {
            return;
        }
        self.exchange(ROMANCE_ACCENTS);
        match (self.last(2), self.last(1)) {
            ('i' | 'h', 'e' | 'i') | ('i', 'a' | 'o') => self.cut(2),
            (_, 'e' | 'i' | 'a' | 'o') => self.cut(1),
            _ => {}
        }
    }

    fn portuguese(&mut self) {
        if self.len() < 4 {
            return;
        }
        self.portuguese_number();
        if self.len() > 3 && self.last(1) == 'a' {
            self.portuguese_gender();
        }
        if self.len() > 4 && "eao".contains(self.last(1)) {
            self.cut(1);
        }
        self.exchange(ROMANCE_ACCENTS);
        self.exchange(&[("ã", 'a'), ("õ", 'o'), ("ç", 'c')]);
    }

    fn portuguese_number(&mut self) {
        if self.len() > 4 && self.ends("es") && "rslz".contains(self.last(3)) {
            return self.cut(2);
        }
        self.apply(&[
            (4, "ns", 1, "m"),
            (5, "eis", 1, "el"),
            (5, "éis", 1, "el"),
            (5, "ais", 1, "l"),
            (5, "óis", 1, "ol"),
            (5, "is", 0, "l"),
            (4, "ões", 1, "ão"),
            (4, "ães", 1, "ão"),
            (7, "mente", 5, ""),
            (4, "s", 1, ""),
        ]);
    }

    fn portuguese_gender(&mut self) {
        self.apply(&[
            (8, "inha", 0, "o"),
            (8, "iaca", 0, "o"),
            (8, "eira", 0, "o"),
            (7, "osa", 0, "o"),
            (7, "ica", 0, "o"),
            (7, "ida", 0, "o"),
            (7, "ada", 0, "o"),
            (7, "iva", 0, "o"),
            (7, "ama", 0, "o"),
            (7, "ona", 1, "ão"),
            (7, "ora", 1, ""),
            (7, "esa", 1, "ês"),
            (7, "na", 0, "o"),
        ]);
    }
}

/// Letters with accents that Spanish and Italian do without, and Portuguese too.
const ROMANCE_ACCENTS: &[(&str, char)] = &[
    ("àáâä", 'a'),
    ("òóôö", 'o'),
    ("èéêë", 'e'),
    ("ùúûü", 'u'),
    ("ìíîï", 'i'),
];

/// Writes umlauts and `ß` of German words in one way: `ä`, `ae` and `a` are one, and `ss` is `ß`.
fn german_letters(word: &str) -> String {
    /// What an `e` means behind a letter.
    #[derive(Clone, Copy, PartialEq)]
    enum Before {
        /// It belongs to an umlaut.
        Umlaut,
        /// It stands for itself, and so does a `u`.
        Vowel,
        Other,
    }
    let mut out = String::with_capacity(word.len());
    let mut before = Before::Other;
    for letter in word.chars() {
        let (written, next) = match letter {
            'a' | 'o' => (Some(letter), Before::Umlaut),
            'u' if before == Before::Other => (Some('u'), Before::Umlaut),
            'e' if before == Before::Umlaut => (None, Before::Vowel),
            'u' | 'e' | 'i' | 'q' | 'y' => (Some(letter), Before::Vowel),
            'ä' => (Some('a'), Before::Vowel),
            'ö' => (Some('o'), Before::Vowel),
            'ü' => (Some('u'), Before::Vowel),
            'ß' => {
                out.push('s');
                (Some('s'), Before::Other)
            }
            other => (Some(other), Before::Other),
        };
        out.extend(written);
        before = next;
    }
    out
}

fn is(unit: u16, letter: char) -> bool {
    u32::from(unit) == u32::from(letter)
}

fn unit_of(letter: char) -> u16 {
    let mut units = [0; 2];
    letter.encode_utf16(&mut units)[0]
}

/// Returns whether a unit is a letter by itself.
fn is_letter(unit: u16) -> bool {
    static LETTER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\p{L}").expect("the expression is valid"));
    let letter = char::from_u32(unit.into());
    letter.is_some_and(|letter| {
        if letter.is_ascii() {
            letter.is_ascii_alphabetic()
        } else {
            LETTER.is_match(letter.encode_utf8(&mut [0; 4]))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::Light::{self, French, German, Italian, Portuguese, Spanish};

    /// Words, and their stems by the rules.
    const CASES: &[(Light, &str, &str)] = &[
        (French, "chevaux", "cheval"),
        (French, "hiboux", "hibou"),
        (French, "chantés", "chant"),
        (French, "investigateur", "investig"),
        (French, "créatrice", "crer"),
        (French, "heureusement", "heureus"),
        (French, "nationalisation", "national"),
        (French, "xx", "xx"),
        (German, "häuser", "haus"),
        (German, "haeuser", "haus"),
        (German, "kindern", "kind"),
        (German, "straßen", "strass"),
        (German, "quelle", "quell"),
        (Spanish, "niños", "niñ"),
        (Spanish, "luces", "luz"),
        (Spanish, "franceses", "frances"),
        (Spanish, "sol", "sol"),
        (Italian, "amiche", "amic"),
        (Italian, "pianeti", "pianet"),
        (Italian, "città", "città"),
        (Portuguese, "corações", "coraca"),
        (Portuguese, "animais", "animal"),
        (Portuguese, "rapidamente", "rapid"),
        (Portuguese, "francesa", "frances"),
        (Portuguese, "sol", "sol"),
    ];

    #[test]
    fn stems_are_those_of_the_rules() {
        for (language, word, stem) in CASES {
            assert_eq!(language.stem(word), *stem, "{word}");
        }
    }
}
