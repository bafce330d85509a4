//! Departments and universities as statements.

use std::fmt;

use super::department::{Department, Teacher, UNIVERSITIES};
use super::node::{Class, DepartmentId, Node};
use super::syntax::{Format, Statements};
use super::words::{TOPICS, WORDS};
use crate::random::Random;

/// Writes all universities; those below `generated` with more than their class.
pub(super) fn universities(format: Format, generated: usize, out: &mut Vec<u8>) {
    let mut statements = Statements::new(format, out);
    statements.begin();
    for number in 0..UNIVERSITIES {
        statements.subject(Node::University(number), "University");
        if number < generated {
            statements.text("name", format_args!("University {number}"));
            statements.integer("nr", number);
        }
        statements.end();
    }
}

/// Writes a department with everything in it.
pub(super) fn department(format: Format, seed: u64, of: &Department, out: &mut Vec<u8>) {
    let mut emitter = Emitter {
        of,
        random: of.texts(seed),
        statements: Statements::new(format, out),
    };
    emitter.organizations();
    emitter.faculty();
    emitter.courses();
    emitter.undergraduates();
    emitter.graduates();
    emitter.publications();
}

struct Emitter<'a> {
    of: &'a Department,
    random: Random,
    statements: Statements<'a>,
}

impl Emitter<'_> {
    fn organizations(&mut self) {
        let of = self.of;
        let DepartmentId {
            university,
            department,
        } = of.place;
        let node = Node::Department(of.place);
        self.statements.subject(node, "Department");
        let name = format_args!("Department {department} of University {university}");
        self.statements.text("name", name);
        self.statements.integer("nr", department);
        let university = Node::University(university);
        self.statements.link("subOrganizationOf", university);
        self.statements.end();
        for number in 0..of.research_groups {
            self.begin(Class::ResearchGroup, number);
            self.statements.integer("nr", number);
            self.statements.link("subOrganizationOf", node);
            self.statements.end();
        }
    }

    fn faculty(&mut self) {
        let of = self.of;
        for (position, teacher) in of.faculty.iter().enumerate() {
            self.begin(teacher.class, teacher.number);
            self.name(teacher.class, teacher.number);
            self.contact(teacher.class, teacher.number);
            self.telephone();
            self.teacher(teacher);
            if position == of.head {
                self.statements.link("headOf", Node::Department(of.place));
            }
            self.statements.end();
        }
    }

    fn teacher(&mut self, teacher: &Teacher) {
        let of = self.of;
        let statements = &mut self.statements;
        if let Some([first, second]) = teacher.interests {
            let interest = format_args!("{} and {}", TOPICS[first], TOPICS[second]);
            statements.text("researchInterest", interest);
        }
        let [undergraduate, master, doctor] = teacher.degrees.map(Node::University);
        statements.link("undergraduateDegreeFrom", undergraduate);
        statements.link("masterDegreeFrom", master);
        statements.link("doctoralDegreeFrom", doctor);
        statements.link("worksFor", Node::Department(of.place));
        for course in teacher.undergraduate_courses.clone() {
            statements.link("teacherOf", of.member(Class::UndergraduateCourse, course));
        }
        for course in teacher.graduate_courses.clone() {
            statements.link("teacherOf", of.member(Class::GraduateCourse, course));
        }
    }

    fn courses(&mut self) {
        let kinds = [
            (Class::UndergraduateCourse, self.of.undergraduate_courses),
            (Class::GraduateCourse, self.of.graduate_courses),
        ];
        for (class, count) in kinds {
            for number in 0..count {
                self.begin(class, number);
                self.name(class, number);
                self.statements.end();
            }
        }
    }

    fn undergraduates(&mut self) {
        let of = self.of;
        for (number, student) in of.undergraduates.iter().enumerate() {
            self.begin(Class::UndergraduateStudent, number);
            self.contact(Class::UndergraduateStudent, number);
            let statements = &mut self.statements;
            statements.link("memberOf", Node::Department(of.place));
            for &course in &student.courses {
                statements.link("takesCourse", of.member(Class::UndergraduateCourse, course));
            }
            if let Some(advisor) = student.advisor {
                statements.link("advisor", of.teacher(advisor));
            }
            statements.end();
        }
    }

    fn graduates(&mut self) {
        let of = self.of;
        for (number, student) in of.graduates.iter().enumerate() {
            self.begin(Class::GraduateStudent, number);
            if student.assists.is_some() {
                self.statements.class("TeachingAssistant");
            }
            if student.research_assistant {
                self.statements.class("ResearchAssistant");
            }
            self.name(Class::GraduateStudent, number);
            self.contact(Class::GraduateStudent, number);
            self.telephone();
            let statements = &mut self.statements;
            statements.integer("age", student.age);
            statements.link("memberOf", Node::Department(of.place));
            let degree = Node::University(student.degree);
            statements.link("undergraduateDegreeFrom", degree);
            statements.link("advisor", of.teacher(student.advisor));
            for &course in &student.courses {
                statements.link("takesCourse", of.member(Class::GraduateCourse, course));
            }
            if let Some(course) = student.assists {
                let course = of.member(Class::UndergraduateCourse, course);
                statements.link("teachingAssistantOf", course);
            }
            statements.end();
        }
    }

    fn publications(&mut self) {
        let of = self.of;
        for publication in &of.publications {
            let author = &of.faculty[publication.author];
            let node = Node::Publication(of.place, author.class, author.number, publication.number);
            self.statements.subject(node, "Publication");
            let words = self.random.between(5, 9);
            let title = Text::draw(&mut self.random, words);
            self.statements.text("title", title);
            let words = self.random.between(20, 40);
            let summary = Text::draw(&mut self.random, words);
            self.statements.text("abstract", summary);
            let first = of.teacher(publication.author);
            self.statements.link("publicationAuthor", first);
            for &graduate in &publication.graduates {
                let graduate = of.member(Class::GraduateStudent, graduate);
                self.statements.link("publicationAuthor", graduate);
            }
            self.statements.end();
        }
    }

    fn begin(&mut self, class: Class, number: usize) {
        let node = self.of.member(class, number);
        self.statements.subject(node, class.name());
    }

    fn name(&mut self, class: Class, number: usize) {
        let name = format_args!("{}{number}", class.name());
        self.statements.text("name", name);
    }

    fn contact(&mut self, class: Class, number: usize) {
        let DepartmentId {
            university,
            department,
        } = self.of.place;
        let class = class.name();
        self.statements.text(
            "emailAddress",
            format_args!("{class}{number}@department{department}.university{university}.example"),
        );
    }

    fn telephone(&mut self) {
        let (area, office, line) = (
            self.random.between(200, 999),
            self.random.between(200, 999),
            self.random.below(10_000),
        );
        let telephone = format_args!("{area}-{office}-{line:04}");
        self.statements.text("telephone", telephone);
    }
}

/// Some words, as a title or an abstract.
struct Text(Vec<&'static str>);

impl Text {
    fn draw(random: &mut Random, words: usize) -> Self {
        Text((0..words).map(|_| *random.choose(&WORDS)).collect())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, word) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(" ")?;
            }
            f.write_str(word)?;
        }
        Ok(())
    }
}
