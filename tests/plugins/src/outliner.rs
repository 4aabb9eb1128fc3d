//! A plugin that outlines ops into functions, and inlines functions.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record::Capture;

/// The blocks of a function: ops whose node names are equal up to the last slash, as in `encoder/layer_1/add`.
struct Blocks(Vec<(String, Vec<OpId>)>);

impl Analysis for Blocks {
    fn compute(f: &Function, _cx: &PassContext) -> Result<Blocks, PassError> {
        let (mut blocks, mut block_indices) = (Vec::<(String, Vec<OpId>)>::new(), HashMap::new());
        for op in f.ops_in(f.body()) {
            let Some((block, _)) = f.loc_name(op).and_then(|name| name.rsplit_once('/')) else {
                continue;
            };
            let index = *block_indices.entry(block).or_insert(blocks.len());
            if index == blocks.len() {
                let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
                blocks.push((block.chars().map(plain).collect(), Vec::new()));
            }
            blocks[index].1.push(op);
        }
        Ok(Blocks(blocks))
    }
}

/// Outlines each block into a function, and calls it there.
fn outline_blocks(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let graphs = m.functions().filter(|f| f.kind == FunctionKind::GRAPH);
    for entry in graphs {
        let f = m.snapshot(entry.name)?;
        for (block, ops) in &f.analysis::<Blocks>(cx)?.0 {
            if let Err(why) = m.outline(entry.name, ops, &format!("blocks.{block}")) {
                let span = OpSpan::op(ops[0]).within(&f);
                cx.emit(&Diagnostic::note(why.message).at(span));
            }
        }
    }
    Ok(())
}

options! {
    /// The options of `OutlineEvery`.
    pub struct OutlineEvery {
        /// The number of ops in a row that become a function.
        count: i64 = 2,
    }
}

/// Outlines each sequence of `count` ops into a function, in all regions.
fn outline_every(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let count = usize::try_from(cx.options::<OutlineEvery>()?.count).unwrap_or(1);
    let graphs = m.functions().filter(|f| f.kind == FunctionKind::GRAPH);
    for entry in graphs {
        let f = m.snapshot(entry.name)?;
        let nested = f.iter().flat_map(|op| f.regions(op).iter().copied());
        let regions: Vec<RegionId> = std::iter::once(f.body()).chain(nested).collect();
        // Inner regions first, because an outlined op takes its regions with it.
        for &region in regions.iter().rev() {
            let end = f.terminator(region);
            let ops: Vec<OpId> = f.ops_in(region).filter(|&op| Some(op) != end).collect();
            for group in ops.chunks(count.max(1)) {
                if let Err(why) = m.outline(entry.name, group, "every.Group") {
                    let span = OpSpan::op(group[0]).within(&f);
                    cx.emit(&Diagnostic::note(why.message).at(span));
                }
            }
        }
    }
    Ok(())
}

/// Reblock_indices calls with copies of the callee's ops, and recursively the calls in the copies.
fn copy_back(f: &mut Function, cx: &PassContext) -> PassResult {
    struct Calls(Vec<(OpId, SymbolId)>);
    impl Visitor for Calls {
        fn visit_op(&mut self, f: &Function, op: OpId) -> Visit {
            self.0.extend(f.callee(op).map(|callee| (op, callee)));
            Visit::Into
        }
    }
    let mut calls = Calls(Vec::new());
    calls.visit(f);
    let module = cx.module().ok_or("there is no module to read")?;
    for (call, callee) in calls.0 {
        let callee = module.snapshot(callee)?;
        let end = callee.terminator(callee.body());
        let ops: Vec<OpId> = callee
            .ops_in(callee.body())
            .filter(|&op| Some(op) != end)
            .collect();
        let args = callee.params().iter().copied().zip(f.operands(call));
        let mut values: HashMap<ValueId, ValueId> = args.collect();
        let captures = values
            .iter()
            .map(|(&value, &replacement)| Capture { value, replacement });
        let captures: Vec<Capture> = captures.collect();
        let copies = f.clone_ops_from(&callee, &ops, Position::before(call), &captures)?;
        values.extend(
            ops.iter()
                .flat_map(|&op| callee.results(op))
                .copied()
                .zip(copies),
        );
        let given = end.into_iter().flat_map(|end| callee.operands(end));
        let given: Vec<ValueId> = given.map(|value| values[&value]).collect();
        f.replace_op_with(call, &given)?;
    }
    Ok(())
}

plugin! {
    name: "outliner",
    passes: [
        /// Outlines blocks of ops, which are grouped by their node names.
        module "outliner.transform.OutlineBlocks" => outline_blocks { opt_level: 0 },
        /// Outlines each sequence of `count` ops.
        module "outliner.transform.OutlineEvery" => outline_every {
            opt_level: 0,
            options: OutlineEvery,
        },
        /// Reblock_indices calls with copies of the callee's ops.
        function "outliner.transform.CopyBack" => copy_back { opt_level: 0 },
    ],
}
