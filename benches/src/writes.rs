//! Objects that are created over HTTP by the service over its default store, beside updates of the same quads of Oxigraph
//! in memory behind a plain handler.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use graph_store::image::{FolderOptions, ImageBuilder, ImageError, ImageStore};
use oxigraph::sparql::{SparqlEvaluator, SparqlSyntaxError, UpdateEvaluationError};
use oxigraph::store::{StorageError, Store};
use oxrdf::{GraphNameRef, NamedNodeRef, Quad, QuadRef};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use crate::http::{self, Connection, HttpError};
use crate::log::{Level, Log, LogError};
use crate::measure::{Samples, Summary};

/// The SOML schema of what is written.
pub const SCHEMA: &str = "
id: /soml/writes
specialPrefixes: {base_iri: 'http://example.org/', vocab_iri: 'http://example.org/v#', vocab_prefix: v}
objects:
  Sensor:
    props:
      label: {min: 1}
      serial: {regex: '^[A-Z0-9-]+$'}
      count: {range: integer}
      weight: {range: decimal}
      installed: {range: date}
      site: {range: Site, min: 1}
  Site: {props: {label: {}}}
";

/// The operation that creates sensors.
const MUTATION: &str = "mutation ($objects: [Sensor_Create_Input!]!) {
  create_Sensor(objects: $objects) { affected_count { count } } }";

const SITE: &str = "http://example.org/site";

/// What a site is before anything is written.
const SITE_CLASS: &str = "http://example.org/v#Site";

