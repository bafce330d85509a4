//! Which RDF types make a node an instance of which object type.

use foldhash::HashMap;
use oxrdf::NamedNode;
use soml_core::schema::{ObjectId, Schema};

use super::condition::{TypeGuard, TypeTest};
use super::dictionary::TermView;
use super::hydration::Column;

/// The types that determine a node's concrete object type, among some candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeIndex {
    /// Type properties, and for each the candidates of each type.
    properties: Vec<(NamedNode, HashMap<NamedNode, Vec<ObjectId>>)>,
    /// Rank of each candidate: the most derived first, then in schema order.
    ranks: HashMap<ObjectId, Rank>,
    /// What objects are of whose types tell nothing.
    fallback: Option<ObjectId>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rank {
    /// Number of superclasses, so a subclass always has a larger depth.
    depth: usize,
    /// The GraphQL type name.
    name: String,
}

impl TypeIndex {
    /// Creates an index over `candidates`, with the GraphQL name of each.
    #[must_use]
    pub fn new<'a>(
        schema: &Schema,
        candidates: impl IntoIterator<Item = (ObjectId, &'a str)>,
    ) -> Self {
        let mut index = TypeIndex {
            properties: Vec::new(),
            ranks: HashMap::default(),
            fallback: None,
        };
        for (id, name) in candidates {
            let object = &schema[id];
            let property = NamedNode::new_unchecked(object.type_prop.as_str());
            let position = index
                .properties
                .iter()
                .position(|(p, _)| *p == property)
                .unwrap_or_else(|| {
                    index.properties.push((property, HashMap::default()));
                    index.properties.len() - 1
                });
            for iri in &object.types {
                let types = &mut index.properties[position].1;
                types
                    .entry(NamedNode::new_unchecked(iri.as_str()))
                    .or_default()
                    .push(id);
            }
            let depth = schema.lineage(id).count();
            index.ranks.insert(
                id,
                Rank {
                    depth,
                    name: name.to_owned(),
                },
            );
        }
        index
    }

    /// Creates an index that only determines which nodes are instances of some of `objects`.
    #[must_use]
    pub fn without_names(schema: &Schema, objects: &[ObjectId]) -> Self {
        TypeIndex::new(schema, objects.iter().map(|&object| (object, "")))
    }

    /// Takes nodes whose types tell nothing for instances of `object`, which is a candidate.
    #[must_use]
    pub fn with_fallback(mut self, object: ObjectId) -> Self {
        self.fallback = Some(object);
        self
    }

    /// Returns the guard of the nodes that [`TypeIndex::resolve`] takes for one of the objects that
    /// `is_meant` tells, and of those that it takes for none where `or_none`.
    #[must_use]
    pub fn guard(&self, or_none: bool, is_meant: impl Fn(ObjectId) -> bool) -> TypeGuard {
        let mut ranked: Vec<(ObjectId, bool)> =
            self.ranks.keys().map(|id| (*id, is_meant(*id))).collect();
        ranked.sort_unstable_by_key(|(id, _)| self.rank(*id));
        let otherwise = self.fallback.map_or(or_none, &is_meant);
        // What comes last decides as if there were no test.
        while ranked.pop_if(|(_, meant)| *meant == otherwise).is_some() {}
        let runs = ranked.chunk_by(|(_, a), (_, b)| a == b);
        let tests = runs.map(|run| {
            let of_run = |id: &ObjectId| run.iter().any(|(known, _)| known == id);
            (self.test_of(of_run), run[0].1)
        });
        TypeGuard {
            tests: tests.collect(),
            otherwise,
        }
    }

    /// Returns the type properties, in the order that [`TypeIndex::resolve`] expects.
    pub fn properties(&self) -> impl ExactSizeIterator<Item = &NamedNode> {
        self.properties.iter().map(|(property, _)| property)
    }

    /// Returns the test that instances of any candidate pass.
    #[must_use]
    pub fn test(&self) -> TypeTest {
        self.test_of(|_| true)
    }

