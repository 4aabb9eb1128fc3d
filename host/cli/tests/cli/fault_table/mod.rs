//! The table in docs/isolation.md: faults of plugins and their effects. This test generates it from actual runs.

mod faults;

use std::fmt::Write;
use std::fs;

use self::faults::{ELSEWHERE, FILE, Fault, PASS, TABLE};
use crate::support::{Bench, REPOSITORY, Ran, compile_c_plugin};

const MODEL: &str = r#"module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17, "crash" = 1) {
    %0 = onnx.Relu(%x) : f32[2]
    %1 = crash.Op(%0) : f32[*]
    return %1
  }
}
"#;

/// A model with an op that can be evaluated.
const CONSTANT: &str = r#"module {
  fn @main() -> (%y: f32[2]) opset("crash" = 1) {
    %0 = const f32[2] [1.0, 2.0]
    %1 = crash.Op(%0) : f32[2]
    return %1
  }
}
"#;

/// Faults that this process can't detect if they occur in it. The exit status is that of the fault.
const UNDETECTED: [&str; 5] = ["_exit", "exec", "handled segv", "atexit, exit 3", "kill"];

/// Faults in process that raise an uncaught signal.
const SIGNALED: [&str; 7] = [
    "kill",
    "rename, kill",
    "term",
    "usr1",
    "alarm",
    "stack, no other",
    "thread stack",
];

/// Faults in process that run until the process is killed.
const ENDLESS: [&str; 3] = ["hang", "spin", "stop"];

/// Their time limit in seconds, long enough for a pass to start on a busy machine.
const LIMIT: &str = "2";

/// Returns `true` if a time limit ends a fault.
fn needs_time_limit(fault: &Fault) -> bool {
    ENDLESS.contains(&fault.name)
}

fn bench() -> Option<Bench> {
    let bench = Bench::new();
    bench.write("m.ir", MODEL);
    compile_c_plugin(&bench, "tests/bad-plugins/crash.c", &["-pthread"])?;
    Some(bench)
}

#[test]
fn documented_fault_table_matches_actual_runs() {
    let Some(_) = bench() else { return };
    // Each half runs in a thread: a run has two processes and waits most of the time.
    let sections = [
        ("A pass …", PASS),
        ("A plugin outside a pass …", ELSEWHERE),
        ("A plugin's entry function or table …", TABLE),
        ("A plugin's file …", FILE),
    ];
    let mut text = String::new();
    for (title, faults) in sections {
        _ = write!(
            text,
            "\n| {title} | supervised | in process |\n|---|---|---|\n"
        );
        let (first, second) = faults.split_at(faults.len() / 2);
        let halves = [first, second];
        // Faults that wait for a time limit run in parallel to the others.
        let parts = halves.into_iter().flat_map(|half| {
            half.chunk_by(|one, next| !needs_time_limit(one) && !needs_time_limit(next))
        });
        let parts: Vec<&[Fault]> = parts.collect();
        let (waiting, others): (Vec<_>, Vec<_>) =
            (0..parts.len()).partition(|at| needs_time_limit(&parts[*at][0]));
        let cells = std::thread::scope(|scope| {
            let (first, second) = others.split_at(others.len() / 2);
            let lists = waiting.chunks(1).chain([first, second]);
            let threads: Vec<_> = lists
                .map(|list| {
                    let parts = &parts;
                    scope.spawn(move || -> Vec<(usize, String)> {
                        list.iter().map(|at| (*at, rows(parts[*at]))).collect()
                    })
                })
                .collect();
            let cells = threads
                .into_iter()
                .map(|thread| thread.join().expect("rows"));
            cells
                .flatten()
                .collect::<std::collections::BTreeMap<_, _>>()
        });
        text.extend(cells.into_values());
    }
    let path = format!("{REPOSITORY}/docs/isolation.md");
    let page = fs::read_to_string(&path).expect("the page");
    let (begin, end) = (
        "<!-- written by host/cli/tests/cli/fault_table/mod.rs -->\n",
        "\n<!-- end -->",
    );
    let at = page.find(begin).expect("the start of the table") + begin.len();
    let to = at + page[at..].find(end).expect("its end");
    if page[at..to] != text && std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, format!("{}{text}{}", &page[..at], &page[to..])).expect("the page");
        return;
    }
    pretty_assert(&page[at..to], &text);
}

#[track_caller]
fn pretty_assert(expected: &str, found: &str) {
    let lines = expected.lines().zip(found.lines());
    let different: Vec<_> = lines
        .filter(|(expected, found)| expected != found)
        .collect();
    assert!(
        different.is_empty() && expected.len() == found.len(),
        "docs/isolation.md is outdated; UPDATE_EXPECT=1 updates it: {different:#?}"
    );
}

