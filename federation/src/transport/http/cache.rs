//! For how long answers may be kept, after RFC 9111.

use std::time::Duration;

use graphql_service::Freshness;
use reqwest::header::{AGE, CACHE_CONTROL, HeaderMap};

/// Notes what an answer says of how long it may be kept.
pub(super) fn note(freshness: &Freshness, headers: &HeaderMap) {
    let lines = headers
        .get_all(CACHE_CONTROL)
        .iter()
        .filter_map(|line| line.to_str().ok());
    let (mut seconds, mut shared) = (None, None);
    for directive in lines.flat_map(|line| line.split(',')) {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        // What cannot be read counts as the shortest time.
        let time = || Some(value.trim().trim_matches('"').parse().unwrap_or(0));
        match name.trim().to_ascii_lowercase().as_str() {
            "max-age" => seconds = time(),
            "s-maxage" => shared = time(),
            "no-store" | "no-cache" => {
                freshness.note(Some(Duration::ZERO));
                return;
            }
            "private" => freshness.make_private(),
            _ => {}
        }
    }
    // Both hold: the answer may go to shared caches and to those of clients.
    let seconds: Option<u64> = seconds.into_iter().chain(shared).min();
    let age = headers.get(AGE).and_then(|age| age.to_str().ok());
    let age: u64 = age.and_then(|age| age.trim().parse().ok()).unwrap_or(0);
    freshness.note(seconds.map(|seconds| Duration::from_secs(seconds.saturating_sub(age))));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(headers: &[(reqwest::header::HeaderName, &str)]) -> (Option<u64>, bool) {
        let freshness = Freshness::default();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value.parse().unwrap());
        }
        note(&freshness, &map);
        let time = freshness.kept_for(Duration::from_secs(7));
        (time.map(|time| time.as_secs()), freshness.is_private())
    }

    #[test]
    fn an_answer_is_kept_as_long_as_it_says() {
        assert_eq!(kept(&[]), (Some(7), false));
        assert_eq!(
            kept(&[(CACHE_CONTROL, "public, Max-Age=60")]),
            (Some(60), false)
        );
        assert_eq!(
            kept(&[(CACHE_CONTROL, "private, max-age=\"60\"")]),
            (Some(60), true)
        );
        assert_eq!(
            kept(&[(CACHE_CONTROL, "max-age=60"), (AGE, "20")]),
            (Some(40), false)
        );
        assert_eq!(
            kept(&[(CACHE_CONTROL, "max-age=60, s-maxage=30")]),
            (Some(30), false)
        );
        for none in ["no-store", "max-age=60, no-cache", "max-age=0", "max-age=x"] {
            assert_eq!(kept(&[(CACHE_CONTROL, none)]).0, None, "{none}");
        }
        let lines = [(CACHE_CONTROL, "max-age=9"), (CACHE_CONTROL, "private")];
        assert_eq!(kept(&lines), (Some(9), true));
    }
}
