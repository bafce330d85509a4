//! Adds fields of entities, and chooses those that several subgraphs have to do with.

use super::{FieldText, Generator, graph, on};

impl Generator<'_> {
    /// Returns a type that a field of these subgraphs can have.
    pub(crate) fn field_type(&mut self, graphs: &[usize]) -> (String, bool) {
        let leaf = [
            "String", "Int", "Boolean", "Float", "String!", "[String]", "[Int!]!",
        ];
        let mut objects: Vec<String> = Vec::new();
        let known = |other: &[usize]| graphs.iter().all(|g| other.contains(g));
        objects.extend(
            self.entities
                .iter()
                .filter(|e| known(&e.graphs))
                .filter(|e| {
                    e.satellite
                        .is_none_or(|satellite| !graphs.contains(&satellite))
                })
                .map(|e| e.name.clone()),
        );
        // Subgraphs know different members of abstract types, so only one resolves such a field.
        if graphs.len() == 1 {
            let abstracts = self.abstracts.iter().filter(|(_, other)| known(other));
            objects.extend(abstracts.map(|(name, _)| name.clone()));
        }
        if self.features.contains("value types") {
            objects.push("Size".to_owned());
        }
        if objects.is_empty() || self.random.chance(45) {
            return ((*self.random.pick(&leaf)).to_owned(), true);
        }
        let object = self.random.pick(&objects).clone();
        let wrapped = match self.random.below(5) {
            0 => format!("[{object}]"),
            1 => format!("[{object}!]"),
            2 => format!("[{object}!]!"),
            _ => object,
        };
        (wrapped, false)
    }

    pub(super) fn fields(&mut self) {
        for index in 0..self.entities.len() {
            for number in 0..2 + self.random.below(4) {
                let known = self.entities[index].graphs.clone();
                let owner = *self.random.pick(&known);
                let mut graphs = vec![owner];
                if known.len() > 1 && self.random.chance(30) {
                    self.features.insert("shareable");
                    graphs = known
                        .iter()
                        .copied()
                        .filter(|g| *g == owner || self.random.chance(60))
                        .filter(|g| owner == *g || self.entities[index].satellite != Some(*g))
                        .collect();
                    if self.entities[index].satellite == Some(owner) {
                        graphs = vec![owner];
                    }
                }
                let (ty, is_leaf) = self.field_type(&graphs);
                let has_arguments = self.random.chance(25);
                let name = format!("f{number}");
                let signature = if has_arguments {
                    format!("{name}(x: Int, y: String = \"d\"): {ty}")
                } else {
                    format!("{name}: {ty}")
                };
                let mut directives: Vec<String> = graphs.iter().map(|g| on(*g)).collect();
                if self.random.chance(6) {
                    self.features.insert("inaccessible");
                    directives.push("@inaccessible".to_owned());
                }
                let objects = (graphs.len() == 1 && !is_leaf)
                    .then(|| (ty.replace(['[', ']', '!'], ""), owner));
                let owner = (graphs.len() == 1 && is_leaf).then_some(owner);
                self.entities[index].fields.push(FieldText {
                    name,
                    signature,
                    directives,
                    owner,
                    objects,
                });
            }
        }
    }

    /// Picks, in some percent of all cases, a field that one subgraph has and another needs: its place, its
    /// name, and who needs it.
    pub(super) fn lent(
        &mut self,
        index: usize,
        percent: usize,
        may_be: impl Fn(&FieldText) -> bool,
    ) -> Option<(usize, String, usize)> {
        let entity = &self.entities[index];
        let fields = entity.fields.iter().enumerate();
        let owned: Vec<(usize, String, usize)> = fields
            .filter(|(_, field)| may_be(field))
            .filter_map(|(place, field)| Some((place, field.name.clone(), field.owner?)))
            .collect();
        if owned.is_empty() || !self.random.chance(percent) {
            return None;
        }
        let (place, input, owner) = self.random.pick(&owned).clone();
        let others = entity.graphs.iter().copied();
        let others: Vec<usize> = others.filter(|graph| *graph != owner).collect();
        if others.is_empty() {
            return None;
        }
        Some((place, input, *self.random.pick(&others)))
    }

    /// Moves fields from one subgraph to another while a label is active.
    pub(super) fn overrides(&mut self) {
        for index in 0..self.entities.len() {
            let entity = &self.entities[index];
            if entity.graphs.len() < 2 || entity.satellite.is_some() || !self.random.chance(40) {
                continue;
            }
            let (from, to) = (entity.graphs[0], entity.graphs[1]);
            self.features.insert("override with label");
            let label = format!("label{index}");
            let entity = &mut self.entities[index];
            entity.fields.push(FieldText {
                name: "moved".to_owned(),
                signature: "moved: Int".to_owned(),
                directives: vec![
                    format!("@join__field(graph: {}, overrideLabel: \"{label}\")", graph(from)),
                    format!(
                        "@join__field(graph: {}, override: \"g{from}\", overrideLabel: \"{label}\")",
                        graph(to)
                    ),
                ],
                owner: None,
                objects: None,
            });
            self.labels.push(label);
        }
    }
}
