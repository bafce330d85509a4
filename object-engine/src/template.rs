//! Templates of ids: `human/${name}`, whose names stand for values of the object.

use soml_core::schema::{ObjectId, PropertyId, Schema};

/// A `pattern` that has at least one `$name` or `${name}` of a property of its object, or of the object's
/// type property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text that stands for itself.
    Text(String),
    /// A value of a property.
    Value(PropertyId),
    /// The local name of the object's type.
    Type,
}

impl Template {
    /// Parses a pattern of an object; `None` if it names none of its properties, so that it is a regular
    /// expression.
    pub(crate) fn parse(schema: &Schema, object: ObjectId, pattern: &str) -> Option<Template> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = pattern;
        while let Some(at) = rest.find('$') {
            let (before, after) = rest.split_at(at);
            text.push_str(before);
            let (name, end) = name_after(&after[1..]);
            match Part::named(schema, object, name) {
                Some(part) => {
                    if !text.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut text)));
                    }
                    parts.push(part);
                    rest = &after[1 + end..];
                }
                None => {
                    text.push('$');
                    rest = &after[1..];
                }
            }
        }
        if parts.is_empty() {
            return None;
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Some(Template { parts })
    }
}

/// Returns the name behind a `$`, and where it ends.
fn name_after(text: &str) -> (&str, usize) {
    if let Some(inner) = text.strip_prefix('{')
        && let Some(end) = inner.find('}')
    {
        return (&inner[..end], end + 2);
    }
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    (&text[..end], end)
}

impl Part {
    fn named(schema: &Schema, object: ObjectId, name: &str) -> Option<Part> {
        let of = &schema[object];
        let mut props = of.props.iter().copied();
        let found = props.find(|id| {
            let names = &schema[*id].name;
            let bare = |name| schema.prefixes.bare(name);
            names.graphql == name || bare(&names.written) == bare(name)
        });
        let found = found.or(of.name_property.filter(|_| name == "name"));
        let is_type = || {
            let local = of.type_prop.rsplit(['#', '/']).next();
            matches!(name, "typeProp" | "rdf:type") || local == Some(name)
        };
        match found {
            Some(property) => Some(Part::Value(property)),
            None => is_type().then_some(Part::Type),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Template};

    const SCHEMA: &str = "
id: /soml/test
objects:
  Human: {props: {name: {}, birth_year: {}}}
";

    fn parts(pattern: &str) -> Option<Vec<String>> {
        let schema = soml_core::load(SCHEMA).schema.expect("the schema is valid");
        let (human, _) = schema.objects().next().expect("there is an object");
        let shown = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(id) => format!("<{}>", schema[*id].name.graphql),
            Part::Type => "<type>".to_owned(),
        };
        let template = Template::parse(&schema, human, pattern)?;
        Some(template.parts.iter().map(shown).collect())
    }

    #[test]
    fn names_of_properties_make_a_template() {
        let of = |pattern| parts(pattern).map(|parts| parts.concat());
        assert_eq!(of("human/$name"), Some("human/<voc_name>".to_owned()));
        assert_eq!(
            of("${name}-${birth_year}.x"),
            Some("<voc_name>-<birth_year>.x".to_owned())
        );
        assert_eq!(of("$type/$name"), Some("<type>/<voc_name>".to_owned()));
        assert_eq!(of("cost$5/$name"), Some("cost$5/<voc_name>".to_owned()));
    }

    #[test]
    fn everything_else_is_a_regular_expression() {
        for pattern in ["^human/[0-9]+$", "a$|b", "${unknown}", "$", "human/\\d+"] {
            assert_eq!(parts(pattern), None, "{pattern}");
        }
    }
}