/// Head of the table whose lines are those of [`Row::line`].
pub const HEAD: &str = "\
| objects a request | SPARQL update, µs a request | p95 | mutation, µs | p95 | ratio | logging.level=warn, µs | ratio |
|---:|---:|---:|---:|---:|---:|---:|---:|";

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WritesError {
    /// The default store fails.
    #[error("the store of the service failed")]
    Image(#[from] ImageError),
    /// Oxigraph fails.
    #[error("Oxigraph failed")]
    Storage(#[from] StorageError),
    /// An update is malformed.
    #[error("malformed update")]
    Syntax(#[from] SparqlSyntaxError),
    /// An update fails.
    #[error("failed to update")]
    Update(#[from] UpdateEvaluationError),
    /// One of the servers does not answer.
    #[error("failed over HTTP")]
    Http(#[from] HttpError),
    /// What the service logs cannot be changed.
    #[error("failed to change the log")]
    Log(#[from] LogError),
    /// The threads of servers or clients do not start.
    #[error("failed to start a runtime")]
    Runtime(#[source] std::io::Error),
    /// The stores hold different quads.
    #[error("the quads of the service at {0:?} differ from those of Oxigraph")]
    Differs(Level),
}

/// The requests that are sent: `objects` of them in all, `size` of them in each.
#[derive(Clone, Copy, Debug)]
pub struct Batches {
    /// Objects in all.
    pub objects: usize,
    /// Objects of a request; the last request has the rest.
    pub size: usize,
}

/// Three servers with stores of their own, and a connection to each.
pub struct Contest {
    plain: Store,
    services: [Service; 2],
    /// Ends the services when it is dropped.
    _stop: [oneshot::Sender<()>; 2],
    servers: Runtime,
    clients: Runtime,
}

/// A service over the default store.
struct Service {
    address: SocketAddr,
    store: Arc<ImageStore>,
    level: Level,
}

/// What was found for one size of requests.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Objects of a request.
    pub size: usize,
    /// Updates of Oxigraph.
    pub update: Summary,
    /// Mutations, with the default log.
    pub mutation: Summary,
    /// Mutations at `logging.level=warn`.
    pub warn: Summary,
}

impl Contest {
    /// Starts the servers. The stores of the services are in memory, or in new folders below one.
    ///
    /// # Errors
    /// When a store cannot be made or nothing can listen.
    pub fn start(folder: Option<&Path>) -> Result<Self, WritesError> {
        let servers = Runtime::new().map_err(WritesError::Runtime)?;
        let clients = Builder::new_current_thread().enable_io().build();
        let plain = Store::new()?;
        plain.insert(site())?;
        let [(default, stop), (warn, stop_warn)] = [
            service(&servers, Level::Default, folder)?,
            service(&servers, Level::Warn, folder)?,
        ];
        Ok(Contest {
            plain,
            services: [default, warn],
            _stop: [stop, stop_warn],
            servers,
            clients: clients.map_err(WritesError::Runtime)?,
        })
    }

    /// Writes all objects by each way, in turns, and demands the same quads of all of them.
    ///
    /// # Errors
    /// When a server fails to answer, or the quads differ.
    pub fn measure(&self, batches: Batches, log: Option<&Log>) -> Result<Row, WritesError> {
        let handler = self.handler(batches)?;
        let turns = self.turns(batches, handler, log);
        let [update, mutation, warn] = self.clients.block_on(turns)?;
        self.compare()?;
        Ok(Row {
            size: batches.size,
            update: update.summary(),
            mutation: mutation.summary(),
            warn: warn.summary(),
        })
    }

    /// Starts a server that carries out an update; a request is the number of it.
    fn handler(&self, batches: Batches) -> Result<SocketAddr, WritesError> {
        let updates: Arc<[String]> = batches
            .parts()
            .map(|(first, size)| update(first, size))
            .collect();
        let store = self.plain.clone();
        let answer = move |number: usize| {
            let (store, updates) = (store.clone(), Arc::clone(&updates));
            async move {
                let done = spawn_blocking(move || execute(&store, updates.get(number)?).ok()).await;
                done.ok().flatten().map(|()| Bytes::from_static(b"{}"))
            }
        };
        Ok(self.servers.block_on(http::serve(answer))?)
    }

    async fn turns(
        &self,
        batches: Batches,
        handler: SocketAddr,
        log: Option<&Log>,
    ) -> Result<[Samples; 3], WritesError> {
        let [default, warn] = &self.services;
        let mut connections = [
            Connection::open(handler).await?,
            Connection::open(default.address).await?,
            Connection::open(warn.address).await?,
        ];
        let levels = [Level::Default, default.level, warn.level];
        let mut found: [Samples; 3] = Default::default();
        for (turn, (first, size)) in batches.parts().enumerate() {
            let mutation = Bytes::from(body(first, size).to_string());
            let bodies = [turn.to_string().into(), mutation.clone(), mutation];
            for place in (0..3).map(|place| (turn + place) % 3) {
                if let Some(log) = log {
                    log.set(levels[place])?;
                }
                let (took, answer) = timed(&mut connections[place], &bodies[place]).await?;
                found[place].add(took);
                refuse_errors(&answer)?;
            }
        }
        Ok(found)
    }

    fn compare(&self) -> Result<(), WritesError> {
        let quads: Result<Vec<Quad>, StorageError> = self.plain.iter().collect();
        let expected = sorted(quads?);
        for service in &self.services {
            if sorted(service.store.snapshot().iter().collect()) != expected {
                return Err(WritesError::Differs(service.level));
            }
        }
        Ok(())
    }
}

impl Batches {
    /// Returns the number of the first object of each request, and how many there are.
    fn parts(self) -> impl Iterator<Item = (usize, usize)> {
        let Batches { objects, size } = self;
        (0..objects)
            .step_by(size.max(1))
            .map(move |first| (first, size.min(objects - first)))
    }
}

impl Row {
    /// Returns the line of a table.
    #[must_use]
    pub fn line(&self) -> String {
        let Row {
            size,
            update,
            mutation,
            warn,
        } = self;
        format!(
            "| {size} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} | {:.0} | {:.2} |",
            update.median,
            update.p95,
            mutation.median,
            mutation.p95,
            mutation.median / update.median,
            warn.median,
            warn.median / update.median,
        )
    }
}

/// Starts a service over a store of its own.
fn service(
    servers: &Runtime,
    level: Level,
    folder: Option<&Path>,
) -> Result<(Service, oneshot::Sender<()>), WritesError> {
    let mut builder = ImageBuilder::new();
    builder.add(site())?;
    let store = match folder {
        None => ImageStore::new(builder.build()?),
        Some(folder) => {
            let folder = folder.join(format!("{level:?}").to_lowercase());
            ImageStore::create(folder, builder, &FolderOptions::default())?
        }
    };
    let store = Arc::new(store);
    let (stop, stopped) = oneshot::channel::<()>();
    let address = servers.block_on(http::start(SCHEMA, Arc::clone(&store) as _, async {
        // Either way there is nothing more to serve.
        let _ = stopped.await;
    }))?;
    let service = Service {
        address,
        store,
        level,
    };
    Ok((service, stop))
}

async fn timed(connection: &mut Connection, body: &Bytes) -> Result<(Duration, Bytes), HttpError> {
    let body = body.clone();
    let started = Instant::now();
    let answer = connection.send(body).await?;
    Ok((started.elapsed(), answer))
}

fn refuse_errors(answer: &[u8]) -> Result<(), HttpError> {
    if answer.windows(9).any(|part| part == b"\"errors\":") {
        Err(HttpError::Errors(
            String::from_utf8_lossy(answer).into_owned(),
        ))
    } else {
        Ok(())
    }
}

/// Carries out an update.
///
/// # Errors
/// When it is malformed or the store fails.
pub fn execute(store: &Store, update: &str) -> Result<(), WritesError> {
    let update = SparqlEvaluator::new().parse_update(update)?;
    Ok(update.on_store(store).execute()?)
}

fn site() -> QuadRef<'static> {
    QuadRef::new(
        NamedNodeRef::new_unchecked(SITE),
        oxrdf::vocab::rdf::TYPE,
        NamedNodeRef::new_unchecked(SITE_CLASS),
        GraphNameRef::DefaultGraph,
    )
}

fn sorted(quads: Vec<Quad>) -> Vec<String> {
    let mut lines: Vec<String> = quads.iter().map(Quad::to_string).collect();
    lines.sort_unstable();
    lines
}

/// Returns the request that creates `size` sensors from a number on.
#[must_use]
pub fn body(first: usize, size: usize) -> Value {
    let sensor = |n: usize| {
        json!({
            "id": format!("http://example.org/sensor/{n}"),
            "label": format!("Sensor {n}"),
            "serial": format!("S-{n:06}"),
            "count": n.to_string(),
            "weight": format!("{n}.5"),
            "installed": "2024-02-29",
            "site": [{"ids": [SITE]}],
        })
    };
    let objects: Vec<Value> = (first..first + size).map(sensor).collect();
    json!({"query": MUTATION, "variables": {"objects": objects}})
}

/// Returns the update that inserts the same triples.
///
/// # Panics
/// Never: writing to a string does not fail.
#[must_use]
pub fn update(first: usize, size: usize) -> String {
    let mut text = String::from(
        "PREFIX v: <http://example.org/v#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\nINSERT DATA {\n",
    );
    for n in first..first + size {
        writeln!(
            text,
            "<http://example.org/sensor/{n}> a v:Sensor ; v:label \"Sensor {n}\" ; v:serial \"S-{n:06}\" ; \
             v:count {n} ; v:weight {n}.5 ; v:installed \"2024-02-29\"^^xsd:date ; \
             v:site <{SITE}> ."
        )
        .expect("writing to a string");
    }
    text.push('}');
    text
}
