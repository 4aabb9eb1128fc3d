//! `cargo xtask deep fuzz`: files nobody should have written, for as long as one likes.
//!
//! The fuzzer is libFuzzer, which `libfuzzer-sys` builds; the instrumentation is what `cargo fuzz`
//! asks of rustc without a sanitizer, so the project's own toolchain does and no tool is installed. With
//! `--asan` it is AddressSanitizer's, too, which only a nightly toolchain builds.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::project::{Profile, Project};
use crate::shell;
use crate::test::python;

const RUSTFLAGS: &str = "--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table";

/// Inputs don't grow beyond this.
const MAX_LEN: u64 = 1 << 16;

/// A target, its seeds, and how often a mutation is followed by another before it is tried.
struct Target {
    name: &'static str,
    seeds: &'static str,
    arguments: &'static [&'static str],
}

const TARGETS: [Target; 7] = [
    Target {
        name: "edits",
        seeds: "edits",
        // An input reaches thousands of edges, and weighing each input by how rare its own are takes
        // libFuzzer longer than to run it.
        arguments: &["-mutate_depth=2", "-entropic=0"],
    },
    Target {
        name: "library",
        seeds: "library",
        arguments: &["-mutate_depth=3"],
    },
    Target {
        name: "manifest",
        seeds: "manifest",
        arguments: &["-mutate_depth=1", "-dict=fuzz/manifest.dict"],
    },
    Target {
        name: "onnx_read",
        seeds: "onnx",
        arguments: &["-mutate_depth=2"],
    },
    Target {
        name: "onnx_write",
        seeds: "onnx",
        arguments: &["-mutate_depth=2"],
    },
    Target {
        name: "rules",
        seeds: "rules",
        arguments: &["-mutate_depth=1", "-dict=fuzz/rules.dict"],
    },
    Target {
        name: "text",
        seeds: "text",
        arguments: &["-mutate_depth=1", "-dict=fuzz/text.dict"],
    },
];

/// Runs the targets, `seconds` each; with a name, that one.
pub(crate) fn fuzz(project: &Project, arguments: &[&str]) -> Result<()> {
    let (mut seconds, mut only) = (60, None);
    let asan = arguments.contains(&"--asan");
    let arguments: Vec<&str> = arguments
        .iter()
        .copied()
        .filter(|a| *a != "--asan")
        .collect();
    for pair in arguments.chunks(2) {
        match *pair {
            ["--seconds", value] => {
                seconds = value
                    .parse()
                    .with_context(|| format!("`{value}` is no number of seconds"))?;
            }
            ["--target", name] if TARGETS.iter().any(|target| target.name == name) => {
                only = Some(name);
            }
            ["--target", name] => bail!("there is no target `{name}`; see fuzz/fuzz_targets"),
            _ => bail!("`deep fuzz` takes --seconds N, --target NAME and --asan"),
        }
    }
    let work = project.target.join("fuzz");
    let executables = build(project, &work, asan, only)?;
    seeds(project, &work)?;
    let mut said = Vec::new();
    for target in &TARGETS {
        if only.is_none_or(|name| name == target.name) {
            said.push(run(project, &work, &executables, target, seconds)?);
        }
    }
    println!("\n{}", said.join("\n"));
    Ok(())
}

/// Builds the targets, or one, with AddressSanitizer if asked to; gives the directory they are in.
fn build(project: &Project, work: &Path, asan: bool, only: Option<&str>) -> Result<PathBuf> {
    let version = shell::read(Command::new("rustc").arg("-vV").current_dir(&project.root))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc doesn't say what it runs on")?;
    let (mut cargo, work, flags) = match asan {
        false => (project.cargo(), work.to_owned(), RUSTFLAGS.to_owned()),
        true => {
            let mut cargo = Command::new("cargo");
            cargo.arg("+nightly").current_dir(&project.root);
            let flags = format!("{RUSTFLAGS} -Zsanitizer=address");
            (cargo, work.join("asan"), flags)
        }
    };
    // With the target named, build scripts and macros aren't instrumented.
    cargo
        .args(["build", "--release", "--manifest-path", "fuzz/Cargo.toml"])
        .args(["--target", host])
        .args(only.map_or_else(Vec::new, |name| vec!["--bin", name]))
        .env("CARGO_TARGET_DIR", &work)
        .env("RUSTFLAGS", flags);
    shell::run(&mut cargo)?;
    Ok(work.join(host).join("release"))
}

