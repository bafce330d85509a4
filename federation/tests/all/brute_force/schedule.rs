//! In which waves groups are asked for: as few requests as there can be.

use std::collections::{BTreeMap, BTreeSet};

use federation::supergraph::SubgraphId;

use super::Bound;
use super::state::{Group, State};

impl State {
    /// Returns the earliest wave of each group.
    pub(super) fn waves(&self) -> Vec<usize> {
        let mut waves = vec![None; self.groups.len()];
        for group in 0..self.groups.len() {
            self.wave(group, &mut waves);
        }
        waves.into_iter().flatten().collect()
    }

    fn wave(&self, group: usize, known: &mut Vec<Option<usize>>) -> usize {
        if let Some(wave) = known[group] {
            return wave;
        }
        let after = self.groups[group].after.iter();
        let wave = after.map(|before| self.wave(*before, known) + 1).max();
        known[group] = Some(wave.unwrap_or(0));
        wave.unwrap_or(0)
    }

    /// Returns whether what is there can be within a bound: what is open only adds to it.
    pub(super) fn can_be_within(&self, (waves, requests, fields): Bound) -> bool {
        let earliest = self.waves();
        let last = earliest.iter().max().map_or(0, |last| last + 1);
        let fetched = self.groups.iter().map(|group| group.nodes.len());
        let (open, others) = self.open();
        last <= waves
            && fetched.sum::<usize>() + open <= fields
            && self.requests_at_least(&earliest) + others <= requests
    }

    /// Returns how many requests there will be at least: of one subgraph those that wait for each other.
    fn requests_at_least(&self, earliest: &[usize]) -> usize {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|group| earliest[*group]);
        let mut chains: BTreeMap<usize, BTreeMap<SubgraphId, usize>> = BTreeMap::new();
        let mut longest: BTreeMap<SubgraphId, usize> = BTreeMap::new();
        let mut alone = 0;
        for id in order {
            let group = &self.groups[id];
            let mut chain: BTreeMap<SubgraphId, usize> = BTreeMap::new();
            for before in &group.after {
                for (subgraph, length) in &chains[before] {
                    let known = chain.entry(*subgraph).or_default();
                    *known = (*known).max(*length);
                }
            }
            if group.is_of_entities() {
                *chain.entry(group.subgraph).or_default() += 1
            } else {
                alone += 1
            }
            for (subgraph, length) in &chain {
                let known = longest.entry(*subgraph).or_default();
                *known = (*known).max(*length);
            }
            chains.insert(id, chain);
        }
        alone + longest.values().sum::<usize>()
    }

    /// Returns whether complete groups can be asked for in so many waves and requests.
    pub(super) fn fits(&self, (waves, requests, _): Bound) -> bool {
        let earliest = self.waves();
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by_key(|group| earliest[*group]);
        let waves = match waves {
            usize::MAX => earliest.iter().max().map_or(0, |last| last + 1),
            waves => waves,
        };
        let mut fitting = Fitting {
            groups: &self.groups,
            order: &order,
            waves,
            requests,
            chosen: vec![0; self.groups.len()],
        };
        fitting.fits(0, &BTreeSet::new())
    }
}

struct Fitting<'g> {
    groups: &'g [Group],
    /// The groups, each behind those that it waits for.
    order: &'g [usize],
    waves: usize,
    requests: usize,
    chosen: Vec<usize>,
}

type Request = (usize, SubgraphId, Option<usize>);

impl Fitting<'_> {
    fn fits(&mut self, position: usize, requests: &BTreeSet<Request>) -> bool {
        if requests.len() > self.requests {
            return false;
        }
        let Some(id) = self.order.get(position).copied() else {
            return true;
        };
        let group = &self.groups[id];
        let after = group.after.iter().map(|before| self.chosen[*before] + 1);
        let alone = (!group.is_of_entities()).then_some(id);
        (after.max().unwrap_or(0)..self.waves).any(|wave| {
            self.chosen[id] = wave;
            let mut requests = requests.clone();
            requests.insert((wave, group.subgraph, alone));
            self.fits(position + 1, &requests)
        })
    }
}
