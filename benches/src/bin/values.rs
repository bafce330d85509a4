//! Measures filters by values over data of several sizes: the service over an image, and hand-written SPARQL on Oxigraph.

use std::error::Error;
use std::io::{self, StdoutLock, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use benches::embedded;
use benches::embedded_http::{Contest, Load, Row};
use benches::generator::Config;
use benches::log::Log;
use benches::measure::{Samples, Summary};
use benches::values::{FILTERS, image, instances, load, schema};
use benches::workload::{Answer, Form, Instance, Template, chosen, write_json};
use clap::Parser;
use graph_store::image::ImageStore;
use graphql_service::RequestContext;
use object_engine::ObjectService;
use oxigraph::store::Store;
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures filters by values over data of several sizes, in turns: the service over an image and hand-written SPARQL on
/// Oxigraph, in process and over HTTP. The service logs a line for each request, as in operation, and in turns none;
/// `2> FILE` takes the lines.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Numbers of universities, each from 1 to 1000.
    #[arg(long, value_delimiter = ',', default_value = "1,3,9")]
    universities: Vec<usize>,
    /// Seed of the data and the instances.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Random instances of each filter.
    #[arg(long, default_value_t = 20)]
    instances: usize,
    /// Seconds of each turn.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// Turns of each way.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Only these filters, such as `EQ`.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let filters = chosen(FILTERS, &arguments.only)?;
    let log = Log::start()?;
    let load = Load {
        time: Duration::try_from_secs_f64(arguments.seconds)?,
        rounds: arguments.rounds,
        connections: vec![1],
        parsed_before: false,
    };
    let mut out = io::stdout().lock();
    let mut sizes = Vec::new();
    for &universities in &arguments.universities {
        let config = Config::new(universities, arguments.seed)?;
        let size = Size::new(config)?;
        writeln!(
            out,
            "{universities} universities, {} triples\n",
            size.store.len()?
        )?;
        writeln!(out, "{HEAD}")?;
        let mut found = Vec::new();
        for filter in &filters {
            let drawn = instances(filter, config, arguments.instances);
            let of_filter = size.measure(filter, &drawn, &load, &log)?;
            of_filter.write(filter.name, &mut out)?;
            out.flush()?;
            found.push(of_filter);
        }
        writeln!(out)?;
        sizes.push((universities, found));
    }
    write_growth(&filters, &sizes, &mut out)
}

const HEAD: &str = "\
| filter | form | objects | in process, µs | Oxigraph in process, µs | ratio | over HTTP, µs | Oxigraph over HTTP, µs | ratio \
| logging.level=warn, µs | ratio |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

/// Data of one size.
struct Size {
    service: ObjectService,
    store: Store,
    contest: Contest,
    runtime: Runtime,
}

/// What was found for a filter at one size.
struct Found {
    /// Objects of an answer, on average.
    objects: f64,
    service: Summary,
    oxigraph: Summary,
    http: Row,
}

impl Size {
    fn new(config: Config) -> Result<Self, Box<dyn Error>> {
        let image = Arc::new(ImageStore::new(image(config)?));
        let store = load(config)?;
        Ok(Size {
            service: embedded::service(&schema(), Arc::clone(&image) as _)?,
            contest: Contest::start(&schema(), image, store.clone())?,
            store,
            runtime: Builder::new_current_thread().enable_all().build()?,
        })
    }

    fn measure(
        &self,
        filter: &'static Template,
        drawn: &[Instance],
        load: &Load,
        log: &Log,
    ) -> Result<Found, Box<dyn Error>> {
        // The answers are compared there.
        let rows = self.contest.measure(filter, drawn, load, log)?;
        let [http] = <[Row; 1]>::try_from(rows).map_err(|_| "one number of connections")?;
        let form = filter.forms.iter().find(|form| form.name == http.form);
        let form = form.ok_or("a form of the filter")?;
        let (mut service, mut oxigraph) = (Samples::default(), Samples::default());
        for _ in 0..load.rounds {
            self.ask(filter, drawn, load.time, &mut service);
            self.query(form, drawn, load.time, &mut oxigraph)?;
        }
        let mut objects = 0;
        for instance in drawn {
            let answer = Answer::of_graphql(filter, &self.answer(filter, instance))?;
            objects += answer.objects.len();
        }
        Ok(Found {
            objects: objects as f64 / drawn.len().max(1) as f64,
            service: service.summary(),
            oxigraph: oxigraph.summary(),
            http,
        })
    }

    fn answer(&self, filter: &Template, instance: &Instance) -> Vec<u8> {
        let answer = self
            .service
            .execute(instance.request(filter), RequestContext::default());
        self.runtime.block_on(answer).body.to_vec()
    }

    /// Asks the service in process until a time has passed.
    fn ask(&self, filter: &Template, drawn: &[Instance], time: Duration, samples: &mut Samples) {
        let start = Instant::now();
        for instance in drawn.iter().cycle() {
            if start.elapsed() >= time {
                break;
            }
            let request = instance.request(filter);
            samples.time(|| {
                let answer = self.service.execute(request, RequestContext::default());
                self.runtime.block_on(answer).body.to_bytes()
            });
        }
    }

    /// Queries Oxigraph in process until a time has passed.
    fn query(
        &self,
        form: &Form,
        drawn: &[Instance],
        time: Duration,
        samples: &mut Samples,
    ) -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        let mut out = Vec::new();
        for instance in drawn.iter().cycle() {
            if start.elapsed() >= time {
                break;
            }
            out.clear();
            samples.time(|| write_json(&self.store, form, instance, &mut out))?;
        }
        Ok(())
    }
}

impl Found {
    fn write(&self, filter: &str, out: &mut StdoutLock<'_>) -> io::Result<()> {
        let of = |summary: &Summary| summary.median;
        let (service, oxigraph) = (of(&self.service), of(&self.oxigraph));
        let [http, warn, behind] = [&self.http.service, &self.http.warn, &self.http.oxigraph]
            .map(|throughput| of(&throughput.times));
        writeln!(
            out,
            "| {filter} | {} | {:.1} | {service:.1} | {oxigraph:.1} | {:.2} | {http:.1} | {behind:.1} | {:.2} | {warn:.1} | {:.2} |",
            self.http.form,
            self.objects,
            oxigraph / service,
            behind / http,
            behind / warn,
        )
    }
}

/// Writes how the medians in process grow from one size to the next.
fn write_growth(
    filters: &[&Template],
    sizes: &[(usize, Vec<Found>)],
    out: &mut StdoutLock<'_>,
) -> Result<(), Box<dyn Error>> {
    let steps: Vec<_> = sizes.windows(2).collect();
    if steps.is_empty() {
        return Ok(());
    }
    let (mut head, mut rule) = ("| filter |".to_owned(), "|---|".to_owned());
    for way in ["service", "Oxigraph"] {
        for step in &steps {
            head.push_str(&format!(" {way}, {} to {} |", step[0].0, step[1].0));
            rule.push_str("---:|");
        }
    }
    writeln!(out, "{head}\n{rule}")?;
    for (place, filter) in filters.iter().enumerate() {
        write!(out, "| {} |", filter.name)?;
        for way in [
            |found: &Found| found.service.median,
            |found: &Found| found.oxigraph.median,
        ] {
            for step in &steps {
                let [before, after] = [0, 1].map(|at: usize| way(&step[at].1[place]));
                write!(out, " {:.2} |", after / before)?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
