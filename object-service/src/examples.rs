//! Sample queries for a schema, shown in GraphiQL.

use graphql_gen::typesystem::{Api, Field, RootKind, TypeRef, Verb};
use service_runtime::Example;
use soml_core::datatype::Scalar;
use soml_core::schema::{ObjectId, ObjectKind, Property, Range};

/// Values that a query shows of each object.
const FIELDS: usize = 4;
/// Objects that a query asks for.
const OBJECTS: usize = 10;
/// Objects that a query asks for below each of those.
const LINKED: usize = 3;

/// Returns sample queries for the features that the API of a schema has; there is at least one.
///
/// They are about the concrete type with the most properties: objects with many properties say more
/// about the data than lookup tables do.
#[must_use]
pub fn example_queries(api: &Api) -> Vec<Example> {
    let all = Subject::of_all(api);
    let main = Subject::with_most_properties(api);
    let of_main = main.iter().flat_map(|main| {
        let common = [
            Some(main.first_objects()),
            main.filtered(),
            main.linked(),
            main.languages(),
        ];
        let beside = [main.count(), main.pages(), main.groups()];
        common.into_iter().chain(beside).flatten()
    });
    let of_all = [all.objects_of_every_type()];
    of_main.chain(of_all).chain(creation(api)).collect()
}

/// What queries are about: a root field, and the objects that it lists.
struct Subject<'a> {
    api: &'a Api,
    root: &'a str,
    target: TypeRef,
}

impl<'a> Subject<'a> {
    fn roots(api: &'a Api) -> impl Iterator<Item = (&'a str, TypeRef, RootKind)> {
        let query = api.schema().schema_definition.query.as_ref();
        let ty = query.and_then(|name| api.schema().get_object(name.as_str()));
        let fields = ty.into_iter().flat_map(|ty| ty.fields.keys());
        fields.filter_map(|name| {
            let root = api.root_field(name)?;
            Some((name.as_str(), root.target, root.kind))
        })
    }

    fn of_all(api: &'a Api) -> Self {
        let mut roots = Self::roots(api);
        let root = roots.find(|(_, target, _)| *target == TypeRef::AnyObject);
        Subject {
            api,
            root: root.map_or("object", |(name, ..)| name),
            target: TypeRef::AnyObject,
        }
    }

    fn with_most_properties(api: &'a Api) -> Option<Self> {
        let soml = api.soml();
        let lists = Self::roots(api).filter(|(.., kind)| *kind == RootKind::Objects);
        let concrete = lists.filter_map(|(root, target, _)| {
            let object = target.object()?;
            (soml[object].kind == ObjectKind::Concrete).then_some((root, target, object))
        });
        let most = concrete.max_by_key(|(.., object)| soml[*object].props.len());
        most.map(|(root, target, _)| Subject { api, root, target })
    }

