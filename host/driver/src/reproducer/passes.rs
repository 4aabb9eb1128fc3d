//! `pipeline.toml`: a pipeline with the failed pass and the following ones, and the .rules files that it names.

use std::collections::BTreeSet;

use toml::{Table, Value};

use passdock_core::config::toml_file;
use passdock_core::{
    ConfigValue, ContextSettings, ErrorKind, FailureSite, PassContext, PassError, PassRef, Plugin,
};

const HEADER: &str = "\
#:schema pipeline.schema.json
# The first pass failed on `before.ir`; the others would have followed.
# `passdock replay` doesn't run the passes that the first one requires, because they had run before.

";

/// The text of a pipeline, and the .rules files next to it.
pub(super) struct Passes {
    pub(super) pipeline: String,
    /// The names and contents of the files.
    pub(super) rules: Vec<(String, String)>,
}

/// Returns a pipeline that starts with the failed pass. It only refers to the given plugins and to the program itself.
pub(super) fn pipeline(
    site: &FailureSite,
    plugins: &[&Plugin],
    instruments: &[Table],
) -> Result<Passes, PassError> {
    let cx = &site.context;
    let mut root = Table::new();
    let context = Value::try_from(context(site, plugins)).map_err(|error| {
        let message = format!("could not write the context: {error}");
        PassError::new(ErrorKind::Write, message)
    })?;
    root.insert("context".to_owned(), context);
    let overrides = cx.registry().overrides();
    let mut tables = Table::new();
    for plugin in plugins {
        if let Some(names) = overrides.get(plugin.name()) {
            let table = Table::from_iter([("override".to_owned(), names.clone().into())]);
            tables.insert(plugin.name().to_owned(), table.into());
        }
    }
    if !tables.is_empty() {
        root.insert("plugins".to_owned(), tables.into());
    }
    if !instruments.is_empty() {
        root.insert("instruments".to_owned(), instruments.to_vec().into());
    }
    let mut rules = Vec::new();
    let passes = site.passes.iter().map(|pass| table(pass, cx, &mut rules));
    let passes = passes.collect::<Result<Vec<Table>, _>>()?;
    root.insert("passes".to_owned(), passes.into());
    Ok(Passes {
        pipeline: format!("{HEADER}{}", toml_file(&root)),
        rules,
    })
}

/// Returns the settings of the context, restricted to the given plugins and the program itself.
fn context(site: &FailureSite, plugins: &[&Plugin]) -> ContextSettings {
    let cx = &site.context;
    let registry = cx.registry();
    let plugin_names: BTreeSet<&str> = plugins.iter().map(|plugin| plugin.name()).collect();
    let is_required = |name: &String| match registry.plugin_of(name) {
        Some(plugin) => plugin_names.contains(plugin.name()),
        None => registry.contains(name),
    };
    let canonical = |names: &[String]| -> Vec<String> {
        let names = names.iter().map(|name| registry.canonical(name));
        names.filter(is_required).collect()
    };
    let mut settings = cx.settings().clone();
    settings.required_pass = canonical(&settings.required_pass);
    settings.disabled_pass = canonical(&settings.disabled_pass);
    // A required pass runs at any level.
    if let Some(first) = site.passes.first() {
        let info = first.info();
        if info.opt_level > cx.opt_level() && !settings.required_pass.contains(&info.name) {
            settings.required_pass.push(info.name.clone());
        }
    }
    let configs = registry.list_configs().into_iter();
    let is_relevant =
        |plugin: &Option<String>| plugin.as_deref().is_none_or(|p| plugin_names.contains(p));
    let configs = configs.filter(|info| is_relevant(&info.plugin));
    let configs: BTreeSet<String> = configs.map(|info| info.schema.key).collect();
    settings.config.retain(|key, _| configs.contains(key));
    settings
}

/// Returns the table of a pass with all its options. For a Sequential, it has the children that would run.
fn table(
    pass: &PassRef,
    cx: &PassContext,
    rules: &mut Vec<(String, String)>,
) -> Result<Table, PassError> {
    let info = pass.info();
    let mut table = Table::from_iter([("name".to_owned(), info.name.clone().into())]);
    if let Some(file) = pass.rules() {
        let name = format!("{}.rules", rules.len() + 1);
        table.insert("rules".to_owned(), name.clone().into());
        rules.push((name, file.text().to_owned()));
        return Ok(table);
    }
    let Some(sequential) = pass.as_sequential() else {
        let options = pass.options(cx.config_given())?;
        if !options.is_empty() {
            table.insert("options".to_owned(), config_value(&options));
        }
        return Ok(table);
    };
    if info.opt_level > 0 {
        table.insert("opt_level".to_owned(), info.opt_level.into());
    }
    if !info.required.is_empty() {
        table.insert("required".to_owned(), info.required.clone().into());
    }
    let disabled = sequential.disabled_in(cx.registry());
    let runs = |pass: &&PassRef| cx.skip_reason(pass.info(), &disabled).is_none();
    let children = sequential.passes().iter().filter(runs);
    let children = children.map(|pass| self::table(pass, cx, rules));
    let children = children.collect::<Result<Vec<Table>, _>>()?;
    table.insert("passes".to_owned(), children.into());
    Ok(table)
}

fn config_value(value: &ConfigValue) -> Value {
    match value.get("") {
        Some(scalar) => scalar.clone(),
        None => Value::Table(value.clone().into_iter().collect()),
    }
}
