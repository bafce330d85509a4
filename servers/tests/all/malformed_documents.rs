//! Documents that break the specification of their syntax, or that use what is not read of it: each is an
//! error that says where and what, or read as the specification says, and nothing vanishes.

use std::fs;
use std::path::PathBuf;

use rdf_load::{
    ContextFile, Finding, FindingKind, LoadError, LoadObserver, LoadOptions, load_files,
};
use tempfile::TempDir;

use crate::command_line::{code, err, soml};
use crate::images;

const RDF: &str = "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" \
                   xmlns:e=\"http://e/\">";

#[derive(Default)]
struct Found(Vec<Finding>);

impl LoadObserver for Found {
    fn finding(&mut self, finding: &Finding) {
        self.0.push(finding.clone());
    }

    fn progress(&mut self, _bytes: u64, _statements: u64) {}
}

/// What came of a file.
struct Loaded {
    statements: Vec<String>,
    /// Lines of skipped statements, and what is said of them.
    skipped: Vec<(u64, String)>,
    kept: Vec<Finding>,
}

impl Loaded {
    fn lines(&self) -> Vec<u64> {
        self.skipped.iter().map(|(line, _)| *line).collect()
    }
}

fn load_with(name: &str, text: &str, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    let store = images::empty();
    let mut found = Found::default();
    load_files(&store, &[path], options, &mut found)?;
    let (skipped, kept) = found
        .0
        .into_iter()
        .filter(|finding| finding.line.is_some())
        .partition::<Vec<_>, _>(|finding| finding.kind == FindingKind::StatementSkipped);
    let mut statements: Vec<_> = store
        .snapshot()
        .iter()
        .map(|quad| quad.to_string())
        .collect();
    statements.sort();
    Ok(Loaded {
        statements,
        skipped: skipped
            .into_iter()
            .map(|finding| (finding.line.unwrap(), finding.message))
            .collect(),
        kept,
    })
}

fn loaded(name: &str, text: &str) -> Loaded {
    load_with(name, text, &LoadOptions::default()).unwrap()
}

fn failed(name: &str, text: &str) -> String {
    let failed = load_with(name, text, &LoadOptions::default());
    failed.err().unwrap().to_string()
}

/// The objects of `<http://e/p>`, as they are written.
fn objects(loaded: &Loaded) -> Vec<&str> {
    let parts = loaded.statements.iter();
    parts
        .filter_map(|statement| Some(statement.split_once(" <http://e/p> ")?.1))
        .collect()
}

#[test]
fn an_unknown_parse_type_is_a_literal() {
    let text = format!(
        "{RDF}\n <e:A rdf:about=\"http://e/a\"><e:p rdf:parseType=\"literal\"><b>x</b></e:p>\n\
         <e:p rdf:parseType=\"daml:collection\"><e:A rdf:about=\"http://e/in\"/></e:p>\n\
         <e:p rdf:parseType=\"\">text</e:p>\n<e:p rdf:parseType=\"Statements\">plain</e:p>\n\
         <e:q>kept</e:q></e:A>\n<e:A rdf:about=\"http://e/b\"><e:q>after</e:q></e:A></rdf:RDF>"
    );
    let loaded = loaded("a.rdf", &text);
    let objects = objects(&loaded);
    let xml =
        |text: &str| format!("\"{text}\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral>");
    assert_eq!(objects.len(), 4, "{objects:?}");
    assert!(objects.contains(&xml("plain").as_str()) && objects.contains(&xml("text").as_str()));
    assert!(objects.iter().any(|object| object.contains(">x</b>")));
    assert!(
        objects
            .iter()
            .any(|object| object.contains("rdf:about=\\\"http://e/in\\\""))
    );
    assert_eq!(loaded.statements.len(), 8);
}

