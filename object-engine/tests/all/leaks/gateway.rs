//! What a gateway makes of an answer that something was left out of: where the schema that it has read promises a
//! value, the null of a field that is not there takes everything around it away.

use apollo_compiler::ast::Type;
use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::{ExecutableDocument, Schema};
use serde_json::Value;

use super::case::Case;
use super::tally::Tally;
use crate::fixture;

/// The schema that a gateway reads from the service of a case.
fn composed(case: &Case) -> Schema {
    let sdl = case.subject.service.api().service_sdl();
    let sdl = sdl.expect("the service is a subgraph");
    let parsed = Schema::builder()
        .adopt_orphan_extensions()
        .parse(sdl, "subgraph.graphql")
        .build();
    parsed.unwrap_or_else(|error| panic!("{}\n{error}", case.name()))
}

/// A gateway over the services of all cases, one after the other.
#[derive(Default)]
pub(crate) struct Gateway {
    /// The document of the service whose schema was read last, and that schema.
    read: Option<(String, Schema)>,
    /// Number of fields that were left out of answers.
    pub(crate) missing: usize,
}

/// Completes an answer as a gateway does.
struct Completion<'a> {
    document: &'a ExecutableDocument,
    schema: &'a Schema,
    /// Fields without a value that must have one.
    broken: Vec<String>,
    /// Number of fields that were left out.
    missing: usize,
}

/// An object without its key is null: the key of every type is non-null.
struct WithoutKey;

impl Completion<'_> {
    fn set(&mut self, set: &SelectionSet, object: &Value) -> Result<(), WithoutKey> {
        let mut completed = Ok(());
        for selection in &set.selections {
            // What conditions leave out is not asked for.
            let is_certain = selection.directives().is_empty();
            let done = match selection {
                Selection::Field(field) if field.name != "__typename" => {
                    let value = object.get(field.response_key().as_str());
                    let declared = self.schema.type_field(&set.ty, &field.name);
                    match (value, declared) {
                        (Some(value), Ok(declared)) => {
                            self.value(&field.selection_set, value, &declared.ty.clone());
                            Ok(())
                        }
                        (None, Ok(declared)) if is_certain => {
                            self.missing += 1;
                            match declared.ty.is_non_null() {
                                true if field.name == "id" => Err(WithoutKey),
                                true => {
                                    self.broken.push(format!("{}.{}", set.ty, field.name));
                                    Ok(())
                                }
                                false => Ok(()),
                            }
                        }
                        _ => Ok(()),
                    }
                }
                Selection::Field(_) => Ok(()),
                Selection::FragmentSpread(spread) => {
                    let fragment = self.document.fragments.get(&spread.fragment_name);
                    fragment.map_or(Ok(()), |fragment| {
                        self.fragment(set, &fragment.selection_set, object, is_certain)
                    })
                }
                Selection::InlineFragment(inline) => {
                    self.fragment(set, &inline.selection_set, object, is_certain)
                }
            };
            completed = completed.and(done);
        }
        completed
    }

    /// Completes what a fragment selects; whether one of another type applies is not known.
    fn fragment(
        &mut self,
        around: &SelectionSet,
        set: &SelectionSet,
        object: &Value,
        is_certain: bool,
    ) -> Result<(), WithoutKey> {
        if around.ty == set.ty && is_certain {
            self.set(set, object)
        } else {
            Ok(())
        }
    }

    /// Checks the fields that warnings name: there need not be an object of their type.
    fn warnings(&mut self, answer: &Value) {
        for error in answer["errors"].as_array().into_iter().flatten() {
            let message = error["message"].as_str().unwrap_or_default();
            let named = message.strip_prefix("WARN: Field '");
            let named = named.and_then(|rest| rest.split_once("' from type '"));
            let named = named.and_then(|(field, rest)| Some((field, rest.split_once('\'')?.0)));
            let Some((field, ty)) = named.filter(|(field, _)| *field != "id") else {
                continue;
            };
            if let Ok(declared) = self.schema.type_field(ty, field)
                && field != "__typename"
                && declared.ty.is_non_null()
            {
                self.broken.push(format!("{ty}.{field} of a warning"));
            }
        }
    }

    fn value(&mut self, set: &SelectionSet, value: &Value, ty: &Type) {
        match value {
            Value::Array(items) => {
                for item in items {
                    self.value(set, item, ty.item_type());
                }
            }
            Value::Object(_) if !set.selections.is_empty() => {
                let is_null = self.set(set, value).is_err();
                if is_null && ty.is_non_null() {
                    self.broken.push(format!("{} at a {ty}", set.ty));
                }
            }
            Value::Null if ty.is_non_null() => self.broken.push(format!("null at a {ty}")),
            _ => {}
        }
    }
}

impl Gateway {
    /// Checks that nothing is lost of an answer but what was left out of it.
    pub(crate) fn check(&mut self, case: &mut Case, tally: &mut Tally) {
        let (operation, expected) = case.operation(true);
        case.subject.load(&case.quads);
        let answer = fixture::json(&case.subject.answer(&operation, &case.sender));
        tally.count(case, &expected, &answer);
        let text = operation.document();
        let api = case.subject.service.api().schema();
        let document = ExecutableDocument::parse_and_validate(api, &text, "query.graphql");
        let document = document.unwrap_or_else(|error| panic!("{text}\n{error}"));
        let soml = &case.subject.soml;
        if self.read.as_ref().is_none_or(|(of, _)| of != soml) {
            self.read = Some((soml.clone(), composed(case)));
        }
        let Some((_, schema)) = &self.read else {
            return;
        };
        let mut completion = Completion {
            document: &document,
            schema,
            broken: Vec::new(),
            missing: 0,
        };
        let operation = document.operations.get(None).expect("one operation");
        if answer["data"].is_object() {
            let done = completion.set(&operation.selection_set, &answer["data"]);
            assert!(done.is_ok(), "there is no `Query.id`");
        }
        completion.warnings(&answer);
        self.missing += completion.missing;
        if !completion.broken.is_empty() {
            tally.fail(format!(
                "{}\n{soml}\n{text}\n{:?}\n{answer:#}\n{:?}",
                case.name(),
                case.sender,
                completion.broken
            ));
        }
    }
}
