//! Merges directives that are applied to one element, and the definitions of executable ones.

use std::collections::BTreeSet;

use apollo_compiler::ast::{Argument, Directive, DirectiveDefinition, DirectiveLocation, Value};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::{Name, Node, name};

use super::Merge;
use super::arguments::is_same_value;
use crate::compose::code::HintCode;
use crate::compose::finding::Place;
use crate::supergraph::join::argument;

/// The directives of federation that are merged, so that they have one name in all subgraphs. Supergraphs keep them
/// under these names, but for `@cacheTag`.
pub(super) const MERGED: [&str; 9] = [
    "tag",
    "inaccessible",
    "authenticated",
    "requiresScopes",
    "policy",
    "cost",
    "listSize",
    "context",
    "cacheTag",
];

impl Merge<'_> {
    /// Merges what subgraphs apply to one element.
    pub(super) fn merge_directives(
        &mut self,
        coordinate: &str,
        applied: Vec<(usize, Vec<&Node<Directive>>)>,
    ) -> Vec<Node<Directive>> {
        let mut merged = Vec::new();
        let mut by_name: IndexMap<&'static str, Vec<(usize, &Node<Directive>)>> =
            IndexMap::default();
        let mut own: IndexMap<Name, Vec<(usize, &Node<Directive>)>> = IndexMap::default();
        for (at, directives) in &applied {
            for directive in directives {
                if let Some(kept) = kept(&directive.name) {
                    by_name.entry(kept).or_default().push((*at, directive));
                } else if self.composed.contains_key(&directive.name) {
                    own.entry(directive.name.clone())
                        .or_default()
                        .push((*at, directive));
                }
            }
        }
        for (kept, found) in by_name {
            match kept {
                "cacheTag" => {
                    self.features.insert(kept);
                    merged.extend(self.cache_tags(&found));
                }
                "deprecated" | "specifiedBy" => {
                    merged.extend(self.most_frequent(coordinate, kept, &found))
                }
                "oneOf" => merged.push(found[0].1.clone()),
                _ => {
                    self.features.insert(kept);
                    merged.extend(self.merge_feature(coordinate, kept, &found));
                }
            }
        }
        for (name, found) in own {
            let is_repeatable = self
                .composed
                .get(&name)
                .is_some_and(|it| it.definition.repeatable);
            if is_repeatable {
                let all = distinct(found.iter().map(|(_, it)| it.arguments.clone())).into_iter();
                merged.extend(all.map(|arguments| {
                    let name = name.clone();
                    Node::new(Directive { name, arguments })
                }));
            } else {
                merged.extend(self.most_frequent(coordinate, &name, &found));
            }
        }
        merged
    }

    fn merge_feature(
        &mut self,
        coordinate: &str,
        kept: &'static str,
        found: &[(usize, &Node<Directive>)],
    ) -> Vec<Node<Directive>> {
        let named = |arguments: Vec<Node<Argument>>| {
            Node::new(Directive {
                name: Name::new_unchecked(kept),
                arguments,
            })
        };
        match kept {
            // Once is enough: whatever one subgraph hides or protects is hidden or protected.
            "inaccessible" | "authenticated" => vec![named(Vec::new())],
            "tag" => distinct(found.iter().map(|(_, it)| it.arguments.clone()))
                .into_iter()
                .map(named)
                .collect(),
            "context" => {
                let contexts = found.iter().filter_map(|(at, it)| {
                    let name = it.specified_argument_by_name("name")?.as_str()?;
                    // Contexts of different subgraphs are different, even if they have one name.
                    let value = Value::from(format!("{}__{name}", self.subgraphs[*at].name));
                    Some(vec![argument(name!("name"), value)])
                });
                distinct(contexts).into_iter().map(named).collect()
            }
            "requiresScopes" => vec![named(vec![both(name!("scopes"), found)])],
            "policy" => vec![named(vec![both(name!("policies"), found)])],
            _ => vec![named(self.greatest(coordinate, kept, found))],
        }
    }

    /// Returns a directive that is applied once; where arguments differ, the most frequent.
    fn most_frequent(
        &mut self,
        coordinate: &str,
        kept: &str,
        found: &[(usize, &Node<Directive>)],
    ) -> Option<Node<Directive>> {
        let (_, first) = found.first()?;
        if found.iter().all(|(_, it)| it.arguments == first.arguments) {
            return Some((*first).clone());
        }
        let count = |arguments: &[Node<Argument>]| {
            found
                .iter()
                .filter(|(_, it)| it.arguments == arguments)
                .count()
        };
        let (at, best) = found
            .iter()
            .rev()
            .max_by_key(|(_, it)| count(&it.arguments))?;
        let from = &self.subgraphs[*at].name;
        let places = found
            .iter()
            .map(|(at, it)| self.place(*at, it.location()))
            .collect();
        let message = format!(
            "the arguments of `@{kept}` on `{coordinate}` differ; those of `{from}` are kept"
        );
        self.hint(
            HintCode::INCONSISTENT_NON_REPEATABLE_DIRECTIVE_ARGUMENTS,
            coordinate,
            places,
            message,
        );
        Some((*best).clone())
    }

    /// Merges the arguments of `@cost` and `@listSize`: the greatest numbers, and all names, so
    /// that no request is estimated below what the most expensive subgraph makes of it.
    fn greatest(
        &mut self,
        coordinate: &str,
        kept: &str,
        found: &[(usize, &Node<Directive>)],
    ) -> Vec<Node<Argument>> {
        let mut merged: Vec<Node<Argument>> = Vec::new();
        for given in found.iter().flat_map(|(_, it)| &it.arguments) {
            match merged.iter_mut().find(|known| known.name == given.name) {
                None => merged.push(given.clone()),
                Some(known) => {
                    let value = greater(&known.value, &given.value);
                    known.make_mut().value = value;
                }
            }
        }
        let differs = found
            .iter()
            .any(|(_, it)| it.arguments != found[0].1.arguments);
        if differs {
            let places = found
                .iter()
                .map(|(at, it)| self.place(*at, it.location()))
                .collect();
            let message =
                format!("the arguments of `@{kept}` on `{coordinate}` differ, and are merged");
            self.hint(
                HintCode::MERGED_NON_REPEATABLE_DIRECTIVE_ARGUMENTS,
                coordinate,
                places,
                message,
            );
        }
        merged
    }

    /// Merges the definitions of executable directives: those that all subgraphs have, since
    /// gateways may pass them on to any of them.
    pub(super) fn executable_directives(&mut self) -> Vec<Node<DirectiveDefinition>> {
        let mut by_name: IndexMap<&Name, Vec<(usize, &Node<DirectiveDefinition>)>> =
            IndexMap::default();
        for (at, subgraph) in self.subgraphs.iter().enumerate() {
            for (name, definition) in &subgraph.schema.directive_definitions {
                let is_known = definition.is_built_in()
                    || name.starts_with("federation__")
                    || name == "oneOf"
                    || self.composed.contains_key(name);
                if !is_known && definition.locations.iter().any(|it| is_executable(*it)) {
                    by_name.entry(name).or_default().push((at, definition));
                }
            }
        }
        let merged = by_name
            .into_iter()
            .filter_map(|(name, found)| self.executable_directive(name, &found));
        merged.collect()
    }

    fn executable_directive(
        &mut self,
        name: &Name,
        found: &[(usize, &Node<DirectiveDefinition>)],
    ) -> Option<Node<DirectiveDefinition>> {
        let coordinate = format!("@{name}");
        let places = self.definitions(found);
        let missing: Vec<_> = (0..self.subgraphs.len())
            .filter(|at| found.iter().all(|(other, _)| other != at))
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "`@{name}` is left out, since it is missing in {}",
                self.named(missing)
            );
            let code = HintCode::INCONSISTENT_EXECUTABLE_DIRECTIVE_PRESENCE;
            self.hint(code, coordinate, places, message);
            return None;
        }
        let locations = self.common_locations(&coordinate, found)?;
        let repeatable = found.iter().all(|(_, it)| it.repeatable);
        if found.iter().any(|(_, it)| it.repeatable != repeatable) {
            let (with, without): (Vec<_>, Vec<_>) = found.iter().partition(|(_, it)| it.repeatable);
            let message = format!(
                "`@{name}` is repeatable in {}, and not in {}: it is not in the merged schema",
                self.named(with.iter().map(|(at, _)| *at)),
                self.named(without.iter().map(|(at, _)| *at)),
            );
            let code = HintCode::INCONSISTENT_EXECUTABLE_DIRECTIVE_REPEATABLE;
            self.hint(code, coordinate.as_str(), places, message);
        }
        let lists: Vec<_> = found
            .iter()
            .map(|(at, it)| (*at, it.arguments.as_slice()))
            .collect();
        let arguments = self.merge_arguments(&coordinate, &lists);
        let texts: Vec<_> = found
            .iter()
            .map(|(at, it)| (*at, it.description.as_ref()))
            .collect();
        let description = self.description(&coordinate, &texts);
        Some(Node::new(DirectiveDefinition {
            description,
            name: name.clone(),
            arguments,
            repeatable,
            locations,
        }))
    }

    /// Returns where subgraphs define a directive.
    fn definitions(&self, found: &[(usize, &Node<DirectiveDefinition>)]) -> Vec<Place> {
        let places = found
            .iter()
            .map(|(at, it)| self.place(*at, it.name.location()));
        places.collect()
    }

    /// Returns the locations of an executable directive that all subgraphs know; `None` if there are none.
    fn common_locations(
        &mut self,
        coordinate: &str,
        found: &[(usize, &Node<DirectiveDefinition>)],
    ) -> Option<Vec<DirectiveLocation>> {
        let of = |definition: &DirectiveDefinition| -> BTreeSet<&'static str> {
            let locations = definition.locations.iter().filter(|it| is_executable(**it));
            locations.map(|it| it.name()).collect()
        };
        let sets: Vec<_> = found.iter().map(|(_, it)| of(it)).collect();
        let is_common = |location: &&DirectiveLocation| {
            sets.iter().all(|known| known.contains(location.name()))
        };
        let locations: Vec<_> = found[0]
            .1
            .locations
            .iter()
            .filter(is_common)
            .copied()
            .collect();
        if locations.is_empty() {
            let message = format!(
                "`{coordinate}` is left out, since no location of it is common to all subgraphs"
            );
            let code = HintCode::NO_EXECUTABLE_DIRECTIVE_INTERSECTION;
            self.hint(code, coordinate, self.definitions(found), message);
            return None;
        }
        if sets.iter().any(|known| *known != sets[0]) {
            let message = format!(
                "the locations of `{coordinate}` differ; those that all subgraphs know are kept"
            );
            let code = HintCode::INCONSISTENT_EXECUTABLE_DIRECTIVE_LOCATIONS;
            self.hint(code, coordinate, self.definitions(found), message);
        }
        Some(locations)
    }
}

