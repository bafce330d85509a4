//! Runs requests: parsing and writing short texts on the async worker, longer ones in slots, and
//! searches where the engine runs them.

use std::sync::Arc;
use std::time::Duration;

use apollo_compiler::Schema;
use apollo_compiler::validation::Valid;
use arc_swap::ArcSwap;
use async_trait::async_trait;
use call_context::{InSlots, PATIENCE, RequestMemory, Size};
use futures::FutureExt;
use futures::stream::{self, StreamExt};
use graph_store::CallContext;
use graphql_service::document::{Documents, Prepared, Refusal};
use graphql_service::writer::{AnswerWriter, PathStep, PropagateNull, WriteResult};
use graphql_service::{
    GraphqlError, OutOfMemory, PathSegment, Reply, Request, RequestContext, Service, Weight,
};

use super::failure::{Failure, failure};
use super::options::SearchServiceOptions;
use super::target::SearchTarget;
use crate::answer::{AnswerToSearch, write_entities, write_service};
use crate::code;
use crate::engine::{Answer, Binding, EngineError, PhysicalName, SearchEngine, index_behind};
use crate::sdl::{RootField, RootSearch, SearchApi};

/// Referenced objects that are written on an async worker.
const SHORT_ENTITIES: usize = 500;

/// Searches of one request that run at the same time.
const AT_ONCE: usize = 4;

/// A GraphQL service over the indexes of an engine.
///
/// Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct SearchService {
    shared: Arc<Shared>,
}

struct Shared {
    api: SearchApi,
    engine: Arc<dyn SearchEngine>,
    /// Where the searches of each index go, in the order of the indexes.
    targets: Arc<ArcSwap<Vec<SearchTarget>>>,
    documents: Documents,
    options: SearchServiceOptions,
}

/// A request that is ready for the engine.
struct Ready {
    prepared: Prepared,
    roots: Vec<RootField>,
    /// Warnings of what the sender may not read.
    left_out: Vec<GraphqlError>,
    /// It was read in a slot, and is freed in one.
    is_large: bool,
}

/// What became of a search: an answer, or why there is none.
type Searched = Result<Answer, GraphqlError>;

impl SearchService {
    /// Creates a service; there is a target for each index of the API.
    ///
    /// # Panics
    /// When there are fewer or more.
    #[must_use]
    pub fn new(
        api: SearchApi,
        engine: Arc<dyn SearchEngine>,
        targets: Vec<SearchTarget>,
        options: SearchServiceOptions,
    ) -> Self {
        let service = SearchService::over(api, engine, Arc::default(), options);
        service.set_targets(targets);
        service
    }

    /// Creates a service with a different API for the same indexes, whose searches always use the same targets as this one.
    ///
    /// # Panics
    /// When the API has another number of indexes.
    #[must_use]
    pub fn beside(&self, api: SearchApi, options: SearchServiceOptions) -> Self {
        let indexes = api.indexes().indexes.len();
        assert_eq!(indexes, self.targets().len(), "the indexes are the same");
        let (engine, targets) = (&self.shared.engine, &self.shared.targets);
        SearchService::over(api, Arc::clone(engine), Arc::clone(targets), options)
    }

    fn over(
        api: SearchApi,
        engine: Arc<dyn SearchEngine>,
        targets: Arc<ArcSwap<Vec<SearchTarget>>>,
        options: SearchServiceOptions,
    ) -> Self {
        let bytes = options.document_cache_bytes;
        SearchService {
            shared: Arc::new(Shared {
                documents: Documents::new(api.schema(), options.limits.clone(), bytes),
                targets,
                api,
                engine,
                options,
            }),
        }
    }

    /// Sets the targets of new searches; running searches keep theirs.
    ///
    /// # Panics
    /// When there is not one target for each index of the API.
    pub fn set_targets(&self, targets: Vec<SearchTarget>) {
        let indexes = self.shared.api.indexes().indexes.len();
        assert_eq!(targets.len(), indexes, "each index has one target");
        self.shared.targets.store(Arc::new(targets));
    }

    /// Returns where the searches of each index go.
    #[must_use]
    pub fn targets(&self) -> Arc<Vec<SearchTarget>> {
        self.shared.targets.load_full()
    }

    /// Returns the API.
    #[must_use]
    pub fn api(&self) -> &SearchApi {
        &self.shared.api
    }

    /// Returns the engine.
    #[must_use]
    pub fn engine(&self) -> &Arc<dyn SearchEngine> {
        &self.shared.engine
    }

