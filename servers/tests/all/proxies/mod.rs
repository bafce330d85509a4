//! API gateways in front of the three services (1.5, 5.1.7 of the interface): HAProxy and nginx as processes, with the very
//! files of `docs/proxies`, and what the files of others say.

mod deployment;
mod faults;
mod files;
mod harness;
mod nginx;
mod routes;
mod streams;
mod throttling;
mod tokens;
