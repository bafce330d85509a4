//! Operations as trees that can be printed and made smaller.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::differential::random::Random;

/// An argument value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arg {
    Null,
    Boolean(bool),
    Number(String),
    Text(String),
    Enum(String),
    List(Vec<Arg>),
    Object(Vec<(String, Arg)>),
    Variable(String),
}

/// A field with its arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Field {
    pub(crate) alias: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: Vec<(String, Arg)>,
    /// `skip` and `include` with their conditions.
    pub(crate) directives: Vec<(&'static str, Arg)>,
    pub(crate) selections: Vec<Selection>,
}

/// An element of a selection set.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    Field(Field),
    Inline {
        on: Option<String>,
        directives: Vec<(&'static str, Arg)>,
        selections: Vec<Selection>,
    },
    Spread(String),
}

/// A variable with the value that the request gives.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) default: Option<Arg>,
    pub(crate) given: Option<Arg>,
}

/// A fragment with a name.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) name: String,
    pub(crate) on: String,
    pub(crate) selections: Vec<Selection>,
}

/// A query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operation {
    pub(crate) variables: Vec<Variable>,
    pub(crate) selections: Vec<Selection>,
    pub(crate) fragments: Vec<Fragment>,
}

impl Arg {
    fn json(&self) -> Value {
        match self {
            Arg::Null => Value::Null,
            Arg::Boolean(value) => json!(value),
            Arg::Number(text) => serde_json::from_str(text).expect("a number"),
            Arg::Text(text) | Arg::Enum(text) => json!(text),
            Arg::List(items) => items.iter().map(Arg::json).collect(),
            Arg::Object(keys) => {
                let members = keys.iter().map(|(key, value)| (key.clone(), value.json()));
                Value::Object(members.collect())
            }
            Arg::Variable(_) => panic!("variables do not nest"),
        }
    }

    fn print(&self, out: &mut String) {
        match self {
            Arg::Null => out.push_str("null"),
            Arg::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Arg::Number(text) | Arg::Enum(text) => out.push_str(text),
            Arg::Text(text) => out.push_str(&json!(text).to_string()),
            Arg::Variable(name) => {
                out.push('$');
                out.push_str(name);
            }
            Arg::List(items) => {
                out.push('[');
                separated(out, items, |out, item| item.print(out));
                out.push(']');
            }
            Arg::Object(keys) => {
                out.push('{');
                print_members(out, keys);
                out.push('}');
            }
        }
    }

    /// Another value of the same type, if that is easy to tell.
    fn another(&self, random: &mut Random) -> Arg {
        match self {
            Arg::Boolean(value) => Arg::Boolean(!value),
            Arg::List(items) => {
                let mut items = items.clone();
                items.retain(|_| random.chance(60));
                Arg::List(items)
            }
            Arg::Object(keys) => {
                let mut keys = keys.clone();
                keys.retain(|_| random.chance(60));
                Arg::Object(keys)
            }
            value => value.clone(),
        }
    }

    fn uses(&self, variable: &str) -> bool {
        match self {
            Arg::Variable(name) => name == variable,
            Arg::List(items) => items.iter().any(|item| item.uses(variable)),
            Arg::Object(keys) => keys.iter().any(|(_, value)| value.uses(variable)),
            _ => false,
        }
    }
}

fn print_members(out: &mut String, members: &[(String, Arg)]) {
    separated(out, members, |out, (key, value)| {
        out.push_str(key);
        out.push_str(": ");
        value.print(out);
    });
}

fn separated<T>(out: &mut String, items: &[T], print: impl Fn(&mut String, &T)) {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        print(out, item);
    }
}

impl Selection {
    pub(crate) fn children(&self) -> &[Selection] {
        match self {
            Selection::Field(field) => &field.selections,
            Selection::Inline { selections, .. } => selections,
            Selection::Spread(_) => &[],
        }
    }

    fn uses_variable(&self, name: &str) -> bool {
        let own = match self {
            Selection::Field(field) => {
                let mut arguments = field.arguments.iter();
                arguments.any(|(_, value)| value.uses(name))
                    || field.directives.iter().any(|(_, value)| value.uses(name))
            }
            Selection::Inline { directives, .. } => {
                directives.iter().any(|(_, value)| value.uses(name))
            }
            Selection::Spread(_) => false,
        };
        own || self
            .children()
            .iter()
            .any(|child| child.uses_variable(name))
    }

