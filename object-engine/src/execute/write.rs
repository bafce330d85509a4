//! Writes the answer as JSON bytes, without building a tree of values first.

use call_context::CallError;
use std::rc::Rc;

use foldhash::HashMap;
use graph_store::StoreError;
use graphql_service::writer::{AnswerWriter, PathStep, PropagateNull, WriteResult, write_string};
use graphql_service::{Answer, ErrorCode, GraphqlError, code as shared};
use soml_core::schema::Schema;

use super::Execution;
use super::aggregate::Columns;
use super::chunks::{CHUNK, Chunks, Values};
use super::fetch::{Fetched, FetchedLevel, FetchedRoot, NOT_AN_OBJECT};
use super::repeated::Repeated;
use super::values::write_iri;
use crate::code;
use crate::plan::{
    Edge, Level, LevelId, ListOutput, Output, ResponseField, RootValue, ServicePart, Typing,
};

/// How many objects are written between two checks of the deadline.
const CHECK_EVERY: u32 = 256;
/// Copying so many bytes of the answer takes as long as writing an object.
const BYTES_OF_AN_OBJECT: usize = 512;
/// What is written around a value: quotes, and the braces of its object.
const BYTES_AROUND_A_VALUE: usize = 4;
/// The texts of so many values of a field are measured before the answer is written.
const MEASURED: usize = 2_048;

pub(super) fn write(execution: &Execution<'_>, fetched: &Fetched) -> Result<Answer, StoreError> {
    let answer = execution.writer(expected_bytes(execution, fetched));
    let mut writer = Writer::new(execution, fetched, answer);
    for warning in &execution.plan.warnings {
        writer.answer.push_error(warning.clone());
    }
    let written = writer.roots();
    match writer.stopped {
        Some(error) => Err(error),
        None if writer.answer.is_out_of_memory() => Err(StoreError::Call(CallError::OutOfMemory)),
        None => Ok(writer.answer.finish(written)),
    }
}

/// Returns about how many bytes the answer has: each object once, and of its values those that are written as they are stored.
///
/// This also brings the texts into the cache, many at the same time, while writing waits for each.
fn expected_bytes(execution: &Execution<'_>, fetched: &Fetched) -> usize {
    let levels = execution.plan.levels.iter().zip(&fetched.levels);
    let mut bytes = 0;
    for (plan, data) in levels {
        let objects = data.nodes.as_slice();
        for field in plan.variants.first().into_iter().flatten() {
            bytes += objects.len() * (field.opening.len() + BYTES_AROUND_A_VALUE);
            bytes += match &field.value {
                Output::Id => objects.slice(0..objects.len().min(MEASURED)).text_bytes(),
                Output::Scalar(scalar) => {
                    let values = &data.hydrated.columns[scalar.slot].values;
                    values.slice(0..values.len().min(MEASURED)).text_bytes()
                }
                _ => 0,
            };
        }
    }
    bytes
}

/// Writes the list of a root field into an answer that something else is written into, too.
pub(crate) fn write_list<'a>(
    execution: &'a Execution<'a>,
    fetched: &'a Fetched,
    root: usize,
    answer: AnswerWriter<'a>,
) -> (AnswerWriter<'a>, Result<WriteResult, StoreError>) {
    let mut writer = Writer::new(execution, fetched, answer);
    let value = &execution.plan.roots[root].value;
    let written = match (value, &fetched.roots[root]) {
        (RootValue::Objects(objects), FetchedRoot::Objects(nodes)) => {
            writer.objects(objects.level, nodes, &ListOutput::default())
        }
        _ => unreachable!("mutations read back lists of objects alone"),
    };
    let written = match writer.stopped.take() {
        Some(error) => Err(error),
        None => Ok(written),
    };
    (writer.answer, written)
}