#[test]
fn an_xml_literal_may_be_empty() {
    for inner in [
        "<e:p rdf:parseType='Literal'/>",
        "<e:p rdf:parseType='Literal'></e:p>",
        "<e:p rdf:parseType='other'\n></e:p\n>",
    ] {
        let text = format!("{RDF}\n<rdf:Description>{inner}</rdf:Description></rdf:RDF>");
        let objects = loaded("a.rdf", &text);
        let empty = "\"\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral>";
        assert_eq!(self::objects(&objects), [empty], "{inner}");
    }
}

#[test]
fn what_is_of_rdf_xml_1_2_is_refused_by_name() {
    let node = |attributes: &str, inner: &str| {
        format!("{RDF}\n<rdf:Description {attributes}>\n{inner}</rdf:Description></rdf:RDF>")
    };
    for (text, name) in [
        (
            node("", "<e:p rdf:parseType='Triple'/>"),
            "rdf:parseType=\"Triple\"",
        ),
        (
            node("", "<e:p rdf:annotation='http://e/r'>x</e:p>"),
            "rdf:annotation",
        ),
        (
            node("", "<e:p rdf:annotationNodeID='r'>x</e:p>"),
            "rdf:annotationNodeID",
        ),
        (
            node(
                "",
                "<e:p xmlns:i='http://www.w3.org/2005/11/its' i:dir='rtl'>x</e:p>",
            ),
            "i:dir",
        ),
    ] {
        let error = failed("a.rdf", &text);
        let place = format!("a.rdf:3: {name}");
        assert!(
            error.contains(&place) && error.contains("RDF/XML 1.2"),
            "{error}"
        );
    }
    let announced = RDF.replace('>', " rdf:version=\"1.2\">");
    let text = format!("{announced}<rdf:Description><e:p>x</e:p></rdf:Description></rdf:RDF>");
    assert_eq!(loaded("a.rdf", &text).statements.len(), 1);
}

#[test]
fn a_tag_with_very_many_attributes_is_refused() {
    let attributes = |count: usize| -> String {
        let attributes = (0..count).map(|n| format!(" e:p{n}='x'"));
        attributes.collect()
    };
    let text = |count| format!("{RDF}\n<rdf:Description{}/></rdf:RDF>", attributes(count));
    assert_eq!(loaded("a.rdf", &text(1_024)).statements.len(), 1_024);
    let error = failed("a.rdf", &text(1_025));
    assert!(
        error.contains("a.rdf:2: a tag has more than 1,024 attributes"),
        "{error}"
    );
}

#[test]
fn an_id_twice_and_attributes_of_other_elements_are_errors() {
    let twice = "<rdf:Description rdf:ID='a'><e:p>1</e:p></rdf:Description>\n".repeat(2);
    let error = failed("a.rdf", &format!("{RDF}\n{twice}</rdf:RDF>"));
    assert!(
        error.contains("a.rdf:3:") && error.contains("#a"),
        "{error}"
    );
    for attribute in [
        "rdf:resource='http://e/x'",
        "rdf:parseType='Literal'",
        "rdf:datatype='a:b'",
    ] {
        let error = failed(
            "a.rdf",
            &format!("{RDF}\n<rdf:Description {attribute}/></rdf:RDF>"),
        );
        assert!(
            error.contains("a.rdf:2: rdf:") && error.contains("node element"),
            "{error}"
        );
    }
}

#[test]
fn malformed_tags_and_iris_cost_no_more_in_rdf_xml_than_elsewhere() {
    let text = format!(
        "{RDF}\n<rdf:Description rdf:about='http://e/s' xml:lang='zh-classical'>\n<e:p>a</e:p>\n\
         <e:p xml:lang=''>b</e:p>\n<e:p rdf:resource='http://e/x y'/>\n\
         <e:p rdf:parseType='Literal'><i xml:lang='zh-classical'/></e:p>\n\
         </rdf:Description></rdf:RDF>"
    );
    let loaded = loaded("a.rdf", &text);
    let objects = objects(&loaded);
    assert!(
        objects.contains(&"\"a\"@zh-classical") && objects.contains(&"\"b\""),
        "{objects:?}"
    );
    assert!(
        objects
            .iter()
            .any(|object| object.contains("xml:lang=\\\"zh-classical\\\""))
    );
    assert_eq!(loaded.statements.len(), 3);
    assert_eq!(loaded.lines(), [5]);
    assert!(
        loaded.skipped[0].1.contains("<http://e/x y>"),
        "{:?}",
        loaded.skipped
    );
    let kept = &loaded.kept[0];
    assert_eq!(
        (kept.line, kept.kind),
        (Some(3), FindingKind::LanguageTagKept)
    );
}

