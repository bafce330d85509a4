//! Values that are read when metrics are, such as the entries of a cache: no one counts them on the way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use metrics::SharedString;

use crate::metric::Metric;
use crate::table::METRICS;

type Read = dyn Fn(&mut Readings) + Send + Sync;

/// What is watched in this process, and the series that were set before.
#[derive(Default)]
struct Watched {
    reads: Vec<Weak<Read>>,
    known: BTreeMap<Series, f64>,
}

type Series = (&'static str, Vec<SharedString>);

static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);

/// Has a value read for as long as it is kept.
#[derive(Clone)]
#[must_use = "nothing is read once this is dropped"]
pub struct Watch(#[expect(dead_code, reason = "it is there to be kept")] Arc<Read>);

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// What gauges are set to: the sum of what is added for each.
#[derive(Default)]
pub struct Readings {
    sums: BTreeMap<Series, (&'static Metric, f64)>,
}

impl Readings {
    /// Adds to the value of a gauge with these values of its labels, in their order.
    pub fn add(
        &mut self,
        metric: &'static Metric,
        labels: impl IntoIterator<Item = SharedString>,
        value: f64,
    ) {
        let series = (metric.name, labels.into_iter().collect());
        self.sums.entry(series).or_insert((metric, 0.0)).1 += value;
    }
}

/// Has values read whenever metrics are, until the result is dropped.
pub fn watch(read: impl Fn(&mut Readings) + Send + Sync + 'static) -> Watch {
    let read: Arc<Read> = Arc::new(read);
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let reads = &mut watched.get_or_insert_default().reads;
    reads.retain(|read| read.strong_count() > 0);
    reads.push(Arc::downgrade(&read));
    Watch(read)
}

/// Reads all values that are watched in this process. Whoever writes metrics out calls this before.
pub fn refresh() {
    // Only what is watched now is read without the lock, which is not held while others read.
    let reads: Vec<Arc<Read>> = {
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        let reads = &watched.get_or_insert_default().reads;
        reads.iter().filter_map(Weak::upgrade).collect()
    };
    let mut readings = Readings::default();
    for read in reads {
        read(&mut readings);
    }
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = &mut watched.get_or_insert_default().known;
    // What no one reads any more is nothing.
    for (series, value) in known.iter_mut() {
        if !readings.sums.contains_key(series) && *value != 0.0 {
            *value = 0.0;
            let row = METRICS.iter().find(|row| row.name == series.0);
            if let Some(row) = row {
                row.gauge(series.1.iter().cloned()).set(0.0);
            }
        }
    }
    for (series, (metric, value)) in readings.sums {
        metric.gauge(series.1.iter().cloned()).set(value);
        known.insert(series, value);
    }
}
