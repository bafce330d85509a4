//! The triples of each property, as columns in both directions.

use std::ops::Range;

use super::bytes::{Bytes, Part};
use super::error::{Fault, damaged};
use super::format::{Directory, Kind};
use super::graphs::GraphSets;
use super::keys::{Ends, Form, KeySections, Keys, Numbers};
use super::terms::Terms;

/// Numbers that describe a property: the property, the forms of its subjects and objects, and the set of
/// graphs of all its triples.
pub(super) const RECORD: usize = 6;
/// Stands for a list in a record.
pub(super) const LIST: u32 = 0;
/// Stands for a bitmap in a record; its first number follows.
pub(super) const BITMAP: u32 = 1;
/// Stands for sets of graphs that differ from triple to triple.
pub(super) const VARIOUS: u32 = u32::MAX;

/// The triples of a property.
pub(super) struct Property {
    /// The number of its IRI.
    pub(super) id: u32,
    /// Objects by subject.
    pub(super) forward: Column,
    /// Subjects by object.
    pub(super) backward: Column,
    /// The set of graphs of each triple, in the order of subjects; or of all.
    pub(super) sets: Sets,
}

/// The sets of graphs that the triples of a property are in.
pub(super) enum Sets {
    Same(u32),
    Each(Part),
}

impl Property {
    /// Returns the number of quads.
    pub(super) fn quads(&self, bytes: &Bytes, sets: &GraphSets) -> u64 {
        let size = |set: u32| sets.get(bytes, set).len() as u64;
        match &self.sets {
            Sets::Same(set) => size(*set) * self.forward.len() as u64,
            Sets::Each(part) => bytes.u32s(*part).iter().map(|set| size(*set)).sum(),
        }
    }
}

impl Sets {
    /// Returns the set of the triple at a position.
    pub(super) fn of(&self, bytes: &Bytes, position: usize) -> u32 {
        match self {
            Sets::Same(set) => *set,
            Sets::Each(part) => bytes.u32s(*part)[position],
        }
    }
}

/// One direction of the triples of a property.
pub(super) struct Column {
    keys: Keys,
    ends: Ends,
    values: Part,
}

/// The sections of one direction.
#[derive(Clone, Copy)]
pub(super) struct Sections {
    pub(super) keys: KeySections,
    /// Where the values of each key end.
    pub(super) ends: Kind,
    pub(super) values: Kind,
}

/// From subjects to objects.
pub(super) const FORWARD: Sections = Sections {
    keys: KeySections {
        numbers: Kind::Subjects,
        ranks: Kind::SubjectRanks,
    },
    ends: Kind::ObjectEnds,
    values: Kind::ObjectsOf,
};

/// From objects to subjects.
pub(super) const BACKWARD: Sections = Sections {
    keys: KeySections {
        numbers: Kind::Objects,
        ranks: Kind::ObjectRanks,
    },
    ends: Kind::SubjectEnds,
    values: Kind::SubjectsOf,
};

/// Opens the properties of an image, in the order of their IRIs.
pub(super) fn open(
    bytes: &Bytes,
    directory: &Directory,
    terms: &Terms,
    sets: u32,
) -> Result<Vec<Property>, Fault> {
    let records = bytes.u32s(directory.numbers(Kind::Properties, 0, 4 * RECORD)?);
    let (records, _) = records.as_chunks::<RECORD>();
    if !records.windows(2).all(|pair| pair[0][0] < pair[1][0]) {
        return Err(damaged("properties"));
    }
    let properties = records.iter().map(|record| {
        let [id, subjects, first_subject, objects, first_object, set] = *record;
        let forward = Column::open(
            bytes,
            directory,
            FORWARD,
            id,
            form(subjects, first_subject)?,
        )?;
        let backward = Column::open(bytes, directory, BACKWARD, id, form(objects, first_object)?)?;
        let triples = forward.len();
        let sets = match set {
            VARIOUS => {
                let part = directory.numbers(Kind::SetOf, id, 4)?;
                let each = bytes.u32s(part);
                let is_right = each.len() == triples && each.iter().all(|set| *set < sets);
                is_right.then_some(Sets::Each(part))
            }
            set => (set < sets).then_some(Sets::Same(set)),
        };
        let are_terms = forward.lie_below(bytes, terms.nodes, terms.count)
            && backward.lie_below(bytes, terms.count, terms.nodes);
        if id >= terms.iris || backward.len() != triples || !are_terms {
            return Err(damaged("properties"));
        }
        Ok(Property {
            id,
            forward,
            backward,
            sets: sets.ok_or(damaged("graph set of triples"))?,
        })
    });
    properties.collect()
}

