//! Outlining: moving ops of a function into a new function of the module.

use std::borrow::Cow;

use passdock_abi::{OpId, OutlineDesc, SymbolId};
use passdock_ir::{Edit, EditFailure, Function, MAX_OPSETS, Module, OpName, OutlinedOps, name};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{ModuleSession, ModuleState};
use super::{gate, input};

impl ModuleSession<'_> {
    pub(in crate::boundary) unsafe fn outline(&self, desc: &OutlineDesc) -> Edit<(SymbolId, OpId)> {
        // SAFETY: all pointers in the description are valid during the call, by the plugin ABI.
        let (ops, text) = unsafe {
            (
                input::list(desc.ops, desc.op_count, "ops to outline")?,
                input::text(desc.name, "name of the function")?,
            )
        };
        let (name, holder) = self.with(|state| {
            let name = state.fresh_name(text)?;
            Ok((name, state.open(desc.function)?))
        })?;
        let domain = self.with(|state| Ok(state.domain_of(name)))?;
        let mut outlined = Err(EditFailure::rejected(
            "the host failed to outline ops; this is a bug in passdock, please report it",
        ));
        // The gate of the function refreshes its view, and marks it as broken after a panic.
        // SAFETY: the handle is an open one of this session.
        unsafe {
            gate::edit(holder.handle, |state| {
                outlined = state.edit().and_then(|f| outline_in(f, ops, name, domain));
                Ok(())
            });
        }
        let OutlinedOps { function, call } = outlined?;
        self.with(|state| state.editable()?.insert(function))?;
        self.list(1, |state| state.list_new(name));
        Ok((name, call))
    }
}

/// Outlines ops. Both functions import the domain of the new one, if they import any domain.
fn outline_in(
    f: &mut Function,
    ops: &[OpId],
    name: SymbolId,
    domain: Option<(SymbolId, i64)>,
) -> Edit<OutlinedOps> {
    let mut outlined = f.outline(ops, name)?;
    if let Some((domain, version)) = domain {
        for f in [f, &mut outlined.function] {
            let count = f.opsets().len();
            if f.opset(domain).is_none() && count > 0 && count < MAX_OPSETS {
                f.set_opset(domain, version);
            }
        }
    }
    Ok(outlined)
}

/// The state for naming outlined functions.
#[derive(Default)]
pub(super) struct Naming {
    /// The next number to try, by requested name.
    next: FxHashMap<SymbolId, u32>,
    /// The op names in the module when the first ops were outlined.
    ops: Option<FxHashSet<SymbolId>>,
}

impl ModuleState<'_> {
    /// Returns the name for a new function. A number is appended if a function of the module has the requested name.
    /// The same applies if an op had that name before outlining, since that op would become a call. Other modules don't
    /// count.
    fn fresh_name(&mut self, text: &str) -> Edit<SymbolId> {
        name::check_canonical(text).map_err(EditFailure::invalid)?;
        let Some(base) = OpName::parse(text) else {
            let message = format!("invalid function name {text:?}");
            return Err(EditFailure::invalid(message));
        };
        if base.domain.as_deref() == Some("") {
            return Err(EditFailure::rejected(format!(
                "function name `{text}` needs a domain to differ from ONNX operators, as in `acme.{}`",
                base.name
            )));
        }
        let symbols = self.editable()?.symbols().clone();
        let requested = symbols.intern(text);
        let mut name = requested;
        let mut next = self.naming().next.get(&requested).copied().unwrap_or(1);
        while self.is_used(name) {
            let numbered = OpName {
                name: Cow::Owned(format!("{}_{next}", base.name)),
                ..base.clone()
            };
            name = symbols.intern(&numbered.to_string());
            // An unused name stays available if the ops can't be outlined.
            next += u32::from(self.is_used(name));
        }
        self.naming().next.insert(requested, next);
        Ok(name)
    }

    /// Whether a function of the module has the name, or an op had it before ops were outlined.
    fn is_used(&mut self, name: SymbolId) -> bool {
        if self.naming().ops.is_none() {
            let functions = self.module().functions();
            let ops = functions.flat_map(|f| f.ops()).map(|(_, op)| op.name);
            let ops = ops.collect();
            self.naming().ops = Some(ops);
        }
        let is_op = |ops: &FxHashSet<SymbolId>| ops.contains(&name);
        self.module().function(name).is_some() || self.naming().ops.as_ref().is_some_and(is_op)
    }

    /// Returns the domain of a function's name, and the version that `@main` imports, or 1.
    fn domain_of(&self, name: SymbolId) -> Option<(SymbolId, i64)> {
        let module: &Module = self.module();
        let symbols = module.symbols();
        let domain = OpName::parse(symbols.text(name))?.domain?;
        let domain = symbols.intern(&domain);
        let main = module.function_named("main");
        let version = main.and_then(|main| main.opset(domain)).unwrap_or(1);
        Some((domain, version))
    }
}
