//! Dates and times as XML Schema 1.1 defines them: their place on the time line, and their order
//! with and without time zones.

use std::cmp::Ordering;

use soml_core::datatype::Scalar;

/// Digits of the fraction of a second that are told apart.
const FRACTION: usize = 12;
const SECOND: i128 = 1_000_000_000_000;
const DAY: i128 = 86_400 * SECOND;
/// The widest offset of a time zone, within which a moment without one is uncertain.
const WIDEST: i128 = 14 * 3_600 * SECOND;

/// Dates are supported up to 18 digits of seconds before the point of a 128-bit decimal number.
const LAST: i128 = 170_141_183_460_469_231_731 * SECOND;

/// A date or time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Picoseconds, in UTC if there is a time zone.
    pub(super) instant: i128,
    zoned: bool,
}

impl Moment {
    /// Reads the lexical form of a date or time.
    pub(super) fn parse(scalar: Scalar, text: &str) -> Option<Moment> {
        let (local, zone) = split_zone(text)?;
        let instant = match scalar {
            Scalar::DateTime => {
                let (date, time) = local.split_once('T')?;
                start_of(date, 3)? + time_of(time)?
            }
            // Times are compared on one day, and the end of it is its beginning.
            Scalar::Time => time_of(local)? % DAY,
            Scalar::Date => start_of(local, 3)?,
            Scalar::YearMonth => start_of(local, 2)?,
            Scalar::Year => start_of(local, 1)?,
            _ => return None,
        };
        Some(Moment {
            instant: instant - zone.unwrap_or(0),
            zoned: zone.is_some(),
        })
    }

    /// Compares; `None` where a time zone is missing on one side and could decide.
    pub(super) fn compare(self, other: Moment) -> Option<Ordering> {
        if self.zoned == other.zoned {
            return Some(self.instant.cmp(&other.instant));
        }
        if self.instant + WIDEST < other.instant {
            return Some(Ordering::Less);
        }
        (self.instant - WIDEST > other.instant).then_some(Ordering::Greater)
    }
}

/// Splits a time zone off, and returns its offset.
fn split_zone(text: &str) -> Option<(&str, Option<i128>)> {
    if let Some(local) = text.strip_suffix('Z') {
        return Some((local, Some(0)));
    }
    let at = text.len().checked_sub(6);
    let split = at.and_then(|at| text.split_at_checked(at));
    // A date ends like a time zone, but for the colon.
    let Some((local, zone)) = split.filter(|(_, zone)| zone.as_bytes()[3] == b':') else {
        return Some((text, None));
    };
    let sign = match zone.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return Some((text, None)),
    };
    let (hours, minutes) = (number(&zone[1..3])?, number(&zone[4..6])?);
    let offset = hours * 60 + minutes;
    let fits = minutes < 60 && offset <= 14 * 60;
    fits.then_some((local, Some(sign * offset * 60 * SECOND)))
}

fn number(digits: &str) -> Option<i128> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

/// Returns the picoseconds of the start of a day, if they are those of a date that is supported.
fn start_of(text: &str, parts: usize) -> Option<i128> {
    let start = day(text, parts)?.checked_mul(DAY)?;
    (start.abs() < LAST).then_some(start)
}

/// Returns the number of the day of `YYYY[-MM[-DD]]`, of which exactly `parts` are written.
fn day(text: &str, parts: usize) -> Option<i128> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (-1, unsigned),
        None => (1, text),
    };
    let fields: Vec<&str> = unsigned.split('-').collect();
    let year = fields[0];
    let padded = year.len() > 4 && year.starts_with('0');
    let of_two = fields[1..].iter().all(|field| field.len() == 2);
    if fields.len() != parts || year.len() < 4 || padded || !of_two {
        return None;
    }
    let year = sign * number(year)?;
    let month = fields.get(1).map_or(Some(1), |field| number(field))?;
    let day = fields.get(2).map_or(Some(1), |field| number(field))?;
    if !(1..=12).contains(&month) || !(1..=length(year, month)).contains(&day) {
        return None;
    }
    let before: i128 = (1..month).map(|month| length(year, month)).sum();
    let years = year - 1;
    let leaps = years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    years
        .checked_mul(365)?
        .checked_add(leaps + before + day - 1)
}

/// Returns the number of days of a month.
fn length(year: i128, month: i128) -> i128 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the picoseconds of `hh:mm:ss[.f]`.
fn time_of(text: &str) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let fields: Vec<&str> = whole.split(':').collect();
    if fields.len() != 3 || fields.iter().any(|field| field.len() != 2) {
        return None;
    }
    let (hour, minute, second) = (number(fields[0])?, number(fields[1])?, number(fields[2])?);
    number(fraction)?;
    assert!(fraction.len() <= FRACTION, "a fraction of few digits");
    let fraction = number(&format!("{fraction:0<FRACTION$}"))?;
    let time = (hour * 3_600 + minute * 60 + second) * SECOND + fraction;
    (minute < 60 && second < 60 && time <= DAY).then_some(time)
}
