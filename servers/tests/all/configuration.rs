//! Configuration: which source wins, which names bind, what is refused.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use servers::config::{Settings, Sources, read};
use service_config::ConfigError;
use service_log::LogFormat;
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
        "application.name=file\napplication.port=1\nlogging.level=debug\n",
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
    let name = settings.application.name.as_deref();
    assert_eq!((name, settings.port), (Some("flag"), 2));
    assert_eq!(settings.log_level, "debug");
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
fn misspelt_names_of_families_that_others_use_too_are_told_and_theirs_are_not() {
    let pairs = [
        ("HTTP_SENDTIMOUT", "1"),
        ("STORE_DATADIRS", "/data"),
        ("SPARQL_ENDPOINT_ADRESS", "http://a/"),
        ("SECURITY_SECRTE", "hidden"),
        ("HTTP_PROXY", "http://proxy:3128"),
        ("SEARCH_SERVICE_HOST", "10.0.0.1"),
        ("SPARQL_SERVICE_PORT", "3030"),
        ("GRAPHQL_PORT_80_TCP_ADDR", "10.0.0.1"),
        ("GATEWAY_NAME", "/web/gateway"),
        ("PATH", "/bin"),
        ("OTEL_SERVICE_NMAE", "a"),
        ("SOML_TOKEN", "hidden"),
    ];
    let (settings, warnings) = with_environment(&pairs).unwrap();
    let near = [
        "http.sendTimeout",
        "store.dataDir",
        "sparql.endpoint.address",
        "security.secret",
    ];
    assert_eq!(warnings.len(), near.len(), "{warnings:?}");
    for (warning, ((key, _), near)) in warnings.iter().zip(pairs.iter().zip(near)) {
        let expected =
            format!("unknown property `{key}` in the environment; did you mean `{near}`?");
        assert_eq!(*warning, expected);
    }
    assert_eq!(settings.send_timeout, Settings::default().send_timeout);
}

#[test]
fn another_name_of_a_property_counts_in_the_environment_too() {
    let (settings, warnings) = with_environment(&[
        ("ELASTICSEARCH_HOST", "http://search:9200"),
        ("SPRING_APPLICATION_NAME", "films"),
    ])
    .unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(settings.application.name.as_deref(), Some("films"));
    assert!(!settings.search.is_embedded());
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

#[test]
fn properties_files_are_read_as_java_writes_them() {
    let text = "# C:\\users\napplication.name = caf\\u00e9 \\\n    \\uD83D\\uDE00\nsparql.endpoint.username=a\\:b\\=c\\\\d\napplication.port 81\n";
    let settings = with_file("a.properties", text).unwrap();
    let name = settings.application.name.as_deref();
    assert_eq!(name, Some("caf\u{e9} \u{1f600}"));
    assert_eq!(settings.sparql.username.as_deref(), Some("a:b=c\\d"));
    assert_eq!(settings.port, 81);
}

#[test]
fn files_are_utf_8_and_properties_latin_1_too() {
    let dir = TempDir::new().unwrap();
    let read = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        read(&Sources {
            file: Some(&path),
            ..Sources::default()
        })
        .map(|(settings, _)| settings.application.name.unwrap())
    };
    for name in ["a.properties", "a.yaml", "a.toml"] {
        let separator = if name == "a.yaml" { ": " } else { "=" };
        let text = format!("\u{feff}application.name{separator}\"ä\"\n");
        let found = read(name, text.as_bytes()).unwrap();
        assert_eq!(found.trim_matches('"'), "ä", "{name}");
    }
    assert_eq!(
        read("b.properties", b"application.name=\xe4\n").unwrap(),
        "ä"
    );
    let error = read("b.yaml", b"a: 1\nb: \xe4\n").unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("malformed: line 2 is not UTF-8"),
        "{error}"
    );
}

fn with_flags(pairs: &[&str]) -> Result<(Settings, Vec<String>), ConfigError> {
    let flags: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
    read(&Sources {
        flags: &flags,
        ..Sources::default()
    })
}

