//! From the selections of an operation to its tree.

use std::rc::Rc;

use apollo_compiler::executable::{Field, Operation, OperationType, SelectionSet};
use apollo_compiler::response::JsonMap;
use apollo_compiler::{ExecutableDocument, Name, Node as AstNode, ast};
use graphql_service::GraphqlError;
use graphql_service::limits::exceeded;

use super::selections::{Collected, Reader, Selections};
use super::slots::{Asked, Member, SlotId, Slots};
use super::tree::{Class, ClassId, LeafKind, Node, NodeId, Output, Tree};
use crate::code;
use crate::graph::Graph;
use crate::hash::{HashMap, IndexMap};
use crate::supergraph::{FieldId, FieldSet, Selected, Supergraph, TypeId};

/// How many selections and types can be looked at for the cost of an object or field.
const LOOKS: usize = 8;

impl Tree {
    /// Makes the tree of an operation. Variables are those of conditions, coerced.
    ///
    /// # Errors
    /// When it would have more than `limit` objects and fields.
    pub fn new<'d>(
        graph: Graph<'d>,
        document: &'d ExecutableDocument,
        operation: &'d Operation,
        variables: &'d JsonMap,
        limit: usize,
    ) -> Result<Tree, GraphqlError> {
        let mut tree = Tree {
            classes: Vec::new(),
            nodes: Vec::new(),
            slots: Slots::new(),
            leaves: HashMap::default(),
            room: limit,
            looks: 0,
        };
        let root = graph.supergraph().type_id(operation.object_type());
        let root = root.expect("validation has checked the root type");
        let mut collector = Collector {
            reader: Reader {
                graph,
                document,
                variables,
            },
            tree: &mut tree,
            repetitions: HashMap::default(),
            said: Said::default(),
        };
        let sets = [&operation.selection_set];
        let built = collector.classes(None, &[root], &sets);
        built.map_err(|Full| too_large(limit))?;
        Ok(tree)
    }

    /// Returns the leaf of a class that has these arguments, and adds it where it is missing.
    pub(crate) fn leaf(
        &mut self,
        supergraph: &Supergraph,
        class: ClassId,
        selection: FieldSelection<'_>,
    ) -> Result<NodeId, Full> {
        let member = self.slot(supergraph, class, selection, 0);
        let slot = member.slot;
        if let Some(known) = self.leaves.get(&(class, slot)) {
            return Ok(*known);
        }
        self.take(1)?;
        let id = self.push_node(supergraph, class, selection, member);
        self.leaves.insert((class, slot), id);
        Ok(id)
    }

    /// Returns the field of a class of which the gateway needs what `inner` says, and adds it where it is
    /// missing. Its classes have no fields at first.
    pub(crate) fn branch(
        &mut self,
        graph: Graph<'_>,
        class: ClassId,
        selection: FieldSelection<'_>,
        inner: &FieldSet,
    ) -> Result<NodeId, Full> {
        let supergraph = graph.supergraph();
        let mut known = self.class(class).nodes.iter().copied();
        let found = known.find(|id| {
            let node = self.node(*id);
            node.name == *selection.name
                && node.arguments == selection.arguments
                && node.inner.as_ref() == Some(inner)
        });
        if let Some(found) = found {
            return Ok(found);
        }
        self.take(1)?;
        let member = self.slot(supergraph, class, selection, 0);
        let id = self.push_node(supergraph, class, selection, member);
        self.nodes[id.index()].inner = Some(inner.clone());
        let field = supergraph.field(self.node(id).field);
        let mut groups: IndexMap<(Vec<Selected>, Vec<u32>), Vec<TypeId>> = IndexMap::default();
        for ty in &supergraph.ty(field.inner).possible {
            let selected = inner.of(supergraph, *ty);
            let said = said_of(graph, *ty, &names_of(&selected), self.node(id).field);
            groups.entry((selected, said)).or_default().push(*ty);
        }
        for types in groups.into_values() {
            self.add_class(Some(id), types)?;
        }
        Ok(id)
    }

    /// Counts what is added.
    pub(crate) fn take(&mut self, count: usize) -> Result<(), Full> {
        self.room = self.room.checked_sub(count).ok_or(Full)?;
        Ok(())
    }

    /// Counts selections and types that are looked at.
    pub(super) fn look(&mut self, count: usize) -> Result<(), Full> {
        let looks = self.looks + count;
        self.looks = looks % LOOKS;
        self.take(looks / LOOKS)
    }

    fn add_class(&mut self, position: Option<NodeId>, types: Vec<TypeId>) -> Result<ClassId, Full> {
        self.take(1)?;
        let id = ClassId::new(self.classes.len());
        self.classes.push(Class {
            position,
            types,
            nodes: Vec::new(),
            outputs: Vec::new(),
            slot: position.map_or(Slots::root(), |node| self.node(node).slot),
        });
        if let Some(node) = position {
            self.nodes[node.index()].classes.push(id);
        }
        Ok(id)
    }

    /// Returns the slot of a field.
    fn slot(
        &mut self,
        supergraph: &Supergraph,
        class: ClassId,
        selection: FieldSelection<'_>,
        repetition: usize,
    ) -> Member {
        let asked = Asked {
            name: selection.name.clone(),
            arguments: text_of(selection.arguments),
            shape: supergraph.field(selection.field).value_shape,
            repetition,
        };
        self.slots.get(self.classes[class.index()].slot, asked)
    }

    fn push_node(
        &mut self,
        supergraph: &Supergraph,
        class: ClassId,
        selection: FieldSelection<'_>,
        member: Member,
    ) -> NodeId {
        let FieldSelection {
            field,
            name,
            arguments,
        } = selection;
        let id = NodeId::new(self.nodes.len());
        let inner = supergraph.ty(supergraph.field(field).inner);
        self.nodes.push(Node {
            class,
            field,
            name: name.clone(),
            arguments: arguments.to_vec(),
            key: member.key,
            member: member.number,
            response_key: None,
            is_leaf: !inner.is_composite(),
            kind: LeafKind::of(supergraph.api(), &inner.name),
            classes: Vec::new(),
            is_uniform: false,
            inner: None,
            slot: member.slot,
        });
        self.classes[class.index()].nodes.push(id);
        id
    }
}

