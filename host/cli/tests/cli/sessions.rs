//! Tests as text files in `tests/sessions`. Each line is one of
//!
//! - `# TITLE`: the next case, in a directory with the files given above the first case;
//! - `> NAME`: a file, whose lines follow after `| `;
//! - `$ WORDS`: a line for `bash`, in which `passdock` is the command. The libraries of [`PLUGINS`] are `$TAP` and so
//!   on. `| json PATH FIELD…` at its end prints parts of its output. `$ cc FILE FLAGS` builds `plugin.so` from a C file
//!   of the repository; without a C compiler, the session ends there;
//! - expected results: standard output after `< `, standard error after two spaces, the files that `passdock` wrote,
//!   changed or removed, and the status unless it is 0. `UPDATE_EXPECT=1` rewrites these lines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use expect_test::expect_file;
use serde_json::Value;

use crate::support::{
    Bench, REPOSITORY, compile_c_plugin, install_dir, plugin, plugin_elsewhere, without_time,
};

macro_rules! sessions {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run_session(stringify!($name));
        })*

        #[test]
        fn every_session_file_has_a_test() {
            let mut names = [$(concat!(stringify!($name), ".txt")),*].map(str::to_owned);
            names.sort();
            let files = std::fs::read_dir(FOLDER).expect("the folder").flatten();
            let files = files.map(|file| file.file_name().to_string_lossy().into_owned());
            let mut files: Vec<String> = files.collect();
            files.sort();
            assert_eq!(files, names);
        }
    };
}

sessions! {
    bad_input basics bind blame brief built_in built_in_files command_line data diagnostics extract inspecting
    installing instruments listing misbehaving models nested pipelines plugin_check plugin_files plugin_new raise_opset
    report rewriting rules sequentials shells stats untrusted writing
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sessions");

/// Variables of commands, and the plugins whose libraries they contain.
const PLUGINS: [(&str, &str); 5] = [
    ("BAD", "passdock-misbehaving"),
    ("ONNX_OPS", "passdock-onnx-ops"),
    ("RELAX", "passdock-relax"),
    ("TAP", "passdock-tap"),
    ("TIR", "passdock-tir"),
];

/// Runs a session and compares it with its file.
fn run_session(name: &str) {
    let path = format!("{FOLDER}/{name}.txt");
    let text = std::fs::read_to_string(&path).expect("a session");
    let mut session = Session::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        match line.split_at_checked(2) {
            Some(("# ", _)) => session.next_case(line),
            Some(("> ", name)) => {
                let mut content = String::new();
                while let Some(line) = lines.next_if(|line| line.starts_with('|')) {
                    content += line.strip_prefix("| ").unwrap_or(&line[1..]);
                    content.push('\n');
                }
                session.add_file(name, content);
            }
            Some(("$ ", command)) => match session.run(command) {
                Some(()) => {}
                None => return,
            },
            Some(("< " | "  ", _)) => {}
            _ => assert!(matches!(line, "" | "<"), "{path}: unexpected line: {line}"),
        }
    }
    expect_file![path].assert_eq(&session.transcript);
}

/// A running session.
#[derive(Default)]
struct Session {
    transcript: String,
    /// The directory of the current case.
    bench: Option<Bench>,
    /// The files of all cases.
    common: Vec<(String, String)>,
}

impl Session {
    fn next_case(&mut self, line: &str) {
        let separator = if self.transcript.is_empty() { "" } else { "\n" };
        self.transcript += &format!("{separator}{line}\n");
        let bench = Bench::new();
        for (name, content) in &self.common {
            write(&bench, name, content);
        }
        self.bench = Some(bench);
    }

    fn add_file(&mut self, name: &str, content: String) {
        self.transcript += &format!("> {name}\n");
        for line in content.lines() {
            let blank = if line.is_empty() { "" } else { " " };
            self.transcript += &format!("|{blank}{line}\n");
        }
        match &self.bench {
            Some(bench) => write(bench, name, &content),
            None => self.common.push((name.to_owned(), content)),
        }
    }

    /// Runs a command. Returns `None` if a C compiler is required and missing.
    fn run(&mut self, command: &str) -> Option<()> {
        let bench = self.bench.as_ref().expect("a case before the command");
        let output = match command.strip_prefix("cc ") {
            Some(words) => {
                let words: Vec<&str> = words.split(' ').collect();
                compile_c_plugin(bench, words[0], &words[1..]).map(|_| String::new())?
            }
            None => output(bench, command),
        };
        self.transcript += &format!("$ {command}\n");
        for line in output.lines() {
            self.transcript += line.trim_end();
            self.transcript.push('\n');
        }
        Some(())
    }
}

fn write(bench: &Bench, name: &str, content: &str) {
    let path = bench.path(name);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("a new directory");
    std::fs::write(path, content).expect("a new file");
}

