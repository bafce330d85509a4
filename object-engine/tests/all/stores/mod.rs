//! What a service asks of stores behind SPARQL endpoints.

mod choice;
mod documented;
mod long_work;
mod read_ahead;
mod round_trips;

use oxigraph::io::{RdfFormat, RdfParser};
use oxrdf::Quad;

fn quads(trig: &str) -> Vec<Quad> {
    let parser = RdfParser::from_format(RdfFormat::TriG);
    let quads: Result<_, _> = parser.for_slice(trig.as_bytes()).collect();
    quads.expect("TriG")
}
