//! D. Config options.

use expect_test::expect;
use passdock::{PassContext, PassError, Registry};
use passdock_plugin_api as sdk;

use crate::common::{Log, error, module};

passdock::config_struct! {
    /// How loops are unrolled.
    struct UnrollLoop {
        /// Loops of up to this many steps are unrolled.
        auto_max_step: i64 = 0, in 0..=4096;
        /// Whether loops marked `unroll` are written out.
        explicit_unroll: bool = true;
    }
}

fn registry() -> Registry {
    let registry = Registry::new();
    registry
        .register_config_option::<UnrollLoop>("tir.UnrollLoop")
        .unwrap();
    registry
        .register_config_option::<bool>("tir.disable_vectorize")
        .unwrap();
    registry.register_config_option::<i64>("tir.limit").unwrap();
    registry
}

fn build(key: &str, toml: &str) -> Result<PassContext, PassError> {
    let value = toml.parse::<toml::Value>().unwrap();
    PassContext::builder()
        .registry(&registry())
        .config(key, value)
        .build()
}

#[test]
fn r033_r036_r037_r038_r040_wrong_keys_fields_types_and_numbers_are_errors() {
    for (key, value, expected) in [
        (
            "tir.UnrolLoop",
            "1",
            expect![
                "Invalid config option `tir.UnrolLoop`; candidates are: `tir.UnrollLoop`, `relax.fallback_device_type`, `testing.immutable_module`, `tir.disable_vectorize`, `tir.limit`. Did you mean `tir.UnrollLoop`?"
            ],
        ),
        (
            "tir.UnrollLoop",
            "{ auto_max_steps = 1 }",
            expect![
                "`tir.UnrollLoop` has no field `auto_max_steps`. Did you mean `auto_max_step`?"
            ],
        ),
        (
            "tir.UnrollLoop",
            "3",
            expect![
                "Expected `tir.UnrollLoop` to be a table of {auto_max_step, explicit_unroll}, but got the int 3."
            ],
        ),
        (
            "tir.UnrollLoop",
            "{ auto_max_step = 'x' }",
            expect![[
                r#"Expected the field `auto_max_step` of `tir.UnrollLoop` to be an int, but got the string "x"."#
            ]],
        ),
        (
            "tir.UnrollLoop",
            "{ auto_max_step = 2.7 }",
            expect![
                "Expected the field `auto_max_step` of `tir.UnrollLoop` to be an int, but got the float 2.7."
            ],
        ),
        (
            "tir.UnrollLoop",
            "{ auto_max_step = -1 }",
            expect![
                "Expected the field `auto_max_step` of `tir.UnrollLoop` to be from 0 to 4096, but got the int -1."
            ],
        ),
        (
            "tir.UnrollLoop",
            "{ explicit_unroll = 1 }",
            expect![
                "Expected the field `explicit_unroll` of `tir.UnrollLoop` to be a bool, but got the int 1."
            ],
        ),
        (
            "tir.disable_vectorize",
            "1",
            expect!["Expected `tir.disable_vectorize` to be a bool, but got the int 1."],
        ),
        (
            "tir.limit",
            "true",
            expect!["Expected `tir.limit` to be an int, but got the bool true."],
        ),
        (
            "tir.limit",
            "'8'",
            expect![[
                r#"Expected `tir.limit` to be an int, but got the string "8". Write 8 without quotes."#
            ]],
        ),
    ] {
        expected.assert_eq(&error(build(key, value)));
    }
}

#[test]
fn r034_left_out_fields_have_their_defaults() {
    let cx = build("tir.UnrollLoop", "{ auto_max_step = 16 }").unwrap();
    let unroll: UnrollLoop = cx.get_config("tir.UnrollLoop").unwrap().unwrap();
    assert_eq!(
        unroll,
        UnrollLoop {
            auto_max_step: 16,
            explicit_unroll: true
        }
    );
}

