//! Cases of `tir.transform.UnrollLoop`.

use expect_test::{Expect, expect};
use passdock::Registry;

#[track_caller]
fn check(config: &str, source: &str, expected: Expect) {
    let registry = Registry::new();
    registry
        .load_static(passdock_plugins_tir::PLUGIN)
        .expect("the plugin is well made");
    let passes = ["tir.transform.UnrollLoop"];
    let result =
        passdock::testing::run_on_text(&registry, &passes, source, |context| match config {
            "" => context,
            config => context.config(
                "tir.UnrollLoop",
                config.parse::<toml::Table>().expect("TOML"),
            ),
        });
    expected.assert_eq(&result);
}

const MARKED: &str = r#"module {
  prim @scale(%a: buffer<f32[128]>, %b: buffer<f32[128]>) {
    for %i in 0..2 unroll {
      %v = tir.load(%a, %i) : f32
      tir.store(%v, %b, %i)
    }
  }
}"#;

const SERIAL: &str = r#"module {
  prim @scale(%a: buffer<f32[128]>, %b: buffer<f32[128]>) {
    for %i in 0..3 serial {
      %v = tir.load(%a, %i) : f32
      tir.store(%v, %b, %i)
    }
  }
}"#;

#[test]
fn a_marked_loop_is_unrolled() {
    check(
        "",
        MARKED,
        expect![[r#"
            module {
              prim @scale(%a: buffer<f32[128]>, %b: buffer<f32[128]>) {
                %v_1 = tir.load(%a, 0) : f32
                tir.store(%v_1, %b, 0)
                %v_2 = tir.load(%a, 1) : f32
                tir.store(%v_2, %b, 1)
              }
            }
        "#]],
    );
}

#[test]
fn a_serial_loop_stays() {
    check(
        "",
        SERIAL,
        expect![[r#"
        module {
          prim @scale(%a: buffer<f32[128]>, %b: buffer<f32[128]>) {
            for %i in 0..3 serial {
              %v = tir.load(%a, %i) : f32
              tir.store(%v, %b, %i)
            }
          }
        }
    "#]],
    );
}

#[test]
fn a_serial_loop_of_few_steps_is_unrolled_if_asked_to() {
    check(
        "auto_max_step = 3",
        SERIAL,
        expect![[r#"
            module {
              prim @scale(%a: buffer<f32[128]>, %b: buffer<f32[128]>) {
                %v_1 = tir.load(%a, 0) : f32
                tir.store(%v_1, %b, 0)
                %v_2 = tir.load(%a, 1) : f32
                tir.store(%v_2, %b, 1)
                %v_3 = tir.load(%a, 2) : f32
                tir.store(%v_3, %b, 2)
              }
            }
        "#]],
    );
    check(
        "auto_max_step = 2",
        SERIAL,
        expect![[r#"
        module {
          prim @scale(%a: buffer<f32[128]>, %b: buffer<f32[128]>) {
            for %i in 0..3 serial {
              %v = tir.load(%a, %i) : f32
              tir.store(%v, %b, %i)
            }
          }
        }
    "#]],
    );
}

#[test]
fn a_serial_loop_of_few_runs_is_only_marked_without_explicit_unroll() {
    check(
        "auto_max_extent = 8\nexplicit_unroll = false",
        SERIAL,
        expect![[r#"
            module {
              prim @scale(%a: buffer<f32[128]>, %b: buffer<f32[128]>) {
                for %i in 0..3 unroll {
                  %v = tir.load(%a, %i) : f32
                  tir.store(%v, %b, %i)
                }
              }
            }
        "#]],
    );
}

#[test]
fn nested_loops_are_unrolled_from_the_inside() {
    check(
        "",
        r#"module {
  prim @fill(%b: buffer<i64[4]>) {
    for %i in 0..2 unroll {
      for %j in 0..2 unroll {
        %k = tir.add(%i, %j) : index
        tir.store(%j, %b, %k)
      }
    }
  }
}"#,
        expect![[r#"
            module {
              prim @fill(%b: buffer<i64[4]>) {
                %k_1_1 = tir.add(0, 0) : index
                tir.store(0, %b, %k_1_1)
                %k_2_1 = tir.add(0, 1) : index
                tir.store(1, %b, %k_2_1)
                %k_1_2 = tir.add(1, 0) : index
                tir.store(0, %b, %k_1_2)
                %k_2_2 = tir.add(1, 1) : index
                tir.store(1, %b, %k_2_2)
              }
            }
        "#]],
    );
}

#[test]
fn a_marked_loop_without_constant_bounds_is_an_error() {
    check(
        "",
        r#"module {
  prim @fill(%n: index, %b: buffer<i64[4]>) {
    for %i in 0..%n unroll {
      tir.store(%i, %b, %i)
    }
  }
}"#,
        expect![[r#"
            error[pass-failed]: A loop that is marked `unroll` has to have constant bounds.
             --> test.ir:3:5
              |
            3 |     for %i in 0..%n unroll {
              |     ^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass tir.transform.UnrollLoop of plugin tir, function @fill, op0 (for)"#]],
    );
}

#[test]
fn too_many_copies_are_an_error() {
    check(
        "",
        r#"module {
  prim @fill(%b: buffer<i64[4]>) {
    for %i in 0..1000000000 unroll {
      tir.store(%i, %b, %i)
    }
  }
}"#,
        expect![[r#"
            error[pass-failed]: Unrolling this loop would make 1000000000 copies of 1 ops; the limit is 4194304 ops.
             --> test.ir:3:5
              |
            3 |     for %i in 0..1000000000 unroll {
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass tir.transform.UnrollLoop of plugin tir, function @fill, op0 (for)"#]],
    );
}
