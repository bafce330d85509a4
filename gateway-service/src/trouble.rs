//! The troubleshooting page of a gateway: its own checks, and those of its subgraphs as their health records list them.
//!
//! A subgraph says where its advice is by a path of its own address, which means nothing at the gateway and may not be
//! reachable for whoever reads the record there. So such a link is replaced by one to the gateway's own page.

use service_runtime::checks::{GATEWAY_CHECKS, OBJECT_CHECKS, SEARCH_CHECKS};
use service_runtime::{Advice, Check, HealthRecord, TROUBLE};

use super::app::GatewayApp;
use super::health::seen;

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
    use service_runtime::Status;
    use service_runtime::checks::STORE;

    use super::*;
    use crate::anchors::Anchors;

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
