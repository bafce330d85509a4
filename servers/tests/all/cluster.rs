//! Several addresses of a SPARQL server, and one, while requests to them go wrong in every way.
//!
//! Proxies in front of one server stand for the addresses, since servers of different stores would not hold the same
//! data. Whatever goes wrong, a mutation that is answered is written, once; one that is refused is not written; what is
//! read is what is there, or an error; every request ends; and health says how the addresses are.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use graph_store::remote::http::{ConnectionOptions, ServerKind, ServerType};
use oxigraph::store::Store;
use serde_json::{Value, json};
use servers::config::Settings;
use servers::store::DataStore;
use test_support::fault_proxy::{Fault, FaultProxy, Harm};

use crate::processes::{PATIENCE, eventually};
use crate::random::Random;
use crate::random_tests::count;
use crate::repository::{self, MEMORY};
use crate::service::{Answer, Service};
use crate::sparql_server::SparqlServer;

/// What goes wrong, and whether the server gets the request nevertheless.
const FAULTS: [(&str, Fault, bool); 28] = [
    ("nobody listens", Fault::Refuse, false),
    ("reset", Fault::Reset, false),
    ("reset afterwards", Fault::Reset, true),
    ("closed", Fault::Close, false),
    ("closed afterwards", Fault::Close, true),
    ("hangs", Fault::Hang, false),
    ("hangs afterwards", Fault::Hang, true),
    ("late", Fault::Delay(Duration::from_millis(300)), true),
    ("400", Fault::Status(400), false),
    ("401", Fault::Status(401), false),
    ("403", Fault::Status(403), false),
    ("404", Fault::Status(404), false),
    ("408", Fault::Status(408), false),
    ("425", Fault::Status(425), false),
    ("429", Fault::Status(429), false),
    ("500", Fault::Status(500), false),
    ("500 afterwards", Fault::Status(500), true),
    ("502", Fault::Status(502), false),
    ("502 afterwards", Fault::Status(502), true),
    ("503", Fault::Status(503), false),
    ("503 afterwards", Fault::Status(503), true),
    ("504", Fault::Status(504), false),
    ("504 afterwards", Fault::Status(504), true),
    ("ends within the head", Fault::Truncate(20), true),
    ("ends after the head", Fault::Truncate(200), true),
    ("the last byte is missing", Fault::Cut(1), true),
    ("the end is missing", Fault::Cut(40), true),
    ("drips", Fault::Drip(64, Duration::from_millis(10)), true),
];

/// Tells whether a request is harmed, given its first line and its body.
type Which = fn(&str, &str) -> bool;

/// Kinds of requests, of which one is harmed.
const REQUESTS: [(&str, Which); 6] = [
    ("any", |_, _| true),
    ("query", |line, _| {
        !is_change(line) && !line.contains("action=")
    }),
    ("begin", |line, _| line.contains("/transactions?")),
    ("query within", |line, _| line.contains("action=QUERY")),
    ("update", |line, body| {
        line.contains("action=UPDATE") || line.contains("/update") || body.contains("INSERT")
    }),
    ("commit", |line, _| line.contains("action=COMMIT")),
];

fn is_change(line: &str) -> bool {
    ["/transactions", "/update", "/statements"]
        .iter()
        .any(|part| line.contains(part))
}

/// Statuses that say that the request is wrong, so that no other server is asked.
const FINAL: [Fault; 3] = [Fault::Status(400), Fault::Status(401), Fault::Status(403)];

/// A server, and the ways to it.
struct World {
    options: ConnectionOptions,
    server: SocketAddr,
    /// The path of its address.
    base: String,
    /// The path that queries are sent to.
    queries: String,
    _here: Option<SparqlServer>,
}

impl World {
    /// Takes a server whose queries are sent to a path below its address.
    fn new(options: ConnectionOptions, queries: &str) -> Self {
        let url = &options.addresses.urls()[0];
        let base = url.path().trim_end_matches('/').to_owned();
        World {
            server: url.socket_addrs(|| None).unwrap()[0],
            queries: format!("{base}{queries}"),
            base,
            options,
            _here: None,
        }
    }

    /// A server in this process, which is written to by updates.
    fn embedded() -> Self {
        let server = SparqlServer::of_store(Store::new().unwrap());
        let mut world = World::new(server.options(), "");
        world._here = Some(server);
        world
    }

