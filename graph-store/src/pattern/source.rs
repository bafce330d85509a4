//! The sources of quads for index scans.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::Hash;

use oxrdf::{
    GraphNameRef, LiteralRef, NamedNode, NamedNodeRef, NamedOrBlankNodeRef, Quad, Term, TermRef,
};

use super::orders::{Changes, KeptOrders};
use super::spans::{Spans, Within};
use crate::error::StoreError;
use crate::evaluate::{TermMatcher, TextFilter};
use crate::query::{ObjectSlice, Objects, Terms};
use crate::store::order::drop_repeated;

/// Something that finds quads by a pattern: all that a [`PatternStore`](super::PatternStore) needs.
///
/// Each existing quad is returned exactly once. A request queries many patterns, most of them with
/// subject and predicate, or with predicate and object; a source should find these by an index.
///
/// ```
/// use std::sync::Arc;
///
/// use graph_store::pattern::{PatternSource, PatternStore, Quads};
/// use graph_store::{GraphStore, StoreError};
/// use oxrdf::{GraphNameRef, NamedNodeRef, NamedOrBlankNodeRef, Quad, TermRef};
///
/// /// Quads in any order, without an index.
/// struct List(Vec<Quad>);
///
/// impl PatternSource for List {
///     fn quads_for_pattern(
///         &self,
///         subject: Option<NamedOrBlankNodeRef<'_>>,
///         predicate: Option<NamedNodeRef<'_>>,
///         object: Option<TermRef<'_>>,
///         graph: Option<GraphNameRef<'_>>,
///     ) -> Quads<'_> {
///         let found = self.0.iter().filter(|quad| {
///             subject.is_none_or(|subject| quad.subject.as_ref() == subject)
///                 && predicate.is_none_or(|predicate| quad.predicate.as_ref() == predicate)
///                 && object.is_none_or(|object| quad.object.as_ref() == object)
///                 && graph.is_none_or(|graph| quad.graph_name.as_ref() == graph)
///         });
///         // The matches must not borrow the pattern.
///         let found: Vec<_> = found.cloned().map(Ok).collect();
///         Box::new(found.into_iter())
///     }
/// }
///
/// let store = |quads: &[Quad]| -> Arc<dyn GraphStore> {
///     Arc::new(PatternStore::new(List(quads.to_vec())))
/// };
/// graph_store::contract::run(&store);
/// ```
pub trait PatternSource: Send + Sync + 'static {
    /// Returns the quads that match the given terms; an absent term matches any.
    ///
    /// Without `graph`, these are the quads of all graphs, including the default graph: a triple in
    /// two graphs is two quads.
    fn quads_for_pattern(
        &self,
        subject: Option<NamedOrBlankNodeRef<'_>>,
        predicate: Option<NamedNodeRef<'_>>,
        object: Option<TermRef<'_>>,
        graph: Option<GraphNameRef<'_>>,
    ) -> Quads<'_>;
}

/// The quads that match a pattern, read lazily; an error ends the request.
pub type Quads<'s> = Box<dyn Iterator<Item = Result<Quad, StoreError>> + 's>;

/// The terms that the quads of a scan have in common.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pattern<'p> {
    pub(crate) subject: Option<NamedNodeRef<'p>>,
    pub(crate) predicate: Option<NamedNodeRef<'p>>,
    pub(crate) object: Option<TermRef<'p>>,
}

