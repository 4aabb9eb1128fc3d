//! The signals that a crash raises, and the end of the process that nobody asked for.

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use libc::{c_int, c_void, sigaction, siginfo_t};

use crate::CallKind;
use crate::call::{Callee, calls, is_any};
use crate::death::DeathCause;
use crate::mapped::Mapped;
use crate::record::{CAPACITY, Record};
use crate::surroundings::has_loaded;
use crate::told::{CODE, as_json, as_sentence, function};

/// The signals of a crash.
pub(crate) const SIGNALS: [c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
];

/// The bytes below the stack pointer within which a fault means that the stack is used up.
const STACK_STEP: u64 = 1 << 16;

/// The length of the file that a death is written to, in bytes.
pub const DEATH_BYTES: usize = CAPACITY;

/// The time that the streams of the C library get to write what they have.
const PATIENCE: Duration = Duration::from_millis(500);

/// What happens after a crash was told.
#[derive(Debug)]
pub enum Then {
    /// The death is written as JSON to the first [`DEATH_BYTES`] of this file, and the process dies as it would have.
    Tell(Mapped),
    /// A sentence goes to standard error, and the process ends with this status.
    Exit(i32),
    /// As [`Then::Exit`]; before that, `before`, the sentence as a string of JSON and `after` go to a descriptor.
    Answer {
        /// The status.
        status: i32,
        /// The descriptor.
        to: OwnedFd,
        /// The JSON before the sentence.
        before: String,
        /// The JSON after it.
        after: String,
    },
    /// A sentence goes to standard error, and whoever handled the signal before does so. Where no plugin is called on
    /// the thread, the other way round: whoever mends what the signal is about isn't disturbed.
    Chain,
}

impl Then {
    fn chains(&self) -> bool {
        matches!(self, Then::Chain)
    }
}

struct Watch {
    then: Then,
    /// The process that is watched: one that it forks has the handlers, too.
    process: libc::pid_t,
    /// What handled each of the signals before.
    before: [sigaction; SIGNALS.len()],
}

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
/// The same as a string of JSON, for whoever wants both.
static ANSWER: Shared = Shared(UnsafeCell::new(Record::EMPTY));

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
            at_exit();
            #[cfg(target_os = "linux")]
            at_quick_exit();
        }
    }
    prepare_thread();
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
    tell(&watch.then, cause);
    end(1);
}

/// The channel to the supervisor is of no use any more: tells of that as of a death, and ends the process. Nothing if
/// there is no supervisor.
pub fn lost_channel() {
    die(&DeathCause::Descriptors);
}

/// Tells a supervisor of the signal that the process is about to die of, which a thread of the host was asked by.
pub fn ends_by(signal: i32) {
    let Some(watch) = WATCH.get() else { return };
    if matches!(watch.then, Then::Tell(_)) && !TELLING.swap(true, Ordering::SeqCst) {
        let cause = DeathCause::Signal {
            signal,
            address: None,
            stack_overflow: false,
        };
        tell(&watch.then, &cause);
    }
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
    let mut is_chained = false;
    if watch.then.chains() && !is_any() && watch.handler_before(signal).is_some() {
        as_before(watch, signal, info, context);
        if is_handled_here(signal) {
            return;
        }
        is_chained = true;
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
    tell(&watch.then, &cause);
    match &watch.then {
        Then::Exit(status) | Then::Answer { status, .. } => end(*status),
        Then::Chain if is_chained => {}
        Then::Tell(_) | Then::Chain => as_before(watch, signal, info, context),
    }
    // Whoever returns here goes on.
    TELLING.store(false, Ordering::SeqCst);
}

/// Whether a signal is still handled here: who gives it up lets it end the process.
fn is_handled_here(signal: c_int) -> bool {
    // SAFETY: the memory is a `sigaction`, for which all zeros are a value; the call is given a pointer to it.
    let now = unsafe {
        let mut now: sigaction = MaybeUninit::zeroed().assume_init();
        sigaction(signal, ptr::null(), &mut now);
        now.sa_sigaction
    };
    now == on_signal as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize
}

/// Has [`at_end`] called at the end of the process.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn at_exit() {
    extern "C" fn with_status(status: c_int, _: *mut c_void) {
        at_end(Some(status));
    }
    // SAFETY: it is in glibc, with this signature.
    unsafe extern "C" {
        fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }
    // SAFETY: the function takes any argument.
    unsafe { on_exit(with_status, ptr::null_mut()) };
}

