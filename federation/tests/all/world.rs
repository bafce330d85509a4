//! The data behind all subgraphs: objects are a type and a number, and every value follows from the seed.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};

use apollo_compiler::ast::Type;
use apollo_compiler::executable::OperationType;
use apollo_compiler::schema::ExtendedType;
use federation::supergraph::{
    ContextArgument, FieldId, FieldSet, Override, Selected, SubgraphId, Supergraph, TypeId,
    TypeKind,
};
use serde_json::{Value as Json, json};

use crate::executor::constant;
use crate::random_numbers::hash;

/// Numbers of objects of each type.
const OBJECTS: u64 = 4;

/// An object of the world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Object {
    pub(crate) ty: TypeId,
    pub(crate) number: u64,
}

/// A value of the world.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Leaf(Json),
    List(Vec<Value>),
    Object(Object),
    /// Resolving it fails.
    Error(String),
}

/// How often something is null or fails, in percent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) nulls: u64,
    pub(crate) errors: u64,
    /// Entities that a subgraph does not know which only finds them by keys.
    pub(crate) unknown: u64,
}

pub(crate) struct World<'s> {
    pub(crate) supergraph: &'s Supergraph,
    pub(crate) seed: u64,
    pub(crate) rates: Rates,
    /// Fields that tell objects apart, or that others are computed from: they neither fail nor are null.
    keys: HashSet<FieldId>,
    /// What failed while inputs of computed fields were read: errors that clients see without having
    /// asked for the field.
    pub(crate) input_errors: RefCell<BTreeSet<String>>,
    /// Mutations that were carried out; every text that is read later says so.
    pub(crate) mutations: Cell<u64>,
}

impl<'s> World<'s> {
    pub(crate) fn new(supergraph: &'s Supergraph, seed: u64, rates: Rates) -> Self {
        let mut keys = HashSet::new();
        for id in supergraph.type_ids() {
            for join in &supergraph.ty(id).joins {
                for key in &join.keys {
                    fields_of(supergraph, id, &key.fields, &mut keys);
                }
            }
        }
        World {
            supergraph,
            seed,
            rates,
            keys,
            input_errors: RefCell::default(),
            mutations: Cell::new(0),
        }
    }

    pub(crate) fn root(&self, ty: TypeId) -> Object {
        Object { ty, number: 0 }
    }

    fn hash(&self, object: &Object, texts: &[&str]) -> u64 {
        let name = &self.supergraph.ty(object.ty).name;
        let mut all = vec![name.as_str()];
        let number = object.number.to_string();
        all.push(&number);
        all.extend(texts);
        hash(self.seed, &all)
    }

    /// Returns whether a subgraph does not know an object. Only such objects are unknown somewhere that all
    /// subgraphs find by the same keys, and only where nothing but a key leads to them.
    pub(crate) fn is_unknown(&self, subgraph: SubgraphId, object: &Object) -> bool {
        let ty = self.supergraph.ty(object.ty);
        let Some(join) = ty.join(subgraph) else {
            return false;
        };
        let chance = self.hash(object, &["unknown", &subgraph.index().to_string()]) % 100;
        chance < self.rates.unknown
            // Who tells the types of an interface knows all of its objects.
            && (join.interface.is_some() || ty.joins.iter().all(|join| join.interface.is_none()))
            && ty.joins.iter().all(|other| other.keys == join.keys)
            && !join.keys.is_empty()
            && !self.leads_to(subgraph, object.ty)
            && !self.is_provided(object.ty)
            && !self.is_moved(object.ty)
            && !self.shares(subgraph, object.ty)
    }

    /// Returns whether a field of a subgraph has a type as a possible one of its values.
    fn leads_to(&self, subgraph: SubgraphId, ty: TypeId) -> bool {
        let fields = self.supergraph.type_ids();
        let mut fields = fields.flat_map(|id| self.supergraph.ty(id).fields());
        fields.any(|(_, field)| {
            let field = self.supergraph.field(field);
            field.join(subgraph).is_some()
                && self
                    .supergraph
                    .ty(field.inner)
                    .possible
                    .binary_search(&ty)
                    .is_ok()
        })
    }

