//! Writes connections: edges, nodes and page information.

use graph_store::query::{Position, Take};
use graphql_service::writer::{PathStep, PropagateNull, WriteResult, write_string};

use super::fetch::FetchedConnection;
use super::write::Writer;
use crate::code;
use crate::plan::{ConnectionPart, EdgeField, EdgePart, ListOutput, PagePart, RootConnection};

impl<'a> Writer<'a> {
    pub(super) fn connection(
        &mut self,
        plan: &'a RootConnection,
        fetched: &'a FetchedConnection,
    ) -> WriteResult {
        self.answer.out.push(b'{');
        for (position, field) in plan.fields.iter().enumerate() {
            self.answer.check_size()?;
            self.answer.key(position, &field.key);
            self.answer.enter(PathStep::Key(&field.key));
            match &field.part {
                ConnectionPart::Edges(fields) => self.edges(plan, fetched, fields)?,
                ConnectionPart::Nodes(level) => {
                    let list = ListOutput {
                        non_null_elements: true,
                        ..ListOutput::default()
                    };
                    self.objects(plan.levels[*level], &fetched.positions[*level], &list)?;
                }
                ConnectionPart::PageInfo(parts) => self.page_info(plan, fetched, parts),
                ConnectionPart::TotalCount => self.answer.number(fetched.count),
                ConnectionPart::TypeName(name) => write_string(&mut self.answer.out, name),
            }
            self.answer.leave();
        }
        self.answer.out.push(b'}');
        Ok(())
    }

    fn edges(
        &mut self,
        plan: &'a RootConnection,
        fetched: &'a FetchedConnection,
        fields: &'a [EdgeField],
    ) -> WriteResult {
        self.check_page(fetched.windowed.objects.len())?;
        self.answer.out.push(b'[');
        for index in 0..fetched.windowed.objects.len() {
            if index > 0 {
                self.answer.out.push(b',');
            }
            self.check_size_and_time()?;
            self.answer.enter(PathStep::Index(index));
            self.answer.out.push(b'{');
            for (position, field) in fields.iter().enumerate() {
                self.answer.check_size()?;
                self.answer.key(position, &field.key);
                let (mark, depth) = (self.answer.mark(), self.answer.depth());
                let mut written = Ok(());
                self.answer.enter(PathStep::Key(&field.key));
                match &field.part {
                    EdgePart::Node(level) => {
                        let node = fetched.positions[*level][index];
                        let level = plan.levels[*level];
                        written = if self.is_known(level, node) {
                            self.object(level, node)
                        } else {
                            Err(PropagateNull)
                        };
                    }
                    EdgePart::Cursor => self.cursor(plan, &fetched.windowed.position(index))?,
                    EdgePart::TypeName(name) => write_string(&mut self.answer.out, name),
                }
                self.answer.leave_to(depth);
                if written.is_err() {
                    self.answer.null_from(mark, false)?;
                }
            }
            self.answer.out.push(b'}');
            self.answer.leave();
        }
        self.answer.out.push(b']');
        Ok(())
    }

    fn cursor(&mut self, plan: &RootConnection, place: &Position) -> WriteResult {
        let Some(cursor) = plan.codec.encode(place) else {
            let message = format!(
                "the sort keys of <{}> are too long for a cursor",
                place.id.iri()
            );
            self.error(code::LIMIT_CURSOR, &message, None);
            return Err(PropagateNull);
        };
        write_string(&mut self.answer.out, &cursor);
        Ok(())
    }

    fn page_info(
        &mut self,
        plan: &RootConnection,
        fetched: &FetchedConnection,
        parts: &'a [(String, PagePart)],
    ) {
        let windowed = &fetched.windowed;
        let first = || (!windowed.objects.is_empty()).then(|| windowed.position(0));
        let last = || {
            let last = windowed.objects.len().checked_sub(1)?;
            Some(windowed.position(last))
        };
        self.answer.out.push(b'{');
        for (position, (key, part)) in parts.iter().enumerate() {
            self.answer.key(position, key);
            self.answer.enter(PathStep::Key(key));
            match part {
                PagePart::HasNextPage => self.boolean(has_next_page(plan, fetched)),
                PagePart::HasPreviousPage => self.boolean(has_previous_page(plan, fetched)),
                PagePart::StartCursor => self.end_of_page(plan, first()),
                PagePart::EndCursor => self.end_of_page(plan, last()),
                PagePart::TypeName => write_string(&mut self.answer.out, "PageInfo"),
            }
            self.answer.leave();
        }
        self.answer.out.push(b'}');
    }

    fn end_of_page(&mut self, plan: &RootConnection, place: Option<Position>) {
        let written = place.map(|place| self.cursor(plan, &place));
        if !matches!(written, Some(Ok(()))) {
            self.answer.out.extend_from_slice(b"null");
        }
    }

    fn boolean(&mut self, value: bool) {
        let text = if value { "true" } else { "false" };
        self.answer.out.extend_from_slice(text.as_bytes());
    }
}

/// Follows the GraphQL Cursor Connections Specification: with `first`, whether the range has more
/// objects; otherwise, with `before`, whether there are objects from that cursor on.
fn has_next_page(plan: &RootConnection, fetched: &FetchedConnection) -> bool {
    match take(plan) {
        Take::First(_) => fetched.windowed.more,
        Take::Last(_) | Take::All => fetched.windowed.follows,
    }
}

/// Like [`has_next_page`], with `last` and `after`.
fn has_previous_page(plan: &RootConnection, fetched: &FetchedConnection) -> bool {
    match take(plan) {
        Take::Last(_) => fetched.windowed.more,
        Take::First(_) | Take::All => fetched.windowed.precedes,
    }
}

fn take(plan: &RootConnection) -> Take {
    plan.window.as_ref().map_or(Take::All, |window| window.take)
}
