//! The contract of [`SchemaStore`] as a list of behaviours that any store can be checked for.
//!
//! ```
//! use std::sync::Arc;
//!
//! use schema_registry::InMemorySchemaStore;
//! use schema_registry::contract::{self, Subject};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! contract::run(async || Subject::of(Arc::new(InMemorySchemaStore::default()))).await;
//! # }
//! ```

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::store::{
    Binding, Expected, LeaseRecord, Revisions, SchemaStore, SchemaStoreError, ServiceKind,
    StoredSchema,
};

/// How many tasks race for the same change.
const RACERS: usize = 8;

/// A new store without documents, as several processes see it.
#[derive(Clone)]
pub struct Subject {
    /// The store as one process of an application sees it.
    pub one: Arc<dyn SchemaStore>,
    /// The same as another process of the application sees it.
    pub two: Arc<dyn SchemaStore>,
    /// The same as another application sees it, if there can be another.
    pub other: Option<Arc<dyn SchemaStore>>,
}

impl Subject {
    /// Takes a store that one process uses at a time.
    #[must_use]
    pub fn of(store: Arc<dyn SchemaStore>) -> Self {
        Subject {
            one: Arc::clone(&store),
            two: store,
            other: None,
        }
    }
}

type Checking = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One behaviour that every store has.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    /// What the store does.
    pub name: &'static str,
    check: fn(Subject) -> Checking,
}

macro_rules! behaviours {
    ($($name:ident)*) => {
        /// All behaviours.
        pub const BEHAVIOURS: &[Behaviour] = &[
            $(Behaviour { name: stringify!($name), check: |subject| Box::pin($name(subject)) },)*
        ];
    };
}

behaviours! {
    documents_are_as_they_were_sent
    a_name_is_taken_once
    a_listing_has_names_and_sizes
    revisions_are_compared
    what_is_removed_is_gone
    rights_are_compared_too
    each_service_has_its_binding
    what_is_bound_is_not_removed
    one_of_several_changes_wins
    one_of_several_new_documents_wins
    nothing_is_bound_that_is_removed
    leases_are_compared
}

/// Checks all [`BEHAVIOURS`], each with a store made by `make`. Tasks race in them, so a runtime with several threads
/// finds more.
///
/// # Panics
/// When the store behaves differently.
pub async fn run(make: impl AsyncFn() -> Subject) {
    for behaviour in BEHAVIOURS {
        tracing::debug!(behaviour.name, "checks a store of schemas");
        (behaviour.check)(make().await).await;
    }
}

fn any() -> Expected {
    Expected::default()
}

fn revision(stored: &StoredSchema) -> Expected {
    Expected {
        one_of: Some(Revisions::Listed(vec![stored.revision.clone()])),
        none_of: None,
    }
}

fn bound(id: &str) -> Binding {
    Binding::Schema(id.to_owned())
}

async fn create(store: &dyn SchemaStore, id: &str) -> StoredSchema {
    let text = format!("id: /soml/{id}\n");
    store.create(id, text.into()).await.expect("it is new")
}

async fn get(store: &dyn SchemaStore, id: &str) -> Option<StoredSchema> {
    store.get(id).await.expect("it is looked for")
}

async fn binding(store: &dyn SchemaStore, service: ServiceKind) -> Binding {
    store.binding(service).await.expect("it is looked for")
}

async fn bind(store: &dyn SchemaStore, service: ServiceKind, id: Option<&str>) {
    let bound = store.set_binding(service, id).await;
    bound.expect("it is stored");
}

