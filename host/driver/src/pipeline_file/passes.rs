//! `[[passes]]`: passes, rules, groups, places for phases and built-in pipelines.

use toml::Spanned;
use toml::de::DeValue;

use passdock_core::{ErrorKind, PassError, Phase, suggest};

use super::built_in::BuiltInPipeline;
use super::table::{PASS, Table};
use super::{Located, PassTable, PipelineFile, SourceText};

/// The levels that Sequentials may nest in a file.
pub(super) const MAX_NESTING: usize = 64;

/// What an entry of any kind may have.
const KEYS: [&str; 10] = [
    "phase",
    "rules",
    "python",
    "use",
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
        refuse_others(table, "python")?;
        return Ok(PassTable::Imported(place));
    }
    if let Some(name) = table.string("use")? {
        return read_built_in(table, name);
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
            opt_level: table.unsigned("opt_level")?.unwrap_or(0),
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
    refuse_others(table, "rules")?;
    Ok(PassTable::Rules { file, name })
}

/// A built-in pipeline, some passes of which may be left out.
fn read_built_in(mut table: Table<'_, '_>, name: Located<String>) -> Result<PassTable, PassError> {
    let disabled = table.strings("disabled")?;
    let outer = table.source;
    refuse_others(table, "use")?;
    let built_in = BuiltInPipeline::named(&name.value).map_err(|mut error| {
        error.kind = ErrorKind::Pipeline;
        outer.locate(error, &name.span)
    })?;
    let PipelineFile { source, passes, .. } = PipelineFile::parse(built_in.name, built_in.text)?;
    Ok(PassTable::BuiltIn {
        name,
        source,
        disabled,
        passes,
    })
}

/// A place for a phase: it has nothing but the phase's name.
fn read_phase(table: Table<'_, '_>, name: &Located<String>) -> Result<PassTable, PassError> {
    let source = table.source;
    refuse_others(table, "phase")?;
    let Some(value) = Phase::named(&name.value) else {
        let message = format!("There is no phase `{}`.", name.value);
        let error = source.error(&name.span, "unknown phase", message);
        let phases = || Phase::ALL.into_iter().map(Phase::name);
        return Err(error.help(suggest::help_or_list(&name.value, phases, "Phases")));
    };
    let span = name.span.clone();
    Ok(PassTable::Phase(Located { value, span }))
}

/// Rejects what is left of an entry that is neither one pass nor a group, but of another `kind`, which a key names.
fn refuse_others(mut table: Table<'_, '_>, kind: &str) -> Result<(), PassError> {
    let Some((key, _)) = KEYS.into_iter().find_map(|key| table.take(key)) else {
        return table.finish();
    };
    let what = match kind {
        "phase" => "A place for a phase",
        "python" => "A pass of Python",
        "rules" => "A pass of rules",
        _ => "A built-in pipeline",
    };
    let help = match (kind, key.value.as_str()) {
        ("phase", _) => {
            "Its passes come from the plugins that name the phase. Make two entries of it."
        }
        ("python", "name") => "A pass of Python has a name already, which it was made with.",
        ("rules", "disabled") => "A rule is disabled by `disabled_rule` in `[context]`.",
        ("use", "options") => "Options of its passes stand in `[context.config]`.",
        (_, "opt_level" | "required") | ("use", "name") => {
            "Put it into a group: an entry with `passes`."
        }
        _ => "Make two entries of it, or remove one of the keys.",
    };
    let message = format!("{what} has no `{}`.", key.value);
    let error = table.source.error(&key.span, "one too many", message);
    Err(error.help(help))
}
