//! Source locations of options that cause an error only when the model is known, such as a name that the model doesn't
//! have. They are underlined like options that are invalid in themselves.

use std::ops::Range;

use super::bind;
use super::request::Request;
use super::requested_instrument::{RequestSource, RequestedInstrument};
use crate::pipeline_file::{PassTable, PipelineFile};
use passdock_core::{ConfigError, ErrorKind, PassError, Registry, Snippet};

/// The location of an option.
enum OptionLocation<'r> {
    /// A span of the pipeline file.
    File(Range<usize>),
    /// A flag, its argument on the command line, and the span in the argument.
    Argument(&'static str, &'r str, Range<usize>),
}

/// Adds the option's location to an error without a location.
pub(crate) fn locate(error: PassError, request: &Request, registry: &Registry) -> PassError {
    if error.snippet.is_some() || error.op.is_some() {
        return error;
    }
    // Errors of the pipeline file itself were reported before.
    let file = request.pipeline_file().unwrap_or_default();
    let option_error = invalid(&error)
        .and_then(|option_error| Some((&option_error.key, option_error.field.as_ref()?)));
    let option_location = match (option_error, &error.pass) {
        (Some((key, field)), _) => find_in_instruments(&error, key, field, &file, request),
        (None, Some(pass))
            if matches!(error.kind, ErrorKind::Failed | ErrorKind::Config) || error.is_inner =>
        {
            find_in_passes(&error, pass, &file, request, registry)
        }
        _ => None,
    };
    match option_location {
        Some(OptionLocation::File(span)) => file.source.locate(error, span),
        Some(OptionLocation::Argument(flag, argument, span)) => {
            in_argument(error, flag, argument, span)
        }
        None => error,
    }
}

/// Returns the config error that caused an error, if there is one.
pub(super) fn invalid(error: &PassError) -> Option<&ConfigError> {
    error.source.as_ref()?.downcast_ref()
}

/// Returns the location of the instrument's option, or entry of an option, that an error refers to.
fn find_in_instruments<'r>(
    error: &PassError,
    key: &str,
    field: &str,
    file: &PipelineFile,
    request: &'r Request,
) -> Option<OptionLocation<'r>> {
    let tables = file.instruments.iter();
    let tables = tables.filter(|table| table.name.get_ref() == key);
    let mut options = tables.flat_map(|table| &table.options);
    if let Some((_, option)) = options.find(|(name, _)| name.get_ref() == field) {
        let text = &file.source.text;
        let entry =
            quoted(&error.message).find_map(|name| find_identifier(text, &option.span(), name));
        return Some(OptionLocation::File(entry.unwrap_or(option.span())));
    }
    let mut requested = request.instruments.iter();
    in_request(error, requested.find(|requested| requested.name == key)?)
}

/// Returns the location of the option, or entry of an option, in `--instrument` that an error refers to.
fn in_request<'r>(
    error: &PassError,
    requested: &'r RequestedInstrument,
) -> Option<OptionLocation<'r>> {
    let RequestSource::Instrument(argument) = &requested.by else {
        return None;
    };
    let field = invalid(error)?.field.as_deref()?;
    let options = argument.find('=').map_or(argument.len(), |at| at + 1)..argument.len();
    let entries = quoted(&error.message).filter(|name| *name != field);
    let mut names = entries.chain([field]);
    let span = names.find_map(|name| find_identifier(argument, &options, name))?;
    Some(OptionLocation::Argument("--instrument", argument, span))
}

/// Adds the location in `--instrument` to an error about its options.
pub(super) fn in_instrument(error: PassError, requested: &RequestedInstrument) -> PassError {
    match in_request(&error, requested) {
        Some(OptionLocation::Argument(flag, argument, span)) => {
            in_argument(error, flag, argument, span)
        }
        _ => error,
    }
}

/// Adds the location in a command-line argument to an error.
pub(super) fn in_argument(
    mut error: PassError,
    flag: &str,
    argument: &str,
    span: Range<usize>,
) -> PassError {
    error.location = Some(flag.to_owned());
    error.snippet = Some(Snippet::from_line(flag, 0, argument, span));
    error
}

