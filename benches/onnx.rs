//! Reading and writing ONNX files, compared with `cp` and with Python's `onnx` package.
//!
//! Python is `PASSDOCK_PYTHON` or `python3`; without the `onnx` package that comparison is skipped. Real models are
//! taken from the directory `PASSDOCK_MODELS`. The large models need 6 GiB of disk for about a minute.

#![allow(missing_docs, reason = "a benchmark has no callers")]
#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use std::path::{Path, PathBuf};
use std::process::Command;

use passdock::model_file::{self, ExternalData, WriteOptions};
use passdock_benches::{
    Figure, is_quick, measure, named_main, one_function, report, report_ratio, sized,
};
use passdock_ir::{Module, text};

/// Loads and saves each file in one process; prints the seconds, without the import.
const PYTHON: &str = r#"
import os, sys, time
import onnx
start = time.perf_counter()
for path in sys.argv[2:]:
    model = onnx.load(path)
    out = os.path.join(sys.argv[1], os.path.basename(path))
    external = os.path.exists(path + ".data")
    kwargs = dict(save_as_external_data=True, location=os.path.basename(out) + ".data") if external else {}
    onnx.save(model, out, **kwargs)
print(time.perf_counter() - start)
"#;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    // The child process of `memory`.
    if let [_, what, input, output] = words.as_slice()
        && what == "round-trip"
    {
        return report_round_trip(input, output);
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
    let out = dir.path().join("out");
    std::fs::create_dir(&out).expect("a new directory");
    let python = python();
    if python.is_none() && !is_quick() {
        println!("no Python with the onnx package: not compared");
    }
    let compare = |what: &str, models: &[PathBuf], copies: &str| {
        let ours = measure(1, || {
            for model in models {
                round(model, &out);
            }
        });
        let copy = measure(1, || {
            for model in models {
                copy(model, &out);
            }
        });
        report(what, ours, "");
        report_ratio("  compared with copying the file", ours, copy, copies);
        match python
            .as_ref()
            .map(|python| python_round(python, models, &out))
        {
            Some(Some(theirs)) => {
                report_ratio("  compared with Python's onnx", ours, theirs, "< 1 x");
            }
            Some(None) => println!("  Python can't load and save it"),
            None => {}
        }
    };

    if let Some(models) = std::env::var_os("PASSDOCK_MODELS") {
        let mut models: Vec<PathBuf> = std::fs::read_dir(models)
            .expect("PASSDOCK_MODELS names a directory")
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "onnx")
            })
            .collect();
        models.sort();
        compare("the real models in and out", &models, "(for scale)");
    }
    for (ops, to_reach) in [(100_000, "<= 0.2 s"), (1_000_000, "linear")] {
        let ops = sized(ops);
        let path = dir.path().join(format!("chain{ops}.onnx"));
        save(
            &one_function(|module| named_main(module, ops)),
            &path,
            ExternalData::Keep,
        );
        println!("{ops} nodes: target: {to_reach}");
        compare("  in and out", &[path], "(for scale)");
    }
    let weight = 4 * sized(8 << 20) as u64;
    for (what, count, external) in [
        ("1 GiB in the model", 32, ExternalData::None),
        ("2.25 GiB in a data file", 72, ExternalData::All),
    ] {
        let path = dir.path().join("weights.onnx");
        save(&weights(count, weight), &path, external);
        println!("{what}");
        compare("  in and out", std::slice::from_ref(&path), "<= 2 x");
        memory(&path, &out);
        for file in [&path, &data_file(&path)] {
            let _ = std::fs::remove_file(file);
        }
        std::fs::remove_dir_all(&out).expect("a directory of ours");
        std::fs::create_dir(&out).expect("a new directory");
    }
}

/// Reads a model and writes it to `out`, after removing an earlier output.
fn round(model: &Path, out: &Path) {
    let to = out.join(model.file_name().expect("a file"));
    for old in [&to, &data_file(&to)] {
        let _ = std::fs::remove_file(old);
    }
    round_trip(&model.to_string_lossy(), &to.to_string_lossy());
}

