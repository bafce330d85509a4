//! Operations of the search API as searches.

use std::sync::{Arc, LazyLock};

use search_index::dsl::Search;
use search_index::graphql_service::{Documents, Limits, Prepared, Request, RequestContext};
use search_index::limits::SearchLimits;
use search_index::mapping::FindingKind;
use search_index::sdl::SearchApi;
use serde_json::{Value, json};

use crate::{indexes, schema};

pub(crate) const SKY: &str = "
id: /soml/sky
objects:
  Planet:
    search: {index: yes, analysis: {lang: {en: {analyzer: english}, en-GB: {analyzer: simple}}}}
    props:
      title: {label: Title of it}
      label: {range: langString, max: inf}
      diameter: {range: int}
      mass: {range: decimal}
      heat: {range: double}
      moon: {range: boolean}
      seen: {range: dateTime}
      rises: {range: time}
      tiny: {range: byte}
      huge: {range: unsignedLong}
      ruler: {range: Person, search: {type: {nestingLevel: 2}}}
      people: {range: Person, max: inf, search: {type: {nestingLevel: 2}}}
  Person:
    search: yes
    props: {alias: {}, height: {range: double}, pets: {range: Pet, max: inf}}
  Pet: {search: yes, props: {kind: {}}}
";

pub(crate) static API: LazyLock<SearchApi> = LazyLock::new(|| api(SKY).expect("the API is valid"));

static DOCUMENTS: LazyLock<Documents> =
    LazyLock::new(|| Documents::new(API.schema(), Limits::default(), 1 << 20));

fn api(text: &str) -> Result<SearchApi, Vec<&'static str>> {
    let indexes = indexes(text).expect("the schema can be searched");
    SearchApi::new(Arc::new(schema(text)), indexes)
        .map_err(|error| error.findings.iter().map(|finding| finding.code).collect())
}

/// Prepares a request that fits the API.
pub(crate) fn prepared(request: &Request) -> Prepared {
    let prepared = DOCUMENTS.read(request, &RequestContext::new());
    prepared.unwrap_or_else(|errors| panic!("{}: {errors:?}", request.query))
}

/// Returns the search of the first root field of an operation, whose variables are JSON text, or the codes of what
/// is wrong.
fn search_with(operation: &str, variables: &str) -> Result<Search, Vec<&'static str>> {
    let request = Request::new(operation);
    let request = request.with_variables_from_json(variables, DOCUMENTS.limits());
    let prepared = prepared(&request.expect("an object"));
    match API.searches(&prepared, &SearchLimits::default()) {
        Ok(mut searches) => Ok(searches.remove(0).search),
        Err(errors) => Err(errors.iter().map(|error| error.code.as_str()).collect()),
    }
}

pub(crate) fn search(operation: &str) -> Result<Search, Vec<&'static str>> {
    search_with(operation, "{}")
}

/// Returns the body of a search for planets.
fn body(arguments: &str) -> Value {
    let operation = format!("{{ planet_search{arguments} {{ hits {{ id }} }} }}");
    search(&operation)
        .unwrap_or_else(|codes| panic!("{arguments}: {codes:?}"))
        .to_json()
}

/// Returns the clause of a search for planets.
fn clause(query: &str) -> Value {
    body(&format!("(query: {{{query}}})"))["query"].take()
}

fn refusal(arguments: &str) -> Vec<&'static str> {
    let operation = format!("{{ planet_search({arguments}) {{ hits {{ id }} }} }}");
    search(&operation).expect_err(arguments)
}

fn refused(query: &str) -> Vec<&'static str> {
    refusal(&format!("query: {{{query}}}"))
}

#[test]
fn a_search_without_arguments_is_for_everything() {
    let search = search("{ planet_search { max_score hits { score planet { id title } } } }");
    assert_eq!(
        search.expect("valid").to_json(),
        json!({
            "from": 0,
            "size": 10,
            "sort": [{"_score": {"order": "desc"}}, {"id": {"order": "asc", "missing": "_last"}}],
            "track_scores": true,
            "track_total_hits": true,
            "_source": ["id", "title"],
        })
    );
}

