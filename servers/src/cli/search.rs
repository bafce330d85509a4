//! `soml search`.

use clap::Args;
use graphql_service::{Request, Service};
use search_index::apollo_compiler::Schema;
use search_index::apollo_compiler::ast::FieldDefinition;
use search_index::service::{SearchService, SearchTarget};
use search_service::{Engines, Storage};
use serde_json::{Value, json};

use super::config_args::ConfigArgs;
use super::format::Format;
use super::index_build::{Searchable, build};
use super::input::Input;
use super::remote::{RemoteService, TokenArgs};
use super::store::{Opened, StoreArgs, context, over_served, runtime};
use super::{CliError, Console, Exit};

/// Flags about a schema and data, which a running service has of its own.
const NO_DATA: [&str; 9] = [
    "demo",
    "schema",
    "data",
    "base",
    "data_format",
    "context",
    "strict",
    "config",
    "set",
];

#[derive(Debug, Args)]
pub(super) struct Search {
    /// The text to find; typos are tolerated.
    #[arg(value_name = "TEXT")]
    text: String,
    /// GraphQL name of the objects to search; optional if only one kind of object is searchable.
    #[arg(long, value_name = "NAME")]
    object: Option<String>,
    /// Maximum number of hits.
    #[arg(long, value_name = "N", default_value = "10")]
    size: usize,
    /// Output format.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Address of a running search service to ask, instead of a schema and data.
    #[arg(long, value_name = "URL", conflicts_with_all = NO_DATA)]
    url: Option<String>,
    #[command(flatten)]
    token: TokenArgs,
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
        match &self.url {
            Some(url) => runtime()?.block_on(self.ask(url, console)),
            None => self.find(console),
        }
    }

    /// Asks a running service.
    async fn ask(&self, url: &str, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let service = RemoteService::new(url, &self.token)?;
        let sdl = service.get("/schema.graphql", &[], "text/plain").await?;
        let sdl = String::from_utf8_lossy(&sdl);
        let schema = Schema::parse_and_validate(sdl, "schema.graphql");
        let schema = schema.map_err(|_| {
            let message = "its schema cannot be read; is this the address of a search service?";
            CliError::Service(message.to_owned())
        })?;
        let subject = self.subject(&schema)?;
        let variables = json!({ "text": self.text });
        let request = json!({ "query": subject.query(self.size), "variables": variables });
        let body = service.query(&request).await?;
        self.show(&subject, &body, console)
    }

    /// Indexes the data, and searches them.
    fn find(&self, console: &mut Console<'_>) -> Result<Exit, CliError> {
        let settings = self.config.told(console)?;
        self.input.check_against(&settings)?;
        let (schema, Opened { store, .. }) =
            over_served(&self.input, &StoreArgs::none(), &settings, console)?;
        let engines = Engines::open(&settings.engine_options(), &Storage::Memory)?;
        runtime()?.block_on(async {
            let engine = engines.written();
            let searchable = Searchable::new(schema.soml, &engine, &settings, console).await?;
            let options = settings.search_options().indexer(&settings.name);
            let indexer = searchable.indexer(store, engine, options);
            let report = build(&indexer, console).await?;
            let targets = report
                .objects
                .into_iter()
                .map(|o| SearchTarget::Ready(o.index));
            let service = SearchService::new(
                searchable.api,
                engines.searched(),
                targets.collect(),
                settings.search_options().service(&settings.limits),
            );
            let subject = self.subject(service.api().schema())?;
            let mut request = Request::new(subject.query(self.size));
            let variables = json!({ "text": self.text });
            request.variables = serde_json::from_value(variables).ok();
            let response = service.respond(request, context(&settings)).await;
            self.show(&subject, &response.body.to_bytes(), console)
        })
    }

    fn show(
        &self,
        subject: &Subject,
        body: &[u8],
        console: &mut Console<'_>,
    ) -> Result<Exit, CliError> {
        match self.format {
            Format::Json => {
                console.out.write_all(body)?;
                writeln!(console.out)?;
            }
            Format::Text => print(subject, body, console)?,
        }
        super::query::exit_of(body)
    }

    /// Finds what is searched in the API.
    fn subject(&self, schema: &Schema) -> Result<Subject, CliError> {
        let subjects: Vec<_> = subjects(schema).collect();
        let found = match (&self.object, subjects.as_slice()) {
            (Some(name), all) => all.iter().find(|(one, _)| one.eq_ignore_ascii_case(name)),
            (None, [one]) => Some(one),
            (None, _) => None,
        };
        if let Some((name, root)) = found {
            return Ok(Subject::new(schema, name, root));
        }
        if subjects.is_empty() {
            let message = "its schema has no searches; is this the address of a search service?";
            return Err(CliError::Service(message.to_owned()));
        }
        let names: Vec<_> = subjects.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        Err(CliError::Usage(format!(
            "name what to search with --object: one of {names}"
        )))
    }
}

/// Returns the objects that an API searches, each with its root field.
fn subjects(schema: &Schema) -> impl Iterator<Item = (&str, &FieldDefinition)> {
    let query = schema.get_object("Query").into_iter();
    query
        .flat_map(|query| query.fields.values())
        .filter_map(|root| {
            let ty = root.ty.inner_named_type().as_str();
            Some((ty.strip_suffix("_Search_Result")?, &***root))
        })
}

impl Subject {
    fn new(schema: &Schema, name: &str, root: &FieldDefinition) -> Self {
        let hit = schema.get_object(&format!("{name}_Search_Hit"));
        let fields = hit.into_iter().flat_map(|hit| &hit.fields);
        let own = ["id", "score", "sort"];
        let mut object = fields
            .filter(|(field, _)| !own.contains(&field.as_str()))
            .map(|(field, of)| (field.as_str(), of.ty.inner_named_type()));
        let (object, ty) = object.next().unzip();
        let clause = schema.get_input_object(&format!("{name}_Search_Match"));
        // Text has its whole values beside it, or languages.
        let keys = clause.into_iter().flat_map(|clause| {
            let texts = clause.fields.iter().filter(|(key, field)| {
                let has_whole = clause
                    .fields
                    .contains_key(format!("{key}_keyword").as_str());
                has_whole || field.ty.inner_named_type() == "Search_LanguageMatch"
            });
            texts.map(|(key, _)| key.to_string())
        });
        let texts: Vec<_> = keys.collect();
        // References have no properties.
        let shown = ty.and_then(|ty| schema.get_object(ty));
        let label = shown.and_then(|shown| {
            let first = texts
                .iter()
                .find(|key| *key == "name")
                .or_else(|| texts.first());
            let field = shown.fields.get(first?.as_str())?;
            let is_language = field.ty.inner_named_type() == "Literal";
            Some((field.name.to_string(), is_language))
        });
        Subject {
            root: root.name.to_string(),
            object: object.unwrap_or_default().to_owned(),
            texts,
            label,
        }
    }

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
