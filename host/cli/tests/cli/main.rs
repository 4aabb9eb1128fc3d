//! The command as people use it: what it prints, what it writes, how it ends.

mod bad_input;
mod batch;
mod built_in;
mod compare;
mod data;
#[cfg(unix)]
mod deaths;
#[cfg(unix)]
mod deaths_in_commands;
#[cfg(unix)]
mod deaths_told;
mod diagnostics;
mod diff;
mod diff_output;
mod diff_regions;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod fault_table;
mod faults;
#[cfg(target_os = "linux")]
mod flips;
mod help;
mod inspecting;
mod instruments;
mod json;
mod listing;
mod numerics;
mod planted;
mod plugin_check;
mod plugin_files;
mod plugin_instruments;
mod plugin_new;
mod replay;
mod report;
mod rewriting;
mod schema;
mod sentences;
mod sequentials;
mod sessions;
mod shells;
mod stats;
#[cfg(unix)]
mod strangers;
mod support;
mod terminal;
#[cfg(unix)]
mod time_limit;
mod working;
mod writing;
