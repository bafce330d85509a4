//! Pages of an order that a server may cut: they are those of the whole list, whatever the data are, and one query brings
//! them where all values are of a kind that servers compare as we do.

use std::fmt::Write as _;
use std::sync::Arc;

use call_context::{CallContext, Trace};
use graph_store::GraphStore;
use graph_store::query::{
    Dataset, NodeCondition, OrderKey, OrderStep, Page, Selection, SortBy, Step, Take, TypeTest,
    Window,
};
use oxrdf::vocab::rdf;
use oxrdf::{NamedNode, Quad};
use oxrdfio::RdfFormat;
use soml_core::datatype::Scalar;

use crate::back_end::{BackEnd, Kind};
use crate::images;
use crate::stores::runtime;

/// Whether one query brings a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// By the server, whichever page.
    Always,
    /// By us, whichever page.
    Never,
    /// By the server, if nothing in the rows of the page is unsure.
    Perhaps,
}

/// Values of one property, in Turtle: those of each object.
struct Case {
    scalar: Scalar,
    values: &'static [&'static str],
    cut: Cut,
}

const fn case(scalar: Scalar, values: &'static [&'static str], cut: Cut) -> Case {
    Case {
        scalar,
        values,
        cut,
    }
}

const CASES: &[Case] = &[
    case(
        Scalar::String,
        &["'b'", "'é'", "'a'", "'Z'", "''", "", "'a'", "'ab'", "'a'"],
        Cut::Always,
    ),
    case(Scalar::String, &["", "", ""], Cut::Always),
    // Several values, of which the smallest is shown.
    case(
        Scalar::String,
        &["'c', 'a'", "'b'", "'d', 'b'", "'a', 'z', 'k'", ""],
        Cut::Perhaps,
    ),
    // The orders by code unit and by code point differ.
    case(
        Scalar::String,
        &["'a'", "'\\U0001F600'", "'\\uFF21'", "'\\uFF21a'", "'b'"],
        Cut::Perhaps,
    ),
    // Of other kinds, also beyond the page.
    case(Scalar::String, &["'b'", "'a'", "'z'@en"], Cut::Never),
    case(Scalar::String, &["'b', 'c'@de", "'a'", "'c'"], Cut::Never),
    case(Scalar::String, &["'b'", "7", "'a'"], Cut::Never),
    case(Scalar::String, &["'b'", ":o", "'a'"], Cut::Never),
    case(Scalar::String, &["'b'", "[]", "'a'"], Cut::Never),
    case(
        Scalar::Int,
        &[
            "3",
            "'003'^^xsd:long",
            "10",
            "9",
            "-1",
            "",
            "'-0'^^xsd:int",
            "3",
        ],
        Cut::Always,
    ),
    case(Scalar::Int, &["3", "3000000000", "9"], Cut::Never),
    case(Scalar::Int, &["3", "'abc'^^xsd:integer", "9"], Cut::Never),
    case(Scalar::Int, &["3", "1.0", "9"], Cut::Never),
    case(Scalar::Int, &["3", "'4'", "9"], Cut::Never),
    case(
        Scalar::Decimal,
        &["1.50", "1.5", "2", "10.25", "-0.5", "", "2.0", "1.5"],
        Cut::Always,
    ),
    case(Scalar::Decimal, &["1.5", "1e0", "2"], Cut::Never),
    case(
        Scalar::Decimal,
        &["1.5", "1234567890123456.5", "2"],
        Cut::Never,
    ),
    case(
        Scalar::Double,
        &["1e0", "-0.0e0", "0e0", "1.5e10", "10e-1", "-2e0", ""],
        Cut::Always,
    ),
    case(
        Scalar::Double,
        &["1e0", "'NaN'^^xsd:double", "2e0"],
        Cut::Never,
    ),
    case(
        Scalar::Double,
        &["1e0", "'INF'^^xsd:double", "2"],
        Cut::Never,
    ),
    case(
        Scalar::Date,
        &[
            "'2020-02-29'^^xsd:date",
            "'2020-02-29Z'^^xsd:date",
            "'1999-12-31'^^xsd:date",
            "",
            "'2020-02-29'^^xsd:date",
        ],
        Cut::Always,
    ),
    case(
        Scalar::Date,
        &["'2021-02-29'^^xsd:date", "'2020-01-01'^^xsd:date"],
        Cut::Never,
    ),
    case(
        Scalar::Date,
        &["'2020-01-01+02:00'^^xsd:date", "'2020-01-01'^^xsd:date"],
        Cut::Never,
    ),
    case(
        Scalar::DateTime,
        &[
            "'2020-01-01T00:00:00.5'^^xsd:dateTime",
            "'2020-01-01T00:00:00Z'^^xsd:dateTime",
            "'2020-01-01T00:00:00'^^xsd:dateTime",
            "'2020-01-01T00:00:00.000Z'^^xsd:dateTime",
            "'2020-01-01T00:00:01Z'^^xsd:dateTime",
            "'2019-12-31T23:59:59Z'^^xsd:dateTime",
            "",
        ],
        Cut::Always,
    ),
    case(
        Scalar::DateTime,
        &[
            "'2020-01-01T00:00:00+01:00'^^xsd:dateTime",
            "'2020-01-01T00:00:00Z'^^xsd:dateTime",
        ],
        Cut::Never,
    ),
    case(
        Scalar::DateTime,
        &[
            "'2020-01-01T24:00:00Z'^^xsd:dateTime",
            "'2020-01-02T00:00:00Z'^^xsd:dateTime",
        ],
        // Some servers keep this as the beginning of the next day.
        Cut::Perhaps,
    ),
];

