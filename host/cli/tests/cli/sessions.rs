//! Cases that are text: the files of `tests/sessions`, of which each line is one of
//!
//! - `# words`: the next case, in a directory that has the files given above the first case;
//! - `> NAME`: a file, whose lines follow after `| `;
//! - `$ passdock …`: the command, or `$ mkdir NAME`, or `$ cat NAME`;
//! - what it says: standard output, after `< `, and after two blanks standard error, the files that it
//!   wrote, and its status unless that is 0. `UPDATE_EXPECT=1` rewrites these lines.
//!
//! No command may write over a file that is given.

use std::collections::BTreeMap;

use expect_test::expect_file;

use crate::support::{Bench, without_time};

macro_rules! sessions {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            play(stringify!($name));
        })*

        #[test]
        fn each_file_is_played() {
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

sessions! { bind blame brief built_in command_line diagnostics extract misbehaving models pipelines raise_opset rules sequentials }

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sessions");

/// Plays a session and compares it with its file.
fn play(name: &str) {
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
                session.give(name, content);
            }
            Some(("$ ", command)) => session.run(command),
            Some(("< " | "  ", _)) => {}
            _ => assert!(matches!(line, "" | "<"), "{path}: what is this? {line}"),
        }
    }
    expect_file![path].assert_eq(&session.played);
}

/// A session while it is played.
#[derive(Default)]
struct Session {
    played: String,
    /// The directory, once there is a case.
    bench: Option<Bench>,
    /// The files of all cases, and those of this one, too.
    common: BTreeMap<String, String>,
    given: BTreeMap<String, String>,
}

impl Session {
    fn next_case(&mut self, line: &str) {
        let separator = if self.played.is_empty() { "" } else { "\n" };
        self.played += &format!("{separator}{line}\n");
        let bench = Bench::new();
        for (name, content) in &self.common {
            bench.write(name, content);
        }
        self.given = self.common.clone();
        self.bench = Some(bench);
    }

    fn give(&mut self, name: &str, content: String) {
        self.played += &format!("> {name}\n");
        for line in content.lines() {
            let blank = if line.is_empty() { "" } else { " " };
            self.played += &format!("|{blank}{line}\n");
        }
        match &self.bench {
            Some(bench) => {
                bench.write(name, &content);
                self.given.insert(name.to_owned(), content);
            }
            None => {
                self.common.insert(name.to_owned(), content);
            }
        }
    }

    fn run(&mut self, command: &str) {
        self.played += &format!("$ {command}\n");
        let bench = self.bench.as_ref().expect("a command is of a case");
        for line in answer(bench, command).lines() {
            self.played += line.trim_end();
            self.played.push('\n');
        }
        for (name, content) in &self.given {
            assert_eq!(&bench.read(name), content, "after `{command}`");
        }
    }
}

/// The text with the passes of each file on one line: where it breaks, the length of the file's directory says.
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

/// What comes of a command, in marked lines.
fn answer(bench: &Bench, command: &str) -> String {
    let words = words(command);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["mkdir", name] => {
            std::fs::create_dir(bench.path(name)).expect("a new directory");
            String::new()
        }
        ["cat", name] => marked("< ", &bench.read(name)),
        ["passdock", ref words @ ..] => {
            let before = bench.files();
            let ran = bench.run(words.iter().copied(), "");
            // Directories are other ones on each machine.
            let dirs = [bench.plugins(), bench.path("").display().to_string()];
            let stdout = on_one_line(&ran.stdout, &dirs);
            let mut said = marked("< ", &stdout) + &marked("  ", &ran.stderr);
            for dir in dirs {
                said = said.replace(&dir, "");
            }
            let after = bench.files().into_iter();
            for name in after.filter(|name| !before.contains(name)) {
                said += &format!("  wrote {name}\n");
            }
            match ran.status {
                0 => said,
                status => said + &format!("  status {status}\n"),
            }
        }
        _ => panic!("there is no command `{command}`"),
    }
}

/// The lines of a stream, each after a mark.
fn marked(mark: &str, text: &str) -> String {
    let lines = text.lines();
    lines
        .map(|line| format!("{mark}{}\n", without_time(line)))
        .collect()
}

/// The words of a command, of which some stand in quotes.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for c in command.chars() {
        let word = words.last_mut().expect("there is one");
        match (c, quote) {
            (' ', None) => words.push(String::new()),
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(end)) if c == end => quote = None,
            _ => word.push(c),
        }
    }
    words
}
