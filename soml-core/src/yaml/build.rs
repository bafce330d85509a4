//! From the events of the YAML parser to the tree.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use granit_parser::{Event, Options, Parser, ScalarStyle};

use super::syntax_error::{self, Context};
use super::tree::{Document, Node, NodeId, NodeKind, Size};
use crate::codes::Code;
use crate::diagnostic::{Findings, shorten};
use crate::options::LoadOptions;
use crate::span::Span;

/// How many places of a repeated key are kept beside the first two.
const SHOWN_REPEATS: usize = 3;

/// Parses one YAML document. `None` when the text is not YAML or too large.
pub(crate) fn parse<'t>(
    text: &'t str,
    options: &LoadOptions,
    findings: &mut Findings,
) -> Option<Document<'t>> {
    let mut builder = Builder {
        text,
        document: Document::default(),
        open: Vec::new(),
        anchors: HashMap::new(),
        visited: 0,
        options,
        findings,
    };
    let mut last = None;
    let mut documents = 0;
    for event in Parser::new_from_str_with_options(text, parser_options(options)) {
        let (event, place) = match event {
            Ok(event) => event,
            Err(error) => {
                let context = Context {
                    text,
                    last,
                    bracket: builder.innermost_bracket(),
                };
                syntax_error::report(&error, &context, builder.findings);
                return None;
            }
        };
        let span = byte_span(&place);
        if matches!(event, Event::DocumentStart(..)) {
            documents += 1;
            if documents > 1 {
                builder
                    .findings
                    .add(
                        Code::SeveralDocuments,
                        span,
                        "a second document begins here",
                    )
                    .help("keep one document per file");
                break;
            }
        }
        last = matches!(event, Event::Scalar(..)).then(|| (place, is_plain(&event)));
        if builder.event(event, span).is_err() {
            return None;
        }
    }
    Some(builder.document)
}

/// A limit was exceeded and reading stopped.
struct Stopped;

struct Builder<'t, 'f> {
    text: &'t str,
    document: Document<'t>,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchor>,
    /// Nodes that a walk over the document visits so far, aliases followed.
    visited: u64,
    options: &'f LoadOptions,
    findings: &'f mut Findings,
}

/// A list or mapping whose end has not been seen.
struct Open {
    children: Vec<NodeId>,
    start: Span,
    anchor: usize,
    mapping: bool,
}

#[derive(Clone, Copy)]
enum Anchor {
    Open,
    Done(NodeId),
}

impl Open {
    /// Written with brackets or braces, whose start has a width.
    fn is_flow(&self) -> bool {
        self.start.end > self.start.start
    }
}

