//! Sets of terms as ranges of their numbers, where these are in the order of values.

use std::ops::Range;

/// Numbers as ascending ranges, none of which is empty or touches another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<Range<u32>>);

impl Ranges {
    /// Returns the numbers of one range.
    pub(crate) fn of(range: Range<u32>) -> Self {
        [range].into_iter().collect()
    }

    /// Returns the ranges, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<u32>> + use<'_> {
        self.0.iter().cloned()
    }

    /// Returns whether a number is one of these.
    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        let behind = self.0.partition_point(|range| range.start <= number);
        let range = behind.checked_sub(1).and_then(|at| self.0.get(at));
        range.is_some_and(|range| number < range.end)
    }

    fn union(self, other: Ranges) -> Ranges {
        self.0.into_iter().chain(other.0).collect()
    }

    fn intersection(&self, other: &Ranges) -> Ranges {
        let (mut mine, mut others) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut found = Vec::new();
        while let (Some(a), Some(b)) = (mine.peek(), others.peek()) {
            let both = a.start.max(b.start)..a.end.min(b.end);
            let ends_first = a.end <= b.end;
            if !both.is_empty() {
                found.push(both);
            }
            if ends_first {
                mine.next()
            } else {
                others.next()
            };
        }
        Ranges(found)
    }

    /// Returns the numbers below `count` that are none of these.
    fn complement(&self, count: u32) -> Ranges {
        let ends = self.0.iter().map(|range| range.end);
        let begins = self.0.iter().map(|range| range.start);
        let gaps = std::iter::once(0).chain(ends).zip(begins.chain([count]));
        gaps.map(|(end, begin)| end..begin).collect()
    }
}

impl FromIterator<Range<u32>> for Ranges {
    /// Takes ranges in any order.
    fn from_iter<T: IntoIterator<Item = Range<u32>>>(ranges: T) -> Self {
        let mut ranges: Vec<_> = ranges
            .into_iter()
            .filter(|range| !range.is_empty())
            .collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        Ranges(ranges)
    }
}

/// The terms that satisfy a condition, as far as their numbers tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spans {
    /// Those that do.
    sure: Ranges,
    /// Those that may, which are the same and more.
    maybe: Ranges,
}

impl Spans {
    /// No term satisfies the condition.
    pub(crate) fn nothing() -> Self {
        Spans::exactly(Ranges::default())
    }

    /// These terms satisfy the condition, and no others.
    pub(crate) fn exactly(ranges: Ranges) -> Self {
        Spans {
            sure: ranges.clone(),
            maybe: ranges,
        }
    }

    /// These terms may satisfy the condition.
    pub(crate) fn perhaps(ranges: Ranges) -> Self {
        Spans {
            sure: Ranges::default(),
            maybe: ranges,
        }
    }

    /// Returns the terms that may satisfy the condition.
    pub(crate) fn maybe(&self) -> &Ranges {
        &self.maybe
    }

    /// Returns whether the number of every term tells.
    pub(crate) fn is_decided(&self) -> bool {
        self.sure == self.maybe
    }

    /// Returns whether a term satisfies the condition; `None` if its number does not tell.
    #[inline]
    pub(crate) fn decide(&self, number: u32) -> Option<bool> {
        match self.sure.contains(number) {
            true => Some(true),
            false if self.maybe.contains(number) => None,
            false => Some(false),
        }
    }

    /// Returns the terms that satisfy this or another condition.
    pub(crate) fn or(self, other: Spans) -> Spans {
        Spans {
            sure: self.sure.union(other.sure),
            maybe: self.maybe.union(other.maybe),
        }
    }

    /// Returns the terms that satisfy this and another condition.
    pub(crate) fn and(&self, other: &Spans) -> Spans {
        Spans {
            sure: self.sure.intersection(&other.sure),
            maybe: self.maybe.intersection(&other.maybe),
        }
    }

    /// Returns the terms below `count` that do not satisfy the condition.
    pub(crate) fn complement(&self, count: u32) -> Spans {
        Spans {
            sure: self.maybe.complement(count),
            maybe: self.sure.complement(count),
        }
    }

    /// Returns the terms that satisfy some of several conditions.
    pub(crate) fn any(conditions: impl IntoIterator<Item = Spans>) -> Spans {
        let (mut sure, mut maybe) = (Vec::new(), Vec::new());
        for spans in conditions {
            sure.extend(spans.sure.0);
            maybe.extend(spans.maybe.0);
        }
        Spans {
            sure: sure.into_iter().collect(),
            maybe: maybe.into_iter().collect(),
        }
    }
}

/// The values of a property that may satisfy a condition.
pub(crate) struct Within {
    pub(crate) spans: Spans,
    /// Numbers of terms that are not in the order of values, ascending.
    pub(crate) others: Vec<u32>,
    /// About how many triples have such a value.
    pub(crate) size: usize,
    /// About how many triples the property has.
    pub(crate) of: usize,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COUNT: u32 = 40;

    fn ranges() -> impl Strategy<Value = Ranges> {
        let range = (0..=COUNT, 0..=COUNT).prop_map(|(from, to)| from..to);
        proptest::collection::vec(range, 0..6).prop_map(|ranges| ranges.into_iter().collect())
    }

    fn numbers(ranges: &Ranges) -> Vec<u32> {
        (0..COUNT)
            .filter(|number| ranges.contains(*number))
            .collect()
    }

    proptest! {
        #[test]
        fn ranges_are_sets(a in ranges(), b in ranges()) {
            let is_of = |ranges: &Ranges, number: u32| ranges.iter().any(|range| range.contains(&number));
            let wanted = |test: &dyn Fn(u32) -> bool| (0..COUNT).filter(|number| test(*number)).collect::<Vec<_>>();
            prop_assert_eq!(numbers(&a), wanted(&|number| is_of(&a, number)));
            let both = a.intersection(&b);
            prop_assert_eq!(numbers(&both), wanted(&|number| is_of(&a, number) && is_of(&b, number)));
            prop_assert_eq!(numbers(&a.complement(COUNT)), wanted(&|number| !is_of(&a, number)));
            let any = a.clone().union(b.clone());
            prop_assert_eq!(numbers(&any), wanted(&|number| is_of(&a, number) || is_of(&b, number)));
            let gaps = any.0.windows(2).all(|pair| pair[0].end < pair[1].start);
            prop_assert!(gaps && any.0.iter().all(|range| !range.is_empty()));
        }
    }

    #[test]
    fn what_is_not_sure_stays_so_in_a_complement() {
        let spans = Spans {
            sure: Ranges::of(2..4),
            maybe: Ranges::of(1..6),
        };
        let not = spans.complement(8);
        let decided = |spans: &Spans| {
            (0..8)
                .map(|number| spans.decide(number))
                .collect::<Vec<_>>()
        };
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(decided(&spans), [no, None, yes, yes, None, None, no, no]);
        assert_eq!(decided(&not), [yes, None, no, no, None, None, yes, yes]);
    }
}
