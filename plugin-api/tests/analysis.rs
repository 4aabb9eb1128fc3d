//! Analyses with the mock host: what a plugin's author sees in unit tests.

use std::sync::atomic::{AtomicUsize, Ordering};

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::testing::mock::scratch;

/// Dropped as often as it is made.
struct Ops(usize);

static ALIVE: AtomicUsize = AtomicUsize::new(0);

impl Drop for Ops {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Analysis for Ops {
    const NAME: &'static str = "ops";

    fn compute(f: &Function, _cx: &PassContext) -> Result<Ops, PassError> {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Ok(Ops(f.iter().count()))
    }
}

/// `main(x) { a = A(x); b = B(a) { r: C(a); yield a }; return b }`, and the ops A, B and C.
fn build(f: &mut Function) -> Result<[OpId; 3], EditError> {
    let mut b = FunctionBuilder::new(f);
    let x = b.param("x", TypeId::NONE)?;
    let a = b.value("t.A", [x])?;
    let holder = OpBuilder::new("t.B").operand(a).untyped_results(1);
    let holder = b.op(holder.region("r"))?;
    let result = b.function().result(holder, 0);
    b.finish(&[result])?;
    let region = f.regions(holder)[0];
    let at = Position::end_of(region);
    let inner = OpBuilder::new("t.C").operand(a).untyped_results(1);
    let inner = f.create_op(inner, at)?;
    f.set_results(region, &[a])?;
    let first = f.ops().next().expect("an op");
    Ok([first, holder, inner])
}

#[test]
fn an_analysis_is_kept_until_an_edit_or_preserved() {
    scratch(|f, cx| {
        let [first, ..] = build(f)?;
        let one: *const Ops = &*f.analysis::<Ops>(cx)?;
        let again: *const Ops = &*f.analysis::<Ops>(cx)?;
        assert_eq!(one, again);
        f.set_attr(first, "k", 1)?;
        assert!(f.preserve::<Ops>());
        let preserved: *const Ops = &*f.analysis::<Ops>(cx)?;
        assert_eq!(one, preserved);
        f.set_attr(first, "k", 2)?;
        assert_eq!(f.analysis::<Ops>(cx)?.0, 5);
        assert_eq!(ALIVE.load(Ordering::Relaxed), 1, "one version is kept");
        Ok::<(), PassError>(())
    })
    .unwrap();
    assert_eq!(
        ALIVE.load(Ordering::Relaxed),
        0,
        "it dies with the function"
    );
}

#[test]
fn the_mock_has_the_hosts_columns() {
    scratch(|f, _| {
        let [first, holder, inner] = build(f)?;
        let (liveness, order) = (f.liveness()?, f.order()?);
        assert_eq!(liveness.last_use(f.params()[0]), Some(first));
        assert_eq!(liveness.last_use(f.result(first, 0)), Some(holder));
        assert_eq!(liveness.last_use(f.result(inner, 0)), None);
        assert_eq!(order.position(inner), Some(2));
        assert_eq!(order.depth(inner), Some(1));
        assert!(order.is_nested(inner, holder) && !order.is_nested(holder, first));
        assert!(order.is_before(holder, inner));
        let names = f.names()?;
        let names: Vec<_> = names
            .of_ops()
            .map(|used| (f.text(used.name), used.count))
            .collect();
        let expected = ["t.A", "t.B", "t.C", "yield", "return"];
        assert_eq!(names, expected.map(|name| (name, 1)));
        let effects = f.effects()?;
        assert!(!effects.is_pure(first) && effects.is_pure(f.terminator(f.body()).unwrap()));
        f.erase_op(inner)?;
        assert_eq!(f.order()?.position(inner), None);
        Ok::<(), PassError>(())
    })
    .unwrap();
}
