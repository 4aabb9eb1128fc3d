//! Calls of `ModuleApi`.

use passdock_abi as abi;
use passdock_abi::{
    FunctionDesc, FunctionEntry, FunctionKind, FunctionRef, OpId, OutlineDesc, Status, Str,
    SymbolId,
};
use passdock_core::boundary::host;

use super::functions::pass_symbols;
use super::script::{Odd, Step};
use super::session::{Held, Ids, Pass, State, records_of, unwritten};
use super::{plugin, text};

/// The most functions at hand.
const MOST: usize = 24;

/// What stands in the place for an answer before there is one.
const NOWHERE: FunctionRef = FunctionRef {
    handle: std::ptr::null_mut(),
    view: std::ptr::null(),
};

/// Calls the table on the module at hand.
pub(super) fn call(pass: &mut Pass, step: &Step) {
    let m = match step.odd() {
        Odd::NullHandle => std::ptr::null_mut(),
        _ => pass.module.handle,
    };
    // SAFETY: the handles are those that the host gave out, of this pass; its tables live for good.
    let status = unsafe {
        let t = &*host().get().modules;
        match step.what() % 64 {
            40 => snapshot(pass, step, m, t),
            41 => edit(pass, step, m, t),
            42 => create(pass, step, m, t),
            43 => match step.below(3) {
                0 => remove(pass, step, m, t),
                _ => release(pass, step, m, t),
            },
            44 => run_pass(pass, step, m, t),
            _ => outline(pass, step, m, t),
        }
    };
    assert!(status.0 <= Status::CONFIG.0, "{status:?}");
    // SAFETY: as above; the view is there while the pass runs.
    unsafe {
        if !status.is_ok() && !m.is_null() {
            let t = &*host().get().modules;
            let said = text::read(t.last_error.expect("is there")(m));
            assert!(!said.contains("mistake in passdock"), "{said}");
        }
        let listed = records_of::<FunctionEntry>((*pass.module.view).functions);
        std::hint::black_box((listed.first(), listed.last()));
    }
}

/// The name of a function of the module, mostly.
fn name(pass: &Pass, step: &Step) -> SymbolId {
    // SAFETY: the view is there while the pass runs, its columns until the next call.
    let listed = unsafe { records_of::<FunctionEntry>((*pass.module.view).functions) };
    match step.byte() {
        byte @ 0..224 if !listed.is_empty() => listed[usize::from(byte) % listed.len()].name,
        _ => text::symbol(step, pass_symbols(pass)),
    }
}

fn hold(pass: &mut Pass, function: FunctionRef, state: State) {
    assert!(!function.handle.is_null() && !function.view.is_null());
    let known = |held: &Held| held.function.handle == function.handle;
    if !pass.functions.iter().any(known) && pass.functions.len() < MOST {
        pass.functions.push(Held { function, state });
    }
}

fn answer(status: Status, out: &FunctionRef) {
    unwritten(
        status,
        &(out.handle.addr(), out.view.addr()),
        &(NOWHERE.handle.addr(), NOWHERE.view.addr()),
    );
}

unsafe fn snapshot(
    pass: &mut Pass,
    step: &Step,
    m: *mut abi::Module,
    t: &abi::ModuleApi,
) -> Status {
    let mut out = NOWHERE;
    let name = name(pass, step);
    // SAFETY: the caller's promise.
    let status = unsafe { t.snapshot.expect("is there")(m, name, step.out(&mut out)) };
    answer(status, &out);
    if status.is_ok() {
        hold(pass, out, State::Read);
    }
    status
}

unsafe fn edit(pass: &mut Pass, step: &Step, m: *mut abi::Module, t: &abi::ModuleApi) -> Status {
    let mut out = NOWHERE;
    let name = name(pass, step);
    // SAFETY: the caller's promise.
    let status = unsafe { t.edit.expect("is there")(m, name, step.out(&mut out)) };
    answer(status, &out);
    if status.is_ok() {
        hold(pass, out, State::Edit);
    }
    status
}

