//! Passes of the program itself, from structs.

use passdock_abi::FunctionKind;
use passdock_plugin_api as sdk;

use super::{
    PassDeclaration, PassRef, create_function_pass, create_module_pass, create_prim_func_pass,
};

/// A pass on each function as a type of its own, whose fields are set where it is made.
///
/// ```
/// # mod passdock {
/// #     pub use passdock_core::*;
/// #     pub use passdock_plugin_api as sdk;
/// # }
/// use passdock::{FunctionPass, PassDeclaration, PassInfo, Registry, sdk};
///
/// /// Renames ops.
/// struct Rename {
///     from: &'static str,
///     to: &'static str,
/// }
///
/// impl FunctionPass for Rename {
///     fn declaration(&self) -> PassDeclaration {
///         PassInfo::new("demo.transform.Rename").opt_level(1).into()
///     }
///
///     fn run(&self, f: &mut sdk::Function, _cx: &sdk::PassContext) -> sdk::PassResult {
///         for op in f.ops_named(self.from) {
///             let operands = f.operands(op).collect::<Vec<_>>();
///             f.replace_op(op, sdk::OpBuilder::new(self.to).operands(operands))?;
///         }
///         Ok(())
///     }
/// }
///
/// let rename = Rename { from: "onnx.Relu", to: "acme.Relu" }.into_pass();
/// Registry::new().register(rename)?;
/// # Ok::<(), passdock::PassError>(())
/// ```
pub trait FunctionPass: Send + Sync {
    /// What the pass says about itself; asked once, when it is made.
    fn declaration(&self) -> PassDeclaration;

    /// The kind of function that it runs on.
    fn kind(&self) -> FunctionKind {
        FunctionKind::GRAPH
    }

    /// Runs the pass on a function; on several at once, unless it declares that it can't.
    ///
    /// # Errors
    /// What keeps the pass from doing its work. The function stays as it was then. Of an error of
    /// another type only the sentence is kept; a code and advice are a diagnostic's, which `cx.emit`
    /// takes.
    fn run(&self, function: &mut sdk::Function, cx: &sdk::PassContext) -> sdk::PassResult;

    /// The pass, to register it, to put it in a [`Sequential`](super::Sequential), or to call it.
    fn into_pass(self) -> PassRef
    where
        Self: Sized + 'static,
    {
        let (declared, kind) = (self.declaration(), self.kind());
        let body = move |f: &mut sdk::Function, cx: &sdk::PassContext| self.run(f, cx);
        match kind {
            FunctionKind::PRIM => create_prim_func_pass(declared, body),
            _ => create_function_pass(declared, body),
        }
    }
}

/// A pass on the module as a type of its own: as [`FunctionPass`].
pub trait ModulePass: Send + Sync {
    /// What the pass says about itself; asked once, when it is made.
    fn declaration(&self) -> PassDeclaration;

    /// Runs the pass on the module.
    ///
    /// # Errors
    /// What keeps the pass from doing its work. The module stays as it was then. Of an error of
    /// another type only the sentence is kept; a code and advice are a diagnostic's, which `cx.emit`
    /// takes.
    fn run(&self, module: &mut sdk::Module<'_>, cx: &sdk::PassContext) -> sdk::PassResult;

    /// The pass, to register it, to put it in a [`Sequential`](super::Sequential), or to call it.
    fn into_pass(self) -> PassRef
    where
        Self: Sized + 'static,
    {
        create_module_pass(
            self.declaration(),
            move |m: &mut sdk::Module<'_>, cx: &sdk::PassContext| self.run(m, cx),
        )
    }
}
