//! The GraphQL API of searches: its schema, and operations of it as typed searches.
//!
//! [`SearchApi`] has one root field `<queryPfx><object>_search` for each index. Nothing is in its
//! schema that [`SearchApi::searches`] cannot turn into a [`Search`](crate::dsl::Search).
//!
//! # What the references leave open
//!
//! - Every indexed object is an object type of its name, abstract ones too, with the properties that
//!   its index holds. An embedded object that embeds nothing further is a `Planet_Embedded`, wherever it
//!   is; one that does is named after the way to it (`Film__planets`), since how much of it is there depends
//!   on the way. One that is nothing but its id is a `Search_Reference`.
//! - Clauses that go by property take one property; conditions on several are a `bool`. A property
//!   of an embedded object is written as a nested input object, and `nested` is added where the index
//!   needs it. The clause `nested` is for several conditions on the same embedded object.
//! - Where a field is named by a value (`exists`, aggregations), the way to it is joined by two
//!   underscores: `planets__title`.
//! - Operands are of the scalar `Search_Value`: a string, a number or a Boolean. An operand beyond the
//!   range of a field matches by value: nothing equals 300 in a byte, and every byte is below it.
//! - `lang` names a language that the schema lists under `analysis.lang`, or one that begins so. Another
//!   one is an error: values of other languages share a field. Without `lang` the best language counts.
//! - `range` on analysed text is not offered; `<property>_keyword` has it.
//! - Exact numbers and times of day match with the score of numbers, which is the boost.
//! - In the form for a federation gateway ([`SearchApi::subgraph`]), the object of a hit is a reference: its
//!   `id` and its type, which is that of the object service. It is null, with an error, for an object
//!   of an abstract class that is an instance of no concrete one.
//! - `id` is the last sort key of every search, so `sort` of a hit has one value more than `sort` of
//!   the search. `search_after` takes these values, null among them where `sort` shows null.

mod api;
mod arguments;
mod clause;
mod federation;
mod guard;
mod input;
mod nodes;
mod operand;
mod reference;
mod root;
mod selection;
mod shape;
mod shared;
mod sort;
mod target;
mod trail;
mod types;

pub use api::SearchApi;
pub(crate) use reference::{ReferencePart, References};
pub(crate) use root::ServicePart;
pub use root::{RootEntities, RootField, RootFields, RootSearch, RootService};
pub use shape::ResponseShape;
pub(crate) use shape::{
    AggregationField, BucketField, Fields, HitField, KeyForm, LiteralField, ObjectField,
    ResultField, Shown, TotalField, Value, ValueContent,
};
