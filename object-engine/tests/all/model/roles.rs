//! Random roles that write.

use std::fmt::Write as _;

use crate::differential::random::Random;
use crate::leaks::rows::Rows;

/// Returns an `rbac` section. Whoever reads something of an object reads its id, by which the model follows
/// what a filter selects.
pub(super) fn section(random: &mut Random) -> String {
    let mut out = String::from("rbac:\n  roles:\n");
    for role in ["A", "B", "C"] {
        let mut actions: Vec<String> = Vec::new();
        match random.below(3) {
            0 => actions.push("*/*/read".to_owned()),
            1 => actions.push("*/*/*".to_owned()),
            _ => {
                for object in ["T1", "T2", "T3"].iter().filter(|_| random.chance(75)) {
                    actions.push(format!("{object}/*/read"));
                }
            }
        }
        match random.below(4) {
            0 => actions.push("*/*/write".to_owned()),
            1 => actions.extend(["*/*/write", "*/id/delete"].map(str::to_owned)),
            2 => actions.extend(["*/*/write", "T1/id/delete", "T3/*/delete"].map(str::to_owned)),
            _ => {
                for object in ["T1", "T2", "T3"].iter().filter(|_| random.chance(75)) {
                    actions.push(format!("{object}/*/write"));
                }
            }
        }
        let mut cuts: Vec<String> = Vec::new();
        for _ in 0..random.below(5) {
            let object = random.choose(&["*", "T1", "T2", "T3"]);
            let property = format!("p{}", random.below(14));
            let operation = random.choose(&["read", "write", "write", "*"]);
            cuts.push(format!("{object}/{property}/{operation}"));
        }
        if random.chance(20) {
            cuts.push(format!("{}/id/write", random.choose(&["T1", "T2", "T3"])));
        }
        let list = |actions: &[String]| format!("['{}']", actions.join("', '"));
        let actions = if actions.is_empty() {
            "[]".to_owned()
        } else {
            list(&actions)
        };
        let _ = writeln!(out, "    {role}:\n      actions: {actions}");
        if !cuts.is_empty() {
            let _ = writeln!(out, "      notActions: {}", list(&cuts));
        }
    }
    out
}

/// Returns an `rbac` section whose roles write more than they read, some of the objects alone if conditions are given.
pub(super) fn section_of_worlds(random: &mut Random, rows: Option<&Rows>) -> String {
    let mut out = String::from("rbac:\n  roles:\n");
    for role in ["A", "B", "C"] {
        let mut cuts: Vec<String> = Vec::new();
        if random.chance(60) {
            cuts.push(format!("{}/*/read", random.choose(&["T1", "T2", "T3"])));
        }
        for _ in 0..random.below(6) {
            let object = random.choose(&["*", "*", "T1", "T2", "T3"]);
            cuts.push(format!("{object}/p{}/read", random.below(14)));
        }
        for part in ["id", "__typename"] {
            if random.chance(12) {
                cuts.push(format!(
                    "{}/{part}/read",
                    random.choose(&["T1", "T2", "T3"])
                ));
            }
        }
        for _ in 0..random.below(3) {
            let object = random.choose(&["*", "T1", "T2", "T3"]);
            cuts.push(format!("{object}/p{}/write", random.below(14)));
        }
        if random.chance(15) {
            cuts.push(format!("{}/id/*", random.choose(&["T1", "T2", "T3"])));
        }
        let _ = writeln!(out, "    {role}:\n      actions: ['*/*/*']");
        if !cuts.is_empty() {
            let _ = writeln!(out, "      notActions: ['{}']", cuts.join("', '"));
        }
        if let Some(rows) = rows {
            let _ = writeln!(
                out,
                "      filters: {{'*': {}}}",
                rows.conditions(random, role)
            );
        }
    }
    out
}

/// Returns the roles of a caller.
pub(super) fn claimed(random: &mut Random) -> Vec<String> {
    let sets: &[&[&str]] = &[
        &["A"],
        &["B"],
        &["C"],
        &["A", "B"],
        &["B", "C"],
        &["Unknown"],
    ];
    random
        .pick(sets)
        .iter()
        .map(|role| (*role).to_owned())
        .collect()
}
