//! Strict subgraphs: whatever they are asked that they could not know is recorded as a mistake.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use apollo_compiler::executable::{Field, Operation, OperationType};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use async_trait::async_trait;
use bytes::Bytes;
use federation::graph::ActiveLabels;
use federation::supergraph::{
    FieldId, FieldSet, Selected, Subgraph, SubgraphId, Supergraph, TypeId,
};
use federation::{SubgraphRequest, SubgraphTransport, TransportError};
use graphql_service::{Limits, Request, RequestContext};
use serde_json::{Map, Value as Json, json};

use crate::executor::{Executor, Resolved, Resolver};
use crate::resolvers::resolves;
use crate::subgraph_sdl::sdl;
use crate::world::{Object, Rates, Value, World};

/// The subgraphs of a supergraph.
pub(crate) struct Strict {
    supergraph: std::sync::Arc<Supergraph>,
    labels: ActiveLabels,
    seed: u64,
    rates: Rates,
    schemas: HashMap<String, (SubgraphId, Valid<Schema>)>,
    pub(crate) log: Mutex<Log>,
    /// A subgraph that gives no answer.
    pub(crate) down: Mutex<Option<SubgraphId>>,
}

/// What happened in the subgraphs.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) mistakes: Vec<String>,
    pub(crate) requests: usize,
    pub(crate) representations: usize,
    pub(crate) null_entities: usize,
    /// Answers with errors.
    pub(crate) failures: usize,
    pub(crate) mutations: u64,
}

/// An object with what is known of it on the path that led to it.
#[derive(Clone, Debug)]
struct Known {
    object: Object,
    /// The external fields that may be asked for.
    provided: Vec<FieldSet>,
    /// Its representation, where it is an entity that was asked for.
    given: Option<Json>,
}

struct Answering<'a> {
    strict: &'a Strict,
    world: &'a World<'a>,
    subgraph: SubgraphId,
    mistakes: Mutex<Vec<String>>,
}

impl Strict {
    pub(crate) fn new(
        supergraph: std::sync::Arc<Supergraph>,
        labels: ActiveLabels,
        seed: u64,
        rates: Rates,
    ) -> Result<Self, String> {
        let mut schemas = HashMap::new();
        for subgraph in supergraph.subgraphs() {
            let id = supergraph.subgraph_id(&subgraph.name).unwrap();
            let text = sdl(&supergraph, id);
            let schema = Schema::parse_and_validate(&text, "subgraph.graphql")
                .map_err(|invalid| format!("{}\n{text}", invalid.errors))?;
            schemas.insert(subgraph.name.clone(), (id, schema));
        }
        Ok(Strict {
            supergraph,
            labels,
            seed,
            rates,
            schemas,
            log: Mutex::default(),
            down: Mutex::default(),
        })
    }

    fn answer(&self, subgraph: &Subgraph, body: &[u8]) -> Result<Json, String> {
        let (id, schema) = &self.schemas[&subgraph.name];
        let limits = Limits::default().variable_values(usize::MAX);
        let request = Request::from_json(body, &limits).map_err(|e| e.to_string())?;
        let text = &request.query;
        let document = ExecutableDocument::parse_and_validate(schema, text, "fetch.graphql")
            .map_err(|invalid| format!("{}: {text}\n{}", subgraph.name, invalid.errors))?;
        let operation = document
            .operations
            .get(None)
            .map_err(|_| "several operations")?;
        let given = request.variables.clone().unwrap_or_default();
        let is_known = |name: &str| operation.variables.iter().any(|known| known.name == name);
        if let Some((name, _)) = given.iter().find(|(name, _)| !is_known(name.as_str())) {
            let (subgraph, name) = (&subgraph.name, name.as_str());
            return Err(format!("{subgraph}: unknown variable {name}: {text}"));
        }
        if is_for_nothing(operation, body) {
            return Err(format!("{}: there are no entities: {text}", subgraph.name));
        }
        let coerced = apollo_compiler::request::coerce_variable_values(schema, operation, &given);
        let coerced = coerced.map_err(|e| format!("{}: {}", e.message(), text))?;
        let variables: Map<String, Json> =
            serde_json::from_str(&serde_json::to_string(&*coerced).unwrap()).unwrap();
        let world = World::new(&self.supergraph, self.seed, self.rates);
        world.mutations.set(self.log.lock().unwrap().mutations);
        let answering = Answering {
            strict: self,
            world: &world,
            subgraph: *id,
            mistakes: Mutex::default(),
        };
        let mut executor = Executor {
            schema,
            document: &document,
            variables: &variables,
            resolver: &answering,
            completes_siblings: false,
            errors: Vec::new(),
        };
        let root = self.supergraph.root(operation.operation_type).unwrap();
        let root = answering.plain(world.root(root));
        let data = executor.run(operation, root);
        let errors: Vec<Json> = executor
            .errors
            .iter()
            .map(|(path, message)| json!({ "message": message, "path": path }))
            .collect();
        let mistakes = answering.mistakes.into_inner().unwrap();
        {
            let mut log = self.log.lock().unwrap();
            log.mutations = world.mutations.get();
            log.failures += usize::from(!errors.is_empty());
        }
        if !mistakes.is_empty() {
            return Err(format!(
                "{}: {text}\n{}",
                subgraph.name,
                mistakes.join("\n")
            ));
        }
        Ok(if errors.is_empty() {
            json!({ "data": data })
        } else {
            json!({ "data": data, "errors": errors })
        })
    }
}

