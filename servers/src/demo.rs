//! Built-in schemas and data.

use std::str::FromStr;

/// A demo: a schema, data for it, and a sample query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demo {
    /// Name on the command line.
    pub name: &'static str,
    /// The SOML document.
    pub schema: &'static str,
    /// File name of the data; its extension gives the syntax.
    pub data_name: &'static str,
    /// The data.
    pub data: &'static [u8],
    /// A sample query.
    pub query: &'static str,
}

/// Films, characters, planets and starships of Star Wars.
pub const STAR_WARS: Demo = Demo {
    name: "star-wars",
    schema: include_str!("../demo/star-wars/schema.yaml"),
    data_name: "star-wars.ttl",
    data: include_bytes!("../demo/star-wars/data.ttl"),
    query: include_str!("../demo/star-wars/query.graphql"),
};

const ALL: &[Demo] = &[STAR_WARS];

/// The name of the demo is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown demo `{0}`; the only demo is star-wars")]
pub struct UnknownDemo(String);

impl FromStr for Demo {
    type Err = UnknownDemo;

    fn from_str(name: &str) -> Result<Self, UnknownDemo> {
        let found = ALL.iter().find(|demo| demo.name == name);
        found.copied().ok_or_else(|| UnknownDemo(name.to_owned()))
    }
}
