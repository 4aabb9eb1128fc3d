//! Notes on what a request names without effect: by an alias, absent from the pipeline, or without a place.

use std::collections::BTreeMap;

use passdock_core::config::canonical_key;
use passdock_core::{Diagnostic, Registry, Severity};

use crate::pipeline_file::PassTable;
use crate::prepare::{PIPELINE, Prepared, Request};

fn note(code: &str, message: String) -> Diagnostic {
    Diagnostic::new(Severity::Note, code, message)
}

/// Returns a note if the level of the request replaces another one of the file.
pub(in crate::pipeline) fn level(request: &Request, prepared: &Prepared) -> Option<Diagnostic> {
    let asked = request.opt_level?;
    let file = &prepared.file;
    let own = file.context.opt_level.filter(|own| *own != asked)?;
    let name = &file.source.name;
    let message = format!("`-O{asked}` replaces `opt_level = {own}` of `{name}`.");
    Some(note("opt-level", message))
}

/// Returns a note for each pass that a flag names and that isn't in the pipeline, nor required nor skipped.
pub(super) fn absent(request: &Request, prepared: &Prepared) -> Vec<Diagnostic> {
    let asked = request.instruments.iter();
    let printed = asked.flat_map(|asked| asked.flagged_passes());
    let required = request.required_pass.iter();
    let named = printed.chain(required.map(|name| ("--require", name.as_str())));
    let present = prepared.pass_names();
    let registry = prepared.context.registry();
    let named = named.map(|(flag, name)| (flag, registry.canonical(name)));
    named
        .filter(|(_, name)| ![PIPELINE, "all"].contains(&&**name) && !present.contains(name))
        .map(|(flag, name)| {
            let message = format!(
                "`{flag}` names the pass `{name}`, which isn't in the pipeline: unless another \
                 pass runs it, that is without effect."
            );
            note("absent-pass", message)
        })
        .collect()
}

/// Returns one note for the passes that ask for a phase for which the pipeline has no place. A pass that another one
/// requires runs nevertheless.
pub(super) fn unplaced(prepared: &Prepared) -> Option<Diagnostic> {
    let planned = prepared.pass_names();
    let left = prepared.phases.left_over();
    let left = left.filter(|(name, _)| !planned.contains(*name));
    let left: Vec<String> = left
        .map(|(name, phase)| format!("`{name}` (phase {})", phase.name()))
        .collect();
    if left.is_empty() {
        return None;
    }
    let left = left.join(", ");
    let message = format!("The pipeline has no place for {left}: not run.");
    let mut note = note("no-place", message);
    note.help =
        Some("List them in `passes`, or give the phase a place: `{ phase = \"…\" }`.".into());
    Some(note)
}

/// Returns one note for the passes, instruments and config options that a request calls by an alias: reports call them
/// by their own names. A short name isn't an alias: it is the end of the pass's own name.
pub(super) fn aliases(request: &Request, prepared: &Prepared) -> Option<Diagnostic> {
    let (file, registry) = (&prepared.file, prepared.context.registry());
    let listed = file.tables().flat_map(PassTable::pass_names);
    let context = file.context.required_pass.iter();
    let context = context.chain(&file.context.disabled_pass);
    let passes = listed.chain(context).map(|name| &name.value);
    let passes = passes
        .chain(&request.passes)
        .chain(&request.required_pass)
        .chain(&request.disabled_pass)
        .map(|name| (name.as_str(), own_name(name, registry)));
    let instruments = file.instruments.iter().map(|table| &table.name.value);
    let instruments = instruments
        .chain(request.instruments.iter().map(|asked| &asked.name))
        .map(|name| (name.as_str(), own_instrument(name, registry)));
    let keys = file.context.config.iter().map(|(key, _)| &*key.value);
    let set = request.config.iter();
    let set = set.filter_map(|setting| Some(setting.split_once('=')?.0.trim()));
    let keys = keys.chain(set).map(|key| (key, own_key(key, registry)));
    let named = passes.chain(instruments).chain(keys);
    let aliases: BTreeMap<&str, String> = named
        .filter_map(|(name, own)| Some((name, format!("`{name}` stands for `{}`", own?))))
        .collect();
    let aliases: Vec<String> = aliases.into_values().collect();
    let message = format!("{}.", aliases.join(", "));
    (!aliases.is_empty()).then(|| note("alias", message))
}

/// The name of the pass that a name is an alias of.
fn own_name(name: &str, registry: &Registry) -> Option<String> {
    let own = registry.canonical(name);
    let is_alias = own != name && !own.ends_with(&format!("transform.{name}"));
    is_alias.then_some(own)
}

/// The name of the instrument that a name is an alias of.
fn own_instrument(name: &str, registry: &Registry) -> Option<String> {
    let spec = registry.instrument_spec(name).ok()?;
    (spec.name != name).then_some(spec.name)
}

/// The key that one of TVM's is an alias of, with a field after it or not, unless a plugin registered that one itself.
fn own_key(key: &str, registry: &Registry) -> Option<String> {
    let own = canonical_key(key);
    let schema = registry.config_schema(key);
    let is_registered = schema.is_ok_and(|schema| schema.key == key);
    (own != key && !is_registered).then(|| own.into_owned())
}
