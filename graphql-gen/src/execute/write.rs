//! Writes the answer as JSON bytes, without building a tree of values first.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use soml_core::schema::Schema;

use super::aggregate::Columns;
use super::fetch::{Fetched, FetchedLevel, FetchedRoot, NOT_AN_OBJECT};
use super::portions::{PORTION, Portions, Values};
use super::values::scalar_values;
use super::{Answer, Execution};
use crate::error::{ErrorCode, GraphqlError, Location, PathSegment};
use crate::plan::{
    Edge, Level, LevelId, ListOutput, OutField, Output, RootValue, ServicePart, Typing,
};
use crate::store::StoreError;
use crate::value::write_string;

/// Greatest number of errors in one answer; one more says that there were others.
const MAX_ERRORS: usize = 1_000;

/// How many objects are written between two looks at the deadline.
const CHECK_EVERY: u32 = 256;

pub(super) fn write(execution: &Execution<'_>, fetched: &Fetched) -> Result<Answer, StoreError> {
    let mut writer = Writer {
        execution,
        fetched,
        out: Vec::with_capacity(1 << 12),
        errors: Vec::new(),
        suppressed: 0,
        path: Vec::new(),
        warned: HashSet::new(),
        objects: 0,
        columns: HashMap::new(),
        portions: Portions::new(fetched.levels.len()),
        stopped: None,
        halted: false,
    };
    let written = writer.roots();
    if let Some(error) = writer.stopped {
        return Err(error);
    }
    if written.is_err() {
        writer.out.clear();
        writer.out.extend_from_slice(b"null");
    }
    if writer.suppressed > 0 {
        let message = format!("{} more errors are not listed", writer.suppressed);
        writer
            .errors
            .push(GraphqlError::new(ErrorCode::ErrorsOmitted, message));
    }
    Ok(Answer {
        data: writer.out,
        errors: writer.errors,
    })
}

/// A null where none may be: the nearest field around it that may be null becomes null.
pub(super) struct Bubble;

pub(super) type Written = Result<(), Bubble>;

/// A place in the answer to come back to.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    out: usize,
    errors: usize,
}

/// A step of the path to the value at hand.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Key(&'a str),
    Index(usize),
}

