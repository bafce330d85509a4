//! Values as keys: equal if the values are, and in their order as far as comparisons go by it.

use oxrdf::TermRef;
use oxsdatatypes::Decimal;
use sha2::{Digest, Sha256};
use soml_core::datatype::Scalar;

use crate::evaluate::{Value, operand, value};
use crate::query::{Comparison, Constant, Domain, Operator};
use crate::value::{ExactKey, Number, cast_ref, instant_of};

/// Longest key in bytes that is a value as it is.
const MAX_KEY: usize = 1_000;

/// Bytes of a longer one that are kept. What is no longer is in the right order beside all others.
const KEPT: usize = 900;

/// Stands for what is not a number, behind all numbers.
const NOT_A_NUMBER: &str = "9";

/// Stands for what is greater than every number.
const INFINITE: &str = "3";

/// Stands for what is less than every number.
const NEGATIVE_INFINITE: &str = "/";

/// Behind the keys of all numbers.
const NO_NUMBER: &str = "4";

/// Some keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Keys {
    /// One.
    One(String),
    /// Those between two, neither of which is meant unless its flag says so; `None` is no bound.
    Between(Option<(String, bool)>, Option<(String, bool)>),
}

impl Keys {
    /// Returns whether a key is one of them.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        let is_above =
            |(bound, meant): &(String, bool)| key > bound.as_str() || (*meant && key == bound);
        let is_below =
            |(bound, meant): &(String, bool)| key < bound.as_str() || (*meant && key == bound);
        match self {
            Keys::One(one) => one == key,
            Keys::Between(lower, upper) => {
                lower.as_ref().is_none_or(is_above) && upper.as_ref().is_none_or(is_below)
            }
        }
    }
}

/// Returns the key of a term that is compared in a domain; `None` if it is no value of the domain.
///
/// ```
/// use graph_store::facts::key;
/// use graph_store::query::Domain;
/// use oxrdf::Literal;
///
/// let of = |number: Literal| key(Domain::Number, number.as_ref());
/// assert_eq!(of(Literal::from(5)), of(Literal::from(5.0)));
/// assert!(of(Literal::from(5)) < of(Literal::from(10)));
/// ```
#[must_use]
pub fn key<'t>(domain: Domain, term: impl Into<TermRef<'t>>) -> Option<String> {
    let term = term.into();
    match domain {
        Domain::Cast(scalar) => of_value(&value(Domain::of(scalar), cast_ref(scalar, term)?)?),
        _ => of_value(&value(domain, term)?),
    }
}

/// Returns which keys pass a comparison, any of several; `None` where keys cannot tell.
#[must_use]
pub fn keys(domain: Domain, operator: &Operator) -> Option<Vec<Keys>> {
    let of = |constant: &Constant| of_value(&operand(domain, constant)?);
    Some(match operator {
        Operator::Compare(Comparison::Equal, constant) => {
            of(constant).map(Keys::One).into_iter().collect()
        }
        Operator::In(constants) => constants.iter().filter_map(of).map(Keys::One).collect(),
        Operator::Compare(Comparison::NotEqual, constant) => others(of(constant)),
        Operator::NotIn(constants) => others(constants.iter().filter_map(of)),
        Operator::Compare(comparison, constant) => {
            let bound = of(constant);
            let is_long = bound.as_ref().is_some_and(|key| key.len() > KEPT);
            if !is_ordered(domain) || is_long {
                return None;
            }
            bound
                .and_then(|key| beside(domain, *comparison, key))
                .into_iter()
                .collect()
        }
        Operator::Matches(..) => return None,
    })
}

/// Returns whether values of a domain compare as their keys do.
pub(super) fn is_ordered(domain: Domain) -> bool {
    match domain {
        Domain::Iri | Domain::Text | Domain::Lexical | Domain::Number => true,
        // Times with and without a zone are not compared.
        Domain::Typed(scalar) => scalar == Scalar::String,
        Domain::Cast(scalar) => is_ordered(Domain::of(scalar)),
    }
}

