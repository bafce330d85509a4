//! Processes that are killed while they move schemas, at random moments.
//!
//! `KILLS` sets how often each direction kills, `KILLS_SEED` the seed of the moments and of the options.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use schema_registry::ServiceKind;
use tempfile::TempDir;

use super::{
    Contents, MUSEUM, Place, SHOP, SOML, bind, block_on, fill, migrate, printed, reset, service,
    start,
};
use crate::processes::Running;
use crate::random::Random;
use crate::random_tests::setting;

/// Schemas that are moved.
const SCHEMAS: usize = 12;

/// Options of a migration.
#[derive(Clone, Copy, Debug)]
struct Choice {
    force: bool,
    all: bool,
    clean_before: bool,
    clean_after: bool,
}

impl Choice {
    fn random(random: &mut Random) -> Self {
        Choice {
            force: random.chance(75),
            all: random.chance(75),
            clean_before: random.chance(75),
            clean_after: random.chance(75),
        }
    }

    fn flags(&self) -> Vec<&'static str> {
        let flags = [
            ("--force", self.force),
            ("--all", self.all),
            ("--clean-before", self.clean_before),
            ("--clean-after", self.clean_after),
        ];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set);
        flags.map(|(name, _)| name).collect()
    }

    fn properties(&self) -> Vec<String> {
        [
            ("forceStoreUpdate", self.force),
            ("somlMigration", self.all),
            ("cleanBeforeMigration", self.clean_before),
            ("cleanOnComplete", self.clean_after),
        ]
        .map(|(name, is_set)| format!("soml.storage.migration.{name}={is_set}"))
        .to_vec()
    }
}

/// One migration that is killed.
struct Case<'a> {
    from: &'a Place,
    to: &'a Place,
    choice: Choice,
    origin: Contents,
    destination: Contents,
}

impl Case<'_> {
    fn command(&self, by_service: bool) -> Command {
        if by_service {
            let properties = self.choice.properties();
            let properties: Vec<&str> = properties.iter().map(String::as_str).collect();
            service(SOML, self.from, self.to, &properties)
        } else {
            migrate(self.from, self.to, &self.choice.flags())
        }
    }

    /// Returns the schemas that are moved.
    fn moved(&self) -> BTreeMap<String, String> {
        let is_bound = |id: &str| self.origin.bound.iter().any(|(_, _, bound)| bound == id);
        let mut moved = self.origin.schemas.clone();
        moved.retain(|id, _| !self.choice.force || self.choice.all || is_bound(id));
        moved
    }

    /// Checks what holds at every moment.
    fn check(&self, [origin, destination]: &[Contents; 2]) {
        for (id, text) in &self.origin.schemas {
            let mut stores = [origin, destination].into_iter();
            let is_there = stores.any(|it| it.schemas.get(id) == Some(text));
            assert!(is_there, "{id} is nowhere: {:?}", self.choice);
        }
        let mut stores = [origin, destination].into_iter();
        assert!(stores.any(|it| it.rights == self.origin.rights));
        if !self.choice.clean_after {
            assert_eq!(origin, &self.origin);
        }
        if !self.choice.clean_before {
            let there = destination.ids();
            let mut ids = self.destination.schemas.keys();
            assert!(ids.all(|id| there.contains(&id.as_str())), "{there:?}");
        }
    }

    /// Checks that everything is where the options say.
    fn check_end(&self, [origin, destination]: &[Contents; 2]) {
        self.check(&[origin.clone(), destination.clone()]);
        let moved = self.moved();
        let mut expected = self.destination.schemas.clone();
        if self.choice.clean_before {
            expected.clear();
        }
        expected.extend(moved.clone());
        assert_eq!(destination.schemas, expected, "{:?}", self.choice);
        assert_eq!(destination.rights, self.origin.rights);
        let mut left = self.origin.schemas.clone();
        left.retain(|id, _| !self.choice.clean_after || !moved.contains_key(id));
        assert_eq!(origin.schemas, left, "{:?}", self.choice);
        let services = |contents: &Contents| -> Vec<(String, String)> {
            let bound = contents.bound.iter();
            bound
                .map(|(_, service, id)| ((*service).to_owned(), id.clone()))
                .collect()
        };
        for bound in services(&self.origin) {
            assert!(services(destination).contains(&bound), "{bound:?}");
        }
        if self.choice.clean_after {
            assert!(origin.bound.is_empty(), "{:?}", origin.bound);
        }
    }

    fn now(&self) -> [Contents; 2] {
        block_on(async { [Contents::at(self.from).await, Contents::at(self.to).await] })
    }
}

