//! The changes of the document, and where the differences of the API find theirs.

use std::collections::{HashMap, HashSet};

use soml_core::span::Span;

use super::change::{Change, Consequence};
use super::code::ChangeCode;

/// What identifies a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key<'a> {
    pub(super) code: ChangeCode,
    /// The object, enumeration, role, setting or prefix that it is about.
    pub(super) subject: &'a str,
    /// The property of the object.
    pub(super) property: Option<&'a str>,
}

impl<'a> Key<'a> {
    pub(super) fn new(code: ChangeCode, subject: &'a str) -> Self {
        Key {
            code,
            subject,
            property: None,
        }
    }

    pub(super) fn of_property(code: ChangeCode, object: &'a str, property: &'a str) -> Self {
        Key {
            code,
            subject: object,
            property: Some(property),
        }
    }

    /// Returns the schema coordinate of what it is about.
    pub(super) fn coordinate(&self) -> String {
        match self.property {
            Some(property) => format!("{}.{property}", self.subject),
            None => self.subject.to_owned(),
        }
    }
}

/// The coordinates of something in the old and the new document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Spans {
    pub(super) old: Option<Span>,
    pub(super) new: Option<Span>,
}

/// A change that further coordinates may join.
pub(super) struct Draft {
    pub(super) code: ChangeCode,
    pub(super) coordinate: String,
    /// What changed, up to the name of the object.
    pub(super) head: String,
    /// What became of it.
    pub(super) tail: String,
    pub(super) spans: Spans,
}

struct Entry {
    draft: Draft,
    others: HashSet<Spans>,
    consequences: Vec<Consequence>,
}

/// All changes found so far.
#[derive(Default)]
pub(super) struct Causes<'a> {
    entries: Vec<Entry>,
    by_key: HashMap<Key<'a>, usize>,
    standalone: HashMap<(ChangeCode, String), usize>,
}

impl<'a> Causes<'a> {
    /// Adds a change; differences find it by `key`.
    pub(super) fn add(&mut self, key: Key<'a>, draft: Draft) {
        self.by_key.insert(key, self.entries.len());
        self.push(draft);
    }

    fn push(&mut self, draft: Draft) {
        self.entries.push(Entry {
            draft,
            others: HashSet::new(),
            consequences: Vec::new(),
        });
    }

    /// Adds a difference that has no cause in the document.
    pub(super) fn add_standalone(&mut self, spans: Spans, consequence: &Consequence) {
        let key = (consequence.code, consequence.coordinate.clone());
        if self.standalone.insert(key, self.entries.len()).is_some() {
            return;
        }
        self.push(Draft {
            code: consequence.code,
            coordinate: consequence.coordinate.clone(),
            head: consequence.message.clone(),
            tail: String::new(),
            spans,
        });
    }

    pub(super) fn has(&self, key: Key<'a>) -> bool {
        self.by_key.contains_key(&key)
    }

    /// Returns what became of the subject of a change.
    pub(super) fn tail(&self, key: Key<'a>) -> Option<&str> {
        let &at = self.by_key.get(&key)?;
        Some(&self.entries[at].draft.tail)
    }

    /// Makes `key` find the change of `cause` too.
    pub(super) fn join(&mut self, key: Key<'a>, cause: Key<'a>) {
        if let Some(&at) = self.by_key.get(&cause) {
            self.by_key.insert(key, at);
        }
    }

    /// Notes a further coordinate of the document with the same change.
    pub(super) fn also_at(&mut self, cause: Key<'a>, spans: Spans) {
        if let Some(&at) = self.by_key.get(&cause) {
            let entry = &mut self.entries[at];
            if entry.draft.spans != spans {
                entry.others.insert(spans);
            }
        }
    }

    /// Puts a difference under a change; `false` when there is no such change.
    pub(super) fn attach(&mut self, cause: Key<'a>, consequence: Consequence) -> bool {
        let Some(&at) = self.by_key.get(&cause) else {
            return false;
        };
        self.entries[at].consequences.push(consequence);
        true
    }

    /// Returns the changes, the most critical first, then in the order of the document.
    pub(super) fn finish(self) -> Vec<Change> {
        let mut changes: Vec<_> = self.entries.into_iter().map(Entry::finish).collect();
        changes.sort_by(|a, b| {
            let coordinate = |c: &Change| c.new_span.or(c.old_span).map(|span| span.start);
            b.criticality
                .cmp(&a.criticality)
                .then_with(|| coordinate(a).cmp(&coordinate(b)))
                .then_with(|| a.coordinate.cmp(&b.coordinate))
                .then_with(|| a.code.cmp(&b.code))
        });
        changes
    }
}

impl Entry {
    fn finish(mut self) -> Change {
        self.consequences
            .sort_by_key(|c| std::cmp::Reverse(c.criticality));
        let draft = self.draft;
        let others = match self.others.len() {
            0 => String::new(),
            1 => " and of 1 other object".to_owned(),
            n => format!(" and of {n} other objects"),
        };
        let worst = self.consequences.first().map(|c| c.criticality);
        let own = draft.code.criticality();
        Change {
            criticality: worst.map_or(own, |worst| worst.max(own)),
            code: draft.code,
            coordinate: draft.coordinate,
            message: format!("{}{others}{}", draft.head, draft.tail),
            old_span: draft.spans.old,
            new_span: draft.spans.new,
            consequences: self.consequences,
        }
    }
}
