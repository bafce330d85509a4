//! Supergraph SDL: any text is refused with a code and a place, or it is a supergraph that survives writing, and whose
//! unreachable types can be left out.
//!
//! Compiled by its target alone and by the tests of `federation`.

use federation::{Supergraph, SupergraphOptions};

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
                let breaks = text.matches(is_break).count();
                let line = error.location.map_or(0, |location| location.line);
                assert!(line <= breaks + 1, "{error:?}");
            }
            return false;
        }
    };
    let written = supergraph.to_sdl();
    let again = Supergraph::parse(&written, "written.graphql");
    let again = again.unwrap_or_else(|errors| panic!("{errors:?}\n{written}"));
    assert_eq!(again.to_sdl(), written);
    assert_eq!(again.api().to_string(), supergraph.api().to_string());
    let mut options = SupergraphOptions::default();
    options.prune_unreachable_types = true;
    let pruned = Supergraph::parse_with(text, "pruned.graphql", &options);
    let pruned = pruned.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let kept = &supergraph.api().types;
    assert!(
        pruned
            .api()
            .types
            .keys()
            .all(|name| kept.contains_key(name))
    );
    assert_eq!(pruned.to_sdl(), written);
    true
}

/// Returns whether a character can end a line.
fn is_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}
