//! Changes of settings and namespaces.

use soml_core::lang::{LangSpec, LangValidation};

use super::causes::{Causes, Draft, Key, Spans};
use super::change::Consequence;
use super::code::ChangeCode as Code;
use super::detail::{Difference, list, quoted, search};
use super::side::Sides;
use crate::typesystem::{Api, FederationMode, Setting};

/// A setting and its value as words.
struct Row {
    path: &'static str,
    code: Code,
    value: fn(&Api) -> String,
}

/// A setting that no part of the API stems from.
pub(super) const SEARCH: &str = "config.search";

impl Row {
    /// A setting that parts of the API stem from.
    const fn of(setting: Setting, value: fn(&Api) -> String) -> Self {
        Row::other(setting.path(), code(setting), value)
    }

    /// Any other setting.
    const fn other(path: &'static str, code: Code, value: fn(&Api) -> String) -> Self {
        Row { path, code, value }
    }
}

/// Returns the code of a change of a setting.
const fn code(setting: Setting) -> Code {
    match setting {
        Setting::NameLanguage => Code::SettingChanged,
        _ => Code::ApiSettingChanged,
    }
}

/// Returns the change of a setting.
pub(super) fn key<'a>(setting: Setting) -> Key<'a> {
    Key::new(code(setting), setting.path())
}

const ROWS: &[Row] = &[
    Row::of(Setting::Mutations, |api| {
        flag(api.options().mutations && api.soml().config.enable_mutations)
    }),
    Row::of(Setting::QueryPrefix, |api| {
        text(&api.soml().config.query_pfx)
    }),
    Row::of(Setting::MutationPrefix, |api| {
        text(&api.soml().config.mutation_pfx)
    }),
    Row::of(Setting::CollectionCount, |api| {
        flag(api.options().counts && api.soml().config.enable_collection_count)
    }),
    Row::of(Setting::TypeCount, |api| {
        flag(api.options().counts && api.soml().config.enable_type_count)
    }),
    Row::of(Setting::Aggregates, |api| {
        flag(api.options().aggregates && api.soml().config.enable_aggregates)
    }),
    Row::of(Setting::Connections, |api| {
        flag(api.options().connections && api.soml().config.enable_connections)
    }),
    Row::of(Setting::ExposeSoml, |api| {
        flag(api.soml().config.expose_soml_in_graphql)
    }),
    Row::of(Setting::Federation, |api| {
        match api.options().federation {
            FederationMode::Off => "nothing",
            FederationMode::V1 => "version 1",
            FederationMode::V2 => "version 2",
        }
        .to_owned()
    }),
    Row::of(Setting::Service, |api| flag(api.options().service)),
    Row::other("config.lang.fetch", Code::SettingChanged, |api| {
        quoted::<&LangSpec>(api.soml().config.lang.fetch.as_ref())
    }),
    Row::other("config.lang.validate", Code::SettingChanged, |api| {
        quoted::<&LangValidation>(api.soml().config.lang.validate.as_ref())
    }),
    Row::other("config.lang.implicit", Code::SettingChanged, |api| {
        quoted(api.soml().config.lang.implicit.as_ref())
    }),
    Row::of(Setting::NameLanguage, |api| {
        quoted(Some(&api.soml().config.lang.default_name_fetch))
    }),
    Row::other(
        "config.lang.appendDefaultNameFetch",
        Code::SettingChanged,
        |api| flag(api.soml().config.lang.append_default_name_fetch),
    ),
    Row::other("config.nullJsonArrays", Code::SettingChanged, |api| {
        flag(api.soml().config.null_json_arrays.unwrap_or(false))
    }),
    Row::other("config.repository", Code::SettingChanged, |api| {
        quoted(api.soml().config.repository.as_ref())
    }),
    Row::other("config.includeInferred", Code::SettingChanged, |api| {
        flag(api.soml().config.include_inferred)
    }),
    Row::other("config.expandOwlSameAs", Code::SettingChanged, |api| {
        flag(api.soml().config.expand_owl_same_as)
    }),
    Row::other("config.disabledChecks", Code::SettingChanged, |api| {
        list(&api.soml().config.disabled_checks)
    }),
    Row::other("config.defaultRole", Code::SettingChanged, |api| {
        quoted(Some(&api.soml().config.default_role))
    }),
    Row::other(
        "config.defaultIntegrationRole",
        Code::SettingChanged,
        |api| quoted(Some(&api.soml().config.default_integration_role)),
    ),
    Row::other("config.compactErrorMessages", Code::SettingChanged, |api| {
        flag(api.soml().config.compact_error_messages)
    }),
    Row::other("config.enableGraphQlExplain", Code::SettingChanged, |api| {
        flag(api.soml().config.enable_graphql_explain)
    }),
    Row::other(SEARCH, Code::SettingChanged, |api| {
        search(api.soml().config.search.as_ref())
    }),
    Row::other("specialPrefixes.base_iri", Code::PrefixChanged, |api| {
        quoted(Some(&api.soml().prefixes.base_iri))
    }),
];

