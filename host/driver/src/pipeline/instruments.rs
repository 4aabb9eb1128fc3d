//! The instruments of a run: those of `[[instruments]]`, then those that the command line asks for.

use std::path::Path;

use super::blame;
use super::build::{self, locate};
use super::file::{InstrumentTable, PipelineFile, SourceText};
use super::request::Request;
use super::taken;
use crate::reproducer;
use passdock_core::config::ConfigError;
use passdock_core::instrument::built_in::{DumpIr, PassTimingInstrument, PrintChanged, PrintIr};
use passdock_core::instrument::stderr;
use passdock_core::{
    ContextBuilder, ErrorKind, InstrumentRef, InstrumentSetup, InstrumentSpec, PassError, Registry,
    Sequential,
};
use passdock_core::{Names, Sink};

/// Registers the instruments of this crate, unless the registry has them.
pub(super) fn register(registry: &Registry) -> Result<(), PassError> {
    let own = reproducer::instrument();
    match registry.instrument_spec(&own.name) {
        Ok(_) => Ok(()),
        Err(_) => registry.register_instrument(own),
    }
}

/// Adds the instruments that a file and a command line ask for, in that order; those that only watch
/// are made and left out if `only_judges`.
pub(crate) fn add(
    mut context: ContextBuilder,
    request: &Request,
    sink: Option<&Sink>,
    file: Option<&PipelineFile>,
    registry: &Registry,
    sequential: &Sequential,
    only_judges: bool,
) -> Result<ContextBuilder, PassError> {
    let base = request.pipeline.as_ref().and_then(|p| p.path.parent());
    let sequentials = build::sequential_names(sequential);
    let mut setup = InstrumentSetup::new(registry).with_sequentials(sequentials);
    setup.base = base.unwrap_or(Path::new(""));
    setup.color = request.print.color;
    let taken = |path: &Path| taken::named(path, request, registry);
    setup.taken = &taken;
    match sink {
        Some(sink) => setup.sink = sink.clone(),
        None if request.print.to_stderr => setup.sink = stderr(),
        None => {}
    }
    if let Some(file) = file {
        for table in &file.instruments {
            let (spec, instrument) = named(table, &file.source, registry, &setup)?;
            if spec.judges {
                context = context.judge(spec.table(&options(table), setup.base));
            }
            if spec.judges || !only_judges {
                context = context.shared_instrument(instrument);
            }
        }
    }
    setup.base = Path::new("");
    for asked in &request.instruments {
        let (name, options) = read(asked)?;
        let spec = registry.instrument_spec(name)?;
        let made = spec.make(&options, &setup);
        let instrument = made.map_err(|error| blame::in_instrument(error, asked))?;
        if spec.judges {
            context = context.judge(spec.table(&options, setup.base));
        }
        if spec.judges || !only_judges {
            context = context.shared_instrument(instrument);
        }
    }
    match only_judges {
        true => Ok(context),
        false => asked(context, request, registry, &setup),
    }
}

/// The options of one of a file's.
fn options(table: &InstrumentTable) -> toml::Table {
    let options = table.options.iter();
    options
        .map(|(key, value)| (key.value.clone(), value.value.clone()))
        .collect()
}

/// One of a file's.
fn named(
    table: &InstrumentTable,
    source: &SourceText,
    registry: &Registry,
    setup: &InstrumentSetup<'_>,
) -> Result<(InstrumentSpec, InstrumentRef), PassError> {
    let name = &table.name;
    let spec = registry
        .instrument_spec(&name.value)
        .map_err(|error| source.locate(error, &name.span))?;
    build::check_options(&spec.schema(), &table.options, source)?;
    let made = spec.make(&options(table), setup);
    let made = made.map_err(|error| {
        // The option that it is about, if it is about one that the file gives.
        let field = error.source.as_ref().and_then(|cause| {
            let wrong = cause.downcast_ref::<ConfigError>()?;
            let field = wrong.field.as_ref()?;
            let given = table.options.iter().find(|(key, _)| key.value == *field)?;
            Some((wrong.clone(), given))
        });
        match field {
            Some((wrong, (key, value))) => locate(source, wrong, key, value),
            None => source.locate(error, &name.span),
        }
    });
    Ok((spec, made?))
}

