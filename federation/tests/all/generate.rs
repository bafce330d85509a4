//! Generates supergraphs: consistent by construction, so that every operation can be answered.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::random_numbers::Random;

/// A generated supergraph.
pub(crate) struct Generated {
    pub(crate) sdl: String,
    /// What is in it, for the table of features.
    pub(crate) features: BTreeSet<&'static str>,
    pub(crate) labels: Vec<String>,
}

pub(crate) struct Entity {
    pub(crate) name: String,
    /// The subgraphs that know it, ascending.
    pub(crate) graphs: Vec<usize>,
    /// One of them that only adds fields: nothing but keys leads to it, so it may not know some objects.
    pub(crate) satellite: Option<usize>,
    pub(crate) keys: BTreeMap<usize, Vec<&'static str>>,
    /// Fields by name: the line without directives, and its directives.
    pub(crate) fields: Vec<FieldText>,
    pub(crate) interfaces: Vec<(String, Vec<usize>)>,
}

impl Entity {
    /// Returns the subgraphs whose fields may lead to it.
    fn leading(&self) -> Vec<usize> {
        let graphs = self.graphs.iter().copied();
        graphs
            .filter(|index| self.satellite != Some(*index))
            .collect()
    }
}

pub(crate) struct FieldText {
    pub(crate) name: String,
    pub(crate) signature: String,
    pub(crate) directives: Vec<String>,
    /// The only subgraph that resolves it, if it is a plain scalar.
    pub(crate) owner: Option<usize>,
    /// The type of its objects and the only subgraph that resolves it.
    pub(crate) objects: Option<(String, usize)>,
}

pub(crate) struct Generator<'r> {
    pub(crate) random: &'r mut Random,
    pub(crate) graphs: usize,
    pub(crate) features: BTreeSet<&'static str>,
    pub(crate) entities: Vec<Entity>,
    /// Names of interfaces and unions, and the subgraphs that know them.
    pub(crate) abstracts: Vec<(String, Vec<usize>)>,
    pub(crate) labels: Vec<String>,
    pub(crate) query: Vec<String>,
    pub(crate) mutation: Vec<String>,
    pub(crate) mutation_graphs: BTreeSet<usize>,
    pub(crate) rest: String,
}

const HEAD: &str = r#"schema
  @link(url: "https://specs.apollo.dev/link/v1.0")
  @link(url: "https://specs.apollo.dev/join/v0.5", for: EXECUTION)
  @link(url: "https://specs.apollo.dev/inaccessible/v0.2", for: SECURITY)
{ query: Query MUTATION }
directive @inaccessible on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION
directive @join__enumValue(graph: join__Graph!) repeatable on ENUM_VALUE
directive @join__field(graph: join__Graph, requires: join__FieldSet, provides: join__FieldSet, type: String, external: Boolean, override: String, usedOverridden: Boolean, overrideLabel: String) repeatable on FIELD_DEFINITION | INPUT_FIELD_DEFINITION
directive @join__graph(name: String!, url: String!) on ENUM_VALUE
directive @join__implements(graph: join__Graph!, interface: String!) repeatable on OBJECT | INTERFACE
directive @join__type(graph: join__Graph!, key: join__FieldSet, extension: Boolean! = false, resolvable: Boolean! = true, isInterfaceObject: Boolean! = false) repeatable on OBJECT | INTERFACE | UNION | ENUM | INPUT_OBJECT | SCALAR
directive @join__unionMember(graph: join__Graph!, member: String!) repeatable on UNION
directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
scalar join__FieldSet
scalar link__Import
enum link__Purpose { SECURITY EXECUTION }
"#;

