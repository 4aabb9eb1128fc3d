//! `passdock list`: what there is, and who provides it.

use passdock::pipeline::{self, Request};
use passdock::{ErrorKind, PassError, Registry};
use serde_json::{Value, json};

use super::inspect::{kind, value};
use super::list_ops;
use crate::args::{ListArgs, Listing};
use crate::plugins;
use crate::show::{self, Align, Table};

pub(crate) fn list(args: ListArgs) -> u8 {
    if args.name.is_some() && !matches!(args.what, Listing::Ops) {
        let message = "Only operators are shown one by one: `passdock list ops onnx.Conv`.";
        return super::fail(&PassError::new(ErrorKind::Usage, message));
    }
    let request = Request {
        plugin_dirs: args.plugins.plugin_dir,
        standard_dirs: plugins::standard_dirs(),
        manifest_cache: plugins::manifest_cache(),
        ..Request::default()
    };
    let registry = plugins::registry();
    let conflicts = match pipeline::load_plugins(&registry, &request) {
        Ok(found) => found,
        Err(error) => return super::fail(&error),
    };
    for error in registry.unreadable() {
        let mut warning = PassError::from(error).to_diagnostic();
        warning.severity = passdock::Severity::Warning;
        show::diagnostic(&warning);
    }
    let plugins_found = registry.plugins();
    let odd = plugins_found
        .iter()
        .flat_map(|plugin| plugin.unknown_keys());
    odd.for_each(|odd| show::diagnostic(&odd));
    // What can be listed is listed all the same.
    let mut status = conflicts.iter().map(super::fail).max().unwrap_or(0);
    let of_plugins = matches!(args.what, Listing::Passes | Listing::Plugins | Listing::Ops);
    if plugins_found.is_empty() && of_plugins {
        status = super::fail(&no_plugins(&request));
    }
    let (json, text) = match args.what {
        Listing::Passes => passes(&registry),
        Listing::Plugins => plugins(&registry, &conflicts),
        Listing::Instruments => instruments(&registry),
        Listing::Config => config(&registry),
        Listing::Ops => match list_ops::ops(&registry, args.name.as_deref()) {
            Ok(listed) => listed,
            Err(error) => return super::fail(&error),
        },
        Listing::Analyses => analyses(),
    };
    if args.json {
        show::print_json(&json);
    } else {
        show::print(&text);
    }
    status
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
        ("pass", Align::Left),
        ("level", Align::Right),
        ("works on", Align::Left),
        ("plugin", Align::Left),
        ("phase", Align::Left),
        ("what it does", Align::Left),
    ]);
    let mut list = Vec::new();
    for name in registry.pass_names() {
        let Some((plugin, pass)) = registry.pass_spec(&name) else {
            continue;
        };
        let summary = pass.summary.lines().next().unwrap_or_default().to_owned();
        table.row([
            name,
            pass.declaration.info.opt_level.to_string(),
            kind(pass.kind).to_owned(),
            plugin.name().to_owned(),
            pass.declaration
                .phase
                .map(|phase| phase.name().to_owned())
                .unwrap_or_default(),
            summary,
        ]);
        let mut entry = json!(pass);
        entry["plugin"] = json!(plugin.name());
        entry["file"] = json!(plugin.origin().path());
        list.push(entry);
    }
    (json!({ "passes": list }), table.render_filled())
}

fn plugins(registry: &Registry, conflicts: &[PassError]) -> (Value, String) {
    let mut table = Table::new([
        ("plugin", Align::Left),
        ("version", Align::Left),
        ("contract", Align::Left),
        ("passes", Align::Right),
        ("ops", Align::Right),
        ("instruments", Align::Right),
        ("file", Align::Left),
    ]);
    let mut list = Vec::new();
    for plugin in registry.plugins() {
        let manifest = plugin.manifest();
        table.row([
            plugin.name().to_owned(),
            manifest.plugin.version.clone(),
            manifest.plugin.abi.to_string(),
            manifest.passes.len().to_string(),
            manifest.ops.len().to_string(),
            manifest.instruments.len().to_string(),
            plugin
                .origin()
                .path()
                .map(|path| path.display().to_string())
                .unwrap_or_default(),
        ]);
        let mut entry = json!(manifest.plugin);
        entry["passes"] = json!(manifest.passes.len());
        entry["ops"] = json!(manifest.ops.len());
        entry["instruments"] = json!(manifest.instruments.len());
        entry["file"] = json!(plugin.origin().path());
        list.push(entry);
    }
    let unreadable: Vec<String> = registry
        .unreadable()
        .iter()
        .map(|e| e.to_string())
        .collect();
    (
        json!({
            "plugins": list,
            "unreadable": unreadable,
            "conflicts": conflicts.iter().map(PassError::to_diagnostic).collect::<Vec<_>>(),
        }),
        table.render(),
    )
}

fn instruments(registry: &Registry) -> (Value, String) {
    let mut table = Table::new([
        ("instrument", Align::Left),
        ("type", Align::Left),
        ("default", Align::Left),
        ("plugin", Align::Left),
        ("what it does", Align::Left),
    ]);
    let instruments = registry.instruments();
    for instrument in &instruments {
        table.row([
            instrument.name.clone(),
            String::new(),
            String::new(),
            instrument
                .plugin
                .as_deref()
                .unwrap_or("built in")
                .to_owned(),
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
    let mut table = Table::new([
        ("config option", Align::Left),
        ("type", Align::Left),
        ("default", Align::Left),
        ("plugin", Align::Left),
        ("meaning", Align::Left),
    ]);
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
                option
                    .plugin
                    .clone()
                    .unwrap_or_else(|| "built in".to_owned()),
                field.doc.replace('\n', " "),
            ]);
        }
    }
    (json!({ "config": options }), table.render())
}

fn analyses() -> (Value, String) {
    let mut table = Table::new([
        ("analysis", Align::Left),
        ("a record per", Align::Left),
        ("record", Align::Left),
        ("what it says", Align::Left),
    ]);
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
