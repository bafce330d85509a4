//! Configurations of repositories: the built-in ones in Turtle, and checks of a user's.

use graph_store::remote::http::ServerKind;
use oxrdf::Term;
use oxrdfio::{RdfFormat, RdfParser};

use super::options::{Rdf4jOptionsError, Rdf4jSchemaOptions};

/// What stands for the name of the repository.
const PLACEHOLDER: &str = "%id%";

/// The property that names a repository, in the vocabulary that all servers know, and in that of RDF4J 4.3 and later.
const NAMES: [&str; 2] = [
    "http://www.openrdf.org/config/repository#repositoryID",
    "tag:rdf4j.org,2023:config/rep.id",
];

/// A configuration, and what it is called in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    pub(super) title: &'static str,
    pub(super) text: String,
}

/// Returns the configurations that are tried on a server of a kind, in this order.
pub(super) fn templates(options: &Rdf4jSchemaOptions, kind: ServerKind) -> Vec<Template> {
    let custom = options
        .repository_config
        .as_deref()
        .map(|text| ("the configuration of the options", text));
    // Servers that do not know a type refuse it, but only GraphDB knows those of GraphDB.
    let graphdb = match kind {
        ServerKind::GraphDb => &GRAPHDB[..],
        _ => &[],
    };
    let defaults = graphdb
        .iter()
        .chain([&MEMORY])
        .copied()
        .filter(|_| options.uses_defaults());
    let all = custom.into_iter().chain(defaults);
    all.map(|(title, text)| Template {
        title,
        text: text.replace(PLACEHOLDER, options.repository()),
    })
    .collect()
}

/// Checks that a name can be written into a configuration.
pub(super) fn check_name(name: &str) -> Result<(), Rdf4jOptionsError> {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.chars().all(is_fit) {
        return Ok(());
    }
    Err(Rdf4jOptionsError::RepositoryName {
        name: name.to_owned(),
    })
}

/// Checks that a configuration is that of a repository.
pub(super) fn check(config: &str, repository: &str) -> Result<(), Rdf4jOptionsError> {
    let text = config.replace(PLACEHOLDER, repository);
    let mut is_named = false;
    // Servers resolve relative IRIs as they like.
    let parser = RdfParser::from_format(RdfFormat::Turtle)
        .with_base_iri("urn:configuration:")
        .map_err(|error| Rdf4jOptionsError::ConfigSyntax {
            cause: error.to_string(),
        })?;
    for quad in parser.for_slice(text.as_bytes()) {
        let quad = quad.map_err(|error| Rdf4jOptionsError::ConfigSyntax {
            cause: error.to_string(),
        })?;
        if !NAMES.contains(&quad.predicate.as_str()) {
            continue;
        }
        is_named = true;
        let found = match &quad.object {
            Term::Literal(name) => name.value().to_owned(),
            other => other.to_string(),
        };
        if found != repository {
            return Err(Rdf4jOptionsError::ConfigName {
                found,
                repository: repository.to_owned(),
            });
        }
    }
    if is_named {
        Ok(())
    } else {
        Err(Rdf4jOptionsError::ConfigUnnamed {
            repository: repository.to_owned(),
        })
    }
}

type BuiltIn = (&'static str, &'static str);

/// Nothing is inferred, and all graphs are indexed. Versions know one of the last two: free editions up to 9, and all
/// from 10 on.
const GRAPHDB: [BuiltIn; 3] = [
    (
        "a worker of a GraphDB cluster",
        include_str!("templates/graphdb-worker.ttl"),
    ),
    (
        "a GraphDB repository",
        include_str!("templates/graphdb.ttl"),
    ),
    (
        "a repository of GraphDB Free",
        include_str!("templates/graphdb-free.ttl"),
    ),
];

/// It writes each commit to the disk: a store of schemas must not forget them.
const MEMORY: BuiltIn = (
    "a repository in memory that is kept on disk",
    include_str!("templates/memory.ttl"),
);

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(options: &Rdf4jSchemaOptions, kind: ServerKind) -> Vec<&'static str> {
        let templates = templates(options, kind).into_iter();
        templates.map(|template| template.title).collect()
    }

    #[test]
    fn built_in_configurations_are_turtle_with_the_name_of_the_repository() {
        let mut options = Rdf4jSchemaOptions::new("app");
        for name in [None, Some("other")] {
            options.connection.repository = name.map(str::to_owned);
            let templates = templates(&options, ServerKind::GraphDb);
            assert_eq!(templates.len(), 4);
            for template in templates {
                check(&template.text, options.repository()).expect(template.title);
            }
        }
    }

    #[test]
    fn the_own_configuration_comes_first_and_the_built_in_ones_only_if_they_are_enabled() {
        let own = "[] <http://www.openrdf.org/config/repository#repositoryID> '%id%' .";
        let with = |config: Option<&str>, disable_default| Rdf4jSchemaOptions {
            repository_config: config.map(str::to_owned),
            disable_default,
            ..Rdf4jSchemaOptions::new("app")
        };
        let own_title = "the configuration of the options";
        let built_in = [GRAPHDB[0].0, GRAPHDB[1].0, GRAPHDB[2].0, MEMORY.0];
        let all = [&[own_title], &built_in[..]].concat();
        for (options, expected) in [
            (with(None, None), &built_in[..]),
            (with(None, Some(false)), &built_in),
            (with(None, Some(true)), &[]),
            (with(Some(own), None), &[own_title]),
            (with(Some(own), Some(true)), &[own_title]),
            (with(Some(own), Some(false)), &all),
        ] {
            assert_eq!(titles(&options, ServerKind::GraphDb), expected);
        }
        assert_eq!(titles(&with(None, None), ServerKind::Rdf4j), [MEMORY.0]);
        let text = &templates(&with(Some(own), None), ServerKind::Rdf4j)[0].text;
        assert!(text.contains("'svc-system'"), "{text}");
    }

    #[test]
    fn a_configuration_is_that_of_the_repository_in_either_vocabulary() {
        const OLD: &str = "http://www.openrdf.org/config/repository#repositoryID";
        const NEW: &str = "tag:rdf4j.org,2023:config/rep.id";
        for property in [OLD, NEW] {
            let config = |name: &str| format!("<#x> <{property}> \"{name}\" .");
            for fit in ["%id%", "schemas"] {
                check(&config(fit), "schemas").expect(fit);
            }
            let other = check(&config("other"), "schemas");
            let message = other.expect_err("it is another one").to_string();
            assert!(
                message.contains("`other`") && message.contains("`schemas`"),
                "{message}"
            );
        }
        let unnamed = check("[] a <urn:x> .", "schemas");
        assert!(
            matches!(unnamed, Err(Rdf4jOptionsError::ConfigUnnamed { .. })),
            "{unnamed:?}"
        );
        let damaged = check("[] a ", "schemas");
        assert!(
            matches!(damaged, Err(Rdf4jOptionsError::ConfigSyntax { .. })),
            "{damaged:?}"
        );
    }

    #[test]
    fn names_that_would_break_a_configuration_are_refused() {
        for fit in ["svc-system", "a_b.c", "0"] {
            check_name(fit).expect(fit);
        }
        for unfit in ["", "a b", "x\" ; y", "a/b", "ä"] {
            assert!(check_name(unfit).is_err(), "{unfit}");
        }
    }
}
