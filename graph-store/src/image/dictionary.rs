//! Writes the dictionary of an image: terms in their order, and where each went.

use std::io::{self, Write};

use foldhash::{HashMap, HashMapExt};

use super::format::{Kind, SectionWriter};
use super::intern::{Form, Interner};
use super::literal::{CLASSES, Class, Sortable};
use super::terms::{BLOCK, PLAIN, write_strings, write_varint};

/// Bytes of terms that are written at once.
const PIECE: usize = 1 << 20;

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
    /// Sorts terms, on two threads.
    pub(super) fn of(interner: &Interner) -> Self {
        let (mut iris, mut blanks, mut literals) = (Vec::new(), Vec::new(), Vec::new());
        for term in 0..interner.len() {
            match interner.form_of(term) {
                Form::Iri => iris.push(term),
                Form::Blank => blanks.push(term),
                Form::Plain | Form::Tagged(_) | Form::Typed(_) => literals.push(term),
            }
        }
        let by_text = |terms: &mut Vec<u32>| {
            terms.sort_unstable_by(|a, b| interner.text(*a).cmp(interner.text(*b)));
        };
        let (iri_count, blank_count) = (iris.len() as u32, blanks.len() as u32);
        let nodes = iri_count + blank_count;
        let (nodes_sorted, (literals, classes, equal)) = std::thread::scope(|scope| {
            let others = scope.spawn(|| sorted_literals(interner, literals, nodes));
            by_text(&mut iris);
            by_text(&mut blanks);
            iris.append(&mut blanks);
            let literals = others.join();
            (
                iris,
                literals.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            )
        });
        let mut terms = nodes_sorted;
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
    // Nearly all memory is that of strings, which need nothing to be kept for their order.
    strings.sort_unstable_by(|a, b| {
        let by_text = interner.text(*a).cmp(interner.text(*b));
        by_text.then_with(|| Sortable::new(literal(*a)).cmp(&Sortable::new(literal(*b))))
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
    add_equal(&mut equal, start, &strings, |a, b| {
        interner.text(*a) == interner.text(*b)
    });
    add_equal(&mut equal, first_other, &others, |a, b| {
        a.0.compare_values(&b.0).is_eq()
    });
    strings.extend(others.into_iter().map(|(_, term)| term));
    (strings, classes, equal)
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

/// Writes the sections of the dictionary.
pub(super) fn write<W: Write>(
    out: &mut SectionWriter<W>,
    interner: &Interner,
    order: &Order,
) -> io::Result<()> {
    let mut prefixes: HashMap<&str, u64> = HashMap::new();
    let mut listed: Vec<&str> = Vec::new();
    let mut blocks = Vec::with_capacity(order.terms.len() / BLOCK as usize + 1);
    let (mut piece, mut written) = (Vec::with_capacity(2 * PIECE), 0);
    let mut texts = out.begin(Kind::Terms, 0);
    for (place, &term) in (0_u32..).zip(&order.terms) {
        if place % BLOCK == 0 {
            blocks.push(written + piece.len() as u64);
        }
        let text = interner.text(term);
        let (head, rest) = match interner.form_of(term) {
            Form::Iri => {
                let (prefix, rest) = text.split_at(prefix_length(text));
                let head = *prefixes.entry(prefix).or_insert_with(|| {
                    listed.push(prefix);
                    listed.len() as u64 - 1
                });
                (head, rest)
            }
            Form::Blank => (0, text),
            Form::Plain => (PLAIN, text),
            Form::Tagged(tag) => (u64::from(tag) * 2 + 1, text),
            Form::Typed(datatype) => {
                let datatype = order.places[datatype as usize];
                ((u64::from(datatype) + 1) * 2, text)
            }
        };
        write_varint(&mut piece, head);
        write_varint(&mut piece, rest.len() as u64);
        piece.extend(rest.as_bytes());
        if piece.len() >= PIECE {
            texts.push(&piece)?;
            written += piece.len() as u64;
            piece.clear();
        }
    }
    texts.push(&piece)?;
    texts.end()?;
    out.section(Kind::Prefixes, 0, &write_strings(listed))?;
    let tags = interner.tags.iter().map(String::as_str);
    out.section(Kind::Tags, 0, &write_strings(tags))?;
    out.numbers(Kind::Blocks, 0, &blocks)?;
    out.numbers(Kind::Classes, 0, &order.classes)?;
    out.numbers(Kind::Equal, 0, &order.equal)
}

/// Returns how much of an IRI others may share: all up to the last separator.
fn prefix_length(iri: &str) -> usize {
    iri.rfind(['/', '#', ':']).map_or(0, |at| at + 1)
}
