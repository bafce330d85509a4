//! Objects that were written and may have to be written again: in an answer that reaches the same object by many ways, most
//! of the text is a copy.

use graph_store::CallContext;
use graphql_service::writer::WrittenText;

use super::fetch::FetchedLevel;
use crate::plan::LevelId;

/// Where objects lie in the answer.
pub(super) struct Repeated {
    /// For each level in which some object is reached several times, each of its objects.
    levels: Vec<Vec<Option<WrittenText>>>,
    /// How many warnings there were, those included that were said already.
    pub(super) warnings: u64,
}

impl Repeated {
    /// Makes room for all objects, as far as there is memory: without it, nothing is copied.
    pub(super) fn new(context: &CallContext, levels: &[FetchedLevel]) -> Self {
        let room = |level: &FetchedLevel| {
            if level.reached_once {
                0
            } else {
                level.nodes.len()
            }
        };
        let levels = levels.iter().map(|level| {
            let room = room(level);
            match context.hold(room * size_of::<Option<WrittenText>>()) {
                Ok(()) => vec![None; room],
                Err(_) => Vec::new(),
            }
        });
        Repeated {
            levels: levels.collect(),
            warnings: 0,
        }
    }

    /// Returns where an object lies, if it was written and is short enough to be copied.
    pub(super) fn find(&self, level: LevelId, node: u32) -> Option<WrittenText> {
        let level = &self.levels[level.0 as usize];
        level.get(node as usize).copied().flatten()
    }

    /// Notes where an object lies.
    pub(super) fn keep(&mut self, level: LevelId, node: u32, written: WrittenText) {
        if let Some(place) = self.levels[level.0 as usize].get_mut(node as usize) {
            *place = Some(written);
        }
    }
}
