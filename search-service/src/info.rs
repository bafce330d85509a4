//! What a search service says of the indexes of the bound schema.

use std::sync::Arc;

use graph_store::CallContext;
use search_index::engine::{Built, PhysicalName};
use search_index::indexer::{ObjectProgress, Progress, Stage};
use search_index::mapping::IndexDefinition;
use search_index::service::SearchTarget;
use serde_json::{Map, Value, json};

use super::app::SearchApp;
use super::bound::Bound;
use super::followed::FollowState;
use super::job::{Job, JobState, Waiting};
use super::observation::{Problem, SeenIndex};
use super::refreshed::RefreshState;

impl SearchApp {
    /// Returns what there is to know of the indexes of the bound schema; `None` without one.
    pub(crate) async fn info(&self) -> Option<Value> {
        let bound = self.bound()?;
        let time = self.options.health_check_time;
        let context = CallContext::new().with_timeout(time);
        let engine = async {
            let info = self.engines.searched.info(&context);
            tokio::time::timeout(time, info).await.ok()?.ok()
        };
        let (engine, look) = tokio::join!(engine, self.look());
        let job = self.job.load_full();
        let of_bound = job
            .as_ref()
            .filter(|job| Arc::ptr_eq(&job.candidate, &bound));
        let next = job.as_ref().filter(|job| is_next(job, &bound));
        let failure = of_bound.or(next).and_then(|job| job.failure());
        let tries = failure.as_ref().map(|failure| failure.tries);
        let (code, reason) = match (&failure, look.searched.trouble()) {
            (Some(failure), _) => (Some(failure.code), Some(failure.reason.as_str())),
            (None, Some(trouble)) => (Some(trouble.code), Some(trouble.message.as_str())),
            (None, None) => (None, None),
        };
        let seen = look.indexes_of(&bound).unwrap_or_default();
        let definitions = bound.indexes.indexes.iter().enumerate();
        let indexes = definitions.map(|(at, definition)| {
            let seen = seen.get(at).cloned().unwrap_or_default();
            index(&bound, at, definition, &seen)
        });
        Some(json!({
            "schema": bound.id,
            "label": bound.label,
            "revision": bound.revision,
            "engine": engine.map(|engine| json!({"name": engine.name, "version": engine.version})),
            "indexingEnabled": self.builds_indexes(),
            "state": state_of(&bound, of_bound.map(|job| &**job)),
            "error": reason,
            "errorCode": code,
            "tries": tries,
            "waitsFor": of_bound.or(next).and_then(|job| job.waiting()).map(waits_for),
            "sequence": look.sequence,
            "following": following(&self.follower.shown().state),
            "refresh": self.refresh_info(),
            "next": next.map(|job| next_binding(job)),
            "indexes": indexes.collect::<Vec<_>>(),
        }))
    }
}

impl SearchApp {
    /// Describes the last comparison of the indexes with the data; `None` if there was none.
    pub(crate) fn refresh_info(&self) -> Option<Value> {
        let refresh = self.refreshed.load_full()?;
        let (state, failure) = match refresh.state() {
            RefreshState::Running => ("RUNNING", None),
            RefreshState::Done => ("DONE", None),
            RefreshState::Ended => ("ENDED", None),
            RefreshState::Failed(failure) => ("FAILED", Some(failure)),
        };
        let progress = &refresh.progress;
        Some(json!({
            "schema": refresh.schema,
            "state": state,
            "error": failure.as_ref().map(|failure| failure.reason.as_str()),
            "errorCode": failure.as_ref().map(|failure| failure.code),
            "total": progress.total(),
            "compared": progress.compared(),
            "repaired": progress.repaired(),
        }))
    }
}

/// Describes whether indexes follow the changes of their data.
fn following(state: &FollowState) -> Value {
    let (name, waits_for, failure) = match state {
        FollowState::Idle => ("IDLE", None, None),
        FollowState::Here => ("HERE", None, None),
        FollowState::Elsewhere(waiting) => ("ELSEWHERE", waiting.instance.as_deref(), None),
        FollowState::Lost => ("LOST", None, None),
        FollowState::Unrecorded => ("UNRECORDED", None, None),
        FollowState::Failing(failure) => ("RETRYING", None, Some(failure)),
    };
    json!({
        "state": name,
        "instance": waits_for,
        "error": failure.map(|failure| failure.reason.as_str()),
        "errorCode": failure.map(|failure| failure.code),
    })
}

/// Describes the instance that builds the indexes in place of this one.
fn waits_for(waiting: Waiting) -> Value {
    json!({ "message": waiting.to_string(), "instance": waiting.instance })
}

