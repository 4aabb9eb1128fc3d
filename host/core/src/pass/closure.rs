//! Passes of the program itself, from closures.

use std::sync::Arc;

use passdock_abi::FunctionKind;
use passdock_ir::Module;
use passdock_plugin_api as sdk;

use super::{Pass, PassDeclaration, PassRef, RulesFile, Work};
use crate::boundary::{FunctionClosure, FunctionCode, ModuleClosure, ModuleCode};
use crate::config::ConfigValue;
use crate::error::PassError;

/// The body of a host pass: receives the module and the pass's options, and returns the new module.
pub type HostWork = dyn Fn(&Module, &ConfigValue) -> Result<Module, PassError> + Send + Sync;

struct ClosurePass {
    declared: PassDeclaration,
    body: Body,
    /// The file of rules that the closure applies.
    rules: Option<RulesFile>,
}

enum Body {
    Module(Box<ModuleClosure>),
    Function(FunctionKind, Box<FunctionClosure>),
    Host(Box<HostWork>),
}

/// Creates a module pass from a closure, which uses the SDK as in a plugin.
pub fn create_module_pass<F>(declared: impl Into<PassDeclaration>, body: F) -> PassRef
where
    F: for<'h> Fn(&mut sdk::Module<'h>, &sdk::PassContext) -> sdk::PassResult
        + Send
        + Sync
        + 'static,
{
    closure(declared, Body::Module(Box::new(body)))
}

/// Creates a function pass from a closure, which is called for each graph function. The calls run in parallel, unless
/// the pass declares that it isn't thread-safe.
pub fn create_function_pass<F>(declared: impl Into<PassDeclaration>, body: F) -> PassRef
where
    F: Fn(&mut sdk::Function, &sdk::PassContext) -> sdk::PassResult + Send + Sync + 'static,
{
    let body = Body::Function(FunctionKind::GRAPH, Box::new(body));
    closure(declared, body)
}

/// Creates a prim function pass from a closure, which is called for each prim function. The calls run in parallel,
/// unless the pass declares that it isn't thread-safe.
pub fn create_prim_func_pass<F>(declared: impl Into<PassDeclaration>, body: F) -> PassRef
where
    F: Fn(&mut sdk::Function, &sdk::PassContext) -> sdk::PassResult + Send + Sync + 'static,
{
    let body = Body::Function(FunctionKind::PRIM, Box::new(body));
    closure(declared, body)
}

/// Creates a host pass whose body gets no context.
pub(crate) fn create_unscoped_pass(
    declared: impl Into<PassDeclaration>,
    body: Box<HostWork>,
) -> PassRef {
    closure(declared, Body::Host(body))
}

/// Creates a function pass that applies a file of rules to each graph function.
pub(super) fn create_rules_pass(
    declared: PassDeclaration,
    rules: RulesFile,
    body: Box<FunctionClosure>,
) -> PassRef {
    Arc::new(ClosurePass {
        declared,
        body: Body::Function(FunctionKind::GRAPH, body),
        rules: Some(rules),
    })
}

fn closure(declared: impl Into<PassDeclaration>, body: Body) -> PassRef {
    Arc::new(ClosurePass {
        declared: declared.into(),
        body,
        rules: None,
    })
}

impl Pass for ClosurePass {
    fn declaration(&self) -> &PassDeclaration {
        &self.declared
    }

    fn work(&self) -> Result<Work<'_>, PassError> {
        Ok(match &self.body {
            Body::Module(body) => Work::Module(ModuleCode::Closure(body)),
            Body::Function(kind, body) => Work::Functions(*kind, FunctionCode::Closure(body)),
            Body::Host(body) => Work::Host(body),
        })
    }

    fn rules(&self) -> Option<&RulesFile> {
        self.rules.as_ref()
    }
}
