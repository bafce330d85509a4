//! How a request was answered: its plan, its store calls and their durations.

mod condition;

use std::fmt::Write as _;
use std::time::Duration;

use call_context::trace::micros;
use call_context::{Trace, TraceStep};
use condition::{objects, step, value};
use graph_store::query::{OrderWay, Selection, Slot, Take};
use graphql_service::Response;
use serde::Serialize;

use crate::plan::{
    Action, AggregatePart, Aggregation, Level, MutationPlan, MutationRoot, Plan, RootConnection,
    RootValue, Selected, Typing,
};

/// How a request was answered; the value of `extensions.explain` in a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Explanation {
    /// The plan, line by line, in a notation that is the same for every store.
    pub plan: Vec<String>,
    /// Number of calls to the store.
    pub round_trips: u64,
    /// The steps of the store, in order of execution.
    pub steps: Vec<TraceStep>,
    /// Time from the request to the plan.
    pub planning_microseconds: u64,
    /// Time from the plan to the answer.
    pub execution_microseconds: u64,
}

/// A response, and how it was computed.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The response as sent to clients.
    pub response: Response,
    /// How it was computed; `None` if the request was refused before execution.
    pub explanation: Option<Explanation>,
}

impl Explanation {
    pub(crate) fn new(plan: &Plan, trace: &Trace, planning: Duration, execution: Duration) -> Self {
        Explanation {
            plan: describe(plan),
            round_trips: trace.calls(),
            steps: trace.steps(),
            planning_microseconds: micros(planning),
            execution_microseconds: micros(execution),
        }
    }
}

impl Explanation {
    pub(crate) fn of_mutation(
        plan: &MutationPlan,
        trace: &Trace,
        planning: Duration,
        execution: Duration,
    ) -> Self {
        Explanation {
            plan: describe_mutation(plan),
            round_trips: trace.calls(),
            steps: trace.steps(),
            planning_microseconds: micros(planning),
            execution_microseconds: micros(execution),
        }
    }
}

/// Prints the plan of a mutation, line by line: what each field does, and what it reads back.
fn describe_mutation(plan: &MutationPlan) -> Vec<String> {
    let mut lines = Vec::new();
    for root in &plan.fields {
        let MutationRoot::Write(field) = root else {
            continue;
        };
        let selected = |selected: &Selected| describe_selection(&selected.selection);
        let what = match &field.action {
            Action::Create(entries) => format!("create {} objects", entries.len()),
            Action::Update(entries) => format!("change {} objects", entries.len()),
            Action::UpdateWhere(of, _) => format!("change what there is to {}", selected(of)),
            Action::Delete(of) => format!("delete what there is to {}", selected(of)),
        };
        lines.push(format!("{}: {what}", field.key));
        let read_back = describe(&field.read_back).into_iter();
        lines.extend(read_back.map(|line| format!("{} reads back {line}", field.key)));
    }
    let new = plan.entries.iter().filter(|entry| entry.is_new).count();
    lines.push(format!(
        "{new} new objects, {} changed ones; checked together, written in one transaction{}",
        plan.entries.len() - new,
        if plan.dry_run {
            ", which is rolled back"
        } else {
            ""
        }
    ));
    lines
}

/// Prints a plan, line by line.
pub(crate) fn describe(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for root in &plan.roots {
        let what = match &root.value {
            RootValue::Objects(objects) => {
                let selection = &objects.selection;
                let mut text = describe_selection(selection);
                text.push_str(&page(selection.page));
                write!(text, ", level {}", objects.level.0).expect("writing to a string");
                text
            }
            RootValue::Aggregate(aggregate) => format!(
                "aggregate {}, level {}: {}",
                describe_selection(&aggregate.objects.selection),
                aggregate.objects.level.0,
                describe_aggregation(&aggregate.aggregation)
            ),
            RootValue::Connection(connection) => describe_connection(connection),
            RootValue::Count(selection) => format!(
                "count {}",
                objects(&selection.condition, &selection.dataset)
            ),
            RootValue::Entities(entities) => {
                format!(
                    "{} representations of {} types",
                    entities.representations.len(),
                    entities.types.len()
                )
            }
            RootValue::Service(_) => "the printed schema".to_owned(),
            RootValue::Introspection => "introspection".to_owned(),
        };
        lines.push(format!("{}: {what}", root.key));
    }
    for (number, level) in plan.levels.iter().enumerate() {
        lines.push(describe_level(number, level));
    }
    lines
}

