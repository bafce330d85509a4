//! What a store in MongoDB sends, and what it makes of answers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mongodb::bson::{Bson, Document, doc};
use schema_registry::{
    Expected, LeaseRecord, MigrationPhase, MigrationRecord, MongoReadConcern, MongoSchemaOptions,
    MongoSchemaStore, SchemaStore, SchemaStoreError, ServiceKind,
};
use tokio::net::TcpListener;

use crate::mongodb_fake::{Answer, Fake, accepted, found, name};

/// Longer than any test runs.
pub(crate) const NEVER: Duration = Duration::from_secs(3_600);
/// What a test waits for when nothing happens.
const SOON: Duration = Duration::from_millis(300);
const WRITES: [&str; 3] = ["insert", "update", "delete"];

fn any() -> Expected {
    Expected::default()
}

/// Calls everything that only reads.
async fn read_all(store: &MongoSchemaStore) {
    store.list().await.unwrap();
    store.get("films").await.unwrap();
    store.rights().await.unwrap();
    store.binding(ServiceKind::Objects).await.unwrap();
    store.binding_state(ServiceKind::Search).await.unwrap();
    store.lease("indexes").await.unwrap();
    store.bindings().await.unwrap();
    store.migration().await.unwrap();
}

/// Calls everything that writes.
async fn write_all(store: &MongoSchemaStore) {
    let lease = LeaseRecord {
        holder: "here".to_owned(),
        number: 1,
        beat: 0,
    };
    store.create("films", "x: 1".into()).await.unwrap();
    store.replace("films", "x: 2".into(), &any()).await.unwrap();
    store.set_rights("x: 1".into(), &any()).await.unwrap();
    let search = ServiceKind::Search;
    store.set_binding(search, Some("films")).await.unwrap();
    store.set_binding(search, None).await.unwrap();
    store.swap_lease("indexes", None, &lease).await.unwrap();
    let swapped = store.swap_lease("indexes", Some(&lease), &lease).await;
    swapped.unwrap();
    let record = MigrationRecord {
        attempt: "1".to_owned(),
        source: "elsewhere".to_owned(),
        phase: MigrationPhase::Copying,
    };
    let begun = store.swap_migration(None, Some(&record)).await;
    assert!(begun.unwrap());
    let same = store.swap_migration(Some(&record), Some(&record)).await;
    assert!(same.unwrap());
    store.probe().await.unwrap();
}

#[tokio::test]
async fn the_read_concern_is_in_every_read() {
    for concern in MongoReadConcern::ALL {
        let fake = Fake::accepting().await;
        let mut options = fake.options();
        options.read_concern = concern;
        options.read_timeout = Duration::from_millis(3_210_000);
        let store = MongoSchemaStore::open(&options).await.unwrap();
        read_all(&store).await;
        let finds = fake.take(&["find"]);
        assert_eq!(finds.len(), 8);
        let sent = match concern {
            MongoReadConcern::Default => None,
            concern => Some(doc! { "level": concern.as_str() }),
        };
        for find in finds {
            assert_eq!(find.get_document("readConcern").ok(), sent.as_ref());
            let limit = find.get("maxTimeMS").unwrap();
            assert!(matches!(
                limit,
                Bson::Int32(3_210_000) | Bson::Int64(3_210_000)
            ));
        }
    }
}

#[tokio::test]
async fn a_read_concern_that_the_server_does_not_support_is_a_failure() {
    let fake = Fake::start(|command| match name(command) {
        "find" => Answer::Document(doc! {
            "ok": 0, "code": 123, "codeName": "NotAReplicaSet",
            "errmsg": "node needs to be a replica set member to use readConcern: snapshot",
        }),
        _ => Answer::Document(accepted(command)),
    })
    .await;
    let store = fake.store().await;
    for outcome in [
        store.probe().await.map(drop),
        store.get("films").await.map(drop),
    ] {
        assert!(
            matches!(outcome, Err(SchemaStoreError::Failed(_))),
            "{outcome:?}"
        );
    }
}

