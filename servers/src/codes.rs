//! All codes that a user can see, from all libraries: for `soml explain` and for
//! `docs/diagnostics.md`.

use edge_service::code as edge;
use gateway_service::code as gateway;
use graphql_gen::diff::ChangeCode;
use graphql_gen::typesystem::ProblemKind;
use graphql_http::code as graphql;
use graphql_service::ErrorCode;
use object_service::code as object;
use object_service::folder::code as data_folder;
use rdf_load::code as load;
use search_index::mapping::FindingKind;
use search_service::code as search;
use service_auth::code as auth;
use service_runtime::code as host;
use soml_core::Severity;
use soml_core::access::{READS_OTHERWISE, READS_OTHERWISE_MEANING};
use soml_core::codes::{CODES, CodeInfo};
use soml_data::check::CheckCode;

use crate::config::code as config;

/// Edits that a mistyped code may be away from the one that is meant.
const NEAR: usize = 4;

/// Where a code is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Diagnostics of a SOML document.
    Document,
    /// Conflicts in the GraphQL API that is generated from a document without such errors.
    Api,
    /// Findings about the indexes of a document.
    Indexes,
    /// Changes between two documents.
    Change,
    /// Findings of data checks.
    Data,
    /// Errors in GraphQL responses.
    Answer,
    /// Errors of searches.
    Search,
    /// Errors of the federation gateway.
    Gateway,
    /// Errors of the HTTP layer.
    Http,
    /// Errors of loading data.
    Load,
    /// Errors of the folder that keeps data and schemas.
    Folder,
    /// Errors that stop the start.
    Configuration,
}

impl Area {
    /// All areas, in the order in which they are listed.
    pub const ALL: &'static [Area] = &[
        Area::Document,
        Area::Api,
        Area::Indexes,
        Area::Change,
        Area::Data,
        Area::Answer,
        Area::Search,
        Area::Gateway,
        Area::Http,
        Area::Load,
        Area::Folder,
        Area::Configuration,
    ];

    /// Returns the heading of its codes.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Area::Document => "Diagnostics of a SOML document",
            Area::Api => "Conflicts in the generated GraphQL API",
            Area::Indexes => "Findings about the indexes of a schema",
            Area::Change => "Changes between two SOML documents",
            Area::Data => "Findings of data checks",
            Area::Answer => "Errors in GraphQL responses",
            Area::Search => "Errors of searches",
            Area::Gateway => "Errors of the federation gateway",
            Area::Http => "Errors of the HTTP layer",
            Area::Load => "Errors of loading data",
            Area::Folder => "Errors of data folders",
            Area::Configuration => "Errors of the configuration",
        }
    }
}

/// A code with its documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeEntry {
    /// The code.
    pub name: &'static str,
    /// Where it is used.
    pub area: Area,
    /// The severity, the criticality of a change, or the HTTP status.
    pub level: String,
    /// What it means.
    pub meaning: &'static str,
    /// Explanation and example of a document diagnostic.
    pub info: Option<&'static CodeInfo>,
}

/// Returns all codes, area by area.
pub fn all() -> impl Iterator<Item = CodeEntry> {
    let document = CODES.iter().map(|row| CodeEntry {
        name: row.name,
        area: Area::Document,
        level: row.severity.to_string(),
        meaning: row.title,
        info: Some(row),
    });
    let roles = [CodeEntry {
        level: Severity::Warning.to_string(),
        ..error(READS_OTHERWISE, Area::Document, READS_OTHERWISE_MEANING)
    }];
    let api = ProblemKind::ALL
        .iter()
        .map(|kind| error(kind.code(), Area::Api, kind.meaning()));
    let indexes = FindingKind::ALL.iter().map(|kind| CodeEntry {
        level: kind.severity().to_string(),
        ..error(kind.code(), Area::Indexes, kind.meaning())
    });
    let change = ChangeCode::ALL.iter().map(|code| CodeEntry {
        level: code.criticality().to_string(),
        ..error(code.as_str(), Area::Change, code.meaning())
    });
    let data = CheckCode::ALL.iter().map(|code| CodeEntry {
        level: code.severity().to_string(),
        ..error(code.as_str(), Area::Data, code.meaning())
    });
    let answer = answer_codes().map(|code| error(code.as_str(), Area::Answer, code.meaning()));
    let search = search_index::code::ALL
        .iter()
        .map(|code| error(code.as_str(), Area::Search, code.meaning()));
    let federated = federation::code::ALL
        .iter()
        .map(|code| error(code.as_str(), Area::Gateway, code.meaning()));
    let answer = answer.chain(search).chain(federated);
    let http = http_codes().map(|code| CodeEntry {
        level: code.status().to_string(),
        ..error(code.as_str(), Area::Http, code.meaning())
    });
    let load = load::ALL
        .iter()
        .map(|code| error(code.as_str(), Area::Load, code.meaning()));
    let folder = data_folder::ALL
        .iter()
        .map(|code| error(code.as_str(), Area::Folder, code.meaning()));
    let http = http.chain(load).chain(folder);
    let before = document
        .chain(roles)
        .chain(api)
        .chain(indexes)
        .chain(change);
    let config = config::ALL
        .iter()
        .map(|code| error(code.as_str(), Area::Configuration, code.meaning()));
    before.chain(data).chain(answer).chain(http).chain(config)
}

/// Returns the codes of errors in GraphQL answers.
fn answer_codes() -> impl Iterator<Item = &'static ErrorCode> {
    graphql_service::code::ALL
        .iter()
        .chain(object_engine::code::ALL)
}

/// Returns the codes of errors outside of GraphQL.
fn http_codes() -> impl Iterator<Item = &'static ErrorCode> {
    let services = object::ALL.iter().chain(search::ALL).chain(gateway::ALL);
    let around = graphql::ALL.iter().chain(host::ALL).chain(auth::ALL);
    around.chain(services).chain(edge::ALL)
}

