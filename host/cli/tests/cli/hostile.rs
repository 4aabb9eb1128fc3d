//! Untrusted text: names and strings that control a terminal, hide text or are markup, in every file that the command
//! reads, through every subcommand.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::thread;

use crate::support::{Bench, Ran, compile_c_plugin};

/// Characters that control a terminal, and those that hide or reorder text.
const ACTIVE: &str = "\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}5m\u{7f}\u{8}\r\u{202e}\u{2066}\u{61c}\u{200b}\u{feff}\u{ad}\
                      \u{2028}\u{e0041}\u{e0100}\u{3164}";
/// Markup of HTML and shells, and a line that looks like output.
const MARKUP: &str = "<b>&amp;\"'`$(touch pwned);]]>\nforged";

/// Returns a hostile name that starts with `tag`.
fn hostile(tag: &str) -> String {
    format!("{tag}{ACTIVE}</script><script>{MARKUP}")
}

/// Returns a hostile name for a file.
fn hostile_file(tag: &str) -> String {
    format!("{tag}{ACTIVE}{MARKUP}")
}

/// Returns a quoted string of IR text and rules.
fn ir_text(text: &str) -> String {
    let quoted = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_ascii_graphic() || c == ' ' => c.to_string(),
        c => format!("\\u{{{:x}}}", u32::from(c)),
    });
    format!("\"{}\"", quoted.collect::<String>())
}

/// Returns a quoted string of TOML.
fn toml_text(text: &str) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_ascii_graphic() || c == ' ' => quoted.push(c),
            c => write!(quoted, "\\U{:08x}", u32::from(c)).expect("a string"),
        }
    }
    format!("\"{quoted}\"")
}

/// The names in the models of the test.
const TAGS: [&str; 14] = [
    "key", "value", "dim", "in", "out", "mid", "domain", "op", "attr", "string", "loc", "doc",
    "init", "function",
];

/// Returns a model with each kind of name. `{TAG}` stands for the hostile name of that tag.
fn model(op: &str, data: &str) -> String {
    let mut text = format!(
        r#"module doc({{doc}}) meta {{{{key}} = {{value}}}} {{
  metadata {{key}} = {{value}}
  fn @main(%{{in}}: f32[{{dim}}]) -> (%{{out}}: f32[{{dim}}]) opset("" = 17, {{domain}} = 1) doc({{doc}}) {{
    %{{init}} = const f32[2] external({data}, 0, 8)
    %{{mid}} = {op}(%{{in}}) {{{{attr}} = {{string}}}} loc({{loc}}) doc({{doc}}) meta {{{{key}} = {{value}}}}
    %big = onnx.Concat(%{{init}}, %{{mid}}) {{axis = 0}} loc("n")
    %"twice" = onnx.Relu(%{{mid}}) loc({{loc}})
    %{{out}} = onnx.Relu(%"twice") : f32[{{dim}}]
    return %{{out}}
  }}
  fn @{function}(%{{in}}: any) -> (%{{out}}: any) opset("" = 17) {{
    %{{out}} = onnx.Relu(%{{in}}) loc({{loc}})
    return %{{out}}
  }}
}}
"#,
        data = ir_text(data),
        function = symbol("domain", "function"),
    );
    for tag in TAGS {
        text = text.replace(&format!("{{{tag}}}"), &ir_text(&hostile(tag)));
    }
    text
}

/// Returns an op's name in IR text.
fn symbol(domain: &str, name: &str) -> String {
    let [domain, name] = [domain, name].map(|tag| {
        let escaped = hostile(tag).replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{escaped}\"")
    });
    format!("symbol({})", ir_text(&format!("{domain}.{name}")))
}

/// The command lines. `{TAG}` stands for the hostile name of a tag, or for a hostile file name that starts with that
/// word. A command with `=>` runs a second time with `--json`; the tags are exact strings of its JSON.
const COMMANDS: &str = include_str!("hostile.txt");

