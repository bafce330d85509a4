//! The operations that subgraphs are sent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use apollo_compiler::ast::Value;
use apollo_compiler::executable::{Operation, OperationType};
use apollo_compiler::{Name, Node, ast};

use super::fetch_group::{ContextValue, FetchGroup, GroupEntry};
use super::template::{ListText, Template};
use crate::graph::Graph;
use crate::hash::{HashMap, IndexMap};
use crate::operation::{ClassId, Full, NodeId, Tree};
use crate::supergraph::{ContextArgument, SubgraphId, TypeId};

/// Maximum length of an operation that a subgraph is sent, in bytes. Fields of several types are written for
/// each of them, so nested ones could multiply.
const MAX_LENGTH: usize = 1 << 20;

/// Maximum number of types that are looked at to write an operation.
const MAX_TYPES: usize = 200_000;

/// Prints the operation of one request.
pub(super) struct DocumentPrinter<'p> {
    graph: Graph<'p>,
    tree: &'p Tree,
    operation: &'p Operation,
    subgraph: SubgraphId,
    /// The fields of the group that is being printed.
    fetched: &'p BTreeSet<NodeId>,
    out: String,
    used: BTreeSet<Name>,
    /// Types that were looked at.
    types: usize,
    /// Numbers of fields of the group; equal ones are printed alike.
    alike: HashMap<NodeId, usize>,
    numbers: HashMap<PrintedField<'p>, usize>,
    /// The variables of values from contexts in the group that is being printed.
    contexts: Vec<String>,
    /// Where they stand in the text, their lengths, and which they are.
    marks: Vec<(usize, usize, usize)>,
}

/// What is printed of a field: its key, name and arguments, and what is selected of which types.
type PrintedField<'p> = (
    &'p str,
    &'p str,
    &'p [Node<ast::Argument>],
    BTreeMap<Vec<usize>, Vec<TypeId>>,
);

/// The operation of a request.
pub(super) struct PrintedDocument {
    pub(super) text: String,
    /// The client's variables in it.
    pub(super) variables: Vec<Name>,
    /// Of each group.
    pub(super) names: Vec<EntityNames>,
    /// What it is made of, where some of it can be left out or comes several times.
    pub(super) template: Option<Template>,
}

/// The names in the operation for a group that begins at entities.
#[derive(Clone, Default)]
pub(super) struct EntityNames {
    /// The key of the entities.
    pub(super) key: String,
    /// The variable of their representations.
    pub(super) variable: String,
    /// The variables of values from contexts, with their types.
    pub(super) contexts: Vec<(String, String)>,
}

static NOTHING: BTreeSet<NodeId> = BTreeSet::new();

impl<'p> DocumentPrinter<'p> {
    pub(super) fn new(
        graph: Graph<'p>,
        tree: &'p Tree,
        operation: &'p Operation,
        subgraph: SubgraphId,
    ) -> Self {
        DocumentPrinter {
            graph,
            tree,
            operation,
            subgraph,
            fetched: &NOTHING,
            out: String::new(),
            used: BTreeSet::new(),
            types: 0,
            alike: HashMap::default(),
            numbers: HashMap::default(),
            contexts: Vec::new(),
            marks: Vec::new(),
        }
    }

