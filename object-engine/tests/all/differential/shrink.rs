//! Makes a case that differs smaller while it still differs.

use oxrdf::Quad;

use crate::differential::operation::{Arg, Operation, Selection};

/// Greatest number of smaller cases that are tried.
const ATTEMPTS: usize = 3_000;

/// Returns the smallest case found for which `differs` holds.
pub(crate) fn shrink(
    mut operation: Operation,
    mut quads: Vec<Quad>,
    differs: impl Fn(&Operation, &[Quad]) -> bool,
) -> (Operation, Vec<Quad>) {
    let mut attempts = 0;
    loop {
        let before = attempts;
        let mut progress = false;
        let mut edit = 0;
        while let Some(smaller) = edited(&operation, edit) {
            attempts += 1;
            if attempts > ATTEMPTS {
                return (operation, quads);
            }
            if differs(&smaller, &quads) {
                operation = smaller;
                progress = true;
            } else {
                edit += 1;
            }
        }
        let mut size = quads.len() / 2;
        while size > 0 {
            let mut start = 0;
            while start < quads.len() {
                let mut fewer = quads.clone();
                fewer.drain(start..(start + size).min(quads.len()));
                attempts += 1;
                if attempts < ATTEMPTS && differs(&operation, &fewer) {
                    quads = fewer;
                    progress = true;
                } else {
                    start += size;
                }
            }
            size /= 2;
        }
        if !progress || attempts == before {
            return (operation, quads);
        }
    }
}

/// Applies the edit of a number; `None` when there are fewer.
fn edited(operation: &Operation, edit: usize) -> Option<Operation> {
    let mut smaller = operation.clone();
    let mut editor = Editor {
        left: edit,
        operation,
    };
    let mut done = editor.selections(&mut smaller.selections);
    for fragment in &mut smaller.fragments {
        done = done || editor.selections(&mut fragment.selections);
    }
    done.then_some(smaller)
}

/// Counts edits down to the wanted one.
struct Editor<'a> {
    left: usize,
    operation: &'a Operation,
}

impl Editor<'_> {
    fn is_now(&mut self) -> bool {
        let now = self.left == 0;
        self.left = self.left.wrapping_sub(1);
        now
    }

    fn selections(&mut self, selections: &mut Vec<Selection>) -> bool {
        for at in 0..selections.len() {
            if selections.len() > 1 && self.is_now() {
                selections.remove(at);
                return true;
            }
            if let Some(replacement) = self.replacement(&selections[at]) {
                selections.splice(at..=at, replacement);
                return true;
            }
            let done = match &mut selections[at] {
                Selection::Field(field) => {
                    self.arguments(&mut field.arguments)
                        || self.directives(&mut field.directives)
                        || self.selections(&mut field.selections)
                }
                Selection::Inline {
                    directives,
                    selections,
                    ..
                } => self.directives(directives) || self.selections(selections),
                Selection::Spread(_) => false,
            };
            if done {
                return true;
            }
        }
        false
    }

    /// The content of a fragment in its place, or a plain field in place of one with selections.
    fn replacement(&mut self, selection: &Selection) -> Option<Vec<Selection>> {
        match selection {
            Selection::Inline { selections, .. } => self.is_now().then(|| selections.clone()),
            Selection::Spread(name) => {
                let mut fragments = self.operation.fragments.iter();
                let fragment = fragments.find(|fragment| fragment.name == *name)?;
                self.is_now().then(|| {
                    vec![Selection::Inline {
                        on: Some(fragment.on.clone()),
                        directives: Vec::new(),
                        selections: fragment.selections.clone(),
                    }]
                })
            }
            Selection::Field(_) => None,
        }
    }

    fn arguments(&mut self, arguments: &mut Vec<(String, Arg)>) -> bool {
        for at in 0..arguments.len() {
            if self.is_now() {
                arguments.remove(at);
                return true;
            }
            if self.value(&mut arguments[at].1) {
                return true;
            }
        }
        false
    }

    fn directives(&mut self, directives: &mut Vec<(&'static str, Arg)>) -> bool {
        !directives.is_empty() && self.is_now() && {
            directives.clear();
            true
        }
    }

    fn value(&mut self, value: &mut Arg) -> bool {
        match value {
            Arg::Variable(name) => {
                let mut variables = self.operation.variables.iter();
                let variable = variables.find(|variable| variable.name == *name);
                let inline = variable.and_then(|v| v.given.clone().or_else(|| v.default.clone()));
                match inline {
                    Some(inline) if self.is_now() => {
                        *value = inline;
                        true
                    }
                    _ => false,
                }
            }
            Arg::List(items) => {
                for at in 0..items.len() {
                    if self.is_now() {
                        items.remove(at);
                        return true;
                    }
                    if self.value(&mut items[at]) {
                        return true;
                    }
                }
                false
            }
            Arg::Object(keys) => {
                for at in 0..keys.len() {
                    if self.is_now() {
                        keys.remove(at);
                        return true;
                    }
                    // The operand of a connective in place of the connective.
                    let inner = match &keys[at] {
                        (key, Arg::Object(inner)) if is_connective(key) => Some(inner.clone()),
                        (key, Arg::List(items)) if is_connective(key) => match items.first() {
                            Some(Arg::Object(inner)) => Some(inner.clone()),
                            _ => None,
                        },
                        _ => None,
                    };
                    if let Some(inner) = inner
                        && self.is_now()
                    {
                        *keys = inner;
                        return true;
                    }
                    if self.value(&mut keys[at].1) {
                        return true;
                    }
                }
                false
            }
            _ => false,
        }
    }
}

fn is_connective(key: &str) -> bool {
    ["AND", "OR", "NOT", "ALL", "ALL_EXISTS"].contains(&key)
}
