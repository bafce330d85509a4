//! The objects that a request is about: one list for each step, and several where objects are given different
//! values from contexts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use graphql_service::{ErrorCode, GraphqlError, PathSegment};
use indexmap::{IndexMap, IndexSet};

use super::executor::Executor;
use super::fetch::Failure;
use super::listings::{ListedObject, Listings};
use super::representations::{Representations, value_text};
use super::store::{ObjectId, Seg, Store};
use super::subgraph_errors::MAX_ERRORS;
use crate::code;
use crate::plan::{Context, EntryObjects, Request, Step, StepId, copied};

/// Most lists of entities in one request, where a step has several.
const MAX_LISTS: usize = 50;

/// Length of an operation from which on further lists are put into another request, in bytes.
const MAX_LENGTH: usize = 256 << 10;

/// Objects of a step that are asked for together.
#[derive(Debug)]
pub(super) struct EntityList {
    /// The position of the step.
    pub(super) step: usize,
    /// Which list of the step it is in its request.
    copy: usize,
    /// The objects, by their entities in the answer.
    pub(super) objects: Vec<Vec<ObjectId>>,
    /// For each of them that its subgraph is being asked for already, by which step.
    pending: Vec<StepId>,
    /// The JSON text of the representations; taken when the request is written.
    representations: Vec<u8>,
    /// The JSON texts of the values from contexts.
    values: Vec<Arc<[u8]>>,
}

impl EntityList {
    fn of(step: usize, objects: Vec<Vec<ObjectId>>) -> Self {
        EntityList {
            step,
            copy: 0,
            objects,
            pending: Vec::new(),
            representations: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Returns whether there is nothing to ask for.
    pub(super) fn is_empty(&self) -> bool {
        self.objects.iter().all(Vec::is_empty)
    }

    /// Returns a step that is being answered, if such steps ask for all that the list is about.
    pub(super) fn awaited(&self) -> Option<StepId> {
        let is_pending = self.pending.len() == self.objects.len();
        self.pending.first().filter(|_| is_pending).copied()
    }

    /// Returns the key of the list in the answer.
    pub(super) fn key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        copied(key, self.copy)
    }

    /// Returns how many entities are asked for by their representations.
    pub(super) fn representations(&self, step: &Step) -> usize {
        match &step.entry {
            EntryObjects::Entities { .. } => self.objects.len(),
            _ => 0,
        }
    }

    /// Takes the variables of the list with their JSON texts.
    pub(super) fn take_variables(&mut self, step: &Step, into: &mut Vec<(String, Vec<u8>)>) {
        let EntryObjects::Entities {
            variable, contexts, ..
        } = &step.entry
        else {
            return;
        };
        let representations = std::mem::take(&mut self.representations);
        into.push((copied(variable, self.copy).into_owned(), representations));
        for (context, value) in contexts.iter().zip(std::mem::take(&mut self.values)) {
            into.push((
                copied(&context.variable, self.copy).into_owned(),
                value.to_vec(),
            ));
        }
    }
}

/// Divides the lists of a plan's request, in the order of its steps, among requests that are sent.
pub(super) fn divided(request: &Request, lists: Vec<EntityList>) -> Vec<Vec<EntityList>> {
    let is_repeated = lists.windows(2).any(|pair| pair[0].step == pair[1].step);
    let Some(template) = request.template.as_ref().filter(|_| is_repeated) else {
        return vec![lists];
    };
    let mut requests: Vec<Vec<EntityList>> = Vec::new();
    let mut length = 0;
    for mut list in lists {
        length += template.length(list.step);
        match requests.last_mut() {
            Some(last) if last.len() < MAX_LISTS && length <= MAX_LENGTH => {
                let same = last.iter().filter(|known| known.step == list.step);
                list.copy = same.count();
                last.push(list);
            }
            _ => {
                length = template.length(list.step);
                requests.push(vec![list]);
            }
        }
    }
    requests
}

impl Executor {
    /// Returns the objects that a step is about: in one list, or in several where it is given values from contexts.
    pub(super) fn lists(
        &mut self,
        request: &Request,
        position: usize,
        listings: &mut Listings,
    ) -> Vec<EntityList> {
        let step = &request.steps[position];
        match &step.entry {
            EntryObjects::Root => vec![EntityList::of(position, vec![vec![Store::ROOT]])],
            EntryObjects::Reentry(class) => {
                let objects = listings
                    .objects(self.walk(), *class)
                    .iter()
                    .map(|(object, _)| *object)
                    .collect();
                vec![EntityList::of(position, vec![objects])]
            }
            EntryObjects::Entities {
                listing, contexts, ..
            } => {
                let listed = listings.get(self.walk(), &self.execution.plan, *listing);
                match contexts.as_slice() {
                    [] => vec![self.list(request, position, &listed, listings)],
                    contexts => self.given(request, position, contexts, &listed, listings),
                }
            }
        }
    }

