//! What a cluster says of its health, and of the shards of an index.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::engine::{EngineHealth, HealthLevel, IndexCondition, IndexHealth, PhysicalName};

/// The health of a cluster, as it says it. Indexes that no one asked for count in its status, and not here.
#[derive(Deserialize)]
pub(super) struct ClusterHealth {
    number_of_nodes: u32,
    number_of_data_nodes: u32,
    #[serde(default)]
    indices: BTreeMap<String, ClusterIndex>,
}

/// The health of an index, as the cluster says it.
#[derive(Deserialize)]
struct ClusterIndex {
    status: String,
    initializing_shards: u64,
    unassigned_shards: u64,
}

impl ClusterHealth {
    pub(super) fn judge(&self, of: &[PhysicalName]) -> EngineHealth {
        let indexes = of.iter().filter_map(|name| {
            let index = self.indices.get(name.as_str())?;
            Some((name.clone(), index.judge(self.number_of_data_nodes)))
        });
        EngineHealth::new(self.number_of_nodes, indexes)
    }
}

impl ClusterIndex {
    fn judge(&self, data_nodes: u32) -> IndexHealth {
        let ClusterIndex {
            status,
            initializing_shards: initializing,
            unassigned_shards: unassigned,
        } = self;
        let level = match status.as_str() {
            "green" => HealthLevel::Good,
            // All that is missing are copies, and there is no other node for them.
            "yellow" if data_nodes == 1 && *initializing == 0 => HealthLevel::Good,
            "yellow" => HealthLevel::Degraded,
            _ => HealthLevel::Bad,
        };
        match level {
            HealthLevel::Good => IndexHealth::good(),
            _ => IndexHealth::new(
                level,
                format!(
                    "it is {status}: {unassigned} shards are unassigned, {initializing} are being initialized"
                ),
            ),
        }
    }
}

/// The health of the shards of an index.
#[derive(Deserialize)]
pub(super) struct ShardsHealth {
    #[serde(default)]
    indices: BTreeMap<String, IndexShards>,
}

#[derive(Deserialize)]
struct IndexShards {
    #[serde(default)]
    shards: BTreeMap<u32, ShardHealth>,
}

#[derive(Deserialize)]
struct ShardHealth {
    primary_active: bool,
}

impl ShardsHealth {
    /// Returns the shards that can neither be written to nor searched.
    pub(super) fn without_primary(&self, name: &PhysicalName) -> impl Iterator<Item = u32> {
        let index = self.indices.get(name.as_str());
        let shards = index.into_iter().flat_map(|index| &index.shards);
        let without = shards.filter(|(_, shard)| !shard.primary_active);
        without.map(|(number, _)| *number)
    }
}

/// Why a shard is where it is, or nowhere.
#[derive(Deserialize)]
pub(super) struct Allocation {
    current_state: String,
    can_allocate: Option<String>,
    allocate_explanation: Option<String>,
}

impl Allocation {
    /// Judges the primary of a shard.
    pub(super) fn condition(self, shard: u32) -> IndexCondition {
        let state = self.current_state;
        if state == "started" || state == "relocating" {
            // It has come up since.
            return IndexCondition::Available;
        }
        let why = self.allocate_explanation.unwrap_or_default();
        let why = format!("shard {shard} is {state}: {why}");
        match self.can_allocate.as_deref() {
            Some("no_valid_shard_copy") => IndexCondition::Lost(why),
            _ => IndexCondition::Waiting(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(json: &str) -> IndexCondition {
        let allocation: Allocation = serde_json::from_str(json).expect("an explanation");
        allocation.condition(2)
    }

    #[test]
    fn a_shard_without_any_copy_is_lost_and_others_are_waited_for() {
        let lost = explained(
            r#"{"current_state":"unassigned","can_allocate":"no_valid_shard_copy","allocate_explanation":"no copy"}"#,
        );
        let why = "shard 2 is unassigned: no copy".to_owned();
        assert_eq!(lost, IndexCondition::Lost(why));
        for can in ["no", "awaiting_info", "throttled", "allocation_delayed"] {
            let json = format!(r#"{{"current_state":"unassigned","can_allocate":"{can}"}}"#);
            assert!(
                matches!(explained(&json), IndexCondition::Waiting(_)),
                "{can}"
            );
        }
        let initializing = explained(r#"{"current_state":"initializing"}"#);
        assert!(matches!(initializing, IndexCondition::Waiting(_)));
        let started = explained(r#"{"current_state":"started"}"#);
        assert_eq!(started, IndexCondition::Available);
    }

    #[test]
    fn the_health_of_the_cluster_is_that_of_the_indexes_that_are_asked_for() {
        let judged = |data_nodes: u32, status: &str, initializing: u64| {
            let health: ClusterHealth = serde_json::from_str(&format!(
                r#"{{"status":"red","number_of_nodes":3,"number_of_data_nodes":{data_nodes},"indices":{{
                "svc-a-1":{{"status":"{status}","initializing_shards":{initializing},"unassigned_shards":1}},
                "svc-theirs-1":{{"status":"red","initializing_shards":0,"unassigned_shards":5}}}}}}"#
            ))
            .expect("a health");
            let (ours, gone) = ("svc-a-1", "svc-b-1");
            let health = health.judge(&[ours, gone].map(PhysicalName::from_engine));
            assert_eq!((health.nodes, health.indexes.len()), (3, 1));
            health.indexes[&PhysicalName::from_engine(ours)].level
        };
        assert_eq!(judged(1, "green", 0), HealthLevel::Good);
        assert_eq!(judged(1, "yellow", 0), HealthLevel::Good);
        assert_eq!(judged(1, "yellow", 1), HealthLevel::Degraded);
        assert_eq!(judged(2, "yellow", 0), HealthLevel::Degraded);
        assert_eq!(judged(1, "red", 0), HealthLevel::Bad);
    }

    #[test]
    fn shards_without_a_primary_are_found() {
        let health: ShardsHealth = serde_json::from_str(
            r#"{"status":"red","indices":{"svc-a-1":{"status":"red","shards":{
                "0":{"status":"green","primary_active":true},"1":{"status":"red","primary_active":false}}}}}"#,
        )
        .expect("a health");
        let missing = |name| {
            let name = PhysicalName::from_engine(name);
            health.without_primary(&name).collect::<Vec<_>>()
        };
        assert_eq!(missing("svc-a-1"), [1]);
        assert!(missing("svc-b-1").is_empty());
    }
}
