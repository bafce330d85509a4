//! Writes aggregates: counts, extremes, sums and groups, computed over fetched values.
//!
//! Values are compared and added as canonical values; only what the answer shows is converted to
//! text.

mod columns;
mod groups;
mod tally;

use std::rc::Rc;

pub(super) use columns::Columns;
use columns::{Readers, ValueLists, ValueReader};
use graph_store::query::TermSlice;
use graphql_service::error::{GraphqlError, Location};
use graphql_service::writer::{PathStep, PropagateNull, WriteResult, write_string};
use groups::{Group, Grouper, NoGroups};
use tally::{Measurement, Needs, Tally, scalar_of};

use super::fetch::{FetchedRoot, NOT_AN_OBJECT};
use super::write::Writer;
use crate::code;
use crate::plan::{
    AggregateField, AggregatePart, AggregatedKind, AggregatedValues, Aggregation, GroupPart,
    Grouping, KeyPart, LevelId, Measure, MeasurePart, MeasuredValues, ResponseField, RootAggregate,
    ValueAggregate,
};

impl<'a> Writer<'a> {
    pub(super) fn root_aggregate(
        &mut self,
        aggregate: &'a RootAggregate,
        fetched: &'a FetchedRoot,
    ) -> WriteResult {
        match fetched {
            FetchedRoot::Objects(nodes) => {
                self.aggregate(aggregate.objects.level, &aggregate.aggregation, nodes)
            }
            FetchedRoot::Count(count) => self.counted(&aggregate.aggregation, *count),
            _ => unreachable!("objects or their number are fetched for an aggregate"),
        }
    }

    /// Writes the aggregate of some objects of a level.
    pub(super) fn aggregate(
        &mut self,
        level: LevelId,
        aggregation: &'a Aggregation,
        nodes: &[u32],
    ) -> WriteResult {
        let nodes: Vec<usize> = nodes
            .iter()
            .filter(|&&node| node != NOT_AN_OBJECT)
            .map(|&node| node as usize)
            .collect();
        if aggregation.is_count() {
            return self.counted(aggregation, nodes.len() as u64);
        }
        let columns = self.columns(level, aggregation)?;
        self.answer.out.push(b'{');
        for (position, field) in aggregation.fields.iter().enumerate() {
            self.answer.check_size()?;
            self.answer.key(position, &field.key);
            self.answer.enter(PathStep::Key(&field.key));
            match &field.part {
                AggregatePart::Values(measured) => {
                    let values = &aggregation.values[measured.values];
                    let tally = self.tally(measured, &columns, &nodes)?;
                    self.measures(measured, &values.kind, |measure| tally.measure(measure));
                }
                AggregatePart::Groups(grouping) => {
                    self.groups(aggregation, field, grouping, &columns, &nodes)?;
                }
                part => self.plain_part(part, nodes.len() as u64),
            }
            self.answer.leave();
        }
        self.answer.out.push(b'}');
        Ok(())
    }

    /// Writes an aggregate that requests only the number of objects.
    fn counted(&mut self, aggregation: &'a Aggregation, count: u64) -> WriteResult {
        self.answer.out.push(b'{');
        for (position, field) in aggregation.fields.iter().enumerate() {
            self.answer.key(position, &field.key);
            self.plain_part(&field.part, count);
        }
        self.answer.out.push(b'}');
        Ok(())
    }

    fn plain_part(&mut self, part: &AggregatePart, count: u64) {
        match part {
            AggregatePart::TypeName(name) => write_string(&mut self.answer.out, name),
            AggregatePart::Count => self.answer.number(count),
            AggregatePart::Values(_) | AggregatePart::Groups(_) => {
                unreachable!("values and groups are written with their columns")
            }
        }
    }

    /// Writes the aggregate of the values of one object.
    pub(super) fn value_aggregate(
        &mut self,
        field: &'a ResponseField,
        aggregate: &'a ValueAggregate,
        terms: TermSlice<'a>,
    ) {
        let mut reader = self.reader(&aggregate.values);
        let mut lists = ValueLists::with_capacity(1);
        lists.push(&mut reader, terms);
        if reader.left_out > 0
            && self
                .answer
                .is_first_warning(code::VALUES_LEFT_OUT, field.location, &field.key)
        {
            self.report(&reader, field.location);
        }
        let mut tally = Tally::new(needs(&aggregate.fields));
        lists.of(0).iter().for_each(|value| tally.add(value));
        let measured = |measure| tally.measure(measure);
        self.measure_fields(&aggregate.fields, &aggregate.values.kind, measured);
    }

