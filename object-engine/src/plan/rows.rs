//! The conditions of roles on objects, as conditions on stored data: they are written as `where` is, with claims of the
//! sender in place of variables.

use std::sync::Arc;

use foldhash::HashMap;
use foldhash::quality::RandomState;
use graph_store::query::NodeCondition;
use graphql_gen::typesystem::{Api, TypeRef};
use graphql_service::RequestContext;
use moka::sync::Cache;
use serde_json::{Map, Value as Json};
use service_metrics::{CacheMetrics, Watch};
use soml_core::access::{Access, Part};
use soml_core::rbac::{Operand, Operation, for_each_text};
use soml_core::schema::{ObjectId, PropertyId};
use soml_core::value::{Value, ValueKind};

use super::filter::{Compared, FilterBuilder};
use super::input::Input;
use crate::access::{Enforced, Permit, ReadClaims, Rows, View};
use crate::limits::EngineLimits;
use crate::rdf::Types;

/// What conditions are made of.
#[derive(Clone, Copy)]
pub(crate) struct RowSource<'a> {
    pub(crate) api: &'a Api,
    pub(crate) types: &'a Types,
    pub(crate) limits: &'a EngineLimits,
    pub(crate) known: &'a KnownRows,
}

/// The conditions of senders who came before: a bounded cache.
pub(crate) struct KnownRows {
    known: Cache<(Access, String), Arc<Rows>, RandomState>,
    metrics: CacheMetrics,
    _watch: Watch,
}

/// Name of the cache in metrics.
const CACHE: &str = "conditions";

/// Senders whose conditions are kept.
const KNOWN: u64 = 1_000;

impl Default for KnownRows {
    fn default() -> Self {
        let known = Cache::builder()
            .max_capacity(KNOWN)
            .build_with_hasher(RandomState::default());
        let watched: Cache<(Access, String), Arc<Rows>, RandomState> = known.clone();
        KnownRows {
            known,
            metrics: CacheMetrics::new(CACHE),
            _watch: CacheMetrics::watch_entries(CACHE, move || watched.entry_count()),
        }
    }
}

/// Returns what the sender of a request may do; `None` for everything that there is to read.
///
/// A request without a sender comes from someone without a role.
pub(crate) fn access_of(
    rights: &Enforced,
    context: &RequestContext,
    source: RowSource<'_>,
) -> Option<Permit> {
    let permit = write_access_of(rights, context, source)?;
    (!permit.reads_everything()).then_some(permit)
}

/// Returns what the sender of a request may write; `None` for everything.
pub(crate) fn write_access_of(
    rights: &Enforced,
    context: &RequestContext,
    source: RowSource<'_>,
) -> Option<Permit> {
    let rights = rights.as_ref()?;
    match context.caller.as_deref() {
        None => Some(permit(rights.of([]), &Map::new(), source)),
        // Superusers may do everything, whatever the schema says (docs/access.md, "Requirements on
        // tokens").
        Some(caller) if caller.superuser => None,
        Some(caller) => {
            let access = rights.of(caller.roles.iter().map(String::as_str));
            Some(permit(access, &caller.claims, source))
        }
    }
}

/// Puts the claims of a sender into the conditions of their roles.
fn permit(access: Access, claims: &Map<String, Json>, source: RowSource<'_>) -> Permit {
    if !access.has_row_rules() {
        return Permit::new(access, Arc::default());
    }
    let claims = read_claims(&access, claims);
    let key = serde_json::to_string(&claims).expect("claims are JSON");
    let rows = || Arc::new(rows_of(&access, claims, key.clone(), source));
    let known = source.known;
    let entry = known
        .known
        .entry((access.clone(), key.clone()))
        .or_insert_with(rows);
    known.metrics.count(!entry.is_fresh());
    let rows = entry.into_value();
    Permit::new(access, rows)
}

fn rows_of(access: &Access, claims: ReadClaims, key: String, source: RowSource<'_>) -> Rows {
    let mut conditions: HashMap<_, Vec<NodeCondition>> = HashMap::default();
    for role in access.role_places() {
        for (objects, operation, condition) in access.filters(role) {
            for &object in objects {
                let compiled = compiled(condition, object, &claims, source);
                let of = conditions.entry((role, object, operation)).or_default();
                of.push(compiled);
            }
        }
    }
    let conditions = conditions
        .into_iter()
        // All conditions of one role must hold; roles are alternatives (docs/access.md, "Conditions
        // on objects").
        .map(|(rule, parts)| (rule, NodeCondition::all(parts)))
        .filter(|(_, all)| !all.is_true());
    Rows {
        conditions: conditions.collect(),
        claims,
        key,
    }
}