/// Writes the files that the commands name.
fn files(library: &Path) -> Bench {
    let bench = Bench::new();
    let file = |tag: &str, extension: &str, content: &[u8]| {
        bench.write(&format!("{}{extension}", hostile_file(tag)), content);
    };
    let data = hostile_file("weights");
    bench.write(&data, [0; 8]);
    let text = model(&symbol("domain", "op"), &data);
    file("m", ".ir", text.as_bytes());
    let changed = model(&symbol("domain", "loc"), &data);
    file("n", ".ir", changed.as_bytes());
    file(
        "data",
        ".ir",
        model("onnx.Relu", &hostile_file("gone")).as_bytes(),
    );
    let wrong = text.replace("return", &format!("return %{}, ", ir_text(&hostile("x"))));
    file("name", ".ir", wrong.as_bytes());
    file(
        "syntax",
        ".ir",
        text.replace("return", &format!("return {}", hostile("x")))
            .as_bytes(),
    );
    for name in ["m", "n"] {
        let [from, to] = [".ir", ".onnx"].map(|end| hostile_file(name) + end);
        let ran = bench.run(["convert", &from, &to], "");
        assert_eq!(ran.status, 0, "{}", ran.stderr);
    }
    let encoded = std::fs::read(bench.path(&(hostile_file("m") + ".onnx"))).expect("a file");
    // Names that aren't UTF-8: each name has the four bytes of U+E0041 once.
    let (tag, wrong) = ("\u{e0041}".as_bytes(), b"\xff\xfe\x9b\x80");
    let mut bytes = encoded.clone();
    for at in 0..bytes.len() - 3 {
        if bytes[at..].starts_with(tag) {
            bytes[at..at + 4].copy_from_slice(wrong);
        }
    }
    file("bytes", ".onnx", &bytes);
    // Only the string attribute, which may have any bytes.
    let mut binary = encoded.clone();
    let string = hostile("string");
    let (start, _) = string.split_once('\u{e0041}').expect("a tag");
    let mut starts = (0..binary.len()).filter(|&at| encoded[at..].starts_with(start.as_bytes()));
    let at = starts.next().expect("the string") + start.len();
    binary[at..at + 4].copy_from_slice(wrong);
    file("binary", ".onnx", &binary);
    file("short", ".onnx", &encoded[..encoded.len() - 100]);

    let name = hostile("x");
    let rule = format!(
        "; {ACTIVE}\nrule word {{ onnx.Neg(onnx.Neg(%x)) => onnx.Abs(%x) {{a = {}}} }}\n",
        ir_text(&name),
    );
    file("rules", ".rules", rule.replace('\r', "").as_bytes());
    file(
        "syntax",
        ".rules",
        format!("rule a {{ onnx.Neg({name}) => %x }}").as_bytes(),
    );
    file(
        "name",
        ".rules",
        format!("rule a {{ onnx.Neg(%x) => {}(%y) }}", ir_text(&name)).as_bytes(),
    );
    let rules = toml_text(&(hostile_file("rules") + ".rules"));
    let pipeline = format!("passes = [\"SimplifyExpr\", {rules}]\n");
    file("pipeline", ".toml", pipeline.as_bytes());
    file(
        "key",
        ".toml",
        format!("passes = []\n{} = 1\n", toml_text(&name)).as_bytes(),
    );
    let value = format!(
        "passes = [{name}]\n[context]\nverify = {name}\n",
        name = toml_text(&name)
    );
    file("value", ".toml", value.as_bytes());
    file("syntax", ".toml", format!("passes = [{name}]\n").as_bytes());

    bench.write(
        "fails",
        format!("#!/bin/sh\necho '{}'\nexit 1\n", name.replace('\'', "")),
    );
    make_executable(&bench.path("fails"));
    let plugin = bench.path(&(hostile_file("hostile") + ".so"));
    std::fs::copy(library, plugin).expect("a copy");
    let sent = format!(
        "version = 1\npassdock = {n}\npipeline = {n}\nmodel = {n}\nverify = 'changed'\n[failure]\ncode = {n}\npass = \
         {n}\nfunction = {n}\nop = {n}\nmessage = {n}\n[[plugins]]\nname = {n}\nversion = {n}\nfile = {n}\n",
        n = toml_text(&name)
    );
    let directory = hostile_file("sent");
    std::fs::create_dir(bench.path(&directory)).expect("a directory");
    for (file, content) in [
        ("reproducer.toml", &*sent),
        ("pipeline.toml", "passes = ['SimplifyExpr']"),
        ("before.ir", crate::support::RELUS),
    ] {
        bench.write(&format!("{directory}/{file}"), content);
    }
    bench
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a file");
}

