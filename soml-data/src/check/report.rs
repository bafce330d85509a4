//! Findings about data, counted as they come.

use std::collections::HashMap;

use serde::{Serialize, Serializer};
use soml_core::schema::{ObjectId, PropertyId, Schema};

use super::code::{CheckCode, CheckSeverity};
use crate::classes::ClassCounts;

/// Greatest number of different details of one kind of finding; the rest is counted together.
const MAX_DETAILS: usize = 50;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// Number of objects of each concrete type, in the order of the schema.
    pub objects: Vec<TypeCount>,
    /// Findings, errors first, then in the order of the schema.
    pub findings: Vec<CheckFinding>,
    /// Checks that were not made, and why, one sentence each.
    pub not_checked: Vec<String>,
}

/// Number of objects of one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TypeCount {
    /// Name of the type in the schema.
    pub name: String,
    /// Number of objects of this type, those of its subtypes included: what its root field returns.
    pub count: u64,
}

/// Findings of one kind about one element of the schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CheckFinding {
    /// The code.
    #[serde(serialize_with = "as_text")]
    pub code: CheckCode,
    /// How bad it is.
    pub severity: CheckSeverity,
    /// Name of the object type in the schema; of a property the one that declares it.
    pub object: Option<String>,
    /// Name of the property in the schema.
    pub property: Option<String>,
    /// What exactly, such as the datatype that was found.
    pub detail: Option<String>,
    /// How often.
    pub count: u64,
    /// Some of the cases.
    pub examples: Vec<Example>,
}

/// One case of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// IRI of the object.
    pub subject: String,
    /// The value, or a number of values or instances.
    pub value: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn as_text<S: Serializer>(code: &CheckCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.as_str())
}

impl CheckReport {
    /// Returns the number of findings of one severity, each kind about each element once.
    #[must_use]
    pub fn count(&self, severity: CheckSeverity) -> usize {
        let of = |finding: &&CheckFinding| finding.severity == severity;
        self.findings.iter().filter(of).count()
    }
}

impl CheckFinding {
    /// Returns where it is, such as `Book.title`.
    #[must_use]
    pub fn element(&self) -> Option<String> {
        match (&self.object, &self.property) {
            (Some(object), Some(property)) => Some(format!("{object}.{property}")),
            (Some(one), None) | (None, Some(one)) => Some(one.clone()),
            (None, None) => None,
        }
    }
}

/// An element of the schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Element {
    pub(super) object: Option<ObjectId>,
    pub(super) property: Option<PropertyId>,
}

/// Counts findings and keeps the first cases of each kind.
pub(super) struct Tally {
    examples: usize,
    kinds: HashMap<(CheckCode, Element), HashMap<String, Counted>>,
}

#[derive(Default)]
struct Counted {
    count: u64,
    examples: Vec<Example>,
}

impl Tally {
    pub(super) fn new(examples: usize) -> Self {
        Tally {
            examples,
            kinds: HashMap::new(),
        }
    }

    /// Counts one case; the value is written only when it is kept.
    pub(super) fn add(
        &mut self,
        code: CheckCode,
        element: Element,
        detail: &str,
        subject: &str,
        value: Option<&dyn std::fmt::Display>,
    ) {
        let details = self.kinds.entry((code, element)).or_default();
        let known = details.contains_key(detail) || details.len() < MAX_DETAILS;
        let detail = if known { detail } else { "others" };
        if !details.contains_key(detail) {
            details.insert(detail.to_owned(), Counted::default());
        }
        let Some(counted) = details.get_mut(detail) else {
            return;
        };
        counted.count += 1;
        if counted.examples.len() < self.examples {
            counted.examples.push(Example {
                subject: subject.to_owned(),
                value: value.map(ToString::to_string),
            });
        }
    }

    /// Adds a finding about classes, of which the largest are its examples.
    pub(super) fn add_classes(&mut self, code: CheckCode, classes: &ClassCounts) {
        let largest = classes.largest.iter();
        let counted = Counted {
            count: classes.number as u64,
            examples: largest
                .map(|(class, count)| Example {
                    subject: class.as_str().to_owned(),
                    value: Some(match count {
                        1 => "1 instance".to_owned(),
                        count => format!("{count} instances"),
                    }),
                })
                .collect(),
        };
        let details = self.kinds.entry((code, Element::default())).or_default();
        details.insert(String::new(), counted);
    }

    /// Returns all findings in their order.
    pub(super) fn findings(self, schema: &Schema) -> Vec<CheckFinding> {
        let mut all: Vec<_> = self
            .kinds
            .into_iter()
            .flat_map(|(key, details)| details.into_iter().map(move |(d, c)| (key, d, c)))
            .collect();
        all.sort_by(|((code, element), detail, counted), (other, d, c)| {
            let order = |code: &CheckCode, element: &Element| (code.severity(), *element, *code);
            order(code, element)
                .cmp(&order(&other.0, &other.1))
                .then_with(|| c.count.cmp(&counted.count))
                .then_with(|| detail.cmp(d))
        });
        let finding =
            |((code, element), detail, counted): ((CheckCode, Element), String, Counted)| {
                CheckFinding {
                    code,
                    severity: code.severity(),
                    object: element.object.map(|id| schema[id].name.written.clone()),
                    property: element.property.map(|id| schema[id].name.written.clone()),
                    detail: (!detail.is_empty()).then_some(detail),
                    count: counted.count,
                    examples: counted.examples,
                }
            };
        all.into_iter().map(finding).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_by_examples_and_details() {
        let mut tally = Tally::new(2);
        for n in 0..1_000 {
            let (detail, subject) = (format!("d{n}"), format!("s{n}"));
            tally.add(
                CheckCode::ValueNotOfRange,
                Element::default(),
                &detail,
                &subject,
                None,
            );
            tally.add(
                CheckCode::ValueNotOfRange,
                Element::default(),
                "d0",
                &subject,
                None,
            );
        }
        let details = tally.kinds.values().next().expect("one kind");
        assert_eq!(details.len(), MAX_DETAILS + 1);
        assert!(details.values().all(|counted| counted.examples.len() <= 2));
        let counted: u64 = details.values().map(|counted| counted.count).sum();
        assert_eq!(counted, 2_000);
    }
}