    fn spreads(&self, fragment: &str) -> bool {
        matches!(self, Selection::Spread(name) if name == fragment)
            || self.children().iter().any(|child| child.spreads(fragment))
    }

    fn print(&self, out: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        out.push_str(&indent);
        match self {
            Selection::Spread(name) => {
                let _ = writeln!(out, "...{name}");
                return;
            }
            Selection::Inline { on, directives, .. } => {
                out.push_str("...");
                if let Some(on) = on {
                    let _ = write!(out, " on {on}");
                }
                print_directives(out, directives);
            }
            Selection::Field(field) => {
                if let Some(alias) = &field.alias {
                    let _ = write!(out, "{alias}: ");
                }
                out.push_str(&field.name);
                if !field.arguments.is_empty() {
                    out.push('(');
                    print_members(out, &field.arguments);
                    out.push(')');
                }
                print_directives(out, &field.directives);
            }
        }
        if !self.children().is_empty() {
            out.push_str(" {\n");
            for child in self.children() {
                child.print(out, depth + 1);
            }
            out.push_str(&indent);
            out.push('}');
        }
        out.push('\n');
    }
}

fn print_directives(out: &mut String, directives: &[(&'static str, Arg)]) {
    for (name, condition) in directives {
        let _ = write!(out, " @{name}(if: ");
        condition.print(out);
        out.push(')');
    }
}

impl Operation {
    /// Fragments that are used, directly or through another.
    fn used_fragments(&self) -> Vec<&Fragment> {
        let mut used: Vec<&Fragment> = Vec::new();
        loop {
            let before = used.len();
            for fragment in &self.fragments {
                let known = used.iter().any(|u| u.name == fragment.name);
                let mut sets = used
                    .iter()
                    .flat_map(|u| &u.selections)
                    .chain(&self.selections);
                if !known && sets.any(|selection| selection.spreads(&fragment.name)) {
                    used.push(fragment);
                }
            }
            if used.len() == before {
                return used;
            }
        }
    }

    fn used_variables(&self) -> Vec<&Variable> {
        let fragments = self.used_fragments();
        let used = |variable: &&Variable| {
            let sets = fragments.iter().flat_map(|f| &f.selections);
            sets.chain(&self.selections)
                .any(|selection| selection.uses_variable(&variable.name))
        };
        self.variables.iter().filter(used).collect()
    }

    /// The same document with other values for its variables; `None` if they are the same. They may be invalid.
    pub(crate) fn of_another_request(&self, random: &mut Random) -> Option<Operation> {
        let mut other = self.clone();
        for variable in &mut other.variables {
            let is_optional = variable.default.is_some() || !variable.ty.ends_with('!');
            variable.given = match &variable.given {
                Some(_) if is_optional && random.chance(30) => None,
                Some(value) => Some(value.another(random)),
                None => variable.default.as_ref().map(|value| value.another(random)),
            };
        }
        (other.values() != self.values()).then_some(other)
    }

    /// The text of the document; what nothing uses is left out.
    pub(crate) fn document(&self) -> String {
        let mut out = String::from("query");
        let variables = self.used_variables();
        if !variables.is_empty() {
            out.push('(');
            separated(&mut out, &variables, |out, variable| {
                let _ = write!(out, "${}: {}", variable.name, variable.ty);
                if let Some(default) = &variable.default {
                    out.push_str(" = ");
                    default.print(out);
                }
            });
            out.push(')');
        }
        out.push_str(" {\n");
        for selection in &self.selections {
            selection.print(&mut out, 1);
        }
        out.push_str("}\n");
        for fragment in self.used_fragments() {
            let _ = writeln!(out, "fragment {} on {} {{", fragment.name, fragment.on);
            for selection in &fragment.selections {
                selection.print(&mut out, 1);
            }
            out.push_str("}\n");
        }
        out
    }

    /// The values of the variables.
    pub(crate) fn values(&self) -> Map<String, Value> {
        let given = self.used_variables().into_iter();
        given
            .filter_map(|variable| Some((variable.name.clone(), variable.given.as_ref()?.json())))
            .collect()
    }
}
