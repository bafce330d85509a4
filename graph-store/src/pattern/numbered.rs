//! A source that knows terms by number, and each triple once whatever its graphs, to test what goes by
//! handles.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use call_context::CallContext;
use futures::executor::block_on;
use indexmap::IndexSet;
use oxrdf::vocab::rdf;
use oxrdf::{
    GraphName, GraphNameRef, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term,
    TermRef,
};

use super::Walker;
use super::overlay::Overlay;
use super::pending::Pending;
use super::source::{Object, Pattern, QuadSource};
use crate::contract;
use crate::error::StoreError;
use crate::query::{
    Dataset, Hydrated, HydrationRequest, NodeCondition, ObjectRef, Objects, OrderKey, OrderStep,
    Page, Quantifier, Selection, Slot, SortBy, Step, TypeTest, ValueCondition, Window,
};
use crate::store::{GraphStore, StoreInfo, Windowed};

/// Distinct terms, and triples of their numbers in both directions.
#[derive(Default)]
struct Numbers {
    terms: IndexSet<Term>,
    /// Property, subject and object of each triple, and its graphs.
    forward: BTreeMap<[u32; 3], Vec<GraphName>>,
    /// Property, object and subject.
    backward: BTreeMap<[u32; 3], Vec<GraphName>>,
}

impl Numbers {
    fn new(quads: &[Quad]) -> Self {
        let mut numbers = Numbers::default();
        for quad in quads {
            let subject = numbers.insert(quad.subject.clone().into());
            let property = numbers.insert(quad.predicate.clone().into());
            let object = numbers.insert(quad.object.clone());
            let graph = || quad.graph_name.clone();
            let forward = numbers.forward.entry([property, subject, object]);
            forward.or_default().push(graph());
            let backward = numbers.backward.entry([property, object, subject]);
            backward.or_default().push(graph());
        }
        numbers
    }

    fn insert(&mut self, term: Term) -> u32 {
        u32::try_from(self.terms.insert_full(term).0).unwrap()
    }
}

/// The numbers during one request.
struct Numbered<'a> {
    numbers: &'a Numbers,
    /// Terms that the request knows and the data do not.
    others: RefCell<IndexSet<Term>>,
    /// How often a text was read.
    shown: &'a Cell<usize>,
    reads_subjects_at_once: bool,
}

impl Numbered<'_> {
    /// Returns the third number of the triples in some graphs that begin with some numbers.
    fn ends<'s>(
        triples: &'s BTreeMap<[u32; 3], Vec<GraphName>>,
        start: [u32; 2],
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<u32, StoreError>> + use<'s> {
        let [first, second] = start;
        let graph = graph.cloned();
        let range = triples.range([first, second, 0]..=[first, second, u32::MAX]);
        let found = range.filter(move |(_, graphs)| is_in(graphs, graph.as_ref()));
        found.map(|([_, _, end], _)| Ok(*end))
    }
}

fn is_in(graphs: &[GraphName], graph: Option<&GraphName>) -> bool {
    graph.is_none_or(|graph| graphs.contains(graph))
}

impl<'a> QuadSource for Numbered<'a> {
    type Node = u32;
    type Term = u32;
    type Property<'q> = u32;
    type Graph = GraphName;

