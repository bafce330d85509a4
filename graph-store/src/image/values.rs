//! Which terms satisfy a condition, as ranges of their numbers: these are in the order of values, so the ends of a
//! range are found by halving.
//!
//! Each answer is that of [`TermMatcher`] for every term, or leaves it open.

use std::cmp::Ordering;
use std::ops::Range;

use oxrdf::LiteralRef;
use oxsdatatypes::Decimal;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind, Look};
use soml_core::datatype::Scalar;

use super::literal::{CLASSES, Class};
use super::terms::compare_joined;
use crate::evaluate::{Operation, TermMatcher, Value, ValueMatcher};
use crate::pattern::{Ranges, Spans};
use crate::query::{Comparison, Domain, Regex, TagRange, TermView};
use crate::value::{Number, instant};

/// Maximum number of texts that a regular expression may begin with, for ranges of them.
const MAX_PREFIXES: usize = 64;

/// Seconds by which a time without a zone may differ from what it is taken for.
const ZONES: i64 = 14 * 3_600;

/// Terms in the order of an image: IRIs by their bytes, blank nodes, and literals by class and value.
pub(super) struct Table<G> {
    /// Number of IRIs.
    pub(super) iris: u32,
    /// Number of IRIs and blank nodes.
    pub(super) nodes: u32,
    /// Number of terms.
    pub(super) count: u32,
    /// The first term of each class of literals, and the end of the last.
    pub(super) classes: [u32; CLASSES + 1],
    /// Returns a term by its place.
    pub(super) get: G,
}

impl<'t, G: Fn(u32) -> TermView<'t>> Table<G> {
    /// Returns the terms that satisfy a condition.
    pub(super) fn spans(&self, condition: &TermMatcher<'_>) -> Spans {
        match condition {
            TermMatcher::All(parts) => parts
                .iter()
                .fold(Spans::exactly(Ranges::of(0..self.count)), |spans, part| {
                    spans.and(&self.spans(part))
                }),
            TermMatcher::Any(parts) => Spans::any(parts.iter().map(|part| self.spans(part))),
            TermMatcher::Not(inner) => self.spans(inner).complement(self.count),
            TermMatcher::Value(test) => self.passing(test),
            TermMatcher::Lang(include, exclude) => self.tagged(include, exclude),
            TermMatcher::Datatype(_) => Spans::perhaps(Ranges::of(self.literals())),
        }
    }

    fn literals(&self) -> Range<u32> {
        self.nodes..self.count
    }

    fn class(&self, class: Class) -> Range<u32> {
        let class = class as usize;
        self.classes[class]..self.classes[class + 1]
    }

    fn tagged(&self, include: &[TagRange], exclude: &[TagRange]) -> Spans {
        let literals = Ranges::of(self.literals());
        if include.is_empty() && exclude.is_empty() {
            return Spans::exactly(literals);
        }
        let needs_tag = !include.is_empty() && !include.contains(&TagRange::Untagged);
        Spans::perhaps(if needs_tag {
            Ranges::of(self.class(Class::Text))
        } else {
            literals
        })
    }

    fn passing(&self, test: &ValueMatcher<'_>) -> Spans {
        let (domain, operation) = test.parts();
        let Domain::Cast(scalar) = domain else {
            return self.operation(domain, operation);
        };
        let domain = Domain::of(scalar);
        // Values that need no cast are those of the domain; of what others become nothing is known.
        let others = self
            .domain(domain)
            .complement(self.count)
            .and(&Spans::perhaps(Ranges::of(self.literals())));
        let own = self.operation(domain, operation);
        own.and(&self.domain(domain)).or(others)
    }

