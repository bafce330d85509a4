//! The text form of a language specification.

use soml_core::lang::{LangHead, LangItem, LangRange, LangSpec};

/// Writes a specification as a client would in the argument `lang`.
pub(super) fn print(spec: &LangSpec) -> String {
    let items: Vec<String> = spec.items.iter().map(item).collect();
    let items = items.join(",");
    match (spec.head, items.is_empty()) {
        (LangHead::Preference, _) => items,
        (LangHead::All, true) => "ALL".to_owned(),
        (LangHead::All, false) => format!("ALL,{items}"),
        (LangHead::AllOf, _) => format!("ALL:{items}"),
    }
}

fn item(item: &LangItem) -> String {
    match item {
        LangItem::Include(range) => range_text(range),
        LangItem::Exclude(range) => format!("-{}", range_text(range)),
        LangItem::Any => "ANY".to_owned(),
        LangItem::Browser => "BROWSER".to_owned(),
    }
}

fn range_text(range: &LangRange) -> String {
    match range {
        LangRange::Tag(tag) => tag.clone(),
        LangRange::Dialects(tag) => format!("{tag}~"),
        LangRange::Untagged => "NONE".to_owned(),
    }
}
