//! Reads whole quads, for writers.

use std::collections::HashSet;
use std::ops::ControlFlow;

use indexmap::IndexSet;
use oxrdf::{NamedNode, NamedOrBlankNode, Quad};

use super::source::{Pattern, QuadSource};
use super::walk::Walker;
use crate::error::StoreError;
use crate::write::QuadPattern;

impl<S: QuadSource> Walker<'_, S> {
    /// Returns the quads of some patterns, each once.
    pub(crate) fn statements(&self, patterns: &[QuadPattern]) -> Result<Vec<Quad>, StoreError> {
        self.context.count_call();
        let begun = self.begun();
        self.check()?;
        let mut found = Found {
            walker: self,
            quads: IndexSet::new(),
        };
        for pattern in patterns {
            found.add(pattern)?;
        }
        let quads: Vec<Quad> = found.quads.into_iter().collect();
        self.settle()?;
        self.record("statements", quads.len(), begun);
        Ok(quads)
    }
}

/// Quads so far, each once.
struct Found<'f, 'a, S: QuadSource> {
    walker: &'f Walker<'a, S>,
    quads: IndexSet<Quad>,
}

impl<S: QuadSource> Found<'_, '_, S> {
    fn add(&mut self, pattern: &QuadPattern) -> Result<(), StoreError> {
        match pattern {
            QuadPattern::About(subject) => self.scan(Pattern {
                subject: Some(subject.as_ref()),
                ..Pattern::default()
            }),
            QuadPattern::Values { subject, predicate } => self.scan(Pattern {
                subject: Some(subject.as_ref()),
                predicate: Some(predicate.as_ref()),
                ..Pattern::default()
            }),
            QuadPattern::Links { predicate, object } => self.scan(Pattern {
                predicate: Some(predicate.as_ref()),
                object: Some(object.into()),
                ..Pattern::default()
            }),
            QuadPattern::Referrers { object, also } => self.referrers(object, also),
        }
    }

    fn referrers(&mut self, object: &NamedNode, also: &[NamedNode]) -> Result<(), StoreError> {
        let mut around: HashSet<(NamedNode, NamedNode)> = HashSet::new();
        let pattern = Pattern {
            object: Some(object.into()),
            ..Pattern::default()
        };
        let walker = self.walker;
        walker.each(
            |graph| walker.source.quads(pattern, graph),
            |quad| {
                if let NamedOrBlankNode::NamedNode(subject) = &quad.subject {
                    let properties = also.iter().chain([&quad.predicate]);
                    around.extend(properties.map(|property| (subject.clone(), property.clone())));
                }
                self.take(quad);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        for (subject, predicate) in &around {
            self.scan(Pattern {
                subject: Some(subject.as_ref()),
                predicate: Some(predicate.as_ref()),
                ..Pattern::default()
            })?;
        }
        Ok(())
    }

    fn scan(&mut self, pattern: Pattern<'_>) -> Result<(), StoreError> {
        let walker = self.walker;
        walker.each(
            |graph| walker.source.quads(pattern, graph),
            |quad| {
                self.take(quad);
                Ok(ControlFlow::Continue(()))
            },
        )
    }

    fn take(&mut self, quad: Quad) {
        if !self.quads.contains(&quad) {
            self.walker.keep_quad(&quad);
            self.quads.insert(quad);
        }
    }
}
