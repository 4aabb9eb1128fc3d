//! Helpers for tests: a module, passes that change it, and the reports of instruments.

use std::sync::{Arc, Mutex};

use passdock_ir::{Module, text};

use crate::context::{ContextBuilder, PassContext};
use crate::error::{ErrorKind, PassError};
use crate::instrument::{InstrumentRef, Sink};
use crate::pass::{PassInfo, PassRef, Sequential, create_function_pass};
use crate::run::create_host_pass;

/// A module with two consecutive Relus, and a second function.
pub(super) const TEXT: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = onnx.Relu(%0) : f32[2]
    %2 = onnx.Abs(%1) : f32[2]
    return %2
  }

  fn @other(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.Abs(%x) : f32[2]
    return %0
  }
}
"#;

pub(super) fn module() -> Module {
    parse(TEXT)
}

pub(super) fn parse(source: &str) -> Module {
    text::parse(source).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Creates a pass that replaces `Relu(Relu(x))` with `Relu(x)`.
pub(super) fn fuse() -> PassRef {
    create_function_pass(PassInfo::new("demo.transform.Fuse"), |f, _| {
        for op in f.ops_named("onnx.Relu") {
            let inner = f.operand(op, 0).and_then(|value| f.defining_op(value));
            if let Some(inner) = inner.filter(|&inner| f.name(inner) == "onnx.Relu") {
                f.replace_op_with(op, &[f.result(inner, 0)])?;
            }
        }
        Ok(())
    })
}

/// Creates a pass that replaces each `Abs` with a `Neg`.
pub(super) fn negate() -> PassRef {
    create_function_pass(PassInfo::new("demo.transform.Negate"), |f, _| {
        for op in f.ops_named("onnx.Abs") {
            let operands: Vec<_> = f.operands(op).collect();
            f.replace_op(
                op,
                passdock_plugin_api::OpBuilder::new("onnx.Neg").operands(operands),
            )?;
        }
        Ok(())
    })
}

/// Creates a pass that changes nothing.
pub(super) fn no_op(name: &str) -> PassRef {
    create_host_pass(PassInfo::new(name), |module, _| Ok(module.clone()))
}

/// Creates a pass that fails.
pub(super) fn failing(name: &str) -> PassRef {
    create_host_pass(PassInfo::new(name), |_, _| {
        Err(PassError::new(ErrorKind::Failed, "it is broken"))
    })
}

/// Creates a Sequential.
pub(super) fn sequential(name: &str, passes: impl IntoIterator<Item = PassRef>) -> PassRef {
    Sequential::new(passes).name(name).into_pass()
}

/// The text that instruments print.
#[derive(Clone, Default)]
pub(super) struct Printed(Arc<Mutex<String>>);

impl Printed {
    pub(super) fn sink(&self) -> Sink {
        let text = self.0.clone();
        Arc::new(move |more| text.lock().unwrap().push_str(more))
    }

    pub(super) fn take(&self) -> String {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Runs a pass under an instrument. Returns the instrument's report, or the error.
pub(super) fn run_with(instrument: InstrumentRef, pass: &PassRef, on: Module) -> String {
    let context = PassContext::builder().shared_instrument(instrument);
    run_in(context, pass, on).unwrap_or_else(|error| error.to_string())
}

/// Runs a pass, which may fail, under a context. Returns the reports of its instruments.
pub(super) fn run_in(
    context: ContextBuilder,
    pass: &PassRef,
    on: Module,
) -> Result<String, PassError> {
    let context = context.build()?;
    let mut text = String::new();
    let result = context.scope(|cx| {
        let result = pass.call(on);
        for report in cx.instrument_reports() {
            text.push_str(&report?.text);
        }
        result
    });
    result.map(|_| text)
}

/// Replaces each number with `#`, and collapses blanks, whose count depends on numbers.
pub(super) fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' | '.' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            ' ' if out.ends_with("  ") => {}
            c => out.push(c),
        }
    }
    let units = ["# µs", "# ms", "# s"];
    units
        .iter()
        .fold(out, |out, unit| out.replace(unit, "TIME"))
}
