//! Counts, extremes and sums of values, in one pass.

use std::borrow::Cow;
use std::collections::HashSet;

use graph_store::value::{CanonicalValue, DecimalNumber, Exact, Float};
use soml_core::datatype::Scalar;

use crate::plan::{AggregatedKind, Measure};

/// Which measures of some values are needed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    distinct: bool,
    extremes: bool,
    sum: bool,
}

impl Needs {
    pub(super) fn add(&mut self, measure: Measure) {
        match measure {
            Measure::Count => {}
            Measure::CountDistinct => self.distinct = true,
            Measure::Min | Measure::Max => self.extremes = true,
            Measure::Sum | Measure::Avg => self.sum = true,
        }
    }
}

/// A measure: `None` where there is no value.
pub(super) type Measurement<'v> = Result<Option<Cow<'v, CanonicalValue<'v>>>, OutOfRange>;

/// A measure has too many digits, or is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfRange;

/// The sum of the values so far.
#[derive(Clone, Copy, Debug)]
enum Sum {
    Nothing,
    Exact(Exact),
    Float(f64),
    OutOfRange,
}

/// Measures of the values so far.
pub(super) struct Tally<'v> {
    needs: Needs,
    count: u64,
    distinct: HashSet<&'v CanonicalValue<'v>>,
    extremes: Option<(&'v CanonicalValue<'v>, &'v CanonicalValue<'v>)>,
    sum: Sum,
    /// Whether some number has more digits than aggregates support.
    beyond: bool,
}

impl<'v> Tally<'v> {
    pub(super) fn new(needs: Needs) -> Self {
        Tally {
            needs,
            count: 0,
            distinct: HashSet::new(),
            extremes: None,
            sum: Sum::Nothing,
            beyond: false,
        }
    }

    pub(super) fn add(&mut self, value: &'v CanonicalValue<'v>) {
        self.count += 1;
        if self.needs.distinct {
            self.distinct.insert(value);
        }
        if self.needs.extremes {
            self.beyond |= matches!(value, CanonicalValue::Decimal(DecimalNumber::Long(_)));
            self.extremes = Some(match self.extremes {
                None => (value, value),
                Some((least, greatest)) => (least.min(value), greatest.max(value)),
            });
        }
        if self.needs.sum {
            self.sum = match (self.sum, value) {
                (Sum::Nothing, CanonicalValue::Decimal(DecimalNumber::Short(value))) => {
                    Sum::Exact(*value)
                }
                (Sum::Nothing, CanonicalValue::Float(value)) => Sum::Float(value.get()),
                (Sum::Exact(sum), CanonicalValue::Decimal(DecimalNumber::Short(value))) => {
                    sum.checked_add(*value).map_or(Sum::OutOfRange, Sum::Exact)
                }
                (Sum::Float(sum), CanonicalValue::Float(value)) => Sum::Float(sum + value.get()),
                _ => Sum::OutOfRange,
            };
        }
    }

    /// Returns a measure of values of a kind.
    pub(super) fn measure(&self, measure: Measure) -> Measurement<'v> {
        let number = |number: Exact| Some(Cow::Owned(CanonicalValue::Decimal(number.into())));
        Ok(match measure {
            Measure::Count => number(count(self.count)),
            Measure::CountDistinct => number(count(self.distinct.len() as u64)),
            Measure::Min | Measure::Max if self.beyond => return Err(OutOfRange),
            Measure::Min => self.extremes.map(|(least, _)| Cow::Borrowed(least)),
            Measure::Max => self.extremes.map(|(_, greatest)| Cow::Borrowed(greatest)),
            Measure::Sum | Measure::Avg => match self.sum {
                Sum::Nothing => None,
                Sum::OutOfRange => return Err(OutOfRange),
                Sum::Exact(sum) if measure == Measure::Sum => number(sum),
                Sum::Exact(sum) => number(sum.divided_by(self.count).ok_or(OutOfRange)?),
                Sum::Float(sum) => {
                    let value = if measure == Measure::Sum {
                        sum
                    } else {
                        sum / self.count as f64
                    };
                    if !value.is_finite() {
                        return Err(OutOfRange);
                    }
                    Some(Cow::Owned(CanonicalValue::Float(Float::new(value))))
                }
            },
        })
    }
}

/// Converts a number of objects or values to a comparable number.
pub(super) fn count(count: u64) -> Exact {
    Exact::from_integer(count.into())
}

/// Returns the scalar as which a measure is written.
pub(super) fn scalar_of(kind: &AggregatedKind, measure: Measure) -> Scalar {
    kind.scalar_of(measure)
        .expect("the type of the aggregate has only the measures of its values")
}
