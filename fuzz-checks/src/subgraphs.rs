//! Subgraph SDL: any set of texts is refused with codes and places, or composed to a supergraph that can be read.
//!
//! A subgraph begins with a line of `## ` and its name; behind the name, the version of federation says that it
//! imports all directives. What stands before the first one is a subgraph too.
//!
//! Compiled by its target alone and by the tests of `federation`.

use federation::Supergraph;
use federation::compose::{ComposeOptions, SubgraphSource, compose};

/// The most subgraphs of one input.
const SUBGRAPHS: usize = 8;

const LINK: &str = r#"extend schema @link(url: "https://specs.apollo.dev/federation/v2.12", import: ["@key" "@requires" "@provides" "@external" "@extends" "@shareable" "@override" "@tag" "@inaccessible" "@composeDirective" "@interfaceObject" "@authenticated" "@requiresScopes" "@policy" "@context" "@fromContext" "@cost" "@listSize"]) "#;

/// Composes subgraphs; tells whether they were accepted.
pub fn run(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else {
        return false;
    };
    let sources = sources(text);
    if sources.len() > SUBGRAPHS {
        return false;
    }
    let composed = match compose(&sources, &ComposeOptions::default()) {
        Ok(composed) => composed,
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(!error.message.is_empty(), "{error:?}");
                for place in &error.places {
                    let source = sources.iter().find(|it| it.name == place.subgraph);
                    let breaks = source.map(|source| source.sdl.matches(is_break).count());
                    let line = place.location.map_or(0, |location| location.line);
                    assert!(breaks.is_some_and(|breaks| line <= breaks + 1), "{error:?}");
                }
            }
            return false;
        }
    };
    let supergraph = Supergraph::parse(&composed.supergraph_sdl, "composed.graphql");
    let supergraph = supergraph.unwrap_or_else(|errors| panic!("{errors:?}\n{composed:?}"));
    assert_eq!(supergraph.subgraphs().len(), sources.len());
    for hint in composed.hints {
        assert!(!hint.message.is_empty(), "{hint:?}");
    }
    true
}

/// Returns whether a character can end a line.
fn is_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

fn sources(text: &str) -> Vec<SubgraphSource> {
    let mut sources: Vec<SubgraphSource> = Vec::new();
    for line in text.split_inclusive('\n') {
        let head = line.strip_prefix("## ");
        if head.is_some() || sources.is_empty() {
            let mut words = head.unwrap_or("a").split_whitespace();
            sources.push(SubgraphSource {
                name: words.next().unwrap_or_default().to_owned(),
                url: String::new(),
                sdl: words.next().map_or("", |_| LINK).to_owned(),
            });
        }
        if head.is_none()
            && let Some(source) = sources.last_mut()
        {
            source.sdl.push_str(line);
        }
    }
    sources
}
