//! Whether a service answers a mutation as the model does.

use std::collections::BTreeSet;

use oxrdf::Quad;
use serde_json::{Map, Value, json};

use super::request::{Request, root, selection};
use super::rules::{Answer, Denied, Done, FieldDone, Finding, Findings};
use crate::differential::compare::difference as of_reading;
use crate::differential::reference::{Graph, Model, interpret};

/// Says how an answer differs from that of the model.
pub(super) fn difference(
    model: &Model<'_>,
    request: &Request,
    expected: &Answer,
    actual: &Value,
) -> Option<String> {
    match expected {
        Answer::Refused(codes) => {
            let given = codes_of(actual);
            let refused = given.iter().any(|code| codes.contains(&code.as_str()));
            (!refused || !is_nothing(actual)).then(|| format!("must be refused with {codes:?}"))
        }
        Answer::Denied(rights) => denied(rights, actual),
        Answer::Wrong(findings) => wrong(findings, actual),
        Answer::Done(done) => carried_out(model, request, done, actual),
    }
}

fn errors(actual: &Value) -> impl Iterator<Item = &Value> {
    actual["errors"].as_array().into_iter().flatten()
}

pub(super) fn codes_of(actual: &Value) -> Vec<String> {
    let code = |error: &Value| error["extensions"]["code"].as_str().map(str::to_owned);
    errors(actual).filter_map(code).collect()
}

/// Returns whether no field has an answer.
fn is_nothing(actual: &Value) -> bool {
    let fields = actual["data"].as_object();
    fields.is_none_or(|fields| fields.values().all(Value::is_null))
}

/// Missing rights are all that is said, each once.
fn denied(rights: &Denied, actual: &Value) -> Option<String> {
    let place = |error: &Value| {
        let key = error["path"][0].as_str().unwrap_or_default().to_owned();
        (key, error["extensions"]["inputPath"].to_string())
    };
    let places: BTreeSet<(String, String)> = errors(actual).map(place).collect();
    let mut codes = codes_of(actual).into_iter();
    let is_right = codes.all(|code| code == "ACCESS_DENIED")
        && errors(actual).count() == rights.len()
        && rights.values().all(|needed| !needed.is_disjoint(&places))
        && is_nothing(actual);
    (!is_right).then(|| format!("the missing rights are others: {rights:?}"))
}

fn wrong(findings: &Findings, actual: &Value) -> Option<String> {
    let finding = |error: &Value| {
        let extensions = &error["extensions"];
        let ids = extensions["ids"].as_array().into_iter().flatten();
        let ids = ids.map(|id| id.as_str().expect("an id").to_owned());
        let key = error["path"][0].as_str().unwrap_or_default().to_owned();
        let code = extensions["code"].as_str().expect("a code").to_owned();
        (
            code,
            key,
            extensions["inputPath"].to_string(),
            ids.collect(),
        )
    };
    type Found = (String, String, String, Vec<String>);
    let found: BTreeSet<Found> = errors(actual).map(finding).collect();
    let owned = |findings: &BTreeSet<Finding>| -> BTreeSet<Found> {
        let each = findings.iter().cloned();
        each.map(|(code, key, path, ids)| (code.to_owned(), key, path, ids))
            .collect()
    };
    let (input, data) = (owned(&findings.input), owned(&findings.data));
    // Whatever is refused is left out of what is checked of the data.
    let about_data: BTreeSet<Found> = found.difference(&input).cloned().collect();
    let as_expected = if input.is_empty() {
        found == data
    } else {
        input.is_subset(&found) && about_data.is_subset(&data)
    };
    let is_right = as_expected && is_nothing(actual) && actual["data"].is_object();
    let wanted: BTreeSet<Found> = input.union(&data).cloned().collect();
    let missing: Vec<&Found> = wanted.difference(&found).collect();
    let more: Vec<&Found> = found.difference(&wanted).collect();
    (!is_right).then(|| format!("the findings differ: missing {missing:?}, more {more:?}"))
}

