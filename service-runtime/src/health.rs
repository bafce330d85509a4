//! Health records, and the checks that services make of themselves.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

/// The status of the service or of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Works.
    Ok,
    /// Works, but needs attention.
    Warning,
    /// Does not work.
    Error,
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Status::Ok => "OK",
            Status::Warning => "WARNING",
            Status::Error => "ERROR",
        })
    }
}

/// Where the troubleshooting advice of a service is.
pub const TROUBLE: &str = "/__trouble";

/// The effect on clients of what is well.
const NO_IMPACT: &str = "None.";

/// A health record, with those of its checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthRecord {
    /// The status.
    pub status: Status,
    /// Identifier of the check, which never changes.
    pub id: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What kind of component was checked.
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// The effect on clients.
    pub impact: Cow<'static, str>,
    /// Where the troubleshooting advice is: a path with an anchor, or an address elsewhere.
    pub troubleshooting: String,
    /// Description of the check.
    pub description: Cow<'static, str>,
    /// Result of the check.
    pub message: String,
    /// The individual checks.
    pub health_checks: Vec<HealthRecord>,
}

impl HealthRecord {
    /// Returns the record of a service: it is as bad as the worst of its checks, and says what that says.
    #[must_use]
    pub fn of_service(
        name: &str,
        kind: &'static str,
        description: &'static str,
        checks: Vec<HealthRecord>,
    ) -> Self {
        let bad = checks.iter().filter(|check| check.status != Status::Ok);
        // Of those that are equally bad, the first is mostly the cause of the others.
        let worst = bad.rev().max_by_key(|check| check.status);
        let message = worst.map(|check| {
            let name = check.name.as_ref().unwrap_or(&check.id);
            format!("{name}: {}", check.message)
        });
        HealthRecord {
            status: worst.map_or(Status::Ok, |check| check.status),
            id: name.to_owned(),
            name: Some(name.to_owned()),
            kind: kind.into(),
            impact: worst.map_or(NO_IMPACT.into(), |check| check.impact.clone()),
            troubleshooting: worst
                .map_or_else(|| TROUBLE.to_owned(), |check| check.troubleshooting.clone()),
            description: description.into(),
            message: message.unwrap_or_else(|| "all checks have passed".to_owned()),
            health_checks: checks,
        }
    }

    /// Leads its links to where the service is mounted.
    pub fn lead_below(&mut self, mount: &str) {
        if self.troubleshooting.starts_with('/') {
            self.troubleshooting.insert_str(0, mount);
        }
        for check in &mut self.health_checks {
            check.lead_below(mount);
        }
    }

    /// Returns the default effect of a status on clients.
    #[must_use]
    pub fn impact_of(status: Status) -> &'static str {
        match status {
            Status::Ok => NO_IMPACT,
            Status::Warning | Status::Error => "Not known.",
        }
    }
}

/// Advice about a check on the troubleshooting page.
#[derive(Clone, Debug)]
pub struct Advice {
    /// What links lead to, where they lead to this page.
    pub anchor: Option<String>,
    /// The heading.
    pub title: String,
    /// Those that are empty are left out.
    pub paragraphs: Vec<String>,
    /// Where there is more.
    pub link: Option<String>,
}

/// A check that the service makes of itself.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its identifier, which never changes.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What kind of component it looks at.
    pub kind: &'static str,
    /// Description of the check, as a sentence.
    pub description: &'static str,
    /// The effect on clients where it fails.
    pub impact: &'static str,
    /// What to do, for `/__trouble`.
    pub remedy: &'static str,
}

impl Check {
    /// Returns where the advice is.
    #[must_use]
    pub fn page(&self) -> String {
        format!("{TROUBLE}#{}", self.id)
    }

    /// Returns whether a record with this identifier and type is of this check.
    #[must_use]
    pub fn is(&self, id: &str, kind: &str) -> bool {
        (self.id, self.kind) == (id, kind)
    }

    /// Returns what to do about it.
    #[must_use]
    pub fn advice(&self) -> Advice {
        Advice {
            anchor: Some(self.id.to_owned()),
            title: format!("{}: {}", self.id, self.name),
            paragraphs: vec![self.description.to_owned(), self.remedy.to_owned()],
            link: None,
        }
    }

    /// Returns its record: its impact is only that of a check that failed.
    #[must_use]
    pub fn record(&self, status: Status, message: String) -> HealthRecord {
        let failed = status != Status::Ok;
        HealthRecord {
            status,
            id: self.id.to_owned(),
            name: Some(self.name.to_owned()),
            kind: self.kind.into(),
            impact: if failed { self.impact } else { NO_IMPACT }.into(),
            troubleshooting: self.page(),
            description: self.description.into(),
            message,
            health_checks: Vec::new(),
        }
    }
}

/// The last health record, for as long as it is fresh enough.
#[derive(Debug)]
pub struct HealthCache<R = HealthRecord> {
    time: Duration,
    last: Mutex<Last<R>>,
}

#[derive(Debug)]
struct Last<R> {
    record: Option<(Instant, R)>,
    /// How often records were forgotten.
    generation: u64,
}

impl<R: Clone> HealthCache<R> {
    /// Creates a cache whose records are fresh for some time.
    #[must_use]
    pub fn new(time: Duration) -> Self {
        let last = Last {
            record: None,
            generation: 0,
        };
        HealthCache {
            time,
            last: Mutex::new(last),
        }
    }

    /// Makes the next record a fresh one.
    pub fn forget(&self) {
        let mut last = self.last();
        last.record = None;
        last.generation += 1;
    }

    /// Returns the last record, if it is fresh.
    #[must_use]
    pub fn get(&self) -> Option<R> {
        let last = self.last();
        let (at, record) = last.record.as_ref()?;
        (at.elapsed() < self.time).then(|| record.clone())
    }

    /// Returns what [`HealthCache::keep`] is to be called with, before a record is made.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.last().generation
    }

    /// Keeps a record, unless what it says may be no longer so: records were forgotten while it was made.
    pub fn keep(&self, generation: u64, record: R) {
        let mut last = self.last();
        if last.generation == generation {
            last.record = Some((Instant::now(), record));
        }
    }

    fn last(&self) -> MutexGuard<'_, Last<R>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_was_begun_before_records_were_forgotten_is_not_kept() {
        let cache = HealthCache::new(Duration::MAX);
        let before = cache.generation();
        cache.keep(before, 1);
        assert_eq!(cache.get(), Some(1));
        cache.forget();
        cache.keep(before, 2);
        assert_eq!(cache.get(), None);
        cache.keep(cache.generation(), 3);
        assert_eq!(cache.get(), Some(3));
    }
}
