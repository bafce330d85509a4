//! The object service, the search service and the gateway as three programs on one host.

use std::path::Path;
use std::process::{Command, Stdio};

use servers::config::Settings;
use tempfile::TempDir;

use crate::gateway::soml::post;
use crate::processes::Running;

/// A program that listens.
struct Program {
    running: Running,
    said: Vec<String>,
}

impl Program {
    /// Starts a program in a folder, and waits until it says a line that begins with `last`.
    fn start(
        path: &str,
        folder: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
        last: &str,
    ) -> Program {
        let mut command = Command::new(path);
        command
            .current_dir(folder)
            .args(["--port", "0"])
            .args(arguments);
        command
            .envs(variables.iter().copied())
            .stderr(Stdio::null());
        let running = Running::start(&mut command);
        let said = running.said_until(last);
        Program { running, said }
    }

    fn endpoint(&self, word: &str) -> String {
        let line = self.said.iter().find(|line| line.starts_with(word));
        let line = line.unwrap_or_else(|| panic!("{:#?}", self.said));
        line.split_whitespace().nth(1).unwrap().to_owned()
    }

    /// Returns how many ports the process listens on.
    #[cfg(target_os = "linux")]
    fn ports(&self) -> usize {
        let process = Path::new("/proc").join(self.running.child.id().to_string());
        let files = std::fs::read_dir(process.join("fd")).unwrap();
        let links = files.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok());
        let sockets: Vec<String> = links
            .filter_map(|link| {
                let name = link.to_str()?.strip_prefix("socket:[")?;
                Some(name.trim_end_matches(']').to_owned())
            })
            .collect();
        let mut ports = 0;
        for table in ["net/tcp", "net/tcp6"] {
            let Ok(table) = std::fs::read_to_string(process.join(table)) else {
                continue;
            };
            ports += table
                .lines()
                .filter(|line| {
                    let columns: Vec<_> = line.split_whitespace().collect();
                    // 0A is the state of listening.
                    columns.get(3) == Some(&"0A")
                        && columns
                            .get(9)
                            .is_some_and(|inode| sockets.iter().any(|socket| socket == inode))
                })
                .count();
        }
        ports
    }

    #[cfg(not(target_os = "linux"))]
    fn ports(&self) -> usize {
        1
    }
}

const OPEN: [&str; 2] = ["--set", "security.enabled=false"];
const DEMO: [&str; 2] = ["--demo", "star-wars"];

#[test]
fn the_three_programs_run_in_one_folder_and_open_one_port_each() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let federated = ["--set", "graphql.federation.enabled=true"];
    let example = |name: &str| format!("{}/../docs/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let (schema, data) = (example("planets.yaml"), example("planets.ttl"));
    let source = ["--schema", &schema, "--data", &data];
    let arguments = [&source[..], &OPEN, &federated].concat();
    let program = env!("CARGO_BIN_EXE_object-service");
    let objects = Program::start(program, folder, &arguments, &[], "Writing:");
    let searched = ["--set", "graphdql.federation.enabled=true"];
    let arguments = [&source[..], &OPEN, &searched].concat();
    let program = env!("CARGO_BIN_EXE_search-service");
    let search = Program::start(program, folder, &arguments, &[], "Search:");
    let endpoints = [objects.endpoint("GraphQL:"), search.endpoint("Search:")];
    let variables = [
        ("GRAPHQL_SERVICE_1", endpoints[0].as_str()),
        ("GRAPHQL_SERVICE_2", endpoints[1].as_str()),
    ];
    let program = env!("CARGO_BIN_EXE_federation-gateway");
    let gateway = Program::start(program, folder, &[], &variables, "Composed:");
    for program in [&objects, &search, &gateway] {
        assert_eq!(program.ports(), 1, "{:#?}", program.said);
    }
    let base = gateway.endpoint("Gateway:");
    let base = base.strip_suffix("/graphql").unwrap();
    crate::gateway::soml::wait_until_indexed(endpoints[1].strip_suffix("/graphql").unwrap());
    let query = "{ planet_search(query: {match: {title: {query: \"mars\"}}}) { hits { planet { title } } } }";
    let (_, answer) = post(base, query, None);
    let hit = &answer["data"]["planet_search"]["hits"][0]["planet"]["title"];
    assert_eq!(hit, "Mars", "{answer:#}");
}

#[test]
fn the_object_service_has_no_search_service_and_no_gateway_whatever_is_configured() {
    let folder = TempDir::new().unwrap();
    let program = env!("CARGO_BIN_EXE_object-service");
    let place = folder.path().join("kept").display().to_string();
    let kept = ["--data-dir", &place];
    let others = [
        "--set",
        "search.enabled=true",
        "--set",
        "gateway.enabled=true",
    ];
    for arguments in [
        [&DEMO[..], &OPEN].concat(),
        [&DEMO[..], &OPEN, &others].concat(),
        [&DEMO[..], &OPEN, &others, &kept].concat(),
    ] {
        let objects = Program::start(program, folder.path(), &arguments, &[], "Writing:");
        assert_eq!(objects.ports(), 1, "{arguments:?}");
        for word in ["Search:", "Gateway:"] {
            let is_said = objects.said.iter().any(|line| line.starts_with(word));
            assert!(!is_said, "{:#?}", objects.said);
        }
        let base = objects.endpoint("GraphQL:");
        let base = base.strip_suffix("/graphql").unwrap();
        let (status, answer) = post(base, "{ film(limit: 1) { id } }", None);
        assert_eq!(status, 200, "{answer}");
    }
    assert!(
        !folder.path().join("kept/search").exists(),
        "it has no engine"
    );
    assert!(!folder.path().join("data").exists());
}

#[test]
fn the_folder_of_data_may_be_the_one_that_a_search_service_has_by_default() {
    for search_first in [true, false] {
        let folder = TempDir::new().unwrap();
        let place = Settings::default().search.location;
        let kept = [&DEMO[..], &OPEN, &["--data-dir", &place]].concat();
        let program = env!("CARGO_BIN_EXE_object-service");
        let objects = || Program::start(program, folder.path(), &kept, &[], "Writing:");
        let program = env!("CARGO_BIN_EXE_search-service");
        let search = || Program::start(program, folder.path(), &OPEN, &[], "Search:");
        for _ in 0..2 {
            let programs = if search_first {
                [search(), objects()]
            } else {
                [objects(), search()]
            };
            assert!(
                folder
                    .path()
                    .join(&place)
                    .join("search-service/indexes")
                    .exists()
            );
            drop(programs);
        }
    }
}

#[test]
fn the_ports_of_the_programs_are_three_by_default() {
    let settings = Settings::default();
    let ports = [
        settings.port,
        settings.search.port_beside(settings.port),
        settings.gateway.port_beside(settings.port),
    ];
    assert_eq!(ports, [9995, 9980, 9000]);
}
