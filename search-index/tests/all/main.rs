//! Behaviour of the crate through its interface.

#[cfg(feature = "embedded")]
mod analyzers;
mod differential;
mod document;
#[cfg(feature = "embedded")]
mod embedded;
#[cfg(feature = "embedded")]
mod engine_cases;
mod expanded_terms;
mod federation;
#[cfg(feature = "embedded")]
mod fuzz_seeds;
mod indexer;
#[cfg(feature = "embedded")]
mod long_searches;
mod mapping;
mod opensearch;
mod read;
mod sdl;
mod searches;
mod service;
mod star_wars;
mod values_in_hits;

use search_index::mapping::{Indexes, MappingError, MappingOptions};
use search_index::soml_core::Valid;
use search_index::soml_core::schema::Schema;
use test_support::{images, random_tests};

/// Loads a document; it must be valid.
fn schema(text: &str) -> Valid<Schema> {
    let loaded = search_index::soml_core::load(text);
    let findings: Vec<_> = loaded.diagnostics.iter().map(ToString::to_string).collect();
    loaded
        .schema
        .unwrap_or_else(|| panic!("{}", findings.join("\n")))
}

/// Defines the indexes of a document with the default options.
fn indexes(text: &str) -> Result<Indexes, MappingError> {
    Indexes::new(&schema(text), &MappingOptions::default())
}
