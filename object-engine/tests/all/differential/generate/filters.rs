//! Random `where` inputs, mostly such that some chosen object satisfies them.

use oxrdf::{NamedNode, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::{Property, Range};

use super::{Generator, literals};
use crate::differential::coverage::{FilterDepth, Operand, operators};
use crate::differential::operation::Arg;
use crate::differential::reference::{Number, Ty, fits, iri_of};

/// What a filter of values compares.
#[derive(Clone, Copy)]
pub(super) enum Leaf {
    Scalar(Scalar),
    Enum,
    /// The text of a literal.
    Text,
}

const CONNECTIVES: &[&str] = &["AND", "OR", "ALL", "ALL_EXISTS"];
const PATTERNS: &[&str] = &["^a", "b$", "a.c", "[a-c]", "e", "^.$", "(a|z)z?", "A", "^$"];

/// Where a filter is, and how much further it may nest.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) place: FilterDepth,
    /// The input is that of a property with several values.
    pub(super) multi: bool,
    /// How many properties may still be followed.
    pub(super) links: usize,
    /// How many connectives may still nest.
    pub(super) connectives: usize,
}

impl Spot {
    /// The `where` of a root field.
    pub(super) fn root() -> Self {
        Spot {
            place: FilterDepth::Root,
            multi: true,
            links: 2,
            connectives: 2,
        }
    }

    /// The `where` of a field below.
    pub(super) fn nested() -> Self {
        Spot {
            place: FilterDepth::Nested,
            links: 1,
            ..Spot::root()
        }
    }

    fn inside(self) -> Self {
        Spot {
            connectives: self.connectives - 1,
            ..self
        }
    }

    fn behind(self, property: &Property) -> Option<Self> {
        Some(Spot {
            place: self.place.next()?,
            multi: property.max.is_multiple(),
            links: self.links.checked_sub(1)?,
            ..self
        })
    }
}

/// A condition on values, without the values.
#[derive(Clone, Copy)]
pub(super) struct About {
    pub(super) operand: Operand,
    pub(super) leaf: Leaf,
    pub(super) multi: bool,
    pub(super) place: FilterDepth,
}

