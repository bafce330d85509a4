//! The scalar datatypes of SOML: their names in SOML, GraphQL and RDF.

/// A scalar datatype.
///
/// The 27 scalars of the language, in the order in which they are documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// `int`: signed 32-bit.
    Int,
    /// `double`: IEEE 754 64-bit.
    Double,
    /// `string`, the default range.
    String,
    /// `boolean`.
    Boolean,
    /// `iri`: any IRI.
    Iri,
    /// `long`: signed 64-bit.
    Long,
    /// `short`: signed 16-bit.
    Short,
    /// `byte`: signed 8-bit.
    Byte,
    /// `unsignedLong`: unsigned 64-bit.
    UnsignedLong,
    /// `unsignedInt`: unsigned 32-bit.
    UnsignedInt,
    /// `unsignedShort`: unsigned 16-bit.
    UnsignedShort,
    /// `unsignedByte`: unsigned 8-bit.
    UnsignedByte,
    /// `decimal`: any number of digits.
    Decimal,
    /// `integer`: any number of digits.
    Integer,
    /// `positiveInteger`: greater than 0.
    PositiveInteger,
    /// `nonPositiveInteger`: at most 0.
    NonPositiveInteger,
    /// `negativeInteger`: less than 0.
    NegativeInteger,
    /// `nonNegativeInteger`: at least 0.
    NonNegativeInteger,
    /// `positiveFloat`: a double greater than 0.
    PositiveFloat,
    /// `nonPositiveFloat`: a double of at most 0.
    NonPositiveFloat,
    /// `negativeFloat`: a double less than 0.
    NegativeFloat,
    /// `nonNegativeFloat`: a double of at least 0.
    NonNegativeFloat,
    /// `dateTime`, time zone optional.
    DateTime,
    /// `date`.
    Date,
    /// `time`, time zone optional.
    Time,
    /// `year`.
    Year,
    /// `yearMonth`.
    YearMonth,
}

macro_rules! scalars {
    ($($variant:ident $soml:literal $graphql:literal $rdf:literal;)*) => {
        impl Scalar {
            /// All scalars.
            pub const ALL: &'static [Scalar] = &[$(Scalar::$variant),*];

            /// Returns the name in SOML documents.
            #[must_use]
            pub fn soml_name(self) -> &'static str {
                match self { $(Scalar::$variant => $soml),* }
            }

            /// Returns the name of the GraphQL scalar.
            #[must_use]
            pub fn graphql_name(self) -> &'static str {
                match self { $(Scalar::$variant => $graphql),* }
            }

            /// Returns the IRI of the RDF datatype; for [`Scalar::Iri`] that of `rdfs:Resource`.
            #[must_use]
            pub fn datatype_iri(self) -> &'static str {
                match self { $(Scalar::$variant => $rdf),* }
            }

            /// Finds a scalar by its SOML name.
            #[must_use]
            pub fn from_soml_name(name: &str) -> Option<Scalar> {
                match name { $($soml => Some(Scalar::$variant),)* _ => None }
            }

            /// Finds a scalar by its GraphQL name.
            #[must_use]
            pub fn from_graphql_name(name: &str) -> Option<Scalar> {
                match name { $($graphql => Some(Scalar::$variant),)* _ => None }
            }
        }
    };
}

