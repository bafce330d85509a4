//! Compares an index with the store: the ids of its documents with those of the objects.

use std::cmp::Ordering;
use std::collections::HashSet;

use graph_store::CallContext;
use graph_store::query::ObjectRef;

use super::error::IndexerError;
use crate::engine::{EngineError, PhysicalName, SearchEngine};
use crate::mapping::fits_keyword;

/// Ids that are asked for at once.
const PAGE: usize = 10_000;

/// The documents that an index must have.
pub(super) struct Expected<'e> {
    /// The GraphQL name of the object.
    pub(super) object: &'e str,
    /// In ascending order of their IRIs.
    pub(super) objects: &'e [ObjectRef],
    /// Those without a document.
    pub(super) left_out: &'e HashSet<String>,
}

/// The ids of an index, page by page.
struct Ids<'i> {
    engine: &'i dyn SearchEngine,
    name: &'i PhysicalName,
    context: &'i CallContext,
    page: std::vec::IntoIter<String>,
    last: Option<String>,
}

impl Ids<'_> {
    async fn next(&mut self) -> Result<Option<String>, EngineError> {
        if let Some(id) = self.page.next() {
            return Ok(Some(id));
        }
        let page = self
            .engine
            .ids(self.name, self.last.as_deref(), PAGE, self.context);
        let page = page.await?;
        self.last = page.last().cloned().or(self.last.take());
        self.page = page.into_iter();
        Ok(self.page.next())
    }
}

impl Expected<'_> {
    /// Checks that an index has these documents and no others.
    pub(super) async fn verify(
        &self,
        engine: &dyn SearchEngine,
        name: &PhysicalName,
        context: &CallContext,
    ) -> Result<(), IndexerError> {
        let mut found = Ids {
            engine,
            name,
            context,
            page: Vec::new().into_iter(),
            last: None,
        };
        let indexed = self.objects.iter().map(ObjectRef::iri);
        let indexed = indexed.filter(|iri| !self.left_out.contains(*iri));
        // An id that is too long for a keyword is in no list, and is only counted.
        let listed = indexed.clone().filter(|iri| fits_keyword(iri));
        let mut difference = compare(listed, &mut found).await?;
        let (number, count) = (indexed.count() as u64, engine.count(name, context).await?);
        if difference.is_none() && count != number {
            difference = Some(Difference {
                missing: number.saturating_sub(count),
                surplus: count.saturating_sub(number),
                example: String::new(),
            });
        }
        match difference {
            None => Ok(()),
            Some(Difference {
                missing,
                surplus,
                example,
            }) => Err(IndexerError::Incomplete {
                object: self.object.to_owned(),
                missing,
                surplus,
                example,
            }),
        }
    }
}

/// How an index differs from the store.
#[derive(Default)]
struct Difference {
    missing: u64,
    surplus: u64,
    /// One of them.
    example: String,
}

/// Compares ids that are wanted with those that are there, both in ascending order.
async fn compare(
    mut wanted: impl Iterator<Item = &str>,
    found: &mut Ids<'_>,
) -> Result<Option<Difference>, EngineError> {
    let mut difference = None;
    let (mut want, mut have) = (wanted.next(), found.next().await?);
    loop {
        let order = match (want, &have) {
            (None, None) => return Ok(difference),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(want), Some(have)) => want.cmp(have.as_str()),
        };
        if order.is_ne() {
            let one = if order.is_lt() { want } else { have.as_deref() };
            let difference = difference.get_or_insert_with(|| Difference {
                example: one.unwrap_or_default().to_owned(),
                ..Difference::default()
            });
            difference.missing += u64::from(order.is_lt());
            difference.surplus += u64::from(order.is_gt());
        }
        if order.is_le() {
            want = wanted.next();
        }
        if order.is_ge() {
            have = found.next().await?;
        }
    }
}
