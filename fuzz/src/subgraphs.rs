//! Subgraph SDL: any texts are refused with codes, or they compose to a supergraph that can be read.
//!
//! Compiled by its target alone and by the tests of `federation`. Subgraphs are separated by a NUL.

use federation::Supergraph;
use federation::compose::{ComposeOptions, SubgraphSource, compose};

/// The most subgraphs of one input.
const MOST: usize = 6;

/// Composes subgraphs; tells whether they were accepted.
pub fn run(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else {
        return false;
    };
    let sources = text.split('\0').take(MOST).enumerate();
    let sources = sources.map(|(at, sdl)| SubgraphSource {
        name: format!("s{at}"),
        url: String::new(),
        sdl: sdl.to_owned(),
    });
    let sources: Vec<_> = sources.collect();
    match compose(&sources, &ComposeOptions::default()) {
        Ok(composed) => {
            let text = &composed.supergraph_sdl;
            let read = Supergraph::parse(text, "supergraph.graphql");
            read.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
            true
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(!error.message.is_empty(), "{error:?}");
            }
            false
        }
    }
}
