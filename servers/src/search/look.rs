//! Looks at the engines: whether they answer, and how the indexes of the bound schema are there. Nothing of it is
//! remembered from when the indexes were built.

use std::sync::{Arc, Weak};

use call_context::CallError;
use futures::future::join_all;
use graph_store::{CallContext, DataVersion};
use search_index::engine::{
    Age, Built, Engine, EngineError, EngineHealth, HealthLevel, IndexState, PhysicalName,
};
use search_index::mapping::IndexDefinition;
use search_index::service::Target;
use tokio::time::{Instant, timeout_at};

use super::app::SearchApp;
use super::bound::Bound;

/// Indexes whose documents are counted at the same time.
const COUNTS: usize = 4;

/// What was seen at one moment.
pub(super) struct Look {
    /// The schema that was bound then.
    bound: Weak<Bound>,
    /// The engine that is searched.
    pub(super) searched: EngineState,
    /// The engine that is written to.
    pub(super) written: EngineState,
    /// The indexes of the bound schema, in the order of its definitions; none where the engine does not answer.
    indexes: Vec<SeenIndex>,
}

/// How an engine is.
#[derive(Clone)]
pub(super) enum EngineState {
    Answers,
    /// It cannot be reached, or does not answer in time.
    Away(Trouble),
    /// The check itself failed.
    Unknown(Trouble),
}

/// What is wrong with an engine, without addresses.
#[derive(Clone)]
pub(super) struct Trouble {
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// How an index is there.
#[derive(Clone, Default)]
pub(super) struct SeenIndex {
    /// It was searched, and therefore looked at.
    pub(super) is_seen: bool,
    /// Number of documents; `None` where the engine does not say.
    pub(super) documents: Option<u64>,
    /// What was noted when it was built.
    pub(super) built: Option<Built>,
    pub(super) problems: Vec<Problem>,
}

/// What is wrong with an index that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Gone,
    /// Somebody else has an index under its name.
    Foreign,
    /// It was made from another definition.
    Redefined,
    /// Its alias leads to another index.
    AliasElsewhere(String),
    /// A part of it is not there.
    Unhealthy(String),
    /// It has another number of documents than it was built with.
    Incomplete {
        found: u64,
        built: u64,
    },
    NotCounted,
    /// Some documents were not taken by the engine.
    Rejected(u64),
    /// Some values are left out, and must not be.
    Malformed(u64),
    /// The data have changed since it was built.
    Older,
    /// The store does not say whether its data have changed since.
    MayBeOlder,
}

impl Problem {
    /// Returns a name of the problem that never changes.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Problem::Gone => "GONE",
            Problem::Foreign => "FOREIGN",
            Problem::Redefined => "REDEFINED",
            Problem::AliasElsewhere(_) => "ALIAS_ELSEWHERE",
            Problem::Unhealthy(_) => "UNHEALTHY",
            Problem::Incomplete { .. } => "INCOMPLETE",
            Problem::NotCounted => "NOT_COUNTED",
            Problem::Rejected(_) => "REJECTED",
            Problem::Malformed(_) => "MALFORMED",
            Problem::Older => "OLDER",
            Problem::MayBeOlder => "MAY_BE_OLDER",
        }
    }

    /// Returns what is wrong with the index of an object.
    pub(super) fn message(&self, object: &str) -> String {
        match self {
            Problem::Gone => format!("the index of {object} is gone"),
            Problem::Foreign => {
                format!("the index of {object} has been replaced by one of another application")
            }
            Problem::Redefined => {
                format!("the index of {object} has been replaced by one of another schema")
            }
            Problem::AliasElsewhere(alias) => {
                format!("the alias `{alias}` of {object} leads to another index")
            }
            Problem::Unhealthy(why) => format!("the index of {object} is not all there: {why}"),
            Problem::Incomplete { found, built } => {
                format!("the index of {object} has {found} documents and was built with {built}")
            }
            Problem::NotCounted => {
                format!("the documents in the index of {object} cannot be counted")
            }
            Problem::Rejected(number) => {
                format!("the search engine did not take {number} documents of {object}")
            }
            Problem::Malformed(number) => format!(
                "{number} values of {object} are left out, and `indexer.ignoreMalformed` is `false`"
            ),
            Problem::Older => {
                format!("the data have changed since the index of {object} was built")
            }
            Problem::MayBeOlder => format!(
                "the index of {object} was built before the service started, and the store does not say whether its \
                 data have changed since"
            ),
        }
    }
}

