//! The second phase: subgraphs become one schema, with join directives that say who has what.

mod arguments;
mod cache_tags;
mod composed;
mod directives;
mod enums;
mod fields;
mod inputs;
mod interfaces;
mod overrides;
mod sharing;
mod types;
mod unions;

use std::collections::{HashMap, HashSet};

use apollo_compiler::ast::Directive;
use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node};

use super::code::{CompositionCode, HintCode};
use super::facts::Facts;
use super::finding::{CompositionError, CompositionHint, Place};
use super::read::{Subgraph, is_own};
use super::{ComposeOptions, SharedRootFields};

pub(in crate::compose) use composed::ComposedDirective;
pub(in crate::compose) use types::is_root;

/// What several subgraphs say of one element, by their positions.
pub(super) type Sources<'m, T> = Vec<(usize, &'m T)>;

/// Returns the names of members of several types, each once, in the order in which they come.
fn distinct_names<'n>(names: impl Iterator<Item = &'n Name>) -> IndexSet<&'n Name> {
    names.collect()
}

/// The merged types, and what there is to say of them.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) types: IndexMap<Name, ExtendedType>,
    pub(super) directives: Vec<Node<apollo_compiler::ast::DirectiveDefinition>>,
    /// The directives of the schema itself.
    pub(super) applied: Vec<Node<Directive>>,
    /// The directives of federation that something has.
    pub(super) features: HashSet<&'static str>,
    /// Directives of the subgraphs' own.
    pub(super) composed: IndexMap<Name, ComposedDirective>,
    pub(super) hints: Vec<CompositionHint>,
}

/// Subgraphs that are being merged.
pub(super) struct Merge<'m> {
    pub(super) subgraphs: &'m [Subgraph],
    pub(super) facts: &'m [Facts],
    options: &'m ComposeOptions,
    relations: Relations,
    /// Interfaces that subgraphs have as objects.
    interface_objects: Vec<(usize, &'m ExtendedType)>,
    errors: Vec<CompositionError>,
    hints: Vec<CompositionHint>,
    features: HashSet<&'static str>,
    composed: IndexMap<Name, ComposedDirective>,
}

/// Which types are kinds of others, and where enums are used, in any subgraph.
#[derive(Debug, Default)]
struct Relations {
    /// Implementations of interfaces and members of unions.
    subtypes: HashMap<Name, HashSet<Name>>,
    /// Enums that are types of arguments or of input fields.
    inputs: HashSet<Name>,
    /// Enums that are types of fields.
    outputs: HashSet<Name>,
}

/// Merges subgraphs that are valid each on its own.
///
/// # Errors
/// With everything that cannot be merged.
pub(super) fn merge(
    subgraphs: &[Subgraph],
    facts: &[Facts],
    options: &ComposeOptions,
) -> Result<Merged, Vec<CompositionError>> {
    let mut merge = Merge {
        subgraphs,
        facts,
        options,
        relations: Relations::of(subgraphs),
        interface_objects: interface_objects(subgraphs),
        errors: Vec::new(),
        hints: Vec::new(),
        features: HashSet::new(),
        composed: IndexMap::default(),
    };
    merge.check_imports();
    // Directives under different names would not be merged with each other.
    if !merge.errors.is_empty() {
        return Err(merge.errors);
    }
    merge.composed = merge.composed_directives();
    merge.hint_of_upgrades();
    merge.hint_of_cache_tags();
    merge.check_interfaces();
    let mut sources: IndexMap<&Name, Sources<'_, ExtendedType>> = IndexMap::default();
    for (at, subgraph) in subgraphs.iter().enumerate() {
        for (name, ty) in &subgraph.schema.types {
            if is_own(ty) {
                sources.entry(name).or_default().push((at, ty));
            }
        }
    }
    let mut types = IndexMap::default();
    for (name, sources) in &sources {
        if let Some(ty) = merge.merge_type(name, sources) {
            types.insert((*name).clone(), ty);
        }
    }
    let has_queries = |subgraph: &Subgraph| {
        let query = subgraph.schema.get_object("Query");
        query.is_some_and(|query| query.fields.keys().any(|field| field != "_service"))
    };
    if !subgraphs.iter().any(has_queries) {
        let error = CompositionError::new(CompositionCode::NO_QUERIES, "no subgraph has a query");
        merge.errors.push(error);
    }
    merge.add_fields_of_interface_objects(&mut types);
    let directives = merge.executable_directives();
    let of_schema = |subgraph: &'_ Subgraph| -> Vec<Node<Directive>> {
        let directives = subgraph.schema.schema_definition.directives.iter();
        directives
            .filter(|it| it.name != "link")
            .map(|it| it.node.clone())
            .collect()
    };
    let applied: Vec<_> = subgraphs.iter().map(of_schema).collect();
    let applied = applied
        .iter()
        .enumerate()
        .map(|(at, list)| (at, list.iter().collect()))
        .collect();
    let applied = merge.merge_directives("schema", applied);
    if merge.errors.is_empty() {
        Ok(Merged {
            types,
            directives,
            applied,
            features: merge.features,
            composed: merge.composed,
            hints: merge.hints,
        })
    } else {
        Err(merge.errors)
    }
}