scalars! {
    Int "int" "Int" "http://www.w3.org/2001/XMLSchema#int";
    Double "double" "Float" "http://www.w3.org/2001/XMLSchema#double";
    String "string" "String" "http://www.w3.org/2001/XMLSchema#string";
    Boolean "boolean" "Boolean" "http://www.w3.org/2001/XMLSchema#boolean";
    Iri "iri" "ID" "http://www.w3.org/2000/01/rdf-schema#Resource";
    Long "long" "Long" "http://www.w3.org/2001/XMLSchema#long";
    Short "short" "Short" "http://www.w3.org/2001/XMLSchema#short";
    Byte "byte" "Byte" "http://www.w3.org/2001/XMLSchema#byte";
    UnsignedLong "unsignedLong" "UnsignedLong" "http://www.w3.org/2001/XMLSchema#unsignedLong";
    UnsignedInt "unsignedInt" "UnsignedInteger" "http://www.w3.org/2001/XMLSchema#unsignedInt";
    UnsignedShort "unsignedShort" "UnsignedShort" "http://www.w3.org/2001/XMLSchema#unsignedShort";
    UnsignedByte "unsignedByte" "UnsignedByte" "http://www.w3.org/2001/XMLSchema#unsignedByte";
    Decimal "decimal" "Decimal" "http://www.w3.org/2001/XMLSchema#decimal";
    Integer "integer" "Integer" "http://www.w3.org/2001/XMLSchema#integer";
    PositiveInteger "positiveInteger" "PositiveInteger" "http://www.w3.org/2001/XMLSchema#positiveInteger";
    NonPositiveInteger "nonPositiveInteger" "NonPositiveInteger" "http://www.w3.org/2001/XMLSchema#nonPositiveInteger";
    NegativeInteger "negativeInteger" "NegativeInteger" "http://www.w3.org/2001/XMLSchema#negativeInteger";
    NonNegativeInteger "nonNegativeInteger" "NonNegativeInteger" "http://www.w3.org/2001/XMLSchema#nonNegativeInteger";
    PositiveFloat "positiveFloat" "PositiveFloat" "http://www.w3.org/2001/XMLSchema#double";
    NonPositiveFloat "nonPositiveFloat" "NonPositiveFloat" "http://www.w3.org/2001/XMLSchema#double";
    NegativeFloat "negativeFloat" "NegativeFloat" "http://www.w3.org/2001/XMLSchema#double";
    NonNegativeFloat "nonNegativeFloat" "NonNegativeFloat" "http://www.w3.org/2001/XMLSchema#double";
    DateTime "dateTime" "DateTime" "http://www.w3.org/2001/XMLSchema#dateTime";
    Date "date" "Date" "http://www.w3.org/2001/XMLSchema#date";
    Time "time" "Time" "http://www.w3.org/2001/XMLSchema#time";
    Year "year" "Year" "http://www.w3.org/2001/XMLSchema#gYear";
    YearMonth "yearMonth" "YearMonth" "http://www.w3.org/2001/XMLSchema#gYearMonth";
}

impl Scalar {
    /// Finds the scalar that takes all literals of an RDF datatype; of those that stand for `xsd:double`, the
    /// one that takes every sign.
    #[must_use]
    pub fn from_datatype_iri(iri: &str) -> Option<Scalar> {
        let mut scalars = Scalar::ALL.iter().copied();
        scalars.find(|scalar| *scalar != Scalar::Iri && scalar.datatype_iri() == iri)
    }

    /// Returns whether values are numbers, which compare across datatypes.
    #[must_use]
    pub fn is_numeric(self) -> bool {
        self.is_integer() || self.is_float() || self == Scalar::Decimal
    }

    /// Returns whether values are integers.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.integer_bounds().is_some()
    }

    /// Returns whether values are binary floating-point numbers.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Scalar::Double
                | Scalar::PositiveFloat
                | Scalar::NonPositiveFloat
                | Scalar::NegativeFloat
                | Scalar::NonNegativeFloat
        )
    }

    /// Returns the minimum and maximum of an integer scalar; `None` means unbounded.
    #[must_use]
    pub fn integer_bounds(self) -> Option<(Option<i128>, Option<i128>)> {
        Some(match self {
            Scalar::Int => (Some(i32::MIN.into()), Some(i32::MAX.into())),
            Scalar::Long => (Some(i64::MIN.into()), Some(i64::MAX.into())),
            Scalar::Short => (Some(i16::MIN.into()), Some(i16::MAX.into())),
            Scalar::Byte => (Some(i8::MIN.into()), Some(i8::MAX.into())),
            Scalar::UnsignedLong => (Some(0), Some(u64::MAX.into())),
            Scalar::UnsignedInt => (Some(0), Some(u32::MAX.into())),
            Scalar::UnsignedShort => (Some(0), Some(u16::MAX.into())),
            Scalar::UnsignedByte => (Some(0), Some(u8::MAX.into())),
            Scalar::Integer => (None, None),
            Scalar::PositiveInteger => (Some(1), None),
            Scalar::NonPositiveInteger => (None, Some(0)),
            Scalar::NegativeInteger => (None, Some(-1)),
            Scalar::NonNegativeInteger => (Some(0), None),
            _ => return None,
        })
    }

    /// Returns whether a floating-point value satisfies the sign rule of the scalar.
    #[must_use]
    pub fn float_in_bounds(self, value: f64) -> bool {
        match self {
            Scalar::PositiveFloat => value > 0.0,
            Scalar::NonPositiveFloat => value <= 0.0,
            Scalar::NegativeFloat => value < 0.0,
            Scalar::NonNegativeFloat => value >= 0.0,
            _ => true,
        }
    }
}
