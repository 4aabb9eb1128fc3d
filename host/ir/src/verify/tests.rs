//! Violations of each invariant. Only these tests write records without the edits.

use expect_test::{expect, expect_file};
use passdock_abi::{
    AttrKind, Dim, DimKind, FunctionKind, LocId, LocKind, Op, OpId, Region, RegionId, SymbolId,
    TypeId, TypeKind, UseId, Value, ValueId, symbol,
};

use super::{Invariant, verify, verify_module};
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

/// The name of an invariant, and functions that violate it.
type Case = (&'static str, &'static [fn(&mut Function)]);

/// Checks the first violation reported for each broken function.
#[test]
fn broken_records_are_reported() {
    let cases: &[Case] = &[
        ("columns", &[|f| _ = f.data.pop()]),
        (
            "function",
            &[|f| f.kind = FunctionKind(7), |f| f.opsets.push(f.opsets[0])],
        ),
        (
            "types",
            &[
                |f| f.types[1].kind = TypeKind(77),
                |f| {
                    // A sequence that contains itself.
                    let id = f.types.len() as u32;
                    f.ids.push(id);
                    let mut ty = f.types[0];
                    (ty.kind, ty.aux.start, ty.aux.len) =
                        (TypeKind::SEQUENCE, f.ids.len() as u32 - 1, 1);
                    f.types.push(ty);
                },
                |f| {
                    let mut ty = TypeId(0);
                    for _ in 0..70 {
                        ty = f.add_type(crate::TypeData::Sequence(ty));
                    }
                },
            ],
        ),
        (
            "dims",
            &[
                |f| {
                    f.exprs[0].rhs = Dim {
                        kind: DimKind::EXPR,
                        ..f.exprs[0].rhs
                    }
                },
                |f| f.dims[0] = Dim::symbol(SymbolId(1 << 20)),
            ],
        ),
        ("locations", &[|f| f.locs[0].kind = LocKind(9)]),
        (
            "body",
            &[|f| f.body = RegionId(99), |f| f.regions[0].parent = OpId(0)],
        ),
        (
            "order",
            &[
                |f| {
                    let add = op(f, "onnx.Add");
                    f.ops[add.index()].next = add;
                },
                |f| {
                    let split = op(f, "onnx.Split");
                    f.ops[split.index()].order = 0;
                },
                |f| f.regions[0].last = OpId(0),
            ],
        ),
        (
            "regions",
            &[
                |f| f.regions[1].flags |= Region::DEAD,
                |f| {
                    // The same region twice.
                    let at = f.ops[op(f, "onnx.If").index()].regions.start as usize;
                    f.ids[at + 1] = f.ids[at];
                },
            ],
        ),
        (
            "terminators",
            &[
                |f| {
                    let at = op(f, "return").index();
                    f.ops[at].name = symbol::YIELD;
                },
                |f| f.regions[1].ports.len = 0,
                |f| {
                    let at = op(f, "onnx.Add").index();
                    f.ops[at].name = symbol::RETURN;
                },
            ],
        ),
        (
            "reachable",
            &[
                |f| f.live_ops += 1,
                |f| {
                    f.ops.push(Op {
                        operands: Default::default(),
                        results: Default::default(),
                        ..f.ops[0]
                    });
                    f.live_ops += 1;
                },
                |f| _ = f.make_value(Value::RESULT, OpId::NONE.0, 0, TypeId(0)),
            ],
        ),
        (
            "limits",
            &[|f| {
                let at = op(f, "onnx.Add").index();
                f.ops[at].attrs.len = MAX_LIST as u32 + 1;
            }],
        ),
        (
            "ops",
            &[
                |f| f.ops[0].name = SymbolId(1 << 20),
                |f| f.ops[0].loc = LocId(1000),
                |f| f.ops[0].operands.start = u32::MAX,
            ],
        ),
        (
            "definitions",
            &[
                |f| {
                    let at = value(f, "b").index();
                    f.values[at].index = 1;
                },
                |f| {
                    let at = value(f, "a").index();
                    f.values[at].flags |= Value::DEAD;
                },
            ],
        ),
        (
            "values",
            &[|f| {
                let at = value(f, "a").index();
                f.values[at].ty = TypeId(1000);
            }],
        ),
        (
            "names",
            &[
                |f| {
                    let (a, b) = (value(f, "a"), value(f, "b"));
                    f.values[b.index()].name = f.values[a.index()].name;
                },
                |f| {
                    // Shadowing.
                    let (a, t) = (value(f, "a"), value(f, "t"));
                    f.values[t.index()].name = f.values[a.index()].name;
                },
            ],
        ),
        (
            "absent",
            &[|f| {
                let at = value(f, "b").index();
                f.values[at].flags |= Value::ABSENT;
            }],
        ),
        (
            "visible",
            &[
                |f| {
                    // A value of a region, used after the region.
                    let (t, end) = (value(f, "t"), op(f, "return"));
                    let slot = UseId(f.ops[end.index()].operands.start);
                    f.unlink_use(slot);
                    f.link_use(slot, t);
                },
                |f| {
                    let slot = UseId(f.ops[op(f, "onnx.Add").index()].operands.start);
                    f.uses[slot.index()].value = ValueId(1000);
                },
            ],
        ),
        (
            "uses",
            &[
                |f| {
                    let at = value(f, "a").index();
                    f.values[at].use_count = 9;
                },
                |f| {
                    let x = value(f, "x").index();
                    f.values[x].first_use = UseId::NONE;
                    f.values[x].use_count = 0;
                },
                |f| {
                    // A cyclic list.
                    let slot = f.values[value(f, "x").index()].first_use;
                    f.uses[slot.index()].next = slot;
                },
                |f| f.uses[0].user = OpId(3),
            ],
        ),
        (
            "ports",
            &[|f| {
                let at = f.regions[0].ports.start as usize;
                f.ports[at].ty = TypeId(1000);
            }],
        ),
        (
            "attributes",
            &[
                |f| f.attrs[0].kind = AttrKind(99),
                |f| f.attrs[1].name = f.attrs[0].name,
                |f| {
                    let branch = f
                        .attrs
                        .iter()
                        .position(|attr| attr.kind == AttrKind::REGION);
                    f.attrs[branch.expect("a region")].bits = 0;
                },
                |f| f.attrs[1].list.len = 1000,
            ],
        ),
        (
            "constants",
            &[
                |f| f.constants[0].byte_len = 9,
                |f| f.constants[0].ty = TypeId(0),
                |f| {
                    // An attribute's tensor.
                    let at = f.constants.iter().position(|c| c.value.is_none());
                    f.constants[at.expect("a tensor")].value = ValueId(1);
                },
                |f| {
                    let at = f.constants.iter().position(|c| c.value.is_none());
                    f.constants[at.expect("a tensor")].region = RegionId(1000);
                    let attr = f.attrs.iter().position(|a| a.kind == AttrKind::TENSOR);
                    f.attrs[attr.expect("a tensor")].kind = AttrKind::NONE;
                },
            ],
        ),
    ];
    let mut all = String::new();
    for (name, edits) in cases {
        all += &format!("# {name}\n");
        for edit in *edits {
            let mut module = crate::text::parse(SOURCE).expect("valid IR");
            verify_module(&module).expect("valid IR");
            let name = module.names().next().expect("one function");
            let function = module.function_mut(name).expect("one function");
            edit(function);
            let violations = verify(function).expect_err("invalid IR");
            all += &format!("{}\n", violations[0]);
        }
        all += "\n";
    }
    expect_file!["tests/broken.txt"].assert_eq(&all);
}

