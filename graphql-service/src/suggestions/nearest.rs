//! The known name that an unknown one was probably meant to be.

/// Longest name that gets a suggestion, in bytes; no generated name is longer. The distance costs
/// the product of both lengths, for each known name.
const MAX_BYTES: usize = 300;

/// Returns the name at the smallest edit distance, if that is small; case is ignored.
///
/// ```
/// use graphql_service::suggestions::nearest;
///
/// assert_eq!(nearest("plnet", ["planet", "person"]), Some("planet"));
/// assert_eq!(nearest("star", ["planet", "person"]), None);
/// ```
#[must_use]
pub fn nearest<'n>(unknown: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if unknown.len() > MAX_BYTES {
        return None;
    }
    let folded = unknown.to_lowercase();
    let length = folded.chars().count();
    // One typing error, and one more for every four letters: a short name with two is anybody's
    // guess.
    let allowed = 1 + unknown.chars().count() / 4;
    known
        .into_iter()
        .filter_map(|name| {
            let other = name.to_lowercase();
            // The distance is at least the difference in length, which is much cheaper to compute.
            let is_near = other.chars().count().abs_diff(length) <= allowed;
            is_near.then(|| (strsim::osa_distance(&folded, &other), name))
        })
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, nearest};

    #[test]
    fn only_what_is_near_is_suggested() {
        assert_eq!(nearest("plnet", ["planet", "person"]), Some("planet"));
        assert_eq!(
            nearest("EyeColor", ["eyeColor", "hairColor"]),
            Some("eyeColor")
        );
        assert_eq!(nearest("xyz", ["planet", "id"]), None);
    }

    #[test]
    fn names_beyond_the_bound_are_not_looked_up() {
        let known = "a".repeat(MAX_BYTES - 1);
        let within = "a".repeat(MAX_BYTES);
        let beyond = "a".repeat(MAX_BYTES + 1);
        assert_eq!(nearest(&within, [known.as_str()]), Some(known.as_str()));
        assert_eq!(nearest(&beyond, [known.as_str()]), None);
    }
}
