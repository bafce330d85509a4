//! Adds types with contexts, and fields below them that take arguments from there. All ways to such a field lead
//! over a type with its context.

use std::fmt::Write;

use crate::generate::{Entity, FieldText, Generator, graph, on};
use crate::random_numbers::Random;

/// What is taken from a context.
struct Taken {
    /// The selection.
    selection: &'static str,
    /// The type of the argument; also one that must have a value, which there is not always.
    ty: &'static str,
}

impl Taken {
    /// Returns the field of the type with the context.
    fn field(&self) -> &'static str {
        let mut words = self.selection.split_whitespace();
        words.nth(1).unwrap_or_default()
    }
}

const CONTEXT: &str = "g0__mood";

impl Generator<'_> {
    /// Adds contexts. The choices are made with numbers of their own, so that everything else stays as it was.
    pub(crate) fn contexts(&mut self) {
        let mut random = self.random.clone();
        let by = random.below(self.graphs);
        let givers = self.givers(by, &mut random);
        if givers.is_empty() || !random.chance(35) {
            return;
        }
        self.features.insert("contexts");
        let by_interface = self.known_in("Named").contains(&by)
            && self.features.contains("interfaces")
            && random.chance(40);
        let mut chosen: Vec<usize> = givers
            .iter()
            .copied()
            .filter(|_| random.chance(60))
            .collect();
        if by_interface {
            chosen = (0..self.entities.len())
                .filter(|index| self.is_named(*index))
                .collect();
            self.features.insert("contexts of interfaces");
            self.rest = self.rest.replace(
                "interface Named",
                &format!("interface Named @context(name: \"{CONTEXT}\")"),
            );
        } else if chosen.is_empty() {
            chosen.push(givers[0]);
        }
        let taken = self.taken(by, &chosen, by_interface, &mut random);
        for index in chosen {
            self.lead(index, by, by_interface, &mut random);
        }
        self.kept(by, &taken, &mut random);
    }

    fn is_named(&self, index: usize) -> bool {
        let mut interfaces = self.entities[index].interfaces.iter();
        interfaces.any(|(name, _)| name == "Named")
    }

    /// Returns the entities that can have a context.
    fn givers(&self, by: usize, random: &mut Random) -> Vec<usize> {
        let known = self.entities.iter().enumerate();
        let known = known.filter(|(_, entity)| entity.graphs.contains(&by));
        let mut givers: Vec<usize> = known.map(|(index, _)| index).collect();
        if !givers.is_empty() {
            let first = random.below(givers.len());
            givers.rotate_left(first);
        }
        givers
    }

    /// Adds what can be taken to the types with the context, and chooses some of it.
    fn taken(
        &mut self,
        by: usize,
        chosen: &[usize],
        by_interface: bool,
        random: &mut Random,
    ) -> Vec<Taken> {
        if by_interface {
            let (selection, ty) = ("{ label }", *random.pick(&["String", "String!"]));
            return vec![Taken { selection, ty }];
        }
        let mut joins = String::new();
        for index in 0..self.graphs {
            let _ = write!(joins, " @join__type(graph: {})", graph(index));
        }
        let _ = writeln!(self.rest, "type Mood{joins} {{ word: String }}");
        for index in chosen {
            let entity = &mut self.entities[*index];
            for signature in [
                "tone: String",
                "tones: [String]",
                "mood: Mood",
                "moods: [Mood!]",
            ] {
                let owner = if random.chance(50) {
                    by
                } else {
                    *random.pick(&entity.graphs)
                };
                entity.fields.push(plain(signature, &[owner]));
            }
        }
        let all = [
            ("{ tone }", "String"),
            ("{ tone }", "String!"),
            ("{ mood { word } }", "String"),
            ("{ tones }", "[String]"),
            ("{ moods { word } }", "[String]"),
        ];
        let count = 1 + random.below(2);
        let taken = (0..count).map(|_| *random.pick(&all));
        let taken = taken.map(|(selection, ty)| Taken { selection, ty });
        let taken: Vec<Taken> = taken.collect();
        // Who takes a value mentions the field.
        let is_taken = |name: &str| {
            let mut names = taken.iter().map(Taken::field);
            names.any(|taken| taken == name)
        };
        let external = format!("@join__field(graph: {}, external: true)", graph(by));
        for index in chosen {
            let fields = self.entities[*index].fields.iter_mut();
            for field in fields.filter(|field| is_taken(&field.name)) {
                if !field.directives.contains(&on(by)) {
                    field.directives.push(external.clone());
                }
            }
        }
        taken
    }

    /// Lets fields of a type with the context lead to the type that takes values.
    fn lead(&mut self, index: usize, by: usize, by_interface: bool, random: &mut Random) {
        let entity = &mut self.entities[index];
        let from = *random.pick(&entity.graphs);
        let ty = *random.pick(&["Kept", "[Kept]", "[Kept!]!", "[[Kept]]"]);
        entity.fields.push(plain(&format!("kept: {ty}"), &[from]));
        if entity.graphs.contains(&by) && random.chance(50) {
            entity.fields.push(plain("room: [Room]", &[by]));
        }
        // The more ways there are, the more operations take them.
        let leading: Vec<usize> = entity
            .graphs
            .iter()
            .copied()
            .filter(|g| entity.satellite != Some(*g))
            .collect();
        let (name, first) = (entity.name.clone(), *random.pick(&leading));
        self.query
            .push(format!("moody{index}: [{name}] {}", on(first)));
        if !by_interface {
            self.contexts.push((name, CONTEXT.to_owned()));
        }
    }

    /// Adds the type that takes values, and one between it and those with the context.
    fn kept(&mut self, by: usize, taken: &[Taken], random: &mut Random) {
        let all: Vec<usize> = (0..self.graphs).collect();
        let other = random.below(self.graphs);
        let mut fields = vec![plain("id: ID!", &all), plain("own: String", &[other])];
        let mut requires = "";
        let mut is_required = false;
        if other != by && random.chance(50) {
            requires = ", requires: \"own\"";
            let external = format!("@join__field(graph: {}, external: true)", graph(by));
            fields[1].directives.push(external);
        }
        if random.chance(40) {
            fields.push(plain("inner: [Kept]", &[*random.pick(&all)]));
        }
        for (number, taken) in taken.iter().enumerate() {
            let arguments = format!(
                "[{{context: \"{CONTEXT}\", name: \"c\", type: \"{}\", selection: \"{}\"}}]",
                taken.ty, taken.selection
            );
            let directive = |requires: &str| {
                format!(
                    "@join__field(graph: {}{requires}, contextArguments: {arguments})",
                    graph(by)
                )
            };
            let has_object = random.chance(30);
            is_required |= !has_object && !requires.is_empty();
            let ty = if has_object { "[Kept!]" } else { "String" };
            let mut field = plain(&format!("given{number}(x: Int): {ty}"), &[]);
            field.name = format!("given{number}");
            // What is computed is a text.
            field.directives = vec![directive(if has_object { "" } else { requires })];
            fields.push(field);
            let mut field = plain(&format!("again{number}: String!"), &[]);
            field.directives = vec![directive("")];
            fields.push(field);
        }
        if is_required {
            self.features.insert("contexts beside requires");
        } else {
            fields[1].directives.truncate(1);
        }
        self.entities.push(Entity {
            name: "Kept".to_owned(),
            graphs: all.clone(),
            satellite: None,
            keys: all.iter().map(|index| (*index, vec!["id"])).collect(),
            fields,
            interfaces: Vec::new(),
        });
        let _ = writeln!(
            self.rest,
            "type Room @join__type(graph: {}) {{ name: String kept: [Kept] }}",
            graph(by)
        );
    }
}

fn plain(signature: &str, graphs: &[usize]) -> FieldText {
    let name = signature.split([':', '(']).next().unwrap_or_default();
    FieldText {
        name: name.to_owned(),
        signature: signature.to_owned(),
        directives: graphs.iter().map(|index| on(*index)).collect(),
        owner: None,
        objects: None,
    }
}
