//! Writes the `data` of an answer as JSON bytes, without building a tree of values first.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use call_context::ErrorCode;
use call_context::MemoryAccount;

use crate::body::Body;
use crate::code;
use crate::error::{GraphqlError, Location, PathSegment};
use crate::response::Answer;

/// Least length at which a segment of the answer is complete: copying a shorter one costs less than sending two.
const SHORT_SEGMENT: usize = 32 << 10;
/// Greatest length at which a segment is complete.
const SEGMENT: usize = 256 << 10;
/// Text is repeated from so many of the last segments.
const SEGMENTS_AT_HAND: usize = 8;

/// Bytes of the answer that are counted at once, at least and at most.
const COUNTED: (usize, usize) = (4 << 10, SEGMENT);

/// Greatest number of errors in one answer; one more says that there were others.
const MAX_ERRORS: usize = 1_000;

/// A null in a non-null position: it propagates to the nearest nullable parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropagateNull;

/// Whether a value was written or its null propagates.
pub type WriteResult = Result<(), PropagateNull>;

/// A position in the output to return to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    out: usize,
    errors: usize,
}

/// Text of the answer that can be written again.
#[derive(Clone, Copy, Debug)]
pub struct WrittenText {
    start: usize,
    end: usize,
    truncations: u64,
}

impl WrittenText {
    /// Returns the number of bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "every value has a text")]
    pub fn len(&self) -> usize {
        self.end - self.start
    }
}

/// A step of the path to the value that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep<'a> {
    /// A response key.
    Key(&'a str),
    /// An index into a list.
    Index(usize),
}

/// An entry of the list of errors.
#[derive(Debug)]
struct Entry {
    error: GraphqlError,
    /// Whether it is about a value that is present; it is dropped together with that value.
    is_warning: bool,
}

/// Writes one answer: bytes, errors with their paths, and null propagation.
///
/// The caller writes values in the order of the selection set straight to [`AnswerWriter::out`], and
/// calls [`AnswerWriter::check_size`] between them.
#[derive(Debug)]
pub struct AnswerWriter<'a> {
    /// The end of the JSON text so far; whatever is appended here is in the answer.
    pub out: Vec<u8>,
    /// What stands before `out`.
    complete: Vec<Bytes>,
    /// Length of `complete`.
    complete_len: usize,
    /// Length at which `out` is complete.
    full: usize,
    /// Maximum length of the answer.
    limit: usize,
    /// Counts the answer, up to `counted` bytes.
    memory: Option<Arc<MemoryAccount>>,
    /// How long the writer waits for memory.
    patience: Duration,
    counted: usize,
    out_of_memory: bool,
    path: Vec<PathStep<'a>>,
    errors: Vec<Entry>,
    /// Number of errors beyond the maximum.
    omitted: usize,
    /// The code of each reported warning, with the location and key of its field.
    warned: HashSet<(ErrorCode, Option<Location>, &'a str)>,
    /// The answer has become too large or is no longer wanted: nothing more is written.
    halted: bool,
    /// How often text was taken back.
    truncations: u64,
}

impl Default for AnswerWriter<'_> {
    fn default() -> Self {
        AnswerWriter::expecting(0)
    }
}

/// Returns what stands between the value of a field and the one before, for a response key that is written often.
#[must_use]
pub fn opening(key: &str) -> Box<str> {
    // GraphQL names need no escapes.
    format!(",\"{key}\":").into()
}

impl<'a> AnswerWriter<'a> {
    /// Creates a writer of an empty answer without bounds.
    #[must_use]
    pub fn new() -> Self {
        AnswerWriter::default()
    }

    /// Creates a writer of an answer that is expected to have some bytes.
    #[must_use]
    pub fn expecting(bytes: usize) -> Self {
        let mut answer = AnswerWriter {
            out: Vec::new(),
            complete: Vec::new(),
            complete_len: 0,
            full: 0,
            limit: usize::MAX,
            memory: None,
            patience: Duration::ZERO,
            counted: 0,
            out_of_memory: false,
            path: Vec::new(),
            errors: Vec::new(),
            omitted: 0,
            warned: HashSet::new(),
            halted: false,
            truncations: 0,
        };
        answer.begin_segment(bytes);
        answer
    }

