//! The path of one pass call, shown by a backtrace in a plugin's pass. Few files of the host and of the SDK are between
//! `Sequential::call` and the pass, and none is entered twice.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::sync::{Arc, Mutex};

use passdock::{PassContext, Registry, Sequential, model_file};

/// The maximum number of files that a reader can keep in mind.
const MAX_FILES: usize = 8;

/// Returns a backtrace inside the pass, the innermost frame first.
fn backtrace() -> String {
    let registry = Registry::new();
    let plugin = passdock_tests::library("passdock_conformance");
    registry
        .load_plugin(&plugin, &Default::default())
        .expect("the plugin");
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = messages.clone();
    let context = PassContext::builder()
        .registry(&registry)
        .on_diagnostic(move |diagnostic| sink.lock().expect("no panic").push(diagnostic.message))
        .build()
        .expect("a plain context");
    let text = "module { fn @main(%x: f32[2]) -> (%x) { return %x } }";
    let module = model_file::parse_text("test.ir", text).expect("the test's own text");
    let pass = registry
        .get_pass("t.transform.Traces")
        .expect("a pass of the plugin");
    context
        .scope(|_| Sequential::new([pass]).call(module))
        .expect("it runs");
    messages.lock().expect("no panic").remove(0)
}

/// Returns the function and the file of each frame in this repository.
fn frames(backtrace: &str) -> Vec<(String, String)> {
    let mut frames = Vec::new();
    let mut lines = backtrace.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let Some((_, function)) = line.split_once(": ") else {
            continue;
        };
        let Some(place) = lines.peek().and_then(|next| next.strip_prefix("at ")) else {
            continue;
        };
        // The path relative to the repository, wherever that was when the file was compiled.
        let ours = ["host/", "plugin-api/"]
            .iter()
            .filter_map(|root| place.rfind(root));
        let place = &place[ours.max().unwrap_or(0)..];
        let file = place.split(".rs:").next().unwrap_or(place);
        frames.push((function.to_owned(), format!("{file}.rs")));
    }
    frames
}

#[test]
fn pass_call_crosses_few_files() {
    let backtrace = backtrace();
    let frames = frames(&backtrace);
    let start = frames
        .iter()
        .position(|(function, _)| function.contains("Sequential") && function.ends_with("::call"));
    let start = start.unwrap_or_else(|| panic!("no `Sequential::call` in\n{backtrace}"));
    let ours = |file: &str| file.starts_with("host/") || file.starts_with("plugin-api/");
    // From the caller to the callee.
    let mut files: Vec<&str> = Vec::new();
    for (_, file) in frames[..=start].iter().rev().filter(|(_, file)| ours(file)) {
        if files.last() != Some(&file.as_str()) {
            assert!(
                !files.contains(&file.as_str()),
                "{file} is entered twice in\n{backtrace}"
            );
            files.push(file);
        }
    }
    assert!(files.len() <= MAX_FILES, "{files:#?}");
    let page = include_str!("../../docs/pass-call.md");
    let listed = page.lines().filter_map(|line| {
        let line = line.strip_prefix("| `")?;
        Some(line.split_once('`')?.0)
    });
    assert_eq!(
        listed.collect::<Vec<_>>(),
        files,
        "docs/pass-call.md lists other files"
    );
}
