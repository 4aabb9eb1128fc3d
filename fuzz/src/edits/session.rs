//! What a running pass has at hand, and what it may expect of every answer.

use passdock_abi as abi;
use passdock_abi::{Column, ConstId, FunctionRef, ModuleRef, OpId, RegionId, Status};
use passdock_core::boundary::host;

use super::arguments::{Call, read};
use super::script::{Odd, Script, Step};
use super::{analyses, calls, modules};

/// A function grows no further than this, so that copies of copies end.
pub(super) const MAX_OPS: u32 = 512;

/// A pass that runs.
pub(super) struct Pass {
    pub(super) cx: *mut abi::Context,
    /// The module: to edit, or the input of a function pass.
    pub(super) module: ModuleRef,
    /// The functions at hand.
    pub(super) functions: Vec<Held>,
}

/// A function at hand.
#[derive(Clone, Copy)]
pub(super) struct Held {
    pub(super) function: FunctionRef,
    pub(super) state: State,
}

/// What a handle is good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Editing.
    Edit,
    /// Reading: a snapshot.
    Read,
    /// Nothing: its function is gone, or another pass ran. Every call has to be refused.
    Ended,
}

impl Pass {
    /// Takes steps until one says that the pass is at its end. Returns the pass's status.
    pub(super) fn run(&mut self) -> Status {
        while let Some(step) = Script::next() {
            match step.what() % 64 {
                0..=39 => self.on_function(&step, calls::functions),
                40..=45 => modules::call(self, &step),
                46..=48 => analyses::call(self, &step),
                49..=51 => self.on_context(&step),
                52..=61 => self.on_function(&step, calls::ops),
                62 => break,
                _ if step.one_in(16) => {
                    self.erase_scratch();
                    return Status(u32::from(step.byte() % 9));
                }
                _ => self.end_regions(),
            }
        }
        if Script::ends() {
            self.end_regions();
        }
        self.erase_scratch();
        Status::OK
    }

    /// Takes the first function of the module in hand.
    pub(super) fn edit_main(&mut self) {
        let mut function = modules::NONE;
        // SAFETY: the module's handle and view are the host's, of this pass.
        let status = unsafe {
            let listed = records_of::<abi::FunctionEntry>((*self.module.view).functions);
            let Some(first) = listed.first() else {
                return;
            };
            let table = &*host().get().modules;
            table.edit.expect("is there")(self.module.handle, first.name, &mut function)
        };
        modules::hold(self, status, function, State::Edit);
    }

    /// The symbols of the module.
    pub(super) fn symbols(&self) -> *const abi::Symbols {
        // SAFETY: the module's view is there while the pass runs.
        unsafe { (*self.module.view).symbols }
    }

