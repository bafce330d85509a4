//! The thread that writes lines to their destination, and says how many are missing.

use std::io::{ErrorKind, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::line::lost;
use super::queue::{Batch, Queue, count_lines};

/// Time until it is tried again to say what was lost, when nothing else is to be written.
const RETRY: Duration = Duration::from_secs(1);

/// Time until a destination that is busy is tried again.
pub(super) const BUSY: Duration = Duration::from_millis(10);

pub(super) struct Writer<W> {
    queue: Arc<Queue>,
    destination: W,
    /// Lines that are missing, and of which nothing has been said yet.
    lost: u64,
    /// The last line was not written to its end.
    inside_line: bool,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(queue: Arc<Queue>, destination: W) -> Self {
        Writer {
            queue,
            destination,
            lost: 0,
            inside_line: false,
        }
    }

    /// Writes what is queued, for as long as the process runs.
    pub(super) fn run(mut self) {
        let mut batch = Batch::default();
        loop {
            batch = self.queue.take(batch, (self.lost > 0).then_some(RETRY));
            self.write_batch(&batch);
            self.queue.finish();
            batch.clear();
        }
    }

    fn write_batch(&mut self, batch: &Batch) {
        let mut rest = batch.bytes.as_slice();
        let mut written = 0;
        for loss in &batch.losses {
            let (lines, after) = rest.split_at(loss.at - written);
            self.write_lines(lines);
            self.lost += loss.lines;
            (rest, written) = (after, loss.at);
        }
        self.write_lines(rest);
        self.say();
        // Where it makes a difference, what is in a buffer of the destination counts as written.
        let _ = self.destination.flush();
    }

    /// Writes lines, behind a line about those that are missing before them; what cannot be written is lost.
    fn write_lines(&mut self, lines: &[u8]) {
        if lines.is_empty() {
            return;
        }
        let rest = if self.say() { self.write(lines) } else { lines };
        self.lost += count_lines(rest);
    }

    /// Writes a line about those that are lost; returns whether there is nothing more to say.
    fn say(&mut self) -> bool {
        if self.lost > 0
            && self
                .write(&lost(self.lost, self.queue.is_json()))
                .is_empty()
        {
            self.lost = 0;
        }
        self.lost == 0
    }

    /// Writes text, and returns what cannot be written of it.
    fn write<'a>(&mut self, text: &'a [u8]) -> &'a [u8] {
        if self.inside_line && !text.is_empty() {
            self.inside_line = self.attempt(b"\n") == 0;
            if self.inside_line {
                return text;
            }
        }
        let mut rest = text;
        while !rest.is_empty() {
            let count = self.attempt(rest);
            if count == 0 {
                let written = text.strip_suffix(rest).unwrap_or_default();
                self.inside_line = written.last().is_some_and(|byte| *byte != b'\n');
                break;
            }
            rest = rest.get(count..).unwrap_or_default();
        }
        rest
    }

    /// Writes some bytes; none when that fails.
    fn attempt(&mut self, bytes: &[u8]) -> usize {
        loop {
            match self.destination.write(bytes) {
                Ok(count) => return count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(BUSY),
                Err(_) => return 0,
            }
        }
    }
}
