//! Data files that are malformed, cut off or made to do harm: what is left out is said, and nothing
//! else is lost.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rdf_load::{
    Finding, FindingKind, LoadError, LoadObserver, LoadOptions, LoadSummary, load_files,
};
use tempfile::TempDir;

use crate::command_line::{code, err, soml, soml_with_input};
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

struct Loaded {
    summary: LoadSummary,
    /// Lines of skipped statements.
    skipped: Vec<u64>,
    /// Objects of `<http://e/p>`, with their graphs.
    objects: Vec<String>,
}

fn load(name: &str, text: &[u8]) -> Result<Loaded, LoadError> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    let store = images::empty();
    let mut found = Found::default();
    let summary = load_files(&store, &[path], &LoadOptions::default(), &mut found)?;
    let skipped = found
        .0
        .iter()
        .filter(|f| f.kind == FindingKind::StatementSkipped);
    let mut objects: Vec<_> = store
        .snapshot()
        .iter()
        .map(|quad| {
            if quad.graph_name.is_default_graph() {
                quad.object.to_string()
            } else {
                format!("{} {}", quad.object, quad.graph_name)
            }
        })
        .collect();
    objects.sort();
    Ok(Loaded {
        summary,
        skipped: skipped.map(|finding| finding.line.unwrap()).collect(),
        objects,
    })
}

fn loaded(name: &str, text: impl AsRef<[u8]>) -> Loaded {
    load(name, text.as_ref()).unwrap()
}

