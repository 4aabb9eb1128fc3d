//! The signals of a crash, and the end of a process that nobody asked for.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use libc::{c_int, c_void, sigaction, siginfo_t};

use crate::call;
use crate::death::DeathCause;
use crate::record::{Record, in_use, use_record};
use crate::sentence::{CODE, FixedText, write_death};

/// The signals of a crash.
const SIGNALS: [c_int; 5] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
];

/// The bytes below the stack pointer within which a fault means that the stack is used up.
const STACK_STEP: u64 = 1 << 16;

/// The time that the streams of the C library get to write what they have.
const FLUSH_TIME: Duration = Duration::from_millis(500);

/// What happens after a crash.
#[derive(Debug)]
pub enum Then {
    /// It is recorded, and the process dies as it would have: its supervisor reports it.
    Die,
    /// A sentence goes to standard error, and the process ends with this status; before that, an answer in JSON goes to
    /// whoever waits for one.
    Exit(i32, Option<JsonAnswer>),
    /// A sentence goes to standard error, and whoever handled the signal before does so. Where no plugin is called on
    /// the thread, the other way round: whoever mends what the signal is about isn't disturbed.
    Chain,
}

/// JSON with a place for the sentence.
#[derive(Debug)]
pub struct JsonAnswer {
    /// The descriptor that it goes to.
    pub to: OwnedFd,
    /// The JSON before the sentence.
    pub before: String,
    /// The JSON after it.
    pub after: String,
}

struct Watch {
    then: Then,
    /// What handled each of the signals before.
    before: [sigaction; SIGNALS.len()],
}

static WATCH: OnceLock<Watch> = OnceLock::new();

/// Whether a crash is being reported, or the process is about to end as it should.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked from the one that is watched.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether plugins have this process to themselves, beside the program that watches it.
static OWNS_PROCESS: AtomicBool = AtomicBool::new(false);

/// The directory that such a process is in, which relative paths start from.
static DIRECTORY: AtomicI32 = AtomicI32::new(-1);

/// The texts of the crash. Written by the one thread that has set `ENDS`.
struct Texts(UnsafeCell<(FixedText, FixedText)>);
// SAFETY: see above.
unsafe impl Sync for Texts {}
static TEXTS: Texts = Texts(UnsafeCell::new((FixedText::EMPTY, FixedText::EMPTY)));

/// Writes down in a record what of a plugin runs, from now on.
pub fn record_to(record: &'static Record) {
    use_record(Some(record));
}

