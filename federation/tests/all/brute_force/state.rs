//! A plan that grows: fields, groups, and what is still to be done.

use std::collections::{BTreeMap, BTreeSet};

use apollo_compiler::ast;
use apollo_compiler::executable::OperationType;
use federation::graph::Graph;
use federation::operation::{ClassId, NodeId, Output, Tree};
use federation::supergraph::{
    FieldId, FieldJoin, FieldSet, Key, Selected, SubgraphId, Supergraph, TypeId, TypeKind,
};

#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) position: Option<usize>,
    pub(super) types: Vec<TypeId>,
    /// What clients ask for.
    pub(super) asked: Vec<usize>,
    /// Whether clients ask for the name of the type.
    pub(super) asks_type: bool,
    /// The response keys of clients with what they ask for.
    pub(super) keys: Vec<(String, Option<usize>)>,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) class: usize,
    pub(super) field: FieldId,
    pub(super) name: String,
    pub(super) arguments: String,
    /// The name in answers.
    pub(super) key: String,
    pub(super) inner: Option<FieldSet>,
    pub(super) classes: Vec<usize>,
    /// Whether clients ask the same of all classes, without type conditions.
    pub(super) is_uniform: bool,
    /// The only subgraph that has the field.
    sole: Option<SubgraphId>,
    /// What clients ask for below it, as far as it is there whatever the types of objects are.
    below: Below,
}

/// Fields that are fetched whatever is chosen.
#[derive(Clone, Debug, Default)]
struct Below {
    fields: usize,
    /// The subgraphs without which they cannot be.
    subgraphs: BTreeSet<SubgraphId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Root,
    Reentry(usize),
    Entities(usize),
    /// All values of a field, as objects of an interface.
    Whole(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) subgraph: SubgraphId,
    pub(super) entry: Entry,
    /// The classes that it begins at.
    pub(super) begins: Vec<usize>,
    pub(super) nodes: BTreeSet<usize>,
    pub(super) after: BTreeSet<usize>,
    pub(super) inputs: BTreeMap<String, usize>,
    /// What it is given from objects above: only fields that are given the same may join.
    pub(super) contexts: Vec<Taken>,
}

/// A value from a context: its type, the class above, and what is taken of it.
pub(super) type Taken = (String, usize, FieldSet);

#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    /// A field is fetched, for a group that waits for it or for the client.
    Fetch(usize, Option<usize>),
    /// The types of the values of a field are told, if they are not known, for a group or for the client.
    Types(usize, Option<usize>),
    /// What the client asks for below a field is fetched.
    Below(usize),
    /// What is needed of the objects of a field is fetched for a group.
    Needs(usize, usize),
    /// Everything behind it waits for all that is there.
    Barrier,
}

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) classes: Vec<Class>,
    pub(super) nodes: Vec<Node>,
    pub(super) groups: Vec<Group>,
    pub(super) tasks: Vec<Task>,
    /// The groups that tell the types of the values of fields.
    pub(super) typed: BTreeMap<usize, usize>,
    /// The fields whose values have types that stay unknown: clients ask the same of all of them.
    pub(super) untold: BTreeSet<usize>,
    barrier: BTreeSet<usize>,
}

impl Group {
    pub(super) fn is_of_entities(&self) -> bool {
        matches!(self.entry, Entry::Entities(_) | Entry::Whole(_))
    }
}

impl State {
    /// Takes what the client asks for from a tree.
    pub(super) fn of(graph: Graph<'_>, tree: &Tree, operation: OperationType) -> State {
        let mut state = State::default();
        let root = state.client(graph, tree, (Tree::ROOT, None));
        let asked = state.classes[root].asked.clone();
        if operation == OperationType::Mutation {
            for node in asked.into_iter().rev() {
                state.tasks.push(Task::Barrier);
                state.push(&[node]);
            }
        } else {
            state.push(&asked);
        }
        state
    }

    fn client(
        &mut self,
        graph: Graph<'_>,
        tree: &Tree,
        (id, position): (ClassId, Option<usize>),
    ) -> usize {
        let class = self.classes.len();
        let outputs = &tree.class(id).outputs;
        let is_type = |output: &Output| matches!(output, Output::Typename { .. });
        self.classes.push(Class {
            position,
            types: tree.class(id).types.clone(),
            asked: Vec::new(),
            asks_type: outputs.iter().any(is_type),
            keys: Vec::new(),
        });
        let mut seen = BTreeMap::new();
        for output in outputs {
            let key = output.key().to_string();
            let Output::Field { node, .. } = output else {
                self.classes[class].keys.push((key, None));
                continue;
            };
            let place = match seen.get(node) {
                Some(known) => *known,
                None => {
                    let place = self.field(graph, tree, (class, *node));
                    seen.insert(*node, place);
                    self.classes[class].asked.push(place);
                    place
                }
            };
            self.classes[class].keys.push((key, Some(place)));
        }
        class
    }

