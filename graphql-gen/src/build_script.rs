//! For build scripts: checks a SOML file and writes the schema of its API to `OUT_DIR`.
//!
//! This is the one place of the crate that reads files and the environment and prints: Cargo talks
//! with build scripts by that. What is printed are instructions to Cargo, never findings.
//!
//! ```no_run
//! // build.rs
//! use graphql_gen::build_script::{BuildError, SdlKind, write_sdl};
//!
//! fn main() -> Result<(), BuildError> {
//!     write_sdl("schema.yaml", SdlKind::Api)?;
//!     Ok(())
//! }
//! ```
//!
//! The crate then has its schema by `include_str!(concat!(env!("OUT_DIR"), "/schema.graphql"))`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use soml_core::Diagnostic;
use soml_core::span::LineIndex;

use crate::typesystem::{Api, ApiOptions, FederationMode, Problem};

/// Which schema of the API is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SdlKind {
    /// As clients see it.
    #[default]
    Api,
    /// As a gateway of federation 1 reads it.
    Federation1,
    /// As a gateway of federation 2 reads it.
    Federation2,
    /// With all directives that tell what the document says.
    Full,
}

/// Why there is no schema.
///
/// `Debug` writes the same as `Display`, since that is what Cargo shows of an error that `main` of a
/// build script returns.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The document cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The document.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The schema cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file to write.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// `OUT_DIR` is not set, so this is no build script.
    #[error("OUT_DIR is not set; call this from a build script")]
    NoOutDir,
    /// The document has errors or no API.
    #[error("{} has no GraphQL API\n{}", path.display(), findings.join("\n"))]
    Invalid {
        /// The document.
        path: PathBuf,
        /// What is wrong, each beginning with `file:line:column`.
        findings: Vec<String>,
    },
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Checks the document at `schema` and writes the schema of its API to `OUT_DIR`; returns the file,
/// which is named after the document: `schema.graphql` for `schema.yaml`.
///
/// The path is relative to the package. Cargo runs the script again when the document changes, and
/// shows warnings of the document as its own.
///
/// # Errors
/// When a file cannot be read or written, and when the document has errors: all of them.
pub fn write_sdl(schema: impl AsRef<Path>, kind: SdlKind) -> Result<PathBuf, BuildError> {
    write_sdl_with(schema, kind, &ApiOptions::default())
}

/// The same as [`write_sdl`] for an API with other options; their form of federation is that of
/// `kind`.
///
/// # Errors
/// As [`write_sdl`].
pub fn write_sdl_with(
    schema: impl AsRef<Path>,
    kind: SdlKind,
    options: &ApiOptions,
) -> Result<PathBuf, BuildError> {
    let path = schema.as_ref();
    instruct("rerun-if-changed", &path.display().to_string());
    let text = std::fs::read_to_string(path).map_err(|source| BuildError::Read {
        path: path.to_owned(),
        source,
    })?;
    let sdl = sdl(path, &text, kind, options)?;
    for warning in &sdl.warnings {
        instruct("warning", warning);
    }
    let folder = std::env::var_os("OUT_DIR").ok_or(BuildError::NoOutDir)?;
    let stem = path.file_stem().unwrap_or("schema".as_ref());
    let target = Path::new(&folder).join(stem).with_extension("graphql");
    match std::fs::write(&target, sdl.text) {
        Ok(()) => Ok(target),
        Err(source) => Err(BuildError::Write {
            path: target,
            source,
        }),
    }
}

#[expect(
    clippy::print_stdout,
    reason = "a build script talks with Cargo by its standard output"
)]
fn instruct(key: &str, value: &str) {
    for line in value.lines() {
        println!("cargo::{key}={line}");
    }
}

/// A printed schema with what was found beside it.
struct Sdl {
    text: String,
    warnings: Vec<String>,
}

fn sdl(path: &Path, text: &str, kind: SdlKind, options: &ApiOptions) -> Result<Sdl, BuildError> {
    let loaded = soml_core::load(text);
    let place = |d: &Diagnostic| format!("{}:{d}", path.display());
    let invalid = |findings: Vec<String>| BuildError::Invalid {
        path: path.to_owned(),
        findings,
    };
    let mut errors: Vec<_> = loaded.errors().map(place).collect();
    let warnings = loaded.warnings().map(place).collect();
    if loaded.suppressed > 0 {
        errors.push(format!("and {} further findings", loaded.suppressed));
    }
    let Some(soml) = loaded.schema else {
        return Err(invalid(errors));
    };
    let federation = match kind {
        SdlKind::Federation1 => FederationMode::V1,
        SdlKind::Federation2 => FederationMode::V2,
        SdlKind::Api | SdlKind::Full => FederationMode::Off,
    };
    let options = ApiOptions {
        federation,
        ..options.clone()
    };
    let api = Api::new(Arc::new(soml), &options).map_err(|error| {
        let lines = LineIndex::new(text);
        let problems = error.problems.iter();
        invalid(problems.map(|p| render(path, p, &lines)).collect())
    })?;
    let text = match kind {
        SdlKind::Api => api.sdl(),
        SdlKind::Full => api.full_sdl(),
        SdlKind::Federation1 | SdlKind::Federation2 => api.subgraph_sdl(federation),
    };
    Ok(Sdl { text, warnings })
}

/// Writes a problem of the API in the form of those of the document.
fn render(path: &Path, problem: &Problem, lines: &LineIndex<'_>) -> String {
    let place = |span: soml_core::span::Span| {
        let at = lines.position(span.start);
        format!("{}:{}", at.line, at.column)
    };
    let at = problem
        .span
        .map_or(String::new(), |span| format!("{}:", place(span)));
    let (code, message) = (problem.kind.code(), &problem.message);
    let mut text = format!("{}:{at} error[{code}]: {message}", path.display());
    for (span, message) in &problem.related {
        text.push_str(&format!("\n  {}: {message}", place(*span)));
    }
    if let Some(help) = &problem.help {
        text.push_str(&format!("\n  help: {help}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str, kind: SdlKind) -> Result<String, String> {
        sdl(Path::new("a/b.yaml"), text, kind, &ApiOptions::default())
            .map(|sdl| sdl.text)
            .map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn each_kind_is_another_form() {
        let text = "id: /soml/sky\nobjects:\n  Planet: {label: World, extend: true}\n";
        let form = |kind| print(text, kind).expect("the document has an API");
        assert!(form(SdlKind::Api).contains("type Planet implements Object {"));
        assert!(form(SdlKind::Federation1).contains("extend type Planet"));
        assert!(form(SdlKind::Federation2).contains("@link("));
        assert!(form(SdlKind::Full).contains("@descr(_: \"World\")"));
    }

    #[test]
    fn errors_begin_with_file_line_and_column() {
        let of_document = print(
            "id: /soml/sky\nobjects:\n  Planet: {kind: abstrct}\n",
            SdlKind::Api,
        );
        let expected = "a/b.yaml has no GraphQL API\na/b.yaml:3:18: error[UNKNOWN_KIND]: ";
        let found = of_document.expect_err("the kind is unknown");
        assert!(found.starts_with(expected), "{found}");

        let of_api = print(
            "id: /soml/sky\nobjects:\n  Moon:\n    props: {AND: {}}\n",
            SdlKind::Api,
        );
        let expected = "a/b.yaml has no GraphQL API\na/b.yaml:4:13: error[API_FIELD_NAME_TAKEN]: ";
        let found = of_api.expect_err("a filter has a key of that name");
        assert!(found.starts_with(expected), "{found}");
    }
}
