//! Objects whose texts match, found by searching many texts at once.

use std::collections::BTreeSet;

use oxrdf::{GraphName, NamedOrBlankNode, Term};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::evaluate::TermMatcher;
use crate::query::{
    Dataset, Domain, NodeCondition, Operator, Page, Quantifier, Regex, Selection, Step, TagRange,
    TermCondition, ValueCondition, ValueTest,
};
use crate::store::GraphStore;

fn named(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://e/{name}"))
}

/// Literals whose texts share beginnings and ends, long ones, none at all, and what is no literal.
fn objects() -> impl Strategy<Value = Term> {
    let words =
        proptest::collection::vec(select(vec!["graph", "Graph", "tree", "s", " ", "é"]), 0..5);
    let text = (words, 0..60_usize).prop_map(|(words, repeated)| match repeated {
        0 => words.concat().repeat(300),
        _ => words.concat(),
    });
    (text, 0..5_u8).prop_map(|(text, kind)| match kind {
        0 => Literal::new_language_tagged_literal_unchecked(text, "en").into(),
        1 => Literal::new_typed_literal(text, named("datatype")).into(),
        2 => named(&text.len().to_string()).into(),
        _ => Literal::from(text).into(),
    })
}

fn quads() -> impl Strategy<Value = Vec<Quad>> {
    let quad = (0..40_u8, select(vec!["a", "b"]), objects(), any::<bool>());
    let quad = quad.prop_map(|(subject, property, object, is_named)| {
        let graph = if is_named {
            named("graph").into()
        } else {
            GraphName::DefaultGraph
        };
        Quad::new(named(&subject.to_string()), named(property), object, graph)
    });
    proptest::collection::vec(quad, 0..120)
}

fn conditions() -> impl Strategy<Value = TermCondition> {
    let patterns = vec![
        "graph",
        "^graph",
        "hg",
        "s$",
        "graph|tree",
        ".*tree",
        "^$",
        "é",
        "(graph)+s",
        " s*g",
        "",
    ];
    let domain = select(vec![Domain::Text, Domain::Lexical]);
    (select(patterns), any::<bool>(), domain, any::<bool>()).prop_map(
        |(pattern, case_insensitive, domain, is_tagged)| {
            let regex = Regex::new(pattern, case_insensitive, 100).unwrap();
            let test = TermCondition::Value(ValueTest {
                domain,
                operator: Operator::Matches(regex, false),
            });
            if is_tagged {
                TermCondition::All(vec![
                    TermCondition::Lang {
                        include: vec![TagRange::Tag("en".to_owned())],
                        exclude: Vec::new(),
                    },
                    test,
                ])
            } else {
                test
            }
        },
    )
}

proptest! {
    #[test]
    fn texts_are_found_wherever_they_lie(
        of_image in quads(),
        removed in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
        added in quads(),
        conditions in proptest::collection::vec(conditions(), 4),
        reads_one_graph in any::<bool>(),
    ) {
        let mut builder = ImageBuilder::new();
        for quad in &of_image {
            builder.add(quad.as_ref()).unwrap();
        }
        let store = ImageStore::new(builder.build().unwrap());
        let removed: Vec<Quad> = if of_image.is_empty() {
            Vec::new()
        } else {
            removed.iter().map(|at| at.get(&of_image).clone()).collect()
        };
        let mut all: BTreeSet<String> = of_image.iter().map(Quad::to_string).collect();
        for quad in &removed {
            all.remove(&quad.to_string());
        }
        all.extend(added.iter().map(Quad::to_string));
        let quads: Vec<&Quad> = of_image.iter().chain(&added)
            .filter(|quad| all.contains(&quad.to_string()))
            .collect();
        commit(&store, QuadChange { removed, added: added.clone() }, "texts").unwrap();
        for condition in &conditions {
            let matcher = TermMatcher::new(condition).unwrap();
            let wanted: BTreeSet<String> = quads.iter()
                .filter(|quad| quad.predicate == named("b"))
                .filter(|quad| !reads_one_graph || quad.graph_name == named("graph").into())
                .filter(|quad| matcher.matches(&quad.object))
                .map(|quad| match &quad.subject {
                    NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
                    NamedOrBlankNode::BlankNode(_) => panic!("subjects are IRIs"),
                })
                .collect();
            let selection = Selection {
                condition: NodeCondition::Values {
                    step: Step::forward(named("b")),
                    quantifier: Quantifier::Some,
                    condition: Box::new(ValueCondition::Term(condition.clone())),
                },
                order: Vec::new(),
                page: Page::default(),
                dataset: Dataset {
                    graphs: reads_one_graph.then(|| vec![named("graph")]),
                    ..Dataset::default()
                },
            };
            let found = block_on(store.select(&selection, &CallContext::new())).unwrap();
            let found: BTreeSet<String> =
                found.iter().map(|object| object.node().as_str().to_owned()).collect();
            prop_assert_eq!(found, wanted, "{:?}", condition);
        }
    }
}
