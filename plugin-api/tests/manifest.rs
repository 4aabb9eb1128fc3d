//! The manifests that `plugin!` generates.

use passdock_plugin_api::prelude::*;

options! {
    /// How far loops are unrolled.
    pub struct Unroll {
        /// The most iterations.
        pub auto_max_step: i64 = -3,
        /// A "quoted" \ word,
        /// and a second line.
        pub explicit_unroll: bool = true,
        pub ratio: f64 = 1.,
        pub mode: String = "tab\there, \nand ü",
    }
}

fn nothing(_f: &mut Function, _cx: &PassContext) -> PassResult {
    Ok(())
}

fn nothing_in_a_module(_m: &mut Module, _cx: &PassContext) -> PassResult {
    Ok(())
}

options! {
    struct Limit {
        /// How many.
        #[range(-1..=8)]
        most: i64,
        #[range(1..)]
        least: i64 = 1,
        count: u32 = 3,
        /// The goal to optimize for.
        #[choices("speed", "size")]
        goal: String = "size",
        names: Vec<String> = ["a", "b\""],
        none: Vec<String> = [],
        found: Vec<RulesText> = ["rule a.b { onnx.Relu(%x) }"],
    }
}

const RELU: OpDef = OpDef::new("onnx.Relu", 13).operands(1, 1);

plugin! {
    name: "acme",
    version: "1.2.0",
    requires: ["relax >= 0.1, < 2", "tir"],
    passes: [
        /// Replaces `Relu(Relu(x))` with "Relu(x)".
        ///
        /// Not more.
        function "acme.transform.Fuse" => nothing {
            opt_level: 1,
            required: ["relax.transform.FoldConstant", "b.C"],
            thread_safe: true,
            phase: "simplify",
            options: Limit,
        },
        prim_function "acme.transform.Unroll" => nothing { options: Unroll, config: "acme.Unroll" },
        prim_function "acme.transform.UnrollAgain" => nothing {
            config: "acme.Unroll",
            options: Unroll,
        },
        module "acme.transform.All" => nothing_in_a_module { changes_interface: true },
    ],
    sequentials: [
        /// Cleans up.
        ///
        /// At level 2.
        "acme.Cleanup" => [
            "acme.transform.Fuse" { most: -3, goal: "sp\"eed", names: ["a", "b"], },
            "relax.transform.FoldConstant",
            "acme.Rest" { ratio: 1.5, type: true },
        ] { opt_level: 2, required: ["relax.transform.InferType"] },
        "acme.Rest" => [],
    ],
    configs: [
        /// Where it will run.
        "acme.Target" => Unroll,
    ],
    ops: [RELU, OpDef::new("acme.Gelu", 1)],
}

mod small {
    passdock_plugin_api::plugin! { name: "small" }
}

/// The sections of a plugin, in two orders.
mod orders {
    use super::*;

    const OPS: &[OpDef] = &[RELU];

    pub mod usual {
        use super::*;
        plugin! {
            name: "order",
            version: "1.2.0",
            passes: [function "order.transform.Pass" => nothing { options: Unroll }],
            configs: ["order.Target" => Unroll],
            ops: [RELU],
        }
    }

    pub mod other {
        use super::*;
        plugin! {
            ops: super::OPS,
            configs: ["order.Target" => Unroll,],
            passes: [function "order.transform.Pass" => nothing { options: Unroll },],
            version: "1.2.0",
            name: "order"
        }
    }
}

#[test]
fn section_order_is_free() {
    let usual = orders::usual::PLUGIN.manifest_text();
    assert!(
        usual.contains("name = \"order.transform.Pass\""),
        "{}",
        usual
    );
    assert_eq!(orders::other::PLUGIN.manifest_text(), usual);
}

