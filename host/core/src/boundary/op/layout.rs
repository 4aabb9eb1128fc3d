//! `OpApi::layout` and `alter_layout`: an op in other layouts, by its definition.

use passdock_abi as abi;
use passdock_abi::{LaidOut, OpId, Str};
use passdock_ir::{Edit, EditFailure};

use super::{OpCall, OpQueries, OpQuery, no_result};
use crate::boundary::session::input;
use crate::boundary::session::laid_out::LaidOutBuffers;

/// The maximum length of a layout, in bytes. One letter per axis needs far less.
const MAX_LAYOUT: usize = 4096;

/// The layouts that a definition returned, by operand and by result.
#[derive(Default)]
pub(in crate::boundary) struct Layouts {
    operands: Vec<(u32, String)>,
    results: Vec<(u32, String)>,
}

// SAFETY for all `unsafe` below: strings are valid during the call, by the plugin ABI.

impl OpQueries<'_> {
    pub(in crate::boundary) unsafe fn layout(&self, op: OpId, requested: &[Str]) -> Edit<LaidOut> {
        // SAFETY: see above.
        unsafe { self.laid_out(op, requested, |entry| entry.layout) }
    }

    pub(in crate::boundary) unsafe fn alter_layout(
        &self,
        op: OpId,
        given: &[Str],
    ) -> Edit<LaidOut> {
        // SAFETY: see above.
        unsafe { self.laid_out(op, given, |entry| entry.alter_layout) }
    }

    /// Calls one function of the op's definitions, selected by `which`.
    unsafe fn laid_out(
        &self,
        op: OpId,
        layouts: &[Str],
        which: fn(&abi::OpEntry) -> Option<abi::OpFn>,
    ) -> Edit<LaidOut> {
        let layouts = layouts.iter();
        // SAFETY: see above.
        let layouts = layouts.map(|&text| unsafe { input::long_text(text, "layout", MAX_LAYOUT) });
        let layouts = layouts.collect::<Edit<Vec<&str>>>()?;
        let (name, operands, results) = self.session.with(|state| {
            let function = state.read()?;
            let record = function.live_op(op)?;
            let counts = (record.operands.len, record.results.len);
            Ok((record.name, counts.0 as usize, counts.1 as usize))
        })?;
        if layouts.len() != operands {
            let count = layouts.len();
            let message = format!("expected {operands} layouts, one per operand, found {count}");
            return Err(EditFailure::invalid(message));
        }
        let none = "the definition has no other layouts";
        let result = self.first_result(name, none, |definition| {
            let function = which(&definition.entry)?;
            let call = OpCall {
                query: OpQuery::Layouts(&layouts),
                ..OpCall::new(self.session, op)
            };
            let called = self.queried(op, definition).make_call(call, function);
            Some(called.and_then(|OpCall { body, layouts, .. }| {
                let body = body.ok_or_else(no_result)?;
                let (operand_layouts, result_layouts) = (layouts.operands, layouts.results);
                Ok(LaidOutBuffers::new(
                    body,
                    (operands, operand_layouts),
                    (results, result_layouts),
                ))
            }))
        })?;
        self.session.with(|state| {
            let shown = match state.loan() {
                None => result.shown(),
                Some(loan) => loan.layouts(&result),
            };
            state.extras().laid_out = Some(result);
            Ok(shown)
        })
    }
}

impl OpCall<'_> {
    pub(in crate::boundary) fn requested_layout(&mut self, index: u32) -> Edit<Str> {
        let OpQuery::Layouts(requested) = self.query else {
            return Err(no_layout_query());
        };
        self.check_index(index, "operand", |record| record.operands.len)?;
        match requested.get(index as usize) {
            Some(&layout) if !layout.is_empty() => Ok(self.lent_text(layout)),
            _ => Err(EditFailure::not_found(
                "no layout is requested for the operand",
            )),
        }
    }

    pub(in crate::boundary) unsafe fn set_operand_layout(
        &mut self,
        index: u32,
        layout: Str,
    ) -> Edit {
        self.check_index(index, "operand", |record| record.operands.len)?;
        // SAFETY: see above.
        unsafe { self.set_layout(index, layout, |layouts| &mut layouts.operands) }
    }

    pub(in crate::boundary) unsafe fn set_result_layout(
        &mut self,
        index: u32,
        layout: Str,
    ) -> Edit {
        self.check_result(index)?;
        // SAFETY: see above.
        unsafe { self.set_layout(index, layout, |layouts| &mut layouts.results) }
    }

    /// Records the layout of an operand or a result.
    unsafe fn set_layout(
        &mut self,
        index: u32,
        layout: Str,
        list: fn(&mut Layouts) -> &mut Vec<(u32, String)>,
    ) -> Edit {
        if !matches!(self.query, OpQuery::Layouts(_)) {
            return Err(no_layout_query());
        }
        // SAFETY: see above.
        let layout = unsafe { input::long_text(layout, "layout", MAX_LAYOUT)? }.to_owned();
        let list = list(&mut self.layouts);
        list.retain(|(at, _)| *at != index);
        list.push((index, layout));
        Ok(())
    }
}

fn no_layout_query() -> EditFailure {
    EditFailure::rejected("only `layout` and `alter_layout` of a definition have layouts")
}
