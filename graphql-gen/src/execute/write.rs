//! Writes the answer as JSON bytes, without building a tree of values first.

use std::borrow::Cow;
use std::collections::HashSet;

use oxrdf::{Literal, Term};
use soml_core::datatype::Scalar;
use soml_core::schema::Schema;

use super::fetch::{Fetched, FetchedLevel, FetchedRoot, NOT_AN_OBJECT};
use super::list::{Candidate, drop_equal, literal_sort, of_language, scalar_sort, sort_and_cut};
use super::{Answer, Execution};
use crate::error::{ErrorCode, GraphqlError, PathSegment};
use crate::plan::{
    Edge, Level, LevelId, ListOutput, LiteralOutput, LiteralPart, OutField, Output, RootValue,
    ScalarKind, ScalarOutput, ServicePart, Typing, any_language,
};
use crate::store::StoreError;
use crate::value::{cast, literal_range_accepts, write_enum, write_scalar, write_string};

/// Greatest number of errors in one answer; one more says that there were others.
const MAX_ERRORS: usize = 1_000;

/// How many objects are written between two looks at the deadline.
const CHECK_EVERY: u32 = 1_024;

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
            .push(GraphqlError::new(ErrorCode::ValueIllTyped, message));
    }
    Ok(Answer {
        data: writer.out,
        errors: writer.errors,
    })
}

/// A null where none may be: the nearest field around it that may be null becomes null.
struct Bubble;

type Written = Result<(), Bubble>;

/// A step of the path to the value at hand.
#[derive(Clone, Copy)]
enum Place<'a> {
    Key(&'a str),
    Index(usize),
}

struct Writer<'a> {
    execution: &'a Execution<'a>,
    fetched: &'a Fetched,
    out: Vec<u8>,
    errors: Vec<GraphqlError>,
    suppressed: usize,
    path: Vec<Place<'a>>,
    /// Fields that were warned of already.
    warned: HashSet<*const OutField>,
    /// Objects written so far.
    objects: u32,
    /// Nobody waits for the answer any more.
    stopped: Option<StoreError>,
    /// The answer has become too large, or is not wanted any more: nothing is worth writing.
    halted: bool,
}

