//! Writes the subgraph schemas of SOML documents, for tools that check or compose them.
//!
//! `federation_sdl FOLDER FILE…` writes `FOLDER/<name>.v1.graphql` and `<name>.v2.graphql` for each
//! document; the name is that of the file with that of its folder before it.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use graphql_gen::typesystem::{Api, ApiOptions, FederationMode};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().ok_or("give a folder and documents")?;
    for document in arguments {
        write(Path::new(&folder), Path::new(&document))
            .map_err(|error| format!("{}: {error}", document.display()))?;
    }
    Ok(())
}

/// Writes both forms for one document.
fn write(folder: &Path, document: &Path) -> Result<(), Box<dyn Error>> {
    let loaded = soml_core::load(&std::fs::read_to_string(document)?);
    let errors: Vec<_> = loaded.errors().map(ToString::to_string).collect();
    let soml = Arc::new(loaded.schema.ok_or_else(|| errors.join("\n"))?);
    let part = |part: Option<&std::ffi::OsStr>| part.map(|p| p.to_string_lossy().into_owned());
    let parent = part(document.parent().and_then(Path::file_name)).unwrap_or_default();
    let stem = part(document.file_stem()).unwrap_or_default();
    for (form, federation) in [("v1", FederationMode::V1), ("v2", FederationMode::V2)] {
        let options = ApiOptions::default()
            .with_federation(federation)
            .with_mutations(true);
        let api = Api::new(Arc::clone(&soml), &options)?;
        let file = folder.join(format!("{parent}-{stem}.{form}.graphql"));
        std::fs::write(file, api.subgraph_sdl(federation))?;
    }
    Ok(())
}
