//! Reads `config`, `lang` and `search`.

use std::str::FromStr;

use super::fields::Fields;
use super::{RawProperty, RawSchema, RawSearch, Spanned, Text, did_you_mean, value};
use crate::codes::Code;
use crate::config::Config;
use crate::diagnostic::{Findings, shorten};
use crate::keys;
use crate::lang::{self, LangConfig, LangHead, LangSpec, LangSpecError, LangValidation};
use crate::yaml::NodeRef;

pub(super) fn config<'d>(node: NodeRef<'d, '_>, raw: &mut RawSchema<'d>, findings: &mut Findings) {
    let mut fields = Fields::open(node, &keys::CONFIG, findings);
    let d = Config::default();
    let mut flag = |fields: &mut Fields<'_, '_>, name, default| {
        fields.boolean(name, findings).map_or(default, |b| b.value)
    };
    raw.config.enable_mutations = flag(&mut fields, "enable_mutations", d.enable_mutations);
    raw.config.include_inferred = flag(&mut fields, "includeInferred", d.include_inferred);
    raw.config.expand_owl_same_as = flag(&mut fields, "expandOwlSameAs", d.expand_owl_same_as);
    raw.config.expose_soml_in_graphql =
        flag(&mut fields, "exposeSomlInGraphQL", d.expose_soml_in_graphql);
    raw.config.enable_collection_count = flag(
        &mut fields,
        "enableCollectionCount",
        d.enable_collection_count,
    );
    raw.config.enable_type_count = flag(&mut fields, "enableTypeCount", d.enable_type_count);
    raw.config.enable_aggregates = flag(&mut fields, "enableAggregates", d.enable_aggregates);
    raw.config.enable_connections = flag(&mut fields, "enableConnections", d.enable_connections);
    raw.config.compact_error_messages = flag(
        &mut fields,
        "compactErrorMessages",
        d.compact_error_messages,
    );
    raw.config.enable_graphql_explain = flag(
        &mut fields,
        "enableGraphQlExplain",
        d.enable_graphql_explain,
    );
    raw.config.null_json_arrays = fields
        .boolean("nullJsonArrays", findings)
        .map(|written| written.value);
    raw.config.query_pfx = field_prefix(&mut fields, "queryPfx", findings);
    raw.config.mutation_pfx = field_prefix(&mut fields, "mutationPfx", findings);
    raw.config.repository = fields
        .text("repository", findings)
        .map(|t| t.value.to_owned())
        .filter(|t| !t.is_empty());
    raw.config.default_role = role(&mut fields, "defaultRole", d.default_role, findings);
    raw.config.default_integration_role = role(
        &mut fields,
        "defaultIntegrationRole",
        d.default_integration_role,
        findings,
    );
    raw.config.disabled_checks = disabled_checks(&mut fields, findings);
    if let Some(node) = fields.take("lang") {
        raw.config.lang = schema_lang(node, findings);
    }
    let tag = implicit(fields.text("implicit", findings), findings);
    if raw.config.lang.implicit.is_none() {
        raw.config.lang.implicit = tag.map(|t| t.value.to_owned());
    }
    if let Some(node) = fields.take("search") {
        raw.config_search = search(node, findings);
    }
}

fn role(
    fields: &mut Fields<'_, '_>,
    name: &str,
    default: String,
    findings: &mut Findings,
) -> String {
    fields
        .text(name, findings)
        .map_or(default, |t| t.value.to_owned())
}

fn field_prefix(fields: &mut Fields<'_, '_>, name: &str, findings: &mut Findings) -> String {
    let Some(text) = fields.text(name, findings) else {
        return String::new();
    };
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts_badly =
        text.value.starts_with(|c: char| c.is_ascii_digit()) || text.value.starts_with("__");
    if starts_badly || !text.value.chars().all(word) {
        let message = format!("a GraphQL name cannot begin with `{}`", shorten(text.value));
        findings
            .add(Code::BadFieldPrefix, text.span, message)
            .help("use letters, digits and `_`, beginning with a letter");
    }
    text.value.to_owned()
}

fn disabled_checks(fields: &mut Fields<'_, '_>, findings: &mut Findings) -> Vec<String> {
    let Some(checks) = fields.texts("disabledChecks", findings) else {
        return Vec::new();
    };
    for check in &checks.value {
        if !keys::CHECKS.contains(&check.value) {
            let message = format!("unknown check `{}`", shorten(check.value));
            findings
                .add(Code::UnknownCheck, check.span, message)
                .help_with(|| did_you_mean(check.value, keys::CHECKS.iter().copied()));
        }
    }
    checks
        .value
        .iter()
        .map(|check| check.value.to_owned())
        .collect()
}

