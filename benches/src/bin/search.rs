//! Measures the search service over a server of OpenSearch, which `OPENSEARCH_URL` names, in turns.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use benches::embedded;
use benches::generator::Config;
use benches::measure::{Samples, Summary};
use benches::random::Random;
use benches::search::{self, Indexed, KINDS, Publications, ask, operation};
use clap::Parser;
use graph_store::image::ImageStore;
use search_index::embedded::EmbeddedEngine;
use search_index::engine::PhysicalName;
use search_index::service::SearchService;
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compares indexing with the same documents from a file, searches with the same bodies sent as they are, and
/// the embedded engine with the server.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Number of universities.
    #[arg(long, default_value_t = 8)]
    universities: usize,
    /// Seed of the data and of the searches.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Turns of indexing.
    #[arg(long, default_value_t = 3)]
    indexing_rounds: usize,
    /// Turns of each kind of search.
    #[arg(long, default_value_t = 200)]
    rounds: usize,
    /// Address of the server.
    #[arg(long, env = "OPENSEARCH_URL")]
    opensearch: String,
}

/// Turns that are not measured.
const WARM_UP: usize = 30;

/// Where the same searches go.
struct Ways<'w> {
    publications: &'w Publications,
    name: PhysicalName,
    over_server: SearchService,
    over_embedded: SearchService,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let config = Config::new(arguments.universities, arguments.seed)?;
    let store = Arc::new(ImageStore::new(embedded::image(config)?));
    let publications = Publications::new(benches::SCHEMA, store, &arguments.opensearch)?;
    let runtime = Runtime::new()?;
    let mut out = io::stdout().lock();
    let name = runtime.block_on(indexing(&publications, &arguments, &mut out))?;
    let embedded = Arc::new(EmbeddedEngine::in_memory()?);
    let (indexed, in_memory) = runtime.block_on(publications.index(embedded.clone()))?;
    writeln!(
        out,
        "\nEmbedded, in memory: {:.0} documents/s\n",
        indexed.rate()
    )?;
    let ways = Ways {
        over_server: publications.serve(publications.server(), name.clone())?,
        over_embedded: publications.serve(embedded, in_memory)?,
        publications: &publications,
        name,
    };
    runtime.block_on(ways.searching(&arguments, &mut out))
}

/// Indexes in turns; returns the index that stays.
async fn indexing(
    publications: &Publications,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<PhysicalName, Box<dyn Error>> {
    let file = search::file();
    let documents = publications.write_file(&file).await?;
    let bytes = std::fs::metadata(&file)?.len();
    writeln!(
        out,
        "{documents} publications, {} MB as bulks\n",
        bytes >> 20
    )?;
    writeln!(
        out,
        "| turn | from a file, documents/s | indexer, documents/s | ratio | memory of the indexer, MB |"
    )?;
    writeln!(out, "|---:|---:|---:|---:|---:|")?;
    let mut last = None;
    // The first turn warms up the server.
    for turn in 0..=arguments.indexing_rounds {
        let plain: Indexed = publications.index_file(&file, documents).await?;
        let (indexed, name) = publications.index(publications.server()).await?;
        if indexed.documents != documents {
            return Err(format!("{} documents of {documents}", indexed.documents).into());
        }
        last = Some(name);
        if turn > 0 {
            writeln!(
                out,
                "| {turn} | {:.0} | {:.0} | {:.2} | {} |",
                plain.rate(),
                indexed.rate(),
                indexed.rate() / plain.rate(),
                indexed.memory >> 20
            )?;
        }
    }
    std::fs::remove_file(&file)?;
    last.ok_or_else(|| "no turn".into())
}

impl Ways<'_> {
    async fn searching(
        &self,
        arguments: &Arguments,
        out: &mut impl Write,
    ) -> Result<(), Box<dyn Error>> {
        writeln!(
            out,
            "| search | hits | plain body, p50 ms | over GraphQL, p50 ms | more, ms | more | embedded, p50 ms | plain to embedded |"
        )?;
        writeln!(out, "|---|---:|---:|---:|---:|---:|---:|---:|")?;
        for hits in [10, 100] {
            for kind in KINDS {
                let mut random = Random::new(arguments.seed, &[]);
                let mut samples: [Samples; 3] = Default::default();
                for round in 0..arguments.rounds + WARM_UP {
                    if round == WARM_UP {
                        samples = Default::default();
                    }
                    let operation = operation(kind, hits, &mut random);
                    self.turn(&operation, round, &mut samples).await?;
                }
                row(out, kind, hits, &samples.map(|samples| samples.summary()))?;
            }
        }
        Ok(())
    }

    /// Does the same search in each way, the first of them another in each turn.
    async fn turn(
        &self,
        operation: &str,
        round: usize,
        samples: &mut [Samples; 3],
    ) -> Result<(), Box<dyn Error>> {
        let body = self.publications.body(operation)?;
        for at in 0..3 {
            let way = (round + at) % 3;
            let begun = std::time::Instant::now();
            match way {
                0 => self.publications.plain(&self.name, body.clone()).await?,
                1 => ask(&self.over_server, operation).await?,
                _ => ask(&self.over_embedded, operation).await?,
            };
            samples[way].add(begun.elapsed());
        }
        Ok(())
    }
}

fn row(out: &mut impl Write, kind: &str, hits: usize, ways: &[Summary; 3]) -> io::Result<()> {
    let [plain, service, embedded] = ways.map(|summary| summary.median / 1e3);
    writeln!(
        out,
        "| {kind} | {hits} | {plain:.2} | {service:.2} | {:.2} | {:.0} % | {embedded:.2} | {:.1} |",
        service - plain,
        (service / plain - 1.0) * 100.0,
        plain / embedded,
    )
}
