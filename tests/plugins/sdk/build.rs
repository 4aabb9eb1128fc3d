//! Generates modules from the examples in the SDK's documentation, so that the exact code of the documentation runs in
//! a host.
//!
//! An example shows a pass, an instrument or a plugin, and its module is named after that.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn main() {
    let source = Path::new("../../../plugin-api/src");
    println!("cargo:rerun-if-changed={}", source.display());
    let mut files = Vec::new();
    list(source, &mut files);
    files.sort();
    let mut modules: BTreeMap<String, String> = BTreeMap::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("a file that was just listed");
        for block in blocks(&documentation(file, &text)) {
            if let Some(name) = name(&block) {
                let before = modules.keys().filter(|key| key.starts_with(&name)).count();
                let name = match before {
                    0 => name,
                    count => format!("{}_{}", name, count + 1),
                };
                modules.insert(name, block);
            }
        }
    }
    assert!(!modules.is_empty(), "{} has no examples", source.display());
    let code = modules.iter().map(|(name, code)| module(name, code));
    let out = std::env::var("OUT_DIR").expect("cargo says where");
    let out = Path::new(&out).join("examples.rs");
    fs::write(out, code.collect::<String>()).expect("a directory of ours");
}

fn list(directory: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(directory).expect("the SDK's sources") {
        let path = entry.expect("the SDK's sources").path();
        if path.is_dir() {
            list(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Returns the lines of documentation in a file, without comment markers.
fn documentation(file: &Path, text: &str) -> Vec<String> {
    if file
        .extension()
        .map_or(false, |extension| extension == "md")
    {
        return text.lines().map(str::to_owned).collect();
    }
    let comments = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
    });
    comments
        .map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned())
        .collect()
}

/// Returns the code of the blocks that documentation tests run.
fn blocks(lines: &[String]) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in lines {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.is_empty(), String::new())),
            (None, None) => {}
            (Some((is_run, code)), Some(_)) => {
                if *is_run {
                    blocks.push(std::mem::take(code));
                }
                open = None;
            }
            (Some((_, code)), None) => {
                // Lines that rustdoc hides.
                code.push_str(line.strip_prefix("# ").unwrap_or(line));
                code.push('\n');
            }
        }
    }
    blocks
}

/// Returns the name of the pass, instrument or operator in an example.
fn name(block: &str) -> Option<String> {
    let is_pass = |line: &&str| line.contains("&mut Function, ") || line.contains("&mut Module, ");
    let mut passes = block.lines().filter(is_pass);
    let pass = passes.find_map(|line| line.strip_prefix("fn "));
    let find = |start: &str| block.lines().find_map(|line| line.strip_prefix(start));
    let instrument = || find("impl Instrument for ");
    let operator = || find("const ").filter(|_| block.contains("plugin! {"));
    let shown = pass.or_else(instrument).or_else(operator)?;
    let end = shown.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    Some(shown[..end?].to_lowercase())
}

/// Returns a module with the code, whose items are visible in the crate. It exports no plugin.
fn module(name: &str, code: &str) -> String {
    let mut text = format!("pub mod {} {{\n", name);
    for line in code.lines() {
        if line.starts_with("export_plugin!") {
            continue;
        }
        if ["fn ", "struct ", "const "]
            .iter()
            .any(|item| line.starts_with(item))
        {
            text.push_str("pub ");
        }
        text.push_str(line);
        text.push('\n');
    }
    text + "}\n"
}
