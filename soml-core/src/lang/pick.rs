//! Which of several language variants a specification selects.

use super::{LangHead, LangItem, LangRange, LangSpec, LangValidation};

impl LangSpec {
    /// Selects among values with the given tags and returns the indices of the selected ones in order.
    ///
    /// Without a head, all values of the first item that matches any value are selected; a
    /// single-valued field uses the first of them. A specification of exclusions alone selects all
    /// other values. `ALL,…` selects every value that is not excluded, `ALL:…` those of all listed
    /// items, item by item. `accept_language` has the tags that the request accepts, best first. The
    /// case of tags is ignored.
    ///
    /// ```
    /// use soml_core::lang::LangSpec;
    ///
    /// let spec = LangSpec::parse("fr,en~").unwrap();
    /// assert_eq!(spec.pick([Some("de"), Some("en-GB"), None, Some("EN")], &[]), [1, 3]);
    /// ```
    pub fn pick<'a>(
        &self,
        tags: impl IntoIterator<Item = Option<&'a str>>,
        accept_language: &[String],
    ) -> Vec<usize> {
        let left: Vec<_> = tags
            .into_iter()
            .enumerate()
            .filter(|(_, tag)| !self.excludes(*tag))
            .collect();
        let mut wanted = self
            .items
            .iter()
            .filter(|item| !matches!(item, LangItem::Exclude(_)))
            .peekable();
        match self.head {
            LangHead::All => left.into_iter().map(|(i, _)| i).collect(),
            LangHead::AllOf => {
                let mut all = Vec::new();
                for item in wanted {
                    all.extend(covered(item, &left, accept_language));
                }
                // A value that several items cover stands where the first one puts it.
                let mut seen = std::collections::HashSet::new();
                all.retain(|i| seen.insert(*i));
                all
            }
            LangHead::Preference if wanted.peek().is_none() => any(&left),
            LangHead::Preference => wanted
                .map(|item| first_covered(item, &left, accept_language))
                .find(|found| !found.is_empty())
                .unwrap_or_default(),
        }
    }

    fn excludes(&self, tag: Option<&str>) -> bool {
        self.items
            .iter()
            .any(|item| matches!(item, LangItem::Exclude(range) if range.covers(tag)))
    }
}

impl LangRange {
    /// Tells whether a value with this tag is in the range.
    #[must_use]
    pub fn covers(&self, tag: Option<&str>) -> bool {
        match (self, tag) {
            (LangRange::Untagged, None) => true,
            (LangRange::Tag(wanted), Some(tag)) => tag.eq_ignore_ascii_case(wanted),
            (LangRange::Dialects(wanted), Some(tag)) => is_dialect(tag, wanted),
            _ => false,
        }
    }
}

impl LangValidation {
    /// Tells whether a value with this tag may be written.
    #[must_use]
    pub fn allows(&self, tag: Option<&str>) -> bool {
        self.allowed.is_empty()
            || self.allowed.iter().any(|item| match item {
                LangItem::Include(range) => range.covers(tag),
                LangItem::Any => true,
                LangItem::Exclude(_) | LangItem::Browser => false,
            })
    }
}

/// The language itself or one of its dialects.
fn is_dialect(tag: &str, language: &str) -> bool {
    tag.get(..language.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(language))
        && matches!(tag.as_bytes().get(language.len()), None | Some(b'-'))
}

type Tagged<'a> = (usize, Option<&'a str>);

/// The values of an item where the first of the request's languages that has some wins.
fn first_covered(item: &LangItem, left: &[Tagged<'_>], accept: &[String]) -> Vec<usize> {
    match item {
        LangItem::Browser => browser(left, accept)
            .find(|f| !f.is_empty())
            .unwrap_or_default(),
        _ => covered(item, left, accept),
    }
}

fn covered(item: &LangItem, left: &[Tagged<'_>], accept: &[String]) -> Vec<usize> {
    match item {
        LangItem::Include(range) => indices(left, |tag| range.covers(tag)),
        LangItem::Any => any(left),
        LangItem::Browser => browser(left, accept).flatten().collect(),
        LangItem::Exclude(_) => Vec::new(),
    }
}

/// For each accepted language the values with exactly its tag, then those of its dialects.
fn browser<'v>(
    left: &'v [Tagged<'_>],
    accept: &'v [String],
) -> impl Iterator<Item = Vec<usize>> + 'v {
    accept.iter().flat_map(move |accepted| {
        let language = accepted.split(';').next().unwrap_or_default().trim();
        if language == "*" {
            return [any(left), Vec::new()];
        }
        let exact = |tag: &str| tag.eq_ignore_ascii_case(language);
        [
            indices(left, |tag| tag.is_some_and(exact)),
            indices(left, |tag| {
                tag.is_some_and(|t| !exact(t) && is_dialect(t, language))
            }),
        ]
    })
}

