//! After how many waves the objects of a type can be present in each subgraph.
//!
//! What is known of objects only grows from wave to wave, so it is worked out from the first wave on until
//! nothing is added: whatever waits for itself never is.

use super::Graph;
use crate::hash::{HashMap, HashSet};
use crate::supergraph::{FieldId, FieldSet, Selected, SubgraphId, TypeId};

/// The latest wave that is planned for. Chains of keys and requirements that are longer lead nowhere.
const MAX_WAVE: u32 = 128;

/// How many objects below each other are looked at for what is needed of the first. Keys with objects that have keys
/// with objects, and so on, lead nowhere when they are longer: a schema must not take the stack.
const MAX_DEPTH: usize = 64;

static NOTHING: FieldSet = FieldSet {
    selections: Vec::new(),
};

/// The wave after which objects are present in each subgraph; `None` where they never are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
        let is_earlier = known.is_none_or(|known| wave < known) && wave <= MAX_WAVE;
        if is_earlier {
            *known = Some(wave);
        }
        is_earlier
    }

    /// Returns the first wave after which objects are present anywhere.
    pub(crate) fn first(&self) -> Option<u32> {
        self.0.iter().flatten().min().copied()
    }
}

/// What subgraphs resolve of an object beyond what they always do, on the path that led to it.
pub(crate) type Provided<'g> = Vec<(SubgraphId, &'g FieldSet)>;

/// Where objects are present, and what is provided there on the path that led to them.
#[derive(Clone, Copy)]
pub(crate) struct Presence<'p, 'g> {
    pub(crate) waves: &'p Waves,
    pub(crate) provided: &'p [(SubgraphId, &'g FieldSet)],
}

impl<'p> Presence<'p, '_> {
    /// Where nothing is provided.
    fn plain(waves: &'p Waves) -> Self {
        Presence {
            waves,
            provided: &[],
        }
    }
}

impl<'g> Graph<'g> {
    /// Adds the subgraphs that entities of a type reach by keys, where something is provided on the path to them.
    pub(crate) fn spread_on_path(self, ty: TypeId, waves: &mut Waves, provided: &Provided<'g>) {
        let mut reach = Reach::on_path(self);
        let presence = Presence { waves, provided };
        *waves = reach.level(ty, presence, None).waves;
    }

    /// Returns whether a subgraph can resolve a field of objects of a type that are present in some subgraphs, where
    /// something is provided on the path to them. What is provided of the field itself does not count.
    pub(crate) fn is_resolved_on_path(
        self,
        ty: TypeId,
        field: FieldId,
        subgraph: SubgraphId,
        presence: Presence<'_, 'g>,
    ) -> bool {
        let wave = Reach::on_path(self).resolved(ty, field, subgraph, presence);
        wave.is_some()
    }

    /// Returns who provides a field of objects of a type, with what is provided below it.
    pub(crate) fn providers<'a>(
        self,
        ty: TypeId,
        name: &str,
        provided: impl IntoIterator<Item = &'a (SubgraphId, &'g FieldSet)>,
    ) -> Provided<'g>
    where
        'g: 'a,
    {
        let mut found = Vec::new();
        for (subgraph, set) in provided {
            self.selected(ty, set, name, &mut |inner| found.push((*subgraph, inner)));
        }
        found
    }

    /// Finds what a set selects below a field of objects of a type.
    fn selected(
        self,
        ty: TypeId,
        set: &'g FieldSet,
        name: &str,
        found: &mut impl FnMut(&'g FieldSet),
    ) {
        for selected in &set.selections {
            match selected {
                Selected::Typename => {}
                Selected::Field {
                    name: other, inner, ..
                } => {
                    if other == name {
                        found(inner);
                    }
                }
                Selected::Fragment { condition, inner } => {
                    if self.supergraph().is_possible(*condition, ty) {
                        self.selected(ty, inner, name, found);
                    }
                }
            }
        }
    }
}

impl Graph<'_> {
    /// Adds the subgraphs that entities of a type reach by keys, directly or over others.
    pub fn spread(self, ty: TypeId, waves: &mut Waves) {
        let level = Reach::new(self).level(ty, Presence::plain(waves), None);
        *waves = level.waves;
    }

    /// Returns the wave after which all fields of a set are known for objects of a type.
    #[must_use]
    pub fn ready(self, ty: TypeId, set: &FieldSet, waves: &Waves) -> Option<u32> {
        let mut reach = Reach::new(self);
        let level = reach.level(ty, Presence::plain(waves), Some(set));
        reach.set(&level, set)
    }

    /// Returns the wave after which a subgraph can have resolved a field of objects of a type, as far as the
    /// objects themselves are concerned: values from contexts are those of objects above.
    #[must_use]
    pub fn resolved(
        self,
        ty: TypeId,
        field: FieldId,
        subgraph: SubgraphId,
        waves: &Waves,
    ) -> Option<u32> {
        Reach::new(self).resolved(ty, field, subgraph, Presence::plain(waves))
    }
}

