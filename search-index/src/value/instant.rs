//! Dates and times as milliseconds, and the one form in which filters write them.

use graph_store::value::{SortValue, collapsed, is_lexical, sort_value};
use oxrdf::{Literal, NamedNode, Term};
use oxsdatatypes::{Decimal, Integer};
use soml_core::datatype::Scalar;

/// The first instant that is indexed: -9999-01-01T00:00:00Z.
pub const MIN_MILLIS: i64 = -377_705_116_800_000;

/// The last instant that is indexed: 99999-12-31T23:59:59.999Z.
pub const MAX_MILLIS: i64 = 3_093_527_980_799_999;

/// Returns the instant of a stored date, year or month in milliseconds since 1970; `None` if the term
/// is no value of the scalar, or before the year -9999 or after the year 99999.
///
/// A year or a month is its first instant. A value without a time zone is in UTC, and fractions of a millisecond are cut off.
#[must_use]
pub fn millis_of_term(scalar: Scalar, term: &Term) -> Option<i64> {
    let first_day = match (scalar, term) {
        (Scalar::Year, Term::Literal(literal)) => Some(first_day(scalar, literal, "-01-01")?),
        (Scalar::YearMonth, Term::Literal(literal)) => Some(first_day(scalar, literal, "-01")?),
        _ => None,
    };
    let sorted = match &first_day {
        Some(day) => sort_value(Scalar::Date, day),
        None => sort_value(scalar, term),
    };
    let SortValue::Instant(seconds) = sorted else {
        return None;
    };
    let millis = millis(seconds)? - EPOCH;
    (MIN_MILLIS..=MAX_MILLIS)
        .contains(&millis)
        .then_some(millis)
}

/// Returns the first day of a year or a month, which stands for it.
fn first_day(scalar: Scalar, literal: &Literal, day: &str) -> Option<Term> {
    let text = collapsed(literal.value());
    let is_value = literal.datatype().as_str() == scalar.datatype_iri() && is_lexical(scalar, text);
    if !is_value {
        return None;
    }
    let (period, zone) = match text.strip_suffix('Z') {
        Some(period) => (period, "Z"),
        // A colon is in time zones only.
        None if text.contains(':') => text.split_at(text.len() - "+hh:mm".len()),
        None => (text, ""),
    };
    let date = NamedNode::new_unchecked(Scalar::Date.datatype_iri());
    Some(Literal::new_typed_literal(format!("{period}{day}{zone}"), date).into())
}

/// Milliseconds from the origin of `oxsdatatypes`, 0001-01-01, to that of the index, 1970-01-01.
const EPOCH: i64 = 62_135_596_800_000;

fn millis(seconds: Decimal) -> Option<i64> {
    let thousandths = seconds.checked_mul(Decimal::from(1_000))?;
    Some(Integer::try_from(thousandths.checked_floor()?).ok()?.into())
}

/// Returns the instant that a filter names; `None` unless it is written as
/// `YYYY-MM-DDThh:mm:ss[.f]Z`, with a sign and five digits of year where needed.
///
/// ```
/// use search_index::value::millis_of_filter;
///
/// assert_eq!(millis_of_filter("1970-01-01T00:00:01.5Z"), Some(1_500));
/// assert_eq!(millis_of_filter("1970-01-01T00:00:01+01:00"), None);
/// assert_eq!(millis_of_filter("1970-01-01"), None);
/// assert_eq!(millis_of_filter("now-1d"), None);
/// ```
#[must_use]
pub fn millis_of_filter(text: &str) -> Option<i64> {
    // Longer texts are no dates, whatever their digits.
    if !text.ends_with('Z') || text.len() > 40 {
        return None;
    }
    let date_time = NamedNode::new_unchecked(Scalar::DateTime.datatype_iri());
    let literal = Literal::new_typed_literal(text, date_time);
    millis_of_term(Scalar::DateTime, &literal.into())
}

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Returns an instant as answers show it: in UTC, with milliseconds.
///
/// ```
/// use search_index::value::text_of_millis;
///
/// assert_eq!(text_of_millis(-1), "1969-12-31T23:59:59.999Z");
/// ```
#[must_use]
pub fn text_of_millis(millis: i64) -> String {
    let (days, of_day) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    // Years begin in March, so that the leap day is the last one; eras are 400 years.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let sign = if year < 0 { "-" } else { "" };
    format!(
        "{sign}{:04}-{month:02}-{day:02}T{}",
        year.abs(),
        text_of_day(of_day)
    )
}