/// Fills both stores for a case.
fn prepare(from: &Place, to: &Place, choice: &Choice) -> [Contents; 2] {
    block_on(async {
        reset(from).await;
        reset(to).await;
        let texts: Vec<_> = (0..SCHEMAS)
            .map(|at| {
                (
                    format!("s{at}"),
                    format!("id: /soml/s{at}\n# {}\n", "x".repeat(at * 500)),
                )
            })
            .collect();
        let schemas = texts.iter().map(|(id, text)| (id.as_str(), text.as_str()));
        let schemas: Vec<_> = schemas.collect();
        fill(from, &schemas, Some("rbac: {roles: {}}\n")).await;
        bind(from, SHOP, ServiceKind::Search, "s3").await;
        // A folder cannot take what others have bound.
        if from.kind() != "file" && to.kind() != "file" {
            bind(from, MUSEUM, ServiceKind::Objects, "s5").await;
        }
        // Without force, nothing is moved where something is.
        if choice.force {
            fill(to, &[("s0", "other: 1\n"), ("other", "other: 2\n")], None).await;
        }
        [Contents::at(from).await, Contents::at(to).await]
    })
}

/// Starts a process, and kills it after a time. Returns whether it was still running.
fn killed(command: &mut Command, after: Duration) -> bool {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut running = Running::from(child.unwrap());
    thread::sleep(after);
    let was_running = running.child.try_wait().unwrap().is_none();
    drop(running);
    was_running
}

#[expect(clippy::print_stdout, reason = "whoever repeats a run needs its seed")]
fn kill(from: &str, to: &str) {
    let (seed, kills) = (setting("KILLS_SEED", 1), setting("KILLS", 2));
    let mut random = Random::new(seed);
    let files = TempDir::new().unwrap();
    let log = files.path().join("log");
    let (from, to) = (Place::new(from), Place::new(to));
    let (mut met, mut between) = (0, 0);
    let mut lasts = Duration::from_millis(1_000);
    for _ in 0..kills {
        let choice = Choice::random(&mut random);
        let [origin, destination] = prepare(&from, &to, &choice);
        let case = Case {
            from: &from,
            to: &to,
            choice,
            origin,
            destination,
        };
        let times = 1 + random.below(2);
        for _ in 0..times {
            let by_service = random.chance(30);
            let after = lasts.mul_f64(random.below(1_000) as f64 / 1_000.0);
            met += u64::from(killed(&mut case.command(by_service), after));
            let now = case.now();
            case.check(&now);
            let record = block_on(async { to.open(SHOP).await.migration().await });
            between += u64::from(record.unwrap().is_some());
        }
        let begun = Instant::now();
        if random.chance(30) {
            // What is moved cannot be served, and the service runs nevertheless or says why not.
            let mut serve = case.command(true);
            serve.args(["--set", "search.enabled=false"]);
            if to.kind() == "file" {
                printed(&mut case.command(false));
            } else {
                let (mut running, _) = start(&mut serve, &log, "Security:");
                running.stop();
            }
        } else {
            printed(&mut case.command(false));
            lasts = begun.elapsed();
        }
        case.check_end(&case.now());
    }
    let (from, to) = (from.kind(), to.kind());
    println!(
        "{from} to {to}: KILLS_SEED={seed} KILLS={kills}, {met} met a running process, {between} interrupted a migration"
    );
}

macro_rules! directions {
    ($($name:ident: $from:literal to $to:literal;)*) => {
        $(
            #[test]
            #[ignore = "needs running servers named by RDF4J_URL and MONGODB_URL"]
            fn $name() {
                kill($from, $to);
            }
        )*
    };
}

directions! {
    a_migration_from_a_folder_to_rdf4j_that_is_killed_goes_on: "file" to "rdf4j";
    a_migration_from_rdf4j_to_a_folder_that_is_killed_goes_on: "rdf4j" to "file";
    a_migration_from_a_folder_to_mongodb_that_is_killed_goes_on: "file" to "mongodb";
    a_migration_from_mongodb_to_a_folder_that_is_killed_goes_on: "mongodb" to "file";
    a_migration_from_rdf4j_to_mongodb_that_is_killed_goes_on: "rdf4j" to "mongodb";
    a_migration_from_mongodb_to_rdf4j_that_is_killed_goes_on: "mongodb" to "rdf4j";
}
