//! Language specifications: which of several values are wanted.

/// A specification, split into its items as written.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// `ALL` or `ALL,…`
    all: bool,
    /// `ALL:…`
    all_of: bool,
    items: Vec<String>,
}

impl Spec {
    pub(crate) fn parse(text: &str) -> Spec {
        let (all, all_of, rest) = if text == "ALL" || text == "ALL:" {
            (true, false, "")
        } else if let Some(rest) = text.strip_prefix("ALL,") {
            (true, false, rest)
        } else if let Some(rest) = text.strip_prefix("ALL:") {
            (false, true, rest)
        } else {
            (false, false, text)
        };
        let items = rest.split(',').filter(|item| !item.is_empty());
        Spec {
            all,
            all_of,
            items: items.map(str::to_owned).collect(),
        }
    }

    /// Appends the items of another specification as last resorts, where items are preferences.
    pub(crate) fn or_else(mut self, other: &Spec) -> Spec {
        if !self.all && !self.all_of {
            self.items.extend(other.items.iter().cloned());
        }
        self
    }

    /// Groups of the wanted values by preference: a list shows all of them, a single-valued field
    /// something of the first.
    pub(crate) fn pick<'v, T>(
        &self,
        values: &'v [T],
        tag: impl Fn(&T) -> Option<String>,
        accepted: &[String],
    ) -> Vec<Vec<&'v T>> {
        let tagged: Vec<(Option<String>, &T)> = values
            .iter()
            .map(|value| (tag(value).map(|t| t.to_ascii_lowercase()), value))
            .filter(|(tag, _)| !self.excludes(tag.as_deref()))
            .collect();
        if self.all {
            return vec![tagged.into_iter().map(|(_, value)| value).collect()];
        }
        let mut groups: Vec<Vec<(Option<String>, &T)>> = Vec::new();
        let mut wanted: Vec<&str> = self.items.iter().map(String::as_str).collect();
        wanted.retain(|item| !item.starts_with('-'));
        if wanted.is_empty() {
            wanted.push("ANY");
        }
        for item in wanted {
            for test in tests_of(item, accepted, &tagged) {
                let covered = |t: &Option<String>| test.covers(t.as_deref());
                groups.push(tagged.iter().filter(|(t, _)| covered(t)).cloned().collect());
            }
        }
        groups.retain(|group| !group.is_empty());
        if !self.all_of {
            groups.truncate(1);
        }
        groups
            .into_iter()
            .map(|group| group.into_iter().map(|(_, value)| value).collect())
            .collect()
    }

    /// The values of which a single-valued field shows one: those of one tag, unless `ALL` wants all.
    pub(crate) fn one<'v, T>(
        &self,
        values: &[&'v T],
        tag: impl Fn(&T) -> Option<String>,
        accepted: &[String],
    ) -> Vec<&'v T> {
        let groups = self.pick(values, |value| tag(value), accepted);
        let first = groups.into_iter().next().unwrap_or_default();
        let least = first.iter().map(|value| tag(value)).min();
        let mut first: Vec<&'v T> = first.into_iter().copied().collect();
        if !self.all {
            first.retain(|value| Some(tag(value)) == least);
        }
        first
    }

    /// Returns whether values without a tag stand in where no others are wanted.
    pub(crate) fn takes_untagged(&self) -> bool {
        !self.excludes(None)
    }

    /// Returns whether one of several items is chosen.
    pub(crate) fn is_choice(&self) -> bool {
        !self.all && !self.all_of
    }

    /// Returns whether a filter with this specification lets a literal through; order means nothing.
    pub(crate) fn admits(&self, tag: Option<&str>) -> bool {
        let tag = tag.map(str::to_ascii_lowercase);
        if self.excludes(tag.as_deref()) {
            return false;
        }
        let wanted: Vec<&String> = self.items.iter().filter(|i| !i.starts_with('-')).collect();
        self.all
            || wanted.is_empty()
            || wanted
                .iter()
                .any(|item| *item == "ANY" || Test::of(item).covers(tag.as_deref()))
    }

    fn excludes(&self, tag: Option<&str>) -> bool {
        let excluded = self.items.iter().filter_map(|item| item.strip_prefix('-'));
        excluded.map(Test::of).any(|test| test.covers(tag))
    }
}

enum Test {
    Untagged,
    Exactly(String),
    Dialects(String),
    /// Dialects, but not the language itself.
    OnlyDialects(String),
}

impl Test {
    fn of(item: &str) -> Test {
        match item.strip_suffix('~') {
            _ if item == "NONE" => Test::Untagged,
            Some(language) => Test::Dialects(language.to_ascii_lowercase()),
            None => Test::Exactly(item.to_ascii_lowercase()),
        }
    }

    fn covers(&self, tag: Option<&str>) -> bool {
        let dialect = |tag: &str, of: &str| {
            tag.strip_prefix(of)
                .is_some_and(|rest| rest.starts_with('-'))
        };
        match (self, tag) {
            (Test::Untagged, None) => true,
            (Test::Exactly(wanted), Some(tag)) => tag == wanted,
            (Test::Dialects(wanted), Some(tag)) => tag == wanted || dialect(tag, wanted),
            (Test::OnlyDialects(wanted), Some(tag)) => dialect(tag, wanted),
            _ => false,
        }
    }
}

/// The tests that an item stands for, one after the other.
fn tests_of<T>(item: &str, accepted: &[String], values: &[(Option<String>, &T)]) -> Vec<Test> {
    let any = || tests_of("ANY", accepted, values);
    match item {
        "BROWSER" if accepted.is_empty() => any(),
        "ANY" => {
            let smallest = values.iter().map(|(tag, _)| tag.clone()).min();
            let test = smallest.map(|tag| tag.map_or(Test::Untagged, Test::Exactly));
            test.into_iter().collect()
        }
        "BROWSER" => accepted
            .iter()
            .map(|language| language.to_ascii_lowercase())
            .flat_map(|language| match language.as_str() {
                "*" => any(),
                _ => vec![
                    Test::Exactly(language.clone()),
                    Test::OnlyDialects(language),
                ],
            })
            .collect(),
        _ => vec![Test::of(item)],
    }
}

/// A tag in the letter case of BCP 47: regions in capitals, scripts capitalized.
pub(crate) fn shown_tag(tag: &str) -> String {
    let parts: Vec<String> = tag.split('-').map(str::to_ascii_lowercase).collect();
    let mut shown = vec![parts[0].clone()];
    for at in 1..parts.len() {
        let part = &parts[at];
        let after_singleton = parts[at - 1].len() == 1;
        shown.push(match part.len() {
            2 if !after_singleton => part.to_ascii_uppercase(),
            4 if !after_singleton => part[..1].to_ascii_uppercase() + &part[1..],
            _ => part.clone(),
        });
    }
    shown.join("-")
}