    /// A repository of a running RDF4J Server, which is written to by transactions.
    fn rdf4j(test: &str) -> Self {
        let base = std::env::var("RDF4J_URL").expect("RDF4J_URL names a running server");
        let repository = format!("cluster-{test}-{}", std::process::id());
        let options = ConnectionOptions {
            addresses: base.parse().unwrap(),
            server: ServerType::Known(ServerKind::Rdf4j),
            repository: Some(repository.clone()),
            ..ConnectionOptions::default()
        };
        let world = World::new(options, &format!("/repositories/{repository}"));
        ureq::put(format!("http://{}{}", world.server, world.queries))
            .content_type("text/turtle")
            .send(repository::repository(&repository, MEMORY))
            .expect("a repository is made");
        world
    }

    /// A dataset of a running Fuseki server.
    fn fuseki(test: &str) -> Self {
        let base = std::env::var("FUSEKI_URL").expect("FUSEKI_URL names a running server");
        let name = format!("cluster-{test}-{}", std::process::id());
        let options = ConnectionOptions {
            addresses: base.parse().unwrap(),
            server: ServerType::Known(ServerKind::Fuseki),
            repository: Some(name.clone()),
            ..ConnectionOptions::default()
        };
        let world = World::new(options, &format!("/{name}"));
        ureq::post(format!("http://{}/$/datasets", world.server))
            .send_form([("dbName", name.as_str()), ("dbType", "mem")])
            .expect("a dataset is made");
        world
    }

    /// Returns how often something is so, without any proxy.
    fn solutions(&self, pattern: &str) -> usize {
        let place = format!("http://{}{}", self.server, self.queries);
        let query = format!("SELECT ?s ?p WHERE {{ {pattern} }}");
        let answer = ureq::post(place)
            .header("accept", "application/sparql-results+json")
            .send_form([("query", query.as_str())]);
        let mut answer = answer.expect("the server answers");
        let text = answer.body_mut().read_to_string().expect("a text");
        let json: Value = serde_json::from_str(&text).expect("JSON");
        json["results"]["bindings"].as_array().expect("rows").len()
    }

    /// Starts a service that reaches the server by so many proxies.
    fn serve(self, addresses: usize, times: Times) -> Cluster {
        let proxies: Vec<_> = (0..addresses)
            .map(|_| FaultProxy::start(self.server))
            .collect();
        let all = |path: &str| {
            let urls = proxies
                .iter()
                .map(|proxy| format!("http://{}{path}", proxy.address()));
            let urls: Vec<_> = urls.collect();
            urls.join(", ").parse().unwrap()
        };
        let is_plain = self.options.server == ServerType::Known(ServerKind::Sparql11);
        let sparql = ConnectionOptions {
            addresses: all(&self.base),
            update_addresses: if is_plain {
                all("/update")
            } else {
                Default::default()
            },
            retry_interval: Duration::from_millis(20),
            scan_failed_interval: Duration::from_millis(20),
            health_check_timeout: times.check,
            unavailable_read_timeout: times.request,
            unavailable_write_timeout: times.request,
            ..self.options.clone()
        };
        let settings = Settings {
            request_timeout: times.request,
            sparql,
            ..Settings::default()
        };
        let store = DataStore::open(&settings).unwrap().graph_store();
        Cluster {
            service: Service::over(settings, store),
            proxies,
            world: self,
            number: 0,
            tried: Vec::new(),
        }
    }
}

/// How long requests may take.
#[derive(Clone, Copy)]
struct Times {
    request: Duration,
    check: Duration,
}

/// For what must succeed, on a busy machine too.
const LONG: Times = Times {
    request: PATIENCE,
    check: Duration::from_secs(2),
};

/// For what may fail.
const SHORT: Times = Times {
    request: Duration::from_secs(4),
    check: Duration::from_secs(1),
};

/// A service over proxies.
struct Cluster {
    service: Service,
    proxies: Vec<FaultProxy>,
    world: World,
    number: usize,
    /// Objects that were to be created, with what was said of them.
    tried: Vec<(String, Said, String)>,
}

/// What a client was told of a mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Written,
    NotWritten,
    Unknown,
}

impl Cluster {
    fn new_id(&mut self) -> String {
        self.number += 1;
        format!("https://swapi.co/resource/planet/{}", self.number)
    }

    fn post(&self, query: &str, case: &str) -> Answer {
        let started = Instant::now();
        let answer = self.service.post(&json!({ "query": query }));
        // A deadline is never missed by this much, on a busy machine either.
        assert!(started.elapsed() < 2 * PATIENCE, "{case}");
        answer
    }

