//! Access to files, by Landlock.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
    make_bitflags,
};

use crate::access::Access;

/// The newest version of Landlock of which all rights are used. Older kernels lack some: `truncate` is denied by the
/// filter of system calls, too.
const VERSION: ABI = ABI::V6;

/// The paths that every process may read: libraries of the system, and files that the C library and thread pools read.
const SYSTEM: [&str; 26] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/filesystems",
    "/proc/sys/vm",
    "/proc/sys/kernel",
    "/sys/devices/system",
    "/sys/fs/cgroup",
];

/// The paths that a process with network connections may read.
const NETWORK: [&str; 9] = [
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/pki",
    "/usr/share/ca-certificates",
];

/// The programs of the system.
const PROGRAMS: [&str; 8] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/libexec",
    "/usr/share",
    "/etc/alternatives",
];

/// The rights to read.
const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});

/// The rights to read and write regular files and directories. No links, pipes, sockets or devices can be created, so
/// the supervisor can't be led elsewhere.
const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    ReadFile | ReadDir | WriteFile | Truncate | MakeReg | MakeDir | RemoveFile | RemoveDir | Refer
});

/// Denies all files except those of `access`.
///
/// # Errors
/// If the kernel has no Landlock, or its error.
pub(crate) fn restrict(access: &Access) -> io::Result<()> {
    let mut rules = ruleset().map_err(io::Error::other)?;
    let mut readable = READ;
    if access.exec {
        readable |= AccessFs::Execute;
        add(&mut rules, PROGRAMS, readable)?;
    }
    add(&mut rules, SYSTEM, readable)?;
    add(&mut rules, library_directories(), readable)?;
    if access.network {
        add(&mut rules, NETWORK, readable)?;
    }
    add(&mut rules, env::current_exe(), readable)?;
    add(&mut rules, &access.read, readable)?;
    add(&mut rules, &access.libraries, readable)?;
    let parents = access
        .libraries
        .iter()
        .filter_map(|library| library.parent());
    let mut directories: BTreeSet<PathBuf> = parents.map(Path::to_owned).collect();
    directories.extend(access.library_directories.iter().cloned());
    directories.extend(search_path());
    for directory in directories {
        add(&mut rules, libraries_in(&directory), readable)?;
    }
    add(&mut rules, ["/dev/null"], WRITE)?;
    add(&mut rules, &access.write, WRITE)?;
    let status = rules.restrict_self().map_err(io::Error::other)?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, LandlockStatus::NotEnabled) => {
            Err(io::Error::other("Landlock is not enabled in this kernel"))
        }
        (RulesetStatus::NotEnforced, _) => Err(io::Error::other("this kernel has no Landlock")),
        _ => Ok(()),
    }
}

/// Returns rules that deny all files, and signals to other processes.
fn ruleset() -> Result<RulesetCreated, landlock::RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(VERSION))?
        .scope(Scope::from_all(VERSION))?
        .create()
}

/// Allows files and directories. Missing ones are skipped.
fn add<P: AsRef<Path>>(
    rules: &mut RulesetCreated,
    paths: impl IntoIterator<Item = P>,
    access: BitFlags<AccessFs>,
) -> io::Result<()> {
    for path in paths {
        let path = path.as_ref();
        let Ok(metadata) = fs::metadata(path) else {
            continue;
        };
        let access = match metadata.is_dir() {
            true => access,
            false => access & AccessFs::from_file(VERSION),
        };
        let Ok(file) = PathFd::new(path) else {
            continue;
        };
        rules
            .add_rule(PathBeneath::new(file, access))
            .map_err(io::Error::other)?;
    }
    Ok(())
}

/// Returns the directories of `LD_LIBRARY_PATH`.
fn search_path() -> Vec<PathBuf> {
    let paths = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    env::split_paths(&paths).collect()
}

/// Returns the shared libraries in a directory. It may also have files that no plugin needs.
fn libraries_in(directory: &Path) -> Vec<PathBuf> {
    let directory = match directory.as_os_str().is_empty() {
        true => Path::new("."),
        false => directory,
    };
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".so") || name.contains(".so.")
    };
    entries
        .map(|entry| entry.path())
        .filter(is_library)
        .collect()
}

/// Returns the directories in which the system's loader finds libraries, if they aren't below others.
fn library_directories() -> Vec<PathBuf> {
    let mut directories = Vec::new();
    let files = fs::read_dir("/etc/ld.so.conf.d").into_iter().flatten();
    for file in files.flatten() {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        let lines = text.lines().filter(|line| line.starts_with('/'));
        directories.extend(lines.map(PathBuf::from));
    }
    directories.retain(|path| !SYSTEM.iter().any(|known| path.starts_with(known)));
    directories
}
