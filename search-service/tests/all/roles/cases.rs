//! Single rules, each by an example.

use std::sync::Arc;

use search_index::mapping::{FindingKind, Indexes, MappingOptions};
use search_index::sdl::SearchApi;
use search_index::service::{SearchService, SearchServiceOptions, SearchTarget};
use search_service::Roles;
use serde_json::{Value, json};

use super::{Asker, Served, embedded, gateway, objects, schema};

const MODEL: &str = "
id: /soml/books
specialPrefixes: {base_iri: 'http://e/', vocab_iri: 'http://v/', vocab_prefix: v}
config: {search: {index: yes, type: {nestingLevel: 2}}}
objects:
  Book:
    props:
      title: {}
      secret: {}
      public: {range: boolean}
      authors: {range: Author, max: inf}
  Author:
    props:
      label: {}
      team: {}
      level: {range: int}
rbac:
  roles:
    Admin: {actions: ['*/*/*']}
    Reader:
      actions: ['*/*/read']
      notActions: ['Book/secret/read']
      filters: {Book: {read: {public: {EQ: true}}}}
    Colleague:
      actions: ['*/*/read']
      filters: {Book: {read: {authors: {label: {EQ: $claims.sub}, team: {EQ: $claims.team}}}}}
    Titles: {actions: ['Book/title/read']}
    Others:
      actions: ['*/*/read']
      filters: {Book: {read: {NOT: {title: {EQ: $claims.title}}}}}
    Junior:
      actions: ['*/*/read']
      filters: {Author: {read: {level: {LT: $claims.level}}}}
";

const DATA: &str = "
@prefix v: <http://v/> . @prefix : <http://e/> .
:a a v:Book ; v:title 'rare words' ; v:secret 'x' ; v:public true ; v:authors :jo, :kim .
:b a v:Book ; v:title 'words' ; v:secret 'x' ; v:public false ; v:authors :jo .
:c a v:Book ; v:title 'words words' ; v:public true ; v:authors :kim .
:jo a v:Author ; v:label 'Jo' ; v:level 1 ; v:team 'x' .
:kim a v:Author ; v:label 'Kim' ; v:level 9 ; v:team 'y' .
";

fn admin() -> Asker {
    Asker::new(&["Admin"], &json!({}))
}

fn reader() -> Asker {
    Asker::new(&["Reader"], &json!({}))
}

async fn served() -> Served {
    Served::new(&schema(MODEL), DATA, &embedded()).await
}

