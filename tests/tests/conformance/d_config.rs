//! D. Config options.

use expect_test::expect;

use crate::ours::{Passdock, Way};
use crate::rule;
use crate::system::{Log, System, cx};

/// FIX. A key must be registered; the error lists those that are, the nearest first.
///
/// TVM: the same, in no order.
#[test]
fn r033_keys_must_be_registered() {
    rule!(|s| {
        s.register_options()?;
        s.context(cx().config("tir.UnrolLoop", "1")).map(drop)
    })
    .fix_message(expect!["error[config]: Invalid config option `tir.UnrolLoop`; candidates are: `tir.UnrollLoop`, `relax.fallback_device_type`, `testing.immutable_module`, `tir.disable_vectorize`, `tir.limit`. Did you mean `tir.UnrollLoop`?"], expect!["error[config]: Invalid config option 'tir.UnrolLoop' candidates are: tir.limit,tir.disable_vectorize,tir.UnrollLoop"]);
}

/// KEEP. A struct may be given in part; what is left out has its default.
#[test]
fn r034_left_out_fields_have_their_defaults() {
    rule!(|s| {
        s.register_options()?;
        for value in [
            "{}",
            "{ auto_max_step = 16 }",
            "{ explicit_unroll = false }",
        ] {
            let cx = s.context(cx().config("tir.UnrollLoop", value))?;
            s.say(s.read(&cx, "tir.UnrollLoop")?);
        }
        Ok(())
    })
    .keep(expect![[r#"
        0, true
        16, true
        0, false"#]]);
}

/// KEEP. A field that the struct doesn't have is refused.
#[test]
fn r035_unknown_fields_are_refused() {
    rule!(|s| {
        s.register_options()?;
        let odd = "{ auto_max_steps = 1 }";
        s.context(cx().config("tir.UnrollLoop", odd)).map(drop)
    })
    .keep(expect!["error[config]: `tir.UnrollLoop` has no field `auto_max_steps`. Did you mean `auto_max_step`?"]);
}

/// KEEP. A value of the wrong kind is refused.
#[test]
fn r036_wrong_kinds_are_refused() {
    rule!(|s| {
        s.register_options()?;
        for (key, value) in [
            ("tir.UnrollLoop", "3"),
            ("tir.limit", "'8'"),
            ("tir.limit", "2.5"),
            ("tir.limit", "[8]"),
            ("tir.disable_vectorize", "'true'"),
        ] {
            s.say_if_failed(s.context(cx().config(key, value)));
        }
        Ok(())
    })
    .keep(expect![[r#"
        error[config]: Expected `tir.UnrollLoop` to be a table of {auto_max_step, explicit_unroll}, but got the int 3.
        error[config]: Expected `tir.limit` to be an int, but got the string "8". Write 8 without quotes.
        error[config]: Expected `tir.limit` to be an int, but got the float 2.5.
        error[config]: Expected `tir.limit` to be an int, but got an array.
        error[config]: Expected `tir.disable_vectorize` to be a bool, but got the string "true". Write true without quotes."#]]);
}

/// FIX. A field of the wrong type is an error that names option, field, expected and given type.
///
/// TVM: it is stored as 0.
#[test]
fn r037_fields_of_the_wrong_type_are_refused() {
    rule!(|s| {
        s.register_options()?;
        for value in ["{ auto_max_step = 'x' }", "{ auto_max_step = 2.7 }"] {
            s.say_if_failed(
                s.context(cx().config("tir.UnrollLoop", value))
                    .and_then(|cx| s.read(&cx, "tir.UnrollLoop").map(|read| s.say(read))),
            );
        }
        Ok(())
    })
    .fix(expect![[r#"
        error[config]: Expected the field `auto_max_step` of `tir.UnrollLoop` to be an int, but got the string "x".
        error[config]: Expected the field `auto_max_step` of `tir.UnrollLoop` to be an int, but got the float 2.7."#]], expect![[r#"
        0, true
        0, true"#]]);
}

/// FIX. An int is no bool, and a bool no int.
///
/// TVM: each is taken for the other.
#[test]
fn r038_an_int_is_no_bool() {
    rule!(|s| {
        s.register_options()?;
        for (key, value) in [
            ("tir.disable_vectorize", "1"),
            ("tir.limit", "true"),
            ("tir.UnrollLoop", "{ explicit_unroll = 1 }"),
            ("tir.UnrollLoop", "{ auto_max_step = true }"),
        ] {
            s.say_if_failed(
                s.context(cx().config(key, value))
                    .and_then(|cx| s.read(&cx, key).map(|read| s.say(read))),
            );
        }
        Ok(())
    })
    .fix(expect![[r#"
        error[config]: Expected `tir.disable_vectorize` to be a bool, but got the int 1.
        error[config]: Expected `tir.limit` to be an int, but got the bool true.
        error[config]: Expected the field `explicit_unroll` of `tir.UnrollLoop` to be a bool, but got the int 1.
        error[config]: Expected the field `auto_max_step` of `tir.UnrollLoop` to be an int, but got the bool true."#]], expect![[r#"
        true
        1
        0, true
        1, true"#]]);
}

/// KEEP. An integer out of the option's range is refused.
#[test]
fn r040_integers_out_of_range_are_refused() {
    rule!(|s| {
        s.register_options()?;
        let large = "{ auto_max_step = 4294967296 }";
        s.context(cx().config("tir.UnrollLoop", large)).map(drop)
    })
    .keep(expect!["error[config]: Expected the field `auto_max_step` of `tir.UnrollLoop` to be from 0 to 4096, but got the int 4294967296."]);
}

/// FIX. What is unset reads as unset, and reading with another type is an error; so is reading a key
/// that isn't registered.
///
/// TVM: that reads as unset, too.
#[test]
fn r043_reading() {
    rule!(|s| {
        s.register_options()?;
        let cx = s.context(cx().config("tir.limit", "8"))?;
        s.say(s.read(&cx, "tir.limit")?);
        s.say(s.read(&cx, "tir.disable_vectorize")?);
        Ok(())
    })
    .keep(expect![[r#"
        8
        not set"#]]);

    rule!(|s| {
        s.register_options()?;
        let cx = s.context(cx())?;
        let read = s.read(&cx, "tir.limits")?;
        s.say(read);
        Ok(())
    })
    .fix(expect!["error[config]: Invalid config option `tir.limits`; candidates are: `tir.limit`, `relax.fallback_device_type`, `testing.immutable_module`, `tir.UnrollLoop`, `tir.disable_vectorize`. Did you mean `tir.limit`?"], expect!["not set"]);
    let ours = Passdock::new(&Log::default(), Way::Host);
    ours.register_options().expect("they are new");
    let cx = ours
        .context(cx().config("tir.limit", "8"))
        .expect("a context");
    let error = cx
        .get_config::<bool>("tir.limit")
        .expect_err("it is an int");
    expect!["The config option `tir.limit` is an int, which isn't the type that is asked for."]
        .assert_eq(&error.to_string());
}

/// KEEP. To register an option twice is an error.
#[test]
fn r044_registered_once() {
    rule!(|s| {
        s.register_options()?;
        s.register_options()
    })
    .keep(expect!["error[config]: The config option `tir.UnrollLoop` is registered already, by this program. Rename one of the two."]);
}

/// KEEP. A value holds in its own context only.
#[test]
fn r045_only_in_its_own_context() {
    rule!(|s| {
        s.register_options()?;
        let outer = s.context(cx().config("tir.limit", "8"))?;
        s.scope(&outer, |s| {
            let inner = s.context(cx())?;
            s.scope(&inner, |s| {
                s.say(s.read(&s.current(), "tir.limit")?);
                Ok(())
            })?;
            s.say(s.read(&s.current(), "tir.limit")?);
            Ok(())
        })
    })
    .keep(expect![[r#"
        not set
        8"#]]);
}

/// FIX. The options are listed with type, default and doc.
///
/// TVM: with their types only.
#[test]
fn r042_listed_with_type_default_and_doc() {
    rule!(|s| {
        s.register_options()?;
        s.say(s.list_configs());
        Ok(())
    })
    .fix(
        expect![[r#"
            relax.fallback_device_type "" Int = 1: The device of ops that no device is named for, by its number in DLPack; 1 is the CPU.
            testing.immutable_module "" Bool = false: Check that no pass changes the module that it was given: it may only make another one.
            tir.UnrollLoop "auto_max_step" Int = 0: Loops of up to this many steps are unrolled.
            tir.UnrollLoop "explicit_unroll" Bool = true: Whether loops marked `unroll` are written out.
            tir.disable_vectorize "" Bool = false: 
            tir.limit "" Int = 0: "#]],
        expect![[r#"
        tir.UnrollLoop tir.transform.UnrollLoopConfig
        tir.disable_vectorize IntImm
        tir.limit IntImm"#]],
    );
}
