//! What is bound over a restart of `soml serve --data-dir`: what was bound, or nothing where that was unbound. A schema
//! is inferred only where the command line asks for it.

use std::fs;

use serde_json::{Value, json};

use crate::command_line::{code, err, out, soml};
use crate::data_folder::{BOOKS, DATA, Folder, SCHEMA, answer, put, stop};
use crate::gateway::soml::{Soml, get, post, wait_until_indexed};
use crate::processes::agent;
use crate::sparql_server::SparqlServer;

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

/// A schema of books; `more` are further settings of the object.
fn books(id: &str, more: &str) -> String {
    format!(
        "id: /soml/{id}\nspecialPrefixes: {{vocab_iri: 'http://e/', vocab_prefix: e, base_iri: 'http://e/'}}\n\
         objects: {{Book: {{{more}props: {{title: {{}}}}}}}}\n"
    )
}

const SEARCHED: &str = "search: {index: yes}, ";

/// Services over the folder `data` of a test, and what is sent to them.
struct Services<'a>(&'a Folder);

impl Services<'_> {
    /// Starts them; they say where searches are.
    fn start(&self, arguments: &[&str]) -> Soml {
        let data = self.0.text("data");
        let mut all = vec!["--data-dir", &data];
        all.extend(arguments);
        Soml::start(&all, &[], "Search:")
    }
}

fn send(method: &str, base: &str, path: &str) -> u16 {
    let url = format!("{base}{path}");
    let answer = match method {
        "PUT" => agent().put(url).send_empty(),
        _ => agent().delete(url).call(),
    };
    answer.unwrap().status().as_u16()
}

fn store(service: &Soml, text: &str) {
    let url = format!("{}/soml", service.base("GraphQL:"));
    let sent = agent().post(url).content_type("application/x-yaml");
    assert_eq!(sent.send(text).unwrap().status(), 201);
}

/// Returns the name of the schema that is bound to searches.
fn searched(service: &Soml) -> Option<String> {
    let search = service.base("Search:");
    let mut info = agent().get(format!("{search}/soml/info")).call().unwrap();
    match info.status().as_u16() {
        503 => None,
        status => {
            assert_eq!(status, 200);
            let info: Value =
                serde_json::from_str(&info.body_mut().read_to_string().unwrap()).unwrap();
            Some(info["schema"].as_str().unwrap().to_owned())
        }
    }
}

/// Returns what the check of searches says.
fn search_check(service: &Soml) -> String {
    check_at(service, "/__health?cache=false")
}

