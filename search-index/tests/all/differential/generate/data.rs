//! Random objects of a schema.

use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term};
use search_index::soml_core::datatype::Scalar;
use search_index::soml_core::schema::{Object, Path, Range, Schema};

use super::literals::values;
use crate::differential::random::Random;

/// Makes objects with values, and references between them.
///
/// Data for OpenSearch have no `unsignedLong` 0: it passes over one that stands beside greater numbers.
pub(crate) fn data(random: &mut Random, schema: &Schema, with_server: bool) -> Vec<Quad> {
    let mut quads = Vec::new();
    let kinds = [
        ("A", random.between(6, 36)),
        ("B", random.between(2, 9)),
        ("C", random.between(1, 6)),
    ];
    for (name, count) in kinds {
        let (_, object) = schema
            .objects()
            .find(|(_, object)| object.name.graphql == name)
            .expect("the schema has it");
        let iris: Vec<NamedNode> = (1..=count).map(|number| iri(name, number)).collect();
        for node in &iris {
            let class = NamedNode::new_unchecked(format!("http://e/{name}"));
            quads.push(quad(
                node,
                oxrdf::vocab::rdf::TYPE.into_owned(),
                class.into(),
            ));
        }
        let parts = Parts {
            iris: &iris,
            kinds: &kinds,
            with_server,
        };
        add_values(random, schema, object, &parts, &mut quads);
    }
    quads
}

fn is_zero(value: &Term) -> bool {
    let Term::Literal(literal) = value else {
        return false;
    };
    literal
        .value()
        .parse::<f64>()
        .is_ok_and(|number| number == 0.0)
}

/// Names an object. The IRI of the fifth is too long to be the id of a document.
fn iri(class: &str, number: usize) -> NamedNode {
    let tail = if number == 5 {
        "x".repeat(600)
    } else {
        String::new()
    };
    NamedNode::new_unchecked(format!("http://e/{}{number}{tail}", class.to_lowercase()))
}

fn quad(subject: &NamedNode, predicate: NamedNode, object: Term) -> Quad {
    let subject = NamedOrBlankNode::from(subject.clone());
    Quad::new(subject, predicate, object, GraphName::DefaultGraph)
}

/// What values of objects are made of.
struct Parts<'p> {
    iris: &'p [NamedNode],
    kinds: &'p [(&'p str, usize)],
    with_server: bool,
}

fn add_values(
    random: &mut Random,
    schema: &Schema,
    object: &Object,
    parts: &Parts<'_>,
    quads: &mut Vec<Quad>,
) {
    let Parts {
        iris,
        kinds,
        with_server,
    } = *parts;
    for &id in &object.props {
        let property = &schema[id];
        let Path::Forward(predicate) = &property.path else {
            continue;
        };
        let predicate = NamedNode::new_unchecked(predicate);
        let mut pool: Vec<Term> = match property.range {
            Range::Object(target) => {
                let name = schema[target].name.graphql.as_str();
                let (_, count) = kinds
                    .iter()
                    .find(|(kind, _)| *kind == name)
                    .expect("a kind");
                // One more than there are: a reference that leads nowhere.
                (1..=count + 1)
                    .map(|number| iri(name, number).into())
                    .collect()
            }
            range => values(random, range),
        };
        let is_unsigned = property.range == Range::Scalar(Scalar::UnsignedLong);
        pool.retain(|value| !(with_server && is_unsigned && is_zero(value)));
        if pool.is_empty() {
            continue;
        }
        let missing = *random.pick(&[0, 10, 30, 60]);
        for iri in iris {
            if random.chance(missing) {
                continue;
            }
            let count = if property.max.is_multiple() {
                random.between(1, 4)
            } else {
                1
            };
            for _ in 0..count + usize::from(random.chance(5)) {
                quads.push(quad(iri, predicate.clone(), random.pick(&pool).clone()));
            }
        }
    }
}
