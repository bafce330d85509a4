//! Filters by values of each kind over university data in which each graduate student has a library card, as operations
//! with hand-written SPARQL for the same answers.
//!
//! The number of objects of an answer does not depend on the size of the data, so what grows with the size is the cost of
//! finding them.

use std::fmt::Write as _;
use std::io::{self, Cursor, Read};

use graph_store::image::Image;
use oxigraph::store::Store;
use oxrdf::Literal;
use oxrdfio::RdfFormat;
use serde_json::{Map, Value, json};

use crate::embedded::{self, EmbeddedError};
use crate::generator::{
    Class, Config, DATA, Department, DepartmentId, Format, Generator, SCHEMA, VOCABULARY,
    departments,
};
use crate::random::Random;
use crate::workload::{Form, Instance, Template};

/// Name of the random sequences of this module.
const INSTANCES: u64 = 4;

/// The number behind the letter of the first serial: there are serials with the prefix `s777`.
const FIRST_SERIAL: usize = 7_000;

/// Objects of an answer that has several.
const SEVERAL: usize = 10;

/// The class of library cards, and its properties.
const CARDS: &str = "  \
LibraryCard:
    props:
      serial: {}
      number: {range: int}
      issued: {range: dateTime}
      holder: {range: GraduateStudent}
";

macro_rules! filters {
    ($($name:literal $root:literal $variables:literal $arguments:literal $field:literal
        $([$form:literal $pattern:literal])+;)*) => {
        /// The filters, in their order.
        pub const FILTERS: &[Template] = &[$(
            Template {
                name: $name,
                query: concat!(
                    "query (", $variables, ") { ", $root, "(", $arguments, ") { id ", $field, " } }"
                ),
                forms: &[$(Form {
                    name: $form,
                    text: concat!(
                        "PREFIX v: <http://university.example/vocabulary/> ",
                        "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> ",
                        "SELECT ?n0 ?", $field, "0 WHERE { ?n0 v:", $field, " ?", $field, "0 . ",
                        $pattern,
                    ),
                }),+],
                ids: &[0],
                ordered: None,
            },
        )*];
    };
}

filters! {
    "EQ" "graduateStudent" "$email: String!" "where: {emailAddress: {EQ: $email}}" "telephone"
        ["value" "?n0 v:emailAddress $email ; a v:GraduateStudent }"];
    "IN" "graduateStudent" "$emails: [String!]!" "where: {emailAddress: {IN: $emails}}" "telephone"
        ["value" "VALUES ?email { $emails } ?n0 v:emailAddress ?email ; a v:GraduateStudent }"];
    "EQ-none" "graduateStudent" "$email: String!" "where: {emailAddress: {EQ: $email}}" "telephone"
        ["value" "?n0 v:emailAddress $email ; a v:GraduateStudent }"];
    "EQ-limit" "graduateStudent" "$email: String!" "limit: 1, where: {emailAddress: {EQ: $email}}" "telephone"
        ["value" "?n0 v:emailAddress $email ; a v:GraduateStudent } LIMIT 1"];
    "EQ-reference" "libraryCard" "$email: String!" "where: {holder: {emailAddress: {EQ: $email}}}" "serial"
        ["value" "?holder v:emailAddress $email . ?n0 v:holder ?holder ; a v:LibraryCard }"];
    "EQ-interface" "faculty" "$email: String!" "where: {emailAddress: {EQ: $email}}" "telephone"
        ["value" "?n0 v:emailAddress $email ; a ?class \
            VALUES ?class { v:FullProfessor v:AssociateProfessor v:AssistantProfessor v:Lecturer } }"];
    "number-EQ" "libraryCard" "$number: Int!" "where: {number: {EQ: $number}}" "serial"
        ["value" "?n0 v:number $number ; a v:LibraryCard }"];
    "number-GT" "libraryCard" "$number: Int!" "where: {number: {GT: $number}}" "serial"
        ["filter" "?n0 v:number ?number ; a v:LibraryCard FILTER(?number > $number) }"];
    "number-range" "libraryCard" "$number: Int!, $end: Int!" "where: {number: {GTE: $number, LT: $end}}" "serial"
        ["filter" "?n0 v:number ?number ; a v:LibraryCard FILTER(?number >= $number && ?number < $end) }"];
    "dateTime-GT" "libraryCard" "$time: DateTime!" "where: {issued: {GT: $time}}" "serial"
        ["filter" "?n0 v:issued ?issued ; a v:LibraryCard FILTER(?issued > $time) }"];
    "RE-prefix" "libraryCard" "$pattern: String!" "where: {serial: {RE: $pattern}}" "serial"
        ["regex" "?n0 a v:LibraryCard FILTER(REGEX(?serial0, $pattern)) }"]
        ["prefix" "?n0 a v:LibraryCard FILTER(STRSTARTS(?serial0, $prefix)) }"];
}

