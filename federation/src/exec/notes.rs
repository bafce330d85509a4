//! How the requests of a plan got their answers, for explanations.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// What was noted of one execution, or of the executions of a subscription, in the order in which it happened.
#[derive(Debug, Default)]
pub struct Notes(Mutex<Vec<Note>>);

/// Why a request of a plan was not sent as the plan has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The answer to an equal request in flight was taken.
    Joined {
        /// The position of the request in the plan.
        request: usize,
        /// The identifier of the client's request that it was sent for.
        leader: String,
    },
    /// Entities were known from earlier answers for the same request of the client, and not asked for.
    FromMemo {
        /// The position of the request in the plan.
        request: usize,
        /// The number of representations that were not sent.
        representations: usize,
    },
}

impl Notes {
    /// Adds a note.
    pub fn add(&self, note: Note) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(note);
    }

    /// Returns the notes so far.
    #[must_use]
    pub fn all(&self) -> Vec<Note> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.clone()
    }
}

impl fmt::Display for Note {
    /// Begins with the position of the request, as the text of a plan does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Joined { request, leader } => {
                write!(
                    f,
                    "{request}: joined an equal request in flight, sent for {leader:?}"
                )
            }
            Note::FromMemo {
                request,
                representations,
            } => write!(
                f,
                "{request}: {representations} representations answered from the memo"
            ),
        }
    }
}
