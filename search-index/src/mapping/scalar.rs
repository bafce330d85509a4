//! How the values of each scalar are indexed: the one table that every engine follows.

use soml_core::datatype::Scalar;

/// How the values of a scalar are indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarIndex {
    /// Analysed text, with the whole value beside it as a keyword.
    Text,
    /// The whole value.
    Keyword,
    /// A Boolean.
    Boolean,
    /// An integer of a bounded type.
    Integer(IntegerType),
    /// A 64-bit floating-point number.
    Double,
    /// A number of any length: a 64-bit floating-point number for calculations, and an
    /// [`ExactKey`](graph_store::value::ExactKey) beside it for everything else.
    Exact,
    /// Milliseconds since 1970-01-01T00:00:00Z.
    Instant,
    /// A time of day in UTC as a keyword of fixed length, so that keywords sort as times do.
    Time,
}

/// The type of integers that the engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntegerType {
    /// 8 bits, signed.
    Byte,
    /// 16 bits, signed.
    Short,
    /// 32 bits, signed.
    Integer,
    /// 64 bits, signed.
    Long,
    /// 64 bits, unsigned.
    UnsignedLong,
}

impl IntegerType {
    /// Returns the name of the type in a mapping.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            IntegerType::Byte => "byte",
            IntegerType::Short => "short",
            IntegerType::Integer => "integer",
            IntegerType::Long => "long",
            IntegerType::UnsignedLong => "unsigned_long",
        }
    }
}

/// Returns how the values of a scalar are indexed.
///
/// Unsigned types take the next larger signed one; `unsignedLong` has a type of its own.
#[must_use]
pub fn index_of(scalar: Scalar) -> ScalarIndex {
    match scalar {
        Scalar::String => ScalarIndex::Text,
        Scalar::Iri => ScalarIndex::Keyword,
        Scalar::Boolean => ScalarIndex::Boolean,
        Scalar::Byte => ScalarIndex::Integer(IntegerType::Byte),
        Scalar::Short | Scalar::UnsignedByte => ScalarIndex::Integer(IntegerType::Short),
        Scalar::Int | Scalar::UnsignedShort => ScalarIndex::Integer(IntegerType::Integer),
        Scalar::Long | Scalar::UnsignedInt => ScalarIndex::Integer(IntegerType::Long),
        Scalar::UnsignedLong => ScalarIndex::Integer(IntegerType::UnsignedLong),
        Scalar::Double
        | Scalar::PositiveFloat
        | Scalar::NonPositiveFloat
        | Scalar::NegativeFloat
        | Scalar::NonNegativeFloat => ScalarIndex::Double,
        Scalar::Decimal
        | Scalar::Integer
        | Scalar::PositiveInteger
        | Scalar::NonPositiveInteger
        | Scalar::NegativeInteger
        | Scalar::NonNegativeInteger => ScalarIndex::Exact,
        Scalar::DateTime | Scalar::Date | Scalar::Year | Scalar::YearMonth => ScalarIndex::Instant,
        Scalar::Time => ScalarIndex::Time,
    }
}

impl ScalarIndex {
    /// Returns the name of the type in a mapping.
    #[must_use]
    pub fn type_name(self) -> &'static str {
        match self {
            ScalarIndex::Text => "text",
            ScalarIndex::Keyword | ScalarIndex::Time => "keyword",
            ScalarIndex::Boolean => "boolean",
            ScalarIndex::Integer(ty) => ty.name(),
            ScalarIndex::Double | ScalarIndex::Exact => "double",
            ScalarIndex::Instant => "date",
        }
    }

    /// Returns whether values are indexed in another form than answers show them in.
    #[must_use]
    pub fn is_converted(self) -> bool {
        matches!(
            self,
            ScalarIndex::Exact | ScalarIndex::Instant | ScalarIndex::Time
        )
    }
}