    /// Returns whether a subgraph resolves fields of a type that others resolve too, keys aside.
    fn shares(&self, subgraph: SubgraphId, ty: TypeId) -> bool {
        let mut fields = self.supergraph.ty(ty).fields();
        fields.any(|(_, field)| {
            let joins = self.supergraph.field(field).joins.iter();
            let resolvers = joins.filter(|join| !join.is_external);
            let resolvers: Vec<SubgraphId> = resolvers.map(|join| join.subgraph).collect();
            !self.keys.contains(&field) && resolvers.len() > 1 && resolvers.contains(&subgraph)
        })
    }

    /// Returns whether labels decide who resolves fields of a type.
    fn is_moved(&self, ty: TypeId) -> bool {
        let fields = self.supergraph.ty(ty).fields();
        let mut joins = fields.flat_map(|(_, field)| &self.supergraph.field(field).joins);
        joins.any(|join| join.overridden != Override::Never)
    }

    /// Returns whether fields of a type are provided on some path.
    fn is_provided(&self, ty: TypeId) -> bool {
        let fields = self.supergraph.type_ids();
        let mut fields = fields.flat_map(|id| self.supergraph.ty(id).fields());
        fields.any(|(_, field)| {
            let field = self.supergraph.field(field);
            field.joins.iter().any(|join| join.provides.is_some())
                && self
                    .supergraph
                    .ty(field.inner)
                    .possible
                    .binary_search(&ty)
                    .is_ok()
        })
    }

    /// Returns whether a field is null since the only subgraph with it does not know the object.
    pub(crate) fn is_missing(&self, object: &Object, field: FieldId) -> bool {
        let joins = &self.supergraph.field(field).joins;
        let mut resolvers = joins.iter().filter(|join| !join.is_external);
        match (resolvers.next(), resolvers.next()) {
            (Some(only), None) => self.is_unknown(only.subgraph, object),
            _ => false,
        }
    }

    /// Returns the value of a field that requires nothing.
    pub(crate) fn value(&self, object: &Object, field: FieldId, arguments: &str) -> Value {
        let definition = self.supergraph.field(field);
        let name = definition.name.as_str();
        let is_key = self.keys.contains(&field);
        let fate = self.hash(object, &[name, arguments, "fate"]) % 100;
        if !is_key && !definition.ty.is_non_null() && fate < self.rates.errors {
            return Value::Error(format!(
                "{}.{name} of {} fails",
                self.supergraph.ty(object.ty).name,
                object.number
            ));
        }
        self.of_type(object, field, &definition.ty, &[name, arguments], is_key)
    }

    fn of_type(
        &self,
        object: &Object,
        field: FieldId,
        ty: &Type,
        texts: &[&str],
        is_key: bool,
    ) -> Value {
        let chance = self.hash(object, &[&texts.join("/"), "null"]) % 100;
        if !ty.is_non_null() && !is_key && chance < self.rates.nulls {
            return Value::Leaf(Json::Null);
        }
        if ty.is_list() {
            let length = self.hash(object, &[&texts.join("/"), "length"]) % 4;
            let items = (0..length).map(|index| {
                let index = index.to_string();
                let mut texts = texts.to_vec();
                texts.push(&index);
                self.of_type(object, field, ty.item_type(), &texts, is_key)
            });
            return Value::List(items.collect());
        }
        let inner = self.supergraph.ty(self.supergraph.field(field).inner);
        match inner.kind {
            TypeKind::Leaf => Value::Leaf(self.leaf(object, inner.name.as_str(), texts)),
            TypeKind::Object => {
                let ty = self.supergraph.field(field).inner;
                // The object of a key is one of its own, and there is one root.
                let number = match is_key {
                    true => object.number,
                    false if self.is_single(ty) => 0,
                    false if self.supergraph.root(OperationType::Query) == Some(ty) => 0,
                    false => self.hash(object, &[&texts.join("/"), "object"]) % OBJECTS,
                };
                Value::Object(Object { ty, number })
            }
            _ => {
                let types = self.common_types(field);
                if types.is_empty() {
                    return Value::Leaf(Json::Null);
                }
                let chosen = self.hash(object, &[&texts.join("/"), "type"]) % types.len() as u64;
                let ty = types[usize::try_from(chosen).unwrap()];
                let number = self.hash(object, &[&texts.join("/"), "object"]) % OBJECTS;
                Value::Object(Object { ty, number })
            }
        }
    }

