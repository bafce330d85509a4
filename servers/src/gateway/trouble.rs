//! The troubleshooting page of a gateway: its own checks, and those of its subgraphs as their health records list them.
//!
//! A subgraph says where its advice is by a path of its own address, which means nothing at the gateway and may not be
//! reachable for whoever reads the record there. So such a link is replaced by one to the gateway's own page.

use std::collections::HashSet;

use super::app::GatewayApp;
use super::health::seen;
use crate::host::{
    Advice, Check, GATEWAY_CHECKS, HealthRecord, OBJECT_CHECKS, SEARCH_CHECKS, TROUBLE,
};

/// Anchors of a page, each of which is there once.
pub(super) struct Anchors(HashSet<String>);

impl Anchors {
    /// Returns the anchors of the gateway's own checks.
    pub(super) fn new() -> Self {
        let own = GATEWAY_CHECKS.iter().map(|check| check.id.to_owned());
        Anchors(own.collect())
    }

    /// Leads the links of a record of a subgraph, and of all records in it, to the page of the gateway, unless they are
    /// addresses that lead elsewhere.
    pub(super) fn lead_here(&mut self, subgraph: &str, record: &mut HealthRecord) {
        let anchor = self.add(&plain(subgraph));
        record.lead_to(&anchor);
        self.lead_below(&plain(subgraph), record);
    }

    fn lead_below(&mut self, subgraph: &str, record: &mut HealthRecord) {
        for check in &mut record.health_checks {
            let anchor = self.add(&format!("{subgraph}.{}", plain(&check.id)));
            check.lead_to(&anchor);
            self.lead_below(subgraph, check);
        }
    }

    fn add(&mut self, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        let free = names.find(|name| !self.0.contains(name));
        let free = free.expect("numbers do not end");
        self.0.insert(free.clone());
        free
    }
}

impl HealthRecord {
    fn lead_to(&mut self, anchor: &str) {
        if !is_address(&self.troubleshooting) {
            self.troubleshooting = format!("{TROUBLE}#{anchor}");
        }
    }
}

/// Returns whether a link leads to a page elsewhere.
pub(super) fn is_address(link: &str) -> bool {
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

/// Returns the advice about all checks of the gateway and of its subgraphs.
pub(crate) async fn all_advice(app: &GatewayApp) -> Vec<Advice> {
    let mut advice: Vec<Advice> = GATEWAY_CHECKS.iter().map(Check::advice).collect();
    let seen = seen(app).await;
    for (name, record) in seen.records() {
        add(name, record, &mut advice);
    }
    advice
}

fn add(subgraph: &str, record: &HealthRecord, advice: &mut Vec<Advice>) {
    let anchor = record.troubleshooting.strip_prefix(TROUBLE);
    let anchor = anchor.and_then(|anchor| anchor.strip_prefix('#'));
    let own = GATEWAY_CHECKS.iter().any(|check| Some(check.id) == anchor);
    if !own {
        let mut known = OBJECT_CHECKS.iter().chain(SEARCH_CHECKS);
        let known = known.find(|check| check.is(&record.id, &record.kind));
        advice.push(Advice {
            anchor: anchor.map(str::to_owned),
            title: match &record.name {
                Some(name) if *name != record.id => format!("{subgraph}: {}: {name}", record.id),
                _ => format!("{subgraph}: {}", record.id),
            },
            paragraphs: vec![
                record.description.to_string(),
                format!("{}: {}", record.status, record.message),
                known.map_or_else(String::new, |check| check.remedy.to_owned()),
            ],
            link: anchor.is_none().then(|| record.troubleshooting.clone()),
        });
    }
    for check in &record.health_checks {
        add(subgraph, check, advice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{STORE, Status};

    #[test]
    fn links_of_subgraphs_lead_to_anchors_that_are_there_once() {
        let check = || STORE.record(Status::Error, "away".to_owned());
        let mut other = check();
        other.troubleshooting = "https://help.example/1200".to_owned();
        let mut script = check();
        script.troubleshooting = "javascript:alert(1)".to_owned();
        let checks = vec![check(), check(), other, script];
        let mut record = HealthRecord::of_service("objects", "graphql", "A service.", checks);
        Anchors::new().lead_here("host:1/a b", &mut record);
        let links: Vec<&str> = record
            .health_checks
            .iter()
            .map(|check| check.troubleshooting.as_str())
            .collect();
        assert_eq!(record.troubleshooting, "/__trouble#host-1-a-b");
        let expected = [
            "/__trouble#host-1-a-b.1200",
            "/__trouble#host-1-a-b.1200-2",
            "https://help.example/1200",
            "/__trouble#host-1-a-b.1200-4",
        ];
        assert_eq!(links[..3], expected[..3]);
        assert!(
            links[3].starts_with("/__trouble#host-1-a-b.1200-"),
            "{links:?}"
        );
        let mut advice = Vec::new();
        add("objects", &record, &mut advice);
        assert_eq!(advice.len(), 5);
        assert_eq!(advice[3].link.as_deref(), Some("https://help.example/1200"));
        assert!(advice[1].paragraphs[2].contains("sparql.endpoint.address"));
    }
}
