//! Passes, instruments and config options that a request calls by an alias: reports call them by their own names.

use std::collections::BTreeMap;

use passdock_core::config::canonical_key;
use passdock_core::{Diagnostic, Registry, Severity};

use crate::pipeline_file::PassTable;
use crate::prepare::{Prepared, Request};

/// One note for all of them. A short name isn't an alias: it is the end of the pass's own name.
pub(super) fn note(request: &Request, prepared: &Prepared) -> Option<Diagnostic> {
    let context = &prepared.file.context;
    let listed = context.required_pass.iter().chain(&context.disabled_pass);
    let mut names: Vec<&str> = listed.map(|name| name.value.as_str()).collect();
    let lists = [
        &request.passes,
        &request.required_pass,
        &request.disabled_pass,
    ];
    names.extend(lists.into_iter().flatten().map(String::as_str));
    add_listed(&prepared.file.passes, &mut names);
    let registry = prepared.context.registry();
    let passes = names
        .into_iter()
        .map(|name| (name, own_name(name, registry)));
    let listed = prepared.file.instruments.iter();
    let listed = listed.map(|table| table.name.value.as_str());
    let asked = request.instruments.iter().map(|asked| asked.name.as_str());
    let instruments = listed
        .chain(asked)
        .map(|name| (name, own_instrument(name, registry)));
    let keys = context.config.iter().map(|(key, _)| key.value.as_str());
    let set = request.config.iter();
    let set = set.filter_map(|setting| Some(setting.split_once('=')?.0.trim()));
    let keys = keys.chain(set).map(|key| (key, own_key(key, registry)));
    let stand_for = passes.chain(instruments).chain(keys);
    let stand_for =
        stand_for.filter_map(|(name, own)| Some((name, format!("`{name}` stands for `{}`", own?))));
    let stand_for: BTreeMap<&str, String> = stand_for.collect();
    if stand_for.is_empty() {
        return None;
    }
    let stand_for: Vec<String> = stand_for.into_values().collect();
    let message = format!("{}.", stand_for.join(", "));
    Some(Diagnostic::new(Severity::Note, "alias", message))
}

/// The names in a pipeline's list of passes. Those inside of a built-in pipeline are their own.
fn add_listed<'t>(tables: &'t [PassTable], names: &mut Vec<&'t str>) {
    for table in tables {
        match table {
            PassTable::Pass { name, disabled, .. } => {
                names.push(&name.value);
                names.extend(disabled.iter().map(|name| name.value.as_str()));
            }
            PassTable::Sequential {
                required,
                disabled,
                passes,
                ..
            } => {
                let listed = required.iter().chain(disabled);
                names.extend(listed.map(|name| name.value.as_str()));
                add_listed(passes, names);
            }
            PassTable::BuiltIn { disabled, .. } => {
                names.extend(disabled.iter().map(|name| name.value.as_str()));
            }
            PassTable::Rules { .. }
            | PassTable::Imported(_)
            | PassTable::Phase(_)
            | PassTable::Level(_) => {}
        }
    }
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

/// The key that one of TVM's stands for, with a field behind it or not, unless somebody registered that one itself.
fn own_key(key: &str, registry: &Registry) -> Option<String> {
    let own = canonical_key(key);
    let is_registered = registry
        .config_schema(key)
        .is_ok_and(|schema| schema.key == key);
    (own != key && !is_registered).then(|| own.into_owned())
}
