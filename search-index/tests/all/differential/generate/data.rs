//! Random objects of a schema.

use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term};
use search_index::soml_core::datatype::Scalar;
use search_index::soml_core::schema::{Object, Path, Range, Schema};
use test_support::random::Random;

use super::literals::values;

/// Makes objects with values, and references between them.
///
/// Data for OpenSearch have no `unsignedLong` 0, and no property with values on both sides of 2^63: it does not
/// always find and sort those.
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

/// Removes values that OpenSearch does not treat as they should be beside others of the property: 0, and those
/// on the other side of 2^63.
fn keep_to_one_side(pool: &mut Vec<Term>) {
    let number = |value: &Term| match value {
        Term::Literal(literal) => literal.value().parse::<u64>().ok(),
        _ => None,
    };
    let first = pool.iter().find_map(number);
    let is_high = |number: u64| i64::try_from(number).is_err();
    pool.retain(|value| {
        number(value)
            .is_none_or(|it| it != 0 && first.is_some_and(|first| is_high(first) == is_high(it)))
    });
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
        if with_server && is_unsigned {
            keep_to_one_side(&mut pool);
        }
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
