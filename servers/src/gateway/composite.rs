//! The composite schema: subgraph schemas composed, and the gateway that serves the outcome.

use std::sync::Arc;

use apollo_compiler::ast::{Definition, Document, OperationType};
use federation::compose::{
    ComposeOptions, CompositionError, CompositionHint, SharedRootFields, SubgraphSource, compose,
};
use federation::transport::SubgraphTransport;
use federation::{Gateway, GatewayOptions, Supergraph, SupergraphError};
use graphql_service::{Service, SlotError, Slots};

use super::advice::advice;
use super::examples::example_queries;
use crate::example_queries::Example;
use crate::sdl::{PrintedSdl, SdlCell};

/// A composite schema that is served.
pub(crate) struct Composite {
    pub(crate) gateway: Arc<Gateway>,
    /// What it was composed of.
    pub(super) sources: Vec<SubgraphSource>,
    pub(super) hints: Vec<CompositionHint>,
    pub(crate) label: String,
    /// Sample queries in GraphiQL, the one to begin with first.
    pub(crate) examples: Vec<Example>,
    sdl: SdlCell,
}

/// How a composite schema is made.
pub(super) struct Recipe {
    pub(super) options: GatewayOptions,
    pub(super) mutations: bool,
    /// The sample query to begin with.
    pub(super) query: Option<String>,
}

/// Why there is no composite schema.
#[derive(Debug)]
pub(super) enum NotComposed {
    /// The subgraphs do not fit together.
    Conflicts(Vec<CompositionError>),
    /// They do, and the gateway cannot serve them.
    Unsupported(Vec<SupergraphError>),
}

impl Composite {
    /// Composes subgraphs. This takes long: see to it that it is in a slot.
    pub(super) fn new(
        sources: Vec<SubgraphSource>,
        transport: Arc<dyn SubgraphTransport>,
        recipe: Recipe,
    ) -> Result<Self, NotComposed> {
        let mut how = ComposeOptions::default();
        how.shared_root_fields = SharedRootFields::Reject;
        let composed = compose(&sources, &how).map_err(NotComposed::Conflicts)?;
        let sdl = match recipe.mutations {
            true => composed.supergraph_sdl,
            false => without_mutations(&composed.supergraph_sdl),
        };
        let supergraph = Supergraph::parse(&sdl, "supergraph.graphql");
        let supergraph = Arc::new(supergraph.map_err(NotComposed::Unsupported)?);
        let mut examples = example_queries(supergraph.api());
        if let Some(query) = recipe.query {
            let title = "Across the services";
            examples.insert(0, Example { title, query });
        }
        let gateway = Gateway::new(supergraph, transport, recipe.options);
        let gateway = gateway.map_err(|error| NotComposed::Unsupported(vec![error]))?;
        let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
        Ok(Composite {
            gateway: Arc::new(gateway),
            label: format!("composite schema of {}", names.join(", ")),
            hints: composed.hints,
            sources,
            examples,
            sdl: SdlCell::default(),
        })
    }

    /// Returns the API as a document in the GraphQL schema definition language.
    pub(crate) async fn sdl(&self, slots: &Arc<Slots>) -> Result<PrintedSdl, SlotError> {
        let gateway = Arc::clone(&self.gateway);
        self.sdl
            .get(slots, move || gateway.schema().to_string())
            .await
    }
}

impl NotComposed {
    /// Returns each reason on a line.
    pub(super) fn reasons(&self) -> Vec<String> {
        match self {
            NotComposed::Conflicts(errors) => errors.iter().map(reason).collect(),
            NotComposed::Unsupported(errors) => {
                let reasons = errors.iter();
                reasons
                    .map(|error| format!("[{}] {}", error.code, error.message))
                    .collect()
            }
        }
    }
}

fn reason(error: &CompositionError) -> String {
    let mut text = format!("[{}] {}", error.code, error.message);
    let places = error.places.iter().map(|place| match place.location {
        Some(at) => format!("{}:{}:{}", place.subgraph, at.line, at.column),
        None => place.subgraph.clone(),
    });
    let places: Vec<_> = places.collect();
    if !places.is_empty() {
        text.push_str(&format!(" (at {})", places.join(", ")));
    }
    for help in error.help.iter().cloned().chain(advice(error)) {
        text.push_str(&format!("; help: {help}"));
    }
    text
}

/// Removes the mutation type of a supergraph.
fn without_mutations(sdl: &str) -> String {
    let parsed = Document::parse(sdl, "supergraph.graphql");
    let Ok(mut document) = parsed else {
        // Whoever reads it next says what is wrong with it.
        return sdl.to_owned();
    };
    let mut removed = Vec::new();
    let mut remove =
        |roots: &mut Vec<apollo_compiler::Node<(OperationType, apollo_compiler::Name)>>| {
            roots.retain(|root| {
                let is_mutation = root.0 == OperationType::Mutation;
                if is_mutation {
                    removed.push(root.1.clone());
                }
                !is_mutation
            });
        };
    for definition in &mut document.definitions {
        match definition {
            Definition::SchemaDefinition(schema) => remove(&mut schema.make_mut().root_operations),
            Definition::SchemaExtension(schema) => remove(&mut schema.make_mut().root_operations),
            _ => {}
        }
    }
    document.definitions.retain(|definition| {
        let name = match definition {
            Definition::ObjectTypeDefinition(_) | Definition::ObjectTypeExtension(_) => {
                definition.name()
            }
            _ => None,
        };
        name.is_none_or(|name| !removed.contains(name))
    });
    document.to_string()
}
