//! Cases of `relax.transform.FoldConstant`.

mod support;

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};

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
fn check_stays(source: &str, said: Expect) {
    let printed = passdock::testing::run_on_text(&support::registry(), &[], source, |cx| cx);
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
    assert!(printed.starts_with("module"), "{printed}");
    assert_eq!(result, printed);
    said.assert_eq(&heard.lock().expect("nobody panicked"));
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
fn what_would_grow_the_model_stays() {
    check(
        r#"module {
  fn @main() -> (%y: f32[1]) opset("" = 17) {
    %a = const f32[] 1.0
    %shape = const i64[2] [5000, 5000]
    %0 = onnx.Expand(%a, %shape) : f32[5000,5000]
    %1 = onnx.ReduceMean(%0) {axes = [0, 1], keepdims = 0} : f32[]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[1]) opset("" = 17) {
                %0 = const f32[] 1.0
                return %0
              }
            }
        "#]],
    );
}

#[test]
fn a_constant_if_is_its_branch() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %c = const bool[] true
    %0 = onnx.If(%c) : f32[2]
      region then_branch {
        %1 = onnx.Relu(%x) : f32[2]
        yield %1
      }
      region else_branch {
        %2 = onnx.Neg(%x) : f32[2]
        yield %2
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = onnx.Relu(%x) : f32[2]
                return %0
              }
            }
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
fn minus_zero_is_kept() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [0.0, -0.0]
    %0 = onnx.Neg(%a) : f32[2]
    %1 = onnx.Div(%x, %0) : f32[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [-0.0, 0.0]
                %1 = onnx.Div(%x, %0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn what_leads_to_a_small_value_may_be_large_but_not_what_is_used() {
    check_stays(
        r#"module {
  fn @main(%x: f32[5000,5000]) -> (%y: f32[5000,5000]) opset("" = 17) {
    %one = const f32[] 1.0
    %shape = const i64[2] [5000, 5000]
    %0 = onnx.Expand(%one, %shape) : f32[5000,5000]
    %1 = onnx.Add(%x, %0) : f32[5000,5000]
    return %1
  }
}"#,
        expect![[r#"
            1 onnx.Expand: would make the model larger (100 MB; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn small_growth_is_allowed_large_is_not() {
    check(
        r#"module {
  fn @main() -> (%y: f32[64], %z: f32[1024]) opset("" = 17) {
    %one = const f32[] 1.0
    %small = const i64[1] [64]
    %large = const i64[1] [1024]
    %0 = onnx.Expand(%one, %small) : f32[64]
    %1 = onnx.Expand(%one, %large) : f32[1024]
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[64], %z: f32[1024]) opset("" = 17) {
                %one = const f32[] 1.0
                %large = const i64[1] [1024]
                %0 = const f32[64] [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1…
                %1 = onnx.Expand(%one, %large) : f32[1024]
                return %0, %1
              }
            }
            ; 1 onnx.Expand: would make the model larger (4096 bytes; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn a_weight_is_transposed_if_nobody_else_needs_it() {
    check(
        r#"module {
  fn @main(%x: f32[2,64]) -> (%y: f32[2,64], %z: f32[512,2], %i2: f32[2,512]) opset("" = 17) {
    %w = const f32[64,64] splat(1.0)
    %i = const f32[2,512] splat(2.0)
    %0 = onnx.Transpose(%w) {perm = [1, 0]} : f32[64,64]
    %1 = onnx.MatMul(%x, %0) : f32[2,64]
    %2 = onnx.Transpose(%i) {perm = [1, 0]} : f32[512,2]
    return %1, %2, %i
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2,64]) -> (%y: f32[2,64], %z: f32[512,2], %i2: f32[2,512]) opset("" = 17) {
                %i = const f32[2,512] splat(2.0)
                %0 = const f32[64,64] blob(0)
                %1 = onnx.MatMul(%x, %0) : f32[2,64]
                %2 = onnx.Transpose(%i) {perm = [1, 0]} : f32[512,2]
                return %1, %2, %i
              }
              blob 0 = "AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACAPwAAgD8AAIA/AACA…
            }
            ; 1 onnx.Transpose: would make the model larger (4096 bytes; --allow-growth folds it).
        "#]],
    );
}

#[test]
fn a_chain_stays_whole_if_its_end_is_too_large() {
    check_stays(
        r#"module {
  fn @main(%x: f32[4096]) -> (%y: f32[4096]) opset("" = 17) {
    %w = const i8[4096] splat(1)
    %scale = const f32[] 0.5
    %0 = onnx.DequantizeLinear(%w, %scale) : f32[4096]
    %1 = onnx.Neg(%0) : f32[4096]
    %2 = onnx.Add(%x, %1) : f32[4096]
    return %2
  }
}"#,
        expect![[r#"
            1 onnx.DequantizeLinear: would make the model larger (16 kB; --allow-growth folds it).
            1 onnx.Neg: would make the model larger (16 kB; --allow-growth folds it).
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
  fn @main() -> (%y: f32[2], %z: f32[2], %c: f32[1,1,1,1]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %0 = acme.Fancy(%a) : f32[2]
    %1 = acme.Fancy(%a) : f32[2]
    %i = const f32[1,1,2,2] splat(1.0)
    %2 = onnx.Conv(%i, %i) : f32[1,1,1,1]
    return %0, %1, %2
  }
}"#,
        expect![[r#"
            2 acme.Fancy: no plugin defines it.
            1 onnx.Conv: its definition has no evaluation.
        "#]],
    );
}

#[test]
fn an_if_decided_on_the_way_is_its_branch_and_goes_on_folding() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %c = const bool[] true
    %a = const f32[2] [1.0, 2.0]
    %0 = onnx.Not(%c) : bool[]
    %1 = onnx.If(%0) : f32[2]
      region then_branch {
        yield %x
      }
      region else_branch {
        %2 = onnx.Neg(%a) : f32[2]
        %3 = onnx.If(%c) : f32[2]
          region then_branch {
            %4 = onnx.Neg(%2) : f32[2]
            yield %4
          }
          region else_branch {
            yield %x
          }
        yield %3
      }
    %5 = onnx.Sqrt(%1) : f32[2]
    %6 = onnx.Add(%x, %5) : f32[2]
    return %6
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [1.0, 1.4142135]
                %1 = onnx.Add(%x, %0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn constants_in_the_bodies_of_what_stays_fold() {
    check(
        r#"module {
  fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.If(%c) : f32[2]
      region then_branch {
        %a = const f32[2] [1.0, 4.0]
        %1 = onnx.Sqrt(%a) : f32[2]
        %2 = onnx.Add(%x, %1) : f32[2]
        yield %2
      }
      region else_branch {
        yield %x
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [1.0, 2.0]
                %1 = onnx.If(%c) : f32[2]
                  region then_branch {
                    %2 = onnx.Add(%x, %0) : f32[2]
                    yield %2
                  }
                  region else_branch {
                    yield %x
                  }
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn constants_in_a_loop_body_fold_and_what_it_carries_does_not() {
    check(
        r#"module {
  fn @main() -> (%y: f32[2]) opset("" = 17) {
    %n = const i64[] 3
    %t = const bool[] true
    %a = const f32[2] [1.0, 4.0]
    %0 = onnx.Loop(%n, %t, %a) : f32[2]
      region body(%i: i64[], %on: bool[], %v: f32[2]) {
        %b = const f32[2] [9.0, 16.0]
        %1 = onnx.Sqrt(%b) : f32[2]
        %2 = onnx.Neg(%1) : f32[2]
        %3 = onnx.Add(%v, %2) : f32[2]
        yield %on, %3
      }
    return %0
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[2]) opset("" = 17) {
                %n = const i64[] 3
                %t = const bool[] true
                %a = const f32[2] [1.0, 4.0]
                %0 = const f32[2] [-3.0, -4.0]
                %1 = onnx.Loop(%n, %t, %a) : f32[2]
                  region body(%i: i64[], %on: bool[], %v: f32[2]) {
                    %2 = onnx.Add(%v, %0) : f32[2]
                    yield %on, %2
                  }
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_loop_that_runs_no_times_is_its_initial_values() {
    check(
        r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %n = const i64[] 0
    %f = const bool[] false
    %a = const f32[2] [1.0, 4.0]
    %0 = onnx.Loop(%n, _, %x) : f32[2]
      region body(%i: i64[], %on: bool[], %v: f32[2]) {
        %1 = onnx.Neg(%v) : f32[2]
        yield %on, %1
      }
    %2 = onnx.Loop(_, %f, %a) : f32[2]
      region body(%i: i64[], %on: bool[], %v: f32[2]) {
        %3 = onnx.Neg(%v) : f32[2]
        yield %on, %3
      }
    %4 = onnx.Neg(%2) : f32[2]
    %5 = onnx.Add(%0, %4) : f32[2]
    return %5
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
                %0 = const f32[2] [-1.0, -4.0]
                %1 = onnx.Add(%x, %0) : f32[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn a_loop_that_gathers_or_may_run_stays() {
    check_stays(
        r#"module {
  fn @main(%x: f32[2], %c: bool[]) -> (%y: f32[2], %z: f32[?,2], %w: f32[2]) opset("" = 17) {
    %n = const i64[] 0
    %one = const i64[] 1
    %0, %1 = onnx.Loop(%n, _, %x) : f32[2], f32[?,2]
      region body(%i: i64[], %on: bool[], %v: f32[2]) {
        %2 = onnx.Neg(%v) : f32[2]
        yield %on, %2, %2
      }
    %3 = onnx.Loop(%one, %c, %x) : f32[2]
      region body(%i: i64[], %on: bool[], %v: f32[2]) {
        %4 = onnx.Neg(%v) : f32[2]
        yield %on, %4
      }
    return %0, %1, %3
  }
}"#,
        expect![[""]],
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
fn integers_are_exact() {
    check(
        r#"module {
  fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
    %a = const i64[2] [9007199254740993, -9223372036854775807]
    %b = const i64[2] [2, 1]
    %0 = onnx.Add(%a, %b) : i64[2]
    %1 = onnx.Mul(%x, %0) : i64[2]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: i64[2]) -> (%y: i64[2]) opset("" = 17) {
                %0 = const i64[2] [9007199254740995, -9223372036854775806]
                %1 = onnx.Mul(%x, %0) : i64[2]
                return %1
              }
            }
        "#]],
    );
}

#[test]
fn half_and_bfloat16_are_rounded() {
    check(
        r#"module {
  fn @main() -> (%y: f16[2], %z: bf16[2]) opset("" = 17) {
    %a = const f16[2] [2048.0, 1.0]
    %b = const f16[2] [1.0, 0.0009765625]
    %0 = onnx.Add(%a, %b) : f16[2]
    %c = const bf16[2] [256.0, 1.0]
    %d = const bf16[2] [1.0, 0.0078125]
    %1 = onnx.Add(%c, %d) : bf16[2]
    return %0, %1
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f16[2], %z: bf16[2]) opset("" = 17) {
                %0 = const f16[2] [2048.0, 1.0009766]
                %1 = const bf16[2] [256.0, 1.0078125]
                return %0, %1
              }
            }
        "#]],
    );
}

#[test]
fn small_types_and_strings_keep_their_elements() {
    check(
        r#"module {
  fn @main() -> (%y: f32[]) opset("" = 21) {
    %a = const i4[3] [-8, 3, 7]
    %s = const str[2] ["a", "b\xff"]
    %i = const i64[1] [1]
    %shape = const i64[2] [1, 3]
    %0 = onnx.Reshape(%a, %shape) : i4[1,3]
    %1 = onnx.Gather(%s, %i) : str[1]
    %2 = t.Use(%0, %1) : f32[]
    return %2
  }
}"#,
        expect![[r#"
            module {
              fn @main() -> (%y: f32[]) opset("" = 21) {
                %0 = const i4[1,3] [-8, 3, 7]
                %1 = const str[1] ["b\xff"]
                %2 = t.Use(%0, %1) : f32[]
                return %2
              }
            }
            ; 1 t.Use: no plugin defines it.
        "#]],
    );
}

#[test]
fn nans_and_infinities_are_values() {
    check(
        r#"module {
  fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
    %a = const f32[3] [1.0, -1.0, 0.0]
    %zero = const f32[] 0.0
    %0 = onnx.Div(%a, %zero) : f32[3]
    %1 = onnx.Mul(%x, %0) : f32[3]
    return %1
  }
}"#,
        expect![[r#"
            module {
              fn @main(%x: f32[3]) -> (%y: f32[3]) opset("" = 17) {
                %0 = const f32[3] [inf, -inf, 0xffc00000]
                %1 = onnx.Mul(%x, %0) : f32[3]
                return %1
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
