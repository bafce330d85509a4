//! Random `rbac` sections and callers for a schema.

use std::fmt::Write as _;

use soml_core::schema::{ObjectKind, Schema};

use super::rows::Rows;
use crate::differential::random::Random;

const READ: &[&str] = &["read", "read", "read", "read", "*", "r*", "re*d"];

/// Returns an `rbac` section for a schema.
pub(crate) fn section(random: &mut Random, schema: &Schema, rows: Option<&Rows>) -> String {
    let mut writer = Writer { random, schema };
    let mut out = String::from("rbac:\n  roles:\n");
    for role in ["A", "B", "C", "Default"] {
        if role == "Default" && writer.random.chance(40) {
            continue;
        }
        let (actions, not_actions) = writer.role();
        let list = |actions: Vec<String>| {
            let quoted = actions.iter().map(|action| format!("'{action}'"));
            quoted.collect::<Vec<_>>().join(", ")
        };
        let _ = writeln!(out, "    {role}:\n      actions: [{}]", list(actions));
        if !not_actions.is_empty() {
            let _ = writeln!(out, "      notActions: [{}]", list(not_actions));
        }
        if let Some(condition) = rows.and_then(|rows| rows.condition(role)) {
            let _ = writeln!(out, "      filters: {{'*': {{read: {condition}}}}}");
        }
    }
    out
}

/// Returns the roles that a caller claims.
pub(crate) fn claimed(random: &mut Random) -> Vec<String> {
    let sets: &[&[&str]] = &[
        &["A"],
        &["B"],
        &["A"],
        &["B"],
        &["A", "B"],
        &["B", "C"],
        &["Unknown", "A"],
        &["C"],
        &["Default"],
        &["Unknown"],
        &[],
    ];
    let set = random.pick(sets);
    set.iter().map(|role| (*role).to_owned()).collect()
}

struct Writer<'a> {
    random: &'a mut Random,
    schema: &'a Schema,
}

impl Writer<'_> {
    /// The `actions` and `notActions` of a role.
    fn role(&mut self) -> (Vec<String>, Vec<String>) {
        let mut actions = Vec::new();
        if self.random.chance(55) {
            let all = ["*/*/read", "*/*/*", "T*/*/re*"];
            actions.push(self.random.choose(&all).to_owned());
        } else {
            self.some_objects(&mut actions);
        }
        let mut not_actions: Vec<String> = Vec::new();
        for _ in 0..[0, 1, 2, 2, 3, 4, 5, 6][self.random.below(8)] {
            let exclusion = self.exclusion();
            not_actions.push(exclusion);
        }
        (actions, not_actions)
    }

    /// Actions on some of the objects: on all of their properties or on some.
    fn some_objects(&mut self, actions: &mut Vec<String>) {
        for (_, object) in self.schema.objects() {
            let name = &object.name.written;
            if self.random.chance(25) {
                continue;
            }
            let operation = self.random.choose(READ);
            if self.random.chance(50) {
                actions.push(format!("{name}/*/{operation}"));
                continue;
            }
            for property in &object.props {
                if self.random.chance(60) {
                    let property = &self.schema[*property].name.written;
                    actions.push(format!("{name}/{property}/{operation}"));
                }
            }
            for part in ["id", "type", "__typename"] {
                if self.random.chance(60) {
                    actions.push(format!("{name}/{part}/read"));
                }
            }
        }
        if self.random.chance(30) {
            let on_all = ["Object/id/read", "Object/*/read", "Object/type/read"];
            actions.push(self.random.choose(&on_all).to_owned());
        }
        let noise = [
            "*/*/write",
            "*/id/delete",
            "Nothing/*/read",
            "_Service/sdl/read",
        ];
        if self.random.chance(30) {
            actions.push(self.random.choose(&noise).to_owned());
        }
    }

    /// An entry of `notActions`.
    fn exclusion(&mut self) -> String {
        let objects: Vec<&str> = self
            .schema
            .objects()
            .filter(|(_, object)| object.kind == ObjectKind::Concrete || self.random.chance(50))
            .map(|(_, object)| object.name.written.as_str())
            .collect();
        let object = match self.random.below(6) {
            0 | 1 => "*".to_owned(),
            2 => format!("T*{}", self.random.below(4)),
            _ => match self.random.some(&objects) {
                Some(object) => (*object).to_owned(),
                None => "*".to_owned(),
            },
        };
        let every = self.schema.properties.iter();
        let every: Vec<&str> = every
            .map(|property| property.name.written.as_str())
            .collect();
        let property = match self.random.below(20) {
            0 => "id".to_owned(),
            1 => "type".to_owned(),
            2 | 3 => "name".to_owned(),
            4 => "__typename".to_owned(),
            // The whole object.
            5 | 6 if object != "*" => "*".to_owned(),
            7 | 8 => format!("p*{}", self.random.below(10)),
            9 => format!("p{}*", self.random.below(4)),
            10 => "v:label".to_owned(),
            11 => format!("v:{}", self.random.pick(&every).trim_start_matches("v:")),
            _ => self.random.pick(&every).to_string(),
        };
        let operation = self.random.choose(READ);
        format!("{object}/{property}/{operation}")
    }
}
