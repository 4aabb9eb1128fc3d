//! Details of a plugin, pass, instrument, config key or rule, as `inspect` and `list … NAME` show them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use passdock::PassInfo;
use passdock::plugin::{Field, Manifest, ManifestPass, OpSpec, PanicStrategy, PassKind};
use passdock::plugin::{ManifestPlugin, ManifestSequential, Plugin, Schema, toml_text};
use passdock::sdk::rewrite::Rule;
use passdock::trust;
use serde_json::{Value, json};

use crate::show::{self, TextTable};

/// Renders everything in a plugin's manifest, and the path of its file.
pub(crate) fn plugin(manifest: &Manifest, file: Option<&Path>) -> String {
    let mut parts = vec![head(&manifest.plugin, file)];
    parts.extend(manifest.passes.iter().map(|spec| pass(spec, None)));
    let sequentials = manifest.sequentials.iter();
    parts.extend(sequentials.map(|spec| sequential(spec, None)));
    parts.extend(manifest.configs.iter().map(|schema| config(schema, None)));
    let instruments = manifest.instruments.iter();
    parts.extend(instruments.map(|i| instrument(&i.name, &i.summary, &i.options, None)));
    parts.extend(ops(&manifest.ops, false));
    parts.extend(ops(&manifest.ops, true));
    parts.join("\n")
}

/// Renders the plugin's section of a manifest.
fn head(plugin: &ManifestPlugin, file: Option<&Path>) -> String {
    let panic = match plugin.panic {
        PanicStrategy::Unwind => "panics are caught and reported as errors of the pass (unwind)",
        PanicStrategy::Abort => "panics terminate the process (abort)",
        PanicStrategy::None => "no panics",
    };
    let (abi, min_host, ir) = (&plugin.abi, &plugin.min_host, &plugin.ir);
    let language = plugin.language.as_ref();
    let language = language.map_or_else(String::new, |version| format!(", language {version}"));
    let mut lines = vec![format!(
        "plugin ABI {abi} (requires {min_host}), IR {ir}{language}"
    )];
    let facts = [
        ("license", &plugin.license),
        ("homepage", &plugin.homepage),
        ("layout fingerprint", &plugin.layout),
        ("built by", &plugin.compiler),
    ];
    let facts = facts.into_iter();
    lines.extend(facts.filter_map(|(what, text)| Some(format!("{what} {}", text.as_ref()?))));
    let requires = plugin.requires.iter();
    lines.extend(requires.map(|other| format!("requires plugin {other}")));
    let permissions = plugin.permissions.iter();
    lines.extend(permissions.map(|permission| format!("needs permission {permission}")));
    let extensions = plugin.extensions.iter();
    lines.extend(extensions.map(|name| format!("requires extension {name}")));
    lines.push(panic.to_owned());
    lines.extend(file.map(|file| format!("file {}", file.display())));
    let key = file.and_then(|file| trust::signature_key(file).ok()?);
    lines.extend(key.map(|key| format!("signature of key {key}, not verified")));
    let title = format!("{} {}", plugin.name, plugin.version);
    under(title.trim_end(), lines)
}

/// Renders a pass, and its plugin unless the context shows it.
pub(crate) fn pass(pass: &ManifestPass, of: Option<&Plugin>) -> String {
    let declared = &pass.declaration;
    let (kind, level) = (kind(pass.kind), declared.info.opt_level);
    let mut lines: Vec<String> = pass.summary.lines().map(str::to_owned).collect();
    lines.extend(of.map(provider));
    if !declared.info.required.is_empty() {
        lines.push(format!("requires {}", declared.info.required.join(", ")));
    }
    lines.extend(also_called(&declared.aliases));
    if let Some(phase) = declared.phase {
        lines.push(format!("runs in phase {}", phase.name()));
    }
    let threads = match (pass.kind, declared.thread_safe) {
        (PassKind::Module, true) => "thread-safe",
        (PassKind::Module, false) => "not thread-safe",
        (_, true) => "thread-safe: runs on several functions at once",
        (_, false) => "not thread-safe: runs on one function at a time",
    };
    lines.push(threads.to_owned());
    if declared.changes_interface {
        lines.push("may change parameters and results of functions".to_owned());
    }
    if let Some(key) = &declared.config {
        lines.push(format!("reads options from the config key {key}"));
    }
    let title = format!("{} ({kind}, level {level})", pass.name());
    under(&title, lines) + &fields("  option", &declared.options)
}

/// Renders the pass of a .rules file.
pub(crate) fn rules(info: &PassInfo, file: &str) -> String {
    let title = format!("{} (function, level {})", info.name, info.opt_level);
    let lines = vec![
        format!("rules of {file}"),
        format!("requires {}", info.required.join(", ")),
        "thread-safe: runs on several functions at once".to_owned(),
    ];
    under(&title, lines)
}

