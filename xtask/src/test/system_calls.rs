//! What becomes of files when a system call fails, or is the last one that a run makes.
//!
//! Each scenario is run once under `strace`, which lists its system calls on files; then once for each
//! of them that fails, and once for each change that it is killed before. After that, what can be seen
//! is as before or as it should be, and a run that said it succeeded has done so. What is hidden, the
//! next run removes. All of it is done twice: with files that have no name while they are written, and
//! as on a file system that has no such files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

use crate::project::{Profile, Project};
use crate::shell;
use crate::test::steps::Skip;

/// The calls that are looked at; those of them that change something come first.
const CHANGES: [&str; 15] = [
    "copy_file_range",
    "fchmod",
    "ftruncate",
    "fsync",
    "link",
    "linkat",
    "mkdir",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "sendfile",
    "unlink",
    "unlinkat",
    "write",
];
const OTHERS: [&str; 8] = [
    "flock",
    "getdents64",
    "lseek",
    "mmap",
    "newfstatat",
    "openat",
    "read",
    "statx",
];

/// How many calls of a name that change nothing are tried: many more read a plugin, all alike.
const READS: usize = 40;

/// A file system that has no files without a name.
const NO_NAMELESS: &str = "inject=open:error=EOPNOTSUPP";

const MODEL: &str = r#"module {
  fn @main(%x: f32[512]) -> (%y: f32[512]) opset("" = 17) {
    %w = const f32[512] splat(1.0)
    %v = const f32[512] splat(2.0)
    %0 = onnx.Add(%w, %v) : f32[512]
    %1 = onnx.Add(%x, %0) : f32[512]
    %2 = onnx.Mul(%1, %w) : f32[512]
    return %2
  }
}
"#;

/// What is run in a directory that has `m.ir`, and `d/w.onnx` with `d/w.onnx.data`: in one process, whose calls are counted.
struct Scenario {
    name: &'static str,
    /// Runs before it.
    before: &'static [&'static str],
    words: &'static str,
    /// What it ends with.
    status: i32,
}

const TRACE: &str = "t.json";
const FOLD: &str = "--passes relax.transform.FoldConstant";
/// An operator that there isn't: the pass fails.
const FAIL: &str = "--passes relax.transform.DecomposeOps --config relax.DecomposeOps.ops";

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a new model",
        before: &[],
        words: "convert m.ir o.onnx",
        status: 0,
    },
    Scenario {
        name: "text over a file, with a trace",
        before: &["convert d/w.onnx o.ir"],
        words: "run --in-process --notes m.ir -o o.ir FOLD --trace t.json",
        status: 0,
    },
    Scenario {
        name: "a model over itself",
        before: &["convert m.ir o.onnx"],
        words: "run --in-process --notes o.onnx -o o.onnx FOLD",
        status: 0,
    },
    Scenario {
        name: "a model with its data over itself",
        before: &[],
        words: "run --in-process --notes d/w.onnx -o d/w.onnx FOLD --external-data all",
        status: 0,
    },
    Scenario {
        name: "data that goes along",
        before: &[],
        words: "convert d/w.onnx o.onnx",
        status: 0,
    },
    Scenario {
        name: "data whose name is taken",
        before: &[
            "convert d/w.onnx o.ir",
            "convert m.ir o.onnx --external-data all",
        ],
        words: "run --in-process --notes m.ir -o o.onnx FOLD --external-data all",
        status: 0,
    },
    Scenario {
        name: "a failure with a reproducer over another one",
        before: &["run m.ir -o o.onnx FAIL=['none']"],
        words: "run --in-process --notes m.ir -o o.onnx FAIL=['nothing']",
        status: 1,
    },
];

/// A directory's files with their bytes, by their paths from it; links and directories have none.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// One thing that goes wrong.
#[derive(Clone)]
struct Fault {
    call: String,
    /// Which of the calls of that name, from 1.
    at: usize,
    kill: bool,
}

