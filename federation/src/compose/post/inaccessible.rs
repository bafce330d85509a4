//! What clients see must be valid without what is `@inaccessible`
//! (<https://specs.apollo.dev/inaccessible/v0.2>).

use apollo_compiler::ast::{DirectiveList, InputValueDefinition, Type, Value};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node};

use super::places;
use crate::compose::code::CompositionCode;
use crate::compose::facts::fields;
use crate::compose::finding::CompositionError;
use crate::compose::merge::Merged;
use crate::compose::read::Subgraph;

pub(super) fn check(merged: &Merged, subgraphs: &[Subgraph], errors: &mut Vec<CompositionError>) {
    if !merged.features.contains("inaccessible") {
        return;
    }
    let mut checked = Checked {
        merged,
        subgraphs,
        errors,
    };
    for ty in merged.types.values() {
        if is_hidden_type(ty) {
            if ty.name() == "Query" {
                let message = "the query type is inaccessible";
                checked.report(
                    CompositionCode::QUERY_ROOT_TYPE_INACCESSIBLE,
                    "Query",
                    SchemaPlace::of_type("Query"),
                    message.to_owned(),
                );
            }
            continue;
        }
        checked.check_children(ty);
        checked.check_fields(ty);
        checked.check_input(ty);
    }
    for directive in &merged.directives {
        for argument in &directive.arguments {
            checked.check_value(
                &format!("@{}({}:)", directive.name, argument.name),
                SchemaPlace::of_type(&directive.name),
                argument,
            );
        }
    }
}

/// What an error is about: a type, or a field of it. It is reported where subgraphs declare that.
#[derive(Clone, Copy)]
struct SchemaPlace<'p> {
    ty: &'p str,
    field: Option<&'p str>,
}

impl<'p> SchemaPlace<'p> {
    fn of_type(ty: &'p str) -> Self {
        SchemaPlace { ty, field: None }
    }

    fn of_field(ty: &'p str, field: &'p str) -> Self {
        SchemaPlace {
            ty,
            field: Some(field),
        }
    }
}

struct Checked<'c> {
    merged: &'c Merged,
    subgraphs: &'c [Subgraph],
    errors: &'c mut Vec<CompositionError>,
}

fn is_hidden(directives: &DirectiveList) -> bool {
    directives.has("inaccessible")
}

fn is_hidden_type(ty: &ExtendedType) -> bool {
    ty.directives().has("inaccessible")
}

