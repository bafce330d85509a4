//! Loading data while the service answers already.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use graph_store::image::ImageStore;
use indicatif::ProgressDrawTarget;
use rdf_load::{Finding, LoadError, LoadObserver, LoadSummary};
use service_runtime::LoadProgress;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::input::Data;
use super::progress::Reporter;
use super::{CliError, Console};

/// Findings that may wait to be shown.
const FINDINGS: usize = 256;

/// How often the progress bar gets new numbers.
const TICK: Duration = Duration::from_millis(200);

/// Loads `data` on a thread of its own; what is found goes to the console.
///
/// When the future is dropped the load stops at the next opportunity.
pub(super) async fn load(
    loading: &Arc<LoadProgress>,
    store: Arc<ImageStore>,
    data: Data,
    console: &mut Console<'_>,
    target: ProgressDrawTarget,
) -> Result<LoadSummary, CliError> {
    let _stop = StopOnDrop(data.clone());
    let (sender, findings) = channel(FINDINGS);
    let mut watcher = Watcher {
        loading: Arc::clone(loading),
        sender,
    };
    let mut reporter = Reporter::new(console, data.files(), target);
    let work = tokio::task::spawn_blocking(move || data.load(store.as_ref(), &mut watcher));
    watch(loading, findings, &mut reporter).await;
    reporter.finish()?;
    let loaded = work.await.unwrap_or_else(|error| {
        tracing::error!(%error, "the load ended unexpectedly");
        Err(LoadError::Stopped)
    });
    Ok(loaded?)
}

/// Shows what comes from the load, until it ends.
async fn watch(
    loading: &LoadProgress,
    mut findings: Receiver<Finding>,
    reporter: &mut Reporter<'_, '_>,
) {
    let mut tick = tokio::time::interval(TICK);
    loop {
        tokio::select! {
            finding = findings.recv() => match finding {
                Some(finding) => reporter.finding(&finding),
                None => return,
            },
            _ = tick.tick() => {
                if let Some(state) = loading.state() {
                    reporter.file_read(state.files_read);
                    reporter.progress(state.bytes, state.statements);
                }
            }
        }
    }
}

/// Sends what is found, and notes the progress for everyone.
struct Watcher {
    loading: Arc<LoadProgress>,
    sender: Sender<Finding>,
}

impl LoadObserver for Watcher {
    fn finding(&mut self, finding: &Finding) {
        // No one listens any more once the load is to stop.
        let _ = self.sender.blocking_send(finding.clone());
    }

    fn progress(&mut self, bytes: u64, statements: u64) {
        self.loading.set_read(bytes, statements);
    }

    fn file_read(&mut self, files: usize) {
        self.loading.set_files_read(files);
    }
}

struct StopOnDrop(Data);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.options.stop.store(true, Ordering::Relaxed);
    }
}
