//! Pages of an order that the server cuts, and the proof that it cut them as this crate would.
//!
//! The rows are the first ones of all combinations of an object and its keys, so no object behind them can come before the
//! last row: the server says that all keys, also those behind the page, are of kinds that it compares as we do. Objects up
//! to the last row are certain. If too few are, the page is taken from all objects instead.

use std::collections::{HashMap, HashSet};

use call_context::CallContext;
use oxrdf::{Literal, NamedNode, Term};
use soml_core::datatype::Scalar;

use super::dialect::Dialect;
use super::endpoint::Rows;
use super::results::malformed;
use crate::error::StoreError;
use crate::evaluate::shown;
use crate::query::{OrderKey, OrderStep, OrderWay, Position, Selection, SortBy};
use crate::sparql::{KeyKind, OrderedPage, PageBy, PageKey};
use crate::store::compare_positions;
use crate::store::order::CHECK_EVERY;
use crate::value::SortValue;

/// Servers sort strings by UTF-16 code units or by code points, which is the same below this character.
const FIRST_UNSURE: char = '\u{E000}';

/// Returns how a server is asked for the first objects of a selection, if it can be trusted with the order.
pub(super) fn ordered_page(
    selection: &Selection,
    objects: usize,
    dialect: Dialect,
    accept_language: &[String],
) -> Option<OrderedPage> {
    if selection.order.is_empty() || !dialect.orders_as_specified() {
        return None;
    }
    let keys: Option<Vec<PageKey>> = selection
        .order
        .iter()
        .map(|key| page_key(key, accept_language))
        .collect();
    Some(OrderedPage {
        condition: dialect.arranged(&selection.condition),
        keys: keys?,
        rows: objects,
    })
}

fn page_key(key: &OrderKey, accept_language: &[String]) -> Option<PageKey> {
    let [OrderWay { path, by }] = key.ways.as_slice() else {
        return None;
    };
    let by = match (path.as_slice(), by) {
        ([], SortBy::Iri) => PageBy::Iri,
        ([step], SortBy::Scalar { scalar, .. }) if is_plain(step) => {
            let kind = KeyKind::of(*scalar)?;
            if *scalar == Scalar::String && !shows_untagged(by, accept_language) {
                return None;
            }
            PageBy::Values(step.step.clone(), kind)
        }
        ([step], SortBy::Iri) if step.of.is_none() && step.displayed.is_none() => {
            let kind = KeyKind::Objects(step.tests.clone());
            PageBy::Values(step.step.clone(), kind)
        }
        _ => return None,
    };
    Some(PageKey {
        by,
        descending: key.descending,
    })
}

/// Returns whether a step is for every object and leads to all values.
fn is_plain(step: &OrderStep) -> bool {
    step.of.is_none() && step.tests.is_empty() && step.displayed.is_none()
}

/// Returns whether of strings without a tag the smallest is compared.
fn shows_untagged(by: &SortBy, accept_language: &[String]) -> bool {
    let values = ["b", "a"].map(|value| Term::from(Literal::from(value)));
    shown(by, &values, accept_language) == SortValue::Text("a".to_owned())
}

/// The objects that rows prove to be the first ones.
#[derive(Debug)]
pub(super) struct FirstObjects {
    /// They and their keys, in order.
    pub(super) positions: Vec<Position>,
    /// Whether the selection has no others.
    pub(super) is_complete: bool,
}

/// Returns the first objects of an order; `None` if some key is of another kind than expected. The columns of the page
/// begin at `first`.
pub(super) fn first_objects(
    rows: &Rows,
    first: usize,
    page: &OrderedPage,
    order: &[OrderKey],
    context: &CallContext,
) -> Result<Option<FirstObjects>, StoreError> {
    let Some(found) = PageRows::read(rows, first, page, context)? else {
        return Ok(None);
    };
    let is_complete = found.distinct.len() < page.rows;
    if !is_complete && !found.distinct.iter().all(is_sure) {
        return Ok(None);
    }
    let columns = Columns::new(page, order, context);
    let of_rows = found.distinct.iter().map(|(id, keys)| {
        let keys: Vec<&[Term]> = keys.iter().map(Option::as_slice).collect();
        columns.position(id, &keys)
    });
    let last = of_rows.max_by(|a, b| compare_positions(order, a, b));
    let is_certain = |found: &Position| {
        let last = last.as_ref();
        is_complete || last.is_some_and(|last| compare_positions(order, found, last).is_le())
    };
    let positions = found.values.iter().map(|(id, values)| {
        let values: Vec<&[Term]> = values.iter().map(Vec::as_slice).collect();
        columns.position(id, &values)
    });
    let mut positions: Vec<Position> = positions.filter(is_certain).collect();
    positions.sort_unstable_by(|a, b| compare_positions(order, a, b));
    Ok(Some(FirstObjects {
        positions,
        is_complete,
    }))
}

