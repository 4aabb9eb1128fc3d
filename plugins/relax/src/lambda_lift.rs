//! `relax.transform.LambdaLift`: lifts regions to functions of the module.
//!
//! ```ir
//! fn @main(%c: bool[], %x: f32[n]) -> (%y: f32[n]) opset("" = 17) {
//!   %w = const f32[1] [2.0]
//!   %y = onnx.If(%c) : f32[n]
//!     region then_branch {
//!       %s = onnx.Mul(%x, %w) : f32[n]
//!       yield %s
//!     }
//!     region else_branch {
//!       yield %x
//!     }
//!   return %y
//! }
//! →
//! fn @main(%c: bool[], %x: f32[n]) -> (%y: f32[n]) opset("" = 17, "lifted" = 1) {
//!   %w = const f32[1] [2.0]
//!   %y = onnx.If(%c) : f32[n]
//!     region then_branch {
//!       %s = lifted.main_then_branch(%x, %w) : f32[n]
//!       yield %s
//!     }
//!     region else_branch {
//!       yield %x
//!     }
//!   return %y
//! }
//! fn @lifted.main_then_branch(%x: f32[n], %w: f32[1]) -> (%s: f32[n]) opset("" = 17, "lifted" = 1) {
//!   %s = onnx.Mul(%x, %w) : f32[n]
//!   return %s
//! }
//! ```
//!
//! The region's arguments come first, then what it captures, in the order in which it is used;
//! constants of the region itself go along. A function is named after the one that its region stood
//! in and the region, with a number if there is such a function. Inner regions are lifted before
//! those around them.
//!
//! It does not lift a region whose ops make nothing of what it gives out, nor one that is a single call
//! already, nor one that refers to attribute parameters of its function (a note says which), nor loops
//! of loop-level functions, nor regions of functions that skip optimization (`SkipOptimization`,
//! `Compiler`, `Extern`).
//!
//! Source: TVM `src/relax/transform/lambda_lift.cc`.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::FreeNames;
use passdock_plugin_api::prelude::*;

use crate::shared::attr_params::references;
use crate::shared::read::redeclare;

options! {
    /// The regions that are lifted, and where to.
    pub struct LambdaLift {
        /// The ops whose regions are lifted, by name; none: all.
        ops: Vec<String> = [],
        /// The domain of the functions.
        domain: String = "lifted",
    }
}

pub(crate) fn lambda_lift(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<LambdaLift>()?;
    m.check_operators("ops", &options.ops)?;
    let entries: Vec<_> = m.functions().collect();
    let functions: HashSet<String> = entries.iter().map(|f| m.text(f.name).to_owned()).collect();
    let mut names = FreeNames::of(m, &options.domain)?;
    for entry in entries.iter().filter(|f| f.kind == FunctionKind::GRAPH) {
        let f = m.snapshot(entry.name)?;
        if f.skips_optimization() {
            continue;
        }
        let regions = regions_to_lift(&f, &options, &functions, cx)?;
        drop(f);
        let named: Vec<(RegionId, String)> = regions
            .into_iter()
            .map(|(region, base)| (region, names.take(&base)))
            .collect();
        // Those nested in others first.
        for (region, name) in named.into_iter().rev() {
            lift(m, entry.name, region, &name, &options.domain)?;
        }
    }
    Ok(())
}

/// The regions to lift, in program order, and what to call them.
fn regions_to_lift(
    f: &Function,
    options: &LambdaLift,
    functions: &HashSet<String>,
    cx: &PassContext,
) -> Result<Vec<(RegionId, String)>, EditError> {
    let mut found = Vec::new();
    let referring = referring(f);
    for op in f.iter().filter(|&op| !f.regions(op).is_empty()) {
        if !options.ops.is_empty() && !options.ops.iter().any(|name| name == f.name(op)) {
            continue;
        }
        for &region in f.regions(op) {
            let first = f.first_op(region);
            let Some(first) = first.filter(|&op| f.terminator(region) != Some(op)) else {
                continue;
            };
            let ends = f.terminator(region).into_iter();
            let makes = |value| f.defining_op(value).map(|op| f.parent_region(op)) == Some(region);
            if !ends.flat_map(|end| f.operands(end)).any(makes) {
                continue;
            }
            if f.next_op(first) == f.terminator(region) && functions.contains(f.name(first)) {
                continue;
            }
            if let Some(&(op, param)) = referring.get(&region) {
                let name = f.text(param);
                let note = format!(
                    "This region isn't lifted: an op of it refers to the attribute parameter `{name}`."
                );
                let place = Place::op(op).within(f);
                cx.emit(&Diagnostic::note(note).code("relax::not-lifted").at(place));
                continue;
            }
            let base = format!("{}_{}", f.function_name(), f.region_name(region));
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            found.push((region, base.chars().map(plain).collect()));
        }
    }
    Ok(found)
}

/// The regions in which an op refers to an attribute parameter, the first such op in each, and the
/// parameter.
fn referring(f: &Function) -> HashMap<RegionId, (OpId, SymbolId)> {
    let mut found = HashMap::new();
    for op in f.iter() {
        let Some((_, param)) = references(f, op).next() else {
            continue;
        };
        let mut region = f.parent_region(op);
        // Where another is known already, it is in all that are around, too.
        while !found.contains_key(&region) {
            found.insert(region, (op, param));
            match f.parent_op(region) {
                Some(holder) => region = f.parent_region(holder),
                None => break,
            }
        }
    }
    found
}