#[tokio::test]
async fn the_write_concern_is_in_every_write() {
    for (concern, sent) in [
        ("acknowledged", None),
        ("w1", Some(doc! { "w": 1 })),
        ("w2", Some(doc! { "w": 2 })),
        ("w3", Some(doc! { "w": 3 })),
        ("journaled", Some(doc! { "j": true })),
        ("majority", Some(doc! { "w": "majority" })),
        (
            "w=2, wtimeout=1000",
            Some(doc! { "w": 2, "wtimeout": 1000 }),
        ),
        ("w=racks, j=true", Some(doc! { "w": "racks", "j": true })),
    ] {
        let fake = Fake::accepting().await;
        let mut options = fake.options();
        options.write_concern = concern.parse().unwrap();
        let store = MongoSchemaStore::open(&options).await.unwrap();
        write_all(&store).await;
        let writes = fake.take(&WRITES);
        assert!(writes.len() >= 9, "{}", writes.len());
        for write in writes {
            assert_eq!(
                write.get_document("writeConcern").ok(),
                sent.as_ref(),
                "{write}"
            );
            assert_eq!(write.get_i32("maxTimeMS").unwrap(), 3_600_000);
        }
    }
}

#[tokio::test]
async fn an_unacknowledged_write_is_sent_as_such_and_looked_up() {
    for is_made in [true, false] {
        let fake = Fake::start(move |command| match name(command) {
            "find" if is_made => Answer::Document(found(&[doc! { "_id": "schema:films" }])),
            "find" => Answer::Document(found(&[])),
            _ => Answer::Document(doc! {}),
        })
        .await;
        let mut options = fake.options();
        options.write_concern = "unacknowledged".parse().unwrap();
        let store = MongoSchemaStore::open(&options).await.unwrap();
        match store.create("films", "x: 1".into()).await {
            Ok(_) => assert!(is_made),
            Err(SchemaStoreError::Exists) => assert!(!is_made),
            Err(error) => panic!("{error:?}"),
        }
        let sent = fake.take(&["insert", "find"]);
        let [insert, find] = sent.as_slice() else {
            panic!("{sent:?}");
        };
        assert_eq!(
            insert.get_document("writeConcern").unwrap(),
            &doc! { "w": 0 }
        );
        let level = find.get_document("readConcern").unwrap();
        assert_eq!(level, &doc! { "level": "local" });
        let created = insert.get_array("documents").unwrap()[0]
            .as_document()
            .unwrap();
        let revision = created.get_str("revision").unwrap();
        let filter = doc! { "_id": "schema:films", "revision": revision };
        assert_eq!(find.get_document("filter").unwrap(), &filter);
    }
}

#[tokio::test]
async fn the_application_name_is_in_the_handshake() {
    for (given, sent) in [
        ("search", Some("search")),
        ("Größe", Some("Größe")),
        ("", None),
    ] {
        let fake = Fake::accepting().await;
        let mut options = fake.options();
        options.application_name = given.to_owned();
        let store = MongoSchemaStore::open(&options).await.unwrap();
        store.probe().await.unwrap();
        let named: Vec<_> = fake.handshakes().iter().map(application).collect();
        assert!(!named.is_empty());
        for named in named {
            assert_eq!(named.as_deref(), sent);
        }
    }
}

fn application(handshake: &Document) -> Option<String> {
    let client = handshake.get_document("client").ok()?;
    let application = client.get_document("application").ok()?;
    application.get_str("name").ok().map(str::to_owned)
}

#[tokio::test]
async fn database_and_collection_are_those_of_the_options() {
    let fake = Fake::accepting().await;
    let mut options = fake.options();
    (options.database, options.collection) = ("other".to_owned(), "texts".to_owned());
    let store = MongoSchemaStore::open(&options).await.unwrap();
    read_all(&store).await;
    write_all(&store).await;
    for command in fake.take(&["find", "insert", "update", "delete"]) {
        assert_eq!(command.get_str("$db").unwrap(), "other");
        assert_eq!(command.get_str(name(&command)).unwrap(), "texts");
    }
}

