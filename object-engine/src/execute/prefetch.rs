//! Prefetching: several levels are read at once where the store has reason to, and their values kept until their turn.

use std::sync::Mutex;

use graph_store::query::{
    Dataset, Hydrated, NodeCondition, ObjectRef, Objects, Tree, TreeLevel, TreeRequest, TreeValues,
};
use graph_store::{StoreError, TreeStore};

use super::Execution;
use super::fetch::hydrate;
use crate::plan::{Branch, LevelId, RootObjects, candidates, level_tree};

/// The values of levels whose turn has not come.
pub(super) struct Prefetch<'a> {
    execution: &'a Execution<'a>,
    trees: Option<&'a dyn TreeStore>,
    /// By the position of their level; nothing for a store that does not read ahead.
    values: Mutex<Vec<Option<TreeValues>>>,
}

impl<'a> Prefetch<'a> {
    pub(super) fn new(execution: &'a Execution<'a>) -> Self {
        let levels = execution.plan.levels.iter();
        let trees = execution.store.trees();
        let values = trees.map(|_| levels.map(|_| None).collect());
        Prefetch {
            execution,
            trees,
            values: Mutex::new(values.unwrap_or_default()),
        }
    }

    /// Returns the objects of a root field. Where it names some ids, or the store finds few objects, their values are read
    /// in the same step.
    pub(super) async fn select(&self, objects: &RootObjects) -> Result<Objects, StoreError> {
        let Execution { store, context, .. } = self.execution;
        let (selection, level) = (&objects.selection, objects.level);
        let plan = &self.execution.plan.levels[level.0 as usize];
        // Other root fields may add objects to the level.
        let is_alone = plan.ways == 1 && !plan.slots.is_empty();
        if let Some(trees) = self.trees.filter(|_| is_alone)
            && let Some((ids, condition)) = candidates(selection)
        {
            let dataset = &selection.dataset;
            let levels = level_tree(
                self.execution.plan,
                level,
                Some(ids.len()),
                trees.reads_apart(),
            );
            let read = self.read(trees, &levels, &ids, Some(&condition), dataset);
            if let Some(found) = read.await? {
                return Ok(found.into());
            }
        }
        if let Some(trees) = self.trees.filter(|_| is_alone)
            && let Some(found) = self.select_with_values(trees, objects).await?
        {
            return Ok(found.into());
        }
        store.select(selection, context).await
    }

    /// Returns the objects of a root field, and keeps the values of its level, and those of lower ones if few objects are
    /// asked for. `None` if the store would rather be asked for the objects first.
    async fn select_with_values(
        &self,
        store: &dyn TreeStore,
        objects: &RootObjects,
    ) -> Result<Option<Vec<ObjectRef>>, StoreError> {
        let selection = &objects.selection;
        let number = selection
            .page
            .limit
            .map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let branches = level_tree(self.execution.plan, objects.level, number, false);
        let levels = self.levels(&branches);
        let read = store.select_tree(selection, &levels, self.execution.context);
        Ok(read.await?.map(|read| self.keep(&branches, read)))
    }

    /// Returns the values of the objects of a level, which may be there already.
    pub(super) async fn hydrate(
        &self,
        position: usize,
        nodes: &Objects,
    ) -> Result<Hydrated, StoreError> {
        let level = &self.execution.plan.levels[position];
        let Some(trees) = self.trees else {
            return hydrate(self.execution, level, nodes).await;
        };
        if let Some(values) = self.take(position) {
            return Ok(values.into_hydrated(&nodes.as_slice().to_refs()));
        }
        if !nodes.is_empty() {
            let id = LevelId(u32::try_from(position).expect("a plan has fewer than 2^32 levels"));
            let levels = level_tree(
                self.execution.plan,
                id,
                Some(nodes.len()),
                trees.reads_apart(),
            );
            let roots = nodes.as_slice().to_refs();
            if levels.len() > 1
                && self
                    .read(trees, &levels, &roots, None, &level.dataset)
                    .await?
                    .is_some()
                && let Some(values) = self.take(position)
            {
                return Ok(values.into_hydrated(&roots));
            }
        }
        hydrate(self.execution, level, nodes).await
    }

    /// Reads levels from some objects, and keeps their values; returns which objects satisfy the
    /// condition. `None` if the store would rather be asked level by level.
    async fn read(
        &self,
        store: &dyn TreeStore,
        branches: &[Branch],
        roots: &[ObjectRef],
        condition: Option<&NodeCondition>,
        dataset: &Dataset,
    ) -> Result<Option<Vec<ObjectRef>>, StoreError> {
        let request = TreeRequest {
            roots,
            condition,
            levels: &self.levels(branches),
            dataset,
        };
        let read = store.read_tree(&request, self.execution.context);
        Ok(read.await?.map(|read| self.keep(branches, read)))
    }

    fn levels(&self, branches: &[Branch]) -> Vec<TreeLevel<'a>> {
        let plan = self.execution.plan;
        let levels = branches.iter().map(|branch| TreeLevel {
            parent: branch.parent,
            is_apart: branch.is_apart,
            slots: &plan.levels[branch.level.0 as usize].slots,
        });
        levels.collect()
    }

    /// Keeps the values of levels; returns the objects that they were read from.
    fn keep(&self, branches: &[Branch], read: Tree) -> Vec<ObjectRef> {
        let mut kept = self.values.lock().expect("nobody panics with the values");
        for (branch, values) in branches.iter().zip(read.levels) {
            kept[branch.level.0 as usize] = Some(values);
        }
        read.roots
    }

    fn take(&self, position: usize) -> Option<TreeValues> {
        let mut kept = self.values.lock().expect("nobody panics with the values");
        kept[position].take()
    }
}
