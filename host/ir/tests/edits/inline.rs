//! Nesting depths after regions are inlined.

use passdock_abi::{OpId, RegionId, ValueId};
use passdock_ir::{Edit, Function, Module, text, verify};

use crate::{function, inner, op, value};

/// Inlines a region and replaces the op's results by the yielded values.
fn collapse(f: &mut Function, holder: OpId, region: RegionId, args: &[ValueId]) -> Edit {
    f.inline_region(region, args)?;
    let terminator = f.terminator(region).expect("it stays");
    let values: Vec<ValueId> = f
        .operands(terminator)
        .iter()
        .map(|slot| slot.value)
        .collect();
    f.replace_op_with(holder, &values)
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
fn depths_and_constants_come_along() {
    let mut module = text::parse(NAMES).expect("it can be read");
    let f = function(&mut module, "f");
    let holder = op(f, "onnx.If");
    collapse(f, holder, inner(f, "onnx.If"), &[]).expect("it can be done");
    let f = function(&mut module, "f");
    let nested = inner(f, "onnx.If");
    assert_eq!(f.depth(nested), 1);
    verify::verify_module(&module).expect("depths are right");
    // A constant of a nested region is erased with the region that now contains it.
    let f = function(&mut module, "f");
    let holder = op(f, "onnx.If");
    f.inline_region(nested, &[]).expect("it can be done");
    f.replace_op_with(holder, &[value(f, "x")])
        .expect("it can be done");
    assert!(f.live_value(value(f, "k2")).is_ok());
    f.compact();
    verify::verify_module(&module).expect("compacting keeps it whole");
}

/// Collapses 10,000 levels from the outermost one: each op is moved once.
#[test]
fn deep_regions_collapse_in_linear_time() {
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
    let mut module: Module = text::parse(&text).expect("it can be read");
    let f = function(&mut module, "f");
    let terminator = f.terminator(f.body()).expect("it returns");
    for _ in 0..LEVELS {
        let holder = f.op(terminator).prev;
        let region = f.regions_of(holder).next().expect("one");
        collapse(f, holder, region, &[]).expect("it can be done");
    }
    verify::verify_module(&module).expect("edits keep it whole");
    assert_eq!(module.op_count(), LEVELS);
}
