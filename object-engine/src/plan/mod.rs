//! Plans: what an operation fetches and how the answer is put together.
//!
//! Planning is pure. A plan has one [`Selection`] per root field, which tells the objects, and a
//! graph of [`Level`]s, which tell the values of these objects and of the objects they lead to.
//! Fields that select the same things of the same type share a level, however they are reached,
//! so the number of levels is bounded by the text of the operation.

mod aggregate;
mod arguments;
mod build;
mod collect;
mod connection;
mod constant;
mod cursor;
mod entities;
mod filter;
mod input;
mod levels;
mod order;
mod rdf;
mod set_where;

use std::collections::HashMap;
use std::sync::Arc;

pub use aggregate::{
    AggregateField, AggregatePart, AggregatedKind, AggregatedValues, Aggregation, GroupField,
    GroupOrder, GroupOrderBy, GroupPart, Grouping, Having, HavingTest, KeyPart, Measure,
    MeasurePart, Measured, MeasuredValues, RootAggregate, ValueAggregate,
};
pub(crate) use build::{PlanInput, build};
pub use cursor::CursorCodec;
use graph_store::query::{Dataset, ObjectRef, Page, Selection, Slot, TypeIndex, Window};
use graph_store::value::{LiteralKey, LiteralTypes};
use graphql_service::error::Location;
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;
use soml_core::schema::{EnumId, ObjectId};

/// Index of a [`Level`] in its [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LevelId(pub u32);

/// A planned operation.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Root fields in the order of the answer.
    pub roots: Vec<RootField>,
    /// Levels; those that lead to a level come before it.
    pub levels: Vec<Level>,
    /// Answers null for a list without values, instead of an empty list.
    pub null_empty_lists: bool,
}

/// A root field.
#[derive(Clone, Debug)]
pub struct RootField {
    /// Key in the answer.
    pub key: String,
    /// Place in the document.
    pub location: Option<Location>,
    /// What the field gives.
    pub value: RootValue,
}

/// What a root field gives.
#[derive(Clone, Debug)]
pub enum RootValue {
    /// Objects.
    Objects(Box<RootObjects>),
    /// The number of objects.
    Count(Box<Selection>),
    /// Counts, extremes, sums and groups of objects.
    Aggregate(Box<RootAggregate>),
    /// A window over objects.
    Connection(Box<RootConnection>),
    /// Objects by type and id, for a federation gateway.
    Entities(Box<RootEntities>),
    /// The printed schema: keys of the answer, and what stands under each.
    Service(Vec<(String, ServicePart)>),
    /// Part of the introspection answer, which is computed apart.
    Introspection,
}

/// A field of the GraphQL type `_Service`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServicePart {
    /// The schema for federation.
    Sdl,
    /// The schema with all directives.
    FullSdl,
    /// The name of the GraphQL type.
    TypeName,
}

/// The objects of a root field.
#[derive(Clone, Debug)]
pub struct RootObjects {
    /// Which objects.
    pub selection: Selection,
    /// What is wanted of them.
    pub level: LevelId,
}

/// A window over objects, with a cursor for each.
#[derive(Clone, Debug)]
pub struct RootConnection {
    /// Which objects, in which order; its page is the whole.
    pub selection: Selection,
    /// Which of them; `None` when no object is wanted.
    pub window: Option<Window>,
    /// Their number, whatever the window, is wanted.
    pub count: bool,
    /// Writes the cursors.
    pub codec: CursorCodec,
    /// What is wanted of the objects, for each different list of fields.
    pub levels: Vec<LevelId>,
    /// Fields of the answer.
    pub fields: Vec<ConnectionField>,
}

/// A field of a connection.
#[derive(Clone, Debug)]
pub struct ConnectionField {
    /// Key in the answer.
    pub key: String,
    /// Place in the document.
    pub location: Option<Location>,
    /// What it gives.
    pub part: ConnectionPart,
}

/// What a field of a connection gives.
#[derive(Clone, Debug)]
pub enum ConnectionPart {
    /// An edge for each object.
    Edges(Vec<EdgeField>),
    /// The objects; their position in [`RootConnection::levels`].
    Nodes(usize),
    /// Keys and fields of the GraphQL type `PageInfo`.
    PageInfo(Vec<(String, PagePart)>),
    /// The number of objects.
    TotalCount,
    /// The GraphQL type name.
    TypeName(String),
}

/// A field of an edge.
#[derive(Clone, Debug)]
pub struct EdgeField {
    /// Key in the answer.
    pub key: String,
    /// What it gives.
    pub part: EdgePart,
}

/// What a field of an edge gives.
#[derive(Clone, Debug)]
pub enum EdgePart {
    /// The object; its position in [`RootConnection::levels`].
    Node(usize),
    /// Its location.
    Cursor,
    /// The GraphQL type name.
    TypeName(String),
}

