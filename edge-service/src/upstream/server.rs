//! One server of a service behind the edge.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use arc_swap::ArcSwapOption;
use outbound::address::below;
use reqwest::Url;
use service_metrics::Peer;
use tokio::sync::Semaphore;

use super::check::Checked;

/// Number of checks in a row without an answer before a server is left out.
const FAILED_CHECKS: u32 = 2;

/// A server, and whether it is left out.
///
/// It is after requests that it broke off, or checks that it did not answer, and until it answers a check. So no request of
/// a client is used to find that out.
pub(crate) struct UpstreamServer {
    pub(crate) base: Url,
    /// Where its health record is, if it has one.
    pub(crate) health: Option<Url>,
    /// Host and port, for log lines.
    pub(crate) label: Arc<str>,
    /// The same, as metrics have it.
    pub(crate) peer: Peer,
    /// Requests that wait for it to begin to answer.
    pub(crate) waiting: Semaphore,
    is_down: AtomicBool,
    broken_off: AtomicU32,
    unanswered_checks: AtomicU32,
    /// What the last check has found.
    pub(crate) checked: ArcSwapOption<Checked>,
}

impl UpstreamServer {
    pub(crate) fn new(base: &Url, health: Option<&str>, max_waiting: usize) -> Self {
        let segments = health.map(|path| path.split('/').filter(|segment| !segment.is_empty()));
        let port = base.port_or_known_default().unwrap_or_default();
        UpstreamServer {
            base: base.clone(),
            health: segments.map(|segments| below(base, &segments.collect::<Vec<_>>())),
            label: format!("{}:{port}", base.host_str().unwrap_or_default()).into(),
            peer: Peer::of_url(base.as_str()),
            waiting: Semaphore::new(max_waiting.min(Semaphore::MAX_PERMITS)),
            is_down: AtomicBool::new(false),
            broken_off: AtomicU32::new(0),
            unanswered_checks: AtomicU32::new(0),
            checked: ArcSwapOption::empty(),
        }
    }

    /// Returns whether requests are sent to it.
    pub(crate) fn is_up(&self) -> bool {
        !self.is_down.load(Ordering::Relaxed)
    }

    /// It has begun to answer a request.
    pub(crate) fn answered(&self) {
        if self.broken_off.load(Ordering::Relaxed) > 0 {
            self.broken_off.store(0, Ordering::Relaxed);
        }
    }

    /// It has broken a request off, or let it wait for too long. Returns whether it is left out from now on.
    pub(crate) fn broke_off(&self, most: u32) -> bool {
        let failures = self.broken_off.fetch_add(1, Ordering::Relaxed) + 1;
        most > 0 && failures >= most && !self.is_down.swap(true, Ordering::Relaxed)
    }

    /// It has answered a check. Returns whether it was left out until now.
    pub(crate) fn answered_check(&self) -> bool {
        self.broken_off.store(0, Ordering::Relaxed);
        self.unanswered_checks.store(0, Ordering::Relaxed);
        self.is_down.swap(false, Ordering::Relaxed)
    }

    /// It has not answered a check. Returns whether it is left out from now on.
    pub(crate) fn missed_check(&self) -> bool {
        let failures = self.unanswered_checks.fetch_add(1, Ordering::Relaxed) + 1;
        failures >= FAILED_CHECKS && !self.is_down.swap(true, Ordering::Relaxed)
    }
}
