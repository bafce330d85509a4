//! Bare values where a filter expects its operator: `name: "Tatooine"` for `name: {EQ: "Tatooine"}`
//! (docs/queries.md, "Filters"). Subgraphs of other services call it `_eq` or `equals`.

use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::{Name, Schema};

/// Names of the operator that compares with one value, in lower case and without underscores around them.
const OPERATORS: [&str; 2] = ["eq", "equals"];

/// The field that stands for the text of a literal (docs/queries.md, "Filters").
const VALUE: &str = "value";

/// Returns the fields between an input object and the operand of its operator for equality.
pub(crate) fn operator_path<'s>(
    schema: &'s Schema,
    input: &'s InputObjectType,
) -> Option<Vec<&'s Name>> {
    if let Some(operator) = operator(input) {
        return Some(vec![operator]);
    }
    let (value, of) = input.fields.get_key_value(VALUE)?;
    match schema.types.get(of.ty.inner_named_type())? {
        ExtendedType::InputObject(inner) => Some(vec![value, operator(inner)?]),
        _ => None,
    }
}

fn operator(input: &InputObjectType) -> Option<&Name> {
    let is_operator = |name: &&Name| {
        let name = name.trim_matches('_').to_lowercase();
        OPERATORS.contains(&name.as_str())
    };
    input.fields.keys().find(is_operator)
}

/// Writes an operand as the value of the last field of a path; `key` writes a field.
pub(crate) fn written_out(path: &[&Name], operand: &str, key: impl Fn(&Name) -> String) -> String {
    let mut text = operand.to_owned();
    for name in path.iter().rev() {
        text = format!("{{{}: {text}}}", key(name));
    }
    text
}
