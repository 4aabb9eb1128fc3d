//! Lifetimes: iterators, which end with their function's handle, and slices, which are valid until the next edit.

use std::cell::RefCell;

use passdock_plugin_api::ir::Ops;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{Support, Use};

type Uses = Box<dyn Iterator<Item = Use>>;

thread_local! {
    static KEPT: RefCell<(Vec<Ops>, Vec<Uses>)> = RefCell::default();
}

fn keep(f: &Function) {
    KEPT.with(|kept| {
        let mut kept = kept.borrow_mut();
        kept.0.push(f.ops());
        kept.0.push(f.ops_named("onnx.Relu"));
        kept.1.push(Box::new(f.uses(f.params()[0])));
    });
}

/// Advances the stored iterators, and returns the number of those that aren't at their end.
fn go_on() -> usize {
    KEPT.with(|kept| {
        let (ops, uses) = &mut *kept.borrow_mut();
        let ops = ops.iter_mut().filter_map(Iterator::next).count();
        ops + uses.iter_mut().filter_map(Iterator::next).count()
    })
}

pub fn keep_iterators(f: &mut Function, cx: &PassContext) -> PassResult {
    keep(f);
    let module = cx.module().ok_or("a function pass has its module")?;
    keep(&module.snapshot("main")?);
    // The snapshot was dropped.
    assert_eq!(go_on(), 3);
    Ok(())
}

pub fn kept_iterators_end(_f: &mut Function, _cx: &PassContext) -> PassResult {
    assert_eq!(go_on(), 0);
    KEPT.with(|kept| kept.take());
    Ok(())
}

/// Handles that are leaked end with the next edit, or with the run.
pub fn forget_handles(m: &mut Module, _cx: &PassContext) -> PassResult {
    let f = m.edit("main")?;
    f.set_function_attr("k", 1)?;
    keep(f);
    assert_eq!(go_on(), 3);
    let snapshot = m.snapshot("main")?;
    keep(&snapshot);
    std::mem::forget(snapshot);
    assert_eq!(go_on(), 5); // the one use was met before
    m.edit("main")?;
    assert_eq!(go_on(), 2); // the snapshot's ops
    KEPT.with(|kept| kept.take());
    let f = m.edit("main")?;
    keep(f);
    let snapshot = m.snapshot("main")?;
    keep(&snapshot);
    std::mem::forget(snapshot);
    Ok(())
}

/// Would exceed the limits of a function that is only borrowed.
pub const GREEDY: OpDef = OpDef::extending("onnx.Add", 1).supports(&["greedy"], |call| {
    let unknown = TypeSpec::unknown();
    for size in 0..12 {
        let unknown = call.add_type(&unknown)?;
        call.add_type(&TypeSpec::tuple(vec![unknown; 2000 + size]))?;
    }
    Ok(())
});

/// A query that borrows the function doesn't move the slices that were read.
pub fn slices_are_stable(f: &mut Function, cx: &PassContext) -> PassResult {
    let op = f.ops_named("onnx.Add").next().ok_or("no Add")?;
    let loc = f.name_loc("moved")?;
    f.set_loc(op, loc)?;
    let before = f.results(op).to_vec();
    let results = f.results(op);
    let support = cx.supports(f, op, "greedy")?;
    assert!(matches!(support, Support::Unsupported(_)), "{support:?}");
    assert_eq!(results, before);
    Ok(())
}
