//! Running other programs: shown as one would type them, failing as sentences.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};

use anyhow::{Context, Result, bail};

thread_local! {
    /// What this thread shows, and what its commands print, if it's kept.
    static KEPT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does the work; what [`run`] and [`say`] would show of it on this thread is given back with its result.
pub(crate) fn keep_output<T>(work: impl FnOnce() -> T) -> (T, String) {
    KEPT.set(Some(String::new()));
    let result = work();
    (result, KEPT.take().unwrap_or_default())
}

/// Shows a line.
pub(crate) fn say(line: impl Display) {
    KEPT.with_borrow_mut(|kept| match kept {
        None => println!("{line}"),
        Some(kept) => *kept += &format!("{line}\n"),
    });
}

/// Shows the command, runs it with this program's own output, fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    command.stdin(Stdio::null());
    let shown = shown(command);
    let status = match KEPT.take() {
        None => {
            println!("$ {shown}");
            command.status().with_context(|| cannot_start(command))?
        }
        Some(before) => {
            let (status, printed) = run_apart(command)?;
            KEPT.set(Some(format!("{before}$ {shown}\n{printed}")));
            status
        }
    };
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

/// Runs the command, and gives what it printed to both streams, in the order in which it came.
fn run_apart(command: &mut Command) -> Result<(ExitStatus, String)> {
    let (mut reader, writer) = std::io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let child = command.spawn();
    // The command's own ends of the pipe, which would never end.
    command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let mut child = child.with_context(|| cannot_start(command))?;
    let mut printed = Vec::new();
    reader.read_to_end(&mut printed)?;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    Ok((child.wait()?, printed))
}

/// Runs the command silently and gives what it wrote to standard output.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let Output {
        status,
        stdout,
        stderr,
    } = output(command)?;
    if !status.success() {
        bail!(
            "`{}` ended with {status}: {}",
            shown(command),
            String::from_utf8_lossy(&stderr).trim()
        );
    }
    String::from_utf8(stdout)
        .with_context(|| format!("`{}` printed something that isn't UTF-8", shown(command)))
}

/// Runs the command silently and gives all it wrote, whatever its exit status.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| cannot_start(command))
}

/// Is there such a program here?
pub(crate) fn exists(program: impl AsRef<OsStr>) -> bool {
    let started = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    !matches!(started, Err(error) if error.kind() == ErrorKind::NotFound)
}

/// The command as one would type it in the checkout.
fn shown(command: &Command) -> String {
    let here = command.get_current_dir();
    let short = |text: &OsStr| match here.and_then(|here| Path::new(text).strip_prefix(here).ok()) {
        Some(inside) => inside.display().to_string(),
        None => text.to_string_lossy().into_owned(),
    };
    let program = Path::new(command.get_program());
    let program = match program.file_stem() {
        // The cargo that runs us is called by its path; nobody types that.
        Some(stem) if stem == "cargo" => "cargo".to_owned(),
        _ => short(program.as_os_str()),
    };
    std::iter::once(program)
        .chain(command.get_args().map(short))
        .map(|word| {
            if word.contains(char::is_whitespace) {
                format!("'{word}'")
            } else {
                word
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`", command.get_program().to_string_lossy())
}
