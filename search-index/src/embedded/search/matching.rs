//! The clause `match`: text as a combination of its terms, and of terms that are alike.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use tantivy::Term as IndexTerm;

use super::compile::{Compiler, Result};
use super::node::{BoolNode, Node};
use super::operand::text_of;
use super::pattern::{Alike, Pattern};
use crate::dsl::{Fuzziness, Match, Operator, ZeroTerms};
use crate::embedded::error::failed;
use crate::embedded::layout::{Kind, Leaf};
use crate::engine::EngineError;

/// Maximum number of terms of a text.
const MAX_TERMS: usize = 1_024;

/// How many terms a term stands for unless a clause says otherwise.
const EXPANSIONS: u32 = 50;

impl Compiler<'_> {
    pub(super) fn match_text(&self, clause: &Match, factor: f32, level: usize) -> Result<Node> {
        let Some(leaf) = self.layout.leaf(&clause.field) else {
            return Ok(Node::Nothing);
        };
        match (leaf.kind, clause.fuzziness) {
            (Kind::Text(analyzer), _) => {
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
                "typing errors are for text, and the field `{}` has none",
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
        let alike = Alike::new(term, prefix, edits.min(2), transpositions);
        let most = clause.max_expansions.unwrap_or(EXPANSIONS) as usize;
        let found = self.alike(leaf, &alike, length, most)?;
        // Terms that are alike count as equally rare.
        let documents = found.values().copied().max().unwrap_or(0);
        let mut node = BoolNode::default();
        for Likeness { likeness, term } in found.into_keys() {
            let term = String::from_utf8_lossy(&term).into_owned();
            let term = IndexTerm::from_field_text(leaf.field, &term);
            let factor = factor * likeness.max(0.0);
            node.should
                .push(self.weighed_term(leaf, term, factor, Some(documents))?);
        }
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
        let mut found = BTreeMap::new();
        for segment in &self.snapshot.segments {
            self.watch.check()?;
            let index = segment.reader.inverted_index(leaf.field).map_err(failed)?;
            let search = index.terms().search(Pattern(alike));
            let mut terms = search.into_stream().map_err(failed)?;
            while let Some((term, info)) = terms.next() {
                self.watch.step()?;
                let likeness = Likeness::of(term, alike.errors(term), length);
                *found.entry(likeness).or_insert(0) += u64::from(info.doc_freq);
                if found.len() > most {
                    found.pop_last();
                }
            }
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
    fn of(term: &[u8], errors: u8, length: usize) -> Self {
        let likeness = match errors {
            0 => 1.0,
            errors => {
                let own = String::from_utf8_lossy(term).chars().count();
                1.0 - f32::from(errors) / own.min(length) as f32
            }
        };
        Likeness {
            likeness,
            term: term.to_vec(),
        }
    }
}

impl Ord for Likeness {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_likeness = other.likeness.total_cmp(&self.likeness);
        by_likeness.then_with(|| self.term.cmp(&other.term))
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
