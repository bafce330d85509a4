//! Carries out mutations: the changes of all fields are worked out and checked together, and written in one
//! transaction.
//!
//! # The way of a mutation
//!
//! 1. `object_engine::plan::mutation` reads the inputs into *entries*: what is given for each object, as terms.
//!    Values that are wrong whatever the data are become findings. What is read back is planned as queries are.
//! 2. `object_engine::run` waits for the turn of the request: `GraphStore::writer` begins one transaction after the
//!    other. The rest runs in a slot, or on the async worker where it is short and the store is behind a network.
//! 3. `object_engine::mutate` goes through the fields in their order. `Overlay` holds the triples that were read,
//!    with what the mutation adds and without what it removes; all checks and all changes look at it. What has to
//!    be known is read in as few calls of `Transaction::quads` as there are dependencies, never per object.
//! 4. When all fields are worked out, `mutate::checks` looks at the state that they leave. All findings are
//!    reported together, and then nothing is written.
//! 5. The change is applied, the result is read back from the transaction's view, and the answer is written
//!    *before* the commit: an answer that is too large or comes too late rolls everything back. A store without a
//!    view is read after the commit.
//! 6. The commit writes a record of what was changed, by which a lost answer and a repeated request are recognised.
//!    A conflict repeats everything from 2.

mod attempt;
mod checks;
mod draft;
mod facts;
mod ids;
mod overlay;
mod payload;
mod rows;
mod shown;

pub(crate) use attempt::{Attempt, Done};
pub(crate) use draft::Setting;
pub(crate) use facts::WriteFacts;
pub(crate) use payload::nothing;
