//! Stored terms in value space: which are equal, how they sort, how they look in JSON.

mod canonical;
mod cast;
mod decimal;
mod exact;
mod exact_key;
mod json;
mod language;
mod lexical;
mod number;
mod sort;
mod tag;

pub use canonical::{CanonicalValue, Float, canonical_value};
pub use cast::{cast, cast_name, cast_name_ref, cast_ref};
pub use decimal::DecimalNumber;
pub use exact::Exact;
pub use exact_key::ExactKey;
pub use json::{LiteralTypes, Numbers, is_plain, is_text, write_enum, write_joined, write_scalar};
pub use language::{AsTerm, Choice, Languages};
pub use lexical::{collapsed, is_lexical};
pub use number::{Number, integer_in_bounds, number_identity};
#[cfg(feature = "image")]
pub(crate) use sort::instant;
pub(crate) use sort::instant_of;
pub use sort::{LiteralKey, SortValue, literal_key, sort_value};
pub use tag::bcp47_case;
