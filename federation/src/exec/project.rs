//! Writes the answer: the merged data in the order of the client's operation, checked against the API
//! schema.

use std::collections::HashSet;

use apollo_compiler::ast::Type as AstType;
use apollo_compiler::{Name, Schema};
use graphql_service::writer::{AnswerWriter, PathStep, PropagateNull, WriteResult, WrittenText};
use graphql_service::{ErrorCode, GraphqlError, PathSegment, code as shared};
use serde_json::value::RawValue;

use super::leaf;
use super::store::{ObjectId, Store, Value};
use super::walk::Walk;
use crate::code;
use crate::hash::HashMap;
use crate::operation::{ClassId, LeafKind, NodeId, Output, Tree};
use crate::supergraph::{FieldId, TypeId};

/// Writes what introspection answers under a response key of the root.
pub(super) type Introspect<'p> = dyn Fn(&str, &mut AnswerWriter<'p>) -> WriteResult + Sync + 'p;

/// Writes one answer.
pub(super) struct Projection<'p, 'w> {
    pub(super) walk: Walk<'p>,
    pub(super) api: &'p Schema,
    pub(super) introspect: &'w Introspect<'p>,
    pub(super) errors: ErrorPaths,
    pub(super) writer: AnswerWriter<'p>,
    /// What was written of values that objects share.
    pub(super) shared: HashMap<(NodeId, Value), WrittenText>,
}

/// The paths of the errors that are known, to tell which nulls are explained.
#[derive(Debug, Default)]
pub(super) struct ErrorPaths {
    paths: HashSet<String>,
    /// The paths, and all that is above them.
    above: HashSet<String>,
}

impl ErrorPaths {
    fn is_empty(&self) -> bool {
        self.above.is_empty()
    }

    pub(super) fn add(&mut self, path: &[PathSegment]) {
        let prefixes = prefixes(path);
        self.paths.extend(prefixes.last().cloned());
        self.above.extend(prefixes);
    }

    /// Returns whether there is an error at, above or below a path, be it about this object or about all objects
    /// in the lists on the way.
    fn explain(&self, path: &[PathSegment]) -> bool {
        let is_key = |segment: &&PathSegment| matches!(segment, PathSegment::Key(_));
        let keys = || path.iter().filter(is_key).cloned().collect::<Vec<_>>();
        self.leads_to(path) || self.leads_to(&keys())
    }

    fn leads_to(&self, path: &[PathSegment]) -> bool {
        let prefixes = prefixes(path);
        let is_above = |prefix: &String| self.above.contains(prefix);
        prefixes.last().is_some_and(is_above)
            || prefixes.iter().any(|prefix| self.paths.contains(prefix))
    }
}

/// Returns all beginnings of a path as text, the shortest first.
fn prefixes(path: &[PathSegment]) -> Vec<String> {
    let mut prefixes = vec![String::new()];
    let mut text = String::new();
    for segment in path {
        text.push('/');
        match segment {
            PathSegment::Key(key) => text.push_str(key),
            PathSegment::Index(index) => text.push_str(&index.to_string()),
        }
        prefixes.push(text.clone());
    }
    prefixes
}

