//! Adds interfaces, unions and types without keys.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{FieldText, Generator, graph, on};

impl Generator<'_> {
    /// Chooses members of an abstract type.
    pub(super) fn some_entities(&mut self) -> Vec<usize> {
        let all = 0..self.entities.len();
        let led_to = all.filter(|index| self.entities[*index].satellite.is_none());
        let led_to: Vec<usize> = led_to.collect();
        led_to
            .into_iter()
            .filter(|_| self.random.chance(80))
            .collect()
    }

    pub(super) fn interface(&mut self) {
        if !self.random.chance(70) {
            return;
        }
        let chosen = self.some_entities();
        let graphs: BTreeSet<usize> = chosen
            .iter()
            .flat_map(|entity| self.entities[*entity].graphs.clone())
            .collect();
        if chosen.len() < 2 {
            return;
        }
        self.features.insert("interfaces");
        // A field that one subgraph resolves, whatever the type.
        let knows = |index: &usize| {
            let mut types = chosen.iter();
            types.all(|entity| self.entities[*entity].graphs.contains(index))
        };
        let owner = (0..self.graphs).rev().find(knows);
        for entity in chosen {
            let entity = &mut self.entities[entity];
            let graphs = entity.graphs.clone();
            entity.interfaces.push(("Named".to_owned(), graphs.clone()));
            entity.fields.push(FieldText {
                name: "label".to_owned(),
                signature: "label: String".to_owned(),
                directives: graphs.iter().map(|g| on(*g)).collect(),
                owner: None,
                objects: None,
            });
            entity.fields.extend(owner.map(|owner| FieldText {
                name: "tag".to_owned(),
                signature: "tag: String".to_owned(),
                directives: vec![on(owner)],
                owner: None,
                objects: None,
            }));
        }
        let tag = owner.map_or_else(String::new, |owner| format!("tag: String {}", on(owner)));
        let graphs: Vec<usize> = graphs.into_iter().collect();
        let joins: String = graphs
            .iter()
            .map(|g| format!(" @join__type(graph: {})", graph(*g)))
            .collect();
        let _ = writeln!(
            self.rest,
            "interface Named{joins} {{ label: String {tag} }}"
        );
        self.abstracts.push(("Named".to_owned(), graphs));
    }

    pub(super) fn union(&mut self) {
        if !self.random.chance(65) {
            return;
        }
        let members = self.some_entities();
        if members.len() < 2 {
            return;
        }
        self.features.insert("unions");
        let mut graphs = BTreeSet::new();
        let mut directives = String::new();
        for member in &members {
            for index in &self.entities[*member].graphs {
                graphs.insert(*index);
                let _ = write!(
                    directives,
                    " @join__unionMember(graph: {}, member: \"{}\")",
                    graph(*index),
                    self.entities[*member].name
                );
            }
        }
        let joins: String = graphs
            .iter()
            .map(|g| format!(" @join__type(graph: {})", graph(*g)))
            .collect();
        let names: Vec<&str> = members
            .iter()
            .map(|m| self.entities[*m].name.as_str())
            .collect();
        let _ = writeln!(
            self.rest,
            "union Any{joins}{directives} = {}",
            names.join(" | ")
        );
        self.abstracts
            .push(("Any".to_owned(), graphs.into_iter().collect()));
    }

    /// Adds a type without a key, some of whose fields only some subgraphs have.
    pub(super) fn value_type(&mut self) {
        if !self.random.chance(60) {
            return;
        }
        self.features.insert("value types");
        let mut joins = String::new();
        for index in 0..self.graphs {
            let _ = write!(joins, " @join__type(graph: {})", graph(index));
        }
        let _ = writeln!(
            self.rest,
            "type Size{joins} {{ width: Int height: Int! unit: Unit }}"
        );
        let mut joins = String::new();
        let mut values = String::new();
        for index in 0..self.graphs {
            let _ = write!(joins, " @join__type(graph: {})", graph(index));
            let _ = write!(values, " @join__enumValue(graph: {})", graph(index));
        }
        let _ = writeln!(self.rest, "enum Unit{joins} {{ CM{values} M{values} }}");
    }
}
