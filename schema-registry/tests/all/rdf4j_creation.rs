//! The repository of the store in RDF4J: when it is created, from which configuration, and when it is not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};

use schema_registry::{
    Binding, Rdf4jOptionsError, Rdf4jSchemaOptions, Rdf4jSchemaStore, SchemaStore,
    SchemaStoreError, ServiceKind,
};

use crate::rdf4j_endpoint::{Answer, Endpoint, Request};

const OWN: &str = "@prefix rep: <http://www.openrdf.org/config/repository#> .
    [] a rep:Repository ; rep:repositoryID \"%id%\" ; <urn:own> \"it is my own\" .";

const REFUSED: &str = "400 Bad Request";

fn with(endpoint: &Endpoint, change: impl FnOnce(&mut Rdf4jSchemaOptions)) -> Rdf4jSchemaStore {
    let mut options = endpoint.options();
    change(&mut options);
    Rdf4jSchemaStore::new(options).unwrap()
}

/// Returns which configurations were sent, each by a word that only it has.
fn configurations(endpoint: &Endpoint) -> Vec<&'static str> {
    let words = [
        "my own",
        "ReplicationClusterWorker",
        "graphdb:FreeSailRepository",
        "graphdb:SailRepository",
        "openrdf:MemoryStore",
    ];
    let requests = endpoint.requests();
    let created = requests.iter().filter(|request| request.kind() == "create");
    let found = created.map(|request| words.into_iter().find(|word| request.body.contains(word)));
    found.map(|word| word.unwrap_or("another")).collect()
}

