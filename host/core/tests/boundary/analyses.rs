//! Analyses: computed once for a version of a function, and never returned for another version.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use passdock_abi as abi;
use passdock_abi::{OpId, RegionId, Status, Str, ValueId};
use passdock_core::OpDefs;
use passdock_core::analyses::{self, Operators};
use passdock_ir as ir;
use passdock_plugin_api as sdk;
use passdock_plugin_api::{Analysis, Function, OpBuilder, PassContext, PassError, PassResult};

use crate::support::{TestFrame, module, run, run_module, run_on};

/// The number of ops. Computing it increments `COUNTED`.
struct Count(usize);

static COUNTED: AtomicUsize = AtomicUsize::new(0);

impl Analysis for Count {
    fn compute(f: &Function, cx: &PassContext) -> Result<Count, PassError> {
        assert!(cx.module().is_none(), "an analysis reads only one function");
        COUNTED.fetch_add(1, Ordering::Relaxed);
        Ok(Count(f.iter().count()))
    }
}

/// A single test, since it uses a global counter.
#[test]
fn result_is_cached_per_version() {
    let computed = |expected| assert_eq!(COUNTED.swap(0, Ordering::Relaxed), expected);
    let (input, frame) = (module(), TestFrame::new());
    for expected in [1, 0] {
        let same = run(&input, &frame, |f, cx| {
            assert_eq!(f.analysis::<Count>(cx)?.0, 3);
            assert_eq!(f.analysis::<Count>(cx)?.0, 3);
            // Another handle of the same function finds the result, too.
            let module = cx.module().ok_or("a function pass has its module")?;
            assert_eq!(module.snapshot("main")?.analysis::<Count>(cx)?.0, 3);
            Ok(())
        });
        assert!(same.expect("works").is_none());
        computed(expected);
    }
    let changed = run(&input, &frame, |f, cx| {
        assert_eq!(f.analysis::<Count>(cx)?.0, 3);
        f.set_function_attr("k", 1)?;
        assert_eq!(f.analysis::<Count>(cx)?.0, 3);
        assert_eq!(f.analysis::<Count>(cx)?.0, 3);
        Ok(())
    });
    computed(1);
    // The output has the result of the pass; the input still has its own.
    let mut output = input.clone();
    let changed = changed.expect("works").expect("changed");
    output.replace(changed).expect("an existing name");
    for module in [&output, &input] {
        let result = run(module, &frame, |f, cx| f.analysis::<Count>(cx).map(drop));
        result.expect("works");
        computed(0);
    }
    // The result may depend on the op definitions.
    let result = run(&input, &TestFrame::with_ops(), |f, cx| {
        f.analysis::<Count>(cx).map(drop)
    });
    result.expect("works");
    computed(1);
    // A failed pass discards its analyses, too.
    let failed = run(&input, &frame, |f, cx| {
        f.set_function_attr("k", 1)?;
        f.analysis::<Count>(cx)?;
        Err("no".into())
    });
    failed.expect_err("the pass fails");
    computed(1);
    // A module pass edits in between. The analysis is cached in its output.
    let changed = run_module(&input, |m, cx| {
        let f = m.edit("main")?;
        f.set_function_attr("k", 1)?;
        f.analysis::<Count>(cx)?;
        assert_eq!(m.snapshot("main")?.analysis::<Count>(cx)?.0, 3);
        Ok(())
    });
    computed(1);
    let changed = changed.expect("works").expect("changed");
    let result = run_module(&changed, |m, cx| {
        m.edit("main")?.analysis::<Count>(cx).map(drop)
    });
    result.expect("works");
    computed(0);
}

/// The version of the function that it was computed for.
struct Version(u64);

impl Analysis for Version {
    fn compute(f: &Function, _cx: &PassContext) -> Result<Version, PassError> {
        Ok(Version(f.version()))
    }
}

