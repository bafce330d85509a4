//! `@cacheTag`: what caches in front of subgraphs tag their entries with.
//!
//! Supergraphs carry the tags for gateways that have such a cache; the one of this crate has none. A tag that cannot
//! be made is a hint and no error: nothing is answered otherwise because of it.

use apollo_compiler::ast::{Directive, FieldDefinition, Value};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node, Schema, name};

use super::Merge;
use super::types::is_root;
use crate::compose::code::HintCode;
use crate::compose::facts::{Facts, fields, text};
use crate::compose::field_set::{self, Selected};
use crate::compose::finding::CompositionHint;
use crate::compose::read::Subgraph;
use crate::supergraph::join::DirectiveBuilder;

const NAME: &str = "federation__cacheTag";

impl Merge<'_> {
    /// Returns which subgraphs give which tags, as `@join__directive` in the supergraph.
    pub(super) fn cache_tags(&self, found: &[(usize, &Node<Directive>)]) -> Vec<Node<Directive>> {
        let mut by_format: IndexMap<&str, Vec<Node<Value>>> = IndexMap::default();
        for (at, directive) in found {
            let graph = Node::new(Value::Enum(self.subgraphs[*at].graph.clone()));
            let graphs = by_format
                .entry(text(directive, "format").unwrap_or_default())
                .or_default();
            if !graphs.contains(&graph) {
                graphs.push(graph);
            }
        }
        let joins = by_format.into_iter().map(|(format, graphs)| {
            let format = (name!("format"), Node::new(Value::from(format)));
            DirectiveBuilder::new(name!("join__directive"))
                .with(name!("graphs"), Value::List(graphs))
                .with(name!("name"), NAME)
                .with(name!("args"), Value::Object(vec![format]))
                .node()
        });
        joins.collect()
    }

    /// Notes tags that cannot be made.
    pub(super) fn hint_of_cache_tags(&mut self) {
        for (subgraph, facts) in self.subgraphs.iter().zip(self.facts) {
            let knows_tags = subgraph
                .links
                .directives
                .values()
                .any(|it| *it == "cacheTag");
            let types = subgraph.schema.types.values().filter(|_| knows_tags);
            for ty in types {
                let on_type = ty.directives().get_all(NAME);
                for tag in on_type.filter_map(|it| CacheTag::of(it)) {
                    let problem = problem_of_type(&subgraph.schema, facts, ty, tag.format);
                    self.hint_of_cache_tag(subgraph, ty.name().to_string(), tag, problem);
                }
                for field in fields(ty).into_iter().flat_map(|fields| fields.values()) {
                    let on_field = field.directives.get_all(NAME);
                    for tag in on_field.filter_map(CacheTag::of) {
                        let problem =
                            problem_of_field(&subgraph.schema, ty.name(), field, tag.format);
                        let coordinate = format!("{}.{}", ty.name(), field.name);
                        self.hint_of_cache_tag(subgraph, coordinate, tag, problem);
                    }
                }
            }
        }
    }

    fn hint_of_cache_tag(
        &mut self,
        subgraph: &Subgraph,
        coordinate: String,
        tag: CacheTag<'_>,
        problem: Option<Problem>,
    ) {
        let Some((why, help)) = problem else {
            return;
        };
        let CacheTag { format, span } = tag;
        let message = format!("`@cacheTag(format: \"{format}\")` on `{coordinate}`: {why}");
        let code = HintCode::DIRECTIVE_COMPOSITION_WARN;
        let hint = CompositionHint::new(code, coordinate, vec![subgraph.place(span)], message);
        self.hints.push(hint.help(help));
    }
}

/// A `@cacheTag` of a subgraph.
struct CacheTag<'t> {
    format: &'t str,
    span: Option<SourceSpan>,
}

impl<'t> CacheTag<'t> {
    fn of(directive: &'t Node<Directive>) -> Option<Self> {
        Some(CacheTag {
            format: text(directive, "format")?,
            span: directive.location(),
        })
    }
}

