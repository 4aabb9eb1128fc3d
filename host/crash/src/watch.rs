//! The signals that a crash raises, and the end of the process that nobody asked for.

use std::cell::{Cell, UnsafeCell};
use std::fmt::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use libc::{c_int, c_void, sigaction, siginfo_t};

use crate::call::{Call, calls};
use crate::death::DeathCause;
use crate::record::{CAPACITY, Record};
use crate::surroundings::has_loaded;
use crate::{CallKind, Callee};

/// The signals of a crash.
const SIGNALS: [c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
];

/// The room for a name or a path in a record, in bytes.
const ROOM: usize = 600;

/// The bytes below the stack pointer within which a fault means that the stack is used up.
const STACK_STEP: u64 = 1 << 16;

/// The length of the file that a death is written to, in bytes.
pub const DEATH_BYTES: usize = CAPACITY;

/// The time that the streams of the C library get to write what they have.
const PATIENCE: Duration = Duration::from_millis(500);

/// What happens after a crash was told.
#[derive(Debug)]
pub enum Then {
    /// The death is written as JSON to this file, which has [`DEATH_BYTES`], and the process dies as it would have. It
    /// is mapped, so that it doesn't matter who closes which descriptor.
    Tell(OwnedFd),
    /// A sentence goes to standard error, and the process ends with this status.
    Exit(i32),
    /// A sentence goes to standard error, and whoever handled the signal before does so.
    Chain,
}

impl Then {
    fn chains(&self) -> bool {
        matches!(self, Then::Chain)
    }
}

struct Watch {
    then: Then,
    /// The process; a plugin may make others.
    process: libc::pid_t,
    /// The memory of the file that a death is written to; null: there is none.
    file: *mut c_void,
    /// What handled each of the signals before.
    before: [sigaction; SIGNALS.len()],
}

// SAFETY: what it points to is written by the one thread that has set `TELLING`.
unsafe impl Send for Watch {}
// SAFETY: see above.
unsafe impl Sync for Watch {}

static WATCH: OnceLock<Watch> = OnceLock::new();

/// Whether a crash is being told.
static TELLING: AtomicBool = AtomicBool::new(false);

/// The status that the process ends with; negative: its work isn't done.
static FINISHED: AtomicI32 = AtomicI32::new(-1);

/// The text of the crash. Written by the one thread that has set `TELLING`.
struct Shared(UnsafeCell<Record>);
// SAFETY: see above.
unsafe impl Sync for Shared {}
static RECORD: Shared = Shared(UnsafeCell::new(Record::EMPTY));

/// Starts to watch for crashes: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, on whatever thread. Unless they are
/// chained, also for an end of the process before [`finished`]. The first call counts.
pub fn watch(then: Then) {
    if WATCH.get().is_some() {
        return;
    }
    // SAFETY: the memory is a `sigaction`, for which all zeros are a value; the calls are given pointers to it.
    unsafe {
        let mut before: [sigaction; SIGNALS.len()] = MaybeUninit::zeroed().assume_init();
        for (signal, before) in SIGNALS.iter().zip(&mut before) {
            sigaction(*signal, ptr::null(), before);
        }
        let chains = then.chains();
        let watch = Watch {
            file: mapped(&then),
            then,
            process: libc::getpid(),
            before,
        };
        // Handlers find it there.
        if WATCH.set(watch).is_err() {
            return;
        }
        let mut action: sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction =
            on_signal as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for signal in SIGNALS {
            sigaction(signal, &action, ptr::null_mut());
        }
        if !chains {
            libc::atexit(on_exit);
            #[cfg(target_os = "linux")]
            at_quick_exit(on_exit);
        }
    }
    prepare_thread();
}

#[cfg(target_os = "linux")]
unsafe extern "C" {
    /// The C library's, which the crate for it leaves out.
    fn at_quick_exit(work: extern "C" fn()) -> c_int;
}

/// The memory of the file that a death is written to.
fn mapped(then: &Then) -> *mut c_void {
    let Then::Tell(file) = then else {
        return ptr::null_mut();
    };
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the memory is new, and nobody else's.
    let at = unsafe {
        let fd = file.as_raw_fd();
        libc::mmap(
            ptr::null_mut(),
            DEATH_BYTES,
            rights,
            libc::MAP_SHARED,
            fd,
            0,
        )
    };
    match at == libc::MAP_FAILED {
        true => ptr::null_mut(),
        false => at,
    }
}

