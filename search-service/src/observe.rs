//! Looks at the engines. Nothing is remembered from when the indexes were built.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use futures::future::join_all;
use graph_store::CallContext;
use search_index::engine::{
    Age, Built, DataPosition, Engine, EngineError, EngineHealth, HealthLevel, IndexState,
    PhysicalName,
};
use search_index::indexer::StoreData;
use search_index::mapping::IndexDefinition;
use search_index::service::SearchTarget;
use service_runtime::schemas::{StoreTrouble, store_trouble};
use tokio::time::{Instant, timeout_at};

use super::app::SearchApp;
use super::bound::Bound;
use super::followed::Followed;
use super::observation::{EngineState, Observation, Problem, SeenIndex};

/// Indexes whose documents are counted at the same time.
const COUNTS: usize = 4;

impl SearchApp {
    /// Looks at the engines, together with all others who want to know.
    pub(super) async fn look(&self) -> Arc<Observation> {
        let look = || async { Arc::new(self.look_now().await) };
        self.looks.get(look).await
    }

    async fn look_now(&self) -> Observation {
        let time = self.options.health_check_time;
        let bound = self.bound();
        let (engine, other) = (&self.engines.searched, &self.engines.written);
        let (context, end) = (CallContext::new().with_timeout(time), Instant::now() + time);
        let searched = self.see(bound.as_ref(), end, &context);
        let written = async {
            if Arc::ptr_eq(engine, other) {
                None
            } else {
                Some(in_time(end, answers(other, &context)).await)
            }
        };
        let schemas = self.see_schemas();
        let sequence = async { timeout_at(end, self.last_sequence(&context)).await.ok()? };
        let (searched, written, schemas, sequence) =
            tokio::join!(searched, written, schemas, sequence);
        let (searched, indexes) = match searched {
            Ok(indexes) => (EngineState::Answers, indexes),
            Err(state) => (state, Vec::new()),
        };
        let written = match written {
            None => searched.clone(),
            Some(answered) => answered.map_or_else(|state| state, |_| EngineState::Answers),
        };
        Observation {
            bound: bound.as_ref().map_or_else(Weak::new, Arc::downgrade),
            searched,
            written,
            indexes,
            schemas,
            sequence,
        }
    }

    /// Returns the sequence of the last change of the data, if their store says it.
    pub(super) async fn last_sequence(&self, context: &CallContext) -> Option<u64> {
        let data = StoreData::of(self.data.as_ref()?);
        data.last_sequence(context).await.ok()?
    }

    /// Asks the store of the schemas, if other instances share it; returns what is wrong with it.
    async fn see_schemas(&self) -> Option<StoreTrouble> {
        if !self.schemas.is_shared() {
            return None;
        }
        let options = &self.options;
        let time = options.health_check_time.max(options.schemas_check_time);
        store_trouble(self.schemas.as_ref(), time).await
    }

    /// Looks at the indexes of the bound schema. The engine answers if it says which there are and how they are; of
    /// many, not all may be counted in time.
    async fn see(
        &self,
        bound: Option<&Arc<Bound>>,
        end: Instant,
        context: &CallContext,
    ) -> Result<Vec<SeenIndex>, EngineState> {
        let engine = &self.engines.searched;
        let Some(bound) = bound else {
            in_time(end, answers(engine, context)).await?;
            return Ok(Vec::new());
        };
        let states = in_time(end, engine.indexes(context)).await?;
        let targets = bound.service.targets();
        let is_there = |name: &&PhysicalName| states.iter().any(|state| state.name == **name);
        let there: Vec<PhysicalName> = targets
            .iter()
            .filter_map(ready)
            .filter(is_there)
            .cloned()
            .collect();
        // What is known here is newer than what is noted, and older than what is counted.
        let followed = self.follower.shown();
        let counting = async { Ok::<_, EngineState>(counts(engine, &there, end, context).await) };
        let (health, counts) =
            tokio::try_join!(in_time(end, engine.health(&there, context)), counting)?;
        let built = built_of(&states, &followed, &there);
        // In this order: an index whose documents were counted has all changes that there were then, if it has all that
        // there are now.
        let ages = timeout_at(end, self.ages(&built, context)).await;
        let seen = Seen {
            app: self,
            states,
            health,
            counts,
            built,
            ages: ages.unwrap_or_default(),
            may_be_older: self.may_be_older(bound),
            is_building: self.is_building(),
        };
        let definitions = bound.indexes.indexes.iter().zip(targets.iter());
        let indexes = definitions.map(|(definition, target)| match ready(target) {
            Some(name) => seen.index(definition, name),
            None => SeenIndex::default(),
        });
        Ok(indexes.collect())
    }
}

/// For how long an index may lack changes until that is a problem.
const LONG: Duration = Duration::from_secs(30);

impl SearchApp {
    /// Looks how old indexes are that have the data before some positions.
    async fn ages(
        &self,
        built: &HashMap<PhysicalName, Built>,
        context: &CallContext,
    ) -> HashMap<Option<DataPosition>, Age> {
        let Some(data) = &self.data else {
            return HashMap::new();
        };
        let data = StoreData::of(data);
        let noted = built.values().map(|built| built.data.clone());
        // Of an index that is being filled under the name of one that is gone, nothing is noted yet.
        let positions: HashSet<Option<DataPosition>> = noted.chain([None]).collect();
        let mut ages = HashMap::with_capacity(positions.len());
        for position in positions {
            let age = data.age(position.as_ref(), context).await;
            ages.insert(position, age.unwrap_or(Age::Unknown));
        }
        ages
    }
}

