//! Handles that passes of a program receive, and passes that aren't written in Rust.

use std::sync::atomic::{AtomicBool, Ordering};

use expect_test::expect;
use passdock::pipeline::Pipeline;
use passdock::{
    ErrorKind, Module, PassError, PassInfo, Registry, Sequential, create_function_pass,
    create_module_pass, ir, set_interrupt,
};

fn relu() -> Module {
    let text = "module {
      fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {
        %two = const f32[2] [2.0, 3.0]
        %0 = onnx.Relu(%x) : f32[2]
        %1 = onnx.Mul(%0, %two) : f32[2]
        return %1
      }
    }";
    ir::parse_text("relu.ir", text).expect("valid IR")
}

#[test]
fn constant_data_outlives_the_pass() -> Result<(), PassError> {
    let stored = std::sync::Arc::new(std::sync::Mutex::new(None));
    let slot = stored.clone();
    let pass = create_function_pass(PassInfo::new("test.Keep"), move |f, _| {
        let (id, _) = f.constants().next().expect("a constant");
        *slot.lock().unwrap() = ir::constant_data(f, id).ok();
        Ok(())
    });
    drop(pass.call(relu())?);
    let data = stored.lock().unwrap().take().expect("the data");
    assert_eq!(data.bytes(), Ok(&[0, 0, 0, 64, 0, 0, 64, 64][..]));
    Ok(())
}

#[test]
fn snapshot_resolves_callees_of_its_module() {
    let text = "module {
      fn @main(%x: f32[2]) -> (%y) opset(\"\" = 17, \"acme\" = 1) { %0 = acme.Twice(%x) return %0 }
      fn @acme.Twice(%x: f32[2]) -> (%y) opset(\"\" = 17) { %0 = onnx.Add(%x, %x) return %0 }
    }";
    let module = ir::parse_text("calls.ir", text).expect("valid IR");
    let main = module
        .function_named("main")
        .expect("function `main`")
        .clone();
    let callee = |f: &ir::FunctionSnapshot| {
        let op = f.iter().next().expect("a call");
        f.callee(op).map(|name| f.text(name).to_owned())
    };
    let detached = ir::FunctionSnapshot::new(main.clone());
    assert_eq!(callee(&detached), None);
    let of_module = ir::FunctionSnapshot::in_module(main, module);
    assert_eq!(callee(&of_module).as_deref(), Some("acme.Twice"));
}

#[test]
fn module_pass_replaces_the_module() -> Result<(), PassError> {
    let other = ir::parse_text(
        "other.ir",
        "module { fn @main(%x: f32[2]) -> (%y) { return %x } }",
    )?;
    let pass = create_module_pass(PassInfo::new("test.Take"), move |m, _| {
        m.edit("main")?.set_function_attr("seen", 1)?;
        let now = ir::module_now(m).expect("a valid module");
        assert!(
            now.to_string().contains("{seen = 1}"),
            "the module contains the edits"
        );
        ir::replace_module(m, other.clone()).expect("an editable module");
        Ok(())
    });
    expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y) {
            return %x
          }
        }
    "#]]
    .assert_eq(&pass.call(relu())?.to_string());
    Ok(())
}

