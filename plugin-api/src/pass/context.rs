//! [`PassContext`]: what a pass knows of the run it is part of, and what it says to the user.
#![allow(unsafe_code)]

use std::ptr;

use passdock_abi as abi;
use passdock_abi::{OpId, PassKind, Position, Severity, ValueId};

use crate::data::{optional, Diagnostic, EditError, OptionValue, Options, PassError};
use crate::ffi::descriptions::{EvaluateDesc, RunDesc};
use crate::ffi::{self, describe, setting, Tables};
use crate::ir::{Function, Module, OpBuilder};

/// The outcome of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evaluated {
    /// A constant for each result.
    Constants(Vec<ValueId>),
    /// The reason why there is none: `its definition has no evaluation`.
    Refused(String),
}

/// Whether a target takes an op, as op definitions say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Support {
    /// The target takes the op.
    Taken,
    /// The reason why it doesn't: `its kernel is larger than 7`.
    Refused(String),
    /// No definition of the operator speaks for the target.
    Unsaid,
}

/// The context of the running pass: level, options, config, diagnostics, op definitions.
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Infers types in contexts of level 2 and above.
/// fn infer_all(f: &mut Function, cx: &PassContext) -> PassResult {
///     if cx.opt_level() < 2 {
///         cx.emit(&Diagnostic::note("Types are inferred from level 2 on."));
///         return Ok(());
///     }
///     for op in f.ops() {
///         cx.infer(f, op).map_err(|error| PassError::from(error).at(op))?;
///     }
///     Ok(())
/// }
/// ```
pub struct PassContext {
    pub(crate) tables: &'static Tables,
    pub(crate) handle: *mut abi::Context,
    module: Option<Module<'static>>,
}

