//! What the modules of a library import, as its sources say.
//!
//! All sources that `lib.rs` leads to are parsed, those of every feature and platform; what is
//! compiled for tests alone is left out. Edges are the paths that begin with `crate`, `super` or
//! `self`: in `use`, in types and expressions, in visibilities' stead, and in the tokens of macros
//! and attributes. Not seen are modules that are reached without a path: through a method of a
//! value, or what a macro of another crate writes.

mod files;
mod paths;
mod tokens;

use std::collections::BTreeMap;

pub use files::read;

use crate::finding::Location;

/// A library as far as its top-level modules are concerned.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Where each top-level module is declared, and the first sentence of its documentation.
    pub modules: BTreeMap<String, Module>,
    /// Everything that a module takes from another, or from the crate root.
    pub imports: Vec<Import>,
    /// Macros with `#[macro_export]`, which belong to the crate root, and what modules define them.
    pub exported_macros: BTreeMap<String, String>,
    /// Modules declared with `#[macro_use]`.
    pub macro_uses: Vec<Location>,
    /// Names that the crate root exports again, and where they come from.
    pub reexports: BTreeMap<String, String>,
    /// The file of each module, the crate root and those inside of others included.
    pub files: BTreeMap<Vec<String>, String>,
    /// Paths to items of the crate, wherever they stand.
    pub paths: Vec<Used>,
    /// What modules below the crate root export again, and where it comes from.
    pub exported: BTreeMap<(Vec<String>, String), Vec<String>>,
}

/// A top-level module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Where it is declared.
    pub declared: Location,
    /// What it is for: the first sentence of its documentation.
    pub about: String,
}

/// A path to an item of the crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// The module in which it stands.
    pub from: Vec<String>,
    /// The segments after the crate root.
    pub target: Vec<String>,
    /// Where it stands, as it is written.
    pub location: Location,
}

/// A path that leaves its top-level module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The top-level module in which it stands.
    pub from: String,
    /// The segments after the crate root; empty for the crate root itself.
    pub segments: Vec<String>,
    /// Where it stands, as it is written.
    pub location: Location,
}
