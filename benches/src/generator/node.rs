//! The identifiers of the data: what a node is tells its IRI, and nothing has to be looked up.

use std::fmt;

use oxrdf::NamedNode;

/// Namespace of the data.
pub const DATA: &str = "http://university.example/";
/// Namespace of classes and properties.
pub const VOCABULARY: &str = "http://university.example/vocabulary/";

/// A class whose members belong to one department.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A full professor.
    FullProfessor,
    /// An associate professor.
    AssociateProfessor,
    /// An assistant professor.
    AssistantProfessor,
    /// A lecturer.
    Lecturer,
    /// An undergraduate student.
    UndergraduateStudent,
    /// A graduate student.
    GraduateStudent,
    /// A course for undergraduates.
    UndergraduateCourse,
    /// A course for graduates.
    GraduateCourse,
    /// A research group.
    ResearchGroup,
}

impl Class {
    /// Returns the local name of the class.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Class::FullProfessor => "FullProfessor",
            Class::AssociateProfessor => "AssociateProfessor",
            Class::AssistantProfessor => "AssistantProfessor",
            Class::Lecturer => "Lecturer",
            Class::UndergraduateStudent => "UndergraduateStudent",
            Class::GraduateStudent => "GraduateStudent",
            Class::UndergraduateCourse => "UndergraduateCourse",
            Class::GraduateCourse => "GraduateCourse",
            Class::ResearchGroup => "ResearchGroup",
        }
    }
}

/// Where a department is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepartmentId {
    /// Number of the university.
    pub university: usize,
    /// Number of the department in it.
    pub department: usize,
}

/// A node of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A university.
    University(usize),
    /// A department.
    Department(DepartmentId),
    /// A member of a department: person, course or group, numbered within its class.
    Member(DepartmentId, Class, usize),
    /// A publication: its first author, and its number among those of the author.
    Publication(DepartmentId, Class, usize, usize),
}

impl Node {
    /// Returns the IRI.
    #[must_use]
    pub fn iri(self) -> NamedNode {
        NamedNode::new_unchecked(format!("{DATA}{self}"))
    }
}

/// Writes the IRI relative to [`DATA`].
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Node::University(number) => write!(f, "University{number}"),
            Node::Department(place) => place.fmt(f),
            Node::Member(place, class, number) => {
                write!(f, "{place}/{}{number}", class.name())
            }
            Node::Publication(place, class, author, number) => {
                write!(f, "{place}/{}{author}/Publication{number}", class.name())
            }
        }
    }
}

impl fmt::Display for DepartmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "University{}/Department{}",
            self.university, self.department
        )
    }
}