/// Joins the passes of each file to one line, because line breaks depend on the length of its directory's path.
fn on_one_line(text: &str, dirs: &[String]) -> String {
    let (mut joined, mut is_file) = (String::new(), false);
    for line in text.lines() {
        if is_file && line.starts_with("  ") {
            joined.pop();
            joined += &format!(" {}", line.trim_start());
        } else {
            is_file = line.starts_with("from ") && dirs.iter().any(|dir| line.contains(dir));
            joined += line;
        }
        joined.push('\n');
    }
    joined
}

/// Returns the results of a command as marked lines.
fn output(bench: &Bench, command: &str) -> String {
    let (line, filter) = match command.split_once(" | json ") {
        Some((line, filter)) => (line, Some(filter)),
        None => (command, None),
    };
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = bench.command("bash");
    shell
        .args(["-c", line])
        .env("LC_ALL", "C")
        .env("REPOSITORY", REPOSITORY);
    shell.env("PATH", format!("{}:{path}", install_dir().display()));
    shell.env("ELSEWHERE", plugin_elsewhere("passdock-outliner"));
    shell.env("WRONG_OPS", plugin_elsewhere("passdock-wrong-ops"));
    shell.envs(PLUGINS.map(|(variable, name)| (variable, plugin(name))));
    let before = files(bench);
    let ran = bench.finish(&mut shell, "");
    // The directories depend on the machine.
    let dirs = [bench.plugins(), bench.path("").display().to_string()];
    let stdout = match filter {
        Some(filter) => filtered(&ran.json(), filter),
        None => on_one_line(&ran.stdout, &dirs),
    };
    let mut output = marked("< ", &stdout) + &marked("  ", &ran.stderr);
    for dir in dirs {
        output = output.replace(&dir, "");
    }
    let program = line.split(' ').find(|word| !word.contains('='));
    if program == Some("passdock") {
        output += &changes(&before, &files(bench));
    }
    if ran.status != 0 {
        output += &format!("  status {}\n", ran.status);
    }
    output
}

/// Returns the files below the directory with their contents.
fn files(bench: &Bench) -> BTreeMap<PathBuf, Vec<u8>> {
    let root = bench.path("");
    let files = bench.contents().into_iter();
    let relative = |path: PathBuf| {
        path.strip_prefix(&root)
            .expect("a path below the root")
            .to_path_buf()
    };
    files.map(|(path, bytes)| (relative(path), bytes)).collect()
}

/// Returns a line for each file that was written, changed or removed. Files in a new directory are left out.
fn changes(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) -> String {
    let mut lines = String::new();
    for (path, bytes) in after {
        let parent = path.parent().expect("a directory");
        let verb = match before.get(path) {
            None if parent.as_os_str().is_empty() || before.contains_key(parent) => "wrote",
            Some(earlier) if earlier != bytes => "changed",
            _ => continue,
        };
        lines += &format!("  {verb} {}\n", path.display());
    }
    for path in before.keys().filter(|path| !after.contains_key(*path)) {
        lines += &format!("  removed {}\n", path.display());
    }
    lines
}

/// Returns the values at a path, one per line. Further paths select fields of each value: `.passes[] .name .status`.
fn filtered(json: &Value, filter: &str) -> String {
    let mut paths = filter.split(' ');
    let values = select(json, paths.next().unwrap_or_default());
    let fields: Vec<&str> = paths.collect();
    let line = |value| match &fields[..] {
        [] => plain(value),
        fields => {
            let values = fields.iter().flat_map(|path| select(value, path));
            values.map(plain).collect::<Vec<_>>().join(" ")
        }
    };
    values.into_iter().map(|value| line(value) + "\n").collect()
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the values at a path: `.KEY`, `[INDEX]`, `[]` for all elements, `[KEY=VALUE]` for matching elements.
fn select<'v>(json: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut values = vec![json];
    let mut rest = path;
    while let Some((kind, further)) = rest.split_at_checked(1).filter(|_| rest != ".") {
        let end = if kind == "[" {
            further.find(']')
        } else {
            further.find(['.', '['])
        };
        let (key, after) = further.split_at(end.unwrap_or(further.len()));
        rest = after.strip_prefix(']').unwrap_or(after);
        let elements = |value: &'v Value| value.as_array().into_iter().flatten();
        values = match (kind, key.split_once('='), key.parse::<usize>()) {
            ("[", Some((key, wanted)), _) => {
                let all = values.into_iter().flat_map(elements);
                all.filter(|value| plain(&value[key]) == wanted).collect()
            }
            ("[", None, Ok(at)) => values.iter().map(|value| &value[at]).collect(),
            ("[", None, Err(_)) => values.into_iter().flat_map(elements).collect(),
            _ => values.iter().map(|value| &value[key]).collect(),
        };
    }
    values
}

/// Prefixes the lines of a stream with a mark.
fn marked(mark: &str, text: &str) -> String {
    let lines = text.lines();
    lines
        .map(|line| format!("{mark}{}\n", without_time(line)))
        .collect()
}
