//! The README and the guides of `docs/guides`, done as a reader would: each file they show is written, each command
//! typed, and what it prints compared with what the guide says. Those for Python (`python-…`) are done by the package's tests.
//!
//! - A block ```` ```toml pipeline.toml ```` is a file of that name.
//! - In a ```` ```console ```` block, a line `$ …` is typed into a shell, in the guide's own
//!   directory, with `passdock` in its path; the lines below it are what it prints. Times, and the
//!   width of columns that they give, may differ. `[..]` stands for anything within a line, a line
//!   `...` for any lines, and `? 1` for the exit status that isn't 0.
//! - Other blocks are only read; Rust without a file name is compiled by `passdock-tests`.
//!
//! With `UPDATE_EXPECT=1` the guide is corrected instead.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::{dist, shell};

/// Goes through the guides whose names contain a word.
pub(crate) fn guides(project: &Project, word: &str) -> Result<()> {
    let home = project.target.join("guides");
    if home.exists() {
        fs::remove_dir_all(&home)?;
    }
    // What a reader of the guides has installed.
    dist::lay_out_for_tests(project, &home)?;
    let bin = home.join("bin");
    let mut guides: Vec<PathBuf> = fs::read_dir(project.root.join("docs/guides"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    guides.retain(|guide| guide.extension().is_some_and(|extension| extension == "md"));
    // `python/tests/test_guides.py` has an environment with the package.
    guides.retain(|guide| {
        !guide
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("python-"))
    });
    guides.sort();
    guides.insert(0, project.root.join("README.md"));
    let is_meant = |guide: &PathBuf| {
        let name = guide.file_stem().and_then(|name| name.to_str());
        name.is_some_and(|name| name.contains(word))
    };
    guides.retain(is_meant);
    if guides.is_empty() {
        bail!("there is no guide of that name in docs/guides");
    }
    let mut wrong = 0;
    for guide in guides {
        let name = guide.file_stem().context("a file has a name")?;
        let reader = Reader {
            dir: home.join(name),
            bin: &bin,
            project,
        };
        wrong += reader.read(&guide)?;
    }
    if wrong > 0 {
        bail!("{wrong} commands print something else; UPDATE_EXPECT=1 corrects the guides");
    }
    Ok(())
}

struct Reader<'p> {
    /// Where the guide's files lie and its commands run.
    dir: PathBuf,
    /// Where `passdock` is.
    bin: &'p Path,
    project: &'p Project,
}

/// A command and what the guide says that it prints.
struct Typed {
    command: String,
    says: Vec<String>,
}

impl Reader<'_> {
    /// Does what a guide says; gives how many of its commands print something else.
    fn read(&self, guide: &Path) -> Result<usize> {
        shell::say(self.project.shown(guide));
        fs::create_dir_all(&self.dir)?;
        let text = fs::read_to_string(guide)?;
        let mut corrected = String::new();
        let mut wrong = 0;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            corrected.push_str(line);
            corrected.push('\n');
            let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else {
                continue;
            };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let mut words = info.split_whitespace();
            match (words.next(), words.next()) {
                (Some("console"), None) => {
                    for typed in typed(&block)? {
                        let prints = self.run(&typed.command)?;
                        if agree(&unbroken(&typed.says), &unbroken(&prints)) {
                            push(&mut corrected, &typed.command, &typed.says);
                        } else {
                            wrong += 1;
                            show(&typed, &prints);
                            push(&mut corrected, &typed.command, &prints);
                        }
                    }
                }
                (_, name) => {
                    if let Some(name) = name {
                        self.write(name, &block)?;
                    }
                    for line in block {
                        corrected.push_str(line);
                        corrected.push('\n');
                    }
                }
            }
            corrected.push_str("```\n");
        }
        if wrong > 0 && env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(guide, corrected)?;
            shell::say(format!("corrected {wrong} commands"));
            return Ok(0);
        }
        Ok(wrong)
    }

    fn write(&self, name: &str, block: &[&str]) -> Result<()> {
        let path = self.dir.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.dir))?;
        let mut text = block.join("\n");
        text.push('\n');
        // A guide's crate lies inside this workspace, and finds the SDK where it isn't published yet.
        if name.ends_with("Cargo.toml") {
            let sdk = self.project.root.join("plugin-api");
            let patch = format!("passdock-plugin-api = {{ path = {sdk:?} }}");
            text = text.replace(
                "passdock-plugin-api = { path = \"../passdock/plugin-api\" }",
                &patch,
            ) + "\n[workspace]\n";
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The lines that a command prints, and `? N` if it fails.
    fn run(&self, command: &str) -> Result<Vec<String>> {
        let mut path = self.bin.as_os_str().to_owned();
        if let Some(more) = env::var_os("PATH") {
            path.push(":");
            path.push(more);
        }
        // Where a reader has a checkout beside the guide's own directory.
        let checkout = format!("{}/", self.project.root.display());
        let command = command.replace("../passdock/", &checkout);
        let mut sh = Command::new("sh");
        sh.args(["-c", &format!("{{ {command}\n}} 2>&1")])
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .env("PATH", path)
            .env("PASSDOCK", self.bin.join("passdock"))
            .env("CARGO_TARGET_DIR", "target")
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_QUIET", "true")
            .env("NO_COLOR", "1")
            .env("COLUMNS", "120")
            .env("PASSDOCK_CACHE", "off")
            .env_remove("PASSDOCK_PLUGIN_PATH");
        let output = shell::output(&mut sh)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // Nobody else has the same directories.
        let text = text
            .replace(
                &*self.bin.with_file_name("lib").to_string_lossy(),
                "/usr/lib",
            )
            .replace(&*self.dir.to_string_lossy(), ".");
        let mut prints: Vec<String> = text
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        while prints.last().is_some_and(|line| line.is_empty()) {
            prints.pop();
        }
        if let Some(status) = output.status.code().filter(|status| *status != 0) {
            prints.insert(0, format!("? {status}"));
        }
        Ok(prints)
    }
}

