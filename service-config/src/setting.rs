//! Types that properties can have: how each is read, written and called.

use std::net::IpAddr;
use std::time::Duration;

/// A type that a property can have.
///
/// `L` names whose properties they are. It lets a program say how the types of other crates are written: `impl Setting<Mine> for
/// Theirs`, where `Mine` is a type of its own. Types of the standard library are written in the same way by all.
pub trait Setting<L>: Sized {
    /// What the documentation calls the type.
    const TYPE: &'static str;

    /// Reads a value.
    ///
    /// # Errors
    /// What would be accepted, to complete "expected …".
    fn parse(text: &str) -> Result<Self, &'static str>;

    /// Writes the value as it would be configured.
    fn show(&self) -> String;
}

macro_rules! from_str_setting {
    ($($type:ty, $name:literal, $expected:literal;)*) => {$(
        impl<L> Setting<L> for $type {
            const TYPE: &'static str = $name;

            fn parse(text: &str) -> Result<Self, &'static str> {
                text.parse().map_err(|_| $expected)
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

from_str_setting! {
    usize, "number", "a non-negative integer";
    u32, "number", "a non-negative integer";
    u64, "number", "a non-negative integer";
    u16, "port", "a port between 0 and 65535";
    IpAddr, "address", "an IP address such as 127.0.0.1 or ::1";
    bool, "boolean", "true or false";
    String, "string", "a string";
}

impl<L> Setting<L> for Option<u64> {
    const TYPE: &'static str = "number or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "none" => Ok(None),
            _ => text
                .parse()
                .map(Some)
                .map_err(|_| "a non-negative integer or `none`"),
        }
    }

    fn show(&self) -> String {
        self.map_or_else(|| "none".to_owned(), |n| n.to_string())
    }
}

impl<L> Setting<L> for Option<String> {
    const TYPE: &'static str = "string or `none`";

    fn parse(text: &str) -> Result<Self, &'static str> {
        Ok((!matches!(text, "" | "none")).then(|| text.to_owned()))
    }

    fn show(&self) -> String {
        self.clone().unwrap_or_else(|| "none".to_owned())
    }
}

impl<L> Setting<L> for Duration {
    const TYPE: &'static str = "milliseconds";

    fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse()
            .map(Duration::from_millis)
            .map_err(|_| "a number of milliseconds, as a non-negative integer")
    }

    fn show(&self) -> String {
        self.as_millis().to_string()
    }
}
