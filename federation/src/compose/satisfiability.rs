//! The last phase: every query that the merged schema allows can be answered.
//!
//! It follows the graph that the planner uses, so that what is composed can be planned. A state is an object type with
//! the subgraphs in which an object of it can be present, and what they provide of it; states are visited breadth
//! first, so that the query that shows what is missing is a shortest one.

use std::collections::{HashMap, VecDeque};

use apollo_compiler::Name;
use apollo_compiler::executable::OperationType;

use super::code::CompositionCode;
use super::facts::text;
use super::finding::{CompositionError, CompositionHint};
use super::read::Subgraph;
use super::runtime_types::RuntimeTypes;
use crate::graph::{ActiveLabels, Graph, Presence, Provided, Waves};
use crate::supergraph::{FieldId, FieldJoin, FieldSet, SubgraphId, Supergraph, TypeId};

/// Maximum number of states that are visited: the number may grow exponentially with that of
/// subgraphs.
const MAX_STATES: usize = 1_000_000;

/// Maximum number of labels whose combinations are all tried, which double with each label. With
/// more, each is tried on its own, and all together.
const MAX_LABELS: usize = 4;

/// Checks a supergraph; returns what people may want to know.
///
/// # Errors
/// With a shortest query for each field that cannot be answered somewhere, and with the fields that subgraphs cannot
/// answer alike.
pub(super) fn check(
    supergraph: &Supergraph,
    subgraphs: &[Subgraph],
) -> Result<Vec<CompositionHint>, Vec<CompositionError>> {
    let mut errors: Vec<CompositionError> = Vec::new();
    let mut hints: Vec<CompositionHint> = Vec::new();
    for labels in assumptions(supergraph) {
        let mut walk = Walk::new(Graph::new(supergraph, &labels));
        let mut found = walk.run(subgraphs);
        let runtime = walk.runtime.findings(supergraph, subgraphs);
        found.extend(runtime.0);
        for error in found {
            let is_known = |known: &CompositionError| {
                known.coordinate == error.coordinate && known.code == error.code
            };
            if !errors.iter().any(is_known) {
                errors.push(error);
            }
        }
        for hint in runtime.1 {
            if !hints
                .iter()
                .any(|known| known.coordinate == hint.coordinate)
            {
                hints.push(hint);
            }
        }
    }
    if errors.is_empty() {
        Ok(hints)
    } else {
        Err(errors)
    }
}

/// Returns everything that arguments take from contexts, each once.
fn contexts(supergraph: &Supergraph) -> Vec<Context<'_>> {
    let fields = supergraph.type_ids();
    let fields = fields.flat_map(|id| supergraph.ty(id).fields.values());
    let joins = fields.flat_map(|id| &supergraph.field(*id).joins);
    let mut found: Vec<Context<'_>> = Vec::new();
    for argument in joins.flat_map(|join| &join.contexts) {
        if !found.contains(&&*argument.sources) {
            found.push(&argument.sources);
        }
    }
    found
}

/// Returns the sets of labels that may be active.
fn assumptions(supergraph: &Supergraph) -> Vec<ActiveLabels> {
    let ids: Vec<_> = (0..supergraph.labels().len())
        .map(|at| supergraph.label_id(at))
        .collect();
    if ids.len() <= MAX_LABELS {
        let all = 0..1_usize << ids.len();
        let chosen = all.map(|bits| {
            ids.iter()
                .enumerate()
                .filter(move |(at, _)| bits >> at & 1 == 1)
                .map(|(_, id)| *id)
        });
        return chosen.map(ActiveLabels::new).collect();
    }
    let mut some = vec![
        ActiveLabels::new([]),
        ActiveLabels::new(ids.iter().copied()),
    ];
    some.extend(ids.iter().map(|id| ActiveLabels::new([*id])));
    some
}

/// What is known of objects on some path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State<'g> {
    ty: TypeId,
    waves: Waves,
    /// What subgraphs resolve of the object beyond what they always do.
    provided: Provided<'g>,
    /// Which values of contexts the objects above give, ascending.
    above: Vec<usize>,
}

/// A state whose fields are followed.
struct Visited<'v, 'g> {
    /// Its position among those that were visited.
    at: usize,
    state: &'v State<'g>,
    /// Where its objects can be had, by keys too.
    reached: &'v Waves,
}

