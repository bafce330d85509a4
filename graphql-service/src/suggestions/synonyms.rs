//! Arguments that other APIs call otherwise.

/// Names for the same, of which an API has one.
const SYNONYMS: [&[&str]; 4] = [
    &["limit", "size", "first", "take", "top", "pageSize"],
    &["offset", "from", "skip"],
    &["where", "query", "filter"],
    &["orderBy", "sort", "sortBy", "order"],
];

/// The argument of searches for a number of hits. Where it is not known, `from` names the graphs that are read.
const NUMBER_OF_HITS: &str = "size";

/// Returns the known argument that stands for the same as an unknown one.
pub(super) fn synonym<'n>(
    unknown: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let mut groups = SYNONYMS.into_iter();
    let group = groups.find(|group| group.contains(&unknown))?;
    let known: Vec<&str> = known.into_iter().collect();
    let is_search = known.contains(&NUMBER_OF_HITS);
    // Only searches skip hits by `from` (docs/search.md, "Order and pages"; docs/queries.md, "Root
    // fields").
    let mut group = group.iter().filter(|name| is_search || **name != "from");
    group.find_map(|name| known.iter().find(|known| *known == name).copied())
}

#[cfg(test)]
mod tests {
    use super::synonym;

    #[test]
    fn arguments_of_other_apis_are_told_as_those_of_objects_and_of_searches() {
        let objects = ["ID", "from", "lang", "limit", "offset", "orderBy", "where"];
        let search = ["from", "query", "search_after", "size", "sort"];
        for (unknown, of_objects, of_search) in [
            ("first", "limit", "size"),
            ("limit", "limit", "size"),
            ("size", "limit", "size"),
            ("skip", "offset", "from"),
            ("offset", "offset", "from"),
            ("filter", "where", "query"),
            ("where", "where", "query"),
            ("order", "orderBy", "sort"),
        ] {
            assert_eq!(synonym(unknown, objects), Some(of_objects), "{unknown}");
            assert_eq!(synonym(unknown, search), Some(of_search), "{unknown}");
        }
        assert_eq!(synonym("skip", ["from", "where"]), None);
        assert_eq!(synonym("depth", objects), None);
    }
}