    /// Finds the root field of another kind for the same objects.
    fn beside(&self, kind: RootKind) -> Option<&'a str> {
        let mut roots = Self::roots(self.api);
        let found = roots.find(|(_, target, other)| (*target, *other) == (self.target, kind));
        found.map(|(name, ..)| name)
    }

    fn first_objects(&self) -> Example {
        let (root, fields) = (self.root, self.lines(4));
        Example {
            title: "First objects",
            query: format!("{{\n  {root}(limit: {OBJECTS}) {{\n{fields}  }}\n}}\n"),
        }
    }

    /// A filter and an order by the first number or date, or else by the first single value.
    fn filtered(&self) -> Option<Example> {
        let object = self.target.object()?;
        let mut single = leaves(self.api, object).filter(|property| !property.max.is_multiple());
        let first = single.next()?;
        let measured = std::iter::once(first).chain(single).find(|p| is_measure(p));
        let key = measured.unwrap_or(first);
        let (root, key, fields) = (self.root, &key.name.graphql, self.lines(4));
        let query = format!(
            "# `{{}}` asks for a value. Others are EQ, IN, GT, RE (regular expression) and more:\n\
             # Ctrl-Space inside of the braces lists them.\n\
             {{\n  {root}(\n    where: {{{key}: {{}}}}\n    orderBy: {{{key}: DESC}}\n    \
             limit: {OBJECTS}\n  ) {{\n{fields}  }}\n}}\n"
        );
        Some(Example {
            title: "Filter and order",
            query,
        })
    }

    /// Objects with those that a property leads to.
    fn linked(&self) -> Option<Example> {
        let (api, object) = (self.api, self.target.object()?);
        let links = api.soml()[object].props.iter().filter_map(|&id| {
            let property = &api.soml()[id];
            match property.range {
                Range::Object(range) if has_field(api, object, property) => Some((property, range)),
                _ => None,
            }
        });
        // Types with values of their own show more than bare links.
        let (property, range) = links.max_by_key(|(_, range)| leaves(api, *range).count())?;
        let inner = Subject {
            target: api.range_type(range),
            ..*self
        };
        let (root, field) = (self.root, &property.name.graphql);
        let limit = if property.max.is_multiple() {
            format!("(limit: {LINKED})")
        } else {
            String::new()
        };
        let (name, lines) = (self.name(4), inner.lines(6));
        let query = format!(
            "{{\n  {root}(limit: {OBJECTS}) {{\n    id\n{name}    {field}{limit} {{\n{lines}    \
             }}\n  }}\n}}\n"
        );
        Some(Example {
            title: "Linked objects",
            query,
        })
    }

    /// All languages of the first property that has some.
    fn languages(&self) -> Option<Example> {
        let (api, object) = (self.api, self.target.object()?);
        let mut properties = api.soml()[object].props.iter().map(|&id| &api.soml()[id]);
        let tagged = properties.find(|property| {
            matches!(property.range, Range::Literal(_)) && has_field(api, object, property)
        })?;
        let (root, field) = (self.root, &tagged.name.graphql);
        let query = format!(
            "# For one language, with others in its place: (lang: \"en~,de~,ANY\")\n\
             {{\n  {root}(limit: {OBJECTS}) {{\n    id\n    {field}(lang: \"ALL\") {{\n      \
             value\n      lang\n    }}\n  }}\n}}\n"
        );
        Some(Example {
            title: "Languages",
            query,
        })
    }

    fn count(&self) -> Option<Example> {
        let count = self.beside(RootKind::Count)?;
        Some(Example {
            title: "Number of objects",
            query: format!("{{\n  {count}\n}}\n"),
        })
    }

    fn pages(&self) -> Option<Example> {
        let connection = self.beside(RootKind::Connection)?;
        let name = self.name(8);
        let query = format!(
            "# The next page: (first: {OBJECTS}, after: …) with the `endCursor` of this one.\n\
             {{\n  {connection}(first: {OBJECTS}) {{\n    totalCount\n    edges {{\n      \
             cursor\n      node {{\n        id\n{}      }}\n    }}\n    pageInfo {{\n      \
             hasNextPage\n      endCursor\n    }}\n  }}\n}}\n",
            name
        );
        Some(Example {
            title: "Pages with cursors",
            query,
        })
    }

    fn groups(&self) -> Option<Example> {
        let aggregate = self.beside(RootKind::Aggregate)?;
        let query = format!(
            "{{\n  {aggregate} {{\n    count\n    groups(by: [type]) {{\n      key {{\n        \
             type\n      }}\n      count\n    }}\n  }}\n}}\n"
        );
        Some(Example {
            title: "Counts and groups",
            query,
        })
    }

    fn objects_of_every_type(&self) -> Example {
        let root = self.root;
        Example {
            title: "Objects of every type",
            query: format!("{{\n  {root}(limit: {OBJECTS}) {{\n    id\n    __typename\n  }}\n}}\n"),
        }
    }

    /// Returns the line of field `name` if the objects have it.
    fn name(&self, indent: usize) -> String {
        let field = self.api.field(self.target, "name");
        if field == Some(Field::Name) {
            format!("{:indent$}name\n", "")
        } else {
            String::new()
        }
    }

    /// Returns the lines of `id`, `name` and a few values.
    fn lines(&self, indent: usize) -> String {
        let mut lines = format!("{:indent$}id\n{}", "", self.name(indent));
        let leaves = self.target.object();
        let leaves = leaves
            .into_iter()
            .flat_map(|id| leaves_beside_name(self.api, id));
        for property in leaves.take(FIELDS) {
            lines.push_str(&format!("{:indent$}{}\n", "", property.name.graphql));
        }
        lines
    }
}

/// Tries out how an object is created, of a type that needs nothing but plain values; writes nothing.
fn creation(api: &Api) -> Option<Example> {
    let mutation = api.schema().schema_definition.mutation.as_ref()?;
    let fields = api.schema().get_object(mutation.as_str())?.fields.keys();
    let creations = fields.filter_map(|name| {
        let meaning = api.mutation_field(name)?;
        let entry = (meaning.verb == Verb::Create).then(|| entry(api, meaning.object))??;
        Some((name, entry))
    });
    let (field, (_, entry)) = creations.max_by_key(|(_, (properties, _))| *properties)?;
    let query = format!(
        "# Checked and answered as if it had been written. Without `dryRun`, it is.\n\
         mutation {{\n  {field}(objects: [{{{entry}}}], dryRun: true) {{\n    affected_count {{\n      \
         count\n      kind\n    }}\n  }}\n}}\n"
    );
    Some(Example {
        title: "Create an object (dry run)",
        query,
    })
}

/// Returns the members of a new object as GraphQL, and how many properties its type has; `None` when it
/// needs more than plain values.
fn entry(api: &Api, object: ObjectId) -> Option<(usize, String)> {
    let soml = api.soml();
    let of = &soml[object];
    if of.id_regex.is_some() || of.id_pattern.is_some() {
        return None;
    }
    let properties = || of.props.iter().map(|&id| &soml[id]);
    let mut shown: Vec<&Property> = properties().filter(|p| p.min > 0).collect();
    if shown.is_empty() {
        shown.extend(properties().find(|property| sample(property).is_some()));
    }
    let members: Option<Vec<String>> = shown
        .into_iter()
        .map(|property| Some(format!("{}: {}", property.name.graphql, sample(property)?)))
        .collect();
    Some((of.props.len(), members?.join(", ")))
}

