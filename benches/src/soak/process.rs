//! What another process holds, as Linux tells.

use std::fs;
use std::time::Duration;

use tokio::task::JoinHandle;

/// A running process.
#[derive(Clone, Copy, Debug)]
pub struct Process(pub u32);

/// Memory in bytes, and threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Resident memory.
    pub resident: u64,
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
            threads: number("Threads:"),
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
                peak.threads = peak.threads.max(now.threads);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            peak
        });
        Peak { end, watching }
    }
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