fn text_of_day(millis: i64) -> String {
    let (seconds, thousandths) = (millis / 1_000, millis % 1_000);
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{hours:02}:{minutes:02}:{seconds:02}.{thousandths:03}Z")
}

/// Returns a stored time of day as `hh:mm:ss.sssZ`, which sorts as times do; `None` if it is none.
///
/// A time without a time zone is in UTC.
#[must_use]
pub fn time_key(text: &str) -> Option<String> {
    let time = NamedNode::new_unchecked(Scalar::Time.datatype_iri());
    let literal = Literal::new_typed_literal(text, time);
    let SortValue::Instant(seconds) = sort_value(Scalar::Time, literal.as_ref()) else {
        return None;
    };
    Some(text_of_day(millis(seconds)?.rem_euclid(DAY)))
}

#[cfg(test)]
mod tests {
    use oxrdf::{Literal, NamedNode, Term};
    use soml_core::datatype::Scalar;

    use super::{
        MAX_MILLIS, MIN_MILLIS, millis_of_filter, millis_of_term, text_of_millis, time_key,
    };

    fn term(scalar: Scalar, text: &str) -> Term {
        Literal::new_typed_literal(text, NamedNode::new_unchecked(scalar.datatype_iri())).into()
    }

    #[test]
    fn stored_dates_are_milliseconds_in_utc() {
        let cases = [
            (Scalar::DateTime, "1970-01-01T00:00:00Z", Some(0)),
            (Scalar::DateTime, "1970-01-01T00:00:00", Some(0)),
            (Scalar::DateTime, "1970-01-01T01:00:00+01:00", Some(0)),
            (Scalar::DateTime, "1969-12-31T23:59:59.9999Z", Some(-1)),
            (Scalar::Date, "1970-01-02", Some(86_400_000)),
            (Scalar::YearMonth, "1970-02", Some(31 * 86_400_000)),
            (Scalar::YearMonth, "1970-02Z", Some(31 * 86_400_000)),
            (
                Scalar::YearMonth,
                "1970-02-01:00",
                Some(31 * 86_400_000 + 3_600_000),
            ),
            (Scalar::Year, "1970+01:00", Some(-3_600_000)),
            (Scalar::Year, "2000", Some(946_684_800_000)),
            (Scalar::Year, "-9999", Some(MIN_MILLIS)),
            (Scalar::Year, "100000", None),
            (
                Scalar::DateTime,
                "99999-12-31T23:59:59.999Z",
                Some(MAX_MILLIS),
            ),
            (Scalar::DateTime, "-10000-12-31T23:59:59Z", None),
            (Scalar::Date, "1970-13-01", None),
        ];
        for (scalar, text, expected) in cases {
            assert_eq!(
                millis_of_term(scalar, &term(scalar, text)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn instants_are_read_as_they_are_shown() {
        let step = 86_399_999 * 997;
        for millis in (MIN_MILLIS..=MAX_MILLIS)
            .step_by(step)
            .chain([MIN_MILLIS, -1, 0, MAX_MILLIS])
        {
            let text = text_of_millis(millis);
            assert_eq!(millis_of_filter(&text), Some(millis), "{text}");
        }
        assert_eq!(text_of_millis(MIN_MILLIS), "-9999-01-01T00:00:00.000Z");
        assert_eq!(text_of_millis(MAX_MILLIS), "99999-12-31T23:59:59.999Z");
    }

    #[test]
    fn filters_have_one_form() {
        assert_eq!(
            millis_of_filter("2000-01-01T00:00:00Z"),
            Some(946_684_800_000)
        );
        for text in [
            "2000-01-01",
            "2000-01-01T00:00:00",
            "2000-01-01T00:00:00.5",
            "2000-01-01T00:00:00+00:00",
            "2000-01-01Z",
            "2000",
            "946684800000",
            "now/dZ",
            "2000-01-01T00:00:00Z||-1d",
        ] {
            assert_eq!(millis_of_filter(text), None, "{text}");
        }
    }

    #[test]
    fn keys_of_times_sort_as_times() {
        let key = |text| time_key(text).expect("a time");
        assert_eq!(key("13:00:00.5+01:00"), "12:00:00.500Z");
        assert_eq!(key("00:30:00+01:00"), "23:30:00.000Z");
        assert!(key("12:00:00") < key("12:00:00.5Z"));
        assert_eq!(time_key("25:00:00Z"), None);
    }
}
