//! Embedded objects: nested ones, plain ones, and those in several levels.

use search_index::dsl::{
    Aggregation, AggregationKind, Bool, BucketOrder, Counted, FieldSort, Match, Missing, Nested,
    Query, Range, ScoreMode, Search, Sort, SortMode, Term, TermsAggregation, Value,
};
use search_index::engine::Engine;
use serde_json::json;

use super::Fixture;
use super::fixture::{names, written};

super::cases! {
    conditions_are_about_one_nested_object,
    nested_objects_are_no_hits,
    plain_objects_give_their_values_to_the_document,
    levels_join_to_the_document_or_to_the_level_between,
    scores_of_nested_objects_become_one,
    documents_sort_by_values_of_nested_objects,
    nested_objects_are_counted,
    facets_of_nested_objects_count_the_objects_that_have_them,
    whole_blocks_are_replaced,
    paths_that_do_not_fit_are_refused,
}

const PLANET: &str = "
  Planet:
    search: yes
    props:
      title: {}
      people: {range: Person, max: inf, search: {type: {nestingLevel: 2}}}
      ruler: {range: Person, search: {type: {nestingLevel: 2}}}
  Person: {search: yes, props: {alias: {}, height: {range: double}, pets: {range: Pet, max: inf}}}
  Pet: {search: yes, props: {kind: {}, age: {range: int, max: inf}}}
";

async fn planets(engine: Engine) -> Fixture {
    let data = json!([
        {"id": 1, "title": "one", "people": [
            {"id": "luke", "alias": "Luke", "height": 1.7, "pets": [{"id": "p1", "kind": "cat", "age": [3]}, {"id": "p2", "kind": "dog", "age": [5]}]},
            {"id": "han", "alias": "Han", "height": 1.9},
        ], "ruler": {"id": "jabba", "alias": "Jabba", "height": 3.5}},
        {"id": 2, "title": "two", "people": [
            {"id": "leia", "alias": "Leia", "height": 1.5, "pets": [{"id": "p3", "kind": "cat", "age": [7, 9]}]},
        ], "ruler": {"id": "bail", "alias": "Bail", "pets": [{"id": "p4", "kind": "fish"}]}},
        {"id": 3, "title": "three"},
    ]);
    Fixture::new(engine, PLANET, data).await
}

fn term(field: &str, value: impl Into<Value>) -> Query {
    Query::Term(Term {
        field: field.to_owned(),
        value: value.into(),
        case_insensitive: false,
        boost: None,
    })
}

fn above(field: &str, least: f64) -> Query {
    Query::Range(Range {
        field: field.to_owned(),
        lower: Some(search_index::dsl::Bound {
            value: Value::Double(least),
            inclusive: true,
        }),
        upper: None,
        boost: None,
    })
}

fn nested(path: &str, query: Query, score_mode: Option<ScoreMode>) -> Query {
    Query::Nested(Nested {
        path: path.to_owned(),
        query: Box::new(query),
        score_mode,
    })
}

fn both(first: Query, second: Query) -> Query {
    Query::Bool(Bool {
        must: vec![first, second],
        ..Bool::default()
    })
}

fn without(query: Query) -> Query {
    Query::Bool(Bool {
        must_not: vec![query],
        ..Bool::default()
    })
}

async fn conditions_are_about_one_nested_object(engine: Engine) {
    let planets = planets(engine).await;
    let tall_luke = both(term("people.alias", "luke"), above("people.height", 1.8));
    let tall_han = both(term("people.alias", "han"), above("people.height", 1.8));
    let cases = [
        (nested("people", term("people.alias", "luke"), None), "1"),
        (nested("people", tall_luke, None), ""),
        (nested("people", tall_han, None), "1"),
        (
            nested("people", Query::MatchAll { boost: None }, None),
            "1 2",
        ),
        (
            nested("people", without(term("people.alias", "luke")), None),
            "1 2",
        ),
        (
            nested("people", without(above("people.height", 1.8)), None),
            "1 2",
        ),
        (
            without(nested("people", term("people.alias", "luke"), None)),
            "2 3",
        ),
        (
            without(nested("people", Query::MatchAll { boost: None }, None)),
            "3",
        ),
        (
            nested("people", term("people.id", "http://e/leia"), None),
            "2",
        ),
        (
            nested(
                "people",
                Query::Match(Match::new("people.alias", "Leia Han")),
                None,
            ),
            "1 2",
        ),
    ];
    for (query, expected) in cases {
        planets.expect(query, expected).await;
    }
    planets.end().await;
}

async fn nested_objects_are_no_hits(engine: Engine) {
    let planets = planets(engine).await;
    planets
        .expect(Query::MatchAll { boost: None }, "1 2 3")
        .await;
    planets.expect(term("people.alias", "luke"), "").await;
    planets
        .expect(without(term("people.alias", "luke")), "1 2 3")
        .await;
    let context = &planets.context;
    let count = planets.engine.count(&planets.name, context).await;
    assert_eq!(count.expect("a number"), 3);
    planets.end().await;
}

