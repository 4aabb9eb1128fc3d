//! The archive that `cargo xtask dist` makes: unpacked where nothing else of the project is, it works.

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;

use crate::project::Project;
use crate::shell;

use super::{build, docs, files};

/// Unpacks an archive in a directory, and uses what comes out; gives the directory that it has.
pub(super) fn works_elsewhere(archive: &Path, place: &Path) -> Result<PathBuf> {
    if place.exists() {
        fs::remove_dir_all(place)?;
    }
    let root = unpack(archive, place)?;
    let command = |arguments: &[&str]| passdock(&root, place, arguments);

    let version = command(&["--version"])?;
    ensure!(
        version.starts_with("passdock "),
        "--version prints {version}"
    );
    let passes = command(&["list", "passes", "--json"])?;
    ensure!(
        passes.contains("relax.transform.FoldConstant"),
        "the plugins weren't found: {passes}"
    );
    let model = root.join("share/passdock/examples/models/digits.onnx");
    let model = model.to_str().context("the path is UTF-8")?;
    let report = command(&["run", model, "-o", "digits.onnx"])?;
    ensure!(
        report.contains("written to digits.onnx"),
        "the report says\n{report}"
    );
    fs::write(
        place.join("mine.toml"),
        command(&["list", "pipelines", "simplify"])?,
    )?;
    command(&["run", "mine.toml", model, "-o", "again.onnx"])?;

    docs::check(&root, &files(&root)?)?;
    for line in docs::shown_commands() {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        passdock(&root, &root, &words).with_context(|| format!("README.md: {line}"))?;
    }

    // The headers are all there.
    for (name, language) in [("passdock.h", "c"), ("passdock.hpp", "c++")] {
        let file = root.join("include").join(name);
        shell::run(
            Command::new("cc")
                .args(["-fsyntax-only", "-x", language])
                .arg(file),
        )?;
    }

    // Also by a link in a directory of programs.
    #[cfg(unix)]
    {
        fs::create_dir(place.join("programs"))?;
        std::os::unix::fs::symlink(root.join("bin/passdock"), place.join("programs/passdock"))?;
        let linked = Command::new(place.join("programs/passdock"))
            .args(["run", model, "-o", "linked.onnx"])
            .current_dir(place)
            .output()?;
        ensure!(
            linked.status.success(),
            "by a link: {}",
            String::from_utf8_lossy(&linked.stderr)
        );
    }

    // The command alone says what it misses.
    let alone = place.join("alone");
    fs::create_dir(&alone)?;
    let name = format!("passdock{EXE_SUFFIX}");
    fs::copy(root.join("bin").join(&name), alone.join(&name))?;
    let output = clean(&alone.join(&name), place)
        .args(["run", model, "-o", "alone.onnx"])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains("lib/passdock/plugins") {
        bail!("the command without its plugins says\n{said}");
    }
    Ok(root)
}

/// Unpacks the archive, and gives the one directory that it has.
fn unpack(archive: &Path, place: &Path) -> Result<PathBuf> {
    let file = fs::File::open(archive)?;
    tar::Archive::new(GzDecoder::new(file)).unpack(place)?;
    let entries: Vec<_> = fs::read_dir(place)?.collect::<std::io::Result<_>>()?;
    match &entries[..] {
        [root] => Ok(root.path()),
        _ => bail!("the archive has {} entries at its top", entries.len()),
    }
}

/// Programs and plugins, which are in these directories, tell nobody where they were built.
pub(crate) fn names_no_path_of_this_machine(
    project: &Project,
    root: &Path,
    directories: &[&str],
) -> Result<()> {
    let paths = [project.root.clone(), build::cargo_home()?];
    for directory in directories {
        for file in files(&root.join(directory))? {
            let bytes = fs::read(&file)?;
            for path in &paths {
                let path = path.to_str().context("paths of this machine are UTF-8")?;
                let found = memchr::memmem::find(&bytes, path.as_bytes());
                ensure!(found.is_none(), "{} has the path {path}", file.display());
            }
        }
    }
    Ok(())
}

/// What the unpacked command prints, to both streams.
fn passdock(root: &Path, place: &Path, arguments: &[&str]) -> Result<String> {
    let program = root.join("bin").join(format!("passdock{EXE_SUFFIX}"));
    let output = shell::output(clean(&program, place).args(arguments))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (printed, said) = (text(&output.stdout), text(&output.stderr));
    ensure!(
        output.status.success(),
        "passdock {} ended with {}:\n{said}",
        arguments.join(" "),
        output.status
    );
    Ok(printed + &said)
}

/// A command in a directory of its own, that knows nothing of this project's settings.
fn clean(program: &Path, place: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(place);
    for name in [
        "PASSDOCK_PLUGIN_PATH",
        "PASSDOCK_CONFIG",
        "PASSDOCK_CACHE",
        "LD_LIBRARY_PATH",
    ] {
        command.env_remove(name);
    }
    command.env("PASSDOCK_CACHE", "off");
    command
}