    fn node<'n>(&self, iri: &'n NamedNode) -> Cow<'n, u32> {
        Cow::Owned(self.term(iri.into()))
    }

    fn term(&self, term: TermRef<'_>) -> u32 {
        let term = term.into_owned();
        let known = self.numbers.terms.get_index_of(&term).unwrap_or_else(|| {
            let (other, _) = self.others.borrow_mut().insert_full(term);
            self.numbers.terms.len() + other
        });
        u32::try_from(known).unwrap()
    }

    fn property(&self, iri: &NamedNode) -> u32 {
        self.term(iri.into())
    }

    fn graph(&self, name: GraphNameRef<'_>) -> GraphName {
        name.into_owned()
    }

    fn with_iri<R>(&self, node: &u32, view: impl FnOnce(NamedNodeRef<'_>) -> R) -> R {
        self.with_term(node, |term| match term {
            TermRef::NamedNode(iri) => view(iri),
            other => panic!("{other} is no IRI"),
        })
    }

    fn with_term<R>(&self, term: &u32, view: impl FnOnce(TermRef<'_>) -> R) -> R {
        self.shown.set(self.shown.get() + 1);
        let place = *term as usize;
        match self.numbers.terms.get_index(place) {
            Some(term) => view(term.as_ref()),
            None => view(self.others.borrow()[place - self.numbers.terms.len()].as_ref()),
        }
    }

    fn compare(&self, a: &u32, b: &u32) -> Ordering {
        let iri = |node| self.with_iri(node, |iri| iri.as_str().to_owned());
        iri(a).cmp(&iri(b))
    }

    fn as_node<'t>(&self, term: &'t u32) -> Option<&'t u32> {
        let known = self.numbers.terms.get_index(*term as usize);
        let is_node = match known {
            Some(known) => known.is_named_node(),
            None => self.others.borrow()[*term as usize - self.numbers.terms.len()].is_named_node(),
        };
        is_node.then_some(term)
    }

    fn is_blank(&self, term: &u32) -> bool {
        let known = self.numbers.terms.get_index(*term as usize);
        known.is_some_and(Term::is_blank_node)
    }

    fn is_property(&self, predicate: &u32, property: &u32) -> bool {
        predicate == property
    }

    fn text_size(&self, _term: &u32) -> usize {
        32
    }

    fn iri_size(&self, _node: &u32) -> usize {
        32
    }

    fn objects<'s>(
        &'s self,
        subject: &u32,
        property: &u32,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<u32, StoreError>> + use<'s, 'a> {
        Self::ends(&self.numbers.forward, [*property, *subject], graph)
    }

    fn subjects<'s>(
        &'s self,
        property: &u32,
        object: Object<'_, u32>,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<u32, StoreError>> + use<'s, 'a> {
        let object = match object {
            Object::Node(node) => *node,
            Object::Literal(literal) => self.term(literal.into()),
        };
        Self::ends(&self.numbers.backward, [*property, object], graph)
    }

    fn pairs<'s>(
        &'s self,
        property: &u32,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<(u32, u32), StoreError>> + use<'s, 'a> {
        let graph = graph.cloned();
        let range = [*property, 0, 0]..=[*property, u32::MAX, u32::MAX];
        let triples = self.numbers.forward.range(range);
        let found = triples.filter(move |(_, graphs)| is_in(graphs, graph.as_ref()));
        found.map(|([_, subject, object], _)| Ok((*subject, *object)))
    }

    fn about<'s>(
        &'s self,
        subject: &u32,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<(u32, u32), StoreError>> + use<'s, 'a> {
        let (subject, graph) = (*subject, graph.cloned());
        let triples = self.numbers.forward.iter();
        let found = triples.filter(move |([_, found, _], graphs)| {
            *found == subject && is_in(graphs, graph.as_ref())
        });
        found.map(|([property, _, object], _)| Ok((*property, *object)))
    }

    fn contains(
        &self,
        subject: &u32,
        property: &u32,
        object: &u32,
        graph: Option<&GraphName>,
    ) -> Result<bool, StoreError> {
        let graphs = self.numbers.forward.get(&[*property, *subject, *object]);
        Ok(graphs.is_some_and(|graphs| is_in(graphs, graph)))
    }

    fn quads<'s>(
        &'s self,
        pattern: Pattern<'_>,
        graph: Option<&GraphName>,
    ) -> impl Iterator<Item = Result<Quad, StoreError>> + use<'s, 'a> {
        let number = |term: Option<TermRef<'_>>| term.map(|term| self.term(term));
        let wanted = [
            number(pattern.predicate.map(TermRef::from)),
            number(pattern.subject.map(TermRef::from)),
            number(pattern.object),
        ];
        let graph = graph.cloned();
        let triples = self.numbers.forward.iter().filter(move |(triple, _)| {
            let mut pairs = triple.iter().zip(wanted);
            pairs.all(|(found, wanted)| wanted.is_none_or(|wanted| wanted == *found))
        });
        triples.flat_map(move |(triple, graphs)| {
            let [property, subject, object] = triple.map(|at| &self.numbers.terms[at as usize]);
            let graphs = graphs
                .iter()
                .filter(|found| graph.as_ref().is_none_or(|graph| graph == *found));
            let quads = graphs.map(|graph| {
                let subject = match subject {
                    Term::NamedNode(node) => NamedOrBlankNode::from(node.clone()),
                    Term::BlankNode(node) => node.clone().into(),
                    other => panic!("{other} is no subject"),
                };
                let Term::NamedNode(property) = property else {
                    panic!("{property} is no property")
                };
                Ok(Quad::new(
                    subject,
                    property.clone(),
                    object.clone(),
                    graph.clone(),
                ))
            });
            quads.collect::<Vec<_>>()
        })
    }

    fn may_have_named_graphs(&self) -> bool {
        let mut graphs = self.numbers.forward.values().flatten();
        graphs.any(|graph| !graph.is_default_graph())
    }

    fn repeats_triples(&self) -> bool {
        false
    }

    fn reads_subjects_at_once(&self) -> bool {
        self.reads_subjects_at_once
    }
}

