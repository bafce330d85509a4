//! What an operation selects of referenced objects, whose types differ.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use apollo_compiler::Schema;
use apollo_compiler::executable::{Selection, SelectionSet};
use indexmap::IndexMap;

use super::federation::EntityTypes;
use super::selection::Operation;

/// What is shown of referenced objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct References {
    /// The types that they may have.
    pub(crate) types: Arc<EntityTypes>,
    /// The fields, each key once.
    pub(crate) fields: Vec<ReferenceField>,
}

/// A field of a referenced object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReferenceField {
    /// The key in the response.
    pub(crate) key: String,
    /// What is there.
    pub(crate) what: ReferencePart,
    /// Positions of the types of which it is selected.
    pub(crate) of: BTreeSet<usize>,
}

/// What there is to know of a referenced object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferencePart {
    TypeName,
    Id,
}

impl References {
    /// Reads selection sets of one field.
    pub(super) fn of<'d>(
        of: Operation<'d>,
        schema: &Schema,
        types: &Arc<EntityTypes>,
        sets: impl IntoIterator<Item = &'d SelectionSet>,
    ) -> Self {
        let mut reader = Reader {
            of,
            schema,
            types,
            conditions: HashMap::new(),
            spread: HashMap::new(),
            fields: IndexMap::new(),
        };
        let all: BTreeSet<usize> = (0..types.types.len()).collect();
        for set in sets {
            reader.read(set, &all);
        }
        let fields = reader
            .fields
            .into_iter()
            .map(|(key, (what, of))| ReferenceField {
                key: key.to_owned(),
                what,
                of,
            });
        References {
            fields: fields.collect(),
            types: Arc::clone(types),
        }
    }
}

struct Reader<'d, 's> {
    of: Operation<'d>,
    schema: &'s Schema,
    types: &'s EntityTypes,
    /// The types that each type condition lets through.
    conditions: HashMap<&'d str, BTreeSet<usize>>,
    /// The types for which each fragment was read: so it is read at most once for each.
    spread: HashMap<&'d str, BTreeSet<usize>>,
    fields: IndexMap<&'d str, (ReferencePart, BTreeSet<usize>)>,
}

impl<'d> Reader<'d, '_> {
    /// Reads what a selection set says of objects of some types.
    fn read(&mut self, set: &'d SelectionSet, types: &BTreeSet<usize>) {
        for selection in &set.selections {
            if types.is_empty() || !self.of.is_included(selection.directives()) {
                continue;
            }
            match selection {
                Selection::Field(field) => {
                    let what = match field.name.as_str() {
                        "id" => ReferencePart::Id,
                        _ => ReferencePart::TypeName,
                    };
                    let key = field.response_key().as_str();
                    // A valid document has the same field under a key, whatever the type.
                    let (_, of) = self.fields.entry(key).or_insert((what, BTreeSet::new()));
                    of.extend(types);
                }
                Selection::InlineFragment(inline) => {
                    let types = match &inline.type_condition {
                        Some(condition) => self.narrowed(types, condition.as_str()),
                        None => types.clone(),
                    };
                    self.read(&inline.selection_set, &types);
                }
                Selection::FragmentSpread(spread) => {
                    let name = spread.fragment_name.as_str();
                    let Some(fragment) = self.of.document().fragments.get(name) else {
                        continue;
                    };
                    let condition = fragment.type_condition().as_str();
                    let mut types = self.narrowed(types, condition);
                    let known = self.spread.entry(name).or_default();
                    types.retain(|ty| known.insert(*ty));
                    self.read(&fragment.selection_set, &types);
                }
            }
        }
    }

    /// Returns those of some types that a type condition lets through.
    fn narrowed(&mut self, types: &BTreeSet<usize>, condition: &'d str) -> BTreeSet<usize> {
        let of = self.conditions.entry(condition).or_insert_with(|| {
            let all = self.types.types.iter().enumerate();
            let of = all.filter(|(_, ty)| is_a(self.schema, &ty.name, condition));
            of.map(|(at, _)| at).collect()
        });
        types.intersection(of).copied().collect()
    }
}

/// Returns whether objects of a type are of a type condition: itself, an interface of it, or the
/// union.
fn is_a(schema: &Schema, ty: &str, condition: &str) -> bool {
    ty == condition
        || schema
            .get_union(condition)
            .is_some_and(|union| union.members.iter().any(|member| member.name == ty))
        || schema.get_object(ty).is_some_and(|object| {
            let mut interfaces = object.implements_interfaces.iter();
            interfaces.any(|interface| interface.name == condition)
        })
}
