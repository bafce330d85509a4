//! Writes the dictionary of an image: terms in their order, and where each went.

use std::cmp::Ordering;
use std::io::{self, Write};

use foldhash::{HashMap, HashMapExt};

use super::both;
use super::format::{Kind, SectionWriter};
use super::intern::{Form, Interner};
use super::io_of_memory;
use super::literal::{CLASSES, Class, Sortable};
use super::terms::{Entry, MAX_HEAD, MAX_TEXT, PLAIN, Packed, write_strings};

/// Bytes of terms that are written at once.
const PIECE: usize = 1 << 20;
/// Texts that are looked up before they are read.
const AT_ONCE: usize = 256;

/// The order of terms in an image.
pub(super) struct Order {
    /// Terms by their place in the image.
    pub(super) terms: Vec<u32>,
    /// The place in the image of each term.
    pub(super) places: Vec<u32>,
    pub(super) iris: u32,
    pub(super) blanks: u32,
    classes: Vec<u32>,
    /// Beginnings and ends of ranges of equal literals.
    equal: Vec<u32>,
}

impl Order {
    /// Sorts terms, on two threads where they are many.
    pub(super) fn of(interner: &Interner) -> Self {
        let (mut iris, mut blanks, mut literals) = (Vec::new(), Vec::new(), Vec::new());
        for term in 0..interner.len() {
            match interner.form_of(term) {
                Form::Iri => iris.push(term),
                Form::Blank => blanks.push(term),
                Form::Plain | Form::Tagged(_) | Form::Typed(_) => literals.push(term),
            }
        }
        let by_text = |terms: Vec<u32>| {
            let sorted = interner.sorted_by_text(terms, |_, _| Ordering::Equal);
            sorted.into_iter().map(|(_, term)| term)
        };
        let (iri_count, blank_count) = (iris.len() as u32, blanks.len() as u32);
        let nodes = iri_count + blank_count;
        let sort_nodes = || {
            let mut nodes: Vec<u32> = by_text(iris).collect();
            nodes.extend(by_text(blanks));
            nodes
        };
        let sort_literals = || sorted_literals(interner, literals, nodes);
        let ((literals, classes, equal), mut terms) =
            both(interner.size(), sort_literals, sort_nodes);
        terms.extend(literals);
        let mut places = vec![0; terms.len()];
        for (place, term) in (0..).zip(&terms) {
            places[*term as usize] = place;
        }
        Order {
            terms,
            places,
            iris: iri_count,
            blanks: blank_count,
            classes,
            equal,
        }
    }
}

/// Returns sorted literals, where each class begins, and the ranges of equal ones; the first is `start`.
fn sorted_literals(
    interner: &Interner,
    literals: Vec<u32>,
    start: u32,
) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let literal = |term: u32| interner.literal(term).expect("a literal");
    let mut strings = Vec::new();
    let mut others: Vec<(Sortable<'_>, u32)> = Vec::new();
    for term in literals {
        match Sortable::new(literal(term)) {
            sortable if sortable.class() == Class::Text => strings.push(term),
            sortable => others.push((sortable, term)),
        }
    }
    // Nearly all memory is that of strings, of which little is kept for their order.
    let strings = interner.sorted_by_text(strings, |a, b| {
        Sortable::new(literal(a)).cmp(&Sortable::new(literal(b)))
    });
    others.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let mut classes = vec![start; CLASSES + 1];
    classes[Class::Text as usize + 1] += strings.len() as u32;
    let first_other = classes[Class::Text as usize + 1];
    for (place, (literal, _)) in (first_other + 1..).zip(&others) {
        classes[literal.class() as usize + 1] = place;
    }
    for class in 1..=CLASSES {
        classes[class] = classes[class].max(classes[class - 1]);
    }
    let mut equal = Vec::new();
    add_equal(&mut equal, start, &strings, |a, b| a.0 == b.0);
    add_equal(&mut equal, first_other, &others, |a, b| {
        a.0.compare_values(&b.0).is_eq()
    });
    let strings = strings.into_iter().map(|(_, term)| term);
    let sorted = strings.chain(others.into_iter().map(|(_, term)| term));
    (sorted.collect(), classes, equal)
}