/// A store over numbers, and over a change of them if there is one.
struct NumberedStore {
    numbers: Numbers,
    pending: Option<Pending>,
    reads_subjects_at_once: bool,
}

impl NumberedStore {
    /// Answers a call by index scans; returns how many texts were read too.
    fn answer<T>(
        &self,
        dataset: &Dataset,
        context: &CallContext,
        plain: impl FnOnce(Walker<'_, Numbered<'_>>) -> T,
        changed: impl FnOnce(Walker<'_, Overlay<'_, Numbered<'_>>>) -> T,
    ) -> (T, usize) {
        let shown = Cell::new(0);
        let source = Numbered {
            numbers: &self.numbers,
            others: RefCell::default(),
            shown: &shown,
            reads_subjects_at_once: self.reads_subjects_at_once,
        };
        let answer = match &self.pending {
            None => plain(Walker::new(source, dataset, context)),
            Some(pending) => {
                let source = Overlay::new(source, pending);
                changed(Walker::new(source, dataset, context))
            }
        };
        (answer, shown.get())
    }
}

#[async_trait]
impl GraphStore for NumberedStore {
    async fn select(
        &self,
        selection: &Selection,
        context: &CallContext,
    ) -> Result<Objects, StoreError> {
        self.answer(
            &selection.dataset,
            context,
            |walker| walker.select(selection),
            |walker| walker.select(selection),
        )
        .0
    }

    async fn select_window(
        &self,
        selection: &Selection,
        window: &Window,
        context: &CallContext,
    ) -> Result<Windowed, StoreError> {
        self.answer(
            &selection.dataset,
            context,
            |walker| walker.select_window(selection, window),
            |walker| walker.select_window(selection, window),
        )
        .0
    }

    async fn hydrate(
        &self,
        request: &HydrationRequest<'_>,
        context: &CallContext,
    ) -> Result<Hydrated, StoreError> {
        self.answer(
            request.dataset,
            context,
            |walker| walker.hydrate(request),
            |walker| walker.hydrate(request),
        )
        .0
    }

    async fn probe(&self, _context: &CallContext) -> Result<StoreInfo, StoreError> {
        Ok(StoreInfo {
            provider: "numbered".to_owned(),
            statements: self.numbers.forward.is_empty().then_some(0),
            ..StoreInfo::default()
        })
    }
}

fn store(quads: &[Quad], reads_subjects_at_once: bool) -> NumberedStore {
    NumberedStore {
        numbers: Numbers::new(quads),
        pending: None,
        reads_subjects_at_once,
    }
}

#[test]
fn a_source_of_numbers_fulfils_the_contract() {
    for reads_subjects_at_once in [true, false] {
        contract::run(&|quads| Arc::new(store(quads, reads_subjects_at_once)));
    }
}

/// Returns a store that begins with other quads and is changed to those wanted: every `period`th is
/// added, and others are removed that are not wanted.
fn changed(quads: &[Quad], period: usize) -> NumberedStore {
    let kept = |place: &usize| !(place + 1).is_multiple_of(period);
    let mut before: Vec<Quad> = (0..quads.len())
        .filter(kept)
        .map(|place| quads[place].clone())
        .collect();
    let mut pending = Pending::default();
    for (place, quad) in quads.iter().enumerate() {
        if !kept(&place) {
            pending.add(quad.clone(), false);
        }
        // The same triple in another graph, and one that is nowhere else.
        let elsewhere = Quad {
            graph_name: NamedNode::new_unchecked("http://e/g3").into(),
            ..quad.clone()
        };
        let other = Quad {
            object: Literal::from(place as i64 + 100).into(),
            ..quad.clone()
        };
        let link = Quad {
            object: NamedNode::new_unchecked("http://e/a").into(),
            ..quad.clone()
        };
        for unwanted in [elsewhere, other, link] {
            if !quads.contains(&unwanted) && !before.contains(&unwanted) {
                before.push(unwanted.clone());
                pending.remove(unwanted, true);
            }
        }
    }
    NumberedStore {
        numbers: Numbers::new(&before),
        pending: Some(pending),
        reads_subjects_at_once: true,
    }
}

#[test]
fn a_change_over_a_source_of_numbers_fulfils_the_contract() {
    for period in [1, 2, 3, 5, usize::MAX] {
        contract::run(&|quads| Arc::new(changed(quads, period)));
    }
}

fn v(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("http://v/{name}"))
}

