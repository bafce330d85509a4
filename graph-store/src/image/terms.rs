//! The dictionary: terms by number, and numbers by term.
//!
//! IRIs come first, in the order of their bytes; then blank nodes; then literals, class by class, in the
//! order of their values. So numbers compare as the IRIs and values do that they stand for.
//!
//! The texts of terms lie one after the other, those that are values of one property together, since a
//! search looks through them. A term has an entry: where its text lies, and a head. The head of an IRI is
//! the prefix that it shares with others; that of a literal is its datatype or tag.

use std::cmp::Ordering;

use foldhash::HashMap;
use oxrdf::{LiteralRef, NamedNode, NamedOrBlankNode, Term, TermRef};

use super::bytes::{Bytes, Part};
use super::error::{Fault, damaged};
use super::format::{Directory, Kind};
use super::intern::MAX_TERMS;
use super::literal::{CLASSES, Sortable};
use super::values::Table;
use crate::query::TermView;
use crate::value::{AsTerm, is_plain};

/// The head of a literal of the datatype `xsd:string`.
pub(super) const PLAIN: u32 = 0;
/// Bits of the place of a text; the others of the first 64 are those of the head.
const PLACE_BITS: u32 = 40;
/// Texts have fewer bytes.
pub(super) const MAX_TEXT: u64 = 1 << PLACE_BITS;
/// Heads are below.
pub(super) const MAX_HEAD: u32 = 1 << (u64::BITS - PLACE_BITS);

/// Where the text of a term lies, and its head.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Below [`MAX_HEAD`].
    pub(super) head: u32,
    /// Below [`MAX_TEXT`].
    pub(super) place: u64,
    pub(super) length: u32,
}

/// An entry as it is written.
pub(super) type Packed = [u32; 3];

impl Entry {
    pub(super) fn packed(self) -> Packed {
        let first = u64::from(self.head) << PLACE_BITS | self.place;
        [first as u32, (first >> u32::BITS) as u32, self.length]
    }

    #[inline]
    pub(super) fn unpacked([low, high, length]: Packed) -> Self {
        let first = u64::from(high) << u32::BITS | u64::from(low);
        Entry {
            head: (first >> PLACE_BITS) as u32,
            place: first % MAX_TEXT,
            length,
        }
    }
}

/// The terms of an image.
pub(super) struct Terms {
    /// Number of IRIs.
    pub(super) iris: u32,
    /// Number of IRIs and blank nodes.
    pub(super) nodes: u32,
    /// Number of terms.
    pub(super) count: u32,
    /// An [`Entry`] for each term.
    entries: Part,
    prefixes: Vec<String>,
    tags: Vec<String>,
    /// The datatypes of literals.
    datatypes: Vec<NamedNode>,
    /// IRIs that requests look up again and again.
    noted: HashMap<Box<str>, u32>,
    /// The first term of each class of literals, and the end of the last.
    classes: [u32; CLASSES + 1],
}

impl Terms {
    pub(super) fn open(bytes: &Bytes, directory: &Directory) -> Result<Self, Fault> {
        let counts = bytes.u64s(directory.numbers(Kind::Counts, 0, 8)?);
        let [iris, blanks, literals, ..] = *counts else {
            return Err(damaged("counts"));
        };
        let sum = |more: u64| iris.checked_add(blanks)?.checked_add(more);
        let count = |sum: Option<u64>| {
            let sum = sum.and_then(|sum| u32::try_from(sum).ok());
            sum.ok_or(damaged("counts"))
        };
        let classes = bytes.u32s(directory.numbers(Kind::Classes, 0, 4)?);
        directory.get(Kind::Terms, 0)?;
        let mut terms = Terms {
            iris: u32::try_from(iris).map_err(|_| damaged("counts"))?,
            nodes: count(sum(0))?,
            count: count(sum(literals))?,
            entries: directory.numbers(Kind::Entries, 0, size_of::<Packed>())?,
            prefixes: strings(bytes.part(directory.get(Kind::Prefixes, 0)?))
                .ok_or(damaged("prefixes"))?,
            tags: strings(bytes.part(directory.get(Kind::Tags, 0)?)).ok_or(damaged("tags"))?,
            datatypes: Vec::new(),
            noted: HashMap::default(),
            classes: classes.try_into().map_err(|_| damaged("classes"))?,
        };
        terms.check_numbers()?;
        terms.datatypes = terms
            .datatypes(bytes, bytes.u32s(directory.numbers(Kind::Datatypes, 0, 4)?))
            .ok_or(damaged("datatypes"))?;
        terms.check_equal(bytes.u32s(directory.numbers(Kind::Equal, 0, 8)?))?;
        Ok(terms)
    }

