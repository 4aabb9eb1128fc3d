//! [`PassContext`]: inserting the bodies that op definitions set as IR text.
#![allow(unsafe_code)]

use passdock_abi as abi;
use passdock_abi::{OpId, ValueId};

use super::context::PassContext;
use crate::data::{optional, EditError, LaidOut};
use crate::ffi::descriptions::TextDesc;
use crate::ffi::{text, Texts};
use crate::ir::Function;

impl PassContext {
    /// Inserts the decomposition of an op before the op, and returns a replacement for each result:
    /// `f.replace_op_with(op, &values)` completes the rewrite. `None` if the op has no decomposition.
    ///
    /// # Errors
    /// If the op is stale, or its body is invalid.
    pub fn decompose(
        &self,
        function: &mut Function,
        op: OpId,
    ) -> Result<Option<Vec<ValueId>>, EditError> {
        let mut values = vec![ValueId::NONE; function.result_count(op)];
        let done = optional(self.raw_decompose(function, op, &mut values))?;
        Ok(done.map(|()| values))
    }

    /// Returns the form of an op in requested layouts, as its definition describes it. `requested` has the layout of
    /// each operand; an empty string leaves it unchanged. The result may have other layouts. `None` if there is no such
    /// form.
    ///
    /// # Errors
    /// If the op is stale, the number of operands differs, or the definition fails.
    pub fn layout(
        &self,
        function: &mut Function,
        op: OpId,
        requested: &[&str],
    ) -> Result<Option<LaidOut>, EditError> {
        let requested: Vec<abi::Str> = requested.iter().map(|text| abi::Str::new(text)).collect();
        // SAFETY: the strings live until the call returns.
        let result = optional(unsafe { self.raw_layout(function, op, &requested) })?;
        // SAFETY: the host's data lives until the next such call.
        Ok(result.map(|result| unsafe { laid_out(&result) }))
    }

    /// Returns the form of an op in the layouts that its definition prefers, as [`PassContext::layout`]. `given` has
    /// the layouts in which the operands are available without an additional op.
    ///
    /// # Errors
    /// See [`PassContext::layout`].
    pub fn alter_layout(
        &self,
        function: &mut Function,
        op: OpId,
        given: &[&str],
    ) -> Result<Option<LaidOut>, EditError> {
        let given: Vec<abi::Str> = given.iter().map(|text| abi::Str::new(text)).collect();
        // SAFETY: the strings live until the call returns.
        let result = optional(unsafe { self.raw_alter_layout(function, op, &given) })?;
        // SAFETY: the host's data lives until the next such call.
        Ok(result.map(|result| unsafe { laid_out(&result) }))
    }

    /// Inserts ops before an op, given as IR text of one function. They get the location of `op`. `args` replace the
    /// function's parameters; NONE is allowed for an unused one. Returns the values that the text returns,
    /// `result_count` of them.
    ///
    /// # Examples
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// fn as_quotient(f: &mut Function, cx: &PassContext, op: OpId) -> PassResult {
    ///     let x = f.operand(op, 0).unwrap_or(ValueId::NONE);
    ///     let text = "fn @inverse(%x) { %l = onnx.Log(%x) %n = onnx.Neg(%l) %y = onnx.Exp(%n) return %y }";
    ///     let values = cx.insert_text(f, op, text, &[x], 1)?;
    ///     f.replace_op_with(op, &values)?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// If the text isn't one function, if it doesn't match the arguments, the number of results or the function's
    /// opsets, or if an op's name is that of a function of the module.
    pub fn insert_text(
        &self,
        function: &mut Function,
        op: OpId,
        text: &str,
        args: &[ValueId],
        result_count: usize,
    ) -> Result<Vec<ValueId>, EditError> {
        let mut results = vec![ValueId::NONE; result_count];
        let desc = TextDesc {
            flags: 0,
            op,
            text,
            args,
            results: &mut results,
        };
        let done = self.raw_insert_text(function, desc);
        done.map_err(|error| EditError {
            op: Some(op),
            ..error
        })?;
        Ok(results)
    }

    /// Replaces the body of a function with IR text. The function's parameters replace those of the text.
    ///
    /// # Examples
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// const NEW_FUNC: &str = "fn @f1(%x) { %y = onnx.Neg(%x) return %y }";
    ///
    /// /// TVM's `TestReplaceFunc`.
    /// fn replace_func(f: &mut Function, cx: &PassContext) -> PassResult {
    ///     Ok(cx.replace_body(f, NEW_FUNC)?)
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`PassContext::insert_text`]; also if the function has no terminator.
    pub fn replace_body(&self, function: &mut Function, text: &str) -> Result<(), EditError> {
        let body = function.body();
        let params = function.params().to_vec();
        let end = function.terminator(body).ok_or_else(|| {
            let message = "the function has no `return`".to_owned();
            EditError::new(abi::Status::INVALID, message, None)
        })?;
        let old: Vec<OpId> = function.ops_in(body).rev().collect();
        let count = function.operands(end).len();
        let results = self.insert_text(function, end, text, &params, count)?;
        function.set_results(body, &results)?;
        let mut old = old.into_iter().filter(|op| *op != end);
        old.try_for_each(|op| function.erase_op(op))
    }
}

/// Returns a copy of the host's layouts.
///
/// # Safety
/// The pointers are valid.
unsafe fn laid_out(result: &abi::LaidOut) -> LaidOut {
    let all = |texts: Texts<'_>| texts.iter().map(str::to_owned).collect();
    // SAFETY: the caller guarantees it.
    unsafe {
        LaidOut {
            operands: all(Texts::new(result.operands, result.operand_count)),
            results: all(Texts::new(result.results, result.result_count)),
            body: text(result.body).to_owned(),
        }
    }
}