/// Returns the words of a command line.
fn words(line: &str) -> Vec<String> {
    let name = |word: &str| {
        let (start, rest) = word.split_once('{')?;
        let (tag, end) = rest.split_once('}')?;
        let is_tag = !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_lowercase());
        let name = if TAGS.contains(&tag) && !end.starts_with('.') {
            hostile(tag)
        } else {
            hostile_file(tag)
        };
        is_tag.then(|| format!("{start}{name}{end}"))
    };
    let all = line.split_whitespace();
    all.map(|word| {
        let mut word = word.to_owned();
        while let Some(replaced) = name(&word) {
            word = replaced;
        }
        word
    })
    .collect()
}

/// Returns the problem of a text: the first line with an active character, or one that a name began.
fn problem(text: &str) -> Option<String> {
    let is_active = |c: char| {
        !matches!(c, '\n' | '\t') && (c.is_control() || !c.is_ascii() && ACTIVE.contains(c))
    };
    let line = text
        .lines()
        .find(|line| line.contains(is_active) || line.starts_with("forged"))?;
    Some(line.chars().take(300).collect::<String>())
}

/// Returns all strings in JSON.
fn strings<'j>(json: &'j serde_json::Value, found: &mut BTreeSet<&'j str>) {
    use serde_json::Value;
    match json {
        Value::String(text) => _ = found.insert(text),
        Value::Array(all) => all.iter().for_each(|one| strings(one, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                found.insert(key);
                strings(value, found);
            }
        }
        _ => {}
    }
}

/// Checks JSON values, one or several in a row, and that `tags` are among their strings.
fn check_json(text: &str, tags: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    let values: Result<Vec<serde_json::Value>, _> = serde_json::Deserializer::from_str(text)
        .into_iter()
        .collect();
    match values {
        Ok(values) => {
            let mut found = BTreeSet::new();
            values.iter().for_each(|value| strings(value, &mut found));
            if values.is_empty() {
                problems.push("no JSON".to_owned());
            }
            for tag in tags.iter().filter(|tag| !found.contains(&*hostile(tag))) {
                problems.push(format!("no exact `{tag}`"));
            }
        }
        Err(error) => problems.push(format!("no JSON: {error}")),
    }
    problems
}

