//! The services behind the edge: which of their servers are asked, and how many requests wait for them.

mod check;
mod hosted;
mod server;

use std::sync::atomic::{AtomicUsize, Ordering};

use outbound::Addresses;

pub(crate) use check::{Checked, Checker};
pub use hosted::Hosted;
pub(crate) use hosted::HostedService;
pub(crate) use server::UpstreamServer;

/// The servers of one service.
pub(crate) struct Upstream {
    pub(crate) servers: Vec<UpstreamServer>,
    next: AtomicUsize,
}

impl Upstream {
    pub(crate) fn new(addresses: &Addresses, health: Option<&str>, max_waiting: usize) -> Self {
        let servers = addresses.urls().iter();
        Upstream {
            servers: servers
                .map(|base| UpstreamServer::new(base, health, max_waiting))
                .collect(),
            next: AtomicUsize::new(0),
        }
    }

    /// Returns the servers that are not left out, beginning with the one whose turn it is.
    pub(crate) fn turn(&self) -> Vec<&UpstreamServer> {
        let count = self.servers.len();
        let first = self.next.fetch_add(1, Ordering::Relaxed) % count;
        let turn = (first..first + count).map(|position| &self.servers[position % count]);
        turn.filter(|server| server.is_up()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_take_turns_and_those_that_are_left_out_do_not() {
        let addresses = "http://a:1, http://b:2, http://c:3".parse().unwrap();
        let upstream = Upstream::new(&addresses, None, 1);
        let turns = || -> Vec<String> {
            let turn = upstream.turn();
            turn.iter().map(|server| server.label.to_string()).collect()
        };
        assert_eq!(turns(), ["a:1", "b:2", "c:3"]);
        assert_eq!(turns(), ["b:2", "c:3", "a:1"]);
        let down = &upstream.servers[2];
        assert!(!down.broke_off(2) && down.is_up());
        assert!(down.broke_off(2) && !down.is_up());
        assert_eq!(turns(), ["a:1", "b:2"]);
        assert!(down.answered_check());
        assert_eq!(turns(), ["a:1", "b:2", "c:3"]);
        // An answer in between begins the count again.
        assert!(!down.broke_off(2));
        down.answered();
        assert!(!down.broke_off(2) && down.is_up());
    }
}
