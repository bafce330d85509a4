//! Terms as they are read: each once, numbered in the order of their first occurrence.

use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use indexmap::IndexSet;
use oxrdf::vocab::xsd;
use oxrdf::{GraphNameRef, LiteralRef, NamedNodeRef, QuadRef, TermRef};

use super::both;
use super::error::ImageError;
use super::graphs::DEFAULT;
use super::pieces::Pieces;

/// Terms of one image: numbers are 32 bits, of which the last sixteenth is left for terms that only a
/// request has.
pub(super) const MAX_TERMS: u32 = 0xF000_0000;

/// Bytes of a chunk of texts.
const CHUNK: usize = 16 << 20;
/// Bytes of the first chunk; each has twice the bytes of the one before.
const FIRST_CHUNK: usize = 64 << 10;

/// What a term is, beside its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    Iri,
    Blank,
    Plain,
    /// A literal with a tag.
    Tagged(u32),
    /// A literal with a datatype, by the number of its IRI.
    Typed(u32),
}

/// The numbers of the terms of a quad; that of the default graph is [`DEFAULT`].
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub(super) subject: u32,
    pub(super) property: u32,
    pub(super) object: u32,
    pub(super) graph: u32,
}

/// Distinct terms.
#[derive(Default)]
pub(super) struct Interner {
    texts: Texts,
    terms: Pieces<Known>,
    places: HashTable<Spot>,
    pub(super) tags: IndexSet<String, RandomState>,
    hasher: RandomState,
}

/// A term, in as few bytes as may be: there are many while an image is built.
#[derive(Clone, Copy)]
struct Known {
    text: Place,
    form: PackedForm,
}

/// A form as a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PackedForm(u32);

impl PackedForm {
    const IRI: u32 = 0;
    const BLANK: u32 = 1;
    const PLAIN: u32 = 2;
    /// Tags have odd numbers from here on, and datatypes even ones.
    const FIRST: u32 = 3;

    /// Packs a form; `None` if its number is too large.
    fn of(form: Form) -> Option<Self> {
        let number = |number: u32, kind: u32| number.checked_mul(2)?.checked_add(kind);
        Some(PackedForm(match form {
            Form::Iri => PackedForm::IRI,
            Form::Blank => PackedForm::BLANK,
            Form::Plain => PackedForm::PLAIN,
            Form::Tagged(tag) => number(tag, PackedForm::FIRST)?,
            Form::Typed(datatype) => number(datatype, PackedForm::FIRST + 1)?,
        }))
    }

    fn unpacked(self) -> Form {
        match self.0 {
            PackedForm::IRI => Form::Iri,
            PackedForm::BLANK => Form::Blank,
            PackedForm::PLAIN => Form::Plain,
            number if number % 2 == PackedForm::FIRST % 2 => {
                Form::Tagged((number - PackedForm::FIRST) / 2)
            }
            number => Form::Typed((number - PackedForm::FIRST) / 2),
        }
    }
}

/// The place of a term in the table, which is moved without a look at the term.
#[derive(Clone, Copy)]
struct Spot {
    hash: u32,
    term: u32,
}

impl Spot {
    /// Returns a hash as a table wants it, which looks at the first and at the last bits.
    fn spread(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// Where a text lies.
#[derive(Clone, Copy)]
struct Place {
    chunk: u32,
    start: u32,
    length: u32,
}

impl Place {
    fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.length as usize
    }
}

/// The texts of terms, in chunks that never move.
#[derive(Default)]
struct Texts {
    chunks: Vec<String>,
}

impl Texts {
    fn get(&self, place: Place) -> &str {
        &self.chunks[place.chunk as usize][place.range()]
    }

    /// Returns the bytes of a text, without a look at them: whether they are whole characters is known.
    fn bytes(&self, place: Place) -> &[u8] {
        &self.chunks[place.chunk as usize].as_bytes()[place.range()]
    }

    fn push(&mut self, text: &str) -> Result<Place, ImageError> {
        let length = u32::try_from(text.len()).map_err(|_| ImageError::TooLarge {
            what: "bytes of a term",
            limit: u64::from(u32::MAX),
        })?;
        let fits = |chunk: &&mut String| chunk.len() + text.len() <= CHUNK;
        if self.chunks.last_mut().filter(fits).is_none() {
            // The first ones are small, as most data are.
            let wanted = FIRST_CHUNK << self.chunks.len().min(8);
            self.chunks
                .push(String::with_capacity(wanted.min(CHUNK).max(text.len())));
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let start = chunk.len();
        chunk.push_str(text);
        Ok(Place {
            // Chunks are fewer than terms, and all but those of one text shorter than `CHUNK`.
            chunk: number as u32,
            start: start as u32,
            length,
        })
    }
}

impl Interner {
    /// Returns the numbers of the terms of a quad.
    pub(super) fn intern_quad(&mut self, quad: QuadRef<'_>) -> Result<Numbers, ImageError> {
        let graph = match quad.graph_name {
            GraphNameRef::DefaultGraph => DEFAULT,
            GraphNameRef::NamedNode(graph) => self.intern(graph.into())?,
            GraphNameRef::BlankNode(graph) => self.intern(graph.into())?,
        };
        Ok(Numbers {
            graph,
            property: self.intern(quad.predicate.into())?,
            subject: self.intern(quad.subject.into())?,
            object: self.intern(quad.object)?,
        })
    }

