//! A document in which the directives of federation have the names `federation__…`, and root types the usual ones.
//!
//! Whatever names a subgraph has imported, the rest of composition finds directives under one name, and never takes
//! one of the subgraph's own for them.

use std::collections::{HashMap, HashSet};

use apollo_compiler::ast::{self, Definition, DirectiveList, Document, OperationType};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::{Name, Node, name};

use super::links::Links;
use super::visit::{Visitor, visit};
use super::{Reading, definitions};
use crate::compose::code::CompositionCode;
use crate::compose::finding::CompositionError;

/// What rewritten names begin with.
const PREFIX: &str = "federation__";

/// The minor version of federation 2 that brought labels of `@override`.
const LABELS_SINCE: u32 = 7;

/// What is not defined by subgraphs, whoever writes it down.
const MACHINERY: [&str; 4] = ["_Service", "_Entity", "link__Import", "link__Purpose"];

/// Fields of the query type that every subgraph has, whether it says so or not.
const ENTRANCES: [&str; 2] = ["_service", "_entities"];

/// Rewrites a document; returns also which directives of federation it applies, by their names in the specification.
pub(super) fn rewrite(
    document: &Document,
    links: &Links,
    reading: &mut Reading<'_>,
) -> (Document, HashSet<&'static str>) {
    let mut renamed = Renamed {
        links,
        types: root_types(document, reading),
        applied: HashSet::new(),
        unknown: Vec::new(),
    };
    let mut out = Document {
        sources: document.sources.clone(),
        definitions: Vec::with_capacity(document.definitions.len()),
    };
    for definition in &document.definitions {
        if is_of_federation(definition, links) {
            definitions::check(definition, links, reading);
            continue;
        }
        let mut definition = definition.clone();
        visit(&mut definition, &mut renamed);
        if let Some(definition) = without_machinery(definition) {
            out.definitions.push(definition);
        }
    }
    for (name, span) in renamed.unknown {
        let message = format!("cannot find `{name}` in what the subgraph links of federation");
        let error = CompositionError::new(CompositionCode::INVALID_GRAPHQL, message);
        reading.report(error.at(reading.place(span)));
    }
    (out, renamed.applied)
}

struct Renamed<'l> {
    links: &'l Links,
    types: HashMap<Name, Name>,
    applied: HashSet<&'static str>,
    /// Names that look as if they were rewritten already.
    unknown: Vec<(String, Option<SourceSpan>)>,
}

impl Visitor for Renamed<'_> {
    fn directives(&mut self, directives: &mut DirectiveList) {
        for directive in directives.iter_mut() {
            let canonical = self.links.directives.get(directive.name.as_str());
            if let Some(canonical) = canonical {
                let is_early = self.links.minor().is_some_and(|minor| minor < LABELS_SINCE);
                let label = directive.specified_argument_by_name("label");
                if let Some(label) = label.filter(|_| *canonical == "override" && is_early) {
                    let name = format!("label of @{}", directive.name);
                    self.unknown.push((name, label.location()));
                }
                directive.make_mut().name = of_federation(canonical);
                self.applied.insert(canonical);
            } else if is_rewritten(&directive.name) {
                let name = format!("@{}", directive.name);
                self.unknown.push((name, directive.location()));
            }
        }
    }

    fn type_name(&mut self, name: &mut Name) {
        if let Some(other) = self.types.get(name.as_str()) {
            *name = other.clone();
        } else if let Some(canonical) = self.links.types.get(name.as_str()) {
            *name = of_federation(canonical);
        } else if is_rewritten(name) {
            self.unknown.push((name.to_string(), name.location()));
        }
    }
}

fn is_rewritten(name: &str) -> bool {
    name.starts_with(PREFIX)
}

fn of_federation(name: &str) -> Name {
    Name::new_unchecked(&format!("{PREFIX}{name}"))
}

/// Returns whether a definition is one of federation, or of linking.
fn is_of_federation(definition: &Definition, links: &Links) -> bool {
    let Some(name) = definition.name() else {
        return false;
    };
    match definition {
        Definition::DirectiveDefinition(_) => {
            links.directives.contains_key(name.as_str()) || name == "link" || name == "core"
        }
        _ => links.types.contains_key(name.as_str()) || MACHINERY.contains(&name.as_str()),
    }
}

/// Takes away what is there in every subgraph; a schema definition is an extension, as root types have their usual
/// names.
fn without_machinery(mut definition: Definition) -> Option<Definition> {
    match &mut definition {
        Definition::SchemaDefinition(schema) => {
            let extension = ast::SchemaExtension {
                directives: schema.directives.clone(),
                root_operations: Vec::new(),
            };
            let node = match schema.location() {
                Some(location) => Node::new_parsed(extension, location),
                None => Node::new(extension),
            };
            return (!schema.directives.is_empty()).then_some(Definition::SchemaExtension(node));
        }
        Definition::SchemaExtension(schema) => schema.make_mut().root_operations.clear(),
        Definition::ObjectTypeDefinition(object) if object.name == "Query" => {
            object
                .make_mut()
                .fields
                .retain(|field| !ENTRANCES.contains(&field.name.as_str()));
        }
        Definition::ObjectTypeExtension(object) if object.name == "Query" => {
            object
                .make_mut()
                .fields
                .retain(|field| !ENTRANCES.contains(&field.name.as_str()));
        }
        _ => {}
    }
    Some(definition)
}

/// Returns which names of root types are to become the usual ones.
fn root_types(document: &Document, reading: &mut Reading<'_>) -> HashMap<Name, Name> {
    let operations = document
        .definitions
        .iter()
        .flat_map(|definition| match definition {
            Definition::SchemaDefinition(schema) => schema.root_operations.as_slice(),
            Definition::SchemaExtension(schema) => schema.root_operations.as_slice(),
            _ => &[],
        });
    let operations: Vec<_> = operations.collect();
    let mut renamed = HashMap::new();
    if operations.is_empty() {
        return renamed;
    }
    let usual = [
        (
            OperationType::Query,
            name!("Query"),
            CompositionCode::ROOT_QUERY_USED,
        ),
        (
            OperationType::Mutation,
            name!("Mutation"),
            CompositionCode::ROOT_MUTATION_USED,
        ),
        (
            OperationType::Subscription,
            name!("Subscription"),
            CompositionCode::ROOT_SUBSCRIPTION_USED,
        ),
    ];
    for (operation, usual, code) in usual {
        let root = operations
            .iter()
            .find(|node| node.0 == operation)
            .map(|node| &node.1);
        if root == Some(&usual) {
            continue;
        }
        let mut defined = document.definitions.iter();
        let is_type = |definition: &&Definition| {
            definition.name() == Some(&usual)
                && !matches!(definition, Definition::DirectiveDefinition(_))
        };
        // Supergraphs have the usual names of root types, so no other type can have them.
        if let Some(other) = defined.find(is_type) {
            let message = format!("the type `{usual}` is not the {operation} type of the subgraph");
            let error = CompositionError::new(code, message).about(usual.as_str());
            let help = "composed schemas use this name for the root type: rename the type";
            reading.report(error.at(reading.place(other.location())).help(help));
            continue;
        }
        if let Some(root) = root {
            renamed.insert(root.clone(), usual);
        }
    }
    renamed
}