    fn check_numbers(&self) -> Result<(), Fault> {
        let bounds = self.classes.windows(2).all(|pair| pair[0] <= pair[1]);
        if self.count > MAX_TERMS {
            return Err(damaged("counts"));
        }
        let ends = (self.classes[0], self.classes[CLASSES]) == (self.nodes, self.count);
        if !bounds || !ends {
            return Err(damaged("classes"));
        }
        if self.entries.length / size_of::<Packed>() != self.count as usize {
            return Err(damaged("entries of terms"));
        }
        Ok(())
    }

    /// Returns the names of datatypes, which are IRIs themselves.
    fn datatypes(&self, bytes: &Bytes, numbers: &[u32]) -> Option<Vec<NamedNode>> {
        let names = numbers.iter().map(|number| {
            let is_iri = *number < self.iris && self.read(bytes, *number).is_some();
            is_iri.then(|| self.iri(bytes, *number))
        });
        names.collect()
    }

    /// Checks that every term can be read, so that reading one cannot fail later.
    pub(super) fn check(&self, bytes: &Bytes) -> Result<(), Fault> {
        if (0..self.count).all(|id| self.read(bytes, id).is_some()) {
            Ok(())
        } else {
            Err(damaged("terms"))
        }
    }

    /// Checks that ranges of equal literals ascend, each with two literals or more.
    fn check_equal(&self, ranges: &[u32]) -> Result<(), Fault> {
        let (ranges, _) = ranges.as_chunks::<2>();
        let mut from = self.nodes;
        for [begin, end] in ranges {
            if *begin < from || *end > self.count || end.checked_sub(*begin).is_none_or(|n| n < 2) {
                return Err(damaged("equal literals"));
            }
            from = *end;
        }
        Ok(())
    }

    /// Returns a term as it lies in the image, which must be one of its terms.
    #[inline]
    pub(super) fn get<'i>(&'i self, bytes: &'i Bytes, id: u32) -> TermView<'i> {
        let found = self.read(bytes, id);
        found.expect("every term was checked when the image was opened")
    }

    #[inline]
    fn read<'i>(&'i self, bytes: &'i Bytes, id: u32) -> Option<TermView<'i>> {
        let entry = Entry::unpacked(*self.entries(bytes).get(id as usize)?);
        let place = usize::try_from(entry.place).ok()?;
        let text = bytes.texts().get(place..place + entry.length as usize)?;
        let head = entry.head as usize;
        if id < self.iris {
            let prefix = self.prefixes.get(head)?;
            return Some(TermView::Iri { prefix, rest: text });
        }
        if id < self.nodes {
            return (head == 0).then_some(TermView::Blank(text));
        }
        let literal = match (head / 2, head % 2) {
            (0, 0) => LiteralRef::new_simple_literal(text),
            (tag, 1) => {
                LiteralRef::new_language_tagged_literal_unchecked(text, self.tags.get(tag)?)
            }
            (datatype, _) => LiteralRef::new_typed_literal(text, self.datatypes.get(datatype - 1)?),
        };
        Some(TermView::Literal(literal))
    }