#[test]
fn an_illegal_escape_in_a_name_is_an_error_on_its_line() {
    let text = "@prefix dbr: <http://dbpedia.org/resource/> .\n@prefix e: <http://e/> .\n\
                dbr:Caf\\u00e9 e:p \"1\" .\ne:a\\rb e:p 1 .\ne:a\\tb e:p 1 .\ne:a\\\"b e:p 1 .\n\
                e:a\\\\b e:p 1 .\ne:a\\ub e:p 1 .\ne:a\\u0020b e:p 1 .\ne:c\\~d e:p 2 .\n\
                e:s e:p e:x\\u0041y .\n";
    let loaded = loaded("a.ttl", text);
    assert_eq!(loaded.lines(), [3, 4, 5, 6, 7, 8, 9, 11]);
    assert_eq!(loaded.statements.len(), 1, "{:?}", loaded.statements);
    assert!(loaded.statements[0].starts_with("<http://e/c~d>"));
    assert!(
        loaded.skipped[0].1.contains("escape sequence in a name"),
        "{:?}",
        loaded.skipped
    );
}

#[test]
fn what_an_error_cuts_is_not_kept() {
    for object in [
        "e:AT&T",
        "e:O'Brien",
        "e:me@example",
        "me@example.org",
        "2024-01-01",
        "12abc",
        "1.5.6",
        "\"x\"@en_US",
        "\"x\"@en-",
        "\"He said \"hi\" to me\"",
        "\"\\ud83d\\ude00\"",
        "\"5\"^e:int",
        "e:a^b",
        "e:a|b",
        "e:a%zz",
    ] {
        let text = format!(
            "@prefix e: <http://e/> .\ne:a e:p 'one' .\ne:s e:p {object} .\ne:b e:p 'two' .\n"
        );
        for name in ["a.ttl", "a.trig"] {
            let loaded = loaded(name, &text);
            let objects = objects(&loaded);
            assert_eq!(objects, ["\"one\"", "\"two\""], "{object}");
            // A dot may end the statement before its line does.
            assert!(loaded.lines().iter().all(|line| *line == 3), "{object}");
            assert!(!loaded.skipped.is_empty(), "{object}");
        }
    }
    let text = "<http://e/a> <http://e/p> \"He said \"hi\" to me\" .\n\
                <http://e/a> <http://e/p> \"x\"@en_US .\n<http://e/a> <http://e/p> \"y\" .\n";
    let lines = loaded("a.nt", text);
    assert_eq!(
        (objects(&lines), lines.lines()),
        (vec!["\"y\""], vec![1, 2])
    );
    // What comes before in the statement is whole.
    let kept = loaded(
        "a.ttl",
        "@prefix e: <http://e/> .\ne:s e:p 'kept' , e:x&y .\n",
    );
    assert_eq!(objects(&kept), ["\"kept\""]);
}

#[test]
fn tokens_need_no_space_where_turtle_needs_none() {
    let text = "@prefix e:<http://e/>.e:a e:p'1'.e:b e:p\"2\"@en,<http://e/c>;e:p e:d#comment\n\
                .e:e e:p(\"x\"e:f true 1.5),[e:p _:b].e:g e:p true,false,1,+1.5,.5e1,_:c.\n\
                <http://e/s><http://e/p><http://e/o>.";
    let loaded = loaded("a.ttl", text);
    assert_eq!(loaded.skipped, []);
    assert_eq!(loaded.statements.len(), 22);
}

