//! Generates `docs/passes.md` from the files and manifests of the passes, and runs each example.
//!
//! A pass's file begins with `` //! `NAME`: summary. `` A block marked `ir` has a function before the pass, a line `→`
//! (with options: `→ { n = 1 }`), and the function after. `UPDATE_EXPECT=1 cargo test -p passdock-tests --test
//! pass_docs` writes the page.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use passdock::Registry;
use passdock::plugin::{ManifestPass, ManifestSequential, PassKind, toml_text};
use passdock::testing::{run_on_text, run_with_options};
use passdock_tests::standard_registry;

/// The documentation of a pass in its file.
struct Page {
    /// The path, relative to the repository.
    file: String,
    /// The text after the colon of the first line.
    summary: String,
    /// The rest, including examples.
    text: String,
}

/// A function before a pass and after it.
struct Example {
    before: String,
    /// Options in TOML, without the braces.
    options: String,
    after: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Collects the Rust files in a directory and below, sorted by name.
fn rust_files(dir: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| entry.expect("a directory that is there").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Returns the documentation of the standard passes, by name.
fn pages() -> BTreeMap<String, Page> {
    let mut files = Vec::new();
    rust_files(&root().join("plugins"), &mut files);
    let mut pages = BTreeMap::new();
    for path in files {
        let source = fs::read_to_string(&path).expect("a file that is there");
        let docs: Vec<&str> = source
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        let docs = docs.join("\n");
        let Some((name, rest)) = docs
            .strip_prefix('`')
            .and_then(|docs| docs.split_once("`: "))
            .filter(|(name, _)| name.contains(".transform."))
        else {
            continue;
        };
        let (summary, text) = rest.split_once("\n\n").unwrap_or((rest, ""));
        let file = path.strip_prefix(root()).expect("a file of the checkout");
        let page = Page {
            file: file.display().to_string(),
            summary: summary.replace('\n', " "),
            text: text.to_owned(),
        };
        let other = pages.insert(name.to_owned(), page);
        assert!(other.is_none(), "two files are about {name}");
    }
    pages
}

/// Returns the examples of a pass; a malformed block is an error.
fn examples(name: &str, page: &Page) -> Vec<Example> {
    let mut blocks = page.text.split("```ir\n");
    blocks.next();
    let example = |block: &str| {
        let (block, _) = block
            .split_once("\n```")
            .unwrap_or_else(|| panic!("{name}: an example that doesn't end"));
        let (before, rest) = block
            .split_once("\n→")
            .unwrap_or_else(|| panic!("{name}: an example without a line `→`"));
        let (options, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let options = options.trim().trim_start_matches('{').trim_end_matches('}');
        Example {
            before: module(before),
            options: options.trim().to_owned(),
            after: module(after),
        }
    };
    blocks.map(example).collect()
}

/// Wraps functions in a module.
fn module(functions: &str) -> String {
    format!("module {{\n{functions}\n}}\n")
}

/// A vendor's plugin for the examples: it has channels-last convolutions, and no fused multiply-add.
mod vendor {
    use passdock_plugin_api::prelude::*;

    plugin! {
        name: "acme",
        ops: &[
            OpDef::new("acme.Conv", 1).traits(OpTraits::PURE).alter_layout(|call| {
                call.set_operand_layout(0, "NCHW->NHWC")?;
                call.set_result_layout(0, "NCHW->NHWC")?;
                call.set_body("fn @last(%x, %w) { %y = acme.ConvLast(%x, %w) return %y }")?;
                Ok(())
            }),
            OpDef::new("acme.FusedMulAdd", 1).traits(OpTraits::PURE.with(OpTraits::ILLEGAL)).decompose(|call| {
                call.set_body("fn @legal(%x, %y, %z) { %p = onnx.Mul(%x, %y) %s = onnx.Add(%p, %z) return %s }")?;
                Ok(())
            }),
        ],
    }
}

#[test]
fn every_pass_has_docs_with_valid_examples() {
    let registry = standard_registry();
    (registry.load_static(vendor::PLUGIN)).expect("the plugin is well made");
    let pages = pages();
    for name in registry.pass_names() {
        let page = pages
            .get(&name)
            .unwrap_or_else(|| panic!("no file begins with //! `{name}`: …"));
        let examples = examples(&name, page);
        assert!(!examples.is_empty(), "{}: no example", page.file);
        for example in examples {
            let Example {
                before,
                options,
                after,
            } = example;
            let as_it_is = |text: &str| run_on_text(&registry, &[], text, |context| context);
            let actual = run_with_options(&registry, &name, &options, &before);
            let documented = as_it_is(&after);
            assert!(
                actual == documented,
                "{}: the pass makes\n{actual}\nand its documentation says\n{documented}",
                page.file
            );
            assert_ne!(actual, as_it_is(&before), "{}: nothing changes", page.file);
        }
    }
    for name in pages.keys() {
        assert!(registry.contains(name), "there is no pass {name}");
    }
}

#[test]
fn passes_page_is_up_to_date() {
    expect_file![root().join("docs/passes.md")].assert_eq(&render(&standard_registry()));
}

fn render(registry: &Registry) -> String {
    let pages = pages();
    let mut text = "\
# The standard passes

<!-- Generated by `UPDATE_EXPECT=1 cargo test -p passdock-tests --test pass_docs`. -->

Each example is run as a test. `passdock list passes` lists the available passes, including those of your plugins.

| pass | level | works on | what it does |
|---|---|---|---|
"
    .to_owned();
    let names = registry.pass_names();
    for name in &names {
        let (level, works_on) = match registry.sequential_spec(name) {
            Some((_, spec)) => (spec.declaration.info.opt_level, "what its passes do"),
            None => {
                let spec = pass(registry, name);
                (spec.declaration.info.opt_level, kind(spec.kind))
            }
        };
        let _ = writeln!(
            text,
            "| [`{name}`](#{}) | {level} | {works_on} | {} |",
            anchor(name),
            pages[name].summary,
        );
    }
    for name in &names {
        let page = &pages[name];
        let section = match registry.sequential_spec(name) {
            Some((_, spec)) => sequential_section(&spec, page),
            None => section(&pass(registry, name), page),
        };
        let _ = write!(text, "\n{section}");
    }
    text
}

fn pass(registry: &Registry, name: &str) -> ManifestPass {
    let (_, spec) = registry.pass_spec(name).expect("a plugin's pass");
    spec
}

fn sequential_section(spec: &ManifestSequential, page: &Page) -> String {
    format!(
        "## {}\n\n{}\n\nLevel {}, a Sequential. [Source](../{})\n\n{}\n",
        spec.declaration.info.name,
        capitalized(&page.summary),
        spec.declaration.info.opt_level,
        page.file,
        page.text.replace("```ir", "```text")
    )
}

fn section(spec: &ManifestPass, page: &Page) -> String {
    let mut text = format!("## {}\n\n{}\n\n", spec.name(), capitalized(&page.summary));
    let mut facts = vec![
        format!("level {}", spec.declaration.info.opt_level),
        kind(spec.kind).into(),
    ];
    if spec.declaration.thread_safe {
        facts.push("runs on several functions at once".into());
    }
    if !spec.declaration.info.required.is_empty() {
        facts.push(format!(
            "requires {}",
            quoted(&spec.declaration.info.required)
        ));
    }
    let _ = writeln!(
        text,
        "{}. [Source](../{})",
        capitalized(&facts.join(", ")),
        page.file
    );
    let _ = writeln!(text, "\n{}", page.text.replace("```ir", "```text"));
    if !spec.declaration.options.is_empty() {
        match &spec.declaration.config {
            Some(key) => {
                let _ = writeln!(text, "\nOptions, also set by the config key `{key}`:\n");
            }
            None => text.push_str("\nOptions:\n\n"),
        }
        text.push_str("| option | default | meaning |\n|---|---|---|\n");
        for option in &spec.declaration.options {
            let any = if option.rest {
                ", or any other name"
            } else {
                ""
            };
            let _ = writeln!(
                text,
                "| `{}`{any} | `{}` | {} |",
                option.name,
                toml_text(&option.default),
                option.doc.replace('\n', " ")
            );
        }
    }
    text
}

fn kind(kind: PassKind) -> &'static str {
    match kind {
        PassKind::Function => "each graph function",
        PassKind::PrimFunction => "each prim function",
        PassKind::Module => "the module",
    }
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Returns a heading's anchor on GitHub.
fn anchor(heading: &str) -> String {
    heading.to_lowercase().replace('.', "")
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
