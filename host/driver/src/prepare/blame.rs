//! The place where the user gave the option that a pass or an instrument fails of: a mistake that only the model
//! shows, such as a name that it hasn't, is underlined as one that was seen before.

use std::ops::Range;

use super::asked::{AskedBy, AskedInstrument};
use super::bind;
use super::request::Request;
use crate::pipeline_file::{Entry, PassTable, PipelineFile};
use passdock_core::{ConfigError, ErrorKind, PassError, Registry, Snippet};

/// Shows the option with an error that says nothing of a place.
pub(crate) fn locate(error: PassError, request: &Request, registry: &Registry) -> PassError {
    if error.snippet.is_some() || error.op.is_some() {
        return error;
    }
    // One that isn't right has an error of its own.
    let file = request.pipeline_file().unwrap_or_default();
    let wrong = config_error(&error).and_then(|wrong| Some((&wrong.key, wrong.field.as_ref()?)));
    if let Some((key, field)) = wrong {
        let tables = file
            .instruments
            .iter()
            .filter(|table| table.name.value == *key);
        let mut options = tables.flat_map(|table| &table.options);
        if let Some((_, option)) = options.find(|(name, _)| name.value == *field) {
            let text = &file.source.text;
            let entry = quoted(&error.message).find_map(|name| word(text, &option.span, name));
            return file
                .source
                .locate(error, &entry.unwrap_or(option.span.clone()));
        }
        let asked = request.instruments.iter().find(|asked| asked.name == *key);
        return match asked {
            Some(asked) => in_instrument(error, asked),
            None => error,
        };
    }
    match (
        matches!(error.kind, ErrorKind::Failed | ErrorKind::Config) || error.is_inner,
        error.pass.clone(),
    ) {
        (true, Some(pass)) => of_pass(error, &pass, &file, request, registry),
        _ => error,
    }
}

/// The mistake in an option that caused an error, if one did.
pub(super) fn config_error(error: &PassError) -> Option<&ConfigError> {
    error.source.as_ref()?.downcast_ref()
}

/// Shows an option of `--instrument` with an error that is about one.
pub(super) fn in_instrument(error: PassError, asked: &AskedInstrument) -> PassError {
    let AskedBy::Instrument(asked) = &asked.by else {
        return error;
    };
    let Some(field) = config_error(&error).and_then(|wrong| wrong.field.clone()) else {
        return error;
    };
    let options = asked.find('=').map_or(asked.len(), |at| at + 1)..asked.len();
    // An entry of the option, if it is about one.
    let entries = quoted(&error.message).filter(|name| *name != field);
    let mut names = entries.chain([field.as_str()]);
    let span = names.find_map(|name| word(asked, &options, name));
    drop(names);
    match span {
        Some(span) => in_argument(error, "--instrument", asked, span),
        None => error,
    }
}

/// Shows a part of an argument of the command line with an error.
pub(super) fn in_argument(
    mut error: PassError,
    flag: &str,
    argument: &str,
    span: Range<usize>,
) -> PassError {
    error.location = Some(flag.to_owned());
    error.snippet = Some(Box::new(Snippet::of_line(flag, 0, argument, span)));
    error
}

/// A failed pass names what is wrong between backticks: if it is an option that the pipeline or the
/// command line gives to it, or an entry of one, that is shown.
fn of_pass(
    error: PassError,
    pass: &str,
    file: &PipelineFile,
    request: &Request,
    registry: &Registry,
) -> PassError {
    let known = registry.get_pass(pass).ok();
    let config = known.and_then(|pass| pass.declaration().config.clone());
    let options = file.tables().filter_map(|table| match table {
        PassTable::Pass { name, options, .. } if registry.canonical(&name.value) == pass => {
            Some(options)
        }
        _ => None,
    });
    let given = |entry: &&Entry| Some(&entry.0.value) == config.as_ref();
    let mut entries = options
        .flatten()
        .chain(file.context.config.iter().filter(given));
    let place = |(key, value): &Entry| {
        quoted(&error.message).find_map(|name| match key.value == name {
            true => Some(key.span.clone()),
            false if value.value.is_table() => word(&file.source.text, &value.span, name),
            false => None,
        })
    };
    if let Some(span) = entries.find_map(place) {
        return file.source.locate(error, &span);
    }
    let place = |setting: &String| {
        let path = setting[..setting.find('=')?].trim_end();
        let start = path.rfind('.')? + 1;
        let is_named = quoted(&error.message).any(|name| name == &path[start..]);
        let is_ours = config
            .as_ref()
            .is_some_and(|key| path.trim_start().starts_with(key));
        (is_named && is_ours).then(|| (setting.clone(), start..path.len()))
    };
    if let Some((setting, span)) = request.config.iter().find_map(place) {
        return in_argument(error, "--config", &setting, span);
    }
    let bound = |setting: &String| {
        let name = setting.split_once('=')?.0;
        let is_named = quoted(&error.message).any(|quoted| quoted == name.trim());
        is_named.then(|| (setting.clone(), 0..name.len()))
    };
    match request.bind.iter().find_map(bound) {
        Some((setting, span)) if bind::PASSES.contains(&pass) => {
            in_argument(error, "--bind", &setting, span)
        }
        _ => error,
    }
}

/// The words between backticks in a sentence.
fn quoted(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split('`').skip(1).step_by(2)
}

/// The place of a whole word in a part of a text.
pub(super) fn word(text: &str, part: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let part_text = text.get(part.clone())?;
    let mut places = part_text.match_indices(name).filter(|_| !name.is_empty());
    let (at, _) = places.find(|(at, _)| {
        let (before, after) = (&part_text[..*at], &part_text[at + name.len()..]);
        !before.ends_with(is_word) && !after.starts_with(is_word)
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
    use passdock_core::instrument::wrong;

    /// An error of `numerics` that only the model shows.
    #[track_caller]
    fn check(text: &str, asked: &[&str], expected: Expect) {
        let request = Request {
            pipeline: Some(PipelineText::of_file("p.toml", text)),
            instruments: asked
                .iter()
                .map(|asked| AskedInstrument::parse(asked).unwrap())
                .collect(),
            ..Request::default()
        };
        let message = "`dims` binds `bach`, which isn't among the symbols.";
        let cause = wrong("numerics", "dims", message);
        let error = PassError::new(ErrorKind::Config, message).caused_by(Arc::new(cause));
        let error = locate(error, &request, &Registry::new());
        expected.assert_eq(&error.to_diagnostic().render(false));
    }

    #[test]
    fn an_option_of_an_instrument_is_underlined() {
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