unsafe fn create(pass: &mut Pass, step: &Step, m: *mut abi::Module, t: &abi::ModuleApi) -> Status {
    let mut out = NOWHERE;
    let desc = FunctionDesc {
        struct_size: step.size(size_of::<FunctionDesc>()),
        kind: FunctionKind(step.pick(&[1, 2, 1, 1, 0, 3])),
        name: match step.one_in(2) {
            true => text::text(step),
            false => Str::new(text::NAMES[step.below(text::NAMES.len())]),
        },
        opsets_of: match step.one_in(2) {
            true => SymbolId::NONE,
            false => name(pass, step),
        },
        ..FunctionDesc::EMPTY
    };
    let out_at = step.out(&mut out);
    // SAFETY: the caller's promise.
    let status = unsafe { t.create_function.expect("is there")(m, step.desc(&desc), out_at) };
    answer(status, &out);
    if status.is_ok() {
        hold(pass, out, State::Edit);
    }
    status
}

unsafe fn remove(pass: &mut Pass, step: &Step, m: *mut abi::Module, t: &abi::ModuleApi) -> Status {
    let name = name(pass, step);
    // SAFETY: the caller's promise; the views of handles that haven't ended are there.
    unsafe {
        let gone: Vec<bool> = pass
            .functions
            .iter()
            .map(|held| held.state == State::Edit && (*held.function.view).name == name)
            .collect();
        let status = t.remove_function.expect("is there")(m, name);
        for (held, gone) in pass.functions.iter_mut().zip(gone) {
            if status.is_ok() && gone {
                held.state = State::Ended;
            }
        }
        status
    }
}

unsafe fn release(pass: &mut Pass, step: &Step, m: *mut abi::Module, t: &abi::ModuleApi) -> Status {
    let last = pass.functions.len().saturating_sub(1);
    let at = last.saturating_sub(step.below(4));
    // A handle that was released is gone: nothing may be done with it.
    let is_snapshot = |held: &Held| held.state == State::Read;
    if !m.is_null() && pass.functions.get(at).is_some_and(is_snapshot) {
        let held = pass.functions.remove(at);
        // SAFETY: the caller's promise.
        unsafe { t.release.expect("is there")(m, held.function) };
    } else {
        // SAFETY: as above; no snapshot is released.
        unsafe { t.release.expect("is there")(m, NOWHERE) };
    }
    Status::OK
}

unsafe fn run_pass(
    pass: &mut Pass,
    step: &Step,
    m: *mut abi::Module,
    t: &abi::ModuleApi,
) -> Status {
    let name = step.pick(&[
        plugin::FUNCTION,
        plugin::MODULE,
        plugin::PRIM,
        "f.transform.Nobody",
        "",
    ]);
    let desc = abi::RunDesc {
        struct_size: step.size(size_of::<abi::RunDesc>()),
        name: Str::new(name),
        ..abi::RunDesc::EMPTY
    };
    pass.erase_scratch();
    let cx = match step.one_in(16) {
        true => std::ptr::null_mut(),
        false => pass.cx,
    };
    // SAFETY: the caller's promise.
    let status = unsafe { t.run_pass.expect("is there")(m, cx, step.desc(&desc)) };
    if status.is_ok() {
        for held in &mut pass.functions {
            if held.state == State::Edit {
                held.state = State::Ended;
            }
        }
    }
    status
}

unsafe fn outline(pass: &mut Pass, step: &Step, m: *mut abi::Module, t: &abi::ModuleApi) -> Status {
    let edited: Vec<Held> = pass
        .functions
        .iter()
        .filter(|held| held.state == State::Edit)
        .copied()
        .collect();
    let (function, ids) = match edited.get(step.below(edited.len())) {
        // SAFETY: the view of a handle that hasn't ended is there.
        Some(held) => unsafe { ((*held.function.view).name, Ids::of(held.function)) },
        None => (name(pass, step), Ids::unknown()),
    };
    let ops = ids.list_of(step, Ids::op);
    let (at, op_count) = step.list(&ops);
    let desc = OutlineDesc {
        struct_size: step.size(size_of::<OutlineDesc>()),
        function,
        ops: at,
        op_count,
        name: match step.one_in(2) {
            true => text::text(step),
            false => Str::new("f.outlined"),
        },
        ..OutlineDesc::EMPTY
    };
    let (mut made, mut call) = (SymbolId(7), OpId(7));
    let made_at = step.out(&mut made);
    // SAFETY: the caller's promise.
    let status = unsafe { t.outline.expect("is there")(m, step.desc(&desc), made_at, &mut call) };
    unwritten(status, &(made, call), &(SymbolId(7), OpId(7)));
    status
}