#[async_trait]
impl SubgraphTransport for Strict {
    async fn send(
        &self,
        subgraph: &Subgraph,
        request: SubgraphRequest,
        _: &RequestContext,
    ) -> Result<Bytes, TransportError> {
        let down = *self.down.lock().unwrap();
        if down.is_some() && down == self.supergraph.subgraph_id(&subgraph.name) {
            return Err(TransportError::NotConnected);
        }
        let answer = self.answer(subgraph, &request.body);
        let mut log = self.log.lock().unwrap();
        log.requests += 1;
        match answer {
            Ok(json) => Ok(json.to_string().into()),
            Err(mistake) => {
                log.mistakes.push(format!(
                    "{mistake}\n{}",
                    String::from_utf8_lossy(&request.body)
                ));
                Err(TransportError::NotConnected)
            }
        }
    }
}

impl Answering<'_> {
    fn plain(&self, object: Object) -> Known {
        Known {
            object,
            provided: Vec::new(),
            given: None,
        }
    }

    fn mistake(&self, text: String) -> Resolved<Known> {
        self.mistakes.lock().unwrap().push(text);
        Resolved::Leaf(Json::Null)
    }

    /// Returns the entities of representations.
    fn entities(&self, json: &Map<String, Json>) -> Resolved<Known> {
        let representations = json["representations"].as_array().unwrap();
        self.strict.log.lock().unwrap().representations += representations.len();
        let different: HashSet<String> = representations.iter().map(Json::to_string).collect();
        if different.len() < representations.len() {
            return self.mistake("a representation is sent twice".to_owned());
        }
        let found = representations
            .iter()
            .map(|representation| self.entity(representation));
        Resolved::List(found.collect())
    }

    fn entity(&self, representation: &Json) -> Resolved<Known> {
        let supergraph = self.world.supergraph;
        let name = representation
            .get("__typename")
            .and_then(Json::as_str)
            .unwrap_or_default();
        let Some(ty) = supergraph.type_id(name) else {
            return self.mistake(format!("no type in {representation}"));
        };
        let join = supergraph.ty(ty).join(self.subgraph);
        let Some(join) = join.filter(|join| join.interface.is_none()) else {
            return self.mistake(format!("{name} is not known here"));
        };
        let keys = join.keys.iter().filter(|key| key.is_resolvable);
        let key = keys
            .into_iter()
            .find(|key| has_all(supergraph, ty, &key.fields, representation));
        let Some(key) = key else {
            return self.mistake(format!("no key in {representation}"));
        };
        let mut types = supergraph.ty(ty).possible.iter();
        match types.find_map(|ty| self.world.find(*ty, &key.fields, representation)) {
            Some(object) if self.world.is_unknown(self.subgraph, &object) => {
                self.strict.log.lock().unwrap().null_entities += 1;
                Resolved::Leaf(Json::Null)
            }
            Some(object) => Resolved::Object(Known {
                object,
                provided: Vec::new(),
                given: Some(representation.clone()),
            }),
            None => self.mistake(format!("no object has {representation}")),
        }
    }

    /// Returns what a field is computed from, as the representation says.
    fn given(&self, ty: TypeId, set: &FieldSet, json: &Json) -> Option<Json> {
        let supergraph = self.world.supergraph;
        let mut members = Map::new();
        for selected in set.of(supergraph, ty) {
            if let Selected::Field { name, inner, .. } = &selected {
                let field = supergraph.field(supergraph.field_id(ty, name).unwrap());
                let value = json.get(name.as_str())?;
                members.insert(
                    name.to_string(),
                    self.given_value(field.inner, inner, value)?,
                );
            }
        }
        Some(Json::Object(members))
    }

    fn given_value(&self, declared: TypeId, inner: &FieldSet, json: &Json) -> Option<Json> {
        let supergraph = self.world.supergraph;
        match json {
            Json::Array(items) => items
                .iter()
                .map(|item| self.given_value(declared, inner, item))
                .collect(),
            Json::Object(_) if supergraph.ty(declared).is_composite() => {
                let name = json.get("__typename").and_then(Json::as_str);
                if !supergraph.ty(declared).is_abstract() {
                    return self.given(declared, inner, json);
                }
                let mut object = self.given(supergraph.type_id(name?)?, inner, json)?;
                object
                    .as_object_mut()?
                    .insert("__typename".to_owned(), json!(name?));
                Some(object)
            }
            other => Some(other.clone()),
        }
    }

    fn is_provided(&self, known: &Known, field: FieldId) -> bool {
        let name = &self.world.supergraph.field(field).name;
        let sets = known.provided.iter();
        let mut selected = sets.flat_map(|set| set.of(self.world.supergraph, known.object.ty));
        selected.any(
            |selected| matches!(selected, Selected::Field { name: other, .. } if other == *name),
        )
    }

    /// Returns what is provided below a field.
    fn provided(&self, known: &Known, field: FieldId) -> Vec<FieldSet> {
        let supergraph = self.world.supergraph;
        let definition = supergraph.field(field);
        let sets = known
            .provided
            .iter()
            .flat_map(|set| set.of(supergraph, known.object.ty));
        let below = sets.filter_map(|selected| match selected {
            Selected::Field { name, inner, .. } if name == definition.name => Some(inner),
            _ => None,
        });
        let own = definition
            .join(self.subgraph)
            .and_then(|join| join.provides.clone());
        below.chain(own).collect()
    }

    fn known(&self, value: Value, provided: &[FieldSet]) -> Resolved<Known> {
        match value {
            Value::Leaf(json) => Resolved::Leaf(json),
            Value::Error(message) => Resolved::Error(message),
            Value::List(items) => Resolved::List(
                items
                    .into_iter()
                    .map(|item| self.known(item, provided))
                    .collect(),
            ),
            Value::Object(object) => Resolved::Object(Known {
                object,
                provided: provided.to_vec(),
                given: None,
            }),
        }
    }
}