impl Generator<'_> {
    /// One of the keys of an input, mostly the one that was used least; counted as used.
    fn key(
        &mut self,
        operand: Operand,
        multi: bool,
        place: FilterDepth,
        options: &[&'static str],
    ) -> &'static str {
        let key = if self.random.chance(85) {
            self.steering.rarest(operand, multi, place, options)
        } else {
            self.random.choose(options)
        };
        self.steering.count(operand, multi, place, key);
        key
    }

    /// A filter of objects. `sample` is an object that it should let through.
    pub(super) fn filter(&mut self, ty: Ty, sample: Option<&str>, at: Spot) -> Arg {
        let mut keys: Vec<(String, Arg)> = Vec::new();
        let count = [1, 1, 1, 1, 2, 2, 2, 2, 2, 0][self.random.below(10)];
        for _ in 0..count {
            let (key, value) = self.filter_key(ty, sample, at);
            if !keys.iter().any(|(known, _)| *known == key) {
                keys.push((key, value));
            }
        }
        Arg::Object(keys)
    }

    fn filters(&mut self, ty: Ty, sample: Option<&str>, at: Spot) -> Arg {
        let count = [0, 1, 2, 2, 2, 3, 2, 2][self.random.below(8)];
        let items = (0..count).map(|_| self.filter(ty, sample, at));
        Arg::List(items.collect())
    }

    fn filter_key(&mut self, ty: Ty, sample: Option<&str>, at: Spot) -> (String, Arg) {
        let (multi, place) = (at.multi, at.place);
        if at.connectives > 0 && self.random.chance(22) {
            let mut options = vec!["AND", "OR", "OR", "NOT"];
            if multi {
                options.extend(["ALL", "ALL_EXISTS"]);
            }
            let key = self.key(Operand::Object, multi, place, &options);
            let other = if self.random.chance(70) { None } else { sample };
            let inner = at.inside();
            let value = match key {
                "AND" | "OR" => self.filters(ty, sample, inner),
                "NOT" => self.filter(ty, other, inner),
                _ => self.filter(ty, sample, inner),
            };
            return (key.to_owned(), value);
        }
        if self.random.chance(90)
            && let Some(condition) = self.property_key(ty, sample, at)
        {
            return condition;
        }
        self.built_in_key(ty, sample, at)
    }

    /// A condition on a property; `None` where the type has none.
    fn property_key(&mut self, ty: Ty, sample: Option<&str>, at: Spot) -> Option<(String, Arg)> {
        let (Ty::Concrete(id) | Ty::Interface(id)) = ty else {
            return None;
        };
        let schema = self.model.schema;
        let nameable = schema.is_nameable(id);
        let often = if at.place == FilterDepth::Root {
            65
        } else {
            45
        };
        let leads = at.links > 0 && self.random.chance(often);
        let stored = |property: &Property| {
            sample.is_some_and(|node| !self.graph.union().values(node, &property.path).is_empty())
        };
        let all = self.model.object(id).props.iter().map(|&id| &schema[id]);
        let fitting: Vec<&Property> = all
            .filter(|p| p.name.graphql != "name" || !nameable)
            .filter(|p| matches!(p.range, Range::Object(_)) == leads)
            .collect();
        let good: Vec<&Property> = fitting.iter().copied().filter(|p| stored(p)).collect();
        let fitting = if good.is_empty() || self.random.chance(15) {
            fitting
        } else {
            good
        };
        let uses = |property: &&&Property| {
            let operand = operand_of(property.range);
            let multi = property.max.is_multiple();
            self.steering.total(operand, multi, at.place)
        };
        let rarest = fitting.iter().min_by_key(uses).copied();
        let chosen = if leads || self.random.chance(10) {
            self.random.some(&fitting).copied()
        } else {
            rarest
        };
        let property = chosen?;
        self.steering
            .count(Operand::Object, at.multi, at.place, "property");
        let value = self.property_filter(property, sample, at);
        Some((property.name.graphql.clone(), value))
    }

    fn built_in_key(&mut self, ty: Ty, sample: Option<&str>, at: Spot) -> (String, Arg) {
        let nameable = matches!(ty, Ty::Concrete(id) | Ty::Interface(id)
            if self.model.schema.is_nameable(id));
        let mut options = vec!["ID", "id", "type"];
        if nameable {
            options.push("name");
        }
        if matches!(ty, Ty::Any | Ty::Interface(_)) && at.connectives > 0 {
            options.push("_if");
        }
        let key = self.key(Operand::Object, at.multi, at.place, &options);
        let about = |operand: Operand, scalar: Scalar, multi: bool| About {
            operand,
            leaf: Leaf::Scalar(scalar),
            multi,
            place: at.place,
        };
        let value = match key {
            "ID" => {
                let ids = (0..self.random.below(4)).map(|_| Arg::Text(self.some_id(sample)));
                Arg::List(ids.collect())
            }
            "id" => {
                let node = NamedNode::new_unchecked(self.some_id(sample));
                let about = about(Operand::Id, Scalar::Iri, false);
                self.values(about, Some(&node.into()), 1)
            }
            "type" => {
                let triples = self.graph.union();
                let property = sample.and_then(|node| {
                    let property = self.model.type_property(triples, node, ty)?;
                    Some((node, soml_core::schema::Path::Forward(property.to_owned())))
                });
                let term = property.and_then(|(node, path)| self.some_value(node, &path));
                self.values(about(Operand::Type, Scalar::Iri, true), term.as_ref(), 1)
            }
            "name" => {
                let path = self.model.possible(ty).into_iter().find_map(|id| {
                    let name = self.model.object(id).name_property?;
                    Some(self.model.schema[name].path.clone())
                });
                let sampled = sample.zip(path);
                let term = sampled.and_then(|(node, path)| self.some_value(node, &path));
                self.values(
                    about(Operand::Name, Scalar::String, false),
                    term.as_ref(),
                    1,
                )
            }
            _ => {
                let possible = self.model.possible(ty);
                let narrow = Ty::Concrete(self.random.choose(&possible));
                let key = format!("_if{}", self.model.type_name(narrow));
                return (key, self.filter(narrow, sample, at.inside()));
            }
        };
        (key.to_owned(), value)
    }

    fn some_id(&mut self, sample: Option<&str>) -> String {
        match sample {
            Some(node) if self.random.chance(80) => node.to_owned(),
            _ => format!("http://e/n{}", self.random.below(9)),
        }
    }

    fn property_filter(&mut self, property: &Property, sample: Option<&str>, at: Spot) -> Arg {
        let multi = property.max.is_multiple();
        let term = sample.and_then(|node| self.some_value(node, &property.path));
        match property.range {
            Range::Literal(_) => self.literal_filter(term.as_ref(), multi, at.place, 2),
            Range::Object(object) => match at.behind(property) {
                // What is nested deepest asks for some value.
                None => Arg::Object(Vec::new()),
                Some(next) => {
                    let node = term.as_ref().and_then(iri_of);
                    self.filter(self.model.range(object), node, next)
                }
            },
            range => {
                let about = About {
                    operand: operand_of(range),
                    leaf: Leaf::of(range).expect("a scalar"),
                    multi,
                    place: at.place,
                };
                self.values(about, term.as_ref(), 2)
            }
        }
    }

    /// A filter of values. `sample` is a value that it should let through.
    pub(super) fn values(&mut self, about: About, sample: Option<&Term>, depth: usize) -> Arg {
        let mut keys: Vec<(String, Arg)> = Vec::new();
        let mut options = operators(about.operand, about.multi);
        if depth == 0 {
            options.retain(|key| !CONNECTIVES.contains(key));
        } else if self.random.chance(12) {
            // What is nested holds none, so that they would be rare.
            options.retain(|key| CONNECTIVES.contains(key));
        }
        for _ in 0..[1, 1, 1, 2][self.random.below(4)] {
            let key = self.key(about.operand, about.multi, about.place, &options);
            let value = match key {
                "{}" => return Arg::Object(Vec::new()),
                "AND" | "OR" => {
                    let count = [0, 1, 2, 2, 2][self.random.below(5)];
                    let items = (0..count).map(|_| self.values(about, sample, depth - 1));
                    Arg::List(items.collect())
                }
                "ALL" | "ALL_EXISTS" => self.values(about, sample, depth - 1),
                _ => self.operation(about.leaf, key, sample),
            };
            options.retain(|option| *option != "{}" && *option != key);
            keys.push((key.to_owned(), value));
        }
        Arg::Object(keys)
    }

    /// The operand of an operator.
    fn operation(&mut self, leaf: Leaf, key: &str, sample: Option<&Term>) -> Arg {
        if key.ends_with("RE") {
            let pattern = match sample {
                Some(term) if self.random.chance(60) => pattern_of(self.random.below(9), term),
                _ => self.random.choose(PATTERNS).to_string(),
            };
            return Arg::Text(pattern);
        }
        let wants_other = matches!(key, "NEQ" | "NIN" | "LT" | "GT");
        let near = self.random.chance(if wants_other { 50 } else { 15 });
        let near = sample.filter(|_| near).and_then(|term| match leaf {
            Leaf::Scalar(scalar) => literals::neighbour(&mut self.random, scalar, term),
            Leaf::Text => literals::neighbour(&mut self.random, Scalar::String, term),
            Leaf::Enum => None,
        });
        let guided = match &near {
            Some(near) => Some(near),
            None if wants_other && self.random.chance(70) => None,
            None => sample,
        };
        if !matches!(key, "IN" | "NIN") {
            let operand = self.operand(leaf, guided);
            return self.maybe_variable(leaf.name(), operand);
        }
        let mut items: Vec<Arg> = (0..self.random.below(3))
            .map(|_| self.operand(leaf, None))
            .collect();
        if guided.is_some() || self.random.chance(50) {
            items.push(self.operand(leaf, guided));
        }
        Arg::List(items)
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
        let usable = sample.filter(|term| match (leaf, term) {
            (Leaf::Text, _) => true,
            (_, Term::Literal(literal)) if scalar.is_numeric() => {
                let number = Number::from_literal(literal).and_then(|number| number.plain());
                let is_operand = number.is_some_and(|plain| literals::is_operand(scalar, &plain));
                is_operand && fits(scalar, term)
            }
            _ => fits(scalar, term),
        });
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
        // White space around a stored value is no part of it, except in texts.
        match (scalar, text_of(&term)) {
            (Scalar::String, text) => Arg::Text(text),
            (Scalar::Boolean, text) => Arg::Boolean(matches!(text.trim(), "true" | "1")),
            (_, text) => Arg::Text(text.trim().to_owned()),
        }
    }

    /// A filter of literals.
    pub(super) fn literal_filter(
        &mut self,
        sample: Option<&Term>,
        multi: bool,
        place: FilterDepth,
        depth: usize,
    ) -> Arg {
        let mut keys: Vec<(String, Arg)> = Vec::new();
        let mut options = operators(Operand::Literal, multi);
        if depth == 0 {
            options.retain(|key| !["AND", "OR", "NOT", "ALL", "ALL_EXISTS"].contains(key));
        }
        let part = |operand: Operand, leaf: Leaf| About {
            operand,
            leaf,
            multi: false,
            place,
        };
        for _ in 0..[1, 1, 2][self.random.below(3)] {
            let key = self.key(Operand::Literal, multi, place, &options);
            let next = depth.saturating_sub(1);
            let value = match key {
                "{}" => return Arg::Object(Vec::new()),
                "NOT" | "ALL" | "ALL_EXISTS" => self.literal_filter(sample, multi, place, next),
                "AND" | "OR" => {
                    let items = (0..self.random.below(3))
                        .map(|_| self.literal_filter(sample, multi, place, next));
                    Arg::List(items.collect())
                }
                "lang" => {
                    let specs = [
                        "en", "de,fr", "en~", "-en", "NONE", "ANY", "ALL,-de", "ALL:en",
                    ];
                    Arg::Text(self.random.choose(&specs).to_string())
                }
                "type" => {
                    let datatype = match sample {
                        Some(Term::Literal(literal)) => literal.datatype().into_owned(),
                        _ => oxrdf::vocab::xsd::STRING.into_owned(),
                    };
                    let about = part(Operand::LiteralType, Leaf::Scalar(Scalar::Iri));
                    self.values(about, Some(&datatype.into()), 1)
                }
                // A literal is none of any objects.
                "ID" => Arg::List(vec![Arg::Text("http://e/n1".to_owned())]),
                _ => self.values(part(Operand::LiteralText, Leaf::Text), sample, 1),
            };
            options.retain(|option| *option != "{}" && *option != key);
            keys.push((key.to_owned(), value));
        }
        Arg::Object(keys)
    }
}

/// What conditions on the values of a range compare.
pub(super) fn operand_of(range: Range) -> Operand {
    match range {
        Range::Scalar(scalar) => Operand::Scalar(scalar),
        Range::Enum(_) => Operand::Enum,
        Range::Literal(_) => Operand::Literal,
        Range::Object(_) => Operand::Object,
    }
}

impl Leaf {
    pub(super) fn of(range: Range) -> Option<Leaf> {
        match range {
            Range::Scalar(scalar) => Some(Leaf::Scalar(scalar)),
            Range::Enum(_) => Some(Leaf::Enum),
            Range::Literal(_) | Range::Object(_) => None,
        }
    }

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
