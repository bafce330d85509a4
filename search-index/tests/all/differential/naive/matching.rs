//! What clauses match, and how well.

use search_index::dsl::{
    Bool, Bound, DisMax, Fuzziness, Match, MinimumShouldMatch, Nested, Operator, Query, Range,
    ScoreMode, Term, Terms, Value, ZeroTerms,
};

use super::fields::{FieldInfo, Fields, Kind};
use super::similarity::{Statistics, score};
use super::tree::{Cell, Node};
use super::words::words;

/// What matching needs to know of an index.
#[derive(Clone, Copy)]
pub(crate) struct Matcher<'i> {
    pub(crate) fields: &'i Fields,
    pub(crate) statistics: &'i Statistics,
}

impl Matcher<'_> {
    /// Scores a document or a nested object; `None` if it does not match.
    pub(crate) fn score(self, node: &Node, query: &Query) -> Option<f32> {
        match query {
            Query::MatchAll { boost } => constant(true, *boost),
            Query::MatchNone => None,
            Query::Bool(all) => self.combination(node, all),
            Query::Match(text) => self.text(node, text),
            Query::Term(term) => self.term(node, term),
            Query::Terms(terms) => self.terms(node, terms),
            Query::Range(range) => constant(self.is_in(node, range), range.boost),
            Query::Exists(exists) => {
                constant(node.values.contains_key(&exists.field), exists.boost)
            }
            // A nested object has the id of its document.
            Query::Ids(ids) => constant(ids.values.contains(&node.id), ids.boost),
            Query::Prefix(prefix) => {
                let is_wanted = |cell: &Cell| match cell {
                    Cell::Text(text) if prefix.case_insensitive => {
                        let (text, wanted) = (text.as_bytes(), prefix.value.as_bytes());
                        let start = text.get(..wanted.len());
                        start.is_some_and(|start| start.eq_ignore_ascii_case(wanted))
                    }
                    Cell::Text(text) => text.starts_with(&prefix.value),
                    _ => false,
                };
                constant(
                    node.cells(&prefix.field).iter().any(is_wanted),
                    prefix.boost,
                )
            }
            Query::ConstantScore { filter, boost } => {
                constant(self.score(node, filter).is_some(), *boost)
            }
            Query::DisMax(best) => self.best(node, best),
            Query::Nested(nested) => self.nested(node, nested),
            other => panic!("the naive judge does not know {other:?}"),
        }
    }

    fn field(&self, name: &str) -> &FieldInfo {
        self.fields
            .get(name)
            .unwrap_or_else(|| panic!("there is no field {name}"))
    }

    fn combination(self, node: &Node, all: &Bool) -> Option<f32> {
        let lists = [&all.must, &all.filter, &all.should, &all.must_not];
        if lists.iter().all(|list| list.is_empty()) {
            return constant(true, all.boost);
        }
        let matches = |query: &&Query| self.score(node, query).is_some();
        if all.must_not.iter().any(|query| matches(&query))
            || !all.filter.iter().all(|query| matches(&query))
        {
            return None;
        }
        let must: Vec<Option<f32>> = all
            .must
            .iter()
            .map(|query| self.score(node, query))
            .collect();
        let must: Vec<f32> = must.into_iter().collect::<Option<_>>()?;
        let should: Vec<f32> = all
            .should
            .iter()
            .filter_map(|query| self.score(node, query))
            .collect();
        let default =
            usize::from(!all.should.is_empty() && all.must.is_empty() && all.filter.is_empty());
        let is_negative = all.must.is_empty() && all.filter.is_empty() && all.should.is_empty();
        let minimum = all.minimum_should_match.as_ref();
        // Lost where nothing but `must_not` is there.
        let minimum = minimum.filter(|_| !is_negative);
        let wanted = wanted(minimum, all.should.len(), default);
        if should.len() < wanted {
            return None;
        }
        Some(sum(must.into_iter().chain(should)) * factor(all.boost))
    }

    /// Matches text by its words, and everything else by its value.
    fn text(self, node: &Node, clause: &Match) -> Option<f32> {
        let field = self.field(&clause.field);
        let wanted_words = match (&field.kind, &clause.query) {
            (Kind::Text(analyzer), Value::Text(text)) => words(analyzer, text),
            (kind, value) => {
                let found = score(
                    node,
                    (&clause.field, field),
                    &cell(value, kind),
                    self.statistics,
                );
                return found.map(|score| score * factor(clause.boost));
            }
        };
        assert!(
            matches!(clause.fuzziness, None | Some(Fuzziness::Edits(0))),
            "fuzzy clauses are refused before"
        );
        let scores: Vec<Option<f32>> = wanted_words
            .into_iter()
            .map(|word| {
                score(
                    node,
                    (&clause.field, field),
                    &Cell::Text(word),
                    self.statistics,
                )
            })
            .collect();
        let minimum = clause.minimum_should_match.as_ref();
        let is_match = match scores.as_slice() {
            [] => {
                let all = clause.zero_terms_query == Some(ZeroTerms::All);
                return constant(all, clause.boost);
            }
            // One word is no combination, so nothing counts.
            [one] => one.is_some(),
            // With `and`, no word is optional, and a minimum above 0 is never reached.
            several if clause.operator == Some(Operator::And) => {
                several.iter().all(Option::is_some) && minimum.is_none_or(|m| m.of(0) == 0)
            }
            several => several.iter().flatten().count() >= wanted(minimum, several.len(), 1),
        };
        is_match.then(|| sum(scores.into_iter().flatten()) * factor(clause.boost))
    }

    fn term(self, node: &Node, clause: &Term) -> Option<f32> {
        let field = self.field(&clause.field);
        let wanted = cell(&clause.value, &field.kind);
        if let (true, Cell::Text(wanted)) = (clause.case_insensitive, &wanted) {
            let is_wanted =
                |cell: &Cell| matches!(cell, Cell::Text(text) if text.eq_ignore_ascii_case(wanted));
            return constant(
                node.cells(&clause.field).iter().any(is_wanted),
                clause.boost,
            );
        }
        let found = score(node, (&clause.field, field), &wanted, self.statistics);
        found.map(|score| score * factor(clause.boost))
    }

    fn terms(self, node: &Node, clause: &Terms) -> Option<f32> {
        let field = self.field(&clause.field);
        let values = clause.values.iter();
        let mut wanted: Vec<Cell> = values.map(|value| cell(value, &field.kind)).collect();
        wanted.dedup_by(|a, b| a.order(b).is_eq());
        // A list of one Boolean is scored as that Boolean, unlike a list of one string.
        if let (Kind::Boolean, [one]) = (&field.kind, wanted.as_slice()) {
            let found = score(node, (&clause.field, field), one, self.statistics);
            return found.map(|score| score * factor(clause.boost));
        }
        let is_wanted = |cell: &Cell| wanted.iter().any(|wanted| wanted.order(cell).is_eq());
        constant(
            node.cells(&clause.field).iter().any(is_wanted),
            clause.boost,
        )
    }

    fn is_in(self, node: &Node, range: &Range) -> bool {
        let kind = &self.field(&range.field).kind;
        let above = |found: &Cell, bound: &Bound| {
            let order = found.order(&cell(&bound.value, kind));
            order.is_gt() || bound.inclusive && order.is_eq()
        };
        let below = |found: &Cell, bound: &Bound| {
            let order = found.order(&cell(&bound.value, kind));
            order.is_lt() || bound.inclusive && order.is_eq()
        };
        node.cells(&range.field).iter().any(|found| {
            range.lower.as_ref().is_none_or(|bound| above(found, bound))
                && range.upper.as_ref().is_none_or(|bound| below(found, bound))
        })
    }

    fn best(self, node: &Node, clause: &DisMax) -> Option<f32> {
        let scores: Vec<f32> = clause
            .queries
            .iter()
            .filter_map(|query| self.score(node, query))
            .collect();
        let best = scores.iter().copied().reduce(f32::max)?;
        let others = sum(scores.into_iter()) - best;
        let tie_breaker = clause.tie_breaker.unwrap_or(0.0) as f32;
        Some((best + tie_breaker * others) * factor(clause.boost))
    }

    fn nested(self, node: &Node, clause: &Nested) -> Option<f32> {
        let inside = node.inside(&clause.path);
        let scores: Vec<f32> = inside
            .into_iter()
            .filter_map(|child| self.score(child, &clause.query))
            .collect();
        let number = scores.len() as f32;
        let (least, greatest) = (
            scores.iter().copied().reduce(f32::min)?,
            scores.iter().copied().reduce(f32::max)?,
        );
        let sum = sum(scores.into_iter());
        Some(match clause.score_mode.unwrap_or(ScoreMode::Avg) {
            ScoreMode::Avg => sum / number,
            ScoreMode::Max => greatest,
            ScoreMode::Min => least,
            ScoreMode::Sum => sum,
            ScoreMode::None => 0.0,
        })
    }
}