fn error(name: &'static str, area: Area, meaning: &'static str) -> CodeEntry {
    CodeEntry {
        name,
        area,
        level: "error".to_owned(),
        meaning,
        info: None,
    }
}

/// Finds a code by its name, ignoring case; `-` and spaces stand for `_`.
///
/// # Errors
///
/// Returns the most similar known code, if one is similar enough.
pub fn find(name: &str) -> Result<CodeEntry, Option<&'static str>> {
    let wanted = name.trim().to_ascii_uppercase().replace(['-', ' '], "_");
    if let Some(entry) = all().find(|entry| entry.name == wanted) {
        return Ok(entry);
    }
    let near = all()
        .map(|entry| (strsim::damerau_levenshtein(entry.name, &wanted), entry.name))
        .filter(|(distance, near)| *distance <= NEAR.min(near.len() / 2))
        .min();
    Err(near.map(|(_, near)| near))
}

/// Returns the generated part of `docs/diagnostics.md`: tables of the diagnostics of documents and
/// of the generated API, then the explanations.
#[must_use]
pub fn diagnostics_markdown() -> String {
    let mut text = String::from("| code | severity | meaning |\n|---|---|---|\n");
    for row in CODES {
        let anchor = row.name.to_ascii_lowercase();
        text.push_str(&format!(
            "| [`{}`](#{anchor}) | {} | {} |\n",
            row.name, row.severity, row.title
        ));
    }
    text.push_str(&format!(
        "| `{READS_OTHERWISE}` | {} | {} |\n",
        Severity::Warning,
        as_title(READS_OTHERWISE_MEANING)
    ));
    for kind in ProblemKind::ALL {
        text.push_str(&format!(
            "| `{}` | error | {} |\n",
            kind.code(),
            as_title(kind.meaning())
        ));
    }
    for kind in FindingKind::ALL {
        text.push_str(&format!(
            "| `{}` | {} | {} |\n",
            kind.code(),
            kind.severity(),
            as_title(kind.meaning())
        ));
    }
    for row in CODES {
        text.push_str(&format!(
            "\n### {}\n\n{}: {}. {}\n\n```yaml\n{}\n```\n",
            row.name,
            capitalized(row.severity.as_str()),
            row.title,
            row.explanation,
            row.example.trim_end(),
        ));
    }
    text
}

/// Returns the tables of `docs/errors.md`: errors of the HTTP layer, errors in GraphQL responses,
/// then errors of the configuration.
#[must_use]
pub fn errors_markdown() -> String {
    let mut text =
        String::from("## Errors of the HTTP layer\n\n| code | status | meaning |\n|---|---|---|\n");
    for code in http_codes() {
        let status = code.status();
        text.push_str(&format!("| `{code}` | {status} | {} |\n", code.meaning()));
    }
    text.push_str("\n## Errors in GraphQL responses\n\n| code | meaning |\n|---|---|\n");
    for code in answer_codes() {
        text.push_str(&format!("| `{code}` | {} |\n", code.meaning()));
    }
    text.push_str("\n## Errors of searches\n\n| code | meaning |\n|---|---|\n");
    for code in search_index::code::ALL {
        text.push_str(&format!("| `{code}` | {} |\n", code.meaning()));
    }
    text.push_str("\n## Errors of the federation gateway\n\n| code | meaning |\n|---|---|\n");
    for code in federation::code::ALL {
        text.push_str(&format!("| `{code}` | {} |\n", code.meaning()));
    }
    text.push_str("\n## Errors of loading data\n\n| code | meaning |\n|---|---|\n");
    for code in load::ALL {
        text.push_str(&format!("| `{code}` | {} |\n", code.meaning()));
    }
    text.push_str("\n## Errors of data folders\n\n| code | meaning |\n|---|---|\n");
    for code in data_folder::ALL {
        text.push_str(&format!("| `{code}` | {} |\n", code.meaning()));
    }
    text.push_str("\n## Errors of the configuration\n\n| code | meaning |\n|---|---|\n");
    for code in config::ALL {
        text.push_str(&format!("| `{code}` | {} |\n", code.meaning()));
    }
    text
}

/// Returns the table of `docs/changes.md`.
#[must_use]
pub fn changes_markdown() -> String {
    let mut text = String::from("| code | criticality | meaning |\n|---|---|---|\n");
    for code in ChangeCode::ALL {
        text.push_str(&format!(
            "| `{code}` | {} | {} |\n",
            code.criticality(),
            code.meaning()
        ));
    }
    text
}

/// Returns the table of `docs/checks.md`.
#[must_use]
pub fn checks_markdown() -> String {
    let mut text = String::from("| code | severity | meaning |\n|---|---|---|\n");
    for code in CheckCode::ALL {
        text.push_str(&format!(
            "| `{}` | {} | {} |\n",
            code.as_str(),
            code.severity(),
            code.meaning()
        ));
    }
    text
}

/// Returns a sentence as the other titles are written.
fn as_title(sentence: &str) -> String {
    let mut chars = sentence.trim_end_matches('.').chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_areas_use_one_code() {
        let mut seen = HashSet::new();
        for entry in all() {
            assert!(seen.insert(entry.name), "{}", entry.name);
        }
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        assert_eq!(find("DUPLICATE_KEYS").unwrap_err(), Some("DUPLICATE_KEY"));
        assert_eq!(find("CANCELED").unwrap_err(), Some("CANCELLED"));
        assert_eq!(find("XYZ").unwrap_err(), None);
        assert_eq!(find("no-type").unwrap().name, "NO_TYPE");
    }
}
