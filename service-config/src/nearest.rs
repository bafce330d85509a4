//! The known name that a misspelt one probably stands for.

use strsim::normalized_damerau_levenshtein as likeness;

use crate::catalogue::Catalogue;
use crate::names::{normalized, segments};

/// Likeness from which on a name is suggested for one that can only be a property.
const LIKE: f64 = 0.6;
/// Likeness of what stands behind a family from which on a variable is taken for one of the family. Families such
/// as `HTTP_` are those of others too: `HTTP_PROXY`.
const LIKE_BELOW_FAMILY: f64 = 0.75;
/// Likeness of a whole name from which on a variable of another family is taken for a property, and its length.
const LIKE_AS_A_WHOLE: (f64, usize) = (0.85, 10);

impl<S> Catalogue<S> {
    /// Returns the known name of a property that is most similar to `name`, if one is similar enough.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<String> {
        let wanted = normalized(name);
        best(self.known(name).filter_map(|key| {
            let like = likeness(&normalized(&key), &wanted);
            (like > LIKE).then_some((like, key))
        }))
    }

    /// Returns the known name that a variable of the environment is probably meant to have, whoever may use its
    /// family.
    pub(crate) fn nearest_in_environment(&self, name: &str) -> Option<String> {
        let wanted = segments(name);
        let properties = self.known(name).filter_map(|key| {
            let like = likeness_in_environment(&wanted, &segments(&key))?;
            Some((like, key))
        });
        // They have no family.
        let variables = self.variables.iter().filter_map(|variable| {
            let like = likeness(&segments(variable).concat(), &wanted.concat());
            (like > LIKE_AS_A_WHOLE.0).then(|| (like, (*variable).to_owned()))
        });
        best(properties.chain(variables))
    }

    /// Returns all names that properties can be given, those of a subgraph with the number that `name` has.
    fn known<'k>(&'k self, name: &'k str) -> impl Iterator<Item = String> + 'k {
        let properties = self.properties.iter().map(|property| property.key);
        let aliases = self.aliases.iter().map(|alias| alias.name);
        let planned = self.planned.iter().filter(|planned| !planned.is_family());
        let known = properties
            .chain(aliases)
            .chain(planned.map(|planned| planned.name));
        let numbered = self.numbered.iter().flat_map(move |numbered| {
            let family = segments(numbered.family);
            let own = segments(name);
            let is_below = own.starts_with(&family);
            let number = own.get(family.len()).filter(|_| is_below);
            let number = number.and_then(|number| number.parse::<u32>().ok());
            number.into_iter().flat_map(move |number| {
                let parts = numbered.parts.iter();
                parts.map(move |part| format!("{}{number}{}", numbered.family, part.end))
            })
        });
        known.map(str::to_owned).chain(numbered)
    }
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
