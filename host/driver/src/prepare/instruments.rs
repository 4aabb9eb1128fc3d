//! The instruments of a run: those of `[[instruments]]`, then those of the request.

use std::path::Path;

use passdock_core::instrument::stderr;
use passdock_core::{InstrumentRef, InstrumentSetup, InstrumentSpec, PassError, Registry};

use super::config::{check_options, locate};
use super::protected_files::protected_file;
use super::request::Request;
use super::requested_instrument::RequestedInstrument;
use super::{Watched, blame, passes, rules};
use crate::pipeline_file::{InstrumentTable, PipelineFile, SourceText, table_of};

/// A prepared instrument.
pub(super) struct PreparedInstrument {
    /// Its position among all instruments.
    pub(super) position: usize,
    pub(super) spec: InstrumentSpec,
    /// Its `[[instruments]]` table, with absolute paths.
    pub(super) table: toml::Table,
    pub(super) instrument: InstrumentRef,
}

/// Creates the instruments of a file and of a request, in this order: those of plugins, or the others.
pub(super) fn make(
    request: &Request,
    watched: &Watched,
    file: &PipelineFile,
    registry: &Registry,
    plugins: bool,
) -> Result<Vec<PreparedInstrument>, PassError> {
    let base = request.pipeline.as_ref().and_then(|p| p.path.parent());
    let sequentials = passes::sequential_names(&file.passes);
    let mut setup = InstrumentSetup::new(registry).with_sequentials(sequentials);
    setup.base = base.unwrap_or(Path::new(""));
    setup.color = request.print.color;
    let file_in_use = |path: &Path| protected_file(path, request, registry);
    setup.file_in_use = &file_in_use;
    match &watched.sink {
        Some(sink) => setup.sink = sink.clone(),
        None if request.print.to_stderr => setup.sink = stderr(),
        None => {}
    }
    let mut instruments = Vec::new();
    // An unknown instrument is reported with the others.
    let is_made = |name: &str| match registry.instrument_spec(name) {
        Ok(spec) => spec.plugin.is_some() == plugins,
        Err(_) => !plugins,
    };
    for (position, table) in file.instruments.iter().enumerate() {
        if is_made(table.name.get_ref()) {
            let made = from_table(table, request, &file.source, registry, &setup)?;
            instruments.push(PreparedInstrument { position, ..made });
        }
    }
    setup.base = Path::new("");
    for (position, requested) in (file.instruments.len()..).zip(&request.instruments) {
        if is_made(&requested.name) {
            let made = from_request(requested, registry, &setup)?;
            instruments.push(PreparedInstrument { position, ..made });
        }
    }
    Ok(instruments)
}

impl PreparedInstrument {
    fn new(
        spec: InstrumentSpec,
        mut options: toml::Table,
        setup: &InstrumentSetup<'_>,
        registry: &Registry,
    ) -> Result<PreparedInstrument, PassError> {
        let path_of = |path: &str| Ok(setup.base.join(path));
        rules::put_into_fields(&mut options, &spec.schema(), path_of, registry)?;
        Ok(PreparedInstrument {
            position: 0,
            instrument: spec.make(&options, setup)?,
            table: spec.table(&options, setup.base),
            spec,
        })
    }
}

fn from_table(
    table: &InstrumentTable,
    request: &Request,
    source: &SourceText,
    registry: &Registry,
    setup: &InstrumentSetup<'_>,
) -> Result<PreparedInstrument, PassError> {
    let name = &table.name;
    let spec = registry.instrument_spec(name.get_ref());
    let spec = spec.map_err(source.at(name.span()))?;
    let schema = spec.schema();
    check_options(&schema, &table.options, source)?;
    for (key, value) in &table.options {
        let checked = match value.get_ref() {
            toml::Value::String(path) if path.is_empty() => Ok(()),
            toml::Value::String(path) if spec.paths.contains(key.get_ref()) => {
                request.used_by_pipeline(path).map(drop)
            }
            toml::Value::Array(items) => {
                let items = items.iter().filter_map(toml::Value::as_str);
                let mut files = items.filter(|item| rules::is_file(item));
                files.try_for_each(|file| request.path_in_pipeline_dir(file).map(drop))
            }
            _ => Ok(()),
        };
        checked.map_err(source.at(value.span()))?;
    }
    PreparedInstrument::new(spec, table_of(&table.options), setup, registry).map_err(|error| {
        // The option in the file that the error refers to, if there is one.
        let field = blame::invalid(&error).and_then(|invalid| {
            let field = invalid.field.as_ref()?;
            let given = table
                .options
                .iter()
                .find(|(key, _)| key.get_ref() == field)?;
            Some((invalid.clone(), given))
        });
        match field {
            Some((invalid, (key, value))) => locate(source, invalid, key, value),
            None => source.locate(error, name.span()),
        }
    })
}