fn round_trip(input: &str, output: &str) {
    let module = model_file::read(input).expect("a model");
    model_file::write(&module, output, WriteOptions::default()).expect("a disk with room");
}

/// Does a round trip, then prints the memory use of the process.
fn report_round_trip(input: &str, output: &str) {
    let module = model_file::read(input).expect("a model");
    model_file::write(&module, output, WriteOptions::default()).expect("a disk with room");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let known = |line: &&str| line.starts_with("Rss") || line.starts_with("VmHWM");
    status
        .lines()
        .filter(known)
        .for_each(|line| println!("{line}"));
}

/// Reports the memory use of one round trip, measured in a child process.
fn memory(model: &Path, out: &Path) {
    let to = out.join("memory.onnx");
    let exe = std::env::current_exe().expect("this program");
    let ran = Command::new(exe)
        .arg("round-trip")
        .args([model, &to])
        .output();
    let text = String::from_utf8_lossy(&ran.expect("it starts").stdout).into_owned();
    let figure = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        kib.map_or("unknown".to_owned(), |kib| {
            format!("{:.0} MiB", kib / 1024.0)
        })
    };
    println!(
        "{:<58} {:>12}   target: < 200 MB   (peak {}, mapped files included)",
        "  memory that isn't mapped files",
        figure("RssAnon"),
        figure("VmHWM")
    );
}

fn copy(model: &Path, out: &Path) {
    let to = out.join("copy");
    let _ = std::fs::remove_file(&to);
    std::fs::copy(model, &to).expect("a disk with room");
    if data_file(model).exists() {
        let to = data_file(&to);
        let _ = std::fs::remove_file(&to);
        std::fs::copy(data_file(model), to).expect("a disk with room");
    }
}

fn data_file(model: &Path) -> PathBuf {
    let mut name = model.to_path_buf().into_os_string();
    name.push(".data");
    name.into()
}

fn save(module: &Module, path: &Path, external_data: ExternalData) {
    let options = WriteOptions {
        external_data,
        ..WriteOptions::default()
    };
    model_file::write(module, path, options).expect("a disk with room");
}

/// Returns a chain of `count` additions, each with a weight of `bytes` bytes.
fn weights(count: u64, bytes: u64) -> Module {
    let ty = format!("f32[{}]", bytes / 4);
    let line = |at| {
        format!(
            "%w{at} = const {ty} splat({at}.0)\n%v{} = onnx.Add(%v{at}, %w{at}) : {ty}\n",
            at + 1
        )
    };
    let lines: String = (0..count).map(line).collect();
    let text = format!(
        "module {{ fn @main(%v0: {ty}) -> (%y: {ty}) opset(\"\" = 17) {{\n{lines}return %v{count} }} }}"
    );
    text::parse(&text).expect("a module")
}

/// Returns a Python interpreter that has the `onnx` package.
fn python() -> Option<PathBuf> {
    if is_quick() {
        return None;
    }
    let named = std::env::var_os("PASSDOCK_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| "python3".into());
    let known = Command::new(&python).args(["-c", "import onnx"]).output();
    known
        .is_ok_and(|known| known.status.success())
        .then_some(python)
}

/// Measures Python's load and save, without the start of the interpreter; `None` if it fails.
fn python_round(python: &Path, models: &[PathBuf], out: &Path) -> Option<Figure> {
    let mut times = Vec::new();
    for _ in 0..3 {
        for model in models {
            let _ = std::fs::remove_file(data_file(&out.join(model.file_name()?)));
        }
        let mut command = Command::new(python);
        command.args(["-c", PYTHON]).arg(out).args(models);
        let ran = command.output().ok()?;
        times.push(
            String::from_utf8_lossy(&ran.stdout)
                .trim()
                .parse::<f64>()
                .ok()?,
        );
    }
    times.sort_by(f64::total_cmp);
    Some(Figure {
        nanos: times[1] * 1e9,
    })
}
