//! From the selections of an operation to its tree.

use std::collections::{BTreeSet, HashMap};

use apollo_compiler::ast::Value;
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::{ExecutableDocument, Name, Node as AstNode, ast};
use graphql_service::GraphqlError;
use graphql_service::limits::exceeded;
use indexmap::IndexMap;

use super::slots::{Asked, Slots};
use super::tree::{Class, ClassId, Node, NodeId, Output, Tree};
use crate::code;
use crate::graph::Graph;
use crate::supergraph::{FieldId, FieldSet, Selected, Supergraph, TypeId};

/// The fields that are selected of an object, by response key.
type Collected<'d> = IndexMap<&'d Name, Vec<&'d Field>>;

/// Types that are treated alike have the same of it: what is selected, and what is said of it.
type Signature = (Vec<usize>, Vec<u32>);

impl Tree {
    /// Makes the tree of an operation. Variables are those of conditions, coerced.
    ///
    /// # Errors
    /// When it would have more than `limit` objects and fields.
    pub fn new(
        graph: Graph<'_>,
        document: &ExecutableDocument,
        operation: &Operation,
        variables: &JsonMap,
        limit: usize,
    ) -> Result<Tree, GraphqlError> {
        let mut tree = Tree {
            classes: Vec::new(),
            nodes: Vec::new(),
            slots: Slots::new(),
            room: limit,
        };
        let root = graph.supergraph().type_id(operation.object_type());
        let root = root.expect("validation has checked the root type");
        let mut collector = Collector {
            graph,
            document,
            variables,
            tree: &mut tree,
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
        name: &Name,
        arguments: &[AstNode<ast::Argument>],
    ) -> Result<NodeId, Full> {
        let mut known = self.class(class).nodes.iter().copied();
        let found = known.find(|id| {
            let node = self.node(*id);
            node.name == *name && node.arguments == arguments
        });
        match found {
            Some(found) => Ok(found),
            None => self.add_node(supergraph, class, name, arguments),
        }
    }

    /// Returns the field of a class of which the gateway needs what `inner` says, and adds it where it is
    /// missing. Its classes have no fields at first.
    pub(crate) fn branch(
        &mut self,
        graph: Graph<'_>,
        class: ClassId,
        (name, arguments): (&Name, &[AstNode<ast::Argument>]),
        inner: &FieldSet,
    ) -> Result<NodeId, Full> {
        let supergraph = graph.supergraph();
        let mut known = self.class(class).nodes.iter().copied();
        let found = known.find(|id| {
            let node = self.node(*id);
            node.name == *name && node.arguments == arguments && node.inner.as_ref() == Some(inner)
        });
        if let Some(found) = found {
            return Ok(found);
        }
        let id = self.add_node(supergraph, class, name, arguments)?;
        self.nodes[id.index()].inner = Some(inner.clone());
        let field = supergraph.field(self.node(id).field);
        let mut groups: IndexMap<(Vec<Selected>, Vec<u32>), Vec<TypeId>> = IndexMap::new();
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

    fn add_class(&mut self, position: Option<NodeId>, types: Vec<TypeId>) -> Result<ClassId, Full> {
        self.take(1)?;
        let id = ClassId::new(self.classes.len());
        self.classes.push(Class {
            position,
            types,
            nodes: Vec::new(),
            outputs: Vec::new(),
            slot: position.map_or(Slots::ROOT, |node| self.node(node).slot),
        });
        if let Some(node) = position {
            self.nodes[node.index()].classes.push(id);
        }
        Ok(id)
    }

    fn add_node(
        &mut self,
        supergraph: &Supergraph,
        class: ClassId,
        name: &Name,
        arguments: &[AstNode<ast::Argument>],
    ) -> Result<NodeId, Full> {
        self.take(1)?;
        let ty = self.class(class).ty();
        let field = supergraph.field_id(ty, name);
        let field = field.expect("validation has checked the field");
        self.push_node(supergraph, class, (field, name, arguments), 0)
    }

    fn push_node(
        &mut self,
        supergraph: &Supergraph,
        class: ClassId,
        (field, name, arguments): (FieldId, &Name, &[AstNode<ast::Argument>]),
        repetition: usize,
    ) -> Result<NodeId, Full> {
        let id = NodeId::new(self.nodes.len());
        let asked = Asked {
            name: name.to_string(),
            arguments: text_of(arguments),
            shape: shape(supergraph, field),
            repetition,
        };
        let (key, slot) = self.slots.get(self.classes[class.index()].slot, asked);
        self.nodes.push(Node {
            class,
            field,
            name: name.clone(),
            arguments: arguments.to_vec(),
            key,
            response_key: None,
            is_leaf: !supergraph.ty(supergraph.field(field).inner).is_composite(),
            classes: Vec::new(),
            inner: None,
            slot,
        });
        self.classes[class.index()].nodes.push(id);
        Ok(id)
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
    graph: Graph<'c>,
    document: &'d ExecutableDocument,
    variables: &'c JsonMap,
    tree: &'c mut Tree,
}

impl<'d> Collector<'_, 'd> {
    /// Divides objects into classes, and adds those with what is selected of them.
    fn classes(
        &mut self,
        position: Option<NodeId>,
        types: &[TypeId],
        sets: &[&'d SelectionSet],
    ) -> Result<(), Full> {
        let mut groups: IndexMap<Signature, (Vec<TypeId>, Collected<'d>)> = IndexMap::new();
        for ty in types {
            let mut collected = Collected::new();
            for set in sets {
                self.collect(*ty, &set.selections, &mut BTreeSet::new(), &mut collected)?;
            }
            let asked = collected.values().flat_map(|fields| {
                fields
                    .iter()
                    .map(|field| std::ptr::from_ref::<Field>(field).addr())
                    .chain([0])
            });
            let names: Vec<Name> = collected
                .values()
                .map(|fields| fields[0].name.clone())
                .collect();
            let said = match position {
                Some(node) => said_of(self.graph, *ty, &names, self.tree.node(node).field),
                None => Vec::new(),
            };
            let signature = (asked.collect(), said);
            groups
                .entry(signature)
                .or_insert_with(|| (Vec::new(), collected))
                .0
                .push(*ty);
        }
        for (types, collected) in groups.into_values() {
            let class = self.tree.add_class(position, types)?;
            self.fields(class, &collected)?;
        }
        Ok(())
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
        let supergraph = self.graph.supergraph();
        let field = supergraph.field_id(self.tree.class(class).ty(), name)?;
        let denied = self.graph.denied()?;
        denied.is(supergraph, field, fields).then_some(field)
    }

    fn field(&mut self, class: ClassId, key: &Name, fields: &[&'d Field]) -> Result<NodeId, Full> {
        let supergraph = self.graph.supergraph();
        let (name, arguments) = (&fields[0].name, &fields[0].arguments);
        let ty = self.tree.class(class).ty();
        let field = supergraph
            .field_id(ty, name)
            .expect("validation has checked the field");
        let inner = supergraph.ty(supergraph.field(field).inner);
        if !inner.is_composite() {
            return self.tree.leaf(supergraph, class, name, arguments);
        }
        let same = self
            .tree
            .class(class)
            .nodes
            .iter()
            .map(|id| self.tree.node(*id));
        let same = same.filter(|node| node.name == *name && node.arguments == *arguments);
        let repetition = same.count();
        self.tree.take(1)?;
        let asked = (field, name, arguments.as_slice());
        let id = self.tree.push_node(supergraph, class, asked, repetition)?;
        self.tree.nodes[id.index()].response_key = Some(key.clone());
        let accessible = inner.possible.iter().copied();
        let accessible = accessible.filter(|ty| supergraph.ty(*ty).is_accessible);
        let sets: Vec<&SelectionSet> = fields.iter().map(|field| &field.selection_set).collect();
        self.classes(Some(id), &accessible.collect::<Vec<_>>(), &sets)?;
        Ok(id)
    }

    /// Groups the fields that apply to an object type by response key, as CollectFields of the
    /// specification does.
    fn collect(
        &mut self,
        ty: TypeId,
        selections: &'d [Selection],
        seen: &mut BTreeSet<&'d Name>,
        collected: &mut Collected<'d>,
    ) -> Result<(), Full> {
        for selection in selections {
            self.tree.take(1)?;
            if self.is_left_out(selection) {
                continue;
            }
            match selection {
                Selection::Field(field) => {
                    collected
                        .entry(field.response_key())
                        .or_default()
                        .push(field);
                }
                Selection::InlineFragment(inline) => {
                    let condition = inline.type_condition.as_ref();
                    if condition.is_none_or(|condition| self.applies(condition, ty)) {
                        let inner = &inline.selection_set.selections;
                        self.collect(ty, inner, seen, collected)?;
                    }
                }
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = self.document.fragments.get(&spread.fragment_name)
                        && self.applies(fragment.type_condition(), ty)
                        && seen.insert(&spread.fragment_name)
                    {
                        let inner = &fragment.selection_set.selections;
                        self.collect(ty, inner, seen, collected)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn applies(&self, condition: &Name, ty: TypeId) -> bool {
        let supergraph = self.graph.supergraph();
        let condition = supergraph.type_id(condition);
        condition.is_some_and(|id| supergraph.ty(id).possible.binary_search(&ty).is_ok())
    }

    fn is_left_out(&self, selection: &Selection) -> bool {
        let directives = selection.directives();
        let holds = |name: &str| {
            let condition = directives.get(name)?.specified_argument_by_name("if")?;
            match condition.as_ref() {
                Value::Boolean(value) => Some(*value),
                Value::Variable(name) => self
                    .variables
                    .get(name.as_str())
                    .and_then(JsonValue::as_bool),
                _ => None,
            }
        };
        holds("skip").unwrap_or(false) || !holds("include").unwrap_or(true)
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
/// a field: of the fields, of all that they require, and of its keys.
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
    let mut known: HashMap<Name, ()> = HashMap::new();
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

/// Returns the form of a field's value: lists, nulls and the leaf type, wherever a subgraph says so.
fn shape(supergraph: &Supergraph, field: FieldId) -> String {
    let field = supergraph.field(field);
    let is_leaf = !supergraph.ty(field.inner).is_composite();
    let own = shape_of(&field.ty, is_leaf);
    let mut all = own.clone();
    for join in &field.joins {
        let there = shape_of(&join.ty, is_leaf);
        if there != own {
            all.push_str(&format!(" {}:{there}", join.subgraph.index()));
        }
    }
    all
}

fn shape_of(ty: &ast::Type, is_leaf: bool) -> String {
    match ty {
        ast::Type::Named(name) if is_leaf => name.to_string(),
        ast::Type::Named(_) => "{}".to_owned(),
        ast::Type::NonNullNamed(name) if is_leaf => format!("{name}!"),
        ast::Type::NonNullNamed(_) => "{}!".to_owned(),
        ast::Type::List(inner) => format!("[{}]", shape_of(inner, is_leaf)),
        ast::Type::NonNullList(inner) => format!("[{}]!", shape_of(inner, is_leaf)),
    }
}
