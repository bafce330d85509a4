//! Lists of objects: owned references, or numbers of one dictionary.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use oxrdf::NamedNode;

use super::dictionary::{Dictionary, TermView, is_same_dictionary};
use super::object_ref::{ObjectRef, object_refs};

/// A list of objects of a store.
///
/// A store that numbers its terms gives numbers and a [`Dictionary`]; any other collects
/// [`ObjectRef`]s. Whoever asked only counts objects, passes them back, and writes their IRIs.
#[derive(Clone)]
pub struct Objects(Inner);

#[derive(Clone)]
enum Inner {
    Owned(Vec<ObjectRef>),
    Numbered {
        numbers: Vec<u32>,
        dictionary: Arc<dyn Dictionary>,
    },
}

impl Objects {
    /// Creates a list of objects by their numbers, which must stand for IRIs.
    #[must_use]
    pub fn numbered(numbers: Vec<u32>, dictionary: Arc<dyn Dictionary>) -> Self {
        Objects(Inner::Numbered {
            numbers,
            dictionary,
        })
    }

    /// Returns the number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Returns whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all objects.
    #[must_use]
    pub fn as_slice(&self) -> ObjectSlice<'_> {
        ObjectSlice(match &self.0 {
            Inner::Owned(objects) => Slice::Owned(objects),
            Inner::Numbered {
                numbers,
                dictionary,
            } => Slice::Numbered(numbers, dictionary),
        })
    }

    /// Returns the objects of a range of positions.
    ///
    /// # Panics
    /// When the range is beyond the end.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> ObjectSlice<'_> {
        self.as_slice().slice(range)
    }

    /// Returns a copy of the object at a position.
    ///
    /// # Panics
    /// When the position is beyond the end.
    #[must_use]
    pub fn get(&self, position: usize) -> ObjectRef {
        self.as_slice().get(position)
    }

    /// Returns copies of all objects.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ObjectRef> {
        let objects = self.as_slice();
        (0..objects.len()).map(move |position| objects.get(position))
    }

    /// Converts the list to references; copies the IRIs of numbers.
    #[must_use]
    pub fn into_refs(self) -> Vec<ObjectRef> {
        match self.0 {
            Inner::Owned(objects) => objects,
            Inner::Numbered { .. } => self.iter().collect(),
        }
    }
}

impl Default for Objects {
    fn default() -> Self {
        Objects(Inner::Owned(Vec::new()))
    }
}

impl From<Vec<ObjectRef>> for Objects {
    fn from(objects: Vec<ObjectRef>) -> Self {
        Objects(Inner::Owned(objects))
    }
}

impl From<Vec<NamedNode>> for Objects {
    fn from(nodes: Vec<NamedNode>) -> Self {
        object_refs(nodes).into()
    }
}

impl FromIterator<ObjectRef> for Objects {
    fn from_iter<T: IntoIterator<Item = ObjectRef>>(objects: T) -> Self {
        objects.into_iter().collect::<Vec<_>>().into()
    }
}

impl PartialEq for Objects {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.as_slice(), other.as_slice());
        a.len() == b.len() && a.to_refs() == b.to_refs()
    }
}

impl Eq for Objects {}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// A part of a list of objects.
#[derive(Clone, Copy)]
pub struct ObjectSlice<'o>(Slice<'o>);

#[derive(Clone, Copy)]
enum Slice<'o> {
    Owned(&'o [ObjectRef]),
    Numbered(&'o [u32], &'o Arc<dyn Dictionary>),
}

impl<'o> ObjectSlice<'o> {
    /// Returns the number of objects.
    #[must_use]
    pub fn len(self) -> usize {
        match self.0 {
            Slice::Owned(objects) => objects.len(),
            Slice::Numbered(numbers, _) => numbers.len(),
        }
    }

