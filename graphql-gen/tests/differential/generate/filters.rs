//! Random `where` inputs, mostly such that some chosen object satisfies them.

use oxrdf::{NamedNode, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::{Property, Range};

use super::Generator;
use super::literals;
use crate::operation::Arg;
use crate::reference::{Number, Ty, fits, iri_of};

/// What a filter of values compares.
#[derive(Clone, Copy)]
pub(super) enum Leaf {
    Scalar(Scalar),
    Enum,
    /// The text of a literal.
    Text,
}

const ORDERED: &[&str] = &["EQ", "NEQ", "LT", "LTE", "GT", "GTE", "IN", "NIN"];
const PATTERNS: &[&str] = &["^a", "b$", "a.c", "[a-c]", "e", "^.$", "(a|z)z?", "A", "^$"];

impl Generator<'_> {
    /// A filter of objects. `sample` is an object that it should let through.
    pub(super) fn filter(
        &mut self,
        ty: Ty,
        sample: Option<&str>,
        multi: bool,
        depth: usize,
    ) -> Arg {
        let mut keys: Vec<(String, Arg)> = Vec::new();
        let count = [1, 1, 1, 2, 2, 0][self.random.below(6)];
        for _ in 0..count {
            let (key, value) = self.filter_key(ty, sample, multi, depth);
            if !keys.iter().any(|(known, _)| *known == key) {
                keys.push((key, value));
            }
        }
        Arg::Object(keys)
    }

    fn filters(&mut self, ty: Ty, sample: Option<&str>, multi: bool, depth: usize) -> Arg {
        let count = [0, 1, 2, 2, 2, 3, 2, 2][self.random.below(8)];
        let items = (0..count).map(|_| self.filter(ty, sample, multi, depth));
        Arg::List(items.collect())
    }

    fn filter_key(
        &mut self,
        ty: Ty,
        sample: Option<&str>,
        multi: bool,
        depth: usize,
    ) -> (String, Arg) {
        let count = |this: &mut Self, key: &str| this.coverage.operator(key, "object", multi);
        if depth > 0 && self.random.chance(35) {
            let other = if self.random.chance(70) { None } else { sample };
            let next = depth - 1;
            let (key, value) = match self.random.below(9) {
                0 | 1 => ("AND", self.filters(ty, sample, multi, next)),
                2..5 => ("OR", self.filters(ty, sample, multi, next)),
                5 | 6 => ("NOT", self.filter(ty, other, multi, next)),
                7 if multi => ("ALL", self.filter(ty, sample, multi, next)),
                _ if multi => ("ALL_EXISTS", self.filter(ty, sample, multi, next)),
                _ => ("AND", self.filters(ty, sample, multi, next)),
            };
            count(self, key);
            return (key.to_owned(), value);
        }
        let id = |this: &mut Self| match sample {
            Some(node) if this.random.chance(80) => node.to_owned(),
            _ => format!("http://e/n{}", this.random.below(9)),
        };
        let properties = match ty {
            Ty::Any | Ty::Nameable => Vec::new(),
            Ty::Concrete(object) | Ty::Interface(object) => self.model.object(object).props.clone(),
        };
        let schema = self.model.schema;
        let nameable = matches!(ty, Ty::Concrete(id) | Ty::Interface(id)
            if schema.is_nameable(id));
        let (key, value) = match self.random.below(14) {
            0 => {
                let ids = (0..self.random.below(4))
                    .map(|_| Arg::Text(id(self)))
                    .collect();
                ("ID", Arg::List(ids))
            }
            1 => {
                let node = NamedNode::new_unchecked(id(self));
                let leaf = Leaf::Scalar(Scalar::Iri);
                ("id", self.values(leaf, Some(&node.into()), false, 1))
            }
            2 => {
                let property = self.model.type_property(ty);
                let path = soml_core::schema::Path::Forward(property);
                let term = sample.and_then(|node| self.some_value(node, &path));
                let leaf = Leaf::Scalar(Scalar::Iri);
                ("type", self.values(leaf, term.as_ref(), true, 1))
            }
            3 if nameable => {
                let path = self.model.possible(ty).into_iter().find_map(|id| {
                    let name = self.model.object(id).name_property?;
                    Some(schema[name].path.clone())
                });
                let sampled = sample.zip(path);
                let term = sampled.and_then(|(node, path)| self.some_value(node, &path));
                let leaf = Leaf::Scalar(Scalar::String);
                ("name", self.values(leaf, term.as_ref(), false, 1))
            }
            4 | 5 if matches!(ty, Ty::Any | Ty::Interface(_)) && depth > 0 => {
                let possible = self.model.possible(ty);
                let narrow = Ty::Concrete(self.random.choose(&possible));
                let key = format!("_if{}", self.model.type_name(narrow));
                count(self, "_if");
                return (key, self.filter(narrow, sample, multi, depth - 1));
            }
            _ => {
                let stored = |property: &Property| {
                    sample.is_some_and(|node| {
                        !self.graph.union().values(node, &property.path).is_empty()
                    })
                };
                let properties: Vec<&Property> = properties
                    .into_iter()
                    .map(|id| &schema[id])
                    .filter(|p| p.name.graphql != "name" || !nameable)
                    .collect();
                let good: Vec<&Property> =
                    properties.iter().copied().filter(|p| stored(p)).collect();
                let chosen = if self.random.chance(80) {
                    self.random.some(&good)
                } else {
                    None
                };
                let chosen = chosen
                    .copied()
                    .or_else(|| self.random.some(&properties).copied());
                let Some(property) = chosen else {
                    let node = NamedNode::new_unchecked(id(self));
                    let leaf = Leaf::Scalar(Scalar::Iri);
                    let value = self.values(leaf, Some(&node.into()), false, 1);
                    return ("id".to_owned(), value);
                };
                let value = self.property_filter(property, sample, depth);
                return (property.name.graphql.clone(), value);
            }
        };
        count(self, key);
        (key.to_owned(), value)
    }

    fn property_filter(&mut self, property: &Property, sample: Option<&str>, depth: usize) -> Arg {
        let multi = property.max.is_multiple();
        let term = sample.and_then(|node| self.some_value(node, &property.path));
        match property.range {
            Range::Scalar(scalar) => self.values(Leaf::Scalar(scalar), term.as_ref(), multi, 2),
            Range::Enum(_) => self.values(Leaf::Enum, term.as_ref(), multi, 2),
            Range::Literal(_) => self.literal_filter(term.as_ref(), multi, 2),
            // What is nested deepest asks for some value.
            Range::Object(_) if depth == 0 => Arg::Object(Vec::new()),
            Range::Object(object) => {
                let node = term.as_ref().and_then(iri_of);
                let range = self.model.range(object);
                self.filter(range, node, multi, depth - 1)
            }
        }
    }

    /// A filter of values. `sample` is a value that it should let through.
    pub(super) fn values(
        &mut self,
        leaf: Leaf,
        sample: Option<&Term>,
        multi: bool,
        depth: usize,
    ) -> Arg {
        if self.random.chance(7) {
            self.coverage.operator("{}", leaf.name(), multi);
            return Arg::Object(Vec::new());
        }
        let mut keys: Vec<(String, Arg)> = Vec::new();
        for _ in 0..[1, 1, 1, 2][self.random.below(4)] {
            let (key, value) = if depth > 0 && self.random.chance(25) {
                let count = [0, 1, 2, 2, 2][self.random.below(5)];
                let items = |this: &mut Self| {
                    let items = (0..count).map(|_| this.values(leaf, sample, multi, depth - 1));
                    Arg::List(items.collect())
                };
                match self.random.below(6) {
                    0 | 1 => ("AND", items(self)),
                    4 if multi => ("ALL", self.values(leaf, sample, multi, depth - 1)),
                    5 if multi => ("ALL_EXISTS", self.values(leaf, sample, multi, depth - 1)),
                    _ => ("OR", items(self)),
                }
            } else {
                self.operator(leaf, sample)
            };
            self.coverage.operator(key, leaf.name(), multi);
            if !keys.iter().any(|(known, _)| known == key) {
                keys.push((key.to_owned(), value));
            }
        }
        Arg::Object(keys)
    }

    fn operator(&mut self, leaf: Leaf, sample: Option<&Term>) -> (&'static str, Arg) {
        let has_regex = matches!(
            leaf,
            Leaf::Text | Leaf::Scalar(Scalar::String | Scalar::Iri)
        );
        if has_regex && self.random.chance(30) {
            let pattern = match sample {
                Some(term) if self.random.chance(60) => pattern_of(self.random.below(9), term),
                _ => self.random.choose(PATTERNS).to_string(),
            };
            let key = self.random.choose(&["RE", "IRE", "NRE", "NIRE"]);
            return (key, Arg::Text(pattern));
        }
        let key = loop {
            let key = self.random.choose(ORDERED);
            let is_iri = matches!(leaf, Leaf::Scalar(Scalar::Iri));
            if !is_iri || ["EQ", "NEQ", "IN", "NIN"].contains(&key) {
                break key;
            }
        };
        let wants_other = matches!(key, "NEQ" | "NIN" | "LT" | "GT");
        let guided = if wants_other && self.random.chance(70) {
            None
        } else {
            sample
        };
        let value = if matches!(key, "IN" | "NIN") {
            let mut items: Vec<Arg> = (0..self.random.below(3))
                .map(|_| self.operand(leaf, None))
                .collect();
            if guided.is_some() || self.random.chance(50) {
                items.push(self.operand(leaf, guided));
            }
            Arg::List(items)
        } else {
            let operand = self.operand(leaf, guided);
            self.maybe_variable(leaf.name(), operand)
        };
        (key, value)
    }

    /// An operand: the sample where it is a value of the scalar at all, else any value.
    fn operand(&mut self, leaf: Leaf, sample: Option<&Term>) -> Arg {
        let scalar = match leaf {
            Leaf::Scalar(scalar) => scalar,
            Leaf::Text => Scalar::String,
            Leaf::Enum => {
                let text = sample.map(text_of).unwrap_or_default();
                let names = ["GLAD", "SAD", "CALM"];
                let name = names.iter().find(|name| **name == text);
                let name = name.copied().unwrap_or(self.random.choose(&names));
                return Arg::Enum(name.to_owned());
            }
        };
        let usable = sample.filter(|term| matches!(leaf, Leaf::Text) || fits(scalar, term));
        let term = match usable {
            Some(term) => term.clone(),
            None => loop {
                let term = literals::scalar_value(&mut self.random, scalar);
                if fits(scalar, &term) {
                    break term;
                }
            },
        };
        if let (true, Term::Literal(literal)) = (scalar.is_numeric(), &term) {
            let number = Number::from_literal(literal).and_then(|number| number.plain());
            let plain = number.expect("a number that fits");
            let as_text = !matches!(scalar, Scalar::Int | Scalar::Double) && self.random.chance(40);
            let is_float = scalar.is_float() && !plain.contains('.') && self.random.chance(20);
            return match plain {
                plain if as_text => Arg::Text(plain),
                plain if is_float => Arg::Number(format!("{plain}.0")),
                plain => Arg::Number(plain),
            };
        }
        match (scalar, text_of(&term)) {
            (Scalar::Boolean, text) => Arg::Boolean(text == "true" || text == "1"),
            (_, text) => Arg::Text(text),
        }
    }

    /// A filter of literals.
    pub(super) fn literal_filter(
        &mut self,
        sample: Option<&Term>,
        multi: bool,
        depth: usize,
    ) -> Arg {
        let mut keys: Vec<(String, Arg)> = Vec::new();
        for _ in 0..[1, 1, 2, 0][self.random.below(4)] {
            let nested = depth > 0;
            let next = depth.saturating_sub(1);
            let (key, value) = match self.random.below(12) {
                0 if nested => ("NOT", self.literal_filter(sample, multi, next)),
                1 if nested && multi => ("ALL", self.literal_filter(sample, multi, next)),
                2 if nested && multi => ("ALL_EXISTS", self.literal_filter(sample, multi, next)),
                3 | 4 if nested => {
                    let items = (0..self.random.below(3))
                        .map(|_| self.literal_filter(sample, multi, next))
                        .collect();
                    let key = if self.random.chance(50) { "OR" } else { "AND" };
                    (key, Arg::List(items))
                }
                5 | 6 => {
                    let specs = [
                        "en", "de,fr", "en~", "-en", "NONE", "ANY", "ALL,-de", "ALL:en",
                    ];
                    ("lang", Arg::Text(self.random.choose(&specs).to_string()))
                }
                7 => {
                    let datatype = match sample {
                        Some(Term::Literal(literal)) => literal.datatype().as_str().to_owned(),
                        _ => "http://www.w3.org/2001/XMLSchema#string".to_owned(),
                    };
                    let key = self.random.choose(&["EQ", "NEQ"]).to_string();
                    let operand = Arg::Object(vec![(key, Arg::Text(datatype))]);
                    ("type", operand)
                }
                _ => ("value", self.values(Leaf::Text, sample, false, 1)),
            };
            self.coverage.operator(key, "Literal", multi);
            if !keys.iter().any(|(known, _)| known == key) {
                keys.push((key.to_owned(), value));
            }
        }
        Arg::Object(keys)
    }
}

impl Leaf {
    /// The name of the GraphQL type of operands.
    pub(super) fn name(self) -> &'static str {
        match self {
            Leaf::Scalar(scalar) => scalar.graphql_name(),
            Leaf::Enum => "Mood",
            Leaf::Text => "String",
        }
    }
}

fn text_of(term: &Term) -> String {
    match term {
        Term::Literal(literal) => literal.value().to_owned(),
        Term::NamedNode(node) => node.as_str().to_owned(),
        _ => String::new(),
    }
}

/// A pattern that matches the text of a term in most cases.
fn pattern_of(choice: usize, term: &Term) -> String {
    let text: String = text_of(term).chars().take(30).collect();
    let plain: String = text
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '.' })
        .collect();
    match choice {
        0..3 => format!("^{}", plain.chars().take(3).collect::<String>()),
        3..5 => plain.to_uppercase(),
        5 => format!("^{plain}$"),
        _ => plain,
    }
}
