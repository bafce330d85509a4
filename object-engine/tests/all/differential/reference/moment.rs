//! Dates and times: their place on the time line, and their order with and without zones.

use std::cmp::Ordering;

use soml_core::datatype::Scalar;

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;
/// The greatest zone, within which a moment without one is uncertain.
const WIDEST: i128 = 14 * 3600 * SECOND;

/// A date or time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Nanoseconds on the time line, as if in UTC when there is no zone.
    pub(crate) instant: i128,
    zoned: bool,
}

impl Moment {
    /// Reads the text of a date or time scalar.
    pub(crate) fn parse(scalar: Scalar, text: &str) -> Option<Moment> {
        let (local, zone) = split_zone(text)?;
        let instant = match scalar {
            Scalar::DateTime => {
                let (date, time) = local.split_once('T')?;
                day_of(date, 3)? * DAY + time_of(time)?
            }
            Scalar::Date => day_of(local, 3)? * DAY,
            Scalar::YearMonth => day_of(local, 2)? * DAY,
            Scalar::Year => day_of(local, 1)? * DAY,
            Scalar::Time => time_of(local)?,
            _ => return None,
        };
        Some(Moment {
            instant: instant - zone.unwrap_or(0),
            zoned: zone.is_some(),
        })
    }

    /// Compares; `None` when a zone is missing on one side and could decide.
    pub(crate) fn compare(&self, other: &Moment) -> Option<Ordering> {
        if self.zoned == other.zoned {
            return Some(self.instant.cmp(&other.instant));
        }
        if self.instant + WIDEST < other.instant {
            Some(Ordering::Less)
        } else if self.instant - WIDEST > other.instant {
            Some(Ordering::Greater)
        } else {
            None
        }
    }
}

/// Splits a zone off and returns its offset from UTC.
fn split_zone(text: &str) -> Option<(&str, Option<i128>)> {
    if let Some(local) = text.strip_suffix('Z') {
        return Some((local, Some(0)));
    }
    // A date ends in `-dd` too; a zone has a colon.
    let split = text
        .len()
        .checked_sub(6)
        .and_then(|at| text.split_at_checked(at));
    let Some((local, zone)) = split
        .filter(|(_, zone)| zone.starts_with(['+', '-']) && zone.as_bytes().get(3) == Some(&b':'))
    else {
        return Some((text, None));
    };
    let hours: i128 = digits(&zone[1..3])?;
    let minutes: i128 = digits(&zone[4..6])?;
    if hours * 60 + minutes > 14 * 60 || minutes > 59 {
        return None;
    }
    let offset = (hours * 60 + minutes) * 60 * SECOND;
    let offset = if zone.starts_with('-') {
        -offset
    } else {
        offset
    };
    Some((local, Some(offset)))
}

fn digits(text: &str) -> Option<i128> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// The number of the day of `YYYY[-MM[-DD]]`, of which exactly `parts` are written.
fn day_of(text: &str, parts: usize) -> Option<i128> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let fields: Vec<&str> = rest.split('-').collect();
    if fields.len() != parts || fields[0].len() < 4 || fields[1..].iter().any(|f| f.len() != 2) {
        return None;
    }
    let year = sign * digits(fields[0])?;
    let month = fields.get(1).map_or(Some(1), |f| digits(f))?;
    let day = fields.get(2).map_or(Some(1), |f| digits(f))?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [
        31,
        if leap { 29 } else { 28 },
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    if !(1..=12).contains(&month) || day < 1 || day > lengths[usize::try_from(month - 1).ok()?] {
        return None;
    }
    let before: i128 = lengths[..usize::try_from(month - 1).ok()?].iter().sum();
    let years = year - 1;
    let leaps = years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    Some(years * 365 + leaps + before + day - 1)
}

/// Nanoseconds of `hh:mm:ss[.fff]`.
fn time_of(text: &str) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let fields: Vec<&str> = whole.split(':').collect();
    if fields.len() != 3 || fields.iter().any(|f| f.len() != 2) || fraction.len() > 9 {
        return None;
    }
    let (hour, minute, second) = (digits(fields[0])?, digits(fields[1])?, digits(fields[2])?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    digits(fraction)?;
    let nanos = digits(&format!("{fraction:0<9}"))?;
    Some(((hour * 60 + minute) * 60 + second) * SECOND + nanos)
}

/// A `dateTime` as answers show it: with a zone in UTC with three digits of fraction or more,
/// without one as stored.
pub(crate) fn shown_date_time(text: &str) -> Option<String> {
    let moment = Moment::parse(Scalar::DateTime, text)?;
    let (day, rest) = (
        moment.instant.div_euclid(DAY),
        moment.instant.rem_euclid(DAY),
    );
    let (second, nanos) = (rest / SECOND, rest % SECOND);
    let fraction = format!("{nanos:09}");
    let fraction = fraction.trim_end_matches('0');
    let (year, month, day) = date_of(day);
    let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
    let whole = format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}");
    Some(match (moment.zoned, fraction) {
        (true, _) => format!("{whole}.{fraction:0<3}Z"),
        (false, "") => whole,
        (false, _) => format!("{whole}.{fraction}"),
    })
}

/// The date of a day number, found by trying years and months one after the other.
fn date_of(day: i128) -> (i128, i128, i128) {
    let start = |year: i128, month: i128| {
        day_of(&format!("{year:04}-{month:02}-01"), 3).expect("a first of a month")
    };
    let mut year = day / 366 + 1;
    while start(year + 1, 1) <= day {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && start(year, month + 1) <= day {
        month += 1;
    }
    (year, month, day - start(year, month) + 1)
}
