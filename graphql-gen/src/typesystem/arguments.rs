//! What arguments say about themselves.
//!
//! Clients of the original product know a schema in which few arguments are described. Arguments
//! that it has say what they say there, unless [`ApiOptions::argument_descriptions`] is on; those of
//! counts, connections, aggregates and federation, which it does not have, are always described.
//!
//! [`ApiOptions::argument_descriptions`]: super::ApiOptions::argument_descriptions

use apollo_compiler::{Name, name};
use soml_core::datatype::Scalar;

use super::nodes::{Argument, input, list_of_required, named, text};

/// The description of each argument that has none of its own.
const TEXTS: [(&str, &str); 8] = [
    ("ID", "Only objects with one of these IRIs"),
    (
        "from",
        "Named graphs to read; without it, the union of all graphs",
    ),
    (
        "lang",
        "Languages of strings, best first, such as `en~,de,NONE`",
    ),
    ("limit", "Maximum length of the list"),
    (
        "offset",
        "Number of entries at the start of the list to skip",
    ),
    (
        "orderBy",
        "Order of the list; a page without it is ordered by IRI or value",
    ),
    ("value", "Conditions on the lexical value"),
    ("where", "Only what satisfies these conditions"),
];

/// Arguments that are the same wherever they stand.
pub(super) struct Arguments {
    pub(super) ids: Argument,
    pub(super) lang: Argument,
    pub(super) limit: Argument,
    pub(super) offset: Argument,
    pub(super) scalar_order: Argument,
    /// Describes all arguments, and not only those of fields that the original does not have.
    describe: bool,
}

impl Arguments {
    pub(super) fn new(describe: bool) -> Self {
        let id = Scalar::Iri.graphql_name();
        let shown = |argument| {
            if describe {
                described(&argument)
            } else {
                argument
            }
        };
        Arguments {
            ids: shown(input(
                &name!("ID"),
                None,
                list_of_required(&Name::new_static_unchecked(id)),
            )),
            lang: shown(input(&name!("lang"), None, named(&name!("String")))),
            limit: shown(input(
                &name!("limit"),
                None,
                named(&name!("PositiveInteger")),
            )),
            offset: shown(input(
                &name!("offset"),
                None,
                named(&name!("NonNegativeInteger")),
            )),
            scalar_order: shown(input(&name!("orderBy"), None, named(&name!("_OrderBy")))),
            describe,
        }
    }

    /// Returns an argument of a field that the original has, described if all are.
    pub(super) fn shown(&self, argument: Argument) -> Argument {
        if self.describe {
            described(&argument)
        } else {
            argument
        }
    }
}

/// Returns an argument with a description: its own, or else the usual one of its name.
pub(super) fn described(argument: &Argument) -> Argument {
    let usual = TEXTS.iter().find(|(name, _)| argument.name == *name);
    match usual {
        Some((_, usual)) if argument.description.is_none() => {
            let mut described = argument.clone();
            described.make_mut().description = text(usual);
            described
        }
        _ => argument.clone(),
    }
}
