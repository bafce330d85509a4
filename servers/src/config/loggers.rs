//! What is logged: `logging.level`, and the levels of individual loggers below it.
//!
//! Loggers are the targets of events, which are crates of ours. Names of loggers of the original, which are those of
//! Java packages, stand for the crates that do the same work.

use std::collections::BTreeMap;
use std::fmt::Write;

use service_config::{Named, Property, normalized, segments};
use strsim::normalized_damerau_levenshtein as likeness;

use super::settings::Settings;

/// Targets of events, in the order of their names.
const TARGETS: &[&str] = &[
    // What was changed by whom, in the schemas.
    "audit",
    "call_context",
    "edge_service",
    "federation",
    "gateway_service",
    "graph_store",
    "graphql_http",
    "graphql_service",
    "object_engine",
    "object_service",
    "schema_registry",
    "search_index",
    "search_service",
    "servers",
    "service_auth",
    "service_log",
    "service_runtime",
];

/// Packages of the original, with the targets that they stand for. The first is the one of the interface, the second
/// the one of the original product.
const PACKAGES: &[Package] = &[
    Package {
        names: ["com.vendor", "com.ontotext"],
        targets: TARGETS,
        has_parts: false,
    },
    Package {
        names: ["com.vendor.platform", "com.ontotext.platform"],
        targets: TARGETS,
        has_parts: false,
    },
    Package {
        names: ["com.vendor.platform.search", "com.ontotext.platform.search"],
        targets: &["search_index", "search_service"],
        has_parts: true,
    },
];

/// Likeness from which on a target is suggested for a name.
const LIKE: f64 = 0.6;

/// Characters of a name or a level that are repeated where it is not known.
const QUOTED: usize = 100;

struct Package {
    names: [&'static str; 2],
    targets: &'static [&'static str],
    /// Whether names below it stand for the same.
    has_parts: bool,
}

/// Levels by the names of their loggers (`logging.level.<name>`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggerLevels(BTreeMap<Logger, &'static str>);

/// A logger; later ones are more specific.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Logger {
    /// A package of the original: how many segments it has, its name, and what it stands for.
    Package(usize, String, &'static [&'static str]),
    /// A target of ours.
    Target(&'static str),
}

impl Logger {
    fn targets(&self) -> &[&'static str] {
        match self {
            Logger::Package(_, _, targets) => targets,
            Logger::Target(target) => std::slice::from_ref(target),
        }
    }
}

/// What `logging.level.<name>` does.
pub(super) const LOGGERS: Named<Settings> = Named {
    family: "logging.level.",
    kind: "level",
    doc: "Level of a logger: `TRACE`, `DEBUG`, `INFO`, `WARN`, `ERROR`, `OFF`, or `FATAL`, which means `ERROR`. The \
          name is a target such as `object_engine`, a Java package such as `com.vendor.platform.search`, or `root`, which sets the level \
          of `logging.level` itself.",
    set,
};

/// Returns the property `logging.level`.
pub(super) fn level_property() -> Property<Settings> {
    Property::new(
        "logging.level",
        "level or directives",
        "Log level, or directives such as `info,object_engine=debug`. [`logging.level.NAME`](#levels-of-individual-loggers) \
         sets the level of one logger.",
        |settings: &mut Settings, text| {
            check_directives(text)?;
            text.clone_into(&mut settings.log_level);
            Ok(())
        },
        |settings: &Settings| settings.log_level.clone(),
    )
}

/// Checks directives. A single word is a level: it would be a target otherwise, and nothing else would be logged.
fn check_directives(text: &str) -> Result<(), &'static str> {
    let is_plain = |item: &str| !item.contains(['=', '[']);
    let mut plain = text.split(',').filter(|item| is_plain(item));
    if plain.all(|item| level(item.trim()).is_ok()) && service_log::are_directives(text) {
        return Ok(());
    }
    Err("a level, or directives such as `info,object_engine=debug`")
}

/// Reads a level.
fn level(text: &str) -> Result<&'static str, &'static str> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "trace" => "trace",
        "debug" => "debug",
        "info" => "info",
        "warn" => "warn",
        // Java's word for the worst of errors.
        "error" | "fatal" => "error",
        "off" => "off",
        _ => return Err("`TRACE`, `DEBUG`, `INFO`, `WARN`, `ERROR`, `FATAL` or `OFF`"),
    })
}

/// Sets the level of a logger; returns a warning where there is none of that name.
fn set(settings: &mut Settings, name: &str, text: &str) -> Result<Option<String>, &'static str> {
    let level = level(text)?;
    if normalized(name) == "root" {
        settings.log_level = with_root(&settings.log_level, level);
        return Ok(None);
    }
    Ok(match logger(name) {
        Some(logger) => {
            settings.loggers.0.insert(logger, level);
            None
        }
        None => Some(unknown(name)),
    })
}

