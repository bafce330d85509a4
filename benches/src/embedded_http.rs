//! Templates over HTTP by three servers in this process, in turns: the service over an image, with its default log and
//! without, Oxigraph behind a plain handler that runs hand-written SPARQL, and the same handler with the service's answers
//! at hand, which is HTTP alone.

use std::fmt::{self, Display, Formatter};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use graph_store::image::ImageStore;
use oxigraph::store::Store;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use crate::drive::{DriveError, fastest, keep_busy};
use crate::http::{self, Connection, HttpError};
use crate::log::{Level, Log, LogError};
use crate::measure::{Samples, Summary};
use crate::workload::{
    Answer, AnswerError, DirectError, Form, Instance, Prepared, Template, prepare, read_json,
    write_json,
};

/// Instances that the forms of a template are tried with.
const TRIAL: usize = 10;

/// Head of the table whose lines are [`Row`]s.
pub const HEAD: &str = "\
| template | form | connections | service, requests/s | Oxigraph, requests/s | ratio | logging.level=warn, requests/s | ratio \
| HTTP alone, requests/s | to Oxigraph | service p50, µs | Oxigraph p50, µs | service p99, µs | Oxigraph p99, µs |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Load {
    /// Time of each turn.
    pub time: Duration,
    /// Turns that each way takes at each number of connections.
    pub rounds: usize,
    /// Numbers of connections.
    pub connections: Vec<usize>,
    /// Forms of a single query are parsed before the clock runs.
    pub parsed_before: bool,
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedHttpError {
    /// A way fails under load, or no form can be chosen.
    #[error("{template}: failed to measure")]
    Drive {
        /// Name of the template.
        template: &'static str,
        /// What happened.
        #[source]
        source: DriveError,
    },
    /// The threads of servers or clients do not start.
    #[error("failed to start a runtime")]
    Runtime(#[source] std::io::Error),
    /// What the service logs cannot be changed.
    #[error("failed to change the log")]
    Log(#[from] LogError),
    /// One of the servers does not answer.
    #[error("failed over HTTP")]
    Http(#[from] HttpError),
    /// The service does not answer with data.
    #[error("the service does not answer")]
    Answer(#[from] AnswerError),
    /// The answer of the handler is not one of SPARQL.
    #[error("the handler does not answer")]
    Direct(#[from] DirectError),
    /// The two answers are not the same.
    #[error("{template}: the answers differ for {instance:?}")]
    Differs {
        /// Name of the template.
        template: &'static str,
        /// What was asked.
        instance: Box<Instance>,
    },
}

/// What is measured.
pub struct Contest {
    /// The service.
    service: SocketAddr,
    /// The same data, for the handler.
    store: Store,
    /// Ends the service when it is dropped.
    _stop: oneshot::Sender<()>,
    /// Runs both servers.
    servers: Runtime,
    /// Runs the clients.
    clients: Runtime,
}

/// A way to answer a template: a server, and the requests that are sent to it.
#[derive(Clone)]
struct Way {
    address: SocketAddr,
    bodies: Vec<Bytes>,
    /// What the service logs meanwhile.
    level: Level,
}

/// What the handler answers with.
struct Handler {
    store: Store,
    form: &'static Form,
    asked: Vec<(Instance, Option<Prepared>)>,
}

/// What was found for one template and one number of connections.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the template.
    pub template: &'static str,
    /// The fastest form of SPARQL.
    pub form: &'static str,
    /// Connections, each with one request under way.
    pub connections: usize,
    /// The service over an image, with its default log.
    pub service: Throughput,
    /// The same at `logging.level=warn`.
    pub warn: Throughput,
    /// Oxigraph behind the handler.
    pub oxigraph: Throughput,
    /// The handler with the answers of the service at hand.
    pub http: Throughput,
}

/// What all turns of one way come to.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// Requests a second.
    pub per_second: f64,
    /// Times of single requests.
    pub times: Summary,
}

impl Contest {
    /// Starts the service of a SOML schema over one of two stores with the same data; the handler answers from the
    /// other.
    ///
    /// # Errors
    /// When the schema cannot be served or nothing can listen.
    pub fn start(
        soml: &str,
        image: Arc<ImageStore>,
        store: Store,
    ) -> Result<Self, EmbeddedHttpError> {
        let servers = Runtime::new().map_err(EmbeddedHttpError::Runtime)?;
        // One thread: whatever clients take is taken from both servers.
        let clients = Builder::new_current_thread().enable_io().build();
        let (stop, stopped) = oneshot::channel::<()>();
        Ok(Contest {
            service: servers.block_on(http::start(soml, image, async {
                // Either way there is nothing more to serve.
                let _ = stopped.await;
            }))?,
            store,
            _stop: stop,
            servers,
            clients: clients.map_err(EmbeddedHttpError::Runtime)?,
        })
    }

    /// Measures one template: a row for each number of connections.
    ///
    /// # Errors
    /// When a server fails to answer, or the two do not answer the same.
    pub fn measure(
        &self,
        template: &'static Template,
        drawn: &[Instance],
        load: &Load,
        log: &Log,
    ) -> Result<Vec<Row>, EmbeddedHttpError> {
        let form = self.fastest(template, drawn)?;
        let [service, oxigraph, http] = self.ways(template, form, drawn, load.parsed_before)?;
        let warn = Way {
            level: Level::Warn,
            ..service.clone()
        };
        let ways = [service, warn, oxigraph, http];
        let mut rows = Vec::new();
        for &connections in &load.connections {
            let turns = turns(template, &ways, connections, load, log);
            let [service, warn, oxigraph, http] = self.clients.block_on(turns)?;
            rows.push(Row {
                template: template.name,
                form: form.name,
                connections,
                service,
                warn,
                oxigraph,
                http,
            });
        }
        Ok(rows)
    }

    /// Demands equal answers of the service and of Oxigraph to each instance, and measures nothing.
    ///
    /// # Errors
    /// When a server fails to answer, or the two do not answer the same.
    pub fn check(
        &self,
        template: &'static Template,
        drawn: &[Instance],
    ) -> Result<(), EmbeddedHttpError> {
        for form in template.forms {
            self.ways(template, form, drawn, false)?;
        }
        Ok(())
    }

    /// Returns the form that takes the least time in a short trial.
    ///
    /// # Errors
    /// When the store fails.
    pub fn fastest(
        &self,
        template: &'static Template,
        drawn: &[Instance],
    ) -> Result<&'static Form, EmbeddedHttpError> {
        let trial = &drawn[..drawn.len().min(TRIAL)];
        let failed = |source| EmbeddedHttpError::Drive {
            template: template.name,
            source,
        };
        fastest(&self.store, template, trial).map_err(failed)
    }

    /// Returns the service, Oxigraph and HTTP alone, of which the first two answer the same.
    fn ways(
        &self,
        template: &'static Template,
        form: &'static Form,
        drawn: &[Instance],
        parsed_before: bool,
    ) -> Result<[Way; 3], EmbeddedHttpError> {
        let service = self.service(template, drawn);
        let oxigraph = self.handler(form, drawn, parsed_before)?;
        let answers = compare(template, drawn, [&service, &oxigraph]);
        let answers = self.clients.block_on(answers)?;
        let http = self.http_alone(answers)?;
        Ok([service, oxigraph, http])
    }

    fn service(&self, template: &Template, drawn: &[Instance]) -> Way {
        let bodies = drawn.iter().map(|instance| instance.body(template));
        Way {
            address: self.service,
            bodies: bodies.map(|body| Bytes::from(body.to_string())).collect(),
            level: Level::Default,
        }
    }

    /// Starts a server that answers with a form; a request is the number of an instance.
    fn handler(
        &self,
        form: &'static Form,
        drawn: &[Instance],
        parsed_before: bool,
    ) -> Result<Way, EmbeddedHttpError> {
        let asked = drawn.iter().map(|instance| {
            let prepared = if parsed_before {
                prepare(form, instance)?
            } else {
                None
            };
            Ok((instance.clone(), prepared))
        });
        let handler = Arc::new(Handler {
            store: self.store.clone(),
            form,
            asked: asked.collect::<Result<_, DirectError>>()?,
        });
        let answer = move |number| {
            let handler = Arc::clone(&handler);
            async move {
                let answer = spawn_blocking(move || handler.answer(number)).await;
                answer.ok().flatten()
            }
        };
        let address = self.servers.block_on(http::serve(answer))?;
        Ok(Way::by_number(address, drawn.len()))
    }

    /// Starts a server that has an answer to each instance at hand.
    fn http_alone(&self, answers: Vec<Bytes>) -> Result<Way, EmbeddedHttpError> {
        let count = answers.len();
        let answer = move |number: usize| {
            let answer = answers.get(number).cloned();
            async move { answer }
        };
        let address = self.servers.block_on(http::serve(answer))?;
        Ok(Way::by_number(address, count))
    }
}

impl Way {
    /// Names instances by their numbers.
    fn by_number(address: SocketAddr, count: usize) -> Self {
        let bodies = (0..count).map(|number| Bytes::from(number.to_string()));
        Way {
            address,
            bodies: bodies.collect(),
            level: Level::Default,
        }
    }
}

impl Handler {
    /// Returns SPARQL JSON for an instance: of each query of the form, one after the other.
    fn answer(&self, number: usize) -> Option<Bytes> {
        let (instance, prepared) = self.asked.get(number)?;
        let mut out = Vec::new();
        match prepared {
            Some(prepared) => prepared.write_json(&self.store, &mut out).ok()?,
            None => write_json(&self.store, self.form, instance, &mut out).ok()?,
        }
        Some(out.into())
    }
}

/// Asks both ways for each instance once, and compares what they say. Returns the answers of the first.
async fn compare(
    template: &'static Template,
    drawn: &[Instance],
    [service, oxigraph]: [&Way; 2],
) -> Result<Vec<Bytes>, EmbeddedHttpError> {
    let mut of_service = Connection::open(service.address).await?;
    let mut of_oxigraph = Connection::open(oxigraph.address).await?;
    let mut answers = Vec::new();
    for (number, instance) in drawn.iter().enumerate() {
        let body = of_service.send(service.bodies[number].clone()).await?;
        let answer = Answer::of_graphql(template, &body)?;
        let rows = of_oxigraph.send(oxigraph.bodies[number].clone()).await?;
        answers.push(body);
        if answer != Answer::of_rows(template, instance, &read_json(&rows)?) {
            return Err(EmbeddedHttpError::Differs {
                template: template.name,
                instance: Box::new(instance.clone()),
            });
        }
    }
    Ok(answers)
}

/// Keeps connections busy, to one way after the other in turns.
async fn turns(
    template: &Template,
    ways: &[Way; 4],
    connections: usize,
    load: &Load,
    log: &Log,
) -> Result<[Throughput; 4], EmbeddedHttpError> {
    let mut found: [(Samples, Duration); 4] = Default::default();
    for _ in 0..load.rounds {
        for (way, (samples, time)) in ways.iter().zip(&mut found) {
            log.set(way.level)?;
            let turn = keep_busy(way.address, &way.bodies, connections, load.time);
            let (of_turn, took) = turn.await.map_err(|source| EmbeddedHttpError::Drive {
                template: template.name,
                source,
            })?;
            samples.merge(of_turn);
            *time += took;
        }
    }
    log.set(Level::Default)?;
    Ok(found.map(|(samples, time)| {
        let times = samples.summary();
        let per_second = times.count as f64 / time.as_secs_f64();
        Throughput { per_second, times }
    }))
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (service, oxigraph) = (&self.service, &self.oxigraph);
        write!(
            f,
            "| {} | {} | {} | {:.1} | {:.1} | {:.2} | {:.1} | {:.2} | {:.1} | {:.2} | {:.0} | {:.0} | {:.0} | {:.0} |",
            self.template,
            self.form,
            self.connections,
            service.per_second,
            oxigraph.per_second,
            service.per_second / oxigraph.per_second,
            self.warn.per_second,
            self.warn.per_second / oxigraph.per_second,
            self.http.per_second,
            self.http.per_second / oxigraph.per_second,
            service.times.median,
            oxigraph.times.median,
            service.times.p99,
            oxigraph.times.p99,
        )
    }
}
