//! Connections: windows over the objects of a type, with a cursor for each.

use apollo_compiler::Node;
use apollo_compiler::executable::{self, SelectionSet};
use graph_store::query::{Position, Selection, Take, Window};
use graphql_gen::typesystem::TypeRef;
use graphql_service::error::{GraphqlError, PathSegment};

use super::build::{Planner, Scope};
use super::collect::{Fields, Parent, collect};
use super::cursor::CursorCodec;
use super::{
    ConnectionField, ConnectionPart, EdgeField, EdgePart, PagePart, RootConnection, RootValue,
};
use crate::code;

type Result<T> = std::result::Result<T, GraphqlError>;

/// A connection that is being planned.
struct ConnectionBuilder {
    target: TypeRef,
    scope: Scope,
    connection: RootConnection,
    /// Something beside the number of objects is wanted.
    windowed: bool,
}

impl<'a> Planner<'_, 'a> {
    /// Plans a connection over the objects of `selection`.
    pub(super) fn connection(
        &mut self,
        key: &str,
        nodes: &[&'a Node<executable::Field>],
        (target, selection, scope): (TypeRef, Selection, Scope),
    ) -> Result<RootValue> {
        let field = nodes[0];
        let on_field = |error: GraphqlError| error.on(vec![PathSegment::Key(key.to_owned())]);
        let ty = type_of(field);
        let codec = CursorCodec::new(&ty, &selection.order, self.input.limits.cursor_bytes);
        let window = self.window(field, &codec).map_err(on_field)?;
        let mut builder = ConnectionBuilder {
            target,
            scope,
            connection: RootConnection {
                selection,
                window: None,
                count: false,
                codec,
                levels: Vec::new(),
                fields: Vec::new(),
            },
            windowed: false,
        };
        let mut parts = Vec::new();
        for (key, nodes) in self.sub_fields(nodes) {
            let location = self.location(nodes[0]);
            let part = self.connection_part(&ty, &nodes, &mut builder)?;
            parts.push(ConnectionField {
                key,
                location,
                part,
            });
        }
        let mut connection = builder.connection;
        connection.fields = parts;
        connection.window = builder.windowed.then_some(window);
        Ok(RootValue::Connection(Box::new(connection)))
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

    fn connection_part(
        &mut self,
        of: &str,
        nodes: &[&'a Node<executable::Field>],
        builder: &mut ConnectionBuilder,
    ) -> Result<ConnectionPart> {
        let name = nodes[0].name.as_str();
        builder.windowed |= matches!(name, "edges" | "nodes" | "pageInfo");
        Ok(match name {
            "edges" => {
                let edge = type_of(nodes[0]);
                let mut fields = Vec::new();
                for (key, nodes) in self.sub_fields(nodes) {
                    let part = match nodes[0].name.as_str() {
                        "node" => EdgePart::Node(self.connection_level(&nodes, builder)?),
                        "cursor" => EdgePart::Cursor,
                        _ => EdgePart::TypeName(edge.clone()),
                    };
                    fields.push(EdgeField { key, part });
                }
                ConnectionPart::Edges(fields)
            }
            "nodes" => ConnectionPart::Nodes(self.connection_level(nodes, builder)?),
            "pageInfo" => {
                let fields = self.sub_fields(nodes).into_iter();
                ConnectionPart::PageInfo(
                    fields
                        .map(|(key, nodes)| (key, page_part(nodes[0].name.as_str())))
                        .collect(),
                )
            }
            "totalCount" => {
                builder.connection.count = true;
                ConnectionPart::TotalCount
            }
            _ => ConnectionPart::TypeName(of.to_owned()),
        })
    }

    /// Returns the place of the level in [`RootConnection::levels`].
    fn connection_level(
        &mut self,
        nodes: &[&'a Node<executable::Field>],
        builder: &mut ConnectionBuilder,
    ) -> Result<usize> {
        let sets: Vec<_> = nodes.iter().map(|node| &node.selection_set).collect();
        let level = self.level(builder.target, &sets, &builder.scope)?;
        let levels = &mut builder.connection.levels;
        let known = levels.iter().position(|known| *known == level);
        Ok(known.unwrap_or_else(|| {
            levels.push(level);
            levels.len() - 1
        }))
    }

    /// Reads `first`, `last`, `after` and `before`.
    fn window(&self, field: &'a Node<executable::Field>, codec: &CursorCodec) -> Result<Window> {
        let take = match (self.length(field, "first")?, self.length(field, "last")?) {
            (None, None) => Take::All,
            (Some(first), None) => Take::First(first),
            (None, Some(last)) => Take::Last(last),
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

    fn length(&self, field: &'a Node<executable::Field>, name: &str) -> Result<Option<usize>> {
        let Some((input, location)) = self.arguments(field).values.get(name) else {
            return Ok(None);
        };
        let length = input.as_text().and_then(|text| text.parse::<usize>().ok());
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
        field: &'a Node<executable::Field>,
        name: &str,
        codec: &CursorCodec,
    ) -> Result<Option<Position>> {
        let Some((input, location)) = self.arguments(field).values.get(name) else {
            return Ok(None);
        };
        let position = codec.decode(input.as_text().unwrap_or_default());
        position.map(Some).ok_or_else(|| {
            let message = format!(
                "`{name}` is no cursor of this field with this `orderBy`; \
                 pass on what `cursor` or `pageInfo` gave"
            );
            GraphqlError::new(code::CURSOR_INVALID, message).at(location)
        })
    }
}

/// Returns the name of the type that a field gives.
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