/// Renders a Sequential, and its plugin unless the context shows it.
pub(crate) fn sequential(sequential: &ManifestSequential, of: Option<&Plugin>) -> String {
    let info = &sequential.declaration.info;
    let mut lines: Vec<String> = sequential.summary.lines().map(str::to_owned).collect();
    lines.extend(of.map(provider));
    if !info.required.is_empty() {
        lines.push(format!("requires {}", info.required.join(", ")));
    }
    for child in &sequential.passes {
        let options = child.options.iter();
        let options = options.map(|(name, value)| format!("{name} = {}", toml_text(value)));
        let options = options.collect::<Vec<_>>().join(", ");
        let with = if options.is_empty() { "" } else { " with " };
        lines.push(format!("runs {}{with}{options}", child.name));
    }
    let title = format!("{} (Sequential, level {})", info.name, info.opt_level);
    under(&title, lines)
}

/// Renders a config key and its provider.
pub(crate) fn config(schema: &Schema, provider: Option<&str>) -> String {
    let mut lines: Vec<String> = schema.doc.lines().map(str::to_owned).collect();
    lines.extend(provider.map(str::to_owned));
    under(&format!("config {}", schema.key), lines) + &fields("  field", &schema.fields)
}

/// Renders an instrument, and further lines about it, such as its provider and aliases.
pub(crate) fn instrument(
    name: &str,
    summary: &str,
    options: &[Field],
    about: impl IntoIterator<Item = String>,
) -> String {
    let mut lines: Vec<String> = summary.lines().map(str::to_owned).collect();
    lines.extend(about);
    under(&format!("{name} (instrument)"), lines) + &fields("  option", options)
}

/// Renders the aliases of a pass or an instrument, if it has any.
pub(crate) fn also_called(aliases: &[String]) -> Option<String> {
    (!aliases.is_empty()).then(|| format!("aliases: {}", aliases.join(", ")))
}

/// Renders the operators that a plugin defines, or with `extends` those whose definitions it extends. Each has the
/// domain versions from which its definitions apply.
fn ops(ops: &[OpSpec], extends: bool) -> Option<String> {
    let mut versions: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for op in ops.iter().filter(|op| op.extends == extends) {
        versions.entry(&op.name).or_default().insert(op.since);
    }
    let what = if extends { "extends" } else { "defines" };
    let count = show::counted(versions.len() as u64, "operator");
    let lines = versions.iter().map(|(name, versions)| {
        let versions: Vec<String> = versions.iter().map(i64::to_string).collect();
        format!("{name} since {}", versions.join(", "))
    });
    (!versions.is_empty()).then(|| under(&format!("{what} {count}"), lines))
}

/// Renders the plugin that provides an entry, and the plugin's file.
pub(crate) fn provider(plugin: &Plugin) -> String {
    match plugin.origin().path() {
        Some(file) => format!("of plugin {}, {}", plugin.name(), file.display()),
        None => format!("of plugin {}", plugin.name()),
    }
}

/// Renders a title with indented lines below it.
fn under(title: &str, lines: impl IntoIterator<Item = String>) -> String {
    let lines = lines.into_iter();
    let lines = lines.map(|line| show::line(&format!("  {line}")));
    show::line(title) + &lines.collect::<String>()
}

/// Renders options or fields with their types, defaults and descriptions.
fn fields(heading: &'static str, fields: &[Field]) -> String {
    let mut table = TextTable::new([heading, "takes", "default", "meaning"]);
    for field in fields {
        let name = match field.name.as_str() {
            "" => "(the value)",
            name => name,
        };
        let accepts = match field.rest {
            true => format!("{} (any names)", field.ty.name()),
            false => field.accepted_values(),
        };
        let meaning = field.doc.replace('\n', " ");
        table.row([format!("  {name}"), accepts, default(field), meaning]);
    }
    table.within(show::columns()).render()
}

/// Renders a field's default value.
pub(crate) fn default(field: &Field) -> String {
    match field.mandatory {
        true => "(none)".to_owned(),
        false => toml_text(&field.default),
    }
}

/// Returns the display name of a pass kind.
pub(crate) fn kind(kind: PassKind) -> &'static str {
    match kind {
        PassKind::Function => "function",
        PassKind::PrimFunction => "prim function",
        PassKind::Module => "module",
    }
}

/// Returns the distinct operators that a rule matches, or with `created` those that it creates.
fn operators(rule: &Rule, created: bool) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let ops = rule
        .ops()
        .into_iter()
        .filter(|(_, is_created)| *is_created == created);
    for operator in ops.flat_map(|(node, _)| &node.operators) {
        if !names.contains(&&*operator.value) {
            names.push(&operator.value);
        }
    }
    names
}

/// Returns the JSON of a rule.
pub(crate) fn rule(rule: &Rule) -> Value {
    json!({
        "name": rule.name,
        "doc": rule.doc,
        "matches": operators(rule, false),
        "creates": operators(rule, true),
    })
}

/// Renders rules as a table.
pub(crate) fn rules_table(rules: &[Rule]) -> String {
    let rows = rules.iter().map(|rule| {
        let joined = |created| operators(rule, created).join(", ");
        [
            rule.name.clone(),
            joined(false),
            joined(true),
            rule.doc.replace('\n', " "),
        ]
    });
    TextTable::from_rows(["rule", "matches", "creates", "description"], rows)
        .within(show::columns())
        .render()
}