/// Returns whether a request asks for entities, and gives no representation.
fn is_for_nothing(operation: &Operation, body: &[u8]) -> bool {
    let sent: Json = serde_json::from_slice(body).unwrap();
    let variables = operation.variables.iter();
    let of_entities = variables.filter(|it| it.ty.inner_named_type() == "_Any");
    let lists: Vec<&Json> = of_entities
        .map(|variable| &sent["variables"][variable.name.as_str()])
        .collect();
    let is_empty = |list: &&Json| list.as_array().is_none_or(Vec::is_empty);
    !lists.is_empty() && lists.iter().all(is_empty)
}

fn has_all(supergraph: &Supergraph, ty: TypeId, set: &FieldSet, json: &Json) -> bool {
    set.of(supergraph, ty)
        .iter()
        .all(|selected| match selected {
            Selected::Field { name, inner, .. } => {
                let below = supergraph
                    .field(supergraph.field_id(ty, name).unwrap())
                    .inner;
                let value = json.get(name.as_str());
                value.is_some_and(|value| {
                    inner.is_empty() || has_all(supergraph, below, inner, value)
                })
            }
            _ => true,
        })
}

impl Resolver for Answering<'_> {
    type Object = Known;

    fn type_name(&self, known: &Known) -> String {
        let supergraph = self.world.supergraph;
        let join = supergraph.ty(known.object.ty).join(self.subgraph);
        let interface = join.and_then(|join| join.interface);
        let ty = interface.unwrap_or(known.object.ty);
        supergraph.ty(ty).name.to_string()
    }

    fn resolve(
        &self,
        known: &Known,
        field: &Field,
        arguments: &str,
        json: &Map<String, Json>,
    ) -> Resolved<Known> {
        if field.name == "_entities" {
            return self.entities(json);
        }
        let supergraph = self.world.supergraph;
        let ty = known.object.ty;
        if supergraph.root(OperationType::Mutation) == Some(ty) {
            self.world.mutations.set(self.world.mutations.get() + 1);
        }
        let id = supergraph.field_id(ty, &field.name).unwrap();
        let (labels, own) = (&self.strict.labels, supergraph.subgraph(self.subgraph));
        let coordinate = (supergraph.ty(ty).name.as_str(), field.name.as_str());
        let place = format!("{}.{}", coordinate.0, coordinate.1);
        let join = supergraph.field(id).join(self.subgraph);
        let join = join.filter(|_| resolves(supergraph, labels, own, coordinate));
        let Some(join) = join else {
            if self.is_provided(known, id) {
                let provided = self.provided(known, id);
                return self.known(self.world.value(&known.object, id, arguments), &provided);
            }
            return self.mistake(format!("{place} is not resolved here"));
        };
        if let Some(requires) = &join.requires {
            let inputs = known
                .given
                .as_ref()
                .and_then(|given| self.given(ty, requires, given));
            let Some(inputs) = inputs else {
                return self.mistake(format!(
                    "{place} is not given what it requires: {:?}",
                    known.given
                ));
            };
            return self.known(
                self.world.computed(&known.object, id, arguments, &inputs),
                &[],
            );
        }
        let provided = self.provided(known, id);
        self.known(self.world.value(&known.object, id, arguments), &provided)
    }
}