fn failed(name: &str, text: impl AsRef<[u8]>) -> LoadError {
    load(name, text.as_ref()).err().unwrap()
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

#[test]
fn a_byte_that_is_no_utf_8_costs_its_statement_and_no_other() {
    for name in ["a.nt", "a.nq", "a.ttl", "a.trig"] {
        let text = joined(&[
            b"<http://e/a> <http://e/p> \"1\" .\n<http://e/b> <http://e/p> \"ab\xffc\" .\n",
            b"<http://e/c> <http://e/p> \"2\" .\n<http://e/\xff> <http://e/p> \"x\" .\n",
            b"# \xff is a comment\n<http://e/d> <http://e/p> \"3\" .\n",
        ]);
        let loaded = loaded(name, &text);
        assert_eq!(loaded.objects, ["\"1\"", "\"2\"", "\"3\""], "{name}");
        assert_eq!(loaded.skipped, [2, 4], "{name}");
        assert_eq!(loaded.summary.statements_skipped, 2, "{name}");
    }
    let text = joined(&[
        b"@prefix e: <http://e/> .\ne:a e:p \"\"\"one\nt\xffo\nthree\"\"\" .\n",
        b"e:b e:p e:\xff .\ne:c e:p '1' ; e:p \"a\xff\\\"b\" .\ne:d e:p '2' .\n",
    ]);
    let loaded = loaded("a.ttl", &text);
    assert_eq!(loaded.objects, ["\"1\"", "\"2\""]);
    assert_eq!(loaded.skipped, [2, 5, 6]);
}

#[test]
fn a_malformed_escape_in_a_name_costs_its_statement_and_no_other() {
    for name in ["a.nt", "a.nq"] {
        for malformed in ["_:a \\<", "_:a e:%", "_:a e:b\\", "\\\"", "_:a\\'"] {
            let text = format!(
                "<http://e/a> <http://e/p> \"1\" .\n{malformed}\n<http://e/b> <http://e/p> \"2\" .\n"
            );
            let loaded = loaded(name, &text);
            assert_eq!(loaded.objects, ["\"1\"", "\"2\""], "{name}: {malformed}");
            assert_eq!(loaded.skipped, [2], "{name}: {malformed}");
        }
    }
    let text = "@prefix e: <http://e/> .\ne:a e:p \"1\" .\ne:a e:p e:b\\<c .\ne:a e:p \\'x .\n\
                e:a e:p e\\'x:y .\ne:a e:p _:b\\'x .\ne:a e:p e:%\ne:a e:p \"2\" .\n";
    let loaded = self::loaded("a.ttl", text);
    assert_eq!(loaded.objects, ["\"1\""]);
    assert_eq!(loaded.skipped, [3, 4, 5, 6, 7]);
}

#[test]
fn a_literal_that_is_never_closed_ends_with_its_line() {
    for name in ["a.nt", "a.ttl"] {
        let text = "<http://e/a> <http://e/p> \"1\" .\n<http://e/b> <http://e/p> \"abc .\n\
                    <http://e/c> <http://e/p> \"2\" .\n<http://e/d> <http://e/p> <http://e .\n\
                    <http://e/e> <http://e/p> \"3\" .\n";
        let loaded = loaded(name, text);
        assert_eq!(loaded.objects, ["\"1\"", "\"2\"", "\"3\""], "{name}");
        assert_eq!(loaded.skipped, [2, 4], "{name}");
        // From each quote to the end of its line.
        assert_eq!(loaded.summary.bytes_not_read, 7 + 12, "{name}");
        let said = loaded.summary.to_string();
        assert!(
            said.contains("2 malformed statements skipped (19 bytes not read)"),
            "{said}"
        );
    }
    // What remains of the statement is malformed too, and does not become one of its own.
    let text = "@prefix e: <http://e/> .\ne:a e:p \"abc ;\n  e:p e:b ;\n  e:q e:c .\n\
                e:d e:p \"1\" .\ne:e e:p ( \"abc\n  e:p e:b e:c ) .\ne:f e:p \"2\" .\n";
    let loaded = loaded("a.ttl", text);
    assert_eq!(loaded.objects[..2], ["\"1\"", "\"2\""]);
    assert_eq!(loaded.skipped, [2, 3, 6]);
}

#[test]
fn after_a_malformed_statement_reading_goes_on_at_the_next_one() {
    let text = "@prefix e: <http://e/> .\ne:a e:p .\ne:b e:p \"1\" .\ne:c nope:p e:x , e:y .\n\
                e:d e:p \"2\" . e:e e:p ; . e:f e:p \"3\" . e:g e:p \"a\\xb\" . e:h e:p \"4\".\n\
                e:i e:p [ e:q ] .\ne:j e:p \"5\" .\n";
    let loaded = loaded("a.ttl", text);
    assert_eq!(
        loaded.objects,
        ["\"1\"", "\"2\"", "\"3\"", "\"4\"", "\"5\""]
    );
    assert_eq!(loaded.skipped, [2, 4, 5, 5, 6]);
    let text = "<http://e/a> <http://e/p> .\n<http://e/b> <http://e/p> \"1\" .\r\n\
                nonsense\r\n<http://e/c> <http://e/p> \"2\" .\r<http://e/d> .\r\
                <http://e/e> <http://e/p> \"3\" .\n\"\n<http://e/f> <http://e/p> \"4\" .";
    let loaded = self::loaded("a.nt", text);
    assert_eq!(loaded.objects, ["\"1\"", "\"2\"", "\"3\"", "\"4\""]);
    assert_eq!(loaded.skipped.len(), 4);
}

#[test]
fn statements_after_a_malformed_one_stay_in_their_graph() {
    let text = "PREFIX e: <http://e/>\ne:g { e:a e:p \"1\" . e:b e:p . e:c e:p \"2\" .\n\
                e:d nope:p \"x\" . e:e e:p \"\\x\" .\n  e:f e:p \"3\" }\n\
                GRAPH e:h {\n  e:a e:p \"open .\n  e:b e:p \"4\" .\n}\n\
                { e:a e:p \"5\" . nope:b e:p \"x\" . e:c e:p \"6\" }\ne:z e:p \"7\" .\n";
    let loaded = loaded("a.trig", text);
    let expected = [
        "\"1\" <http://e/g>",
        "\"2\" <http://e/g>",
        "\"3\" <http://e/g>",
        "\"4\" <http://e/h>",
        "\"5\"",
        "\"6\"",
        "\"7\"",
    ];
    assert_eq!(loaded.objects, expected);
    assert_eq!(loaded.skipped, [2, 3, 3, 6, 9]);
    // There is no way back into a graph without a name; what follows in it is left out, and counted.
    let text = "@prefix e: <http://e/> .\n[] { e:a e:p . e:b e:p \"1\" . e:c e:p \"2\" }\n\
                e:d e:p \"3\" .\n";
    let loaded = self::loaded("a.trig", text);
    assert_eq!(loaded.objects, ["\"3\""]);
    assert_eq!(loaded.skipped, [2]);
    assert!(loaded.summary.bytes_not_read > 20, "{}", loaded.summary);
}

#[test]
fn a_file_that_is_cut_off_is_an_error_at_whatever_byte() {
    let dir = TempDir::new().unwrap();
    let text = "@prefix e: <http://e/> .\ne:a e:p \"\"\"one\ntwo\"\"\"@en , <http://e/x> ;\n  \
                e:q 'x', 1.5 .";
    let from = text.find("e:a").unwrap() + 1;
    for end in from..text.len() {
        let part = &text[..end];
        if part.ends_with("1.") {
            // A whole statement about an integer.
            continue;
        }
        let result = load("a.ttl", part.as_bytes());
        let ended_in_a_literal = part.matches("\"\"\"").count() == 1;
        match result {
            Err(LoadError::CutOff { line, bytes, .. }) => {
                // Where the statement begins, or a token that is not closed.
                assert!((2..=4).contains(&line), "{part}");
                assert!(bytes > 0, "{part}");
            }
            other => {
                // A line that ends inside a statement may have been meant.
                assert!(part.ends_with('\n') && !ended_in_a_literal, "{part}");
                assert_eq!(other.unwrap().summary.statements_skipped, 1, "{part}");
            }
        }
    }
    for (name, text) in [
        (
            "a.nt",
            "<http://e/a> <http://e/p> \"1\" .\n<http://e/b> <http://e/p> \"ab",
        ),
        (
            "b.nq",
            "<http://e/a> <http://e/p> \"1\" .\n<http://e/b> <http://e/p",
        ),
        (
            "c.trig",
            "<http://e/g> {\n<http://e/a> <http://e/p> \"1\" .",
        ),
        ("d.ttl", "<http://e/a> <http://e/p> \"\"\"1\n"),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let output = soml(&["infer", path.to_str().unwrap()]);
        assert_eq!(code(&output), Some(1), "{name}: {}", err(&output));
        let said = err(&output);
        assert!(
            said.contains("truncated") && said.contains("bytes not read"),
            "{said}"
        );
    }
    // A last line without its line feed is whole all the same.
    assert_eq!(
        loaded("a.nt", "<http://e/a> <http://e/p> \"1\" .").objects,
        ["\"1\""]
    );
    assert_eq!(loaded("a.ttl", "PREFIX e: <http://e/>").objects.len(), 0);
}

#[test]
fn a_long_literal_of_many_lines_takes_time_in_proportion_to_its_length() {
    let text = |lines: usize| {
        let literal = "x y z, and some more to fill a line of text\n".repeat(lines);
        format!(
            "<http://e/a> <http://e/p> \"\"\"{literal}\"\"\"@zh-classical .\n<http://e/b> <http://e/p> .\n"
        )
    };
    let time = |lines: usize| {
        let text = text(lines);
        let from = Instant::now();
        let loaded = loaded("a.ttl", text);
        assert_eq!(
            (loaded.summary.added, loaded.summary.language_tags_kept),
            (1, 1)
        );
        assert_eq!(loaded.skipped, [lines as u64 + 2]);
        from.elapsed()
    };
    // Other work may disturb one measurement, and does not make up for 64 times as long in each.
    let is_proportional = || {
        let short = time(10_000).max(Duration::from_millis(20));
        time(80_000) < short * 24
    };
    assert!((0..10).any(|_| is_proportional()));
}

#[test]
fn a_token_may_be_long_but_not_of_any_length_and_the_line_is_said() {
    let literal = |bytes: usize| {
        let text = "0123456789abcde\n".repeat(bytes / 16);
        format!(
            "<http://e/a> <http://e/p> \"1\" .\n<http://e/b> <http://e/p> \"\"\"{text}\"\"\" .\n"
        )
    };
    assert_eq!(loaded("a.ttl", literal(14 << 20)).summary.added, 2);
    for (name, text, expected) in [
        ("a.ttl", literal(16 << 20), 2),
        (
            "a.nt",
            format!(
                "\n\n<http://e/a> <http://e/p> \"{}\" .\n",
                "x".repeat(16 << 20)
            ),
            3,
        ),
        (
            "a.jsonld",
            format!("{{\n\"http://e/p\": \"{}\"}}", "x".repeat(8 << 20)),
            2,
        ),
        (
            "a.rdf",
            format!("{RDF}\n<rdf:Description><e:p>{}", "x".repeat(16 << 20)),
            2,
        ),
    ] {
        match failed(name, text) {
            LoadError::TokenTooLong { line, .. } => assert_eq!(line, expected, "{name}"),
            error => panic!("{name}: {error}"),
        }
    }
    let json = format!(
        "{{\"@id\": \"http://e/a\", \"http://e/p\": \"{}\"}}",
        "x".repeat(6 << 20)
    );
    assert_eq!(loaded("a.jsonld", json).summary.added, 1);
}

/// A document with one property, whose tag ends on line 5.
fn property(attributes: &str, content: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><?style it's ?><!DOCTYPE r [<!ENTITY lit \"Literal\">]>\n{RDF}\n\
         <rdf:Description>\n<e:p {attributes}\n>{content}</e:p></rdf:Description></rdf:RDF>"
    )
}

