//! What op definitions write as text: bodies of ops, ops in other layouts.

use passdock_abi as abi;
use passdock_abi::{OpId, Status, ValueId};

use super::context::RawContext;
use super::function::RawFunction;
use super::tables::{text, there};
use crate::data::{EditError, LaidOut};

/// `OpApi::decompose` and `OpApi::legalize`.
type GiveBody = unsafe extern "C" fn(
    *mut abi::Context,
    *mut abi::Function,
    OpId,
    out: *mut ValueId,
    count: usize,
) -> Status;

/// `OpApi::layout` and `OpApi::alter_layout`.
type GiveLayout = unsafe extern "C" fn(
    *mut abi::Context,
    *mut abi::Function,
    OpId,
    wanted: *const abi::Str,
    count: usize,
    out: *mut abi::LaidOut,
) -> Status;

impl RawContext {
    /// Copies an op's body before it; `values` gets what stands for each result.
    pub(crate) fn decompose(
        &self,
        function: &mut RawFunction,
        op: OpId,
        values: &mut [ValueId],
    ) -> Result<(), EditError> {
        let given = self.tables.ops.decompose;
        self.give_body(given, "decompose", function, op, values)
    }

    /// The same, of its body for back ends.
    pub(crate) fn legalize(
        &self,
        function: &mut RawFunction,
        op: OpId,
        values: &mut [ValueId],
    ) -> Result<(), EditError> {
        let given = self.tables.ops.legalize;
        self.give_body(given, "legalize", function, op, values)
    }

    fn give_body(
        &self,
        give: Option<GiveBody>,
        name: &str,
        function: &mut RawFunction,
        op: OpId,
        values: &mut [ValueId],
    ) -> Result<(), EditError> {
        self.tables.expect(function.tables, "the function")?;
        let give = there(give, name, Some(op))?;
        let (out, count) = (values.as_mut_ptr(), values.len());
        // SAFETY: both handles live; the function is ours to edit; `out` has room for `count`.
        let status = unsafe { give(self.handle, function.handle, op, out, count) };
        function.done(status, name, Some(op))
    }

    /// An op in layouts that are wanted, one for each operand.
    pub(crate) fn layout(
        &self,
        function: &mut RawFunction,
        op: OpId,
        wanted: &[&str],
    ) -> Result<LaidOut, EditError> {
        let given = self.tables.ops.layout;
        self.give_layout(given, "layout", function, op, wanted)
    }

    /// An op in the layouts that its definition wants.
    pub(crate) fn alter_layout(
        &self,
        function: &mut RawFunction,
        op: OpId,
        given: &[&str],
    ) -> Result<LaidOut, EditError> {
        let give = self.tables.ops.alter_layout;
        self.give_layout(give, "alter_layout", function, op, given)
    }

    fn give_layout(
        &self,
        give: Option<GiveLayout>,
        name: &str,
        function: &mut RawFunction,
        op: OpId,
        layouts: &[&str],
    ) -> Result<LaidOut, EditError> {
        self.tables.expect(function.tables, "the function")?;
        let give = there(give, name, Some(op))?;
        let layouts: Vec<abi::Str> = layouts.iter().map(|text| abi::Str::new(text)).collect();
        let (wanted, count) = (layouts.as_ptr(), layouts.len());
        let mut said = abi::LaidOut::EMPTY;
        // SAFETY: both handles live; the function is ours to edit; `wanted` is as long as its count.
        let status = unsafe { give(self.handle, function.handle, op, wanted, count, &mut said) };
        function.done(status, name, Some(op))?;
        // SAFETY: what the host said lives until the next such call; it is copied.
        unsafe {
            Ok(LaidOut {
                operands: texts(said.operands, said.operand_count),
                results: texts(said.results, said.result_count),
                body: text(said.body).to_owned(),
            })
        }
    }

    /// Copies ops as text to the place before an op; answers what stands for each value that they give.
    pub(crate) fn insert_text(
        &self,
        function: &mut RawFunction,
        op: OpId,
        text: &str,
        args: &[ValueId],
        result_count: usize,
    ) -> Result<Vec<ValueId>, EditError> {
        self.tables.expect(function.tables, "the function")?;
        let insert = there(self.tables.ops.insert_text, "insert_text", Some(op))?;
        let mut results = vec![ValueId::NONE; result_count];
        let desc = abi::TextDesc {
            op,
            text: abi::Str::new(text),
            args: args.as_ptr(),
            arg_count: args.len(),
            results: results.as_mut_ptr(),
            result_count,
            ..abi::TextDesc::EMPTY
        };
        // SAFETY: both handles live; the function is ours to edit; what the description points to is there.
        let status = unsafe { insert(self.handle, function.handle, &desc) };
        function.done(status, "insert_text", Some(op))?;
        Ok(results)
    }
}

/// # Safety
/// The host's list of texts, alive.
unsafe fn texts(list: *const abi::Str, count: usize) -> Vec<String> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    let list = unsafe { std::slice::from_raw_parts(list, count) };
    // SAFETY: the same.
    list.iter()
        .map(|&said| unsafe { text(said) }.to_owned())
        .collect()
}
