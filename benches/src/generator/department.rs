//! One department: how many there are of everything, and who has to do with whom.
//!
//! All numbers follow the published profile of the Lehigh University Benchmark, which LinGBM uses
//! too. A department refers to itself and to universities alone, so it is drawn without any other.

use std::ops::Range;

use super::node::{Class, DepartmentId, Node};
use crate::random::Random;

/// How many universities exist. Degrees come from all of them, generated or not.
pub const UNIVERSITIES: usize = 1_000;

/// Names of independent random sequences.
const SIZES: u64 = 0;
const STRUCTURE: u64 = 1;
const TEXTS: u64 = 2;

/// A department without its texts.
#[derive(Clone, Debug)]
pub struct Department {
    /// Where it is.
    pub place: DepartmentId,
    /// Its teachers, full professors first; the first one of all is the head.
    pub faculty: Vec<Teacher>,
    /// Position of the head among the faculty.
    pub head: usize,
    /// Its undergraduates.
    pub undergraduates: Vec<Undergraduate>,
    /// Its graduate students.
    pub graduates: Vec<Graduate>,
    /// Number of courses for undergraduates.
    pub undergraduate_courses: usize,
    /// Number of courses for graduates.
    pub graduate_courses: usize,
    /// Number of research groups.
    pub research_groups: usize,
    /// Its publications.
    pub publications: Vec<Publication>,
}

/// A member of the faculty.
#[derive(Clone, Debug)]
pub struct Teacher {
    /// Rank.
    pub class: Class,
    /// Number within the rank.
    pub number: usize,
    /// Universities of the undergraduate, master's and doctoral degree.
    pub degrees: [usize; 3],
    /// Courses for undergraduates.
    pub undergraduate_courses: Range<usize>,
    /// Courses for graduates.
    pub graduate_courses: Range<usize>,
    /// What a professor does research in, as places in the list of topics.
    pub interests: Option<[usize; 2]>,
    /// Publications, as places in [`Department::publications`].
    pub publications: Range<usize>,
}

/// An undergraduate.
#[derive(Clone, Debug)]
pub struct Undergraduate {
    /// Courses for undergraduates.
    pub courses: Vec<usize>,
    /// Adviser, as a place in [`Department::faculty`].
    pub advisor: Option<usize>,
}

/// A graduate student.
#[derive(Clone, Debug)]
pub struct Graduate {
    /// Courses for graduates.
    pub courses: Vec<usize>,
    /// Adviser, as a place in [`Department::faculty`].
    pub advisor: usize,
    /// University of the undergraduate degree.
    pub degree: usize,
    /// Age in years.
    pub age: usize,
    /// Course for undergraduates that the student assists.
    pub assists: Option<usize>,
    /// Assists in research.
    pub research_assistant: bool,
}

/// A publication.
#[derive(Clone, Debug)]
pub struct Publication {
    /// First author, as a place in [`Department::faculty`].
    pub author: usize,
    /// Number among the publications of the author.
    pub number: usize,
    /// Graduate students among the authors.
    pub graduates: Vec<usize>,
}

/// Returns how many departments a university has.
#[must_use]
pub fn departments(seed: u64, university: usize) -> usize {
    Random::new(seed, &[SIZES, university as u64]).between(15, 25)
}

impl Department {
    /// Draws the department at `place`.
    #[must_use]
    pub fn draw(seed: u64, place: DepartmentId) -> Self {
        let mut random = sequence(seed, STRUCTURE, place);
        let mut department = Department {
            place,
            faculty: Vec::new(),
            head: 0,
            undergraduates: Vec::new(),
            graduates: Vec::new(),
            undergraduate_courses: 0,
            graduate_courses: 0,
            research_groups: random.between(10, 20),
            publications: Vec::new(),
        };
        department.draw_faculty(&mut random);
        department.draw_undergraduates(&mut random);
        department.draw_graduates(&mut random);
        department
    }

    /// Returns the random sequence for the texts of this department.
    #[must_use]
    pub fn texts(&self, seed: u64) -> Random {
        sequence(seed, TEXTS, self.place)
    }

