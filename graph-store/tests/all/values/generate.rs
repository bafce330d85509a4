//! Random selections with conditions on values.

use std::sync::Arc;

use graph_store::query::{
    Comparison, Constant, Dataset, Domain, NodeCondition, Operator, OrderKey, OrderStep, Page,
    Quantifier, Regex, Selection, Slot, SortBy, Step, TagRange, TermCondition, TypeGuard, TypeTest,
    ValueCondition, ValueTest,
};
use oxrdf::vocab::rdf;
use oxrdf::{Literal, NamedNode, Term};
use soml_core::datatype::Scalar;

use super::data::{CLASSES, KINDS, PROPERTIES, World, graph, v, values};
use super::expressions::{EXPRESSIONS, escaped};
use super::extent::Extent;
use super::random::Random;
use super::reference::{Patterns, constant_term, value_of, without_cast};
use super::terms::{self, Kind, MOMENTS};

/// Numbers that values are cast to.
const CAST_NUMBERS: [Scalar; 4] = [
    Scalar::Integer,
    Scalar::Int,
    Scalar::Decimal,
    Scalar::Double,
];

/// Something to ask a store, with what its answer depends on.
#[derive(Clone)]
pub(super) struct Case {
    pub(super) selection: Selection,
    /// What the selection says of types only.
    pub(super) types: NodeCondition,
    /// Values to read of the objects.
    pub(super) slot: Slot,
    pub(super) patterns: Patterns,
}

/// Makes a case for some data.
pub(super) fn case(random: &mut Random, world: &World, extent: Extent) -> Case {
    let mut maker = Maker {
        random,
        world,
        extent,
        patterns: Patterns::new(),
    };
    let (types, condition) = maker.typed_condition();
    let (name, kind) = maker.property();
    let selection = Selection {
        condition,
        order: maker.order(),
        page: maker.page(),
        dataset: maker.dataset(),
    };
    let slot = maker.slot(name, kind);
    Case {
        selection,
        types,
        slot,
        patterns: maker.patterns,
    }
}

struct Maker<'a> {
    random: &'a mut Random,
    world: &'a World,
    extent: Extent,
    patterns: Patterns,
}

