//! The types generated so far, and who asked for each name.

use std::collections::hash_map::Entry;

use apollo_compiler::Name;
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::{ExtendedType, NamedType};
use soml_core::Finding;
use soml_core::schema::Schema;

use super::error::ProblemKind;
use super::nodes::NewType;
use super::origin::{Origin, Origins, Source, TypeOrigin};

/// Generated types by name, with the problems met on the way.
pub(super) struct TypeTable<'a> {
    soml: &'a Schema,
    types: Vec<(Name, ExtendedType)>,
    origins: Origins,
    pub(super) problems: Vec<Finding>,
}

impl<'a> TypeTable<'a> {
    pub(super) fn new(soml: &'a Schema) -> Self {
        let expected = soml.objects.len() * 6 + 160;
        TypeTable {
            soml,
            types: Vec::with_capacity(expected),
            origins: Origins::with_capacity_and_hasher(expected, Default::default()),
            problems: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, origin: Origin, ty: NewType) {
        let name = ty.definition.name().clone();
        match self.origins.entry(name.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(TypeOrigin::new(origin, &ty.members));
                self.types.push((name, ty.definition));
            }
            Entry::Occupied(entry) => {
                let first = entry.get().own.source();
                self.taken(&name, first, origin.source());
            }
        }
    }

    fn taken(&mut self, name: &Name, first: Source, second: Source) {
        // A document cannot change a built-in type, so the other one is the place to look at.
        let (first, second) = if second == Source::BuiltIn {
            (second, first)
        } else {
            (first, second)
        };
        let message = format!(
            "{} gives the GraphQL type `{name}`, a name that {} has",
            second.describe(self.soml),
            first.describe(self.soml),
        );
        let mut problem = ProblemKind::TypeNameTaken
            .at(second.span(self.soml), message)
            .with_help("rename one of them; `-`, `.` and `:` become `_` in GraphQL names");
        if let Some(span) = first.span(self.soml) {
            problem = problem.with_label(span, format!("`{name}` comes from here too"));
        }
        self.problems.push(problem);
    }

    /// Returns the number of types so far.
    pub(super) fn len(&self) -> usize {
        self.types.len()
    }

    /// Returns the names of the types added after the first `skipped`.
    pub(super) fn names_from(&self, skipped: usize) -> impl Iterator<Item = &Name> {
        self.types[skipped..].iter().map(|(name, _)| name)
    }

    /// Returns all types, those of `built_in` included, in the order of their names, and what each
    /// stems from.
    pub(super) fn finish(
        self,
        built_in: IndexMap<NamedType, ExtendedType>,
    ) -> (IndexMap<NamedType, ExtendedType>, Origins) {
        let (mut types, mut origins) = (self.types, self.origins);
        for name in built_in.keys() {
            let entry = origins.entry(name.clone());
            entry.or_insert_with(|| TypeOrigin::new(Origin::BUILT_IN, &[]));
        }
        types.extend(built_in);
        types.sort_unstable_by(|(a, _), (b, _)| a.as_str().cmp(b.as_str()));
        (types.into_iter().collect(), origins)
    }
}