/// Runs a command line in a directory with the files. Returns the problems of its output and of the files that it
/// wrote.
fn run(files: &Bench, words: &[String], tags: &[&str]) -> Vec<String> {
    let (bench, inputs) = (Bench::new(), files.contents());
    let below = |path: &Path, root: &Bench| path.strip_prefix(root.path("")).map(PathBuf::from);
    let mut known = HashSet::new();
    for (path, _) in &inputs {
        let to = bench
            .path("")
            .join(below(path, files).expect("a file below"));
        match path.is_dir() {
            true => std::fs::create_dir(&to),
            false => std::fs::hard_link(path, &to),
        }
        .expect("a link");
        known.insert(to);
    }
    let ran: Ran = bench.run(words.iter().map(|word| &**word), "");
    let mut problems = Vec::new();
    if ran.status < 0 || ran.status > 3 {
        problems.push(format!("status {}: {}", ran.status, ran.stderr));
    }
    problems.extend(problem(&ran.stdout).map(|line| format!("stdout: {line}")));
    problems.extend(problem(&ran.stderr).map(|line| format!("stderr: {line}")));
    if words.last().is_some_and(|word| word == "--json") {
        problems.extend(check_json(&ran.stdout, tags));
    }
    let written = bench.contents().into_iter();
    for (path, content) in written.filter(|(path, _)| !known.contains(path)) {
        let name = path.file_name().expect("a name").to_string_lossy();
        // The user chose the names of some files.
        if !words.iter().any(|word| word.contains(ACTIVE)) || !name.contains(ACTIVE) {
            problems.extend(problem(&name).map(|name| format!("file name {name}")));
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let text = String::from_utf8_lossy(&content);
        let found = match &*extension {
            "onnx" | "so" | "bin" => Vec::new(),
            "html" => check_page(&text),
            "json" | "jsonl" => problem(&text)
                .into_iter()
                .chain(check_json(&text, &[]))
                .collect(),
            _ => problem(&text).into_iter().collect(),
        };
        problems.extend(found.iter().map(|problem| format!("{name:?}: {problem}")));
    }
    problems
}

/// Checks the data of an HTML report, as text and as the strings that the page shows. The rest is the project's own.
fn check_page(text: &str) -> Vec<String> {
    let start = "<script id=\"data\" type=\"application/json\">";
    let (_, data) = text.split_once(start).expect("data");
    let (data, _) = data.split_once("</script>").expect("data");
    let json = serde_json::from_str(data).expect("JSON");
    let mut found = BTreeSet::new();
    strings(&json, &mut found);
    assert!(found.iter().any(|text| text.contains("forged")));
    // Line ends have no effect in HTML.
    let shown = found.iter().map(|text| text.replace('\n', " "));
    problem(data)
        .into_iter()
        .chain(shown.filter_map(|text| problem(&text)))
        .collect()
}

/// IR text has the exact names: a model that is converted to it and back has the same bytes.
#[test]
fn hostile_names_round_trip_through_text() {
    let bench = Bench::new();
    bench
        .write("w.bin", [0; 8])
        .write("m.ir", model(&symbol("domain", "op"), "w.bin"));
    for words in ["m.ir m.onnx", "m.onnx again.ir", "again.ir again.onnx"] {
        let ran = bench.passdock(&format!("convert {words}"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
    }
    let [first, again] =
        ["m.onnx", "again.onnx"].map(|name| std::fs::read(bench.path(name)).expect("a model"));
    assert!(first == again);
    for tag in TAGS {
        assert!(
            first
                .windows(hostile(tag).len())
                .any(|bytes| bytes == hostile(tag).as_bytes()),
            "{tag}"
        );
    }
}

/// Returns the subcommands that the help lists, as the words before their arguments.
fn subcommands(bench: &Bench, above: &str) -> Vec<String> {
    let help = bench.passdock(&format!("{above} --help")).stdout;
    let (_, list) = help.split_once("Commands:\n").unwrap_or_default();
    let lines = list.lines().take_while(|line| !line.is_empty());
    // Other lines continue a description.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty());
    let all = names.filter(|name| *name != "help").flat_map(|name| {
        let command = format!("{above} {name}").trim_start().to_owned();
        let below = subcommands(bench, &command);
        if below.is_empty() {
            vec![command]
        } else {
            below
        }
    });
    all.collect()
}

#[test]
fn each_subcommand_has_a_case() {
    let bench = Bench::new();
    let commands = subcommands(&bench, "");
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        let help = bench.passdock(&format!("{command} -h")).stdout;
        let has_json = help.lines().any(|line| line.trim().starts_with("--json"));
        let is_case = |line: &str| {
            line.starts_with(&format!("{command} ")) && (!has_json || line.contains(" =>"))
        };
        assert!(
            COMMANDS.lines().any(is_case),
            "`{command}` has no case in hostile.txt"
        );
    }
}

#[test]
fn no_command_writes_active_characters() {
    let bench = Bench::new();
    let Some(library) = compile_c_plugin(&bench, "tests/bad-plugins/hostile.c", &[]) else {
        return;
    };
    let files = files(&library);
    let mut cases = Vec::new();
    for line in COMMANDS.lines() {
        let (line, tags) = line
            .split_once(" =>")
            .map_or((line, None), |(line, tags)| (line, Some(tags)));
        let mut words = words(line);
        cases.push((line, words.clone(), Vec::new()));
        if let Some(tags) = tags {
            words.push("--json".to_owned());
            cases.push((line, words, tags.split_whitespace().collect::<Vec<_>>()));
        }
    }
    let failed: Vec<String> = thread::scope(|scope| {
        let half = cases.len().div_ceil(2);
        let threads: Vec<_> = cases
            .chunks(half)
            .map(|cases| {
                let files = &files;
                scope.spawn(move || {
                    cases
                        .iter()
                        .flat_map(|(line, words, tags)| {
                            let json = if words.last().is_some_and(|w| w == "--json") {
                                " --json"
                            } else {
                                ""
                            };
                            run(files, words, tags)
                                .into_iter()
                                .map(move |problem| format!("{line}{json}\n    {problem}"))
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("the cases"))
            .collect()
    });
    assert!(
        failed.is_empty(),
        "{} problems\n{}",
        failed.len(),
        failed.join("\n")
    );
}