impl Watch {
    /// Writes a record to the file that a death is written to.
    fn write(&self, bytes: &[u8]) {
        if !self.file.is_null() {
            // SAFETY: the memory is as long as a record can be. Whoever else writes to it writes what is read as
            // nothing, or as another death.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.file.cast(), bytes.len()) };
        }
    }
}

/// Writes who is called before it is, for a supervisor: a process that is killed, or ends by `_exit`, can't. For calls
/// that are rare; it is forgotten when [`crate::returned`] is called.
pub fn foresee(callee: &Callee<'_>) {
    if let Some(watch) = WATCH.get().filter(|watch| !watch.file.is_null()) {
        let mut record = Record::EMPTY;
        let call = callee.call();
        _ = as_json(&mut record, &DeathCause::Foreseen, Some(&call), None);
        watch.write(record.bytes());
    }
}

/// Forgets what was foreseen.
pub(crate) fn forget() {
    if let Some(watch) = WATCH.get() {
        watch.write(&[0]);
    }
}

/// Whether this is the process that is watched, and not one that a plugin made of it by `fork`.
pub(crate) fn is_own_process() -> bool {
    // SAFETY: it has no preconditions.
    let process = unsafe { libc::getpid() };
    WATCH.get().is_none_or(|watch| watch.process == process)
}

/// Ends the process with a status, whatever plugins would do at its end: their exit handlers and destructors aren't
/// run. A process that loaded none ends as any.
pub fn finish(status: u8) {
    finished(status);
    if !has_loaded() || WATCH.get().is_none_or(|watch| watch.then.chains()) {
        return;
    }
    let (done, flushed) = mpsc::channel();
    // What libraries printed and the C library still has. A stream may be held for ever.
    thread::spawn(move || {
        // SAFETY: null stands for all streams.
        unsafe { libc::fflush(ptr::null_mut()) };
        _ = done.send(());
    });
    _ = flushed.recv_timeout(PATIENCE);
    end(status.into());
}

/// Tells of a death that the host noticed itself, and ends the process; nothing if crashes aren't watched here.
pub(crate) fn die(cause: &DeathCause) {
    let Some(watch) = WATCH.get() else { return };
    if watch.then.chains() || TELLING.swap(true, Ordering::SeqCst) {
        return;
    }
    tell(watch, cause);
    end(1);
}

/// Says that the work is done, and with which status the process is to end whatever happens from now on.
pub fn finished(status: u8) {
    FINISHED.store(status.into(), Ordering::SeqCst);
}

thread_local! {
    /// Whether this thread was looked at.
    static PREPARED: Cell<bool> = const { Cell::new(false) };
    static STACK: Cell<Option<AlternateStack>> = const { Cell::new(None) };
}

/// Gives this thread a stack for handlers, if crashes are watched and it has none.
#[inline]
pub(crate) fn prepare_thread() {
    if !PREPARED.get() {
        prepare();
    }
}

#[cold]
fn prepare() {
    if WATCH.get().is_some() {
        PREPARED.set(true);
        STACK.set(AlternateStack::new());
    }
}

/// A stack of this thread's for handlers, for when the other one is used up.
struct AlternateStack {
    /// Owned here, and used by the system.
    _memory: Box<[u8]>,
}

impl AlternateStack {
    const SIZE: usize = 1 << 16;

    /// A stack, unless the thread has one.
    fn new() -> Option<AlternateStack> {
        // SAFETY: the memory is a `stack_t`; the call is given pointers to it and to memory that stays until the
        // stack is taken away in `drop`.
        unsafe {
            let mut known: libc::stack_t = MaybeUninit::zeroed().assume_init();
            if libc::sigaltstack(ptr::null(), &mut known) != 0
                || known.ss_flags & libc::SS_DISABLE == 0
            {
                return None;
            }
            let mut memory = vec![0; AlternateStack::SIZE].into_boxed_slice();
            let stack = libc::stack_t {
                ss_sp: memory.as_mut_ptr().cast(),
                ss_flags: 0,
                ss_size: memory.len(),
            };
            libc::sigaltstack(&stack, ptr::null_mut());
            Some(AlternateStack { _memory: memory })
        }
    }
}

