//! Instruments in a plugin's table: the functions that the host calls around passes.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;

use passdock_abi as abi;
use passdock_abi::Status;

use super::calls::{answer, failed, Bound};
use crate::data::PassError;
use crate::ir::Module;
use crate::pass::{Instrument, InstrumentFunctions, MakeInstrument, PassContext, PassInfo};
use crate::raw::lent;
use crate::raw::{end, enter, prefix, text, Tables, Texts};

/// An instance of an instrument, which the host holds.
struct Instance {
    instrument: Box<dyn Instrument>,
    tables: &'static Tables,
    /// The last report, which the host reads.
    report: String,
}

// They have all fields today, and not tomorrow.
#[allow(clippy::needless_update)]
pub(super) fn entries(
    instruments: &[InstrumentFunctions],
    tables: &'static Tables,
) -> &'static [abi::InstrumentEntry] {
    let entries = instruments.iter().map(|spec| abi::InstrumentEntry {
        name: abi::Str::new(spec.name),
        state: Bound {
            part: spec.make,
            tables,
        }
        .leak(),
        create: Some(create),
        destroy: Some(destroy),
        enter_pass_ctx: Some(enter_pass_ctx),
        exit_pass_ctx: Some(exit_pass_ctx),
        should_run: Some(should_run),
        run_before_pass: Some(run_before_pass),
        run_after_pass: Some(run_after_pass),
        pass_failed: Some(pass_failed),
        report: Some(report),
        ..abi::InstrumentEntry::EMPTY
    });
    Box::leak(entries.collect())
}

// The functions of the entries. SAFETY (all): the contract. `state` is what `entries` made and
// `instance` what `create` did; nobody else uses the instance, and the handles and records live,
// until the function returns.

unsafe extern "C" fn create(
    state: *mut c_void,
    context: *mut abi::Context,
    out: *mut *mut c_void,
) -> Status {
    // SAFETY: see above.
    let bound = unsafe { Bound::<MakeInstrument>::of(state) };
    // SAFETY: see above.
    let cx = unsafe { PassContext::from_raw(bound.tables, context, ptr::null()) };
    let body = || {
        match (bound.part)(&cx) {
            Ok(instrument) => {
                let instance = state_of(instrument, bound.tables);
                // SAFETY: see above.
                unsafe { out.write(instance) };
                Status::OK
            }
            Err(error) => failed(error, cx.raw()),
        }
    };
    enter(bound.tables, body, |panic| {
        cx.raw().fail(&lent::panicked(panic))
    })
}

fn state_of(instrument: Box<dyn Instrument>, tables: &'static Tables) -> *mut c_void {
    let instance = Instance {
        instrument,
        tables,
        report: String::new(),
    };
    Box::into_raw(Box::new(instance)).cast()
}

unsafe extern "C" fn destroy(instance: *mut c_void) {
    // SAFETY: see above; made by `state_of`, and not used after this.
    let instance: Box<Instance> = unsafe { Box::from_raw(instance.cast()) };
    end(instance.tables, instance);
}

/// Calls an instance.
///
/// # Safety
/// As above.
#[inline]
unsafe fn call(
    instance: *mut c_void,
    context: *mut abi::Context,
    body: impl FnOnce(&mut Instance, &PassContext) -> Result<(), PassError>,
) -> Status {
    // SAFETY: the caller's promise.
    let instance: &mut Instance = unsafe { &mut *instance.cast() };
    let tables = instance.tables;
    // SAFETY: the caller's promise.
    let cx = unsafe { PassContext::from_raw(tables, context, ptr::null()) };
    let body = || answer(body(instance, &cx), cx.raw());
    enter(tables, body, |panic| cx.raw().fail(&lent::panicked(panic)))
}

/// The pass and module that a callback is told of.
#[derive(Clone, Copy)]
struct Watched {
    module: *const abi::ModuleRef,
    pass: *const abi::PassInfo,
}

impl Watched {
    /// # Safety
    /// As above; the answer isn't used after the function returned.
    #[inline]
    unsafe fn module<'h>(self, tables: &'static Tables) -> Module<'h> {
        // SAFETY: the caller's promise; nobody can edit it.
        unsafe { Module::from_raw(tables, *self.module) }
    }

    /// # Safety
    /// As above; the answer isn't used after the function returned.
    #[inline]
    unsafe fn info<'h>(self) -> PassInfo<'h> {
        // SAFETY: the caller's promise.
        unsafe {
            let pass = prefix(self.pass);
            let plugin = text(pass.plugin);
            let required = Texts::new(pass.required, pass.required_count);
            let plugin = if plugin.is_empty() {
                None
            } else {
                Some(plugin)
            };
            PassInfo::new(text(pass.name), pass.opt_level, plugin, required)
        }
    }

    /// # Safety
    /// As above; the answer isn't used after the function returned.
    unsafe fn error<'h>(self) -> &'h str {
        // SAFETY: the caller's promise.
        unsafe { text(prefix(self.pass).error) }
    }
}

unsafe extern "C" fn enter_pass_ctx(instance: *mut c_void, context: *mut abi::Context) -> Status {
    // SAFETY: see above.
    unsafe { call(instance, context, |it, cx| it.instrument.enter_pass_ctx(cx)) }
}

unsafe extern "C" fn exit_pass_ctx(instance: *mut c_void, context: *mut abi::Context) -> Status {
    // SAFETY: see above.
    unsafe { call(instance, context, |it, cx| it.instrument.exit_pass_ctx(cx)) }
}

unsafe extern "C" fn should_run(
    instance: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
    pass: *const abi::PassInfo,
    out: *mut u32,
) -> Status {
    let told = Watched { module, pass };
    // SAFETY: see above.
    unsafe {
        call(instance, context, |it, cx| {
            let module = told.module(it.tables);
            let runs = it.instrument.should_run(&module, &told.info(), cx)?;
            out.write(u32::from(runs));
            Ok(())
        })
    }
}

unsafe extern "C" fn run_before_pass(
    instance: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
    pass: *const abi::PassInfo,
) -> Status {
    let told = Watched { module, pass };
    // SAFETY: see above.
    unsafe {
        call(instance, context, |it, cx| {
            let module = told.module(it.tables);
            it.instrument.run_before_pass(&module, &told.info(), cx)
        })
    }
}

unsafe extern "C" fn run_after_pass(
    instance: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
    pass: *const abi::PassInfo,
) -> Status {
    let told = Watched { module, pass };
    // SAFETY: see above.
    unsafe {
        call(instance, context, |it, cx| {
            let module = told.module(it.tables);
            it.instrument.run_after_pass(&module, &told.info(), cx)
        })
    }
}

unsafe extern "C" fn pass_failed(
    instance: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
    pass: *const abi::PassInfo,
) -> Status {
    let told = Watched { module, pass };
    // SAFETY: see above.
    unsafe {
        call(instance, context, |it, cx| {
            let module = told.module(it.tables);
            it.instrument
                .pass_failed(&module, &told.info(), told.error(), cx)
        })
    }
}

unsafe extern "C" fn report(
    instance: *mut c_void,
    context: *mut abi::Context,
    out: *mut abi::Str,
) -> Status {
    // SAFETY: see above.
    unsafe {
        call(instance, context, |it, _| {
            it.report = it.instrument.report();
            out.write(abi::Str::new(&it.report));
            Ok(())
        })
    }
}