/// Writes one answer.
pub(super) struct Writer<'a> {
    pub(super) execution: &'a Execution<'a>,
    fetched: &'a Fetched,
    pub(super) answer: AnswerWriter<'a>,
    /// Objects written since the last check of the deadline.
    objects: u32,
    /// Values of levels that are aggregated.
    pub(super) columns: HashMap<LevelId, Rc<Columns<'a>>>,
    /// Values of levels that are read while they are written.
    chunks: Chunks,
    /// Objects that may be written again.
    repeated: Repeated,
    /// Why writing stopped: the request has expired or was cancelled.
    stopped: Option<StoreError>,
}

impl<'a> Writer<'a> {
    fn new(execution: &'a Execution<'a>, fetched: &'a Fetched, answer: AnswerWriter<'a>) -> Self {
        Writer {
            execution,
            fetched,
            answer,
            objects: 0,
            columns: HashMap::default(),
            chunks: Chunks::new(fetched.levels.len()),
            repeated: Repeated::new(execution.context, &fetched.levels),
            stopped: None,
        }
    }

    pub(super) fn schema(&self) -> &'a Schema {
        self.execution.schema
    }

    pub(super) fn level(&self, level: LevelId) -> (&'a Level, &'a FetchedLevel) {
        (
            &self.execution.plan.levels[level.0 as usize],
            &self.fetched.levels[level.0 as usize],
        )
    }

    /// Returns whether the concrete type of an object is known.
    pub(super) fn is_known(&self, level: LevelId, node: u32) -> bool {
        let (plan, data) = self.level(level);
        variant(plan, data, node).is_some()
    }

    fn roots(&mut self) -> WriteResult {
        self.answer.out.push(b'{');
        for (position, root) in self.execution.plan.roots.iter().enumerate() {
            self.answer.key(position, &root.key);
            match (&root.value, &self.fetched.roots[position]) {
                (RootValue::Objects(objects), FetchedRoot::Objects(nodes)) => {
                    self.answer.enter(PathStep::Key(&root.key));
                    self.objects(objects.level, nodes, &ListOutput::default())?;
                    self.answer.leave();
                }
                (RootValue::Aggregate(aggregate), fetched) => {
                    let (mark, depth) = (self.answer.mark(), self.answer.depth());
                    self.answer.enter(PathStep::Key(&root.key));
                    let written = self.root_aggregate(aggregate, fetched);
                    self.answer.leave_to(depth);
                    if written.is_err() {
                        self.answer.null_from(mark, false)?;
                    }
                }
                (_, FetchedRoot::Count(count)) => self.answer.number(*count),
                (RootValue::Connection(connection), FetchedRoot::Connection(fetched)) => {
                    let (mark, depth) = (self.answer.mark(), self.answer.depth());
                    self.answer.enter(PathStep::Key(&root.key));
                    let written = self.connection(connection, fetched);
                    self.answer.leave_to(depth);
                    if written.is_err() {
                        self.answer.null_from(mark, false)?;
                    }
                }
                (_, FetchedRoot::Entities(found)) => {
                    self.answer.enter(PathStep::Key(&root.key));
                    self.entities(found)?;
                    self.answer.leave();
                }
                (RootValue::Service(parts), _) => self.service(parts)?,
                _ => self.introspection(&root.key)?,
            }
        }
        self.answer.out.push(b'}');
        self.answer.check_size()
    }

    fn introspection(&mut self, key: &str) -> WriteResult {
        let execution = self.execution;
        let documents = execution.documents;
        documents.introspect(execution.prepared, key, &mut self.answer)
    }

    /// Writes the object of each representation, or null.
    fn entities(&mut self, found: &[Option<(LevelId, u32)>]) -> WriteResult {
        self.answer.out.push(b'[');
        for (index, entity) in found.iter().enumerate() {
            if index > 0 {
                self.answer.out.push(b',');
            }
            let mark = self.answer.mark();
            self.answer.enter(PathStep::Index(index));
            let written = match *entity {
                Some((level, node)) if self.is_known(level, node) => self.object(level, node),
                _ => Err(PropagateNull),
            };
            self.answer.leave();
            if written.is_err() {
                self.answer.null_from(mark, false)?;
            }
        }
        self.answer.out.push(b']');
        Ok(())
    }

    /// Writes the printed schema.
    fn service(&mut self, parts: &[(String, ServicePart)]) -> WriteResult {
        let printed = self
            .execution
            .service
            .expect("printed when the plan asks for it");
        self.answer.out.push(b'{');
        for (position, (key, part)) in parts.iter().enumerate() {
            self.answer.check_size()?;
            self.answer.key(position, key);
            let text = match part {
                ServicePart::Sdl => printed.sdl.as_deref(),
                ServicePart::FullSdl => Some(printed.full_sdl.as_str()),
                ServicePart::TypeName => Some("_Service"),
            };
            match text {
                Some(text) => write_string(&mut self.answer.out, text),
                None => self.answer.null(),
            }
        }
        self.answer.out.push(b'}');
        Ok(())
    }

    /// Refuses the whole answer if a list is longer than the maximum page.
    pub(super) fn check_page(&mut self, length: usize) -> WriteResult {
        match self.execution.engine_limits.page {
            Some(greatest) if length as u64 > greatest => {
                let message =
                    format!("the list has {length} elements; ask for a page with `limit`");
                let error = GraphqlError::new(code::LIMIT_PAGE, message).on(self.answer.path());
                Err(self.answer.refuse(error.with("limit", greatest)))
            }
            _ => Ok(()),
        }
    }

    /// Writes a list of objects, without those of unknown type.
    pub(super) fn objects(
        &mut self,
        level: LevelId,
        nodes: &[u32],
        list: &ListOutput,
    ) -> WriteResult {
        self.check_page(nodes.len())?;
        let (plan, data) = self.level(level);
        self.answer.out.push(b'[');
        let mut index = 0;
        for &node in nodes {
            if node != NOT_AN_OBJECT && variant(plan, data, node).is_none() {
                continue;
            }
            if index > 0 {
                self.answer.out.push(b',');
            }
            let mark = self.answer.mark();
            self.answer.enter(PathStep::Index(index));
            let written = if node == NOT_AN_OBJECT {
                self.error(
                    code::VALUE_ILL_TYPED,
                    "the stored value is not an object",
                    None,
                );
                Err(PropagateNull)
            } else {
                self.object(level, node)
            };
            self.answer.leave();
            if written.is_err() {
                self.answer.null_from(mark, list.non_null_elements)?;
            }
            index += 1;
        }
        self.answer.out.push(b']');
        Ok(())
    }

    pub(super) fn object(&mut self, level: LevelId, node: u32) -> WriteResult {
        self.check_size_and_time()?;
        if !self.level(level).1.reached_once {
            return self.repeatable(level, node);
        }
        self.fresh_object(level, node)
    }

    /// Writes an object of a level in which some are reached several times.
    fn repeatable(&mut self, level: LevelId, node: u32) -> WriteResult {
        if let Some(written) = self.repeated.find(level, node)
            && self.answer.repeat(written)
        {
            return self.count_objects(written.len() / BYTES_OF_AN_OBJECT);
        }
        let mark = self.answer.mark();
        let warnings = self.repeated.warnings;
        self.fresh_object(level, node)?;
        // What is said about a value names the path to it.
        if warnings == self.repeated.warnings && !self.answer.has_errors_since(mark) {
            let written = self.answer.written_since(mark);
            self.repeated.keep(level, node, written);
        }
        Ok(())
    }

    fn fresh_object(&mut self, level: LevelId, node: u32) -> WriteResult {
        let (plan, data) = self.level(level);
        let fields = variant(plan, data, node).expect("the caller saw the type");
        let at = node as usize;
        if !data.in_chunks || at < CHUNK {
            let hydrated = &data.hydrated;
            return self.fields(plan, data, at, Values { hydrated, node: at }, fields);
        }
        let chunk = self
            .chunks
            .of(self.execution, level, &data.nodes, at)
            .map_err(|error| self.stop(error))?;
        let values = Values {
            hydrated: &chunk.hydrated,
            node: at - chunk.start,
        };
        self.fields(plan, data, at, values, fields)
    }

    fn fields(
        &mut self,
        plan: &'a Level,
        data: &'a FetchedLevel,
        node: usize,
        values: Values<'_>,
        fields: &'a [ResponseField],
    ) -> WriteResult {
        self.answer.out.push(b'{');
        let mut position = 0;
        for field in fields {
            self.answer.check_size()?;
            if field.only.is_some_and(|slot| values.range(slot).is_empty()) {
                continue;
            }
            self.answer.open(position, &field.opening);
            position += 1;
            // Most values need no path.
            if self.plain_value(data, node, values, field) {
                continue;
            }
            self.answer.enter(PathStep::Key(&field.key));
            let mark = self.answer.mark();
            let mut written = self.field(plan, data, node, values, field);
            if written.is_ok() && field.non_null && self.answer.is_null_since(mark) {
                if !self.answer.has_errors_since(mark) {
                    let message = format!("the field `{}` has no value", field.name);
                    self.error(shared::NON_NULL_VIOLATED, &message, Some(field));
                }
                written = Err(PropagateNull);
            }
            self.answer.leave();
            if written.is_err() {
                self.answer.null_from(mark, field.non_null)?;
            }
        }
        self.answer.out.push(b'}');
        Ok(())
    }

    pub(super) fn check_size_and_time(&mut self) -> WriteResult {
        self.answer.check_size()?;
        self.check_time()
    }

    /// Checks from time to time that the request is still live.
    pub(super) fn check_time(&mut self) -> WriteResult {
        self.count_objects(1)
    }

    /// Counts the work of some objects.
    fn count_objects(&mut self, objects: usize) -> WriteResult {
        let objects = u32::try_from(objects).unwrap_or(u32::MAX);
        self.objects = self.objects.saturating_add(objects);
        if self.objects >= CHECK_EVERY
            && let Err(error) = self
                .execution
                .context
                .spend(std::mem::take(&mut self.objects))
        {
            self.stop(error.into());
        }
        self.answer.check()
    }

    /// Abandons the answer.
    fn stop(&mut self, error: StoreError) -> PropagateNull {
        self.stopped = Some(error);
        self.answer.halt()
    }

    /// Writes a value about which there is nothing to say; returns whether it is one.
    fn plain_value(
        &mut self,
        data: &FetchedLevel,
        node: usize,
        values: Values<'_>,
        field: &ResponseField,
    ) -> bool {
        match &field.value {
            Output::Id => {
                write_iri(&mut self.answer.out, data.nodes.as_slice().view(node));
                true
            }
            Output::Scalar(scalar) if scalar.list.is_none() => {
                self.only_value(scalar, values.of(scalar.slot))
            }
            _ => false,
        }
    }

    fn field(
        &mut self,
        plan: &'a Level,
        data: &'a FetchedLevel,
        node: usize,
        values: Values<'_>,
        field: &'a ResponseField,
    ) -> WriteResult {
        match &field.value {
            Output::TypeName => self.type_name(plan, data, node),
            Output::Id => unreachable!("an IRI is a plain value"),
            Output::Scalar(scalar) => {
                let values = values.of(scalar.slot);
                return match &scalar.list {
                    None => self.scalar(field, scalar, values),
                    Some(list) => self.scalars(field, scalar, list, values),
                };
            }
            Output::Literal(literal) => {
                let values = values.of(literal.slot);
                return match &literal.list {
                    None => self.literal(field, literal, values),
                    Some(list) => self.literals(field, literal, list, values),
                };
            }
            Output::ObjectCount { slot } => {
                self.answer.number(values.range(*slot).len() as u64);
            }
            Output::ValueCount(counted) => {
                let count = self.value_count(counted, values);
                self.answer.number(count as u64);
            }
            Output::Aggregate { edge, aggregation } => {
                let to = plan.edges[*edge];
                let range = values.range(to.slot);
                let targets = &data.targets[*edge][range];
                let depth = self.answer.depth();
                let written = self.aggregate(to.level, aggregation, targets);
                self.answer.leave_to(depth);
                return written;
            }
            Output::ValueAggregate(aggregate) => {
                // Such a level is read as a whole.
                let values = data.hydrated.columns[aggregate.values.slot].of(node);
                self.value_aggregate(field, aggregate, values);
            }
            Output::Objects { edge, list } => {
                let to = plan.edges[*edge];
                let range = values.range(to.slot);
                let targets = &data.targets[*edge][range];
                return match list {
                    None => self.single_object(field, to, targets),
                    Some(list) if self.has_elements(to.level, targets) => {
                        self.objects(to.level, targets, list)
                    }
                    Some(_) => self.empty_list(),
                };
            }
        }
        Ok(())
    }

    /// Returns whether a list of objects would have any elements.
    fn has_elements(&self, level: LevelId, targets: &[u32]) -> bool {
        targets
            .iter()
            .any(|&node| node == NOT_AN_OBJECT || self.is_known(level, node))
    }

    fn type_name(&mut self, plan: &Level, data: &FetchedLevel, node: usize) {
        let name = match &plan.typing {
            Typing::Static { name } => name.as_str(),
            Typing::Stored { index, .. } => data.objects[node]
                .and_then(|object| index.type_name(object))
                .expect("only objects of a known type are written"),
        };
        write_string(&mut self.answer.out, name);
    }

    pub(super) fn empty_list(&mut self) -> WriteResult {
        let empty = if self.execution.plan.null_empty_lists {
            "null"
        } else {
            "[]"
        };
        self.answer.out.extend_from_slice(empty.as_bytes());
        Ok(())
    }

    fn single_object(
        &mut self,
        field: &'a ResponseField,
        to: Edge,
        targets: &[u32],
    ) -> WriteResult {
        let (plan, data) = self.level(to.level);
        let known = targets
            .iter()
            .copied()
            .filter(|&node| node != NOT_AN_OBJECT && variant(plan, data, node).is_some())
            .min_by(|&a, &b| data.nodes.as_slice().compare(a as usize, b as usize));
        if targets.len() > 1 {
            self.several(field, targets.len());
        }
        match known {
            Some(node) => self.object(to.level, node),
            None => {
                if targets.contains(&NOT_AN_OBJECT) {
                    let message = "the stored value is not an object";
                    self.error(code::VALUE_ILL_TYPED, message, Some(field));
                } else if let Some(&node) = targets.first() {
                    let message = format!(
                        "the object <{}> has no type that the schema knows",
                        data.nodes.get(node as usize).iri()
                    );
                    self.error(code::TYPE_UNKNOWN, &message, Some(field));
                }
                self.answer.out.extend_from_slice(b"null");
                Ok(())
            }
        }
    }

    pub(super) fn several(&mut self, field: &'a ResponseField, count: usize) {
        self.repeated.warnings += 1;
        let (code, key) = (code::MULTIPLE_VALUES, field.key.as_str());
        if self.answer.is_first_warning(code, field.location, key) {
            let message = format!(
                "WARN: the single-valued field `{}` has {count} stored values; one of them is returned",
                field.name
            );
            self.answer.warning(code, &message, field.location);
        }
    }

    pub(super) fn ill_typed(&mut self, field: &'a ResponseField, term: &str) {
        let shown: String = term.chars().take(200).collect();
        let message = format!(
            "the stored value {shown} does not fit the range of `{}`",
            field.name
        );
        self.error(code::VALUE_ILL_TYPED, &message, Some(field));
    }

    pub(super) fn error(&mut self, code: ErrorCode, message: &str, field: Option<&ResponseField>) {
        self.answer
            .error(code, message, field.and_then(|field| field.location));
    }
}

/// Returns the fields of an object; `None` if its type is unknown.
fn variant<'a>(plan: &'a Level, data: &FetchedLevel, node: u32) -> Option<&'a [ResponseField]> {
    let variant = match &plan.typing {
        Typing::Static { .. } => 0,
        Typing::Stored { variants, .. } => {
            let object = data.objects.get(node as usize).copied().flatten()?;
            *variants.get(&object)?
        }
    };
    plan.variants.get(variant).map(Vec::as_slice)
}
