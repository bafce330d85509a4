//! Readers of options, with errors that name what they read.

use graphql_service::{ErrorCode, GraphqlError, Location};

use super::input::Input;
use super::operand::OperandError;
use crate::code;

/// Where a search stands in its document, for errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) location: Option<Location>,
}

impl Place {
    pub(super) fn error(self, code: ErrorCode, message: impl Into<String>) -> GraphqlError {
        GraphqlError::new(code, message).at(self.location)
    }

    /// Returns the error of an operand for a property.
    pub(super) fn operand(self, key: &str, input: &Input, error: &OperandError) -> GraphqlError {
        let shown: String = input
            .text()
            .unwrap_or("a list or an object")
            .chars()
            .take(80)
            .collect();
        match error {
            OperandError::Invalid(expected) => {
                let message = format!("`{key}` is compared with {expected}, not with `{shown}`");
                self.error(code::OPERAND_INVALID, message)
            }
            OperandError::DateFormat => {
                let message = format!(
                    "`{key}` is compared with a date such as `2020-12-31T23:59:59Z`, not with `{shown}`"
                );
                self.error(code::DATE_FORMAT, message)
            }
        }
    }

    /// Returns the only member of an object of which exactly one is given.
    pub(super) fn only<'v>(
        self,
        what: &str,
        input: &'v Input,
    ) -> Result<(&'v str, &'v Input), GraphqlError> {
        match input.members() {
            [(key, value)] => Ok((key, value)),
            [] => {
                let message = format!("{what} is empty; it takes exactly one member");
                Err(self.error(code::CLAUSE_INVALID, message))
            }
            [(first, _), (second, _), ..] => {
                let message =
                    format!("{what} has `{first}` and `{second}`; it takes exactly one member");
                Err(self.error(code::CLAUSE_INVALID, message))
            }
        }
    }

    /// Reads an option that is written in a language of its own, or is a number.
    pub(super) fn parsed<T>(self, options: &Input, key: &str) -> Result<Option<T>, GraphqlError>
    where
        T: std::str::FromStr,
        T::Err: std::fmt::Display,
    {
        let Some(text) = options.get(key).and_then(Input::text) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                let shown: String = text.chars().take(80).collect();
                let message = format!("`{shown}` is not a value of `{key}`: {error}");
                Err(self.error(code::OPTION_INVALID, message))
            }
        }
    }

    /// Reads a factor or a score: a finite number that is not negative, as OpenSearch demands of
    /// boosts.
    pub(super) fn factor(self, options: &Input, key: &str) -> Result<Option<f64>, GraphqlError> {
        let factor: Option<f64> = self.parsed(options, key)?;
        match factor {
            Some(factor) if !factor.is_finite() || factor.is_sign_negative() && factor != 0.0 => {
                let message = format!("`{key}` is {factor}, but must not be negative");
                Err(self.error(code::OPTION_INVALID, message))
            }
            factor => Ok(factor),
        }
    }

    pub(super) fn boost(self, options: &Input) -> Result<Option<f64>, GraphqlError> {
        self.factor(options, "boost")
    }
}

/// Reads a Boolean option.
pub(super) fn flag(options: &Input, key: &str) -> Option<bool> {
    match options.get(key) {
        Some(Input::Boolean(value)) => Some(*value),
        _ => None,
    }
}

/// Reads an option with named values; the schema lets no other through.
pub(super) fn choice<T: Copy>(options: &Input, key: &str, values: &[(&str, T)]) -> Option<T> {
    let given = options.get(key)?.text()?;
    let (_, value) = values.iter().find(|(name, _)| *name == given)?;
    Some(*value)
}
