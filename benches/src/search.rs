//! The search service over the publications of the generated data: indexing against the same documents sent
//! from a file, searches over GraphQL against the same bodies sent as they are, and both engines.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt, TryStreamExt};
use graph_store::{CallContext, GraphStore};
use graphql_service::{Documents, Limits, Refusal, Request, RequestContext, Service};
use search_index::engine::{Binding, Engine, EngineError, PhysicalName, SearchEngine};
use search_index::indexer::{Indexer, IndexerError, IndexerOptions};
use search_index::limits::SearchLimits;
use search_index::mapping::{Indexes, MappingError, MappingOptions, Owner};
use search_index::opensearch::{OpenSearch, OpenSearchOptions};
use search_index::read::DocumentReader;
use search_index::sdl::SearchApi;
use search_index::service::{SearchService, SearchServiceOptions, SearchTarget};
use soml_core::Valid;
use soml_core::schema::Schema;

use crate::generator::words::WORDS;
use crate::measure::memory;
use crate::random::Random;

/// The application of the indexes.
const APPLICATION: &str = "benches";

/// Bytes of a bulk, and bulks that are sent at the same time: those of the indexer.
const BULK: usize = 5 << 20;
const AT_ONCE: usize = 4;

/// Objects that are read at once for the file.
const PAGE: usize = 2_000;

/// Number of an index that is filled from the file, beyond those that the indexer takes.
const FROM_FILE: u64 = 1_000_000;

