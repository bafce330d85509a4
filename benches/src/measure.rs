//! What a run costs: time, CPU time, memory.

use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::Serialize;

/// Durations of the same work, done many times.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    nanoseconds: Vec<u64>,
    cpu: Duration,
}

/// What samples come to, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Number of samples.
    pub count: usize,
    /// Half of the samples took at most this.
    pub median: f64,
    /// 95 of 100 samples took at most this.
    pub p95: f64,
    /// 99 of 100 samples took at most this.
    pub p99: f64,
    /// CPU time of the process per sample, its user and system part together.
    pub cpu: f64,
}

impl Samples {
    /// Runs `work` once and keeps its duration, but not its CPU time.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(start.elapsed());
        result
    }

    /// Adds a duration.
    pub fn add(&mut self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.push(nanoseconds);
    }

    /// Returns the time of all samples together.
    #[must_use]
    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.iter().sum())
    }

    /// Adds CPU time, for however many samples.
    pub fn add_cpu(&mut self, cpu: Duration) {
        self.cpu += cpu;
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: Samples) {
        self.nanoseconds.extend(other.nanoseconds);
        self.cpu += other.cpu;
    }

    /// Returns what the samples come to.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut sorted = self.nanoseconds.clone();
        sorted.sort_unstable();
        let at = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).max(1) - 1;
            sorted.get(rank).map_or(0.0, |&n| n as f64 / 1e3)
        };
        Summary {
            count: sorted.len(),
            median: at(50),
            p95: at(95),
            p99: at(99),
            cpu: self.cpu.as_secs_f64() * 1e6 / sorted.len().max(1) as f64,
        }
    }
}

/// Returns the CPU time that the process has used on all its threads.
///
/// # Panics
/// When the system does not tell, which none does for the process itself.
#[must_use]
pub fn cpu_time() -> Duration {
    let usage = usage();
    let of = |time: nix::sys::time::TimeVal| {
        Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0))
    };
    of(usage.user_time()) + of(usage.system_time())
}

/// Returns the most memory that the process has had, in bytes.
///
/// Without `/proc` it includes what the process had before it ran this program: under `cargo run`, Cargo.
///
/// # Panics
/// When the system does not tell, which none does for the process itself.
#[must_use]
pub fn peak_memory() -> u64 {
    let peak = status("VmHWM:");
    peak.unwrap_or_else(|| u64::try_from(usage().max_rss()).unwrap_or(0) * 1024)
}

/// Returns the memory that the process has now, in bytes; `None` where there is no `/proc`.
#[must_use]
pub fn memory() -> Option<u64> {
    status("VmRSS:")
}

/// Returns a number of bytes that the system tells of the process.
fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn usage() -> Usage {
    getrusage(UsageWho::RUSAGE_SELF).expect("the system tells the usage of the process itself")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let mut samples = Samples::default();
        for microseconds in (1..=200).rev() {
            samples.add(Duration::from_micros(microseconds));
        }
        samples.add_cpu(Duration::from_micros(400));
        let expected = Summary {
            count: 200,
            median: 100.0,
            p95: 190.0,
            p99: 198.0,
            cpu: 2.0,
        };
        assert_eq!(samples.summary(), expected);
        assert_eq!(Samples::default().summary().median, 0.0);
    }

    #[test]
    fn a_process_uses_time_and_memory() {
        assert!(peak_memory() > 1 << 20);
        let before = cpu_time();
        while cpu_time() == before {
            std::hint::spin_loop();
        }
    }
}