fn flag(value: bool) -> String {
    format!("`{value}`")
}

fn text(value: &str) -> String {
    quoted((!value.is_empty()).then_some(value))
}

/// Adds the settings that changed. The schema does not keep their coordinates.
pub(super) fn add(sides: &Sides<'_>, causes: &mut Causes<'_>) {
    for &Row { path, code, value } in ROWS {
        let (was, is) = (value(sides.old.api), value(sides.new.api));
        let Some(difference) = Difference::new(code, "", was, is) else {
            continue;
        };
        let draft = Draft {
            code,
            coordinate: path.to_owned(),
            head: format!("`{path}`"),
            tail: difference.tail(),
            spans: Spans::default(),
        };
        causes.add(Key::new(code, path), draft);
    }
}

/// Prefixes that stand for another namespace.
pub(super) struct Namespaces<'a> {
    changed: Vec<Namespace<'a>>,
    vocabulary: &'a str,
}

/// A prefix, and what it stands for in each schema.
#[derive(Clone, Copy)]
struct Namespace<'a> {
    prefix: &'a str,
    was: &'a str,
    is: &'a str,
}

impl Namespace<'_> {
    /// Returns whether two IRIs differ by nothing else.
    fn explains(&self, old: &str, new: &str) -> bool {
        let local = (old.strip_prefix(self.was), new.strip_prefix(self.is));
        matches!(local, (Some(old), Some(new)) if old == new)
    }
}

const BASE: &str = "specialPrefixes.base_iri";

impl<'a> Namespaces<'a> {
    pub(super) fn new(sides: &Sides<'a>) -> Self {
        let (old, new) = (&sides.old.soml.prefixes, &sides.new.soml.prefixes);
        let mut changed = Vec::new();
        let mut add = |prefix: &'a str, was: &'a str, is: &'a str| {
            if was != is {
                changed.push(Namespace { prefix, was, is });
            }
        };
        add(BASE, &old.base_iri, &new.base_iri);
        for (prefix, was) in &old.bindings {
            if let Some(is) = new.namespace(prefix) {
                add(prefix, was, is);
            }
        }
        Namespaces {
            changed,
            vocabulary: &new.vocab_prefix,
        }
    }

    /// Puts the change of IRIs under that of a prefix, if each differs by nothing else.
    pub(super) fn attach<'t>(
        &self,
        causes: &mut Causes<'a>,
        old: impl IntoIterator<Item = &'t str>,
        new: impl IntoIterator<Item = &'t str>,
        consequence: impl FnOnce() -> Consequence,
    ) -> bool {
        let (old, new): (Vec<_>, Vec<_>) = (old.into_iter().collect(), new.into_iter().collect());
        if old.len() != new.len() {
            return false;
        }
        let mut changed = old.iter().zip(&new).filter(|(old, new)| old != new);
        let Some((first_old, first_new)) = changed.next() else {
            return false;
        };
        let mut prefixes = self.changed.iter();
        let Some(first) = prefixes.find(|p| p.explains(first_old, first_new)) else {
            return false;
        };
        if !changed.all(|(old, new)| self.changed.iter().any(|p| p.explains(old, new))) {
            return false;
        }
        self.cause(causes, *first);
        causes.attach(Key::new(Code::PrefixChanged, first.prefix), consequence())
    }

    fn cause(&self, causes: &mut Causes<'a>, namespace: Namespace<'a>) {
        let Namespace { prefix, was, is } = namespace;
        let key = Key::new(Code::PrefixChanged, prefix);
        if causes.has(key) {
            return;
        }
        let draft = Draft {
            code: Code::PrefixChanged,
            coordinate: if prefix == self.vocabulary {
                "specialPrefixes.vocab_iri".to_owned()
            } else {
                format!("prefixes.{prefix}")
            },
            head: format!("prefix `{prefix}`"),
            tail: format!(" was `{was}` and is `{is}`"),
            spans: Spans::default(),
        };
        causes.add(key, draft);
    }
}
