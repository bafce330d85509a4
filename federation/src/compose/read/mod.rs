//! Reads subgraph schemas, as libraries of any language and version of federation print them.

mod canonical;
mod definitions;
mod inputs;
mod links;
mod visit;

use std::collections::HashSet;

use apollo_compiler::ast::{Definition, Document};
use apollo_compiler::parser::{SourceMap, SourceSpan};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::DiagnosticList;
use apollo_compiler::{Name, Schema};
use graphql_service::Location;
use graphql_service::suggestions::nearest;

pub(super) use links::{Link, LinkVersion, Links, Version};

use super::SubgraphSource;
use super::code::CompositionCode;
use super::facts::fields;
use super::finding::{CompositionError, Place};

/// A subgraph whose schema is valid GraphQL.
#[derive(Debug)]
pub(super) struct Subgraph {
    pub(super) name: String,
    pub(super) url: String,
    /// The value of `join__Graph` that stands for it.
    pub(super) graph: Name,
    pub(super) links: Links,
    /// The directives of federation that it applies, by their names in the specification.
    pub(super) applied: HashSet<&'static str>,
    /// Its types. Directives of federation have the names `federation__…`, root types the usual ones.
    pub(super) schema: Schema,
    /// Types that it extends without defining any of their fields, or has marked with `@extends`.
    pub(super) extended: HashSet<Name>,
    /// Those of them that it does not define at all.
    pub(super) undefined: HashSet<Name>,
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

    /// Returns where it has a field.
    pub(super) fn place_of_field(&self, ty: &str, field: &str) -> Place {
        let fields = self.schema.types.get(ty).and_then(fields);
        let found = fields.and_then(|fields| fields.get(field));
        self.place(found.and_then(|field| field.name.location()))
    }

    /// Returns where it links federation.
    pub(super) fn place_of_link(&self) -> Place {
        let federation = self.links.all.iter().find(|link| link.is_federation());
        self.place(federation.and_then(|link| link.directive.location()))
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

/// Reads a subgraph; `None` if something is wrong with it as GraphQL or with its links, which is reported.
pub(super) fn read(
    source: &SubgraphSource,
    graph: Name,
    errors: &mut Vec<CompositionError>,
) -> Option<Subgraph> {
    let document = match Document::parse(source.sdl.as_str(), source.name.as_str()) {
        Ok(document) => document,
        Err(invalid) => {
            errors.extend(invalid_graphql(&source.name, &invalid.errors));
            return None;
        }
    };
    let mut reading = Reading {
        subgraph: &source.name,
        sources: &document.sources,
        errors: Vec::new(),
    };
    // Links first: they say which names mean directives of federation.
    let links = Links::read(&document, &mut reading);
    let (rewritten, applied) = canonical::rewrite(&document, &links, &mut reading);
    if !reading.errors.is_empty() {
        errors.append(&mut reading.errors);
        return None;
    }
    let schema = match schema(&rewritten) {
        Ok(schema) => schema,
        Err(invalid) => {
            let mut found = invalid_graphql(&source.name, &invalid);
            found.iter_mut().for_each(|error| explain(error, &links));
            errors.append(&mut found);
            return None;
        }
    };
    reading.sources = &schema.sources;
    inputs::check(&schema, &mut reading);
    if !reading.errors.is_empty() {
        errors.append(&mut reading.errors);
        return None;
    }
    let mut undefined = undefined(&rewritten, &schema);
    let types = schema.types.values();
    let marked: Vec<Name> = types
        .filter(|ty| ty.directives().has("federation__extends"))
        .map(|ty| ty.name().clone())
        .collect();
    // In federation 2, `@extends` means no more than `extend`.
    if links.version == Version::One {
        // Libraries print `@extends` for languages without extensions.
        undefined.extend(marked.iter().cloned());
    }
    let extended = undefined
        .iter()
        .cloned()
        .chain(marked)
        .chain(without_fields(&rewritten))
        .collect();
    Some(Subgraph {
        name: source.name.clone(),
        url: source.url.clone(),
        graph,
        links,
        applied,
        schema,
        extended,
        undefined,
    })
}

/// Builds a schema, and validates it as GraphQL.
fn schema(document: &Document) -> Result<Schema, DiagnosticList> {
    let is_defined = |name: &str| {
        let mut definitions = document.definitions.iter();
        definitions.any(|definition| definition.name().is_some_and(|it| it == name))
    };
    let mut builder = Schema::builder()
        // A subgraph may extend types that only others define.
        .adopt_orphan_extensions()
        .ignore_builtin_redefinitions()
        .add_ast(&definitions::SPECIFICATION)
        .add_ast(document)
        .parse(
            // A schema without a query type is no valid GraphQL, and a subgraph need not have
            // queries.
            "extend type Query { _service: _Service! }",
            "entrance.graphql",
        );
    if !is_defined("oneOf") {
        builder = builder.parse("directive @oneOf on INPUT_OBJECT", "oneOf.graphql");
    }
    let built = builder.build().map_err(|invalid| invalid.errors)?;
    let valid = built.validate().map_err(|invalid| invalid.errors)?;
    Ok(valid.into_inner())
}

/// Returns the types that have extensions and no definition.
fn undefined(document: &Document, schema: &Schema) -> HashSet<Name> {
    let defined: HashSet<&Name> = document
        .definitions
        .iter()
        .filter(|definition| !definition.is_extension_definition())
        .filter_map(|definition| definition.name())
        .collect();
    let types = schema.types.values().filter(|ty| is_own(ty));
    let undefined = types.filter(|ty| !defined.contains(ty.name()));
    undefined.map(|ty| ty.name().clone()).collect()
}

/// Returns the objects and interfaces that are defined without a field, so that all of their fields are in extensions.
///
/// Libraries print such a definition beside an extension of federation 1, for tools that know no extensions without a
/// definition. It does not make the fields the subgraph's own, and is a definition all the same: no one else has to
/// define the type.
fn without_fields(document: &Document) -> impl Iterator<Item = Name> {
    let empty = document.definitions.iter().filter_map(|it| match it {
        Definition::ObjectTypeDefinition(object) => {
            object.fields.is_empty().then_some(&object.name)
        }
        Definition::InterfaceTypeDefinition(interface) => {
            interface.fields.is_empty().then_some(&interface.name)
        }
        _ => None,
    });
    empty.cloned()
}

/// Returns whether a type is the subgraph's own, and not there in every subgraph.
pub(super) fn is_own(ty: &ExtendedType) -> bool {
    let name = ty.name().as_str();
    let is_machinery =
        name.starts_with("federation__") || name.starts_with("link__") || name == "_Service";
    !ty.is_built_in() && !is_machinery
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

/// Names directives as the subgraph does, and adds help for those that are not imported.
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
    if definitions::directive_of_specification(&name).is_none() {
        let known = links.directives.keys().map(String::as_str);
        error.help = nearest(&name, known).map(|known| format!("did you mean `@{known}`?"));
    } else {
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
