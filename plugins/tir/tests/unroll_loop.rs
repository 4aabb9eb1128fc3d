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
                %v = tir.load(%a, 1) : f32
                tir.store(%v, %b, 1)
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
                %v = tir.load(%a, 2) : f32
                tir.store(%v, %b, 2)
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
                %k_2 = tir.add(0, 1) : index
                tir.store(1, %b, %k_2)
                %k_1 = tir.add(1, 0) : index
                tir.store(0, %b, %k_1)
                %k = tir.add(1, 1) : index
                tir.store(1, %b, %k)
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
            error[pass-failed]: A loop that is marked `unroll` has to run a constant number of times.
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
            error[pass-failed]: Unrolling this loop would make 999999999 more ops; of the 1000000 that `max_ops` allows in a function, 1000000 are left.
             --> test.ir:3:5
              |
            3 |     for %i in 0..1000000000 unroll {
              |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = in pass tir.transform.UnrollLoop of plugin tir, function @fill, op0 (for)"#]],
    );
}

#[test]
fn a_loop_of_nothing_goes_however_often_it_runs() {
    check(
        "",
        r#"module {
  prim @nothing(%b: buffer<i64[4]>) {
    for %i in 0..1000000000 unroll {
    }
    for %i in 0..1000000000 unroll {
      for %j in 0..1000000000 unroll {
      }
    }
    tir.store(1, %b, 0)
  }
}"#,
        expect![[r#"
            module {
              prim @nothing(%b: buffer<i64[4]>) {
                tir.store(1, %b, 0)
              }
            }
        "#]],
    );
}

#[test]
fn an_index_that_nobody_uses_leaves_nothing_behind() {
    check(
        "",
        r#"module {
  prim @fill(%b: buffer<i64[4]>) {
    for %i in 0..3 unroll {
      tir.store(7, %b, 7)
    }
  }
}"#,
        expect![[r#"
            module {
              prim @fill(%b: buffer<i64[4]>) {
                tir.store(7, %b, 7)
                tir.store(7, %b, 7)
                tir.store(7, %b, 7)
              }
            }
        "#]],
    );
}

#[test]
fn the_bound_holds_for_all_loops_together() {
    let source = r#"module {
  prim @fill(%b: buffer<i64[4]>) {
    for %i in 0..5 unroll {
      tir.store(%i, %b, %i)
    }
    for %i in 0..4 unroll {
      tir.store(%i, %b, %i)
    }
  }
}"#;
    check(
        "max_ops = 6",
        source,
        expect![[r#"
        error[pass-failed]: Unrolling this loop would make 4 more ops; of the 6 that `max_ops` allows in a function, 3 are left.
         --> test.ir:3:5
          |
        3 |     for %i in 0..5 unroll {
          |     ^^^^^^^^^^^^^^^^^^^^^
          |
          = in pass tir.transform.UnrollLoop of plugin tir, function @fill, op0 (for)"#]],
    );
    let serial = source.replace("unroll", "serial");
    check(
        "max_ops = 6\nauto_max_extent = 5",
        &serial,
        expect![[r#"
        module {
          prim @fill(%b: buffer<i64[4]>) {
            for %i in 0..5 serial {
              tir.store(%i, %b, %i)
            }
            tir.store(0, %b, 0)
            tir.store(1, %b, 1)
            tir.store(2, %b, 2)
            tir.store(3, %b, 3)
          }
        }
    "#]],
    );
}

/// As TVM: whatever it holds, and however it is to be run.
#[test]
fn with_an_extent_of_one_any_loop_that_runs_once_goes() {
    let source = r#"module {
  prim @fill(%n: index, %b: buffer<i64[4]>) {
    for %i in 3..4 {
      for %j in 0..%n parallel {
        tir.store(%i, %b, %j)
      }
    }
    for %i in 0..0 vectorized {
      tir.store(%i, %b, %i)
    }
    for %i in 0..2 {
      tir.store(%i, %b, %i)
    }
  }
}"#;
    let config = "auto_max_extent = 1\nexplicit_unroll = false";
    check(
        config,
        source,
        expect![[r#"
        module {
          prim @fill(%n: index, %b: buffer<i64[4]>) {
            for %j in 0..%n parallel {
              tir.store(3, %b, %j)
            }
            for %i in 0..2 {
              tir.store(%i, %b, %i)
            }
          }
        }
    "#]],
    );
}

#[test]
fn where_a_loop_starts_need_not_be_constant() {
    check(
        "",
        r#"module {
  prim @fill(%n: index, %b: buffer<i64[4]>) {
    %m = tir.add(%n, 3) : index
    for %i in %n..%m unroll {
      tir.store(%i, %b, %i)
    }
    %o = tir.add(2, %m) : index
    for %i in %m..%o step 2 unroll {
      tir.store(%i, %b, %i)
    }
    for %i in %n..%m unroll {
      tir.store(7, %b, 7)
    }
  }
}"#,
        expect![[r#"
            module {
              prim @fill(%n: index, %b: buffer<i64[4]>) {
                %m = tir.add(%n, 3) : index
                tir.store(%n, %b, %n)
                %0 = tir.add(%n, 1) : index
                tir.store(%0, %b, %0)
                %1 = tir.add(%n, 2) : index
                tir.store(%1, %b, %1)
                %o = tir.add(2, %m) : index
                tir.store(%m, %b, %m)
                tir.store(7, %b, 7)
                tir.store(7, %b, 7)
                tir.store(7, %b, 7)
              }
            }
        "#]],
    );
}
