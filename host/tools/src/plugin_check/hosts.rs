//! Hosts of older contracts.

use passdock_abi as abi;
use passdock_core::Plugin;

use super::{CheckAnswer, CheckedPlugin, Trail};

/// The plugin works with the oldest host that it says it serves. A host can only pretend to be one
/// whose tables are the beginnings of its own: of today's contract there is none.
pub(super) fn older_hosts(checked: &CheckedPlugin, trail: &Trail) -> CheckAnswer {
    trail.at("the manifest was read");
    let plugin = match Plugin::open(&checked.file) {
        Ok(plugin) => plugin,
        Err(error) => {
            return CheckAnswer::skipped(format!("There is no plugin to check: {error}."));
        }
    };
    let oldest = plugin.manifest().plugin.min_host;
    if oldest.minor == abi::ABI.minor || abi::OLDEST_MINOR == abi::ABI.minor {
        return CheckAnswer::skipped(format!(
            "The oldest contract that it serves is {oldest}, and that is this host's."
        ));
    }
    CheckAnswer::skipped(format!(
        "This host can't pretend to be one of contract {oldest}: try the plugin in one."
    ))
}