/// Returns the SOML schema of the data.
#[must_use]
pub fn schema() -> String {
    // The document ends with its objects.
    format!("{SCHEMA}{CARDS}")
}

/// Builds an image of the data.
///
/// # Errors
/// When the data do not fit into an image.
pub fn image(config: Config) -> Result<Image, EmbeddedError> {
    embedded::image_of(RdfFormat::NTriples, data(config))
}

/// Loads the data into a new store in memory.
///
/// # Errors
/// When the store fails.
pub fn load(config: Config) -> Result<Store, EmbeddedError> {
    embedded::load_of(RdfFormat::NTriples, data(config))
}

fn data(config: Config) -> impl Read {
    let mut number = 0;
    let cards = places(config).map(move |place| cards(config.seed, place, &mut number));
    let cards = Pieces {
        pieces: cards,
        piece: Cursor::default(),
    };
    Generator::new(config, Format::Nt).chain(cards)
}

fn places(config: Config) -> impl Iterator<Item = DepartmentId> {
    (0..config.universities).flat_map(move |university| {
        let all = 0..departments(config.seed, university);
        all.map(move |department| DepartmentId {
            university,
            department,
        })
    })
}

/// Returns the number of cards.
#[must_use]
pub fn cards_of(config: Config) -> usize {
    places(config)
        .map(|place| Department::draw(config.seed, place).graduates.len())
        .sum()
}

/// Writes the cards of the graduate students of a department, which are numbered on.
fn cards(seed: u64, place: DepartmentId, number: &mut usize) -> String {
    let mut out = String::new();
    let department = Department::draw(seed, place);
    for graduate in 0..department.graduates.len() {
        let holder = department.member(Class::GraduateStudent, graduate).iri();
        card(&mut out, place, *number, holder.as_str()).expect("writing to a string");
        *number += 1;
    }
    out
}

fn card(
    out: &mut String,
    place: DepartmentId,
    number: usize,
    holder: &str,
) -> Result<(), std::fmt::Error> {
    const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
    let card = format!("<{DATA}LibraryCard{number}>");
    let property = |name| format!("{card} <{VOCABULARY}{name}>");
    // Each serial of the first university begins with `s`, so that a prefix has the same matches at each size.
    let letter = if place.university == 0 { 's' } else { 't' };
    let serial = FIRST_SERIAL + number;
    writeln!(
        out,
        "{card} <{}> <{VOCABULARY}LibraryCard> .",
        oxrdf::vocab::rdf::TYPE.as_str()
    )?;
    writeln!(out, "{} \"{letter}{serial}\" .", property("serial"))?;
    writeln!(out, "{} \"{number}\"^^<{XSD}integer> .", property("number"))?;
    let issued = issued(number);
    writeln!(
        out,
        "{} \"{issued}\"^^<{XSD}dateTime> .",
        property("issued")
    )?;
    writeln!(out, "{} <{holder}> .", property("holder"))
}

/// Returns when a card was issued: each a minute after the one before, in months of 28 days.
fn issued(number: usize) -> String {
    let [hours, days, months] = [60, 60 * 24, 60 * 24 * 28].map(|minutes| number / minutes);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:00Z",
        2000 + months / 12,
        1 + months % 12,
        1 + days % 28,
        hours % 24,
        number % 60
    )
}

/// Reads texts one after the other.
struct Pieces<I> {
    pieces: I,
    piece: Cursor<String>,
}

