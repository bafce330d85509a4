//! Reads subgraph schemas, as libraries of any language and version of federation print them.

mod canonical;
mod definitions;
mod links;
mod visit;

use std::collections::HashSet;

use apollo_compiler::ast::Document;
use apollo_compiler::parser::{SourceMap, SourceSpan};
use apollo_compiler::validation::DiagnosticList;
use apollo_compiler::{Name, Schema};
use graphql_service::Location;

pub(super) use links::{Link, Links, Version};

use super::SubgraphSource;
use super::code::CompositionCode;
use super::finding::{CompositionError, Place};

/// A subgraph whose schema is valid GraphQL.
#[derive(Debug)]
pub(super) struct Subgraph {
    pub(super) name: String,
    pub(super) url: String,
    /// The value of `join__Graph` that stands for it.
    pub(super) graph: Name,
    pub(super) links: Links,
    /// Its types. Directives of federation have the names `federation__…`, root types the usual ones.
    pub(super) schema: Schema,
    /// Types that it extends without defining them, in GraphQL or by `@extends`.
    pub(super) extended: HashSet<Name>,
}

impl Subgraph {
    pub(super) fn place(&self, span: Option<SourceSpan>) -> Place {
        Place {
            subgraph: self.name.clone(),
            location: Location::of(span, &self.schema.sources),
        }
    }

    pub(super) fn is_federation_1(&self) -> bool {
        self.links.version == Version::One
    }
}

/// What is being read, and what is wrong with it so far.
pub(super) struct Reading<'r> {
    subgraph: &'r str,
    sources: &'r SourceMap,
    errors: Vec<CompositionError>,
}

impl Reading<'_> {
    fn place(&self, span: Option<SourceSpan>) -> Place {
        Place {
            subgraph: self.subgraph.to_owned(),
            location: Location::of(span, self.sources),
        }
    }

    fn report(&mut self, error: CompositionError) {
        self.errors.push(error);
    }
}

/// Reads a subgraph.
///
/// # Errors
/// With everything that is wrong with it as GraphQL, and with its links.
pub(super) fn read(
    source: &SubgraphSource,
    graph: Name,
) -> Result<Subgraph, Vec<CompositionError>> {
    let document = Document::parse(source.sdl.as_str(), source.name.as_str());
    let document = document.map_err(|invalid| invalid_graphql(&source.name, &invalid.errors))?;
    let mut reading = Reading {
        subgraph: &source.name,
        sources: &document.sources,
        errors: Vec::new(),
    };
    let links = Links::read(&document, &mut reading);
    let rewritten = canonical::rewrite(&document, &links, &mut reading);
    if !reading.errors.is_empty() {
        return Err(reading.errors);
    }
    let schema = schema(&rewritten, &links).map_err(|errors| {
        let mut errors = invalid_graphql(&source.name, &errors);
        errors.iter_mut().for_each(|error| explain(error, &links));
        errors
    })?;
    let extended = extended(&rewritten, &schema);
    Ok(Subgraph {
        name: source.name.clone(),
        url: source.url.clone(),
        graph,
        links,
        schema,
        extended,
    })
}

/// Builds a schema, and validates it as GraphQL.
fn schema(document: &Document, links: &Links) -> Result<Schema, DiagnosticList> {
    let is_defined = |name: &str| {
        let mut definitions = document.definitions.iter();
        definitions.any(|definition| definition.name().is_some_and(|it| it == name))
    };
    let mut builder = Schema::builder()
        .adopt_orphan_extensions()
        .ignore_builtin_redefinitions()
        .add_ast(&definitions::SPECIFICATION)
        .add_ast(document)
        .parse(
            "extend type Query { _service: _Service! }",
            "entrance.graphql",
        );
    if !is_defined("oneOf") {
        builder = builder.parse("directive @oneOf on INPUT_OBJECT", "oneOf.graphql");
    }
    let built = builder.build().map_err(|invalid| invalid.errors)?;
    // Interfaces of federation 1 need no implementation of their fields until they are merged.
    let _ = links;
    let valid = built.validate().map_err(|invalid| invalid.errors)?;
    Ok(valid.into_inner())
}

fn extended(document: &Document, schema: &Schema) -> HashSet<Name> {
    let defined: HashSet<&Name> = document
        .definitions
        .iter()
        .filter(|definition| !definition.is_extension_definition())
        .filter_map(|definition| definition.name())
        .collect();
    let types = schema.types.values().filter(|ty| !ty.is_built_in());
    let extended = types
        .filter(|ty| !defined.contains(ty.name()) || ty.directives().has("federation__extends"));
    extended.map(|ty| ty.name().clone()).collect()
}

fn invalid_graphql(subgraph: &str, errors: &DiagnosticList) -> Vec<CompositionError> {
    let errors = errors.iter().map(|finding| {
        let start = finding.line_column_range().map(|range| range.start);
        let location = start.map(|start| Location {
            line: start.line,
            column: start.column,
        });
        let place = Place {
            subgraph: subgraph.to_owned(),
            location,
        };
        CompositionError::new(CompositionCode::INVALID_GRAPHQL, finding.error.to_string()).at(place)
    });
    errors.collect()
}

/// Says directives as the subgraph writes them, and what to do about those that are not imported.
fn explain(error: &mut CompositionError, links: &Links) {
    for (written, canonical) in &links.directives {
        error.message = error
            .message
            .replace(&format!("@federation__{canonical}"), &format!("@{written}"));
    }
    error.message = error.message.replace("federation__", "");
    let Some(name) = unknown_directive(&error.message) else {
        return;
    };
    if definitions::directive_of_specification(&name).is_some() {
        let help = match links.version {
            Version::One => format!(
                "`@{name}` needs federation 2: add `extend schema @link(url: \"https://specs.apollo.dev/federation/v2.9\", import: [\"@{name}\"])`"
            ),
            Version::Two(_) => format!(
                "add `@{name}` to the imports of the link to federation, or write `@federation__{name}`"
            ),
        };
        error.help = Some(help);
    }
}

fn unknown_directive(message: &str) -> Option<String> {
    let rest = message.split("cannot find directive `@").nth(1)?;
    rest.split('`').next().map(str::to_owned)
}
