//! Ascending numbers of terms, and the position of each among them.
//!
//! Numbers that lie close together are a bitmap, with the number of bits before each word: finding one
//! takes two reads. Others are a list.

use std::ops::Range;

use super::bytes::{Bytes, Part};
use super::error::{Fault, damaged};
use super::format::{Directory, Kind};

/// Numbers of a list take 32 bits each. A bitmap takes up to this many for each, ranks included.
const BITS_OF_A_NUMBER: u64 = 32;

/// How numbers are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    List,
    /// A bitmap that begins at this number.
    Bitmap(u32),
}

/// The sections that ascending numbers are read from.
#[derive(Clone, Copy)]
pub(super) struct KeySections {
    /// The list of the numbers, or their bitmap.
    pub(super) numbers: Kind,
    /// The number of bits before each word of a bitmap.
    pub(super) ranks: Kind,
}

/// Ascending numbers in an image.
pub(super) struct Keys {
    form: Form,
    numbers: Part,
    ranks: Part,
    pub(super) count: u32,
}

/// Ascending numbers as they are written.
pub(super) enum Encoded {
    /// As they are.
    List,
    Bitmap {
        first: u32,
        words: Vec<u64>,
        ranks: Vec<u32>,
    },
}

/// Chooses the smaller form of ascending numbers.
pub(super) fn encode(numbers: &[u32]) -> Encoded {
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else {
        return Encoded::List;
    };
    let words = ((last - first) / 64 + 1) as usize;
    // Each word has its rank beside it.
    if words as u64 * 96 > numbers.len() as u64 * BITS_OF_A_NUMBER {
        return Encoded::List;
    }
    let mut bits = vec![0_u64; words];
    for number in numbers {
        let bit = *number - first;
        bits[(bit / 64) as usize] |= 1 << (bit % 64);
    }
    let mut before = 0;
    let ranks = bits.iter().map(|word| {
        let rank = before;
        before += word.count_ones();
        rank
    });
    let ranks = ranks.collect();
    Encoded::Bitmap {
        first,
        words: bits,
        ranks,
    }
}

impl Keys {
    pub(super) fn open(
        bytes: &Bytes,
        directory: &Directory,
        sections: KeySections,
        of: u32,
        form: Form,
    ) -> Result<Self, Fault> {
        let part = directory.get(sections.numbers, of)?;
        let keys = match form {
            Form::List => Keys {
                form,
                numbers: directory.numbers(sections.numbers, of, 4)?,
                ranks: Part::default(),
                count: length(part.length / 4)?,
            },
            Form::Bitmap(_) => {
                let part = directory.numbers(sections.numbers, of, 8)?;
                let words = bytes.u64s(part).iter();
                let ones: u64 = words.map(|word| u64::from(word.count_ones())).sum();
                Keys {
                    form,
                    numbers: part,
                    ranks: directory.numbers(sections.ranks, of, 4)?,
                    count: u32::try_from(ones).map_err(|_| damaged("properties"))?,
                }
            }
        };
        keys.check(bytes)?;
        Ok(keys)
    }

    /// Checks that numbers ascend and that ranks are those of the bits.
    fn check(&self, bytes: &Bytes) -> Result<(), Fault> {
        let is_right = match self.form {
            Form::List => {
                let list = bytes.u32s(self.numbers);
                list.windows(2).all(|pair| pair[0] < pair[1])
            }
            Form::Bitmap(first) => {
                let words = bytes.u64s(self.numbers);
                let ranks = bytes.u32s(self.ranks);
                let mut before = 0;
                let each = words.iter().zip(ranks).all(|(word, rank)| {
                    let is_right = *rank == before;
                    before += word.count_ones();
                    is_right
                });
                // The last word ends with the last number, which is one of 32 bits.
                let is_last = |word: &u64| {
                    let bits = words.len() as u64 * 64 - u64::from(word.leading_zeros());
                    *word != 0 && u64::from(first) + bits <= 1 << 32
                };
                each && words.len() == ranks.len() && words.last().is_none_or(is_last)
            }
        };
        is_right.then_some(()).ok_or(damaged("properties"))
    }

    /// Returns the position of a number.
    #[inline]
    pub(super) fn position(&self, bytes: &Bytes, number: u32) -> Option<u32> {
        match self.form {
            Form::List => {
                let found = bytes.u32s(self.numbers).binary_search(&number);
                // A list is shorter than 2^32 numbers.
                found.ok().map(|position| position as u32)
            }
            Form::Bitmap(first) => {
                let bit = number.checked_sub(first)?;
                let at = (bit / 64) as usize;
                let word = *bytes.u64s(self.numbers).get(at)?;
                let mask = 1_u64 << (bit % 64);
                if word & mask == 0 {
                    return None;
                }
                let before = (word & (mask - 1)).count_ones();
                Some(bytes.u32s(self.ranks)[at] + before)
            }
        }
    }