/// A failure of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchBenchError {
    /// The schema has errors.
    #[error("the schema has errors")]
    Schema,
    /// The schema cannot be searched.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// An engine failed.
    #[error("an engine failed")]
    Engine(#[from] EngineError),
    /// The indexer failed.
    #[error("the indexer failed")]
    Indexer(#[from] IndexerError),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] graph_store::StoreError),
    /// The file cannot be written or read.
    #[error("the file of documents failed")]
    File(#[from] std::io::Error),
    /// A request that is sent without the crate failed.
    #[error("a plain request failed")]
    Plain(#[from] reqwest::Error),
    /// An answer is not what it has to be.
    #[error("not an answer that can be compared: {0}")]
    Answer(String),
}

/// The publications, and where they go.
pub struct Publications {
    schema: Arc<Valid<Schema>>,
    indexes: Arc<Indexes>,
    store: Arc<dyn GraphStore>,
    address: String,
    http: reqwest::Client,
    server: Arc<OpenSearch>,
}

/// A way of indexing: how long it took, and how much memory it needed.
#[derive(Clone, Copy, Debug)]
pub struct Indexed {
    /// Number of documents.
    pub documents: u64,
    /// From the first request to the last.
    pub time: Duration,
    /// Memory at its greatest, less what there was at the beginning, in bytes.
    pub memory: u64,
}

impl Indexed {
    /// Returns the number of documents of a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.documents as f64 / self.time.as_secs_f64()
    }
}

impl Publications {
    /// Takes the schema of the data, the data, and the address of a server of OpenSearch.
    ///
    /// # Errors
    /// When there is no server.
    pub fn new(
        soml: &str,
        store: Arc<dyn GraphStore>,
        address: &str,
    ) -> Result<Self, SearchBenchError> {
        // Fails if somebody has installed one, which is as good.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let soml = soml.replace(
            "  Publication:\n",
            "  Publication:\n    search: {index: yes}\n",
        );
        let schema = soml_core::load(&soml).schema;
        let schema = Arc::new(schema.ok_or(SearchBenchError::Schema)?);
        let indexes = Arc::new(Indexes::new(&schema, &MappingOptions::default())?);
        let addresses = address.parse();
        let addresses = addresses.map_err(|_| SearchBenchError::Answer(address.to_owned()))?;
        let server = OpenSearch::new(OpenSearchOptions::new(addresses, APPLICATION));
        Ok(Publications {
            schema,
            indexes,
            store,
            address: address.trim_end_matches('/').to_owned(),
            http: reqwest::Client::new(),
            server: Arc::new(server.map_err(|error| SearchBenchError::Answer(error.to_string()))?),
        })
    }

    /// Returns the engine of the server.
    #[must_use]
    pub fn server(&self) -> Engine {
        self.server.clone()
    }

    /// Writes the documents as bulks of a server; returns how many there are.
    ///
    /// # Errors
    /// When the store or the file fails.
    pub async fn write_file(&self, file: &Path) -> Result<u64, SearchBenchError> {
        let context = CallContext::new();
        let definition = &self.indexes.indexes[0];
        let reader = DocumentReader::new(&self.schema, definition, &*self.store);
        let ids = reader.ids(&context).await?;
        let mut out = std::io::BufWriter::new(File::create(file)?);
        for page in ids.chunks(PAGE) {
            for document in reader.documents(page, &context).await? {
                writeln!(out, "{{\"index\":{{\"_id\":{:?}}}}}", document.id)?;
                out.write_all(&document.source)?;
                out.write_all(b"\n")?;
            }
        }
        out.flush()?;
        Ok(ids.len() as u64)
    }

    /// Creates an index, sends it the bulks of a file, several at the same time, and waits until searches find the documents.
    ///
    /// # Errors
    /// When the server does not take them.
    pub async fn index_file(
        &self,
        file: &Path,
        documents: u64,
    ) -> Result<Indexed, SearchBenchError> {
        let definition = &self.indexes.indexes[0];
        let name = PhysicalName::new(definition, FROM_FILE);
        let context = CallContext::new();
        self.server.delete(&name, &context).await?;
        let owner = Owner::new(APPLICATION);
        let peak = Peak::begin();
        let begun = Instant::now();
        let index = Binding {
            definition,
            name: &name,
        };
        self.server.create(index, &owner, &context).await?;
        let url = format!("{}/{name}/_bulk?filter_path=errors", self.address);
        let bulks = stream::iter(Bulks::open(file)?);
        bulks
            .map(|bulk| async { self.send(&url, bulk?).await })
            .buffer_unordered(AT_ONCE)
            .try_collect::<Vec<()>>()
            .await?;
        self.server.refresh(&name, &context).await?;
        let (time, memory) = (begun.elapsed(), peak.end());
        let found = self.server.count(&name, &context).await?;
        self.server.delete(&name, &context).await?;
        if found == documents {
            Ok(Indexed {
                documents,
                time,
                memory,
            })
        } else {
            Err(SearchBenchError::Answer(format!("{found} documents")))
        }
    }

    async fn send(&self, url: &str, bulk: Vec<u8>) -> Result<(), SearchBenchError> {
        let request = self
            .http
            .post(url)
            .header("content-type", "application/x-ndjson");
        let answer = request.body(bulk).send().await?.error_for_status()?;
        let text = answer.text().await?;
        if text.contains("\"errors\":false") {
            Ok(())
        } else {
            Err(SearchBenchError::Answer(text))
        }
    }

    /// Builds the index by the indexer, the alias moved.
    ///
    /// # Errors
    /// When it fails.
    pub async fn index(&self, engine: Engine) -> Result<(Indexed, PhysicalName), SearchBenchError> {
        let context = CallContext::new();
        let mut options = IndexerOptions::new(Owner::new(APPLICATION));
        options.remove_previous = true;
        options.drop_delay = Duration::ZERO;
        let indexer = Indexer::new(
            Arc::clone(&self.schema),
            Arc::clone(&self.indexes),
            Arc::clone(&self.store),
            engine,
            options,
        );
        let progress = indexer.progress();
        let peak = Peak::begin();
        let begun = Instant::now();
        let report = indexer.run(&context).await?;
        let (time, memory) = (begun.elapsed(), peak.end());
        indexer.remove_superseded(&report, &context).await?;
        let indexed = Indexed {
            documents: progress.objects()[0].written(),
            time,
            memory,
        };
        Ok((indexed, report.objects[0].index.clone()))
    }

    /// Serves an index.
    ///
    /// # Errors
    /// When the schema has no API.
    pub fn serve(
        &self,
        engine: Engine,
        name: PhysicalName,
    ) -> Result<SearchService, SearchBenchError> {
        Ok(SearchService::new(
            self.api()?,
            engine,
            vec![SearchTarget::Ready(name)],
            SearchServiceOptions::default(),
        ))
    }

    fn api(&self) -> Result<SearchApi, SearchBenchError> {
        let indexes = Indexes::new(&self.schema, &MappingOptions::default())?;
        let api = SearchApi::new(Arc::clone(&self.schema), indexes);
        api.map_err(SearchBenchError::Mapping)
    }

    /// Returns the body that a server gets for an operation.
    ///
    /// # Errors
    /// When the operation is not one of the API.
    pub fn body(&self, operation: &str) -> Result<Vec<u8>, SearchBenchError> {
        let invalid = |errors: Refusal| SearchBenchError::Answer(errors[0].message.clone());
        let api = self.api()?;
        let documents = Documents::new(api.schema(), Limits::default(), 0);
        let prepared = documents.read(&Request::new(operation), &RequestContext::new());
        let prepared = prepared.map_err(invalid)?;
        let searches = api.searches(&prepared, &SearchLimits::default());
        let searches = searches.map_err(invalid)?;
        Ok(searches[0].search.to_bytes())
    }

    /// Sends a body as it is; returns the bytes of the answer.
    ///
    /// # Errors
    /// When the server does not answer it.
    pub async fn plain(
        &self,
        name: &PhysicalName,
        body: Vec<u8>,
    ) -> Result<usize, SearchBenchError> {
        let url = format!(
            "{}/{name}/_search?allow_partial_search_results=false",
            self.address
        );
        let request = self
            .http
            .post(url)
            .header("content-type", "application/json");
        let answer = request.body(body).send().await?.error_for_status()?;
        Ok(answer.bytes().await?.len())
    }
}

/// Sends an operation to a service; returns the bytes of the answer.
///
/// # Errors
/// When there are errors in it.
pub async fn ask(service: &SearchService, operation: &str) -> Result<usize, SearchBenchError> {
    let request = Request::new(operation.to_owned());
    let response = service.respond(request, RequestContext::new()).await;
    let bytes = response.body.to_bytes();
    if bytes.starts_with(b"{\"data\"") {
        Ok(bytes.len())
    } else {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Err(SearchBenchError::Answer(text))
    }
}

/// The kinds of operations, by name.
pub const KINDS: [&str; 6] = [
    "match",
    "two fields",
    "fuzzy",
    "prefix",
    "filter and sort",
    "facets",
];

/// Returns an operation of a kind with words of its own.
#[must_use]
pub fn operation(kind: &str, hits: usize, random: &mut Random) -> String {
    let mut word = || WORDS[random.below(WORDS.len())];
    let (one, other) = (word(), word());
    let arguments = match kind {
        "match" => format!("query: {{match: {{title: {{query: \"{one} {other}\"}}}}}}"),
        "two fields" => format!(
            "query: {{bool: {{must: {{match: {{abstract: {{query: \"{one} {other}\", operator: AND}}}}}}, should: {{match: {{title: {{query: \"{one}\"}}}}}}}}}}"
        ),
        "fuzzy" => format!(
            "query: {{match: {{title: {{query: \"{}x\", fuzziness: \"AUTO\"}}}}}}",
            &one[..one.len() - 1]
        ),
        "prefix" => format!("query: {{prefix: {{title: {{value: \"{}\"}}}}}}", &one[..3]),
        "filter and sort" => format!(
            "query: {{bool: {{filter: {{match: {{abstract: {{query: \"{one}\"}}}}}}}}}}, sort: {{title: {{}}}}"
        ),
        _ => format!(
            "query: {{match: {{title: {{query: \"{one}\"}}}}}}, aggregations: {{name: \"a\", terms: {{field: title, size: 10}}}}"
        ),
    };
    let answer = match kind {
        "facets" => " aggregations { name buckets { key doc_count } }",
        _ => "",
    };
    format!(
        "{{ publication_search({arguments}, size: {hits}) {{ total {{ value }} hits {{ score publication {{ id title abstract }} }}{answer} }} }}"
    )
}

/// The bulks of a file, each about as large as those of the indexer.
struct Bulks {
    file: BufReader<File>,
    rest: Vec<u8>,
    at_end: bool,
}

impl Bulks {
    fn open(file: &Path) -> std::io::Result<Self> {
        Ok(Bulks {
            file: BufReader::new(File::open(file)?),
            rest: Vec::new(),
            at_end: false,
        })
    }

    /// Reads whole pairs of lines; empty at the end.
    fn read(&mut self) -> std::io::Result<Vec<u8>> {
        let mut bulk = std::mem::take(&mut self.rest);
        let wanted = (BULK - bulk.len().min(BULK)) as u64;
        self.at_end = (&mut self.file).take(wanted).read_to_end(&mut bulk)? == 0;
        if !self.at_end {
            let lines = bulk.iter().filter(|byte| **byte == b'\n').count();
            let mut ends = bulk.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            let last = ends.nth((lines & !1).saturating_sub(1));
            let end = last.map_or(0, |(at, _)| at + 1);
            self.rest = bulk.split_off(end);
        }
        Ok(bulk)
    }
}

impl Iterator for Bulks {
    type Item = std::io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.read() {
                Ok(bulk) if bulk.is_empty() && self.at_end => return None,
                Ok(bulk) if bulk.is_empty() => {}
                result => return Some(result),
            }
        }
    }
}

/// Watches the memory of the process on a thread of its own.
struct Peak {
    before: u64,
    greatest: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
}

impl Peak {
    fn begin() -> Peak {
        let greatest = Arc::new(AtomicU64::new(0));
        let ended = Arc::new(AtomicBool::new(false));
        let (of_thread, end) = (Arc::clone(&greatest), Arc::clone(&ended));
        let thread = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                of_thread.fetch_max(memory().unwrap_or(0), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        Peak {
            before: memory().unwrap_or(0),
            greatest,
            ended,
            thread,
        }
    }

    /// Returns by how much the memory has grown at most, in bytes.
    fn end(self) -> u64 {
        self.ended.store(true, Ordering::Relaxed);
        self.thread.join().expect("it does not panic");
        let greatest = self.greatest.load(Ordering::Relaxed);
        greatest.saturating_sub(self.before)
    }
}

/// Returns a file for the documents among the temporary ones.
#[must_use]
pub fn file() -> PathBuf {
    std::env::temp_dir().join(format!("publications-{}.ndjson", std::process::id()))
}
