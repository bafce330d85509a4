//! Which objects a condition selects.

use oxrdf::Literal;
use oxrdf::vocab::rdf;

use super::data::{e, v};
use super::subject::{Subject, next, selection, things};
use crate::query::{
    Comparison, Constant, Domain, NodeCondition, Operator, Quantifier, Regex, Step, TagRange,
    TermCondition, TypeTest, ValueCondition, ValueTest,
};

fn sizes(quantifier: Quantifier, comparison: Comparison, size: i64) -> NodeCondition {
    values(
        Step::forward(v("size")),
        quantifier,
        ValueCondition::Term(test(Domain::Number, comparison, Literal::from(size))),
    )
}

fn values(step: Step, quantifier: Quantifier, condition: ValueCondition) -> NodeCondition {
    NodeCondition::Values {
        step,
        quantifier,
        condition: Box::new(condition),
    }
}

fn test(domain: Domain, comparison: Comparison, literal: Literal) -> TermCondition {
    TermCondition::Value(ValueTest {
        domain,
        operator: Operator::Compare(comparison, Constant::Literal(literal)),
    })
}

fn named(condition: TermCondition) -> NodeCondition {
    let step = Step::forward(v("name"));
    values(step, Quantifier::Some, ValueCondition::Term(condition))
}

fn not(condition: NodeCondition) -> NodeCondition {
    NodeCondition::Not(Box::new(condition))
}

pub(super) fn instances_are_iris_and_come_once(subject: &Subject) {
    assert_eq!(subject.satisfying(NodeCondition::TRUE), ["a", "b", "c"]);
    assert_eq!(subject.satisfying(not(NodeCondition::TRUE)), [""; 0]);
}

pub(super) fn some_type_of_several_is_enough(subject: &Subject) {
    let types = vec![v("Thing"), v("Other"), v("None")];
    let test = TypeTest::new(rdf::TYPE.into_owned(), types);
    let mut names = subject.select(&selection(NodeCondition::Instance(test)));
    names.sort_unstable();
    assert_eq!(names, ["a", "b", "c", "d"]);
}

pub(super) fn ids_narrow(subject: &Subject) {
    let ids = |names: &[&str]| NodeCondition::one_of(names.iter().map(|name| e(name)).collect());
    assert_eq!(subject.satisfying(ids(&["c", "d", "a"])), ["a", "c"]);
    assert_eq!(subject.satisfying(ids(&[])), [""; 0]);
    assert_eq!(subject.satisfying(not(ids(&["a"]))), ["b", "c"]);
}

pub(super) fn numbers_compare_across_datatypes(subject: &Subject) {
    let some = |comparison, size| subject.satisfying(sizes(Quantifier::Some, comparison, size));
    assert_eq!(some(Comparison::Greater, 2), ["b", "c"]);
    assert_eq!(some(Comparison::Equal, 3), ["c"]);
    assert_eq!(some(Comparison::NotEqual, 3), ["a", "b"]);
}

pub(super) fn texts_are_compared_whatever_their_tag(subject: &Subject) {
    let equals = |text: &str| {
        let literal = Literal::new_simple_literal(text);
        subject.satisfying(named(test(Domain::Text, Comparison::Equal, literal)))
    };
    assert_eq!(equals("b"), ["a"]);
    assert_eq!(equals("C"), ["b"]);
    assert_eq!(equals("c"), [""; 0]);
}

pub(super) fn tags_are_compared_without_case(subject: &Subject) {
    let tagged = |range| {
        subject.satisfying(named(TermCondition::Lang {
            include: vec![range],
            exclude: Vec::new(),
        }))
    };
    assert_eq!(tagged(TagRange::Tag("en".to_owned())), ["a"]);
    assert_eq!(tagged(TagRange::Untagged), ["a", "b"]);
    assert_eq!(tagged(TagRange::Dialects("de".to_owned())), [""; 0]);
}

pub(super) fn a_negation_is_true_of_what_has_no_value(subject: &Subject) {
    let literal = Literal::new_simple_literal("C");
    let name = || named(test(Domain::Text, Comparison::Equal, literal.clone()));
    assert_eq!(subject.satisfying(not(name())), ["a", "c"]);
    let either = NodeCondition::Any(vec![name(), not(named(TermCondition::TRUE))]);
    assert_eq!(subject.satisfying(either), ["b", "c"]);
}

pub(super) fn every_value_must_satisfy(subject: &Subject) {
    let every = |size| subject.satisfying(sizes(Quantifier::Every, Comparison::Less, size));
    assert_eq!(every(3), ["a", "b"]);
    assert_eq!(every(9), ["a", "b", "c"]);
    let text = NodeCondition::Not(Box::new(NodeCondition::OneOf(vec![e("b")])));
    let nodes = values(next(), Quantifier::Every, ValueCondition::Node(text));
    // The literal and the blank node among the values are not objects, so the condition ignores
    // them.
    assert_eq!(subject.satisfying(nodes), ["b", "c"]);
}

pub(super) fn objects_are_reached_both_ways(subject: &Subject) {
    let big = sizes(Quantifier::Some, Comparison::Greater, 2);
    let to_big = |step| {
        let condition = ValueCondition::Node(NodeCondition::all([things(), big.clone()]));
        subject.satisfying(values(step, Quantifier::Some, condition))
    };
    assert_eq!(to_big(next()), ["a", "b"]);
    let inverse = Step {
        inverse: true,
        ..next()
    };
    assert_eq!(to_big(inverse), ["a", "c"]);
}

pub(super) fn texts_match_regular_expressions(subject: &Subject) {
    let matches = |pattern: &str, ignores_case, negated| {
        let regex = Regex::new(pattern, ignores_case, 100).expect("a pattern");
        let operator = Operator::Matches(regex, negated);
        let domain = Domain::Text;
        subject.satisfying(named(TermCondition::Value(ValueTest { domain, operator })))
    };
    assert_eq!(matches("^a", false, false), [""; 0]);
    assert_eq!(matches("^a", true, false), ["a"]);
    assert_eq!(matches("C", false, true), ["a"]);
}