fn interface_objects(subgraphs: &[Subgraph]) -> Vec<(usize, &ExtendedType)> {
    let all = subgraphs.iter().enumerate().flat_map(|(at, subgraph)| {
        let types = subgraph.schema.types.values();
        types.map(move |ty| (at, ty))
    });
    all.filter(|(_, ty)| ty.directives().has("federation__interfaceObject"))
        .collect()
}

impl Relations {
    fn of(subgraphs: &[Subgraph]) -> Relations {
        let mut relations = Relations::default();
        for ty in subgraphs
            .iter()
            .flat_map(|subgraph| subgraph.schema.types.values())
        {
            if !is_own(ty) {
                continue;
            }
            let interfaces = match ty {
                ExtendedType::Object(object) => &object.implements_interfaces,
                ExtendedType::Interface(interface) => &interface.implements_interfaces,
                ExtendedType::Union(union) => {
                    let members = union.members.iter().map(|member| member.name.clone());
                    relations
                        .subtypes
                        .entry(union.name.clone())
                        .or_default()
                        .extend(members);
                    continue;
                }
                ExtendedType::InputObject(input) => {
                    let used = input
                        .fields
                        .values()
                        .map(|field| field.ty.inner_named_type().clone());
                    relations.inputs.extend(used);
                    continue;
                }
                _ => continue,
            };
            for interface in interfaces {
                let known = relations
                    .subtypes
                    .entry(interface.name.clone())
                    .or_default();
                known.insert(ty.name().clone());
            }
            for field in super::facts::fields(ty)
                .into_iter()
                .flatten()
                .map(|(_, field)| field)
            {
                relations
                    .outputs
                    .insert(field.ty.inner_named_type().clone());
                let used = field
                    .arguments
                    .iter()
                    .map(|it| it.ty.inner_named_type().clone());
                relations.inputs.extend(used);
            }
        }
        relations
    }

    /// Returns whether every value of one type is one of another.
    fn is_subtype(&self, one: &Name, other: &Name) -> bool {
        self.subtypes
            .get(other)
            .is_some_and(|known| known.contains(one))
    }
}

