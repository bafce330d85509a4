//! The engine of OpenSearch, versions 2 and 3, over HTTP.
//!
//! [`OpenSearch`] sends requests to one node or to several of a cluster, in turn: a node that fails is set
//! aside for a while, and what may be repeated is. Answers are bounded, and complete or an error. The
//! sources of hits are slices of the bytes that arrived.
//!
//! An index belongs to the application that its mapping's `_meta` names; one that names another is never
//! written to, moved or deleted.
//!
//! OpenSearch 3.7 is wrong by a millisecond for dates before 1970 in `term`, `match` and `terms`, and in `range`
//! where a lower bound is exclusive or an upper one inclusive. Such clauses are sent as ranges that it answers
//! rightly.
//!
//! A node that dies takes what it had not copied with it. [`SearchEngine::condition`] tells an index that
//! waits for a node from one that lost a part.
//!
//! [`SearchEngine::condition`]: crate::engine::SearchEngine::condition
//!
//! The crate `opensearch` (2.4) has nothing that would make this shorter. Its requests are sent by its own client only, which
//! has no timeout for connecting and reads answers of any size as a whole; answers have no types there. What remains are
//! enumerations and paths that stand for one literal each, and bulk operations, which serialize sources that are JSON
//! already. It also makes every HTTP client of the program ask for compressed answers.
//!
//! OpenSearch has no word for a number that is missing when it sorts, and gives the greatest or the least
//! number of the type instead, which [`Hit::sort`](crate::engine::Hit::sort) shows as `None`, also for a
//! document that has this number. Only the 0 of an `unsignedLong` is shown as it is, since most that are
//! sorted as 0 have it.

mod aliases;
mod analyzers;
mod answer;
mod bulk;
mod clauses;
mod client;
mod exchange;
mod failure;
mod fields;
mod health;
mod ids;
mod node;
mod options;
mod server;
mod totals;

pub use options::{OpenSearchOptions, OptionsError};
pub use server::OpenSearch;