    pub(super) fn print(mut self, groups: &[&'p FetchGroup]) -> Result<PrintedDocument, Full> {
        let mut names = Vec::new();
        let mut template = Template::default();
        for (position, group) in groups.iter().enumerate() {
            self.fetched = &group.nodes;
            self.alike.clear();
            if position > 0 {
                self.out.push(' ');
            }
            match &group.entry {
                GroupEntry::Root => self.class(Tree::ROOT),
                GroupEntry::Reentry(class) => self.class(*class),
                GroupEntry::Entities { contexts, .. } => {
                    let named = self.names(position, groups.len(), contexts);
                    template.lists.push(self.list(&group.entry, &named));
                    names.push(named);
                    continue;
                }
            }
            names.push(EntityNames::default());
        }
        if self.is_full() {
            return Err(Full);
        }
        let text = self.with_head(&groups[0].entry, &names);
        template.definitions = self.definitions();
        let lists = template.lists.len();
        let is_repeated = names.iter().any(|names| !names.contexts.is_empty());
        Ok(PrintedDocument {
            text,
            template: (is_repeated || lists > 1).then_some(template),
            variables: self.used.into_iter().collect(),
            names,
        })
    }

    /// Prints a list of entities.
    fn list(&mut self, entry: &GroupEntry, names: &EntityNames) -> ListText {
        let mut list = ListText {
            key: names.key.clone(),
            variable: names.variable.clone(),
            contexts: names.contexts.clone(),
            ..ListText::default()
        };
        let before = std::mem::take(&mut self.used);
        let contexts = names.contexts.iter();
        self.contexts = contexts.map(|(variable, _)| variable.clone()).collect();
        self.marks.clear();
        if list.key != "_entities" {
            let _ = write!(self.out, "{}: ", list.key);
        }
        let variable = &list.variable;
        let _ = write!(self.out, "_entities(representations: ${variable}) ");
        let begin = self.out.len();
        self.out.push_str("{ ");
        if let GroupEntry::Entities {
            classes, interface, ..
        } = entry
        {
            match interface {
                Some(interface) => self.as_interface(*interface, classes),
                None => self.entities(classes[0]),
            }
        }
        self.out.push_str(" }");
        for mark in &mut self.marks {
            mark.0 -= begin;
        }
        list.cut(&self.out[begin..], &self.marks);
        list.used = std::mem::replace(&mut self.used, before);
        self.used.extend(list.used.iter().cloned());
        list
    }

    /// Returns the key of a group's entities, and variables that the client does not use.
    fn names(&self, position: usize, groups: usize, contexts: &[ContextValue]) -> EntityNames {
        let known = self.operation.variables.iter();
        let known: Vec<&str> = known.map(|known| known.name.as_str()).collect();
        let unused = |name: String, is_taken: &dyn Fn(&str, &str) -> bool| {
            let mut name = name;
            while known.iter().any(|known| is_taken(known, &name)) {
                name.push('_');
            }
            name
        };
        let (key, end) = match groups {
            1 => ("_entities".to_owned(), String::new()),
            _ => (format!("_{position}"), format!("_{position}")),
        };
        // Copies of a list have longer names.
        let is_taken: &dyn Fn(&str, &str) -> bool = match contexts {
            [] => &|known, name| known == name,
            _ => &|known, name| known.starts_with(name),
        };
        let variable = unused(format!("representations{end}"), is_taken);
        let context = unused(format!("context{end}"), is_taken);
        let contexts = contexts.iter().enumerate().map(|(number, value)| {
            let variable = format!("{context}_{number}");
            (variable, value.ty.to_string())
        });
        EntityNames {
            key,
            variable,
            contexts: contexts.collect(),
        }
    }

    /// Returns the client's variables that are used, with their definitions.
    fn definitions(&self) -> Vec<(Name, String)> {
        let variables = self.operation.variables.iter();
        let used = variables.filter(|variable| self.used.contains(&variable.name));
        let definitions = used.map(|variable| {
            let mut definition = format!("${}: {}", variable.name, variable.ty);
            if let Some(default) = &variable.default_value {
                let _ = write!(definition, " = {}", default.serialize().no_indent());
            }
            (variable.name.clone(), definition)
        });
        definitions.collect()
    }

    fn with_head(&self, entry: &GroupEntry, names: &[EntityNames]) -> String {
        let mut definitions: Vec<String> = self
            .definitions()
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        for EntityNames {
            variable, contexts, ..
        } in names.iter().filter(|names| !names.variable.is_empty())
        {
            definitions.push(format!("${variable}: [_Any!]!"));
            let contexts = contexts.iter();
            definitions.extend(contexts.map(|(name, ty)| format!("${name}: {ty}")));
        }
        let is_root = matches!(entry, GroupEntry::Root);
        let kind = match self.operation.operation_type {
            OperationType::Mutation if is_root => "mutation",
            OperationType::Subscription if is_root => "subscription",
            _ => "query",
        };
        if definitions.is_empty() {
            return format!("{kind} {{ {} }}", self.out);
        }
        format!("{kind}({}) {{ {} }}", definitions.join(", "), self.out)
    }

    fn class(&mut self, class: ClassId) {
        let nodes = self.nodes_of(class);
        if nodes.is_empty() {
            self.out.push_str("__typename");
        }
        self.members(&nodes);
    }

    fn entities(&mut self, class: ClassId) {
        let nodes = self.nodes_of(class);
        let types = self.tree.class(class).types.iter();
        let supergraph = self.graph.supergraph();
        let known = types.filter(|ty| supergraph.ty(**ty).join(self.subgraph).is_some());
        self.fragments(known.copied().collect(), &nodes);
    }

    fn is_full(&self) -> bool {
        self.out.len() > MAX_LENGTH || self.types > MAX_TYPES
    }

    fn fragments(&mut self, types: Vec<TypeId>, nodes: &[NodeId]) {
        for (position, ty) in types.iter().enumerate() {
            if self.is_full() {
                return;
            }
            let name = &self.graph.supergraph().ty(*ty).name;
            let gap = if position > 0 { " " } else { "" };
            let _ = write!(self.out, "{gap}... on {name} {{ ");
            if nodes.is_empty() {
                self.out.push_str("__typename");
            }
            self.members(nodes);
            self.out.push_str(" }");
        }
    }

    fn nodes_of(&self, class: ClassId) -> Vec<NodeId> {
        let nodes = self.tree.class(class).nodes.iter();
        nodes
            .filter(|node| self.fetched.contains(node))
            .copied()
            .collect()
    }

    /// Prints fields; those with the same key are one.
    fn members(&mut self, nodes: &[NodeId]) {
        let mut by_key: IndexMap<&'p str, Vec<NodeId>> = IndexMap::default();
        for node in nodes {
            by_key
                .entry(&self.tree.node(*node).key)
                .or_default()
                .push(*node);
        }
        for (position, (key, nodes)) in by_key.into_iter().enumerate() {
            let node = self.tree.node(nodes[0]);
            if position > 0 {
                self.out.push(' ');
            }
            if *node.name != *key {
                let _ = write!(self.out, "{key}: ");
            }
            self.out.push_str(&node.name);
            let field = self.graph.supergraph().field(node.field);
            let join = field.join(self.subgraph);
            let contexts = join.map_or(&[][..], |join| &join.contexts);
            self.arguments(&node.arguments, contexts);
            if self.graph.supergraph().ty(field.inner).is_composite() {
                self.out.push_str(" { ");
                self.values(&nodes);
                self.out.push_str(" }");
            }
        }
    }

    fn arguments(&mut self, arguments: &[Node<ast::Argument>], contexts: &[ContextArgument]) {
        for (position, argument) in arguments.iter().enumerate() {
            self.out.push_str(if position > 0 { ", " } else { "(" });
            let value = argument.value.serialize().no_indent();
            let _ = write!(self.out, "{}: {value}", argument.name);
            variables(&argument.value, &mut self.used);
        }
        let mut is_first = arguments.is_empty();
        // Only the fields of a group that is given values have them.
        for (position, (argument, variable)) in contexts.iter().zip(&self.contexts).enumerate() {
            self.out.push_str(if is_first { "(" } else { ", " });
            is_first = false;
            let _ = write!(self.out, "{}: $", argument.name);
            self.marks.push((self.out.len(), variable.len(), position));
            self.out.push_str(variable);
        }
        if !is_first {
            self.out.push(')');
        }
    }

    /// Prints what is selected of the values of a field.
    fn values(&mut self, nodes: &[NodeId]) {
        let supergraph = self.graph.supergraph();
        let field = supergraph.field(self.tree.node(nodes[0]).field);
        let join = field
            .join(self.subgraph)
            .expect("the field is fetched there");
        let classes: Vec<ClassId> = nodes
            .iter()
            .flat_map(|node| &self.tree.node(*node).classes)
            .copied()
            .collect();
        let is_abstract = supergraph.ty(field.inner).is_abstract();
        self.objects(join.inner, is_abstract, &classes);
    }

    /// Prints what is selected of objects that are asked for as those of an interface.
    fn as_interface(&mut self, interface: TypeId, classes: &[ClassId]) {
        let name = &self.graph.supergraph().ty(interface).name;
        let _ = write!(self.out, "... on {name} {{ ");
        self.objects(interface, true, classes);
        self.out.push_str(" }");
    }

    /// Prints what is selected of objects of a type of the subgraph.
    fn objects(&mut self, inner: TypeId, is_abstract: bool, classes: &[ClassId]) {
        let supergraph = self.graph.supergraph();
        let join = supergraph.ty(inner).join(self.subgraph);
        let is_object = join.is_none_or(|join| join.is_interface_object);
        let mut parts = self.parts(join.map_or(&[], |join| &join.possible), classes);
        let is_abstract = is_abstract && !is_object;
        let mut is_empty = true;
        if is_abstract {
            self.out.push_str("__typename");
            is_empty = false;
        }
        if is_object || !supergraph.ty(inner).is_abstract() {
            let members: Vec<NodeId> = parts.into_iter().flat_map(|(members, _)| members).collect();
            self.spaced(
                &mut is_empty,
                |printer| printer.members(&members),
                members.is_empty(),
            );
        } else {
            let common = self.common(inner, &mut parts);
            self.spaced(
                &mut is_empty,
                |printer| printer.members(&common),
                common.is_empty(),
            );
            for (members, types) in parts {
                let is_nothing = members.is_empty();
                self.spaced(
                    &mut is_empty,
                    |printer| printer.fragments(types, &members),
                    is_nothing,
                );
            }
        }
        if is_empty {
            self.out.push_str("__typename");
        }
    }

    /// Prints something after what is there already, if it is anything.
    fn spaced(&mut self, is_first: &mut bool, print: impl FnOnce(&mut Self), is_nothing: bool) {
        if is_nothing {
            return;
        }
        if !*is_first {
            self.out.push(' ');
        }
        *is_first = false;
        print(self);
    }

    /// Returns what is selected of the objects of classes, and of which types.
    fn parts(
        &mut self,
        possible: &[TypeId],
        classes: &[ClassId],
    ) -> Vec<(Vec<NodeId>, Vec<TypeId>)> {
        self.types += possible.len();
        let mut members: HashMap<TypeId, Vec<NodeId>> = HashMap::default();
        for class in classes {
            let fetched = self.nodes_of(*class);
            for ty in &self.tree.class(*class).types {
                members.entry(*ty).or_default().extend(&fetched);
            }
        }
        let mut parts: IndexMap<Vec<NodeId>, Vec<TypeId>> = IndexMap::default();
        for ty in possible {
            let members = members.remove(ty).unwrap_or_default();
            parts.entry(members).or_default().push(*ty);
        }
        parts.into_iter().collect()
    }

    /// Takes out of all parts what can be asked of the interface itself.
    fn common(
        &mut self,
        interface: TypeId,
        parts: &mut [(Vec<NodeId>, Vec<TypeId>)],
    ) -> Vec<NodeId> {
        let Some(((first, _), rest)) = parts.split_first() else {
            return Vec::new();
        };
        let mut common = BTreeSet::new();
        for node in first {
            if self.has(interface, *node) {
                common.insert(self.number(*node));
            }
        }
        for (members, _) in rest {
            if common.is_empty() {
                return Vec::new();
            }
            let there: BTreeSet<usize> = members
                .iter()
                .filter(|node| self.has(interface, **node))
                .copied()
                .collect::<Vec<_>>()
                .into_iter()
                .map(|node| self.number(node))
                .collect();
            common.retain(|number| there.contains(number));
        }
        let mut taken = Vec::new();
        for (position, (members, _)) in parts.iter_mut().enumerate() {
            members.retain(|node| {
                let is_common = common.contains(&self.number(*node));
                if is_common && position == 0 {
                    taken.push(*node);
                }
                !is_common
            });
        }
        taken
    }

    /// Returns the number of a field; those that are printed alike have the same.
    fn number(&mut self, id: NodeId) -> usize {
        if let Some(known) = self.alike.get(&id) {
            return *known;
        }
        let tree = self.tree;
        let node = tree.node(id);
        let mut below: BTreeMap<Vec<usize>, Vec<TypeId>> = BTreeMap::new();
        for class in &node.classes {
            let fetched = self.nodes_of(*class);
            let mut members: Vec<usize> = fetched.iter().map(|node| self.number(*node)).collect();
            members.sort_unstable();
            let types = &tree.class(*class).types;
            self.types += types.len();
            below.entry(members).or_default().extend(types);
        }
        below.values_mut().for_each(|types| types.sort_unstable());
        let printing = (
            &*node.key,
            node.name.as_str(),
            node.arguments.as_slice(),
            below,
        );
        let next = self.numbers.len();
        let number = *self.numbers.entry(printing).or_insert(next);
        self.alike.insert(id, number);
        number
    }

    /// Returns whether an interface has a field as its objects have it in this subgraph.
    fn has(&self, interface: TypeId, node: NodeId) -> bool {
        let supergraph = self.graph.supergraph();
        let node = self.tree.node(node);
        let general = supergraph
            .field_id(interface, &node.name)
            .and_then(|field| supergraph.field(field).join(self.subgraph));
        let own = supergraph.field(node.field).join(self.subgraph);
        match (general, own) {
            (Some(general), Some(own)) => general.ty == own.ty,
            _ => false,
        }
    }
}

/// Adds the variables in a value.
fn variables(value: &Value, used: &mut BTreeSet<Name>) {
    match value {
        Value::Variable(name) => {
            used.insert(name.clone());
        }
        Value::List(items) => items.iter().for_each(|item| variables(item, used)),
        Value::Object(members) => members.iter().for_each(|(_, value)| variables(value, used)),
        _ => {}
    }
}
