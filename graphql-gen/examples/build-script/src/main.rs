//! Prints the fields that clients may start from, out of a schema that was made by the build script.

/// The GraphQL schema of `schema.yaml`.
const SCHEMA: &str = include_str!(concat!(env!("OUT_DIR"), "/schema.graphql"));

#[expect(clippy::print_stdout, reason = "this is what the program is for")]
fn main() {
    for field in root_fields(SCHEMA) {
        println!("{field}");
    }
}

/// Returns the names of the fields of `Query`.
fn root_fields(sdl: &str) -> impl Iterator<Item = &str> {
    let query = sdl
        .split("\ntype Query {\n")
        .nth(1)
        .unwrap_or_default()
        .split("\n}")
        .next()
        .unwrap_or_default();
    // Fields stand two columns in; arguments and closing brackets are elsewhere.
    let fields = query
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(char::is_alphabetic));
    fields.filter_map(|line| line.split(['(', ':']).next())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schema_has_the_objects_of_the_document() {
        let fields: Vec<_> = super::root_fields(super::SCHEMA).collect();
        assert_eq!(fields, ["object", "book", "author"]);
    }
    #[test]
    fn the_schema_has_what_the_service_adds() {
        assert!(super::SCHEMA.contains("\n  _service: _Service!\n"));
    }
}
