//! Finds texts that may match among many that lie one after the other.

use regex_automata::util::prefilter::Prefilter;
use regex_automata::{MatchKind, Span};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

use crate::query::{Domain, Operator, Regex, TermCondition};

/// Finds strings of which every text that satisfies a condition contains one.
#[derive(Clone, Debug)]
pub(crate) struct TextFilter(Prefilter);

impl TextFilter {
    /// Returns a filter for a condition that only literals satisfy; `None` if it asks for no particular strings, or for so many
    /// that testing each text is as fast.
    pub(crate) fn of(condition: &TermCondition) -> Option<Self> {
        match condition {
            TermCondition::All(parts) => parts.iter().find_map(TextFilter::of),
            TermCondition::Value(test) => match (&test.operator, test.domain) {
                (Operator::Matches(regex, false), Domain::Text | Domain::Lexical) => {
                    TextFilter::of_regex(regex)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn of_regex(regex: &Regex) -> Option<Self> {
        let mut parser = ParserBuilder::new()
            .case_insensitive(regex.case_insensitive)
            .build();
        let pattern = parser.parse(&regex.pattern).ok()?;
        let found = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, &required(&pattern))?;
        found.is_fast().then_some(TextFilter(found))
    }

    /// Returns where the first string begins in some texts, from a position on. It may reach from one text into the next;
    /// then another one may begin at the same place that does not.
    pub(crate) fn find(&self, texts: &str, from: usize) -> Option<usize> {
        let span = Span::from(from..texts.len());
        let found = self.0.find(texts.as_bytes(), span)?;
        Some(found.start)
    }
}

/// Leaves out what a pattern begins with and what may be empty: a text with a match of the pattern has one of the rest.
fn required(pattern: &Hir) -> Hir {
    let HirKind::Concat(parts) = pattern.kind() else {
        return pattern.clone();
    };
    let may_be_empty = |part: &&Hir| match part.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Repetition(repetition) => repetition.min == 0,
        _ => false,
    };
    Hir::concat(parts.iter().skip_while(may_be_empty).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::ValueTest;

    fn filter(pattern: &str, case_insensitive: bool) -> Option<TextFilter> {
        let regex = Regex::new(pattern, case_insensitive, 100).unwrap();
        TextFilter::of(&TermCondition::Value(ValueTest {
            domain: Domain::Text,
            operator: Operator::Matches(regex, false),
        }))
    }

    fn finds(pattern: &str, case_insensitive: bool, texts: &str) -> Vec<usize> {
        let filter = filter(pattern, case_insensitive).expect("a filter");
        let mut found = Vec::new();
        while let Some(at) = filter.find(texts, found.last().map_or(0, |last| last + 1)) {
            found.push(at);
        }
        found
    }

    #[test]
    fn strings_that_a_pattern_needs_are_found() {
        assert_eq!(finds("graph", false, "a graph, Graph, graphs"), [2, 16]);
        assert_eq!(finds("GRaph", true, "a graph, Graph, graphs"), [2, 9, 16]);
        assert_eq!(finds("^.*graph.*$", false, "graph\ngraph"), [0, 6]);
        assert_eq!(finds("graph|tree", false, "trees of a graph"), [0, 11]);
        assert_eq!(finds("x?graph[sy]", false, "xgraph graphs"), [1, 7]);
    }

    #[test]
    fn a_pattern_that_needs_no_string_has_no_filter() {
        for pattern in ["", ".*", "[a-z]+x", "(graph)?", "^$"] {
            assert!(filter(pattern, false).is_none(), "{pattern}");
        }
    }
}
