//! `AnalysisApi`: the host's analyses as columns, and cached analyses of plugins.
//!
//! Both are cached in the function, so every pass on the same version of it finds them. While a pass edits its copy,
//! results for earlier versions stay cached until they are replaced or the pass ends, so that the pass can preserve
//! them.

use std::any::Any;
use std::ffi::c_void;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, OnceLock};

use passdock_abi as abi;
use passdock_abi::{Column, DropAnalysis, Status, Str};
use passdock_crash::{CallKind, Callee};
use passdock_diagnostic::suggest;
use passdock_ir::{CacheKey, Edit, EditFailure};
use passdock_loader::{HostTable, OpDefs};

use crate::analyses::{self, Operators, SharedNames};
use crate::boundary::session::context::CallFailure;
use crate::boundary::session::ending::Endings;
use crate::boundary::session::{FunctionState, ending, gate, input, with_current};
use crate::error::{ErrorKind, PassError};

/// The maximum number of plugins' analyses in a function. A result per op counts as one analysis.
const MAX_ANALYSES: usize = 4096;

/// The host's table, the argument of destructors. They run after the call that cached the data.
static HOST: OnceLock<HostTable> = OnceLock::new();

/// Sets the host's table, before any plugin has it. Later calls have no effect: a process has one host.
pub(in crate::boundary) fn set_host(host: HostTable) {
    _ = HOST.set(host);
}

/// The result of a plugin's analysis.
struct Foreign {
    data: *mut c_void,
    drop: Option<DropAnalysis>,
    cached_by: Option<AnalysisOwner>,
}

/// The pass that cached an analysis, for reports about a failure when the data is freed.
struct AnalysisOwner {
    pass: Box<str>,
    plugin: Option<Box<Path>>,
    endings: Endings,
}

impl AnalysisOwner {
    /// Returns the pass that runs on this thread, if its frame collects failures of destructors.
    fn current() -> Option<AnalysisOwner> {
        with_current(|context| {
            let frame = context.frame();
            let (pass, endings) = (frame.callee()?, frame.endings()?);
            Some(AnalysisOwner {
                pass: pass.name.into(),
                plugin: pass.plugin.map(Box::from),
                endings: endings.clone(),
            })
        })?
    }

    /// Reports that the destructor of the data failed.
    #[cold]
    fn report_failure(&self, failure: &CallFailure) {
        let (verb, at) = match &failure.panic_at {
            Some(at) => ("panicked", format!(" at {at}")),
            None => ("failed", String::new()),
        };
        let why = failure.message.trim_end_matches('.');
        let message = format!("the destructor of an analysis of the pass {verb}{at}: {why}");
        let kind = match failure.panicked {
            true => ErrorKind::Panicked,
            false => ErrorKind::Failed,
        };
        let mut error = PassError::new(kind, message);
        error.pass = Some(self.pass.to_string());
        let plugin = self.plugin.as_ref();
        let plugin = plugin.map(|plugin| format!("the analysis is in `{}`", plugin.display()));
        error.notes.extend(plugin);
        self.endings.add(error);
    }
}

// SAFETY: by the plugin ABI, the data may be read on several threads at once, and dropped on any.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(drop) = self.drop {
            let cached_by = self.cached_by.as_ref();
            let pass = cached_by.map_or("", |cached_by| &cached_by.pass);
            let plugin = cached_by.and_then(|cached_by| cached_by.plugin.as_deref());
            let entered = cached_by.map(|_| Callee::new(CallKind::Pass, pass, plugin).enter());
            let host = HOST.get().map_or(ptr::null(), |host| host.get());
            // SAFETY: the plugin's destructor and data, called once. Libraries aren't unloaded.
            let failure = ending::free(|context| unsafe { drop(host, context, self.data) });
            if let Some(entered) = entered {
                entered.leave();
            }
            if let (Some(cached_by), Some(failure)) = (cached_by, failure) {
                cached_by.report_failure(&failure);
            }
        }
    }
}

// SAFETY for all `unsafe` below: names and keys are valid during the call, by the plugin ABI.

impl FunctionState {
    pub(in crate::boundary) unsafe fn column(&mut self, name: Str) -> Edit<Column> {
        // SAFETY: see above.
        let name = unsafe { input::list(name.ptr, name.len, "bytes of the name")? };
        let function = self.read()?;
        let column = with_current(|context| {
            let operators = Operators::with(context.op_defs(), context.shared_names());
            analyses::column(function, &operators, name)
        });
        // Outside of a pass there are no op definitions.
        let otherwise = || {
            let defs = OpDefs::default();
            let operators = Operators::with(&defs, SharedNames::none(&defs));
            analyses::column(function, &operators, name)
        };
        let column = column.unwrap_or_else(otherwise);
        let (column, size) = column.ok_or_else(|| unknown(name))?;
        Ok(match self.loan() {
            None => column,
            // SAFETY: the column has records of this size.
            Some(loan) => unsafe { loan.columns.column(column, size) },
        })
    }

