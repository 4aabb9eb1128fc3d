//! `relax.transform.BindSymbolicVars`: binds dim symbols of the model's inputs and outputs to sizes.
//!
//! ```ir
//! fn @main(%x: f32[batch,4]) -> (%y: f32[batch,4]) opset("" = 17) {
//!   %0 = onnx.Relu(%x) : f32[batch,4]
//!   return %0
//! }
//! → { batch = 2 }
//! fn @main(%x: f32[2,4]) -> (%y: f32[2,4]) opset("" = 17) {
//!   %0 = onnx.Relu(%x) : f32[2,4]
//!   return %0
//! }
//! ```
//!
//! All types are updated and inferred again, including expressions of the symbol (`batch * 4` becomes 8). A name that
//! exporters write for any unknown size, such as `None`, is bound at each occurrence. A called function is specialized
//! if all its callers pass the same sizes. If an op contradicts the size, for example an operand that requires another
//! one, the pass fails. It also fails if no input or output of an entry function (a function without callers) has the
//! symbol.
//!
//! The pass doesn't fold expressions that become constant; FoldConstant and DynamicToStatic do that. A symbol is local
//! to its function: equal names in two functions are two symbols. Functions that skip optimization are bound as well,
//! because binding isn't an optimization: it applies a fact that the user states about the model.
//!
//! Source: TVM `src/relax/transform/bind_symbolic_vars.cc`.

use std::collections::{BTreeSet, HashMap, HashSet};

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use crate::shared::call_graph::{callees_first, entries, unknown};

options! {
    /// Options of BindSymbolicVars.
    pub struct BindSymbolicVars {
        /// Sizes of dim symbols, by symbol name.
        #[range(1..)]
        #[rest]
        dims: Table<i64> = [],
    }
}

pub(crate) fn bind_symbolic_vars(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<BindSymbolicVars>()?;
    if options.dims.is_empty() {
        return Ok(());
    }
    let entries = entries(m)?;
    let mut names = BTreeSet::new();
    for &entry in &entries {
        let f = m.snapshot(entry)?;
        let symbols = interface_symbols(&f);
        let symbols = symbols.into_iter().map(|symbol| f.text(symbol));
        names.extend(
            symbols
                .flat_map(|name| [name, unnumbered(name)])
                .map(str::to_owned),
        );
    }
    if let Some((name, _)) = options.dims.iter().find(|(name, _)| !names.contains(*name)) {
        let names: Vec<String> = names.into_iter().collect();
        return Err(unknown("dim symbol", name, &names));
    }
    let dims: HashMap<&str, &i64> = options.dims.iter().collect();
    for entry in entries {
        let f = m.edit(entry)?;
        let size = |symbol: SymbolId| {
            let name = f.text(symbol);
            let size = dims.get(name).or_else(|| dims.get(unnumbered(name)));
            size.map(|&&size| size)
        };
        let symbols = interface_symbols(f).into_iter();
        let sizes = symbols.filter_map(|symbol| Some((symbol, size(symbol)?)));
        let sizes = sizes.collect();
        bind(f, cx, sizes)?;
    }
    bind_called(m, cx)
}

/// Strips the number that the importer appends to make names of unknown sizes unique: `None#2` becomes `None`.
fn unnumbered(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((stem, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => name,
    }
}

/// Returns the dim symbols in the types of a function's parameters and results, without duplicates.
fn interface_symbols(f: &Function) -> Vec<SymbolId> {
    let params = f.params().iter().map(|&param| f.type_id(param));
    let types = params.chain(f.ports(f.body()).map(|port| port.ty));
    let mut seen = HashSet::new();
    types
        .flat_map(|ty| f.ty(ty).symbols())
        .filter(|&symbol| seen.insert(symbol))
        .collect()
}

/// Replaces symbols with sizes and infers all types again.
///
/// # Errors
///
/// Fails if an op's types become contradictory. Ops that were contradictory before don't count.
pub(crate) fn bind(f: &mut Function, cx: &PassContext, sizes: Vec<(SymbolId, i64)>) -> PassResult {
    if sizes.is_empty() {
        return Ok(());
    }
    let bindings = |f: &Function| -> String {
        let each = sizes
            .iter()
            .map(|(symbol, size)| format!("`{}` to {size}", f.text(*symbol)));
        each.collect::<Vec<_>>().join(", ")
    };
    let mut mismatch_before = HashSet::new();
    for op in f.ops() {
        if f.traits(op).is_defined() && cx.infer(f, op).is_err() {
            mismatch_before.insert(op);
        }
    }
    let dims: Vec<(SymbolId, Dim)> = sizes
        .iter()
        .map(|&(symbol, size)| (symbol, Dim::constant(size)))
        .collect();
    if let Err(error) = f.replace_symbols(&dims) {
        let message = format!("cannot bind {}: {}", bindings(f), error.message);
        return Err(PassError::config(message).within(f));
    }
    for op in f.ops() {
        if f.traits(op).is_defined()
            && let Err(error) = cx.infer(f, op)
            && !mismatch_before.contains(&op)
        {
            let message = format!("cannot bind {}: {}", bindings(f), error.message);
            return Err(PassError::config(message).at(op).within(f));
        }
    }
    Ok(())
}

/// Binds the symbols of called functions for which all callers pass the same sizes.
fn bind_called(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let graph = m.call_graph()?;
    // Callers before callees, because a callee may pass its sizes on.
    for name in callees_first(&graph, |_| true).0.into_iter().rev() {
        let callers: Vec<SymbolId> = graph.callers(name).collect();
        if callers.is_empty() || m.snapshot(name)?.kind() != FunctionKind::GRAPH {
            continue;
        }
        let called = m.snapshot(name)?;
        let params: Vec<Vec<Dim>> = called
            .params()
            .iter()
            .map(|&param| dims(&called, param))
            .collect();
        drop(called);
        let mut sizes: HashMap<SymbolId, Option<i64>> = HashMap::new();
        for caller in callers {
            let f = m.snapshot(caller)?;
            for op in f.ops_named(name) {
                for (index, param) in params.iter().enumerate() {
                    let given = f.operand(op, index).map_or(Vec::new(), |v| dims(&f, v));
                    unify(param, &given, &mut sizes);
                }
            }
        }
        let sizes = sizes
            .into_iter()
            .filter_map(|(symbol, size)| Some((symbol, size?)));
        let mut sizes: Vec<(SymbolId, i64)> = sizes.collect();
        sizes.sort_unstable_by_key(|(symbol, _)| symbol.0);
        bind(m.edit(name)?, cx, sizes)?;
    }
    Ok(())
}

fn dims(f: &Function, value: ValueId) -> Vec<Dim> {
    f.dims(value).map_or(Vec::new(), |dims| dims.collect())
}

/// Records the sizes that a call passes for the symbols of a parameter. `None` if calls differ or a size is unknown.
fn unify(param: &[Dim], given: &[Dim], sizes: &mut HashMap<SymbolId, Option<i64>>) {
    for (index, dim) in param.iter().enumerate() {
        if dim.kind == DimKind::SYMBOL {
            let size = given.get(index).and_then(|dim| dim.as_const());
            let known = sizes.entry(SymbolId(dim.value as u32)).or_insert(size);
            if *known != size {
                *known = None;
            }
        }
    }
}
