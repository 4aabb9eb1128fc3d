//! `Then::Chain`: whoever handled a signal before goes first where no plugin is called.
#![cfg(target_os = "linux")]

use std::io::{Write, stderr};
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::{env, ptr};

use libc::{c_int, c_void, sigaction, siginfo_t};
use passdock_crash::{Callee, Then, watch};

/// The bytes of a page, or of several.
const LEN: usize = 1 << 16;

/// The memory that may be written once a fault was mended, as a collector of garbage has it.
static GUARDED: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

extern "C" fn mend(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    let guarded = GUARDED.load(Ordering::SeqCst);
    // SAFETY: the system gives the handler the signal's record; the memory was mapped, and a `sigaction` may be zeros.
    unsafe {
        if (*info).si_addr() == guarded {
            libc::mprotect(guarded, LEN, libc::PROT_READ | libc::PROT_WRITE);
        } else {
            let default: sigaction = MaybeUninit::zeroed().assume_init();
            sigaction(signal, &default, ptr::null_mut());
        }
    }
}

/// What the process does that the test starts.
fn fault_twice() {
    // SAFETY: the calls are given what they ask for; what is written to was mapped, and is mended by the handler. The
    // last one crashes on purpose.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let guarded = libc::mmap(ptr::null_mut(), LEN, libc::PROT_NONE, flags, -1, 0);
        GUARDED.store(guarded, Ordering::SeqCst);
        let mut action: sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = mend as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        sigaction(libc::SIGSEGV, &action, ptr::null_mut());
        watch(Then::Chain);
        guarded.cast::<u8>().write_volatile(7);
        assert_eq!(guarded.cast::<u8>().read_volatile(), 7);
        stderr().write_all(b"mended\n").expect("standard error");
        let _entered = Callee::pass("a.pass", None).enter();
        ptr::without_provenance_mut::<u8>(64).write_volatile(7);
    }
}

#[test]
fn a_fault_that_is_mended_is_not_told_and_the_next_one_is() {
    const NAME: &str = "a_fault_that_is_mended_is_not_told_and_the_next_one_is";
    if env::var_os("FAULT_TWICE").is_some() {
        return fault_twice();
    }
    let mut again = Command::new(env::current_exe().expect("this test"));
    again.args(["--exact", NAME, "--nocapture"]);
    let ran = again.env("FAULT_TWICE", "1").output().expect("a process");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.signal(), Some(libc::SIGSEGV), "{said}");
    let (before, after) = said.split_once("mended\n").expect("it goes on");
    assert_eq!(before, "");
    let sentence = "error[crashed]: The pass `a.pass` crashed: SIGSEGV, ";
    assert!(after.starts_with(sentence), "{said}");
    assert_eq!(after.matches("error[").count(), 1, "{said}");
}
