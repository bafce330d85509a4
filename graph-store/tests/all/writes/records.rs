//! The records of changes.

use call_context::CallError;
use std::time::{Duration, SystemTime};

use graph_store::write::{
    ChangeKind, ChangedObjects, NewRecord, QuadChange, QuadPattern, RecordQuery, change_graph,
};
use graph_store::{CallContext, GraphStore, StoreError};
use oxrdf::Quad;

use super::{
    about, begin, change, commit, context, loaded, node, now, over_every_server, quad, read,
    record, text,
};
use crate::back_end::Kind;

over_every_server! {
    a_record_is_committed_with_its_change
    records_are_not_among_the_quads
    instances_never_give_a_sequence_twice
    what_is_forgotten_does_not_come_back
    a_gap_is_passed_once_no_transaction_can_fill_it
}

fn said(number: u64) -> NewRecord {
    NewRecord {
        idempotency_key: Some(format!("key \"{number}\" \\u0022")),
        digest: format!("digest {number}"),
        time: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + number),
        changes: vec![
            ChangedObjects {
                kind: ChangeKind::Created,
                object_type: "A b/ü".to_owned(),
                objects: vec![node("a"), node("b")],
            },
            ChangedObjects {
                kind: ChangeKind::Deleted,
                object_type: "C".to_owned(),
                objects: vec![node("c")],
            },
        ],
        ..record()
    }
}

async fn write(store: &std::sync::Arc<dyn GraphStore>, number: u64) -> NewRecord {
    let said = said(number);
    let mut transaction = begin(store).await;
    let new = quad("n", "name", text(&number.to_string()), None);
    transaction
        .apply(change(&[], &[new]), &context())
        .await
        .unwrap();
    let record = transaction.commit(said.clone(), &context()).await.unwrap();
    assert_eq!((record.sequence, &record.said), (number, &said));
    said
}

async fn a_record_is_committed_with_its_change(kind: Kind) {
    let shared = loaded(kind, &[]);
    let store = shared.instance();
    let mut all = Vec::new();
    for number in 1..=5 {
        all.push(write(&store, number).await);
    }
    // Another instance goes on.
    let other = shared.instance();
    all.push(write(&other, 6).await);
    let writer = store.writer().unwrap();
    let context = context();
    for (after, limit) in [(0, 100), (0, 2), (3, 2), (5, 5), (6, 5), (9, 5), (0, 0)] {
        let query = RecordQuery::After {
            sequence: after,
            limit,
        };
        let found = writer.records(&query, &context).await.unwrap();
        let expected = all.iter().zip(1u64..).filter(|(_, number)| *number > after);
        let expected: Vec<_> = expected
            .take(limit)
            .map(|(said, number)| (number, said))
            .collect();
        let found: Vec<_> = found
            .iter()
            .map(|record| (record.sequence, &record.said))
            .collect();
        assert_eq!(found, expected, "{after} {limit}");
    }
    for (said, number) in all.iter().zip(1u64..) {
        for query in [
            RecordQuery::Request(said.request.clone()),
            RecordQuery::IdempotencyKey(said.idempotency_key.clone().unwrap()),
        ] {
            let found = writer.records(&query, &context).await.unwrap();
            assert_eq!(
                (found.len(), found[0].sequence, &found[0].said),
                (1, number, said)
            );
        }
    }
    let none = RecordQuery::Request("nobody's".to_owned());
    assert_eq!(writer.records(&none, &context).await.unwrap(), []);
}

async fn records_are_not_among_the_quads(kind: Kind) {
    let shared = loaded(kind, &[]);
    let store = shared.instance();
    write(&store, 1).await;
    let referrers = QuadPattern::Referrers {
        object: node("a"),
        also: vec![change_graph::REQUEST.into_owned()],
    };
    let links = QuadPattern::Links {
        predicate: change_graph::predicate(ChangeKind::Deleted, "C"),
        object: node("c"),
    };
    let record = QuadPattern::About(change_graph::GRAPH.into_owned());
    assert_eq!(now(&store, &[referrers, links, record]).await, []);
}

