//! Schemas and data that the program carries with it.

use std::str::FromStr;

/// A demonstration: a schema, data for it, and a query to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demo {
    /// Name on the command line.
    pub name: &'static str,
    /// The SOML document.
    pub schema: &'static str,
    /// Name of the data as a file; its extension tells the syntax.
    pub data_name: &'static str,
    /// The data.
    pub data: &'static [u8],
    /// A query that shows what can be asked.
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

/// There is no demonstration of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no demo `{0}`; known is star-wars")]
pub struct UnknownDemo(String);

impl FromStr for Demo {
    type Err = UnknownDemo;

    fn from_str(name: &str) -> Result<Self, UnknownDemo> {
        let found = ALL.iter().find(|demo| demo.name == name);
        found.copied().ok_or_else(|| UnknownDemo(name.to_owned()))
    }
}