/// What things refer to: of most, one counts.
const PARTS: &[&str] = &[":c", ":a", "'a'", ":d", ":b", "", "[]", ":c", ":a, :d, 1"];

/// Returns things with the values of a case; each also has a name that two of them share.
fn quads(case: &Case) -> Vec<Quad> {
    let mut text = String::from(
        "@prefix : <http://e/> . @prefix v: <http://v/> .
         @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n",
    );
    let total = case.values.len();
    for (number, values) in case.values.iter().enumerate() {
        let (id, name) = (total - number, number / 2);
        writeln!(text, ":t{id} a v:Thing ; v:name 'n{name}' .").expect("writing to a string");
        if !values.is_empty() {
            writeln!(text, ":t{id} v:key {values} .").expect("writing to a string");
        }
        // Several, of which the smallest is shown, may take more rows than there are on a page.
        let parts = match (case.cut, number) {
            (Cut::Perhaps, 0) => ":c, :b",
            _ => PARTS[number % PARTS.len()],
        };
        if !parts.is_empty() {
            writeln!(text, ":t{id} v:part {parts} .").expect("writing to a string");
        }
    }
    text.push_str(":a a v:Part . :b a v:Part, v:Piece . :c a v:Piece . :d a v:Thing2 .\n");
    // In a graph, too: a triple counts once.
    let name = (total - 1) / 2;
    writeln!(text, ":g {{ :t1 a v:Thing ; v:name 'n{name}' }}").expect("writing to a string");
    images::quads(RdfFormat::TriG, text)
}

fn by(property: &str, scalar: Scalar, descending: bool) -> OrderKey {
    let step = Step::forward(NamedNode::new_unchecked(format!("http://v/{property}")));
    let by = SortBy::Scalar {
        scalar,
        cast: false,
        lang: None,
    };
    OrderKey::new(vec![OrderStep::new(step)], by, descending)
}

/// Orders by the ids of parts.
fn by_part(types: &[&str], descending: bool) -> OrderKey {
    let types = types.iter();
    let types = types.map(|ty| NamedNode::new_unchecked(format!("http://v/{ty}")));
    let mut step = OrderStep::new(Step::forward(NamedNode::new_unchecked("http://v/part")));
    step.tests = vec![TypeTest::new(rdf::TYPE.into_owned(), types.collect())];
    OrderKey::new(vec![step], SortBy::Iri, descending)
}

fn orders(scalar: Scalar) -> Vec<Vec<OrderKey>> {
    let key = |descending| by("key", scalar, descending);
    let name = |descending| by("name", Scalar::String, descending);
    let id = |descending| OrderKey::new(Vec::new(), SortBy::Iri, descending);
    vec![
        vec![key(false)],
        vec![key(true)],
        vec![name(false), key(true)],
        vec![key(false), name(true)],
        vec![key(true), id(true)],
        vec![id(true), key(false)],
        vec![by_part(&["Part", "Piece"], false), key(false)],
        vec![by_part(&["Part"], true), key(false)],
        vec![key(true), by_part(&["Part", "Piece"], true)],
    ]
}

fn selection(order: Vec<OrderKey>, offset: Option<u64>, limit: Option<u64>) -> Selection {
    let thing = NamedNode::new_unchecked("http://v/Thing");
    Selection {
        condition: NodeCondition::Instance(TypeTest::new(rdf::TYPE.into_owned(), vec![thing])),
        order,
        page: Page { offset, limit },
        dataset: Dataset::default(),
    }
}

/// Returns the ids of a selection, and the number of queries.
fn select(store: &dyn GraphStore, selection: &Selection) -> (Vec<String>, u64) {
    let trace = Arc::new(Trace::default());
    let context = CallContext::new().with_trace(Arc::clone(&trace));
    let found = runtime().block_on(store.select(selection, &context));
    let found = found.unwrap_or_else(|error| panic!("no selection: {error:?}"));
    let ids = found.iter().map(|object| object.iri().to_owned());
    (ids.collect(), trace.calls())
}