    fn operation(&self, domain: Domain, operation: &Operation<'_>) -> Spans {
        let of_domain = |passes: Spans, is_negated: bool| {
            if is_negated {
                self.domain(domain).and(&passes.complement(self.count))
            } else {
                passes
            }
        };
        match operation {
            Operation::Compare(comparison, operand) => match (comparison, operand) {
                (Comparison::NotEqual, None) => self.domain(domain),
                (_, None) => Spans::nothing(),
                (Comparison::Equal, Some(value)) => self.equal(domain, value),
                (Comparison::NotEqual, Some(value)) => of_domain(self.equal(domain, value), true),
                (_, Some(value)) => self.ordered(domain, *comparison, value),
            },
            Operation::Texts(..) | Operation::Matches(..) if !is_of_texts(domain) => {
                Spans::nothing()
            }
            Operation::Texts(texts, is_negated) => {
                let equal = texts.iter().map(|text| self.equal_text(domain, text));
                of_domain(Spans::any(equal), *is_negated)
            }
            Operation::Values(values, is_negated) => {
                let equal = values.iter().map(|value| self.equal(domain, value));
                of_domain(Spans::any(equal), *is_negated)
            }
            Operation::Matches(_, regex, is_negated) => {
                of_domain(self.matching(domain, regex), *is_negated)
            }
        }
    }

    /// Returns the terms that are of a domain.
    fn domain(&self, domain: Domain) -> Spans {
        let all = |range: Range<u32>| Spans::exactly(Ranges::of(range));
        match domain {
            Domain::Iri => all(0..self.iris),
            Domain::Text => all(self.class(Class::Text)),
            Domain::Lexical => all(self.literals()),
            Domain::Number => all(self.class(Class::Number)),
            Domain::Typed(Scalar::String) => Spans::perhaps(Ranges::of(self.class(Class::Text))),
            Domain::Typed(scalar) => match class_of(scalar) {
                Some(class) => all(self.class(class)).or(self.unusual(scalar)),
                None => Spans::perhaps(Ranges::of(self.literals())),
            },
            Domain::Cast(_) => Spans::perhaps(Ranges::of(0..self.count)),
        }
    }

    /// Returns the terms of a datatype that are not in its class, such as those with white space around them.
    fn unusual(&self, scalar: Scalar) -> Spans {
        let (from, to) = (self.classes[Class::Other as usize], self.count);
        let datatype = scalar.datatype_iri();
        let is_before = |literal: LiteralRef<'_>| literal.datatype().as_str() < datatype;
        let start = self.literal_where(from..to, is_before);
        let is_up_to = |literal: LiteralRef<'_>| literal.datatype().as_str() <= datatype;
        let end = self.literal_where(start..to, is_up_to);
        Spans::perhaps(Ranges::of(start..end))
    }

    fn equal(&self, domain: Domain, value: &Value<'_>) -> Spans {
        match (domain, value) {
            (_, Value::Text(text)) if is_of_texts(domain) => self.equal_text(domain, text),
            (Domain::Number, Value::Number(number)) => {
                let (before, behind) = self.around_number(number);
                if number.is_nan() {
                    Spans::nothing()
                } else {
                    Spans::exactly(Ranges::of(before..behind))
                }
            }
            (Domain::Typed(Scalar::Boolean), Value::Boolean(value)) => {
                let (before, behind) = self.around_boolean(*value);
                let usual = Spans::exactly(Ranges::of(before..behind));
                usual.or(self.unusual(Scalar::Boolean))
            }
            (Domain::Typed(scalar), value) => match value.instant() {
                // Times without a zone equal none with one.
                Some((kind, at)) if kind == scalar => {
                    let (before, behind) = self.around_instant(scalar, at);
                    Spans::perhaps(Ranges::of(before..behind)).or(self.unusual(scalar))
                }
                _ => self.domain(domain).undecided(),
            },
            _ => self.domain(domain).undecided(),
        }
    }

    fn equal_text(&self, domain: Domain, text: &str) -> Spans {
        let (before, behind) = self.around_text(domain, text.as_bytes());
        self.of_texts(domain, Spans::exactly(Ranges::of(before..behind)))
    }

