//! H. Module, function and prim function passes.

use expect_test::expect;
use passdock::{
    PassContext, PassRef, Registry, create_function_pass, create_host_pass, create_module_pass,
    create_prim_func_pass,
};
use passdock_ir::text;

use crate::common::{Log, error, info, module, parse};

/// A function pass that writes down each function that it gets.
fn visits(log: &Log) -> PassRef {
    let log = log.clone();
    create_function_pass(info("visit"), move |f, _| {
        log.add(f.function_name());
        Ok(())
    })
}

#[test]
fn r077_a_module_pass_may_add_and_remove_functions() {
    let pass = create_module_pass(info("swap"), |module, _| {
        module.remove("other")?;
        let mut made = module.create("made", passdock_abi::FunctionKind::GRAPH, None)?;
        let body = made.body();
        Ok(made.set_results(body, &[])?)
    });
    let before = module();
    let after = pass.call(before.clone()).unwrap();
    let names: Vec<&str> = after
        .names()
        .map(|name| after.symbols().text(name))
        .collect();
    assert_eq!(names, ["main", "loop", "made"]);
    assert_eq!(
        text::print(&before),
        text::print(&module()),
        "the input is as it was"
    );
}

#[test]
fn r080_r088_nothing_changed_is_the_same_module() {
    let before = module();
    for pass in [
        create_module_pass(info("m"), |_, _| Ok(())),
        create_function_pass(info("f"), |_, _| Ok(())),
        create_host_pass(info("h"), |module, _| Ok(module.clone())),
    ] {
        assert!(pass.call(before.clone()).unwrap().is_same(&before));
    }
}

#[test]
fn r081_function_passes_get_graph_functions_and_prim_passes_prim_functions() {
    let log = Log::new();
    visits(&log).call(module()).unwrap();
    log.check(expect![[r#"
        main
        other"#]]);
    let at = log.clone();
    let prim = create_prim_func_pass(info("prim"), move |f, _| {
        at.add(f.function_name());
        Ok(())
    });
    prim.call(module()).unwrap();
    log.check(expect!["loop"]);
}

#[test]
fn r082_no_function_sees_what_became_of_another() {
    let log = Log::new();
    let at = log.clone();
    let pass = create_function_pass(info("peek"), move |f, cx| {
        f.set_function_attr("seen", 1)?;
        let module = cx.module().ok_or("a function pass has a module")?;
        for name in ["main", "other"] {
            let known = module.snapshot(name)?;
            at.add(format!(
                "{} sees {name} {}",
                f.function_name(),
                known.function_attr("seen").is_some()
            ));
        }
        Ok(())
    });
    let cx = PassContext::builder().jobs(1).build().unwrap();
    pass.call_in(module(), &cx).unwrap();
    log.check(expect![[r#"
        main sees main false
        main sees other false
        other sees main false
        other sees other false"#]]);
}

#[test]
fn r089_if_one_function_fails_none_is_changed() {
    let before = module();
    let pass = create_function_pass(info("acme.transform.F"), |f, _| {
        f.set_function_attr("touched", 1)?;
        match f.function_name() {
            "other" => Err("this one is broken".into()),
            _ => Ok(()),
        }
    });
    expect!["Error in pass acme.transform.F, function @other: this one is broken"]
        .assert_eq(&error(pass.call(before.clone())));
    assert_eq!(text::print(&before), text::print(&module()));
}

#[test]
fn r090_r091_functions_with_these_attributes_are_left_out() {
    let source = r#"module {
  fn @a() -> () attributes {SkipOptimization = 1} {
    return
  }

  fn @b() -> () attributes {SkipOptimization = 0} {
    return
  }

  fn @c() -> () attributes {Compiler = "dnnl"} {
    return
  }

  fn @d() -> () attributes {Extern = 1} {
    return
  }
}
"#;
    let log = Log::new();
    visits(&log).call(parse(source)).unwrap();
    log.check(expect!["b"]);
}

#[test]
fn a_panic_is_an_error_and_changes_nothing() {
    let before = module();
    let pass = create_function_pass(info("acme.transform.P"), |f, _| {
        f.set_function_attr("touched", 1)?;
        if f.function_name() == "other" {
            let nothing: [u8; 0] = [];
            let _ = nothing[f.op_count()];
        }
        Ok(())
    });
    let text = error(pass.call(before.clone()));
    assert!(
        text.starts_with("Error in pass acme.transform.P, function @other: The pass panicked at "),
        "{text}"
    );
    assert!(text.contains("index out of bounds"), "{text}");
    assert_eq!(text::print(&before), text::print(&module()));
    let host = create_host_pass(info("h"), |_, _| std::panic::panic_any(7));
    expect!["Error in pass h: The pass panicked: a panic without a message."]
        .assert_eq(&error(host.call(module())));
}

#[test]
fn what_comes_out_does_not_depend_on_the_number_of_threads() {
    let mut source = String::from("module {\n");
    for i in 0..200 {
        source.push_str(&format!("  fn @f{i}(%x: f32[2]) -> (%y: f32[2]) {{\n"));
        for j in 0..30 {
            let operand = if j == 0 {
                "x".to_owned()
            } else {
                format!("v{}", j - 1)
            };
            source.push_str(&format!("    %v{j} = onnx.Relu(%{operand}) : f32[2]\n"));
        }
        source.push_str("    return %v29\n  }\n\n");
    }
    source.push_str("}\n");
    let before = parse(&source);
    let run = |jobs: usize, fails: bool| {
        let log = Log::new();
        let said = log.clone();
        let pass = create_function_pass(info("acme.transform.Count"), move |f, cx| {
            let index: usize = f.function_name()[1..].parse().map_err(|_| "not a number")?;
            cx.emit(&passdock_plugin_api::Diagnostic::note(format!(
                "note {index}"
            )));
            f.set_function_attr("index", index as i64)?;
            match fails && index % 70 == 69 {
                true => Err(format!("{index} is broken").into()),
                false => Ok(()),
            }
        });
        let cx = PassContext::builder()
            .registry(&Registry::new())
            .jobs(jobs)
            .on_diagnostic(move |d| said.add(d.message))
            .build()
            .unwrap();
        let result = pass.call_in(before.clone(), &cx);
        let result = match result {
            Ok(module) => text::print(&module),
            Err(error) => error.to_string(),
        };
        (result, log.take())
    };
    assert_eq!(run(1, false), run(4, false));
    assert_eq!(run(1, true), run(4, true));
    let (failure, said) = run(4, true);
    expect!["Error in pass acme.transform.Count, function @f69: 69 is broken"].assert_eq(&failure);
    assert_eq!(said.len(), 70, "what later functions said isn't told");
    let (_, said) = run(4, false);
    assert_eq!(said.len(), 200);
}
