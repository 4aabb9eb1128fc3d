//! A. PassInfo.

use std::collections::HashSet;

use expect_test::expect;
use passdock::{PassInfo, Sequential, create_module_pass};

use crate::common::{Log, error, info, module};

#[test]
fn r001_r002_name_level_and_required() {
    let full = PassInfo::new("a.transform.A")
        .opt_level(3)
        .required(["b.transform.B"]);
    assert_eq!(full.name, "a.transform.A");
    assert_eq!(full.opt_level, 3);
    assert_eq!(full.required, ["b.transform.B"]);
    assert_eq!(PassInfo::new("x").required, Vec::<String>::new());
}

#[test]
fn r006_empty_and_blank_edged_names_are_refused() {
    for (name, expected) in [
        (
            "",
            expect![[
                r#"The pass name "" is empty; give it a name like `acme.transform.FuseRelu`."#
            ]],
        ),
        (
            " FoldExplicitPadding",
            expect![[
                r#"The pass name " FoldExplicitPadding" starts or ends with a blank; give it a name like `acme.transform.FuseRelu`."#
            ]],
        ),
        (
            "a\nb",
            expect![[
                r#"The pass name "a\nb" holds a control character; give it a name like `acme.transform.FuseRelu`."#
            ]],
        ),
    ] {
        let pass = create_module_pass(PassInfo::new(name), |_, _| Ok(()));
        expected.assert_eq(&error(pass.call(module())));
        // Also as a child of a Sequential, before anything runs.
        let log = Log::new();
        let sequential = Sequential::new([log.pass(info("first")), pass]);
        expected.assert_eq(&error(sequential.call(module())));
        log.check(expect![""]);
    }
}

#[test]
fn r008_compared_and_hashed_by_value() {
    let one = PassInfo::new("x").opt_level(1).required(["y"]);
    let same = PassInfo::new("x").opt_level(1).required(["y"]);
    assert_eq!(one, same);
    assert_ne!(one, PassInfo::new("x").opt_level(2).required(["y"]));
    assert_eq!(HashSet::from([one, same]).len(), 1);
}

#[test]
fn r156_r157_r158_printing() {
    let shown = PassInfo::new("relax.transform.FoldConstant")
        .opt_level(2)
        .required(["a", "b"]);
    expect!["The meta data of the pass - pass name: relax.transform.FoldConstant, opt_level: 2, required passes: [a, b]"]
        .assert_eq(&shown.to_string());
    let log = Log::new();
    let sequential = Sequential::new([log.pass(info("a")), log.pass(info("b"))]).name("both");
    expect!["Run Sequential pass: both at the optimization level 0. The passes will be executed are: [a b]"]
        .assert_eq(&format!("{sequential:?}"));
}