/// A field of the GraphQL type `PageInfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagePart {
    /// Whether there are objects behind the window.
    HasNextPage,
    /// Whether there are objects in front of the window.
    HasPreviousPage,
    /// The place of the first object.
    StartCursor,
    /// The place of the last object.
    EndCursor,
    /// The GraphQL type name.
    TypeName,
}

/// The objects that a federation gateway asks for.
#[derive(Clone, Debug)]
pub struct RootEntities {
    /// One for each type that is asked for.
    pub types: Vec<RootObjects>,
    /// For each representation the position in [`RootEntities::types`], and the id; `None` when the
    /// id is no IRI.
    pub representations: Vec<Option<(usize, ObjectRef)>>,
}

/// Objects of one type whose values are fetched together.
#[derive(Clone, Debug)]
pub struct Level {
    /// The graphs to read.
    pub dataset: Arc<Dataset>,
    /// Values to fetch.
    pub slots: Vec<Slot>,
    /// How the concrete type of each object is found.
    pub typing: Typing,
    /// The different lists of fields that objects have, depending on their concrete type.
    pub variants: Vec<Vec<ResponseField>>,
    /// Slots that lead to objects of further levels.
    pub edges: Vec<Edge>,
    /// Greatest number of edges between a root field and this level.
    pub depth: u32,
}

/// How the concrete type of an object is found.
#[derive(Clone, Debug)]
pub enum Typing {
    /// Every object is of this type.
    Static {
        /// The GraphQL type name.
        name: String,
    },
    /// By the values of type properties.
    Stored {
        /// Slot of each type property of the index, in its order.
        slots: Vec<usize>,
        /// Which types mean which object type.
        index: Arc<TypeIndex>,
        /// Position in [`Level::variants`] for each object type.
        variants: HashMap<ObjectId, usize>,
    },
}

/// Values that are objects of a further level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The slot that holds them.
    pub slot: usize,
    /// Their level.
    pub level: LevelId,
}

/// A field of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseField {
    /// Key in the answer.
    pub key: String,
    /// Name in the schema.
    pub name: String,
    /// Place in the document.
    pub location: Option<Location>,
    /// May not be null.
    pub non_null: bool,
    /// Where the value comes from.
    pub value: Output,
}

/// Where the value of a field comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// The GraphQL type name.
    TypeName,
    /// The IRI of the object.
    Id,
    /// Scalar values.
    Scalar(ScalarOutput),
    /// Literals as objects.
    Literal(LiteralOutput),
    /// Objects.
    Objects {
        /// Position in [`Level::edges`].
        edge: usize,
        /// A list rather than a single object.
        list: Option<ListOutput>,
    },
    /// The number of objects that a list field would give.
    ObjectCount {
        /// Position in [`Level::slots`].
        slot: usize,
    },
    /// The number of values that a list field would give.
    ValueCount(Box<Output>),
    /// Counts, extremes, sums and groups of the objects that a list field would give.
    Aggregate {
        /// Position in [`Level::edges`].
        edge: usize,
        /// What is wanted of them.
        aggregation: Arc<Aggregation>,
    },
    /// Counts, extremes and sums of the values that a list field would give.
    ValueAggregate(Box<ValueAggregate>),
}

/// Scalar values of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarOutput {
    /// Position in [`Level::slots`].
    pub slot: usize,
    /// How values are converted.
    pub kind: ScalarKind,
    /// Takes values from their text where their datatype does not fit.
    pub cast: bool,
    /// Which language variants of strings are wanted.
    pub lang: Option<LangSpec>,
    /// A list rather than a single value.
    pub list: Option<ListOutput>,
}

/// How stored values become values of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// To a scalar.
    Scalar(Scalar),
    /// To a value of an enumeration.
    Enum(EnumId),
}

/// Literals of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct LiteralOutput {
    /// Position in [`Level::slots`].
    pub slot: usize,
    /// Which literals are well typed.
    pub types: LiteralTypes,
    /// Which language variants are wanted.
    pub lang: Option<LangSpec>,
    /// A list rather than a single literal.
    pub list: Option<ListOutput>,
    /// Fields of each literal.
    pub fields: Vec<LiteralField>,
}

/// A field of the GraphQL type `Literal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiteralField {
    /// Key in the answer.
    pub key: String,
    /// Which part of the literal.
    pub part: LiteralPart,
}

/// A part of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralPart {
    /// The text.
    Value,
    /// The language tag.
    Lang,
    /// The datatype, unless there is a language tag.
    Type,
    /// The name of the GraphQL type.
    TypeName,
}

/// How a list is put together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOutput {
    /// Elements may not be null.
    pub non_null_elements: bool,
    /// Keys of the order of values that are not objects, and whether each is greatest first.
    /// Scalars have one part, their value.
    pub order: Vec<(LiteralKey, bool)>,
    /// The part of the values that is wanted; for objects the store has cut it already.
    pub page: Page,
}
