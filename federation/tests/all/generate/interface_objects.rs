//! Adds an interface that some subgraphs have as an object type, which lends fields to all implementing types.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Entity, FieldText, Generator, graph, on};

/// An interface with its subgraphs.
pub(crate) struct InterfaceObject {
    /// The subgraphs that know the implementing types.
    known: Vec<usize>,
    /// The subgraphs that have the interface as an object type.
    objects: Vec<usize>,
    /// The places of the implementing types among the entities.
    types: Vec<usize>,
}

const NAME: &str = "Item";

impl Generator<'_> {
    /// Chooses the subgraphs, and adds the implementing types.
    pub(crate) fn implementing_types(&mut self) -> Option<InterfaceObject> {
        if !self.random.chance(35) {
            return None;
        }
        self.features.insert("interface objects");
        let (mut known, mut objects) = (vec![0], vec![1]);
        // The subgraphs that know one of the types, and not the interface.
        let mut others = Vec::new();
        for index in 2..self.graphs {
            match self.random.below(4) {
                0 => known.push(index),
                1 => objects.push(index),
                2 => others.push(index),
                _ => {}
            }
        }
        if !others.is_empty() {
            self.features.insert("interface objects of unlike types");
        }
        let field = |name: &str, ty: &str, graphs: &[usize]| FieldText {
            name: name.to_owned(),
            signature: format!("{name}: {ty}"),
            directives: graphs.iter().map(|index| on(*index)).collect(),
            owner: None,
            objects: None,
        };
        let mut types = Vec::new();
        for number in 0..2 {
            types.push(self.entities.len());
            let mut graphs = known.clone();
            if number == 1 {
                graphs.extend(&others);
                graphs.sort_unstable();
            }
            let keys: BTreeMap<usize, Vec<&'static str>> =
                graphs.iter().map(|index| (*index, vec!["id"])).collect();
            let titled = if self.random.chance(50) {
                &graphs
            } else {
                &known
            };
            self.entities.push(Entity {
                name: format!("{NAME}{number}"),
                fields: vec![
                    field("id", "ID!", &graphs),
                    field("title", "String", titled),
                ],
                graphs,
                satellite: None,
                keys,
                interfaces: vec![(NAME.to_owned(), known.clone())],
            });
        }
        let mut all: Vec<usize> = known.iter().chain(&objects).copied().collect();
        all.sort_unstable();
        self.abstracts.push((NAME.to_owned(), all));
        Some(InterfaceObject {
            known,
            objects,
            types,
        })
    }

    /// Adds the interface, what is lent, and fields that lead to its objects.
    pub(crate) fn interface_object(&mut self, item: &InterfaceObject) {
        let mut joins = String::new();
        for index in &item.known {
            let _ = write!(joins, " @join__type(graph: {}, key: \"id\")", graph(*index));
        }
        for index in &item.objects {
            let object = "isInterfaceObject: true";
            let _ = write!(
                joins,
                " @join__type(graph: {}, key: \"id\", {object})",
                graph(*index)
            );
        }
        let mut title: Vec<String> = item.known.iter().map(|index| on(*index)).collect();
        let mut fields = String::from("  id: ID!\n");
        for index in &item.objects {
            for number in 0..1 + self.random.below(3) {
                let (ty, _) = self.field_type(&[*index]);
                let name = format!("lent{index}x{number}");
                let signature = if self.random.chance(25) {
                    format!("{name}(x: Int, y: String = \"d\"): {ty}")
                } else {
                    format!("{name}: {ty}")
                };
                let _ = writeln!(fields, "  {signature} {}", on(*index));
                self.lend(item, &name, signature, &[]);
            }
            if self.random.chance(40) {
                self.features.insert("interface objects that share");
                let name = format!("shared{index}");
                let signature = format!("{name}: String");
                let places = item.known.iter().chain([index]).map(|index| on(*index));
                let places: Vec<String> = places.collect();
                let _ = writeln!(fields, "  {signature} {}", places.join(" "));
                self.lend(item, &name, signature, &item.known);
            }
            if self.random.chance(40) {
                self.features.insert("interface objects that require");
                let (name, place) = (format!("made{index}"), graph(*index));
                let signature = format!("{name}: String");
                let requires = "requires: \"title\"";
                let _ = writeln!(
                    fields,
                    "  {signature} @join__field(graph: {place}, {requires})"
                );
                title.push(format!("@join__field(graph: {place}, external: true)"));
                self.lend(item, &name, signature, &[]);
            }
            if self.random.chance(70) {
                let ty = *self.random.pick(&["Item", "[Item]", "[Item!]!"]);
                self.query
                    .push(format!("items{index}: {ty} {}", on(*index)));
            }
        }
        let _ = writeln!(fields, "  title: String {}", title.join(" "));
        let _ = writeln!(self.rest, "interface {NAME}{joins} {{\n{fields}}}");
    }

    /// Adds a field of the interface to the implementing types, which some subgraphs resolve too.
    fn lend(&mut self, item: &InterfaceObject, name: &str, signature: String, own: &[usize]) {
        let directives: Vec<String> = match own {
            [] => vec!["@join__field".to_owned()],
            own => own.iter().map(|index| on(*index)).collect(),
        };
        for place in &item.types {
            self.entities[*place].fields.push(FieldText {
                name: name.to_owned(),
                signature: signature.clone(),
                directives: directives.clone(),
                owner: None,
                objects: None,
            });
        }
    }
}
