//! A pass that makes the calls that the input chooses, and the functions that it holds.

use std::ptr::{null, null_mut};

use passdock_abi as abi;
use passdock_abi::{
    Column, ConstId, FunctionEntry, FunctionRef, FunctionView, ModuleRef, RegionId, Status,
    SymbolId,
};
use passdock_core::boundary::host;

use super::arguments::Call;
use super::calls;
use super::input::{below, byte, has_more, mostly, one_in, pick};

/// A pass ends when a function has more ops, so that repeated copies are limited.
const MAX_OPS: u32 = 512;

/// The maximum number of functions that a pass holds.
const MAX_FUNCTIONS: usize = 24;

pub(super) const NONE: FunctionRef = FunctionRef {
    handle: null_mut(),
    view: null(),
};

/// A running pass.
pub(super) struct Pass {
    cx: *mut abi::Context,
    /// The module to edit, or the input of a function pass.
    module: ModuleRef,
    functions: Vec<Held>,
}

/// A function that the pass holds a handle to.
#[derive(Clone, Copy)]
struct Held {
    function: FunctionRef,
    name: SymbolId,
    state: State,
}

/// The valid uses of a handle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Editing.
    Edit,
    /// Reading: a snapshot.
    Read,
    /// None, because its function was erased or another pass ran. The host must reject every call.
    Ended,
}

impl Pass {
    /// Makes calls until the input ends the pass, and returns the pass's status. The pass starts with `f`, or with the
    /// first function of the module.
    pub(super) fn run(cx: *mut abi::Context, module: ModuleRef, f: Option<FunctionRef>) -> Status {
        let mut pass = Pass {
            cx,
            module,
            functions: Vec::new(),
        };
        let mut function = f.unwrap_or(NONE);
        if let (None, Some(first)) = (f, pass.listed().first()) {
            // SAFETY: the host passed the module's handle to this pass.
            unsafe {
                let edit = (*host().get().modules).edit.expect("the host's");
                edit(module.handle, first.name, &mut function);
            }
        }
        pass.hold(function, State::Edit);
        let mut status = Status::OK;
        while status.is_ok() && has_more() && pass.is_small() {
            match byte() {
                0..4 => break,
                4..6 => status = Status(below(9) as u32),
                6..16 => pass.end_regions(),
                16..24 => pass.release(),
                _ => pass.step(),
            }
        }
        if !one_in(4) {
            pass.end_regions();
        }
        pass.erase_scratch();
        status
    }

    /// Calls one function of the host and checks the results.
    fn step(&mut self) {
        let last = self.functions.len().saturating_sub(1);
        let held = self
            .functions
            .get(pick(&[last, last, below(last + 1)]))
            .copied();
        // SAFETY: the module's view is valid while the pass runs.
        let mut call = Call::new(unsafe { (*self.module.view).symbols });
        call.context = mostly(self.cx, &[null_mut()]);
        call.module = mostly(self.module.handle, &[null_mut()]);
        call.names = self.listed().iter().map(|entry| entry.name).collect();
        if let Some(held) = held {
            call.function = mostly(held.function.handle, &[null_mut()]);
            call.source = pick(&self.functions).function;
            let has_ended = held.state == State::Ended;
            call.view = if has_ended {
                null()
            } else {
                held.function.view
            };
        }
        let (is_about_function, (name, status)) = match below(16) {
            0..=7 => (true, calls::functions(&call)),
            8..=11 => (true, calls::ops(&call)),
            12 => (true, calls::analyses(&call)),
            13 => (false, calls::context(&call)),
            _ => {
                self.erase_scratch();
                (false, calls::modules(&call))
            }
        };
        call.check(name, status);
        let is_ok = status == Some(Status::OK);
        if is_about_function {
            // SAFETY: only calls on a module invalidate a handle.
            unsafe { call.view.as_ref().map(|view| calls::touch_columns(view)) };
            let has_ended = call.view.is_null() && !call.function.is_null();
            assert!(!(has_ended && is_ok), "`{name}` of a handle that has ended");
        }
        if !is_ok {
            return;
        }
        match name {
            "snapshot" => self.hold(call.written(), State::Read),
            "edit" | "create_function" => self.hold(call.written(), State::Edit),
            "remove_function" => {
                let listed: Vec<SymbolId> = self.listed().iter().map(|entry| entry.name).collect();
                self.end(|held| !listed.contains(&held.name));
            }
            "run_pass" => self.end(|_| true),
            _ => {}
        }
    }

