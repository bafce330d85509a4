//! Cycles in a graph of names, and an order from the ground up where there is none.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// For each name, the names that it depends on.
pub type Edges = BTreeMap<String, BTreeSet<String>>;

/// Returns for each group of names that reach each other its shortest cycle, first name repeated
/// at the end.
#[must_use]
pub fn cycles(edges: &Edges) -> Vec<Vec<String>> {
    let groups = groups(edges).into_iter();
    let shortest = groups.filter_map(|group| {
        let cycles = group.iter().filter_map(|name| cycle_through(edges, name));
        cycles.min_by_key(Vec::len)
    });
    shortest.collect()
}

/// Returns the groups of names that reach each other.
#[must_use]
pub fn groups(edges: &Edges) -> Vec<BTreeSet<String>> {
    let mut done = BTreeSet::new();
    let mut groups = Vec::new();
    for start in edges.keys() {
        if done.contains(start) {
            continue;
        }
        let forth = reachable(edges, start).into_iter();
        let group = forth.filter(|name| reachable(edges, name).contains(start));
        let group: BTreeSet<String> = group.cloned().collect();
        done.extend(group.iter().cloned());
        if !group.is_empty() {
            groups.push(group);
        }
    }
    groups
}

/// Returns the names, each after all that it depends on; names of a cycle one after the other.
#[must_use]
pub fn from_the_ground_up(edges: &Edges) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    let mut left: BTreeSet<&String> = edges.keys().collect();
    while !left.is_empty() {
        let below = |name: &&String| -> BTreeSet<&String> {
            let below = reachable(edges, name).into_iter();
            below.filter(|need| left.contains(need)).collect()
        };
        let counts = left.iter().map(|name| (*name, below(name)));
        let counts: Vec<(&String, BTreeSet<&String>)> = counts.collect();
        let lowest = counts.iter().map(|(_, below)| below.len()).min();
        // Nothing is below the lowest names, or what is below is a cycle that they are part of.
        let is_lowest = |(name, below): &(&String, BTreeSet<&String>)| {
            Some(below.len()) == lowest && (below.is_empty() || below.contains(name))
        };
        let next = counts.into_iter().filter(is_lowest);
        let next: Vec<&String> = next.map(|(name, _)| name).collect();
        for name in next {
            left.remove(name);
            order.push(name.clone());
        }
    }
    order
}

/// Everything that one step or more leads to.
fn reachable<'e>(edges: &'e Edges, start: &str) -> BTreeSet<&'e String> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<&String> = edges.get(start).into_iter().flatten().collect();
    while let Some(name) = waiting.pop() {
        if found.insert(name) {
            waiting.extend(edges.get(name).into_iter().flatten());
        }
    }
    found
}

/// The shortest way from a name back to itself.
fn cycle_through(edges: &Edges, start: &str) -> Option<Vec<String>> {
    way(edges, start, start)
}

/// Returns the shortest way of one step or more from a name to another, both of them included.
#[must_use]
pub fn way(edges: &Edges, start: &str, end: &str) -> Option<Vec<String>> {
    let mut ways = VecDeque::from([vec![start.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        let last = way.last().expect("a way has a start");
        for next in edges.get(last).into_iter().flatten() {
            let mut longer = way.clone();
            longer.push(next.clone());
            if next == end {
                return Some(longer);
            }
            if seen.insert(next) {
                ways.push_back(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(list: &[(&str, &[&str])]) -> Edges {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let edge = |&(from, to): &(&str, &[&str])| (from.to_owned(), names(to));
        list.iter().map(edge).collect()
    }

    #[test]
    fn each_ring_is_found_once_and_at_its_shortest() {
        let edges = edges(&[
            ("a", &["b"]),
            ("b", &["c", "d"]),
            ("c", &["a", "b"]),
            ("d", &[]),
            ("x", &["y"]),
            ("y", &["x", "d"]),
        ]);
        assert_eq!(cycles(&edges), [vec!["b", "c", "b"], vec!["x", "y", "x"]]);
    }

    #[test]
    fn the_shortest_way_is_found_where_there_is_one() {
        let edges = edges(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &["d"]), ("d", &[])]);
        assert_eq!(way(&edges, "a", "d").unwrap(), ["a", "c", "d"]);
        assert_eq!(way(&edges, "d", "a"), None);
        assert_eq!(way(&edges, "a", "a"), None);
    }

    #[test]
    fn a_graph_without_rings_has_an_order() {
        let edges = edges(&[
            ("top", &["middle", "base"]),
            ("middle", &["base"]),
            ("base", &[]),
        ]);
        assert_eq!(cycles(&edges), [[""; 0]; 0]);
        assert_eq!(from_the_ground_up(&edges), ["base", "middle", "top"]);
    }

    #[test]
    fn an_order_is_given_in_spite_of_a_ring() {
        let edges = edges(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"]), ("d", &[])]);
        assert_eq!(from_the_ground_up(&edges), ["d", "b", "c", "a"]);
    }
}
