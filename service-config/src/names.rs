//! Names of properties, as they are compared.

/// Returns a name without case and punctuation.
#[must_use]
pub fn normalized(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// Returns the segments of a name in lower case.
#[must_use]
pub fn segments(name: &str) -> Vec<String> {
    let segments = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|segment| !segment.is_empty());
    segments.map(str::to_ascii_lowercase).collect()
}
