//! The running pass's context.

use std::ptr;

use passdock_abi as abi;
use passdock_abi::{symbol, OpId, Status, ValueId};

use super::function::RawFunction;
use super::gate::Panicked;
use super::parts::stride;
use super::tables::{prefix, text, there, Tables};
use crate::data::{Diagnostic, EditError, OptionValue, PassError, Place};

/// A context handle and the tables to call.
#[derive(Clone)]
pub(crate) struct RawContext {
    pub(super) tables: &'static Tables,
    pub(super) handle: *mut abi::Context,
}

impl RawContext {
    /// # Safety
    /// `handle` is as the contract says and outlives the answer.
    #[inline]
    pub(crate) unsafe fn new(tables: &'static Tables, handle: *mut abi::Context) -> RawContext {
        RawContext { tables, handle }
    }

    pub(crate) fn tables(&self) -> &'static Tables {
        self.tables
    }

    pub(crate) fn opt_level(&self) -> u32 {
        match self.tables.context.opt_level {
            // SAFETY: the handle lives as long as `self`.
            Some(function) => unsafe { function(self.handle) },
            None => 0,
        }
    }

    /// An option of the running pass; `None` if it has none of that name.
    pub(crate) fn option(&self, name: &str) -> Result<Option<OptionValue>, EditError> {
        let function = there(self.tables.context.option, "option", None)?;
        let mut out = abi::Setting::EMPTY;
        // SAFETY: the handle lives as long as `self`; the name until the call returns.
        let status = unsafe { function(self.handle, abi::Str::new(name), &mut out) };
        // SAFETY: the host wrote the setting, whose text lives as long as the context.
        unsafe { setting(status, &out, || format!("option `{}`", name)) }
    }

    /// A registered config value. An error if no such key or field is registered.
    pub(crate) fn config(&self, key: &str, field: &str) -> Result<Option<OptionValue>, EditError> {
        let function = there(self.tables.context.config, "config", None)?;
        let mut out = abi::Setting::EMPTY;
        let (name, field) = (abi::Str::new(key), abi::Str::new(field));
        // SAFETY: the handle lives as long as `self`; the names until the call returns.
        let status = unsafe { function(self.handle, name, field, &mut out) };
        if status == Status::NOT_FOUND {
            let said = match self.tables.context.last_error {
                // SAFETY: the handle lives; the text does until the next call, and is copied.
                Some(function) => unsafe { text(function(self.handle)) },
                None => "",
            };
            // Not `NOT_FOUND`, which stands for an option that has its default.
            return Err(EditError::described(Status::INVALID, said, "config", None));
        }
        // SAFETY: the host wrote the setting, whose text lives as long as the context.
        unsafe { setting(status, &out, || format!("config `{}`", key)) }
    }

    pub(crate) fn emit(&self, said: &Diagnostic) {
        let label = |(place, text): &(Place, String)| abi::Label {
            op: place.op,
            part: place.part,
            index: place.index,
            function: place.function.unwrap_or(symbol::EMPTY),
            attr: abi::Str::new(&place.attr),
            text: abi::Str::new(text),
            ..abi::Label::EMPTY
        };
        let labels: Vec<abi::Label> = said.labels.iter().map(label).collect();
        let notes: Vec<abi::Str> = said.notes.iter().map(|note| abi::Str::new(note)).collect();
        let diagnostic = abi::Diagnostic {
            severity: said.severity,
            op: labels.first().map_or(OpId::NONE, |label| label.op),
            code: abi::Str::new(&said.code),
            message: abi::Str::new(&said.message),
            help: abi::Str::new(&said.help),
            function: labels.first().map_or(symbol::EMPTY, |label| label.function),
            label_stride: stride::<abi::Label>(),
            labels: labels.as_ptr(),
            label_count: labels.len(),
            notes: notes.as_ptr(),
            note_count: notes.len(),
            ..abi::Diagnostic::EMPTY
        };
        if let Some(function) = self.tables.context.emit {
            // SAFETY: the handle lives as long as `self`; the host copies the diagnostic.
            // A host that can't take it is no reason to fail the pass.
            let _ = unsafe { function(self.handle, &diagnostic) };
        }
    }

    /// Tells why the pass is about to fail.
    pub(crate) fn fail(&self, error: &PassError) {
        self.send(&abi::Failure {
            op: error.op.unwrap_or(OpId::NONE),
            function: error.function.unwrap_or(symbol::EMPTY),
            ..failure(&error.message)
        });
    }

    /// Tells that the pass panicked.
    pub(crate) fn panicked(&self, panic: &Panicked) {
        self.send(&abi::Failure {
            file: abi::Str::new(&panic.file),
            line: panic.line,
            column: panic.column,
            ..failure(&panic.message)
        });
    }

    fn send(&self, failure: &abi::Failure) {
        if let Some(function) = self.tables.context.fail {
            // SAFETY: the handle lives as long as `self`; the host copies the failure.
            unsafe { function(self.handle, failure) }
        }
    }

    /// The kind of a registered pass; `None` if there is no such pass.
    pub(crate) fn find_pass(&self, name: &str) -> Option<abi::PassKind> {
        let function = self.tables.context.find_pass?;
        let mut out = abi::PassKind(0);
        // SAFETY: the handle lives as long as `self`; the name until the call returns.
        let status = unsafe { function(self.handle, abi::Str::new(name), &mut out) };
        if status.is_ok() {
            Some(out)
        } else {
            None
        }
    }

    /// Whether a rule of this name may rewrite once more. A host that doesn't ask wants all.
    pub(crate) fn may_rewrite(&self, rule: &str) -> bool {
        match self.tables.context.may_rewrite {
            // SAFETY: the handle lives as long as `self`; the name until the call returns.
            Some(function) => unsafe { function(self.handle, abi::Str::new(rule)) }.is_ok(),
            None => true,
        }
    }

    /// Counts a rewrite by a rule.
    pub(crate) fn rewrote(&self, rule: &str) {
        if let Some(function) = self.tables.context.rewrote {
            // SAFETY: the handle lives as long as `self`; the name until the call returns.
            unsafe { function(self.handle, abi::Str::new(rule)) }
        }
    }

    /// Infers the types of an op's results.
    pub(crate) fn infer(&self, function: &mut RawFunction, op: OpId) -> Result<(), EditError> {
        self.tables.expect(function.tables, "the function")?;
        let infer = there(self.tables.ops.infer, "infer", Some(op))?;
        // SAFETY: both handles live; the function is ours to edit.
        let status = unsafe { infer(self.handle, function.handle, op) };
        function.done(status, "infer", Some(op))
    }

    /// Evaluates an op whose operands are constant; `values` gets a constant for each result.
    pub(crate) fn evaluate(
        &self,
        function: &mut RawFunction,
        op: OpId,
        max_bytes: u64,
        values: &mut [ValueId],
    ) -> Result<(), EditError> {
        self.tables.expect(function.tables, "the function")?;
        let evaluate = there(self.tables.ops.evaluate, "evaluate", Some(op))?;
        let (out, count) = (values.as_mut_ptr(), values.len());
        let desc = evaluation(max_bytes);
        // SAFETY: both handles live; the function is ours to edit; `out` has room for `count`.
        let status = unsafe { evaluate(self.handle, function.handle, op, &desc, out, count) };
        function.done(status, "evaluate", Some(op))
    }

    /// Whether an op's attributes are those that its definition lists.
    pub(crate) fn check_op(&self, function: &RawFunction, op: OpId) -> Result<(), EditError> {
        self.tables.expect(function.tables, "the function")?;
        let check = match self.tables.ops.check_op {
            Some(check) => check,
            // An older host doesn't know.
            None => return Ok(()),
        };
        // SAFETY: both handles live.
        let status = unsafe { check(self.handle, function.handle, op) };
        function.done(status, "check_op", Some(op))
    }

    /// Whether a target takes an op.
    pub(crate) fn supports(
        &self,
        function: &RawFunction,
        op: OpId,
        target: &str,
    ) -> Result<(), EditError> {
        self.tables.expect(function.tables, "the function")?;
        let supports = there(self.tables.ops.supports, "supports", Some(op))?;
        // SAFETY: both handles live, and the text as long as the call.
        let status = unsafe { supports(self.handle, function.handle, op, abi::Str::new(target)) };
        function.done(status, "supports", Some(op))
    }

    /// Whether an op could be right with these operands.
    pub(crate) fn infer_with(
        &self,
        function: &mut RawFunction,
        op: OpId,
        operands: &[ValueId],
    ) -> Result<(), EditError> {
        self.tables.expect(function.tables, "the function")?;
        let infer = match self.tables.ops.infer_with {
            Some(infer) => infer,
            // An older host doesn't know.
            None => return Ok(()),
        };
        let (given, given_count) = (operands.as_ptr(), operands.len());
        // SAFETY: both handles live; the function is ours to edit; `given` is as long as its count.
        let status = unsafe { infer(self.handle, function.handle, op, given, given_count) };
        function.done(status, "infer_with", Some(op))
    }

    /// Evaluates an op with these operands; `values` gets a scratch constant for each result.
    pub(crate) fn evaluate_with(
        &self,
        function: &mut RawFunction,
        op: OpId,
        operands: &[ValueId],
        max_bytes: u64,
        values: &mut [ValueId],
    ) -> Result<(), EditError> {
        self.tables.expect(function.tables, "the function")?;
        let evaluate = there(self.tables.ops.evaluate_with, "evaluate_with", Some(op))?;
        let (given, given_count) = (operands.as_ptr(), operands.len());
        let (out, count) = (values.as_mut_ptr(), values.len());
        let (cx, f, desc) = (self.handle, function.handle, evaluation(max_bytes));
        // SAFETY: both handles live; the function is ours to edit; `given` and `out` are as long as
        // their counts.
        let status = unsafe { evaluate(cx, f, op, given, given_count, &desc, out, count) };
        function.done(status, "evaluate_with", Some(op))
    }
}

