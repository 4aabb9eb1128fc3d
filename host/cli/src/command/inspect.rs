//! `passdock inspect`: a plugin's manifest, without loading the plugin.

use passdock::PassError;
use passdock::plugin::{Field, FieldValue, Manifest, PassKind, Plugin, SequentialSpec, toml_text};
use serde::Serialize;

use crate::args::InspectArgs;
use crate::show::{self, Table};

/// The answer that `--json` prints.
#[derive(Serialize)]
struct Answer<'m> {
    file: String,
    #[serde(flatten)]
    manifest: &'m Manifest,
}

pub(crate) fn inspect(args: InspectArgs) -> Result<u8, PassError> {
    let plugin = Plugin::open(&args.file)?;
    plugin.unknown_keys().iter().for_each(show::diagnostic);
    if args.json {
        let file = args.file.display().to_string();
        show::print_json(&Answer {
            file,
            manifest: plugin.manifest(),
        });
    } else {
        show::print(&render(plugin.manifest()));
    }
    Ok(0)
}

fn render(manifest: &Manifest) -> String {
    let plugin = &manifest.plugin;
    let mut text = format!(
        "{} {}\n  contract {} (needs {}), IR {}\n",
        plugin.name, plugin.version, plugin.abi, plugin.min_host, plugin.ir
    );
    if let Some(compiler) = &plugin.compiler {
        text.push_str(&format!("  built by {compiler}\n"));
    }
    for pass in &manifest.passes {
        let declared = &pass.declaration;
        text.push_str(&format!(
            "\n{} ({}, level {})\n",
            pass.name(),
            kind(pass.kind),
            declared.info.opt_level
        ));
        text.extend(pass.summary.lines().map(|line| format!("  {line}\n")));
        let required = &declared.info.required;
        if !required.is_empty() {
            text.push_str(&format!("  requires {}\n", required.join(", ")));
        }
        let states = &declared.states;
        let states = show::states([&states.needs, &states.establishes, &states.breaks]);
        text.extend(states.into_iter().map(|line| format!("  {line}\n")));
        if let Some(phase) = declared.phase {
            text.push_str(&format!("  asks for the phase {}\n", phase.name()));
        }
        text.push_str(&fields(&declared.options));
    }
    text.extend(manifest.sequentials.iter().map(sequential));
    for config in &manifest.configs {
        text.push_str(&format!(
            "\nconfig {}\n{}",
            config.key,
            fields(&config.fields)
        ));
    }
    for instrument in &manifest.instruments {
        text.push_str(&format!("\n{} (instrument)\n", instrument.name));
        let summary = instrument.summary.lines();
        text.extend(summary.map(|line| format!("  {line}\n")));
        text.push_str(&fields(&instrument.options));
    }
    if !manifest.ops.is_empty() {
        let count = show::count_of(manifest.ops.len() as u64, "operator");
        text.push_str(&format!("\ndefines {count}\n"));
    }
    text
}

fn sequential(sequential: &SequentialSpec) -> String {
    let info = &sequential.declaration.info;
    let mut text = format!("\n{} (Sequential, level {})\n", info.name, info.opt_level);
    text.extend(sequential.summary.lines().map(|line| format!("  {line}\n")));
    if !info.required.is_empty() {
        text.push_str(&format!("  requires {}\n", info.required.join(", ")));
    }
    for child in &sequential.passes {
        let options = child.options.iter();
        let options = options.map(|(name, value)| format!("{name} = {}", toml_text(value)));
        let options: Vec<String> = options.collect();
        text.push_str(&match options.is_empty() {
            true => format!("  runs {}\n", child.name),
            false => format!("  runs {} with {}\n", child.name, options.join(", ")),
        });
    }
    text
}

fn fields(fields: &[Field]) -> String {
    let mut table = Table::new(["  option", "type", "default", "meaning"]);
    for field in fields {
        let doc = field.doc.replace('\n', " ");
        table.row([
            format!("  {}", field.name),
            match field.rest {
                true => format!("{} (any names)", field.ty.name()),
                false => field.ty.name().to_owned(),
            },
            match field.mandatory {
                true => "(none)".to_owned(),
                false => value(&field.default),
            },
            doc,
        ]);
    }
    table.render()
}

/// The kind of a pass, as people read it.
pub(super) fn kind(kind: PassKind) -> &'static str {
    match kind {
        PassKind::Function => "function",
        PassKind::PrimFunction => "prim function",
        PassKind::Module => "module",
    }
}

/// A default, as TOML writes it.
pub(super) fn value(value: &FieldValue) -> String {
    match value {
        FieldValue::Bool(value) => value.to_string(),
        FieldValue::Int(value) => value.to_string(),
        FieldValue::Float(value) => value.to_string(),
        FieldValue::String(value) => format!("{value:?}"),
        FieldValue::Strings(value) => format!("{value:?}"),
        FieldValue::Ints(_) | FieldValue::Values(_) => value.to_string(),
    }
}
