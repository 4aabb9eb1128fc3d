//! A. PassInfo.

use passdock::PassInfo;
use passdock::pipeline::Pipeline;

use crate::ours::Failure;
use crate::rule;
use crate::rule::by_hand;
use crate::system::{Info, cx, pass, runs};
use crate::tvm;

/// KEEP. A pass has a readable name, level and list of required passes.
#[test]
fn r001_name_level_and_required() {
    rule!(|s| {
        for spec in [
            pass("Level2").opt_level(2),
            pass("NeedsTwo").required(["Leaf", "First"]),
        ] {
            let Info {
                name,
                opt_level,
                required,
            } = s.info(&s.pass(spec)?);
            s.note(format!("{name} {opt_level} {required:?}"));
        }
        Ok(())
    })
    .plugins()
    .keep("r001");
}

/// FIX. The list of required passes is empty by default.
///
/// TVM: `PassInfo(0, "x", None)` is a TypeError.
#[test]
fn r002_nothing_is_required_by_default() {
    by_hand(
        PassInfo::new("x"),
        tvm::pass_info("x", 0, None).expect_err("it is rejected"),
    )
    .fix("r002");
}

/// KEEP. `required` is a list; a string is rejected.
#[test]
fn r005_required_is_a_list() {
    let text = "[[passes]]\nname = 'cleanup'\nrequired = 'Leaf'\npasses = []";
    by_hand(
        pipeline_error(text),
        tvm::pass_info("x", 0, Some("Leaf".into())).expect_err("it is rejected"),
    )
    .keep("r005");
}

/// FIX. A name that is empty, starts or ends with a space or contains a control or invisible character is
/// rejected before anything runs.
///
/// TVM: any name is accepted.
#[test]
fn r006_invalid_names_are_rejected() {
    rule!(|s| {
        for name in ["", " FoldExplicitPadding", "a\nb", "a\u{202e}b"] {
            let odd = || {
                runs("Odd", |s: &S, _, module| {
                    s.note("it ran");
                    Ok(module)
                })
            };
            s.log_failure(s.run(cx(), [pass("First"), odd().name(name)]));
            s.log_failure(s.call_in(cx(), odd().name(name)));
            s.log_failure(s.register(odd().name(name)));
        }
        Ok(())
    })
    .fix("r006");
}

/// FIX. A level is an integer ≥ 0.
///
/// TVM: negative levels and bools are accepted.
#[test]
fn r007_levels_are_non_negative_integers() {
    let ours = ["-1", "true", "1.5", "'2'"].map(|level| {
        let nested = format!("[[passes]]\nname = 'a'\nopt_level = {level}\npasses = []");
        pipeline_error(&format!("[context]\nopt_level = {level}")) + "\n" + &pipeline_error(&nested)
    });
    let taken = [(-1).into(), true.into()]
        .map(|level| tvm::pass_info_of_level(&level).unwrap_or_else(|error| error.to_string()));
    by_hand(ours.join("\n"), taken.join("\n")).fix("r007");
}

/// FIX. Infos are compared and hashed by value.
///
/// TVM: two with equal fields are unequal.
#[test]
fn r008_infos_are_compared_by_value() {
    rule!(|s| {
        let make = |level| s.pass(runs("Mine", |_, _, module| Ok(module)).opt_level(level));
        s.note(format!("equal: {}", s.same_info(&make(1)?, &make(1)?)));
        s.note(format!(
            "other level: {}",
            s.same_info(&make(1)?, &make(2)?)
        ));
        Ok(())
    })
    .fix("r008");
}

/// Returns the error for an invalid pipeline.
pub(crate) fn pipeline_error(text: &str) -> String {
    let error = Pipeline::from_toml(text).expect_err("it is rejected");
    Failure(error).to_string()
}
