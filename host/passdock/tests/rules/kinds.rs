//! Passes that panic, run on all cores, and run each other.

use std::sync::{Arc, OnceLock};

use expect_test::expect;
use passdock::{
    PassContext, PassRef, Registry, create_function_pass, create_host_pass, create_module_pass,
};
use passdock_ir::text;
use passdock_plugin_api as sdk;

use crate::common::{Log, error, info, module, parse, registered};

#[test]
fn panic_is_an_error_and_keeps_the_module() {
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
        text.starts_with("Error in pass acme.transform.P, function @other: the pass panicked at "),
        "{text}"
    );
    assert!(text.contains("index out of bounds"), "{text}");
    assert_eq!(text::print(&before), text::print(&module()));
    let host = create_host_pass(info("h"), |_, _| std::panic::panic_any(7));
    expect!["Error in pass h: the pass panicked: a panic without a message"]
        .assert_eq(&error(host.call(module())));
}

#[test]
fn results_do_not_depend_on_thread_count() {
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
        let sink = log.clone();
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
            .on_diagnostic(move |d| sink.add(d.message))
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
    let (failure, notes) = run(4, true);
    expect!["Error in pass acme.transform.Count, function @f69: 69 is broken"].assert_eq(&failure);
    assert_eq!(
        notes.len(),
        70,
        "diagnostics of later functions are dropped"
    );
    let (_, notes) = run(4, false);
    assert_eq!(notes.len(), 200);
}

#[test]
fn mutual_recursion_of_passes_is_bounded() {
    let runs = |name: &str, other: &'static str| {
        create_module_pass(info(name), move |m: &mut sdk::Module, cx| {
            m.run_pass(cx, other)
        })
    };
    let (_, context) = registered([runs("ping", "pong"), runs("pong", "ping")]);
    let cx = context.build().unwrap();
    let ping = cx.registry().get_pass("ping").unwrap();
    expect![
        "Error in pass ping, run by pong: passes run each other more than 64 levels deep: ping -> pong -> ping; \
            remove the recursion"
    ].assert_eq(&error(ping.call_in(module(), &cx)));
    // The same for a pass of the program.
    let itself: Arc<OnceLock<PassRef>> = Arc::default();
    let pass = itself.clone();
    let runs_itself = create_host_pass(info("itself"), move |module, _| {
        pass.get().unwrap().call(module.clone())
    });
    let pass = itself.get_or_init(|| runs_itself);
    expect![
        "Error in pass itself: passes run each other more than 64 levels deep: itself -> itself; remove the recursion"
    ].assert_eq(&error(pass.call(module())));
}
