//! Writes the `data` of an answer as JSON bytes, without building a tree of values first.

use std::collections::HashSet;

use crate::code;
use crate::error::{ErrorCode, GraphqlError, Location, PathSegment};
use crate::response::Answer;

/// Greatest number of errors in one answer; one more says that there were others.
const MAX_ERRORS: usize = 1_000;

/// A null in a non-null position: it propagates to the nearest nullable parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropagateNull;

/// Whether a value was written, or its null propagates.
pub type WriteResult = Result<(), PropagateNull>;

/// A point of the answer to come back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    out: usize,
    errors: usize,
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
    /// Says something of a value that is there; it goes with that value.
    is_warning: bool,
}

/// Writes one answer: bytes, errors with their paths, and the propagation of nulls.
///
/// The caller writes values in the order of the selection set straight to [`AnswerWriter::out`].
#[derive(Debug)]
pub struct AnswerWriter<'a> {
    /// The JSON text so far.
    pub out: Vec<u8>,
    path: Vec<PathStep<'a>>,
    errors: Vec<Entry>,
    /// Errors beyond the greatest number.
    omitted: usize,
    /// The code of each warning that was given, with the place and key of its field.
    warned: HashSet<(ErrorCode, Option<Location>, &'a str)>,
    /// The answer has become too large, or is not wanted any more: nothing is worth writing.
    halted: bool,
}

impl Default for AnswerWriter<'_> {
    fn default() -> Self {
        AnswerWriter {
            out: Vec::with_capacity(1 << 12),
            path: Vec::new(),
            errors: Vec::new(),
            omitted: 0,
            warned: HashSet::new(),
            halted: false,
        }
    }
}

impl<'a> AnswerWriter<'a> {
    /// Creates a writer of an empty answer.
    #[must_use]
    pub fn new() -> Self {
        AnswerWriter::default()
    }

    /// Ends the answer; what propagated past every field makes `data` null.
    #[must_use]
    pub fn finish(mut self, written: WriteResult) -> Answer {
        if written.is_err() {
            self.out.clear();
            self.out.extend_from_slice(b"null");
        }
        if self.omitted > 0 {
            let message = format!("{} more errors are not listed", self.omitted);
            self.push(GraphqlError::new(code::ERRORS_OMITTED, message), false);
        }
        let errors = self.errors.into_iter().map(|entry| entry.error);
        Answer::new(self.out, errors.collect())
    }

    /// Writes a number.
    pub fn number(&mut self, number: u64) {
        serde_json::to_writer(&mut self.out, &number).expect("writing to memory does not fail");
    }

    /// Writes a string with its quotes.
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

    /// Goes into a field or an element.
    pub fn enter(&mut self, step: PathStep<'a>) {
        self.path.push(step);
    }

    /// Comes back out of a field or an element.
    pub fn leave(&mut self) {
        self.path.pop();
    }

    /// Returns how many steps the path has.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.path.len()
    }

    /// Comes back to a path of `depth` steps.
    pub fn leave_to(&mut self, depth: usize) {
        self.path.truncate(depth);
    }

    /// Returns the path to the value at hand.
    #[must_use]
    pub fn path(&self) -> Vec<PathSegment> {
        let segment = |step: &PathStep<'_>| match step {
            PathStep::Key(key) => PathSegment::Key((*key).to_owned()),
            PathStep::Index(index) => PathSegment::Index(*index),
        };
        self.path.iter().map(segment).collect()
    }

    /// Returns the point that the answer has come to.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            out: self.out.len(),
            errors: self.errors.len(),
        }
    }

    /// Tells whether null, and nothing else, was written since `mark`.
    #[must_use]
    pub fn is_null_since(&self, mark: Mark) -> bool {
        self.out[mark.out..] == *b"null"
    }

    /// Tells whether errors were added since `mark`.
    #[must_use]
    pub fn has_errors_since(&self, mark: Mark) -> bool {
        self.errors.len() > mark.errors
    }

    /// Replaces what was written since `mark` by null, unless null is not allowed.
    ///
    /// # Errors
    /// When the null propagates further.
    pub fn null_from(&mut self, mark: Mark, non_null: bool) -> WriteResult {
        self.out.truncate(mark.out);
        if non_null || self.halted {
            return Err(PropagateNull);
        }
        self.drop_warnings(mark.errors);
        self.null();
        Ok(())
    }

    /// Drops warnings of values within one that has become null.
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

    /// Adds a warning at the current path; it goes when a value around becomes null.
    pub fn warning(&mut self, code: ErrorCode, message: &str, location: Option<Location>) {
        self.add(code, message, location, true);
    }

    /// Adds an error that has its path already, whatever the number of others.
    pub fn push_error(&mut self, error: GraphqlError) {
        self.push(error, false);
    }

    /// Tells whether a warning about a field of the document is the first of its code, and remembers it.
    pub fn is_first_warning(
        &mut self,
        code: ErrorCode,
        location: Option<Location>,
        key: &'a str,
    ) -> bool {
        self.warned.insert((code, location, key))
    }

    /// Refuses the whole answer with one more error, whatever the number of others.
    pub fn refuse(&mut self, error: GraphqlError) -> PropagateNull {
        self.push(error, false);
        self.halt()
    }

    /// Gives the answer up.
    pub fn halt(&mut self) -> PropagateNull {
        self.halted = true;
        PropagateNull
    }

    /// Checks that the answer was not given up.
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

    /// Checks that the answer has at most `limit` bytes and was not given up.
    ///
    /// # Errors
    /// When it has more, with an error of its own, or was given up.
    pub fn check_size(&mut self, limit: usize) -> WriteResult {
        if !self.halted && self.out.len() > limit {
            let error = GraphqlError::new(code::LIMIT_RESPONSE, "the answer is too large");
            return Err(self.refuse(error.with("limit", limit)));
        }
        self.check()
    }
}

/// Writes a JSON string with its quotes.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("writing to memory does not fail");
}