async fn plain_objects_give_their_values_to_the_document(engine: Engine) {
    let planets = planets(engine).await;
    let cases = [
        (term("ruler.alias", "jabba"), "1"),
        (above("ruler.height", 3.0), "1"),
        (both(term("ruler.alias", "bail"), term("title", "two")), "2"),
        (
            nested("ruler.pets", term("ruler.pets.kind", "fish"), None),
            "2",
        ),
        (
            nested("ruler.pets", term("ruler.pets.kind", "cat"), None),
            "",
        ),
    ];
    for (query, expected) in cases {
        planets.expect(query, expected).await;
    }
    planets.end().await;
}

async fn levels_join_to_the_document_or_to_the_level_between(engine: Engine) {
    let planets = planets(engine).await;
    let pets = |query| nested("people.pets", query, None);
    let cat_of_luke = both(
        term("people.alias", "luke"),
        pets(term("people.pets.kind", "cat")),
    );
    let cat_of_han = both(
        term("people.alias", "han"),
        pets(term("people.pets.kind", "cat")),
    );
    let cases = [
        (pets(term("people.pets.kind", "cat")), "1 2"),
        (pets(term("people.pets.kind", "dog")), "1"),
        (nested("people", cat_of_luke, None), "1"),
        (nested("people", cat_of_han, None), ""),
        (
            nested(
                "people",
                without(pets(Query::MatchAll { boost: None })),
                None,
            ),
            "1",
        ),
        (pets(term("people.pets.age", Value::Integer(9))), "2"),
    ];
    for (query, expected) in cases {
        planets.expect(query, expected).await;
    }
    planets.end().await;
}

async fn scores_of_nested_objects_become_one(engine: Engine) {
    let planets = planets(engine).await;
    let constant = |query, boost| Query::ConstantScore {
        filter: Box::new(query),
        boost: Some(boost),
    };
    let scored = || {
        Query::Bool(Bool {
            should: vec![
                constant(term("people.alias", "luke"), 1.0),
                constant(term("people.alias", "han"), 4.0),
                constant(term("people.alias", "leia"), 2.0),
            ],
            ..Bool::default()
        })
    };
    let cases = [
        (None, 2.5, 2.0),
        (Some(ScoreMode::Avg), 2.5, 2.0),
        (Some(ScoreMode::Max), 4.0, 2.0),
        (Some(ScoreMode::Min), 1.0, 2.0),
        (Some(ScoreMode::Sum), 5.0, 2.0),
        (Some(ScoreMode::None), 0.0, 0.0),
    ];
    for (mode, one, two) in cases {
        let query = nested("people", scored(), mode);
        planets
            .expect_scores(query, &[("1", one), ("2", two)])
            .await;
    }
    planets.end().await;
}

fn sort(field: &str, descending: bool, mode: Option<SortMode>, path: &str) -> Vec<Sort> {
    let by = Sort::Field(FieldSort {
        field: field.to_owned(),
        descending,
        mode,
        missing: Missing::Last,
        nested: Some(path.to_owned()),
    });
    vec![by, Sort::field("id")]
}

async fn documents_sort_by_values_of_nested_objects(engine: Engine) {
    let planets = planets(engine).await;
    let cases = [
        (sort("people.height", false, None, "people"), "2 1 3"),
        (sort("people.height", true, None, "people"), "1 2 3"),
        (
            sort("people.height", true, Some(SortMode::Min), "people"),
            "1 2 3",
        ),
        (
            sort("people.height", false, Some(SortMode::Sum), "people"),
            "2 1 3",
        ),
        (
            sort("people.height", true, Some(SortMode::Avg), "people"),
            "1 2 3",
        ),
        (sort("people.alias.keyword", false, None, "people"), "1 2 3"),
        (sort("people.alias.keyword", true, None, "people"), "1 2 3"),
        (
            sort("people.pets.age", false, Some(SortMode::Sum), "people.pets"),
            "1 2 3",
        ),
        (
            sort("people.pets.age", true, Some(SortMode::Avg), "people.pets"),
            "2 1 3",
        ),
    ];
    for (sort, expected) in cases {
        planets.expect_order(sort, expected).await;
    }
    let median = Search {
        sort: sort("people.height", false, Some(SortMode::Median), "people"),
        ..Search::default()
    };
    planets.expect_refusal(&median).await;
    planets.end().await;
}

fn of(name: &str, kind: AggregationKind, aggregations: Vec<Aggregation>) -> Aggregation {
    Aggregation {
        name: name.to_owned(),
        kind,
        aggregations,
    }
}

fn terms(field: &str) -> AggregationKind {
    AggregationKind::Terms(TermsAggregation {
        field: field.to_owned(),
        size: 10,
        min_doc_count: 1,
        order: BucketOrder::CountDescending,
        missing: None,
        counts: Counted::default(),
    })
}

