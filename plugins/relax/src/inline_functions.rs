//! `relax.transform.InlineFunctions`: inlines functions of the module into their callers.
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
//! Calls in inlined bodies are inlined in turn. Attribute parameters are replaced by the values of the call, or by
//! their defaults. The location of a copy starts with that of the call. Dim symbols of the function's parameters are
//! replaced by the dims of the arguments; other symbols become unknown. Functions without remaining callers are
//! removed. If the last function of a domain that passdock created (`passdock.…`) is removed, opset imports of the
//! domain that no op needs are removed as well.
//!
//! The pass doesn't inline `@main`, loop-level functions, functions that skip optimization (`SkipOptimization`,
//! `Compiler`, `Extern`) or calls in them. It also doesn't inline functions whose opset versions differ from the
//! caller's. A call stays if it would make its function larger than `max_ops`. All further calls stay once the
//! remaining functions have grown by `max_ops` in total. Recursive functions aren't inlined; naming one in `functions`
//! is an error. Notes report the calls that stay.
//!
//! Source: TVM `src/relax/transform/inline_functions.cc`, `src/relay/transforms/inline.cc`.

use std::collections::{HashMap, HashSet};

use crate::fusion::remove_domains;
use passdock_plugin_api::CallGraph;
use passdock_plugin_api::prelude::*;

use crate::shared::call_graph::callees_first;
use crate::shared::callee::{Callee, Copied, Grown, Replaced};

options! {
    /// Options of InlineFunctions.
    pub struct InlineFunctions {
        /// The functions to inline. If empty, all except `main`.
        functions: Vec<String> = [],
        /// The maximum number of ops of a function after inlining. Calls that would exceed it stay.
        max_ops: usize = 1_000_000,
    }
}

pub(crate) fn inline_functions(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<InlineFunctions>()?;
    let graph = m.call_graph()?;
    let mut chosen = chosen(m, &graph, &options)?;
    let (order, circles) = callees_first(&graph, |name| chosen.contains(&name));
    for circle in circles {
        let chain = recursion(m, &circle);
        if !options.functions.is_empty() {
            let message = format!("cannot inline recursive functions: {chain}");
            return Err(PassError::config(message));
        }
        let note = format!("recursive functions are not inlined: {chain}");
        cx.emit(&Diagnostic::note(note).code("relax::not-inlined"));
        circle
            .iter()
            .for_each(|function| _ = chosen.remove(function));
    }
    let mut plan = Plan::default();
    for caller in order {
        plan.decide(m, cx, &graph, &chosen, &options, caller)?;
    }
    let mut removed = Vec::new();
    for function in graph.functions().map(|entry| entry.name) {
        let was_called = graph.callers(function).next().is_some();
        if chosen.contains(&function) && was_called && !plan.kept.contains(&function) {
            m.remove(function)?;
            removed.push(function);
        } else {
            plan.carry_out(m, function)?;
        }
    }
    remove_domains(m, &removed)
}

/// The calls to inline. They are decided for all functions before one is changed. Functions that are removed afterwards
/// aren't expanded, so a chain of n functions doesn't need n² copies.
#[derive(Default)]
struct Plan<'h> {
    /// The functions whose calls are inlined.
    callees: HashMap<SymbolId, Callee<'h>>,
    /// The calls to inline, by caller.
    calls: HashMap<SymbolId, Calls>,
    /// Functions of which calls remain.
    kept: HashSet<SymbolId>,
    /// The number of ops by which the remaining functions grow.
    growth: usize,
}

/// Calls to inline, in program order, with their callees.
type Calls = Vec<(OpId, SymbolId)>;

/// A step of inlining.
enum Step {
    Copy((OpId, SymbolId)),
    /// Runs after the calls in the copy were inlined.
    Replace(Copied),
}