async fn documents_are_as_they_were_sent(Subject { one, two, .. }: Subject) {
    one.probe().await.expect("the store works");
    let long = "label: \"Größe \u{1f30d}\"\n".repeat(20_000);
    let texts = [
        "",
        "a: 1",
        "a: 1\r\nb: |\n  x\ty\n",
        "\u{feff}q: '\"' \\ ${x} {{y}} <z> & \u{2028}\n",
        "'''",
        r#""""\u0041"#,
        long.as_str(),
    ];
    for (at, text) in texts.into_iter().enumerate() {
        let id = format!("Schema-{at}_a.b");
        let stored = one.create(&id, text.into()).await.expect("it is new");
        assert_eq!((stored.id.as_str(), &*stored.text), (id.as_str(), text));
        assert_eq!(get(&*two, &id).await, Some(stored));
        let replaced = two.replace(&id, format!("{text} ").into(), &any()).await;
        let replaced = replaced.expect("it is replaced");
        assert_eq!(get(&*one, &id).await, Some(replaced));
    }
    assert_eq!(get(&*one, "other").await, None);
    let missing = one.missing().await.expect("it is looked for");
    assert!(missing.is_empty(), "{missing:?}");
}

async fn a_name_is_taken_once(Subject { one, two, .. }: Subject) {
    let first = create(&*one, "films").await;
    let second = two.create("films", "x: 1".into()).await;
    assert!(
        matches!(second, Err(SchemaStoreError::Exists)),
        "{second:?}"
    );
    assert_eq!(get(&*two, "films").await, Some(first));
    let other_case = two.create("Films", "x: 1".into()).await;
    assert!(other_case.is_ok(), "{other_case:?}");
}

async fn a_listing_has_names_and_sizes(Subject { one, two, .. }: Subject) {
    assert!(one.list().await.expect("it is listed").is_empty());
    for (id, text) in [("b", "äö"), ("a", "12345"), ("c", "")] {
        one.create(id, text.into()).await.expect("it is new");
    }
    let rights = one.set_rights("rbac: {}".into(), &any()).await;
    rights.expect("they are stored");
    let listed = two.list().await.expect("it is listed");
    let listed = listed.iter().map(|entry| (entry.id.as_str(), entry.bytes));
    let listed: Vec<_> = listed.collect();
    assert_eq!(listed, [("a", 5), ("b", 4), ("c", 0)]);
}

async fn revisions_are_compared(Subject { one, two, .. }: Subject) {
    let missing = one.replace("films", "".into(), &any()).await;
    assert!(
        matches!(missing, Err(SchemaStoreError::NotFound)),
        "{missing:?}"
    );
    let first = create(&*one, "films").await;
    let second = two.replace("films", "x: 2".into(), &revision(&first)).await;
    let second = second.expect("the revision is that one");
    let same = one.replace("films", "x: 2".into(), &any()).await;
    let same = same.expect("it is there");
    let revisions = [&first, &second, &same].map(|stored| stored.revision.as_str());
    let revisions = HashSet::from(revisions);
    assert_eq!(revisions.len(), 3, "no revision is used again");
    let not_this = Expected {
        one_of: Some(Revisions::Any),
        none_of: Some(Revisions::Listed(vec![same.revision.clone()])),
    };
    for expected in [revision(&first), not_this] {
        let late = two.replace("films", "x: 3".into(), &expected).await;
        assert!(
            matches!(late, Err(SchemaStoreError::RevisionMismatch)),
            "{late:?}"
        );
    }
    assert_eq!(get(&*two, "films").await, Some(same));
}

async fn what_is_removed_is_gone(Subject { one, two, .. }: Subject) {
    let missing = one.remove("films", &any()).await;
    assert!(
        matches!(missing, Err(SchemaStoreError::NotFound)),
        "{missing:?}"
    );
    let first = create(&*one, "films").await;
    let second = one.replace("films", "x: 2".into(), &any()).await;
    let second = second.expect("it is there");
    let late = two.remove("films", &revision(&first)).await;
    assert!(
        matches!(late, Err(SchemaStoreError::RevisionMismatch)),
        "{late:?}"
    );
    let removed = two.remove("films", &revision(&second)).await;
    removed.expect("the revision is that one");
    assert_eq!(get(&*one, "films").await, None);
    assert!(one.list().await.expect("it is listed").is_empty());
    let again = create(&*one, "films").await;
    assert!(again.revision != first.revision && again.revision != second.revision);
}

