//! Plans mutations: what is written, as far as no data is needed to know it, and what is read back.

use std::collections::HashSet;
use std::sync::Arc;

use apollo_compiler::Node;
use apollo_compiler::executable;
use apollo_compiler::response::JsonValue;
use graph_store::query::{Dataset, NodeCondition, Page, Selection};
use graphql_gen::typesystem::{MutationField as Meaning, Verb};
use graphql_service::error::{GraphqlError, Location, PathSegment};
use oxrdf::NamedNode;
use soml_core::schema::ObjectId;

use super::Plan;
use super::build::{PlanInput, Planner, Result};
use super::collect::{Fields, Parent, collect};
use super::entry::{Entry, EntryReader, Purpose};
use super::filter::FilterBuilder;
use super::guard;
use super::input::Input;
use super::write_access::WriteAccess;
use crate::access::Permit;
use crate::code;

/// What a mutation does.
#[derive(Clone, Debug)]
pub(crate) struct MutationPlan {
    /// Its fields in response order.
    pub(crate) fields: Vec<MutationRoot>,
    /// The objects that are created or changed, those that are created inside of others too.
    pub(crate) entries: Vec<Entry>,
    /// What is wrong whatever the data are.
    pub(crate) findings: Vec<GraphqlError>,
    /// Checks and answers, and writes nothing.
    pub(crate) dry_run: bool,
}

impl MutationPlan {
    /// Returns whether a right is missing whatever the data are; then nothing else is said.
    pub(crate) fn is_denied(&self) -> bool {
        self.findings.iter().any(is_missing_right)
    }

    /// Returns whether some field finds its objects by a condition.
    pub(crate) fn selects(&self) -> bool {
        self.fields.iter().any(|root| match root {
            MutationRoot::Write(field) => {
                matches!(field.action, Action::UpdateWhere(..) | Action::Delete(_))
            }
            MutationRoot::TypeName(_) => false,
        })
    }
}

/// A root field of a mutation.
#[derive(Clone, Debug)]
pub(crate) enum MutationRoot {
    /// The name of the type, under a response key.
    TypeName(String),
    /// Something that is written.
    Write(Box<MutationField>),
}

impl MutationRoot {
    /// Returns the response key.
    pub(crate) fn key(&self) -> &str {
        match self {
            MutationRoot::TypeName(key) => key,
            MutationRoot::Write(field) => &field.key,
        }
    }
}

/// A field that writes.
#[derive(Clone, Debug)]
pub(crate) struct MutationField {
    /// Response key.
    pub(crate) key: String,
    /// Position in the document.
    pub(crate) location: Option<Location>,
    /// The object of the schema whose instances are written.
    pub(crate) object: ObjectId,
    /// What happens to them.
    pub(crate) action: Action,
    /// The fields of the payload, by response key.
    pub(crate) payload: Vec<(String, PayloadPart)>,
    /// What the payload reads back: a root for each [`PayloadPart::Objects`].
    pub(crate) read_back: Arc<Plan>,
}

/// What a field does.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Creates objects: positions in [`MutationPlan::entries`].
    Create(Vec<usize>),
    /// Changes objects by their ids: positions in [`MutationPlan::entries`].
    Update(Vec<usize>),
    /// Changes all objects of a selection alike.
    UpdateWhere(Box<Selected>, usize),
    /// Deletes all objects of a selection.
    Delete(Box<Selected>),
}

/// The objects that `where` selects.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    pub(crate) selection: Selection,
    /// Ids that `where` lists, which must exist.
    pub(crate) listed: Vec<NamedNode>,
}

/// A field of a payload.
#[derive(Clone, Debug)]
pub(crate) enum PayloadPart {
    /// The name of the payload's type.
    TypeName,
    /// Numbers of affected objects by type.
    Counts(Vec<(String, AffectedPart)>),
    /// Affected objects by type.
    Ids(Vec<(String, AffectedPart)>),
    /// The objects: the position of a root of [`MutationField::read_back`].
    Objects(usize),
}

