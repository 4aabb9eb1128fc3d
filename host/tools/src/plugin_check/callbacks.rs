//! The checks that call everything in a plugin: in a process that lends, and in an older host.

use passdock_core::boundary::VIOLATION;
use passdock_core::{ErrorKind, PassError, PassFault, boundary};

use super::subject::Subject;
use super::{CheckResult, instruments, ops, passes};

/// Checks that the plugin uses handles and memory as long as the header allows, and that it doesn't write to memory of
/// the host.
pub(super) fn memory(subject: &Subject<'_>) -> CheckResult {
    let manifest = subject.plugin.manifest();
    if subject.passes().is_empty() && manifest.ops.is_empty() && manifest.instruments.is_empty() {
        return CheckResult::skipped("the plugin has nothing to call");
    }
    boundary::lend();
    let is_violation = |error: &PassError| error.fault == Some(PassFault::Violation);
    let mut findings =
        passes::survey(subject, |context| context, is_violation, |_, _| None).findings;
    // Errors of op definitions are texts, which pass through the plugin ABI.
    let of_ops = ops::ops_briefly(subject).into_iter();
    findings.extend(of_ops.filter(|error| error.contains(VIOLATION)));
    findings.extend(instruments::findings(subject, is_violation));
    CheckResult::new(findings, Vec::new())
}

/// Checks that the plugin works in the oldest host that it supports. The tables of that host have the size of its
/// `min_host`, and it has no extensions.
pub(super) fn older_hosts(subject: &Subject<'_>) -> CheckResult {
    let min_host = subject.plugin.manifest().plugin.min_host;
    let Some(host) = boundary::older_host(min_host.minor) else {
        let reason = format!("cannot emulate a host with ABI {min_host}");
        return CheckResult::skipped(reason);
    };
    subject.trail.at("loading the library into an older host");
    if let Err(error) = subject.plugin.load(host) {
        return CheckResult::unusable(error.to_string());
    }
    let is_relevant =
        |error: &PassError| matches!(error.kind, ErrorKind::Panicked | ErrorKind::Verify);
    let mut findings =
        passes::survey(subject, |context| context, is_relevant, |_, _| None).findings;
    findings.extend(ops::ops_briefly(subject));
    findings.extend(instruments::findings(subject, |_| true));
    CheckResult::new(findings, Vec::new())
}
