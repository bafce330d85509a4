//! Language tags as answers show them.

/// Returns a language tag in the case that BCP 47 recommends: `zh-Hant-TW` ([RFC 5646, 2.1.1]).
///
/// [RFC 5646, 2.1.1]: https://www.rfc-editor.org/rfc/rfc5646#section-2.1.1
#[must_use]
pub fn bcp47_case(tag: &str) -> String {
    let mut out = String::with_capacity(tag.len());
    let mut after_singleton = false;
    for (position, part) in tag.split('-').enumerate() {
        if position > 0 {
            out.push('-');
        }
        let lower = part.to_ascii_lowercase();
        match (position, part.len(), after_singleton) {
            (1.., 2, false) => out.push_str(&lower.to_ascii_uppercase()),
            (1.., 4, false) => {
                let mut letters = lower.chars();
                out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
                out.push_str(letters.as_str());
            }
            _ => out.push_str(&lower),
        }
        after_singleton = part.len() == 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::bcp47_case;

    #[test]
    fn tags_are_written_as_recommended() {
        for (tag, expected) in [
            ("EN", "en"),
            ("en-us", "en-US"),
            ("zh-hant-tw", "zh-Hant-TW"),
            ("de-x-ab", "de-x-ab"),
            ("zh-classical", "zh-classical"),
            ("en-éé", "en-éé"),
        ] {
            assert_eq!(bcp47_case(tag), expected);
        }
    }
}
