//! The processes are killed while clients write and indexes follow: afterwards searches show what the object service
//! shows, no more and no less.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::opensearch::Cluster;

use super::{KILLS_OF_REPOSITORY, Run, processes};
use crate::processes::{PATIENCE, Running, agent, base, eventually};
use crate::random::Random;
use crate::repository::MEMORY;

/// Films embed planets to the second level, and planets films by a property that is read backwards. `FILM` and the
/// like stand for names that no other run has.
const SCHEMA: &str = "
id: /soml/follow
specialPrefixes: {base_iri: 'http://follow/', vocab_iri: 'http://follow/v/', vocab_prefix: v}
config: {enable_mutations: true}
objects:
  FILM:
    search: yes
    props:
      title: {}
      planets: {range: PLANET, max: inf, search: {type: {nestingLevel: 2}}}
      sequel: {range: FILM}
  PLANET:
    search: yes
    props:
      title: {}
      films: {range: FILM, max: inf, inverseAlias: planets}
      ruler: {range: PERSON}
  PERSON: {search: yes, props: {title: {}}}
";

/// The parts of names: object, first letter of ids, how many there are.
const OBJECTS: [(&str, &str, usize); 3] =
    [("Film", "f", 30), ("Planet", "p", 20), ("Person", "h", 10)];

/// Kills of each test where nothing else is asked for.
const FEW: u64 = 20;

/// Clients that write.
const CLIENTS: usize = 4;

/// The names of a run.
#[derive(Clone)]
struct Names(String);

impl Names {
    fn schema(&self) -> String {
        ["Film", "Planet", "Person"]
            .iter()
            .fold(SCHEMA.to_owned(), |text, object| {
                text.replace(&object.to_uppercase(), &self.of(object))
            })
    }

    fn of(&self, object: &str) -> String {
        format!("{object}{}", self.0)
    }

    /// Returns a random mutation.
    fn mutation(&self, random: &mut Random) -> String {
        let (object, start, count) = random.choose(&OBJECTS);
        let ty = self.of(object);
        let id = format!("http://follow/{start}{}", random.below(count));
        if random.chance(15) {
            return format!(
                "mutation {{ delete_{ty}(where: {{ID: [\"{id}\"]}}) {{ affected_count {{ count }} }} }}"
            );
        }
        let is_new = random.chance(50);
        let mut some = |start: &str, count: usize, most: usize| -> Vec<String> {
            let number = random.below(most + 1);
            (0..number)
                .map(|_| format!("\"http://follow/{start}{}\"", random.below(count)))
                .collect()
        };
        let mut references = String::new();
        let mut refer = |property: &str, ids: Vec<String>, is_list: bool| {
            let replaces = if is_new { "" } else { ", replace: true" };
            references += &match (ids.as_slice(), is_new, is_list) {
                ([], true, _) => String::new(),
                ([], false, false) => format!(", {property}: null"),
                ([], false, true) => format!(", {property}: [{{replace: true}}]"),
                (ids, _, true) => {
                    format!(", {property}: [{{ids: [{}]{replaces}}}]", ids.join(", "))
                }
                (ids, _, false) => format!(", {property}: [{{ids: [{}]}}]", ids.join(", ")),
            };
        };
        match object {
            "Film" => {
                refer("planets", some("p", 20, 4), true);
                refer("sequel", some("f", 30, 1), false);
            }
            "Planet" => refer("ruler", some("h", 10, 1), false),
            _ => {}
        }
        let action = if is_new { "create" } else { "update" };
        let title = random.below(100_000);
        format!(
            "mutation {{ {action}_{ty}(objects: [{{id: \"{id}\", title: \"Title {title}\"{references}}}]) \
             {{ affected_count {{ count }} }} }}"
        )
    }

    /// Returns a query for all objects at the object service, and one for the same at the search service.
    fn queries(&self) -> Vec<(String, String, String)> {
        let fields = [
            (
                "Film",
                "id title planets { id title ruler { id title } } sequel { id }",
            ),
            ("Planet", "id title films { id title } ruler { id title }"),
            ("Person", "id title"),
        ];
        let query = |(object, fields): &(&str, &str)| {
            let root = self.of(object).to_lowercase();
            let objects = format!("{{ {root}(limit: 1000) {{ {fields} }} }}");
            let hits =
                format!("{{ {root}_search(size: 1000) {{ hits {{ {root} {{ {fields} }} }} }} }}");
            (root, objects, hits)
        };
        fields.iter().map(query).collect()
    }
}

