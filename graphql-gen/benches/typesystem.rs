//! From SOML to a validated GraphQL schema, mutations on: a real model of 359 objects, and a
//! synthetic one of 1,000 objects and 3,000 properties. Before the times it prints sizes, and how much
//! resident memory an API takes (Linux only).
#![expect(clippy::print_stdout, reason = "a benchmark reports on the terminal")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use graphql_gen::typesystem::{Api, ApiError, ApiOptions};

/// A document in which every tenth object is abstract and has nine subclasses, and every object has
/// three properties of its own.
fn synthetic(objects: usize) -> String {
    let mut text = String::from("id: /soml/synthetic\nobjects:\n");
    let ranges = ["string", "integer", "langString", "dateTime"];
    for i in 0..objects {
        let parent = i - i % 10;
        let inherits = if i == parent {
            "kind: abstract".into()
        } else {
            format!("inherits: O{parent}")
        };
        let range = ranges[i % ranges.len()];
        let target = (i * 7 + 3) % objects;
        writeln!(
            text,
            "  O{i}:\n    label: Object {i}\n    {inherits}\n    props:\n      \
             a{i}: {{label: First of {i}, range: {range}}}\n      \
             b{i}: {{label: Second of {i}, range: string, max: inf}}\n      \
             c{i}: {{label: Third of {i}, range: O{target}, max: inf}}"
        )
        .expect("writing to a string succeeds");
    }
    text
}

/// Returns the resident memory of the process in KiB, where the system tells.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// Builds `COPIES` APIs that are alive together, since the first takes memory freed before.
const COPIES: u64 = 8;

fn bench(c: &mut Criterion) {
    let options = ApiOptions::minimal().with_mutations(true);
    let cim =
        include_str!("../../soml-core/tests/data/talk2powersystem/cim-subset-pretty-ontology.yaml");
    for (name, text) in [
        ("cim-359", cim.to_owned()),
        ("synthetic-1000", synthetic(1000)),
    ] {
        let loaded = soml_core::load(&text);
        let soml = Arc::new(loaded.schema.expect("the document is valid"));
        let build = || Api::new(Arc::clone(black_box(&soml)), &options);
        let api = build().expect("the document has an API");
        report(name, &api, build);
        let mut group = c.benchmark_group(name);
        group.sample_size(20);
        group.bench_function("yaml to soml", |b| {
            b.iter(|| soml_core::load(black_box(&text)))
        });
        group.bench_function("soml to api", |b| b.iter(build));
        group.bench_function("of that, validation", |b| {
            let schema = api.schema().clone().into_inner();
            b.iter_batched(
                || schema.clone(),
                |schema| schema.validate().ok(),
                criterion::BatchSize::LargeInput,
            );
        });
        group.bench_function("yaml to api", |b| {
            b.iter(|| {
                let loaded = soml_core::load(black_box(&text));
                Api::new(
                    Arc::new(loaded.schema.expect("the document is valid")),
                    &options,
                )
            });
        });
        group.finish();
    }
}

fn report(name: &str, api: &Api, build: impl Fn() -> Result<Api, ApiError>) {
    let soml = api.soml();
    println!(
        "{name}: {} objects, {} properties, {} effective; {} GraphQL types, SDL of {} bytes",
        soml.objects.len(),
        soml.property_name_count(),
        soml.properties.len(),
        api.schema().types.len(),
        api.sdl().len(),
    );
    let before = resident_kib();
    let copies: Vec<_> = (0..COPIES).map(|_| build()).collect();
    if let Some((after, before)) = resident_kib().zip(before) {
        let each = after.saturating_sub(before) / COPIES;
        println!("{name}: an API takes about {each} KiB of resident memory");
    }
    drop(copies);
}

criterion_group!(benches, bench);
criterion_main!(benches);
