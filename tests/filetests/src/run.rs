//! Runs a case.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use passdock::{
    ContextSettings, Diagnostic, ErrorKind, Module, PassContext, PassError, PassRef, Registry,
    RulesFile, ir,
};

use passdock_ir::verify::verify_module;

use crate::definitions;
use crate::vendors::VENDORS;

/// What a case may set, apart from the context's own settings.
struct Settings {
    /// The passes, in order, by name or as a table of `name` and `options`.
    passes: Vec<toml::Value>,
    /// Rules, which are the pass `rules.test`.
    rules: Option<String>,
    /// The vendors' plugins.
    vendors: Vec<String>,
    /// The context's settings; the opt level is the highest unless it is set.
    context: ContextSettings,
}

/// Runs a case, and returns what follows `; expect`: the module, unless it is unchanged, and what was
/// reported, as comments. Without passes, the module is verified and printed.
pub fn run(settings: &toml::Table, source: &str) -> String {
    let reported: Arc<Mutex<Vec<Diagnostic>>> = Arc::default();
    let outcome = match settings.is_empty() {
        true => ir::parse_text("test.ir", source).map(|module| checked(source, &module)),
        false => run_passes(settings, source, reported.clone()).map(Outcome::into_text),
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
    out
}

/// Returns the printed module, or what is wrong with it.
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

/// What passes made of a module, as text.
struct Outcome {
    before: String,
    after: String,
    /// Whether the last pass leaves its own result as it is.
    settles: bool,
}

impl Outcome {
    fn into_text(self) -> String {
        match self.settles {
            _ if self.before == self.after => ": unchanged\n".to_owned(),
            true => format!("\n{}", self.after),
            false => format!(", and another run changes it\n{}", self.after),
        }
    }
}

fn run_passes(
    settings: &toml::Table,
    source: &str,
    reported: Arc<Mutex<Vec<Diagnostic>>>,
) -> Result<Outcome, PassError> {
    let settings = Settings::read(settings.clone())?;
    let registry = registry(&settings)?;
    let passes = settings.passes.iter().map(|entry| pass(&registry, entry));
    let passes: Vec<PassRef> = passes.collect::<Result<_, _>>()?;
    let mut module: Module = ir::parse_text("test.ir", source)?;
    let before = module.to_string();
    let context = PassContext::builder().settings(settings.context);
    let is_over = Arc::new(AtomicBool::new(false));
    let ignore = is_over.clone();
    let context = context
        .registry(&registry)
        .on_diagnostic(move |diagnostic| {
            if !ignore.load(Ordering::Relaxed) {
                let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
                reported.push(diagnostic.clone());
            }
        });
    let context = context.build()?;
    for pass in &passes {
        module = context.scope(|_| pass.call(module))?;
    }
    let after = module.to_string();
    is_over.store(true, Ordering::Relaxed);
    let again = match passes.last() {
        Some(last) => context.scope(|_| last.call(module)),
        None => Ok(module),
    };
    let settles = again.is_ok_and(|again| again.to_string() == after);
    Ok(Outcome {
        before,
        after,
        settles,
    })
}

/// Returns the standard passes and operators, those of these tests, and what the case adds.
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
    for name in &settings.vendors {
        let vendor = VENDORS.iter().find(|(vendor, _)| vendor == name);
        let (_, plugin) = vendor.ok_or_else(|| wrong(&format!("There is no vendor `{name}`.")))?;
        registry.load_static(*plugin)?;
    }
    if let Some(rules) = &settings.rules {
        let file = RulesFile::parse("test.rules", rules)?;
        registry.register(file.into_pass(None))?;
    }
    Ok(registry)
}

/// Returns the pass that an entry of `passes` names.
fn pass(registry: &Registry, entry: &toml::Value) -> Result<PassRef, PassError> {
    let options = entry.get("options").and_then(toml::Value::as_table);
    let name = entry.as_str().or_else(|| entry.get("name")?.as_str());
    match (name, options) {
        (Some(name), None) => registry.get_pass(name),
        (Some(name), Some(options)) => registry.get_pass_with_options(name, options),
        (None, _) => Err(wrong(
            "An entry of `passes` is a name, or a table with `name`.",
        )),
    }
}

impl Settings {
    fn read(mut table: toml::Table) -> Result<Settings, PassError> {
        let mut context = ContextSettings {
            opt_level: 4,
            ..ContextSettings::default()
        };
        let mut passes = Vec::new();
        let mut rules = None;
        let mut vendors = Vec::new();
        for (key, value) in std::mem::take(&mut table) {
            match (key.as_str(), value) {
                ("passes", toml::Value::Array(entries)) => passes = entries,
                ("rules", toml::Value::String(text)) => rules = Some(text),
                ("vendors", value) => vendors = read(value)?,
                ("config", toml::Value::Table(config)) => {
                    context.config = config.into_iter().collect()
                }
                ("opt_level", value) => context.opt_level = read(value)?,
                ("required_pass", value) => context.required_pass = read(value)?,
                ("disabled_pass", value) => context.disabled_pass = read(value)?,
                ("disabled_rule", value) => context.disabled_rule = read(value)?,
                ("rewrite_limit", value) => context.rewrite_limit = Some(read(value)?),
                (key, _) => {
                    return Err(wrong(&format!(
                        "A case has no setting `{key}` of this type."
                    )));
                }
            }
        }
        Ok(Settings {
            passes,
            rules,
            vendors,
            context,
        })
    }
}

fn read<T: for<'t> serde::Deserialize<'t>>(value: toml::Value) -> Result<T, PassError> {
    value
        .try_into()
        .map_err(|error: toml::de::Error| wrong(&error.to_string()))
}

fn wrong(message: &str) -> PassError {
    PassError::new(ErrorKind::Config, message)
}