/// One of the command line's: `NAME`, or `NAME={OPTION=VALUE, …}`.
fn read(asked: &str) -> Result<(&str, toml::Table), PassError> {
    match asked.split_once('=') {
        None => Ok((asked.trim(), toml::Table::new())),
        Some((name, text)) => {
            let read = format!("options = {text}").parse::<toml::Table>().ok();
            let options = read.and_then(|mut table| table.remove("options"));
            let Some(toml::Value::Table(options)) = options else {
                let message = format!("The options of `--instrument {asked}` aren't a TOML table.");
                let error = PassError::new(ErrorKind::Config, message);
                return Err(error.help("Write `--instrument 'NAME={OPTION=VALUE}'`."));
            };
            Ok((name.trim(), options))
        }
    }
}

/// What flags ask for; their names were checked.
fn asked(
    mut context: ContextBuilder,
    request: &Request,
    registry: &Registry,
    setup: &InstrumentSetup<'_>,
) -> Result<ContextBuilder, PassError> {
    let print = &request.print;
    if !print.before.is_empty() || !print.after.is_empty() {
        let names = |names: &[String]| {
            let names = names.iter().map(|name| registry.canonical(name));
            Names::new(&names.collect::<Vec<_>>())
        };
        let (before, after) = (names(&print.before), names(&print.after));
        context = context.instrument(PrintIr::new(before, after, setup.sink.clone()));
    }
    if print.changed {
        let print = PrintChanged::new(setup.sink.clone());
        context = context.instrument(match setup.color {
            true => print.color(),
            false => print,
        });
    }
    if let Some(dir) = &request.dump_dir {
        context = context.instrument(DumpIr::new(dir.clone()));
    }
    if request.timing || request.trace.is_some() {
        let mut timing = PassTimingInstrument::new();
        if let Some(path) = &request.trace {
            setup.check_new_file(path)?;
            timing = timing.trace(path);
        }
        if !request.timing {
            timing = timing.quiet();
        }
        context = context.instrument(timing);
    }
    Ok(context)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};
    use passdock_core::PassInstrument;

    use super::*;
    use crate::pipeline::Pipeline;
    use crate::pipeline::PipelineText;

    #[track_caller]
    fn check_error(text: &str, expected: Expect) {
        let pipeline = Pipeline::from_toml(text).expect("a pipeline's shape");
        match pipeline.resolve(&Registry::new()) {
            Ok(_) => panic!("this should be refused"),
            Err(error) => expected.assert_eq(&error.to_diagnostic().render(false)),
        }
    }

    #[track_caller]
    fn check_asked(asked: &str, expected: Expect) {
        let request = Request {
            instruments: vec![asked.to_owned()],
            ..Request::default()
        };
        let text = match build::build(&Registry::new(), &request, None, false)
            .and_then(|built| built.context.build())
        {
            Ok(context) => context.instruments()[0].name().to_owned(),
            Err(error) => error.to_diagnostic().render(false),
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn instruments_of_the_command_line() {
        check_asked("memory", expect!["memory"]);
        check_asked("dump={dir='d', refresh=true}", expect!["dump"]);
        check_asked(
            "memmory",
            expect![[r#"
            error[unknown-instrument]: There is no instrument `memmory`.
             |
             = help: Did you mean `memory`?"#]],
        );
        check_asked(
            "bisect={limit='3'}",
            expect![[r#"
                error[config]: Expected the field `limit` of `bisect` to be an int, but got the string "3".
                --> --instrument
                 |
                 | bisect={limit='3'}
                 |         ^^^^^
                 |
                 = help: Write 3 without quotes."#]],
        );
        check_asked(
            "bisect=3",
            expect![[r#"
            error[config]: The options of `--instrument bisect=3` aren't a TOML table.
             |
             = help: Write `--instrument 'NAME={OPTION=VALUE}'`."#]],
        );
    }

    passdock_core::config_struct! {
        /// The options of an instrument that judges passes.
        struct Judged {
            /// A directory.
            inputs: String = "";
            /// A file.
            library: String = "";
            /// No path.
            samples: i64 = 1;
        }
    }

    struct Judge;

    impl PassInstrument for Judge {
        fn name(&self) -> &str {
            "judge"
        }
    }

    fn judge() -> InstrumentSpec {
        let summary = "Judges what passes make.";
        InstrumentSpec::judging("judge", summary, |_: Judged, _| Ok(Arc::new(Judge)))
            .paths(["inputs", "library"])
    }

    #[test]
    fn those_that_judge_are_kept_with_paths_that_hold_anywhere() {
        let there = tempfile::tempdir().unwrap();
        std::fs::create_dir(there.path().join("samples")).unwrap();
        std::fs::write(there.path().join("ort.so"), "").unwrap();
        let there = there.path().display().to_string();
        let text = "passes = []\n[[instruments]]\nname = 'timing'\n[[instruments]]\n\
                    name = 'judge'\ninputs = 'samples'\nsamples = 3\n";
        let request = Request {
            pipeline: Some(PipelineText {
                path: format!("{there}/pipeline.toml").into(),
                text: text.to_owned(),
            }),
            instruments: vec![
                "verify".to_owned(),
                format!("judge={{library='{there}/ort.so'}}"),
            ],
            ..Request::default()
        };
        let registry = Registry::new();
        registry.register_instrument(judge()).unwrap();
        let context = build::build(&registry, &request, None, false)
            .unwrap()
            .context
            .build()
            .unwrap();
        let judges = context.judges().iter().map(|table| table.to_string());
        expect![[r#"
            inputs = "/there/samples"
            name = "judge"
            samples = 3

            name = "verify"

            library = "/there/ort.so"
            name = "judge"
        "#]]
        .assert_eq(
            &judges
                .collect::<Vec<_>>()
                .join("\n")
                .replace(&there, "/there"),
        );
    }

    #[test]
    fn options_are_checked_and_underlined() {
        check_error(
            "[[instruments]]\nname = 'timings'\n",
            expect![[r#"
            error[unknown-instrument]: There is no instrument `timings`.
             --> pipeline.toml:2:8
              |
            2 | name = 'timings'
              |        ^^^^^^^^^
              |
              = help: Did you mean `timing`?"#]],
        );
        check_error(
            "[[instruments]]\nname = 'print-after'\npases = ['all']\n",
            expect![[r#"
                error[config]: `print-after` has no field `pases`.
                 --> pipeline.toml:3:1
                  |
                3 | pases = ['all']
                  | ^^^^^
                  |
                  = help: Did you mean `passes`?"#]],
        );
        check_error(
            "[[instruments]]\nname = 'print-after'\npasses = 'all'\n",
            expect![[r#"
                error[config]: Expected the field `passes` of `print-after` to be a list of strings, but got the string "all".
                 --> pipeline.toml:3:10
                  |
                3 | passes = 'all'
                  |          ^^^^^
                  |
                  = help: Did you mean `["all"]`?"#]],
        );
        check_error(
            "[[instruments]]\nname = 'print-after'\npasses = ['pipelin']\n",
            expect![[r#"
                error[config]: There is no pass `pipelin`.
                 --> pipeline.toml:3:10
                  |
                3 | passes = ['pipelin']
                  |          ^^^^^^^^^^^
                  |
                  = help: Did you mean `pipeline`?"#]],
        );
        check_error(
            "[[instruments]]\nname = 'dump'\n",
            expect![[r#"
                error[config]: The instrument `dump` needs its option `dir`, which has no default.
                 --> pipeline.toml:2:8
                  |
                2 | name = 'dump'
                  |        ^^^^^^
                  |
                  = help: dir: The directory, which is made if it isn't there."#]],
        );
        check_error(
            "[[instruments]]\nname = 'dump'\ndir = ''\n",
            expect![[r#"
                error[config]: The directory that `dump` writes to has no name.
                 --> pipeline.toml:3:7
                  |
                3 | dir = ''
                  |       ^^"#]],
        );
    }
}
