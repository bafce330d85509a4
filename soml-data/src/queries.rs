//! The queries that count what a SPARQL server has, as algebra.
//!
//! Each reads every statement once, however many graphs it is in, and answers with one row per thing
//! that is counted.

use oxrdf::vocab::{rdf, rdfs};
use oxrdf::{Literal, NamedNode, Variable};
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern, OrderExpression,
};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

/// Maximum number of rows of an answer; as many properties as a schema may have.
pub(crate) const MAX_ROWS: usize = 200_000;

/// Stands for all classes that become objects.
pub(crate) const ANY_CLASS: &str = "any";

/// What [`kinds`] answers for values that are no literals, and for tagged strings.
pub(crate) mod kind {
    pub(crate) const IRI: &str = "iri";
    pub(crate) const BLANK: &str = "blank";
    pub(crate) const TAGGED: &str = "tagged";
}

/// Pairs of a type in the data, and of what its instances are counted for.
pub(crate) type Pairs = Vec<(NamedNode, GroundTerm)>;

/// Classes with the number of their instances, the largest first: of all nodes, or of IRIs alone.
pub(crate) fn classes(properties: &[NamedNode], only_iris: bool, limit: usize) -> GraphPattern {
    let typed = GraphPattern::Join {
        left: Box::new(values("p", properties.iter().cloned().map(Into::into))),
        right: Box::new(bgp(vec![triple("s", var("p"), var("c"))])),
    };
    let typed = filter(typed, is_iri("c"));
    let typed = if only_iris {
        filter(typed, is_iri("s"))
    } else {
        typed
    };
    let counted = group(typed, &["c"], vec![("n", count_distinct("s"))]);
    let ordered = GraphPattern::OrderBy {
        inner: Box::new(counted),
        expression: vec![
            OrderExpression::Desc(variable("n")),
            OrderExpression::Asc(variable("c")),
        ],
    };
    limited(project(ordered, &["c", "n"]), limit)
}

/// Numbers of instances that classes share with others.
pub(crate) fn shared(classes: &[NamedNode]) -> GraphPattern {
    let types = bgp(vec![of_type("s", "c"), of_type("s", "d")]);
    let both = join(values("c", classes.iter().cloned().map(Into::into)), types);
    let equal = Expression::Equal(Box::new(variable("c")), Box::new(variable("d")));
    let both = filter(both, and(is_iri("s"), Expression::Not(Box::new(equal))));
    let counted = group(both, &["c", "d"], vec![("n", count_distinct("s"))]);
    bounded(project(counted, &["c", "d", "n"]))
}

/// The superclasses that `rdfs:subClassOf` names.
pub(crate) fn superclasses(classes: &[NamedNode]) -> GraphPattern {
    let property = TermPattern::from(rdfs::SUB_CLASS_OF.into_owned());
    let stated = bgp(vec![triple("c", property, var("d"))]);
    let stated = join(values("c", classes.iter().cloned().map(Into::into)), stated);
    bounded(distinct(project(filter(stated, is_iri("d")), &["c", "d"])))
}

/// The number of instances of each class, and their first and last IRI.
pub(crate) fn instances(members: &Pairs) -> GraphPattern {
    let typed = join(pairs(["t", "c"], members), bgp(vec![of_type("s", "t")]));
    let iri = || call(Function::Str, "s");
    let counted = group(
        filter(typed, is_iri("s")),
        &["c"],
        vec![
            ("n", count_distinct("s")),
            ("first", aggregate(AggregateFunction::Min, iri())),
            ("last", aggregate(AggregateFunction::Max, iri())),
        ],
    );
    bounded(project(counted, &["c", "n", "first", "last"]))
}

/// Of each class and property the number of instances with values, and of values; then the number of
/// instances with literals, and of literals of the instance with the most, and the same of IRIs.
pub(crate) fn properties(members: &Pairs) -> GraphPattern {
    let per_subject = group(
        statements(members),
        &["c", "p", "s"],
        vec![
            ("n", count("o")),
            ("l", sum(one_if(call(Function::IsLiteral, "o")))),
            ("i", sum(one_if(is_iri("o")))),
        ],
    );
    let any = |of| {
        sum(one_if(Expression::Greater(
            Box::new(variable(of)),
            Box::new(number(0)),
        )))
    };
    let counted = group(
        per_subject,
        &["c", "p"],
        vec![
            ("subjects", count("s")),
            ("values", sum(variable("n"))),
            ("literals", any("l")),
            (
                "mostLiterals",
                aggregate(AggregateFunction::Max, variable("l")),
            ),
            ("iris", any("i")),
            ("mostIris", aggregate(AggregateFunction::Max, variable("i"))),
        ],
    );
    let columns = [
        "c",
        "p",
        "subjects",
        "values",
        "literals",
        "mostLiterals",
        "iris",
        "mostIris",
    ];
    bounded(project(counted, &columns))
}

