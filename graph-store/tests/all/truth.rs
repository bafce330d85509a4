//! What the form of a condition shows is what its evaluation finds, over random conditions and data.
//!
//! `TRUTH_CASES` sets the number of conditions in place of `RANDOM_TESTS`.

use futures::executor::block_on;
use graph_store::image::ImageStore;
use graph_store::query::{
    Comparison, Constant, Dataset, Domain, NodeCondition, Operator, Page, Quantifier, Regex,
    Selection, Step, TagRange, TermCondition, TypeTest, ValueCondition, ValueTest,
};
use graph_store::{CallContext, GraphStore};
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::images;
use crate::random_tests::count;

/// Data sets that each condition is evaluated over.
const WORLDS: usize = 12;

fn node(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}"))
}

fn nodes(names: &[&'static str]) -> impl Strategy<Value = Vec<NamedNode>> + use<> {
    let names: Vec<NamedNode> = names.iter().map(|name| node(name)).collect();
    let most = names.len();
    subsequence(names, 0..=most)
}

fn literal() -> impl Strategy<Value = Literal> {
    select(vec![
        Literal::new_simple_literal(""),
        Literal::new_simple_literal("a\nb"),
        Literal::new_language_tagged_literal_unchecked("a", "en"),
        Literal::new_typed_literal("1", xsd::INTEGER),
        Literal::new_typed_literal("x", xsd::DATE),
    ])
}

fn step() -> impl Strategy<Value = Step> {
    let predicates = vec![node("name"), node("next"), rdf::TYPE.into_owned()];
    (select(predicates), prop::bool::weighted(0.2))
        .prop_map(|(predicate, inverse)| Step { predicate, inverse })
}

fn instance() -> impl Strategy<Value = TypeTest> {
    nodes(&["T", "U"]).prop_map(|types| TypeTest::new(rdf::TYPE.into_owned(), types))
}

fn operator() -> impl Strategy<Value = Operator> {
    let iri = prop_oneof![
        nodes(&["a", "b", "T", "U"]).prop_map(|ids| ids.into_iter().map(Constant::Iri).collect()),
        vec(literal().prop_map(Constant::Literal), 0..2),
    ];
    let constant = prop_oneof![
        select(vec![node("a"), node("T")]).prop_map(Constant::Iri),
        literal().prop_map(Constant::Literal),
    ];
    let comparisons = vec![Comparison::Equal, Comparison::NotEqual, Comparison::Less];
    let patterns = vec![
        "", "^", ".", ".*", "^.+$", "^.*$", "a*$", "^a", "T$", "(x|)", ":", "^$",
    ];
    prop_oneof![
        (select(comparisons), constant).prop_map(|(by, with)| Operator::Compare(by, with)),
        (iri, any::<bool>()).prop_map(|(constants, is_in): (Vec<Constant>, bool)| if is_in {
            Operator::In(constants)
        } else {
            Operator::NotIn(constants)
        }),
        (select(patterns), any::<bool>(), any::<bool>()).prop_map(|(pattern, case, negated)| {
            let regex = Regex::new(pattern, case, 100).expect("a regular expression");
            Operator::Matches(regex, negated)
        }),
    ]
}

fn test() -> impl Strategy<Value = ValueTest> {
    let domains = vec![
        Domain::Iri,
        Domain::Iri,
        Domain::Text,
        Domain::Lexical,
        Domain::Number,
    ];
    (select(domains), operator()).prop_map(|(domain, operator)| ValueTest { domain, operator })
}

fn term() -> impl Strategy<Value = TermCondition> {
    let range = select(vec![TagRange::Tag("en".to_owned()), TagRange::Untagged]);
    let leaf = prop_oneof![
        4 => test().prop_map(TermCondition::Value),
        1 => test().prop_map(TermCondition::Datatype),
        1 => (vec(range.clone(), 0..2), vec(range, 0..2))
            .prop_map(|(include, exclude)| TermCondition::Lang { include, exclude }),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(TermCondition::All),
            vec(inner.clone(), 0..3).prop_map(TermCondition::Any),
            inner
                .clone()
                .prop_map(|of| TermCondition::Not(Box::new(of))),
            inner.prop_map(|of| TermCondition::Any(vec![
                of.clone(),
                TermCondition::Not(Box::new(of))
            ])),
        ]
    })
}