fn evaluation(max_bytes: u64) -> abi::EvaluateDesc {
    abi::EvaluateDesc {
        max_bytes,
        ..abi::EvaluateDesc::EMPTY
    }
}

fn failure(message: &str) -> abi::Failure {
    abi::Failure {
        op: OpId::NONE,
        message: abi::Str::new(message),
        ..abi::Failure::EMPTY
    }
}

/// # Safety
/// The host wrote `out`, if it answered OK, and what it points to is alive.
unsafe fn setting(
    status: Status,
    out: &abi::Setting,
    what: impl Fn() -> String,
) -> Result<Option<OptionValue>, EditError> {
    match status {
        Status::OK if out.kind == abi::SettingKind::NONE => Ok(None),
        // SAFETY: the caller's promise.
        Status::OK => match unsafe { value(out) } {
            Ok(value) => Ok(Some(value)),
            Err(kind) => {
                let message = format!(
                    "{} is of a kind ({}) that this plugin is too old to know",
                    what(),
                    kind.0
                );
                Err(EditError::new(Status::UNSUPPORTED, message, None))
            }
        },
        Status::NOT_FOUND => Ok(None),
        _ => {
            let message = format!("{} can't be read (status {})", what(), status.0);
            Err(EditError::new(status, message, None))
        }
    }
}

