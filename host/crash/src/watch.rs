//! The signals of a crash, and the end of a process that nobody asked for.

use std::fmt::{self, Write};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use libc::{c_int, c_void, sigaction, siginfo_t};

use crate::call::{self, CallKind, in_use, record_to};
use crate::record::{Record, Text};
use crate::termination::TerminationCause;

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

/// What happens after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It is recorded, and the process terminates as it would have: its supervisor reports it.
    Die,
    /// A sentence goes to standard error, and the process ends with this status.
    Exit(i32),
    /// A sentence goes to standard error if a plugin is called on the thread; then whoever handled the signal before
    /// does so.
    Chain,
}

struct Watch {
    then: Then,
    /// The handlers of the signals before.
    before: [sigaction; SIGNALS.len()],
}

static WATCH: OnceLock<Watch> = OnceLock::new();

/// Whether a crash is being reported, or the process is about to end as it should.
static ENDS: AtomicBool = AtomicBool::new(false);

/// The directory that a process is in which plugins have to themselves, beside the program that watches it: relative
/// paths start from there.
static DIRECTORY: AtomicI32 = AtomicI32::new(0);
/// A plugin forked the process, which is no part of the run.
const FORKED: i32 = -1;

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
        record_to(Record::in_own_memory());
    }
    let mut before = [ZEROS; SIGNALS.len()];
    // SAFETY: the calls are given actions.
    unsafe {
        for (signal, before) in SIGNALS.iter().zip(&mut before) {
            sigaction(*signal, ptr::null(), before);
        }
        // Handlers find it there.
        if WATCH.set(Watch { then, before }).is_err() {
            return;
        }
        let action = sigaction {
            sa_sigaction: on_signal as Handler as usize,
            sa_flags: libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER,
            ..ZEROS
        };
        for signal in SIGNALS {
            sigaction(signal, &action, ptr::null_mut());
        }
        if then != Then::Chain {
            let directory = libc::open(c".".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            DIRECTORY.store(directory.max(0), Ordering::SeqCst);
            _ = call::AFTER_CALLS.set(returned);
            libc::pthread_atfork(None, None, Some(forked));
        }
        if matches!(then, Then::Exit(_)) {
            libc::atexit(at_exit);
            #[cfg(target_os = "linux")]
            at_quick_exit(at_exit);
        }
    }
}

/// Runs when a call into a plugin's file has returned, which may have changed the current directory, or how numbers are
/// computed, or have forked the process.
fn returned() {
    match DIRECTORY.load(Ordering::Relaxed) {
        FORKED => end(1),
        directory => {
            // SAFETY: the call fails if there is no such directory.
            unsafe { libc::fchdir(directory) };
            reset_float_mode();
        }
    }
}

extern "C" fn forked() {
    DIRECTORY.store(FORKED, Ordering::SeqCst);
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
    if WATCH.get().is_none_or(|watch| watch.then == Then::Chain) {
        return;
    }
    // From here on a crash of a thread that a plugin started changes nothing.
    ENDS.store(true, Ordering::SeqCst);
    flush_streams();
    end(status.into());
}

/// Writes what libraries printed and the C library still has.
pub fn flush_streams() {
    // SAFETY: null stands for all streams.
    unsafe { libc::fflush(ptr::null_mut()) };
}

/// Ends a process whose supervisor can't be reached any more.
pub fn lose_channel() -> ! {
    if let Some(record) = in_use() {
        record.set_channel_lost();
    }
    end(1)
}

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(watch) = WATCH.get() else {
        return;
    };
    let chains = watch.then == Then::Chain;
    // Virtual machines and collectors mend faults outside of plugins. Where it isn't the first one, another thread
    // reports its crash, or reporting crashed.
    if (!chains || call::is_any()) && !ENDS.swap(true, Ordering::SeqCst) {
        let cause = cause(signal, info, context);
        match watch.then {
            Then::Die => {
                if let Some(record) = in_use() {
                    record.set_signal(&cause, call::current());
                }
            }
            Then::Exit(status) => {
                _ = report(&cause);
                end(status);
            }
            Then::Chain => _ = report(&cause),
        }
    }
    let at = SIGNALS.iter().position(|known| *known == signal);
    let before = at.filter(|_| chains).map(|at| &watch.before[at]);
    handle_as(before.unwrap_or(&ZEROS), signal, info, context);
    // Whoever returns here goes on.
    ENDS.store(false, Ordering::SeqCst);
}

#[cfg(target_os = "linux")]
unsafe extern "C" {
    /// The C library's; the crate for it leaves it out.
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
}