/// Adds the beginning and the end of each range of equal ones among sorted ones; the first is `start`.
fn add_equal<T>(ranges: &mut Vec<u32>, start: u32, sorted: &[T], equals: impl Fn(&T, &T) -> bool) {
    let mut end = start;
    for range in sorted.chunk_by(|a, b| equals(a, b)) {
        let begin = end;
        // Terms are fewer than 2^32.
        end += range.len() as u32;
        if range.len() > 1 {
            ranges.extend([begin, end]);
        }
    }
}

/// The dictionary of an image, as it is written.
pub(super) struct Dictionary<'t> {
    interner: &'t Interner,
    order: &'t Order,
    prefixes: Prefixes<'t>,
    datatypes: Vec<u32>,
    /// The entries of terms, in their order.
    entries: Vec<Packed>,
    /// The places of terms, in the order of their texts.
    texts: Vec<u32>,
    /// Bytes of all texts.
    length: u64,
}

impl<'t> Dictionary<'t> {
    /// Works out what each term becomes. Texts lie in the order of `groups`, a number for each term, and then in that of the
    /// terms.
    pub(super) fn of(
        interner: &'t Interner,
        order: &'t Order,
        groups: impl FnOnce() -> Vec<u32> + Send,
    ) -> io::Result<Self> {
        let (texts, split) = both(
            interner.size(),
            || grouped(order, groups()),
            || Split::of(interner, order),
        );
        let Split {
            prefixes,
            datatypes,
            mut entries,
        } = split?;
        let mut length = 0;
        for place in &texts {
            let packed = &mut entries[*place as usize];
            let entry = Entry::unpacked(*packed);
            *packed = Entry {
                place: length,
                ..entry
            }
            .packed();
            length += u64::from(entry.length);
            if length >= MAX_TEXT {
                return Err(io_of_memory("there is a terabyte of text"));
            }
        }
        Ok(Dictionary {
            interner,
            order,
            prefixes,
            datatypes,
            entries,
            texts,
            length,
        })
    }

    /// Returns the number of bytes of all texts.
    pub(super) fn texts(&self) -> u64 {
        self.length
    }

    /// Writes the sections, the texts first.
    pub(super) fn write<W: Write>(&self, out: &mut SectionWriter<W>) -> io::Result<()> {
        let mut piece = Vec::with_capacity(2 * PIECE);
        let mut texts = out.begin(Kind::Terms, 0);
        let rest = |place: &u32| {
            let text = self.interner.bytes(self.order.terms[*place as usize]);
            let [.., length] = self.entries[*place as usize];
            // What is left of an IRI behind its prefix is no longer than the IRI.
            &text[text.len() - length as usize..]
        };
        // Texts lie anywhere: the memory answers for many of them at once.
        let mut found = Vec::with_capacity(AT_ONCE);
        for places in self.texts.chunks(AT_ONCE) {
            found.clear();
            found.extend(places.iter().map(rest));
            found.iter().for_each(|text| piece.extend_from_slice(text));
            if piece.len() >= PIECE {
                texts.push(&piece)?;
                piece.clear();
            }
        }
        texts.push(&piece)?;
        texts.end()?;
        let prefixes = self.prefixes.listed.iter().copied();
        out.section(Kind::Prefixes, 0, &write_strings(prefixes))?;
        let tags = self.interner.tags.iter().map(String::as_str);
        out.section(Kind::Tags, 0, &write_strings(tags))?;
        out.numbers(Kind::Datatypes, 0, &self.datatypes)?;
        out.numbers(Kind::Entries, 0, &self.entries)?;
        out.numbers(Kind::Classes, 0, &self.order.classes)?;
        out.numbers(Kind::Equal, 0, &self.order.equal)
    }
}

