//! Fields that move from one subgraph to another.

use std::collections::HashMap;

use graphql_service::suggestions::nearest;

use super::Merge;
use super::fields::FieldSource;
use crate::compose::code::{CompositionCode, HintCode};
use crate::compose::facts::text;
use crate::compose::finding::{CompositionHint, Place};

/// What has become of a field in one subgraph.
#[derive(Clone, Debug, Default)]
pub(super) struct Moved {
    /// Another subgraph resolves it, whatever labels are active.
    pub(super) is_overridden: bool,
    /// It is still needed there, for a key or a requirement.
    pub(super) is_used: bool,
    /// The subgraph that it is taken from.
    pub(super) from: Option<String>,
    /// The label while which it is active, in the source and in the target.
    pub(super) label: Option<String>,
}

impl Merge<'_> {
    /// Works out who resolves a field, by position in its sources.
    pub(super) fn moved(&mut self, coordinate: &str, sources: &[FieldSource<'_>]) -> Vec<Moved> {
        let mut moved = vec![Moved::default(); sources.len()];
        let by_name: HashMap<&str, usize> = sources
            .iter()
            .enumerate()
            .map(|(at, source)| (self.subgraphs[source.at].name.as_str(), at))
            .collect();
        for (target, source) in sources.iter().enumerate() {
            let Some(directive) = source.field.directives.get("federation__override") else {
                continue;
            };
            let Some(from) = text(directive, "from") else {
                continue;
            };
            let place = vec![self.place(source.at, directive.location())];
            if let Some((code, message)) = self.wrong_override(coordinate, source, from) {
                self.report(code, coordinate, place.clone(), message);
                // The field moves, however its label is written.
                if code != CompositionCode::OVERRIDE_LABEL_INVALID {
                    continue;
                }
            }
            let origin = by_name.get(from).copied();
            if !self.is_taken(coordinate, from, origin.map(|at| &sources[at]), &place) {
                continue;
            }
            let Some(origin) = origin else {
                continue;
            };
            moved[target].from = Some(from.to_owned());
            if sources[origin].is_external {
                let message =
                    format!("`{coordinate}` is external in `{from}`: `@override` can be removed");
                let code = HintCode::OVERRIDE_DIRECTIVE_CAN_BE_REMOVED;
                self.hint(code, coordinate, place, message);
            } else if let Some(label) = text(directive, "label") {
                moved[target].label = Some(label.to_owned());
                moved[origin].label = Some(label.to_owned());
                let message = format!(
                    "`{coordinate}` moves from `{from}` while the label `{label}` is active"
                );
                let code = HintCode::OVERRIDE_MIGRATION_IN_PROGRESS;
                self.hint(code, coordinate, place, message);
            } else {
                moved[origin].is_overridden = true;
                moved[origin].is_used = self.is_still_needed(coordinate, from, &sources[origin]);
            }
        }
        moved
    }

    /// Notes a field that another subgraph has taken over; returns whether its own subgraph still needs it, for a key,
    /// a requirement, a provision or an interface.
    fn is_still_needed(&mut self, coordinate: &str, from: &str, origin: &FieldSource<'_>) -> bool {
        let facts = &self.facts[origin.at];
        let (ty, field) = (origin.parent.name(), &origin.field.name);
        let is_used = facts.is_used(ty, field) || facts.is_key_field(ty, field);
        let message = if is_used {
            format!(
                "`{coordinate}` is overridden; `{from}` still needs it: it can be made `@external` there"
            )
        } else {
            format!("`{coordinate}` is overridden, and can be removed from `{from}`")
        };
        let place = vec![self.place(origin.at, origin.field.name.location())];
        let code = HintCode::OVERRIDDEN_FIELD_CAN_BE_REMOVED;
        self.hint(code, coordinate, place, message);
        is_used
    }

    /// Returns whether there is a field that an `@override` can take; otherwise says why not.
    fn is_taken(
        &mut self,
        coordinate: &str,
        from: &str,
        origin: Option<&FieldSource<'_>>,
        place: &[Place],
    ) -> bool {
        let place = place.to_vec();
        let Some(origin) = origin else {
            if self.has_subgraph(from) {
                let message = format!(
                    "`{coordinate}` is overridden from `{from}`, which does not have it: `@override` can be removed"
                );
                let code = HintCode::OVERRIDE_DIRECTIVE_CAN_BE_REMOVED;
                self.hint(code, coordinate, place, message);
            } else {
                self.hint_of_unknown_origin(coordinate, from, place);
            }
            return false;
        };
        let has = |name: &str| origin.field.directives.has(&format!("federation__{name}"));
        if has("override") {
            let message =
                format!("`{coordinate}` is overridden from `{from}`, which overrides it itself");
            self.report(
                CompositionCode::OVERRIDE_SOURCE_HAS_OVERRIDE,
                coordinate,
                place,
                message,
            );
            return false;
        }
        if let Some(other) = ["requires", "provides"].into_iter().find(|name| has(name)) {
            let message =
                format!("`{coordinate}` is overridden from `{from}`, where it has `@{other}`");
            let code = CompositionCode::OVERRIDE_COLLISION_WITH_ANOTHER_DIRECTIVE;
            self.report(code, coordinate, place, message);
            return false;
        }
        true
    }

    pub(super) fn has_subgraph(&self, name: &str) -> bool {
        self.subgraphs.iter().any(|subgraph| subgraph.name == name)
    }

    /// Returns the name of the subgraph that an unknown one was probably meant to be.
    pub(super) fn meant_subgraph(&self, name: &str) -> Option<&str> {
        let names = self.subgraphs.iter().map(|subgraph| subgraph.name.as_str());
        nearest(name, names)
    }

    fn hint_of_unknown_origin(&mut self, coordinate: &str, from: &str, place: Vec<Place>) {
        let message = format!("`{coordinate}` is overridden from `{from}`, which does not exist");
        let code = HintCode::FROM_SUBGRAPH_DOES_NOT_EXIST;
        let hint = CompositionHint::new(code, coordinate, place, message);
        let hint = match self.meant_subgraph(from) {
            Some(name) => hint.help(format!("did you mean `{name}`?")),
            None => hint,
        };
        self.hints.push(hint);
    }

    /// Returns what is wrong with an `@override` by itself.
    fn wrong_override(
        &self,
        coordinate: &str,
        source: &FieldSource<'_>,
        from: &str,
    ) -> Option<(CompositionCode, String)> {
        let directive = source.field.directives.get("federation__override")?;
        if source.parent.is_interface() {
            let message =
                format!("`@override` on `{coordinate}`: fields of interfaces cannot have it");
            return Some((CompositionCode::OVERRIDE_ON_INTERFACE, message));
        }
        if source
            .parent
            .directives()
            .has("federation__interfaceObject")
        {
            let message = format!(
                "`@override` on `{coordinate}`: fields of interface objects cannot have it"
            );
            let code = CompositionCode::OVERRIDE_COLLISION_WITH_ANOTHER_DIRECTIVE;
            return Some((code, message));
        }
        if self.subgraphs[source.at].name == from {
            let message = format!("`{coordinate}` is overridden from `{from}`, its own subgraph");
            return Some((CompositionCode::OVERRIDE_FROM_SELF_ERROR, message));
        }
        if source.field.directives.has("federation__external") {
            let message = format!("`{coordinate}` has both `@override` and `@external`");
            return Some((
                CompositionCode::OVERRIDE_COLLISION_WITH_ANOTHER_DIRECTIVE,
                message,
            ));
        }
        let label = text(directive, "label").filter(|label| !is_label(label))?;
        let message = format!(
            "the label `{label}` of `{coordinate}` is neither a name, such as `new-source:1.0`, nor `percent(n)` with n from 0 to 100"
        );
        Some((CompositionCode::OVERRIDE_LABEL_INVALID, message))
    }
}

/// Returns whether a label is a name, or a share such as `percent(12.5)`, which gateways decide at
/// random for each request.
fn is_label(label: &str) -> bool {
    if let Some(share) = label
        .strip_prefix("percent(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return is_share(share);
    }
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "_-:./".contains(c);
    label.starts_with(|c: char| c.is_ascii_alphabetic()) && label.chars().all(is_inner)
}

/// Returns whether a text is a number from 0 to 100 with at most eight digits behind the point.
fn is_share(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number =
        is_digits(whole) && whole.len() <= 3 && is_digits(fraction) && fraction.len() <= 8;
    is_number && text.parse::<f64>().is_ok_and(|share| share <= 100.0)
}
