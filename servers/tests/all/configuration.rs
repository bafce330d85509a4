//! Configuration: which source wins, which names bind, what is refused.

use std::fs;
use std::path::PathBuf;

use servers::config::{ConfigError, LogFormat, Settings, Sources, read};
use tempfile::TempDir;

fn with_file(name: &str, text: &str) -> Result<Settings, ConfigError> {
    let dir = TempDir::new().unwrap();
    let path: PathBuf = dir.path().join(name);
    fs::write(&path, text).unwrap();
    read(&Sources {
        file: Some(&path),
        ..Sources::default()
    })
    .map(|(settings, _)| settings)
}

fn with_environment(pairs: &[(&str, &str)]) -> Result<(Settings, Vec<String>), ConfigError> {
    let environment = pairs
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    read(&Sources {
        environment,
        ..Sources::default()
    })
}

#[test]
fn defaults_stand_when_nothing_is_said() {
    assert_eq!(read(&Sources::default()).unwrap().0, Settings::default());
}

#[test]
fn three_file_syntaxes_say_the_same() {
    let files = [
        (
            "a.properties",
            "# note\napplication.port = 81\ngraphql.limits.page: 7\nlogging.format=json\n",
        ),
        (
            "a.yaml",
            "application:\n  port: 81\ngraphql.limits.page: 7\nlogging: {format: json}\n",
        ),
        (
            "a.toml",
            "logging.format = \"json\"\n[application]\nport = 81\n[graphql.limits]\npage = 7\n",
        ),
    ];
    for (name, text) in files {
        let settings = with_file(name, text).unwrap();
        assert_eq!(settings.port, 81, "{name}");
        assert_eq!(settings.engine_limits.page, Some(7), "{name}");
        assert_eq!(settings.log_format, LogFormat::Json, "{name}");
    }
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.properties");
    fs::write(
        &path,
        "application.name=file\napplication.port=1\nlogging.level=file\n",
    )
    .unwrap();
    let flags = ["application.name=flag".to_owned()];
    let environment = vec![
        ("APPLICATION_NAME".to_owned(), "environment".to_owned()),
        ("APPLICATION_PORT".to_owned(), "2".to_owned()),
    ];
    let sources = Sources {
        defaults: Settings::default(),
        file: Some(&path),
        environment,
        flags: &flags,
    };
    let (settings, _) = read(&sources).unwrap();
    assert_eq!((settings.name.as_str(), settings.port), ("flag", 2));
    assert_eq!(settings.log_level, "file");
}

#[test]
fn unknown_names_are_errors_in_files_and_flags_with_the_nearest_one() {
    let error = with_file("a.yaml", "graphql:\n  limits:\n    dept: 3\n").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("did you mean `graphql.limits.depth`?"),
        "{error}"
    );
    let flags = ["aplication.port=1".to_owned()];
    let error = read(&Sources {
        flags: &flags,
        ..Sources::default()
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown property `aplication.port` in --set; did you mean `application.port`?"
    );
}

#[test]
fn unknown_names_in_the_environment_are_warnings_when_they_look_like_ours() {
    let (_, warnings) = with_environment(&[("GRAPHQL_LIMITS_DEPHT", "1"), ("HOME", "/")]).unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("graphql.limits.depth"),
        "{}",
        warnings[0]
    );
}

#[test]
fn addresses_of_linked_containers_are_ignored() {
    let (settings, warnings) =
        with_environment(&[("APPLICATION_PORT", "tcp://10.0.0.1:80")]).unwrap();
    assert_eq!(
        (settings.port, warnings),
        (Settings::default().port, vec![])
    );
}

#[test]
fn a_value_that_does_not_fit_is_refused_with_what_would() {
    let error = with_environment(&[("APPLICATION_PORT", "99999")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`application.port` in the environment (APPLICATION_PORT) is `99999`, \
         expected a port between 0 and 65535"
    );
}

#[test]
fn malformed_files_are_refused() {
    assert!(matches!(
        with_file("a.toml", "a = ="),
        Err(ConfigError::Malformed { .. })
    ));
    assert!(matches!(
        with_file("a.yaml", "a: [1"),
        Err(ConfigError::Malformed { .. })
    ));
    assert!(matches!(
        with_file("a.properties", "port"),
        Err(ConfigError::Malformed { .. })
    ));
    assert!(matches!(
        with_file("a.ini", ""),
        Err(ConfigError::SyntaxUnknown { .. })
    ));
}
