//! Stable error codes, from tables.

use std::fmt;
use std::hash::{Hash, Hasher};

/// The properties of an error code: one row of a table made by
/// [`error_codes!`](crate::error_codes).
#[derive(Debug)]
#[non_exhaustive]
pub struct ErrorInfo {
    /// The code, in `SCREAMING_SNAKE`; it never changes.
    pub name: &'static str,
    /// HTTP status of a response that consists of only this error.
    pub status: u16,
    /// Whether the text of the failure behind the error may leave the process.
    pub is_public: bool,
    /// One sentence for the documentation.
    pub meaning: &'static str,
}

impl ErrorInfo {
    #[doc(hidden)]
    #[must_use]
    pub const fn row(
        name: &'static str,
        status: u16,
        is_public: bool,
        meaning: &'static str,
    ) -> Self {
        ErrorInfo {
            name,
            status,
            is_public,
            meaning,
        }
    }
}

/// A stable error code; each is a constant made by [`error_codes!`](crate::error_codes).
#[derive(Clone, Copy)]
pub struct ErrorCode(&'static ErrorInfo);

impl ErrorCode {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(info: &'static ErrorInfo) -> Self {
        ErrorCode(info)
    }

    /// Returns the code as a string, which never changes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0.name
    }

    /// Returns the HTTP status of a response that consists of only this error.
    #[must_use]
    pub const fn status(self) -> u16 {
        self.0.status
    }

    /// Returns whether the text of the failure behind the error may leave the process.
    #[must_use]
    pub const fn is_public(self) -> bool {
        self.0.is_public
    }

    /// Returns one sentence for the documentation.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        self.0.meaning
    }
}

impl PartialEq for ErrorCode {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for ErrorCode {}

impl Hash for ErrorCode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Defines the table of error codes of a crate: a constant for each, and `ALL` of them in order.
///
/// Each row has the code, the HTTP status of a response that consists of this error alone, whether
/// the text of the failure behind it may leave the process (`public` or `internal`), and one
/// sentence for the documentation.
///
/// ```
/// mod code {
///     call_context::error_codes! {
///         PLANET_UNKNOWN 400 public "The planet is not on the map.";
///         MAP_LOST 503 internal "The map cannot be read.";
///     }
/// }
/// assert_eq!(code::PLANET_UNKNOWN.as_str(), "PLANET_UNKNOWN");
/// assert_eq!(code::MAP_LOST.status(), 503);
/// assert!(!code::MAP_LOST.is_public());
/// assert_eq!(code::ALL.len(), 2);
/// ```
#[macro_export]
macro_rules! error_codes {
    (@public public) => { true };
    (@public internal) => { false };
    ($($name:ident $status:literal $text:ident $meaning:literal;)*) => {
        $(
            #[doc = $meaning]
            pub const $name: $crate::code::ErrorCode = {
                const ROW: &$crate::code::ErrorInfo = &$crate::code::ErrorInfo::row(
                    stringify!($name),
                    $status,
                    $crate::error_codes!(@public $text),
                    $meaning,
                );
                $crate::code::ErrorCode::new(ROW)
            };
        )*

        /// All codes of this table, in the order of the documentation.
        pub const ALL: &[$crate::code::ErrorCode] = &[$($name),*];
    };
}
