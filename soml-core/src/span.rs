//! Positions and ranges in a document.

use std::ops::Range;

/// A range of a document, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Creates a span from byte offsets; offsets beyond 4 GiB are clamped.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Span {
        let clip = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Span {
            start: clip(start),
            end: clip(end.max(start)),
        }
    }

    /// Returns the byte range, for slicing the text of the document.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A line and a column, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Converts byte offsets of a text into positions.
///
/// Lines end at `\n`, `\r\n` or a lone `\r`, as in YAML. A byte order mark has no width.
#[derive(Clone, Debug)]
pub struct LineIndex<'t> {
    text: &'t str,
    marks: Vec<Mark>,
}

/// A known position: each start of a line, and points inside long lines so that no look-up has to
/// count much more than [`STRIDE`] bytes.
#[derive(Clone, Copy, Debug)]
struct Mark {
    byte: usize,
    position: Position,
}

/// Minimum distance of marks inside a line, in bytes: a long text on one line is not counted from its start for each
/// finding, and marks take little memory.
const STRIDE: usize = 1024;

impl<'t> LineIndex<'t> {
    /// Scans `text` once.
    #[must_use]
    pub fn new(text: &'t str) -> LineIndex<'t> {
        let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let mut here = Position { line: 1, column: 1 };
        let mut last = bom;
        let mut marks = vec![Mark {
            byte: bom,
            position: here,
        }];
        for (at, c) in text.char_indices().skip_while(|(at, _)| *at < bom) {
            if at - last >= STRIDE {
                marks.push(Mark {
                    byte: at,
                    position: here,
                });
                last = at;
            }
            let ends_line = c == '\n' || (c == '\r' && text.as_bytes().get(at + 1) != Some(&b'\n'));
            if ends_line {
                here = Position {
                    line: here.line.saturating_add(1),
                    column: 1,
                };
                last = at + 1;
                marks.push(Mark {
                    byte: last,
                    position: here,
                });
            } else {
                here.column = here.column.saturating_add(1);
            }
        }
        LineIndex { text, marks }
    }

    /// Returns the position of a byte offset; offsets beyond the end count as the end.
    #[must_use]
    pub fn position(&self, byte: u32) -> Position {
        let byte = (byte as usize).min(self.text.len());
        let next = self.marks.partition_point(|mark| mark.byte <= byte);
        let Some(mark) = next.checked_sub(1).map(|i| self.marks[i]) else {
            return Position { line: 1, column: 1 };
        };
        let passed = self.text.as_bytes()[mark.byte..byte]
            .iter()
            .filter(|b| (**b & 0b1100_0000) != 0b1000_0000)
            .count();
        let passed = u32::try_from(passed).unwrap_or(u32::MAX);
        Position {
            column: mark.position.column.saturating_add(passed),
            ..mark.position
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, byte: u32) -> (u32, u32) {
        let p = LineIndex::new(text).position(byte);
        (p.line, p.column)
    }

    #[test]
    fn columns_count_characters_and_all_line_ends_count() {
        let text = "é: 1\r\nb\rc\nd";
        assert_eq!(at(text, 0), (1, 1));
        assert_eq!(at(text, 2), (1, 2));
        assert_eq!(at(text, 7), (2, 1));
        assert_eq!(at(text, 9), (3, 1));
        assert_eq!(at(text, 11), (4, 1));
        assert_eq!(at(text, 99), (4, 2));
    }

    #[test]
    fn a_byte_order_mark_has_no_width() {
        assert_eq!(at("\u{feff}a", 3), (1, 1));
        assert_eq!(at("\u{feff}a", 4), (1, 2));
    }

    #[test]
    fn long_lines_are_found_through_inner_marks() {
        let text = "é".repeat(5000);
        assert_eq!(LineIndex::new(&text).marks.len(), 10);
        assert_eq!(at(&text, 1022), (1, 512));
        assert_eq!(at(&text, 1024), (1, 513));
        assert_eq!(at(&text, 8000), (1, 4001));
        assert_eq!(at(&format!("{text}\nb"), 10_001), (2, 1));
    }
}
