//! When groups are asked for: entities that one subgraph is asked for in the same wave share a request, so
//! some of them wait for others where that costs no wave.

use std::collections::{BTreeMap, BTreeSet};

use super::fetch_group::{FetchGroup, GroupEntry, GroupId};
use super::lower_bound::LowerBound;
use crate::supergraph::SubgraphId;

/// Steps that finding the fewest requests may take.
const STEPS: usize = 5_000;

/// The waves of groups.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    /// The wave of each group.
    pub(super) waves: Vec<u32>,
    /// The number of requests.
    pub(super) requests: usize,
    /// Whether there are surely no fewer.
    pub(super) is_minimal: bool,
}

/// Returns the waves in which a group can be asked for, where there are so many in all.
fn windows(groups: &[FetchGroup], waves: u32) -> Vec<(u32, u32)> {
    let mut windows: Vec<(u32, u32)> = groups
        .iter()
        .map(|group| (group.wave, waves.saturating_sub(1).max(group.wave)))
        .collect();
    let mut order: Vec<GroupId> = (0..groups.len()).collect();
    order.sort_by_key(|id| std::cmp::Reverse(groups[*id].wave));
    for id in order {
        let latest = windows[id].1;
        for before in &groups[id].after {
            let (earliest, last) = &mut windows[*before];
            *last = (*last).min(latest.saturating_sub(1)).max(*earliest);
        }
    }
    windows
}

/// Returns how many requests a plan of so many waves has at least that has these groups, whatever they
/// still wait for.
pub(super) fn min_requests(groups: &[FetchGroup], lower_bound: &LowerBound, waves: u32) -> usize {
    let mut alone = 0;
    let (mut roots, mut again) = (BTreeSet::new(), BTreeSet::new());
    let mut entities: BTreeMap<SubgraphId, Vec<(u32, u32)>> = BTreeMap::new();
    for (group, (earliest, latest)) in groups.iter().zip(windows(groups, waves)) {
        if is_entity(group) {
            let known = entities.entry(group.subgraph).or_default();
            known.push((latest, earliest));
            continue;
        }
        alone += 1;
        match group.entry {
            GroupEntry::Root => roots.insert(group.subgraph),
            _ => again.insert(group.subgraph),
        };
    }
    let missing = lower_bound.roots.difference(&roots).count();
    for fetch in &lower_bound.fetches {
        // It may begin at the root type again.
        if !again.contains(&fetch.subgraph) {
            let latest = waves.saturating_sub(fetch.behind + 1).max(fetch.earliest);
            let known = entities.entry(fetch.subgraph).or_default();
            known.push((latest, fetch.earliest));
        }
    }
    // Requests of one subgraph whose windows have nothing in common are never one.
    let apart = entities.into_values().map(|mut windows| {
        windows.sort_unstable();
        let (mut count, mut until) = (0, None);
        for (latest, earliest) in windows {
            if until.is_none_or(|until| earliest > until) {
                (count, until) = (count + 1, Some(latest));
            }
        }
        count
    });
    let known = alone + missing + apart.sum::<usize>();
    known.max(lower_bound.requests).max(lower_bound.waves)
}

/// Finds waves of groups with the fewest requests, in as many waves as they need.
pub(super) fn schedule(groups: &[FetchGroup], lower_bound: &LowerBound) -> Schedule {
    let earliest: Vec<u32> = groups.iter().map(|group| group.wave).collect();
    let waves = earliest.iter().max().map_or(0, |last| last + 1);
    let requests = requests(groups, &earliest);
    let mut order: Vec<GroupId> = (0..groups.len()).collect();
    order.sort_by_key(|id| groups[*id].wave);
    let least = min_requests(groups, lower_bound, waves);
    let mut search = ScheduleSearch {
        groups,
        order,
        latest: windows(groups, waves)
            .into_iter()
            .map(|(_, last)| last)
            .collect(),
        least,
        waves: earliest.clone(),
        open: BTreeMap::new(),
        alone: 0,
        left: STEPS,
        best: (requests, earliest),
    };
    if requests > least {
        search.next(0);
    }
    let (requests, waves) = search.best;
    Schedule {
        waves,
        requests,
        is_minimal: requests == least || search.left > 0,
    }
}

fn requests(groups: &[FetchGroup], waves: &[u32]) -> usize {
    let of = groups.iter().enumerate().map(|(id, group)| {
        let alone = (!is_entity(group)).then_some(id);
        (waves[id], group.subgraph, alone)
    });
    of.collect::<BTreeSet<_>>().len()
}

fn is_entity(group: &FetchGroup) -> bool {
    matches!(group.entry, GroupEntry::Entities { .. })
}

struct ScheduleSearch<'g> {
    groups: &'g [FetchGroup],
    /// The groups, each behind those that it waits for.
    order: Vec<GroupId>,
    latest: Vec<u32>,
    /// The fewest requests that are possible.
    least: usize,
    waves: Vec<u32>,
    /// How many groups of entities of a subgraph are in a wave.
    open: BTreeMap<(SubgraphId, u32), usize>,
    /// Groups that have a request of their own.
    alone: usize,
    left: usize,
    best: (usize, Vec<u32>),
}

impl ScheduleSearch<'_> {
    /// Tries all waves of a group and of those behind it, early ones first.
    fn next(&mut self, position: usize) {
        if self.left == 0
            || self.best.0 == self.least
            || self.alone + self.open.len() >= self.best.0
        {
            return;
        }
        self.left -= 1;
        let Some(id) = self.order.get(position).copied() else {
            self.best = (self.alone + self.open.len(), self.waves.clone());
            return;
        };
        let group = &self.groups[id];
        let after = group.after.iter().map(|before| self.waves[*before] + 1);
        let first = after.max().unwrap_or(0);
        if !is_entity(group) {
            self.waves[id] = first;
            self.alone += 1;
            self.next(position + 1);
            self.alone -= 1;
            return;
        }
        for wave in first..=self.latest[id] {
            let key = (group.subgraph, wave);
            self.waves[id] = wave;
            *self.open.entry(key).or_default() += 1;
            self.next(position + 1);
            match self.open.get_mut(&key) {
                Some(count) if *count > 1 => *count -= 1,
                _ => _ = self.open.remove(&key),
            }
        }
    }
}
