//! The vocabularies in which ontologies are written, whose classes describe data and are none.

/// Namespaces of these vocabularies.
const VOCABULARIES: [&str; 4] = [
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://www.w3.org/2000/01/rdf-schema#",
    "http://www.w3.org/2002/07/owl#",
    "http://www.w3.org/ns/shacl#",
];

/// More classes than these vocabularies have together.
pub(super) const MAX_CLASSES: usize = 200;

/// Returns whether a class is one of an ontology vocabulary, such as `owl:Class`.
pub(super) fn is_ontology_class(iri: &str) -> bool {
    VOCABULARIES
        .iter()
        .any(|namespace| iri.starts_with(namespace))
}

/// Removes the classes of ontology vocabularies if there are others, and returns how many.
pub(super) fn leave_out<C: AsRef<str>>(classes: &mut Vec<(C, u64)>) -> usize {
    let before = classes.len();
    if classes
        .iter()
        .any(|(class, _)| !is_ontology_class(class.as_ref()))
    {
        classes.retain(|(class, _)| !is_ontology_class(class.as_ref()));
    }
    before - classes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_ontologies_stay_where_there_are_no_others() {
        let class = |name: &str| (format!("http://www.w3.org/2002/07/owl#{name}"), 1);
        let mut classes = vec![class("Class"), class("Ontology")];
        assert_eq!(leave_out(&mut classes), 0);
        classes.push(("http://v/Book".to_owned(), 1));
        assert_eq!(leave_out(&mut classes), 2);
        assert_eq!(classes, [("http://v/Book".to_owned(), 1)]);
    }
}
