//! The stores that tests run over: embedded, behind an endpoint in the same process, and on servers.
//!
//! Servers are named by `RDF4J_URL`, the address of an RDF4J Server, and `FUSEKI_URL`, that of a
//! Fuseki server with `/$/` administration; each store gets a repository or dataset of its own.

pub mod in_process;
pub mod listed;
mod server;
pub mod written;

use std::sync::{Arc, RwLock};
use std::time::Duration;

use graph_store::image::{FolderOptions, ImageStore};
use graph_store::pattern::{PatternSource, PatternStore, Quads};
use graph_store::remote::http::{HttpEndpoint, HttpStore};
use graph_store::remote::{
    DefaultGraph, Dialect, IsolationReport, RemoteOptions, RemoteStore, TreeForm,
};
use graph_store::write::change_graph;
use graph_store::{CallContext, GraphStore, StoreError};
use in_process::{InProcess, Updates};
use listed::Listed;
use oxigraph::store::Store;
use oxrdf::{GraphName, GraphNameRef, NamedNodeRef, NamedOrBlankNodeRef, Quad, TermRef};

pub use server::Server;

use crate::images;

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A store over an image, which is built again for other data.
    Image,
    /// The same, whose data come and go by transactions, with merges in between.
    WrittenImage,
    /// A store over an image in a folder.
    Folder,
    /// A store over quads that a pattern finds, which cannot be written to.
    Pattern,
    /// An endpoint in the same process whose default graph is the union of all.
    Remote,
    /// An endpoint in the same process whose default graph stands apart.
    RemoteApart,
    /// The same as [`Kind::Remote`], asked for several levels in the nested form.
    RemoteNested,
    /// A real RDF4J Server.
    Rdf4j {
        /// The repository infers after RDF Schema.
        infers: bool,
    },
    /// A real Fuseki server.
    Fuseki,
}

impl Kind {
    /// Returns how a remote store of this kind is asked; `None` for a store in this process.
    fn options(self) -> Option<RemoteOptions> {
        let dialect = match self {
            Kind::Image | Kind::WrittenImage | Kind::Folder | Kind::Pattern => return None,
            Kind::Remote | Kind::RemoteNested | Kind::RemoteApart => Dialect::Oxigraph,
            Kind::Rdf4j { .. } => Dialect::Rdf4j,
            Kind::Fuseki => Dialect::Fuseki,
        };
        let mut options = RemoteOptions::new(dialect);
        if matches!(self, Kind::Remote | Kind::RemoteNested) {
            options.default_graph = DefaultGraph::Union;
        }
        if self == Kind::RemoteNested {
            options.tree_form = Some(TreeForm::Nested);
        }
        Some(options)
    }
}

/// A store with its data.
pub struct BackEnd {
    graph_store: Arc<dyn GraphStore>,
    data: Data,
}

enum Data {
    /// Behind an endpoint.
    Here(Store),
    /// To be replaced whenever there are new data.
    Image(Arc<ImageStore>),
    /// The same, and then to be written to.
    WrittenImage(Arc<ImageStore>),
    /// To be replaced whenever there are new data, in a folder that is removed at the end.
    Folder {
        store: Arc<ImageStore>,
        _folder: tempfile::TempDir,
    },
    Listed(Arc<PatternStore<Replaceable>>),
    There(Server),
}

/// Quads in whose place others are put.
#[derive(Default)]
struct Replaceable(RwLock<Listed>);

impl PatternSource for Replaceable {
    fn quads_for_pattern(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        predicate: Option<NamedNodeRef<'_>>,
        object: Option<TermRef<'_>>,
        graph: Option<GraphNameRef<'_>>,
    ) -> Quads<'_> {
        let listed = self.0.read().expect("nobody panics");
        let found: Vec<_> = listed
            .quads_for_pattern(subject, predicate, object, graph)
            .collect();
        Box::new(found.into_iter())
    }
}

