//! A program that embeds the pass host: it runs a Sequential of passes on a module, with a context.

use passdock::{
    DeviceType, PassContext, PassError, PassInfo, Registry, Sequential, create_function_pass,
    instruments, model_file,
};

/// A function with a constant expression, a dead op, and a Relu after a Relu.
const PROGRAM: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] [1.0, 2.0]
    %b = const f32[2] [10.0, 20.0]
    %sum = onnx.Add(%a, %b)
    %unused = onnx.Exp(%x)
    %once = onnx.Relu(%x)
    %twice = onnx.Relu(%once)
    %y = onnx.Mul(%twice, %sum)
    return %y
  }
}"#;

fn main() -> Result<(), PassError> {
    let registry = Registry::new();
    registry.load_static(passdock_plugins_onnx_ops::PLUGIN)?;
    registry.load_static(passdock_plugins_relax::PLUGIN)?;

    // The program's own pass runs among those of plugins.
    let info = PassInfo::new("demo.transform.FuseDoubleRelu").opt_level(1);
    let fuse = create_function_pass(info, |f, _cx| {
        for op in f.ops_named("onnx.Relu") {
            let inner = f.operand(op, 0).and_then(|value| f.defining_op(value));
            if let Some(inner) = inner.filter(|&inner| f.name(inner) == "onnx.Relu") {
                f.replace_op_with(op, &[f.result(inner, 0)])?;
            }
        }
        Ok(())
    });
    let sequential = Sequential::new([
        registry.get_pass("InferType")?,
        registry.get_pass("FoldConstant")?,
        fuse,
        registry.get_pass("DeadCodeElimination")?,
        instruments::print_ir("the result", instruments::stdout()),
    ]);

    let cx = PassContext::builder()
        .registry(&registry)
        .opt_level(2)
        .fallback_device(DeviceType::CPU)
        .disabled_pass(["FoldConstant"])
        .build()?;
    for pass in sequential.resolve_dependency(&cx)? {
        println!("{}", pass.info().name);
    }
    let module = model_file::parse_text("program.ir", PROGRAM)?;
    cx.scope(|_| sequential.call(module))?;
    Ok(())
}
