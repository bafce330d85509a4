//! What a transaction reads and changes: exact quads, whatever is in them.

use std::collections::HashSet;
use std::sync::Arc;

use call_context::Trace;
use graph_store::StoreError;
use graph_store::query::{Dataset, HydrationRequest, NodeCondition, Page, Selection, Slot, Step};
use graph_store::write::{QuadChange, QuadPattern};
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, GraphName, Literal, NamedNode, Quad};
use proptest::prelude::*;

use super::{
    about, begin, change, commit, context, loaded, node, now, over_every_server, quad, read,
    record, sorted, text,
};
use crate::back_end::Kind;

over_every_server! {
    each_quad_is_in_its_graph_and_comes_once
    a_quad_is_removed_from_its_graph_alone
    referrers_come_with_their_other_values
    what_is_applied_is_read_before_it_is_committed
    what_is_rolled_back_or_dropped_leaves_nothing
    quads_with_blank_nodes_are_removed_together
    values_are_no_more_than_values
    twenty_thousand_quads_are_one_change
}

fn graphs() -> Vec<Quad> {
    let name = |object: &str, graph| quad("a", "name", text(object), graph);
    vec![
        name("x", None),
        name("x", Some("g")),
        name("y", Some("g")),
        name("y", Some("h")),
        quad("b", "next", node("a"), None),
        quad("b", "name", text("b"), Some("g")),
        quad("b", "type", node("T"), Some("h")),
        quad("b", "next", node("c"), Some("h")),
        quad("c", "name", text("c"), None),
    ]
}

async fn each_quad_is_in_its_graph_and_comes_once(kind: Kind) {
    let all = graphs();
    let shared = loaded(kind, &all);
    let store = shared.instance();
    assert_eq!(now(&store, &[about("a")]).await, sorted(all[..4].to_vec()));
    let values = |subject: &str, predicate: &str| QuadPattern::Values {
        subject: node(subject),
        predicate: node(predicate),
    };
    let patterns = [about("a"), values("a", "name"), values("b", "name")];
    let mut expected = all[..4].to_vec();
    expected.push(all[5].clone());
    assert_eq!(now(&store, &patterns).await, sorted(expected));
    let links = QuadPattern::Links {
        predicate: node("next"),
        object: node("a"),
    };
    assert_eq!(now(&store, &[links]).await, all[4..5]);
    assert_eq!(now(&store, &[]).await, []);
    assert_eq!(now(&store, &[about("nothing")]).await, []);
}

async fn a_quad_is_removed_from_its_graph_alone(kind: Kind) {
    let all = graphs();
    let shared = loaded(kind, &all);
    let store = shared.instance();
    let removed = [all[0].clone(), all[2].clone()];
    let added = [
        quad("a", "age", Literal::from(1), None),
        quad("a", "age", Literal::from(2), Some("h")),
        // It is there already.
        all[3].clone(),
    ];
    commit(begin(&store).await, change(&removed, &added))
        .await
        .unwrap();
    let mut expected = vec![all[1].clone(), all[3].clone()];
    expected.extend(added[..2].iter().cloned());
    assert_eq!(now(&store, &[about("a")]).await, sorted(expected));
}

async fn referrers_come_with_their_other_values(kind: Kind) {
    let all = graphs();
    let shared = loaded(kind, &all);
    let store = shared.instance();
    let referrers = |also: &[&str]| QuadPattern::Referrers {
        object: node("a"),
        also: also.iter().map(|name| node(name)).collect(),
    };
    let same = [all[4].clone(), all[7].clone()];
    assert_eq!(now(&store, &[referrers(&[])]).await, sorted(same.to_vec()));
    let mut also = same.to_vec();
    also.extend([all[5].clone(), all[6].clone()]);
    let found = now(&store, &[referrers(&["type", "name"])]).await;
    assert_eq!(found, sorted(also));

    // A referrer that was applied has other values too, which were not read before.
    let mut transaction = begin(&store).await;
    read(&mut transaction, &[referrers(&["name"])]).await;
    let next = quad("c", "next", node("a"), None);
    let applied = change(&all[4..5], std::slice::from_ref(&next));
    transaction.apply(applied, &context()).await.unwrap();
    let found = read(&mut transaction, &[referrers(&["name"])]).await;
    assert_eq!(found, sorted(vec![next, all[8].clone()]));
    transaction.roll_back().await;
}

