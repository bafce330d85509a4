//! Generates operations over an API schema.

use std::collections::BTreeSet;
use std::fmt::Write;

use apollo_compiler::schema::{ExtendedType, FieldDefinition};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use serde_json::{Map, Value as Json, json};

use crate::random_numbers::Random;

/// A generated operation.
pub(crate) struct Operation {
    pub(crate) text: String,
    pub(crate) variables: Map<String, Json>,
    pub(crate) features: BTreeSet<&'static str>,
}

struct Writer<'o> {
    schema: &'o Schema,
    random: &'o mut Random,
    definitions: Vec<String>,
    variables: Map<String, Json>,
    features: BTreeSet<&'static str>,
    /// Fields that may still be written.
    room: usize,
    aliases: usize,
}

/// Generates a valid operation.
pub(crate) fn generate(schema: &Valid<Schema>, random: &mut Random) -> Operation {
    loop {
        // Fields of different types may come to the same key.
        let operation = attempt(schema, random);
        if ExecutableDocument::parse_and_validate(schema, &operation.text, "op.graphql").is_ok() {
            return operation;
        }
    }
}

fn attempt(schema: &Schema, random: &mut Random) -> Operation {
    let has_mutation = schema.schema_definition.mutation.is_some();
    let is_mutation = has_mutation && random.chance(40);
    let root = if is_mutation { "Mutation" } else { "Query" };
    let mut writer = Writer {
        schema,
        random,
        definitions: Vec::new(),
        variables: Map::new(),
        features: BTreeSet::new(),
        room: 24,
        aliases: 0,
    };
    if is_mutation {
        writer.features.insert("mutations");
    }
    let set = writer.set(root, 0);
    let kind = if is_mutation { "mutation" } else { "query" };
    let head = if writer.definitions.is_empty() {
        kind.to_owned()
    } else {
        format!("{kind}({})", writer.definitions.join(", "))
    };
    Operation {
        text: format!("{head} {set}"),
        variables: writer.variables,
        features: writer.features,
    }
}

impl Writer<'_> {
    fn set(&mut self, ty: &str, depth: usize) -> String {
        let definition = self.schema.types[ty].clone();
        let mut out = String::from("{");
        let fields: Vec<FieldDefinition> = match &definition {
            ExtendedType::Object(object) => {
                object.fields.values().map(|f| (*f.node).clone()).collect()
            }
            ExtendedType::Interface(interface) => interface
                .fields
                .values()
                .map(|f| (*f.node).clone())
                .collect(),
            _ => Vec::new(),
        };
        if fields.is_empty() || self.random.chance(15) {
            out.push_str(" __typename");
        }
        let wanted = 1 + self.random.below(if depth == 0 { 3 } else { 4 });
        for _ in 0..wanted {
            if fields.is_empty() {
                break;
            }
            let field = self.random.pick(&fields).clone();
            self.field(&field, depth, &mut out);
        }
        if !matches!(definition, ExtendedType::Object(_)) {
            self.fragments(ty, depth, &mut out);
        } else if self.random.chance(10) && self.room > 0 {
            let condition = self.condition();
            let inner = self.set(ty, depth + 1);
            let _ = write!(out, " ...{condition} {inner}");
        }
        if out == "{" {
            out.push_str(" __typename");
        }
        out.push_str(" }");
        out
    }

    fn fragments(&mut self, ty: &str, depth: usize, out: &mut String) {
        let implementers = self.schema.implementers_map();
        let members: Vec<String> = match &self.schema.types[ty] {
            ExtendedType::Union(union) => {
                union.members.iter().map(|m| m.name.to_string()).collect()
            }
            _ => match implementers.get(ty) {
                Some(some) => some.objects.iter().map(|name| name.to_string()).collect(),
                None => Vec::new(),
            },
        };
        for member in members {
            if self.random.chance(60) && self.room > 0 {
                let condition = self.condition();
                let inner = self.set(&member, depth + 1);
                let _ = write!(out, " ... on {member}{condition} {inner}");
            }
        }
    }

    fn field(&mut self, field: &FieldDefinition, depth: usize, out: &mut String) {
        let inner = field.ty.inner_named_type();
        let is_leaf = self.schema.types[inner].is_leaf();
        if !is_leaf && (depth >= 5 || self.room == 0) {
            return;
        }
        self.room = self.room.saturating_sub(1);
        // Each selection has a key of its own where its arguments could differ from those of another one.
        let arguments = self.arguments(field);
        if !arguments.is_empty() || self.random.chance(12) {
            self.aliases += 1;
            self.features.insert("aliases");
            // Names of other fields, and of members that only the gateway uses.
            let _ = match self.random.below(3) {
                0 => write!(out, " id_{}:", self.aliases),
                1 => write!(out, " {}_{}:", field.name, self.aliases),
                _ => write!(out, " a{}:", self.aliases),
            };
        }
        let _ = write!(out, " {}{arguments}", field.name);
        out.push_str(&self.condition());
        if !is_leaf {
            let set = self.set(inner, depth + 1);
            out.push(' ');
            out.push_str(&set);
        }
    }

    fn arguments(&mut self, field: &FieldDefinition) -> String {
        let mut given = Vec::new();
        for argument in &field.arguments {
            if !self.random.chance(70) {
                continue;
            }
            let value = if self.random.chance(40) {
                self.features.insert("variables");
                // A name that the gateway would use itself.
                let name = if self.variables.is_empty() {
                    "representations".to_owned()
                } else {
                    format!("v{}", self.definitions.len())
                };
                self.definitions.push(format!("${name}: {}", argument.ty));
                let value = match argument.ty.inner_named_type().as_str() {
                    "Int" => json!(self.random.below(3)),
                    _ => json!("text \"quoted\""),
                };
                self.variables.insert(name.clone(), value);
                format!("${name}")
            } else {
                match argument.ty.inner_named_type().as_str() {
                    "Int" => self.random.below(3).to_string(),
                    _ => "\"literal\"".to_owned(),
                }
            };
            given.push(format!("{}: {value}", argument.name));
        }
        if given.is_empty() {
            String::new()
        } else {
            format!("({})", given.join(", "))
        }
    }

    fn condition(&mut self) -> String {
        if !self.random.chance(8) {
            return String::new();
        }
        self.features.insert("skip and include");
        let name = format!("c{}", self.definitions.len());
        let value = self.random.chance(50);
        self.definitions.push(format!("${name}: Boolean!"));
        self.variables.insert(name.clone(), json!(value));
        let directive = if self.random.chance(50) {
            "skip"
        } else {
            "include"
        };
        format!(" @{directive}(if: ${name})")
    }
}
