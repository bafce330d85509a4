//! A store at a server that speaks the protocol of MongoDB.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use mongodb::bson::{Document, doc};
use mongodb::{Client, Collection};
use schema_registry::contract::{self, Subject};
use schema_registry::{
    Binding, Expected, InMemorySchemaStore, Migration, MigrationOptions, MigrationPhase,
    MigrationRecord, MongoSchemaOptions, MongoSchemaStore, SchemaStore, SchemaStoreError,
    ServiceKind,
};
use tokio::task::JoinSet;

fn endpoint() -> String {
    std::env::var("MONGODB_URL").expect("MONGODB_URL names a server: see CONTRIBUTING.md")
}

/// Returns options with a database of their own.
fn options(application: &str) -> MongoSchemaOptions {
    let mut options = MongoSchemaOptions::new(application);
    options.endpoint = endpoint();
    options.database = format!("test-{}", uuid::Uuid::new_v4().simple());
    options
}

async fn open(options: &MongoSchemaOptions, application: &str) -> Arc<dyn SchemaStore> {
    let mut options = options.clone();
    options.application = application.to_owned();
    Arc::new(MongoSchemaStore::open(&options).await.unwrap())
}

async fn subject(options: &MongoSchemaOptions) -> Subject {
    Subject {
        one: open(options, "shop").await,
        two: open(options, "shop").await,
        other: Some(open(options, "museum").await),
    }
}

