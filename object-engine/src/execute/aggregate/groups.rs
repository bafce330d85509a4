//! Groups objects by the values of their keys.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use graph_store::query::Comparison;
use graph_store::value::{CanonicalValue, canonical_value};
use oxrdf::Term;
use soml_core::datatype::Scalar;

use super::columns::Columns;
use super::tally::{Measurement, Needs, OutOfRange, Tally, count};
use crate::plan::{
    GroupOrderBy, GroupPart, Grouping, Having, HavingTest, Measure, MeasurePart, Measured,
};

/// A group.
pub(super) struct Group<'v> {
    /// The values of the key; `None` where the objects have no value.
    pub(super) key: Vec<Option<&'v CanonicalValue<'v>>>,
    pub(super) count: u64,
    /// One for each of the values that [`Grouper`] measures.
    tallies: Vec<Tally<'v>>,
}

/// Why grouping failed.
pub(super) enum NoGroups {
    /// There would be more groups than this limit.
    TooMany(usize),
    /// A condition or an order depends on a measure that is out of range.
    OutOfRange,
}

impl From<OutOfRange> for NoGroups {
    fn from(OutOfRange: OutOfRange) -> Self {
        NoGroups::OutOfRange
    }
}

/// Groups objects.
pub(super) struct Grouper<'v> {
    grouping: &'v Grouping,
    columns: &'v Columns<'v>,
    limit: usize,
    /// The measured values, each once, with the requested measures.
    measured: Vec<(usize, Needs)>,
    /// For each part of the key, a number per value; 0 stands for no value.
    numbers: Vec<HashMap<&'v CanonicalValue<'v>, u32>>,
    positions: HashMap<Box<[u32]>, usize>,
    groups: Vec<Group<'v>>,
}

impl<'v> Grouper<'v> {
    pub(super) fn new(grouping: &'v Grouping, columns: &'v Columns<'v>, limit: usize) -> Self {
        let mut grouper = Grouper {
            grouping,
            columns,
            limit,
            measured: Vec::new(),
            numbers: grouping.by.iter().map(|_| HashMap::new()).collect(),
            positions: HashMap::new(),
            groups: Vec::new(),
        };
        for field in &grouping.fields {
            if let GroupPart::Values(values) = &field.part {
                for (_, part) in &values.fields {
                    if let MeasurePart::Measure(measure) = part {
                        grouper.need(Measured::Values(values.values, *measure));
                    }
                }
            }
        }
        for key in &grouping.order {
            if let GroupOrderBy::Measured(measured) = key.by {
                grouper.need(measured);
            }
        }
        grouper.need_of(&grouping.having);
        grouper
    }

    fn need(&mut self, measured: Measured) {
        let Measured::Values(values, measure) = measured else {
            return;
        };
        let known = self
            .measured
            .iter()
            .position(|(known, _)| *known == values)
            .unwrap_or_else(|| {
                self.measured.push((values, Needs::default()));
                self.measured.len() - 1
            });
        self.measured[known].1.add(measure);
    }

    fn need_of(&mut self, having: &Having) {
        match having {
            Having::All(parts) | Having::Any(parts) => {
                parts.iter().for_each(|part| self.need_of(part));
            }
            Having::Not(inner) => self.need_of(inner),
            Having::Test { measured, .. } => self.need(*measured),
        }
    }

    /// Adds an object to its groups: one for each combination of its values.
    pub(super) fn add(&mut self, object: usize) -> Result<(), NoGroups> {
        let columns = self.columns;
        let by = self.grouping.by.iter();
        let values: Vec<&[CanonicalValue<'v>]> =
            by.map(|&by| columns.lists[by].of(object)).collect();
        let mut at = vec![0; values.len()];
        loop {
            let key: Vec<Option<&'v CanonicalValue<'v>>> = values
                .iter()
                .zip(&at)
                .map(|(values, &at)| values.get(at))
                .collect();
            self.add_to(&key, object)?;
            // Advances to the next combination, like an odometer.
            let next = (0..at.len())
                .rev()
                .find(|&part| at[part] + 1 < values[part].len());
            let Some(next) = next else {
                return Ok(());
            };
            at[next] += 1;
            at[next + 1..].fill(0);
        }
    }

    fn add_to(
        &mut self,
        key: &[Option<&'v CanonicalValue<'v>>],
        object: usize,
    ) -> Result<(), NoGroups> {
        let mut numbers: Vec<u32> = Vec::with_capacity(key.len());
        for (value, known) in key.iter().zip(&mut self.numbers) {
            let next = u32::try_from(known.len() + 1).expect("fewer values than 2^32");
            numbers.push(value.map_or(0, |value| *known.entry(value).or_insert(next)));
        }
        let position = match self.positions.get(numbers.as_slice()) {
            Some(&position) => position,
            None => {
                if self.groups.len() >= self.limit {
                    return Err(NoGroups::TooMany(self.limit));
                }
                let position = self.groups.len();
                self.positions.insert(numbers.into_boxed_slice(), position);
                let tallies = self.measured.iter().map(|(_, needs)| Tally::new(*needs));
                self.groups.push(Group {
                    key: key.to_vec(),
                    count: 0,
                    tallies: tallies.collect(),
                });
                position
            }
        };
        let group = &mut self.groups[position];
        group.count += 1;
        for ((values, _), tally) in self.measured.iter().zip(&mut group.tallies) {
            let values: &'v [CanonicalValue<'v>] = self.columns.lists[*values].of(object);
            values.iter().for_each(|value| tally.add(value));
        }
        Ok(())
    }

