//! Passes of the program itself, from types.

use passdock_abi::FunctionKind;
use passdock_plugin_api as sdk;

use super::{
    PassDeclaration, PassRef, create_function_pass, create_module_pass, create_prim_func_pass,
};

/// A function pass that is implemented by a type. The type's fields are the parameters of the pass.
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
    /// Returns the declaration of the pass. [`FunctionPass::into_pass`] calls it once.
    fn declaration(&self) -> PassDeclaration;

    /// Returns the kind of functions that the pass runs on.
    fn kind(&self) -> FunctionKind {
        FunctionKind::GRAPH
    }

    /// Runs the pass on a function. Calls run in parallel, unless the declaration excludes it.
    ///
    /// # Errors
    /// If the pass fails. The function is then unchanged. An error of another type is converted to its message. For an
    /// error with a code and help, emit a diagnostic with `cx.emit`.
    fn run(&self, function: &mut sdk::Function, cx: &sdk::PassContext) -> sdk::PassResult;

    /// Converts to a [`PassRef`], which can be registered, called, or added to a [`Sequential`](super::Sequential).
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

/// A module pass that is implemented by a type, as in [`FunctionPass`].
pub trait ModulePass: Send + Sync {
    /// Returns the declaration of the pass. [`ModulePass::into_pass`] calls it once.
    fn declaration(&self) -> PassDeclaration;

    /// Runs the pass on the module.
    ///
    /// # Errors
    /// If the pass fails. The module is then unchanged. An error of another type is converted to its message. For an
    /// error with a code and help, emit a diagnostic with `cx.emit`.
    fn run(&self, module: &mut sdk::Module<'_>, cx: &sdk::PassContext) -> sdk::PassResult;

    /// Converts to a [`PassRef`], which can be registered, called, or added to a [`Sequential`](super::Sequential).
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
