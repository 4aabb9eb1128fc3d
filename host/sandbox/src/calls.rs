//! The table of denied system calls.

use libc::{
    SYS_accept, SYS_accept4, SYS_acct, SYS_add_key, SYS_bind, SYS_bpf, SYS_chroot,
    SYS_clock_adjtime, SYS_clock_settime, SYS_clone, SYS_connect, SYS_delete_module, SYS_execve,
    SYS_execveat, SYS_fanotify_init, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat,
    SYS_finit_module, SYS_fremovexattr, SYS_fsconfig, SYS_fsetxattr, SYS_fsmount, SYS_fsopen,
    SYS_fspick, SYS_init_module, SYS_inotify_add_watch, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_io_uring_setup, SYS_ioctl, SYS_kcmp, SYS_kexec_file_load, SYS_kexec_load, SYS_keyctl,
    SYS_kill, SYS_listen, SYS_lremovexattr, SYS_lsetxattr, SYS_mount, SYS_mount_setattr,
    SYS_move_mount, SYS_mq_open, SYS_mq_unlink, SYS_msgctl, SYS_msgget, SYS_msgrcv, SYS_msgsnd,
    SYS_open_by_handle_at, SYS_open_tree, SYS_perf_event_open, SYS_pidfd_getfd, SYS_pidfd_open,
    SYS_pidfd_send_signal, SYS_pivot_root, SYS_prlimit64, SYS_process_madvise,
    SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace, SYS_quotactl, SYS_reboot,
    SYS_removexattr, SYS_request_key, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_semctl,
    SYS_semget, SYS_semop, SYS_setdomainname, SYS_sethostname, SYS_setns, SYS_setrlimit,
    SYS_settimeofday, SYS_setxattr, SYS_shmat, SYS_shmctl, SYS_shmget, SYS_socket, SYS_socketpair,
    SYS_swapoff, SYS_swapon, SYS_syslog, SYS_tgkill, SYS_tkill, SYS_truncate, SYS_umount2,
    SYS_unshare, SYS_userfaultfd, SYS_utimensat, SYS_vhangup, c_long,
};
#[cfg(target_arch = "x86_64")]
use libc::{
    SYS_chmod, SYS_chown, SYS_fork, SYS_futimesat, SYS_ioperm, SYS_iopl, SYS_lchown, SYS_utime,
    SYS_utimes, SYS_vfork,
};

use crate::DeniedCall;
use crate::DeniedCall as Kind;

/// The newest system call of Linux 6.17, the newest kernel whose calls were reviewed: `file_setattr`. Newer ones don't
/// exist in the sandbox, and neither do those of the x32 ABI, which have higher numbers.
pub(crate) const NEWEST: u32 = 469;

const SYS_FCHMODAT2: c_long = 452;
const SYS_QUOTACTL_FD: c_long = 443;
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;
const SYS_OPEN_TREE_ATTR: c_long = 467;
const SYS_FILE_SETATTR: c_long = 469;

