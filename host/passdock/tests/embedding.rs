//! A program that embeds the host and depends only on the crate `passdock`.

use std::sync::{Arc, Mutex, mpsc};

use expect_test::expect;
use passdock::sdk::{self, DType, FunctionBuilder, FunctionKind, OpBuilder, TypeSpec};
use passdock::{
    CancellationToken, ContextBuilder, FunctionPass, InstrumentResult, Module, ModulePass,
    PassCall, PassContext, PassDeclaration, PassError, PassInfo, PassInstrument, PassRef, Registry,
    Sequential, Severity, create_function_pass, create_module_pass, ir, pipeline, toml,
};

const TEXT: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x)
    %1 = onnx.Relu(%0)
    return %1
  }
}
"#;

/// Builds `TEXT` op by op.
fn built() -> Result<Module, PassError> {
    ir::build_module(|m| {
        let main = m.create("main", FunctionKind::GRAPH, None)?;
        main.set_opset("", 17)?;
        let pair = main.add_type(&TypeSpec::shaped(DType::F32, &[2]))?;
        let mut body = FunctionBuilder::new(main);
        let x = body.param("x", pair)?;
        let once = body.value("onnx.Relu", [x])?;
        let y = body.value("onnx.Relu", [once])?;
        let region = main.body();
        Ok(main.set_named_results(region, &[("y", pair, y)])?)
    })
}

/// A pass as a closure.
fn fuse_double_relu() -> PassRef {
    let info = PassInfo::new("demo.transform.FuseDoubleRelu").opt_level(1);
    create_function_pass(info, |f, _cx| {
        for op in f.ops_named("onnx.Relu") {
            let inner = f.operand(op, 0).and_then(|value| f.defining_op(value));
            if let Some(inner) = inner.filter(|&inner| f.name(inner) == "onnx.Relu") {
                f.replace_op_with(op, &[f.result(inner, 0)])?;
            }
        }
        Ok(())
    })
}

/// A pass as a struct, whose fields are set when it is created.
struct Rename {
    from: &'static str,
    to: String,
}

impl FunctionPass for Rename {
    fn declaration(&self) -> PassDeclaration {
        let info = PassInfo::new("demo.transform.Rename").opt_level(1);
        info.required(["demo.transform.FuseDoubleRelu"]).into()
    }

    fn run(&self, f: &mut sdk::Function, _cx: &sdk::PassContext) -> sdk::PassResult {
        for op in f.ops_named(self.from) {
            let operands: Vec<_> = f.operands(op).collect();
            f.replace_op(op, OpBuilder::new(&*self.to).operands(operands))?;
        }
        Ok(())
    }
}

/// A module pass as a struct, which counts the functions.
struct Count(Arc<Mutex<usize>>);

impl ModulePass for Count {
    fn declaration(&self) -> PassDeclaration {
        PassInfo::new("demo.transform.Count").into()
    }

    fn run(&self, m: &mut sdk::Module<'_>, _cx: &sdk::PassContext) -> sdk::PassResult {
        *self
            .0
            .lock()
            .map_err(|_| sdk::PassError::new("a thread panicked"))? = m.functions().len();
        Ok(())
    }
}

/// An instrument that records which passes ran.
#[derive(Default)]
struct Names(Mutex<Vec<String>>);

impl PassInstrument for Names {
    fn name(&self) -> &str {
        "names"
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.0
            .lock()
            .map_err(|_| "a thread panicked")?
            .push(call.info.name.clone());
        Ok(())
    }
}

fn registry() -> Result<Registry, PassError> {
    let registry = Registry::new();
    registry.register(fuse_double_relu())?;
    let to = "acme.Relu".to_owned();
    registry.register(
        Rename {
            from: "onnx.Relu",
            to,
        }
        .into_pass(),
    )?;
    Ok(registry)
}

#[test]
fn module_is_built_printed_and_parsed() {
    let built = built().unwrap();
    assert_eq!(built.to_string(), TEXT);
    let parsed = ir::parse_text("demo.ir", TEXT).unwrap();
    assert_eq!(parsed.to_string(), TEXT);
    let main = parsed.function_named("main").unwrap();
    let names: Vec<&str> = main.ops().map(|(_, op)| main.text(op.name)).collect();
    assert_eq!(names, ["onnx.Relu", "onnx.Relu"]);
}

