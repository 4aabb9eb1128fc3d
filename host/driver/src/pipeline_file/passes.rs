//! `[[passes]]`: passes, rules, groups, places for phases, built-in pipelines and levels.

use toml::Spanned;
use toml::de::DeValue;

use passdock_core::{ErrorKind, PassError, Phase, suggest};

use super::built_in::BuiltInPipeline;
use super::table::{PASS, Table};
use super::{Located, PassTable, PipelineFile, SourceText};

/// The levels that Sequentials may nest in a file.
pub(super) const MAX_NESTING: usize = 64;

/// What an entry of any kind may have.
const KEYS: [&str; 11] = [
    "phase",
    "rules",
    "python",
    "use",
    "all_of_level",
    "name",
    "passes",
    "options",
    "opt_level",
    "required",
    "disabled",
];

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
    if let Some(place) = table.string("python")? {
        refuse_others(&mut table, |key| {
            let help = match key {
                "name" => Some("A pass of Python has a name already, which it was made with."),
                "opt_level" | "required" => {
                    Some("The pass says it itself; or put it into a group: an entry with `passes`.")
                }
                _ => None,
            };
            (format!("A pass of Python has no `{key}` here."), help)
        })?;
        return Ok(PassTable::Imported(place));
    }
    if let Some(name) = table.string("use")? {
        return read_built_in(table, name);
    }
    if let Some(level) = table.located_unsigned("all_of_level", "not a level")? {
        return read_level(table, level);
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
    let name = table.string("name")?;
    refuse_others(&mut table, |key| {
        let help = match key {
            "disabled" => Some("A rule is disabled by `disabled_rule` in `[context]`."),
            "opt_level" | "required" => Some("Put it into a group: an entry with `passes`."),
            _ => None,
        };
        (format!("A pass of rules has no `{key}`."), help)
    })?;
    Ok(PassTable::Rules { file, name })
}

/// A built-in pipeline, some passes of which may be left out.
fn read_built_in(mut table: Table<'_, '_>, name: Located<String>) -> Result<PassTable, PassError> {
    let disabled = table.strings("disabled")?;
    refuse_others(&mut table, |key| {
        let help = match key {
            "opt_level" | "required" | "name" => {
                Some("Put it into a group: an entry with `passes`.")
            }
            "options" => Some("Options of its passes stand in `[context.config]`."),
            _ => None,
        };
        (format!("A built-in pipeline has no `{key}`."), help)
    })?;
    let built_in = BuiltInPipeline::named(&name.value).map_err(|mut error| {
        error.kind = ErrorKind::Pipeline;
        table.source.locate(error, &name.span)
    })?;
    let PipelineFile { source, passes, .. } = PipelineFile::parse(built_in.name, built_in.text)?;
    Ok(PassTable::BuiltIn {
        name,
        source,
        disabled,
        passes,
    })
}

/// All passes of a level: there is nothing more to say of them.
fn read_level(mut table: Table<'_, '_>, level: Located<u32>) -> Result<PassTable, PassError> {
    refuse_others(&mut table, |key| {
        let message = format!("All passes of a level have no `{key}`: each has its own.");
        (message, None)
    })?;
    Ok(PassTable::Level(level))
}

/// A place for a phase: it has nothing but the phase's name.
fn read_phase(mut table: Table<'_, '_>, name: &Located<String>) -> Result<PassTable, PassError> {
    refuse_others(&mut table, |key| {
        let message = format!(
            "A place for a phase has no `{key}`: its passes come from the plugins that name the phase."
        );
        (message, None)
    })?;
    let Some(value) = Phase::named(&name.value) else {
        let message = format!("There is no phase `{}`.", name.value);
        let error = table.source.error(&name.span, "unknown phase", message);
        let phases = || Phase::ALL.into_iter().map(Phase::name);
        let list = || format!("Phases: {}.", suggest::listed(phases()));
        return Err(error.help(suggest::help(&name.value, phases()).unwrap_or_else(list)));
    };
    let span = name.span.clone();
    Ok(PassTable::Phase(Located { value, span }))
}

/// Refuses what is left of an entry that isn't one pass or a group: a key of another kind of entry is told by
/// `said`, with what to do unless that is to take one of them away.
fn refuse_others(
    table: &mut Table<'_, '_>,
    said: impl Fn(&str) -> (String, Option<&'static str>),
) -> Result<(), PassError> {
    for key in KEYS {
        if let Some((key, _)) = table.take(key) {
            let (message, help) = said(&key.value);
            let error = table.source.error(&key.span, "one too many", message);
            let otherwise = "Make two entries of it, or remove one of the keys.";
            return Err(error.help(help.unwrap_or(otherwise)));
        }
    }
    table.refuse_rest()
}
