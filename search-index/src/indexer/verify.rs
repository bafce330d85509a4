//! Compares an index with the store: the ids of its documents with those of the objects.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use futures::future::try_join_all;
use graph_store::CallContext;
use graph_store::query::ObjectRef;

use super::error::IndexerError;
use crate::engine::{EngineError, PhysicalName, Refusal, SearchEngine};
use crate::mapping::fits_keyword;

/// Most ids that are asked for at once.
const PAGE: usize = 10_000;

/// Most parts of an index that are compared at the same time: the engine reads each of them on one core.
const PARTS: usize = 4;

/// Fewest objects of a part.
const PART: usize = 5_000;

/// The documents that an index must have.
pub(super) struct Expected<'e> {
    /// The GraphQL name of the object.
    pub(super) object: &'e str,
    /// In ascending order of their IRIs.
    pub(super) objects: &'e [ObjectRef],
    /// Those without a document.
    pub(super) left_out: &'e BTreeMap<String, Refusal>,
}

/// The ids of a part of an index, page by page.
struct Ids<'i> {
    engine: &'i dyn SearchEngine,
    name: &'i PhysicalName,
    context: &'i CallContext,
    page: std::vec::IntoIter<String>,
    last: Option<String>,
    /// The last id that the part can have; `None` for the last part.
    end: Option<&'i str>,
    /// How many more ids are wanted.
    open: usize,
}

impl Ids<'_> {
    async fn next(&mut self) -> Result<Option<String>, EngineError> {
        if let Some(id) = self.page.next() {
            return Ok(self.within(id));
        }
        // One more than is wanted shows that there is none.
        let size = self.open.saturating_add(1).min(PAGE);
        let page = self
            .engine
            .ids(self.name, self.last.as_deref(), size, self.context);
        let page = page.await?;
        self.last = page.last().cloned().or(self.last.take());
        self.open = self.open.saturating_sub(page.len());
        self.page = page.into_iter();
        Ok(self.page.next().and_then(|id| self.within(id)))
    }

    /// Returns an id of the part; behind its end it has no more.
    fn within(&mut self, id: String) -> Option<String> {
        if self.end.is_none_or(|end| id.as_str() <= end) {
            return Some(id);
        }
        self.page = Vec::new().into_iter();
        self.last = Some(id);
        self.open = 0;
        None
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
        let parts = self.parts().into_iter().map(|(after, objects, is_last)| {
            let last = objects.last().map(ObjectRef::iri);
            let mut found = Ids {
                engine,
                name,
                context,
                page: Vec::new().into_iter(),
                last: after.map(str::to_owned),
                end: last.filter(|_| !is_last),
                open: objects.len(),
            };
            // An id that is too long for a keyword is in no list, and is only counted.
            let listed = self.indexed(objects).filter(|iri| fits_keyword(iri));
            async move { compare(listed, &mut found).await }
        });
        let differences = try_join_all(parts).await?;
        let mut difference = differences.into_iter().flatten().reduce(Difference::and);
        let number = self.indexed(self.objects).count() as u64;
        let count = engine.count(name, context).await?;
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

impl<'e> Expected<'e> {
    /// Returns the objects that have a document.
    fn indexed(&self, objects: &'e [ObjectRef]) -> impl Iterator<Item = &'e str> + use<'e> {
        let left_out = self.left_out;
        let iris = objects.iter().map(ObjectRef::iri);
        iris.filter(move |iri| !left_out.contains_key(*iri))
    }

    /// Returns parts of the objects, each with the IRI before it and whether it is the last.
    fn parts(&self) -> Vec<(Option<&'e str>, &'e [ObjectRef], bool)> {
        let number = (self.objects.len() / PART).clamp(1, PARTS);
        let length = self.objects.len().div_ceil(number).max(1);
        let mut parts = Vec::with_capacity(number);
        let mut after = None;
        for objects in self.objects.chunks(length) {
            parts.push((after, objects, false));
            after = objects.last().map(ObjectRef::iri);
        }
        match parts.last_mut() {
            Some((.., is_last)) => *is_last = true,
            None => parts.push((None, self.objects, true)),
        }
        parts
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

impl Difference {
    fn and(self, other: Difference) -> Difference {
        Difference {
            missing: self.missing + other.missing,
            surplus: self.surplus + other.surplus,
            example: self.example,
        }
    }
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