/// A field of a class with the arguments that it is selected with.
#[derive(Clone, Copy)]
pub(crate) struct FieldSelection<'a> {
    field: FieldId,
    name: &'a Name,
    arguments: &'a [AstNode<ast::Argument>],
}

impl<'a> FieldSelection<'a> {
    /// Creates the selection of a field that objects of a type have.
    pub(crate) fn new(
        supergraph: &Supergraph,
        ty: TypeId,
        name: &'a Name,
        arguments: &'a [AstNode<ast::Argument>],
    ) -> Self {
        let field = supergraph.field_id(ty, name);
        FieldSelection {
            field: field.expect("validation has checked the field"),
            name,
            arguments,
        }
    }
}

/// The tree has reached its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// Returns the error for a tree that is too large.
pub(crate) fn too_large(limit: usize) -> GraphqlError {
    exceeded(
        code::LIMIT_GATEWAY_PLAN,
        "the operation needs too many fields on too many types",
        limit,
    )
}

struct Collector<'c, 'd> {
    reader: Reader<'d>,
    tree: &'c mut Tree,
    /// How often the client asked the same of the objects of a class, by the slot of the first.
    repetitions: HashMap<(ClassId, SlotId), usize>,
    said: Said,
}

/// What is said of types, numbered.
#[derive(Default)]
struct Said {
    /// By the field whose values they are, and what is selected of them.
    of: HashMap<(FieldId, Vec<Name>), HashMap<TypeId, usize>>,
    numbers: HashMap<Vec<u32>, usize>,
}

