//! The `dump` instrument, which writes the module to a file after each pass.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use passdock_diagnostic::{Diagnostic, Severity};
use passdock_ir::{Module, text};

use super::in_file;
use crate::error::PassError;
use crate::instrument::{
    Entries, Frame, InstrumentResult, InstrumentSpec, PassCall, PassInstrument, Sink, option_error,
    stderr,
};
use passdock_files::{Target, create_directory, declare_output, remove_numbered_files};

passdock_plugin_api::options! {
    /// The options of `dump`.
    struct Options {
        /// The directory, which is created if it doesn't exist.
        dir: String,
        /// Whether to remove the dumps of an earlier run first, if the directory contains nothing else.
        refresh: bool = false,
    }
}

pub(super) fn spec() -> InstrumentSpec {
    let summary = "Writes the module as IR text to a directory after each pass.";
    let spec = InstrumentSpec::new("dump", summary, |options: Options, setup| {
        if options.dir.is_empty() {
            let message = "missing name of the directory for `dump`";
            return Err(option_error("dump", "dir", message).into());
        }
        let dump = DumpIr::new(setup.path(&options.dir));
        Ok(Arc::new(match options.refresh {
            true => dump.refresh(),
            false => dump,
        }))
    })
    .watching();
    spec.paths(["dir"]).aliases(["DumpIR"])
}

/// An instrument that writes `NNN_pass.ir` after each pass.
pub struct DumpIr {
    dir: PathBuf,
    /// Whether the files of an earlier run are removed first.
    refresh: bool,
    warn: Sink,
    count: AtomicU32,
    entries: Entries,
}

impl DumpIr {
    /// Creates an instrument that writes to a directory, which is created if it doesn't exist.
    pub fn new(dir: impl Into<PathBuf>) -> DumpIr {
        let dir = dir.into();
        declare_output(&dir);
        DumpIr {
            dir,
            refresh: false,
            warn: stderr(),
            count: AtomicU32::new(0),
            entries: Entries::default(),
        }
    }

    /// Removes the dumps of an earlier run first. A directory with other files is left unchanged, with a warning.
    pub fn refresh(mut self) -> DumpIr {
        self.refresh = true;
        self
    }

    /// Sets the sink for warnings. The default is standard error.
    pub fn warn(mut self, sink: Sink) -> DumpIr {
        self.warn = sink;
        self
    }

    fn write(&self, path: &Path, module: &Module) -> io::Result<()> {
        // A context that is passed explicitly isn't entered, so the directory may not exist.
        create_directory(&self.dir)?;
        // Paths of data files are relative to the directory, so that the dump can be read there.
        let options = text::PrintOptions {
            directory: Some(&self.dir),
            ..text::PrintOptions::default()
        };
        Target::replacing(path)?.write(false, |file| {
            let mut out = BufWriter::new(file);
            text::write_module(&mut out, module, &options)?;
            out.flush()
        })
    }

    /// Creates the directory, and removes the dumps of an earlier run.
    fn begin(&self) -> io::Result<()> {
        self.count.store(0, Ordering::Relaxed);
        create_directory(&self.dir)?;
        if !self.refresh {
            return Ok(());
        }
        if let Some(other) = remove_numbered_files(&self.dir, ".ir")? {
            let message = format!(
                "keeping all files in directory `{}`: `{other}` is not a dump",
                self.dir.display()
            );
            let warning = Diagnostic::new(Severity::Warning, "dump", message);
            (self.warn)(&(warning.render(false) + "\n"));
        }
        Ok(())
    }

    fn next(&self) -> u32 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }
}

impl PassInstrument for DumpIr {
    fn name(&self) -> &str {
        "dump"
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        if self.entries.enter()
            && let Err(error) = self.begin()
        {
            self.entries.exit();
            return Err(in_file(&self.dir, &error).into());
        }
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        self.entries.exit();
        Ok(())
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let is_special = |c| "<>:\"/\\|?*".contains(c);
        let name = call.info.name.replace(is_special, "_");
        let path = self.dir.join(format!("{:03}_{name}.ir", self.next()));
        let written = self.write(&path, call.module);
        Ok(written.map_err(|error| in_file(&path, &error))?)
    }

    fn pass_failed(&self, _: &PassCall<'_>, _error: &PassError) -> InstrumentResult {
        self.next();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use expect_test::expect;

    use super::*;
    use crate::context::PassContext;
    use crate::instrument::built_in::testing::{Printed, fuse, module, run_with, sequential};

    #[test]
    fn directory_is_created_without_entering_the_context() {
        let dir = tempfile::tempdir().unwrap();
        let dumps = dir.path().join("new/dumps");
        let context = PassContext::builder().instrument(DumpIr::new(&dumps));
        fuse().call_in(module(), &context.build().unwrap()).unwrap();
        assert!(dumps.join("000_demo.transform.Fuse.ir").is_file());
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (dumps, mine) = (dir.path().join("dumps"), dir.path().join("mine"));
        let dump = dumps.join("000_demo.transform.Fuse.ir");
        fs::create_dir(&dumps).unwrap();
        for target in ["mine", "none"] {
            fs::write(&mine, "mine").unwrap();
            let _ = fs::remove_file(&dump);
            std::os::unix::fs::symlink(format!("../{target}"), &dump).unwrap();
            let context = PassContext::builder().instrument(DumpIr::new(&dumps));
            fuse().call_in(module(), &context.build().unwrap()).unwrap();
            assert!(dump.symlink_metadata().unwrap().is_file());
            assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
            assert!(!dir.path().join("none").exists());
        }
    }

    #[test]
    fn dumps_are_valid_and_refreshed() {
        let dir = tempfile::tempdir().unwrap();
        let printed = Printed::default();
        let run = |passes: &[&str]| {
            let dump = DumpIr::new(dir.path()).refresh().warn(printed.sink());
            let passes = passes.iter().map(|_| fuse());
            run_with(Arc::new(dump), &sequential("s", passes), module());
            let mut names: Vec<String> = fs::read_dir(dir.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names.join("\n")
        };
        expect![[r#"
            000_demo.transform.Fuse.ir
            001_demo.transform.Fuse.ir
            002_s.ir"#]]
        .assert_eq(&run(&["a", "b"]));
        expect![[r#"
            000_demo.transform.Fuse.ir
            001_s.ir"#]]
        .assert_eq(&run(&["a"]));
        let text = fs::read_to_string(dir.path().join("001_s.ir")).unwrap();
        assert_eq!(text::parse(&text).unwrap().op_count(), 3);
        assert_eq!(printed.take(), "");
        fs::write(dir.path().join("mine.txt"), "").unwrap();
        expect![[r#"
            000_demo.transform.Fuse.ir
            000_s.ir
            001_s.ir
            mine.txt"#]]
        .assert_eq(&run(&[]));
        let warning = printed.take();
        expect![[r#"
            warning[dump]: keeping all files in directory `DIR`: `mine.txt` is not a dump
        "#]]
        .assert_eq(&warning.replace(&dir.path().display().to_string(), "DIR"));
    }
}
