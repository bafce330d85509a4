//! Random clauses.

use search_index::dsl::{
    Bool, Bound, DisMax, Exists, Ids, Match, MinimumShouldMatch, Nested, Operator, Prefix, Query,
    Range, ScoreMode, Term, Terms, Value, ZeroTerms,
};
use search_index::mapping::IntegerType;
use test_support::random::Random;

use super::operands::Pool;
use crate::differential::naive::fields::Kind;

const MINIMA: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-2",
    "50%",
    "75%",
    "-25%",
    "100%",
    "1<50%",
    "2<-25% 9<-3",
];
const UNSIGNED: Kind = Kind::Integer(IntegerType::UnsignedLong);
const BOOSTS: &[f64] = &[0.0, 0.5, 2.0, 3.25];

/// Makes clauses about the documents of an index.
pub(crate) struct Clauses<'g, 'i> {
    pub(crate) random: &'g mut Random,
    pub(crate) pool: &'g Pool<'i>,
    /// How many of a hundred `match` clauses are fuzzy.
    pub(crate) fuzzy: usize,
}

/// Longest text that is searched with typing errors, in bytes; the default of `search.limits.fuzzyTextLength`.
const MAX_FUZZY_TEXT: usize = 500;

impl Clauses<'_, '_> {
    /// Makes a clause about documents, or nested objects of a level.
    pub(crate) fn query(&mut self, level: &str, depth: usize) -> Query {
        let is_deep = depth == 0;
        match self.random.below(100) {
            0..24 if !is_deep => self.combination(level, depth - 1),
            24..30 if !is_deep => Query::ConstantScore {
                filter: Box::new(self.query(level, depth - 1)),
                boost: self.boost(),
            },
            30..38 if !is_deep => self.best(level, depth - 1),
            30..52 => self
                .nested(level, depth)
                .unwrap_or_else(|| self.leaf(level)),
            55..58 => Query::MatchAll {
                boost: self.random.maybe(40, |random| *random.pick(BOOSTS)),
            },
            58..60 => Query::MatchNone,
            60..64 if level.is_empty() => self.ids(),
            _ => self.leaf(level),
        }
    }

    fn boost(&mut self) -> Option<f64> {
        self.random.maybe(20, |random| *random.pick(BOOSTS))
    }

    fn queries(&mut self, level: &str, depth: usize, most: usize) -> Vec<Query> {
        let count = self.random.below(most + 1);
        (0..count).map(|_| self.query(level, depth)).collect()
    }

    fn minimum(&mut self) -> MinimumShouldMatch {
        let text = self.random.pick(MINIMA);
        text.parse().expect("a minimum")
    }

    fn combination(&mut self, level: &str, depth: usize) -> Query {
        let all = match self.random.below(10) {
            0..4 => Bool {
                must: self.queries(level, depth, 2),
                should: self.queries(level, depth, 2),
                ..Bool::default()
            },
            4 | 5 => Bool {
                must_not: self.queries(level, depth, 2),
                ..Bool::default()
            },
            6 | 7 => Bool {
                should: self.queries(level, depth, 4),
                minimum_should_match: Some(self.minimum()),
                ..Bool::default()
            },
            _ => Bool {
                must: self.queries(level, depth, 1),
                filter: self.queries(level, depth, 2),
                should: self.queries(level, depth, 3),
                must_not: self.queries(level, depth, 1),
                minimum_should_match: if self.random.chance(30) {
                    Some(self.minimum())
                } else {
                    None
                },
                boost: None,
            },
        };
        Query::Bool(Bool {
            boost: self.boost(),
            ..all
        })
    }

    fn best(&mut self, level: &str, depth: usize) -> Query {
        let mut queries = vec![self.query(level, depth)];
        queries.extend(self.queries(level, depth, 2));
        Query::DisMax(DisMax {
            queries,
            tie_breaker: self
                .random
                .maybe(50, |random| *random.pick(&[0.0, 0.3, 1.0])),
            boost: self.boost(),
        })
    }

    fn nested(&mut self, level: &str, depth: usize) -> Option<Query> {
        let levels = self.pool.levels_inside(level);
        if levels.is_empty() {
            return None;
        }
        let path = self.random.pick(&levels).clone();
        const MODES: &[ScoreMode] = &[
            ScoreMode::Avg,
            ScoreMode::Max,
            ScoreMode::Min,
            ScoreMode::Sum,
            ScoreMode::None,
        ];
        Some(Query::Nested(Nested {
            query: Box::new(self.query(&path, depth.saturating_sub(1))),
            path,
            score_mode: self.random.maybe(70, |random| *random.pick(MODES)),
        }))
    }

    fn ids(&mut self) -> Query {
        let count = self.random.between(1, 4);
        let id = |random: &mut Random, ids: &[String]| {
            if random.chance(85) && !ids.is_empty() {
                random.pick(ids).clone()
            } else {
                "http://e/none".to_owned()
            }
        };
        Query::Ids(Ids {
            values: (0..count)
                .map(|_| id(self.random, &self.pool.ids))
                .collect(),
            boost: self.boost(),
        })
    }