fn code(answer: &Value) -> &str {
    answer["errors"][0]["extensions"]["code"]
        .as_str()
        .unwrap_or("none")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_finds_what_its_condition_accepts() {
    let served = served().await;
    let query = "{ book_search { total { value } hits { id } } }";
    let all = served.search(&admin(), query).await;
    assert_eq!(all["data"]["book_search"]["total"]["value"], 3, "{all}");
    let some = served.search(&reader(), query).await;
    let expected =
        json!({"total": {"value": 2}, "hits": [{"id": "http://e/a"}, {"id": "http://e/c"}]});
    assert_eq!(some["data"]["book_search"], expected, "{some}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_claim_of_a_condition_nothing_is_found_and_nothing_is_refused() {
    let served = served().await;
    let junior = Asker::new(&["Junior"], &json!({}));
    let query = "{
        author_search(query: {match: {label: {query: \"Jo\"}}}, sort: [{label: {}}]) { total { value } hits { id } }
        book_search(query: {match: {authors: {label: {query: \"Jo\"}}}}) { total { value } }
        books: book_search(size: 1) { hits { book { authors { label } } } }
    }";
    let answer = served.search(&junior, query).await;
    let expected = json!({
        "author_search": {"total": {"value": 0}, "hits": []},
        "book_search": {"total": {"value": 0}},
        "books": {"hits": [{"book": {"authors": null}}]},
    });
    assert_eq!(answer, json!({"data": expected}));
    for (claims, number) in [(json!({"title": "words"}), 2), (json!({}), 0)] {
        let others = Asker::new(&["Others"], &claims);
        let answer = served
            .search(&others, "{ book_search { total { value } } }")
            .await;
        assert_eq!(
            answer["data"]["book_search"]["total"]["value"], number,
            "{answer}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_read_is_left_out_of_hits_and_refused_in_clauses() {
    let served = served().await;
    let query = "{ book_search { hits { book { title secret } } } }";
    let answer = served.search(&reader(), query).await;
    assert_eq!(code(&answer), "ACCESS_FIELD_REMOVED");
    let hit = &answer["data"]["book_search"]["hits"][0]["book"];
    assert_eq!(*hit, json!({"title": "rare words"}));
    for arguments in [
        "query: {term: {secret_keyword: {value: \"x\"}}}",
        "query: {bool: {must_not: [{exists: {field: secret}}]}}",
        "post_filter: {prefix: {secret: {value: \"x\"}}}",
        "sort: [{secret: {}}]",
        "aggregations: [{name: \"s\", terms: {field: secret}}]",
    ] {
        let answer = served
            .search(
                &reader(),
                &format!("{{ book_search({arguments}) {{ total {{ value }} }} }}"),
            )
            .await;
        assert_eq!(code(&answer), "ACCESS_DENIED", "{arguments}: {answer}");
        assert!(answer.get("data").is_none(), "{arguments}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_only_some_roles_show_is_found_and_shown_where_they_do() {
    let served = served().await;
    let asker = Asker::new(&["Titles", "Reader"], &json!({}));
    let query = "{
        all: book_search { hits { id sort book { id title public } } }
        shown: book_search(query: {ids: {values: [\"http://e/a\"]}}) { total { value } }
        hidden: book_search(query: {ids: {values: [\"http://e/b\"]}}) { total { value } }
        term: book_search(query: {term: {id: {value: \"http://e/b\"}}}) { total { value } }
        without: book_search(query: {bool: {must_not: [{ids: {values: [\"http://e/b\"]}}]}}) { total { value } }
    }";
    let answer = served.search(&asker, query).await;
    let expected = json!({
        "all": {"hits": [
            {"id": "http://e/a", "book": {"id": "http://e/a", "title": "rare words", "public": true}},
            {"book": {"title": "words", "public": null}},
            {"id": "http://e/c", "book": {"id": "http://e/c", "title": "words words", "public": true}},
        ]},
        "shown": {"total": {"value": 1}},
        "hidden": {"total": {"value": 0}},
        "term": {"total": {"value": 0}},
        "without": {"total": {"value": 3}},
    });
    assert_eq!(answer["data"], expected, "{answer}");
    assert_eq!(code(&answer), "ACCESS_FIELD_REMOVED");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_readable_wherever_an_object_is_shown_sorts_and_pages() {
    let served = served().await;
    let page = async |after: &str| {
        let query = format!(
            "{{ book_search(sort: [{{title: {{}}}}], size: 1{after}) {{ hits {{ id sort }} }} }}"
        );
        served.search(&reader(), &query).await
    };
    let first = page("").await;
    let expected = json!([{"id": "http://e/a", "sort": ["rare words", "http://e/a"]}]);
    assert_eq!(first["data"]["book_search"]["hits"], expected, "{first}");
    let second = page(", search_after: [\"rare words\", \"http://e/a\"]").await;
    assert_eq!(
        second["data"]["book_search"]["hits"][0]["id"], "http://e/c",
        "{second}"
    );
    // Of authors, who are hidden from some, no order tells.
    let junior = Asker::new(&["Junior"], &json!({"level": 5}));
    let query = "{ book_search(sort: [{authors: {label: {}}}]) { total { value } } }";
    let answer = served.search(&junior, query).await;
    assert_eq!(code(&answer), "ACCESS_DENIED", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded_objects_that_are_hidden_are_not_shown_and_not_found() {
    let served = served().await;
    let junior = Asker::new(&["Junior"], &json!({"level": 5}));
    let query = "{
        shown: book_search(query: {ids: {values: [\"http://e/a\"]}}) { hits { book { authors { label } } } }
        jo: book_search(query: {match: {authors: {label: {query: \"Jo\"}}}}) { total { value } }
        kim: book_search(query: {match: {authors: {label: {query: \"Kim\"}}}}) { total { value } }
        all: book_search(query: {match_all: {}}, aggregations: [{name: \"a\", terms: {field: authors__label}}]) {
            total { value } aggregations { buckets { key doc_count } } }
    }";
    let answer = served.search(&junior, query).await;
    let expected = json!({
        "shown": {"hits": [{"book": {"authors": [{"label": "Jo"}]}}]},
        "jo": {"total": {"value": 2}},
        "kim": {"total": {"value": 0}},
        "all": {"total": {"value": 3}, "aggregations": [{"buckets": [{"key": "Jo", "doc_count": 2}]}]},
    });
    assert_eq!(answer["data"], expected, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn buckets_that_would_show_hidden_values_or_count_what_is_hidden_as_missing_are_refused() {
    let served = served().await;
    let asked = async |asker: &Asker, field: &str, option: &str| {
        let terms = format!("{{name: \"n\", terms: {{field: {field}, {option}}}}}");
        let query = format!(
            "{{ book_search(aggregations: [{terms}]) {{ aggregations {{ buckets {{ key }} }} }} }}"
        );
        let answer = served.search(asker, &query).await;
        code(&answer).to_owned()
    };
    let junior = Asker::new(&["Junior"], &json!({"level": 5}));
    for (asker, field, option, expected) in [
        (reader(), "title", "min_doc_count: 0", "ACCESS_DENIED"),
        (admin(), "title", "min_doc_count: 0", "none"),
        (
            junior.clone(),
            "authors__label",
            "missing: \"-\"",
            "ACCESS_DENIED",
        ),
        (junior, "title", "missing: \"-\"", "none"),
        (reader(), "title", "missing: \"-\"", "none"),
    ] {
        assert_eq!(
            asked(&asker, field, option).await,
            expected,
            "{field} {option}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scores_say_nothing_of_hidden_texts() {
    let served = served().await;
    let query = "{ book_search(query: {match: {title: {query: \"words\", boost: 3}}}) { max_score hits { score } } }";
    let answer = served.search(&reader(), query).await;
    let expected = json!({"max_score": 3.0, "hits": [{"score": 3.0}, {"score": 3.0}]});
    assert_eq!(answer["data"]["book_search"], expected, "{answer}");
    let answer = served.search(&admin(), query).await;
    let scores = &answer["data"]["book_search"]["hits"];
    assert_ne!(scores[0]["score"], scores[2]["score"], "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_word_takes_no_place_among_similar_ones() {
    let data = DATA.replace("v:title 'words' ", "v:title 'ward' ");
    let served = Served::new(&schema(MODEL), &data, &embedded()).await;
    let query = "{ book_search(query: {match: {title: {query: \"ward\", fuzziness: \"2\", max_expansions: 1}}}) { total { value } } }";
    let answer = served.search(&reader(), query).await;
    assert_eq!(
        answer["data"]["book_search"]["total"]["value"], 2,
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_for_a_gateway_is_null_where_its_id_may_not_be_read() {
    let served = served().await;
    let asker = Asker::new(&["Titles", "Reader"], &json!({}));
    let query = "{ book_search { hits { book { id } } } }";
    let answer = super::answer(&served.subgraph, &asker, query).await;
    let expected =
        json!([{"book": {"id": "http://e/a"}}, {"book": null}, {"book": {"id": "http://e/c"}}]);
    assert_eq!(answer["data"]["book_search"]["hits"], expected, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_that_indexes_do_not_decide_refuses_the_search_and_is_warned_of() {
    let served = served().await;
    let colleague = Asker::new(&["Colleague"], &json!({"sub": "Jo", "team": "x"}));
    let answer = served
        .search(&colleague, "{ book_search { total { value } } }")
        .await;
    assert_eq!(code(&answer), "ROW_RULE_NOT_INDEXED", "{answer}");
    // Authors have no condition, and no way to books.
    let answer = served
        .search(&colleague, "{ author_search { total { value } } }")
        .await;
    assert_eq!(
        answer["data"]["author_search"]["total"]["value"], 2,
        "{answer}"
    );
    let soml = schema(MODEL);
    let roles = Roles::of(&soml).expect("there is an API");
    let mapping = roles.mapping(&soml, &MappingOptions::default());
    let indexes = Indexes::new(&soml, &mapping).expect("it can be searched");
    let findings = roles.findings(&soml, &indexes);
    let found: Vec<_> = findings
        .iter()
        .map(|finding| (finding.code, &*finding.message))
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, FindingKind::RowRuleNotIndexed.code());
    assert!(
        found[0].1.contains("`Colleague`") && found[0].1.contains("`Book`"),
        "{found:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hit_whose_object_is_gone_or_hidden_meanwhile_a_gateway_shows_nothing_and_no_error() {
    let soml = schema(MODEL);
    let served = served().await;
    // What the object service has meanwhile: one book less, and another that is not public any more.
    let changed = DATA.replace(
        "'words words' ; v:public true",
        "'words words' ; v:public false",
    );
    let changed = changed.replace(":b a v:Book", ":x a v:Thing");
    let gateway = gateway(&objects(&soml, &changed), &served.subgraph);
    let query = "{ book_search(size: 10) { hits { book { title } } } }";
    let answer = super::answer(&gateway, &admin(), query).await;
    let expected = json!({"data": {"book_search": {"hits": [
        {"book": {"title": "rare words"}}, {"book": {"title": null}}, {"book": {"title": "words words"}},
    ]}}});
    assert_eq!(answer, expected);
    let answer = super::answer(&gateway, &reader(), query).await;
    let expected = json!({"data": {"book_search": {"hits": [{"book": {"title": "rare words"}}, {"book": {"title": null}}]}}});
    assert_eq!(answer, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn how_many_documents_there_are_is_not_said_to_whom_some_are_hidden_from() {
    let soml = schema(MODEL);
    let roles = Roles::of(&soml).expect("there is an API");
    let mapping = roles.mapping(&soml, &MappingOptions::default());
    let indexes = Indexes::new(&soml, &mapping).expect("it can be searched");
    let building = SearchTarget::Building {
        done: 1,
        of: Some(77),
    };
    let targets = vec![building; indexes.indexes.len()];
    let api = SearchApi::new(soml, indexes).expect("there is an API");
    let options = SearchServiceOptions::default().with_rules(Arc::new(roles));
    let service = SearchService::new(api, embedded(), targets, options);
    let query = "{ book_search { total { value } } }";
    for (asker, is_said) in [(admin(), true), (reader(), false)] {
        let answer = super::answer(&service, &asker, query).await;
        assert_eq!(code(&answer), "INDEX_BUILDING");
        assert_eq!(answer.to_string().contains("77"), is_said, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_for_a_gateway_needs_a_right_of_its_own() {
    let served = served().await;
    let query = "{ _service { sdl } }";
    let answer = super::answer(&served.subgraph, &admin(), query).await;
    let sdl = answer["data"]["_service"]["sdl"]
        .as_str()
        .unwrap_or_default();
    assert!(sdl.contains("hits: [Book_Search_Hit!]\n"), "{sdl}");
    let some = MODEL.replace(
        "Reader:\n      actions: ['*/*/read']",
        "Reader:\n      actions: ['Book/*/read']",
    );
    let served = Served::new(&schema(&some), DATA, &embedded()).await;
    let answer = super::answer(&served.subgraph, &reader(), query).await;
    assert_eq!(code(&answer), "ACCESS_FIELD_REMOVED", "{answer}");
    assert_eq!(answer["data"], json!({}));
}

#[test]
fn indexes_are_built_anew_when_conditions_change_and_only_then() {
    let fingerprint = |text: &str| {
        let soml = schema(text);
        let roles = Roles::of(&soml).expect("there is an API");
        let mapping = roles.mapping(&soml, &MappingOptions::default());
        let indexes = Indexes::new(&soml, &mapping).expect("it can be searched");
        indexes.named("Book").expect("books").fingerprint.clone()
    };
    let before = fingerprint(MODEL);
    let other_actions = MODEL.replace(
        "notActions: ['Book/secret/read']",
        "notActions: ['Book/title/read']",
    );
    assert_eq!(fingerprint(&other_actions), before);
    assert_ne!(fingerprint(&MODEL.replace("EQ: true", "EQ: false")), before);
}