    /// Returns a measure of a group.
    pub(super) fn measure(
        &self,
        group: &Group<'v>,
        values: usize,
        measure: Measure,
    ) -> Measurement<'v> {
        let position = self
            .measured
            .iter()
            .position(|(known, _)| *known == values)
            .expect("what is measured was announced");
        group.tallies[position].measure(measure)
    }

    fn measured(&self, group: &Group<'v>, measured: Measured) -> Measurement<'v> {
        match measured {
            Measured::Objects => Ok(Some(Cow::Owned(CanonicalValue::Decimal(
                count(group.count).into(),
            )))),
            Measured::Values(values, measure) => self.measure(group, values, measure),
        }
    }

    /// Returns the requested groups, in order.
    pub(super) fn finish(&mut self) -> Result<Vec<Group<'v>>, NoGroups> {
        let groups = std::mem::take(&mut self.groups);
        let mut ordered = Vec::with_capacity(groups.len());
        for group in groups {
            if self.has(&group, &self.grouping.having)? {
                ordered.push((self.order_of(&group)?, group));
            }
        }
        ordered.sort_unstable_by(|(a_values, a), (b_values, b)| {
            self.compare(a_values, b_values)
                .then_with(|| a.key.cmp(&b.key))
        });
        let range = self.grouping.page.range(ordered.len());
        let wanted = ordered.into_iter().skip(range.start).take(range.len());
        Ok(wanted.map(|(_, group)| group).collect())
    }

    fn order_of(
        &self,
        group: &Group<'v>,
    ) -> Result<Vec<Option<Cow<'v, CanonicalValue<'v>>>>, OutOfRange> {
        let values = self.grouping.order.iter().map(|key| match key.by {
            GroupOrderBy::Key(part) => Ok(group.key[part].map(Cow::Borrowed)),
            GroupOrderBy::Measured(measured) => self.measured(group, measured),
        });
        values.collect()
    }

    /// Missing values come first, or last in descending order.
    fn compare(
        &self,
        a: &[Option<Cow<'v, CanonicalValue<'v>>>],
        b: &[Option<Cow<'v, CanonicalValue<'v>>>],
    ) -> Ordering {
        for (key, (a, b)) in self.grouping.order.iter().zip(a.iter().zip(b)) {
            let ordering = if key.descending { b.cmp(a) } else { a.cmp(b) };
            if ordering.is_ne() {
                return ordering;
            }
        }
        Ordering::Equal
    }

    fn has(&self, group: &Group<'v>, having: &Having) -> Result<bool, OutOfRange> {
        Ok(match having {
            Having::All(parts) => {
                for part in parts {
                    if !self.has(group, part)? {
                        return Ok(false);
                    }
                }
                true
            }
            Having::Any(parts) => {
                for part in parts {
                    if self.has(group, part)? {
                        return Ok(true);
                    }
                }
                false
            }
            Having::Not(inner) => !self.has(group, inner)?,
            Having::Test {
                measured,
                scalar,
                test,
            } => match self.measured(group, *measured)? {
                None => false,
                Some(value) => passes(&value, *scalar, test),
            },
        })
    }
}

/// Returns whether a measure passes a test.
fn passes(value: &CanonicalValue<'_>, scalar: Scalar, test: &HavingTest) -> bool {
    let equals = |operand: &Term| canonical_value(scalar, operand).as_ref() == Some(value);
    match test {
        HavingTest::In(operands) => operands.iter().any(equals),
        HavingTest::NotIn(operands) => !operands.iter().any(equals),
        HavingTest::Compare(comparison, operand) => {
            let Some(operand) = canonical_value(scalar, operand) else {
                return false;
            };
            let ordering = value.cmp(&operand);
            match comparison {
                Comparison::Equal => ordering.is_eq(),
                Comparison::NotEqual => ordering.is_ne(),
                Comparison::Less => ordering.is_lt(),
                Comparison::LessOrEqual => ordering.is_le(),
                Comparison::Greater => ordering.is_gt(),
                Comparison::GreaterOrEqual => ordering.is_ge(),
            }
        }
    }
}
