//! K. Built-in instruments.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use passdock::instruments::{PrintChanged, Sink};
use passdock::{PassContext, Sequential, create_host_pass};

use crate::common::{Log, info, module};

/// What instruments print while a pass changes the module and another doesn't.
fn printed(
    add: impl FnOnce(passdock::ContextBuilder, Sink) -> passdock::ContextBuilder,
    expected: Expect,
) {
    let log = Log::new();
    let text = Arc::new(Mutex::new(String::new()));
    let out = text.clone();
    let sink: Sink = Arc::new(move |text| out.lock().unwrap().push_str(text));
    let cx = add(PassContext::builder(), sink).build().unwrap();
    let loop_only = create_host_pass(info("keep"), |module, _| {
        let mut module = module.clone();
        for name in ["main", "other"] {
            let name = module.symbols().intern(name);
            if module.function(name).is_some() {
                module.remove(name).map_err(|e| {
                    passdock::PassError::new(passdock::ErrorKind::Failed, e.message)
                })?;
            }
        }
        Ok(module)
    });
    cx.scope(|_| Sequential::new([loop_only, log.pass(info("same"))]).call(module()))
        .unwrap();
    expected.assert_eq(&text.lock().unwrap());
}

#[test]
fn print_what_changed() {
    printed(
        |cx, sink| cx.instrument(PrintChanged::new(sink)),
        expect![[r#"
        Changed by keep:
        --- @main
        +++ @main
        @@ -1,4 +0,0 @@
        -fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
        -  %0 = onnx.Relu(%x) : f32[2]
        -  return %0
        -}
        --- @other
        +++ @other
        @@ -1,4 +0,0 @@
        -fn @other(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
        -  %0 = onnx.Neg(%x) : f32[2]
        -  return %0
        -}

    "#]],
    );
}
