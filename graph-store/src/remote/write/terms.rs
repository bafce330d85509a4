//! Terms that are written into queries and updates: none may be more than the value it stands for.

use std::collections::HashSet;

use oxiri::Iri;
use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term};
use spargebra::term::GroundTerm;

use crate::error::StoreError;
use crate::write::{QuadChange, QuadPattern};

/// What a server makes of IRIs with the path segments `.` and `..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::remote) enum DotSegments {
    /// It keeps them.
    Kept,
    /// It may resolve them, as references are, so that another IRI is written or read.
    Resolved,
}

/// Checks the terms of a change. Algebra is shown as text on its way to a server, and whoever made a
/// term without checks could have put syntax into an IRI or a language tag.
pub(in crate::remote) fn check_change(
    change: &QuadChange,
    dots: DotSegments,
) -> Result<(), StoreError> {
    let mut checked = HashSet::new();
    for quad in change.removed.iter().chain(&change.added) {
        check_quad(quad, dots, &mut checked)?;
    }
    let has_blank_node = |quad: &&Quad| quad.subject.is_blank_node() || quad.object.is_blank_node();
    match change.added.iter().find(has_blank_node) {
        None => Ok(()),
        Some(quad) => Err(StoreError::Unsupported(format!(
            "the blank node of {quad} cannot be written to a server"
        ))),
    }
}

/// Checks the terms of patterns.
pub(in crate::remote) fn check_patterns(
    patterns: &[QuadPattern],
    dots: DotSegments,
) -> Result<(), StoreError> {
    let check_node = |node: &NamedNode| check_node(node, dots);
    let check = |nodes: &[&NamedNode]| nodes.iter().try_for_each(|node| check_node(node));
    patterns.iter().try_for_each(|pattern| match pattern {
        QuadPattern::About(subject) => check_node(subject),
        QuadPattern::Values { subject, predicate } => check(&[subject, predicate]),
        QuadPattern::Links { predicate, object } => check(&[predicate, object]),
        QuadPattern::Referrers { object, also } => {
            check_node(object)?;
            also.iter().try_for_each(check_node)
        }
    })
}

/// Checks the terms of a quad, each IRI once for all quads.
fn check_quad<'q>(
    quad: &'q Quad,
    dots: DotSegments,
    checked: &mut HashSet<&'q str>,
) -> Result<(), StoreError> {
    let mut check_node = |node: &'q NamedNode| {
        if checked.insert(node.as_str()) {
            check_node(node, dots)
        } else {
            Ok(())
        }
    };
    if let NamedOrBlankNode::NamedNode(subject) = &quad.subject {
        check_node(subject)?;
    }
    check_node(&quad.predicate)?;
    match &quad.object {
        Term::NamedNode(object) => check_node(object)?,
        Term::Literal(object) => check_literal(object, dots)?,
        Term::BlankNode(_) => {}
        #[allow(
            unreachable_patterns,
            reason = "there are more terms with the feature rdf-12"
        )]
        other => {
            return Err(StoreError::Unsupported(format!(
                "{other} cannot be written to a server"
            )));
        }
    }
    match &quad.graph_name {
        GraphName::NamedNode(graph) => check_node(graph),
        GraphName::DefaultGraph => Ok(()),
        GraphName::BlankNode(_) => Err(StoreError::Unsupported(
            "a graph without a name cannot be written to on a server".to_owned(),
        )),
    }
}

fn check_node(node: &NamedNode, dots: DotSegments) -> Result<(), StoreError> {
    let iri = node.as_str();
    let Ok(parsed) = Iri::parse(iri) else {
        return Err(StoreError::Unsupported(format!(
            "`{iri}` is not a valid IRI"
        )));
    };
    let has_dots = || {
        let mut segments = parsed.path().split('/');
        segments.any(|segment| matches!(segment, "." | ".."))
    };
    if dots == DotSegments::Resolved && has_dots() {
        Err(StoreError::Unsupported(format!(
            "`{iri}` has the path segments `.` or `..`, which servers resolve to a different IRI"
        )))
    } else {
        Ok(())
    }
}

fn check_literal(literal: &Literal, dots: DotSegments) -> Result<(), StoreError> {
    let Some(tag) = literal.language() else {
        return check_node(&literal.datatype().into_owned(), dots);
    };
    // All that SPARQL allows in a tag.
    let mut parts = tag.split('-');
    let first = parts.next().unwrap_or_default();
    let is_tag = !first.is_empty()
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if is_tag {
        Ok(())
    } else {
        Err(StoreError::Unsupported(format!(
            "`{tag}` is not a valid language tag"
        )))
    }
}

/// Returns the terms of a quad without blank nodes, the graph last unless it is the default graph.
pub(super) fn ground(quad: &Quad) -> Option<Vec<GroundTerm>> {
    let mut row: Vec<GroundTerm> = Vec::with_capacity(4);
    let NamedOrBlankNode::NamedNode(subject) = &quad.subject else {
        return None;
    };
    row.push(subject.clone().into());
    row.push(quad.predicate.clone().into());
    row.push(GroundTerm::try_from(quad.object.clone()).ok()?);
    if let GraphName::NamedNode(graph) = &quad.graph_name {
        row.push(graph.clone().into());
    }
    Some(row)
}

/// Returns quads as they stand in an update.
///
/// # Panics
/// When a graph is a blank node, which a checked change has not.
pub(in crate::remote) fn data(quads: &[Quad]) -> Vec<spargebra::term::Quad> {
    let quads = quads.iter().cloned();
    quads
        .map(|quad| spargebra::term::Quad {
            subject: quad.subject,
            predicate: quad.predicate,
            object: quad.object,
            graph_name: match quad.graph_name {
                GraphName::NamedNode(graph) => graph.into(),
                GraphName::DefaultGraph => spargebra::term::GraphName::DefaultGraph,
                GraphName::BlankNode(_) => unreachable!("the change is checked"),
            },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use oxrdf::NamedNode;

    use super::{DotSegments, check_node};

    #[test]
    fn iris_that_a_server_would_resolve_are_refused_where_it_may() {
        for iri in [
            "http://e/a/../b",
            "http://e//./",
            "http://e/..",
            "urn:x/./y",
        ] {
            let node = NamedNode::new(iri).expect("an IRI");
            assert!(check_node(&node, DotSegments::Kept).is_ok(), "{iri}");
            assert!(check_node(&node, DotSegments::Resolved).is_err(), "{iri}");
        }
        for iri in [
            "http://e/a..b/.c",
            "http://e/a?b=/../",
            "http://e/#/../",
            "http://../a",
        ] {
            let node = NamedNode::new(iri).expect("an IRI");
            assert!(check_node(&node, DotSegments::Resolved).is_ok(), "{iri}");
        }
        let broken = NamedNode::new_unchecked("http://e/> <x");
        assert!(check_node(&broken, DotSegments::Kept).is_err());
    }
}