fn condition() -> impl Strategy<Value = NodeCondition> {
    let along = |of: BoxedStrategy<ValueCondition>| {
        let quantifier = select(vec![Quantifier::Some, Quantifier::Every]);
        (step(), quantifier, of).prop_map(|(step, quantifier, condition)| NodeCondition::Values {
            step,
            quantifier,
            condition: Box::new(condition),
        })
    };
    let leaf = prop_oneof![
        1 => nodes(&["a", "b", "z"]).prop_map(NodeCondition::one_of),
        3 => test().prop_map(NodeCondition::Iri),
        1 => instance().prop_map(NodeCondition::Instance),
        3 => along(term().prop_map(ValueCondition::Term).boxed()),
    ];
    leaf.prop_recursive(4, 16, 3, move |inner| {
        let not = |of: NodeCondition| NodeCondition::Not(Box::new(of));
        prop_oneof![
            2 => vec(inner.clone(), 0..3).prop_map(NodeCondition::All),
            2 => vec(inner.clone(), 0..3).prop_map(NodeCondition::Any),
            2 => inner.clone().prop_map(not),
            2 => along(inner.clone().prop_map(ValueCondition::Node).boxed()),
            1 => (inner.clone(), inner).prop_map(move |(one, other)| {
                NodeCondition::Any(vec![NodeCondition::All(vec![one.clone(), other]), not(one)])
            }),
        ]
    })
}

/// Quads about a few objects, of which each is a `T` or a `U`.
fn quads() -> impl Strategy<Value = Vec<Quad>> {
    let quad = |subject: &NamedNode, predicate: NamedNode, object: Term| {
        Quad::new(subject.clone(), predicate, object, GraphName::DefaultGraph)
    };
    let value = prop_oneof![
        literal().prop_map(Term::from),
        select(vec![node("a"), node("b"), node("T")]).prop_map(Term::from),
    ];
    let name = select(vec![node("name"), node("next")]);
    let types = select(vec![vec!["T"], vec!["U"], vec!["T", "U"], vec!["T", "V"]]);
    let object = move |subject: &'static str| {
        let subject = node(subject);
        (types.clone(), vec((name.clone(), value.clone()), 0..4)).prop_map(
            move |(types, values)| {
                let types = types
                    .iter()
                    .map(|ty| (rdf::TYPE.into_owned(), node(ty).into()));
                let all = types.chain(values);
                all.map(|(predicate, object)| quad(&subject, predicate, object))
                    .collect::<Vec<_>>()
            },
        )
    };
    (object("a"), object("b"), object("c")).prop_map(|(a, b, c)| [a, b, c].concat())
}

/// Returns how many objects satisfy a condition.
fn satisfying(store: &ImageStore, parts: impl IntoIterator<Item = NodeCondition>) -> usize {
    let selection = Selection {
        condition: NodeCondition::all(parts),
        order: Vec::new(),
        page: Page::default(),
        dataset: Dataset::default(),
    };
    let context = CallContext::new();
    let selected = block_on(store.select(&selection, &context));
    selected.expect("a selection").len()
}

#[test]
fn a_condition_that_is_called_true_or_false_is_so_for_every_object() {
    let mut runner = TestRunner::deterministic();
    let (quads, conditions) = (quads(), condition());
    let worlds: Vec<ImageStore> = (0..WORLDS)
        .map(|_| images::of(&drawn(&quads, &mut runner)))
        .collect();
    let of_types = |types: &[&str]| {
        let types = types.iter().map(|name| node(name)).collect();
        NodeCondition::Instance(TypeTest::new(rdf::TYPE.into_owned(), types))
    };
    let [all, some] = [of_types(&["T", "U"]), of_types(&["T"])];
    let (mut shown_true, mut shown_false, mut given) = (0, 0, 0);
    for _ in 0..count("TRUTH_CASES", 20_000) {
        let condition = drawn(&conditions, &mut runner);
        let (is_true, is_false) = (condition.is_true(), condition.is_false());
        shown_true += u32::from(is_true);
        shown_false += u32::from(is_false);
        let negation = NodeCondition::Not(Box::new(condition.clone()));
        assert_eq!(
            (negation.is_true(), negation.is_false()),
            (is_false, is_true),
            "{condition:?}"
        );
        let either = NodeCondition::Any(vec![condition.clone(), negation.clone()]);
        let both = NodeCondition::All(vec![negation.clone(), condition.clone()]);
        let flat = NodeCondition::all([condition.clone(), negation]);
        let forms = (either.is_true(), both.is_false(), flat.is_false());
        assert_eq!(forms, (true, true, true), "{condition:?}");
        for fact in [&all, &some] {
            let is_given = condition.is_true_given(std::slice::from_ref(fact));
            given += u32::from(is_given && !is_true);
            if !is_given && !is_false {
                continue;
            }
            for store in &worlds {
                let found = satisfying(store, [fact.clone(), condition.clone()]);
                let expected = if is_false {
                    0
                } else {
                    satisfying(store, [fact.clone()])
                };
                assert_eq!(found, expected, "{condition:?}");
            }
        }
    }
    // The test says something only if the form of enough conditions shows something.
    assert!(
        shown_true > 100 && shown_false > 100 && given > 10,
        "{shown_true} {shown_false} {given}"
    );
}

fn drawn<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    strategy.new_tree(runner).expect("a value").current()
}