#[test]
fn renamed_function_of_a_module_is_reported() {
    let mut module = crate::text::parse(SOURCE).expect("valid IR");
    let name = module.names().next().expect("one function");
    let other = module.symbols().intern("other");
    module.function_mut(name).expect("one function").name = other;
    let violations = verify_module(&module).expect_err("invalid IR");
    expect!["@other: the module has this function under another name or with another symbol table [module]"]
    .assert_eq(&violations[0].to_string());
}

/// The case is a record written above or, where the parser accepts it, the text file of the invariant's name in
/// `src/verify`.
#[test]
fn each_invariant_has_a_case_and_documentation() {
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/src/verify");
    let (records, header) = (include_str!("tests/broken.txt"), include_str!("mod.rs"));
    for invariant in Invariant::ALL {
        let name = invariant.name();
        let file = std::fs::read_to_string(format!("{files}/{name}.ir")).unwrap_or_default();
        let by_text = file.contains(&format!(" [{name}]\n"));
        let by_record = records.contains(&format!(" [{name}]\n"));
        assert!(by_text || by_record || name == "module", "{invariant:?}");
        assert!(
            header.contains(&format!("//! - `{name}`:")),
            "{invariant:?}"
        );
    }
    for file in std::fs::read_dir(files).expect("the directory") {
        let name = file.expect("readable").file_name();
        if !name.to_string_lossy().ends_with(".ir") {
            continue;
        }
        let is_one = |invariant: &Invariant| *name == *format!("{}.ir", invariant.name());
        assert!(Invariant::ALL.iter().any(is_one), "{name:?}");
    }
}