fn beside(domain: Domain, comparison: Comparison, key: String) -> Option<Keys> {
    let is_number = match domain {
        Domain::Cast(scalar) => scalar.is_numeric(),
        domain => domain == Domain::Number,
    };
    // What is not a number compares with none.
    if is_number && key == NOT_A_NUMBER {
        return None;
    }
    let end = is_number.then(|| (NO_NUMBER.to_owned(), false));
    Some(match comparison {
        Comparison::Less => Keys::Between(None, Some((key, false))),
        Comparison::LessOrEqual => Keys::Between(None, Some((key, true))),
        Comparison::Greater => Keys::Between(Some((key, false)), end),
        Comparison::GreaterOrEqual => Keys::Between(Some((key, true)), end),
        Comparison::Equal | Comparison::NotEqual => return None,
    })
}

/// Returns all keys but some.
fn others(keys: impl IntoIterator<Item = String>) -> Vec<Keys> {
    let mut keys: Vec<String> = keys.into_iter().filter(|key| key != NOT_A_NUMBER).collect();
    keys.sort_unstable();
    keys.dedup();
    let bound = |key: &String| Some((key.clone(), false));
    let lower = std::iter::once(None).chain(keys.iter().map(bound));
    let upper = keys.iter().map(bound).chain([None]);
    let between = lower.zip(upper);
    between
        .map(|(lower, upper)| Keys::Between(lower, upper))
        .collect()
}

fn of_value(value: &Value<'_>) -> Option<String> {
    let zoned = |has_zone: bool, instant: Decimal| {
        let zone = if has_zone { 'z' } else { 'l' };
        format!("{zone}{instant}")
    };
    Some(match value {
        Value::Text(text) => bounded(text),
        Value::Boolean(value) => value.to_string(),
        Value::Number(number) => of_number(number),
        Value::DateTime(time) => zoned(
            time.timezone_offset().is_some(),
            instant_of(time.to_be_bytes()),
        ),
        Value::Date(date) => zoned(
            date.timezone_offset().is_some(),
            instant_of(date.to_be_bytes()),
        ),
        Value::Time(time) => zoned(
            time.timezone_offset().is_some(),
            instant_of(time.to_be_bytes()),
        ),
        Value::Year(year) => zoned(
            year.timezone_offset().is_some(),
            instant_of(year.to_be_bytes()),
        ),
        Value::YearMonth(month) => zoned(
            month.timezone_offset().is_some(),
            instant_of(month.to_be_bytes()),
        ),
    })
}

fn of_number(number: &Number) -> String {
    if let Some(double) = number.as_double().filter(|double| !double.is_finite()) {
        let key = match () {
            () if double.is_nan() => NOT_A_NUMBER,
            () if double > 0.0 => INFINITE,
            () => NEGATIVE_INFINITE,
        };
        return key.to_owned();
    }
    let text = number.to_string();
    match ExactKey::parse(&text) {
        Some(key) => bounded(key.as_str()),
        None => bounded(&text),
    }
}

/// Returns a text as it is, or its beginning with a digest of the whole.
fn bounded(text: &str) -> String {
    if text.len() <= MAX_KEY {
        return text.to_owned();
    }
    let end = (0..=KEPT).rev().find(|end| text.is_char_boundary(*end));
    let kept = &text[..end.unwrap_or_default()];
    let digest: String = Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{kept}{digest}")
}

#[cfg(test)]
mod tests {
    use oxrdf::vocab::xsd;
    use oxrdf::{Literal, NamedNode, Term};
    use proptest::prelude::*;

    use super::*;
    use crate::evaluate::ValueMatcher;
    use crate::query::ValueTest;

    const DOMAINS: [Domain; 10] = [
        Domain::Iri,
        Domain::Text,
        Domain::Lexical,
        Domain::Number,
        Domain::Typed(Scalar::Boolean),
        Domain::Typed(Scalar::DateTime),
        Domain::Typed(Scalar::Date),
        Domain::Typed(Scalar::String),
        Domain::Cast(Scalar::Decimal),
        Domain::Cast(Scalar::String),
    ];

