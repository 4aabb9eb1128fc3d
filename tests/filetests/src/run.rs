//! Running a case.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use passdock::{
    ContextSettings, Diagnostic, Module, PassContext, PassError, PassRef, Recorder, Registry,
    RulesFile, Sequential, ir,
};
use passdock_ir::verify::verify_module;
use passdock_plugin_api::StaticPlugin;
use passdock_tools::numerics::{CompareOptions, compare};
use serde::Deserialize;

use crate::definitions;
use crate::vendors::VENDORS;

/// The settings of a case, in addition to those of the context.
struct Settings {
    /// The passes, in order.
    passes: Vec<PassEntry>,
    /// The text of rules, which form the pass `rules.test`.
    rules: Option<String>,
    /// Whether the rules are first checked against the op definitions.
    check_rules: bool,
    /// The plugins of vendors.
    vendors: Vec<StaticPlugin>,
    /// Whether the number of rewrites by each rule is expected.
    rewrites: bool,
    /// Whether ONNX Runtime computes the same results before and after the passes.
    onnxruntime: bool,
    /// The context's settings. The default opt level is the highest.
    context: ContextSettings,
}

/// An entry of `passes`.
#[derive(Deserialize)]
#[serde(untagged)]
enum PassEntry {
    Name(String),
    WithOptions { name: String, options: toml::Table },
}

/// Runs a case and returns the text that should follow `; expect`: the module, unless it is unchanged, and diagnostics
/// as comments. Without passes, the module is verified and printed. With `onnxruntime`, the cases with that setting run
/// in ONNX Runtime before and after the passes, and a difference is reported.
///
/// # Errors
/// If a setting is invalid. This isn't reported as the result of a pass.
pub fn run(settings: &toml::Table, source: &str, onnxruntime: bool) -> Result<String, String> {
    let mut settings = Settings::read(settings.clone())?;
    settings.onnxruntime &= onnxruntime;
    let reported: Arc<Mutex<Vec<Diagnostic>>> = Arc::default();
    let outcome = match settings.passes.is_empty() {
        true => ir::parse_text("test.ir", source).map(|module| checked(source, &module)),
        false => run_passes(settings, source, reported.clone()),
    };
    let mut diagnostics = reported.lock().unwrap_or_else(PoisonError::into_inner);
    let mut out = outcome.unwrap_or_else(|error| {
        diagnostics.push(error.to_diagnostic());
        "\n".to_owned()
    });
    for line in diagnostics.iter().flat_map(|diagnostic| {
        let text = diagnostic.render(false);
        text.lines().map(str::to_owned).collect::<Vec<String>>()
    }) {
        _ = writeln!(out, "{}", format!("; {line}").trim_end());
    }
    Ok(out)
}

/// Returns the printed module, or the verifier's errors.
fn checked(source: &str, module: &Module) -> String {
    if let Err(violations) = verify_module(module) {
        let lines = violations
            .iter()
            .map(|violation| format!("\n; error: {violation}"));
        return lines.collect::<String>() + "\n";
    }
    match module.to_string() {
        printed if printed == source => ": unchanged\n".to_owned(),
        printed => format!("\n{printed}"),
    }
}

/// Returns the module after the passes, and whether a second run of the last pass changes nothing.
fn run_passes(
    settings: Settings,
    source: &str,
    reported: Arc<Mutex<Vec<Diagnostic>>>,
) -> Result<String, PassError> {
    let registry = registry(&settings)?;
    let passes = settings.passes.iter().map(|entry| pass(&registry, entry));
    let passes: Vec<PassRef> = passes.collect::<Result<_, _>>()?;
    let mut module: Module = ir::parse_text("test.ir", source)?;
    let input = module.clone();
    let before = module.to_string();
    let context = PassContext::builder().settings(settings.context);
    let is_over = Arc::new(AtomicBool::new(false));
    let ignore = is_over.clone();
    let recorder = Arc::new(Recorder::default());
    let context = context
        .registry(&registry)
        .recorder(recorder.clone())
        .on_diagnostic(move |diagnostic| {
            if !ignore.load(Ordering::Relaxed) {
                let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
                reported.push(diagnostic.clone());
            }
        });
    let context = context.build()?;
    for pass in &passes {
        module = context.scope(|_| match settings.rewrites {
            // The steps of a Sequential are recorded.
            true => Sequential::new([pass.clone()]).call(module),
            false => pass.call(module),
        })?;
    }
    let after = module.to_string();
    if after == before {
        return Ok(": unchanged\n".to_owned());
    }
    let mut remarks = String::new();
    if settings.rewrites {
        let records = recorder.take().into_iter();
        let rewriting = records.filter(|record| !record.rewrites.is_empty());
        remarks.extend(rewriting.map(|record| format!("; {}: {}\n", record.name, record.rewrites)));
    }
    if settings.onnxruntime {
        remarks += &difference(&input, &module)?;
    }
    is_over.store(true, Ordering::Relaxed);
    let again = passes
        .last()
        .map(|last| context.scope(|_| last.call(module)));
    let is_same = |again: Module| again.to_string() == after;
    Ok(match again.is_none_or(|again| again.is_ok_and(is_same)) {
        true => format!("\n{after}{remarks}"),
        false => format!(", and another run differs\n{after}{remarks}"),
    })
}

