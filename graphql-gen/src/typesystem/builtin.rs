//! Types, scalars' descriptions and directives that every API has, whatever its schema.

use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::schema::{Component, EnumValueDefinition, ExtendedType, Value};
use apollo_compiler::{Name, Node, Schema, name};
use soml_core::datatype::Scalar;

use super::nodes::{
    FieldNode, Member, NewType, enum_type, enum_value, field, input, input_type,
    input_with_default, interface_type, list, list_of_required, named, object_type, required, text,
};
use super::origin::Origin;
use super::setting::Setting;
use super::table::TypeTable;
use super::targets::Targets;
use super::{directives, leaf};

/// The fields `id`, `type` and `name`, shared by all types that have them.
pub(super) struct CommonFields {
    pub(super) id: FieldNode,
    pub(super) ty: FieldNode,
    pub(super) name: FieldNode,
}

impl CommonFields {
    /// Builds the fields; `name_lang` is the default of the argument `lang` of `name`
    /// (docs/queries.md, "Language").
    pub(super) fn new(targets: &Targets, name_lang: &str) -> Self {
        let id = Name::new_static_unchecked(Scalar::Iri.graphql_name());
        let args = &targets.args;
        let type_args = vec![
            args.ids.clone(),
            args.scalar_order.clone(),
            args.limit.clone(),
            args.offset.clone(),
            targets.scalar(Scalar::Iri).where_arg.clone(),
        ];
        let lang = input_with_default(
            &name!("lang"),
            None,
            named(&name!("String")),
            Some(Value::String(name_lang.to_owned())),
        );
        let lang = args.shown(lang);
        CommonFields {
            // Blank nodes are not objects, so there is always an IRI (docs/queries.md, "Root
            // fields").
            id: field(&name!("id"), text("IRI"), Vec::new(), required(&id)),
            ty: field(&name!("type"), text("Type"), type_args, list(&id)),
            name: field(
                &name!("name"),
                text("Name"),
                vec![lang],
                named(&name!("String")),
            ),
        }
    }
}

/// Adds the interfaces of all objects, `Literal`, and the inputs that order and filter literals.
pub(super) fn add(table: &mut TypeTable<'_>, common: &CommonFields) {
    add_interfaces(table, common);
    let mut add = |ty| table.add(Origin::BUILT_IN, ty);
    add(literal());
    let description = text("Order fields of scalar arrays.");
    let directions = plain([name!("ASC"), name!("DESC")]);
    add(enum_type(name!("_OrderBy"), description, directions));
    add(lang_string_order());
    add(literal_order());
    add(literal_where(name!("Literal_Where"), "single"));
    add(literal_where(name!("Literal_Where_Multi"), "multi"));
}

/// Adds `Object` and `Nameable`.
fn add_interfaces(table: &mut TypeTable<'_>, common: &CommonFields) {
    let none = IndexSet::default;
    let mut add = |ty| table.add(Origin::BUILT_IN, ty);
    let object = [common.id.clone(), common.ty.clone()];
    add(interface_type(
        name!("Object"),
        text("Object"),
        none(),
        object,
    ));
    let description = text("Pref name of an object to represent it");
    let named_in = Origin::BUILT_IN.under(Setting::NameLanguage);
    let name = Member::of(named_in, common.name.clone());
    add(interface_type(
        name!("Nameable"),
        description,
        none(),
        [name],
    ));
}

/// `Literal`: a literal has a language tag or a datatype to show, never both
/// (<https://www.w3.org/TR/rdf11-concepts/#section-Graph-Literal>).
fn literal() -> NewType {
    let string = name!("String");
    let fields = [
        field(&name!("value"), text("Value"), Vec::new(), named(&string)),
        field(
            &name!("lang"),
            text("Language tag"),
            Vec::new(),
            named(&string),
        ),
        field(
            &name!("type"),
            text("Type"),
            Vec::new(),
            named(&name!("ID")),
        ),
    ];
    let description = text("Literal value, with optional datatype and language-tag (but not both)");
    let none = IndexSet::default();
    object_type(name!("Literal"), description, none, fields)
}

