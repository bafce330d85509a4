//! Options of clauses that are written in small languages of their own.

use std::fmt;
use std::str::FromStr;

/// An option that is not written as its language demands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct OptionError {
    /// The problem, as a lower-case fragment.
    pub message: String,
}

impl OptionError {
    fn new(message: impl Into<String>) -> Self {
        OptionError {
            message: message.into(),
        }
    }
}

/// How many errors a term may have, as OpenSearch's `fuzziness` says
/// (<https://docs.opensearch.org/latest/query-dsl/full-text/match/>).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fuzziness {
    /// Up to this many, at most 2.
    Edits(u8),
    /// By the length of the term in code points: none below `low`, one below `high`, else two.
    Auto {
        /// Least length of a term that may have an error.
        low: u32,
        /// Least length of a term that may have two.
        high: u32,
    },
}

impl Fuzziness {
    /// `AUTO`.
    pub const AUTO: Fuzziness = Fuzziness::Auto { low: 3, high: 6 };

    /// Returns the number of errors that a term of this many code points may have.
    #[must_use]
    pub fn edits(self, length: usize) -> u8 {
        match self {
            Fuzziness::Edits(edits) => edits,
            Fuzziness::Auto { low, .. } if length < low as usize => 0,
            Fuzziness::Auto { high, .. } if length < high as usize => 1,
            Fuzziness::Auto { .. } => 2,
        }
    }
}

impl FromStr for Fuzziness {
    type Err = OptionError;

    /// Parses `0`, `1`, `2`, `AUTO` or `AUTO:low,high`.
    fn from_str(text: &str) -> Result<Self, OptionError> {
        let wrong = || OptionError::new("it is `0`, `1`, `2`, `AUTO` or `AUTO:<low>,<high>`");
        match text {
            "0" | "1" | "2" => Ok(Fuzziness::Edits(text.as_bytes()[0] - b'0')),
            _ if text.eq_ignore_ascii_case("auto") => Ok(Fuzziness::AUTO),
            _ => {
                let (auto, bounds) = text.split_once(':').ok_or_else(wrong)?;
                let (low, high) = bounds.split_once(',').ok_or_else(wrong)?;
                let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
                let (low, high) = (number(low)?, number(high)?);
                let is_valid = auto.eq_ignore_ascii_case("auto") && low <= high;
                is_valid
                    .then_some(Fuzziness::Auto { low, high })
                    .ok_or_else(wrong)
            }
        }
    }
}

impl fmt::Display for Fuzziness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fuzziness::Edits(edits) => write!(f, "{edits}"),
            &Fuzziness::AUTO => f.write_str("AUTO"),
            Fuzziness::Auto { low, high } => write!(f, "AUTO:{low},{high}"),
        }
    }
}

/// How many of some clauses have to match: `2`, `-1`, `75%`, `-25%`, or with conditions as in
/// `2<-25% 9<-3` (<https://docs.opensearch.org/latest/query-dsl/minimum-should-match/>).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MinimumShouldMatch {
    /// What holds for any number of clauses; all of them where there are conditions.
    otherwise: Option<Share>,
    /// What holds above a number of clauses, in ascending order of the number.
    above: Vec<(u32, Share)>,
}

/// A number or a part of some clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Share {
    /// This many; if negative, all but this many.
    Number(i32),
    /// This many in a hundred; if negative, all but these. Rounded towards 0.
    Percent(i32),
}

impl Share {
    fn of(self, clauses: usize) -> usize {
        let clauses = i64::try_from(clauses).unwrap_or(i64::MAX);
        let number = match self {
            Share::Number(number) => i64::from(number),
            Share::Percent(percent) => clauses.saturating_mul(percent.into()) / 100,
        };
        let all_but = match self {
            Share::Number(number) | Share::Percent(number) => number < 0,
        };
        let wanted = if all_but { clauses + number } else { number };
        usize::try_from(wanted).unwrap_or(0)
    }
}

impl MinimumShouldMatch {
    /// Returns how many of `clauses` clauses have to match.
    #[must_use]
    pub fn of(&self, clauses: usize) -> usize {
        // The condition with the highest number that is passed decides.
        let holds = self
            .above
            .iter()
            .rev()
            .find(|(limit, _)| clauses > *limit as usize);
        let share = holds.map(|(_, share)| *share).or(self.otherwise);
        share.map_or(clauses, |share| share.of(clauses))
    }
}