fn check_at(service: &Soml, path: &str) -> String {
    let record = get(service.base("Search:"), path);
    let checks = record["healthChecks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == "2100").unwrap();
    check["message"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_bound_to_searches_survives_a_restart_whatever_the_object_service_serves() {
    let folder = Folder::new();
    let services = Services(&folder);
    let data = folder.file("books.ttl", BOOKS);
    let library = folder.file("library.yaml", &books("library", SEARCHED));
    let first = services.start(&["--schema", &library, "--data", &data]);
    store(&first, &books("shelf", SEARCHED));
    let (objects, search) = (first.base("GraphQL:"), first.base("Search:"));
    assert_eq!(searched(&first).as_deref(), Some("library"));
    assert_eq!(send("PUT", search, "/soml/shelf/search"), 200);
    assert_eq!(searched(&first).as_deref(), Some("shelf"));
    assert_eq!(get(objects, "/soml/library")["bound"], true);
    stop(first);

    let second = services.start(&[]);
    let (objects, search) = (second.base("GraphQL:"), second.base("Search:"));
    assert_eq!(
        answer(&second, "{ book { title } }")["book"][0]["title"],
        "One"
    );
    assert_eq!(searched(&second).as_deref(), Some("shelf"));
    wait_until_indexed(search);
    let (_, found) = post(search, "{ book_search { hits { book { title } } } }", None);
    assert_eq!(
        found["data"]["book_search"]["hits"][0]["book"]["title"], "One",
        "{found}"
    );
    // Whatever happens to the one leaves the other alone.
    assert_eq!(send("DELETE", objects, "/soml/library/objects"), 204);
    assert_eq!(searched(&second).as_deref(), Some("shelf"));
    stop(second);

    let third = services.start(&[]);
    let (objects, search) = (third.base("GraphQL:"), third.base("Search:"));
    assert_eq!(post(objects, "{ book { title } }", None).0, 503);
    assert_eq!(searched(&third).as_deref(), Some("shelf"));
    assert_eq!(send("PUT", objects, "/soml/library/objects"), 200);
    assert_eq!(send("DELETE", search, "/soml/shelf/search"), 204);
    assert_eq!(searched(&third), None);
    stop(third);

    let fourth = services.start(&[]);
    assert_eq!(
        answer(&fourth, "{ book { title } }")["book"][0]["title"],
        "One"
    );
    assert_eq!(searched(&fourth), None, "{:#?}", fourth.said);
}

#[test]
fn the_schema_of_the_command_line_is_searched_in_place_of_what_was_bound_if_it_can_be_searched() {
    let folder = Folder::new();
    let services = Services(&folder);
    let data = folder.file("books.ttl", BOOKS);
    let library = folder.file("library.yaml", &books("library", SEARCHED));
    let shelf = folder.file("shelf.yaml", &books("shelf", SEARCHED));
    let plain = folder.file("plain.yaml", &books("plain", ""));
    stop(services.start(&["--schema", &library, "--data", &data]));
    for (arguments, wanted) in [
        (&["--schema", &shelf][..], "shelf"),
        (&[], "shelf"),
        (&["--schema", &plain], "shelf"),
        (
            &["--schema", &plain, "--set", "search.enabled=true"],
            "shelf",
        ),
        (&["--schema", &library], "library"),
        (&[], "library"),
    ] {
        let service = services.start(arguments);
        assert_eq!(searched(&service).as_deref(), Some(wanted), "{arguments:?}");
        stop(service);
    }
    // The same document with another content is searched as it is now.
    let renamed =
        books("library", SEARCHED).replace("title: {}", "title: {}, pages: {range: integer}");
    let library = folder.file("library.yaml", &renamed);
    let service = services.start(&["--schema", &library]);
    let search = service.base("Search:");
    let (_, found) = post(search, "{ book_search { hits { book { pages } } } }", None);
    let pages = found["data"]["book_search"]["hits"][0]["book"]["pages"].to_string();
    assert!(pages.contains("12"), "{found}");
}

#[test]
fn what_cannot_be_searched_any_more_is_named_and_objects_are_served() {
    let folder = Folder::new();
    let services = Services(&folder);
    let data = folder.file("books.ttl", BOOKS);
    let library = folder.file("library.yaml", &books("library", SEARCHED));
    let first = services.start(&["--schema", &library, "--data", &data]);
    store(&first, &books("shelf", SEARCHED));
    assert_eq!(
        send("PUT", first.base("Search:"), "/soml/shelf/search"),
        200
    );
    // The object service has nothing against it.
    let other = books(
        "shelf",
        "search: {index: yes, analysis: {analyzer: klingon}}, ",
    );
    assert_eq!(put(first.base("GraphQL:"), "/soml/shelf", &other), 200);
    stop(first);

    let second = services.start(&[]);
    assert_eq!(
        answer(&second, "{ book { title } }")["book"][0]["title"],
        "One"
    );
    assert_eq!(searched(&second), None);
    let said = search_check(&second);
    assert!(
        said.contains("`shelf`") && said.contains("SCHEMA_INVALID"),
        "{said}"
    );
    // Once it can be searched again, it is.
    assert_eq!(
        put(
            second.base("GraphQL:"),
            "/soml/shelf",
            &books("shelf", SEARCHED)
        ),
        200
    );
    stop(second);
    let third = services.start(&[]);
    assert_eq!(searched(&third).as_deref(), Some("shelf"));
    let (objects, search) = (third.base("GraphQL:"), third.base("Search:"));
    assert_eq!(send("DELETE", objects, "/soml/shelf"), 409, "it is bound");
    for named in ["SCHEMA_BOUND", "SCHEMA_INVALID", "SEARCH_IGNORES_ROLES"] {
        assert_eq!(code(&soml(&["explain", named])), Some(0), "{named}");
    }
    assert_eq!(send("DELETE", search, "/soml/shelf/search"), 204);
    assert!(!search_check(&third).contains("shelf"));
    assert_eq!(send("DELETE", objects, "/soml/shelf"), 204);
    assert_eq!(send("DELETE", search, "/soml/shelf/search"), 404);
    stop(third);
    let fourth = services.start(&[]);
    assert!(!search_check(&fourth).contains("shelf"));
}

#[test]
fn a_lost_document_that_is_searched_ends_the_start_and_is_named() {
    let folder = Folder::new();
    let services = Services(&folder);
    let data = folder.file("books.ttl", BOOKS);
    let library = folder.file("library.yaml", &books("library", SEARCHED));
    let first = services.start(&["--schema", &library, "--data", &data]);
    store(&first, &books("shelf", SEARCHED));
    assert_eq!(
        send("PUT", first.base("Search:"), "/soml/shelf/search"),
        200
    );
    stop(first);
    fs::remove_file(folder.path("data/schemas/documents/shelf.yaml")).unwrap();
    let said = folder.refused("DATA_DAMAGED");
    assert!(said.contains("shelf.yaml"), "{said}");
    // Objects are served without searches.
    let service = folder.serve(&["--set", "search.enabled=false"]);
    assert_eq!(
        answer(&service, "{ book { title } }")["book"][0]["title"],
        "One"
    );
}

#[test]
fn what_an_earlier_version_kept_beside_the_indexes_is_taken_over() {
    let folder = Folder::new();
    let services = Services(&folder);
    let data = folder.file("books.ttl", BOOKS);
    assert_eq!(code(&folder.load(&data)), Some(0));
    let place = folder.path("data/search/search-service");
    fs::create_dir_all(&place).unwrap();
    let kept = json!({"id": "shelf", "revision": "1", "text": books("shelf", SEARCHED)});
    fs::write(place.join("binding.json"), kept.to_string()).unwrap();
    for _ in 0..2 {
        let service = services.start(&[]);
        assert_eq!(searched(&service).as_deref(), Some("shelf"));
        stop(service);
        assert!(!place.join("binding.json").exists());
    }
}

#[test]
fn over_a_sparql_server_what_is_bound_to_searches_is_kept_with_its_document() {
    let folder = Folder::new();
    let server = SparqlServer::with(BOOKS);
    let place = format!("search.storage.location={}", folder.text("kept"));
    let flags = server.flags();
    let mut over: Vec<&str> = flags.iter().map(String::as_str).collect();
    over.extend(["--set", &place]);
    let with = |more: &[&'static str]| [&over[..], more].concat();
    // Whoever searches nothing gets no folder.
    stop(Soml::start(&over, &[], "Security:"));
    assert!(!folder.path("kept").exists());
    let library = folder.file("library.yaml", &books("library", SEARCHED));
    let named = [&over[..], &["--schema", &library]].concat();
    stop(Soml::start(&named, &[], "Search:"));
    let service = Soml::start(&over, &[], "Search:");
    assert_eq!(searched(&service).as_deref(), Some("library"));
    assert_eq!(
        send("DELETE", service.base("Search:"), "/soml/library/search"),
        204
    );
    stop(service);
    let service = Soml::start(&with(&["--set", "search.enabled=true"]), &[], "Search:");
    assert_eq!(searched(&service), None);
}

#[test]
fn with_security_on_what_was_bound_is_searched_where_searches_obey_roles_or_are_enabled() {
    let folder = Folder::new();
    let services = Services(&folder);
    let data = folder.file("books.ttl", BOOKS);
    let library = folder.file("library.yaml", &books("library", SEARCHED));
    stop(services.start(&["--schema", &library, "--data", &data]));
    let secret = [
        "--set",
        "security.secret=a secret of more than 32 bytes, for tests",
    ];
    let service = services.start(&secret);
    let said = check_at(&service, "/__health");
    assert!(
        said.contains("`library` is bound") && !said.contains("search.rbac"),
        "{said}"
    );
    stop(service);
    let ignored = [&secret[..], &["--set", "search.rbac.enabled=false"]].concat();
    let service = services.start(&ignored);
    let search = service.said.iter().find(|line| line.starts_with("Search:"));
    let search = search.unwrap_or_else(|| panic!("{:#?}", service.said));
    for part in [
        "Search:   off",
        "`Book`",
        "no `rbac` section",
        "search.enabled=true",
    ] {
        assert!(search.contains(part), "{part}: {search}");
    }
    stop(service);
    let enabled = [&ignored[..], &["--set", "search.enabled=true"]].concat();
    let service = services.start(&enabled);
    let said = check_at(&service, "/__health");
    assert!(said.contains("`library` is bound"), "{said}");
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