    fn field(&mut self, graph: Graph<'_>, tree: &Tree, (class, node): (usize, NodeId)) -> usize {
        let known = tree.node(node);
        let place = self.nodes.len();
        self.nodes.push(Node {
            class,
            field: known.field,
            name: known.name.to_string(),
            arguments: text(&known.arguments),
            key: known.key.to_string(),
            inner: None,
            classes: Vec::new(),
            is_uniform: known.is_uniform,
            sole: sole(graph, known.field),
            below: Below::default(),
        });
        for below in &known.classes {
            // Planning adds classes of what only the gateway needs; clients see nothing of them.
            let below = self.client(graph, tree, (*below, Some(place)));
            self.nodes[place].classes.push(below);
        }
        let supergraph = graph.supergraph();
        let inner = supergraph.ty(supergraph.field(known.field).inner);
        if inner.kind == TypeKind::Object {
            let mut all = Below::default();
            for class in &self.nodes[place].classes {
                for node in &self.classes[*class].asked {
                    let Node { sole, below, .. } = &self.nodes[*node];
                    all.fields += 1 + below.fields;
                    all.subgraphs.extend(sole);
                    all.subgraphs.extend(&below.subgraphs);
                }
            }
            self.nodes[place].below = all;
        }
        place
    }

    pub(super) fn push(&mut self, nodes: &[usize]) {
        for node in nodes.iter().rev() {
            self.tasks.push(Task::Below(*node));
        }
        for node in nodes.iter().rev() {
            self.tasks.push(Task::Fetch(*node, None));
        }
    }

    /// Lets everything that begins from now on wait for all that is there.
    pub(super) fn wait_for_all(&mut self) {
        self.barrier = (0..self.groups.len()).collect();
    }

    pub(super) fn begin(
        &mut self,
        subgraph: SubgraphId,
        entry: Entry,
        begins: Vec<usize>,
        after: impl IntoIterator<Item = usize>,
    ) -> usize {
        let mut after: BTreeSet<usize> = after.into_iter().collect();
        after.extend(&self.barrier);
        self.groups.push(Group {
            subgraph,
            entry,
            begins,
            nodes: BTreeSet::new(),
            after,
            inputs: BTreeMap::new(),
            contexts: Vec::new(),
        });
        self.groups.len() - 1
    }

    pub(super) fn is_fetched(&self, node: usize) -> bool {
        self.groups.iter().any(|group| group.nodes.contains(&node))
    }

    /// Returns how many fields are still to be fetched at least, and from how many other subgraphs.
    pub(super) fn open(&self) -> (usize, usize) {
        let (mut nodes, mut fields) = (BTreeSet::new(), 0);
        let mut subgraphs = BTreeSet::new();
        for task in &self.tasks {
            match task {
                Task::Fetch(node, _) if !self.is_fetched(*node) => {
                    nodes.insert(*node);
                    subgraphs.extend(self.nodes[*node].sole);
                }
                Task::Below(node) => {
                    fields += self.nodes[*node].below.fields;
                    subgraphs.extend(&self.nodes[*node].below.subgraphs);
                }
                _ => {}
            }
        }
        for group in &self.groups {
            subgraphs.remove(&group.subgraph);
        }
        (nodes.len() + fields, subgraphs.len())
    }

    pub(super) fn waits_for(&self, group: usize, other: usize) -> bool {
        group == other
            || self.groups[group]
                .after
                .iter()
                .any(|before| self.waits_for(*before, other))
    }

