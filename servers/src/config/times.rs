//! Times as the interface writes them.

use std::time::Duration;

/// Reads a time that is in seconds where it has no unit.
pub(super) fn milliseconds(text: &str) -> Result<String, &'static str> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => 0,
    };
    let number = digits.parse::<u64>().ok().filter(|_| scale > 0);
    let time = number
        .and_then(|number| number.checked_mul(scale))
        .map(Duration::from_millis);
    time.map(|time| time.as_millis().to_string())
        .ok_or("a number of seconds, or a time such as `500ms` or `2m`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_without_a_unit_is_in_seconds() {
        for (text, expected) in [
            ("30", "30000"),
            ("0", "0"),
            ("2m", "120000"),
            ("15ms", "15"),
        ] {
            assert_eq!(milliseconds(text).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "",
            "s",
            "-1",
            "1.5",
            "1d",
            "99999999999999999999",
            "18446744073709551615",
        ] {
            assert!(milliseconds(text).is_err(), "{text}");
        }
    }
}