/// People who know each other, each with a name.
fn people(count: usize) -> Vec<Quad> {
    let person = |number: usize| NamedNode::new_unchecked(format!("http://e/{}", number % count));
    let about = |number: usize| {
        let quad = |property: NamedNode, value: Term| {
            Quad::new(person(number), property, value, GraphName::DefaultGraph)
        };
        let ty = v(if number.is_multiple_of(10) {
            "Star"
        } else {
            "Person"
        });
        [
            quad(rdf::TYPE.into_owned(), ty.into()),
            quad(v("knows"), person(number + 1).into()),
            quad(v("knows"), person(number * 7).into()),
            quad(v("name"), Literal::from(format!("name {number}")).into()),
        ]
    };
    (0..count).flat_map(about).collect()
}

fn knows(condition: NodeCondition) -> NodeCondition {
    NodeCondition::Values {
        step: Step::forward(v("knows")),
        quantifier: Quantifier::Some,
        condition: Box::new(ValueCondition::Node(condition)),
    }
}

#[test]
fn only_the_texts_of_what_is_returned_are_read() {
    let store = store(&people(1_000), false);
    let stars = NodeCondition::Instance(TypeTest::new(rdf::TYPE.into_owned(), vec![v("Star")]));
    let selection = Selection {
        condition: NodeCondition::all([stars.clone(), knows(knows(stars.clone()))]),
        order: Vec::new(),
        page: Page::default(),
        dataset: Dataset::default(),
    };
    let context = CallContext::new();
    let select = |selection: &Selection| {
        let (found, shown) = store.answer(
            &selection.dataset,
            &context,
            |walker| walker.select(selection),
            |_| unreachable!("nothing is changed"),
        );
        (found.unwrap(), shown)
    };
    let (found, shown) = select(&selection);
    assert_eq!((found.len(), shown), (100, 100));
    let dataset = Dataset::default();
    let slots = [Slot {
        condition: Some(ValueCondition::Node(stars)),
        ..Slot::new(Step::forward(v("knows")))
    }];
    let request = HydrationRequest {
        nodes: (&found).into(),
        slots: &slots,
        dataset: &dataset,
    };
    let (hydrated, shown) = store.answer(
        &dataset,
        &context,
        |walker| walker.hydrate(&request),
        |_| unreachable!("nothing is changed"),
    );
    let values = hydrated.unwrap().columns[0].values.len();
    assert_eq!((values, shown), (100, 100));
    // One text for each key.
    let name = OrderStep::new(Step::forward(v("name")));
    let by = SortBy::Scalar {
        scalar: soml_core::datatype::Scalar::String,
        cast: false,
        lang: None,
    };
    let ordered = Selection {
        order: vec![OrderKey::new(vec![name], by, false)],
        page: Page {
            offset: None,
            limit: Some(5),
        },
        ..selection
    };
    let (found, shown) = select(&ordered);
    assert_eq!((found.len(), shown), (5, 105));
    let unknown = Selection {
        condition: NodeCondition::one_of(vec![v("nobody"), v("nothing")]),
        ..ordered
    };
    let names: Vec<ObjectRef> = block_on(store.select(&unknown, &context))
        .unwrap()
        .into_refs();
    assert_eq!(names, [v("nobody").into(), v("nothing").into()]);
}
