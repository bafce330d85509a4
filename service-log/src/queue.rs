//! Lines that wait to be written: what fits is kept, what does not is counted where it is missing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::line::{LINE_BYTES, cut};

/// Bytes of lines that may wait, including those on their way to the destination.
pub(super) const QUEUE_BYTES: usize = 1 << 20;

/// Bytes of lines that are written without waiting for more of them: what a pipe holds.
pub(super) const WRITE_BYTES: usize = 64 << 10;

/// Room of a batch that is kept for the next one.
const KEPT_BYTES: usize = 2 * WRITE_BYTES;

/// A queue of lines between those who log and the thread that writes.
///
/// Waking a thread costs more than a line does, so lines are gathered. They wake the thread only when it sleeps
/// because there were none for a while, when one of them is urgent, or when there are many.
pub(super) struct Queue {
    state: Mutex<State>,
    /// Wakes the thread that writes.
    due: Condvar,
    /// All has been written.
    written: Condvar,
    json: AtomicBool,
    /// How long lines wait for others.
    gather: Duration,
}

#[derive(Default)]
struct State {
    waiting: Batch,
    /// Bytes that are taken and not written yet.
    taken: usize,
    /// Whether the thread has taken lines and not written them yet.
    writing: bool,
    /// Whether the thread sleeps until there are lines.
    asleep: bool,
    /// Whether the lines are to be written at once.
    urgent: bool,
}

/// Lines that are written together.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// In the order of their places.
    pub(super) losses: Vec<Loss>,
}

/// Lines that are missing.
pub(super) struct Loss {
    /// Where in the bytes of the batch.
    pub(super) at: usize,
    pub(super) lines: u64,
}

impl Queue {
    pub(super) fn new(gather: Duration) -> Self {
        Queue {
            state: Mutex::default(),
            due: Condvar::new(),
            written: Condvar::new(),
            json: AtomicBool::new(false),
            gather,
        }
    }

    pub(super) fn set_json(&self, json: bool) {
        self.json.store(json, Ordering::Relaxed);
    }

    pub(super) fn is_json(&self) -> bool {
        self.json.load(Ordering::Relaxed)
    }

    /// Adds lines, which stay together unless they are long.
    pub(super) fn push(&self, text: &[u8], urgent: bool) {
        if text.len() <= LINE_BYTES {
            return self.add(text, urgent);
        }
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            self.add(&cut(line, self.is_json()), urgent);
        }
    }

    fn add(&self, text: &[u8], urgent: bool) {
        let mut state = self.lock();
        // A thread that writes looks here again before it waits.
        let looks = state.writing || state.is_due();
        state.add(text);
        state.urgent |= urgent;
        let slept = std::mem::take(&mut state.asleep);
        let wakes = slept || !looks && state.is_due();
        drop(state);
        if wakes {
            self.due.notify_one();
        }
    }

    /// Waits until all lines are written, for `time` at most; returns whether they are.
    pub(super) fn flush_within(&self, time: Duration) -> bool {
        let mut state = self.lock();
        if !state.is_written() {
            state.urgent = true;
            self.due.notify_one();
        }
        let (state, _) = self
            .written
            .wait_timeout_while(state, time, |state| !state.is_written())
            .unwrap_or_else(PoisonError::into_inner);
        state.is_written()
    }

    /// Waits for lines and takes all of them, and none when there are none for `idle`. Those that follow go
    /// into `room`.
    pub(super) fn take(&self, room: Batch, idle: Option<Duration>) -> Batch {
        let gathered = self
            .due
            .wait_timeout_while(self.lock(), self.gather, |state| !state.is_due());
        let (mut state, _) = gathered.unwrap_or_else(PoisonError::into_inner);
        if state.waiting.is_empty() {
            state = self.sleep(state, idle);
        }
        state.take(room)
    }

    /// Sleeps until there are lines, for `time` at most where there is one.
    ///
    /// The first of them does not wait for others: most likely it is the only one.
    fn sleep<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        time: Option<Duration>,
    ) -> MutexGuard<'a, State> {
        state.asleep = true;
        let is_empty = |state: &mut State| state.waiting.is_empty();
        let mut state = match time {
            None => {
                let woken = self.due.wait_while(state, is_empty);
                woken.unwrap_or_else(PoisonError::into_inner)
            }
            Some(time) => {
                let woken = self.due.wait_timeout_while(state, time, is_empty);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        state.asleep = false;
        state
    }

    /// Notes that what was taken is written or lost.
    pub(super) fn finish(&self) {
        let mut state = self.lock();
        state.taken = 0;
        state.writing = false;
        if state.is_written() {
            self.written.notify_all();
        }
    }

    /// Returns how many bytes wait, including those that are being written.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.lock().bytes()
    }

    /// Returns whether nothing is written before there are lines.
    #[cfg(test)]
    pub(super) fn is_asleep(&self) -> bool {
        self.lock().asleep
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn bytes(&self) -> usize {
        self.waiting.bytes.len() + self.taken
    }

    fn is_due(&self) -> bool {
        self.urgent || self.waiting.bytes.len() >= WRITE_BYTES
    }

    fn is_written(&self) -> bool {
        self.waiting.is_empty() && !self.writing
    }

    fn add(&mut self, text: &[u8]) {
        if self.bytes() + text.len() > QUEUE_BYTES {
            self.waiting.lose(count_lines(text));
        } else {
            self.waiting.bytes.extend_from_slice(text);
        }
    }

    fn take(&mut self, room: Batch) -> Batch {
        self.urgent = false;
        self.writing = true;
        self.taken = self.waiting.bytes.len();
        std::mem::replace(&mut self.waiting, room)
    }
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.losses.is_empty()
    }

    fn lose(&mut self, lines: u64) {
        let at = self.bytes.len();
        match self.losses.last_mut() {
            Some(loss) if loss.at == at => loss.lines += lines,
            _ => self.losses.push(Loss { at, lines }),
        }
    }

    /// Empties the batch and keeps its room, unless that is large.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.losses.clear();
    }
}

/// Returns the number of lines of a text, including a last one without a line feed.
pub(super) fn count_lines(text: &[u8]) -> u64 {
    text.split_inclusive(|byte| *byte == b'\n').count() as u64
}
