//! Debian's rustc 1.63, the oldest compiler a plugin's author may use.
//!
//! rustup can fetch it too, but it isn't everywhere; Debian 12 has it as a
//! package. The packages are only unpacked, below the target directory, so
//! neither root nor a change to the system is needed, and today's toolchain
//! stays what it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::shell;
use crate::test::steps::Skip;

const VERSION: &str = "1.63";

/// A toolchain of that version, wherever it came from.
pub(crate) struct OldRust {
    bin: PathBuf,
    /// Its shared libraries, if they aren't the system's.
    libraries: Option<PathBuf>,
    /// An empty home, so that nothing from today's cargo is read or used.
    home: PathBuf,
}

impl OldRust {
    /// The system's own, or Debian's packages unpacked; a `Skip` if there are neither.
    pub(crate) fn find(project: &Project) -> Result<Self> {
        let home = project.target.join("rust-1.63-home");
        let system = OldRust {
            bin: "/usr/bin".into(),
            libraries: None,
            home: home.clone(),
        };
        if system.check().is_ok() {
            return Ok(system);
        }
        let place = project.target.join("rust-1.63");
        if !place.exists() {
            unpack_debian_packages(&place)?;
        }
        let libraries = library_directory(&place)?;
        let unpacked = OldRust {
            bin: place.join("usr/bin"),
            libraries: Some(libraries),
            home,
        };
        unpacked.check().context(
            "Debian's rustc was unpacked but doesn't run; remove target/rust-1.63 to try again",
        )?;
        Ok(unpacked)
    }

    /// Its cargo, offline and blind to today's toolchain.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = self.program("cargo");
        cargo
            .env("RUSTC", self.bin.join("rustc"))
            .env("RUSTDOC", self.bin.join("rustdoc"))
            .env("CARGO_HOME", &self.home)
            .env("CARGO_NET_OFFLINE", "true");
        for name in [
            "RUSTFLAGS",
            "RUSTDOCFLAGS",
            "RUSTC_WRAPPER",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
        ] {
            cargo.env_remove(name);
        }
        cargo
    }

    /// Both programs start, and the compiler is of the right version.
    fn check(&self) -> Result<()> {
        shell::read(self.program("cargo").arg("--version"))?;
        let version = shell::read(self.program("rustc").arg("--version"))?;
        if !version.starts_with(&format!("rustc {VERSION}.")) {
            bail!("it is {}", version.trim());
        }
        Ok(())
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.bin.join(name));
        match &self.libraries {
            Some(libraries) => command.env("LD_LIBRARY_PATH", libraries),
            // What rustup puts there belongs to another compiler.
            None => command.env_remove("LD_LIBRARY_PATH"),
        };
        command
    }
}

/// Downloads what `apt-get install rustc cargo` would install here, and unpacks it.
fn unpack_debian_packages(place: &Path) -> Result<()> {
    for tool in ["apt-get", "dpkg"] {
        if !shell::exists(tool) {
            bail!(Skip(format!(
                "no rustc {VERSION}, and no {tool} to unpack Debian's"
            )));
        }
    }
    let mut apt = Command::new("apt-get");
    apt.args(["install", "--simulate", "--no-install-recommends"]);
    let planned = shell::output(apt.args(["rustc", "cargo"]).env("LC_ALL", "C"))?;
    let plan = String::from_utf8_lossy(&planned.stdout);
    let said = String::from_utf8_lossy(&planned.stderr);
    if is_unknown(&said) {
        bail!(Skip(
            "apt-get doesn't know rustc (is `apt-get update` needed?)".into()
        ));
    }
    if !planned.status.success() {
        bail!("`apt-get install --simulate rustc cargo` failed: {said}");
    }
    let packages = missing_packages(&plan);
    match packages.iter().find(|(name, _)| *name == "rustc") {
        Some((_, version)) if version.starts_with(VERSION) => {}
        Some((_, version)) => bail!(Skip(format!(
            "apt-get offers rustc {version} here, not {VERSION}"
        ))),
        None => bail!(Skip(format!("the rustc installed here isn't {VERSION}"))),
    }

    let downloads = place.with_file_name("rust-1.63-packages");
    let unfinished = place.with_file_name("rust-1.63-unfinished");
    for directory in [&downloads, &unfinished] {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        fs::create_dir_all(directory)?;
    }
    shell::run(
        Command::new("apt-get")
            .args(["download", "--quiet", "--option", "APT::Sandbox::User=root"])
            .args(packages.iter().map(|(name, _)| name))
            .current_dir(&downloads),
    )?;
    for package in fs::read_dir(&downloads)? {
        shell::read(
            Command::new("dpkg")
                .arg("--extract")
                .arg(package?.path())
                .arg(&unfinished),
        )?;
    }
    fs::remove_dir_all(&downloads)?;
    // Only a complete toolchain ever has the final name.
    fs::rename(&unfinished, place)?;
    Ok(())
}

/// Whether apt-get has no such package in its lists, or none to install.
fn is_unknown(said: &str) -> bool {
    let unknown = ["Unable to locate package", "has no installation candidate"];
    unknown.iter().any(|words| said.contains(words))
}

/// (name, version) of the packages that a simulated install would add.
///
/// The C library stays the system's: a second one in a process doesn't work.
fn missing_packages(plan: &str) -> Vec<(&str, &str)> {
    plan.lines()
        .filter_map(|line| line.strip_prefix("Inst "))
        .filter_map(|line| {
            let (name, rest) = line.split_once(' ')?;
            let version = rest.split_once('(')?.1.split(' ').next()?;
            Some((name, version))
        })
        .filter(|(name, _)| !name.starts_with("libc6") && !name.starts_with("libc-"))
        .collect()
}

/// `usr/lib/x86_64-linux-gnu`, whatever the architecture calls it.
fn library_directory(place: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(place.join("usr/lib"))?.collect::<Result<Vec<_>, _>>()?;
    entries
        .into_iter()
        .find(|entry| entry.file_name().to_string_lossy().contains("-linux-gnu"))
        .map(|entry| entry.path())
        .context("the unpacked packages hold no libraries")
}

#[cfg(test)]
mod tests {
    use super::{is_unknown, missing_packages};

    #[test]
    fn a_package_that_is_unknown_is_no_tool_that_fails() {
        assert!(is_unknown("E: Unable to locate package rustc"));
        assert!(!is_unknown(
            "E: Write error - write (28: No space left on device)"
        ));
    }

    #[test]
    fn reads_what_apt_would_install() {
        let plan = "\
Reading package lists...
Inst libllvm14 (1:14.0.6-12 Debian:12.15/oldstable [amd64])
Inst libc6-dev [2.36-9] (2.36-10 Debian:12.15/oldstable [amd64]) []
Inst rustc (1.63.0+dfsg1-2 Debian:12.15/oldstable [amd64])
Conf rustc (1.63.0+dfsg1-2 Debian:12.15/oldstable [amd64])
";
        assert_eq!(
            missing_packages(plan),
            [("libllvm14", "1:14.0.6-12"), ("rustc", "1.63.0+dfsg1-2")]
        );
    }
}
