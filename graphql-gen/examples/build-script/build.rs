//! Writes the schema that `main` includes; a mistake in the document stops the build with its place.

use graphql_gen::build_script::{BuildError, SdlKind, write_sdl};

fn main() -> Result<(), BuildError> {
    write_sdl("schema.yaml", SdlKind::Api)?;
    Ok(())
}
