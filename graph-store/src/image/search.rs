//! Searches the texts of the values of a property.
//!
//! Most of these texts lie one after the other, so many are searched at once.

use std::ops::Range;

use super::Image;
use super::columns::Column;
use super::keys::Numbers;
use super::terms::Entry;
use crate::evaluate::TextFilter;

/// Texts that are searched at once, in about the time of reading two triples.
const TEXTS: usize = 16;
/// Bytes of text to which no further text is added.
const BYTES: usize = 512;

/// The literals among the values of a property in whose texts a filter finds something, ascending, each with the places of its
/// subjects; `None` after some that were searched.
pub(super) struct Search<'i> {
    image: &'i Image,
    column: &'i Column,
    filter: TextFilter,
    unread: Numbers<'i>,
    /// A value that was read and is not among those that are searched.
    next: Option<u32>,
    /// The position of the value that is read next.
    position: u32,
    /// Values whose texts lie one after the other, and where each begins.
    values: Vec<(u32, usize)>,
    /// The first of them that may begin where the search goes on.
    first: usize,
    /// What of their texts is left to search.
    left: Range<usize>,
}

impl<'i> Search<'i> {
    /// Searches the keys of a column.
    pub(super) fn new(image: &'i Image, column: &'i Column, filter: TextFilter) -> Self {
        let (position, unread) = column.keys_from(&image.bytes, image.terms.nodes);
        Search {
            image,
            column,
            filter,
            unread,
            next: None,
            position,
            values: Vec::with_capacity(TEXTS),
            first: 0,
            left: 0..0,
        }
    }

    /// Takes values whose texts lie one after the other; returns whether there is one.
    fn read(&mut self) -> bool {
        let entries = self.image.terms.entries(&self.image.bytes);
        self.values.clear();
        self.first = 0;
        self.left = 0..0;
        while self.values.len() < TEXTS && self.left.len() < BYTES {
            let Some(value) = self.next.take().or_else(|| self.unread.next()) else {
                break;
            };
            // Every place was checked when the image was opened.
            let entry = Entry::unpacked(entries[value as usize]);
            let start = entry.place as usize;
            match self.values.is_empty() {
                true => self.left.start = start,
                false if start == self.left.end => {}
                false => {
                    self.next = Some(value);
                    break;
                }
            }
            self.left.end = start + entry.length as usize;
            self.values.push((value, start));
        }
        // Values are fewer than 2^32.
        self.position += self.values.len() as u32;
        !self.values.is_empty()
    }
}

impl Iterator for Search<'_> {
    type Item = Option<(u32, Range<usize>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left.is_empty() && !self.read() {
            return None;
        }
        let bytes = &self.image.bytes;
        let Range { start, end } = self.left;
        let Some(at) = self.filter.find(&bytes.texts()[..end], start) else {
            self.left.start = end;
            return Some(None);
        };
        // Of texts that begin at one place, all but the last are empty.
        let behind = self.values[self.first..].partition_point(|(_, start)| *start <= at);
        self.first += behind;
        self.left.start = self.values.get(self.first).map_or(end, |(_, start)| *start);
        let (value, _) = *self.values.get(self.first - 1)?;
        let from_end = self.values.len() - (self.first - 1);
        let subjects = self.column.range_at(bytes, self.position - from_end as u32);
        Some(Some((value, subjects)))
    }
}
