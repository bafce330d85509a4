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
//! The schema is the one that the object service serves, since both have the same default
//! ([`ApiOptions::default`]); [`write_sdl_with`] takes other options, such as
//! [`prune`](ApiOptions::prune). The crate then has it by
//! `include_str!(concat!(env!("OUT_DIR"), "/schema.graphql"))`.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use soml_core::{Diagnostic, Severity};

use crate::typesystem::{Api, ApiOptions, FederationMode};

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
/// What is wrong with a document is data: codes, places and messages, for a script that reports it
/// in a way of its own. `Display` lists it as a compiler would, each finding beginning with
/// `file:line:column`. `Debug` writes the same with the causes behind it, since that is what Cargo
/// shows of an error that `main` of a build script returns.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The document cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The document.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The schema cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file to write.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// `OUT_DIR` is not set, so this is no build script.
    #[error("OUT_DIR is not set; call this from a build script")]
    NoOutDir,
    /// The document has errors.
    #[error("{}", Findings { path, diagnostics, suppressed: *suppressed })]
    #[non_exhaustive]
    InvalidDocument {
        /// The document.
        path: PathBuf,
        /// Its errors, in the order of the document.
        diagnostics: Vec<Diagnostic>,
        /// How many findings were left out because there were too many.
        suppressed: usize,
    },
    /// The document has no errors, but no API can be generated from it.
    #[error("{}", Findings { path, diagnostics, suppressed: 0 })]
    #[non_exhaustive]
    NoApi {
        /// The document.
        path: PathBuf,
        /// All reasons, in the order of the document where that is known.
        diagnostics: Vec<Diagnostic>,
    },
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// Findings about a file, as a compiler lists them.
struct Findings<'a> {
    path: &'a Path,
    diagnostics: &'a [Diagnostic],
    suppressed: usize,
}

impl fmt::Display for Findings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(f, "{path} has no GraphQL API")?;
        for diagnostic in self.diagnostics {
            let gap = if diagnostic.place.is_some() { "" } else { " " };
            write!(f, "\n{path}:{gap}{diagnostic}")?;
        }
        match self.suppressed {
            0 => Ok(()),
            suppressed => write!(f, "\nand {suppressed} further findings"),
        }
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
        instruct("warning", &format!("{}:{warning}", path.display()));
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
    warnings: Vec<Diagnostic>,
}

fn sdl(path: &Path, text: &str, kind: SdlKind, options: &ApiOptions) -> Result<Sdl, BuildError> {
    let loaded = soml_core::load(text);
    let (warnings, errors) = loaded
        .diagnostics
        .into_iter()
        .partition(|found| found.severity == Severity::Warning);
    let Some(soml) = loaded.schema else {
        return Err(BuildError::InvalidDocument {
            path: path.to_owned(),
            diagnostics: errors,
            suppressed: loaded.suppressed,
        });
    };
    let federation = match kind {
        SdlKind::Federation1 => FederationMode::V1,
        SdlKind::Federation2 => FederationMode::V2,
        SdlKind::Api | SdlKind::Full => FederationMode::Off,
    };
    let options = options.clone().with_federation(federation);
    let api = Api::new(Arc::new(soml), &options).map_err(|error| BuildError::NoApi {
        path: path.to_owned(),
        diagnostics: error.diagnostics(text),
    })?;
    let text = match kind {
        SdlKind::Api => api.sdl(),
        SdlKind::Full => api.full_sdl(),
        SdlKind::Federation1 | SdlKind::Federation2 => api.subgraph_sdl(federation),
    };
    Ok(Sdl { text, warnings })
}

#[cfg(test)]
mod tests {
    use soml_core::Code;
    use soml_core::span::Position;

    use super::*;
    use crate::typesystem::ProblemKind;

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

    /// A document that asks for all that is optional.
    const SKY: &str = "
id: /soml/sky
config: {enableCollectionCount: true, enableTypeCount: true, enableAggregates: true,
  enableConnections: true}
objects:
  Star: {extend: true, props: {planets: {range: Planet, max: inf}}}
  Planet: {props: {mass: {range: decimal}}}
";

    fn api(options: &ApiOptions) -> Api {
        let soml = soml_core::load(SKY).schema.expect("the document is valid");
        Api::new(Arc::new(soml), options).expect("the document has an API")
    }

    /// The service makes its API of `ApiOptions::default()`, and `_service` answers its prints.
    #[test]
    fn what_is_written_is_what_the_service_serves() {
        let served = ApiOptions::default();
        let written = |kind| print(SKY, kind).expect("the document has an API");
        assert_eq!(written(SdlKind::Api), api(&served).sdl());
        assert_eq!(written(SdlKind::Full), api(&served).full_sdl());
        for (kind, mode) in [
            (SdlKind::Federation1, FederationMode::V1),
            (SdlKind::Federation2, FederationMode::V2),
        ] {
            let api = api(&served.clone().with_federation(mode));
            assert_eq!(Some(written(kind)), api.service_sdl());
        }
        for part in [
            "planets_count",
            "star_aggregate",
            "starConnection",
            "_service",
        ] {
            assert!(written(SdlKind::Api).contains(part), "{part}");
        }
    }

    #[test]
    fn a_script_can_leave_out_what_nothing_reaches() {
        let options = ApiOptions::default().with_prune(true);
        let written = |options: &ApiOptions| {
            let sdl = sdl(Path::new("b.yaml"), SKY, SdlKind::Api, options);
            sdl.expect("the document has an API").text
        };
        assert_eq!(written(&options), api(&options).sdl());
        let left_out = "input Byte_Where ";
        assert!(written(&ApiOptions::default()).contains(left_out));
        assert!(!written(&options).contains(left_out));
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

    #[test]
    fn findings_are_data() {
        let fails = |text| {
            sdl(
                Path::new("b.yaml"),
                text,
                SdlKind::Api,
                &ApiOptions::default(),
            )
        };
        let text = "id: /soml/sky\nobjects:\n  Moon: {kind: abstrct}\n  Sun: {kind: concrte}\n";
        let Err(BuildError::InvalidDocument {
            path,
            diagnostics,
            suppressed,
            ..
        }) = fails(text)
        else {
            panic!("two kinds are unknown");
        };
        assert_eq!((path.as_path(), suppressed), (Path::new("b.yaml"), 0));
        let start = |found: &Diagnostic| found.place.map(|place| place.start);
        let found = diagnostics.iter();
        let found = found.map(|found| (found.code, start(found).expect("a place").line));
        let code = Code::UnknownKind.as_str();
        let expected = [(code, 3), (code, 4)];
        assert_eq!(found.collect::<Vec<_>>(), expected);

        let text = "id: /soml/sky\nobjects:\n  Moon:\n    props: {AND: {}}\n";
        let Err(BuildError::NoApi { diagnostics, .. }) = fails(text) else {
            panic!("a filter has a key of that name");
        };
        let found = diagnostics.iter().map(|found| (found.code, start(found)));
        let at = Position {
            line: 4,
            column: 13,
        };
        let expected = [(ProblemKind::FieldNameTaken.code(), Some(at))];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_with_the_cause() {
        let error = write_sdl("no/such/file.yaml", SdlKind::Api).expect_err("there is no file");
        assert_eq!(error.to_string(), "cannot read no/such/file.yaml");
        let cause = error.source().expect("the system says why").to_string();
        assert_eq!(format!("{error:?}"), format!("{error}: {cause}"));
    }
}