/// Of each class and property the number of values of each kind: one of [`kind`] or a datatype.
pub(crate) fn kinds(members: &Pairs) -> GraphPattern {
    let text = |text: &str| Expression::Literal(Literal::new_simple_literal(text));
    let choose = |condition: Expression, yes: Expression, no: Expression| {
        Expression::If(Box::new(condition), Box::new(yes), Box::new(no))
    };
    let tag = call(Function::Lang, "o");
    let is_plain = Expression::Equal(Box::new(tag), Box::new(text("")));
    let datatype = Expression::FunctionCall(Function::Str, vec![call(Function::Datatype, "o")]);
    let literal = choose(is_plain, datatype, text(kind::TAGGED));
    let resource = choose(is_iri("o"), text(kind::IRI), text(kind::BLANK));
    let extended = GraphPattern::Extend {
        inner: Box::new(statements(members)),
        variable: name("k"),
        expression: choose(call(Function::IsLiteral, "o"), literal, resource),
    };
    let counted = group(extended, &["c", "p", "k"], vec![("n", count("o"))]);
    bounded(project(counted, &["c", "p", "k", "n"]))
}

/// Of each class and property the number of IRIs among the values that are instances of each class,
/// the number of instances that have such values, and of those of the instance with the most.
pub(crate) fn targets(members: &Pairs, targets: &Pairs) -> GraphPattern {
    let typed = join(pairs(["d", "k"], targets), bgp(vec![of_type("o", "d")]));
    let inner = filter(join(statements(members), typed), is_iri("o"));
    let once = distinct(project(inner, &["c", "s", "p", "o", "k"]));
    let per_subject = group(once, &["c", "p", "k", "s"], vec![("n", count("o"))]);
    let counted = group(
        per_subject,
        &["c", "p", "k"],
        vec![
            ("values", sum(variable("n"))),
            ("subjects", count("s")),
            ("most", aggregate(AggregateFunction::Max, variable("n"))),
        ],
    );
    bounded(project(
        counted,
        &["c", "p", "k", "values", "subjects", "most"],
    ))
}

/// The literals that some properties say of some resources.
pub(crate) fn descriptions(of: &[NamedNode], properties: Vec<NamedNode>) -> GraphPattern {
    let said = bgp(vec![triple("c", var("p"), var("o"))]);
    let of = values("c", of.iter().cloned().map(Into::into));
    let properties = values("p", properties.into_iter().map(Into::into));
    let literals = filter(
        join(join(of, properties), said),
        call(Function::IsLiteral, "o"),
    );
    bounded(distinct(project(literals, &["c", "p", "o"])))
}

/// The properties of the instances of a class that are of none of its subclasses.
pub(crate) fn own_properties(class: &NamedNode, subclasses: &[NamedNode]) -> GraphPattern {
    let of_class = triple("s", rdf::TYPE.into_owned().into(), class.clone().into());
    let others = subclasses.iter().cloned().map(Expression::from).collect();
    let of_subclass = filter(
        bgp(vec![of_type("s", "d")]),
        Expression::In(Box::new(variable("d")), others),
    );
    let is_own = Expression::Not(Box::new(Expression::Exists(Box::new(of_subclass))));
    let inner = bgp(vec![of_class, triple("s", var("p"), var("o"))]);
    let inner = filter(inner, and(is_iri("s"), is_own));
    bounded(distinct(project(inner, &["p"])))
}

/// The statements about the instances of classes, each once for each class.
fn statements(members: &Pairs) -> GraphPattern {
    let triples = bgp(vec![of_type("s", "t"), triple("s", var("p"), var("o"))]);
    let ty = Expression::from(rdf::TYPE.into_owned());
    let is_type = Expression::Equal(Box::new(variable("p")), Box::new(ty));
    let inner = filter(
        join(pairs(["t", "c"], members), triples),
        and(is_iri("s"), Expression::Not(Box::new(is_type))),
    );
    distinct(project(inner, &["c", "s", "p", "o"]))
}