fn under(path: &str) -> AggregationKind {
    AggregationKind::Nested {
        path: path.to_owned(),
    }
}

async fn nested_objects_are_counted(engine: Engine) {
    let planets = planets(engine).await;
    let kinds = || vec![of("kinds", terms("people.pets.kind.keyword"), vec![])];
    let pets = || vec![of("pets", under("people.pets"), kinds())];
    let people = vec![of("aliases", terms("people.alias.keyword"), pets())];
    let search = Search {
        size: 0,
        aggregations: vec![
            of("people", under("people"), people),
            of("pets", under("people.pets"), kinds()),
            of("titles", terms("title.keyword"), pets()),
        ],
        ..Search::default()
    };
    let answer = planets.search(&search).await;
    let found: Vec<_> = answer
        .aggregations
        .iter()
        .map(|one| written(&one.content))
        .collect();
    assert_eq!(
        found,
        [
            "3(Han:1(0()) Leia:1(1(cat:1)) Luke:1(2(cat:1 dog:1)))",
            "3(cat:2 dog:1)",
            "one:1(2(cat:1 dog:1)) three:1(0()) two:1(1(cat:1))",
        ]
    );
    let filtered = Search {
        query: Some(term("title", "two")),
        aggregations: vec![of("people", under("people"), vec![])],
        ..search
    };
    let answer = planets.search(&filtered).await;
    assert_eq!(written(&answer.aggregations[0].content), "1");
    planets.end().await;
}

async fn facets_of_nested_objects_count_the_objects_that_have_them(engine: Engine) {
    let planets = planets(engine).await;
    let pet = |id: &str, kind: &str| json!({"id": id, "kind": kind});
    let rey = json!({"id": "rey", "pets": [pet("p5", "cat"), pet("p6", "cat"), pet("p7", "fish")]});
    let finn =
        json!({"id": "finn", "pets": [pet("p8", "cat"), pet("p9", "fish"), pet("p10", "fish")]});
    let four = json!([{"id": 4, "title": "four", "people": [rey, finn]}]);
    planets.write(&four).await;
    let buckets = |size: u64, min_doc_count: u64, order: BucketOrder| {
        let terms = AggregationKind::Terms(TermsAggregation {
            field: "people.pets.kind.keyword".to_owned(),
            size,
            min_doc_count,
            order,
            missing: None,
            counts: Counted::Roots,
        });
        vec![of(
            "kinds",
            under("people.pets"),
            vec![of("kinds", terms, vec![])],
        )]
    };
    // Three fishes are one object; what is left out is counted as embedded objects.
    let cases = [
        (10, 1, BucketOrder::CountDescending, "9(cat:3 dog:1 fish:1)"),
        (10, 1, BucketOrder::CountAscending, "9(dog:1 fish:1 cat:3)"),
        (10, 1, BucketOrder::KeyDescending, "9(fish:1 dog:1 cat:3)"),
        (1, 1, BucketOrder::CountDescending, "9(cat:3 +4)"),
        (10, 2, BucketOrder::CountDescending, "9(cat:3)"),
        (1, 2, BucketOrder::KeyDescending, "9(cat:3)"),
    ];
    for (size, least, order, expected) in cases {
        let search = Search {
            aggregations: buckets(size, least, order),
            ..Search::default()
        };
        let answer = planets.search(&search).await;
        let found = written(&answer.aggregations[0].content);
        assert_eq!(found, expected, "{size} {least} {order:?}");
    }
    planets.end().await;
}

async fn whole_blocks_are_replaced(engine: Engine) {
    let planets = planets(engine).await;
    let new = json!([{"id": 1, "title": "one", "people": [{"id": "rey", "alias": "Rey"}]}]);
    planets.write(&new).await;
    let all = |path: &str| nested(path, Query::MatchAll { boost: None }, None);
    let cases = [
        (nested("people", term("people.alias", "luke"), None), ""),
        (nested("people", term("people.alias", "rey"), None), "1"),
        (all("people.pets"), "2"),
        (term("ruler.alias", "jabba"), ""),
    ];
    for (query, expected) in cases {
        planets.expect(query, expected).await;
    }
    let search = Search {
        aggregations: vec![of("people", under("people"), vec![])],
        ..Search::default()
    };
    let answer = planets.search(&search).await;
    assert_eq!(written(&answer.aggregations[0].content), "2");
    assert_eq!(names(&answer).len(), 3);
    planets.end().await;
}

async fn paths_that_do_not_fit_are_refused(engine: Engine) {
    let planets = planets(engine).await;
    let all = || Query::MatchAll { boost: None };
    let queries = [
        nested("ruler", all(), None),
        nested("none", all(), None),
        nested("people", nested("people", all(), None), None),
    ];
    for query in queries {
        let search = Search {
            query: Some(query),
            ..Search::default()
        };
        planets.expect_refusal(&search).await;
    }
    planets.end().await;
}
