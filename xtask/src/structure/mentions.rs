//! The paths that code mentions, as they are written: what a `syn` tree and macros' tokens name.

use std::collections::{BTreeSet, HashSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItem, Item, Meta, Stmt, UseTree, Visibility};

/// What the last segment of a path is looked up as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Any,
    Type,
    Value,
    Macro,
}

/// A path in code.
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) kind: Kind,
    pub(super) line: usize,
    pub(super) is_reexport: bool,
}

/// A leaf of a `use` tree.
pub(super) struct Use {
    pub(super) path: Vec<String>,
    /// The name it is brought in by; none of a glob.
    pub(super) name: Option<String>,
    pub(super) visibility: Visibility,
}

/// What code mentions and brings in, tests left out.
#[derive(Default)]
pub(super) struct Mentions {
    pub(super) mentions: Vec<Mention>,
    pub(super) uses: Vec<Use>,
    /// Lines of tests.
    pub(super) test_lines: BTreeSet<usize>,
    locals: HashSet<String>,
    kind: Option<Kind>,
}

impl Mentions {
    /// The paths found, without those that may be a local variable's name.
    pub(super) fn into_paths(self) -> Vec<Mention> {
        let locals = self.locals;
        let mut mentions = self.mentions;
        mentions.retain(|mention| match &mention.path[..] {
            [name] => !locals.contains(name) || mention.kind == Kind::Macro,
            _ => true,
        });
        mentions
    }

    /// Counts the lines of a test.
    pub(super) fn leave_out(&mut self, test: &dyn Spanned) {
        let span = test.span();
        self.test_lines.extend(span.start().line..=span.end().line);
    }

    /// Leaves code out if its attributes make it a test; true if so.
    fn leaves_out(&mut self, attributes: &[Attribute], code: &dyn Spanned) -> bool {
        let is_test = attributes.iter().any(is_test);
        if is_test {
            self.leave_out(code);
        }
        is_test
    }

    fn mention(&mut self, path: Vec<String>, kind: Kind, line: usize) {
        if matches!(&path[..], [only] if ["self", "Self", "crate", "super"].contains(&only.as_str()))
        {
            return;
        }
        self.mentions.push(Mention {
            path,
            kind,
            line,
            is_reexport: false,
        });
    }

