//! The reference: executes the client's operation over all data, as if there were no subgraphs.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::Field;
use apollo_compiler::executable::OperationType;
use apollo_compiler::validation::Valid;
use serde_json::{Map, Value as Json};

use crate::executor::{Executor, Resolved, Resolver};
use crate::world::{Object, Value, World};

struct Monolith<'w, 's> {
    world: &'w World<'s>,
}

/// Returns the data of an operation, and its errors with their paths.
pub(crate) fn execute(
    world: &World<'_>,
    document: &Valid<ExecutableDocument>,
    variables: &Map<String, Json>,
    completes_siblings: bool,
) -> (Json, Vec<(Vec<Json>, String)>) {
    let operation = document.operations.get(None).unwrap();
    let monolith = Monolith { world };
    let mut executor = Executor {
        schema: world.supergraph.api(),
        document,
        variables,
        resolver: &monolith,
        completes_siblings,
        errors: Vec::new(),
    };
    let root = world.supergraph.root(operation.operation_type).unwrap();
    let data = executor.run(operation, world.root(root));
    (data, executor.errors)
}

impl Resolver for Monolith<'_, '_> {
    type Object = Object;

    fn type_name(&self, object: &Object) -> String {
        self.world.supergraph.ty(object.ty).name.to_string()
    }

    fn resolve(
        &self,
        object: &Object,
        field: &Field,
        arguments: &str,
        _: &Map<String, Json>,
    ) -> Resolved<Object> {
        let world = self.world;
        if world.supergraph.root(OperationType::Mutation) == Some(object.ty) {
            world.mutations.set(world.mutations.get() + 1);
        }
        let id = world.supergraph.field_id(object.ty, &field.name).unwrap();
        let mut joins = world.supergraph.field(id).joins.iter();
        if world.is_missing(object, id) {
            // What it requires is read before the subgraph says that it does not know the object.
            if let Some(requires) = joins.find_map(|join| join.requires.as_ref()) {
                world.inputs(object, requires);
            }
            return Resolved::Leaf(Json::Null);
        }
        match joins.find_map(|join| join.requires.as_ref()) {
            Some(requires) => {
                let inputs = world.inputs(object, requires);
                resolved(world.computed(object, id, arguments, &inputs))
            }
            None => resolved(world.value(object, id, arguments)),
        }
    }
}

fn resolved(value: Value) -> Resolved<Object> {
    match value {
        Value::Leaf(json) => Resolved::Leaf(json),
        Value::Error(message) => Resolved::Error(message),
        Value::Object(object) => Resolved::Object(object),
        Value::List(items) => Resolved::List(items.into_iter().map(resolved).collect()),
    }
}