#[test]
fn function_of_another_module_is_copied() -> Result<(), PassError> {
    let other = relu();
    let source = other
        .function_named("main")
        .expect("function `main`")
        .clone();
    let pass = create_function_pass(PassInfo::new("test.Copy"), move |f, _| {
        let copy = ir::adopted(f, &source).expect("live handles");
        let at = passdock::sdk::Position::end_of(f.body());
        let params = f.params().to_vec();
        let results = f.clone_region_from(&copy, copy.body(), at, &params, &[])?;
        Ok(f.set_results(f.body(), &results)?)
    });
    let text = "module { fn @main(%a: f32[2]) -> (%b) opset(\"\" = 17) { return %a } }";
    let after = pass.call(ir::parse_text("a.ir", text)?)?;
    expect![[r#"
        module {
          fn @main(%a: f32[2]) -> (%b) opset("" = 17) {
            %two = const f32[2] [2.0, 3.0]
            %0 = onnx.Relu(%a) : f32[2]
            %1 = onnx.Mul(%0, %two) : f32[2]
            return %1
          }
        }
    "#]]
    .assert_eq(&after.to_string());
    Ok(())
}

#[test]
fn replaced_body_imports_its_callees() {
    const CALLS: &str = r#"fn @f(%a: f32[2]) -> (%b: f32[2]) opset("" = 17, "acme" = 1) {
        %b = acme.Twice(%a) return %b }"#;
    const TWICE: &str = r#"fn @acme.Twice(%v: f32[2]) -> (%w) opset("" = 17) {
        %c = const f32[1] [2.0] %w = onnx.Mul(%v, %c) return %w }"#;
    const OTHER: &str = "fn @acme.Other(%v) -> (%w) { %w = onnx.Abs(%v) return %w }";
    let parse = |text: &str| ir::parse_text("a.ir", &format!("module {{ {text} }}")).unwrap();
    let other = parse(&format!("{CALLS} {OTHER} {TWICE}"));
    let pass = create_function_pass(PassInfo::new("test.Put"), move |f, _| {
        if f.function_name() != "main" {
            return Ok(());
        }
        let part = ir::body_for(&other, "f", f.opset("")).map_err(|error| error.to_string())?;
        Ok(ir::replace_body(f, &part, "f")?)
    });
    let run = |text: &str| match pass.call(parse(text)) {
        Ok(after) => after.to_string(),
        Err(error) => error.to_string(),
    };
    let main = r#"fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) { return %x }"#;
    let imported = run(main);
    expect![[r#"
        module {
          fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "acme" = 1) {
            %b = acme.Twice(%x)
            return %b
          }
          fn @acme.Twice(%v: f32[2]) -> (%w) opset("" = 17) {
            %c = const f32[1] [2.0]
            %w = onnx.Mul(%v, %c)
            return %w
          }
        }
    "#]]
    .assert_eq(&imported);
    // An equal function of the module is shared, a different one of the same name is a conflict.
    assert_eq!(run(&format!("{main} {TWICE}")), imported);
    expect!["Error in pass test.Put: a new body calls a function `@acme.Twice` that differs from the `@acme.Twice` of \
            the module; rename one of them"].assert_eq(&run(&format!("{main} {}", TWICE.replace("2.0", "3.0"))));
}

#[test]
fn functions_are_merged_into_one_module() -> Result<(), ir::EditFailure> {
    let function = |name: &str, opset: u32, op: &str| {
        format!(
            "fn @{name}(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = {opset}, \"acme\" = 1) {{ %y = {op}(%x) return %y }}"
        )
    };
    let module = |functions: &[String]| {
        ir::parse_text("a.ir", &format!("module {{ {} }}", functions.concat())).unwrap()
    };
    let ops = |module: &Module| -> Vec<String> {
        let op = |f: &ir::Function| f.text(f.ops().next().expect("an op").1.name).to_owned();
        let named = |f: &ir::Function| format!("{} {}", f.text(f.name()), op(f));
        module.functions().map(|f| named(f)).collect()
    };
    let callee = function("acme.F", 17, "onnx.Relu");
    let other = module(&[function("f", 17, "acme.F"), callee.clone()]);
    let merge = |into: &mut Module, names: &[(&str, &str)]| {
        let functions = names.iter().map(|(name, source_name)| {
            ((*name).to_owned(), other.clone(), (*source_name).to_owned())
        });
        ir::put_functions(into, &functions.collect::<Vec<_>>())
    };
    let mut into = module(&[function("main", 17, "onnx.Neg"), callee]);
    assert_eq!(merge(&mut into, &[("main", "f"), ("g", "f")])?, None);
    assert_eq!(ops(&into), ["main acme.F", "acme.F onnx.Relu", "g acme.F"]);
    // A different function with a callee's name is a conflict, unless it is replaced, too.
    let mut into = module(&[function("acme.F", 11, "onnx.Abs")]);
    let error = merge(&mut into.clone(), &[("main", "f")]).unwrap_err();
    assert!(
        error.message.contains("differs from the `@acme.F`"),
        "{error}"
    );
    let both = merge(&mut into, &[("main", "f"), ("acme.F", "acme.F")])?;
    assert_eq!(ops(&into), ["acme.F onnx.Relu", "main acme.F"]);
    assert_eq!(both, None, "replaced functions are no conflict");
    let mut into = module(&[function("main", 11, "onnx.Abs")]);
    assert_eq!(merge(&mut into, &[("g", "f")])?, Some(17));
    assert!(
        merge(&mut into, &[("a b", "f")]).is_err() && merge(&mut into, &[("h", "no")]).is_err()
    );
    Ok(())
}

#[test]
fn python_passes_are_imported() -> Result<(), PassError> {
    let pipeline = Pipeline::from_toml("[[passes]]\npython = 'acme.passes:stamp'\n")?;
    let registry = Registry::new();
    let error = pipeline
        .resolve(&registry)
        .err()
        .expect("no importer is set");
    expect![[r#"
        error[unknown-pass]: cannot run Python pass `acme.passes:stamp` outside of Python
         --> pipeline.toml:2:10
          |
        2 | python = 'acme.passes:stamp'
          |          ^^^^^^^^^^^^^^^^^^^
          |
          = help: run the pipeline in Python: `passdock.run(model, pipeline, output)`"#]]
    .assert_eq(&error.to_diagnostic().render(false));
    registry.set_importer(|place, _| {
        Ok(create_function_pass(PassInfo::new(place), |f, _| {
            Ok(f.set_function_attr("stamp", 1)?)
        }))
    });
    let after = pipeline.resolve(&registry)?.run(relu())?;
    assert!(after.to_string().contains("{stamp = 1}"));
    Ok(())
}

#[test]
fn interrupt_stops_the_run_between_passes() {
    static WANTED: AtomicBool = AtomicBool::new(false);
    thread_local!(static HERE: AtomicBool = const { AtomicBool::new(false) });
    // Other tests run in parallel.
    set_interrupt(|| {
        let is_wanted =
            HERE.with(|here| here.load(Ordering::Relaxed)) && WANTED.load(Ordering::Relaxed);
        is_wanted.then(|| PassError::new(ErrorKind::Failed, "Somebody stopped it."))
    });
    HERE.with(|here| here.store(true, Ordering::Relaxed));
    let stop = create_module_pass(PassInfo::new("test.Stop"), |_, _| {
        WANTED.store(true, Ordering::Relaxed);
        Ok(())
    });
    let never = create_module_pass(PassInfo::new("test.Never"), |_, _| {
        unreachable!("the run was interrupted")
    });
    let error = Sequential::new([stop, never])
        .call(relu())
        .expect_err("interrupted");
    assert_eq!(error.message, "Somebody stopped it.");
}
