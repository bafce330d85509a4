//! The sets of graphs that triples are in.
//!
//! A triple is stored once, whatever its graphs; most data have one set, which costs nothing.

use super::bytes::{Bytes, Part};
use super::error::{Fault, damaged};
use super::format::{Directory, Kind};
use super::terms::Terms;

/// Stands for the default graph.
pub(super) const DEFAULT: u32 = u32::MAX;

/// The sets of graphs of an image: for each its end, and then all graphs.
pub(super) struct GraphSets {
    count: u32,
    ends: Part,
    graphs: Part,
}

impl GraphSets {
    pub(super) fn open(bytes: &Bytes, directory: &Directory, terms: &Terms) -> Result<Self, Fault> {
        let fault = || damaged("graph sets");
        let ends = directory.numbers(Kind::GraphSets, 0, 4)?;
        let graphs = directory.numbers(Kind::GraphSets, 1, 4)?;
        let listed = bytes.u32s(ends);
        let all = bytes.u32s(graphs);
        let last = listed.last().map_or(0, |last| *last as usize);
        let first = listed.first().is_none_or(|first| *first > 0);
        let ascend = listed.windows(2).all(|pair| pair[0] < pair[1]);
        // A graph may be a blank node.
        let known = all
            .iter()
            .all(|graph| *graph == DEFAULT || *graph < terms.nodes);
        if last != all.len() || !first || !ascend || !known {
            return Err(fault());
        }
        let sets = GraphSets {
            count: u32::try_from(listed.len()).map_err(|_| fault())?,
            ends,
            graphs,
        };
        let mut each = (0..sets.count).map(|set| sets.get(bytes, set));
        if each.all(|set| set.windows(2).all(|pair| pair[0] < pair[1])) {
            Ok(sets)
        } else {
            Err(fault())
        }
    }

    /// Returns how many sets there are.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the graphs of a set, ascending; the default graph is the last.
    pub(super) fn get<'i>(&self, bytes: &'i Bytes, set: u32) -> &'i [u32] {
        let ends = bytes.u32s(self.ends);
        let at = set as usize;
        let start = at.checked_sub(1).map_or(0, |before| ends[before]);
        &bytes.u32s(self.graphs)[start as usize..ends[at] as usize]
    }

    /// Returns whether some triple is in another graph than the default one.
    pub(super) fn are_named(&self, bytes: &Bytes) -> bool {
        bytes
            .u32s(self.graphs)
            .iter()
            .any(|graph| *graph != DEFAULT)
    }
}
