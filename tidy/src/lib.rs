//! Holds the edges between crates, and between the modules of each crate, to the rules of the house.
//!
//! Crates are in layers: one depends only on those of lower layers, and some must not lead to each
//! other at all; see [`rules`]. The modules of a crate, which are those that `lib.rs` declares, import
//! each other without a cycle, and from where an item is defined. In the upper crates, few files may import
//! each other either. `ARCHITECTURE.md` describes every
//! crate; what depends on what is not written there, but printed on demand:
//! `cargo run -p tidy -- crates`, or `-- modules soml-core`.
//!
//! Nothing is compiled. This crate depends on no other crate of the workspace, so that the check
//! takes seconds and works while the others do not build.

pub mod crates;
pub mod files;
pub mod finding;
pub mod graph;
pub mod modules;
pub mod rules;
pub mod source;
pub mod workspace;

use std::path::Path;

pub use finding::Finding;
use rules::Rules;
use workspace::Workspace;

/// Checks the workspace in a folder; returns everything that is wrong.
///
/// The folder holds the `Cargo.toml` of the workspace and `ARCHITECTURE.md`.
#[must_use]
pub fn check(root: &Path, rules: &Rules) -> Vec<Finding> {
    let workspace = match Workspace::read(root) {
        Ok(workspace) => workspace,
        Err(finding) => return vec![finding],
    };
    let mut findings = crates::check(&workspace, rules);
    for member in &workspace.members {
        let Some(lib) = &member.library else { continue };
        match source::read(&workspace.root, lib) {
            Ok(library) => {
                findings.extend(modules::check(&member.name, &library));
                findings.extend(files::check(&member.name, &library, rules));
            }
            Err(finding) => findings.push(finding),
        }
    }
    findings
}
