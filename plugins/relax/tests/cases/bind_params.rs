//! Cases of `relax.transform.BindParams`.

use expect_test::{Expect, expect};

use crate::support;

#[track_caller]
fn check(options: &str, source: &str, expected: Expect) {
    support::check_options("relax.transform.BindParams", options, source, expected);
}

const SCALE: &str = r#"module {
  fn @main(%x: f32[n,2], %scale: f32[], %shift: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
    %0 = onnx.Mul(%x, %scale) : f32[n,2]
    %1 = onnx.Add(%0, %shift) : f32[n,2]
    return %1
  }
}"#;

#[test]
fn a_parameter_becomes_a_constant_of_its_name() {
    check(
        "scale = 0.5",
        SCALE,
        expect![[r#"
        module {
          fn @main(%x: f32[n,2], %shift: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
            %scale = const f32[] 0.5
            %0 = onnx.Mul(%x, %scale) : f32[n,2]
            %1 = onnx.Add(%0, %shift) : f32[n,2]
            return %1
          }
        }
    "#]],
    );
}

#[test]
fn the_shape_of_a_value_is_that_of_the_parameter() {
    check(
        "shift = [[1, 2], [3, 4], [5, 6]]",
        SCALE,
        expect![[r#"
        module {
          fn @main(%x: f32[3,2], %scale: f32[]) -> (%y: f32[3,2]) opset("" = 17) {
            %shift = const f32[3,2] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
            %0 = onnx.Mul(%x, %scale) : f32[3,2]
            %1 = onnx.Add(%0, %shift) : f32[3,2]
            return %1
          }
        }
    "#]],
    );
}

#[test]
fn nothing_to_bind_changes_nothing() {
    check(
        "",
        SCALE,
        expect![[r#"
        module {
          fn @main(%x: f32[n,2], %scale: f32[], %shift: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
            %0 = onnx.Mul(%x, %scale) : f32[n,2]
            %1 = onnx.Add(%0, %shift) : f32[n,2]
            return %1
          }
        }
    "#]],
    );
    check(
        "defaults = true",
        SCALE,
        expect![[r#"
        module {
          fn @main(%x: f32[n,2], %scale: f32[], %shift: f32[n,2]) -> (%y: f32[n,2]) opset("" = 17) {
            %0 = onnx.Mul(%x, %scale) : f32[n,2]
            %1 = onnx.Add(%0, %shift) : f32[n,2]
            return %1
          }
        }
    "#]],
    );
}

#[test]
fn a_name_that_no_parameter_has_is_an_error() {
    check(
        "scal = 1.0",
        SCALE,
        expect![[r#"
            error[config]: The model has no parameter `scal`. Did you mean `scale`? There are: `x`, `scale`, `shift`.
             |
             = in pass relax.transform.BindParams of plugin relax"#]],
    );
}

#[test]
fn what_is_bound_twice_is_an_error() {
    check(
        "scale = 1.0, params = { scale = 2.0 }",
        SCALE,
        expect![[r#"
        error[config]: `scale` is given twice: by itself and in the field `params`.
         |
         = help: Leave one of them out."#]],
    );
}

#[test]
fn another_shape_is_an_error() {
    check(
        "scale = [1.0]",
        SCALE,
        expect![[r#"
            error[config]: The parameter `scale` is f32[] and can't be [1.0]: its shape is [1].
             |
             = in pass relax.transform.BindParams of plugin relax, function @main"#]],
    );
    check(
        "shift = [[1.0, 2.0, 3.0]]",
        SCALE,
        expect![[r#"
            error[config]: The parameter `shift` is f32[n,2] and can't be [[1.0, 2.0, 3.0]]: its shape is [1, 3].
             |
             = in pass relax.transform.BindParams of plugin relax, function @main"#]],
    );
    check(
        "shift = [[1.0, 2.0], [3.0]]",
        SCALE,
        expect![[r#"
            error[config]: The parameter `shift` is f32[n,2] and can't be [[1.0, 2.0], [3.0]]: the lists in it aren't of one length.
             |
             = in pass relax.transform.BindParams of plugin relax, function @main"#]],
    );
}

const TYPES: &str = r#"module {
  fn @main(%i8: i8[], %u64: u64[], %f16: f16[], %bf16: bf16[2], %b: bool[1], %s: str[2], %f: f32[], %z: f64[0], %c: c64[]) -> () opset("" = 17) {
    acme.Use(%i8, %u64, %f16, %bf16, %b, %s, %f, %z, %c)
    return
  }
}"#;

#[test]
fn values_of_all_kinds() {
    let all = "i8 = -128, u64 = 9007199254740993, f16 = 0.1, bf16 = [1, inf], b = [true], \
               s = [\"é\", \"\"], f = 16777216, z = []";
    check(
        all,
        TYPES,
        expect![[r#"
            module {
              fn @main(%c: c64[]) opset("" = 17) {
                %i8 = const i8[] -128
                %u64 = const u64[] 9007199254740993
                %f16 = const f16[] 0.099975586
                %bf16 = const bf16[2] [1.0, inf]
                %b = const bool[1] [true]
                %s = const str[2] ["é", ""]
                %f = const f32[] 16777216.0
                %z = const f64[0] []
                acme.Use(%i8, %u64, %f16, %bf16, %b, %s, %f, %z, %c)
                return
              }
            }
        "#]],
    );
}

#[test]
fn what_is_not_a_value_of_the_type_is_an_error() {
    let wrong = [
        "i8 = 128",
        "i8 = 1.0",
        "i8 = true",
        "u64 = -1",
        "f16 = 65520.0",
        "f16 = 2049",
        "f = 16777217",
        "f = 1e39",
        "b = [1]",
        "s = [1, 2]",
        "c = 1.0",
    ];
    let errors = wrong.map(|options| {
        let said = support::run_options("relax.transform.BindParams", options, TYPES);
        let line = said.lines().next().map(str::to_owned);
        line.unwrap_or_default() + "\n"
    });
    expect![[r#"
        error[config]: The parameter `i8` is i8[] and can't be 128: 128 isn't one of i8.
        error[config]: The parameter `i8` is i8[] and can't be 1.0: 1.0 isn't one of i8.
        error[config]: The parameter `i8` is i8[] and can't be true: true isn't one of i8.
        error[config]: The parameter `u64` is u64[] and can't be -1: -1 isn't one of u64.
        error[config]: The parameter `f16` is f16[] and can't be 65520.0: 65520.0 isn't one of f16.
        error[config]: The parameter `f16` is f16[] and can't be 2049: 2049 isn't one of f16.
        error[config]: The parameter `f` is f32[] and can't be 16777217: 16777217 isn't one of f32.
        error[config]: The parameter `f` is f32[] and can't be 1e39: 1e39 isn't one of f32.
        error[config]: The parameter `b` is bool[1] and can't be [1]: 1 isn't one of bool.
        error[config]: The parameter `s` is str[2] and can't be [1, 2]: 1 isn't a string.
        error[config]: The parameter `c` is c64[] and can't be 1.0: tensors of c64 can't be written in an option.
    "#]].assert_eq(&errors.concat());
}

#[test]
fn defaults_become_constants() {
    check(
        "defaults = true",
        r#"module {
  fn @main(%a: f32[2] = const f32[2] [1.0, 2.0], %x: f32[n], %b: f32[m] = const f32[2] [3.0, 4.0]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Add(%a, %x)
    %1 = onnx.Add(%0, %b)
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n]) -> (%y: f32[2]) opset("" = 17) {
                %a = const f32[2] [1.0, 2.0]
                %b = const f32[2] [3.0, 4.0]
                %0 = onnx.Add(%a, %x)
                %1 = onnx.Add(%0, %b)
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_value_wins_over_a_default() {
    check(
        "defaults = true, a = [5.0, 6.0]",
        r#"module {
  fn @main(%a: f32[2] = const f32[2] [1.0, 2.0], %x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Add(%a, %x)
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %a = const f32[2] [5.0, 6.0]
                %0 = onnx.Add(%a, %x)
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_parameter_that_is_called_as_an_option_is_bound_in_the_table() {
    check(
        "params = { defaults = 1 }",
        r#"module {
  fn @main(%defaults: i64[]) -> (%y: i64[]) opset("" = 17) {
    %0 = onnx.Neg(%defaults) : i64[]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: i64[]) opset("" = 17) {
                %defaults = const i64[] 1
                %0 = onnx.Neg(%defaults) : i64[]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn parameters_of_called_functions_are_their_callers_business() {
    check(
        "a = 1.0",
        r#"module {
  fn @main(%x: f32[]) -> (%y: f32[]) opset("" = 17, "acme" = 1) {
    %0 = acme.Same(%x) : f32[]
    return %0
  }
  fn @acme.Same(%a: f32[]) -> (%b: f32[]) opset("" = 17) {
    %0 = onnx.Relu(%a) : f32[]
    return %0
  }
}"#,
        expect![[r#"
            error[config]: The model has no parameter `a`. There are: `x`.
             |
             = in pass relax.transform.BindParams of plugin relax"#]],
    );
}

/// A `.npy` file with this element type, and its path.
fn npy(name: &str, descr: &str, shape: &str, data: &[u8]) -> String {
    let header = format!("{{'descr': '{descr}', 'fortran_order': True, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).expect("there is room");
    path.display().to_string()
}

#[test]
fn a_value_may_be_in_a_file() {
    let source = r#"module {
  fn @main(%x: i32[n,3], %w: i32[n,m]) -> (%y: i32[n,m]) opset("" = 17) {
    %0 = onnx.Add(%x, %w) : i32[n,m]
    return %0
  }
}"#;
    let run = |path: &str| {
        let options = format!("w = '{path}'");
        let text = support::run_options("relax.transform.BindParams", &options, source);
        text.replace(path, "FILE")
    };
    let columns: Vec<u8> = (1..7_u8).flat_map(|int| [0, 0, 0, int]).collect();
    expect![[r#"
        module {
          fn @main(%x: i32[2,3]) -> (%y: i32[2,3]) opset("" = 17) {
            %w = const i32[2,3] [1, 3, 5, 2, 4, 6]
            %0 = onnx.Add(%x, %w) : i32[2,3]
            return %0
          }
        }
    "#]]
    .assert_eq(&run(&npy("columns.npy", ">i4", "(2, 3)", &columns)));
    expect![[r#"
        error[config]: The parameter `w` is i32[n,m] and can't be "FILE": its elements are i64.
         |
         = in pass relax.transform.BindParams of plugin relax, function @main"#]]
    .assert_eq(&run(&npy("wide.npy", "<i8", "(1, 1)", &[0; 8])));
    expect![[r#"
        error[config]: The parameter `w` is i32[n,m] and can't be "FILE": it has 8 bytes of elements where [2, 3] takes 24.
         |
         = in pass relax.transform.BindParams of plugin relax, function @main"#]].assert_eq(&run(&npy("short.npy", "<i4", "(2, 3)", &[0; 8])));
    expect![[r#"
        error[config]: The parameter `w` is i32[n,m] and can't be "FILE": its shape is [2].
         |
         = in pass relax.transform.BindParams of plugin relax, function @main"#]]
    .assert_eq(&run(&npy("list.npy", "<i4", "(2,)", &[0; 8])));
    let missing = run("/there/is/no.npy");
    assert!(
        missing.contains("can't be \"FILE\": it can't be read: "),
        "{missing}"
    );
    expect![[r#"
        error[config]: The parameter `w` is i32[n,m] and can't be "FILE": it isn't one of i32, nor the name of a `.npy` file.
         |
         = in pass relax.transform.BindParams of plugin relax, function @main"#]].assert_eq(&run("some text"));
}