/// A field of the affected objects of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AffectedPart {
    TypeName,
    /// The name of the type; and the position in the document.
    Kind(Option<Location>),
    Count,
    /// The ids; and the position in the document.
    Ids(Option<Location>),
}

/// Where in a mutation something is wrong.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) key: String,
    pub(crate) location: Option<Location>,
}

impl Place {
    /// Returns a finding about a part of the input.
    pub(crate) fn finding(
        &self,
        code: graphql_service::ErrorCode,
        message: impl Into<String>,
        input: &[PathSegment],
    ) -> GraphqlError {
        let steps = input.iter().map(|step| match step {
            PathSegment::Key(key) => JsonValue::from(key.as_str()),
            PathSegment::Index(index) => JsonValue::from(*index as u64),
        });
        let path: Vec<JsonValue> = steps.collect();
        GraphqlError::new(code, message)
            .at(self.location)
            .on(vec![PathSegment::Key(self.key.clone())])
            .with("inputPath", path)
    }
}

impl MutationField {
    pub(crate) fn place(&self) -> Place {
        Place {
            key: self.key.clone(),
            location: self.location,
        }
    }
}

/// Plans a validated mutation.
///
/// # Errors
/// When an argument is not allowed or a limit is exceeded. What is wrong with the objects themselves is
/// in [`MutationPlan::findings`].
pub(crate) fn build_mutation(
    input: &PlanInput<'_>,
    rights: Option<&Permit>,
) -> Result<MutationPlan> {
    let mut plan = MutationPlan {
        fields: Vec::new(),
        entries: Vec::new(),
        findings: Vec::new(),
        dry_run: false,
    };
    let mut fields = Fields::default();
    let sets = [&input.operation.selection_set];
    collect(input, &Parent::Root, &sets, &mut fields);
    // All fields are one transaction (docs/writing.md, "Transactions"); GraphQL only asks that they
    // run one after the other (<https://spec.graphql.org/September2025/#sec-Mutation>).
    let mut dry_runs = Vec::new();
    for (key, nodes) in fields.entries {
        let Some(meaning) = input.api.mutation_field(&nodes[0].name) else {
            plan.fields.push(MutationRoot::TypeName(key));
            continue;
        };
        let builder = FieldBuilder {
            input,
            rights: WriteAccess {
                api: input.api,
                access: rights,
            },
            node: nodes[0],
            meaning,
        };
        dry_runs.push(builder.flag("dryRun"));
        let field = builder.field(key, &nodes, &mut plan)?;
        plan.fields.push(MutationRoot::Write(Box::new(field)));
    }
    plan.dry_run = dry_runs.first().copied().unwrap_or_default();
    if dry_runs.iter().any(|dry_run| *dry_run != plan.dry_run) {
        let message =
            "`dryRun` must be the same for all fields of a mutation, which are written together";
        return Err(GraphqlError::new(code::DRY_RUN_MIXED, message));
    }
    keep_missing_rights(&mut plan.findings);
    Ok(plan)
}

fn is_missing_right(finding: &GraphqlError) -> bool {
    finding.code == graphql_service::code::ACCESS_DENIED
}

/// Drops all findings but missing rights, each of which is reported once, where there is one: whoever lacks a
/// right is told nothing that depends on data.
pub(crate) fn keep_missing_rights(findings: &mut Vec<GraphqlError>) {
    if !findings.iter().any(is_missing_right) {
        return;
    }
    let mut known = HashSet::new();
    findings.retain(|finding| is_missing_right(finding) && known.insert(finding.message.clone()));
}

/// Builds one field.
struct FieldBuilder<'p, 'a> {
    input: &'p PlanInput<'a>,
    rights: WriteAccess<'p>,
    node: &'a Node<executable::Field>,
    meaning: Meaning,
}

