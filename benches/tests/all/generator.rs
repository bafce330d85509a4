//! The data follow the profile, are the same bytes each time, and hold together.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::sync::LazyLock;

use benches::generator::{Config, DATA, Format, Generator, UNIVERSITIES, VOCABULARY, departments};
use oxrdf::vocab::rdf;
use oxrdf::{NamedNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParser};

fn document(universities: usize, seed: u64, format: Format) -> Vec<u8> {
    let config = Config::new(universities, seed).unwrap();
    let mut document = Vec::new();
    Generator::new(config, format)
        .read_to_end(&mut document)
        .unwrap();
    document
}

fn parsed(document: &[u8], format: RdfFormat) -> Vec<Quad> {
    let quads = RdfParser::from_format(format).for_slice(document);
    quads.map(|quad| quad.unwrap()).collect()
}

static ONE: LazyLock<Vec<Quad>> =
    LazyLock::new(|| parsed(&document(1, 42, Format::Nt), RdfFormat::NTriples));

/// FNV-1a: enough to tell documents apart.
fn hash(document: &[u8]) -> u64 {
    document.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    })
}

#[test]
fn a_seed_always_gives_the_same_bytes() {
    let first = document(1, 42, Format::Nt);
    assert_eq!(format!("{:016x}", hash(&first)), "a755028247f61f89");
    assert_eq!(hash(&document(1, 42, Format::Nt)), hash(&first));
    assert_ne!(hash(&document(1, 43, Format::Nt)), hash(&first));
}

#[test]
fn a_university_is_the_same_whatever_else_is_generated() {
    let one: HashSet<Quad> = ONE.iter().cloned().collect();
    let two = parsed(&document(2, 42, Format::Nt), RdfFormat::NTriples);
    let two: HashSet<Quad> = two.into_iter().collect();
    assert!(one.is_subset(&two));
}

#[test]
fn both_syntaxes_say_the_same() {
    let turtle = parsed(&document(1, 42, Format::Ttl), RdfFormat::Turtle);
    assert!(turtle == *ONE);
}

#[test]
fn no_triple_is_written_twice() {
    let distinct: HashSet<&Quad> = ONE.iter().collect();
    assert_eq!(distinct.len(), ONE.len());
}

#[test]
fn eight_universities_have_about_a_million_triples() {
    let document = document(8, 42, Format::Nt);
    let triples = document.iter().filter(|&&byte| byte == b'\n').count();
    assert!((960_000..=1_080_000).contains(&triples), "{triples}");
}

#[test]
fn every_reference_leads_to_something_that_is_described() {
    let typed: HashSet<String> = ONE
        .iter()
        .filter(|quad| quad.predicate == rdf::TYPE)
        .map(|quad| quad.subject.to_string())
        .collect();
    for quad in ONE.iter() {
        assert!(typed.contains(&quad.subject.to_string()), "{quad}");
        if let Term::NamedNode(node) = &quad.object
            && quad.predicate != rdf::TYPE
        {
            assert!(node.as_str().starts_with(DATA));
            assert!(typed.contains(&node.to_string()), "{quad}");
        }
    }
}

/// The nodes of each class, the values of each property of each node.
struct Described {
    classes: BTreeMap<String, Vec<String>>,
    values: HashMap<(String, String), Vec<String>>,
}

impl Described {
    fn of(quads: &[Quad]) -> Self {
        let mut described = Described {
            classes: BTreeMap::new(),
            values: HashMap::new(),
        };
        let local = |node: &NamedNode| node.as_str().trim_start_matches(VOCABULARY).to_owned();
        for quad in quads {
            let subject = quad.subject.to_string();
            match &quad.object {
                Term::NamedNode(class) if quad.predicate == rdf::TYPE => described
                    .classes
                    .entry(local(class))
                    .or_default()
                    .push(subject),
                object => described
                    .values
                    .entry((subject, local(&quad.predicate)))
                    .or_default()
                    .push(object.to_string()),
            }
        }
        described
    }

    fn members(&self, class: &str) -> &[String] {
        self.classes.get(class).map_or(&[], Vec::as_slice)
    }

    fn count(&self, node: &str, property: &str) -> usize {
        let key = (node.to_owned(), property.to_owned());
        self.values.get(&key).map_or(0, Vec::len)
    }

    /// Returns how many members of a class each department has, least and most.
    fn per_department(&self, class: &str) -> (usize, usize) {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for member in self.members(class) {
            let department = member.rsplit_once('/').unwrap().0;
            *counts.entry(department).or_default() += 1;
        }
        assert_eq!(counts.len(), self.members("Department").len(), "{class}");
        (
            *counts.values().min().unwrap(),
            *counts.values().max().unwrap(),
        )
    }

