//! Which of several language variants a specification selects.

use super::{LangHead, LangItem, LangRange, LangSpec, LangValidation};

impl LangSpec {
    /// Selects among values with the given tags and returns the indices of the selected ones in order.
    ///
    /// Without a head, all values of the first item that matches any value are selected. A
    /// specification of exclusions alone selects what `ANY` selects among the other values. `ALL,…`
    /// selects every value that is not excluded, `ALL:…` those of all listed items, item by item.
    /// `accept_language` has the tags that the request accepts, best first; without any, and for
    /// `*`, `BROWSER` is `ANY`. The case of tags is ignored.
    ///
    /// Nothing is selected where no item matches; whether untagged values stand in then is told by
    /// [`LangSpec::admits_untagged`].
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
        let left = self.left(tags);
        let mut wanted = self.wanted().peekable();
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

    /// Selects as [`LangSpec::pick`] does, for a field that shows one value: the values of one tag,
    /// of which the field shows the smallest.
    ///
    /// Where an item covers several tags, as `en~` does, the smallest tag is selected, an absent one
    /// first. `ALL,…` selects every value that is not excluded, and the items of `ALL:…` are
    /// preferences.
    ///
    /// ```
    /// use soml_core::lang::LangSpec;
    ///
    /// let spec = LangSpec::parse("fr,en~").unwrap();
    /// assert_eq!(spec.pick_one([Some("en-US"), Some("en-GB")], &[]), [1]);
    /// ```
    pub fn pick_one<'a>(
        &self,
        tags: impl IntoIterator<Item = Option<&'a str>>,
        accept_language: &[String],
    ) -> Vec<usize> {
        let left = self.left(tags);
        if self.head == LangHead::All {
            return left.into_iter().map(|(i, _)| i).collect();
        }
        let mut wanted = self.wanted().peekable();
        if wanted.peek().is_none() {
            return any(&left);
        }
        let mut covered = wanted.map(|item| first_covered(item, &left, accept_language));
        let first = covered.find(|found| !found.is_empty()).unwrap_or_default();
        let of_first: Vec<_> = left
            .into_iter()
            .filter(|(i, _)| first.contains(i))
            .collect();
        any(&of_first)
    }

    /// Returns whether values without a tag stand where the specification selects none of the others:
    /// always, unless it excludes them.
    #[must_use]
    pub fn admits_untagged(&self) -> bool {
        !self.excludes(None)
    }

    /// Returns the values that are not excluded.
    fn left<'a>(&self, tags: impl IntoIterator<Item = Option<&'a str>>) -> Vec<Tagged<'a>> {
        let tagged = tags.into_iter().enumerate();
        tagged.filter(|(_, tag)| !self.excludes(*tag)).collect()
    }

    /// Returns the items that are no exclusions.
    fn wanted(&self) -> impl Iterator<Item = &LangItem> {
        let items = self.items.iter();
        items.filter(|item| !matches!(item, LangItem::Exclude(_)))
    }

    fn excludes(&self, tag: Option<&str>) -> bool {
        self.items
            .iter()
            .any(|item| matches!(item, LangItem::Exclude(range) if range.covers(tag)))
    }
}

impl LangRange {
    /// Returns whether a value with this tag is in the range.
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
    /// Returns whether a value with this tag may be written.
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

/// For each accepted language the values with exactly its tag, then those of its dialects; where none
/// is named, any language will do.
fn browser<'v>(
    left: &'v [Tagged<'_>],
    accept: &'v [String],
) -> impl Iterator<Item = Vec<usize>> + 'v {
    let whichever = accept.is_empty().then(|| any(left));
    let accepted = accept.iter().flat_map(move |accepted| {
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
    });
    whichever.into_iter().chain(accepted)
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
        shown(spec, tags, accept, |spec, tags, accept| {
            spec.pick(tags.iter().copied(), accept)
        })
    }

    fn pick_one(spec: &str, tags: &str, accept: &[&str]) -> String {
        shown(spec, tags, accept, |spec, tags, accept| {
            spec.pick_one(tags.iter().copied(), accept)
        })
    }

    fn shown(
        spec: &str,
        tags: &str,
        accept: &[&str],
        pick: impl Fn(&LangSpec, &[Option<&str>], &[String]) -> Vec<usize>,
    ) -> String {
        let written: Vec<_> = tags.split(' ').collect();
        let tags: Vec<_> = written.iter().map(|t| (*t != "-").then_some(*t)).collect();
        let accept: Vec<_> = accept.iter().map(|a| (*a).to_owned()).collect();
        let picked: Vec<_> = pick(&LangSpec::parse(spec).expect(spec), &tags, &accept)
            .iter()
            .map(|i| written[*i])
            .collect();
        picked.join(" ")
    }

    #[test]
    fn one_value_is_of_the_smallest_tag() {
        assert_eq!(pick_one("en~", "en-US en-GB en-gb", &[]), "en-GB en-gb");
        assert_eq!(pick_one("en~", "en-US de en", &[]), "en");
        assert_eq!(pick_one("fr,en~", "en-US en-GB de", &[]), "en-GB");
        assert_eq!(pick_one("BROWSER", "en-US en-GB", &["en"]), "en-GB");
        assert_eq!(pick_one("ALL:de,en", "en de", &[]), "de");
        assert_eq!(pick_one("ALL", "en de -", &[]), "en de -");
        assert_eq!(pick_one("-de", "en de fr", &[]), "en");
        assert_eq!(pick_one("fr", "en de -", &[]), "");
    }

    #[test]
    fn browser_is_any_language_where_none_is_named() {
        assert_eq!(pick("BROWSER", "fr - de", &[]), "-");
        assert_eq!(pick("BROWSER", "fr de", &[]), "de");
        assert_eq!(pick("BROWSER", "fr de", &["*"]), "de");
        assert_eq!(pick("BROWSER", "fr de", &["fr", "*"]), "fr");
        assert_eq!(pick("BROWSER,-de", "fr de", &[]), "fr");
        assert_eq!(pick("ALL:BROWSER,fr", "fr de", &[]), "de fr");
        assert_eq!(pick_one("BROWSER", "fr de", &[]), "de");
    }

    #[test]
    fn untagged_values_stand_in_unless_they_are_excluded() {
        let admits = |spec: &str| LangSpec::parse(spec).expect(spec).admits_untagged();
        assert!(admits("en") && admits("ALL:en") && admits("-en"));
        assert!(!admits("en,-NONE") && !admits("ALL,-NONE"));
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