/// Follows keys and requirements.
struct Reach<'g> {
    graph: Graph<'g>,
    /// Whether what is provided counts, on the paths on which it is.
    is_on_path: bool,
    /// What is being looked for in objects below others: what comes back to it leads nowhere.
    trail: Vec<(TypeId, &'g FieldSet)>,
    /// How often something came back.
    returns: usize,
    /// The wave after which a set is known of objects that are present in some subgraphs.
    known: HashMap<(TypeId, &'g FieldSet, Waves), Option<u32>>,
}

/// What is known of objects of one type.
struct Level<'g> {
    ty: TypeId,
    waves: Waves,
    /// What is provided, and the waves after which it is.
    provided: Provided<'g>,
    led: Waves,
    /// Fields that require others, as far as anything depends on them: who resolves them, given what.
    computed: Vec<(FieldId, SubgraphId, &'g FieldSet)>,
    /// The wave after which each of them is resolved.
    resolved: Vec<Option<u32>>,
}

impl<'g> Reach<'g> {
    fn new(graph: Graph<'g>) -> Self {
        Reach {
            graph,
            is_on_path: false,
            trail: Vec::new(),
            returns: 0,
            known: HashMap::default(),
        }
    }

    /// Follows what is provided too, on the paths on which it is.
    fn on_path(graph: Graph<'g>) -> Self {
        Reach {
            is_on_path: true,
            ..Reach::new(graph)
        }
    }

    /// Returns the wave after which a subgraph can have resolved a field of objects of a type.
    fn resolved(
        mut self,
        ty: TypeId,
        field: FieldId,
        subgraph: SubgraphId,
        presence: Presence<'_, 'g>,
    ) -> Option<u32> {
        let join = self.graph.resolves(subgraph, field)?;
        if join.is_plain() {
            return presence.waves.get(subgraph);
        }
        let requires = join.requires.as_ref().unwrap_or(&NOTHING);
        let level = self.level(ty, presence, Some(requires));
        self.given(&level, subgraph, requires)
    }

    /// Works out where objects can be present, and the fields that a set needs. `presence` says
    /// where they are to begin with.
    fn level(
        &mut self,
        ty: TypeId,
        presence: Presence<'_, 'g>,
        set: Option<&'g FieldSet>,
    ) -> Level<'g> {
        let computed = self.computed(ty, set);
        let mut level = Level {
            ty,
            provided: presence.provided.to_vec(),
            led: presence.waves.clone(),
            waves: presence.waves.clone(),
            resolved: vec![None; computed.len()],
            computed,
        };
        let joins = &self.graph.supergraph().ty(ty).joins;
        let mut changed = true;
        while changed {
            changed = false;
            for join in joins {
                for key in self.graph.keys(ty, join.subgraph) {
                    if let Some(ready) = self.set(&level, &key.fields) {
                        changed |= level.waves.lower(join.subgraph, ready + 1);
                    }
                }
            }
            for position in 0..level.computed.len() {
                let (_, subgraph, requires) = level.computed[position];
                let wave = self.given(&level, subgraph, requires);
                let known = &mut level.resolved[position];
                let earlier = wave.filter(|wave| known.is_none_or(|known| *wave < known));
                if earlier.is_some() {
                    *known = earlier;
                    changed = true;
                }
            }
        }
        level
    }

    /// Returns the fields of a type that require others, as far as its keys or a set depend on them.
    fn computed(
        &self,
        ty: TypeId,
        set: Option<&'g FieldSet>,
    ) -> Vec<(FieldId, SubgraphId, &'g FieldSet)> {
        let mut open = Vec::new();
        if let Some(set) = set {
            self.fields_of(ty, set, &mut open);
        }
        for join in &self.graph.supergraph().ty(ty).joins {
            for key in self.graph.keys(ty, join.subgraph) {
                self.fields_of(ty, &key.fields, &mut open);
            }
        }
        let mut seen = HashSet::default();
        let mut computed = Vec::new();
        while let Some(field) = open.pop() {
            if !seen.insert(field) {
                continue;
            }
            // Reading has refused sets with fields that take arguments from contexts.
            for join in self.graph.resolvers(field) {
                if let Some(requires) = &join.requires {
                    computed.push((field, join.subgraph, requires));
                    self.fields_of(ty, requires, &mut open);
                }
            }
        }
        computed
    }

    fn fields_of(&self, ty: TypeId, set: &FieldSet, found: &mut Vec<FieldId>) {
        let supergraph = self.graph.supergraph();
        for selected in &set.selections {
            match selected {
                Selected::Typename => {}
                Selected::Field { name, .. } => found.extend(supergraph.field_id(ty, name)),
                Selected::Fragment { condition, inner } => {
                    if supergraph.is_possible(*condition, ty) {
                        self.fields_of(ty, inner, found);
                    }
                }
            }
        }
    }

    /// Returns the wave after which a subgraph can have computed a field from what it requires.
    fn given(
        &mut self,
        level: &Level<'g>,
        subgraph: SubgraphId,
        requires: &'g FieldSet,
    ) -> Option<u32> {
        let inputs = self.set(level, requires)?;
        let keys = self.graph.keys(level.ty, subgraph);
        let key = keys.filter_map(|key| self.set(level, &key.fields)).min()?;
        Some(inputs.max(key) + 1).filter(|wave| *wave <= MAX_WAVE)
    }

    /// Returns the wave after which all fields of a set are known.
    fn set(&mut self, level: &Level<'g>, set: &'g FieldSet) -> Option<u32> {
        let present = level.waves.first()?;
        let supergraph = self.graph.supergraph();
        set.selections.iter().try_fold(present, |latest, selected| {
            let wave = match selected {
                Selected::Typename => present,
                Selected::Fragment { condition, inner } => {
                    if supergraph.is_possible(*condition, level.ty) {
                        self.set(level, inner)?
                    } else {
                        present
                    }
                }
                Selected::Field { name, inner, .. } => {
                    let field = supergraph.field_id(level.ty, name)?;
                    self.selected(level, field, inner)?
                }
            };
            Some(latest.max(wave))
        })
    }

    fn selected(&mut self, level: &Level<'g>, field: FieldId, inner: &'g FieldSet) -> Option<u32> {
        let supergraph = self.graph.supergraph();
        let definition = supergraph.field(field);
        let mut resolved = Waves::nowhere(level.waves.0.len());
        let mut provided = Vec::new();
        for join in self.graph.resolvers(field) {
            let wave = match join.requires {
                None => level.waves.get(join.subgraph),
                Some(_) => level.resolved(field, join.subgraph),
            };
            if let Some(wave) = wave {
                resolved.lower(join.subgraph, wave);
                let below = join.provides.iter().filter(|_| self.is_on_path);
                provided.extend(below.map(|set| (join.subgraph, set)));
            }
        }
        for (subgraph, set) in self
            .graph
            .providers(level.ty, &definition.name, &level.provided)
        {
            if let Some(wave) = level.led.get(subgraph) {
                resolved.lower(subgraph, wave);
                provided.push((subgraph, set));
            }
        }
        let possible = &supergraph.ty(definition.inner).possible;
        // Where no object can be, nothing more is to be known.
        if inner.is_empty() || possible.is_empty() {
            return resolved.first();
        }
        let mut latest = None;
        for member in possible {
            let mut there = Waves::nowhere(level.waves.0.len());
            for join in &definition.joins {
                if let Some(wave) = resolved.get(join.subgraph)
                    && self.graph.possible(join).binary_search(member).is_ok()
                {
                    there.lower(join.subgraph, wave);
                }
            }
            if there.first().is_some() {
                let wave = self.below(*member, inner, there, &provided)?;
                latest = latest.max(Some(wave));
            }
        }
        latest
    }

    /// Returns the wave after which a set is known of objects below others.
    fn below(
        &mut self,
        ty: TypeId,
        set: &'g FieldSet,
        waves: Waves,
        provided: &[(SubgraphId, &'g FieldSet)],
    ) -> Option<u32> {
        if self.trail.len() >= MAX_DEPTH {
            return None;
        }
        if self.trail.contains(&(ty, set)) {
            self.returns += 1;
            return None;
        }
        let key = (ty, set, waves);
        let is_general = provided.is_empty();
        if let Some(known) = self.known.get(&key).filter(|_| is_general) {
            return *known;
        }
        let before = self.returns;
        self.trail.push((ty, set));
        let presence = Presence {
            waves: &key.2,
            provided,
        };
        let level = self.level(ty, presence, Some(set));
        let wave = self.set(&level, set);
        self.trail.pop();
        if self.returns == before && is_general {
            self.known.insert(key, wave);
        }
        wave
    }
}

impl Level<'_> {
    fn resolved(&self, field: FieldId, subgraph: SubgraphId) -> Option<u32> {
        let mut known = self.computed.iter().zip(&self.resolved);
        known.find_map(|((other, by, _), wave)| {
            (*other == field && *by == subgraph).then_some(*wave)?
        })
    }
}
