//! Scalars and enumerations, each with the inputs that compare, filter and update its values.

use apollo_compiler::schema::{Type, Value};
use apollo_compiler::{Name, Node, name};
use soml_core::datatype::Scalar;
use soml_core::schema::{EnumId, EnumType, Schema};

use super::error::ProblemKind;
use super::nodes::{
    Argument, NewType, Text, enum_type, enum_value, input, input_type, input_with_default,
    list_of_required, named, scalar_type, text,
};
use super::origin::{Origin, Source};
use super::table::TypeTable;
use super::targets::{Target, Targets};

/// Which operators the values of a leaf type have.
#[derive(Clone, Copy)]
struct Operators {
    ordered: bool,
    regex: bool,
}

/// Adds all scalars, used or not, and the enumerations of the document.
///
/// Unused scalars have filters too, since clients may refer to these by name (docs/schema.md, "The
/// API").
pub(super) fn add(table: &mut TypeTable<'_>, soml: &Schema, targets: &Targets) {
    for (&scalar, target) in Scalar::ALL.iter().zip(targets.leaves()) {
        // Built-in scalars are not defined again
        // (<https://spec.graphql.org/September2025/#sec-Scalars>).
        if !is_built_in(scalar) {
            table.add(
                Origin::BUILT_IN,
                scalar_type(target.ty.clone(), text(description(scalar))),
            );
        }
        let regex = matches!(scalar, Scalar::String | Scalar::Iri);
        let operators = Operators {
            // Ids are not ordered in filters (docs/queries.md, "Filters").
            ordered: scalar != Scalar::Iri,
            regex,
        };
        add_inputs(table, Origin::BUILT_IN, target, operators);
    }
    for (position, ty) in soml.enums.iter().enumerate() {
        let target = targets.enum_at(position);
        let id = EnumId(u32::try_from(position).expect("enumerations are counted in 32 bits"));
        let origin = Origin::of(Source::Enum(id));
        let definition = enumeration(table, ty, target);
        table.add(origin, definition);
        add_inputs(
            table,
            origin,
            target,
            Operators {
                ordered: true,
                regex: false,
            },
        );
    }
}

fn enumeration(table: &mut TypeTable<'_>, ty: &EnumType, target: &Target) -> NewType {
    let mut values = Vec::with_capacity(ty.values.len());
    for value in &ty.values {
        // <https://spec.graphql.org/September2025/#EnumValue>
        if !Name::is_valid_syntax(&value.name)
            || matches!(value.name.as_str(), "true" | "false" | "null")
        {
            let message = format!(
                "value `{}` of `{}` is not a GraphQL enum value",
                value.name, ty.name
            );
            table.problems.push(
                ProblemKind::NameInvalid
                    .at(Some(ty.span), message)
                    .with_help(
                        "values are letters, digits and `_`, start with no digit, and are not \
                     `true`, `false` or `null`",
                    ),
            );
        }
        let label = value.label.as_deref().or(value.descr.as_deref());
        let description = label.map_or_else(|| title_case(&value.name), str::to_owned);
        values.push(enum_value(
            &Name::new_unchecked(&value.name),
            text(&description),
        ));
    }
    let description = ty.label.as_deref().or(ty.descr.as_deref()).and_then(text);
    enum_type(target.ty.clone(), description, values)
}

/// `COMPOSED_PROPERTY` becomes `Composed Property`.
fn title_case(name: &str) -> String {
    let mut title = String::with_capacity(name.len());
    for word in name.split('_').filter(|w| !w.is_empty()) {
        if !title.is_empty() {
            title.push(' ');
        }
        let mut letters = word.chars();
        title.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        title.extend(letters.flat_map(char::to_lowercase));
    }
    title
}

fn add_inputs(table: &mut TypeTable<'_>, origin: Origin, target: &Target, operators: Operators) {
    let ty = &target.ty;
    let shared = comparisons(ty, operators);
    for (own, number) in [
        (&target.where_single, "single"),
        (&target.where_multi, "multi"),
    ] {
        let own_name = own.inner_named_type();
        let each = Node::new(list_of_required(own_name));
        let mut fields = vec![
            input(
                &name!("AND"),
                describe("Conjunction of", ty, " comparisons"),
                each.clone(),
            ),
            input(
                &name!("OR"),
                describe("Disjunction of", ty, " comparisons"),
                each,
            ),
        ];
        fields.extend(shared.iter().cloned());
        if number == "multi" {
            fields.extend(quantifiers(ty, own));
        }
        let description = text(&format!("{ty} comparisons for {number}-value fields"));
        table.add(origin, input_type(own_name.clone(), description, fields));
    }
    table.add(origin, multi_value_input(ty, ty));
}

/// `ALL` and `ALL_EXISTS` of a multi-valued filter of type `own` (docs/queries.md, "Filters").
pub(super) fn quantifiers(ty: &Name, own: &Node<Type>) -> [Argument; 2] {
    [
        input(&name!("ALL"), describe("ForAll for", ty, ""), own.clone()),
        input(
            &name!("ALL_EXISTS"),
            describe("All and Exists for", ty, ""),
            own.clone(),
        ),
    ]
}

