//! Values as they are indexed: exact numbers as sortable keys, dates as milliseconds.

mod document_id;
mod facts;
mod instant;

pub use document_id::document_id;
pub use facts::{dependence_token, end_of_values, fact_tokens, holds_token, value_token};
pub use instant::{
    MAX_MILLIS, MIN_MILLIS, millis_of_filter, millis_of_term, text_of_millis, time_key,
};