fn schema_lang(node: NodeRef<'_, '_>, findings: &mut Findings) -> LangConfig {
    let mut lang = LangConfig::default();
    if node.text().is_some() {
        lang.fetch = spec(value::text(node, "lang", findings), "lang", findings).map(|s| s.value);
        return lang;
    }
    let mut fields = Fields::open(node, &keys::SCHEMA_LANG, findings);
    lang.fetch = spec(fields.text("fetch", findings), "fetch", findings).map(|s| s.value);
    lang.validate = spec(fields.text("validate", findings), "validate", findings).map(|s| s.value);
    lang.implicit =
        implicit(fields.text("implicit", findings), findings).map(|t| t.value.to_owned());
    let name = fields.text("defaultNameFetch", findings);
    if let Some(found) = spec::<LangSpec>(name, "defaultNameFetch", findings) {
        if found.value.head != LangHead::Preference {
            findings
                .add(
                    Code::BadLangSpec,
                    found.span,
                    "`defaultNameFetch` selects one value and cannot begin with `ALL`",
                )
                .help("write `ANY` to select any value");
        }
        lang.default_name_fetch = found.value;
    }
    if let Some(append) = fields.boolean("appendDefaultNameFetch", findings) {
        lang.append_default_name_fetch = append.value;
    }
    lang
}

pub(super) fn property_lang<'d>(
    node: NodeRef<'d, '_>,
    property: &mut RawProperty<'d>,
    findings: &mut Findings,
) {
    if node.text().is_some() {
        property.fetch = spec(value::text(node, "lang", findings), "lang", findings);
        return;
    }
    let mut fields = Fields::open(node, &keys::PROPERTY_LANG, findings);
    property.fetch = spec(fields.text("fetch", findings), "fetch", findings);
    property.validate =
        spec::<LangValidation>(fields.text("validate", findings), "validate", findings);
    property.implicit = implicit(fields.text("implicit", findings), findings);
}

fn spec<T: FromStr<Err = LangSpecError>>(
    text: Option<Text<'_>>,
    what: &str,
    findings: &mut Findings,
) -> Option<Spanned<T>> {
    let text = text.filter(|t| !t.value.is_empty())?;
    match text.value.parse() {
        Ok(value) => Some(Spanned {
            value,
            span: text.span,
        }),
        Err(error) => {
            let message = format!("`{what}` is not a language specification: {error}");
            findings.add(Code::BadLangSpec, text.span, message);
            None
        }
    }
}

fn implicit<'d>(text: Option<Text<'d>>, findings: &mut Findings) -> Option<Text<'d>> {
    let text = text.filter(|t| !t.value.is_empty())?;
    if lang::is_tag(text.value) {
        return Some(text);
    }
    let message = format!(
        "`implicit` must be a language tag, not `{}`",
        shorten(text.value)
    );
    findings
        .add(Code::BadLangSpec, text.span, message)
        .help("write a tag such as `en` or `en-GB`");
    None
}

pub(super) fn search<'d>(node: NodeRef<'d, '_>, findings: &mut Findings) -> RawSearch<'d> {
    let mut search = RawSearch::default();
    if node.text().is_some() {
        search.index = value::boolean(node, "search", findings);
        return search;
    }
    let mut fields = Fields::open(node, &keys::SEARCH, findings);
    search.index = fields.boolean("index", findings);
    if let Some(node) = fields.take("analysis") {
        analysis(node, &mut search, findings);
    }
    search.nested = fields.boolean("nested", findings);
    if let Some(node) = fields.take("type") {
        search_type(node, &mut search, findings);
    }
    search
}

fn analysis<'d>(node: NodeRef<'d, '_>, search: &mut RawSearch<'d>, findings: &mut Findings) {
    let mut fields = Fields::open(node, &keys::ANALYSIS, findings);
    search.analyzer = fields.text("analyzer", findings);
    let Some(node) = fields.take("lang") else {
        return;
    };
    let mut analyzers = Vec::new();
    for (key, node) in value::entries(node, "`lang`", findings) {
        let Some(tag) = key.text() else { continue };
        let mut fields = Fields::open(node, &keys::LANG_ANALYSIS, findings);
        if let Some(analyzer) = fields.text("analyzer", findings) {
            analyzers.push((
                Spanned {
                    value: tag,
                    span: key.span(),
                },
                analyzer,
            ));
        }
    }
    search.lang_analyzers = Some(Spanned {
        value: analyzers,
        span: node.span(),
    });
}

fn search_type<'d>(node: NodeRef<'d, '_>, search: &mut RawSearch<'d>, findings: &mut Findings) {
    if node.text().is_some() {
        search.field_type = value::text(node, "type", findings);
        return;
    }
    let mut fields = Fields::open(node, &keys::SEARCH_TYPE, findings);
    search.field_type = fields.text("name", findings);
    if let Some(node) = fields.take("nestingLevel") {
        search.nesting_level = value::natural(node, "nestingLevel", Code::WrongType, findings);
    }
}
