//! Values of input types: rules of the specification that the GraphQL library does not check, and where in a
//! variable a value is wrong.

mod literals;
mod one_of;
mod variables;

pub(crate) use literals::wrong_literals;
pub(crate) use one_of::has_one_of;
pub(crate) use variables::{Given, wrong_variables};

/// Maximum number of faults that are reported of one request: a list in a variable can have one in
/// each element.
const MAX_FAULTS: usize = 100;
