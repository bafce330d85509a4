//! The nodes of a cluster: their connections, and which of them are set aside.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use outbound::Server;
use outbound::address::below;
use reqwest::Url;
use service_metrics::Peer;
use tokio::sync::SemaphorePermit;

use super::failure::Failure;
use super::options::{OpenSearchOptions, bound};

/// Longest time that a node is set aside.
const LONGEST_ASIDE: Duration = Duration::from_secs(60);

/// A node that requests are sent to.
#[derive(Debug)]
pub(super) struct Node {
    server: Server,
    /// Records what it is asked.
    peer: Peer,
    access_timeout: Option<Duration>,
    aside_interval: Duration,
}

impl Node {
    fn new(base: &Url, options: &OpenSearchOptions) -> Self {
        Node {
            server: Server::new(base.clone(), options.max_connections),
            peer: Peer::of_url(base.as_str()),
            access_timeout: bound(options.access_timeout),
            aside_interval: options.aside_interval,
        }
    }

    /// Returns what records requests to it.
    pub(super) fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns its address.
    pub(super) fn base(&self) -> &Url {
        self.server.base()
    }

    /// Returns the name for logs and errors.
    pub(super) fn name(&self) -> String {
        self.server.base().to_string()
    }

    /// Returns the address of a resource.
    pub(super) fn below(&self, segments: &[&str]) -> Url {
        below(self.server.base(), segments)
    }

    /// Waits for a free connection.
    pub(super) async fn connection(&self) -> Result<SemaphorePermit<'_>, Failure> {
        let connection = self.server.connection(self.access_timeout).await;
        connection.ok_or_else(|| Failure::Busy {
            address: self.name(),
            timeout: self.access_timeout.unwrap_or_default(),
        })
    }

    /// Records that the node failed.
    pub(super) fn set_aside(&self, failure: &Failure) {
        if self.server.set_aside(self.aside_interval, LONGEST_ASIDE) {
            let address = self.server.base();
            tracing::warn!(%address, %failure, "a node of the search engine failed");
        }
    }

    /// Records when the node wants to be asked again; until then others are asked.
    pub(super) fn put_off(&self, time: Duration) {
        self.server.put_off(time.min(LONGEST_ASIDE));
    }

    /// Returns how long the node wants to be left alone.
    pub(super) fn put_off_for(&self) -> Duration {
        self.server.put_off_for()
    }

    /// Records that the node answered.
    pub(super) fn set_back(&self) {
        if self.server.set_back() {
            let address = self.server.base();
            tracing::info!(%address, "a node of the search engine responds again");
        }
    }

    fn aside_until(&self) -> Option<Instant> {
        self.server.aside_until()
    }
}

/// The nodes of a cluster, which are asked in turn.
#[derive(Debug)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    next: AtomicUsize,
}

impl Nodes {
    pub(super) fn new(options: &OpenSearchOptions) -> Self {
        let nodes = options.addresses.urls().iter();
        Nodes {
            nodes: nodes.map(|base| Node::new(base, options)).collect(),
            next: AtomicUsize::new(0),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Chooses the node to ask next, `tried` being those that this request was sent to already: one that
    /// was not tried before one that was, and one that works before one that is set aside.
    pub(super) fn choose(&self, tried: &[usize]) -> (usize, &Node) {
        let number = self.nodes.len();
        let first = self.next.fetch_add(1, Ordering::Relaxed) % number;
        let turn = (0..number).map(|at| (first + at) % number);
        let at = turn
            .min_by_key(|at| {
                let times = tried.iter().filter(|tried| *tried == at).count();
                let aside = self.nodes[*at].aside_until();
                (aside.is_some(), times, aside)
            })
            .expect("there is an address");
        (at, &self.nodes[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes() -> Nodes {
        let addresses = "http://a, http://b/es/, http://c"
            .parse()
            .expect("addresses");
        let mut options = OpenSearchOptions::new(addresses, "test");
        options.aside_interval = LONGEST_ASIDE / 2;
        Nodes::new(&options)
    }

    fn failure() -> Failure {
        Failure::Lost {
            address: String::new(),
            cause: String::new(),
        }
    }

    #[test]
    fn nodes_are_asked_in_turn_and_those_that_fail_are_left_out_for_a_while() {
        let nodes = nodes();
        let turn = |tried: &[usize]| nodes.choose(tried).0;
        assert_eq!([turn(&[]), turn(&[]), turn(&[]), turn(&[])], [0, 1, 2, 0]);
        nodes.nodes[1].set_aside(&failure());
        let chosen: Vec<_> = (0..4).map(|_| turn(&[])).collect();
        assert!(!chosen.contains(&1), "{chosen:?}");
        assert!([turn(&[0]), turn(&[0])] == [2, 2], "what was not tried");
        nodes.nodes[1].set_back();
        assert!((0..3).any(|_| turn(&[]) == 1));
    }

    #[test]
    fn when_all_nodes_failed_the_first_that_may_be_back_is_asked() {
        let nodes = nodes();
        for at in [2, 0, 1] {
            nodes.nodes[at].set_aside(&failure());
        }
        nodes.nodes[2].set_aside(&failure());
        let times: Vec<_> = nodes.nodes.iter().map(|node| node.aside_until()).collect();
        assert!(times[2] > times[1] && times[1] > times[0]);
        assert_eq!(nodes.choose(&[]).0, 0);
    }

    #[test]
    fn a_node_that_wants_to_be_left_alone_is_left_out() {
        let nodes = nodes();
        nodes.nodes[1].put_off(LONGEST_ASIDE);
        assert!((0..6).all(|_| nodes.choose(&[]).0 != 1));
        assert!(nodes.nodes[1].put_off_for() > Duration::from_secs(1));
        assert_eq!(nodes.nodes[0].put_off_for(), Duration::ZERO);
        nodes.nodes[1].put_off(Duration::from_secs(86_400));
        assert!(nodes.nodes[1].put_off_for() <= LONGEST_ASIDE);
    }

    #[test]
    fn paths_of_addresses_stay() {
        let nodes = nodes();
        let url = |at: usize| nodes.nodes[at].below(&["svc-a/b", "_search"]).to_string();
        assert_eq!(url(0), "http://a/svc-a%2Fb/_search");
        assert_eq!(url(1), "http://b/es/svc-a%2Fb/_search");
    }
}
