//! Sample searches for a schema, shown in GraphiQL.

use search_index::mapping::{IndexDefinition, Leaf, ScalarIndex};
use search_index::sdl::SearchApi;
use service_runtime::Example;

/// Values that a search shows of each object.
const FIELDS: usize = 4;

/// Returns sample searches for the features that the indexes of an API have; there is at least one.
///
/// They are about the object with the most properties.
pub(super) fn example_queries(api: &SearchApi) -> Vec<Example> {
    let indexes = api.indexes().indexes.iter().enumerate();
    let main = indexes.max_by_key(|(_, index)| index.fields.fields.len());
    let Some(subject) = main.and_then(|(at, index)| Subject::new(api, at, index)) else {
        return Vec::new();
    };
    let first = [Some(subject.first()), subject.misspelt(), subject.facets()];
    first.into_iter().flatten().collect()
}

/// What searches are about.
struct Subject<'a> {
    index: &'a IndexDefinition,
    root: &'a str,
    object: &'a str,
    /// Objects of hits are references.
    is_reference: bool,
}

impl<'a> Subject<'a> {
    fn new(api: &'a SearchApi, at: usize, index: &'a IndexDefinition) -> Option<Self> {
        let (root, object) = api.field_names(at)?;
        Some(Subject {
            index,
            root,
            object,
            is_reference: api.is_subgraph(),
        })
    }

    fn leaves(&self) -> impl Iterator<Item = (&'a str, &'a Leaf)> + use<'a> {
        let fields = self.index.fields.fields.iter();
        fields.filter_map(|(name, field)| Some((name.as_str(), field.leaf()?)))
    }

    /// The fields that a search shows, each on a line.
    fn lines(&self) -> String {
        let shown = self.leaves().take(FIELDS).map(|(name, leaf)| match leaf {
            Leaf::Language { .. } => format!("        {name} {{ value lang }}\n"),
            Leaf::Scalar { .. } => format!("        {name}\n"),
        });
        let shown: String = if self.is_reference {
            String::new()
        } else {
            shown.collect()
        };
        format!("        id\n{shown}")
    }

    fn hits(&self) -> String {
        let (object, lines) = (self.object, self.lines());
        format!(
            "    total {{ value }}\n    hits {{\n      score\n      {object} {{\n{lines}      }}\n    }}\n"
        )
    }

    fn first(&self) -> Example {
        let (root, hits) = (self.root, self.hits());
        Example {
            title: "First hits",
            query: format!("{{\n  {root}(size: 5) {{\n{hits}  }}\n}}\n"),
        }
    }

    /// A text with a typing error.
    fn misspelt(&self) -> Option<Example> {
        let (name, _) = self.leaves().find(|(_, leaf)| leaf.is_text())?;
        let (root, hits) = (self.root, self.hits());
        let query = format!(
            "# Write a word in place of `text`; it may have up to two typing errors.\n\
             {{\n  {root}(query: {{match: {{{name}: {{query: \"text\", fuzziness: \"AUTO\"}}}}}}) \
             {{\n{hits}  }}\n}}\n"
        );
        Some(Example {
            title: "Text with typing errors",
            query,
        })
    }

    /// How often each value of a property occurs.
    fn facets(&self) -> Option<Example> {
        let is_facet = |leaf: &Leaf| {
            let whole = Leaf::Scalar {
                index: ScalarIndex::Keyword,
                analyzer: None,
            };
            *leaf == whole || leaf.is_text()
        };
        let facets = self.leaves().filter(|(_, leaf)| is_facet(leaf));
        let (name, _) = facets.last()?;
        let root = self.root;
        let query = format!(
            "{{\n  {root}(size: 0, aggregations: [{{name: \"{name}\", terms: {{field: {name}}}}}]) \
             {{\n    total {{ value }}\n    aggregations {{\n      name\n      buckets {{ key \
             doc_count }}\n    }}\n  }}\n}}\n"
        );
        Some(Example {
            title: "Number of objects by value",
            query,
        })
    }
}