#[test]
fn pass_preserves_analyses() {
    let input = module();
    let changed = run(&input, &TestFrame::new(), |f, cx| {
        assert!(!f.preserve::<Version>(), "nothing is cached");
        let version = f.analysis::<Version>(cx)?.0;
        f.set_function_attr("k", 1)?;
        assert!(f.preserve::<Version>());
        assert!(f.version() > version);
        assert_eq!(f.analysis::<Version>(cx)?.0, version);
        f.set_function_attr("k", 2)?;
        Ok(())
    });
    // The next pass can't preserve results that this one didn't preserve.
    let mut output = input.clone();
    let changed = changed.expect("works").expect("changed");
    output.replace(changed).expect("an existing name");
    let next = run(&output, &TestFrame::new(), |f, _| {
        f.set_function_attr("k", 3)?;
        assert!(!f.preserve::<Version>());
        Ok(())
    });
    next.expect("works");
}

/// An analysis that requests the next one, in a cycle.
struct Cyclic<const AT: usize>;

macro_rules! cyclic {
    ($($at:literal $next:literal;)*) => {$(
        impl Analysis for Cyclic<$at> {
            fn compute(f: &Function, cx: &PassContext) -> Result<Self, PassError> {
                f.analysis::<Cyclic<$next>>(cx)?;
                Ok(Cyclic)
            }
        }
    )*};
}

cyclic! {
    0 1;
    1 2;
    2 1;
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

impl Analysis for Bomb {
    fn compute(_f: &Function, _cx: &PassContext) -> Result<Bomb, PassError> {
        Ok(Bomb)
    }
}

#[test]
fn invalid_analyses_are_rejected() {
    let message = |pass: fn(&mut Function, &PassContext) -> PassResult| {
        run(&module(), &TestFrame::new(), pass).expect_err("the pass fails")
    };
    expect!["failed: analysis `boundary::analyses::Cyclic<1>` depends on itself: boundary::analyses::Cyclic<1> -> \
            boundary::analyses::Cyclic<2> -> boundary::analyses::Cyclic<1> [main]"]
        .assert_eq(&message(|f, cx| f.analysis::<Cyclic<0>>(cx).map(drop)));
    let dropped = run(&module(), &TestFrame::new(), |f, cx| {
        f.analysis::<Bomb>(cx).map(drop)
    });
    dropped.expect("the pass succeeds");
}

/// Returns the table of analyses for plugins.
pub(crate) fn raw() -> &'static abi::AnalysisApi {
    // SAFETY: the host's tables are `'static`.
    unsafe { &*passdock_core::boundary::host().get().analyses }
}

#[test]
fn table_misuse_is_rejected() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn drop_it(
        _: *const abi::Host,
        _: *mut abi::Context,
        _: *mut std::ffi::c_void,
    ) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
    let same = run(&module(), &TestFrame::new(), |f, _| {
        let (f, table) = (f.as_raw().handle, raw());
        let column = table.column.ok_or("no `column`")?;
        let put = table.put.ok_or("no `put`")?;
        let get = table.get.ok_or("no `get`")?;
        let mut out = abi::Column::EMPTY;
        let mut cached = std::ptr::null_mut();
        let owner = std::ptr::from_ref(table).cast();
        let key = Str::new("k");
        // SAFETY: the handle is live. The host must check the other arguments.
        unsafe {
            assert_eq!(column(f, Str::new("livenes"), &mut out), Status::NOT_FOUND);
            let message = passdock_core::boundary::host().get().functions;
            let message = (*message).last_error.ok_or("no `last_error`")?(f);
            expect!["unknown analysis `livenes`; the analyses are `effects`, `liveness`, `names`, `order`; did you \
                    mean `liveness`?"]
            .assert_eq(&crate::support::text(message));
            let null: *mut std::ffi::c_void = std::ptr::null_mut();
            assert_eq!(column(f, Str::new("order"), null.cast()), Status::INVALID);
            assert_eq!(get(f, owner, key, &mut cached), Status::NOT_FOUND);
            let data: *mut std::ffi::c_void = std::ptr::from_mut(&mut out).cast();
            let no_owner = std::ptr::null();
            // The host owns the given data, even if the call is rejected.
            for (owner, data, expected, dropped) in [
                // The key without an owner is shared by all plugins. It differs from the owner's.
                (no_owner, data, Status::OK, 0),
                (owner, null, Status::INVALID, 0),
                (owner, data, Status::OK, 0),
                (owner, data, Status::OK, 1),
            ] {
                let status = put(f, owner, key, data, Some(drop_it), &mut cached);
                assert_eq!(status, expected);
                assert_eq!(DROPPED.swap(0, Ordering::Relaxed), dropped);
            }
            assert_eq!(
                (get(f, owner, key, &mut cached), cached),
                (Status::OK, data)
            );
            assert_eq!(
                (get(f, no_owner, key, &mut cached), cached),
                (Status::OK, data)
            );
        }
        Ok(())
    });
    same.expect("works");
    assert_eq!(DROPPED.load(Ordering::Relaxed), 2, "with the function");
}