fn check(kind: Kind) {
    let _entered = runtime().enter();
    let (embedded, asked) = (BackEnd::new(Kind::Image), BackEnd::new(kind));
    for case in CASES {
        let quads = quads(case);
        embedded.load(&quads);
        asked.load(&quads);
        for order in orders(case.scalar) {
            check_pages(
                case,
                &order,
                &*embedded.graph_store(),
                &*asked.graph_store(),
            );
            check_windows(&order, &*embedded.graph_store(), &*asked.graph_store());
        }
    }
}

/// Compares pages with parts of the whole list in the embedded store.
fn check_pages(case: &Case, order: &[OrderKey], embedded: &dyn GraphStore, asked: &dyn GraphStore) {
    let whole = selection(order.to_vec(), None, None);
    let (whole, _) = select(embedded, &whole);
    assert_eq!(whole.len(), case.values.len());
    for offset in [None, Some(1), Some(3)] {
        for limit in 1..=case.values.len() as u64 + 1 {
            let page = selection(order.to_vec(), offset, Some(limit));
            let (found, queries) = select(asked, &page);
            let what = format!("{:?} {offset:?} {limit} {order:?}", case.values);
            assert_eq!(found, whole[page.page.range(whole.len())], "{what}");
            match case.cut {
                Cut::Always => assert_eq!(queries, 1, "{what}"),
                Cut::Never => assert_eq!(queries, 2, "{what}"),
                Cut::Perhaps => assert!((1..=2).contains(&queries), "{what}"),
            }
        }
    }
}

fn check_windows(order: &[OrderKey], embedded: &dyn GraphStore, asked: &dyn GraphStore) {
    let whole = selection(order.to_vec(), None, None);
    for limit in [0, 1, 2, 100] {
        let window = Window {
            take: Take::First(limit),
            ..Window::default()
        };
        let context = CallContext::new();
        let of = |store: &dyn GraphStore| {
            let windowed = runtime().block_on(store.select_window(&whole, &window, &context));
            windowed.unwrap_or_else(|error| panic!("no window: {error:?}"))
        };
        assert_eq!(of(asked), of(embedded), "{limit} {order:?}");
    }
}

#[test]
fn pages_are_parts_of_the_whole_list() {
    check(Kind::Remote);
}

#[test]
fn so_they_are_where_graphs_stand_apart() {
    check(Kind::RemoteApart);
}

#[test]
#[ignore = "needs a running RDF4J Server named by RDF4J_URL"]
fn so_they_are_over_rdf4j() {
    check(Kind::Rdf4j { infers: false });
}

#[test]
#[ignore = "needs a running Fuseki server named by FUSEKI_URL"]
fn so_they_are_over_fuseki() {
    check(Kind::Fuseki);
}

#[test]
fn the_server_is_told_what_must_be_true_of_each_key() {
    let back_end = BackEnd::new(Kind::Remote);
    let trace = Arc::new(Trace::default());
    let context = CallContext::new().with_trace(Arc::clone(&trace));
    let order = vec![
        by("key", Scalar::String, false),
        by("name", Scalar::Int, true),
    ];
    let page = selection(order, Some(2), Some(3));
    let found = runtime().block_on(back_end.graph_store().select(&page, &context));
    assert!(found.expect("a selection").is_empty());
    let queries: Vec<_> = trace
        .steps()
        .into_iter()
        .filter_map(|step| step.sparql)
        .collect();
    assert_eq!(queries, [EXPECTED]);
}

const EXPECTED: &str = r#"SELECT DISTINCT ?c0 ?fits ?k0 ?k1 ?w0 ?w1 WHERE { { SELECT DISTINCT ?c0 (IF((COALESCE((DATATYPE(?k0) IN (<http://www.w3.org/2001/XMLSchema#string>)), !BOUND(?k0)) && COALESCE(((DATATYPE(?k1) IN (<http://www.w3.org/2001/XMLSchema#integer>, <http://www.w3.org/2001/XMLSchema#long>, <http://www.w3.org/2001/XMLSchema#int>)) && REGEX(STR(?k1), "^-?[0-9]{1,9}$")), !BOUND(?k1))), "1"^^<http://www.w3.org/2001/XMLSchema#integer>, "0"^^<http://www.w3.org/2001/XMLSchema#integer>) AS ?fits) ?k0 ?k1 WHERE { ?c0 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://v/Thing> . FILTER(isIRI(?c0)) OPTIONAL { ?c0 <http://v/key> ?k0 . } OPTIONAL { ?c0 <http://v/name> ?k1 . } BIND(?k1 + "0"^^<http://www.w3.org/2001/XMLSchema#integer> AS ?o1) } ORDER BY ASC(?fits) ASC(?k0) DESC(?o1) ASC(STR(?c0)) LIMIT 5 } OPTIONAL { { ?c0 <http://v/key> ?w0 . } UNION { ?c0 <http://v/name> ?w1 . } } }"#;