    /// Makes a clause about one field of a level.
    fn leaf(&mut self, level: &str) -> Query {
        let fields = self.pool.of_level(level);
        let (field, kind) = Pool::pick(self.random, &fields);
        let (field, pool) = (field.to_owned(), self.pool);
        let is_number = matches!(kind, Kind::Integer(_) | Kind::Double | Kind::Instant);
        let has_order = is_number || *kind == Kind::Keyword;
        let has_letters = matches!(kind, Kind::Text(_) | Kind::Keyword);
        match self.random.below(100) {
            0..30 => self.text(field, kind),
            30..46 => Query::Term(Term {
                value: pool.operand(self.random, &field),
                case_insensitive: has_letters && self.random.chance(30),
                field,
                boost: self.boost(),
            }),
            46..60 => {
                let count = self.random.between(1, 4);
                Query::Terms(Terms {
                    values: (0..count)
                        .map(|_| pool.operand(self.random, &field))
                        .collect(),
                    field,
                    boost: self.boost(),
                })
            }
            60..78 if has_order => self.range(field),
            78..93 if has_letters => self.prefix(field),
            _ => Query::Exists(Exists {
                field,
                boost: self.boost(),
            }),
        }
    }

    fn text(&mut self, field: String, kind: &Kind) -> Query {
        let is_text = matches!(kind, Kind::Text(_));
        let query = if is_text {
            Value::Text(self.pool.text(self.random, &field))
        } else {
            self.pool.operand(self.random, &field)
        };
        let mut clause = Match::new(field, query);
        clause.boost = self.boost();
        clause.lenient = self.random.maybe(15, |random| random.chance(50));
        if is_text {
            let operators = [Operator::And, Operator::Or];
            let zero = [ZeroTerms::All, ZeroTerms::None];
            clause.operator = self.random.maybe(70, |random| *random.pick(&operators));
            clause.zero_terms_query = self.random.maybe(60, |random| *random.pick(&zero));
            if self.random.chance(40) {
                clause.minimum_should_match = Some(self.minimum());
            }
            // OpenSearch runs out of memory where a text is one long term; the API refuses such a search.
            let is_short = match &clause.query {
                Value::Text(text) => text.len() <= MAX_FUZZY_TEXT,
                _ => true,
            };
            if self.random.chance(self.fuzzy) && is_short {
                self.make_fuzzy(&mut clause);
            }
        }
        Query::Match(clause)
    }

    fn make_fuzzy(&mut self, clause: &mut Match) {
        let random = &mut self.random;
        let fuzziness = random.pick(&["0", "1", "2", "AUTO", "AUTO:2,4"]);
        clause.fuzziness = Some(fuzziness.parse().expect("a fuzziness"));
        clause.prefix_length = random.maybe(40, |random| *random.pick(&[0, 1, 2]));
        clause.max_expansions = random.maybe(70, |random| *random.pick(&[1, 2, 50]));
        clause.fuzzy_transpositions = random.maybe(70, |random| random.chance(50));
    }

    fn range(&mut self, field: String) -> Query {
        let bound = |random: &mut Random, pool: &Pool<'_>| Bound {
            value: pool.operand(random, &field),
            // OpenSearch finds nothing below the greatest unsigned integer, and the API does not ask so.
            inclusive: random.chance(60) || pool.fields[&field].kind == UNSIGNED,
        };
        let ends = self.random.below(3);
        let mut lower = (ends != 0).then(|| bound(self.random, self.pool));
        let mut upper = (ends != 1).then(|| bound(self.random, self.pool));
        if let (Some(least), Some(greatest)) = (&lower, &upper)
            && is_above(&least.value, &greatest.value)
        {
            std::mem::swap(&mut lower, &mut upper);
        }
        Query::Range(Range {
            field,
            lower,
            upper,
            boost: self.boost(),
        })
    }

    fn prefix(&mut self, field: String) -> Query {
        let Value::Text(text) = self.pool.operand(self.random, &field) else {
            unreachable!("the field has letters");
        };
        let length = self.random.between(1, 3);
        let value: String = if text.starts_with("http://e/") {
            text.chars().take(8 + length).collect()
        } else {
            text.chars().take(length).collect()
        };
        let case_insensitive = self.random.chance(30);
        Query::Prefix(Prefix {
            field,
            value: if case_insensitive {
                value.to_ascii_uppercase()
            } else {
                value
            },
            case_insensitive,
            boost: self.boost(),
        })
    }
}

/// Returns whether a bound is above another, so that nothing can be between them.
fn is_above(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => one > other,
        (Value::Integer(one), Value::Integer(other)) => one > other,
        (Value::Unsigned(one), Value::Unsigned(other)) => one > other,
        (Value::Unsigned(_), Value::Integer(_)) => true,
        (Value::Double(one), Value::Double(other)) => one > other,
        _ => false,
    }
}
