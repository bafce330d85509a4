//! Stored terms in value space: what they are worth, how they sort, how they look in JSON.

mod cast;
mod json;
#[cfg(feature = "oxigraph")]
mod matcher;
mod number;
mod sort;

pub use cast::cast;
pub use json::{LiteralTypes, Numbers};
pub(crate) use json::{is_plain, is_text, write_enum, write_scalar, write_string};
#[cfg(feature = "oxigraph")]
pub use matcher::{RegexTooLarge, TermMatcher, ValueMatcher};
pub(crate) use sort::of_language;
pub use sort::{SortValue, literal_key, shown, sort_value};
