//! Outlining: ops of a function become a function of the module.

use std::borrow::Cow;

use passdock_abi as abi;
use passdock_abi::{OpId, OutlineDesc, Status, SymbolId};
use passdock_ir::{Edit, EditError, Function, MAX_OPSETS, Module, OpName, Outlined, name};

use super::module::{ModuleSession, State};
use super::{gate, input};

// SAFETY of the call is the contract's: see `module.rs`.
pub(super) unsafe extern "C" fn outline(
    m: *mut abi::Module,
    desc: *const OutlineDesc,
    function: *mut SymbolId,
    call: *mut OpId,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::call(ModuleSession::of(m), |session| {
            input::check_out(function)?;
            input::check_out(call)?;
            let desc = input::described(desc)?;
            let ops = input::list(desc.ops, desc.op_count, "ops to outline")?;
            let text = input::text(desc.name, "name of the function")?;
            let (name, holder) = session.with(|state| {
                let name = state.fresh_name(text)?;
                Ok((name, state.open(desc.function)?))
            })?;
            let domain = session.with(|state| Ok(state.domain_of(name)))?;
            let mut outlined = Err(EditError::refused(
                "The host failed while it outlined ops, which is a mistake in passdock.",
            ));
            // Through the function's own gate: it refreshes its view, and ends it after a panic.
            gate::edit(holder.handle, |state| {
                outlined = state.edit().and_then(|f| outline_in(f, ops, name, domain));
                Ok(())
            });
            let Outlined {
                function: made,
                call: op,
            } = outlined?;
            session.with(|state| state.editable()?.insert(made))?;
            session.list(1, |state| state.list_new(name));
            input::answer(function, name);
            input::answer(call, op);
            Ok(())
        })
    }
}

/// Outlines ops; both functions import the domain of the new one, if they import any.
fn outline_in(
    f: &mut Function,
    ops: &[OpId],
    name: SymbolId,
    domain: Option<(SymbolId, i64)>,
) -> Edit<Outlined> {
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

impl State<'_> {
    /// The name for a new function: with a number if another one has it, or had it.
    fn fresh_name(&mut self, text: &str) -> Edit<SymbolId> {
        name::check_canonical(text).map_err(EditError::invalid)?;
        let Some(base) = OpName::parse(text) else {
            let message = format!("{text:?} isn't the name of a function.");
            return Err(EditError::invalid(message));
        };
        if base.domain.as_deref() == Some("") {
            return Err(EditError::refused(format!(
                "A function `{text}` would be taken for an operator of ONNX: give it a domain of its own, \
                 as in `acme.{}`.",
                base.name
            )));
        }
        let symbols = self.editable()?.symbols().clone();
        let mut name = symbols.intern(text);
        let next = self.numbers().entry(name).or_insert(1);
        while symbols.names_function(name) {
            let numbered = OpName {
                name: Cow::Owned(format!("{}_{next}", base.name)),
                ..base.clone()
            };
            name = symbols.intern(&numbered.to_string());
            // One that is free stays so if the ops can't be outlined.
            *next += u32::from(symbols.names_function(name));
        }
        Ok(name)
    }

    /// The domain of a function's name, and the version that the module has of it.
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
