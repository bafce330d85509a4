//! Stored terms in value space: which are equal, how they sort, how they look in JSON.

mod canonical;
mod cast;
mod decimal;
mod exact;
mod json;
mod lexical;
mod number;
mod sort;

pub(crate) use canonical::{CanonicalValue, Float, canonical_value};
pub use cast::cast;
pub(crate) use decimal::DecimalNumber;
pub(crate) use exact::Exact;
pub use json::{LiteralTypes, Numbers};
pub(crate) use json::{is_plain, is_text, write_enum, write_scalar, write_string};
pub(crate) use lexical::is_lexical;
pub use number::Number;
pub(crate) use number::{integer_in_bounds, number_identity};
pub(crate) use sort::of_language;
pub use sort::{LiteralKey, SortValue, literal_key, sort_value};
