//! Indexes, their marks, and the aliases that lead to them.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::engine::{EngineError, IndexState, Mark, PhysicalName, Switch};

/// What a cluster says of its indexes, by name.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Described(BTreeMap<String, Description>);

#[derive(Deserialize)]
struct Description {
    #[serde(default)]
    aliases: HashMap<String, Json>,
    #[serde(default)]
    mappings: Mappings,
}

#[derive(Default, Deserialize)]
struct Mappings {
    /// Whatever stands there, by whomever.
    #[serde(default, rename = "_meta")]
    meta: Json,
}

impl Described {
    /// Returns the indexes in ascending order of their names.
    pub(super) fn states(self) -> Vec<IndexState> {
        let state = |(name, description): (String, Description)| {
            let aliases = description.aliases.into_keys();
            let mut aliases: Vec<_> = aliases
                .filter(|alias| *alias != write_alias(&name))
                .collect();
            aliases.sort_unstable();
            IndexState {
                name: PhysicalName::from_engine(name),
                aliases,
                mark: serde_json::from_value(description.mappings.meta).ok(),
            }
        };
        self.0.into_iter().map(state).collect()
    }
}

/// Returns the alias by which documents are written to an index. Unlike an index, an alias is never made by a write, so one
/// that comes after the index was deleted is refused.
pub(super) fn write_alias(index: &str) -> String {
    format!("{index}-write")
}

/// Returns whether a mark names someone else than the application.
fn is_foreign(mark: Option<&Mark>, application: &str) -> bool {
    mark.is_some_and(|mark| mark.application != application)
}

/// Works out the actions that move aliases, from where they lead now; there may be none to take.
pub(super) fn actions(
    switches: &[Switch],
    indexes: &[IndexState],
    application: &str,
) -> Result<Vec<Json>, EngineError> {
    let mut actions = Vec::new();
    for switch in switches {
        let alias = &switch.alias;
        let not_ours = |name: &PhysicalName| EngineError::NotOurs {
            name: name.to_string(),
        };
        if let Some(to) = &switch.to {
            let target = indexes.iter().find(|index| index.name == *to);
            let Some(target) = target else {
                let name = to.to_string();
                return Err(EngineError::NotFound { name });
            };
            if target
                .mark
                .as_ref()
                .is_none_or(|mark| mark.application != application)
            {
                return Err(not_ours(to));
            }
            if !target.aliases.contains(alias) {
                actions.push(json!({"add": {"index": to.as_str(), "alias": alias}}));
            }
        }
        for index in indexes {
            let name = index.name.as_str();
            if name == alias {
                if !switch.replaces_index || is_foreign(index.mark.as_ref(), application) {
                    return Err(not_ours(&index.name));
                }
                actions.push(json!({"remove_index": {"index": name}}));
            } else if index.aliases.contains(alias) && switch.to.as_ref() != Some(&index.name) {
                if is_foreign(index.mark.as_ref(), application) {
                    return Err(not_ours(&index.name));
                }
                switch.check_lease(&index.name)?;
                // Someone may have moved the alias since: then none of all this happens.
                actions
                    .push(json!({"remove": {"index": name, "alias": alias, "must_exist": true}}));
            }
        }
    }
    Ok(actions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> Vec<IndexState> {
        let mark = |application: &str| json!({"application": application, "schema": "s", "object": "O", "fingerprint": "f"});
        let described = json!({
            "svc-a-1": {"aliases": {"svc-a": {}}, "mappings": {"_meta": mark("ours")}},
            "svc-a-2": {"aliases": {}, "mappings": {"_meta": mark("ours")}},
            "svc-b": {"mappings": {}},
            "svc-c-1": {"aliases": {"svc-c": {}}, "mappings": {"_meta": mark("theirs")}},
            "svc-d": {"mappings": {"_meta": {"other": 1}}},
            "svc-e": {"mappings": {"_meta": mark("theirs")}},
        });
        let described: Described = serde_json::from_value(described).expect("descriptions");
        described.states()
    }

    fn switch(alias: &str, to: Option<&str>, replaces_index: bool) -> Switch {
        Switch {
            alias: alias.to_owned(),
            to: to.map(PhysicalName::from_engine),
            replaces_index,
            lease: 0,
        }
    }

    fn of(switch: Switch) -> Result<String, String> {
        let actions = actions(&[switch], &states(), "ours");
        let actions = actions.map(|actions| Json::from(actions).to_string());
        actions.map_err(|error| error.to_string())
    }

    #[test]
    fn an_alias_leads_to_one_index() {
        assert_eq!(
            of(switch("svc-a", Some("svc-a-2"), false)).as_deref(),
            Ok(
                r#"[{"add":{"index":"svc-a-2","alias":"svc-a"}},{"remove":{"index":"svc-a-1","alias":"svc-a","must_exist":true}}]"#
            )
        );
        assert_eq!(
            of(switch("svc-a", Some("svc-a-1"), false)).as_deref(),
            Ok("[]")
        );
        assert_eq!(
            of(switch("svc-a", None, false)).as_deref(),
            Ok(r#"[{"remove":{"index":"svc-a-1","alias":"svc-a","must_exist":true}}]"#)
        );
        assert_eq!(
            of(switch("svc-b", Some("svc-a-2"), true)).as_deref(),
            Ok(
                r#"[{"add":{"index":"svc-a-2","alias":"svc-b"}},{"remove_index":{"index":"svc-b"}}]"#
            )
        );
    }

    #[test]
    fn what_is_not_ours_stays() {
        for (refused, name) in [
            (switch("svc-b", Some("svc-a-2"), false), "svc-b"),
            (switch("svc-e", Some("svc-a-2"), true), "svc-e"),
            (switch("svc-c", Some("svc-a-2"), true), "svc-c-1"),
            (switch("svc-c", None, true), "svc-c-1"),
            (switch("svc-a", Some("svc-c-1"), true), "svc-c-1"),
            (switch("svc-a", Some("svc-d"), true), "svc-d"),
        ] {
            let message = format!("the index `{name}` is not owned by this application");
            assert_eq!(of(refused), Err(message));
        }
        let missing = of(switch("svc-a", Some("svc-a-3"), true));
        assert_eq!(missing, Err("there is no index `svc-a-3`".to_owned()));
    }
}
