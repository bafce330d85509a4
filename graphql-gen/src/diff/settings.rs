//! Changes of settings and namespaces.

use soml_core::lang::{LangSpec, LangValidation};

use super::causes::{Causes, Draft, Spans};
use super::change::Consequence;
use super::code::ChangeCode as Code;
use super::detail::{Difference, list, quoted, search};
use super::side::Sides;
use crate::typesystem::{Api, FederationMode};

/// A setting: its path in the document, what its change is, and its value as words.
type Setting = (&'static str, Code, fn(&Api) -> String);

/// Paths that differences of the API are put under.
pub(super) const MUTATIONS: &str = "config.enable_mutations";
pub(super) const QUERY_PREFIX: &str = "config.queryPfx";
pub(super) const MUTATION_PREFIX: &str = "config.mutationPfx";
pub(super) const COLLECTION_COUNT: &str = "config.enableCollectionCount";
pub(super) const TYPE_COUNT: &str = "config.enableTypeCount";
pub(super) const AGGREGATES: &str = "config.enableAggregates";
pub(super) const CONNECTIONS: &str = "config.enableConnections";
pub(super) const EXPOSE_SOML: &str = "config.exposeSomlInGraphQL";
pub(super) const NAME_LANGUAGE: &str = "config.lang.defaultNameFetch";
pub(super) const SEARCH: &str = "config.search";
/// Not in the document: the option of the generator.
pub(super) const FEDERATION: &str = "options.federation";
pub(super) const SERVICE: &str = "options.service";

const SETTINGS: &[Setting] = &[
    (MUTATIONS, Code::ApiSettingChanged, |api| {
        flag(api.options().mutations && api.soml().config.enable_mutations)
    }),
    (QUERY_PREFIX, Code::ApiSettingChanged, |api| {
        text(&api.soml().config.query_pfx)
    }),
    (MUTATION_PREFIX, Code::ApiSettingChanged, |api| {
        text(&api.soml().config.mutation_pfx)
    }),
    (COLLECTION_COUNT, Code::ApiSettingChanged, |api| {
        flag(api.options().counts && api.soml().config.enable_collection_count)
    }),
    (TYPE_COUNT, Code::ApiSettingChanged, |api| {
        flag(api.options().counts && api.soml().config.enable_type_count)
    }),
    (AGGREGATES, Code::ApiSettingChanged, |api| {
        flag(api.options().aggregates && api.soml().config.enable_aggregates)
    }),
    (CONNECTIONS, Code::ApiSettingChanged, |api| {
        flag(api.options().connections && api.soml().config.enable_connections)
    }),
    (EXPOSE_SOML, Code::ApiSettingChanged, |api| {
        flag(api.soml().config.expose_soml_in_graphql)
    }),
    (FEDERATION, Code::ApiSettingChanged, |api| {
        match api.options().federation {
            FederationMode::Off => "nothing",
            FederationMode::V1 => "version 1",
            FederationMode::V2 => "version 2",
        }
        .to_owned()
    }),
    (SERVICE, Code::ApiSettingChanged, |api| {
        flag(api.options().service)
    }),
    ("config.lang.fetch", Code::SettingChanged, |api| {
        quoted::<&LangSpec>(api.soml().config.lang.fetch.as_ref())
    }),
    ("config.lang.validate", Code::SettingChanged, |api| {
        quoted::<&LangValidation>(api.soml().config.lang.validate.as_ref())
    }),
    ("config.lang.implicit", Code::SettingChanged, |api| {
        quoted(api.soml().config.lang.implicit.as_ref())
    }),
    (NAME_LANGUAGE, Code::SettingChanged, |api| {
        quoted(Some(&api.soml().config.lang.default_name_fetch))
    }),
    (
        "config.lang.appendDefaultNameFetch",
        Code::SettingChanged,
        |api| flag(api.soml().config.lang.append_default_name_fetch),
    ),
    ("config.nullJsonArrays", Code::SettingChanged, |api| {
        flag(api.soml().config.null_json_arrays)
    }),
    ("config.repository", Code::SettingChanged, |api| {
        quoted(api.soml().config.repository.as_ref())
    }),
    ("config.includeInferred", Code::SettingChanged, |api| {
        flag(api.soml().config.include_inferred)
    }),
    ("config.expandOwlSameAs", Code::SettingChanged, |api| {
        flag(api.soml().config.expand_owl_same_as)
    }),
    ("config.disabledChecks", Code::SettingChanged, |api| {
        list(&api.soml().config.disabled_checks)
    }),
    ("config.defaultRole", Code::SettingChanged, |api| {
        quoted(Some(&api.soml().config.default_role))
    }),
    (
        "config.defaultIntegrationRole",
        Code::SettingChanged,
        |api| quoted(Some(&api.soml().config.default_integration_role)),
    ),
    ("config.compactErrorMessages", Code::SettingChanged, |api| {
        flag(api.soml().config.compact_error_messages)
    }),
    ("config.enableGraphQlExplain", Code::SettingChanged, |api| {
        flag(api.soml().config.enable_graphql_explain)
    }),
    (SEARCH, Code::SettingChanged, |api| {
        search(api.soml().config.search.as_ref())
    }),
    ("specialPrefixes.base_iri", Code::PrefixChanged, |api| {
        quoted(Some(&api.soml().prefixes.base_iri))
    }),
];

fn flag(value: bool) -> String {
    format!("`{value}`")
}

fn text(value: &str) -> String {
    quoted((!value.is_empty()).then_some(value))
}

/// Adds the settings that changed. The schema does not keep their places.
pub(super) fn add(sides: &Sides<'_>, causes: &mut Causes<'_>) {
    for &(path, code, value) in SETTINGS {
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
        causes.add((code, path, ""), draft);
    }
}

/// Prefixes that stand for another namespace.
pub(super) struct Namespaces<'a> {
    changed: Vec<(&'a str, &'a str, &'a str)>,
    vocabulary: &'a str,
}

const BASE: &str = "specialPrefixes.base_iri";

impl<'a> Namespaces<'a> {
    pub(super) fn new(sides: &Sides<'a>) -> Self {
        let (old, new) = (&sides.old.soml.prefixes, &sides.new.soml.prefixes);
        let mut changed = Vec::new();
        if old.base_iri != new.base_iri {
            changed.push((BASE, old.base_iri.as_str(), new.base_iri.as_str()));
        }
        for (prefix, was) in &old.bindings {
            match new.namespace(prefix) {
                Some(is) if is != was => changed.push((prefix.as_str(), was.as_str(), is)),
                _ => {}
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
        let Some(first) = changed.next() else {
            return false;
        };
        let explains = |&(_, was, is): &(&str, &str, &str), old: &str, new: &str| {
            let local = (old.strip_prefix(was), new.strip_prefix(is));
            matches!(local, (Some(old), Some(new)) if old == new)
        };
        let Some(prefix) = self.changed.iter().find(|p| explains(p, first.0, first.1)) else {
            return false;
        };
        let any = |old: &str, new: &str| self.changed.iter().any(|p| explains(p, old, new));
        if !changed.all(|(old, new)| any(old, new)) {
            return false;
        }
        self.cause(causes, *prefix);
        causes.attach((Code::PrefixChanged, prefix.0, ""), consequence())
    }

    fn cause(&self, causes: &mut Causes<'a>, (prefix, was, is): (&'a str, &'a str, &'a str)) {
        let key = (Code::PrefixChanged, prefix, "");
        if causes.has(key) {
            return;
        }
        let draft = Draft {
            code: Code::PrefixChanged,
            coordinate: match prefix == self.vocabulary {
                true => "specialPrefixes.vocab_iri".to_owned(),
                false => format!("prefixes.{prefix}"),
            },
            head: format!("prefix `{prefix}`"),
            tail: format!(" was `{was}` and is `{is}`"),
            spans: Spans::default(),
        };
        causes.add(key, draft);
    }
}