    /// Returns the values of a level, read once for all aggregates over it.
    fn columns(
        &mut self,
        level: LevelId,
        aggregation: &'a Aggregation,
    ) -> Result<Rc<Columns<'a>>, PropagateNull> {
        if let Some(known) = self.columns.get(&level) {
            return Ok(Rc::clone(known));
        }
        let (_, data) = self.level(level);
        let mut lists = Vec::with_capacity(aggregation.values.len());
        for values in &aggregation.values {
            let mut readers = Readers::new(values, |values| self.reader(values));
            let mut list = ValueLists::with_capacity(data.nodes.len());
            for node in 0..data.nodes.len() {
                self.check_time()?;
                let reader = readers.of(data.objects.get(node).copied().flatten());
                let column = &data.hydrated.columns[reader.values.slot];
                list.push(reader, column.of(node));
            }
            self.report(&readers.joined(), None);
            lists.push(list);
        }
        let columns = Rc::new(Columns { lists });
        self.columns.insert(level, Rc::clone(&columns));
        Ok(columns)
    }

    fn reader(&self, values: &'a AggregatedValues) -> ValueReader<'a> {
        let names = match values.kind {
            AggregatedKind::Enum(id) => {
                let names = self.schema()[id].values.iter();
                names.map(|value| value.name.as_str()).collect()
            }
            _ => Vec::new(),
        };
        ValueReader {
            values,
            names,
            accept_language: &self.execution.context.accept_language,
            left_out: 0,
            example: None,
            several: 0,
        }
    }

    /// Reports once what the aggregate skips.
    fn report(&mut self, reader: &ValueReader<'_>, location: Option<Location>) {
        let name = &reader.values.name;
        if let Some(example) = &reader.example {
            let (left_out, verbs) = match reader.left_out {
                1 => ("1 stored value".to_owned(), ("does", "is")),
                several => (format!("{several} stored values"), ("do", "are")),
            };
            let message = format!(
                "WARN: {left_out} {} not fit the range of `{name}` and {} left out, such as \
                 {example}",
                verbs.0, verbs.1
            );
            self.answer.error(code::VALUES_LEFT_OUT, &message, location);
        }
        if reader.several > 0 {
            let objects = match reader.several {
                1 => "1 object".to_owned(),
                several => format!("{several} objects"),
            };
            let message = format!(
                "WARN: the single-valued field `{name}` of {objects} has several stored values; \
                 one of them takes part"
            );
            self.answer
                .warning(code::MULTIPLE_VALUES, &message, location);
        }
    }

    fn tally<'v>(
        &mut self,
        measured: &MeasuredValues,
        columns: &'v Columns<'a>,
        nodes: &[usize],
    ) -> Result<Tally<'v>, PropagateNull>
    where
        'a: 'v,
    {
        let mut tally = Tally::new(needs(&measured.fields));
        let list = &columns.lists[measured.values];
        for &node in nodes {
            self.check_time()?;
            list.of(node).iter().for_each(|value| tally.add(value));
        }
        Ok(tally)
    }

    fn measures<'v>(
        &mut self,
        measured: &'a MeasuredValues,
        kind: &AggregatedKind,
        measurement: impl Fn(Measure) -> Measurement<'v>,
    ) {
        self.measure_fields(&measured.fields, kind, measurement);
    }

    fn measure_fields<'v>(
        &mut self,
        fields: &'a [(String, MeasurePart)],
        kind: &AggregatedKind,
        measurement: impl Fn(Measure) -> Measurement<'v>,
    ) {
        self.answer.out.push(b'{');
        for (position, (key, part)) in fields.iter().enumerate() {
            self.answer.key(position, key);
            let measure = match part {
                MeasurePart::TypeName(name) => {
                    write_string(&mut self.answer.out, name);
                    continue;
                }
                MeasurePart::Measure(measure) => *measure,
            };
            match measurement(measure) {
                Ok(Some(value)) => {
                    let numbers = self.execution.numbers;
                    value.write(&mut self.answer.out, scalar_of(kind, measure), numbers);
                }
                Ok(None) => self.answer.out.extend_from_slice(b"null"),
                Err(_) => {
                    self.answer.enter(PathStep::Key(key));
                    let message = "the value cannot be represented exactly";
                    self.error(code::AGGREGATE_RANGE, message, None);
                    self.answer.leave();
                    self.answer.out.extend_from_slice(b"null");
                }
            }
        }
        self.answer.out.push(b'}');
    }

    fn groups(
        &mut self,
        aggregation: &'a Aggregation,
        field: &'a AggregateField,
        grouping: &'a Grouping,
        columns: &Columns<'a>,
        nodes: &[usize],
    ) -> WriteResult {
        let limit = self.execution.engine_limits.groups;
        let mut grouper = Grouper::new(grouping, columns, limit);
        for &node in nodes {
            self.check_time()?;
            if let Err(reason) = grouper.add(node) {
                return Err(self.no_groups(&reason, field.location));
            }
        }
        let groups = match grouper.finish() {
            Ok(groups) => groups,
            Err(reason) => return Err(self.no_groups(&reason, field.location)),
        };
        self.check_page(groups.len())?;
        self.answer.out.push(b'[');
        for (index, group) in groups.iter().enumerate() {
            if index > 0 {
                self.answer.out.push(b',');
            }
            self.check_size_and_time()?;
            self.answer.enter(PathStep::Index(index));
            self.group(aggregation, grouping, &grouper, group);
            self.answer.leave();
        }
        self.answer.out.push(b']');
        Ok(())
    }

    fn no_groups(&mut self, reason: &NoGroups, location: Option<Location>) -> PropagateNull {
        match reason {
            NoGroups::TooMany(limit) => {
                let message = format!("there are more than {limit} groups");
                let error = GraphqlError::new(code::LIMIT_GROUPS, message)
                    .at(location)
                    .on(self.answer.path());
                self.answer.push_error(error.with("limit", *limit));
            }
            NoGroups::OutOfRange => {
                let message = "the groups cannot be represented exactly";
                self.answer.error(code::AGGREGATE_RANGE, message, location);
            }
        }
        PropagateNull
    }

    fn group<'v>(
        &mut self,
        aggregation: &'a Aggregation,
        grouping: &'a Grouping,
        grouper: &Grouper<'v>,
        group: &Group<'v>,
    ) {
        self.answer.out.push(b'{');
        for (position, field) in grouping.fields.iter().enumerate() {
            self.answer.key(position, &field.key);
            self.answer.enter(PathStep::Key(&field.key));
            match &field.part {
                GroupPart::TypeName(name) => write_string(&mut self.answer.out, name),
                GroupPart::Count => self.answer.number(group.count),
                GroupPart::Key(parts) => self.group_key(aggregation, grouping, group, parts),
                GroupPart::Values(measured) => {
                    let kind = &aggregation.values[measured.values].kind;
                    let measurement = |measure| grouper.measure(group, measured.values, measure);
                    self.measures(measured, kind, measurement);
                }
            }
            self.answer.leave();
        }
        self.answer.out.push(b'}');
    }

    fn group_key(
        &mut self,
        aggregation: &Aggregation,
        grouping: &Grouping,
        group: &Group<'_>,
        parts: &[(String, KeyPart)],
    ) {
        self.answer.out.push(b'{');
        for (position, (key, part)) in parts.iter().enumerate() {
            self.answer.key(position, key);
            match part {
                KeyPart::TypeName(name) => write_string(&mut self.answer.out, name),
                KeyPart::Of(part) => match group.key[*part] {
                    None => self.answer.out.extend_from_slice(b"null"),
                    Some(value) => {
                        let kind = &aggregation.values[grouping.by[*part]].kind;
                        let numbers = self.execution.numbers;
                        value.write(&mut self.answer.out, kind.scalar(), numbers);
                    }
                },
            }
        }
        self.answer.out.push(b'}');
    }
}

/// Returns the measures that the fields of measured values need.
fn needs(fields: &[(String, MeasurePart)]) -> Needs {
    let mut needs = Needs::default();
    for (_, part) in fields {
        if let MeasurePart::Measure(measure) = part {
            needs.add(*measure);
        }
    }
    needs
}
