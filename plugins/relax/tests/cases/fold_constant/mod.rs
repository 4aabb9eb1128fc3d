//! Cases of `relax.transform.FoldConstant`.

mod control;
mod growth;
mod ranks;
mod refused;
mod sizes;
mod splats;
mod tuples;
mod values;

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};

use crate::support;

const PASS: &str = "relax.transform.FoldConstant";

/// The text after the pass, and what it said; running it again changes nothing.
#[track_caller]
fn check(source: &str, expected: Expect) {
    let said = Arc::new(Mutex::new(String::new()));
    let heard = said.clone();
    let run = |source: &str, heard: Arc<Mutex<String>>| {
        passdock::testing::run_on_text(&support::registry(), &[PASS], source, |context| {
            context.on_diagnostic(move |diagnostic| {
                let mut heard = heard.lock().expect("nobody panicked");
                for note in &diagnostic.notes {
                    *heard += &format!("; {note}\n");
                }
            })
        })
    };
    let result = run(source, heard);
    let again = run(&result, Arc::default());
    assert!(result.starts_with("module"), "{result}");
    assert_eq!(result, again, "a second run changes more");
    let said = said.lock().expect("nobody panicked");
    let short = result
        .lines()
        .map(|line| match line.char_indices().nth(160) {
            Some((at, _)) => format!("{}…\n", &line[..at]),
            None => format!("{line}\n"),
        });
    expected.assert_eq(&format!("{}{said}", short.collect::<String>()));
}

/// The pass leaves the module as it is, and says this.
#[track_caller]
fn check_stays(source: &str, notes: Expect) {
    let printed = passdock::testing::run_on_text(&support::registry(), &[], source, |cx| cx);
    let (result, heard) = said(source);
    assert!(printed.starts_with("module"), "{printed}");
    assert_eq!(result, printed);
    notes.assert_eq(&heard);
}

/// The text after the pass, and its notes.
fn said(source: &str) -> (String, String) {
    let heard = Arc::new(Mutex::new(String::new()));
    let hear = heard.clone();
    let result = passdock::testing::run_on_text(&support::registry(), &[PASS], source, |cx| {
        cx.on_diagnostic(move |diagnostic| {
            let mut heard = hear.lock().expect("nobody panicked");
            diagnostic
                .notes
                .iter()
                .for_each(|note| *heard += &format!("{note}\n"));
        })
    });
    let said = heard.lock().expect("nobody panicked").clone();
    (result, said)
}

