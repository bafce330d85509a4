//! The values that an aggregate includes, for each object: well-typed and without duplicates.

use graph_store::query::{TermSlice, TermView, WholeTerm};
use graph_store::value::{
    AsTerm, CanonicalValue, Choice, Languages, canonical_value, cast_name_ref, cast_ref, is_plain,
    is_text,
};
use oxrdf::TermRef;
use soml_core::datatype::Scalar;
use soml_core::schema::ObjectId;

use crate::plan::{AggregatedKind, AggregatedValues};

/// The values of all objects of a level.
pub(crate) struct Columns<'a> {
    /// One list per aggregated property.
    pub(super) lists: Vec<ValueLists<'a>>,
}

/// Values of many objects.
#[derive(Default)]
pub(super) struct ValueLists<'a> {
    /// Where the values of each object end; one entry more than objects, from 0.
    offsets: Vec<usize>,
    values: Vec<CanonicalValue<'a>>,
}

impl<'a> ValueLists<'a> {
    pub(super) fn with_capacity(objects: usize) -> Self {
        let mut offsets = Vec::with_capacity(objects + 1);
        offsets.push(0);
        ValueLists {
            offsets,
            values: Vec::with_capacity(objects),
        }
    }

    /// Returns the values of an object.
    pub(super) fn of(&self, object: usize) -> &[CanonicalValue<'a>] {
        &self.values[self.offsets[object]..self.offsets[object + 1]]
    }

    /// Adds the values of the next object.
    pub(super) fn push(&mut self, reader: &mut ValueReader<'_>, terms: TermSlice<'a>) {
        reader.read(terms, &mut self.values);
        self.offsets.push(self.values.len());
    }
}

/// Reads stored terms as aggregated values, and records what it skips.
pub(super) struct ValueReader<'r> {
    pub(super) values: &'r AggregatedValues,
    /// The names of the enumeration, if the values belong to one.
    pub(super) names: Vec<&'r str>,
    pub(super) accept_language: &'r [String],
    /// Number of skipped values that are not in the range, and the first of them.
    pub(super) left_out: usize,
    pub(super) example: Option<String>,
    /// Number of objects with several values, only one of which is included.
    pub(super) several: usize,
}

/// Readers of the values of one field, as the types of the objects store it.
pub(super) struct Readers<'r> {
    usual: ValueReader<'r>,
    others: Vec<(&'r [ObjectId], ValueReader<'r>)>,
}

impl<'r> Readers<'r> {
    pub(super) fn new(
        values: &'r AggregatedValues,
        reader: impl Fn(&'r AggregatedValues) -> ValueReader<'r>,
    ) -> Self {
        let others = values.otherwise.iter();
        Readers {
            usual: reader(values),
            others: others
                .map(|(objects, values)| (objects.as_slice(), reader(values)))
                .collect(),
        }
    }

    /// Returns the reader of an object of a type.
    pub(super) fn of(&mut self, object: Option<ObjectId>) -> &mut ValueReader<'r> {
        let is_read = |objects: &[ObjectId]| object.is_some_and(|object| objects.contains(&object));
        let mut others = self.others.iter_mut();
        let other = others.find(|(objects, _)| is_read(objects));
        other.map_or(&mut self.usual, |(_, reader)| reader)
    }

    /// Returns what all readers left out, as of one.
    pub(super) fn joined(self) -> ValueReader<'r> {
        let mut joined = self.usual;
        for (_, other) in self.others {
            joined.left_out += other.left_out;
            joined.several += other.several;
            joined.example = joined.example.or(other.example);
        }
        joined
    }
}

