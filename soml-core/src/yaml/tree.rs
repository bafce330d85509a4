//! Nodes of a YAML document and how to traverse them.

use std::borrow::Cow;

use crate::diagnostic::{Diagnostic, Findings};
use crate::options::LoadOptions;
use crate::span::{LineIndex, Span};

/// A YAML document as a tree.
#[derive(Clone, Debug, Default)]
pub struct Document<'t> {
    pub(super) nodes: Vec<Node<'t>>,
    pub(super) root: Option<NodeId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeId(pub(super) u32);

#[derive(Clone, Debug)]
pub(super) struct Node<'t> {
    pub(super) kind: NodeKind<'t>,
    pub(super) span: Span,
    pub(super) size: Size,
}

/// What a walk over a node costs, aliases followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Number of nodes.
    pub(super) weight: u32,
    /// Number of levels.
    pub(super) height: u32,
}

impl Size {
    pub(super) const LEAF: Size = Size {
        weight: 1,
        height: 1,
    };

    /// Adds a child.
    pub(super) fn hold(&mut self, child: Size) {
        self.weight = self.weight.saturating_add(child.weight);
        self.height = self.height.max(child.height.saturating_add(1));
    }
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind<'t> {
    /// Text; `plain` when neither quoted nor tagged, so that it can stand for null or a boolean.
    Scalar {
        text: Cow<'t, str>,
        plain: bool,
    },
    Sequence(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
    /// The place of something that was reported and cannot be read.
    Broken,
}

/// A node together with its document.
#[derive(Clone, Copy, Debug)]
pub struct NodeRef<'d, 't> {
    document: &'d Document<'t>,
    id: NodeId,
}

impl<'t> Document<'t> {
    /// Parses YAML text with the default limits.
    ///
    /// # Errors
    /// Returns syntax errors and duplicate keys.
    ///
    /// ```
    /// use soml_core::yaml::Document;
    ///
    /// let document = Document::parse("title: Films").unwrap();
    /// let (key, value) = document.root().unwrap().entries().unwrap().next().unwrap();
    /// assert_eq!((key.text(), value.text()), (Some("title"), Some("Films")));
    /// assert_eq!(value.span().range(), 7..12);
    /// ```
    pub fn parse(text: &'t str) -> Result<Document<'t>, Vec<Diagnostic>> {
        let options = LoadOptions::default();
        let mut findings = Findings::new(options.max_findings);
        let document = super::parse(text, &options, &mut findings);
        match document.filter(|_| !findings.has_errors()) {
            Some(document) => Ok(document),
            None => Err(findings.finish(&LineIndex::new(text)).0),
        }
    }

    /// Returns the root; `None` for an empty text.
    #[must_use]
    pub fn root(&self) -> Option<NodeRef<'_, 't>> {
        self.root.map(|id| NodeRef { document: self, id })
    }

    pub(super) fn node(&self, id: NodeId) -> &Node<'t> {
        &self.nodes[id.0 as usize]
    }
}

impl<'d, 't> NodeRef<'d, 't> {
    fn kind(self) -> &'d NodeKind<'t> {
        &self.document.node(self.id).kind
    }

    fn at(self, id: NodeId) -> NodeRef<'d, 't> {
        NodeRef { id, ..self }
    }

    /// Returns where the node is; for an alias, where its anchor is.
    #[must_use]
    pub fn span(self) -> Span {
        self.document.node(self.id).span
    }

    /// Returns the text of a scalar that is not null.
    #[must_use]
    pub fn text(self) -> Option<&'d str> {
        match self.kind() {
            NodeKind::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a scalar that is neither quoted nor tagged as a string.
    #[must_use]
    pub fn plain_text(self) -> Option<&'d str> {
        match self.kind() {
            NodeKind::Scalar { text, plain: true } => Some(text),
            _ => None,
        }
    }

    /// Returns whether the value is absent: nothing, `~`, `null`, or something reported before.
    #[must_use]
    pub fn is_null(self) -> bool {
        match self.kind() {
            NodeKind::Scalar { text, plain: true } => {
                matches!(&**text, "" | "~" | "null" | "Null" | "NULL")
            }
            NodeKind::Broken => true,
            _ => false,
        }
    }

    /// Returns the entries of a mapping in document order, merged ones last.
    #[must_use]
    pub fn entries(
        self,
    ) -> Option<impl ExactSizeIterator<Item = (NodeRef<'d, 't>, NodeRef<'d, 't>)>> {
        match self.kind() {
            NodeKind::Mapping(entries) => Some(
                entries
                    .iter()
                    .map(move |(key, value)| (self.at(*key), self.at(*value))),
            ),
            _ => None,
        }
    }

    /// Returns the items of a list.
    #[must_use]
    pub fn items(self) -> Option<impl ExactSizeIterator<Item = NodeRef<'d, 't>>> {
        match self.kind() {
            NodeKind::Sequence(items) => Some(items.iter().map(move |item| self.at(*item))),
            _ => None,
        }
    }

    /// Describes the node, for messages.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self.kind() {
            NodeKind::Scalar { .. } if self.is_null() => "null",
            NodeKind::Scalar { .. } => "a string",
            NodeKind::Sequence(_) => "a list",
            NodeKind::Mapping(_) => "a mapping",
            NodeKind::Broken => "null",
        }
    }
}
