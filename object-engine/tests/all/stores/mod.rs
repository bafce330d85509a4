//! What a service asks of stores behind SPARQL endpoints.

mod choice;
mod documented;
mod long_work;
mod read_ahead;
mod round_trips;

use oxrdf::Quad;
use oxrdfio::RdfFormat;

use crate::images;

fn quads(trig: &str) -> Vec<Quad> {
    images::quads(RdfFormat::TriG, trig)
}
