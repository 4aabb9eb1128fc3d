//! Items that a macro makes of the tokens it is given, as far as they look like items.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Visibility, parse_quote};

use super::modules::Sort;

/// An item in a macro's tokens: `pub struct Options { … }`.
pub(super) struct Made {
    pub(super) name: String,
    pub(super) sort: Sort,
    pub(super) line: usize,
    pub(super) visibility: Visibility,
}

/// All items at the outermost level of a macro's tokens.
pub(super) fn items(tokens: TokenStream) -> Vec<Made> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is_pub = |tree: &TokenTree| matches!(tree, TokenTree::Ident(ident) if ident == "pub");
    let mut items = Vec::new();
    for (at, pair) in trees.windows(2).enumerate() {
        let [TokenTree::Ident(keyword), TokenTree::Ident(name)] = pair else {
            continue;
        };
        let sort = match keyword.to_string().as_str() {
            "struct" | "enum" | "union" | "trait" | "type" => Sort::Type,
            "fn" | "const" | "static" => Sort::Value,
            _ => continue,
        };
        // `pub`, or what is in brackets after it: then it's visible in some of the crate.
        let visibility = match &trees[..at] {
            [.., word] if is_pub(word) => parse_quote!(pub),
            [.., word, TokenTree::Group(_)] if is_pub(word) => parse_quote!(pub(crate)),
            _ => Visibility::Inherited,
        };
        items.push(Made {
            name: name.to_string(),
            sort,
            line: name.span().start().line,
            visibility,
        });
    }
    items
}