    /// Returns the numbers that the terms of another interner have in this one.
    pub(super) fn intern_all(&mut self, others: &Interner) -> Result<Vec<u32>, ImageError> {
        let mut numbers: Vec<u32> = Vec::with_capacity(others.len() as usize);
        for term in 0..others.len() {
            let form = match others.form_of(term) {
                Form::Tagged(tag) => self.tagged(&others.tags[tag as usize])?,
                // A datatype is numbered before its literals.
                Form::Typed(datatype) => Form::Typed(numbers[datatype as usize]),
                form => form,
            };
            numbers.push(self.place(form, others.text(term))?);
        }
        Ok(numbers)
    }

    /// Returns the number of a term.
    fn intern(&mut self, term: TermRef<'_>) -> Result<u32, ImageError> {
        match term {
            TermRef::NamedNode(node) => self.place(Form::Iri, node.as_str()),
            TermRef::BlankNode(node) => self.place(Form::Blank, node.as_str()),
            TermRef::Literal(literal) => {
                let form = self.form(literal)?;
                self.place(form, literal.value())
            }
            #[allow(
                unreachable_patterns,
                reason = "other kinds of terms are a feature of oxrdf"
            )]
            _ => Err(ImageError::TooLarge {
                what: "triples about triples",
                limit: 0,
            }),
        }
    }

    fn form(&mut self, literal: LiteralRef<'_>) -> Result<Form, ImageError> {
        if let Some(tag) = literal.language() {
            return self.tagged(tag);
        }
        match literal.datatype() {
            xsd::STRING => Ok(Form::Plain),
            datatype => Ok(Form::Typed(self.place(Form::Iri, datatype.as_str())?)),
        }
    }

    fn tagged(&mut self, tag: &str) -> Result<Form, ImageError> {
        let known = self.tags.get_index_of(tag);
        let tag = known.unwrap_or_else(|| self.tags.insert_full(tag.to_owned()).0);
        let tag = u32::try_from(tag).map_err(|_| too_many("language tags"))?;
        Ok(Form::Tagged(tag))
    }

    fn place(&mut self, form: Form, text: &str) -> Result<u32, ImageError> {
        let Interner {
            texts,
            terms,
            places,
            hasher,
            ..
        } = self;
        let form = PackedForm::of(form).ok_or_else(|| too_many("terms"))?;
        // The last bits of a hash are as good as all of it.
        let hash = hasher.hash_one((form, text)) as u32;
        let is_same = |spot: &Spot| {
            let is_same =
                |known: Known| known.form == form && texts.bytes(known.text) == text.as_bytes();
            spot.hash == hash && is_same(terms[spot.term as usize])
        };
        if let Some(spot) = places.find(Spot::spread(hash), is_same) {
            return Ok(spot.term);
        }
        let term = u32::try_from(terms.len()).ok();
        let Some(term) = term.filter(|term| *term < MAX_TERMS) else {
            return Err(too_many("terms"));
        };
        let spot = Spot { hash, term };
        places.insert_unique(Spot::spread(hash), spot, |spot| Spot::spread(spot.hash));
        let text = texts.push(text)?;
        terms.push(Known { text, form });
        Ok(term)
    }

    /// Returns terms with their texts, sorted by these, and where they are equal by something else.
    pub(super) fn sorted_by_text(
        &self,
        terms: Vec<u32>,
        then: impl Fn(u32, u32) -> Ordering + Sync,
    ) -> Vec<(&[u8], u32)> {
        let compare = |(a, term): &(&[u8], u32), (b, other): &(&[u8], u32)| {
            a.cmp(b).then_with(|| then(*term, *other))
        };
        // Comparing costs a fraction where a text is found without the way over its term.
        let mut texts: Vec<(&[u8], u32)> = terms
            .into_iter()
            .map(|term| (self.bytes(term), term))
            .collect();
        let bytes = texts.len() * size_of::<(&[u8], u32)>();
        let middle = texts.len() / 2;
        let (one, other) = texts.split_at_mut(middle);
        both(
            bytes,
            || one.sort_unstable_by(compare),
            || other.sort_unstable_by(compare),
        );
        // Merges both.
        texts.sort_by(compare);
        texts
    }

    pub(super) fn len(&self) -> u32 {
        // Bounded where terms are added.
        self.terms.len() as u32
    }

    /// Returns the number of bytes of all texts.
    pub(super) fn size(&self) -> usize {
        self.texts.chunks.iter().map(String::len).sum()
    }

    pub(super) fn form_of(&self, place: u32) -> Form {
        self.terms[place as usize].form.unpacked()
    }

    /// Returns the bytes of a text, without a look at them.
    pub(super) fn bytes(&self, place: u32) -> &[u8] {
        self.texts.bytes(self.terms[place as usize].text)
    }

    pub(super) fn text(&self, place: u32) -> &str {
        self.texts.get(self.terms[place as usize].text)
    }

    /// Returns a literal; `None` for other terms.
    pub(super) fn literal(&self, place: u32) -> Option<LiteralRef<'_>> {
        let text = self.text(place);
        match self.form_of(place) {
            Form::Iri | Form::Blank => None,
            Form::Plain => Some(LiteralRef::new_simple_literal(text)),
            Form::Tagged(tag) => {
                let tag = &self.tags[tag as usize];
                Some(LiteralRef::new_language_tagged_literal_unchecked(text, tag))
            }
            Form::Typed(datatype) => {
                let datatype = NamedNodeRef::new_unchecked(self.text(datatype));
                Some(LiteralRef::new_typed_literal(text, datatype))
            }
        }
    }

    /// Forgets how terms are found, whose numbers stay.
    pub(super) fn close(&mut self) {
        self.places = HashTable::new();
    }
}

fn too_many(what: &'static str) -> ImageError {
    ImageError::TooLarge {
        what,
        limit: u64::from(MAX_TERMS),
    }
}
