//! After how many waves the objects of a type can be present in each subgraph.

use super::Graph;
use crate::supergraph::{FieldId, FieldSet, Selected, SubgraphId, TypeId};

/// Nesting of keys and requirements at which a way is not followed any further.
const MAX_DEPTH: usize = 12;

/// The wave after which objects are present in each subgraph; `None` where they never are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waves(Vec<Option<u32>>);

impl Waves {
    /// Creates waves in which no object is present anywhere.
    #[must_use]
    pub fn nowhere(subgraphs: usize) -> Self {
        Waves(vec![None; subgraphs])
    }

    /// Returns the wave after which objects are present in a subgraph.
    #[must_use]
    pub fn get(&self, subgraph: SubgraphId) -> Option<u32> {
        self.0[subgraph.index()]
    }

    /// Lowers the wave of a subgraph; returns whether it was later before.
    pub fn lower(&mut self, subgraph: SubgraphId, wave: u32) -> bool {
        let known = &mut self.0[subgraph.index()];
        let is_earlier = known.is_none_or(|known| wave < known);
        if is_earlier {
            *known = Some(wave);
        }
        is_earlier
    }
}

/// The requirements that are being followed: a way that comes back to one of them leads nowhere.
type Trail = Vec<FieldId>;

impl Graph<'_> {
    /// Adds the subgraphs that entities of a type reach by keys, directly or over others.
    pub fn spread(self, ty: TypeId, waves: &mut Waves) {
        self.spread_from(ty, waves, &mut Vec::new(), 0);
    }

    fn spread_from(self, ty: TypeId, waves: &mut Waves, trail: &mut Trail, depth: usize) {
        let mut changed = true;
        while changed {
            changed = false;
            for join in &self.supergraph().ty(ty).joins {
                for key in self.keys(ty, join.subgraph) {
                    let ready = self.set_wave(ty, &key.fields, waves, trail, depth + 1);
                    changed |= ready.is_some_and(|ready| waves.lower(join.subgraph, ready + 1));
                }
            }
        }
    }

    /// Returns the wave after which all fields of a set are known for objects of a type.
    #[must_use]
    pub fn ready(self, ty: TypeId, set: &FieldSet, waves: &Waves) -> Option<u32> {
        self.set_wave(ty, set, waves, &mut Vec::new(), 0)
    }

    /// Returns the wave after which a subgraph can have resolved a field of objects of a type.
    #[must_use]
    pub fn resolved(
        self,
        ty: TypeId,
        field: FieldId,
        subgraph: SubgraphId,
        waves: &Waves,
    ) -> Option<u32> {
        self.field_wave(ty, field, subgraph, waves, &mut Vec::new(), 0)
    }

    fn set_wave(
        self,
        ty: TypeId,
        set: &FieldSet,
        waves: &Waves,
        trail: &mut Trail,
        depth: usize,
    ) -> Option<u32> {
        if depth > MAX_DEPTH {
            return None;
        }
        let present = waves.0.iter().flatten().min().copied()?;
        set.selections.iter().try_fold(present, |latest, selected| {
            let wave = match selected {
                Selected::Typename => present,
                Selected::Fragment { condition, inner } => {
                    let possible = &self.supergraph().ty(*condition).possible;
                    match possible.binary_search(&ty) {
                        Ok(_) => self.set_wave(ty, inner, waves, trail, depth)?,
                        Err(_) => present,
                    }
                }
                Selected::Field { name, inner, .. } => {
                    let field = self.supergraph().field_id(ty, name)?;
                    self.selected_wave(ty, field, inner, waves, trail, depth)?
                }
            };
            Some(latest.max(wave))
        })
    }

    fn selected_wave(
        self,
        ty: TypeId,
        field: FieldId,
        inner: &FieldSet,
        waves: &Waves,
        trail: &mut Trail,
        depth: usize,
    ) -> Option<u32> {
        let mut below = Waves::nowhere(waves.0.len());
        for join in self.resolvers(field) {
            if let Some(wave) = self.field_wave(ty, field, join.subgraph, waves, trail, depth) {
                below.lower(join.subgraph, wave);
            }
        }
        if inner.is_empty() {
            return below.0.iter().flatten().min().copied();
        }
        let possible = &self
            .supergraph()
            .ty(self.supergraph().field(field).inner)
            .possible;
        let mut latest = None;
        for member in possible {
            let mut there = Waves::nowhere(waves.0.len());
            for join in self.resolvers(field) {
                if let Some(wave) = below.get(join.subgraph)
                    && self.possible(join).binary_search(member).is_ok()
                {
                    there.lower(join.subgraph, wave);
                }
            }
            if there.0.iter().all(Option::is_none) {
                continue;
            }
            self.spread_from(*member, &mut there, trail, depth + 1);
            let wave = self.set_wave(*member, inner, &there, trail, depth + 1)?;
            latest = latest.max(Some(wave));
        }
        latest
    }

    fn field_wave(
        self,
        ty: TypeId,
        field: FieldId,
        subgraph: SubgraphId,
        waves: &Waves,
        trail: &mut Trail,
        depth: usize,
    ) -> Option<u32> {
        let join = self.resolves(subgraph, field)?;
        let Some(requires) = &join.requires else {
            return waves.get(subgraph);
        };
        if trail.contains(&field) || depth > MAX_DEPTH {
            return None;
        }
        trail.push(field);
        let inputs = self.set_wave(ty, requires, waves, trail, depth + 1);
        let keys = self.keys(ty, subgraph);
        let key = keys
            .filter_map(|key| self.set_wave(ty, &key.fields, waves, trail, depth + 1))
            .min();
        trail.pop();
        Some(inputs?.max(key?) + 1)
    }
}