    fn assert_each(&self, class: &str, property: &str, counts: std::ops::RangeInclusive<usize>) {
        for member in self.members(class) {
            let count = self.count(member, property);
            assert!(counts.contains(&count), "{member} {property} {count}");
        }
    }
}

const PROFESSORS: [&str; 3] = ["FullProfessor", "AssociateProfessor", "AssistantProfessor"];

#[test]
fn departments_have_the_members_of_the_profile() {
    let data = Described::of(&ONE);
    assert_eq!(data.members("University").len(), UNIVERSITIES);
    assert_eq!(data.members("Department").len(), departments(42, 0));
    assert!((15..=25).contains(&departments(42, 0)));
    for (class, least, most) in [
        ("FullProfessor", 7, 10),
        ("AssociateProfessor", 10, 14),
        ("AssistantProfessor", 8, 11),
        ("Lecturer", 5, 7),
        ("ResearchGroup", 10, 20),
        ("UndergraduateStudent", 8 * 30, 14 * 42),
        ("GraduateStudent", 3 * 30, 4 * 42),
        ("TeachingAssistant", 3 * 30 / 5, 4 * 42 / 4),
        ("ResearchAssistant", 3 * 30 / 4, 4 * 42 / 3),
    ] {
        let (min, max) = data.per_department(class);
        assert!(min >= least && max <= most, "{class}: {min} to {max}");
    }
    let heads: Vec<_> = data
        .values
        .keys()
        .filter(|(_, property)| property == "headOf")
        .collect();
    assert_eq!(heads.len(), data.members("Department").len());
    assert!(heads.iter().all(|(node, _)| node.contains("FullProfessor")));
}

#[test]
fn people_have_the_properties_of_the_profile() {
    let data = Described::of(&ONE);
    for class in PROFESSORS.into_iter().chain(["Lecturer"]) {
        for property in [
            "undergraduateDegreeFrom",
            "masterDegreeFrom",
            "doctoralDegreeFrom",
            "worksFor",
            "name",
            "emailAddress",
            "telephone",
        ] {
            data.assert_each(class, property, 1..=1);
        }
        data.assert_each(class, "teacherOf", 2..=4);
        let interests = usize::from(class != "Lecturer");
        data.assert_each(class, "researchInterest", interests..=interests);
    }
    for property in ["emailAddress", "memberOf"] {
        data.assert_each("UndergraduateStudent", property, 1..=1);
    }
    data.assert_each("UndergraduateStudent", "takesCourse", 2..=4);
    data.assert_each("UndergraduateStudent", "advisor", 0..=1);
    for property in [
        "age",
        "memberOf",
        "advisor",
        "undergraduateDegreeFrom",
        "telephone",
    ] {
        data.assert_each("GraduateStudent", property, 1..=1);
    }
    data.assert_each("GraduateStudent", "takesCourse", 1..=3);
    data.assert_each("TeachingAssistant", "teachingAssistantOf", 1..=1);
    for property in ["title", "abstract"] {
        data.assert_each("Publication", property, 1..=1);
    }
    for class in ["Department", "ResearchGroup"] {
        data.assert_each(class, "subOrganizationOf", 1..=1);
        data.assert_each(class, "nr", 1..=1);
    }
}

#[test]
fn shares_are_those_of_the_profile() {
    let data = Described::of(&ONE);
    let advised = data
        .members("UndergraduateStudent")
        .iter()
        .filter(|student| data.count(student, "advisor") == 1)
        .count();
    let share = advised as f64 / data.members("UndergraduateStudent").len() as f64;
    assert!((0.18..0.22).contains(&share), "{share}");

    let mut publications: HashMap<&str, usize> = HashMap::new();
    let mut joint: HashMap<&str, usize> = HashMap::new();
    for publication in data.members("Publication") {
        let author = publication.rsplit_once('/').unwrap().0;
        *publications.entry(author).or_default() += 1;
        let key = (publication.clone(), "publicationAuthor".to_owned());
        for author in &data.values[&key] {
            if author.contains("GraduateStudent") {
                *joint.entry(author).or_default() += 1;
            }
        }
    }
    assert!(joint.values().all(|&count| count <= 5));
    for (class, least, most) in [
        ("FullProfessor", 15, 20),
        ("AssociateProfessor", 10, 18),
        ("AssistantProfessor", 5, 10),
        ("Lecturer", 0, 5),
    ] {
        for member in data.members(class) {
            let author = member.trim_end_matches('>');
            let count = publications.get(author).copied().unwrap_or(0);
            assert!((least..=most).contains(&count), "{member}: {count}");
        }
    }
}