impl<'t> Builder<'t, '_> {
    fn innermost_bracket(&self) -> Option<Span> {
        self.open
            .last()
            .filter(|open| open.is_flow())
            .map(|open| open.start)
    }

    fn event(&mut self, event: Event<'t>, span: Span) -> Result<(), Stopped> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && tag.is_none();
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let span = if block {
                    trim_end(span, self.text)
                } else {
                    span
                };
                self.complete(NodeKind::Scalar { text, plain }, span, Size::LEAF, anchor)
            }
            Event::SequenceStart(_, anchor, _) => self.open(span, anchor, false),
            Event::MappingStart(_, anchor, _) => self.open(span, anchor, true),
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::UnresolvedAlias(name) => {
                self.findings
                    .add(
                        Code::UnknownAlias,
                        span,
                        format!("there is no anchor `&{}` before this alias", shorten(&name)),
                    )
                    .help("quote a string that begins with `*`");
                self.complete(NodeKind::Broken, span, Size::LEAF, 0)
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, span: Span, anchor: usize, mapping: bool) -> Result<(), Stopped> {
        if self.open.len() >= self.options.max_depth {
            return self.too_deep(span);
        }
        if anchor != 0 {
            self.anchors.insert(anchor, Anchor::Open);
        }
        self.open.push(Open {
            children: Vec::new(),
            start: span,
            anchor,
            mapping,
        });
        Ok(())
    }

    fn close(&mut self, end: Span) -> Result<(), Stopped> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let last = open
            .children
            .last()
            .map_or(open.start.end, |id| self.document.node(*id).span.end);
        // The end of a block is where the next thing begins; the end of its last child is nearer.
        let span = Span {
            start: open.start.start,
            end: if open.is_flow() {
                end.end
            } else {
                last.max(open.start.end)
            },
        };
        let mut size = Size::LEAF;
        for id in &open.children {
            size.hold(self.document.node(*id).size);
        }
        let kind = if open.mapping {
            NodeKind::Mapping(self.entries(&open.children)?)
        } else {
            NodeKind::Sequence(open.children)
        };
        self.complete(kind, span, size, open.anchor)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Stopped> {
        match self.anchors.get(&anchor) {
            Some(Anchor::Done(id)) => {
                let id = *id;
                let size = self.document.node(id).size;
                self.visit(size.weight, span)?;
                if self.open.len() + size.height as usize > self.options.max_depth + 1 {
                    return self.too_deep(span);
                }
                self.attach(id);
                Ok(())
            }
            _ => {
                self.findings
                    .add(Code::RecursiveAlias, span, "the value would contain itself");
                self.complete(NodeKind::Broken, span, Size::LEAF, 0)
            }
        }
    }

    fn complete(
        &mut self,
        kind: NodeKind<'t>,
        span: Span,
        size: Size,
        anchor: usize,
    ) -> Result<(), Stopped> {
        self.visit(1, span)?;
        let id = NodeId(u32::try_from(self.document.nodes.len()).unwrap_or(u32::MAX));
        self.document.nodes.push(Node { kind, span, size });
        if anchor != 0 {
            self.anchors.insert(anchor, Anchor::Done(id));
        }
        self.attach(id);
        Ok(())
    }

    fn attach(&mut self, id: NodeId) {
        match self.open.last_mut() {
            Some(parent) => parent.children.push(id),
            None => self.document.root = Some(id),
        }
    }

    fn visit(&mut self, nodes: u32, span: Span) -> Result<(), Stopped> {
        self.visited += u64::from(nodes);
        if self.visited > self.options.max_nodes as u64 {
            return self.stop(
                span,
                format!(
                    "more than {} nodes, aliases included",
                    self.options.max_nodes
                ),
            );
        }
        Ok(())
    }

    fn too_deep(&mut self, span: Span) -> Result<(), Stopped> {
        self.stop(span, format!("more than {} levels", self.options.max_depth))
    }

    fn stop(&mut self, span: Span, what: String) -> Result<(), Stopped> {
        self.findings.add(
            Code::LimitExceeded,
            span,
            format!("the document has {what}"),
        );
        Err(Stopped)
    }

    /// Pairs up keys and values, reports keys that occur twice, and resolves merge keys.
    fn entries(&mut self, children: &[NodeId]) -> Result<Vec<(NodeId, NodeId)>, Stopped> {
        let mut entries: Vec<(NodeId, NodeId)> = Vec::with_capacity(children.len() / 2);
        let mut merges = Vec::new();
        let mut first: HashMap<&str, usize> = HashMap::with_capacity(children.len() / 2);
        let mut repeats: Vec<Repeat> = Vec::new();
        let mut repeat_of = HashMap::new();
        let mut not_text = Vec::new();
        for pair in children.chunks_exact(2) {
            let key = self.document.node(pair[0]);
            match &key.kind {
                NodeKind::Scalar { text, plain: true } if text == "<<" => merges.push(pair[1]),
                NodeKind::Scalar { text, plain } if !(*plain && text.is_empty()) => {
                    match first.entry(text) {
                        Entry::Vacant(free) => {
                            free.insert(entries.len());
                            entries.push((pair[0], pair[1]));
                        }
                        Entry::Occupied(taken) => {
                            note_repeat(&mut repeats, &mut repeat_of, *taken.get(), key.span);
                        }
                    }
                }
                NodeKind::Broken => {}
                _ => not_text.push(key.span),
            }
        }
        for repeat in repeats {
            let key = self.document.node(entries[repeat.entry].0);
            report_repeat(self.findings, key, &repeat);
        }
        for span in not_text {
            self.findings
                .add(Code::KeyNotText, span, "a key must be a string")
                .help("quote the key if it is a name");
        }
        self.merge(&mut entries, &merges)?;
        Ok(entries)
    }

    /// Adds the entries of merged mappings (`<<`) that are not written themselves.
    fn merge(
        &mut self,
        entries: &mut Vec<(NodeId, NodeId)>,
        merges: &[NodeId],
    ) -> Result<(), Stopped> {
        for &id in merges {
            let node = self.document.node(id);
            let sources = match &node.kind {
                NodeKind::Sequence(items) => items.clone(),
                _ => vec![id],
            };
            for source in sources {
                let node = self.document.node(source);
                let span = node.span;
                let NodeKind::Mapping(more) = &node.kind else {
                    self.findings
                        .add(Code::WrongType, span, "`<<` merges mappings only")
                        .help("write `<<: *name`, where `&name` is the anchor of a mapping");
                    continue;
                };
                let weight = node.size.weight;
                let more = more.clone();
                // Comparing keys costs a visit for each merged entry and each written one.
                let known = u32::try_from(entries.len()).unwrap_or(u32::MAX);
                self.visit(weight.saturating_add(known), span)?;
                let text = |document: &Document<'t>, id: NodeId| match &document.node(id).kind {
                    NodeKind::Scalar { text, .. } => text.to_string(),
                    _ => String::new(),
                };
                let mut written: std::collections::HashSet<String> = entries
                    .iter()
                    .map(|(key, _)| text(&self.document, *key))
                    .collect();
                for (key, value) in more {
                    if written.insert(text(&self.document, key)) {
                        entries.push((key, value));
                    }
                }
            }
        }
        Ok(())
    }
}