/// Returns what indexes have and lack: as the follower knows it here, else as it is noted.
fn built_of(
    states: &[IndexState],
    followed: &Followed,
    names: &[PhysicalName],
) -> HashMap<PhysicalName, Built> {
    let built = names.iter().filter_map(|name| {
        let state = states.iter().find(|state| state.name == *name)?;
        let noted = state.mark.as_ref()?.built.as_ref()?;
        let known = followed.indexes.get(name);
        let sequence = |built: &Built| built.data.as_ref().map(|data| data.sequence);
        let newest = known.filter(|known| sequence(known) >= sequence(noted));
        Some((name.clone(), newest.unwrap_or(noted).clone()))
    });
    built.collect()
}

/// What the engine says of all indexes.
struct Seen<'s> {
    app: &'s SearchApp,
    states: Vec<IndexState>,
    health: EngineHealth,
    counts: Vec<(PhysicalName, Option<u64>)>,
    /// What the indexes have and lack.
    built: HashMap<PhysicalName, Built>,
    /// How old indexes are that have the data before a position.
    ages: HashMap<Option<DataPosition>, Age>,
    may_be_older: bool,
    is_building: bool,
}

impl Seen<'_> {
    fn index(&self, definition: &IndexDefinition, name: &PhysicalName) -> SeenIndex {
        let Some(state) = self.states.iter().find(|state| state.name == *name) else {
            return SeenIndex::with(Problem::Gone);
        };
        let application = &self.app.host.options.name;
        let Some(mark) = state
            .mark
            .as_ref()
            .filter(|mark| mark.application == *application)
        else {
            return SeenIndex::with(Problem::Foreign);
        };
        if mark.fingerprint != definition.fingerprint {
            return SeenIndex::with(Problem::Redefined);
        }
        let mut problems = Vec::new();
        let alias = definition.alias();
        // A run that ends moves the aliases a moment before its indexes are served.
        if !self.is_building && !state.aliases.contains(&alias) {
            problems.push(Problem::AliasElsewhere(alias));
        }
        let bad = self.health.indexes.get(name);
        if let Some(bad) = bad.filter(|health| health.level == HealthLevel::Bad) {
            problems.push(Problem::Unhealthy(bad.message.clone().unwrap_or_default()));
        }
        let counted = self.counts.iter().find(|(counted, _)| counted == name);
        let documents = counted.and_then(|(_, number)| *number);
        if documents.is_none() && problems.is_empty() {
            problems.push(Problem::NotCounted);
        }
        let built = self.built.get(name).or(mark.built.as_ref());
        let position = built.and_then(|built| built.data.clone());
        // What is not known in time is no problem of the index.
        let age = self.ages.get(&position).copied().unwrap_or(Age::Unknown);
        // By the clock of who wrote the first change that it lacks.
        let lag = match age {
            Age::Current => Some(Duration::ZERO),
            Age::Behind(since) => {
                let lag = SystemTime::now().duration_since(since);
                Some(lag.unwrap_or_default())
            }
            Age::Older | Age::Unknown => None,
        };
        if let Some(built) = built {
            let is_behind = matches!(age, Age::Behind(_));
            // Those that are counted have changes that are not noted yet.
            problems.extend(self.lacks(built, documents.filter(|_| !is_behind)));
        }
        problems.extend(match age {
            Age::Older => Some(Problem::Older),
            Age::Unknown => self.may_be_older.then_some(Problem::MayBeOlder),
            Age::Current | Age::Behind(_) => lag.filter(|lag| *lag >= LONG).map(Problem::Behind),
        });
        SeenIndex {
            is_seen: true,
            documents,
            built: built.cloned(),
            lag,
            problems,
        }
    }

    /// Returns what an index lacks, by what was noted when it was built.
    fn lacks(&self, built: &Built, documents: Option<u64>) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Some(found) = documents.filter(|found| *found != built.documents) {
            let built = built.documents;
            problems.push(Problem::Incomplete { found, built });
        }
        if built.rejected > 0 {
            problems.push(Problem::Rejected(built.rejected));
        }
        if built.malformed > 0 && !self.app.options.ignore_malformed {
            problems.push(Problem::Malformed(built.malformed));
        }
        problems
    }
}

fn ready(target: &SearchTarget) -> Option<&PhysicalName> {
    match target {
        SearchTarget::Ready(name) => Some(name),
        SearchTarget::Building { .. } | SearchTarget::Missing => None,
    }
}

async fn answers(engine: &Engine, context: &CallContext) -> Result<(), EngineError> {
    engine.health(&[], context).await.map(drop)
}

/// Counts the documents of indexes, of a few at the same time, until a health check ends.
async fn counts(
    engine: &Engine,
    names: &[PhysicalName],
    end: Instant,
    context: &CallContext,
) -> Vec<(PhysicalName, Option<u64>)> {
    let mut counted = Vec::with_capacity(names.len());
    for some in names.chunks(COUNTS) {
        let counts = some.iter().map(|name| async move {
            let count = timeout_at(end, engine.count(name, context)).await;
            count.ok().and_then(Result::ok)
        });
        let counts = join_all(counts).await;
        counted.extend(some.iter().cloned().zip(counts));
        if Instant::now() >= end {
            break;
        }
    }
    counted
}

/// Waits for what an engine says, though not beyond the end of a health check.
async fn in_time<T>(
    end: Instant,
    look: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, EngineState> {
    match timeout_at(end, look).await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(EngineState::of(&error)),
        Err(_) => Err(EngineState::late()),
    }
}
