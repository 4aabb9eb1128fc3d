//! `cargo xtask dist` and `install`: passdock as one archive, and in a directory of programs.
//!
//! What is in both is one tree (`tree.rs`): `bin/passdock`, the standard plugins in `lib/passdock/plugins`, where the
//! command looks for them, headers, examples, completions, a manual page, documentation and licences.

mod build;
mod docs;
mod licences;
mod tree;
mod trial;

use std::env;
use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::project::Project;

pub(crate) use build::{Built, PROFILE, packages, system, without_paths};
pub(crate) use licences::of_what_is_linked;
pub(crate) use trial::names_no_path_of_this_machine;

/// What an archive may have, in bytes.
pub(crate) const MOST: u64 = 15_000_000;

/// Makes `target/distrib/passdock-VERSION-SYSTEM.tar.gz`, and tries it.
pub(crate) fn dist(project: &Project) -> Result<()> {
    let built = Built::to_give_away(project)?;
    let directory = project.target.join("distrib");
    let archive = archive(project, &built, &directory, Compression::best())?;
    let root = trial::works_elsewhere(&archive, &directory.join("else where"))?;
    trial::names_no_path_of_this_machine(project, &root, &["bin", "lib"])?;
    let size = fs::metadata(&archive)?.len();
    println!("{}: {:.1} MB", project.shown(&archive), size as f64 / 1e6);
    ensure!(size < MOST, "it has {size} bytes, {MOST} are allowed");
    Ok(())
}

/// Tries an archive of what the tests have built, which is as large as it is.
pub(crate) fn test(project: &Project) -> Result<()> {
    let built = Built::to_test(project)?;
    let directory = project.target.join("distrib/tests");
    let archive = archive(project, &built, &directory, Compression::fast())?;
    trial::works_elsewhere(&archive, &directory.join("else where")).map(drop)
}

/// Makes an archive in a directory, and gives its path.
fn archive(
    project: &Project,
    built: &Built,
    directory: &Path,
    level: Compression,
) -> Result<PathBuf> {
    let name = format!("passdock-{}-{}", env!("CARGO_PKG_VERSION"), built.system);
    let root = directory.join(&name);
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    tree::make(project, built, &root)?;
    docs::put_readme(&root)?;
    let archive = directory.join(format!("{name}.tar.gz"));
    pack(&root, &name, &archive, level)?;
    Ok(archive)
}

/// Puts the tree below `prefix`, or where cargo installs programs. Each file is replaced at once: a process that runs
/// an older one keeps it.
pub(crate) fn install(project: &Project, prefix: Option<&str>) -> Result<()> {
    let prefix = match prefix {
        Some(prefix) => env::current_dir()?.join(prefix),
        None => cargo_home()?,
    };
    let root = project.target.join("distrib/install");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    tree::make(project, &Built::to_give_away(project)?, &root)?;
    for file in files(&root)? {
        let to = prefix.join(file.strip_prefix(&root)?);
        put(&file, &to).with_context(|| format!("{} can't be written", to.display()))?;
    }
    let bin = prefix.join("bin");
    println!("passdock is in {}", bin.display());
    let path = env::var_os("PATH").unwrap_or_default();
    if !env::split_paths(&path).any(|dir| dir == bin) {
        println!(
            "PATH hasn't that directory: export PATH=\"{}:$PATH\"",
            bin.display()
        );
    }
    Ok(())
}

/// The tree of what the tests have built, below `root`.
pub(crate) fn lay_out_for_tests(project: &Project, root: &Path) -> Result<()> {
    tree::make(project, &Built::to_test(project)?, root)
}

/// Where `cargo install` puts programs, in `bin`.
fn cargo_home() -> Result<PathBuf> {
    let known = ["CARGO_INSTALL_ROOT", "CARGO_HOME"]
        .into_iter()
        .find_map(env::var_os);
    let home = known
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cargo")));
    home.context("no home directory is known; name a place: `cargo xtask install --root DIR`")
}

fn put(file: &Path, to: &Path) -> Result<()> {
    let directory = to.parent().context("a file lies in a directory")?;
    fs::create_dir_all(directory)?;
    let mut name = to.file_name().context("a file has a name")?.to_owned();
    name.push(".new");
    let new = directory.join(name);
    fs::copy(file, &new)?;
    fs::rename(&new, to)?;
    Ok(())
}

/// All files below a directory, by their names.
pub(crate) fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true => files.extend(self::files(&path)?),
            false => files.push(path),
        }
    }
    Ok(files)
}

/// An archive of the tree below `name`. The same tree is the same bytes: no owner, no times.
fn pack(root: &Path, name: &str, archive: &Path, level: Compression) -> Result<()> {
    let new = archive.with_extension("new");
    let gzip = GzEncoder::new(BufWriter::new(fs::File::create(&new)?), level);
    let mut tar = tar::Builder::new(gzip);
    tar.mode(tar::HeaderMode::Deterministic);
    for file in files(root)? {
        tar.append_path_with_name(&file, Path::new(name).join(file.strip_prefix(root)?))?;
    }
    let written = tar.into_inner()?.finish()?.into_inner();
    written.map_err(|error| error.into_error())?.sync_all()?;
    fs::rename(&new, archive)?;
    Ok(())
}

/// The arguments of `install`: nothing, or `--root DIR`.
pub(crate) fn prefix<'a>(arguments: &[&'a str]) -> Result<Option<&'a str>> {
    match *arguments {
        [] => Ok(None),
        ["--root", prefix] => Ok(Some(prefix)),
        _ => bail!("`install` takes --root DIR"),
    }
}
