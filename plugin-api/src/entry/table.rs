//! The plugin's table: an entry for each pass, op and instrument.

use std::ffi::c_void;

use passdock_abi as abi;

use super::calls::{run_function, run_module, run_op};
use super::watch;
use crate::op::{AttrDef, OpDef};
use crate::plugin::{PassFunction, PassSpec, PluginSpec};

/// Returns the table of a plugin. Its entries are never freed.
pub(super) fn new(plugin: &'static PluginSpec) -> abi::Plugin {
    let passes = pass_entries(plugin.passes);
    let ops = op_entries(plugin.ops);
    let instruments = watch::entries(plugin.instruments);
    abi::Plugin {
        pass_count: passes.len() as u32,
        passes: passes.as_ptr(),
        pass_stride: std::mem::size_of::<abi::PassEntry>() as u32,
        op_stride: std::mem::size_of::<abi::OpEntry>() as u32,
        ops: ops.as_ptr(),
        op_count: ops.len() as u32,
        instruments: instruments.as_ptr(),
        instrument_count: instruments.len() as u32,
        instrument_stride: std::mem::size_of::<abi::InstrumentEntry>() as u32,
        ..abi::Plugin::EMPTY
    }
}

/// Returns the state of an entry, which only the SDK reads.
pub(super) fn state<T: Sync>(state: &'static T) -> *mut c_void {
    let state: *const T = state;
    state as *mut c_void
}

fn pass_entries(passes: &'static [PassSpec]) -> &'static [abi::PassEntry] {
    let entries = passes.iter().map(|pass| {
        let mut entry = abi::PassEntry {
            name: abi::Str::new(pass.name),
            ..abi::PassEntry::EMPTY
        };
        match &pass.run {
            PassFunction::function(pass) | PassFunction::prim_function(pass) => {
                entry.state = state(pass);
                entry.run_function = Some(run_function);
            }
            PassFunction::module(pass) => {
                entry.state = state(pass);
                entry.run_module = Some(run_module);
            }
        }
        entry
    });
    Box::leak(entries.collect())
}

// All fields are set, but later versions may add some.
#[allow(clippy::needless_update)]
fn op_entries(ops: &'static [OpDef]) -> &'static [abi::OpEntry] {
    let entries = ops.iter().map(|def| abi::OpEntry {
        attrs: def.attrs.map_or(std::ptr::null(), attr_entries),
        attr_count: def.attrs.map_or(0, |attrs| attrs.len() as u32),
        attr_stride: std::mem::size_of::<abi::AttrEntry>() as u32,
        decompose: def.decompose.map(|_| run_op::<2> as abi::OpFn),
        layout: def.layout.map(|_| run_op::<3> as abi::OpFn),
        alter_layout: def.alter_layout.map(|_| run_op::<4> as abi::OpFn),
        supports: def.supports.map(|_| run_op::<5> as abi::OpFn),
        targets: targets(def.targets),
        target_count: def.targets.len(),
        name: abi::Str::new(def.name),
        since: def.since,
        min_operands: def.min_operands,
        max_operands: def.max_operands,
        min_results: def.min_results,
        max_results: def.max_results,
        traits: def.all_traits().0,
        state: state(def),
        infer: def.infer.map(|_| run_op::<0> as abi::OpFn),
        evaluate: def.evaluate.map(|_| run_op::<1> as abi::OpFn),
        ..abi::OpEntry::EMPTY
    });
    Box::leak(entries.collect())
}

/// Returns the names of targets as an array that is never freed.
fn targets(names: &[&'static str]) -> *const abi::Str {
    let names: Box<[abi::Str]> = names.iter().map(|name| abi::Str::new(name)).collect();
    Box::leak(names).as_ptr()
}

/// Returns the attributes of an operator. Never null, even if it has none.
fn attr_entries(attrs: &'static [AttrDef]) -> *const abi::AttrEntry {
    let entries: Box<[abi::AttrEntry]> = attrs.iter().map(AttrDef::entry).collect();
    Box::leak(entries).as_ptr()
}