    /// A call that is about a function at hand, or none.
    pub(super) fn call<'s>(&self, step: &'s Step, held: Option<Held>) -> Call<'s> {
        let ids = match held {
            Some(held) if held.state != State::Ended => Ids::of(held.function),
            _ => Ids::unknown(),
        };
        let mut call = Call::new(step, ids, self.symbols());
        if step.odd() != Odd::NullHandle {
            call.context = self.cx;
        }
        if let Some(held) = held {
            call.function = self.handle(step, held);
        }
        if step.one_in(3) && !self.functions.is_empty() {
            call.source = self.functions[step.below(self.functions.len())].function;
        }
        call
    }

    fn on_function(&mut self, step: &Step, calls: fn(&Call<'_>) -> Option<Status>) {
        let Some(held) = self.pick(step) else {
            return;
        };
        let call = self.call(step, Some(held));
        // SAFETY: the host's table.
        let erase = unsafe { (*host().get().functions).erase_op.expect("is there") };
        let status = match call.ids.ops.0.len() as u32 > MAX_OPS || call.ids.ops.1 > 8 * MAX_OPS {
            // SAFETY: as in `calls`.
            true => Some(unsafe { erase(call.function, call.get()) }),
            false => calls(&call),
        };
        if let Some(status) = status {
            call.check_rooms(status);
            answered(held, call.function, status);
        }
    }

    fn on_context(&self, step: &Step) {
        let held = self.pick(step);
        let call = self.call(step, held);
        // SAFETY: the handles are the host's, of this pass, or null; its tables live for good.
        unsafe {
            let t = &*host().get().context;
            assert_eq!(
                t.current.expect("is there")(host().get()),
                self.cx,
                "the current context"
            );
            let Some(status) = calls::context(&call) else {
                return;
            };
            assert!(status.0 <= Status::CONFIG.0, "{status:?}");
            call.check_rooms(status);
            if !status.is_ok() && !call.context.is_null() {
                let error = read(t.last_error.expect("is there")(call.context));
                assert!(!error.contains("mistake in passdock"), "{error}");
            }
        }
    }

    /// Erases the scratch constants that no op uses, as the contract asks of a pass.
    pub(super) fn erase_scratch(&self) {
        self.on_edited(|function, view| {
            // SAFETY: the view's columns are there until the next edit.
            let values = unsafe { records_of::<abi::Value>(view.values) };
            let left = values.iter().filter(|value| {
                value.flags & abi::Value::SCRATCH != 0 && value.flags & abi::Value::DEAD == 0
            });
            let left: Vec<ConstId> = left.map(|value| ConstId(value.def)).collect();
            for constant in left {
                // SAFETY: the handle hasn't ended.
                let status = unsafe {
                    let table = &*host().get().functions;
                    table.erase_constant.expect("is there")(function.handle, constant)
                };
                assert!(status.is_ok(), "scratch that stays: {status:?}");
            }
        });
    }

    /// Ends the regions that no `return` or `yield` ends yet, with nothing.
    fn end_regions(&self) {
        self.on_edited(|function, view| {
            // SAFETY: the view's columns are there until the next edit.
            let (ops, regions) = unsafe {
                (
                    records_of::<abi::Op>(view.ops),
                    records_of::<abi::Region>(view.regions),
                )
            };
            let ends = |op: OpId| {
                let op = ops.get(op.index());
                op.is_some_and(|op| matches!(op.name, abi::symbol::RETURN | abi::symbol::YIELD))
            };
            let open = (0..).zip(regions);
            let open = open
                .filter(|(_, region)| region.flags & abi::Region::DEAD == 0 && !ends(region.last));
            let open: Vec<RegionId> = open.map(|(id, _)| RegionId(id)).collect();
            for region in open {
                let nothing = abi::ResultsDesc {
                    port_stride: size_of::<abi::PortDesc>() as u32,
                    ..abi::ResultsDesc::EMPTY
                };
                // SAFETY: the handle hasn't ended.
                unsafe {
                    let table = &*host().get().functions;
                    table.set_results.expect("is there")(function.handle, region, &nothing);
                }
            }
        });
    }

    fn on_edited(&self, edit: impl Fn(FunctionRef, &abi::FunctionView)) {
        for held in self
            .functions
            .iter()
            .filter(|held| held.state == State::Edit)
        {
            // SAFETY: the handle hasn't ended, so its view is there.
            edit(held.function, unsafe { &*held.function.view });
        }
    }

    /// One of the functions at hand: mostly the last one.
    pub(super) fn pick(&self, step: &Step) -> Option<Held> {
        let last = self.functions.len().checked_sub(1)?;
        let byte = usize::from(step.byte());
        let at = if byte < 128 { last } else { byte % (last + 1) };
        Some(self.functions[at])
    }

    /// The handle of a function, as wrong as the step says.
    pub(super) fn handle(&self, step: &Step, held: Held) -> *mut abi::Function {
        match step.odd() {
            Odd::NullHandle => std::ptr::null_mut(),
            Odd::OtherHandle => {
                let other = self.functions[step.below(self.functions.len())];
                match other.state == held.state {
                    true => other.function.handle,
                    false => held.function.handle,
                }
            }
            _ => held.function.handle,
        }
    }
}

/// Checks what the host answered to a call on a function, and looks at all of its view.
pub(super) fn answered(held: Held, handle: *mut abi::Function, status: Status) {
    assert!(status.0 <= Status::CONFIG.0, "{status:?}");
    if !status.is_ok() && !handle.is_null() {
        // SAFETY: the handle is one that the host gave out, of this pass.
        let error = unsafe {
            let table = &*host().get().functions;
            read(table.last_error.expect("is there")(handle))
        };
        assert!(!error.contains("mistake in passdock"), "{error}");
    }
    if held.state == State::Ended && !handle.is_null() {
        assert!(!status.is_ok(), "a handle that has ended works");
        return;
    }
    look(held.function);
}

