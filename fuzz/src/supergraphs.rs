//! Supergraph SDL: any text is refused with a code, or it is a supergraph that survives writing.
//!
//! Compiled by its target alone and by the tests of `federation`: `servers` reads no supergraphs of strangers.

use federation::Supergraph;

/// Reads a supergraph; tells whether it was accepted.
pub fn run(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else {
        return false;
    };
    let supergraph = match Supergraph::parse(text, "supergraph.graphql") {
        Ok(supergraph) => supergraph,
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(!error.message.is_empty(), "{error:?}");
            }
            return false;
        }
    };
    let written = supergraph.to_sdl();
    let again = Supergraph::parse(&written, "written.graphql");
    let again = again.unwrap_or_else(|errors| panic!("{errors:?}\n{written}"));
    assert_eq!(again.to_sdl(), written);
    assert_eq!(again.api().to_string(), supergraph.api().to_string());
    true
}
