//! Options of plugins, as seen by a context, a pipeline and the pass.

use expect_test::{Expect, expect};
use passdock::{PassContext, Registry};
use passdock_plugin_api as sdk;

use crate::common::{Log, error, info, module};

fn registry() -> Registry {
    let registry = Registry::new();
    registry.register_config_option::<i64>("tir.limit").unwrap();
    registry
}

sdk::options! {
    /// The options of `Reads`.
    pub struct Reads {
        /// The index of the first element.
        #[range(0..=8)]
        from: i64 = 2,
        /// The number of elements.
        count: u32 = 3,
        /// The goal.
        #[choices("speed", "size")]
        goal: String = "size",
        /// Excluded names.
        except: Vec<String> = ["a"],
    }
}

fn reads(_m: &mut sdk::Module<'_>, cx: &sdk::PassContext) -> sdk::PassResult {
    let set: Reads = cx.config("acme.Reads")?;
    let limit = cx.config_value("tir.limit", "")?;
    cx.emit(&sdk::Diagnostic::note(format!("{set:?} {limit:?}")));
    // An unregistered key.
    cx.config::<Reads>("acme.Rads").map(drop)
}

sdk::plugin! {
    name: "acme",
    passes: [module "acme.transform.Reads" => reads { options: Reads, config: "acme.Reads" }],
}