fn form(form: u32, first: u32) -> Result<Form, Fault> {
    match form {
        LIST => Ok(Form::List),
        BITMAP => Ok(Form::Bitmap(first)),
        _ => Err(damaged("properties")),
    }
}

impl Column {
    fn open(
        bytes: &Bytes,
        directory: &Directory,
        sections: Sections,
        of: u32,
        form: Form,
    ) -> Result<Self, Fault> {
        let keys = Keys::open(bytes, directory, sections.keys, of, form)?;
        let values = directory.numbers(sections.values, of, 4)?;
        let count = values.length / 4;
        let ends = match directory.optional(sections.ends, of) {
            Some(_) => Some(directory.numbers(sections.ends, of, 4)?),
            None => None,
        };
        let column = Column {
            ends: Ends::open(bytes, ends, keys.count, count)?,
            keys,
            values,
        };
        let mut ranges = (0..column.keys.count).map(|at| column.ends.range(bytes, at));
        let all = bytes.u32s(values);
        // Values of a key ascend, so each triple is there once and can be searched.
        if ranges.all(|range| all[range].windows(2).all(|pair| pair[0] < pair[1])) {
            Ok(column)
        } else {
            Err(damaged("properties"))
        }
    }

    /// Returns whether keys and values are below some numbers.
    fn lie_below(&self, bytes: &Bytes, keys: u32, values: u32) -> bool {
        let last = self.keys.iter(bytes).last();
        let mut all = bytes.u32s(self.values).iter();
        last.is_none_or(|last| last < keys) && all.all(|value| *value < values)
    }

    /// Returns the number of triples.
    pub(super) fn len(&self) -> usize {
        self.values.length / 4
    }

    /// Returns the range of the values of a key.
    #[inline]
    pub(super) fn range(&self, bytes: &Bytes, key: u32) -> Range<usize> {
        match self.keys.position(bytes, key) {
            Some(position) => self.ends.range(bytes, position),
            None => 0..0,
        }
    }

    /// Returns the values of a key, ascending.
    #[inline]
    pub(super) fn values<'i>(&self, bytes: &'i Bytes, key: u32) -> &'i [u32] {
        &self.all(bytes)[self.range(bytes, key)]
    }

    /// Returns all values, in the order of keys.
    pub(super) fn all<'i>(&self, bytes: &'i Bytes) -> &'i [u32] {
        bytes.u32s(self.values)
    }

    /// Returns each key with the range of its values.
    pub(super) fn entries<'i>(
        &'i self,
        bytes: &'i Bytes,
    ) -> impl Iterator<Item = (u32, Range<usize>)> + use<'i> {
        let positions = 0..self.keys.count;
        let ranges = positions.map(|position| self.ends.range(bytes, position));
        self.keys.iter(bytes).zip(ranges)
    }

    /// Returns the keys from one on, and the position of the first of them.
    pub(super) fn keys_from<'i>(&self, bytes: &'i Bytes, key: u32) -> (u32, Numbers<'i>) {
        self.keys.from(bytes, key)
    }

    /// Returns the positions of the keys in a range.
    pub(super) fn positions(&self, bytes: &Bytes, keys: &Range<u32>) -> Range<u32> {
        let before = |key: u32| self.keys.from(bytes, key).0;
        before(keys.start)..before(keys.end)
    }

    /// Returns how many triples have one of the keys in a range.
    pub(super) fn triples_of(&self, bytes: &Bytes, keys: &Range<u32>) -> usize {
        let positions = self.positions(bytes, keys);
        if positions.is_empty() {
            return 0;
        }
        let first = self.ends.range(bytes, positions.start);
        self.ends.range(bytes, positions.end - 1).end - first.start
    }

    /// Returns the keys in a range, each with the range of its values.
    pub(super) fn entries_of<'i>(
        &'i self,
        bytes: &'i Bytes,
        keys: &Range<u32>,
    ) -> impl Iterator<Item = (u32, Range<usize>)> + use<'i> {
        let positions = self.positions(bytes, keys);
        let (_, numbers) = self.keys.from(bytes, keys.start);
        let ranges = positions.map(|position| self.ends.range(bytes, position));
        // The positions end with the keys.
        ranges.zip(numbers).map(|(range, key)| (key, range))
    }

    /// Returns the range of the values of the key at a position.
    pub(super) fn range_at(&self, bytes: &Bytes, position: u32) -> Range<usize> {
        self.ends.range(bytes, position)
    }
}
