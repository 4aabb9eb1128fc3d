//! Bodies of ops. A definition returns a body as IR text, and the host parses it and inserts its ops before the op.

use passdock_abi::{OpId, Status, Str, SymbolId, TextDesc, ValueId};
use passdock_ir::{Edit, EditFailure, Function, Symbols, text};

use super::{OpCall, OpQueries, OpQuery, no_result};
use crate::boundary::session::{ContextSession, input};

/// The maximum length of an op's body, in bytes.
const MAX_BODY: usize = 1 << 24;

impl OpCall<'_> {
    pub(in crate::boundary) unsafe fn set_body(&mut self, text: Str) -> Edit {
        if matches!(self.query, OpQuery::Nothing | OpQuery::Support(_)) {
            return Err(EditFailure::rejected(
                "only `decompose`, `layout` and `alter_layout` of a definition can set a body",
            ));
        }
        // SAFETY: the text is valid during the call, by the plugin ABI.
        self.body = Some(unsafe { input::long_text(text, "body", MAX_BODY)? }.to_owned());
        Ok(())
    }
}

impl OpQueries<'_> {
    /// Inserts the decomposition of an op before the op. Returns the values that replace the op's results.
    pub(in crate::boundary) fn decompose(&self, op: OpId, count: usize) -> Edit<Vec<ValueId>> {
        let name = self.check_results(op, count)?;
        let none = "its definition has none";
        let values = self.first_result(name, none, |definition| {
            let function = definition.entry.decompose?;
            let queried = self.queried(op, definition);
            let call = OpCall {
                query: OpQuery::Body,
                ..OpCall::new(self.session, op)
            };
            let called = queried.make_call(call, function);
            let body = called.and_then(|call| call.body.ok_or_else(no_result));
            Some(body.and_then(|body| {
                let session = self.session;
                let copied =
                    session.with(|state| replace_op(self.context, state.edit()?, op, &body));
                copied.map_err(|error| match error.status {
                    // It isn't the definition's error if this function has no room for the body.
                    Status::NOT_FOUND => error,
                    _ => queried.blame(error),
                })
            }))
        });
        values.map_err(|error| self.missing_error(op, "has no body", error))
    }

    pub(in crate::boundary) unsafe fn insert_text(&self, desc: &TextDesc) -> Edit {
        let OpQueries { context, session } = *self;
        // SAFETY: all pointers in the description are valid during the call, by the plugin ABI.
        let (given_text, args) = unsafe {
            (
                input::long_text(desc.text, "text", MAX_BODY)?,
                input::list(desc.args, desc.arg_count, "arguments")?,
            )
        };
        if desc.result_count > 0 {
            input::check_out(desc.results)?;
        }
        let is_used = |symbols: &Symbols, name| context.names_function(symbols, name);
        let values = session.with(|state| {
            state.read()?.live_op(desc.op)?;
            text::insert_body(
                state.edit()?,
                desc.op,
                given_text,
                args,
                is_used,
                |symbols, name, version| context.since(symbols, name, version),
                |given| {
                    if given == desc.result_count {
                        return Ok(());
                    }
                    let room = desc.result_count;
                    Err(format!("expected {room} values, found {given}"))
                },
            )
        })?;
        // SAFETY: as above. The results were checked to have room for all values.
        unsafe { input::write_all(desc.results, values) };
        Ok(())
    }

    /// Returns the name of an op, after checking that it has `count` results.
    pub(super) fn check_results(&self, op: OpId, count: usize) -> Edit<SymbolId> {
        self.session.with(|state| {
            let function = state.read()?;
            let record = function.live_op(op)?;
            if record.results.len as usize != count {
                return Err(EditFailure::invalid(format!(
                    "expected {count} results of {}, found {}",
                    function.describe_op(op),
                    record.results.len
                )));
            }
            Ok(record.name)
        })
    }
}

/// Inserts the body of an op before it. Returns the values that replace the op's results.
fn replace_op(
    context: &ContextSession<'_>,
    function: &mut Function,
    op: OpId,
    body: &str,
) -> Edit<Vec<ValueId>> {
    let operands = function.operands(op).iter();
    let args: Vec<ValueId> = operands.map(|slot| slot.value).collect();
    let results: Vec<ValueId> = function.results(op).collect();
    let expected_count = results.len();
    let is_used = |symbols: &Symbols, name| context.names_function(symbols, name);
    let since = |symbols: &Symbols, name, version: i64| context.since(symbols, name, version);
    let check = |given| match given {
        given if given < expected_count => {
            Err(format!("expected {expected_count} results, found {given}"))
        }
        _ => Ok(()),
    };
    let mut values = text::insert_body(function, op, body, &args, is_used, since, check)?;
    values.truncate(expected_count);
    for (&result, &value) in results.iter().zip(&values) {
        // The known type of a result is merged into that of the value that replaces it. A contradiction is reported
        // when the value replaces the result.
        if value.is_none() || args.contains(&value) {
            continue;
        }
        let (declared, inferred) = (function.value(result).ty, function.value(value).ty);
        if let Some(ty) = function.merge_types(inferred, declared) {
            function.set_type(value, ty)?;
        }
    }
    Ok(values)
}
