//! The modules of a crate, read from its files: what each defines, brings in and mentions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use syn::visit::Visit;
use syn::{Expr, Fields, Item, ItemMod, Lit, Meta, Visibility};

use super::File;
use super::made;
use super::mentions::{Kind, Mention, Mentions, attributes};

/// All modules of a crate. A module's id is its index.
pub(super) struct Modules {
    pub(super) files: Vec<File>,
    pub(super) modules: Vec<Module>,
    /// What `macro_rules!` defined: where, by name.
    pub(super) macros: BTreeMap<String, Vec<Definition>>,
    /// The name of the library, and its root.
    pub(super) library: Option<(String, usize)>,
}

/// The scope of what is `pub`.
pub(super) const EVERYWHERE: usize = usize::MAX;

pub(super) struct Module {
    pub(super) file: usize,
    pub(super) parent: Option<usize>,
    /// The module within which this one can be named.
    pub(super) scope: usize,
    pub(super) names: BTreeMap<String, Vec<Name>>,
    pub(super) globs: Vec<Glob>,
    pub(super) mentions: Vec<Mention>,
}

/// A name of a module: what it stands for, and within which module it can be said.
pub(super) struct Name {
    pub(super) is: Is,
    /// None if the name is private.
    pub(super) scope: Option<usize>,
}

pub(super) enum Is {
    Module(usize),
    Item(Definition),
    /// What another path names.
    Import(Vec<String>),
}

/// An item, by the module that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Definition {
    pub(super) module: usize,
    pub(super) sort: Sort,
    pub(super) line: usize,
}

/// The sort of an item: what it can be looked up as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    Type,
    /// A struct that is written as a value, too.
    TypeAndValue,
    Value,
    Macro,
}

pub(super) struct Glob {
    pub(super) path: Vec<String>,
    pub(super) scope: Option<usize>,
}

/// Reads the modules below each root, but those of tests.
pub(super) fn read(
    workspace: &Path,
    directory: &str,
    library: &str,
    roots: &[PathBuf],
) -> Result<Modules> {
    let mut reader = Reader {
        workspace,
        src: workspace.join(directory).join("src"),
        modules: Modules {
            files: Vec::new(),
            modules: Vec::new(),
            macros: BTreeMap::new(),
            library: None,
        },
    };
    for root in roots {
        let id = reader.file(
            root,
            root.parent().context("a file lies in a directory")?,
            None,
            EVERYWHERE,
        )?;
        if root.ends_with("src/lib.rs") {
            reader.modules.library = Some((library.to_owned(), id));
        }
    }
    Ok(reader.modules)
}

struct Reader<'r> {
    workspace: &'r Path,
    src: PathBuf,
    modules: Modules,
}

