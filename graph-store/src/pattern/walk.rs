//! Reads the quads of one dataset for one request.

use std::ops::ControlFlow;
use std::time::Instant;

use oxrdf::{GraphName, GraphNameRef, NamedNode, NamedNodeRef, Quad, Term, TermRef};

use super::source::{Pattern, QuadSource};
use crate::context::CallContext;
use crate::error::StoreError;
use crate::query::{Dataset, Step, TypeTest};
use crate::store::order::drop_repeated;

/// Subjects of links.
pub(super) type Starts<'w> = Box<dyn Iterator<Item = NamedNode> + 'w>;

/// How many quads are read between two checks of the deadline.
const CHECK_EVERY: u32 = 128;

/// Reads one dataset for one request.
pub(crate) struct Walker<'a, S> {
    source: S,
    pub(super) context: &'a CallContext,
    /// Exactly these graphs; `None` for all.
    graphs: Option<Vec<GraphName>>,
    /// A triple may occur in several of the graphs.
    pub(super) may_repeat: bool,
    /// All triples are in the default graph.
    default_only: bool,
    /// Quads read since the last check of the deadline.
    read: std::cell::Cell<u32>,
    /// Bytes of results since then.
    kept: std::cell::Cell<usize>,
}

impl<'a, S: QuadSource> Walker<'a, S> {
    pub(crate) fn new(source: S, dataset: &Dataset, context: &'a CallContext) -> Self {
        let graphs = dataset.graphs.as_ref().map(|graphs| {
            graphs
                .iter()
                .cloned()
                .map(GraphName::NamedNode)
                .collect::<Vec<_>>()
        });
        let default_only = graphs.is_none() && !source.may_have_named_graphs();
        let may_repeat = match &graphs {
            Some(graphs) => graphs.len() > 1,
            None => !default_only,
        };
        Walker {
            source,
            context,
            graphs,
            may_repeat,
            default_only,
            read: std::cell::Cell::new(0),
            kept: std::cell::Cell::new(0),
        }
    }

