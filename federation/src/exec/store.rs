//! The merged data of a request: objects are rows of values in one table, leaves are pieces of the answers that they
//! came in.

use std::sync::Arc;

use bytes::Bytes;

use crate::operation::{RowLayout, SlotId, Tree};
use crate::plan::{Members, MemoField, MemoSelection, Shape};
use crate::supergraph::TypeId;

/// An object of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ObjectId(u32);

/// A value of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// No one has said anything of it.
    Absent,
    Null,
    /// A scalar, an enum value, or lists of them.
    Leaf(Text),
    List(Items),
    Object(ObjectId),
    /// A scalar where an object should be.
    Misfit,
    /// It is not there, and not since a subgraph has answered null.
    Unavailable(Unavailable),
}

/// JSON text in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Text {
    answer: u32,
    start: u32,
    length: u32,
}

/// The values of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Items {
    start: u32,
    length: u32,
}

/// Why a value is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Unavailable {
    /// A subgraph does not know the entity that has it, or was not asked since the key is unknown.
    Unknown,
    /// Something failed before.
    Failed,
}

#[derive(Debug)]
struct Object {
    /// Its type, where an answer said so.
    ty: Option<Type>,
    /// Its slot, and how many values it has: its layout, which would take more room as one member.
    slot: SlotId,
    width: u32,
    /// Where its row begins.
    first: u32,
    place: Place,
    /// Whether others have the same objects below them.
    is_sharing: bool,
}

/// The type that an answer gives an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    Known(TypeId),
    /// Its name is not in the supergraph.
    Unknown,
}

/// Where an object is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// It is the root object.
    Root,
    /// In a value of another one.
    In { object: ObjectId, member: u32 },
    /// It is what an answer says of another one.
    Of(ObjectId),
    /// It is what an answer says of several others, by their position in the list of such lists.
    OfAll(u32),
}

/// A step from an object to what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Seg {
    Key(Arc<str>),
    Index(usize),
}

/// How much a store has, to which it can be rolled back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Savepoint {
    objects: usize,
    values: usize,
    answers: usize,
}

/// The merged data of a request.
#[derive(Debug, Default)]
pub(super) struct Store {
    objects: Vec<Object>,
    values: Vec<Value>,
    answers: Vec<Bytes>,
    /// Lists of objects of which answers say the same.
    alike: Vec<Vec<ObjectId>>,
}

/// Bytes of an object and of a value, and as much again for the room that grows ahead of them.
pub(super) const OBJECT: usize = 2 * size_of::<Object>();
pub(super) const VALUE: usize = 2 * size_of::<Value>();

impl Store {
    pub(super) const ROOT: ObjectId = ObjectId(0);

    /// Creates a store that has the root object of an operation.
    pub(super) fn new(tree: &Tree) -> Self {
        let mut store = Store::default();
        let root = tree.class(Tree::ROOT);
        store.add_object(tree.layout(root.slot), Place::Root);
        store.objects[0].ty = Some(Type::Known(root.ty()));
        store
    }

    pub(super) fn ty(&self, object: ObjectId) -> Option<Type> {
        self.object(object).ty
    }

    /// Sets the type that an answer gives an object.
    pub(super) fn set_type(&mut self, object: ObjectId, ty: Type) {
        self.objects[object.0 as usize].ty = Some(ty);
    }

    pub(super) fn slot(&self, object: ObjectId) -> SlotId {
        self.object(object).slot
    }

    pub(super) fn place(&self, object: ObjectId) -> Place {
        self.object(object).place
    }

    /// Returns objects of which an answer says the same.
    pub(super) fn alike(&self, number: u32) -> &[ObjectId] {
        &self.alike[number as usize]
    }

    /// Returns whether other objects have the same objects below them.
    pub(super) fn is_sharing(&self, object: ObjectId) -> bool {
        self.object(object).is_sharing
    }

    /// Returns the number of values.
    pub(super) fn values(&self) -> usize {
        self.values.len()
    }

