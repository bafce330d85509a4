//! The ids of all documents, page by page.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;

use super::answer::Shards;

#[derive(Deserialize)]
struct Page {
    timed_out: bool,
    #[serde(rename = "_shards")]
    shards: Shards,
    // What is empty is filtered out.
    #[serde(default)]
    hits: Hits,
}

#[derive(Default, Deserialize)]
struct Hits {
    #[serde(default)]
    hits: Vec<Sorted>,
}

#[derive(Deserialize)]
struct Sorted {
    sort: [String; 1],
}

/// Returns the body of the search for a page of ids.
pub(super) fn body(after: Option<&str>, size: usize) -> String {
    let mut body = json!({
        // An id that is too long for a keyword is in no order.
        "query": {"exists": {"field": "id"}},
        "sort": [{"id": "asc"}],
        "size": size,
        // The ids are the sort keys: reading what is stored would take most of the time.
        "stored_fields": "_none_",
        "track_total_hits": false,
    });
    if let Some(after) = after {
        body["search_after"] = json!([after]);
    }
    body.to_string()
}

/// Reads a page.
pub(super) fn read(body: &Bytes) -> Result<Vec<String>, String> {
    let page: Page = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    page.shards.check()?;
    if page.timed_out {
        return Err("the search timed out".to_owned());
    }
    let ids = page.hits.hits.into_iter();
    Ok(ids.map(|Sorted { sort: [id] }| id).collect())
}
