//! Runs the cases of all files: `cargo test -p passdock-filetests [WORD] [-- --bless] [-- --onnxruntime]`. With a word,
//! only files with the word in their path run. `--bless` updates the expected results in the files. `--onnxruntime`
//! runs the cases with that setting in ONNX Runtime, before and after the passes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use libtest_mimic::{Arguments, Failed, Trial};
use passdock_filetests::{CaseFile, run};

fn main() -> ExitCode {
    let (own, arguments): (Vec<String>, Vec<String>) =
        env::args().partition(|word| ["--bless", "--onnxruntime"].contains(&word.as_str()));
    let has = |option: &str| own.iter().any(|word| word == option);
    let (bless, onnxruntime) = (has("--bless"), has("--onnxruntime"));
    let arguments = Arguments::from_iter(arguments);
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut files = Vec::new();
    for sources in ["host/ir/src", "plugin-api", "plugins"] {
        collect(&root.join(sources), &mut files);
    }
    let trial = |path: PathBuf| {
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        Trial::test(name, move || check(&path, bless, onnxruntime))
    };
    libtest_mimic::run(&arguments, files.into_iter().map(trial).collect()).exit_code()
}

/// Collects the case files in a directory and below, sorted.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(dir).expect("the sources are readable");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "ir") {
            files.push(path);
        }
    }
}

fn check(path: &Path, bless: bool, onnxruntime: bool) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let mut file = CaseFile::parse(&text)?;
    if file.cases.is_empty() {
        return Err("The file has no case: a line `; --- NAME` begins one.".into());
    }
    for case in &mut file.cases {
        let expected = run(&case.settings, &case.source, onnxruntime);
        case.expected = expected.map_err(|error| format!("{}: {error}", case.name))?;
    }
    let now = file.to_string();
    if now == text {
        return Ok(());
    }
    if bless {
        return Ok(fs::write(path, now)?);
    }
    let diff = similar::TextDiff::from_lines(&text, &now);
    let diff = diff
        .unified_diff()
        .context_radius(4)
        .header("expected", "result")
        .to_string();
    let word = path.file_stem().unwrap_or_default().display();
    Err(format!("{diff}\n`cargo test -p passdock-filetests {word} -- --bless` writes the result into the file.").into())
}
