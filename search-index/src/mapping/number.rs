//! The numbers of the indexes behind an alias.

use std::fmt;
use std::str::FromStr;

/// The number of an index behind an alias, in the order in which indexes replace one another.
///
/// Where several instances of a service build indexes, one at a time does, by a lease. Its number comes first, so that
/// whatever an earlier holder still does comes before what the present one has built.
///
/// ```
/// use search_index::mapping::IndexNumber;
///
/// let number: IndexNumber = "3-1".parse()?;
/// assert!(number > IndexNumber::from(12), "numbers without a lease come first");
/// assert_eq!((number.to_string(), number.next().to_string()), ("3-1".to_owned(), "3-2".to_owned()));
/// # Ok::<(), search_index::mapping::NoIndexNumber>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexNumber {
    /// The number of the lease under which the index was built; 0 without one.
    pub lease: u64,
    /// The number among the indexes that were built under the lease.
    pub number: u64,
}

/// The end of a name is not that of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an index has a number, or that of a lease and a number")]
pub struct NoIndexNumber;

impl IndexNumber {
    /// Returns the number after this one, under the same lease.
    #[must_use]
    pub fn next(self) -> Self {
        IndexNumber {
            number: self.number + 1,
            ..self
        }
    }
}

impl From<u64> for IndexNumber {
    fn from(number: u64) -> Self {
        IndexNumber { lease: 0, number }
    }
}

impl fmt::Display for IndexNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lease {
            0 => write!(f, "{}", self.number),
            lease => write!(f, "{lease}-{}", self.number),
        }
    }
}

impl FromStr for IndexNumber {
    type Err = NoIndexNumber;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (lease, number) = text.split_once('-').unwrap_or(("0", text));
        let parsed = match (lease.parse(), number.parse()) {
            (Ok(lease), Ok(number)) => IndexNumber { lease, number },
            _ => return Err(NoIndexNumber),
        };
        // An index `svc-planet-07` is no one's seventh.
        if parsed.to_string() == text {
            Ok(parsed)
        } else {
            Err(NoIndexNumber)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_is_written_and_in_no_other_form() {
        let number = |lease, number| Ok(IndexNumber { lease, number });
        for (text, expected) in [
            ("7", number(0, 7)),
            ("2-7", number(2, 7)),
            ("07", Err(NoIndexNumber)),
            ("0-7", Err(NoIndexNumber)),
            ("2-07", Err(NoIndexNumber)),
            ("+2-7", Err(NoIndexNumber)),
            ("2-7-1", Err(NoIndexNumber)),
            ("2-", Err(NoIndexNumber)),
            ("", Err(NoIndexNumber)),
            ("x", Err(NoIndexNumber)),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
    }
}