/// Generates a supergraph.
pub(crate) fn generate(random: &mut Random) -> Generated {
    let graphs = 2 + random.below(4);
    let mut generator = Generator {
        random,
        graphs,
        features: BTreeSet::new(),
        entities: Vec::new(),
        abstracts: Vec::new(),
        labels: Vec::new(),
        query: Vec::new(),
        mutation: Vec::new(),
        mutation_graphs: BTreeSet::new(),
        rest: String::new(),
    };
    generator.entities();
    generator.interface();
    generator.union();
    generator.value_type();
    let item = generator.implementing_types();
    generator.fields();
    if let Some(item) = &item {
        generator.interface_object(item);
    }
    generator.requires();
    generator.nested_requires();
    generator.provides();
    generator.overrides();
    generator.roots();
    generator.finish()
}

pub(crate) fn graph(index: usize) -> String {
    format!("G{index}")
}

pub(crate) fn on(index: usize) -> String {
    format!("@join__field(graph: {})", graph(index))
}

impl Generator<'_> {
    fn some_graphs(&mut self) -> Vec<usize> {
        let mut chosen: Vec<usize> = (0..self.graphs)
            .filter(|_| self.random.percent(70))
            .collect();
        if chosen.is_empty() {
            chosen.push(self.random.below(self.graphs));
        }
        chosen
    }

    fn entities(&mut self) {
        for index in 0..2 + self.random.below(3) {
            let name = format!("E{index}");
            if let Some(twin) = self.twin(&name) {
                self.entities.push(twin);
                continue;
            }
            let graphs = self.some_graphs();
            let satellite =
                (graphs.len() > 1 && self.random.percent(40)).then(|| *self.random.pick(&graphs));
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
        if !is_plain || !self.random.percent(30) {
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
    fn keys(
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

    /// Chooses members of an abstract type.
    fn some_entities(&mut self) -> Vec<usize> {
        let all = 0..self.entities.len();
        let led_to = all.filter(|index| self.entities[*index].satellite.is_none());
        let led_to: Vec<usize> = led_to.collect();
        led_to
            .into_iter()
            .filter(|_| self.random.percent(80))
            .collect()
    }

    fn interface(&mut self) {
        if !self.random.percent(70) {
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

    fn union(&mut self) {
        if !self.random.percent(65) {
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
    fn value_type(&mut self) {
        if !self.random.percent(60) {
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
        if objects.is_empty() || self.random.percent(45) {
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

    fn fields(&mut self) {
        for index in 0..self.entities.len() {
            for number in 0..2 + self.random.below(4) {
                let known = self.entities[index].graphs.clone();
                let owner = *self.random.pick(&known);
                let mut graphs = vec![owner];
                if known.len() > 1 && self.random.percent(30) {
                    self.features.insert("shareable");
                    graphs = known
                        .iter()
                        .copied()
                        .filter(|g| *g == owner || self.random.percent(60))
                        .filter(|g| owner == *g || self.entities[index].satellite != Some(*g))
                        .collect();
                    if self.entities[index].satellite == Some(owner) {
                        graphs = vec![owner];
                    }
                }
                let (ty, is_leaf) = self.field_type(&graphs);
                let has_arguments = self.random.percent(25);
                let name = format!("f{number}");
                let signature = match has_arguments {
                    true => format!("{name}(x: Int, y: String = \"d\"): {ty}"),
                    false => format!("{name}: {ty}"),
                };
                let mut directives: Vec<String> = graphs.iter().map(|g| on(*g)).collect();
                if self.random.percent(6) {
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
    fn lent(
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
        if owned.is_empty() || !self.random.percent(percent) {
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

    /// Adds fields that are computed from others, also from such that are computed themselves.
    fn requires(&mut self) {
        for index in 0..self.entities.len() {
            for number in 0..3 {
                let Some((place, input, by)) = self.lent(index, 45, |_| true) else {
                    continue;
                };
                let entity = &mut self.entities[index];
                let has_arguments = entity.fields[place].signature.contains('(');
                let text = match has_arguments {
                    true => {
                        self.features.insert("requires with arguments");
                        format!("{input}(x: {number})")
                    }
                    false => input.clone(),
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
    fn nested_requires(&mut self) {
        for index in 0..self.entities.len() {
            let fields = self.entities[index].fields.iter().enumerate();
            let owned: Vec<(usize, String, String, usize)> = fields
                .filter_map(|(place, field)| {
                    let (ty, owner) = field.objects.clone()?;
                    Some((place, field.name.clone(), ty, owner))
                })
                .collect();
            if owned.is_empty() || !self.random.percent(60) {
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
    fn known_in(&self, ty: &str) -> Vec<usize> {
        let entity = self.entities.iter().find(|entity| entity.name == ty);
        let named = self.abstracts.iter().find(|(name, _)| name == ty);
        match (entity, named) {
            (Some(entity), _) => entity.graphs.clone(),
            (_, Some((_, graphs))) => graphs.clone(),
            _ => (0..self.graphs).collect(),
        }
    }

    /// Returns what can be required of the objects of a type.
    fn inner_set(&mut self, ty: &str, by: usize) -> Option<String> {
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

    /// Adds fields on whose path a subgraph resolves what it does not resolve elsewhere.
    fn provides(&mut self) {
        for index in 0..self.entities.len() {
            let is_plain =
                |field: &FieldText| !field.directives.iter().any(|d| d.contains("requires"));
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
            let (name, list) = (entity.name.clone(), self.random.percent(50));
            let is_named = entity.interfaces.iter().any(|(name, _)| name == "Named");
            let (name, set) = if is_named && self.random.percent(50) {
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

    /// Moves fields from one subgraph to another while a label is active.
    fn overrides(&mut self) {
        for index in 0..self.entities.len() {
            let entity = &self.entities[index];
            if entity.graphs.len() < 2 || entity.satellite.is_some() || !self.random.percent(40) {
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

    fn roots(&mut self) {
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
        if self.random.percent(30) {
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

    fn finish(self) -> Generated {
        let mutation = if self.mutation.is_empty() {
            ""
        } else {
            "mutation: Mutation"
        };
        let mut sdl = HEAD.replace("MUTATION", mutation);
        sdl.push_str("enum join__Graph {");
        for index in 0..self.graphs {
            let _ = write!(sdl, " G{index} @join__graph(name: \"g{index}\", url: \"\")");
        }
        sdl.push_str(" }\n");
        for entity in &self.entities {
            let _ = write!(sdl, "type {}", entity.name);
            for (position, (name, _)) in entity.interfaces.iter().enumerate() {
                let word = if position == 0 { "implements" } else { "&" };
                let _ = write!(sdl, " {word} {name}");
            }
            for (name, graphs) in &entity.interfaces {
                for index in graphs {
                    let interface = format!("interface: \"{name}\"");
                    let _ = write!(
                        sdl,
                        " @join__implements(graph: {}, {interface})",
                        graph(*index)
                    );
                }
            }
            for (index, keys) in &entity.keys {
                for key in keys {
                    let _ = write!(
                        sdl,
                        " @join__type(graph: {}, key: \"{key}\")",
                        graph(*index)
                    );
                }
            }
            sdl.push_str(" {\n");
            for field in &entity.fields {
                let _ = writeln!(sdl, "  {} {}", field.signature, field.directives.join(" "));
            }
            sdl.push_str("}\n");
        }
        sdl.push_str(&self.rest);
        for (name, fields) in [("Query", &self.query), ("Mutation", &self.mutation)] {
            if fields.is_empty() {
                continue;
            }
            let _ = write!(sdl, "type {name}");
            for index in 0..self.graphs {
                if name == "Query" || self.mutation_graphs.contains(&index) {
                    let _ = write!(sdl, " @join__type(graph: {})", graph(index));
                }
            }
            let _ = writeln!(sdl, " {{\n  {}\n}}", fields.join("\n  "));
        }
        Generated {
            sdl,
            features: self.features,
            labels: self.labels,
        }
    }
}
