//! `@composeDirective`: directives of the subgraphs' own that supergraphs keep.

use apollo_compiler::ast::DirectiveDefinition;
use apollo_compiler::collections::IndexMap;
use apollo_compiler::{Name, Node};

use super::Merge;
use crate::compose::code::{CompositionCode, HintCode};
use crate::compose::facts::text;
use crate::compose::finding::CompositionHint;
use crate::compose::read::{Link, LinkVersion};

/// A directive that is composed.
#[derive(Clone, Debug)]
pub(in crate::compose) struct ComposedDirective {
    /// The URL of its feature.
    pub(in crate::compose) url: String,
    /// What it is called in the feature, with its `@`.
    pub(in crate::compose) element: String,
    /// The version of the feature, the latest of all subgraphs.
    pub(in crate::compose) version: LinkVersion,
    pub(in crate::compose) definition: Node<DirectiveDefinition>,
}

/// The directives of federation that are composed without `@composeDirective`, under their own names and with no effect
/// beyond what supergraphs say.
const WITHOUT_ASKING: [&str; 6] = [
    "tag",
    "inaccessible",
    "authenticated",
    "requiresScopes",
    "policy",
    "context",
];

impl Merge<'_> {
    /// Finds what is to be composed.
    pub(super) fn composed_directives(&mut self) -> IndexMap<Name, ComposedDirective> {
        let before = self.errors.len();
        let composed = self.composed_by_name();
        if self.errors.len() == before {
            self.hint_of_other_names(&composed);
            self.hint_of_versions();
        }
        composed
    }

    fn composed_by_name(&mut self) -> IndexMap<Name, ComposedDirective> {
        let mut composed: IndexMap<Name, ComposedDirective> = IndexMap::default();
        for at in 0..self.subgraphs.len() {
            let subgraph = &self.subgraphs[at];
            let applied = subgraph
                .schema
                .schema_definition
                .directives
                .get_all("federation__composeDirective");
            let applied: Vec<_> = applied
                .map(|it| (text(it, "name").map(str::to_owned), it.location()))
                .collect();
            for (name, span) in applied {
                let found = self.composed_directive(at, name.as_deref());
                match found {
                    Ok(None) => {
                        let name = name.unwrap_or_default();
                        let place = vec![self.place(at, span)];
                        let message =
                            format!("`{name}` is composed without `@composeDirective` too");
                        let code = HintCode::DIRECTIVE_COMPOSITION_INFO;
                        let hint = CompositionHint::new(code, name, place, message);
                        self.hints.push(hint.help("remove `@composeDirective`"));
                    }
                    Ok(Some((name, directive))) => {
                        self.add_composed(&mut composed, name, directive)
                    }
                    Err(message) => {
                        let place = vec![self.place(at, span)];
                        let code = CompositionCode::DIRECTIVE_COMPOSITION_ERROR;
                        self.report(code, name.unwrap_or_default(), place, message);
                    }
                }
            }
        }
        composed
    }

    /// Reads one `@composeDirective`; `None` if the directive is composed anyway.
    fn composed_directive(
        &self,
        at: usize,
        name: Option<&str>,
    ) -> Result<Option<(Name, ComposedDirective)>, String> {
        let subgraph = &self.subgraphs[at];
        let Some(written) = name.filter(|name| !name.is_empty()) else {
            return Err(format!(
                "`@composeDirective` in `{}` names nothing",
                subgraph.name
            ));
        };
        let Some(bare) = written.strip_prefix('@') else {
            return Err(format!(
                "`{written}`, which `@composeDirective` in `{}` names, has no `@`",
                subgraph.name
            ));
        };
        if let Some(canonical) = subgraph.links.directives.get(bare) {
            return if WITHOUT_ASKING.contains(canonical) {
                Ok(None)
            } else {
                Err(format!(
                    "`{written}` is a directive of federation, of which the composer decides what becomes: remove `@composeDirective`"
                ))
            };
        }
        let definition = subgraph
            .schema
            .directive_definitions
            .get(bare)
            .ok_or_else(|| {
                format!(
                    "`{written}`, which `@composeDirective` names, is not defined in `{}`",
                    subgraph.name
                )
            })?;
        let (link, element) = feature_of(&subgraph.links.all, bare).ok_or_else(|| {
            format!(
                "`{written}` of `{}` belongs to no linked feature: add a `@link` that imports it",
                subgraph.name
            )
        })?;
        let directive = ComposedDirective {
            url: link.identity.clone(),
            element,
            version: link.version,
            definition: definition.clone(),
        };
        Ok(Some((Name::new_unchecked(bare), directive)))
    }

    /// Notes subgraphs that import a composed directive under another name, and do not compose it.
    fn hint_of_other_names(&mut self, composed: &IndexMap<Name, ComposedDirective>) {
        for (name, directive) in composed {
            let element = directive.element.trim_start_matches('@');
            let others = self.subgraphs.iter().filter_map(|subgraph| {
                let mut links = subgraph.links.all.iter();
                let link = links.find(|link| link.identity == directive.url)?;
                let alias = link.alias_of(element)?;
                let is_other = alias.strip_prefix('@') != Some(name);
                is_other.then(|| (alias, subgraph, link.directive.location()))
            });
            let others: Vec<_> = others.collect();
            if others.is_empty() {
                continue;
            }
            let said = others
                .iter()
                .map(|(alias, subgraph, _)| format!("`{alias}` in `{}`", subgraph.name));
            let message = format!(
                "`@{name}` is composed, but is called {}, where it is not",
                said.collect::<Vec<_>>().join(", ")
            );
            let places = others
                .iter()
                .map(|(_, subgraph, span)| subgraph.place(*span));
            let places = places.collect();
            let code = HintCode::DIRECTIVE_COMPOSITION_WARN;
            self.hint(code, format!("@{name}"), places, message);
        }
    }

    /// Notes features of the subgraphs' own that are linked in different major versions.
    fn hint_of_versions(&mut self) {
        let mut linked: IndexMap<&str, Vec<(usize, &Link)>> = IndexMap::default();
        for (at, subgraph) in self.subgraphs.iter().enumerate() {
            let links = subgraph.links.all.iter();
            for link in links.filter(|link| !link.is_specification()) {
                linked.entry(&link.identity).or_default().push((at, link));
            }
        }
        for (url, links) in linked {
            let first = links[0].1.version.major;
            if links.iter().all(|(_, link)| link.version.major == first) {
                continue;
            }
            let said = links
                .iter()
                .map(|(at, link)| format!("{} in `{}`", link.version, self.subgraphs[*at].name));
            let message = format!(
                "major versions of `{url}` differ: {}",
                said.collect::<Vec<_>>().join(", ")
            );
            let places = links
                .iter()
                .map(|(at, link)| self.place(*at, link.directive.location()))
                .collect();
            self.hint(HintCode::DIRECTIVE_COMPOSITION_INFO, url, places, message);
        }
    }

    fn add_composed(
        &mut self,
        composed: &mut IndexMap<Name, ComposedDirective>,
        name: Name,
        directive: ComposedDirective,
    ) {
        let same_feature = composed
            .iter()
            .find(|(_, known)| known.url == directive.url && known.element == directive.element);
        if let Some((other, _)) = same_feature.filter(|(other, _)| **other != name) {
            let message = format!(
                "`{}` of `{}` is called `@{other}` in one subgraph and `@{name}` in another",
                directive.element, directive.url
            );
            self.report(
                CompositionCode::DIRECTIVE_COMPOSITION_ERROR,
                format!("@{name}"),
                Vec::new(),
                message,
            );
            return;
        }
        match composed.get_mut(&name) {
            None => {
                composed.insert(name, directive);
            }
            Some(known) if known.url != directive.url => {
                let message = format!(
                    "`@{name}` is of `{}` in one subgraph and of `{}` in another",
                    known.url, directive.url
                );
                self.report(
                    CompositionCode::DIRECTIVE_COMPOSITION_ERROR,
                    format!("@{name}"),
                    Vec::new(),
                    message,
                );
            }
            // Minor versions are compatible, major ones are not
            // (<https://specs.apollo.dev/link/v1.0>).
            Some(known) if known.version.major != directive.version.major => {
                let message = format!(
                    "`@{name}` is of different major versions of `{}`",
                    known.url
                );
                self.report(
                    CompositionCode::DIRECTIVE_COMPOSITION_ERROR,
                    format!("@{name}"),
                    Vec::new(),
                    message,
                );
            }
            Some(known) if known.version < directive.version => *known = directive,
            Some(_) => {}
        }
    }
}

/// Finds the link that a directive comes from, and what it is called there.
fn feature_of<'l>(links: &'l [Link], bare: &str) -> Option<(&'l Link, String)> {
    links.iter().find_map(|link| {
        let imported = link
            .imports
            .iter()
            .find(|(_, alias)| alias.strip_prefix('@') == Some(bare));
        if let Some((element, _)) = imported {
            return Some((link, element.clone()));
        }
        let prefix = format!("{}__", link.namespace);
        let element = match bare.strip_prefix(&prefix) {
            Some(rest) => rest,
            None if bare == link.namespace => bare,
            None => return None,
        };
        Some((link, format!("@{element}")))
    })
}

impl ComposedDirective {
    /// Returns the URL of the feature with its version.
    pub(in crate::compose) fn versioned(&self) -> String {
        format!("{}/v{}", self.url, self.version)
    }
}