async fn what_is_applied_is_read_before_it_is_committed(kind: Kind) {
    let all = graphs();
    let shared = loaded(kind, &all);
    let store = shared.instance();
    let mut transaction = begin(&store).await;
    let (old, new) = (&all[..1], [quad("a", "name", text("new"), None)]);
    transaction
        .apply(change(old, &new), &context())
        .await
        .unwrap();
    let mut expected = all[1..4].to_vec();
    expected.extend(new.iter().cloned());
    assert_eq!(
        read(&mut transaction, &[about("a")]).await,
        sorted(expected.clone())
    );
    if let Some(view) = transaction.view() {
        let step = Step::forward(node("name"));
        let slots = [Slot::new(step)];
        let nodes = [node("a").into()];
        let request = HydrationRequest {
            nodes: (&nodes).into(),
            slots: &slots,
            dataset: &Dataset::default(),
        };
        let hydrated = view.hydrate(&request, &context()).await.unwrap();
        assert!(
            hydrated.columns[0]
                .of(0)
                .to_terms()
                .contains(&text("new").into())
        );
        let selection = Selection {
            condition: NodeCondition::OneOf(vec![node("a")]),
            order: Vec::new(),
            page: Page::default(),
            dataset: Dataset::default(),
        };
        assert_eq!(view.count(&selection, &context()).await.unwrap(), 1);
    }
    // Applied again, and taken back.
    transaction
        .apply(change(&new, old), &context())
        .await
        .unwrap();
    let found = read(&mut transaction, &[about("a")]).await;
    assert_eq!(found, sorted(all[..4].to_vec()));
    transaction
        .apply(change(old, &new), &context())
        .await
        .unwrap();
    transaction.commit(record(), &context()).await.unwrap();
    assert_eq!(now(&store, &[about("a")]).await, sorted(expected));
}

async fn what_is_rolled_back_or_dropped_leaves_nothing(kind: Kind) {
    let all = graphs();
    let shared = loaded(kind, &all);
    let store = shared.instance();
    for is_dropped in [false, true] {
        let mut transaction = begin(&store).await;
        read(&mut transaction, &[about("a")]).await;
        transaction
            .apply(change(&all[..4], &[]), &context())
            .await
            .unwrap();
        read(&mut transaction, &[about("b")]).await;
        if is_dropped {
            drop(transaction);
        } else {
            transaction.roll_back().await;
        }
        // The next one has its turn, and so has another instance.
        for store in [&store, &shared.instance()] {
            assert_eq!(now(store, &[about("a")]).await, sorted(all[..4].to_vec()));
        }
    }
    let record = commit(begin(&store).await, change(&all[..1], &[]))
        .await
        .unwrap();
    assert_eq!(record.sequence, 1);
}