    /// Checks the deadline now.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.context.check()
    }

    /// Checks the deadline every `CHECK_EVERY` quads.
    pub(super) fn tick(&self) -> Result<(), StoreError> {
        let read = self.read.get() + 1;
        self.read.set(read);
        if read < CHECK_EVERY {
            return Ok(());
        }
        self.settle()
    }

    /// Counts the quads read since the last check of the deadline.
    pub(super) fn settle(&self) -> Result<(), StoreError> {
        self.context.hold(self.kept.take())?;
        self.context.spend(self.read.take())
    }

    /// Counts a term that is kept for the result, at the next check of the deadline.
    pub(super) fn keep(&self, term: TermRef<'_>) {
        self.kept.set(self.kept.get() + footprint(term));
    }

    /// Counts a quad that is kept for the result, as [`Walker::keep`] does a term.
    #[cfg(feature = "oxigraph")]
    pub(super) fn keep_quad(&self, quad: &Quad) {
        self.keep(quad.subject.as_ref().into());
        self.keep(quad.predicate.as_ref().into());
        self.keep(quad.object.as_ref());
        if let GraphName::NamedNode(graph) = &quad.graph_name {
            self.keep(graph.as_ref().into());
        }
    }

    /// Adds a step to the trace of the request, if there is one.
    pub(super) fn record(&self, work: &'static str, rows: usize, started: Instant) {
        if let Some(trace) = &self.context.trace {
            trace.record(work, None, rows, started);
        }
    }

    /// Returns the quads that match a pattern, one graph after the other.
    pub(super) fn quads<'w>(&'w self, pattern: Pattern<'_>) -> Quads<'w, S> {
        let in_graph =
            |graph: Option<&GraphName>| self.source.quads(pattern, graph.map(GraphName::as_ref));
        let graphs = match self.graphs.as_deref() {
            None => vec![],
            Some(graphs) => graphs
                .iter()
                .skip(1)
                .rev()
                .map(|g| in_graph(Some(g)))
                .collect(),
        };
        let current = match self.graphs.as_deref() {
            None => Some(in_graph(None)),
            Some([]) => None,
            Some([first, ..]) => Some(in_graph(Some(first))),
        };
        Quads {
            walker: self,
            current,
            rest: graphs,
        }
    }

    /// Passes the quads that match a pattern to `take` until it breaks.
    ///
    /// Quads are large, and are moved less often here than through [`Walker::quads`].
    #[inline]
    pub(super) fn each_quad(
        &self,
        pattern: Pattern<'_>,
        mut take: impl FnMut(Quad) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let quads = self.quads(pattern);
        for part in quads
            .current
            .into_iter()
            .chain(quads.rest.into_iter().rev())
        {
            for quad in part {
                self.tick()?;
                match quad {
                    Ok(quad) => {
                        if take(quad)?.is_break() {
                            return Ok(());
                        }
                    }
                    Err(error) => return Err(S::failed(error)),
                }
            }
        }
        Ok(())
    }

    /// Returns the pattern of the quads that a step from `node` follows.
    fn along<'p>(node: &'p NamedNode, step: &'p Step) -> Pattern<'p> {
        let predicate = Some(step.predicate.as_ref());
        if step.inverse {
            Pattern {
                predicate,
                object: Some(node.into()),
                ..Pattern::default()
            }
        } else {
            Pattern {
                subject: Some(node),
                predicate,
                ..Pattern::default()
            }
        }
    }

    /// Returns the subjects that link to `node` by the property of an inverse step, where that is
    /// indexed.
    fn led_by<'w>(
        &'w self,
        node: &NamedNode,
        step: &Step,
    ) -> Option<impl Iterator<Item = NamedNode> + use<'w, 'a, S>> {
        match step.inverse {
            true => self.source.links_to(node, &step.predicate),
            false => None,
        }
    }

    /// Returns the subjects that link to some objects by a property, where that is indexed;
    /// literals are not.
    pub(super) fn leading_to(&self, objects: &[Term], property: &NamedNode) -> Option<Starts<'_>> {
        let mut found = Vec::with_capacity(objects.len());
        for object in objects {
            let Term::NamedNode(object) = object else {
                return None;
            };
            found.push(self.source.links_to(object, property)?);
        }
        Some(Box::new(found.into_iter().flatten()))
    }

    /// Appends the distinct values of one step, without blank nodes.
    pub(super) fn walk(
        &self,
        node: &NamedNode,
        step: &Step,
        values: &mut Vec<Term>,
    ) -> Result<(), StoreError> {
        if let Some(starts) = self.led_by(node, step) {
            for start in starts {
                self.tick()?;
                values.push(start.into());
            }
            return Ok(());
        }
        let start = values.len();
        self.each_quad(Walker::<S>::along(node, step), |quad| {
            let value = end(quad, step);
            if !matches!(value, Term::BlankNode(_)) {
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
        node: &NamedNode,
        step: &Step,
        mut test: impl FnMut(Term) -> Result<bool, StoreError>,
    ) -> Result<bool, StoreError> {
        if let Some(starts) = self.led_by(node, step) {
            for start in starts {
                self.tick()?;
                if test(start.into())? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let mut found = false;
        self.each_quad(Walker::<S>::along(node, step), |quad| {
            let value = end(quad, step);
            found = !matches!(value, Term::BlankNode(_)) && test(value)?;
            Ok(match found {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })?;
        Ok(found)
    }

    /// Returns whether a step leads from one object to another.
    pub(super) fn leads_to(
        &self,
        node: &NamedNode,
        step: &Step,
        to: &NamedNode,
    ) -> Result<bool, StoreError> {
        let (subject, object) = if step.inverse { (to, node) } else { (node, to) };
        self.contains(subject, step.predicate.as_ref(), object)
    }

    /// Returns whether a triple exists.
    ///
    /// Where the graphs are known, this is a point lookup, which reads no chain and decodes
    /// nothing.
    fn contains(
        &self,
        subject: &NamedNode,
        predicate: NamedNodeRef<'_>,
        object: &NamedNode,
    ) -> Result<bool, StoreError> {
        self.tick()?;
        let in_graph =
            |graph: GraphNameRef<'_>| self.source.contains(subject, predicate, object, graph);
        if self.default_only {
            return in_graph(GraphNameRef::DefaultGraph);
        }
        match &self.graphs {
            Some(graphs) => {
                for graph in graphs {
                    if in_graph(graph.as_ref())? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            None => {
                let mut quads = self.quads(Pattern {
                    subject: Some(subject),
                    predicate: Some(predicate),
                    object: Some(object.into()),
                });
                Ok(quads.next().transpose()?.is_some())
            }
        }
    }

    pub(super) fn is_instance(
        &self,
        node: &NamedNode,
        test: &TypeTest,
    ) -> Result<bool, StoreError> {
        for (property, types) in &test.alternatives {
            let passes = match types.as_slice() {
                [single] => self.contains(node, property.as_ref(), single)?,
                types => self.any_value(node, &Step::forward(property.clone()), |ty| {
                    Ok(matches!(ty, Term::NamedNode(ty) if types.binary_search(&ty).is_ok()))
                })?,
            };
            if passes {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the end of a quad that a step leads to.
pub(super) fn end(quad: Quad, step: &Step) -> Term {
    if step.inverse {
        quad.subject.into()
    } else {
        quad.object
    }
}

/// The quads that match a pattern.
pub(super) struct Quads<'w, S: QuadSource> {
    walker: &'w Walker<'w, S>,
    current: Option<S::Quads>,
    /// Graphs that remain to be read, the next one last.
    rest: Vec<S::Quads>,
}

impl<S: QuadSource> Iterator for Quads<'_, S> {
    type Item = Result<Quad, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(quad) = self.current.as_mut()?.next() {
                if let Err(error) = self.walker.tick() {
                    return Some(Err(error));
                }
                return Some(quad.map_err(S::failed));
            }
            self.current = self.rest.pop();
        }
    }
}

/// About how many bytes a term takes in a result.
fn footprint(term: TermRef<'_>) -> usize {
    let text = match term {
        TermRef::NamedNode(node) => node.as_str().len(),
        TermRef::Literal(literal) => {
            let tag = literal.language().map_or(0, str::len);
            literal.value().len() + literal.datatype().as_str().len() + tag
        }
        _ => 0,
    };
    size_of::<Term>() + text
}
