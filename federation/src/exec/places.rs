//! The places of objects in the merged data. An object that stands for an entity is wherever the entity is.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;

use super::store::{ObjectId, Place, Seg, Type, Value};
use super::walk::Walk;

impl Walk<'_> {
    /// Returns the places of an object, at most so many.
    pub(super) fn places(&self, object: ObjectId, most: usize) -> Vec<Vec<Seg>> {
        match self.store.place(object) {
            Place::Root => vec![Vec::new()],
            Place::Of(other) => self.places(other, most),
            Place::OfAll(others) => {
                let others = self.store.alike(others).iter();
                let places = others.flat_map(|other| self.places(*other, most));
                places.take(most).collect()
            }
            Place::In {
                object: above,
                member,
            } => {
                let mut places = self.places(above, most);
                for place in &mut places {
                    self.step(above, member, object, place);
                }
                places
            }
        }
    }

    /// Adds the steps from an object to one in a value of it.
    fn step(&self, above: ObjectId, member: u32, object: ObjectId, place: &mut Vec<Seg>) {
        place.push(Seg::Key(self.key(above, member)));
        self.find(self.store.get(above, member), object, place);
    }

    fn key(&self, object: ObjectId, member: u32) -> Arc<str> {
        let keys = self.tree.keys(self.store.slot(object));
        Arc::clone(&keys[member as usize])
    }

    /// Adds the positions of an object in lists. Returns whether it is there.
    fn find(&self, value: Value, object: ObjectId, place: &mut Vec<Seg>) -> bool {
        match value {
            Value::Object(known) => known == object,
            Value::List(items) => {
                let mut items = self.store.items(items).iter().enumerate();
                items.any(|(index, item)| {
                    place.push(Seg::Index(index));
                    let is_here = self.find(*item, object, place);
                    if !is_here {
                        place.pop();
                    }
                    is_here
                })
            }
            _ => false,
        }
    }

    /// Returns the object some levels above another one, which is at one place.
    pub(super) fn above(&self, mut object: ObjectId, mut levels: usize) -> ObjectId {
        loop {
            object = match self.store.place(object) {
                Place::Of(other) => other,
                Place::OfAll(others) => self.store.alike(others)[0],
                Place::In { object: above, .. } if levels > 0 => {
                    levels -= 1;
                    above
                }
                Place::In { .. } | Place::Root => return object,
            };
        }
    }
}

/// Finds what the places of objects have in common. There can be more of them than anyone could list.
pub(super) struct CommonPrefixes<'w> {
    walk: Walk<'w>,
    known: HashMap<ObjectId, Rc<CommonPrefix>>,
}

/// What all places of an object begin with.
#[derive(Clone)]
struct CommonPrefix {
    place: Vec<Seg>,
    /// Whether it is the only place.
    is_only: bool,
}

impl<'w> CommonPrefixes<'w> {
    pub(super) fn new(walk: Walk<'w>) -> Self {
        CommonPrefixes {
            walk,
            known: HashMap::new(),
        }
    }

    /// Returns what all places of an object begin with.
    pub(super) fn of(&mut self, object: ObjectId) -> Vec<Seg> {
        self.common(object).place.clone()
    }

    fn common(&mut self, object: ObjectId) -> Rc<CommonPrefix> {
        if let Some(known) = self.known.get(&object) {
            return Rc::clone(known);
        }
        let common = match self.walk.store.place(object) {
            Place::Root => Rc::new(CommonPrefix {
                place: Vec::new(),
                is_only: true,
            }),
            Place::Of(other) => self.common(other),
            Place::OfAll(others) => Rc::new(self.common_of(self.walk.store.alike(others))),
            Place::In {
                object: above,
                member,
            } => {
                let mut common = self.common(above);
                if common.is_only {
                    let place = &mut Rc::make_mut(&mut common).place;
                    self.walk.step(above, member, object, place);
                }
                common
            }
        };
        self.known.insert(object, Rc::clone(&common));
        common
    }

    fn common_of(&mut self, others: &[ObjectId]) -> CommonPrefix {
        let places = others.iter().map(|other| self.common(*other));
        let same = |mut place: Vec<Seg>, other: Rc<CommonPrefix>| {
            let pairs = place.iter().zip(&other.place);
            let length = pairs.take_while(|(one, other)| one == other).count();
            place.truncate(length);
            place
        };
        let mut places = places.collect::<Vec<_>>().into_iter();
        let first = places
            .next()
            .map_or_else(Vec::new, |first| first.place.clone());
        CommonPrefix {
            place: places.fold(first, same),
            is_only: false,
        }
    }
}

/// The keys that lead to an object, with the types of the objects on the way.
type KeyPath = Vec<(Option<Type>, Arc<str>)>;

/// Finds one place for each of the paths of keys to objects, whatever the positions in lists.
pub(super) struct KeyPaths<'w> {
    walk: Walk<'w>,
    known: HashMap<ObjectId, Rc<IndexMap<KeyPath, Vec<Seg>>>>,
}

impl<'w> KeyPaths<'w> {
    pub(super) fn new(walk: Walk<'w>) -> Self {
        KeyPaths {
            walk,
            known: HashMap::new(),
        }
    }

    /// Returns one place for each of the paths of keys to objects.
    pub(super) fn places(mut self, objects: impl Iterator<Item = ObjectId>) -> Vec<Vec<Seg>> {
        let (mut places, mut seen) = (Vec::new(), HashSet::new());
        for object in objects {
            for (path, place) in self.of(object).iter() {
                if seen.insert(path.clone()) {
                    places.push(place.clone());
                }
            }
        }
        places
    }

    fn of(&mut self, object: ObjectId) -> Rc<IndexMap<KeyPath, Vec<Seg>>> {
        if let Some(known) = self.known.get(&object) {
            return Rc::clone(known);
        }
        let walk = self.walk;
        let paths = match walk.store.place(object) {
            Place::Root => Rc::new(IndexMap::from([(KeyPath::new(), Vec::new())])),
            Place::Of(other) => self.of(other),
            Place::OfAll(others) => {
                let mut paths = IndexMap::new();
                for other in walk.store.alike(others) {
                    let of_other = self.of(*other);
                    paths.extend(
                        of_other
                            .iter()
                            .map(|(path, place)| (path.clone(), place.clone())),
                    );
                }
                Rc::new(paths)
            }
            Place::In {
                object: above,
                member,
            } => {
                let paths = self.of(above);
                let step = (walk.store.ty(object), walk.key(above, member));
                let further = paths.iter().map(|(path, place)| {
                    let (mut path, mut place) = (path.clone(), place.clone());
                    path.push(step.clone());
                    walk.step(above, member, object, &mut place);
                    (path, place)
                });
                Rc::new(further.collect::<IndexMap<_, _>>())
            }
        };
        self.known.insert(object, Rc::clone(&paths));
        paths
    }
}
