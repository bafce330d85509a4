//! Paths in the tokens of macros and attributes, which are parsed by nobody but the macro.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

/// What tokens are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// What is given to a macro: paths begin where the macro is invoked.
    Invocation,
    /// The rules of a macro: `super` and `self` begin wherever it is invoked, `crate` here.
    Definition,
    /// The inside of an attribute: some macros take paths as text, as in `#[serde(with = "…")]`.
    Attribute,
}

/// Returns the paths that begin with `crate`, `super` or `self`, each with its place.
pub(super) fn paths(stream: &TokenStream, content: Content) -> Vec<(Vec<String>, Span)> {
    let mut found = Vec::new();
    scan(stream, content, &mut found);
    found
}

fn scan(stream: &TokenStream, content: Content, found: &mut Vec<(Vec<String>, Span)>) {
    let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(first) if begins_path(&first.to_string(), content) => {
                let span = first.span();
                let rest = tree(&tokens[at + 1..], &mut vec![first.to_string()], found, span);
                at += rest;
            }
            TokenTree::Group(group) => scan(&group.stream(), content, found),
            TokenTree::Literal(literal) if content == Content::Attribute => {
                let text = literal.to_string();
                let text = text.trim_matches('"');
                let segments: Vec<String> = text.split("::").map(str::to_owned).collect();
                if segments.len() > 1 && begins_path(&segments[0], content) {
                    found.push((segments, literal.span()));
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn begins_path(word: &str, content: Content) -> bool {
    match word {
        "crate" => true,
        "super" | "self" => content != Content::Definition,
        _ => false,
    }
}

/// Reads the rest of a path, or of a tree of `use`; returns how many tokens it is.
fn tree(
    tokens: &[TokenTree],
    path: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, Span)>,
    span: Span,
) -> usize {
    let mut read = 0;
    while is_separator(&tokens[read..]) {
        match tokens.get(read + 2) {
            Some(TokenTree::Ident(ident)) => path.push(ident.to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                branches(group, path, found, span);
                return read + 3;
            }
            // `*`, or generic arguments; what these hold is scanned as what follows.
            _ if path.len() > 1 => break,
            _ => {
                found.push((path.clone(), span));
                return read + 2;
            }
        }
        read += 3;
    }
    if path.len() > 1 {
        found.push((path.clone(), span));
    }
    read
}

fn branches(group: &Group, path: &[String], found: &mut Vec<(Vec<String>, Span)>, span: Span) {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
    for branch in tokens.split(is_comma) {
        if let Some(TokenTree::Ident(first)) = branch.first() {
            let mut path = path.to_vec();
            if first != "self" {
                path.push(first.to_string());
            }
            tree(&branch[1..], &mut path, found, span);
        } else if !branch.is_empty() {
            found.push((path.to_vec(), span));
        }
    }
}

fn is_separator(tokens: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ':');
    tokens.len() > 1 && tokens[..2].iter().all(is_colon)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, content: Content) -> Vec<String> {
        let stream = text.parse().expect("tokens");
        let paths = paths(&stream, content).into_iter();
        paths.map(|(segments, _)| segments.join("::")).collect()
    }

    #[test]
    fn paths_are_found_among_other_tokens() {
        let text = "vec![crate::a::B::<crate::c::D>::new(), self.x, super::e()] pub(crate) x: y";
        let expected = ["crate::a::B", "crate::c::D", "super::e"];
        assert_eq!(found(text, Content::Invocation), expected);
    }

    #[test]
    fn trees_are_found_in_rules_and_only_from_the_crate_root() {
        let text = "($x:ty) => { use $crate::{a, b::{C, d::E}, f::*}; super::g::<$x>() }";
        let expected = ["crate::a", "crate::b::C", "crate::b::d::E", "crate::f"];
        assert_eq!(found(text, Content::Definition), expected);
    }

    #[test]
    fn attributes_name_paths_as_text() {
        let text = "default, with = \"crate::a::b\", rename = \"crate\"";
        assert_eq!(found(text, Content::Attribute), ["crate::a::b"]);
        assert_eq!(found("with = \"crate::a\"", Content::Invocation), [""; 0]);
    }

    #[test]
    fn the_crate_root_as_a_whole_is_a_path() {
        assert_eq!(found("use crate::*;", Content::Invocation), ["crate"]);
    }
}