fn reason(error: &SchemaStoreError) -> String {
    let source = error.source().expect("it has a source");
    assert!(!error.to_string().contains("127.0.0.1"), "{error}");
    source.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn whichever_call_comes_first_creates_a_missing_repository() {
    let objects = ServiceKind::Objects;
    for call in 0..6 {
        let endpoint = Endpoint::rdf4j(|_| None).await;
        endpoint.lose_repository();
        let store = endpoint.store();
        match call {
            0 => assert!(store.list().await.unwrap().is_empty()),
            1 => assert_eq!(store.get("films").await.unwrap(), None),
            2 => drop(store.create("films", "x: 1".into()).await.unwrap()),
            3 => assert_eq!(store.binding(objects).await.unwrap(), Binding::Unknown),
            4 => store.set_binding(objects, None).await.unwrap(),
            _ => drop(store.probe().await.unwrap()),
        }
        assert_eq!(configurations(&endpoint), ["openrdf:MemoryStore"], "{call}");
        assert!(endpoint.has_repository());
        let requests = endpoint.requests();
        let create = requests.iter().find(|request| request.kind() == "create");
        let create = create.unwrap();
        assert_eq!(create.line, "PUT /r/repositories/schemas");
        assert!(
            create
                .head
                .to_ascii_lowercase()
                .contains("content-type: text/turtle")
        );
        let is_kept =
            create.body.contains("ms:persist true") && create.body.contains("ms:syncDelay 0");
        assert!(
            is_kept && create.body.contains("rep:repositoryID \"schemas\""),
            "{}",
            create.body
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_comes_back_empty_gets_the_repository_again() {
    let endpoint = Endpoint::rdf4j(|_| None).await;
    let store = endpoint.store();
    for _ in 0..2 {
        store.set_binding(ServiceKind::Objects, None).await.unwrap();
        endpoint.lose_repository();
        assert!(store.list().await.unwrap().is_empty());
        endpoint.lose_repository();
    }
    assert_eq!(endpoint.count("create"), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_repository_is_an_error_where_its_creation_is_disabled() {
    let endpoint = Endpoint::rdf4j(|_| None).await;
    endpoint.lose_repository();
    let store = with(&endpoint, |options| options.auto_create_repository = false);
    let read = store.list().await.map(drop);
    let change = store.set_binding(ServiceKind::Objects, None).await;
    for result in [read, change, store.probe().await.map(drop)] {
        let error = result.unwrap_err();
        assert!(matches!(error, SchemaStoreError::Failed(_)), "{error:?}");
        let reason = reason(&error);
        assert!(reason.contains("no repository `schemas`"), "{reason}");
        assert!(reason.contains("create it, or enable"), "{reason}");
    }
    assert_eq!(endpoint.count("create"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_own_configuration_is_sent_for_the_repository_and_nothing_else_unless_that_is_enabled()
{
    for (disable_default, sent, works) in [
        (None, &["my own"][..], false),
        (Some(true), &["my own"], false),
        (Some(false), &["my own", "openrdf:MemoryStore"], true),
    ] {
        let refuses = |request: &Request| {
            let is_own = request.kind() == "create" && request.body.contains("my own");
            is_own.then(|| Answer::status(REFUSED)).flatten()
        };
        let endpoint = Endpoint::rdf4j(refuses).await;
        endpoint.lose_repository();
        let store = with(&endpoint, |options| {
            options.repository_config = Some(OWN.to_owned());
            options.disable_default = disable_default;
        });
        let listed = store.list().await;
        assert_eq!(configurations(&endpoint), sent);
        match listed {
            Ok(_) => assert!(works),
            Err(error) => {
                let reason = reason(&error);
                assert!(!works && reason.contains("`schemas`"), "{reason}");
                assert!(
                    reason.contains("so it is"),
                    "what the server said: {reason}"
                );
            }
        }
    }
    let endpoint = Endpoint::rdf4j(|_| None).await;
    endpoint.lose_repository();
    let store = with(&endpoint, |options| {
        options.repository_config = Some(OWN.to_owned())
    });
    store.list().await.unwrap();
    let requests = endpoint.requests();
    let create = requests.iter().find(|request| request.kind() == "create");
    assert_eq!(create.unwrap().body, OWN.replace("%id%", "schemas"));
}

#[tokio::test(flavor = "multi_thread")]
async fn built_in_configurations_can_be_disabled() {
    let endpoint = Endpoint::rdf4j(|_| None).await;
    endpoint.lose_repository();
    let store = with(&endpoint, |options| options.disable_default = Some(true));
    let error = store.list().await.unwrap_err();
    assert!(reason(&error).contains("create it yourself"), "{error:?}");
    assert_eq!(endpoint.count("create"), 0);
}

#[test]
fn a_configuration_of_another_repository_is_refused_at_the_start() {
    let mut options = Rdf4jSchemaOptions::new("app");
    options.connection.addresses = "http://127.0.0.1:1".parse().unwrap();
    for (name, is_right) in [("%id%", true), ("svc-system", true), ("films", false)] {
        options.repository_config = Some(OWN.replace("%id%", name));
        match (Rdf4jSchemaStore::new(options.clone()), is_right) {
            (Ok(_), true) => {}
            (Err(error @ Rdf4jOptionsError::ConfigName { .. }), false) => {
                let text = error.to_string();
                assert!(
                    text.contains("`films`") && text.contains("`svc-system`"),
                    "{text}"
                );
            }
            (other, _) => panic!("{name}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn graphdb_gets_the_configurations_of_its_editions_as_a_form() {
    let all = [
        "my own",
        "ReplicationClusterWorker",
        "graphdb:SailRepository",
        "graphdb:FreeSailRepository",
        "openrdf:MemoryStore",
    ];
    for accepted in 0..all.len() {
        let endpoint = Endpoint::graphdb(move |request| {
            let is_refused = request.kind() == "create" && !request.body.contains(all[accepted]);
            is_refused.then(|| Answer::status(REFUSED)).flatten()
        })
        .await;
        endpoint.lose_repository();
        let store = with(&endpoint, |options| {
            options.repository_config = Some(OWN.to_owned());
            options.disable_default = Some(false);
        });
        store.list().await.unwrap();
        assert_eq!(configurations(&endpoint), all[..=accepted]);
        let requests = endpoint.requests();
        let create = requests.iter().find(|request| request.kind() == "create");
        let create = create.unwrap();
        assert_eq!(create.line, "POST /r/rest/repositories");
        let head = create.head.to_ascii_lowercase();
        let boundary = head.split("multipart/form-data; boundary=").nth(1);
        let boundary = boundary.and_then(|rest| rest.lines().next()).unwrap();
        assert!(
            create.body.starts_with(&format!("--{boundary}\r\n")),
            "{}",
            create.body
        );
        assert!(
            create.body.ends_with(&format!("\r\n--{boundary}--\r\n")),
            "{}",
            create.body
        );
        assert!(
            create
                .body
                .contains("form-data; name=\"config\"; filename="),
            "{}",
            create.body
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn graphdb_is_written_to_only_if_it_keeps_transactions_apart() {
    // Every commit is said to have worked.
    let endpoint = Endpoint::graphdb(|_| None).await;
    let store = endpoint.store();
    for _ in 0..2 {
        let refused = store
            .set_binding(ServiceKind::Objects, None)
            .await
            .unwrap_err();
        assert!(
            matches!(refused, SchemaStoreError::Failed(_)),
            "{refused:?}"
        );
        assert!(
            reason(&refused).contains("concurrent transactions"),
            "{refused:?}"
        );
    }
    assert_eq!(store.get("films").await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_loses_a_race_for_the_repository_uses_that_of_the_other() {
    for status in ["409 Conflict", REFUSED, "500 Internal Server Error"] {
        let is_there = AtomicBool::new(false);
        let endpoint = Endpoint::rdf4j(move |request| match request.kind() {
            // Another one was faster.
            "create" => {
                is_there.store(true, Ordering::SeqCst);
                Answer::status(status)
            }
            "read" if is_there.load(Ordering::SeqCst) => Some(Answer::Row("")),
            _ => None,
        })
        .await;
        endpoint.lose_repository();
        assert!(
            endpoint.store().list().await.unwrap().is_empty(),
            "{status}"
        );
        assert_eq!((endpoint.count("create"), endpoint.count("remove")), (1, 0));
    }
    // Within a process, one creates it for all.
    let endpoint = Endpoint::rdf4j(|_| None).await;
    endpoint.lose_repository();
    let store = std::sync::Arc::new(endpoint.store());
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = std::sync::Arc::clone(&store);
        calls.spawn(async move { store.list().await });
    }
    for listed in calls.join_all().await {
        listed.unwrap();
    }
    assert_eq!(endpoint.count("create"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_repository_that_cannot_be_opened_is_removed_and_an_old_one_never() {
    let opens_memory_only = || {
        let is_broken = AtomicBool::new(false);
        move |request: &Request| match request.kind() {
            "create" => {
                let is_own = request.body.contains("my own");
                is_broken.store(is_own, Ordering::SeqCst);
                None
            }
            "remove" => {
                is_broken.store(false, Ordering::SeqCst);
                None
            }
            "read" if is_broken.load(Ordering::SeqCst) => {
                Answer::status("500 Internal Server Error")
            }
            _ => None,
        }
    };
    let endpoint = Endpoint::rdf4j(opens_memory_only()).await;
    endpoint.lose_repository();
    let store = with(&endpoint, |options| {
        options.repository_config = Some(OWN.to_owned());
        options.disable_default = Some(false);
    });
    store.list().await.unwrap();
    let changes = endpoint.sent().into_iter().filter(|kind| *kind != "read");
    assert_eq!(changes.collect::<Vec<_>>(), ["create", "remove", "create"]);

    // RDF4J 3.7 does not remove what it cannot open.
    let usual = opens_memory_only();
    endpoint.lose_repository();
    endpoint.change(move |request| match request.kind() {
        "remove" => Answer::status("500 Internal Server Error"),
        _ => usual(request),
    });
    let error = store.list().await.unwrap_err();
    let reason = reason(&error);
    assert!(
        reason.contains("cannot be opened") && reason.contains("remove it"),
        "{reason}"
    );
    assert_eq!(configurations(&endpoint), ["my own"]);

    // It was there before.
    endpoint.change(|request| match request.kind() {
        "read" => Answer::status("500 Internal Server Error"),
        _ => None,
    });
    for _ in 0..2 {
        let error = store.list().await;
        assert!(
            matches!(error, Err(SchemaStoreError::Failed(_))),
            "{error:?}"
        );
    }
    assert_eq!((endpoint.count("create"), endpoint.count("remove")), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_creation_are_what_they_are() {
    for (status, is_denied, is_unavailable) in [
        ("401 Unauthorized", true, false),
        ("403 Forbidden", true, false),
        ("503 Service Unavailable", false, true),
        (REFUSED, false, false),
    ] {
        let endpoint = Endpoint::rdf4j(move |request| {
            (request.kind() == "create")
                .then(|| Answer::status(status))
                .flatten()
        })
        .await;
        endpoint.lose_repository();
        let store = with(&endpoint, |options| options.connection.max_retries = 1);
        let error = store.list().await.unwrap_err();
        match error {
            SchemaStoreError::AccessDenied(_) => assert!(is_denied, "{status}"),
            SchemaStoreError::Unavailable(_) => assert!(is_unavailable, "{status}"),
            SchemaStoreError::Failed(_) => assert!(!is_denied && !is_unavailable, "{status}"),
            other => panic!("{status}: {other:?}"),
        }
        assert_eq!(
            endpoint.count("create"),
            1 + usize::from(is_unavailable),
            "{status}"
        );
    }
}
