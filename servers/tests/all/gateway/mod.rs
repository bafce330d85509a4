//! The federation gateway as a process, over subgraphs on sockets.

mod all_in_one;
mod configuration;
mod forwarding;
mod life;
mod log_in;
mod polling;
mod process;
mod serving;
mod subgraph;