/// Writes one answer.
pub(super) struct Writer<'a> {
    pub(super) execution: &'a Execution<'a>,
    fetched: &'a Fetched,
    pub(super) out: Vec<u8>,
    pub(super) errors: Vec<GraphqlError>,
    suppressed: usize,
    pub(super) path: Vec<Place<'a>>,
    /// Fields that were warned of already, by their place in the document and their key.
    pub(super) warned: HashSet<(Option<Location>, &'a str)>,
    /// Objects written so far.
    objects: u32,
    /// Values of levels that are aggregated.
    pub(super) columns: HashMap<LevelId, Rc<Columns<'a>>>,
    /// Values of levels that are read while they are written.
    portions: Portions,
    /// Nobody waits for the answer any more.
    stopped: Option<StoreError>,
    /// The answer has become too large, or is not wanted any more: nothing is worth writing.
    halted: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn schema(&self) -> &'a Schema {
        self.execution.schema
    }

    pub(super) fn level(&self, level: LevelId) -> (&'a Level, &'a FetchedLevel) {
        (
            &self.execution.plan.levels[level.0 as usize],
            &self.fetched.levels[level.0 as usize],
        )
    }

    /// Tells whether the concrete type of an object is known.
    pub(super) fn is_known(&self, level: LevelId, node: u32) -> bool {
        let (plan, data) = self.level(level);
        variant(plan, data, node).is_some()
    }

    fn roots(&mut self) -> Written {
        self.out.push(b'{');
        for (position, root) in self.execution.plan.roots.iter().enumerate() {
            self.key(position, &root.key);
            match (&root.value, &self.fetched.roots[position]) {
                (RootValue::Objects(objects), FetchedRoot::Objects(nodes)) => {
                    self.path.push(Place::Key(&root.key));
                    self.objects(objects.level, nodes, &ListOutput::default())?;
                    self.path.pop();
                }
                (RootValue::Aggregate(aggregate), fetched) => {
                    let (mark, depth) = (self.mark(), self.path.len());
                    self.path.push(Place::Key(&root.key));
                    let written = self.root_aggregate(aggregate, fetched);
                    self.path.truncate(depth);
                    if written.is_err() {
                        self.null_from(mark, false)?;
                    }
                }
                (_, FetchedRoot::Count(count)) => self.number(*count),
                (RootValue::Connection(connection), FetchedRoot::Connection(fetched)) => {
                    let (mark, depth) = (self.mark(), self.path.len());
                    self.path.push(Place::Key(&root.key));
                    let written = self.connection(connection, fetched);
                    self.path.truncate(depth);
                    if written.is_err() {
                        self.null_from(mark, false)?;
                    }
                }
                (_, FetchedRoot::Entities(found)) => {
                    self.path.push(Place::Key(&root.key));
                    self.entities(found)?;
                    self.path.pop();
                }
                (RootValue::Service(parts), _) => self.service(parts),
                _ => {
                    let value = self.execution.introspection.get(root.key.as_str());
                    serde_json::to_writer(&mut self.out, &value)
                        .expect("writing to memory does not fail");
                }
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Writes the object of each representation, or null.
    fn entities(&mut self, found: &[Option<(LevelId, u32)>]) -> Written {
        self.out.push(b'[');
        for (index, entity) in found.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            let mark = self.mark();
            self.path.push(Place::Index(index));
            let written = match *entity {
                Some((level, node)) if self.is_known(level, node) => self.object(level, node),
                _ => Err(Bubble),
            };
            self.path.pop();
            if written.is_err() {
                self.null_from(mark, false)?;
            }
        }
        self.out.push(b']');
        Ok(())
    }

    /// Writes the printed schema.
    fn service(&mut self, parts: &[(String, ServicePart)]) {
        let printed = self
            .execution
            .service
            .expect("printed when the plan asks for it");
        self.out.push(b'{');
        for (position, (key, part)) in parts.iter().enumerate() {
            self.key(position, key);
            let text = match part {
                ServicePart::Sdl => printed.sdl.as_deref(),
                ServicePart::FullSdl => Some(printed.full_sdl.as_str()),
                ServicePart::TypeName => Some("_Service"),
            };
            match text {
                Some(text) => write_string(&mut self.out, text),
                None => self.out.extend_from_slice(b"null"),
            }
        }
        self.out.push(b'}');
    }

    pub(super) fn number(&mut self, number: u64) {
        serde_json::to_writer(&mut self.out, &number).expect("writing to memory does not fail");
    }

    pub(super) fn key(&mut self, position: usize, key: &str) {
        if position > 0 {
            self.out.push(b',');
        }
        // GraphQL names need no escapes.
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    /// Refuses the whole answer when a list is longer than a page may be.
    pub(super) fn check_page(&mut self, length: usize) -> Written {
        match self.execution.limits.page {
            Some(greatest) if length as u64 > greatest => {
                let message =
                    format!("the list has {length} elements; ask for a page with `limit`");
                let path = self.path();
                let error = GraphqlError::new(ErrorCode::LimitPage, message).on(path);
                self.errors.push(error.with("limit", greatest));
                self.halted = true;
                Err(Bubble)
            }
            _ => Ok(()),
        }
    }

    /// Writes a list of objects; those of no known type are left out.
    pub(super) fn objects(&mut self, level: LevelId, nodes: &[u32], list: &ListOutput) -> Written {
        self.check_page(nodes.len())?;
        let (plan, data) = self.level(level);
        self.out.push(b'[');
        let mut index = 0;
        for &node in nodes {
            if node != NOT_AN_OBJECT && variant(plan, data, node).is_none() {
                continue;
            }
            if index > 0 {
                self.out.push(b',');
            }
            let mark = self.mark();
            self.path.push(Place::Index(index));
            let written = if node == NOT_AN_OBJECT {
                self.error(
                    ErrorCode::ValueIllTyped,
                    "the stored value is not an object",
                    None,
                );
                Err(Bubble)
            } else {
                self.object(level, node)
            };
            self.path.pop();
            if written.is_err() {
                self.null_from(mark, list.non_null_elements)?;
            }
            index += 1;
        }
        self.out.push(b']');
        Ok(())
    }

    /// Returns the place that the answer has come to.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            out: self.out.len(),
            errors: self.errors.len(),
        }
    }

    /// Replaces what was written since `mark` by null, unless null is not allowed.
    pub(super) fn null_from(&mut self, mark: Mark, non_null: bool) -> Written {
        self.out.truncate(mark.out);
        if non_null || self.halted {
            return Err(Bubble);
        }
        self.drop_warnings(mark.errors);
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    /// Drops warnings of values within one that has become null.
    fn drop_warnings(&mut self, from: usize) {
        let code = ErrorCode::MultipleValues.as_str();
        let depth = self.path.len() + 1;
        let warned = &mut self.warned;
        let later = self.errors.split_off(from);
        self.errors.extend(later.into_iter().filter(|error| {
            let is_warning = error.code() == code && error.path.len() > depth;
            if is_warning && let Some(PathSegment::Key(last)) = error.path.last() {
                let place = error.locations.first().copied();
                warned.retain(|(location, key)| (*location, *key) != (place, last.as_str()));
            }
            !is_warning
        }));
    }

    pub(super) fn object(&mut self, level: LevelId, node: u32) -> Written {
        let (plan, data) = self.level(level);
        let fields = variant(plan, data, node).expect("the caller saw the type");
        self.check_size_and_time()?;
        let at = node as usize;
        if !data.in_portions || at < PORTION {
            let hydrated = &data.hydrated;
            return self.fields(plan, data, at, Values { hydrated, node: at }, fields);
        }
        let portion = self
            .portions
            .of(self.execution, level, &data.nodes, at)
            .map_err(|error| self.stop(error))?;
        let values = Values {
            hydrated: &portion.hydrated,
            node: at - portion.start,
        };
        self.fields(plan, data, at, values, fields)
    }

    fn fields(
        &mut self,
        plan: &'a Level,
        data: &'a FetchedLevel,
        node: usize,
        values: Values<'_>,
        fields: &'a [OutField],
    ) -> Written {
        self.out.push(b'{');
        for (position, field) in fields.iter().enumerate() {
            self.key(position, &field.key);
            self.path.push(Place::Key(&field.key));
            let mark = self.mark();
            let mut written = self.field(plan, data, node, values, field);
            if written.is_ok() && field.non_null && self.out[mark.out..] == *b"null" {
                if self.errors.len() == mark.errors {
                    let message = format!("the field `{}` has no value", field.name);
                    self.error(ErrorCode::NonNullViolated, &message, Some(field));
                }
                written = Err(Bubble);
            }
            self.path.pop();
            if written.is_err() {
                self.null_from(mark, field.non_null)?;
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    pub(super) fn check_size_and_time(&mut self) -> Written {
        let limit = self.execution.limits.response_bytes;
        if !self.halted && self.out.len() > limit {
            self.halted = true;
            let error = GraphqlError::new(ErrorCode::LimitResponse, "the answer is too large");
            self.errors.push(error.with("limit", limit));
        }
        self.check_time()
    }

    /// Looks now and then whether somebody still waits for the answer.
    pub(super) fn check_time(&mut self) -> Written {
        self.objects = self.objects.wrapping_add(1);
        if self.objects.is_multiple_of(CHECK_EVERY)
            && let Err(error) = self.execution.context.spend(CHECK_EVERY)
        {
            self.stop(error);
        }
        if self.halted { Err(Bubble) } else { Ok(()) }
    }

    /// Gives up: there is no answer.
    fn stop(&mut self, error: StoreError) -> Bubble {
        self.halted = true;
        self.stopped = Some(error);
        Bubble
    }

    fn field(
        &mut self,
        plan: &'a Level,
        data: &'a FetchedLevel,
        node: usize,
        values: Values<'_>,
        field: &'a OutField,
    ) -> Written {
        match &field.value {
            Output::TypeName => self.type_name(plan, data, node),
            Output::Id => write_string(&mut self.out, data.nodes[node].as_str()),
            Output::Scalar(scalar) => {
                let values = scalar_values(scalar, values);
                return match &scalar.list {
                    None => self.scalar(field, scalar, &values),
                    Some(list) => self.scalars(field, scalar, list, &values),
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
                self.number(values.range(*slot).len() as u64);
            }
            Output::ValueCount(counted) => {
                let count = self.value_count(counted, values);
                self.number(count as u64);
            }
            Output::Aggregate { edge, aggregation } => {
                let to = plan.edges[*edge];
                let range = values.range(to.slot);
                let targets = &data.targets[*edge][range];
                let depth = self.path.len();
                let written = self.aggregate(to.level, aggregation, targets);
                self.path.truncate(depth);
                return written;
            }
            Output::ValueAggregate(aggregate) => {
                // Such a level is read whole.
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

    /// Tells whether a list of objects would show any.
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
        write_string(&mut self.out, name);
    }

    pub(super) fn empty_list(&mut self) -> Written {
        let empty = if self.execution.plan.null_empty_lists {
            "null"
        } else {
            "[]"
        };
        self.out.extend_from_slice(empty.as_bytes());
        Ok(())
    }

    fn single_object(&mut self, field: &'a OutField, to: Edge, targets: &[u32]) -> Written {
        let (plan, data) = self.level(to.level);
        let known = targets
            .iter()
            .copied()
            .filter(|&node| node != NOT_AN_OBJECT && variant(plan, data, node).is_some())
            .min_by_key(|&node| &data.nodes[node as usize]);
        if targets.len() > 1 {
            self.several(field, targets.len());
        }
        match known {
            Some(node) => self.object(to.level, node),
            None => {
                if targets.contains(&NOT_AN_OBJECT) {
                    let message = "the stored value is not an object";
                    self.error(ErrorCode::ValueIllTyped, message, Some(field));
                } else if let Some(&node) = targets.first() {
                    let message = format!(
                        "the object <{}> has no type that the schema knows",
                        data.nodes[node as usize].as_str()
                    );
                    self.error(ErrorCode::TypeUnknown, &message, Some(field));
                }
                self.out.extend_from_slice(b"null");
                Ok(())
            }
        }
    }

    pub(super) fn several(&mut self, field: &'a OutField, count: usize) {
        if self.warned.insert((field.location, field.key.as_str())) {
            let message = format!(
                "WARN: the single-valued field `{}` has {count} stored values; one of them is returned",
                field.name
            );
            self.error(ErrorCode::MultipleValues, &message, Some(field));
        }
    }

    pub(super) fn ill_typed(&mut self, field: &'a OutField, term: &str) {
        let shown: String = term.chars().take(200).collect();
        let message = format!(
            "the stored value {shown} does not fit the range of `{}`",
            field.name
        );
        self.error(ErrorCode::ValueIllTyped, &message, Some(field));
    }

    pub(super) fn path(&self) -> Vec<PathSegment> {
        let segment = |place: &Place<'_>| match place {
            Place::Key(key) => PathSegment::Key((*key).to_owned()),
            Place::Index(index) => PathSegment::Index(*index),
        };
        self.path.iter().map(segment).collect()
    }

    pub(super) fn error(&mut self, code: ErrorCode, message: &str, field: Option<&OutField>) {
        self.error_at(code, message, field.and_then(|field| field.location));
    }

    pub(super) fn error_at(&mut self, code: ErrorCode, message: &str, location: Option<Location>) {
        if self.errors.len() >= MAX_ERRORS {
            self.suppressed += 1;
            return;
        }
        let path = self.path();
        let error = GraphqlError::new(code, message).at(location).on(path);
        self.errors.push(error);
    }
}

/// Returns the fields of an object; `None` when its type is not known.
fn variant<'a>(plan: &'a Level, data: &FetchedLevel, node: u32) -> Option<&'a [OutField]> {
    let variant = match &plan.typing {
        Typing::Static { .. } => 0,
        Typing::Stored { variants, .. } => {
            let object = data.objects.get(node as usize).copied().flatten()?;
            *variants.get(&object)?
        }
    };
    plan.variants.get(variant).map(Vec::as_slice)
}
