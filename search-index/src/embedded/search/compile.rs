//! From clauses to what runs over segments: fields are looked up, text is analysed, terms are weighed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Bound as Limit;
use std::sync::Arc;

use tantivy::Term as IndexTerm;
use tantivy::schema::Field;

use super::node::{BoolNode, Node, TermNode};
use super::operand::{boolean_of, number, numbers, term_bound, text_of};
use super::pattern::IgnoringCase;
use super::similarity::{FieldScore, TermScore};
use super::source::Source;
use super::watch::Watch;
use crate::dsl::{
    Bool, Bound, DisMax, Exists, Nested, Prefix, Query, Range, ScoreMode, Term, Terms, Value,
};
use crate::embedded::error::failed;
use crate::embedded::layout::{Kind, Layout, Leaf};
use crate::embedded::snapshot::Snapshot;
use crate::engine::EngineError;

pub(super) type Result<T> = std::result::Result<T, EngineError>;

/// Compiles clauses for an index.
pub(super) struct Compiler<'c> {
    pub(super) layout: &'c Layout,
    pub(super) snapshot: &'c Snapshot,
    pub(super) watch: &'c Watch,
    /// The fields whose terms were weighed.
    fields: RefCell<HashMap<Field, WeighedField>>,
}

/// A field whose terms are weighed. Cheap to clone.
#[derive(Clone)]
pub(super) struct WeighedField {
    leaf: Arc<Leaf>,
    score: FieldScore,
}

/// Memory of a term, beside its text.
const TERM_MEMORY: usize = size_of::<Node>() + 64;

/// Returns the product of a factor and a boost.
pub(super) fn boosted(factor: f32, boost: Option<f64>) -> f32 {
    factor * boost.unwrap_or(1.0) as f32
}

impl<'c> Compiler<'c> {
    pub(super) fn new(layout: &'c Layout, snapshot: &'c Snapshot, watch: &'c Watch) -> Self {
        Compiler {
            layout,
            snapshot,
            watch,
            fields: RefCell::default(),
        }
    }

    /// Compiles a clause about documents of a level, whose scores are multiplied by `factor`.
    pub(super) fn compile(&self, query: &Query, factor: f32, level: usize) -> Result<Node> {
        self.watch.step()?;
        match query {
            Query::MatchAll { boost } => Ok(Node::Level(level, boosted(factor, *boost))),
            Query::MatchNone => Ok(Node::Nothing),
            Query::Bool(all) => self.all(all, boosted(factor, all.boost), level),
            Query::Match(text) => self.match_text(text, boosted(factor, text.boost), level),
            Query::Term(term) => self.term(term, boosted(factor, term.boost)),
            Query::Terms(terms) => self.terms(terms, boosted(factor, terms.boost)),
            Query::Range(range) => self.range(range, boosted(factor, range.boost)),
            Query::Exists(exists) => Ok(self.exists(exists, boosted(factor, exists.boost))),
            Query::Ids(ids) => {
                self.watch.steps(ids.values.len())?;
                let terms: Vec<_> = ids
                    .values
                    .iter()
                    .map(|id| id.clone().into_bytes())
                    .collect();
                self.hold_terms(&terms)?;
                let factor = boosted(factor, ids.boost);
                Ok(Node::Docs(
                    Source::Terms(self.layout.own.block, terms),
                    factor,
                ))
            }
            Query::Prefix(prefix) => self.prefix(prefix, boosted(factor, prefix.boost)),
            Query::ConstantScore { filter, boost } => {
                let node = self.compile(filter, 1.0, level)?;
                Ok(Node::Constant(Box::new(node), boosted(factor, *boost)))
            }
            Query::DisMax(best) => self.best(best, boosted(factor, best.boost), level),
            Query::Nested(nested) => self.nested(nested, factor, level),
        }
    }

    fn list(&self, queries: &[Query], factor: f32, level: usize) -> Result<Vec<Node>> {
        queries
            .iter()
            .map(|query| self.compile(query, factor, level))
            .collect()
    }

    fn all(&self, all: &Bool, factor: f32, level: usize) -> Result<Node> {
        let minimum = all.minimum_should_match.as_ref();
        let mut node = BoolNode {
            must: self.list(&all.must, factor, level)?,
            filter: self.list(&all.filter, factor, level)?,
            should: self.list(&all.should, factor, level)?,
            must_not: self.list(&all.must_not, factor, level)?,
            minimum: minimum.map_or(0, |minimum| minimum.of(all.should.len())),
        };
        let has_positive = !(all.must.is_empty() && all.filter.is_empty() && all.should.is_empty());
        if !has_positive {
            if all.must_not.is_empty() {
                return Ok(Node::Level(level, factor));
            }
            node.filter.push(Node::Level(level, 0.0));
            // OpenSearch loses it where nothing but `must_not` is there.
            node.minimum = 0;
        }
        if node.minimum > node.should.len() {
            return Ok(Node::Nothing);
        }
        Ok(Node::Bool(node))
    }

