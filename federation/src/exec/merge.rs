//! Merges the answer to a request: its data go into the store, and its errors find their places.

use std::collections::HashMap;
use std::sync::Arc;

use graphql_service::PathSegment;

use super::entity_lists::EntityList;
use super::errors::{self, PendingError};
use super::executor::{Executor, SentLists};
use super::fetch::{Failure, ReceivedBody};
use super::places::{CommonPrefixes, KeyPaths};
use super::response::{self, ExpectedData, ReadError, ResponseData};
use super::store::{ObjectId, Place, Seg, Unavailable, Value};
use super::subgraph_errors::{FailedEntities, MAX_ERRORS, PathItem, SubgraphError, SubgraphErrors};
use crate::plan::{EntryObjects, Request, Step};
use crate::transport::{Allowance, TransportError};

impl Executor {
    /// Takes in the outcome of a request.
    pub(super) fn complete(
        &mut self,
        request: &Request,
        sent: &SentLists,
        outcome: Result<ReceivedBody, Failure>,
    ) {
        let ReceivedBody { body, allowance } = match outcome {
            Ok(received) => received,
            Err(failure) => return self.failed(request, sent, &failure),
        };
        let supergraph = &self.execution.supergraph;
        let expected = expected(request, sent);
        let answer = response::read(&body, expected, supergraph, &mut self.store, &allowance);
        let answer = match answer {
            Ok(answer) => answer,
            Err(cause) => {
                let failure = match cause {
                    ReadError::OutOfMemory => Failure::of(&TransportError::OutOfMemory),
                    ReadError::NoAnswer => Failure::new("it is not a GraphQL response"),
                };
                return self.failed(request, sent, &failure);
            }
        };
        let errors = answer.errors;
        match answer.data {
            ResponseData::Null if errors.list.is_empty() => {
                self.failed(request, sent, &Failure::new("there are no data"));
            }
            ResponseData::Null => {
                self.errors_of(request, sent, &errors);
                self.fail_all(request, sent);
            }
            data => {
                let merged = self.merge(request, sent, data, &errors, &allowance);
                // The types of objects tell under which names the client asked for what is in them.
                self.errors_of(request, sent, &errors);
                if let Err(error) = merged {
                    self.failed(request, sent, &Failure::of(&error));
                }
                self.held.push(allowance);
            }
        }
    }