fn from_request(
    requested: &RequestedInstrument,
    registry: &Registry,
    setup: &InstrumentSetup<'_>,
) -> Result<PreparedInstrument, PassError> {
    // An invalid file of a flag is reported as such, not as an invalid option.
    if let Some(file) = requested.flagged_file() {
        setup.check_new_file(file.as_ref())?;
    }
    let spec = registry.instrument_spec(&requested.name)?;
    let options = requested.options.clone();
    PreparedInstrument::new(spec, options, setup, registry)
        .map_err(|error| blame::in_instrument(error, requested))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};
    use passdock_core::PassInstrument;

    use super::*;
    use crate::pipeline::Pipeline;
    use crate::prepare::PipelineText;

    #[track_caller]
    fn check_error(text: &str, expected: Expect) {
        let pipeline = Pipeline::from_toml(text).expect("a pipeline's shape");
        match pipeline.resolve(&Registry::new()) {
            Ok(_) => panic!("expected an error"),
            Err(error) => expected.assert_eq(&error.to_diagnostic().render(false)),
        }
    }

    #[track_caller]
    fn check_requested(requested: &str, expected: Expect) {
        let text = match RequestedInstrument::parse(requested).and_then(|requested| {
            let request = Request {
                instruments: vec![requested],
                ..Request::default()
            };
            crate::trust::prepared(&Registry::new(), &request, Watched::default())
        }) {
            Ok(prepared) => prepared.context.instruments()[0].name().to_owned(),
            Err(error) => error.to_diagnostic().render(false),
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn command_line_instruments_are_parsed() {
        check_requested("memory", expect!["memory"]);
        check_requested("dump={dir='d', refresh=true}", expect!["dump"]);
        check_requested(
            "memmory",
            expect![[r#"
                error[unknown-instrument]: no instrument is named `memmory`
                 |
                 = help: did you mean `memory`?"#]],
        );
        check_requested(
            "bisect={limit='3'}",
            expect![[r#"
                error[config]: invalid value for `limit` of `bisect`: expected an int, found "3"
                --> --instrument
                 |
                 | bisect={limit='3'}
                 |         ^^^^^
                 |
                 = help: remove the quotes: 3"#]],
        );
        check_requested(
            "bisect=3",
            expect![[r#"
                error[config]: invalid options in `--instrument bisect=3`: not a TOML table
                 |
                 = help: write `--instrument 'NAME={OPTION=VALUE}'`"#]],
        );
    }

    passdock_core::sdk::options! {
        /// Options of an instrument that can fail a run.
        struct CheckerOptions {
            /// A directory.
            inputs: String = "",
            /// A file.
            library: String = "",
            /// Not a path.
            runs: i64 = 1,
        }
    }

    struct Checker;

    impl PassInstrument for Checker {
        fn name(&self) -> &str {
            "judge"
        }
    }

    fn checker() -> InstrumentSpec {
        let summary = "Judges what passes make.";
        InstrumentSpec::new("judge", summary, |_: CheckerOptions, _| {
            Ok(Arc::new(Checker))
        })
        .paths(["inputs", "library"])
    }

    #[test]
    fn checking_instruments_get_absolute_paths() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("samples")).unwrap();
        std::fs::write(dir.path().join("ort.so"), "").unwrap();
        let dir = dir.path().display().to_string();
        let text = "passes = []\n[[instruments]]\nname = 'timing'\n[[instruments]]\n\
                    name = 'judge'\ninputs = 'samples'\nruns = 3\n";
        let request = Request {
            pipeline: Some(PipelineText::from_file(
                format!("{dir}/pipeline.toml"),
                text,
            )),
            instruments: vec![
                RequestedInstrument::parse("verify").unwrap(),
                RequestedInstrument::parse(&format!("judge={{library='{dir}/ort.so'}}")).unwrap(),
            ],
            ..Request::default()
        };
        let registry = Registry::new();
        registry.register_instrument(checker()).unwrap();
        let prepared = crate::trust::prepared(&registry, &request, Watched::default()).unwrap();
        let checking = prepared
            .context
            .checking_instruments()
            .iter()
            .map(|table| table.to_string());
        expect![[r#"
            inputs = "/there/samples"
            name = "judge"
            runs = 3

            name = "verify"

            library = "/there/ort.so"
            name = "judge"
        "#]]
        .assert_eq(
            &checking
                .collect::<Vec<_>>()
                .join("\n")
                .replace(&dir, "/there"),
        );
    }

    #[test]
    fn invalid_options_are_underlined() {
        check_error(
            "[[instruments]]\nname = 'timings'\n",
            expect![[r#"
                error[unknown-instrument]: no instrument is named `timings`
                 --> pipeline.toml:2:8
                  |
                2 | name = 'timings'
                  |        ^^^^^^^^^
                  |
                  = help: did you mean `timing`?"#]],
        );
        check_error(
            "[[instruments]]\nname = 'print-after'\npases = ['all']\n",
            expect![[r#"
                error[config]: unknown field `pases` of `print-after`
                 --> pipeline.toml:3:1
                  |
                3 | pases = ['all']
                  | ^^^^^
                  |
                  = help: did you mean `passes`?"#]],
        );
        check_error(
            "[[instruments]]\nname = 'print-after'\npasses = 'all'\n",
            expect![[r#"
                error[config]: invalid value for `passes` of `print-after`: expected a list of strings, found "all"
                 --> pipeline.toml:3:10
                  |
                3 | passes = 'all'
                  |          ^^^^^
                  |
                  = help: did you mean `["all"]`?"#]],
        );
        check_error(
            "[[instruments]]\nname = 'print-after'\npasses = ['pipelin']\n",
            expect![[r#"
                error[config]: no pass is named `pipelin`
                 --> pipeline.toml:3:10
                  |
                3 | passes = ['pipelin']
                  |          ^^^^^^^^^^^
                  |
                  = help: did you mean `pipeline`?"#]],
        );
        check_error(
            "[[instruments]]\nname = 'dump'\n",
            expect![[r#"
                error[config]: missing required option `dir` of instrument `dump`
                 --> pipeline.toml:2:8
                  |
                2 | name = 'dump'
                  |        ^^^^^^
                  |
                  = help: dir: The directory, which is created if it doesn't exist."#]],
        );
        check_error(
            "[[instruments]]\nname = 'dump'\ndir = ''\n",
            expect![[r#"
                error[config]: missing name of the directory for `dump`
                 --> pipeline.toml:3:7
                  |
                3 | dir = ''
                  |       ^^"#]],
        );
    }
}