    fn best(&self, best: &DisMax, factor: f32, level: usize) -> Result<Node> {
        let nodes = self.list(&best.queries, factor, level)?;
        Ok(Node::Best(nodes, best.tie_breaker.unwrap_or(0.0) as f32))
    }

    fn nested(&self, nested: &Nested, factor: f32, above: usize) -> Result<Node> {
        let level = self.layout.level(&nested.path)?;
        if !self.layout.is_below(level, above) {
            return Err(EngineError::Unsupported(format!(
                "the nested objects `{}` are not below those of the clause around them",
                nested.path
            )));
        }
        let node = self.compile(&nested.query, factor, level)?;
        Ok(Node::Nested {
            node: Box::new(node),
            level,
            above,
            mode: nested.score_mode.unwrap_or(ScoreMode::Avg),
        })
    }

    fn term(&self, term: &Term, factor: f32) -> Result<Node> {
        let Some(leaf) = self.layout.leaf(&term.field) else {
            return Ok(Node::Nothing);
        };
        match leaf.kind {
            Kind::Text(_) | Kind::Keyword if term.case_insensitive => {
                let pattern = IgnoringCase::new(&text_of(&term.value), false);
                Ok(Node::Docs(
                    Source::IgnoringCase(leaf.field, pattern),
                    factor,
                ))
            }
            _ if term.case_insensitive => Err(EngineError::Unsupported(format!(
                "the values of the field `{}` have no case",
                leaf.path
            ))),
            _ => self.value(leaf, &term.value, factor),
        }
    }

    /// Matches one value of a field.
    pub(super) fn value(&self, leaf: &Leaf, value: &Value, factor: f32) -> Result<Node> {
        match leaf.kind {
            Kind::Text(_) | Kind::Keyword => self.weighed(leaf, &text_of(value), factor),
            Kind::Boolean => {
                let term = IndexTerm::from_field_u64(leaf.field, boolean_of(leaf, value)?.into());
                self.weighed_term(leaf, term, factor)
            }
            Kind::Integer(..) | Kind::Unsigned | Kind::Double => Ok(match number(leaf, value)? {
                Some(number) => Node::Docs(Source::Numbers(leaf.clone(), number..=number), factor),
                None => Node::Nothing,
            }),
        }
    }

    /// Matches a term of a field, as often as it is there.
    pub(super) fn weighed(&self, leaf: &Leaf, term: &str, factor: f32) -> Result<Node> {
        let term = IndexTerm::from_field_text(leaf.field, term);
        self.weighed_term(leaf, term, factor)
    }

    fn weighed_term(&self, leaf: &Leaf, term: IndexTerm, factor: f32) -> Result<Node> {
        let mut documents = 0;
        for segment in &self.snapshot.segments {
            self.watch.step()?;
            let index = segment.reader.inverted_index(leaf.field).map_err(failed)?;
            documents += u64::from(index.doc_freq(&term).map_err(failed)?);
        }
        match documents {
            0 => Ok(Node::Nothing),
            documents => self.term_of(&self.weighed_field(leaf)?, term, documents, factor),
        }
    }

    /// Returns a field with what its terms are weighed by.
    pub(super) fn weighed_field(&self, leaf: &Leaf) -> Result<WeighedField> {
        if let Some(known) = self.fields.borrow().get(&leaf.field) {
            return Ok(known.clone());
        }
        let (mut documents, mut terms) = (0, 0);
        for segment in &self.snapshot.segments {
            self.watch.check()?;
            let lengths = segment.lengths(leaf)?;
            documents += lengths.documents;
            terms += lengths.terms;
        }
        let weighed = WeighedField {
            leaf: Arc::new(leaf.clone()),
            score: FieldScore::new(documents, terms),
        };
        self.fields.borrow_mut().insert(leaf.field, weighed.clone());
        Ok(weighed)
    }

    /// Matches a term that is there, and counts as one of so many documents.
    pub(super) fn term_of(
        &self,
        field: &WeighedField,
        term: IndexTerm,
        documents: u64,
        factor: f32,
    ) -> Result<Node> {
        self.watch
            .hold(TERM_MEMORY + term.serialized_value_bytes().len())?;
        let is_text = matches!(field.leaf.kind, Kind::Text(_));
        Ok(Node::Term(TermNode {
            field: field.leaf.field,
            term,
            lengths: is_text.then(|| Arc::clone(&field.leaf)),
            score: TermScore::new(&field.score, documents, factor),
        }))
    }

