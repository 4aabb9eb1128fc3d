//! Nesting depths after regions are inlined.

use passdock_abi::{OpId, RegionId, ValueId};
use passdock_ir::{Edit, Function, Module, text, verify};

use crate::{function, inner, op, value};

/// Inlines a region and replaces the op's results with the yielded values.
fn collapse(f: &mut Function, parent: OpId, region: RegionId, args: &[ValueId]) -> Edit {
    f.inline_region(region, args)?;
    let terminator = f.terminator(region).expect("the terminator");
    let values: Vec<ValueId> = f
        .operands(terminator)
        .iter()
        .map(|slot| slot.value)
        .collect();
    f.replace_op_with(parent, &values)
}

const NAMES: &str = r#"module {
  fn @f(%x: f32[2], %c: bool[]) -> (%y: f32[2]) {
    %r = onnx.If(%c) {then_branch = region, else_branch = region} : f32[2]
      region then_branch {
        %k = const f32[2] [1.0, 2.0]
        %t = onnx.Add(%x, %k) : f32[2]
        %s = onnx.If(%c) {then_branch = region} : f32[2]
          region then_branch {
            %k2 = const f32[2] [3.0, 4.0]
            %u = onnx.Mul(%t, %k2) : f32[2]
            yield %u
          }
        yield %s
      }
      region else_branch {
        %t = onnx.Neg(%x) : f32[2]
        yield %t
      }
    %q = onnx.If(%c) {then_branch = region} : f32[2]
      region then_branch {
        %k = const f32[2] [5.0, 6.0]
        %d = onnx.Sub(%r, %k) : f32[2]
        yield %d
      }
    return %q
  }
}
"#;

#[test]
fn inlining_updates_depths_and_constants() {
    let mut module = text::parse(NAMES).expect("valid IR");
    let f = function(&mut module, "f");
    let parent = op(f, "onnx.If");
    collapse(f, parent, inner(f, "onnx.If"), &[]).expect("inlined");
    let f = function(&mut module, "f");
    let nested = inner(f, "onnx.If");
    assert_eq!(f.depth(nested), 1);
    verify::verify_module(&module).expect("valid depths");
    // A constant of a nested region is erased with the region that now contains it.
    let f = function(&mut module, "f");
    let parent = op(f, "onnx.If");
    f.inline_region(nested, &[]).expect("inlined");
    f.replace_op_with(parent, &[value(f, "x")])
        .expect("inlined");
    assert!(f.live_value(value(f, "k2")).is_ok());
    f.compact();
    verify::verify_module(&module).expect("valid after compaction");
}

/// Collapses 10,000 levels from the outermost one: each op is moved once.
#[test]
fn deep_regions_are_inlined_in_linear_time() {
    const LEVELS: usize = 10_000;
    let mut text = String::from("module {\n  fn @f(%c: bool[], %x: f32[]) -> (%y: f32[]) {\n");
    for level in 0..LEVELS {
        text += &format!(
            "%a{level} = onnx.Neg(%x) : f32[]\n%r{level} = onnx.If(%c) : f32[] region {{\n"
        );
    }
    text += "yield %x\n";
    for level in (0..LEVELS).rev() {
        text += &format!(
            "}} {} %r{level}\n",
            if level == 0 { "return" } else { "yield" }
        );
    }
    text += "  }\n}\n";
    let mut module: Module = text::parse(&text).expect("valid IR");
    let f = function(&mut module, "f");
    let terminator = f.terminator(f.body()).expect("the terminator");
    for _ in 0..LEVELS {
        let parent = f.op(terminator).prev;
        let region = f.regions_of(parent).next().expect("one");
        collapse(f, parent, region, &[]).expect("inlined");
    }
    verify::verify_module(&module).expect("valid after edits");
    assert_eq!(module.op_count(), LEVELS);
}
