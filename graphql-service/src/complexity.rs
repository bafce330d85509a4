//! How much a document asks for, counted before it is validated.

use std::collections::HashMap;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{Selection, SelectionSet};

use crate::code;
use crate::error::GraphqlError;
use crate::limits::{Limits, exceeded};

/// Counts of a selection set, with its fragments expanded.
#[derive(Clone, Copy, Default)]
struct Counts {
    depth: usize,
    fields: usize,
    aliases: usize,
}

impl Counts {
    fn beside(self, other: Counts) -> Counts {
        Counts {
            depth: self.depth.max(other.depth),
            fields: self.fields.saturating_add(other.fields),
            aliases: self.aliases.saturating_add(other.aliases),
        }
    }
}

/// Checks depth, fields and aliases: the deepest nesting of all operations and fragments, and the sums
/// over them, since validation looks at all of them. Returns the number of fields.
///
/// Each fragment is counted once however often it is used, so the cost is linear in the size of the
/// document.
///
/// # Errors
/// When a limit is exceeded. Fragments in cycles are left to validation.
pub fn check(document: &ExecutableDocument, limits: &Limits) -> Result<usize, GraphqlError> {
    let mut counter = Counter {
        document,
        fragments: HashMap::new(),
    };
    let mut total = Counts::default();
    for operation in document.operations.iter() {
        total = total.beside(counter.set(&operation.selection_set));
    }
    // Fragments that no operation uses are validated too.
    for name in document.fragments.keys() {
        if !counter.fragments.contains_key(name.as_str()) {
            total = total.beside(counter.fragment(name));
        }
    }
    let checks = [
        (
            total.depth,
            limits.depth,
            code::LIMIT_DEPTH,
            "the operation nests too deeply",
        ),
        (
            total.fields,
            limits.fields,
            code::LIMIT_FIELDS,
            "the document selects too many fields",
        ),
        (
            total.aliases,
            limits.aliases,
            code::LIMIT_ALIASES,
            "the document has too many aliases",
        ),
    ];
    for (count, limit, code, message) in checks {
        if count > limit {
            return Err(exceeded(code, message, limit));
        }
    }
    Ok(total.fields)
}

struct Counter<'a> {
    document: &'a ExecutableDocument,
    /// Counts of fragments; `None` while one is being counted.
    fragments: HashMap<&'a str, Option<Counts>>,
}

impl<'a> Counter<'a> {
    fn set(&mut self, set: &'a SelectionSet) -> Counts {
        let mut total = Counts::default();
        for selection in &set.selections {
            let counts = match selection {
                Selection::Field(field) => {
                    let inner = self.set(&field.selection_set);
                    Counts {
                        depth: inner.depth + 1,
                        fields: inner.fields.saturating_add(1),
                        aliases: inner
                            .aliases
                            .saturating_add(usize::from(field.alias.is_some())),
                    }
                }
                Selection::InlineFragment(inline) => self.set(&inline.selection_set),
                Selection::FragmentSpread(spread) => self.fragment(spread.fragment_name.as_str()),
            };
            total = total.beside(counts);
        }
        total
    }

    fn fragment(&mut self, name: &str) -> Counts {
        let Some((name, fragment)) = self.document.fragments.get_key_value(name) else {
            return Counts::default();
        };
        match self.fragments.get(name.as_str()) {
            Some(known) => known.unwrap_or_default(),
            None => {
                self.fragments.insert(name.as_str(), None);
                let counts = self.set(&fragment.selection_set);
                self.fragments.insert(name.as_str(), Some(counts));
                counts
            }
        }
    }
}