    fn ordered(&self, domain: Domain, comparison: Comparison, value: &Value<'_>) -> Spans {
        match (domain, value) {
            (_, Value::Text(text)) if is_of_texts(domain) => {
                let (before, behind) = self.around_text(domain, text.as_bytes());
                let found = side(comparison, &self.texts(domain), before, behind);
                self.of_texts(domain, Spans::exactly(Ranges::of(found)))
            }
            (Domain::Number, Value::Number(number)) if number.is_nan() => Spans::nothing(),
            (Domain::Number, Value::Number(number)) => {
                let mut all = self.class(Class::Number);
                // NaN comes last, and compares with nothing.
                all.end = self.number_where(all.clone(), |known| !known.is_nan());
                let (before, behind) = self.around_number(number);
                Spans::exactly(Ranges::of(side(comparison, &all, before, behind)))
            }
            (Domain::Typed(Scalar::Boolean), Value::Boolean(value)) => {
                let all = self.class(Class::Boolean);
                let (before, behind) = self.around_boolean(*value);
                let found = side(comparison, &all, before, behind);
                Spans::exactly(Ranges::of(found)).or(self.unusual(Scalar::Boolean))
            }
            (Domain::Typed(scalar), value) => match value.instant() {
                Some((kind, at)) if kind == scalar => self.beside_instant(scalar, comparison, at),
                _ => self.domain(domain).undecided(),
            },
            _ => self.domain(domain).undecided(),
        }
    }

    /// Returns the dates or times on one side of an instant. Those less than the offsets of zones away are on neither side where
    /// one has a zone and the other has none.
    fn beside_instant(&self, scalar: Scalar, comparison: Comparison, at: Decimal) -> Spans {
        let Some(class) = class_of(scalar) else {
            return self.domain(Domain::Typed(scalar)).undecided();
        };
        let all = self.class(class);
        let (before, behind) = self.around_instant(scalar, at);
        let found = Ranges::of(side(comparison, &all, before, behind));
        let zones = Decimal::from(ZONES);
        let sure = match comparison {
            Comparison::Less | Comparison::LessOrEqual => at
                .checked_sub(zones)
                .map(|at| all.start..self.around_instant(scalar, at).0),
            _ => at
                .checked_add(zones)
                .map(|at| self.around_instant(scalar, at).1..all.end),
        };
        let sure = Spans::exactly(sure.into_iter().collect());
        Spans::perhaps(found).or(sure).or(self.unusual(scalar))
    }

    /// Returns the terms that a regular expression matches.
    fn matching(&self, domain: Domain, regex: &Regex) -> Spans {
        let mut parser = ParserBuilder::new()
            .case_insensitive(regex.case_insensitive)
            .build();
        let Some(begin) = parser.parse(&regex.pattern).ok().and_then(Beginnings::of) else {
            return self.domain(domain).undecided();
        };
        let texts = self.texts(domain);
        let found = begin.texts.iter().map(|text| {
            let (start, behind) = self.around_text(domain, text);
            let end = match begin.rest {
                Rest::Nothing => behind,
                _ => partition(behind..texts.end, |place| {
                    compare_text((self.get)(place), text, text.len()).is_eq()
                }),
            };
            Ranges::of(start..end)
        });
        let found = found.map(|range| match begin.rest {
            Rest::Unknown => Spans::perhaps(range),
            Rest::Nothing | Rest::Anything => Spans::exactly(range),
        });
        self.of_texts(domain, Spans::any(found))
    }

    /// Returns the terms of a domain that are in the order of their texts.
    fn texts(&self, domain: Domain) -> Range<u32> {
        match domain {
            Domain::Iri => 0..self.iris,
            _ => self.class(Class::Text),
        }
    }

    /// Returns the terms of a domain, of which those that are in the order of their texts are known.
    fn of_texts(&self, domain: Domain, found: Spans) -> Spans {
        match domain {
            Domain::Iri | Domain::Text => found,
            // Any literal may have the text.
            Domain::Lexical => {
                let others = self.class(Class::Text).end..self.count;
                found.or(Spans::perhaps(Ranges::of(others)))
            }
            // Among the texts there are some with tags.
            _ => found.undecided(),
        }
    }

    /// Returns where terms of a domain begin whose texts are not below another text, and where those begin whose texts are
    /// above it.
    fn around_text(&self, domain: Domain, text: &[u8]) -> (u32, u32) {
        let all = self.texts(domain);
        let compare = |place: u32| compare_text((self.get)(place), text, usize::MAX);
        let before = partition(all.clone(), |place| compare(place).is_lt());
        let behind = partition(before..all.end, |place| compare(place).is_le());
        (before, behind)
    }