/// Lets this process, which isn't in the foreground group of its terminal, and what it starts write to that, and fail
/// to read from it, instead of being stopped.
pub fn ignore_terminal_stops() {
    for signal in [libc::SIGTTIN, libc::SIGTTOU] {
        // SAFETY: to ignore a signal has no preconditions.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Starts to watch for crashes: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, on whatever thread; with [`Then::Exit`]
/// also for an end of the process before [`finish`]. The first call counts.
pub fn watch(then: Then) {
    if in_use().is_none() {
        // Without one, crashes are reported without what ran.
        use_record(Record::in_own_memory().ok());
    }
    // SAFETY: the memory is a `sigaction`, for which all zeros are a value; the calls are given pointers to it.
    unsafe {
        let mut before: [sigaction; SIGNALS.len()] = MaybeUninit::zeroed().assume_init();
        for (signal, before) in SIGNALS.iter().zip(&mut before) {
            sigaction(*signal, ptr::null(), before);
        }
        let (chains, exits) = (matches!(then, Then::Chain), matches!(then, Then::Exit(..)));
        // Handlers find it there.
        if WATCH.set(Watch { then, before }).is_err() {
            return;
        }
        let mut action: sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction =
            on_signal as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for signal in SIGNALS {
            sigaction(signal, &action, ptr::null_mut());
        }
        if exits {
            libc::atexit(at_exit);
            #[cfg(target_os = "linux")]
            at_quick_exit(at_exit);
        }
        if !chains {
            let directory = libc::open(c".".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            DIRECTORY.store(directory, Ordering::SeqCst);
            OWNS_PROCESS.store(true, Ordering::SeqCst);
            libc::pthread_atfork(None, None, Some(forked));
        }
    }
}

/// What a plugin forks isn't a part of the run: it records nothing.
extern "C" fn forked() {
    FORKED.store(true, Ordering::SeqCst);
    use_record(None);
}

/// Runs when a call into a plugin has returned; `is_foreign`: into a plugin's file, which may have changed the current
/// directory, or how numbers are computed. A process that it made by `fork` ends here.
#[inline]
pub(crate) fn returned(is_foreign: bool) {
    if FORKED.load(Ordering::Relaxed) {
        end(1);
    }
    if is_foreign && OWNS_PROCESS.load(Ordering::Relaxed) {
        // SAFETY: the call fails if there is no such directory.
        unsafe { libc::fchdir(DIRECTORY.load(Ordering::Relaxed)) };
        reset_float_mode();
    }
}

/// Makes this thread compute as threads do when they begin: a library that was compiled with `-ffast-math` changes that
/// when it is loaded, and constants would be folded to other numbers.
fn reset_float_mode() {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    {
        // SAFETY: it is the C library's, with this signature.
        unsafe extern "C" {
            fn fesetenv(mode: *const c_void) -> c_int;
        }
        // SAFETY: the C library takes this address for the mode that threads begin with (`FE_DFL_ENV`).
        unsafe { fesetenv(ptr::without_provenance(usize::MAX)) };
    }
}

/// Ends the process with a status, whatever plugins would do at its end: their exit handlers and destructors aren't
/// run. Where crashes aren't watched, or are chained, it does nothing.
pub fn finish(status: u8) {
    if !OWNS_PROCESS.load(Ordering::SeqCst) {
        return;
    }
    // From here on a crash of a thread that a plugin started changes nothing.
    ENDS.store(true, Ordering::SeqCst);
    let (done, flushed) = mpsc::channel();
    // What libraries printed and the C library still has. A stream may be held for ever.
    let flush = thread::Builder::new().stack_size(1 << 16).spawn(move || {
        // SAFETY: null stands for all streams.
        unsafe { libc::fflush(ptr::null_mut()) };
        _ = done.send(());
    });
    if flush.is_ok() {
        _ = flushed.recv_timeout(FLUSH_TIME);
    }
    end(status.into());
}

/// Ends a process whose supervisor can't be reached any more.
pub fn lose_channel() -> ! {
    if let Some(record) = in_use() {
        record.set_channel_lost();
    }
    end(1)
}

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(watch) = WATCH.get() else {
        return;
    };
    if FORKED.load(Ordering::Relaxed) {
        // Whoever made the process looks after it.
        as_before(watch, signal, info, context);
        return;
    }
    let chains = matches!(watch.then, Then::Chain);
    let is_chained = chains && !call::is_any() && watch.handler_before(signal).is_some();
    if is_chained {
        as_before(watch, signal, info, context);
        if is_handled_here(signal) {
            return;
        }
    }
    if ENDS.swap(true, Ordering::SeqCst) {
        // Another thread reports its crash, or reporting crashed.
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
    match &watch.then {
        Then::Die => {
            if let Some(record) = in_use() {
                record.set_signal(&cause, call::current());
            }
            as_before(watch, signal, info, context);
        }
        Then::Exit(status, answer) => {
            report(&cause, answer.as_ref());
            end(*status);
        }
        Then::Chain => {
            report(&cause, None);
            if !is_chained {
                as_before(watch, signal, info, context);
            }
        }
    }
    // Whoever returns here goes on.
    ENDS.store(false, Ordering::SeqCst);
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

#[cfg(target_os = "linux")]
unsafe extern "C" {
    /// The C library's; the crate for it leaves it out.
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
}

/// Runs at the end of a process that nobody finished.
extern "C" fn at_exit() {
    if FORKED.load(Ordering::SeqCst) || ENDS.swap(true, Ordering::SeqCst) {
        return;
    }
    if let Some(Watch {
        then: Then::Exit(status, answer),
        ..
    }) = WATCH.get()
    {
        report(&DeathCause::Exit { status: None }, answer.as_ref());
        end(*status);
    }
}

fn end(status: i32) -> ! {
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
    let Some(before) = watch
        .handler_before(signal)
        .filter(|_| matches!(watch.then, Then::Chain))
    else {
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

/// Writes what happened to standard error, and the answer to whoever waits for it.
fn report(cause: &DeathCause, answer: Option<&JsonAnswer>) {
    // SAFETY: only the thread that has set `ENDS` comes here.
    let (sentence, json) = unsafe { &mut *TEXTS.0.get() };
    // A text that doesn't fit is cut off.
    _ = write_death(sentence, cause);
    write(libc::STDERR_FILENO, sentence.bytes());
    if let Some(JsonAnswer { to, before, after }) = answer {
        let text = std::str::from_utf8(sentence.bytes()).unwrap_or_default();
        let text = text.trim_end();
        _ = json.write_json(text.strip_prefix(CODE).unwrap_or(text));
        for bytes in [before.as_bytes(), json.bytes(), after.as_bytes()] {
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