/// Tells why a clause, or one inside of it, is not judged.
pub(crate) fn not_judged(query: &Query) -> Option<String> {
    if let Query::Match(Match {
        fuzziness: Some(fuzziness),
        ..
    }) = query
        && *fuzziness != Fuzziness::Edits(0)
    {
        return Some("the naive judge does not know `fuzziness`".to_owned());
    }
    let mut why = None;
    query.for_each_inner(|inner| why = why.take().or_else(|| not_judged(inner)));
    why
}

fn constant(is_match: bool, boost: Option<f64>) -> Option<f32> {
    is_match.then(|| factor(boost))
}

fn factor(boost: Option<f64>) -> f32 {
    boost.unwrap_or(1.0) as f32
}

fn sum(scores: impl Iterator<Item = f32>) -> f32 {
    scores.map(f64::from).fold(0.0, |sum, score| sum + score) as f32
}

/// Returns how many optional clauses have to match. A minimum of 0 is as good as none.
fn wanted(minimum: Option<&MinimumShouldMatch>, clauses: usize, default: usize) -> usize {
    match minimum.map_or(0, |minimum| minimum.of(clauses)) {
        0 => default,
        minimum => minimum,
    }
}

/// Returns an operand as a value of a field.
pub(crate) fn cell(value: &Value, kind: &Kind) -> Cell {
    match (kind, value) {
        (Kind::Text(_) | Kind::Keyword, Value::Text(text)) => Cell::Text(text.clone()),
        (Kind::Boolean, Value::Boolean(value)) => Cell::Boolean(*value),
        (Kind::Integer(_) | Kind::Instant, Value::Integer(number)) => {
            Cell::Integer((*number).into())
        }
        (Kind::Integer(_) | Kind::Instant, Value::Unsigned(number)) => {
            Cell::Integer((*number).into())
        }
        (Kind::Double, Value::Double(number)) => Cell::Double(*number),
        _ => panic!("{value:?} is no operand of {kind:?}"),
    }
}
