//! [`PassContext`]: the settings of the run, diagnostics, and queries to op definitions.
#![allow(unsafe_code)]

use std::ptr;

use passdock_abi as abi;
use passdock_abi::{OpId, PassKind, Position, Severity, Status, ValueId};

use crate::data::{optional, Diagnostic, EditError, OptionValue, Options, PassError, PassResult};
use crate::ffi::descriptions::{EvaluateDesc, RunDesc};
use crate::ffi::{describe, enter, setting, Borrowed, Panicked, Tables};
use crate::ir::{Function, Module, OpBuilder};

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evaluated {
    /// A constant for each result.
    Constants(Vec<ValueId>),
    /// The reason why there is none: `its definition has no evaluation`.
    Rejected(String),
}

/// Whether a target supports an op, according to op definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Support {
    /// The target supports the op.
    Supported,
    /// The reason why it doesn't: `its kernel is larger than 7`.
    Unsupported(String),
    /// No definition of the operator applies to the target.
    Unknown,
}

/// The context of the running pass: level, options, config, diagnostics, op definitions.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// /// Infers types in contexts of level 2 and above.
/// fn infer_all(f: &mut Function, cx: &PassContext) -> PassResult {
///     if cx.opt_level() < 2 {
///         cx.emit(&Diagnostic::note("types are inferred at level 2 and above"));
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
    /// Creates a handle to a host's context, for hosts that run passes of this SDK; `module` may be null.
    ///
    /// # Safety
    /// Both handles conform to the ABI. They, and the reference that `module` points to, outlive the result.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn from_raw(
        tables: &'static Tables,
        handle: *mut abi::Context,
        module: *const abi::ModuleRef,
    ) -> PassContext {
        // SAFETY: the caller guarantees a valid module, which is lent no longer than `self`.
        let module = unsafe { module.as_ref().map(|one| Module::from_raw(tables, *one)) };
        PassContext {
            tables,
            handle,
            module,
        }
    }

    /// Returns the handle that the context was created from; for hosts.
    #[doc(hidden)]
    pub fn as_raw(&self) -> *mut abi::Context {
        self.handle
    }

    /// Returns the call of a pass on a function or module, which runs inside the gate.
    pub(crate) fn calling<'c, T: ?Sized>(
        &'c self,
        pass: fn(&mut T, &PassContext) -> PassResult,
        target: &'c mut T,
    ) -> impl FnOnce() -> Status + 'c {
        move || self.status(pass(target, self))
    }

    /// Returns the status of a result, and reports an error to the host.
    #[inline]
    pub(crate) fn status(&self, result: PassResult) -> Status {
        match result {
            Ok(()) => Status::OK,
            Err(error) => self.failed(error),
        }
    }

    #[cold]
    fn failed(&self, error: PassError) -> Status {
        if !error.emitted {
            self.report(&describe::failure(&error));
        }
        let config = error.status.filter(|&status| status == Status::CONFIG);
        config.unwrap_or(Status::FAILED)
    }

    /// Reports a panic to the host.
    #[cold]
    pub(crate) fn report_panic(&self, panic: &Panicked) {
        self.report(&describe::panicked(panic));
    }

    pub(crate) fn tables(&self) -> &'static Tables {
        self.tables
    }

    /// Returns the context without the module, for analyses. It doesn't outlive this one.
    pub(crate) fn without_module(&self) -> PassContext {
        PassContext {
            module: None,
            ..*self
        }
    }

    /// Returns the optimization level of the run.
    pub fn opt_level(&self) -> u32 {
        self.raw_opt_level().unwrap_or(0)
    }

    /// Whether the host shows diagnostics of a severity. Ask before computing a message that may not be shown.
    pub fn shows(&self, severity: Severity) -> bool {
        self.raw_shows(severity) == Some(1)
    }

    /// Whether the program cancelled the run. A pass that takes long asks now and then, and returns an error. The host
    /// stops before the next pass in any case.
    pub fn is_cancelled(&self) -> bool {
        self.raw_is_cancelled() == Some(1)
    }

    /// Returns the name of the host, for reports: `passdock`.
    pub fn host_name(&self) -> &'static str {
        self.tables.host_name
    }

    /// Returns the version of the host, for reports: `1.0.0`.
    pub fn host_version(&self) -> &'static str {
        self.tables.host_version
    }

    /// Returns the read-only module before the pass, in a function pass. A module pass has its module as an argument.
    pub fn module(&self) -> Option<&Module<'_>> {
        self.module.as_ref()
    }

    /// Returns the options of the running pass: the pipeline's values override those of the config, which override the
    /// defaults.
    ///
    /// # Errors
    /// If an option has another type than its field: the struct isn't the one that the pass declares.
    pub fn options<T: Options>(&self) -> Result<T, PassError> {
        T::read(&|name| self.option(name))
    }

    /// Returns an option of the running pass; `None` if the pass doesn't declare it.
    ///
    /// # Errors
    /// If the host doesn't support options.
    pub fn option(&self, name: &str) -> Result<Option<OptionValue>, EditError> {
        match optional(self.raw_option(name))? {
            // SAFETY: the host wrote the setting, whose strings live as long as the context.
            Some(value) => unsafe { setting(&value, format_args!("option `{}`", name)) },
            None => Ok(None),
        }
    }

    /// Returns the value of a config key that a plugin or the program registered: a struct of
    /// [`options!`](crate::options), or a `bool`, an `i64`, …. Fields that aren't set have their default.
    ///
    /// # Errors
    /// If the key or a field isn't registered, or a value has another type.
    pub fn config<T: Options>(&self, key: &str) -> Result<T, PassError> {
        T::read(&|field| self.config_value(key, field))
    }

    /// Returns a config value: `field` of the struct under `key`, or `""` for a key without fields.
    ///
    /// # Errors
    /// If there is no such key or field.
    pub fn config_value(&self, key: &str, field: &str) -> Result<Option<OptionValue>, EditError> {
        match self.raw_config(key, field) {
            // SAFETY: as above.
            Ok(value) => unsafe { setting(&value, format_args!("config `{}`", key)) },
            // Not `NOT_FOUND`, which would be handled as an option with its default.
            Err(error) if error.status == abi::Status::NOT_FOUND => Err(EditError {
                status: abi::Status::INVALID,
                ..error
            }),
            Err(error) => Err(error),
        }
    }

    /// Returns the kind of a registered pass; `None` if there is no such pass.
    pub fn find_pass(&self, name: &str) -> Option<PassKind> {
        self.raw_find_pass(name).ok()
    }

    /// Reports a diagnostic, which the host shows after the pass returns. An error doesn't stop the pass, but makes it
    /// fail.
    pub fn emit(&self, diagnostic: &Diagnostic) {
        let labels = describe::labels(diagnostic);
        let notes = describe::texts(&diagnostic.notes);
        self.report(&describe::diagnostic(diagnostic, &labels, &notes));
    }

    /// Passes a diagnostic to the host.
    pub(crate) fn report(&self, diagnostic: &Borrowed<'_, abi::Diagnostic>) {
        // A pass doesn't fail because its host can't show a diagnostic.
        let _ = self.raw_emit(diagnostic);
    }

    /// Reports a diagnostic after which the pass can't continue: `return Err(cx.emit_fatal(&diagnostic))`.
    #[must_use = "the pass goes on until it returns the error"]
    pub fn emit_fatal(&self, diagnostic: &Diagnostic) -> PassError {
        self.emit(diagnostic);
        if diagnostic.severity > Severity::ERROR {
            return PassError::new(diagnostic.message.clone());
        }
        PassError::emitted()
    }

    /// Whether a rule with this name may do another rewrite. The user may have disabled it, or be bisecting the
    /// rewrites to find the one that breaks the model.
    ///
    /// [`PassContext::rewrite`] calls it for rules. Code that rewrites without rules calls it right before each change,
    /// and [`rewrote`](PassContext::rewrote) afterwards. On a host without this call, all rules may rewrite.
    ///
    /// # Examples
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
    pub fn may_rewrite(&self, rule: &str) -> bool {
        match self.raw_may_rewrite(rule) {
            Ok(()) => true,
            Err(error) => error.status == abi::Status::UNSUPPORTED,
        }
    }

    /// Creates an op, infers the types of its results, and returns the first result. The default is one result.
    ///
    /// # Examples
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// /// Replaces `Reciprocal(Sqrt(x))` with `Pow(x, exponent)`, `exponent` being -0.5.
    /// fn power(f: &mut Function, cx: &PassContext, op: OpId, x: ValueId, exponent: ValueId) -> PassResult {
    ///     let pow = OpBuilder::new("onnx.Pow").operands([x, exponent]);
    ///     let pow = cx.create_value(f, pow, Position::before(op))?;
    ///     f.replace_op_with(op, &[pow])?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`Function::create_op`] and [`PassContext::infer`].
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

    /// Evaluates an op with other operands, all constant. So the result of a chain of ops can be computed before any of
    /// them is replaced.
    ///
    /// The results are scratch constants: creating and erasing them doesn't edit the function. Erase those that no op
    /// uses ([`Function::erase_constant`]). If they are small integers, later calls of [`PassContext::infer`] use their
    /// values.
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
                Ok(Evaluated::Rejected(error.message))
            }
            Err(error) => Err(error),
        }
    }

    /// Evaluates an op whose operands are all constant, and creates a constant for each result. `None` if it can't be
    /// evaluated or a result would be larger than `max_bytes`.
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

    /// Checks the number of operands and the attributes of an op against its definition. An op without a definition is
    /// accepted.
    ///
    /// # Errors
    /// If the op doesn't match its definition.
    pub fn check_op(&self, function: &Function, op: OpId) -> Result<(), EditError> {
        unless_unsupported(self.raw_check_op(function, op))
    }

    /// Checks whether a target supports an op, according to the definitions of its operator, including extensions
    /// ([`OpDef::extending`](crate::OpDef::extending)).
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
            Ok(()) => Ok(Support::Supported),
            Err(error) => match error.status {
                abi::Status::NOT_FOUND | abi::Status::UNSUPPORTED => Ok(Support::Unknown),
                abi::Status::REJECTED => Ok(Support::Unsupported(error.message)),
                _ => Err(error),
            },
        }
    }

    /// Checks whether an op would be valid with other operands, for example a constant instead of a computed value. The
    /// types that the definition infers are discarded.
    ///
    /// # Errors
    /// If the op would be invalid. The message is only the reason, without a subject or period.
    pub fn infer_with(
        &self,
        function: &mut Function,
        op: OpId,
        operands: &[ValueId],
    ) -> Result<(), EditError> {
        unless_unsupported(self.raw_infer_with(function, op, operands))
    }
}

