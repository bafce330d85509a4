//! The reference: executes the client's operation over all data, as if there were no subgraphs.

use std::rc::Rc;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::Field;
use apollo_compiler::executable::OperationType;
use apollo_compiler::validation::Valid;
use federation::supergraph::{ContextArgument, FieldId};
use serde_json::{Map, Value as Json};

use crate::executor::{Executor, Resolved, Resolver, text_of};
use crate::world::{Object, Value, World};

struct Monolith<'w, 's> {
    world: &'w World<'s>,
    /// Whether everything is read that fields below could take, also where there are none.
    reads_contexts: bool,
}

/// An object with those above it.
#[derive(Clone)]
struct Placed {
    object: Object,
    above: Option<Rc<Placed>>,
}

/// Returns the data of an operation, and its errors with their paths.
pub(crate) fn execute(
    world: &World<'_>,
    document: &Valid<ExecutableDocument>,
    variables: &Map<String, Json>,
    completes_siblings: bool,
) -> (Json, Vec<(Vec<Json>, String)>) {
    let operation = document.operations.get(None).unwrap();
    let monolith = Monolith {
        world,
        reads_contexts: completes_siblings,
    };
    let mut executor = Executor {
        schema: world.supergraph.api(),
        document,
        variables,
        resolver: &monolith,
        completes_siblings,
        errors: Vec::new(),
    };
    let root = world.supergraph.root(operation.operation_type).unwrap();
    let root = Placed {
        object: world.root(root),
        above: None,
    };
    let data = executor.run(operation, root);
    (data, executor.errors)
}

impl Monolith<'_, '_> {
    /// Returns the value that an argument takes from above.
    fn taken(&self, placed: &Placed, argument: &ContextArgument) -> Json {
        let mut above = placed.above.as_deref();
        while let Some(Placed { object, .. }) = above {
            if let Some(set) = argument.source(object.ty) {
                return self.world.taken(object, set);
            }
            above = above.and_then(|placed| placed.above.as_deref());
        }
        panic!("nothing above has the context of `{}`", argument.name)
    }

    /// Reads whatever a field below could take from an object.
    fn read_contexts(&self, object: &Object) {
        for argument in self.world.context_arguments() {
            if let Some(set) = argument.source(object.ty) {
                self.world.taken(object, set);
            }
        }
    }

    fn value(&self, object: &Object, id: FieldId, arguments: &str) -> Value {
        let world = self.world;
        let mut joins = world.supergraph.field(id).joins.iter();
        let requires = joins.find_map(|join| join.requires.as_ref());
        let inputs = requires.map(|requires| world.inputs(object, requires));
        // What it requires is read before the subgraph says that it does not know the object.
        match inputs {
            _ if world.is_missing(object, id) => Value::Leaf(Json::Null),
            Some(inputs) => world.computed(object, id, arguments, &inputs),
            None => world.value(object, id, arguments),
        }
    }
}

impl Resolver for Monolith<'_, '_> {
    type Object = Placed;

    fn type_name(&self, placed: &Placed) -> String {
        self.world.supergraph.ty(placed.object.ty).name.to_string()
    }

    fn resolve(
        &self,
        placed: &Placed,
        field: &Field,
        arguments: &str,
        json: &Map<String, Json>,
    ) -> Resolved<Placed> {
        let (world, object) = (self.world, &placed.object);
        if self.reads_contexts {
            self.read_contexts(object);
        }
        if world.supergraph.root(OperationType::Mutation) == Some(object.ty) {
            world.mutations.set(world.mutations.get() + 1);
        }
        let id = world.supergraph.field_id(object.ty, &field.name).unwrap();
        let joins = world.supergraph.field(id).joins.iter();
        let contexts: Vec<&ContextArgument> = joins.flat_map(|join| &join.contexts).collect();
        let value = if contexts.is_empty() {
            self.value(object, id, arguments)
        } else {
            let mut json = json.clone();
            for argument in contexts {
                let value = self.taken(placed, argument);
                if value.is_null() && argument.ty.is_non_null() {
                    return Resolved::Error(format!(
                        "`{}.{}` takes `{}` from a context that has no value",
                        self.type_name(placed),
                        field.name,
                        argument.name
                    ));
                }
                json.insert(argument.name.to_string(), value);
            }
            self.value(object, id, &text_of(&json))
        };
        resolved(value, &Rc::new(placed.clone()))
    }
}

fn resolved(value: Value, above: &Rc<Placed>) -> Resolved<Placed> {
    match value {
        Value::Leaf(json) => Resolved::Leaf(json),
        Value::Error(message) => Resolved::Error(message),
        Value::Object(object) => Resolved::Object(Placed {
            object,
            above: Some(Rc::clone(above)),
        }),
        Value::List(items) => {
            let items = items.into_iter();
            Resolved::List(items.map(|item| resolved(item, above)).collect())
        }
    }
}
