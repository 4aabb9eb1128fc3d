//! Each invariant, broken: the only place that writes records past the edits.

use expect_test::{Expect, expect};
use passdock_abi::{
    AttrKind, Dim, DimKind, FunctionKind, LocId, LocKind, Op, OpId, Region, RegionId, SymbolId,
    TypeId, TypeKind, UseId, Value, ValueId, symbol,
};

use super::{Invariant, Violation, verify, verify_module};
use crate::Function;
use crate::function::MAX_LIST;

mod random;

const SOURCE: &str = r#"module {
  fn @f(%x: f32[n,n*2+1], %c: bool[]) -> (%y: f32[2]) opset("" = 17) loc("g") {
    %w = const f32[2] [1, 2]
    %a = onnx.Add(%x, %w) {axis = 1, names = ["a", "b"], t = tensor f32[] 1} : f32[2] loc("a", "b")
    %b, _ = onnx.Split(%a, _) : f32[2], ?
    %r = onnx.If(%c) {then_branch = region, else_branch = region} : f32[2]
      region then_branch {
        %t = onnx.Relu(%b) : f32[2]
        yield %t
      }
      region else_branch {
        %k = const f32[2] splat(0)
        yield %k
      }
    return %r
  }
}
"#;

/// Breaks a function and checks the first thing that the verifier says.
#[track_caller]
fn check(invariant: Invariant, broken: impl FnOnce(&mut Function), expected: Expect) {
    let mut module = crate::text::parse(SOURCE).expect("the source is right");
    verify_module(&module).expect("the source is right");
    let name = module.names().next().expect("one function");
    let function = module.function_mut(name).expect("one function");
    broken(function);
    expect_first(invariant, verify(function), expected);
}

/// Checks the first thing that the verifier says.
#[track_caller]
fn expect_first(invariant: Invariant, said: Result<(), Vec<Violation>>, expected: Expect) {
    let violations = said.expect_err("it is broken");
    assert_eq!(violations[0].invariant, invariant, "{violations:?}");
    expected.assert_eq(&violations[0].to_string());
}

fn value(f: &Function, name: &str) -> ValueId {
    let symbol = f.symbols().find(name);
    let at = f.values.iter().position(|value| Some(value.name) == symbol);
    ValueId(at.expect("a value of this name") as u32)
}

fn op(f: &Function, name: &str) -> OpId {
    let symbol = f.symbols().find(name);
    let at = f.ops.iter().position(|op| Some(op.name) == symbol);
    OpId(at.expect("an op of this name") as u32)
}

#[test]
fn columns() {
    check(
        Invariant::Columns,
        |f| _ = f.levels.pop(),
        expect!["@f: There are 3 regions and 2 entries beside them. [columns]"],
    );
}

