//! Representations of entities, as JSON text, each once.

use super::interner::{Interner, TextId};
use super::listings::ListedObject;
use super::memo::{Memo, MemoEntry, ResolvedEntity};
use super::store::{ObjectId, Type, Unavailable, Value};
use super::walk::Walk;
use crate::hash::HashMap;
use crate::plan::{Input, StepId};
use crate::supergraph::TypeId;

/// The representations for one list of entities.
#[derive(Debug, Default)]
pub(super) struct Representations {
    /// Their JSON text, an array.
    pub(super) text: Vec<u8>,
    /// The objects that each stands for.
    pub(super) objects: Vec<Vec<ObjectId>>,
    /// For each of them that the subgraph is being asked for already, by which step.
    pub(super) pending: Vec<StepId>,
    /// Objects of which the memo has what is needed, by where it is.
    pub(super) resolved: Vec<(ResolvedEntity, Vec<ObjectId>)>,
    /// Objects that none can be made of, and why.
    pub(super) skipped: Vec<(ObjectId, Unavailable)>,
}

/// Where the objects of a representation are.
#[derive(Clone, Copy)]
enum EntityPosition {
    Fetched(usize),
    Resolved(usize),
}

impl Representations {
    /// Makes the representations of objects, and looks for them in a memo.
    pub(super) fn new(listed: &[ListedObject], texts: &Interner, memo: &Memo) -> Self {
        let mut made = Representations::default();
        let mut numbers: HashMap<TextId, EntityPosition> = HashMap::default();
        made.text.push(b'[');
        for it in listed {
            let representation = match it.representation {
                Ok(representation) => representation,
                Err(why) => {
                    made.skipped.push((it.object, why));
                    continue;
                }
            };
            match numbers.get(&representation) {
                Some(EntityPosition::Fetched(number)) => made.objects[*number].push(it.object),
                Some(EntityPosition::Resolved(number)) => made.resolved[*number].1.push(it.object),
                None => {
                    let text = texts.get(representation);
                    let number = made.add(it.object, text, memo.get(representation));
                    numbers.insert(representation, number);
                }
            }
        }
        made.text.push(b']');
        made
    }

    /// Adds an entity that was not there.
    fn add(&mut self, object: ObjectId, text: &[u8], entry: Option<MemoEntry>) -> EntityPosition {
        match entry {
            Some(MemoEntry::Resolved(resolved)) => {
                self.resolved.push((resolved, vec![object]));
                return EntityPosition::Resolved(self.resolved.len() - 1);
            }
            Some(MemoEntry::Pending(step)) => self.pending.push(step),
            None => {}
        }
        if !self.objects.is_empty() {
            self.text.push(b',');
        }
        self.text.extend_from_slice(text);
        self.objects.push(vec![object]);
        EntityPosition::Fetched(self.objects.len() - 1)
    }
}

/// Writes the representation of an object with the type that it is asked for as.
///
/// # Errors
/// Why there is none.
pub(super) fn write_typed(
    walk: Walk<'_>,
    object: ObjectId,
    ty: Option<TypeId>,
    inputs: &[&Input],
    out: &mut Vec<u8>,
) -> Result<(), Unavailable> {
    match ty {
        Some(_) => write_object(walk, object, ty, inputs, out),
        None => Err(Unavailable::Failed),
    }
}

