//! Which paths are taken.
//!
//! A path decides which route a request takes and whether it needs a token. So what the edge and the service behind it
//! could read differently is refused instead of repaired.

use percent_encoding::percent_decode_str;

/// Returns what is ambiguous in a path.
pub(crate) fn ambiguity(path: &str) -> Option<&'static str> {
    if path.contains("//") {
        return Some("the path has an empty segment");
    }
    // Most paths end here.
    if !path.contains(['%', '\\']) && !path.contains("/.") {
        return None;
    }
    let decoded: Vec<u8> = percent_decode_str(path).collect();
    if decoded.iter().any(u8::is_ascii_control) {
        return Some("the path has control characters");
    }
    let mut segments = decoded.split(|byte| matches!(byte, b'/' | b'\\'));
    if segments.any(|segment| matches!(segment, b"." | b"..")) {
        return Some("the path has a segment `.` or `..`");
    }
    decoded
        .contains(&b'\\')
        .then_some("the path has a backslash")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_read_differently_is_ambiguous() {
        for path in [
            "/a/../b",
            "/..",
            "/.",
            "/a/.",
            "/a/%2e%2E/b",
            "/a/.%2e",
            "/a/..%2fb",
            "/a%2f..%2fb",
            "/a%5c..%5cb",
            "/a/%2e",
            "//graphql",
            "/a//b",
            "/a//",
            "/a\\b",
            "/a%5Cb",
            "/a%00",
            "/a%0ab",
        ] {
            assert!(ambiguity(path).is_some(), "{path}");
        }
        for path in [
            "/",
            "/graphql",
            "/graphql/",
            "/.well-known/jwks.json",
            "/a/...",
            "/a/b..c",
            "/soml/http%3A%2F%2Fa%2Fb",
            "/a%20b",
            "/%252e%252e/",
            "/%C3%A4",
        ] {
            assert_eq!(ambiguity(path), None, "{path}");
        }
    }
}