impl Maker<'_> {
    /// Returns a condition with a type test in it, and the type test.
    fn typed_condition(&mut self) -> (NodeCondition, NodeCondition) {
        let (types, mut parts) = if self.random.chance(20) {
            self.interface()
        } else {
            let count = self.random.between(1, 2);
            let parts = (0..count).map(|_| self.condition(2)).collect();
            (self.instance(), parts)
        };
        let at = self.random.below(parts.len() + 1);
        parts.insert(at, types.clone());
        (types, NodeCondition::all(parts))
    }

    /// Returns the test for several types, and a condition for objects of each.
    fn interface(&mut self) -> (NodeCondition, Vec<NodeCondition>) {
        let count = self.random.between(2, CLASSES.len());
        let of = |names: &[&str]| {
            let types = names.iter().map(|name| v(name)).collect();
            NodeCondition::Instance(TypeTest::new(rdf::TYPE.into_owned(), types))
        };
        let parts = CLASSES[..count].iter().map(|class| {
            let own = self.condition(1);
            NodeCondition::all([of(&[*class]), own])
        });
        let either = NodeCondition::Any(parts.collect());
        (of(&CLASSES[..count]), vec![either])
    }

    fn test(&mut self) -> TypeTest {
        let some = |random: &mut Random, names: &[&str]| {
            let mut chosen: Vec<NamedNode> = names.iter().map(|name| v(name)).collect();
            while chosen.len() > 1 && random.chance(50) {
                chosen.remove(random.below(chosen.len()));
            }
            chosen
        };
        let classes = TypeTest::new(rdf::TYPE.into_owned(), some(self.random, &CLASSES));
        if self.random.chance(75) {
            return classes;
        }
        let kinds = TypeTest::new(v("kind"), some(self.random, &KINDS));
        if self.random.chance(40) {
            return kinds;
        }
        let both = [&kinds, &classes].map(|test| test.alternatives.to_vec());
        TypeTest {
            alternatives: Arc::from(both.concat()),
        }
    }

    fn instance(&mut self) -> NodeCondition {
        NodeCondition::Instance(self.test())
    }

    fn condition(&mut self, depth: usize) -> NodeCondition {
        let bound = if depth == 0 { 12 } else { 22 };
        match self.random.below(bound) {
            0..9 => {
                let (name, kind) = self.property();
                let step = Step::forward(v(name));
                let term = self.term(name, kind, 1);
                self.values(step, ValueCondition::Term(term))
            }
            9 => NodeCondition::Iri(self.iri_test()),
            10 => NodeCondition::one_of((0..self.random.below(5)).map(|_| self.node()).collect()),
            11 => self.guard(),
            12..16 => self.reference(depth - 1),
            16 | 17 => NodeCondition::All(self.conditions(depth - 1)),
            18 | 19 => NodeCondition::Any(self.conditions(depth - 1)),
            _ => NodeCondition::Not(Box::new(self.condition(depth - 1))),
        }
    }

    fn conditions(&mut self, depth: usize) -> Vec<NodeCondition> {
        let count = self.random.below(4);
        (0..count).map(|_| self.condition(depth)).collect()
    }

    fn values(&mut self, step: Step, condition: ValueCondition) -> NodeCondition {
        let quantifier = match self.random.below(4) {
            0 => Quantifier::Every,
            _ => Quantifier::Some,
        };
        let values = NodeCondition::Values {
            step,
            quantifier,
            condition: Box::new(condition),
        };
        match self.random.below(6) {
            0 => NodeCondition::Not(Box::new(values)),
            _ => values,
        }
    }

    /// Returns a condition on the objects that a reference leads to, forwards or backwards.
    fn reference(&mut self, depth: usize) -> NodeCondition {
        let step = Step {
            predicate: v(self.random.choose(&["link", "part"])),
            inverse: self.random.chance(40),
        };
        let mut inner = self.condition(depth);
        if self.random.chance(40) {
            inner = NodeCondition::all([self.instance(), inner]);
        }
        self.values(step, ValueCondition::Node(inner))
    }

    fn guard(&mut self) -> NodeCondition {
        if self.random.chance(50) {
            return self.instance();
        }
        let count = self.random.between(1, 3);
        let tests = (0..count).map(|_| (self.test(), self.random.chance(60)));
        let guard = TypeGuard {
            tests: tests.collect(),
            otherwise: self.random.chance(50),
        };
        guard.condition()
    }

    fn node(&mut self) -> NamedNode {
        match self.random.below(12) {
            0 => NamedNode::new_unchecked("http://e/unknown"),
            _ => self.random.pick(&self.world.nodes).clone(),
        }
    }

    fn property(&mut self) -> (&'static str, Kind) {
        self.random.choose(&PROPERTIES)
    }

    fn term(&mut self, name: &str, kind: Kind, depth: usize) -> TermCondition {
        let parts = |maker: &mut Self| {
            let count = maker.random.below(4);
            (0..count)
                .map(|_| maker.term(name, kind, depth - 1))
                .collect()
        };
        match self.random.below(if depth == 0 { 9 } else { 14 }) {
            0..7 => TermCondition::Value(self.value_test(name, kind)),
            7 => self.lang(),
            8 => TermCondition::Datatype(self.datatype_test()),
            9 | 10 => TermCondition::All(parts(self)),
            11 | 12 => TermCondition::Any(parts(self)),
            _ => TermCondition::Not(Box::new(self.term(name, kind, depth - 1))),
        }
    }

    fn lang(&mut self) -> TermCondition {
        let all = ["en", "en-gb", "de", "zh-hant", "fr", "e"];
        let ranges = |random: &mut Random, bound: usize| {
            let range = |random: &mut Random| match random.below(5) {
                0 => TagRange::Untagged,
                1 | 2 => TagRange::Tag(random.choose(&all).to_owned()),
                _ => TagRange::Dialects(random.choose(&all).to_owned()),
            };
            let count = random.below(bound);
            (0..count).map(|_| range(random)).collect::<Vec<_>>()
        };
        TermCondition::Lang {
            include: ranges(self.random, 3),
            exclude: ranges(self.random, 2),
        }
    }

    fn datatype_test(&mut self) -> ValueTest {
        let datatypes = terms::datatypes();
        let one = |random: &mut Random| Constant::Iri(random.pick(&datatypes).clone());
        let operator = match self.random.below(6) {
            0 | 1 => Operator::Compare(Comparison::Equal, one(self.random)),
            2 => Operator::Compare(Comparison::NotEqual, one(self.random)),
            3 => Operator::In(vec![one(self.random), one(self.random)]),
            4 => Operator::NotIn(vec![one(self.random), one(self.random)]),
            _ => {
                let regex = self.regex(&[("integer$", "integer$"), ("^http://v/", "^http://v/")]);
                Operator::Matches(regex, self.random.chance(30))
            }
        };
        ValueTest {
            domain: Domain::Iri,
            operator,
        }
    }

    /// Returns a test of the IRI of an object.
    fn iri_test(&mut self) -> ValueTest {
        let one = |maker: &mut Self| Constant::Iri(maker.node());
        let operator = match self.random.below(5) {
            0 => Operator::Compare(Comparison::Equal, one(self)),
            1 => Operator::Compare(Comparison::NotEqual, one(self)),
            2 => Operator::In((0..self.random.below(6)).map(|_| one(self)).collect()),
            3 => Operator::NotIn((0..self.random.below(6)).map(|_| one(self)).collect()),
            _ => Operator::Matches(self.regex(EXPRESSIONS), self.random.chance(30)),
        };
        ValueTest {
            domain: Domain::Iri,
            operator,
        }
    }

    fn value_test(&mut self, name: &str, kind: Kind) -> ValueTest {
        let domain = self.domain(kind);
        let operator = self.operator(name, kind, domain);
        ValueTest { domain, operator }
    }

    fn domain(&mut self, kind: Kind) -> Domain {
        let cast = self.random.chance(25);
        let any = self.random.chance(12);
        let kind = if any { Kind::Mixed } else { kind };
        match kind {
            Kind::Number if cast => Domain::Cast(self.random.choose(&CAST_NUMBERS)),
            Kind::Number => Domain::Number,
            Kind::Text if cast => Domain::Cast(Scalar::String),
            Kind::Text => self.random.choose(&[
                Domain::Text,
                Domain::Text,
                Domain::Lexical,
                Domain::Typed(Scalar::String),
            ]),
            Kind::Moment(scalar) if cast => Domain::Cast(scalar),
            Kind::Moment(scalar) => Domain::Typed(scalar),
            Kind::Boolean if cast => Domain::Cast(Scalar::Boolean),
            Kind::Boolean => Domain::Typed(Scalar::Boolean),
            Kind::Link if cast => Domain::Cast(Scalar::Iri),
            Kind::Link => Domain::Iri,
            Kind::Mixed => {
                let kinds = [Kind::Number, Kind::Text, Kind::Boolean, Kind::Link];
                let moments = MOMENTS.map(Kind::Moment);
                let all = [&kinds[..], &moments].concat();
                let kind = self.random.choose(&all);
                self.domain(kind)
            }
        }
    }

    fn operator(&mut self, name: &str, kind: Kind, domain: Domain) -> Operator {
        let is_iri = matches!(domain, Domain::Iri | Domain::Cast(Scalar::Iri));
        let is_text = is_iri
            || matches!(domain, Domain::Text | Domain::Lexical)
            || matches!(
                domain,
                Domain::Typed(Scalar::String) | Domain::Cast(Scalar::String)
            );
        let is_boolean = matches!(
            domain,
            Domain::Typed(Scalar::Boolean) | Domain::Cast(Scalar::Boolean)
        );
        let comparisons = [
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::Greater,
            Comparison::GreaterOrEqual,
        ];
        match self.random.below(10) {
            0 | 1 => {
                let count = self.random.below(5);
                let constants = (0..count)
                    .map(|_| self.constant(name, kind, domain))
                    .collect();
                if self.random.chance(60) {
                    Operator::In(constants)
                } else {
                    Operator::NotIn(constants)
                }
            }
            2..6 if is_text => {
                let regex = self.regex_of(name);
                Operator::Matches(regex, self.random.chance(25))
            }
            _ => {
                // The API offers no order of IRIs and Booleans.
                let comparison = if is_iri || is_boolean {
                    self.random.choose(&comparisons[..2])
                } else {
                    self.random.choose(&comparisons)
                };
                let constant = self.constant(name, kind, domain);
                // Only these are on different sides of other texts by code unit and by code point.
                let is_late = |constant: &Constant| match constant {
                    Constant::Literal(text) => text.value().chars().any(|c| c >= '\u{e000}'),
                    Constant::Iri(_) => false,
                };
                let is_ordered = self.extent.orders_by_code_point() || !is_text;
                if is_ordered || !is_late(&constant) {
                    Operator::Compare(comparison, constant)
                } else {
                    Operator::Compare(Comparison::Equal, constant)
                }
            }
        }
    }

    /// Returns a constant of a domain, mostly a stored value or one of the same kind.
    fn constant(&mut self, name: &str, kind: Kind, domain: Domain) -> Constant {
        let own = without_cast(domain);
        for _ in 0..20 {
            let term = self.candidate(name, kind, domain);
            let constant = match (own, term) {
                (Domain::Iri, Term::NamedNode(iri)) => Constant::Iri(iri),
                (Domain::Text | Domain::Lexical | Domain::Typed(Scalar::String), term) => {
                    let Term::Literal(literal) = term else {
                        continue;
                    };
                    Constant::Literal(Literal::new_simple_literal(literal.value()))
                }
                (_, Term::Literal(literal)) => Constant::Literal(literal),
                _ => continue,
            };
            if value_of(own, &constant_term(&constant)).is_some() {
                return constant;
            }
        }
        match own {
            Domain::Iri => Constant::Iri(NamedNode::new_unchecked("http://e/1")),
            Domain::Number => Constant::Literal(terms::typed("1", "integer")),
            Domain::Typed(Scalar::Boolean) => Constant::Literal(terms::typed("1", "boolean")),
            _ => self.constant(name, kind, domain),
        }
    }

    fn candidate(&mut self, name: &str, kind: Kind, domain: Domain) -> Term {
        let stored = values(self.world, &v(name));
        if self.random.chance(65)
            && let Some(&stored) = self.random.some(&stored)
        {
            return stored.clone();
        }
        match domain {
            Domain::Iri | Domain::Cast(Scalar::Iri) => self.node().into(),
            Domain::Number => terms::number(self.random, self.extent).into(),
            Domain::Text | Domain::Lexical | Domain::Typed(Scalar::String) => {
                terms::string(self.random).into()
            }
            Domain::Cast(Scalar::String) => terms::string(self.random).into(),
            Domain::Typed(Scalar::Boolean) | Domain::Cast(Scalar::Boolean) => {
                terms::boolean(self.random, self.extent).into()
            }
            Domain::Typed(scalar) | Domain::Cast(scalar) if MOMENTS.contains(&scalar) => {
                terms::moment(self.random, scalar, self.extent).into()
            }
            Domain::Cast(_) => terms::number(self.random, self.extent).into(),
            Domain::Typed(_) => terms::term(self.random, kind, self.extent),
        }
    }

    /// Returns a regular expression, often made of a stored value.
    fn regex_of(&mut self, name: &str) -> Regex {
        let stored = values(self.world, &v(name));
        let stored = self.random.some(&stored).map(|term| match term {
            Term::Literal(literal) => literal.value().to_owned(),
            Term::NamedNode(node) => node.as_str().to_owned(),
            other => other.to_string(),
        });
        let Some(text) = stored.filter(|_| self.random.chance(50)) else {
            return self.regex(EXPRESSIONS);
        };
        let chars: Vec<char> = text.chars().collect();
        let start = self.random.below(chars.len() + 1);
        let end = self.random.between(start, chars.len());
        let part = |chars: &[char]| escaped(chars.iter().collect::<String>().as_str());
        let pattern = match self.random.below(8) {
            0 => part(&chars[start..end]),
            1 => format!("^{}$", part(&chars)),
            2 => format!("{}$", part(&chars[start..])),
            3 => format!("^{}|{}", part(&chars[..end]), part(&chars[start..])),
            4 => format!("^{}.*", part(&chars[..end])),
            5 if end > 0 => format!("^{}?", part(&chars[..end])),
            _ => format!("^{}", part(&chars[..end])),
        };
        self.regex(&[(&pattern, &pattern)])
    }

    /// Returns one of some regular expressions, and remembers what it means.
    fn regex(&mut self, expressions: &[(&str, &str)]) -> Regex {
        let (pattern, meaning) = self.random.choose(expressions);
        let ignores_case = self.random.chance(25);
        let regex = Regex::new(pattern, ignores_case, 1_000).expect("a regular expression");
        let meaning = regex::RegexBuilder::new(meaning)
            .case_insensitive(ignores_case)
            .build();
        let meaning = meaning.expect("a regular expression");
        self.patterns.insert(regex.clone(), meaning);
        regex
    }

    fn order(&mut self) -> Vec<OrderKey> {
        let count = match self.random.below(6) {
            0..3 => 0,
            3 | 4 => 1,
            _ => 2,
        };
        (0..count).map(|_| self.order_key()).collect()
    }

    fn order_key(&mut self) -> OrderKey {
        let (name, kind) = self.property();
        let cast = self.random.chance(20);
        let scalar = |scalar| SortBy::Scalar {
            scalar,
            cast,
            lang: None,
        };
        let names = ["a", "ab", "\u{1f600}", "1", "true", "b"];
        let by = match kind {
            Kind::Number => {
                let scalars = [Scalar::Decimal, Scalar::Double, Scalar::Integer];
                scalar(self.random.choose(&scalars))
            }
            Kind::Text if self.random.chance(25) => SortBy::Enum {
                names: names.map(str::to_owned).to_vec(),
                cast,
            },
            Kind::Text | Kind::Mixed => scalar(Scalar::String),
            Kind::Moment(of) => scalar(of),
            Kind::Boolean => scalar(Scalar::Boolean),
            Kind::Link => SortBy::Iri,
        };
        let mut path = Vec::new();
        if self.random.chance(30) {
            let inverse = self.random.chance(30);
            let predicate = v("link");
            path.push(self.order_step(Step { predicate, inverse }));
        }
        path.push(match kind {
            Kind::Link => self.order_step(Step::forward(v(name))),
            _ => OrderStep::new(Step::forward(v(name))),
        });
        if kind == Kind::Link && self.random.chance(30) {
            path.clear();
        }
        OrderKey::new(path, by, self.random.chance(50))
    }

    fn order_step(&mut self, step: Step) -> OrderStep {
        let mut step = OrderStep::new(step);
        if self.random.chance(30) {
            step.tests.push(self.test());
        }
        step
    }

    fn page(&mut self) -> Page {
        let some = |random: &mut Random| {
            let number = random.below(25) as u64;
            random.chance(30).then_some(number)
        };
        Page {
            offset: some(self.random),
            limit: some(self.random),
        }
    }

    fn dataset(&mut self) -> Dataset {
        let graphs = match self.random.below(8) {
            0 => Some(vec![graph(0)]),
            1 => Some(vec![graph(0), graph(1)]),
            2 => Some(vec![graph(1), graph(7)]),
            _ => None,
        };
        Dataset {
            graphs,
            ..Dataset::default()
        }
    }

    fn slot(&mut self, name: &str, kind: Kind) -> Slot {
        let is_inverse = kind == Kind::Link && self.random.chance(40);
        let condition = if kind == Kind::Link && self.random.chance(60) {
            ValueCondition::Node(self.condition(1))
        } else {
            ValueCondition::Term(self.term(name, kind, 1))
        };
        Slot {
            condition: self.random.chance(85).then_some(condition),
            ..Slot::new(Step {
                predicate: v(name),
                inverse: is_inverse,
            })
        }
    }
}