/// Data that several stores write to, as several instances of a service do.
pub enum Shared {
    /// An endpoint in the same process.
    Here(Updates),
    /// A repository or dataset of a server.
    There(Server),
}

impl Shared {
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Rdf4j { infers } => Shared::There(Server::rdf4j(infers)),
            Kind::Fuseki => Shared::There(Server::fuseki()),
            Kind::RemoteApart => {
                Shared::Here(Updates::new(Store::new().expect("a store in memory")))
            }
            other => panic!("{other:?} is not shared"),
        }
    }

    /// Returns a store with a queue of its own.
    pub fn instance(&self) -> Arc<dyn GraphStore> {
        match self {
            Shared::Here(_) => Arc::new(self.probed_store()),
            Shared::There(server) => Arc::new(HttpStore::new(Arc::new(server.endpoint()))),
        }
    }

    /// Returns a store whose transactions may last for a time.
    pub fn instance_of(&self, transaction_timeout: Duration) -> Arc<dyn GraphStore> {
        match self {
            Shared::Here(_) => {
                let mut options = RemoteOptions::new(Dialect::Oxigraph);
                options.transaction_timeout = transaction_timeout;
                Arc::new(self.store_of(options))
            }
            Shared::There(server) => {
                let mut options = server.options();
                options.transaction_timeout = transaction_timeout;
                let endpoint = HttpEndpoint::new(options).expect("options that agree");
                Arc::new(HttpStore::new(Arc::new(endpoint)))
            }
        }
    }

    /// Returns a store over the endpoint in this process.
    pub fn probed_store(&self) -> RemoteStore {
        self.store_of(RemoteOptions::new(Dialect::Oxigraph))
    }

    fn store_of(&self, options: RemoteOptions) -> RemoteStore {
        let Shared::Here(updates) = self else {
            panic!("a store on a server");
        };
        let store = RemoteStore::new(Arc::new(updates.clone()), options);
        store.with_updates(Arc::new(updates.clone()))
    }

    /// Finds out whether writers are kept apart.
    pub async fn probe(&self, rounds: u32) -> Result<IsolationReport, StoreError> {
        let context = CallContext::new();
        match self {
            Shared::Here(_) => self.probed_store().probe_isolation(rounds, &context).await,
            Shared::There(server) => {
                let store = HttpStore::new(Arc::new(server.endpoint()));
                store.probe_isolation(rounds, &context).await
            }
        }
    }

    /// Changes quads as a program does that knows nothing of records.
    pub fn change(&self, removed: &[Quad], added: &[Quad]) {
        match self {
            Shared::Here(updates) => {
                for quad in removed {
                    updates.store().remove(quad).expect("a store in memory");
                }
                let added = updates.store().extend(added.iter().cloned());
                added.expect("a store in memory");
            }
            Shared::There(server) => server.change(removed, added),
        }
    }

    /// Returns the number of named graphs.
    pub fn graphs(&self) -> usize {
        match self {
            Shared::Here(updates) => updates.store().named_graphs().count(),
            Shared::There(server) => server.graphs(),
        }
    }

    pub fn load(&self, quads: &[Quad]) {
        match self {
            Shared::Here(updates) => {
                replace(updates.store(), quads);
            }
            Shared::There(server) => server.load(quads),
        }
    }
}

impl BackEnd {
    /// Starts with an empty store.
    pub fn new(kind: Kind) -> Self {
        Self::adjusted(kind, |_| ())
    }

    /// Starts with an empty store that is asked in a way of its own, if it is a remote one.
    pub fn adjusted(kind: Kind, adjust: impl FnOnce(&mut RemoteOptions)) -> Self {
        let Some(mut options) = kind.options() else {
            return Self::embedded(kind);
        };
        adjust(&mut options);
        if matches!(kind, Kind::Remote | Kind::RemoteNested | Kind::RemoteApart) {
            let store = Store::new().expect("a store in memory");
            let endpoint = InProcess {
                store: store.clone(),
                is_union: kind != Kind::RemoteApart,
            };
            return BackEnd {
                graph_store: Arc::new(RemoteStore::new(Arc::new(endpoint), options)),
                data: Data::Here(store),
            };
        }
        Self::on_server(kind, options)
    }