/// Returns a value that a property may have, where any value of its datatype will do.
fn sample(property: &Property) -> Option<String> {
    let is_free = property.values_in.is_empty()
        && property.regex.is_none()
        && property.prefix.is_none()
        && property.pattern.is_none();
    let value = match property.range {
        Range::Scalar(Scalar::String) => "\"Example\"",
        Range::Scalar(Scalar::Boolean) => "true",
        Range::Scalar(
            Scalar::Int
            | Scalar::Long
            | Scalar::Short
            | Scalar::Byte
            | Scalar::Integer
            | Scalar::PositiveInteger
            | Scalar::NonNegativeInteger
            | Scalar::Decimal
            | Scalar::Double,
        ) => "1",
        _ => return None,
    };
    let value = match (property.max.is_multiple(), property.min) {
        (false, _) => value.to_owned(),
        (true, 0 | 1) => format!("[{value}]"),
        // Several values must differ.
        (true, _) => return None,
    };
    is_free.then_some(value)
}

/// Returns the properties of an object with plain values that its type has fields for.
fn leaves(api: &Api, object: ObjectId) -> impl Iterator<Item = &Property> {
    let properties = api.soml()[object].props.iter().map(|&id| &api.soml()[id]);
    properties.filter(move |property| is_leaf(property) && has_field(api, object, property))
}

/// Returns the same without the one that `name` shows.
fn leaves_beside_name(api: &Api, object: ObjectId) -> impl Iterator<Item = &Property> {
    let named = api.soml()[object].name_property.map(|id| &api.soml()[id]);
    leaves(api, object).filter(move |property| !named.is_some_and(|n| std::ptr::eq(n, *property)))
}

fn is_leaf(property: &Property) -> bool {
    matches!(property.range, Range::Scalar(_) | Range::Enum(_))
}

fn is_measure(property: &Property) -> bool {
    match property.range {
        Range::Scalar(Scalar::String | Scalar::Iri | Scalar::Boolean) => false,
        Range::Scalar(_) => true,
        _ => false,
    }
}

fn has_field(api: &Api, object: ObjectId, property: &Property) -> bool {
    let field = api.field(TypeRef::Concrete(object), &property.name.graphql);
    matches!(field, Some(Field::Property(_)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use graphql_gen::typesystem::ApiOptions;

    use super::*;

    const EVERYTHING: &str = "
id: /soml/everything
config: {queryPfx: get_, enableTypeCount: true, enableConnections: true, enableAggregates: true}
types: {Genre: {values: [{name: NOVEL}]}}
objects:
  Work: {kind: abstract, name: title, props: {title: {}}}
  Book:
    inherits: Work
    props:
      note: {range: langString, max: inf}
      genre: {range: Genre}
      author: {range: Person, max: inf}
      publisher: {range: Person}
  Person: {props: {wrote: {range: Book, inverseAlias: author, max: inf}}}
";

    fn api(text: &str) -> Api {
        let soml = Arc::new(soml_core::load(text).schema.unwrap());
        Api::new(soml, &ApiOptions::default().with_mutations(true)).unwrap()
    }

    #[test]
    fn the_queries_are_valid_for_their_schema() {
        for text in [
            include_str!("../../servers/demo/star-wars/schema.yaml"),
            EVERYTHING,
            "id: /soml/a\nobjects:\n  Film: {type: \"http://e/F\", props: {title: {}}}\n",
            "id: /soml/a\nobjects:\n  Film: {kind: abstract, type: \"http://e/F\"}\n",
            "id: /soml/a\nobjects:\n  Film: {props: {sequel: {range: Film}}}\n",
        ] {
            let api = api(text);
            let mut titles = HashSet::new();
            for Example { title, query } in example_queries(&api) {
                assert!(titles.insert(title), "{title}");
                let checked = apollo_compiler::ExecutableDocument::parse_and_validate(
                    api.schema(),
                    query.as_str(),
                    "query.graphql",
                );
                assert!(checked.is_ok(), "{query}\n{}", checked.unwrap_err());
            }
            assert!(!titles.is_empty(), "{text}");
        }
    }

    #[test]
    fn each_feature_of_the_api_has_an_example_and_no_other() {
        let titles = |text| -> Vec<_> {
            let examples = example_queries(&api(text));
            examples.iter().map(|example| example.title).collect()
        };
        let all = [
            "First objects",
            "Filter and order",
            "Linked objects",
            "Languages",
            "Number of objects",
            "Pages with cursors",
            "Counts and groups",
            "Objects of every type",
            "Create an object (dry run)",
        ];
        assert_eq!(titles(EVERYTHING), all);
        let bare = "id: /soml/a\nobjects:\n  Film: {type: \"http://e/F\"}\n";
        assert_eq!(titles(bare), [all[0], all[7], all[8]]);
    }
}