/// The value of a setting, or the kind of one that this side doesn't know.
///
/// # Safety
/// The host wrote it, and what it points to is alive.
unsafe fn value(setting: &abi::Setting) -> Result<OptionValue, abi::SettingKind> {
    let items = || {
        (0..setting.item_count as usize).map(move |at| {
            let offset = at * setting.item_stride as usize;
            // SAFETY: the host's array, with as many items; the setting starts with its size.
            unsafe {
                let item = setting
                    .items
                    .cast::<u8>()
                    .add(offset)
                    .cast::<abi::SettingItem>();
                let name = text(ptr::addr_of!((*item).name).read()).to_owned();
                Ok((name, value(&prefix(ptr::addr_of!((*item).value)))?))
            }
        })
    };
    Ok(match setting.kind {
        abi::SettingKind::BOOL => OptionValue::Bool(setting.int != 0),
        abi::SettingKind::INT => OptionValue::Int(setting.int),
        abi::SettingKind::FLOAT => OptionValue::Float(setting.float),
        // SAFETY: the caller's promise.
        abi::SettingKind::STRING => OptionValue::String(unsafe { text(setting.string) }.to_owned()),
        abi::SettingKind::LIST => {
            let values = items().map(|item| item.map(|(_, value)| value));
            OptionValue::List(values.collect::<Result<_, _>>()?)
        }
        abi::SettingKind::TABLE => OptionValue::Table(items().collect::<Result<_, _>>()?),
        kind => return Err(kind),
    })
}
