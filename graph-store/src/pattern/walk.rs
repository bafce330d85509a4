//! Reads the triples of one dataset for one request.

use std::ops::ControlFlow;
use std::time::Instant;

use call_context::CallContext;
use oxrdf::NamedNode;
#[cfg(feature = "image")]
use oxrdf::{Quad, Term, TermRef};

use super::ready::{Known, ReadyStep, ReadyTest};
use super::source::{Object, QuadSource};
use crate::error::StoreError;
use crate::query::{Dataset, Step};
use crate::store::order::drop_repeated;

/// How many triples are read between two checks of the deadline.
const CHECK_EVERY: u32 = 128;

/// The objects that triples start from, one after the other; none for a blank node or a literal.
pub(super) type Starts<'w, S> =
    Box<dyn Iterator<Item = Result<Option<<S as QuadSource>::Node>, StoreError>> + 'w>;

/// Reads one dataset for one request.
pub(crate) struct Walker<'a, S: QuadSource> {
    pub(super) source: S,
    pub(super) context: &'a CallContext,
    /// Exactly these graphs; `None` for all.
    graphs: Option<Vec<S::Graph>>,
    /// A triple may occur in several of the graphs.
    pub(super) may_repeat: bool,
    /// Triples read since the last check of the deadline.
    read: std::cell::Cell<u32>,
    /// Bytes of results since then.
    kept: std::cell::Cell<usize>,
}

impl<'a, S: QuadSource> Walker<'a, S> {
    pub(crate) fn new(source: S, dataset: &Dataset, context: &'a CallContext) -> Self {
        let graphs = dataset.graphs.as_ref().map(|graphs| {
            let graphs = graphs.iter().map(|graph| graph.as_ref().into());
            graphs.map(|graph| source.graph(graph)).collect::<Vec<_>>()
        });
        let may_repeat = match &graphs {
            Some(graphs) => graphs.len() > 1,
            None => source.may_have_named_graphs() && source.repeats_triples(),
        };
        Walker {
            source,
            context,
            graphs,
            may_repeat,
            read: std::cell::Cell::new(0),
            kept: std::cell::Cell::new(0),
        }
    }