#[test]
fn the_documented_example_is_the_documented_body() {
    let found = body(
        r#"(query: {bool: {must: {match: {title: {query: "Tatoine", fuzziness: "2"}}},
                           filter: [{range: {heat: {gte: "1000"}}}]}}, from: 0, size: 5)"#,
    );
    assert_eq!(
        found["query"],
        json!({"bool": {
            "must": [{"match": {"title": {"query": "Tatoine", "fuzziness": "2"}}}],
            "filter": [{"range": {"heat": {"gte": 1000.0}}}],
        }})
    );
    assert_eq!((&found["from"], &found["size"]), (&json!(0), &json!(5)));
}

#[test]
fn a_single_clause_is_a_list_of_one() {
    let list = clause("bool: {must: [{match_all: {}}]}");
    assert_eq!(clause("bool: {must: {match_all: {}}}"), list);
}

#[test]
fn every_clause_is_the_engines_own() {
    let cases = [
        (
            "match_all: {boost: 2}",
            json!({"match_all": {"boost": 2.0}}),
        ),
        ("match_none: {}", json!({"match_none": {}})),
        (
            r#"match: {title: {query: "a", operator: AND, fuzziness: "AUTO", prefix_length: 1, max_expansions: 20,
                fuzzy_transpositions: false, minimum_should_match: "75%", lenient: true, zero_terms_query: ALL, boost: 4.0}}"#,
            json!({"match": {"title": {"query": "a", "operator": "and", "fuzziness": "AUTO", "prefix_length": 1,
                "max_expansions": 20, "fuzzy_transpositions": false, "minimum_should_match": "75%", "lenient": true,
                "zero_terms_query": "all", "boost": 4.0}}}),
        ),
        (
            r#"term: {title: {value: "a"}}"#,
            json!({"term": {"title": {"value": "a"}}}),
        ),
        (
            r#"term: {title_keyword: {value: "A b", case_insensitive: true}}"#,
            json!({"term": {"title.keyword": {"value": "A b", "case_insensitive": true}}}),
        ),
        (
            r#"term: {id: {value: "http://e/1"}}"#,
            json!({"term": {"id": {"value": "http://e/1"}}}),
        ),
        (
            "terms: {diameter: {values: [1, \"2\"], boost: 3}}",
            json!({"terms": {"diameter": [1, 2], "boost": 3.0}}),
        ),
        (
            "range: {diameter: {gt: 1, lte: 5}}",
            json!({"range": {"diameter": {"gte": 2, "lte": 5}}}),
        ),
        (
            "exists: {field: title}",
            json!({"exists": {"field": "title"}}),
        ),
        (
            "exists: {field: mass}",
            json!({"exists": {"field": "mass$exact"}}),
        ),
        (
            r#"ids: {values: ["http://e/1"]}"#,
            json!({"ids": {"values": ["http://e/1"]}}),
        ),
        (
            r#"prefix: {title: {value: "ta"}}"#,
            json!({"prefix": {"title": {"value": "ta"}}}),
        ),
        (
            r#"constant_score: {filter: {term: {moon: {value: true}}}, boost: 2}"#,
            json!({"constant_score": {"filter": {"term": {"moon": {"value": true}}}, "boost": 2.0}}),
        ),
        (
            "dis_max: {queries: [{match_all: {}}, {match_none: {}}], tie_breaker: 0.5}",
            json!({"dis_max": {"queries": [{"match_all": {}}, {"match_none": {}}], "tie_breaker": 0.5}}),
        ),
        (
            r#"bool: {should: [{match_all: {}}], must_not: [{match_none: {}}], minimum_should_match: "2<-25% 9<-3"}"#,
            json!({"bool": {"should": [{"match_all": {}}], "must_not": [{"match_none": {}}],
                "minimum_should_match": "2<-25% 9<-3"}}),
        ),
    ];
    for (query, expected) in cases {
        assert_eq!(clause(query), expected, "{query}");
    }
}