    pub(super) fn get(&self, object: ObjectId, member: u32) -> Value {
        self.values[self.index(object, member)]
    }

    /// Returns whether someone has given all values of an object and of the objects below it.
    pub(super) fn is_complete(&self, object: ObjectId, members: &Members) -> bool {
        let mut members = members.list.iter();
        members.all(
            |member| match (self.get(object, member.place), &member.shape) {
                (Value::Absent | Value::Unavailable(_), _) => false,
                (_, Shape::Leaf) => true,
                (value, Shape::Object(members)) => {
                    self.all_objects(value, &|object| self.is_complete(object, members))
                }
            },
        )
    }

    pub(super) fn set(&mut self, object: ObjectId, member: u32, value: Value) {
        let index = self.index(object, member);
        self.values[index] = value;
    }

    pub(super) fn items(&self, items: Items) -> &[Value] {
        &self.values[items.start as usize..][..items.length as usize]
    }

    /// Returns JSON text, which is valid UTF-8.
    pub(super) fn text(&self, text: Text) -> &[u8] {
        &self.answers[text.answer as usize][text.start as usize..][..text.length as usize]
    }

    /// Returns how much there is.
    pub(super) fn savepoint(&self) -> Savepoint {
        Savepoint {
            objects: self.objects.len(),
            values: self.values.len(),
            answers: self.answers.len(),
        }
    }

    /// Adds an answer, of which values become pieces.
    pub(super) fn add_answer(&mut self, body: Bytes) {
        self.answers.push(body);
    }

    /// Returns about how many bytes have been added since.
    pub(super) fn added_since(&self, before: Savepoint) -> usize {
        let (objects, values) = (self.objects.len(), self.values.len());
        OBJECT * (objects - before.objects) + VALUE * (values - before.values)
    }

    /// Rolls back what was added since, to which nothing leads yet.
    pub(super) fn roll_back(&mut self, to: Savepoint) {
        self.objects.truncate(to.objects);
        self.values.truncate(to.values);
        self.answers.truncate(to.answers);
    }

    /// Returns a piece of the answer that was added last.
    pub(super) fn piece(&self, start: usize, length: usize) -> Value {
        Value::Leaf(Text {
            answer: short(self.answers.len() - 1),
            start: short(start),
            length: short(length),
        })
    }

    /// Adds an object without values.
    pub(super) fn add_object(&mut self, layout: RowLayout, place: Place) -> ObjectId {
        let RowLayout { slot, width } = layout;
        let id = ObjectId(short(self.objects.len()));
        self.objects.push(Object {
            ty: None,
            slot,
            first: short(self.values.len()),
            width,
            place,
            is_sharing: false,
        });
        self.values
            .resize(self.values.len() + width as usize, Value::Absent);
        id
    }

    /// Adds a list.
    pub(super) fn add_list(&mut self, items: impl IntoIterator<Item = Value>) -> Value {
        let start = self.values.len();
        self.values.extend(items);
        Value::List(Items {
            start: short(start),
            length: short(self.values.len() - start),
        })
    }

    /// Adds what an answer says of an object.
    pub(super) fn add(&mut self, to: ObjectId, members: &Members, said: ObjectId) {
        self.objects[said.0 as usize].place = Place::Of(to);
        self.merge(to, members, said);
    }

    /// Adds what an answer says of several objects. They have the same objects below them then.
    pub(super) fn add_to_all(&mut self, to: &[ObjectId], members: &Members, said: ObjectId) {
        if !members.has_objects() {
            to.iter()
                .for_each(|object| self.merge(*object, members, said));
            return;
        }
        self.objects[said.0 as usize].place = Place::OfAll(short(self.alike.len()));
        self.alike.push(to.to_vec());
        for object in to {
            self.merge(*object, members, said);
            self.objects[object.0 as usize].is_sharing = true;
        }
    }

    fn merge(&mut self, to: ObjectId, members: &Members, said: ObjectId) {
        self.merge_type(to, said);
        for member in &members.list {
            self.put(to, member.place, self.get(said, member.place));
        }
    }