impl<'d> Collector<'_, 'd> {
    /// Divides objects into classes, and adds those with what is selected of them. Returns whether the same is
    /// selected of all of them.
    fn classes(
        &mut self,
        position: Option<NodeId>,
        types: &[TypeId],
        sets: &[&'d SelectionSet],
    ) -> Result<bool, Full> {
        let mut selections = Selections::new(self.reader, types);
        for set in sets {
            selections.add(&set.selections, self.tree)?;
        }
        let mut classes: Vec<(Vec<TypeId>, Rc<Collected<'d>>)> = Vec::new();
        let by_types = selections.by_types(self.tree)?;
        let is_same = by_types.len() == 1;
        for (types, collected) in by_types {
            let collected = Rc::new(collected);
            let divided = match position {
                Some(node) => self.divided(self.tree.node(node).field, types, &collected)?,
                None => vec![types],
            };
            let divided = divided.into_iter();
            classes.extend(divided.map(|types| (types, Rc::clone(&collected))));
        }
        classes.sort_by_key(|(types, _)| types[0]);
        for (types, collected) in classes {
            let class = self.tree.add_class(position, types)?;
            self.fields(class, &collected)?;
        }
        Ok(is_same)
    }

    /// Divides types by what is said of them, as far as it matters for what is selected.
    fn divided(
        &mut self,
        position: FieldId,
        types: Vec<TypeId>,
        collected: &Collected<'d>,
    ) -> Result<Vec<Vec<TypeId>>, Full> {
        if types.len() == 1 {
            return Ok(vec![types]);
        }
        self.tree.look(types.len())?;
        let names: Vec<Name> = collected
            .values()
            .map(|fields| fields[0].name.clone())
            .collect();
        let said = &mut self.said;
        let known = said.of.entry((position, names.clone())).or_default();
        let mut divided: IndexMap<usize, Vec<TypeId>> = IndexMap::default();
        for ty in types {
            let number = known.entry(ty).or_insert_with(|| {
                let next = said.numbers.len();
                let text = said_of(self.reader.graph, ty, &names, position);
                *said.numbers.entry(text).or_insert(next)
            });
            divided.entry(*number).or_default().push(ty);
        }
        Ok(divided.into_values().collect())
    }

    fn fields(&mut self, class: ClassId, collected: &Collected<'d>) -> Result<(), Full> {
        for (key, fields) in collected {
            let output = match fields[0].name.as_str() {
                "__typename" => Output::Typename {
                    key: (*key).clone(),
                },
                "__schema" | "__type" => Output::Introspection {
                    key: (*key).clone(),
                },
                name => match self.denied(class, name, fields) {
                    Some(field) => Output::Denied {
                        key: (*key).clone(),
                        field,
                    },
                    None => Output::Field {
                        key: (*key).clone(),
                        node: self.field(class, key, fields)?,
                    },
                },
            };
            self.tree.classes[class.index()].outputs.push(output);
        }
        Ok(())
    }

    /// Returns the field if the request may not see it.
    fn denied(&self, class: ClassId, name: &str, fields: &[&Field]) -> Option<FieldId> {
        let supergraph = self.reader.graph.supergraph();
        let field = supergraph.field_id(self.tree.class(class).ty(), name)?;
        let denied = self.reader.graph.denied()?;
        denied.is(supergraph, field, fields).then_some(field)
    }

    fn field(&mut self, class: ClassId, key: &Name, fields: &[&'d Field]) -> Result<NodeId, Full> {
        let supergraph = self.reader.graph.supergraph();
        let ty = self.tree.class(class).ty();
        let selection = FieldSelection::new(supergraph, ty, &fields[0].name, &fields[0].arguments);
        let inner = supergraph.ty(supergraph.field(selection.field).inner);
        // A mutation is carried out as often as it is asked for.
        let is_mutation = supergraph.root(OperationType::Mutation) == Some(ty);
        if !inner.is_composite() && !is_mutation {
            return self.tree.leaf(supergraph, class, selection);
        }
        self.tree.take(1)?;
        let first = self.tree.slot(supergraph, class, selection, 0).slot;
        let repetitions = self.repetitions.entry((class, first)).or_default();
        let repetition = *repetitions;
        *repetitions += 1;
        let member = self.tree.slot(supergraph, class, selection, repetition);
        let id = self.tree.push_node(supergraph, class, selection, member);
        self.tree.nodes[id.index()].response_key = Some(key.clone());
        if !inner.is_composite() {
            return Ok(id);
        }
        let accessible = inner
            .possible
            .iter()
            .copied()
            .filter(|ty| supergraph.ty(*ty).is_accessible);
        let sets: Vec<&SelectionSet> = fields.iter().map(|field| &field.selection_set).collect();
        let is_same = self.classes(Some(id), &accessible.collect::<Vec<_>>(), &sets)?;
        if is_same && inner.joins.iter().any(|join| join.is_interface_object) {
            self.tree.nodes[id.index()].is_uniform = self.tree.is_uniform(id);
        }
        Ok(id)
    }
}

/// Returns the names of selected fields.
fn names_of(selected: &[Selected]) -> Vec<Name> {
    let name = |selected: &Selected| match selected {
        Selected::Field { name, .. } => Some(name.clone()),
        _ => None,
    };
    selected.iter().filter_map(name).collect()
}

/// Returns what is said of an object type, as far as it matters for fetching these fields of the values of
/// a field: of the fields, of all that they require, of its keys, and of what fields below take.
fn said_of(graph: Graph<'_>, ty: TypeId, names: &[Name], position: FieldId) -> Vec<u32> {
    let supergraph = graph.supergraph();
    let mut said = vec![supergraph.ty(ty).shape];
    for join in &supergraph.field(position).joins {
        said.push(u32::from(graph.possible(join).binary_search(&ty).is_ok()));
    }
    let mut wanted: Vec<Name> = names.to_vec();
    for join in &supergraph.ty(ty).joins {
        for key in &join.keys {
            wanted.extend(names_of(&key.fields.of(supergraph, ty)));
        }
    }
    for set in &supergraph.ty(ty).lends {
        wanted.extend(names_of(&set.of(supergraph, ty)));
    }
    let mut known: HashMap<Name, ()> = HashMap::default();
    while let Some(name) = wanted.pop() {
        let Some(field) = supergraph.field_id(ty, &name) else {
            continue;
        };
        if known.insert(name, ()).is_some() {
            continue;
        }
        let field = supergraph.field(field);
        said.push(field.shape);
        for requires in field.joins.iter().filter_map(|join| join.requires.as_ref()) {
            wanted.extend(names_of(&requires.of(supergraph, ty)));
        }
    }
    said
}

/// Returns arguments as text.
fn text_of(arguments: &[AstNode<ast::Argument>]) -> String {
    let mut text = String::new();
    for argument in arguments {
        let value = argument.value.serialize().no_indent();
        text.push_str(&format!("{}: {value},", argument.name));
    }
    text
}