async fn quads_with_blank_nodes_are_removed_together(kind: Kind) {
    let blank = |name: &str| BlankNode::new(name).unwrap();
    let mut all = vec![
        quad("a", "address", blank("x"), None),
        quad("a", "address", blank("y"), None),
        quad("a", "address", blank("x"), Some("g")),
        quad("a", "home", blank("x"), None),
        quad("a", "name", text("a"), None),
    ];
    for graph in [GraphName::DefaultGraph, node("g").into()] {
        all.push(Quad::new(blank("x"), node("of"), node("a"), graph.clone()));
        all.push(Quad::new(blank("x"), node("of"), node("b"), graph));
    }
    let shared = loaded(kind, &all);
    let store = shared.instance();
    let referrers = QuadPattern::Referrers {
        object: node("a"),
        also: vec![node("of")],
    };
    let patterns = [about("a"), referrers];
    let mut transaction = begin(&store).await;
    let found = read(&mut transaction, &patterns).await;
    assert_eq!(found.len(), 7);
    assert_eq!(read(&mut transaction, &patterns).await, found);
    let of = |predicate: &str| {
        let quads = found
            .iter()
            .filter(|quad| quad.predicate == node(predicate));
        quads.cloned().collect::<Vec<_>>()
    };
    // One of two cannot be told from the other.
    let in_default = |quad: &&Quad| quad.graph_name == GraphName::DefaultGraph;
    let one: Vec<Quad> = of("address")
        .iter()
        .filter(in_default)
        .take(1)
        .cloned()
        .collect();
    let refused = transaction.apply(change(&one, &[]), &context()).await;
    assert!(
        matches!(refused, Err(StoreError::Unsupported(_))),
        "{refused:?}"
    );
    drop(transaction);

    let mut transaction = begin(&store).await;
    let found = read(&mut transaction, &patterns).await;
    let removed: Vec<Quad> = found
        .iter()
        .filter(|quad| quad.predicate != node("home") && quad.predicate != node("name"))
        .cloned()
        .collect();
    assert_eq!(removed.len(), 5);
    commit(transaction, change(&removed, &[])).await.unwrap();
    assert_eq!(now(&store, &patterns).await.len(), 2);
    // What refers to something else stays.
    let links = QuadPattern::Links {
        predicate: node("of"),
        object: node("b"),
    };
    assert_eq!(now(&store, &[links]).await.len(), 2);
    let refused = commit(begin(&store).await, change(&[], &all[..1])).await;
    assert!(
        matches!(refused, Err(StoreError::Unsupported(_))),
        "{refused:?}"
    );
}

/// Strings that mean something to SPARQL, to IRIs, or to what reads them.
const HOSTILE: &[&str] = &[
    "\"",
    "'",
    "'''",
    "\"\"\"",
    "\\",
    "\\\"",
    "\\u0022",
    "\\\\u0022",
    "\\U00000022",
    "\n",
    "\r",
    "\t",
    "\r\n",
    "\" . } ; DROP ALL ; #",
    "\"@en",
    "\"^^<http://e/t>",
    "<http://e/x>",
    "> } #",
    "?s",
    "$s",
    "${x}",
    "%22%3E",
    "# comment",
    "/* */",
    ";",
    "}",
    "{ }",
    "_:b",
    "ä\u{10FFFF}\u{1F600}",
    "\u{7f}\u{80}\u{2028}",
    " ",
    "",
    "\u{1}\u{8}\u{b}\u{c}\u{1f}",
    "a\u{300}",
    "\u{fffd}",
];

