//! What becomes of the answer to a request: its data are merged, and its errors find their places.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use graphql_service::PathSegment;

use super::answer::{self, Parsed};
use super::errors::{self, Late};
use super::fetch::{Failure, Received};
use super::found::{Blamed, Errors, MAX_ERRORS, PathItem, SubgraphError};
use super::lists::List;
use super::run::{Run, Sent};
use super::store::{Lack, ObjectId, Seg};
use crate::plan::{Entry, Request, Shape, Step};
use crate::transport::{Allowance, TransportError};

impl Run {
    /// Takes in the outcome of a request.
    pub(super) fn complete(
        &mut self,
        request: &Request,
        sent: &Sent,
        outcome: Result<Received, Failure>,
    ) {
        let Received { body, allowance } = match outcome {
            Ok(received) => received,
            Err(failure) => return self.failed(request, sent, &failure),
        };
        let wrong = |_| Failure::new("it is not a GraphQL response");
        let envelope = match answer::envelope(&body).map_err(wrong) {
            Ok(envelope) => envelope,
            Err(failure) => return self.failed(request, sent, &failure),
        };
        let errors = envelope.errors();
        let data = envelope
            .data
            .map(|data| answer::data(&body, data, &shape(request, sent), &allowance));
        match data {
            Some(Ok(data)) => {
                let merged = self.merge(request, sent, data, &errors, &allowance);
                // The types of objects tell under which names the client asked for what is in them.
                self.errors_of(request, sent, &errors);
                if let Err(error) = merged {
                    self.failed(request, sent, &Failure::of(&error));
                }
                self.held.push(allowance);
            }
            Some(Err(cause)) => {
                let failure = match cause {
                    None => Failure::of(&TransportError::OutOfMemory),
                    Some(_) => Failure::new("it is not a GraphQL response"),
                };
                self.failed(request, sent, &failure);
            }
            None if errors.list.is_empty() => {
                self.failed(request, sent, &Failure::new("there are no data"));
            }
            None => {
                self.errors_of(request, sent, &errors);
                self.fail_all(request, sent);
            }
        }
    }

