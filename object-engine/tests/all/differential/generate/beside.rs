//! What operations ask for beside lists: cursors, groups, and objects by type and id.

use soml_core::schema::Range;

use super::Generator;
use super::fields::plain;
use crate::differential::operation::{Arg, Field, Operation, Selection};
use crate::differential::reference::{RootKind, Ty, iri_of};

/// Adds cursors to connections, `_entities` now and then, and groups where they are wanted.
pub(crate) fn add_beside(generator: &mut Generator<'_>, operation: &mut Operation, groups: bool) {
    for selection in &mut operation.selections {
        let Selection::Field(root) = selection else {
            continue;
        };
        match generator.model.root(&root.name) {
            Some((_, RootKind::Connection)) => generator.add_cursors(root),
            Some((ty, RootKind::Aggregate)) if groups => generator.add_groups(root, ty),
            _ => {}
        }
    }
    if generator.random.chance(15) {
        operation.selections.extend(generator.entities());
        operation.fragments.clone_from(&generator.fragments);
        operation.variables.clone_from(&generator.variables);
    }
}

impl Generator<'_> {
    fn add_cursors(&mut self, connection: &mut Field) {
        let nodes = connection.selections.iter().find_map(|part| match part {
            Selection::Field(field) if field.name == "nodes" => Some(field.selections.clone()),
            _ => None,
        });
        let field = |field: Field| Selection::Field(field);
        if self.random.chance(60) {
            let mut edges = plain("edges");
            edges.selections.push(field(plain("cursor")));
            if self.random.chance(70) {
                edges.selections.push(field(Field {
                    selections: nodes.expect("connections are made with nodes"),
                    ..plain("node")
                }));
            }
            connection.selections.push(field(edges));
        }
        if self.random.chance(60) {
            let mut info = plain("pageInfo");
            for part in ["hasNextPage", "startCursor", "endCursor"] {
                if self.random.chance(70) {
                    info.selections.push(field(plain(part)));
                }
            }
            if !info.selections.is_empty() {
                connection.selections.push(field(info));
            }
        }
    }

    fn add_groups(&mut self, aggregate: &mut Field, ty: Ty) {
        let (Ty::Concrete(id) | Ty::Interface(id)) = ty else {
            return;
        };
        let schema = self.model.schema;
        let properties = self.model.object(id).props.iter().map(|id| &schema[*id]);
        let plain_ones = properties.filter(|property| {
            let is_key = matches!(property.range, Range::Scalar(_) | Range::Enum(_));
            is_key && property.name.graphql != "name" && !property.implied_by_name
        });
        let mut names: Vec<&str> = plain_ones.map(|p| p.name.graphql.as_str()).collect();
        names.push("type");
        let key = self.random.choose(&names);
        let measured = self.random.choose(&names);
        let mut groups = Field {
            alias: Some(self.alias()),
            ..plain("groups")
        };
        let enumerated = Arg::List(vec![Arg::Enum(key.to_owned())]);
        groups.arguments.push(("by".to_owned(), enumerated));
        let object = |key: &str, value: Arg| Arg::Object(vec![(key.to_owned(), value)]);
        let count = plain("count");
        if measured != "type" {
            if self.random.chance(35) {
                let least = object("GTE", Arg::Number("1".to_owned()));
                let having = object(measured, object("count", least));
                groups.arguments.push(("having".to_owned(), having));
            }
            if self.random.chance(35) {
                let by = object(measured, object("count", self.direction()));
                groups.arguments.push(("orderBy".to_owned(), by));
            }
            let measures = vec![Selection::Field(count.clone())];
            groups.selections.push(Selection::Field(Field {
                selections: measures,
                ..plain(measured)
            }));
        }
        groups.selections.push(Selection::Field(count));
        groups.selections.push(Selection::Field(Field {
            selections: vec![Selection::Field(plain(key))],
            ..plain("key")
        }));
        aggregate.selections.push(Selection::Field(groups));
    }

    /// Objects by type and id.
    fn entities(&mut self) -> Option<Selection> {
        let mut representations = Vec::new();
        let mut selections = Vec::new();
        for _ in 0..self.random.between(1, 2) {
            let possible = self.model.possible(Ty::Any);
            let ty = Ty::Concrete(self.random.choose(&possible));
            let instances = self.instances(ty);
            let Some(id) = self.random.some(&instances).and_then(iri_of) else {
                continue;
            };
            let on = self.model.type_name(ty);
            let text = |text: &str| Arg::Text(text.to_owned());
            representations.push(Arg::Object(vec![
                ("__typename".to_owned(), text(&on)),
                ("id".to_owned(), text(id)),
            ]));
            let samples = [id.to_owned()];
            selections.push(Selection::Inline {
                on: Some(on),
                directives: Vec::new(),
                selections: self.selections(ty, &samples, 1, true),
            });
        }
        let representations = Arg::List(representations);
        (!selections.is_empty()).then(|| {
            Selection::Field(Field {
                alias: Some(self.alias()),
                arguments: vec![("representations".to_owned(), representations)],
                selections,
                ..plain("_entities")
            })
        })
    }
}
