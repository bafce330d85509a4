//! The guard of an update: a pattern with one solution if everything that was read is still so, and
//! with none otherwise.
//!
//! Two conditions say it exactly. All quads that were read exist; and as many quads match what was read
//! as were read, so that no other does. Blank nodes have no names, so quads with them are counted, for
//! each subject and predicate or predicate and object.

use oxrdf::{Literal, NamedNode, Variable};
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern,
};
use spargebra::term::GroundTerm;

use super::change::Shape;
use super::graphs::{
    Graphs, any_of, filter, in_change_graph, is, join, no, select, triple, values, var, within,
};
use super::read::Lists;
use super::read_write_set::ReadWriteSet;
use super::terms::ground;
use crate::sparql::balanced;
use crate::write::change_graph;

/// Returns the guard of a transaction that takes a sequence.
pub(super) fn guard(graphs: Graphs, set: &ReadWriteSet, sequence: u64) -> GraphPattern {
    let mut parts = Vec::new();
    let (mut named, mut default) = (Vec::new(), Vec::new());
    for row in set.ground().filter_map(ground) {
        match row.len() {
            4 => named.push(row),
            _ => default.push(row),
        }
    }
    let total = named.len() + default.len();
    let spo = || triple(var("s"), var("p"), var("o"));
    if !named.is_empty() {
        let count = named.len();
        let found = join(
            values(&["s", "p", "o", "g"], named),
            within(var("g"), spo()),
        );
        parts.push((found, count));
    }
    if let (false, Some(in_default)) = (default.is_empty(), graphs.in_default(spo())) {
        let count = default.len();
        parts.push((join(values(&["s", "p", "o"], default), in_default), count));
    }
    let covered = covered(set).branches(graphs);
    if !covered.is_empty() {
        let columns = ["s", "p", "o", "g"].map(var);
        let distinct = GraphPattern::Distinct {
            inner: Box::new(select(&columns, any_of(covered))),
        };
        let blank = || {
            let either = ["s", "o"].map(|name| Box::new(is(Function::IsBlank, &var(name))));
            let [subject, object] = either;
            Expression::Or(subject, object)
        };
        let others = Expression::Not(Box::new(blank()));
        parts.push((filter(distinct.clone(), others), total));
        let blank_quads = set.blank.iter().map(|(_, quads)| quads.len()).sum();
        parts.push((filter(distinct, blank()), blank_quads));
    }
    parts.extend(blank_counts(graphs, set));
    let parts = parts.into_iter().zip(0..);
    let mut parts: Vec<_> = parts
        .map(|((found, count), number)| counted(found, count, number))
        .collect();
    parts.push(free(sequence));
    balanced(parts, join).expect("there is a part about the sequence")
}

/// Returns a pattern with one solution if another has so many.
fn counted(found: GraphPattern, count: usize, number: usize) -> GraphPattern {
    let sum = var(&format!("n{number}"));
    let counted = GraphPattern::Group {
        inner: Box::new(found),
        variables: Vec::new(),
        aggregates: vec![(
            sum.clone(),
            AggregateExpression::CountSolutions { distinct: false },
        )],
    };
    let columns = [sum.clone()];
    let expected = Literal::from(u64::try_from(count).expect("a count fits"));
    let is_so = Expression::Equal(Box::new(sum.into()), Box::new(expected.into()));
    select(&columns, filter(counted, is_so))
}

/// Returns what was read, as lists of terms without what others hold already.
fn covered(set: &ReadWriteSet) -> Lists {
    let covered = &set.covered;
    let row = |nodes: &[&NamedNode]| nodes.iter().map(|&node| node.clone().into()).collect();
    let values = covered
        .values
        .iter()
        .filter(|(subject, _)| !covered.subjects.contains(subject));
    let links = covered
        .links
        .iter()
        .filter(|(_, object)| !covered.objects.contains(object));
    let mut lists = Lists::default();
    lists.subjects = covered.subjects.iter().map(|node| row(&[node])).collect();
    lists.values = values.map(|(s, p)| row(&[s, p])).collect();
    lists.links = links.map(|(p, o)| row(&[p, o])).collect();
    lists.objects = covered.objects.iter().map(|node| row(&[node])).collect();
    lists
}