impl<'p> Projection<'p, '_> {
    /// Writes the root object.
    pub(super) fn root(&mut self) -> WriteResult {
        let ty = self.walk.tree.class(Tree::ROOT).ty();
        self.members(Store::ROOT, Tree::ROOT, ty)
    }

    fn members(&mut self, object: ObjectId, class: ClassId, ty: TypeId) -> WriteResult {
        let outputs = self.walk.tree.class(class).outputs.iter();
        self.outputs(object, outputs, &self.walk.supergraph.ty(ty).name)
    }

    fn outputs(
        &mut self,
        object: ObjectId,
        outputs: impl Iterator<Item = &'p Output>,
        typename: &str,
    ) -> WriteResult {
        self.writer.out.push(b'{');
        for (position, output) in outputs.enumerate() {
            self.writer.check_size()?;
            match output {
                Output::Typename { key } => {
                    self.writer.key(position, key);
                    self.writer.string(typename);
                }
                Output::Introspection { key } => {
                    self.writer.key(position, key);
                    (self.introspect)(key, &mut self.writer)?;
                }
                Output::Denied { key, field } => {
                    self.writer.key(position, key);
                    self.denied(key, *field)?;
                }
                Output::Field { key, node } => {
                    self.writer.key(position, key);
                    self.field(object, key, *node)?;
                }
            }
        }
        self.writer.out.push(b'}');
        Ok(())
    }

    /// Writes the null of a field that the request may not see.
    fn denied(&mut self, key: &'p Name, field: FieldId) -> WriteResult {
        let supergraph = self.walk.supergraph;
        let field = supergraph.field(field);
        let parent = &supergraph.ty(field.parent).name;
        self.writer.enter(PathStep::Key(key));
        let message = format!("the request may not see `{parent}.{}`", field.name);
        self.error(code::UNAUTHORIZED_FIELD_OR_TYPE, &message);
        self.writer.leave();
        if field.ty.is_non_null() {
            return Err(PropagateNull);
        }
        self.writer.null();
        Ok(())
    }

    fn field(&mut self, object: ObjectId, key: &'p Name, node: NodeId) -> WriteResult {
        let walk = self.walk;
        let value = walk.store.get(object, walk.tree.node(node).member);
        let ty = &walk.supergraph.field(walk.tree.node(node).field).ty;
        let is_shared =
            walk.store.is_sharing(object) && matches!(value, Value::List(_) | Value::Object(_));
        if is_shared && self.repeat(node, value) {
            return self.writer.check_size();
        }
        let mark = self.writer.mark();
        self.writer.enter(PathStep::Key(key));
        let depth = self.writer.depth();
        let written = self.value(value, ty, node);
        self.writer.leave_to(depth);
        self.writer.leave();
        if is_shared && written.is_ok() && self.errors.is_empty() {
            let text = self.writer.written_since(mark);
            self.shared.insert((node, value), text);
        }
        written
    }

    /// Writes a value that other objects have too as it was written for them. Returns whether it was.
    fn repeat(&mut self, node: NodeId, value: Value) -> bool {
        // Each place has errors of its own.
        let known = self.shared.get(&(node, value));
        self.errors.is_empty() && known.is_some_and(|written| self.writer.repeat(*written))
    }

    fn value(&mut self, value: Value, ty: &'p AstType, node: NodeId) -> WriteResult {
        let store = self.walk.store;
        let mark = self.writer.mark();
        let written = match value {
            Value::Absent | Value::Null | Value::Unavailable(_) => return self.null(ty),
            Value::List(items) if ty.is_list() => {
                self.list(store.items(items), ty.item_type(), node)
            }
            Value::Object(object) if !ty.is_list() => self.object(object, node, ty),
            Value::Leaf(text) => self.leaf(store.text(text), ty, self.walk.tree.node(node).kind),
            _ => self.wrong("the value does not have the form of its type"),
        };
        match written {
            Ok(()) => Ok(()),
            Err(PropagateNull) => self.writer.null_from(mark, ty.is_non_null()),
        }
    }

    fn list(&mut self, items: &'p [Value], ty: &'p AstType, node: NodeId) -> WriteResult {
        self.writer.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            self.writer.check_size()?;
            if index > 0 {
                self.writer.out.push(b',');
            }
            self.writer.enter(PathStep::Index(index));
            self.value(*item, ty, node)?;
            self.writer.leave();
        }
        self.writer.out.push(b']');
        Ok(())
    }

    fn object(&mut self, object: ObjectId, node: NodeId, ty: &AstType) -> WriteResult {
        let walk = self.walk;
        match walk.class(object, node) {
            Some((Some(known), class)) => self.members(object, class, known),
            _ if walk.is_untyped(object, node) => self.untyped(object, node, ty),
            _ => self.wrong("the object has a type that is not possible here"),
        }
    }

    /// Writes an object whose type no subgraph knows: type conditions do not match, and there is no object
    /// where its type was asked for.
    fn untyped(&mut self, object: ObjectId, node: NodeId, ty: &AstType) -> WriteResult {
        let tree = self.walk.tree;
        let classes = &tree.node(node).classes;
        let outputs = |class: &ClassId| tree.class(*class).outputs.iter();
        if classes.iter().any(|class| tree.asks_types(*class)) {
            return self.null(ty);
        }
        let is_common = |output: &&Output| {
            let mut classes = classes.iter();
            classes.all(|class| outputs(class).any(|other| other.key() == output.key()))
        };
        let Some(first) = classes.first() else {
            return self.wrong("the object has a type that is not possible here");
        };
        self.outputs(object, outputs(first).filter(is_common), "")
    }

    /// Writes a leaf, or lists of leaves.
    fn leaf(&mut self, text: &[u8], ty: &'p AstType, kind: LeafKind) -> WriteResult {
        if ty.is_list() {
            let Ok(items) = serde_json::from_slice::<Vec<&RawValue>>(text) else {
                return self.wrong("the value is not a list");
            };
            self.writer.out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    self.writer.out.push(b',');
                }
                self.writer.enter(PathStep::Index(index));
                self.leaf_item(item.get(), ty.item_type(), kind)?;
                self.writer.leave();
            }
            self.writer.out.push(b']');
            return Ok(());
        }
        let name = ty.inner_named_type();
        if leaf::write(self.api, name, kind, text, &mut self.writer.out) {
            return Ok(());
        }
        self.wrong("the value does not fit its type")
    }

    fn leaf_item(&mut self, text: &str, ty: &'p AstType, kind: LeafKind) -> WriteResult {
        if text == "null" {
            return self.null(ty);
        }
        let (mark, depth) = (self.writer.mark(), self.writer.depth());
        let written = self.leaf(text.as_bytes(), ty, kind);
        self.writer.leave_to(depth);
        match written {
            Ok(()) => Ok(()),
            Err(PropagateNull) => self.writer.null_from(mark, ty.is_non_null()),
        }
    }

    fn null(&mut self, ty: &AstType) -> WriteResult {
        if !ty.is_non_null() {
            self.writer.null();
            return Ok(());
        }
        if !self.errors.explain(&self.writer.path()) {
            self.error(shared::NON_NULL_VIOLATED, "a non-null field has no value");
        }
        Err(PropagateNull)
    }

    fn wrong(&mut self, message: &str) -> WriteResult {
        if !self.errors.explain(&self.writer.path()) {
            self.error(code::SUBGRAPH_VALUE_INVALID, message);
        }
        Err(PropagateNull)
    }

    fn error(&mut self, code: ErrorCode, message: &str) {
        let path = self.writer.path();
        self.errors.add(&path);
        self.writer
            .push_error(GraphqlError::new(code, message).on(path));
    }
}
