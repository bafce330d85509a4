//! Generates supergraphs: consistent by construction, so that every operation can be answered.

mod contexts;
mod entities;
mod fields;
mod interface_objects;
mod requires;
mod roots;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::random_numbers::Random;

/// A generated supergraph.
pub(crate) struct Generated {
    pub(crate) sdl: String,
    /// What is in it, for the table of features.
    pub(crate) features: BTreeSet<&'static str>,
    pub(crate) labels: Vec<String>,
}

pub(crate) struct Entity {
    pub(crate) name: String,
    /// The subgraphs that know it, ascending.
    pub(crate) graphs: Vec<usize>,
    /// One of them that only adds fields: nothing but keys leads to it, so it may not know some objects.
    pub(crate) satellite: Option<usize>,
    pub(crate) keys: BTreeMap<usize, Vec<&'static str>>,
    /// Fields by name: the line without directives, and its directives.
    pub(crate) fields: Vec<FieldText>,
    pub(crate) interfaces: Vec<(String, Vec<usize>)>,
}

impl Entity {
    /// Returns the subgraphs whose fields may lead to it.
    fn leading(&self) -> Vec<usize> {
        let graphs = self.graphs.iter().copied();
        graphs
            .filter(|index| self.satellite != Some(*index))
            .collect()
    }
}

pub(crate) struct FieldText {
    pub(crate) name: String,
    pub(crate) signature: String,
    pub(crate) directives: Vec<String>,
    /// The only subgraph that resolves it, if it is a plain scalar.
    pub(crate) owner: Option<usize>,
    /// The type of its objects and the only subgraph that resolves it.
    pub(crate) objects: Option<(String, usize)>,
}

pub(crate) struct Generator<'r> {
    pub(crate) random: &'r mut Random,
    pub(crate) graphs: usize,
    pub(crate) features: BTreeSet<&'static str>,
    pub(crate) entities: Vec<Entity>,
    /// Names of interfaces and unions, and the subgraphs that know them.
    pub(crate) abstracts: Vec<(String, Vec<usize>)>,
    pub(crate) labels: Vec<String>,
    /// Types with their contexts.
    pub(crate) contexts: Vec<(String, String)>,
    pub(crate) query: Vec<String>,
    pub(crate) mutation: Vec<String>,
    pub(crate) mutation_graphs: BTreeSet<usize>,
    pub(crate) rest: String,
}

const HEAD: &str = r#"schema
  @link(url: "https://specs.apollo.dev/link/v1.0")
  @link(url: "https://specs.apollo.dev/join/v0.5", for: EXECUTION)
  @link(url: "https://specs.apollo.dev/inaccessible/v0.2", for: SECURITY)
  @link(url: "https://specs.apollo.dev/context/v0.1", for: SECURITY)
{ query: Query MUTATION }
directive @inaccessible on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION
directive @context(name: String!) repeatable on INTERFACE | OBJECT | UNION
directive @join__enumValue(graph: join__Graph!) repeatable on ENUM_VALUE
directive @join__field(graph: join__Graph, requires: join__FieldSet, provides: join__FieldSet, type: String, external: Boolean, override: String, usedOverridden: Boolean, overrideLabel: String, contextArguments: [join__ContextArgument!]) repeatable on FIELD_DEFINITION | INPUT_FIELD_DEFINITION
directive @join__graph(name: String!, url: String!) on ENUM_VALUE
directive @join__implements(graph: join__Graph!, interface: String!) repeatable on OBJECT | INTERFACE
directive @join__type(graph: join__Graph!, key: join__FieldSet, extension: Boolean! = false, resolvable: Boolean! = true, isInterfaceObject: Boolean! = false) repeatable on OBJECT | INTERFACE | UNION | ENUM | INPUT_OBJECT | SCALAR
directive @join__unionMember(graph: join__Graph!, member: String!) repeatable on UNION
directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
input join__ContextArgument { name: String! type: String! context: String! selection: join__FieldValue! }
scalar join__FieldSet
scalar join__FieldValue
scalar link__Import
enum link__Purpose { SECURITY EXECUTION }
"#;

/// Generates a supergraph.
pub(crate) fn generate(random: &mut Random) -> Generated {
    let graphs = 2 + random.below(4);
    let mut generator = Generator {
        random,
        graphs,
        features: BTreeSet::new(),
        entities: Vec::new(),
        abstracts: Vec::new(),
        labels: Vec::new(),
        contexts: Vec::new(),
        query: Vec::new(),
        mutation: Vec::new(),
        mutation_graphs: BTreeSet::new(),
        rest: String::new(),
    };
    generator.entities();
    generator.interface();
    generator.union();
    generator.value_type();
    let item = generator.implementing_types();
    generator.fields();
    if let Some(item) = &item {
        generator.interface_object(item);
    }
    generator.requires();
    generator.nested_requires();
    generator.provides();
    generator.overrides();
    generator.roots();
    generator.contexts();
    generator.finish()
}

pub(crate) fn graph(index: usize) -> String {
    format!("G{index}")
}

pub(crate) fn on(index: usize) -> String {
    format!("@join__field(graph: {})", graph(index))
}

impl Generator<'_> {
    fn some_graphs(&mut self) -> Vec<usize> {
        let mut chosen: Vec<usize> = (0..self.graphs)
            .filter(|_| self.random.chance(70))
            .collect();
        if chosen.is_empty() {
            chosen.push(self.random.below(self.graphs));
        }
        chosen
    }

    fn finish(self) -> Generated {
        let mutation = if self.mutation.is_empty() {
            ""
        } else {
            "mutation: Mutation"
        };
        let mut sdl = HEAD.replace("MUTATION", mutation);
        sdl.push_str("enum join__Graph {");
        for index in 0..self.graphs {
            let _ = write!(sdl, " G{index} @join__graph(name: \"g{index}\", url: \"\")");
        }
        sdl.push_str(" }\n");
        for entity in &self.entities {
            let _ = write!(sdl, "type {}", entity.name);
            for (position, (name, _)) in entity.interfaces.iter().enumerate() {
                let word = if position == 0 { "implements" } else { "&" };
                let _ = write!(sdl, " {word} {name}");
            }
            for (name, graphs) in &entity.interfaces {
                for index in graphs {
                    let interface = format!("interface: \"{name}\"");
                    let _ = write!(
                        sdl,
                        " @join__implements(graph: {}, {interface})",
                        graph(*index)
                    );
                }
            }
            for (index, keys) in &entity.keys {
                for key in keys {
                    let _ = write!(
                        sdl,
                        " @join__type(graph: {}, key: \"{key}\")",
                        graph(*index)
                    );
                }
            }
            let contexts = self.contexts.iter();
            for (_, context) in contexts.filter(|(name, _)| *name == entity.name) {
                let _ = write!(sdl, " @context(name: \"{context}\")");
            }
            sdl.push_str(" {\n");
            for field in &entity.fields {
                let _ = writeln!(sdl, "  {} {}", field.signature, field.directives.join(" "));
            }
            sdl.push_str("}\n");
        }
        sdl.push_str(&self.rest);
        for (name, fields) in [("Query", &self.query), ("Mutation", &self.mutation)] {
            if fields.is_empty() {
                continue;
            }
            let _ = write!(sdl, "type {name}");
            for index in 0..self.graphs {
                if name == "Query" || self.mutation_graphs.contains(&index) {
                    let _ = write!(sdl, " @join__type(graph: {})", graph(index));
                }
            }
            let _ = writeln!(sdl, " {{\n  {}\n}}", fields.join("\n  "));
        }
        Generated {
            sdl,
            features: self.features,
            labels: self.labels,
        }
    }
}
