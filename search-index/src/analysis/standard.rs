//! Cuts text into words as Lucene's `StandardTokenizer` does: by its grammar, with the properties that
//! characters have in its version of Unicode.
//!
//! The grammar follows the word boundaries of Unicode (UAX #29), and says which of the pieces between them
//! are words: not those of marks and signs alone. Each Chinese and each Hiragana character is a word, and so
//! is each symbol with all that belongs to it.

use std::sync::LazyLock;

use regex_syntax::hir::{Class as HirClass, HirKind};

/// What the grammar knows of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Between words.
    Other,
    /// Belongs to what is before it, and ends a symbol.
    SymbolForm,
    /// Belongs to what is before it unless that is a symbol.
    TextForm,
    /// Belongs to what is before it.
    Extend,
    /// Belongs to what is before it, and joins symbols.
    Joiner,
    /// A symbol.
    Symbol,
    /// A symbol that is a letter too.
    SymbolLetter,
    /// The colour of a symbol, which belongs to what is before it.
    SymbolColour,
    /// The frame of a key, which belongs to what is before it.
    Keycap,
    /// Half a flag.
    Region,
    Letter,
    /// A letter that quotes may stand behind.
    Hebrew,
    Number,
    Katakana,
    /// A word by itself.
    Single,
    /// A letter of a script whose words only a dictionary tells.
    Unspaced,
    /// A mark of such a script, which belongs to what is before it.
    UnspacedMark,
    /// Joins letters and numbers, as `_` does.
    Underscore,
    MidLetter,
    MidNumber,
    /// Between letters or between numbers.
    Mid,
    SingleQuote,
    DoubleQuote,
}

use Class::{
    DoubleQuote, Extend, Hebrew, Joiner, Katakana, Keycap, Letter, Mid, MidLetter, MidNumber,
    Number, Other, Region, Single, SingleQuote, Symbol, SymbolColour, SymbolForm, SymbolLetter,
    TextForm, Underscore, Unspaced, UnspacedMark,
};

