//! Adds the fields of the root types, also those on whose paths something is provided.

use super::{FieldText, Generator, graph, on};

impl Generator<'_> {
    /// Adds fields on whose path a subgraph resolves what it does not resolve elsewhere.
    pub(super) fn provides(&mut self) {
        for index in 0..self.entities.len() {
            // What takes arguments cannot be provided.
            let is_plain = |field: &FieldText| {
                !field.signature.contains('(')
                    && !field.directives.iter().any(|d| d.contains("requires"))
            };
            if self.entities[index].satellite.is_some() {
                continue;
            }
            let Some((place, input, by)) = self.lent(index, 40, is_plain) else {
                continue;
            };
            self.features.insert("provides");
            let entity = &mut self.entities[index];
            let external = format!("@join__field(graph: {}, external: true)", graph(by));
            if !entity.fields[place].directives.contains(&external) {
                entity.fields[place].directives.push(external);
            }
            let (name, list) = (entity.name.clone(), self.random.chance(50));
            let is_named = entity.interfaces.iter().any(|(name, _)| name == "Named");
            let (name, set) = if is_named && self.random.chance(50) {
                self.features.insert("provides on abstract types");
                ("Named".to_owned(), format!("... on {name} {{ {input} }}"))
            } else {
                (name, input)
            };
            let ty = if list { format!("[{name}]") } else { name };
            self.query.push(format!(
                "p{index}: {ty} @join__field(graph: {}, provides: \"{set}\")",
                graph(by)
            ));
        }
    }

    pub(super) fn roots(&mut self) {
        for index in 0..self.graphs {
            for number in 0..1 + self.random.below(2) {
                let (ty, _) = self.field_type(&[index]);
                let name = format!("q{index}x{number}");
                self.query
                    .push(format!("{name}(n: Int): {ty} {}", on(index)));
            }
        }
        if let Some((_, known)) = self.abstracts.iter().find(|(name, _)| name == "Named") {
            let by = on(known[0]);
            self.query.push(format!("named: [Named] {by}"));
        }
        // Each entity can be reached.
        for index in 0..self.entities.len() {
            let known = self.entities[index].leading();
            let by = *self.random.pick(&known);
            let name = &self.entities[index].name;
            self.query.push(format!("all{index}: [{name}] {}", on(by)));
        }
        if self.random.chance(30) {
            self.features.insert("mutations");
            for index in 0..self.entities.len() {
                let known = self.entities[index].leading();
                let by = *self.random.pick(&known);
                let name = &self.entities[index].name;
                self.mutation_graphs.insert(by);
                self.mutation
                    .push(format!("m{index}(n: Int): {name} {}", on(by)));
            }
        }
    }
}
