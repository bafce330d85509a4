//! What is bound over a restart of `soml serve --data-dir`: what was bound, or nothing where that was unbound. A schema
//! is inferred only where the command line asks for it.

use std::fs;

use serde_json::json;

use crate::command_line::{code, err, out, soml};
use crate::data_folder::{BOOKS, DATA, Folder, SCHEMA, agent, answer, put, stop};
use crate::gateway::soml::{Soml, get, post};

#[test]
fn schemas_their_binding_and_rights_are_kept_and_changed_over_http() {
    let folder = Folder::new();
    let books = folder.file("books.ttl", BOOKS);
    let first = folder.serve(&["--data", &books]);
    let base = first.base("GraphQL:").to_owned();
    let soml = "id: /soml/library\nspecialPrefixes: {vocab_iri: 'http://e/', vocab_prefix: e, base_iri: 'http://e/'}\n\
                objects: {Book: {props: {title: {}}}}\n";
    let sent = agent()
        .post(format!("{base}/soml"))
        .content_type("application/x-yaml")
        .send(soml);
    assert_eq!(sent.unwrap().status(), 201);
    let bound = agent()
        .put(format!("{base}/soml/library/objects"))
        .send_empty();
    assert!(bound.unwrap().status().is_success());
    assert!((200..300).contains(&put(&base, "/soml-rbac", "rbac: {roles: {}}")));
    stop(first);
    let second = folder.serve(&[]);
    let books = answer(&second, "{ book { title } }");
    assert_eq!(books, json!({ "book": [{ "title": "One" }] }));
    let base = second.base("GraphQL:");
    let listed = get(base, "/soml").to_string();
    assert!(
        listed.contains("inferred") && listed.contains("library"),
        "{listed}"
    );
    assert!(get(base, "/soml-rbac").is_object());
    // What was unbound stays so, whatever the command line says of data.
    let unbound = agent()
        .delete(format!("{base}/soml/library/objects"))
        .call();
    assert!(unbound.unwrap().status().is_success());
    stop(second);
    let more: [&[&str]; 3] = [&[], &["--data", DATA], &["--infer-schema"]];
    for arguments in more {
        let third = folder.serve_without_schema(arguments);
        let base = third.base("GraphQL:");
        let (status, answer) = post(base, "{ book { pages } }", None);
        assert_eq!(status, 503, "{arguments:?}: {answer}");
        let line = format!("No schema is bound: PUT {base}/soml/ID/objects");
        assert!(
            third.said.iter().any(|said| said.starts_with(&line)),
            "{:#?}",
            third.said
        );
    }
}

#[test]
fn a_schema_is_inferred_only_where_the_command_line_asks_for_it() {
    let folder = Folder::new();
    let books = folder.file("books.ttl", BOOKS);
    assert_eq!(code(&folder.load(&books)), Some(0));
    let first = folder.serve_without_schema(&[]);
    let base = first.base("GraphQL:");
    assert_eq!(post(base, "{ book { pages } }", None).0, 503);
    assert_eq!(
        get(base, "/soml").to_string().matches("inferred").count(),
        0
    );
    stop(first);
    for arguments in [&["--infer-schema"][..], &["--infer-schema"], &[]] {
        let service = folder.serve(arguments);
        let pages = answer(&service, "{ book { pages } }");
        assert_eq!(pages["book"][0]["pages"], "12", "{arguments:?}");
    }
    // Commands take what is bound, and make nothing of their own.
    let place = format!("store.dataDir={}", folder.text("data"));
    let query = ["query", "--set", &place, "{ book { pages } }"];
    let queried = soml(&query);
    assert!(out(&queried).contains("12"), "{}", err(&queried));
    assert!(
        err(&queried).contains("the schema `inferred` is bound"),
        "{}",
        err(&queried)
    );
    fs::remove_file(folder.path("data/schemas/bound.yaml")).unwrap();
    let refused = soml(&query);
    assert_eq!(code(&refused), Some(64), "{}", err(&refused));
    assert!(err(&refused).contains("--schema"), "{}", err(&refused));
    let both = soml(&["serve", "--infer-schema", "--schema", SCHEMA]);
    assert_eq!(code(&both), Some(64), "{}", err(&both));
}

#[test]
fn what_was_unbound_from_searches_stays_unbound() {
    let folder = Folder::new();
    let books = folder.file("books.ttl", BOOKS);
    let schema = folder.file(
        "library.yaml",
        "id: /soml/library\nspecialPrefixes: {vocab_iri: 'http://e/', vocab_prefix: e, base_iri: 'http://e/'}\n\
         objects: {Book: {search: {index: yes}, props: {title: {}}}}\n",
    );
    let data = folder.text("data");
    let start = |arguments: &[&str]| {
        let mut all = vec!["--data-dir", &data];
        all.extend(arguments);
        Soml::start(&all, &[], "Search:")
    };
    let is_bound = |service: &Soml| {
        let line = service.said.last().unwrap();
        !line.contains("no schema is bound")
    };
    let first = start(&["--schema", &schema, "--data", &books]);
    assert!(is_bound(&first), "{:#?}", first.said);
    let search = first.base("Search:").to_owned();
    let unbound = agent()
        .delete(format!("{search}/soml/library/search"))
        .call();
    assert_eq!(unbound.unwrap().status(), 204);
    stop(first);
    let second = start(&[]);
    assert!(!is_bound(&second), "{:#?}", second.said);
    let search = second.base("Search:").to_owned();
    let bound = agent()
        .put(format!("{search}/soml/library/search"))
        .send_empty();
    assert!(bound.unwrap().status().is_success());
    stop(second);
    assert!(is_bound(&start(&[])));
    let unbound = start(&[]);
    let search = unbound.base("Search:").to_owned();
    let sent = agent()
        .delete(format!("{search}/soml/library/search"))
        .call();
    assert_eq!(sent.unwrap().status(), 204);
    stop(unbound);
    // The command line names it.
    assert!(is_bound(&start(&["--schema", &schema])));
}

#[test]
fn the_schema_of_the_command_line_takes_the_place_of_the_stored_one() {
    let folder = Folder::new();
    let data = folder.file("books.ttl", BOOKS);
    let schema = |props: &str| {
        format!(
            "id: /soml/library\nspecialPrefixes: {{vocab_iri: 'http://e/', vocab_prefix: e, base_iri: 'http://e/'}}\n\
                 objects: {{Book: {{props: {{{props}}}}}}}\n"
        )
    };
    let one = folder.file("one.yaml", &schema("title: {}"));
    let two = folder.file("two.yaml", &schema("title: {}, pages: {range: integer}"));
    stop(folder.serve(&["--schema", &one, "--data", &data]));
    let service = folder.serve(&["--schema", &two]);
    assert_eq!(
        answer(&service, "{ book { pages } }")["book"][0]["pages"],
        "12"
    );
    stop(service);
    let service = folder.serve(&[]);
    assert_eq!(
        answer(&service, "{ book { pages } }")["book"][0]["pages"],
        "12"
    );
}