const LITERAL: &str = "rdf:parseType='Literal'";

fn elements(bytes: usize) -> String {
    "<e:i>0123456789</e:i>\n".repeat(bytes / 22)
}

#[test]
fn an_xml_literal_may_be_long_but_not_of_any_length_and_the_line_is_said() {
    let long = |bytes| format!("<e:x>{}</e:x>", elements(bytes));
    let whole = loaded("a.rdf", property(LITERAL, &long(14 << 20)));
    assert_eq!(whole.summary.added, 1);
    let name = "n".repeat(4_000);
    for (what, attributes, content) in [
        ("long", LITERAL, long(16 << 20)),
        (
            "of another prefix",
            "b:parseType = \"&lit;\" xmlns:b='http://www.w3.org/1999/02/22-rdf-syntax-ns#'",
            long(16 << 20),
        ),
        (
            "in pieces",
            LITERAL,
            "<![CDATA[ <e> ]]>text<!-- > -->".repeat(600_000),
        ),
        ("of signs that are escaped", LITERAL, "'\"".repeat(2 << 20)),
        (
            "of elements that are closed apart",
            LITERAL,
            format!("<e:x>{}</e:x>", format!("<e:{name}/>").repeat(2_500)),
        ),
    ] {
        let error = failed("a.rdf", property(attributes, &content)).to_string();
        let expected = "the XML literal that begins on line 5 has more than 15,728,640 bytes";
        assert!(error.contains(expected), "{what}: {error}");
    }
    let deep = property(LITERAL, &"<e:i>".repeat(110_000));
    let error = failed("a.rdf", deep).to_string();
    assert!(
        error.contains("a.rdf:5:") && error.contains("deep"),
        "{error}"
    );
}

