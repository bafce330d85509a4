//! What it costs to answer a request under the roles of its sender.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use benches::embedded::image;
use benches::generator::Config;
use benches::measure::memory;
use benches::workload::{TEMPLATES, instances};
use clap::Parser;
use graph_store::GraphStore;
use graph_store::image::ImageStore;
use graphql_service::{Caller, Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use tokio::runtime::Runtime;

/// Runs the templates with and without roles, in turns, and prints the ratio of each; then requests of
/// a thousand different sets of roles.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Universities in the data.
    #[arg(long, default_value_t = 1)]
    universities: usize,
    /// Turns of each template.
    #[arg(long, default_value_t = 400)]
    turns: usize,
    /// SOML document of the data.
    #[arg(long, default_value = "benches/university.yaml")]
    schema: String,
}

/// Roles beside the one that all requests have.
const OTHER_ROLES: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let config = Config::new(arguments.universities, 42)?;
    let soml = std::fs::read_to_string(&arguments.schema)? + &roles();
    let store: Arc<dyn GraphStore> = Arc::new(ImageStore::new(image(config)?));
    let open = service(&soml, &store, false)?;
    let limited = service(&soml, &store, true)?;
    let runtime = Runtime::new()?;
    let mut out = io::stdout().lock();
    // Reads all that the templates ask for, and is not allowed everything.
    let caller = Arc::new(Caller::with_roles(["Reader"]));
    writeln!(
        out,
        "| template | without roles, µs | with | ratio |\n|---|---:|---:|---:|"
    )?;
    let mut product = 1.0;
    for template in TEMPLATES {
        let requests = instances(template, config, 20);
        let requests: Vec<Request> = requests.iter().map(|one| one.request(template)).collect();
        let one = |service| answer(&runtime, service, &requests[0], &caller);
        if one(&open) != one(&limited) {
            return Err(format!("{} asks for what the role may not read", template.name).into());
        }
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for turn in 0..arguments.turns {
            let request = &requests[turn % requests.len()];
            let unlimited = &open;
            // Whoever comes second finds the data in the caches of the processor.
            let mut run = |open: bool| {
                if open {
                    without.push(time(&runtime, unlimited, request, &caller))
                } else {
                    with.push(time(&runtime, &limited, request, &caller))
                }
            };
            let open_first = (turn / requests.len()).is_multiple_of(2);
            run(open_first);
            run(!open_first);
        }
        let (without, with) = (median(&mut without), median(&mut with));
        product *= with / without;
        let name = template.name;
        writeln!(
            out,
            "| {name} | {without:.1} | {with:.1} | {:.3} |",
            with / without
        )?;
    }
    let mean = f64::powf(product, 1.0 / TEMPLATES.len() as f64);
    writeln!(out, "\nGeometric mean {mean:.3}.")?;
    let before = memory().unwrap_or_default();
    let request = instances(&TEMPLATES[0], config, 1)[0].request(&TEMPLATES[0]);
    let mut times = Vec::new();
    for set in 0..1_000_usize {
        let names = (0..OTHER_ROLES).filter(|role| set >> role & 1 == 1);
        let names = names.map(|role| format!("Other{role}"));
        let caller = Arc::new(Caller::with_roles(names.chain(["Reader".to_owned()])));
        times.push(time(&runtime, &limited, &request, &caller));
    }
    writeln!(
        out,
        "{} with 1,000 sets of roles in turn: median {:.1} µs, memory {:+} KiB.",
        TEMPLATES[0].name,
        median(&mut times),
        (memory().unwrap_or_default() as i64 - before as i64) >> 10
    )?;
    Ok(())
}

fn roles() -> String {
    // The document ends with its objects. One more, which no template asks for, may not be read.
    let mut text = "  Unread: {props: {note: {}}}\nrbac:\n  roles:\n    \
                    Reader: {actions: ['*/*/read'], notActions: ['Unread/*/*']}\n"
        .to_owned();
    for role in 0..OTHER_ROLES {
        writeln!(text, "    Other{role}: {{actions: ['Department/*/read']}}")
            .expect("writing to a string");
    }
    text
}

fn service(
    soml: &str,
    store: &Arc<dyn GraphStore>,
    enforced: bool,
) -> Result<ObjectService, Box<dyn Error>> {
    let schema = soml_core::load(soml)
        .schema
        .ok_or("the schema has errors")?;
    let options = ServiceOptions::default().with_roles_enforced(enforced);
    Ok(ObjectService::new(
        Arc::new(schema),
        Arc::clone(store),
        options,
    )?)
}

fn answer(
    runtime: &Runtime,
    service: &ObjectService,
    request: &Request,
    caller: &Arc<Caller>,
) -> Vec<u8> {
    let context = RequestContext::new().with_caller(Arc::clone(caller));
    let response = runtime.block_on(service.execute(request.clone(), context));
    response.body.to_vec()
}

/// Returns the microseconds that a request takes.
fn time(
    runtime: &Runtime,
    service: &ObjectService,
    request: &Request,
    caller: &Arc<Caller>,
) -> f64 {
    let context = RequestContext::new().with_caller(Arc::clone(caller));
    let request = request.clone();
    let start = Instant::now();
    drop(runtime.block_on(service.execute(request, context)));
    start.elapsed().as_secs_f64() * 1e6
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
