//! The type of the selection set that each field of a document stands in.

use std::collections::HashMap;

use apollo_compiler::ast;
use soml_core::schema::Range;

use super::document::{Document, Selections};
use super::model::{FieldMeaning, Model, RootKind, Ty};

/// The names of types, by field.
pub(super) type Declared = HashMap<*const ast::Field, String>;

/// A type by its name, and the objects that it is about.
type Place = (String, Option<Ty>);

/// Returns the type that a document asks each of its fields of.
pub(super) fn declared(document: &Document<'_>, model: &Model<'_>) -> Declared {
    let mut fields = Declared::new();
    let selections = document.operation.selection_set.iter().collect();
    let query = ("Query".to_owned(), None);
    declare(document, model, &selections, &query, &mut fields);
    fields
}

fn declare<'d>(
    document: &Document<'d>,
    model: &Model<'_>,
    selections: &Selections<'d>,
    place: &Place,
    fields: &mut Declared,
) {
    for selection in selections {
        let (inner, place) = match selection {
            ast::Selection::Field(field) => {
                fields.insert(std::ptr::from_ref(&**field), place.0.clone());
                (&field.selection_set, below(model, place, &field.name))
            }
            ast::Selection::InlineFragment(inline) => {
                let on = inline.type_condition.as_ref();
                let place = on.map_or_else(|| place.clone(), |on| narrowed(model, on));
                (&inline.selection_set, place)
            }
            ast::Selection::FragmentSpread(spread) => {
                let fragment = document.fragment(&spread.fragment_name);
                let place = narrowed(model, &fragment.type_condition);
                (&fragment.selection_set, place)
            }
        };
        let inner: Selections<'d> = inner.iter().collect();
        declare(document, model, &inner, &place, fields);
    }
}

fn narrowed(model: &Model<'_>, name: &str) -> Place {
    (name.to_owned(), model.type_named(name))
}

/// The type of what a field returns.
fn below(model: &Model<'_>, (name, ty): &Place, field: &str) -> Place {
    let of = |ty: Ty, suffix: &str| (format!("{}{suffix}", model.type_name(ty)), Some(ty));
    let root = (name == "Query").then(|| model.root(field)).flatten();
    if let Some((ty, kind)) = root {
        return match kind {
            RootKind::Objects | RootKind::Count => of(ty, ""),
            RootKind::Connection => of(ty, "Connection"),
            RootKind::Aggregate => of(ty, "_Aggregate"),
        };
    }
    let nothing = |name: &str| (name.to_owned(), None);
    let Some(ty) = *ty else {
        return nothing("_Entity");
    };
    let suffix = name.strip_prefix(&model.type_name(ty));
    match (suffix.expect("names begin so"), field) {
        ("Connection", "nodes") | ("Edge", "node") => of(ty, ""),
        ("Connection", "edges") => of(ty, "Edge"),
        ("Connection", "pageInfo") => nothing("PageInfo"),
        ("_Aggregate", "groups") => of(ty, "_Group"),
        ("", field) => match model.field(ty, field) {
            Some(FieldMeaning::Property(id)) => match model.schema[id].range {
                Range::Object(object) => of(model.range(object), ""),
                _ => nothing("Literal"),
            },
            _ => nothing("Literal"),
        },
        _ => nothing("Literal"),
    }
}
