//! Translates `having` inputs to conditions on groups.

use graph_store::query::{Comparison, Constant};
use graphql_service::{ErrorCode, GraphqlError, Location};
use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term};
use soml_core::datatype::Scalar;

use super::build::AggregationBuilder;
use super::{AggregatedKind, Having, HavingTest, Measure, Measured};
use crate::code;
use crate::limits::EngineLimits;
use crate::plan::constant::{OperandError, constant};
use crate::plan::input::Input;

type Result<T> = std::result::Result<T, GraphqlError>;

/// Translates the `having` input of one argument.
pub(super) struct HavingBuilder<'h, 'b, 'p, 'a> {
    aggregation: &'h mut AggregationBuilder<'b, 'p, 'a>,
    location: Option<Location>,
    /// Path of keys to the current condition.
    keys: Vec<String>,
    conditions: usize,
}

impl<'h, 'b, 'p, 'a> HavingBuilder<'h, 'b, 'p, 'a> {
    pub(super) fn new(
        aggregation: &'h mut AggregationBuilder<'b, 'p, 'a>,
        location: Option<Location>,
    ) -> Self {
        HavingBuilder {
            aggregation,
            location,
            keys: vec!["having".to_owned()],
            conditions: 0,
        }
    }

    /// Translates a condition on groups; sibling keys must all hold.
    pub(super) fn having(&mut self, input: &Input) -> Result<Having> {
        self.each(input, |this, key, value| match key {
            "AND" => Ok(Having::All(this.list(value, Self::having)?)),
            "OR" => Ok(Having::Any(this.list(value, Self::having)?)),
            "NOT" => Ok(Having::Not(Box::new(this.having(value)?))),
            "count" => this.comparisons(Measured::Objects, Scalar::Int, value),
            name => {
                let values = this
                    .aggregation
                    .values_allowed("having", name)
                    .map_err(|error| error.at(this.location))?;
                this.measures(values, value)
            }
        })
    }

    fn measures(&mut self, values: usize, input: &Input) -> Result<Having> {
        self.each(input, |this, key, value| {
            let measure = Measure::from_name(key).ok_or_else(|| this.unknown(key))?;
            let kind: &AggregatedKind = &this.aggregation.values_at(values).kind;
            let scalar = kind.scalar_of(measure).ok_or_else(|| this.unknown(key))?;
            this.comparisons(Measured::Values(values, measure), scalar, value)
        })
    }

    fn comparisons(&mut self, measured: Measured, scalar: Scalar, input: &Input) -> Result<Having> {
        self.each(input, |this, key, value| {
            let comparison = match key {
                "EQ" => Comparison::Equal,
                "NEQ" => Comparison::NotEqual,
                "LT" => Comparison::Less,
                "LTE" => Comparison::LessOrEqual,
                "GT" => Comparison::Greater,
                "GTE" => Comparison::GreaterOrEqual,
                _ => {
                    let operands = this.list(value, |this, value| this.operand(scalar, value))?;
                    let test = match key {
                        "IN" => HavingTest::In(operands),
                        "NIN" => HavingTest::NotIn(operands),
                        _ => return Err(this.unknown(key)),
                    };
                    return Ok(Having::Test {
                        measured,
                        scalar,
                        test,
                    });
                }
            };
            let test = HavingTest::Compare(comparison, this.operand(scalar, value)?);
            Ok(Having::Test {
                measured,
                scalar,
                test,
            })
        })
    }

    fn operand(&self, scalar: Scalar, input: &Input) -> Result<Term> {
        // Sums may be out of range for stores, but they are compared here, with up to 38 digits
        // (docs/queries.md, "Aggregates").
        if scalar.integer_bounds() == Some((None, None))
            && let Some(value) = input.as_text().and_then(|text| text.parse::<i128>().ok())
        {
            return Ok(Literal::new_typed_literal(value.to_string(), xsd::INTEGER).into());
        }
        match constant(scalar, input) {
            Ok(Some(Constant::Literal(literal))) => Ok(literal.into()),
            Ok(Some(Constant::Iri(node))) => Ok(node.into()),
            Ok(None) => Err(self.unknown("ID")),
            Err(OperandError::Invalid(message)) => Err(self.error(code::SCALAR_INVALID, message)),
            Err(OperandError::Unsupported(message)) => {
                Err(self.error(code::STORE_UNSUPPORTED, message))
            }
        }
    }

    /// Translates the keys of an input object.
    fn each(
        &mut self,
        input: &Input,
        mut translate: impl FnMut(&mut Self, &str, &Input) -> Result<Having>,
    ) -> Result<Having> {
        let Input::Object(fields) = input else {
            let message = "a condition must be an input object";
            return Err(self.error(code::ARGUMENT_INVALID, message));
        };
        let limits = self.limits();
        if self.keys.len() > limits.where_depth {
            let error = self.error(code::LIMIT_WHERE_DEPTH, "the filter nests too deeply");
            return Err(error.with("limit", limits.where_depth));
        }
        let mut parts = Vec::with_capacity(fields.len());
        for (key, value) in fields {
            self.conditions += 1;
            if self.conditions > limits.where_conditions {
                let message = "the filter has too many conditions";
                let error = self.error(code::LIMIT_WHERE_CONDITIONS, message);
                return Err(error.with("limit", limits.where_conditions));
            }
            self.keys.push(key.clone());
            if *value == Input::Null {
                // As in `where` (docs/queries.md, "Filters").
                let message = format!("the operand of `{key}` is null; leave the key out instead");
                return Err(self.error(code::NULL_OPERAND, message));
            }
            parts.push(translate(self, key, value)?);
            self.keys.pop();
        }
        Ok(match <[Having; 1]>::try_from(parts) {
            Ok([single]) => single,
            Err(parts) => Having::All(parts),
        })
    }

    fn list<T>(
        &mut self,
        input: &Input,
        mut translate: impl FnMut(&mut Self, &Input) -> Result<T>,
    ) -> Result<Vec<T>> {
        let items = input.as_list();
        let limit = self.limits().list_length;
        if items.len() > limit {
            let error = self.error(code::LIMIT_LIST_LENGTH, "the list has too many elements");
            return Err(error.with("limit", limit));
        }
        items.iter().map(|item| translate(self, item)).collect()
    }

    fn limits(&self) -> &'a EngineLimits {
        self.aggregation.planner().input.limits
    }

    fn unknown(&self, key: &str) -> GraphqlError {
        self.error(code::ARGUMENT_INVALID, format!("unknown key `{key}`"))
    }

    fn error(&self, code: ErrorCode, message: impl Into<String>) -> GraphqlError {
        GraphqlError::new(code, message)
            .at(self.location)
            .with("argumentPath", self.keys.join("."))
    }
}
