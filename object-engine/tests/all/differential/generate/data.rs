//! Random data for a schema.

use oxrdf::vocab::rdf;
use oxrdf::{BlankNode, GraphName, NamedNode, NamedOrBlankNode, Quad, Term};
use soml_core::schema::{ObjectId, ObjectKind, Path, Range, Schema};

use super::literals::{self, typed};
use super::schema::VOCABULARY;
use crate::differential::random::Random;

struct Writer<'a> {
    random: &'a mut Random,
    schema: &'a Schema,
    /// Makes numbers of many digits too.
    long_numbers: bool,
    quads: Vec<Quad>,
    /// Nodes and the objects that they have types of.
    nodes: Vec<(NamedOrBlankNode, Vec<ObjectId>)>,
}

/// Returns quads: nodes with several, one or no known types, values good and bad, in three graphs;
/// numbers of many digits among them, where the store compares those.
pub(crate) fn data(random: &mut Random, schema: &Schema, long_numbers: bool) -> Vec<Quad> {
    let mut writer = Writer {
        random,
        schema,
        long_numbers,
        quads: Vec::new(),
        nodes: Vec::new(),
    };
    writer.nodes();
    for at in 0..writer.nodes.len() {
        let (node, objects) = writer.nodes[at].clone();
        for object in objects {
            writer.properties(&node, object);
        }
    }
    writer.quads
}

impl Writer<'_> {
    fn nodes(&mut self) {
        let concrete: Vec<ObjectId> = self
            .schema
            .objects()
            .filter(|(_, object)| object.kind == ObjectKind::Concrete)
            .map(|(id, _)| id)
            .collect();
        for number in 0..self.random.between(6, 14) {
            let node: NamedOrBlankNode = if self.random.chance(5) {
                BlankNode::new_unchecked(format!("b{number}")).into()
            } else {
                NamedNode::new_unchecked(format!("http://e/n{number}")).into()
            };
            let mut objects = Vec::new();
            let count = [1, 1, 1, 1, 1, 1, 1, 2, 2, 0][self.random.below(10)];
            for _ in 0..count {
                let object = self.random.choose(&concrete);
                objects.push(object);
                self.types(&node, object);
            }
            if count == 0 {
                let class = NamedNode::new_unchecked(format!("{VOCABULARY}Unknown"));
                self.add(&node, rdf::TYPE.as_str(), class.into());
                objects.push(self.random.choose(&concrete));
            }
            self.nodes.push((node, objects));
        }
    }

    /// The types of an instance, and now and then those that its superclasses write.
    fn types(&mut self, node: &NamedOrBlankNode, object: ObjectId) {
        let schema = self.schema;
        for id in schema.lineage(object) {
            let own = id == object;
            let of = &schema[id];
            let explicit = of.kind == ObjectKind::Abstract && !of.types.is_empty();
            if (own || self.random.chance(if explicit { 80 } else { 25 }))
                && let Some(ty) = self.random.some(&of.types)
            {
                let ty = NamedNode::new_unchecked(ty.clone());
                self.add(node, &of.type_prop, ty.into());
            }
        }
    }

    fn properties(&mut self, node: &NamedOrBlankNode, object: ObjectId) {
        let schema = self.schema;
        for &id in &schema[object].props {
            let property = &schema[id];
            let Path::Forward(iri) = &property.path else {
                continue;
            };
            let count = if property.max.is_multiple() {
                [0, 1, 2, 2, 3, 4][self.random.below(6)]
            } else {
                [0, 1, 1, 1, 1, 1, 1, 1, 2, 1][self.random.below(10)]
            };
            // Now and then a value is where the superclass would have it.
            let above = schema[object].inherits.and_then(|parent| {
                let of_parent = schema[parent].props.iter().map(|id| &schema[*id]);
                of_parent
                    .into_iter()
                    .find(|other| other.name == property.name)
                    .map(|other| other.path.iri())
            });
            for _ in 0..count {
                let iri = match above {
                    Some(above) if self.random.chance(15) => above,
                    _ => iri,
                };
                let value = match property.range {
                    Range::Object(range) => self.link(range),
                    _ if self.random.chance(2) => BlankNode::new_unchecked("b99").into(),
                    range => {
                        let value = literals::value(self.random, range, self.long_numbers);
                        let value = value.expect("a literal");
                        match value {
                            value if property.type_cast && self.random.chance(50) => {
                                literals::to_cast(self.random, &value)
                            }
                            value => value,
                        }
                    }
                };
                self.add(node, iri, value);
            }
        }
    }

    /// What an object property leads to, mostly an instance of its range.
    fn link(&mut self, range: ObjectId) -> Term {
        let schema = self.schema;
        let fitting: Vec<Term> = self
            .nodes
            .iter()
            .filter(|(_, objects)| objects.iter().any(|&object| schema.is_a(object, range)))
            .map(|(node, _)| node.clone().into())
            .collect();
        let all: Vec<Term> = self
            .nodes
            .iter()
            .map(|(node, _)| node.clone().into())
            .collect();
        match self.random.below(40) {
            0 => typed("not an object", "string"),
            1 => NamedNode::new_unchecked("http://e/nowhere").into(),
            2..8 => self.random.pick(&all).clone(),
            _ => match self.random.some(&fitting) {
                Some(node) => node.clone(),
                None => self.random.pick(&all).clone(),
            },
        }
    }

    fn add(&mut self, subject: &NamedOrBlankNode, predicate: &str, object: Term) {
        let graphs = [
            GraphName::DefaultGraph,
            NamedNode::new_unchecked("http://e/g1").into(),
            NamedNode::new_unchecked("http://e/g2").into(),
        ];
        let times = if self.random.chance(10) { 2 } else { 1 };
        for _ in 0..times {
            let quad = Quad {
                subject: subject.clone(),
                predicate: NamedNode::new_unchecked(predicate),
                object: object.clone(),
                graph_name: self.random.pick(&graphs).clone(),
            };
            if !self.quads.contains(&quad) {
                self.quads.push(quad);
            }
        }
    }
}