impl Drop for AlternateStack {
    fn drop(&mut self) {
        let none = libc::stack_t {
            ss_sp: ptr::null_mut(),
            ss_flags: libc::SS_DISABLE,
            ss_size: AlternateStack::SIZE,
        };
        // SAFETY: the call is given a pointer to a `stack_t`.
        unsafe { libc::sigaltstack(&none, ptr::null_mut()) };
    }
}

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(watch) = WATCH.get() else {
        return;
    };
    if !is_own_process() {
        // Whoever made the process looks after it.
        as_before(watch, signal, info, context);
        return;
    }
    let finished = FINISHED.load(Ordering::SeqCst);
    if !watch.then.chains() && finished >= 0 {
        // What was asked for is done: what a library does at the end doesn't change that.
        end(finished);
    }
    if TELLING.swap(true, Ordering::SeqCst) {
        // Another thread tells of its crash, or telling crashed.
        as_before(watch, signal, info, context);
        return;
    }
    // SAFETY: the system gives the handler the signal's record.
    let address = unsafe { info.as_ref() }.and_then(|info| address(signal, info));
    let pointer = stack_pointer(context);
    let stack_overflow = signal == libc::SIGSEGV
        && address
            .zip(pointer)
            .is_some_and(|(address, pointer)| address.abs_diff(pointer) < STACK_STEP);
    let cause = DeathCause::Signal {
        signal,
        address,
        stack_overflow,
    };
    tell(watch, &cause);
    match &watch.then {
        Then::Exit(status) => end(*status),
        Then::Tell(_) | Then::Chain => as_before(watch, signal, info, context),
    }
}

extern "C" fn on_exit() {
    let Some(watch) = WATCH.get() else {
        return;
    };
    if !is_own_process() {
        return;
    }
    let finished = FINISHED.load(Ordering::SeqCst);
    if finished >= 0 {
        // What libraries printed and the C library still has.
        // SAFETY: null stands for all streams.
        unsafe { libc::fflush(ptr::null_mut()) };
        end(finished);
    }
    if !TELLING.swap(true, Ordering::SeqCst) {
        tell(watch, &DeathCause::Exit { status: None });
    }
    end(1);
}

pub(crate) fn end(status: i32) -> ! {
    // SAFETY: it has no preconditions.
    unsafe { libc::_exit(status) }
}

/// Does what was done at the signal before; where nothing was, the process dies of it.
fn as_before(watch: &Watch, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let at = SIGNALS.iter().position(|known| *known == signal);
    let Some(before) = at.map(|at| &watch.before[at]) else {
        return;
    };
    let handler = before.sa_sigaction;
    if !watch.then.chains() || handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // SAFETY: the memory is a `sigaction`; the calls are given pointers to it. What raised the signal is done
        // again when the handler returns, or `raise` does it.
        unsafe {
            let mut default: sigaction = MaybeUninit::zeroed().assume_init();
            default.sa_sigaction = libc::SIG_DFL;
            sigaction(signal, &default, ptr::null_mut());
            libc::raise(signal);
        }
    } else if before.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: whoever set it said that it is such a function.
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
            unsafe { std::mem::transmute(handler) };
        handler(signal, info, context);
    } else {
        // SAFETY: as above.
        let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
        handler(signal);
    }
}

/// The address that a signal is about.
fn address(signal: c_int, info: &siginfo_t) -> Option<u64> {
    // Of a signal that somebody sent there is none.
    let is_fault = signal != libc::SIGABRT && info.si_code > 0;
    // SAFETY: the signals of faults have an address.
    is_fault.then(|| unsafe { info.si_addr() } as u64)
}

/// The stack pointer where the signal came, where it is known how to find it.
fn stack_pointer(context: *mut c_void) -> Option<u64> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        // SAFETY: the system gives the handler a context.
        let context = unsafe { context.cast::<libc::ucontext_t>().as_ref() }?;
        Some(context.uc_mcontext.gregs[libc::REG_RSP as usize] as u64)
    }
    #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
    {
        // SAFETY: as above.
        let context = unsafe { context.cast::<libc::ucontext_t>().as_ref() }?;
        Some(context.uc_mcontext.sp)
    }
    #[cfg(not(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )))]
    {
        let _ = context;
        None
    }
}

