//! The subgraphs of the gateway benchmark, and gateways over them.

mod answers;
mod gateways;
mod reference;
mod service;