/// Returns directives with another level for what none of them is about.
fn with_root(directives: &str, root: &'static str) -> String {
    let others = directives
        .split(',')
        .filter(|item| level(item.trim()).is_err());
    let mut text = root.to_owned();
    for item in others {
        let _ = write!(text, ",{item}");
    }
    text
}

/// Finds the logger called `name`, ignoring case and punctuation.
fn logger(name: &str) -> Option<Logger> {
    let wanted = normalized(name);
    let mut targets = TARGETS.iter();
    if let Some(target) = targets.find(|target| normalized(target) == wanted) {
        return Some(Logger::Target(target));
    }
    let own = segments(name);
    let package = PACKAGES.iter().find(|package| {
        package.names.iter().any(|name| {
            let package_name = segments(name);
            own == package_name || package.has_parts && own.starts_with(&package_name)
        })
    })?;
    Some(Logger::Package(own.len(), own.join("."), package.targets))
}

/// Returns the warning about a name that no logger has.
fn unknown(name: &str) -> String {
    let hint = nearest(name).map(|target| format!("; did you mean `logging.level.{target}`?"));
    let hint = hint.unwrap_or_default();
    format!("`logging.level.{name}` has no effect, since there is no such logger{hint}")
}

/// Returns the target whose name is most like another one.
fn nearest(name: &str) -> Option<&'static str> {
    let best = TARGETS
        .iter()
        .map(|target| (likeness(&normalized(target), &normalized(name)), target))
        .filter(|(like, _)| *like > LIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, target)| *target)
}

/// Returns the levels that directives give the root and each target.
pub(crate) fn levels_of(
    directives: &str,
) -> (&'static str, BTreeMap<&'static str, Option<&'static str>>) {
    let mut root = "off";
    let mut own: BTreeMap<_, _> = TARGETS.iter().map(|target| (*target, None)).collect();
    for item in directives.split(',').map(str::trim) {
        match item.split_once('=') {
            None => root = level(item).unwrap_or(root),
            Some((name, text)) => {
                if let (Some(target), Ok(level)) = (own.get_mut(name), level(text)) {
                    *target = Some(level);
                }
            }
        }
    }
    (root, own)
}

/// Changes the levels of loggers in directives: all of them, or none if a logger or a level is not known. Directives about
/// other things stay.
pub(crate) fn changed<'c>(
    directives: &str,
    root: Option<&str>,
    loggers: impl IntoIterator<Item = (&'c str, Option<&'c str>)>,
) -> Result<String, String> {
    let known = |text: &str| {
        level(text).map_err(|levels| {
            let text: String = text.chars().take(QUOTED).collect();
            format!("`{text}` is not a level; levels are {levels}")
        })
    };
    let mut text = match root {
        Some(root) => with_root(directives, known(root)?),
        None => directives.to_owned(),
    };
    // The more specific logger wins, as in a file.
    let mut levels = BTreeMap::new();
    for (name, level) in loggers {
        let level = level.map(known).transpose()?;
        let found = logger(name).ok_or_else(|| {
            let hint = nearest(name).map(|target| format!("; did you mean `{target}`?"));
            let name: String = name.chars().take(QUOTED).collect();
            format!("there is no logger `{name}`{}", hint.unwrap_or_default())
        })?;
        levels.insert(found, level);
    }
    let mut by_target = BTreeMap::new();
    for (logger, level) in &levels {
        by_target.extend(logger.targets().iter().map(|target| (*target, *level)));
    }
    for (target, level) in by_target {
        let is_other = |item: &&str| {
            let name = item.split_once('=').map(|(name, _)| name.trim());
            name != Some(target)
        };
        text = text
            .split(',')
            .filter(is_other)
            .collect::<Vec<_>>()
            .join(",");
        if let Some(level) = level {
            let _ = write!(text, ",{target}={level}");
        }
    }
    Ok(text)
}

impl LoggerLevels {
    /// Returns each logger with its level, the most specific ones last.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.0.iter().map(|(logger, level)| match logger {
            Logger::Package(_, name, _) => (name.as_str(), *level),
            Logger::Target(target) => (*target, *level),
        })
    }

    /// Adds them to directives, over whose levels for the same targets they win.
    #[must_use]
    pub fn after(&self, directives: &str) -> String {
        let mut levels = BTreeMap::new();
        for (logger, level) in &self.0 {
            levels.extend(logger.targets().iter().map(|target| (*target, *level)));
        }
        let mut text = directives.to_owned();
        for (target, level) in levels {
            let _ = write!(text, ",{target}={level}");
        }
        text
    }
}