    /// Sets the maximum length of the answer in bytes; see [`AnswerWriter::check_size`].
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the account that counts the answer, and how long the thread may be blocked until there
    /// is memory.
    #[must_use]
    pub fn with_memory(mut self, memory: Arc<MemoryAccount>, patience: Duration) -> Self {
        self.memory = Some(memory);
        self.patience = patience;
        self
    }

    /// Ends the answer; what propagated past every field makes `data` null.
    #[must_use]
    pub fn finish(mut self, written: WriteResult) -> Answer {
        if written.is_err() {
            self.truncate(0);
            self.null();
        }
        if self.omitted > 0 {
            let message = format!("{} more errors are not listed", self.omitted);
            self.push(GraphqlError::new(code::ERRORS_OMITTED, message), false);
        }
        self.give_back_room();
        self.complete_segment();
        let errors = self.errors.into_iter().map(|entry| entry.error);
        Answer::new(Body::new(self.complete, self.memory), errors.collect())
    }

    /// Gives the answer up, and returns its errors.
    #[must_use]
    pub fn into_errors(self) -> Vec<GraphqlError> {
        let errors = self.errors.into_iter().map(|entry| entry.error);
        errors.collect()
    }

    /// Counts errors that are known and not worth a place in the list.
    pub fn omit_errors(&mut self, count: usize) {
        self.omitted = self.omitted.saturating_add(count);
    }