    fn use_tree(&mut self, tree: &UseTree, prefix: &mut Vec<String>, visibility: &Visibility) {
        let (name, used) = match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.use_tree(&path.tree, prefix, visibility);
                prefix.pop();
                return;
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.use_tree(tree, prefix, visibility);
                }
                return;
            }
            UseTree::Name(name) => (Some(name.ident.to_string()), Some(&name.ident)),
            UseTree::Rename(rename) => (Some(rename.rename.to_string()), Some(&rename.ident)),
            UseTree::Glob(_) => (None, None),
        };
        let mut path = prefix.clone();
        path.extend(used.filter(|used| *used != "self").map(ToString::to_string));
        let name = match name {
            Some(name) if name == "self" => path.last().cloned(),
            name => name,
        };
        self.mentions.push(Mention {
            path: path.clone(),
            kind: Kind::Any,
            line: tree.span().start().line,
            is_reexport: !matches!(visibility, Visibility::Inherited),
        });
        self.uses.push(Use {
            path,
            name,
            visibility: visibility.clone(),
        });
    }

    /// Paths in tokens. With `rooted`, only those that begin at the crate or at a module.
    fn tokens(&mut self, tokens: TokenStream, prefix: &[String], rooted: bool) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mark = |at: usize, mark: char| matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == mark);
        let colons = |at: usize| mark(at, ':') && mark(at + 1, ':');
        let mut at = 0;
        while at < trees.len() {
            let first = match &trees[at] {
                TokenTree::Ident(ident) => ident,
                TokenTree::Group(group) => {
                    self.tokens(group.stream(), &[], rooted);
                    at += 1;
                    continue;
                }
                TokenTree::Literal(literal) if rooted => {
                    self.quoted(&literal.to_string(), literal.span().start().line);
                    at += 1;
                    continue;
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            let start = at;
            let before = |mark_: char| start > 0 && mark(start - 1, mark_);
            let is_member = before('.') && !(start > 1 && mark(start - 2, '.'));
            let is_variable = before('$') && first != "crate";
            let is_rest = start > 1 && colons(start - 2);
            let mut path = prefix.to_vec();
            path.push(first.to_string());
            at += 1;
            while colons(at) {
                match trees.get(at + 2) {
                    Some(TokenTree::Ident(next)) => path.push(next.to_string()),
                    Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                        self.tokens(group.stream(), &path, rooted);
                        path.clear();
                    }
                    _ => break,
                }
                at += 3;
            }
            let is_call = matches!(
                trees.get(at),
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis
            );
            let is_macro = mark(at, '!') && !mark(at + 1, '=');
            let counts = match &path[..] {
                [] => false,
                [name] => !rooted && (is_call || is_macro || begins_a_type(name)),
                [root, ..] => !rooted || ["crate", "self", "super"].contains(&root.as_str()),
            };
            if counts && !is_member && !is_variable && !is_rest && !before('\'') {
                let kind = if is_macro { Kind::Macro } else { Kind::Any };
                self.mention(path, kind, trees[start].span().start().line);
            }
        }
    }

    /// A path in quotes, as `#[serde(with = "crate::a")]` has.
    fn quoted(&mut self, literal: &str, line: usize) {
        let text = literal.trim_matches('"');
        if ["crate::", "self::", "super::"]
            .iter()
            .any(|root| text.starts_with(root))
        {
            self.mention(
                text.split("::").map(str::to_owned).collect(),
                Kind::Any,
                line,
            );
        }
    }
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_item(&mut self, item: &'ast Item) {
        if !self.leaves_out(attributes(item), item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes: &[Attribute] = match item {
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => &[],
        };
        if !self.leaves_out(attributes, item) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !self.leaves_out(&field.attrs, field) {
            visit::visit_field(self, field);
        }
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        let attributes: &[Attribute] = match stmt {
            Stmt::Local(local) => &local.attrs,
            Stmt::Macro(mac) => &mac.attrs,
            Stmt::Expr(expression, _) => attributes_of_statement(expression),
            Stmt::Item(_) => &[],
        };
        if !self.leaves_out(attributes, stmt) {
            visit::visit_stmt(self, stmt);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.use_tree(&item.tree, &mut Vec::new(), &item.vis);
    }

    /// A module is read by itself.
    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}

    /// `pub(super)` names no module that code depends on.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone(), &[], true);
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.kind = Some(Kind::Macro);
        self.visit_path(&mac.path);
        self.tokens(mac.tokens.clone(), &[], false);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.kind = Some(Kind::Value);
        if let Some(qself) = &path.qself {
            self.kind = None;
            self.visit_qself(qself);
        }
        self.visit_path(&path.path);
    }

    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        if let Some(qself) = &path.qself {
            self.visit_qself(qself);
        }
        self.kind = Some(Kind::Type);
        self.visit_path(&path.path);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let name = pattern.ident.to_string();
        if begins_a_type(&name) {
            self.mention(vec![name], Kind::Value, pattern.ident.span().start().line);
        } else {
            self.locals.insert(name);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let kind = self.kind.take().unwrap_or(Kind::Any);
        let segments = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        self.mention(segments.collect(), kind, path.span().start().line);
        visit::visit_path(self, path);
    }
}

/// Whether a name is written as those of types and constants are.
fn begins_a_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// `#[test]`, and `#[cfg(…)]` that only holds in tests.
pub(super) fn is_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("test")
        || attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<Meta>()
                .is_ok_and(|condition| needs_test(&condition))
}

fn needs_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated)
            .is_ok_and(|conditions| conditions.iter().any(needs_test)),
        _ => false,
    }
}

/// The attributes of an expression that may be a statement.
fn attributes_of_statement(expression: &Expr) -> &[Attribute] {
    match expression {
        Expr::Assign(expression) => &expression.attrs,
        Expr::Block(expression) => &expression.attrs,
        Expr::Call(expression) => &expression.attrs,
        Expr::ForLoop(expression) => &expression.attrs,
        Expr::If(expression) => &expression.attrs,
        Expr::Loop(expression) => &expression.attrs,
        Expr::Macro(expression) => &expression.attrs,
        Expr::Match(expression) => &expression.attrs,
        Expr::MethodCall(expression) => &expression.attrs,
        Expr::Unsafe(expression) => &expression.attrs,
        Expr::While(expression) => &expression.attrs,
        _ => &[],
    }
}

/// The attributes of an item.
pub(super) fn attributes(item: &Item) -> &[Attribute] {
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
