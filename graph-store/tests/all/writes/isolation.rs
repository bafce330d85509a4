//! Several instances write to the same data: none overwrites what another has written.

use graph_store::StoreError;
use graph_store::write::QuadPattern;
use oxrdf::{BlankNode, Literal, Quad, Term};

use super::{about, begin, change, commit, loaded, node, now, over_every_server, quad, read, text};
use crate::back_end::{Kind, Shared};

over_every_server! {
    what_was_read_must_still_be_so
    what_was_not_read_does_not_matter_to_one_instance
    no_increment_of_a_counter_is_lost
    what_is_read_twice_is_the_same
}

fn start() -> Vec<Quad> {
    vec![
        quad("a", "name", text("a"), None),
        quad("a", "name", text("b"), Some("g")),
        quad("a", "part", BlankNode::default(), None),
        quad("b", "next", node("a"), None),
        quad("b", "name", text("b"), Some("g")),
    ]
}

/// Changes, each by somebody who knows nothing of records, and a pattern whose quads it changes.
fn changes() -> Vec<(&'static str, QuadPattern)> {
    let values = |subject: &str, predicate: &str| QuadPattern::Values {
        subject: node(subject),
        predicate: node(predicate),
    };
    let links = |predicate: &str, object: &str| QuadPattern::Links {
        predicate: node(predicate),
        object: node(object),
    };
    let referrers = |object: &str| QuadPattern::Referrers {
        object: node(object),
        also: vec![node("name")],
    };
    vec![
        ("add a age", about("a")),
        ("add a age to g", about("a")),
        ("remove a name from g", about("a")),
        ("add a name", values("a", "name")),
        ("add c next a", links("next", "a")),
        ("add c next a", referrers("a")),
        ("add b name", referrers("a")),
        ("remove b name from g", referrers("a")),
        ("add x name", about("x")),
        ("add a part _:b", about("a")),
    ]
}

fn outsiders_change(name: &str) -> (Vec<Quad>, Vec<Quad>) {
    let start = start();
    match name {
        "add a age" => (vec![], vec![quad("a", "age", Literal::from(1), None)]),
        "add a age to g" => (vec![], vec![quad("a", "age", Literal::from(1), Some("g"))]),
        "remove a name from g" => (vec![start[1].clone()], vec![]),
        "add a name" => (vec![], vec![quad("a", "name", text("c"), None)]),
        "add c next a" => (vec![], vec![quad("c", "next", node("a"), None)]),
        "add b name" => (vec![], vec![quad("b", "name", text("c"), None)]),
        "remove b name from g" => (vec![start[4].clone()], vec![]),
        "add x name" => (vec![], vec![quad("x", "name", text("x"), None)]),
        "add a part _:b" => (vec![], vec![quad("a", "part", BlankNode::default(), None)]),
        other => panic!("{other}"),
    }
}

async fn what_was_read_must_still_be_so(kind: Kind) {
    for (name, pattern) in changes() {
        let shared = loaded(kind, &start());
        let store = shared.instance();
        let mut transaction = begin(&store).await;
        read(&mut transaction, std::slice::from_ref(&pattern)).await;
        let (removed, added) = outsiders_change(name);
        shared.change(&removed, &added);
        let new = quad("new", "name", text("new"), None);
        let committed = commit(transaction, change(&[], &[new])).await;
        let is_conflict = matches!(committed, Err(StoreError::Conflict));
        assert!(is_conflict, "{name} {pattern:?} {committed:?}");
        assert_eq!(now(&store, &[about("new")]).await, [], "{name}");
        // It can be repeated.
        let mut transaction = begin(&store).await;
        read(&mut transaction, &[pattern]).await;
        let new = quad("new", "name", text("new"), None);
        let repeated = commit(transaction, change(&[], std::slice::from_ref(&new))).await;
        assert_eq!(repeated.unwrap().sequence, 1, "{name}");
        assert_eq!(now(&store, &[about("new")]).await, [new], "{name}");
    }
}

async fn what_was_not_read_does_not_matter_to_one_instance(kind: Kind) {
    let shared = loaded(kind, &start());
    let store = shared.instance();
    for round in 0..20 {
        let subject = format!("s{round}");
        let mut transaction = begin(&store).await;
        read(&mut transaction, &[about(&subject)]).await;
        let outsiders = quad(&format!("o{round}"), "name", text("o"), None);
        shared.change(&[], &[outsiders]);
        let new = quad(&subject, "name", text("s"), None);
        let record = commit(transaction, change(&[], &[new])).await.unwrap();
        assert_eq!(record.sequence, round + 1);
    }
}

async fn what_is_read_twice_is_the_same(kind: Kind) {
    for (name, pattern) in changes() {
        let shared = loaded(kind, &start());
        let store = shared.instance();
        let mut transaction = begin(&store).await;
        let first = read(&mut transaction, std::slice::from_ref(&pattern)).await;
        let (removed, added) = outsiders_change(name);
        shared.change(&removed, &added);
        let again = [pattern.clone(), about("a"), about("b"), about("c")];
        let second = transaction.quads(&again, &super::context()).await;
        match second {
            Err(StoreError::Conflict) => {}
            Err(other) => panic!("{name}: {other:?}"),
            Ok(second) => {
                let (before, mut after) = (first.len(), second);
                after.retain(|quad| first.contains(quad));
                assert_eq!(after.len(), before, "{name}");
                let new = quad("new", "name", text("new"), None);
                let committed = commit(transaction, change(&[], &[new])).await;
                let is_conflict = matches!(committed, Err(StoreError::Conflict));
                assert!(is_conflict, "{name} {pattern:?} {committed:?}");
            }
        }
    }
}