/// Clients that send mutations to wherever the service is.
struct Writers {
    base: Arc<Mutex<Option<String>>>,
    ends: Arc<AtomicBool>,
    busy: Arc<AtomicU64>,
    done: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Writers {
    fn start(names: &Names, seed: u64) -> Self {
        let (base, ends) = (
            Arc::new(Mutex::new(None::<String>)),
            Arc::new(AtomicBool::new(false)),
        );
        let (busy, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let threads = (0..CLIENTS as u64).map(|number| {
            let (base, ends, names) = (Arc::clone(&base), Arc::clone(&ends), names.clone());
            let (busy, done) = (Arc::clone(&busy), Arc::clone(&done));
            let mut random = Random::new(seed.wrapping_add(number));
            thread::spawn(move || {
                while !ends.load(Ordering::Relaxed) {
                    busy.fetch_add(1, Ordering::SeqCst);
                    let address = base.lock().unwrap().clone();
                    let Some(address) = address else {
                        busy.fetch_sub(1, Ordering::SeqCst);
                        thread::sleep(Duration::from_millis(5));
                        continue;
                    };
                    let query = names.mutation(&mut random);
                    let answer = try_post(&format!("{address}/graphql"), &query);
                    busy.fetch_sub(1, Ordering::SeqCst);
                    match answer {
                        Some(answer) => {
                            let is_done = answer["errors"].is_null();
                            done.fetch_add(u64::from(is_done), Ordering::Relaxed);
                        }
                        None => thread::sleep(Duration::from_millis(5)),
                    }
                }
            })
        });
        Writers {
            threads: threads.collect(),
            base,
            ends,
            busy,
            done,
        }
    }

    fn open(&self, base: &str) {
        *self.base.lock().unwrap() = Some(base.to_owned());
    }

    /// Sends nothing more, and waits for what is open.
    fn pause(&self) {
        *self.base.lock().unwrap() = None;
        // A thread that has just begun has seen that.
        eventually(|| self.busy.load(Ordering::SeqCst) == 0);
        let before = self.done.load(Ordering::Relaxed);
        thread::sleep(Duration::from_millis(20));
        eventually(|| self.busy.load(Ordering::SeqCst) == 0);
        assert!(self.done.load(Ordering::Relaxed) <= before + CLIENTS as u64);
    }

    fn end(self) -> u64 {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
        self.done.load(Ordering::Relaxed)
    }
}

/// Sends a query; `None` where nobody answers.
fn try_post(url: &str, query: &str) -> Option<Value> {
    let request = agent().post(url).content_type("application/json");
    let answer = request.send(json!({ "query": query }).to_string());
    read(answer.ok()?)
}

fn get(url: &str) -> Value {
    let answer = agent().get(url).call();
    answer.ok().and_then(read).unwrap_or_default()
}

fn read(mut answer: ureq::http::Response<ureq::Body>) -> Option<Value> {
    let text = answer.body_mut().read_to_string().ok()?;
    serde_json::from_str(&text).ok()
}

/// A process, and where it listens.
struct Process {
    running: Running,
    said: Vec<String>,
}

impl Process {
    fn start(program: &str, arguments: &[String], last: &str) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).stderr(Stdio::null());
        let running = Running::start(&mut command);
        let said = running.said_until(last);
        Process { running, said }
    }

    /// Returns the address on the line of a word.
    fn base(&self, word: &str) -> &str {
        base(&self.said, word)
    }

    fn kill(&mut self) {
        self.running.child.kill().unwrap();
        self.running.wait();
    }
}

/// Waits until the indexes have all changes, and compares what searches show with what the object service shows.
fn compare(names: &Names, objects: &str, searches: &str) {
    let mut info = Value::Null;
    let is_level = |info: &Value| {
        let indexes = info["indexes"].as_array().cloned().unwrap_or_default();
        let is_level = |index: &Value| {
            index["sequence"] == info["sequence"]
                && index["state"] == "READY"
                && index["problems"] == json!([])
        };
        info["state"] == "READY" && !indexes.is_empty() && indexes.iter().all(is_level)
    };
    let begun = Instant::now();
    while !is_level(&info) {
        assert!(begun.elapsed() < PATIENCE, "not level: {info:#}");
        thread::sleep(Duration::from_millis(20));
        info = get(&format!("{searches}/soml/info"));
    }
    for (root, of_objects, of_hits) in names.queries() {
        let shown = try_post(&format!("{objects}/graphql"), &of_objects).expect("an answer");
        let found = try_post(&format!("{searches}/graphql"), &of_hits).expect("an answer");
        let hits = found["data"][format!("{root}_search")]["hits"].as_array();
        let hits = hits.unwrap_or_else(|| panic!("{found}"));
        let hits: Vec<Value> = hits.iter().map(|hit| hit[&root].clone()).collect();
        let shown = sorted(shown["data"][&root].clone());
        assert!(shown.is_array(), "{shown}");
        assert_eq!(sorted(Value::Array(hits)), shown, "{root} at {info:#}");
    }
}

/// Sorts lists of objects by their ids. A hit has no member without values where the object service has an empty list.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(values) => {
            let mut values: Vec<Value> = values.into_iter().map(sorted).collect();
            values.sort_by_key(|value| value["id"].as_str().map(str::to_owned));
            Value::Array(values)
        }
        Value::Object(members) => members
            .into_iter()
            .filter(|(_, value)| !value.is_null() && *value != json!([]))
            .map(|(name, value)| (name, sorted(value)))
            .collect(),
        other => other,
    }
}