/// The characters of each class; the first class that has a character counts. Lucene 10 knows Unicode 12.1,
/// in which some characters were not there yet, or were others.
const CLASSES: &[(Class, &str)] = &[
    // Others than now.
    (
        Other,
        r"[\x{2E5}-\x{2EB}\x{55A}\x{55F}\x{58A}\x{A708}-\x{A716}\x{16FE2}]",
    ),
    (
        Extend,
        r"[\x{600}-\x{605}\x{6DD}\x{70F}\x{8E2}\x{1A7F}\x{110BD}\x{110CD}]",
    ),
    (Letter, r"[\x{3005}\x{303B}\x{16FE3}]"),
    (MidNumber, r"[\x{FE10}\x{FE14}]"),
    (Symbol, r"[\x{1FB00}-\x{1FBFF}]"),
    // Signs and numbers of scripts without spaces.
    (
        Unspaced,
        r"[\x{109E}\x{109F}\x{19DA}\x{19DE}\x{19DF}\x{1AA0}-\x{1AA6}\x{1AA8}-\x{1AAD}\x{AA77}-\x{AA79}\x{AADE}\x{AADF}\x{1173A}\x{1173B}\x{1173F}]",
    ),
    (SymbolForm, r"[\x{FE0F}]"),
    (TextForm, r"[\x{FE0E}]"),
    (Joiner, r"[\x{200D}]"),
    (Keycap, r"[\x{20E3}]"),
    (SymbolColour, r"[\p{Emoji_Modifier}]"),
    (SymbolLetter, r"[\p{Extended_Pictographic}&&\p{wb=ALetter}]"),
    (
        Single,
        r"[[\p{Hiragana}\p{Han}]&&\p{age=12.1}--\p{wb=Extend}]",
    ),
    (Symbol, r"[\p{Extended_Pictographic}]"),
    (Region, r"[\p{wb=Regional_Indicator}]"),
    (
        UnspacedMark,
        r"[[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Tham}\p{Tai_Viet}\p{Ahom}]&&\p{M}&&\p{age=12.1}]",
    ),
    (
        Unspaced,
        r"[[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Tham}\p{Tai_Viet}\p{Ahom}]&&\p{L}&&\p{age=12.1}]",
    ),
    (Extend, r"[[\p{wb=Extend}\p{wb=Format}]&&\p{age=12.1}]"),
    (Katakana, r"[\p{wb=Katakana}&&\p{age=12.1}]"),
    (Hebrew, r"[\p{wb=Hebrew_Letter}]"),
    (Letter, r"[\p{wb=ALetter}&&\p{age=12.1}]"),
    (Number, r"[[\p{wb=Numeric}\x{FF10}-\x{FF19}]&&\p{age=12.1}]"),
    (Underscore, r"[\p{wb=ExtendNumLet}]"),
    (MidLetter, r"[\p{wb=MidLetter}]"),
    (MidNumber, r"[\p{wb=MidNum}]"),
    (Mid, r"[\p{wb=MidNumLet}]"),
    (SingleQuote, r"[']"),
    (DoubleQuote, r#"["]"#),
];

/// The classes of all characters.
struct Table {
    ascii: [Class; 128],
    /// Ranges that do not overlap, in ascending order.
    ranges: Vec<(char, char, Class)>,
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

impl Table {
    fn new() -> Table {
        let mut ranges: Vec<(char, char, Class)> = Vec::new();
        let mut taken = regex_syntax::hir::ClassUnicode::empty();
        for (class, pattern) in CLASSES {
            let hir = regex_syntax::parse(pattern).expect("the pattern is valid");
            let mut all = match hir.into_kind() {
                HirKind::Class(HirClass::Unicode(all)) => all,
                // A class of one character.
                HirKind::Literal(one) => {
                    let text = std::str::from_utf8(&one.0).expect("a character");
                    let ranges = text
                        .chars()
                        .map(|letter| regex_syntax::hir::ClassUnicodeRange::new(letter, letter));
                    regex_syntax::hir::ClassUnicode::new(ranges)
                }
                other => unreachable!("{other:?} is no class"),
            };
            all.difference(&taken);
            taken.union(&all);
            let of_class = all.iter().map(|range| (range.start(), range.end(), *class));
            ranges.extend(of_class);
        }
        ranges.sort_unstable_by_key(|(first, ..)| *first);
        let mut table = Table {
            ascii: [Other; 128],
            ranges,
        };
        for byte in 0..128 {
            table.ascii[usize::from(byte)] = table.find(char::from(byte));
        }
        table
    }

    fn find(&self, letter: char) -> Class {
        let behind = self.ranges.partition_point(|(first, ..)| *first <= letter);
        match behind.checked_sub(1).map(|at| self.ranges[at]) {
            Some((_, last, class)) if letter <= last => class,
            _ => Other,
        }
    }

    fn class(&self, letter: char) -> Class {
        match self.ascii.get(letter as usize) {
            Some(class) => *class,
            None => self.find(letter),
        }
    }
}

impl Class {
    /// Returns whether a character belongs to what is before it.
    fn is_part(self) -> bool {
        matches!(
            self,
            Extend | Joiner | SymbolForm | TextForm | SymbolColour | Keycap | UnspacedMark
        )
    }

    fn is_letter(self) -> bool {
        matches!(self, Letter | Hebrew | SymbolLetter)
    }

    fn is_symbol(self) -> bool {
        matches!(self, Symbol | SymbolLetter | SymbolColour)
    }
}

/// Calls `visit` with each word, in the order of the text.
pub(super) fn words(text: &str, mut visit: impl FnMut(&str)) {
    let scanner = Scanner {
        text,
        table: &TABLE,
    };
    let mut at = 0;
    while let Some((_, next)) = scanner.next(at) {
        let ends = [
            scanner.word(at),
            scanner.symbol(at),
            scanner.flag(at),
            scanner.key(at),
            scanner.unspaced(at),
            scanner.single(at),
        ];
        at = match ends.into_iter().flatten().max() {
            Some(end) => {
                visit(&text[at..end]);
                end
            }
            None => next,
        };
    }
}

/// The rules of the grammar; each returns where what begins at a place ends, as far away as possible.
#[derive(Clone, Copy)]
struct Scanner<'t> {
    text: &'t str,
    table: &'t Table,
}

impl Scanner<'_> {
    /// Returns the class of the character at a place, and the place behind it.
    fn next(self, at: usize) -> Option<(Class, usize)> {
        let letter = self.text[at..].chars().next()?;
        Some((self.table.class(letter), at + letter.len_utf8()))
    }

    /// Returns the same, the place being behind all that belongs to the character.
    fn unit(self, at: usize) -> Option<(Class, usize)> {
        let (class, end) = self.next(at)?;
        Some((class, self.behind(end, Class::is_part)))
    }

    /// Returns the place behind the characters that a condition holds for.
    fn behind(self, mut at: usize, is_part: impl Fn(Class) -> bool) -> usize {
        while let Some((class, next)) = self.next(at)
            && is_part(class)
        {
            at = next;
        }
        at
    }

    /// Letters, numbers and Katakana.
    fn word(self, start: usize) -> Option<usize> {
        let mut end = None;
        let mut before = Underscore;
        let mut at = start;
        while let Some((class, next)) = self.unit(at) {
            match class {
                Underscore => {
                    before = Underscore;
                    end = end.map(|_| next);
                    at = next;
                    continue;
                }
                Katakana if matches!(before, Underscore | Katakana) => {}
                Number if before != Katakana => {}
                class if class.is_letter() && before != Katakana => {}
                _ => match self.bridge(before, class, next) {
                    Bridge::To(far) => {
                        at = far;
                        continue;
                    }
                    // A quote behind a Hebrew letter is a part of it.
                    Bridge::End(far) => return Some(far),
                    Bridge::None => break,
                },
            }
            (before, end, at) = (class, Some(next), next);
        }
        end
    }

    /// Looks whether a character between letters or numbers joins them; `behind` is the place behind it.
    fn bridge(self, before: Class, class: Class, behind: usize) -> Bridge {
        let after = self.unit(behind).map(|(class, _)| class);
        let is_letter = after.is_some_and(Class::is_letter);
        match class {
            MidLetter | Mid | SingleQuote if before.is_letter() && is_letter => Bridge::To(behind),
            MidNumber | Mid | SingleQuote if before == Number && after == Some(Number) => {
                Bridge::To(behind)
            }
            DoubleQuote if before == Hebrew && after == Some(Hebrew) => Bridge::To(behind),
            SingleQuote if before == Hebrew => match after {
                Some(Number | Underscore) => Bridge::To(behind),
                _ => Bridge::End(behind),
            },
            _ => Bridge::None,
        }
    }

    /// A symbol with its form and colour, and those that are joined to it.
    fn symbol(self, start: usize) -> Option<usize> {
        let mut at = self.behind(start, |class| class == Joiner);
        let mut end = None;
        while let Some((class, next)) = self.next(at)
            && class.is_symbol()
        {
            let parts = self.behind(next, |class| {
                class.is_part() && !matches!(class, SymbolForm | TextForm)
            });
            let form = match self.next(parts) {
                Some((SymbolForm, behind)) => behind,
                _ => parts,
            };
            end = Some(form);
            at = self.behind(form, |class| class == Joiner);
            let is_joined = self.text[..at].ends_with('\u{200d}');
            if !is_joined {
                break;
            }
        }
        end
    }

    /// Two halves of a flag.
    fn flag(self, start: usize) -> Option<usize> {
        let (first, middle) = self.unit(start)?;
        let (second, end) = self.unit(middle)?;
        (first == Region && second == Region).then_some(end)
    }

    /// A digit or sign in the frame of a key.
    fn key(self, start: usize) -> Option<usize> {
        let sign = self.text.as_bytes().get(start)?;
        if !matches!(sign, b'0'..=b'9' | b'#' | b'*') {
            return None;
        }
        let form = self.behind(start + 1, |class| class == SymbolForm);
        match self.next(form)? {
            (Keycap, end) if form <= start + 1 + SYMBOL_FORM.len_utf8() => Some(end),
            _ => None,
        }
    }

    /// Words of a script without spaces, which are taken as one.
    fn unspaced(self, start: usize) -> Option<usize> {
        let mut end = None;
        let mut at = start;
        while let Some((Unspaced | UnspacedMark, next)) = self.unit(at) {
            (end, at) = (Some(next), next);
        }
        end
    }

    /// A character that is a word by itself.
    fn single(self, start: usize) -> Option<usize> {
        match self.unit(start)? {
            (Single, end) => Some(end),
            _ => None,
        }
    }
}

