//! What a running pass has at hand, and what it may expect of every answer.

use passdock_abi as abi;
use passdock_abi::{Column, FunctionRef, ModuleRef, Status};
use passdock_core::boundary::host;

use super::script::{Odd, Script, Step};
use super::{analyses, context, functions, modules, text};

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
    /// Takes steps until one says that the pass is at its end. What it answers the host.
    pub(super) fn run(&mut self) -> Status {
        while let Some(step) = Script::next() {
            match step.what() % 64 {
                0..=39 => self.on_function(&step),
                40..=45 => modules::call(self, &step),
                46..=48 => analyses::call(self, &step),
                49..=51 => context::call(self, &step),
                52..=61 => self.on_function(&step),
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

    /// Erases the scratch constants that no op uses, as the contract asks of a pass.
    pub(super) fn erase_scratch(&self) {
        for held in &self.functions {
            if held.state == State::Edit {
                functions::erase_scratch(held.function);
            }
        }
    }

    /// Takes the first function of the module in hand.
    pub(super) fn edit_main(&mut self) {
        // SAFETY: the module's handle and view are the host's, of this pass.
        unsafe {
            let listed = records_of::<abi::FunctionEntry>((*self.module.view).functions);
            let Some(first) = listed.first() else {
                return;
            };
            let mut function = FunctionRef {
                handle: std::ptr::null_mut(),
                view: std::ptr::null(),
            };
            let table = &*host().get().modules;
            let status =
                table.edit.expect("is there")(self.module.handle, first.name, &mut function);
            if status.is_ok() {
                let state = State::Edit;
                self.functions.push(Held { function, state });
            }
        }
    }

    fn on_function(&mut self, step: &Step) {
        if let Some(held) = self.pick(step) {
            functions::call(self, step, held);
        }
    }

    /// One of the functions at hand: mostly the last one.
    pub(super) fn pick(&self, step: &Step) -> Option<Held> {
        let last = self.functions.len().checked_sub(1)?;
        let byte = usize::from(step.byte());
        let at = if byte < 128 { last } else { byte % (last + 1) };
        Some(self.functions[at])
    }

    /// Ends the regions that no `return` or `yield` ends yet.
    fn end_regions(&self) {
        for held in &self.functions {
            if held.state == State::Edit {
                functions::end_regions(held.function);
            }
        }
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
        let said = unsafe {
            let table = &*host().get().functions;
            text::read(table.last_error.expect("is there")(handle))
        };
        assert!(!said.contains("mistake in passdock"), "{said}");
    }
    if held.state == State::Ended && !handle.is_null() {
        assert!(!status.is_ok(), "a handle that has ended works");
        return;
    }
    look(held.function);
}

/// Checks that nothing was written to the place for an answer unless there is one.
pub(super) fn unwritten<T: PartialEq + std::fmt::Debug>(status: Status, out: &T, was: &T) {
    assert!(status.is_ok() || out == was, "{status:?} wrote {out:?}");
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

    pub(super) fn op(&self, step: &Step) -> abi::OpId {
        abi::OpId(step.id(&self.ops.0, self.ops.1))
    }

    pub(super) fn value(&self, step: &Step) -> abi::ValueId {
        abi::ValueId(step.id(&self.values.0, self.values.1))
    }

    pub(super) fn region(&self, step: &Step) -> abi::RegionId {
        abi::RegionId(step.id(&self.regions.0, self.regions.1))
    }

    pub(super) fn constant(&self, step: &Step) -> abi::ConstId {
        abi::ConstId(step.id(&self.constants.0, self.constants.1))
    }

    pub(super) fn ty(&self, step: &Step) -> abi::TypeId {
        abi::TypeId(step.id(&self.types.0, self.types.1))
    }

    pub(super) fn loc(&self, step: &Step) -> abi::LocId {
        abi::LocId(step.id(&self.locs.0, self.locs.1))
    }

    /// A few of them.
    pub(super) fn list_of<T>(&self, step: &Step, one: impl Fn(&Ids, &Step) -> T) -> Vec<T> {
        let count = step.below(4);
        (0..count).map(|_| one(self, step)).collect()
    }
}
