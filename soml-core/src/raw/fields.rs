//! Takes a mapping apart by the table of its keys.

use super::{Spanned, Text, did_you_mean, value};
use crate::codes::Code;
use crate::diagnostic::{Findings, shorten};
use crate::keys::Table;
use crate::span::Span;
use crate::yaml::NodeRef;

/// The entries of a mapping, sorted by key.
pub(super) struct Fields<'d, 't> {
    table: &'static Table,
    slots: Vec<Option<NodeRef<'d, 't>>>,
    cursor: usize,
}

impl<'d, 't> Fields<'d, 't> {
    /// Sorts the entries of `node`; what is not a mapping has none.
    pub(super) fn open(
        node: NodeRef<'d, 't>,
        table: &'static Table,
        findings: &mut Findings,
    ) -> Fields<'d, 't> {
        let mut slots = vec![None; table.keys.len()];
        let entries = value::entries(node, table.what, findings);
        let mut old = Vec::new();
        for (key, value) in entries {
            let Some(text) = key.text() else { continue };
            let Some(at) = table.keys.iter().position(|k| k.name == text) else {
                unknown(text, key.span(), table, findings);
                continue;
            };
            match table.keys[at].instead {
                Some(today) => old.push((today, text, key.span(), value)),
                None => slots[at] = Some(value),
            }
        }
        for (today, written, span, value) in old {
            let finding = findings.add(
                Code::OldSpelling,
                span,
                format!("`{written}` is now called `{today}`"),
            );
            let slot = table.keys.iter().position(|k| k.name == today);
            let slot =
                &mut slots[slot.expect("an old spelling stands for a key of the same table")];
            if slot.is_some() {
                finding.help(format!(
                    "`{today}` is set too, so this key is ignored; remove it"
                ));
            } else {
                finding.help(format!("write `{today}`"));
                *slot = Some(value);
            }
        }
        Fields {
            table,
            slots,
            cursor: 0,
        }
    }

    /// Takes the value of a key; null counts as absent.
    pub(super) fn take(&mut self, name: &str) -> Option<NodeRef<'d, 't>> {
        // Keys are taken in the order of the table, so the wanted one is usually next.
        let keys = self.table.keys;
        let at = match keys.get(self.cursor) {
            Some(key) if key.name == name => self.cursor,
            _ => keys
                .iter()
                .position(|k| k.name == name)
                .expect("the key is in the table"),
        };
        self.cursor = at + 1;
        self.slots[at].filter(|node| !node.is_null())
    }

    /// Returns where a key stands whose value is null.
    pub(super) fn null(&self, name: &str) -> Option<Span> {
        let at = self.table.keys.iter().position(|k| k.name == name)?;
        let node = self.slots[at]?;
        node.is_null().then(|| node.span())
    }

    pub(super) fn text(&mut self, name: &str, findings: &mut Findings) -> Option<Text<'d>> {
        value::text(self.take(name)?, name, findings)
    }

    /// Takes a descriptive text, of which several are forgiven.
    pub(super) fn caption(&mut self, name: &str, findings: &mut Findings) -> Option<Text<'d>> {
        value::caption(self.take(name)?, name, findings)
    }

    pub(super) fn texts(
        &mut self,
        name: &str,
        findings: &mut Findings,
    ) -> Option<Spanned<Vec<Text<'d>>>> {
        value::texts(self.take(name)?, name, findings)
    }

    pub(super) fn boolean(&mut self, name: &str, findings: &mut Findings) -> Option<Spanned<bool>> {
        value::boolean(self.take(name)?, name, findings)
    }
}

fn unknown(written: &str, span: Span, table: &Table, findings: &mut Findings) {
    let message = format!(
        "{} has no key `{}`; it is ignored",
        table.what,
        shorten(written)
    );
    findings.add(Code::UnknownKey, span, message).help_with(|| {
        let known = table
            .keys
            .iter()
            .filter(|k| k.instead.is_none())
            .map(|k| k.name);
        did_you_mean(written, known)
    });
}
