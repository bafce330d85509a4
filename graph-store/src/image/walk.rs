//! Walks of the columns of an image by the numbers of its terms.

use oxrdf::{NamedNodeRef, TermRef};

use super::Image;
use super::columns::Property;
use crate::query::TermView;

/// The triples of one property of an [`Image`], in whatever graphs: objects by subject and subjects by object.
///
/// For programs that look at data without a request; [`ImageStore`](super::ImageStore) answers requests.
///
/// ```
/// use graph_store::image::{Image, ImageBuilder};
/// use graph_store::query::TermView;
/// use oxrdf::{GraphName, Literal, NamedNodeRef, Quad};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dune = NamedNodeRef::new("http://example.org/dune")?;
/// let title = NamedNodeRef::new("http://example.org/title")?;
/// let mut builder = ImageBuilder::new();
/// let value = Literal::new_simple_literal("Dune");
/// builder.add(Quad::new(dune, title, value.clone(), GraphName::DefaultGraph).as_ref())?;
///
/// let image = builder.build()?;
/// let titles = image.columns(title).ok_or("no titles")?;
/// let dune = image.number(dune.into()).ok_or("no Dune")?;
/// let &[found] = titles.objects(dune) else { return Err("not one title".into()) };
/// assert_eq!(image.term(found), TermView::Literal(value.as_ref()));
/// assert_eq!(titles.subjects(found), [dune]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Columns<'i> {
    image: &'i Image,
    property: &'i Property,
}

impl Image {
    /// Returns the number of a term; `None` if no triple has it.
    ///
    /// Numbers are below [`Image::terms`]. They ascend as IRIs by code point, then blank nodes, then literals
    /// of one datatype by value.
    #[must_use]
    pub fn number(&self, term: TermRef<'_>) -> Option<u32> {
        self.terms.find(&self.bytes, term)
    }

    /// Returns a term by its number.
    ///
    /// # Panics
    /// When the number is none of this image.
    #[must_use]
    pub fn term(&self, number: u32) -> TermView<'_> {
        self.terms.get(&self.bytes, number)
    }

    /// Returns the triples of a property; `None` if there are none.
    #[must_use]
    pub fn columns(&self, property: NamedNodeRef<'_>) -> Option<Columns<'_>> {
        let property = self.property(self.number(property.into())?)?;
        Some(Columns {
            image: self,
            property,
        })
    }
}

impl<'i> Columns<'i> {
    /// Returns the objects of a subject, ascending.
    #[must_use]
    pub fn objects(&self, subject: u32) -> &'i [u32] {
        self.property.forward.values(&self.image.bytes, subject)
    }

    /// Returns the subjects of an object, ascending.
    #[must_use]
    pub fn subjects(&self, object: u32) -> &'i [u32] {
        self.property.backward.values(&self.image.bytes, object)
    }

    /// Returns each object with its subjects, ascending.
    pub fn by_object(&self) -> impl Iterator<Item = (u32, &'i [u32])> + use<'i> {
        let (bytes, column) = (&self.image.bytes, &self.property.backward);
        let subjects = column.all(bytes);
        let entries = column.entries(bytes);
        entries.map(move |(object, range)| (object, &subjects[range]))
    }
}