    fn embedded(kind: Kind) -> Self {
        if kind == Kind::Pattern {
            let store = Arc::new(PatternStore::new(Replaceable::default()));
            return BackEnd {
                graph_store: Arc::clone(&store) as Arc<dyn GraphStore>,
                data: Data::Listed(store),
            };
        }
        if kind == Kind::Folder {
            let folder = tempfile::tempdir().expect("a folder");
            let store =
                ImageStore::create(&folder, images::builder(&[]), &FolderOptions::default());
            let store = Arc::new(store.expect("a store in a folder"));
            return BackEnd {
                graph_store: Arc::clone(&store) as Arc<dyn GraphStore>,
                data: Data::Folder {
                    store,
                    _folder: folder,
                },
            };
        }
        let store = Arc::new(images::empty());
        let graph_store = Arc::clone(&store) as Arc<dyn GraphStore>;
        let data = match kind {
            Kind::WrittenImage => Data::WrittenImage(store),
            _ => Data::Image(store),
        };
        BackEnd { graph_store, data }
    }

    fn on_server(kind: Kind, options: RemoteOptions) -> Self {
        let server = match kind {
            Kind::Rdf4j { infers } => Server::rdf4j(infers),
            _ => Server::fuseki(),
        };
        let endpoint = Arc::new(server.endpoint());
        BackEnd {
            graph_store: Arc::new(RemoteStore::new(endpoint, options)),
            data: Data::There(server),
        }
    }

    /// Starts with an empty store on a server, to be written to.
    pub fn written_on_server(kind: Kind) -> Self {
        let server = match kind {
            Kind::Rdf4j { infers } => Server::rdf4j(infers),
            _ => Server::fuseki(),
        };
        BackEnd {
            graph_store: Arc::new(HttpStore::new(Arc::new(server.endpoint()))),
            data: Data::There(server),
        }
    }

    /// Returns what answers requests.
    pub fn graph_store(&self) -> Arc<dyn GraphStore> {
        Arc::clone(&self.graph_store)
    }

    /// Returns all quads that the store holds, without records of changes.
    pub fn quads(&self) -> Vec<Quad> {
        match &self.data {
            Data::Here(store) => {
                let quads = store.iter().map(|quad| quad.expect("the store is there"));
                quads.filter(is_data).collect()
            }
            Data::Image(store) | Data::WrittenImage(store) | Data::Folder { store, .. } => {
                store.snapshot().iter().collect()
            }
            Data::Listed(store) => store.source().0.read().expect("nobody panics").all.clone(),
            Data::There(server) => server.quads().into_iter().filter(is_data).collect(),
        }
    }

    /// Puts quads in place of all that the store holds.
    pub fn load(&self, quads: &[Quad]) {
        match &self.data {
            Data::There(server) => server.load(quads),
            Data::Here(store) => replace(store, quads),
            Data::Listed(store) => {
                *store.source().0.write().expect("nobody panics") = Listed::new(quads);
            }
            Data::Image(store) | Data::Folder { store, .. } => replace_image(store, quads),
            Data::WrittenImage(store) => {
                let first = |quads: &[Quad]| replace_image(store, quads);
                let merge = || store.merge().expect("an image");
                written::load(store.as_ref(), quads, first, merge);
            }
        }
    }
}

/// Returns whether a quad is no part of a record of changes.
fn is_data(quad: &Quad) -> bool {
    quad.graph_name != GraphName::from(change_graph::GRAPH)
}

fn replace_image(store: &ImageStore, quads: &[Quad]) {
    let replaced = store.replace_data(images::builder(quads));
    replaced.expect("an image");
}

fn replace(store: &Store, quads: &[Quad]) {
    store.clear().expect("the store is there");
    let loaded = store.extend(quads.iter().cloned());
    loaded.expect("the store is there");
}
