//! The differences of two GraphQL schemas as clients see them.

use apollo_compiler::ast::{FieldDefinition, InputValueDefinition, OperationType, Type};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::{
    Component, DirectiveDefinition, EnumType, ExtendedType, InputObjectType,
};
use apollo_compiler::{Name, Node, Schema};

use super::change::Consequence;
use super::code::ChangeCode as Code;
use super::coordinate::Coordinate;

/// A difference, not yet put under its cause.
pub(super) struct Raw<'a> {
    pub(super) code: Code,
    pub(super) coordinate: Coordinate<'a>,
    pub(super) message: String,
}

impl Raw<'_> {
    pub(super) fn consequence(&self) -> Consequence {
        Consequence::new(self.code, self.coordinate.to_string(), self.message.clone())
    }
}

/// Compares two GraphQL schemas, whether SOML is behind them or not. Types and directives of
/// GraphQL itself, and the directives that are applied, are not looked at.
#[must_use]
pub fn compare(old: &Schema, new: &Schema) -> Vec<Consequence> {
    raw(old, new).iter().map(Raw::consequence).collect()
}

pub(super) fn raw<'a>(old: &'a Schema, new: &'a Schema) -> Vec<Raw<'a>> {
    let mut differences = Differences { found: Vec::new() };
    differences.roots(old, new);
    differences.types(old, new);
    differences.directives(old, new);
    differences.found
}

struct Differences<'a> {
    found: Vec<Raw<'a>>,
}

/// The codes of what can happen to an argument or an input field.
struct InputCodes {
    noun: &'static str,
    removed: Code,
    required: Code,
    added: Code,
    changed: Code,
    widened: Code,
    default: Code,
}

const ARGUMENT: InputCodes = InputCodes {
    noun: "argument",
    removed: Code::ArgumentRemoved,
    required: Code::RequiredArgumentAdded,
    added: Code::ArgumentAdded,
    changed: Code::ArgumentTypeChanged,
    widened: Code::ArgumentTypeWidened,
    default: Code::ArgumentDefaultChanged,
};

const INPUT_FIELD: InputCodes = InputCodes {
    noun: "input field",
    removed: Code::InputFieldRemoved,
    required: Code::RequiredInputFieldAdded,
    added: Code::InputFieldAdded,
    changed: Code::InputFieldTypeChanged,
    widened: Code::InputFieldTypeWidened,
    default: Code::InputFieldDefaultChanged,
};

/// The codes of what can happen to a type among those that another one names.
struct RelationCodes {
    noun: &'static str,
    removed: Code,
    added: Code,
}

const INTERFACE: RelationCodes = RelationCodes {
    noun: "an interface",
    removed: Code::InterfaceRemoved,
    added: Code::InterfaceAdded,
};

const MEMBER: RelationCodes = RelationCodes {
    noun: "a member",
    removed: Code::UnionMemberRemoved,
    added: Code::UnionMemberAdded,
};

impl<'a> Differences<'a> {
    fn add(&mut self, code: Code, coordinate: Coordinate<'a>, message: String) {
        self.found.push(Raw {
            code,
            coordinate,
            message,
        });
    }

    fn roots(&mut self, old: &'a Schema, new: &'a Schema) {
        for operation in [
            OperationType::Query,
            OperationType::Mutation,
            OperationType::Subscription,
        ] {
            if let Some(before) = old.root_operation(operation)
                && new.root_operation(operation) != Some(before)
            {
                let message = match new.root_operation(operation) {
                    Some(after) => format!("the {operation} type was `{before}` and is `{after}`"),
                    None => format!("there is no {operation} type any more"),
                };
                self.add(Code::RootTypeChanged, Coordinate::Schema, message);
            }
        }
    }

    fn types(&mut self, old: &'a Schema, new: &'a Schema) {
        for (name, before) in old.types.iter().filter(|(_, ty)| !ty.is_built_in()) {
            match new.types.get(name) {
                Some(after) => self.type_pair(name, before, after),
                None => {
                    let message = format!("{} `{name}` was removed", kind(before));
                    self.add(Code::TypeRemoved, Coordinate::Type(name), message);
                }
            }
        }
        for (name, after) in new.types.iter().filter(|(_, ty)| !ty.is_built_in()) {
            if !old.types.contains_key(name) {
                let message = format!("{} `{name}` was added", kind(after));
                self.add(Code::TypeAdded, Coordinate::Type(name), message);
            }
        }
    }

