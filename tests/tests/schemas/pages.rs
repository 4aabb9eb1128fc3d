//! The reference pages list the keys of the schemas, and their examples are valid.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use passdock::pipeline::{self, PipelineText, Request};
use passdock::plugin::manifest::{self, Manifest};
use passdock::toml;
use passdock_tests::{build_c_plugin, standard_registry};
use serde_json::{Value, json};

use crate::checker::Schema;
use crate::root;

/// A page of `docs`.
struct Page {
    path: PathBuf,
    text: String,
}

/// A fenced code block.
struct Block<'p> {
    /// The language after the fence.
    language: &'p str,
    text: &'p str,
    /// The range of the text in the page.
    at: std::ops::Range<usize>,
}

impl Page {
    fn read(name: &str) -> Page {
        let path = root().join("docs").join(name);
        let text = fs::read_to_string(&path).expect("a page that is there");
        Page { path, text }
    }

    /// Returns the rows of each table whose first column has this title, by the heading above. Rows are split into
    /// cells.
    fn tables(&self, title: &str) -> Vec<(&str, Vec<Vec<&str>>)> {
        let mut tables = Vec::new();
        let mut heading = "";
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            if let Some(text) = line.strip_prefix("## ") {
                heading = text;
            }
            if line.starts_with(&format!("| {title} |")) {
                let rows = lines.by_ref().skip(1);
                let rows = rows.map_while(|row| row.strip_prefix('|')?.strip_suffix('|'));
                let rows = rows.map(|row| row.split('|').map(str::trim).collect());
                tables.push((heading, rows.collect()));
            }
        }
        tables
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut rest = 0;
        while let Some(open) = self.text[rest..].find("\n```") {
            let language = rest + open + "\n```".len();
            let start = language + self.text[language..].find('\n').expect("a line's end") + 1;
            // A block may be empty.
            let end = start - 1 + self.text[start - 1..].find("\n```").expect("a block's end") + 1;
            blocks.push(Block {
                language: &self.text[language..start - 1],
                text: &self.text[start..end],
                at: start..end,
            });
            rest = end + "```".len();
        }
        blocks
    }
}

/// Checks that the tables of keys under these headings match a schema.
#[track_caller]
fn check_keys(page: &Page, schema: &Schema, sections: &[(&str, &str)]) {
    let tables = page.tables("key");
    let headings: Vec<&str> = tables.iter().map(|(heading, _)| *heading).collect();
    let expected: Vec<&str> = sections.iter().map(|(heading, _)| *heading).collect();
    assert_eq!(headings, expected, "the sections with keys");
    let named: BTreeSet<&str> = sections.iter().map(|(_, name)| *name).collect();
    assert_eq!(named, BTreeSet::from_iter(schema.tables()), "tables");
    for ((heading, rows), (_, name)) in tables.iter().zip(sections) {
        let definition = schema.definition(name);
        let keys = rows.iter().map(|row| row[0].trim_matches('`'));
        let keys: BTreeSet<&str> = keys.collect();
        assert_eq!(keys, BTreeSet::from_iter(schema.keys(name)), "{heading}");
        for row in rows {
            let key = row[0].trim_matches('`');
            let required = definition["required"].as_array().into_iter().flatten();
            let is_required = required.into_iter().any(|name| name == key);
            let default = match default_of(schema, &definition["properties"][key]) {
                _ if is_required => "(required)".to_owned(),
                Value::Null => String::new(),
                default => format!("`{default}`"),
            };
            assert_eq!(row[2], default, "the default of `{key}`, {heading}");
        }
    }
}

/// Returns the default of a property, or that of the definition that it references.
fn default_of<'s>(schema: &'s Schema, property: &'s Value) -> &'s Value {
    let all = property["allOf"].as_array().into_iter().flatten();
    let mut references = all
        .chain([property])
        .filter_map(|part| part["$ref"].as_str());
    let name = references.next().and_then(|path| path.rsplit('/').next());
    match (&property["default"], name) {
        (Value::Null, Some(name)) => &schema.definition(name)["default"],
        (own, _) => own,
    }
}

#[test]
fn pipelines_page_lists_schema_keys() {
    let schema = Schema::new(pipeline::SCHEMA);
    let sections = [
        ("Top-level keys", ""),
        ("Passes", "pass"),
        ("Rule files", "rules"),
        ("Python passes", "python"),
        ("Groups", "sequential"),
        ("Including a built-in pipeline", "built_in"),
        ("Extension points", "phase"),
        ("`[context]`", "context"),
        ("`[plugins]`", "plugins"),
        ("`[plugins.NAME]`", "plugin"),
        ("`[[instruments]]`", "instrument"),
    ];
    check_keys(&Page::read("pipelines.md"), &schema, &sections);
}

#[test]
fn manifests_page_lists_schema_keys() {
    let schema = Schema::new(manifest::SCHEMA);
    let sections = [
        ("Top-level keys", ""),
        ("`[plugin]`", "plugin"),
        ("`[[pass]]`", "pass"),
        (
            "`[[pass.option]]`, `[[config.field]]`, `[[instrument.option]]`",
            "field",
        ),
        ("`[[sequential]]`", "sequential"),
        ("`[[sequential]]`", "child"),
        ("`[[config]]`", "config"),
        ("`[[op]]`", "op"),
        ("`[[instrument]]`", "instrument"),
    ];
    let page = Page::read("manifests.md");
    check_keys(&page, &schema, &sections);
    let [(_, types)] = &page.tables("type")[..] else {
        panic!("one table of types")
    };
    let types: Vec<&str> = types.iter().map(|row| row[0].trim_matches('`')).collect();
    let field = &schema.definition("field")["properties"];
    assert_eq!(json!(types), field["type"]["enum"]);
}