/// Returns the rows of some faults, each run in a worker and in process.
fn rows(faults: &[Fault]) -> String {
    let bench = bench().expect("a C compiler");
    let good = fs::read(bench.path("plugin.so")).expect("the plugin");
    let mut text = String::new();
    for fault in faults {
        if fault.place == "file" {
            bench.write("plugin.so", with_defect(&good, fault.name));
        }
        let supervised = cell(&bench, fault, false);
        let in_process = match fault.place {
            "pass" | "constructor" if ENDLESS.contains(&fault.name) => {
                "runs until it is killed".to_owned()
            }
            _ => cell(&bench, fault, true),
        };
        let in_process = match in_process == supervised {
            true => "the same".to_owned(),
            false => in_process,
        };
        _ = writeln!(text, "| {} | {supervised} | {in_process} |", fault.what);
    }
    text
}

/// Returns the cell for a fault.
fn cell(bench: &Bench, fault: &Fault, in_process: bool) -> String {
    bench.write("out.ir", "as it was");
    let mut words = vec!["run", "m.ir", "-o", "out.ir", "--plugin", "plugin.so"];
    bench.write(
        "m.ir",
        match fault.place {
            "evaluate" => CONSTANT,
            _ => MODEL,
        },
    );
    let last = match fault.place {
        "evaluate" => "relax.transform.FoldConstant",
        "decompose" => "relax.transform.DecomposeOps",
        _ => "relax.transform.InferType",
    };
    let passes = format!("c.transform.Crash,{last}");
    words.extend(["--passes", &passes]);
    if matches!(fault.place, "before" | "after" | "failed" | "destroy") {
        words.extend(["--instrument", "crash.watch"]);
    }
    match in_process {
        true => words.push("--in-process"),
        // The limit avoids waiting for a leftover process that holds descriptors open.
        false if fault.name == "child holds on" => words.extend(["--timeout", "0.4"]),
        false if needs_time_limit(fault) => words.extend(["--timeout", LIMIT]),
        false => {}
    }
    let variables = [("FAULT", fault.name), ("AT", fault.place)];
    let ran = bench.run_with(&variables, words, "");
    let details = || {
        let mode = if in_process {
            "in process"
        } else {
            "supervised"
        };
        let (stdout, stderr) = (&ran.stdout, &ran.stderr);
        format!(
            "{}, {}, {mode}: {}\n{stdout}{stderr}",
            fault.place, fault.name, ran.status
        )
    };
    assert!(!ran.stderr.contains("panicked at"), "{}", details());
    let out = bench.read("out.ir");
    let is_silent = in_process && UNDETECTED.contains(&fault.name);
    let is_harmless = fault.harmless || (fault.denied && !in_process);
    match ran.status {
        0 if is_harmless => assert_eq!(out, MODEL, "{}", details()),
        0 => assert!(is_silent && out == "as it was", "{}", details()),
        -1 => {
            assert!(
                in_process && SIGNALED.contains(&fault.name),
                "{}",
                details()
            );
            assert_eq!(out, "as it was", "{}", details());
        }
        _ => {
            assert!(!is_harmless, "{}", details());
            assert_eq!(out, "as it was", "{}", details());
            // The fault closes standard error, so nothing can be printed.
            let is_mute = in_process && fault.name == "close all";
            assert_eq!(ran.stderr.contains("error["), !is_mute, "{}", details());
        }
    }
    if !ran.stdout.is_empty() {
        assert!(
            !ran.stdout.contains("printed by the plugin"),
            "{}",
            details()
        );
    }
    let mut files = bench.files();
    let has_reproducer = files.iter().any(|file| file == "out.ir.reproducer");
    files.retain(|file| file != "out.ir.reproducer" && file != "printed");
    assert_eq!(files, ["m.ir", "out.ir", "plugin.so"], "{}", details());
    if has_reproducer {
        fs::remove_dir_all(bench.path("out.ir.reproducer")).expect("a directory");
    }
    _ = fs::remove_file(bench.path("printed"));
    summary(&ran, &bench.plugins(), has_reproducer)
}