impl PassContext {
    /// A handle of a host's context, for hosts that run passes written with this SDK; `module` may be
    /// null.
    ///
    /// # Safety
    /// Both handles are as the contract says; they, and the reference that `module` points to, outlive
    /// the answer.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn from_raw(
        tables: &'static Tables,
        handle: *mut abi::Context,
        module: *const abi::ModuleRef,
    ) -> PassContext {
        // SAFETY: the caller's promise; the module is given out for no longer than `self`.
        let module = unsafe { module.as_ref().map(|one| Module::from_raw(tables, *one)) };
        PassContext {
            tables,
            handle,
            module,
        }
    }

    pub(crate) fn tables(&self) -> &'static Tables {
        self.tables
    }

    /// The same for what may look at one function only; it doesn't outlive this one.
    pub(crate) fn without_module(&self) -> PassContext {
        PassContext {
            module: None,
            ..*self
        }
    }

    /// Calls back with the context on top of this thread's stack, which is the running pass's
    /// unless the pass runs others; `None` outside a pass.
    pub fn current<R>(then: impl FnOnce(&PassContext) -> R) -> Option<R> {
        let tables = ffi::running()?;
        let handle = tables.current()?;
        // SAFETY: a context that is on the stack stays there until this pass returns.
        let context = unsafe { PassContext::from_raw(tables, handle, ptr::null()) };
        Some(then(&context))
    }

    /// The optimization level of the run.
    pub fn opt_level(&self) -> u32 {
        self.raw_opt_level().unwrap_or(0)
    }

    /// Returns the name and version of the host, for what a pass reports: `passdock 0.1.0`; `None` if the host is older
    /// than this call.
    pub fn host_version(&self) -> Option<&str> {
        self.raw_host_version().ok()
    }

    /// The module as it was before the pass, to read, in a function pass. A module pass has its
    /// own.
    pub fn module(&self) -> Option<&Module<'_>> {
        self.module.as_ref()
    }

    /// The options of the running pass: its defaults, overridden by config, overridden by the
    /// pipeline.
    ///
    /// # Errors
    /// If an option is of another type than its field: the struct isn't the one that the pass
    /// declares.
    pub fn options<T: Options>(&self) -> Result<T, PassError> {
        T::read(&|name| self.option(name))
    }

    /// An option of the running pass; `None` if it has none of that name.
    ///
    /// # Errors
    /// If the host can't tell options.
    pub fn option(&self, name: &str) -> Result<Option<OptionValue>, EditError> {
        match optional(self.raw_option(name))? {
            // SAFETY: the host wrote the setting, whose text lives as long as the context.
            Some(value) => unsafe { setting(&value, &format!("option `{}`", name)) },
            None => Ok(None),
        }
    }

    /// The value of a config key that a plugin or the program registered: a struct of
    /// [`options!`](crate::options), or a `bool`, an `i64`, …. What nobody set is its default.
    ///
    /// # Errors
    /// If the key or a field isn't registered, or a value is of another type.
    pub fn config<T: Options>(&self, key: &str) -> Result<T, PassError> {
        T::read(&|field| self.config_value(key, field))
    }

    /// A config value: `field` of the struct under `key`, or `""` for a value that is no struct.
    ///
    /// # Errors
    /// If there is no such key or field.
    pub fn config_value(&self, key: &str, field: &str) -> Result<Option<OptionValue>, EditError> {
        match self.raw_config(key, field) {
            // SAFETY: as above.
            Ok(value) => unsafe { setting(&value, &format!("config `{}`", key)) },
            // Not `NOT_FOUND`, which stands for an option that has its default.
            Err(error) if error.status == abi::Status::NOT_FOUND => Err(EditError {
                status: abi::Status::INVALID,
                ..error
            }),
            Err(error) => Err(error),
        }
    }

    /// The kind of a registered pass; `None` if there is no such pass.
    pub fn find_pass(&self, name: &str) -> Option<PassKind> {
        self.raw_find_pass(name).ok()
    }

    /// Emits a diagnostic, shown when the pass has returned. An error doesn't stop the pass, but
    /// makes it count as failed.
    pub fn emit(&self, diagnostic: &Diagnostic) {
        let labels = describe::labels(diagnostic);
        let notes = describe::texts(&diagnostic.notes);
        // A host that can't take it is no reason to fail the pass.
        let _ = self.raw_emit(&describe::diagnostic(diagnostic, &labels, &notes));
    }

    /// Emits a diagnostic that the pass can't go on after: `return
    /// Err(cx.emit_fatal(&diagnostic))`.
    #[must_use = "the pass goes on until it returns the error"]
    pub fn emit_fatal(&self, diagnostic: &Diagnostic) -> PassError {
        self.emit(diagnostic);
        if diagnostic.severity > Severity::ERROR {
            return PassError::new(diagnostic.message.clone());
        }
        PassError::emitted()
    }

    /// Whether a rule of this name may rewrite once more: the user may have disabled it, or be looking for the one
    /// rewrite that breaks the model. [`PassContext::rewrite`] asks for its rules; code that rewrites without them asks
    /// itself, right before it changes anything, and says afterwards that it did:
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// fn drop_dropouts(f: &mut Function, cx: &PassContext) -> PassResult {
    ///     for op in f.ops_named("onnx.Dropout") {
    ///         let x = f.operand(op, 0).unwrap_or(ValueId::NONE);
    ///         if f.result_count(op) == 1 && cx.may_rewrite("dropout") {
    ///             f.replace_with_and_erase_dead(op, &[x])?;
    ///             cx.rewrote("dropout");
    ///         }
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// A host too old to ask lets every rule.
    pub fn may_rewrite(&self, rule: &str) -> bool {
        match self.raw_may_rewrite(rule) {
            Ok(()) => true,
            Err(error) => error.status == abi::Status::UNSUPPORTED,
        }
    }

    /// Makes an op, infers the types of its results, and answers the first of them: what most new ops
    /// take. If the builder says nothing of results, there is one.
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// /// Replaces `Reciprocal(Sqrt(x))` by `Pow(x, exponent)`, `exponent` being -0.5.
    /// fn power(f: &mut Function, cx: &PassContext, op: OpId, x: ValueId, exponent: ValueId) -> PassResult {
    ///     let pow = OpBuilder::new("onnx.Pow").operands([x, exponent]);
    ///     let pow = cx.create_value(f, pow, Position::before(op))?;
    ///     f.replace_op_with(op, &[pow])?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`Function::create_op`] and [`PassContext::infer`].
    pub fn create_value(
        &self,
        function: &mut Function,
        op: OpBuilder<'_>,
        at: Position,
    ) -> Result<ValueId, EditError> {
        let op = function.create_op_of(op, at, 1)?;
        self.infer(function, op)?;
        Ok(function.result(op, 0))
    }

    /// Evaluates an op as if it had these operands, all constant, in place of its own: what a chain of
    /// ops comes to can be known before any of them is replaced.
    ///
    /// The constants that it makes are scratch: making and erasing them changes nothing. Erase those
    /// that no op uses in the end ([`Function::erase_constant`]). What is known of small integers
    /// among them is known to [`PassContext::infer`] from then on.
    ///
    /// # Errors
    /// If the op is stale, or a constant's bytes can't be read.
    pub fn evaluate_with(
        &self,
        function: &mut Function,
        op: OpId,
        operands: &[ValueId],
        max_bytes: u64,
    ) -> Result<Evaluated, EditError> {
        let mut values = vec![ValueId::NONE; function.result_count(op)];
        let desc = EvaluateDesc {
            flags: 0,
            max_bytes,
        };
        match self.raw_evaluate_with(function, op, operands, desc, &mut values) {
            Ok(()) => Ok(Evaluated::Constants(values)),
            Err(error) if error.status == abi::Status::NOT_FOUND => {
                Ok(Evaluated::Refused(error.message))
            }
            Err(error) => Err(error),
        }
    }

    /// Evaluates an op whose operands are all constant, and makes a constant of each result;
    /// `None` if it can't be evaluated or a result would be larger than `max_bytes`.
    ///
    /// # Errors
    /// If the op is stale, or a constant's bytes can't be read.
    pub fn evaluate(
        &self,
        function: &mut Function,
        op: OpId,
        max_bytes: u64,
    ) -> Result<Option<Vec<ValueId>>, EditError> {
        let mut values = vec![ValueId::NONE; function.result_count(op)];
        let desc = EvaluateDesc {
            flags: 0,
            max_bytes,
        };
        let done = optional(self.raw_evaluate(function, op, desc, &mut values))?;
        Ok(done.map(|()| values))
    }

    /// An error says in what an op isn't one that its definition describes: how many operands it has,
    /// which attributes. Nothing known: nothing wrong.
    ///
    /// # Errors
    /// If the op isn't one that its definition describes.
    pub fn check_op(&self, function: &Function, op: OpId) -> Result<(), EditError> {
        unless_unsupported(self.raw_check_op(function, op))
    }

    /// Whether a target takes an op, as the definitions of its operator say, those that extend it
    /// ([`OpDef::extending`](crate::OpDef::extending)) included.
    ///
    /// # Errors
    /// If the op is stale, or a definition fails.
    pub fn supports(
        &self,
        function: &Function,
        op: OpId,
        target: &str,
    ) -> Result<Support, EditError> {
        match self.raw_supports(function, op, target) {
            Ok(()) => Ok(Support::Taken),
            Err(error) => match error.status {
                abi::Status::NOT_FOUND | abi::Status::UNSUPPORTED => Ok(Support::Unsaid),
                abi::Status::REFUSED => Ok(Support::Refused(error.message)),
                _ => Err(error),
            },
        }
    }

    /// Whether an op could be right with these in place of its operands, as far as its definition says:
    /// whether a constant may stand where something is computed. The error's message is the reason
    /// alone, without a subject and a full stop. Nothing is kept of what the definition says.
    ///
    /// # Errors
    /// If the op couldn't be right with these operands: the reason alone.
    pub fn infer_with(
        &self,
        function: &mut Function,
        op: OpId,
        operands: &[ValueId],
    ) -> Result<(), EditError> {
        unless_unsupported(self.raw_infer_with(function, op, operands))
    }
}

/// A host that is too old to ask knows of nothing that is wrong.
fn unless_unsupported(done: Result<(), EditError>) -> Result<(), EditError> {
    match done {
        Err(error) if error.status == abi::Status::UNSUPPORTED => Ok(()),
        done => done,
    }
}

impl Module<'_> {
    /// Runs a registered pass on the module, or a Sequential, instruments included.
    ///
    /// Whoever calls it wants it to run: its level and the names that the context disables don't count. What it
    /// requires runs before it, as in a Sequential, unless that ran already and the module is unchanged since.
    /// Reports tell of it below the pass that runs it. It may be the very pass that runs it, as long as
    /// that comes to an end: 64 passes run each other at most.
    ///
    /// # Errors
    /// If there is no such pass, it can't run here, or it fails; if what it requires is disabled, or is
    /// running.
    pub fn run_pass(&mut self, cx: &PassContext, name: &str) -> Result<(), PassError> {
        self.end_editing();
        Ok(self.raw_run_pass(cx, RunDesc { flags: 0, name })?)
    }
}
