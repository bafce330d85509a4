//! Adds fields that are computed from others.

use super::{Entity, FieldText, Generator, graph, on};

impl Generator<'_> {
    /// Adds fields that are computed from others, also from such that are computed themselves.
    pub(super) fn requires(&mut self) {
        for index in 0..self.entities.len() {
            for number in 0..3 {
                let Some((place, input, by)) = self.lent(index, 45, |_| true) else {
                    continue;
                };
                let entity = &mut self.entities[index];
                let has_arguments = entity.fields[place].signature.contains('(');
                let text = if has_arguments {
                    self.features.insert("requires with arguments");
                    format!("{input}(x: {number})")
                } else {
                    input.clone()
                };
                let computed = entity.fields[place].directives.iter();
                let mut computed = computed.filter(|d| d.contains("requires"));
                if let Some(requires) = computed.next() {
                    self.features.insert("chained requires");
                    let external = format!("@join__field(graph: {}, ", graph(by));
                    let inputs = entity.fields.iter().filter(|field| {
                        requires.contains(&format!("\"{}", field.name))
                            && field.directives.contains(&on(by))
                    });
                    if inputs.count() > 0 || requires.contains(&external) {
                        self.features.insert("circular requires");
                    }
                }
                let is_mixed = entity.fields[place].directives.len() > 1;
                if is_mixed {
                    self.features
                        .insert("fields that are external in some subgraphs");
                }
                self.features.insert("requires");
                let external = format!("@join__field(graph: {}, external: true)", graph(by));
                if !entity.fields[place].directives.contains(&external) {
                    entity.fields[place].directives.push(external);
                }
                let name = format!("r{number}");
                entity.fields.push(FieldText {
                    signature: format!("{name}: String"),
                    name,
                    directives: vec![format!(
                        "@join__field(graph: {}, requires: \"{}\")",
                        graph(by),
                        text.replace('"', "\\\"")
                    )],
                    owner: Some(by),
                    objects: None,
                });
            }
        }
    }

    /// Adds fields that are computed from what is in objects of others.
    pub(super) fn nested_requires(&mut self) {
        for index in 0..self.entities.len() {
            let fields = self.entities[index].fields.iter().enumerate();
            let owned: Vec<(usize, String, String, usize)> = fields
                .filter_map(|(place, field)| {
                    let (ty, owner) = field.objects.clone()?;
                    Some((place, field.name.clone(), ty, owner))
                })
                .collect();
            if owned.is_empty() || !self.random.chance(60) {
                continue;
            }
            let (place, input, ty, owner) = self.random.pick(&owned).clone();
            let known = self.known_in(&ty);
            let graphs = self.entities[index].graphs.iter().copied();
            let others: Vec<usize> = graphs
                .filter(|g| *g != owner && known.contains(g))
                .collect();
            if others.is_empty() {
                continue;
            }
            let by = *self.random.pick(&others);
            let Some(inner) = self.inner_set(&ty, by) else {
                continue;
            };
            self.features.insert("nested requires");
            let entity = &mut self.entities[index];
            let external = format!("@join__field(graph: {}, external: true)", graph(by));
            if !entity.fields[place].directives.contains(&external) {
                entity.fields[place].directives.push(external);
            }
            entity.fields.push(FieldText {
                name: "nested".to_owned(),
                signature: "nested: String".to_owned(),
                directives: vec![format!(
                    "@join__field(graph: {}, requires: \"{input} {{ {inner} }}\")",
                    graph(by)
                )],
                owner: Some(by),
                objects: None,
            });
        }
    }

    /// Returns the subgraphs that know a type.
    pub(super) fn known_in(&self, ty: &str) -> Vec<usize> {
        let entity = self.entities.iter().find(|entity| entity.name == ty);
        let named = self.abstracts.iter().find(|(name, _)| name == ty);
        match (entity, named) {
            (Some(entity), _) => entity.graphs.clone(),
            (_, Some((_, graphs))) => graphs.clone(),
            _ => (0..self.graphs).collect(),
        }
    }

    /// Returns what can be required of the objects of a type.
    pub(super) fn inner_set(&mut self, ty: &str, by: usize) -> Option<String> {
        if ty == "Size" {
            return Some("width".to_owned());
        }
        let keys = |entity: &Entity| {
            let key = entity.keys.get(&by)?.first()?;
            Some((*key).to_owned())
        };
        if let Some(entity) = self.entities.iter().find(|entity| entity.name == ty) {
            return keys(entity);
        }
        self.features.insert("requires over abstract types");
        // One type alone, so that there are objects of which nothing but the type is sent.
        let of_one = self.entities.iter().find_map(|entity| {
            let is_member = self.rest.contains(&format!("member: \"{}\"", entity.name));
            let is_named = entity.interfaces.iter().any(|(name, _)| name == ty);
            let is_of = if ty == "Any" { is_member } else { is_named };
            let key = keys(entity).filter(|_| is_of)?;
            Some(format!("... on {} {{ {key} }}", entity.name))
        });
        match ty {
            "Named" => Some(format!("label {}", of_one.unwrap_or_default())),
            _ => of_one,
        }
    }
}
