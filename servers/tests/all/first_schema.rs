//! `docs/first-schema.md`, followed from its beginning to its end in an empty folder.
//!
//! Every block of the page is executed, or checked against what the page has made so far:
//!
//! - one with a file name is written to that file,
//! - `console` is run, and prints what is shown,
//! - `graphql` is answered as the `json` behind it says,
//! - `sh` starts the service, whose pages must answer,
//! - `mermaid` shows what is in the data or in the schema.
//!
//! `UPDATE_EXPECT=1` rewrites what is printed and answered.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use soml_core::schema::{Range, Schema};
use tempfile::TempDir;

use crate::documentation::PAGES;
use crate::examples::{rerun, run_in};
use crate::processes::{PATIENCE, Running};

const PAGE: &str = "../docs/first-schema.md";
const SCHEMA: &str = "library.yaml";
const DATA: &str = "library.ttl";

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
    for kind in [
        "console", "graphql", "json", "mermaid", "sh", "turtle", "yaml",
    ] {
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
            ("mermaid", None) if body.starts_with("flowchart") => self.check_data(body),
            ("mermaid", None) if body.starts_with("classDiagram") => self.check_classes(body),
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

    /// Checks that each node and arrow of a flowchart is in the data.
    fn check_data(&self, picture: &str) {
        let data = fs::read_to_string(self.folder.join(DATA)).unwrap();
        let nodes = picture.split("[\"").skip(1).map(|rest| rest.split("\"]"));
        let arrows = picture.split("-->|").skip(1).map(|rest| rest.split("|"));
        let labels = nodes
            .map(|mut n| n.next())
            .chain(arrows.map(|mut a| a.next()));
        let mut checked = 0;
        for label in labels {
            let label = label.unwrap().trim_matches('"');
            assert!(data.contains(label), "{label} is not in the data");
            checked += 1;
        }
        assert!(checked > 0, "{picture}");
    }

    /// Checks that each class, member and arrow of a class diagram is in the schema.
    fn check_classes(&self, picture: &str) {
        let text = fs::read_to_string(self.folder.join(SCHEMA)).unwrap();
        let schema = soml_core::load(&text).schema.unwrap();
        let mut class = None;
        for line in picture.lines().skip(1).map(str::trim) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [] | ["}"] => class = None,
                ["class", name, "{"] => class = Some(*name),
                ["<<abstract>>"] => {}
                [parent, "<|--", child] => assert!(inherits(&schema, child, parent), "{line}"),
                [from, "-->", _, to, ":", property] => {
                    assert!(leads(&schema, from, property, to), "{line}");
                }
                [kind, name] => {
                    let class = class.unwrap_or_else(|| panic!("{line} is in no class"));
                    assert_eq!(
                        range(&schema, class, name).as_deref(),
                        Some(*kind),
                        "{line}"
                    );
                }
                _ => panic!("nobody checks {line}"),
            }
        }
    }
}

fn property<'a>(
    schema: &'a Schema,
    class: &str,
    name: &str,
) -> Option<&'a soml_core::schema::Property> {
    let object = schema.object_named(class)?;
    let mut properties = schema[object].props.iter().map(|&id| &schema[id]);
    properties.find(|property| property.name.graphql == name)
}

fn inherits(schema: &Schema, child: &str, parent: &str) -> bool {
    let parent = schema.object_named(parent);
    let child = schema.object_named(child).map(|child| &schema[child]);
    child.is_some_and(|child| child.inherits.is_some() && child.inherits == parent)
}

fn leads(schema: &Schema, from: &str, name: &str, to: &str) -> bool {
    let range = property(schema, from, name).map(|property| property.range);
    range.is_some() && range == schema.object_named(to).map(Range::Object)
}

fn range(schema: &Schema, class: &str, name: &str) -> Option<String> {
    match property(schema, class, name)?.range {
        Range::Scalar(scalar) => Some(scalar.soml_name().to_owned()),
        Range::Literal(_) => Some("langString".to_owned()),
        _ => None,
    }
}
