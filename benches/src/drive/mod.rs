//! The load driver: every template, by every way, in turns, so that what else the machine does
//! falls on all of them alike.

mod clients;
mod forms;
mod peer;
mod report;

use std::future::ready;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
pub(crate) use clients::keep_busy;
pub(crate) use forms::fastest;
use graphql_service::{Request, RequestContext};
use object_engine::ObjectService;
use oxigraph::store::Store;
pub use peer::Peer;
pub use report::{Connections, Report, Row, table};
use tokio::runtime::Runtime;

use crate::generator::Config;
use crate::http::{self, Connection, HttpError};
use crate::log::{Level, Log, LogError};
use crate::measure::{Samples, Summary, cpu_time};
use crate::workload::{
    Answer, AnswerError, DirectError, Form, Instance, Prepared, Template, instances, prepare,
    write_json,
};

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Load {
    /// The data.
    pub config: Config,
    /// Instances of each template.
    pub instances: usize,
    /// Time for the turns of each template.
    pub time: Duration,
    /// Numbers of connections, each for as long as [`Load::time`]; one is measured in the turns too.
    pub connections: Vec<usize>,
}

/// A failure of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveError {
    /// Hand-written SPARQL failed.
    #[error("{template}: the SPARQL form `{form}` failed")]
    Direct {
        /// Name of the template.
        template: &'static str,
        /// Name of the form.
        form: &'static str,
        /// What happened.
        #[source]
        source: DirectError,
    },
    /// The service does not answer.
    #[error("{template}: the service does not answer")]
    Answer {
        /// Name of the template.
        template: &'static str,
        /// What it says.
        #[source]
        source: AnswerError,
    },
    /// HTTP failed.
    #[error("failed over HTTP")]
    Http(#[from] HttpError),
    /// What the service logs cannot be changed.
    #[error("failed to change the log")]
    Log(#[from] LogError),
    /// The other program failed.
    #[error("{template}: the peer failed")]
    Peer {
        /// Name of the template.
        template: &'static str,
        /// What happened.
        #[source]
        source: std::io::Error,
    },
    /// A connection ended with a panic.
    #[error("a connection failed")]
    Task(#[from] tokio::task::JoinError),
}

/// What is measured.
pub struct Driver {
    /// The store that holds the data.
    pub store: Store,
    /// The service in process.
    pub service: ObjectService,
    /// The service over HTTP.
    pub address: SocketAddr,
    /// What it logs, if it runs in this process.
    pub log: Option<Log>,
    /// Runs the clients.
    pub runtime: Runtime,
    /// Another program to compare with.
    pub peer: Option<Mutex<Peer>>,
}

/// An instance with everything that is made before the clock runs.
struct Job {
    instance: Instance,
    request: Request,
    body: Bytes,
    prepared: Option<Prepared>,
}

/// Samples of the ways that take turns.
#[derive(Default)]
struct Turns {
    service: Samples,
    direct: Samples,
    prepared: Samples,
    http: Samples,
    warn: Samples,
    direct_http: Samples,
}

/// Connections to the service, and to the same SPARQL behind HTTP.
struct Lines {
    service: Connection,
    direct: Connection,
}

impl Driver {
    /// Measures one template.
    ///
    /// # Errors
    /// When a way fails to answer.
    pub fn measure(&self, template: &'static Template, load: &Load) -> Result<Row, DriveError> {
        let drawn = instances(template, load.config, load.instances);
        let form = fastest(&self.store, template, &drawn)?;
        let failed = |source| failed(template, form, source);
        let jobs: Vec<Job> = drawn
            .into_iter()
            .map(|instance| {
                Ok(Job {
                    request: instance.request(template),
                    body: Bytes::from(instance.body(template).to_string()),
                    prepared: prepare(form, &instance)?,
                    instance,
                })
            })
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        let values = self.values(template, &jobs)?;
        let mut row = Row::new(template, form.name, values);
        let mut lines = self.lines(form, &jobs)?;
        let mut out = Vec::new();
        self.turns(form, &jobs, &mut lines, &mut out)
            .map_err(|e| e.of(template, form))?;
        let mut turns = Turns::default();
        let start = Instant::now();
        while start.elapsed() < load.time {
            let turn = self.turns(form, &jobs, &mut lines, &mut out);
            let turn = turn.map_err(|e| e.of(template, form))?;
            turns.service.merge(turn.service);
            turns.direct.merge(turn.direct);
            turns.prepared.merge(turn.prepared);
            turns.http.merge(turn.http);
            turns.warn.merge(turn.warn);
            turns.direct_http.merge(turn.direct_http);
        }
        row.fill(&turns);
        row.peer = self.beside(template, &jobs, load.time)?;
        drop(lines);
        for &connections in &load.connections {
            let (samples, per_second) = self.connections(&jobs, connections, load.time)?;
            row.loads.push(Connections {
                connections,
                per_second,
                summary: samples.summary(),
            });
        }
        Ok(row)
    }

    /// Connects to the service, and to an endpoint that answers with a form of SPARQL: all of it in one
    /// request, also where a client would need several.
    fn lines(&self, form: &'static Form, jobs: &[Job]) -> Result<Lines, HttpError> {
        let store = self.store.clone();
        let instances: Vec<Instance> = jobs.iter().map(|job| job.instance.clone()).collect();
        let answer = move |number: usize| {
            let mut out = Vec::new();
            let written = instances
                .get(number)
                .map(|instance| write_json(&store, form, instance, &mut out));
            ready(match written {
                Some(Ok(())) => Some(out.into()),
                _ => None,
            })
        };
        self.runtime.block_on(async {
            let direct = http::serve(answer).await?;
            Ok(Lines {
                service: Connection::open(self.address).await?,
                direct: Connection::open(direct).await?,
            })
        })
    }

    /// Asks the other program, in turns with the service.
    fn beside(
        &self,
        template: &'static Template,
        jobs: &[Job],
        time: Duration,
    ) -> Result<Summary, DriveError> {
        let Some(peer) = &self.peer else {
            return Ok(Summary::default());
        };
        let mut peer = peer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut samples = Samples::default();
        let failed = |source| DriveError::Peer {
            template: template.name,
            source,
        };
        // The first turn warms up.
        for turn in 0.. {
            let start = Instant::now();
            for job in jobs {
                let asked = Instant::now();
                if !peer.ask(template, &job.instance).map_err(failed)? {
                    return Ok(Summary::default());
                }
                if turn > 0 {
                    samples.add(asked.elapsed());
                }
                self.answer(job);
            }
            if turn > 0 && (samples.total() >= time || start.elapsed() >= time) {
                break;
            }
        }
        Ok(samples.summary())
    }

    /// Returns how many values the answers hold on average.
    fn values(&self, template: &'static Template, jobs: &[Job]) -> Result<f64, DriveError> {
        let mut values = 0;
        for job in jobs {
            let answer = Answer::of_graphql(template, &self.answer(job));
            let answer = answer.map_err(|source| DriveError::Answer {
                template: template.name,
                source,
            })?;
            values += answer.len();
        }
        Ok(values as f64 / jobs.len().max(1) as f64)
    }

    fn answer(&self, job: &Job) -> Bytes {
        let request = job.request.clone();
        let answer = self.service.execute(request, RequestContext::default());
        self.runtime.block_on(answer).body.to_bytes()
    }

    /// Runs every instance once by each way.
    fn turns(
        &self,
        form: &Form,
        jobs: &[Job],
        lines: &mut Lines,
        out: &mut Vec<u8>,
    ) -> Result<Turns, TurnError> {
        let mut turns = Turns::default();
        charged(&mut turns.direct, |samples| {
            for job in jobs {
                out.clear();
                samples.time(|| write_json(&self.store, form, &job.instance, out))?;
            }
            Ok::<_, TurnError>(())
        })?;
        charged(&mut turns.prepared, |samples| {
            for prepared in jobs.iter().filter_map(|job| job.prepared.as_ref()) {
                out.clear();
                samples.time(|| prepared.write_json(&self.store, out))?;
            }
            Ok::<_, TurnError>(())
        })?;
        charged(&mut turns.service, |samples| {
            for job in jobs {
                samples.time(|| self.answer(job));
            }
        });
        charged(&mut turns.http, |samples| {
            self.over_http(jobs, lines, samples)
        })?;
        if let Some(log) = &self.log {
            log.set(Level::Warn)?;
            charged(&mut turns.warn, |samples| {
                self.over_http(jobs, lines, samples)
            })?;
            log.set(Level::Default)?;
        }
        charged(&mut turns.direct_http, |samples| {
            for number in 0..jobs.len() {
                let body = Bytes::from(number.to_string());
                samples.time(|| self.runtime.block_on(lines.direct.send(body)))?;
            }
            Ok::<_, TurnError>(())
        })?;
        Ok(turns)
    }

    /// Asks the service for each instance over HTTP.
    fn over_http(
        &self,
        jobs: &[Job],
        lines: &mut Lines,
        samples: &mut Samples,
    ) -> Result<(), TurnError> {
        for job in jobs {
            let body = job.body.clone();
            samples.time(|| self.runtime.block_on(lines.service.send(body)))?;
        }
        Ok(())
    }

    /// Keeps `connections` busy; returns their samples and how many requests a second there were.
    fn connections(
        &self,
        jobs: &[Job],
        connections: usize,
        time: Duration,
    ) -> Result<(Samples, f64), DriveError> {
        let bodies: Vec<Bytes> = jobs.iter().map(|job| job.body.clone()).collect();
        let asking = keep_busy(self.address, &bodies, connections, time);
        let (samples, took) = self.runtime.block_on(asking)?;
        let per_second = samples.summary().count as f64 / took.as_secs_f64();
        Ok((samples, per_second))
    }
}

/// Runs `work` and adds the CPU time of the process meanwhile.
fn charged<T>(samples: &mut Samples, work: impl FnOnce(&mut Samples) -> T) -> T {
    let before = cpu_time();
    let result = work(samples);
    samples.add_cpu(cpu_time().saturating_sub(before));
    result
}

/// A failure in a turn, of a template yet to be named.
enum TurnError {
    Direct(DirectError),
    Http(HttpError),
    Log(LogError),
}

impl From<LogError> for TurnError {
    fn from(error: LogError) -> Self {
        TurnError::Log(error)
    }
}

impl From<DirectError> for TurnError {
    fn from(error: DirectError) -> Self {
        TurnError::Direct(error)
    }
}

impl From<HttpError> for TurnError {
    fn from(error: HttpError) -> Self {
        TurnError::Http(error)
    }
}

impl TurnError {
    fn of(self, template: &'static Template, form: &'static Form) -> DriveError {
        match self {
            TurnError::Direct(source) => failed(template, form, source),
            TurnError::Http(error) => error.into(),
            TurnError::Log(error) => error.into(),
        }
    }
}

fn failed(template: &'static Template, form: &'static Form, source: DirectError) -> DriveError {
    DriveError::Direct {
        template: template.name,
        form: form.name,
        source,
    }
}