async fn values_are_no_more_than_values(kind: Kind) {
    let guard = quad("other", "name", text("untouched"), None);
    let shared = loaded(kind, std::slice::from_ref(&guard));
    let store = shared.instance();
    let mut quads: Vec<Quad> = Vec::new();
    for (number, hostile) in HOSTILE.iter().enumerate() {
        let subject = format!("s{number}");
        let graph = (number % 2 == 0).then_some("g");
        let tagged = Literal::new_language_tagged_literal_unchecked(*hostile, "de-x-a1");
        let typed = Literal::new_typed_literal(*hostile, node("type#a?b=c&d'(e)"));
        for literal in [text(hostile), tagged, typed] {
            quads.push(quad(&subject, "says", literal, graph));
        }
    }
    // All that an IRI may hold.
    let iri = NamedNode::new("http://e/a'b(c)*+,;=!$&@:~._-%22%3E?q=[x]#f/ä\u{1F600}")
        .unwrap_or_else(|_| {
            NamedNode::new("http://e/a'b(c)*+,;=!$&@:~._-%22%3E?q=x#f/ä\u{1F600}").unwrap()
        });
    quads.push(Quad::new(
        iri.clone(),
        iri.clone(),
        iri.clone(),
        iri.clone(),
    ));
    commit(begin(&store).await, change(&[], &quads))
        .await
        .unwrap();
    let mut subjects: Vec<QuadPattern> = (0..HOSTILE.len())
        .map(|number| about(&format!("s{number}")))
        .collect();
    subjects.push(QuadPattern::About(iri.clone()));
    subjects.push(about("other"));
    let mut expected = quads.clone();
    expected.push(guard.clone());
    let mut transaction = begin(&store).await;
    assert_eq!(read(&mut transaction, &subjects).await, sorted(expected));
    commit(transaction, change(&quads, &[])).await.unwrap();
    assert_eq!(now(&store, &subjects).await, std::slice::from_ref(&guard));

    for evil in [
        "http://e/> <http://e/p> 1 . } #",
        "http://e/a b",
        "a\"b",
        "http://e/{x}",
        "http://e/\\u003E",
        "",
        "x",
    ] {
        let evil = NamedNode::new_unchecked(evil);
        let places = [
            Quad::new(evil.clone(), node("p"), node("o"), GraphName::DefaultGraph),
            Quad::new(node("s"), evil.clone(), node("o"), GraphName::DefaultGraph),
            Quad::new(node("s"), node("p"), evil.clone(), GraphName::DefaultGraph),
            Quad::new(node("s"), node("p"), node("o"), evil.clone()),
            quad(
                "s",
                "p",
                Literal::new_typed_literal("1", evil.clone()),
                None,
            ),
        ];
        for place in places {
            let one = std::slice::from_ref(&place);
            for change in [change(&[], one), change(one, &[])] {
                let refused = commit(begin(&store).await, change).await;
                assert!(
                    matches!(refused, Err(StoreError::Unsupported(_))),
                    "{place}"
                );
            }
        }
        let mut transaction = begin(&store).await;
        let refused = transaction
            .quads(&[QuadPattern::About(evil)], &context())
            .await;
        assert!(matches!(refused, Err(StoreError::Unsupported(_))));
        transaction.roll_back().await;
    }
    for tag in ["en . } #", "", "-", "en-", "1", "e\u{e9}"] {
        let tagged = Literal::new_language_tagged_literal_unchecked("x", tag);
        let refused = commit(
            begin(&store).await,
            change(&[], &[quad("s", "p", tagged, None)]),
        )
        .await;
        assert!(matches!(refused, Err(StoreError::Unsupported(_))), "{tag}");
    }
    assert_eq!(now(&store, &[about("other")]).await, [guard]);
}

async fn twenty_thousand_quads_are_one_change(kind: Kind) {
    let shared = loaded(kind, &[]);
    let store = shared.instance();
    let quads: Vec<Quad> = (0..20_000)
        .map(|number| {
            let subject = format!("s{}", number / 5);
            let graph = (number % 3 == 0).then_some("g");
            quad(
                &subject,
                "value",
                text(&format!("the value {number}")),
                graph,
            )
        })
        .collect();
    let record = commit(begin(&store).await, change(&[], &quads))
        .await
        .unwrap();
    assert_eq!(record.sequence, 1);
    let subjects: Vec<QuadPattern> = (0..4_000)
        .map(|number| about(&format!("s{number}")))
        .collect();
    let mut transaction = begin(&store).await;
    assert_eq!(
        read(&mut transaction, &subjects).await,
        sorted(quads.clone())
    );
    commit(transaction, change(&quads, &[])).await.unwrap();
    assert_eq!(now(&store, &subjects[..1_000]).await, []);
}

