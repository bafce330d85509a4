//! Migrations between stores: against a model, with every call failing, and with several processes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod faults;
mod matrix;
mod model;
mod others;
mod watched;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::Choice;
use schema_registry::{
    ApplicationBinding, Binding, Expected, InMemorySchemaStore, Migration, MigrationOptions,
    SchemaStore, ServiceKind,
};

/// The application that migrates where a store has several.
const SHOP: &str = "shop";
const MUSEUM: &str = "museum";
const OBJECTS: ServiceKind = ServiceKind::Objects;
const SEARCH: ServiceKind = ServiceKind::Search;

/// What a store has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Contents {
    schemas: BTreeMap<String, String>,
    rights: Option<String>,
    /// What is bound to the services of applications; `None` for nothing.
    bindings: BTreeMap<(String, ServiceKind), Option<String>>,
}

type BoundTo<'a> = (&'a str, ServiceKind, Option<&'a str>);

impl Contents {
    fn new(schemas: &[(&str, &str)], rights: Option<&str>, bindings: &[BoundTo<'_>]) -> Self {
        let schemas = schemas.iter();
        let bindings = bindings.iter();
        let bindings = bindings.map(|(application, service, id)| {
            let key = ((*application).to_owned(), *service);
            (key, id.map(str::to_owned))
        });
        Contents {
            schemas: schemas
                .map(|(id, text)| ((*id).to_owned(), (*text).to_owned()))
                .collect(),
            rights: rights.map(str::to_owned),
            bindings: bindings.collect(),
        }
    }

    /// Returns the same for a store that has one application, which has no name.
    fn of_one(mut self) -> Self {
        self.bindings
            .retain(|(application, _), _| application == SHOP);
        let bindings = std::mem::take(&mut self.bindings).into_iter();
        let bindings = bindings.map(|((_, service), id)| ((String::new(), service), id));
        self.bindings = bindings.collect();
        self
    }

    /// Returns the same without what nothing is bound to, which a folder does not tell from what nobody has bound.
    fn bound(mut self) -> Self {
        self.bindings.retain(|_, id| id.is_some());
        self
    }

    async fn of(store: &dyn SchemaStore) -> Self {
        let mut contents = Contents::default();
        for entry in store.list().await.unwrap() {
            let stored = store.get(&entry.id).await.unwrap().unwrap();
            assert_eq!(stored.text.len(), entry.bytes);
            contents.schemas.insert(entry.id, stored.text.to_string());
        }
        let rights = store.rights().await.unwrap();
        contents.rights = rights.map(|rights| rights.text.to_string());
        for bound in store.bindings().await.unwrap() {
            let key = (bound.application, bound.service);
            contents.bindings.insert(key, bound.binding.into_id());
        }
        contents
    }

    async fn put_into(&self, store: &dyn SchemaStore) {
        for (id, text) in &self.schemas {
            store.create(id, text.as_str().into()).await.unwrap();
        }
        if let Some(rights) = &self.rights {
            let any = Expected::default();
            store
                .set_rights(rights.as_str().into(), &any)
                .await
                .unwrap();
        }
        for ((application, service), id) in &self.bindings {
            let current = store.bindings().await.unwrap();
            let mut current = current.into_iter();
            let current = current
                .find(|it| it.application == *application && it.service == *service)
                .unwrap_or(ApplicationBinding {
                    application: application.clone(),
                    service: *service,
                    binding: Binding::Unknown,
                });
            let next = id.clone().map_or(Binding::Nothing, Binding::Schema);
            assert!(store.swap_binding(&current, &next).await.unwrap());
        }
    }
}

/// Returns what an origin may have.
fn origins() -> Vec<Contents> {
    let both = [
        (SHOP, OBJECTS, Some("a")),
        (SHOP, SEARCH, None),
        (MUSEUM, SEARCH, Some("b")),
    ];
    vec![
        Contents::default(),
        Contents::new(
            &[("a", "a: 1"), ("b", "b: 1"), ("c", "c: 1")],
            Some("origin"),
            &both,
        ),
        Contents::new(&[("a", "a: 1"), ("c", "c: 1")], None, &[]),
        Contents::new(&[], Some("origin"), &[]),
        Contents::new(
            &[("a", "a: 1"), ("b", "b: 1")],
            Some("origin"),
            &[(SHOP, OBJECTS, Some("a")), (SHOP, SEARCH, Some("b"))],
        ),
    ]
}

/// Returns what a destination may have.
fn destinations() -> Vec<Contents> {
    let bindings = [(SHOP, OBJECTS, Some("d")), (MUSEUM, OBJECTS, Some("a"))];
    vec![
        Contents::default(),
        Contents::new(
            &[("a", "a: 2"), ("d", "d: 2")],
            Some("destination"),
            &bindings,
        ),
        Contents::new(&[("a", "a: 1"), ("b", "b: 2")], None, &[]),
        Contents::new(&[], Some("destination"), &[(SHOP, OBJECTS, None)]),
    ]
}

/// Which kinds of stores take part: one that processes share, or one with a single process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kinds {
    origin_is_shared: bool,
    destination_is_shared: bool,
}

impl Kinds {
    const SHARED: Kinds = Kinds {
        origin_is_shared: true,
        destination_is_shared: true,
    };
    const ALL: [Kinds; 3] = [
        Kinds::SHARED,
        Kinds {
            origin_is_shared: true,
            destination_is_shared: false,
        },
        Kinds {
            origin_is_shared: false,
            destination_is_shared: true,
        },
    ];
}

/// Two stores in memory, and what they had first.
#[derive(Clone)]
struct World {
    kinds: Kinds,
    origin: Arc<dyn SchemaStore>,
    destination: Arc<dyn SchemaStore>,
    first: [Contents; 2],
}

impl World {
    async fn new(kinds: Kinds, origin: &Contents, destination: &Contents) -> Self {
        let make = async |is_shared, contents: &Contents| {
            let (store, contents) = if is_shared {
                let store = InMemorySchemaStore::shared().of_application(SHOP);
                (store, contents.clone())
            } else {
                (InMemorySchemaStore::default(), contents.clone().of_one())
            };
            let store: Arc<dyn SchemaStore> = Arc::new(store);
            contents.put_into(&*store).await;
            (store, contents)
        };
        let (origin, of_origin) = make(kinds.origin_is_shared, origin).await;
        let (destination, of_destination) = make(kinds.destination_is_shared, destination).await;
        World {
            kinds,
            origin,
            destination,
            first: [of_origin, of_destination],
        }
    }

    async fn now(&self) -> [Contents; 2] {
        let origin = Contents::of(&*self.origin).await;
        [origin, Contents::of(&*self.destination).await]
    }

    fn expected(&self, choice: &Choice) -> Option<[Contents; 2]> {
        model::expected(self.kinds, &self.first, choice)
    }

    fn migration(&self, choice: &Choice) -> Migration {
        let stores = [&self.origin, &self.destination].map(Arc::clone);
        migration(stores, choice, 0)
    }
}

fn options(choice: &Choice, retries: u32) -> MigrationOptions {
    MigrationOptions {
        force: choice.force,
        all: choice.all,
        clean_before: choice.clean_before,
        clean_after: choice.clean_after,
        retries,
        delay: Duration::ZERO,
        lease_time: Duration::ZERO,
        ..MigrationOptions::new("memory")
    }
}

fn migration(
    [origin, destination]: [Arc<dyn SchemaStore>; 2],
    choice: &Choice,
    retries: u32,
) -> Migration {
    Migration::new(origin, destination, options(choice, retries))
}
