//! Diagnostics of each kind of pass, and errors that callers get back with their original type.

use std::sync::Arc;

use expect_test::expect;

use passdock::{
    ErrorKind, PassContext, PassError, Sequential, create_function_pass, create_host_pass,
    create_module_pass, create_prim_func_pass,
};
use passdock_plugin_api::Diagnostic;

use crate::common::{Log, error, info, module, registered};

#[test]
fn renderer_receives_all_diagnostics_of_a_pass() {
    let log = Log::new();
    let cx = PassContext::builder()
        .renderer({
            let log = log.clone();
            move |diagnostics| {
                let diagnostics: Vec<String> = diagnostics
                    .iter()
                    .map(|d| format!("{} {:?}", d.message, d.run_by))
                    .collect();
                log.add(format!("rendered {}", diagnostics.join("; ")));
            }
        })
        .build()
        .unwrap();
    let inner = create_host_pass(info("inner"), |module, cx| {
        assert_eq!(
            cx.diag_ctx().map(|context| context.diagnostics().len()),
            Some(0)
        );
        cx.emit(note("of inner"));
        Ok(module.clone())
    });
    let outer = create_host_pass(info("outer"), move |module, cx| {
        let own = cx.diag_ctx().expect("a pass has one").clone();
        cx.emit(note("first of outer"));
        let module = inner.call(module.clone())?;
        assert!(cx.diag_ctx().is_some_and(|context| context.is(&own)));
        let current = PassContext::current();
        assert!(current.diag_ctx().is_some_and(|context| context.is(&own)));
        assert_eq!(
            own.diagnostics().len(),
            1,
            "diagnostics of the inner pass are separate"
        );
        own.emit(note("second of outer"));
        Ok(module)
    });
    let quiet = create_host_pass(info("quiet"), |module, _| Ok(module.clone()));
    assert!(cx.diag_ctx().is_none() && PassContext::current().diag_ctx().is_none());
    cx.scope(|cx| {
        let module = Sequential::new([outer, quiet]).call(module())?;
        assert!(cx.diag_ctx().is_none() && PassContext::current().diag_ctx().is_none());
        Ok::<_, PassError>(module)
    })
    .unwrap();
    // Passes without diagnostics don't call the renderer.
    log.check(expect![[r#"
        rendered of inner ["outer"]
        rendered first of outer []; second of outer []"#]]);
}

fn note(message: &str) -> passdock::Diagnostic {
    passdock::Diagnostic::new(passdock::Severity::Note, "", message)
}

/// Passes of each kind that emit a diagnostic and then fail, by a panic or an error.
#[test]
fn all_pass_kinds_emit_diagnostics_and_fail() {
    let fatal = |cx: &passdock_plugin_api::PassContext, name: &str| {
        let diagnostic = Diagnostic::error(format!("{name} is wrong")).code("acme::wrong");
        Err(cx.emit_fatal(&diagnostic))
    };
    let passes = [
        create_function_pass(info("function"), move |f, cx| fatal(cx, f.function_name())),
        create_prim_func_pass(info("prim"), move |f, cx| fatal(cx, f.function_name())),
        create_module_pass(info("module"), move |_, cx| fatal(cx, "the module")),
        create_host_pass(info("host"), |_, cx| {
            let diagnostic =
                passdock::Diagnostic::new(passdock::Severity::Bug, "bug", "It is wrong.");
            Err(cx.emit_fatal(diagnostic))
        }),
        create_host_pass(info("panics"), |_, cx| {
            cx.emit(note("soon"));
            panic!("now")
        }),
    ];
    let log = Log::new();
    for pass in passes {
        let sink = log.clone();
        let cx = PassContext::builder()
            .on_diagnostic(move |d| sink.add(format!("said: {}", d.message)))
            .build()
            .unwrap();
        log.add(error(cx.scope(|_| pass.call(module()))));
        assert!(PassContext::current().diag_ctx().is_none());
    }
    log.check(expect![["
        said: main is wrong
        Error in pass function, function @main: One or more error diagnostics were emitted, please check diagnostic \
          render for output.
        said: loop is wrong
        Error in pass prim, function @loop: One or more error diagnostics were emitted, please check diagnostic \
          render for output.
        said: the module is wrong
        Error in pass module: One or more error diagnostics were emitted, please check diagnostic render for output.
        said: It is wrong.
        Error in pass host: One or more error diagnostics were emitted, please check diagnostic render for output.
        said: soon
        Error in pass panics: the pass panicked: now"]]);
}

/// A custom error type.
#[derive(Debug)]
struct OutOfPaper;

impl std::fmt::Display for OutOfPaper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("there is no paper left")
    }
}

impl std::error::Error for OutOfPaper {}

#[test]
fn original_error_is_preserved_through_nesting() {
    let fails = create_host_pass(info("t.transform.Throws"), |_, _| {
        let error = PassError::new(ErrorKind::Failed, "It can't print.");
        Err(error.caused_by(Arc::new(OutOfPaper)))
    });
    let forwards = create_module_pass(info("t.transform.HandsOn"), |m, cx| {
        m.run_pass(cx, "t.transform.Throws")
    });
    let wraps = create_module_pass(info("t.transform.Wraps"), |m, cx| {
        m.run_pass(cx, "t.transform.Throws")
            .map_err(|error| passdock_plugin_api::PassError::new(format!("No luck: {error}")))
    });
    let (_, context) = registered([fails.clone(), forwards.clone(), wraps.clone()]);
    let cx = context.build().unwrap();
    let mut texts = Vec::new();
    for pass in [fails, forwards, wraps] {
        let nested = Sequential::new([Sequential::new([pass])]);
        let error = cx.scope(|_| nested.call(module())).unwrap_err();
        // Its direct source, or the source of an inner pass's error.
        let mut cause: &dyn std::error::Error = error.source.as_deref().expect("a cause");
        while !cause.is::<OutOfPaper>() {
            cause = cause.source().expect("the error that was thrown");
        }
        texts.push(error.to_string());
    }
    expect![[r#"
        Error in pass t.transform.Throws: It can't print.
        Error in pass t.transform.Throws, run by t.transform.HandsOn: It can't print.
        Error in pass t.transform.Wraps: No luck: Error in pass t.transform.Throws: It can't print."#]]
    .assert_eq(&texts.join("\n"));
}