/// Builds a plugin of function passes in C with this `plugin.toml`.
fn build(dir: &Path, name: &str, manifest: &str, pass: &str) -> Option<PathBuf> {
    let source = format!(
        r#"#include "passdock.h"
PASSDOCK_MANIFEST("plugin.toml");
static passdock_status run(const passdock_host *host, void *state, passdock_context *context,
                           const passdock_function_ref *f, const passdock_module_ref *m) {{
    (void)host; (void)state; (void)context; (void)f; (void)m;
    return PASSDOCK_OK;
}}
static const passdock_pass_entry passes[] = {{
    {{.name = PASSDOCK_STR("{pass}"), .run_function = run}},
}};
static const passdock_plugin plugin = {{.struct_size = sizeof plugin,
                                       .passes = passes,
                                       .pass_count = 1,
                                       .pass_stride = sizeof passes[0]}};
PASSDOCK_ENTRY(plugin);
"#
    );
    fs::create_dir_all(dir).expect("a directory");
    let file = dir.join(name).with_extension("c");
    fs::write(&file, source).expect("writes the source");
    let toml = dir.join("plugin.toml");
    fs::write(&toml, manifest).expect("writes the manifest");
    let library = build_c_plugin(&file, dir);
    for file in [&file, &toml] {
        fs::remove_file(file).expect("the file was there");
    }
    library
}

/// Returns the page's manifest, without what the macro in C adds.
fn in_c(page: &Page) -> String {
    let added = ["[plugin]", "abi = ", "ir = ", "language = ", "panic = "];
    let mut blocks = page.blocks().into_iter();
    let block = blocks.find(|block| block.language == "toml");
    let lines = block.expect("a manifest").text.split_inclusive('\n');
    let is_added = |line: &&str| added.iter().any(|start| line.starts_with(start));
    lines.filter(|line| !is_added(line)).collect()
}

#[test]
fn pipeline_examples_have_documented_results() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let directory = directory.path();
    let manifests = Page::read("manifests.md");
    let faster =
        "name = 'faster'\n[[pass]]\nname = 'relax.transform.FoldConstant'\nkind = 'function'\n";
    let built = [
        build(
            &directory.join("plugins"),
            "acme",
            &in_c(&manifests),
            "acme.transform.Tile",
        ),
        build(
            &directory.join("more"),
            "faster",
            faster,
            "relax.transform.FoldConstant",
        ),
    ];
    if built.contains(&None) {
        return;
    }
    let schema = Schema::new(pipeline::SCHEMA);
    let page = Page::read("pipelines.md");
    let blocks = page.blocks();
    let (mut corrected, mut copied, mut wrong) = (String::new(), 0, 0);
    for (at, block) in blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| block.language == "toml")
    {
        let request = Request {
            pipeline: Some(PipelineText::from_file(
                directory.join("pipeline.toml"),
                block.text,
            )),
            // Standard plugins that the block doesn't name.
            default_dirs: vec![directory.join("plugins")],
            ..Request::default()
        };
        let rules = "rule neg_neg { onnx.Neg(onnx.Neg(%x)) => %x }";
        for file in ["fuse.rules", "npu.rules"] {
            fs::write(directory.join(file), rules).expect("a directory of ours");
        }
        let checked = pipeline::check(&standard_registry(), &request);
        let message = match &checked {
            Ok(_) => String::new(),
            Err(error) => error.to_diagnostic().render(false) + "\n",
        };
        let message = message.replace(&format!("{}/", directory.display()), "");
        if let Ok(table) = block.text.parse::<toml::Table>() {
            // Everything that the schema rejects is rejected. Unknown names are only rejected by the host.
            assert!(schema.takes(&table) || checked.is_err(), "{}", block.text);
        }
        match blocks.get(at + 1).filter(|next| next.language == "text") {
            Some(next) => {
                wrong += usize::from(next.text != message);
                assert!(!message.is_empty(), "this is right:\n{}", block.text);
                write!(corrected, "{}{message}", &page.text[copied..next.at.start]).expect("text");
                copied = next.at.end;
            }
            None => assert_eq!(message, "", "{}", block.text),
        }
    }
    if wrong > 0 && std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&page.path, corrected + &page.text[copied..]).expect("writes the page");
        return;
    }
    assert_eq!(
        wrong, 0,
        "UPDATE_EXPECT=1 corrects what the page says of its mistakes"
    );
}

#[test]
fn manifest_examples_are_valid() {
    let schema = Schema::new(manifest::SCHEMA);
    let page = Page::read("manifests.md");
    let mut whole = Vec::new();
    for block in page
        .blocks()
        .iter()
        .filter(|block| block.language == "toml")
    {
        let is_whole = block.text.contains("[plugin]");
        let plugin = "[plugin]\nname = 'a'\nabi = '1.0'\nir = '1.0'\npanic = 'none'\n";
        let text = [if is_whole { "" } else { plugin }, block.text].concat();
        assert!(schema.takes(&text.parse().expect("TOML")), "{text}");
        let manifest = Manifest::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        assert_eq!(manifest.skipped, [], "{text}");
        if is_whole {
            whole.push(manifest);
        }
    }
    let [written] = &whole[..] else {
        panic!("one manifest with its plugin")
    };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let Some(library) = build(
        directory.path(),
        "acme",
        &in_c(&page),
        "acme.transform.Tile",
    ) else {
        return;
    };
    let registry = passdock::Registry::new();
    let loaded = registry.load_plugin(&library, &passdock::LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{error}"));
    let plugins = registry.plugins();
    assert_eq!(**plugins[0].manifest(), *written, "in C and in TOML");
    assert!(plugins[0].unknown_keys().is_empty());
}