/// Summarizes a run: the status, the message, the named culprit, and the remaining files.
fn summary(ran: &Ran, plugins: &str, has_reproducer: bool) -> String {
    let mut text = match ran.status {
        -1 => "terminates with the signal".to_owned(),
        0 if !ran.stdout.contains("written to out.ir") => "0, not noticed".to_owned(),
        status => status.to_string(),
    };
    let mut parts = Vec::new();
    let mut errors = ran.stderr.lines().filter(|line| line.starts_with("error["));
    if let Some(error) = errors.next() {
        let sentence = error
            .split_once("]: ")
            .map_or(error, |(_, message)| message);
        parts.push(without_machine_details(sentence, plugins) + ".");
    }
    let named = [
        ("pass c.transform.Crash", "pass"),
        ("pass `c.transform.Crash`", "pass"),
        ("@main", "function"),
        ("`plugin.so`", "plugin"),
    ];
    let is_named = named.iter().filter(|(name, _)| ran.stderr.contains(name));
    let mut names: Vec<&str> = is_named.map(|(_, what)| *what).collect();
    names.dedup();
    if ran.status > 0 && !names.is_empty() {
        parts.push(format!("Names {}.", names.join(", ")));
    }
    if ran.stderr.contains("= note: instrument `crash.watch`") {
        parts.push("A note names the instrument.".to_owned());
    }
    if has_reproducer {
        parts.push("Reproducer.".to_owned());
    }
    if ran.stderr.contains("the sandbox denied it") {
        parts.push("The sandbox denies it.".to_owned());
    }
    if ran.stderr.contains("printed by the plugin") {
        parts.push("The output goes to standard error.".to_owned());
    }
    if !parts.is_empty() {
        _ = write!(text, ": {}", parts.join(" "));
    }
    text
}

/// Removes machine-dependent parts of a message: addresses, file sizes, and the directory of plugins.
fn without_machine_details(sentence: &str, plugins: &str) -> String {
    let text = sentence
        .replace("cannot load plugin `plugin.so`: ", "")
        .replace(plugins, "…/");
    let text = match text.split_once(" (address") {
        Some((before, after)) => {
            let rest = after.split_once(')').map_or("", |(_, rest)| rest);
            format!("{before}{rest}")
        }
        None => text,
    };
    let is_cut_off = text.contains("is truncated");
    let words =
        text.split(' ').map(
            |word| match word.trim_end_matches([';', ',']).parse::<u64>() {
                Ok(100..) if is_cut_off => word
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .replacen("", "N", 1),
                _ => word.to_owned(),
            },
        );
    words.collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Returns the file of a plugin with a defect.
fn with_defect(good: &[u8], defect: &str) -> Vec<u8> {
    let mut bytes = good.to_vec();
    let mut put = |from: &str, to: &[u8]| {
        let from = from.as_bytes();
        assert!(to.len() <= from.len() + 1, "{defect}");
        let places: Vec<usize> = (0..good.len() - from.len())
            .filter(|at| good[*at..].starts_with(from))
            .collect();
        assert!(!places.is_empty(), "{defect}");
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    };
    match defect {
        "empty" => bytes.clear(),
        "text" => bytes = b"This is no library.\n".to_vec(),
        "half" => bytes.truncate(good.len() / 2),
        "header" => bytes.truncate(40),
        "last byte" => bytes.truncate(good.len() - 1),
        "zeros" => bytes[good.len() / 8..good.len() * 7 / 8].fill(0),
        "magic" => bytes[1] = b'F',
        "machine" => bytes[18] ^= 1,
        "class" => bytes[4] = 1,
        "program" => bytes[16] = 2,
        "no entry" => put("passdock_plugin_v1", b"passdock_plugin_v9"),
        "no manifest" => put("passdock_manifest_v1", b"passdock_manifest_v9"),
        "major" => put("\nabi = '1.", b"\nabi = '9."),
        "minor" => put("min_host = '1.0'", b"min_host = '1.9'"),
        "ir" => put("\nir = '1.", b"\nir = '9."),
        "toml" => put("[plugin]\nabi", b"[plugin\nabi "),
        "utf8" => put("summary = \"Does", b"summary = \"D\xff\xfe\xff"),
        "endless" => {
            let at = find(good, b"[plugin]\nabi");
            let to = at + find(&good[at..], b"\0");
            bytes[to] = b'\n';
        }
        "kind" => put("kind = \"function\"", b"kind = \"fraction\""),
        "name" => put(
            "name = \"c.transform.Crash\"",
            b"name = \"c_transform_Crash\"",
        ),
        _ => panic!("{defect} is not a file defect"),
    }
    bytes
}

fn find(bytes: &[u8], needle: &[u8]) -> usize {
    let mut windows = bytes.windows(needle.len());
    windows
        .position(|window| window == needle)
        .expect("the bytes")
}