    fn literal() -> impl Strategy<Value = Literal> {
        let typed = |ty: oxrdf::NamedNodeRef<'static>| {
            move |text: String| Literal::new_typed_literal(text, ty)
        };
        let long = "[ab]{1,2}".prop_map(|end| "x".repeat(MAX_KEY) + &end);
        prop_oneof![
            "[ab]{0,2}|true|1|5".prop_map(Literal::new_simple_literal),
            long.prop_map(Literal::new_simple_literal),
            "[ab]{1,2}".prop_map(|text| Literal::new_language_tagged_literal_unchecked(text, "en")),
            "-?[0-9]{1,2}(\\.[0-9]{1,2})?".prop_map(typed(xsd::DECIMAL)),
            "-?[0-9]{1,2}".prop_map(typed(xsd::INTEGER)),
            "-?[0-9](\\.[05])?(E[0-2])?|INF|-INF|NaN".prop_map(typed(xsd::DOUBLE)),
            "true|false|1|0|no".prop_map(typed(xsd::BOOLEAN)),
            "2020-01-0[12]T0[01]:00:00(Z|\\+01:00)?".prop_map(typed(xsd::DATE_TIME)),
            "2020-01-0[12](Z)?".prop_map(typed(xsd::DATE)),
        ]
    }

    fn constant() -> impl Strategy<Value = Constant> {
        prop_oneof![
            1 => "urn:[ab]".prop_map(|iri| Constant::Iri(NamedNode::new_unchecked(iri))),
            5 => literal().prop_map(Constant::Literal),
        ]
    }

    fn term() -> impl Strategy<Value = Term> {
        prop_oneof![
            1 => "urn:[ab]".prop_map(|iri| NamedNode::new_unchecked(iri).into()),
            5 => literal().prop_map(Term::from),
        ]
    }

    fn operator() -> impl Strategy<Value = Operator> {
        let comparisons = prop::sample::select(vec![
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::Greater,
            Comparison::GreaterOrEqual,
        ]);
        let several = || prop::collection::vec(constant(), 0..3);
        prop_oneof![
            4 => (comparisons, constant()).prop_map(|(by, with)| Operator::Compare(by, with)),
            1 => several().prop_map(Operator::In),
            1 => several().prop_map(Operator::NotIn),
        ]
    }

    fn is_long(constant: &Constant) -> bool {
        match constant {
            Constant::Iri(iri) => iri.as_str().len() > KEPT,
            Constant::Literal(literal) => literal.value().len() > KEPT,
        }
    }

    /// Returns whether stores compare a constant in a domain: `where` makes no others.
    fn fits(domain: Domain, operator: &Operator) -> bool {
        let fits = |constant: &Constant| {
            match constant {
            Constant::Iri(_) => domain == Domain::Iri,
            Constant::Literal(literal) => operand(domain, constant).is_some_and(|value| match domain {
                Domain::Text | Domain::Lexical | Domain::Cast(Scalar::String) => {
                    literal.datatype() == xsd::STRING
                }
                _ => !matches!(value, Value::Number(number) if number.as_double().is_some_and(f64::is_nan)),
            }),
        }
        };
        match operator {
            Operator::Compare(_, constant) => fits(constant),
            Operator::In(constants) | Operator::NotIn(constants) => constants.iter().all(fits),
            Operator::Matches(..) => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            max_global_rejects: 1_000_000,
            ..ProptestConfig::with_cases(20_000)
        })]
        #[test]
        fn keys_pass_what_values_pass(
            domain in prop::sample::select(DOMAINS.to_vec()),
            term in term(),
            operator in operator(),
        ) {
            prop_assume!(fits(domain, &operator));
            let Some(keys) = keys(domain, &operator) else {
                let Operator::Compare(_, constant) = &operator else {
                    panic!("keys tell whether values are equal");
                };
                prop_assert!(!is_ordered(domain) || is_long(constant));
                return Ok(());
            };
            let test = ValueTest { domain, operator };
            let matcher = ValueMatcher::new(&test).expect("there is no regular expression");
            let passes = key(domain, term.as_ref()).is_some_and(|key| keys.iter().any(|keys| keys.has(&key)));
            prop_assert_eq!(passes, matcher.matches(&term), "{:?} {:?}", &term, &keys);
        }
    }
}
