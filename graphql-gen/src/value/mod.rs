//! Stored terms in value space: what they are worth, how they sort, how they look in JSON.

mod cast;
mod exact;
mod json;
mod lexical;
mod number;
mod sort;
mod worth;

pub use cast::cast;
pub(crate) use exact::Exact;
pub use json::{LiteralTypes, Numbers};
pub(crate) use json::{is_plain, is_text, write_enum, write_scalar, write_string};
pub(crate) use lexical::is_lexical;
pub(crate) use number::{Number, integer_in_bounds, number_identity};
pub(crate) use sort::of_language;
pub use sort::{LiteralKey, SortValue, literal_key, sort_value};
pub(crate) use worth::{Float, Worth, worth};