#[test]
fn properties_of_embedded_objects_are_wrapped_where_they_are_nested() {
    let cases = [
        (
            r#"match: {people: {alias: {query: "luke"}}}"#,
            json!({"nested": {"path": "people", "query": {"match": {"people.alias": {"query": "luke"}}}}}),
        ),
        (
            r#"match: {ruler: {alias: {query: "luke"}}}"#,
            json!({"match": {"ruler.alias": {"query": "luke"}}}),
        ),
        (
            r#"term: {people: {pets: {kind_keyword: {value: "cat"}}}}"#,
            json!({"nested": {"path": "people.pets", "query": {"term": {"people.pets.kind.keyword": {"value": "cat"}}}}}),
        ),
        (
            r#"nested: {ruler: {pets: {query: {term: {kind_keyword: {value: "cat"}}}}}}"#,
            json!({"nested": {"path": "ruler.pets", "query": {"term": {"ruler.pets.kind.keyword": {"value": "cat"}}}}}),
        ),
        (
            "exists: {field: people__height}",
            json!({"nested": {"path": "people", "query": {"exists": {"field": "people.height"}}}}),
        ),
        (
            r#"nested: {people: {score_mode: MAX, query: {bool: {must: [
                {match: {alias: {query: "luke"}}}, {range: {height: {lt: 2}}}, {term: {pets: {kind: {value: "cat"}}}}]}}}}"#,
            json!({"nested": {"path": "people", "score_mode": "max", "query": {"bool": {"must": [
                {"match": {"people.alias": {"query": "luke"}}},
                {"range": {"people.height": {"lt": 2.0}}},
                {"nested": {"path": "people.pets", "query": {"term": {"people.pets.kind": {"value": "cat"}}}}},
            ]}}}}),
        ),
    ];
    for (query, expected) in cases {
        assert_eq!(clause(query), expected, "{query}");
    }
}

