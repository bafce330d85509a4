//! The table of codes of a check.

use std::fmt;

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckSeverity {
    /// The data do not fit the schema.
    Error,
    /// Data that the API does not show.
    Warning,
    /// Worth knowing, and as it should be.
    Note,
}

impl fmt::Display for CheckSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CheckSeverity::Error => "error",
            CheckSeverity::Warning => "warning",
            CheckSeverity::Note => "note",
        })
    }
}

macro_rules! codes {
    ($($variant:ident $code:literal $severity:ident $one:literal $many:literal $meaning:literal;)*) => {
        /// The stable code of a finding about data.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum CheckCode {
            $(#[doc = concat!("`", $code, "`: ", $meaning)] $variant,)*
        }

        impl CheckCode {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [CheckCode] = &[$(CheckCode::$variant),*];

            /// Returns the stable code.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(CheckCode::$variant => $code),* }
            }

            /// Returns how bad such a finding is.
            #[must_use]
            pub fn severity(self) -> CheckSeverity {
                match self { $(CheckCode::$variant => CheckSeverity::$severity),* }
            }

            /// Returns one sentence for the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(CheckCode::$variant => $meaning),* }
            }

            /// Returns what is said of one case, and of several.
            #[must_use]
            pub fn phrase(self, count: u64) -> &'static str {
                match (self, count) {
                    $((CheckCode::$variant, 1) => $one, (CheckCode::$variant, _) => $many,)*
                }
            }
        }
    };
}

codes! {
    NoMatchingObjects "NO_MATCHING_OBJECTS" Error
        "class is in the data, but no object of any type of the schema" "classes are in the data, but no object of any type of the schema"
        "The data contain no object of any type of the schema: the schema describes different data, or its vocabulary is misspelt. The largest classes of the data are listed.";
    ValueNotOfRange "VALUE_NOT_OF_RANGE" Error
        "value is not in the range" "values are not in the range"
        "A value is not in the declared range: the field is null, with the error `VALUE_ILL_TYPED`.";
    TooFewValues "TOO_FEW_VALUES" Error
        "object has fewer values than `min`" "objects have fewer values than `min`"
        "An object has fewer values than `min`.";
    TooManyValues "TOO_MANY_VALUES" Error
        "object has more values than `max`" "objects have more values than `max`"
        "An object has more values than `max`; language-tagged strings are counted per language.";
    TargetMissing "TARGET_MISSING" Error
        "value is an object without any statements" "values are objects without any statements"
        "The object that a value refers to has no statements.";
    TargetUntyped "TARGET_UNTYPED" Error
        "value has no type" "values have no type"
        "The object that a value refers to has no type.";
    TargetClassUnknown "TARGET_CLASS_UNKNOWN" Error
        "value has no type of the schema" "values have no type of the schema"
        "The object that a value refers to has no type of the schema.";
    TargetOtherType "TARGET_OTHER_TYPE" Error
        "value is an object of another type" "values are objects of another type"
        "The object that a value refers to has a type of the schema, but is not an instance of the range.";
    IdMismatch "ID_MISMATCH" Error
        "object has an IRI that does not match `prefix`, `regex` or `pattern`" "objects have an IRI that does not match `prefix`, `regex` or `pattern`"
        "The IRI of an object does not match `prefix`, `regex` or `pattern` of its type.";
    ValueMismatch "VALUE_MISMATCH" Error
        "value does not match `prefix`, `regex` or `pattern`" "values do not match `prefix`, `regex` or `pattern`"
        "A value does not match `prefix`, `regex` or `pattern` of its property.";
    ValueNotListed "VALUE_NOT_LISTED" Error
        "value is not in `valuesIn`" "values are not in `valuesIn`"
        "A value is not in the list `valuesIn` of its property.";
    LangNotAllowed "LANG_NOT_ALLOWED" Error
        "string has a language tag that is not allowed" "strings have a language tag that is not allowed"
        "The language tag of a string is not allowed by `lang: {validate: …}`.";
    LangRepeated "LANG_REPEATED" Error
        "object has several strings in the same language" "objects have several strings in the same language"
        "An object has several strings in the same language, although `UNIQ` allows one.";
    InverseMissing "INVERSE_MISSING" Error
        "value lacks the inverse statement" "values lack the inverse statement"
        "A value lacks the inverse statement that `inverseOf` requires.";
    SymmetryMissing "SYMMETRY_MISSING" Error
        "value lacks the inverse statement" "values lack the inverse statement"
        "A value of a symmetric property lacks the inverse statement.";
    PropertyUnknown "PROPERTY_UNKNOWN" Warning
        "statement uses a property that is not in the schema" "statements use a property that is not in the schema"
        "An object has a property that the schema does not declare for its type; the API does not expose it.";
    ClassUnknown "CLASS_UNKNOWN" Warning
        "node has a class that is not in the schema" "nodes have a class that is not in the schema"
        "A node has no type of the schema; the API does not expose it.";
    BlankNode "BLANK_NODE" Warning
        "blank node is not exposed" "blank nodes are not exposed"
        "A blank node is used as an object or a value; the API exposes only IRIs and literals.";
    TargetLeftOut "TARGET_LEFT_OUT" Note
        "value is skipped by `rangeCheck`" "values are skipped by `rangeCheck`"
        "A value of a property with `rangeCheck` is not an instance of the range: the API skips it, and it does not count for `min` and `max`.";
    ValueConverted "VALUE_CONVERTED" Note
        "value is converted" "values are converted"
        "A value has a different datatype than declared and is converted to an equal value.";
    ClassBeside "CLASS_BESIDE" Note
        "object also has a class that is not in the schema" "objects also have a class that is not in the schema"
        "An object also has a type that is not in the schema.";
    NoInstances "NO_INSTANCES" Note
        "object type has no instances" "object types have no instances"
        "A concrete object type and its subclasses have no instances.";
}
