//! The capabilities of reading. A further one is a further row here and in `docs/internals/seams.md`.

/// The service that has a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    Objects,
    Search,
}

/// A capability of reading.
pub(crate) struct Row {
    /// What is read.
    pub(crate) name: &'static str,
    pub(crate) service: Service,
    /// An operation that reads it.
    pub(crate) query: &'static str,
}

const fn objects(name: &'static str, query: &'static str) -> Row {
    let service = Service::Objects;
    Row {
        name,
        service,
        query,
    }
}

const fn search(name: &'static str, query: &'static str) -> Row {
    let service = Service::Search;
    Row {
        name,
        service,
        query,
    }
}

/// Each capability, once. Lists are ordered, since an order that nobody asked for may be any.
pub(crate) const ROWS: &[Row] = &[
    objects(
        "a page in an order",
        "{ painting(orderBy: {title: ASC}, limit: 3, offset: 1) { id title } }",
    ),
    objects(
        "an object by its id",
        "{ painting(ID: [\"http://museum.example/self\"]) { id name technique } }",
    ),
    objects(
        "an id that nothing has",
        "{ painting(ID: [\"http://museum.example/nothing\"]) { id } }",
    ),
    objects(
        "values of all kinds",
        "{ painting(orderBy: {title: ASC}) { title price technique restored label(lang: \"nl,ANY\") { value lang } } }",
    ),
    objects(
        "objects of an interface",
        "{ work(orderBy: {title: ASC}) { __typename id title ... on Painting { technique price } ... on Sculpture { weight material } } }",
    ),
    objects(
        "references",
        "{ painting(orderBy: {title: ASC}) { title maker { fullName secret teacher { name } } room { number alarm } } }",
    ),
    objects(
        "references in inverse direction",
        "{ artist(orderBy: {born: ASC}) { fullName works(orderBy: {title: DESC}, limit: 1) { __typename title } works_count } }",
    ),
    objects(
        "conditions",
        "{ painting(where: {maker: {fullName: {EQ: \"Frans\"}}, year: {GT: 1600}}, orderBy: {title: ASC}) { title } }",
    ),
    objects(
        "a condition on what may be denied",
        "{ artist(where: {secret: {EQ: \"debts\"}}) { fullName } }",
    ),
    objects(
        "counts",
        "{ work_count painting_count(where: {year: {GTE: 1639}}) artist(orderBy: {fullName: ASC}) { works_count } }",
    ),
    objects(
        "aggregates and groups",
        "{ painting_aggregate { count price { min max sum } groups(by: [maker], orderBy: {count: DESC}) { key { maker } count } } }",
    ),
    objects(
        "pages by cursors",
        "{ paintingConnection(first: 2, orderBy: {title: ASC}) { edges { cursor node { title price } } pageInfo { hasNextPage endCursor } totalCount } }",
    ),
    objects(
        "several root fields, of which one may be denied",
        "{ room(orderBy: {number: ASC}) { number alarm } artist(orderBy: {fullName: ASC}) { fullName secret } }",
    ),
    objects(
        "the names of types",
        "{ room { __typename } artist { __typename } }",
    ),
    objects(
        "aliases, fragments and conditions on fields",
        "query ($no: Boolean = false) { a: painting(limit: 1, orderBy: {title: ASC}) { ...F } b: painting(limit: 1, orderBy: {title: DESC}) { ...F } } \
         fragment F on Painting { t: title t2: name y: restored @include(if: $no) m: maker @skip(if: $no) { n: name } }",
    ),
    objects(
        "values that do not fit, and too many of them",
        "{ painting(orderBy: {title: ASC}) { title year } }",
    ),
    objects(
        "a request that is refused",
        "{ painting(where: {title: {RE: \"(?=x)\"}}) { title } }",
    ),
    search(
        "hits of a text",
        "{ painting_search(query: {match: {title: {query: \"laughing\"}}}) { total { value } max_score hits { score painting { id __typename } } } }",
    ),
    search(
        "hits in an order",
        "{ painting_search(sort: [{title: {order: ASC}}], size: 3) { hits { sort painting { id } } } }",
    ),
    search(
        "facets",
        "{ painting_search(size: 0, aggregations: [{name: \"t\", terms: {field: technique, size: 5}}]) { aggregations { name buckets { key doc_count } } } }",
    ),
    search(
        "conditions on embedded objects",
        "{ painting_search(query: {match: {maker: {fullName: {query: \"frans\"}}}}) { total { value } hits { painting { id } } } }",
    ),
    search(
        "a search that is refused",
        "{ painting_search(query: {range: {restored: {gte: \"yesterday\"}}}) { hits { painting { id } } } }",
    ),
];
