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
    ValueNotOfRange "VALUE_NOT_OF_RANGE" Error
        "value does not fit the range" "values do not fit the range"
        "A value does not fit the declared range: the field is null, with the error `VALUE_ILL_TYPED`.";
    TooFewValues "TOO_FEW_VALUES" Error
        "object has fewer values than it must" "objects have fewer values than they must"
        "An object has fewer values than `min` asks for.";
    TooManyValues "TOO_MANY_VALUES" Error
        "object has more values than it may" "objects have more values than they may"
        "An object has more values than `max` allows; texts are counted for each language.";
    TargetMissing "TARGET_MISSING" Error
        "value is an object of which nothing is stored" "values are objects of which nothing is stored"
        "A value should be an object, and no statement is about it.";
    TargetUntyped "TARGET_UNTYPED" Error
        "value has no type" "values have no type"
        "A value should be an object, and has no type at all.";
    TargetClassUnknown "TARGET_CLASS_UNKNOWN" Error
        "value has no type that the schema knows" "values have no type that the schema knows"
        "A value should be an object, and has only types that the schema does not name.";
    TargetOtherType "TARGET_OTHER_TYPE" Error
        "value is an object of another type" "values are objects of another type"
        "A value is an object of the schema, and not of the range of the property.";
    IdMismatch "ID_MISMATCH" Error
        "object has an IRI that does not match" "objects have an IRI that does not match"
        "The IRI of an object does not match `prefix`, `regex` or `pattern` of its type.";
    ValueMismatch "VALUE_MISMATCH" Error
        "value does not match" "values do not match"
        "A value does not match `prefix`, `regex` or `pattern` of its property.";
    ValueNotListed "VALUE_NOT_LISTED" Error
        "value is not listed" "values are not listed"
        "A value is not in the list `valuesIn` of its property.";
    LangNotAllowed "LANG_NOT_ALLOWED" Error
        "text has a language that is not allowed" "texts have a language that is not allowed"
        "The language of a text is not among those that `lang: {validate: …}` allows.";
    LangRepeated "LANG_REPEATED" Error
        "object has several texts of one language" "objects have several texts of one language"
        "There are several texts of one language where `UNIQ` allows one.";
    InverseMissing "INVERSE_MISSING" Error
        "value does not lead back" "values do not lead back"
        "A value lacks the statement of the property that `inverseOf` names.";
    SymmetryMissing "SYMMETRY_MISSING" Error
        "value does not lead back" "values do not lead back"
        "A value of a symmetric property does not have the object as its value.";
    PropertyUnknown "PROPERTY_UNKNOWN" Warning
        "statement is of a property that the schema does not name" "statements are of a property that the schema does not name"
        "An object has a property that the schema does not name for its type; the API does not show it.";
    ClassUnknown "CLASS_UNKNOWN" Warning
        "node is of a class that the schema does not name" "nodes are of a class that the schema does not name"
        "A node has only types that the schema does not name; the API does not show it.";
    BlankNode "BLANK_NODE" Warning
        "blank node is not shown" "blank nodes are not shown"
        "A blank node stands where an object or a value would; the API shows IRIs and literals alone.";
    TargetLeftOut "TARGET_LEFT_OUT" Note
        "value is left out by `rangeCheck`" "values are left out by `rangeCheck`"
        "A value is no object of the range, and the property says `rangeCheck`: the API leaves it out, and it does not count for `min` and `max`.";
    ValueConverted "VALUE_CONVERTED" Note
        "value is converted" "values are converted"
        "A value is of another datatype than declared, and worth the same.";
    ClassBeside "CLASS_BESIDE" Note
        "object is also of a class that the schema does not name" "objects are also of a class that the schema does not name"
        "An object of the schema has a further type that the schema does not name.";
    NoInstances "NO_INSTANCES" Note
        "object type has no instances" "object types have no instances"
        "There is no instance of a concrete object type.";
}