/// Moves a region's ops into a function, and lets the region call it.
fn lift(
    m: &mut Module<'_>,
    holder: SymbolId,
    region: RegionId,
    name: &str,
    domain: &str,
) -> PassResult {
    let f = m.edit(holder)?;
    f.add_domain(domain)?;
    m.create(name, FunctionKind::GRAPH, Some(holder.into()))?;
    let (f, lifted) = m.edit_both(holder, name)?;
    let parts = Parts::from_region(f, region);
    parts.fill(f, lifted)?;
    parts.call(f, name)?;
    Ok(())
}

/// The parts of a region.
struct Parts {
    region: RegionId,
    /// The ops directly in it, without the terminator.
    ops: Vec<OpId>,
    /// Constants of it.
    constants: Vec<ConstId>,
    /// The values that it uses and doesn't define, in the order in which they are used.
    captures: Vec<ValueId>,
    /// The values that it gives out and its ops make, each once.
    made: Vec<ValueId>,
}

impl Parts {
    fn from_region(f: &Function, region: RegionId) -> Parts {
        let mut regions = HashSet::from([region]);
        let mut inside: HashSet<ValueId> = f.args(region).iter().copied().collect();
        let (mut captures, mut constants) = (Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        let terminator = f.terminator(region);
        for op in f.iter_in(region).filter(|&op| Some(op) != terminator) {
            for operand in f.operands(op).filter(|value| value.is_some()) {
                if inside.contains(&operand) || !seen.insert(operand) {
                    continue;
                }
                let constant = f.constant(operand);
                let home = constant
                    .and_then(|id| f.constant_record(id))
                    .map(|c| c.region);
                match (constant, home) {
                    (Some(id), Some(home)) if home == region => constants.push(id),
                    (_, Some(home)) if regions.contains(&home) => {}
                    _ => captures.push(operand),
                }
            }
            inside.extend(f.results(op));
            for &nested in f.regions(op) {
                regions.insert(nested);
                inside.extend(f.args(nested));
            }
        }
        let ops: Vec<OpId> = f
            .ops_in(region)
            .filter(|&op| Some(op) != terminator)
            .collect();
        let direct: HashSet<ValueId> = ops.iter().flat_map(|&op| f.results(op)).copied().collect();
        let mut made = Vec::new();
        let mut given = HashSet::new();
        for value in terminator.into_iter().flat_map(|end| f.operands(end)) {
            if direct.contains(&value) && given.insert(value) {
                made.push(value);
            }
        }
        Parts {
            region,
            ops,
            constants,
            captures,
            made,
        }
    }

    /// Gives the function its parameters and ops.
    fn fill(&self, f: &Function, lifted: &mut Function) -> Result<(), EditError> {
        let body = lifted.body();
        let mut params = HashMap::new();
        for &value in f.args(self.region).iter().chain(&self.captures) {
            let ty = lifted.type_from(f, f.type_id(value))?;
            let name = f.value_name(value).unwrap_or("");
            params.insert(value, lifted.add_arg(body, name, ty)?);
        }
        let args: Vec<ValueId> = f.args(self.region).iter().map(|arg| params[arg]).collect();
        let captures = self.captures.iter().map(|&value| [value, params[&value]]);
        let captures: Vec<[ValueId; 2]> = captures.collect();
        let at = Position::end_of(body);
        let values = lifted.clone_region_from(f, self.region, at, &args, &captures)?;
        let terminator = f.terminator(self.region).into_iter();
        let yielded = terminator.flat_map(|end| f.operands(end)).zip(values);
        let copies: HashMap<ValueId, ValueId> = yielded.collect();
        let mut results = Vec::new();
        for value in &self.made {
            let ty = lifted.type_from(f, f.type_id(*value))?;
            results.push((f.value_name(*value).unwrap_or(""), ty, copies[value]));
        }
        lifted.set_named_results(body, &results)
    }

    /// Lets the region call the function.
    fn call(&self, f: &mut Function, name: &str) -> Result<(), EditError> {
        let operands = f.args(self.region).iter().chain(&self.captures);
        let types = self.made.iter().map(|&value| f.type_id(value));
        let call = OpBuilder::new(name)
            .operands(operands.copied())
            .results(types);
        let call = f.create_op(call, Position::end_of(self.region))?;
        let results = f.results(call).to_vec();
        let names: Vec<Option<String>> = self
            .made
            .iter()
            .map(|&value| f.value_name(value).map(str::to_owned))
            .collect();
        self.give_out(f, &results)?;
        for &op in self.ops.iter().rev() {
            f.erase_op(op)?;
        }
        for &constant in &self.constants {
            let value = f
                .constant_record(constant)
                .map_or(ValueId::NONE, |c| c.value);
            if f.use_count(value) == 0 {
                f.erase_constant(constant)?;
            }
        }
        for (result, name) in results.into_iter().zip(names) {
            if let Some(name) = name {
                f.set_value_name(result, &name)?;
            }
        }
        Ok(())
    }

    /// Lets the region give out the call's results instead of what its ops made.
    fn give_out(&self, f: &mut Function, results: &[ValueId]) -> Result<(), EditError> {
        let made = self.made.iter().copied().zip(results.iter().copied());
        let made: HashMap<ValueId, ValueId> = made.collect();
        redeclare(f, self.region, |_, _, ty, value| {
            Ok((ty, made.get(&value).copied().unwrap_or(value)))
        })
    }
}