fn carried_out(
    model: &Model<'_>,
    request: &Request,
    done: &Done,
    actual: &Value,
) -> Option<String> {
    let keys: BTreeSet<&str> = request
        .fields
        .iter()
        .map(|field| field.key.as_str())
        .collect();
    let is_inside = |error: &&Value| {
        error["path"][0]
            .as_str()
            .is_some_and(|key| keys.contains(key))
    };
    if let Some(error) = errors(actual).find(|error| !is_inside(error)) {
        return Some(format!("it must be carried out, but: {error}"));
    }
    let mut fields = request.fields.iter().zip(&done.fields);
    fields.find_map(|(field, expected)| {
        let payload = &actual["data"][&field.key];
        if payload.is_null() {
            return Some(format!("{} must be carried out", field.key));
        }
        affected(model, expected, payload).or_else(|| {
            let root = root(model.schema, field.object);
            let query = format!(
                "{{ {root}(ID: {}) {} }}",
                json!(ids(expected)),
                selection(model.schema, field.object)
            );
            read_back(model, (&field.key, &root, &query), expected, actual)
        })
    })
}

/// The affected objects; something that is nothing, where there are none.
fn ids(done: &FieldDone) -> Vec<&str> {
    let ids = done.affected.iter().map(|(_, id)| id.as_str());
    let ids: Vec<&str> = ids.collect();
    if ids.is_empty() {
        vec!["urn:nothing"]
    } else {
        ids
    }
}

/// Whoever is shown nothing of a type is told how many, and neither which ones nor of which type.
fn affected(model: &Model<'_>, expected: &FieldDone, payload: &Value) -> Option<String> {
    let mut found = Vec::new();
    for group in payload["affected_objects"].as_array().into_iter().flatten() {
        for id in group["ids"].as_array().into_iter().flatten() {
            let kind = group["kind"].as_str().expect("a kind");
            found.push((kind.to_owned(), id.as_str().expect("an id").to_owned()));
        }
    }
    let counts = payload["affected_count"].as_array().into_iter().flatten();
    let counts = counts.map(|group| group["count"].as_u64().expect("a number"));
    let count = usize::try_from(counts.sum::<u64>()).expect("a small number");
    found.sort();
    let sees = |kind: &str| {
        let mut objects = model.schema.objects();
        objects.any(|(id, object)| object.name.graphql == kind && model.sees(id))
    };
    let wanted = expected.affected.iter().filter(|(kind, _)| sees(kind));
    let wanted: Vec<(String, String)> = wanted.cloned().collect();
    (found != wanted || count != expected.affected.len()).then(|| {
        format!("other objects are affected: expected {wanted:?}\nbut got {found:?}, {count}")
    })
}

fn read_back(
    model: &Model<'_>,
    (key, root, query): (&str, &str, &str),
    expected: &FieldDone,
    actual: &Value,
) -> Option<String> {
    let quads: Vec<Quad> = expected.shown.iter().cloned().collect();
    let answer = interpret(model, &Graph::new(&quads), query, &Map::new(), &[]);
    let mut given = Map::new();
    if let Some(objects) = actual["data"][key].get(root) {
        given.insert(root.to_owned(), objects.clone());
    }
    let payload = format!("'{}_Mutation'", root.to_uppercase());
    let is_affected = |error: &Value| {
        let part = error["path"][1].as_str();
        part.is_some_and(|part| part.starts_with("affected_"))
    };
    let own = errors(actual).filter(|error| error["path"][0] == key && !is_affected(error));
    let own = own.map(|error| {
        let mut error = error.clone();
        let path = error["path"].as_array_mut().expect("a path");
        path.remove(0);
        // It is read from the root there.
        let message = error["message"].as_str().expect("a message");
        error["message"] = message.replace(&payload, "'Query'").into();
        error
    });
    let own: Vec<Value> = own.collect();
    let mut given = json!({"data": given});
    if !own.is_empty() {
        given["errors"] = own.into();
    }
    let difference = of_reading(&answer, &given)?;
    Some(format!(
        "{key} reads back otherwise: {difference}\n{query}\nexpected {answer:?}\nbut got {given:#}"
    ))
}
