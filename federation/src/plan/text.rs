//! Plans as text, for people and for tests: stable, with requests, waves and representations.

use std::fmt::Write;

use super::{Context, EntryObjects, Input, Listing, Plan, Step};
use crate::operation::ClassId;
use crate::supergraph::{Supergraph, TypeId};

impl Plan {
    /// Returns the plan as text.
    #[must_use]
    pub fn text(&self, supergraph: &Supergraph) -> String {
        let cost = self.cost;
        let mut out = format!(
            "waves {}, requests {}, fields {}{}\n",
            cost.waves,
            cost.fetches,
            cost.fields,
            if self.is_optimal {
                ""
            } else {
                ", perhaps not the best"
            },
        );
        for (position, request) in self.requests.iter().enumerate() {
            let name = &supergraph.subgraph(request.subgraph).name;
            let _ = write!(out, "{position}: {name}");
            if !request.after.is_empty() {
                let after: Vec<String> = request.after.iter().map(ToString::to_string).collect();
                let _ = write!(out, " after {}", after.join(", "));
            }
            out.push('\n');
            for step in &request.steps {
                self.step(supergraph, step, &mut out);
            }
            let _ = writeln!(out, "   {}", request.document);
        }
        out
    }

    fn step(&self, supergraph: &Supergraph, step: &Step, out: &mut String) {
        match &step.entry {
            EntryObjects::Root => {}
            EntryObjects::Reentry(class) => {
                let _ = writeln!(out, "   at {}", self.path(*class));
            }
            EntryObjects::Entities {
                listing,
                variable,
                contexts,
                ..
            } => {
                let Listing {
                    class,
                    interface,
                    inputs,
                    ..
                } = &self.listings[*listing];
                let types = match interface {
                    Some(interface) => supergraph.ty(*interface).name.to_string(),
                    None => names(supergraph, &self.tree.class(*class).types),
                };
                let path = self.path(*class);
                let _ = writeln!(
                    out,
                    "   ${variable} at {path}: {types} {}",
                    members(supergraph, inputs)
                );
                for context in contexts {
                    let Context {
                        variable, value, ..
                    } = context;
                    let above = self.path(self.above(*class, value.levels));
                    let above = if above.is_empty() { "the root" } else { &above };
                    let members = members(supergraph, &value.inputs);
                    let _ = writeln!(out, "   ${variable} from {above}: {members}");
                }
            }
        }
    }

    /// Returns the class some objects above another one.
    fn above(&self, mut class: ClassId, levels: usize) -> ClassId {
        for _ in 0..levels {
            let position = self.tree.class(class).position;
            class = position.map_or(class, |node| self.tree.node(node).class);
        }
        class
    }

    /// Returns the keys that lead to a class.
    fn path(&self, mut class: ClassId) -> String {
        let mut keys = Vec::new();
        while let Some(node) = self.tree.class(class).position {
            let node = self.tree.node(node);
            keys.push(&*node.key);
            class = node.class;
        }
        keys.reverse();
        keys.join(".")
    }
}

fn names(supergraph: &Supergraph, types: &[TypeId]) -> String {
    let names: Vec<&str> = types
        .iter()
        .map(|ty| supergraph.ty(*ty).name.as_str())
        .collect();
    names.join("|")
}

fn members(supergraph: &Supergraph, inputs: &[Input]) -> String {
    let members = inputs.iter().map(|input| {
        let mut text = input.name.clone();
        if *input.key != *input.name {
            let _ = write!(text, " from {}", input.key);
        }
        for fragment in &input.fragments {
            let types = names(supergraph, &fragment.types);
            let _ = write!(text, " {types} {}", members(supergraph, &fragment.inputs));
        }
        text
    });
    format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
}