fn index(bound: &Bound, at: usize, definition: &IndexDefinition, seen: &SeenIndex) -> Value {
    let target = bound.service.targets()[at].clone();
    let progress = bound.progress.load_full();
    let progress = progress.objects().get(at);
    let progress = progress.filter(|progress| progress.stage() != Stage::Waiting);
    let is_gone = seen.problems.contains(&Problem::Gone);
    let (state, name) = match &target {
        SearchTarget::Ready(name) if is_gone => ("MISSING", Some(name)),
        SearchTarget::Ready(name) => ("READY", Some(name)),
        SearchTarget::Building { .. } => ("BUILDING", None),
        SearchTarget::Missing => ("MISSING", None),
    };
    let built = seen.built.as_ref();
    let problems = seen.problems.iter().map(
        |problem| json!({"code": problem.code(), "message": problem.message(&definition.name)}),
    );
    json!({
        "object": definition.name,
        "index": name.map(PhysicalName::as_str),
        "alias": definition.alias(),
        "state": state,
        "problems": problems.collect::<Vec<_>>(),
        "documents": seen.documents,
        "fingerprint": definition.fingerprint,
        "malformed": progress.map(malformed).unwrap_or_default(),
        "malformedValues": match built {
            Some(built) => built.malformed,
            None => progress.map_or(0, ObjectProgress::malformed),
        },
        "rejected": match built {
            Some(built) => built.rejected,
            None => progress.map_or(0, ObjectProgress::rejected),
        },
        "refused": built.map(refused).unwrap_or_default(),
        "sequence": built.and_then(|built| built.data.as_ref()).map(|data| data.sequence),
        "secondsBehind": seen.lag.map(|lag| lag.as_secs_f64()),
        "progress": progress.map(progress_of),
    })
}

/// Describes the first objects without a document.
fn refused(built: &Built) -> Vec<Value> {
    let refusals = built.refusals.iter().map(
        |refusal| json!({"iri": refusal.iri, "property": refusal.field, "reason": refusal.reason}),
    );
    refusals.collect()
}

/// Returns whether a run builds another schema than the one that answers.
fn is_next(job: &Job, bound: &Arc<Bound>) -> bool {
    let is_open = !matches!(*job.state(), JobState::Done | JobState::Cancelled);
    is_open && !Arc::ptr_eq(&job.candidate, bound)
}

fn state_of(bound: &Bound, job: Option<&Job>) -> &'static str {
    match job.map(|job| (job.state().clone(), job.setback())) {
        Some((JobState::Failed { .. }, _)) => "FAILED",
        Some((JobState::Running, Some(_))) => "RETRYING",
        Some((JobState::Running, None)) => "BUILDING",
        Some((JobState::Done | JobState::Cancelled, _)) | None => {
            if bound.is_complete() {
                "READY"
            } else {
                "INCOMPLETE"
            }
        }
    }
}

/// Describes the schema that takes the place of the bound one when its indexes are complete.
fn next_binding(job: &Job) -> Value {
    let next = &job.candidate;
    let progress: Arc<Progress> = next.progress.load_full();
    let objects = progress.objects().iter().map(|object| {
        let mut one = Map::new();
        one.insert("object".to_owned(), object.object().into());
        one.insert("progress".to_owned(), progress_of(object));
        Value::Object(one)
    });
    json!({
        "schema": next.id,
        "revision": next.revision,
        "state": state_of(next, Some(job)),
        "indexes": objects.collect::<Vec<_>>(),
    })
}

fn malformed(progress: &ObjectProgress) -> Map<String, Value> {
    let fields = progress
        .malformed_fields()
        .into_iter()
        .map(|(path, count)| {
            let examples = count.examples.iter().map(|value| {
            json!({"iri": value.iri, "value": value.value, "reason": value.reason.to_string()})
        });
            let examples: Vec<_> = examples.collect();
            (path, json!({"count": count.count, "examples": examples}))
        });
    fields.collect()
}

fn progress_of(progress: &ObjectProgress) -> Value {
    let stage = match progress.stage() {
        Stage::Waiting => "WAITING",
        Stage::Checking => "CHECKING",
        Stage::Filling => "FILLING",
        Stage::Verifying => "VERIFYING",
        Stage::Complete => "COMPLETE",
        Stage::Done => "DONE",
    };
    let estimate = progress
        .estimate()
        .filter(|_| progress.stage() == Stage::Filling);
    json!({
        "stage": stage,
        "total": progress.total(),
        "read": progress.read(),
        "written": progress.written(),
        "documentsPerSecond": progress.rate().round(),
        "secondsLeft": estimate.map(|time| time.as_secs()),
    })
}
