//! The instruments that come with the host, one file each.

mod dump;
mod print;
mod print_changed;
mod reproducer;
mod timing;
mod verifier;

use std::io::Write;
use std::sync::Arc;

use crate::registry::{InstrumentSpec, wrong};
use crate::reproducer::ReproducerOptions;

pub use dump::DumpIr;
pub use print::{Names, PrintIr, print_ir};
pub use print_changed::PrintChanged;
pub use reproducer::WriteReproducer;
pub use timing::PassTimingInstrument;
pub use verifier::WellFormed;

crate::config_struct! {
    /// The options of `print-before` and `print-after`.
    struct PrintOptions {
        /// The passes; `all` stands for all.
        passes: Vec<String> = vec!["all".to_owned()];
    }
}

crate::config_struct! {
    /// The options of `dump`.
    struct DumpOptions {
        /// The directory, which is made if it isn't there. It has to be given.
        dir: String = "";
        /// Removes the dumps of an earlier run first, if the directory holds nothing else.
        refresh: bool = false;
    }
}

crate::config_struct! {
    /// The options of `reproducer`.
    struct ReproducerTable {
        /// The directory in which the reproducer's own one is made.
        dir: String = ".";
        /// Copies constants of more than 64 KiB, too, instead of referring to the model.
        self_contained: bool = false;
    }
}

/// The instruments that every registry has.
pub(crate) fn built_in() -> Vec<InstrumentSpec> {
    vec![
        InstrumentSpec::new("timing", "The time of each pass, as a tree.", |(), _| {
            Ok(Arc::new(PassTimingInstrument::new()))
        }),
        InstrumentSpec::new(
            "print-before",
            "Prints the module before passes.",
            |options: PrintOptions, setup| {
                let names = setup.passes("print-before", "passes", &options.passes)?;
                let sink = setup.sink.clone();
                Ok(Arc::new(PrintIr::new(names, Names::None, sink)))
            },
        ),
        InstrumentSpec::new(
            "print-after",
            "Prints the module after passes.",
            |options: PrintOptions, setup| {
                let names = setup.passes("print-after", "passes", &options.passes)?;
                let sink = setup.sink.clone();
                Ok(Arc::new(PrintIr::new(Names::None, names, sink)))
            },
        ),
        InstrumentSpec::new(
            "print-changed",
            "Prints what each pass changed, as a diff.",
            |(), setup| Ok(Arc::new(PrintChanged::new(setup.sink.clone()))),
        ),
        InstrumentSpec::new(
            "dump",
            "Writes the module to a directory after each pass.",
            |options: DumpOptions, setup| {
                if options.dir.is_empty() {
                    let message = "The instrument `dump` needs a directory, `dir`.";
                    return Err(wrong("dump", "dir", message).into());
                }
                let dump = DumpIr::new(setup.path(&options.dir));
                Ok(Arc::new(match options.refresh {
                    true => dump.refresh(),
                    false => dump,
                }))
            },
        ),
        InstrumentSpec::new(
            "reproducer",
            "Writes what it takes to run into a pass's failure again.",
            |options: ReproducerTable, setup| {
                let written = ReproducerOptions {
                    self_contained: options.self_contained,
                    ..ReproducerOptions::default()
                };
                Ok(Arc::new(WriteReproducer::new(
                    setup.path(&options.dir),
                    written,
                )))
            },
        ),
        InstrumentSpec::new(
            "verify",
            "Verifies the whole module before and after each pass.",
            |(), _| Ok(Arc::new(WellFormed::new())),
        ),
    ]
}

/// Where an instrument's text goes.
pub type Sink = Arc<dyn Fn(&str) + Send + Sync>;

/// A sink to standard error.
pub fn stderr() -> Sink {
    // There is nobody to tell that standard error is closed.
    Arc::new(|text| _ = std::io::stderr().lock().write_all(text.as_bytes()))
}

/// A sink to standard output.
pub fn stdout() -> Sink {
    Arc::new(|text| _ = std::io::stdout().lock().write_all(text.as_bytes()))
}
