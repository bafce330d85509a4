//! The changes of the document: settings, datatypes, roles; objects and properties with them.

use std::collections::HashMap;

use soml_core::rbac::Role;
use soml_core::schema::EnumType;

use super::causes::{Causes, Draft, Key, Spans};
use super::code::ChangeCode as Code;
use super::detail::{Difference, list, member, value};
use super::settings::{self, Namespaces};
use super::side::Sides;
use super::{objects, properties};

/// Finds all changes of the document.
pub(super) fn causes<'a>(sides: &Sides<'a>) -> Causes<'a> {
    let mut causes = Causes::default();
    settings::add(sides, &mut causes);
    enums(sides, &mut causes);
    unions(sides, &mut causes);
    roles(sides, &mut causes);
    let namespaces = Namespaces::new(sides);
    objects::add(sides, &namespaces, &mut causes);
    properties::add(sides, &namespaces, &mut causes);
    causes
}

fn enums<'a>(sides: &Sides<'a>, causes: &mut Causes<'a>) {
    for before in &sides.old.soml.enums {
        let name = before.name.graphql.as_str();
        let (code, tail) = match sides.new.enumeration(name) {
            None => (Code::EnumRemoved, " was removed"),
            Some(after) if !same_texts(before, after) => {
                (Code::EnumDescriptionChanged, " has a different description")
            }
            Some(_) => continue,
        };
        causes.add(Key::new(code, name), enum_draft(sides, code, name, tail));
    }
    for after in &sides.new.soml.enums {
        let name = after.name.graphql.as_str();
        if sides.old.enumeration(name).is_none() {
            let code = Code::EnumAdded;
            causes.add(
                Key::new(code, name),
                enum_draft(sides, code, name, " was added"),
            );
        }
    }
}

fn enum_draft(sides: &Sides<'_>, code: Code, name: &str, tail: &str) -> Draft {
    Draft {
        code,
        coordinate: name.to_owned(),
        head: format!("enumeration `{name}`"),
        tail: tail.to_owned(),
        spans: Spans {
            old: sides.old.enumeration(name).map(|e| e.span),
            new: sides.new.enumeration(name).map(|e| e.span),
        },
    }
}

/// Compares the texts of an enumeration and of the values that both schemas have.
fn same_texts(old: &EnumType, new: &EnumType) -> bool {
    let values = old.values.iter().all(|before| {
        let after = new.values.iter().find(|after| after.name == before.name);
        after.is_none_or(|after| (&after.label, &after.descr) == (&before.label, &before.descr))
    });
    values && (&old.label, &old.descr) == (&new.label, &new.descr)
}

fn unions<'a>(sides: &Sides<'a>, causes: &mut Causes<'a>) {
    for before in &sides.old.soml.unions {
        let name = before.name.graphql.as_str();
        let mut all = sides.new.soml.unions.iter();
        let Some(after) = all.find(|u| u.name.graphql == name) else {
            continue;
        };
        let members = |all: &[_]| list(all.iter().map(|&m| member(m)));
        let (was, is) = (members(&before.members), members(&after.members));
        let code = Code::UnionMembersChanged;
        let Some(difference) = Difference::new(code, "", was, is) else {
            continue;
        };
        let draft = Draft {
            code,
            coordinate: format!("types.{name}"),
            head: format!("union `{name}`"),
            tail: difference.tail(),
            spans: Spans {
                old: Some(before.span),
                new: Some(after.span),
            },
        };
        causes.add(Key::new(code, name), draft);
    }
}

fn roles<'a>(sides: &Sides<'a>, causes: &mut Causes<'a>) {
    let old: HashMap<_, _> = sides.old.soml.rbac.roles.iter().map(by_name).collect();
    let new: HashMap<_, _> = sides.new.soml.rbac.roles.iter().map(by_name).collect();
    let mut add = |name: &'a str, code, tail: &str| {
        let draft = Draft {
            code,
            coordinate: format!("rbac.roles.{name}"),
            head: format!("role `{name}`"),
            tail: tail.to_owned(),
            spans: Spans {
                old: old.get(name).map(|role| role.span),
                new: new.get(name).map(|role| role.span),
            },
        };
        causes.add(Key::new(code, name), draft);
    };
    for before in &sides.old.soml.rbac.roles {
        match new.get(before.name.as_str()) {
            None => add(&before.name, Code::RoleRemoved, " was removed"),
            Some(after) if permissions(before) != permissions(after) => {
                add(
                    &before.name,
                    Code::RoleChanged,
                    " has different permissions",
                );
            }
            Some(_) => {}
        }
    }
    for after in &sides.new.soml.rbac.roles {
        if !old.contains_key(after.name.as_str()) {
            add(&after.name, Code::RoleAdded, " was added");
        }
    }
}

fn by_name(role: &Role) -> (&str, &Role) {
    (role.name.as_str(), role)
}

/// Returns what the row rules of a role say, whatever the coordinates.
fn row_rules(role: &Role) -> Vec<String> {
    let filters = role.filters.iter().map(|filter| {
        let (object, operation) = (&filter.object, filter.operation.name());
        format!("{object}/{operation} {}", value(&filter.condition))
    });
    let presets = role.presets.iter().map(|preset| {
        let (object, property) = (&preset.object, &preset.property);
        format!("{object}/{property} = {}", value(&preset.value))
    });
    filters.chain(presets).collect()
}

/// Returns what a role may do, whatever the coordinates.
fn permissions(role: &Role) -> [Vec<String>; 3] {
    let actions = |all: &[soml_core::rbac::Action]| {
        let written =
            |a: &soml_core::rbac::Action| format!("{}/{}/{}", a.object, a.property, a.operation);
        all.iter().map(written).collect()
    };
    [
        actions(&role.actions),
        actions(&role.not_actions),
        row_rules(role),
    ]
}