impl ValueReader<'_> {
    /// Appends the included values.
    pub(super) fn read<'a>(&mut self, terms: TermSlice<'a>, out: &mut Vec<CanonicalValue<'a>>) {
        let values = self.values;
        if terms.is_empty() {
            return;
        }
        // The most frequent case needs no copy.
        if let Some(single) = terms.single()
            && !values.cast
            && values.lang.is_none()
        {
            let single = single.whole();
            match self.value_of(&single) {
                Some(value) => out.push(value),
                None => self.leave_out(&single),
            }
            return;
        }
        let whole = terms.iter().map(TermView::whole);
        let whole: Vec<WholeTerm<'a>> = if values.cast {
            whole.filter_map(|term| self.cast(term)).collect()
        } else {
            whole.collect()
        };
        self.read_several(&whole, out);
    }

    fn cast<'v>(&self, term: WholeTerm<'v>) -> Option<WholeTerm<'v>> {
        let kind = &self.values.kind;
        let term = match term {
            // An IRI is one of the scalar of IRIs alone.
            WholeTerm::Joined(_) => return (kind.scalar() == Scalar::Iri).then_some(term),
            WholeTerm::Borrowed(term) => term,
        };
        let cast = match kind {
            AggregatedKind::Enum(_) => cast_name_ref(term),
            kind => cast_ref(kind.scalar(), term),
        };
        cast.map(WholeTerm::Borrowed)
    }

    fn read_several<'v>(&mut self, terms: &[WholeTerm<'v>], out: &mut Vec<CanonicalValue<'v>>) {
        if !self.values.single {
            let shown = self.shown(terms);
            let (mut found, ill) = self.told_apart(&shown);
            ill.into_iter().for_each(|term| self.leave_out(term));
            out.append(&mut found);
            return;
        }
        // As the field shows it: what the language chooses, and of that what fits, goes first.
        let choice = self.choice(terms);
        let (mut found, mut ill) = self.told_apart(&choice.chosen);
        let (others, ill_others) = self.told_apart(&choice.others);
        found.extend(others);
        ill.extend(ill_others);
        self.several += usize::from(found.len() + ill.len() > 1);
        match (found.into_iter().next(), ill.first()) {
            (Some(smallest), _) => out.push(smallest),
            (None, Some(term)) => self.leave_out(term),
            (None, None) => {}
        }
    }

    /// Returns the values that fit, ascending and each once, and the terms that do not.
    fn told_apart<'s, 'v>(
        &self,
        terms: &[&'s WholeTerm<'v>],
    ) -> (Vec<CanonicalValue<'v>>, Vec<&'s WholeTerm<'v>>) {
        let (mut found, mut ill) = (Vec::new(), Vec::new());
        for term in terms {
            match self.value_of(term) {
                Some(value) => found.push(value),
                None => ill.push(*term),
            }
        }
        found.sort_unstable();
        found.dedup();
        (found, ill)
    }

    fn languages(&self) -> Languages<'_> {
        Languages {
            spec: self.values.lang.as_ref(),
            accepted: self.accept_language,
        }
    }

    /// Returns the values that a list shows.
    fn shown<'s, 'v>(&self, terms: &'s [WholeTerm<'v>]) -> Vec<&'s WholeTerm<'v>> {
        match self.values.kind {
            AggregatedKind::Object => terms.iter().collect(),
            _ => self.languages().list(terms, |term| self.fits(term)),
        }
    }

    /// Returns the values among which a single-valued field decides.
    fn choice<'s, 'v>(&self, terms: &'s [WholeTerm<'v>]) -> Choice<'s, WholeTerm<'v>> {
        match self.values.kind {
            AggregatedKind::Scalar(Scalar::String) | AggregatedKind::Literal(_) => {
                self.languages().single(terms, |term| self.fits(term))
            }
            _ => Choice::all(terms),
        }
    }

    /// Returns whether a value is in the range of a text or a literal.
    fn fits(&self, term: &WholeTerm<'_>) -> bool {
        match (&self.values.kind, term.as_term()) {
            (AggregatedKind::Literal(types), TermRef::Literal(literal)) => types.accepts(literal),
            (_, TermRef::Literal(literal)) => is_text(literal),
            _ => false,
        }
    }

    fn value_of<'v>(&self, term: &WholeTerm<'v>) -> Option<CanonicalValue<'v>> {
        match term {
            WholeTerm::Borrowed(term) => self.value_of_term(*term),
            WholeTerm::Joined(iri) => self.value_of_term(iri.into())?.into_owned(),
        }
    }

    fn value_of_term<'v>(&self, term: TermRef<'v>) -> Option<CanonicalValue<'v>> {
        match (&self.values.kind, term) {
            (AggregatedKind::Scalar(scalar), _) => canonical_value(*scalar, term),
            (AggregatedKind::Enum(_), TermRef::Literal(literal)) => {
                let known = is_plain(literal) && self.names.contains(&literal.value());
                known.then(|| CanonicalValue::Text(literal.value().into()))
            }
            (AggregatedKind::Literal(types), TermRef::Literal(literal)) => types
                .accepts(literal)
                .then(|| CanonicalValue::of_literal(literal)),
            (AggregatedKind::Object, _) => CanonicalValue::of_object(term),
            _ => None,
        }
    }

    fn leave_out(&mut self, term: &WholeTerm<'_>) {
        self.left_out += 1;
        self.example.get_or_insert_with(|| {
            let shown = term.as_term().to_string();
            shown.chars().take(200).collect()
        });
    }
}
