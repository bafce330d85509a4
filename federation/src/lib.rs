#![doc = include_str!("../README.md")]

pub mod authorization;
pub mod code;
pub mod compose;
pub mod exec;
pub mod gateway;
pub mod graph;
mod hash;
mod ids;
pub mod limits;
mod memo;
pub mod operation;
pub mod plan;
mod plan_cache;
mod sharing;
pub mod subscription;
pub mod supergraph;
pub mod transport;

pub use authorization::{Authorizer, CallerClaims, Grants};
pub use gateway::{Gateway, GatewayOptions};
pub use graph::ActiveLabels;
pub use limits::GatewayLimits;
pub use memo::EntityMemo;
pub use sharing::{Savings, SharingOptions};
pub use subscription::{Ending, OpenSubscriptions};
pub use supergraph::{Supergraph, SupergraphError, SupergraphOptions};
pub use transport::{Allowance, InProcess, SubgraphRequest, SubgraphTransport, TransportError};