    fn type_pair(&mut self, name: &'a str, before: &'a ExtendedType, after: &'a ExtendedType) {
        use ExtendedType::{Enum, InputObject, Interface, Object, Scalar, Union};
        match (before, after) {
            (Object(old), Object(new)) => {
                self.interfaces(name, &old.implements_interfaces, &new.implements_interfaces);
                self.fields(name, &old.fields, &new.fields);
            }
            (Interface(old), Interface(new)) => {
                self.interfaces(name, &old.implements_interfaces, &new.implements_interfaces);
                self.fields(name, &old.fields, &new.fields);
            }
            (Union(old), Union(new)) => {
                self.related(&MEMBER, name, &old.members, &new.members);
            }
            (Enum(old), Enum(new)) => self.values(name, old, new),
            (InputObject(old), InputObject(new)) => self.input_fields(name, old, new),
            (Scalar(_), Scalar(_)) => {}
            _ => {
                let message = format!(
                    "`{name}` was of kind {} and is of kind {}",
                    kind(before),
                    kind(after)
                );
                self.add(Code::TypeKindChanged, Coordinate::Type(name), message);
                return;
            }
        }
        self.description(
            Coordinate::Type(name),
            before.description(),
            after.description(),
        );
    }

    fn interfaces(&mut self, name: &'a str, old: &'a Names, new: &'a Names) {
        self.related(&INTERFACE, name, old, new);
    }

    fn related(&mut self, codes: &RelationCodes, name: &'a str, old: &'a Names, new: &'a Names) {
        let noun = codes.noun;
        for other in old.iter().filter(|other| !new.contains(*other)) {
            let message = format!("`{other}` is not {noun} of `{name}` any more");
            self.add(codes.removed, Coordinate::Related(name, other), message);
        }
        for other in new.iter().filter(|other| !old.contains(*other)) {
            let message = format!("`{other}` is {noun} of `{name}` now");
            self.add(codes.added, Coordinate::Related(name, other), message);
        }
    }

    fn fields(&mut self, ty: &'a str, old: &'a Fields, new: &'a Fields) {
        for (name, before) in old {
            let coordinate = Coordinate::Member(ty, name);
            let Some(after) = new.get(name) else {
                self.add(
                    Code::FieldRemoved,
                    coordinate,
                    format!("field `{coordinate}` was removed"),
                );
                continue;
            };
            if before.ty != after.ty {
                let code = if narrows(&before.ty, &after.ty) {
                    Code::FieldTypeNarrowed
                } else {
                    Code::FieldTypeChanged
                };
                let message = format!(
                    "field `{coordinate}` gave `{}` and gives `{}`",
                    before.ty, after.ty
                );
                self.add(code, coordinate, message);
            }
            let at = |argument| Coordinate::Argument(ty, name, argument);
            self.inputs(&ARGUMENT, at, &before.arguments, &after.arguments);
            self.description(
                coordinate,
                before.description.as_ref(),
                after.description.as_ref(),
            );
        }
        for name in new.keys().filter(|name| !old.contains_key(*name)) {
            let coordinate = Coordinate::Member(ty, name);
            self.add(
                Code::FieldAdded,
                coordinate,
                format!("field `{coordinate}` was added"),
            );
        }
    }

    fn input_fields(&mut self, ty: &'a str, old: &'a InputObjectType, new: &'a InputObjectType) {
        let at = |field| Coordinate::Member(ty, field);
        let (old, new) = (old.fields.values(), new.fields.values());
        self.inputs(&INPUT_FIELD, at, old.map(|f| &f.node), new.map(|f| &f.node));
    }