#[test]
fn module_edits_outside_passes_are_verified() {
    let before = built().unwrap();
    let after = ir::edit_module(&before, |m| {
        m.edit("main")?.set_function_attr("kind", "encoder")?;
        Ok(())
    });
    let attrs = " attributes {kind = \"encoder\"} {\n";
    assert_eq!(
        after.unwrap().to_string(),
        TEXT.replace(" {\n    %0", &format!("{attrs}    %0"))
    );
    assert_eq!(before.to_string(), TEXT);
    let missing = ir::edit_module(&before, |m| Ok(m.remove("other")?)).unwrap_err();
    assert_eq!(missing.message, "the module has no function called `other`");
    let unfinished = ir::build_module(|m| {
        m.create("main", FunctionKind::GRAPH, None)?;
        Ok(())
    });
    assert_eq!(unfinished.unwrap_err().kind, passdock::ErrorKind::Verify);
    let panicked = ir::build_module(|_| panic!("ouch")).unwrap_err();
    assert_eq!(panicked.kind, passdock::ErrorKind::Panicked);
}

#[test]
fn function_of_another_module_is_inserted() {
    let mut module = built().unwrap();
    let text = "module { fn @helper(%x: f32[n]) -> (%y) { %0 = onnx.Abs(%x) return %0 } }";
    let other = ir::parse_text("helper.ir", text).unwrap();
    module
        .insert_copy(other.function_named("helper").unwrap())
        .unwrap();
    let names: Vec<&str> = module.functions().map(|f| f.text(f.name())).collect();
    assert_eq!(names, ["main", "helper"]);
}

#[test]
fn sequential_runs_passes_and_calls_instruments() {
    let registry = registry().unwrap();
    let functions = Arc::new(Mutex::new(0));
    let sequential = Sequential::new([
        registry.get_pass("demo.transform.Rename").unwrap(),
        Count(functions.clone()).into_pass(),
    ]);
    let names = Arc::new(Names::default());
    let cx = PassContext::builder()
        .registry(&registry)
        .shared_instrument(names.clone())
        .build()
        .unwrap();
    // With the program's own error type.
    let run = || -> Result<Module, Box<dyn std::error::Error>> {
        cx.scope(|_| Ok(sequential.call(built()?)?))
    };
    let after = run().unwrap();
    assert!(after.to_string().contains("%0 = acme.Relu(%x)"), "{after}");
    assert_eq!(*functions.lock().unwrap(), 1);
    assert_eq!(
        *names.0.lock().unwrap(),
        [
            "demo.transform.FuseDoubleRelu",
            "demo.transform.Rename",
            "demo.transform.Count",
            "sequential",
        ]
    );
}

#[test]
fn single_pass_runs_without_a_pipeline() {
    let after = fuse_double_relu().call(built().unwrap()).unwrap();
    assert_eq!(after.op_count(), 1);
    let cx = PassContext::builder().opt_level(0).build().unwrap();
    let after = Sequential::new([fuse_double_relu()]).call_in(built().unwrap(), &cx);
    assert_eq!(
        after.unwrap().op_count(),
        2,
        "its level is above the context's"
    );
}

#[test]
fn pipeline_runs() {
    let text = "
        [context]
        opt_level = 3
        [[passes]]
        name = 'demo.transform.Rename'
    ";
    let pipeline = pipeline::Pipeline::from_toml(text).unwrap();
    let prepared = pipeline.resolve(&registry().unwrap()).unwrap();
    assert_eq!(prepared.run(built().unwrap()).unwrap().op_count(), 1);
}

passdock::sdk::options! {
    /// Loop tiling.
    struct Tile {
        /// Number of iterations of the inner loop.
        #[range(1..=4096)]
        size: u32 = 16,
        /// Whether to round the last tile up.
        pad: bool = true,
    }
}

