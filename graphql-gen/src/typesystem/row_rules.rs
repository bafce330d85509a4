//! Whether the row rules of roles fit the API: conditions are `where` arguments, and presets values of properties.

use std::sync::Arc;

use apollo_compiler::ast::Type;
use apollo_compiler::schema::ExtendedType;
use soml_core::Finding;
use soml_core::access::{Access, Rights, RolePlace};
use soml_core::rbac::{Operand, Operation};
use soml_core::schema::{ObjectId, Path, Schema};
use soml_core::span::Span;
use soml_core::value::{Value, ValueKind};

use super::api::Api;
use super::error::{ApiError, ProblemKind};

/// Checks the row rules of a schema, each for all objects that it is about.
pub(super) fn check(api: &Api) -> Result<(), ApiError> {
    let soml: &Schema = api.soml();
    let mut roles = soml.rbac.roles.iter();
    if roles.all(|role| role.filters.is_empty() && role.presets.is_empty()) {
        return Ok(());
    }
    let rights = Arc::new(Rights::new(soml));
    let mut checker = Checker {
        api,
        problems: Vec::new(),
    };
    for role in &soml.rbac.roles {
        let access = rights.of([role.name.as_str()]);
        for place in access.role_places() {
            for (object, _) in soml.objects() {
                checker.object(&access, place, object);
            }
        }
    }
    if checker.problems.is_empty() {
        return Ok(());
    }
    Err(ApiError {
        problems: checker.problems,
    })
}

struct Checker<'a> {
    api: &'a Api,
    problems: Vec<Finding>,
}

impl Checker<'_> {
    fn object(&mut self, access: &Access, role: RolePlace, object: ObjectId) {
        let soml: &Schema = self.api.soml();
        let name = self.api.type_name(object);
        for operation in Operation::ALL {
            for condition in access.conditions(role, object, operation) {
                self.input(condition, &format!("{name}_Where"));
            }
        }
        for &id in &soml[object].props {
            let property = &soml[id];
            let Some(value) = access.preset(role, id) else {
                continue;
            };
            let is_list = matches!(&value.kind, ValueKind::List(items) if items.len() != 1);
            if matches!(property.path, Path::Inverse { .. }) {
                let message = format!(
                    "`{}` is read from the other end, so no object is written with it",
                    property.name
                );
                self.add(value.span, message);
            } else if is_list && !property.max.is_multiple() {
                let message = format!("`{}` has one value", property.name);
                self.add(value.span, message);
            }
        }
    }

    fn add(&mut self, span: Span, message: String) {
        self.report(ProblemKind::RowRules.at(Some(span), message));
    }

    fn report(&mut self, problem: Finding) {
        // Rules are about several objects as a rule.
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Checks a mapping against an input type.
    fn input(&mut self, value: &Value, name: &str) {
        let Some(ExtendedType::InputObject(input)) = self.api.schema().types.get(name) else {
            return;
        };
        let Some(entries) = value.entries() else {
            return self.add(value.span, format!("a `{name}` is a mapping"));
        };
        for (key, value) in entries {
            match input.fields.get(key.as_str()) {
                Some(field) => self.value(value, &field.ty),
                None => {
                    let known: Vec<&str> = input.fields.keys().map(|key| key.as_str()).collect();
                    self.unknown(value.span, key, name, &known);
                }
            }
        }
    }

    fn unknown(&mut self, span: Span, key: &str, name: &str, known: &[&str]) {
        const LISTED: usize = 12;
        let mut help = known[..known.len().min(LISTED)].join(", ");
        if known.len() > LISTED {
            help += ", …";
        }
        let problem = ProblemKind::RowRules.at(
            Some(span),
            format!("`{key}` is not a key of the condition `{name}`"),
        );
        self.report(problem.with_help(format!("its keys are {help}")));
    }

    fn value(&mut self, value: &Value, ty: &Type) {
        match (&value.kind, ty) {
            (ValueKind::List(items), Type::List(inner) | Type::NonNullList(inner)) => {
                for item in items {
                    self.value(item, inner);
                }
            }
            // One value stands for a list of one
            // (<https://spec.graphql.org/September2025/#sec-List.Input-Coercion>), and a claim for
            // all of its values.
            (_, Type::List(inner) | Type::NonNullList(inner)) => self.value(value, inner),
            // Null never means "everything" (docs/queries.md, "Filters").
            (ValueKind::Null, _) => self.add(
                value.span,
                "a condition has no null; `NOT` asks for what is absent".to_owned(),
            ),
            (ValueKind::Text { text, .. }, Type::Named(name) | Type::NonNullNamed(name)) => {
                self.text(text, value.span, name);
            }
            (ValueKind::Map(_), Type::Named(name) | Type::NonNullNamed(name)) => {
                match self.api.schema().types.get(name) {
                    Some(ExtendedType::InputObject(_)) => self.input(value, name),
                    _ => self.add(value.span, format!("a `{name}` is a single value")),
                }
            }
            (ValueKind::List(_), Type::Named(name) | Type::NonNullNamed(name)) => {
                self.add(value.span, format!("a `{name}` is not a list"));
            }
        }
    }

    fn text(&mut self, text: &str, span: Span, name: &str) {
        let text = match Operand::of(text) {
            Operand::Text(text) => text,
            // Which values it has is known with each request.
            Operand::Claim(_) | Operand::Malformed => return,
        };
        match self.api.schema().types.get(name) {
            Some(ExtendedType::InputObject(_)) => {
                self.add(
                    span,
                    format!("a `{name}` is a mapping, such as `EQ: {text}`"),
                );
            }
            Some(ExtendedType::Enum(values)) if !values.values.contains_key(text.as_ref()) => {
                self.add(span, format!("`{text}` is not a value of `{name}`"));
            }
            _ => {}
        }
    }
}
