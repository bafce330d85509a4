//! What is checked of the instances of one object type, and the values that it needs.

use graph_store::query::{Slot, Step};
use graph_store::value::LiteralTypes;
use oxrdf::{NamedNode, Term};
use soml_core::lang::LangValidation;
use soml_core::schema::{Max, ObjectId, Path, Property, PropertyId, Range, Schema};

use super::constraint::Constraint;
use super::report::Element;
use super::types::Types;

/// The checks of one concrete object type.
pub(super) struct ObjectCheck<'a> {
    pub(super) id: ObjectId,
    pub(super) ids: Vec<Constraint>,
    pub(super) properties: Vec<PropertyCheck<'a>>,
    /// What to fetch of each instance: its types first.
    pub(super) slots: Vec<Slot>,
}

/// The checks of one property of an object type.
pub(super) struct PropertyCheck<'a> {
    pub(super) element: Element,
    pub(super) property: &'a Property,
    /// Position of its values in [`ObjectCheck::slots`].
    pub(super) slot: usize,
    /// Position of the objects that must be among its values' partners, of `inverseOf` and
    /// `symmetric`.
    pub(super) back: Option<usize>,
    pub(super) values: Constraints,
}

/// What the schema says of single values.
pub(super) struct Constraints {
    pub(super) texts: Vec<Constraint>,
    /// Allowed values as texts, IRIs in full; empty allows all.
    pub(super) listed: Vec<String>,
    pub(super) lang: Option<LangValidation>,
    /// Literals of the range, when it is one of literals.
    pub(super) literals: Option<LiteralTypes>,
}

impl<'a> ObjectCheck<'a> {
    /// Prepares the checks; what cannot be checked goes to `refused`.
    pub(super) fn new(
        schema: &'a Schema,
        id: ObjectId,
        types: &Types<'_>,
        refused: &mut Vec<String>,
    ) -> Self {
        let object = &schema[id];
        let mut check = ObjectCheck {
            id,
            ids: Constraint::of_ids(schema, object, refused),
            properties: Vec::new(),
            slots: types.slots().collect(),
        };
        for &property in &object.props {
            check.add(schema, property, refused);
        }
        check
    }

    fn add(&mut self, schema: &'a Schema, id: PropertyId, refused: &mut Vec<String>) {
        let property = &schema[id];
        let element = declared(schema, id);
        if let Some(service) = &property.sparql_federated_service {
            let owner = &schema[property.declared_by].name.written;
            let name = &property.name.written;
            let what = format!("values of {owner}.{name} are in the service {service}");
            refused.push(what);
            return;
        }
        let slot = self.slot(step(&property.path));
        let back = match (&property.path, property.inverse_of) {
            (Path::Forward(iri), _) if property.symmetric => Some(reversed(iri)),
            (Path::Forward(_), Some(partner)) => match &schema[partner].path {
                Path::Forward(iri) => Some(reversed(iri)),
                Path::Inverse { .. } => None,
            },
            _ => None,
        };
        let back = back.map(|step| self.slot(step));
        self.properties.push(PropertyCheck {
            element,
            property,
            slot,
            back,
            values: Constraints::new(schema, property, refused),
        });
    }

    /// Returns the position of the slot for a step, shared by all who want it.
    fn slot(&mut self, step: Step) -> usize {
        let known = self.slots.iter().position(|slot| slot.step == step);
        known.unwrap_or_else(|| {
            self.slots.push(Slot::new(step));
            self.slots.len() - 1
        })
    }
}

/// Returns where a property is declared, so that what many subtypes inherit is reported once.
fn declared(schema: &Schema, id: PropertyId) -> Element {
    let property = &schema[id];
    let declaring = &schema[property.declared_by].props;
    let same = |other: &&PropertyId| schema[**other].name.iri == property.name.iri;
    let declared = declaring.iter().find(same).copied().unwrap_or(id);
    Element {
        object: Some(schema[declared].owner),
        property: Some(declared),
    }
}

impl Constraints {
    fn new(schema: &Schema, property: &Property, refused: &mut Vec<String>) -> Self {
        let lang = property.lang.validate.as_ref();
        let literals = match property.range {
            Range::Literal(range) => Some(LiteralTypes::new(schema, range)),
            _ => None,
        };
        Constraints {
            texts: Constraint::of_values(schema, property, refused),
            listed: listed(schema, property),
            lang: lang.or(schema.config.lang.validate.as_ref()).cloned(),
            literals,
        }
    }

    /// Returns whether a value is in the closed list.
    pub(super) fn lists(&self, value: &Term) -> bool {
        self.listed.is_empty() || self.listed.iter().any(|listed| listed == text(value))
    }
}

/// Returns the text of a value: its IRI or its lexical form.
pub(super) fn text(value: &Term) -> &str {
    match value {
        Term::NamedNode(node) => node.as_str(),
        Term::Literal(literal) => literal.value(),
        _ => "",
    }
}

/// Returns the closed list of values; where these are IRIs, prefixed names are written out.
fn listed(schema: &Schema, property: &Property) -> Vec<String> {
    let takes_iris = matches!(
        property.range,
        Range::Object(_) | Range::Scalar(soml_core::datatype::Scalar::Iri)
    );
    let full = |written: &String| {
        let (prefix, local) = written.split_once(':')?;
        let namespace = schema.prefixes.namespace(prefix)?;
        takes_iris.then(|| format!("{namespace}{local}"))
    };
    let values = property.values_in.iter();
    values
        .map(|v| full(v).unwrap_or_else(|| v.clone()))
        .collect()
}

/// Returns the greatest number of values, when there is one.
pub(super) fn most(property: &Property) -> Option<usize> {
    match property.max {
        Max::Count(most) => Some(most as usize),
        Max::Unbounded => None,
    }
}

fn step(path: &Path) -> Step {
    match path {
        Path::Forward(iri) => Step::forward(NamedNode::new_unchecked(iri.as_str())),
        Path::Inverse { iri, .. } => reversed(iri),
    }
}

fn reversed(iri: &str) -> Step {
    Step {
        predicate: NamedNode::new_unchecked(iri),
        inverse: true,
    }
}
