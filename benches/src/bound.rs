//! The bound: each query template as a walk of the columns of an image, with nothing of GraphQL in it, that writes the
//! answer of the service.
//!
//! It knows the answer's shape in advance, so it neither plans nor links levels. It checks no deadline and counts no
//! memory. Templates that the service answers faster than such a walk have none, see [`UNBOUND`].

use std::cell::RefCell;
use std::collections::HashMap;

use graph_store::image::{Columns, Image};
use graph_store::query::TermView;
use oxrdf::vocab::rdf;
use oxrdf::{NamedNodeRef, TermRef};
use regex::Regex;
use serde_json::Value;

use crate::generator::VOCABULARY;
use crate::workload::Instance;

/// Templates without a walk, since one takes longer than the service: that reads values that lie together at once and
/// copies what an answer repeats (QT5), and searches many titles at once for a pattern (QT10).
pub const UNBOUND: [&str; 2] = ["QT5", "QT10"];

/// What a template needs that the data do not have.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoundError {
    /// A property without triples.
    #[error("no triples of {0}")]
    NoTriples(String),
    /// A variable that an instance does not have.
    #[error("nothing is known for ${0}")]
    Unbound(&'static str),
    /// A pattern that is none.
    #[error("malformed pattern")]
    Pattern(#[from] regex::Error),
    /// No such template.
    #[error("there is no template {0}")]
    NoTemplate(String),
}

/// An image with its columns at hand.
pub struct Bound<'i> {
    image: &'i Image,
    types: Columns<'i>,
    properties: HashMap<&'static str, Columns<'i>>,
    /// Orders that were asked for, as a store that keeps orders has them.
    orders: RefCell<HashMap<String, Vec<u32>>>,
}

const PROPERTIES: [&str; 15] = [
    "abstract",
    "advisor",
    "age",
    "doctoralDegreeFrom",
    "emailAddress",
    "headOf",
    "memberOf",
    "publicationAuthor",
    "researchInterest",
    "subOrganizationOf",
    "takesCourse",
    "telephone",
    "title",
    "undergraduateDegreeFrom",
    "worksFor",
];

/// The ends of a step: by the property from the subject, or against it.
#[derive(Clone, Copy)]
struct Step<'i> {
    columns: Columns<'i>,
    inverse: bool,
}

impl<'i> Step<'i> {
    fn ends(&self, node: u32) -> &'i [u32] {
        if self.inverse {
            self.columns.subjects(node)
        } else {
            self.columns.objects(node)
        }
    }
}

