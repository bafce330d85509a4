//! Processes that are killed while clients write: the service, over a folder and over a server, and the server
//! that holds the data.
//!
//! Four clients send mutations of a few to 20,000 triples. At random moments one process is killed with
//! `SIGKILL` and started again. Afterwards the folder or the repository is read as a whole: every mutation that was answered
//! is there, none is there in part, those that were refused are not there, and the records of changes are
//! those of what is there.
//!
//! `KILLS` sets how often each test kills, `KILLS_SEED` the seed of what the clients do and of the moments.
//! `scripts/kills.sh` runs the full numbers.

mod batches;
mod check;
mod clients;
mod processes;
mod searches;

use std::thread;
use std::time::{Duration, Instant};

use check::Checker;
use clients::{Clients, Counts};
pub(crate) use processes::Rdf4j;
use processes::Service;
use tempfile::TempDir;

use crate::random::Random;
use crate::random_tests::setting;
use crate::repository::MEMORY;

/// Kills after which a repository is left for an empty one, so that reading it stays quick.
const KILLS_OF_REPOSITORY: u64 = 20;

/// Time that a request may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Time that a request may take while its server is away: too short for some to see it come back.
const SHORT_TIMEOUT: Duration = Duration::from_secs(8);

/// The moments of a run, and what came of it.
struct Run {
    random: Random,
    kills: u64,
    counts: Counts,
    /// Kills that met an open request.
    met: u64,
    /// Times from the start of the process to the first request that it takes, over what a kill left.
    starts: Vec<Duration>,
}

impl Run {
    #[expect(clippy::print_stdout, reason = "whoever repeats a run needs its seed")]
    fn new(name: &str, few: u64) -> Self {
        let (seed, kills) = (setting("KILLS_SEED", 1), setting("KILLS", few));
        println!("{name}: KILLS_SEED={seed} KILLS={kills}");
        Run {
            random: Random::new(seed),
            kills,
            counts: Counts::default(),
            met: 0,
            starts: Vec::new(),
        }
    }

    /// Sleeps for up to so many milliseconds, mostly for much less.
    fn sleep(&mut self, most: usize) {
        let most = if self.random.chance(50) {
            most / 6
        } else {
            most
        };
        let millis = self.random.below(most.max(1));
        thread::sleep(Duration::from_millis(millis as u64));
    }

    /// Calls a function with the number of kills of each repository.
    fn each_repository(&mut self, kills: u64, mut test: impl FnMut(&mut Self, u64, u64)) {
        let mut left = self.kills;
        for number in 0.. {
            let now = left.min(kills);
            if now == 0 {
                break;
            }
            test(self, number, now);
            left -= now;
        }
    }

    #[expect(clippy::print_stdout, reason = "the figures are for people to read")]
    fn end(&self) {
        let (kills, met) = (self.kills, self.met);
        println!(
            "{kills} kills, {met} of them met an open mutation; {:?}",
            self.counts
        );
        let mut starts = self.starts.clone();
        starts.sort_unstable();
        if let Some(longest) = starts.last() {
            let median = starts[starts.len() / 2];
            println!("started in {median:.1?} at the median, {longest:.1?} at most");
        }
        assert!(met * 2 >= kills, "too few kills meet an open mutation");
    }
}

#[test]
fn a_service_over_a_folder_that_is_killed_loses_nothing_and_leaves_nothing_in_part() {
    let mut run = Run::new("the service over a folder", 3);
    run.each_repository(KILLS_OF_REPOSITORY, |run, _, kills| {
        let folder = TempDir::new().unwrap();
        let mut service = Service::over_folder(folder.path());
        let clients = Clients::start(run.random.number());
        let mut checker = Checker::of_backups(folder.path().join("backups"));
        for kill in 0..kills {
            clients.open(&service.base);
            run.sleep(4_000);
            if run.random.chance(50) {
                let backup = format!("{}/backups/killed-{kill}", service.base);
                // It may end with the service.
                drop(thread::spawn(move || {
                    ureq::put(backup).send_empty().map(drop)
                }));
                run.sleep(100);
            }
            run.met += u64::from(clients.are_busy());
            service.kill();
            clients.wait_for_address();
            run.sleep(500);
            let begun = Instant::now();
            service = Service::over_folder(folder.path());
            run.starts.push(begun.elapsed());
            clients.open(&service.base);
            run.sleep(800);
            clients.pause();
            checker.check(&service.base, &clients.batches());
        }
        run.counts.add(&clients.end());
        checker.check_end(&service.base);
    });
    run.end();
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn a_service_that_is_killed_loses_nothing_and_leaves_nothing_in_part() {
    let server = std::env::var("RDF4J_URL").expect("RDF4J_URL names a running server");
    let mut run = Run::new("the service", 10);
    run.each_repository(KILLS_OF_REPOSITORY, |run, number, kills| {
        let name = format!("kills-{}-{number}", std::process::id());
        processes::create_repository(&server, &name, MEMORY);
        let mut service = Service::start(&server, &name, TIMEOUT);
        let clients = Clients::start(run.random.number());
        let mut checker = Checker::new(&server, &name);
        for _ in 0..kills {
            clients.open(&service.base);
            run.sleep(4_000);
            run.met += u64::from(clients.are_busy());
            service.kill();
            clients.wait_for_address();
            run.sleep(500);
            service = Service::start(&server, &name, TIMEOUT);
            clients.open(&service.base);
            run.sleep(800);
            clients.pause();
            checker.check(&service.base, &clients.batches());
        }
        run.counts.add(&clients.end());
        checker.check_end(&service.base);
        processes::empty_repository(&server, &name);
    });
    run.end();
}

#[test]
#[ignore = "needs Java, and Maven to fetch an RDF4J server"]
fn a_server_that_is_killed_loses_nothing_and_leaves_nothing_in_part() {
    const PERSISTENT: &str = "[ sail:sailType \"openrdf:MemoryStore\" ;
        <http://www.openrdf.org/config/sail/memory#persist> true ;
        <http://www.openrdf.org/config/sail/memory#syncDelay> 0 ]";
    let mut run = Run::new("the server", 3);
    let mut server = Rdf4j::start();
    run.each_repository(KILLS_OF_REPOSITORY / 2, |run, number, kills| {
        let name = format!("kills-{number}");
        processes::create_repository(&server.base, &name, PERSISTENT);
        let service = Service::start(&server.base, &name, SHORT_TIMEOUT);
        let clients = Clients::start(run.random.number());
        let mut checker = Checker::new(&server.base, &name);
        for _ in 0..kills {
            clients.open(&service.base);
            run.sleep(4_000);
            run.met += u64::from(clients.are_busy());
            server.kill();
            run.sleep(3_000);
            server.restart();
            run.sleep(1_000);
            clients.pause();
            checker.check(&service.base, &clients.batches());
        }
        run.counts.add(&clients.end());
        checker.check_end(&service.base);
        processes::empty_repository(&server.base, &name);
    });
    run.end();
}