/// Returns what a directive is called where it is merged, if it is.
fn kept(name: &str) -> Option<&'static str> {
    const BUILT_IN: [&str; 3] = ["deprecated", "specifiedBy", "oneOf"];
    if let Some(found) = BUILT_IN.iter().find(|known| **known == name) {
        return Some(found);
    }
    let canonical = name.strip_prefix("federation__")?;
    MERGED.iter().find(|known| **known == canonical).copied()
}

/// Returns the name of a directive of fields that is merged.
pub(super) fn merged(name: &str) -> Option<&'static str> {
    kept(name).filter(|name| !["context", "cacheTag", "interfaceObject"].contains(name))
}

fn is_executable(location: DirectiveLocation) -> bool {
    use DirectiveLocation as L;
    matches!(
        location,
        L::Query
            | L::Mutation
            | L::Subscription
            | L::Field
            | L::FragmentDefinition
            | L::FragmentSpread
            | L::InlineFragment
            | L::VariableDefinition
    )
}

fn distinct(all: impl Iterator<Item = Vec<Node<Argument>>>) -> Vec<Vec<Node<Argument>>> {
    let mut distinct: Vec<Vec<Node<Argument>>> = Vec::new();
    for arguments in all {
        if !distinct.contains(&arguments) {
            distinct.push(arguments);
        }
    }
    distinct
}