    /// Checks the deadline now.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        Ok(self.context.check()?)
    }

    /// Checks the deadline every `CHECK_EVERY` triples.
    pub(super) fn tick(&self) -> Result<(), StoreError> {
        self.ticks(1)
    }

    /// Counts triples that were read, as [`Walker::tick`] does one.
    fn ticks(&self, triples: usize) -> Result<(), StoreError> {
        let triples = u32::try_from(triples).unwrap_or(u32::MAX);
        let read = self.read.get().saturating_add(triples);
        self.read.set(read);
        if read < CHECK_EVERY {
            return Ok(());
        }
        self.settle()
    }

    /// Counts the triples read since the last check of the deadline.
    pub(super) fn settle(&self) -> Result<(), StoreError> {
        self.context.hold(self.kept.take())?;
        Ok(self.context.spend(self.read.take())?)
    }

    /// Counts a term that is kept for the result, at the next check of the deadline.
    pub(super) fn keep(&self, term: &S::Term) {
        self.keep_bytes(self.source.result_size(term));
    }

    /// Counts an IRI that is kept for the result, as [`Walker::keep`] does a term.
    pub(super) fn keep_node(&self, node: &S::Node) {
        self.keep_bytes(self.source.object_size(node));
    }

    /// Counts bytes of the result.
    fn keep_bytes(&self, bytes: usize) {
        self.kept.set(self.kept.get() + bytes);
    }

    /// Returns when a step begins, if the request is traced.
    pub(super) fn begun(&self) -> Option<Instant> {
        self.context.trace.is_some().then(Instant::now)
    }

    /// Adds a step to the trace of the request, if there is one.
    pub(super) fn record(&self, work: &'static str, rows: usize, begun: Option<Instant>) {
        if let (Some(trace), Some(begun)) = (&self.context.trace, begun) {
            trace.record(work, None, rows, begun);
        }
    }

    /// Looks the property of a step up.
    pub(super) fn step<'q>(&self, step: &'q Step) -> ReadyStep<'q, S> {
        ReadyStep::new(&self.source, step)
    }

    /// Looks the property of a step to its values up.
    pub(super) fn forward<'q>(&self, property: &'q NamedNode) -> ReadyStep<'q, S> {
        ReadyStep::forward(&self.source, property)
    }

    /// Converts terms to the IRIs among them.
    pub(super) fn nodes(&self, terms: Vec<S::Term>) -> Vec<S::Node> {
        let terms = terms.into_iter();
        terms
            .filter_map(|term| self.source.to_node(term).ok())
            .collect()
    }

    /// Scans one graph after the other, as far as the result is read.
    pub(super) fn in_graphs<'w, T, I>(
        &'w self,
        scan: impl FnMut(Option<&'w S::Graph>) -> I + 'w,
    ) -> impl Iterator<Item = Result<T, StoreError>> + 'w
    where
        I: Iterator<Item = Result<T, StoreError>> + 'w,
        T: 'w,
    {
        let all = self.graphs.is_none().then_some(None);
        let some = self.graphs.iter().flatten().map(Some);
        all.into_iter().chain(some).flat_map(scan)
    }

    /// Scans one graph after the other, and passes what is found to `take` until it breaks.
    ///
    /// What is found may be large, and is moved less often here than through [`Walker::in_graphs`].
    #[inline]
    pub(super) fn each<T, I: Iterator<Item = Result<T, StoreError>>>(
        &self,
        scan: impl Fn(Option<&S::Graph>) -> I,
        mut take: impl FnMut(T) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut pass = |found: I| -> Result<ControlFlow<()>, StoreError> {
            for item in found {
                self.tick()?;
                if take(item?)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        };
        let Some(graphs) = &self.graphs else {
            return pass(scan(None)).map(drop);
        };
        for graph in graphs {
            if pass(scan(Some(graph)))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Passes the ends of a step from `node` to `take` until it breaks.
    #[inline]
    fn each_end(
        &self,
        node: &S::Node,
        step: &ReadyStep<'_, S>,
        take: impl FnMut(S::Term) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let (source, property) = (&self.source, &step.property);
        if step.inverse {
            self.each(
                |graph| source.subjects(property, Object::Node(node), graph),
                take,
            )
        } else {
            self.each(|graph| source.objects(node, property, graph), take)
        }
    }

    /// Returns what a step leads to from some constants, backwards.
    pub(super) fn leading_to<'w>(
        &'w self,
        values: Vec<Known<'w>>,
        step: ReadyStep<'w, S>,
    ) -> Starts<'w, S> {
        Box::new(
            values
                .into_iter()
                .flat_map(move |value| self.starts(value, step)),
        )
    }

    /// Returns about how many triples a step leads along from a constant, backwards; `None` where that is not known.
    pub(super) fn count_starts(&self, value: Known<'_>, step: &ReadyStep<'_, S>) -> Option<usize> {
        let (source, property) = (&self.source, &step.property);
        match value {
            Known::Iri(iri) if step.inverse => source
                .ends(&source.node(iri), property, false)
                .map(<[_]>::len),
            Known::Literal(_) if step.inverse => Some(0),
            Known::Iri(iri) => source.count_subjects(property, Object::Node(&source.node(iri))),
            Known::Literal(literal) => {
                source.count_subjects(property, Object::Literal(literal.as_ref()))
            }
        }
    }

    /// Returns whether triples of all graphs are read.
    pub(super) fn reads_all_graphs(&self) -> bool {
        self.graphs.is_none()
    }

    /// Returns what a step leads to from a constant, backwards.
    pub(super) fn starts<'w>(&'w self, value: Known<'w>, step: ReadyStep<'w, S>) -> Starts<'w, S> {
        let source = &self.source;
        let node =
            |start: Result<S::Term, StoreError>| start.map(|start| source.to_node(start).ok());
        let property = step.property;
        match value {
            Known::Iri(iri) if step.inverse => Box::new(
                self.in_graphs(move |graph| source.objects(&source.node(iri), &property, graph))
                    .map(node),
            ),
            Known::Literal(_) if step.inverse => Box::new(std::iter::empty()),
            value => Box::new(
                self.in_graphs(move |graph| match value {
                    Known::Iri(iri) => {
                        source.subjects(&property, Object::Node(&source.node(iri)), graph)
                    }
                    Known::Literal(literal) => {
                        source.subjects(&property, Object::Literal(literal.as_ref()), graph)
                    }
                })
                .map(node),
            ),
        }
    }

    /// Appends the distinct values of one step, without blank nodes.
    pub(super) fn walk(
        &self,
        node: &S::Node,
        step: &ReadyStep<'_, S>,
        values: &mut Vec<S::Term>,
    ) -> Result<(), StoreError> {
        if self.graphs.is_none()
            && let Some(ends) = self.source.ends(node, &step.property, step.inverse)
        {
            let named = ends.iter().filter(|end| !self.source.is_blank(end));
            values.extend(named.cloned());
            return self.ticks(ends.len());
        }
        let start = values.len();
        self.each_end(node, step, |value| {
            if !self.source.is_blank(&value) {
                values.push(value);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if self.may_repeat {
            drop_repeated(values, start);
        }
        Ok(())
    }

    /// Returns whether some value of a step, blank nodes excluded, passes a test.
    pub(super) fn any_value(
        &self,
        node: &S::Node,
        step: &ReadyStep<'_, S>,
        mut test: impl FnMut(S::Term) -> Result<bool, StoreError>,
    ) -> Result<bool, StoreError> {
        let mut found = false;
        self.each_end(node, step, |value| {
            found = !self.source.is_blank(&value) && test(value)?;
            Ok(if found {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        Ok(found)
    }

    /// Returns whether a step leads from one object to another.
    #[inline]
    pub(super) fn leads_to(
        &self,
        node: &S::Node,
        step: &ReadyStep<'_, S>,
        to: &S::Node,
    ) -> Result<bool, StoreError> {
        let (subject, object) = if step.inverse { (to, node) } else { (node, to) };
        self.tick()?;
        let in_graph =
            |graph: Option<&S::Graph>| self.source.contains(subject, &step.property, object, graph);
        let Some(graphs) = &self.graphs else {
            return in_graph(None);
        };
        for graph in graphs {
            if in_graph(Some(graph))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn is_instance(
        &self,
        node: &S::Node,
        test: &ReadyTest<'_, S>,
    ) -> Result<bool, StoreError> {
        for (step, types) in &test.alternatives {
            let passes = match types.single() {
                Some(single) => self.leads_to(node, step, single)?,
                None => self.any_value(node, step, |ty| {
                    let ty = self.source.as_node(&ty);
                    Ok(ty.is_some_and(|ty| types.contains(ty)))
                })?,
            };
            if passes {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(feature = "image")]
impl<S: QuadSource> Walker<'_, S> {
    /// Counts a term with a text of some bytes.
    fn keep_text(&self, bytes: usize) {
        self.keep_bytes(size_of::<Term>() + bytes);
    }

    /// Counts a quad that is kept for the result, as [`Walker::keep`] does a term.
    pub(super) fn keep_quad(&self, quad: &Quad) {
        let terms: [TermRef<'_>; 3] = [
            quad.subject.as_ref().into(),
            quad.predicate.as_ref().into(),
            quad.object.as_ref(),
        ];
        for term in terms {
            self.keep_text(super::source::text_size(term));
        }
        if let oxrdf::GraphName::NamedNode(graph) = &quad.graph_name {
            self.keep_text(graph.as_str().len());
        }
    }
}