async fn rights_are_compared_too(Subject { one, two, other }: Subject) {
    assert_eq!(one.rights().await.expect("it is looked for"), None);
    let some = Expected {
        one_of: Some(Revisions::Any),
        none_of: None,
    };
    let missing = one.set_rights("rbac: {}".into(), &some).await;
    assert!(
        matches!(missing, Err(SchemaStoreError::RevisionMismatch)),
        "{missing:?}"
    );
    let first = one.set_rights("rbac: {}".into(), &any()).await;
    let first = first.expect("there are none");
    let second = two
        .set_rights("rbac: {a: 1}".into(), &revision(&first))
        .await;
    let second = second.expect("the revision is that one");
    let new_only = Expected {
        one_of: None,
        none_of: Some(Revisions::Any),
    };
    for expected in [revision(&first), new_only] {
        let late = one.set_rights("rbac: {}".into(), &expected).await;
        assert!(
            matches!(late, Err(SchemaStoreError::RevisionMismatch)),
            "{late:?}"
        );
    }
    for store in other.into_iter().chain([one, two]) {
        let rights = store.rights().await.expect("it is looked for");
        assert_eq!(rights.as_ref(), Some(&second));
    }
}

async fn each_service_has_its_binding(Subject { one, two, other }: Subject) {
    let [objects, search] = ServiceKind::ALL;
    let films = create(&*one, "films").await;
    create(&*one, "books").await;
    assert_eq!(binding(&*one, search).await.id(), None);
    bind(&*one, objects, Some("films")).await;
    assert_eq!(binding(&*two, search).await.id(), None);
    bind(&*one, search, Some("books")).await;
    assert_eq!(binding(&*two, objects).await, bound("films"));
    let state = two.binding_state(objects).await.expect("it is read");
    assert_eq!(
        (state.binding, state.revision),
        (bound("films"), Some(films.revision))
    );
    let replaced = one.replace("films", "x: 2".into(), &any()).await;
    let replaced = replaced.expect("it is there");
    let state = two.binding_state(objects).await.expect("it is read");
    assert_eq!(state.revision, Some(replaced.revision));
    if let Some(other) = other {
        assert_eq!(binding(&*other, objects).await, Binding::Unknown);
        bind(&*other, objects, Some("books")).await;
        assert_eq!(binding(&*one, objects).await, bound("films"));
        assert_eq!(binding(&*other, objects).await, bound("books"));
    }
    bind(&*two, objects, Some("books")).await;
    assert_eq!(binding(&*one, objects).await, bound("books"));
    for (id, was_bound) in [("films", false), ("books", true), ("books", false)] {
        let unbound = two.unbind(objects, id).await.expect("it is compared");
        assert_eq!(unbound, was_bound, "{id}");
    }
    let state = one.binding_state(objects).await.expect("it is read");
    assert_eq!((state.binding, state.revision), (Binding::Nothing, None));
    assert_eq!(binding(&*one, search).await, bound("books"));
}

async fn what_is_bound_is_not_removed(Subject { one, two, other }: Subject) {
    for service in ServiceKind::ALL {
        let films = create(&*one, "films").await;
        for store in [Some(&two), other.as_ref()].into_iter().flatten() {
            bind(&**store, service, Some("films")).await;
            let refused = one.remove("films", &any()).await;
            assert!(
                matches!(&refused, Err(SchemaStoreError::Bound { service: by }) if *by == service),
                "{refused:?}"
            );
            assert_eq!(get(&*one, "films").await.as_ref(), Some(&films));
            bind(&**store, service, None).await;
        }
        let removed = one.remove("films", &any()).await;
        removed.expect("it is not bound any more");
    }
}

/// Lets tasks race for a change, half of them in each process. Returns what became of each.
async fn race<T, F>(
    subject: &Subject,
    change: impl Fn(Arc<dyn SchemaStore>, usize) -> F,
) -> Vec<Result<T, SchemaStoreError>>
where
    T: Send + 'static,
    F: Future<Output = Result<T, SchemaStoreError>> + Send + 'static,
{
    let mut racers = JoinSet::new();
    for racer in 0..RACERS {
        let store = [&subject.one, &subject.two][racer % 2];
        racers.spawn(change(Arc::clone(store), racer));
    }
    racers.join_all().await
}

