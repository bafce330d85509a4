//! Denied fields: those that the sender of a request may not read are left out, each with a warning
//! (docs/access.md, "What a caller sees").

use apollo_compiler::executable::{self, Selection, SelectionSet};
use apollo_compiler::{ExecutableDocument, Node};
use foldhash::{HashMap, HashSet};
use graphql_service::error::{GraphqlError, Location, PathSegment};
use soml_core::schema::ObjectId;

use super::LevelId;
use super::build::PlanInput;

/// The fields that are left out of an operation.
#[derive(Default)]
pub(super) struct DeniedFields<'a> {
    /// Response keys from the root to where the planner is.
    pub(super) path: Vec<&'a str>,
    warnings: Vec<GraphqlError>,
    warned: HashSet<(*const executable::Field, Option<String>)>,
    /// The type of the selection set that a field stands in, once it is asked for.
    types: Option<HashMap<*const executable::Field, &'a str>>,
    /// Levels of which nothing is left but `__typename`.
    emptied: HashSet<LevelId>,
}

/// Which fields of the objects of one level are left out.
#[derive(Default)]
pub(super) struct DeniedFieldsOfLevel<'a> {
    fields: Vec<FieldOfLevel<'a>>,
    places: HashMap<*const executable::Field, usize>,
    /// A field was left out since nothing was left below it.
    emptied: bool,
    /// All objects of the level are of one type, so only what is left out needs to be noted.
    one_type: bool,
}

struct FieldOfLevel<'a> {
    node: &'a Node<executable::Field>,
    /// The concrete types that it was asked of, and whether it is left out there.
    of: Vec<(ObjectId, bool)>,
}

impl<'a> DeniedFieldsOfLevel<'a> {
    pub(super) fn new(one_type: bool) -> Self {
        DeniedFieldsOfLevel {
            one_type,
            ..DeniedFieldsOfLevel::default()
        }
    }

    /// Notes that a field is left out since nothing is left below it.
    pub(super) fn emptied(&mut self) {
        self.emptied = true;
    }

    pub(super) fn leaves_any_out(&self) -> bool {
        let mut of = self.fields.iter().flat_map(|field| &field.of);
        self.emptied || of.any(|(_, left_out)| *left_out)
    }

    /// Notes that a field was asked of the objects of a concrete type.
    pub(super) fn note(
        &mut self,
        object: ObjectId,
        node: &'a Node<executable::Field>,
        is_left_out: bool,
    ) {
        if self.one_type && !is_left_out {
            return;
        }
        let place = *self
            .places
            .entry(std::ptr::from_ref(&**node))
            .or_insert_with(|| {
                self.fields.push(FieldOfLevel {
                    node,
                    of: Vec::new(),
                });
                self.fields.len() - 1
            });
        self.fields[place].of.push((object, is_left_out));
    }
}

impl<'a> DeniedFields<'a> {
    /// Warns of the fields that are left out of a level: by the type that the document asks them of where
    /// all its objects are alike in that, else by each type that has no right.
    pub(super) fn level(
        &mut self,
        input: &PlanInput<'a>,
        level: &DeniedFieldsOfLevel<'a>,
        name: impl Fn(ObjectId) -> String,
    ) {
        for field in &level.fields {
            let mut out = field.of.iter().filter(|(_, left_out)| *left_out).peekable();
            if out.peek().is_none() {
                continue;
            }
            if field.of.iter().all(|(_, left_out)| *left_out) {
                self.field(input, field.node.response_key(), field.node);
                continue;
            }
            for (object, _) in out {
                self.warn(
                    input,
                    field.node.response_key(),
                    field.node,
                    Some(name(*object)),
                );
            }
        }
    }

    /// Warns of a field that is left out wherever it stands.
    pub(super) fn field(
        &mut self,
        input: &PlanInput<'a>,
        key: &str,
        node: &'a Node<executable::Field>,
    ) {
        self.warn(input, key, node, None);
    }

    fn warn(
        &mut self,
        input: &PlanInput<'a>,
        key: &str,
        node: &'a Node<executable::Field>,
        ty: Option<String>,
    ) {
        let address = std::ptr::from_ref(&**node);
        if !self.warned.insert((address, ty.clone())) {
            return;
        }
        let document = input.document;
        let types = self.types.get_or_insert_with(|| types_of_fields(document));
        let declared = types.get(&address).copied().unwrap_or("Query");
        let ty = ty.as_deref().unwrap_or(declared);
        let location = Location::of(node.name.location(), &document.sources);
        let path = self
            .path
            .iter()
            .copied()
            .chain([key])
            .map(|key| PathSegment::Key(key.to_owned()))
            .collect();
        let warning = input.view().left_out(&node.name, ty);
        self.warnings.push(warning.at(location).on(path));
    }

    /// Notes that nothing is left of a level but `__typename`.
    pub(super) fn empty(&mut self, level: LevelId) {
        self.emptied.insert(level);
    }

    /// Returns whether nothing is left of a level but `__typename`.
    pub(super) fn is_empty(&self, level: LevelId) -> bool {
        self.emptied.contains(&level)
    }

    pub(super) fn warnings(self) -> Vec<GraphqlError> {
        self.warnings
    }
}

/// Returns the type of the selection set that each field of a document stands in.
fn types_of_fields(document: &ExecutableDocument) -> HashMap<*const executable::Field, &str> {
    let mut types = HashMap::default();
    let operations = document.operations.iter().map(|one| &one.selection_set);
    let fragments = document.fragments.values().map(|one| &one.selection_set);
    let mut sets: Vec<&SelectionSet> = operations.chain(fragments).collect();
    while let Some(set) = sets.pop() {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    types.insert(std::ptr::from_ref(&**field), set.ty.as_str());
                    sets.push(&field.selection_set);
                }
                Selection::InlineFragment(inline) => sets.push(&inline.selection_set),
                Selection::FragmentSpread(_) => {}
            }
        }
    }
    types
}
