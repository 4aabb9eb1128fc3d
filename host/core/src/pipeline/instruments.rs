//! Instruments by name: those of `[[instruments]]`, and those that the command line asks for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{Entry, InstrumentTable, PipelineFile, SourceText};
use super::request::Request;
use crate::context::ContextBuilder;
use crate::error::PassError;
use crate::instruments::{
    DumpIr, Names, PassTimingInstrument, PrintChanged, PrintIr, Sink, WellFormed, stderr, stdout,
};
use crate::suggest;

/// What an instrument has to show when all passes ran.
pub(crate) struct Shown {
    pub(crate) name: String,
    pub(crate) text: Box<dyn Fn() -> String>,
}

/// The instruments that a pipeline may name, and what each is for.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("timing", "The time of each pass, as a tree."),
    (
        "print-before",
        "Prints the module before the passes of `passes`, or before all.",
    ),
    (
        "print-after",
        "Prints the module after the passes of `passes`, or after all.",
    ),
    ("print-changed", "Prints what each pass changed, as a diff."),
    (
        "dump",
        "Writes the module to the directory `dir` after each pass.",
    ),
    (
        "verify",
        "Verifies the whole module before and after each pass.",
    ),
];

/// Adds the instruments that a file and a command line ask for, in that order.
pub(crate) fn add(
    context: ContextBuilder,
    request: &Request,
    file: Option<&PipelineFile>,
) -> Result<(ContextBuilder, Vec<Shown>), PassError> {
    let sink = if request.print.to_stderr {
        stderr()
    } else {
        stdout()
    };
    let mut adding = Adding {
        context,
        sink,
        shown: Vec::new(),
    };
    if let (Some(file), Some(text)) = (file, &request.pipeline) {
        let base = text.path.parent().unwrap_or(Path::new(""));
        for table in &file.instruments {
            adding.named(table, &file.source, base)?;
        }
    }
    adding.asked(request);
    Ok((adding.context, adding.shown))
}

struct Adding {
    context: ContextBuilder,
    sink: Sink,
    shown: Vec<Shown>,
}

impl Adding {
    /// What the command line asks for.
    fn asked(&mut self, request: &Request) {
        let print = &request.print;
        if !print.before.is_empty() || !print.after.is_empty() {
            self.print(Names::new(&print.before), Names::new(&print.after));
        }
        if print.changed {
            self.print_changed();
        }
        if let Some(dir) = &request.dump_dir {
            self.dump(dir.clone());
        }
        if request.timing {
            self.timing();
        }
    }

    /// One of a file's. Directories are relative to the file.
    fn named(
        &mut self,
        table: &InstrumentTable,
        source: &SourceText,
        base: &Path,
    ) -> Result<(), PassError> {
        let mut options = Options {
            table,
            source,
            known: Vec::new(),
        };
        match table.name.value.as_str() {
            "timing" => self.timing(),
            "print-before" => self.print(Names::new(&options.passes()?), Names::new(&[])),
            "print-after" => self.print(Names::new(&[]), Names::new(&options.passes()?)),
            "print-changed" => self.print_changed(),
            "dump" => self.dump(base.join(options.dir()?)),
            "verify" => self.add(WellFormed::new()),
            other => {
                let names = BUILT_IN.iter().map(|(name, _)| *name);
                let message = format!("There is no instrument `{other}`.");
                let error = source.error(&table.name.span, "unknown instrument", message);
                return Err(error.help(match suggest::nearest(other, names.clone()) {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => format!("Instruments: {}.", suggest::listed(names)),
                }));
            }
        }
        options.finish()
    }

    fn add(&mut self, instrument: impl crate::instrument::PassInstrument + 'static) {
        let context = std::mem::take(&mut self.context);
        self.context = context.instrument(instrument);
    }

    fn timing(&mut self) {
        let timing = Arc::new(PassTimingInstrument::new());
        let context = std::mem::take(&mut self.context);
        self.context = context.shared_instrument(timing.clone());
        let text = Box::new(move || timing.render());
        self.shown.push(Shown {
            name: "timing".to_owned(),
            text,
        });
    }

    fn print(&mut self, before: Names, after: Names) {
        self.add(PrintIr::new(before, after, self.sink.clone()));
    }

    fn print_changed(&mut self) {
        self.add(PrintChanged::new(self.sink.clone()));
    }

    fn dump(&mut self, dir: PathBuf) {
        self.add(DumpIr::new(dir));
    }
}

/// The keys of an `[[instruments]]` table beside its name.
struct Options<'t> {
    table: &'t InstrumentTable,
    source: &'t SourceText,
    known: Vec<&'static str>,
}

impl Options<'_> {
    fn take(&mut self, key: &'static str) -> Option<&Entry> {
        self.known.push(key);
        self.table
            .options
            .iter()
            .find(|(name, _)| name.value == key)
    }

    /// `passes`; left out, it is all.
    fn passes(&mut self) -> Result<Vec<String>, PassError> {
        let source = self.source;
        let Some((_, value)) = self.take("passes") else {
            return Ok(vec!["all".to_owned()]);
        };
        let list = value
            .value
            .as_array()
            .map(|items| items.iter().map(|item| item.as_str()));
        let names = list.and_then(|items| items.collect::<Option<Vec<&str>>>());
        match names {
            Some(names) => Ok(names.into_iter().map(str::to_owned).collect()),
            None => {
                let message = "`passes` has to be a list of pass names.";
                Err(source.error(&value.span, "not a list of names", message))
            }
        }
    }

    fn dir(&mut self) -> Result<PathBuf, PassError> {
        let (source, span) = (self.source, self.table.name.span.clone());
        match self
            .take("dir")
            .map(|(_, value)| (value.value.as_str(), value.span.clone()))
        {
            Some((Some(dir), _)) => Ok(PathBuf::from(dir)),
            Some((None, span)) => {
                Err(source.error(&span, "not a string", "`dir` has to be a directory's name."))
            }
            None => Err(source.error(&span, "", "The instrument `dump` needs a `dir`.")),
        }
    }

    /// Refuses keys that the instrument doesn't have.
    fn finish(self) -> Result<(), PassError> {
        let unknown = |(key, _): &&Entry| !self.known.contains(&key.value.as_str());
        let Some((key, _)) = self.table.options.iter().find(unknown) else {
            return Ok(());
        };
        let name = &self.table.name.value;
        let message = format!("The instrument `{name}` has no option `{}`.", key.value);
        let error = self.source.error(&key.span, "unknown option", message);
        Err(match self.known.is_empty() {
            true => error.help("It takes no options."),
            false => error.help(format!("Valid options: {}.", suggest::listed(self.known))),
        })
    }
}
