//! The types generated so far, and who asked for each name.

use std::collections::hash_map::Entry;

use apollo_compiler::Name;
use apollo_compiler::collections::{HashMap, IndexMap};
use apollo_compiler::schema::{ExtendedType, NamedType};
use soml_core::schema::{EnumId, ObjectId, Schema};
use soml_core::span::Span;

use super::error::{Problem, ProblemKind};

/// Where a generated type comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    BuiltIn,
    Object(ObjectId),
    Enum(EnumId),
}

impl Origin {
    fn span(self, soml: &Schema) -> Option<Span> {
        match self {
            Origin::BuiltIn => None,
            Origin::Object(id) => Some(soml[id].span),
            Origin::Enum(id) => Some(soml[id].span),
        }
    }

    fn describe(self, soml: &Schema) -> String {
        match self {
            Origin::BuiltIn => "a type of every API".to_owned(),
            Origin::Object(id) => format!("object `{}`", soml[id].name),
            Origin::Enum(id) => format!("type `{}`", soml[id].name),
        }
    }
}

/// Generated types by name, with the problems met on the way.
pub(super) struct TypeTable<'a> {
    soml: &'a Schema,
    types: Vec<(Name, ExtendedType)>,
    origins: HashMap<Name, Origin>,
    pub(super) problems: Vec<Problem>,
}

impl<'a> TypeTable<'a> {
    pub(super) fn new(soml: &'a Schema) -> Self {
        let expected = soml.objects.len() * 6 + 160;
        TypeTable {
            soml,
            types: Vec::with_capacity(expected),
            origins: HashMap::with_capacity_and_hasher(expected, Default::default()),
            problems: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, origin: Origin, ty: ExtendedType) {
        let name = ty.name().clone();
        match self.origins.entry(name.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(origin);
                self.types.push((name, ty));
            }
            Entry::Occupied(entry) => {
                let first = *entry.get();
                self.taken(&name, first, origin);
            }
        }
    }

    fn taken(&mut self, name: &Name, first: Origin, second: Origin) {
        // A document cannot change a built-in type, so the other one is the place to look at.
        let (first, second) = if second == Origin::BuiltIn {
            (second, first)
        } else {
            (first, second)
        };
        let message = format!(
            "{} gives the GraphQL type `{name}`, a name that {} has",
            second.describe(self.soml),
            first.describe(self.soml),
        );
        let mut problem = Problem::new(ProblemKind::TypeNameTaken, message, second.span(self.soml))
            .help("rename one of them; `-`, `.` and `:` become `_` in GraphQL names");
        if let Some(span) = first.span(self.soml) {
            problem = problem.related(span, format!("`{name}` comes from here too"));
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

    /// Returns all types, those of `built_in` included, in the order of their names.
    pub(super) fn finish(
        self,
        built_in: IndexMap<NamedType, ExtendedType>,
    ) -> IndexMap<NamedType, ExtendedType> {
        let mut types = self.types;
        types.extend(built_in);
        types.sort_unstable_by(|(a, _), (b, _)| a.as_str().cmp(b.as_str()));
        types.into_iter().collect()
    }
}