#[test]
fn what_is_no_xml_literal_or_one_of_many_may_be_long() {
    let names: String = (0..100_000)
        .map(|n| format!("<rdf:Description rdf:about='http://{n:0>130}'/>"))
        .collect();
    let members = loaded("a.rdf", property("rdf:parseType=\"Collection\"", &names));
    assert_eq!(members.summary.added, 200_001);
    let short = format!("<e:p {LITERAL}>{}</e:p>", elements(1 << 20));
    let many = format!(
        "{RDF}<rdf:Description>{}</rdf:Description></rdf:RDF>",
        short.repeat(20)
    );
    assert_eq!(loaded("a.rdf", many).summary.added, 1);
}

#[test]
fn namespaces_do_not_make_few_bytes_many() {
    // Twenty kilobytes for each of ten thousand elements of six bytes.
    let namespace = format!("xmlns:n='http://{}/'", "n".repeat(20_000));
    let declaring = format!("{namespace} {LITERAL}");
    let one = property(&declaring, &"<e:i/>".repeat(10_000));
    let error = failed("a.rdf", one).to_string();
    let expected = "a.rdf:5: the XML literal that begins on line 5 has more than 15,728,640 bytes";
    assert!(error.contains(expected), "{error}");
    // Many literals, and many in what only looks like one.
    let literals = format!("<e:p {LITERAL}><e:i/></e:p>\n").repeat(10_000);
    for (attribute, expected) in [
        ("", "take over too many declarations of namespaces"),
        ("e:parseType='x'", "the XML literal that begins on line 2"),
    ] {
        let many = format!(
            "{RDF}\n<rdf:Description {namespace} {attribute}>{literals}</rdf:Description></rdf:RDF>"
        );
        let error = failed("a.rdf", many).to_string();
        assert!(
            error.contains("a.rdf:") && error.contains(expected),
            "{error}"
        );
    }
    let namespaces = |count: usize| -> String {
        let declared = (0..count).map(|n| format!(" xmlns:n{n}='http://{n}'"));
        declared.collect()
    };
    let few = property(&format!("{} {LITERAL}", namespaces(900)), "<e:i/>");
    assert_eq!(loaded("a.rdf", few).summary.added, 1);
    let many = property(&format!("{} {LITERAL}", namespaces(1_000)), "<e:i/>");
    let error = failed("a.rdf", many).to_string();
    assert!(error.contains("more than 1,000 namespaces"), "{error}");
}

