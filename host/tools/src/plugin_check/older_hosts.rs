//! The check of a plugin in hosts with an older ABI.

use passdock_core::{ErrorKind, PassError, boundary};

use super::subject::Subject;
use super::{CheckResult, instruments, ops, passes};

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
    for result in [
        ops::ops_in_older_host(subject),
        instruments::instruments(subject),
    ] {
        if result.verdict.is_bad() {
            findings.extend(result.reasons);
        }
    }
    CheckResult::new(findings, Vec::new())
}
