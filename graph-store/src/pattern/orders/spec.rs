//! What an order is of, and which changes of the data concern it.

use oxrdf::NamedNode;

use crate::query::{
    Dataset, NodeCondition, OrderKey, OrderStep, OrderWay, Selection, SortBy, Step, TypeGuard,
    TypeTest,
};

/// The objects of an order, and how they are ordered.
#[derive(Debug)]
pub(crate) struct OrderSpec {
    pub(crate) condition: NodeCondition,
    pub(crate) order: Vec<OrderKey>,
    pub(crate) dataset: Dataset,
    /// What membership and keys are read from.
    pub(super) inputs: Vec<Input>,
}

/// Triples that membership or keys of objects are read from: those of one property, at the end of the same steps.
#[derive(Debug, PartialEq)]
pub(super) struct Input {
    /// Membership is read from these triples, not only keys.
    pub(super) is_of_members: bool,
    pub(super) property: NamedNode,
    /// Reads from objects to subjects.
    pub(super) inverse: bool,
    /// Only triples with these objects; `None` for all.
    pub(super) types: Option<Vec<NamedNode>>,
    /// The steps from an ordered object to where the triples are read.
    pub(super) way: Vec<Step>,
}

impl OrderSpec {
    /// Returns what the order of a selection is of.
    pub(super) fn of(selection: &Selection) -> Self {
        let mut inputs = Inputs::default();
        for test in tests(&selection.condition) {
            inputs.add_test(true, test, &[]);
        }
        let ways = selection.order.iter().flat_map(|key| &key.ways);
        ways.for_each(|way| inputs.add_way(&way.path));
        OrderSpec {
            condition: selection.condition.clone(),
            order: selection.order.clone(),
            dataset: selection.dataset.clone(),
            inputs: inputs.0,
        }
    }

    /// Returns whether the order is that of a selection.
    pub(super) fn is_of(&self, selection: &Selection) -> bool {
        self.order == selection.order && self.has_objects_of(selection)
    }

    /// Returns whether the objects are those of a selection.
    pub(super) fn has_objects_of(&self, selection: &Selection) -> bool {
        self.condition == selection.condition && self.dataset == selection.dataset
    }

    /// Returns whether both are of the same.
    pub(super) fn is(&self, other: &OrderSpec) -> bool {
        self.order == other.order
            && self.condition == other.condition
            && self.dataset == other.dataset
    }

    /// Returns the tests that all objects pass.
    pub(super) fn tests(&self) -> impl Iterator<Item = &TypeTest> {
        tests(&self.condition)
    }

    /// Returns a text that is the same for the same specification in one version of this program, and different for
    /// different ones.
    pub(crate) fn text(&self) -> String {
        format!("{:?}", (&self.condition, &self.order, &self.dataset))
    }
}

/// Returns whether the order of a selection may be kept: it is one of instances, and the same for every
/// client.
pub(super) fn can_be_kept(selection: &Selection) -> bool {
    let is_of_types = |part: &NodeCondition| matches!(part, NodeCondition::Instance(_));
    let of_types = match &selection.condition {
        NodeCondition::All(parts) => !parts.is_empty() && parts.iter().all(is_of_types),
        single => is_of_types(single),
    };
    let mut ways = selection.order.iter().flat_map(|key| &key.ways);
    of_types && ways.all(is_same_for_all)
}

fn is_same_for_all(way: &OrderWay) -> bool {
    match &way.by {
        SortBy::Iri | SortBy::Constant(_) | SortBy::Enum { .. } => true,
        // The languages of the request choose.
        SortBy::Scalar { lang, .. } | SortBy::Literal { lang, .. } => lang.is_none(),
        // Comparing indexes of types would cost more than a page.
        SortBy::TypeName(_) => false,
    }
}

/// Returns the tests of a condition of instances.
fn tests(condition: &NodeCondition) -> impl Iterator<Item = &TypeTest> {
    let parts = match condition {
        NodeCondition::All(parts) => parts.as_slice(),
        single => std::slice::from_ref(single),
    };
    parts.iter().filter_map(|part| match part {
        NodeCondition::Instance(test) => Some(test),
        _ => None,
    })
}

/// Distinct inputs.
#[derive(Default)]
struct Inputs(Vec<Input>);

impl Inputs {
    fn add(&mut self, input: Input) {
        if !self.0.contains(&input) {
            self.0.push(input);
        }
    }

    fn add_test(&mut self, is_of_members: bool, test: &TypeTest, way: &[Step]) {
        for (property, types) in &*test.alternatives {
            self.add(Input {
                is_of_members,
                property: property.clone(),
                inverse: false,
                types: Some(types.clone()),
                way: way.to_vec(),
            });
        }
    }

    fn add_guard(&mut self, guard: Option<&TypeGuard>, way: &[Step]) {
        let tests = guard.into_iter().flat_map(|guard| &guard.tests);
        tests.for_each(|(test, _)| self.add_test(false, test, way));
    }

    fn add_way(&mut self, path: &[OrderStep]) {
        let mut way = Vec::new();
        for step in path {
            self.add_guard(step.of.as_ref(), &way);
            self.add(Input {
                is_of_members: false,
                property: step.step.predicate.clone(),
                inverse: step.step.inverse,
                types: None,
                way: way.clone(),
            });
            way.push(step.step.clone());
            for test in &step.tests {
                self.add_test(false, test, &way);
            }
            self.add_guard(step.displayed.as_ref(), &way);
        }
    }
}
