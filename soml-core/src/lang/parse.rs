//! The grammar of language specifications.

use std::str::FromStr;

use super::{LangHead, LangItem, LangRange, LangSpec, LangSpecError, LangValidation};

impl LangSpec {
    /// Parses a `fetch` specification: an optional `ALL,` or `ALL:` and a list of items without spaces.
    ///
    /// # Errors
    /// Fails on the first item that does not follow the grammar, and names it.
    pub fn parse(text: &str) -> Result<LangSpec, LangSpecError> {
        let (head, rest) = match text {
            "ALL" | "ALL:" => {
                return Ok(LangSpec {
                    head: LangHead::All,
                    items: Vec::new(),
                });
            }
            _ => match (text.strip_prefix("ALL,"), text.strip_prefix("ALL:")) {
                (Some(rest), _) => (LangHead::All, rest),
                (None, Some(rest)) => (LangHead::AllOf, rest),
                (None, None) => (LangHead::Preference, text),
            },
        };
        let items = rest
            .split(',')
            .map(fetch_item)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(LangSpec { head, items })
    }
}

impl FromStr for LangSpec {
    type Err = LangSpecError;

    fn from_str(text: &str) -> Result<LangSpec, LangSpecError> {
        LangSpec::parse(text)
    }
}

impl LangValidation {
    /// Parses a `validate` specification: a list of tags, then optionally `;UNIQ`; or `UNIQ` alone.
    ///
    /// # Errors
    /// Fails on the first item that does not follow the grammar, and names it.
    pub fn parse(text: &str) -> Result<LangValidation, LangSpecError> {
        if text == "UNIQ" {
            return Ok(LangValidation {
                allowed: Vec::new(),
                unique: true,
            });
        }
        let (list, unique) = match text.strip_suffix(";UNIQ") {
            Some(list) => (list, true),
            None => (text, false),
        };
        let allowed = list
            .split(',')
            .map(validate_item)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(LangValidation { allowed, unique })
    }
}

impl FromStr for LangValidation {
    type Err = LangSpecError;

    fn from_str(text: &str) -> Result<LangValidation, LangSpecError> {
        LangValidation::parse(text)
    }
}

fn fetch_item(item: &str) -> Result<LangItem, LangSpecError> {
    match item {
        "ANY" => Ok(LangItem::Any),
        "BROWSER" => Ok(LangItem::Browser),
        "ALL" => Err(error("`ALL` is only allowed at the beginning")),
        "UNIQ" => Err(error("`UNIQ` is only allowed in `validate`")),
        _ => match item.strip_prefix('-') {
            Some(rest) => range(rest).map(LangItem::Exclude),
            None => range(item).map(LangItem::Include),
        },
    }
}

fn validate_item(item: &str) -> Result<LangItem, LangSpecError> {
    match item {
        "ANY" | "ALL" => Ok(LangItem::Any),
        "UNIQ" => Err(error(
            "`UNIQ` comes last, after a semicolon, as in `en,fr;UNIQ`",
        )),
        _ if item.contains(';') => Err(error(
            "only `UNIQ` is allowed after the semicolon, at the end",
        )),
        _ if item.starts_with('-') => Err(error(format!(
            "`{}`: exclusions are not allowed in `validate`",
            cut(item)
        ))),
        _ => range(item).map(LangItem::Include),
    }
}

fn range(item: &str) -> Result<LangRange, LangSpecError> {
    if item == "NONE" {
        return Ok(LangRange::Untagged);
    }
    let (tag, dialects) = match item.strip_suffix('~') {
        Some(tag) => (tag, true),
        None => (item, false),
    };
    if tag.is_empty() {
        return Err(error("empty item"));
    }
    if tag != tag.trim() {
        return Err(error(format!("`{}`: spaces are not allowed", cut(item))));
    }
    let word = ["ALL", "ANY", "NONE", "BROWSER", "UNIQ"]
        .iter()
        .find(|w| w.eq_ignore_ascii_case(tag));
    if let Some(word) = word {
        return Err(error(format!("`{}`: did you mean `{word}`?", cut(item))));
    }
    if !is_tag(tag) {
        return Err(error(format!("`{}` is not a language tag", cut(item))));
    }
    let tag = tag.to_owned();
    Ok(if dialects {
        LangRange::Dialects(tag)
    } else {
        LangRange::Tag(tag)
    })
}

/// Tells whether `text` has the form of a language tag: two or three letters, then subtags of
/// letters and digits with hyphens between.
///
/// Subtags may be longer than the eight characters of BCP 47, since tags such as `zh-classical`
/// stand in real data and must be readable.
#[must_use]
pub fn is_tag(text: &str) -> bool {
    let mut parts = text.split('-');
    let language = parts.next().unwrap_or_default();
    (2..=3).contains(&language.len())
        && language.bytes().all(|b| b.is_ascii_alphabetic())
        && parts
            .all(|p| (1..=32).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_alphanumeric()))
}

fn cut(item: &str) -> String {
    item.chars().take(40).collect()
}

fn error(message: impl Into<String>) -> LangSpecError {
    LangSpecError {
        message: message.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_print_as_they_are_read() {
        for text in [
            "ALL",
            "ALL,-en-US",
            "ALL:en,NONE",
            "BROWSER",
            "en",
            "en~",
            "fr,en",
            "-en-US",
            "en~,-en-US,ANY",
            "NONE",
            "-NONE",
            "gsw,zh-Hans-CN",
        ] {
            let spec = LangSpec::parse(text).expect(text);
            assert_eq!(spec.to_string(), text);
            assert_eq!(LangSpec::parse(&spec.to_string()), Ok(spec));
        }
        for text in ["en", "en,fr;UNIQ", "UNIQ", "en~,NONE;UNIQ", "ANY"] {
            assert_eq!(LangValidation::parse(text).expect(text).to_string(), text);
        }
    }

    #[test]
    fn what_breaks_the_grammar_is_named() {
        for (text, part) in [
            ("", "empty"),
            ("en,,fr", "empty"),
            ("en, fr", "spaces"),
            ("en,ALL", "beginning"),
            ("any", "`ANY`"),
            ("english", "language tag"),
            ("e", "language tag"),
            ("en;UNIQ", "language tag"),
            ("ALLen", "language tag"),
            ("-ANY", "`ANY`"),
        ] {
            let error = LangSpec::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        for text in [
            "UNIQ;en", "en,UNIQ", "-en", "", "en;uniq", "BROWSER", ";UNIQ",
        ] {
            assert!(LangValidation::parse(text).is_err(), "{text}");
        }
    }
}