impl Look {
    /// Returns the indexes of a schema; `None` if another was bound when they were looked at.
    pub(super) fn indexes_of(&self, bound: &Arc<Bound>) -> Option<&[SeenIndex]> {
        Weak::ptr_eq(&self.bound, &Arc::downgrade(bound)).then_some(self.indexes.as_slice())
    }
}

impl SearchApp {
    /// Looks at the engines, together with all others who want to know.
    pub(super) async fn look(&self) -> Arc<Look> {
        let look = || async { Arc::new(self.look_now().await) };
        self.looks.get(look).await
    }

    async fn look_now(&self) -> Look {
        let time = self.options.health_check_time;
        let bound = self.bound();
        let (engine, other) = (&self.engines.searched, &self.engines.written);
        let (context, end) = (CallContext::new().with_timeout(time), Instant::now() + time);
        let searched = self.see(bound.as_ref(), end, &context);
        let written = async {
            match Arc::ptr_eq(engine, other) {
                true => None,
                false => Some(in_time(end, answers(other, &context)).await),
            }
        };
        let (searched, written) = tokio::join!(searched, written);
        let (searched, indexes) = match searched {
            Ok(indexes) => (EngineState::Answers, indexes),
            Err(state) => (state, Vec::new()),
        };
        let written = match written {
            None => searched.clone(),
            Some(answered) => answered.map_or_else(|state| state, |_| EngineState::Answers),
        };
        Look {
            bound: bound.as_ref().map_or_else(Weak::new, Arc::downgrade),
            searched,
            written,
            indexes,
        }
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
        let there = targets.iter().filter_map(ready).filter(is_there);
        let there: Vec<PhysicalName> = there.cloned().collect();
        let counting = async { Ok::<_, EngineState>(counts(engine, &there, end, context).await) };
        let (health, counts) =
            tokio::try_join!(in_time(end, engine.health(&there, context)), counting)?;
        let seen = Seen {
            app: self,
            states,
            health,
            counts,
            data: self.data.as_ref().and_then(|data| data.version()),
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

/// What the engine says of all indexes.
struct Seen<'s> {
    app: &'s SearchApp,
    states: Vec<IndexState>,
    health: EngineHealth,
    counts: Vec<(PhysicalName, Option<u64>)>,
    /// The data as they are; `None` if their store does not say.
    data: Option<DataVersion>,
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
        if let Some(built) = &mark.built {
            problems.extend(self.lacks(built, documents));
        }
        match mark.age(self.data.as_ref()) {
            Age::Current => {}
            Age::Older => problems.push(Problem::Older),
            Age::Unknown if self.may_be_older => problems.push(Problem::MayBeOlder),
            Age::Unknown => {}
        }
        SeenIndex {
            is_seen: true,
            documents,
            built: mark.built.clone(),
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

impl SeenIndex {
    fn with(problem: Problem) -> Self {
        SeenIndex {
            is_seen: true,
            problems: vec![problem],
            ..SeenIndex::default()
        }
    }
}

fn ready(target: &Target) -> Option<&PhysicalName> {
    match target {
        Target::Ready(name) => Some(name),
        Target::Building { .. } | Target::Missing => None,
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

impl EngineState {
    /// The engine does not answer in time.
    fn late() -> Self {
        EngineState::Away(Trouble {
            code: search_index::code::ENGINE_TIMEOUT.as_str(),
            message: "the search engine did not respond in time".to_owned(),
        })
    }

    fn of(error: &EngineError) -> Self {
        tracing::warn!(
            error = error as &dyn std::error::Error,
            "the search engine failed its check"
        );
        let code = error.code().as_str();
        let trouble = |message: String| Trouble { code, message };
        match error {
            EngineError::TimedOut(_) | EngineError::Call(CallError::Deadline) => {
                EngineState::late()
            }
            EngineError::Unavailable(_) | EngineError::Overloaded(_) | EngineError::Call(_) => {
                EngineState::Away(trouble("the search engine cannot be reached".to_owned()))
            }
            other => EngineState::Unknown(trouble(other.reason())),
        }
    }

    /// Returns what is wrong, if something is.
    pub(super) fn trouble(&self) -> Option<&Trouble> {
        match self {
            EngineState::Answers => None,
            EngineState::Away(trouble) | EngineState::Unknown(trouble) => Some(trouble),
        }
    }
}
