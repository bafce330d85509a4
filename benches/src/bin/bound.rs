//! Times the query templates over an image: by the service, and by a walk of its columns.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use benches::bound::{Bound, BoundError, UNBOUND};
use benches::generator::Config;
use benches::measure::Samples;
use benches::workload::{Answer, Instance, TEMPLATES, Template, chosen, instances};
use benches::{SCHEMA, embedded};
use clap::Parser;
use graph_store::image::ImageStore;
use graphql_service::RequestContext;
use object_engine::ObjectService;
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Times each query template in process, in turns, and compares the answers.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Number of universities, from 1 to 1000.
    #[arg(long, default_value_t = 10)]
    universities: usize,
    /// Random instances of each template.
    #[arg(long, default_value_t = 50)]
    instances: usize,
    /// Times that each instance is asked for; the first warms up.
    #[arg(long, default_value_t = 4)]
    rounds: usize,
    /// Only these templates, such as `QT5`.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let config = Config::new(arguments.universities, 42)?;
    let mut templates = chosen(TEMPLATES, &arguments.only)?;
    if arguments.only.is_empty() {
        templates.retain(|template| !UNBOUND.contains(&template.name));
    } else if let Some(name) = UNBOUND
        .iter()
        .find(|name| arguments.only.iter().any(|of| of == *name))
    {
        return Err(BoundError::NoTemplate((*name).to_owned()).into());
    }
    let image = Arc::new(embedded::image(config)?);
    let service = embedded::service(SCHEMA, Arc::new(ImageStore::new(Arc::clone(&image))))?;
    let contest = Contest {
        bound: Bound::new(&image)?,
        service,
        runtime: Builder::new_current_thread().build()?,
    };
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| | bound, µs | service, µs | (service − 10 µs) to bound |"
    )?;
    writeln!(out, "|---|---:|---:|---:|")?;
    for template in templates {
        let mut times: [Samples; 2] = Default::default();
        for instance in instances(template, config, arguments.instances) {
            contest.run(template, &instance, arguments.rounds, &mut times)?;
        }
        let [bound, service] = times.map(|times| times.summary().median);
        let beyond = (service - 10.0).max(0.0) / bound;
        writeln!(
            out,
            "| {} | {bound:.1} | {service:.1} | {beyond:.1} |",
            template.name
        )?;
    }
    Ok(())
}

/// What is timed.
struct Contest<'i> {
    bound: Bound<'i>,
    service: ObjectService,
    runtime: Runtime,
}

impl Contest<'_> {
    /// Asks both for an instance in turns; the first round compares the answers.
    fn run(
        &self,
        template: &'static Template,
        instance: &Instance,
        rounds: usize,
        [of_bound, of_service]: &mut [Samples; 2],
    ) -> Result<(), Box<dyn Error>> {
        for round in 0..rounds {
            let begun = Instant::now();
            let bound = self.bound.answer(template.name, instance)?;
            let walked = begun.elapsed();
            let request = instance.request(template);
            let begun = Instant::now();
            let answer = self.service.execute(request, RequestContext::default());
            let answer = self.runtime.block_on(answer);
            let served = begun.elapsed();
            if round > 0 {
                of_bound.add(walked);
                of_service.add(served);
                continue;
            }
            let bound = Answer::of_graphql(template, &bound)?;
            if bound != Answer::of_graphql(template, &answer.body.to_bytes())? {
                return Err(
                    format!("{}: the answers differ for {instance:?}", template.name).into(),
                );
            }
        }
        Ok(())
    }
}
