//! What a pass is to the host: its info, and the work that the run loop does for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use passdock_abi::FunctionKind;
use passdock_ir::Module;
use passdock_plugin_api as sdk;

use crate::boundary::{FunctionClosure, FunctionPass, ModuleClosure, ModulePass};
use crate::config::{ConfigValue, OptionSource};
use crate::context::{PassContext, stack};
use crate::error::{PassError, Provider};
use crate::pass_info::{PassDeclaration, PassInfo};
use crate::plugin::{FieldValue, Phase};
use crate::run;
use crate::sequential::Sequential;
use crate::states::States;

/// A module that is handed around: its clone is a clone of pointers, and what two of them have in
/// common is there once.
pub type ModuleRef = Module;

/// A pass that several may hold.
pub type PassRef = Arc<dyn Pass>;

/// Maps a module to a module. Run one with its method `call`.
pub trait Pass: Send + Sync {
    /// Its name, level and requirements.
    fn info(&self) -> &PassInfo;

    /// What there is to do. For a plugin's pass this loads the plugin.
    fn work(&self) -> Result<Work<'_>, PassError>;

    /// The plugin that gives it.
    fn provider(&self) -> Option<&Provider> {
        None
    }

    /// The states of the module that it needs, establishes and breaks.
    fn states(&self) -> &States {
        States::NONE
    }

    /// The phase in which pipelines with a place for it run it.
    fn phase(&self) -> Option<Phase> {
        None
    }

    /// The values of its options under a context.
    fn options(&self, cx: &PassContext) -> Result<ConfigValue, PassError> {
        let _ = cx;
        Ok(ConfigValue::new())
    }

    /// The values of its options under a context, and where each comes from.
    fn option_sources(&self, cx: &PassContext) -> BTreeMap<String, (FieldValue, OptionSource)> {
        let _ = cx;
        BTreeMap::new()
    }

    /// Whether no other pass that says the same may run meanwhile, on any thread of the process.
    fn runs_alone(&self) -> bool {
        false
    }

    /// The Sequential that it is; `None` for any other pass.
    fn as_sequential(&self) -> Option<&Sequential> {
        None
    }
}

/// What there is to do for a pass.
pub enum Work<'p> {
    /// On the module.
    Module(ModuleWork<'p>),
    /// On each function of a kind that isn't left out.
    Functions(FunctionWork<'p>),
    /// On the module, by the host's own code.
    Host(&'p HostFn),
    /// The passes of a Sequential.
    Sequence(&'p Sequential),
}

/// What there is to do for a module pass.
#[derive(Clone, Copy)]
pub struct ModuleWork<'p> {
    /// The pass.
    pub pass: ModulePass<'p>,
    /// Whether it may change what `@main` takes and gives.
    pub changes_interface: bool,
}

/// What there is to do for a function pass.
#[derive(Clone, Copy)]
pub struct FunctionWork<'p> {
    /// Graph functions or prim functions.
    pub kind: FunctionKind,
    /// The pass.
    pub pass: FunctionPass<'p>,
    /// Whether it may run on several functions at once.
    pub thread_safe: bool,
    /// Whether it may change parameters and results.
    pub changes_interface: bool,
}

/// The host's own code as a pass: it gets the module as it is and answers what to go on with.
pub type HostFn = dyn Fn(&Module, &PassContext) -> Result<Module, PassError> + Send + Sync;

impl dyn Pass + '_ {
    /// Runs the pass under this thread's current context: whatever its level, and without the
    /// passes that it requires, which are a [`Sequential`]'s business. What comes back shares with
    /// clones of the module what didn't change.
    pub fn call(&self, module: ModuleRef) -> Result<ModuleRef, PassError> {
        self.call_in(module, &PassContext::current())
    }

    /// Runs the pass under a given context.
    pub fn call_in(&self, module: ModuleRef, cx: &PassContext) -> Result<ModuleRef, PassError> {
        run::call(self, &module, cx, !stack::in_callback())
    }
}

impl std::fmt::Debug for dyn Pass + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.as_sequential() {
            Some(sequential) => sequential.fmt(f),
            None => write!(f, "{}", self.info()),
        }
    }
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
/// declares that it can't.
pub fn create_function_pass<F>(declared: impl Into<PassDeclaration>, body: F) -> PassRef
where
    F: Fn(&mut sdk::Function, &sdk::PassContext) -> sdk::PassResult + Send + Sync + 'static,
{
    closure(
        declared,
        Body::Function(FunctionKind::GRAPH, Box::new(body)),
    )
}

/// A pass from a closure on each prim function. It runs on several functions at once, unless it
/// declares that it can't.
pub fn create_prim_func_pass<F>(declared: impl Into<PassDeclaration>, body: F) -> PassRef
where
    F: Fn(&mut sdk::Function, &sdk::PassContext) -> sdk::PassResult + Send + Sync + 'static,
{
    closure(declared, Body::Function(FunctionKind::PRIM, Box::new(body)))
}

/// A pass of the host's own code, on the IR itself.
pub fn create_host_pass<F>(declared: impl Into<PassDeclaration>, body: F) -> PassRef
where
    F: Fn(&Module, &PassContext) -> Result<Module, PassError> + Send + Sync + 'static,
{
    closure(declared, Body::Host(Box::new(body)))
}

fn closure(declared: impl Into<PassDeclaration>, body: Body) -> PassRef {
    let declared = declared.into();
    Arc::new(ClosurePass { declared, body })
}

struct ClosurePass {
    declared: PassDeclaration,
    body: Body,
}

enum Body {
    Module(Box<ModuleClosure>),
    Function(FunctionKind, Box<FunctionClosure>),
    Host(Box<HostFn>),
}

impl Pass for ClosurePass {
    fn info(&self) -> &PassInfo {
        &self.declared.info
    }

    fn work(&self) -> Result<Work<'_>, PassError> {
        let changes_interface = self.declared.changes_interface;
        Ok(match &self.body {
            Body::Module(body) => Work::Module(ModuleWork {
                pass: ModulePass::Closure(body),
                changes_interface,
            }),
            Body::Function(kind, body) => Work::Functions(FunctionWork {
                kind: *kind,
                pass: FunctionPass::Closure(body),
                thread_safe: self.declared.thread_safe,
                changes_interface,
            }),
            Body::Host(body) => Work::Host(body),
        })
    }

    fn states(&self) -> &States {
        &self.declared.states
    }

    fn phase(&self) -> Option<Phase> {
        self.declared.phase
    }
}