/// Returns patterns that have a solution for each shape whose quads are as many as were read.
fn blank_counts(graphs: Graphs, set: &ReadWriteSet) -> Vec<(GraphPattern, usize)> {
    let mut lists: [Vec<Vec<GroundTerm>>; 4] = Default::default();
    for (shape, quads) in set.blank.iter() {
        let count = Literal::from(u64::try_from(quads.len()).expect("a count fits"));
        let (mut row, graph, is_subject): (Vec<GroundTerm>, _, _) = match shape {
            Shape::Object(subject, predicate, graph) => (
                vec![subject.clone().into(), predicate.clone().into()],
                graph,
                false,
            ),
            Shape::Subject(predicate, object, graph) => {
                (vec![predicate.clone().into(), object.clone()], graph, true)
            }
        };
        row.extend(graph.clone().map(GroundTerm::from));
        row.push(count.into());
        lists[usize::from(is_subject) * 2 + usize::from(graph.is_some())].push(row);
    }
    let mut parts = Vec::new();
    for (list, (names, blank)) in lists.into_iter().zip(BLANK) {
        if list.is_empty() {
            continue;
        }
        let spo = triple(var("s"), var("p"), var("o"));
        let found = match names {
            [.., "g"] => Some(within(var("g"), spo)),
            _ => graphs.in_default(spo),
        };
        let Some(found) = found else { continue };
        let shapes = list.iter().map(|row| row[..names.len()].to_vec()).collect();
        let found = filter(
            join(values(names, shapes), found),
            is(Function::IsBlank, &var(blank)),
        );
        let (groups, count) = grouped(found, names, blank);
        let columns: Vec<&str> = names.iter().copied().chain(["c"]).collect();
        let expected = list.len();
        parts.push((join(groups, values(&columns, list)), expected));
        debug_assert_eq!(count, var("c"));
    }
    parts
}

/// The columns of shapes, and their blank node: an object, one in a named graph, a subject, one in a
/// named graph.
const BLANK: [(&[&str], &str); 4] = [
    (&["s", "p"], "o"),
    (&["s", "p", "g"], "o"),
    (&["p", "o"], "s"),
    (&["p", "o", "g"], "s"),
];

/// Counts the values of a variable for each combination of others.
fn grouped(found: GraphPattern, names: &[&str], blank: &str) -> (GraphPattern, Variable) {
    let count = var("c");
    let groups = GraphPattern::Group {
        inner: Box::new(found),
        variables: names.iter().map(|name| var(name)).collect(),
        aggregates: vec![(
            count.clone(),
            AggregateExpression::FunctionCall {
                name: AggregateFunction::Count,
                expr: var(blank).into(),
                distinct: true,
            },
        )],
    };
    (groups, count)
}

/// Returns a pattern with one solution if no record has, or had, a sequence.
pub(super) fn free(sequence: u64) -> GraphPattern {
    let literal = change_graph::sequence(sequence);
    let record = triple(
        var("record"),
        change_graph::SEQUENCE.into_owned(),
        literal.clone(),
    );
    let forgotten = triple(
        change_graph::GRAPH.into_owned(),
        change_graph::FORGOTTEN.into_owned(),
        var("up"),
    );
    let is_before = Expression::Less(Box::new(var("up").into()), Box::new(literal.clone().into()));
    let is_past = Expression::Not(Box::new(is_before));
    let once = values(&["taken"], vec![vec![literal.into()]]);
    let free = filter(once, no(in_change_graph(record)));
    filter(free, no(filter(in_change_graph(forgotten), is_past)))
}
