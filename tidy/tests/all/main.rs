//! Edges between crates and between modules: those of this workspace, and those of made-up ones
//! that must be refused. The commands of the checks: those that are run, and those that are documented.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod checks;
mod made_up;
mod workspace;
