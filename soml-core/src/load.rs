//! Loading: from the text of a document to a validated schema.

use std::ops::Deref;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Findings, Severity};
use crate::options::LoadOptions;
use crate::schema::Schema;
use crate::span::{LineIndex, Span};
use crate::{check, raw, resolve, yaml};

/// The result of loading a document.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The schema, if the document has no errors.
    pub schema: Option<Valid<Schema>>,
    /// Errors and warnings, in the order of the document.
    pub diagnostics: Vec<Diagnostic>,
    /// Number of diagnostics beyond the limit, which are not listed.
    pub suppressed: usize,
}

impl Loaded {
    /// Returns the errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
    }

    /// Returns the warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Warning)
    }
}

/// A value that passed validation. Only this crate can construct one.
#[derive(Clone, Debug, PartialEq)]
pub struct Valid<T>(T);

impl<T> Valid<T> {
    /// Returns the value, without the proof of validity.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Valid<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> AsRef<T> for Valid<T> {
    fn as_ref(&self) -> &T {
        &self.0
    }
}

/// Loads a SOML document with the default limits.
///
/// Never panics and never fails: all errors and warnings are in [`Loaded::diagnostics`].
///
/// ```
/// let loaded = soml_core::load("id: /soml/films\nobjects:\n  Film: {props: {title: {min: 1}}}\n");
/// let schema = loaded.schema.expect("the document has no errors");
/// assert_eq!(schema.objects[0].name.graphql, "Film");
/// ```
#[must_use]
pub fn load(text: &str) -> Loaded {
    load_with(text, &LoadOptions::default())
}

/// Loads a SOML document with the given limits.
#[must_use]
pub fn load_with(text: &str, options: &LoadOptions) -> Loaded {
    let mut findings = Findings::new(options.max_findings);
    let schema = read(text, options, &mut findings)
        .filter(|_| !findings.has_errors())
        .map(Valid);
    let (diagnostics, suppressed) = findings.finish(&LineIndex::new(text));
    Loaded {
        schema,
        diagnostics,
        suppressed,
    }
}

fn read(text: &str, options: &LoadOptions, findings: &mut Findings) -> Option<Schema> {
    if text.len() > options.max_bytes.min(u32::MAX as usize) {
        let message = format!(
            "the document has {} bytes; at most {} are allowed",
            text.len(),
            options.max_bytes
        );
        findings.add(Code::LimitExceeded, Span::default(), message);
        return None;
    }
    let document = yaml::parse(text, options, findings)?;
    let raw = raw::read(&document, text, findings)?;
    let resolved = resolve::resolve(&raw, options, findings)?;
    check::check(&raw, &resolved, findings);
    Some(resolved.schema)
}