#[test]
fn an_announced_version_is_read_and_swallows_nothing() {
    for version in [
        "VERSION \"1.2\"",
        "version '1.1'",
        "@version \"1.2-basic\" .",
    ] {
        let text = format!("{version}\n@prefix e: <http://e/> .\ne:a e:p '1' .\ne:b e:p '2' .\n");
        let turtle = loaded("a.ttl", &text);
        assert_eq!(objects(&turtle), ["\"1\"", "\"2\""], "{version}");
        assert_eq!((turtle.skipped, turtle.kept), (vec![], vec![]), "{version}");
        let text = format!("{version}\nPREFIX e: <http://e/>\nGRAPH e:g {{ e:a e:p '1' }}\n");
        assert_eq!(
            objects(&loaded("a.trig", &text)),
            ["\"1\" <http://e/g>"],
            "{version}"
        );
    }
    let lines = loaded(
        "a.nt",
        "VERSION \"1.2\"\n<http://e/a> <http://e/p> \"1\" .\n",
    );
    assert_eq!((objects(&lines), lines.skipped.len()), (vec!["\"1\""], 0));
    for version in [
        "VERSION \"2\"",
        "VERSION 1.2",
        "VERSION",
        "@version \"2\" .",
    ] {
        let text = format!("{version}\n@prefix e: <http://e/> .\ne:a e:p '1' .\n");
        let loaded = loaded("a.ttl", &text);
        assert!(
            loaded.skipped[0].1.contains("VERSION"),
            "{:?}",
            loaded.skipped
        );
        assert_eq!(loaded.skipped.len(), 1, "{:?}", loaded.skipped);
        if version != "VERSION" {
            assert_eq!(
                (objects(&loaded), loaded.lines()),
                (vec!["\"1\""], vec![1]),
                "{version}"
            );
        }
    }
}

#[test]
fn a_version_that_is_not_announced_swallows_no_statement_on_the_next_lines() {
    for next in [
        "[] <http://e/p> '1' .",
        "() <http://e/p> '1' .",
        "{ <http://e/x> <http://e/p> '1' }",
        "<http://e/x> <http://e/p> '1' .",
    ] {
        let text = format!("VERSION\n\n {next}\n<http://e/a> <http://e/p> '2' .\n");
        let loaded = loaded("a.trig", &text);
        let mut objects = objects(&loaded);
        objects.sort_unstable();
        assert_eq!(objects, ["\"1\"", "\"2\""], "{next}");
        assert_eq!(loaded.lines(), [1], "{next}: {:?}", loaded.skipped);
    }
    for version in [
        "VERSION .",
        "VERSION [",
        "VERSION &",
        "VERSION \"1.2",
        "@version .",
        "@version [] .",
        "@version \"1.2 .",
    ] {
        let text = format!("{version}\n<http://e/a> <http://e/p> '1' .\n");
        let loaded = loaded("a.ttl", &text);
        assert_eq!(objects(&loaded), ["\"1\""], "{version}");
        assert_eq!(loaded.lines(), [1], "{version}: {:?}", loaded.skipped);
        assert!(loaded.skipped[0].1.contains("VERSION"), "{version}");
    }
}

#[test]
fn bases_of_nested_elements_are_bounded() {
    let open = format!(
        "<rdf:Description xml:base='{}/'><e:p>\n",
        "b".repeat(10_000)
    );
    let text = format!("{RDF}\n{}", open.repeat(100));
    let options = LoadOptions {
        base: Some("http://e/".to_owned()),
        ..LoadOptions::default()
    };
    let error = load_with("a.rdf", &text, &options).err().unwrap();
    let error = error.to_string();
    assert!(
        error.contains("a.rdf:") && error.contains("xml:base"),
        "{error}"
    );
}

#[test]
fn a_reference_is_resolved_against_a_base_whose_path_has_no_slash_at_its_beginning() {
    let loaded = loaded(
        "a.ttl",
        "@base <tag:e.org,2024:a/./b> .\n<g> <http://e/p> \"x\" .\n",
    );
    let expected = "<tag:e.org,2024:a/g> <http://e/p> \"x\"";
    assert_eq!(loaded.statements, [expected]);
}