impl<'a> FieldBuilder<'_, 'a> {
    fn argument(&self, name: &str) -> Option<(Input, Option<Location>)> {
        let (variables, document) = (self.input.variables, self.input.document);
        super::input::Arguments::new(&self.node.arguments, variables, &document.sources).get(name)
    }

    /// Returns `where` as it is written, even if it is null or a variable without a value: whoever
    /// writes it means to select objects by it.
    fn written_where(&self) -> Option<&'a Node<executable::Argument>> {
        let mut arguments = self.node.arguments.iter();
        arguments.find(|argument| argument.name == "where")
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.argument(name), Some((Input::Boolean(true), _)))
    }

    fn field(
        &self,
        key: String,
        nodes: &[&'a Node<executable::Field>],
        plan: &mut MutationPlan,
    ) -> Result<MutationField> {
        let location = Location::of(self.node.name.location(), &self.input.document.sources);
        let place = Place {
            key: key.clone(),
            location,
        };
        let action = match self.meaning.verb {
            Verb::Create => Action::Create(self.objects(&place, plan, Purpose::Create)?),
            Verb::Update => self.update(&place, plan)?,
            Verb::Delete => {
                self.check_delete(&place, plan);
                Action::Delete(Box::new(self.selected()?))
            }
        };
        let (payload, read_back) = self.payload(nodes)?;
        Ok(MutationField {
            key,
            location,
            object: self.meaning.object,
            action,
            payload,
            read_back: Arc::new(read_back),
        })
    }

    fn check_delete(&self, place: &Place, plan: &mut MutationPlan) {
        if let Some(message) = self.rights.lacks_delete(self.meaning.object) {
            let finding = place.finding(graphql_service::code::ACCESS_DENIED, message, &[]);
            plan.findings.push(finding);
        }
    }

    fn update(&self, place: &Place, plan: &mut MutationPlan) -> Result<Action> {
        if self.written_where().is_none() {
            return Ok(Action::Update(self.objects(
                place,
                plan,
                Purpose::Update,
            )?));
        }
        let entries = self.objects(place, plan, Purpose::UpdateSelected)?;
        let selected = self.selected()?;
        let [entry] = entries[..] else {
            let message = "with `where`, `objects` needs exactly one entry, which is applied to each \
                           selected object";
            let path = [PathSegment::Key("objects".to_owned())];
            plan.findings
                .push(place.finding(code::INPUT_INVALID, message, &path));
            return Ok(Action::Update(Vec::new()));
        };
        Ok(Action::UpdateWhere(Box::new(selected), entry))
    }

    /// Reads `objects`.
    fn objects(
        &self,
        place: &Place,
        plan: &mut MutationPlan,
        purpose: Purpose,
    ) -> Result<Vec<usize>> {
        let Some((objects, _)) = self.argument("objects") else {
            return Ok(Vec::new());
        };
        let mut reader = EntryReader {
            api: self.input.api,
            limits: self.input.limits,
            regexes: self.input.regexes,
            rights: self.rights,
            place,
            entries: &mut plan.entries,
            findings: &mut plan.findings,
        };
        let mut entries = Vec::new();
        for (index, object) in objects.as_list().iter().enumerate() {
            let path = vec![
                PathSegment::Key("objects".to_owned()),
                PathSegment::Index(index),
            ];
            entries.extend(reader.read(purpose, self.meaning.object, object, path));
            reader.check_count()?;
        }
        Ok(entries)
    }

    /// Reads `where`, which must not stand for everything unless that is said (docs/writing.md,
    /// "Deleting").
    fn selected(&self) -> Result<Selected> {
        let api = self.input.api;
        let target = api.range_type(self.meaning.object);
        let sources = &self.input.document.sources;
        if let Some(written) = self.written_where() {
            guard::check_variables(written, self.input.variables, sources)?;
        }
        // Null is as good as no condition.
        let filter = self
            .argument("where")
            .map(|(filter, _)| filter)
            .unwrap_or(Input::Object(Vec::new()));
        let place = self.written_where().and_then(|written| written.location());
        let location = Location::of(place, sources);
        let view = self.input.view();
        let shown = view.shown(target);
        let condition =
            FilterBuilder::new(view, self.input.limits, location).objects(target, &filter)?;
        let instances = NodeCondition::Instance(view.test(target));
        let facts =
            match NodeCondition::all([Some(instances), shown.condition()].into_iter().flatten()) {
                NodeCondition::All(facts) => facts,
                fact => vec![fact],
            };
        // The filter is judged by what it means, so no way of writing "everything" gets through.
        if condition.is_true_given(&facts) && !self.flag("allowAll") {
            let message = match self.meaning.verb {
                Verb::Delete => "`where` selects all objects; confirm with `allowAll: true`",
                _ => "`where` selects all objects; select some of them",
            };
            return Err(GraphqlError::new(code::WHERE_REQUIRED, message).at(location));
        }
        if shown.is_nothing() {
            // No one selects objects that they may not see.
            let name = api.type_name(self.meaning.object);
            return Err(view.denied("where", name).at(location));
        }
        Ok(Selected {
            selection: Selection {
                condition: NodeCondition::all(facts.into_iter().chain([condition])),
                order: Vec::new(),
                page: Page {
                    offset: None,
                    // One more than allowed tells that there are too many.
                    limit: Some(self.input.limits.affected as u64 + 1),
                },
                dataset: Dataset::default(),
            },
            listed: listed(&filter),
        })
    }

    /// Plans the payload and what it reads back.
    fn payload(
        &self,
        nodes: &[&'a Node<executable::Field>],
    ) -> Result<(Vec<(String, PayloadPart)>, Plan)> {
        let mut planner = Planner::new(self.input);
        let target = self.input.api.range_type(self.meaning.object);
        let mut roots = Vec::new();
        let mut payload = Vec::new();
        planner.left_out.path.push(self.node.response_key());
        for (sub, nodes) in planner.sub_fields(nodes) {
            let part = match nodes[0].name.as_str() {
                "__typename" => PayloadPart::TypeName,
                "affected_count" => PayloadPart::Counts(affected(&planner, &nodes)),
                "affected_objects" => PayloadPart::Ids(affected(&planner, &nodes)),
                _ => {
                    planner.left_out.path.push(nodes[0].response_key());
                    let root = planner.objects_root(&sub, &nodes, target)?;
                    planner.left_out.path.pop();
                    let Some(value) = root else { continue };
                    roots.push(super::RootField {
                        key: sub.clone(),
                        value,
                    });
                    PayloadPart::Objects(roots.len() - 1)
                }
            };
            payload.push((sub, part));
        }
        planner.left_out.path.pop();
        let (read_back, _parameters) = planner.finish(roots);
        Ok((payload, read_back))
    }
}

/// Plans the fields of `affected_count` or `affected_objects`.
fn affected<'a>(
    planner: &Planner<'_, 'a>,
    nodes: &[&'a Node<executable::Field>],
) -> Vec<(String, AffectedPart)> {
    let fields = planner.sub_fields(nodes).into_iter();
    let parts = fields.map(|(key, nodes)| {
        let location = Location::of(nodes[0].name.location(), &planner.input.document.sources);
        let part = match nodes[0].name.as_str() {
            "kind" => AffectedPart::Kind(location),
            "count" => AffectedPart::Count,
            "ids" => AffectedPart::Ids(location),
            _ => AffectedPart::TypeName,
        };
        (key, part)
    });
    parts.collect()
}

/// Returns the ids that a filter lists by name, of which all must exist (docs/writing.md,
/// "Deleting").
fn listed(filter: &Input) -> Vec<NamedNode> {
    let Input::Object(keys) = filter else {
        return Vec::new();
    };
    let ids = keys.iter().filter(|(key, _)| key == "ID");
    let ids = ids.flat_map(|(_, ids)| ids.as_list());
    ids.filter_map(|id| NamedNode::new(id.as_text()?).ok())
        .collect()
}