/// An object with one value of each key.
type PageRow<'r> = (&'r NamedNode, &'r [Option<Term>]);

/// What the rows of a page say.
#[derive(Default)]
struct PageRows<'r> {
    distinct: HashSet<PageRow<'r>>,
    /// The known values of each object for each key with a property.
    values: HashMap<&'r NamedNode, Vec<Vec<Term>>>,
}

impl<'r> PageRows<'r> {
    /// Returns nothing if some key is of another kind than expected.
    fn read(
        rows: &'r Rows,
        first: usize,
        page: &OrderedPage,
        context: &CallContext,
    ) -> Result<Option<Self>, StoreError> {
        let steps = page.steps().count();
        let mut found = PageRows::default();
        for (count, row) in rows.terms.chunks(rows.width).enumerate() {
            if count % CHECK_EVERY == 0 {
                context.check()?;
            }
            let (Some(Term::NamedNode(id)), Some(Term::Literal(fits))) = (&row[0], &row[first])
            else {
                return Err(malformed("a page has a row without an object or a test"));
            };
            if fits.value() != "1" {
                return Ok(None);
            }
            let (keys, all) = row[first + 1..].split_at(steps);
            found.distinct.insert((id, keys));
            let known = found
                .values
                .entry(id)
                .or_insert_with(|| vec![Vec::new(); steps]);
            let values = if page.reads_values() { all } else { keys };
            for (known, value) in known.iter_mut().zip(values) {
                if let Some(value) = value
                    && !known.contains(value)
                {
                    known.push(value.clone());
                }
            }
        }
        Ok(Some(found))
    }
}

/// Finds the values of the keys of an order among those of properties.
struct Columns<'o> {
    order: &'o [OrderKey],
    /// For each key with a property, the position of its values.
    places: HashMap<usize, usize>,
    context: &'o CallContext,
}

impl<'o> Columns<'o> {
    fn new(page: &OrderedPage, order: &'o [OrderKey], context: &'o CallContext) -> Self {
        let places = page.steps().map(|(key, ..)| key).zip(0..);
        Columns {
            order,
            places: places.collect(),
            context,
        }
    }

    /// Returns the position of an object with some values for each key with a property.
    fn position(&self, id: &NamedNode, values: &[&[Term]]) -> Position {
        let accepted = &self.context.accept_language;
        let keys = self.order.iter().enumerate().map(|(at, key)| {
            match (self.places.get(&at), &key.ways[0].by) {
                (None, _) => SortValue::Text(id.as_str().to_owned()),
                (Some(&place), SortBy::Iri) => first_iri(values[place]),
                (Some(&place), by) => shown(by, values[place], accepted),
            }
        });
        Position {
            keys: keys.collect(),
            id: id.clone().into(),
        }
    }
}

/// Returns what an order by the ids of objects compares: the smallest one.
fn first_iri(values: &[Term]) -> SortValue {
    let iris = values.iter().filter_map(|value| match value {
        Term::NamedNode(node) => Some(node.as_str()),
        _ => None,
    });
    iris.min()
        .map_or(SortValue::Missing, |iri| SortValue::Text(iri.to_owned()))
}

/// Returns whether all servers agree on what is before a row and what is behind it.
fn is_sure((id, keys): &PageRow<'_>) -> bool {
    is_sure_text(id.as_str()) && keys.iter().flatten().all(is_sure_term)
}

fn is_sure_term(term: &Term) -> bool {
    match term {
        Term::Literal(literal) => is_sure_text(literal.value()),
        Term::NamedNode(node) => is_sure_text(node.as_str()),
        _ => true,
    }
}

fn is_sure_text(text: &str) -> bool {
    text.chars().all(|c| c < FIRST_UNSURE)
}
