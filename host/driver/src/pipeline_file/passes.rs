//! `[[passes]]`: passes, rules, groups and places for phases.

use toml::Spanned;
use toml::de::DeValue;

use passdock_core::{PassError, Phase, suggest};

use super::table::{PASS, Table};
use super::{Located, PassTable, SourceText};

/// The levels that Sequentials may nest in a file.
pub(super) const MAX_NESTING: usize = 64;

/// The passes of a list; `depth` Sequentials are around it.
pub(super) fn read_passes(
    source: &SourceText,
    list: Spanned<DeValue<'_>>,
    depth: usize,
) -> Result<Vec<PassTable>, PassError> {
    if depth > MAX_NESTING {
        let message = format!("Sequentials can't nest deeper than {MAX_NESTING} levels in a file.");
        return Err(source.error(&list.span(), "", message));
    }
    let Located { value, span } = list.into();
    let DeValue::Array(items) = value else {
        let message = "`passes` has to be a list of passes: `[[passes]]` tables, or names.";
        return Err(source.error(&span, "not a list", message));
    };
    let items = items.into_iter();
    items.map(|item| read_pass(source, item, depth)).collect()
}

fn read_pass(
    source: &SourceText,
    item: Spanned<DeValue<'_>>,
    depth: usize,
) -> Result<PassTable, PassError> {
    if let DeValue::String(name) = item.get_ref() {
        let name = Located {
            value: name.to_string(),
            span: item.span(),
        };
        return Ok(PassTable::Pass {
            name,
            options: Vec::new(),
            disabled: Vec::new(),
        });
    }
    let mut table = Table::from_value(source, PASS, item)?;
    if let Some(phase) = table.string("phase")? {
        return read_phase(table, &phase);
    }
    if let Some(file) = table.string("rules")? {
        return read_rules(table, file);
    }
    let nested = table.take("passes");
    let pass = match nested {
        Some((_, children)) => PassTable::Sequential {
            passes: read_passes(source, children, depth + 1)?,
            name: match table.string("name")? {
                Some(name) => name,
                None => Located {
                    value: "sequential".to_owned(),
                    span: table.span.clone(),
                },
            },
            opt_level: table.unsigned("opt_level", "not a level")?.unwrap_or(0),
            required: table.strings("required")?,
            disabled: table.strings("disabled")?,
        },
        None => PassTable::Pass {
            name: table.required_string("name")?,
            options: table.entries_of("options", "`options`")?,
            disabled: table.strings("disabled")?,
        },
    };
    table.finish()?;
    Ok(pass)
}

/// The rules of a file: they have nothing but a name.
fn read_rules(mut table: Table<'_, '_>, file: Located<String>) -> Result<PassTable, PassError> {
    for key in "passes options opt_level required disabled".split(' ') {
        if let Some((key, _)) = table.take(key) {
            let message = format!("A pass of rules has no `{}`.", key.value);
            let error = table.source.error(&key.span, "one too many", message);
            return Err(error.help(match &*key.value {
                "disabled" => "A rule is disabled by `disabled_rule` in `[context]`.",
                "opt_level" | "required" => "Put it into a group: an entry with `passes`.",
                _ => "Make two entries of it, or remove one of the keys.",
            }));
        }
    }
    let name = table.string("name")?;
    table.finish()?;
    Ok(PassTable::Rules { file, name })
}

/// A place for a phase: it has nothing but the phase's name.
fn read_phase(mut table: Table<'_, '_>, name: &Located<String>) -> Result<PassTable, PassError> {
    for key in "rules name passes options opt_level required disabled".split(' ') {
        if let Some((key, _)) = table.take(key) {
            let message = format!(
                "A place for a phase has no `{}`: its passes come from the plugins that name the phase.",
                key.value
            );
            let error = table.source.error(&key.span, "one too many", message);
            return Err(error.help("Make two entries of it, or remove one of the keys."));
        }
    }
    let Some(value) = Phase::named(&name.value) else {
        let message = format!("There is no phase `{}`.", name.value);
        let error = table.source.error(&name.span, "unknown phase", message);
        let phases = || Phase::ALL.into_iter().map(Phase::name);
        let list = || format!("Phases: {}.", suggest::listed(phases()));
        return Err(error.help(suggest::help(&name.value, phases()).unwrap_or_else(list)));
    };
    table.finish()?;
    let span = name.span.clone();
    Ok(PassTable::Phase(Located { value, span }))
}