    /// Adds a function that the host returned.
    fn hold(&mut self, function: FunctionRef, state: State) {
        let is_same = |held: &Held| held.function.handle == function.handle;
        // SAFETY: the host has just returned the function, or a null pointer.
        if let Some(name) = unsafe { function.view.as_ref() }.map(|view| view.name)
            && self.functions.len() < MAX_FUNCTIONS
            && !self.functions.iter().any(is_same)
        {
            let held = Held {
                function,
                name,
                state,
            };
            self.functions.push(held);
        }
    }

    fn end(&mut self, is_gone: impl Fn(&Held) -> bool) {
        for held in &mut self.functions {
            if held.state == State::Edit && is_gone(held) {
                held.state = State::Ended;
            }
        }
    }

    /// Releases the last snapshot.
    fn release(&mut self) {
        let is_snapshot = |held: &Held| held.state == State::Read;
        if let Some(at) = self.functions.iter().rposition(is_snapshot) {
            let function = self.functions.remove(at).function;
            // SAFETY: the host passed the handles to this pass, and the snapshot isn't used any more.
            unsafe {
                let release = (*host().get().modules).release.expect("the host's");
                release(self.module.handle, function);
            }
        }
    }

    /// Returns the functions of the module.
    fn listed(&self) -> &[FunctionEntry] {
        // SAFETY: the view is valid while the pass runs, and its columns until the next call.
        unsafe { records((*self.module.view).functions) }
    }

    /// Returns the functions that may be edited.
    fn edited(&self) -> impl Iterator<Item = (*mut abi::Function, &FunctionView)> {
        let edited = self
            .functions
            .iter()
            .filter(|held| held.state == State::Edit);
        // SAFETY: the handles are valid, and so are their views.
        edited.map(|held| (held.function.handle, unsafe { &*held.function.view }))
    }

    fn is_small(&self) -> bool {
        self.edited()
            .all(|(_, view)| view.ops.len <= MAX_OPS && view.values.len <= 8 * MAX_OPS)
    }

    /// Erases unused scratch constants, which the ABI requires of a pass.
    fn erase_scratch(&self) {
        for (function, view) in self.edited() {
            // SAFETY: the view's columns are valid until the next edit.
            let values = unsafe { records::<abi::Value>(view.values) }.to_vec();
            for value in values {
                if value.flags & (abi::Value::SCRATCH | abi::Value::DEAD) == abi::Value::SCRATCH {
                    // SAFETY: the handle is valid.
                    let status = unsafe {
                        let erase = (*host().get().functions).erase_constant;
                        erase.expect("the host's")(function, ConstId(value.def))
                    };
                    assert!(status.is_ok(), "scratch that stays: {status:?}");
                }
            }
        }
    }

    /// Adds an empty terminator to the regions without a `return` or `yield`. The host rejects it for other regions.
    fn end_regions(&self) {
        for (function, view) in self.edited() {
            for region in 0..view.regions.len {
                // SAFETY: the handle is valid, and its view's columns are valid until the next edit.
                unsafe {
                    let last = records::<abi::Region>(view.regions)[region as usize].last;
                    let last = records::<abi::Op>(view.ops)
                        .get(last.index())
                        .map(|op| op.name);
                    if !matches!(last, Some(abi::symbol::RETURN | abi::symbol::YIELD)) {
                        let end = (*host().get().functions).set_results.expect("the host's");
                        end(function, RegionId(region), &abi::ResultsDesc::EMPTY);
                    }
                }
            }
        }
    }
}

/// Reads the first and the last record of a column.
///
/// # Safety
/// The column must be valid.
pub(super) unsafe fn touch<T: Copy>(column: Column) {
    // SAFETY: the caller ensures it.
    let records = unsafe { records::<T>(column) };
    std::hint::black_box((records.first().copied(), records.last().copied()));
}

/// Returns the records of a column.
///
/// # Safety
/// The column must be valid, and must not be edited while the slice is used.
pub(super) unsafe fn records<'a, T>(column: Column) -> &'a [T] {
    match column.len {
        0 => &[],
        // SAFETY: the caller ensures it.
        len => unsafe { std::slice::from_raw_parts(column.base.cast(), len as usize) },
    }
}
