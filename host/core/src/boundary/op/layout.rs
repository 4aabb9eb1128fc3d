//! `OpApi::layout` and `alter_layout`: what an op is in other layouts, as its definition says.

use passdock_abi as abi;
use passdock_abi::{LaidOut, OpCall as Handle, OpId, Status, Str};
use passdock_ir::{Edit, EditError};

use super::{AskedFor, OpCall, answer, ask, definitions, no_answer};
use crate::boundary::session::context::ContextSession;
use crate::boundary::session::function::FunctionSession;
use crate::boundary::session::input;
use crate::boundary::session::laid_out::LayoutAnswer;

/// The longest layout, in bytes: far beyond one letter for each axis.
const MAX_LAYOUT: usize = 4096;

/// The layouts that a definition answered, by operand and by result.
#[derive(Default)]
pub(in crate::boundary) struct Layouts {
    operands: Vec<(u32, String)>,
    results: Vec<(u32, String)>,
}

// SAFETY of all calls is the contract's: handles are those that the host handed out and that
// haven't ended, and what a pointer leads to is there as long as the call.

pub(in crate::boundary) unsafe extern "C" fn layout(
    cx: *mut abi::Context,
    f: *mut abi::Function,
    op: OpId,
    wanted: *const Str,
    count: usize,
    out: *mut LaidOut,
) -> Status {
    // SAFETY: see above.
    unsafe { laid_out(cx, f, op, (wanted, count), out, |entry| entry.layout) }
}

pub(in crate::boundary) unsafe extern "C" fn alter_layout(
    cx: *mut abi::Context,
    f: *mut abi::Function,
    op: OpId,
    given: *const Str,
    count: usize,
    out: *mut LaidOut,
) -> Status {
    // SAFETY: see above.
    unsafe { laid_out(cx, f, op, (given, count), out, |entry| entry.alter_layout) }
}

/// Asks one function of an op's definition.
///
/// # Safety
/// The contract's.
unsafe fn laid_out(
    cx: *mut abi::Context,
    f: *mut abi::Function,
    op: OpId,
    (layouts, count): (*const Str, usize),
    out: *mut LaidOut,
    which: fn(&abi::OpEntry) -> Option<abi::OpFn>,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        ask(cx, f, |context, session| {
            let layouts = input::list(layouts, count, "layouts")?.iter();
            let layouts = layouts.map(|&text| input::long_text(text, "layout", MAX_LAYOUT));
            let layouts = layouts.collect::<Edit<Vec<&str>>>()?;
            let answer = ask_for(context, session, op, &layouts, which)?;
            let said = answer.shown();
            session.with(|state| {
                state.extras().laid_out = Some(answer);
                Ok(())
            })?;
            input::fill(out, said)
        })
    }
}

/// What one function of an op's definition answers.
fn ask_for(
    context: &ContextSession<'_>,
    session: &FunctionSession,
    op: OpId,
    wanted: &[&str],
    which: fn(&abi::OpEntry) -> Option<abi::OpFn>,
) -> Edit<LayoutAnswer> {
    let (name, operands, results) = session.with(|state| {
        let function = state.read()?;
        let record = function.live_op(op)?;
        Ok((
            record.name,
            record.operands.len as usize,
            record.results.len as usize,
        ))
    })?;
    if wanted.len() != operands {
        let message = format!(
            "The op has {operands} operands, and there are {} layouts.",
            wanted.len()
        );
        return Err(EditError::invalid(message));
    }
    let none = "its definition knows of no other layouts";
    definitions::first_answer(context, session, name, none, |definition| {
        let function = which(&definition.entry)?;
        let call = OpCall {
            asked_for: AskedFor::Layouts(wanted),
            ..OpCall::new(session, op)
        };
        let answered = call.answered(context, function, definition);
        Some(answered.and_then(|OpCall { body, layouts, .. }| {
            let body = body.ok_or_else(no_answer)?;
            let (taken, given) = (layouts.operands, layouts.results);
            Ok(LayoutAnswer::new(body, (operands, taken), (results, given)))
        }))
    })
}

pub(in crate::boundary) unsafe extern "C" fn wanted_layout(
    call: *mut Handle,
    index: u32,
    out: *mut Str,
) -> Status {
    // SAFETY: see above.
    answer(call, |call| unsafe {
        input::check_out(out)?;
        let AskedFor::Layouts(wanted) = call.asked_for else {
            return Err(not_asked());
        };
        match wanted.get(index as usize) {
            Some(&layout) if !layout.is_empty() => {
                input::answer(out, Str::new(layout));
                Ok(())
            }
            _ => Err(EditError::not_found("The operand is as it is.")),
        }
    })
}

pub(in crate::boundary) unsafe extern "C" fn set_operand_layout(
    call: *mut Handle,
    index: u32,
    layout: Str,
) -> Status {
    // SAFETY: see above.
    answer(call, |call| unsafe {
        call.check_index(index, "operand", |record| record.operands.len)?;
        set(call, index, layout, |layouts| &mut layouts.operands)
    })
}

pub(in crate::boundary) unsafe extern "C" fn set_result_layout(
    call: *mut Handle,
    index: u32,
    layout: Str,
) -> Status {
    // SAFETY: see above.
    answer(call, |call| unsafe {
        call.check_result(index)?;
        set(call, index, layout, |layouts| &mut layouts.results)
    })
}

/// Keeps the layout of an operand or a result.
///
/// # Safety
/// The contract's, for the text.
unsafe fn set(
    call: &mut OpCall<'_>,
    index: u32,
    layout: Str,
    list: fn(&mut Layouts) -> &mut Vec<(u32, String)>,
) -> Edit {
    if !matches!(call.asked_for, AskedFor::Layouts(_)) {
        return Err(not_asked());
    }
    // SAFETY: the caller's promise.
    let layout = unsafe { input::long_text(layout, "layout", MAX_LAYOUT)? }.to_owned();
    let list = list(&mut call.layouts);
    list.retain(|(known, _)| *known != index);
    list.push((index, layout));
    Ok(())
}

fn not_asked() -> EditError {
    EditError::refused("Only `layout` and `alter_layout` of a definition have layouts.")
}
