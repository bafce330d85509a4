//! Where objects are present while a candidate grows, and where they could be made so.

use std::rc::Rc;

use apollo_compiler::executable::OperationType;

use super::builder::{PlanBuilder, meet};
use super::fetch_group::GroupId;
use super::reach_cache::Reached;
use crate::graph::{Graph, Waves};
use crate::operation::{Class, ClassId, NodeId};
use crate::supergraph::{FieldJoin, FieldSet, Selected, SubgraphId, TypeId};

impl<'s> PlanBuilder<'s> {
    /// Returns the groups in which the objects of a class are present.
    pub(super) fn presences(&self, class: ClassId) -> Vec<GroupId> {
        let mut all: Vec<GroupId> = self.entered.get(&class).cloned().unwrap_or_default();
        let Class {
            position, types, ..
        } = self.tree.class(class);
        let Some(position) = position else {
            // A mutation is carried out field by field: only the last group may still grow, and only as
            // long as nothing follows it.
            let is_open = |id: &GroupId| {
                self.operation != OperationType::Mutation || id + 1 == self.groups.len()
            };
            return self.roots.iter().copied().filter(is_open).collect();
        };
        let field = self
            .graph
            .supergraph()
            .field(self.tree.node(*position).field);
        for group in self.fetched.get(position).into_iter().flatten() {
            if let Some(join) = field.join(self.groups[*group].subgraph)
                && meet(self.graph.possible(join), types)
            {
                all.push(*group);
            }
        }
        all
    }

    /// Returns whether a group can fetch a field where it has the object already.
    pub(super) fn is_inline(&self, group: GroupId, node: NodeId) -> bool {
        let subgraph = self.groups[group].subgraph;
        let field = self.tree.node(node).field;
        if !self.is_alike(group, node) {
            return false;
        }
        match self.graph.resolves(subgraph, field) {
            Some(join) => join.is_plain() || self.groups[group].nodes.contains(&node),
            None => self.is_provided(group, node),
        }
    }

    /// Returns whether a subgraph resolves a field on this path alone.
    fn is_provided(&self, group: GroupId, node: NodeId) -> bool {
        let subgraph = self.groups[group].subgraph;
        let supergraph = self.graph.supergraph();
        if supergraph
            .field(self.tree.node(node).field)
            .join(subgraph)
            .is_none()
        {
            return false;
        }
        let mut path = vec![node];
        loop {
            let class = self.tree.node(path[path.len() - 1]).class;
            let Some(above) = self.tree.class(class).position else {
                return false;
            };
            if self.groups[group].entry.classes().contains(&class)
                || !self.groups[group].nodes.contains(&above)
            {
                return false;
            }
            let join = supergraph.field(self.tree.node(above).field).join(subgraph);
            if let Some(provides) = join.and_then(|join| join.provides.as_ref())
                && self.names(provides, &path)
            {
                return true;
            }
            path.push(above);
        }
    }

    /// Returns whether a field set has the path; its last step comes first.
    fn names(&self, set: &FieldSet, path: &[NodeId]) -> bool {
        let Some((node, rest)) = path.split_last() else {
            return true;
        };
        let node = self.tree.node(*node);
        let ty = self.tree.class(node.class).ty();
        set.of(self.graph.supergraph(), ty)
            .iter()
            .any(|selected| match selected {
                Selected::Field { name, inner, .. } => {
                    *name == node.name && self.names(inner, rest)
                }
                _ => false,
            })
    }

    /// Returns the waves after which the objects of a class can be present in each subgraph.
    pub(super) fn reached(&mut self, class: ClassId) -> Reached {
        if let Some(known) = self.reached.get(&class) {
            return known.clone();
        }
        let position = self.tree.class(class).position;
        let above = position.map(|node| self.reached(self.tree.node(node).class));
        let reach_cache = Rc::clone(&self.reach_cache);
        let ty = self.tree.class(class).ty();
        let reached = reach_cache.both(|graph| {
            let waves = self.reached_by(graph, class, above.as_ref());
            reach_cache.spread(graph, ty, &waves)
        });
        let known = self.graph.supergraph().ty(ty).joins.len();
        self.steps += 1 + known * known / 4;
        self.reached.insert(class, reached.clone());
        reached
    }

    /// Returns the waves after which the objects of a class can be present in subgraphs without keys.
    fn reached_by(&self, graph: Graph<'s>, class: ClassId, above: Option<&Reached>) -> Waves {
        let supergraph = graph.supergraph();
        let mut waves = Waves::nowhere(supergraph.subgraphs().len());
        let present = self.presences(class);
        for group in &present {
            waves.lower(self.groups[*group].subgraph, self.groups[*group].wave);
        }
        let ty = self.tree.class(class).ty();
        let (Some(position), Some(above)) = (self.tree.class(class).position, above) else {
            for join in &supergraph.ty(ty).joins {
                waves.lower(join.subgraph, self.after_barrier());
            }
            return waves;
        };
        let above = if graph.is_optimistic() {
            &above.least
        } else {
            &above.likely
        };
        for subgraph in self.leading(graph, class, position) {
            if let Some(wave) = above.get(subgraph) {
                waves.lower(subgraph, wave);
            }
        }
        if self.is_query(ty) {
            let first = present.iter().map(|id| self.groups[*id].wave).min();
            for join in &supergraph.ty(ty).joins {
                waves.lower(join.subgraph, first.unwrap_or_default() + 1);
            }
        }
        waves
    }

    pub(super) fn is_query(&self, ty: TypeId) -> bool {
        self.graph.supergraph().root(OperationType::Query) == Some(ty)
    }

    pub(super) fn after_barrier(&self) -> u32 {
        let waves = self
            .barrier
            .iter()
            .map(|group| self.groups[*group].wave + 1);
        waves.max().unwrap_or(0)
    }

    /// Returns the subgraphs that can fetch the field which leads to a class once more.
    pub(super) fn leading(
        &self,
        graph: Graph<'s>,
        class: ClassId,
        position: NodeId,
    ) -> Vec<SubgraphId> {
        let above = self.tree.node(position).class;
        let is_root = self.tree.class(above).position.is_none();
        if is_root && self.operation == OperationType::Mutation {
            // It would be carried out twice.
            return Vec::new();
        }
        let field = graph.supergraph().field(self.tree.node(position).field);
        let fetched = self.fetched.get(&position);
        let first = fetched
            .and_then(|groups| groups.first())
            .and_then(|group| field.join(self.groups[*group].subgraph));
        let expected: Option<&[TypeId]> = first.map(|join| graph.possible(join));
        let types = &self.tree.class(class).types;
        let joins = graph.resolvers(self.tree.node(position).field);
        let joins = joins.filter(|join: &&FieldJoin| {
            let possible = graph.possible(join);
            // Where subgraphs know different types, only one of them is asked.
            let is_same = expected.is_none_or(|expected| expected == possible);
            join.is_plain() && is_same && meet(possible, types)
        });
        joins.map(|join| join.subgraph).collect()
    }
}
