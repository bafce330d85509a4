//! Makes sure that a document is valid before anyone sees it.
//!
//! Which names are taken is asked of those who know: the document is loaded and its API generated, as
//! if it were served. What they refuse is renamed, and if that does not help, left out with a comment.

use std::sync::Arc;

use graphql_gen::typesystem::{Api, ApiError, ApiOptions, FederationMode};
use soml_core::span::Span;
use soml_core::{Code, Diagnostic, LoadOptions};

use super::error::InferError;
use super::name::Renames;
use super::statistics::Statistics;
use super::yaml::{Draft, Element, ElementKind, document as draft};
use super::{InferOptions, Inferred};

/// How often a document is written at most.
const MAX_ROUNDS: usize = 40;

/// From which round on what is refused is left out.
const LAST_RENAMING: usize = 20;

/// How often one class or property is renamed before it is left out.
const MAX_RENAMES: usize = 3;

/// Maximum number of findings that are looked at in one round.
const MAX_FINDINGS: usize = 100_000;

/// Something that makes a document invalid.
struct Fault {
    /// Where it is, best first.
    spans: Vec<Span>,
    message: String,
    /// There is more in the document than one may have.
    is_limit: bool,
}

/// Writes a valid document.
///
/// # Errors
/// When something is wrong that belongs to no class and no property.
pub(super) fn document(
    mut statistics: Statistics,
    options: &InferOptions,
) -> Result<Inferred, InferError> {
    let mut repair = Repair::default();
    let mut last = String::new();
    for round in 0..MAX_ROUNDS {
        let draft = draft(&statistics, options, &repair.renames, &repair.notes);
        let faults = faults(&draft);
        let Some(first) = faults.first() else {
            return Ok(Inferred {
                yaml: draft.yaml,
                objects: draft.objects,
                properties: draft.properties,
                ontology_classes: statistics.ontology_classes,
            });
        };
        last.clone_from(&first.message);
        repair.mend(&faults, &draft, &mut statistics, round)?;
    }
    Err(InferError::Invalid { finding: last })
}

/// Finds everything for which a document would be refused.
fn faults(draft: &Draft) -> Vec<Fault> {
    let limits = LoadOptions {
        max_findings: MAX_FINDINGS,
        ..LoadOptions::default()
    };
    let loaded = soml_core::load_with(&draft.yaml, &limits);
    let errors: Vec<Fault> = loaded.errors().map(Fault::of_document).collect();
    let Some(schema) = loaded.schema else {
        return errors;
    };
    // With all that a service may be asked for, so that it stays valid where that is switched on.
    let options = ApiOptions::default()
        .with_mutations(true)
        .with_federation(FederationMode::V2);
    match Api::new(Arc::new(schema), &options) {
        Ok(_) => Vec::new(),
        Err(error) => Fault::of_api(&error),
    }
}

impl Fault {
    fn of_document(found: &Diagnostic) -> Self {
        let places = found.labels.iter().map(|label| label.place);
        let places = found.place.into_iter().chain(places);
        Fault {
            spans: places.map(|place| place.span).collect(),
            message: format!("error[{}]: {}", found.code, found.message),
            is_limit: found.code == Code::LimitExceeded.as_str(),
        }
    }

    fn of_api(error: &ApiError) -> Vec<Self> {
        let problems = error.problems.iter();
        problems
            .map(|problem| {
                let related = problem.labels.iter().map(|(span, _)| *span);
                Fault {
                    spans: problem.span.into_iter().chain(related).collect(),
                    message: format!("error[{}]: {}", problem.code, problem.message),
                    is_limit: false,
                }
            })
            .collect()
    }

    /// Returns what has to change: of several, the one whose name is what is generated for another, which is
    /// the longest.
    fn culprit<'d>(&self, draft: &'d Draft) -> Option<&'d Element> {
        let places = self.spans.iter().map(|span| span.start as usize);
        let elements: Vec<&Element> = places.filter_map(|at| draft.element(at)).collect();
        let longest = elements.iter().map(|element| element.name.len()).max()?;
        let mut elements = elements.into_iter();
        elements.find(|element| element.name.len() == longest)
    }
}

/// What is changed so that a document becomes valid.
#[derive(Default)]
struct Repair {
    renames: Renames,
    /// What was left out.
    notes: Vec<String>,
}

impl Repair {
    fn mend(
        &mut self,
        faults: &[Fault],
        draft: &Draft,
        statistics: &mut Statistics,
        round: usize,
    ) -> Result<(), InferError> {
        if let Some(limit) = faults.iter().find(|fault| fault.is_limit) {
            return self.shrink(limit, statistics);
        }
        let mut culprits: Vec<(&Element, &Fault)> = Vec::new();
        for fault in faults {
            let culprit = fault.culprit(draft).ok_or_else(|| fault.error())?;
            culprits.push((culprit, fault));
        }
        culprits.sort_by_key(|(element, _)| *element);
        culprits.dedup_by_key(|(element, _)| *element);
        for (element, fault) in culprits {
            let renames = match element.kind {
                ElementKind::Class => &mut self.renames.classes,
                ElementKind::Property => &mut self.renames.properties,
            };
            let renamed = renames.entry(element.iri.clone()).or_default();
            *renamed += 1;
            if *renamed > MAX_RENAMES || round >= LAST_RENAMING {
                match element.kind {
                    ElementKind::Class => statistics.remove_class(&element.iri),
                    ElementKind::Property => statistics.remove_property(&element.iri),
                }
                let message = first_line(&fault.message);
                self.notes
                    .push(format!("<{}> is left out: {message}", element.iri));
            }
        }
        Ok(())
    }

    /// Leaves out half of the classes.
    fn shrink(&mut self, limit: &Fault, statistics: &mut Statistics) -> Result<(), InferError> {
        let removed = statistics.keep_largest(statistics.classes.len() / 2);
        if removed == 0 {
            return Err(limit.error());
        }
        let message = first_line(&limit.message);
        self.notes.push(format!(
            "{removed} classes with the fewest instances are left out: {message}"
        ));
        Ok(())
    }
}

impl Fault {
    fn error(&self) -> InferError {
        InferError::Invalid {
            finding: self.message.clone(),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