#[test]
fn one_line_of_any_length_is_read() {
    let statements: String = (0..60_000)
        .map(|n| format!("e:s{n} e:p \"{n}\" . "))
        .collect();
    let objects: String = (0..200_000).map(|n| format!("e:o{n} , ")).collect();
    let text = format!("@prefix e: <http://e/> . {statements} e:s e:q {objects} e:o . e:x e:p .");
    let loaded = loaded("a.ttl", text);
    assert_eq!(loaded.summary.added, 260_001);
    assert_eq!(loaded.skipped, [1]);
}

#[test]
fn entities_that_stand_for_too_much_are_refused() {
    let mut text = String::from("<?xml version=\"1.0\"?>\n<!DOCTYPE r [<!ENTITY a0 \"ha\">\n");
    for level in 1..9 {
        let value = format!("&a{};", level - 1).repeat(10);
        text.push_str(&format!("<!ENTITY a{level} \"{value}\">\n"));
    }
    text.push_str("]>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"/>");
    let error = failed("a.rdf", text).to_string();
    assert!(
        error.contains("a.rdf:") && error.contains("entities"),
        "{error}"
    );
}

#[test]
fn documents_nested_without_end_are_refused() {
    // Beyond what the stack of a thread holds.
    let context = (0..3_000).fold("{}".to_owned(), |inner, _| {
        format!("{{\"@id\": \"http://e/p\", \"@context\": {{\"p\": {inner}}}}}")
    });
    for (name, text) in [
        ("a.jsonld", "{\"http://e/p\":".repeat(20_000)),
        (
            "b.jsonld",
            format!("{{\"@context\": {{\"p\": {context}}}}}"),
        ),
        (
            "c.rdf",
            format!("{RDF}{}", "<rdf:Description><e:p>".repeat(50_000)),
        ),
    ] {
        let error = failed(name, text).to_string();
        assert!(error.contains("deep"), "{name}: {error}");
    }
    // What is allowed has room on the stack.
    let depth = 100;
    let context = (0..depth).fold("{\"@id\": \"http://e/p\"}".to_owned(), |inner, _| {
        format!("{{\"@id\": \"http://e/p\", \"@context\": {{\"p\": {inner}}}}}")
    });
    let node = format!("{}{{}}{}", "{\"p\": ".repeat(depth), "}".repeat(depth));
    let text =
        format!("{{\"@context\": {{\"p\": {context}}}, \"@id\": \"http://e/a\", \"p\": {node}}}");
    assert!(loaded("a.jsonld", text).summary.added > 0);
}

#[test]
fn a_gzip_file_that_is_cut_off_or_damaged_is_an_error() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for n in 0..10_000 {
        writeln!(encoder, "<http://e/{n}> <http://e/p> \"{}\" .", n * 7_919).unwrap();
    }
    let packed = encoder.finish().unwrap();
    assert_eq!(loaded("a.nt.gz", &packed).summary.added, 10_000);
    for length in [3, 9, 20, packed.len() / 2, packed.len() - 1] {
        let error = failed("a.nt.gz", &packed[..length]).to_string();
        assert!(error.contains("gzip data end early"), "{length}: {error}");
    }
    let mut damaged = packed.clone();
    damaged[packed.len() / 2] ^= 0x55;
    failed("a.nt.gz", &damaged);
    failed("a.nt.gz", joined(&[&packed, b"rest"]));
    // A file may have several members.
    assert_eq!(
        loaded("a.nt.gz", joined(&[&packed, &packed]))
            .summary
            .statements,
        20_000
    );
}

