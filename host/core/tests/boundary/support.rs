//! A small module, a frame for passes on it, and functions to run them.

use std::convert::Infallible;
use std::sync::Arc;

use passdock_abi as abi;
use passdock_abi::{DType, Dim, FunctionKind, TypeId};
use passdock_core::boundary::{
    CallFailure, Frame, FunctionCode, FunctionOutcome, FunctionSlot, ModuleCode, ModuleInput, host,
    run_function_pass, run_module_pass,
};
use passdock_core::{
    ConfigValue, Diagnostic, ErrorKind, MissingDefinition, OpDefs, PassError, PassKind, Plugin,
    toml,
};
use passdock_ir as ir;
use passdock_ir::{NewOp, NewPort, Position, TypeData};
use passdock_plugin_api as sdk;
use passdock_plugin_api::{PassContext, PassResult};

use crate::definitions::PLUGIN;

/// A frame with one option and a registered pass that removes the function `gone`.
pub(crate) struct TestFrame {
    limit: toml::Value,
    pub(crate) options: ConfigValue,
    defs: OpDefs,
}

impl TestFrame {
    pub(crate) fn new() -> TestFrame {
        TestFrame {
            limit: 8.into(),
            options: ConfigValue::from([("limit".to_owned(), 8.into())]),
            defs: OpDefs::new([], host()),
        }
    }

    pub(crate) fn with_ops() -> TestFrame {
        TestFrame::with_ops_of(PLUGIN)
    }

    pub(crate) fn with_ops_of(plugin: sdk::StaticPlugin) -> TestFrame {
        TestFrame::with_plugins(&[plugin])
    }

    pub(crate) fn with_plugins(plugins: &[sdk::StaticPlugin]) -> TestFrame {
        let plugin = |&plugin| Arc::new(Plugin::from_static(plugin).expect("a good plugin"));
        let plugins: Vec<Arc<Plugin>> = plugins.iter().map(plugin).collect();
        TestFrame {
            defs: OpDefs::new(&plugins, host()),
            ..TestFrame::new()
        }
    }
}

impl Frame for TestFrame {
    fn opt_level(&self) -> u32 {
        3
    }

    fn config(&self, key: &str, field: &str) -> Result<&toml::Value, String> {
        match (key, field) {
            ("t.Config", "limit") => Ok(&self.limit),
            _ => Err(format!("There is no config value `{key}.{field}`.")),
        }
    }

    fn pass_kind(&self, name: &str) -> Option<PassKind> {
        (name == "t.transform.Remove").then_some(PassKind::Module)
    }

    fn run_pass(&self, module: &ir::Module, name: &str) -> Result<ir::Module, PassError> {
        let failed = |message: String| PassError::new(ErrorKind::Failed, message);
        if name != "t.transform.Remove" {
            return Err(failed(format!("no pass is named `{name}`")));
        }
        let mut module = module.clone();
        let gone = module.symbols().intern("gone");
        module.remove(gone).map_err(|e| failed(e.message))?;
        Ok(module)
    }

    fn may_rewrite(&self, _: &str) -> bool {
        true
    }

    fn rewrote(&self, _: &str) {}

    fn op_defs(&self) -> &OpDefs {
        &self.defs
    }

    fn missing_definition(&self) -> Option<MissingDefinition> {
        self.defs.failures().into_iter().next()
    }

    fn text_source(&self) -> Option<&ir::text::TextSource> {
        None
    }

    fn show(&self, _diagnostics: &[Diagnostic]) {}
}

/// `@name(%x: f32[2]) { %0 = t.A(%x); %1 = t.A(%0); return %1 }`
pub(crate) fn function(module: &ir::Module, name: &str) -> ir::Function {
    let symbols = module.symbols();
    let mut f = ir::Function::new(symbols.clone(), FunctionKind::GRAPH, symbols.intern(name));
    let ty = f.add_type(TypeData::Tensor(DType::F32, Some(&[Dim::constant(2)])));
    let port = |name| NewPort { name, ty };
    let body = f.body();
    let mut value = f.add_arg(body, &port("x")).expect("an argument");
    for _ in 0..2 {
        let mut op = NewOp::new(symbols.intern("t.A"));
        let operands = [value];
        op.operands = &operands;
        op.result_types = &[TypeId(0)];
        let op = f.create_op(&op, Position::end(body)).expect("an op");
        value = f.result(op, 0).expect("a result");
    }
    f.set_results(body, &[value], &[port("y")])
        .expect("results");
    f
}

pub(crate) fn module() -> ir::Module {
    let mut module = ir::Module::new();
    for name in ["main", "gone"] {
        let f = function(&module, name);
        module.insert(f).expect("a new name");
    }
    module
}

pub(crate) fn run(
    module: &ir::Module,
    frame: &TestFrame,
    pass: impl Fn(&mut sdk::Function, &PassContext) -> PassResult + Send + Sync + 'static,
) -> Result<Option<Arc<ir::Function>>, String> {
    let (input, _) = ModuleInput::new(module);
    let function = module.function_named("main").expect("function `main`");
    let (result, _) = run_on(&input, frame, FunctionCode::Closure(&pass), function);
    result.map_err(|failure| {
        let location = [&failure.at.function, &failure.at.op, &failure.at.location];
        let location: Vec<&str> = location.into_iter().flatten().map(String::as_str).collect();
        let kind = if failure.panicked {
            "panicked"
        } else {
            "failed"
        };
        format!("{kind}: {} [{}]", failure.message, location.join(", "))
    })
}

/// The changed function or the failure, and the diagnostics of the pass.
pub(crate) type Outcome = (
    Result<Option<Arc<ir::Function>>, Box<CallFailure>>,
    Vec<Diagnostic>,
);

/// Runs a pass on a function of the input module.
pub(crate) fn run_on(
    input: &ModuleInput<'_>,
    frame: &TestFrame,
    pass: FunctionCode<'_>,
    function: &Arc<ir::Function>,
) -> Outcome {
    run_in(input, frame, pass, &mut FunctionSlot::new(function.clone()))
}

/// Runs a pass on the function of a slot.
pub(crate) fn run_in(
    input: &ModuleInput<'_>,
    frame: &TestFrame,
    pass: FunctionCode<'_>,
    slot: &mut FunctionSlot,
) -> Outcome {
    let mut all = (Ok(None), Vec::new());
    let report = |_: &Arc<ir::Function>, outcome: FunctionOutcome| {
        all = (outcome.result, outcome.diagnostics);
        Ok::<(), Infallible>(())
    };
    let Ok(()) = run_function_pass(pass, input, [slot], frame, &frame.options, report);
    all
}

pub(crate) fn run_module(
    module: &ir::Module,
    pass: impl for<'h> Fn(&mut sdk::Module<'h>, &PassContext) -> PassResult + Send + Sync + 'static,
) -> Result<Option<ir::Module>, String> {
    let frame = TestFrame::new();
    let outcome = run_module_pass(ModuleCode::Closure(&pass), module, &frame, &frame.options);
    outcome.result.map_err(|failure| failure.message)
}

pub(crate) fn ops(f: &ir::Function) -> Vec<String> {
    f.ops_in(f.body())
        .map(|op| f.text(f.op(op).name).to_owned())
        .collect()
}

/// Returns the function table for plugins.
pub(crate) fn raw() -> &'static abi::FunctionApi {
    // SAFETY: the host's tables are `'static`.
    unsafe { &*host().get().functions }
}

/// # Safety
/// The text is valid.
pub(crate) unsafe fn text(text: abi::Str) -> String {
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(text.ptr, text.len) };
    String::from_utf8_lossy(bytes).into_owned()
}
