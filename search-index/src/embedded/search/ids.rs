//! The ids of the documents of an index, page by page.

use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, InvertedIndexReader, TERMINATED};

use super::compile::Result;
use super::watch::Watch;
use crate::embedded::error::failed;
use crate::embedded::layout::ID;
use crate::embedded::snapshot::{Segment, Snapshot};

/// Returns the first `size` ids behind `after`, in ascending order.
pub(in crate::embedded) fn ids(
    snapshot: &Snapshot,
    after: Option<&str>,
    size: usize,
    watch: &Watch,
) -> Result<Vec<String>> {
    let mut ids: Vec<String> = Vec::new();
    for segment in &snapshot.segments {
        watch.check()?;
        let field = segment.reader.schema().get_field(ID).map_err(failed)?;
        let index = segment.reader.inverted_index(field).map_err(failed)?;
        let range = index.terms().range();
        let range = match after {
            Some(after) => range.gt(after),
            None => range,
        };
        let mut terms = range.into_stream().map_err(failed)?;
        let mut left = size;
        while left > 0
            && let Some((term, info)) = terms.next()
        {
            watch.step()?;
            if is_there(segment, &index, info)? {
                watch.hold(term.len())?;
                ids.push(String::from_utf8_lossy(term).into_owned());
                left -= 1;
            }
        }
        // Each segment has at most `size` of the least.
        ids.sort_unstable();
        ids.dedup();
        ids.truncate(size);
    }
    Ok(ids)
}

/// Returns whether a document with the term is not deleted.
fn is_there(segment: &Segment, index: &InvertedIndexReader, info: &TermInfo) -> Result<bool> {
    let mut postings = index
        .read_postings_from_terminfo(info, IndexRecordOption::Basic)
        .map_err(failed)?;
    while postings.doc() != TERMINATED {
        if segment.is_alive(postings.doc()) {
            return Ok(true);
        }
        postings.advance();
    }
    Ok(false)
}