/// What terms have in common, and their entries without the places of their texts.
struct Split<'t> {
    prefixes: Prefixes<'t>,
    datatypes: Vec<u32>,
    entries: Vec<Packed>,
}

impl<'t> Split<'t> {
    fn of(interner: &'t Interner, order: &Order) -> io::Result<Self> {
        let mut prefixes = Prefixes::default();
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut datatypes = Vec::new();
        let mut entries = Vec::with_capacity(order.terms.len());
        for (place, &term) in order.terms.iter().enumerate() {
            let length = interner.bytes(term).len();
            let (head, length) = match interner.form_of(term) {
                Form::Iri => {
                    let next = order.terms.get(place + 1).map(|next| interner.text(*next));
                    let iri = interner.text(term);
                    let (head, rest) = prefixes.split(iri, next.unwrap_or_default());
                    (head, rest.len())
                }
                Form::Blank => (0, length),
                Form::Plain => (PLAIN, length),
                Form::Tagged(tag) => (head_of(tag, 1)?, length),
                Form::Typed(datatype) => {
                    let number = *numbers.entry(datatype).or_insert_with(|| {
                        datatypes.push(order.places[datatype as usize]);
                        // Datatypes are fewer than terms.
                        datatypes.len() as u32 - 1
                    });
                    (head_of(number, 2)?, length)
                }
            };
            let unplaced = Entry {
                head,
                place: 0,
                // Bounded where terms are added.
                length: length as u32,
            };
            entries.push(unplaced.packed());
        }
        Ok(Split {
            prefixes,
            datatypes,
            entries,
        })
    }
}

/// Returns the places of terms, those of each group together, in their order.
fn grouped(order: &Order, groups: Vec<u32>) -> Vec<u32> {
    let mut places: Vec<(u32, u32)> = order
        .terms
        .iter()
        .zip(0..)
        .map(|(term, place)| (groups[*term as usize], place))
        .collect();
    // This is when a builder takes most memory.
    drop(groups);
    places.sort_unstable();
    places.into_iter().map(|(_, place)| place).collect()
}

/// Returns the head of a literal with a tag or a datatype.
fn head_of(number: u32, kind: u32) -> io::Result<u32> {
    let head = number
        .checked_mul(2)
        .and_then(|head| head.checked_add(kind));
    let head = head.filter(|head| *head < MAX_HEAD);
    head.ok_or_else(|| io_of_memory("there are too many language tags or datatypes"))
}

/// The beginnings that IRIs share; the first is nothing.
struct Prefixes<'t> {
    numbers: HashMap<&'t str, u32>,
    listed: Vec<&'t str>,
}

impl Default for Prefixes<'_> {
    fn default() -> Self {
        Prefixes {
            numbers: HashMap::from_iter([("", 0)]),
            listed: vec![""],
        }
    }
}

impl<'t> Prefixes<'t> {
    /// Returns the number of the prefix of an IRI and what follows it. A prefix that neither the IRIs before nor the next one
    /// share is none.
    fn split(&mut self, iri: &'t str, next: &str) -> (u32, &'t str) {
        let (prefix, rest) = iri.split_at(prefix_length(iri));
        if let Some(number) = self.numbers.get(prefix) {
            return (*number, rest);
        }
        // Fewer than heads, which are 24 bits.
        let number = self.listed.len() as u32;
        if number == MAX_HEAD || !next.starts_with(prefix) {
            return (0, iri);
        }
        self.listed.push(prefix);
        self.numbers.insert(prefix, number);
        (number, rest)
    }
}

/// Returns how much of an IRI others may share: all up to the last separator.
fn prefix_length(iri: &str) -> usize {
    iri.rfind(['/', '#', ':']).map_or(0, |at| at + 1)
}
