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
    ApplicationBinding, Binding, Expected, LeaseRecord, MigrationPhase, MigrationRecord, Revisions,
    SchemaStore, SchemaStoreError, ServiceKind, StoredSchema,
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
    bindings_of_all_applications_are_listed_and_compared
    rights_are_removed_in_an_expected_revision
    the_record_of_a_migration_is_compared_and_is_no_schema
    a_store_is_cleared_by_whoever_has_its_record
    nothing_is_cleared_that_was_stored_after_the_record_had_changed
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
    Expected::revision(&stored.revision)
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
    let listed: Vec<_> = listed
        .iter()
        .map(|entry| (entry.id.as_str(), entry.bytes))
        .collect();
    assert_eq!(listed, [("a", 5), ("b", 4), ("c", 0)]);
}

async fn revisions_are_compared(Subject { one, two, .. }: Subject) {
    let missing = one.replace("films", "".into(), &any()).await;
    assert!(
        matches!(missing, Err(SchemaStoreError::NotFound)),
        "{missing:?}"
    );
    let first = create(&*one, "films").await;
    let second = two
        .replace("films", "x: 2".into(), &revision(&first))
        .await
        .expect("the revision is that one");
    let same = one
        .replace("films", "x: 2".into(), &any())
        .await
        .expect("it is there");
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
    let second = one
        .replace("films", "x: 2".into(), &any())
        .await
        .expect("it is there");
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
    let first = one
        .set_rights("rbac: {}".into(), &any())
        .await
        .expect("there are none");
    let second = two
        .set_rights("rbac: {a: 1}".into(), &revision(&first))
        .await;
    let second = second.expect("the revision is that one");
    for expected in [revision(&first), Expected::nothing()] {
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
    let replaced = one
        .replace("films", "x: 2".into(), &any())
        .await
        .expect("it is there");
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

/// Returns whether a store takes part in migrations, as every shared one does.
async fn is_migrated(store: &Arc<dyn SchemaStore>) -> bool {
    match store.migration().await {
        Ok(record) => {
            assert_eq!(record, None);
            true
        }
        Err(error) => {
            assert!(
                !store.is_shared(),
                "a shared store takes part in migrations: {error:?}"
            );
            false
        }
    }
}

/// Returns what an application has bound.
fn bound_by(store: &dyn SchemaStore, service: ServiceKind, binding: Binding) -> ApplicationBinding {
    ApplicationBinding {
        application: store.application().to_owned(),
        service,
        binding,
    }
}

/// Returns which services of all applications have something bound, and what.
async fn all_bound(store: &dyn SchemaStore) -> Vec<ApplicationBinding> {
    let mut bindings = store.bindings().await.expect("they are listed");
    bindings.retain(|bound| bound.binding.id().is_some());
    let key = |bound: &ApplicationBinding| (bound.application.clone(), bound.service);
    bindings.sort_by_key(key);
    bindings
}

async fn bindings_of_all_applications_are_listed_and_compared(subject: Subject) {
    let Subject { one, two, other } = &subject;
    if !is_migrated(one).await {
        return;
    }
    let [objects, search] = ServiceKind::ALL;
    create(&**one, "films").await;
    create(&**one, "books").await;
    bind(&**one, search, None).await;
    let listed = two.bindings().await.expect("they are listed");
    let nothing = bound_by(&**one, search, Binding::Nothing);
    assert!(listed.contains(&nothing), "{listed:?}");
    bind(&**one, objects, Some("films")).await;
    let films = bound_by(&**one, objects, bound("films"));
    let mut expected = vec![films.clone()];
    if let Some(other) = other {
        bind(&**other, search, Some("films")).await;
        expected.push(bound_by(&**other, search, bound("films")));
        expected.sort_by_key(|bound| (bound.application.clone(), bound.service));
    }
    assert_eq!(all_bound(&**two).await, expected);
    let swap = async |from: &ApplicationBinding, to: &Binding| two.swap_binding(from, to).await;
    let books = bound_by(&**one, objects, bound("books"));
    for other in [
        &books,
        &bound_by(&**one, objects, Binding::Nothing),
        &bound_by(&**one, objects, Binding::Unknown),
    ] {
        let swapped = swap(other, &bound("books")).await;
        assert!(!swapped.expect("it is compared"), "{other:?}");
    }
    let missing = swap(&films, &bound("plays")).await;
    assert!(
        matches!(missing, Err(SchemaStoreError::NotFound)),
        "{missing:?}"
    );
    assert!(swap(&films, &books.binding).await.expect("it is compared"));
    assert_eq!(binding(&**one, objects).await, bound("books"));
    // Each binding is forgotten by any application, and then its schema can be removed.
    for bound in all_bound(&**one).await {
        let forgotten = swap(&bound, &Binding::Unknown).await;
        assert!(forgotten.expect("it is compared"));
    }
    assert_eq!(all_bound(&**one).await, []);
    for id in ["films", "books"] {
        two.remove(id, &any()).await.expect("it is not bound");
    }
    // What is forgotten can be bound again.
    create(&**one, "films").await;
    let listed = one.bindings().await.expect("they are listed");
    let mut own = listed.into_iter().filter(|it| it.service == objects);
    let now = own
        .find(|it| it.application == one.application())
        .unwrap_or_else(|| bound_by(&**one, objects, Binding::Unknown));
    assert!(swap(&now, &bound("films")).await.expect("it is compared"));
    assert_eq!(binding(&**one, objects).await, bound("films"));
    let results = race(&subject, |store, _| {
        let (from, to) = (films.clone(), Binding::Nothing);
        async move { store.swap_binding(&from, &to).await }
    });
    let swapped = results.await.into_iter();
    let swapped = swapped.map(|swapped| swapped.expect("it is compared"));
    assert_eq!(swapped.filter(|swapped| *swapped).count(), 1);
}

async fn rights_are_removed_in_an_expected_revision(Subject { one, two, .. }: Subject) {
    if !is_migrated(&one).await {
        return;
    }
    let missing = one.remove_rights(&any()).await;
    assert!(
        matches!(missing, Err(SchemaStoreError::NotFound)),
        "{missing:?}"
    );
    let first = one
        .set_rights("rbac: {}".into(), &any())
        .await
        .expect("there are none");
    let second = two
        .set_rights("rbac: {a: 1}".into(), &any())
        .await
        .expect("they are replaced");
    let late = two.remove_rights(&revision(&first)).await;
    assert!(
        matches!(late, Err(SchemaStoreError::RevisionMismatch)),
        "{late:?}"
    );
    let removed = two.remove_rights(&revision(&second)).await;
    removed.expect("the revision is that one");
    assert_eq!(one.rights().await.expect("it is looked for"), None);
    let missing = one.missing().await.expect("it is looked for");
    assert!(missing.is_empty(), "{missing:?}");
    let again = one.set_rights("rbac: {}".into(), &any()).await;
    again.expect("there are none");
}

fn record(attempt: &str, phase: MigrationPhase) -> MigrationRecord {
    MigrationRecord {
        attempt: attempt.to_owned(),
        source: "elsewhere".to_owned(),
        phase,
    }
}

async fn the_record_of_a_migration_is_compared_and_is_no_schema(subject: Subject) {
    let Subject { one, two, .. } = &subject;
    if !is_migrated(one).await {
        return;
    }
    let copying = record("a", MigrationPhase::Copying);
    let schemas = vec!["films".to_owned(), "\"é\" \\ }".to_owned()];
    let emptying = record("a", MigrationPhase::Emptying { schemas });
    let swap = async |from: Option<&MigrationRecord>, to: Option<&MigrationRecord>| {
        let swapped = two.swap_migration(from, to).await;
        swapped.expect("it is compared")
    };
    let stored = async || one.migration().await.expect("it is looked for");
    assert!(swap(None, None).await);
    assert!(!swap(Some(&copying), Some(&emptying)).await);
    assert!(swap(None, Some(&copying)).await);
    assert_eq!(stored().await.as_ref(), Some(&copying));
    assert!(!swap(None, Some(&emptying)).await);
    assert!(!swap(None, None).await);
    assert!(!swap(Some(&emptying), None).await);
    assert!(swap(Some(&copying), Some(&emptying)).await);
    assert_eq!(stored().await.as_ref(), Some(&emptying));
    assert_eq!(one.list().await.expect("it is listed"), []);
    assert_eq!(all_bound(&**one).await, []);
    assert_eq!(one.rights().await.expect("it is looked for"), None);
    let swapped = race(&subject, |store, racer| {
        let (from, to) = (
            emptying.clone(),
            record(&racer.to_string(), MigrationPhase::Cleaning),
        );
        async move { store.swap_migration(Some(&from), Some(&to)).await }
    });
    let swapped = swapped.await.into_iter();
    let swapped = swapped.map(|swapped| swapped.expect("it is compared"));
    assert_eq!(swapped.filter(|swapped| *swapped).count(), 1);
    let last = stored().await;
    assert!(swap(last.as_ref(), None).await);
    assert_eq!(stored().await, None);
}

async fn a_store_is_cleared_by_whoever_has_its_record(Subject { one, two, other }: Subject) {
    if !is_migrated(&one).await {
        return;
    }
    let [objects, search] = ServiceKind::ALL;
    for id in ["films", "books", "plays"] {
        create(&*one, id).await;
    }
    let rights = one.set_rights("rbac: {}".into(), &any()).await;
    rights.expect("they are stored");
    bind(&*one, objects, Some("films")).await;
    bind(&*one, search, None).await;
    let applications = [Some(&one), other.as_ref()];
    let applications = applications.into_iter().flatten();
    for store in applications.clone() {
        bind(&**store, search, Some("books")).await;
    }
    let lease = LeaseRecord {
        holder: "a".to_owned(),
        number: 7,
        beat: 1,
    };
    if one.is_shared() {
        let swapped = one.swap_lease("films", None, &lease).await;
        assert!(swapped.expect("it is stored"));
    }
    let cleaning = record("a", MigrationPhase::Cleaning);
    let none = two.clear(&cleaning).await;
    assert!(!none.expect("it is compared"));
    let swapped = one.swap_migration(None, Some(&cleaning)).await;
    assert!(swapped.expect("it is compared"));
    let other_record = two.clear(&record("b", MigrationPhase::Cleaning)).await;
    assert!(!other_record.expect("it is compared"));
    assert_eq!(one.list().await.expect("it is listed").len(), 3);
    // It is the same a second time.
    for _ in 0..2 {
        let cleared = two.clear(&cleaning).await;
        assert!(cleared.expect("it is compared"));
        assert_eq!(one.list().await.expect("it is listed"), []);
        assert_eq!(get(&*one, "films").await, None);
        assert_eq!(one.rights().await.expect("it is looked for"), None);
        assert_eq!(all_bound(&*one).await, []);
        for store in applications.clone() {
            assert_eq!(binding(&**store, search).await.id(), None);
        }
    }
    let missing = one.missing().await.expect("it is looked for");
    assert!(missing.is_empty(), "{missing:?}");
    let kept = one.migration().await.expect("it is looked for");
    assert_eq!(kept, Some(cleaning));
    if one.is_shared() {
        let kept = one.lease("films").await.expect("it is looked for");
        assert_eq!(kept, Some(lease));
    }
    create(&*two, "films").await;
    bind(&*two, objects, Some("films")).await;
}

async fn nothing_is_cleared_that_was_stored_after_the_record_had_changed(subject: Subject) {
    let Subject { one, two, .. } = subject;
    if !is_migrated(&one).await {
        return;
    }
    let (first, second) = (
        record("a", MigrationPhase::Cleaning),
        record("b", MigrationPhase::Copying),
    );
    for round in 0..4 {
        create(&*one, "films").await;
        let swapped = one.swap_migration(None, Some(&first)).await;
        assert!(swapped.expect("it is compared"));
        let (late, record) = (Arc::clone(&one), first.clone());
        let clears = tokio::spawn(async move { late.clear(&record).await });
        if round % 2 == 0 {
            tokio::task::yield_now().await;
        }
        let swapped = two.swap_migration(Some(&first), Some(&second)).await;
        assert!(swapped.expect("it is compared"));
        let books = create(&*two, "books").await;
        let rights = two
            .set_rights("rbac: {}".into(), &any())
            .await
            .expect("they are stored");
        bind(&*two, ServiceKind::Objects, Some("books")).await;
        match clears.await.expect("it does not panic") {
            Ok(_) | Err(SchemaStoreError::Unavailable(_)) => {}
            Err(error) => panic!("{error:?}"),
        }
        assert_eq!(get(&*one, "books").await, Some(books));
        assert_eq!(one.rights().await.expect("it is looked for"), Some(rights));
        assert_eq!(binding(&*one, ServiceKind::Objects).await, bound("books"));
        let cleared = one.clear(&second).await;
        assert!(cleared.expect("it is compared"));
        let ended = one.swap_migration(Some(&second), None).await;
        assert!(ended.expect("it is compared"));
    }
}