#[test]
fn what_has_no_effect_is_one_warning_from_all_sources() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.yaml");
    let text = "sparql:\n  optimizations:\n    a: {retries: 3}\n\
                spring.elasticsearch.rest.connectionTimeout: 1s\n";
    fs::write(&path, text).unwrap();
    let flags = [
        "indexer.externalHost=http://localhost:9200".to_owned(),
        "sparql.optimizations.a.retries=4".to_owned(),
    ];
    let environment = [
        ("LICENSE_FILEPATH", "a"),
        ("INDEXER_CONNECTORCREATESETTINGS", r#"{"a": 1}"#),
    ];
    let environment = environment
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .to_vec();
    let (settings, warnings) = read(&Sources {
        file: Some(&path),
        environment,
        flags: &flags,
        ..Sources::default()
    })
    .unwrap();
    assert_eq!(settings, Settings::default());
    let [warning] = warnings.as_slice() else {
        panic!("{warnings:?}");
    };
    for name in [
        "`sparql.optimizations.a.retries`",
        "`spring.elasticsearch.rest.connectionTimeout`",
        "`indexer.externalHost`",
        "`license.filepath`",
        "`indexer.connectorCreateSettings`",
    ] {
        assert_eq!(warning.matches(name).count(), 1, "{name}: {warning}");
    }
}

#[test]
fn a_known_property_that_says_what_the_service_does_is_no_warning() {
    let (_, warnings) = with_flags(&["validation.shacl.enabled=false"]).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn what_asks_for_protection_stops_the_start_from_every_source() {
    let asked = [
        with_flags(&["security.enabled=true", "security.roles=geheim"]),
        with_flags(&["validation.shacl.enabled=true"]),
        with_flags(&["security.enabled=false", "validation.shacl.enabled=true"]),
        with_environment(&[("SECURITY_ROLES", "Reader")]),
        with_environment(&[("SECURITY_USERS_FILE", "/run/secrets/users")]),
        with_file("a.yaml", "security: {users: [{username: a}]}").map(|s| (s, Vec::new())),
        with_file("a.properties", "validation.shacl.enabled: true").map(|s| (s, Vec::new())),
    ];
    for result in asked {
        let error = result.unwrap_err();
        assert!(matches!(error, ConfigError::Protection { .. }), "{error}");
        let code = servers::config::code_of(&error).map(|code| code.as_str());
        assert_eq!(code, Some("PROTECTION_UNAVAILABLE"));
        let text = error.to_string();
        assert!(
            text.contains("not implemented yet") && !text.contains("geheim"),
            "{text}"
        );
    }
}

#[test]
fn a_clear_no_to_protection_starts_with_a_warning() {
    for pairs in [
        &["security.enabled=false", "security.users=geheim"][..],
        &[
            "security.enabled=true",
            "security.enabled=false",
            "security.users=geheim",
        ],
        &[
            "security.enabled=False",
            "security.secret=geheim",
            "security.roles=geheim",
        ],
    ] {
        let (settings, warnings) = with_flags(pairs).unwrap();
        assert!(!settings.security.is_on());
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("`security."), "{warnings:?}");
        assert!(!warnings[0].contains("geheim"), "{warnings:?}");
    }
    // The last source decides.
    let flags = ["security.enabled=false".to_owned()];
    let environment = vec![("SECURITY_ENABLED".to_owned(), "true".to_owned())];
    let (settings, warnings) = read(&Sources {
        environment,
        flags: &flags,
        ..Sources::default()
    })
    .unwrap();
    assert!(!settings.security.is_on());
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn misspelt_names_below_those_of_elasticsearch_and_spring_are_told() {
    let pairs = [
        ("ELASTICSEARCH_ACCESSTIMOUT", "1"),
        ("SPRING_ELASTICSEARCH_REST_USRENAME", "a"),
        ("SPRING_INDEXER_REST_PASWORD", "hidden"),
        ("ELASTICSEARCH_URL", "http://a/"),
        ("ELASTICSEARCH_SERVICE_HOST", "10.0.0.1"),
        ("SPRING_ELASTICSEARCH_REST_CONNECTION_TIMEOUT", "1s"),
    ];
    let (settings, warnings) = with_environment(&pairs).unwrap();
    let near = [
        "elasticsearch.accessTimeout",
        "spring.elasticsearch.rest.username",
        "spring.indexer.rest.password",
    ];
    let expected: Vec<String> = pairs
        .iter()
        .zip(near)
        .map(|((key, _), near)| {
            format!("unknown property `{key}` in the environment; did you mean `{near}`?")
        })
        .collect();
    assert_eq!((settings, warnings), (Settings::default(), expected));
}

#[test]
fn names_in_the_environment_that_others_use_too_are_left_alone() {
    let others = [
        ("SECURITY_TOKEN", "1"),
        ("ELASTICSEARCH_URL", "http://a/"),
        ("SERVER", "a"),
    ];
    let (settings, warnings) = with_environment(&others).unwrap();
    assert_eq!((settings, warnings), (Settings::default(), Vec::new()));
}

#[test]
fn the_time_of_the_health_cache_has_another_name_in_seconds() {
    let name = "health.cache.invalidation.period";
    for (value, millis) in [("45", 45_000), ("0", 0), ("250ms", 250), ("2m", 120_000)] {
        let (settings, warnings) = with_flags(&[&format!("{name}={value}")]).unwrap();
        assert_eq!(
            settings.health_cache,
            Duration::from_millis(millis),
            "{value}"
        );
        assert_eq!(warnings, Vec::<String>::new());
    }
    let (settings, _) = with_environment(&[("HEALTH_CACHE_INVALIDATION_PERIOD", "7")]).unwrap();
    assert_eq!(settings.health_cache, Duration::from_secs(7));
    let error = with_flags(&[&format!("{name}=soon")])
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("`health.cache.invalidation.period` in --set is `soon`"),
        "{error}"
    );
    // The property's own name wins within a source, a later source over an earlier one.
    let both = ["health.cacheTime=1", "health.cache.invalidation.period=2"];
    assert_eq!(
        with_flags(&both).unwrap().0.health_cache,
        Duration::from_millis(1)
    );
    let flags = [format!("{name}=2")];
    let (settings, _) = read(&Sources {
        environment: vec![("HEALTH_CACHETIME".to_owned(), "1".to_owned())],
        flags: &flags,
        ..Sources::default()
    })
    .unwrap();
    assert_eq!(settings.health_cache, Duration::from_secs(2));
}

