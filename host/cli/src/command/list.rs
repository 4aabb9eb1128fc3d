//! `passdock list`: what there is, and who provides it.

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use passdock::config::ConfigInfo;
use passdock::diagnostic::suggest;
use passdock::pipeline::{self, BUILT_IN, BuiltInPipeline};
use passdock::plugin::{ManifestPass, ManifestSequential, Plugin, Schema};
use passdock::{ErrorKind, PassError, Registry};
use serde::Serialize;
use serde_json::{Value, json};

use super::worker::{self, Files};
use super::{inspect, list_ops};
use crate::args::list::{ListArgs, Listing};
use crate::in_full::{self, default, kind};
use crate::show::{self, TextTable};
use crate::{plugins, request};

/// What is shown of a list: JSON and text.
type Shown = Result<(Value, String), PassError>;

pub(crate) fn list(args: ListArgs) -> Result<u8, PassError> {
    match args.what {
        // Definitions say themselves what they are.
        Listing::Ops => {
            let (process, json) = (args.process.clone(), args.json);
            worker::whole(&process, json, Files::default(), || list_here(args))
        }
        _ => list_here(args),
    }
}

fn list_here(args: ListArgs) -> Result<u8, PassError> {
    let request = request::of_plugins(args.plugins);
    let registry = plugins::registry();
    let conflicts = pipeline::load_plugins(&registry, &request)?;
    registry.unreadable().into_iter().for_each(show::warn);
    let plugins_found = registry.plugins();
    for plugin in &plugins_found {
        plugin.unknown_keys().iter().for_each(show::diagnostic);
    }
    // What can be listed is listed all the same.
    let mut status = conflicts.iter().map(show::fail).max().unwrap_or(0);
    let of_plugins = matches!(args.what, Listing::Passes | Listing::Plugins | Listing::Ops);
    if plugins_found.is_empty() && of_plugins {
        status = show::fail(&pipeline::no_plugins(&request));
    }
    let name = args.name.as_deref();
    let (json, text) = match (args.what, name) {
        (Listing::Passes, None) => passes(&registry),
        (Listing::Passes, Some(name)) if request::is_rules(Path::new(name)) => rules(name)?,
        (Listing::Passes, Some(name)) => pass(&registry, name)?,
        (Listing::Plugins, None) => plugins(&registry, &conflicts),
        (Listing::Plugins, Some(name)) => plugin(&registry, name)?,
        (Listing::Instruments, None) => instruments(&registry),
        (Listing::Instruments, Some(name)) => instrument(&registry, name)?,
        (Listing::Config, None) => config(&registry),
        (Listing::Config, Some(name)) => config_key(&registry, name)?,
        (Listing::Ops, name) => list_ops::ops(&registry, name)?,
        (Listing::Analyses, name) => analyses(name)?,
        (Listing::Pipelines, name) => pipelines(name)?,
    };
    if args.json {
        show::print_json(&json);
    } else {
        show::print(&text);
    }
    Ok(status)
}

fn passes(registry: &Registry) -> (Value, String) {
    let columns = [
        "pass",
        ">level",
        "works on",
        "plugin",
        "phase",
        "what it does",
    ];
    let (mut table, mut list) = (TextTable::new(columns), Vec::new());
    for name in registry.pass_names() {
        if let Some((plugin, sequential)) = registry.sequential_spec(&name) {
            table.row([
                name.clone(),
                sequential.declaration.info.opt_level.to_string(),
                "Sequential".to_owned(),
                plugin.name().to_owned(),
                String::new(),
                first_line(&sequential.summary),
            ]);
            list.push(sequential_json(&plugin, &sequential));
            continue;
        }
        let Some((plugin, pass)) = spec(registry, &name) else {
            continue;
        };
        let (plugin, declared) = (plugin.as_deref(), &pass.declaration);
        let phase = declared.phase.map(|phase| phase.name());
        table.row([
            name,
            declared.info.opt_level.to_string(),
            kind(pass.kind).to_owned(),
            plugin.map_or("", Plugin::name).to_owned(),
            phase.unwrap_or_default().to_owned(),
            first_line(&pass.summary),
        ]);
        list.push(pass_json(plugin, &pass));
    }
    let text = table.within(show::columns()).render_filled();
    (json!({ "passes": list }), text)
}

fn first_line(summary: &str) -> String {
    summary.lines().next().unwrap_or_default().to_owned()
}

