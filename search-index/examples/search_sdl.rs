//! Writes the subgraph schemas of searches over SOML documents, for tools that check or compose them.
//!
//! `search_sdl FOLDER FILE…` writes `FOLDER/<name>.search.graphql` for each document, with all of its
//! objects searched, unless it has none; the name is that of the file with that of its folder before it.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use search_index::mapping::{Indexes, MappingOptions};
use search_index::sdl::SearchApi;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().ok_or("give a folder and documents")?;
    for document in arguments {
        write(Path::new(&folder), Path::new(&document))
            .map_err(|error| format!("{}: {error}", document.display()))?;
    }
    Ok(())
}

fn write(folder: &Path, document: &Path) -> Result<(), Box<dyn Error>> {
    let text = searched(&std::fs::read_to_string(document)?);
    let loaded = search_index::soml_core::load(&text);
    let errors: Vec<_> = loaded.errors().map(ToString::to_string).collect();
    let soml = Arc::new(loaded.schema.ok_or_else(|| errors.join("\n"))?);
    if soml.objects.is_empty() {
        return Ok(());
    }
    let indexes = Indexes::new(&soml, &MappingOptions::default())?;
    let api = SearchApi::subgraph(soml, indexes)?;
    let part = |part: Option<&std::ffi::OsStr>| part.map(|p| p.to_string_lossy().into_owned());
    let parent = part(document.parent().and_then(Path::file_name)).unwrap_or_default();
    let stem = part(document.file_stem()).unwrap_or_default();
    let file = folder.join(format!("{parent}-{stem}.search.graphql"));
    std::fs::write(file, api.service_sdl().ok_or("no subgraph")?)?;
    Ok(())
}

/// Has all objects of a document searched, which has no configuration but an empty one.
fn searched(text: &str) -> String {
    format!(
        "config: {{search: {{index: yes}}}}\n{}",
        text.replacen("\nconfig: {}", "", 1)
    )
}
