//! Aggregates say of many objects what the lists that they stand beside show of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use graph_store::image::ImageStore;
use graphql_service::{Request, RequestContext};
use object_engine::{ObjectService, ServiceOptions};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::images;

const SCHEMA: &str = "
id: /soml/sums
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
config: {enableAggregates: true}
objects:
  Thing: {props: {size: {range: integer}, mark: {range: integer, max: inf}, tag: {max: inf}, part: {range: Thing, max: inf}}}
";

#[derive(Clone, Debug)]
struct Thing {
    size: Option<i8>,
    marks: Vec<(i8, bool)>,
    tags: Vec<(u8, bool)>,
    parts: Vec<usize>,
}

fn things() -> impl Strategy<Value = Vec<Thing>> {
    let thing = (
        prop::option::of(-3..4_i8),
        prop::collection::vec((-2..3_i8, any::<bool>()), 0..4),
        prop::collection::vec((0..3_u8, any::<bool>()), 0..3),
        prop::collection::vec(0..9_usize, 0..4),
    );
    let thing = thing.prop_map(|(size, marks, tags, parts)| Thing {
        size,
        marks,
        tags,
        parts,
    });
    prop::collection::vec(thing, 0..9)
}

/// Writes equal values in different forms, so that they must count once.
fn load(things: &[Thing]) -> ImageStore {
    let mut turtle = "@prefix v: <http://v/> .\n".to_owned();
    for (number, thing) in things.iter().enumerate() {
        let mut add = |value: String| turtle.push_str(&format!("<http://e/{number}> {value} .\n"));
        add("a v:Thing".to_owned());
        thing
            .size
            .iter()
            .for_each(|size| add(format!("v:size {size}")));
        for (mark, plain) in &thing.marks {
            let form = if *plain { "" } else { ".0" };
            add(format!("v:mark {mark}{form}"));
        }
        for (tag, plain) in &thing.tags {
            let form = if *plain { "" } else { "@en" };
            add(format!("v:tag \"t{tag}\"{form}"));
        }
        for part in thing.parts.iter().filter(|part| **part < things.len()) {
            add(format!("v:part <http://e/{part}>"));
        }
    }
    images::from_turtle(turtle)
}

fn run(service: &ObjectService, query: &str) -> Value {
    let context = RequestContext::default();
    let answer = crate::fixture::json(&crate::fixture::answer(
        service,
        Request::new(query),
        context,
    ));
    assert_eq!(answer.get("errors"), None, "{query}");
    answer["data"].clone()
}

fn integers(value: &Value) -> Vec<i64> {
    let values = match value {
        Value::Array(values) => values.as_slice(),
        Value::Null => &[],
        single => std::slice::from_ref(single),
    };
    let number = |value: &Value| value.as_str().expect("an integer").parse().expect("digits");
    values.iter().map(number).collect()
}

/// What the measures of all values of a field must be.
fn measures(things: &[&Value], field: &str) -> Value {
    let values: Vec<i64> = things
        .iter()
        .flat_map(|thing| integers(&thing[field]))
        .collect();
    let distinct: BTreeSet<i64> = values.iter().copied().collect();
    let text = |value: Option<i64>| value.map(|value| value.to_string());
    let sum: Option<i64> = (!values.is_empty()).then(|| values.iter().sum());
    // Few numbers of few digits: 10^6 times the average is cut off where the answer is compared.
    let average = sum.map(|sum| sum * 1_000_000 / values.len() as i64);
    json!({
        "count": values.len(),
        "countDistinct": distinct.len(),
        "min": text(distinct.first().copied()),
        "max": text(distinct.last().copied()),
        "sum": text(sum),
        "avg": average,
    })
}

/// Brings the average to the form of [`measures`].
fn shown(mut measures: Value) -> Value {
    if let Some(average) = measures["avg"].as_str() {
        let (whole, fraction) = average.split_once('.').unwrap_or((average, ""));
        let digits = format!("{whole}{:0<6.6}", fraction);
        let millionths: i64 = digits.parse().expect("digits");
        measures["avg"] = json!(millionths);
    }
    measures
}