    /// Returns whether there are no objects.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the objects of a range of positions.
    ///
    /// # Panics
    /// When the range is beyond the end.
    #[must_use]
    pub fn slice(self, range: Range<usize>) -> ObjectSlice<'o> {
        ObjectSlice(match self.0 {
            Slice::Owned(objects) => Slice::Owned(&objects[range]),
            Slice::Numbered(numbers, dictionary) => Slice::Numbered(&numbers[range], dictionary),
        })
    }

    /// Returns a copy of the object at a position.
    ///
    /// # Panics
    /// When the position is beyond the end.
    #[must_use]
    pub fn get(self, position: usize) -> ObjectRef {
        match self.0 {
            Slice::Owned(objects) => objects[position].clone(),
            Slice::Numbered(numbers, dictionary) => object(dictionary, numbers[position]),
        }
    }

    /// Returns the IRI of the object at a position, where it lies.
    ///
    /// # Panics
    /// When the position is beyond the end.
    #[must_use]
    pub fn view(self, position: usize) -> TermView<'o> {
        match self.0 {
            Slice::Owned(objects) => TermView::Iri {
                prefix: "",
                rest: objects[position].iri(),
            },
            Slice::Numbered(numbers, dictionary) => dictionary.term(numbers[position]),
        }
    }

    /// Returns how many bytes the IRIs have in all.
    #[must_use]
    pub fn text_bytes(self) -> usize {
        match self.0 {
            Slice::Owned(objects) => objects.iter().map(|object| object.iri().len()).sum(),
            Slice::Numbered(numbers, dictionary) => dictionary.text_bytes(numbers),
        }
    }

    /// Compares the IRIs of the objects at two positions.
    ///
    /// # Panics
    /// When a position is beyond the end.
    #[must_use]
    pub fn compare(self, a: usize, b: usize) -> std::cmp::Ordering {
        match self.0 {
            Slice::Owned(objects) => objects[a].cmp(&objects[b]),
            Slice::Numbered(numbers, dictionary) => dictionary.compare_iris(numbers[a], numbers[b]),
        }
    }

    /// Returns references to the objects, copied where they are numbers.
    ///
    /// A store that hands out no numbers is given none, so this costs it nothing.
    #[must_use]
    pub fn to_refs(self) -> Cow<'o, [ObjectRef]> {
        match self.0 {
            Slice::Owned(objects) => Cow::Borrowed(objects),
            Slice::Numbered(numbers, dictionary) => {
                let objects = numbers.iter().map(|number| object(dictionary, *number));
                Cow::Owned(objects.collect())
            }
        }
    }

    /// Returns the owned references; `None` for numbers.
    #[must_use]
    pub fn refs(self) -> Option<&'o [ObjectRef]> {
        match self.0 {
            Slice::Owned(objects) => Some(objects),
            Slice::Numbered(..) => None,
        }
    }

    /// Returns the numbers of the objects and what they stand for; `None` for owned references.
    #[must_use]
    pub fn numbers(self) -> Option<(&'o [u32], &'o Arc<dyn Dictionary>)> {
        match self.0 {
            Slice::Owned(_) => None,
            Slice::Numbered(numbers, dictionary) => Some((numbers, dictionary)),
        }
    }

    /// Returns the numbers of the objects where they are those of a dictionary.
    #[must_use]
    pub fn numbers_of(self, dictionary: &Arc<dyn Dictionary>) -> Option<&'o [u32]> {
        let (numbers, own) = self.numbers()?;
        is_same_dictionary(own, dictionary).then_some(numbers)
    }
}

fn object(dictionary: &Arc<dyn Dictionary>, number: u32) -> ObjectRef {
    let iri = dictionary.term(number).into_iri();
    iri.expect("objects are IRIs").into()
}

impl<'o> From<&'o Objects> for ObjectSlice<'o> {
    fn from(objects: &'o Objects) -> Self {
        objects.as_slice()
    }
}

impl<'o> From<&'o [ObjectRef]> for ObjectSlice<'o> {
    fn from(objects: &'o [ObjectRef]) -> Self {
        ObjectSlice(Slice::Owned(objects))
    }
}

impl<'o> From<&'o Vec<ObjectRef>> for ObjectSlice<'o> {
    fn from(objects: &'o Vec<ObjectRef>) -> Self {
        objects.as_slice().into()
    }
}

impl<'o, const N: usize> From<&'o [ObjectRef; N]> for ObjectSlice<'o> {
    fn from(objects: &'o [ObjectRef; N]) -> Self {
        objects.as_slice().into()
    }
}

impl fmt::Debug for ObjectSlice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.to_refs().iter()).finish()
    }
}
