//! The clause `match`: text as a combination of its terms, and of terms that are alike.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tantivy::Term as IndexTerm;

use super::alike::{Alike, MAX_EDITS};
use super::compile::{Compiler, Result};
use super::node::{BoolNode, Node};
use super::operand::text_of;
use super::pattern::Pattern;
use crate::dsl::{EXPANSIONS, Fuzziness, Match, Operator, Value, ZeroTerms};
use crate::embedded::error::failed;
use crate::embedded::layout::{Kind, Leaf};
use crate::engine::EngineError;

/// Maximum number of terms of a text.
const MAX_TERMS: usize = 1_024;

/// Bytes of text that are analysed in a step.
const BYTES_PER_STEP: usize = 16;

/// Memory of a similar term, beside its text.
const LIKENESS_MEMORY: usize = 64;

impl Compiler<'_> {
    pub(super) fn match_text(&self, clause: &Match, factor: f32, level: usize) -> Result<Node> {
        let Some(leaf) = self.layout.leaf(&clause.field) else {
            return Ok(Node::Nothing);
        };
        match (leaf.kind, clause.fuzziness) {
            (Kind::Text(analyzer), _) => {
                if let Value::Text(text) = &clause.query {
                    self.watch.steps(text.len() / BYTES_PER_STEP)?;
                }
                let terms = analyzer.analyze(&text_of(&clause.query)).tokens;
                if terms.len() > MAX_TERMS {
                    return Err(EngineError::Unsupported(format!(
                        "a text has more than {MAX_TERMS} terms"
                    )));
                }
                let nodes = terms
                    .iter()
                    .map(|term| self.word(clause, leaf, &term.text, factor));
                self.words(clause, nodes.collect::<Result<_>>()?, factor, level)
            }
            (Kind::Keyword, _) => self.word(clause, leaf, &text_of(&clause.query), factor),
            (_, Some(_)) if clause.lenient != Some(true) => Err(EngineError::Unsupported(format!(
                "fuzziness is for text, but the field `{}` has none",
                leaf.path
            ))),
            (_, Some(_)) => Ok(Node::Nothing),
            (_, None) => match self.value(leaf, &clause.query, factor) {
                Err(EngineError::Unsupported(_)) if clause.lenient == Some(true) => {
                    Ok(Node::Nothing)
                }
                node => node,
            },
        }
    }

    fn words(
        &self,
        clause: &Match,
        mut nodes: Vec<Node>,
        factor: f32,
        level: usize,
    ) -> Result<Node> {
        if nodes.len() <= 1 {
            let zero_terms = || match clause.zero_terms_query {
                Some(ZeroTerms::All) => Node::Level(level, factor),
                Some(ZeroTerms::None) | None => Node::Nothing,
            };
            return Ok(nodes.pop().unwrap_or_else(zero_terms));
        }
        let mut node = BoolNode::default();
        let minimum = clause.minimum_should_match.as_ref();
        match clause.operator {
            // As in OpenSearch, no word is optional then, so a minimum above 0 is never reached.
            Some(Operator::And) if minimum.is_some_and(|minimum| minimum.of(0) > 0) => {
                return Ok(Node::Nothing);
            }
            Some(Operator::And) => node.must = nodes,
            Some(Operator::Or) | None => {
                node.minimum = minimum.map_or(0, |minimum| minimum.of(nodes.len()));
                node.should = nodes;
            }
        }
        Ok(Node::Bool(node))
    }

    /// Matches one term of a text, and what it stands for.
    fn word(&self, clause: &Match, leaf: &Leaf, term: &str, factor: f32) -> Result<Node> {
        let length = term.chars().count();
        let edits = clause
            .fuzziness
            .unwrap_or(Fuzziness::Edits(0))
            .edits(length);
        if edits == 0 {
            return self.weighed(leaf, term, factor);
        }
        let prefix = clause.prefix_length.unwrap_or(0) as usize;
        let transpositions = clause.fuzzy_transpositions.unwrap_or(true);
        let alike = Alike::new(term, prefix, edits.min(MAX_EDITS), transpositions);
        let most = clause.max_expansions.unwrap_or(EXPANSIONS) as usize;
        let before = self.watch.used();
        let found = self.alike(leaf, &alike, length, most)?;
        if found.is_empty() {
            return Ok(Node::Nothing);
        }
        // Terms that are alike count as equally rare.
        let documents = found.values().copied().max().unwrap_or(0);
        let field = self.weighed_field(leaf)?;
        let held = self.watch.used() - before;
        let mut node = BoolNode::default();
        for Likeness { likeness, term } in found.into_keys() {
            let term = String::from_utf8_lossy(&term);
            let term = IndexTerm::from_field_text(leaf.field, &term);
            let factor = factor * likeness.max(0.0);
            node.should
                .push(self.term_of(&field, term, documents, factor)?);
        }
        self.watch.reuse(held);
        Ok(Node::Bool(node))
    }

    /// Returns the most similar terms, and how many documents have each.
    fn alike(
        &self,
        leaf: &Leaf,
        alike: &Alike,
        length: usize,
        most: usize,
    ) -> Result<BTreeMap<Likeness, u64>> {
        let mut found = BTreeMap::<Likeness, u64>::new();
        for segment in &self.snapshot.segments {
            self.watch.check()?;
            let index = segment.reader.inverted_index(leaf.field).map_err(failed)?;
            let search = index.terms().search(Pattern {
                pattern: alike,
                watch: self.watch,
            });
            let mut terms = search.into_stream().map_err(failed)?;
            while let Some((term, info)) = terms.next() {
                self.watch.step()?;
                let Some(errors) = alike.errors(term) else {
                    continue;
                };
                let likeness = Likeness::degree(term, errors, length);
                let last = found.last_key_value().filter(|_| found.len() >= most);
                if last.is_some_and(|(last, _)| last.order(likeness, term).is_lt()) {
                    continue;
                }
                let term = term.to_vec();
                let key = Likeness { likeness, term };
                let memory = key.memory();
                match found.entry(key) {
                    Entry::Occupied(mut known) => *known.get_mut() += u64::from(info.doc_freq),
                    Entry::Vacant(new) => {
                        self.watch.hold(memory)?;
                        new.insert(info.doc_freq.into());
                    }
                }
                if found.len() > most
                    && let Some((last, _)) = found.pop_last()
                {
                    self.watch.reuse(last.memory());
                }
            }
            self.watch.outcome()?;
        }
        Ok(found)
    }
}

/// How similar a term is, the most similar first; equally similar ones are in ascending order.
#[derive(Clone, Debug)]
struct Likeness {
    likeness: f32,
    term: Vec<u8>,
}

impl Likeness {
    /// Returns how similar a term is to one of so many characters.
    fn degree(term: &[u8], errors: u8, length: usize) -> f32 {
        if errors == 0 {
            return 1.0;
        }
        // All bytes of a character but the first begin with the bits 10.
        let own = term.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        1.0 - f32::from(errors) / own.min(length) as f32
    }

    fn order(&self, likeness: f32, term: &[u8]) -> Ordering {
        let by_likeness = likeness.total_cmp(&self.likeness);
        by_likeness.then_with(|| self.term.as_slice().cmp(term))
    }

    fn memory(&self) -> usize {
        LIKENESS_MEMORY + self.term.len()
    }
}

impl Ord for Likeness {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order(other.likeness, &other.term)
    }
}

impl PartialOrd for Likeness {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Likeness {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Likeness {}
