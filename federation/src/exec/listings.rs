//! The objects of listings, with their representations.

use std::rc::Rc;

use super::interner::{Interner, TextId};
use super::representations::write_typed;
use super::store::{ObjectId, Store, Unavailable};
use super::walk::{TypedObject, Walk};
use crate::hash::HashMap;
use crate::operation::ClassId;
use crate::plan::{Input, Listing, ListingId, Plan};

/// An object with its representation.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedObject {
    pub(super) object: ObjectId,
    /// The text of the representation, or why there is none.
    pub(super) representation: Result<TextId, Unavailable>,
}

/// What is listed for steps that begin together: several of them are about the same objects, or look there for what is
/// known.
///
/// Nothing that is listed changes meanwhile. What one of these steps takes from the memo is not what another one waits
/// for, since steps begin when those that they wait for are complete.
#[derive(Debug, Default)]
pub(super) struct Listings {
    objects: HashMap<ClassId, Rc<[TypedObject]>>,
    listed: HashMap<ListingId, Rc<[ListedObject]>>,
    /// The texts of representations.
    pub(super) texts: Interner,
}

impl Listings {
    /// Returns the objects of a listing.
    pub(super) fn get(&mut self, walk: Walk<'_>, plan: &Plan, id: ListingId) -> Rc<[ListedObject]> {
        if let Some(listed) = self.listed.get(&id) {
            return Rc::clone(listed);
        }
        let listing = &plan.listings[id];
        let inputs: Vec<&Input> = listing.inputs.iter().collect();
        let objects = self.represented(walk, listing);
        let objects = objects.iter().map(|(object, ty)| {
            let ty = listing.interface.or(*ty);
            let write = |out: &mut Vec<u8>| write_typed(walk, *object, ty, &inputs, out);
            ListedObject {
                object: *object,
                representation: self.texts.add(write),
            }
        });
        let listed: Rc<[ListedObject]> = objects.collect();
        self.listed.insert(id, Rc::clone(&listed));
        listed
    }

    fn represented(&mut self, walk: Walk<'_>, listing: &Listing) -> Rc<[TypedObject]> {
        let position = walk.tree.class(listing.class).position;
        let Some(position) = position.filter(|_| listing.is_whole) else {
            return self.objects(walk, listing.class);
        };
        let above = self.objects(walk, walk.tree.node(position).class);
        let mut values = Vec::new();
        walk.each_value(&above, position, |object| values.push((object, None)));
        values.into()
    }

    /// Returns the objects of a class with their types, as far as they are known.
    pub(super) fn objects(&mut self, walk: Walk<'_>, class: ClassId) -> Rc<[TypedObject]> {
        if let Some(objects) = self.objects.get(&class) {
            return Rc::clone(objects);
        }
        let objects: Rc<[TypedObject]> = match walk.tree.class(class).position {
            None => Rc::from([(Store::ROOT, Some(walk.tree.class(class).ty()))]),
            Some(position) => {
                let above = self.objects(walk, walk.tree.node(position).class);
                walk.classed(&above, position, class).into()
            }
        };
        self.objects.insert(class, Rc::clone(&objects));
        objects
    }
}
