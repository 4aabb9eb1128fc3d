//! The stages of a reduction, in order.

use std::hash::Hash;
use std::sync::Arc;

use passdock_abi::{ConstId, OpId, SymbolId, ValueId};
use passdock_ir::{Extras, Function, Module, Origins};
use rustc_hash::FxHashSet;

use super::ops::{self, Instead};
use super::{Reducer, Stop, window};
use crate::queries::{function_results, set_results, unused_constants};

/// The maximum number of attributes that are removed one by one.
const FEW_ATTRS: usize = 256;

/// Runs all stages until a fixed point. `typed` is the module with inferred types.
pub(super) fn all(r: &mut Reducer<'_>, typed: Option<Module>) -> Result<(), Stop> {
    // A new parameter needs a type for the model to run.
    if let Some(typed) = typed {
        r.offer(typed, || "with inferred types".to_owned())?;
    }
    large_steps(r)?;
    loop {
        let before = r.steps.len();
        functions(r)?;
        let mut called = ops::called(&r.best);
        for name in r.best.names().collect::<Vec<_>>() {
            let (steps, is_called) = (r.steps.len(), called.contains(&name));
            unused(r, name, is_called)?;
            if !is_called {
                results(r, name)?;
                minimize_ops(r, name, Instead::ParameterAndResult)?;
                minimize_ops(r, name, Instead::Parameter)?;
            }
            minimize_ops(r, name, Instead::Operand)?;
            unused(r, name, is_called)?;
            if r.steps.len() > steps {
                called = ops::called(&r.best);
            }
        }
        if r.steps.len() == before {
            break;
        }
    }
    for name in r.best.names().collect::<Vec<_>>() {
        data(r, name)?;
        attrs(r, name)?;
    }
    extras(r)
}

/// Removes most of the ops in few runs: unneeded ops of the entry, then functions, then unneeded ops of the remaining
/// entries.
fn large_steps(r: &mut Reducer<'_>) -> Result<(), Stop> {
    let entries = |r: &Reducer<'_>| -> Vec<SymbolId> {
        let called = ops::called(&r.best);
        let names = r.best.names();
        names.filter(|name| !called.contains(name)).collect()
    };
    let called = ops::called(&r.best);
    for name in r.best.names().collect::<Vec<_>>() {
        unused(r, name, called.contains(&name))?;
    }
    let first = entries(r);
    // With several entries, the failure may be in any of them.
    if let [entry] = first[..] {
        window::narrow(r, entry)?;
    }
    functions(r)?;
    for name in entries(r) {
        if first != [name] {
            window::narrow(r, name)?;
        }
    }
    Ok(())
}

fn functions(r: &mut Reducer<'_>) -> Result<(), Stop> {
    let names: Vec<SymbolId> = r.best.names().collect();
    r.minimize(names, "functions", |base, kept| {
        let mut module = base.clone();
        let kept: FxHashSet<SymbolId> = kept.iter().copied().collect();
        for name in base.names().filter(|name| !kept.contains(name)) {
            module.remove(name).ok()?;
        }
        (!module.is_empty()).then_some(module)
    })
}

fn results(r: &mut Reducer<'_>, name: SymbolId) -> Result<(), Stop> {
    let Some(f) = r.best.function(name).cloned() else {
        return Ok(());
    };
    if f.ports(f.body()).len() < 2 {
        return Ok(());
    }
    let all: Vec<usize> = (0..f.ports(f.body()).len()).collect();
    let what = format!("results of @{}", f.text(name));
    r.minimize(all, &what, |base, kept| {
        edited(base, name, |f| {
            let all = function_results(f)?;
            let kept: Vec<_> = kept.iter().map(|&at| all[at].clone()).collect();
            set_results(f, &kept).ok()
        })
    })
}

fn minimize_ops(r: &mut Reducer<'_>, name: SymbolId, instead: Instead) -> Result<(), Stop> {
    let Some(f) = r.best.function(name).cloned() else {
        return Ok(());
    };
    let what = format!("ops of @{}", f.text(name));
    let all = ops::ops(&f);
    let before = all.len();
    let idle: FxHashSet<ConstId> = unused_constants(&f).into_iter().collect();
    r.minimize(all, &what, |base, kept| {
        edited(base, name, |f| {
            ops::keep_ops(f, kept, instead)?;
            // A constant is removed with its users, since small candidates run fast and this may be the final one.
            ops::erase_unused(f, &idle);
            // An op without a replacement stays.
            (ops::ops(f).len() < before).then_some(())
        })
    })
}