/// The types that have a context, and what is taken from each.
type Context<'g> = &'g [(TypeId, FieldSet)];

struct Walk<'g> {
    supergraph: &'g Supergraph,
    graph: Graph<'g>,
    contexts: Vec<Context<'g>>,
    /// The runtime types of fields that several subgraphs resolve.
    runtime: RuntimeTypes,
    /// Visited states by type; the position of the state that led there, and the field.
    visited: Vec<(State<'g>, Option<(usize, FieldId)>)>,
    by_type: HashMap<TypeId, Vec<usize>>,
    queue: VecDeque<usize>,
}

impl<'g> Walk<'g> {
    fn new(graph: Graph<'g>) -> Self {
        Walk {
            supergraph: graph.supergraph(),
            graph,
            contexts: contexts(graph.supergraph()),
            runtime: RuntimeTypes::default(),
            visited: Vec::new(),
            by_type: HashMap::new(),
            queue: VecDeque::new(),
        }
    }

    fn run(&mut self, subgraphs: &[Subgraph]) -> Vec<CompositionError> {
        let everywhere = self.everywhere();
        let roots = [
            OperationType::Query,
            OperationType::Mutation,
            OperationType::Subscription,
        ];
        let roots: Vec<_> = roots
            .into_iter()
            .filter_map(|operation| self.supergraph.root(operation))
            .collect();
        for root in roots {
            let state = State {
                ty: root,
                waves: everywhere.clone(),
                provided: Vec::new(),
                above: Vec::new(),
            };
            self.visit(state, None);
        }
        self.walk(subgraphs)
    }

    /// Follows every field of what is to be visited.
    fn walk(&mut self, subgraphs: &[Subgraph]) -> Vec<CompositionError> {
        let mut errors: Vec<CompositionError> = Vec::new();
        while let Some(at) = self.queue.pop_front() {
            if self.visited.len() > MAX_STATES {
                let message =
                    format!("there are more than {MAX_STATES} ways through the subgraphs");
                let code = CompositionCode::MAX_VALIDATION_SUBGRAPH_PATHS_EXCEEDED;
                return vec![CompositionError::new(code, message)];
            }
            let state = self.visited[at].0.clone();
            let mut reached = state.waves.clone();
            self.graph
                .spread_on_path(state.ty, &mut reached, &state.provided);
            let visited = Visited {
                at,
                state: &state,
                reached: &reached,
            };
            for field in self.fields(state.ty) {
                if let Some(error) = self.follow(&visited, field, subgraphs)
                    && !errors
                        .iter()
                        .any(|known| known.coordinate == error.coordinate)
                {
                    errors.push(error);
                }
            }
        }
        errors
    }

    fn everywhere(&self) -> Waves {
        let mut waves = Waves::nowhere(self.supergraph.subgraphs().len());
        self.supergraph.subgraph_ids().for_each(|subgraph| {
            waves.lower(subgraph, 0);
        });
        waves
    }

    /// Returns the fields of a type that clients may select.
    fn fields(&self, ty: TypeId) -> Vec<FieldId> {
        let fields = self.supergraph.ty(ty).fields.values().copied();
        let mut fields: Vec<_> = fields
            .filter(|field| self.supergraph.field(*field).is_accessible)
            .collect();
        fields.sort();
        fields
    }