/// Makes the seeds, unless they are there.
fn seeds(project: &Project, work: &Path) -> Result<()> {
    let (onnx, text) = (work.join("seeds/onnx"), work.join("seeds/text"));
    // Those of a checkout that had fewer targets are made again.
    if text.is_dir() && work.join("seeds/rules").is_dir() {
        println!(
            "the seeds are those of the last run: {}",
            project.shown(&onnx)
        );
        return Ok(());
    }
    let mut cargo = project.cargo();
    cargo.args(["build", "--package", "passdock-onnx-ops"]);
    cargo.args(["--package", "passdock-relax", "--package", "passdock-tir"]);
    shell::run(&mut cargo)?;
    let plugins = project.target.join("debug");
    let mut script = Command::new(python::environment(project)?);
    script
        .args(["-B", "fuzz/seeds.py"])
        .arg(work.join("seeds"))
        .arg("examples/models")
        .arg(plugins)
        .args(std::env::var_os("PASSDOCK_MODELS"));
    shell::run(script.current_dir(&project.root))?;
    shell::run(project.cargo().args(["build", "--package", "passdock-cli"]))?;
    let part = work.join("seeds/text.part");
    fs::create_dir_all(&part)?;
    println!("$ passdock convert …, for each of them");
    for entry in fs::read_dir(&onnx)? {
        let path = entry?.path();
        let name = path.with_extension("ir");
        let name = name.file_name().context("a seed without a name")?;
        // Some are wrong on purpose; those have no text.
        shell::output(
            Command::new(project.passdock(Profile::Dev))
                .arg("convert")
                .arg(&path)
                .arg(part.join(name)),
        )?;
    }
    for entry in fs::read_dir(project.root.join("host/ir/src/text/print"))? {
        let entry = entry?;
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "ir")
        {
            fs::copy(entry.path(), part.join(entry.file_name()))?;
        }
    }
    if text.is_dir() {
        fs::remove_dir_all(&text)?;
    }
    // Last, so that seeds that broke off are made again.
    fs::rename(part, text)?;
    Ok(())
}

/// Runs a target and says what came of it in a line.
fn run(
    project: &Project,
    work: &Path,
    executables: &Path,
    target: &Target,
    seconds: u32,
) -> Result<String> {
    let name = target.name;
    let corpus = work.join("corpus").join(name);
    let log = work.join(format!("{name}.log"));
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(work.join("found"))?;
    let fuzzer = || {
        let mut command = Command::new(executables.join(name));
        command
            .current_dir(&project.root)
            .args(["-timeout=5", "-rss_limit_mb=2048", "-print_final_stats=1"])
            .arg(format!(
                "-artifact_prefix={}/{name}-",
                work.join("found").display()
            ));
        command
    };
    // What is too large to change, and what was found once, is run as it is.
    let mut once = fuzzer();
    once.arg("-runs=0").arg(format!("-max_len={}", 1 << 20));
    once.arg(project.root.join("fuzz/regressions").join(name));
    if target.seeds == "onnx" {
        once.arg(work.join("seeds/large"));
    }
    logged(&mut once, &log)?;
    let mut fuzz = fuzzer();
    fuzz.args(target.arguments)
        .arg(format!("-max_len={MAX_LEN}"))
        .arg(format!("-max_total_time={seconds}"))
        .arg(&corpus)
        .arg(work.join("seeds").join(target.seeds));
    let said = logged(&mut fuzz, &log)?;
    let number = |after: &str| {
        let at = said.rfind(after)? + after.len();
        let digits = said[at..].trim_start();
        let end = digits.find(|c: char| !c.is_ascii_digit());
        digits[..end.unwrap_or(digits.len())].parse::<u64>().ok()
    };
    let edges = number("INFO: Loaded 1 modules   (").unwrap_or(0);
    let (runs, covered) = (
        number("stat::number_of_executed_units:").unwrap_or(0),
        number(" cov: ").unwrap_or(0),
    );
    let tally = |said: &str| {
        let line = said.lines().rfind(|line| line.starts_with("tally: "));
        line.unwrap_or("tally: none").to_owned()
    };
    let last = logged(fuzzer().arg("-runs=0").arg(&corpus), &log)?;
    Ok(format!(
        "{name}: {runs} executions in {seconds} s, {covered} of {edges} edges, no crash\n  \
         {}\n  of the corpus at the end: {}",
        tally(&said),
        tally(&last)
    ))
}

/// Runs a fuzzer with its output in a file; fails if it found something.
fn logged(command: &mut Command, log: &Path) -> Result<String> {
    let file = File::create(log)?;
    command.stdout(file.try_clone()?).stderr(file);
    let ended = shell::run(command);
    let said = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    ended.with_context(|| {
        let word = |line: &&str| line.contains("panicked") || line.contains("ERROR: libFuzzer");
        let found: Vec<&str> = said.lines().filter(word).take(4).collect();
        format!("{}\nsee {}", found.join("\n"), log.display())
    })?;
    Ok(said)
}