fn name(of: &str) -> Variable {
    Variable::new_unchecked(of)
}

fn variable(of: &str) -> Expression {
    Expression::Variable(name(of))
}

fn var(of: &str) -> TermPattern {
    TermPattern::Variable(name(of))
}

fn triple(subject: &str, property: TermPattern, object: TermPattern) -> TriplePattern {
    let predicate = match property {
        TermPattern::NamedNode(node) => NamedNodePattern::NamedNode(node),
        TermPattern::Variable(variable) => NamedNodePattern::Variable(variable),
        other => unreachable!("{other} is no property"),
    };
    TriplePattern {
        subject: var(subject),
        predicate,
        object,
    }
}

fn of_type(subject: &str, class: &str) -> TriplePattern {
    triple(subject, rdf::TYPE.into_owned().into(), var(class))
}

fn bgp(patterns: Vec<TriplePattern>) -> GraphPattern {
    GraphPattern::Bgp { patterns }
}

fn values(of: &str, terms: impl Iterator<Item = GroundTerm>) -> GraphPattern {
    GraphPattern::Values {
        variables: vec![name(of)],
        bindings: terms.map(|term| vec![Some(term)]).collect(),
    }
}

fn pairs(variables: [&str; 2], pairs: &Pairs) -> GraphPattern {
    let pairs = pairs.iter();
    GraphPattern::Values {
        variables: variables.map(name).to_vec(),
        bindings: pairs
            .map(|(class, of)| vec![Some(class.clone().into()), Some(of.clone())])
            .collect(),
    }
}

fn join(left: GraphPattern, right: GraphPattern) -> GraphPattern {
    GraphPattern::Join {
        left: Box::new(left),
        right: Box::new(right),
    }
}

fn filter(inner: GraphPattern, expr: Expression) -> GraphPattern {
    GraphPattern::Filter {
        expr,
        inner: Box::new(inner),
    }
}

fn and(left: Expression, right: Expression) -> Expression {
    Expression::And(Box::new(left), Box::new(right))
}

fn is_iri(of: &str) -> Expression {
    call(Function::IsIri, of)
}

fn group(
    inner: GraphPattern,
    by: &[&str],
    aggregates: Vec<(&str, AggregateExpression)>,
) -> GraphPattern {
    let aggregates = aggregates.into_iter();
    GraphPattern::Group {
        inner: Box::new(inner),
        variables: by.iter().map(|of| name(of)).collect(),
        aggregates: aggregates
            .map(|(of, expression)| (name(of), expression))
            .collect(),
    }
}

fn call(function: Function, of: &str) -> Expression {
    Expression::FunctionCall(function, vec![variable(of)])
}

fn number(value: u8) -> Expression {
    Expression::Literal(Literal::from(i64::from(value)))
}

/// One where a condition holds, and zero where it does not.
fn one_if(condition: Expression) -> Expression {
    Expression::If(
        Box::new(condition),
        Box::new(number(1)),
        Box::new(number(0)),
    )
}

fn sum(of: Expression) -> AggregateExpression {
    aggregate(AggregateFunction::Sum, of)
}

fn aggregate(name: AggregateFunction, expr: Expression) -> AggregateExpression {
    AggregateExpression::FunctionCall {
        name,
        expr,
        distinct: false,
    }
}

fn count(of: &str) -> AggregateExpression {
    counting(of, false)
}

fn count_distinct(of: &str) -> AggregateExpression {
    counting(of, true)
}

fn counting(of: &str, distinct: bool) -> AggregateExpression {
    AggregateExpression::FunctionCall {
        name: AggregateFunction::Count,
        expr: variable(of),
        distinct,
    }
}

fn project(inner: GraphPattern, variables: &[&str]) -> GraphPattern {
    GraphPattern::Project {
        inner: Box::new(inner),
        variables: variables.iter().map(|of| name(of)).collect(),
    }
}

fn distinct(inner: GraphPattern) -> GraphPattern {
    GraphPattern::Distinct {
        inner: Box::new(inner),
    }
}

/// Asks for one row more than is allowed, which tells that there are too many.
fn bounded(inner: GraphPattern) -> GraphPattern {
    limited(inner, MAX_ROWS + 1)
}

fn limited(inner: GraphPattern, limit: usize) -> GraphPattern {
    GraphPattern::Slice {
        inner: Box::new(inner),
        start: 0,
        length: Some(limit),
    }
}
