//! Where a reader is.

use std::cell::Cell;

/// Where the reader is, shared with whoever looks at the statements that come out.
#[derive(Debug, Default)]
pub(crate) struct ReadPosition {
    line: Cell<u64>,
    /// Line of the statement that the current line only closes, if it does.
    closes: Cell<Option<u64>>,
    /// Last line that was neither blank nor a comment.
    content: Cell<u64>,
}

impl ReadPosition {
    /// Returns the line of the statement that has just come out, counted from 1.
    ///
    /// A line that begins with `.`, `;` or the like closes the statement of an earlier line.
    pub(crate) fn take_line(&self) -> u64 {
        self.closes.take().unwrap_or_else(|| self.line.get())
    }

    /// Sets the line, for errors that have none.
    pub(crate) fn at(&self, line: u64) {
        self.closes.set(None);
        self.line.set(line);
    }

    /// Enters a text that ends on `line`, and that `begins` a line or goes on with one.
    pub(crate) fn enter(&self, line: u64, begins: Option<&[u8]>, has_content: bool) {
        if let Some(text) = begins {
            let first = text.iter().copied().find(|b| !b.is_ascii_whitespace());
            let closing = matches!(first, Some(b'.' | b';' | b',' | b']' | b')' | b'}'));
            self.closes.set(closing.then(|| self.content.get().max(1)));
        }
        self.line.set(line);
        if has_content {
            self.content.set(line);
        }
    }
}