/// Asks for the form of a symbol.
const SYMBOL_FORM: char = '\u{fe0f}';

/// What a character between letters or numbers does.
enum Bridge {
    /// Joins what is before it to what is at this place.
    To(usize),
    /// Ends the word, as a part of it.
    End(usize),
    /// Is no part of the word.
    None,
}

#[cfg(test)]
mod tests {
    use super::words;

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let start = text.as_ptr() as usize;
        words(text, |word| {
            let at = word.as_ptr() as usize - start;
            found.push(&text[at..at + word.len()]);
        });
        found
    }

    #[test]
    fn marks_and_signs_alone_are_no_words() {
        assert_eq!(found("³ ＿\u{347} \u{a47} 🇱 #\u{fe0f} ´"), [""; 0]);
        assert_eq!(found("a³b _a_ \u{301}c"), ["a", "b", "_a_", "c"]);
    }

    #[test]
    fn symbols_are_words_with_all_that_belongs_to_them() {
        let words = [
            "👩\u{200d}👩\u{200d}👧",
            "👍🏽",
            "1\u{fe0f}\u{20e3}",
            "#\u{20e3}",
            "♮",
            "🏳\u{fe0f}\u{200d}🌈",
            "🇩🇪",
            "🏴\u{e0067}\u{e0062}\u{e007f}",
            "©",
        ];
        assert_eq!(found(&words.join(" ")), words);
        assert_eq!(found("☺\u{fe0e}a🇩🇪🇫👍1"), ["☺", "a", "🇩🇪", "👍", "1"]);
    }

    #[test]
    fn quotes_are_part_of_hebrew_words() {
        assert_eq!(found("ה' צה\"ל a' b\"c"), ["ה'", "צה\"ל", "a", "b", "c"]);
    }

    #[test]
    fn scripts_are_apart() {
        assert_eq!(
            found("アa_ア_a 漢\u{301}字 ひら ー"),
            ["ア", "a_ア_a", "漢\u{301}", "字", "ひ", "ら", "ー"]
        );
        assert_eq!(found("กa က1 ภาษาไทย"), ["ก", "a", "က", "1", "ภาษาไทย"]);
    }
}
