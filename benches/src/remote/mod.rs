//! The templates over a SPARQL server: round trips of the service, and its throughput beside that of
//! the fastest hand-written SPARQL sent to the same server, in turns.

mod direct;
mod server;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use direct::Direct;
use futures::future::try_join_all;
use graphql_service::RequestContext;
use object_engine::ObjectService;
pub use server::{Kind, RemoteServer, ServerError};

use crate::generator::Config;
use crate::http::Connection;
use crate::log::{Level, Log};
use crate::workload::{Form, Instance, Template, instances};

/// Turns that the service and SPARQL take.
const TURNS: u32 = 4;

/// Why nothing could be measured.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Load {
    /// The data.
    pub config: Config,
    /// Instances of each template.
    pub instances: usize,
    /// Time for all turns of the service, and as much for those of SPARQL.
    pub time: Duration,
    /// Requests at once, each on a connection of its own.
    pub connections: usize,
}

/// What is measured.
pub struct Contest<'s> {
    /// The server.
    pub server: &'s RemoteServer,
    /// The service in process, to be asked how often it asks the server.
    pub service: ObjectService,
    /// The service over HTTP.
    pub address: SocketAddr,
    /// What it logs.
    pub log: Log,
}

/// What was found for one template.
#[derive(Debug)]
pub struct Row {
    /// Name of the template.
    pub template: &'static str,
    /// Least and most queries that an instance takes.
    pub round_trips: (u64, u64),
    /// The fastest form of SPARQL, and how many queries it sends one after the other.
    pub form: (&'static str, usize),
    /// Requests a second that the service answers, with its default log.
    pub service: f64,
    /// The same at `logging.level=warn`.
    pub warn: f64,
    /// Requests a second that the server answers, all queries of a form together.
    pub direct: f64,
}

impl Contest<'_> {
    /// Measures one template.
    ///
    /// # Errors
    /// When the service or the server fails to answer.
    pub async fn measure(&self, template: &'static Template, load: &Load) -> Result<Row, Failure> {
        let drawn = instances(template, load.config, load.instances);
        let round_trips = self.round_trips(template, &drawn).await?;
        let direct = Direct::new(self.server.queries());
        let trial = load.time / TURNS;
        let mut fastest: Option<(f64, &Form)> = None;
        for form in template.forms {
            // The first run warms up.
            self.ask_directly(&direct, form, &drawn, (load, trial / 2))
                .await?;
            let speed = self
                .ask_directly(&direct, form, &drawn, (load, trial))
                .await?;
            if fastest.is_none_or(|(best, _)| speed > best) {
                fastest = Some((speed, form));
            }
        }
        let (_, form) = fastest.ok_or("the template has no SPARQL")?;
        self.ask_service(template, &drawn, (load, trial)).await?;
        let (mut service, mut warn, mut plain) = (0.0, 0.0, 0.0);
        for _ in 0..TURNS {
            service += self.ask_service(template, &drawn, (load, trial)).await?;
            self.log.set(Level::Warn)?;
            warn += self.ask_service(template, &drawn, (load, trial)).await?;
            self.log.set(Level::Default)?;
            plain += self
                .ask_directly(&direct, form, &drawn, (load, trial))
                .await?;
        }
        Ok(Row {
            template: template.name,
            round_trips,
            form: (form.name, direct::queries(form)),
            service: service / f64::from(TURNS),
            warn: warn / f64::from(TURNS),
            direct: plain / f64::from(TURNS),
        })
    }

    /// Returns the least and the most queries that an instance takes.
    async fn round_trips(
        &self,
        template: &'static Template,
        drawn: &[Instance],
    ) -> Result<(u64, u64), Failure> {
        let (mut least, mut most) = (u64::MAX, 0);
        for instance in drawn {
            let request = instance.request(template);
            let explained = self.service.explain(request, RequestContext::new()).await;
            let explanation = explained.explanation.ok_or("a request is refused")?;
            least = least.min(explanation.round_trips);
            most = most.max(explanation.round_trips);
        }
        Ok((least, most))
    }

    /// Keeps connections to the service busy; returns how many requests a second it answers.
    async fn ask_service(
        &self,
        template: &'static Template,
        drawn: &[Instance],
        (load, time): (&Load, Duration),
    ) -> Result<f64, Failure> {
        let bodies = drawn.iter().map(|instance| instance.body(template));
        let bodies: Arc<[Bytes]> = bodies.map(|body| Bytes::from(body.to_string())).collect();
        let start = Instant::now();
        let lines = (0..load.connections).map(|first| {
            let (address, bodies) = (self.address, Arc::clone(&bodies));
            joined(tokio::spawn(async move {
                let mut line = Connection::open(address).await?;
                let mut answers = 0_u64;
                for body in bodies.iter().cycle().skip(first) {
                    if start.elapsed() >= time {
                        break;
                    }
                    let answer = line.send(body.clone()).await?;
                    if answer.windows(9).any(|part| part == b"\"errors\":") {
                        return Err(String::from_utf8_lossy(&answer).into());
                    }
                    answers += 1;
                }
                Ok::<_, Failure>(answers)
            }))
        });
        let answers: u64 = try_join_all(lines).await?.iter().sum();
        Ok(answers as f64 / start.elapsed().as_secs_f64())
    }

    /// Keeps connections to the server busy with a form; returns how many times a second all of its
    /// queries are answered.
    async fn ask_directly(
        &self,
        direct: &Direct,
        form: &'static Form,
        drawn: &[Instance],
        (load, time): (&Load, Duration),
    ) -> Result<f64, Failure> {
        let drawn: Arc<[Instance]> = drawn.into();
        let start = Instant::now();
        let lines = (0..load.connections).map(|first| {
            let (direct, drawn) = (direct.clone(), Arc::clone(&drawn));
            joined(tokio::spawn(async move {
                let mut answers = 0_u64;
                for instance in drawn.iter().cycle().skip(first) {
                    if start.elapsed() >= time {
                        break;
                    }
                    direct.ask(form, instance).await?;
                    answers += 1;
                }
                Ok::<_, Failure>(answers)
            }))
        });
        let answers: u64 = try_join_all(lines).await?.iter().sum();
        Ok(answers as f64 / start.elapsed().as_secs_f64())
    }
}

/// Waits for a task.
async fn joined<T>(task: tokio::task::JoinHandle<Result<T, Failure>>) -> Result<T, Failure> {
    task.await?
}

/// Writes rows as a Markdown table.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut out = String::from(
        "| template | round trips | SPARQL form | its queries | SPARQL, requests a second \
         | service, requests a second | ratio | logging.level=warn | ratio |\n\
         |---|---:|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let (least, most) = row.round_trips;
        let trips = if least == most {
            least.to_string()
        } else {
            format!("{least} to {most}")
        };
        let (form, queries) = row.form;
        let [ratio, of_warn] = [row.service, row.warn].map(|service| service / row.direct);
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "| {} | {trips} | {form} | {queries} | {:.0} | {:.0} | {ratio:.2} | {:.0} | {of_warn:.2} |",
            row.template, row.direct, row.service, row.warn
        );
    }
    out
}
