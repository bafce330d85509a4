//! Bounds on what a client may send, each written once: name, default, documentation and code.

use call_context::ErrorCode;

use crate::code;
use crate::error::GraphqlError;

/// One bound of a set made by [`limits!`](crate::limits!): how it is configured and documented.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LimitRow<L> {
    /// Name of the configuration property.
    pub property: &'static str,
    /// What it bounds, for the documentation.
    pub doc: &'static str,
    /// The code of the error when the limit is exceeded.
    pub code: ErrorCode,
    /// Whether the limit can be disabled.
    pub is_optional: bool,
    /// Returns the limit; `None` means unlimited.
    pub get: fn(&L) -> Option<u64>,
    /// Sets the limit; `None` only where [`LimitRow::is_optional`] says so.
    pub set: fn(&mut L, Option<u64>),
}

impl<L> LimitRow<L> {
    #[doc(hidden)]
    #[must_use]
    pub const fn row<T: LimitValue>(
        (property, doc): (&'static str, &'static str),
        code: ErrorCode,
        get: fn(&L) -> Option<u64>,
        set: fn(&mut L, Option<u64>),
    ) -> Self {
        LimitRow {
            property,
            doc,
            code,
            is_optional: T::IS_OPTIONAL,
            get,
            set,
        }
    }
}

/// A type that a limit can have.
pub trait LimitValue: Copy {
    /// Whether the limit can be disabled.
    const IS_OPTIONAL: bool;

    /// Returns the limit; `None` means unlimited.
    fn to_bound(self) -> Option<u64>;

    /// Returns the value for a limit; where there must be one, `None` becomes the maximum.
    fn from_bound(bound: Option<u64>) -> Self;
}

impl LimitValue for usize {
    const IS_OPTIONAL: bool = false;

    fn to_bound(self) -> Option<u64> {
        Some(self as u64)
    }

    fn from_bound(bound: Option<u64>) -> Self {
        bound.map_or(usize::MAX, |bound| {
            usize::try_from(bound).unwrap_or(usize::MAX)
        })
    }
}

impl LimitValue for Option<u64> {
    const IS_OPTIONAL: bool = true;

    fn to_bound(self) -> Option<u64> {
        self
    }

    fn from_bound(bound: Option<u64>) -> Self {
        bound
    }
}

/// Defines a set of limits: a struct with a field for each, its defaults, and the table `ROWS`.
///
/// Each limit has a name, a type (`usize` or `Option<u64>`), a default, the property that
/// configures it, the code of the error when it is exceeded, and what it bounds.
///
/// ```
/// graphql_service::limits! {
///     /// Bounds on maps.
///     pub struct MapLimits {
///         planets: usize = 9, "map.limits.planets", graphql_service::code::LIMIT_FIELDS,
///             "Maximum number of planets.";
///     }
/// }
/// assert_eq!(MapLimits::default().planets, 9);
/// assert_eq!(MapLimits::ROWS[0].property, "map.limits.planets");
/// ```
#[macro_export]
macro_rules! limits {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($field:ident: $type:ty = $default:expr, $property:literal, $code:path, $doc:literal;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            $(
                #[doc = $doc]
                #[doc = concat!("(`", $property, "`)")]
                pub $field: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default),* }
            }
        }

        impl $name {
            /// The limits, in the order of the documentation.
            pub const ROWS: &'static [$crate::limits::LimitRow<$name>] = &[$(
                $crate::limits::LimitRow::row::<$type>(
                    ($property, $doc),
                    $code,
                    |limits| $crate::limits::LimitValue::to_bound(limits.$field),
                    |limits, bound| {
                        limits.$field = $crate::limits::LimitValue::from_bound(bound);
                    },
                ),
            )*];

            $(
                #[doc = concat!("Sets the bound `", $property, "`.")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

limits! {
    /// Limits on a document and its response, whatever the service behind them.
    ///
    /// The defaults never refuse the introspection query of a common client.
    pub struct Limits {
        depth: usize = 40, "graphql.limits.depth", code::LIMIT_DEPTH,
            "Maximum nesting of selection sets.";
        fields: usize = 20_000, "graphql.limits.fields", code::LIMIT_FIELDS,
            "Maximum number of fields, with fragments counted at each use.";
        aliases: usize = 1_000, "graphql.limits.aliases", code::LIMIT_ALIASES,
            "Maximum number of aliases.";
        tokens: usize = 100_000, "graphql.limits.tokens", code::LIMIT_TOKENS,
            "Maximum number of tokens in a document.";
        variable_values: usize = 100_000, "graphql.limits.variableValues", code::LIMIT_VARIABLES,
            "Maximum number of values in the variables and extensions of a request, nested ones included.";
        introspection: usize = 3, "graphql.limits.introspection", code::LIMIT_INTROSPECTION,
            "Maximum size of the introspection in a document, as a multiple of a typical introspection query.";
        response_bytes: usize = 128 << 20, "graphql.limits.responseBytes", code::LIMIT_RESPONSE,
            "Maximum size of a response, in bytes.";
    }
}

/// Returns the error for an exceeded limit.
#[must_use]
pub fn exceeded(code: ErrorCode, message: &str, limit: usize) -> GraphqlError {
    GraphqlError::new(code, message).with("limit", limit)
}