async fn round_trips(kind: Kind) -> Vec<u64> {
    let shared = loaded(kind, &graphs());
    let store = shared.instance();
    let mut counts = Vec::new();
    for number in 0..3 {
        let trace = Arc::new(Trace::default());
        let context = context().with_trace(Arc::clone(&trace));
        let mut transaction = store.writer().unwrap().begin(&context).await.unwrap();
        let old = transaction.quads(&[about("a")], &context).await.unwrap();
        let new = quad("a", "name", text(&number.to_string()), None);
        transaction
            .apply(change(&old, &[new]), &context)
            .await
            .unwrap();
        transaction.commit(record(), &context).await.unwrap();
        counts.push(trace.calls());
    }
    counts
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
async fn a_simple_change_takes_four_requests_to_rdf4j() {
    // The first makes those that are still open conflict, and finds out which sequence comes next.
    assert_eq!(round_trips(Kind::Rdf4j { infers: false }).await, [6, 4, 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_simple_change_takes_three_requests_to_a_plain_endpoint() {
    assert_eq!(round_trips(Kind::RemoteApart).await, [4, 3, 3]);
}

fn some_quad() -> impl Strategy<Value = Quad> {
    let name = || prop::sample::select(&["a", "b", "c", "d"][..]);
    let graph = prop::sample::select(&[None, Some("g"), Some("h")][..]);
    (name(), name(), name(), any::<bool>(), graph).prop_map(|(s, p, o, is_node, graph)| {
        if is_node {
            quad(s, p, node(o), graph)
        } else {
            quad(s, p, Literal::new_typed_literal(o, xsd::STRING), graph)
        }
    })
}

fn some_pattern() -> impl Strategy<Value = QuadPattern> {
    let name = || prop::sample::select(&["a", "b", "c", "d"][..]).prop_map(node);
    let also = prop::collection::vec(name(), 0..3);
    prop_oneof![
        name().prop_map(QuadPattern::About),
        (name(), name())
            .prop_map(|(subject, predicate)| QuadPattern::Values { subject, predicate }),
        (name(), name()).prop_map(|(predicate, object)| QuadPattern::Links { predicate, object }),
        (name(), also).prop_map(|(object, also)| QuadPattern::Referrers { object, also }),
    ]
}

type Step1 = (Vec<QuadPattern>, Vec<Quad>, Vec<Quad>);

fn some_step() -> impl Strategy<Value = Step1> {
    let quads = || prop::collection::vec(some_quad(), 0..5);
    (
        prop::collection::vec(some_pattern(), 0..3),
        quads(),
        quads(),
    )
}

/// Returns the quads of a pattern, by its definition.
fn expected(state: &HashSet<Quad>, patterns: &[QuadPattern]) -> Vec<Quad> {
    let is = |quad: &Quad, pattern: &QuadPattern| match pattern {
        QuadPattern::About(subject) => quad.subject == subject.clone().into(),
        QuadPattern::Values { subject, predicate } => {
            quad.subject == subject.clone().into() && quad.predicate == *predicate
        }
        QuadPattern::Links { predicate, object } => {
            quad.predicate == *predicate && quad.object == object.clone().into()
        }
        QuadPattern::Referrers { object, also } => {
            let leads = |quad: &Quad| quad.object == object.clone().into();
            leads(quad)
                || state.iter().any(|link| {
                    leads(link)
                        && link.subject == quad.subject
                        && (link.predicate == quad.predicate || also.contains(&quad.predicate))
                })
        }
    };
    let quads = state
        .iter()
        .filter(|quad| patterns.iter().any(|pattern| is(quad, pattern)));
    sorted(quads.cloned().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_plain_endpoint_is_read_as_if_what_is_applied_were_written(
        start in prop::collection::vec(some_quad(), 0..25),
        steps in prop::collection::vec(some_step(), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut state: HashSet<Quad> = start.iter().cloned().collect();
            let shared = loaded(Kind::RemoteApart, &start);
            let store = shared.instance();
            let mut transaction = begin(&store).await;
            for (patterns, removed, added) in steps {
                let found = read(&mut transaction, &patterns).await;
                assert_eq!(found, expected(&state, &patterns));
                let removed: Vec<Quad> =
                    removed.into_iter().filter(|quad| !added.contains(quad)).collect();
                state.retain(|quad| !removed.contains(quad));
                state.extend(added.iter().cloned());
                transaction.apply(QuadChange { removed, added }, &context()).await.unwrap();
                assert_eq!(read(&mut transaction, &patterns).await, expected(&state, &patterns));
            }
            transaction.commit(record(), &context()).await.unwrap();
            let all: Vec<QuadPattern> = ["a", "b", "c", "d"].map(about).to_vec();
            assert_eq!(now(&store, &all).await, expected(&state, &all));
        });
    }
}