impl From<i32> for MinimumShouldMatch {
    fn from(number: i32) -> Self {
        MinimumShouldMatch {
            otherwise: Some(Share::Number(number)),
            above: Vec::new(),
        }
    }
}

impl FromStr for Share {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let wrong =
            || OptionError::new("it is a number, a percentage, or a list such as `2<-25% 9<-3`");
        let (number, is_percent) = match text.strip_suffix('%') {
            Some(number) => (number, true),
            None => (text, false),
        };
        let number: i32 = number.parse().map_err(|_| wrong())?;
        match is_percent {
            true if number.unsigned_abs() > 100 => {
                Err(OptionError::new("a percentage is at most 100"))
            }
            true => Ok(Share::Percent(number)),
            false => Ok(Share::Number(number)),
        }
    }
}

impl FromStr for MinimumShouldMatch {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        if !text.contains('<') {
            return Ok(MinimumShouldMatch {
                otherwise: Some(text.trim().parse()?),
                above: Vec::new(),
            });
        }
        let mut above: Vec<(u32, Share)> = Vec::new();
        for condition in text.split_whitespace() {
            let (limit, share) = condition
                .split_once('<')
                .ok_or_else(|| OptionError::new(format!("`{condition}` has no `<`")))?;
            let limit = limit
                .parse()
                .map_err(|_| OptionError::new(format!("`{limit}` is not a number of clauses")))?;
            if above.last().is_some_and(|(last, _)| *last >= limit) {
                return Err(OptionError::new("conditions are in ascending order"));
            }
            above.push((limit, share.parse()?));
        }
        Ok(MinimumShouldMatch {
            otherwise: None,
            above,
        })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Share::Number(number) => write!(f, "{number}"),
            Share::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl fmt::Display for MinimumShouldMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(share) = self.otherwise {
            return share.fmt(f);
        }
        for (at, (limit, share)) in self.above.iter().enumerate() {
            let separator = if at == 0 { "" } else { " " };
            write!(f, "{separator}{limit}<{share}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Fuzziness, MinimumShouldMatch};

    #[test]
    fn minimum_should_match_counts_as_lucene_does() {
        let cases = [
            ("2", [(1, 2), (3, 2)]),
            ("-1", [(3, 2), (1, 0)]),
            ("-3", [(2, 0), (4, 1)]),
            ("75%", [(4, 3), (5, 3)]),
            ("-25%", [(4, 3), (5, 4)]),
            ("100%", [(4, 4), (0, 0)]),
            ("3<90%", [(3, 3), (10, 9)]),
            ("2<-25% 9<-3", [(9, 7), (10, 7)]),
            ("2<-25% 9<-3", [(2, 2), (3, 3)]),
        ];
        for (text, counts) in cases {
            let parsed: MinimumShouldMatch = text.parse().expect(text);
            assert_eq!(parsed.to_string(), text);
            for (clauses, expected) in counts {
                assert_eq!(parsed.of(clauses), expected, "{text} of {clauses}");
            }
        }
    }

    #[test]
    fn what_is_no_minimum_is_refused() {
        for text in [
            "",
            "x",
            "1.5",
            "101%",
            "%",
            "2<",
            "<3",
            "9<1 2<1",
            "2<1 3",
            "99999999999",
        ] {
            assert!(text.parse::<MinimumShouldMatch>().is_err(), "{text}");
        }
    }

    #[test]
    fn fuzziness_depends_on_the_length_of_a_term() {
        let read = |text: &str| text.parse::<Fuzziness>();
        for (text, edits) in [
            ("0", [0, 0, 0]),
            ("2", [2, 2, 2]),
            ("AUTO", [0, 1, 2]),
            ("AUTO:2,3", [1, 2, 2]),
        ] {
            let fuzziness = read(text).expect(text);
            assert_eq!(
                [2, 5, 6].map(|length| fuzziness.edits(length)),
                edits,
                "{text}"
            );
            assert_eq!(fuzziness.to_string(), text);
        }
        for text in ["", "3", "-1", "1.0", "AUTO:", "AUTO:5,2", "AUT", "X:1,2"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
