//! The read set and the write set of a transaction on a plain endpoint: its own changes can be read before they are
//! written, and what it read is compared with the server when they are.

use std::collections::{HashMap, HashSet};

use oxrdf::{NamedNode, NamedOrBlankNode, Quad, Term};

use super::change::{BlankQuads, Shape, shape};
use super::terms::ground;
use crate::error::StoreError;
use crate::write::{QuadChange, QuadPattern};

/// What a transaction has read and what it is to write.
#[derive(Debug, Default)]
pub(super) struct ReadWriteSet {
    /// Those that were read.
    quads: HashSet<Quad>,
    pub(super) blank: BlankQuads,
    pub(super) covered: Covered,
    pub(super) change: QuadChange,
    added: HashSet<Quad>,
    removed: HashSet<Quad>,
    results: usize,
}

/// Of what all quads have been read.
#[derive(Debug, Default)]
pub(super) struct Covered {
    pub(super) subjects: HashSet<NamedNode>,
    pub(super) values: HashSet<(NamedNode, NamedNode)>,
    pub(super) links: HashSet<(NamedNode, NamedNode)>,
    pub(super) objects: HashSet<NamedNode>,
}

impl Covered {
    fn holds(&self, quad: &Quad) -> bool {
        let of_subject = match &quad.subject {
            NamedOrBlankNode::NamedNode(subject) => self.has_values(subject, &quad.predicate),
            NamedOrBlankNode::BlankNode(_) => false,
        };
        of_subject
            || matches!(&quad.object, Term::NamedNode(object) if self.has_links(&quad.predicate, object))
    }

    fn has_values(&self, subject: &NamedNode, predicate: &NamedNode) -> bool {
        self.subjects.contains(subject)
            || self.values.contains(&(subject.clone(), predicate.clone()))
    }

    fn has_links(&self, predicate: &NamedNode, object: &NamedNode) -> bool {
        self.objects.contains(object) || self.links.contains(&(predicate.clone(), object.clone()))
    }

    /// Returns whether all quads of a pattern are known, leaving aside those of subjects that it leads
    /// to.
    fn has(&self, pattern: &QuadPattern) -> bool {
        match pattern {
            QuadPattern::About(subject) => self.subjects.contains(subject),
            QuadPattern::Values { subject, predicate } => self.has_values(subject, predicate),
            QuadPattern::Links { predicate, object } => self.has_links(predicate, object),
            QuadPattern::Referrers { object, .. } => self.objects.contains(object),
        }
    }
}

impl ReadWriteSet {
    /// Returns which patterns must be read before [`ReadWriteSet::matching`] can answer for all.
    pub(super) fn missing(&self, patterns: &[QuadPattern]) -> Vec<QuadPattern> {
        let mut missing: Vec<QuadPattern> = Vec::new();
        let current = self.current();
        for pattern in patterns {
            if !self.covered.has(pattern) {
                missing.push(pattern.clone());
            } else if let QuadPattern::Referrers { object, also } = pattern {
                let values = current.values_of_referrers(object, also).into_iter();
                let values =
                    values.map(|(subject, predicate)| QuadPattern::Values { subject, predicate });
                missing.extend(values.filter(|values| !self.covered.has(values)));
            }
        }
        let mut seen = HashSet::new();
        missing.retain(|pattern| seen.insert(pattern.clone()));
        missing
    }

    /// Takes in what the server has for some patterns.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when it is not what the server had when it was read before.
    pub(super) fn learn(
        &mut self,
        patterns: &[QuadPattern],
        mut quads: Vec<Quad>,
    ) -> Result<(), StoreError> {
        self.results += 1;
        super::read::relabel(&mut quads, self.results);
        let mut blank = BlankQuads::default();
        blank.add(&quads);
        for (shape, found) in blank.iter() {
            match (self.blank.get(shape), found.iter().next()) {
                (Some(known), _) if known.len() != found.len() => return Err(StoreError::Conflict),
                (None, Some(quad)) if self.covered.holds(quad) => return Err(StoreError::Conflict),
                _ => {}
            }
        }
        let known: HashSet<Shape> = self.blank.iter().map(|(shape, _)| shape.clone()).collect();
        // What was read before keeps its labels.
        quads.retain(|quad| shape(quad).is_none_or(|shape| !known.contains(&shape)));
        for quad in &quads {
            let is_new = ground(quad).is_some() && !self.quads.contains(quad);
            if is_new && self.covered.holds(quad) {
                return Err(StoreError::Conflict);
            }
        }
        self.blank.add(&quads);
        self.quads.extend(quads);
        self.cover(patterns);
        Ok(())
    }