    fn merge_type(&mut self, to: ObjectId, from: ObjectId) {
        if self.ty(to).is_none() {
            self.objects[to.0 as usize].ty = self.ty(from);
        }
    }

    /// Adds a value. Null wins over an object, in whichever order they come: the answer must not depend on which
    /// subgraph is faster.
    pub(super) fn put(&mut self, object: ObjectId, member: u32, value: Value) {
        let index = self.index(object, member);
        self.values[index] = self.merged(self.values[index], value);
    }

    fn merged(&mut self, known: Value, value: Value) -> Value {
        match (known, value) {
            (known, Value::Absent) => known,
            (Value::Absent | Value::Unavailable(_), value) => value,
            (Value::Object(object), Value::Object(other)) => {
                self.merge_type(object, other);
                for member in 0..self.width(other) {
                    self.put(object, member, self.get(other, member));
                }
                self.objects[other.0 as usize].place = Place::Of(object);
                known
            }
            (Value::List(items), Value::List(others)) if items.length == others.length => {
                for position in 0..items.length {
                    let index = (items.start + position) as usize;
                    let other = self.values[(others.start + position) as usize];
                    self.values[index] = self.merged(self.values[index], other);
                }
                known
            }
            (_, Value::Null) => Value::Null,
            _ => known,
        }
    }

    /// Returns a copy of an object and of all that is below it.
    pub(super) fn copy(&mut self, object: ObjectId, place: Place) -> ObjectId {
        let copy = self.add_object(self.layout(object), place);
        self.objects[copy.0 as usize].ty = self.ty(object);
        for member in 0..self.width(object) {
            let place = Place::In {
                object: copy,
                member,
            };
            let value = self.copy_value(self.get(object, member), place);
            self.set(copy, member, value);
        }
        copy
    }

    fn copy_value(&mut self, value: Value, place: Place) -> Value {
        match value {
            Value::Object(object) => Value::Object(self.copy(object, place)),
            Value::List(items) => {
                let start = self.values.len();
                let copied = items.start as usize..(items.start + items.length) as usize;
                self.values.extend_from_within(copied);
                for index in start..start + items.length as usize {
                    self.values[index] = self.copy_value(self.values[index], place);
                }
                Value::List(Items {
                    start: short(start),
                    length: items.length,
                })
            }
            value => value,
        }
    }

    /// Returns whether all that is to be taken of an object is there.
    pub(super) fn has(&self, object: ObjectId, fields: &[MemoField]) -> bool {
        fields
            .iter()
            .all(|field| match self.get(object, field.from) {
                Value::Absent | Value::Unavailable(_) | Value::Misfit => false,
                value => {
                    let below = field
                        .selection
                        .as_ref()
                        .map_or(&[][..], |selection| &selection.fields);
                    self.all_objects(value, &|object| self.has(object, below))
                }
            })
    }

    /// Adds an object that has what is taken of another one.
    pub(super) fn take(
        &mut self,
        from: ObjectId,
        fields: &[MemoField],
        layout: RowLayout,
        place: Place,
    ) -> ObjectId {
        let object = self.add_object(layout, place);
        self.objects[object.0 as usize].ty = self.ty(from);
        for MemoField {
            from: of,
            to,
            selection,
        } in fields
        {
            let place = Place::In {
                object,
                member: *to,
            };
            let value = self.take_value(self.get(from, *of), selection.as_ref(), place);
            // Several fields of the plan can be one value, each with a part of what is below it.
            self.put(object, *to, value);
        }
        object
    }

    fn take_value(
        &mut self,
        value: Value,
        selection: Option<&MemoSelection>,
        place: Place,
    ) -> Value {
        match (value, selection) {
            (Value::Object(from), Some(selection)) => {
                Value::Object(self.take(from, &selection.fields, selection.layout, place))
            }
            (Value::List(items), Some(_)) => {
                let items: Vec<Value> = self
                    .items(items)
                    .to_vec()
                    .into_iter()
                    .map(|item| self.take_value(item, selection, place))
                    .collect();
                self.add_list(items)
            }
            _ => value,
        }
    }