    /// Creates an object, and keeps what was said of that.
    fn write(&mut self, case: &str) -> Said {
        let id = self.new_id();
        let query = format!(
            "mutation {{ create_Planet(objects: [{{id: \"{id}\", rdfs_label: \"New\"}}]) {{ planet {{ id }} }} }}"
        );
        let answer = self.post(&query, case);
        let json = answer.json();
        let said = if json["errors"].is_null() {
            Said::Written
        } else {
            match answer.code().as_str() {
                "WRITE_OUTCOME_UNKNOWN" => Said::Unknown,
                "STORE_UNAVAILABLE" | "STORE_FAILED" | "DEADLINE_EXCEEDED" | "WRITE_CONFLICT" => {
                    Said::NotWritten
                }
                other => panic!("{case}: {other}: {json}"),
            }
        };
        if said == Said::Written {
            assert_eq!(
                json["data"]["create_Planet"]["planet"][0]["id"], id,
                "{case}"
            );
        }
        self.tried.push((id, said, format!("{case}: {json}")));
        said
    }

    /// Reads an object that is there; returns whether it could be read.
    fn read(&self, id: &str, case: &str) -> bool {
        let query = format!("{{ planet(ID: \"{id}\") {{ id rdfs_label }} }}");
        let answer = self.post(&query, case);
        let json = answer.json();
        if json["errors"].is_null() {
            let there = json!([{ "id": id, "rdfs_label": "New" }]);
            assert_eq!(json["data"]["planet"], there, "{case}");
            return true;
        }
        let code = answer.code();
        let codes = ["STORE_UNAVAILABLE", "STORE_FAILED", "DEADLINE_EXCEEDED"];
        assert!(codes.contains(&code.as_str()), "{case}: {json}");
        false
    }

    /// Returns what health says of the store: its status and why.
    fn health(&self) -> (String, String) {
        let record = self.service.get("/__health?cache=false").json();
        let checks = record["healthChecks"].as_array().expect("checks");
        let store = checks.iter().find(|check| check["id"] == "1200");
        let text = |name: &str| store.unwrap()[name].as_str().unwrap().to_owned();
        (text("status"), text("message"))
    }

    fn heal(&self) {
        for proxy in &self.proxies {
            proxy.heal();
        }
        eventually(|| self.health().0 == "OK");
    }

    /// Checks that what was said of all mutations is so.
    fn check(&self) {
        for (id, said, case) in &self.tried {
            let labels = self.world.solutions(&format!("<{id}> ?p \"New\""));
            let graph = "urn:graph-store:changes";
            let records = format!("GRAPH <{graph}> {{ ?s ?p <{id}> }}");
            let records = self.world.solutions(&records);
            let found = (labels, records);
            let is_so = match said {
                Said::Written => found == (1, 1),
                Said::NotWritten => found == (0, 0),
                Said::Unknown => found == (1, 1) || found == (0, 0),
            };
            assert!(is_so, "{said:?}, and there are {found:?}: {case}");
        }
    }

    /// Returns an object that is there.
    fn something(&mut self) -> String {
        assert_eq!(self.write("before"), Said::Written);
        self.tried.last().unwrap().0.clone()
    }
}

fn harm(fault: (&str, Fault, bool), only: Which, times: usize) -> Harm {
    let (_, fault, is_carried_out) = fault;
    Harm {
        fault,
        is_carried_out,
        only,
        times,
    }
}

/// Returns some of the cases of a test, or all of them with `RANDOM_TESTS=full`.
fn some<T>(mut cases: Vec<T>) -> Vec<T> {
    let wanted = count("CLUSTER_CASES", cases.len() as u64) as usize;
    let mut random = Random::new(crate::random_tests::setting("CLUSTER_SEED", 1));
    while cases.len() > wanted {
        let at = random.below(cases.len());
        cases.swap_remove(at);
    }
    cases
}

/// The main address fails for good, and others stand in for it.
fn others_stand_in(world: World) {
    let mut cluster = world.serve(3, LONG);
    let there = cluster.something();
    for fault in some(FAULTS.to_vec()) {
        let case = fault.0;
        cluster.proxies[0].harm(harm(fault, |_, _| true, usize::MAX));
        let is_final = FINAL.contains(&fault.1);
        for _ in 0..2 {
            let said = cluster.write(case);
            let is_read = cluster.read(&there, case);
            assert_eq!(said == Said::Written, !is_final, "{case}: {said:?}");
            assert_eq!(is_read, !is_final, "{case}");
        }
        let (status, message) = cluster.health();
        match fault.1 {
            Fault::Delay(_) | Fault::Drip(..) => assert_eq!(status, "OK", "{case}: {message}"),
            // It may be the end of a line, without which all is there.
            Fault::Cut(1) if status == "OK" => {}
            _ => {
                assert_eq!(status, "WARNING", "{case}: {message}");
                assert!(message.contains("address 1 of 3: "), "{case}: {message}");
                assert!(!message.contains("address 2"), "{case}: {message}");
            }
        }
        cluster.heal();
        assert_eq!(cluster.write(case), Said::Written);
    }
    cluster.check();
}