/// Prints which objects are selected, and their order.
fn describe_selection(selection: &Selection) -> String {
    let mut text = format!(
        "select {}",
        objects(&selection.condition, &selection.dataset)
    );
    for key in &selection.order {
        let direction = if key.descending {
            "descending"
        } else {
            "ascending"
        };
        let ways: Vec<String> = key.ways.iter().map(describe_way).collect();
        let ways = ways.join(" or ");
        write!(text, ", then by {ways} {direction}").expect("writing to a string");
    }
    text
}

/// Prints the way to a sort key.
fn describe_way(way: &OrderWay) -> String {
    let path: Vec<String> = way.path.iter().map(|at| step(&at.step)).collect();
    if path.is_empty() {
        "the object".to_owned()
    } else {
        path.join(" / ")
    }
}

fn describe_connection(connection: &RootConnection) -> String {
    let mut text = describe_selection(&connection.selection);
    if let Some(window) = &connection.window {
        for (word, place) in [("after", &window.after), ("before", &window.before)] {
            if let Some(place) = place {
                write!(text, ", {word} <{}>", place.id.iri()).expect("writing to a string");
            }
        }
        text.push_str(&match window.take {
            Take::All => ", all".to_owned(),
            Take::First(limit) => format!(", the first {limit}"),
            Take::Last(limit) => format!(", the last {limit}"),
        });
    }
    if connection.count {
        text.push_str(", counted");
    }
    for level in &connection.levels {
        write!(text, ", level {}", level.0).expect("writing to a string");
    }
    text
}

fn describe_level(number: usize, level: &Level) -> String {
    let typing = match &level.typing {
        Typing::Static { name } => format!("objects of type {name}"),
        Typing::Stored { variants, .. } => {
            format!(
                "objects of {} types with {} lists of fields",
                variants.len(),
                level.variants.len()
            )
        }
    };
    let slots: Vec<String> = level.slots.iter().map(describe_slot).collect();
    let mut text = format!("level {number}: {typing}; values of {}", slots.join(", "));
    for edge in &level.edges {
        write!(
            text,
            "; {} leads to level {}",
            step(&level.slots[edge.slot].step),
            edge.level.0
        )
        .expect("writing to a string");
    }
    text
}

/// Prints an aggregation of objects.
fn describe_aggregation(aggregation: &Aggregation) -> String {
    let name = |values: usize| aggregation.values[values].name.as_str();
    let parts = aggregation.fields.iter().map(|field| match &field.part {
        AggregatePart::TypeName(_) => "type name".to_owned(),
        AggregatePart::Count => "count".to_owned(),
        AggregatePart::Values(measured) => {
            let measures = measured.fields.len();
            format!("{measures} measures of {}", name(measured.values))
        }
        AggregatePart::Groups(grouping) => {
            let by: Vec<&str> = grouping.by.iter().map(|&values| name(values)).collect();
            format!("groups by {}{}", by.join(" and "), page(grouping.page))
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn describe_slot(slot: &Slot) -> String {
    let mut text = step(&slot.step);
    if let Some(condition) = &slot.condition {
        write!(text, " where {}", value(condition)).expect("writing to a string");
    }
    if let Some(ordered) = &slot.page {
        write!(
            text,
            " ordered by {} keys{}",
            ordered.order.len(),
            page(ordered.page)
        )
        .expect("writing to a string");
    }
    text
}

fn page(page: graph_store::query::Page) -> String {
    match (page.offset.unwrap_or(0), page.limit) {
        (0, None) => String::new(),
        (offset, None) => format!(", without the first {offset}"),
        (0, Some(limit)) => format!(", the first {limit}"),
        (offset, Some(limit)) => format!(", {limit} after the first {offset}"),
    }
}
