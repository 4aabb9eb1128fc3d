//! `passdock list`: lists passes, plugins and other entries with their provider.

mod ops;

use std::iter;
use std::path::Path;
use std::sync::Arc;

use passdock::config::ConfigInfo;
use passdock::diagnostic::suggest;
use passdock::pipeline::{self, BUILT_IN, BuiltInPipeline};
use passdock::plugin::{Field, ManifestPass, ManifestSequential, Plugin, Schema};
use passdock::{ErrorKind, PassError, Registry};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::list::{ListArgs, Listing};
use crate::in_full::{self, default, kind};
use crate::show::{self, TextTable};
use crate::{plugins, request};

/// The output of a list, or of its entry with a given name: JSON and text.
type ListOutput = Result<(Value, String), PassError>;

pub(crate) fn list(args: ListArgs) -> Result<u8, PassError> {
    let request = request::from_plugin_args(args.plugins);
    let registry = plugins::registry();
    let conflicts = pipeline::load_plugins(&registry, &request)?;
    registry.unreadable().into_iter().for_each(show::warn);
    let registered = registry.plugins();
    for plugin in &registered {
        plugin.unknown_keys().iter().for_each(show::diagnostic);
    }
    // Usable entries are listed despite the conflicts.
    let mut status = conflicts.iter().map(show::fail).max().unwrap_or(0);
    let needs_plugins = matches!(args.what, Listing::Passes | Listing::Plugins | Listing::Ops);
    if registered.is_empty() && needs_plugins {
        status = show::fail(&pipeline::no_plugins(&request));
    }
    let name = args.name.as_deref();
    let (json, text) = match (args.what, name) {
        (Listing::Passes, Some(name)) if request::is_rules(Path::new(name)) => rules(name),
        (Listing::Passes, name) => passes(&registry, name),
        (Listing::Plugins, name) => plugins(&registry, &conflicts, name),
        (Listing::Instruments, name) => instruments(&registry, name),
        (Listing::Config, name) => config(&registry, name),
        (Listing::Ops, name) => ops::ops(&registry, name),
        (Listing::Analyses, name) => analyses(name),
        (Listing::Pipelines, name) => pipelines(name),
    }?;
    match args.json {
        true => show::print_json(&json),
        false => show::print(&text),
    }
    Ok(status)
}

/// The entries of a list: a row per entry, its JSON, and its details as text.
struct Entries<const N: usize> {
    table: TextTable<N>,
    json: Vec<Value>,
    full: Vec<String>,
}

impl<const N: usize> Entries<N> {
    fn new(headings: [&'static str; N]) -> Entries<N> {
        Entries {
            table: TextTable::new(headings),
            json: Vec::new(),
            full: Vec::new(),
        }
    }

    fn add(&mut self, json: Value, full: String) {
        self.json.push(json);
        self.full.push(full);
    }

    /// Returns an error if no entry has the requested name.
    fn check_name<'n>(
        &self,
        what: &str,
        name: Option<&str>,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), PassError> {
        let Some(name) = name.filter(|_| self.json.is_empty()) else {
            return Ok(());
        };
        let names: Vec<&str> = names.into_iter().collect();
        let error = PassError::new(ErrorKind::Usage, format!("unknown {what} `{name}`"));
        let names = || names.iter().copied();
        Err(error.help(suggest::help_or_list(
            name,
            names,
            &format!("valid {what}s"),
        )))
    }

    /// Returns the entries as JSON under a key, and as text: a table, or the details of the named entry.
    fn output(self, key: &str, name: Option<&str>) -> (Value, String) {
        let text = match name {
            None => self.table.within(show::columns()).render(),
            Some(_) => self.full.join("\n"),
        };
        (json!({ key: self.json }), text)
    }
}

fn passes(registry: &Registry, name: Option<&str>) -> ListOutput {
    let mut entries = Entries::new([
        "pass",
        ">level",
        "works on",
        "plugin",
        "phase",
        "what it does",
    ]);
    let names = match name {
        None => registry.pass_names(),
        Some(name) => vec![registry.canonical(name)],
    };
    for name in names {
        let (plugin, info, works_on, phase, summary) =
            if let Some((plugin, sequential)) = registry.sequential_spec(&name) {
                let json = sequential_json(&plugin, &sequential);
                entries.add(json, in_full::sequential(&sequential, Some(&plugin)));
                let info = sequential.declaration.info;
                (Some(plugin), info, "Sequential", None, sequential.summary)
            } else if let Some((plugin, pass)) = spec(registry, &name) {
                let json = pass_json(plugin.as_deref(), &pass);
                entries.add(json, in_full::pass(&pass, plugin.as_deref()));
                let (info, phase) = (pass.declaration.info, pass.declaration.phase);
                (plugin, info, kind(pass.kind), phase, pass.summary)
            } else {
                continue;
            };
        entries.table.row([
            name,
            info.opt_level.to_string(),
            works_on.to_owned(),
            plugin.map_or(String::new(), |plugin| plugin.name().to_owned()),
            phase.map_or("", |phase| phase.name()).to_owned(),
            summary.lines().next().unwrap_or_default().to_owned(),
        ]);
    }
    if let (Some(name), true) = (name, entries.json.is_empty()) {
        return Err(registry.get_pass(name).err().unwrap_or_else(|| {
            let message = format!("unknown pass `{name}`");
            PassError::new(ErrorKind::UnknownPass, message)
        }));
    }
    Ok(entries.output("passes", name))
}

