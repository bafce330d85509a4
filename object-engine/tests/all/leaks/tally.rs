//! What the cases of a run were like, and what went wrong.

use std::fmt;

use serde_json::Value;

use super::case::Case;
use crate::differential::random_tests::setting;
use crate::differential::reference::{Answer, Graph, Ty};

/// Counts of cases.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) cases: usize,
    /// Some field was left out.
    removed: usize,
    refused: usize,
    /// There were objects that the caller must not see.
    hidden: usize,
    /// The answer held some object.
    found: usize,
    /// The store was asked under rights that leave some property out.
    watched: usize,
    /// The other set of data differed, where there was one.
    varied: Option<usize>,
    /// The share of answers that must hold some object.
    pub(crate) least_found: usize,
    failures: Vec<String>,
}

impl Tally {
    pub(crate) fn count(&mut self, case: &Case, expected: &Answer, actual: &Value) {
        self.cases += 1;
        let graph = Graph::new(&case.quads);
        let (model, triples) = (case.model(), graph.union());
        let nodes = triples.nodes();
        let is_hidden = |node: &String| {
            let shown = model.concrete(triples, node, Ty::Any);
            shown.is_some_and(|object| !model.sees(object))
        };
        self.hidden += usize::from(nodes.iter().any(is_hidden));
        match expected {
            Answer::Refused(_) => self.refused += 1,
            Answer::Data(_, _, removals) => self.removed += usize::from(!removals.is_empty()),
        }
        let data = actual.get("data").and_then(Value::as_object);
        let is_found = |root: &Value| match root {
            Value::Array(list) => list.iter().any(|item| !item.is_null()),
            Value::Object(_) => root["nodes"]
                .as_array()
                .is_some_and(|list| !list.is_empty()),
            _ => false,
        };
        self.found += usize::from(data.is_some_and(|data| data.values().any(is_found)));
        let record = case.record();
        self.watched += usize::from(!record.denied.is_empty() && record.calls > 0);
    }

    /// Counts a case with two sets of data.
    pub(crate) fn count_pair(&mut self, differs: bool) {
        *self.varied.get_or_insert_default() += usize::from(differs);
    }

    pub(crate) fn fail(&mut self, report: String) {
        self.failures.push(report);
        if self.failures.len() as u64 >= setting("ACCESS_FAILURES", 1) {
            self.check();
        }
    }

    fn share(&self, count: usize) -> usize {
        100 * count / self.cases.max(1)
    }

    /// Fails where some case did, or where too few could have.
    #[expect(clippy::print_stdout, reason = "the counts are for people to read")]
    pub(crate) fn check(&self) {
        println!("{self}");
        let (count, all) = (self.failures.len(), self.failures.join("\n"));
        assert!(count == 0, "{count} cases fail\n{all}");
        for (what, count, least) in [
            ("with fields left out", self.removed, 40),
            ("refused", self.refused, 10),
            ("with hidden objects", self.hidden, 20),
            (
                "with an answer that holds objects",
                self.found,
                self.least_found,
            ),
            ("with a store that is watched", self.watched, 33),
        ] {
            let share = self.share(count);
            assert!(share >= least, "only {share} % of the cases are {what}");
        }
        let varied = self.varied.is_none_or(|varied| self.share(varied) >= 60);
        assert!(varied, "too few cases have two different sets of data");
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cases: {} % with fields left out, {} % refused, {} % with hidden objects, \
             {} % found something, {} % watched",
            self.cases,
            self.share(self.removed),
            self.share(self.refused),
            self.share(self.hidden),
            self.share(self.found),
            self.share(self.watched)
        )?;
        match self.varied {
            Some(varied) => write!(f, ", {} % differ in what is hidden", self.share(varied)),
            None => Ok(()),
        }
    }
}
