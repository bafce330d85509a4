//! From groups to requests: entities that one subgraph can be asked for at the same time share one.

use std::collections::{BTreeMap, BTreeSet};

use apollo_compiler::Name;
use apollo_compiler::executable::{Operation, OperationType};
use graphql_service::writer::write_string;

use super::builder::PlanBuilder;
use super::document::{DocumentPrinter, EntityNames};
use super::fetch_group::{FetchGroup, GroupEntry, GroupId, Listing};
use super::memo::MemoFinder;
use super::search::BestCandidate;
use super::{Context, EntryObjects, Members, Plan, Request, Step, StepId};
use crate::hash::{HashMap, IndexSet};
use crate::operation::{ClassId, Full, NodeId, Tree};
use crate::supergraph::TypeJoin;

/// Makes the plan of the groups that were found.
///
/// # Errors
/// When the operation of a request is too long.
pub(super) fn plan(best: BestCandidate<'_>, operation: &Operation) -> Result<Plan, Full> {
    let builder = best.builder;
    let mut together: BTreeMap<_, Vec<GroupId>> = BTreeMap::new();
    for (id, group) in builder.groups.iter().enumerate() {
        together
            .entry(builder.request_of(id, group))
            .or_default()
            .push(id);
    }
    // In the order of waves, then of the groups.
    let mut order: Vec<(u32, Vec<GroupId>)> = together
        .into_iter()
        .map(|((wave, ..), groups)| (wave, groups))
        .collect();
    order.sort();
    let step_of: HashMap<GroupId, StepId> = order
        .iter()
        .enumerate()
        .flat_map(|(request, (_, groups))| {
            let steps = groups.iter().enumerate();
            steps.map(move |(step, group)| (*group, (request, step)))
        })
        .collect();
    let finder = MemoFinder::new(&builder);
    let mut listings = IndexSet::default();
    let requests = order.iter().map(|(wave, ids)| {
        let groups: Vec<&FetchGroup> = ids.iter().map(|group| &builder.groups[*group]).collect();
        let printer =
            DocumentPrinter::new(builder.graph, &builder.tree, operation, groups[0].subgraph);
        let printed = printer.print(&groups)?;
        let names = printed.names.into_iter();
        let steps = ids.iter().zip(&groups).zip(names);
        let steps = steps.map(|((id, group), names)| Step {
            after: group.after.iter().map(|before| step_of[before]).collect(),
            sources: match operation.operation_type {
                // What a mutation reads may have been changed by it.
                OperationType::Mutation => Vec::new(),
                _ => finder.sources(*id, |group| step_of[&group], &mut listings),
            },
            entry: entry(&builder, group, names, &mut listings),
            members: members(&builder.tree, group),
            is_shareable: is_shareable(&builder, group),
        });
        let steps: Vec<Step> = steps.collect();
        let after: BTreeSet<usize> = steps
            .iter()
            .flat_map(|step| &step.after)
            .map(|(request, _)| *request)
            .collect();
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|step| finder.rank(ids[*step]));
        let mut json = Vec::with_capacity(printed.text.len() + 32);
        write_string(&mut json, &printed.text);
        Ok(Request {
            subgraph: groups[0].subgraph,
            after: after.into_iter().collect(),
            wave: *wave,
            steps,
            order,
            json,
            document: printed.text,
            variables: printed.variables,
            template: printed.template,
        })
    });
    let requests = requests.collect::<Result<_, Full>>()?;
    Ok(Plan {
        requests,
        listings: listings.into_iter().collect(),
        operation: operation.operation_type,
        tree: builder.tree.planned(),
        cost: best.cost,
        is_optimal: best.is_optimal,
    })
}

fn begins_at(group: &FetchGroup) -> Vec<ClassId> {
    match &group.entry {
        GroupEntry::Root => vec![Tree::ROOT],
        entry => entry.classes().to_vec(),
    }
}

fn entry(
    builder: &PlanBuilder<'_>,
    group: &FetchGroup,
    names: EntityNames,
    listings: &mut IndexSet<Listing>,
) -> EntryObjects {
    let supergraph = builder.graph.supergraph();
    let is_object = |subgraph, interface| {
        let join = supergraph.ty(interface).join(subgraph);
        join.is_some_and(|join: &TypeJoin| join.is_interface_object)
    };
    match &group.entry {
        GroupEntry::Root => EntryObjects::Root,
        GroupEntry::Reentry(class) => EntryObjects::Reentry(*class),
        GroupEntry::Entities {
            classes,
            interface,
            inputs,
            contexts,
        } => EntryObjects::Entities {
            listing: listings
                .insert_full(Listing {
                    class: classes[0],
                    interface: *interface,
                    is_whole: interface.is_some_and(|interface| {
                        classes.len() > 1 || !is_object(group.subgraph, interface)
                    }),
                    inputs: inputs.clone(),
                })
                .0,
            key: names.key,
            variable: names.variable,
            contexts: contexts
                .iter()
                .zip(names.contexts)
                .enumerate()
                .map(|(position, (value, (variable, _)))| Context {
                    value: value.clone(),
                    variable,
                    arguments: arguments(builder, group, classes[0], position),
                })
                .collect(),
        },
    }
}

/// Returns the arguments that are given the value at a position, with their fields.
fn arguments(
    builder: &PlanBuilder<'_>,
    group: &FetchGroup,
    class: ClassId,
    position: usize,
) -> Vec<(NodeId, Name)> {
    let nodes = builder.tree.class(class).nodes.iter().copied();
    let fetched = nodes.filter(|node| group.nodes.contains(node));
    let given = fetched.filter_map(|node| {
        let field = builder
            .graph
            .supergraph()
            .field(builder.tree.node(node).field);
        let argument = field.join(group.subgraph)?.contexts.get(position)?;
        Some((node, argument.name.clone()))
    });
    given.collect()
}

fn members(tree: &Tree, group: &FetchGroup) -> Members {
    let classes = begins_at(group);
    Members::new(tree, tree.class(classes[0]).slot, &group.nodes, &classes)
}

/// Returns whether nothing else adds to the objects that a group fetches.
fn is_shareable(builder: &PlanBuilder<'_>, group: &FetchGroup) -> bool {
    let classes = begins_at(group).into_iter();
    let mut nodes = classes.flat_map(|class| &builder.tree.class(class).nodes);
    // The value of a context depends on where an object is.
    builder.contextual.is_empty()
        && nodes.all(|node| {
            let is_only = builder
                .fetched
                .get(node)
                .is_none_or(|groups| groups.len() == 1);
            is_only || builder.tree.node(*node).is_leaf || !group.nodes.contains(node)
        })
}