    /// Returns the types that every subgraph with a field can answer with.
    fn common_types(&self, field: FieldId) -> Vec<TypeId> {
        let field = self.supergraph.field(field);
        let mut types = self.supergraph.ty(field.inner).possible.clone();
        for join in field.joins.iter().filter(|join| !join.is_external) {
            let inner = self.supergraph.type_id(join.ty.inner_named_type()).unwrap();
            let there = self.supergraph.ty(inner).join(join.subgraph);
            types.retain(|ty| there.is_some_and(|there| there.possible.contains(ty)));
        }
        types
    }

    fn leaf(&self, object: &Object, name: &str, texts: &[&str]) -> Json {
        let (texts_of, object_number) = (texts.join("/"), object.number);
        let text = if name == "ID" && self.numbers_alike(object.ty) {
            format!("{texts_of}.{object_number}")
        } else {
            let ty = &self.supergraph.ty(object.ty).name;
            format!("{ty}.{texts_of}.{object_number}")
        };
        let number = self.hash(object, texts);
        match name {
            "Int" => json!(object.number * 1000 + number % 1000),
            "Float" => json!(f64::from(u32::try_from(number % 1000).unwrap()) / 8.0),
            "Boolean" => json!(number.is_multiple_of(2)),
            "ID" => json!(text),
            "String" => match self.mutations.get() {
                0 => json!(text),
                count => json!(format!("{text}@{count}")),
            },
            _ => match self.supergraph.api().types.get(name) {
                Some(ExtendedType::Enum(values)) => {
                    let chosen = usize::try_from(number).unwrap_or(0) % values.values.len();
                    json!(values.values.get_index(chosen).unwrap().0.as_str())
                }
                _ => json!({ "custom": [text, 12_345_678_901_234_567_890_u64] }),
            },
        }
    }

    /// Returns whether there is one object of a type, since a key of it has no fields.
    fn is_single(&self, ty: TypeId) -> bool {
        let mut keys = self
            .supergraph
            .ty(ty)
            .joins
            .iter()
            .flat_map(|join| &join.keys);
        keys.any(|key| key.fields.selections == [Selected::Typename])
    }

    /// Returns whether objects of a type have ids that those of other types have too: in every second world,
    /// unless a subgraph knows them by an interface alone.
    fn numbers_alike(&self, ty: TypeId) -> bool {
        let mut joins = self.supergraph.ty(ty).joins.iter();
        self.seed.is_multiple_of(2) && joins.all(|join| join.interface.is_none())
    }

    /// Returns the object of a type whose key fields are those of a representation.
    pub(crate) fn find(&self, ty: TypeId, key: &FieldSet, representation: &Json) -> Option<Object> {
        let numbers = 0..OBJECTS;
        let mut objects = numbers.map(|number| Object { ty, number });
        objects.find(|object| self.matches(object, key, representation))
    }

    fn matches(&self, object: &Object, set: &FieldSet, json: &Json) -> bool {
        set.of(self.supergraph, object.ty)
            .iter()
            .all(|selected| match selected {
                Selected::Field { name, inner, .. } => {
                    let field = self.supergraph.field_id(object.ty, name).unwrap();
                    match self.value(object, field, "") {
                        Value::Leaf(value) => json.get(name.as_str()) == Some(&value),
                        Value::Object(below) => json
                            .get(name.as_str())
                            .is_some_and(|json| self.matches(&below, inner, json)),
                        _ => false,
                    }
                }
                _ => true,
            })
    }

    /// Returns the value of a field that is computed from others, given as JSON.
    pub(crate) fn computed(
        &self,
        object: &Object,
        field: FieldId,
        arguments: &str,
        inputs: &Json,
    ) -> Value {
        let definition = self.supergraph.field(field);
        let text = format!(
            "{}.{}({arguments}) of {inputs}",
            object.number, definition.name
        );
        let inner = self.supergraph.ty(definition.inner);
        if inner.kind == TypeKind::Object {
            let (ty, number) = (definition.inner, hash(0, &[&text]) % OBJECTS);
            return Value::Object(Object { ty, number });
        }
        Value::Leaf(match inner.name.as_str() {
            "Int" => json!(hash(0, &[&text]) % 1000),
            _ => json!(text),
        })
    }