async fn instances_never_give_a_sequence_twice(kind: Kind) {
    let shared = loaded(kind, &[]);
    let stores = [shared.instance(), shared.instance()];
    // Both know the same next sequence.
    for store in &stores {
        let transaction = begin(store).await;
        transaction.roll_back().await;
    }
    let mut tasks = tokio::task::JoinSet::new();
    for (number, store) in stores.into_iter().enumerate() {
        tasks.spawn(async move {
            let mut sequences = Vec::new();
            while sequences.len() < 10 {
                let new = quad(
                    &format!("s{number}"),
                    "n",
                    text(&sequences.len().to_string()),
                    None,
                );
                // Nothing is read, so that only the sequence can conflict.
                match commit(begin(&store).await, change(&[], &[new])).await {
                    Ok(record) => sequences.push(record.sequence),
                    Err(StoreError::Conflict) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
            sequences
        });
    }
    let all = tasks.join_all().await;
    for one in &all {
        assert!(one.is_sorted(), "{one:?}");
    }
    let mut all = all.concat();
    all.sort_unstable();
    assert_eq!(all, (1..=20).collect::<Vec<_>>());
    let store = shared.instance();
    let query = RecordQuery::After {
        sequence: 0,
        limit: 100,
    };
    let records = store
        .writer()
        .unwrap()
        .records(&query, &context())
        .await
        .unwrap();
    assert_eq!(records.len(), 20);
    let found = now(&store, &[about("s0"), about("s1")]).await;
    assert_eq!(found.len(), 20);
}

async fn what_is_forgotten_does_not_come_back(kind: Kind) {
    let shared = loaded(kind, &[]);
    let (store, stale) = (shared.instance(), shared.instance());
    for number in 1..=4 {
        write(&store, number).await;
    }
    let knows = begin(&stale).await;
    knows.roll_back().await;
    write(&store, 5).await;
    let writer = store.writer().unwrap();
    let at = |number| said(number).time;
    assert_eq!(writer.forget_records(at(1), &context()).await.unwrap(), 0);
    assert_eq!(writer.forget_records(at(3), &context()).await.unwrap(), 2);
    let after = |sequence| RecordQuery::After {
        sequence,
        limit: 10,
    };
    for sequence in [0, 1, 2] {
        let found = writer.records(&after(sequence), &context()).await.unwrap();
        let found: Vec<u64> = found.iter().map(|record| record.sequence).collect();
        assert_eq!(found, [3, 4, 5], "{sequence}");
    }
    assert_eq!(writer.forget_records(at(9), &context()).await.unwrap(), 3);
    assert_eq!(writer.records(&after(0), &context()).await.unwrap(), []);
    // A sequence is not given again, neither by a new instance nor by one that has not noticed.
    let refused = commit(begin(&stale).await, QuadChange::default()).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    write(&shared.instance(), 6).await;
    assert_eq!(writer.forget_records(at(1), &context()).await.unwrap(), 0);
    let found = writer.records(&after(0), &context()).await.unwrap();
    assert_eq!(found.len(), 1);
}

async fn a_gap_is_passed_once_no_transaction_can_fill_it(kind: Kind) {
    let shared = loaded(kind, &[]);
    let now = SystemTime::now();
    // The last is of a machine whose clock was set back by an hour.
    let hour_ago = now - Duration::from_secs(3_600);
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let records = [
        (1, long_ago, "old"),
        (3, long_ago, "after"),
        (5, hour_ago, "late"),
    ];
    let quads: Vec<Quad> = records
        .iter()
        .flat_map(|(sequence, time, request)| {
            let said = NewRecord {
                request: (*request).to_owned(),
                time: *time,
                ..said(1)
            };
            change_graph::quads(&graph_store::write::ChangeRecord {
                sequence: *sequence,
                said,
            })
        })
        .collect();
    shared.load(&quads);
    let query = RecordQuery::After {
        sequence: 0,
        limit: 10,
    };
    let found = async |store: &std::sync::Arc<dyn GraphStore>| {
        let found = store.writer().unwrap().records(&query, &context()).await;
        let found = found.unwrap().into_iter().map(|record| record.sequence);
        found.collect::<Vec<u64>>()
    };
    assert_eq!(found(&shared.instance()).await, [1, 3]);
    let impatient = shared.instance_of(Duration::from_millis(50));
    while found(&impatient).await != [1, 3, 5] {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_of_one_instance_wait_until_their_deadline() {
    let shared = loaded(Kind::RemoteApart, &[]);
    let store = shared.instance();
    let mut first = begin(&store).await;
    let soon = CallContext::new().with_timeout(Duration::from_millis(50));
    let late = store.writer().unwrap().begin(&soon).await.map(|_| ());
    assert!(
        matches!(late, Err(StoreError::Call(CallError::Deadline))),
        "{late:?}"
    );
    read(&mut first, &[about("a")]).await;
    drop(first);
    begin(&store).await.roll_back().await;
}