#[test]
fn a_byte_order_mark_is_skipped_and_other_encodings_are_named() {
    let text = "@prefix e: <http://e/> .\ne:a e:p \"1\" .\n";
    let marked = loaded("a.ttl", format!("\u{feff}{text}"));
    assert_eq!((marked.objects.len(), marked.skipped.len()), (1, 0));
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (text, expected) in [
        (wide.clone(), "UTF-16"),
        (joined(&[&[0xff, 0xfe], &wide]), "UTF-16"),
        (joined(&[&[0x28, 0xb5, 0x2f, 0xfd], b"..."]), "zstd"),
        (b"PK\x03\x04...".to_vec(), "ZIP"),
    ] {
        let error = failed("a.ttl", &text).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_file_without_statements_is_said() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.ttl");
    fs::write(&path, "# nothing\n").unwrap();
    let output = soml(&["infer", path.to_str().unwrap()]);
    assert_eq!(code(&output), Some(0));
    assert!(
        err(&output).contains("the file has no statements"),
        "{}",
        err(&output)
    );
}

#[test]
fn a_folder_stands_for_its_files_and_what_is_left_out_is_said() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("more")).unwrap();
    fs::write(at("a.ttl"), "<http://e/a> a <http://e/A> .\n").unwrap();
    fs::write(at("more/b.nt"), "<http://e/b> <http://e/p> \"1\" .\n").unwrap();
    fs::write(at("notes.txt"), "notes").unwrap();
    let folder = dir.path().to_str().unwrap();
    let query = "{ a { id } }";
    let output = soml(&["query", "--data", folder, "--", query]);
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    assert!(
        err(&output).contains("notes.txt is not loaded"),
        "{}",
        err(&output)
    );
    let output = soml(&["infer", folder]);
    assert!(
        err(&output).contains("2 triples from 2 files"),
        "{}",
        err(&output)
    );
    fs::create_dir(at("empty")).unwrap();
    let empty = at("empty");
    let output = soml(&["infer", empty.to_str().unwrap()]);
    assert_eq!(code(&output), Some(64), "{}", err(&output));
}

#[test]
fn standard_input_is_data_when_its_syntax_is_given() {
    let data = "<http://e/a> a <http://e/A> .\n<http://e/a> <http://e/name> \"x\" .\n";
    let arguments = [
        "query",
        "--data",
        "-",
        "--data-format",
        "ttl",
        "--",
        "{ a { id } }",
    ];
    let output = soml_with_input(&arguments, data.as_bytes());
    assert_eq!(code(&output), Some(0), "{}", err(&output));
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(answer.contains("http://e/a"), "{answer}");
    for arguments in [
        &["infer", "-"][..],
        &["infer", "-", "-", "--data-format", "nt"],
    ] {
        let output = soml_with_input(arguments, b"");
        assert_eq!(code(&output), Some(64), "{}", err(&output));
    }
    // There is no address that relative IRIs could be resolved against.
    let arguments = ["infer", "-", "--data-format", "ttl"];
    let output = soml_with_input(&arguments, b"<a> a <http://e/A> .");
    assert!(err(&output).contains("not absolute"), "{}", err(&output));
    let arguments = ["infer", "-", "--data-format", "ttl", "--base", "http://e/"];
    let output = soml_with_input(&arguments, b"<a> a <http://e/A> .");
    assert!(err(&output).contains("loaded 1 triple"), "{}", err(&output));
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.ttl");
    fs::write(&path, "").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let missing = PathBuf::from("none.ttl");
    // Whoever may read everything reads it all the same.
    let unreadable = fs::File::open(&path).is_err().then_some(path);
    for path in unreadable.into_iter().chain([missing]) {
        let output = soml(&["infer", path.to_str().unwrap()]);
        assert_eq!(code(&output), Some(3), "{}", err(&output));
        assert!(err(&output).contains("failed to read"), "{}", err(&output));
    }
}