    /// Returns about how many bytes an object takes with all that is below it.
    pub(super) fn footprint(&self, object: ObjectId) -> usize {
        let row = (0..self.width(object)).map(|member| self.get(object, member));
        OBJECT + row.map(|value| self.footprint_of(value)).sum::<usize>()
    }

    fn footprint_of(&self, value: Value) -> usize {
        VALUE
            + match value {
                Value::Object(object) => self.footprint(object),
                Value::List(items) => {
                    let items = self.items(items).iter();
                    items.map(|item| self.footprint_of(*item)).sum()
                }
                _ => 0,
            }
    }

    /// Records why the members that a step would have fetched for an object are missing. Those fetched by others stay; below
    /// their objects, the same is recorded for what they have not fetched.
    pub(super) fn mark_unavailable(
        &mut self,
        object: ObjectId,
        members: &Members,
        why: Unavailable,
    ) {
        for member in &members.list {
            match self.get(object, member.place) {
                Value::Absent => self.set(object, member.place, Value::Unavailable(why)),
                // Whichever comes first: what failed may be known.
                Value::Unavailable(known) => {
                    self.set(object, member.place, Value::Unavailable(why.max(known)));
                }
                value => {
                    if let Shape::Object(members) = &member.shape {
                        let mut below = Vec::new();
                        self.objects_in(value, &mut below);
                        for object in below {
                            self.mark_unavailable(object, members, why);
                        }
                    }
                }
            }
        }
    }

    /// Adds the objects of a value, in whatever lists.
    pub(super) fn objects_in(&self, value: Value, found: &mut Vec<ObjectId>) {
        self.each_object(value, &mut |object| found.push(object));
    }

    /// Calls a function with each object of a value, in whatever lists.
    pub(super) fn each_object(&self, value: Value, each: &mut impl FnMut(ObjectId)) {
        match value {
            Value::Object(object) => each(object),
            Value::List(items) => {
                let items = self.items(items).iter();
                items.for_each(|item| self.each_object(*item, each));
            }
            _ => {}
        }
    }

    /// Returns whether something holds for all objects of a value, in whatever lists.
    fn all_objects(&self, value: Value, holds: &impl Fn(ObjectId) -> bool) -> bool {
        match value {
            Value::Object(object) => holds(object),
            Value::List(items) => {
                let mut items = self.items(items).iter();
                items.all(|item| self.all_objects(*item, holds))
            }
            _ => true,
        }
    }

    fn layout(&self, object: ObjectId) -> RowLayout {
        let Object { slot, width, .. } = *self.object(object);
        RowLayout { slot, width }
    }

    fn width(&self, object: ObjectId) -> u32 {
        self.object(object).width
    }

    fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }

    fn index(&self, object: ObjectId, member: u32) -> usize {
        (self.object(object).first + member) as usize
    }
}