/// Why a tag cannot be made, and what helps.
type Problem = (String, &'static str);

fn problem_of_type(
    schema: &Schema,
    facts: &Facts,
    ty: &ExtendedType,
    format: &str,
) -> Option<Problem> {
    let keys: Vec<_> = facts
        .keys(ty.name())
        .iter()
        .filter(|key| key.is_resolvable)
        .collect();
    if keys.is_empty() {
        let why = format!(
            "only entities are cached, but `{}` has no resolvable key",
            ty.name()
        );
        return Some((why, "add a `@key` to the type, or remove `@cacheTag`"));
    }
    problem_of_format(
        format,
        "key",
        "write a field that is in each `@key`, as in `{$key.id}`",
        |path| {
            let lacks = |text: &str| {
                let set = field_set::parse(schema, ty.name(), text);
                !set.is_ok_and(|set| selects_leaf(&set, path))
            };
            let lacking = keys.iter().find(|key| lacks(&key.fields))?;
            Some(format!(
                "`{}` is not a scalar or enum of the key \"{}\"",
                path.join("."),
                lacking.fields
            ))
        },
    )
}

fn problem_of_field(
    schema: &Schema,
    parent: &Name,
    field: &FieldDefinition,
    format: &str,
) -> Option<Problem> {
    if parent != "Query" || !is_root(parent) {
        let why = "of all fields, only those of `Query` are cached".to_owned();
        return Some((
            why,
            "move it to the type of the field, if that is an entity, or remove it",
        ));
    }
    problem_of_format(
        format,
        "args",
        "write an argument of the field, as in `{$args.id}`",
        |path| {
            let argument = field.argument_by_name(path.first()?);
            let mut ty = argument.map(|argument| &*argument.ty);
            for step in &path[1..] {
                let input = ty
                    .filter(|ty| !ty.is_list())
                    .and_then(|ty| schema.get_input_object(ty.inner_named_type()));
                ty = input
                    .and_then(|input| input.fields.get(*step))
                    .map(|field| &*field.ty);
            }
            let is_leaf = |name: &Name| schema.get_input_object(name).is_none();
            let is_known = ty.is_some_and(|ty| !ty.is_list() && is_leaf(ty.inner_named_type()));
            (!is_known).then(|| {
                format!(
                    "`{}` is not a scalar or enum of the arguments",
                    path.join(".")
                )
            })
        },
    )
}

/// Returns what is wrong with the `{$source.path}` of a format; `of_path` looks at each path.
fn problem_of_format(
    format: &str,
    source: &str,
    help: &'static str,
    of_path: impl Fn(&[&str]) -> Option<String>,
) -> Option<Problem> {
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        let Some(end) = rest[at..].find('}').filter(|_| rest[at..].starts_with('{')) else {
            return Some(("its braces do not match".to_owned(), help));
        };
        let inner = &rest[at + 1..at + end];
        let path = inner
            .strip_prefix('$')
            .and_then(|inner| inner.strip_prefix(source)?.strip_prefix('.'));
        let Some(path) = path.filter(|path| path.split('.').all(Name::is_valid_syntax)) else {
            return Some((
                format!("`{{{inner}}}` is not of the form `{{${source}.…}}`"),
                help,
            ));
        };
        let path: Vec<_> = path.split('.').collect();
        if let Some(why) = of_path(&path) {
            return Some((why, help));
        }
        rest = &rest[at + end + 1..];
    }
    None
}

/// Returns whether a field set selects a path that ends with a single value.
fn selects_leaf(set: &[Selected<'_>], path: &[&str]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return false;
    };
    set.iter().any(|selected| match selected {
        Selected::Field(it) => {
            let is_here = it.field.name == *first && !it.field.ty.is_list();
            is_here && (rest.is_empty() && it.inner.is_empty() || selects_leaf(&it.inner, rest))
        }
        Selected::Typename => *first == "__typename" && rest.is_empty(),
        Selected::Fragment { .. } => false,
    })
}