    fn cover(&mut self, patterns: &[QuadPattern]) {
        for pattern in patterns {
            let covered = &mut self.covered;
            match pattern.clone() {
                QuadPattern::About(subject) => {
                    covered.subjects.insert(subject);
                }
                QuadPattern::Values { subject, predicate } => {
                    covered.values.insert((subject, predicate));
                }
                QuadPattern::Links { predicate, object } => {
                    covered.links.insert((predicate, object));
                }
                QuadPattern::Referrers { object, .. } => {
                    covered.objects.insert(object);
                }
            }
        }
        let referrers: Vec<_> = patterns
            .iter()
            .filter_map(|pattern| match pattern {
                QuadPattern::Referrers { object, also } => Some((object, also)),
                _ => None,
            })
            .collect();
        if referrers.is_empty() {
            return;
        }
        let as_read = Index::of(self.quads.iter());
        for (object, also) in referrers {
            let values = as_read.values_of_referrers(object, also);
            self.covered.values.extend(values);
        }
    }

    /// Adds a change to what is applied.
    pub(super) fn apply(&mut self, change: QuadChange) {
        self.change = std::mem::take(&mut self.change).then(change);
        self.added = self.change.added.iter().cloned().collect();
        self.removed = self.change.removed.iter().cloned().collect();
    }

    /// Returns the quads of patterns, all of which have been read, with what was applied.
    pub(super) fn matching(&self, patterns: &[QuadPattern]) -> Vec<Quad> {
        let current = self.current();
        let mut found: Vec<&Quad> = Vec::new();
        for pattern in patterns {
            match pattern {
                QuadPattern::About(subject) => found.extend(current.about(subject)),
                QuadPattern::Values { subject, predicate } => {
                    let about = current.about(subject);
                    found.extend(about.filter(|quad| quad.predicate == *predicate));
                }
                QuadPattern::Links { predicate, object } => {
                    let links = current.leading_to(object);
                    found.extend(links.filter(|quad| quad.predicate == *predicate));
                }
                QuadPattern::Referrers { object, also } => {
                    found.extend(current.leading_to(object));
                    for (subject, predicate) in current.values_of_referrers(object, also) {
                        let about = current.by_subject.get(&subject).into_iter().flatten();
                        found.extend(about.filter(|quad| quad.predicate == predicate));
                    }
                }
            }
        }
        let mut seen = HashSet::new();
        found.retain(|quad| seen.insert(*quad));
        found.into_iter().cloned().collect()
    }

    /// Returns the quads without blank nodes as they were read.
    pub(super) fn ground(&self) -> impl Iterator<Item = &Quad> {
        self.quads.iter().filter(|quad| ground(quad).is_some())
    }

    fn current(&self) -> Index<'_> {
        let read = self
            .quads
            .iter()
            .filter(|quad| !self.removed.contains(*quad));
        let read = read.filter(|quad| !self.added.contains(*quad));
        Index::of(read.chain(&self.change.added))
    }
}

/// Quads by their ends.
#[derive(Default)]
struct Index<'q> {
    by_subject: HashMap<NamedNode, Vec<&'q Quad>>,
    by_object: HashMap<NamedNode, Vec<&'q Quad>>,
}

impl<'q> Index<'q> {
    fn of(quads: impl Iterator<Item = &'q Quad>) -> Self {
        let mut index = Index::default();
        for quad in quads {
            if let NamedOrBlankNode::NamedNode(subject) = &quad.subject {
                index
                    .by_subject
                    .entry(subject.clone())
                    .or_default()
                    .push(quad);
            }
            if let Term::NamedNode(object) = &quad.object {
                index
                    .by_object
                    .entry(object.clone())
                    .or_default()
                    .push(quad);
            }
        }
        index
    }

    fn about(&self, subject: &NamedNode) -> impl Iterator<Item = &'q Quad> {
        self.by_subject.get(subject).into_iter().flatten().copied()
    }

    fn leading_to(&self, object: &NamedNode) -> impl Iterator<Item = &'q Quad> {
        self.by_object.get(object).into_iter().flatten().copied()
    }

    /// Returns the subjects of quads with an object, and the predicates that are read of each.
    fn values_of_referrers(
        &self,
        object: &NamedNode,
        also: &[NamedNode],
    ) -> HashSet<(NamedNode, NamedNode)> {
        let mut pairs = HashSet::new();
        for quad in self.leading_to(object) {
            if let NamedOrBlankNode::NamedNode(subject) = &quad.subject {
                pairs.insert((subject.clone(), quad.predicate.clone()));
                let also = also
                    .iter()
                    .map(|further| (subject.clone(), further.clone()));
                pairs.extend(also);
            }
        }
        pairs
    }
}
