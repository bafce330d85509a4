//! Stored terms in value space: what they are worth, how they sort, how they look in JSON.

mod cast;
mod exact;
mod json;
mod lexical;
mod matcher;
mod number;
mod sort;
mod worth;

pub use cast::cast;
pub use exact::Exact;
pub use json::{LiteralTypes, Numbers, is_plain, is_text, write_enum, write_scalar};
pub use lexical::is_lexical;
pub use matcher::{RegexTooLarge, TermMatcher, ValueMatcher};
pub use number::{integer_in_bounds, number_identity};
pub use sort::{SortValue, literal_key, of_language, shown, sort_value};
pub use worth::{Float, Worth, worth};