#[test]
fn an_op_on_constants_is_its_value() {
    support::check(
        PASS,
        r#"module {
  fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
    %a = const i64[2] [2, 3]
    %b = const i64[2] [10, 20]
    %0 = onnx.Add(%a, %b) : i64[2]
    %1 = onnx.Mul(%x, %0) : i64[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
                %0 = const i64[2] [12, 23]
                %1 = onnx.Mul(%x, %0) : i64[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_chain_folds_in_one_run() {
    check(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
    %a = const f32[3] [1.0, 4.0, 9.0]
    %0 = onnx.Sqrt(%a) : f32[3]
    %1 = onnx.Add(%0, %0) : f32[3]
    %2 = onnx.Mul(%x, %1) : f32[3]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
                %0 = const f32[3] [2.0, 4.0, 6.0]
                %1 = onnx.Mul(%x, %0) : f32[3]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn what_depends_on_an_input_stays() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %0 = onnx.Add(%x, %a) : f32[2]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %a = const f32[2] [1.0, 2.0]
                %0 = onnx.Add(%x, %a) : f32[2]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn an_overridable_initializer_stays() {
    check(
        r#"module {
  fn @main(%x: f32[1] = const f32[1] [1.0]) -> (%y: f32[1]) opset("" = 17) {
    %a = const f32[1] [2.0]
    %0 = onnx.Add(%x, %a) : f32[1]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[1] = const f32[1] [1.0]) -> (%y: f32[1]) opset("" = 17) {
                %a = const f32[1] [2.0]
                %0 = onnx.Add(%x, %a) : f32[1]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn what_is_random_stays() {
    check(
        r#"module {
  fn @main() -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %0 = onnx.RandomUniformLike(%a) : f32[2]
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[2]) opset("" = 17) {
                %a = const f32[2] [1.0, 2.0]
                %0 = onnx.RandomUniformLike(%a) : f32[2]
                return %0
              }
            }
            ; 1 onnx.RandomUniformLike: it is random.
        "#]],
    );
}

#[test]
fn the_shape_of_a_tensor_of_known_dims_is_constant() {
    check(
        r#"module {
  fn @main(%x: f32[2,3]) -> (%y: i64[2]) opset("" = 17) {
    %0 = onnx.Shape(%x) : i64[2]
    %1 = onnx.Identity(%0) : i64[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,3]) -> (%y: i64[2]) opset("" = 17) {
                %0 = const i64[2] [2, 3]
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_field_of_a_tuple_is_the_field() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %b = const f32[2] [3.0, 4.0]
    %0 = tuple(%a, %b) : tuple<f32[2], f32[2]>
    %1 = tuple_get(%0) {index = 1} : f32[2]
    %2 = onnx.Neg(%1) : f32[2]
    %3 = tuple(%x, %2) : tuple<f32[2], f32[2]>
    %4 = tuple_get(%3) {index = 0} : f32[2]
    %5 = onnx.Add(%4, %2) : f32[2]
    return %5
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %a = const f32[2] [1.0, 2.0]
                %0 = const f32[2] [-3.0, -4.0]
                %1 = onnx.Add(%x, %0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_tuple_of_constants_stays_a_tuple() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %0 = tuple(%a, %x) : tuple<f32[2], f32[2]>
    %1 = t.Use(%0) : f32[2]
    return %1
  }
}"#,
        expect![[""]],
    );
}

#[test]
fn what_takes_no_operands_stays() {
    check_stays(
        r#"module {
  fn @main() -> (%y: f32[2], %z: f32[2]) opset("" = 17) {
    %0 = onnx.RandomUniform() {shape = [2]} : f32[2]
    %1 = t.Ones() : f32[2]
    return %0, %1
  }
}"#,
        expect![[""]],
    );
}

#[test]
fn two_random_ops_stay_two() {
    check_stays(
        r#"module {
  fn @main() -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %0 = onnx.RandomUniformLike(%a) : f32[2]
    %1 = onnx.RandomUniformLike(%a) : f32[2]
    %2 = onnx.Sub(%0, %1) : f32[2]
    return %2
  }
}"#,
        expect![[r#"
            2 onnx.RandomUniformLike: it is random.
        "#]],
    );
}

#[test]
fn what_nobody_defines_or_evaluates_stays() {
    check_stays(
        r#"module {
  fn @main() -> (%y: f32[2], %z: f32[2], %c: f32[]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %0 = acme.Fancy(%a) : f32[2]
    %1 = acme.Fancy(%a) : f32[2]
    %i = const f32[2,2] splat(1.0)
    %2 = onnx.Det(%i) : f32[]
    return %0, %1, %2
  }
}"#,
        expect![[r#"
            2 acme.Fancy: no plugin defines it.
            1 onnx.Det: its definition has no evaluation.
        "#]],
    );
}

#[test]
fn a_known_dim_of_a_shape_is_constant_though_others_are_not() {
    check(
        r#"module {
  fn @main(%x: f32[n,8]) -> (%y: f32[?,?]) opset("" = 17) {
    %i = const i64[1] [1]
    %zero = const i64[1] [0]
    %two = const i64[1] [2]
    %0 = onnx.Shape(%x) : i64[2]
    %1 = onnx.Gather(%0, %i) : i64[1]
    %2 = onnx.Mul(%1, %two) : i64[1]
    %3 = onnx.Gather(%0, %zero) : i64[1]
    %4 = onnx.Concat(%3, %2) {axis = 0} : i64[2]
    %5 = onnx.Reshape(%x, %4) : f32[?,?]
    return %5
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[n,8]) -> (%y: f32[?,?]) opset("" = 17) {
                %zero = const i64[1] [0]
                %0 = const i64[1] [16]
                %1 = onnx.Shape(%x) : i64[2]
                %2 = onnx.Gather(%1, %zero) : i64[1]
                %3 = onnx.Concat(%2, %0) {axis = 0} : i64[2]
                %4 = onnx.Reshape(%x, %3) : f32[?,?]
                return %4
              }
            }
        "#]],
    );
}

#[test]
fn a_copy_of_a_constant_is_the_constant() {
    check(
        r#"module {
  fn @main(%x: f32[512]) -> (%y: f32[512]) opset("" = 17) {
    %w = const f32[512] splat(1.0)
    %0 = onnx.Identity(%w) : f32[512]
    %1 = onnx.Identity(%w) : f32[512]
    %2 = onnx.Add(%x, %0) : f32[512]
    %3 = onnx.Add(%2, %1) : f32[512]
    return %3
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[512]) -> (%y: f32[512]) opset("" = 17) {
                %w = const f32[512] splat(1.0)
                %0 = onnx.Add(%x, %w) : f32[512]
                %1 = onnx.Add(%0, %w) : f32[512]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_copy_that_is_given_out_stays() {
    check_stays(
        r#"module {
  fn @main() -> (%y: f32[512]) opset("" = 17) {
    %w = const f32[512] splat(1.0)
    %0 = onnx.Identity(%w) : f32[512]
    return %0
  }
}"#,
        expect![[""]],
    );
}

#[test]
fn an_op_with_several_results_folds() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 18) {
    %a = const f32[4] [1.0, 2.0, 3.0, 4.0]
    %0, %1 = onnx.Split(%a) {axis = 0, num_outputs = 2} : f32[2], f32[2]
    %2 = onnx.Add(%x, %1) : f32[2]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 18) {
                %0 = const f32[2] [3.0, 4.0]
                %1 = onnx.Add(%x, %0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn an_op_that_is_dead_and_constant_goes() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %0 = onnx.Neg(%a) : f32[2]
    return %x
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                return %x
              }
            }
        "#]],
    );
}

#[test]
fn an_op_left_without_an_operand_folds() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 5.0]
    %high = const f32[] 3.0
    %0 = onnx.Clip(%a, _, %high) : f32[2]
    %1 = onnx.Add(%x, %0) : f32[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [1.0, 3.0]
                %1 = onnx.Add(%x, %0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}
