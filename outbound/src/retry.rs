//! Which statuses are tried again, and when a server wants to be asked again.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// A set of HTTP status codes, such as `503`, `50x` or `5xx`.
///
/// ```
/// use outbound::HttpCodes;
///
/// let codes: HttpCodes = "429; 50x".parse().unwrap();
/// assert!(codes.contains(503) && !codes.contains(511));
/// assert_eq!(codes.to_string(), "429, 50x");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpCodes(Vec<(u16, u16)>);

impl HttpCodes {
    /// Returns whether `code` is in the set.
    #[must_use]
    pub fn contains(&self, code: u16) -> bool {
        self.0
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&code))
    }
}

impl FromStr for HttpCodes {
    type Err = &'static str;

    /// Parses codes and ranges separated by commas or semicolons; the error completes "expected …".
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split([',', ';']).map(str::trim);
        let ranges = parts.filter(|part| !part.is_empty()).map(codes);
        ranges.collect::<Result<_, _>>().map(HttpCodes)
    }
}

fn codes(text: &str) -> Result<(u16, u16), &'static str> {
    const EXPECTED: &str = "status codes from 400 to 599 or ranges such as `50x` and `5xx`";
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches('x');
    let open = u32::try_from(lower.len() - digits.len()).map_err(|_| EXPECTED)?;
    let plain = lower.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit());
    if !plain || open > 2 {
        return Err(EXPECTED);
    }
    let size = 10_u16.pow(open);
    let first = digits.parse::<u16>().map_err(|_| EXPECTED)? * size;
    if !(400..600).contains(&first) {
        return Err(EXPECTED);
    }
    Ok((first, first + size - 1))
}

impl fmt::Display for HttpCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                9 => write!(f, "{comma}{}x", first / 10)?,
                _ => write!(f, "{comma}{}xx", first / 100)?,
            }
        }
        Ok(())
    }
}

/// Reads `Retry-After`: a number of seconds, or a time.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = httpdate::parse_http_date(text).ok()?;
    // A time that has passed is now.
    Some(time.duration_since(SystemTime::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn codes_are_single_or_ranges() {
        let codes: HttpCodes = "503, 41x;5XX".parse().unwrap();
        for code in [503, 410, 419, 500, 599] {
            assert!(codes.contains(code), "{code}");
        }
        for code in [409, 420, 499, 600] {
            assert!(!codes.contains(code), "{code}");
        }
        assert_eq!(codes.to_string().parse(), Ok(codes));
        assert_eq!("".parse(), Ok(HttpCodes::default()));
        for wrong in ["xxx", "5x3", "50", "5033", "200", "abc", "-50", "7xx"] {
            assert!(wrong.parse::<HttpCodes>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_server_says_in_two_ways_when_it_wants_to_be_asked_again() {
        let read = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(text));
            retry_after(&headers)
        };
        assert_eq!(read(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let later = read("Fri, 31 Dec 9999 23:59:59 GMT").expect("a time");
        assert!(later > Duration::from_secs(3_600));
        assert_eq!(
            (read("soon"), read("-1"), retry_after(&HeaderMap::new())),
            (None, None, None)
        );
    }
}