/// The untagged values, else those of the smallest tag.
fn any(left: &[Tagged<'_>]) -> Vec<usize> {
    let untagged = indices(left, |tag| tag.is_none());
    if !untagged.is_empty() {
        return untagged;
    }
    let smallest = left
        .iter()
        .filter_map(|(_, tag)| tag.map(str::to_ascii_lowercase))
        .min();
    match smallest {
        Some(smallest) => indices(left, |tag| {
            tag.is_some_and(|t| t.eq_ignore_ascii_case(&smallest))
        }),
        None => Vec::new(),
    }
}

fn indices(left: &[Tagged<'_>], wanted: impl Fn(Option<&str>) -> bool) -> Vec<usize> {
    left.iter()
        .filter(|(_, tag)| wanted(*tag))
        .map(|(i, _)| *i)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values as tags; `-` is an untagged one.
    fn pick(spec: &str, tags: &str, accept: &[&str]) -> String {
        let tags: Vec<_> = tags.split(' ').collect();
        let accept: Vec<_> = accept.iter().map(|a| (*a).to_owned()).collect();
        let picked = LangSpec::parse(spec)
            .expect(spec)
            .pick(tags.iter().map(|t| (*t != "-").then_some(*t)), &accept);
        picked
            .iter()
            .map(|i| tags[*i])
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn all_gives_every_value() {
        assert_eq!(pick("ALL", "de - en", &[]), "de - en");
    }

    #[test]
    fn all_but_a_dialect() {
        assert_eq!(pick("ALL,-en-US", "en-us en - en-GB", &[]), "en - en-GB");
    }

    #[test]
    fn all_of_a_list_in_its_order() {
        assert_eq!(pick("ALL:en,NONE", "- fr en - EN", &[]), "en EN - -");
        assert_eq!(pick("ALL:en~,en,fr", "fr en en-GB", &[]), "en en-GB fr");
        assert_eq!(pick("ALL:en~,-en-US", "en-US en", &[]), "en");
    }

    #[test]
    fn browser_follows_the_request() {
        assert_eq!(pick("BROWSER", "de en-GB fr", &["en", "fr"]), "en-GB");
        assert_eq!(pick("BROWSER", "de en en-GB fr", &["en", "fr"]), "en");
        assert_eq!(pick("BROWSER", "de", &["en"]), "");
        assert_eq!(pick("BROWSER,ANY", "de", &["en"]), "de");
        assert_eq!(pick("BROWSER", "de -", &["en;q=0.8", "*;q=0.1"]), "-");
        assert_eq!(
            pick("ALL:BROWSER", "de en-GB en fr", &["en", "fr"]),
            "en en-GB fr"
        );
    }

    #[test]
    fn one_language_with_and_without_dialects() {
        assert_eq!(pick("en", "en-GB en - eng", &[]), "en");
        assert_eq!(pick("en~", "en-GB en - eng", &[]), "en-GB en");
        assert_eq!(pick("en", "en-GB fr", &[]), "");
    }

    #[test]
    fn the_first_language_that_exists_wins() {
        assert_eq!(pick("fr,en", "en de", &[]), "en");
        assert_eq!(pick("fr,en", "en fr FR", &[]), "fr FR");
        assert_eq!(pick("fr,NONE", "en -", &[]), "-");
    }

    #[test]
    fn any_prefers_untagged_then_the_smallest_tag() {
        assert_eq!(pick("ANY", "fr - en -", &[]), "- -");
        assert_eq!(pick("ANY", "fr EN en de-x", &[]), "de-x");
        assert_eq!(pick("ANY", "fr EN en", &[]), "EN en");
    }

    #[test]
    fn exclusions_hold_for_every_item() {
        assert_eq!(pick("-en-US", "en-US fr", &[]), "fr");
        assert_eq!(pick("-en-US", "en-US - fr", &[]), "-");
        assert_eq!(pick("-en-US", "en-US", &[]), "");
        assert_eq!(pick("en~,-en-US,ANY", "en-US de fr", &[]), "de");
        assert_eq!(pick("-NONE,ANY", "- de", &[]), "de");
    }

    #[test]
    fn validation_allows_listed_tags() {
        let validation = LangValidation::parse("en,fr~;UNIQ").expect("it follows the grammar");
        assert!(
            validation.unique && validation.allows(Some("EN")) && validation.allows(Some("fr-CA"))
        );
        assert!(!validation.allows(Some("en-GB")) && !validation.allows(None));
        assert!(LangValidation::default().allows(None));
    }
}
