//! Scores of terms: BM25 as Lucene works it out, in the form that keeps the factor k1 + 1.

use std::sync::Arc;

use tantivy::columnar::Column;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::{DocId, DocSet};

use super::scorer::Scorer;

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// How much of a field there is, and what its lengths count. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct FieldScore {
    /// Number of documents with a term of the field.
    documents: u64,
    /// The inverse of the length of a document, by its byte.
    inverse: Arc<[f32; 256]>,
}

impl FieldScore {
    /// Takes the number of documents with a term of the field, and of its terms. Where documents have no
    /// lengths, all count as long as one term, also where the mean is greater since documents have several
    /// values.
    pub(super) fn new(documents: u64, terms: u64) -> Self {
        let average = (terms as f64 / (documents as f64).max(1.0)) as f32;
        let mut inverse = [0.0; 256];
        for (byte, inverse) in inverse.iter_mut().enumerate() {
            let length = length_of(byte as u8) as f32;
            *inverse = 1.0 / (K1 * ((1.0 - B) + B * length / average));
        }
        FieldScore {
            documents,
            inverse: Arc::new(inverse),
        }
    }
}

/// What a term adds to the score of a document. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct TermScore {
    weight: f32,
    /// The inverse of the length of a document, by its byte.
    inverse: Arc<[f32; 256]>,
}

impl TermScore {
    /// Weighs a term of a field that so many documents have.
    pub(super) fn new(field: &FieldScore, with_term: u64, boost: f32) -> Self {
        let (documents, with_term) = (field.documents as f64, with_term as f64);
        let rarity = (1.0 + (documents - with_term + 0.5) / (with_term + 0.5)).ln() as f32;
        TermScore {
            weight: boost * (1.0 + K1) * rarity,
            inverse: Arc::clone(&field.inverse),
        }
    }

    fn of(&self, frequency: u32, length: u64) -> f32 {
        let inverse = self.inverse[usize::from(byte_of(length))];
        self.weight - self.weight / (1.0 + frequency as f32 * inverse)
    }
}

/// Below this, lengths are kept as they are.
const EXACT: u64 = 24;

/// Returns the byte that stands for a length: exact when short, else four significant bits.
fn byte_of(length: u64) -> u8 {
    let length = length.min(i32::MAX as u64);
    let Some(rest) = length.checked_sub(EXACT) else {
        return length as u8;
    };
    let bits = 64 - rest.leading_zeros();
    let coded = match bits {
        0..=3 => rest,
        bits => {
            let shift = bits - 4;
            (rest >> shift) & 7 | u64::from(shift + 1) << 3
        }
    };
    (EXACT + coded) as u8
}

/// Returns the length that a byte stands for.
fn length_of(byte: u8) -> u64 {
    let Some(coded) = u64::from(byte).checked_sub(EXACT) else {
        return byte.into();
    };
    let rest = match coded >> 3 {
        0 => coded & 7,
        shift => (coded & 7 | 8) << (shift - 1),
    };
    EXACT + rest
}

/// The documents with a term, and their scores.
pub(super) struct TermScorer {
    postings: SegmentPostings,
    /// Lengths of documents, where they count.
    lengths: Option<Column<u64>>,
    score: TermScore,
}

impl TermScorer {
    pub(super) fn new(
        postings: SegmentPostings,
        lengths: Option<Column<u64>>,
        score: TermScore,
    ) -> Self {
        TermScorer {
            postings,
            lengths,
            score,
        }
    }
}

impl Scorer for TermScorer {
    fn doc(&self) -> DocId {
        self.postings.doc()
    }

    fn advance(&mut self) -> DocId {
        self.postings.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if target <= self.postings.doc() {
            return self.postings.doc();
        }
        self.postings.seek(target)
    }

    fn score(&mut self) -> f32 {
        match &self.lengths {
            Some(lengths) => {
                let length = lengths.first(self.postings.doc()).unwrap_or(1);
                self.score.of(self.postings.term_freq(), length)
            }
            None => self.score.of(1, 1),
        }
    }

    fn cost(&self) -> u64 {
        self.postings.size_hint().into()
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldScore, TermScore, byte_of, length_of};

    #[test]
    fn short_lengths_are_exact_and_long_ones_nearly() {
        for length in 0..40 {
            assert_eq!(length_of(byte_of(length)), length);
        }
        let mut last = 0;
        for byte in 0..=255_u8 {
            let length = length_of(byte);
            assert!(length > last || byte == 0);
            assert_eq!(byte_of(length), byte);
            last = length;
        }
        assert_eq!(byte_of(1 << 40), 255);
        assert_eq!(length_of(byte_of(1_000)), 984);
    }

    #[test]
    fn a_score_is_that_of_the_formula() {
        let rarity = (1.0_f64 + 2.5 / 1.5).ln();
        let expected = |frequency: f64, length: f64| {
            let norm = 1.2 * (0.25 + 0.75 * length / 2.0);
            2.2 * rarity * frequency / (frequency + norm)
        };
        let score = TermScore::new(&FieldScore::new(3, 6), 1, 1.0);
        for (frequency, length) in [(1, 1), (2, 3), (7, 30)] {
            let found = f64::from(score.of(frequency, length));
            assert!((found - expected(frequency.into(), length as f64)).abs() < 1e-5);
        }
        let whole = TermScore::new(&FieldScore::new(3, 3), 1, 2.0);
        assert!((f64::from(whole.of(1, 1)) - 2.0 * rarity).abs() < 1e-5);
    }
}
