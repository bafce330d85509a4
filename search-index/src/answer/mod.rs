//! Answers to searches as GraphQL clients see them: JSON bytes from the bytes of the engine, in the order
//! of the selection.

mod document;
mod federation;
mod write;

pub(crate) use federation::{write_entities, write_service};
pub(crate) use write::AnswerToSearch;
