//! Holds the edges between crates, and between the modules of each crate, to the tables in
//! `ARCHITECTURE.md`.
//!
//! Two things are read: the tables, and what the manifests and sources really say. They have to be
//! equal, so a new edge is a changed line in a document that people review, and the document never
//! claims what no longer holds. A module of a crate is what `lib.rs` declares; what happens inside
//! one is its own business.
//!
//! Nothing is compiled. This crate depends on no other crate of the workspace, so that the check
//! takes seconds and works while the others do not build.

pub mod crates;
pub mod document;
pub mod finding;
pub mod graph;
pub mod modules;
pub mod source;
pub mod workspace;

use std::path::Path;

use document::Architecture;
pub use finding::Finding;
use workspace::Workspace;

/// Checks the workspace in a folder; returns everything that is wrong.
///
/// The folder holds the `Cargo.toml` of the workspace and `ARCHITECTURE.md`.
#[must_use]
pub fn check(root: &Path) -> Vec<Finding> {
    match (Workspace::read(root), Architecture::read(root)) {
        (Ok(workspace), Ok(architecture)) => {
            let mut findings = crates::check(&workspace, &architecture);
            findings.extend(modules::check(&workspace, &architecture));
            findings
        }
        (workspace, architecture) => [workspace.err(), architecture.err()]
            .into_iter()
            .flatten()
            .collect(),
    }
}