/// Accepts the op if the host is too old to check it.
fn unless_unsupported(done: Result<(), EditError>) -> Result<(), EditError> {
    match done {
        Err(error) if error.status == abi::Status::UNSUPPORTED => Ok(()),
        done => done,
    }
}

impl Module<'_> {
    /// Runs a registered pass or Sequential on the module, with instruments.
    ///
    /// The pass runs at any level, even if it is disabled. The passes that it requires run first, unless they already
    /// ran and the module hasn't changed since. Reports list it below the calling pass. A pass may run itself; the
    /// nesting is limited to 64 passes.
    ///
    /// # Errors
    /// If there is no such pass, it can't run here, or it fails; if a required pass is disabled or running.
    pub fn run_pass(&mut self, cx: &PassContext, name: &str) -> Result<(), PassError> {
        self.end_editing();
        Ok(self.raw_run_pass(cx, RunDesc { flags: 0, name })?)
    }
}

/// Drops a value of the plugin. A panic is reported to the context.
///
/// # Safety
/// `host` and `context` are arguments of the running callback.
#[doc(hidden)]
pub unsafe fn end<T>(host: *const abi::Host, context: *mut abi::Context, value: T) {
    // SAFETY: the caller guarantees valid handles.
    let cx = unsafe { PassContext::from_raw(Tables::of(host), context, ptr::null()) };
    let body = move || {
        drop(value);
        Status::OK
    };
    enter(body, |panic| cx.report_panic(panic));
}