/// Runs at the end of a process that nobody finished.
extern "C" fn at_exit() {
    if ENDS.swap(true, Ordering::SeqCst) {
        return;
    }
    if let Some(Then::Exit(status)) = WATCH.get().map(|watch| watch.then) {
        _ = report(&TerminationCause::Exit { status: None });
        end(status);
    }
}

fn end(status: i32) -> ! {
    // SAFETY: it has no preconditions.
    unsafe { libc::_exit(status) }
}

/// The action that is taken at a signal which nobody handles.
// SAFETY: all zeros are an action: of the default handler, `SIG_DFL`.
const ZEROS: sigaction = unsafe { MaybeUninit::zeroed().assume_init() };

/// Handles a signal as this action does. If that is to end the process, what raised the signal is done again when the
/// handler returns, or `raise` does it.
fn handle_as(action: &sigaction, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let handler = action.sa_sigaction;
    // SAFETY: the calls are given an action, and whoever set a handler said which kind of function it is.
    unsafe {
        if [libc::SIG_DFL, libc::SIG_IGN].contains(&handler) {
            sigaction(signal, &ZEROS, ptr::null_mut());
            libc::raise(signal);
        } else if action.sa_flags & libc::SA_SIGINFO != 0 {
            std::mem::transmute::<usize, Handler>(handler)(signal, info, context);
        } else {
            std::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal);
        }
    }
}

fn cause(signal: c_int, info: *mut siginfo_t, context: *mut c_void) -> TerminationCause {
    // SAFETY: the system gives the handler the signal's record. The signals of faults have an address; of a signal that
    // somebody sent there is none.
    let address = unsafe { info.as_ref() }
        .filter(|info| signal != libc::SIGABRT && info.si_code > 0)
        .map(|info| unsafe { info.si_addr() } as u64);
    let is_near = |(address, pointer): (u64, u64)| address.abs_diff(pointer) < STACK_STEP;
    TerminationCause::Signal {
        signal,
        address,
        stack_overflow: signal == libc::SIGSEGV
            && address.zip(stack_pointer(context)).is_some_and(is_near),
    }
}

/// The stack pointer where the signal came, where it is known how to find it.
fn stack_pointer(context: *mut c_void) -> Option<u64> {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    {
        // SAFETY: the system gives the handler a context.
        let registers = &unsafe { context.cast::<libc::ucontext_t>().as_ref() }?.uc_mcontext;
        #[cfg(target_arch = "x86_64")]
        let pointer = registers.gregs[libc::REG_RSP as usize];
        #[cfg(target_arch = "aarch64")]
        let pointer = registers.sp;
        Some(pointer as u64)
    }
    #[cfg(not(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )))]
    context.is_null().then_some(0)
}

/// Standard error, to which nothing but the system call is between.
struct StandardError;

impl Write for StandardError {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the call is given bytes that are there.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        Ok(())
    }
}

/// Writes what ended the process, and what this thread called, to standard error.
fn report(cause: &TerminationCause) -> fmt::Result {
    let mut out = StandardError;
    let mut calls = call::current()
        .into_iter()
        .flat_map(|thread| thread.calls());
    let culprit = calls.next().and_then(|call| Some((call, call.kind()?)));
    match culprit {
        None => writeln!(
            out,
            "error[crashed]: Something {cause}; no call into a plugin was on this thread."
        )?,
        Some((call, kind)) => {
            let what = match kind {
                CallKind::Definition => "definition of",
                kind => kind.name(),
            };
            writeln!(out, "error[crashed]: The {what} `{}` {cause}.", call.name)?;
            write_place(&mut out, &call.function, &call.plugin)?;
            let pass = calls.find(|call| call.kind() == Some(CallKind::Pass));
            if let Some(pass) = pass.filter(|_| kind != CallKind::Pass) {
                let how = match kind {
                    CallKind::Instrument => "it was called around",
                    _ => "in",
                };
                writeln!(out, "  = {how} the pass `{}`", pass.name)?;
                write_place(&mut out, &pass.function, &pass.plugin)?;
            }
        }
    }
    out.write_str("  = Nothing was written.\n")
}

/// Writes in which function and of which plugin something is, as far as that is recorded.
fn write_place(out: &mut StandardError, function: &Text<31>, plugin: &Text<63>) -> fmt::Result {
    if !function.is_empty() {
        writeln!(out, "  = in the function @{function}")?;
    }
    match plugin.is_empty() {
        true => Ok(()),
        false => writeln!(out, "  = of the plugin `{plugin}`"),
    }
}