    /// Returns a field that only the gateway needs.
    pub(super) fn needed(
        &mut self,
        graph: Graph<'_>,
        class: usize,
        (name, arguments, inner): (&str, String, &FieldSet),
    ) -> usize {
        let supergraph = graph.supergraph();
        let wanted = (!inner.is_empty()).then(|| inner.clone());
        let known = self.nodes.iter().position(|node| {
            let is_same = node.class == class && node.name == name && node.arguments == arguments;
            is_same && node.inner == wanted && (wanted.is_some() || node.classes.is_empty())
        });
        if let Some(known) = known {
            return known;
        }
        let field = supergraph.field_id(self.classes[class].types[0], name);
        let field = field.unwrap();
        let place = self.nodes.len();
        self.nodes.push(Node {
            class,
            field,
            name: name.to_owned(),
            key: format!("{name}({arguments})"),
            arguments,
            inner: wanted.clone(),
            classes: Vec::new(),
            is_uniform: false,
            sole: sole(graph, field),
            below: Below::default(),
        });
        if wanted.is_some() {
            for types in alike(graph, field, inner) {
                self.nodes[place].classes.push(self.classes.len());
                self.classes.push(Class {
                    position: Some(place),
                    types,
                    asked: Vec::new(),
                    asks_type: false,
                    keys: Vec::new(),
                });
            }
        }
        place
    }
}

/// Returns the only subgraph that has a field.
fn sole(graph: Graph<'_>, field: FieldId) -> Option<SubgraphId> {
    match graph.supergraph().field(field).joins.as_slice() {
        [only] => Some(only.subgraph),
        _ => None,
    }
}

/// What is said of a type as far as it matters: what is selected of it, which subgraphs have it at this place,
/// how they know it, what fields below take from its objects, and who resolves its fields.
type Said<'s> = (
    Vec<Selected>,
    Vec<bool>,
    Vec<(SubgraphId, &'s [Key], Option<TypeId>)>,
    Vec<&'s FieldSet>,
    BTreeMap<String, (&'s ast::Type, &'s [FieldJoin])>,
);

/// Returns the types of the values of a field that are the same for what is needed of them.
fn alike(graph: Graph<'_>, field: FieldId, inner: &FieldSet) -> Vec<Vec<TypeId>> {
    let supergraph = graph.supergraph();
    let mut groups: Vec<(Said<'_>, Vec<TypeId>)> = Vec::new();
    for ty in &supergraph.ty(supergraph.field(field).inner).possible {
        let selected = inner.of(supergraph, *ty);
        let joins = supergraph.field(field).joins.iter();
        let there = joins.map(|join| graph.possible(join).contains(ty));
        let known = supergraph.ty(*ty).joins.iter();
        let keys = known.clone().flat_map(|join| &join.keys);
        let mut names = names_of(&selected);
        names.extend(keys.flat_map(|key| names_of(&key.fields.of(supergraph, *ty))));
        let mut fields = BTreeMap::new();
        while let Some(name) = names.pop() {
            let Some(id) = supergraph.field_id(*ty, &name) else {
                continue;
            };
            let field = supergraph.field(id);
            if fields
                .insert(name, (&field.ty, field.joins.as_slice()))
                .is_none()
            {
                let requires = field.joins.iter().filter_map(|join| join.requires.as_ref());
                names.extend(requires.flat_map(|set| names_of(&set.of(supergraph, *ty))));
            }
        }
        let known = known.map(|join| (join.subgraph, join.keys.as_slice(), join.interface));
        let lent = lent(supergraph, *ty);
        let said: Said<'_> = (selected, there.collect(), known.collect(), lent, fields);
        match groups.iter_mut().find(|(known, _)| *known == said) {
            Some((_, types)) => types.push(*ty),
            None => groups.push((said, vec![*ty])),
        }
    }
    groups.into_iter().map(|(_, types)| types).collect()
}

/// Returns what arguments of fields below take from objects of a type.
fn lent(supergraph: &Supergraph, ty: TypeId) -> Vec<&FieldSet> {
    let types = supergraph.type_ids();
    let fields = types.flat_map(|id| supergraph.ty(id).fields());
    let joins = fields.flat_map(|(_, field)| &supergraph.field(field).joins);
    let arguments = joins.flat_map(|join| &join.contexts);
    arguments.filter_map(|it| it.source(ty)).collect()
}

fn names_of(selected: &[Selected]) -> Vec<String> {
    let names = selected.iter().filter_map(|selected| match selected {
        Selected::Field { name, .. } => Some(name.to_string()),
        _ => None,
    });
    names.collect()
}

/// Returns arguments as text.
pub(super) fn text(arguments: &[apollo_compiler::Node<ast::Argument>]) -> String {
    let arguments = arguments.iter();
    let texts = arguments.map(|argument| {
        let value = argument.value.serialize().no_indent();
        format!("{}: {value},", argument.name)
    });
    texts.collect()
}
