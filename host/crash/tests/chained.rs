//! `Then::Chain`: outside of calls into plugins, the previous handler of a signal runs.
#![cfg(target_os = "linux")]

use std::io::{Write, stderr};
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::{env, ptr};

use libc::{c_int, c_void, sigaction, siginfo_t};
use passdock_crash::{Callee, Then, watch};

/// The size of the mapping in bytes, a multiple of the page size.
const LEN: usize = 1 << 16;

/// Memory that becomes writable when the first fault is handled, as in a garbage collector.
static GUARDED: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

extern "C" fn handle_fault(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let guarded = GUARDED.load(Ordering::SeqCst);
    // SAFETY: the system passes the handler a valid `siginfo_t`. The memory was mapped by `fault_twice`. Zero bytes are
    // a valid `sigaction`.
    unsafe {
        if (*info).si_addr() == guarded {
            libc::mprotect(guarded, LEN, libc::PROT_READ | libc::PROT_WRITE);
        } else {
            let default: sigaction = MaybeUninit::zeroed().assume_init();
            sigaction(signal, &default, ptr::null_mut());
        }
    }
}

/// The body of the child process that the test starts.
fn fault_twice() {
    // SAFETY: all arguments are valid. The memory that is written was mapped, and the handler makes it writable. The
    // last write crashes intentionally.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let guarded = libc::mmap(ptr::null_mut(), LEN, libc::PROT_NONE, flags, -1, 0);
        GUARDED.store(guarded, Ordering::SeqCst);
        let mut action: sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction =
            handle_fault as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        sigaction(libc::SIGSEGV, &action, ptr::null_mut());
        watch(Then::Chain);
        guarded.cast::<u8>().write_volatile(7);
        assert_eq!(guarded.cast::<u8>().read_volatile(), 7);
        stderr().write_all(b"handled\n").expect("standard error");
        let _entered = Callee::pass("a.pass", None).enter();
        ptr::without_provenance_mut::<u8>(64).write_volatile(7);
    }
}

#[test]
fn handled_fault_is_not_reported_but_the_next_is() {
    const NAME: &str = "handled_fault_is_not_reported_but_the_next_is";
    if env::var_os("FAULT_TWICE").is_some() {
        return fault_twice();
    }
    let mut child = Command::new(env::current_exe().expect("this test"));
    child.args(["--exact", NAME, "--nocapture"]);
    let ran = child.env("FAULT_TWICE", "1").output().expect("a process");
    let stderr_text = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.signal(), Some(libc::SIGSEGV), "{stderr_text}");
    let (before, after) = stderr_text
        .split_once("handled\n")
        .expect("the process continues");
    assert_eq!(before, "");
    let sentence = "error[crashed]: pass `a.pass` crashed: SIGSEGV, ";
    assert!(after.starts_with(sentence), "{stderr_text}");
    assert_eq!(after.matches("error[").count(), 1, "{stderr_text}");
}