/// A scenario that is ready to be run again and again.
struct Prepared<'p> {
    scenario: &'p Scenario,
    passdock: PathBuf,
    nameless: bool,
    before: Files,
    /// What may be seen in the end: after one run, and after one more.
    done: Vec<Files>,
    faults: Vec<Fault>,
}

pub(crate) fn test(project: &Project) -> Result<()> {
    if !shell::exists("strace") {
        bail!(Skip("there is no strace here".into()));
    }
    let place = project.target.join("system-calls");
    match fs::remove_dir_all(&place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let passdock = project.passdock(Profile::Dev);
    for scenario in SCENARIOS {
        for nameless in [true, false] {
            let prepared = prepare(scenario, &passdock, nameless, &place)?;
            if prepared.faults.is_empty() {
                bail!("{}: no system call is about a file", scenario.name);
            }
            let problems = try_all(&prepared, &place)?;
            let how = if nameless { "" } else { ", named files" };
            println!("{:5} faults: {}{how}", prepared.faults.len(), scenario.name);
            for problem in &problems {
                println!("  {problem}");
            }
            if let Some(problem) = problems.first() {
                bail!(
                    "{}{how}: {} problems; {problem}",
                    scenario.name,
                    problems.len()
                );
            }
        }
    }
    fs::remove_dir_all(&place)?;
    Ok(())
}

fn prepare<'p>(
    scenario: &'p Scenario,
    passdock: &Path,
    nameless: bool,
    place: &Path,
) -> Result<Prepared<'p>> {
    let dir = place.join("first");
    fs::create_dir_all(dir.join("d"))?;
    fs::write(dir.join("m.ir"), MODEL)?;
    let plain = |words: &str| -> Result<i32> {
        let mut command = Command::new(passdock);
        command.args(split(words)).current_dir(&dir);
        let ran = shell::output(&mut command)?;
        ran.status.code().context("a signal")
    };
    plain("convert m.ir d/w.onnx --external-data all")?;
    for words in scenario.before {
        plain(words)?;
    }
    let before = read(&dir)?;
    let log = place.join("log");
    let calls = [&CHANGES[..], &OTHERS].concat().join(",");
    let mut command = strace(&dir, nameless);
    command.arg("-o").arg(&log);
    command.arg("-e").arg(format!("trace=open,{calls}"));
    let ran = shell::output(command.arg(passdock).args(split(scenario.words)))?;
    if ran.status.code() != Some(scenario.status) {
        bail!(
            "{} ends with {}: {}",
            scenario.words,
            ran.status,
            String::from_utf8_lossy(&ran.stderr)
        );
    }
    let mut done = vec![read(&dir)?];
    plain(scenario.words)?;
    done.push(read(&dir)?);
    if let Some(left) = hidden(&done[0]).next() {
        bail!("{} leaves {}", scenario.words, left.display());
    }
    fs::remove_dir_all(&dir)?;
    Ok(Prepared {
        scenario,
        passdock: passdock.to_owned(),
        nameless,
        before,
        done,
        faults: faults(&fs::read_to_string(log)?, nameless),
    })
}

/// `strace` in a directory, as far as it is the same for all runs.
fn strace(dir: &Path, nameless: bool) -> Command {
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "--signal=none"])
        .current_dir(dir);
    if !nameless {
        command.args(["-e", NO_NAMELESS]);
    }
    command
}

fn split(words: &str) -> Vec<String> {
    let words = words.replace("FOLD", FOLD).replace("FAIL", FAIL);
    words.split_whitespace().map(str::to_owned).collect()
}

