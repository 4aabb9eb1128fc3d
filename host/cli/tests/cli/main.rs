//! Tests of the command: its output, its files, its exit status.

mod batch;
mod compare;
#[cfg(unix)]
mod crash_messages;
#[cfg(unix)]
mod crashes;
#[cfg(unix)]
mod crashes_in_commands;
#[cfg(target_os = "linux")]
mod debugging;
mod diff;
mod diff_output;
mod diff_regions;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod fault_table;
mod faults;
#[cfg(target_os = "linux")]
mod flips;
mod help;
#[cfg(unix)]
mod hostile;
mod json;
mod numerics;
mod planted;
#[cfg(target_os = "linux")]
mod plugin_check;
mod replay;
#[cfg(target_os = "linux")]
mod sandbox;
mod sessions;
mod support;
mod terminal;
#[cfg(unix)]
mod time_limit;
mod trust;