    async fn run(&self, request: Request, context: RequestContext) -> Result<Reply, Refusal> {
        let (ready, context) = self.ready(request, context).await?;
        let call = self.call(&context);
        if let Err(error) = self.reach(&ready, &context).await {
            let roots = ready.roots.iter();
            let behind = roots.map(|root| match root {
                RootField::Search(root) => {
                    let path = vec![PathSegment::Key(root.key.clone())];
                    Some(Err(error.clone().at(root.location).on(path)))
                }
                _ => None,
            });
            let behind = behind.collect();
            return Ok(self.write(ready, behind, context, call).await);
        }
        let mut searched = Vec::with_capacity(ready.roots.len());
        let searches = ready.roots.iter();
        let searches: Vec<_> = searches
            .map(|root| self.searched(root, &call).boxed())
            .collect();
        let mut searches = stream::iter(searches).buffered(AT_ONCE);
        while let Some(one) = searches.next().await {
            match one {
                Ok(one) => searched.push(one),
                Err(error) => return Ok(Reply::Overloaded(error)),
            }
        }
        drop(searches);
        Ok(self.write(ready, searched, context, call).await)
    }

    /// Reads a request, in a slot if that may take long.
    async fn ready(
        &self,
        request: Request,
        context: RequestContext,
    ) -> Result<(Ready, RequestContext), Refusal> {
        let shared = Arc::clone(&self.shared);
        let size = request.size(shared.documents.known(&request.query).is_some());
        let (slots, deadline) = (&self.shared.options.slots, context.call.deadline);
        let work = move || {
            let mut ready = shared.read(&request, &context)?;
            ready.is_large = !size.is_short();
            Ok((ready, context))
        };
        let done = slots.run_sized(size, deadline, work).await;
        done.unwrap_or_else(|error| Err(vec![error.into()]))
    }

    /// Waits until the indexes that are searched have the changes that the client names.
    async fn reach(&self, ready: &Ready, context: &RequestContext) -> Result<(), GraphqlError> {
        let awaited = context.sequences.awaited();
        if awaited.is_empty() {
            return Ok(());
        }
        let searched = || -> Vec<PhysicalName> {
            let targets = self.targets();
            let searched = ready.roots.iter().filter_map(|root| match root {
                RootField::Search(root) => match &targets[root.index] {
                    SearchTarget::Ready(name) => Some(name.clone()),
                    SearchTarget::Building { .. } | SearchTarget::Missing => None,
                },
                _ => None,
            });
            searched.collect()
        };
        if searched().is_empty() {
            return Ok(());
        }
        match &self.shared.options.reach {
            Some(reach) => reach.reach(awaited, &searched, &context.call).await,
            None => {
                let message = "the indexes do not follow changes of the data, so a search cannot wait for one";
                Err(GraphqlError::new(code::INDEX_BEHIND, message))
            }
        }
    }

    fn call(&self, context: &RequestContext) -> CallContext {
        let slots = Arc::clone(&self.shared.options.slots);
        context
            .call
            .clone()
            .with_memory(Arc::new(RequestMemory::new(
                Arc::clone(&context.memory),
                false,
            )))
            .with_long_work(Arc::new(InSlots::new(slots, context.call.deadline)))
    }

    /// Runs the search of a root field, if it is one; fails when there is no room for the whole request.
    async fn searched(
        &self,
        root: &RootField,
        call: &CallContext,
    ) -> Result<Option<Searched>, GraphqlError> {
        let RootField::Search(root) = root else {
            return Ok(None);
        };
        let at = |error: GraphqlError| {
            let path = vec![PathSegment::Key(root.key.clone())];
            Ok(Some(Err(error.at(root.location).on(path))))
        };
        let shared = &*self.shared;
        let definition = &shared.api.indexes().indexes[root.index];
        let target = shared.targets.load()[root.index].clone();
        let name = match target.ready(&definition.name, root.hides_some) {
            Ok(name) => name,
            Err(error) => return at(error),
        };
        let search = async |name| {
            let binding = Binding { definition, name };
            shared.engine.search(binding, &root.search, call).await
        };
        let mut answer = search(name).await;
        if let Err(EngineError::NotFound { .. }) = &answer
            && let Some(successor) = shared.successor(root.index, name, call).await
        {
            answer = search(&successor).await;
        }
        match answer {
            Ok(answer) => Ok(Some(Ok(answer))),
            Err(error) => match failure(&error, &call.request_id) {
                Failure::Overloaded(error) => Err(error),
                Failure::Failed(error) => at(error),
            },
        }
    }

