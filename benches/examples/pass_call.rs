//! Runs the benchmarks' empty pass for `.ci/steps/pass_call.py`, which measures the last call.

use std::path::Path;

use passdock::{PassContext, PassError, Registry, Sequential, model_file};

fn main() -> Result<(), PassError> {
    let plugin = std::env::args().nth(1).unwrap_or_default();
    let registry = Registry::new();
    registry.load_plugin(Path::new(&plugin), &Default::default())?;
    let context = PassContext::builder().registry(&registry).build()?;
    let text = "module { fn @main(%x: f32[2]) -> (%x) { return %x } }";
    let module = model_file::parse_text("test.ir", text)?;
    let passes = Sequential::new([registry.get_pass("bench.transform.Empty")?]);
    passes.call_in(module, &context)?;
    Ok(())
}
