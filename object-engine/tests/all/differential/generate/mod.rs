//! Random schemas, data and operations.
//!
//! Operands are taken from the data more often than not, so that most operations find something.

mod beside;
mod data;
mod fields;
mod filters;
mod literals;
mod orders;
mod schema;
mod steering;

pub(crate) use beside::add_beside;
pub(crate) use data::data;
pub(crate) use fields::{AGGREGATE, operation};
use oxrdf::Term;
pub(crate) use schema::schema;
pub(crate) use steering::Steering;

use crate::differential::operation::{Arg, Variable};
use crate::differential::random::Random;
use crate::differential::reference::{Graph, Model};

/// What operations are generated from.
pub(crate) struct Generator<'a> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) graph: &'a Graph<'a>,
    pub(crate) random: Random,
    steering: &'a mut Steering,
    variables: Vec<Variable>,
    fragments: Vec<crate::differential::operation::Fragment>,
    aliases: usize,
    /// The field at hand reads some graphs alone, in which objects may have no types.
    of_graphs: bool,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(
        model: &'a Model<'a>,
        graph: &'a Graph<'a>,
        random: Random,
        steering: &'a mut Steering,
    ) -> Self {
        Generator {
            model,
            graph,
            random,
            steering,
            variables: Vec::new(),
            fragments: Vec::new(),
            aliases: 0,
            of_graphs: false,
        }
    }

    /// Puts a value into a variable now and then.
    fn maybe_variable(&mut self, ty: &str, value: Arg) -> Arg {
        // A `Float` variable takes no whole number of so many digits.
        let is_long = matches!(&value, Arg::Number(digits) if digits.len() > 15);
        if !self.random.chance(7) || holds_variable(&value) || is_long {
            return value;
        }
        let name = format!("v{}", self.variables.len());
        let given = self.random.chance(75);
        let (default, given) = if given {
            (None, Some(value))
        } else {
            (Some(value), None)
        };
        self.variables.push(Variable {
            name: name.clone(),
            ty: ty.to_owned(),
            default,
            given,
        });
        Arg::Variable(name)
    }

    pub(super) fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("a{}", self.aliases)
    }

    /// Some value along a property of some instance of a type.
    fn some_value(&mut self, node: &str, path: &soml_core::schema::Path) -> Option<Term> {
        let values = self.graph.union().values(node, path);
        self.random.some(&values).cloned()
    }
}

fn holds_variable(value: &Arg) -> bool {
    match value {
        Arg::Variable(_) => true,
        Arg::List(items) => items.iter().any(holds_variable),
        Arg::Object(keys) => keys.iter().any(|(_, value)| holds_variable(value)),
        _ => false,
    }
}