    fn merge(
        &mut self,
        request: &Request,
        sent: &SentLists,
        data: ResponseData,
        errors: &SubgraphErrors<'_>,
        allowance: &Allowance,
    ) -> Result<(), TransportError> {
        let lists = match data {
            ResponseData::Object(said) => {
                for list in sent {
                    let step = &request.steps[list.step];
                    for objects in &list.objects {
                        self.add(step, objects, said, allowance)?;
                    }
                }
                return Ok(());
            }
            ResponseData::Entities(lists) => lists,
            ResponseData::Null | ResponseData::Misfit => {
                self.failed(request, sent, &Failure::new("the data are not an object"));
                return Ok(());
            }
        };
        for (list, entities) in sent.iter().zip(lists) {
            let (step, objects) = (&request.steps[list.step], &list.objects);
            match entities {
                Some(entities) if entities.len() == objects.len() => {
                    let failed = FailedEntities::new(errors, &list.key(step.key()));
                    for (index, (entity, objects)) in entities.into_iter().zip(objects).enumerate()
                    {
                        if let Value::Object(said) = entity {
                            self.add(step, objects, said, allowance)?;
                            continue;
                        }
                        // Null without an error says that the subgraph does not know the entity.
                        let why = if failed.has(index) {
                            Unavailable::Failed
                        } else {
                            Unavailable::Unknown
                        };
                        for object in objects {
                            self.store.mark_unavailable(*object, &step.members, why);
                        }
                    }
                }
                // No one is asked for no entities.
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

    /// Adds what is said of an object that stands for others too.
    pub(super) fn add(
        &mut self,
        step: &Step,
        objects: &[ObjectId],
        said: ObjectId,
        allowance: &Allowance,
    ) -> Result<(), TransportError> {
        let (members, store) = (&step.members, &mut self.store);
        let (first, others) = match objects {
            [] => return Ok(()),
            [first, others @ ..] => (*first, others),
        };
        if step.is_shareable && !others.is_empty() {
            store.add_to_all(objects, members, said);
            return Ok(());
        }
        if !others.is_empty() {
            let size = store.footprint(said);
            for object in others {
                allowance.hold(size)?;
                let copy = store.copy(said, Place::Of(*object));
                store.add(*object, members, copy);
            }
        }
        store.add(first, members, said);
        Ok(())
    }

    /// Marks what a step would have fetched for an object.
    pub(super) fn fail(&mut self, step: &Step, object: ObjectId) {
        self.store
            .mark_unavailable(object, &step.members, Unavailable::Failed);
    }

    fn fail_all(&mut self, request: &Request, sent: &SentLists) {
        for list in sent {
            for object in list.objects.iter().flatten() {
                self.fail(&request.steps[list.step], *object);
            }
        }
    }

    pub(super) fn failed(&mut self, request: &Request, sent: &SentLists, failure: &Failure) {
        self.error(request, sent, failure);
        self.fail_all(request, sent);
    }

    /// Reports a failure at the longest path that its objects have in common.
    pub(super) fn error(&mut self, request: &Request, lists: &[EntityList], failure: &Failure) {
        let path = self.common_path(lists);
        let name = &self.execution.supergraph.subgraph(request.subgraph).name;
        let (code, reason) = (failure.code, &failure.reason);
        let step = lists.first().map_or(0, |list| list.step);
        self.report(step, errors::of_request(code, reason, name, path), None);
    }

    fn common_path(&self, lists: &[EntityList]) -> Vec<PathSegment> {
        let mut common: Option<Vec<PathSegment>> = None;
        let mut places = CommonPrefixes::new(self.walk());
        for object in lists.iter().flat_map(|list| &list.objects).flatten() {
            for path in self.walk().client_paths(&places.of(*object)) {
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
    fn errors_of(&mut self, request: &Request, sent: &SentLists, found: &SubgraphErrors<'_>) {
        self.omitted += found.omitted;
        let supergraph = Arc::clone(&self.execution.supergraph);
        let name = &supergraph.subgraph(request.subgraph).name;
        let mut by_list = PlacesByList::new();
        let mut common = None;
        let with_traces = self.execution.stacktraces;
        for error in &found.list {
            if self.errors.len() >= MAX_ERRORS {
                self.omitted += 1;
                continue;
            }
            let (places, untold) = self.places(request, sent, error, &mut by_list);
            let made = errors::of_subgraph(error, name, with_traces);
            if places.is_empty() && untold.is_empty() {
                let path = common.get_or_insert_with(|| self.common_path(sent));
                let step = sent.first().map_or(0, |list| list.step);
                self.report(step, made.on(path.clone()), None);
                continue;
            }
            for LocatedPlace { step, place, path } in places {
                self.report(step, made.clone().on(path), Some(place));
            }
            for (step, place) in untold {
                self.pending_errors.push(PendingError {
                    request: None,
                    step,
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
        sent: &SentLists,
        error: &SubgraphError<'_>,
        by_list: &mut PlacesByList,
    ) -> (Vec<LocatedPlace>, Vec<(usize, Vec<Seg>)>) {
        let path = error.path();
        let (mut places, mut untold) = (Vec::new(), Vec::new());
        for (number, list) in sent.iter().enumerate() {
            let (step, objects) = (&request.steps[list.step], &list.objects);
            let mut is_of_all = false;
            let (above, rest) = match (&step.entry, path.as_slice()) {
                (EntryObjects::Root | EntryObjects::Reentry(_), rest) if !rest.is_empty() => {
                    (self.places_of(objects.iter().flatten()), rest)
                }
                (
                    EntryObjects::Entities { key, .. },
                    [PathItem::Key(first), PathItem::Index(index), rest @ ..],
                ) if *first == list.key(key) => {
                    let objects = objects.get(*index).into_iter().flatten();
                    (self.places_of(objects), rest)
                }
                (EntryObjects::Entities { key, .. }, [PathItem::Key(first), rest @ ..])
                    if *first == list.key(key) && !rest.is_empty() =>
                {
                    is_of_all = true;
                    let places = by_list.entry(number).or_insert_with(|| {
                        let objects = list.objects.iter().flatten().copied();
                        KeyPaths::new(self.walk()).places(objects)
                    });
                    (places.clone(), rest)
                }
                _ => continue,
            };
            for mut place in above {
                // More would not be listed.
                if places.len() + untold.len() > MAX_ERRORS {
                    return (places, untold);
                }
                place.extend(rest.iter().map(|item| match item {
                    PathItem::Index(index) => Seg::Index(*index),
                    PathItem::Key(key) => Seg::Key(key.as_str().into()),
                }));
                if self.pending_errors.len() < MAX_ERRORS && self.walk().is_untold(&place) {
                    untold.push((list.step, place));
                    continue;
                }
                let mut paths = self.walk().client_paths(&place);
                if is_of_all {
                    place.retain(|seg| matches!(seg, Seg::Key(_)));
                    for path in &mut paths {
                        path.retain(|segment| matches!(segment, PathSegment::Key(_)));
                    }
                }
                places.extend(paths.into_iter().map(|path| LocatedPlace {
                    step: list.step,
                    place: place.clone(),
                    path,
                }));
            }
        }
        (places, untold)
    }

    /// Returns the places of objects, as many as can be listed.
    fn places_of<'o>(&self, objects: impl Iterator<Item = &'o ObjectId>) -> Vec<Vec<Seg>> {
        let most = MAX_ERRORS + 1;
        let places = objects.flat_map(|object| self.walk().places(*object, most));
        places.take(most).collect()
    }
}

/// By the position of a list in its request, places that different fields lead to.
type PlacesByList = HashMap<usize, Vec<Vec<Seg>>>;

/// A place that a step is about, with the client's path to it.
struct LocatedPlace {
    step: usize,
    place: Vec<Seg>,
    path: Vec<PathSegment>,
}

/// Returns the form that the answer to a request must have.
fn expected<'r>(request: &'r Request, sent: &SentLists) -> ExpectedData<'r> {
    let of = |list: &EntityList| {
        let step = &request.steps[list.step];
        (list.key(step.key()), &step.members)
    };
    match sent.first().map(|list| &request.steps[list.step]) {
        Some(step) if !matches!(step.entry, EntryObjects::Entities { .. }) => {
            ExpectedData::Object(&step.members)
        }
        _ => ExpectedData::Entities(sent.iter().map(of).collect()),
    }
}