/// The calls of the main thread from the first one on that is about a file of the directory. Reading is
/// the same with named files, and isn't tried twice.
fn faults(log: &str, nameless: bool) -> Vec<Fault> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    let main = log.split_whitespace().next().unwrap_or_default();
    let mut begun = false;
    for line in log.lines() {
        let Some((thread, rest)) = line.split_once(char::is_whitespace) else {
            continue;
        };
        let call = rest.trim_start().split('(').next().unwrap_or_default();
        let known = |calls: &[&'static str]| calls.iter().copied().find(|known| *known == call);
        let Some(call) = known(&CHANGES)
            .or_else(|| known(&OTHERS))
            .filter(|_| thread == main)
        else {
            continue;
        };
        let at = counts.entry(call).or_default();
        *at += 1;
        begun |= rest.contains(".onnx\"") || rest.contains(".ir\"");
        let changes = CHANGES.contains(&call);
        let tried = found.iter().filter(|fault: &&Fault| fault.call == call);
        if begun && (changes || nameless && tried.count() < READS) {
            for kill in [false, true].into_iter().filter(|kill| changes || !kill) {
                let (call, at) = (call.to_owned(), *at);
                found.push(Fault { call, at, kill });
            }
        }
    }
    found
}

/// Tries all faults, on every core.
fn try_all(prepared: &Prepared<'_>, place: &Path) -> Result<Vec<String>> {
    let next = AtomicUsize::new(0);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let work = |core: usize| -> Result<Vec<String>> {
        let dir = place.join(core.to_string());
        let mut problems = Vec::new();
        while let Some(fault) = prepared.faults.get(next.fetch_add(1, Ordering::Relaxed)) {
            problems.extend(try_one(prepared, fault, &dir)?);
        }
        Ok(problems)
    };
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..cores)
            .map(|core| scope.spawn(move || work(core)))
            .collect();
        let mut problems = Vec::new();
        for worker in workers {
            problems.extend(worker.join().map_err(|_| anyhow!("a worker panicked"))??);
        }
        Ok(problems)
    })
}

/// What is wrong after a fault, if anything is.
fn try_one(prepared: &Prepared<'_>, fault: &Fault, dir: &Path) -> Result<Option<String>> {
    write(dir, &prepared.before)?;
    let Fault { call, at, kill } = fault;
    let what = if *kill { "signal=KILL" } else { "error=EIO" };
    let mut command = strace(dir, prepared.nameless);
    command.args(["-o", "/dev/null", "-e"]);
    command.arg(format!("trace=open,{call}"));
    command
        .arg("-e")
        .arg(format!("inject={call}:{what}:when={at}"));
    command
        .arg(&prepared.passdock)
        .args(split(prepared.scenario.words));
    let ran = command.stdin(Stdio::null()).output()?;
    let after = read(dir)?;
    let status = ran.status.code();
    let problem = |what: &str, files: &Files| {
        Ok(Some(format!(
            "{call} {at} {}: {what} (status {status:?}, {}): {:?}",
            if *kill { "is the last call" } else { "fails" },
            String::from_utf8_lossy(&ran.stderr).trim(),
            summary(files, prepared),
        )))
    };
    let succeeded = status == Some(0);
    let seen = visible(&after);
    let is_done = prepared.done.iter().any(|done| visible(done) == seen);
    let is_before = visible(&prepared.before) == seen;
    // A pass that can't read a constant leaves the op alone, and says so.
    let is_told = is_before && String::from_utf8_lossy(&ran.stderr).contains("os error 5");
    // What couldn't be removed is known to the next run.
    let is_known = hidden(&after).any(|path| path.extension().is_some_and(|kind| kind == "commit"));
    // Data of which it can't be told whether somebody needs it stays.
    let only_read = !CHANGES.contains(&call.as_str());
    let stays = |path: &PathBuf| only_read && is_data(path) && prepared.before.contains_key(path);
    let without = |files: &Files| {
        let kept = files.keys().filter(|path| !stays(path)).cloned();
        kept.collect::<BTreeSet<_>>()
    };
    let is_done = is_done
        || prepared.done.iter().any(|done| {
            let same = |(path, bytes): (&PathBuf, &Vec<u8>)| seen.get(path) == Some(bytes);
            only_read && visible(done).iter().all(same) && without(&visible(done)) == without(&seen)
        });
    if succeeded && !is_done && !is_told && !is_known {
        return problem("it said it succeeded", &after);
    }
    // Only a call that removes can leave something that is to be removed; it takes many to remove a
    // directory.
    let removes = ["unlink", "unlinkat", "rmdir"].contains(&call.as_str());
    let in_directory = |path: &Path| path.to_string_lossy().contains(".part/");
    let left = hidden(&after).any(|path| !in_directory(path));
    if left && !kill && !removes && !is_known {
        return problem("something hidden is left", &after);
    }
    if !is_done && !is_before && !kill && !removes && !is_known {
        return problem("files are neither as before nor as they should be", &after);
    }
    // The model at its place is one of the two, with the data that goes with it.
    let whole = prepared.done.iter().chain([&prepared.before]).any(|files| {
        let same = |path: &PathBuf| after.get(path) == files.get(path);
        let there = files.keys().filter(|path| is_result(path));
        let models = after.keys().filter(|path| is_model(path));
        there.chain(models).all(same)
    });
    if !whole {
        return problem("a file isn't whole", &after);
    }
    let mut again = Command::new(&prepared.passdock);
    again.args(split(prepared.scenario.words)).current_dir(dir);
    let again = shell::output(&mut again)?;
    let after = read(dir)?;
    if again.status.code() != Some(prepared.scenario.status) {
        return problem("the next run fails", &after);
    }
    let known = |done: &Files| without(done) == without(&after);
    if !prepared.done.iter().any(known) {
        return problem("the next run leaves something", &after);
    }
    Ok(None)
}