/// Makes names that no other run has.
fn names() -> Names {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Names(format!("{}x{number}", std::process::id()))
}

fn set(properties: &[String]) -> Vec<String> {
    properties
        .iter()
        .flat_map(|property| ["--set".to_owned(), property.clone()])
        .collect()
}

#[test]
fn searches_of_a_service_that_is_killed_show_what_its_objects_are() {
    let mut run = Run::new("searches over a folder", FEW);
    let mut mutations = 0;
    run.each_repository(KILLS_OF_REPOSITORY, |run, _, kills| {
        let (folder, names) = (TempDir::new().unwrap(), names());
        let schema = folder.path().join("follow.yaml");
        std::fs::write(&schema, names.schema()).unwrap();
        let start = || over_folder(&schema, &folder.path().join("data"));
        let mut service = start();
        let writers = Writers::start(&names, run.random.number());
        for _ in 0..kills {
            writers.open(service.base("GraphQL:"));
            run.sleep(1_500);
            run.met += u64::from(writers.busy.load(Ordering::Relaxed) > 0);
            service.kill();
            service = start();
            writers.open(service.base("GraphQL:"));
            run.sleep(500);
            writers.pause();
            compare(&names, service.base("GraphQL:"), service.base("Search:"));
        }
        mutations += writers.end();
    });
    end(&run, mutations);
}

fn over_folder(schema: &Path, data: &Path) -> Process {
    let mut arguments = ["serve", "--port", "0", "--schema"]
        .map(str::to_owned)
        .to_vec();
    arguments.push(schema.display().to_string());
    arguments.push("--data-dir".to_owned());
    arguments.push(data.display().to_string());
    let properties = ["search.port=0", "gateway.enabled=false"].map(str::to_owned);
    arguments.extend(set(&properties));
    Process::start(env!("CARGO_BIN_EXE_soml"), &arguments, "Search:")
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL, and OpenSearch, of which it starts a cluster"]
fn searches_of_processes_that_are_killed_show_what_the_objects_are() {
    let server = std::env::var("RDF4J_URL").expect("RDF4J_URL names a running server");
    let cluster = Cluster::start();
    let mut run = Run::new("searches over servers", FEW);
    let mut mutations = 0;
    run.each_repository(KILLS_OF_REPOSITORY, |run, number, kills| {
        let (folder, names) = (TempDir::new().unwrap(), names());
        let repository = format!("follow-{}-{number}", std::process::id());
        processes::create_repository(&server, &repository, MEMORY);
        let schema = folder.path().join("follow.yaml");
        std::fs::write(&schema, names.schema()).unwrap();
        let schema = schema.display().to_string();
        let shared = [
            format!("sparql.endpoint.address={server}"),
            format!("sparql.endpoint.repository={repository}"),
            format!(
                "search.storage.location={}",
                folder.path().join("search").display()
            ),
        ];
        let objects = || {
            let mut arguments = ["serve", "--port", "0", "--schema"]
                .map(str::to_owned)
                .to_vec();
            arguments.push(schema.clone());
            arguments.extend(set(&shared));
            arguments.extend(set(
                &["search.enabled=false", "gateway.enabled=false"].map(str::to_owned)
            ));
            Process::start(env!("CARGO_BIN_EXE_soml"), &arguments, "Security:")
        };
        let searches = || {
            let mut arguments = ["--port", "0", "--schema"].map(str::to_owned).to_vec();
            arguments.push(schema.clone());
            arguments.extend(set(&shared));
            let own = [
                "security.enabled=false".to_owned(),
                "indexer.indexingEnabled=true".to_owned(),
                format!("indexer.host={}", cluster.addresses()),
                format!("application.name=follow-{}", names.0),
            ];
            arguments.extend(set(&own));
            Process::start(env!("CARGO_BIN_EXE_search-service"), &arguments, "Search:")
        };
        let (mut writing, mut searching) = (objects(), searches());
        let writers = Writers::start(&names, run.random.number());
        for _ in 0..kills {
            writers.open(writing.base("GraphQL:"));
            run.sleep(2_000);
            run.met += u64::from(writers.busy.load(Ordering::Relaxed) > 0);
            let which = run.random.below(3);
            if which != 0 {
                searching.kill();
            }
            if which != 1 {
                writing.kill();
                writing = objects();
                writers.open(writing.base("GraphQL:"));
            }
            if which != 0 {
                searching = searches();
            }
            run.sleep(500);
            writers.pause();
            compare(&names, writing.base("GraphQL:"), searching.base("Search:"));
        }
        mutations += writers.end();
        drop((writing, searching));
        processes::empty_repository(&server, &repository);
    });
    end(&run, mutations);
}

#[expect(clippy::print_stdout, reason = "the figures are for people to read")]
fn end(run: &Run, mutations: u64) {
    let (kills, met) = (run.kills, run.met);
    println!(
        "{kills} kills, {met} of them met an open mutation; {mutations} mutations were carried out"
    );
    assert!(met * 2 >= kills, "too few kills meet an open mutation");
    assert!(mutations > 0, "something is written");
}