/// A key that occurs again.
struct Repeat {
    entry: usize,
    second: Span,
    others: Vec<Span>,
    count: usize,
}

fn note_repeat(
    repeats: &mut Vec<Repeat>,
    repeat_of: &mut HashMap<usize, usize>,
    entry: usize,
    span: Span,
) {
    match repeat_of.entry(entry) {
        Entry::Occupied(known) => {
            let repeat = &mut repeats[*known.get()];
            repeat.count += 1;
            if repeat.others.len() < SHOWN_REPEATS {
                repeat.others.push(span);
            }
        }
        Entry::Vacant(free) => {
            free.insert(repeats.len());
            repeats.push(Repeat {
                entry,
                second: span,
                others: Vec::new(),
                count: 2,
            });
        }
    }
}

fn report_repeat(findings: &mut Findings, key: &Node<'_>, repeat: &Repeat) {
    let NodeKind::Scalar { text, .. } = &key.kind else {
        return;
    };
    let text = shorten(text);
    let count = repeat.count;
    let message = match count {
        2 => format!("duplicate key `{text}`"),
        _ => format!("duplicate key `{text}`: it occurs {count} times in this mapping"),
    };
    let finding = findings.add(Code::DuplicateKey, repeat.second, message);
    finding.label(key.span, format!("first occurrence of `{text}`"));
    for span in &repeat.others {
        finding.label(*span, "and again here");
    }
    let more = count - 2 - repeat.others.len();
    finding.help(match more {
        0 => "remove or rename all but one of them".to_owned(),
        _ => format!("remove or rename all but one of them; {more} more occurrences are not shown"),
    });
}

fn parser_options(options: &LoadOptions) -> Options {
    let mut parser = Options::default();
    parser.emit_unresolved_aliases = true;
    parser.set_emit_comments(false);
    parser.flow_nesting_limit = options.max_depth.saturating_add(1);
    parser.block_nesting_limit = options.max_depth.saturating_add(1);
    parser
}

fn byte_span(place: &granit_parser::Span) -> Span {
    let range = place.byte_range().unwrap_or_default();
    Span::new(range.start, range.end)
}

fn is_plain(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(_, ScalarStyle::Plain, ..))
}

/// Leaves what follows the last word of a block scalar out of its span.
fn trim_end(span: Span, text: &str) -> Span {
    let written = text.get(span.range()).unwrap_or_default().trim_end();
    Span {
        end: span.start + Span::new(0, written.len()).end,
        ..span
    }
}