    /// Returns the numbers, ascending.
    pub(super) fn iter<'i>(&self, bytes: &'i Bytes) -> Numbers<'i> {
        self.from(bytes, 0).1
    }

    /// Returns the numbers from one on, ascending, and the position of the first of them.
    pub(super) fn from<'i>(&self, bytes: &'i Bytes, number: u32) -> (u32, Numbers<'i>) {
        match self.form {
            Form::List => {
                let all = bytes.u32s(self.numbers);
                let before = all.partition_point(|known| *known < number);
                // A list is shorter than 2^32 numbers.
                (before as u32, Numbers::List(all[before..].iter()))
            }
            Form::Bitmap(first) => {
                let words = bytes.u64s(self.numbers);
                let bit = number.saturating_sub(first);
                let at = (bit / 64) as usize;
                let word = words.get(at).copied().unwrap_or(0);
                let current = word & (u64::MAX << (bit % 64));
                let before = bytes.u32s(self.ranks).get(at).map_or(self.count, |before| {
                    before + (word.count_ones() - current.count_ones())
                });
                let numbers = Numbers::Bitmap {
                    first,
                    current,
                    at,
                    words,
                };
                (before, numbers)
            }
        }
    }
}

/// Ascending numbers.
pub(super) enum Numbers<'i> {
    List(std::slice::Iter<'i, u32>),
    Bitmap {
        first: u32,
        current: u64,
        at: usize,
        words: &'i [u64],
    },
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            Numbers::List(list) => list.next().copied(),
            Numbers::Bitmap {
                first,
                current,
                at,
                words,
            } => {
                while *current == 0 {
                    *at += 1;
                    *current = *words.get(*at)?;
                }
                let bit = current.trailing_zeros();
                *current &= *current - 1;
                // A bitmap covers fewer than 2^32 numbers.
                Some(*first + (*at as u32) * 64 + bit)
            }
        }
    }
}

pub(super) fn length(length: usize) -> Result<u32, Fault> {
    u32::try_from(length).map_err(|_| damaged("properties"))
}

/// Where the values of each key end.
pub(super) enum Ends {
    /// Each key has one value.
    One,
    Listed(Part),
}

impl Ends {
    pub(super) fn open(
        bytes: &Bytes,
        part: Option<Part>,
        keys: u32,
        values: usize,
    ) -> Result<Self, Fault> {
        let is_right = match part {
            None => keys as usize == values,
            Some(part) => {
                let ends = bytes.u32s(part);
                ends.len() == keys as usize
                    && ends.windows(2).all(|pair| pair[0] < pair[1])
                    && ends.first().is_none_or(|first| *first > 0)
                    && ends.last().map_or(0, |last| *last as usize) == values
            }
        };
        if is_right {
            Ok(part.map_or(Ends::One, Ends::Listed))
        } else {
            Err(damaged("properties"))
        }
    }

    /// Returns the range of the values of the key at a position.
    #[inline]
    pub(super) fn range(&self, bytes: &Bytes, position: u32) -> Range<usize> {
        let at = position as usize;
        match self {
            Ends::One => at..at + 1,
            Ends::Listed(part) => {
                let ends = bytes.u32s(*part);
                let start = at.checked_sub(1).map_or(0, |before| ends[before]);
                start as usize..ends[at] as usize
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::image::bytes::BytesWriter;
    use crate::image::format::SectionWriter;

    /// Writes and opens numbers.
    fn opened(numbers: &[u32]) -> (Bytes, Keys) {
        let mut out = SectionWriter::new(Vec::new(), 0).unwrap();
        let form = match encode(numbers) {
            Encoded::List => {
                out.numbers(Kind::Subjects, 0, numbers).unwrap();
                Form::List
            }
            Encoded::Bitmap {
                first,
                words,
                ranks,
            } => {
                out.numbers(Kind::Subjects, 0, &words).unwrap();
                out.numbers(Kind::SubjectRanks, 0, &ranks).unwrap();
                Form::Bitmap(first)
            }
        };
        let bytes = BytesWriter::copied(&out.finish().unwrap())
            .finish()
            .unwrap();
        let directory = Directory::read(&bytes).unwrap();
        let sections = KeySections {
            numbers: Kind::Subjects,
            ranks: Kind::SubjectRanks,
        };
        let keys = Keys::open(&bytes, &directory, sections, 0, form).unwrap();
        (bytes, keys)
    }

    proptest! {
        #[test]
        fn numbers_have_their_positions(
            near in proptest::collection::btree_set(0_u32..500, 0..200),
            far in proptest::collection::btree_set(any::<u32>(), 0..20),
            base in any::<u32>(),
        ) {
            for numbers in [
                near.iter().filter_map(|near| base.checked_add(*near)).collect::<Vec<_>>(),
                near.iter().copied().chain(far.iter().copied().filter(|far| *far >= 500)).collect(),
            ] {
                let (bytes, keys) = opened(&numbers);
                prop_assert_eq!(keys.count as usize, numbers.len());
                prop_assert_eq!(keys.iter(&bytes).collect::<Vec<_>>(), numbers.clone());
                for number in numbers.iter().flat_map(|number| [*number, number.wrapping_add(1)]) {
                    let (before, rest) = keys.from(&bytes, number);
                    let wanted = numbers.partition_point(|known| *known < number);
                    prop_assert_eq!(before as usize, wanted);
                    prop_assert_eq!(rest.collect::<Vec<_>>(), numbers[wanted..].to_vec());
                    let position = keys.position(&bytes, number);
                    let wanted = numbers.binary_search(&number).ok();
                    prop_assert_eq!(position.map(|position| position as usize), wanted);
                }
            }
        }
    }

    #[test]
    fn numbers_close_together_are_a_bitmap() {
        let near: Vec<u32> = (1_000..2_000).collect();
        assert!(matches!(
            encode(&near),
            Encoded::Bitmap { first: 1_000, .. }
        ));
        let far: Vec<u32> = (0..100).map(|n| n * 1_000).collect();
        assert!(matches!(encode(&far), Encoded::List));
    }
}
