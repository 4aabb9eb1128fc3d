//! D. Config options.

use expect_test::expect;

use crate::ours::{Passdock, Way};
use crate::rule;
use crate::system::{Log, System, cx};

/// FIX. A key must be registered; the error lists the registered keys, the most similar first.
///
/// TVM: the same, in no order.
#[test]
fn r033_keys_must_be_registered() {
    rule!(|s| {
        s.register_options()?;
        s.context(cx().config("tir.UnrolLoop", "1")).map(drop)
    })
    .fix_message("r033");
}

/// KEEP. A struct may be given in part; omitted fields have their defaults.
#[test]
fn r034_omitted_fields_have_defaults() {
    rule!(|s| {
        s.register_options()?;
        for value in [
            "{}",
            "{ auto_max_step = 16 }",
            "{ explicit_unroll = false }",
        ] {
            let cx = s.context(cx().config("tir.UnrollLoop", value))?;
            s.note(s.read(&cx, "tir.UnrollLoop")?);
        }
        Ok(())
    })
    .keep("r034");
}

/// KEEP. A field that the struct doesn't have is rejected.
#[test]
fn r035_unknown_fields_are_rejected() {
    rule!(|s| {
        s.register_options()?;
        let odd = "{ auto_max_steps = 1 }";
        s.context(cx().config("tir.UnrollLoop", odd)).map(drop)
    })
    .keep("r035");
}

/// KEEP. A value of the wrong kind is rejected.
#[test]
fn r036_wrong_kinds_are_rejected() {
    rule!(|s| {
        s.register_options()?;
        for (key, value) in [
            ("tir.UnrollLoop", "3"),
            ("tir.limit", "'8'"),
            ("tir.limit", "2.5"),
            ("tir.limit", "[8]"),
            ("tir.disable_vectorize", "'true'"),
        ] {
            s.log_failure(s.context(cx().config(key, value)));
        }
        Ok(())
    })
    .keep("r036");
}

/// FIX. A field of the wrong type is an error that names option, field, expected and actual type.
///
/// TVM: it is stored as 0.
#[test]
fn r037_fields_of_wrong_type_are_rejected() {
    rule!(|s| {
        s.register_options()?;
        for value in ["{ auto_max_step = 'x' }", "{ auto_max_step = 2.7 }"] {
            s.log_failure(
                s.context(cx().config("tir.UnrollLoop", value))
                    .and_then(|cx| s.read(&cx, "tir.UnrollLoop").map(|read| s.note(read))),
            );
        }
        Ok(())
    })
    .fix("r037");
}

/// FIX. An int isn't accepted as a bool, nor a bool as an int.
///
/// TVM: each is converted to the other.
#[test]
fn r038_int_and_bool_are_not_converted() {
    rule!(|s| {
        s.register_options()?;
        for (key, value) in [
            ("tir.disable_vectorize", "1"),
            ("tir.limit", "true"),
            ("tir.UnrollLoop", "{ explicit_unroll = 1 }"),
            ("tir.UnrollLoop", "{ auto_max_step = true }"),
        ] {
            s.log_failure(
                s.context(cx().config(key, value))
                    .and_then(|cx| s.read(&cx, key).map(|read| s.note(read))),
            );
        }
        Ok(())
    })
    .fix("r038");
}

/// KEEP. An integer outside the option's range is rejected.
#[test]
fn r040_out_of_range_integers_are_rejected() {
    rule!(|s| {
        s.register_options()?;
        let large = "{ auto_max_step = 4294967296 }";
        s.context(cx().config("tir.UnrollLoop", large)).map(drop)
    })
    .keep("r040");
}

/// FIX. An unset option reads as unset. Reading it as another type is an error, and so is reading
/// an unregistered key.
///
/// TVM: an unregistered key reads as unset.
#[test]
fn r043_reading_unset_mistyped_or_unregistered_options() {
    rule!(|s| {
        s.register_options()?;
        let cx = s.context(cx().config("tir.limit", "8"))?;
        s.note(s.read(&cx, "tir.limit")?);
        s.note(s.read(&cx, "tir.disable_vectorize")?);
        Ok(())
    })
    .keep("r043");

    rule!(|s| {
        s.register_options()?;
        let cx = s.context(cx())?;
        let read = s.read(&cx, "tir.limits")?;
        s.note(read);
        Ok(())
    })
    .fix("r043.2");
    let ours = Passdock::new(&Log::default(), Way::Host);
    ours.register_options().expect("they are new");
    let cx = ours
        .context(cx().config("tir.limit", "8"))
        .expect("a context");
    let error = cx
        .get_config::<bool>("tir.limit")
        .expect_err("it is an int");
    expect!["config option `tir.limit` is an int, not of the requested type"]
        .assert_eq(&error.to_string());
}

/// KEEP. Registering an option twice is an error.
#[test]
fn r044_duplicate_option_is_rejected() {
    rule!(|s| {
        s.register_options()?;
        s.register_options()
    })
    .keep("r044");
}

/// KEEP. A value applies only in its own context.
#[test]
fn r045_value_applies_only_in_its_context() {
    rule!(|s| {
        s.register_options()?;
        let outer = s.context(cx().config("tir.limit", "8"))?;
        s.scope(&outer, |s| {
            let inner = s.context(cx())?;
            s.scope(&inner, |s| {
                s.note(s.read(&s.current(), "tir.limit")?);
                Ok(())
            })?;
            s.note(s.read(&s.current(), "tir.limit")?);
            Ok(())
        })
    })
    .keep("r045");
}

/// FIX. Options are listed with type, default and documentation.
///
/// TVM: with their types only.
#[test]
fn r042_options_are_listed_with_type_default_and_doc() {
    rule!(|s| {
        s.register_options()?;
        s.note(s.list_configs());
        Ok(())
    })
    .fix("r042");
}
