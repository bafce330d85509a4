//! Plans: what an operation fetches and how the answer is put together.
//!
//! Planning is pure. A plan has one [`Selection`] per root field, which determines the objects, and
//! a graph of [`Level`]s, which determine the values of these objects and of the objects they lead
//! to. Fields with the same selection on the same type share a level, however they are reached, so
//! the number of levels is bounded by the size of the operation.

mod aggregate;
mod arguments;
mod build;
mod coercion;
mod collect;
mod connection;
mod constant;
mod cursor;
mod denied_fields;
mod entities;
mod entry;
mod filter;
mod guard;
mod input;
mod level_tree;
mod levels;
mod mutation;
mod number;
mod order;
mod parameters;
mod regexes;
mod rows;
mod set_where;
mod write_access;

use std::sync::Arc;

use foldhash::HashMap;

pub(crate) use aggregate::{
    AggregateField, AggregatePart, AggregatedKind, AggregatedValues, Aggregation, GroupOrderBy,
    GroupPart, Grouping, Having, HavingTest, KeyPart, Measure, MeasurePart, Measured,
    MeasuredValues, RootAggregate, ValueAggregate,
};
pub(crate) use build::PlanInput;
pub(crate) use coercion::{is_text, text_of, validation};
pub use cursor::CursorCodec;
pub(crate) use entry::{Change, Entry, NewValue, PropertyChange};
pub(crate) use filter::Compared;
use graph_store::query::{Dataset, ObjectRef, Page, Selection, Slot, TypeIndex, Window};
use graph_store::value::{LiteralKey, LiteralTypes};
use graphql_service::error::{GraphqlError, Location};
pub(crate) use input::Variables;
pub(crate) use level_tree::{Branch, candidates, level_tree};
pub(crate) use mutation::{
    Action, AffectedPart, MutationField, MutationPlan, MutationRoot, PayloadPart, Place, Selected,
    build_mutation, keep_missing_rights,
};
pub(crate) use parameters::Plans;
pub(crate) use regexes::SchemaRegexes;
pub(crate) use rows::{KnownRows, RowSource, access_of, parametrized, write_access_of};
use soml_core::datatype::Scalar;
use soml_core::lang::LangSpec;
use soml_core::schema::{EnumId, ObjectId};
pub(crate) use write_access::{Manner, WriteAccess};

/// Index of a [`Level`] in its [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LevelId(pub u32);

/// A planned operation.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Root fields in response order.
    pub(crate) roots: Vec<RootField>,
    /// Levels; every level comes after those that lead to it. Those that no variable decides are shared by all
    /// requests of a document.
    pub(crate) levels: Vec<Arc<Level>>,
    /// Whether a list without values is null instead of empty.
    pub(crate) null_empty_lists: bool,
    /// What was left out of the operation.
    pub(crate) warnings: Vec<GraphqlError>,
}

impl Plan {
    /// Returns a plan that reads nothing.
    pub(crate) fn empty() -> Self {
        Plan {
            roots: Vec::new(),
            levels: Vec::new(),
            null_empty_lists: false,
            warnings: Vec::new(),
        }
    }
}

/// A root field.
#[derive(Clone, Debug)]
pub(crate) struct RootField {
    /// Response key.
    pub(crate) key: String,
    /// Its content.
    pub(crate) value: RootValue,
}

/// The content of a root field.
#[derive(Clone, Debug)]
pub(crate) enum RootValue {
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
    /// The printed schema: response keys, and the content of each.
    Service(Vec<(String, ServicePart)>),
    /// Part of the introspection result, which is computed separately.
    Introspection,
}

/// A field of the GraphQL type `_Service`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServicePart {
    /// The schema for federation.
    Sdl,
    /// The schema with all directives.
    FullSdl,
    /// The name of the GraphQL type.
    TypeName,
}

/// The objects of a root field.
#[derive(Clone, Debug)]
pub(crate) struct RootObjects {
    /// Which objects.
    pub(crate) selection: Selection,
    /// The level of their values.
    pub(crate) level: LevelId,
}

/// A window over objects, with a cursor for each.
#[derive(Clone, Debug)]
pub(crate) struct RootConnection {
    /// Which objects, in which order; its page is the whole list.
    pub(crate) selection: Selection,
    /// Which range of them; `None` if no objects are requested.
    pub(crate) window: Option<Window>,
    /// Whether their total number is requested.
    pub(crate) count: bool,
    /// Writes the cursors.
    pub(crate) codec: CursorCodec,
    /// The levels of the objects, one for each different list of fields.
    pub(crate) levels: Vec<LevelId>,
    /// Fields of the connection.
    pub(crate) fields: Arc<[ConnectionField]>,
}

/// A field of a connection.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionField {
    /// Response key.
    pub(crate) key: String,
    /// Its content.
    pub(crate) part: ConnectionPart,
}

