//! The combinations of operators, operands and places that a full run must hold.

use std::fmt;

use soml_core::datatype::Scalar;

/// What an operator of a filter compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Operand {
    Object,
    /// Key `id` of an object.
    Id,
    /// Key `type` of an object.
    Type,
    /// Key `name` of an object.
    Name,
    Scalar(Scalar),
    Enum,
    Literal,
    /// Key `value` of a literal.
    LiteralText,
    /// Key `type` of a literal.
    LiteralType,
}

/// Where a condition stands: in the `where` of a root field, reached through so many
/// object-valued properties, or anywhere in that of a field below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FilterDepth {
    Root,
    AfterOne,
    AfterTwo,
    Nested,
}

impl FilterDepth {
    const ALL: [FilterDepth; 4] = [
        FilterDepth::Root,
        FilterDepth::AfterOne,
        FilterDepth::AfterTwo,
        FilterDepth::Nested,
    ];

    /// The place behind one more object-valued property; `None` when nothing is counted there.
    pub(crate) fn next(self) -> Option<FilterDepth> {
        match self {
            FilterDepth::Root => Some(FilterDepth::AfterOne),
            FilterDepth::AfterOne => Some(FilterDepth::AfterTwo),
            FilterDepth::AfterTwo => None,
            FilterDepth::Nested => Some(FilterDepth::Nested),
        }
    }
}

/// A combination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) operand: Operand,
    /// The input is that of a property with several values.
    pub(super) multiple: bool,
    pub(super) operator: String,
    pub(super) place: FilterDepth,
}

const EQUALITY: &[&str] = &["EQ", "NEQ", "IN", "NIN"];
const ORDER: &[&str] = &["LT", "LTE", "GT", "GTE"];
const REGEX: &[&str] = &["RE", "IRE", "NRE", "NIRE"];
const OBJECT: &[&str] = &[
    "AND", "OR", "NOT", "ID", "id", "type", "name", "_if", "property", "{}",
];
const LITERAL: &[&str] = &["AND", "OR", "NOT", "value", "lang", "type", "ID", "{}"];
const EVERY: &[&str] = &["ALL", "ALL_EXISTS"];

/// The keys of the input of an operand; `{}` is the input without keys.
pub(crate) fn operators(operand: Operand, multiple: bool) -> Vec<&'static str> {
    let mut keys: Vec<&str> = match operand {
        Operand::Object => OBJECT.to_vec(),
        Operand::Literal => LITERAL.to_vec(),
        Operand::Id | Operand::Type | Operand::LiteralType | Operand::Scalar(Scalar::Iri) => {
            [EQUALITY, REGEX, &["AND", "OR", "{}"]].concat()
        }
        Operand::Name | Operand::LiteralText | Operand::Scalar(Scalar::String) => {
            [EQUALITY, ORDER, REGEX, &["AND", "OR", "{}"]].concat()
        }
        Operand::Scalar(_) | Operand::Enum => [EQUALITY, ORDER, &["AND", "OR", "{}"]].concat(),
    };
    if multiple {
        keys.extend(EVERY);
    }
    keys
}

/// Returns whether some input of the generated schema has such a condition at such a place.
fn is_possible(operand: Operand, multiple: bool, place: FilterDepth) -> bool {
    match operand {
        Operand::Id | Operand::Name | Operand::LiteralText | Operand::LiteralType => !multiple,
        Operand::Type => multiple,
        Operand::Object => multiple || place != FilterDepth::Root,
        Operand::Scalar(_) | Operand::Enum | Operand::Literal => true,
    }
}

/// Why combinations that one could think of cannot occur.
pub(super) fn impossible() -> [&'static str; 6] {
    [
        "object/single in the `where` of a root field before any property: lists take the multi form",
        "id, name, Literal.value, Literal.type with several values: their inputs are single",
        "type with a single value: an object may have several types",
        "LT, LTE, GT, GTE of IRIs (ID, id, type, Literal.type): `ID_Where` has no order",
        "RE, IRE, NRE, NIRE of anything but strings and IRIs: other inputs have no patterns",
        "NOT of scalars, ALL and ALL_EXISTS of single values: the inputs do not have them",
    ]
}

