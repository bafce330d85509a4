//! What another process holds and uses, as Linux tells.

use std::fs;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};
use tokio::task::JoinHandle;

/// A running process.
#[derive(Clone, Copy, Debug)]
pub struct Process(pub u32);

/// Memory in bytes, and threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Resident memory.
    pub resident: u64,
    /// Most resident memory since its start.
    pub peak: u64,
    /// Number of threads.
    pub threads: u64,
}

impl Process {
    /// Returns what the process holds now; zeros once it is gone.
    #[must_use]
    pub fn memory(self) -> Memory {
        let path = format!("/proc/{}/status", self.0);
        let status = fs::read_to_string(path).unwrap_or_default();
        let number = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            number.unwrap_or(0)
        };
        Memory {
            resident: number("VmRSS:") << 10,
            peak: number("VmHWM:") << 10,
            threads: number("Threads:"),
        }
    }

    /// Returns the CPU time that the process has used on all its threads, those that have ended too, in steps of
    /// a clock tick; zero once it is gone.
    #[must_use]
    pub fn cpu_time(self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap_or_default();
        let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten();
        let per_second = per_second.and_then(|ticks| u32::try_from(ticks).ok());
        match (ticks(&stat), per_second) {
            (Some(ticks), Some(per_second)) => Duration::from_secs(ticks) / per_second,
            _ => Duration::ZERO,
        }
    }

    /// Returns whether the process is there.
    #[must_use]
    pub fn is_running(self) -> bool {
        self.memory().threads > 0
    }

    /// Looks at the process every 20 milliseconds; the most that it held comes with
    /// [`Peak::end`].
    #[must_use]
    pub fn watch(self) -> Peak {
        let (end, mut ended) = tokio::sync::oneshot::channel();
        let watching = tokio::spawn(async move {
            let mut peak = Memory::default();
            while ended.try_recv().is_err() {
                let now = self.memory();
                peak.resident = peak.resident.max(now.resident);
                peak.peak = now.peak;
                peak.threads = peak.threads.max(now.threads);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            peak
        });
        Peak { end, watching }
    }
}

/// Returns the clock ticks in user and system mode of a line of `/proc/PID/stat`.
fn ticks(stat: &str) -> Option<u64> {
    // The second field is the name of the program in parentheses, and may have blanks in it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut field = || fields.next()?.parse::<u64>().ok();
    Some(field()? + field()?)
}

/// A process that is being watched.
pub struct Peak {
    end: tokio::sync::oneshot::Sender<()>,
    watching: JoinHandle<Memory>,
}

impl Peak {
    /// Ends the watch and returns the most that the process held.
    ///
    /// # Panics
    /// When the watch panicked, which it does not.
    pub async fn end(self) -> Memory {
        let _ = self.end.send(());
        self.watching.await.expect("the watch does not panic")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_those_of_both_modes() {
        let stat = "77 (a (b) c) S 1 77 77 0 -1 4194560 900 0 5 0 120 34 7 9 20 0 4 0 1000 1 2";
        assert_eq!(ticks(stat), Some(154));
        assert_eq!(ticks(""), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cpu_time_of_a_process_grows_with_its_work() {
        let process = Process(std::process::id());
        let before = process.cpu_time();
        while process.cpu_time() < before + Duration::from_millis(20) {
            std::hint::black_box((0..100_000).sum::<u64>());
        }
        let held = process.memory();
        assert!(held.peak >= held.resident && held.resident > 0);
        assert_eq!(Process(u32::MAX).cpu_time(), Duration::ZERO);
    }
}
