//! The filter of system calls, by seccomp.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGT, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ERRNO,
    SECCOMP_RET_TRACE, SECCOMP_RET_USER_NOTIF, c_long,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as ArgLen, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, sock_filter,
};

use crate::DeniedCall;
use crate::access::Access;
use crate::calls::{Condition, DENIED, NEWEST};

/// Denies system calls in this thread and threads that it starts. With `reports`, returns the descriptor on which the
/// kernel reports them. Without it, or if another process already receives such reports, denied calls only fail.
///
/// # Errors
/// If the kernel has no seccomp, or its error.
pub(crate) fn install(access: &Access, reports: bool) -> io::Result<Option<OwnedFd>> {
    rustix::thread::set_no_new_privs(true)?;
    let denied = denied(access);
    // The crate has no action for reports, so another one marks them.
    let mut reporting = program(&denied, SeccompAction::Trace(0))?;
    for instruction in &mut reporting {
        if u32::from(instruction.code) == BPF_RET | BPF_K && instruction.k == SECCOMP_RET_TRACE {
            instruction.k = SECCOMP_RET_USER_NOTIF;
        }
    }
    if reports && let Ok(reports) = apply(&reporting) {
        return Ok(Some(reports));
    }
    let silent = program(&denied, SeccompAction::Errno(libc::EPERM.cast_unsigned()))?;
    seccompiler::apply_filter(&silent).map_err(io::Error::other)?;
    Ok(None)
}

/// Returns the rules of all denied calls.
fn denied(access: &Access) -> BTreeMap<c_long, Vec<SeccompRule>> {
    let is_allowed = |kind: DeniedCall| match kind {
        DeniedCall::Network => access.network,
        // Whoever starts a process also signals it.
        DeniedCall::Exec | DeniedCall::Fork | DeniedCall::Signal => access.exec,
        _ => false,
    };
    let kinds = DENIED.iter().filter(|(kind, _)| !is_allowed(*kind));
    let calls = kinds.flat_map(|(_, calls)| calls.iter());
    calls
        .map(|(call, condition)| (*call, rules(*condition)))
        .collect()
}

/// Returns the rules for a condition, of which one must match. No rules match all calls.
fn rules(condition: Condition) -> Vec<SeccompRule> {
    let process = u64::from(std::process::id());
    let when = |argument, len, operator, value| {
        let condition = SeccompCondition::new(argument, len, operator, value);
        SeccompRule::new(vec![condition.expect("system calls have six arguments")])
            .expect("the rule has a condition")
    };
    let has_flag = |flag: i32| {
        let flag = u64::from(flag.cast_unsigned());
        when(0, ArgLen::Dword, Op::MaskedEq(flag), flag)
    };
    match condition {
        Condition::Always => Vec::new(),
        Condition::NotThread => {
            let thread = u64::from(libc::CLONE_THREAD.cast_unsigned());
            let mut rules = vec![when(0, ArgLen::Dword, Op::MaskedEq(thread), 0)];
            let namespaces = [
                libc::CLONE_NEWNS,
                libc::CLONE_NEWCGROUP,
                libc::CLONE_NEWUTS,
                libc::CLONE_NEWIPC,
                libc::CLONE_NEWNET,
            ];
            rules.extend(namespaces.map(has_flag));
            rules
        }
        Condition::OtherProcess => vec![when(0, ArgLen::Dword, Op::Ne, process)],
        Condition::SetsLimit => vec![when(2, ArgLen::Qword, Op::Ne, 0)],
        Condition::TypesIntoTerminal => [libc::TIOCSTI, libc::TIOCLINUX]
            .map(|request| when(1, ArgLen::Dword, Op::Eq, request))
            .into(),
    }
}

/// Returns the program of the filter.
fn program(
    denied: &BTreeMap<c_long, Vec<SeccompRule>>,
    action: SeccompAction,
) -> io::Result<BpfProgram> {
    let arch = std::env::consts::ARCH
        .try_into()
        .map_err(io::Error::other)?;
    let filter = SeccompFilter::new(denied.clone(), SeccompAction::Allow, action, arch);
    let rules: BpfProgram = filter
        .and_then(TryInto::try_into)
        .map_err(io::Error::other)?;
    let statement = |code: u32, jump_if, jump_if_not, k| sock_filter {
        code: code as u16,
        jt: jump_if,
        jf: jump_if_not,
        k,
    };
    let missing = SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let clone3 = libc::SYS_clone3 as u32;
    // Calls that don't exist in the sandbox. The arguments of `clone3` are in memory, where the filter can't read them;
    // the C library then uses `clone`.
    let mut program = vec![
        statement(BPF_LD | BPF_W | BPF_ABS, 0, 0, 0),
        statement(BPF_JMP | BPF_JGT | BPF_K, 1, 0, NEWEST),
        statement(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, clone3),
        statement(BPF_RET | BPF_K, 0, 0, missing),
    ];
    program.extend(rules);
    Ok(program)
}

/// Installs a filter and returns the descriptor of its reports.
fn apply(program: &BpfProgram) -> io::Result<OwnedFd> {
    let program = libc::sock_fprog {
        len: program.len().try_into().map_err(io::Error::other)?,
        filter: program.as_ptr().cast::<libc::sock_filter>().cast_mut(),
    };
    let operation = libc::SECCOMP_SET_MODE_FILTER;
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // SAFETY: the kernel only reads the program, which is alive during the call. Both types of instructions have the
    // kernel's layout.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, operation, flags, &raw const program) };
    match i32::try_from(result) {
        // SAFETY: with `NEW_LISTENER`, the call returns a new descriptor, which has no other owner.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}