/// The object of the triples of a scan.
pub(crate) enum Object<'o, N> {
    /// An object of the data or of the request.
    Node(&'o N),
    /// A literal of the request.
    Literal(LiteralRef<'o>),
}

impl<N> Clone for Object<'_, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<N> Copy for Object<'_, N> {}

/// Kept orders, and the changes that these follow.
pub(crate) type Following<'s, N> = (&'s KeptOrders<N>, &'s dyn Changes<N>);

/// Subject and object of a triple, or nothing for several triples that were looked at and left out.
pub(crate) type Searched<T> = Option<(T, T)>;

/// A source of triples during one request, by handles of their terms, with the shortcuts that it
/// knows.
///
/// Handles are equal exactly for equal terms, as long as the source lives. A source that knows terms by
/// number reads their text only where it is asked for; one that decodes quads has terms for handles.
/// Scans are monomorphized for each source, so neither pays for the other.
///
/// A scan reads one graph or all, and may return blank nodes.
pub(crate) trait QuadSource {
    /// A handle of an IRI.
    type Node: Clone + Eq + Hash;
    /// A handle of any term.
    type Term: Clone + Eq + Hash + From<Self::Node>;
    /// A property to scan by, looked up once per request.
    type Property<'q>: Copy;
    /// A graph to scan, looked up once per request.
    type Graph;

    /// [`QuadSource::pairs_by_object`] makes use of a filter.
    const SEARCHES_TEXTS: bool = false;

    /// Returns the handle of an IRI; one that does not occur in the data gets one too.
    fn node<'n>(&self, iri: &'n NamedNode) -> Cow<'n, Self::Node>;

    /// Returns the handle of a term; one that does not occur in the data gets one too.
    #[cfg(feature = "image")]
    fn term(&self, term: TermRef<'_>) -> Self::Term;

    /// Looks a property up.
    fn property<'q>(&self, iri: &'q NamedNode) -> Self::Property<'q>;

    /// Looks a graph up.
    fn graph(&self, name: GraphNameRef<'_>) -> Self::Graph;

    /// Shows an IRI to `view`, which must not call the source.
    fn with_iri<R>(&self, node: &Self::Node, view: impl FnOnce(NamedNodeRef<'_>) -> R) -> R;

    /// Shows a term to `view`, which must not call the source.
    fn with_term<R>(&self, term: &Self::Term, view: impl FnOnce(TermRef<'_>) -> R) -> R;

    /// Compares two IRIs by code point.
    fn compare(&self, a: &Self::Node, b: &Self::Node) -> Ordering;

    /// Returns a number above 0 by which an IRI is ordered; `None` where numbers do not tell.
    fn rank_of_node(&self, _node: &Self::Node) -> Option<u32> {
        None
    }

    /// Returns a number above 0 by which a string without a tag is ordered; `None` for other terms, and where numbers do not
    /// tell.
    fn rank_of_string(&self, _term: &Self::Term) -> Option<u32> {
        None
    }

    /// Returns the IRI that a term is.
    fn as_node<'t>(&self, term: &'t Self::Term) -> Option<&'t Self::Node>;

    /// Converts a term to the IRI that it is, or gives it back.
    fn to_node(&self, term: Self::Term) -> Result<Self::Node, Self::Term> {
        match self.as_node(&term) {
            Some(node) => Ok(node.clone()),
            None => Err(term),
        }
    }

    /// Returns whether a term is a blank node.
    fn is_blank(&self, term: &Self::Term) -> bool;

    /// Returns whether a predicate is a property.
    fn is_property(&self, predicate: &Self::Node, property: &Self::Property<'_>) -> bool;

    /// Returns about how many bytes the text of a term takes; an estimate is enough.
    fn text_size(&self, term: &Self::Term) -> usize {
        self.with_term(term, text_size)
    }

    /// Returns about how many bytes an IRI takes; an estimate is enough.
    fn iri_size(&self, node: &Self::Node) -> usize {
        self.with_iri(node, |iri| iri.as_str().len())
    }

    /// Converts handles to the IRIs that they stand for.
    fn to_iris(&self, nodes: Vec<Self::Node>) -> Vec<NamedNode> {
        let nodes = nodes.iter();
        nodes
            .map(|node| self.with_iri(node, |iri| iri.into_owned()))
            .collect()
    }

    /// Converts handles to the terms that they stand for.
    fn to_terms(&self, terms: Vec<Self::Term>) -> Vec<Term> {
        let terms = terms.iter();
        terms
            .map(|term| self.with_term(term, |term| term.into_owned()))
            .collect()
    }

    /// Returns the handle of an object that a request names.
    fn handle<'n>(&self, objects: ObjectSlice<'n>, position: usize) -> Cow<'n, Self::Node> {
        match objects.refs() {
            Some(refs) => self.node(refs[position].node()),
            None => Cow::Owned(self.node(objects.get(position).node()).into_owned()),
        }
    }

    /// Converts handles to the objects of a result.
    fn to_objects(&self, nodes: Vec<Self::Node>) -> Objects {
        self.to_iris(nodes).into()
    }

    /// Converts handles to the values of a result.
    fn to_values(&self, terms: Vec<Self::Term>) -> Terms {
        self.to_terms(terms).into()
    }

    /// Returns about how many bytes a term takes in a result; an estimate is enough.
    fn result_size(&self, term: &Self::Term) -> usize {
        size_of::<Term>() + self.text_size(term)
    }

    /// Returns about how many bytes an object takes in a result; an estimate is enough.
    fn object_size(&self, node: &Self::Node) -> usize {
        size_of::<Term>() + self.iri_size(node)
    }

    /// Returns the orders that are kept with the data, and the changes that these follow; `None` where none are kept.
    fn orders(&self) -> Option<Following<'_, Self::Node>> {
        None
    }

    /// Returns the objects of a subject by a property in any graph, or the subjects of an object, where they lie together;
    /// `None` where they do not, or may be repeated.
    fn ends(
        &self,
        _node: &Self::Node,
        _property: &Self::Property<'_>,
        _inverse: bool,
    ) -> Option<&[Self::Term]> {
        None
    }

    /// Returns the objects of a subject by a property.
    fn objects<'s>(
        &'s self,
        subject: &Self::Node,
        property: &Self::Property<'_>,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<Self::Term, StoreError>> + use<'s, Self>;

    /// Returns the subjects with an object of a property.
    fn subjects<'s>(
        &'s self,
        property: &Self::Property<'_>,
        object: Object<'_, Self::Node>,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<Self::Term, StoreError>> + use<'s, Self>;

    /// Returns the subjects and objects of a property.
    fn pairs<'s>(
        &'s self,
        property: &Self::Property<'_>,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<(Self::Term, Self::Term), StoreError>> + use<'s, Self>;

    /// Returns the subjects and objects of a property, the subjects of one object after each other where they lie so.
    ///
    /// Objects may be left out in whose texts a filter finds nothing; `None` stands for several of them.
    fn pairs_by_object<'s>(
        &'s self,
        property: &Self::Property<'_>,
        _filter: Option<TextFilter>,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<Searched<Self::Term>, StoreError>> + use<'s, Self> {
        let pairs = self.pairs(property, graph);
        pairs.map(|pair| pair.map(Some))
    }

    /// Returns the terms that satisfy a condition, as far as that is known of terms without reading them.
    fn spans(&self, _condition: &TermMatcher<'_>) -> Option<Spans> {
        None
    }

    /// Returns whether a term is one of those that satisfy a condition; `None` if it has to be read.
    fn decide(&self, _spans: &Spans, _term: &Self::Term) -> Option<bool> {
        None
    }

    /// Returns the values of a property that may satisfy a condition; `None` where these do not lie together.
    fn within(
        &self,
        _property: &Self::Property<'_>,
        _condition: &TermMatcher<'_>,
    ) -> Option<Within> {
        None
    }

    /// Returns the subjects and objects of a property whose values are [within](QuadSource::within), and maybe others: each
    /// value is still tested.
    fn pairs_within<'s>(
        &'s self,
        property: &Self::Property<'_>,
        _within: &Within,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<(Self::Term, Self::Term), StoreError>> + use<'s, Self> {
        self.pairs(property, graph)
    }

    /// Returns about how many subjects have an object of a property in any graph, where that is known.
    fn count_subjects(
        &self,
        _property: &Self::Property<'_>,
        _object: Object<'_, Self::Node>,
    ) -> Option<usize> {
        None
    }

    /// Returns the IRIs that have an object of a property in any graph: some in any order, and then the others in the order of
    /// their code points. `None` where they do not lie in that order.
    fn subjects_in_order<'s>(
        &'s self,
        _property: &Self::Property<'_>,
        _object: &Self::Node,
    ) -> Option<(
        Vec<Self::Node>,
        impl Iterator<Item = Self::Node> + use<'s, Self>,
    )> {
        None::<(Vec<Self::Node>, std::iter::Empty<Self::Node>)>
    }

    /// Makes IRIs distinct, in any order that is always the same.
    fn make_distinct(&self, nodes: &mut Vec<Self::Node>) {
        drop_repeated(nodes, 0);
    }

    /// Returns the predicates and objects of a subject.
    fn about<'s>(
        &'s self,
        subject: &Self::Node,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<(Self::Node, Self::Term), StoreError>> + use<'s, Self>;

    /// Returns whether a triple exists.
    fn contains(
        &self,
        subject: &Self::Node,
        property: &Self::Property<'_>,
        object: &Self::Node,
        graph: Option<&Self::Graph>,
    ) -> Result<bool, StoreError>;

    /// Returns whole quads that match a pattern: a triple once for each of its graphs.
    #[cfg(feature = "image")]
    fn quads<'s>(
        &'s self,
        pattern: Pattern<'_>,
        graph: Option<&Self::Graph>,
    ) -> impl Iterator<Item = Result<Quad, StoreError>> + use<'s, Self>;

    /// Returns whether there may be quads outside the default graph.
    fn may_have_named_graphs(&self) -> bool;

    /// Returns whether a scan of all graphs may return a triple several times, once for each of its
    /// graphs.
    fn repeats_triples(&self) -> bool {
        self.may_have_named_graphs()
    }

    /// Returns whether reading all that is said about a subject may cost less than a look-up for each
    /// wanted property.
    fn reads_subjects_at_once(&self) -> bool {
        true
    }
}

/// Returns about how many bytes the text of a term takes.
pub(super) fn text_size(term: TermRef<'_>) -> usize {
    match term {
        TermRef::NamedNode(node) => node.as_str().len(),
        TermRef::Literal(literal) => {
            let tag = literal.language().map_or(0, str::len);
            literal.value().len() + literal.datatype().as_str().len() + tag
        }
        _ => 0,
    }
}
