//! The dictionary: terms by number, and numbers by term.
//!
//! IRIs come first, in the order of their bytes; then blank nodes; then literals, class by class, in the
//! order of their values. So numbers compare as the IRIs and values do that they stand for.
//!
//! A term is encoded as a head, a length and bytes. The head of an IRI is the prefix that it shares with
//! others; that of a literal is its datatype or tag. Eight terms are a block, whose beginning is known.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use oxrdf::{
    BlankNode, BlankNodeRef, LiteralRef, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, TermRef,
};

use super::bytes::{Bytes, Part};
use super::error::{Fault, damaged};
use super::format::{Directory, Kind};
use super::intern::MAX_TERMS;
use super::literal::{CLASSES, Sortable};
use crate::query::TermView;

/// Terms of one block.
pub(super) const BLOCK: u32 = 8;
/// The head of a literal of the datatype `xsd:string`.
pub(super) const PLAIN: u64 = 0;

/// The terms of an image.
pub(super) struct Terms {
    /// Number of IRIs.
    pub(super) iris: u32,
    /// Number of IRIs and blank nodes.
    pub(super) nodes: u32,
    /// Number of terms.
    pub(super) count: u32,
    texts: Part,
    blocks: Part,
    prefixes: Vec<String>,
    tags: Vec<String>,
    /// The datatypes of literals, by number.
    datatypes: Vec<(u32, NamedNode)>,
    /// The first term of each class of literals, and the end of the last.
    classes: [u32; CLASSES + 1],
}

