//! One of the four subgraphs: answers requests over its objects.
//!
//! The answers are those of any GraphQL service of federation 1. It is written by hand so that it costs little: what
//! an operation selects is resolved once, and kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use apollo_compiler::parser::Parser;
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use serde::Deserialize;
use serde_json::json;

use super::data::{Data, shipping_estimate};
use super::objects::{ObjectId, Objects, Part};
use super::selection::{Field, Resolver, Source};

/// Operations that are kept; beyond them all are forgotten.
const KEPT: usize = 1000;

/// A subgraph.
pub struct Subgraph {
    part: Part,
    schema: Valid<Schema>,
    objects: Objects,
    documents: Mutex<HashMap<String, Arc<Document>>>,
}

/// A valid document, and what its operations select, by name and by the variables of conditions.
struct Document {
    document: Valid<ExecutableDocument>,
    conditions: Vec<String>,
    operations: Mutex<HashMap<Chosen, Arc<Vec<Field>>>>,
}

/// Name of an operation, and the values of the variables of conditions.
type Chosen = (Option<String>, Vec<Option<bool>>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    query: String,
    operation_name: Option<String>,
    variables: Option<JsonMap>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// JSON.
    pub body: Vec<u8>,
    /// Number of representations in the request.
    pub representations: usize,
}

impl Subgraph {
    /// Creates a subgraph over its part of the data.
    ///
    /// # Panics
    /// When its schema is not valid, which a test would say.
    #[must_use]
    pub fn new(part: Part, data: &Data) -> Self {
        let keys = part.keys().iter();
        let entities: Vec<&str> = keys.map(|(ty, _)| *ty).collect();
        let union = format!("union _Entity = {}", entities.join(" | "));
        let machinery = include_str!("../../gateway/machinery.graphql");
        let schema = Schema::builder()
            .adopt_orphan_extensions()
            .parse(machinery, "machinery.graphql")
            .parse(union, "entity.graphql")
            .parse(part.sdl(), format!("{}.graphql", part.name()));
        let schema = schema.build().expect("the schema is well-formed");
        Subgraph {
            part,
            schema: schema.validate().expect("the schema is valid"),
            objects: Objects::of(part, data),
            documents: Mutex::default(),
        }
    }

    /// Returns which one it is.
    #[must_use]
    pub fn part(&self) -> Part {
        self.part
    }

    /// Returns the schema, with what every subgraph has.
    #[must_use]
    pub fn schema(&self) -> &Valid<Schema> {
        &self.schema
    }

    /// Answers a request.
    pub fn answer(&self, request: &[u8]) -> Answer {
        self.try_answer(request).unwrap_or_else(|message| Answer {
            body: json!({ "errors": [{ "message": message }] })
                .to_string()
                .into_bytes(),
            representations: 0,
        })
    }

    fn try_answer(&self, request: &[u8]) -> Result<Answer, String> {
        let request: Request = serde_json::from_slice(request).map_err(|e| e.to_string())?;
        let document = self.document(&request.query)?;
        let operation = &document.document.operations;
        let operation = operation.get(request.operation_name.as_deref());
        let operation = operation.map_err(|e| e.message().to_string())?;
        let variables = request.variables.unwrap_or_default();
        let variables = coerce_variable_values(&self.schema, operation, &variables);
        let variables = variables.map_err(|e| e.message().to_string())?;
        let values = document.conditions.iter();
        let values = values.map(|name| variables.get(name.as_str())?.as_bool());
        let chosen = (request.operation_name, values.collect());
        let known = locked(&document.operations).get(&chosen).cloned();
        let fields = match known {
            Some(fields) => fields,
            None => {
                let resolver = Resolver {
                    part: self.part,
                    objects: &self.objects,
                    document: &document.document,
                    variables: &variables,
                };
                let fields = Arc::new(resolver.operation(operation)?);
                locked(&document.operations).insert(chosen, Arc::clone(&fields));
                fields
            }
        };
        let mut writer = Writer {
            objects: &self.objects,
            keys: self.part.keys(),
            variables: &variables,
            out: String::with_capacity(16 << 10),
            representations: 0,
        };
        writer.out.push_str("{\"data\":");
        writer.object(self.objects.query, &fields, None)?;
        writer.out.push('}');
        Ok(Answer {
            body: writer.out.into_bytes(),
            representations: writer.representations,
        })
    }

    fn document(&self, text: &str) -> Result<Arc<Document>, String> {
        if let Some(known) = locked(&self.documents).get(text) {
            return Ok(Arc::clone(known));
        }
        let document = Parser::new().parse_executable(&self.schema, text, "request.graphql");
        let document = document.map_err(|e| e.errors.to_string())?;
        let document = document.validate(&self.schema);
        let document = document.map_err(|e| e.errors.to_string())?;
        let conditions = conditions(&document);
        let document = Arc::new(Document {
            document,
            conditions,
            operations: Mutex::default(),
        });
        let mut documents = locked(&self.documents);
        if documents.len() >= KEPT {
            documents.clear();
        }
        documents.insert(text.to_owned(), Arc::clone(&document));
        Ok(document)
    }
}

