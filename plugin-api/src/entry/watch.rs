//! The functions of instruments in the plugin's table.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;

use passdock_abi as abi;
use passdock_abi::Status;

use super::table;
use crate::data::PassError;
use crate::ffi::{enter, prefix, text, Tables, Texts};
use crate::ir::Module;
use crate::pass::{end, Instrument, InstrumentFunctions, MakeInstrument, PassContext, PassInfo};

/// An instance of an instrument. The host has the pointer.
struct Instance {
    instrument: Box<dyn Instrument>,
    /// The last report, whose text the host reads.
    report: String,
}

// All fields are set, but later versions may add some.
#[allow(clippy::needless_update)]
pub(super) fn entries(
    instruments: &'static [InstrumentFunctions],
) -> &'static [abi::InstrumentEntry] {
    let entries = instruments.iter().map(|spec| abi::InstrumentEntry {
        name: abi::Str::new(spec.name),
        state: table::state(&spec.make),
        create: Some(create),
        destroy: Some(destroy),
        enter_pass_ctx: Some(watch_context::<ENTER>),
        exit_pass_ctx: Some(watch_context::<EXIT>),
        should_run: Some(should_run),
        run_before_pass: Some(watch_pass::<BEFORE>),
        run_after_pass: Some(watch_pass::<AFTER>),
        pass_failed: Some(watch_pass::<FAILED>),
        report: Some(report),
        ..abi::InstrumentEntry::EMPTY
    });
    Box::leak(entries.collect())
}

// The functions of the entries. SAFETY (all): by the rules of the ABI, `state` is from `entries` and `instance` from
// `create`. The instance isn't used elsewhere, and the handles and records live, until the function returns.

unsafe extern "C" fn create(
    host: *const abi::Host,
    state: *mut c_void,
    context: *mut abi::Context,
    out: *mut *mut c_void,
) -> Status {
    // SAFETY: see above.
    let (make, cx) = unsafe {
        let cx = PassContext::from_raw(Tables::of(host), context, ptr::null());
        (&*state.cast::<MakeInstrument>(), cx)
    };
    let create = || {
        let instance = Box::new(Instance {
            instrument: make(&cx)?,
            report: String::new(),
        });
        // SAFETY: see above.
        unsafe { out.write(Box::into_raw(instance).cast()) };
        Ok(())
    };
    enter_in(&cx, create)
}

unsafe extern "C" fn destroy(
    host: *const abi::Host,
    instance: *mut c_void,
    context: *mut abi::Context,
) {
    // SAFETY: see above; created by `create`, and not used after this.
    unsafe { end(host, context, Box::from_raw(instance.cast::<Instance>())) };
}

/// Runs code of an instrument inside the gate. Reports an error or a panic to the context.
#[inline]
fn enter_in(cx: &PassContext, body: impl FnOnce() -> Result<(), PassError>) -> Status {
    enter(|| cx.status(body()), |panic| cx.report_panic(panic))
}

/// The host, the instance and the context of a callback.
type Arguments = (*const abi::Host, *mut c_void, *mut abi::Context);

/// Calls a function of an instance.
///
/// # Safety
/// The arguments are valid.
#[inline]
unsafe fn call(
    (host, instance, context): Arguments,
    body: impl FnOnce(&mut Instance, &PassContext) -> Result<(), PassError>,
) -> Status {
    // SAFETY: the caller guarantees a valid instance without other users.
    let instance: &mut Instance = unsafe { &mut *instance.cast() };
    // SAFETY: the caller guarantees a valid context.
    let cx = unsafe { PassContext::from_raw(Tables::of(host), context, ptr::null()) };
    enter_in(&cx, || body(instance, &cx))
}

/// Calls a function of an instance for a pass, with the module, the pass and its error message.
///
/// # Safety
/// The arguments are valid.
#[inline]
unsafe fn call_around(
    arguments: Arguments,
    (module, pass): (*const abi::ModuleRef, *const abi::PassInfo),
    body: impl FnOnce(
        &mut dyn Instrument,
        &Module<'_>,
        &PassInfo<'_>,
        &PassContext,
        &str,
    ) -> Result<(), PassError>,
) -> Status {
    let body = |it: &mut Instance, cx: &PassContext| {
        // SAFETY: the caller guarantees valid pointers; no copy of them outlives this function.
        let (module, pass) = unsafe { (Module::from_raw(cx.tables(), *module), prefix(pass)) };
        // SAFETY: as above.
        let (info, error) = unsafe {
            let info = PassInfo {
                name: text(pass.name),
                opt_level: pass.opt_level,
                plugin: Some(text(pass.plugin)).filter(|plugin| !plugin.is_empty()),
                required: Texts::new(pass.required, pass.required_count),
            };
            (info, text(pass.error))
        };
        body(&mut *it.instrument, &module, &info, cx, error)
    };
    // SAFETY: as above.
    unsafe { call(arguments, body) }
}

// The indices of the callbacks for contexts and for passes.
const ENTER: usize = 0;
const EXIT: usize = 1;
const BEFORE: usize = 2;
const AFTER: usize = 3;
const FAILED: usize = 4;

unsafe extern "C" fn watch_context<const CALLBACK: usize>(
    host: *const abi::Host,
    instance: *mut c_void,
    context: *mut abi::Context,
) -> Status {
    let body = |it: &mut Instance, cx: &PassContext| match CALLBACK {
        ENTER => it.instrument.enter_pass_ctx(cx),
        _ => it.instrument.exit_pass_ctx(cx),
    };
    // SAFETY: see above.
    unsafe { call((host, instance, context), body) }
}

unsafe extern "C" fn should_run(
    host: *const abi::Host,
    instance: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
    pass: *const abi::PassInfo,
    out: *mut u32,
) -> Status {
    // SAFETY: see above.
    unsafe {
        call_around(
            (host, instance, context),
            (module, pass),
            |it, m, info, cx, _| {
                out.write(u32::from(it.should_run(m, info, cx)?));
                Ok(())
            },
        )
    }
}

unsafe extern "C" fn watch_pass<const CALLBACK: usize>(
    host: *const abi::Host,
    instance: *mut c_void,
    context: *mut abi::Context,
    module: *const abi::ModuleRef,
    pass: *const abi::PassInfo,
) -> Status {
    // SAFETY: see above.
    unsafe {
        call_around(
            (host, instance, context),
            (module, pass),
            |it, m, info, cx, error| match CALLBACK {
                BEFORE => it.run_before_pass(m, info, cx),
                AFTER => it.run_after_pass(m, info, cx),
                _ => it.pass_failed(m, info, error, cx),
            },
        )
    }
}

unsafe extern "C" fn report(
    host: *const abi::Host,
    instance: *mut c_void,
    context: *mut abi::Context,
    out: *mut abi::Str,
) -> Status {
    // SAFETY: see above.
    unsafe {
        call((host, instance, context), |it, _| {
            it.report = it.instrument.report();
            out.write(abi::Str::new(&it.report));
            Ok(())
        })
    }
}
