//! Random selections with arguments.

use oxrdf::{NamedNode, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::{Property, Range};

use super::Generator;
use super::filters::{About, Leaf, Spot, operand_of};
use crate::differential::coverage::{FilterDepth, Operand};
use crate::differential::operation::{Arg, Field, Fragment, Operation, Selection, Variable};
use crate::differential::reference::{Ty, iri_of};

const SPECS: &[&str] = &[
    "en",
    "de,en",
    "en~",
    "-en",
    "ALL",
    "ALL,-de",
    "ALL:de,en",
    "ANY",
    "NONE",
    "NONE,ANY",
    "BROWSER",
    "BROWSER,ANY",
    "en-GB,en",
    "fr,-de",
    "de",
    "fr~,en~",
    "en,-NONE",
    "ALL:fr",
    "BROWSER,-en",
];

/// What the keys of aggregates begin with.
pub(crate) const AGGREGATE: &str = "agg_";

/// Returns a random query.
pub(crate) fn operation(generator: &mut Generator<'_>) -> Operation {
    let roots = generator.model.roots();
    let mut selections = Vec::new();
    for _ in 0..[2, 2, 3, 3][generator.random.below(4)] {
        let mut root = generator.random.pick(&roots);
        for _ in 0..4 {
            if !generator.instances(root.1).is_empty() {
                break;
            }
            root = generator.random.pick(&roots);
        }
        let (name, ty) = root.clone();
        let config = &generator.model.schema.config;
        let (connections, aggregates) = (config.enable_connections, config.enable_aggregates);
        let counts = config.enable_type_count && ty != Ty::Any;
        selections.push(if counts && generator.random.chance(10) {
            generator.root_count(&name, ty)
        } else if connections && generator.random.chance(15) {
            generator.root_connection(&name, ty)
        } else if aggregates && generator.random.chance(20) {
            generator.root_aggregate(&name, ty)
        } else {
            generator.root(name, ty)
        });
    }
    Operation {
        variables: generator.variables.clone(),
        selections,
        fragments: generator.fragments.clone(),
    }
}

impl Generator<'_> {
    pub(super) fn instances(&self, ty: Ty) -> Vec<Term> {
        let triples = self.graph.union();
        let nodes = triples.nodes().into_iter();
        let instances = nodes.filter(|node| self.model.is_instance(triples, node, ty));
        instances
            .map(|node| NamedNode::new_unchecked(node).into())
            .collect()
    }

    fn root(&mut self, name: String, ty: Ty) -> Selection {
        let instances = self.instances(ty);
        self.of_graphs = self.random.chance(12);
        let mut arguments = self.object_arguments(ty, &instances, 85, Spot::root());
        if self.of_graphs {
            let graphs = ["http://e/g1", "http://e/g2", "http://e/none"];
            let names = (0..self.random.between(1, 2))
                .map(|_| Arg::Text(self.random.choose(&graphs).to_string()));
            let names = Arg::List(names.collect());
            let names = self.maybe_variable("[String!]", names);
            arguments.push(("from".to_owned(), names));
        }
        if self.random.chance(4) {
            let value = Arg::Boolean(self.random.chance(50));
            let name = self.random.choose(&["includeInferred", "expandOwlSameAs"]);
            arguments.push((name.to_owned(), value));
        }
        if self.random.chance(2) {
            null_operand(&mut arguments);
        }
        let samples: Vec<String> = instances
            .iter()
            .filter_map(iri_of)
            .map(str::to_owned)
            .collect();
        Selection::Field(Field {
            alias: Some(self.alias()),
            name,
            arguments,
            directives: Vec::new(),
            selections: self.selections(ty, &samples, 2, false),
        })
    }

    /// The number of objects of a type.
    fn root_count(&mut self, name: &str, ty: Ty) -> Selection {
        let instances = self.instances(ty);
        let mut arguments = self.object_arguments(ty, &instances, 60, Spot::root());
        arguments.retain(|(name, _)| name == "where" || name == "ID");
        Selection::Field(Field {
            alias: Some(self.alias()),
            name: format!("{name}_count"),
            arguments,
            ..Field::default()
        })
    }

    /// A window over the objects of a type.
    fn root_connection(&mut self, name: &str, ty: Ty) -> Selection {
        let instances = self.instances(ty);
        let mut arguments = self.object_arguments(ty, &instances, 60, Spot::root());
        arguments.retain(|(name, _)| name != "limit" && name != "offset");
        if self.random.chance(60) {
            let name = self.random.choose(&["first", "last"]);
            let length = Arg::Number(self.random.between(0, 4).to_string());
            arguments.push((name.to_owned(), length));
        }
        let samples: Vec<String> = instances
            .iter()
            .filter_map(iri_of)
            .map(str::to_owned)
            .collect();
        let nodes = Field {
            selections: self.selections(ty, &samples, 2, false),
            ..plain("nodes")
        };
        let total = plain("totalCount");
        Selection::Field(Field {
            alias: Some(self.alias()),
            name: format!("{name}Connection"),
            arguments,
            selections: vec![Selection::Field(nodes), Selection::Field(total)],
            ..Field::default()
        })
    }

    /// How many values the objects of a type have.
    fn root_aggregate(&mut self, name: &str, ty: Ty) -> Selection {
        let instances = self.instances(ty);
        let mut arguments = self.object_arguments(ty, &instances, 30, Spot::root());
        arguments.retain(|(name, _)| ["where", "ID", "lang"].contains(&name.as_str()));
        let mut selections = vec![Selection::Field(plain("count"))];
        if let Ty::Concrete(id) | Ty::Interface(id) = ty {
            let schema = self.model.schema;
            let nameable = schema.is_nameable(id);
            for &id in &self.model.object(id).props {
                let property = &schema[id];
                let is_name = property.name.graphql == "name" && nameable;
                if matches!(property.range, Range::Object(_)) || is_name || self.random.chance(40) {
                    continue;
                }
                let measures = ["count", "countDistinct"].map(|name| Selection::Field(plain(name)));
                selections.push(Selection::Field(Field {
                    selections: measures.to_vec(),
                    ..plain(&property.name.graphql)
                }));
            }
        }
        // Warnings of what takes no part are compared nowhere, and told by this name.
        let alias = format!("{AGGREGATE}{}", self.alias());
        Selection::Field(Field {
            alias: Some(alias),
            name: format!("{name}_aggregate"),
            arguments,
            selections,
            ..Field::default()
        })
    }

    /// Arguments of a list of objects that holds `values`, in some case.
    fn object_arguments(
        &mut self,
        ty: Ty,
        values: &[Term],
        filtered: usize,
        at: Spot,
    ) -> Vec<(String, Arg)> {
        let name = self.model.type_name(ty);
        let sample = self.random.some(values).and_then(iri_of).map(str::to_owned);
        let mut arguments = Vec::new();
        if self.random.chance(filtered) {
            let filter = self.filter(ty, sample.as_deref(), at);
            let filter = self.maybe_variable(&format!("{name}_Where_Multi"), filter);
            arguments.push(("where".to_owned(), filter));
        }
        if self.random.chance(10) {
            let mut ids = vec![Arg::Text(
                sample.unwrap_or_else(|| "http://e/n1".to_owned()),
            )];
            for _ in 0..self.random.below(4) {
                let id = format!("http://e/n{}", self.random.below(9));
                ids.push(Arg::Text(id));
            }
            let ids = match ids.len() {
                1 if self.random.chance(50) => ids.remove(0),
                _ => Arg::List(ids),
            };
            let ids = self.maybe_variable("[ID!]", ids);
            arguments.push(("ID".to_owned(), ids));
        }
        if self.random.chance(35) {
            let order = self.order(ty, 2);
            let order = self.maybe_variable(&format!("{name}_OrderBy"), order);
            arguments.push(("orderBy".to_owned(), order));
        }
        self.page(&mut arguments);
        if self.random.chance(8) {
            arguments.push(self.lang());
        }
        arguments
    }

    fn page(&mut self, arguments: &mut Vec<(String, Arg)>) {
        if self.random.chance(30) {
            let limit = Arg::Number(self.random.between(1, 5).to_string());
            let limit = self.maybe_variable("PositiveInteger", limit);
            arguments.push(("limit".to_owned(), limit));
        }
        if self.random.chance(12) {
            let offset = Arg::Number(self.random.between(1, 3).to_string());
            let offset = self.maybe_variable("NonNegativeInteger", offset);
            arguments.push(("offset".to_owned(), offset));
        }
    }

    fn lang(&mut self) -> (String, Arg) {
        let spec = self.random.choose(SPECS);
        let spec = Arg::Text(spec.to_owned());
        let spec = self.maybe_variable("String", spec);
        ("lang".to_owned(), spec)
    }

    /// A selection set on objects of a type, of which `samples` are some. Inside of a fragment
    /// every field has a name of its own, since fields of different types must not meet.
    pub(super) fn selections(
        &mut self,
        ty: Ty,
        samples: &[String],
        depth: usize,
        in_fragment: bool,
    ) -> Vec<Selection> {
        let mut selections = Vec::new();
        for _ in 0..self.random.between(1, 4) {
            if depth > 0
                && self.random.chance(15)
                && let Some(fragment) = self.fragment(ty, samples, depth)
            {
                selections.push(fragment);
                continue;
            }
            let field = self.field(ty, samples, depth, in_fragment);
            selections.push(Selection::Field(field));
        }
        selections
    }

    fn fragment(&mut self, ty: Ty, samples: &[String], depth: usize) -> Option<Selection> {
        let possible = self.model.possible(ty);
        let narrow = match self.random.below(6) {
            0 => ty,
            1 => Ty::Any,
            2 => Ty::Nameable,
            3 => {
                let object = *self.random.some(&possible)?;
                let above: Vec<_> = self.model.schema.lineage(object).collect();
                self.model.range(self.random.choose(&above))
            }
            _ => Ty::Concrete(*self.random.some(&possible)?),
        };
        let common = self.model.possible(narrow);
        if !common.iter().any(|object| possible.contains(object)) {
            return None;
        }
        let selections = self.selections(narrow, samples, depth - 1, true);
        let on = self.model.type_name(narrow);
        if self.random.chance(25) {
            let name = format!("F{}", self.fragments.len());
            self.fragments.push(Fragment {
                name: name.clone(),
                on,
                selections,
            });
            return Some(Selection::Spread(name));
        }
        Some(Selection::Inline {
            on: (narrow != ty).then_some(on),
            directives: self.directives(),
            selections,
        })
    }

    fn directives(&mut self) -> Vec<(&'static str, Arg)> {
        if !self.random.chance(5) {
            return Vec::new();
        }
        let name = self.random.choose(&["skip", "include"]);
        let mut condition = Arg::Boolean(self.random.chance(50));
        if self.random.chance(50) {
            let variable = format!("v{}", self.variables.len());
            self.variables.push(Variable {
                name: variable.clone(),
                ty: "Boolean!".to_owned(),
                default: None,
                given: Some(condition),
            });
            condition = Arg::Variable(variable);
        }
        vec![(name, condition)]
    }

    fn field(&mut self, ty: Ty, samples: &[String], depth: usize, in_fragment: bool) -> Field {
        let schema = self.model.schema;
        let properties: Vec<&Property> = match ty {
            Ty::Any | Ty::Nameable => Vec::new(),
            Ty::Concrete(id) | Ty::Interface(id) => {
                let nameable = schema.is_nameable(id);
                let props = self.model.object(id).props.iter().map(|&id| &schema[id]);
                props
                    .filter(|p| p.name.graphql != "name" || !nameable)
                    .filter(|p| depth > 0 || !matches!(p.range, Range::Object(_)))
                    .collect()
            }
        };
        let nameable = match ty {
            Ty::Any => false,
            Ty::Nameable => true,
            Ty::Concrete(id) | Ty::Interface(id) => schema.is_nameable(id),
        };
        let has_id = ty != Ty::Nameable;
        let mut field = match self.random.below(12) {
            0 | 1 if has_id => plain("id"),
            2 => plain("__typename"),
            3 if has_id => self.types(),
            4 | 5 if nameable => {
                let mut field = plain("name");
                if self.random.chance(40) {
                    field.arguments.push(self.lang());
                }
                field
            }
            _ => match self.random.some(&properties) {
                Some(property) => self.property(property, samples, depth),
                None => plain("__typename"),
            },
        };
        let is_open = matches!(field.name.as_str(), "id" | "__typename");
        if !field.arguments.is_empty() || (in_fragment && !is_open) || self.random.chance(30) {
            field.alias = Some(self.alias());
        }
        field.directives = self.directives();
        field
    }

    fn types(&mut self) -> Field {
        let mut field = plain("type");
        if self.random.chance(30) {
            let class = NamedNode::new_unchecked("http://v/T1");
            let about = About {
                operand: Operand::Type,
                leaf: Leaf::Scalar(Scalar::Iri),
                multi: true,
                place: FilterDepth::Nested,
            };
            let filter = self.values(about, Some(&class.into()), 1);
            field.arguments.push(("where".to_owned(), filter));
        }
        if self.random.chance(10) {
            let classes = ["http://v/T0", "http://v/T1", "http://v/T2"];
            let classes = (0..self.random.between(1, 2))
                .map(|_| Arg::Text(self.random.choose(&classes).to_owned()));
            let classes = Arg::List(classes.collect());
            field.arguments.push(("ID".to_owned(), classes));
        }
        if self.random.chance(20) {
            let direction = self.direction();
            field.arguments.push(("orderBy".to_owned(), direction));
        }
        self.page(&mut field.arguments);
        field
    }

    fn property(&mut self, property: &Property, samples: &[String], depth: usize) -> Field {
        let mut field = plain(&property.name.graphql);
        let multiple = property.max.is_multiple();
        let counts = self.model.schema.config.enable_collection_count && multiple;
        let counted = counts && self.random.chance(12);
        let mut values: Vec<Term> = Vec::new();
        for sample in samples {
            values.extend(self.graph.union().values(sample, &property.path));
        }
        let sample = self.random.some(&values).cloned();
        match property.range {
            Range::Object(object) => {
                let range = self.model.range(object);
                if multiple {
                    field.arguments = self.object_arguments(range, &values, 60, Spot::nested());
                } else if self.random.chance(8) {
                    field.arguments.push(self.lang());
                }
                if !counted {
                    let next = values.iter().filter_map(iri_of).map(str::to_owned);
                    let next: Vec<String> = next.collect();
                    field.selections = self.selections(range, &next, depth - 1, false);
                }
            }
            Range::Literal(_) => {
                self.literal_arguments(&mut field, sample.as_ref(), multiple);
                if !counted {
                    field.selections = self.literal_selections();
                }
            }
            range if multiple => {
                let leaf = Leaf::of(range).expect("a scalar");
                self.scalar_arguments(&mut field, range, leaf, sample.as_ref());
            }
            _ => {}
        }
        if counted {
            field.name.push_str("_count");
            field
                .arguments
                .retain(|(name, _)| name == "where" || name == "ID");
            field.alias = Some(self.alias());
        }
        field
    }

    fn scalar_arguments(
        &mut self,
        field: &mut Field,
        range: Range,
        leaf: Leaf,
        sample: Option<&Term>,
    ) {
        if self.random.chance(50) {
            let about = About {
                operand: operand_of(range),
                leaf,
                multi: true,
                place: FilterDepth::Nested,
            };
            let filter = self.values(about, sample, 2);
            let filter = self.maybe_variable(&format!("{}_Where_Multi", leaf.name()), filter);
            field.arguments.push(("where".to_owned(), filter));
        }
        if self.random.chance(35) {
            let direction = self.direction();
            let direction = self.maybe_variable("_OrderBy", direction);
            field.arguments.push(("orderBy".to_owned(), direction));
        }
        self.page(&mut field.arguments);
    }

    fn literal_arguments(&mut self, field: &mut Field, sample: Option<&Term>, multiple: bool) {
        if multiple {
            if self.random.chance(50) {
                let filter = self.literal_filter(sample, true, FilterDepth::Nested, 2);
                field.arguments.push(("where".to_owned(), filter));
            }
            if self.random.chance(35) {
                let order = self.literal_order();
                let order = self.maybe_variable("Literal_OrderBy", order);
                field.arguments.push(("orderBy".to_owned(), order));
            }
            self.page(&mut field.arguments);
        } else if self.random.chance(20) {
            let about = About {
                operand: Operand::LiteralText,
                leaf: Leaf::Text,
                multi: false,
                place: FilterDepth::Nested,
            };
            let filter = self.values(about, sample, 1);
            field.arguments.push(("value".to_owned(), filter));
        }
        if multiple && self.random.chance(10) {
            let spec = Arg::Text("ALL:de,en".to_owned());
            field.arguments.push(("lang".to_owned(), spec));
        } else if self.random.chance(25) {
            let lang = self.lang();
            field.arguments.push(lang);
        }
    }

    fn literal_selections(&mut self) -> Vec<Selection> {
        let mut names = vec!["value", "lang", "type"];
        names.retain(|_| self.random.chance(75));
        if names.is_empty() || self.random.chance(10) {
            names.push("__typename");
        }
        names
            .into_iter()
            .map(|name| Selection::Field(plain(name)))
            .collect()
    }
}

pub(super) fn plain(name: &str) -> Field {
    Field {
        name: name.to_owned(),
        ..Field::default()
    }
}

/// Puts null where an operand should be.
fn null_operand(arguments: &mut [(String, Arg)]) {
    for (name, value) in arguments {
        if name == "where"
            && let Arg::Object(keys) = value
            && let Some((_, operand)) = keys.first_mut()
        {
            *operand = Arg::Null;
        }
    }
}