/// Returns the table of the names of loggers, in Markdown.
pub(super) fn loggers_table() -> String {
    let code = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    let mut text = String::from(
        "| name | logger |\n|---|---|\n| `root` | all loggers without a level of their own |\n",
    );
    let _ = writeln!(text, "| {} | the one of that name |", code(TARGETS));
    for package in PACKAGES {
        let below = if package.has_parts {
            ", and names below"
        } else {
            ""
        };
        let targets = if package.targets.len() == TARGETS.len() {
            "all of the row above".to_owned()
        } else {
            code(package.targets)
        };
        let _ = writeln!(text, "| {}{below} | {targets} |", code(&package.names));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn directives(pairs: &[(&str, &str)]) -> String {
        let mut settings = Settings::default();
        for (name, level) in pairs {
            assert_eq!(set(&mut settings, name, level), Ok(None), "{name}");
        }
        settings.loggers.after(&settings.log_level)
    }

    #[test]
    fn the_more_specific_logger_wins_in_whatever_order() {
        let platform = ("com.vendor.platform.search", "WARN");
        let part = ("COM_ONTOTEXT_PLATFORM_SEARCH_INDEXER", "debug");
        let target = ("search-service", "Fatal");
        let expected = "info,search_index=debug,search_service=error";
        assert_eq!(directives(&[platform, part, target]), expected);
        assert_eq!(directives(&[target, part, platform]), expected);
        let all = directives(&[("com.vendor.platform", "off"), platform]);
        assert!(all.contains(",object_engine=off,") && all.contains(",search_index=warn,"));
        assert!(service_log::are_directives(&all), "{all}");
    }

    #[test]
    fn the_root_is_the_level_without_a_target() {
        assert_eq!(with_root("info", "warn"), "warn");
        let others = "info,object_engine=debug,[span]=trace";
        assert_eq!(
            with_root(others, "off"),
            "off,object_engine=debug,[span]=trace"
        );
        assert_eq!(directives(&[("ROOT", "Error")]), "error");
    }

    #[test]
    fn an_unknown_logger_is_told_and_its_level_still_checked() {
        let mut settings = Settings::default();
        let warning = set(&mut settings, "searchservise", "INFO")
            .unwrap()
            .unwrap();
        assert!(warning.ends_with("did you mean `logging.level.search_service`?"));
        for name in ["org.springframework", "com.vendor.platform.other", "com"] {
            let warning = set(&mut settings, name, "INFO").unwrap().unwrap();
            assert!(warning.ends_with("no such logger"), "{warning}");
            assert!(set(&mut settings, name, "LOUD").is_err());
        }
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn a_word_that_is_no_level_is_no_directive() {
        for text in [
            "info",
            "WARN,object_engine=debug",
            "off",
            "info,a[b{c=1}]=debug",
        ] {
            assert_eq!(check_directives(text), Ok(()), "{text}");
        }
        for text in ["verbose", "info,object_engine", "object_engine=loud", ""] {
            assert!(check_directives(text).is_err(), "{text}");
        }
    }

    #[test]
    fn levels_change_all_together_or_not_at_all() {
        let before = "info,hyper=warn,object_engine=debug,[span]=trace";
        let (root, own) = levels_of(before);
        assert_eq!((root, own["object_engine"]), ("info", Some("debug")));
        assert_eq!(own["servers"], None);
        let change = [
            ("com.vendor.platform.search", Some("Fatal")),
            ("OBJECT-ENGINE", None),
        ];
        let expected = "warn,hyper=warn,[span]=trace,search_index=error,search_service=error";
        let text = changed(before, Some("WARN"), change).unwrap();
        assert_eq!(text, expected);
        assert!(service_log::are_directives(&text));
        assert_eq!(
            changed(&text, None, [("audit", Some("off"))]).unwrap(),
            format!("{expected},audit=off")
        );
        for (root, name, level, reason) in [
            (
                None,
                "servers",
                "loud",
                "`loud` is not a level; levels are `TRACE`,",
            ),
            (Some("loud"), "servers", "info", "`loud` is not a level"),
            (
                None,
                "serverz",
                "info",
                "there is no logger `serverz`; did you mean `servers`?",
            ),
            (
                None,
                "org.example",
                "info",
                "there is no logger `org.example`",
            ),
        ] {
            let error = changed(before, root, [(name, Some(level))]).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
        assert_eq!(levels_of("object_engine=debug").0, "off");
    }

    #[test]
    fn every_crate_that_logs_is_a_logger() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut crates = Vec::new();
        for entry in fs::read_dir(&root).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            // The one measures, and the other has spans without events.
            if !["benches", "traces"].contains(&name.as_str()) && logs(&entry.path().join("src")) {
                crates.push(name.replace('-', "_"));
            }
        }
        crates.push("audit".to_owned());
        crates.sort();
        assert_eq!(crates, TARGETS);
    }

    /// Returns whether some source in a folder makes events.
    fn logs(folder: &Path) -> bool {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).any(|path| {
            path.is_dir() && logs(&path)
                || path.extension().is_some_and(|it| it == "rs")
                    && fs::read_to_string(&path).unwrap().contains("tracing::")
        })
    }
}
