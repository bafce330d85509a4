//! Carries out plans: requests to subgraphs as soon as what they wait for is there, and the answer in the
//! order of the client's operation.

mod answer;
mod errors;
mod fetch;
mod found;
mod leaf;
mod listed;
mod lists;
mod memo;
mod notes;
mod places;
mod project;
mod receive;
mod representations;
mod run;
mod shared;
mod store;
mod texts;
mod walk;
mod work;

pub(crate) use fetch::{Failure, Interrupted, interruptible, log, within};
pub use notes::{Note, Notes};
pub(crate) use run::subscription;
pub use run::{Execution, execute, execute_event};
pub(crate) use shared::{Sharing, SubgraphFlights};
