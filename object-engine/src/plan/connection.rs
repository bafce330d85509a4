//! Connections: windows over the objects of a type, with a cursor for each.

use std::sync::Arc;

use apollo_compiler::Node;
use apollo_compiler::executable::{self, SelectionSet};
use graph_store::query::{OrderKey, Position, Selection, Take, Window};
use graphql_gen::typesystem::TypeRef;
use graphql_service::error::{GraphqlError, PathSegment};
use soml_core::access::Part;

use super::build::{CursorWindow, Planner, Scope};
use super::collect::{Fields, Parent, collect};
use super::cursor::CursorCodec;
use super::{
    ConnectionField, ConnectionPart, EdgeField, EdgePart, PagePart, RootConnection, RootValue,
};
use crate::code;

type Result<T> = std::result::Result<T, GraphqlError>;

/// A connection under construction.
struct ConnectionBuilder {
    target: TypeRef,
    scope: Scope,
    connection: RootConnection,
    /// Whether more than the number of objects is requested.
    windowed: bool,
    /// Whether cursors can be read.
    cursors: bool,
}

impl<'a> Planner<'_, 'a> {
    /// Plans a connection over the objects of `selection`.
    pub(super) fn connection(
        &mut self,
        nodes: &[&'a Node<executable::Field>],
        target: TypeRef,
        selection: Selection,
        CursorWindow { window, codec }: CursorWindow,
        scope: Scope,
    ) -> Result<Option<RootValue>> {
        let field = nodes[0];
        let ty = type_of(field);
        // A cursor has an id in it (docs/access.md, "What a caller sees").
        let cursors = self.input.view().reads_wherever_shown(target, Part::Id);
        let mut builder = ConnectionBuilder {
            target,
            scope,
            connection: RootConnection {
                selection,
                window: None,
                count: false,
                codec,
                levels: Vec::new(),
                fields: Arc::new([]),
            },
            windowed: false,
            cursors,
        };
        let mut parts = Vec::new();
        let mut left_out = false;
        for (key, nodes) in self.sub_fields(nodes) {
            self.left_out.path.push(nodes[0].response_key());
            let part = self.connection_part(&ty, &nodes, &mut builder)?;
            self.left_out.path.pop();
            left_out |= part.is_none();
            parts.extend(part.map(|part| ConnectionField { key, part }));
        }
        let is_name = |field: &ConnectionField| matches!(field.part, ConnectionPart::TypeName(_));
        if left_out && parts.iter().all(is_name) {
            return Ok(None);
        }
        let mut connection = builder.connection;
        connection.fields = parts.into();
        connection.window = builder.windowed.then_some(window);
        Ok(Some(RootValue::Connection(Box::new(connection))))
    }

    /// Returns the fields below `nodes`, whose type has no subtypes.
    pub(super) fn sub_fields(
        &self,
        nodes: &[&'a Node<executable::Field>],
    ) -> Vec<(String, Vec<&'a Node<executable::Field>>)> {
        let sets: Vec<&SelectionSet> = nodes.iter().map(|node| &node.selection_set).collect();
        let mut fields = Fields::default();
        collect(self.input, &Parent::Root, &sets, &mut fields);
        fields.entries
    }

    /// Plans a field of a connection; `None` when nothing of it can be read.
    fn connection_part(
        &mut self,
        of: &str,
        nodes: &[&'a Node<executable::Field>],
        builder: &mut ConnectionBuilder,
    ) -> Result<Option<ConnectionPart>> {
        let name = nodes[0].name.as_str();
        let part = match name {
            "edges" => self.edges(nodes, builder)?.map(ConnectionPart::Edges),
            "nodes" => {
                let level = self.connection_level(nodes, builder)?;
                level.map(ConnectionPart::Nodes)
            }
            "pageInfo" => self.page_info(nodes, builder).map(ConnectionPart::PageInfo),
            // Counted only if it is selected (docs/queries.md, "Connections").
            "totalCount" => {
                builder.connection.count = true;
                Some(ConnectionPart::TotalCount)
            }
            _ => Some(ConnectionPart::TypeName(of.to_owned())),
        };
        builder.windowed |= part.is_some() && matches!(name, "edges" | "nodes" | "pageInfo");
        Ok(part)
    }

    fn edges(
        &mut self,
        nodes: &[&'a Node<executable::Field>],
        builder: &mut ConnectionBuilder,
    ) -> Result<Option<Vec<EdgeField>>> {
        let edge = type_of(nodes[0]);
        let mut fields = Vec::new();
        let mut left_out = false;
        for (key, nodes) in self.sub_fields(nodes) {
            let part = match nodes[0].name.as_str() {
                "node" => {
                    self.left_out.path.push(nodes[0].response_key());
                    let level = self.connection_level(&nodes, builder)?;
                    self.left_out.path.pop();
                    level.map(EdgePart::Node)
                }
                "cursor" if !builder.cursors => {
                    self.left_out.field(self.input, &key, nodes[0]);
                    None
                }
                "cursor" => Some(EdgePart::Cursor),
                _ => Some(EdgePart::TypeName(edge.clone())),
            };
            left_out |= part.is_none();
            fields.extend(part.map(|part| EdgeField { key, part }));
        }
        let is_name = |field: &EdgeField| matches!(field.part, EdgePart::TypeName(_));
        Ok((!left_out || !fields.iter().all(is_name)).then_some(fields))
    }

    fn page_info(
        &mut self,
        nodes: &[&'a Node<executable::Field>],
        builder: &ConnectionBuilder,
    ) -> Option<Vec<(String, PagePart)>> {
        let mut fields = Vec::new();
        let mut left_out = false;
        for (key, nodes) in self.sub_fields(nodes) {
            let part = page_part(nodes[0].name.as_str());
            if !builder.cursors && matches!(part, PagePart::StartCursor | PagePart::EndCursor) {
                self.left_out.field(self.input, &key, nodes[0]);
                left_out = true;
            } else {
                fields.push((key, part));
            }
        }
        let is_left = fields.iter().any(|(_, part)| *part != PagePart::TypeName);
        (!left_out || is_left).then_some(fields)
    }

    /// Returns the position of the level in [`RootConnection::levels`].
    fn connection_level(
        &mut self,
        nodes: &[&'a Node<executable::Field>],
        builder: &mut ConnectionBuilder,
    ) -> Result<Option<usize>> {
        let sets: Vec<_> = nodes.iter().map(|node| &node.selection_set).collect();
        let level = self.level(builder.target, &sets, &builder.scope)?;
        if self.left_out.is_empty(level) {
            return Ok(None);
        }
        let levels = &mut builder.connection.levels;
        let known = levels.iter().position(|known| *known == level);
        Ok(Some(known.unwrap_or_else(|| {
            levels.push(level);
            levels.len() - 1
        })))
    }

    /// Returns the name of an argument that gives a cursor.
    fn cursor_argument(&self, field: &executable::Field) -> Option<&'static str> {
        let arguments = self.arguments(field);
        let mut cursors = ["after", "before"].into_iter();
        cursors.find(|name| arguments.values.get(name).is_some())
    }

    /// Returns the window of a connection over objects in an order, and what reads and writes its cursors.
    pub(super) fn window(
        &self,
        field: &executable::Field,
        target: TypeRef,
        order: &[OrderKey],
    ) -> Result<CursorWindow> {
        let limit = self.input.limits.cursor_bytes;
        let codec = CursorCodec::new(&type_of(field), order, limit);
        // A cursor holds the id of an object.
        let view = self.input.view();
        if !view.reads_wherever_shown(target, Part::Id)
            && let Some(argument) = self.cursor_argument(field)
        {
            return Err(view.denied(argument, "id").at(self.location(field)));
        }
        let key = || PathSegment::Key(field.response_key().to_string());
        let window = self
            .limits_of_window(field, &codec)
            .map_err(|error| error.on(vec![key()]))?;
        Ok(CursorWindow { window, codec })
    }

    /// Reads `first`, `last`, `after` and `before`.
    fn limits_of_window(&self, field: &executable::Field, codec: &CursorCodec) -> Result<Window> {
        let take = match (self.length(field, "first")?, self.length(field, "last")?) {
            (None, None) => Take::All,
            (Some(first), None) => Take::First(first),
            (None, Some(last)) => Take::Last(last),
            // Relay discourages both at once, since their result is confusing
            // (<https://relay.dev/graphql/connections.htm#sec-Pagination-algorithm>).
            (Some(_), Some(_)) => {
                let message = "`first` and `last` cannot be combined: ask for one of them";
                let error = GraphqlError::new(code::ARGUMENT_INVALID, message);
                return Err(error.at(self.location(field)));
            }
        };
        Ok(Window {
            after: self.cursor(field, "after", codec)?,
            before: self.cursor(field, "before", codec)?,
            take,
        })
    }

    fn length(&self, field: &executable::Field, name: &str) -> Result<Option<usize>> {
        let Some((input, location)) = self.arguments(field).values.get(name) else {
            return Ok(None);
        };
        let length = input.as_text().and_then(|text| text.parse::<usize>().ok());
        // A negative number is an error
        // (<https://relay.dev/graphql/connections.htm#sec-Pagination-algorithm>); 0 is a page
        // without objects.
        let length = length.ok_or_else(|| {
            let message = format!("`{name}` must be a whole number of at least 0");
            GraphqlError::new(code::ARGUMENT_INVALID, message).at(location)
        })?;
        match self.input.limits.page {
            Some(greatest) if length as u64 > greatest => {
                let error = GraphqlError::new(code::LIMIT_PAGE, "the page is too large");
                Err(error.at(location).with("limit", greatest))
            }
            _ => Ok(Some(length)),
        }
    }

    fn cursor(
        &self,
        field: &executable::Field,
        name: &str,
        codec: &CursorCodec,
    ) -> Result<Option<Position>> {
        let Some((input, location)) = self.arguments(field).values.get(name) else {
            return Ok(None);
        };
        let position = codec.decode(input.as_text().unwrap_or_default());
        position.map(Some).ok_or_else(|| {
            let message = format!(
                "`{name}` is not a cursor of this field with this `orderBy`; use a value returned \
                 by `cursor` or `pageInfo`"
            );
            GraphqlError::new(code::CURSOR_INVALID, message).at(location)
        })
    }
}

/// Returns the name of a field's type.
pub(super) fn type_of(field: &executable::Field) -> String {
    field.definition.ty.inner_named_type().to_string()
}

fn page_part(name: &str) -> PagePart {
    match name {
        "hasNextPage" => PagePart::HasNextPage,
        "hasPreviousPage" => PagePart::HasPreviousPage,
        "startCursor" => PagePart::StartCursor,
        "endCursor" => PagePart::EndCursor,
        _ => PagePart::TypeName,
    }
}