/// Returns a pass and its plugin, which is `None` for passes of the command itself.
fn spec(registry: &Registry, name: &str) -> Option<(Option<Arc<Plugin>>, ManifestPass)> {
    if let Some((plugin, pass)) = registry.pass_spec(name) {
        return Some((Some(plugin), pass));
    }
    let pass = ManifestPass {
        kind: registry.pass_kind(name)?,
        declaration: registry.declaration(name)?,
        summary: plugins::HOST_PASS_SUMMARY.to_owned(),
    };
    Some((None, pass))
}

fn pass_json(plugin: Option<&Plugin>, pass: &impl Serialize) -> Value {
    let mut entry = json!(pass);
    entry["plugin"] = json!(plugin.map(Plugin::name));
    entry["file"] = json!(plugin.and_then(|plugin| plugin.origin().path()));
    entry
}

fn sequential_json(plugin: &Plugin, sequential: &ManifestSequential) -> Value {
    let mut entry = pass_json(Some(plugin), sequential);
    entry["kind"] = json!("sequential");
    entry
}

/// Lists the pass of a .rules file.
fn rules(path: &str) -> ListOutput {
    let file = pipeline::read_rules(Path::new(path))?;
    let pass = file.clone().into_pass(None);
    let info = pass.info();
    let rules: Vec<Value> = file.rules().iter().map(in_full::rule).collect();
    let entry = json!({
        "name": info.name,
        "kind": "function",
        "opt_level": info.opt_level,
        "required": info.required,
        "file": path,
        "rules": rules,
    });
    let text = in_full::rules(info, path) + "\n" + &in_full::rules_table(file.rules());
    Ok((json!({ "passes": [entry] }), text))
}

/// Lists the plugins. Several files may contain a plugin of the same name.
fn plugins(registry: &Registry, conflicts: &[PassError], name: Option<&str>) -> ListOutput {
    let mut entries = Entries::new([
        "plugin",
        "version",
        "ABI",
        ">passes",
        ">ops",
        ">instruments",
        "file",
    ]);
    let all = registry.plugins();
    let is_named = |plugin: &&Arc<Plugin>| name.is_none_or(|name| plugin.name() == name);
    for plugin in all.iter().filter(is_named) {
        let manifest = plugin.manifest();
        let file = plugin.origin().path();
        let (ops, instruments) = (manifest.ops.len(), manifest.instruments.len());
        // A Sequential counts as a pass.
        let passes = manifest.passes.len() + manifest.sequentials.len();
        entries.table.row([
            plugin.name().to_owned(),
            manifest.plugin.version.clone(),
            manifest.plugin.abi.to_string(),
            passes.to_string(),
            ops.to_string(),
            instruments.to_string(),
            file.map_or_else(String::new, |path| path.display().to_string()),
        ]);
        let mut json = json!(manifest.plugin);
        json["passes"] = json!(passes);
        json["ops"] = json!(ops);
        json["instruments"] = json!(instruments);
        json["file"] = json!(file);
        if name.is_some() {
            json["manifest"] = json!(**manifest);
        }
        entries.add(json, in_full::plugin(manifest, file));
    }
    entries.check_name("plugin", name, all.iter().map(|plugin| plugin.name()))?;
    let (mut json, text) = entries.output("plugins", name);
    let unreadable = registry.unreadable();
    let unreadable: Vec<String> = unreadable.iter().map(|e| e.to_string()).collect();
    let conflicts: Vec<_> = conflicts.iter().map(PassError::to_diagnostic).collect();
    (json["unreadable"], json["conflicts"]) = (json!(unreadable), json!(conflicts));
    Ok((json, text))
}

/// Adds the file of the plugin that provides an entry to its JSON, and returns the provider as text.
fn add_provider(registry: &Registry, plugin: Option<&str>, entry: &mut Value) -> String {
    let provider = plugin.and_then(|name| registry.plugin(name));
    let origin = provider.as_ref().map(|provider| provider.origin());
    entry["file"] = json!(origin.and_then(|origin| origin.path()));
    match (&provider, plugin) {
        (Some(provider), _) => in_full::provider(provider),
        (None, Some(name)) => format!("of plugin {name}"),
        (None, None) => BUILT_IN_PROVIDER.to_owned(),
    }
}

