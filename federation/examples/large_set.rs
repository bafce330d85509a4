//! Prints a large set of subgraphs as a line of JSON, in the form that the example `compose_sets` reads.
//!
//!     large_set [SUBGRAPHS [TYPES]]
//!
//! 190 subgraphs with about 1 MB of SDL when nothing is given. More than eight types of ten are in three subgraphs or more, each
//! with two keys; a tenth of all fields requires another one; 30 interfaces have 8 implementing types each.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::json;

const INTERFACES: usize = 30;
const IMPLEMENTERS: usize = 8;

const LINK: &str = r#"extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@requires", "@external"])"#;

/// A type with the subgraphs that know it.
struct Type {
    number: usize,
    interface: Option<usize>,
    subgraphs: Vec<usize>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| {
        let given = arguments.next();
        given.map_or(default, |text| text.parse().expect("a number"))
    };
    let (subgraphs, types) = (number(190), number(460));
    let mut random = Random(5);
    let types: Vec<Type> = (0..types)
        .map(|number| ty(number, subgraphs, &mut random))
        .collect();
    let sources = (0..subgraphs).map(|subgraph| {
        let name = format!("s{subgraph}");
        json!({ "name": name, "url": "", "sdl": sdl(subgraph, &types, &mut random) })
    });
    let sources: Vec<_> = sources.collect();
    #[expect(clippy::print_stdout, reason = "that is what it is for")]
    {
        println!("{}", json!({ "id": "large", "subgraphs": sources }));
    }
}

/// Chooses the subgraphs of a type. Those of one interface meet in some.
fn ty(number: usize, subgraphs: usize, random: &mut Random) -> Type {
    let interface = (number < INTERFACES * IMPLEMENTERS).then_some(number / IMPLEMENTERS);
    let count = match random.below(10) {
        _ if interface.is_some() => 3,
        0..3 => 1,
        3..8 => 3,
        _ => 5,
    };
    let mut chosen = BTreeSet::new();
    while chosen.len() < count.min(subgraphs) {
        chosen.insert(match interface {
            Some(interface) => (interface * 6 + random.below(4)) % subgraphs,
            None => random.below(subgraphs),
        });
    }
    Type {
        number,
        interface,
        subgraphs: chosen.into_iter().collect(),
    }
}

fn sdl(subgraph: usize, types: &[Type], random: &mut Random) -> String {
    let mut out = format!("{LINK}\n");
    let known: Vec<&Type> = types
        .iter()
        .filter(|ty| ty.subgraphs.contains(&subgraph))
        .collect();
    let mut query = String::new();
    let mut interfaces = BTreeSet::new();
    for ty in &known {
        let number = ty.number;
        let implements = ty.interface.map(|interface| {
            interfaces.insert(interface);
            format!(" implements I{interface}")
        });
        let _ = writeln!(
            out,
            "type T{number}{} @key(fields: \"id\") @key(fields: \"sku\") {{\n  id: ID!\n  sku: String!",
            implements.unwrap_or_default()
        );
        fields(subgraph, ty, &known, random, &mut out);
        out.push_str("}\n");
        let _ = write!(query, " all{number}x{subgraph}: [T{number}]");
    }
    for interface in interfaces {
        let _ = writeln!(out, "interface I{interface} {{ id: ID! sku: String! }}");
        let _ = write!(query, " some{interface}x{subgraph}: I{interface}");
    }
    let _ = writeln!(out, "type Query {{ at{subgraph}: Int{query} }}");
    out
}

/// Writes the fields of a type in a subgraph: eight leaves, two that lead to other types, and one that requires a
/// field of the subgraph before it.
fn fields(subgraph: usize, ty: &Type, known: &[&Type], random: &mut Random, out: &mut String) {
    let leaves = ["Int", "String", "Float", "[String!]", "Boolean"];
    let number = ty.number;
    for leaf in 0..8 {
        // Others say the same of the first one, which they require.
        let leaf_type = match leaf {
            0 => "String",
            _ => leaves[random.below(leaves.len())],
        };
        let _ = writeln!(
            out,
            "  \"What is known of it here, number {leaf}\"\n  f{number}x{subgraph}x{leaf}: {leaf_type}"
        );
    }
    for way in 0..2 {
        let to = known[random.below(known.len())].number;
        let _ = writeln!(out, "  to{number}x{subgraph}x{way}: T{to}");
    }
    let place = ty.subgraphs.iter().position(|known| *known == subgraph);
    if let Some(before) = place.and_then(|place| ty.subgraphs.get(place.checked_sub(1)?)) {
        let input = format!("f{number}x{before}x0");
        let _ = writeln!(out, "  {input}: String @external");
        for made in 0..2 {
            let requires = format!("@requires(fields: \"{input}\")");
            let _ = writeln!(out, "  made{number}x{subgraph}x{made}: Int {requires}");
        }
    }
}

/// Numbers that are the same on every platform.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }
}