const NESTED: &str = "module {
  fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) {
    %w = const f32[2] [1.0, 2.0]
    %0 = t.A(%x) : f32[2]
    %1 = onnx.If(%c) : f32[2]
      region then_branch {
        %2 = t.B(%0, %w) : f32[2]
        %3 = t.A(%2) : f32[2]
        yield %3
      }
      region else_branch {
        yield %x
      }
    %4 = t.A(%1) : f32[2]
    return %4
  }
}";

fn parse(text: &str) -> ir::Module {
    ir::text::parse(text).expect("valid IR")
}

#[test]
fn columns_describe_the_function() {
    let module = parse(NESTED);
    let same = run(&module, &TestFrame::with_ops(), |f, _| {
        let ops: Vec<OpId> = f.iter().collect();
        let name = |op: OpId| {
            format!(
                "{}#{}",
                f.name(op),
                f.order().map_or(0, |o| o.position(op).unwrap_or(99))
            )
        };
        let (liveness, order) = (f.liveness()?, f.order()?);
        let last = |value| liveness.last_use(value).map(name);
        let lives: Vec<_> = f.params().iter().map(|value| last(*value)).collect();
        expect![[r#"[Some("onnx.If#1"), Some("onnx.If#1")]"#]].assert_eq(&format!("{lives:?}"));
        let lives: Vec<_> = ops.iter().filter_map(|op| last(f.result(*op, 0))).collect();
        expect![[r#"["onnx.If#1", "t.A#6", "t.A#3", "yield#4", "return#7"]"#]]
            .assert_eq(&format!("{lives:?}"));
        let rows: Vec<_> = ops
            .iter()
            .map(|op| (order.depth(*op), order.is_nested(*op, ops[1])))
            .collect();
        let nested = (Some(1), true);
        let top = (Some(0), false);
        assert_eq!(rows, [top, top, nested, nested, nested, nested, top, top]);
        assert!(order.is_before(ops[1], ops[2]) && !order.is_before(ops[6], ops[2]));
        assert_eq!(order.position(OpId(99)), None);
        let effects = f.effects()?;
        let pure: Vec<bool> = ops.iter().map(|op| effects.is_pure(*op)).collect();
        // `t.A` is defined as pure, `t.B` isn't. Therefore ops that contain a `t.B` aren't pure, either.
        assert_eq!(pure, [true, false, false, true, true, true, true, true]);
        for op in &ops {
            let of_ir = f.symbol(*op) == abi::symbol::YIELD || f.symbol(*op) == abi::symbol::RETURN;
            assert!(of_ir || effects.traits(*op) == f.traits(*op));
        }
        let names = f.names()?;
        let names: Vec<_> = names
            .iter()
            .map(|used| (f.text(used.name), used.count))
            .collect();
        let counts = [
            ("t.A", 3),
            ("onnx.If", 1),
            ("t.B", 1),
            ("yield", 2),
            ("return", 1),
        ];
        assert_eq!(names, counts);
        Ok(())
    });
    same.expect("works");
}

#[test]
fn call_graph_has_callees_and_callers() {
    let module = parse(
        "module {
          fn @main(%x) -> (%y) {
            %0 = local.f(%x)
            %1 = local.g(%0)
            return %1
          }
          fn @local.f(%x) -> (%y) { %0 = local.g(%x) %1 = local.g(%0) return %1 }
          fn @local.g(%x) -> (%y) { %0 = onnx.Relu(%x) return %0 }
        }",
    );
    let same = run_module(&module, |m, _| {
        let graph = m.call_graph()?;
        let mut text = String::new();
        for entry in graph.functions() {
            let named = |names: Vec<sdk::SymbolId>| {
                let names: Vec<&str> = names.into_iter().map(|name| m.text(name)).collect();
                names.join(", ")
            };
            let callees = named(graph.callees(entry.name).collect());
            let callers = named(graph.callers(entry.name).collect());
            text += &format!("{}: calls {callees}; of {callers}\n", m.text(entry.name));
        }
        expect![[r#"
            main: calls local.f, local.g; of 
            local.f: calls local.g; of main
            local.g: calls ; of main, local.f
        "#]]
        .assert_eq(&text);
        Ok(())
    });
    same.expect("works");
}

#[test]
fn deeply_nested_regions_are_analyzed() {
    let depth = 9_000;
    let open = "t.If(%c) region r { ".repeat(depth);
    let close = "yield } ".repeat(depth);
    let module = parse(&format!(
        "module {{ fn @main(%c, %x) -> (%y) {{ {open} {close} return %x }} }}"
    ));
    let main = module.function_named("main").expect("present");
    let defs = OpDefs::default();
    let ops = Operators::new(&defs, &module);
    let order: &analyses::OrderAnalysis = analyses::get(main, &ops);
    let outer = main.region(main.body()).first;
    let outer = order.of(outer).expect("present");
    assert_eq!((outer.position, outer.end as usize), (0, depth * 2));
    let liveness: &analyses::LivenessAnalysis = analyses::get(main, &ops);
    let x = main.args(main.body()).nth(1).expect("a parameter");
    assert_eq!(liveness.last_use(x), main.terminator(main.body()));
    let _: &analyses::EffectAnalysis = analyses::get(main, &ops);
}

#[test]
fn embedder_defines_analyses() {
    struct Ops(usize);
    impl analyses::FunctionAnalysis for Ops {
        const NAME: &'static str = "ops";
        fn compute(f: &ir::Function, ops: &Operators<'_>) -> Ops {
            Ops(analyses::get::<analyses::NameAnalysis>(f, ops)
                .iter()
                .map(|used| used.count as usize)
                .sum())
        }
    }
    let module = module();
    let main: &Arc<ir::Function> = module.function_named("main").expect("present");
    let defs = OpDefs::default();
    let ops = Operators::new(&defs, &module);
    let first: *const Ops = analyses::get(main, &ops);
    assert_eq!(analyses::get::<Ops>(main, &ops).0, 3);
    assert!(std::ptr::eq(first, analyses::get(main, &ops)));
}

/// Compares the columns with results computed op by op.
fn check(f: &Function) -> PassResult {
    let (order, effects, liveness, names) = (f.order()?, f.effects()?, f.liveness()?, f.names()?);
    let parent = |op: OpId| f.parent_op(f.parent_region(op));
    let parents = |op: OpId| std::iter::successors(parent(op), |op| parent(*op));
    let mut last: std::collections::HashMap<ValueId, OpId> = Default::default();
    let mut counts: std::collections::HashMap<&str, u32> = Default::default();
    for (position, op) in f.iter().enumerate() {
        assert_eq!(order.position(op), Some(position));
        assert_eq!(order.depth(op), Some(parents(op).count()));
        assert!(parents(op).all(|outer| order.is_nested(op, outer)));
        *counts.entry(f.name(op)).or_default() += 1;
        for value in f.operands(op).filter(|value| value.is_some()) {
            let home = match f.defining_op(value) {
                Some(def) => f.parent_region(def),
                None => home_of_arg(f, value),
            };
            let mut users = std::iter::once(op).chain(parents(op));
            let user = users.find(|op| f.parent_region(*op) == home);
            last.insert(value, user.ok_or("a value that its user doesn't see")?);
        }
    }
    let mut pure: std::collections::HashMap<OpId, bool> = Default::default();
    for op in f.iter() {
        let is_pure = f.traits(op).is_pure() || matches!(f.name(op), "yield" | "return");
        for op in std::iter::once(op).chain(parents(op)) {
            *pure.entry(op).or_insert(true) &= is_pure;
        }
    }
    for op in f.iter() {
        assert_eq!(effects.is_pure(op), pure[&op]);
        assert!(
            f.results(op)
                .iter()
                .all(|value| liveness.last_use(*value) == last.get(value).copied())
        );
    }
    for used in names.iter() {
        assert_eq!(counts.remove(f.text(used.name)), Some(used.count));
    }
    assert!(counts.is_empty());
    Ok(())
}

/// Returns the region that has a value as an argument. Constants belong to the body in this test.
fn home_of_arg(f: &Function, value: ValueId) -> RegionId {
    let regions = f.iter().flat_map(|op| f.regions(op).to_vec());
    let mut regions = std::iter::once(f.body()).chain(regions);
    regions
        .find(|region| f.args(*region).contains(&value))
        .unwrap_or(f.body())
}

#[test]
fn passes_never_see_stale_results() {
    let module = parse(NESTED);
    for seed in 0..8_u64 {
        let changed = run(&module, &TestFrame::with_ops(), move |f, cx| {
            let mut random = 0x9E37_79B9 + seed;
            let mut below = |n: u64| {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                ((random >> 33) % n) as u32
            };
            for _ in 0..400 {
                let (op, value) = (OpId(below(30)), ValueId(below(30)));
                let (region, at) = (RegionId(below(5)), OpId(below(30)));
                let name = ["t.A", "t.B", "onnx.If"][below(3) as usize];
                // Whether the edit succeeds doesn't matter here.
                let _ = match below(9) {
                    0 => f.erase_op(op),
                    1 => f.replace_op_with(op, &[value]),
                    2 => f.set_operand(op, 0, value),
                    3 => f.replace_uses(value, ValueId(below(30))),
                    4 => f.set_attr(op, "k", i64::from(value.0)),
                    5 => f.move_op(op, abi::Position::before(at)),
                    6 => f
                        .replace_op(op, OpBuilder::new(name).operand(value))
                        .map(drop),
                    7 => {
                        let new = OpBuilder::new(name).operand(value).untyped_results(1);
                        f.create_op(new, abi::Position::end_of(region)).map(drop)
                    }
                    _ => {
                        f.preserve::<Version>();
                        Ok(())
                    }
                };
                if below(3) == 0 {
                    check(f)?;
                    let version = f.version();
                    // Not preserved since, so it was computed for exactly this version.
                    let known = f.analysis::<Version>(cx)?.0;
                    assert!(known <= version);
                    f.set_function_attr("k", i64::from(value.0))?;
                    assert_eq!(f.analysis::<Version>(cx)?.0, f.version());
                }
            }
            check(f)
        });
        changed.expect("no stale results");
    }
}

#[test]
fn analyses_are_computed_on_several_threads() {
    let mut module = module();
    for i in 0..64 {
        let function = crate::support::function(&module, &format!("f{i}"));
        module.insert(function).expect("a new name");
    }
    let frame = TestFrame::new();
    let pass = |f: &mut Function, cx: &PassContext| -> PassResult {
        // All threads read one function at the same time, too.
        let shared = cx.module().ok_or("no module")?.snapshot("gone")?;
        let shared = shared.analysis::<Version>(cx)?;
        for _ in 0..50 {
            f.set_function_attr("k", 1)?;
            assert_eq!(f.analysis::<Version>(cx)?.0, f.version());
            check(f)?;
        }
        assert_eq!(
            shared.0,
            cx.module().ok_or("no module")?.snapshot("gone")?.version()
        );
        Ok(())
    };
    let (input, _) = passdock_core::boundary::ModuleInput::new(&module);
    std::thread::scope(|scope| {
        for half in 0..2 {
            let (input, frame, module) = (&input, &frame, &module);
            scope.spawn(move || {
                for function in module.functions().skip(half).step_by(2) {
                    let work = passdock_core::boundary::FunctionCode::Closure(&pass);
                    let (result, _) = run_on(input, frame, work, function);
                    result.expect("works").expect("changed");
                }
            });
        }
    });
}
