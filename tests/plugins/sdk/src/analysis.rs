//! Analyses that the plugin defines, and columns of the host.

use std::sync::atomic::{AtomicUsize, Ordering};

use passdock_plugin_api::prelude::*;

use crate::function::chain;

/// The number of ops. Counts the values that are alive.
struct Ops(usize);

static ALIVE: AtomicUsize = AtomicUsize::new(0);

impl Drop for Ops {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Analysis for Ops {
    fn compute(f: &Function, _cx: &PassContext) -> Result<Ops, PassError> {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Ok(Ops(f.iter().count()))
    }
}

pub fn kept_until_an_edit(f: &mut Function, cx: &PassContext) -> PassResult {
    let [first, ..] = chain(f)?;
    let one: *const Ops = f.analysis::<Ops>(cx)?;
    let again: *const Ops = f.analysis::<Ops>(cx)?;
    assert_eq!(one, again);
    f.set_attr(first, "k", 1)?;
    assert!(f.preserve::<Ops>());
    let preserved: *const Ops = f.analysis::<Ops>(cx)?;
    assert_eq!(one, preserved);
    f.set_attr(first, "k", 2)?;
    assert_eq!(f.analysis::<Ops>(cx)?.0, 4);
    Ok(())
}

/// Runs after the module of the pass above was dropped.
pub fn dropped(_f: &mut Function, _cx: &PassContext) -> PassResult {
    assert_eq!(ALIVE.load(Ordering::Relaxed), 0);
    Ok(())
}

pub fn columns(f: &mut Function, _cx: &PassContext) -> PassResult {
    let [first, second, third] = chain(f)?;
    let holder = OpBuilder::new("if")
        .operand(f.params()[0])
        .region("then_branch");
    let holder = f.create_op(holder, Position::before(third))?;
    let inside = Position::end_of(f.regions(holder)[0]);
    let inner = OpBuilder::new("acme.C").operand(f.result(first, 0));
    let inner = f.create_op(inner.untyped_results(1), inside)?;
    f.set_results(f.regions(holder)[0], &[])?;

    let (liveness, order) = (f.liveness()?, f.order()?);
    assert_eq!(liveness.last_use(f.params()[0]), Some(holder));
    assert_eq!(liveness.last_use(f.result(first, 0)), Some(holder));
    assert_eq!(liveness.last_use(f.result(inner, 0)), None);
    assert_eq!(order.position(inner), Some(3));
    assert_eq!(
        (order.depth(second), order.depth(inner)),
        (Some(0), Some(1))
    );
    assert!(order.is_nested(inner, holder) && !order.is_nested(holder, first));
    assert!(order.is_before(holder, inner));
    let names = f.names()?;
    let names: Vec<_> = names
        .iter()
        .map(|used| (f.text(used.name), used.count))
        .collect();
    let expected = [
        ("onnx.Relu", 2),
        ("if", 1),
        ("acme.C", 1),
        ("yield", 1),
        ("onnx.Add", 1),
        ("return", 1),
    ];
    assert_eq!(names, expected);
    let effects = f.effects()?;
    assert!(!effects.is_pure(inner) && !effects.is_pure(holder));
    let last = f.terminator(f.body()).ok_or("no terminator")?;
    assert!(effects.is_pure(last));
    f.erase_op(holder)?;
    assert_eq!(f.order()?.position(inner), None);
    Ok(())
}