#[tokio::test]
async fn bindings_are_those_of_the_application() {
    let fake = Fake::accepting().await;
    let mut options = fake.options();
    options.application = "film:portal".to_owned();
    let store = MongoSchemaStore::open(&options).await.unwrap();
    store.binding(ServiceKind::Search).await.unwrap();
    let find = fake.take(&["find"]).remove(0);
    let filter = doc! { "_id": "binding:search:film:portal" };
    assert_eq!(find.get_document("filter").unwrap(), &filter);
}

#[tokio::test]
async fn a_listing_asks_for_no_texts() {
    let fake = Fake::start(|command| match name(command) {
        "find" => Answer::Document(found(&[
            doc! { "_id": "schema:b", "bytes": 2_i64 },
            doc! { "_id": "schema:a", "bytes": 1 },
        ])),
        _ => Answer::Document(accepted(command)),
    })
    .await;
    let listed = fake.store().await.list().await.unwrap();
    let listed: Vec<_> = listed
        .iter()
        .map(|entry| (entry.id.as_str(), entry.bytes))
        .collect();
    assert_eq!(listed, [("a", 1), ("b", 2)]);
    let find = fake.take(&["find"]).remove(0);
    assert_eq!(
        find.get_document("projection").unwrap(),
        &doc! { "bytes": 1 }
    );
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_unavailable_after_the_read_timeout() {
    let fake = Fake::start(|command| match name(command) {
        "find" | "insert" => Answer::Silence,
        _ => Answer::Document(accepted(command)),
    })
    .await;
    let mut options = fake.options();
    options.read_timeout = SOON;
    let store = MongoSchemaStore::open(&options).await.unwrap();
    let read = store.get("films").await;
    assert!(
        matches!(read, Err(SchemaStoreError::Unavailable(_))),
        "{read:?}"
    );
    assert_eq!(fake.take(&["find"]).len(), 1);
    let write = store.create("films", "x: 1".into()).await;
    assert!(
        matches!(write, Err(SchemaStoreError::OutcomeUnknown(_))),
        "{write:?}"
    );
    let sent = fake.take(&["find", "insert"]);
    let sent: Vec<_> = sent.iter().map(name).collect();
    assert_eq!(sent, ["insert", "find"], "it is looked up");
}

#[tokio::test]
async fn a_connection_that_is_not_established_is_given_up_after_the_connection_timeout() {
    // Only connections that log in ask for this.
    let fake = Fake::start(|command| match command.get_str("saslSupportedMechs") {
        Ok(_) => Answer::Silence,
        Err(_) => Answer::Document(accepted(command)),
    })
    .await;
    let mut options = fake.options();
    options.endpoint = format!("mongodb://user:hunter2@{}", fake.address);
    options.connection_timeout = SOON;
    let store = MongoSchemaStore::open(&options).await.unwrap();
    for outcome in [
        store.get("films").await.map(drop),
        store.create("films", "x: 1".into()).await.map(drop),
    ] {
        assert!(
            matches!(outcome, Err(SchemaStoreError::Unavailable(_))),
            "{outcome:?}"
        );
    }
    assert_eq!(fake.take(&["find", "insert"]).len(), 0);
}

#[tokio::test]
async fn servers_are_waited_for_until_the_server_selection_timeout() {
    // It accepts connections, and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut options = MongoSchemaOptions::new("shop");
    options.endpoint = format!("mongodb://{address}");
    (options.connection_timeout, options.read_timeout) = (NEVER, NEVER);
    options.server_selection_timeout = SOON;
    let store = MongoSchemaStore::open(&options).await.unwrap();
    for outcome in [
        store.probe().await.map(drop),
        store.list().await.map(drop),
        store.set_rights("x: 1".into(), &any()).await.map(drop),
        store.remove("films", &any()).await,
    ] {
        let Err(error @ SchemaStoreError::Unavailable(_)) = outcome else {
            panic!("{outcome:?}");
        };
        assert!(!error.to_string().contains(&address), "{error}");
    }
}

/// Returns all that an error says, to whomever.
fn all_of(error: &SchemaStoreError) -> String {
    let mut all = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        all.push_str(&format!(" {error} {error:?}"));
        source = error.source();
    }
    all
}