/// Writes an object; members that several inputs name are one.
///
/// # Errors
/// Why there is none: a member is not there, or a part of a key is unknown. What fields require is null where it is
/// unknown.
fn write_object(
    walk: Walk<'_>,
    object: ObjectId,
    typename: Option<TypeId>,
    inputs: &[&Input],
    out: &mut Vec<u8>,
) -> Result<(), Unavailable> {
    out.push(b'{');
    if let Some(ty) = typename {
        out.extend_from_slice(b"\"__typename\":");
        write_name(&walk.supergraph.ty(ty).name, out);
    }
    let mut is_first = typename.is_none();
    for (position, input) in inputs.iter().enumerate() {
        if inputs[..position]
            .iter()
            .any(|earlier| earlier.name == input.name)
        {
            continue;
        }
        if !is_first {
            out.push(b',');
        }
        is_first = false;
        write_name(&input.name, out);
        out.push(b':');
        let value = walk.store.get(object, input.member);
        if let Value::Leaf(text) = value {
            out.extend_from_slice(walk.store.text(text));
            continue;
        }
        let others = inputs[position..].iter().copied();
        let same: Vec<&Input> = others.filter(|other| other.name == input.name).collect();
        match value {
            Value::Unavailable(Unavailable::Unknown) if same.iter().any(|input| input.is_key) => {
                return Err(Unavailable::Unknown);
            }
            value => write_value(walk, value, &same, out)?,
        }
    }
    out.push(b'}');
    Ok(())
}

/// Writes a name of GraphQL, which needs no escapes.
fn write_name(name: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.push(b'"');
}

fn write_value(
    walk: Walk<'_>,
    value: Value,
    inputs: &[&Input],
    out: &mut Vec<u8>,
) -> Result<(), Unavailable> {
    write_objects(walk, value, out, &mut |object, out| {
        let only = inputs.iter().find_map(|input| input.only);
        let is_same_for_all = inputs.iter().all(|input| input.fragments.len() <= 1);
        let ty = type_of(walk, object, only, is_same_for_all)?;
        let below: Vec<&Input> = inputs
            .iter()
            .flat_map(|input| &input.fragments)
            .filter(|fragment| fragment.is_of(ty))
            .flat_map(|fragment| &fragment.inputs)
            .collect();
        let typename = ty.filter(|_| inputs.iter().any(|input| input.has_typename));
        write_object(walk, object, typename, &below, out)
    })
}

/// Writes a value; its objects, in whatever lists, as they are told to be.
fn write_objects(
    walk: Walk<'_>,
    value: Value,
    out: &mut Vec<u8>,
    write: &mut impl FnMut(ObjectId, &mut Vec<u8>) -> Result<(), Unavailable>,
) -> Result<(), Unavailable> {
    match value {
        Value::Null | Value::Misfit | Value::Unavailable(Unavailable::Unknown) => {
            out.extend_from_slice(b"null");
        }
        Value::Absent | Value::Unavailable(Unavailable::Failed) => return Err(Unavailable::Failed),
        Value::Leaf(text) => out.extend_from_slice(walk.store.text(text)),
        Value::List(items) => {
            out.push(b'[');
            for (position, item) in walk.store.items(items).iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write_objects(walk, *item, out, write)?;
            }
            out.push(b']');
        }
        Value::Object(object) => write(object, out)?,
    }
    Ok(())
}

/// Returns the type of an object, or the only one that it can have; `None` where it is not known. That is a failure
/// of who should have told it, unless the same is sent of objects of all types.
fn type_of(
    walk: Walk<'_>,
    object: ObjectId,
    only: Option<TypeId>,
    is_same_for_all: bool,
) -> Result<Option<TypeId>, Unavailable> {
    match walk.store.ty(object) {
        Some(Type::Known(ty)) => Ok(Some(ty)),
        _ if only.is_none() && !is_same_for_all => Err(Unavailable::Failed),
        _ => Ok(only),
    }
}

/// Writes the one value of an object that inputs lead to; null where none of them is about its type.
pub(super) fn value_text(
    walk: Walk<'_>,
    object: ObjectId,
    inputs: &[Input],
    out: &mut Vec<u8>,
) -> Result<(), Unavailable> {
    let Some(input) = inputs.first() else {
        out.extend_from_slice(b"null");
        return Ok(());
    };
    let value = walk.store.get(object, input.member);
    write_objects(walk, value, out, &mut |object, out| {
        let ty = type_of(walk, object, input.only, input.fragments.len() <= 1)?;
        let fragment = input.fragments.iter().find(|fragment| fragment.is_of(ty));
        value_text(walk, object, fragment.map_or(&[], |it| &it.inputs), out)
    })
}