    fn merge(
        &mut self,
        request: &Request,
        sent: &Sent,
        data: Parsed,
        errors: &Errors<'_>,
        allowance: &Allowance,
    ) -> Result<(), TransportError> {
        let Parsed::Object { mut members, .. } = data else {
            self.failed(request, sent, &Failure::new("the data are not an object"));
            return Ok(());
        };
        for list in sent {
            let (step, objects) = (&request.steps[list.step], &list.objects);
            let Entry::Entities { key, .. } = &step.entry else {
                let root = Parsed::Object {
                    typename: None,
                    members: members.clone(),
                };
                for object in objects.iter().flatten() {
                    allowance.hold(root.footprint())?;
                    self.store
                        .merge(&self.execution.supergraph, *object, root.clone());
                }
                continue;
            };
            let key = list.key(key);
            let place = members.iter().position(|(known, _)| **known == *key);
            let entities = place.map(|place| members.swap_remove(place).1);
            match entities {
                Some(Parsed::List(entities)) if entities.len() == objects.len() => {
                    let blamed = Blamed::new(errors, &key);
                    for (index, (entity, objects)) in entities.into_iter().zip(objects).enumerate()
                    {
                        self.entity(step, objects, entity, blamed.has(index), allowance)?;
                    }
                }
                // Nobody is asked for no entities.
                _ if objects.is_empty() => {}
                _ => {
                    let reason = "the list of entities is missing, or has the wrong length";
                    if errors.list.is_empty() {
                        let only = std::slice::from_ref(list);
                        self.error(request, only, &Failure::new(reason));
                    }
                    for object in objects.iter().flatten() {
                        self.fail(step, *object);
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds what a subgraph knows of an entity; null without an error says that it does not know it.
    fn entity(
        &mut self,
        step: &Step,
        objects: &[ObjectId],
        entity: Parsed,
        is_error: bool,
        allowance: &Allowance,
    ) -> Result<(), TransportError> {
        let Parsed::Object { .. } = entity else {
            let why = if is_error {
                Lack::Failed
            } else {
                Lack::Unknown
            };
            for object in objects {
                self.store.lack(*object, &step.shape, why);
            }
            return Ok(());
        };
        let Some((last, others)) = objects.split_last() else {
            return Ok(());
        };
        if !others.is_empty() {
            let size = entity.footprint();
            for object in others {
                allowance.hold(size)?;
                self.store
                    .merge(&self.execution.supergraph, *object, entity.clone());
            }
        }
        self.store.merge(&self.execution.supergraph, *last, entity);
        Ok(())
    }

    /// Marks what a step would have fetched for an object.
    pub(super) fn fail(&mut self, step: &Step, object: ObjectId) {
        self.store.lack(object, &step.shape, Lack::Failed);
    }

    fn fail_all(&mut self, request: &Request, sent: &Sent) {
        for list in sent {
            for object in list.objects.iter().flatten() {
                self.fail(&request.steps[list.step], *object);
            }
        }
    }

    fn failed(&mut self, request: &Request, sent: &Sent, failure: &Failure) {
        self.error(request, sent, failure);
        self.fail_all(request, sent);
    }

    /// Reports a failure at the longest path that its objects have in common.
    pub(super) fn error(&mut self, request: &Request, lists: &[List], failure: &Failure) {
        let path = self.common_path(lists);
        let name = &self.execution.supergraph.subgraph(request.subgraph).name;
        let (code, reason) = (failure.code, &failure.reason);
        self.report(errors::of_request(code, reason, name, path), None);
    }

    fn common_path(&self, lists: &[List]) -> Vec<PathSegment> {
        let mut common: Option<Vec<PathSegment>> = None;
        for object in lists.iter().flat_map(|list| &list.objects).flatten() {
            for path in self.walk().client_paths(&self.store.path(*object)) {
                common = Some(match common {
                    None => path,
                    Some(known) => errors::common(&[known, path]),
                });
            }
            if common.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
        }
        common.unwrap_or_default()
    }

    /// Reports the errors of an answer at the client's places.
    fn errors_of(&mut self, request: &Request, sent: &Sent, found: &Errors<'_>) {
        self.omitted += found.omitted;
        let supergraph = Arc::clone(&self.execution.supergraph);
        let name = &supergraph.subgraph(request.subgraph).name;
        let mut ways = Ways::new();
        let mut common = None;
        let with_traces = self.execution.stacktraces;
        for error in &found.list {
            if self.errors.len() >= MAX_ERRORS {
                self.omitted += 1;
                continue;
            }
            let (places, untold) = self.places(request, sent, error, &mut ways);
            let made = errors::of_subgraph(error, name, with_traces);
            if places.is_empty() && untold.is_empty() {
                let path = common.get_or_insert_with(|| self.common_path(sent));
                self.report(made.on(path.clone()), None);
                continue;
            }
            for (place, path) in places {
                self.report(made.clone().on(path), Some(place));
            }
            for place in untold {
                self.late.push(Late {
                    request: None,
                    place,
                    error: made.clone(),
                });
            }
        }
    }

    /// Returns the places of an error of a subgraph with the client's paths to them: one for each object
    /// that its entity stands for. An error about a field of all entities, whose path has no position in their list,
    /// has paths without positions. Of places without them, the types of objects above are not told yet.
    fn places(
        &self,
        request: &Request,
        sent: &Sent,
        error: &SubgraphError<'_>,
        ways: &mut Ways,
    ) -> (Vec<Located>, Vec<Vec<Seg>>) {
        let path = error.path();
        let (mut places, mut untold) = (Vec::new(), Vec::new());
        for (number, list) in sent.iter().enumerate() {
            let (step, objects) = (&request.steps[list.step], &list.objects);
            let mut is_of_all = false;
            let (objects, rest) = match (&step.entry, path.as_slice()) {
                (Entry::Root | Entry::Reentry(_), rest) if !rest.is_empty() => {
                    (objects.iter().flatten().collect::<Vec<_>>(), rest)
                }
                (
                    Entry::Entities { key, .. },
                    [PathItem::Key(first), PathItem::Index(index), rest @ ..],
                ) if *first == list.key(key) => {
                    (objects.get(*index).into_iter().flatten().collect(), rest)
                }
                (Entry::Entities { key, .. }, [PathItem::Key(first), rest @ ..])
                    if *first == list.key(key) && !rest.is_empty() =>
                {
                    is_of_all = true;
                    let ways = ways
                        .entry(number)
                        .or_insert_with(|| self.one_of_each_way(list));
                    (ways.iter().collect(), rest)
                }
                _ => continue,
            };
            for object in objects {
                // More would not be listed.
                if places.len() + untold.len() > MAX_ERRORS {
                    return (places, untold);
                }
                let mut place = self.store.path(*object);
                place.extend(rest.iter().map(|item| match item {
                    PathItem::Index(index) => Seg::Index(*index),
                    PathItem::Key(key) => Seg::Key(key.as_str().into()),
                }));
                if self.late.len() < MAX_ERRORS && self.walk().is_untold(&place) {
                    untold.push(place);
                    continue;
                }
                let mut paths = self.walk().client_paths(&place);
                if is_of_all {
                    place.retain(|seg| matches!(seg, Seg::Key(_)));
                    for path in &mut paths {
                        path.retain(|segment| matches!(segment, PathSegment::Key(_)));
                    }
                }
                places.extend(paths.into_iter().map(|path| (place.clone(), path)));
            }
        }
        (places, untold)
    }

    /// Returns the objects of a list that different fields lead to, whatever their positions in lists.
    fn one_of_each_way(&self, list: &List) -> Vec<ObjectId> {
        let mut ways = HashSet::new();
        let objects = list.objects.iter().flatten().copied();
        objects
            .filter(|object| ways.insert(self.store.way(*object)))
            .collect()
    }
}

/// By the position of a list in its request, the objects that different fields lead to.
type Ways = HashMap<usize, Vec<ObjectId>>;

/// A place with the client's path to it.
type Located = (Vec<Seg>, Vec<PathSegment>);

/// Returns the form that the answer to a request must have.
fn shape(request: &Request, sent: &Sent) -> Shape {
    let mut members = HashMap::new();
    for list in sent {
        let step = &request.steps[list.step];
        match (&step.entry, &step.shape) {
            (Entry::Entities { key, .. }, shape) => {
                members.insert(list.key(key).into(), shape.clone());
            }
            (_, Shape::Object(root)) => members.extend(root.clone()),
            (_, Shape::Leaf) => {}
        }
    }
    Shape::Object(members)
}