impl<'h> Plan<'h> {
    /// Decides about the calls in a function. The calls in its callees are decided already.
    fn decide(
        &mut self,
        m: &Module<'h>,
        cx: &PassContext,
        graph: &CallGraph,
        chosen: &HashSet<SymbolId>,
        options: &InlineFunctions,
        caller: SymbolId,
    ) -> PassResult {
        let callees = graph.callees(caller);
        let called: HashSet<SymbolId> = callees.filter(|f| chosen.contains(f)).collect();
        if graph.function(caller).map(|entry| entry.kind) != Some(FunctionKind::GRAPH) {
            self.kept.extend(called);
            return Ok(());
        }
        if called.is_empty() && !chosen.contains(&caller) {
            return Ok(());
        }
        let f = m.snapshot(caller)?;
        // Functions that skip optimization don't change.
        if f.skips_optimization() {
            self.kept.extend(called);
            return Ok(());
        }
        let mut grown = Grown::new(&f);
        let mut replaced = Calls::new();
        let all = f.iter().filter_map(|op| Some((op, f.callee(op)?)));
        for (op, name) in all.filter(|(_, name)| called.contains(name)) {
            let callee = &self.callees[&name];
            let why = if f.traits(op).is_ambiguous() {
                Err("an operator has the same name, and a runtime may run it instead".into())
            } else {
                let why = callee.check(&f, op, &grown, options.max_ops);
                why.and_then(|()| self.check_growth(options.max_ops))
            };
            if let Err(why) = why {
                let note = format!("call of `{}` is not inlined: {why}", callee.name());
                let at = OpSpan::name(op).within(&f);
                cx.emit(&Diagnostic::note(note).code("relax::not-inlined").at(at));
                if self.kept.insert(name) {
                    self.growth += self.callees[&name].growth();
                }
                continue;
            }
            grown.take(callee);
            replaced.push((op, name));
        }
        let is_called = graph.callers(caller).next().is_some();
        if !(is_called && chosen.contains(&caller)) {
            self.growth += grown.growth();
        }
        if chosen.contains(&caller) {
            let callee = Callee::new(m.snapshot(caller)?, grown, &replaced);
            self.callees.insert(caller, callee);
        }
        self.calls.insert(caller, replaced);
        Ok(())
    }

    /// Limits the total growth: many functions may each be large, and call the next one twice.
    fn check_growth(&self, max_ops: usize) -> Result<(), String> {
        if self.growth <= max_ops {
            return Ok(());
        }
        Err(format!(
            "the remaining functions have already grown by {} ops (`max_ops` is {max_ops})",
            self.growth
        ))
    }

    /// Inlines the calls in a function, and the calls in the inlined bodies.
    fn carry_out(&mut self, m: &mut Module<'_>, caller: SymbolId) -> PassResult {
        let calls = self.calls.remove(&caller).unwrap_or_default();
        if calls.is_empty() {
            return Ok(());
        }
        let f = m.edit(caller)?;
        let mut replaced = Replaced::default();
        let mut steps: Vec<Step> = calls.into_iter().rev().map(Step::Copy).collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::Copy((op, name)) => {
                    let mut copied = self.callees[&name].copy(f, op)?;
                    replaced.forwarded.extend(&copied.values);
                    let calls = std::mem::take(&mut copied.calls);
                    steps.push(Step::Replace(copied));
                    steps.extend(calls.into_iter().rev().map(Step::Copy));
                }
                Step::Replace(copied) => copied.replace(f, &mut replaced)?,
            }
        }
        Ok(())
    }
}

/// Returns the functions whose calls may be inlined.
fn chosen(
    m: &Module<'_>,
    graph: &CallGraph,
    options: &InlineFunctions,
) -> Result<HashSet<SymbolId>, PassError> {
    let all = graph.functions().map(|entry| entry.name);
    let known: HashMap<&str, SymbolId> = all.map(|name| (m.text(name), name)).collect();
    let mut named = HashSet::new();
    for name in &options.functions {
        let symbol = known.get(name.as_str()).copied();
        named.insert(symbol.ok_or_else(|| {
            let message = format!("unknown function `{name}` in option `functions`");
            PassError::config(message)
        })?);
    }
    let mut chosen = HashSet::new();
    for entry in graph.functions() {
        let is_selected = named.is_empty() || named.contains(&entry.name);
        if is_selected
            && entry.kind == FunctionKind::GRAPH
            && m.text(entry.name) != "main"
            && !m.snapshot(entry.name)?.skips_optimization()
        {
            chosen.insert(entry.name);
        }
    }
    Ok(chosen)
}

/// Formats a recursive chain of calls.
fn recursion(m: &Module<'_>, circle: &[SymbolId]) -> String {
    let names = circle.iter().chain(circle.first());
    let names: Vec<String> = names.map(|&name| format!("`{}`", m.text(name))).collect();
    names.join(" calls ")
}