/// The content of a field of a connection.
#[derive(Clone, Debug)]
pub(crate) enum ConnectionPart {
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
pub(crate) struct EdgeField {
    /// Response key.
    pub(crate) key: String,
    /// Its content.
    pub(crate) part: EdgePart,
}

/// The content of a field of an edge.
#[derive(Clone, Debug)]
pub(crate) enum EdgePart {
    /// The object; its position in [`RootConnection::levels`].
    Node(usize),
    /// Its cursor.
    Cursor,
    /// The GraphQL type name.
    TypeName(String),
}

/// A field of the GraphQL type `PageInfo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PagePart {
    /// Whether there are objects after the window.
    HasNextPage,
    /// Whether there are objects before the window.
    HasPreviousPage,
    /// The cursor of the first object.
    StartCursor,
    /// The cursor of the last object.
    EndCursor,
    /// The GraphQL type name.
    TypeName,
}

/// The objects that a federation gateway requests.
#[derive(Clone, Debug)]
pub(crate) struct RootEntities {
    /// One entry for each requested type.
    pub(crate) types: Vec<RootObjects>,
    /// For each representation, the position in [`RootEntities::types`] and the id; `None` if the
    /// id is not an IRI.
    pub(crate) representations: Vec<Option<(usize, ObjectRef)>>,
}

/// Objects of one type whose values are fetched together.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// The graphs to read.
    pub(crate) dataset: Arc<Dataset>,
    /// Values to fetch.
    pub(crate) slots: Vec<Slot>,
    /// How the concrete type of each object is found.
    pub(crate) typing: Typing,
    /// The different lists of fields that objects have, depending on their concrete type.
    pub(crate) variants: Arc<[Vec<ResponseField>]>,
    /// Slots that lead to objects of further levels.
    pub(crate) edges: Vec<Edge>,
    /// Maximum number of edges between a root field and this level.
    pub(crate) depth: u32,
    /// For each slot, whether every field that shows it shows one value.
    pub(crate) single: Vec<bool>,
    /// Number of root fields and edges that lead here.
    pub(crate) ways: usize,
}

/// How the concrete type of an object is found.
#[derive(Clone, Debug)]
pub(crate) enum Typing {
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
pub(crate) struct Edge {
    /// The slot that holds them.
    pub(crate) slot: usize,
    /// Their level.
    pub(crate) level: LevelId,
}

/// A field of the answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResponseField {
    /// Response key.
    pub(crate) key: String,
    /// The key as it is written.
    pub(crate) opening: Box<str>,
    /// Name in the schema.
    pub(crate) name: String,
    /// Position in the document.
    pub(crate) location: Option<Location>,
    /// Whether the type is non-null.
    pub(crate) non_null: bool,
    /// A slot that has values of those objects alone that show the field; `None` where all do.
    pub(crate) only: Option<usize>,
    /// Where the value comes from.
    pub(crate) value: Output,
}

/// Where the value of a field comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
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
    /// The number of objects that a list field would return.
    ObjectCount {
        /// Position in [`Level::slots`].
        slot: usize,
    },
    /// The number of values that a list field would return.
    ValueCount(Box<Output>),
    /// Counts, extremes, sums and groups of the objects that a list field would return.
    Aggregate {
        /// Position in [`Level::edges`].
        edge: usize,
        /// What to compute over them.
        aggregation: Arc<Aggregation>,
    },
    /// Counts, extremes and sums of the values that a list field would return.
    ValueAggregate(Box<ValueAggregate>),
}

/// Scalar values of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScalarOutput {
    /// Position in [`Level::slots`].
    pub(crate) slot: usize,
    /// How values are converted.
    pub(crate) kind: ScalarKind,
    /// Casts values from their lexical form if their datatype differs.
    pub(crate) cast: bool,
    /// Which language variants of strings are returned.
    pub(crate) lang: Option<LangSpec>,
    /// A list rather than a single value.
    pub(crate) list: Option<ListOutput>,
}

/// How stored values become values of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarKind {
    /// To a scalar.
    Scalar(Scalar),
    /// To a value of an enumeration.
    Enum(EnumId),
}

/// Literals of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LiteralOutput {
    /// Position in [`Level::slots`].
    pub(crate) slot: usize,
    /// Which literals are well typed.
    pub(crate) types: LiteralTypes,
    /// Which language variants are returned.
    pub(crate) lang: Option<LangSpec>,
    /// A list rather than a single literal.
    pub(crate) list: Option<ListOutput>,
    /// Fields of each literal.
    pub(crate) fields: Vec<LiteralField>,
}

/// A field of the GraphQL type `Literal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiteralField {
    /// Response key.
    pub(crate) key: String,
    /// Which part of the literal.
    pub(crate) part: LiteralPart,
}

/// A part of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiteralPart {
    /// The lexical form.
    Value,
    /// The language tag.
    Lang,
    /// The datatype, unless there is a language tag.
    Type,
    /// The name of the GraphQL type.
    TypeName,
}

/// A sort key of values that are not objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ValueOrder {
    /// The part of a literal; scalars have one, their value.
    pub(crate) part: LiteralKey,
    pub(crate) is_descending: bool,
}

/// How a list is built.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ListOutput {
    /// Whether elements are non-null.
    pub(crate) non_null_elements: bool,
    /// Empty for objects.
    pub(crate) order: Vec<ValueOrder>,
    /// The page of the values; for objects the store has applied it already.
    pub(crate) page: Page,
}
