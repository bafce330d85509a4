//! The document with its sections and keys recognised, nothing resolved yet.
//!
//! Every value keeps its place. Forms of values are checked here; what names refer to is not.

mod config;
mod fields;
mod read;
mod suggest;
mod value;

pub(crate) use read::read;
pub(crate) use suggest::did_you_mean;

use crate::config::Config;
use crate::lang::{LangSpec, LangValidation};
use crate::span::Span;

/// A value and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// A text and where it stands.
pub(crate) type Text<'d> = Spanned<&'d str>;

/// A named entry of a section.
#[derive(Clone, Debug)]
pub(crate) struct Named<'d, T> {
    pub(crate) name: Text<'d>,
    pub(crate) body: T,
}

#[derive(Debug, Default)]
pub(crate) struct RawSchema<'d> {
    pub(crate) id: Option<Text<'d>>,
    /// Made from the text, for documents without `id`.
    pub(crate) fallback_id: String,
    pub(crate) label: Option<Text<'d>>,
    pub(crate) creator: Option<Text<'d>>,
    pub(crate) created: Option<Text<'d>>,
    pub(crate) updated: Option<Text<'d>>,
    pub(crate) version_info: Option<Text<'d>>,
    pub(crate) config: Config,
    pub(crate) config_search: RawSearch<'d>,
    pub(crate) special: RawSpecialPrefixes<'d>,
    pub(crate) prefixes: Vec<(Text<'d>, Text<'d>)>,
    pub(crate) types: Vec<Named<'d, RawType<'d>>>,
    pub(crate) properties: Vec<Named<'d, RawProperty<'d>>>,
    pub(crate) objects: Vec<Named<'d, RawObject<'d>>>,
    pub(crate) roles: Vec<Named<'d, RawRole<'d>>>,
}

#[derive(Debug, Default)]
pub(crate) struct RawSpecialPrefixes<'d> {
    pub(crate) base_iri: Option<Text<'d>>,
    pub(crate) vocab_iri: Option<Text<'d>>,
    pub(crate) vocab_prefix: Option<Text<'d>>,
    pub(crate) ontology_iri: Option<Text<'d>>,
    pub(crate) shape_iri: Option<Text<'d>>,
}

#[derive(Debug, Default)]
pub(crate) struct RawType<'d> {
    pub(crate) label: Option<Text<'d>>,
    pub(crate) descr: Option<Text<'d>>,
    pub(crate) values: Option<Spanned<Vec<RawEnumValue<'d>>>>,
    pub(crate) union: Option<Spanned<Vec<Text<'d>>>>,
}

#[derive(Debug)]
pub(crate) struct RawEnumValue<'d> {
    pub(crate) name: Text<'d>,
    pub(crate) label: Option<Text<'d>>,
    pub(crate) descr: Option<Text<'d>>,
}

#[derive(Debug, Default)]
pub(crate) struct RawObject<'d> {
    pub(crate) label: Option<Text<'d>>,
    pub(crate) descr: Option<Text<'d>>,
    pub(crate) kind: Option<Text<'d>>,
    pub(crate) inherits: Option<Text<'d>>,
    pub(crate) name: Option<Text<'d>>,
    pub(crate) props: Vec<Named<'d, RawProperty<'d>>>,
    pub(crate) types: Option<Spanned<Vec<Text<'d>>>>,
    pub(crate) type_prop: Option<Text<'d>>,
    pub(crate) regex: Option<Text<'d>>,
    pub(crate) prefix: Option<Text<'d>>,
    pub(crate) pattern: Option<Text<'d>>,
    pub(crate) extend: Option<Spanned<bool>>,
    pub(crate) search: RawSearch<'d>,
    pub(crate) sparql_federated_service: Option<Text<'d>>,
    pub(crate) meta: Option<Text<'d>>,
}

#[derive(Debug, Default)]
pub(crate) struct RawRole<'d> {
    pub(crate) description: Option<Text<'d>>,
    pub(crate) actions: Vec<Text<'d>>,
    pub(crate) not_actions: Vec<Text<'d>>,
    pub(crate) filters: crate::value::Value,
    pub(crate) presets: crate::value::Value,
}

/// Values of `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawMax {
    Count(u32),
    Unbounded,
}

macro_rules! merged {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty,)* } $(inner { $inner:ident: $inner_type:ty })?) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name<'d> {
            $(pub(crate) $field: Option<$type>,)*
            $(pub(crate) $inner: $inner_type,)?
        }

        impl $name<'_> {
            /// Takes over every key that `nearer` gives.
            pub(crate) fn merge(&mut self, nearer: &Self) {
                $(if nearer.$field.is_some() {
                    self.$field.clone_from(&nearer.$field);
                })*
                $(self.$inner.merge(&nearer.$inner);)?
            }

            /// Returns whether no key is given.
            pub(crate) fn is_empty(&self) -> bool {
                $(self.$field.is_none())&&* $(&& self.$inner.is_empty())?
            }
        }
    };
}

merged! {
    /// The characteristics of a property as one entry gives them.
    RawProperty {
        label: Text<'d>,
        descr: Text<'d>,
        range: Text<'d>,
        range_check: Spanned<bool>,
        type_cast: Spanned<bool>,
        min: Spanned<u32>,
        max: Spanned<RawMax>,
        non_nullable: Spanned<bool>,
        non_nullable_elements: Spanned<bool>,
        inverse_alias: Text<'d>,
        // `inverseAlias: null`
        no_inverse_alias: Span,
        inverse_of: Text<'d>,
        rdf_prop: Text<'d>,
        symmetric: Spanned<bool>,
        regex: Text<'d>,
        prefix: Text<'d>,
        pattern: Text<'d>,
        kind: Text<'d>,
        fetch: Spanned<LangSpec>,
        validate: Spanned<LangValidation>,
        implicit: Text<'d>,
        values_in: Spanned<Vec<Text<'d>>>,
        immutable: Spanned<bool>,
        sparql_federated_service: Text<'d>,
        meta: Text<'d>,
    } inner { search: RawSearch<'d> }
}

impl RawProperty<'_> {
    /// Lays a nearer entry over this one, key by key; the nearer of `rdfProp` and `inverseAlias` says
    /// how values are reached.
    pub(crate) fn lay_over(&mut self, nearer: &Self) {
        self.merge(nearer);
        if nearer.inverse_alias.is_some() {
            self.no_inverse_alias = None;
        } else if nearer.rdf_prop.is_some() || nearer.no_inverse_alias.is_some() {
            self.inverse_alias = None;
        }
    }
}

merged! {
    /// Search settings as one `search` gives them.
    RawSearch {
        index: Spanned<bool>,
        nested: Spanned<bool>,
        analyzer: Text<'d>,
        lang_analyzers: Spanned<Vec<(Text<'d>, Text<'d>)>>,
        field_type: Text<'d>,
        nesting_level: Spanned<u32>,
    }
}