    /// Returns the fields of a set as JSON, with the types of objects that could have another one.
    pub(crate) fn inputs(&self, object: &Object, set: &FieldSet) -> Json {
        let mut members = serde_json::Map::new();
        for selected in set.of(self.supergraph, object.ty) {
            if let Selected::Field {
                name,
                arguments,
                inner,
            } = &selected
            {
                let field = self.supergraph.field_id(object.ty, name).unwrap();
                let parent = &self.supergraph.ty(object.ty).name;
                let definition = self.supergraph.schema().type_field(parent, name).unwrap();
                let arguments = constant(definition, arguments);
                let requires = self.supergraph.field(field).joins.iter();
                let requires = requires.filter_map(|join| join.requires.as_ref()).next();
                // What it requires is read before the subgraph says that it does not know the object.
                let inputs = requires.map(|requires| self.inputs(object, requires));
                let value = match inputs {
                    _ if self.is_missing(object, field) => Value::Leaf(Json::Null),
                    Some(inputs) => self.computed(object, field, &arguments, &inputs),
                    None => self.value(object, field, &arguments),
                };
                let is_abstract = self
                    .supergraph
                    .ty(self.supergraph.field(field).inner)
                    .is_abstract();
                members.insert(name.to_string(), self.input(value, inner, is_abstract));
            }
        }
        Json::Object(members)
    }

    /// Returns all arguments that take their values from contexts.
    pub(crate) fn context_arguments(&self) -> impl Iterator<Item = &'s ContextArgument> {
        let supergraph = self.supergraph;
        let fields = supergraph.type_ids();
        let fields = fields.flat_map(|id| supergraph.ty(id).fields());
        let joins = fields.flat_map(|(_, field)| &supergraph.field(field).joins);
        joins.flat_map(|join| &join.contexts)
    }

    /// Returns the one value that is taken from an object as a context.
    pub(crate) fn taken(&self, object: &Object, set: &FieldSet) -> Json {
        taken(self.inputs(object, set), set)
    }

    fn input(&self, value: Value, inner: &FieldSet, is_abstract: bool) -> Json {
        match value {
            Value::Leaf(value) => value,
            Value::Error(message) => {
                self.input_errors.borrow_mut().insert(message);
                Json::Null
            }
            Value::List(items) => items
                .into_iter()
                .map(|item| self.input(item, inner, is_abstract))
                .collect(),
            Value::Object(object) => {
                let mut json = self.inputs(&object, inner);
                if is_abstract {
                    let name = self.supergraph.ty(object.ty).name.to_string();
                    json.as_object_mut()
                        .unwrap()
                        .insert("__typename".to_owned(), Json::String(name));
                }
                json
            }
        }
    }
}

fn taken(json: Json, set: &FieldSet) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(|item| taken(item, set)).collect(),
        Json::Object(members) if !set.is_empty() => {
            let mut members = members.into_iter().filter(|(name, _)| name != "__typename");
            let Some((name, value)) = members.next() else {
                return Json::Null;
            };
            assert_eq!(members.next(), None, "one value is taken");
            taken(value, &below(set, &name).unwrap())
        }
        other => other,
    }
}

/// Returns what a set selects of a field, of whatever type.
fn below(set: &FieldSet, name: &str) -> Option<FieldSet> {
    set.selections.iter().find_map(|selected| match selected {
        Selected::Field {
            name: other, inner, ..
        } if other == name => Some(inner.clone()),
        Selected::Fragment { inner, .. } => below(inner, name),
        _ => None,
    })
}

fn fields_of(supergraph: &Supergraph, ty: TypeId, set: &FieldSet, found: &mut HashSet<FieldId>) {
    for selected in set.of(supergraph, ty) {
        if let Selected::Field { name, inner, .. } = selected {
            let field = supergraph.field_id(ty, &name).unwrap();
            found.insert(field);
            for below in &supergraph.ty(supergraph.field(field).inner).possible {
                fields_of(supergraph, *below, &inner, found);
            }
        }
    }
}
