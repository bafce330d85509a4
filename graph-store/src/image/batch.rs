//! Quads on their way to a builder, collected on a thread of their own.

use oxrdf::{BlankNodeRef, GraphNameRef, NamedNodeRef, NamedOrBlankNodeRef, QuadRef, TermRef};

use super::error::ImageError;
use super::graphs::DEFAULT;
use super::intern::{Form, Interner, Numbers};

/// Quads in which each distinct term is stored once.
///
/// Several threads can fill one batch each. [`ImageBuilder::add_batch`](super::ImageBuilder::add_batch)
/// then looks up a term once for all quads of a batch.
///
/// ```
/// use graph_store::image::{ImageBuilder, QuadBatch};
/// use oxrdf::{GraphNameRef, NamedNodeRef, QuadRef};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = NamedNodeRef::new("http://example.org/a")?;
/// let mut batch = QuadBatch::new();
/// batch.push(QuadRef::new(node, node, node, GraphNameRef::DefaultGraph))?;
/// let mut builder = ImageBuilder::new();
/// builder.add_batch(&batch)?;
/// assert_eq!(builder.build()?.quads(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct QuadBatch {
    pub(super) terms: Interner,
    pub(super) quads: Vec<Numbers>,
}

impl QuadBatch {
    /// Creates a batch without quads.
    #[must_use]
    pub fn new() -> Self {
        QuadBatch::default()
    }

    /// Adds a quad.
    ///
    /// # Errors
    /// Those of [`ImageBuilder::add`](super::ImageBuilder::add).
    pub fn push(&mut self, quad: QuadRef<'_>) -> Result<(), ImageError> {
        let numbers = self.terms.intern_quad(quad)?;
        self.quads.push(numbers);
        Ok(())
    }

    /// Returns the number of quads, repeated ones counted each time.
    #[must_use]
    pub fn len(&self) -> usize {
        self.quads.len()
    }

    /// Returns whether there are no quads.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.quads.is_empty()
    }

    /// Returns the quads in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = QuadRef<'_>> {
        self.quads.iter().map(|numbers| QuadRef {
            subject: self.node(numbers.subject),
            predicate: NamedNodeRef::new_unchecked(self.terms.text(numbers.property)),
            object: self.term(numbers.object),
            graph_name: match numbers.graph {
                DEFAULT => GraphNameRef::DefaultGraph,
                graph => self.node(graph).into(),
            },
        })
    }

    /// Returns the terms of the quads, each once, in the order of their first occurrence, and the datatypes of literals.
    pub fn terms(&self) -> impl Iterator<Item = TermRef<'_>> {
        (0..self.terms.len()).map(|term| self.term(term))
    }

    fn term(&self, term: u32) -> TermRef<'_> {
        match self.terms.literal(term) {
            Some(literal) => literal.into(),
            None => self.node(term).into(),
        }
    }

    fn node(&self, term: u32) -> NamedOrBlankNodeRef<'_> {
        let text = self.terms.text(term);
        match self.terms.form_of(term) {
            Form::Blank => BlankNodeRef::new_unchecked(text).into(),
            _ => NamedNodeRef::new_unchecked(text).into(),
        }
    }
}
