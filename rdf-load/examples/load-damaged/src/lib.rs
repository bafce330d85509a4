//! Loads RDF files as far as they can be read.

use std::path::PathBuf;
use std::sync::Arc;

use graph_store::image::{ImageBuilder, ImageStore};
use rdf_load::{Finding, LoadError, LoadObserver, LoadOptions, LoadSummary, load_files};

/// What could be read of some files, and what could not.
pub struct Loaded {
    /// The statements.
    pub store: Arc<ImageStore>,
    /// How many there are.
    pub summary: LoadSummary,
    /// What could not be read.
    pub findings: Vec<Finding>,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl LoadObserver for Findings {
    fn finding(&mut self, finding: &Finding) {
        self.0.push(finding.clone());
    }

    fn progress(&mut self, _bytes: u64, _statements: u64) {}
}

/// Loads files into memory.
///
/// # Errors
/// When a file cannot be read to its end; nothing is loaded then.
pub fn load(files: &[PathBuf]) -> Result<Loaded, LoadError> {
    let image = ImageBuilder::new().build().map_err(LoadError::Image)?;
    let store = Arc::new(ImageStore::new(image));
    let mut findings = Findings::default();
    let summary = load_files(store.as_ref(), files, &LoadOptions::default(), &mut findings)?;
    Ok(Loaded {
        store,
        summary,
        findings: findings.0,
    })
}