fn is_model(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("onnx" | "ir"))
        && !is_hidden(path)
        && !path.to_string_lossy().contains(".reproducer")
}

/// A model or its data. Traces and reproducers have times and paths in them.
fn is_result(path: &Path) -> bool {
    is_model(path) || is_data(path)
}

fn is_data(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "data")
}

/// What people see. A trace shows what happened, also in a run that failed.
fn visible(files: &Files) -> Files {
    files
        .iter()
        .filter(|(path, _)| !is_hidden(path) && !path.ends_with(TRACE))
        .map(|(path, bytes)| match is_result(path) {
            true => (path.clone(), bytes.clone()),
            false => (path.clone(), Vec::new()),
        })
        .collect()
}

fn hidden(files: &Files) -> impl Iterator<Item = &PathBuf> {
    files.keys().filter(|path| is_hidden(path))
}

fn is_hidden(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        name.starts_with(".passdock-")
    })
}

/// The names of files, and which are as in the end, or as in the beginning.
fn summary(files: &Files, prepared: &Prepared<'_>) -> Vec<String> {
    let as_in = |from: &Files, path: &PathBuf| from.get(path) == files.get(path);
    files
        .keys()
        .map(|path| {
            let state = match (
                as_in(&prepared.before, path),
                as_in(&prepared.done[0], path),
            ) {
                (true, true) => "same",
                (true, false) => "old",
                (false, true) => "new",
                (false, false) => "other",
            };
            format!("{} {state}", path.display())
        })
        .collect()
}

/// All files below a directory.
fn read(root: &Path) -> Result<Files> {
    let (mut files, mut dirs) = (Files::new(), vec![root.to_owned()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            let path = entry.path();
            let name = path.strip_prefix(root)?.to_owned();
            match entry.file_type()?.is_dir() {
                true => {
                    dirs.push(path);
                    files.insert(name.join(""), Vec::new());
                }
                false => _ = files.insert(name, fs::read(&path)?),
            }
        }
    }
    Ok(files)
}

/// Makes a directory that holds these files and no others.
fn write(root: &Path, files: &Files) -> Result<()> {
    if root.exists() {
        fs::remove_dir_all(root)?;
    }
    fs::create_dir_all(root)?;
    for (path, bytes) in files {
        let path = root.join(path);
        match path.to_string_lossy().ends_with('/') {
            true => fs::create_dir_all(path)?,
            false => {
                fs::create_dir_all(path.parent().context("a file is in a directory")?)?;
                fs::write(path, bytes)?;
            }
        }
    }
    Ok(())
}
