//! What keeps a worker, and what it starts, from its supervisor.
//!
//! Processes of one user may trace each other and write into each other's memory: a plugin could have the supervisor
//! wait for ever, or say what it likes. So the supervisor refuses to be traced. Of root nothing is refused, and so the
//! worker gives up the right to do it.

/// Lets no process trace this one, or open its memory, that hasn't the right to do it to any: not a debugger of the same
/// user either. For a program that supervises workers.
pub fn refuse_tracing() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Gives up the right to trace any process, for good, also of what this process starts.
pub(super) fn give_up_tracing() {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{
            CapabilitySet, capabilities, remove_capability_from_bounding_set, set_capabilities,
        };
        let right = CapabilitySet::SYS_PTRACE;
        let Ok(mut sets) = capabilities(None) else {
            return;
        };
        if !sets.permitted.contains(right) {
            return;
        }
        // It may be that only this is allowed, or only that.
        _ = remove_capability_from_bounding_set(right);
        sets.effective.remove(right);
        sets.permitted.remove(right);
        sets.inheritable.remove(right);
        _ = set_capabilities(None, sets);
    }
}
