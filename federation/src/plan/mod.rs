//! Plans: which subgraphs are asked for what, and in which order.
//!
//! Planning is pure: it depends on the supergraph, the active labels, the operation and the values of the
//! variables of its conditions, and on nothing else. Plans are compared by waves, then requests, then
//! fields. All candidates are tried as long as there are not too many, or it is clear that none can be
//! better; [`Plan::is_optimal`] says whether.

mod assemble;
mod builder;
mod choices;
mod contexts;
mod document;
mod entry_candidates;
mod fetch_candidates;
mod fetch_group;
mod lower_bound;
mod memo;
mod presence;
mod reach_cache;
mod schedule;
mod search;
mod shape;
mod template;
mod text;
mod types;

use apollo_compiler::executable::{Operation, OperationType};
use apollo_compiler::response::JsonMap;
use apollo_compiler::{ExecutableDocument, Name};
use graphql_service::GraphqlError;

use crate::authorization::Denied;
use crate::code;
use crate::graph::{ActiveLabels, Graph};
use crate::limits::GatewayLimits;
use crate::operation::{ClassId, Full, NodeId, Tree, too_large};
use crate::supergraph::{SubgraphId, Supergraph};

pub use builder::Cost;
pub use fetch_group::{ContextValue, Input, InputFragment, Listing, ListingId};
pub(crate) use memo::{MemoField, MemoSelection, MemoSource, StepId};
pub(crate) use shape::{Members, Shape};
pub use template::Template;
pub(crate) use template::copied;

/// How an operation is answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// What is needed, including what only the gateway needs.
    pub tree: Tree,
    /// The type of the operation.
    pub operation: OperationType,
    /// The requests to subgraphs; each comes after those that it waits for.
    pub requests: Vec<Request>,
    /// The objects that representations are made of, each listing once: several requests are about the same ones, and
    /// what is known of entities is looked for there.
    pub listings: Vec<Listing>,
    /// Its cost.
    pub cost: Cost,
    /// Whether no plan costs less. Where it is not known, there were too many candidates.
    pub is_optimal: bool,
}

/// A request to a subgraph.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The subgraph.
    pub subgraph: SubgraphId,
    /// The requests that must be complete before, as positions in the plan.
    pub after: Vec<usize>,
    /// Its wave: what it waits for is in earlier ones. Entities wait for a later wave where that saves a
    /// request.
    pub wave: u32,
    /// The operation that the subgraph is sent.
    pub document: String,
    /// The same as a JSON string.
    pub(crate) json: Vec<u8>,
    /// The variables of the client that it uses.
    pub variables: Vec<Name>,
    /// What the operation is made of, where there are several lists of entities, or objects are given values from
    /// contexts: for each value there is a list.
    pub template: Option<Template>,
    /// How the response is processed.
    pub steps: Vec<Step>,
    /// The positions of the steps, in the order in which they can begin.
    pub(crate) order: Vec<usize>,
}

/// A value that objects of a step are given from objects above. Those with different values are asked for in
/// lists of their own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Context {
    /// Where the value is.
    pub value: ContextValue,
    /// The variable for it.
    pub variable: String,
    /// The arguments that it is for, with their fields.
    pub arguments: Vec<(NodeId, Name)>,
}

/// How a part of a response is processed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Step {
    /// The objects that it is about.
    pub entry: EntryObjects,
    /// The members of each object in the answer.
    pub(crate) members: Members,
    /// Whether objects that stand for the same entity can have the same objects below them.
    pub(crate) is_shareable: bool,
    /// The steps that must be complete before.
    pub(crate) after: Vec<StepId>,
    /// Where in the plan its subgraph is asked for the same before.
    pub(crate) sources: Vec<MemoSource>,
}

impl Step {
    /// Returns the key of its entities in the answer; empty where it begins at a root.
    pub(crate) fn key(&self) -> &str {
        match &self.entry {
            EntryObjects::Entities { key, .. } => key,
            _ => "",
        }
    }
}

/// The objects that an answer is about.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EntryObjects {
    /// The root object.
    Root,
    /// All objects of a class, which are root objects again.
    Reentry(ClassId),
    /// Entities that representations are made of.
    #[non_exhaustive]
    Entities {
        /// Which objects these are, and what representations have.
        listing: ListingId,
        /// The key of their list in the answer.
        key: String,
        /// The variable of their representations.
        variable: String,
        /// What they are given from objects above.
        contexts: Vec<Context>,
    },
}

/// The input of planning.
#[derive(Clone, Copy, Debug)]
pub struct Planned<'p> {
    /// The supergraph.
    pub supergraph: &'p Supergraph,
    /// The labels that are active.
    pub labels: &'p ActiveLabels,
    /// The document, valid against the API schema.
    pub document: &'p ExecutableDocument,
    /// The operation.
    pub operation: &'p Operation,
    /// The coerced variables; those of conditions are read.
    pub variables: &'p JsonMap,
}

impl Plan {
    /// Plans an operation.
    ///
    /// # Errors
    /// When its plan would exceed the limits, or when the supergraph is not satisfiable.
    pub fn new(planned: Planned<'_>, limits: &GatewayLimits) -> Result<Plan, GraphqlError> {
        Plan::without(planned, &Denied::default(), limits)
    }

    /// Plans an operation without what the request may not see.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn without(
        planned: Planned<'_>,
        denied: &Denied,
        limits: &GatewayLimits,
    ) -> Result<Plan, GraphqlError> {
        let operation = planned.operation;
        let graph = Graph::new(planned.supergraph, planned.labels).without(denied);
        let (document, variables) = (planned.document, planned.variables);
        let tree = Tree::new(graph, document, operation, variables, limits.plan)?;
        let best = search::search(graph, operation.operation_type, &tree, limits.candidates)
            .map_err(|fail| match fail {
                builder::PlanFailure::Impossible(path) => impossible(&path),
                _ => too_large(limits.plan),
            })?;
        assemble::plan(best, operation).map_err(|Full| too_large(limits.plan))
    }
}

fn impossible(path: &str) -> GraphqlError {
    let message = format!("no subgraph that can be reached resolves `{path}` here");
    GraphqlError::new(code::PLAN_IMPOSSIBLE, message)
}