fn lang_string_order() -> NewType {
    let lang = text("Lang spec that resolves to a single value");
    let dir = text("Order of literal values");
    let order = named(&name!("_OrderBy"));
    let keys = [
        input(&name!("lang"), lang, named(&name!("String"))),
        input_with_default(&name!("dir"), dir, order, Some(Value::Enum(name!("ASC")))),
    ];
    input_type(name!("LangString_OrderBy"), None, keys)
}

fn literal_order() -> NewType {
    let order = || named(&name!("_OrderBy"));
    let ascending = Some(Value::Enum(name!("ASC")));
    let keys = [
        input_with_default(&name!("value"), None, order(), ascending),
        input(&name!("lang"), None, order()),
        input(&name!("type"), None, order()),
    ];
    input_type(name!("Literal_OrderBy"), None, keys)
}

fn literal_where(own: Name, number: &str) -> NewType {
    let literal = name!("Literal");
    let one = Node::new(named(&own));
    let each = Node::new(list_of_required(&own));
    let mut fields = vec![
        input(
            &name!("AND"),
            text("Conjunction of Literal comparisons"),
            each.clone(),
        ),
        input(
            &name!("OR"),
            text("Disjunction of Literal comparisons"),
            each,
        ),
        input(
            &name!("NOT"),
            text("Negation of Literal comparisons"),
            one.clone(),
        ),
        input(
            &name!("value"),
            text("value comparisons"),
            named(&name!("String_Where")),
        ),
        input(
            &name!("lang"),
            text("lang comparisons"),
            named(&name!("String")),
        ),
        input(
            &name!("type"),
            text("type comparisons"),
            named(&name!("ID_Where")),
        ),
        input(
            &name!("ID"),
            text("Check by id"),
            list_of_required(&name!("ID")),
        ),
    ];
    if number == "multi" {
        fields.extend(leaf::quantifiers(&literal, &one));
    }
    let description = text(&format!("Literal comparisons for {number}-value fields"));
    input_type(own, description, fields)
}

/// Enum values without descriptions.
pub(super) fn plain<const N: usize>(values: [Name; N]) -> [Component<EnumValueDefinition>; N] {
    values.map(|value| enum_value(&value, None))
}

/// Gives the scalars and directives of GraphQL itself the descriptions of this API, and adds the
/// directives that it declares.
pub(super) fn prepare(schema: &mut Schema) {
    for &scalar in Scalar::ALL {
        if let Some(ExtendedType::Scalar(ty)) = schema.types.get_mut(scalar.graphql_name()) {
            ty.make_mut().description = text(leaf::description(scalar));
        }
    }
    let mut standard = std::mem::take(&mut schema.directive_definitions);
    let mut take = |name: &str, description: &str, argument: Option<&str>| {
        let mut definition = standard
            .shift_remove(name)
            .expect("apollo-compiler defines the standard directives");
        let changed = definition.make_mut();
        changed.description = text(description);
        if let (Some(description), Some(argument)) = (argument, changed.arguments.first_mut()) {
            argument.make_mut().description = text(description);
        }
        definition
    };
    let include = "Directs the executor to include this field or fragment only when the `if` \
                   argument is true";
    let skip =
        "Directs the executor to skip this field or fragment when the `if`'argument is true.";
    let deprecated = "Marks the field, argument, input field or enum value as deprecated";
    let specified_by = "Exposes a URL that specifies the behaviour of this scalar.";
    let url = "The URL that specifies the behaviour of this scalar.";
    let ordered = [
        take("include", include, None),
        take("skip", skip, None),
        directives::descr(),
        directives::name_alias(),
        directives::constraints(),
        take(
            "deprecated",
            deprecated,
            Some("The reason for the deprecation"),
        ),
        take("specifiedBy", specified_by, Some(url)),
    ];
    let definitions: IndexMap<_, _> = ordered.into_iter().map(|d| (d.name.clone(), d)).collect();
    schema.directive_definitions = definitions;
    schema.directive_definitions.extend(standard);
}