/// A term as it lies in the dictionary.
#[derive(Clone, Copy, Debug)]
pub(super) enum View<'i> {
    Iri {
        prefix: &'i str,
        rest: &'i str,
    },
    Blank(&'i str),
    Plain(&'i str),
    Tagged(&'i str, &'i str),
    /// A literal and the number of its datatype.
    Typed(&'i str, u32),
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
        let mut terms = Terms {
            iris: u32::try_from(iris).map_err(|_| damaged("counts"))?,
            nodes: count(sum(0))?,
            count: count(sum(literals))?,
            texts: directory.get(Kind::Terms, 0)?,
            blocks: directory.numbers(Kind::Blocks, 0, 8)?,
            prefixes: strings(bytes.part(directory.get(Kind::Prefixes, 0)?))
                .ok_or(damaged("prefixes"))?,
            tags: strings(bytes.part(directory.get(Kind::Tags, 0)?)).ok_or(damaged("tags"))?,
            datatypes: Vec::new(),
            classes: classes.try_into().map_err(|_| damaged("classes"))?,
        };
        terms.check(bytes)?;
        terms.check_equal(bytes.u32s(directory.numbers(Kind::Equal, 0, 8)?))?;
        Ok(terms)
    }

    /// Checks that every term can be read, so that reading one cannot fail later.
    fn check(&mut self, bytes: &Bytes) -> Result<(), Fault> {
        let bounds = self.classes.windows(2).all(|pair| pair[0] <= pair[1]);
        if self.count > MAX_TERMS {
            return Err(damaged("counts"));
        }
        let ends = (self.classes[0], self.classes[CLASSES]) == (self.nodes, self.count);
        if !bounds || !ends {
            return Err(damaged("classes"));
        }
        let blocks = bytes.u64s(self.blocks);
        let texts = bytes.part(self.texts);
        if blocks.len() != self.count.div_ceil(BLOCK) as usize {
            return Err(damaged("blocks"));
        }
        let (mut at, mut last, mut datatypes) = (0, None, BTreeSet::new());
        for id in 0..self.count {
            if id % BLOCK == 0 && blocks[(id / BLOCK) as usize] != at as u64 {
                return Err(damaged("blocks"));
            }
            let (head, text) = encoded(texts, &mut at).ok_or(damaged("terms"))?;
            match self.view(id, head, text).ok_or(damaged("terms"))? {
                // Those of one datatype lie together.
                View::Typed(_, datatype) if last != Some(datatype) => {
                    datatypes.insert(datatype);
                    last = Some(datatype);
                }
                _ => {}
            }
        }
        if at != texts.len() {
            return Err(damaged("terms"));
        }
        let iri = |datatype: u32| (datatype, self.iri(bytes, datatype));
        self.datatypes = datatypes.into_iter().map(iri).collect();
        Ok(())
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

    /// Returns a term, which must be one of the image.
    pub(super) fn get<'i>(&'i self, bytes: &'i Bytes, id: u32) -> View<'i> {
        let texts = bytes.part(self.texts);
        let block = bytes.u64s(self.blocks)[(id / BLOCK) as usize];
        let mut at = usize::try_from(block).expect("an offset of a part in memory");
        for _ in 0..id % BLOCK {
            skip(texts, &mut at);
        }
        let found = encoded(texts, &mut at).and_then(|(head, text)| self.view(id, head, text));
        found.expect("every term was checked when the image was opened")
    }

    fn view<'i>(&'i self, id: u32, head: u64, text: &'i [u8]) -> Option<View<'i>> {
        let text = std::str::from_utf8(text).ok()?;
        if id < self.iris {
            let prefix = self.prefixes.get(usize::try_from(head).ok()?)?;
            return Some(View::Iri { prefix, rest: text });
        }
        if id < self.nodes {
            return (head == 0).then_some(View::Blank(text));
        }
        match (head / 2, head % 2) {
            (0, 0) => Some(View::Plain(text)),
            (tag, 1) => {
                let tag = self.tags.get(usize::try_from(tag).ok()?)?;
                Some(View::Tagged(text, tag))
            }
            (datatype, _) => {
                let datatype = u32::try_from(datatype - 1).ok()?;
                (datatype < self.iris).then_some(View::Typed(text, datatype))
            }
        }
    }

    /// Shows a term as one of the data model.
    pub(super) fn with<R>(&self, bytes: &Bytes, id: u32, view: impl FnOnce(TermRef<'_>) -> R) -> R {
        match self.get(bytes, id) {
            View::Iri { prefix: "", rest } => view(NamedNodeRef::new_unchecked(rest).into()),
            View::Iri { prefix, rest } => {
                let iri = [prefix, rest].concat();
                view(NamedNodeRef::new_unchecked(&iri).into())
            }
            View::Blank(name) => view(BlankNodeRef::new_unchecked(name).into()),
            literal => view(self.literal(literal).into()),
        }
    }

    /// Returns a term as one of the data model.
    pub(super) fn term(&self, bytes: &Bytes, id: u32) -> Term {
        match self.get(bytes, id) {
            View::Iri { prefix, rest } => NamedNode::new_unchecked([prefix, rest].concat()).into(),
            View::Blank(name) => BlankNode::new_unchecked(name).into(),
            literal => self.literal(literal).into_owned().into(),
        }
    }

    /// Returns the literal that a view shows.
    fn literal<'i>(&'i self, view: View<'i>) -> LiteralRef<'i> {
        match view {
            View::Plain(text) => LiteralRef::new_simple_literal(text),
            View::Tagged(text, tag) => LiteralRef::new_language_tagged_literal_unchecked(text, tag),
            View::Typed(text, datatype) => {
                let known = self
                    .datatypes
                    .binary_search_by_key(&datatype, |(id, _)| *id);
                let known = known.expect("all datatypes were noted when the image was opened");
                LiteralRef::new_typed_literal(text, self.datatypes[known].1.as_ref())
            }
            View::Iri { .. } | View::Blank(_) => unreachable!("no literals"),
        }
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

    /// Shows a term as it lies in the image.
    pub(super) fn shown<'i>(&'i self, bytes: &'i Bytes, id: u32) -> TermView<'i> {
        match self.get(bytes, id) {
            View::Iri { prefix, rest } => TermView::Iri { prefix, rest },
            View::Blank(name) => TermView::Blank(name),
            literal => TermView::Literal(self.literal(literal)),
        }
    }

    /// Returns the number of a term; `None` if it is not one of the image.
    pub(super) fn find(&self, bytes: &Bytes, term: TermRef<'_>) -> Option<u32> {
        match term {
            TermRef::NamedNode(node) => self.find_iri(bytes, node.as_str()),
            TermRef::BlankNode(node) => {
                let name = node.as_str().as_bytes();
                search(self.iris, self.nodes, |id| match self.get(bytes, id) {
                    View::Blank(known) => known.as_bytes().cmp(name),
                    _ => Ordering::Less,
                })
            }
            TermRef::Literal(literal) => {
                let wanted = Sortable::new(literal);
                let class = wanted.class() as usize;
                search(self.classes[class], self.classes[class + 1], |id| {
                    Sortable::new(self.literal(self.get(bytes, id))).cmp(&wanted)
                })
            }
            #[allow(
                unreachable_patterns,
                reason = "other kinds of terms are a feature of oxrdf"
            )]
            _ => None,
        }
    }

    pub(super) fn find_iri(&self, bytes: &Bytes, iri: &str) -> Option<u32> {
        search(0, self.iris, |id| match self.get(bytes, id) {
            View::Iri { prefix, rest } => compare_joined(prefix, rest, iri),
            _ => Ordering::Greater,
        })
    }
}

/// Compares two strings joined with another string.
fn compare_joined(first: &str, second: &str, with: &str) -> Ordering {
    let (first, with) = (first.as_bytes(), with.as_bytes());
    let shared = first.len().min(with.len());
    match first[..shared].cmp(&with[..shared]) {
        Ordering::Equal if shared < first.len() => Ordering::Greater,
        Ordering::Equal => second.as_bytes().cmp(&with[shared..]),
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

/// Returns the head and the bytes of the term at a place, and moves on to the next.
#[inline]
fn encoded<'i>(texts: &'i [u8], at: &mut usize) -> Option<(u64, &'i [u8])> {
    let head = varint(texts, at)?;
    let length = usize::try_from(varint(texts, at)?).ok()?;
    let end = at.checked_add(length)?;
    let text = texts.get(*at..end)?;
    *at = end;
    Some((head, text))
}

#[inline]
fn skip(texts: &[u8], at: &mut usize) {
    let _ = encoded(texts, at);
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
