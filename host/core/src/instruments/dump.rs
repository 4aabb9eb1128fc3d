//! The module as a file after each pass.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use passdock_ir::{Module, text};

use crate::error::PassError;
use crate::instrument::{InstrumentResult, PassInstrument};
use crate::pass_info::PassInfo;

/// Writes `NNN_pass.ir` after each pass.
pub struct DumpIr {
    dir: PathBuf,
    /// Whether files of an earlier run are removed first.
    refresh: bool,
    count: AtomicU32,
}

impl DumpIr {
    /// Writes to a directory, which is made if it isn't there.
    pub fn new(dir: impl Into<PathBuf>) -> DumpIr {
        DumpIr {
            dir: dir.into(),
            refresh: false,
            count: AtomicU32::new(0),
        }
    }

    /// Removes the dumps of an earlier run first. A directory that holds anything else is left as
    /// it is.
    pub fn refresh(mut self) -> DumpIr {
        self.refresh = true;
        self
    }

    fn next(&self) -> u32 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }
}

impl PassInstrument for DumpIr {
    fn name(&self) -> &str {
        "dump"
    }

    fn enter_pass_ctx(&self) -> InstrumentResult {
        self.count.store(0, Ordering::Relaxed);
        fs::create_dir_all(&self.dir).map_err(|error| in_dir(&self.dir, &error))?;
        if self.refresh {
            remove_dumps(&self.dir).map_err(|error| in_dir(&self.dir, &error))?;
        }
        Ok(())
    }

    fn run_after_pass(&self, module: &Module, info: &PassInfo) -> InstrumentResult {
        let name: String = info
            .name
            .chars()
            .map(|c| if "<>:\"/\\|?*".contains(c) { '_' } else { c })
            .collect();
        let path = self.dir.join(format!("{:03}_{name}.ir", self.next()));
        Ok(fs::write(&path, text::print(module)).map_err(|error| in_dir(&path, &error))?)
    }

    fn pass_failed(&self, _module: &Module, _info: &PassInfo, _error: &PassError) {
        self.next();
    }
}

/// Removes earlier dumps if the directory holds nothing else.
fn remove_dumps(dir: &Path) -> io::Result<()> {
    let mut dumps = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_dump = name.to_str().is_some_and(|name| {
            let digits = name.bytes().take_while(u8::is_ascii_digit).count();
            digits >= 3 && name[digits..].starts_with('_') && name.ends_with(".ir")
        });
        if !is_dump || !entry.file_type()?.is_file() {
            return Ok(());
        }
        dumps.push(entry.path());
    }
    dumps.iter().try_for_each(fs::remove_file)
}

fn in_dir(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}
