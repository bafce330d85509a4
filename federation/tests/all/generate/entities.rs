//! Adds entities with their keys.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Entity, FieldText, Generator, graph, on};

impl Generator<'_> {
    pub(super) fn entities(&mut self) {
        for index in 0..2 + self.random.below(3) {
            let name = format!("E{index}");
            if let Some(twin) = self.twin(&name) {
                self.entities.push(twin);
                continue;
            }
            let graphs = self.some_graphs();
            let satellite =
                (graphs.len() > 1 && self.random.chance(40)).then(|| *self.random.pick(&graphs));
            let (keys, fields) = self.keys(&name, &graphs, satellite.is_some());
            self.entities.push(Entity {
                name,
                graphs,
                satellite,
                keys,
                fields,
                interfaces: Vec::new(),
            });
        }
    }

    /// Returns, in some cases, an entity that differs from the last one in nothing but its name.
    fn twin(&mut self, name: &str) -> Option<Entity> {
        let last = self.entities.last()?;
        let is_plain = last.satellite.is_none() && last.keys.values().all(|keys| *keys == ["id"]);
        if !is_plain || !self.random.chance(30) {
            return None;
        }
        self.features.insert("types that are alike");
        Some(Entity {
            name: name.to_owned(),
            graphs: last.graphs.clone(),
            satellite: None,
            keys: last.keys.clone(),
            fields: vec![FieldText {
                name: "id".to_owned(),
                signature: "id: ID!".to_owned(),
                directives: last.graphs.iter().map(|g| on(*g)).collect(),
                owner: None,
                objects: None,
            }],
            interfaces: Vec::new(),
        })
    }

    /// Chooses the keys of an entity so that each subgraph can be reached from each other one.
    pub(super) fn keys(
        &mut self,
        name: &str,
        graphs: &[usize],
        are_equal: bool,
    ) -> (BTreeMap<usize, Vec<&'static str>>, Vec<FieldText>) {
        let of = |keys: &[&'static str]| graphs.iter().map(|g| (*g, keys.to_vec())).collect();
        let field = |name: &str, ty: &str, graphs: &[usize]| FieldText {
            name: name.to_owned(),
            signature: format!("{name}: {ty}"),
            directives: graphs.iter().map(|g| on(*g)).collect(),
            owner: None,
            objects: None,
        };
        match self.random.below(if are_equal { 4 } else { 5 }) {
            0 | 1 => (of(&["id"]), vec![field("id", "ID!", graphs)]),
            2 => {
                self.features.insert("compound keys");
                let fields = vec![
                    field("id", "ID!", graphs),
                    field("region", "String!", graphs),
                ];
                (of(&["id region"]), fields)
            }
            3 => {
                self.features.insert("nested keys");
                let ty = format!("{name}Ref");
                let joins: String = graphs
                    .iter()
                    .map(|g| format!(" @join__type(graph: {})", graph(*g)))
                    .collect();
                let _ = writeln!(self.rest, "type {ty}{joins} {{ id: ID! }}");
                (
                    of(&["ref { id }"]),
                    vec![field("ref", &format!("{ty}!"), graphs)],
                )
            }
            _ => {
                self.features.insert("several keys");
                let mut keys = BTreeMap::new();
                let (mut with_id, mut with_code) = (Vec::new(), Vec::new());
                for (position, graph) in graphs.iter().enumerate() {
                    // The first has both, so it is the bridge between the others.
                    let choice = if position == 0 {
                        2
                    } else {
                        self.random.below(3)
                    };
                    let chosen: &[&'static str] = match choice {
                        0 => &["id"],
                        1 => &["code"],
                        _ => &["id", "code"],
                    };
                    if chosen.contains(&"id") {
                        with_id.push(*graph);
                    }
                    if chosen.contains(&"code") {
                        with_code.push(*graph);
                    }
                    keys.insert(*graph, chosen.to_vec());
                }
                let fields = vec![
                    field("id", "ID!", &with_id),
                    field("code", "String!", &with_code),
                ];
                (keys, fields)
            }
        }
    }
}
