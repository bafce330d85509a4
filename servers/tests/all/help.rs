//! `--help` of each command: its own options and no others, the defaults of the program, and where the properties are.

use std::process::Command;

use servers::config::{CATALOGUE, Settings};

use crate::command_line::{code, err, out, soml};
use crate::processes;

fn help(program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).arg("--help");
    let output = processes::output(&mut command, b"");
    assert_eq!(code(&output), Some(0), "{program} {arguments:?}");
    out(&output)
}

fn commands() -> Vec<String> {
    let text = help(env!("CARGO_BIN_EXE_soml"), &[]);
    let (_, list) = text.split_once("Commands:\n").unwrap();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let lines = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = lines.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

/// Returns the options of a text, each with the heading above it.
fn options(text: &str) -> Vec<(String, String)> {
    let (mut heading, mut options) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(':').filter(|_| !line.starts_with(' ')) {
            name.clone_into(&mut heading);
        }
        // What explains an option is indented more.
        let indent = line.len() - line.trim_start().len();
        let name = line.split_whitespace().find(|word| word.starts_with("--"));
        if let (2 | 6, true, Some(name)) = (indent, line.trim_start().starts_with('-'), name) {
            options.push((heading.clone(), name.to_owned()));
        }
    }
    options
}

#[test]
fn help_of_each_command_lists_its_own_options_and_names_the_page_of_properties() {
    let mut texts: Vec<(String, String)> = commands()
        .into_iter()
        .map(|name| {
            let text = help(env!("CARGO_BIN_EXE_soml"), &[&name]);
            (name, text)
        })
        .collect();
    assert!(texts.len() > 20, "{texts:#?}");
    for (name, program) in [
        ("object-service", env!("CARGO_BIN_EXE_object-service")),
        ("search-service", env!("CARGO_BIN_EXE_search-service")),
        (
            "federation-gateway",
            env!("CARGO_BIN_EXE_federation-gateway"),
        ),
    ] {
        texts.push((name.to_owned(), help(program, &[])));
    }
    for (name, text) in &texts {
        assert!(text.lines().count() < 120, "{name}: {text}");
        for property in CATALOGUE.properties.iter().map(|property| property.key) {
            let listed = text
                .lines()
                .any(|line| line.trim_start().starts_with(property));
            assert!(!listed, "{name} lists {property}: {text}");
        }
        let options = options(text);
        let configuring: Vec<_> = options
            .iter()
            .filter(|(heading, _)| heading == "Configuration")
            .map(|(_, name)| name.as_str())
            .collect();
        let takes_properties = options.iter().any(|(_, name)| name == "--set");
        let expected: &[&str] = if takes_properties {
            &["--config", "--set"]
        } else {
            &[]
        };
        assert_eq!(configuring, expected, "{name}: {text}");
        assert_eq!(
            text.contains("docs/configuration.md"),
            takes_properties,
            "{name}: {text}"
        );
        let mut names: Vec<_> = options.iter().map(|(_, name)| name).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "{name}: {text}");
    }
    let of = |wanted: &str| &texts.iter().find(|(name, _)| name == wanted).unwrap().1;
    assert!(of("query").contains("sample query of the demo"));
    assert!(
        !of("plan").contains("demo") && !of("plan").contains("--data"),
        "{}",
        of("plan")
    );
}

#[test]
fn defaults_in_help_are_those_of_the_program() {
    let settings = Settings::default();
    let (host, port) = (settings.host, settings.port);
    let soml = env!("CARGO_BIN_EXE_soml");
    for (text, port) in [
        (help(soml, &["serve"]), port),
        (help(env!("CARGO_BIN_EXE_object-service"), &[]), port),
        (
            help(env!("CARGO_BIN_EXE_search-service"), &[]),
            settings.search.port_beside(port),
        ),
        (
            help(env!("CARGO_BIN_EXE_federation-gateway"), &[]),
            settings.gateway.port_beside(port),
        ),
    ] {
        for default in [host.to_string(), port.to_string()] {
            assert!(
                text.contains(&format!("[default: {default}]")),
                "{default}: {text}"
            );
        }
    }
    let changes = help(soml, &["changes"]);
    assert!(
        changes.contains(&format!("[default: http://localhost:{port}]")),
        "{changes}"
    );
}

#[test]
fn one_property_is_explained_under_each_of_its_names() {
    let explained = |name: &str| {
        let output = soml(&["explain", name]);
        (code(&output), out(&output), err(&output))
    };
    for name in ["http.sendTimeout", "HTTP_SENDTIMEOUT"] {
        let (code, text, _) = explained(name);
        assert_eq!(code, Some(0), "{name}");
        assert!(
            text.starts_with("http.sendTimeout (milliseconds, default 30000)\n"),
            "{text}"
        );
    }
    let (_, text, _) = explained("server.port");
    assert!(
        text.starts_with("application.port (port, default 9995)\n"),
        "{text}"
    );
    let (_, text, _) = explained("graphql.service.3.gtg");
    assert!(
        text.starts_with("graphql.service.3.gtg (address)\n"),
        "{text}"
    );
    let (_, text, _) = explained("security.secret");
    assert!(
        text.starts_with("security.secret (string or none, default none)\n"),
        "{text}"
    );
    let (code, _, error) = explained("http.sendTimout");
    assert_eq!(code, Some(64));
    assert!(error.contains("did you mean http.sendTimeout?"), "{error}");
}
