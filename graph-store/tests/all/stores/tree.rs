//! Results of queries for several levels: what does not fit is an error, and what is too large is read
//! level by level.

use graph_store::query::{
    Dataset, NodeCondition, ObjectRef, Slot, Step, Tree, TreeLevel, TreeRequest, TypeTest,
};
use graph_store::{CallContext, StoreError, TreeStore};
use oxrdf::vocab::rdf;
use oxrdf::{BlankNode, Literal, Term};

use super::fixed::{e, iri, store};
use crate::stores::runtime;

/// Reads which of `a` and `b` are things, what follows them, and the names of that: the columns of rows.
fn read(terms: Option<Vec<Option<Term>>>) -> Result<Option<Tree>, StoreError> {
    let slot = |name| Slot::new(Step::forward(e(name)));
    let (next, name) = ([slot("next")], [slot("name")]);
    let levels = [(None, &next), (Some((0, 0)), &name)];
    let levels = levels.map(|(parent, slots)| TreeLevel {
        parent,
        is_apart: false,
        slots,
    });
    let test = TypeTest::new(rdf::TYPE.into_owned(), vec![e("Thing")]);
    let request = TreeRequest {
        roots: &[e("a").into(), e("b").into()],
        condition: Some(&NodeCondition::Instance(test)),
        levels: &levels,
        dataset: &Dataset::default(),
    };
    runtime().block_on(store(3, terms).read_tree(&request, &CallContext::new()))
}

#[test]
fn rows_are_the_values_of_their_level() {
    let text = Term::from(Literal::from("text"));
    let blank = Some(Term::from(BlankNode::default()));
    let rows = [
        [iri("b"), None, None],
        [iri("b"), iri("c"), None],
        [iri("b"), iri("c"), Some(text.clone())],
        [iri("b"), blank.clone(), Some(text.clone())],
        [iri("b"), Some(text.clone()), None],
        [iri("x"), iri("c"), Some(text.clone())],
        [blank, None, None],
        [None, None, None],
    ];
    let read = read(Some(rows.concat())).expect("rows that fit");
    let Tree { roots, levels } = read.expect("a tree");
    assert_eq!(roots, [ObjectRef::from(e("b"))]);
    let objects = [e("d").into(), e("c").into(), e("b").into()];
    let columns = levels.into_iter().map(|level| {
        let mut columns = level.into_hydrated(&objects).columns;
        columns.pop().expect("a column")
    });
    let columns: Vec<_> = columns.collect();
    assert_eq!(columns[0].offsets, [0, 0, 0, 2]);
    let next = [Term::from(e("c")), text.clone()];
    assert_eq!(*columns[0].of(2).to_terms(), next);
    assert_eq!(columns[1].offsets, [0, 0, 1, 1]);
    assert_eq!(*columns[1].of(1).to_terms(), [text]);
}

#[test]
fn rows_of_another_shape_fail() {
    let text = Some(Term::from(Literal::from("text")));
    for row in [
        vec![iri("a"), None, text.clone()],
        vec![None, None, text.clone()],
        vec![iri("a"), iri("b"), text, None],
        vec![iri("a")],
    ] {
        let read = read(Some(row.clone()));
        assert!(matches!(read, Err(StoreError::Failed(_))), "{row:?}");
    }
}

#[test]
fn what_is_too_large_at_once_is_read_level_by_level() {
    assert!(matches!(read(None), Ok(None)));
}