    /// Returns the entries of all terms.
    #[inline]
    pub(super) fn entries<'i>(&self, bytes: &'i Bytes) -> &'i [Packed] {
        bytes.u32s(self.entries).as_chunks().0
    }

    /// Returns whether a term is a string without a tag. Those are in the order of their texts.
    pub(super) fn is_string(&self, bytes: &Bytes, id: u32) -> bool {
        id >= self.nodes && self.get(bytes, id).literal().is_some_and(is_plain)
    }

    /// Shows a term as one of the data model.
    pub(super) fn with<R>(&self, bytes: &Bytes, id: u32, view: impl FnOnce(TermRef<'_>) -> R) -> R {
        view(self.get(bytes, id).whole().as_term())
    }

    /// Returns a term as one of the data model.
    pub(super) fn term(&self, bytes: &Bytes, id: u32) -> Term {
        self.get(bytes, id).into_owned()
    }

    /// Returns an IRI, which must be one of the image.
    pub(super) fn iri(&self, bytes: &Bytes, id: u32) -> NamedNode {
        match self.term(bytes, id) {
            Term::NamedNode(node) => node,
            _ => unreachable!("the first terms are IRIs"),
        }
    }

    /// Returns a subject of a triple.
    pub(super) fn subject(&self, bytes: &Bytes, id: u32) -> NamedOrBlankNode {
        match self.term(bytes, id) {
            Term::NamedNode(node) => node.into(),
            Term::BlankNode(node) => node.into(),
            _ => unreachable!("subjects come before literals"),
        }
    }

    /// Returns the number of a term; `None` if it is not one of the image.
    pub(super) fn find(&self, bytes: &Bytes, term: TermRef<'_>) -> Option<u32> {
        match term {
            TermRef::NamedNode(node) => self.find_iri(bytes, node.as_str()),
            TermRef::BlankNode(node) => {
                let name = node.as_str().as_bytes();
                search(self.iris, self.nodes, |id| match self.get(bytes, id) {
                    TermView::Blank(known) => known.as_bytes().cmp(name),
                    _ => Ordering::Less,
                })
            }
            TermRef::Literal(literal) => {
                let wanted = Sortable::new(literal);
                let class = wanted.class() as usize;
                search(self.classes[class], self.classes[class + 1], |id| {
                    let known = self.get(bytes, id).literal();
                    Sortable::new(known.expect("classes are of literals")).cmp(&wanted)
                })
            }
            #[allow(
                unreachable_patterns,
                reason = "other kinds of terms are a feature of oxrdf"
            )]
            _ => None,
        }
    }

    /// Returns the terms in their order.
    pub(super) fn table<'i>(&'i self, bytes: &'i Bytes) -> Table<impl Fn(u32) -> TermView<'i>> {
        Table {
            iris: self.iris,
            nodes: self.nodes,
            count: self.count,
            classes: self.classes,
            get: move |id| self.get(bytes, id),
        }
    }

    /// Notes IRIs that requests look up again and again, so that they are found in one step.
    pub(super) fn note(&mut self, bytes: &Bytes, iris: impl Iterator<Item = u32>) {
        for id in iris {
            if let TermView::Iri { prefix, rest } = self.get(bytes, id) {
                let iri = [prefix, rest].concat();
                self.noted.insert(iri.into(), id);
            }
        }
    }

    fn find_iri(&self, bytes: &Bytes, iri: &str) -> Option<u32> {
        if let Some(id) = self.noted.get(iri) {
            return Some(*id);
        }
        search(0, self.iris, |id| match self.get(bytes, id) {
            TermView::Iri { prefix, rest } => {
                compare_joined(prefix.as_bytes(), rest.as_bytes(), iri.as_bytes())
            }
            _ => Ordering::Greater,
        })
    }
}

/// Compares two texts joined with another text.
pub(super) fn compare_joined(first: &[u8], second: &[u8], with: &[u8]) -> Ordering {
    let shared = first.len().min(with.len());
    match first[..shared].cmp(&with[..shared]) {
        Ordering::Equal if shared < first.len() => Ordering::Greater,
        Ordering::Equal => second.cmp(&with[shared..]),
        unequal => unequal,
    }
}

/// Finds a number in a range by comparing what it stands for with what is sought.
fn search(from: u32, to: u32, compare: impl Fn(u32) -> Ordering) -> Option<u32> {
    let (mut from, mut to) = (from, to);
    while from < to {
        let middle = from + (to - from) / 2;
        match compare(middle) {
            Ordering::Less => from = middle + 1,
            Ordering::Equal => return Some(middle),
            Ordering::Greater => to = middle,
        }
    }
    None
}

/// Writes a number in seven bits a byte.
pub(super) fn write_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

#[inline]
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Writes strings, each with its length.
pub(super) fn write_strings<'s>(strings: impl IntoIterator<Item = &'s str>) -> Vec<u8> {
    let mut out = Vec::new();
    for text in strings {
        write_varint(&mut out, text.len() as u64);
        out.extend(text.as_bytes());
    }
    out
}

fn strings(bytes: &[u8]) -> Option<Vec<String>> {
    let mut at = 0;
    let mut strings = Vec::new();
    while at < bytes.len() {
        let length = usize::try_from(varint(bytes, &mut at)?).ok()?;
        let text = bytes.get(at..at.checked_add(length)?)?;
        strings.push(String::from_utf8(text.to_vec()).ok()?);
        at += length;
    }
    Some(strings)
}