impl Merge<'_> {
    fn place(&self, at: usize, span: Option<SourceSpan>) -> Place {
        self.subgraphs[at].place(span)
    }

    /// Returns where a type is named, which is behind its description.
    fn place_of(&self, at: usize, ty: &ExtendedType) -> Place {
        self.place(at, ty.name().location().or_else(|| ty.location()))
    }

    /// Returns where subgraphs name a type.
    fn places_of(&self, sources: &Sources<'_, ExtendedType>) -> Vec<Place> {
        sources
            .iter()
            .map(|(at, ty)| self.place_of(*at, ty))
            .collect()
    }

    fn report(
        &mut self,
        code: CompositionCode,
        coordinate: impl Into<String>,
        places: Vec<Place>,
        message: impl Into<String>,
    ) {
        let error = CompositionError::new(code, message).about(coordinate);
        self.errors.push(error.at_all(places));
    }

    fn hint(
        &mut self,
        code: HintCode,
        coordinate: impl Into<String>,
        places: Vec<Place>,
        message: impl Into<String>,
    ) {
        let hint = CompositionHint::new(code, coordinate, places, message);
        self.hints.push(hint);
    }

    /// Reports an enum or an input object of which nothing is known to all subgraphs.
    fn report_empty(
        &mut self,
        code: CompositionCode,
        what: &str,
        name: &Name,
        sources: &Sources<'_, ExtendedType>,
    ) {
        let message = format!("no {what} `{name}` is known to all subgraphs that have it");
        self.report(code, name.as_str(), self.places_of(sources), message);
    }

    /// Returns the names of subgraphs for a message.
    fn named(&self, at: impl IntoIterator<Item = usize>) -> String {
        let names = at
            .into_iter()
            .map(|at| format!("`{}`", self.subgraphs[at].name));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Notes features that ask for a later version of federation than their subgraph links.
    fn hint_of_upgrades(&mut self) {
        for subgraph in self.subgraphs {
            let links = &subgraph.links;
            let (Some(minor), Some((link, needed))) = (links.minor(), links.upgrade()) else {
                continue;
            };
            let message = format!(
                "`{}` links `{}`, which needs federation 2.{needed}, together with federation \
                 2.{minor}; it is composed as if it linked federation 2.{needed}",
                subgraph.name,
                link.versioned(),
            );
            let place = subgraph.place(link.directive.location());
            let code = HintCode::IMPLICITLY_UPGRADED_FEDERATION_VERSION;
            self.hint(code, format!("@{}", link.namespace), vec![place], message);
        }
    }

    /// A directive that is merged has one name in all subgraphs that apply it.
    fn check_imports(&mut self) {
        for canonical in directives::MERGED {
            let named: Vec<_> = self
                .subgraphs
                .iter()
                .filter(|subgraph| subgraph.applied.contains(canonical))
                .filter_map(|subgraph| Some((subgraph, subgraph.links.written(canonical)?)))
                .collect();
            let Some((_, first)) = named.first() else {
                continue;
            };
            if named.iter().all(|(_, name)| name == first) {
                continue;
            }
            let said: Vec<_> = named
                .iter()
                .map(|(subgraph, name)| format!("`@{name}` in `{}`", subgraph.name))
                .collect();
            let message = format!(
                "`@{canonical}` has different names in subgraphs: {}",
                said.join(", ")
            );
            let places = named.iter().map(|(subgraph, _)| {
                let link = subgraph.links.importing(canonical);
                link.map_or_else(
                    || subgraph.place_of_link(),
                    |link| subgraph.place(link.directive.location()),
                )
            });
            let places = places.collect();
            let code = CompositionCode::LINK_IMPORT_NAME_MISMATCH;
            self.report(code, format!("@{canonical}"), places, message);
        }
    }

    /// Returns the description that most subgraphs have; the first of several, so that the result
    /// does not depend on anything but the order of the subgraphs.
    fn description(
        &mut self,
        coordinate: &str,
        found: &[(usize, Option<&Node<str>>)],
    ) -> Option<Node<str>> {
        let texts: Vec<_> = found
            .iter()
            .filter_map(|(at, text)| Some((*at, (*text)?)))
            .collect();
        let (_, first) = texts.first()?;
        if texts
            .iter()
            .all(|(_, text)| text.as_str() == first.as_str())
        {
            return Some((*first).clone());
        }
        let count = |text: &str| {
            texts
                .iter()
                .filter(|(_, other)| other.as_str() == text)
                .count()
        };
        let (at, best) = texts.iter().rev().max_by_key(|(_, text)| count(text))?;
        let kept = &self.subgraphs[*at].name;
        let places = texts
            .iter()
            .map(|(at, text)| self.place(*at, text.location()))
            .collect();
        let message = format!("descriptions of `{coordinate}` differ; that of `{kept}` is kept");
        self.hint(
            HintCode::INCONSISTENT_DESCRIPTION,
            coordinate,
            places,
            message,
        );
        Some((*best).clone())
    }

    fn rejects_shared_root_fields(&self) -> bool {
        self.options.shared_root_fields == SharedRootFields::Reject
    }
}
