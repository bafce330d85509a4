//! Arguments that other APIs call otherwise.

/// Names for the same, of which an API has one.
const SYNONYMS: [&[&str]; 4] = [
    &["limit", "first", "take", "top", "pageSize"],
    &["offset", "skip"],
    &["where", "filter"],
    &["orderBy", "sort", "sortBy", "order"],
];

/// Returns the known argument that stands for the same as an unknown one.
pub(super) fn synonym<'n>(
    unknown: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let mut groups = SYNONYMS.into_iter();
    let group = groups.find(|group| group.contains(&unknown))?;
    known.into_iter().find(|name| group.contains(name))
}