/// Adds one to a counter.
async fn increment(
    store: &std::sync::Arc<dyn graph_store::GraphStore>,
    writer: usize,
) -> Result<u64, StoreError> {
    let context = super::context();
    let mut transaction = store.writer().unwrap().begin(&context).await?;
    let old = transaction.quads(&[about("counter")], &context).await?;
    let [
        Quad {
            object: Term::Literal(value),
            ..
        },
    ] = &old[..]
    else {
        // RDF4J shows such a state once in a while, in the middle of a commit of somebody else. It must
        // not get further than that.
        assert_eq!(old, []);
        let new = [quad("torn", "value", Literal::from(1), None)];
        let torn = commit(transaction, change(&old, &new)).await;
        assert!(matches!(torn, Err(StoreError::Conflict)), "{torn:?}");
        return Err(StoreError::Conflict);
    };
    let next: i64 = value.value().parse::<i64>().unwrap() + 1;
    let new = [
        quad("counter", "value", Literal::from(next), None),
        quad(&format!("by{writer}"), "value", Literal::from(next), None),
    ];
    Ok(commit(transaction, change(&old, &new)).await?.sequence)
}

#[expect(clippy::print_stderr, reason = "people read the figure")]
async fn no_increment_of_a_counter_is_lost(kind: Kind) {
    const WRITERS: usize = 4;
    const INCREMENTS: usize = 50;
    let shared = loaded(kind, &[quad("counter", "value", Literal::from(0), None)]);
    let mut tasks = tokio::task::JoinSet::new();
    // RDF4J 3.7.7 loses an increment of several instances once in a while, see docs/stores.md.
    let is_rdf4j = matches!(kind, Kind::Rdf4j { .. });
    let only = is_rdf4j.then(|| shared.instance());
    for writer in 0..WRITERS {
        // Two of them share an instance.
        let store = only.clone().unwrap_or_else(|| shared.instance());
        for half in 0..2 {
            let store = std::sync::Arc::clone(&store);
            tasks.spawn(async move {
                let (mut sequences, mut conflicts) = (Vec::new(), 0);
                while sequences.len() < INCREMENTS / 2 {
                    match increment(&store, writer * 2 + half).await {
                        Ok(sequence) => sequences.push(sequence),
                        Err(StoreError::Conflict) => conflicts += 1,
                        Err(other) => panic!("{other:?}"),
                    }
                }
                (sequences, conflicts)
            });
        }
    }
    let (mut sequences, mut conflicts) = (Vec::new(), 0);
    while let Some(done) = tasks.join_next().await {
        let (mut some, more) = done.unwrap();
        sequences.append(&mut some);
        conflicts += more;
    }
    eprintln!("{kind:?}: {conflicts} conflicts");
    let count = (WRITERS * INCREMENTS) as u64;
    sequences.sort_unstable();
    assert_eq!(sequences, (1..=count).collect::<Vec<_>>());
    let store = shared.instance();
    let total = Literal::from(count);
    assert_eq!(
        now(&store, &[about("counter")]).await,
        [quad("counter", "value", total, None)]
    );
}

async fn probed(kind: Kind) {
    let shared: Shared = loaded(kind, &start());
    let report = shared.probe(10).await.unwrap();
    assert!(report.is_isolated(), "{report:?}");
    assert_eq!((report.rounds, report.broken), (10, 0));
    // Nothing is left of it.
    assert_eq!(shared.graphs(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_keeps_writers_apart_is_found_to() {
    probed(Kind::RemoteApart).await;
}

/// As when a service is started while a transaction of its killed predecessor is still open.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
async fn what_is_open_conflicts_when_another_instance_begins_to_write() {
    let shared = loaded(Kind::Rdf4j { infers: false }, &start());
    let (before, after) = (shared.instance(), shared.instance());
    let of = |subject: &str| change(&[], &[quad(subject, "name", text("new"), None)]);
    for is_known in [false, true] {
        let mut open = begin(&before).await;
        read(&mut open, &[about("c")]).await;
        let begun = begin(&after).await;
        let committed = commit(open, of("c")).await;
        // Only the first transaction of an instance makes others conflict.
        assert_eq!(
            matches!(committed, Err(StoreError::Conflict)),
            !is_known,
            "{committed:?}"
        );
        begun.roll_back().await;
    }
    assert_eq!(now(&before, &[about("c")]).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
async fn rdf4j_is_found_to_keep_writers_apart() {
    probed(Kind::Rdf4j { infers: false }).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a running Fuseki server: scripts/servers.sh start"]
async fn fuseki_is_found_to_keep_writers_apart() {
    probed(Kind::Fuseki).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_does_not_is_found_out_and_refused() {
    let shared = loaded(Kind::RemoteApart, &start());
    let Shared::Here(updates) = &shared else {
        unreachable!()
    };
    updates.tear();
    let store = shared.probed_store();
    let report = store.probe_isolation(5, &super::context()).await.unwrap();
    assert!(!report.is_isolated(), "{report:?}");
    let writer = graph_store::GraphStore::writer(&store).unwrap();
    let refused = writer.begin(&super::context()).await.map(|_| ());
    assert!(
        matches!(refused, Err(StoreError::NotIsolated(_))),
        "{refused:?}"
    );
}