impl Reader<'_> {
    /// Reads the module that is a whole file; its children's files lie in `below`.
    fn file(
        &mut self,
        path: &Path,
        below: &Path,
        parent: Option<usize>,
        scope: usize,
    ) -> Result<usize> {
        let shown = |path: &Path| {
            path.strip_prefix(self.workspace)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", shown(path)))?;
        let parsed = syn::parse_file(&text).with_context(|| shown(path))?;
        let here = path.parent().context("a file lies in a directory")?;
        let has_folder = parent.is_some()
            && parsed.items.iter().any(|item| {
                matches!(
                    item,
                    Item::Mod(module) if module.content.is_none() && !is_tests(module)
                )
            });
        let folder = if has_folder { below } else { here };
        let folder = folder
            .strip_prefix(&self.src)
            .context("a module's file lies outside src")?;
        let folder = folder.display().to_string();
        let file = self.modules.files.len();
        self.modules.files.push(File {
            path: shown(path),
            folder: if folder.is_empty() {
                "src".to_owned()
            } else {
                folder
            },
            lines: text.lines().count(),
            is_root: parent.is_none(),
        });
        self.module(&parsed.items, file, here, below, parent, scope)
    }

    fn module(
        &mut self,
        items: &[Item],
        file: usize,
        here: &Path,
        below: &Path,
        parent: Option<usize>,
        scope: usize,
    ) -> Result<usize> {
        let id = self.modules.modules.len();
        self.modules.modules.push(Module {
            file,
            parent,
            scope,
            names: BTreeMap::new(),
            globs: Vec::new(),
            mentions: Vec::new(),
        });
        let mut mentions = Mentions::default();
        for item in items {
            if let Item::Mod(child) = item {
                if is_tests(child) {
                    mentions.leave_out(item);
                } else {
                    self.child(child, id, file, here, below)?;
                }
                continue;
            }
            if !attributes(item).iter().any(super::mentions::is_test) {
                self.define(item, id);
            }
            mentions.visit_item(item);
        }
        let lines = &mut self.modules.files[file].lines;
        *lines = lines.saturating_sub(mentions.test_lines.len());
        for used in std::mem::take(&mut mentions.uses) {
            let scope = self.scope(&used.visibility, id);
            match used.name {
                None => self.modules.modules[id].globs.push(Glob {
                    path: used.path,
                    scope,
                }),
                Some(name) => self.name(id, name, Is::Import(used.path), scope),
            }
        }
        self.modules.modules[id].mentions = mentions.into_paths();
        Ok(id)
    }

    fn child(
        &mut self,
        child: &ItemMod,
        id: usize,
        file: usize,
        here: &Path,
        below: &Path,
    ) -> Result<()> {
        let name = child.ident.to_string();
        let visible = self.scope(&child.vis, id);
        let scope = visible.unwrap_or(id);
        let inside = below.join(&name);
        let module = if let Some((_, items)) = &child.content {
            self.module(items, file, here, &inside, Some(id), scope)?
        } else if let Some(path) = given_path(child) {
            let path = here.join(path);
            let below = path.parent().context("a file lies in a directory")?;
            self.file(&path, below, Some(id), scope)?
        } else {
            let beside = below.join(format!("{name}.rs"));
            let within = inside.join("mod.rs");
            match (beside.is_file(), within.is_file()) {
                (true, _) => self.file(&beside, &inside, Some(id), scope)?,
                (_, true) => self.file(&within, &inside, Some(id), scope)?,
                _ => bail!("there is no file for `mod {name}` in {}", below.display()),
            }
        };
        self.name(id, name, Is::Module(module), visible);
        Ok(())
    }

    fn define(&mut self, item: &Item, id: usize) {
        let type_of = |fields: &Fields| match fields {
            Fields::Named(_) => Sort::Type,
            _ => Sort::TypeAndValue,
        };
        let (ident, visibility, sort) = match item {
            Item::Struct(item) => (&item.ident, &item.vis, type_of(&item.fields)),
            Item::Enum(item) => (&item.ident, &item.vis, Sort::Type),
            Item::Union(item) => (&item.ident, &item.vis, Sort::Type),
            Item::Trait(item) => (&item.ident, &item.vis, Sort::Type),
            Item::TraitAlias(item) => (&item.ident, &item.vis, Sort::Type),
            Item::Type(item) => (&item.ident, &item.vis, Sort::Type),
            Item::Const(item) => (&item.ident, &item.vis, Sort::Value),
            Item::Static(item) => (&item.ident, &item.vis, Sort::Value),
            Item::Fn(item) => (&item.sig.ident, &item.vis, Sort::Value),
            Item::Macro(item) => return self.define_by_macro(item, id),
            _ => return,
        };
        let item = Definition {
            module: id,
            sort,
            line: ident.span().start().line,
        };
        let scope = self.scope(visibility, id);
        self.name(id, ident.to_string(), Is::Item(item), scope);
    }

    /// What `macro_rules!` defines, or what looks like an item in another macro's tokens.
    fn define_by_macro(&mut self, item: &syn::ItemMacro, module: usize) {
        if let Some(ident) = &item.ident {
            let definition = Definition {
                module,
                sort: Sort::Macro,
                line: ident.span().start().line,
            };
            let macros = &mut self.modules.macros;
            macros
                .entry(ident.to_string())
                .or_default()
                .push(definition);
            return;
        }
        for made in made::items(item.mac.tokens.clone()) {
            let (sort, line) = (made.sort, made.line);
            let scope = self.scope(&made.visibility, module);
            self.name(
                module,
                made.name,
                Is::Item(Definition { module, sort, line }),
                scope,
            );
        }
    }

    fn name(&mut self, module: usize, name: String, is: Is, scope: Option<usize>) {
        let names = &mut self.modules.modules[module].names;
        names.entry(name).or_default().push(Name { is, scope });
    }

    /// The module within which something of `module` is visible; none if it's private.
    fn scope(&self, visibility: &Visibility, module: usize) -> Option<usize> {
        let parent = |module: usize| self.modules.modules[module].parent;
        let ancestors: Vec<usize> =
            std::iter::successors(Some(module), |module| parent(*module)).collect();
        match visibility {
            Visibility::Inherited => None,
            Visibility::Public(_) => Some(EVERYWHERE),
            Visibility::Restricted(within) => {
                let path = &within.path;
                if path.is_ident("self") {
                    None
                } else if path.segments[0].ident == "super" {
                    ancestors.get(path.segments.len()).copied()
                } else {
                    // `crate`, or `in crate::a`, which is an ancestor.
                    let depth = path.segments.len();
                    ancestors.len().checked_sub(depth).map(|at| ancestors[at])
                }
            }
        }
    }
}

/// Whether a module holds only tests.
fn is_tests(module: &ItemMod) -> bool {
    module.attrs.iter().any(super::mentions::is_test)
}

/// What `#[path = "…"]` says.
fn given_path(module: &ItemMod) -> Option<String> {
    module
        .attrs
        .iter()
        .find_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                Expr::Lit(value) => match &value.lit {
                    Lit::Str(path) => Some(path.value()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        })
}

impl Sort {
    /// Whether an item of this sort can be what a path of this kind ends in.
    pub(super) fn fits(self, kind: Kind) -> bool {
        match kind {
            Kind::Any => true,
            Kind::Type => self.is_type(),
            Kind::Value => matches!(self, Sort::Value | Sort::TypeAndValue),
            Kind::Macro => self == Sort::Macro,
        }
    }

    pub(super) fn is_type(self) -> bool {
        matches!(self, Sort::Type | Sort::TypeAndValue)
    }
}