    /// Returns the test that the types of some of the meant candidates pass.
    fn test_of(&self, is_meant: impl Fn(&ObjectId) -> bool) -> TypeTest {
        let alternatives = self.properties.iter().filter_map(|(property, types)| {
            let meant = types.iter().filter(|(_, ids)| ids.iter().any(&is_meant));
            let mut types: Vec<_> = meant.map(|(ty, _)| ty.clone()).collect();
            types.sort_unstable();
            (!types.is_empty()).then(|| (property.clone(), types))
        });
        TypeTest {
            alternatives: alternatives.collect(),
        }
    }

    /// Returns what candidates are ordered by: the most derived first.
    fn rank(&self, id: ObjectId) -> (std::cmp::Reverse<usize>, ObjectId) {
        let depth = self.ranks.get(&id).map_or(0, |rank| rank.depth);
        (std::cmp::Reverse(depth), id)
    }

    /// Returns the object type of a node from its types: (position of the type property, type).
    ///
    /// Among several the most derived wins, then the first of the schema; of none it is the fallback.
    pub fn resolve<'t>(
        &self,
        types: impl IntoIterator<Item = (usize, &'t NamedNode)>,
    ) -> Option<ObjectId> {
        let types = types.into_iter();
        self.best(types.flat_map(|(position, iri)| self.of_type(position, iri)))
    }

    /// Returns what resolves the types of many nodes, whose types are in `columns`: one for each of
    /// [`TypeIndex::properties`].
    #[must_use]
    pub fn resolver<'i>(&'i self, columns: Vec<&'i Column>) -> TypeResolver<'i> {
        TypeResolver {
            known: columns.iter().map(|_| HashMap::default()).collect(),
            last: None,
            columns,
            index: self,
        }
    }

    /// Returns the candidates of a type.
    fn of_type(&self, position: usize, iri: &NamedNode) -> &[ObjectId] {
        let types = self.properties.get(position);
        let found = types.and_then(|(_, types)| types.get(iri));
        found.map_or(&[], Vec::as_slice)
    }

    fn best<'o>(&self, candidates: impl Iterator<Item = &'o ObjectId>) -> Option<ObjectId> {
        let candidates = candidates.copied();
        candidates.min_by_key(|id| self.rank(*id)).or(self.fallback)
    }

    /// Returns the GraphQL type name of a candidate.
    #[must_use]
    pub fn type_name(&self, object: ObjectId) -> Option<&str> {
        self.ranks.get(&object).map(|rank| rank.name.as_str())
    }
}

/// Resolves the types of many nodes; types that are numbers are looked up once.
#[derive(Debug)]
pub struct TypeResolver<'i> {
    index: &'i TypeIndex,
    columns: Vec<&'i Column>,
    /// The candidates of types by their numbers, for each property.
    known: Vec<foldhash::HashMap<u32, &'i [ObjectId]>>,
    /// What the latest node with a single type was resolved to.
    last: Option<(u32, Option<ObjectId>)>,
}

impl TypeResolver<'_> {
    /// Returns the object type of a node, as [`TypeIndex::resolve`] does.
    ///
    /// # Panics
    /// When the columns have fewer nodes.
    pub fn resolve(&mut self, node: usize) -> Option<ObjectId> {
        let single = match self.columns.as_slice() {
            [column] => column.of(node).numbers(),
            _ => None,
        };
        let Some(([number], _)) = single else {
            return self.resolve_all(node);
        };
        if let Some((known, object)) = self.last
            && known == *number
        {
            return object;
        }
        let object = self.resolve_all(node);
        self.last = Some((*number, object));
        object
    }

    fn resolve_all(&mut self, node: usize) -> Option<ObjectId> {
        let mut candidates = Vec::new();
        let index = self.index;
        let properties = self.columns.iter().zip(&mut self.known).enumerate();
        for (position, (column, known)) in properties {
            let types = column.of(node);
            let of_view = |ty: TermView<'_>| match ty.into_iri() {
                Some(ty) => index.of_type(position, &ty),
                None => &[],
            };
            match types.numbers() {
                None => types.iter().for_each(|ty| candidates.extend(of_view(ty))),
                Some((numbers, dictionary)) => {
                    for &number in numbers {
                        let found = known
                            .entry(number)
                            .or_insert_with(|| of_view(dictionary.term(number)));
                        candidates.extend(*found);
                    }
                }
            }
        }
        index.best(candidates.iter())
    }
}