async fn one_of_several_changes_wins(subject: Subject) {
    let mut current = create(&*subject.one, "films").await;
    for round in 0..4 {
        let expected = revision(&current);
        let results = race(&subject, |store, racer| {
            let (text, expected) = (format!("{round}: {racer}\n"), expected.clone());
            async move { store.replace("films", text.into(), &expected).await }
        });
        let mut winners = Vec::new();
        for result in results.await {
            match result {
                Ok(stored) => winners.push(stored),
                Err(SchemaStoreError::RevisionMismatch) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(winners.len(), 1, "{winners:?}");
        current = winners.remove(0);
        assert_eq!(get(&*subject.two, "films").await.as_ref(), Some(&current));
    }
}

async fn one_of_several_new_documents_wins(subject: Subject) {
    let results = race(&subject, |store, racer| async move {
        store
            .create("films", format!("racer: {racer}").into())
            .await
    });
    let mut winners = Vec::new();
    for result in results.await {
        match result {
            Ok(stored) => winners.push(stored),
            Err(SchemaStoreError::Exists) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?}");
    assert_eq!(get(&*subject.one, "films").await, winners.pop());
}

async fn nothing_is_bound_that_is_removed(Subject { one, two, .. }: Subject) {
    let service = ServiceKind::Objects;
    for _ in 0..4 {
        create(&*one, "films").await;
        let (binder, remover) = (Arc::clone(&one), Arc::clone(&two));
        let binds = tokio::spawn(async move { binder.set_binding(service, Some("films")).await });
        let removes = tokio::spawn(async move { remover.remove("films", &any()).await });
        let binds = binds.await.expect("it does not panic");
        let removes = removes.await.expect("it does not panic");
        let is_stored = get(&*one, "films").await.is_some();
        match (&binds, &removes) {
            (Ok(()), Err(SchemaStoreError::Bound { .. })) => assert!(is_stored),
            (Err(SchemaStoreError::NotFound), Ok(())) => assert!(!is_stored),
            // A store of one process leaves it to the service to look.
            (Ok(()), Ok(())) if !one.is_shared() => assert!(!is_stored),
            other => panic!("{other:?}"),
        }
        bind(&*one, service, None).await;
        if is_stored {
            let removed = one.remove("films", &any()).await;
            removed.expect("it is not bound any more");
        }
    }
}

async fn leases_are_compared(subject: Subject) {
    let Subject { one, two, .. } = &subject;
    let record = |holder: &str, number, beat| LeaseRecord {
        holder: holder.to_owned(),
        number,
        beat,
    };
    let (first, second) = (record("a", 1, 0), record("a", 1, 1));
    match one.swap_lease("films", None, &first).await {
        Ok(swapped) => assert!(swapped),
        Err(error) => {
            assert!(!one.is_shared(), "a shared store keeps leases: {error:?}");
            return;
        }
    }
    let lease = async |store: &Arc<dyn SchemaStore>, name: &str| {
        store.lease(name).await.expect("it is looked for")
    };
    assert_eq!(lease(two, "films").await.as_ref(), Some(&first));
    assert_eq!(lease(two, "books").await, None);
    let swap = async |from: Option<&LeaseRecord>, to: &LeaseRecord| {
        let swapped = two.swap_lease("films", from, to).await;
        swapped.expect("it is compared")
    };
    assert!(!swap(None, &second).await);
    assert!(swap(Some(&first), &second).await);
    assert!(!swap(Some(&first), &record("b", 2, 0)).await);
    assert_eq!(lease(one, "films").await.as_ref(), Some(&second));
    let swapped = race(&subject, |store, racer| {
        let (from, to) = (second.clone(), record(&racer.to_string(), 2, 0));
        async move { store.swap_lease("films", Some(&from), &to).await }
    });
    let swapped = swapped.await.into_iter();
    let swapped = swapped.map(|swapped| swapped.expect("it is compared"));
    assert_eq!(swapped.filter(|swapped| *swapped).count(), 1);
}