    /// Returns whether the answer was given up for lack of memory.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.out_of_memory
    }

    /// Returns the length of the answer so far.
    #[must_use]
    pub fn size(&self) -> usize {
        self.complete_len + self.out.len()
    }

    /// Writes JSON text that others share, without a copy of it.
    pub fn shared(&mut self, text: Bytes) {
        self.complete_segment();
        self.complete_len += text.len();
        self.complete.push(text);
    }

    /// Returns a copy of what was written since `mark`.
    #[must_use]
    pub fn since(&self, mark: Mark) -> Bytes {
        let mut copy = Vec::with_capacity(self.size() - mark.out);
        let mut start = 0;
        for segment in self
            .complete
            .iter()
            .map(AsRef::as_ref)
            .chain([self.out.as_slice()])
        {
            let skipped = mark.out.saturating_sub(start).min(segment.len());
            copy.extend_from_slice(&segment[skipped..]);
            start += segment.len();
        }
        copy.into()
    }

    /// Returns what was written since `mark`, to be repeated.
    #[must_use]
    pub fn written_since(&self, mark: Mark) -> WrittenText {
        WrittenText {
            start: mark.out,
            end: self.size(),
            truncations: self.truncations,
        }
    }

    /// Writes again what was written before, if it is available: near enough, and nothing was taken back since.
    /// Returns whether it was.
    pub fn repeat(&mut self, written: WrittenText) -> bool {
        if written.truncations != self.truncations {
            return false;
        }
        let length = written.end - written.start;
        if length > self.out.capacity() - self.out.len() {
            // Growing by itself, the segment would have as much room again that no one counts.
            self.complete_segment();
            self.begin_segment(length);
            self.out.reserve_exact(length);
        }
        if let Some(start) = written.start.checked_sub(self.complete_len) {
            let end = written.end - self.complete_len;
            self.out.extend_from_within(start..end);
            return true;
        }
        let mut end = self.complete_len;
        for segment in self.complete.iter().rev().take(SEGMENTS_AT_HAND) {
            let start = end - segment.len();
            if written.start >= start {
                // Text that goes on in the next segment is not available.
                let text = segment.get(written.start - start..written.end - start);
                self.out.extend_from_slice(text.unwrap_or_default());
                return text.is_some();
            }
            end = start;
        }
        false
    }

    /// Makes room for a segment of about some bytes.
    fn begin_segment(&mut self, bytes: usize) {
        let bytes = bytes.min(SEGMENT);
        self.full = bytes.max(SHORT_SEGMENT);
        self.out = Vec::with_capacity((bytes + bytes / 8).max(COUNTED.0));
    }

    /// Gives back the room at the end, where that is most of it: a client may take its time.
    fn give_back_room(&mut self) {
        let room = self.out.capacity() - self.out.len();
        if room > self.out.len().max(COUNTED.0) {
            self.out.shrink_to_fit();
            if let Some(memory) = &self.memory {
                memory.shrink(room.min(self.counted));
            }
        }
    }

    fn complete_segment(&mut self) {
        if !self.out.is_empty() {
            let mut segment = mem::take(&mut self.out);
            // Room that stays is memory that no one counts. Of short answers, it is not worth a copy.
            if segment.capacity() - segment.len() > COUNTED.0.max(segment.len() / 16) {
                segment.shrink_to_fit();
            }
            self.complete_len += segment.len();
            self.complete.push(segment.into());
        }
    }

    fn truncate(&mut self, length: usize) {
        if length < self.size() {
            self.truncations += 1;
        }
        while self.complete_len > length
            && let Some(segment) = self.complete.pop()
        {
            self.complete_len -= segment.len();
            self.out = segment.into();
        }
        self.out.truncate(length - self.complete_len);
    }

    /// Writes a number.
    pub fn number(&mut self, number: u64) {
        serde_json::to_writer(&mut self.out, &number).expect("writing to memory does not fail");
    }

    /// Writes a string in quotes.
    pub fn string(&mut self, text: &str) {
        write_string(&mut self.out, text);
    }

    /// Writes null.
    pub fn null(&mut self) {
        self.out.extend_from_slice(b"null");
    }

    /// Writes the response key of the field at a position of its object.
    pub fn key(&mut self, position: usize, key: &str) {
        if position > 0 {
            self.out.push(b',');
        }
        // GraphQL names need no escapes.
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    /// Writes the response key of the field at a position of its object, as [`opening`] has prepared it.
    pub fn open(&mut self, position: usize, opening: &str) {
        let comma = usize::from(position == 0);
        self.out.extend_from_slice(&opening.as_bytes()[comma..]);
    }

    /// Enters a field or an element.
    pub fn enter(&mut self, step: PathStep<'a>) {
        self.path.push(step);
    }

    /// Leaves a field or an element.
    pub fn leave(&mut self) {
        self.path.pop();
    }

    /// Returns the length of the path.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.path.len()
    }

    /// Returns to a path of `depth` steps.
    pub fn leave_to(&mut self, depth: usize) {
        self.path.truncate(depth);
    }

    /// Returns the path of the current value.
    #[must_use]
    pub fn path(&self) -> Vec<PathSegment> {
        let segment = |step: &PathStep<'_>| match step {
            PathStep::Key(key) => PathSegment::Key((*key).to_owned()),
            PathStep::Index(index) => PathSegment::Index(*index),
        };
        self.path.iter().map(segment).collect()
    }

    /// Returns the current position in the output.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            out: self.size(),
            errors: self.errors.len(),
        }
    }

    /// Returns whether null, and nothing else, was written since `mark`.
    #[must_use]
    pub fn is_null_since(&self, mark: Mark) -> bool {
        let in_segment = mark.out.checked_sub(self.complete_len);
        in_segment.is_some_and(|start| self.out[start..] == *b"null")
    }

    /// Returns whether errors were added since `mark`.
    #[must_use]
    pub fn has_errors_since(&self, mark: Mark) -> bool {
        self.errors.len() > mark.errors
    }

    /// Replaces what was written since `mark` by null, unless null is not allowed.
    ///
    /// # Errors
    /// When the null propagates further.
    pub fn null_from(&mut self, mark: Mark, non_null: bool) -> WriteResult {
        self.truncate(mark.out);
        if non_null || self.halted {
            return Err(PropagateNull);
        }
        self.drop_warnings(mark.errors);
        self.null();
        Ok(())
    }

    /// Drops the warnings of values inside one that has become null.
    fn drop_warnings(&mut self, from: usize) {
        let depth = self.path.len() + 1;
        let warned = &mut self.warned;
        let later = self.errors.split_off(from);
        self.errors.extend(later.into_iter().filter(|entry| {
            let error = &entry.error;
            let is_dropped = entry.is_warning && error.path.len() > depth;
            if is_dropped && let Some(PathSegment::Key(last)) = error.path.last() {
                let warning = (error.code, error.locations.first().copied(), last.as_str());
                warned.retain(|known| *known != warning);
            }
            !is_dropped
        }));
    }

    fn push(&mut self, error: GraphqlError, is_warning: bool) {
        self.errors.push(Entry { error, is_warning });
    }

    fn add(
        &mut self,
        code: ErrorCode,
        message: &str,
        location: Option<Location>,
        is_warning: bool,
    ) {
        if self.errors.len() >= MAX_ERRORS {
            self.omitted += 1;
            return;
        }
        let path = self.path();
        let error = GraphqlError::new(code, message).at(location).on(path);
        self.push(error, is_warning);
    }

    /// Adds an error at the current path.
    pub fn error(&mut self, code: ErrorCode, message: &str, location: Option<Location>) {
        self.add(code, message, location, false);
    }

    /// Adds a warning at the current path; it is dropped when an enclosing value becomes null.
    pub fn warning(&mut self, code: ErrorCode, message: &str, location: Option<Location>) {
        self.add(code, message, location, true);
    }

    /// Adds an error that has its path already, whatever the number of other errors.
    pub fn push_error(&mut self, error: GraphqlError) {
        self.push(error, false);
    }

    /// Returns whether a warning about a field of the document is the first with its code, and
    /// records it.
    pub fn is_first_warning(
        &mut self,
        code: ErrorCode,
        location: Option<Location>,
        key: &'a str,
    ) -> bool {
        self.warned.insert((code, location, key))
    }

    /// Refuses the whole answer with one more error, whatever the number of other errors.
    pub fn refuse(&mut self, error: GraphqlError) -> PropagateNull {
        self.push(error, false);
        self.halt()
    }

    /// Abandons the answer.
    pub fn halt(&mut self) -> PropagateNull {
        self.halted = true;
        PropagateNull
    }

    /// Checks that the answer was not abandoned.
    ///
    /// # Errors
    /// When it was.
    pub fn check(&self) -> WriteResult {
        if self.halted {
            Err(PropagateNull)
        } else {
            Ok(())
        }
    }

    /// Checks that the answer is no longer than its limit, that there is memory for it, and that it
    /// was not given up. Cheap enough to be called before each value.
    ///
    /// # Errors
    /// When the limit is exceeded, with an error of its own; when there is no memory; or when the
    /// answer was given up.
    #[inline]
    pub fn check_size(&mut self) -> WriteResult {
        if self.size() > self.counted.min(self.limit) || self.out.len() >= self.full {
            self.make_room()?;
        }
        self.check()
    }

    #[cold]
    fn make_room(&mut self) -> WriteResult {
        self.check()?;
        if self.out.len() >= self.full {
            self.complete_segment();
            self.begin_segment(self.complete_len);
        }
        let size = self.size();
        if size > self.limit {
            let error = GraphqlError::new(code::LIMIT_RESPONSE, "the answer is too large");
            return Err(self.refuse(error.with("limit", self.limit)));
        }
        let (least, most) = COUNTED;
        let held = self.complete_len + self.out.capacity();
        let more = held
            .max(size + size.clamp(least, most))
            .saturating_sub(self.counted);
        if let Some(memory) = &self.memory
            && memory.grow_blocking(more, self.patience).is_err()
        {
            self.out_of_memory = true;
            return Err(self.halt());
        }
        self.counted += more;
        Ok(())
    }
}

/// Writes a JSON string in quotes.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("writing to memory does not fail");
}