/// Returns a length or a position in few bytes. What answers hold is bounded, and far from this.
fn short(length: usize) -> u32 {
    u32::try_from(length).expect("the length is bounded")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use apollo_compiler::ExecutableDocument;
    use apollo_compiler::response::JsonMap;

    use super::*;
    use crate::graph::{ActiveLabels, Graph};
    use crate::supergraph::Supergraph;

    /// What a step fetches of the root, and what else there is: two leaves of the objects in a list.
    struct Case {
        tree: Tree,
        both: Members,
        only: [Members; 2],
    }

    impl Case {
        fn new() -> Self {
            let sdl = include_str!("../../tests/cases/shop/supergraph.graphql");
            let supergraph = Supergraph::parse(sdl, "supergraph.graphql").unwrap();
            let text = "{ topProducts { upc name } }";
            let document =
                ExecutableDocument::parse_and_validate(supergraph.api(), text, "o").unwrap();
            let operation = document.operations.get(None).unwrap();
            let labels = ActiveLabels::default();
            let graph = Graph::new(&supergraph, &labels);
            let variables = JsonMap::default();
            let tree = Tree::new(graph, &document, operation, &variables, 100).unwrap();
            let list = tree.class(Tree::ROOT).nodes[0];
            let below = tree.class(tree.node(list).classes[0]).nodes.clone();
            let members = |leaves: &[usize]| {
                let leaves = leaves.iter().map(|place| below[*place]);
                let fetched: BTreeSet<_> = leaves.chain([list]).collect();
                Members::of_root(&tree, &fetched)
            };
            Case {
                both: members(&[0, 1]),
                only: [members(&[0]), members(&[1])],
                tree,
            }
        }

        /// Returns a store with one object in the list.
        fn store(&self, leaf: usize) -> Store {
            let mut store = Store::new(&self.tree);
            self.add(&mut store, leaf);
            store
        }

        /// Adds an answer that has a leaf of the object in the list.
        fn add(&self, store: &mut Store, leaf: usize) {
            let members = &self.only[leaf];
            let said = store.add_object(members.layout, Place::Root);
            let list = &members.list[0];
            let Shape::Object(below) = &list.shape else {
                panic!("it is a list of objects");
            };
            let place = Place::In {
                object: said,
                member: list.place,
            };
            let object = store.add_object(below.layout, place);
            store.set(object, below.list[0].place, Value::Misfit);
            let value = store.add_list([Value::Object(object)]);
            store.set(said, list.place, value);
            store.add(Store::ROOT, members, said);
        }

        fn value(&self, store: &Store, leaf: usize) -> Value {
            let list = &self.only[leaf].list[0];
            let mut found = Vec::new();
            store.objects_in(store.get(Store::ROOT, list.place), &mut found);
            let Shape::Object(below) = &list.shape else {
                panic!("it is a list of objects");
            };
            store.get(found[0], below.list[0].place)
        }
    }

    #[test]
    fn an_object_is_not_complete_until_all_that_is_below_it_is_there() {
        let case = Case::new();
        let mut store = case.store(0);
        assert!(store.is_complete(Store::ROOT, &case.only[0]));
        assert!(!store.is_complete(Store::ROOT, &case.only[1]));
        assert!(!store.is_complete(Store::ROOT, &case.both));
        case.add(&mut store, 1);
        assert!(store.is_complete(Store::ROOT, &case.both));
    }

    #[test]
    fn what_a_subgraph_does_not_know_is_lacking_below_what_others_know() {
        let case = Case::new();
        let mut store = case.store(0);
        store.mark_unavailable(Store::ROOT, &case.both, Unavailable::Unknown);
        assert_eq!(case.value(&store, 0), Value::Misfit);
        assert_eq!(
            case.value(&store, 1),
            Value::Unavailable(Unavailable::Unknown)
        );
    }

    #[test]
    fn what_another_subgraph_knows_stands_whichever_comes_first() {
        let case = Case::new();
        let mut store = case.store(0);
        store.mark_unavailable(Store::ROOT, &case.only[1], Unavailable::Unknown);
        case.add(&mut store, 1);
        assert_eq!(case.value(&store, 1), Value::Misfit);
        store.mark_unavailable(Store::ROOT, &case.only[1], Unavailable::Failed);
        assert_eq!(case.value(&store, 1), Value::Misfit);
    }

    #[test]
    fn what_failed_somewhere_is_not_unknown_whichever_comes_first() {
        let case = Case::new();
        for order in [
            [Unavailable::Failed, Unavailable::Unknown],
            [Unavailable::Unknown, Unavailable::Failed],
        ] {
            let mut store = case.store(0);
            for why in order {
                store.mark_unavailable(Store::ROOT, &case.only[1], why);
            }
            assert_eq!(
                case.value(&store, 1),
                Value::Unavailable(Unavailable::Failed)
            );
        }
    }
}