impl Checked<'_> {
    fn report(
        &mut self,
        code: CompositionCode,
        coordinate: &str,
        place: SchemaPlace<'_>,
        message: String,
    ) {
        let error = CompositionError::new(code, message).about(coordinate);
        self.errors
            .push(error.at_all(places(self.subgraphs, place.ty, place.field)));
    }

    fn is_hidden_name(&self, name: &Name) -> bool {
        self.merged.types.get(name).is_some_and(is_hidden_type)
    }

    /// Something in an accessible type is accessible.
    fn check_children(&mut self, ty: &ExtendedType) {
        let is_empty = match ty {
            ExtendedType::Scalar(_) => false,
            ExtendedType::Object(object) => {
                object.fields.values().all(|it| is_hidden(&it.directives))
            }
            ExtendedType::Interface(interface) => interface
                .fields
                .values()
                .all(|it| is_hidden(&it.directives)),
            ExtendedType::Union(union) => {
                union.members.iter().all(|it| self.is_hidden_name(&it.name))
            }
            ExtendedType::Enum(values) => {
                values.values.values().all(|it| is_hidden(&it.directives))
            }
            ExtendedType::InputObject(input) => {
                input.fields.values().all(|it| is_hidden(&it.directives))
            }
        };
        if is_empty {
            let name = ty.name();
            let message = format!("`{name}` is accessible, but everything in it is inaccessible");
            self.report(
                CompositionCode::ONLY_INACCESSIBLE_CHILDREN,
                name,
                SchemaPlace::of_type(name),
                message,
            );
        }
    }

    fn check_fields(&mut self, ty: &ExtendedType) {
        let name = ty.name();
        for (field, definition) in fields(ty).into_iter().flatten() {
            let coordinate = format!("{name}.{field}");
            // A type has every field of its interfaces, in the schema of clients too
            // (<https://spec.graphql.org/September2025/#IsValidImplementation()>).
            let place = SchemaPlace::of_field(name, field);
            let hidden_in = self.interface_that_shows(ty, field, None);
            if is_hidden(&definition.directives) {
                if let Some(interface) = hidden_in {
                    let message =
                        format!("`{coordinate}` is inaccessible, but `{interface}.{field}` is not");
                    let code = CompositionCode::IMPLEMENTED_BY_INACCESSIBLE;
                    self.report(code, &coordinate, place, message);
                }
                continue;
            }
            self.check_type(&coordinate, place, &definition.ty);
            for argument in &definition.arguments {
                let coordinate = format!("{name}.{field}({}:)", argument.name);
                if !is_hidden(&argument.directives) {
                    self.check_value(&coordinate, place, argument);
                } else if argument.is_required() {
                    let message =
                        format!("the argument `{coordinate}` is required and inaccessible");
                    self.report(
                        CompositionCode::REQUIRED_INACCESSIBLE,
                        &coordinate,
                        place,
                        message,
                    );
                } else if let Some(interface) =
                    self.interface_that_shows(ty, field, Some(&argument.name))
                {
                    let message =
                        format!("`{coordinate}` is inaccessible, but that of `{interface}` is not");
                    let code = CompositionCode::IMPLEMENTED_BY_INACCESSIBLE;
                    self.report(code, &coordinate, place, message);
                }
            }
        }
    }

    /// Returns an accessible interface of a type in which a field, or an argument of it, is accessible.
    fn interface_that_shows(
        &self,
        ty: &ExtendedType,
        field: &Name,
        argument: Option<&Name>,
    ) -> Option<Name> {
        let interfaces = match ty {
            ExtendedType::Object(object) => &object.implements_interfaces,
            ExtendedType::Interface(interface) => &interface.implements_interfaces,
            _ => return None,
        };
        let shows = |name: &Name| {
            let interface = self.merged.types.get(name).filter(|ty| !is_hidden_type(ty));
            let found = interface
                .and_then(fields)
                .and_then(|fields| fields.get(field));
            let found = found.filter(|found| !is_hidden(&found.directives));
            match argument {
                None => found.is_some(),
                Some(argument) => {
                    let argument = found.and_then(|found| found.argument_by_name(argument));
                    argument.is_some_and(|argument| !is_hidden(&argument.directives))
                }
            }
        };
        interfaces
            .iter()
            .map(|it| &it.name)
            .find(|name| shows(name))
            .cloned()
    }

    fn check_input(&mut self, ty: &ExtendedType) {
        let ExtendedType::InputObject(input) = ty else {
            return;
        };
        for (name, field) in &input.fields {
            let coordinate = format!("{}.{name}", input.name);
            let place = SchemaPlace::of_type(&input.name);
            if !is_hidden(&field.directives) {
                self.check_value(&coordinate, place, field);
            } else if field.is_required() {
                let message = format!("`{coordinate}` is required and inaccessible");
                self.report(
                    CompositionCode::REQUIRED_INACCESSIBLE,
                    &coordinate,
                    place,
                    message,
                );
            }
        }
    }

    fn check_type(&mut self, coordinate: &str, place: SchemaPlace<'_>, ty: &Type) {
        let inner = ty.inner_named_type();
        if self.is_hidden_name(inner) {
            let message = format!("`{coordinate}` is accessible, but its type `{inner}` is not");
            self.report(
                CompositionCode::REFERENCED_INACCESSIBLE,
                coordinate,
                place,
                message,
            );
        }
    }

    fn check_value(
        &mut self,
        coordinate: &str,
        place: SchemaPlace<'_>,
        definition: &Node<InputValueDefinition>,
    ) {
        self.check_type(coordinate, place, &definition.ty);
        let default = definition.default_value.as_ref();
        let hidden =
            default.and_then(|value| self.hidden_in(value, definition.ty.inner_named_type()));
        if let Some(hidden) = hidden {
            let message = format!(
                "the default value of `{coordinate}` uses `{hidden}`, which is inaccessible"
            );
            self.report(
                CompositionCode::DEFAULT_VALUE_USES_INACCESSIBLE,
                coordinate,
                place,
                message,
            );
        }
    }

    /// Returns something inaccessible that a value of a type uses.
    fn hidden_in(&self, value: &Value, ty: &Name) -> Option<String> {
        match (value, self.merged.types.get(ty)?) {
            (Value::List(items), _) => items.iter().find_map(|item| self.hidden_in(item, ty)),
            (Value::Enum(name), ExtendedType::Enum(values)) => {
                let found = values.values.get(name)?;
                is_hidden(&found.directives).then(|| format!("{ty}.{name}"))
            }
            (Value::Object(members), ExtendedType::InputObject(input)) => {
                members.iter().find_map(|(name, value)| {
                    let field = input.fields.get(name)?;
                    if is_hidden(&field.directives) {
                        Some(format!("{ty}.{name}"))
                    } else {
                        self.hidden_in(value, field.ty.inner_named_type())
                    }
                })
            }
            _ => None,
        }
    }
}