    /// Visits a state, unless one is known from which no more can be reached.
    fn visit(&mut self, state: State<'g>, from: Option<(usize, FieldId)>) {
        let known = self.by_type.entry(state.ty).or_default();
        let is_within = |other: &State<'g>| {
            let is_present =
                |subgraph: SubgraphId, state: &State<'g>| state.waves.get(subgraph).is_some();
            let mut all = self.supergraph.subgraph_ids();
            all.all(|id| !is_present(id, other) || is_present(id, &state))
                && other.above.iter().all(|it| state.above.contains(it))
                && other.provided.iter().all(|it| state.provided.contains(it))
        };
        // What can be answered from fewer subgraphs can be answered from these.
        if known.iter().any(|at| is_within(&self.visited[*at].0)) {
            return;
        }
        known.push(self.visited.len());
        self.queue.push_back(self.visited.len());
        self.visited.push((state, from));
    }

    /// Follows a field of the objects of a state; returns what is wrong if no one can resolve it.
    fn follow(
        &mut self,
        visited: &Visited<'_, 'g>,
        field: FieldId,
        subgraphs: &[Subgraph],
    ) -> Option<CompositionError> {
        let Visited { at, state, reached } = *visited;
        let definition = self.supergraph.field(field);
        let mut there: Vec<(SubgraphId, Vec<&'g FieldSet>)> = Vec::new();
        let providers = self
            .graph
            .providers(state.ty, &definition.name, &state.provided);
        let presence = Presence {
            waves: reached,
            provided: &state.provided,
        };
        for join in &definition.joins {
            let subgraph = join.subgraph;
            let provided = providers.iter().filter(|(id, _)| *id == subgraph);
            let mut sets: Vec<&'g FieldSet> = provided.map(|(_, set)| *set).collect();
            let is_provided = !sets.is_empty() && state.waves.get(subgraph).is_some();
            if is_provided
                || self
                    .graph
                    .is_resolved_on_path(state.ty, field, subgraph, presence)
                    && self.is_given(join, state)
            {
                sets.extend(join.provides.as_ref());
                there.push((subgraph, sets));
            }
        }
        if there.is_empty() {
            return Some(self.unanswerable(at, field, subgraphs));
        }
        if !self.supergraph.ty(definition.inner).is_composite() {
            return None;
        }
        if !self.is_typed(field, &there) {
            return Some(self.untyped(at, field, subgraphs));
        }
        if self.is_shared(field) {
            let resolving = there.iter().map(|(subgraph, _)| *subgraph);
            self.runtime.compare(self.graph, field, resolving);
        }
        if there.len() > 1 && self.supergraph.root(OperationType::Mutation) == Some(state.ty) {
            // A mutation is sent once, so one subgraph has to do.
            let alone = there
                .iter()
                .map(|only| self.children(field, std::slice::from_ref(only), &[]));
            let alone: Vec<Vec<State<'g>>> = alone.collect();
            let found: Vec<_> = alone
                .into_iter()
                .map(|states| self.alone(states, subgraphs))
                .collect();
            let is_answered = found.iter().any(Option::is_none);
            return found.into_iter().flatten().next().filter(|_| !is_answered);
        }
        let above = self.contexts_below(state, reached);
        for state in self.children(field, &there, &above) {
            self.visit(state, Some((at, field)));
        }
        None
    }

    /// Returns whether the types of the objects of a field can be told: where subgraphs have them as objects of an
    /// interface, one that knows the interface has to be reached by a key of it.
    fn is_typed(&self, field: FieldId, there: &[(SubgraphId, Vec<&'g FieldSet>)]) -> bool {
        let definition = self.supergraph.field(field);
        let mut waves = Waves::nowhere(self.supergraph.subgraphs().len());
        let mut interface = None;
        for (subgraph, _) in there {
            let join = definition.join(*subgraph);
            interface = join.and_then(|join| self.graph.untyped(join));
            if interface.is_none() {
                return true;
            }
            waves.lower(*subgraph, 0);
        }
        let Some(interface) = interface else {
            return true;
        };
        let joins = self.supergraph.ty(interface).joins.iter();
        let keys = joins
            .filter(|join| !join.is_interface_object)
            .flat_map(|join| &join.keys);
        let mut keys = keys.filter(|key| key.is_resolvable);
        keys.any(|key| self.graph.ready(interface, &key.fields, &waves).is_some())
    }

    /// Describes a field whose objects have types that no one can tell.
    fn untyped(&self, at: usize, field: FieldId, subgraphs: &[Subgraph]) -> CompositionError {
        let definition = self.supergraph.field(field);
        let parent = &self.supergraph.ty(self.visited[at].0.ty).name;
        let interface = &self.supergraph.ty(definition.inner).name;
        let coordinate = format!("{parent}.{}", definition.name);
        let query = self.query(at, field);
        let message = format!(
            "no subgraph can tell the types of the objects of `{coordinate}` for this query: none that has the interface `{interface}` can be reached by a key of it\n{query}"
        );
        let joins = definition.joins.iter();
        let places = joins
            .map(|join| subgraphs[join.subgraph.index()].place_of_field(parent, &definition.name));
        CompositionError::new(CompositionCode::SATISFIABILITY_ERROR, message)
            .about(coordinate)
            .at_all(places)
            .help(format!(
                "give `{interface}` a `@key` where it is an interface"
            ))
    }

    /// Returns whether subgraphs share a field, and do not only provide it.
    fn is_shared(&self, field: FieldId) -> bool {
        let joins = self.supergraph.field(field).joins.iter();
        joins.filter(|join| !join.is_external).count() > 1
    }

    /// Returns whether objects above give a field what it takes from contexts.
    fn is_given(&self, join: &FieldJoin, state: &State<'g>) -> bool {
        let is_above = |sources: &[(TypeId, FieldSet)]| {
            let mut above = state.above.iter();
            above.any(|at| self.contexts[*at] == sources)
        };
        let mut taken = join.contexts.iter();
        taken.all(|argument| is_above(&argument.sources))
    }

    /// Returns the values of contexts that are known below the objects of a state: the nearest object that has a
    /// context gives its value.
    fn contexts_below(&self, state: &State<'g>, reached: &Waves) -> Vec<usize> {
        let contexts = self.contexts.iter().enumerate();
        let known = contexts.filter(|(at, sources)| {
            let own = sources.iter().find(|(ty, _)| *ty == state.ty);
            match own {
                Some((ty, set)) => self.graph.ready(*ty, set, reached).is_some(),
                None => state.above.contains(at),
            }
        });
        known.map(|(at, _)| at).collect()
    }

    /// Looks for what is wrong below a field that only one subgraph resolves.
    fn alone(&self, states: Vec<State<'g>>, subgraphs: &[Subgraph]) -> Option<CompositionError> {
        let mut walk = Walk::new(self.graph);
        states.into_iter().for_each(|state| walk.visit(state, None));
        walk.walk(subgraphs).into_iter().next()
    }

    /// Returns the states of the objects of a field, which some subgraphs resolve with what they provide below.
    fn children(
        &self,
        field: FieldId,
        there: &[(SubgraphId, Vec<&'g FieldSet>)],
        above: &[usize],
    ) -> Vec<State<'g>> {
        let definition = self.supergraph.field(field);
        let mut states = Vec::new();
        let possible = self.supergraph.ty(definition.inner).possible.iter();
        // Clients see nothing of the types of objects that an interface stands for itself.
        for object in possible.filter(|ty| !self.supergraph.ty(**ty).is_abstract()) {
            let mut waves = Waves::nowhere(self.supergraph.subgraphs().len());
            let mut provided = Vec::new();
            for (subgraph, sets) in there {
                let Some(join) = definition.join(*subgraph) else {
                    continue;
                };
                if self.graph.possible(join).binary_search(object).is_ok() {
                    waves.lower(*subgraph, 0);
                    provided.extend(sets.iter().map(|set| (*subgraph, *set)));
                }
            }
            if self.supergraph.root(OperationType::Query) == Some(*object) {
                // The query type can be entered anywhere.
                waves = self.everywhere();
            }
            let is_somewhere = self
                .supergraph
                .subgraph_ids()
                .any(|id| waves.get(id).is_some());
            if is_somewhere {
                states.push(State {
                    ty: *object,
                    waves,
                    provided,
                    above: above.to_vec(),
                });
            }
        }
        states
    }

    /// Describes a field that no one can resolve, with a query that asks for it.
    fn unanswerable(&self, at: usize, field: FieldId, subgraphs: &[Subgraph]) -> CompositionError {
        let definition = self.supergraph.field(field);
        let state = &self.visited[at].0;
        let parent = &self.supergraph.ty(state.ty).name;
        let coordinate = format!("{parent}.{}", definition.name);
        let query = self.query(at, field);
        let here: Vec<_> = self
            .supergraph
            .subgraph_ids()
            .filter(|id| state.waves.get(*id).is_some())
            .collect();
        let name = |id: SubgraphId| format!("`{}`", self.supergraph.subgraph(id).name);
        let here: Vec<_> = here.into_iter().map(name).collect();
        let mut reasons = Vec::new();
        for join in &definition.joins {
            let subgraph = name(join.subgraph);
            let keys: Vec<_> = self.graph.keys(state.ty, join.subgraph).collect();
            reasons.push(if join.is_external {
                format!("it is external in {subgraph}")
            } else if !self.is_given(join, state) {
                format!(
                    "{subgraph} resolves it, but no object above provides the context of its \
                     arguments"
                )
            } else if keys.is_empty() {
                format!("{subgraph} resolves it, but `{parent}` has no resolvable key there")
            } else if join.requires.is_some() {
                format!(
                    "{subgraph} resolves it from fields that cannot be had, or its keys cannot be"
                )
            } else {
                format!("{subgraph} resolves it, but no key that leads there is available")
            });
        }
        if reasons.is_empty() {
            reasons.push("no subgraph resolves it".to_owned());
        }
        let message = format!(
            "no subgraph can answer `{coordinate}` for this query, whose `{parent}` comes from {}: {}\n{query}",
            here.join(", "),
            reasons.join("; ")
        );
        let places = definition
            .joins
            .iter()
            .map(|join| subgraphs[join.subgraph.index()].place_of_field(parent, &definition.name));
        CompositionError::new(CompositionCode::SATISFIABILITY_ERROR, message)
            .about(coordinate)
            .at_all(places)
            .help(self.way_out(field, parent, &here.join(" or "), subgraphs))
    }

    /// Returns a suggestion how a field could be made reachable.
    fn way_out(&self, field: FieldId, parent: &Name, here: &str, subgraphs: &[Subgraph]) -> String {
        let definition = self.supergraph.field(field);
        let mut joins = definition.joins.iter();
        let Some(join) = joins.find(|join| !join.is_external) else {
            return format!("resolve it in {here}, or remove the field");
        };
        let subgraph = &subgraphs[join.subgraph.index()];
        let ty = subgraph.schema.types.get(parent.as_str());
        let keys = ty
            .into_iter()
            .flat_map(|ty| ty.directives().get_all("federation__key"));
        let keys: Vec<_> = keys
            .filter_map(|key| Some(format!("\"{}\"", text(key, "fields")?)))
            .collect();
        let name = &subgraph.name;
        if keys.is_empty() {
            format!(
                "add a `@key` to `{parent}` in `{name}`, of fields that can be had from {here}, or resolve the field in {here} too"
            )
        } else {
            format!(
                "the keys of `{parent}` in `{name}` are {}: resolve the fields of a resolvable one in {here}, or add one of fields that can be had from there",
                keys.join(", ")
            )
        }
    }

    /// Writes a query that leads to a field of a state.
    fn query(&self, at: usize, field: FieldId) -> String {
        let mut path = vec![(at, field)];
        let mut from = self.visited[at].1;
        while let Some((before, field)) = from {
            path.push((before, field));
            from = self.visited[before].1;
        }
        path.reverse();
        let root = self.visited[path[0].0].0.ty;
        let roots = [
            OperationType::Query,
            OperationType::Mutation,
            OperationType::Subscription,
        ];
        let operation = roots
            .into_iter()
            .find(|it| self.supergraph.root(*it) == Some(root));
        let mut out = format!("{} {{", operation.unwrap_or(OperationType::Query));
        let mut depth = 1;
        let mut declared = root;
        for (at, field) in &path {
            let ty = self.visited[*at].0.ty;
            if ty != declared {
                out.push_str(&format!(
                    "\n{}... on {} {{",
                    "  ".repeat(depth),
                    self.supergraph.ty(ty).name
                ));
                depth += 1;
            }
            let definition = self.supergraph.field(*field);
            out.push_str(&format!(
                "\n{}{}{}",
                "  ".repeat(depth),
                definition.name,
                self.arguments(*field)
            ));
            declared = definition.inner;
            if (*at, *field) != *path.last().unwrap_or(&(0, *field)) {
                out.push_str(" {");
                depth += 1;
            }
        }
        if self.supergraph.ty(declared).is_composite() {
            out.push_str(" { __typename }");
        }
        while depth > 0 {
            depth -= 1;
            out.push_str(&format!("\n{}}}", "  ".repeat(depth)));
        }
        out
    }

    /// Writes the required arguments of a field.
    fn arguments(&self, field: FieldId) -> String {
        let definition = self.supergraph.field(field);
        let parent = &self.supergraph.ty(definition.parent).name;
        let known = self
            .supergraph
            .schema()
            .type_field(parent, &definition.name);
        let required = known
            .into_iter()
            .flat_map(|field| &field.arguments)
            .filter(|it| it.is_required());
        let required: Vec<_> = required.map(|it| format!("{}: …", it.name)).collect();
        if required.is_empty() {
            String::new()
        } else {
            format!("({})", required.join(", "))
        }
    }
}
