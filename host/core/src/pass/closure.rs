//! Passes of the program itself, made from closures.

use std::sync::Arc;

use passdock_abi::FunctionKind;
use passdock_ir::Module;
use passdock_plugin_api as sdk;

use super::{Pass, PassDeclaration, PassRef, RulesFile, Work};
use crate::boundary::{FunctionClosure, FunctionCode, ModuleClosure, ModuleCode};
use crate::config::ConfigValue;
use crate::error::PassError;

/// A pass of the host's own code: it gets the module and its options, and returns the module to go on with.
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

/// A pass from a closure on the module, written with the SDK as in a plugin.
pub fn create_module_pass<F>(declared: impl Into<PassDeclaration>, body: F) -> PassRef
where
    F: for<'h> Fn(&mut sdk::Module<'h>, &sdk::PassContext) -> sdk::PassResult
        + Send
        + Sync
        + 'static,
{
    closure(declared, Body::Module(Box::new(body)))
}

/// A pass from a closure on each graph function. It runs on several functions at once, unless it
/// declares that it isn't thread-safe.
pub fn create_function_pass<F>(declared: impl Into<PassDeclaration>, body: F) -> PassRef
where
    F: Fn(&mut sdk::Function, &sdk::PassContext) -> sdk::PassResult + Send + Sync + 'static,
{
    let body = Body::Function(FunctionKind::GRAPH, Box::new(body));
    closure(declared, body)
}

/// A pass from a closure on each prim function. It runs on several functions at once, unless it
/// declares that it isn't thread-safe.
pub fn create_prim_func_pass<F>(declared: impl Into<PassDeclaration>, body: F) -> PassRef
where
    F: Fn(&mut sdk::Function, &sdk::PassContext) -> sdk::PassResult + Send + Sync + 'static,
{
    let body = Body::Function(FunctionKind::PRIM, Box::new(body));
    closure(declared, body)
}

/// A pass of the host's own code whose body takes no context.
pub(crate) fn create_unscoped_pass(
    declared: impl Into<PassDeclaration>,
    body: Box<HostWork>,
) -> PassRef {
    closure(declared, Body::Host(body))
}

/// A pass on each graph function that applies a file of rules.
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