    /// Writes the answer, in a slot if it is long.
    async fn write(
        &self,
        ready: Ready,
        searched: Vec<Option<Searched>>,
        context: RequestContext,
        call: CallContext,
    ) -> Reply {
        let answers = searched.iter().flatten().flatten();
        let hits = answers.flat_map(|answer| &answer.hits);
        let size = Size::Results(hits.map(|hit| hit.source.len()).sum());
        let is_short = size.is_short() && !ready.is_large && self.shared.is_quick(&ready);
        if is_short {
            return self
                .shared
                .reply(&ready, &searched, &context, Duration::ZERO);
        }
        let shared = Arc::clone(&self.shared);
        let (slots, deadline) = (&self.shared.options.slots, context.call.deadline);
        let work = move |_| {
            // What the engine holds is held until the answer is written.
            let _call = call;
            shared.reply(&ready, &searched, &context, PATIENCE)
        };
        let done = slots.run(Weight::Medium, deadline, work).await;
        done.unwrap_or_else(|error| Reply::Overloaded(error.into()))
    }
}

impl Shared {
    /// Returns the index that another instance has put in the place of one that is gone, and searches it from now on.
    async fn successor(
        &self,
        at: usize,
        gone: &PhysicalName,
        call: &CallContext,
    ) -> Option<PhysicalName> {
        let application = self.options.shared_with.as_ref()?;
        if let SearchTarget::Ready(name) = &self.targets.load()[at]
            && name != gone
        {
            return Some(name.clone());
        }
        let states = self.engine.indexes(call).await.ok()?;
        let definition = &self.api.indexes().indexes[at];
        let successor = index_behind(definition, &states, application)?;
        self.targets.rcu(|targets| {
            let mut targets = Vec::clone(targets);
            if targets[at] == SearchTarget::Ready(gone.clone()) {
                targets[at] = SearchTarget::Ready(successor.clone());
            }
            targets
        });
        (successor != gone).then(|| successor.clone())
    }

    fn read(&self, request: &Request, context: &RequestContext) -> Result<Ready, Refusal> {
        let prepared = self.documents.read(request, context)?;
        let rules = self.options.rules.as_ref();
        let sight = rules.and_then(|rules| rules.sight(context));
        let limits = &self.options.search_limits;
        let roots = self.api.roots(&prepared, limits, sight.as_deref())?;
        Ok(Ready {
            prepared,
            roots: roots.fields,
            left_out: roots.left_out,
            is_large: false,
        })
    }

    /// Returns whether what the request asks for beside searches takes no time to write.
    fn is_quick(&self, ready: &Ready) -> bool {
        ready.roots.iter().all(|root| match root {
            RootField::Introspection { key } => {
                self.documents.has_introspected(&ready.prepared, key)
            }
            // Printed once, and read once by each gateway.
            RootField::Service(_) => false,
            RootField::Entities(entities) => entities.objects.len() <= SHORT_ENTITIES,
            RootField::Search(_) => true,
        })
    }

    fn reply(
        &self,
        ready: &Ready,
        searched: &[Option<Searched>],
        context: &RequestContext,
        patience: Duration,
    ) -> Reply {
        let mut writer = AnswerWriter::new()
            .with_limit(self.options.limits.response_bytes)
            .with_memory(Arc::clone(&context.memory), patience);
        for warning in &ready.left_out {
            writer.push_error(warning.clone());
        }
        let written = self.data(ready, searched, &mut writer);
        if writer.is_out_of_memory() {
            return Reply::Overloaded(OutOfMemory.into());
        }
        Reply::Executed(writer.finish(written))
    }

    fn data<'a>(
        &'a self,
        ready: &'a Ready,
        searched: &'a [Option<Searched>],
        writer: &mut AnswerWriter<'a>,
    ) -> WriteResult {
        writer.out.push(b'{');
        for (position, (root, searched)) in ready.roots.iter().zip(searched).enumerate() {
            let key = root.key();
            writer.key(position, key);
            writer.enter(PathStep::Key(key));
            match (root, searched) {
                (RootField::Search(search), Some(searched)) => {
                    write_search(search, searched, writer)?;
                }
                (RootField::Service(service), _) => {
                    write_service(service, self.api.service_sdl(), writer)?;
                }
                (RootField::Entities(entities), _) => write_entities(entities, writer)?,
                (RootField::Search(_) | RootField::Introspection { .. }, _) => {
                    self.documents.introspect(&ready.prepared, key, writer)?;
                }
            }
            writer.leave();
        }
        writer.out.push(b'}');
        writer.check_size()
    }
}

fn write_search<'a>(
    search: &'a RootSearch,
    searched: &'a Searched,
    writer: &mut AnswerWriter<'a>,
) -> Result<(), PropagateNull> {
    match searched {
        Ok(answer) => AnswerToSearch { search, answer }.write(writer),
        Err(error) => {
            writer.push_error(error.clone());
            writer.null();
            Ok(())
        }
    }
}

#[async_trait]
impl Service for SearchService {
    fn schema(&self) -> &Valid<Schema> {
        self.shared.api.schema()
    }

    async fn reply(&self, request: Request, context: RequestContext) -> Reply {
        match self.run(request, context).await {
            Ok(reply) => reply,
            Err(errors) => Reply::Refused(errors),
        }
    }
}