    fn literal_where(&self, among: Range<u32>, holds: impl Fn(LiteralRef<'_>) -> bool) -> u32 {
        partition(among, |place| {
            (self.get)(place).literal().is_some_and(&holds)
        })
    }

    fn number_where(&self, among: Range<u32>, holds: impl Fn(&Number) -> bool) -> u32 {
        self.literal_where(among, |literal| {
            Number::from_literal(literal).is_some_and(|number| holds(&number))
        })
    }

    /// Returns where numbers begin that are not below another one, and where those begin that are above it.
    fn around_number(&self, number: &Number) -> (u32, u32) {
        let all = self.class(Class::Number);
        let before = self.number_where(all.clone(), |known| known < number);
        let behind = self.number_where(before..all.end, |known| known <= number);
        (before, behind)
    }

    fn around_boolean(&self, value: bool) -> (u32, u32) {
        let all = self.class(Class::Boolean);
        let is_false = |literal: LiteralRef<'_>| matches!(literal.value(), "false" | "0");
        let middle = self.literal_where(all.clone(), is_false);
        if value {
            (middle, all.end)
        } else {
            (all.start, middle)
        }
    }

    fn around_instant(&self, scalar: Scalar, at: Decimal) -> (u32, u32) {
        let Some(class) = class_of(scalar) else {
            return (self.count, self.count);
        };
        let all = self.class(class);
        let holds = |among: Range<u32>, test: &dyn Fn(Decimal) -> bool| {
            self.literal_where(among, |literal| {
                instant(scalar, literal.value()).is_some_and(test)
            })
        };
        let before = holds(all.clone(), &|known| known < at);
        let behind = holds(before..all.end, &|known| known <= at);
        (before, behind)
    }
}

impl Spans {
    /// Leaves open which of the terms satisfy the condition.
    fn undecided(self) -> Self {
        Spans::perhaps(self.maybe().clone())
    }
}

/// What every match of a regular expression begins with, at the begin of a text.
struct Beginnings {
    texts: Vec<Vec<u8>>,
    rest: Rest,
}

/// What may follow for a text to match.
#[derive(Clone, Copy)]
enum Rest {
    Nothing,
    Anything,
    Unknown,
}

impl Beginnings {
    /// Returns what a pattern begins with; `None` if it may match anywhere, or begin with too many texts.
    fn of(pattern: Hir) -> Option<Self> {
        let is_at_start = |pattern: &Hir| {
            let looks = pattern.properties().look_set_prefix();
            looks.contains(Look::Start)
        };
        if !is_at_start(&pattern) {
            return None;
        }
        let (inner, ends) = inside(&pattern).unwrap_or((pattern, None));
        let found = Extractor::new().limit_total(MAX_PREFIXES).extract(&inner);
        let literals = found.literals()?;
        let is_whole = literals.iter().all(|literal| literal.is_exact());
        let rest = match ends.filter(|_| is_whole && inner.properties().look_set().is_empty()) {
            None => Rest::Unknown,
            Some(true) => Rest::Nothing,
            Some(false) => Rest::Anything,
        };
        let texts = literals.iter().map(|literal| literal.as_bytes().to_vec());
        Some(Beginnings {
            texts: texts.collect(),
            rest,
        })
    }
}

/// Returns what stands between the begin of a text and, where the flag is set, its end.
fn inside(pattern: &Hir) -> Option<(Hir, Option<bool>)> {
    let HirKind::Concat(parts) = pattern.kind() else {
        return None;
    };
    let is = |part: &Hir, look: Look| *part.kind() == HirKind::Look(look);
    let [first, inner @ ..] = parts.as_slice() else {
        return None;
    };
    if !is(first, Look::Start) {
        return None;
    }
    let (inner, ends) = match inner {
        [inner @ .., last] if is(last, Look::End) => (inner, true),
        inner => (inner, false),
    };
    Some((Hir::concat(inner.to_vec()), Some(ends)))
}

/// Compares the text of a term with another one, up to a number of bytes.
fn compare_text(term: TermView<'_>, text: &[u8], length: usize) -> Ordering {
    match term {
        TermView::Iri { prefix, rest } => {
            let rest_length = length.saturating_sub(prefix.len());
            compare_joined(begin(prefix, length), begin(rest, rest_length), text)
        }
        TermView::Literal(literal) => begin(literal.value(), length).cmp(text),
        TermView::Blank(name) => begin(name, length).cmp(text),
    }
}

/// Returns the first bytes of a text.
fn begin(text: &str, length: usize) -> &[u8] {
    let bytes = text.as_bytes();
    bytes.get(..length).unwrap_or(bytes)
}

/// Returns whether values of a domain are compared as texts.
fn is_of_texts(domain: Domain) -> bool {
    matches!(
        domain,
        Domain::Iri | Domain::Text | Domain::Lexical | Domain::Typed(Scalar::String)
    )
}

/// Returns the class of the values of a scalar that are compared as such.
fn class_of(scalar: Scalar) -> Option<Class> {
    Some(match scalar {
        Scalar::Boolean => Class::Boolean,
        Scalar::DateTime => Class::DateTime,
        Scalar::Date => Class::Date,
        Scalar::Time => Class::Time,
        Scalar::Year => Class::Year,
        Scalar::YearMonth => Class::YearMonth,
        _ => return None,
    })
}

/// Returns what lies on one side of a value: those before it, or behind it.
fn side(comparison: Comparison, all: &Range<u32>, before: u32, behind: u32) -> Range<u32> {
    match comparison {
        Comparison::Less => all.start..before,
        Comparison::LessOrEqual => all.start..behind,
        Comparison::Greater => behind..all.end,
        Comparison::GreaterOrEqual => before..all.end,
        Comparison::Equal | Comparison::NotEqual => before..behind,
    }
}

/// Returns the first number of a range of which something does not hold, as it does of all before it.
fn partition(range: Range<u32>, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut from, mut to) = (range.start, range.end);
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) {
            from = middle + 1
        } else {
            to = middle
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use oxrdf::{GraphNameRef, Literal, NamedNode, Quad, Term};
    use proptest::prelude::*;

    use super::*;
    use crate::image::{Image, ImageBuilder};
    use crate::query::{Constant, Operator, TermCondition, ValueTest};

    const TEXTS: [&str; 22] = [
        "",
        "a",
        "A",
        "ab",
        "abc",
        "abd",
        "b",
        "B c",
        "é",
        "𝒳",
        "\u{FFFF}",
        "1",
        "01",
        "1.0",
        "-0.0",
        "true",
        "0",
        "http://e/a",
        "http://e/ab",
        "http://f",
        "a\nb",
        "s777",
    ];
    const NUMBERS: [&str; 15] = [
        "1",
        "01",
        "+1",
        "1.0",
        "1e0",
        "2",
        "-0.0",
        "0",
        "NaN",
        "INF",
        "-INF",
        "170141183460469231731687303715884105728",
        "0.1",
        " 1 ",
        "abc",
    ];
    const TIMES: [&str; 18] = [
        "2020-01-01T00:00:00",
        "2020-01-01T00:00:00Z",
        "2020-01-01T14:00:00Z",
        "2020-01-01T14:00:01Z",
        "2019-12-31T10:00:00Z",
        "2019-12-31T09:59:59Z",
        "2020-01-01T02:00:00+02:00",
        " 2020-01-01T00:00:00Z ",
        "2020-01-01T00:00:00.5",
        "2020-01-01",
        "2020-01-01Z",
        "2020-01-02-14:00",
        "10:00:00",
        "10:00:00Z",
        "24:00:00",
        "2020",
        "-0001",
        "2020-01",
    ];
    const DATATYPES: [&str; 13] = [
        "integer",
        "int",
        "decimal",
        "double",
        "float",
        "boolean",
        "dateTime",
        "date",
        "time",
        "gYear",
        "gYearMonth",
        "string",
        "anyURI",
    ];
    const SCALARS: [Scalar; 9] = [
        Scalar::Iri,
        Scalar::String,
        Scalar::Boolean,
        Scalar::Integer,
        Scalar::Double,
        Scalar::DateTime,
        Scalar::Date,
        Scalar::Time,
        Scalar::Year,
    ];
    const PATTERNS: [&str; 21] = [
        "^a",
        "^ab$",
        "a",
        "^(a|b)",
        "^(a|b)$",
        "^a.*d",
        "^$",
        "^",
        "",
        "^[0-9]",
        "^(ab?)+",
        "^a$b",
        "(^a|b)",
        "^s7{3}$",
        "^http://e/",
        "^http://e/a$",
        "^.",
        "^(a|bc$)",
        "^é|a",
        "^[^a]",
        "^(a$)",
    ];

    fn literal() -> impl Strategy<Value = Literal> {
        let typed = |texts: &'static [&'static str], datatypes: &'static [&'static str]| {
            let parts = (
                proptest::sample::select(texts),
                proptest::sample::select(datatypes),
            );
            parts.prop_map(|(text, datatype)| {
                let iri = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
                Literal::new_typed_literal(text, NamedNode::new_unchecked(iri))
            })
        };
        let tagged = (
            proptest::sample::select(&TEXTS[..]),
            proptest::sample::select(&["en", "de-AT"][..]),
        );
        let tagged = tagged
            .prop_map(|(text, tag)| Literal::new_language_tagged_literal_unchecked(text, tag));
        prop_oneof![
            2 => proptest::sample::select(&TEXTS[..]).prop_map(Literal::new_simple_literal),
            1 => tagged,
            2 => typed(&NUMBERS, &DATATYPES[..5]),
            2 => typed(&TIMES, &DATATYPES[6..11]),
            1 => typed(&TEXTS, &DATATYPES),
        ]
    }

    fn term() -> impl Strategy<Value = Term> {
        let iri = proptest::sample::select(&TEXTS[17..20]);
        prop_oneof![
            5 => literal().prop_map(Term::from),
            1 => iri.prop_map(|iri| NamedNode::new_unchecked(iri).into()),
        ]
    }

    fn constant() -> impl Strategy<Value = Constant> {
        term().prop_map(|term| match term {
            Term::NamedNode(node) => Constant::Iri(node),
            Term::Literal(literal) => Constant::Literal(literal),
            _ => unreachable!("terms are IRIs and literals"),
        })
    }

    fn domain() -> impl Strategy<Value = Domain> {
        let scalar = proptest::sample::select(&SCALARS[..]);
        prop_oneof![
            Just(Domain::Iri),
            Just(Domain::Text),
            Just(Domain::Lexical),
            Just(Domain::Number),
            scalar.clone().prop_map(Domain::of),
            scalar.clone().prop_map(Domain::Typed),
            scalar.prop_map(Domain::Cast),
        ]
    }

    fn operator() -> impl Strategy<Value = Operator> {
        let comparison = proptest::sample::select(
            &[
                Comparison::Equal,
                Comparison::NotEqual,
                Comparison::Less,
                Comparison::LessOrEqual,
                Comparison::Greater,
                Comparison::GreaterOrEqual,
            ][..],
        );
        let constants = || proptest::collection::vec(constant(), 0..4);
        let regex = (proptest::sample::select(&PATTERNS[..]), any::<bool>());
        let regex = regex.prop_map(|(pattern, ignores)| Regex::new(pattern, ignores, 100).unwrap());
        prop_oneof![
            4 => (comparison, constant()).prop_map(|(comparison, constant)| Operator::Compare(comparison, constant)),
            1 => constants().prop_map(Operator::In),
            1 => constants().prop_map(Operator::NotIn),
            2 => (regex, any::<bool>()).prop_map(|(regex, negated)| Operator::Matches(regex, negated)),
        ]
    }

    fn test() -> impl Strategy<Value = TermCondition> {
        (domain(), operator())
            .prop_map(|(domain, operator)| TermCondition::Value(ValueTest { domain, operator }))
    }

    fn condition() -> impl Strategy<Value = TermCondition> {
        let ranges = [
            TagRange::Untagged,
            TagRange::Tag("en".to_owned()),
            TagRange::Dialects("de".to_owned()),
        ];
        let range = proptest::sample::select(ranges.to_vec());
        let ranges = || proptest::collection::vec(range.clone(), 0..3);
        let lang = (ranges(), ranges())
            .prop_map(|(include, exclude)| TermCondition::Lang { include, exclude });
        let datatype = constant().prop_map(|constant| {
            TermCondition::Datatype(ValueTest {
                domain: Domain::Iri,
                operator: Operator::Compare(Comparison::NotEqual, constant),
            })
        });
        let leaf = prop_oneof![8 => test(), 1 => lang, 1 => datatype];
        leaf.prop_recursive(2, 6, 3, |inner| {
            let parts = proptest::collection::vec(inner.clone(), 0..3);
            prop_oneof![
                parts.clone().prop_map(TermCondition::All),
                parts.prop_map(TermCondition::Any),
                inner.prop_map(|inner| TermCondition::Not(Box::new(inner))),
            ]
        })
    }

    fn image_of(terms: &[Term]) -> Image {
        let node = NamedNode::new_unchecked("http://e/p");
        let mut builder = ImageBuilder::new();
        for term in terms {
            let quad = Quad::new(
                node.clone(),
                node.clone(),
                term.clone(),
                GraphNameRef::DefaultGraph,
            );
            builder.add(quad.as_ref()).unwrap();
        }
        builder.build().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn numbers_tell_what_a_matcher_does(
            terms in proptest::collection::vec(term(), 1..40),
            condition in condition(),
        ) {
            let image = image_of(&terms);
            let matcher = TermMatcher::new(&condition).unwrap();
            let spans = image.terms.table(&image.bytes).spans(&matcher);
            for number in 0..image.terms.count {
                let term = image.terms.term(&image.bytes, number);
                if let Some(decided) = spans.decide(number) {
                    prop_assert_eq!(decided, matcher.matches(&term), "{} {:?}", term, spans);
                }
            }
        }
    }

    /// Returns how many of all terms a condition leaves open.
    fn open(domain: Domain, operator: Operator) -> usize {
        let texts = ["1", "2", "3"]
            .map(Literal::new_simple_literal)
            .map(Term::from);
        let numbers = [1, 2, 3].map(Literal::from).map(Term::from);
        let times = [
            "2020-01-01T00:00:00",
            "2020-01-02T00:00:00",
            "2020-01-03T00:00:00Z",
        ];
        let times =
            times.map(|time| Literal::new_typed_literal(time, oxrdf::vocab::xsd::DATE_TIME));
        let terms = [texts, numbers, times.map(Term::from)].concat();
        let image = image_of(&terms);
        let condition = TermCondition::Value(ValueTest { domain, operator });
        let matcher = TermMatcher::new(&condition).unwrap();
        let spans = image.terms.table(&image.bytes).spans(&matcher);
        let literals = image.terms.nodes..image.terms.count;
        literals
            .filter(|number| spans.decide(*number).is_none())
            .count()
    }

    #[test]
    fn numbers_tell_all_where_values_have_one_order() {
        let two = || Constant::Literal(Literal::new_simple_literal("2"));
        for comparison in [
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::GreaterOrEqual,
        ] {
            assert_eq!(open(Domain::Text, Operator::Compare(comparison, two())), 0);
            let number = Constant::Literal(Literal::from(2));
            assert_eq!(
                open(Domain::Number, Operator::Compare(comparison, number)),
                0
            );
        }
        let regex = |pattern| Operator::Matches(Regex::new(pattern, false, 100).unwrap(), false);
        assert_eq!(open(Domain::Text, regex("^2")), 0);
        assert_eq!(open(Domain::Text, regex("^(1|2)$")), 0);
        assert_eq!(open(Domain::Text, regex("^2.*x")), 1);
        assert_eq!(open(Domain::Text, regex("2")), 3);
        // One without a zone and one with a zone a day later: the second is sure to come later.
        let time = Literal::new_typed_literal("2020-01-02T00:00:00", oxrdf::vocab::xsd::DATE_TIME);
        let time = Constant::Literal(time);
        let later = Operator::Compare(Comparison::Greater, time.clone());
        assert_eq!(open(Domain::Typed(Scalar::DateTime), later), 0);
        let equal = Operator::Compare(Comparison::Equal, time);
        assert_eq!(open(Domain::Typed(Scalar::DateTime), equal), 1);
    }
}
