//! Composes sets of subgraphs, one JSON object a line: `{"id", "subgraphs": [{"name", "url", "sdl"}]}`. Writes for each
//! set a line with the codes of its errors or hints, and its supergraph, for comparison with other composers.

use std::io::{self, BufRead, Write};

use federation::compose::{ComposeOptions, SubgraphSource, compose};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let set: Value = serde_json::from_str(&line?)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let subgraphs = set["subgraphs"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|subgraph| SubgraphSource {
                name: text(&subgraph["name"]),
                url: text(&subgraph["url"]),
                sdl: text(&subgraph["sdl"]),
            });
        let subgraphs: Vec<_> = subgraphs.collect();
        let answer = match compose(&subgraphs, &ComposeOptions::default()) {
            Ok(composed) => json!({
                "id": set["id"],
                "hints": composed.hints.iter().map(|hint| hint.code.as_str()).collect::<Vec<_>>(),
                "said": composed.hints.iter().map(|hint| hint.message.as_str()).collect::<Vec<_>>(),
                "supergraph": composed.supergraph_sdl,
            }),
            Err(errors) => json!({
                "id": set["id"],
                "errors": errors.iter().map(|error| json!([error.code.as_str(), error.message])).collect::<Vec<_>>(),
            }),
        };
        writeln!(out, "{answer}")?;
    }
    Ok(())
}