    /// Counts the memory of terms as the index has them.
    fn hold_terms(&self, terms: &[Vec<u8>]) -> Result<()> {
        let bytes = terms.iter().map(Vec::len).sum::<usize>();
        self.watch.hold(bytes + size_of_val(terms))
    }

    fn terms(&self, terms: &Terms, factor: f32) -> Result<Node> {
        let Some(leaf) = self.layout.leaf(&terms.field) else {
            return Ok(Node::Nothing);
        };
        self.watch.steps(terms.values.len())?;
        let mut encoded: Vec<Vec<u8>> = Vec::with_capacity(terms.values.len());
        match leaf.kind {
            Kind::Boolean => return self.booleans(leaf, &terms.values, factor),
            Kind::Text(_) | Kind::Keyword => {
                encoded.extend(terms.values.iter().map(|value| text_of(value).into_bytes()));
            }
            Kind::Integer(..) | Kind::Unsigned | Kind::Double => {
                for value in &terms.values {
                    let number = number(leaf, value)?;
                    // The terms of numbers are these integers, the most significant byte first.
                    encoded.extend(number.map(|number| number.to_be_bytes().to_vec()));
                }
            }
        }
        encoded.sort_unstable();
        encoded.dedup();
        self.hold_terms(&encoded)?;
        Ok(Node::Docs(Source::Terms(leaf.field, encoded), factor))
    }

    /// Matches some of the two Booleans. One alone has the score of a term.
    fn booleans(&self, leaf: &Leaf, values: &[Value], factor: f32) -> Result<Node> {
        let mut wanted = [false; 2];
        for value in values {
            wanted[usize::from(boolean_of(leaf, value)?)] = true;
        }
        match wanted {
            [false, false] => Ok(Node::Nothing),
            [true, true] => Ok(Node::Docs(Source::Present(vec![leaf.clone()]), factor)),
            [_, value] => self.value(leaf, &Value::Boolean(value), factor),
        }
    }

    fn range(&self, range: &Range, factor: f32) -> Result<Node> {
        let Some(leaf) = self.layout.leaf(&range.field) else {
            return Ok(Node::Nothing);
        };
        let (lower, upper) = (range.lower.as_ref(), range.upper.as_ref());
        match leaf.kind {
            Kind::Text(_) | Kind::Keyword => {
                let source = Source::Between(leaf.field, term_bound(lower), term_bound(upper));
                Ok(Node::Docs(source, factor))
            }
            Kind::Boolean => self.between_booleans(leaf, lower, upper, factor),
            Kind::Integer(..) | Kind::Unsigned | Kind::Double => {
                let numbers = numbers(leaf, lower, upper)?;
                Ok(Node::Docs(Source::Numbers(leaf.clone(), numbers), factor))
            }
        }
    }

    fn between_booleans(
        &self,
        leaf: &Leaf,
        lower: Option<&Bound>,
        upper: Option<&Bound>,
        factor: f32,
    ) -> Result<Node> {
        let number = |bound: &Bound| boolean_of(leaf, &bound.value).map(u8::from);
        let least = match lower {
            Some(bound) => number(bound)? + u8::from(!bound.inclusive),
            None => 0,
        };
        let end = match upper {
            Some(bound) => number(bound)? + u8::from(bound.inclusive),
            None => 2,
        };
        let values: Vec<_> = (least..end)
            .map(|number| Value::Boolean(number == 1))
            .collect();
        self.booleans(leaf, &values, factor)
    }

    fn exists(&self, exists: &Exists, factor: f32) -> Node {
        let leaves = match self.layout.leaf(&exists.field) {
            Some(leaf) => vec![leaf.clone()],
            None => self.layout.under(&exists.field).cloned().collect(),
        };
        if leaves.is_empty() {
            Node::Nothing
        } else {
            Node::Docs(Source::Present(leaves), factor)
        }
    }

    fn prefix(&self, prefix: &Prefix, factor: f32) -> Result<Node> {
        let Some(leaf) = self.layout.leaf(&prefix.field) else {
            return Ok(Node::Nothing);
        };
        if !matches!(leaf.kind, Kind::Text(_) | Kind::Keyword) {
            let message = format!("the values of the field `{}` have no beginning", leaf.path);
            return Err(EngineError::Unsupported(message));
        }
        let source = if prefix.case_insensitive {
            Source::IgnoringCase(leaf.field, IgnoringCase::new(&prefix.value, true))
        } else {
            let lower = prefix.value.clone().into_bytes();
            // No byte of UTF-8 is as high as this one.
            let upper = [lower.as_slice(), &[0xff]].concat();
            let (lower, upper) = (Limit::Included(lower), Limit::Excluded(upper));
            Source::Between(leaf.field, lower, upper)
        };
        Ok(Node::Docs(source, factor))
    }
}
