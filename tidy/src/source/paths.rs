//! The paths of one item that leave its top-level module.

use proc_macro2::{Span, TokenStream};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, Token, UseTree, Visibility};

use super::{Import, Library, Used, tokens};

/// Where an item stands.
pub(super) struct Scope<'s> {
    /// The file, relative to the folder of the workspace.
    pub(super) file: &'s str,
    /// The modules around it, the top-level one first.
    pub(super) module: &'s [String],
}

/// Adds what an item imports.
pub(super) fn collect(item: &Item, scope: &Scope<'_>, library: &mut Library) {
    let mut collector = Collector {
        scope,
        inner: Vec::new(),
        library,
    };
    collector.visit_item(item);
}

struct Collector<'c> {
    scope: &'c Scope<'c>,
    /// Modules inside of bodies of functions.
    inner: Vec<String>,
    library: &'c mut Library,
}

impl Collector<'_> {
    /// Returns the module in which a path begins, and what follows. There is none for a path that begins with a name,
    /// of another crate or of a module below: which it is, is known once all files are read.
    fn begin<'w>(&self, written: &'w [String]) -> Option<(Vec<String>, &'w [String])> {
        let here = || self.scope.module.iter().chain(&self.inner).cloned();
        let (mut module, mut rest) = match written.first()?.as_str() {
            "crate" => (Vec::new(), &written[1..]),
            "self" => (here().collect(), &written[1..]),
            "super" => (here().collect(), written),
            _ => return None,
        };
        while let Some((first, below)) = rest.split_first()
            && first == "super"
        {
            module.pop();
            rest = below;
        }
        Some((module, rest))
    }

    /// Notes that the module exports a name again.
    fn add_export(&mut self, written: &[String], name: String) {
        let own = self.scope.module;
        let begin = self.begin(written);
        let (mut target, rest) = begin.unwrap_or_else(|| (own.to_vec(), written));
        target.extend_from_slice(rest);
        let exported = &mut self.library.exported;
        exported.insert((own.to_vec(), name), target);
    }

    /// Adds a path as one that this file uses, and when it leads out of the top-level module.
    fn add(&mut self, written: &[String], span: Span) {
        let Some((mut target, rest)) = self.begin(written) else {
            return;
        };
        target.extend_from_slice(rest);
        self.library.paths.push(Used {
            from: self.scope.module.to_vec(),
            target,
            location: self.scope.location(span, written.join("::")),
        });
        self.add_import(written, span);
    }

    /// Adds a path when it leads out of the top-level module.
    fn add_import(&mut self, written: &[String], span: Span) {
        let own = &self.scope.module[0];
        let Some((module, rest)) = self.begin(written) else {
            return;
        };
        if !module.is_empty() || rest.first() == Some(own) {
            return;
        }
        self.library.imports.push(Import {
            from: own.clone(),
            segments: rest.to_vec(),
            location: self.scope.location(span, written.join("::")),
        });
    }

    fn add_tokens(&mut self, stream: &TokenStream, what: tokens::Content) {
        for (written, span) in tokens::paths(stream, what) {
            self.add(&written, span);
        }
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !attributes(item).iter().any(is_for_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !item.attrs.iter().any(is_for_tests) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !field.attrs.iter().any(is_for_tests) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if !field.attrs.iter().any(is_for_tests) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !local.attrs.iter().any(is_for_tests) {
            visit::visit_local(self, local);
        }
    }

    fn visit_expr_block(&mut self, block: &'ast syn::ExprBlock) {
        if !block.attrs.iter().any(is_for_tests) {
            visit::visit_expr_block(self, block);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.inner.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.inner.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            let mut leaves = Vec::new();
            flatten(&item.tree, &mut Vec::new(), &mut leaves);
            for (segments, name) in leaves {
                let is_exported = !matches!(item.vis, Visibility::Inherited);
                match name.filter(|_| is_exported && self.inner.is_empty()) {
                    // Whoever uses the name depends on where it comes from, not the module that passes it on.
                    Some(name) => {
                        self.add_export(&segments, name);
                        self.add_import(&segments, item.use_token.span);
                    }
                    None => self.add(&segments, item.use_token.span),
                }
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        // A lone `self` is a value.
        if path.leading_colon.is_none() && segments.len() > 1 {
            self.add(&segments, path.segments[0].ident.span());
        }
        visit::visit_path(self, path);
    }

    /// `pub(in crate::…)` names modules around it, so it is no import.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        let what = if invoked.path.is_ident("macro_rules") {
            tokens::Content::Definition
        } else {
            tokens::Content::Invocation
        };
        self.add_tokens(&invoked.tokens, what);
        visit::visit_macro(self, invoked);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("doc") {
            return;
        }
        if let Meta::List(list) = &attribute.meta {
            self.add_tokens(&list.tokens, tokens::Content::Attribute);
        }
        visit::visit_attribute(self, attribute);
    }
}

/// Takes a tree of `use` apart: the segments of each leaf, and the name that it brings, none for
/// `*`.
pub(super) fn flatten(
    tree: &UseTree,
    before: &mut Vec<String>,
    leaves: &mut Vec<(Vec<String>, Option<String>)>,
) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, leaves);
            before.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, before, leaves);
            }
        }
        UseTree::Glob(_) => leaves.push((before.clone(), None)),
        UseTree::Name(leaf) => leaves.push(leaf_of(before, &leaf.ident, &leaf.ident)),
        UseTree::Rename(leaf) => leaves.push(leaf_of(before, &leaf.ident, &leaf.rename)),
    }
}

fn leaf_of(
    before: &[String],
    ident: &syn::Ident,
    name: &syn::Ident,
) -> (Vec<String>, Option<String>) {
    let mut segments = before.to_vec();
    // In `a::{self, b}` the first is `a`.
    if ident != "self" || segments.is_empty() {
        segments.push(ident.to_string());
    }
    let name = if name == "self" {
        segments.last().cloned()
    } else {
        Some(name.to_string())
    };
    (segments, name)
}

/// Returns whether an attribute keeps its item out of everything but tests.
pub(super) fn is_for_tests(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => list
            .parse_args::<Meta>()
            .is_ok_and(|condition| implies_test(&condition)),
        _ => false,
    }
}

fn implies_test(condition: &Meta) -> bool {
    let parts = |list: &syn::MetaList| {
        list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .unwrap_or_default()
    };
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => parts(list).iter().any(implies_test),
        Meta::List(list) if list.path.is_ident("any") => {
            let parts = parts(list);
            !parts.is_empty() && parts.iter().all(implies_test)
        }
        _ => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
