//! Queries and updates of the named graph, as algebra: nothing that a user sends is read as syntax.

use oxrdf::{Literal, NamedNode, NamedNodeRef, Term, Variable};
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{
    GraphName, GraphNamePattern, GroundQuadPattern, GroundTerm, NamedNodePattern, Quad,
    TermPattern, TriplePattern,
};
use spargebra::{GraphUpdateOperation, Query, Update};

use super::vocabulary::{
    APPLICATION, BINDING, BOUND_SCHEMA, BYTES, ID, LEASE, PROBE, REVISION, SCHEMA, SERVICE, TEXT,
    graph, probe,
};

const TYPE: NamedNodeRef<'static> = oxrdf::vocab::rdf::TYPE;

/// Returns the query for the names and sizes of all schemas: `id`, `bytes`.
pub(super) fn all_schemas() -> Query {
    let of = |property, name| triple(var("schema"), property, var(name));
    let is_schema = triple(var("schema"), TYPE, SCHEMA.into_owned());
    select(
        &["id", "bytes"],
        in_graph(vec![is_schema, of(ID, "id"), of(BYTES, "bytes")]),
    )
}

/// Returns the query for a document: `text`, `revision`.
pub(super) fn document(node: &NamedNode) -> Query {
    let of = |property, name| triple(node.clone(), property, var(name));
    select(
        &["text", "revision"],
        in_graph(vec![of(TEXT, "text"), of(REVISION, "revision")]),
    )
}

/// Returns the query for the revision of a document: `revision`.
pub(super) fn revision(node: &NamedNode) -> Query {
    let revision = triple(node.clone(), REVISION, var("revision"));
    select(&["revision"], in_graph(vec![revision]))
}

/// Returns the query for the revision of a schema, and for the services of all applications to which it is bound:
/// `revision`, `service`.
pub(super) fn use_of_schema(node: &NamedNode) -> Query {
    let revision = triple(node.clone(), REVISION, var("revision"));
    let binds = triple(var("binding"), BOUND_SCHEMA, node.clone());
    let service = triple(var("binding"), SERVICE, var("service"));
    let either = GraphPattern::Union {
        left: Box::new(in_graph(vec![revision])),
        right: Box::new(in_graph(vec![binds, service])),
    };
    select(&["revision", "service"], either)
}

/// Returns the query for what is bound: one row if that is known, with `schema` if it is not nothing, and with `revision` if
/// the schema is stored.
pub(super) fn bound(binding: &NamedNode) -> Query {
    let is_binding = triple(binding.clone(), TYPE, BINDING.into_owned());
    let schema = triple(binding.clone(), BOUND_SCHEMA, var("schema"));
    let revision = triple(var("schema"), REVISION, var("revision"));
    let schema = optional(in_graph(vec![schema]), in_graph(vec![revision]));
    select(
        &["schema", "revision"],
        optional(in_graph(vec![is_binding]), schema),
    )
}

/// Returns the query for what is bound to the services of all applications: `application`, `service`, and `schema` if it is
/// not nothing.
pub(super) fn all_bindings() -> Query {
    let of = |property, name| triple(var("binding"), property, var(name));
    let bindings = in_graph(vec![
        triple(var("binding"), TYPE, BINDING.into_owned()),
        of(APPLICATION, "application"),
        of(SERVICE, "service"),
    ]);
    let schema = in_graph(vec![of(BOUND_SCHEMA, "schema")]);
    select(
        &["application", "service", "schema"],
        optional(bindings, schema),
    )
}

/// Returns the query for the revision of a schema that is to be bound, and for what is bound: `stored`, `known`, `schema`.
pub(super) fn to_bind(binding: &NamedNode, schema: Option<&NamedNode>) -> Query {
    let known = triple(binding.clone(), REVISION, var("known"));
    let bound = triple(binding.clone(), BOUND_SCHEMA, var("schema"));
    let current = optional(in_graph(vec![known]), in_graph(vec![bound]));
    let pattern = match schema {
        None => current,
        Some(schema) => GraphPattern::Union {
            left: Box::new(in_graph(vec![triple(
                schema.clone(),
                REVISION,
                var("stored"),
            )])),
            right: Box::new(current),
        },
    };
    select(&["stored", "known", "schema"], pattern)
}