/// Returns the location of the option, or entry of an option, of a pass that an error refers to. The error's message
/// must quote its name.
fn find_in_passes<'r>(
    error: &PassError,
    pass: &str,
    file: &PipelineFile,
    request: &'r Request,
    registry: &Registry,
) -> Option<OptionLocation<'r>> {
    let quoted: Vec<&str> = quoted(&error.message).collect();
    let registered = registry.get_pass(pass).ok();
    let config = registered.and_then(|pass| pass.declaration().config.clone());
    let options = file.tables().filter_map(|table| match table {
        PassTable::Pass { name, options, .. } if registry.canonical(name.get_ref()) == pass => {
            Some(options)
        }
        _ => None,
    });
    let given = config.as_deref();
    let given = given.and_then(|key| file.context.config.get_key_value(key));
    let in_file = options.flatten().chain(given).find_map(|(key, value)| {
        quoted.iter().find_map(|name| match key.get_ref() == *name {
            true => Some(key.span()),
            false if value.get_ref().is_table() => {
                find_identifier(&file.source.text, &value.span(), name)
            }
            false => None,
        })
    });
    let in_config = |setting: &'r String| {
        let path = setting[..setting.find('=')?].trim_end();
        let start = path.rfind('.')? + 1;
        let is_config = path.trim_start().starts_with(config.as_deref()?);
        let is_match = is_config && quoted.contains(&&path[start..]);
        is_match.then(|| OptionLocation::Argument("--config", setting, start..path.len()))
    };
    let in_binding = |setting: &'r String| {
        let (name, _) = setting.split_once('=')?;
        let is_match = bind::PASSES.contains(&pass) && quoted.contains(&name.trim());
        is_match.then(|| OptionLocation::Argument("--bind", setting, 0..name.len()))
    };
    in_file
        .map(OptionLocation::File)
        .or_else(|| request.config.iter().find_map(in_config))
        .or_else(|| request.bind.iter().find_map(in_binding))
}

/// Returns the texts between backticks in a message.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

/// Returns the span of the first whole-word occurrence of a name in a part of a text.
pub(super) fn find_identifier(text: &str, part: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let is_identifier = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let part_text = text.get(part.clone())?;
    let mut candidates = part_text.match_indices(name).filter(|_| !name.is_empty());
    let (at, _) = candidates.find(|(at, _)| {
        let (before, after) = (&part_text[..*at], &part_text[at + name.len()..]);
        !before.ends_with(is_identifier) && !after.starts_with(is_identifier)
    })?;
    let start = part.start + at;
    Some(start..start + name.len())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::prepare::PipelineText;
    use passdock_core::instrument::option_error;

    /// Checks the location of an error that `numerics` reports when it knows the model.
    #[track_caller]
    fn check(text: &str, instruments: &[&str], expected: Expect) {
        let request = Request {
            pipeline: Some(PipelineText::from_file("p.toml", text)),
            instruments: instruments
                .iter()
                .map(|text| RequestedInstrument::parse(text).unwrap())
                .collect(),
            ..Request::default()
        };
        let message = "`dims` binds `bach`, which isn't among the symbols.";
        let cause = option_error("numerics", "dims", message);
        let error = PassError::new(ErrorKind::Config, message).caused_by(Arc::new(cause));
        let error = locate(error, &request, &Registry::new());
        expected.assert_eq(&error.to_diagnostic().render(false));
    }

    #[test]
    fn instrument_option_is_underlined() {
        check(
            "[[instruments]]\nname = 'numerics'\ndims = { bach2 = 1, bach = 2 }\n",
            &[],
            expect![[r#"
                error[config]: `dims` binds `bach`, which isn't among the symbols.
                 --> p.toml:3:21
                  |
                3 | dims = { bach2 = 1, bach = 2 }
                  |                     ^^^^"#]],
        );
        check(
            "",
            &["memory", "numerics={dims={bach=2}}"],
            expect![[r#"
                error[config]: `dims` binds `bach`, which isn't among the symbols.
                --> --instrument
                 |
                 | numerics={dims={bach=2}}
                 |                 ^^^^"#]],
        );
        check(
            "",
            &[],
            expect!["error[config]: `dims` binds `bach`, which isn't among the symbols."],
        );
    }
}