/// Removes unused constants, and unused parameters unless the function is called.
fn unused(r: &mut Reducer<'_>, name: SymbolId, is_called: bool) -> Result<(), Stop> {
    let erase = each(|f, &id: &ConstId| f.erase_constant(id).ok());
    let what = |f: &str| format!("unused constants of {f}");
    remove_most(r, name, what, unused_constants, erase)?;
    if is_called {
        return Ok(());
    }
    let remove = |f: &mut Function, removed: &[ValueId]| f.remove_args(removed).ok();
    let what = |f: &str| format!("unused parameters of {f}");
    remove_most(r, name, what, ops::unused_params, remove)
}

fn data(r: &mut Reducer<'_>, name: SymbolId) -> Result<(), Stop> {
    let flatten = each(|f, &id| ops::flatten(f, id));
    let what = |f: &str| format!("large constants of {f} with their data");
    remove_most(r, name, what, ops::large_constants, flatten)
}

fn attrs(r: &mut Reducer<'_>, name: SymbolId) -> Result<(), Stop> {
    let few = |f: &Function| match ops::attrs(f) {
        all if all.len() > FEW_ATTRS => Vec::new(),
        all => all,
    };
    let remove = each(|f, &(op, attr): &(OpId, SymbolId)| f.remove_attr(op, attr).ok());
    remove_most(r, name, |f| format!("attributes in {f}"), few, remove)
}

/// Returns a function that removes elements one by one.
fn each<T>(
    take: impl Fn(&mut Function, &T) -> Option<()>,
) -> impl Fn(&mut Function, &[T]) -> Option<()> {
    move |f, removed| removed.iter().try_for_each(|item| take(f, item))
}

/// Removes as many elements of a function as possible. `take` removes the elements that it receives.
fn remove_most<T: Clone + Eq + Hash>(
    r: &mut Reducer<'_>,
    name: SymbolId,
    what: impl Fn(&str) -> String,
    items: impl Fn(&Function) -> Vec<T>,
    take: impl Fn(&mut Function, &[T]) -> Option<()>,
) -> Result<(), Stop> {
    let Some(f) = r.best.function(name).cloned() else {
        return Ok(());
    };
    let all = items(&f);
    let what = what(&format!("@{}", f.text(name)));
    r.minimize(all.clone(), &what, |base, kept| {
        edited(base, name, |f| {
            let kept: FxHashSet<&T> = kept.iter().collect();
            let removed = all.iter().filter(|item| !kept.contains(item)).cloned();
            take(f, &removed.collect::<Vec<T>>())
        })
    })
}

/// Removes metadata, and data of the file that the IR doesn't model.
fn extras(r: &mut Reducer<'_>) -> Result<(), Stop> {
    let mut module = r.best.clone();
    // The meaning of the rest depends on ONNX's IR version.
    let kept = module.metadata().iter();
    let kept = kept.filter(|(key, _)| key == "onnx.ir_version").cloned();
    let kept: Vec<(String, String)> = kept.collect();
    let has_extras = |f: &&Arc<Function>| f.origins().has_extras();
    let names: Vec<SymbolId> = module
        .functions()
        .filter(has_extras)
        .map(|f| f.name())
        .collect();
    let nothing = kept.len() == module.metadata().len() && module.extras().is_empty();
    if nothing && names.is_empty() {
        return Ok(());
    }
    module.set_metadata(kept);
    module.set_extras(Extras::default());
    for name in names {
        if let Some(f) = module.function_mut(name) {
            *f.origins_mut() = Origins::default();
        }
    }
    r.offer(module, || "without metadata and documentation".to_owned())
        .map(drop)
}

/// Edits one function of a copy of a module; `None` if the edit is rejected.
fn edited(
    base: &Module,
    name: SymbolId,
    edit: impl FnOnce(&mut Function) -> Option<()>,
) -> Option<Module> {
    let mut module = base.clone();
    edit(module.function_mut(name)?)?;
    Some(module)
}

/// Compacts the functions of a module.
pub(super) fn compacted(mut module: Module) -> Module {
    for name in module.names().collect::<Vec<_>>() {
        if let Some(f) = module.function_mut(name) {
            f.compact();
        }
    }
    module
}
