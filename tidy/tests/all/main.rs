//! Edges between crates and between modules: those of this workspace, and those of made-up ones
//! that must be refused.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod made_up;
mod workspace;
