//! Values for the variables of the templates, drawn from what the generator knows to exist.
//!
//! No data are read: a department is drawn again, and its people tell what has an answer.

use std::collections::BTreeMap;

use graphql_service::Request;
use oxrdf::{Literal, NamedNode};
use serde_json::{Map, Value, json};

use super::Template;
use crate::generator::words::{TOPICS, WORDS};
use crate::generator::{
    Class, Config, Department, DepartmentId, Graduate, Node, Teacher, VOCABULARY, departments,
};
use crate::random::Random;

/// Name of the random sequences of this module.
const INSTANCES: u64 = 3;

/// A template with values for its variables.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The object that the root field is asked for, where it is one.
    pub root: Option<NamedNode>,
    /// Values of the GraphQL variables.
    pub variables: Map<String, Value>,
    /// What stands for each `$name` in SPARQL.
    pub parameters: BTreeMap<&'static str, String>,
}

impl Instance {
    /// Returns the GraphQL request.
    ///
    /// # Panics
    /// Never: every JSON object is one of variables.
    #[must_use]
    pub fn request(&self, template: &Template) -> Request {
        serde_json::from_value(self.body(template)).expect("a request of text and variables")
    }

    /// Returns the request as the JSON that HTTP carries.
    #[must_use]
    pub fn body(&self, template: &Template) -> Value {
        json!({"query": template.query, "variables": self.variables})
    }
}

/// Draws instances of a template over the data of `config`; most have an answer that is not empty.
#[must_use]
pub fn instances(template: &Template, config: Config, count: usize) -> Vec<Instance> {
    let name = template.name.bytes().fold(0, |name: u64, byte| {
        name.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    (0..count)
        .map(|number| {
            let mut draw = Draw::new(
                config,
                Random::new(config.seed, &[INSTANCES, name, number as u64]),
            );
            draw.fill(template.name);
            draw.instance
        })
        .collect()
}

struct Draw {
    random: Random,
    universities: usize,
    department: Department,
    instance: Instance,
}

impl Draw {
    fn new(config: Config, mut random: Random) -> Self {
        let university = random.below(config.universities);
        let place = DepartmentId {
            university,
            department: random.below(departments(config.seed, university)),
        };
        Draw {
            random,
            universities: config.universities,
            department: Department::draw(config.seed, place),
            instance: Instance {
                root: None,
                variables: Map::new(),
                parameters: BTreeMap::new(),
            },
        }
    }

    fn fill(&mut self, template: &str) {
        match template {
            "QT1" => {
                let teacher = self.teacher();
                let teacher = self.department.member(teacher.class, teacher.number);
                self.root("facultyID", teacher);
            }
            "QT2" => {
                let university = self.teacher().degrees[2];
                self.root("universityID", Node::University(university));
            }
            "QT3" => {
                let number = self.random.below(self.department.research_groups);
                let group = self.department.member(Class::ResearchGroup, number);
                self.root("researchGroupID", group);
            }
            "QT4" => {
                let is_lecturer = |teacher: &&Teacher| teacher.class == Class::Lecturer;
                let lecturers = self.department.faculty.iter().filter(is_lecturer).count();
                let number = self.random.below(lecturers);
                let lecturer = self.department.member(Class::Lecturer, number);
                self.root("lecturerID", lecturer);
            }
            "QT5" => self.root("departmentID", Node::Department(self.department.place)),
            "QT6" | "QT15" | "QT16" => {
                self.alma_mater();
            }
            "QT11" => {
                let university = self.graduate().degree;
                self.node("universityID", Node::University(university));
            }
            "QT7" => {
                self.alma_mater();
                let offset = self.random.below(2 * self.universities);
                self.number("offset", offset);
            }
            "QT8" => self.sorting_with_paging(),
            "QT9" => {
                self.alma_mater();
                let attribute = *self.random.choose(&["title", "abstract"]);
                self.variable("order", json!({ attribute: "DESC" }));
                self.parameter("attribute", property(attribute));
            }
            "QT10" => {
                let keyword = *self.random.choose(&WORDS);
                self.text("keyword", keyword);
            }
            "QT12" => {
                let university = self.teacher().degrees[2];
                self.root("universityID", Node::University(university));
                self.node("departmentID", Node::Department(self.department.place));
            }
            "QT13" => {
                self.interest();
            }
            _ => {
                let age = self.interest().age;
                let younger = self.random.between(20, age - 1);
                self.number("age", younger);
            }
        }
    }

    fn teacher(&mut self) -> Teacher {
        self.random.choose(&self.department.faculty).clone()
    }

    fn graduate(&mut self) -> Graduate {
        self.random.choose(&self.department.graduates).clone()
    }

    /// Asks for a university that a graduate student has a degree from.
    fn alma_mater(&mut self) -> Graduate {
        let graduate = self.graduate();
        self.root("universityID", Node::University(graduate.degree));
        graduate
    }

    /// Asks for what the adviser of a graduate student does research in.
    fn interest(&mut self) -> Graduate {
        let graduate = self.alma_mater();
        let interests = self.department.faculty[graduate.advisor].interests;
        let interests = interests.unwrap_or_default();
        let topic = TOPICS[*self.random.choose(&interests)];
        self.text("interestWord", topic);
        graduate
    }

    fn sorting_with_paging(&mut self) {
        const ATTRIBUTES: [&str; 5] = [
            "telephone",
            "emailAddress",
            "memberOf",
            "undergraduateDegreeFrom",
            "advisor",
        ];
        let drawn = self.random.distinct(ATTRIBUTES.len(), 2);
        let mut order = Map::new();
        for (name, attribute) in ["attribute1", "attribute2"].into_iter().zip(drawn) {
            let by = match attribute {
                0 | 1 => json!("ASC"),
                _ => json!({"id": "ASC"}),
            };
            order.insert(ATTRIBUTES[attribute].to_owned(), by);
            self.parameter(name, property(ATTRIBUTES[attribute]));
        }
        self.variable("order", Value::Object(order));
        let count = self.random.between(10, 100);
        self.number("cnt", count);
    }

    fn variable(&mut self, name: &str, value: Value) {
        self.instance.variables.insert(name.to_owned(), value);
    }

    fn parameter(&mut self, name: &'static str, sparql: String) {
        self.instance.parameters.insert(name, sparql);
    }

    fn node(&mut self, name: &'static str, node: Node) -> NamedNode {
        let iri = node.iri();
        self.variable(name, json!(iri.as_str()));
        self.parameter(name, iri.to_string());
        iri
    }

    fn root(&mut self, name: &'static str, node: Node) {
        self.instance.root = Some(self.node(name, node));
    }

    fn number(&mut self, name: &'static str, number: usize) {
        self.variable(name, json!(number));
        self.parameter(name, number.to_string());
    }

    fn text(&mut self, name: &'static str, text: &str) {
        self.variable(name, json!(text));
        self.parameter(name, Literal::new_simple_literal(text).to_string());
    }
}

fn property(name: &str) -> String {
    format!("<{VOCABULARY}{name}>")
}