#[test]
fn unset_config_value_has_its_default() {
    let registry = Registry::new();
    registry
        .register_config_option::<Tile>("acme.Tile")
        .unwrap();
    let builder = || PassContext::builder().registry(&registry);
    let cx = builder().build().unwrap();
    assert_eq!(cx.get_config::<Tile>("acme.Tile").unwrap(), None);
    assert_eq!(cx.config_or_default::<Tile>("acme.Tile").unwrap().size, 16);
    let tile = |size| Tile {
        size,
        ..Tile::default()
    };
    let cx = builder().config("acme.Tile", tile(8)).build().unwrap();
    assert_eq!(cx.config_or_default::<Tile>("acme.Tile").unwrap(), tile(8));
    assert!(cx.config_or_default::<bool>("acme.Tile").is_err());
    assert!(cx.config_or_default::<Tile>("acme.Tiles").is_err());
    let error = builder().config("acme.Tile", tile(0)).build().unwrap_err();
    expect!["invalid value for `size` of `acme.Tile`: expected an int from 1 to 4096, found 0"]
        .assert_eq(&error.to_string());
}

#[test]
fn passes_read_config_keys_of_the_program() {
    use sdk::Table;

    let registry = Registry::new();
    registry
        .register_config_option::<Tile>("acme.Tile")
        .unwrap();
    registry.register_config_option::<i64>("acme.most").unwrap();
    registry
        .register_config_option::<f64>("acme.ratio")
        .unwrap();
    registry
        .register_config_option::<Vec<String>>("acme.names")
        .unwrap();
    registry
        .register_config_option::<Table<i64>>("acme.dims")
        .unwrap();
    let (sender, receiver) = mpsc::channel();
    let reads = create_module_pass(PassInfo::new("demo.transform.Reads"), move |_, cx| {
        let tile: Tile = cx.config("acme.Tile")?;
        let most: i64 = cx.config("acme.most")?;
        let ratio: f64 = cx.config("acme.ratio")?;
        let names: Vec<String> = cx.config("acme.names")?;
        let dims: Table<i64> = cx.config("acme.dims")?;
        let dims: Vec<_> = dims.into_iter().collect();
        let values = format!("{tile:?} {most} {ratio:?} {names:?} {dims:?}");
        sender
            .send(values)
            .map_err(|error| sdk::PassError::new(error.to_string()))
    });
    let run = |cx: ContextBuilder| {
        reads
            .call_in(built().unwrap(), &cx.build().unwrap())
            .unwrap();
        receiver.recv().unwrap()
    };
    let builder = || PassContext::builder().registry(&registry);
    expect!["Tile { size: 16, pad: true } 0 0.0 [] []"].assert_eq(&run(builder()));
    let cx = builder()
        .config("acme.Tile", toml::toml! { pad = false })
        .config("acme.most", 8)
        .config("acme.ratio", 1)
        .config("acme.names", vec!["a"])
        .config("acme.dims", toml::toml! { batch = 2 });
    expect![[r#"Tile { size: 16, pad: false } 8 1.0 ["a"] [("batch", 2)]"#]].assert_eq(&run(cx));
}

sdk::options! {
    /// The options of `Say`.
    struct Say {
        /// The text.
        what: String,
        /// The number of repetitions.
        #[range(1..)]
        times: usize = 1,
    }
}

#[test]
fn program_pass_has_options() {
    let (sender, receiver) = mpsc::channel();
    let declared = PassDeclaration {
        config: Some("demo.Say".to_owned()),
        ..PassInfo::new("demo.transform.Say").options::<Say>()
    };
    let say = create_function_pass(declared, move |_, cx| {
        let say: Say = cx.options()?;
        sender
            .send(say.what.repeat(say.times))
            .map_err(|error| sdk::PassError::new(error.to_string()))
    });
    let registry = Registry::new();
    registry.register(say).unwrap();
    registry.register_config_option::<Say>("demo.Say").unwrap();
    let run = |text: &str| {
        let text = format!("[[passes]]\nname = 'demo.transform.Say'\n{text}");
        let result = pipeline::Pipeline::from_toml(&text)
            .and_then(|pipeline| pipeline.resolve(&registry)?.run(built()?));
        match result {
            Ok(_) => receiver.recv().unwrap(),
            Err(error) => error.to_string(),
        }
    };
    let outputs = [
        run("options = { what = 'a', times = 3 }"),
        run("options = { times = 2 }\n[context.config.'demo.Say']\nwhat = 'b'\ntimes = 9"),
        run("options = { time = 2 }"),
        run("options = { times = 0 }"),
        run(""),
    ];
    expect![[r#"
        aaa
        bb
        pipeline.toml:3:13: unknown field `time` of `demo.transform.Say`; did you mean `times`?
        pipeline.toml:3:21: invalid value for `times` of `demo.transform.Say`: expected an int ≥ 1, found 0
        missing required option `what` of pass `demo.transform.Say`; set `demo.Say.what` in the context's config"#]]
    .assert_eq(&outputs.join("\n"));

    let options = toml::toml! { what = "c" };
    let say = registry.get_pass_with_options("demo.transform.Say", &options);
    say.unwrap().call(built().unwrap()).unwrap();
    assert_eq!(receiver.recv().unwrap(), "c");
}

#[test]
fn outer_context_exits_after_the_inner_one() {
    let context = |level| PassContext::builder().opt_level(level).build().unwrap();
    let (outer, inner) = (context(1), context(3));
    let (mut first, mut second) = (outer.enter().unwrap(), inner.enter().unwrap());
    first.exit().unwrap_err();
    assert!(PassContext::current().is(&inner));
    second.exit().unwrap();
    first.exit().unwrap();
    first.exit().unwrap();
    assert!(!PassContext::current().is(&outer));
}

#[test]
fn aliases_are_rejected_at_registration() {
    let registry = Registry::new();
    let pass = |name: &str| create_module_pass(PassInfo::new(name), |_m, _cx| Ok(()));
    registry
        .register(pass("relax.transform.FoldConstant"))
        .expect("a canonical name");
    for name in [
        "relay._transform.FoldConstant",
        "relay.transform.FoldConstant",
        "tvm.relay.transform.FoldConstant",
        "FoldConstant",
    ] {
        let error = registry.register(pass(name)).expect_err("an alias");
        let expected = format!("name `{name}` is an alias of pass `relax.transform.FoldConstant`");
        assert_eq!(error.message, expected);
        assert_eq!(registry.canonical(name), "relax.transform.FoldConstant");
    }
    let key = registry.register_config_option::<i64>("relay.fallback_device_type");
    let message = key.expect_err("an alias").message;
    assert!(
        message.contains("is an alias of `relax.fallback_device_type`"),
        "{message}"
    );
}

#[test]
fn cancelled_run_stops_before_the_next_pass() {
    let token = CancellationToken::new();
    let context = PassContext::builder().cancellation(token.clone());
    let context = context.build().expect("a plain context");
    let cancels = create_module_pass(PassInfo::new("demo.transform.Cancels"), move |_m, cx| {
        assert!(!cx.is_cancelled());
        token.cancel();
        assert!(cx.is_cancelled());
        Ok(())
    });
    let runs = create_module_pass(PassInfo::new("demo.transform.Runs"), |_m, _cx| {
        panic!("the run is cancelled")
    });
    let both = Sequential::new([cancels, runs]);
    let error = both.call_in(built().expect("a module"), &context);
    expect![[r#"
        error[cancelled]: the run was cancelled
         |
         = in pass sequential"#]]
    .assert_eq(&error.expect_err("cancelled").to_diagnostic().render(false));
}

#[test]
fn details_for_authors_are_shown_on_request() {
    let emits = create_module_pass(PassInfo::new("demo.transform.Emits"), |_m, cx| {
        let mut detail = sdk::Diagnostic::note(format!("{}", cx.shows(sdk::Severity::DEBUG)));
        detail.severity = sdk::Severity::DEBUG;
        cx.emit(&detail);
        Ok(())
    });
    let emitted = |builder: ContextBuilder| {
        let (sent, received) = mpsc::channel();
        let builder = builder.on_diagnostic(move |diagnostic| {
            let _ = sent.send(diagnostic.message);
        });
        let context = builder.build().expect("a plain context");
        let module = built().expect("a module");
        emits.call_in(module, &context).expect("it runs");
        drop(context);
        received.try_iter().collect::<Vec<_>>()
    };
    assert!(emitted(PassContext::builder()).is_empty());
    let builder = PassContext::builder().shown(Severity::Debug);
    assert_eq!(emitted(builder), ["true"]);
}
