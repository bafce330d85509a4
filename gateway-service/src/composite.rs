//! The composite schema: subgraph schemas composed, or a supergraph that was composed before, and the gateway that
//! serves it.

use std::collections::BTreeSet;
use std::sync::Arc;

use apollo_compiler::ast::{Definition, Document, OperationType};
use federation::compose::{
    ComposeOptions, CompositionError, CompositionHint, SharedRootFields, SubgraphSource, compose,
};
use federation::transport::SubgraphTransport;
use federation::{Gateway, GatewayOptions, Supergraph, SupergraphError, SupergraphOptions};
use graphql_service::{Service, SlotError, Slots};
use service_runtime::{Example, PrintedSdl, SdlCell};

use super::advice::advice;
use super::examples::example_queries;
use super::supergraph_file::Digest;

/// A composite schema that is served.
pub(crate) struct Composite {
    pub(crate) gateway: Arc<Gateway>,
    /// What it was composed of.
    pub(super) sources: Vec<SubgraphSource>,
    pub(super) hints: Vec<CompositionHint>,
    /// That of the text that it was read from, where it was composed before.
    digest: Option<Digest>,
    pub(crate) label: String,
    /// Sample queries in GraphiQL, the one to begin with first.
    pub(crate) examples: Vec<Example>,
    sdl: SdlCell,
}

/// How a composite schema is made.
pub(super) struct Recipe {
    pub(super) options: GatewayOptions,
    pub(super) mutations: bool,
    /// Whether types that no operation can reach are left out.
    pub(super) prune: bool,
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
    /// The subgraphs that a supergraph names cannot be called.
    Subgraphs(Vec<String>),
}

impl Recipe {
    /// Reads a supergraph. This takes long: see to it that it is in a slot.
    pub(super) fn supergraph(&self, sdl: &str) -> Result<Supergraph, NotComposed> {
        let without;
        let sdl = if self.mutations {
            sdl
        } else {
            without = without_mutations(sdl);
            &without
        };
        let mut options = SupergraphOptions::default();
        options.prune_unreachable_types = self.prune;
        let parsed = Supergraph::parse_with(sdl, "supergraph.graphql", &options);
        parsed.map_err(NotComposed::Unsupported)
    }
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
        let supergraph = recipe.supergraph(&composed.supergraph_sdl)?;
        let composite = Composite::of(supergraph, transport, recipe)?;
        Ok(Composite {
            hints: composed.hints,
            sources,
            ..composite
        })
    }

    /// Serves a supergraph that was read from a text.
    pub(super) fn of_text(
        digest: Digest,
        supergraph: Supergraph,
        transport: Arc<dyn SubgraphTransport>,
        recipe: Recipe,
    ) -> Result<Self, NotComposed> {
        let composite = Composite::of(supergraph, transport, recipe)?;
        Ok(Composite {
            digest: Some(digest),
            ..composite
        })
    }

    fn of(
        supergraph: Supergraph,
        transport: Arc<dyn SubgraphTransport>,
        recipe: Recipe,
    ) -> Result<Self, NotComposed> {
        let mut examples = example_queries(supergraph.api());
        if let Some(query) = recipe.query {
            let title = "Across the services";
            examples.insert(0, Example { title, query });
        }
        let names: Vec<&str> = supergraph
            .subgraphs()
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        for name in recipe.options.entity_memo.except.iter() {
            if !names.contains(&name.as_str()) {
                let known = names.join(", ");
                tracing::warn!(name, known, "`gateway.entityMemo.except` names no subgraph");
            }
        }
        let names = names.join(", ");
        let gateway = Gateway::new(Arc::new(supergraph), transport, recipe.options)
            .map_err(|error| NotComposed::Unsupported(vec![error]))?;
        Ok(Composite {
            gateway: Arc::new(gateway),
            label: format!("composite schema of {names}"),
            hints: Vec::new(),
            sources: Vec::new(),
            digest: None,
            examples,
            sdl: SdlCell::default(),
        })
    }

    /// Returns whether this was read from a text with a digest.
    pub(super) fn is_of(&self, digest: &Digest) -> bool {
        self.digest.as_ref() == Some(digest)
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
                let place = |error: &SupergraphError| match error.location {
                    Some(at) => format!(" (line {}, column {})", at.line, at.column),
                    None => String::new(),
                };
                let help = |error: &SupergraphError| {
                    let help = error.help.as_ref();
                    help.map_or_else(String::new, |help| format!("; help: {help}"))
                };
                let reasons = errors
                    .iter()
                    .map(|it| format!("[{}] {}{}{}", it.code, it.message, place(it), help(it)));
                reasons.collect()
            }
            NotComposed::Subgraphs(reasons) => reasons.clone(),
        }
    }

    /// Returns what everyone may know of the reasons, which the log has: messages can name what clients do not see.
    pub(super) fn public(&self) -> String {
        let codes: BTreeSet<String> = match self {
            NotComposed::Conflicts(errors) => errors.iter().map(|it| it.code.to_string()).collect(),
            NotComposed::Unsupported(errors) => {
                errors.iter().map(|it| it.code.to_string()).collect()
            }
            NotComposed::Subgraphs(_) => {
                return "its subgraphs cannot be called; see the log for the reason".to_owned();
            }
        };
        let codes = codes.into_iter().collect::<Vec<_>>().join(", ");
        format!("{codes}; see the log for details")
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
