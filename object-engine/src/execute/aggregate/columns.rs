//! The values that take part in an aggregate, for each object: well typed, equal ones once.

use graph_store::value::{CanonicalValue, canonical_value, cast, is_plain, of_language};
use oxrdf::Term;
use soml_core::lang::LangSpec;

use crate::plan::{AggregatedKind, AggregatedValues};

/// The values of all objects of a level.
pub(crate) struct Columns<'a> {
    /// One for each of the aggregated values.
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
    pub(super) fn push(&mut self, reader: &mut ValueReader<'_>, terms: &'a [Term]) {
        reader.read(terms, &mut self.values);
        self.offsets.push(self.values.len());
    }
}

/// Reads stored terms as aggregated values, and notes what it leaves out.
pub(super) struct ValueReader<'r> {
    pub(super) values: &'r AggregatedValues,
    /// The names of the enumeration, when the values are of one.
    pub(super) names: Vec<&'r str>,
    pub(super) accept_language: &'r [String],
    /// Number of values that do not fit the range, and the first of them.
    pub(super) left_out: usize,
    pub(super) example: Option<String>,
    /// Number of objects of which one of several values takes part.
    pub(super) several: usize,
}

impl ValueReader<'_> {
    /// Appends the values that take part.
    pub(super) fn read<'a>(&mut self, terms: &'a [Term], out: &mut Vec<CanonicalValue<'a>>) {
        let values = self.values;
        match terms {
            [] => {}
            // By far the most frequent case costs no copy.
            [single] if !values.cast && values.lang.is_none() => match self.value_of(single) {
                Some(value) => out.push(value),
                None => self.leave_out(single),
            },
            _ if values.cast => {
                let scalar = values.kind.scalar();
                let cast_terms: Vec<Term> = terms
                    .iter()
                    .filter_map(|term| cast(scalar, term))
                    .map(std::borrow::Cow::into_owned)
                    .collect();
                let mut read = Vec::new();
                self.read_several(&cast_terms, &mut read);
                for value in read {
                    if let Some(owned) = value.into_owned() {
                        out.push(owned);
                    }
                }
            }
            several => self.read_several(several, out),
        }
    }

    fn read_several<'v>(&mut self, terms: &'v [Term], out: &mut Vec<CanonicalValue<'v>>) {
        let start = out.len();
        let mut ill: Vec<&Term> = Vec::new();
        for term in self.of_language(terms) {
            match self.value_of(term) {
                Some(value) => out.push(value),
                None => ill.push(term),
            }
        }
        let mut found = out.split_off(start);
        found.sort_unstable();
        found.dedup();
        if !self.values.single {
            ill.into_iter().for_each(|term| self.leave_out(term));
            out.append(&mut found);
            return;
        }
        self.several += usize::from(found.len() + ill.len() > 1);
        // As the field shows it: what fits goes before what does not.
        match (found.into_iter().next(), ill.first()) {
            (Some(smallest), _) => out.push(smallest),
            (None, Some(term)) => self.leave_out(term),
            (None, None) => {}
        }
    }

    /// Returns the values that the language specification wants.
    fn of_language<'v>(&self, terms: &'v [Term]) -> Vec<&'v Term> {
        let spec = match (&self.values.lang, &self.values.kind) {
            (_, AggregatedKind::Object) => None,
            (None, _) if self.values.single && terms.len() > 1 => Some(LangSpec::any()),
            (spec, _) => spec.as_ref(),
        };
        match spec {
            None => terms.iter().collect(),
            Some(spec) => of_language(terms, spec, self.accept_language),
        }
    }

    fn value_of<'v>(&self, term: &'v Term) -> Option<CanonicalValue<'v>> {
        match (&self.values.kind, term) {
            (AggregatedKind::Scalar(scalar), _) => canonical_value(*scalar, term),
            (AggregatedKind::Enum(_), Term::Literal(literal)) => {
                let known = is_plain(literal) && self.names.contains(&literal.value());
                known.then(|| CanonicalValue::Text(literal.value().into()))
            }
            (AggregatedKind::Literal(types), Term::Literal(literal)) => types
                .accepts(literal)
                .then(|| CanonicalValue::of_literal(literal)),
            (AggregatedKind::Object, _) => CanonicalValue::of_object(term),
            _ => None,
        }
    }

    fn leave_out(&mut self, term: &Term) {
        self.left_out += 1;
        self.example.get_or_insert_with(|| {
            let shown = term.to_string();
            shown.chars().take(200).collect()
        });
    }
}
