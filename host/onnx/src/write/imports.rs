//! Opset imports of functions, including the domains of the functions that they call.

use passdock_abi::{FunctionKind, SymbolId};
use passdock_ir::{Function, MAX_OPSETS, Module, OpName};
use rustc_hash::{FxHashMap, FxHashSet};

use super::message::RestFields;
use super::rope::Store;
use crate::format::error::{OnnxError, Result};
use crate::format::header::MAIN;
use crate::format::opsets::{Opsets, put_import, read_opset};
use crate::format::schema::opset;
use crate::layout::version::is_generated;

/// The opset imports that a module's functions need in addition to their own. For a call, the caller and the model have
/// to import the domain of the callee. The model's imports are those of the main graph.
#[derive(Default)]
pub(crate) struct Domains {
    /// The imports that are needed for calls that passes added, by function.
    added: FxHashMap<SymbolId, Opsets>,
    /// The domains that a function uses and doesn't import: the function, the domain and an op of it. If the model's
    /// import is missing, the op is a call.
    pub(crate) missing: Vec<(SymbolId, String, SymbolId)>,
    /// The callees of each function.
    callees: FxHashMap<SymbolId, Vec<SymbolId>>,
}

impl Domains {
    pub(crate) fn new(module: &Module) -> Domains {
        let mut domains = Domains::default();
        let Some(main) = module.function_named(MAIN) else {
            return domains;
        };
        let mut reported = FxHashSet::default();
        let graphs = module
            .functions()
            .filter(|f| f.kind() == FunctionKind::GRAPH);
        for f in graphs {
            let mut seen = FxHashSet::default();
            let names = f.walk(f.body()).map(|op| f.op(op).name);
            for name in names.filter(|&name| seen.insert(name)) {
                let Some(domain) = OpName::parse(f.text(name)).and_then(|name| name.domain) else {
                    continue;
                };
                let callee = module.function(name);
                // A function can be called like an operator, so the import may be meant for either.
                if callee.is_some() {
                    domains.callees.entry(f.name()).or_default().push(name);
                }
                let called = callee.filter(|_| !domain.is_empty());
                let is_new = called.is_some_and(|callee| f.is_touched() || is_generated(callee));
                let holders = [f, main];
                for holder in &holders[..1 + usize::from(called.is_some())] {
                    let known = domains.opsets_of(holder);
                    if known.iter().any(|(known, _)| *known == domain) {
                        continue;
                    }
                    if is_new {
                        let version = version_of(module, &domain);
                        let added = domains.added.entry(holder.name()).or_default();
                        added.push((domain.clone().into_owned(), version));
                    } else if reported.insert((holder.name(), domain.clone().into_owned())) {
                        let missing = (holder.name(), domain.clone().into_owned(), name);
                        domains.missing.push(missing);
                    }
                }
            }
        }
        domains
    }

    /// Rejects recursive functions, as ONNX does. A cycle is allowed if all its functions are `copied` from the file.
    pub(super) fn check_recursion(
        &self,
        module: &Module,
        copied: impl Fn(&Function) -> bool,
    ) -> Result {
        let circle = self.circle(module, |circle| {
            let mut functions = circle.iter().filter_map(|&f| module.function(f));
            functions.any(|f| !copied(f))
        });
        match circle {
            None => Ok(()),
            Some(circle) => Err(OnnxError::new(format!(
                "ONNX functions cannot be recursive, but {}; remove one of the calls before exporting",
                calls(module, &circle)
            ))),
        }
    }

    /// Returns the first cycle of functions that call each other for which `counts` holds.
    pub(crate) fn circle(
        &self,
        module: &Module,
        counts: impl Fn(&[SymbolId]) -> bool,
    ) -> Option<Vec<SymbolId>> {
        let callees = |f| self.callees.get(&f).into_iter().flatten();
        let (mut done, mut open) = (FxHashSet::default(), FxHashSet::default());
        for root in module.names().filter(|f| self.callees.contains_key(f)) {
            if done.contains(&root) {
                continue;
            }
            open.insert(root);
            let mut path = vec![(root, callees(root))];
            while let Some((caller, rest)) = path.last_mut() {
                let Some(&callee) = rest.next() else {
                    open.remove(caller);
                    done.insert(*caller);
                    path.pop();
                    continue;
                };
                if open.contains(&callee) {
                    let circle = path.iter().map(|(name, _)| *name);
                    let circle: Vec<SymbolId> = circle.skip_while(|&f| f != callee).collect();
                    if counts(&circle) {
                        return Some(circle);
                    }
                } else if !done.contains(&callee) {
                    open.insert(callee);
                    path.push((callee, callees(callee)));
                }
            }
        }
        None
    }

    /// Returns the opset imports that a function is written with.
    pub(super) fn opsets_of(&self, f: &Function) -> Opsets {
        let own = f.opsets().iter();
        let own = own.map(|opset| (f.text(opset.domain).to_owned(), opset.version));
        let added = self.added.get(&f.name()).into_iter().flatten().cloned();
        own.chain(added).collect()
    }
}

/// Describes a cycle: `@acme.A calls @acme.B calls @acme.A`.
pub(crate) fn calls(module: &Module, circle: &[SymbolId]) -> String {
    let names = circle.iter().chain(circle.first());
    let names: Vec<String> = names
        .map(|&name| format!("@{}", module.symbols().text(name)))
        .collect();
    names.join(" calls ")
}

/// Returns the version under which a function imports a domain; 1 if none does.
fn version_of(module: &Module, domain: &str) -> i64 {
    let symbol = module.symbols().find(domain);
    let mut known = module.functions().filter_map(|f| f.opset(symbol?));
    known.next().unwrap_or(1)
}

/// Writes opset imports. The original ones are copied if they are equivalent to the function's.
pub(super) fn put_imports(
    opsets: &Opsets,
    number: u32,
    rest: &mut RestFields<'_>,
    store: &mut Store,
) -> Result {
    if opsets.len() > MAX_OPSETS {
        return Err(OnnxError::new(format!(
            "cannot import {} domains; the limit is {MAX_OPSETS}",
            opsets.len()
        )));
    }
    let original = rest.take(number);
    let mut old = Opsets::new();
    // The original's spelling of ONNX's own domain: absent, "" or "ai.onnx".
    let mut own = Some("");
    for field in &original {
        read_opset(field.body(), &mut old)?;
        match field.body().last(opset::DOMAIN)?.map(|domain| domain.bytes) {
            None => own = None,
            Some(b"") => own = Some(""),
            Some(b"ai.onnx") => own = Some("ai.onnx"),
            Some(_) => {}
        }
    }
    if old == *opsets {
        original.iter().for_each(|field| store.copy(field.record));
        return Ok(());
    }
    for (domain, version) in opsets {
        let domain = match domain.as_str() {
            "" => own,
            domain => Some(domain),
        };
        store.put(|to| put_import(to, number, domain, *version));
    }
    Ok(())
}