fn comparisons(ty: &Name, operators: Operators) -> Vec<Argument> {
    let one = Node::new(named(ty));
    let many = Node::new(list_of_required(ty));
    let pattern = Node::new(named(&name!("String")));
    let mut fields = vec![
        input(&name!("EQ"), describe("Equal to", ty, ""), one.clone()),
        input(&name!("NEQ"), describe("Not equal to", ty, ""), one.clone()),
    ];
    if operators.ordered {
        fields.extend([
            input(&name!("LT"), describe("Less than", ty, ""), one.clone()),
            input(
                &name!("LTE"),
                describe("Less than or equal to", ty, ""),
                one.clone(),
            ),
            input(&name!("GT"), describe("Greater than", ty, ""), one.clone()),
            input(
                &name!("GTE"),
                describe("Greater than or equal to", ty, ""),
                one,
            ),
        ]);
    }
    fields.extend([
        input(&name!("IN"), describe("In list of", ty, ""), many.clone()),
        input(&name!("NIN"), describe("Not in list of", ty, ""), many),
    ]);
    if operators.regex {
        fields.extend([
            input(&name!("RE"), text("Regex match"), pattern.clone()),
            input(
                &name!("IRE"),
                text("Case-insensitive regex match"),
                pattern.clone(),
            ),
            input(&name!("NRE"), text("Regex mismatch"), pattern.clone()),
            input(
                &name!("NIRE"),
                text("Case-insensitive regex mismatch"),
                pattern,
            ),
        ]);
    }
    fields
}

/// The input that changes the values of a multi-valued property (docs/writing.md, "Changing").
pub(super) fn multi_value_input(ty: &Name, element: &Name) -> NewType {
    let fields = [
        input(
            &name!("value"),
            text("Values to add to the affected property"),
            list_of_required(element),
        ),
        input(
            &name!("patch"),
            text("Replace values matching this property. Cannot be combined with replace"),
            named(element),
        ),
        input_with_default(
            &name!("replace"),
            text("Overwrite all values for this property. Defaults to false."),
            named(&name!("Boolean")),
            Some(Value::Boolean(false)),
        ),
    ];
    let description = text(&format!("Input for updating multi-value {ty} fields"));
    input_type(multi_value_name(ty), description, fields)
}

/// `T_Multi_Value_Input`.
pub(super) fn multi_value_name(ty: &Name) -> Name {
    Name::new_unchecked(&format!("{ty}_Multi_Value_Input"))
}

pub(super) fn describe(before: &str, ty: &Name, after: &str) -> Text {
    let mut description = String::with_capacity(before.len() + ty.len() + after.len() + 1);
    description.push_str(before);
    description.push(' ');
    description.push_str(ty);
    description.push_str(after);
    text(&description)
}

/// Returns whether GraphQL itself defines the scalar
/// (<https://spec.graphql.org/September2025/#sec-Scalars.Built-in-Scalars>).
pub(super) fn is_built_in(scalar: Scalar) -> bool {
    matches!(
        scalar,
        Scalar::Int | Scalar::Double | Scalar::String | Scalar::Boolean | Scalar::Iri
    )
}

/// The description that introspection shows for a scalar.
pub(super) fn description(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Int => "Built-in Int",
        Scalar::Double => "Built-in Float",
        Scalar::String => "Built-in String",
        Scalar::Boolean => "Built-in Boolean",
        Scalar::Iri => "Built-in ID",
        Scalar::Long => "Long type",
        Scalar::Short => "Short as Int",
        Scalar::Byte => "Byte as Int",
        Scalar::UnsignedLong => "Unsigned 64-bit integer",
        Scalar::UnsignedInt => "Unsigned 32-bit integer",
        Scalar::UnsignedShort => "Unsigned 16-bit integer",
        Scalar::UnsignedByte => "Unsigned 8-bit integer",
        Scalar::Decimal => "Decimal infinite-precision number",
        Scalar::Integer => "Integer, unlimited digits",
        Scalar::PositiveInteger => "Positive integer (>0), unlimited digits",
        Scalar::NonPositiveInteger => "Non-positive integer (<=0), unlimited digits",
        Scalar::NegativeInteger => "Negative integer (<0), unlimited digits",
        Scalar::NonNegativeInteger => "Non-negative integer (>=0), unlimited digits",
        Scalar::PositiveFloat => "An Float scalar that must be a positive value",
        Scalar::NonPositiveFloat => "An Float scalar that must be less than or equal to zero",
        Scalar::NegativeFloat => "An Float scalar that must be a negative value",
        Scalar::NonNegativeFloat => "An Float scalar that must be greater than or equal to zero",
        Scalar::DateTime => "An RFC-3339 compliant DateTime Scalar with an optional timezone.",
        Scalar::Date => "An RFC-3339 compliant Full Date Scalar",
        Scalar::Time => "An RFC-3339 compliant time scalar with an optional timezone.",
        Scalar::Year => "An RFC-3339 compliant Year Scalar",
        Scalar::YearMonth => "An RFC-3339 compliant Year Month Scalar",
    }
}
