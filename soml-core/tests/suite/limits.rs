//! Documents that are made to cost much.

use std::time::{Duration, Instant};

use soml_core::{Code, LoadOptions, Loaded, load, load_with};

fn codes(loaded: &Loaded) -> Vec<&'static str> {
    let mut codes: Vec<_> = loaded.diagnostics.iter().map(|d| d.code).collect();
    codes.dedup();
    codes
}

#[test]
fn bytes_nodes_depth_objects_properties_and_inheritance_are_bounded() {
    let chain: String = (1..20)
        .map(|i| format!("  A{i}: {{inherits: A{}, props: {{p{i}: }}}}\n", i - 1))
        .collect();
    let chain = format!("id: /soml/x\nobjects:\n  A0: {{}}\n{chain}");
    let none = LoadOptions::default();
    for options in [
        LoadOptions {
            max_bytes: 10,
            ..none.clone()
        },
        LoadOptions {
            max_nodes: 20,
            ..none.clone()
        },
        LoadOptions {
            max_depth: 3,
            ..none.clone()
        },
        LoadOptions {
            max_objects: 5,
            ..none.clone()
        },
        LoadOptions {
            max_properties: 30,
            ..none.clone()
        },
        LoadOptions {
            max_inheritance: 5,
            ..none.clone()
        },
        LoadOptions {
            max_text: 2_000,
            ..none.clone()
        },
    ] {
        let loaded = load_with(&chain, &options);
        assert_eq!(
            codes(&loaded),
            [Code::LimitExceeded.as_str()],
            "{options:?}"
        );
        assert!(loaded.schema.is_none());
    }
    assert!(load(&chain).schema.is_some());
}

#[test]
fn aliases_and_merge_keys_are_read() {
    let text = "id: /soml/x\nproperties: &shared\n  title: {min: 1}\nobjects:\n  Film: &film\n    props: *shared\n  \
                Trailer:\n    <<: *film\n    label: A short film\n";
    let loaded = load(text);
    assert!(codes(&loaded).is_empty());
    let schema = loaded.schema.expect("no errors");
    assert_eq!(schema[schema.objects[1].props[0]].min, 1);
    assert_eq!(schema.objects[1].label.as_deref(), Some("A short film"));
}

#[test]
fn a_tower_of_aliases_is_refused_and_not_expanded() {
    for tower in ["[*a, *a]", "{x: *a, y: *a}"] {
        let mut text = "k0: &a0 [x, x]\n".to_owned();
        for i in 1..60 {
            let value = tower.replace("*a", &format!("*a{}", i - 1));
            text.push_str(&format!("k{i}: &a{i} {value}\n"));
        }
        assert_eq!(codes(&load(&text)), [Code::LimitExceeded.as_str()]);
    }
}

#[test]
fn a_chain_of_aliases_counts_as_depth() {
    let mut text = "k0: &a0 [x]\n".to_owned();
    for i in 1..5000 {
        text.push_str(&format!("k{i}: &a{i} [*a{}]\n", i - 1));
    }
    text.push_str("rbac: {roles: {R: {filters: *a4999}}}\n");
    assert_eq!(codes(&load(&text)), [Code::LimitExceeded.as_str()]);
}

#[test]
fn findings_are_bounded_and_the_rest_is_counted() {
    let keys: String = (0..5_000).map(|i| format!("unknown{i}: x\n")).collect();
    let loaded = load(&keys);
    assert_eq!(loaded.diagnostics.len(), 1_000);
    assert_eq!(loaded.suppressed, 4_002);
    assert!(loaded.schema.is_some(), "warnings only");
}

#[test]
fn inherited_text_is_not_multiplied_without_bound() {
    let subclasses = |n: usize| {
        (0..n)
            .map(|i| format!("  S{i}: {{inherits: A}}\n"))
            .collect::<String>()
    };
    let long = "x".repeat(1 << 20);
    for text in [
        format!(
            "objects:\n  A: {{props: {{p: {{descr: {long}}}}}}}\n{}",
            subclasses(5_000)
        ),
        format!("objects:\n  A: {{regex: {long}}}\n{}", subclasses(5_000)),
        format!(
            "prefixes: {{p: 'http://{long}'}}\nobjects:\n  A: {{type: [{}]}}\n",
            (0..5_000).map(|i| format!("p:x{i}, ")).collect::<String>()
        ),
        format!(
            "specialPrefixes: {{vocab_iri: 'http://{long}'}}\nobjects:\n  A:\n{}",
            subclasses(5_000)
        ),
        format!(
            "config: {{search: {{analysis: {{analyzer: {long}}}}}}}\nobjects:\n  A: {{props: {{p: }}}}\n{}",
            subclasses(5_000)
        ),
    ] {
        let found = codes(&load(&text));
        assert!(
            found.contains(&Code::LimitExceeded.as_str()) || found.contains(&Code::BadIri.as_str()),
            "{}",
            &text[..60]
        );
    }
}

#[test]
fn hostile_documents_take_little_time() {
    let many = |n: usize, each: &dyn Fn(usize) -> String| (0..n).map(each).collect::<String>();
    let documents = [
        // Repeated keys, each only twice.
        many(2, &|_| many(20_000, &|i| format!("k{i}: x\n"))),
        // Ranges that are all nearly right.
        format!(
            "objects:\n{}",
            many(3_000, &|i| format!(
                "  Object{i:06}: {{props: {{p: {{range: Objet{i:06}}}}}}}\n"
            ))
        ),
        // One long line with findings everywhere.
        format!("{{{}}}", many(20_000, &|i| format!("k{i}: x, "))),
        // Deep brackets.
        "[".repeat(500_000),
        "{a: ".repeat(500_000),
        many(100_000, &|i| format!("{}- a\n", " ".repeat(i % 50))),
        // A merge of a merge of a merge.
        format!(
            "k: &a {{x: 1}}\n{}",
            many(3_000, &|i| format!(
                "m{i}: &m{i} {{<<: [*a, *a, *a], y{i}: 1}}\n"
            ))
        ),
    ];
    for (i, text) in documents.iter().enumerate() {
        let start = Instant::now();
        let _ = load(text);
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "document {i}: {:?}",
            start.elapsed()
        );
    }
}