fn check(aggregate: &Value, things: &[&Value]) {
    assert_eq!(aggregate["count"], json!(things.len()));
    for field in ["size", "mark"] {
        assert_eq!(
            shown(aggregate[field].clone()),
            measures(things, field),
            "{field}"
        );
    }
    let mut groups: BTreeMap<(Option<&str>, Option<i64>), Vec<&Value>> = BTreeMap::new();
    for thing in things {
        let tags: Vec<&str> = thing["tag"].as_array().map_or(Vec::new(), |tags| {
            tags.iter().filter_map(Value::as_str).collect()
        });
        let tags: Vec<Option<&str>> = match tags.as_slice() {
            [] => vec![None],
            tags => tags.iter().copied().map(Some).collect(),
        };
        let size = integers(&thing["size"]).first().copied();
        for tag in tags {
            groups.entry((tag, size)).or_default().push(thing);
        }
    }
    let expected: Vec<Value> = groups
        .iter()
        .map(|((tag, size), things)| {
            json!({
                "key": {"tag": tag, "size": size.map(|size| size.to_string())},
                "count": things.len(),
                "mark": measures(things, "mark"),
            })
        })
        .collect();
    let groups = aggregate["groups"].as_array().expect("groups").iter();
    let groups = groups.map(|group| {
        let mut group = group.clone();
        group["mark"] = shown(group["mark"].take());
        group
    });
    assert_eq!(groups.collect::<Vec<_>>(), expected);
}

#[test]
fn aggregates_are_those_of_what_the_lists_show() {
    const MEASURES: &str = "{ count countDistinct min max sum avg }";
    let wanted = format!(
        "{{ count size {MEASURES} mark {MEASURES} groups(by: [tag, size]) {{ key {{ tag size }} \
         count mark {MEASURES} }} }}"
    );
    let fields = "size mark tag";
    let query = format!(
        "{{ thing {{ {fields} part {{ {fields} }} part_aggregate {wanted} mark_aggregate {MEASURES} }} \
         thing_aggregate {wanted} }}"
    );
    let mut runner = TestRunner::new(Config::with_cases(48));
    let checked = runner.run(&things(), |things| {
        let service =
            crate::fixture::service(SCHEMA, Arc::new(load(&things)), ServiceOptions::default());
        let answer = run(&service, &query);
        let list: Vec<&Value> = answer["thing"].as_array().expect("a list").iter().collect();
        check(&answer["thing_aggregate"], &list);
        for thing in &list {
            let parts: Vec<&Value> = thing["part"].as_array().expect("a list").iter().collect();
            check(&thing["part_aggregate"], &parts);
            let marks = shown(thing["mark_aggregate"].clone());
            prop_assert_eq!(marks, measures(&[thing], "mark"));
        }
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn an_aggregate_costs_two_calls_whatever_it_groups() {
    let thing = Thing {
        size: Some(1),
        marks: vec![(1, true)],
        tags: vec![(1, true)],
        parts: vec![0],
    };
    let mut options = ServiceOptions::new();
    options.explain = true;
    let service = crate::fixture::service(SCHEMA, Arc::new(load(&[thing])), options);
    let query = "{ thing_aggregate { count size { sum max } groups(by: [tag]) { count } } }";
    let request = json!({"query": query, "extensions": {"explain": true}});
    let request: Request = serde_json::from_value(request).expect("a request");
    let answer = crate::fixture::json(&crate::fixture::answer(
        &service,
        request,
        RequestContext::default(),
    ));
    let explain = &answer["extensions"]["explain"];
    assert_eq!(explain["roundTrips"], json!(2));
    let plan = explain["plan"][0].as_str().expect("a line");
    assert!(
        plan.starts_with("thing_aggregate: aggregate select instance of <"),
        "{plan}"
    );
    assert!(
        plan.ends_with("level 0: count, 2 measures of size, groups by tag"),
        "{plan}"
    );
}