#[test]
fn manifest_contains_all_declarations() {
    let expected = r#"[plugin]
name = "acme"
version = "1.2.0"
license = "LICENSE"
requires = ["relax >= 0.1, < 2", "tir"]
abi = "1.0"
min_host = "1.0"
ir = "1.0"
language = "1.0"
extensions = ["passdock.loops/1"]
panic = "unwind"
layout = "LAYOUT"
compiler = "COMPILER"

[[pass]]
name = "acme.transform.Fuse"
kind = "function"
opt_level = 1
required = ["relax.transform.FoldConstant", "b.C"]
summary = "Replaces `Relu(Relu(x))` with \"Relu(x)\".\n\nNot more."
thread_safe = true
phase = "simplify"
[[pass.option]]
name = "most"
type = "int"
mandatory = true
min = -1
max = 8
doc = "How many."
[[pass.option]]
name = "least"
type = "int"
default = 1
min = 1
max = 9223372036854775807
[[pass.option]]
name = "count"
type = "int"
default = 3
min = 0
max = 4294967295
[[pass.option]]
name = "goal"
type = "string"
default = "size"
choices = ["speed", "size"]
doc = "The goal to optimize for."
[[pass.option]]
name = "names"
type = "strings"
default = ["a", "b\""]
[[pass.option]]
name = "none"
type = "strings"
default = []
[[pass.option]]
name = "found"
type = "rules"
default = ["rule a.b { onnx.Relu(%x) }"]

[[pass]]
name = "acme.transform.Unroll"
kind = "prim_function"
opt_level = 0
required = []
config = "acme.Unroll"
OPTIONS
[[pass]]
name = "acme.transform.UnrollAgain"
kind = "prim_function"
opt_level = 0
required = []
config = "acme.Unroll"
OPTIONS
[[pass]]
name = "acme.transform.All"
kind = "module"
opt_level = 0
required = []
changes_interface = true

[[sequential]]
name = "acme.Cleanup"
opt_level = 2
required = ["relax.transform.InferType"]
summary = "Cleans up.\n\nAt level 2."
passes = [
{ name = "acme.transform.Fuse", options = { most = -3, goal = "sp\"eed", names = ["a", "b"] } },
{ name = "relax.transform.FoldConstant", options = { } },
{ name = "acme.Rest", options = { ratio = 1.5, type = true } },
]

[[sequential]]
name = "acme.Rest"
opt_level = 0
required = []
passes = [
]

[[config]]
key = "acme.Target"
doc = "Where it will run."
FIELDS
[[config]]
key = "acme.Unroll"
FIELDS
[[op]]
name = "onnx.Relu"
since = 13

[[op]]
name = "acme.Gelu"
since = 1
"#;
    let options = r#"[[pass.option]]
name = "auto_max_step"
type = "int"
default = -3
doc = "The most iterations."
[[pass.option]]
name = "explicit_unroll"
type = "bool"
default = true
doc = "A \"quoted\" \\ word,\nand a second line."
[[pass.option]]
name = "ratio"
type = "float"
default = 1.0
[[pass.option]]
name = "mode"
type = "string"
default = "tab\u0009here, \nand ü"
"#;
    let expected = expected
        .replace("OPTIONS\n", &format!("{}\n", options))
        .replace(
            "FIELDS\n",
            &format!("{}\n", options.replace("pass.option", "config.field")),
        )
        .replace("LICENSE", env!("CARGO_PKG_LICENSE"))
        .replace(
            "LAYOUT",
            &format!("{:08x}", passdock_plugin_api::abi::LAYOUT),
        );
    let text = PLUGIN.manifest_text();
    let compiler = text
        .split("\ncompiler = \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    // `rustc 1.63.0 (…)`: the name and a version.
    let mut words = compiler.split(' ');
    assert_eq!(words.next(), Some("rustc"), "{}", compiler);
    let version = words.next().unwrap_or_default();
    assert!(version.starts_with("1."), "{}", compiler);
    assert_eq!(text, expected.replace("COMPILER", compiler));
    assert_eq!(PLUGIN.manifest().last(), Some(&0));
}

#[test]
fn empty_plugin_defaults_to_crate_version() {
    let text = small::PLUGIN.manifest_text();
    let version = format!(
        "name = \"small\"\nversion = \"{}\"\n",
        env!("CARGO_PKG_VERSION")
    );
    assert!(text.contains(&version), "{}", text);
    assert!(!text.contains("[["), "{}", text);
}

#[test]
fn unset_options_read_as_defaults() {
    use passdock_plugin_api::{OptionValue, Options};

    let read = |value: OptionValue, of: &'static str| {
        Unroll::read(&move |name| {
            Ok(if name == of {
                Some(value.clone())
            } else {
                None
            })
        })
    };
    let set = read(OptionValue::Int(7), "auto_max_step").unwrap();
    assert_eq!((set.auto_max_step, set.explicit_unroll), (7, true));
    let set = read(OptionValue::Int(2), "ratio").unwrap();
    assert_eq!(set.ratio, 2.0);
    let error = read(OptionValue::Int(1), "explicit_unroll").unwrap_err();
    assert_eq!(
        error.message,
        "invalid value for option `explicit_unroll`: expected a bool, found 1"
    );
}

mod tables {
    use passdock_plugin_api::prelude::*;

    options! {
        struct Bind {
            /// Whether all.
            all: bool = false,
            /// By name.
            #[range(1..)]
            #[rest]
            dims: Table<i64> = [],
            values: Table<OptionValue> = [],
        }
    }

    fn bind(_f: &mut Function, cx: &PassContext) -> PassResult {
        let bind: Bind = cx.options()?;
        cx.emit(&Diagnostic::note(format!("{:?}", bind)));
        Ok(())
    }

    plugin! {
        name: "acme",
        version: "1",
        passes: [function "acme.transform.Bind" => bind { options: Bind }],
    }

    #[test]
    fn table_option_accepts_undeclared_keys() {
        let manifest = PLUGIN.manifest_text();
        let option = manifest.split_once("[[pass.option]]").map(|(_, rest)| rest);
        assert_eq!(
            option,
            Some(
                r#"
name = "all"
type = "bool"
default = false
doc = "Whether all."
[[pass.option]]
name = "dims"
type = "ints"
default = {}
min = 1
max = 9223372036854775807
rest = true
doc = "By name."
[[pass.option]]
name = "values"
type = "values"
default = {}
"#
            )
        );
    }
}

#[test]
fn options_struct_converts_to_table() {
    let limit = Limit {
        most: 7,
        ..Limit::default()
    };
    assert_eq!(
        OptionValue::from(limit).to_string(),
        concat!(
            r#"{ most = 7, least = 1, count = 3, goal = "size", names = ["a", "b\""], none = [], "#,
            r#"found = ["rule a.b { onnx.Relu(%x) }"] }"#
        )
    );
}

mod instruments {
    use super::Limit;
    use passdock_plugin_api::prelude::*;

    struct Growth;

    impl Instrument for Growth {
        fn new(_cx: &PassContext) -> Result<Self, PassError> {
            Ok(Growth)
        }
    }

    plugin! {
        name: "acme",
        version: "1.0.0",
        instruments: [
            /// Notes the passes that add ops.
            "acme.growth" => Growth { options: Limit },
            "acme.growth-again" => Growth,
        ],
    }

    #[test]
    fn instruments_are_listed_with_their_options() {
        let text = PLUGIN.manifest_text();
        let expected = r#"
[[instrument]]
name = "acme.growth"
summary = "Notes the passes that add ops."
[[instrument.option]]
name = "most"
type = "int"
"#;
        assert!(text.contains(expected), "{}", text);
        assert!(text.ends_with("\n[[instrument]]\nname = \"acme.growth-again\"\n"));
    }
}
