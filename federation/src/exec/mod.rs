//! Carries out plans: requests to subgraphs as soon as what they wait for is there, and the answer in the
//! order of the client's operation.

mod entity_lists;
mod errors;
mod executor;
mod fetch;
mod interner;
mod leaf;
mod listings;
mod memo;
mod merge;
mod notes;
mod places;
mod project;
mod representations;
mod request_sharing;
mod response;
mod store;
mod subgraph_errors;
mod walk;
mod work;

pub(crate) use executor::subscription;
pub use executor::{Execution, execute, execute_event};
pub(crate) use fetch::{Failure, Interrupted, interruptible, log, within};
pub use notes::{Note, Notes};
pub(crate) use request_sharing::{RequestSharing, SubgraphFlights};