#[test]
fn a_json_document_of_which_nothing_can_be_read_is_no_load() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.json");
    fs::write(&path, "{\"name\": \"x\"}").unwrap();
    let store = images::empty();
    let mut found = Found::default();
    let loaded = load_files(&store, &[path], &LoadOptions::default(), &mut found);
    assert!(
        matches!(loaded, Err(LoadError::NothingRead { .. })),
        "{loaded:?}"
    );
    assert!(!found.0.is_empty());
}

#[test]
fn what_is_of_rdf_1_2_in_turtle_is_refused_by_name() {
    let text = "@prefix e: <http://e/> .\n<<e:a e:q e:b>> e:p 1 .\ne:a e:p '1' {| e:q 2 |} .\n\
                e:a e:q <<( e:a e:q e:b )>> .\ne:z e:p '3' .\n";
    let found = loaded("a.ttl", text);
    assert_eq!(found.lines(), [2, 3, 4]);
    assert!(
        found
            .skipped
            .iter()
            .all(|(_, message)| message.contains("RDF 1.2"))
    );
    assert_eq!(objects(&found), ["\"3\""]);
    let direction = loaded(
        "a.nt",
        "<http://e/a> <http://e/p> \"x\"@en--ltr .\n<a:b> <a:b> <a:b> .",
    );
    assert!(
        direction.skipped[0].1.contains("RDF 1.2"),
        "{:?}",
        direction.skipped
    );
}

#[test]
fn dot_segments_of_a_base_are_removed_in_every_syntax() {
    let expected = [
        "<urn:s> <urn:p> <http://a/bb/ccc/g>",
        "<urn:s> <urn:p> <http://a/bb/ccc/h>",
        "<urn:s> <urn:p> <http://a/bb/i>",
    ];
    let base = "http://a/bb/ccc/./d;p?q";
    let turtle = "<urn:s> <urn:p> <g> , <./h>, <../i> .";
    let xml = |base: &str| {
        format!(
            "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"{base} \
             xmlns:u=\"urn:\"><rdf:Description rdf:about=\"urn:s\"><u:p rdf:resource=\"g\"/>\
             <u:p rdf:resource=\"./h\"/><u:p rdf:resource=\"../i\"/></rdf:Description></rdf:RDF>"
        )
    };
    let json = |base: &str| {
        format!(
            "{{\"@context\":{{{base}\"p\":{{\"@id\":\"urn:p\",\"@type\":\"@id\"}}}},\
             \"@id\":\"urn:s\",\"p\":[\"g\",\"./h\",\"../i\"]}}"
        )
    };
    let given = LoadOptions {
        base: Some(base.to_owned()),
        ..LoadOptions::default()
    };
    for (name, text, options) in [
        (
            "a.ttl",
            format!("@base <{base}> .\n{turtle}"),
            LoadOptions::default(),
        ),
        (
            "a.trig",
            format!("BASE <{base}>\n{{ {turtle} }}"),
            LoadOptions::default(),
        ),
        (
            "a.rdf",
            xml(&format!(" xml:base=\"{base}\"")),
            LoadOptions::default(),
        ),
        (
            "a.jsonld",
            json(&format!("\"@base\":\"{base}\",")),
            LoadOptions::default(),
        ),
        ("b.ttl", turtle.to_owned(), given.clone()),
        ("b.rdf", xml(""), given.clone()),
        ("b.jsonld", json(""), given),
    ] {
        let loaded = load_with(name, &text, &options).unwrap();
        assert_eq!(loaded.statements, expected, "{name}");
    }
}