/// A pass and its plugin, unless it is the command's own.
fn spec(registry: &Registry, name: &str) -> Option<(Option<Arc<Plugin>>, ManifestPass)> {
    if let Some((plugin, pass)) = registry.pass_spec(name) {
        return Some((Some(plugin), pass));
    }
    let name = registry.canonical(name);
    let pass = ManifestPass {
        kind: registry.pass_kind(&name)?,
        declaration: registry.declarations().remove(&name)?,
        summary: plugins::OWN_PASS.to_owned(),
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

fn pass(registry: &Registry, name: &str) -> Shown {
    if let Some((plugin, sequential)) = registry.sequential_spec(name) {
        let entry = sequential_json(&plugin, &sequential);
        let text = in_full::sequential(&sequential, Some(&plugin));
        return Ok((json!({ "passes": [entry] }), text));
    }
    let Some((plugin, pass)) = spec(registry, name) else {
        return Err(registry.get_pass(name).err().unwrap_or_else(|| {
            let message = format!("Nothing is known of the pass `{name}`.");
            PassError::new(ErrorKind::UnknownPass, message)
        }));
    };
    let (plugin, entry) = (plugin.as_deref(), pass_json(plugin.as_deref(), &pass));
    let text = in_full::pass(&pass, plugin);
    Ok((json!({ "passes": [entry] }), text))
}

/// The pass of a file of rules.
fn rules(path: &str) -> Shown {
    let file = pipeline::read_rules(Path::new(path))?;
    let pass = file.clone().into_pass(None);
    let info = pass.info();
    let rules: Vec<Value> = file.rules().iter().map(inspect::rule).collect();
    let entry = json!({
        "name": info.name,
        "kind": "function",
        "opt_level": info.opt_level,
        "required": info.required,
        "file": path,
        "rules": rules,
    });
    let text = in_full::rules(info, path) + "\n" + &inspect::rules_table(file.rules());
    Ok((json!({ "passes": [entry] }), text))
}

fn plugins(registry: &Registry, conflicts: &[PassError]) -> (Value, String) {
    let columns = [
        "plugin",
        "version",
        "contract",
        ">passes",
        ">ops",
        ">instruments",
        "file",
    ];
    let (mut table, mut list) = (TextTable::new(columns), Vec::new());
    for plugin in registry.plugins() {
        let manifest = plugin.manifest();
        let file = plugin.origin().path();
        // A Sequential is a pass.
        let passes = manifest.passes.len() + manifest.sequentials.len();
        table.row([
            plugin.name().to_owned(),
            manifest.plugin.version.clone(),
            manifest.plugin.abi.to_string(),
            passes.to_string(),
            manifest.ops.len().to_string(),
            manifest.instruments.len().to_string(),
            file.map_or_else(String::new, |path| path.display().to_string()),
        ]);
        list.push(plugin_json(&plugin));
    }
    let unreadable = registry.unreadable();
    let unreadable: Vec<String> = unreadable.iter().map(|e| e.to_string()).collect();
    let conflicts: Vec<_> = conflicts.iter().map(PassError::to_diagnostic).collect();
    let json = json!({ "plugins": list, "unreadable": unreadable, "conflicts": conflicts });
    (json, table.within(show::columns()).render())
}

fn plugin_json(plugin: &Plugin) -> Value {
    let manifest = plugin.manifest();
    let mut entry = json!(manifest.plugin);
    entry["passes"] = json!(manifest.passes.len());
    entry["ops"] = json!(manifest.ops.len());
    entry["instruments"] = json!(manifest.instruments.len());
    entry["file"] = json!(plugin.origin().path());
    entry
}

/// A plugin by its name, with its whole manifest; several files may say that they are it.
fn plugin(registry: &Registry, name: &str) -> Shown {
    let plugins = registry.plugins();
    let named = plugins.iter().filter(|plugin| plugin.name() == name);
    let (mut list, mut texts) = (Vec::new(), Vec::new());
    for plugin in named {
        let manifest = plugin.manifest();
        let mut entry = plugin_json(plugin);
        entry["manifest"] = json!(**manifest);
        list.push(entry);
        texts.push(in_full::plugin(manifest, plugin.origin().path()));
    }
    if list.is_empty() {
        let names = plugins.iter().map(|plugin| plugin.name());
        return Err(unknown("plugin", name, names));
    }
    Ok((json!({ "plugins": list }), texts.join("\n")))
}

/// The error about a name that isn't in a list.
fn unknown<'n>(what: &str, name: &str, names: impl IntoIterator<Item = &'n str>) -> PassError {
    let names: Vec<&str> = names.into_iter().collect();
    let error = PassError::new(ErrorKind::Usage, format!("There is no {what} `{name}`."));
    let near = suggest::help(name, names.iter().copied());
    error.help(near.unwrap_or_else(|| format!("There are: {}.", suggest::listed(names))))
}

/// The plugin of a name, and its file; or that no plugin gives it.
fn provider(registry: &Registry, plugin: Option<&str>) -> (String, Option<PathBuf>) {
    let Some(name) = plugin else {
        return (built_in(), None);
    };
    let plugins = registry.plugins();
    match plugins.iter().find(|plugin| plugin.name() == name) {
        Some(plugin) => {
            let file = plugin.origin().path().map(Path::to_path_buf);
            (in_full::provider(plugin), file)
        }
        None => (format!("of plugin {name}"), None),
    }
}

/// The provider of what no plugin gives.
fn built_in() -> String {
    "built in".to_owned()
}

fn instruments(registry: &Registry) -> (Value, String) {
    let mut table = TextTable::new(["instrument", "type", "default", "plugin", "what it does"]);
    let instruments = registry.instruments();
    for instrument in &instruments {
        table.row([
            instrument.name.clone(),
            String::new(),
            String::new(),
            instrument.plugin.clone().unwrap_or_else(built_in),
            instrument.summary.replace('\n', " "),
        ]);
        for option in &instrument.options {
            table.row([
                format!("  {}", option.name),
                option.takes(),
                default(option),
                String::new(),
                option.doc.replace('\n', " "),
            ]);
        }
    }
    let text = table.within(show::columns()).render();
    (json!({ "instruments": instruments }), text)
}

fn instrument(registry: &Registry, name: &str) -> Shown {
    let spec = registry.instrument_spec(name)?;
    let (provider, file) = provider(registry, spec.plugin.as_deref());
    let about = iter::once(provider).chain(in_full::also_called(&spec.aliases));
    let text = in_full::instrument(&spec.name, &spec.summary, &spec.options, about);
    let mut entry = json!(spec);
    entry["file"] = json!(file);
    Ok((json!({ "instruments": [entry] }), text))
}

fn config(registry: &Registry) -> (Value, String) {
    let mut table = TextTable::new(["config option", "type", "default", "plugin", "meaning"]);
    let options = registry.list_configs();
    for option in &options {
        for field in &option.schema.fields {
            let key = match field.name.as_str() {
                "" => option.schema.key.clone(),
                name => format!("{}.{name}", option.schema.key),
            };
            table.row([
                key,
                field.takes(),
                default(field),
                option.plugin.clone().unwrap_or_else(built_in),
                field.doc.replace('\n', " "),
            ]);
        }
    }
    let text = table.within(show::columns()).render();
    (json!({ "config": options }), text)
}

/// A config key by its name, or by that of a field of it.
fn config_key(registry: &Registry, name: &str) -> Shown {
    let options = registry.list_configs();
    let is_named = |option: &&ConfigInfo| {
        let key = option.schema.key.as_str();
        let field = name
            .strip_prefix(key)
            .and_then(|rest| rest.strip_prefix('.'));
        let has = |field| option.schema.fields.iter().any(|known| known.name == field);
        name == key || field.is_some_and(|field| !field.is_empty() && has(field))
    };
    let Some(option) = options.iter().find(is_named) else {
        let keys: Vec<String> = options.iter().flat_map(|o| names_of(&o.schema)).collect();
        let keys = keys.iter().map(String::as_str);
        return Err(unknown("config option", name, keys));
    };
    let (provider, file) = provider(registry, option.plugin.as_deref());
    let text = in_full::config(&option.schema, Some(&provider));
    let mut entry = json!(option);
    entry["file"] = json!(file);
    Ok((json!({ "config": [entry] }), text))
}

/// The names of a config key and of its fields.
fn names_of(schema: &Schema) -> Vec<String> {
    let fields = schema.fields.iter().map(|field| field.name.as_str());
    let fields = fields.filter(|field| !field.is_empty());
    let fields = fields.map(|field| format!("{}.{field}", schema.key));
    std::iter::once(schema.key.clone()).chain(fields).collect()
}

/// The pipelines that are inside the program, or the text of the one of a name.
fn pipelines(name: Option<&str>) -> Shown {
    let entry = |pipeline: &BuiltInPipeline| {
        let (name, summary, text) = (&pipeline.name, pipeline.summary(), &pipeline.text);
        json!({ "name": name, "summary": summary, "text": text })
    };
    if let Some(name) = name {
        let pipeline = BuiltInPipeline::named(name)?;
        let json = json!({ "pipelines": [entry(&pipeline)] });
        return Ok((json, pipeline.text.to_owned()));
    }
    let mut table = TextTable::new(["pipeline", "what it does"]);
    for pipeline in &BUILT_IN {
        table.row([pipeline.name, pipeline.summary()].map(str::to_owned));
    }
    let list: Vec<Value> = BUILT_IN.iter().map(entry).collect();
    let text = table.within(show::columns()).render();
    Ok((json!({ "pipelines": list }), text))
}

/// The analyses, or the one of a name.
fn analyses(name: Option<&str>) -> Shown {
    let mut table = TextTable::new(["analysis", "a record per", "record", "what it says"]);
    let mut list = Vec::new();
    let all = passdock::analyses::list();
    for analysis in all {
        if name.is_some_and(|name| analysis.name != name) {
            continue;
        }
        let (per, record, summary) = (analysis.per, analysis.record, analysis.summary);
        table.row([analysis.name, per, record, summary].map(str::to_owned));
        list.push(
            json!({ "name": analysis.name, "per": per, "record": record, "summary": summary }),
        );
    }
    if let (Some(name), true) = (name, list.is_empty()) {
        let names = all.iter().map(|analysis| analysis.name);
        return Err(unknown("analysis", name, names));
    }
    let text = table.within(show::columns()).render();
    Ok((json!({ "analyses": list }), text))
}
