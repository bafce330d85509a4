//! A list that grows without being moved.

use std::ops::Index;

/// Items of a piece, as a power of two.
const BITS: u32 = 16;
const LENGTH: usize = 1 << BITS;

/// A list in pieces that never move. A vector takes three times its memory for a moment whenever it grows.
pub(super) struct Pieces<T> {
    /// All are full but the last.
    pieces: Vec<Vec<T>>,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Pieces { pieces: Vec::new() }
    }
}

impl<T> Pieces<T> {
    pub(super) fn push(&mut self, item: T) {
        if let Some(last) = self.pieces.last_mut().filter(|last| last.len() < LENGTH) {
            return last.push(item);
        }
        // Most lists are shorter than a piece.
        let mut piece = Vec::with_capacity(if self.pieces.is_empty() { 4 } else { LENGTH });
        piece.push(item);
        self.pieces.push(piece);
    }

    pub(super) fn len(&self) -> usize {
        let before = self.pieces.len().saturating_sub(1) * LENGTH;
        before + self.pieces.last().map_or(0, Vec::len)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().flatten()
    }

    /// Returns all items; pieces are freed one by one.
    pub(super) fn into_items(self) -> impl Iterator<Item = T> {
        self.pieces.into_iter().flatten()
    }
}

impl<T> Index<usize> for Pieces<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.pieces[index >> BITS][index % LENGTH]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_places() {
        for count in [0, 1, 5, LENGTH - 1, LENGTH, LENGTH + 1, 3 * LENGTH + 7] {
            let mut pieces = Pieces::default();
            for item in 0..count {
                assert_eq!(pieces.len(), item);
                pieces.push(item);
            }
            assert!((0..count).all(|item| pieces[item] == item));
            assert!(pieces.iter().copied().eq(0..count));
            assert!(pieces.into_items().eq(0..count));
        }
    }
}
