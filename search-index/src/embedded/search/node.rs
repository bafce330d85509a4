//! Clauses, ready to run over any segment of an index.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use tantivy::Term;
use tantivy::columnar::Column;
use tantivy::schema::{Field, IndexRecordOption};

use super::joined::Joined;
use super::scorer::{All, Any, BoxScorer, Combined, Constant, Docs, Optional, Scored, Without};
use super::similarity::{TermScore, TermScorer};
use super::source::Source;
use super::watch::Watch;
use crate::dsl::ScoreMode;
use crate::embedded::error::failed;
use crate::embedded::layout::Leaf;
use crate::embedded::snapshot::Segment;
use crate::engine::EngineError;

/// A clause.
pub(super) enum Node {
    /// Nothing.
    Nothing,
    /// All documents of a level.
    Level(usize, f32),
    /// Documents with a term.
    Term(TermNode),
    /// Documents that all have the same score.
    Docs(Source, f32),
    /// What another clause matches, with the same score.
    Constant(Box<Node>, f32),
    /// A combination of clauses.
    Bool(BoolNode),
    /// The best of some clauses.
    Best(Vec<Node>, f32),
    /// Documents of `above` with one of `level` that matches.
    Nested {
        node: Box<Node>,
        level: usize,
        above: usize,
        mode: ScoreMode,
    },
}

/// Documents with a term.
pub(super) struct TermNode {
    pub(super) field: Field,
    pub(super) term: Term,
    /// The field, where its lengths count.
    pub(super) lengths: Option<Arc<Leaf>>,
    pub(super) score: TermScore,
}

/// A combination of clauses.
#[derive(Default)]
pub(super) struct BoolNode {
    pub(super) must: Vec<Node>,
    pub(super) filter: Vec<Node>,
    pub(super) should: Vec<Node>,
    pub(super) must_not: Vec<Node>,
    /// How many of `should` have to match.
    pub(super) minimum: usize,
}

/// Runs clauses over a segment.
pub(super) struct Runner<'s> {
    segment: &'s Segment,
    watch: &'s Watch,
    /// The lengths of fields, which take a while to open.
    lengths: RefCell<HashMap<Field, Option<Column<u64>>>>,
}

/// Memory of the documents with a term while they are read: a block of them, and how often each has it.
const POSTINGS_MEMORY: usize = 2_560;

/// Steps that it takes to open them.
const POSTINGS_STEPS: usize = 8;

impl<'s> Runner<'s> {
    pub(super) fn new(segment: &'s Segment, watch: &'s Watch) -> Self {
        Runner {
            segment,
            watch,
            lengths: RefCell::default(),
        }
    }

    /// Returns the documents that a clause matches, deleted ones among them; `None` if there are none.
    pub(super) fn scorer(
        &self,
        node: &Node,
        with_scores: bool,
    ) -> Result<Option<BoxScorer<'s>>, EngineError> {
        self.watch.step()?;
        Ok(match node {
            Node::Nothing => None,
            Node::Level(level, score) => {
                let bits = self.segment.level(*level)?;
                let docs = Docs::Bits(Cow::Borrowed(bits), bits.count());
                Some(Box::new(Constant::new(docs, *score)))
            }
            Node::Term(term) => self.term(term, with_scores)?,
            Node::Docs(source, score) => {
                let docs = source.docs(self.segment, self.watch)?;
                docs.map(|docs| Box::new(Constant::new(docs, *score)) as BoxScorer<'s>)
            }
            Node::Constant(node, score) => self
                .scorer(node, false)?
                .map(|scorer| Box::new(Scored(scorer, *score)) as BoxScorer<'s>),
            Node::Bool(all) => self.all(all, with_scores)?,
            Node::Best(nodes, others) => {
                self.any(nodes, 1, Combined::Best(*others), with_scores)?
            }
            Node::Nested {
                node,
                level,
                above,
                mode,
            } => {
                let children = self.scorer(node, with_scores && *mode != ScoreMode::None)?;
                let (level, parents) = (self.segment.level(*level)?, self.segment.level(*above)?);
                children.map(|children| {
                    let scores = with_scores.then_some(*mode);
                    let joined = Joined::new(children, level, parents, scores, self.watch);
                    Box::new(joined) as BoxScorer<'s>
                })
            }
        })
    }

    fn term(
        &self,
        node: &TermNode,
        with_scores: bool,
    ) -> Result<Option<BoxScorer<'s>>, EngineError> {
        let index = self
            .segment
            .reader
            .inverted_index(node.field)
            .map_err(failed)?;
        let lengths = node.lengths.as_ref().filter(|_| with_scores);
        let option = match lengths {
            Some(_) => IndexRecordOption::WithFreqs,
            None => IndexRecordOption::Basic,
        };
        let Some(postings) = index.read_postings(&node.term, option).map_err(failed)? else {
            return Ok(None);
        };
        self.watch.hold(POSTINGS_MEMORY)?;
        self.watch.steps(POSTINGS_STEPS)?;
        let lengths = match lengths {
            Some(leaf) => self.lengths(leaf)?,
            None => None,
        };
        Ok(Some(Box::new(TermScorer::new(
            postings,
            lengths,
            node.score.clone(),
        ))))
    }

    fn lengths(&self, leaf: &Leaf) -> Result<Option<Column<u64>>, EngineError> {
        if let Some(known) = self.lengths.borrow().get(&leaf.field) {
            return Ok(known.clone());
        }
        let lengths = self.segment.numbers(leaf)?;
        self.lengths
            .borrow_mut()
            .insert(leaf.field, lengths.clone());
        Ok(lengths)
    }

    fn any(
        &self,
        nodes: &[Node],
        minimum: usize,
        combined: Combined,
        with_scores: bool,
    ) -> Result<Option<BoxScorer<'s>>, EngineError> {
        let mut parts = Vec::with_capacity(nodes.len());
        for node in nodes {
            parts.extend(self.scorer(node, with_scores)?);
        }
        Ok(match parts.len() {
            found if found < minimum.max(1) => None,
            1 => parts.pop(),
            _ => Some(Box::new(Any::new(parts, minimum, combined, self.watch))),
        })
    }

    fn all(
        &self,
        node: &BoolNode,
        with_scores: bool,
    ) -> Result<Option<BoxScorer<'s>>, EngineError> {
        let mut required = Vec::new();
        for must in &node.must {
            match self.scorer(must, with_scores)? {
                Some(scorer) => required.push((scorer, true)),
                None => return Ok(None),
            }
        }
        for filter in &node.filter {
            match self.scorer(filter, false)? {
                Some(scorer) => required.push((scorer, false)),
                None => return Ok(None),
            }
        }
        let is_optional = node.minimum == 0 && !required.is_empty();
        let mut optional = None;
        if !node.should.is_empty() || node.minimum > 0 {
            let should = self.any(&node.should, node.minimum, Combined::Sum, with_scores)?;
            match should {
                should if is_optional => optional = should.filter(|_| with_scores),
                Some(should) => required.push((should, true)),
                None => return Ok(None),
            }
        }
        if required.is_empty() {
            return Ok(None);
        }
        let mut scorer: BoxScorer<'s> = match required.as_slice() {
            [(_, true)] => required.remove(0).0,
            _ => Box::new(All::new(required, self.watch)),
        };
        if let Some(excluded) = self.any(&node.must_not, 1, Combined::Sum, false)? {
            scorer = Box::new(Without::new(scorer, excluded, self.watch));
        }
        if let Some(optional) = optional {
            scorer = Box::new(Optional::new(scorer, optional));
        }
        Ok(Some(scorer))
    }
}
