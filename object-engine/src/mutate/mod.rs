//! Carries out mutations: the changes of all fields are worked out and checked together, and written in one
//! transaction.

mod attempt;
mod checks;
mod draft;
mod facts;
mod ids;
mod overlay;
mod payload;
mod shown;

pub(crate) use attempt::{Attempt, Done};
pub(crate) use draft::Setting;
pub(crate) use facts::WriteFacts;
pub(crate) use payload::nothing;
