//! `relax.transform.InlineFunctions`: puts the bodies of the module's functions in the place of their
//! calls.
//!
//! ```ir
//! fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
//!   %a = acme.Soften(%x) {alpha = 0.5} : f32[2]   loc("first")
//!   return %a
//! }
//! fn @acme.Soften(%v) -> (%w) opset("" = 17) attributes {param alpha = 0.25} {
//!   %w = onnx.LeakyRelu(%v) {alpha = ref(alpha, float)} loc("leaky")
//!   return %w
//! }
//! →
//! fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
//!   %a = onnx.LeakyRelu(%x) {alpha = 0.5} : f32[2]   loc("first/leaky")
//!   return %a
//! }
//! ```
//!
//! A function's own calls come first, so each body is complete when it is copied, and each call is
//! replaced once. Attribute parameters become what the call sets, or their defaults. A copy's location
//! begins with that of the call. Dims that the function names after its parameters' are the
//! arguments', others are unknown. A function that nobody calls any more is removed.
//!
//! It does not inline `@main`, loop-level functions, functions that skip optimization (`SkipOptimization`,
//! `Compiler`, `Extern`) nor calls in them, nor calls of a function of another opset version than its
//! caller: these are named in a note, as are calls that would make a function larger than `max_ops`, and
//! functions that call themselves; to name one of these is an error.
//!
//! Source: TVM `src/relax/transform/inline_functions.cc`, `src/relay/transforms/inline.cc`.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::CallGraph;
use passdock_plugin_api::abi::symbol;
use passdock_plugin_api::prelude::*;

use crate::callee::Callee;

options! {
    /// Which calls are replaced.
    pub struct InlineFunctions {
        /// The functions to inline; none: all but `main`.
        functions: Vec<String> = [],
        /// A call stays that would make a function of more ops than this.
        max_ops: i64 = 1_000_000,
    }
}

pub(crate) fn inline_functions(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<InlineFunctions>()?;
    let graph = m.call_graph()?;
    let mut chosen = chosen(m, &graph, &options)?;
    let mut callees: HashMap<SymbolId, Callee<'_>> = HashMap::new();
    // Calls that stay, by callee.
    let mut kept: HashSet<SymbolId> = HashSet::new();
    let (order, circles) = callees_first(&graph, &chosen);
    for circle in circles {
        let said = recursion(m, &circle);
        if !options.functions.is_empty() {
            return Err(PassError::new(format!(
                "Recursion can't be inlined: {said}."
            )));
        }
        let note = format!("What calls itself isn't inlined: {said}.");
        cx.emit(&Diagnostic::note(note).code("relax::not-inlined"));
        circle
            .iter()
            .for_each(|function| _ = chosen.remove(function));
    }
    for caller in order {
        let is_graph = graph.function(caller).map(|entry| entry.kind) == Some(FunctionKind::GRAPH);
        let called: Vec<SymbolId> = graph
            .callees(caller)
            .filter(|f| chosen.contains(f))
            .collect();
        // What is to stay as it is keeps its calls.
        if !is_graph || m.snapshot(caller)?.skips_optimization() {
            kept.extend(called);
        } else if !called.is_empty() {
            let mut f = m.edit(caller)?;
            for op in calls(&f, &called) {
                let callee = &callees[&callee_of(&f, op)];
                let why = if f.traits(op).is_ambiguous() {
                    Err("an operator has this name, too, and the runtime may mean that".into())
                } else {
                    callee.check(&f, op, options.max_ops)?
                };
                if let Err(why) = why {
                    let note = format!("The call of `{}` isn't inlined: {why}.", callee.name());
                    let place = Place::name(op).within(&f);
                    cx.emit(&Diagnostic::note(note).code("relax::not-inlined").at(place));
                    kept.insert(callee_of(&f, op));
                    continue;
                }
                callee.inline(&mut f, op)?;
            }
        }
        if chosen.contains(&caller) {
            callees.insert(caller, Callee::new(m.snapshot(caller)?));
        }
    }
    drop(callees);
    for function in graph.functions().map(|entry| entry.name) {
        let was_called = graph.callers(function).next().is_some();
        if chosen.contains(&function) && was_called && !kept.contains(&function) {
            m.remove(function)?;
        }
    }
    Ok(())
}

/// The functions whose calls are replaced.
fn chosen(
    m: &Module<'_>,
    graph: &CallGraph,
    options: &InlineFunctions,
) -> Result<HashSet<SymbolId>, PassError> {
    let mut named = HashSet::new();
    for name in &options.functions {
        let Some(entry) = m.function(name.as_str()) else {
            let message =
                format!("The option `functions` names `{name}`, which the module hasn't.");
            return Err(PassError::new(message));
        };
        named.insert(entry.name);
    }
    let mut chosen = HashSet::new();
    for entry in graph.functions() {
        let meant = named.is_empty() || named.contains(&entry.name);
        if meant
            && entry.kind == FunctionKind::GRAPH
            && m.text(entry.name) != "main"
            && !m.snapshot(entry.name)?.skips_optimization()
        {
            chosen.insert(entry.name);
        }
    }
    Ok(chosen)
}

/// All functions, each behind those of its callees that are inlined into it, and the circles of calls that
/// would have no end.
fn callees_first(
    graph: &CallGraph,
    chosen: &HashSet<SymbolId>,
) -> (Vec<SymbolId>, Vec<Vec<SymbolId>>) {
    let callees = |caller| {
        let callees: Vec<SymbolId> = graph
            .callees(caller)
            .filter(|f| chosen.contains(f))
            .collect();
        callees.into_iter()
    };
    let (mut order, mut done, mut open) = (Vec::new(), HashSet::new(), HashSet::new());
    let (mut circles, mut circular) = (Vec::new(), HashSet::<SymbolId>::new());
    for root in graph.functions().map(|entry| entry.name) {
        if done.contains(&root) {
            continue;
        }
        open.insert(root);
        let mut path = vec![(root, callees(root))];
        while let Some((caller, rest)) = path.last_mut() {
            let Some(callee) = rest.next() else {
                open.remove(caller);
                done.insert(*caller);
                order.push(*caller);
                path.pop();
                continue;
            };
            // One function less that is inlined breaks a circle: those that it closes are told once.
            if open.contains(&callee) {
                if !circular.contains(&callee) {
                    let names = path.iter().map(|(name, _)| *name);
                    let circle: Vec<SymbolId> = names.skip_while(|&name| name != callee).collect();
                    circular.extend(&circle);
                    circles.push(circle);
                }
            } else if !done.contains(&callee) {
                open.insert(callee);
                path.push((callee, callees(callee)));
            }
        }
    }
    (order, circles)
}

/// A chain of calls whose last calls the first again, in words.
fn recursion(m: &Module<'_>, circle: &[SymbolId]) -> String {
    let names = circle.iter().chain(circle.first());
    let names: Vec<String> = names.map(|&name| format!("`{}`", m.text(name))).collect();
    names.join(" calls ")
}

/// The calls of these functions, in program order.
fn calls(f: &Function, called: &[SymbolId]) -> Vec<OpId> {
    let is_call = |&op: &OpId| called.contains(&callee_of(f, op));
    f.iter().filter(is_call).collect()
}

/// What an op calls: the callee of a `call`, otherwise the function of the op's name, if there is one.
fn callee_of(f: &Function, op: OpId) -> SymbolId {
    if f.symbol(op) != symbol::CALL {
        return f.symbol(op);
    }
    let callee = f.string(op, symbol::CALLEE);
    callee
        .and_then(|name| f.find_symbol(name))
        .unwrap_or(SymbolId::NONE)
}