#[test]
fn a_malformed_iri_costs_its_triples_and_no_others() {
    let text = "@prefix e: <http://e/> .\n@prefix bad: <http://e/x y/> .\n\
                e:s e:p <http://e/a b> , '1' ; e:p bad:c , '2' ; e:p <\\u0020> .\n\
                <http://[/> e:p '3' .\ne:g e:p '4'^^<a b> , '5' .\n";
    let loaded = loaded("a.ttl", text);
    assert_eq!(objects(&loaded), ["\"5\"", "\"1\"", "\"2\""]);
    assert_eq!(loaded.lines(), [3, 3, 3, 4, 5]);
    assert!(
        loaded.skipped[1].1.contains("<http://e/x y/c>"),
        "{:?}",
        loaded.skipped
    );
}

#[test]
fn a_load_of_which_nothing_can_be_read_is_an_error() {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, text: &str| -> PathBuf {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n";
    let func = "Prefix(:=<http://ex.org/>)\nOntology(<http://ex.org/o>\nDeclaration(Class(:A)))\n";
    for (name, text, expected) in [
        ("pointer.ttl", pointer, "Git LFS"),
        (
            "none.ttl",
            "nothing here is Turtle\n",
            "nothing of the data could be read",
        ),
        ("none.nt", "a\nb\n", "nothing of the data could be read"),
        ("func.owl", func, "--data-format"),
        ("turtle.rdf", "@prefix e: <http://e/> .\n", "not XML"),
        ("turtle.jsonld", "@prefix e: <http://e/> .\n", "not JSON"),
    ] {
        let path = write(name, text);
        for flags in [&[][..], &["--strict"]] {
            let mut arguments = vec!["infer", path.to_str().unwrap()];
            arguments.extend(flags);
            let output = soml(&arguments);
            assert_eq!(code(&output), Some(1), "{name}: {}", err(&output));
            if flags.is_empty() {
                assert!(err(&output).contains(expected), "{name}: {}", err(&output));
            }
        }
    }
    // Of several files, one is named, and the others are loaded.
    let none = write("other.nt", "a\n");
    let some = write("some.nt", "<http://e/a> <http://e/p> \"1\" .\n");
    let output = soml(&["infer", none.to_str().unwrap(), some.to_str().unwrap()]);
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    let said = err(&output);
    assert!(
        said.contains("other.nt: nothing of the file could be read"),
        "{said}"
    );
}

#[test]
fn a_remote_context_is_named_and_read_from_the_file_that_is_given_for_it() {
    let text = "{\"@context\": \"https://e.org/c\",\n\"@id\": \"http://e/s\", \"name\": \"x\"}";
    let error = failed("a.jsonld", text);
    assert!(
        error.contains("a.jsonld:") && error.contains("https://e.org/c"),
        "{error}"
    );
    assert!(error.contains("--context https://e.org/c=FILE"), "{error}");
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("c.jsonld");
    let load = |context: &str| {
        fs::write(&path, context).unwrap();
        let options = LoadOptions {
            contexts: vec![ContextFile {
                url: "https://e.org/c".to_owned(),
                path: path.clone(),
            }],
            ..LoadOptions::default()
        };
        load_with("a.jsonld", text, &options)
    };
    let loaded = load("{\"@context\": {\"name\": \"http://e/p\"}}").unwrap();
    assert_eq!(objects(&loaded), ["\"x\""]);
    for (context, expected) in [
        ("x", "c.jsonld"),
        ("[]", "must be a map"),
        (&"[".repeat(600), "deep"),
    ] {
        let error = load(context).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let data = dir.path().join("a.jsonld");
    fs::write(&data, text).unwrap();
    fs::write(&path, "{\"@context\": {\"name\": \"http://e/p\"}}").unwrap();
    let context = format!("https://e.org/c={}", path.display());
    let output = soml(&["infer", data.to_str().unwrap(), "--context", &context]);
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    assert!(err(&output).contains("1 triple"), "{}", err(&output));
    let output = soml(&[
        "infer",
        data.to_str().unwrap(),
        "--context",
        "https://e.org/c",
    ]);
    assert!(err(&output).contains("URL=FILE"), "{}", err(&output));
}