/// The commands of a `console` block. A line that ends with `\` goes on in the next.
fn typed(block: &[&str]) -> Result<Vec<Typed>> {
    let mut all: Vec<Typed> = Vec::new();
    let mut goes_on = false;
    for line in block {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (_, Some(last)) if goes_on => {
                last.command.push('\n');
                last.command.push_str(line);
            }
            (Some(command), _) => all.push(Typed {
                command: command.to_owned(),
                says: Vec::new(),
            }),
            (None, Some(last)) => last.says.push((*line).to_owned()),
            (None, None) => bail!("a console block begins with `$ `, not with `{line}`"),
        }
        goes_on = line.ends_with('\\');
    }
    for typed in &mut all {
        while typed.says.last().is_some_and(|line| line.is_empty()) {
            typed.says.pop();
        }
    }
    Ok(all)
}

fn push(text: &mut String, command: &str, prints: &[String]) {
    if !text.ends_with("```console\n") {
        text.push('\n');
    }
    for line in std::iter::once(format!("$ {command}")).chain(prints.iter().cloned()) {
        text.push_str(&line);
        text.push('\n');
    }
}

fn show(typed: &Typed, prints: &[String]) {
    shell::say(format!("$ {}\nsays:", typed.command));
    typed
        .says
        .iter()
        .for_each(|line| shell::say(format!("  {line}")));
    shell::say("prints:");
    prints
        .iter()
        .for_each(|line| shell::say(format!("  {line}")));
}

/// Lines, with the list of a file's passes in one: where it breaks depends on how long the file's path is, and nobody
/// else has the same directories.
fn unbroken(lines: &[String]) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    for line in lines {
        match whole.last_mut() {
            Some(last) if last.starts_with("from ") && line.starts_with("  ") => {
                last.push(' ');
                last.push_str(line.trim_start());
            }
            _ => whole.push(line.clone()),
        }
    }
    whole
}

/// Whether lines are as the guide says. Looks at each place of a `...` once: guides are short.
fn agree(says: &[String], prints: &[String]) -> bool {
    match says {
        [] => prints.is_empty(),
        [dots, rest @ ..] if dots == "..." => {
            (0..=prints.len()).any(|at| agree(rest, &prints[at..]))
        }
        [line, rest @ ..] => match prints {
            [printed, more @ ..] => fits(line, printed) && agree(rest, more),
            [] => false,
        },
    }
}

/// Whether a line is as the guide says, with `[..]` for anything, and whatever time things take.
fn fits(says: &str, printed: &str) -> bool {
    let (says, printed) = (&timeless(says), &timeless(printed));
    let mut parts = says.split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut left) = printed.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return left.is_empty();
    };
    for part in middle {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

/// A line without the times and percentages in it; columns are a space apart.
fn timeless(line: &str) -> String {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let is_measured = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%');
        let number = ["us", "s", "%"]
            .iter()
            .find_map(|unit| word.strip_suffix(unit));
        number.is_some_and(is_number)
    };
    let mut words = line.split_whitespace().peekable();
    let mut timeless = Vec::new();
    while let Some(word) = words.next() {
        let unit = |next: &&str| {
            let unit = next.trim_end_matches([',', '.', ';', ')']);
            ["s", "ms", "µs", "ns"].contains(&unit)
        };
        let is_time = is_measured(word) || is_number(word) && words.next_if(unit).is_some();
        timeless.push(if is_time { "TIME" } else { word });
    }
    timeless.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_leave_something_open() {
        assert!(fits("[..] → [..] ops", "a: 24 → 15 ops"));
        assert!(!fits("24 [..] ops", "24 → 15 op"));
        assert!(!fits("took", "took 3"));
    }

    #[test]
    fn times_may_differ() {
        assert!(fits(
            "Fold  changed    3.5 ms  24",
            "Fold  changed  610 µs  24"
        ));
        assert!(fits("ops in 8.8 ms, written", "ops in 1.2 s, written"));
        assert!(fits(
            "a: 4710us [38us] (100.00%; 99%)",
            "a: 1us [0us] (1%; 2%)"
        ));
        assert!(!fits("24 ops", "25 ops"));
    }

    #[test]
    fn lines_may_be_left_out() {
        let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
        assert!(agree(&lines("a\n...\nd"), &lines("a\nb\nc\nd")));
        assert!(agree(&lines("a\n..."), &lines("a")));
        assert!(!agree(&lines("a\n...\nd"), &lines("a\nb\nc")));
        assert!(!agree(&lines("a"), &lines("a\nb")));
    }

    #[test]
    fn the_list_of_a_files_passes_breaks_anywhere() {
        let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
        let (narrow, wide) = (
            lines("from a.so: One,\n  Two\nend"),
            lines("from a.so: One, Two\nend"),
        );
        assert_eq!(unbroken(&narrow), wide);
        assert_eq!(unbroken(&wide), wide);
    }

    #[test]
    fn commands_and_what_they_print_are_told_apart() {
        let block = ["$ one \\", "  two", "out", "", "$ three"];
        let typed = typed(&block).unwrap();
        assert_eq!(typed[0].command, "one \\\n  two");
        assert_eq!(typed[0].says, ["out"]);
        assert_eq!(typed[1].command, "three");
        assert!(typed[1].says.is_empty());
    }
}