impl<I: Iterator<Item = String>> Read for Pieces<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            match self.pieces.next() {
                Some(piece) => self.piece = Cursor::new(piece),
                None => return Ok(0),
            }
        }
    }
}

/// Draws instances of a filter over the data of `config`.
///
/// # Panics
/// When the data have fewer cards than an answer has objects, which no data of the generator have.
#[must_use]
pub fn instances(filter: &Template, config: Config, count: usize) -> Vec<Instance> {
    let cards = cards_of(config);
    (0..count)
        .map(|number| {
            let mut draw = Draw {
                config,
                random: Random::new(config.seed, &[INSTANCES, number as u64]),
                instance: Instance {
                    root: None,
                    variables: Map::new(),
                    parameters: Default::default(),
                },
            };
            draw.fill(filter.name, cards);
            draw.instance
        })
        .collect()
}

struct Draw {
    config: Config,
    random: Random,
    instance: Instance,
}

impl Draw {
    fn fill(&mut self, filter: &str, cards: usize) {
        match filter {
            "IN" => self.students(),
            "EQ-none" => {
                let number = self.random.below(1_000_000);
                self.text("email", &format!("Nobody{number}@university.example"));
            }
            "EQ-interface" => {
                let department = self.department();
                let teacher = self.random.choose(&department.faculty);
                let email = email(department.place, teacher.class, teacher.number);
                self.text("email", &email);
            }
            "number-EQ" => {
                let number = self.random.below(cards);
                self.number("number", number);
            }
            "number-GT" => self.number("number", cards - SEVERAL - 1),
            "number-range" => {
                let number = self.random.below(cards - SEVERAL);
                self.number("number", number);
                self.number("end", number + SEVERAL);
            }
            "dateTime-GT" => {
                let time = issued(cards - SEVERAL - 1);
                self.variable("time", json!(time));
                self.parameter("time", format!("\"{time}\"^^xsd:dateTime"));
            }
            "RE-prefix" => {
                self.text("pattern", "^s777");
                self.parameter("prefix", Literal::from("s777").to_string());
            }
            _ => {
                let student = self.student();
                self.text("email", &student);
            }
        }
    }

    fn department(&mut self) -> Department {
        let university = self.random.below(self.config.universities);
        let all = departments(self.config.seed, university);
        let place = DepartmentId {
            university,
            department: self.random.below(all),
        };
        Department::draw(self.config.seed, place)
    }

    /// Returns the address of a graduate student.
    fn student(&mut self) -> String {
        let department = self.department();
        let number = self.random.below(department.graduates.len());
        email(department.place, Class::GraduateStudent, number)
    }

    /// Asks for the addresses of several graduate students of a department.
    fn students(&mut self) {
        let department = self.department();
        let numbers = self.random.distinct(department.graduates.len(), SEVERAL);
        let of = |number| email(department.place, Class::GraduateStudent, number);
        let emails: Vec<String> = numbers.into_iter().map(of).collect();
        let literals: Vec<String> = emails
            .iter()
            .map(|email| Literal::from(email.as_str()).to_string())
            .collect();
        self.variable("emails", json!(emails));
        self.parameter("emails", literals.join(" "));
    }

    fn variable(&mut self, name: &str, value: Value) {
        self.instance.variables.insert(name.to_owned(), value);
    }

    fn parameter(&mut self, name: &'static str, sparql: String) {
        self.instance.parameters.insert(name, sparql);
    }

    fn text(&mut self, name: &'static str, text: &str) {
        self.variable(name, json!(text));
        self.parameter(name, Literal::from(text).to_string());
    }

    fn number(&mut self, name: &'static str, number: usize) {
        self.variable(name, json!(number));
        self.parameter(name, number.to_string());
    }
}

/// Returns the address of a member of a department.
fn email(place: DepartmentId, class: Class, number: usize) -> String {
    let DepartmentId {
        university,
        department,
    } = place;
    let class = class.name();
    format!("{class}{number}@department{department}.university{university}.example")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_issue_ascend() {
        let times: Vec<String> = (0..200_000).map(issued).collect();
        assert!(times.is_sorted_by(|a, b| a < b));
        assert_eq!(times[60 * 24 * 28 + 61], "2000-02-01T01:01:00Z");
    }
}
