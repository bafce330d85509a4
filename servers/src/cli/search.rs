//! `soml search`.

use clap::Args;
use graphql_service::{Request, Service};
use search_index::service::{SearchService, Target};
use serde_json::{Value, json};

use super::config_args::ConfigArgs;
use super::format::Format;
use super::indexing::Searchable;
use super::input::Input;
use super::store::{Opened, StoreArgs, context, over_served, runtime};
use super::{CliError, Console, Exit};
use crate::config::Settings;
use crate::search::{Engines, Storage, indexer_options, service_options};

#[derive(Debug, Args)]
pub(super) struct Search {
    /// The text to find; it may have typing errors.
    #[arg(value_name = "TEXT")]
    text: String,
    /// The objects to search, by their GraphQL name; may be left out where only one is searched.
    #[arg(long, value_name = "NAME")]
    object: Option<String>,
    /// Maximum number of hits.
    #[arg(long, value_name = "N", default_value = "10")]
    size: usize,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    config: ConfigArgs,
}

/// What of the API a search needs.
struct Subject {
    root: String,
    /// The field of a hit that holds the object.
    object: String,
    /// Properties that are searched as text.
    texts: Vec<String>,
    /// The property that says what an object is, and whether it has languages.
    label: Option<(String, bool)>,
}

impl Search {
    /// Prints the hits; none are a success too.
    pub(super) fn run(self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let settings = self.config.told(console)?;
        self.input.check_against(&settings)?;
        let (schema, Opened { store, .. }) =
            over_served(&self.input, &StoreArgs::none(), &settings, console)?;
        let engines = Engines::open(&settings, &Storage::Memory)?;
        runtime()?.block_on(async {
            let engine = engines.written();
            let searchable = Searchable::new(schema.soml, &engine, &settings, console).await?;
            let report = searchable
                .build(store, engine, indexer_options(&settings), console)
                .await?;
            let targets = report.objects.into_iter().map(|o| Target::Ready(o.index));
            let service = SearchService::new(
                searchable.api,
                engines.searched(),
                targets.collect(),
                service_options(&settings),
            );
            self.search(&service, &settings, console).await
        })
    }

    async fn search(
        &self,
        service: &SearchService,
        settings: &Settings,
        console: &mut Console<'_>,
    ) -> Result<Exit, CliError> {
        let subject = self.subject(service)?;
        let mut request = Request::new(subject.query(self.size));
        let variables = json!({ "text": self.text });
        request.variables = serde_json::from_value(variables).ok();
        let response = service.respond(request, context(settings)).await;
        let body = response.body.to_bytes();
        match self.format {
            Format::Json => {
                console.out.write_all(&body)?;
                writeln!(console.out)?;
            }
            Format::Text => print(&subject, &body, console)?,
        }
        super::query::exit_of(&body)
    }

    /// Finds what is searched in the API.
    fn subject(&self, service: &SearchService) -> Result<Subject, CliError> {
        let api = service.api();
        let indexes = &api.indexes().indexes;
        let names: Vec<_> = indexes.iter().map(|index| index.name.as_str()).collect();
        let found = match &self.object {
            Some(name) => names.iter().position(|one| one.eq_ignore_ascii_case(name)),
            None if names.len() == 1 => Some(0),
            None => None,
        };
        let found = found.and_then(|at| Some((&indexes[at], api.field_names(at)?)));
        let (index, (root, object)) = found.ok_or_else(|| {
            let names = names.join(", ");
            CliError::Usage(format!("name what to search by --object: one of {names}"))
        })?;
        let leaves = index.fields.fields.iter();
        let leaves = leaves.filter_map(|(name, field)| Some((name, field.leaf()?)));
        let texts: Vec<_> = leaves.filter(|(_, leaf)| leaf.is_text()).collect();
        let label = texts
            .iter()
            .find(|(name, _)| *name == "name")
            .or_else(|| texts.first());
        Ok(Subject {
            root: root.to_owned(),
            object: object.to_owned(),
            label: label.map(|(name, leaf)| {
                let is_language = matches!(leaf, search_index::mapping::Leaf::Language { .. });
                ((*name).clone(), is_language)
            }),
            texts: texts.iter().map(|(name, _)| (*name).clone()).collect(),
        })
    }
}

impl Subject {
    /// Returns a search of the text in all properties; objects that have it in several are better.
    fn query(&self, size: usize) -> String {
        let Subject { root, object, .. } = self;
        let clauses = self.texts.iter();
        let clauses: Vec<_> = clauses
            .map(|name| format!("{{match: {{{name}: {{query: $text, fuzziness: \"AUTO\"}}}}}}"))
            .collect();
        let label = match &self.label {
            Some((name, true)) => format!("{name} {{ value lang }}"),
            Some((name, false)) => name.clone(),
            None => String::new(),
        };
        let clauses = clauses.join(" ");
        format!(
            "query ($text: Search_Value!) {{ {root}(size: {size}, query: {{bool: {{should: [{clauses}]}}}}) \
             {{ total {{ value }} hits {{ score {object} {{ id {label} }} }} }} }}"
        )
    }
}

fn print(subject: &Subject, body: &[u8], console: &mut Console<'_>) -> Result<(), CliError> {
    let answer: Value = serde_json::from_slice(body)
        .map_err(|error| CliError::Input(format!("the response is not JSON: {error}")))?;
    for error in answer["errors"].as_array().into_iter().flatten() {
        let message = error["message"].as_str().unwrap_or_default();
        writeln!(console.err, "error: {message}")?;
    }
    let found = &answer["data"][&subject.root];
    if let Some(total) = found["total"]["value"].as_u64() {
        writeln!(console.out, "{total} found")?;
    }
    for hit in found["hits"].as_array().into_iter().flatten() {
        let object = &hit[&subject.object];
        let label = subject.label.as_ref().map(|(name, _)| shown(&object[name]));
        let score = hit["score"].as_f64().unwrap_or_default();
        let id = object["id"].as_str().unwrap_or_default();
        writeln!(
            console.out,
            "{score:.3}  {id}  {}",
            label.unwrap_or_default()
        )?;
    }
    Ok(())
}

/// Returns a value, or the first of several.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.first().map(shown).unwrap_or_default(),
        Value::Object(literal) => literal.get("value").map(shown).unwrap_or_default(),
        other => other.to_string(),
    }
}
