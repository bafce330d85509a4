//! Which changes of data a request waits for, and which it has made.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// The changes of data that a request waits for, and those that it has made, by their sequences.
///
/// Whoever has changed data is told the sequence of the change ([`DATA_SEQUENCE`]), and names it in a later request
/// ([`AWAIT_DATA_SEQUENCE`]) to a service that follows the data with a delay, such as a search service, so that it sees
/// the change. A service that asks others passes both on: several, where others have several stores.
///
/// ```
/// use graphql_service::{DataSequences, RequestContext};
///
/// let context = RequestContext::new().with_awaited("17".parse()?);
/// assert_eq!(context.sequences.awaited().iter().collect::<Vec<_>>(), [17]);
/// context.sequences.note([18]);
/// assert_eq!(context.sequences.written().to_string(), "18");
/// # Ok::<(), graphql_service::InvalidSequences>(())
/// ```
#[derive(Debug, Default)]
pub struct DataSequences {
    awaited: Sequences,
    written: Mutex<Sequences>,
}

/// The header with the sequence of the change that a request has made.
pub const DATA_SEQUENCE: &str = "data-sequence";

/// The header with the sequence of a change that the response must include.
pub const AWAIT_DATA_SEQUENCE: &str = "await-data-sequence";

/// Most sequences of a header.
const MOST: usize = 16;

/// Some sequences, in ascending order, as a header has them: numbers with commas between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequences(BTreeSet<u64>);

/// A text is not that of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sequences are 1 to {MOST} numbers with commas between")]
pub struct InvalidSequences;

impl DataSequences {
    /// Creates those of a request that waits for changes.
    #[must_use]
    pub fn awaiting(awaited: Sequences) -> Self {
        DataSequences {
            awaited,
            written: Mutex::default(),
        }
    }

    /// Returns the changes that the answer is to have.
    #[must_use]
    pub fn awaited(&self) -> &Sequences {
        &self.awaited
    }

    /// Notes changes that were made for the request.
    pub fn note(&self, sequences: impl IntoIterator<Item = u64>) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.0.extend(sequences);
        while written.0.len() > MOST {
            written.0.pop_first();
        }
    }

    /// Returns the changes that were made for the request so far.
    #[must_use]
    pub fn written(&self) -> Sequences {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.clone()
    }
}

impl Sequences {
    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sequences.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }
}

impl fmt::Display for Sequences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, sequence) in self.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{sequence}")?;
        }
        Ok(())
    }
}

impl FromStr for Sequences {
    type Err = InvalidSequences;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| {
            let text = text.trim_matches([' ', '\t']);
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number
                .then(|| text.parse().ok())
                .flatten()
                .ok_or(InvalidSequences)
        };
        if text.split(',').count() > MOST {
            return Err(InvalidSequences);
        }
        let numbers = text.split(',').map(number);
        numbers.collect::<Result<_, _>>().map(Sequences)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_read_as_they_are_written() {
        let read = |text: &str| text.parse::<Sequences>().map(|read| read.to_string());
        for (text, expected) in [
            ("7", Ok("7")),
            ("0", Ok("0")),
            (" 9,\t7 ,7", Ok("7, 9")),
            ("18446744073709551615", Ok("18446744073709551615")),
            ("18446744073709551616", Err(InvalidSequences)),
            ("", Err(InvalidSequences)),
            ("7,", Err(InvalidSequences)),
            ("-7", Err(InvalidSequences)),
            ("+7", Err(InvalidSequences)),
            ("7 8", Err(InvalidSequences)),
            (
                "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
                Err(InvalidSequences),
            ),
        ] {
            assert_eq!(read(text), expected.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn of_many_changes_the_last_are_kept() {
        let sequences = DataSequences::default();
        sequences.note(1..=100);
        let written = sequences.written();
        assert_eq!(
            written.iter().collect::<Vec<_>>(),
            (85..=100).collect::<Vec<_>>()
        );
        assert_eq!(written.to_string().parse(), Ok(written));
    }
}