impl<'i> Bound<'i> {
    /// Looks the columns of an image of university data up.
    ///
    /// # Errors
    /// When there are no triples of a property of the templates.
    pub fn new(image: &'i Image) -> Result<Self, BoundError> {
        let columns = |iri: NamedNodeRef<'_>| {
            let missing = || BoundError::NoTriples(iri.as_str().to_owned());
            image.columns(iri).ok_or_else(missing)
        };
        let properties = PROPERTIES.iter().map(|name| {
            let iri = format!("{VOCABULARY}{name}");
            Ok((*name, columns(NamedNodeRef::new_unchecked(&iri))?))
        });
        Ok(Bound {
            image,
            types: columns(rdf::TYPE)?,
            properties: properties.collect::<Result<_, BoundError>>()?,
            orders: RefCell::default(),
        })
    }

    /// Returns the answer to an instance of a template, as the service writes it.
    ///
    /// # Errors
    /// When the template is not known, or the instance is none of it.
    pub fn answer(&self, template: &str, instance: &Instance) -> Result<Vec<u8>, BoundError> {
        let mut out = Writer {
            image: self.image,
            out: Vec::with_capacity(1 << 10),
        };
        out.text(r#"{"data":{"#);
        self.data(template, instance, &mut out)?;
        out.text("}}");
        Ok(out.out)
    }

    fn data(
        &self,
        template: &str,
        instance: &Instance,
        out: &mut Writer<'i>,
    ) -> Result<(), BoundError> {
        let student = || self.class("GraduateStudent");
        let [email, interest] = ["emailAddress", "researchInterest"].map(|name| self.to(name));
        let [advisor, works_for] = ["advisor", "worksFor"].map(|name| self.to(name));
        let part_of = self.to("subOrganizationOf");
        let [bachelors, doctors] =
            ["undergraduateDegreeFrom", "doctoralDegreeFrom"].map(|name| self.from(name));
        let doctorate = self.to("doctoralDegreeFrom");
        let publications = self.from("publicationAuthor");
        let students_of = |university| self.of_class(bachelors.ends(university), student());
        match template {
            "QT1" => out.root("faculty", self.node(instance, "facultyID")?, |out, node| {
                out.object("doctoralDegreeFrom", doctorate.ends(node), |out, node| {
                    out.list(ALUMNI, students_of(node), |out, node| {
                        out.id(node);
                        out.literal("emailAddress", email.ends(node));
                    });
                });
            }),
            "QT2" => out.root("university", self.university(instance)?, |out, node| {
                out.each(
                    "doctoralDegreeObtainers",
                    doctors.ends(node),
                    |out, node| {
                        out.each("publications", publications.ends(node), |out, node| {
                            out.literal("title", self.to("title").ends(node));
                        });
                    },
                );
            }),
            "QT3" => out.root(
                "researchGroup",
                self.node(instance, "researchGroupID")?,
                |out, node| {
                    out.object("subOrganizationOf", part_of.ends(node), |out, node| {
                        out.object("head", self.from("headOf").ends(node), |out, node| {
                            out.id(node);
                            out.literal("emailAddress", email.ends(node));
                            out.object("doctoralDegreeFrom", doctorate.ends(node), Writer::id);
                        });
                    });
                },
            ),
            "QT4" => out.root(
                "lecturer",
                self.node(instance, "lecturerID")?,
                |out, node| {
                    out.object("doctoralDegreeFrom", doctorate.ends(node), |out, node| {
                        out.id(node);
                        out.list(ALUMNI, students_of(node), |out, node| {
                            out.id(node);
                            out.literal("emailAddress", email.ends(node));
                            out.object("advisor", advisor.ends(node), |out, node| {
                                out.id(node);
                                out.literal("emailAddress", email.ends(node));
                                out.object("worksFor", works_for.ends(node), Writer::id);
                            });
                        });
                    });
                },
            ),
            "QT6" => out.root("university", self.university(instance)?, |out, node| {
                out.list(ALUMNI, students_of(node), |out, node| {
                    out.object("advisor", advisor.ends(node), |out, node| {
                        out.object("worksFor", works_for.ends(node), Writer::id);
                    });
                });
            }),
            "QT7" => {
                let offset = number(instance, "offset")?;
                out.root("university", self.university(instance)?, |out, node| {
                    let page = students_of(node).skip(offset).take(10);
                    out.list(ALUMNI, page, |out, node| {
                        out.object("advisor", advisor.ends(node), Writer::id);
                    });
                });
            }
            "QT8" => {
                let count = number(instance, "cnt")?;
                let order = &instance.variables["order"];
                let mut orders = self.orders.borrow_mut();
                let sorted = orders
                    .entry(order.to_string())
                    .or_insert_with(|| self.sorted(order));
                let telephone = self.to("telephone");
                let page = sorted.iter().copied().take(count);
                out.list("graduateStudent", page, |out, node| {
                    out.id(node);
                    out.literal("telephone", telephone.ends(node));
                    out.literal("emailAddress", email.ends(node));
                });
            }
            "QT9" => {
                let order = &instance.variables["order"];
                let mut by = ["abstract", "title"].into_iter();
                let by = by.find(|name| order.get(name).is_some());
                let by = self.to(by.unwrap_or("title"));
                out.root("university", self.university(instance)?, |out, node| {
                    out.list(ALUMNI, students_of(node).take(50), |out, node| {
                        out.object("advisor", advisor.ends(node), |out, node| {
                            let mut found = publications.ends(node).to_vec();
                            let key = |node: &u32| by.ends(*node).first().copied();
                            found.sort_by(|a, b| key(b).cmp(&key(a)).then(a.cmp(b)));
                            out.each("publications", &found, Writer::id);
                        });
                    });
                });
            }
            "QT11" => {
                let university = self.node(instance, "universityID")?;
                let found = university.into_iter().flat_map(students_of);
                out.list("graduateStudent", found, |out, node| {
                    out.id(node);
                    out.object("advisor", advisor.ends(node), Writer::id);
                });
            }
            "QT12" => {
                let department = self.node(instance, "departmentID")?;
                out.root("university", self.university(instance)?, |out, node| {
                    let found = doctors.ends(node).iter().copied();
                    let found =
                        found.filter(|node| works_for.ends(*node).first() == department.as_ref());
                    out.list("doctoralDegreeObtainers", found, |out, node| {
                        out.id(node);
                        out.literal("emailAddress", email.ends(node));
                        out.each("publications", publications.ends(node), Writer::id);
                    });
                });
            }
            "QT13" | "QT14" => {
                let pattern = Regex::new(text(instance, "interestWord")?)?;
                let age = match template {
                    "QT14" => Some(number(instance, "age")?),
                    _ => None,
                };
                let is_wanted = |node: &u32| {
                    let of = |advisor: &u32| interest.ends(*advisor).iter();
                    let mut interests = advisor.ends(*node).iter().flat_map(of);
                    let is_old = |age: usize| self.age(*node).is_some_and(|found| found > age);
                    age.is_none_or(is_old)
                        && interests.any(|text| pattern.is_match(self.value(*text)))
                };
                out.root("university", self.university(instance)?, |out, node| {
                    let found = students_of(node).filter(is_wanted);
                    out.list(ALUMNI, found, |out, node| {
                        out.id(node);
                        out.literal("emailAddress", email.ends(node));
                        let class = self.class("GraduateCourse");
                        let courses = self.of_class(self.to("takesCourse").ends(node), class);
                        out.list("takeGraduateCourses", courses, Writer::id);
                    });
                });
            }
            "QT15" => out.root("university", self.university(instance)?, |out, node| {
                out.name("undergraduateDegreeObtainedBystudent_count");
                out.text(&students_of(node).count().to_string());
            }),
            "QT16" => out.root("university", self.university(instance)?, |out, node| {
                let ages = students_of(node).filter_map(|node| self.age(node));
                let (mut count, mut sum, mut most, mut least) = (0_usize, 0, 0, usize::MAX);
                for age in ages {
                    (count, sum) = (count + 1, sum + age);
                    (most, least) = (most.max(age), least.min(age));
                }
                out.name("undergraduateDegreeObtainedBystudent_aggregate");
                let average = decimal(sum, count);
                out.text(&format!(
                    r#"{{"age":{{"avg":"{average}","max":{most},"min":{least}}}}}"#
                ));
            }),
            other => return Err(BoundError::NoTemplate(other.to_owned())),
        }
        Ok(())
    }

    fn columns(&self, name: &str) -> Columns<'i> {
        self.properties[name]
    }

    fn to(&self, name: &str) -> Step<'i> {
        Step {
            columns: self.columns(name),
            inverse: false,
        }
    }

    fn from(&self, name: &str) -> Step<'i> {
        Step {
            columns: self.columns(name),
            inverse: true,
        }
    }

    fn university(&self, instance: &Instance) -> Result<Option<u32>, BoundError> {
        self.node(instance, "universityID")
    }

    /// Returns the number of the object that a variable names.
    fn node(&self, instance: &Instance, name: &'static str) -> Result<Option<u32>, BoundError> {
        let iri = NamedNodeRef::new_unchecked(text(instance, name)?);
        Ok(self.image.number(TermRef::NamedNode(iri)))
    }

    fn class(&self, name: &str) -> Option<u32> {
        let iri = format!("{VOCABULARY}{name}");
        let iri = NamedNodeRef::new_unchecked(&iri);
        self.image.number(TermRef::NamedNode(iri))
    }

    /// Keeps the instances of a class.
    fn of_class<'n>(
        &'n self,
        nodes: &'n [u32],
        class: Option<u32>,
    ) -> impl Iterator<Item = u32> + use<'n, 'i> {
        let is_of = move |node: &u32| {
            class.is_some_and(|class| self.types.objects(*node).binary_search(&class).is_ok())
        };
        nodes.iter().copied().filter(is_of)
    }

    /// Returns all graduate students by two properties of which they have one value each.
    fn sorted(&self, order: &Value) -> Vec<u32> {
        let keys = order.as_object().into_iter().flat_map(|order| order.keys());
        let keys: Vec<Step<'_>> = keys.map(|name| self.to(name)).collect();
        let class = self.class("GraduateStudent");
        let mut all = class.map_or(Vec::new(), |class| self.types.subjects(class).to_vec());
        let key = |node: &u32| -> Vec<Option<u32>> {
            let first = |key: &Step<'_>| key.ends(*node).first().copied();
            keys.iter().map(first).collect()
        };
        all.sort_by_cached_key(|node| (key(node), *node));
        all
    }

    fn age(&self, node: u32) -> Option<usize> {
        let age = self.columns("age").objects(node).first()?;
        self.value(*age).parse().ok()
    }

    /// Returns the text of a literal.
    fn value(&self, number: u32) -> &'i str {
        match self.image.term(number) {
            TermView::Literal(literal) => literal.value(),
            _ => "",
        }
    }
}