/// Looks at all that a function's view points to.
fn look(function: FunctionRef) {
    // SAFETY: the handle hasn't ended, so its view is there.
    let view = unsafe { &*function.view };
    let records = [
        (view.ops, size_of::<abi::Op>()),
        (view.values, size_of::<abi::Value>()),
        (view.uses, size_of::<abi::Use>()),
        (view.regions, size_of::<abi::Region>()),
        (view.ports, size_of::<abi::Port>()),
        (view.attrs, size_of::<abi::Attr>()),
        (view.types, size_of::<abi::Type>()),
        (view.dims, size_of::<abi::Dim>()),
        (view.exprs, size_of::<abi::DimExpr>()),
        (view.constants, size_of::<abi::Constant>()),
        (view.locs, size_of::<abi::Loc>()),
        (view.opsets, size_of::<abi::Opset>()),
        (view.ids, 4),
        (view.ints, 8),
        (view.floats, 4),
        (view.strings, size_of::<abi::Range>()),
        (view.bytes, 1),
    ];
    for (column, size) in records {
        let len = column.len as usize * size;
        // SAFETY: the contract: that many records are there until the next edit.
        let bytes = unsafe { column_of::<u8>(column.base, len) };
        std::hint::black_box((bytes.first(), bytes.last()));
    }
    // SAFETY: as above.
    let ops = unsafe { records_of::<abi::Op>(view.ops) };
    let live = ops.iter().filter(|op| op.flags & abi::Op::DEAD == 0);
    assert_eq!(live.count(), view.op_count as usize, "live ops");
}

/// The records of a column.
///
/// # Safety
/// They are there, and nobody edits while they are used.
pub(super) unsafe fn records_of<'a, T>(column: Column) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { column_of(column.base, column.len as usize) }
}

unsafe fn column_of<'a, T>(base: *const std::ffi::c_void, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(base.cast(), len) }
}

/// The live entities of a function, and how many of each there are.
pub(super) struct Ids {
    pub(super) ops: (Vec<u32>, u32),
    pub(super) values: (Vec<u32>, u32),
    pub(super) regions: (Vec<u32>, u32),
    pub(super) constants: (Vec<u32>, u32),
    pub(super) types: (Vec<u32>, u32),
    pub(super) locs: (Vec<u32>, u32),
    pub(super) exprs: u32,
}

impl Ids {
    /// The entities of a function that hasn't ended.
    pub(super) fn of(function: FunctionRef) -> Ids {
        // SAFETY: the view and its columns are there, and nobody edits here.
        unsafe {
            let view = &*function.view;
            fn live<T>(all: &[T], is_live: impl Fn(&T) -> bool) -> (Vec<u32>, u32) {
                let numbered = (0..).zip(all);
                let live = numbered.filter(|(_, record)| is_live(record));
                (live.map(|(id, _)| id).collect(), all.len() as u32)
            }
            Ids {
                ops: live(records_of::<abi::Op>(view.ops), |op| {
                    op.flags & abi::Op::DEAD == 0
                }),
                values: live(records_of::<abi::Value>(view.values), |value| {
                    value.flags & abi::Value::DEAD == 0
                }),
                regions: live(records_of::<abi::Region>(view.regions), |region| {
                    region.flags & abi::Region::DEAD == 0
                }),
                constants: live(records_of::<abi::Constant>(view.constants), |constant| {
                    constant.flags & abi::Constant::DEAD == 0
                }),
                types: ((0..view.types.len).collect(), view.types.len),
                locs: ((0..view.locs.len).collect(), view.locs.len),
                exprs: view.exprs.len,
            }
        }
    }

    /// Those of a function that has ended: nothing is known of it.
    pub(super) fn unknown() -> Ids {
        let few = || ((0..4).collect(), 4);
        Ids {
            ops: few(),
            values: few(),
            regions: few(),
            constants: few(),
            types: few(),
            locs: few(),
            exprs: 0,
        }
    }
}