/// Returns the query for some properties of a node, all of which it has or none: variables named as their order.
pub(super) fn properties(node: &NamedNode, properties: &[NamedNodeRef<'_>]) -> Query {
    let names = ["a", "b", "c"];
    let found = properties
        .iter()
        .zip(names)
        .map(|(property, name)| triple(node.clone(), *property, var(name)));
    select(&names[..properties.len()], in_graph(found.collect()))
}

/// Returns the query that has a solution if a node has a revision.
pub(super) fn has_revision(node: &NamedNode, of: &str) -> Query {
    let revision = triple(node.clone(), REVISION, Literal::from(of));
    let kind = triple(node.clone(), TYPE, var("type"));
    select(&["type"], in_graph(vec![revision, kind]))
}

/// Returns the query that has a solution if nothing is stored about a node.
pub(super) fn is_absent(node: &NamedNode) -> Query {
    let once = GraphPattern::Values {
        variables: vec![var("node")],
        bindings: vec![vec![Some(GroundTerm::from(node.clone()))]],
    };
    let stored = in_graph(vec![TriplePattern {
        subject: node.clone().into(),
        predicate: var("property").into(),
        object: var("value").into(),
    }]);
    let absent = Expression::Not(Box::new(Expression::Exists(Box::new(stored))));
    let pattern = GraphPattern::Filter {
        expr: absent,
        inner: Box::new(once),
    };
    select(&["node"], pattern)
}

/// Returns the query that has a solution wherever queries are answered.
pub(super) fn anything() -> Query {
    let once = GraphPattern::Values {
        variables: vec![var("node")],
        bindings: vec![vec![Some(GroundTerm::from(graph()))]],
    };
    select(&["node"], once)
}

/// Returns the update that stores a node with nothing but these properties.
pub(super) fn store(node: &NamedNode, properties: Vec<(NamedNodeRef<'_>, Term)>) -> Update {
    let quads = properties.into_iter().map(|(property, object)| Quad {
        subject: node.clone().into(),
        predicate: property.into_owned(),
        object,
        graph_name: GraphName::NamedNode(graph()),
    });
    let insert = GraphUpdateOperation::InsertData {
        data: quads.collect(),
    };
    update(vec![remove_all(node), insert])
}

/// Returns the update that removes a node.
pub(super) fn remove(node: &NamedNode) -> Update {
    update(vec![remove_all(node)])
}

/// Returns the update that removes everything but leases and a node, which is stored with nothing but these properties.
pub(super) fn keep_only(node: &NamedNode, properties: Vec<(NamedNodeRef<'_>, Term)>) -> Update {
    let [subject, property, value] = ["subject", "property", "value"].map(var);
    let everything = in_graph(vec![TriplePattern {
        subject: subject.clone().into(),
        predicate: property.clone().into(),
        object: value.clone().into(),
    }]);
    let is_lease = in_graph(vec![triple(subject.clone(), TYPE, LEASE.into_owned())]);
    let is_lease = Expression::Exists(Box::new(is_lease));
    let removal = GraphUpdateOperation::DeleteInsert {
        delete: vec![GroundQuadPattern {
            subject: subject.into(),
            predicate: property.into(),
            object: value.into(),
            graph_name: GraphNamePattern::NamedNode(graph()),
        }],
        insert: Vec::new(),
        using: None,
        pattern: Box::new(GraphPattern::Filter {
            expr: Expression::Not(Box::new(is_lease)),
            inner: Box::new(everything),
        }),
    };
    let mut stored = store(node, properties).operations;
    stored.insert(0, removal);
    update(stored)
}

/// Returns an update that changes nothing, for whoever may write.
pub(super) fn nothing() -> Update {
    let (node, property) = (probe(), NamedNode::from(PROBE));
    update(vec![remove_matching(&node, property.into())])
}

fn remove_all(node: &NamedNode) -> GraphUpdateOperation {
    remove_matching(node, var("property").into())
}

fn remove_matching(node: &NamedNode, property: NamedNodePattern) -> GraphUpdateOperation {
    let found = TriplePattern {
        subject: node.clone().into(),
        predicate: property.clone(),
        object: var("value").into(),
    };
    GraphUpdateOperation::DeleteInsert {
        delete: vec![GroundQuadPattern {
            subject: node.clone().into(),
            predicate: property,
            object: var("value").into(),
            graph_name: GraphNamePattern::NamedNode(graph()),
        }],
        insert: Vec::new(),
        using: None,
        pattern: Box::new(in_graph(vec![found])),
    }
}

fn update(operations: Vec<GraphUpdateOperation>) -> Update {
    Update {
        base_iri: None,
        operations,
    }
}

fn select(names: &[&str], pattern: GraphPattern) -> Query {
    Query::Select {
        dataset: None,
        pattern: GraphPattern::Project {
            inner: Box::new(pattern),
            variables: names.iter().map(|name| var(name)).collect(),
        },
        base_iri: None,
    }
}

fn optional(left: GraphPattern, right: GraphPattern) -> GraphPattern {
    GraphPattern::LeftJoin {
        left: Box::new(left),
        right: Box::new(right),
        expression: None,
    }
}

fn in_graph(patterns: Vec<TriplePattern>) -> GraphPattern {
    GraphPattern::Graph {
        name: graph().into(),
        inner: Box::new(GraphPattern::Bgp { patterns }),
    }
}

fn triple(
    subject: impl Into<TermPattern>,
    property: NamedNodeRef<'_>,
    object: impl Into<TermPattern>,
) -> TriplePattern {
    TriplePattern {
        subject: subject.into(),
        predicate: property.into_owned().into(),
        object: object.into(),
    }
}

fn var(name: &str) -> Variable {
    Variable::new_unchecked(name)
}

#[cfg(test)]
mod tests {
    use spargebra::SparqlParser;

    use super::*;
    use crate::rdf4j::vocabulary::{rights, schema};

    #[test]
    fn queries_are_what_a_reader_of_sparql_expects() {
        let films = schema("films");
        for (query, expected) in [
            (
                revision(&films),
                "SELECT ?revision WHERE { GRAPH <urn:soml:schemas> { <urn:soml:schemas:schema:films> \
                 <urn:soml:schemas:vocabulary:revision> ?revision . } }",
            ),
            (
                anything(),
                "SELECT ?node WHERE { VALUES ( ?node ) { ( <urn:soml:schemas> )  } }",
            ),
        ] {
            assert_eq!(query.to_string(), expected);
        }
        for query in [
            all_schemas(),
            document(&films),
            use_of_schema(&films),
            bound(&films),
            all_bindings(),
            to_bind(&films, Some(&films)),
            to_bind(&films, None),
            properties(&films, &[ID, TEXT]),
            has_revision(&films, "x"),
            is_absent(&films),
        ] {
            let text = query.to_string();
            let parsed = SparqlParser::new().parse_query(&text);
            assert!(parsed.is_ok(), "{parsed:?}\n{text}");
        }
    }

    #[test]
    fn what_removes_everything_else_is_an_update() {
        let shown = keep_only(&rights(), vec![(TEXT, Literal::from("x").into())]).to_string();
        let parsed = SparqlParser::new()
            .parse_update(&shown)
            .unwrap_or_else(|error| panic!("{error}\n{shown}"));
        assert_eq!(parsed.operations.len(), 3, "{shown}");
    }

    #[test]
    fn no_text_becomes_syntax() {
        let text = "\" } } ; DROP ALL ; INSERT DATA { GRAPH <urn:x> { <urn:x> <urn:x> \"\\u0022";
        let node = rights();
        let update = store(&node, vec![(TEXT, Literal::from(text).into())]);
        let shown = update.to_string();
        let parsed = SparqlParser::new()
            .parse_update(&shown)
            .unwrap_or_else(|error| panic!("{error}\n{shown}"));
        assert_eq!(parsed.operations.len(), 2, "{shown}");
        let [_, GraphUpdateOperation::InsertData { data }] = &parsed.operations[..] else {
            panic!("{shown}");
        };
        assert_eq!(data.len(), 1);
        assert_eq!(data[0].object, Term::from(Literal::from(text)));
    }
}