/// One request goes wrong, of every kind.
fn one_request_goes_wrong(world: World, addresses: usize) {
    let mut cluster = world.serve(addresses, SHORT);
    let there = cluster.something();
    let kinds = REQUESTS.into_iter();
    let cases = kinds.flat_map(|kind| FAULTS.into_iter().map(move |fault| (kind, fault)));
    let cases = some(cases.collect());
    let (mut met, all) = (0, cases.len());
    for ((kind, only), fault) in cases {
        let case = format!("{addresses} addresses, {kind}, {}", fault.0);
        for reads in [false, true] {
            cluster.proxies[0].harm(harm(fault, only, 1));
            if reads {
                cluster.read(&there, &case);
            } else {
                cluster.write(&case);
            }
            met += usize::from(cluster.proxies[0].is_spent());
            cluster.heal();
        }
    }
    // Not every server has every kind of request, and reading has not those of writing.
    assert!(met > all / 2, "{met} of {all} have met a request");
    assert_eq!(cluster.write("afterwards"), Said::Written);
    assert!(cluster.read(&there, "afterwards"));
    cluster.check();
}

/// All addresses fail, and come back.
fn all_go_wrong(world: World, addresses: usize) {
    let mut cluster = world.serve(addresses, SHORT);
    let there = cluster.something();
    for fault in some(FAULTS.to_vec()) {
        let case = format!("{addresses} addresses, {}", fault.0);
        for proxy in &cluster.proxies {
            proxy.harm(harm(fault, |_, _| true, usize::MAX));
        }
        let said = cluster.write(&case);
        let is_read = cluster.read(&there, &case);
        let (status, message) = cluster.health();
        if matches!(fault.1, Fault::Delay(_) | Fault::Drip(..)) {
            assert_eq!(status, "OK", "{case}: {message}");
        } else if fault.1 != Fault::Cut(1) {
            assert!(said != Said::Written && !is_read, "{case}: {said:?}");
            assert_eq!(status, "ERROR", "{case}: {message}");
        }
        cluster.heal();
        assert_eq!(cluster.write(&case), Said::Written);
        assert!(cluster.read(&there, &case));
    }
    cluster.check();
}

#[test]
fn health_waits_for_an_address_that_hangs_longer_than_for_one_that_answers() {
    let times = Times {
        // More than a check has otherwise.
        check: Duration::from_secs(6),
        ..LONG
    };
    let cluster = World::embedded().serve(3, times);
    cluster.proxies[1].harm(harm(("hangs", Fault::Hang, false), |_, _| true, usize::MAX));
    let (status, message) = cluster.health();
    assert_eq!(
        (status.as_str(), message.as_str()),
        (
            "WARNING",
            "the sparql11 store is empty; some of its servers do not serve: address 2 of 3: it does not answer in time"
        )
    );
    let good_to_go = cluster.service.get("/__gtg");
    assert_eq!(good_to_go.status, 200, "{}", good_to_go.text());
}

#[test]
fn others_stand_in_for_the_main_address() {
    others_stand_in(World::embedded());
}

#[test]
fn whichever_request_goes_wrong_the_client_is_told_the_truth() {
    one_request_goes_wrong(World::embedded(), 3);
    one_request_goes_wrong(World::embedded(), 1);
}

#[test]
fn nothing_is_lost_or_written_twice_while_all_addresses_fail() {
    all_go_wrong(World::embedded(), 3);
    all_go_wrong(World::embedded(), 1);
}

#[test]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
fn others_stand_in_for_the_main_address_of_rdf4j() {
    others_stand_in(World::rdf4j("others"));
}

#[test]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
fn whichever_request_to_rdf4j_goes_wrong_the_client_is_told_the_truth() {
    one_request_goes_wrong(World::rdf4j("one-of-three"), 3);
    one_request_goes_wrong(World::rdf4j("one-of-one"), 1);
}

#[test]
#[ignore = "needs a running RDF4J server: scripts/servers.sh start"]
fn nothing_is_lost_or_written_twice_while_all_addresses_of_rdf4j_fail() {
    all_go_wrong(World::rdf4j("all-of-three"), 3);
    all_go_wrong(World::rdf4j("all-of-one"), 1);
}

#[test]
#[ignore = "needs a running Fuseki server: scripts/servers.sh start"]
fn others_stand_in_for_the_main_address_of_fuseki() {
    others_stand_in(World::fuseki("others"));
}

#[test]
#[ignore = "needs a running Fuseki server: scripts/servers.sh start"]
fn whichever_request_to_fuseki_goes_wrong_the_client_is_told_the_truth() {
    one_request_goes_wrong(World::fuseki("one-of-three"), 3);
    one_request_goes_wrong(World::fuseki("one-of-one"), 1);
}