/// Returns the difference of the results in ONNX Runtime, as a comment.
///
/// # Errors
/// If the modules can't be compared.
fn difference(before: &Module, after: &Module) -> Result<String, PassError> {
    let difference = compare(before, after, &CompareOptions::default())?.difference();
    Ok(difference.map_or_else(String::new, |text| format!("; {text}\n")))
}

/// Returns a registry with the standard plugins, the passes of this crate, and the plugins of the case.
fn registry(settings: &Settings) -> Result<Registry, PassError> {
    let registry = Registry::new();
    for plugin in [
        passdock_plugins_onnx_ops::PLUGIN,
        passdock_plugins_relax::PLUGIN,
        passdock_plugins_tir::PLUGIN,
    ] {
        registry.load_static(plugin)?;
    }
    definitions::register(&registry)?;
    for plugin in &settings.vendors {
        registry.load_static(*plugin)?;
    }
    if let Some(rules) = &settings.rules {
        let file = RulesFile::parse("test.rules", rules)?;
        if settings.check_rules {
            file.check(&registry.op_defs())?;
        }
        registry.register(file.into_pass(None))?;
    }
    Ok(registry)
}

/// Returns the pass that an entry of `passes` names.
fn pass(registry: &Registry, entry: &PassEntry) -> Result<PassRef, PassError> {
    match entry {
        PassEntry::Name(name) => registry.get_pass(name),
        PassEntry::WithOptions { name, options } => registry.get_pass_with_options(name, options),
    }
}

impl Settings {
    fn read(table: toml::Table) -> Result<Settings, String> {
        let mut settings = Settings {
            passes: Vec::new(),
            rules: None,
            check_rules: false,
            vendors: Vec::new(),
            rewrites: false,
            onnxruntime: false,
            context: ContextSettings {
                opt_level: 4,
                ..ContextSettings::default()
            },
        };
        let context = &mut settings.context;
        for (key, value) in table {
            match key.as_str() {
                "passes" => settings.passes = read(value)?,
                "rules" => settings.rules = Some(rules(read(value)?)?),
                "check_rules" => settings.check_rules = read(value)?,
                "vendors" => settings.vendors = vendors(&read::<Vec<String>>(value)?)?,
                "rewrites" => settings.rewrites = read(value)?,
                "onnxruntime" => settings.onnxruntime = read(value)?,
                "config" => context.config = read(value)?,
                "opt_level" => context.opt_level = read(value)?,
                "required_pass" => context.required_pass = read(value)?,
                "disabled_pass" => context.disabled_pass = read(value)?,
                "disabled_rule" => context.disabled_rule = read(value)?,
                "rewrite_limit" => context.rewrite_limit = Some(read(value)?),
                key => return Err(format!("A case has no setting `{key}`.")),
            }
        }
        Ok(settings)
    }
}

/// Returns rules, which may be in a file of the repository.
fn rules(text: String) -> Result<String, String> {
    if !text.ends_with(".rules") {
        return Ok(text);
    }
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(text);
    fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the plugins with these names.
fn vendors(names: &[String]) -> Result<Vec<StaticPlugin>, String> {
    let plugin = |name: &String| {
        let vendor = VENDORS.iter().find(|(vendor, _)| vendor == name);
        let (_, plugin) = vendor.ok_or_else(|| format!("There is no vendor `{name}`."))?;
        Ok(*plugin)
    };
    names.iter().map(plugin).collect()
}

fn read<T: for<'t> Deserialize<'t>>(value: toml::Value) -> Result<T, String> {
    value
        .try_into()
        .map_err(|error: toml::de::Error| error.to_string())
}
