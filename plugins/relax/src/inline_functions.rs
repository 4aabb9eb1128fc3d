//! `relax.transform.InlineFunctions`: inlines the module's functions into their callers.
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
//! What the copies call is replaced in turn. Attribute parameters become what the call sets, or their defaults. A
//! copy's location begins with that of the call. Dims that the function names after its parameters' are the arguments',
//! others are unknown. A function that nobody calls any more is removed, and with the last one of a domain that passes
//! made up, `passdock.…`, its version where no op is of it.
//!
//! It does not inline `@main`, loop-level functions, functions that skip optimization (`SkipOptimization`,
//! `Compiler`, `Extern`) nor calls in them, nor calls of a function of another opset version than its
//! caller: these are named in a note, as are calls that would make a function larger than `max_ops`, all others
//! once the functions that stay have grown by as much together, and functions that call themselves; to name one
//! of these is an error.
//!
//! Source: TVM `src/relax/transform/inline_functions.cc`, `src/relay/transforms/inline.cc`.

use std::collections::{HashMap, HashSet};

use crate::fusion::take_back_domains;
use passdock_plugin_api::CallGraph;
use passdock_plugin_api::prelude::*;

use crate::shared::call_graph::callees_first;
use crate::shared::callee::{Callee, Copied, Grown, Replaced};

options! {
    /// The calls that are replaced.
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
    let (order, circles) = callees_first(&graph, |name| chosen.contains(&name));
    for circle in circles {
        let chain = recursion(m, &circle);
        if !options.functions.is_empty() {
            return Err(PassError::config(format!(
                "Recursion can't be inlined: {chain}."
            )));
        }
        let note = format!("What calls itself isn't inlined: {chain}.");
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
    take_back_domains(m, &removed)
}

/// Which calls are replaced. It is known for all functions before one is changed: what only leads to
/// others isn't written out, so a chain of n functions doesn't take n^2 copies.
#[derive(Default)]
struct Plan<'h> {
    /// The functions whose calls are replaced.
    callees: HashMap<SymbolId, Callee<'h>>,
    /// The calls to replace, by caller.
    calls: HashMap<SymbolId, Calls>,
    /// Functions of which calls stay.
    kept: HashSet<SymbolId>,
    /// The number of ops by which the functions that stay grow.
    growth: usize,
}

/// Calls to replace, in program order, and what they call.
type Calls = Vec<(OpId, SymbolId)>;

/// A step to do with a call.
enum Step {
    Copy((OpId, SymbolId)),
    /// Once the calls in the copy are replaced.
    Replace(Copied),
}

impl<'h> Plan<'h> {
    /// Decides about the calls in a function. Those in its callees are decided.
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
        // What is to stay as it is keeps its calls.
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
                Err("an operator has this name, too, and the runtime may mean that".into())
            } else {
                let why = callee.check(&f, op, &grown, options.max_ops);
                why.and_then(|()| self.check_growth(options.max_ops))
            };
            if let Err(why) = why {
                let note = format!("The call of `{}` isn't inlined: {why}.", callee.name());
                let place = Place::name(op).within(&f);
                cx.emit(&Diagnostic::note(note).code("relax::not-inlined").at(place));
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

    /// Refuses too much growth: each of many functions may be large, and call the next one twice.
    fn check_growth(&self, max_ops: i64) -> Result<(), String> {
        if i64::try_from(self.growth).is_ok_and(|growth| growth <= max_ops) {
            return Ok(());
        }
        Err(format!(
            "functions that stay have {} ops more already (`max_ops` is {max_ops})",
            self.growth
        ))
    }

    /// Replaces the calls in a function, and those in what comes in their place.
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
                    replaced.handed_on.extend(&copied.values);
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

/// The functions whose calls are replaced.
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
            let message =
                format!("The option `functions` names `{name}`, which the module hasn't.");
            PassError::config(message)
        })?);
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

/// A chain of calls whose last calls the first again, in words.
fn recursion(m: &Module<'_>, circle: &[SymbolId]) -> String {
    let names = circle.iter().chain(circle.first());
    let names: Vec<String> = names.map(|&name| format!("`{}`", m.text(name))).collect();
    names.join(" calls ")
}
