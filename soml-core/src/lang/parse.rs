//! The grammar of language specifications.

use std::str::FromStr;

use super::{LangHead, LangItem, LangRange, LangSpec, LangSpecError, LangValidation};

impl LangSpec {
    /// Parses a `fetch` specification: an optional `ALL,` or `ALL:` and a list of items without spaces.
    ///
    /// The first item may be empty, as in `,en`. The empty text is a specification too, one that
    /// says nothing; see [`LangSpec::is_empty`].
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
            "" => {
                return Ok(LangSpec {
                    head: LangHead::Preference,
                    items: Vec::new(),
                });
            }
            _ => match (text.strip_prefix("ALL,"), text.strip_prefix("ALL:")) {
                (Some(rest), _) => (LangHead::All, rest),
                (None, Some(rest)) => (LangHead::AllOf, after_empty_item(rest)),
                (None, None) => (LangHead::Preference, after_empty_item(text)),
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
    /// The first item may be empty, and so may the list.
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
        let allowed = match list {
            "" => Vec::new(),
            list => after_empty_item(list)
                .split(',')
                .map(validate_item)
                .collect::<Result<Vec<_>, _>>()?,
        };
        Ok(LangValidation { allowed, unique })
    }
}

impl FromStr for LangValidation {
    type Err = LangSpecError;

    fn from_str(text: &str) -> Result<LangValidation, LangSpecError> {
        LangValidation::parse(text)
    }
}

/// Returns the items after an empty first one; of `,en` these are `en`.
fn after_empty_item(list: &str) -> &str {
    list.strip_prefix(',').unwrap_or(list)
}

fn fetch_item(item: &str) -> Result<LangItem, LangSpecError> {
    match item {
        "ANY" => Ok(LangItem::Any),
        "BROWSER" => Ok(LangItem::Browser),
        "ALL" => Err(error("`ALL` is only allowed at the beginning")),
        "UNIQ" => Err(error("`UNIQ` is only allowed in `validate`")),
        _ => match item.strip_prefix('-') {
            Some(word) if WORDS.contains(&word) && word != "NONE" => {
                Err(error(format!("`{item}`: `{word}` cannot be excluded")))
            }
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
        "BROWSER" => Err(error("`BROWSER` is only allowed in `fetch`")),
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

/// Words that stand for languages, in upper case.
const WORDS: [&str; 5] = ["ALL", "ANY", "NONE", "BROWSER", "UNIQ"];

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
    if dialects && WORDS.contains(&tag) {
        return Err(error(format!("`{item}`: `{tag}` has no dialects")));
    }
    if let Some(word) = WORDS.iter().find(|w| w.eq_ignore_ascii_case(tag)) {
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

/// Returns whether `text` has the form of a language tag: two or three letters, then subtags of
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
            "",
        ] {
            let spec = LangSpec::parse(text).expect(text);
            assert_eq!(spec.to_string(), text);
            assert_eq!(LangSpec::parse(&spec.to_string()), Ok(spec));
        }
        for text in ["en", "en,fr;UNIQ", "UNIQ", "en~,NONE;UNIQ", "ANY", ""] {
            assert_eq!(LangValidation::parse(text).expect(text).to_string(), text);
        }
    }

    #[test]
    fn the_first_item_may_be_empty() {
        for (text, same) in [
            (",en", "en"),
            (",-en,ANY", "-en,ANY"),
            ("ALL:,en,fr", "ALL:en,fr"),
        ] {
            assert_eq!(LangSpec::parse(text), LangSpec::parse(same), "{text}");
        }
        for (text, same) in [(",en;UNIQ", "en;UNIQ"), (";UNIQ", "UNIQ"), (",ANY", "ANY")] {
            assert_eq!(
                LangValidation::parse(text),
                LangValidation::parse(same),
                "{text}"
            );
        }
        for text in [",", ",,en", "en,", "ALL,", "ALL,,en", "ALL:,"] {
            assert!(LangSpec::parse(text).is_err(), "{text}");
        }
        assert!(LangSpec::parse("").expect("it says nothing").is_empty());
        assert!(
            !LangSpec::parse("ALL")
                .expect("it follows the grammar")
                .is_empty()
        );
    }

    #[test]
    fn nobody_is_told_to_write_what_stands_there() {
        for (text, message) in [
            ("-ANY", "`-ANY`: `ANY` cannot be excluded"),
            ("-BROWSER", "`-BROWSER`: `BROWSER` cannot be excluded"),
            ("en,-ALL", "`-ALL`: `ALL` cannot be excluded"),
            ("ANY~", "`ANY~`: `ANY` has no dialects"),
            ("-NONE~", "`NONE~`: `NONE` has no dialects"),
            ("any", "`any`: did you mean `ANY`?"),
        ] {
            assert_eq!(LangSpec::parse(text).expect_err(text).message, message);
        }
        for (text, message) in [
            ("BROWSER", "`BROWSER` is only allowed in `fetch`"),
            ("ALL~", "`ALL~`: `ALL` has no dialects"),
        ] {
            assert_eq!(
                LangValidation::parse(text).expect_err(text).message,
                message
            );
        }
    }

    #[test]
    fn what_breaks_the_grammar_is_named() {
        for (text, part) in [
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
        for text in ["UNIQ;en", "en,UNIQ", "-en", "en;uniq", "BROWSER"] {
            assert!(LangValidation::parse(text).is_err(), "{text}");
        }
    }
}