/// The denied system calls. Those with a condition are denied only if an argument satisfies it.
#[rustfmt::skip]
pub(crate) const DENIED: &[(DeniedCall, &[(c_long, Condition)])] = &[
    (Kind::Network, &[
        (SYS_socket, Always), (SYS_socketpair, Always), (SYS_connect, Always), (SYS_bind, Always),
        (SYS_listen, Always), (SYS_accept, Always), (SYS_accept4, Always),
    ]),
    (Kind::Exec, &[(SYS_execve, Always), (SYS_execveat, Always)]),
    (Kind::Fork, &[
        (SYS_clone, NotThread),
        #[cfg(target_arch = "x86_64")] (SYS_fork, Always),
        #[cfg(target_arch = "x86_64")] (SYS_vfork, Always),
    ]),
    (Kind::Ptrace, &[
        (SYS_ptrace, Always), (SYS_process_vm_readv, OtherProcess), (SYS_process_vm_writev, OtherProcess),
        (SYS_process_madvise, Always), (SYS_kcmp, Always), (SYS_pidfd_open, Always), (SYS_pidfd_getfd, Always),
    ]),
    (Kind::Signal, &[
        (SYS_kill, OtherProcess), (SYS_tgkill, OtherProcess), (SYS_rt_sigqueueinfo, OtherProcess),
        (SYS_rt_tgsigqueueinfo, OtherProcess), (SYS_tkill, Always), (SYS_pidfd_send_signal, Always),
    ]),
    (Kind::Limits, &[(SYS_setrlimit, Always), (SYS_prlimit64, SetsLimit)]),
    (Kind::Mount, &[
        (SYS_mount, Always), (SYS_umount2, Always), (SYS_pivot_root, Always), (SYS_chroot, Always),
        (SYS_open_tree, Always), (SYS_OPEN_TREE_ATTR, Always), (SYS_move_mount, Always), (SYS_fsopen, Always),
        (SYS_fsconfig, Always), (SYS_fsmount, Always), (SYS_fspick, Always), (SYS_mount_setattr, Always),
        (SYS_swapon, Always), (SYS_swapoff, Always), (SYS_quotactl, Always), (SYS_QUOTACTL_FD, Always),
    ]),
    (Kind::Namespace, &[(SYS_setns, Always), (SYS_unshare, Always)]),
    // Landlock doesn't restrict these.
    (Kind::Attributes, &[
        (SYS_fchmod, Always), (SYS_fchmodat, Always), (SYS_FCHMODAT2, Always), (SYS_fchown, Always),
        (SYS_fchownat, Always), (SYS_utimensat, Always), (SYS_setxattr, Always), (SYS_lsetxattr, Always),
        (SYS_fsetxattr, Always), (SYS_removexattr, Always), (SYS_lremovexattr, Always), (SYS_fremovexattr, Always),
        (SYS_SETXATTRAT, Always), (SYS_REMOVEXATTRAT, Always), (SYS_FILE_SETATTR, Always), (SYS_truncate, Always),
        #[cfg(target_arch = "x86_64")] (SYS_chmod, Always),
        #[cfg(target_arch = "x86_64")] (SYS_chown, Always),
        #[cfg(target_arch = "x86_64")] (SYS_lchown, Always),
        #[cfg(target_arch = "x86_64")] (SYS_utime, Always),
        #[cfg(target_arch = "x86_64")] (SYS_utimes, Always),
        #[cfg(target_arch = "x86_64")] (SYS_futimesat, Always),
    ]),
    (Kind::Terminal, &[(SYS_ioctl, TypesIntoTerminal), (SYS_vhangup, Always)]),
    (Kind::Ipc, &[
        (SYS_shmget, Always), (SYS_shmat, Always), (SYS_shmctl, Always), (SYS_semget, Always), (SYS_semop, Always),
        (SYS_semctl, Always), (SYS_msgget, Always), (SYS_msgsnd, Always), (SYS_msgrcv, Always), (SYS_msgctl, Always),
        (SYS_mq_open, Always), (SYS_mq_unlink, Always),
    ]),
    (Kind::Kernel, &[
        (SYS_acct, Always), (SYS_add_key, Always), (SYS_bpf, Always), (SYS_clock_adjtime, Always),
        (SYS_clock_settime, Always), (SYS_delete_module, Always), (SYS_fanotify_init, Always),
        (SYS_finit_module, Always), (SYS_init_module, Always), (SYS_inotify_add_watch, Always),
        (SYS_io_uring_enter, Always), (SYS_io_uring_register, Always), (SYS_io_uring_setup, Always),
        (SYS_kexec_file_load, Always), (SYS_kexec_load, Always), (SYS_keyctl, Always),
        (SYS_open_by_handle_at, Always), (SYS_perf_event_open, Always), (SYS_reboot, Always),
        (SYS_request_key, Always), (SYS_setdomainname, Always), (SYS_sethostname, Always),
        (SYS_settimeofday, Always), (SYS_syslog, Always), (SYS_userfaultfd, Always),
        #[cfg(target_arch = "x86_64")] (SYS_iopl, Always),
        #[cfg(target_arch = "x86_64")] (SYS_ioperm, Always),
    ]),
];

/// A condition of a denied call on its arguments.
#[derive(Clone, Copy)]
pub(crate) enum Condition {
    /// No condition.
    Always,
    /// The call doesn't create a thread of this process, or gives it a namespace.
    NotThread,
    /// The first argument isn't this process's id.
    OtherProcess,
    /// The call sets a limit.
    SetsLimit,
    /// The request writes to the terminal's input.
    TypesIntoTerminal,
}

use Condition::{Always, NotThread, OtherProcess, SetsLimit, TypesIntoTerminal};

/// Returns the kind of a denied call.
pub(crate) fn kind(number: c_long) -> Option<DeniedCall> {
    let has = |calls: &[(c_long, Condition)]| calls.iter().any(|(call, _)| *call == number);
    let mut kinds = DENIED.iter();
    kinds.find(|(_, calls)| has(calls)).map(|(kind, _)| *kind)
}