/// Returns the collection, to look at and to spoil.
async fn collection(options: &MongoSchemaOptions) -> Collection<Document> {
    let client = Client::with_uri_str(&options.endpoint).await.unwrap();
    let database = client.database(&options.database);
    database.collection(&options.collection)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MongoDB: see CONTRIBUTING.md"]
async fn a_store_in_mongodb_has_the_behaviours_of_all() {
    contract::run(async || subject(&options("shop")).await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MongoDB: see CONTRIBUTING.md"]
async fn a_store_has_the_same_behaviours_without_acknowledgements_and_with_any_read_concern() {
    let read_concerns = schema_registry::MongoReadConcern::ALL;
    for (concern, read_concern) in [("unacknowledged", read_concerns[1])]
        .into_iter()
        .chain(read_concerns.map(|read_concern| ("w1", read_concern)))
    {
        contract::run(async || {
            let mut options = options("shop");
            options.write_concern = concern.parse().unwrap();
            options.read_concern = read_concern;
            subject(&options).await
        })
        .await;
    }
}

#[tokio::test]
#[ignore = "needs MongoDB: see CONTRIBUTING.md"]
async fn only_schemas_have_the_key_that_migrations_remove() {
    let options = options("shop");
    let store = open(&options, "shop").await;
    store.create("rights", "x: 1".into()).await.unwrap();
    let rights = store.set_rights("x: 2".into(), &Expected::default()).await;
    let rights = rights.unwrap();
    let service = ServiceKind::Objects;
    store.set_binding(service, Some("rights")).await.unwrap();
    let schemas = doc! { "@yaml": { "$exists": true } };
    let collection = collection(&options).await;
    let schema = collection.find_one(schemas.clone()).await.unwrap().unwrap();
    assert_eq!(schema.get_str("@id").unwrap(), "rights");
    assert_eq!(schema.get_str("@yaml").unwrap(), "x: 1");
    let removed = collection.delete_many(schemas).await.unwrap();
    assert_eq!(removed.deleted_count, 1);
    assert!(store.list().await.unwrap().is_empty());
    assert_eq!(store.rights().await.unwrap(), Some(rights));
    let state = store.binding_state(service).await.unwrap();
    assert_eq!(state.binding, Binding::Schema("rights".to_owned()));
    assert_eq!(state.revision, None);
    let other = store.set_binding(service, Some("other")).await;
    assert!(
        matches!(other, Err(SchemaStoreError::NotFound)),
        "{other:?}"
    );
    store.create("rights", "x: 3".into()).await.unwrap();
    store.set_binding(service, Some("rights")).await.unwrap();
}

#[tokio::test]
#[ignore = "needs MongoDB: see CONTRIBUTING.md"]
async fn a_schema_can_be_removed_after_a_process_stopped_while_it_bound_one() {
    let options = options("shop");
    let store = open(&options, "shop").await;
    let service = ServiceKind::Objects;
    store.create("films", "x: 1".into()).await.unwrap();
    store.create("books", "x: 1".into()).await.unwrap();
    store.set_binding(service, Some("books")).await.unwrap();
    // Before the binding was changed, of an application that has none too, and twice.
    let marks = [
        doc! { "application": "shop", "service": "objects", "mark": "a" },
        doc! { "application": "shop", "service": "objects", "mark": "b" },
        doc! { "application": "museum", "service": "search", "mark": "c" },
    ];
    let collection = collection(&options).await;
    let filter = doc! { "_id": "schema:films" };
    let update = doc! { "$set": { "bindings": marks.to_vec() } };
    collection.update_one(filter, update).await.unwrap();
    store.remove("films", &Expected::default()).await.unwrap();
    let bound = store.binding(service).await.unwrap();
    assert_eq!(bound, Binding::Schema("books".to_owned()));
    let refused = store.remove("books", &Expected::default()).await;
    assert!(
        matches!(refused, Err(SchemaStoreError::Bound { .. })),
        "{refused:?}"
    );
    // After it was changed, before the mark of the earlier schema was taken off.
    store.create("films", "x: 1".into()).await.unwrap();
    let filter = doc! { "_id": "schema:films" };
    let update = doc! { "$push": { "bindings": &marks[0] } };
    collection.update_one(filter, update).await.unwrap();
    store.set_binding(service, Some("films")).await.unwrap();
    store.set_binding(service, Some("books")).await.unwrap();
    store.remove("films", &Expected::default()).await.unwrap();
    let museum = open(&options, "museum").await;
    let bound = museum.binding(ServiceKind::Search).await.unwrap();
    assert_eq!(bound, Binding::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MongoDB: see CONTRIBUTING.md"]
async fn no_binding_names_a_schema_that_is_removed_while_many_change_both() {
    const ROUNDS: usize = 40;
    let options = options("shop");
    let names = ["films", "books"];
    let mut tasks = JoinSet::new();
    for task in 0..6 {
        let application = ["shop", "museum"][task % 2];
        let store = open(&options, application).await;
        tasks.spawn(async move {
            for round in 0..ROUNDS {
                let id = names[(task + round) % 2];
                let service = ServiceKind::ALL[round / 2 % 2];
                let outcome = match (task / 2, round % 4) {
                    (0, _) => store.remove(id, &Expected::default()).await,
                    (1, _) => store.create(id, "x: 1".into()).await.map(drop),
                    (_, 0) => store.set_binding(service, None).await,
                    _ => store.set_binding(service, Some(id)).await,
                };
                match outcome {
                    Ok(())
                    | Err(
                        SchemaStoreError::Exists
                        | SchemaStoreError::NotFound
                        | SchemaStoreError::Bound { .. },
                    ) => {}
                    Err(error) => panic!("{error:?}"),
                }
                // Whatever others do: what is bound now cannot have been removed when it is read again as bound.
                let state = store.binding_state(service).await.unwrap();
                assert_eq!(
                    state.binding.id().is_some(),
                    state.revision.is_some(),
                    "{state:?}"
                );
            }
        });
    }
    tasks.join_all().await;
    let store = open(&options, "shop").await;
    let museum = open(&options, "museum").await;
    for service in ServiceKind::ALL {
        store.set_binding(service, None).await.unwrap();
        museum.set_binding(service, None).await.unwrap();
    }
    for entry in store.list().await.unwrap() {
        store.remove(&entry.id, &Expected::default()).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs MongoDB: see CONTRIBUTING.md"]
async fn whatever_has_the_key_of_schemas_is_cleared_and_nothing_else() {
    let options = options("shop");
    let store = open(&options, "shop").await;
    store.create("films", "x: 1".into()).await.unwrap();
    let collection = collection(&options).await;
    // Of another program, of an unknown type of key, and spoilt ones.
    collection
        .insert_many([
            doc! { "_id": "/soml/films", "@id": "/soml/films", "@yaml": "x: 1" },
            doc! { "_id": 7, "@yaml": "x: 1" },
            doc! { "_id": "schema:books", "@yaml": "x: 1", "revision": 7 },
            doc! { "_id": "schema:plays", "@yaml": "x: 1", "revision": "r", "bytes": 4 },
            doc! { "_id": "of another program" },
        ])
        .await
        .unwrap();
    let record = MigrationRecord {
        attempt: "1".to_owned(),
        source: "elsewhere".to_owned(),
        phase: MigrationPhase::Cleaning,
    };
    let begun = store.swap_migration(None, Some(&record)).await;
    assert!(begun.unwrap());
    // A schema without marks is spoilt too; it is named, and stays.
    let spoilt = store.clear(&record).await.unwrap_err();
    let said = std::error::Error::source(&spoilt).unwrap().to_string();
    assert!(said.contains("schema:plays"), "{said}");
    let key = doc! { "_id": "schema:plays" };
    collection.delete_one(key).await.unwrap();
    assert!(store.clear(&record).await.unwrap());
    let schemas = doc! { "@yaml": { "$exists": true } };
    assert_eq!(collection.count_documents(schemas).await.unwrap(), 0);
    let others = doc! { "_id": { "$in": ["of another program", "migration"] } };
    assert_eq!(collection.count_documents(others).await.unwrap(), 2);
}

#[tokio::test]
#[ignore = "needs MongoDB: see CONTRIBUTING.md"]
async fn a_migration_names_what_is_bound_and_gone_and_what_is_damaged() {
    let options = options("shop");
    let store = open(&options, "shop").await;
    store.create("books", "x: 1".into()).await.unwrap();
    store.create("films", "x: 1".into()).await.unwrap();
    let objects = ServiceKind::Objects;
    store.set_binding(objects, Some("films")).await.unwrap();
    let collection = collection(&options).await;
    let destination = Arc::new(InMemorySchemaStore::shared().of_application("shop"));
    let migration = MigrationOptions {
        retries: 0,
        clean_after: true,
        ..MigrationOptions::new("mongodb")
    };
    let migration = Migration::new(store.clone(), destination.clone(), migration);
    let films = doc! { "_id": "schema:films" };
    let spoilt = doc! { "$set": { "@yaml": 7 } };
    collection.update_one(films.clone(), spoilt).await.unwrap();
    let error = migration.run().await.unwrap_err();
    let expected = "failed to read the schema `films` in the origin";
    assert_eq!(error.to_string(), expected);
    collection.delete_one(films).await.unwrap();
    let error = migration.run().await.unwrap_err().to_string();
    assert!(error.contains("`films` is bound to the object"), "{error}");
    assert!(store.get("books").await.unwrap().is_some());
    // Once it is there again, the migration goes on.
    store.create("films", "x: 2".into()).await.unwrap();
    store.set_binding(objects, Some("films")).await.unwrap();
    let report = migration.run().await.unwrap();
    assert!(report.is_resumed);
    let moved = destination.get("films").await.unwrap().unwrap();
    assert_eq!(&*moved.text, "x: 2");
    assert!(store.list().await.unwrap().is_empty());
}
