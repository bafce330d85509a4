//! Operations with lists of entities that are left out or repeated: what is known of entities is not asked for, and
//! objects that are given different values from contexts cannot be in one list. Neither is known before.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

use apollo_compiler::Name;

/// An operation whose lists of entities are written as often as they are needed.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// The client's variables with their definitions, in the client's order.
    pub(super) definitions: Vec<(Name, String)>,
    /// In the order of the steps.
    pub(super) lists: Vec<ListText>,
}

/// The text of a list of entities.
#[derive(Clone, Debug, Default)]
pub(super) struct ListText {
    pub(super) key: String,
    /// The variable of its representations.
    pub(super) variable: String,
    /// The variables of values from contexts with their types.
    pub(super) contexts: Vec<(String, String)>,
    /// The client's variables in it.
    pub(super) used: BTreeSet<Name>,
    /// What is selected, cut where variables of contexts stand: which of them, and what follows.
    pub(super) begin: String,
    pub(super) rest: Vec<(usize, String)>,
}

/// Returns the name of a key or a variable in a copy of a list. The first has the name itself.
pub(crate) fn copied(name: &str, copy: usize) -> Cow<'_, str> {
    match copy {
        0 => name.into(),
        _ => format!("{name}_{copy}").into(),
    }
}

impl Template {
    /// Returns the operation with as many copies of each list as `counts` says, and the client's variables in
    /// it.
    pub(crate) fn text(&self, counts: &[usize]) -> (String, Vec<&Name>) {
        let lists = || {
            self.lists
                .iter()
                .zip(counts)
                .filter(|(_, count)| **count > 0)
        };
        let used = |name: &Name| lists().any(|(list, _)| list.used.contains(name));
        let definitions = self.definitions.iter().filter(|(name, _)| used(name));
        let (names, mut head): (Vec<&Name>, Vec<String>) = definitions
            .map(|(name, definition)| (name, definition.clone()))
            .unzip();
        let mut body = String::new();
        for (list, count) in lists() {
            for copy in 0..*count {
                list.write(copy, &mut head, &mut body);
            }
        }
        let text = format!("query({}) {{{body} }}", head.join(", "));
        (text, names)
    }

    /// Returns the length of a copy of a list, about.
    pub(crate) fn length(&self, list: usize) -> usize {
        let list = &self.lists[list];
        let rest = list.rest.iter();
        let contexts = rest.map(|(_, text)| text.len() + 32).sum::<usize>();
        list.begin.len() + contexts + 128
    }
}

impl ListText {
    /// Cuts what is selected at the variables of contexts: their offsets, their lengths, and which they are.
    pub(super) fn cut(&mut self, selected: &str, marks: &[(usize, usize, usize)]) {
        let first = marks.first().map_or(selected.len(), |(offset, ..)| *offset);
        selected[..first].clone_into(&mut self.begin);
        for (place, (offset, length, context)) in marks.iter().enumerate() {
            let end = marks.get(place + 1).map_or(selected.len(), |next| next.0);
            let rest = &selected[offset + length..end];
            self.rest.push((*context, rest.to_owned()));
        }
    }

    fn write(&self, copy: usize, head: &mut Vec<String>, body: &mut String) {
        let (key, variable) = (copied(&self.key, copy), copied(&self.variable, copy));
        head.push(format!("${variable}: [_Any!]!"));
        for (variable, ty) in &self.contexts {
            head.push(format!("${}: {ty}", copied(variable, copy)));
        }
        body.push(' ');
        if key != "_entities" {
            let _ = write!(body, "{key}: ");
        }
        let _ = write!(
            body,
            "_entities(representations: ${variable}) {}",
            self.begin
        );
        for (context, rest) in &self.rest {
            body.push_str(&copied(&self.contexts[*context].0, copy));
            body.push_str(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use apollo_compiler::name;

    use super::*;

    #[test]
    fn copies_have_names_of_their_own_and_variables_only_where_they_are_used() {
        let mut list = ListText {
            key: "_entities".to_owned(),
            variable: "representations".to_owned(),
            contexts: vec![("context_0".to_owned(), "Int!".to_owned())],
            used: BTreeSet::from([name!("x")]),
            ..ListText::default()
        };
        let selected = "{ ... on T { f(x: $x, c: $context_0) g(c: $context_0) } }";
        let mark = |from: usize| selected[from..].find("context_0").unwrap() + from;
        let first = mark(0);
        list.cut(selected, &[(first, 9, 0), (mark(first + 1), 9, 0)]);
        let plain = ListText {
            key: "_1".to_owned(),
            variable: "representations_1".to_owned(),
            used: BTreeSet::from([name!("y")]),
            begin: "{ ... on T { h(y: $y) } }".to_owned(),
            ..ListText::default()
        };
        let template = Template {
            definitions: vec![
                (name!("x"), "$x: Int".to_owned()),
                (name!("y"), "$y: Int".to_owned()),
            ],
            lists: vec![list, plain],
        };
        let (text, names) = template.text(&[1, 1]);
        assert_eq!(names, ["x", "y"]);
        assert_eq!(
            text,
            "query($x: Int, $y: Int, $representations: [_Any!]!, $context_0: Int!, $representations_1: [_Any!]!) { \
             _entities(representations: $representations) { ... on T { f(x: $x, c: $context_0) g(c: $context_0) } } \
             _1: _entities(representations: $representations_1) { ... on T { h(y: $y) } } }"
        );
        let (text, names) = template.text(&[2, 0]);
        assert_eq!(names, ["x"]);
        assert_eq!(
            text,
            "query($x: Int, $representations: [_Any!]!, $context_0: Int!, $representations_1: [_Any!]!, $context_0_1: Int!) { \
             _entities(representations: $representations) { ... on T { f(x: $x, c: $context_0) g(c: $context_0) } } \
             _entities_1: _entities(representations: $representations_1) { ... on T { f(x: $x, c: $context_0_1) g(c: $context_0_1) } } }"
        );
    }
}