    pub(in crate::boundary) unsafe fn get(
        &mut self,
        owner: *const c_void,
        name: Str,
    ) -> Edit<*mut c_void> {
        // SAFETY: see above.
        let key = unsafe { key(owner, name)? };
        let Some(cached) = self.read()?.cached(&key) else {
            // Plugins query the cache before every computation, so a miss has no message.
            return Err(EditFailure::not_found(""));
        };
        data(&**cached)
    }

    pub(in crate::boundary) unsafe fn preserve(&mut self, owner: *const c_void, name: Str) -> Edit {
        // SAFETY: see above.
        let key = unsafe { key(owner, name)? };
        let is_kept = self.read()?.cached(&key).is_some();
        if is_kept || self.edited().is_some_and(|own| own.preserve_cached(&key)) {
            return Ok(());
        }
        Err(EditFailure::not_found(format!(
            "no analysis `{}` to preserve",
            String::from_utf8_lossy(&key.name)
        )))
    }
}

#[cold]
fn unknown(name: &[u8]) -> EditFailure {
    let name = &String::from_utf8_lossy(name);
    let names = || analyses::list().iter().map(|analysis| analysis.name);
    EditFailure::not_found(format!(
        "unknown analysis `{name}`; the analyses are {}{}",
        suggest::listed(names()),
        suggest::did_you_mean(name, names())
    ))
}

#[cold]
fn full(key: &CacheKey<'_>) -> EditFailure {
    EditFailure::rejected(format!(
        "cannot keep analysis `{}`: the function has {MAX_ANALYSES} analyses; keep related data under one key",
        String::from_utf8_lossy(&key.name)
    ))
}

/// Returns the key of a plugin's analysis. Its name may be any bytes. Keys without an owner are shared by all plugins.
///
/// # Safety
/// See [`input::list`].
#[inline]
unsafe fn key<'a>(owner: *const c_void, key: Str) -> Edit<CacheKey<'a>> {
    // SAFETY: the caller's promise.
    let name = unsafe { input::list(key.ptr, key.len, "bytes of the key")? };
    // Results may depend on which ops have definitions.
    let stamp = with_current(|context| context.shared_names().stamp()).unwrap_or(0);
    Ok(CacheKey::new(owner.addr(), stamp, name))
}

/// Returns the data of a cached result, if it comes from a plugin.
#[inline]
fn data(cached: &(dyn Any + Send + Sync)) -> Edit<*mut c_void> {
    let foreign = cached.downcast_ref::<Foreign>();
    foreign.map(|foreign| foreign.data).ok_or_else(|| {
        EditFailure::invalid("the owner of an analysis is not an address in the plugin")
    })
}

/// `AnalysisApi::put`. Unless it is null, the data is dropped even after an error.
pub(in crate::boundary) unsafe extern "C" fn put(
    f: *const abi::Function,
    owner: *const c_void,
    name: Str,
    given: *mut c_void,
    drop: Option<DropAnalysis>,
    out: *mut *mut c_void,
) -> Status {
    if given.is_null() {
        let null = EditFailure::invalid("the data of an analysis is null");
        // SAFETY: see above.
        return unsafe { gate::read(f, |_| Err(null)) };
    }
    // From here on, dropping `foreign` drops the data.
    let foreign = Foreign {
        data: given,
        drop,
        cached_by: drop.and_then(|_| AnalysisOwner::current()),
    };
    // SAFETY: see above.
    unsafe {
        gate::read_to(out, f, move |state| {
            let key = key(owner, name)?;
            let is_full = |function: &passdock_ir::Function| {
                function.cached_count() >= MAX_ANALYSES && function.cached(&key).is_none()
            };
            if is_full(state.read()?) {
                // Results for earlier versions are dropped first.
                if let Some(function) = state.edited() {
                    function.clear_stale_cache();
                }
                if is_full(state.read()?) {
                    return Err(full(&key));
                }
            }
            let foreign = Arc::new(foreign);
            let cached = match state.edited() {
                Some(function) => function.update_cache(key, foreign),
                None => state.read()?.cache(key, foreign),
            };
            data(&**cached)
        })
    }
}