/// The provider of entries that don't come from a plugin.
const BUILT_IN_PROVIDER: &str = "built in";

fn instruments(registry: &Registry, name: Option<&str>) -> ListOutput {
    let columns = ["instrument", "type", "default", "plugin", "what it does"];
    let mut entries = Entries::new(columns);
    let instruments = match name {
        None => registry.instruments(),
        Some(name) => vec![registry.instrument_spec(name)?],
    };
    for spec in &instruments {
        let plugin = spec.plugin.as_deref();
        entries.table.row([
            spec.name.clone(),
            String::new(),
            String::new(),
            plugin.unwrap_or(BUILT_IN_PROVIDER).to_owned(),
            spec.summary.replace('\n', " "),
        ]);
        let mut json = json!(spec);
        let provider = add_provider(registry, plugin, &mut json);
        let about = iter::once(provider).chain(in_full::also_called(&spec.aliases));
        let full = in_full::instrument(&spec.name, &spec.summary, &spec.options, about);
        entries.add(json, full);
        for option in &spec.options {
            let name = format!("  {}", option.name);
            entries.table.row(field_row(name, option, ""));
        }
    }
    Ok(entries.output("instruments", name))
}

/// Returns the row of an option or a config field.
fn field_row(name: String, field: &Field, plugin: &str) -> [String; 5] {
    let doc = field.doc.replace('\n', " ");
    [
        name,
        field.accepted_values(),
        default(field),
        plugin.to_owned(),
        doc,
    ]
}

/// Lists the config keys, or the one with a given name or with a field of that name.
fn config(registry: &Registry, name: Option<&str>) -> ListOutput {
    let mut entries = Entries::new(["config option", "type", "default", "plugin", "meaning"]);
    let options = registry.list_configs();
    let is_named = |option: &&ConfigInfo| {
        name.is_none_or(|name| {
            let mut names = iter::once(option.schema.key.clone()).chain(field_keys(&option.schema));
            names.any(|key| key == name)
        })
    };
    for option in options.iter().filter(is_named) {
        let (schema, plugin) = (&option.schema, option.plugin.as_deref());
        for (field, key) in schema.fields.iter().zip(field_keys(schema)) {
            let row = field_row(key, field, plugin.unwrap_or(BUILT_IN_PROVIDER));
            entries.table.row(row);
        }
        let mut json = json!(option);
        let provider = add_provider(registry, plugin, &mut json);
        entries.add(json, in_full::config(schema, Some(&provider)));
    }
    let keys = options.iter().map(|option| &*option.schema.key);
    let fields: Vec<String> = options.iter().flat_map(|o| field_keys(&o.schema)).collect();
    let names = keys.chain(fields.iter().map(String::as_str));
    entries.check_name("config option", name, names)?;
    Ok(entries.output("config", name))
}

/// Returns the full names of a config key's fields. The field of a scalar is named by the key itself.
fn field_keys(schema: &Schema) -> impl Iterator<Item = String> {
    schema.fields.iter().map(|field| match &*field.name {
        "" => schema.key.clone(),
        name => format!("{}.{name}", schema.key),
    })
}

/// Lists the built-in pipelines, or shows the text of the one with a given name.
fn pipelines(name: Option<&str>) -> ListOutput {
    let mut entries = Entries::new(["pipeline", "what it does"]);
    let named = name.map(BuiltInPipeline::named).transpose()?;
    for pipeline in named.map_or(BUILT_IN.to_vec(), |named| vec![named]) {
        let (name, summary, text) = (pipeline.name, pipeline.summary(), pipeline.text);
        let json = json!({ "name": name, "summary": summary, "text": text });
        entries.table.row([name, summary].map(str::to_owned));
        entries.add(json, text.to_owned());
    }
    Ok(entries.output("pipelines", name))
}

/// Lists the analyses, or the one with a given name.
fn analyses(name: Option<&str>) -> ListOutput {
    let mut entries = Entries::new(["analysis", "a record per", "record", "content"]);
    let all = passdock::analyses::list();
    for analysis in all {
        let (entity, record, summary) = (analysis.entity, analysis.record, analysis.summary);
        if name.is_some_and(|name| analysis.name != name) {
            continue;
        }
        let name = analysis.name;
        let json = json!({ "name": name, "entity": entity, "record": record, "summary": summary });
        entries
            .table
            .row([name, entity, record, summary].map(str::to_owned));
        entries.add(json, String::new());
    }
    entries.check_name("analysis", name, all.iter().map(|analysis| analysis.name))?;
    // The table row has all details of an analysis.
    Ok(entries.output("analyses", None))
}