#[test]
fn function() {
    check(
        Invariant::Function,
        |f| f.kind = FunctionKind(7),
        expect!["@f: The function's kind 7 isn't known. [function]"],
    );
    check(
        Invariant::Function,
        |f| f.opsets.push(f.opsets[0]),
        expect![[r#"@f: The opset domain "" isn't a symbol or stands twice. [function]"#]],
    );
}

#[test]
fn types() {
    check(
        Invariant::Types,
        |f| f.types[1].kind = TypeKind(77),
        expect![
            "@f: type1 isn't a type: it is of no known kind, or its parts aren't earlier types and dims of the function. [types]"
        ],
    );
    check(
        Invariant::Types,
        |f| {
            // A sequence of itself.
            let id = f.types.len() as u32;
            f.ids.push(id);
            let mut ty = f.types[0];
            (ty.kind, ty.aux.start, ty.aux.len) = (TypeKind::SEQUENCE, f.ids.len() as u32 - 1, 1);
            f.types.push(ty);
        },
        expect![
            "@f: type5 isn't a type: it is of no known kind, or its parts aren't earlier types and dims of the function. [types]"
        ],
    );
    check(
        Invariant::Types,
        |f| {
            let mut ty = TypeId(0);
            for _ in 0..70 {
                ty = f.add_type(crate::TypeSpec::Sequence(ty));
            }
        },
        expect![
            "@f: type69 isn't a type: it is of no known kind, or its parts aren't earlier types and dims of the function. [types]"
        ],
    );
}

#[test]
fn dims() {
    check(
        Invariant::Dims,
        |f| {
            f.exprs[0].rhs = Dim {
                kind: DimKind::EXPR,
                ..f.exprs[0].rhs
            }
        },
        expect![
            "@f: The dim expression expr0 isn't made of earlier ones, or of too many terms. [dims]"
        ],
    );
    check(
        Invariant::Dims,
        |f| f.dims[0] = Dim::symbol(SymbolId(1 << 20)),
        expect!["@f: The dim at 0 of the pool isn't one. [dims]"],
    );
}

#[test]
fn locations() {
    check(
        Invariant::Locations,
        |f| f.locs[0].kind = LocKind(9),
        expect![
            "@f: loc0 isn't a location: it is of no known kind, or its name or parts aren't there. [locations]"
        ],
    );
}

#[test]
fn body() {
    check(
        Invariant::Body,
        |f| f.body = RegionId(99),
        expect![
            "@f: The body region99 isn't a live region at depth 0 without an op around it. [body]"
        ],
    );
    check(
        Invariant::Body,
        |f| f.regions[0].parent = OpId(0),
        expect![
            "@f: The body region0 isn't a live region at depth 0 without an op around it. [body]"
        ],
    );
}

#[test]
fn order() {
    check(
        Invariant::Order,
        |f| {
            let add = op(f, "onnx.Add");
            f.ops[add.index()].next = add;
        },
        expect!["@f: op0 isn't linked as the live op after op0 in region0. [order]"],
    );
    check(
        Invariant::Order,
        |f| {
            let split = op(f, "onnx.Split");
            f.ops[split.index()].order = 0;
        },
        expect!["@f: op1 isn't linked as the live op after op0 in region0. [order]"],
    );
    check(
        Invariant::Order,
        |f| f.regions[0].last = OpId(0),
        expect!["@f: The last op of region0 is op6, not op0. [order]"],
    );
}

#[test]
fn regions() {
    check(
        Invariant::Regions,
        |f| f.regions[1].flags |= Region::DEAD,
        expect!["@f: op2 (onnx.If) lists region1, which isn't a live region of its own. [regions]"],
    );
    check(
        Invariant::Regions,
        |f| f.levels[1] = 5,
        expect![
            "@f: region1 is at depth 1; its record says otherwise, or it is deeper than 10000. [regions]"
        ],
    );
    check(
        Invariant::Regions,
        |f| {
            // One region twice.
            let at = f.ops[op(f, "onnx.If").index()].regions.start as usize;
            f.ids[at + 1] = f.ids[at];
        },
        expect!["@f: op2 (onnx.If) lists region1, which isn't a live region of its own. [regions]"],
    );
}

#[test]
fn terminators() {
    check(
        Invariant::Terminators,
        |f| {
            let at = op(f, "return").index();
            f.ops[at].name = symbol::YIELD;
        },
        expect![
            "@f: region0 has to end with `return` and an operand for each of its 1 ports. [terminators]"
        ],
    );
    check(
        Invariant::Terminators,
        |f| f.regions[1].ports.len = 0,
        expect![
            "@f: region1 has to end with `yield` and an operand for each of its 0 ports. [terminators]"
        ],
    );
    check(
        Invariant::Terminators,
        |f| {
            let at = op(f, "onnx.Add").index();
            f.ops[at].name = symbol::RETURN;
        },
        expect![
            "@f: op0 (return) stands inside its region, or has results, regions or attributes; it ends a region. [terminators]"
        ],
    );
}

#[test]
fn reachable() {
    check(
        Invariant::Reachable,
        |f| f.live_ops += 1,
        expect!["@f: 7 ops are alive, and 8 are counted. [reachable]"],
    );
    check(
        Invariant::Reachable,
        |f| {
            f.ops.push(Op {
                operands: Default::default(),
                results: Default::default(),
                ..f.ops[0]
            });
            f.live_ops += 1;
        },
        expect!["@f: op7 (onnx.Add) is alive and in no region. [reachable]"],
    );
    check(
        Invariant::Reachable,
        |f| _ = f.make_value(Value::RESULT, OpId::NONE.0, 0, TypeId(0)),
        expect!["@f: the value v9 is alive and nothing defines it. [reachable]"],
    );
}

#[test]
fn limits() {
    check(
        Invariant::Limits,
        |f| {
            let at = op(f, "onnx.Add").index();
            f.ops[at].attrs.len = MAX_LIST as u32 + 1;
        },
        expect!["@f: A list of op0 is longer than 16777216. [limits]"],
    );
}

#[test]
fn ops() {
    check(
        Invariant::Ops,
        |f| f.ops[0].name = SymbolId(1 << 20),
        expect!["@f: The name or location of op0 isn't there. [ops]"],
    );
    check(
        Invariant::Ops,
        |f| f.ops[0].loc = LocId(1000),
        expect!["@f: The name or location of op0 isn't there. [ops]"],
    );
    check(
        Invariant::Ops,
        |f| f.ops[0].operands.start = u32::MAX,
        expect!["@f: The operands of op0 lie outside their pool. [ops]"],
    );
}

#[test]
fn definitions() {
    check(
        Invariant::Definitions,
        |f| {
            let at = value(f, "b").index();
            f.values[at].index = 1;
        },
        expect!["@f: The record of %b doesn't say what defines it. [definitions]"],
    );
    check(
        Invariant::Definitions,
        |f| {
            let at = value(f, "a").index();
            f.values[at].flags |= Value::DEAD;
        },
        expect!["@f: The record of %a doesn't say what defines it. [definitions]"],
    );
}

#[test]
fn values() {
    check(
        Invariant::Values,
        |f| {
            let at = value(f, "a").index();
            f.values[at].ty = TypeId(1000);
        },
        expect!["@f: The type, the name or the flags of v3 aren't known. [values]"],
    );
}

#[test]
fn names() {
    check(
        Invariant::Names,
        |f| {
            let (a, b) = (value(f, "a"), value(f, "b"));
            f.values[b.index()].name = f.values[a.index()].name;
        },
        expect!["@f: Another value called %a is visible where it is defined. [names]"],
    );
    check(
        Invariant::Names,
        |f| {
            // Shadowing.
            let (a, t) = (value(f, "a"), value(f, "t"));
            f.values[t.index()].name = f.values[a.index()].name;
        },
        expect!["@f: Another value called %a is visible where it is defined. [names]"],
    );
}

#[test]
fn absent() {
    check(
        Invariant::Absent,
        |f| {
            let at = value(f, "b").index();
            f.values[at].flags |= Value::ABSENT;
        },
        expect!["@f: %b is left out by its op, and it is used or no result. [absent]"],
    );
}

#[test]
fn visible() {
    check(
        Invariant::Visible,
        |f| {
            // A region's value behind it.
            let (t, end) = (value(f, "t"), op(f, "return"));
            let slot = UseId(f.ops[end.index()].operands.start);
            f.unlink_use(slot);
            f.link_use(slot, t);
        },
        expect!["@f: Operand 0 of op6 (return) is %t, which isn't visible. [visible]"],
    );
    check(
        Invariant::Visible,
        |f| {
            let slot = UseId(f.ops[op(f, "onnx.Add").index()].operands.start);
            f.uses[slot.index()].value = ValueId(1000);
        },
        expect![
            "@f: Operand 0 of op0 (onnx.Add) is the value v1000, which isn't visible. [visible]"
        ],
    );
}

#[test]
fn uses() {
    check(
        Invariant::Uses,
        |f| {
            let at = value(f, "a").index();
            f.values[at].use_count = 9;
        },
        expect!["@f: The use list of %a is broken after 1 uses. [uses]"],
    );
    check(
        Invariant::Uses,
        |f| {
            let x = value(f, "x").index();
            f.values[x].first_use = UseId::NONE;
            f.values[x].use_count = 0;
        },
        expect!["@f: The slot use0 of op0 (onnx.Add) isn't in the use list of %x. [uses]"],
    );
    check(
        Invariant::Uses,
        |f| {
            // A list that ends in a circle.
            let slot = f.values[value(f, "x").index()].first_use;
            f.uses[slot.index()].next = slot;
        },
        expect!["@f: The use list of %x is broken after 1 uses. [uses]"],
    );
    check(
        Invariant::Uses,
        |f| f.uses[0].user = OpId(3),
        expect!["@f: The slot of operand 0 of op0 (onnx.Add) isn't the op's own. [uses]"],
    );
}

#[test]
fn ports() {
    check(
        Invariant::Ports,
        |f| {
            let at = f.regions[0].ports.start as usize;
            f.ports[at].ty = TypeId(1000);
        },
        expect!["@f: The name or type of port 0 of region0 isn't there. [ports]"],
    );
}

#[test]
fn attributes() {
    check(
        Invariant::Attributes,
        |f| f.attrs[0].kind = AttrKind(99),
        expect![
            "@f: The attribute `axis` of op0 (onnx.Add) stands twice, or its kind or value isn't right. [attributes]"
        ],
    );
    check(
        Invariant::Attributes,
        |f| f.attrs[1].name = f.attrs[0].name,
        expect![
            "@f: The attribute `axis` of op0 (onnx.Add) stands twice, or its kind or value isn't right. [attributes]"
        ],
    );
    check(
        Invariant::Attributes,
        |f| {
            let branch = f
                .attrs
                .iter()
                .position(|attr| attr.kind == AttrKind::REGION);
            f.attrs[branch.expect("a region")].bits = 0;
        },
        expect![
            "@f: The attribute `then_branch` of op2 (onnx.If) stands twice, or its kind or value isn't right. [attributes]"
        ],
    );
    check(
        Invariant::Attributes,
        |f| f.attrs[1].list.len = 1000,
        expect![
            "@f: The attribute `names` of op0 (onnx.Add) stands twice, or its kind or value isn't right. [attributes]"
        ],
    );
}

#[test]
fn constants() {
    check(
        Invariant::Constants,
        |f| f.constants[0].byte_len = 9,
        expect!["@f: The record of const0 doesn't say what its data is. [constants]"],
    );
    check(
        Invariant::Constants,
        |f| f.constants[0].ty = TypeId(0),
        expect![
            "@f: const0 is broken: A constant's type has to be a scalar, or a tensor whose dims are all known. [constants]"
        ],
    );
    check(
        Invariant::Constants,
        |f| {
            // An attribute's tensor.
            let at = f.constants.iter().position(|c| c.value.is_none());
            f.constants[at.expect("a tensor")].value = ValueId(1);
        },
        expect!["@f: const1 belongs to v1, which doesn't say so. [constants]"],
    );
    check(
        Invariant::Constants,
        |f| {
            let at = f.constants.iter().position(|c| c.value.is_none());
            f.constants[at.expect("a tensor")].region = RegionId(1000);
            let attr = f.attrs.iter().position(|a| a.kind == AttrKind::TENSOR);
            f.attrs[attr.expect("a tensor")].kind = AttrKind::NONE;
        },
        expect!["@f: The region or the location of const1 isn't there. [constants]"],
    );
}

#[test]
fn modules() {
    let mut module = crate::text::parse(SOURCE).expect("the source is right");
    let name = module.names().next().expect("one function");
    let other = module.symbols().intern("other");
    module.function_mut(name).expect("one function").name = other;
    expect_first(
        Invariant::Module,
        verify_module(&module),
        expect![
            "@other: The module keeps this function under another name or with other symbols. [module]"
        ],
    );
}

/// By a record that is written over here or, where text can break it and the parser lets it, by the
/// file of its name beside the verifier.
#[test]
fn every_invariant_is_broken_by_a_case_and_explained() {
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/src/verify");
    let (tests, header) = (include_str!("tests.rs"), include_str!("mod.rs"));
    for invariant in Invariant::ALL {
        let name = invariant.name();
        let file = std::fs::read_to_string(format!("{files}/{name}.ir")).unwrap_or_default();
        let by_text = file.contains(&format!(" [{name}]\n"));
        let by_record = tests.contains(&format!("Invariant::{invariant:?},"));
        assert!(by_text || by_record, "{invariant:?}");
        assert!(
            header.contains(&format!("//! - `{name}`:")),
            "{invariant:?}"
        );
    }
    for file in std::fs::read_dir(files).expect("the folder is there") {
        let name = file.expect("readable").file_name();
        if !name.to_string_lossy().ends_with(".ir") {
            continue;
        }
        let is_one = |invariant: &Invariant| *name == *format!("{}.ir", invariant.name());
        assert!(Invariant::ALL.iter().any(is_one), "{name:?}");
    }
}
