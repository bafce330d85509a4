//! The known name that a misspelt one probably stands for.

use strsim::normalized_damerau_levenshtein as likeness;

use super::contract::{ALIASES, PLANNED};
use super::environment::{COMMAND_VARIABLES, segments};
use super::subgraphs::SUBGRAPH_PROPERTIES;
use super::table::{PROPERTIES, normalized};

/// Likeness from which on a name is suggested for one that can only be a property.
const LIKE: f64 = 0.6;
/// Likeness of what stands behind a family from which on a variable is taken for one of the family. Families such
/// as `HTTP_` are those of others too: `HTTP_PROXY`.
const LIKE_BELOW_FAMILY: f64 = 0.75;
/// Likeness of a whole name from which on a variable of another family is taken for a property, and its length.
const LIKE_AS_A_WHOLE: (f64, usize) = (0.85, 10);

/// Returns the known name of a property that is most similar to `name`, if one is similar enough.
pub(crate) fn nearest(name: &str) -> Option<String> {
    let wanted = normalized(name);
    best(known(name).filter_map(|key| {
        let like = likeness(&normalized(&key), &wanted);
        (like > LIKE).then_some((like, key))
    }))
}

/// Returns the known name that a variable of the environment is probably meant to have, whoever may use its
/// family.
pub(super) fn nearest_in_environment(name: &str) -> Option<String> {
    let wanted = segments(name);
    let properties = known(name).filter_map(|key| {
        let like = likeness_in_environment(&wanted, &segments(&key))?;
        Some((like, key))
    });
    // They have no family.
    let variables = COMMAND_VARIABLES.iter().filter_map(|variable| {
        let like = likeness(&segments(variable).concat(), &wanted.concat());
        (like > LIKE_AS_A_WHOLE.0).then(|| (like, (*variable).to_owned()))
    });
    best(properties.chain(variables))
}

fn best(candidates: impl Iterator<Item = (f64, String)>) -> Option<String> {
    let best = candidates.max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, key)| key)
}

fn likeness_in_environment(name: &[String], key: &[String]) -> Option<f64> {
    let pairs = name.iter().zip(key);
    let common = pairs.take_while(|(a, b)| a == b).count();
    // The last segment is what is named in the family.
    let common = common.min(name.len().min(key.len()).saturating_sub(1));
    let (name, key) = (name[common..].concat(), key[common..].concat());
    if common > 0 {
        return Some(likeness(&name, &key)).filter(|like| *like > LIKE_BELOW_FAMILY);
    }
    let (least, length) = LIKE_AS_A_WHOLE;
    // Nearly all names in an environment end here.
    if key.len() < length || name.len().abs_diff(key.len()) * 6 > key.len() {
        return None;
    }
    Some(likeness(&name, &key)).filter(|like| *like > least)
}

/// Returns all names that properties can be given, those of a subgraph with the number that `name` has.
fn known(name: &str) -> impl Iterator<Item = String> {
    let properties = PROPERTIES.iter().map(|property| property.key);
    let aliases = ALIASES.iter().map(|alias| alias.name);
    let planned = PLANNED.iter().filter(|planned| !planned.is_family());
    let known = properties.chain(aliases);
    let known = known.chain(planned.map(|planned| planned.name));
    let number = match segments(name).as_slice() {
        [graphql, service, number, ..] if graphql == "graphql" && service == "service" => {
            number.parse::<u32>().ok()
        }
        _ => None,
    };
    let subgraph = number.into_iter().flat_map(|number| {
        let ends = SUBGRAPH_PROPERTIES.iter();
        ends.map(move |(end, ..)| format!("graphql.service.{number}{end}"))
    });
    known.map(str::to_owned).chain(subgraph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_property_of_a_subgraph_is_told_with_its_number() {
        let near = |name| nearest(name);
        let expected = Some("graphql.service.12.health".to_owned());
        assert_eq!(near("graphql.service.12.helth"), expected);
        assert_eq!(near("GRAPHQL_SERVICE_12_HEALHT"), expected);
    }
}
