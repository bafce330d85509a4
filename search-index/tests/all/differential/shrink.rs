//! Makes a search that differs smaller while it still differs.

use search_index::document::Document;
use search_index::dsl::{Aggregation, Nested, Query, Search, Sort};

/// Maximum number of smaller searches, and of smaller sets of documents, that are tried.
const ATTEMPTS: usize = 150;

/// Returns the smallest search found for which `differs` holds.
pub(crate) fn smallest_search(
    mut search: Search,
    mut differs: impl FnMut(&Search) -> bool,
) -> Search {
    let mut left = ATTEMPTS;
    let mut try_one = |search: &Search| {
        left = left.saturating_sub(1);
        left > 0 && differs(search)
    };
    while let Some(smaller) = smaller(&search).into_iter().find(&mut try_one) {
        search = smaller;
    }
    search
}

/// Returns the fewest documents found for which `differs` holds.
pub(crate) fn fewest_documents(
    mut documents: Vec<Document>,
    mut differs: impl FnMut(&[Document]) -> bool,
) -> Vec<Document> {
    let mut left = ATTEMPTS;
    let mut size = documents.len() / 2;
    while size > 0 && left > 0 {
        let mut start = 0;
        while start < documents.len() && left > 0 {
            let mut fewer = documents.clone();
            fewer.drain(start..(start + size).min(documents.len()));
            left -= 1;
            if differs(&fewer) {
                documents = fewer
            } else {
                start += size
            }
        }
        size /= 2;
    }
    documents
}

/// Lists searches that lack one thing that a search has.
fn smaller(search: &Search) -> Vec<Search> {
    let mut all = Vec::new();
    let mut put = |edit: &dyn Fn(&mut Search)| {
        let mut smaller = search.clone();
        edit(&mut smaller);
        if smaller != *search {
            all.push(smaller);
        }
    };
    put(&|search| search.query = None);
    put(&|search| search.post_filter = None);
    put(&|search| search.aggregations.clear());
    put(&|search| search.source.clear());
    put(&|search| search.search_after = None);
    put(&|search| search.min_score = None);
    put(&|search| search.from = 0);
    put(&|search| search.track_scores = false);
    for at in 0..search.sort.len() {
        // Values of `search_after` go with the keys.
        let is_last = search.sort[at] == Sort::field("id");
        if search.search_after.is_none() && !is_last {
            put(&|search| drop(search.sort.remove(at)));
        }
    }
    for at in 0..search.aggregations.len() {
        put(&|search| drop(search.aggregations.remove(at)));
        for inner in inner_aggregations(&search.aggregations[at]) {
            put(&|search| search.aggregations[at] = inner.clone());
        }
    }
    for query in search.query.iter().flat_map(smaller_queries) {
        put(&|search| search.query = Some(query.clone()));
    }
    for query in search.post_filter.iter().flat_map(smaller_queries) {
        put(&|search| search.post_filter = Some(query.clone()));
    }
    all
}

/// Lists aggregations with fewer inside.
fn inner_aggregations(aggregation: &Aggregation) -> Vec<Aggregation> {
    let mut all = Vec::new();
    for at in 0..aggregation.aggregations.len() {
        let mut fewer = aggregation.clone();
        fewer.aggregations.remove(at);
        all.push(fewer);
        for inner in inner_aggregations(&aggregation.aggregations[at]) {
            let mut fewer = aggregation.clone();
            fewer.aggregations[at] = inner;
            all.push(fewer);
        }
    }
    all
}

/// Lists clauses that are inside of a clause, and the clause with one of these smaller or left out.
fn smaller_queries(query: &Query) -> Vec<Query> {
    let mut all = Vec::new();
    match query {
        Query::Bool(of) => {
            all.extend(
                [&of.must, &of.filter, &of.should]
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
            for list in 0..4 {
                let lists = |of: &search_index::dsl::Bool| match list {
                    0 => of.must.clone(),
                    1 => of.filter.clone(),
                    2 => of.should.clone(),
                    _ => of.must_not.clone(),
                };
                for at in 0..lists(of).len() {
                    let mut put = |queries: Vec<Query>| {
                        let mut fewer = of.clone();
                        *[
                            &mut fewer.must,
                            &mut fewer.filter,
                            &mut fewer.should,
                            &mut fewer.must_not,
                        ][list] = queries;
                        all.push(Query::Bool(fewer));
                    };
                    let mut without = lists(of);
                    without.remove(at);
                    put(without);
                    for smaller in smaller_queries(&lists(of)[at]) {
                        let mut with = lists(of);
                        with[at] = smaller;
                        put(with);
                    }
                }
            }
            let mut plain = of.clone();
            (plain.minimum_should_match, plain.boost) = (None, None);
            all.push(Query::Bool(plain));
        }
        Query::DisMax(of) => {
            all.extend(of.queries.iter().cloned());
            for at in 0..of.queries.len() {
                let mut fewer = of.clone();
                fewer.queries.remove(at);
                if !fewer.queries.is_empty() {
                    all.push(Query::DisMax(fewer));
                }
                for smaller in smaller_queries(&of.queries[at]) {
                    let mut with = of.clone();
                    with.queries[at] = smaller;
                    all.push(Query::DisMax(with));
                }
            }
        }
        Query::ConstantScore { filter, boost } => {
            all.push((**filter).clone());
            for smaller in smaller_queries(filter) {
                let filter = Box::new(smaller);
                all.push(Query::ConstantScore {
                    filter,
                    boost: *boost,
                });
            }
        }
        Query::Nested(of) => {
            for smaller in smaller_queries(&of.query) {
                let query = Box::new(smaller);
                all.push(Query::Nested(Nested {
                    query,
                    ..of.clone()
                }));
            }
        }
        Query::Terms(terms) if terms.values.len() > 1 => {
            for at in 0..terms.values.len() {
                let mut fewer = terms.clone();
                fewer.values.remove(at);
                all.push(Query::Terms(fewer));
            }
        }
        _ => {}
    }
    all.retain(|smaller| smaller != query);
    all
}
