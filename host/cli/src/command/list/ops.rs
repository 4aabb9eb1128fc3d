//! `passdock list ops`: lists the operators that plugins define, or shows one with its attributes.

use passdock::diagnostic::suggest;
use passdock::plugin::{AttrInfo, MissingDefinition, OpInfo, Origin};
use passdock::{ErrorKind, PassError, Registry};
use serde_json::{Value, json};

use crate::show::{self, Facts, TextTable};

/// Lists all operators, or those with one name in all versions.
pub(crate) fn ops(registry: &Registry, name: Option<&str>) -> Result<(Value, String), PassError> {
    let defs = registry.op_defs();
    let (mut ops, failures) = defs.describe();
    let unusable = |origin: &Origin| failures.iter().find(|failure| failure.origin == *origin);
    let text = match name {
        None => table(&ops),
        Some(name) => {
            let full = format!("onnx.{name}");
            ops.retain(|op| op.name == name || op.name == full);
            if ops.is_empty() {
                let mut all = defs.iter();
                let registered =
                    all.find(|(registered, ..)| *registered == name || *registered == full);
                let missing =
                    registered.and_then(|(op, _, plugin)| Some((op, unusable(plugin.origin())?)));
                if let Some((op, error)) = missing {
                    let (op, error) = (op.to_owned(), error.clone());
                    return Err(MissingDefinition { op, error }.into());
                }
                let near = suggest::did_you_mean(name, defs.names());
                let message = format!("no plugin defines the operator `{name}`{near}");
                return Err(PassError::new(ErrorKind::Usage, message));
            }
            let blocks = ops.iter().map(|op| one(op, &provider(registry, op)));
            blocks.collect::<Vec<_>>().join("\n")
        }
    };
    failures.into_iter().for_each(show::warn);
    let ops = ops.iter().map(|op| {
        let mut entry = json!(op);
        let plugin = registry.plugin(&op.plugin);
        entry["file"] = json!(plugin.as_ref().and_then(|plugin| plugin.origin().path()));
        entry
    });
    Ok((json!({ "ops": ops.collect::<Vec<_>>() }), text))
}

fn table(ops: &[OpInfo]) -> String {
    let mut table = TextTable::new(["op", ">since", "operands", "known", "traits", "plugin"]);
    for op in ops {
        table.row([
            op.name.clone(),
            op.since.to_string(),
            match op.extends {
                true => String::new(),
                false => operands(op),
            },
            abilities(op),
            op.traits.join(", "),
            op.plugin.clone(),
        ]);
    }
    table.within(show::columns()).render()
}

fn operands(op: &OpInfo) -> String {
    match (op.min_operands, op.max_operands) {
        (fewest, Some(most)) if fewest == most => fewest.to_string(),
        (fewest, Some(most)) => format!("{fewest} to {most}"),
        (fewest, None) => format!("{fewest} or more"),
    }
}

/// Renders the capabilities of an op definition.
fn abilities(op: &OpInfo) -> String {
    let parts = [
        (op.extends, "extends"),
        (op.type_inference, "types"),
        (op.evaluation, "evaluation"),
        (op.decomposition, "body"),
        (op.layouts, "layouts"),
    ];
    let abilities = parts.into_iter().filter(|part| part.0);
    let abilities = abilities.map(|part| part.1.to_owned());
    let targets = op.targets.iter().map(|target| format!("target {target}"));
    abilities.chain(targets).collect::<Vec<_>>().join(", ")
}

/// Renders the plugin that defines an operator, and its file.
fn provider(registry: &Registry, op: &OpInfo) -> String {
    let plugin = registry.plugin(&op.plugin);
    match plugin.as_ref().and_then(|plugin| plugin.origin().path()) {
        Some(file) => format!("{}, {}", op.plugin, file.display()),
        None => op.plugin.clone(),
    }
}

fn one(op: &OpInfo, provider: &str) -> String {
    let or = |text: String, none: &str| match text.is_empty() {
        true => none.to_owned(),
        false => text,
    };
    let mut facts = Facts::default();
    facts.add("op", format!("{} since {}", op.name, op.since));
    facts.add("plugin", provider);
    if op.extends {
        // The extended definition has the remaining facts.
        facts.add("known", abilities(op));
        return facts.render();
    }
    facts.add("operands", operands(op));
    facts.add("known", or(abilities(op), "nothing"));
    facts.add("traits", or(op.traits.join(", "), "none"));
    let attributes = match &op.attributes {
        None => "not listed".to_owned(),
        Some(attributes) if attributes.is_empty() => "none".to_owned(),
        Some(attributes) => attributes.len().to_string(),
    };
    facts.add("attributes", attributes);
    facts.render() + &attribute_table(op)
}

fn attribute_table(op: &OpInfo) -> String {
    let mut table = TextTable::new(["  attribute", "type", "default", "meaning"]);
    for attribute in op.attributes.iter().flatten() {
        table.row([
            format!("  {}", attribute.name),
            attribute.kind.to_owned(),
            default(attribute),
            attribute.doc.replace('\n', " "),
        ]);
    }
    table.within(show::columns()).render()
}

fn default(attribute: &AttrInfo) -> String {
    match &attribute.default {
        Some(value) => value.to_string(),
        None if attribute.required => "(required)".to_owned(),
        None => String::new(),
    }
}
