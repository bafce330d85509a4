//! `docs/first-schema.md`, followed from its beginning to its end in an empty folder.
//!
//! Every block of the page is executed, or checked against what the page has made so far:
//!
//! - one with a file name is written to that file,
//! - `console` is run, and prints what is shown,
//! - `graphql` is answered as the `json` behind it says,
//! - `sh` starts the service, whose pages must answer,
//! - `text` draws what is in the data or in the schema.
//!
//! `UPDATE_EXPECT=1` rewrites what is printed and answered.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use soml_core::schema::{ObjectKind, Property, Range, Schema};
use tempfile::TempDir;

use crate::documentation::PAGES;
use crate::examples::{rerun, run_in};
use crate::processes::{PATIENCE, Running};

const PAGE: &str = "../docs/first-schema.md";
const SCHEMA: &str = "library.yaml";
const DATA: &str = "library.ttl";

/// What the lines of a drawing begin with.
const BRANCHES: [char; 4] = ['├', '└', '─', ' '];

#[test]
fn whoever_follows_the_page_sees_what_it_shows() {
    let _page = PAGES.lock();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let text = fs::read_to_string(&path).unwrap();
    let folder = TempDir::new().unwrap();
    let mut reader = Reader {
        folder: folder.path(),
        query: None,
        seen: Vec::new(),
    };
    let (mut page, mut rest) = (String::new(), text.as_str());
    while let Some((before, after)) = rest.split_once("\n```") {
        let (info, after) = after.split_once('\n').unwrap();
        let (body, behind) = match after.strip_prefix("```") {
            Some(behind) => ("", behind),
            None => after.split_once("\n```").expect("a block that ends"),
        };
        let body = reader.follow(info, &format!("{body}\n"));
        page.push_str(&format!("{before}\n```{info}\n{body}```"));
        rest = behind;
    }
    page.push_str(rest);
    assert_eq!(reader.query, None, "every query has an answer");
    for kind in ["console", "graphql", "json", "sh", "text", "turtle", "yaml"] {
        assert!(reader.seen.iter().any(|seen| seen == kind), "{kind}");
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, page).unwrap();
    } else {
        assert_eq!(
            page, text,
            "the page is out of date: run with UPDATE_EXPECT=1"
        );
    }
}

/// Somebody who does what the page says.
struct Reader<'a> {
    folder: &'a Path,
    /// The query whose answer comes next.
    query: Option<String>,
    /// The languages of the blocks so far.
    seen: Vec<String>,
}

impl Reader<'_> {
    /// Does what a block says, and returns what it must say.
    fn follow(&mut self, info: &str, body: &str) -> String {
        let mut words = info.split(' ');
        let (language, file) = (words.next().unwrap(), words.next());
        self.seen.push(language.to_owned());
        if language != "json" {
            assert_eq!(self.query, None, "every query has an answer");
        }
        match (language, file) {
            ("yaml" | "turtle", Some(file)) => fs::write(self.folder.join(file), body).unwrap(),
            ("console", None) => return rerun(self.folder, body),
            ("graphql", None) => self.query = Some(body.to_owned()),
            ("json", None) => return self.answer(body),
            ("sh", None) => self.serve(body),
            ("text", Some("data")) => self.check_data(body),
            ("text", Some("schema")) => self.check_schema(body),
            _ => panic!("nobody checks a block ```{info}"),
        }
        body.to_owned()
    }

    fn answer(&mut self, shown: &str) -> String {
        let query = self.query.take().expect("an answer has a query");
        fs::write(self.folder.join("query.graphql"), query).unwrap();
        let files = format!("--schema {SCHEMA} --data {DATA}");
        let answer = run_in(self.folder, &format!("soml query @query.graphql {files}"));
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer}"));
        if serde_json::from_str::<Value>(shown).ok().as_ref() == Some(&answer) {
            return shown.to_owned();
        }
        format!("{}\n", serde_json::to_string_pretty(&answer).unwrap())
    }

    /// Starts the service on a free port, and asks for what the page says about it.
    fn serve(&self, command: &str) {
        let arguments = command.trim().strip_prefix("soml ").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_soml"));
        command.args(arguments.split(' ')).args(["--port", "0"]);
        command.current_dir(self.folder).stderr(Stdio::null());
        let service = Running::start(&mut command);
        let line = service.line().unwrap();
        let base = line.trim_start_matches("GraphQL:  ");
        let base = base.trim_end_matches("graphql");
        let get = |path: &str, accept: &str| {
            let request = ureq::get(format!("{base}{path}")).header("accept", accept);
            let request = request.config().timeout_global(Some(PATIENCE)).build();
            let mut answer = request.call().unwrap();
            answer.body_mut().read_to_string().unwrap()
        };
        let page = get("", "text/html");
        let sdl = get("schema.graphql", "*/*");
        assert!(page.contains("Documentation"), "{page}");
        assert!(sdl.contains("type Novel implements"), "{sdl}");
    }

    /// Checks that each predicate and each value of a drawing is in the data.
    fn check_data(&self, drawing: &str) {
        let data = fs::read_to_string(self.folder.join(DATA)).unwrap();
        let lines = drawing.lines();
        let labels: Vec<&str> = lines
            .flat_map(|line| line.trim_start_matches(BRANCHES).split("  "))
            .map(str::trim)
            .filter(|label| !label.is_empty())
            .collect();
        assert!(!labels.is_empty(), "{drawing}");
        for label in labels {
            assert!(data.contains(label), "{label} is not in the data");
        }
    }

    /// Checks that each object and each property of a drawing is in the schema.
    fn check_schema(&self, drawing: &str) {
        let text = fs::read_to_string(self.folder.join(SCHEMA)).unwrap();
        let schema = soml_core::load(&text).schema.unwrap();
        let mut object = "";
        for line in drawing.lines().filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line
                .trim_start_matches(BRANCHES)
                .split_whitespace()
                .collect();
            let name = words[0].trim_end_matches(':');
            let drawn = if line.starts_with(BRANCHES) {
                drawn_property(&schema, object, name)
            } else {
                object = name;
                drawn_object(&schema, name)
            };
            assert_eq!(drawn, Some(words.join(" ")), "{line}");
        }
    }
}

/// Returns how an object is drawn.
fn drawn_object(schema: &Schema, name: &str) -> Option<String> {
    let object = &schema[schema.object_named(name)?];
    Some(match object.inherits {
        Some(parent) => format!("{name} (a {})", schema[parent].name.graphql),
        None if object.kind == ObjectKind::Abstract => format!("{name} (abstract)"),
        None => name.to_owned(),
    })
}

/// Returns how a property of an object is drawn.
fn drawn_property(schema: &Schema, object: &str, name: &str) -> Option<String> {
    let property = property(schema, object, name)?;
    match property.range {
        Range::Scalar(scalar) => Some(format!("{name}: {}", scalar.soml_name())),
        Range::Literal(_) => Some(format!("{name}: langString")),
        Range::Object(target) => {
            let number = if property.max.is_multiple() {
                "any number"
            } else {
                "at most one"
            };
            let target = &schema[target].name.graphql;
            Some(format!("{name} → {target} ({number})"))
        }
        Range::Enum(_) => None,
    }
}

fn property<'a>(schema: &'a Schema, object: &str, name: &str) -> Option<&'a Property> {
    let object = schema.object_named(object)?;
    let mut properties = schema[object].props.iter().map(|&id| &schema[id]);
    properties.find(|property| property.name.graphql == name)
}
