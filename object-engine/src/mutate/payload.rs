//! Writes the answer of a mutation.

use call_context::CallError;
use graph_store::StoreError;
use graphql_service::error::PathSegment;
use graphql_service::writer::{AnswerWriter, PathStep};
use graphql_service::{Answer, GraphqlError};
use indexmap::IndexSet;
use soml_core::access::Part;
use soml_core::schema::ObjectId;

use super::attempt::FieldResult;
use super::draft::Setting;
use crate::execute::{Execution, Fetched, write_list};
use crate::plan::{AffectedPart, MutationField, MutationPlan, MutationRoot, PayloadPart};

/// Returns the answer of a mutation that wrote nothing: every field is null.
pub(crate) fn nothing(plan: &MutationPlan, errors: Vec<GraphqlError>) -> Answer {
    let mut answer = AnswerWriter::new();
    answer.out.push(b'{');
    for (position, root) in plan.fields.iter().enumerate() {
        answer.key(position, root.key());
        answer.null();
    }
    answer.out.push(b'}');
    for error in errors {
        answer.push_error(error);
    }
    answer.finish(Ok(()))
}

/// Writes the payloads of all fields; else returns why one of them cannot be answered.
///
/// # Errors
/// When there is no memory for the answer, or no one waits for it any more.
pub(super) fn write(
    setting: &Setting<'_>,
    reading: &Execution<'_>,
    results: &[FieldResult],
) -> Result<Result<Answer, Vec<GraphqlError>>, StoreError> {
    let readings: Vec<Execution<'_>> = setting
        .plan
        .fields
        .iter()
        .map(|root| match root {
            MutationRoot::Write(field) => Execution {
                plan: &field.read_back,
                ..*reading
            },
            MutationRoot::TypeName(_) => *reading,
        })
        .collect();
    let mut writer = PayloadWriter {
        setting,
        answer: reading.writer(0),
    };
    writer.answer.out.push(b'{');
    let fields = setting.plan.fields.iter().zip(results).zip(&readings);
    for (position, ((root, result), reading)) in fields.enumerate() {
        writer.answer.key(position, root.key());
        let written = match root {
            MutationRoot::TypeName(_) => {
                writer.answer.string("Mutation");
                Ok(())
            }
            MutationRoot::Write(field) => {
                writer.answer.enter(PathStep::Key(&field.key));
                let written = writer.payload(field, result, reading)?;
                writer.answer.leave_to(0);
                written
            }
        };
        if written.is_err() {
            return Ok(Err(writer.answer.into_errors()));
        }
    }
    writer.answer.out.push(b'}');
    if writer.answer.check_size().is_err() {
        return Ok(Err(writer.answer.into_errors()));
    }
    if writer.answer.is_out_of_memory() {
        Err(StoreError::Call(CallError::OutOfMemory))
    } else {
        Ok(Ok(writer.answer.finish(Ok(()))))
    }
}

impl Setting<'_> {
    /// Returns whether the sender may not be told a part of what happened to objects of a type.
    fn lacks_reading(&self, object: ObjectId, part: AffectedPart) -> bool {
        match part {
            AffectedPart::Kind(_) => !self.rights.reads_wherever_shown(object, Part::TypeName),
            AffectedPart::Ids(_) => !self.rights.reads_wherever_shown(object, Part::Id),
            AffectedPart::TypeName | AffectedPart::Count => false,
        }
    }
}

/// Writes payloads.
struct PayloadWriter<'a> {
    setting: &'a Setting<'a>,
    answer: AnswerWriter<'a>,
}

type Written = graphql_service::writer::WriteResult;

impl<'a> PayloadWriter<'a> {
    fn payload(
        &mut self,
        field: &'a MutationField,
        result: &'a FieldResult,
        reading: &'a Execution<'a>,
    ) -> Result<Written, StoreError> {
        for warning in &field.read_back.warnings {
            self.answer.push_error(warning.clone());
        }
        self.answer.out.push(b'{');
        for (position, (key, part)) in field.payload.iter().enumerate() {
            self.answer.key(position, key);
            match part {
                PayloadPart::TypeName => {
                    let name = self.setting.api.type_name(field.object);
                    self.answer.string(&format!("{name}_Mutation"));
                }
                PayloadPart::Counts(parts) => {
                    self.affected(result, parts, [&field.key, key], "Affected_Count");
                }
                PayloadPart::Ids(parts) => {
                    self.affected(result, parts, [&field.key, key], "Affected_Objects");
                }
                PayloadPart::Objects(root) => {
                    let fetched = result.fetched.as_ref();
                    let fetched = fetched.expect("what is read back was fetched");
                    self.answer.enter(PathStep::Key(key));
                    if self.objects(reading, fetched, *root)?.is_err() {
                        return Ok(Err(graphql_service::writer::PropagateNull));
                    }
                    self.answer.leave();
                }
            }
        }
        self.answer.out.push(b'}');
        Ok(self.answer.check_size())
    }

    fn objects(
        &mut self,
        reading: &'a Execution<'a>,
        fetched: &'a Fetched,
        root: usize,
    ) -> Result<Written, StoreError> {
        let answer = std::mem::take(&mut self.answer);
        let (answer, written) = write_list(reading, fetched, root, answer);
        self.answer = answer;
        written
    }

    /// Writes the affected objects by type. What the sender may not read of a type is left out.
    fn affected(
        &mut self,
        result: &FieldResult,
        parts: &[(String, AffectedPart)],
        path: [&str; 2],
        name: &str,
    ) {
        let mut warned: Vec<&str> = Vec::new();
        self.answer.out.push(b'[');
        for (position, (object, ids)) in result.affected.iter().enumerate() {
            if position > 0 {
                self.answer.out.push(b',');
            }
            self.answer.out.push(b'{');
            let is_denied = |part: &AffectedPart| self.setting.lacks_reading(*object, *part);
            let (denied, shown): (Vec<_>, Vec<_>) =
                parts.iter().partition(|(_, part)| is_denied(part));
            for (position, (key, part)) in shown.into_iter().enumerate() {
                self.answer.key(position, key);
                match part {
                    AffectedPart::TypeName => self.answer.string(name),
                    AffectedPart::Kind(_) => {
                        self.answer.string(self.setting.api.type_name(*object));
                    }
                    AffectedPart::Count => self.answer.number(ids.len() as u64),
                    AffectedPart::Ids(_) => self.ids(ids),
                }
            }
            self.answer.out.push(b'}');
            for (key, part) in denied {
                if !warned.contains(&key.as_str()) {
                    warned.push(key);
                    self.warn(*part, path, key, name);
                }
            }
        }
        self.answer.out.push(b']');
    }

    /// Warns of a part of the affected objects that is left out.
    fn warn(&mut self, part: AffectedPart, path: [&str; 2], key: &str, name: &str) {
        let (field, location) = match part {
            AffectedPart::Kind(location) => ("kind", location),
            AffectedPart::Ids(location) => ("ids", location),
            AffectedPart::TypeName | AffectedPart::Count => return,
        };
        let path = path
            .into_iter()
            .chain([key])
            .map(|key| PathSegment::Key(key.to_owned()))
            .collect();
        let warning = self
            .setting
            .rights
            .left_out(self.setting.types, field, name);
        self.answer.push_error(warning.at(location).on(path));
    }

    fn ids(&mut self, ids: &IndexSet<oxrdf::NamedNode>) {
        self.answer.out.push(b'[');
        for (position, id) in ids.iter().enumerate() {
            if position > 0 {
                self.answer.out.push(b',');
            }
            self.answer.string(id.as_str());
        }
        self.answer.out.push(b']');
    }
}