/// Translates the read conditions of a role on objects of a type, all of which must hold, with parameters in place of claims;
/// `None` where one cannot be evaluated, and so accepts no object.
pub(crate) fn parametrized<'c>(
    conditions: impl Iterator<Item = &'c Value>,
    object: ObjectId,
    source: RowSource<'_>,
    known: &mut Vec<Compared>,
) -> Option<NodeCondition> {
    let mut parts = Vec::new();
    for condition in conditions {
        let view = View::new(source.api, None, source.types);
        let builder = FilterBuilder::new(view, source.limits, None);
        let (part, all) = builder.parametrized(
            TypeRef::Concrete(object),
            &input(condition),
            std::mem::take(known),
        );
        *known = all;
        parts.push(part.ok()?);
    }
    Some(NodeCondition::all(parts))
}

/// What roles say about the value of a property.
pub(crate) struct Presets {
    /// The values that each role with a preset gives; else the claim that it lacks.
    pub(crate) values: Vec<Result<Vec<Input>, String>>,
    /// Some role has none, so the client may choose.
    pub(crate) leave_a_choice: bool,
}

impl Presets {
    /// Returns what the roles that may write objects of a type say about the value of a property.
    pub(super) fn of(permit: &Permit, object: ObjectId, property: PropertyId) -> Self {
        let writing = permit.allowing(object, Part::Id, Operation::Write);
        let mut presets = Presets {
            values: Vec::new(),
            leave_a_choice: false,
        };
        for role in writing {
            match permit.preset(role, property) {
                Some(value) => presets.values.push(given(value, permit.claims())),
                None => presets.leave_a_choice = true,
            }
        }
        presets
    }
}

/// Returns a value with the claims of a sender; else a claim that is missing or has a value of another form.
fn given(value: &Value, claims: &ReadClaims) -> Result<Vec<Input>, String> {
    let items = match &value.kind {
        ValueKind::List(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let mut given = Vec::with_capacity(items.len());
    for item in items {
        match input(item) {
            Input::Claim(path) => {
                let values = claims.get(&path).and_then(claimed);
                given.extend(values.ok_or(path)?);
            }
            other => given.push(other),
        }
    }
    Ok(given)
}

/// Returns those of some claims that the roles of a sender read. One that is missing is null.
fn read_claims(access: &Access, claims: &Map<String, Json>) -> ReadClaims {
    let mut read = ReadClaims::new();
    let mut note = |value: &Value| {
        for_each_text(value, &mut |text, _| {
            if let Operand::Claim(path) = Operand::of(text) {
                let value = claim(claims, path).unwrap_or(&Json::Null);
                read.insert(path.to_owned(), value.clone());
            }
        });
    };
    for role in access.role_places() {
        access
            .filters(role)
            .for_each(|(.., condition)| note(condition));
        access.presets(role).for_each(&mut note);
    }
    read
}

/// Returns the claim at a path, whose names lead into objects.
///
/// A claim whose own name has the dots comes first: identity providers name claims by URLs.
fn claim<'c>(claims: &'c Map<String, Json>, path: &str) -> Option<&'c Json> {
    if let Some(value) = claims.get(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    claim(claims.get(first)?.as_object()?, rest)
}

/// Translates a condition for the objects of a type.
fn compiled(
    condition: &Value,
    object: ObjectId,
    claims: &ReadClaims,
    source: RowSource<'_>,
) -> NodeCondition {
    let view = View::new(source.api, None, source.types);
    let builder = FilterBuilder::new(view, source.limits, None);
    match builder.rows(TypeRef::Concrete(object), &input(condition), claims) {
        Ok(Some(condition)) => condition,
        // A claim that is missing or does not fit accepts nothing (docs/access.md, "Conditions on
        // objects").
        Ok(None) => NodeCondition::Any(Vec::new()),
        Err(error) => {
            tracing::warn!(
                error = %error.message,
                object = %source.api.soml()[object].name.written,
                "a condition of a role cannot be evaluated, so it accepts no object"
            );
            NodeCondition::Any(Vec::new())
        }
    }
}

/// Returns the values of a claim; `None` where it has values of another form.
fn claimed(claim: &Json) -> Option<Vec<Input>> {
    match claim {
        Json::Array(values) => values.iter().map(Input::of_claim).collect(),
        value => Input::of_claim(value).map(|value| vec![value]),
    }
}

/// Reads a value as an argument.
fn input(value: &Value) -> Input {
    match &value.kind {
        ValueKind::Null => Input::Null,
        ValueKind::List(items) => Input::List(items.iter().map(input).collect()),
        ValueKind::Map(entries) => Input::Object(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), input(value)))
                .collect(),
        ),
        ValueKind::Text { text, quoted } => match Operand::of(text) {
            Operand::Claim(path) => Input::Claim(path.to_owned()),
            Operand::Text(text) if *quoted => Input::String(text.into_owned()),
            Operand::Text(text) => match text.as_ref() {
                "true" => Input::Boolean(true),
                "false" => Input::Boolean(false),
                _ if is_number(&text) => Input::Number(text.into_owned()),
                _ => Input::String(text.into_owned()),
            },
            // The checks of the document refuse it.
            Operand::Malformed => Input::Null,
        },
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|first: char| first.is_ascii_digit()) && text.parse::<f64>().is_ok()
}