#[test]
fn r042_listed_with_type_default_and_doc() {
    let listed: Vec<String> = registry()
        .list_configs()
        .iter()
        .flat_map(|info| {
            info.schema.fields.iter().map(|f| {
                format!(
                    "{} {:?} {:?} = {}: {}",
                    info.schema.key, f.name, f.ty, f.default, f.doc
                )
            })
        })
        .collect();
    expect![[r#"
        relax.fallback_device_type "" Int = 1: The device for what nobody has placed, by its number in DLPack; 1 is the CPU.
        testing.immutable_module "" Bool = false: Look whether a pass changed the module that it was given; it may only make another one.
        tir.UnrollLoop "auto_max_step" Int = 0: Loops of up to this many steps are unrolled.
        tir.UnrollLoop "explicit_unroll" Bool = true: Whether loops marked `unroll` are written out.
        tir.disable_vectorize "" Bool = false: 
        tir.limit "" Int = 0: "#]]
    .assert_eq(&listed.join("\n"));
}

#[test]
fn r043_reading() {
    let cx = build("tir.limit", "8").unwrap();
    assert_eq!(cx.get_config::<i64>("tir.limit").unwrap(), Some(8));
    assert_eq!(
        cx.get_config::<bool>("tir.disable_vectorize").unwrap(),
        None
    );
    expect!["The config option `tir.limit` is an int, which isn't the type that is asked for."]
        .assert_eq(&cx.get_config::<bool>("tir.limit").unwrap_err().to_string());
    expect!["Invalid config option `tir.limits`; candidates are: `tir.limit`, `relax.fallback_device_type`, `testing.immutable_module`, `tir.UnrollLoop`, `tir.disable_vectorize`. Did you mean `tir.limit`?"]
        .assert_eq(&cx.get_config::<i64>("tir.limits").unwrap_err().to_string());
}

#[test]
fn r044_registering_twice_is_an_error() {
    let again = registry().register_config_option::<i64>("tir.limit");
    expect!["The config option `tir.limit` is registered already, by this program. Rename one of the two."]
        .assert_eq(&again.unwrap_err().to_string());
}

#[test]
fn r045_only_in_its_own_context() {
    let outer = build("tir.limit", "8").unwrap();
    outer
        .scope(|_| {
            let inner = PassContext::builder().registry(outer.registry()).build()?;
            assert_eq!(inner.get_config::<i64>("tir.limit")?, None);
            Ok(())
        })
        .unwrap();
}

sdk::options! {
    /// The options of `Reads`.
    pub struct Reads {
        /// The first it looks at.
        #[range(0..=8)]
        from: i64 = 2,
        /// How many.
        count: u32 = 3,
        /// What matters.
        #[choices("speed", "size")]
        goal: String = "size",
        /// What is left out.
        except: Vec<String> = ["a"],
    }
}

fn reads(_m: &mut sdk::Module<'_>, cx: &sdk::PassContext) -> sdk::PassResult {
    let set: Reads = cx.config("acme.Reads")?;
    let limit = cx.config_value("tir.limit", "")?;
    cx.emit(&sdk::Diagnostic::note(format!("{set:?} {limit:?}")));
    // A key that nobody registered.
    cx.config::<Reads>("acme.Rads").map(drop)
}

sdk::plugin! {
    name: "acme",
    passes: [module "acme.transform.Reads" => reads { options: Reads, config: "acme.Reads" }],
}

#[test]
fn r040_r043_r044_options_of_plugins() {
    let registry = registry();
    registry.load_static(PLUGIN).unwrap();
    let log = Log::new();
    let build = |toml: &str| {
        let log = log.clone();
        PassContext::builder()
            .registry(&registry)
            .config("acme.Reads", toml.parse::<toml::Value>().unwrap())
            .on_diagnostic(move |said| log.add(said.message))
            .build()
    };
    let pass = registry.get_pass("acme.transform.Reads").unwrap();
    let run = |cx: PassContext| error(pass.call_in(module(), &cx));
    expect!["Error in pass acme.transform.Reads of plugin `acme` (built in): Invalid config option `acme.Rads`; candidates are: `acme.Reads`, `relax.fallback_device_type`, `testing.immutable_module`, `tir.UnrollLoop`, `tir.disable_vectorize`, `tir.limit`. Did you mean `acme.Reads`?"].assert_eq(&run(
        build("{ from = 8, goal = 'speed', except = [] }").unwrap()
    ));
    log.check(expect![[
        r#"Reads { from: 8, count: 3, goal: "speed", except: [] } Some(Int(0))"#
    ]]);
    let wrong = [
        "{ from = 9 }",
        "{ count = -1 }",
        "{ count = 4294967296 }",
        "{ goal = 'sped' }",
        "{ except = 'a' }",
        "{ except = ['a', 1] }",
    ];
    let errors: Vec<String> = wrong.into_iter().map(|toml| error(build(toml))).collect();
    expect![[r#"
        Expected the field `from` of `acme.Reads` to be from 0 to 8, but got the int 9.
        Expected the field `count` of `acme.Reads` to be from 0 to 4294967295, but got the int -1.
        Expected the field `count` of `acme.Reads` to be from 0 to 4294967295, but got the int 4294967296.
        Expected the field `goal` of `acme.Reads` to be one of `speed`, `size`, but got the string "sped". Did you mean `speed`?
        Expected the field `except` of `acme.Reads` to be a list of strings, but got the string "a". Did you mean `["a"]`?
        Expected the field `except` of `acme.Reads` to be a list of strings, but got an array."#]].assert_eq(&errors.join("\n"));
    let again = registry.register_config_option::<i64>("acme.Reads");
    expect!["The config option `acme.Reads` is registered already, by plugin acme. Rename one of the two."].assert_eq(&again.unwrap_err().to_string());
    registry.unregister_plugin("acme").unwrap();
    expect!["Invalid config option `acme.Reads`; candidates are: `relax.fallback_device_type`, `testing.immutable_module`, `tir.UnrollLoop`, `tir.disable_vectorize`, `tir.limit`."].assert_eq(&error(build("{}")));
}