pub(super) fn required_cells() -> Vec<Cell> {
    let fixed = [
        Operand::Object,
        Operand::Id,
        Operand::Type,
        Operand::Name,
        Operand::Enum,
        Operand::Literal,
        Operand::LiteralText,
        Operand::LiteralType,
    ];
    let scalars = Scalar::ALL.iter().map(|scalar| Operand::Scalar(*scalar));
    let mut cells = Vec::new();
    for operand in fixed.into_iter().chain(scalars) {
        for (multiple, place) in [false, true]
            .into_iter()
            .flat_map(|m| FilterDepth::ALL.map(|place| (m, place)))
        {
            if !is_possible(operand, multiple, place) {
                continue;
            }
            cells.extend(
                operators(operand, multiple)
                    .into_iter()
                    .map(|operator| Cell {
                        operand,
                        multiple,
                        operator: operator.to_owned(),
                        place,
                    }),
            );
        }
    }
    cells
}

/// What must occur besides conditions.
pub(super) fn required_features() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |group: &str, members: &[&str]| {
        names.extend(members.iter().map(|member| format!("{group} {member}")));
    };
    let of_objects = &["where", "ID", "orderBy", "limit", "offset"];
    let of_values = &["where", "orderBy", "limit", "offset"];
    add("argument of a root field:", of_objects);
    add(
        "argument of a root field:",
        &["lang", "from", "includeInferred", "expandOwlSameAs"],
    );
    add("argument of a list of objects at level 1:", of_objects);
    add("argument of a list of objects at level 2:", of_objects);
    add("argument of a list of objects at level 1:", &["lang"]);
    add("argument of a list of scalars:", of_values);
    add("argument of a list of literals:", of_values);
    add("argument of a list of literals:", &["lang"]);
    add("argument of a single literal:", &["value", "lang"]);
    add("argument of a single object:", &["lang"]);
    add("argument of name:", &["lang"]);
    add(
        "argument of type:",
        &["where", "ID", "orderBy", "limit", "offset"],
    );
    add("argument of a count of a list:", &["where", "ID"]);
    add("argument of a count of a type:", &["where", "ID"]);
    add("argument as variable:", of_objects);
    add("argument as variable:", &["lang", "from"]);
    let order = &[
        "id",
        "name",
        "_typename",
        "scalar",
        "enum",
        "langString lang",
        "langString dir",
        "literal value",
        "literal lang",
        "literal type",
        "through an object",
        "through two objects",
        "ASC",
        "DESC",
    ];
    add("orderBy key:", order);
    let specs = &[
        "tag",
        "dialects",
        "exclusion",
        "preference",
        "ALL",
        "ALL,",
        "ALL:",
        "ANY",
        "NONE",
        "BROWSER",
    ];
    add("lang spec:", specs);
    let fragments = &[
        "inline without type",
        "inline on object",
        "inline on interface",
        "inline on Object",
        "inline on Nameable",
        "named",
    ];
    add("fragment:", fragments);
    add("directive:", &["skip", "include"]);
    let kinds = &["inverse", "symmetric", "typeCast", "rangeCheck"];
    add("field of a property:", kinds);
    add("condition on a property:", kinds);
    add("order by a property:", kinds);
    names
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operand::Object => "object",
            Operand::Id => "id",
            Operand::Type => "type",
            Operand::Name => "name",
            Operand::Scalar(scalar) => scalar.graphql_name(),
            Operand::Enum => "enum",
            Operand::Literal => "Literal",
            Operand::LiteralText => "Literal.value",
            Operand::LiteralType => "Literal.type",
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = if self.multiple { "multi" } else { "single" };
        let place = match self.place {
            FilterDepth::Root => "of a root field",
            FilterDepth::AfterOne => "after one object-valued property",
            FilterDepth::AfterTwo => "after two object-valued properties",
            FilterDepth::Nested => "of a nested field",
        };
        write!(f, "{} of {}/{number} {place}", self.operator, self.operand)
    }
}
