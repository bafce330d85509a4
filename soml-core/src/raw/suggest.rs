//! "Did you mean": the candidate that differs least from what was written.

/// Longer names are not compared, so that a suggestion has a bounded cost.
const MAX_LEN: usize = 64;
/// Maximum number of candidates that are compared.
const MAX_CANDIDATES: usize = 5_000;

/// Returns the candidate nearest to `written`, when one is near enough to be meant.
pub(crate) fn nearest<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    if written.is_empty() || written.len() > MAX_LEN {
        return None;
    }
    let allowed = (written.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|c| c.len().abs_diff(written.len()) <= allowed && *c != written)
        .filter_map(|c| {
            let distance = if c.eq_ignore_ascii_case(written) {
                0
            } else {
                strsim::osa_distance(written, c)
            };
            (distance <= allowed).then_some((distance, c))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

/// Returns the hint "did you mean …?", when some candidate is near enough.
pub(crate) fn did_you_mean<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<String> {
    nearest(written, candidates).map(|near| format!("did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["integer", "string", "decimal"];
        assert_eq!(nearest("interger", known), Some("integer"));
        assert_eq!(nearest("String", known), Some("string"));
        assert_eq!(nearest("date", known), None);
        assert_eq!(nearest("", known), None);
    }
}