const ALUMNI: &str = "undergraduateDegreeObtainedBystudent";

fn text<'v>(instance: &'v Instance, name: &'static str) -> Result<&'v str, BoundError> {
    let value = instance.variables.get(name).and_then(Value::as_str);
    value.ok_or(BoundError::Unbound(name))
}

fn number(instance: &Instance, name: &'static str) -> Result<usize, BoundError> {
    let value = instance.variables.get(name).and_then(Value::as_u64);
    let value = value.and_then(|value| usize::try_from(value).ok());
    value.ok_or(BoundError::Unbound(name))
}

/// Returns a quotient with up to 18 decimals, cut off.
fn decimal(sum: usize, count: usize) -> String {
    const ONE: u128 = 1_000_000_000_000_000_000;
    let quotient = sum as u128 * ONE / count.max(1) as u128;
    let text = format!("{}.{:018}", quotient / ONE, quotient % ONE);
    let text = text.trim_end_matches('0');
    text.trim_end_matches('.').to_owned()
}

/// Writes JSON.
struct Writer<'i> {
    image: &'i Image,
    out: Vec<u8>,
}

impl Writer<'_> {
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn comma(&mut self) {
        if !matches!(self.out.last(), Some(b'{' | b'[')) {
            self.out.push(b',');
        }
    }

    fn name(&mut self, name: &str) {
        self.comma();
        self.out.push(b'"');
        self.text(name);
        self.text("\":");
    }

    fn string(&mut self, parts: [&str; 2]) {
        self.out.push(b'"');
        for part in parts {
            let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
            if part.bytes().all(is_plain) {
                self.text(part);
            } else {
                let quoted = Value::from(part).to_string();
                self.text(&quoted[1..quoted.len() - 1]);
            }
        }
        self.out.push(b'"');
    }

    fn id(&mut self, node: u32) {
        self.name("id");
        if let TermView::Iri { prefix, rest } = self.image.term(node) {
            self.string([prefix, rest]);
        }
    }

    /// Writes the first of some values.
    fn literal(&mut self, name: &str, values: &[u32]) {
        self.name(name);
        match values.first().map(|value| self.image.term(*value)) {
            Some(TermView::Literal(literal)) => self.string([literal.value(), ""]),
            _ => self.text("null"),
        }
    }

    fn braces(&mut self, node: u32, mut write: impl FnMut(&mut Self, u32)) {
        self.out.push(b'{');
        write(self, node);
        self.out.push(b'}');
    }

    /// Writes the first of some objects.
    fn object(&mut self, name: &str, nodes: &[u32], write: impl FnMut(&mut Self, u32)) {
        self.name(name);
        match nodes.first() {
            Some(node) => self.braces(*node, write),
            None => self.text("null"),
        }
    }

    fn list(
        &mut self,
        name: &str,
        nodes: impl Iterator<Item = u32>,
        mut write: impl FnMut(&mut Self, u32),
    ) {
        self.name(name);
        self.out.push(b'[');
        for node in nodes {
            self.comma();
            self.braces(node, &mut write);
        }
        self.out.push(b']');
    }

    fn each(&mut self, name: &str, nodes: &[u32], write: impl FnMut(&mut Self, u32)) {
        self.list(name, nodes.iter().copied(), write);
    }

    fn root(&mut self, name: &str, node: Option<u32>, write: impl FnMut(&mut Self, u32)) {
        self.list(name, node.into_iter(), write);
    }
}