#[tokio::test]
async fn wrong_credentials_are_no_access_and_are_not_shown() {
    let fake = Fake::start(|command| match name(command) {
        "saslStart" => Answer::Document(doc! {
            "ok": 0, "code": 18, "codeName": "AuthenticationFailed", "errmsg": "Authentication failed.",
        }),
        _ => Answer::Document(accepted(command)),
    })
    .await;
    let mut options = fake.options();
    options.endpoint = format!("mongodb://user:hunter2@{}", fake.address);
    let store = MongoSchemaStore::open(&options).await.unwrap();
    for outcome in [
        store.probe().await.map(drop),
        store.create("films", "x: 1".into()).await.map(drop),
    ] {
        let Err(error @ SchemaStoreError::AccessDenied(_)) = outcome else {
            panic!("{outcome:?}");
        };
        assert!(!all_of(&error).contains("hunter2"), "{}", all_of(&error));
        assert!(!error.to_string().contains(&fake.address), "{error}");
    }
    assert!(!format!("{store:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_missing_right_is_no_access() {
    let denied = doc! {
        "ok": 0, "code": 13, "codeName": "Unauthorized", "errmsg": "not authorized on soaas to execute command",
    };
    for denies in ["find", "delete"] {
        let denied = denied.clone();
        let fake = Fake::start(move |command| {
            Answer::Document(if name(command) == denies {
                denied.clone()
            } else {
                accepted(command)
            })
        })
        .await;
        let outcome = fake.store().await.probe().await;
        assert!(
            matches!(outcome, Err(SchemaStoreError::AccessDenied(_))),
            "{denies}: {outcome:?}"
        );
    }
}

/// Starts a server that loses the answer to each write, and finds what is asked for or not.
async fn losing(finds: bool) -> Fake {
    Fake::start(move |command| match name(command) {
        "find" if finds => Answer::Document(found(&[doc! { "_id": "schema:films" }])),
        "insert" | "update" | "delete" => Answer::HangUp,
        _ => Answer::Document(accepted(command)),
    })
    .await
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_looked_up_and_not_repeated() {
    for is_made in [true, false] {
        let fake = losing(is_made).await;
        let store = fake.store().await;
        let lease = LeaseRecord {
            holder: "here".to_owned(),
            number: 1,
            beat: 0,
        };
        for (change, outcome) in [
            (
                "create",
                store.create("films", "x: 1".into()).await.map(drop),
            ),
            (
                "replace",
                store
                    .replace("films", "x: 1".into(), &any())
                    .await
                    .map(drop),
            ),
            (
                "rights",
                store.set_rights("x: 1".into(), &any()).await.map(drop),
            ),
            (
                "lease",
                store.swap_lease("indexes", None, &lease).await.map(drop),
            ),
        ] {
            match outcome {
                Ok(()) => assert!(is_made, "{change}"),
                Err(SchemaStoreError::OutcomeUnknown(_)) => assert!(!is_made, "{change}"),
                Err(error) => panic!("{change}: {error:?}"),
            }
        }
        let sent = fake.take(&["find", "insert", "update", "delete"]);
        let sent: Vec<_> = sent
            .iter()
            .map(|command| (name(command), command.get_document("readConcern").ok()))
            .collect();
        let looked_up = doc! { "level": "majority" };
        let expected = ["insert", "update", "update", "insert"]
            .map(|write| [(write, None), ("find", Some(&looked_up))]);
        assert_eq!(sent, expected.concat());
    }
}

#[tokio::test]
async fn a_removal_whose_answer_is_lost_is_looked_up() {
    for is_made in [true, false] {
        let deleted = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&deleted);
        let fake = Fake::start(move |command| {
            let is_there = counted.load(Ordering::SeqCst) == 0 || !is_made;
            match name(command) {
                "find" if is_there => Answer::Document(found(&[
                    doc! { "_id": "schema:films", "revision": "r1", "bindings": [] },
                ])),
                "delete" => {
                    counted.fetch_add(1, Ordering::SeqCst);
                    Answer::HangUp
                }
                _ => Answer::Document(accepted(command)),
            }
        })
        .await;
        match fake.store().await.remove("films", &any()).await {
            Ok(()) => assert!(is_made),
            Err(SchemaStoreError::OutcomeUnknown(_)) => assert!(!is_made),
            Err(error) => panic!("{error:?}"),
        }
        assert_eq!(deleted.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn a_write_that_is_less_durable_than_asked_for_is_not_reported_as_made() {
    let fake = Fake::start(|command| match name(command) {
        "insert" | "delete" => Answer::Document(doc! {
            "n": 1,
            "writeConcernError": { "code": 64, "codeName": "WriteConcernFailed", "errmsg": "waiting for replication timed out" },
        }),
        _ => Answer::Document(accepted(command)),
    })
    .await;
    let store = fake.store().await;
    let created = store.create("films", "x: 1".into()).await;
    assert!(
        matches!(created, Err(SchemaStoreError::OutcomeUnknown(_))),
        "{created:?}"
    );
    let probed = store.probe().await;
    assert!(
        matches!(probed, Err(SchemaStoreError::Unavailable(_))),
        "{probed:?}"
    );
}

#[tokio::test]
async fn a_name_that_is_taken_is_no_failure() {
    let fake = Fake::start(|command| match name(command) {
        "insert" => Answer::Document(doc! {
            "n": 0, "writeErrors": [{ "index": 0, "code": 11000, "errmsg": "E11000 duplicate key" }],
        }),
        _ => Answer::Document(accepted(command)),
    })
    .await;
    let created = fake.store().await.create("films", "x: 1".into()).await;
    assert!(
        matches!(created, Err(SchemaStoreError::Exists)),
        "{created:?}"
    );
}

#[tokio::test]
async fn a_read_is_repeated_once() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let fake = Fake::start(move |command| match name(command) {
        "find" if counted.fetch_add(1, Ordering::SeqCst) == 0 => Answer::HangUp,
        _ => Answer::Document(accepted(command)),
    })
    .await;
    assert_eq!(fake.store().await.get("films").await.unwrap(), None);
    assert_eq!(reads.load(Ordering::SeqCst), 2);
}

/// Returns the commands that a server was sent, with the key of the document and what tells them apart.
fn steps(fake: &Fake) -> Vec<String> {
    let commands = fake.take(&["find", "insert", "update", "delete"]);
    let steps = commands.iter().map(|command| {
        let change = |key: &str| command.get_array(key).ok()?.first()?.as_document();
        let (what, filter, update) = match name(command) {
            "find" => ("find", command.get_document("filter").unwrap(), None),
            "delete" => {
                let deleted = change("deletes").unwrap();
                ("delete", deleted.get_document("q").unwrap(), None)
            }
            _ => {
                let updated = change("updates").unwrap();
                let update = updated.get_document("u").unwrap();
                let filter = updated.get_document("q").unwrap();
                ("update", filter, update.keys().next())
            }
        };
        let key = filter.get_str("_id").unwrap();
        let version = filter.get_str("version").unwrap_or_default();
        let update = update.map_or("", String::as_str);
        format!("{what} {key} {version}{update}")
            .trim_end()
            .to_owned()
    });
    steps.collect()
}

/// Starts a server at which a binding names the schema `books` and is changed once by somebody else: its version is
/// `v1`, and `v2` when it is asked for again. The schema `films` has a mark until one is taken off.
async fn with_changing_binding() -> Fake {
    let reads = AtomicUsize::new(0);
    let is_marked = AtomicBool::new(true);
    Fake::start(move |command| {
        let update = command.get_array("updates").ok();
        let update = update.and_then(|updates| updates[0].as_document());
        let key = match update {
            Some(update) => update.get_document("q").unwrap(),
            None => match command.get_document("filter") {
                Ok(filter) => filter,
                Err(_) => return Answer::Document(accepted(command)),
            },
        };
        let is_binding = key.get_str("_id").unwrap().starts_with("binding:");
        Answer::Document(match (update, is_binding) {
            (None, true) => {
                let version = ["v1", "v2"][reads.fetch_add(1, Ordering::SeqCst).min(1)];
                found(&[doc! { "_id": "b", "schema": "books", "mark": "m", "version": version }])
            }
            (None, false) => {
                let mark = doc! { "application": "shop", "service": "objects", "mark": "a" };
                let marks = if is_marked.load(Ordering::SeqCst) {
                    vec![mark]
                } else {
                    Vec::new()
                };
                found(&[doc! { "_id": "schema:films", "revision": "r1", "bindings": marks }])
            }
            (Some(_), true) => {
                let is_current = key.get_str("version").unwrap() == "v2";
                doc! { "n": i32::from(is_current) }
            }
            (Some(update), false) => {
                let is_taken = update.get_document("u").unwrap().contains_key("$pull");
                is_marked.fetch_and(!is_taken, Ordering::SeqCst);
                doc! { "n": 1 }
            }
        })
    })
    .await
}

#[tokio::test]
async fn a_mark_is_taken_off_only_after_its_binding_got_a_new_version() {
    let fake = with_changing_binding().await;
    let store = fake.store().await;
    store.remove("films", &any()).await.unwrap();
    let expected = [
        "find schema:films",
        "find binding:objects:shop",
        "update binding:objects:shop v1$set",
        "find schema:films",
        "find binding:objects:shop",
        "update binding:objects:shop v2$set",
        "update schema:films $pull",
        "delete schema:films",
    ];
    assert_eq!(steps(&fake), expected);
}

#[tokio::test]
async fn a_schema_has_a_mark_before_a_binding_names_it() {
    let fake = with_changing_binding().await;
    let store = fake.store().await;
    let bound = store.set_binding(ServiceKind::Objects, Some("films")).await;
    bound.unwrap();
    let expected = [
        "find binding:objects:shop",
        "update schema:films $push",
        "update binding:objects:shop v1$set",
        "update schema:films $pull",
        "find binding:objects:shop",
        "update schema:films $push",
        "update binding:objects:shop v2$set",
        "update schema:books $pull",
    ];
    assert_eq!(steps(&fake), expected);
}

/// Keeps what warnings say.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        struct Text(String);
        impl tracing::field::Visit for Text {
            fn record_debug(&mut self, _: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!("{value:?} "));
            }
        }
        let mut text = Text(String::new());
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn a_store_warns_that_it_is_deprecated_and_keeps_no_process_from_ending() {
    let warnings = Warnings::default();
    let _guard = tracing::subscriber::set_default(warnings.clone());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let store = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut options = MongoSchemaOptions::new("shop");
        let address = listener.local_addr().unwrap();
        options.endpoint = format!("mongodb://user:hunter2@{address}");
        (options.connection_timeout, options.read_timeout) = (NEVER, NEVER);
        options.server_selection_timeout = SOON;
        let store = MongoSchemaStore::open(&options).await.unwrap();
        store.probe().await.unwrap_err();
        store
    });
    // Its tasks still wait for the server, and this waits for none of them.
    drop(runtime);
    drop(store);
    let warnings = warnings.0.lock().unwrap();
    let [warning] = warnings.as_slice() else {
        panic!("{warnings:?}");
    };
    assert!(
        warning.contains("deprecated") && !warning.contains("hunter2"),
        "{warning}"
    );
}
