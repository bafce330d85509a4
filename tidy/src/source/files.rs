//! From `lib.rs` to all files of a library.

use std::path::{Path, PathBuf};

use proc_macro2::Span;
use syn::{Attribute, Expr, Item, ItemMod, ItemUse, Lit, Meta};

use super::paths::{self, Scope};
use super::{Library, Module};
use crate::finding::{Finding, Location};
use crate::workspace::relative;

/// Reads a library, beginning with its `lib.rs`.
///
/// # Errors
///
/// When a file is missing or is no Rust.
pub fn read(root: &Path, lib: &Path) -> Result<Library, Finding> {
    let mut reader = Reader {
        root,
        library: Library::default(),
    };
    let folder = lib.parent().unwrap_or(root);
    reader.file(lib, folder, &[])?;
    Ok(reader.library)
}

struct Reader<'r> {
    root: &'r Path,
    library: Library,
}

impl Reader<'_> {
    /// Reads a file; returns the first sentence of its documentation.
    ///
    /// `children` is the folder in which the files of its modules are.
    fn file(&mut self, path: &Path, children: &Path, module: &[String]) -> Result<String, Finding> {
        let name = relative(self.root, path);
        let text =
            std::fs::read_to_string(path).map_err(|error| Finding::unreadable(&name, 0, error))?;
        let file = syn::parse_file(&text)
            .map_err(|error| Finding::unreadable(&name, error.span().start().line, &error))?;
        self.library.files.insert(module.to_vec(), name.clone());
        if !file.attrs.iter().any(paths::is_for_tests) {
            let scope = Scope {
                file: &name,
                module,
            };
            self.items(&file.items, &scope, path, children)?;
        }
        Ok(about(&file.attrs))
    }

    fn items(
        &mut self,
        items: &[Item],
        scope: &Scope<'_>,
        path: &Path,
        children: &Path,
    ) -> Result<(), Finding> {
        for item in items {
            match item {
                Item::Mod(item) if !item.attrs.iter().any(paths::is_for_tests) => {
                    self.module(item, scope, path, children)?;
                }
                Item::Mod(_) => {}
                Item::Use(item) if scope.module.is_empty() => self.reexport(item),
                // The crate root may name every module.
                _ if scope.module.is_empty() => {}
                item => paths::collect(item, scope, &mut self.library),
            }
            self.exported_macro(item, scope);
        }
        Ok(())
    }

    fn module(
        &mut self,
        item: &ItemMod,
        scope: &Scope<'_>,
        path: &Path,
        children: &Path,
    ) -> Result<(), Finding> {
        let name = item.ident.to_string();
        let declared = scope.location(item.ident.span(), format!("mod {name}"));
        if item
            .attrs
            .iter()
            .any(|attribute| attribute.path().is_ident("macro_use"))
        {
            self.library.macro_uses.push(declared.clone());
        }
        let module: Vec<String> = scope.module.iter().cloned().chain([name.clone()]).collect();
        let below = children.join(&name);
        let mut about = about(&item.attrs);
        if let Some((_, items)) = &item.content {
            let file = scope.file.to_owned();
            self.library.files.insert(module.clone(), file);
            let scope = Scope {
                file: scope.file,
                module: &module,
            };
            self.items(items, &scope, path, &below)?;
        } else {
            let (file, below) =
                find(item, path, children, &name).ok_or_else(|| no_file(&declared))?;
            let said = self.file(&file, &below, &module)?;
            about = if about.is_empty() { said } else { about };
        }
        if scope.module.is_empty() {
            self.library
                .modules
                .insert(name, Module { declared, about });
        }
        Ok(())
    }

    /// Notes what the crate root exports, to tell importers where it comes from.
    fn reexport(&mut self, item: &ItemUse) {
        let mut leaves = Vec::new();
        paths::flatten(&item.tree, &mut Vec::new(), &mut leaves);
        for (mut segments, name) in leaves {
            if matches!(segments[0].as_str(), "crate" | "self") {
                segments.remove(0);
            }
            if let Some(name) = name {
                self.library.reexports.insert(name, segments.join("::"));
            }
        }
    }

    fn exported_macro(&mut self, item: &Item, scope: &Scope<'_>) {
        if let Item::Macro(item) = item
            && let (Some(name), Some(module)) = (&item.ident, scope.module.first())
            && item
                .attrs
                .iter()
                .any(|attribute| attribute.path().is_ident("macro_export"))
        {
            let macros = &mut self.library.exported_macros;
            macros.insert(name.to_string(), module.clone());
        }
    }
}

fn no_file(declared: &Location) -> Finding {
    Finding::unreadable(
        &declared.file,
        declared.line,
        format!("no file for `{}`", declared.text),
    )
}

/// The file of a module, and the folder of the modules in it.
fn find(item: &ItemMod, path: &Path, children: &Path, name: &str) -> Option<(PathBuf, PathBuf)> {
    let named = item
        .attrs
        .iter()
        .find(|attribute| attribute.path().is_ident("path"));
    if let Some(file) = named.and_then(text) {
        let file = path.parent()?.join(file);
        let below = file.parent()?.to_owned();
        return Some((file, below));
    }
    let below = children.join(name);
    let files = [children.join(format!("{name}.rs")), below.join("mod.rs")];
    let file = files.into_iter().find(|file| file.is_file())?;
    Some((file, below))
}

/// The text of an attribute such as `#[doc = "…"]`.
fn text(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The first sentence of documentation as a cell of a table: without links and full stop.
fn about(attributes: &[Attribute]) -> String {
    let is_doc = |attribute: &&Attribute| attribute.path().is_ident("doc");
    let lines = attributes.iter().filter(is_doc).filter_map(text);
    let lines = lines.map(|line| line.trim().to_owned());
    let paragraph: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ").replace("[`", "`").replace("`]", "`");
    let paragraph = paragraph.replace('|', "\\|");
    let end = paragraph.find(". ").unwrap_or(paragraph.len());
    paragraph[..end].trim_end_matches('.').to_owned()
}

impl Scope<'_> {
    /// A place in the file.
    pub(super) fn location(&self, span: Span, text: String) -> Location {
        Location {
            file: self.file.to_owned(),
            line: span.start().line,
            text,
        }
    }
}