#[test]
fn general_names_of_port_and_name_count_where_the_own_ones_are_not_set() {
    let general = ["server.port=81", "spring.application.name=films"];
    let (settings, warnings) = with_flags(&general).unwrap();
    let name = settings.application.name.as_deref();
    assert_eq!((settings.port, name), (81, Some("films")));
    assert_eq!(warnings, Vec::<String>::new());
    let flags = general.map(str::to_owned);
    let environment = [("APPLICATION_PORT", "82"), ("APPLICATION_NAME", "own")];
    let (settings, _) = read(&Sources {
        environment: environment
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .to_vec(),
        flags: &flags,
        ..Sources::default()
    })
    .unwrap();
    let name = settings.application.name.as_deref();
    assert_eq!((settings.port, name), (82, Some("own")));
    assert!(with_flags(&["server.port=x"]).is_err());
}

#[test]
fn every_property_of_the_interface_is_known() {
    for name in [
        "search.storage.location",
        "application.scheme",
        "application.address",
        "application.useNetworkAddressAsName",
        "task.default.retry.maxRetries",
        "soml.storage.rdf4j.cluster.unavailableWriteTimeout",
        "sparql.endpoint.cluster.forceConnection",
        "search.soml.storage.mongodb.writeConcern",
        "soml.storage.mongodb.serverSelectionTimeout",
        "soml.storage.migration.cleanOnComplete",
        "indexing.healthcheck.indexesSeverity",
        "indexer.connectorCreateSettings",
        "elasticsearch.indexCreateSettings",
        "graphdql.federation.enabled",
        "application.name",
        "application.port",
        "graphql.federation.enabled",
    ] {
        let value = match name {
            "application.port" | "task.default.retry.maxRetries" => "1",
            "indexing.healthcheck.indexesSeverity" => "LOW",
            "elasticsearch.indexCreateSettings" | "indexer.connectorCreateSettings" => "{}",
            "application.scheme" => "https",
            "application.address" => "films.example",
            "search.soml.storage.mongodb.writeConcern" => "majority",
            "soml.storage.rdf4j.cluster.unavailableWriteTimeout"
            | "soml.storage.mongodb.serverSelectionTimeout" => "1",
            _ => "true",
        };
        let (_, warnings) = with_flags(&[&format!("{name}={value}")]).unwrap();
        assert!(warnings.len() <= 1, "{name}: {warnings:?}");
    }
    let error = with_flags(&["soml.storage.rdf4j.adress=a"])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("did you mean `soml.storage.rdf4j.address`?"),
        "{error}"
    );
}
