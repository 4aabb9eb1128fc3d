//! Handlers for crash signals and for unexpected exits.

use std::fmt::{self, Write};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use libc::{c_int, c_void, sigaction, siginfo_t};

use crate::call::{self, CallKind, in_use, record_to};
use crate::lent;
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

/// Maximum distance in bytes between the stack pointer and the address of a fault that counts as a stack overflow.
const STACK_STEP: u64 = 1 << 16;

/// Action after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Record the crash and terminate by the signal. A supervisor reports it.
    Terminate,
    /// Print an error message to standard error, and exit with this status.
    Exit(i32),
    /// Print an error message to standard error if the thread is in a call into a plugin. Then run the previous handler
    /// of the signal.
    Chain,
}

struct Watch {
    then: Then,
    /// The previous actions of the signals.
    before: [sigaction; SIGNALS.len()],
}

static WATCH: OnceLock<Watch> = OnceLock::new();

/// Whether a crash is being reported, or the process is about to exit normally.
static ENDS: AtomicBool = AtomicBool::new(false);

/// The initial directory of a process that runs plugins, restored after each call because relative paths depend on it.
/// 0 if unset.
static DIRECTORY: AtomicI32 = AtomicI32::new(0);
/// Value of `DIRECTORY` in a child that a plugin forked, which isn't part of the run.
const FORKED: i32 = -1;

/// Lets this process and its children write to the terminal, and makes reads from it fail, instead of stopping them.
/// They aren't in the terminal's foreground process group.
pub fn ignore_terminal_stops() {
    for signal in [libc::SIGTTIN, libc::SIGTTOU] {
        // SAFETY: ignoring a signal has no preconditions.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Starts watching for crashes: SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT on any thread. With [`Then::Exit`], also
/// watches for an exit of the process before [`finish`]. Only the first call has an effect.
pub fn watch(then: Then) {
    if in_use().is_none() {
        record_to(Record::in_own_memory());
    }
    let mut before = [ZEROS; SIGNALS.len()];
    // SAFETY: all pointers are to valid actions or null. The registered functions have the signatures that the C
    // library expects, and live as long as the process.
    unsafe {
        for (signal, before) in SIGNALS.iter().zip(&mut before) {
            sigaction(*signal, ptr::null(), before);
        }
        // Set before the handlers are installed, because they read it.
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

/// Runs after each call into a plugin's file. The call may have changed the current directory or the floating-point
/// mode, or may have forked the process.
fn returned() {
    match DIRECTORY.load(Ordering::Relaxed) {
        FORKED => end(1),
        directory => {
            // SAFETY: `fchdir` fails if the descriptor isn't an open directory.
            unsafe { libc::fchdir(directory) };
            reset_float_mode();
        }
    }
}

extern "C" fn forked() {
    DIRECTORY.store(FORKED, Ordering::SeqCst);
}

/// Restores the default floating-point mode of this thread. Loading a library that was compiled with `-ffast-math`
/// changes it, which would change the results of constant folding.
fn reset_float_mode() {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    {
        // SAFETY: the declaration has the signature of the C library's function.
        unsafe extern "C" {
            fn fesetenv(mode: *const c_void) -> c_int;
        }
        // SAFETY: the C library defines `FE_DFL_ENV`, the default mode, as this address.
        unsafe { fesetenv(ptr::without_provenance(usize::MAX)) };
    }
}

/// Exits with a status without running exit handlers and destructors of plugins. Does nothing if crashes aren't
/// watched, or are chained.
pub fn finish(status: u8) {
    if WATCH.get().is_none_or(|watch| watch.then == Then::Chain) {
        return;
    }
    // From here on, crashes of threads that plugins started are ignored.
    ENDS.store(true, Ordering::SeqCst);
    flush_streams();
    end(status.into());
}

/// Flushes the C library's output streams, which have the output of libraries.
pub fn flush_streams() {
    // SAFETY: a null pointer selects all streams.
    unsafe { libc::fflush(ptr::null_mut()) };
}

/// Exits because the supervisor can't be reached any more, and records that.
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
    // Outside of plugins, virtual machines and garbage collectors may handle a fault. If `ENDS` is already set, another
    // thread reports its crash, or reporting crashed.
    if (!chains || call::is_any()) && !ENDS.swap(true, Ordering::SeqCst) {
        let cause = cause(signal, info, context);
        match watch.then {
            Then::Terminate => {
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
    // A previous handler that returns has resolved the fault, and the process continues.
    ENDS.store(false, Ordering::SeqCst);
}

#[cfg(target_os = "linux")]
unsafe extern "C" {
    /// Declared here because the `libc` crate doesn't have it.
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
}

/// Runs if the process exits before [`finish`].
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
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(status) }
}

/// The default action of a signal.
// SAFETY: zero bytes are a valid action with the default handler, `SIG_DFL`.
const ZEROS: sigaction = unsafe { MaybeUninit::zeroed().assume_init() };

/// Handles a signal with the given action. If that is the default action, the faulting instruction runs again when the
/// handler returns, or `raise` raises the signal again.
fn handle_as(action: &sigaction, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let handler = action.sa_sigaction;
    // SAFETY: `ZEROS` is a valid action. `sa_flags` determines the signature of the handler that was installed with it.
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
    // SAFETY: the system passes the handler a valid `siginfo_t`, or null. It has an address because the signal is a
    // fault that the system raised (`si_code > 0`).
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

/// Returns the stack pointer at the signal, on supported platforms.
fn stack_pointer(context: *mut c_void) -> Option<u64> {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    {
        // SAFETY: the system passes the handler a valid context, or null.
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

/// Standard error, written by system calls without buffers or locks.
struct StandardError;

impl Write for StandardError {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the pointer and length are those of a `str`.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        Ok(())
    }
}

/// Prints the cause and the calls of this thread to standard error.
fn report(cause: &TerminationCause) -> fmt::Result {
    let mut out = StandardError;
    let mut calls = call::current()
        .into_iter()
        .flat_map(|thread| thread.calls());
    let culprit = calls.next().and_then(|call| Some((call, call.kind()?)));
    match culprit {
        None => writeln!(
            out,
            "error[crashed]: a thread without a call into a plugin {cause}"
        )?,
        Some((call, kind)) => {
            let what = match kind {
                CallKind::Definition => "definition of",
                kind => kind.name(),
            };
            writeln!(out, "error[crashed]: {what} `{}` {cause}", call.name)?;
            write_location(&mut out, &call.function, &call.plugin)?;
            let pass = calls.find(|call| call.kind() == Some(CallKind::Pass));
            if let Some(pass) = pass.filter(|_| kind != CallKind::Pass) {
                let how = match kind {
                    CallKind::Instrument => "called around",
                    _ => "in",
                };
                writeln!(out, "  = {how} pass `{}`", pass.name)?;
                write_location(&mut out, &pass.function, &pass.plugin)?;
            }
        }
    }
    if let TerminationCause::Signal {
        address: Some(address),
        ..
    } = cause
        && let Some(rule) = lent::broken_rule(*address)
    {
        writeln!(out, "  = {rule}")?;
    }
    out.write_str("  = nothing was written\n")
}

/// Prints the recorded function and plugin of a call.
fn write_location(out: &mut StandardError, function: &Text<31>, plugin: &Text<63>) -> fmt::Result {
    if !function.is_empty() {
        writeln!(out, "  = in function @{function}")?;
    }
    match plugin.is_empty() {
        true => Ok(()),
        false => writeln!(out, "  = of plugin `{plugin}`"),
    }
}