/// Returns what requests must have to satisfy all of some requirements: the outer lists are
/// alternatives, the inner ones hold together (docs/federation.md, "Authorization").
pub(super) fn both(name: Name, found: &[(usize, &Node<Directive>)]) -> Node<Argument> {
    let mut all: Option<BTreeSet<BTreeSet<String>>> = None;
    for (_, directive) in found {
        let value = directive
            .specified_argument_by_name(&name)
            .and_then(|value| value.as_list());
        let of_list = |list: &Node<Value>| -> BTreeSet<String> {
            let items = list.as_list().into_iter().flatten();
            items
                .filter_map(|item: &Node<Value>| item.as_str().map(str::to_owned))
                .collect()
        };
        let given: BTreeSet<BTreeSet<String>> = value.into_iter().flatten().map(of_list).collect();
        all = Some(match all {
            None => given,
            Some(known) => known
                .iter()
                .flat_map(|one| {
                    given
                        .iter()
                        .map(move |other| one.union(other).cloned().collect())
                })
                .collect(),
        });
    }
    let text = |text: String| Node::new(Value::from(text));
    let lists = all
        .unwrap_or_default()
        .into_iter()
        .map(|list| Node::new(Value::List(list.into_iter().map(text).collect())));
    argument(name, Value::List(lists.collect()))
}

/// Returns the greater of two numbers, the union of two lists, and otherwise the first value.
fn greater(one: &Node<Value>, other: &Node<Value>) -> Node<Value> {
    match (one.as_ref(), other.as_ref()) {
        (Value::List(list), Value::List(more)) => {
            let mut list = list.clone();
            let new = more
                .iter()
                .filter(|item| !list.iter().any(|known| is_same_value(known, item)));
            let new: Vec<_> = new.cloned().collect();
            list.extend(new);
            Node::new(Value::List(list))
        }
        _ if one.to_f64() < other.to_f64() => other.clone(),
        (Value::Boolean(false), Value::Boolean(true)) => other.clone(),
        _ => one.clone(),
    }
}
