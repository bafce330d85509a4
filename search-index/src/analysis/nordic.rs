//! Stems of Danish and Norwegian words as Lucene has them: those of Snowball before it learned of apostrophes.
//!
//! Suffixes are looked for behind the first consonant that follows a vowel, and not in the first three letters.

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nordic {
    Danish,
    Norwegian,
}

/// Suffixes that are cut off first, longest first among those that end alike.
const DANISH: &[&str] = &[
    "erendes", "erende", "hedens", "erede", "ethed", "heden", "endes", "erets", "heder", "ernes",
    "erens", "ered", "ende", "erne", "eren", "erer", "heds", "enes", "eres", "eret", "hed", "ene",
    "ere", "ens", "ers", "ets", "en", "er", "es", "et", "e",
];

const NORWEGIAN: &[&str] = &[
    "hetenes", "hetene", "hetens", "heter", "heten", "endes", "ande", "ende", "edes", "enes",
    "ede", "ane", "ene", "ens", "ers", "ets", "het", "ast", "en", "ar", "er", "as", "es", "et",
    "a", "e",
];

/// Suffixes that are cut off last, longest first among those that end alike.
const DANISH_OTHERS: &[&str] = &["elig", "lig", "els", "ig"];

const NORWEGIAN_OTHERS: &[&str] = &[
    "hetslov", "eleg", "elig", "elov", "slov", "leg", "eig", "lig", "els", "lov", "ig",
];

impl Nordic {
    /// Returns the stem of a word in lower case.
    pub(super) fn stem(self, mut word: String) -> String {
        let Some(region) = region(&word) else {
            return word;
        };
        self.main_suffix(&mut word, region);
        match self {
            Nordic::Danish => {
                pair(&mut word, region, &["gd", "dt", "gt", "kt"]);
                danish_others(&mut word, region);
                undouble(&mut word, region);
            }
            Nordic::Norwegian => {
                pair(&mut word, region, &["dt", "vt"]);
                cut(&mut word, region, NORWEGIAN_OTHERS);
            }
        }
        word
    }

    fn main_suffix(self, word: &mut String, region: usize) {
        if self == Nordic::Norwegian {
            for (suffix, length) in [("erte", 2), ("ert", 1)] {
                if ends(word, region, suffix) {
                    word.truncate(word.len() - length);
                    return;
                }
            }
        }
        let suffixes = match self {
            Nordic::Danish => DANISH,
            Nordic::Norwegian => NORWEGIAN,
        };
        if cut(word, region, suffixes) || !ends(word, region, "s") {
            return;
        }
        let mut before = word[..word.len() - 1].chars().rev();
        let may_be_cut = match (self, before.next()) {
            (_, None) => false,
            (Nordic::Danish, Some(letter)) => "abcdfghjklmnoprtvyzå".contains(letter),
            (Nordic::Norwegian, Some('k')) => before.next().is_some_and(|letter| !is_vowel(letter)),
            (Nordic::Norwegian, Some(letter)) => "bcdfghjlmnoprtvyz".contains(letter),
        };
        if may_be_cut {
            word.pop();
        }
    }
}

fn is_vowel(letter: char) -> bool {
    "aeiouyæåø".contains(letter)
}

/// Returns where suffixes may begin; `None` if the word is too short for any.
fn region(word: &str) -> Option<usize> {
    let (third, _) = word.char_indices().nth(2)?;
    let behind_three = third + word[third..].chars().next()?.len_utf8();
    let mut letters = word
        .char_indices()
        .skip_while(|(_, letter)| !is_vowel(*letter));
    let (at, consonant) = letters.find(|(_, letter)| !is_vowel(*letter))?;
    Some((at + consonant.len_utf8()).max(behind_three))
}

fn ends(word: &str, region: usize, suffix: &str) -> bool {
    word.len() >= region + suffix.len() && word.ends_with(suffix)
}

/// Cuts off the first of some suffixes that a word has.
fn cut(word: &mut String, region: usize, suffixes: &[&str]) -> bool {
    let found = suffixes.iter().find(|suffix| ends(word, region, suffix));
    if let Some(suffix) = found {
        word.truncate(word.len() - suffix.len());
    }
    found.is_some()
}

/// Cuts off the second of two consonants.
fn pair(word: &mut String, region: usize, pairs: &[&str]) {
    if pairs.iter().any(|pair| ends(word, region, pair)) {
        word.pop();
    }
}

fn danish_others(word: &mut String, region: usize) {
    if word.ends_with("igst") {
        word.truncate(word.len() - 2);
    }
    if ends(word, region, "løst") {
        word.pop();
    } else if cut(word, region, DANISH_OTHERS) {
        pair(word, region, &["gd", "dt", "gt", "kt"]);
    }
}

/// Cuts off the second of two equal consonants, of those that Danish words double.
fn undouble(word: &mut String, region: usize) {
    let mut letters = word.chars().rev();
    let (last, before) = (letters.next(), letters.next());
    if let Some(letter) = last
        && last == before
        && "bcdfghjklmnpqrstvwxz".contains(letter)
        && word.len() >= region + letter.len_utf8()
    {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::Nordic::{self, Danish, Norwegian};

    /// The words, and the stems that Snowball gives as examples.
    const CASES: &[(Nordic, &str, &str)] = &[
        (Danish, "indtog", "indtog"),
        (Danish, "indtage", "indtag"),
        (Danish, "indtrængende", "indtræng"),
        (Danish, "underste", "underst"),
        (Danish, "undersåtter", "undersåt"),
        (Danish, "undersøgelser", "undersøg"),
        (Danish, "understøttelse", "understøt"),
        (Danish, "underdanighed", "underdan"),
        (Danish, "angela's", "angela's"),
        (Danish, "arphocc", "arphoc"),
        (Danish, "kanoo", "kanoo"),
        (Danish, "diníí", "diníí"),
        (Danish, "is", "is"),
        (Norwegian, "havnedistriktene", "havnedistrikt"),
        (Norwegian, "havneekspedisjonens", "havneekspedisjon"),
        (Norwegian, "opninger", "opning"),
        (Norwegian, "opplysningsverdigste", "opplysningsverdigst"),
        (Norwegian, "angela's", "angela's"),
        (Norwegian, "kjærligheten", "kjær"),
        (Norwegian, "fisk", "fisk"),
    ];

    #[test]
    fn stems_are_those_of_snowball() {
        for (language, word, stem) in CASES {
            assert_eq!(language.stem((*word).to_owned()), *stem, "{word}");
        }
    }
}
