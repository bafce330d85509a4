//! Times the query templates over an image: by the service, by a walk of its columns, and by the service over Oxigraph.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use benches::bound::Bound;
use benches::generator::Config;
use benches::measure::Samples;
use benches::workload::{Answer, TEMPLATES, instances};
use benches::{SCHEMA, embedded};
use clap::Parser;
use graph_store::image::{Image, ImageStore};
use graph_store::oxigraph::OxigraphStore;
use graphql_service::RequestContext;
use object_engine::ObjectService;

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
    #[arg(long)]
    only: Vec<String>,
    /// Leaves Oxigraph out, which takes ten times the memory.
    #[arg(long)]
    alone: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let config = Config::new(arguments.universities, 42)?;
    let image = Arc::new(embedded::image(config)?);
    let service = embedded::service(SCHEMA, Arc::new(ImageStore::new(Arc::clone(&image))))?;
    let oxigraph = match arguments.alone {
        true => None,
        false => {
            let store = OxigraphStore::new(embedded::load(config)?);
            store.seal()?;
            Some(embedded::service(SCHEMA, Arc::new(store))?)
        }
    };
    run(&arguments, config, &image, &service, oxigraph.as_ref())
}

fn run(
    arguments: &Arguments,
    config: Config,
    image: &Image,
    service: &ObjectService,
    oxigraph: Option<&ObjectService>,
) -> Result<(), Box<dyn Error>> {
    let bound = Bound::new(image)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "| | bound, µs | image, µs | (image − 10 µs) to bound | Oxigraph, µs | Oxigraph to image |"
    )?;
    writeln!(out, "|---|---:|---:|---:|---:|---:|")?;
    for template in TEMPLATES {
        let wanted = &arguments.only;
        if !wanted.is_empty() && !wanted.iter().any(|name| name == template.name) {
            continue;
        }
        let mut times: [Samples; 3] = Default::default();
        for instance in instances(template, config, arguments.instances) {
            let mut answers = Vec::new();
            for round in 0..arguments.rounds {
                let begun = Instant::now();
                let answer = bound.answer(template.name, &instance)?;
                if round > 0 {
                    times[0].add(begun.elapsed());
                } else {
                    answers.push(Answer::of_graphql(template, &answer)?);
                }
                for (service, times) in [Some(service), oxigraph].into_iter().zip(&mut times[1..]) {
                    let Some(service) = service else { continue };
                    let request = instance.request(template);
                    let begun = Instant::now();
                    let answer = service.execute(request, RequestContext::default());
                    let answer = runtime.block_on(answer);
                    if round > 0 {
                        times.add(begun.elapsed());
                    } else {
                        let answer = answer.body.to_bytes();
                        answers.push(Answer::of_graphql(template, &answer)?);
                    }
                }
            }
            if answers.iter().any(|answer| *answer != answers[0]) {
                return Err(
                    format!("{} differs: {answers:?} to {instance:?}", template.name).into(),
                );
            }
        }
        let [bound, image, oxigraph] = times.map(|times| times.summary().median);
        let (name, beyond) = (template.name, image - 10.0);
        let beyond = beyond.max(0.0) / bound;
        write!(out, "| {name} | {bound:.1} | {image:.1} | {beyond:.1} |")?;
        match arguments.alone {
            true => writeln!(out, " | |")?,
            false => writeln!(out, " {oxigraph:.1} | {:.1} |", oxigraph / image)?,
        }
    }
    Ok(())
}