/// Has [`at_end`] called at the end of the process; nobody says with which status that ends.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn at_exit() {
    extern "C" fn without_status() {
        at_end(None);
    }
    // SAFETY: the function has no preconditions.
    unsafe { libc::atexit(without_status) };
}

/// Has [`at_end`] called by `quick_exit`, which says no status either.
#[cfg(target_os = "linux")]
fn at_quick_exit() {
    extern "C" fn without_status() {
        at_end(None);
    }
    // SAFETY: it is the C library's, with this signature; the crate for it leaves it out.
    unsafe extern "C" {
        fn at_quick_exit(function: extern "C" fn()) -> c_int;
    }
    // SAFETY: the function has no preconditions.
    unsafe { at_quick_exit(without_status) };
}

fn at_end(status: Option<i32>) {
    let Some(watch) = WATCH.get().filter(|_| is_own_process()) else {
        return;
    };
    let finished = FINISHED.load(Ordering::SeqCst);
    if finished >= 0 {
        // What libraries printed and the C library still has.
        // SAFETY: null stands for all streams.
        unsafe { libc::fflush(ptr::null_mut()) };
        end(finished);
    }
    if !TELLING.swap(true, Ordering::SeqCst) {
        tell(&watch.then, &DeathCause::Exit { status });
    }
    end(1);
}

pub(crate) fn end(status: i32) -> ! {
    // SAFETY: it has no preconditions.
    unsafe { libc::_exit(status) }
}

impl Watch {
    /// What handled a signal before, if somebody did.
    fn handler_before(&self, signal: c_int) -> Option<&sigaction> {
        let at = SIGNALS.iter().position(|known| *known == signal)?;
        let before = &self.before[at];
        (![libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction)).then_some(before)
    }
}

/// Does what was done at the signal before; where nothing was, the process dies of it.
fn as_before(watch: &Watch, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(before) = watch.handler_before(signal).filter(|_| watch.then.chains()) else {
        // SAFETY: the memory is a `sigaction`; the calls are given pointers to it. What raised the signal is done
        // again when the handler returns, or `raise` does it.
        unsafe {
            let mut default: sigaction = MaybeUninit::zeroed().assume_init();
            default.sa_sigaction = libc::SIG_DFL;
            sigaction(signal, &default, ptr::null_mut());
            libc::raise(signal);
        }
        return;
    };
    let handler = before.sa_sigaction;
    if before.sa_flags & libc::SA_SIGINFO != 0 {
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
fn tell(then: &Then, cause: &DeathCause) {
    // SAFETY: only the thread that has set `TELLING` comes here.
    let (record, answer) = unsafe { (&mut *RECORD.0.get(), &mut *ANSWER.0.get()) };
    let mut calls = calls();
    let culprit = calls.next();
    let is_pass = |callee: &Callee<'_>| callee.kind == CallKind::Pass;
    let pass = match culprit.filter(|call| is_pass(&call.callee)) {
        Some(_) => None,
        None => {
            let outer = calls.find(|call| is_pass(&call.callee));
            let outer = outer.map(|call| (call.callee, function(call)));
            outer.or_else(|| culprit?.around.map(|pass| (pass, None)))
        }
    };
    // A text that doesn't fit is cut off.
    match then {
        Then::Tell(to) => {
            _ = as_json(record, cause, culprit, pass);
            to.write(0, record.bytes());
        }
        Then::Exit(_) | Then::Answer { .. } | Then::Chain => {
            _ = as_sentence(record, cause, culprit, pass);
            write(libc::STDERR_FILENO, record.bytes());
        }
    }
    if let Then::Answer {
        to, before, after, ..
    } = then
    {
        let text = std::str::from_utf8(record.bytes()).unwrap_or_default();
        let text = text.trim_end();
        _ = answer.json(text.strip_prefix(CODE).unwrap_or(text), CAPACITY - 2);
        for bytes in [before.as_bytes(), answer.bytes(), after.as_bytes()] {
            write(to.as_raw_fd(), bytes);
        }
    }
}

/// Writes bytes to a descriptor, if it takes them.
fn write(to: RawFd, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the call is given bytes that are there.
        let written = unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => bytes = &bytes[written..],
            _ => return,
        }
    }
}