/// Returns the boolean variables of a document: only they can stand in conditions.
fn conditions(document: &ExecutableDocument) -> Vec<String> {
    let operations = document.operations.iter();
    let variables = operations.flat_map(|operation| &operation.variables);
    let booleans = variables.filter(|it| it.ty.inner_named_type() == "Boolean");
    let mut names: Vec<String> = booleans.map(|it| it.name.to_string()).collect();
    names.sort();
    names.dedup();
    names
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes an answer.
struct Writer<'w> {
    objects: &'w Objects,
    keys: &'static [(&'static str, &'static str)],
    variables: &'w JsonMap,
    out: String,
    representations: usize,
}

impl Writer<'_> {
    fn object(
        &mut self,
        id: ObjectId,
        fields: &[Field],
        representation: Option<&JsonMap>,
    ) -> Result<(), String> {
        let object = self.objects.get(id);
        self.out.push('{');
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.out.push_str(&field.key);
            match &field.source {
                Source::Typename(name) => self.out.push_str(name),
                Source::Leaf(slot) => self.out.push_str(object.values[*slot].as_leaf()),
                Source::One(slot, fields) => {
                    self.object(object.values[*slot].as_one(), fields, None)?;
                }
                Source::Many(slot, first, fields) => {
                    let first = first.as_ref().and_then(|it| it.value(self.variables));
                    self.list(bounded(object.values[*slot].as_many(), first)?, fields)?;
                }
                Source::ByKey(ty, argument, fields) => {
                    let key = argument.value(self.variables);
                    match self.by_key(ty, key.as_ref()) {
                        Some(id) => self.object(id, fields, None)?,
                        None => self.out.push_str("null"),
                    }
                }
                Source::Entities(argument, types) => match argument.list(self.variables) {
                    Some(list) => self.entities(list, types)?,
                    None => {
                        let list = argument.value(self.variables);
                        let list = list.as_ref().and_then(JsonValue::as_array);
                        self.entities(list.map_or(&[], Vec::as_slice), types)?;
                    }
                },
                Source::ShippingEstimate => self.shipping_estimate(representation),
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn list(&mut self, ids: &[ObjectId], fields: &[Field]) -> Result<(), String> {
        self.out.push('[');
        for (at, id) in ids.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.object(*id, fields, None)?;
        }
        self.out.push(']');
        Ok(())
    }

    fn entities(
        &mut self,
        representations: &[JsonValue],
        types: &[(&'static str, Vec<Field>)],
    ) -> Result<(), String> {
        self.representations += representations.len();
        self.out.push('[');
        for (at, representation) in representations.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            let members = representation.as_object();
            let members = members.ok_or("a representation is an object")?;
            let ty = members.get("__typename").and_then(JsonValue::as_str);
            let position = types.iter().position(|(name, _)| Some(*name) == ty);
            let position = position.ok_or("a representation has an unknown type")?;
            let ((ty, fields), (_, key)) = (&types[position], self.keys[position]);
            match self.by_key(ty, members.get(key)) {
                Some(id) => self.object(id, fields, Some(members))?,
                None => self.out.push_str("null"),
            }
        }
        self.out.push(']');
        Ok(())
    }

    /// Finds an object by the value of a key. An `ID` may be sent as a number.
    fn by_key(&self, ty: &str, key: Option<&JsonValue>) -> Option<ObjectId> {
        match key? {
            JsonValue::String(text) => self.objects.by_key(ty, text.as_str()),
            JsonValue::Number(number) => self.objects.by_key(ty, &number.to_string()),
            _ => None,
        }
    }

    /// Writes what shipping costs, by what the gateway sent; null where it did not.
    fn shipping_estimate(&mut self, representation: Option<&JsonMap>) {
        let number = |name: &str| representation?.get(name)?.as_i64();
        match number("price").zip(number("weight")) {
            Some((price, weight)) => {
                let estimate = shipping_estimate(price, weight);
                self.out.push_str(&estimate.to_string());
            }
            None => self.out.push_str("null"),
        }
    }
}

/// Returns at most as many as wanted; null wants all.
fn bounded(ids: &[ObjectId], first: Option<JsonValue>) -> Result<&[ObjectId], String> {
    let Some(first) = first.and_then(|it| it.as_i64()) else {
        return Ok(ids);
    };
    let first = usize::try_from(first).map_err(|_| "`first` is negative")?;
    Ok(&ids[..first.min(ids.len())])
}