    /// Returns the node of a member of the faculty.
    #[must_use]
    pub fn teacher(&self, position: usize) -> Node {
        let teacher = &self.faculty[position];
        self.member(teacher.class, teacher.number)
    }

    /// Returns the node of a member of the department.
    #[must_use]
    pub fn member(&self, class: Class, number: usize) -> Node {
        Node::Member(self.place, class, number)
    }

    /// Returns the places of the professors in [`Department::faculty`]; lecturers come after them.
    fn professors(&self) -> usize {
        let lecturer = |teacher: &Teacher| teacher.class == Class::Lecturer;
        let first = self.faculty.iter().position(lecturer);
        first.unwrap_or(self.faculty.len())
    }

    fn draw_faculty(&mut self, random: &mut Random) {
        const RANKS: [(Class, [usize; 2], [usize; 2]); 4] = [
            (Class::FullProfessor, [7, 10], [15, 20]),
            (Class::AssociateProfessor, [10, 14], [10, 18]),
            (Class::AssistantProfessor, [8, 11], [5, 10]),
            (Class::Lecturer, [5, 7], [0, 5]),
        ];
        for (class, [least, most], [fewest, greatest]) in RANKS {
            let count = random.between(least, most);
            if class == Class::FullProfessor {
                self.head = random.below(count);
            }
            for number in 0..count {
                let author = self.faculty.len();
                let first = self.publications.len();
                for number in 0..random.between(fewest, greatest) {
                    self.publications.push(Publication {
                        author,
                        number,
                        graduates: Vec::new(),
                    });
                }
                let is_professor = class != Class::Lecturer;
                self.faculty.push(Teacher {
                    class,
                    number,
                    degrees: [0; 3].map(|_| random.below(UNIVERSITIES)),
                    undergraduate_courses: taken(&mut self.undergraduate_courses, random),
                    graduate_courses: taken(&mut self.graduate_courses, random),
                    interests: is_professor.then(|| {
                        let drawn = random.distinct(super::words::TOPICS.len(), 2);
                        [drawn[0], drawn[1]]
                    }),
                    publications: first..self.publications.len(),
                });
            }
        }
    }

    fn draw_undergraduates(&mut self, random: &mut Random) {
        let professors = self.professors();
        let count = random.between(8, 14) * self.faculty.len();
        self.undergraduates = (0..count)
            .map(|_| {
                let courses = random.between(2, 4);
                Undergraduate {
                    courses: random.distinct(self.undergraduate_courses, courses),
                    advisor: (random.below(5) == 0).then(|| random.below(professors)),
                }
            })
            .collect();
    }

    fn draw_graduates(&mut self, random: &mut Random) {
        let professors = self.professors();
        let faculty = self.faculty.len();
        let count = random.between(3 * faculty, 4 * faculty);
        self.graduates = (0..count)
            .map(|_| {
                let courses = random.between(1, 3);
                Graduate {
                    courses: random.distinct(self.graduate_courses, courses),
                    advisor: random.below(professors),
                    degree: random.below(UNIVERSITIES),
                    age: random.between(21, 40),
                    assists: None,
                    research_assistant: false,
                }
            })
            .collect();
        let teaching = random.between(count / 5, count / 4);
        let research = random.between(count / 4, count / 3);
        let assistants = random.distinct(count, teaching + research);
        let courses = random.distinct(self.undergraduate_courses, teaching);
        for (position, &graduate) in assistants.iter().enumerate() {
            let graduate = &mut self.graduates[graduate];
            match courses.get(position) {
                Some(&course) => graduate.assists = Some(course),
                None => graduate.research_assistant = true,
            }
        }
        for graduate in 0..count {
            let publications = random.between(0, 5);
            for publication in random.distinct(self.publications.len(), publications) {
                self.publications[publication].graduates.push(graduate);
            }
        }
    }
}

fn sequence(seed: u64, name: u64, place: DepartmentId) -> Random {
    let (university, department) = (place.university as u64, place.department as u64);
    Random::new(seed, &[name, university, department])
}

/// Takes one or two of the courses that are numbered on.
fn taken(courses: &mut usize, random: &mut Random) -> Range<usize> {
    let first = *courses;
    *courses += random.between(1, 2);
    first..*courses
}