    fn inputs(
        &mut self,
        codes: &InputCodes,
        at: impl Fn(&'a str) -> Coordinate<'a>,
        old: impl IntoIterator<Item = &'a Node<InputValueDefinition>>,
        new: impl IntoIterator<Item = &'a Node<InputValueDefinition>>,
    ) {
        let new: IndexMap<&Name, _> = new.into_iter().map(|input| (&input.name, input)).collect();
        let mut known: IndexMap<&Name, ()> = IndexMap::default();
        let noun = codes.noun;
        for before in old {
            known.insert(&before.name, ());
            let coordinate = at(&before.name);
            match new.get(&before.name) {
                Some(after) => self.input_pair(codes, coordinate, before, after),
                None => self.add(
                    codes.removed,
                    coordinate,
                    format!("{noun} `{coordinate}` was removed"),
                ),
            }
        }
        for (name, after) in new.iter().filter(|(name, _)| !known.contains_key(**name)) {
            let coordinate = at(name);
            let (code, added) = if after.is_required() {
                (codes.required, "was added and is required")
            } else {
                (codes.added, "was added")
            };
            self.add(code, coordinate, format!("{noun} `{coordinate}` {added}"));
        }
    }

    fn input_pair(
        &mut self,
        codes: &InputCodes,
        coordinate: Coordinate<'a>,
        before: &'a InputValueDefinition,
        after: &'a InputValueDefinition,
    ) {
        let noun = codes.noun;
        if before.ty != after.ty {
            let code = if narrows(&after.ty, &before.ty) {
                codes.widened
            } else {
                codes.changed
            };
            let message = format!(
                "{noun} `{coordinate}` took `{}` and takes `{}`",
                before.ty, after.ty
            );
            self.add(code, coordinate, message);
        }
        if before.default_value != after.default_value {
            let show = |input: &InputValueDefinition| match &input.default_value {
                Some(value) => format!("`{}`", value.serialize().no_indent()),
                None => "nothing".to_owned(),
            };
            let (was, is) = (show(before), show(after));
            let message = format!("the default of {noun} `{coordinate}` was {was} and is {is}");
            self.add(codes.default, coordinate, message);
        }
        self.description(
            coordinate,
            before.description.as_ref(),
            after.description.as_ref(),
        );
    }

    fn values(&mut self, ty: &'a str, old: &'a EnumType, new: &'a EnumType) {
        for (name, before) in &old.values {
            let coordinate = Coordinate::Member(ty, name);
            match new.values.get(name) {
                Some(after) => {
                    let text = after.description.as_ref();
                    self.description(coordinate, before.description.as_ref(), text);
                }
                None => {
                    let message = format!("value `{name}` of `{ty}` was removed");
                    self.add(Code::EnumValueRemoved, coordinate, message);
                }
            }
        }
        for name in new
            .values
            .keys()
            .filter(|name| !old.values.contains_key(*name))
        {
            let message = format!("value `{name}` of `{ty}` was added");
            self.add(Code::EnumValueAdded, Coordinate::Member(ty, name), message);
        }
    }

    fn directives(&mut self, old: &'a Schema, new: &'a Schema) {
        let own = |definition: &&Node<DirectiveDefinition>| !definition.is_built_in();
        for before in old.directive_definitions.values().filter(own) {
            let name = before.name.as_str();
            match new.directive_definitions.get(name) {
                Some(after) => self.directive_pair(name, before, after),
                None => {
                    let message = format!("directive `@{name}` was removed");
                    self.add(Code::DirectiveRemoved, Coordinate::Directive(name), message);
                }
            }
        }
        for after in new.directive_definitions.values().filter(own) {
            let name = after.name.as_str();
            if !old.directive_definitions.contains_key(name) {
                let message = format!("directive `@{name}` was added");
                self.add(Code::DirectiveAdded, Coordinate::Directive(name), message);
            }
        }
    }

    fn directive_pair(
        &mut self,
        name: &'a str,
        before: &'a DirectiveDefinition,
        after: &'a DirectiveDefinition,
    ) {
        let coordinate = Coordinate::Directive(name);
        for location in before
            .locations
            .iter()
            .filter(|l| !after.locations.contains(l))
        {
            let message = format!("directive `@{name}` is not allowed on {location} any more");
            self.add(Code::DirectiveNarrowed, coordinate, message);
        }
        for location in after
            .locations
            .iter()
            .filter(|l| !before.locations.contains(l))
        {
            let message = format!("directive `@{name}` is allowed on {location} now");
            self.add(Code::DirectiveWidened, coordinate, message);
        }
        if before.repeatable != after.repeatable {
            let (code, can) = if after.repeatable {
                (Code::DirectiveWidened, "can")
            } else {
                (Code::DirectiveNarrowed, "cannot")
            };
            self.add(
                code,
                coordinate,
                format!("directive `@{name}` {can} be repeated now"),
            );
        }
        let at = |argument| Coordinate::DirectiveArgument(name, argument);
        self.inputs(&ARGUMENT, at, &before.arguments, &after.arguments);
        self.description(
            coordinate,
            before.description.as_ref(),
            after.description.as_ref(),
        );
    }

    fn description(
        &mut self,
        coordinate: Coordinate<'a>,
        before: Option<&Node<str>>,
        after: Option<&Node<str>>,
    ) {
        if before != after {
            let message = format!("the description of `{coordinate}` changed");
            self.add(Code::DescriptionChanged, coordinate, message);
        }
    }
}

type Names = apollo_compiler::collections::IndexSet<apollo_compiler::schema::ComponentName>;
type Fields = IndexMap<Name, Component<FieldDefinition>>;

/// Returns whether each value of `new` is one of `old`, for types that differ in nullability alone.
fn narrows(old: &Type, new: &Type) -> bool {
    use Type::{List, Named, NonNullList, NonNullNamed};
    match (old, new) {
        (Named(old), Named(new) | NonNullNamed(new)) | (NonNullNamed(old), NonNullNamed(new)) => {
            old == new
        }
        (List(old), List(new) | NonNullList(new)) | (NonNullList(old), NonNullList(new)) => {
            narrows(old, new)
        }
        _ => false,
    }
}

fn kind(ty: &ExtendedType) -> &'static str {
    match ty {
        ExtendedType::Scalar(_) => "scalar",
        ExtendedType::Object(_) => "type",
        ExtendedType::Interface(_) => "interface",
        ExtendedType::Union(_) => "union",
        ExtendedType::Enum(_) => "enum",
        ExtendedType::InputObject(_) => "input",
    }
}
