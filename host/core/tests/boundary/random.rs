//! Random edits.

use passdock_abi as abi;
use passdock_abi::{DType, Dim, OpId, RegionId, SymbolId, TypeId, ValueId};
use passdock_ir as ir;
use passdock_plugin_api as sdk;
use passdock_plugin_api::OpBuilder;

use crate::support::{TestFrame, module, run};

/// Edits with random ids cause errors, never a crash. The result satisfies every invariant except the terminators of
/// regions, which are the pass's responsibility.
#[test]
fn random_calls_do_not_crash() {
    let module = module();
    let changed = run(&module, &TestFrame::with_ops(), |f, cx| {
        let mut random = 0x9E37_79B9_u64;
        let mut below = |n: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((random >> 33) % n) as u32
        };
        for _ in 0..20_000 {
            let id = |r: u32| if r == 40 { u32::MAX } else { r };
            let (a, b, c) = (id(below(41)), id(below(41)), id(below(41)));
            let (op, value, region, ty) = (OpId(a), ValueId(b), RegionId(c), TypeId(b));
            let name = ["t.A", "t.B", "onnx.If"][below(3) as usize];
            let at = match below(2) {
                0 => abi::Position::before(OpId(b)),
                _ => abi::Position::end_of(region),
            };
            let spec = sdk::TypeSpec::shaped(DType::I64, &[i64::from(a & 3)]);
            let _ = match below(20) {
                0 => f.erase_op(op),
                1 => f.replace_op_with(op, &[value]),
                2 => f.set_operand(op, (c & 7) as usize, value),
                3 => f.replace_uses(value, ValueId(c)),
                4 => f.set_attr(op, "k", i64::from(b)),
                5 => f.remove_attr(op, "k"),
                6 => f.set_type(value, TypeId(a)),
                7 => f.set_value_name(value, name),
                8 => f.move_op(op, at),
                9 => f.erase_constant(abi::ConstId(a)),
                10 => f.set_results(region, &[value]),
                11 | 12 => f
                    .create_op(
                        OpBuilder::new(name).operand(value).result(ty).region("r"),
                        at,
                    )
                    .map(drop),
                13 => f
                    .replace_op(op, OpBuilder::new(name).operand(value).result(ty))
                    .map(drop),
                14 if below(50) == 0 => f.clone_region(region, at, &[value], &[]).map(drop),
                15 => f.add_arg(region, name, ty).map(drop),
                16 => f.add_type(&spec).map(drop),
                17 => {
                    let data = vec![1; below(40) as usize];
                    f.add_constant(&sdk::ConstantSpec::new(ty, &data)).map(drop)
                }
                18 => f
                    .add_expr(
                        abi::ExprKind(c),
                        Dim::symbol(SymbolId(a)),
                        Dim::constant(b.into()),
                    )
                    .map(drop),
                _ if f.is_live(op) => cx.infer(f, op),
                _ => Ok(()),
            };
        }
        Ok(())
    });
    let changed = changed.expect("no call crashed").expect("changed");
    let Err(mut violations) = ir::verify::verify(&changed) else {
        return;
    };
    violations.retain(|v| v.invariant != ir::verify::Invariant::Terminators);
    let messages: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(messages, [""; 0]);
}