#[test]
fn plugin_options_are_validated_and_read() {
    let registry = registry();
    registry.load_static(PLUGIN).unwrap();
    let log = Log::new();
    let build = |toml: &str| {
        let log = log.clone();
        PassContext::builder()
            .registry(&registry)
            .config("acme.Reads", toml.parse::<toml::Value>().unwrap())
            .on_diagnostic(move |diagnostic| log.add(diagnostic.message))
            .build()
    };
    let pass = registry.get_pass("acme.transform.Reads").unwrap();
    let run = |cx: PassContext| error(pass.call_in(module(), &cx));
    expect!["Error in pass acme.transform.Reads of plugin `acme` (built in): Invalid config option `acme.Rads`; \
            candidates are: `acme.Reads`, `relax.fallback_device_type`, `testing.immutable_module`, `tir.limit`; \
            did you mean `acme.Reads`?"].assert_eq(&run(
        build("{ from = 8, goal = 'speed', except = [] }").unwrap()
    ));
    log.check(expect![[
        r#"Reads { from: 8, count: 3, goal: "speed", except: [] } Some(Int(0))"#
    ]]);
    let invalid = [
        "{ from = 9 }",
        "{ count = -1 }",
        "{ count = 4294967296 }",
        "{ goal = 'sped' }",
        "{ except = 'a' }",
        "{ except = ['a', 1] }",
    ];
    let errors: Vec<String> = invalid.into_iter().map(|toml| error(build(toml))).collect();
    expect![[r#"
        invalid value for `from` of `acme.Reads`: expected an int from 0 to 8, found 9
        invalid value for `count` of `acme.Reads`: expected an int from 0 to 4294967295, found -1
        invalid value for `count` of `acme.Reads`: expected an int from 0 to 4294967295, found 4294967296
        invalid value for `goal` of `acme.Reads`: expected one of `speed`, `size`, found "sped"; did you mean `speed`?
        invalid value for `except` of `acme.Reads`: expected a list of strings, found "a"; did you mean `["a"]`?
        invalid value for `except` of `acme.Reads`: expected a list of strings, found a list"#]]
    .assert_eq(&errors.join("\n"));
    let duplicate = registry.register_config_option::<i64>("acme.Reads");
    expect![
        "config option `acme.Reads` is already registered by plugin `acme`; rename one of them"
    ]
    .assert_eq(&duplicate.unwrap_err().to_string());
    registry.unregister_plugin("acme").unwrap();
    expect![
        "Invalid config option `acme.Reads`; candidates are: `relax.fallback_device_type`, \
            `testing.immutable_module`, `tir.limit`"
    ]
    .assert_eq(&error(build("{}")));
}

mod tables {
    use super::*;

    sdk::options! {
        /// Sizes and values by name.
        pub struct Bind {
            /// Whether to bind all.
            all: bool = false,
            /// Sizes.
            #[range(1..)]
            #[rest]
            dims: Table<i64> = [],
            /// Values.
            values: Table<OptionValue> = [],
        }
    }

    use passdock_plugin_api::{OptionValue, Table};

    fn bind(_m: &mut sdk::Module<'_>, cx: &sdk::PassContext) -> sdk::PassResult {
        let options: Bind = cx.options()?;
        let dims: Vec<_> = options.dims.iter().collect();
        let values = options
            .values
            .iter()
            .map(|(name, value)| format!("{name} = {value}"));
        let values: Vec<_> = values.collect();
        cx.emit(&sdk::Diagnostic::note(format!(
            "{} {dims:?} {values:?}",
            options.all
        )));
        Ok(())
    }

    sdk::plugin! {
        name: "acme",
        passes: [module "acme.transform.Bind" => bind { options: Bind, config: "acme.Bind" }],
    }

    #[test]
    fn undeclared_options_go_to_the_rest_table() {
        let registry = registry();
        registry.load_static(PLUGIN).unwrap();
        let log = Log::new();
        let run = |config: &str, options: &str| {
            let sink = log.clone();
            let context = PassContext::builder()
                .registry(&registry)
                .config("acme.Bind", config.parse::<toml::Value>().unwrap())
                .on_diagnostic(move |diagnostic| sink.add(diagnostic.message))
                .build();
            let result = context.and_then(|cx| {
                let options: toml::Table = options.parse().unwrap();
                let pass = registry.get_pass_with_options("acme.transform.Bind", &options)?;
                pass.call_in(module(), &cx)
            });
            if let Err(error) = result {
                log.add(error.to_string());
            }
        };
        // Layers are merged per entry.
        run(
            "{ batch = 1, w = 3 }",
            "batch = 2\nall = true\n[dims]\nall = 4",
        );
        run(
            "{}",
            "[values]\na = 1\nb = [1.5, [true, -inf], []]\n'c d' = \"x\\n\\\"\"",
        );
        run("{}", "batch = 0");
        run("{}", "batch = '2'");
        run("{ batch = 2.0 }", "");
        run("{}", "dims = 3");
        run("{}", "h = 1\n[dims]\nh = 1");
        run("{}", "[values]\na = { b = 1 }");
        run("{}", "[values]\na = 2026-01-01");
        log.check(expect![["
            true [(\"all\", 4), (\"batch\", 2), (\"w\", 3)] []
            false [] [\"a = 1\", \"b = [1.5, [true, -inf], []]\", \"c d = \\\"x\\\\n\\\\\\\"\\\"\"]
            invalid value for `batch` of `acme.transform.Bind`: expected an int ≥ 1, found 0
            invalid value for `batch` of `acme.transform.Bind`: expected an int ≥ 1, found \"2\"; remove the quotes: 2
            invalid value for `batch` of `acme.Bind`: expected an int ≥ 1, found 2.0
            invalid value for `dims` of `acme.transform.Bind`: expected a table of ints, found 3
            duplicate entry `h`: set directly and in field `dims`; remove one of them
            invalid value for `a` of `acme.transform.Bind`: expected a bool, a number, a string, or a list of \
              these, found a table
            invalid value for `a` of `acme.transform.Bind`: expected a bool, a number, a string, or a list of \
              these, found a date"]]);
    }
}

sdk::options! {
    /// A key whose field has no default.
    pub struct Needs {
        /// The required value.
        what: String,
    }
}

#[test]
fn missing_required_field_is_reported_when_read() {
    let registry = Registry::new();
    registry
        .register_config_option::<Needs>("acme.Needs")
        .unwrap();
    let pass = passdock::create_module_pass(info("reads"), |_, cx| {
        cx.config::<Needs>("acme.Needs").map(drop)
    });
    let cx = PassContext::builder().registry(&registry).build().unwrap();
    expect!["Error in pass reads: missing required field `what` of config option `acme.Needs`"]
        .assert_eq(&error(pass.call_in(module(), &cx)));
}

/// Compares the error of a pipeline, rendered for a terminal, with the expected one.
#[track_caller]
fn check_error(text: &str, expected: Expect) {
    let registry = registry();
    registry.load_static(PLUGIN).unwrap();
    let pipeline = passdock::pipeline::Pipeline::from_toml(text).unwrap();
    let error = pipeline
        .resolve(&registry)
        .err()
        .expect("an invalid pipeline");
    expected.assert_eq(&error.to_diagnostic().render(false));
}

#[test]
fn config_errors_point_at_their_span() {
    check_error(
        "[context.config]\n'acme.Reads' = { goal = 'size', from = 9 }\n",
        expect![[r#"
            error[config]: invalid value for `from` of `acme.Reads`: expected an int from 0 to 8, found 9
             --> pipeline.toml:2:40
              |
            2 | 'acme.Reads' = { goal = 'size', from = 9 }
              |                                        ^"#]],
    );
    check_error(
        "[context.config.'acme.Reads']\n# from: the first\nfrom = 1\ngoal = 'sped'\n",
        expect![[r#"
            error[config]: invalid value for `goal` of `acme.Reads`: expected one of `speed`, `size`, found "sped"
             --> pipeline.toml:4:8
              |
            4 | goal = 'sped'
              |        ^^^^^^
              |
              = help: did you mean `speed`?"#]],
    );
    check_error(
        "[context.config]\n'acme.Reads'.count = -1\n",
        expect![[r#"
            error[config]: invalid value for `count` of `acme.Reads`: expected an int from 0 to 4294967295, found -1
             --> pipeline.toml:2:22
              |
            2 | 'acme.Reads'.count = -1
              |                      ^^"#]],
    );
    // The key also occurs in a value.
    check_error(
        "[context.config.'acme.Reads']\ngoal = 'size'\nexcept = ['goals']\ngoals = 1\n",
        expect![[r#"
            error[config]: unknown field `goals` of `acme.Reads`
             --> pipeline.toml:4:1
              |
            4 | goals = 1
              | ^^^^^
              |
              = help: did you mean `goal`?"#]],
    );
    // The whole value is invalid.
    check_error(
        "[context.config]\n'acme.Reads' = 7\n",
        expect![[r#"
            error[config]: invalid value for `acme.Reads`: expected a table of {from, count, goal, except}, found 7
             --> pipeline.toml:2:16
              |
            2 | 'acme.Reads' = 7
              |                ^"#]],
    );
    check_error(
        "[context.config]\n'tir.limit' = 'much'\n",
        expect![[r#"
            error[config]: invalid value for `tir.limit`: expected an int, found "much"
             --> pipeline.toml:2:15
              |
            2 | 'tir.limit' = 'much'
              |               ^^^^^^"#]],
    );
}
