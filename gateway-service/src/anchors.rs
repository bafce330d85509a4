//! Where the links of health records of subgraphs lead: to the page of the gateway.

use std::collections::HashSet;

use service_runtime::checks::GATEWAY_CHECKS;
use service_runtime::{HealthRecord, TROUBLE};

/// Anchors of a page, each of which is there once.
pub(crate) struct Anchors(HashSet<String>);

impl Anchors {
    /// Returns the anchors of the gateway's own checks.
    pub(crate) fn new() -> Self {
        let own = GATEWAY_CHECKS.iter().map(|check| check.id.to_owned());
        Anchors(own.collect())
    }

    /// Leads the links of a record of a subgraph, and of all records in it, to the page of the gateway, unless they are
    /// addresses that lead elsewhere.
    pub(crate) fn lead_here(&mut self, subgraph: &str, record: &mut HealthRecord) {
        let anchor = self.add(&plain(subgraph));
        lead_to(record, &anchor);
        self.lead_below(&plain(subgraph), record);
    }

    fn lead_below(&mut self, subgraph: &str, record: &mut HealthRecord) {
        for check in &mut record.health_checks {
            let anchor = self.add(&format!("{subgraph}.{}", plain(&check.id)));
            lead_to(check, &anchor);
            self.lead_below(subgraph, check);
        }
    }

    fn add(&mut self, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        let free = names
            .find(|name| !self.0.contains(name))
            .expect("numbers do not end");
        self.0.insert(free.clone());
        free
    }
}

fn lead_to(record: &mut HealthRecord, anchor: &str) {
    if !is_address(&record.troubleshooting) {
        record.troubleshooting = format!("{TROUBLE}#{anchor}");
    }
}

/// Returns whether a link leads to a page elsewhere.
pub(crate) fn is_address(link: &str) -> bool {
    link.starts_with("http://") || link.starts_with("https://")
}

/// Returns a name as an anchor: what links may have without being escaped.
fn plain(name: &str) -> String {
    let letters = name.chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') => c,
        _ => '-',
    });
    letters.collect()
}
