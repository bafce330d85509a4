//! How much work there is, and from which size on it is too long for the thread of an asynchronous task.
//!
//! All bounds are here. Work up to the first one takes at most about half a millisecond, and up to the second one about
//! 30 milliseconds.

/// How long work is about to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Milliseconds, such as most requests.
    Medium,
    /// Longer: requests that read a good part of the data.
    Long,
    /// Work that no answer of a usual request waits for: checks and changes of schemas, compression of
    /// large answers.
    Background,
}

/// How much work there is, as estimated before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Size {
    /// Bytes of JSON or of a message that are read, rendered or put together.
    Text(usize),
    /// An operation that is validated and planned.
    Operation {
        /// Bytes of its document; none where it was validated before.
        document: usize,
        /// Bytes of the values of variables.
        values: usize,
    },
    /// Bytes of results that are read, and that an answer is written from.
    Results(usize),
    /// Bytes that are compressed.
    Compressed(usize),
    /// Terms that are sorted, grouped or linked.
    Terms(usize),
}

/// Bytes of JSON that are read in the time in which a byte of a document is validated and planned.
const OF_A_DOCUMENT: usize = 32;

impl Size {
    /// Returns where work of this size runs: in a slot of this weight, or `None` on the thread that asks for it.
    #[must_use]
    pub const fn weight(self) -> Option<Weight> {
        let (amount, short, medium) = match self {
            Size::Text(bytes) => (bytes, 32 << 10, usize::MAX),
            Size::Operation { document, values } => {
                let document = document.saturating_mul(OF_A_DOCUMENT);
                (document.saturating_add(values), 32 << 10, 512 << 10)
            }
            Size::Results(bytes) => (bytes, 128 << 10, 4 << 20),
            Size::Compressed(bytes) => (bytes, 16 << 10, 512 << 10),
            Size::Terms(terms) => (terms, 2_048, 32 << 10),
        };
        if amount <= short {
            None
        } else if amount <= medium {
            Some(Weight::Medium)
        } else if matches!(self, Size::Compressed(_)) {
            Some(Weight::Background)
        } else {
            Some(Weight::Long)
        }
    }

    /// Returns whether work of this size runs on the thread that asks for it.
    #[must_use]
    pub const fn is_short(self) -> bool {
        self.weight().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_weighs_more_than_the_values_of_its_variables() {
        let size = |document, values| Size::Operation { document, values }.weight();
        assert_eq!(size(1 << 10, 0), None);
        assert_eq!(size(0, 32 << 10), None);
        assert_eq!(size(1 << 10, 1), Some(Weight::Medium));
        assert_eq!(size(16 << 10, 0), Some(Weight::Medium));
        assert_eq!(size(0, 1 << 20), Some(Weight::Long));
        assert_eq!(size(usize::MAX, usize::MAX), Some(Weight::Long));
    }

    #[test]
    fn long_compression_waits_behind_what_answers_wait_for() {
        assert!(Size::Compressed(16 << 10).is_short());
        assert_eq!(Size::Compressed(512 << 10).weight(), Some(Weight::Medium));
        assert_eq!(Size::Compressed(1 << 20).weight(), Some(Weight::Background));
    }
}
