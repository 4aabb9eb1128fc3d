//! The `print-changed` instrument, which prints the changes of each pass as a diff of the metadata and the changed
//! functions. The format is that of `.ir` files, without the bytes of large constants.
//!
//! For a pass that runs others, only its own changes are shown.

use std::sync::Arc;

use passdock_diagnostic::terminal;
use passdock_diagnostic::text_diff::{colored, unified};
use passdock_ir::Module;

use crate::error::PassError;
use crate::instrument::{
    InstrumentResult, InstrumentSpec, PassCall, PassInstrument, Running, Sink,
};

pub(super) fn spec() -> InstrumentSpec {
    let summary = "Prints a diff for each pass that changed the module.";
    InstrumentSpec::new("print-changed", summary, |(), setup| {
        let print = PrintChanged::new(setup.sink.clone());
        Ok(Arc::new(match setup.color {
            true => print.color(),
            false => print,
        }))
    })
    .watching()
}

/// An instrument that prints the changes of each pass.
pub struct PrintChanged {
    sink: Sink,
    color: bool,
    /// The module before each running pass, or after the last nested pass.
    running: Running<Module>,
}

impl PrintChanged {
    /// Creates an instrument that prints to `sink`.
    pub fn new(sink: Sink) -> PrintChanged {
        PrintChanged {
            sink,
            color: false,
            running: Running::default(),
        }
    }

    /// Prints the diff in colors, for terminals.
    pub fn color(mut self) -> PrintChanged {
        self.color = true;
        self
    }
}

impl PassInstrument for PrintChanged {
    fn name(&self) -> &str {
        "print-changed"
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        self.running.push(call.module.clone());
        Ok(())
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let PassCall { module, info, .. } = *call;
        // The changes aren't shown again for the pass around this one.
        if let Some(before) = self.running.end(module) {
            let text = unified(&before, module);
            if !text.is_empty() {
                let text = match self.color {
                    true => colored(&text),
                    false => terminal::safe(&text).into_owned(),
                };
                (self.sink)(&format!("Changed by {}:\n{text}\n", info.name));
            }
        }
        Ok(())
    }

    fn pass_failed(&self, _: &PassCall<'_>, _error: &PassError) -> InstrumentResult {
        self.running.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::instrument::built_in::testing::{
        Printed, fuse, module, negate, run_with, sequential,
    };
    use crate::pass::PassInfo;
    use crate::run::create_host_pass;

    #[test]
    fn output_is_colored_like_a_diff() {
        let printed = Printed::default();
        let print = Arc::new(PrintChanged::new(printed.sink()).color());
        run_with(print, &sequential("s", [fuse(), fuse()]), module());
        expect![[r#"
            Changed by demo.transform.Fuse:
            ESC[31m--- @mainESC[0m
            ESC[32m+++ @mainESC[0m
            ESC[36m@@ -1,6 +1,5 @@ESC[0m
             fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
               %0 = onnx.Relu(%x) : f32[2]
            ESC[31m-  %1 = onnx.Relu(%0) : f32[2]ESC[0m
            ESC[31m-  %2 = onnx.Abs(%1) : f32[2]ESC[0m
            ESC[32m+  %2 = onnx.Abs(%0) : f32[2]ESC[0m
               return %2
             }

        "#]]
        .assert_eq(&printed.take().replace('\x1b', "ESC"));
    }

    #[test]
    fn metadata_changes_are_printed() {
        let printed = Printed::default();
        let name = create_host_pass(PassInfo::new("demo.transform.Name"), |module, _| {
            let mut after = module.clone();
            after.set_metadata(vec![("author".to_owned(), "me".to_owned())]);
            Ok(after)
        });
        let print = Arc::new(PrintChanged::new(printed.sink()));
        run_with(print, &sequential("s", [name]), module());
        expect![[r#"
            Changed by demo.transform.Name:
            --- module
            +++ module
            @@ -0,0 +1 @@
            +metadata "author" = "me"

        "#]]
        .assert_eq(&printed.take());
    }

    #[test]
    fn changes_are_printed_per_pass() {
        let printed = Printed::default();
        let print = Arc::new(PrintChanged::new(printed.sink()));
        run_with(print, &sequential("s", [fuse(), negate()]), module());
        expect![[r#"
            Changed by demo.transform.Fuse:
            --- @main
            +++ @main
            @@ -1,6 +1,5 @@
             fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
               %0 = onnx.Relu(%x) : f32[2]
            -  %1 = onnx.Relu(%0) : f32[2]
            -  %2 = onnx.Abs(%1) : f32[2]
            +  %2 = onnx.Abs(%0) : f32[2]
               return %2
             }

            Changed by demo.transform.Negate:
            --- @main
            +++ @main
            @@ -1,5 +1,5 @@
             fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
               %0 = onnx.Relu(%x) : f32[2]
            -  %1 = onnx.Abs(%0) : f32[2]
            +  %1 = onnx.Neg(%0) : f32[2]
               return %1
             }
            --- @other
            +++ @other
            @@ -1,4 +1,4 @@
             fn @other(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
            -  %0 = onnx.Abs(%x) : f32[2]
            +  %0 = onnx.Neg(%x) : f32[2]
               return %0
             }

        "#]]
        .assert_eq(&printed.take());
    }
}