#[test]
fn numbers_compare_by_value() {
    let none = json!({"match_none": {}});
    let exists = |field: &str| json!({"exists": {"field": field}});
    let cases = [
        ("term: {tiny: {value: 300}}", none.clone()),
        ("term: {tiny: {value: 1.5}}", none.clone()),
        (
            r#"term: {tiny: {value: "1e1"}}"#,
            json!({"term": {"tiny": {"value": 10}}}),
        ),
        (
            "terms: {tiny: {values: [1, 300]}}",
            json!({"terms": {"tiny": [1]}}),
        ),
        ("range: {tiny: {gt: 127}}", none.clone()),
        ("range: {tiny: {lt: 300}}", exists("tiny")),
        (
            "range: {tiny: {gte: -129, lt: 1.5}}",
            json!({"range": {"tiny": {"lte": 1}}}),
        ),
        (
            "range: {tiny: {gte: -1.5}}",
            json!({"range": {"tiny": {"gte": -1}}}),
        ),
        (
            "range: {tiny: {gt: -1}}",
            json!({"range": {"tiny": {"gte": 0}}}),
        ),
        (
            "range: {tiny: {lt: -0.5}}",
            json!({"range": {"tiny": {"lte": -1}}}),
        ),
        (
            "range: {tiny: {lt: 0}}",
            json!({"range": {"tiny": {"lte": -1}}}),
        ),
        ("range: {huge: {gte: -5}}", exists("huge")),
        (
            "term: {huge: {value: 18446744073709551615}}",
            json!({"term": {"huge": {"value": u64::MAX}}}),
        ),
        ("term: {huge: {value: 18446744073709551616}}", none.clone()),
        (r#"range: {heat: {gt: "1e999"}}"#, none.clone()),
        (r#"range: {heat: {lt: "1e999"}}"#, exists("heat")),
        (
            r#"term: {heat: {value: "177"}}"#,
            json!({"term": {"heat": {"value": 177.0}}}),
        ),
        (
            r#"term: {mass: {value: "12.50", boost: 2}}"#,
            json!({"constant_score": {"filter": {"term": {"mass$exact": {"value": "250002125"}}}, "boost": 2.0}}),
        ),
        (
            "range: {mass: {lt: 0}}",
            json!({"range": {"mass$exact": {"lt": "1"}}}),
        ),
        (r#"range: {mass: {lt: "1e999"}}"#, exists("mass$exact")),
    ];
    for (query, expected) in cases {
        assert_eq!(clause(query), expected, "{query}");
    }
    for query in [
        r#"term: {tiny: {value: "many"}}"#,
        r#"range: {heat: {gt: "inf"}}"#,
        r#"term: {heat: {value: "NaN"}}"#,
        "term: {mass: {value: true}}",
        r#"term: {moon: {value: "yes"}}"#,
        r#"term: {rises: {value: "noon"}}"#,
        "term: {title: {value: [1]}}",
    ] {
        assert_eq!(refused(query), ["OPERAND_INVALID"], "{query}");
    }
    assert_eq!(
        clause(r#"match: {tiny: {query: "many", lenient: true}}"#),
        none
    );
}

#[test]
fn dates_have_one_form() {
    assert_eq!(
        clause(r#"range: {seen: {gte: "1970-01-01T00:00:01Z"}}"#),
        json!({"range": {"seen": {"gte": 1000}}})
    );
    for text in [
        "1970-01-01",
        "1970-01-01T00:00:00.5",
        "now",
        "0",
        "1970-01-01T00:00:00+00:00",
    ] {
        assert_eq!(
            refused(&format!("range: {{seen: {{gte: \"{text}\"}}}}")),
            ["DATE_FORMAT"],
            "{text}"
        );
    }
}

#[test]
fn a_language_covers_those_that_begin_with_it() {
    let any = clause(r#"match: {label: {query: "a"}}"#);
    let fields: Vec<_> = any["dis_max"]["queries"]
        .as_array()
        .expect("several")
        .iter()
        .map(|query| {
            query["match"]
                .as_object()
                .expect("a match")
                .keys()
                .next()
                .expect("a field")
                .as_str()
        })
        .collect();
    assert_eq!(fields, ["label", "label$en", "label$en-gb"]);
    let english = clause(r#"match: {label: {query: "a", lang: "EN"}}"#);
    assert_eq!(
        english["dis_max"]["queries"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(
        clause(r#"term: {label: {value: "a", lang: "en-GB"}}"#),
        json!({"term": {"label$en-gb": {"value": "a"}}})
    );
    for lang in ["fr", "e", "en-US", ""] {
        assert_eq!(
            refused(&format!(
                "match: {{label: {{query: \"a\", lang: \"{lang}\"}}}}"
            )),
            ["LANGUAGE_NOT_INDEXED"]
        );
    }
    assert_eq!(
        clause(r#"term: {label_keyword: {value: "a"}}"#),
        json!({"term": {"label$keyword": {"value": "a"}}})
    );
}

#[test]
fn sort_keys_end_with_the_id() {
    let sort = |keys: &str| body(&format!("(sort: {keys})"))["sort"].take();
    let id = json!({"id": {"order": "asc", "missing": "_last"}});
    let cases = [
        (
            "{title: {}}",
            json!([{"title.keyword": {"order": "asc", "missing": "_last"}}, id]),
        ),
        (
            "{_score: {order: ASC}}",
            json!([{"_score": {"order": "asc"}}, id]),
        ),
        (
            "{id: {order: DESC}}",
            json!([{"id": {"order": "desc", "missing": "_last"}}]),
        ),
        (
            "[{mass: {order: DESC, missing: _first, mode: MAX}}, {label: {}}]",
            json!([
                {"mass$exact": {"order": "desc", "missing": "_first", "mode": "max"}},
                {"label$keyword": {"order": "asc", "missing": "_last"}},
                id
            ]),
        ),
        (
            "{people: {height: {mode: AVG}}}",
            json!([{"people.height": {"order": "asc", "missing": "_last", "mode": "avg", "nested": {"path": "people"}}}, id]),
        ),
    ];
    for (keys, expected) in cases {
        assert_eq!(sort(keys), expected, "{keys}");
    }
    assert_eq!(refusal("sort: {title: {}, id: {}}"), ["CLAUSE_INVALID"]);
}

#[test]
fn search_after_takes_what_hits_show() {
    let after = |arguments: &str| body(&format!("({arguments})"))["search_after"].take();
    assert_eq!(
        after(
            r#"sort: [{diameter: {}}, {heat: {}}, {title: {}}], search_after: ["9223372036854775807", "-Infinity", "x", "http://e/1"]"#
        ),
        json!([i64::MAX, null, "x", "http://e/1"])
    );
    assert_eq!(
        after(r#"search_after: ["1.5", "http://e/1"]"#),
        json!([1.5, "http://e/1"])
    );
    assert_eq!(
        after(r#"sort: [{title: {}}, {mass: {}}], search_after: [null, null, "http://e/1"]"#),
        json!([null, null, "http://e/1"])
    );
    assert_eq!(
        after(r#"sort: {diameter: {}}, search_after: [null, "http://e/1"]"#),
        json!([null, "http://e/1"])
    );
    for arguments in [
        r#"search_after: ["Infinity", "http://e/1"]"#,
        r#"search_after: ["1.5"]"#,
        r#"search_after: ["high", "http://e/1"]"#,
        r#"search_after: [null, "http://e/1"]"#,
        r#"search_after: ["1.5", "http://e/1"], from: 1"#,
    ] {
        assert_eq!(refusal(arguments), ["SEARCH_AFTER_INVALID"], "{arguments}");
    }
}

#[test]
fn aggregations_use_whole_values() {
    let found = body(
        r#"(size: 0, aggregations: [{name: "t", terms: {field: title, size: 3, order: KEY_ASC, missing: "none"}},
            {name: "k", terms: {field: people__pets__kind}}])"#,
    );
    assert_eq!(
        found["aggs"],
        json!({
            "t": {"terms": {"field": "title.keyword", "size": 3, "min_doc_count": 1, "order": {"_key": "asc"}, "missing": "none"}},
            "k": {"nested": {"path": "people.pets"}, "aggs": {
                "k": {"terms": {"field": "people.pets.kind.keyword", "size": 10, "min_doc_count": 1, "order": {"$roots": "desc"}},
                    "aggs": {"$roots": {"reverse_nested": {}}}},
            }},
        })
    );
    for (aggregations, code) in [
        (r#"{name: "t"}"#, "CLAUSE_INVALID"),
        (r#"{name: "a>b", terms: {field: title}}"#, "CLAUSE_INVALID"),
        (
            r#"[{name: "t", terms: {field: title}}, {name: "t", terms: {field: mass}}]"#,
            "CLAUSE_INVALID",
        ),
        (
            r#"{name: "t", terms: {field: title, size: 0}}"#,
            "OPTION_INVALID",
        ),
        (
            r#"{name: "t", terms: {field: tiny, missing: 300}}"#,
            "OPERAND_INVALID",
        ),
        (
            r#"{name: "t", terms: {field: title, size: 100000}}"#,
            "LIMIT_BUCKETS",
        ),
    ] {
        assert_eq!(
            refusal(&format!("aggregations: {aggregations}")),
            [code],
            "{aggregations}"
        );
    }
}

#[test]
fn only_what_is_selected_is_read_and_scored() {
    let search = search(
        "query { planet_search { hits { planet { ...p people { alias pets { kind __typename } } mass title @skip(if: true) } } } }
         fragment p on Planet { label { value } diameter }",
    )
    .expect("valid");
    assert_eq!(
        search.source,
        [
            "$shown.label",
            "diameter",
            "people.id",
            "people.alias",
            "people.pets.id",
            "people.pets.kind",
            "$shown.mass"
        ]
    );
    assert!(!search.track_scores);
}

#[test]
fn variables_are_as_good_as_literals() {
    let operation = "query($q: Planet_Search_Query, $size: Int, $gone: Float) {
        planet_search(query: $q, size: $size, min_score: $gone) { hits { id } } }";
    let variables = json!({"q": {"bool": {"must": {"term": {"diameter": {"value": 7, "boost": null}}}}}, "size": 3});
    let search = search_with(operation, &variables.to_string()).expect("valid");
    let expected = json!({"bool": {"must": [{"term": {"diameter": {"value": 7}}}]}});
    assert_eq!(
        (
            search.query.map(|query| query.to_json()),
            search.size,
            search.min_score
        ),
        (Some(expected), 3, None)
    );
}

#[test]
fn a_number_in_a_variable_keeps_the_digits_of_a_literal() {
    let none = json!({"match_none": {}});
    for number in ["12345678901234567890123.5", "1e400", "-1e400", "1.50", "7"] {
        let by_title = clause(&format!("term: {{title: {{value: {number}}}}}"));
        assert_eq!(by_title["term"]["title"]["value"], json!(number));
        let by_mass = clause(&format!("term: {{mass: {{value: {number}}}}}"));
        assert_eq!(by_mass == none, number.contains('e'), "{by_mass}");
        for (field, literal) in [("title", by_title), ("mass", by_mass)] {
            let of_variable = |operation: &str, variables: &str| {
                let search = search_with(operation, variables).expect(number);
                search.to_json()["query"].take()
            };
            let query = format!("{{term: {{{field}: {{value: $v}}}}}}");
            let operation =
                format!("query($v: Search_Value!) {{ planet_search(query: {query}) {{ took }} }}");
            let variables = format!(r#"{{"v": {number}}}"#);
            assert_eq!(of_variable(&operation, &variables), literal);
            let operation = "query($q: Planet_Search_Query) { planet_search(query: $q) { took } }";
            let variables = format!(r#"{{"q": {{"term": {{"{field}": {{"value": {number}}}}}}}}}"#);
            assert_eq!(of_variable(operation, &variables), literal);
        }
    }
}

#[test]
fn the_values_of_a_list_in_a_variable_keep_their_digits() {
    let operation = "query($v: [Search_Value!]!) {
        planet_search(query: {terms: {title: {values: $v}}}) { took } }";
    let search = search_with(
        operation,
        r#"{"v": ["a", 1.50, 12345678901234567890123, 7]}"#,
    );
    let query = search.expect("valid").to_json()["query"].take();
    let expected = json!({"terms": {"title": ["a", "1.50", "12345678901234567890123", "7"]}});
    assert_eq!(query, expected);
}

#[test]
fn a_clause_has_exactly_one_member() {
    for query in [
        "",
        "match_all: {}, match_none: {}",
        "match: {}",
        r#"match: {title: {query: "a"}, id: {query: "b"}}"#,
        "range: {tiny: {}}",
        "range: {tiny: {gt: 1, gte: 2}}",
        "bool: {must: [{}]}",
        "nested: {}",
    ] {
        assert_eq!(refused(query), ["CLAUSE_INVALID"], "{query}");
    }
}

#[test]
fn options_are_checked() {
    for query in [
        "match_all: {boost: -1}",
        r#"match: {title: {query: "a", fuzziness: "3"}}"#,
        r#"match: {title: {query: "a", prefix_length: -1}}"#,
        r#"match: {title: {query: "a", max_expansions: 0}}"#,
        r#"match: {title: {query: "a", minimum_should_match: "most"}}"#,
        "dis_max: {queries: [], tie_breaker: -0.5}",
    ] {
        assert_eq!(refused(query), ["OPTION_INVALID"], "{query}");
    }
    assert_eq!(refusal("from: -1"), ["OPTION_INVALID"]);
}

#[test]
fn hostile_searches_are_refused() {
    let deep = |depth: usize| {
        let (open, close) = ("bool: {must: {".repeat(depth), "}}".repeat(depth));
        format!("{open}match_all: {{}}{close}")
    };
    assert_eq!(refused(&deep(25)), ["LIMIT_CLAUSE_DEPTH"]);
    clause(&deep(19));
    let wide = |number: usize| format!("bool: {{should: [{}]}}", "{match_all: {}}".repeat(number));
    assert_eq!(refused(&wide(1_000)), ["LIMIT_CLAUSES"]);
    clause(&wide(999));
    assert_eq!(refusal("from: 9000, size: 1001"), ["LIMIT_WINDOW"]);
    body("(from: 9000, size: 1000)");
    assert_eq!(
        refusal("from: 2147483647, size: 2147483647"),
        ["LIMIT_WINDOW"]
    );
    let terms =
        |number: usize| format!("terms: {{diameter: {{values: [{}]}}}}", "1 ".repeat(number));
    assert_eq!(refused(&terms(10_001)), ["LIMIT_TERMS"]);
    clause(&terms(10_000));
    let long = "a".repeat(1 << 20);
    assert_eq!(
        refused(&format!("match: {{title: {{query: \"{long}\"}}}}")),
        ["LIMIT_TEXT"]
    );
    assert_eq!(
        refused(&format!("prefix: {{title: {{value: \"{long}\"}}}}")),
        ["LIMIT_TEXT"]
    );
    let fuzzy = |number: usize| {
        format!(
            "match: {{title: {{query: \"{}\", fuzziness: \"1\"}}}}",
            "a".repeat(number)
        )
    };
    assert_eq!(refused(&fuzzy(501)), ["LIMIT_FUZZY_TEXT"]);
    clause(&fuzzy(500));
    assert_eq!(
        refused(r#"match: {title: {query: "a", max_expansions: 100000}}"#),
        ["LIMIT_EXPANSIONS"]
    );
    let sort = "{title: {}} ".repeat(30);
    assert_eq!(refusal(&format!("sort: [{sort}]")), ["LIMIT_SORT_KEYS"]);
    let many: Vec<_> = (0..60)
        .map(|i| format!("{{name: \"a{i}\", terms: {{field: title}}}}"))
        .collect();
    assert_eq!(
        refusal(&format!("aggregations: [{}]", many.join(" "))),
        ["LIMIT_AGGREGATIONS"]
    );
    let buckets = |size: u32| {
        let each =
            |name: &str| format!("{{name: \"{name}\", terms: {{field: title, size: {size}}}}}");
        format!("aggregations: [{} {}]", each("a"), each("b"))
    };
    assert_eq!(refusal(&buckets(5_001)), ["LIMIT_BUCKETS"]);
    body(&format!("({})", buckets(5_000)));
}

#[test]
fn names_that_meet_are_reported() {
    let taken = [FindingKind::NameTaken.code()];
    let film = |props: &str| {
        format!("id: /soml/f\nobjects:\n  Film: {{search: yes, props: {{{props}}}}}\n")
    };
    assert_eq!(
        api(&film("title: {}, title_keyword: {}")).expect_err("taken"),
        taken
    );
    let way = film("a: {range: Film}, a__id: {}");
    assert_eq!(api(&way).expect_err("taken"), taken);
    let types = "id: /soml/f\nobjects:\n  Film: {search: yes}\n  Film_Search_Hit: {search: yes}\n";
    assert_eq!(api(types).expect_err("taken"), taken);
    let hit = "id: /soml/f\nobjects:\n  Score: {search: yes}\n";
    assert_eq!(api(hit).expect_err("taken"), taken);
}

#[test]
fn the_prefix_of_queries_is_on_root_fields_alone() {
    let text = SKY.replace("objects:", "config: {queryPfx: find_}\nobjects:");
    let sdl = api(&text).expect("valid").sdl();
    assert!(sdl.contains("find_planet_search("), "{sdl}");
    assert!(sdl.contains("  planet: Planet!"), "{sdl}");
}
