//! [`PassContext`]: what op definitions write as IR text, copied into a function.
#![allow(unsafe_code)]

use passdock_abi as abi;
use passdock_abi::{OpId, ValueId};

use super::context::PassContext;
use crate::data::{optional, EditError, LaidOut};
use crate::ffi::descriptions::TextDesc;
use crate::ffi::{text, Texts};
use crate::ir::Function;

impl PassContext {
    /// Copies the body that an op's definition gives it to the place before the op, and answers
    /// what stands for each of the op's results: `f.replace_op_with(op, &values)` does the rest.
    /// `None` if it has no body.
    ///
    /// # Errors
    /// If the op is stale, or its body isn't well-formed.
    pub fn decompose(
        &self,
        function: &mut Function,
        op: OpId,
    ) -> Result<Option<Vec<ValueId>>, EditError> {
        let mut values = vec![ValueId::NONE; function.result_count(op)];
        let done = optional(self.raw_decompose(function, op, &mut values))?;
        Ok(done.map(|()| values))
    }

    /// As [`PassContext::decompose`], with the body that the op's definition gives it for back ends.
    ///
    /// # Errors
    /// As there.
    pub fn legalize(
        &self,
        function: &mut Function,
        op: OpId,
    ) -> Result<Option<Vec<ValueId>>, EditError> {
        let mut values = vec![ValueId::NONE; function.result_count(op)];
        let done = optional(self.raw_legalize(function, op, &mut values))?;
        Ok(done.map(|()| values))
    }

    /// What an op is, as its definition says, in the layouts that are wanted: one for each operand, empty: as it is.
    /// The answer may have others. `None` if it stays as it is.
    ///
    /// # Errors
    /// If the op is stale, or hasn't as many operands, or its definition fails.
    pub fn layout(
        &self,
        function: &mut Function,
        op: OpId,
        wanted: &[&str],
    ) -> Result<Option<LaidOut>, EditError> {
        let wanted: Vec<abi::Str> = wanted.iter().map(|text| abi::Str::new(text)).collect();
        // SAFETY: the texts live until the call returns.
        let answer = optional(unsafe { self.raw_layout(function, op, &wanted) })?;
        // SAFETY: what the host wrote lives until the next such call.
        Ok(answer.map(|answer| unsafe { laid_out(&answer) }))
    }

    /// As [`PassContext::layout`], in the layouts that the op's definition wants; `given` has those that its operands
    /// can be had in without an op more.
    ///
    /// # Errors
    /// As there.
    pub fn alter_layout(
        &self,
        function: &mut Function,
        op: OpId,
        given: &[&str],
    ) -> Result<Option<LaidOut>, EditError> {
        let given: Vec<abi::Str> = given.iter().map(|text| abi::Str::new(text)).collect();
        // SAFETY: the texts live until the call returns.
        let answer = optional(unsafe { self.raw_alter_layout(function, op, &given) })?;
        // SAFETY: what the host wrote lives until the next such call.
        Ok(answer.map(|answer| unsafe { laid_out(&answer) }))
    }

    /// Copies ops that are given as the IR text of one function to the place before an op, which they come from: they
    /// have its location. `args` stand for the function's parameters, NONE for one that nothing uses. Answers what
    /// stands for each of the `result_count` values that it returns.
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
    /// If the text isn't one function, or doesn't fit the arguments, the number of results, the function's opsets, or
    /// has an op whose name is that of a function of the module.
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

    /// Puts what a function does that is given as IR text in the place of what a function of the module does, whose
    /// parameters stand for those of the text: what a pass answers that has a function of its own, made once, for
    /// each that it is given.
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// const NEW_FUNC: &str = "fn @f1(%x) { %y = onnx.Neg(%x) return %y }";
    ///
    /// /// The documents' `TestReplaceFunc`.
    /// fn replace_func(f: &mut Function, cx: &PassContext) -> PassResult {
    ///     Ok(cx.replace_body(f, NEW_FUNC)?)
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`PassContext::insert_text`]; also if the function has no end.
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

/// A copy of layouts that the host wrote.
///
/// # Safety
/// What it points to is alive.
unsafe fn laid_out(answer: &abi::LaidOut) -> LaidOut {
    let all = |texts: Texts<'_>| texts.iter().map(str::to_owned).collect();
    // SAFETY: the caller's promise.
    unsafe {
        LaidOut {
            operands: all(Texts::new(answer.operands, answer.operand_count)),
            results: all(Texts::new(answer.results, answer.result_count)),
            body: text(answer.body).to_owned(),
        }
    }
}