/// Writes what happened to where it is to be told.
fn tell(watch: &Watch, cause: &DeathCause) {
    // SAFETY: only the thread that has set `TELLING` comes here.
    let record = unsafe { &mut *RECORD.0.get() };
    let mut calls = calls();
    let culprit = calls.next();
    let is_pass = |call: &&Call<'_>| call.callee.kind == CallKind::Pass;
    let pass = match culprit.filter(is_pass) {
        Some(_) => None,
        None => calls.find(is_pass),
    };
    // A text that doesn't fit is cut off.
    if let Then::Tell(_) = &watch.then {
        _ = as_json(record, cause, culprit, pass);
        watch.write(record.bytes());
        return;
    }
    _ = as_sentence(record, cause, culprit, pass);
    let mut bytes = record.bytes();
    while !bytes.is_empty() {
        // SAFETY: the call is given bytes that are there.
        let written =
            unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => bytes = &bytes[written..],
            _ => return,
        }
    }
}

/// The death as [`crate::Death`] is written in JSON.
fn as_json(
    out: &mut Record,
    cause: &DeathCause,
    culprit: Option<&Call<'_>>,
    pass: Option<&Call<'_>>,
) -> fmt::Result {
    match cause {
        DeathCause::Signal {
            signal,
            address,
            stack_overflow,
        } => {
            write!(
                out,
                "{{\"cause\":\"signal\",\"signal\":{signal},\"stack_overflow\":{stack_overflow}"
            )?;
            if let Some(address) = address {
                write!(out, ",\"address\":{address}")?;
            }
        }
        DeathCause::Foreseen => out.write_str("{\"cause\":\"foreseen\"")?,
        DeathCause::Descriptors => out.write_str("{\"cause\":\"descriptors\"")?,
        DeathCause::Exit { .. } | DeathCause::Timeout { .. } => {
            out.write_str("{\"cause\":\"exit\"")?
        }
    }
    for (key, call) in [("culprit", culprit), ("pass", pass)] {
        let Some(call) = call else { continue };
        let (kind, number) = (call.callee.kind.name(), call.callee.number);
        write!(
            out,
            ",\"{key}\":{{\"kind\":\"{kind}\",\"number\":{number},\"name\":"
        )?;
        out.json(name_of(call), ROOM)?;
        if let Some(plugin) = plugin(call) {
            out.write_str(",\"plugin\":")?;
            out.json(plugin, ROOM)?;
        }
        if let Some(function) = function(call) {
            out.write_str(",\"function\":")?;
            out.json(function, ROOM)?;
        }
        out.write_str("}")?;
    }
    out.write_str("}\n")
}

/// The death as people read it.
fn as_sentence<'c>(
    out: &mut Record,
    cause: &DeathCause,
    culprit: Option<&Call<'c>>,
    pass: Option<&Call<'c>>,
) -> fmt::Result {
    match culprit {
        None => writeln!(
            out,
            "error[crashed]: Something {cause}; no call into a plugin was on this thread."
        )?,
        Some(call) => {
            let (kind, name) = (call.callee.kind.name(), name_of(call));
            match call.callee.kind {
                CallKind::Definition => {
                    writeln!(out, "error[crashed]: The definition of `{name}` {cause}.")?
                }
                CallKind::Pass | CallKind::Instrument | CallKind::Library => {
                    writeln!(out, "error[crashed]: The {kind} `{name}` {cause}.")?;
                }
            }
            for call in [Some(call), pass].into_iter().flatten() {
                if !ptr::eq(call, culprit.unwrap_or(call)) {
                    writeln!(out, "  = in the pass `{}`", name_of(call))?;
                }
                if let Some(function) = function(call) {
                    writeln!(out, "  = in the function @{function}")?;
                }
                if let Some(plugin) = plugin(call) {
                    writeln!(out, "  = of the plugin `{plugin}`")?;
                }
            }
        }
    }
    out.write_str("  = Nothing was written.\n")
}

fn plugin<'c>(call: &Call<'c>) -> Option<&'c str> {
    call.callee.plugin.and_then(std::path::Path::to_str)
}

fn function<'c>(call: &Call<'c>) -> Option<&'c str> {
    call.subject.and_then(|subject| subject.function())
}

/// The name of what is called: an op's definition is found by a handle, and named only here.
fn name_of<'c>(call: &Call<'c>) -> &'c str {
    let op = call.subject.and_then(|subject| subject.op());
    op.unwrap_or(call.callee.name)
}