impl<'a> Writer<'a> {
    fn schema(&self) -> &'a Schema {
        self.execution.schema
    }

    fn level(&self, level: LevelId) -> (&'a Level, &'a FetchedLevel) {
        (
            &self.execution.plan.levels[level.0 as usize],
            &self.fetched.levels[level.0 as usize],
        )
    }

    /// Tells whether the concrete type of an object is known.
    fn is_known(&self, level: LevelId, node: u32) -> bool {
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
                (_, FetchedRoot::Count(count)) => self.number(*count),
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
            let start = self.out.len();
            self.path.push(Place::Index(index));
            let written = match *entity {
                Some((level, node)) if self.is_known(level, node) => self.object(level, node),
                _ => Err(Bubble),
            };
            self.path.pop();
            if written.is_err() {
                self.null_from(start, false)?;
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

    fn number(&mut self, number: u64) {
        serde_json::to_writer(&mut self.out, &number).expect("writing to memory does not fail");
    }

    fn key(&mut self, position: usize, key: &str) {
        if position > 0 {
            self.out.push(b',');
        }
        // GraphQL names need no escapes.
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    /// Writes a list of objects; those of no known type are left out.
    fn objects(&mut self, level: LevelId, nodes: &[u32], list: &ListOutput) -> Written {
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
            let start = self.out.len();
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
                self.null_from(start, list.non_null_elements)?;
            }
            index += 1;
        }
        self.out.push(b']');
        Ok(())
    }

    /// Replaces what was written since `start` by null, unless null is not allowed.
    fn null_from(&mut self, start: usize, non_null: bool) -> Written {
        self.out.truncate(start);
        if non_null || self.halted {
            return Err(Bubble);
        }
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn object(&mut self, level: LevelId, node: u32) -> Written {
        let (plan, data) = self.level(level);
        let fields = variant(plan, data, node).expect("the caller saw the type");
        self.check_size_and_time()?;
        self.out.push(b'{');
        for (position, field) in fields.iter().enumerate() {
            self.key(position, &field.key);
            self.path.push(Place::Key(&field.key));
            let start = self.out.len();
            let errors = self.errors.len();
            let mut written = self.field(plan, data, node as usize, field);
            if written.is_ok() && field.non_null && self.out[start..] == *b"null" {
                if self.errors.len() == errors {
                    let message = format!("the field `{}` has no value", field.name);
                    self.error(ErrorCode::NonNullViolated, &message, Some(field));
                }
                written = Err(Bubble);
            }
            self.path.pop();
            if written.is_err() {
                self.null_from(start, field.non_null)?;
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    fn check_size_and_time(&mut self) -> Written {
        let limit = self.execution.limits.response_bytes;
        if !self.halted && self.out.len() > limit {
            self.halted = true;
            let error = GraphqlError::new(ErrorCode::LimitResponse, "the answer is too large");
            self.errors.push(error.with("limit", limit));
        }
        self.objects = self.objects.wrapping_add(1);
        if self.objects.is_multiple_of(CHECK_EVERY)
            && let Err(error) = self.execution.context.check()
        {
            self.halted = true;
            self.stopped = Some(error);
        }
        if self.halted { Err(Bubble) } else { Ok(()) }
    }

    fn field(
        &mut self,
        plan: &'a Level,
        data: &'a FetchedLevel,
        node: usize,
        field: &'a OutField,
    ) -> Written {
        match &field.value {
            Output::TypeName => self.type_name(plan, data, node),
            Output::Id => write_string(&mut self.out, data.nodes[node].as_str()),
            Output::Scalar(scalar) => {
                let values = scalar_values(scalar, data, node);
                return match &scalar.list {
                    None => self.scalar(field, scalar, &values),
                    Some(list) => self.scalars(field, scalar, list, &values),
                };
            }
            Output::Literal(literal) => {
                let values = data.hydrated.columns[literal.slot].of(node);
                return match &literal.list {
                    None => self.literal(field, literal, values),
                    Some(list) => self.literals(field, literal, list, values),
                };
            }
            Output::ObjectCount { slot } => {
                self.number(data.hydrated.columns[*slot].range(node).len() as u64);
            }
            Output::ValueCount(values) => {
                let count = self.value_count(values, data, node);
                self.number(count as u64);
            }
            Output::Objects { edge, list } => {
                let to = plan.edges[*edge];
                let range = data.hydrated.columns[to.slot].range(node);
                let targets = &data.targets[*edge][range];
                return match list {
                    None => self.single_object(field, to, targets),
                    Some(_) if targets.is_empty() => self.empty_list(),
                    Some(list) => self.objects(to.level, targets, list),
                };
            }
        }
        Ok(())
    }

    /// Returns how many values a list field would give.
    fn value_count(&self, values: &Output, data: &FetchedLevel, node: usize) -> usize {
        let mut candidates = match values {
            Output::Scalar(scalar) => {
                self.candidates(scalar, &scalar_values(scalar, data, node), false)
            }
            Output::Literal(literal) => {
                let values = data.hydrated.columns[literal.slot].of(node);
                self.literal_candidates(literal, values, literal.lang.as_ref(), &[])
            }
            _ => Vec::new(),
        };
        drop_equal(&mut candidates);
        candidates.len()
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

    fn empty_list(&mut self) -> Written {
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

    fn write_value(&mut self, kind: ScalarKind, term: &Term) -> bool {
        match kind {
            ScalarKind::Scalar(scalar) => {
                write_scalar(&mut self.out, scalar, term, self.execution.numbers)
            }
            ScalarKind::Enum(id) => {
                let schema = self.schema();
                write_enum(&mut self.out, &schema[id], term)
            }
        }
    }

    fn scalar(&mut self, field: &'a OutField, scalar: &ScalarOutput, values: &[Term]) -> Written {
        match values {
            [] => self.out.extend_from_slice(b"null"),
            // By far the most frequent case costs no copy.
            [single] if self.is_wanted(scalar, single) => {
                if !self.write_value(scalar.kind, single) {
                    self.ill_typed(field, &single.to_string());
                    self.out.extend_from_slice(b"null");
                }
            }
            several => {
                let mut candidates = self.candidates(scalar, several, true);
                drop_equal(&mut candidates);
                candidates.sort_by(|a, b| a.sort.cmp(&b.sort));
                self.first(field, candidates);
            }
        }
        Ok(())
    }

    /// Tells whether the language specification has nothing against the only value.
    fn is_wanted(&self, scalar: &ScalarOutput, value: &Term) -> bool {
        let accepted = &self.execution.context.accept_language;
        scalar.lang.is_none()
            || !of_language(std::slice::from_ref(value), scalar.lang.as_ref(), accepted).is_empty()
    }

    /// Writes the first of the candidates for a single value.
    fn first(&mut self, field: &'a OutField, candidates: Vec<Candidate>) {
        if candidates.len() > 1 {
            self.several(field, candidates.len());
        }
        let well_typed = candidates
            .iter()
            .position(|c| c.json.is_some())
            .unwrap_or(0);
        match candidates.into_iter().nth(well_typed) {
            None => self.out.extend_from_slice(b"null"),
            Some(Candidate {
                json: Some(json), ..
            }) => self.out.extend_from_slice(&json),
            Some(Candidate {
                json: None, term, ..
            }) => {
                self.ill_typed(field, &term);
                self.out.extend_from_slice(b"null");
            }
        }
    }

    fn scalars(
        &mut self,
        field: &'a OutField,
        scalar: &ScalarOutput,
        list: &ListOutput,
        values: &[Term],
    ) -> Written {
        let mut candidates = self.candidates(scalar, values, false);
        drop_equal(&mut candidates);
        sort_and_cut(&mut candidates, list);
        self.list(field, list, candidates)
    }

    fn candidates(&self, scalar: &ScalarOutput, values: &[Term], single: bool) -> Vec<Candidate> {
        let any;
        let spec = match &scalar.lang {
            None if single => {
                any = any_language();
                Some(&any)
            }
            spec => spec.as_ref(),
        };
        let accepted = &self.execution.context.accept_language;
        of_language(values, spec, accepted)
            .into_iter()
            .map(|term| {
                let mut json = Vec::new();
                let written = match scalar.kind {
                    ScalarKind::Scalar(kind) => {
                        write_scalar(&mut json, kind, term, self.execution.numbers)
                    }
                    ScalarKind::Enum(id) => write_enum(&mut json, &self.schema()[id], term),
                };
                Candidate {
                    sort: vec![scalar_sort(scalar.kind, term)],
                    json: written.then_some(json),
                    term: if written {
                        String::new()
                    } else {
                        term.to_string()
                    },
                }
            })
            .collect()
    }

    fn list(
        &mut self,
        field: &'a OutField,
        list: &ListOutput,
        candidates: Vec<Candidate>,
    ) -> Written {
        if candidates.is_empty() {
            return self.empty_list();
        }
        self.out.push(b'[');
        for (index, candidate) in candidates.into_iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            match candidate.json {
                Some(json) => self.out.extend_from_slice(&json),
                None => {
                    self.path.push(Place::Index(index));
                    self.ill_typed(field, &candidate.term);
                    self.path.pop();
                    let start = self.out.len();
                    self.null_from(start, list.non_null_elements)?;
                }
            }
        }
        self.out.push(b']');
        Ok(())
    }

    fn literal(&mut self, field: &'a OutField, out: &LiteralOutput, values: &[Term]) -> Written {
        let any = any_language();
        let mut candidates =
            self.literal_candidates(out, values, out.lang.as_ref().or(Some(&any)), &[]);
        drop_equal(&mut candidates);
        candidates.sort_by(|a, b| a.sort.cmp(&b.sort));
        self.first(field, candidates);
        Ok(())
    }

    fn literals(
        &mut self,
        field: &'a OutField,
        out: &LiteralOutput,
        list: &ListOutput,
        values: &[Term],
    ) -> Written {
        let mut candidates = self.literal_candidates(out, values, out.lang.as_ref(), &list.order);
        drop_equal(&mut candidates);
        sort_and_cut(&mut candidates, list);
        self.list(field, list, candidates)
    }

    fn literal_candidates(
        &self,
        out: &LiteralOutput,
        values: &[Term],
        spec: Option<&soml_core::lang::LangSpec>,
        order: &[(crate::plan::SortBy, bool)],
    ) -> Vec<Candidate> {
        let accepted = &self.execution.context.accept_language;
        of_language(values, spec, accepted)
            .into_iter()
            .map(|term| {
                let json = match term {
                    Term::Literal(literal)
                        if literal_range_accepts(self.schema(), out.range, literal) =>
                    {
                        Some(literal_object(out, literal))
                    }
                    _ => None,
                };
                let mut sort = literal_sort(order, term);
                sort.extend(literal_sort(
                    &[
                        (crate::plan::SortBy::Text(None), false),
                        (crate::plan::SortBy::Lang, false),
                        (crate::plan::SortBy::Datatype, false),
                    ],
                    term,
                ));
                let term = if json.is_some() {
                    String::new()
                } else {
                    term.to_string()
                };
                Candidate { sort, json, term }
            })
            .collect()
    }

    fn several(&mut self, field: &'a OutField, count: usize) {
        if self.warned.insert(std::ptr::from_ref(field)) {
            let message = format!(
                "WARN: the single-valued field `{}` has {count} stored values; one of them is returned",
                field.name
            );
            self.error(ErrorCode::MultipleValues, &message, Some(field));
        }
    }

    fn ill_typed(&mut self, field: &'a OutField, term: &str) {
        let shown: String = term.chars().take(200).collect();
        let message = format!(
            "the stored value {shown} does not fit the range of `{}`",
            field.name
        );
        self.error(ErrorCode::ValueIllTyped, &message, Some(field));
    }

    fn error(&mut self, code: ErrorCode, message: &str, field: Option<&OutField>) {
        if self.errors.len() >= MAX_ERRORS {
            self.suppressed += 1;
            return;
        }
        let path = self.path.iter().map(|place| match place {
            Place::Key(key) => PathSegment::Key((*key).to_owned()),
            Place::Index(index) => PathSegment::Index(*index),
        });
        let error = GraphqlError::new(code, message)
            .at(field.and_then(|field| field.location))
            .on(path.collect());
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

/// Returns the stored values of a scalar field, cast where the schema asks for it.
fn scalar_values<'d>(
    scalar: &ScalarOutput,
    data: &'d FetchedLevel,
    node: usize,
) -> Cow<'d, [Term]> {
    let values = data.hydrated.columns[scalar.slot].of(node);
    if !scalar.cast {
        return Cow::Borrowed(values);
    }
    let cast_to = match scalar.kind {
        ScalarKind::Scalar(scalar) => scalar,
        ScalarKind::Enum(_) => Scalar::String,
    };
    let values = values.iter().filter_map(|value| cast(cast_to, value));
    Cow::Owned(values.map(Cow::into_owned).collect())
}

fn literal_object(output: &LiteralOutput, literal: &Literal) -> Vec<u8> {
    let mut out = vec![b'{'];
    for (position, field) in output.fields.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_string(&mut out, &field.key);
        out.push(b':');
        match (field.part, literal.language()) {
            (LiteralPart::Value, _) => write_string(&mut out, literal.value()),
            (LiteralPart::Lang, Some(tag)) => write_string(&mut out, &bcp47_case(tag)),
            (LiteralPart::Type, None) => write_string(&mut out, literal.datatype().as_str()),
            (LiteralPart::TypeName, _) => write_string(&mut out, "Literal"),
            (LiteralPart::Lang, None) | (LiteralPart::Type, Some(_)) => {
                out.extend_from_slice(b"null");
            }
        }
    }
    out.push(b'}');
    out
}

/// Writes a language tag in the case that BCP 47 recommends: `zh-Hant-TW`.
fn bcp47_case(tag: &str) -> String {
    let mut out = String::with_capacity(tag.len());
    let mut after_singleton = false;
    for (position, part) in tag.split('-').enumerate() {
        if position > 0 {
            out.push('-');
        }
        let lower = part.to_ascii_lowercase();
        match (position, part.len(), after_singleton) {
            (1.., 2, false) => out.push_str(&lower.to_ascii_uppercase()),
            (1.., 4, false) => {
                out.push_str(&lower[..1].to_ascii_uppercase());
                out.push_str(&lower[1..]);
            }
            _ => out.push_str(&lower),
        }
        after_singleton = part.len() == 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::bcp47_case;

    #[test]
    fn tags_are_written_as_recommended() {
        for (tag, expected) in [
            ("EN", "en"),
            ("en-us", "en-US"),
            ("zh-hant-tw", "zh-Hant-TW"),
            ("de-x-ab", "de-x-ab"),
            ("zh-classical", "zh-classical"),
        ] {
            assert_eq!(bcp47_case(tag), expected);
        }
    }
}
