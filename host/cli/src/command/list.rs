//! `passdock list`: what there is, and who provides it.

use passdock::pipeline::{self, Request};
use passdock::{ErrorKind, PassError, Registry};
use serde_json::{Value, json};

use super::inspect::{kind, value};
use super::list_ops;
use crate::args::{ListArgs, Listing};
use crate::show::{self, Table};
use crate::{plugins, request};

pub(crate) fn list(args: ListArgs) -> Result<u8, PassError> {
    if args.name.is_some() && !matches!(args.what, Listing::Ops) {
        let message = "Only operators are shown one by one: `passdock list ops onnx.Conv`.";
        return Err(PassError::new(ErrorKind::Usage, message));
    }
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
        status = show::fail(&no_plugins(&request));
    }
    let (json, text) = match args.what {
        Listing::Passes => passes(&registry),
        Listing::Plugins => plugins(&registry, &conflicts),
        Listing::Instruments => instruments(&registry),
        Listing::Config => config(&registry),
        Listing::Ops => list_ops::ops(&registry, args.name.as_deref())?,
        Listing::Analyses => analyses(),
    };
    if args.json {
        show::print_json(&json);
    } else {
        show::print(&text);
    }
    Ok(status)
}

fn no_plugins(request: &Request) -> PassError {
    let dirs = request.plugin_dirs.iter().chain(&request.standard_dirs);
    let dirs: Vec<String> = dirs.map(|dir| format!("`{}`", dir.display())).collect();
    let message = format!("There is no plugin in {}.", dirs.join(", "));
    PassError::new(ErrorKind::Plugin, message).help(
        "The standard plugins lie beside the executable, or in `../lib/passdock/plugins`; \
         `--plugin-dir DIR` and `PASSDOCK_PLUGIN_PATH` name other directories.",
    )
}

fn passes(registry: &Registry) -> (Value, String) {
    let mut table = Table::new([
        "pass",
        ">level",
        "works on",
        "plugin",
        "phase",
        "what it does",
    ]);
    let mut list = Vec::new();
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
            let mut entry = json!(sequential);
            entry["kind"] = json!("sequential");
            entry["plugin"] = json!(plugin.name());
            entry["file"] = json!(plugin.origin().path());
            list.push(entry);
        }
        let Some((plugin, pass)) = registry.pass_spec(&name) else {
            continue;
        };
        table.row([
            name,
            pass.declaration.info.opt_level.to_string(),
            kind(pass.kind).to_owned(),
            plugin.name().to_owned(),
            pass.declaration
                .phase
                .map(|phase| phase.name().to_owned())
                .unwrap_or_default(),
            first_line(&pass.summary),
        ]);
        let mut entry = json!(pass);
        entry["plugin"] = json!(plugin.name());
        entry["file"] = json!(plugin.origin().path());
        list.push(entry);
    }
    (json!({ "passes": list }), table.render_filled())
}

fn first_line(summary: &str) -> String {
    summary.lines().next().unwrap_or_default().to_owned()
}

fn plugins(registry: &Registry, conflicts: &[PassError]) -> (Value, String) {
    let mut table = Table::new([
        "plugin",
        "version",
        "contract",
        ">passes",
        ">ops",
        ">instruments",
        "file",
    ]);
    let mut list = Vec::new();
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
        let mut entry = json!(manifest.plugin);
        entry["passes"] = json!(passes);
        entry["ops"] = json!(manifest.ops.len());
        entry["instruments"] = json!(manifest.instruments.len());
        entry["file"] = json!(file);
        list.push(entry);
    }
    let unreadable = registry.unreadable();
    let unreadable: Vec<String> = unreadable.iter().map(|e| e.to_string()).collect();
    (
        json!({
            "plugins": list,
            "unreadable": unreadable,
            "conflicts": conflicts.iter().map(PassError::to_diagnostic).collect::<Vec<_>>(),
        }),
        table.render(),
    )
}

/// The provider of what no plugin gives.
fn built_in() -> String {
    "built in".to_owned()
}

fn instruments(registry: &Registry) -> (Value, String) {
    let mut table = Table::new(["instrument", "type", "default", "plugin", "what it does"]);
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
                match option.mandatory {
                    true => "(none)".to_owned(),
                    false => value(&option.default),
                },
                String::new(),
                option.doc.replace('\n', " "),
            ]);
        }
    }
    (json!({ "instruments": instruments }), table.render())
}

fn config(registry: &Registry) -> (Value, String) {
    let mut table = Table::new(["config option", "type", "default", "plugin", "meaning"]);
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
                value(&field.default),
                option.plugin.clone().unwrap_or_else(built_in),
                field.doc.replace('\n', " "),
            ]);
        }
    }
    (json!({ "config": options }), table.render())
}

fn analyses() -> (Value, String) {
    let mut table = Table::new(["analysis", "a record per", "record", "what it says"]);
    let mut list = Vec::new();
    for analysis in passdock::analyses::list() {
        let texts = [
            analysis.name,
            analysis.per,
            analysis.record,
            analysis.summary,
        ];
        table.row(texts.map(str::to_owned));
        let [name, per, record, summary] = texts;
        list.push(json!({ "name": name, "per": per, "record": record, "summary": summary }));
    }
    (json!({ "analyses": list }), table.render())
}