    /// Makes a list of objects, without those that cannot be asked for.
    fn list(
        &mut self,
        request: &Request,
        position: usize,
        listed: &[ListedObject],
        listings: &mut Listings,
    ) -> EntityList {
        let step = &request.steps[position];
        if listed.is_empty() {
            return EntityList::of(position, Vec::new());
        }
        let memo = self.memo(request, step, listings);
        let made = Representations::new(listed, &listings.texts, &memo);
        for (object, why) in &made.skipped {
            self.store.mark_unavailable(*object, &step.members, *why);
        }
        for (resolved, mut objects) in made.resolved {
            // A request that has waited for another one comes here again.
            objects.retain(|object| !self.store.is_complete(*object, &step.members));
            if objects.is_empty() {
                continue;
            }
            if let Err(error) = self.recall(step, resolved, &objects) {
                let list = EntityList::of(position, vec![objects]);
                self.failed(request, &vec![list], &Failure::of(&error));
            }
        }
        EntityList {
            pending: made.pending,
            representations: made.text,
            ..EntityList::of(position, made.objects)
        }
    }

    /// Makes lists of objects that are given values from contexts, one for each different value.
    fn given(
        &mut self,
        request: &Request,
        position: usize,
        contexts: &[Context],
        listed: &[ListedObject],
        listings: &mut Listings,
    ) -> Vec<EntityList> {
        let step = &request.steps[position];
        let mut texts = ContextValues::default();
        let mut by_values: IndexMap<Vec<usize>, Vec<ListedObject>> = IndexMap::new();
        for it in listed {
            let object = it.object;
            let values = contexts.iter().enumerate().map(|(number, context)| {
                let above = self.walk().above(object, context.value.levels);
                let text = texts.get(self, number, context, above)?;
                match text {
                    ContextValues::NULL if context.value.ty.is_non_null() => Err(Some(context)),
                    text => Ok(text),
                }
            });
            let values: Result<Vec<usize>, Option<&Context>> = values.collect();
            match values {
                Ok(values) => by_values.entry(values).or_default().push(*it),
                Err(missing) => {
                    if let Some(context) = missing {
                        self.without_value(position, context, object);
                    }
                    self.fail(step, object);
                }
            }
        }
        let limit = self.execution.limits.context_values;
        if by_values.len() > limit {
            let surplus: Vec<ObjectId> = by_values
                .split_off(limit)
                .into_values()
                .flatten()
                .map(|it| it.object)
                .collect();
            surplus.iter().for_each(|object| self.fail(step, *object));
            let failure = Failure {
                code: code::LIMIT_GATEWAY_CONTEXTS,
                reason: format!("it would be fetched with more than {limit} values from contexts"),
            };
            self.error(
                request,
                &[EntityList::of(position, vec![surplus])],
                &failure,
            );
        }
        let by_values = by_values.into_iter();
        let lists = by_values.map(|(values, listed)| {
            let mut list = self.list(request, position, &listed, listings);
            list.values = values.iter().map(|text| texts.text(*text)).collect();
            list
        });
        lists.collect()
    }

    /// Reports that a context has no value where an argument must have one.
    fn without_value(&mut self, step: usize, context: &Context, object: ObjectId) {
        for (node, argument) in &context.arguments {
            let supergraph = &self.execution.supergraph;
            let field = supergraph.field(self.walk().tree.node(*node).field);
            let parent = &supergraph.ty(field.parent).name;
            let message = format!(
                "`{parent}.{}` takes `{argument}` from a context that has no value",
                field.name
            );
            let key = Arc::clone(&self.walk().tree.node(*node).key);
            for mut place in self.walk().places(object, MAX_ERRORS) {
                place.push(Seg::Key(Arc::clone(&key)));
                for path in self.walk().client_paths(&place) {
                    let error = located(code::CONTEXT_VALUE_MISSING, &message, path);
                    self.report(step, error, Some(place.clone()));
                }
            }
        }
    }
}

fn located(code: ErrorCode, message: &str, path: Vec<PathSegment>) -> GraphqlError {
    GraphqlError::new(code, message).on(path)
}

/// The different values from contexts, and where they were found: many objects have the same one above.
struct ContextValues {
    all: IndexSet<Arc<[u8]>>,
    found: HashMap<(usize, ObjectId), Option<usize>>,
}

impl Default for ContextValues {
    fn default() -> Self {
        ContextValues {
            all: IndexSet::from([Arc::from(&b"null"[..])]),
            found: HashMap::new(),
        }
    }
}

impl ContextValues {
    const NULL: usize = 0;

    /// Returns the number of the value that a context has at an object.
    fn get<'c>(
        &mut self,
        executor: &Executor,
        number: usize,
        context: &Context,
        above: ObjectId,
    ) -> Result<usize, Option<&'c Context>> {
        let all = &mut self.all;
        let found = self.found.entry((number, above)).or_insert_with(|| {
            let mut text = Vec::new();
            let written = value_text(executor.walk(), above, &context.value.inputs, &mut text);
            written.ok().map(|()| all.insert_full(text.into()).0)
        });
        found.ok_or(None)
    }

    fn text(&self, number: usize) -> Arc<[u8]> {
        Arc::clone(&self.all[number])
    }
}
